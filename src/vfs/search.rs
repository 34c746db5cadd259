use std::path::{Path, PathBuf};

use crate::format::pk3::normal_name;
use crate::vfs::container::Container;
use crate::vfs::engine::Engine;

/// Why a file cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Folder or archive; empty for the embedded demo.
    pub container: PathBuf,
    /// Name inside, with the container's own case.
    pub name: String,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.container.as_os_str().is_empty() {
            write!(f, "demo/{}", self.name)
        } else {
            write!(f, "{}", self.container.join(&self.name).display())
        }
    }
}

/// A file's bytes and origin.
#[derive(Clone, Debug)]
pub struct VfsFile {
    /// Contents.
    pub bytes: Vec<u8>,
    /// Where it came from.
    pub origin: Origin,
    /// Better places whose copy cannot be read, with the reason: this one stands in for them.
    pub passed_over: Vec<VfsError>,
}

/// What a container is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchedKind {
    /// A game folder, or a `.pk3dir`.
    Folder,
    /// A pk3.
    Archive,
    /// The embedded demo.
    Demo,
}

/// A place on the search path, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Folder or archive; empty for the demo.
    pub path: PathBuf,
    /// What it is.
    pub kind: SearchedKind,
    /// Files that it offers; `None` for folders, which are not walked.
    pub files: Option<usize>,
    /// Members of an archive that no name reaches: absolute, climbing out, or no text.
    pub refused: Vec<String>,
    /// Members of an archive hidden by a later one whose name differs in case or slashes only.
    pub hidden: usize,
}

/// A search path: containers, best first.
#[derive(Debug, Default)]
pub struct Vfs {
    containers: Vec<Container>,
    skipped: Vec<(PathBuf, String)>,
}

/// Lower case with forward slashes.
///
/// # Errors
/// [`VfsError::BadName`] for absolute names, drives, `..` and empty parts.
pub(super) fn normalise(name: &str) -> Result<String, VfsError> {
    normal_name(name).ok_or_else(|| VfsError::BadName {
        name: name.to_owned(),
    })
}

impl Vfs {
    /// Reads the file that wins under `name`. A container whose copy cannot be read is passed over, and named in
    /// [`VfsFile::passed_over`].
    ///
    /// # Errors
    /// [`VfsError::NotFound`], [`VfsError::BadName`], or the container's trouble.
    pub fn read(&self, name: &str) -> Result<VfsFile, VfsError> {
        let key = normalise(name)?;
        let mut passed_over = Vec::new();
        for container in &self.containers {
            match container.read(&key) {
                Ok(Some((bytes, stored))) => {
                    return Ok(VfsFile {
                        bytes,
                        origin: Origin {
                            container: container.path(),
                            name: stored,
                        },
                        passed_over,
                    });
                }
                Ok(None) => {}
                Err(reason) => {
                    passed_over.push(VfsError::Unreadable {
                        container: container.path(),
                        reason,
                    });
                }
            }
        }
        // The best place's trouble says most.
        let first = passed_over.into_iter().next();
        Err(first.unwrap_or(VfsError::NotFound {
            name: name.to_owned(),
            searched: self.containers.len(),
        }))
    }

    /// Whether any container holds `name`; false for illegal names.
    pub fn contains(&self, name: &str) -> bool {
        normalise(name).is_ok_and(|key| {
            self.containers
                .iter()
                .any(|container| container.stored_name(&key).is_some())
        })
    }

    /// Lower-case virtual names under `folder` (with `/` at its end) that end in `suffix`. The containers' order, best
    /// first, sorted by name within each; a name that a better container holds is not repeated.
    pub fn list(&self, folder: &str, suffix: &str) -> Vec<String> {
        let (folder, suffix) = (folder.to_ascii_lowercase(), suffix.to_ascii_lowercase());
        let mut names = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for container in &self.containers {
            for name in container.list(&folder, &suffix) {
                if seen.insert(name.clone()) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Containers that could not be read, with the reason.
    pub fn skipped(&self) -> &[(PathBuf, String)] {
        &self.skipped
    }

    /// Folders and archives searched, best first.
    pub fn searched(&self) -> Vec<Searched> {
        self.containers.iter().map(Container::searched).collect()
    }

    /// Adds one container behind all others.
    pub(super) fn push(&mut self, container: Container) {
        self.containers.push(container);
    }

    /// Adds an archive behind all others; one that cannot be read is noted. An archive already there is not repeated.
    fn push_archive(&mut self, path: &Path) {
        if self.holds(path) {
            return;
        }
        match Container::archive(path) {
            Ok(container) => self.containers.push(container),
            Err(reason) => self.skip(path, reason),
        }
    }

    fn skip(&mut self, path: &Path, reason: impl Into<String>) {
        self.skipped.push((path.to_owned(), reason.into()));
    }

    /// Whether a container is that folder or archive, by whichever path it was found.
    fn holds(&self, path: &Path) -> bool {
        let same_name = |known: &Path| known.file_name() == path.file_name();
        let real = || path.canonicalize().ok();
        self.containers.iter().any(|known| {
            let known = known.path();
            known == path || (same_name(&known) && known.canonicalize().ok() == real())
        })
    }

    /// Adds a game folder: its loose files, archives and `.pk3dir` folders in the engine's order. What looks like an archive
    /// and is none is noted with the reason.
    pub(super) fn push_game_folder(&mut self, folder: &Path, engine: Engine) {
        if self.holds(folder) {
            return;
        }
        if !engine.archives_first() {
            self.push(Container::folder(folder));
        }
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.skip(folder, error.to_string()),
        };
        let mut archives: Vec<(String, bool, PathBuf)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let name = path.file_name()?.to_string_lossy().to_ascii_uppercase();
                let is_unpacked = match path.extension()?.to_ascii_lowercase().to_str()? {
                    "pk3" => false,
                    "pk3dir" => true,
                    _ => return None,
                };
                Some((name, is_unpacked, path))
            })
            .collect();
        archives.sort_unstable_by(|a, b| b.cmp(a));
        for (_, is_unpacked, path) in archives {
            match (is_unpacked, path.is_dir()) {
                (true, true) if self.holds(&path) => {}
                (true, true) => self.push(Container::folder(&path)),
                (false, false) => self.push_archive(&path),
                (true, false) => self.skip(&path, "is no folder, which a .pk3dir must be"),
                (false, true) => self.skip(&path, "is a folder; only .pk3dir folders are searched"),
            }
        }
        if engine.archives_first() {
            self.push(Container::folder(folder));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn pk3(path: &Path, members: &[(&str, &str)]) {
        let mut writer = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
        for (name, text) in members {
            writer
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
    }

    fn text(vfs: &Vfs, name: &str) -> String {
        String::from_utf8(vfs.read(name).unwrap().bytes).unwrap()
    }

    #[test]
    fn loose_files_first_then_the_archive_that_sorts_last() {
        let game = tempfile::tempdir().unwrap();
        pk3(
            &game.path().join("pak0.pk3"),
            &[("a.txt", "0"), ("b.txt", "0"), ("only0", "0")],
        );
        pk3(
            &game.path().join("Z_last.PK3"),
            &[("A.TXT", "z"), ("B.txt", "z")],
        );
        std::fs::create_dir_all(game.path().join("pak5.pk3dir/scripts")).unwrap();
        std::fs::write(game.path().join("pak5.pk3dir/only0"), "5").unwrap();
        std::fs::write(game.path().join("pak5.pk3dir/scripts/X.shader"), "").unwrap();
        std::fs::create_dir(game.path().join("Sub")).unwrap();
        std::fs::write(game.path().join("Sub/Loose.Txt"), "loose").unwrap();
        std::fs::write(game.path().join("b.TXT"), "loose").unwrap();
        std::fs::write(game.path().join("bad.pk3"), "garbage").unwrap();
        let mut vfs = Vfs::default();
        vfs.push_game_folder(game.path(), Engine::default());
        assert_eq!(text(&vfs, "a.txt"), "z");
        assert_eq!(text(&vfs, "B.TXT"), "loose");
        assert_eq!(text(&vfs, "only0"), "5");
        assert_eq!(text(&vfs, "sub\\LOOSE.txt"), "loose");
        assert_eq!(
            vfs.read("sub/loose.txt").unwrap().origin.name,
            "Sub/Loose.Txt"
        );
        assert_eq!(vfs.list("scripts/", ".shader"), ["scripts/x.shader"]);
        assert_eq!(vfs.skipped().len(), 1);
        assert!(vfs.contains("SUB/loose.txt") && !vfs.contains("sub"));
    }

    #[test]
    fn climbing_and_absolute_names_are_refused() {
        let vfs = Vfs::default();
        for name in ["../x", "/etc/x", "a/../b", "c:/x", "", "a//b", "a\\..\\b"] {
            assert!(
                matches!(vfs.read(name), Err(VfsError::BadName { .. })),
                "{name}"
            );
        }
        assert!(matches!(vfs.read("a"), Err(VfsError::NotFound { .. })));
    }
}
