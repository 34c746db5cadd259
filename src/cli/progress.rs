use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::bake_args::ProgressArg;
use crate::job::ProgressSnapshot;

/// How often progress is shown.
pub(crate) const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
/// How often it is shown in a log, where a line cannot be replaced by the next.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// One line that is written over.
    Line,
    /// A line now and then.
    Log,
    /// A JSON object a line.
    Json,
    Off,
}

/// Shows where a job stands, not more often than its style allows.
pub(crate) struct ProgressView {
    style: Style,
    shown: Instant,
}

/// One object of `--progress json`.
#[derive(Serialize)]
struct ProgressLine {
    stage: &'static str,
    done: u64,
    total: u64,
    /// Items a second.
    rate: f32,
    eta_secs: Option<f32>,
}

impl ProgressView {
    pub(crate) fn new(arg: ProgressArg) -> Self {
        let style = match arg {
            ProgressArg::Off => Style::Off,
            ProgressArg::Json => Style::Json,
            ProgressArg::Text if std::io::stderr().is_terminal() => Style::Line,
            ProgressArg::Text => Style::Log,
        };
        Self {
            style,
            shown: Instant::now(),
        }
    }

    /// Shows the state when it is time to.
    pub(crate) fn update(
        &mut self,
        snapshot: &ProgressSnapshot,
        err: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let interval = match self.style {
            Style::Log => LOG_INTERVAL,
            Style::Line | Style::Json | Style::Off => PROGRESS_INTERVAL,
        };
        if self.shown.elapsed() >= interval {
            self.shown = Instant::now();
            self.show(snapshot, err)?;
        }
        Ok(())
    }

    /// Leaves the line empty, or says the last state.
    pub(crate) fn finish(
        &self,
        snapshot: &ProgressSnapshot,
        err: &mut dyn Write,
    ) -> anyhow::Result<()> {
        match self.style {
            Style::Json => self.show(snapshot, err)?,
            Style::Line => write!(err, "\r\x1b[K")?,
            Style::Log | Style::Off => {}
        }
        Ok(())
    }

    fn show(&self, snapshot: &ProgressSnapshot, err: &mut dyn Write) -> anyhow::Result<()> {
        match self.style {
            Style::Off => {}
            Style::Json => {
                let line = serde_json::to_string(&ProgressLine {
                    stage: snapshot.stage,
                    done: snapshot.done,
                    total: snapshot.total,
                    rate: snapshot.rate(),
                    eta_secs: snapshot.remaining_secs(),
                })?;
                writeln!(err, "{line}")?;
            }
            Style::Line => write!(err, "\r{}\x1b[K", sentence(snapshot))?,
            Style::Log => writeln!(err, "{}", sentence(snapshot))?,
        }
        err.flush()?;
        Ok(())
    }
}

fn sentence(snapshot: &ProgressSnapshot) -> String {
    let left = snapshot
        .remaining_secs()
        .map_or_else(String::new, |secs| format!(", {secs:.0} s left"));
    format!(
        "{} {:.0} %, {:.0} a second{left}",
        snapshot.stage,
        snapshot.fraction() * 100.0,
        snapshot.rate()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(style: Style) -> String {
        let snapshot = ProgressSnapshot {
            stage: "light grid",
            done: 25,
            total: 100,
            elapsed: Duration::from_secs(5),
        };
        let view = ProgressView {
            style,
            shown: Instant::now(),
        };
        let mut text = Vec::new();
        view.show(&snapshot, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn json_lines_hold_stage_counts_rate_and_time_left() {
        let value: serde_json::Value = serde_json::from_str(&shown(Style::Json)).unwrap();
        assert_eq!(value["stage"], "light grid");
        assert_eq!(
            (value["done"].as_u64(), value["total"].as_u64()),
            (Some(25), Some(100))
        );
        // Exact in f32: 25 items in 5 s.
        assert_eq!(value["rate"], 5.0);
        assert_eq!(value["eta_secs"], 15.0);
    }

    #[test]
    fn text_says_share_rate_and_time_left() {
        let sentence = "light grid 25 %, 5 a second, 15 s left";
        assert_eq!(shown(Style::Log), format!("{sentence}\n"));
        assert_eq!(shown(Style::Line), format!("\r{sentence}\x1b[K"));
        assert_eq!(shown(Style::Off), "");
    }
}
