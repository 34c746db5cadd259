use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::vfs::search::VfsError;

/// Temporary names tried before giving up.
const NAME_TRIES: u32 = 100;

/// Writes a whole file or nothing: a temporary name beside it, flush, rename.
///
/// A symbolic link is followed: the file that it names is replaced, the link stays. Permissions of an old file are kept.
///
/// # Errors
/// [`VfsError::WriteFailed`], also for a folder or a device of that name; an old file of that name is as it was.
pub fn save(path: &Path, bytes: &[u8]) -> Result<(), VfsError> {
    let failed = |reason: String| VfsError::WriteFailed {
        path: path.to_owned(),
        reason,
    };
    // A path that does not exist yet is its own target.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        return Err(failed("is a folder".to_owned()));
    }
    // The rename would put a plain file in the place of a device or pipe.
    if target.exists() && !target.is_file() {
        return Err(failed("is not a regular file".to_owned()));
    }
    let (temporary, file) = create_beside(&target).map_err(|error| failed(error.to_string()))?;
    let written = write_and_rename(file, &temporary, &target, bytes);
    written.map_err(|error| {
        // The half-written file is ours; if it cannot be removed either, the first error says more.
        let _ = std::fs::remove_file(&temporary);
        failed(error.to_string())
    })
}

fn create_beside(target: &Path) -> std::io::Result<(PathBuf, File)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let mut last = std::io::Error::other("no free temporary name");
    for number in 0..NAME_TRIES {
        let temporary =
            target.with_file_name(format!(".{name}.{}.{number}.tmp", std::process::id()));
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn write_and_rename(
    mut file: File,
    temporary: &Path,
    target: &Path,
    bytes: &[u8],
) -> std::io::Result<()> {
    file.write_all(bytes)?;
    if let Ok(old) = std::fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    std::fs::rename(temporary, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saving_replaces_the_whole_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsp");
        save(&path, b"first version").unwrap();
        save(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(save(folder.path(), b"x").is_err());
        assert!(save(&folder.path().join("none/a.bsp"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_socket_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(save(&path, b"x").is_err());
        assert!(path.exists() && !path.is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("real.bsp"),
            folder.path().join("link.bsp"),
        );
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        save(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert_eq!(
            std::fs::metadata(&real).unwrap().permissions().mode() & 0o777,
            0o640
        );
    }
}
