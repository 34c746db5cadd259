use std::io::Write;
use std::path::Path;

use crate::vfs::save::{save, save_with};
use crate::vfs::search::VfsError;
use crate::vfs::stamp::Stamp;

/// Writes a map and the file that belongs to it, each whole or not at all: first `companion`, then `map`, so that the old map
/// is not lost before the new pair is complete. When the map cannot be written, the companion is as it was before.
/// Gives the stamp of the map.
///
/// # Errors
/// [`VfsError::WriteFailed`] as for [`save`]; [`VfsError::Unreadable`] when an old companion is there and cannot be kept.
pub fn save_pair(
    map: (&Path, &[u8]),
    companion: (&Path, &[u8]),
) -> Result<Option<Stamp>, VfsError> {
    save_pair_with(
        (map.0, |out: &mut dyn Write| out.write_all(map.1)),
        (companion.0, |out: &mut dyn Write| {
            out.write_all(companion.1)
        }),
    )
}

/// [`save_pair`] of what functions write, as [`save_with`].
///
/// # Errors
/// As for [`save_pair`].
pub fn save_pair_with(
    map: (&Path, impl FnOnce(&mut dyn Write) -> std::io::Result<()>),
    companion: (&Path, impl FnOnce(&mut dyn Write) -> std::io::Result<()>),
) -> Result<Option<Stamp>, VfsError> {
    let (beside, new) = companion;
    let old = match std::fs::read(beside) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            return Err(VfsError::Unreadable {
                container: beside.to_owned(),
                reason: error.to_string(),
            });
        }
    };
    save_with(beside, new)?;
    save_with(map.0, map.1).inspect_err(|_| {
        // If this fails too, the first error says more.
        let _ = match &old {
            Some(bytes) => save(beside, bytes).is_ok(),
            None => std::fs::remove_file(beside).is_ok(),
        };
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_cannot_be_written_leaves_the_companion_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (map, beside) = (path("m.bsp"), path("m.shgrid"));
        save_pair((&map, b"map"), (&beside, b"grid")).unwrap();
        assert_eq!(std::fs::read(&map).unwrap(), b"map");
        assert_eq!(std::fs::read(&beside).unwrap(), b"grid");
        std::fs::create_dir(path("folder.bsp")).unwrap();
        assert!(save_pair((&path("folder.bsp"), b"x"), (&beside, b"new")).is_err());
        assert_eq!(std::fs::read(&beside).unwrap(), b"grid");
        let fresh = path("folder.shgrid");
        assert!(save_pair((&path("folder.bsp"), b"x"), (&fresh, b"new")).is_err());
        assert!(!fresh.exists());
        // The other way round nothing of the map is touched.
        assert!(save_pair((&map, b"new"), (&path("folder.bsp"), b"x")).is_err());
        assert_eq!(std::fs::read(&map).unwrap(), b"map");
    }
}
