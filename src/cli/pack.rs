use std::fs::File;
use std::io::{ErrorKind, Read};

use anyhow::Context;

use crate::cli::args::PackArgs;
use crate::cli::error::Exit;
use crate::cli::game_paths::format_of;
use crate::cli::output::Output;
use crate::format::json::pack;
use crate::vfs::save;

pub(crate) fn run(args: &PackArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let format = args.game.as_deref().map(format_of);
    let packed = pack(
        format,
        &mut |name| match File::open(args.folder.join(name)) {
            Ok(file) => Ok(Some(Box::new(file) as Box<dyn Read>)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        },
    );
    let bytes = packed.with_context(|| args.folder.display().to_string())?;
    save(&args.output, &bytes)?;
    writeln!(
        output.err(),
        "{} bytes written to {}",
        bytes.len(),
        args.output.display()
    )?;
    Ok(Exit::Done)
}
