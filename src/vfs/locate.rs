use std::path::{Component, Path, PathBuf};

use crate::vfs::container::Container;
use crate::vfs::engine::Engine;
use crate::vfs::opened::{MapTarget, OpenedMap, folder_of, read_on_disk};
use crate::vfs::search::{Origin, Vfs, VfsError};
use crate::vfs::stamp::Stamp;

/// Base game folders that are searched beside a map's own.
const SIBLING_GAMES: [&str; 7] = ["baseq3", "baseoa", "main", "base", "etmain", "data", "nx"];
/// The demo's map.
const DEMO_MAP: &str = "maps/atrium.bsp";
/// Map names listed in an error at most.
const NAMES_IN_ERROR: usize = 12;

/// Where game data is looked for beside the map's own place (`-fs_basepath`, `-fs_homepath`, `-fs_game`, `-engine`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Installation folders that hold game folders.
    pub base_paths: Vec<PathBuf>,
    /// The user's folder, searched before the base paths.
    pub home_path: Option<PathBuf>,
    /// Names of the game folders searched before the base games, best first.
    pub games: Vec<String>,
    /// Whose order holds inside a game folder.
    pub engine: Engine,
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
        .read(DEMO_MAP)
        .map(|file| file.bytes)
        .unwrap_or_default();
    OpenedMap {
        vfs,
        bytes,
        origin: Origin {
            container: PathBuf::new(),
            name: DEMO_MAP.to_owned(),
        },
        name: "atrium".to_owned(),
        target: MapTarget::Demo,
        stamp: None,
    }
}

/// Archive and member when a part of the path is an archive file; an empty member when the path ends there.
pub(super) fn split_archive(path: &Path) -> Option<(PathBuf, String)> {
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
    // Taken before the bytes: a change while they are read is a change.
    let stamp = Stamp::of(path);
    let folder = folder_of(path);
    let in_maps = folder
        .file_name()
        .is_some_and(|name| name.eq_ignore_ascii_case("maps"));
    let game = if in_maps { folder_of(&folder) } else { folder };
    let file = read_on_disk(path, &game)?;
    let mut vfs = Vfs::default();
    let unpacked = game
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("pk3dir"));
    if unpacked {
        vfs.push(Container::folder(&game));
        push_games(&mut vfs, &folder_of(&game), options);
    } else {
        push_games(&mut vfs, &game, options);
    }
    Ok(OpenedMap {
        vfs,
        bytes: file.bytes,
        origin: file.origin,
        name: stem(path),
        target: MapTarget::File(path.to_owned()),
        stamp,
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
    let (bytes, stored) = read.ok_or_else(|| VfsError::WhichMap {
        archive: archive.to_owned(),
        reason: format!("holds no {member}; it holds {}", map_list(&container)),
    })?;
    let mut vfs = Vfs::default();
    vfs.push(container);
    push_games(&mut vfs, &folder_of(archive), options);
    Ok(OpenedMap {
        vfs,
        bytes,
        origin: Origin {
            container: archive.to_owned(),
            name: stored,
        },
        name: stem(Path::new(&member)),
        target: MapTarget::Archive {
            archive: archive.to_owned(),
            member,
        },
        stamp: None,
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

/// Game folders in the engines' order: from the mod to the base game, and each in the user's folder, the installation, and
/// beside the map's own, which comes before others of its name.
fn push_games(vfs: &mut Vfs, own: &Path, options: &SearchOptions) {
    let own_name = game_name(own);
    let is_own = |name: &str| name.eq_ignore_ascii_case(&own_name);
    let beside = match own.parent() {
        Some(above) if !above.as_os_str().is_empty() => above.to_owned(),
        // A relative folder without a parent in its text still has siblings.
        _ => own.join(".."),
    };
    let roots: Vec<&Path> = options
        .home_path
        .iter()
        .chain(&options.base_paths)
        .map(PathBuf::as_path)
        .chain([beside.as_path()])
        .collect();
    for name in game_order(&own_name, &options.games) {
        if is_own(&name) {
            vfs.push_game_folder(own, options.engine);
        }
        for root in &roots {
            let folder = root.join(&name);
            if folder.is_dir() {
                vfs.push_game_folder(&folder, options.engine);
            }
        }
    }
}

/// The map's own game, the given ones, the base games. A base game comes behind the given ones, as under an engine.
fn game_order(own: &str, given: &[String]) -> Vec<String> {
    let is_base = |name: &str| {
        SIBLING_GAMES
            .iter()
            .any(|base| base.eq_ignore_ascii_case(name))
    };
    let mut names = vec![own.to_owned()];
    let at = usize::from(!is_base(own));
    names.splice(at..at, given.iter().cloned());
    names.extend(SIBLING_GAMES.map(str::to_owned));
    let mut seen = std::collections::BTreeSet::new();
    // A given name that is the own one says where that stands.
    if given.iter().any(|name| name.eq_ignore_ascii_case(own)) && at == 1 {
        names.remove(0);
    }
    names.retain(|name| seen.insert(name.to_ascii_lowercase()));
    names
}

/// Name of a game folder, also where the path is `.` or ends in `..`.
fn game_name(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().or_else(|| real.file_name());
    name.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_read_through_the_search_path() {
        let demo = open_demo();
        assert!(demo.bytes.starts_with(b"IBSP"));
        assert!(
            demo.companion("map").unwrap().is_some() && demo.companion("ent").unwrap().is_none()
        );
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
        assert_eq!(opened.companion("map").unwrap().unwrap().bytes, b"lights");
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
