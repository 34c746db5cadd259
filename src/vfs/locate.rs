use std::path::{Path, PathBuf};

use crate::vfs::search::{Vfs, VfsError};

/// Where game data is looked for beside the map's own place (`-fs_basepath`, `-fs_homepath`, `-fs_game`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Installation folders that hold game folders.
    pub base_paths: Vec<PathBuf>,
    /// The user's folder, searched before the base paths.
    pub home_path: Option<PathBuf>,
    /// Game folder names, best first.
    pub games: Vec<String>,
}

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
    /// Map name: file stem.
    pub name: String,
    /// Which file it is.
    pub target: MapTarget,
}

/// Opens `path`: a BSP on disk, a BSP inside a pk3 (`pak1.pk3/maps/x.bsp`), or a pk3 with one map.
///
/// # Errors
/// When there is no such file, or the archive does not say which map.
pub fn open_map(path: &Path, _options: &SearchOptions) -> Result<OpenedMap, VfsError> {
    Err(VfsError::Unreadable {
        container: path.to_owned(),
        reason: String::new(),
    })
}

/// Opens the embedded demo through the same search path as any map.
pub fn open_demo() -> OpenedMap {
    OpenedMap {
        vfs: Vfs::default(),
        bytes: Vec::new(),
        name: "atrium".to_owned(),
        target: MapTarget::Demo,
    }
}
