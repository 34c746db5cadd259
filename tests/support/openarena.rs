//! Finds the maps of `OpenArena` where it is installed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where Debian installs the data.
const INSTALLED: &str = "/usr/share/games/openarena/baseoa";

/// The folder with the archives: `LUXGRID_OPENARENA`, else where Debian has it. `None` says on the standard error that the
/// test is skipped.
pub(crate) fn folder() -> Option<PathBuf> {
    let named =
        std::env::var_os("LUXGRID_OPENARENA").map_or_else(|| INSTALLED.into(), PathBuf::from);
    if named.join("pak0.pk3").is_file() {
        return Some(named);
    }
    eprintln!("skipped: no OpenArena data");
    None
}

/// Map name (lower case, without folder and suffix) to the path by which it is opened, `pak.pk3/maps/x.bsp`.
///
/// Of a map that several archives hold, the last archive in the engine's order wins.
pub(crate) fn maps(folder: &Path) -> BTreeMap<String, PathBuf> {
    let mut archives: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "pk3"))
        .collect();
    archives.sort_by_key(|path| path.to_string_lossy().to_ascii_uppercase());
    let mut maps = BTreeMap::new();
    for archive in archives {
        let zip = zip::ZipArchive::new(File::open(&archive).unwrap()).unwrap();
        for member in zip.file_names() {
            let member = member.unwrap();
            let lower = member.to_ascii_lowercase();
            let stem = lower
                .strip_prefix("maps/")
                .and_then(|name| name.strip_suffix(".bsp"));
            if let Some(stem) = stem {
                maps.insert(stem.to_owned(), archive.join(&*member));
            }
        }
    }
    maps
}
