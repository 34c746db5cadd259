//! The layer table of `src/lib.rs`, held against the sources; what may lie at the top of the repository; and the ban on
//! panics in the library.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Layer and the layers that it may name: the table of `src/lib.rs`.
const LAYERS: [(&str, &str); 13] = [
    ("math", ""),
    ("job", ""),
    ("format", "math"),
    ("vfs", "format"),
    ("scene", "math job format vfs"),
    ("trace", "math format scene"),
    ("light", "math job format scene trace"),
    ("probe", "math format scene trace"),
    ("view", "math job format scene light probe"),
    ("render", "math format scene probe view"),
    ("ui", "math job scene light probe view"),
    (
        "app",
        "math job format vfs scene trace light probe view render ui",
    ),
    (
        "cli",
        "math job format vfs scene trace light probe view render",
    ),
];

/// What may lie at the top of the repository; `*` at the end stands for anything.
const TOP_LEVEL: [&str; 16] = [
    "Cargo.toml",
    "Cargo.lock",
    "src",
    "shaders",
    "assets",
    "tests",
    "docs",
    "README.md",
    "LICENSE-*",
    "Makefile",
    "clippy.toml",
    "rust-toolchain.toml",
    ".ci",
    ".gitignore",
    "target",
    ".git",
];

/// Calls that end the program; `expect("why it cannot fail")` is allowed, and `assert!` for our own bugs.
const PANICS: [&str; 5] = [
    "panic!(",
    ".unwrap()",
    "todo!(",
    "unimplemented!(",
    "unreachable!(",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All `.rs` files under `folder`, sorted.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The source without comments and without the contents of strings; lines stay where they are.
fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source.chars().peekable();
    let mut previous = ' ';
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '"' => {
                code.push('"');
                skip_string(&mut rest, &mut code, previous == 'r' || previous == '#');
                code.push('"');
            }
            // A quote or a backslash as a character; anything else after ' is a lifetime or harmless.
            '\'' if rest.peek() == Some(&'\\') => {
                rest.next();
                rest.next();
            }
            '\'' if rest.peek() == Some(&'"') => {
                rest.next();
            }
            _ => code.push(c),
        }
        previous = c;
    }
    code
}

/// Skips to the end of a string; raw ones end at `"#` (no source here uses more marks) or know no escapes.
fn skip_string(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, code: &mut String, raw: bool) {
    let marked = raw && code.ends_with("#\"");
    while let Some(c) = rest.next() {
        match c {
            '\\' if !raw => {
                code.extend(rest.next().filter(|escaped| *escaped == '\n'));
            }
            '"' if !marked || rest.peek() == Some(&'#') => return,
            '\n' => code.push('\n'),
            _ => {}
        }
    }
}

/// The lines that belong to the library proper: what stands behind the head of a module of tests is tests.
fn without_tests(code: &str) -> &str {
    code.find("\n#[cfg(test)]\nmod tests")
        .and_then(|end| code.get(..end))
        .unwrap_or(code)
}

/// The layer that a file under `src` belongs to; `None` for `lib.rs` and the binaries.
fn layer_of(file: &Path) -> Option<String> {
    let inside = file.strip_prefix(root().join("src")).unwrap_or(file);
    let first = inside.components().next()?;
    let name = Path::new(first.as_os_str()).file_stem()?.to_str()?;
    (!matches!(name, "lib" | "bin")).then(|| name.to_owned())
}

/// The identifier at the start of `text`.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// What is wrong with one file of the library, one line each.
fn violations(name: &str, layer: Option<&str>, source: &str) -> Vec<String> {
    let allowed: BTreeMap<&str, &str> = LAYERS.into_iter().collect();
    let code = code_only(source);
    let library = if name.ends_with("_tests.rs") {
        // Included under `#[cfg(test)]`.
        ""
    } else {
        without_tests(&code)
    };
    let mut found = Vec::new();
    for (number, line) in code.lines().enumerate() {
        let mut report = |what: String| found.push(format!("{name}:{}: {what}", number + 1));
        if line.contains("crate::{") {
            report("“crate::{…}” hides which layers are used; one line for each".to_owned());
        }
        if line.contains("super::super") {
            report("“super::super”: write the path from “crate”".to_owned());
        }
        let Some(layer) = layer else { continue };
        for named in line.split("crate::").skip(1).map(identifier) {
            let known = allowed.contains_key(named);
            let may = allowed
                .get(layer)
                .is_some_and(|row| row.split(' ').any(|word| word == named));
            if known && named != layer && !may {
                report(format!("“{layer}” must not use “{named}”"));
            }
        }
    }
    for (number, line) in library.lines().enumerate() {
        for call in PANICS.into_iter().filter(|call| line.contains(call)) {
            found.push(format!("{name}:{}: “{call}” outside of tests", number + 1));
        }
    }
    found
}

#[test]
fn every_module_names_only_the_layers_below_it() {
    let files = rust_files(&root().join("src"));
    assert!(files.len() > 50, "the sources were not found");
    let found: Vec<String> = files
        .iter()
        .flat_map(|file| {
            let source = fs::read_to_string(file).unwrap();
            let name = file.strip_prefix(root()).unwrap().display().to_string();
            violations(&name, layer_of(file).as_deref(), &source)
        })
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_layer_of_the_table_exists_and_no_other() {
    let mut folders: Vec<String> = fs::read_dir(root().join("src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| layer_of(&path))
        .collect();
    folders.sort();
    let mut table: Vec<&str> = LAYERS.iter().map(|(layer, _)| *layer).collect();
    table.sort_unstable();
    assert_eq!(folders, table);
}

/// The rows of the table in the documentation of the library are those of [`LAYERS`].
#[test]
fn documented_table_is_this_table() {
    let documented = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for (layer, uses) in LAYERS {
        let row = documented
            .lines()
            .find(|line| {
                line.starts_with("//! | [`") && line.contains(&format!("`{layer}`"))
                    || line.starts_with(&format!("//! | `{layer}`"))
            })
            .unwrap_or_else(|| panic!("{layer} is not in the table"));
        let cell = row.trim_end_matches([' ', '|']).rsplit('|').next().unwrap();
        match layer {
            "math" | "job" => assert_eq!(cell.trim(), "–"),
            "app" | "cli" => assert!(cell.contains("all but"), "{row}"),
            _ => assert_eq!(cell.trim(), format!("`{uses}`"), "{row}"),
        }
    }
}

#[test]
fn nothing_else_lies_at_the_top() {
    let mut others: Vec<String> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| {
            !TOP_LEVEL
                .iter()
                .any(|allowed| match allowed.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => name == allowed,
                })
        })
        .collect();
    others.sort();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn the_checker_catches_what_it_forbids() {
    let count = |layer: &str, source: &str| violations("x.rs", Some(layer), source).len();
    for (layer, source) in [
        ("format", "use crate::scene::Scene;"),
        ("probe", "fn f() { crate::light::bake(); }"),
        ("render", "use crate::ui::theme;"),
        ("scene", "use crate::{math, job};"),
        ("math", "use super::super::x;"),
        ("math", "fn f() { panic!(\"no\"); }"),
        ("math", "fn f() { x.unwrap(); }"),
        ("math", "#[cfg(test)]\nuse crate::app::run;\n"),
        ("math", "const Q: char = '\"'; use crate::job::Job; // '\""),
    ] {
        assert_eq!(count(layer, source), 1, "{layer}: {source}");
    }
    for (layer, source) in [
        ("scene", "use crate::vfs::Vfs; use crate::scene::Image;"),
        ("math", "// use crate::app::run;\n/// [`crate::app::run`]"),
        ("math", "const TEXT: &str = \"crate::app::x \\\" panic!(\";"),
        ("math", "const TEXT: &str = r#\"\"crate::app::x\"\"#;"),
        (
            "math",
            "fn f() {}\n#[cfg(test)]\nmod tests { fn g() { x.unwrap(); } }",
        ),
    ] {
        assert_eq!(count(layer, source), 0, "{layer}: {source}");
    }
}
