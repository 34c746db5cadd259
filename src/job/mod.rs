//! Background work: progress, cancellation, warnings, and the thread that runs it.
//!
//! A job is a plain function `(inputs, &JobContext) -> Result<T, E>`. Tests call it directly with a context of their own;
//! the viewer and the console tool hand it to [`Job::spawn`]. This layer knows nothing of maps and is the only one below
//! `app` and `cli` that reads a clock.

mod cancel;
mod latest;
mod memory;
mod progress;
mod thread;
mod warnings;

pub use cancel::{CancelToken, Cancelled};
pub use latest::Latest;
pub use memory::{available_memory, peak_memory};
pub use progress::{Progress, ProgressSnapshot, StageTime};
pub use thread::{Job, JobError, JobState};
pub use warnings::{Warning, Warnings};

/// What a long function gets beside its inputs: where to report and when to stop.
///
/// Check [`CancelToken::check`] once per tile, about every 10 ms of work.
#[derive(Clone, Debug, Default)]
pub struct JobContext {
    /// Where the work stands.
    pub progress: Progress,
    /// Whether somebody asked to stop.
    pub cancel: CancelToken,
    /// Recoverable trouble.
    pub warnings: Warnings,
}
