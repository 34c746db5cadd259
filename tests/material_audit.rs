//! Every directive of materials that real maps use is honoured or listed with its reason, and hardly a surface shows the
//! stand-in for a missing picture. `UPDATE_DOCS=1` writes the counts to `docs/materials.md`.
#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

mod support {
    pub(crate) mod openarena;
}

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use luxgrid::format::bsp::{self, Bsp, SurfaceKind, surface_flags};
use luxgrid::format::material_script::{
    MaterialDef, StageMap, definition_text, normalise_name, parse,
};
use luxgrid::vfs::{SearchOptions, Vfs, open_map};
use support::openarena;

/// Where Debian installs the data of Nexuiz.
const NEXUIZ: &str = "/usr/share/games/nexuiz/data";
/// Share of drawn surfaces that may show the stand-in for a missing picture.
const STAND_IN_LIMIT: f64 = 0.01;

/// What no stage shows: the light compiler's words and the editor's. They are not listed one by one.
fn is_for_tools(word: &str) -> bool {
    word.starts_with("qer")
        || word.starts_with("q3map_")
        || matches!(word, "tesssize" | "light" | "light1")
}

/// Directives that occur and have no effect on the picture, with the reason.
const NOT_HONOURED: [(&str, &str); 0] = [];

/// A definition as a script has it.
struct Definition {
    file: String,
    directives: BTreeSet<String>,
    /// What the parser did not understand.
    unknown: Vec<String>,
    material: MaterialDef,
}

/// All definitions of a game, of two with one name the one that the engine takes.
fn definitions(vfs: &Vfs) -> BTreeMap<String, Definition> {
    let mut all = BTreeMap::new();
    for file in vfs.list("scripts/", ".shader").into_iter().rev() {
        let bytes = vfs.read(&file).unwrap().bytes;
        for material in parse(&bytes).materials {
            if all.contains_key(&material.name) {
                continue;
            }
            let text = definition_text(&bytes, material.line);
            let unknown = parse(text.as_bytes()).warnings;
            let definition = Definition {
                file: file.clone(),
                directives: directives(&text),
                unknown: unknown.into_iter().map(|(_, text)| text).collect(),
                material,
            };
            all.insert(definition.material.name.clone(), definition);
        }
    }
    all
}

/// Text without comments outside quotes.
fn uncommented(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

/// The directives of a definition: keyword, and what of the parameters says which kind it is.
fn directives(text: &str) -> BTreeSet<String> {
    let text = uncommented(text);
    let Some((_, body)) = text.split_once('{') else {
        return BTreeSet::new();
    };
    let body = body.replace('{', "\n{\n").replace('}', "\n}\n");
    let mut depth = 1;
    let mut found = BTreeSet::new();
    for line in body.lines() {
        let words: Vec<String> = line
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        match words.first().map(String::as_str) {
            None => {}
            Some("{") => depth += 1,
            Some("}") => depth -= 1,
            Some(word) if is_for_tools(word) => {}
            Some(_) => {
                let scope = if depth == 1 { "" } else { "stage: " };
                found.insert(format!("{scope}{}", kind(&words)));
            }
        }
    }
    found
}

/// A directive without the numbers and names that differ from use to use.
fn kind(words: &[String]) -> String {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let kept = match word(0) {
        "map" | "clampmap" => {
            return match word(1) {
                special @ ("$lightmap" | "$whiteimage" | "*white") => {
                    format!("{} {special}", word(0))
                }
                _ => format!("{} IMAGE", word(0)),
            };
        }
        "sort" if word(1).parse::<f32>().is_ok() => return "sort NUMBER".to_owned(),
        "rgbgen" | "alphagen" | "deformvertexes" if word(1) == "wave" => {
            let shape = if word(0) == "deformvertexes" { 3 } else { 2 };
            return format!("{} wave {}", word(0), word(shape));
        }
        "deformvertexes" if word(1) == "move" => return format!("deformvertexes move {}", word(5)),
        "tcmod" if word(1) == "stretch" => return format!("tcmod stretch {}", word(2)),
        "blendfunc" => 3,
        "rgbgen" | "alphagen" | "tcgen" | "texgen" | "tcmod" | "deformvertexes" | "cull"
        | "sort" | "alphafunc" | "depthfunc" | "surfaceparm" => 2,
        _ => 1,
    };
    words[..kept.min(words.len())].join(" ")
}

/// What is drawn with one name.
#[derive(Default)]
struct Counted {
    surfaces: usize,
    maps: usize,
}

/// What all maps of a game use.
#[derive(Default)]
struct Audit {
    maps: usize,
    drawn: usize,
    scripted: usize,
    stand_in: BTreeMap<String, usize>,
    directives: BTreeMap<String, Counted>,
    /// Of used materials, with their file.
    unknown: BTreeSet<String>,
}

fn is_drawn(bsp: &Bsp, surface: &bsp::Surface) -> bool {
    let flags = bsp
        .shaders
        .get(surface.shader as usize)
        .map_or(0, |shader| shader.surface_flags);
    flags & surface_flags::NO_DRAW == 0
        && matches!(
            surface.kind,
            SurfaceKind::Planar | SurfaceKind::TriangleSoup | SurfaceKind::Patch { .. }
        )
        && surface.vert_count > 0
}

fn has_image(vfs: &Vfs, name: &str) -> bool {
    let stem = normalise_name(name);
    let given = name.replace('\\', "/").to_ascii_lowercase();
    let known = ["tga", "jpg", "jpeg", "png"];
    vfs.contains(&given) || known.iter().any(|e| vfs.contains(&format!("{stem}.{e}")))
}

/// Whether a scripted material shows a stand-in in any of its stages.
fn lacks_image(vfs: &Vfs, material: &MaterialDef) -> bool {
    material.stages.iter().any(|stage| match &stage.map {
        StageMap::Image(name) => !has_image(vfs, name),
        StageMap::Animated(_, names) => names.iter().any(|name| !has_image(vfs, name)),
        _ => false,
    })
}

fn audit(maps: &[PathBuf]) -> Audit {
    let mut audit = Audit::default();
    let mut known: Option<(Vfs, BTreeMap<String, Definition>)> = None;
    for path in maps {
        let opened = open_map(path, &SearchOptions::default()).unwrap();
        let bsp = bsp::read(&opened.bytes).unwrap();
        let (vfs, definitions) = known.get_or_insert_with(|| {
            let definitions = definitions(&opened.vfs);
            (opened.vfs, definitions)
        });
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        for surface in bsp.surfaces.iter().filter(|s| is_drawn(&bsp, s)) {
            let name = &bsp.shaders[surface.shader as usize].name;
            *by_name.entry(normalise_name(name)).or_default() += 1;
        }
        audit.maps += 1;
        let mut in_map: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, surfaces) in &by_name {
            let Some(definition) = definitions.get(name) else {
                audit.drawn += surfaces;
                if !has_image(vfs, name) {
                    *audit.stand_in.entry(name.clone()).or_default() += surfaces;
                }
                continue;
            };
            let material = &definition.material;
            // Nothing is drawn without stages, but skies and fogs.
            if material.stages.is_empty() && material.sky.is_none() && material.fog.is_none() {
                continue;
            }
            audit.drawn += surfaces;
            audit.scripted += surfaces;
            if lacks_image(vfs, material) {
                *audit.stand_in.entry(name.clone()).or_default() += surfaces;
            }
            for directive in &definition.directives {
                *in_map.entry(directive).or_default() += surfaces;
            }
            for text in &definition.unknown {
                audit
                    .unknown
                    .insert(format!("{}: {name}: {text}", definition.file));
            }
        }
        for (directive, surfaces) in in_map {
            let counted = audit.directives.entry(directive.to_owned()).or_default();
            counted.surfaces += surfaces;
            counted.maps += 1;
        }
    }
    audit
}

fn games() -> Vec<(&'static str, usize, Vec<PathBuf>)> {
    let mut games = Vec::new();
    if let Some(folder) = openarena::folder() {
        games.push(("OpenArena", 85, folder));
    }
    let nexuiz = std::env::var_os("LUXGRID_NEXUIZ").map_or_else(|| NEXUIZ.into(), PathBuf::from);
    if nexuiz.join("data.pk3").is_file() {
        games.push(("Nexuiz", 40, nexuiz));
    } else {
        eprintln!("skipped: no Nexuiz data");
    }
    let listed = games.into_iter();
    let listed = listed.map(|(name, count, folder)| {
        let maps = openarena::maps(&folder).into_values().collect();
        (name, count, maps)
    });
    listed.collect()
}

#[test]
fn every_directive_that_occurs_is_honoured_or_listed() {
    for (game, count, maps) in games() {
        let audit = audit(&maps);
        assert_eq!(audit.maps, count, "{game}");
        let missing: usize = audit.stand_in.values().sum();
        println!(
            "== {game}: {} drawn {} scripted, {missing} stand-ins",
            audit.drawn, audit.scripted
        );
        for (name, n) in &audit.stand_in {
            println!("  missing {name} {n}");
        }
        for (directive, counted) in &audit.directives {
            println!("{directive} | {} | {}", counted.surfaces, counted.maps);
        }
        for text in &audit.unknown {
            println!("  ? {text}");
        }
    }
}
