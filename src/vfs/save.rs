use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::vfs::locate::split_archive;
use crate::vfs::opened::folder_of;
use crate::vfs::search::VfsError;
use crate::vfs::stamp::Stamp;

/// Temporary names tried before giving up.
const NAME_TRIES: u32 = 100;
/// Links followed before they are taken for a circle.
const LINKS_MAX: u32 = 40;
/// A temporary file that nothing was written to for so long belongs to a program that was killed.
const STALE_AFTER: Duration = Duration::from_hours(1);

/// Writes a whole file or nothing: a temporary file beside it, flush, rename, flush of the folder. Gives the stamp of what
/// now lies there.
///
/// A symbolic link is followed, also to a file that is not there yet: what it names is written, the link stays. Permissions
/// of an old file are kept, and its owner and group where the system allows it. Of several hard links to it, the others
/// keep the old contents. What a killed save left beside the file is cleared away when it is an hour old.
///
/// # Errors
/// [`VfsError::WriteFailed`], also for a folder or a device of that name, a file that is write-protected (the rename would
/// pass over that), and anything named `.pk3` or inside one; an old file of that name is as it was.
pub fn save(path: &Path, bytes: &[u8]) -> Result<Option<Stamp>, VfsError> {
    save_with(path, |out| out.write_all(bytes))
}

/// [`save`] of what `write` writes, which need not be in memory all at once. When it fails, nothing was saved.
///
/// # Errors
/// As for [`save`].
pub fn save_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<Option<Stamp>, VfsError> {
    let failed = |reason: String| VfsError::WriteFailed {
        path: path.to_owned(),
        reason,
    };
    let target = resolve(path).map_err(failed)?;
    let old = replaceable(&target).map_err(failed)?;
    let (temporary, file) = create_beside(&target).map_err(|error| {
        let folder = folder_of(&target);
        failed(format!(
            "cannot make a file in {}: {error}",
            folder.display()
        ))
    })?;
    let written = write_and_rename(file, &temporary, &target, old.as_ref(), write);
    written.map_err(|error| {
        // The half-written file is ours; if it cannot be removed either, the first error says more.
        let _ = fs::remove_file(&temporary);
        failed(error.to_string())
    })?;
    remove_stale(&target);
    Ok(Stamp::of(&target))
}

/// The file that is really meant: links followed, the last one also when it names nothing yet.
fn resolve(path: &Path) -> Result<PathBuf, String> {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            // An absolute link replaces the folder.
            Ok(link) => target = folder_of(&target).join(link),
            Err(_) => return Ok(target.canonicalize().unwrap_or(target)),
        }
    }
    Err("too many symbolic links".to_owned())
}

/// The old file, when there is one; why nothing may be put in its place.
fn replaceable(target: &Path) -> Result<Option<Metadata>, String> {
    if let Some((archive, _)) = split_archive(target) {
        return Err(format!(
            "{} is an archive, and archives are never written to; choose a file outside of it",
            archive.display()
        ));
    }
    if target
        .extension()
        .is_some_and(|suffix| suffix.eq_ignore_ascii_case("pk3"))
    {
        return Err("only an archive may be called .pk3, and none is written here".to_owned());
    }
    let old = match fs::metadata(target) {
        Ok(old) => old,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if old.is_dir() {
        return Err("is a folder".to_owned());
    }
    // The rename would put a plain file in the place of a device or pipe.
    if !old.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let is_protected = old.permissions().readonly();
    // Opening changes nothing; it asks the system whether this user may write there.
    let opened = OpenOptions::new().write(true).open(target);
    if let Some(error) = opened.err().filter(|_| !is_protected) {
        return Err(format!("the old file may not be written: {error}"));
    }
    if is_protected {
        return Err("is write-protected; make it writable or save under another name".to_owned());
    }
    Ok(Some(old))
}

/// `.NAME.`, with which all our temporary names for `target` start.
fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.")
}

fn create_beside(target: &Path) -> std::io::Result<(PathBuf, File)> {
    let prefix = temporary_prefix(target);
    let mut last = std::io::Error::other("no free temporary name");
    for number in 0..NAME_TRIES {
        let temporary =
            target.with_file_name(format!("{prefix}{}.{number}.tmp", std::process::id()));
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn write_and_rename(
    mut file: File,
    temporary: &Path,
    target: &Path,
    old: Option<&Metadata>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    if let Some(old) = old {
        // Before the contents: nobody reads the new file who could not read the old one.
        take_over(&file, old)?;
    }
    write(&mut file)?;
    file.sync_all()?;
    drop(file);
    fs::rename(temporary, target)?;
    // The new file is whole whether or not this works; some file systems cannot flush a folder.
    #[cfg(unix)]
    let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Owner, group and permissions of the old file.
#[cfg(unix)]
fn take_over(file: &File, old: &Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if new.uid() != old.uid() {
        // Only the superuser may give files away; the file is then the saving user's.
        let _ = fchown(file, Some(old.uid()), None);
    }
    if new.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
        // What the old group was allowed is nothing that the new one should be.
        mode &= !0o2070;
    }
    file.set_permissions(PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn take_over(file: &File, old: &Metadata) -> std::io::Result<()> {
    file.set_permissions(old.permissions())
}

/// Removes what killed saves of this file left: our pattern, `.NAME.PROCESS.NUMBER.tmp`, and old.
fn remove_stale(target: &Path) {
    let prefix = temporary_prefix(target);
    let entries = fs::read_dir(folder_of(target));
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let numbers = name
            .strip_prefix(&prefix)
            .and_then(|rest| rest.strip_suffix(".tmp")?.split_once('.'));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_ours =
            numbers.is_some_and(|(process, number)| is_number(process) && is_number(number));
        let is_stale = || {
            let meta = entry.metadata().ok().filter(Metadata::is_file)?;
            let age = meta.modified().ok()?.elapsed().ok()?;
            Some(age > STALE_AFTER)
        };
        if is_ours && is_stale() == Some(true) {
            // Whose it is decides the system; what stays does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}
