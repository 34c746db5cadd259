//! The console tool.

use std::io::{stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    // The driver's chatter is no news to somebody who asked for a picture.
    let filter = env_logger::Env::default()
        .default_filter_or("warn,wgpu=error,wgpu_core=error,wgpu_hal=error,naga=error");
    env_logger::Builder::from_env(filter).init();
    let exit = luxgrid::cli::run(std::env::args_os(), &mut stdout().lock(), &mut stderr());
    ExitCode::from(exit.code())
}
