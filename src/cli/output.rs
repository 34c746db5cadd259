use std::io::Write;

use serde::Serialize;

use crate::job::Warnings;

/// Where the tool writes: data to one side, messages to the other.
pub(crate) struct Output<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

impl<'a> Output<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err }
    }

    /// For data.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        self.out
    }

    /// For messages.
    pub(crate) fn err(&mut self) -> &mut dyn Write {
        self.err
    }

    /// Writes `document` as data, with a line feed behind it.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> anyhow::Result<()> {
        self.out.write_all(&json_bytes(document)?)?;
        Ok(())
    }

    /// Prints what came up while reading or working, one line each.
    pub(crate) fn warnings(&mut self, warnings: &[WarningLine]) -> anyhow::Result<()> {
        for warning in warnings {
            let WarningLine { code, text, count } = warning;
            if *count > 1 {
                writeln!(self.err, "warning {code}: {text} ({count} times)")?;
            } else {
                writeln!(self.err, "warning {code}: {text}")?;
            }
        }
        Ok(())
    }
}

/// Indented JSON with a line feed at its end.
pub(crate) fn json_bytes(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What every JSON object of the tool begins with.
#[derive(Serialize)]
pub(crate) struct Document<T> {
    /// Name and version of the object's shape, for example `luxgrid/info/1`.
    pub(crate) schema: &'static str,
    /// The tool's version.
    pub(crate) version: &'static str,
    /// The input as it was named.
    pub(crate) input: String,
    #[serde(flatten)]
    pub(crate) fields: T,
}

impl<T> Document<T> {
    pub(crate) fn new(schema: &'static str, input: &str, fields: T) -> Self {
        Self {
            schema,
            version: env!("CARGO_PKG_VERSION"),
            input: input.to_owned(),
            fields,
        }
    }
}

/// Recoverable trouble as JSON has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WarningLine {
    code: String,
    text: String,
    count: usize,
}

/// The list of `warnings` in the order of their first appearance.
pub(crate) fn warning_lines(warnings: &Warnings) -> Vec<WarningLine> {
    warnings
        .list()
        .into_iter()
        .map(|warning| WarningLine {
            code: warning.code.to_owned(),
            text: warning.text,
            count: warning.count,
        })
        .collect()
}
