use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::job::{JobContext, ProgressSnapshot};

/// How often a running job wakes its owner, at most: 30 times a second.
const WAKE_INTERVAL: Duration = Duration::from_millis(33);

/// Why a job ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum JobError<E> {
    /// Its token was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Its function returned an error.
    #[error(transparent)]
    Failed(#[from] E),
    /// Its function panicked: our bug. Holds the panic message.
    #[error("internal error: {0}")]
    Panicked(String),
}

/// What [`Job::poll`] sees.
#[derive(Debug)]
pub enum JobState<T, E> {
    /// Still at work.
    Running(ProgressSnapshot),
    /// Ended; the result is handed out once, a later poll says [`JobState::Taken`].
    Done(Result<T, JobError<E>>),
    /// Ended, and the result was taken before.
    Taken,
}

/// A function running on a named thread. Dropping it cancels and waits.
#[derive(Debug)]
pub struct Job<T, E> {
    name: String,
    context: JobContext,
    result: Receiver<Result<T, JobError<E>>>,
    threads: Vec<JoinHandle<()>>,
}

impl<T: Send + 'static, E: Send + 'static> Job<T, E> {
    /// Runs `work` on a thread called `name`. `wake` is called from another thread about 30 times a second while it
    /// runs and once after it ended; it must be quick and must not panic.
    ///
    /// # Errors
    /// The system's error when no thread can be started.
    pub fn spawn<W, F>(name: &str, wake: W, work: F) -> std::io::Result<Self>
    where
        W: Fn() + Send + Sync + 'static,
        F: FnOnce(&JobContext) -> Result<T, E> + Send + 'static,
    {
        Self::spawn_in(JobContext::default(), name, wake, work)
    }

    /// The same as a part of work with a context that was there before: its progress and warnings go on, and its cancellation
    /// ends the job too.
    ///
    /// # Errors
    /// As [`Job::spawn`].
    pub fn spawn_in<W, F>(
        context: JobContext,
        name: &str,
        wake: W,
        work: F,
    ) -> std::io::Result<Self>
    where
        W: Fn() + Send + Sync + 'static,
        F: FnOnce(&JobContext) -> Result<T, E> + Send + 'static,
    {
        let context = JobContext {
            cancel: context.cancel.part(),
            ..context
        };
        let (send, result) = sync_channel(1);
        let (stop, stopped) = sync_channel::<()>(1);
        let wake = Arc::new(wake);

        let ticker_wake = Arc::clone(&wake);
        let ticker = std::thread::Builder::new()
            .name(format!("{name} wake"))
            .spawn(move || {
                while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
                    stopped.recv_timeout(WAKE_INTERVAL)
                {
                    ticker_wake();
                }
            })?;

        let worker_context = context.clone();
        let worker = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let outcome = match catch_unwind(AssertUnwindSafe(|| work(&worker_context))) {
                    Ok(Ok(value)) => Ok(value),
                    Ok(Err(_)) if worker_context.cancel.is_cancelled() => Err(JobError::Cancelled),
                    Ok(Err(error)) => Err(JobError::Failed(error)),
                    Err(panic) => Err(JobError::Panicked(panic_message(panic.as_ref()))),
                };
                // The receiver may be gone (the job was dropped); then nobody wants the result.
                let _ = send.try_send(outcome);
                drop(stop);
                wake();
            })?;

        Ok(Self {
            name: name.to_owned(),
            context,
            result,
            threads: vec![worker, ticker],
        })
    }

    /// Where it stands, without waiting.
    pub fn poll(&self) -> JobState<T, E> {
        match self.result.try_recv() {
            Ok(outcome) => JobState::Done(outcome),
            Err(TryRecvError::Empty) => JobState::Running(self.context.progress.snapshot()),
            Err(TryRecvError::Disconnected) => JobState::Taken,
        }
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn wait(self) -> Result<T, JobError<E>> {
        self.result
            .recv()
            .unwrap_or_else(|_| Err(JobError::Panicked("the result was taken before".to_owned())))
    }

    /// Cancels without waiting: the thread ends when it notices, and its result is lost.
    pub fn abandon(mut self) {
        self.context.cancel.cancel();
        self.threads.clear();
    }

    /// The name given at the start.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Progress, cancellation and warnings of this job.
    pub fn context(&self) -> &JobContext {
        &self.context
    }
}

impl<T, E> Drop for Job<T, E> {
    fn drop(&mut self) {
        self.context.cancel.cancel();
        for thread in self.threads.drain(..) {
            // A panic of the worker was caught and reported as a result; the wake thread does not panic.
            let _ = thread.join();
        }
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Cancelled;
    use std::time::Instant;

    fn spin(context: &JobContext) -> Result<u32, Cancelled> {
        context.progress.begin("spinning", 0);
        loop {
            context.cancel.check()?;
            std::thread::yield_now();
        }
    }

    #[test]
    fn result_arrives_once() {
        let job = Job::spawn("answer", || {}, |_| Ok::<_, Cancelled>(42)).unwrap();
        let started = Instant::now();
        loop {
            match job.poll() {
                JobState::Done(result) => {
                    assert_eq!(result.unwrap(), 42);
                    break;
                }
                JobState::Running(_) => assert!(started.elapsed() < Duration::from_secs(5)),
                JobState::Taken => unreachable!("not taken yet"),
            }
            std::thread::yield_now();
        }
        assert!(matches!(job.poll(), JobState::Taken | JobState::Running(_)));
    }

    #[test]
    fn cancelling_ends_with_cancelled_within_a_second() {
        let job = Job::spawn("spin", || {}, spin).unwrap();
        job.context().cancel.cancel();
        let started = Instant::now();
        assert!(matches!(job.wait(), Err(JobError::Cancelled)));
        assert!(started.elapsed() < Duration::from_secs(1));
    }

    #[test]
    fn abandoning_does_not_wait() {
        let (release, released) = sync_channel::<()>(0);
        let work = move |context: &JobContext| {
            // Deaf to cancelling until the test has gone on.
            let _ = released.recv();
            context.cancel.check()
        };
        let job = Job::spawn("deaf", || {}, work).unwrap();
        let token = job.context().cancel.clone();
        job.abandon();
        assert!(token.is_cancelled());
        release.send(()).unwrap();
    }

    #[test]
    fn dropping_joins_and_a_panic_is_a_result() {
        drop(Job::spawn("spin", || {}, spin).unwrap());
        let job = Job::spawn(
            "bug",
            || {},
            |_| -> Result<(), Cancelled> { panic!("boom") },
        )
        .unwrap();
        assert!(matches!(job.wait(), Err(JobError::Panicked(text)) if text == "boom"));
    }
}
