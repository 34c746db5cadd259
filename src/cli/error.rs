use std::io::{ErrorKind, Write};

use crate::job::Cancelled;

/// How the tool ended; the numbers are part of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done: 0.
    Done,
    /// Done, and findings or a threshold failed: 1.
    Findings,
    /// Wrong usage, unreadable input, or a write failed: 2.
    Failed,
    /// No GPU: 3.
    NoGpu,
    /// Cancelled: 5.
    Cancelled,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Failed => 2,
            Self::NoGpu => 3,
            Self::Cancelled => 5,
        }
    }

    /// Prints an error once, with everything that led to it, and says how to exit.
    pub(crate) fn report(error: &anyhow::Error, err: &mut dyn Write) -> Self {
        let gone = error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|io| io.kind() == ErrorKind::BrokenPipe)
        });
        if gone {
            // Whoever reads the data has seen enough, as in `luxtool info map | head`.
            return Self::Done;
        }
        // Nobody is left to tell when the terminal itself is gone.
        let _ = writeln!(err, "luxtool: {error:#}");
        if error.downcast_ref::<Cancelled>().is_some() {
            Self::Cancelled
        } else if error.downcast_ref::<NoGpu>().is_some() {
            Self::NoGpu
        } else {
            Self::Failed
        }
    }
}

/// There is nothing to draw with.
#[derive(Debug, thiserror::Error)]
#[error("no picture can be made: {0}")]
pub(crate) struct NoGpu(pub(crate) String);

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    fn report(error: impl std::error::Error + Send + Sync + 'static) -> (Exit, String) {
        let wrapped = Err::<(), _>(error).context("a.bsp").unwrap_err();
        let mut text = Vec::new();
        let exit = Exit::report(&wrapped, &mut text);
        (exit, String::from_utf8(text).unwrap())
    }

    #[test]
    fn the_cause_decides_the_exit_code_through_any_context() {
        assert_eq!(report(Cancelled).0.code(), 5);
        assert_eq!(report(NoGpu("none".to_owned())).0.code(), 3);
        let (exit, text) = report(std::io::Error::other("disk on fire"));
        assert_eq!(exit.code(), 2);
        assert_eq!(text, "luxtool: a.bsp: disk on fire\n");
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let (exit, text) = report(std::io::Error::from(ErrorKind::BrokenPipe));
        assert_eq!((exit, text.as_str()), (Exit::Done, ""));
    }
}
