//! Runs the built `luxtool` and takes what it says.

use std::path::PathBuf;
use std::process::Command;

/// What a run of the tool gave.
pub(crate) struct Run {
    /// Exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Run {
    /// The one JSON object of the standard output; fails with both outputs when there is none.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.out, self.err))
    }
}

/// Runs `luxtool` with these arguments.
pub(crate) fn luxtool(args: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_luxtool"))
        .args(args)
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file of the repository.
pub(crate) fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    path.to_str().unwrap().to_owned()
}
