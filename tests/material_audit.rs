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

/// Words with no effect on the picture, and why; a last `*` stands for anything.
const NO_EFFECT: [(&str, &str); 8] = [
    (
        "surfaceparm *",
        "for the compiler and the game; what drawing needs of it is in the map's flags (`fog`, `sky` and `nodraw` are honoured)",
    ),
    (
        "entitymergable",
        "joins sprites of several entities; a map has none",
    ),
    ("clamptime", "for effects that end; maps have none"),
    (
        "distancecull",
        "DarkPlaces' own: grass is drawn at any distance",
    ),
    ("dp_reflect", "DarkPlaces' own"),
    ("dp_water", "DarkPlaces' own"),
    ("stage: blendfuns", "misspelt; engines skip or refuse it"),
    ("nopicmip", "pictures are never reduced"),
];

/// What is drawn as the engine draws it, and what there is to say about it.
const HONOURED: [(&str, &str); 26] = [
    ("cull *", ""),
    (
        "deformvertexes *",
        "wave, normal, bulge, move, autosprite, autosprite2; three at most",
    ),
    ("fogparms", "volumes by the engine's formula"),
    ("nomipmaps", ""),
    ("polygonoffset", ""),
    ("portal", "as a plain surface, drawn first"),
    ("skyparms", "box and clouds"),
    ("sort *", ""),
    ("stage: alphafunc *", ""),
    ("stage: alphagen *", ""),
    ("stage: animmap", "eight pictures at most"),
    ("stage: blendfunc *", "every pair of factors"),
    ("stage: clampmap *", ""),
    ("stage: depthfunc *", ""),
    ("stage: depthwrite", ""),
    ("stage: detail", "can be left out"),
    ("stage: map *", ""),
    ("stage: rgbgen const", ""),
    ("stage: rgbgen identity", ""),
    ("stage: rgbgen identitylighting", ""),
    (
        "stage: rgbgen lightingdiffuse",
        "by the light grid at the middle of the surface; the engine leaves the world's black",
    ),
    ("stage: rgbgen *vertex", ""),
    ("stage: rgbgen wave *", "noise with numbers of our own"),
    ("stage: tcgen *", ""),
    ("stage: tcmod *", "four at most"),
    ("stage: videomap", "black"),
];

/// The entry of a list that says something about a directive.
fn entry<'a>(list: &[(&str, &'a str)], directive: &str) -> Option<&'a str> {
    let fits = |pattern: &str| match pattern.split_once('*') {
        Some((start, end)) => directive.starts_with(start) && directive.ends_with(end),
        None => directive == pattern,
    };
    list.iter()
        .find(|(pattern, _)| fits(pattern))
        .map(|(_, text)| *text)
}

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
            Some(_) if depth == 1 => {
                found.insert(kind(&words));
            }
            Some(_) => found.extend(split(&words).map(|words| format!("stage: {}", kind(words)))),
        }
    }
    found
}

/// The directives on a line of a stage.
fn split(words: &[String]) -> impl Iterator<Item = &[String]> {
    let starts_one = |word: &String| {
        ["rgbgen", "alphagen", "tcgen", "tcmod", "blendfunc"].contains(&word.as_str())
    };
    words.chunk_by(move |_, next| !starts_one(next))
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

/// The section of `docs/materials.md` about a game.
fn section(game: &str, audit: &Audit) -> String {
    let missing: usize = audit.stand_in.values().sum();
    let share = missing as f64 / audit.drawn as f64 * 100.0;
    let mut text = format!(
        "## {game}\n\n{} maps draw {} surfaces, {} of them by a script. {missing} surfaces ({share:.2} %) lack a picture and show the stand-in.\n\n",
        audit.maps, audit.drawn, audit.scripted
    );
    let rows = |text: &mut String, list: &[(&str, &str)]| {
        for (directive, counted) in &audit.directives {
            if let Some(remark) = entry(list, directive) {
                let (surfaces, maps) = (counted.surfaces, counted.maps);
                let _ = writeln!(text, "| `{directive}` | {surfaces} | {maps} | {remark} |");
            }
        }
    };
    text.push_str("| honoured | surfaces | maps | |\n|---|---|---|---|\n");
    rows(&mut text, &HONOURED);
    text.push_str("\n| without effect | surfaces | maps | why |\n|---|---|---|---|\n");
    rows(&mut text, &NO_EFFECT);
    text
}

const HEAD: &str = "# Materials of real maps

Every directive of material scripts that the maps of two games use on surfaces which are drawn, with the number of those surfaces
and of the maps. Words of the light compiler and the editor (`q3map_…`, `qer_…`) are left out. What is not in these lists does not occur there;
an unknown word is reported with its file and line, and costs its line alone. `SLOW_TESTS=1 UPDATE_DOCS=1 cargo test --test material_audit` writes this page where both games are installed.
";

const REST: &str = "
## Words that these maps do not use

| word | what it does here |
|---|---|
| `rgbGen entity`, `rgbGen oneMinusEntity`, `alphaGen entity`, `alphaGen oneMinusEntity` | world and brush models have the colour of an entity that the game left alone: white and opaque |
| `tcMod entityTranslate` | nothing: the game sets the scroll of an entity, and never for a brush model |
| `tcGen fog` | reported as unknown: the engine has it for its own fog pass, no script can ask for it |
| `deformVertexes text0` … `text7`, `deformVertexes projectionShadow` | nothing: score boards and shadows of players |
| `alphaGen wave noise`, `tcMod stretch noise`, `deformVertexes wave noise` | as `rgbGen wave noise`, and a sine for vertices; the engine stops with an error |
| `sort` | every name and number; within a value by material, since the engine's order of registration is not in the map |
| `portal`, `sort portal` | the surface is drawn as its stages say; what a mirror or camera shows is not |
| `alphaGen portal` | the distance from the eye over its range |
| `cull back`, `cull backside`, `cull backsided` | the front faces are left out |
| `videoMap` | black |
| `surfaceparm sky` or the flag without `skyparms` | a sky all the same; the engine draws the stages on the surface |
| fog on a sky | before its cloud layers; a box without stages stays plain |
| `clampTime`, `tessSize`, `entityMergable`, `nopicmip` | nothing: for sprites of the game, the editor and small memories |
";

/// In a debug build 20 s for both games.
#[test]
fn every_directive_that_occurs_is_honoured_or_listed() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/materials.md");
    let games = games();
    let mut page = HEAD.to_owned();
    let mut unlisted = Vec::new();
    for (game, count, maps) in &games {
        let audit = audit(maps);
        assert_eq!(audit.maps, *count, "{game}");
        for directive in audit.directives.keys() {
            let lists = [entry(&HONOURED, directive), entry(&NO_EFFECT, directive)];
            if lists.iter().flatten().count() != 1 {
                unlisted.push(format!("{game}: {directive}"));
            }
        }
        // The parser knows what is said to be honoured.
        let is_excused = |text: &String| {
            let mut named = NO_EFFECT
                .iter()
                .map(|(word, _)| word.trim_start_matches("stage: "));
            text.contains("the engine takes")
                || named.any(|word| text.contains(&format!("`{word}")))
        };
        unlisted.extend(
            audit
                .unknown
                .iter()
                .filter(|text| !is_excused(text))
                .cloned(),
        );
        for (name, surfaces) in &audit.stand_in {
            println!("{game}: no picture for {name}: {surfaces} surfaces");
        }
        let missing: usize = audit.stand_in.values().sum();
        let share = missing as f64 / audit.drawn as f64;
        assert!(
            share < STAND_IN_LIMIT,
            "{game}: {missing} of {}",
            audit.drawn
        );
        let section = section(game, &audit);
        if std::env::var_os("UPDATE_DOCS").is_none() {
            let page = std::fs::read_to_string(&path).unwrap();
            assert!(
                page.contains(&section),
                "docs/materials.md is not what {game} uses; SLOW_TESTS=1 UPDATE_DOCS=1 cargo test --test material_audit writes it"
            );
        }
        page.push('\n');
        page.push_str(&section);
    }
    assert!(unlisted.is_empty(), "{}", unlisted.join("\n"));
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written.ends_with(REST) || std::env::var_os("UPDATE_DOCS").is_some(),
        "docs/materials.md lacks the rest"
    );
    page.push_str(REST);
    if std::env::var_os("UPDATE_DOCS").is_some() && games.len() == 2 {
        std::fs::write(&path, page).unwrap();
    }
}

#[test]
fn directives_are_told_apart() {
    let text = "x // {\n{\n cull none\n q3map_sun 1\n {\n map a.tga\n blendFunc filter rgbGen identity\n rgbGen wave sin 0 1 0 1 }\n { map $lightmap tcMod turb 0 1 } }";
    let expected = [
        "cull none",
        "stage: blendfunc filter",
        "stage: map $lightmap",
        "stage: map IMAGE",
        "stage: rgbgen identity",
        "stage: rgbgen wave sin",
        "stage: tcmod turb",
    ];
    assert_eq!(directives(text).into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(entry(&HONOURED, "stage: rgbgen vertexlike"), None);
    assert_eq!(entry(&HONOURED, "stage: dance"), None);
}
