//! The console tool: arguments and headless subcommands.
//!
//! [`run`] is the whole program: it parses, works, writes data to one writer and everything else to another, and gives the
//! exit code. It is an edge: errors of all layers meet here, get the path they concern, and are printed once. This layer
//! knows no window; only `shot` and `frames` need the `viewer` feature.
//!
//! Key types: [`Exit`], `args::Cli` (the definitions from which `docs/cli.md` is made, see [`fn@reference`]).

mod args;
mod bake;
mod bake_args;
mod bake_report;
mod bake_save;
mod camera;
mod check;
mod error;
#[cfg(feature = "viewer")]
mod frames;
mod game_paths;
mod info;
mod info_search;
mod lights;
mod look_args;
mod output;
mod pack;
mod pick;
mod progress;
mod reference;
mod sample;
#[cfg(feature = "viewer")]
mod shot;
mod unpack;
mod values;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, FromArgMatches, Parser};

pub use error::Exit;
pub use reference::reference;

use crate::light::BakeSettings;

use args::{Cli, Command, with_two_dashes};
use output::Output;

/// Runs the tool: `args` with the program's name first, data to `out`, messages to `err`.
pub fn run<I>(args: I, out: &mut dyn Write, err: &mut dyn Write) -> Exit
where
    I: IntoIterator<Item = OsString>,
{
    let args = with_two_dashes(&Cli::command(), args);
    let parsed = Cli::command()
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, out, err),
    };
    let mut output = Output::new(out, err);
    let done = match &cli.command {
        Command::Info(args) => info::run(args, &mut output),
        Command::Sample(args) => sample::run(args, &mut output),
        Command::Pick(args) => pick::run(args, &mut output),
        Command::Bake(args) => bake::run(args, &mut output),
        Command::Check(args) => check::run(args, &mut output),
        Command::Unpack(args) => unpack::run(args, &mut output),
        Command::Pack(args) => pack::run(args, &mut output),
        #[cfg(feature = "viewer")]
        Command::Shot(args) => shot::run(args, &mut output),
        #[cfg(feature = "viewer")]
        Command::Frames(args) => frames::run(args, &mut output),
        #[cfg(not(feature = "viewer"))]
        Command::Shot(_) | Command::Frames(_) => Err(error::NoGpu(
            "this build has no renderer; build with the feature “viewer”".to_owned(),
        )
        .into()),
    };
    match done {
        Ok(exit) => exit,
        Err(error) => Exit::report(&error, output.err()),
    }
}

/// The settings that flags of `bake` ask for, for tests that bake what a command line would.
///
/// # Errors
/// What the parser or the settings refuse, as one text.
pub fn bake_settings(flags: &[&str]) -> Result<BakeSettings, String> {
    let head = ["luxtool", "bake", "--dry-run", "map"];
    let words = head.iter().chain(flags).map(OsString::from);
    let args = with_two_dashes(&Cli::command(), words);
    let cli = Cli::try_parse_from(args).map_err(|error| error.to_string())?;
    match &cli.command {
        Command::Bake(args) => args.settings().map_err(|error| format!("{error:#}")),
        _ => Err("no flags of a bake".to_owned()),
    }
}

/// Help and version are data; everything else that the parser rejects is a usage error.
fn refuse(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let text = error.render();
    // Nobody is left to tell when the terminal itself is gone.
    if error.use_stderr() {
        let _ = write!(err, "{text}");
        Exit::Failed
    } else {
        let _ = write!(out, "{text}");
        Exit::Done
    }
}
