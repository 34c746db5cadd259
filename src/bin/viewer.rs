//! `luxgrid`: the viewer. Reads the arguments, runs the program, turns its outcome into an exit code.

use std::process::ExitCode;

use luxgrid::app::{Args, Outcome, run};

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "binaries talk to the terminal"
)]
fn main() -> ExitCode {
    let filter = env_logger::Env::default().default_filter_or("error");
    env_logger::Builder::from_env(filter).init();
    let args = match Args::parse_words(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => {
            // Help and version go to stdout and are no error.
            let is_error = error.use_stderr();
            // A closed pipe is nothing to complain about.
            let _ = error.print();
            return if is_error {
                ExitCode::from(2)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match run(args) {
        Ok(Outcome::Closed) => ExitCode::SUCCESS,
        Ok(Outcome::Picture { path, notice }) => {
            eprintln!("luxgrid: {notice}");
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("luxgrid: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
