use std::fmt::Write;

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::cli::args::Cli;
use crate::format::check::RULES;

/// `docs/cli.md`, made from the definitions that also parse.
pub fn reference() -> String {
    let mut text = String::from(
        "# luxtool\n\n<!-- Made from the definitions in src/cli by `UPDATE_DOCS=1 cargo test --test cli`; do not edit. -->\n",
    );
    let tool = Cli::command();
    push_about(&mut text, &tool);
    text.push_str(
        "\n## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | done |\n| 1 | done, and findings or a threshold failed |\n\
         | 2 | wrong usage, unreadable input, or a write failed |\n| 3 | no GPU |\n| 5 | cancelled |\n\n\
         Files are written whole or not at all: under a temporary name beside the target, then renamed. An interrupted bake\n\
         therefore leaves an old file as it was.\n\n\
         `--json` prints one object with `schema` (name and version of its shape), `version` (the tool's) and `input`.\n",
    );
    for command in tool
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        push_command(&mut text, command.clone());
    }
    text
}

fn push_about(text: &mut String, command: &Command) {
    if let Some(about) = command.get_long_about().or_else(|| command.get_about()) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{about}");
    }
}

fn push_command(text: &mut String, command: Command) {
    let call = format!("luxtool {}", command.get_name());
    let mut command = command.bin_name(call);
    command.build();
    let _ = writeln!(text, "\n## {}", command.get_name());
    push_about(text, &command);
    let usage = command.render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _ = writeln!(
        text,
        "\n```\n{usage}\n```\n\n| argument | meaning |\n|---|---|"
    );
    for arg in command.get_arguments().filter(|arg| arg.get_id() != "help") {
        let _ = writeln!(text, "| {} | {} |", name(arg), meaning(arg));
    }
    if command.get_name() == "check" {
        push_rules(text);
    }
}

/// The codes of `check`.
fn push_rules(text: &mut String) {
    text.push_str(
        "\nCodes never change their meaning; the letter is the severity: `E` error, `W` warning, `I` info. A map that cannot be\n\
         opened gives its one finding and the exit code 2.\n\n| code | finding |\n|---|---|\n",
    );
    for rule in RULES {
        let _ = writeln!(text, "| {} | {} |", rule.code, rule.what);
    }
}

/// Flag and its values, as typed.
fn name(arg: &Arg) -> String {
    let values: Vec<String> = arg
        .get_value_names()
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    let values = values.join(" ");
    let mut flags: Vec<String> = arg
        .get_short()
        .map(|short| format!("-{short}"))
        .into_iter()
        .collect();
    let longs = arg.get_long_and_visible_aliases().unwrap_or_default();
    flags.extend(longs.into_iter().map(|long| format!("--{long}")));
    let takes_values = !matches!(arg.get_action(), ArgAction::SetTrue);
    let mut words = flags.join("`, `");
    if takes_values {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&values);
    }
    format!("`{}`", words.replace('|', "\\|"))
}

fn meaning(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let takes_values = !matches!(arg.get_action(), ArgAction::SetTrue);
    let possible = if takes_values {
        arg.get_possible_values()
    } else {
        Vec::new()
    };
    let words: Vec<String> = possible
        .iter()
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if !words.is_empty() {
        let _ = write!(text, ": {}", words.join(", "));
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .collect();
    if takes_values && !defaults.is_empty() {
        let _ = write!(text, " [default: {}]", defaults.join(" "));
    }
    text.replace('|', "\\|")
}
