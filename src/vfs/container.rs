use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::format::pk3::Pk3;
use crate::vfs::demo;
use crate::vfs::search::{Searched, SearchedKind};

/// Loose files larger than this are refused; a game file never is.
const FILE_LIMIT_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// One place that files are found in.
#[derive(Debug)]
pub(super) enum Container {
    /// A folder: a game folder or a `.pk3dir`.
    Folder(Folder),
    /// An archive.
    Archive(PathBuf, Mutex<Pk3<BufReader<File>>>),
    /// The embedded demo.
    Demo,
}

/// A folder with a memory of its directories, for look-ups without case.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Virtual folder (lower case) → lower-case name → name on disk.
    listings: Mutex<BTreeMap<String, BTreeMap<String, String>>>,
}

impl Container {
    pub(super) fn folder(path: &Path) -> Self {
        Self::Folder(Folder {
            path: path.to_owned(),
            listings: Mutex::default(),
        })
    }

    pub(super) fn archive(path: &Path) -> Result<Self, String> {
        // Opening a pipe would wait for somebody to write into it.
        let meta = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !meta.is_file() {
            return Err("not a regular file".to_owned());
        }
        let file = File::open(path).map_err(|error| error.to_string())?;
        let pk3 = Pk3::open(BufReader::new(file)).map_err(|error| error.to_string())?;
        Ok(Self::Archive(path.to_owned(), Mutex::new(pk3)))
    }

    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.path.clone(),
            Self::Archive(path, _) => path.clone(),
            Self::Demo => PathBuf::new(),
        }
    }

    /// For lists.
    pub(super) fn searched(&self) -> Searched {
        let mut searched = Searched {
            path: self.path(),
            kind: SearchedKind::Folder,
            files: None,
            refused: Vec::new(),
            hidden: 0,
        };
        match self {
            Self::Folder(_) => {}
            Self::Archive(_, pk3) => {
                let pk3 = lock(pk3);
                searched.kind = SearchedKind::Archive;
                searched.files = Some(pk3.names().len());
                searched.refused = pk3.refused().to_vec();
                searched.hidden = pk3.hidden();
            }
            Self::Demo => {
                searched.kind = SearchedKind::Demo;
                searched.files = Some(demo::FILES.len());
            }
        }
        searched
    }

    /// The name inside, with the container's own case, of what `name` (lower case) finds.
    pub(super) fn stored_name(&self, name: &str) -> Option<String> {
        match self {
            Self::Folder(folder) => folder
                .stored_name(name)
                .filter(|stored| folder.path.join(stored).is_file()),
            Self::Archive(_, pk3) => lock(pk3).stored_name(name).map(str::to_owned),
            Self::Demo => demo_file(name).map(|(name, _)| name.to_owned()),
        }
    }

    /// Contents of `name` (lower case) and its stored name; `None` when it is not here.
    pub(super) fn read(&self, name: &str) -> Result<Option<(Vec<u8>, String)>, String> {
        let Some(stored) = self.stored_name(name) else {
            return Ok(None);
        };
        let bytes = match self {
            Self::Folder(folder) => {
                let read = read_file(&folder.path.join(&stored));
                Some(read.map_err(|reason| format!("{stored}: {reason}"))?)
            }
            Self::Archive(_, pk3) => lock(pk3).read(name).map_err(|error| error.to_string())?,
            Self::Demo => demo_file(name).map(|(_, bytes)| bytes.to_vec()),
        };
        Ok(bytes.map(|bytes| (bytes, stored)))
    }

    /// Lower-case names directly in `folder` (lower case, with a slash at the end) that end in `suffix`.
    pub(super) fn list(&self, folder: &str, suffix: &str) -> Vec<String> {
        let direct = |name: &&str| {
            let rest = name.strip_prefix(folder).unwrap_or("/");
            !rest.contains('/') && rest.ends_with(suffix)
        };
        match self {
            Self::Folder(on_disk) => on_disk.list(folder, suffix),
            Self::Archive(_, pk3) => lock(pk3)
                .names()
                .filter(direct)
                .map(str::to_owned)
                .collect(),
            Self::Demo => demo::FILES
                .iter()
                .map(|(name, _)| *name)
                .filter(direct)
                .map(str::to_owned)
                .collect(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn demo_file(name: &str) -> Option<(&'static str, &'static [u8])> {
    demo::FILES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .copied()
}

/// Reads a regular file of a sane size.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let meta = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() {
        return Err("not a regular file".to_owned());
    }
    if meta.len() > FILE_LIMIT_BYTES {
        return Err(format!(
            "{} bytes are more than any map or image has",
            meta.len()
        ));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

impl Folder {
    fn stored_name(&self, name: &str) -> Option<String> {
        let mut stored = String::new();
        let mut virtual_folder = String::new();
        for part in name.split('/') {
            let on_disk = self.entry(&virtual_folder, &stored, part)?;
            if !stored.is_empty() {
                stored.push('/');
                virtual_folder.push('/');
            }
            stored.push_str(&on_disk);
            virtual_folder.push_str(part);
        }
        Some(stored)
    }

    /// The name on disk of `part` in a folder given by its virtual and its stored name.
    fn entry(&self, virtual_folder: &str, stored_folder: &str, part: &str) -> Option<String> {
        let mut listings = lock(&self.listings);
        if !listings.contains_key(virtual_folder) {
            let listing = read_names(&self.path.join(stored_folder));
            listings.insert(virtual_folder.to_owned(), listing);
        }
        listings.get(virtual_folder)?.get(part).cloned()
    }

    fn list(&self, folder: &str, suffix: &str) -> Vec<String> {
        let folder = folder.trim_end_matches('/');
        let Some(stored) = self.stored_name(folder) else {
            return Vec::new();
        };
        read_names(&self.path.join(stored))
            .into_keys()
            .filter(|name| name.ends_with(suffix))
            .map(|name| format!("{folder}/{name}"))
            .collect()
    }
}

/// Lower-case name → name on disk; of two that differ in case only, the one that sorts first wins. Empty when unreadable.
fn read_names(folder: &Path) -> BTreeMap<String, String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort_unstable_by(|a, b| b.cmp(a));
    names
        .into_iter()
        .map(|name| (name.to_ascii_lowercase(), name))
        .collect()
}
