use std::path::{Path, PathBuf};

use crate::vfs::container::Container;

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
    let normal = name.replace('\\', "/").to_ascii_lowercase();
    let sound = !normal.is_empty()
        && !normal.contains([':', '\0'])
        && normal
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."));
    if sound {
        Ok(normal)
    } else {
        Err(VfsError::BadName {
            name: name.to_owned(),
        })
    }
}

impl Vfs {
    /// Reads the file that wins under `name`. A container whose copy is damaged is passed over for the next one only when
    /// there is a next one.
    ///
    /// # Errors
    /// [`VfsError::NotFound`], [`VfsError::BadName`], or the container's trouble.
    pub fn read(&self, name: &str) -> Result<VfsFile, VfsError> {
        let key = normalise(name)?;
        let mut trouble = None;
        for container in &self.containers {
            match container.read(&key) {
                Ok(Some((bytes, stored))) => {
                    return Ok(VfsFile {
                        bytes,
                        origin: Origin {
                            container: container.path(),
                            name: stored,
                        },
                    });
                }
                Ok(None) => {}
                Err(reason) => {
                    trouble.get_or_insert(VfsError::Unreadable {
                        container: container.path(),
                        reason,
                    });
                }
            }
        }
        Err(trouble.unwrap_or(VfsError::NotFound {
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
    pub fn containers(&self) -> Vec<PathBuf> {
        self.containers.iter().map(Container::path).collect()
    }

    /// Adds one container behind all others.
    pub(super) fn push(&mut self, container: Container) {
        self.containers.push(container);
    }

    /// Adds an archive behind all others; one that cannot be read is noted. An archive already there is not repeated.
    pub(super) fn push_archive(&mut self, path: &Path) {
        if self.containers.iter().any(|known| known.path() == path) {
            return;
        }
        match Container::archive(path) {
            Ok(container) => self.containers.push(container),
            Err(reason) => self.skipped.push((path.to_owned(), reason)),
        }
    }

    /// Adds a game folder: its loose files, then its archives and `.pk3dir` folders, the name that sorts last first.
    pub(super) fn push_game_folder(&mut self, folder: &Path) {
        if self.containers.iter().any(|known| known.path() == folder) {
            return;
        }
        self.push(Container::folder(folder));
        let mut archives: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let name = path.file_name()?.to_str()?.to_ascii_uppercase();
                let extension = path.extension()?;
                let is_archive = ["pk3", "pk3dir"]
                    .iter()
                    .any(|known| extension.eq_ignore_ascii_case(known));
                is_archive.then_some((name, path))
            })
            .collect();
        archives.sort_unstable_by(|a, b| b.cmp(a));
        for (_, path) in archives {
            if !path.is_dir() {
                self.push_archive(&path);
            } else if self.containers.iter().all(|known| known.path() != path) {
                self.push(Container::folder(&path));
            }
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
        vfs.push_game_folder(game.path());
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
