use std::path::PathBuf;

/// Why a file cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum VfsError {
    /// No container holds it.
    #[error("{name} is in none of the {searched} folders and archives searched")]
    NotFound {
        /// Virtual name.
        name: String,
        /// Containers on the search path.
        searched: usize,
    },
    /// The name is absolute, climbs out, or names a drive.
    #[error("{name} is not a legal virtual name")]
    BadName {
        /// As asked for.
        name: String,
    },
    /// The system or the archive failed.
    #[error("{}: {reason}", container.display())]
    Unreadable {
        /// Folder, archive or file.
        container: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A pk3 holds no map, or several and none was named.
    #[error("{}: {reason}", archive.display())]
    WhichMap {
        /// The archive.
        archive: PathBuf,
        /// What is wrong and what to try.
        reason: String,
    },
    /// Writing failed; an old file is as it was.
    #[error("{}: {reason}", path.display())]
    WriteFailed {
        /// Target.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// Where a file came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Folder or archive; empty for the embedded demo.
    pub container: PathBuf,
    /// Name inside, with the container's own case.
    pub name: String,
}

/// A file's bytes and origin.
#[derive(Clone, Debug)]
pub struct VfsFile {
    /// Contents.
    pub bytes: Vec<u8>,
    /// Where it came from.
    pub origin: Origin,
}

/// A search path.
#[derive(Debug, Default)]
pub struct Vfs {}

impl Vfs {
    /// Reads the file that wins under `name`.
    ///
    /// # Errors
    /// [`VfsError::NotFound`], [`VfsError::BadName`], or the container's trouble.
    pub fn read(&self, name: &str) -> Result<VfsFile, VfsError> {
        Err(VfsError::NotFound {
            name: name.to_owned(),
            searched: 0,
        })
    }

    /// Whether any container holds `name`.
    pub fn contains(&self, _name: &str) -> bool {
        false
    }

    /// Lower-case virtual names under `folder` (with `/` at its end) that end in `suffix`, sorted, each once.
    pub fn list(&self, _folder: &str, _suffix: &str) -> Vec<String> {
        Vec::new()
    }

    /// Containers that could not be read, with the reason.
    pub fn skipped(&self) -> &[(PathBuf, String)] {
        &[]
    }

    /// Folders and archives searched, best first.
    pub fn containers(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
