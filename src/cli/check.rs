use std::io::Write;

use anyhow::Context;
use serde::Serialize;

use crate::cli::args::{CheckArgs, FailOn};
use crate::cli::error::Exit;
use crate::cli::output::{Document, Output};
use crate::format::bsp::{BspError, BspWarning};
use crate::format::check::{self, Finding, Severity};
use crate::job::JobContext;
use crate::probe;
use crate::scene::{BuildError, Scene, build};

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/check/1";
/// Warnings of the scene that are findings on the map and not on the game folder.
const SCENE_CODES: [&str; 1] = ["W120"];

pub(crate) fn run(args: &CheckArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let context = JobContext::default();
    let opened = args.map.open()?;
    let (findings, broken) = match build(&opened, &context) {
        Ok(scene) => (judge(&scene, &context), None),
        Err(BuildError::Bsp(error)) => (vec![unreadable(&error)], Some(error)),
        Err(error) => return Err(error).context(args.map.map.clone()),
    };
    let report = Report::new(&findings);
    if args.json {
        output.json(&Document::new(SCHEMA, &args.map.map, &report))?;
    } else if broken.is_none() {
        // A map that cannot be opened is one message, not a report.
        report.print(output.out())?;
    }
    if let Some(error) = broken {
        return Err(error).context(args.map.map.clone());
    }
    let threshold = match args.fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
    };
    let failed = findings
        .iter()
        .any(|finding| finding.severity() >= threshold);
    Ok(if failed { Exit::Findings } else { Exit::Done })
}

/// Findings on file, grids and materials, the worst first.
fn judge(scene: &Scene, context: &JobContext) -> Vec<Finding> {
    let mut findings = check::findings(&scene.bsp);
    let mended = scene.bsp.warnings.iter();
    let unsaid: Vec<Finding> = mended
        .filter(|warning| !is_said(&findings, warning))
        .map(|warning| Finding {
            index: warning.index,
            count: warning.count,
            ..Finding::new("W100", Some(warning.lump), warning.what.clone())
        })
        .collect();
    findings.extend(unsaid);
    findings.extend(probe::findings(scene));
    for warning in context.warnings.list() {
        if let Some(code) = SCENE_CODES.into_iter().find(|code| *code == warning.code) {
            findings.push(Finding {
                count: warning.count,
                ..Finding::new(code, None, warning.text)
            });
        }
    }
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity()), finding.code));
    findings
}

/// Whether a finding on the same lump already tells why the reader mended it. What is wrong with an index list shows in the
/// surfaces that use it.
fn is_said(findings: &[Finding], warning: &BspWarning) -> bool {
    findings.iter().any(|finding| {
        finding.lump == Some(warning.lump) && finding.severity() >= Severity::Warning
    })
}

fn unreadable(error: &BspError) -> Finding {
    let (code, lump, index) = match error {
        BspError::UnsupportedFormat { .. } => ("E102", None, None),
        BspError::Excessive { lump, index, .. } => ("E103", Some(*lump), Some(*index)),
        BspError::ForeignRecords { lump, .. } => ("E103", Some(*lump), None),
        BspError::LumpOutOfFile { lump, .. } => ("E101", Some(*lump), None),
        BspError::TooShort { .. } | BspError::TruncatedHeader { .. } => ("E101", None, None),
    };
    Finding {
        index,
        ..Finding::new(code, lump, error.to_string())
    }
}

#[derive(Serialize)]
struct Report {
    findings: Vec<Line>,
    counts: Counts,
}

#[derive(Default, Serialize)]
struct Counts {
    error: usize,
    warning: usize,
    info: usize,
}

#[derive(Serialize)]
struct Line {
    code: &'static str,
    severity: &'static str,
    lump: Option<usize>,
    lump_name: Option<&'static str>,
    index: Option<usize>,
    count: usize,
    message: String,
    numbers: serde_json::Map<String, serde_json::Value>,
}

impl Report {
    fn new(findings: &[Finding]) -> Self {
        let mut counts = Counts::default();
        for finding in findings {
            *match finding.severity() {
                Severity::Error => &mut counts.error,
                Severity::Warning => &mut counts.warning,
                Severity::Info => &mut counts.info,
            } += 1;
        }
        Self {
            findings: findings.iter().map(Line::from).collect(),
            counts,
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        for line in &self.findings {
            write!(out, "{:<7} {}", line.severity, line.code)?;
            if let (Some(lump), Some(name)) = (line.lump, line.lump_name) {
                write!(out, "  lump {lump} ({name})")?;
            }
            if let Some(index) = line.index {
                write!(out, ", record {index}")?;
            }
            write!(out, ": {}", line.message)?;
            if line.count > 1 {
                write!(out, " ({} times)", line.count)?;
            }
            writeln!(out)?;
        }
        let Counts {
            error,
            warning,
            info,
        } = self.counts;
        writeln!(out, "{error} errors, {warning} warnings, {info} notes")
    }
}

impl From<&Finding> for Line {
    fn from(finding: &Finding) -> Self {
        let number = |value: f64| serde_json::Value::from(value);
        Self {
            code: finding.code,
            severity: finding.severity().word(),
            lump: finding.lump.map(crate::format::bsp::LumpKind::index),
            lump_name: finding.lump.map(crate::format::bsp::LumpKind::name),
            index: finding.index,
            count: finding.count,
            message: finding.message.clone(),
            numbers: finding
                .numbers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), number(*value)))
                .collect(),
        }
    }
}
