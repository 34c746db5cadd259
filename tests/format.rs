//! The BSP reader and writer on real files, and on the same files damaged.
#![allow(
    clippy::items_after_statements,
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "support/indices.rs"]
mod indices;
#[path = "support/openarena.rs"]
mod openarena;

use std::fs;
use std::path::{Path, PathBuf};

use luxgrid::format::bsp::{BspError, LumpKind, VariantLabel, read, write};
use luxgrid::job::JobContext;
use luxgrid::math::sampling;
use luxgrid::scene::{LightmapOrigin, Scene, build};
use luxgrid::vfs::{SearchOptions, open_map};

use indices::assert_in_range;

const OCCLUDER: &[u8] = include_bytes!("data/format/occluder.bsp");
const PATCH: &[u8] = include_bytes!("data/format/patch.bsp");
const DEMO: &[u8] = include_bytes!("../assets/demo/maps/atrium.bsp");

fn put_i32(bytes: &mut [u8], at: usize, value: i32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn get_i32(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// Offset of record `index` of `lump`, whose records have `size` bytes.
fn record(bytes: &[u8], lump: usize, index: usize, size: usize) -> usize {
    get_i32(bytes, 8 + lump * 8) as usize + index * size
}

#[test]
fn sound_files_open_without_warnings_and_are_written_back_unchanged() {
    for (bytes, label) in [
        (OCCLUDER, VariantLabel::Quake3),
        (PATCH, VariantLabel::Quake3),
        (DEMO, VariantLabel::Sh),
    ] {
        let bsp = read(bytes).unwrap();
        assert_eq!(bsp.warnings, []);
        assert_eq!(bsp.directory.variant.label, label);
        assert_in_range(&bsp);
        assert_eq!(write(&bsp), bytes);
    }
}

#[test]
fn every_truncation_gives_a_value_or_an_error() {
    for length in 0..OCCLUDER.len() {
        if let Ok(bsp) = read(&OCCLUDER[..length]) {
            assert_in_range(&bsp);
        }
    }
}

/// 4,000 files with one to four bytes changed, the directory and record fields favoured by their share of the file.
#[test]
fn seeded_mutations_give_a_value_with_sound_indices_or_an_error() {
    let mut opened = 0;
    for seed in 0..4000_u64 {
        let source = if seed % 2 == 0 { OCCLUDER } else { PATCH };
        let mut bytes = source.to_vec();
        for draw in 0..=(seed % 4) as u32 {
            let span = if seed % 3 == 0 { 160 } else { bytes.len() };
            let at = (sampling::unit(seed, 1, draw) * span as f32) as usize;
            bytes[at.min(source.len() - 1)] = (sampling::unit(seed, 2, draw) * 256.0) as u8;
        }
        if let Ok(bsp) = read(&bytes) {
            opened += 1;
            assert_in_range(&bsp);
            assert_eq!(write(&bsp), bytes);
        }
    }
    assert!(
        opened > 1000,
        "{opened} of 4000 opened: the check must reach the records"
    );
}

#[test]
fn foreign_files_are_named() {
    let head = |ident: &[u8; 4], version: i32| {
        let mut bytes = vec![0; 200];
        bytes[..4].copy_from_slice(ident);
        put_i32(&mut bytes, 4, version);
        bytes
    };
    for (ident, version, word) in [
        (b"IBSP", 38, "Quake II"),
        (b"VBSP", 20, "Source"),
        (b"RBSP", 1, "Jedi"),
        (b"rBSP", 36, "Titanfall"),
        (b"IBSP", 59, "Call of Duty"),
    ] {
        let error = read(&head(ident, version)).unwrap_err();
        assert!(matches!(error, BspError::UnsupportedFormat { .. }));
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(matches!(
        read(b"IBSP"),
        Err(BspError::TooShort { length: 4 })
    ));
}

#[test]
fn a_lump_outside_the_file_is_an_error_that_names_it() {
    for (offset, length) in [(0x7FFF_FFF0, 0x20), (-4, 8), (200, -1), (8, 72)] {
        let mut bytes = OCCLUDER.to_vec();
        put_i32(&mut bytes, 8 + 10 * 8, offset);
        put_i32(&mut bytes, 12 + 10 * 8, length);
        let error = read(&bytes).unwrap_err();
        assert!(
            matches!(
                error,
                BspError::LumpOutOfFile {
                    lump: LumpKind::DrawVerts,
                    ..
                }
            ),
            "{error}"
        );
    }
}

type Damage = fn(&mut Vec<u8>);

/// Name, what is broken, and a part of the expected warning.
const DAMAGES: [(&str, Damage, &str); 9] = [
    (
        "node cycle",
        |b| {
            let at = record(b, 3, 0, 36);
            put_i32(b, at + 4, 0);
        },
        "circle",
    ),
    (
        "node child",
        |b| {
            let at = record(b, 3, 0, 36);
            put_i32(b, at + 4, i32::MIN);
        },
        "circle",
    ),
    (
        "leaf list",
        |b| {
            let at = record(b, 4, 1, 48);
            put_i32(b, at + 36, -1);
        },
        "list emptied",
    ),
    (
        "surface material",
        |b| {
            let at = record(b, 13, 0, 104);
            put_i32(b, at, 999);
        },
        "material number",
    ),
    (
        "surface verts",
        |b| {
            let at = record(b, 13, 0, 104);
            put_i32(b, at + 12, i32::MAX);
        },
        "vertices out of range",
    ),
    (
        "surface type",
        |b| {
            let at = record(b, 13, 0, 104);
            put_i32(b, at + 8, 9);
        },
        "unknown surface type",
    ),
    (
        "index",
        |b| {
            let first = get_i32(b, record(b, 13, 0, 104) + 20) as usize;
            let at = record(b, 11, first, 4);
            put_i32(b, at, 5000);
        },
        "beyond its vertices",
    ),
    (
        "brush side plane",
        |b| {
            let at = record(b, 9, 0, 8);
            put_i32(b, at, 99_999);
        },
        "brush is dropped",
    ),
    (
        "model bounds",
        |b| {
            let at = record(b, 7, 0, 40);
            put_i32(b, at, f32::NAN.to_bits() as i32);
        },
        "not finite",
    ),
];

#[test]
fn bad_records_are_mended_and_reported() {
    for (name, damage, expected) in DAMAGES {
        let mut bytes = OCCLUDER.to_vec();
        damage(&mut bytes);
        let bsp = read(&bytes).unwrap();
        assert_in_range(&bsp);
        let texts: Vec<String> = bsp.warnings.iter().map(ToString::to_string).collect();
        assert!(
            texts.iter().any(|text| text.contains(expected)),
            "{name}: {texts:?}"
        );
        assert_eq!(
            write(&bsp),
            bytes,
            "{name}: mending is for us, the file stays"
        );
    }
}

#[test]
fn excessive_numbers_are_refused() {
    for (field, value) in [(0, i32::MAX - 1), (4, 1 << 30)] {
        let mut bytes = OCCLUDER.to_vec();
        let at = record(&bytes, 4, 1, 48);
        put_i32(&mut bytes, at + field, value);
        assert!(matches!(read(&bytes), Err(BspError::Excessive { .. })));
    }
}

#[test]
fn version_47_without_an_sh_lump_is_not_taken_for_one() {
    let mut bytes = OCCLUDER.to_vec();
    put_i32(&mut bytes, 4, 47);
    let bsp = read(&bytes).unwrap();
    assert_eq!(bsp.directory.variant.label, VariantLabel::Unknown47);
    assert!(bsp.sh_grid.is_none());
}

#[test]
fn a_lying_sh_head_drops_the_grid_and_keeps_the_map() {
    let entry = 8 + 18 * 8;
    let at = get_i32(DEMO, entry) as usize;
    let cases = [
        ("points", at + 36, 7),
        ("counts", at + 24, 0),
        ("counts", at + 24, -35),
        ("cell size", at + 12, f32::NAN.to_bits() as i32),
        ("length", entry + 4, get_i32(DEMO, entry + 4) - 108),
    ];
    for (what, position, value) in cases {
        let mut bytes = DEMO.to_vec();
        put_i32(&mut bytes, position, value);
        let bsp = read(&bytes).unwrap();
        assert!(bsp.sh_grid.is_none(), "{what}");
        assert_eq!(bsp.light_grid.len(), 35 * 37 * 5);
        assert!(
            bsp.warnings.iter().any(|w| w.lump == LumpKind::LightGridSh),
            "{what}"
        );
    }
    let mut bytes = DEMO.to_vec();
    let coefficient = at + 40 + 3 * 108;
    put_i32(&mut bytes, coefficient, f32::INFINITY.to_bits() as i32);
    let grid = read(&bytes).unwrap().sh_grid.unwrap();
    assert!(
        grid.points[3][0][0].is_infinite(),
        "non-finite coefficients are kept"
    );
}

/// Where Debian installs the data of `Nexuiz`.
const NEXUIZ: &str = "/usr/share/games/nexuiz/data";

/// Installed maps by game: name for people, folder, maps that it has.
fn installed() -> Vec<(&'static str, PathBuf, usize)> {
    let nexuiz = std::env::var_os("LUXGRID_NEXUIZ").map_or_else(|| NEXUIZ.into(), PathBuf::from);
    let openarena = openarena::folder().map(|folder| ("OpenArena", folder, 85));
    let nexuiz = nexuiz.join("data.pk3").is_file().then_some(nexuiz);
    let nexuiz = nexuiz.map(|folder| ("Nexuiz", folder, 40));
    openarena.into_iter().chain(nexuiz).collect()
}

/// What a map was taken for, as a row of the table in the documentation.
fn row(game: &str, name: &str, scene: &Scene) -> String {
    let directory = &scene.bsp.directory;
    let (pages, size) = (scene.lightmaps.pages.len(), scene.lightmaps.size);
    let pages = match scene.lightmaps.origin {
        LightmapOrigin::None => "–".to_owned(),
        LightmapOrigin::Internal => format!("{pages} internal, {size}²"),
        LightmapOrigin::External => format!("{pages} external, {size}²"),
    };
    let deluxe = scene.deluxe.as_ref().map_or("–".to_owned(), |deluxe| {
        deluxe.reason.text().replace("worldspawn ", "")
    });
    let grid = scene
        .lighting
        .light_grid
        .as_ref()
        .map_or("–".to_owned(), |grid| {
            let [x, y, z] = grid.lattice.counts.to_array();
            format!("{x}×{y}×{z}")
        });
    let label = directory.variant.label.text();
    format!(
        "| {game} | {name} | {label} | {} | {pages} | {deluxe} | {grid} |",
        directory.entry_count
    )
}

/// Every installed map opens, is written back as it was, and is what the table in the documentation says.
/// `UPDATE_DOCS=1` writes the table.
#[test]
fn installed_maps_are_what_the_documentation_says() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: SLOW_TESTS is not set");
        return;
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md");
    let text = fs::read_to_string(&docs).unwrap();
    let mut rows = Vec::new();
    for (game, folder, count) in installed() {
        let maps = openarena::maps(&folder);
        assert_eq!(maps.len(), count, "{game}");
        for (name, path) in maps {
            let context = JobContext::default();
            let opened = open_map(&path, &SearchOptions::default()).unwrap();
            let scene = build(&opened, &context).unwrap();
            assert!(
                write(&scene.bsp) == opened.bytes,
                "{name}: not the same bytes"
            );
            assert_in_range(&scene.bsp);
            let odd: Vec<_> = context.warnings.list();
            let odd = odd
                .iter()
                .filter(|w| !matches!(w.code, "W120" | "W121" | "W122"));
            for warning in odd {
                println!("{name}: {} {}", warning.code, warning.text);
            }
            rows.push(row(game, &name, &scene));
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let (head, rest) = text.split_once("<!-- maps -->\n").unwrap();
        let (_, tail) = rest.split_once("<!-- end of maps -->\n").unwrap();
        let table = rows.join("\n");
        let heading = "| game | map | taken for | entries | lightmap pages | deluxe, because | light grid |\n|---|---|---|---|---|---|---|";
        let new = format!("{head}<!-- maps -->\n{heading}\n{table}\n<!-- end of maps -->\n{tail}");
        fs::write(&docs, new).unwrap();
        return;
    }
    for row in rows {
        assert!(text.contains(&row), "not in the documentation: {row}");
    }
}
