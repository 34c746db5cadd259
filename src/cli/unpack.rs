use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::cli::args::UnpackArgs;
use crate::cli::error::Exit;
use crate::cli::output::Output;
use crate::format::json::{file_names, unpack};

pub(crate) fn run(args: &UnpackArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let opened = args.map.open()?;
    let target = args.folder.as_path();
    let state = FolderState::of(target).with_context(|| target.display().to_string())?;
    if state == FolderState::Filled && !args.force {
        bail!(
            "{}: the folder is not empty; --force replaces the files of an older unpacking",
            target.display()
        );
    }
    let work = WorkFolder::beside(target)?;
    let mut count = 0;
    unpack(&opened.bytes, &mut |name| {
        count += 1;
        let file = File::create(work.0.join(name))?;
        Ok(Box::new(BufWriter::new(file)) as Box<dyn Write>)
    })
    .with_context(|| args.map.map.clone())?;
    work.move_to(target, state)
        .with_context(|| target.display().to_string())?;
    writeln!(
        output.err(),
        "{count} files written to {}",
        target.display()
    )?;
    Ok(Exit::Done)
}

/// What is where the files are to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FolderState {
    Missing,
    Empty,
    Filled,
}

impl FolderState {
    fn of(folder: &Path) -> std::io::Result<Self> {
        match fs::read_dir(folder) {
            Ok(mut entries) => Ok(if entries.next().is_none() {
                Self::Empty
            } else {
                Self::Filled
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::Missing),
            Err(error) => Err(error),
        }
    }
}

/// A folder of ours beside the target, gone when dropped: the target appears whole or not at all.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn beside(target: &Path) -> anyhow::Result<Self> {
        // A path that ends in `..` or is `.` has no name of its own; its real one has.
        let real = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let name = real.file_name().unwrap_or_default().to_string_lossy();
        let folder = real.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }

    fn move_to(&self, target: &Path, state: FolderState) -> std::io::Result<()> {
        if state != FolderState::Filled {
            if state == FolderState::Empty {
                fs::remove_dir(target)?;
            }
            return fs::rename(&self.0, target);
        }
        for name in file_names() {
            let (new, old) = (self.0.join(name), target.join(name));
            if new.exists() {
                fs::rename(new, old)?;
            } else if old.exists() {
                fs::remove_file(old)?;
            }
        }
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // After a rename it is no longer there.
        let _ = fs::remove_dir_all(&self.0);
    }
}
