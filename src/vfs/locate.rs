use std::path::{Component, Path, PathBuf};

use crate::vfs::container::{Container, read_file};
use crate::vfs::search::{Origin, Vfs, VfsError, VfsFile};

/// Base game folders that are searched beside a map's own.
const SIBLING_GAMES: [&str; 7] = ["baseq3", "baseoa", "main", "base", "etmain", "data", "nx"];
/// Map names listed in an error at most.
const NAMES_IN_ERROR: usize = 12;

/// Where game data is looked for beside the map's own place (`-fs_basepath`, `-fs_homepath`, `-fs_game`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Installation folders that hold game folders.
    pub base_paths: Vec<PathBuf>,
    /// The user's folder, searched before the base paths.
    pub home_path: Option<PathBuf>,
    /// Game folder names, best first. None given: the known base games.
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

impl OpenedMap {
    /// The file of the same stem with another `extension` (without a dot): beside a map on disk, else on the search path
    /// under `maps/`.
    pub fn companion(&self, extension: &str) -> Option<VfsFile> {
        if let MapTarget::File(path) = &self.target {
            let beside = path.with_extension(extension);
            if let Ok(bytes) = read_file(&beside) {
                let name = beside.file_name()?.to_string_lossy().into_owned();
                let container = beside.parent().unwrap_or(Path::new(".")).to_owned();
                return Some(VfsFile {
                    bytes,
                    origin: Origin { container, name },
                });
            }
        }
        self.vfs
            .read(&format!("maps/{}.{extension}", self.name))
            .ok()
    }
}

/// Opens `path`: a BSP on disk, a BSP inside a pk3 (`pak1.pk3/maps/x.bsp`), or a pk3 with one map.
///
/// # Errors
/// When there is no such file, or the archive does not say which map.
pub fn open_map(path: &Path, options: &SearchOptions) -> Result<OpenedMap, VfsError> {
    match split_archive(path) {
        Some((archive, member)) => open_in_archive(&archive, &member, options),
        None => open_file(path, options),
    }
}

/// Opens the embedded demo through the same search path as any map.
pub fn open_demo() -> OpenedMap {
    let mut vfs = Vfs::default();
    vfs.push(Container::Demo);
    let bytes = vfs
        .read("maps/atrium.bsp")
        .map(|file| file.bytes)
        .unwrap_or_default();
    OpenedMap {
        vfs,
        bytes,
        name: "atrium".to_owned(),
        target: MapTarget::Demo,
    }
}

/// Archive and member when a part of the path is an archive file; an empty member when the path ends there.
fn split_archive(path: &Path) -> Option<(PathBuf, String)> {
    let mut archive = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        archive.push(part);
        let is_archive = archive.extension().is_some_and(|extension| {
            extension.eq_ignore_ascii_case("pk3") || extension.eq_ignore_ascii_case("zip")
        });
        if is_archive && archive.is_file() {
            let member: Vec<String> = parts
                .filter_map(|part| match part {
                    Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                    _ => None,
                })
                .collect();
            return Some((archive, member.join("/")));
        }
    }
    None
}

fn open_file(path: &Path, options: &SearchOptions) -> Result<OpenedMap, VfsError> {
    let bytes = read_file(path).map_err(|reason| VfsError::Unreadable {
        container: path.to_owned(),
        reason,
    })?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let in_maps = folder
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("maps"));
    let game = match folder.parent() {
        Some(above) if in_maps && !above.as_os_str().is_empty() => above.to_owned(),
        _ if in_maps => PathBuf::from("."),
        _ => folder,
    };
    let mut vfs = Vfs::default();
    let unpacked = game
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("pk3dir"));
    if unpacked {
        vfs.push(Container::folder(&game));
        let above = game
            .parent()
            .map_or_else(|| PathBuf::from("."), Path::to_owned);
        push_games(&mut vfs, &above, options);
    } else {
        push_games(&mut vfs, &game, options);
    }
    Ok(OpenedMap {
        vfs,
        bytes,
        name: stem(path),
        target: MapTarget::File(path.to_owned()),
    })
}

fn open_in_archive(
    archive: &Path,
    member: &str,
    options: &SearchOptions,
) -> Result<OpenedMap, VfsError> {
    let container = Container::archive(archive).map_err(|reason| VfsError::Unreadable {
        container: archive.to_owned(),
        reason,
    })?;
    let member = if member.is_empty() {
        only_map(archive, &container)?
    } else {
        member.replace('\\', "/").to_ascii_lowercase()
    };
    let read = container
        .read(&member)
        .map_err(|reason| VfsError::Unreadable {
            container: archive.to_owned(),
            reason,
        })?;
    let (bytes, _) = read.ok_or_else(|| VfsError::WhichMap {
        archive: archive.to_owned(),
        reason: format!("holds no {member}; it holds {}", map_list(&container)),
    })?;
    let mut vfs = Vfs::default();
    vfs.push(container);
    let game = archive
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    push_games(&mut vfs, game.unwrap_or(Path::new(".")), options);
    Ok(OpenedMap {
        vfs,
        bytes,
        name: stem(Path::new(&member)),
        target: MapTarget::Archive {
            archive: archive.to_owned(),
            member,
        },
    })
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn only_map(archive: &Path, container: &Container) -> Result<String, VfsError> {
    let maps = container.list("maps/", ".bsp");
    match maps.as_slice() {
        [map] => Ok(map.clone()),
        _ => Err(VfsError::WhichMap {
            archive: archive.to_owned(),
            reason: match maps.len() {
                0 => "holds no map".to_owned(),
                count => format!(
                    "holds {count} maps; name one behind the archive: {}",
                    map_list(container)
                ),
            },
        }),
    }
}

fn map_list(container: &Container) -> String {
    let maps = container.list("maps/", ".bsp");
    let shown = maps
        .iter()
        .take(NAMES_IN_ERROR)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match maps.len() {
        0 => "no map".to_owned(),
        count if count > NAMES_IN_ERROR => format!("{shown} and {} more", count - NAMES_IN_ERROR),
        _ => shown,
    }
}

/// The map's game folder, then the given ones, then base games beside the map's.
fn push_games(vfs: &mut Vfs, game: &Path, options: &SearchOptions) {
    vfs.push_game_folder(game);
    let names: Vec<&str> = if options.games.is_empty() {
        SIBLING_GAMES.to_vec()
    } else {
        options.games.iter().map(String::as_str).collect()
    };
    for name in &names {
        for root in options.home_path.iter().chain(&options.base_paths) {
            let folder = root.join(name);
            if folder.is_dir() {
                vfs.push_game_folder(&folder);
            }
        }
    }
    // A relative folder without a parent in its text still has siblings.
    let beside = match game.parent() {
        Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
        _ => game.join(".."),
    };
    for name in SIBLING_GAMES {
        let folder = beside.join(name);
        let same = folder.canonicalize().ok() == game.canonicalize().ok();
        if folder.is_dir() && !same {
            vfs.push_game_folder(&folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_read_through_the_search_path() {
        let demo = open_demo();
        assert!(demo.bytes.starts_with(b"IBSP"));
        assert!(demo.companion("map").is_some() && demo.companion("ent").is_none());
        assert_eq!(demo.vfs.list("scripts/", ".shader").len(), 2);
        assert!(demo.vfs.contains("Textures/Atrium/Stone.JPG"));
    }

    #[test]
    fn the_game_folder_is_the_one_above_maps_and_siblings_follow() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["mymod/maps", "baseq3/textures"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let map = root.path().join("mymod/maps/x.bsp");
        std::fs::write(&map, "x").unwrap();
        std::fs::write(map.with_extension("map"), "lights").unwrap();
        std::fs::write(root.path().join("baseq3/textures/a.tga"), "a").unwrap();
        let opened = open_map(&map, &SearchOptions::default()).unwrap();
        assert_eq!(opened.name, "x");
        assert!(opened.vfs.contains("textures/a.tga"));
        assert_eq!(opened.companion("map").unwrap().bytes, b"lights");
        assert!(open_map(&root.path().join("none.bsp"), &SearchOptions::default()).is_err());
        assert!(open_map(root.path(), &SearchOptions::default()).is_err());
    }

    #[test]
    fn a_map_in_an_archive_is_named_or_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let one = root.path().join("one.pk3");
        let write = |path: &Path, members: &[&str]| {
            let mut writer = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
            for name in members {
                writer
                    .start_file(*name, zip::write::SimpleFileOptions::default())
                    .unwrap();
                std::io::Write::write_all(&mut writer, name.as_bytes()).unwrap();
            }
            writer.finish().unwrap();
        };
        write(&one, &["Maps/Only.bsp", "scripts/a.shader"]);
        let opened = open_map(&one, &SearchOptions::default()).unwrap();
        assert_eq!(
            (opened.name.as_str(), opened.bytes.as_slice()),
            ("only", &b"Maps/Only.bsp"[..])
        );
        let two = root.path().join("two.pk3");
        write(&two, &["maps/a.bsp", "maps/b.bsp"]);
        let which = open_map(&two, &SearchOptions::default()).unwrap_err();
        assert!(
            which.to_string().contains("maps/a.bsp, maps/b.bsp"),
            "{which}"
        );
        let opened = open_map(&two.join("maps/B.bsp"), &SearchOptions::default()).unwrap();
        assert_eq!(opened.bytes, b"maps/b.bsp");
        assert!(open_map(&two.join("maps/c.bsp"), &SearchOptions::default()).is_err());
    }
}
