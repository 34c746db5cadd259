//! A save gives the whole new file or leaves the whole old one, whatever happens to the program, the disk and the path.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; their own are allowed by clippy.toml"
)]

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use luxgrid::vfs::save;

/// Path that a child saves to.
const CHILD_PATH: &str = "LUXGRID_TEST_SAVE_PATH";
/// What the child does: `loop`, or `once` and says what came of it.
const CHILD_TASK: &str = "LUXGRID_TEST_SAVE_TASK";
/// Length of what children save: long enough for a kill in the middle of it.
const BYTES: usize = 24 * 1024 * 1024;
const KILLS: u32 = 20;

/// Bytes of which no two seeds share any at the same place.
fn contents(seed: u8, length: usize) -> Vec<u8> {
    let block: Vec<u8> = (0..=255_u8)
        .map(|byte| byte.wrapping_mul(7).wrapping_add(seed))
        .collect();
    block.repeat(length / block.len())
}

fn child(task: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "the_child", "--nocapture"])
        .env(CHILD_TASK, task)
        .env(CHILD_PATH, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// No test of its own: what the tests below start and kill.
#[test]
fn the_child() {
    let (Some(task), Some(path)) = (std::env::var_os(CHILD_TASK), std::env::var_os(CHILD_PATH))
    else {
        return;
    };
    let path = PathBuf::from(path);
    let (a, b) = (contents(1, BYTES), contents(2, BYTES));
    if task == "once" {
        let outcome = save(&path, &b);
        eprintln!(
            "{}",
            outcome.map_or_else(|error| error.to_string(), |_| "saved".to_owned())
        );
        return;
    }
    eprintln!("ready");
    loop {
        save(&path, &b).unwrap();
        save(&path, &a).unwrap();
    }
}

fn line_of(child: &mut Child) -> String {
    let mut line = String::new();
    let mut reader = BufReader::new(child.stderr.as_mut().unwrap());
    reader.read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// Runs a child that saves once; what it says.
fn saved_by(mut command: Command) -> Option<String> {
    let mut child = command.spawn().ok()?;
    let line = line_of(&mut child);
    let _ = child.wait();
    Some(line)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn killed_at_twenty_moments_of_a_save_the_file_is_the_old_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.bsp");
    let (a, b) = (contents(1, BYTES), contents(2, BYTES));
    fs::write(&path, &a).unwrap();
    let started = Instant::now();
    save(&path, &b).unwrap();
    save(&path, &a).unwrap();
    let one_save = started.elapsed() / 2;
    let mut seed = 0x9e37_79b9_u32;
    let (mut inside, mut new, mut lengths) = (0, 0, Vec::new());
    for number in 0..KILLS {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        let mut child = child("loop", &path).spawn().unwrap();
        assert_eq!(line_of(&mut child), "ready");
        // One moment in each twentieth of two saves, the old file's and the new one's.
        let moment = (f64::from(number) + f64::from(seed) / f64::from(u32::MAX)) / f64::from(KILLS);
        std::thread::sleep((2 * one_save).mul_f64(moment));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(&path).unwrap();
        assert!(
            found == a || found == b,
            "kill {number}: {} bytes",
            found.len()
        );
        new += u32::from(found == b);
        for name in names(folder.path()) {
            if name == "map.bsp" {
                continue;
            }
            assert!(
                name.starts_with(".map.bsp.") && name.ends_with(".0.tmp"),
                "{name}"
            );
            let left = folder.path().join(name);
            inside += 1;
            lengths.push(fs::metadata(&left).unwrap().len());
            fs::remove_file(left).unwrap();
        }
        fs::write(&path, &a).unwrap();
    }
    println!(
        "a save takes {one_save:?}; {inside} of {KILLS} kills in the middle, {new} left the new file; temporary lengths {lengths:?}"
    );
    // Or the kills have not tried anything.
    assert!(inside >= 5, "only {inside} kills met a save");
}

#[test]
fn what_a_killed_save_left_goes_when_it_is_old_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let old = SystemTime::now() - Duration::from_hours(2);
    let kept = [
        ".map.bsp.77.0.tmp.keep",
        ".map.bsp.x.0.tmp",
        ".map.bsp.tmp",
        ".other.bsp.77.0.tmp",
        "map.bsp.77.0.tmp",
    ];
    for name in kept
        .iter()
        .chain(&[".map.bsp.77.0.tmp", ".map.bsp.78.3.tmp"])
    {
        fs::write(at(name), "x").unwrap();
        File::options()
            .write(true)
            .open(at(name))
            .unwrap()
            .set_modified(old)
            .unwrap();
    }
    // A save that is running, perhaps of another program.
    fs::write(at(".map.bsp.79.0.tmp"), "x").unwrap();
    save(&at("map.bsp"), b"new").unwrap();
    let mut expected: Vec<&str> = kept.to_vec();
    expected.extend([".map.bsp.79.0.tmp", "map.bsp"]);
    expected.sort_unstable();
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn saving_replaces_the_whole_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bsp");
    save(&path, b"first version").unwrap();
    let stamp = save(&path, b"second").unwrap().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert!(!stamp.is_replaced_at(&path));
    assert_eq!(names(folder.path()), ["a.bsp"]);
    let text = save(folder.path(), b"x").unwrap_err().to_string();
    assert!(text.ends_with("is a folder"), "{text}");
    let text = save(&folder.path().join("none/a.bsp"), b"x")
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("cannot make a file in") && text.contains("none"),
        "{text}"
    );
    let socket = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let text = save(&socket, b"x").unwrap_err().to_string();
    assert!(text.contains("not a regular file"), "{text}");
    assert!(socket.exists() && !socket.is_file());
}

#[test]
fn an_archive_is_never_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let pk3 = folder.path().join("pak0.PK3");
    fs::write(&pk3, "an archive").unwrap();
    let link = folder.path().join("link.bsp");
    symlink(&pk3, &link).unwrap();
    for path in [pk3.clone(), pk3.join("maps/a.bsp"), link] {
        let text = save(&path, b"x").unwrap_err().to_string();
        assert!(
            text.contains("is an archive, and archives are never written to"),
            "{text}"
        );
    }
    let text = save(&folder.path().join("new.pk3"), b"x")
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("only an archive may be called .pk3"),
        "{text}"
    );
    assert_eq!(fs::read(&pk3).unwrap(), b"an archive");
    assert_eq!(names(folder.path()), ["link.bsp", "pak0.PK3"]);
    // An unpacked one is a folder like any other.
    fs::create_dir_all(folder.path().join("x.pk3dir/maps")).unwrap();
    save(&folder.path().join("x.pk3dir/maps/a.bsp"), b"x").unwrap();
}

#[test]
fn links_stay_links_and_permissions_stay() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("sub/real.bsp"), "old").unwrap();
    fs::set_permissions(at("sub/real.bsp"), Permissions::from_mode(0o640)).unwrap();
    symlink("sub/real.bsp", at("link.bsp")).unwrap();
    symlink(at("link.bsp"), at("second.bsp")).unwrap();
    save(&at("second.bsp"), b"new").unwrap();
    assert!(at("second.bsp").is_symlink() && at("link.bsp").is_symlink());
    assert_eq!(fs::read(at("sub/real.bsp")).unwrap(), b"new");
    let mode = fs::metadata(at("sub/real.bsp"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777, 0o640);

    symlink("sub/coming.bsp", at("dangling.bsp")).unwrap();
    save(&at("dangling.bsp"), b"come").unwrap();
    assert!(at("dangling.bsp").is_symlink());
    assert_eq!(fs::read(at("sub/coming.bsp")).unwrap(), b"come");

    symlink("circle.bsp", at("circle.bsp")).unwrap();
    let text = save(&at("circle.bsp"), b"x").unwrap_err().to_string();
    assert!(text.contains("too many symbolic links"), "{text}");

    fs::hard_link(at("sub/real.bsp"), at("hard.bsp")).unwrap();
    save(&at("hard.bsp"), b"newer").unwrap();
    assert_eq!(fs::read(at("sub/real.bsp")).unwrap(), b"new");
    assert_eq!(fs::read(at("hard.bsp")).unwrap(), b"newer");
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bsp");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let text = save(&path, b"new").unwrap_err().to_string();
    assert!(text.contains("is write-protected"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a.bsp"]);
}

/// A user that owns nothing.
const NOBODY: u32 = 65_534;

#[test]
fn owner_and_group_stay_and_others_files_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        eprintln!("skipped: only the superuser can make files of other users");
        return;
    }
    let path = folder.path().join("a.bsp");
    fs::write(&path, "old").unwrap();
    std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o660)).unwrap();
    save(&path, b"new").unwrap();
    let meta = fs::metadata(&path).unwrap();
    assert_eq!(
        (meta.uid(), meta.gid(), meta.mode() & 0o7777),
        (NOBODY, NOBODY, 0o660)
    );

    let as_nobody = || {
        let mut command = child("once", &path);
        command.uid(NOBODY).gid(NOBODY);
        saved_by(command)
    };
    // The folder may not be written.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let Some(text) = as_nobody().filter(|text| !text.is_empty()) else {
        eprintln!("skipped: another user cannot run the tests here");
        return;
    };
    assert!(
        text.contains("cannot make a file in") && text.contains("ermission"),
        "{text}"
    );
    assert!(fs::read(&path).unwrap() == b"new");
    // The folder may be written, the file may not.
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::chown(&path, Some(0), Some(0)).unwrap();
    let text = as_nobody().unwrap();
    assert!(text.contains("the old file may not be written"), "{text}");
    assert!(fs::read(&path).unwrap() == b"new");
    // The group may write, and cannot be kept: it gets no right that another group had.
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(as_nobody().unwrap(), "saved");
    let meta = fs::metadata(&path).unwrap();
    assert_eq!(
        (meta.uid(), meta.gid(), meta.mode() & 0o7777),
        (NOBODY, NOBODY, 0o606)
    );
    assert_eq!(names(folder.path()), ["a.bsp"]);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bsp");
    let program = std::env::current_exe().unwrap();
    // The limit stands for the end of the disk: a write reaches it in the middle of the file.
    let limited =
        format!("trap '' XFSZ; ulimit -f 2048; exec {program:?} --exact the_child --nocapture");
    let mounted = format!(
        "mount -t tmpfs -o size=4m none {0:?} && printf old >{1:?} && {program:?} --exact the_child --nocapture; \
         printf '%s ' \"$(cat {1:?})\" $(ls -A {0:?}) >&2",
        folder.path(),
        path
    );
    let run = |shell: &[&str], script: &str| {
        let mut command = Command::new(shell[0]);
        command
            .args(&shell[1..])
            .arg(script)
            .env(CHILD_TASK, "once")
            .env(CHILD_PATH, &path);
        let output = command.output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    fs::write(&path, "old").unwrap();
    let text = run(&["sh", "-c"], &limited);
    assert!(text.contains("a.bsp: File too large"), "{text}");
    let found = fs::read(&path).unwrap();
    assert!(found == b"old", "{} bytes", found.len());
    assert_eq!(names(folder.path()), ["a.bsp"]);

    let text = run(&["unshare", "--mount", "sh", "-c"], &mounted);
    if text.contains("mount") || text.contains("unshare") {
        eprintln!(
            "skipped: no small disk can be mounted here ({})",
            text.trim()
        );
        return;
    }
    assert!(text.contains("a.bsp: No space left on device"), "{text}");
    assert!(text.trim_end().ends_with("old a.bsp"), "{text}");
}
