/// Files of the control group that may limit this process below what the machine has: limit and use.
const GROUP_FILES: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"];

/// Bytes that this process may still take without others being pushed out; `None` where the system does not say (it is asked on
/// Linux only).
pub fn available_memory() -> Option<u64> {
    let machine = field(&read("/proc/meminfo")?, "MemAvailable:")?;
    let group = GROUP_FILES.map(|file| read(file)?.trim().parse::<u64>().ok());
    let [limit, used] = group;
    let left = limit
        .zip(used)
        .map(|(limit, used)| limit.saturating_sub(used));
    Some(left.map_or(machine, |left| left.min(machine)))
}

/// The most memory that this process has held so far, bytes; `None` where the system does not say (it is asked on Linux only).
pub fn peak_memory() -> Option<u64> {
    field(&read("/proc/self/status")?, "VmHWM:")
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// A value in kB of a list of names and values.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_and_unit() {
        let text = "MemTotal:       100 kB\nMemAvailable:   24105 kB\nHugePages_Total: 3\n";
        assert_eq!(field(text, "MemAvailable:"), Some(24_105 * 1024));
        assert_eq!(field(text, "HugePages_Total:"), None);
        assert_eq!(field(text, "VmHWM:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_says_how_much_there_is() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
        assert!(peak_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
