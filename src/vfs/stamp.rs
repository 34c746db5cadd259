use std::path::Path;
use std::time::SystemTime;

/// What tells a file from a changed one without reading it: length, time of the last change and, where there are such,
/// its number in the file system, which a rename over it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Stamp {
    /// Of the file that `path` names, links followed; `None` when there is none or it may not be looked at.
    pub fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        Some(Self {
            bytes: meta.len(),
            modified: meta.modified().ok(),
            number: number(&meta),
        })
    }

    /// Whether writing to `path` would lose what somebody else put there since: it holds a file, and not this one.
    pub fn is_replaced_at(&self, path: &Path) -> bool {
        Self::of(path).is_some_and(|now| now != *self)
    }
}

#[cfg(unix)]
fn number(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_a_touch_and_a_rename_are_noticed_and_a_loss_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsp");
        std::fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&path).unwrap();
        assert!(!stamp.is_replaced_at(&path));
        std::fs::write(&path, "longer").unwrap();
        assert!(stamp.is_replaced_at(&path));
        let stamp = Stamp::of(&path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let later = std::time::Duration::from_secs(1);
        file.set_modified(SystemTime::now() + later).unwrap();
        assert!(stamp.is_replaced_at(&path));
        std::fs::remove_file(&path).unwrap();
        assert!(!stamp.is_replaced_at(&path));
        assert!(Stamp::of(&path).is_none());
    }
}
