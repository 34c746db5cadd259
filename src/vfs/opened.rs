use std::path::{Path, PathBuf};

use crate::vfs::container::read_file;
use crate::vfs::search::{Origin, Vfs, VfsError, VfsFile};
use crate::vfs::stamp::Stamp;

/// Which map was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapTarget {
    /// A file on disk, which a save may replace.
    File(PathBuf),
    /// A member of an archive: never written to.
    Archive {
        /// The archive.
        archive: PathBuf,
        /// Virtual name of the map.
        member: String,
    },
    /// The embedded demo.
    Demo,
}

/// A map and the search path that its materials are found on.
#[derive(Debug)]
pub struct OpenedMap {
    /// Search path.
    pub vfs: Vfs,
    /// Bytes of the BSP.
    pub bytes: Vec<u8>,
    /// Where the BSP came from.
    pub origin: Origin,
    /// Map name: file stem.
    pub name: String,
    /// Which file it is.
    pub target: MapTarget,
    /// The file on disk as it was when it was read.
    pub stamp: Option<Stamp>,
}

impl OpenedMap {
    /// The file of the same stem with another `extension` (without a dot): beside a map on disk, else on the search path
    /// under `maps/`. `None` when there is none.
    ///
    /// # Errors
    /// When there is one that cannot be read.
    pub fn companion(&self, extension: &str) -> Result<Option<VfsFile>, VfsError> {
        if let MapTarget::File(path) = &self.target {
            let beside = path.with_extension(extension);
            if beside.exists() {
                return read_on_disk(&beside, &self.origin.container).map(Some);
            }
        }
        match self.vfs.read(&format!("maps/{}.{extension}", self.name)) {
            Ok(file) => Ok(Some(file)),
            Err(VfsError::NotFound { .. } | VfsError::BadName { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A file by its path, which is in or below the folder `game`.
pub(super) fn read_on_disk(path: &Path, game: &Path) -> Result<VfsFile, VfsError> {
    let bytes = read_file(path).map_err(|reason| VfsError::Unreadable {
        container: path.to_owned(),
        reason,
    })?;
    let inside = match path.strip_prefix(game) {
        Ok(inside) => Some(inside),
        Err(_) => (game == Path::new(".")).then_some(path),
    };
    let (container, name) = match inside {
        Some(inside) => (game.to_owned(), inside.to_owned()),
        None => (folder_of(path), path.file_name().unwrap_or_default().into()),
    };
    Ok(VfsFile {
        bytes,
        origin: Origin {
            container,
            name: name.to_string_lossy().into_owned(),
        },
        passed_over: Vec::new(),
    })
}

/// The folder that `path` lies in; `.` where the path does not say.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
