//! `luxtool check`: every code fires on a map made for it, and real maps have no false error.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "support/map_builder.rs"]
mod map_builder;
#[path = "support/openarena.rs"]
mod openarena;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use luxgrid::cli::{Exit, run};
use luxgrid::format::bsp::{ShContainer, read, write_with};
use luxgrid::format::check::RULES;
use map_builder::Layout;
use serde_json::{Value, json};

/// `luxtool check` in this process: exit code, output, messages.
fn check(map: &Path, flags: &[&str]) -> (Exit, String, String) {
    let mut args = vec!["luxtool", "check", map.to_str().unwrap()];
    args.extend_from_slice(flags);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(args.into_iter().map(Into::into), &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (exit, text(out), text(err))
}

fn findings(map: &Path) -> (Exit, Vec<Value>) {
    let (exit, out, err) = check(map, &["--json"]);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} {err}"));
    assert_eq!(report["schema"], "luxgrid/check/1");
    (exit, report["findings"].as_array().unwrap().clone())
}

const NEXUIZ: &str = "/usr/share/games/nexuiz/data";
const DEMO: &[u8] = include_bytes!("../assets/demo/maps/atrium.bsp");
const POINT: &[u8] = include_bytes!("data/micro/expected/m01_point.default.bsp");
const PATCH: &[u8] = include_bytes!("data/format/patch.bsp");

fn get(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn put(bytes: &mut [u8], at: usize, value: i32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put_f32(bytes: &mut [u8], at: usize, value: f32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Byte `field` of record `index` of `lump`.
fn at(bytes: &[u8], lump: usize, index: usize, field: usize) -> usize {
    const SIZES: [usize; 19] = [
        1, 72, 16, 36, 48, 4, 4, 40, 12, 8, 44, 4, 72, 104, 49_152, 8, 1, 128, 108,
    ];
    get(bytes, 8 + 8 * lump) + SIZES[lump] * index + field
}

fn set_length(bytes: &mut [u8], lump: usize, length: usize) {
    put(bytes, 12 + 8 * lump, length as i32);
}

/// `lump` with new contents, behind everything else.
fn replace(bytes: &mut Vec<u8>, lump: usize, contents: &[u8]) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let at = bytes.len() as i32;
    put(bytes, 8 + 8 * lump, at);
    set_length(bytes, lump, contents.len());
    bytes.extend_from_slice(contents);
}

fn text(bytes: &mut Vec<u8>, entities: &str) {
    replace(bytes, 0, format!("{entities}\0").as_bytes());
}

/// The first surface of a kind.
fn surface(bytes: &[u8], kind: usize) -> usize {
    let count = get(bytes, 12 + 8 * 13) / 104;
    (0..count)
        .find(|index| get(bytes, at(bytes, 13, *index, 8)) == kind)
        .unwrap()
}

/// Fogs of this brush and visible side.
fn fogs(brush: i32, side: i32, count: usize) -> Vec<u8> {
    let mut fog = b"fog".to_vec();
    fog.resize(64, 0);
    fog.extend(brush.to_le_bytes());
    fog.extend(side.to_le_bytes());
    fog.repeat(count)
}

type Damage = fn(&mut Vec<u8>);

/// For each code what makes a sound map have it.
const CASES: &[(&str, Damage)] = &[
    ("E101", |b| b.truncate(100)),
    ("E101", |b| put(b, 8 + 8 * 7, i32::MAX - 15)),
    ("E102", |b| put(b, 4, 38)),
    ("E103", |b| {
        let area = at(b, 4, 1, 4);
        put(b, area, 1 << 30);
    }),
    ("I201", |b| {
        let copy = b[at(b, 2, 0, 0)..at(b, 2, 2, 0)].to_vec();
        replace(b, 2, &copy);
        b.insert(get(b, 8 + 16), 0);
        let moved = get(b, 8 + 16) as i32 + 1;
        put(b, 8 + 16, moved);
    }),
    ("I202", |b| b.extend_from_slice(b"12345")),
    ("W203", |b| {
        let (nodes, planes) = (get(b, 8 + 24) as i32, 8 + 16);
        put(b, planes, nodes);
    }),
    ("E205", |b| set_length(b, 1, 71)),
    ("I206", |b| {
        b.extend_from_slice(b"of no lump, but here");
        text(b, "{ \"classname\" \"worldspawn\" }");
    }),
    ("E211", |b| set_length(b, 1, 0)),
    ("W212", |b| {
        let name = at(b, 1, 0, 0);
        b[name..name + 64].fill(b'x');
    }),
    ("W213", |b| {
        let name = at(b, 1, 0, 0);
        b[name..name + 5].copy_from_slice(b"../x\0");
    }),
    ("I214", |b| {
        let (first, second) = (at(b, 1, 0, 0), at(b, 1, 1, 0));
        b.copy_within(first..first + 72, second);
    }),
    ("E221", |b| set_length(b, 2, 0)),
    ("W222", |b| {
        let plane = at(b, 2, 0, 0);
        put_f32(b, plane, f32::NAN);
    }),
    ("I223", |b| {
        let plane = at(b, 2, 1, 12);
        put_f32(b, plane, 12345.0);
    }),
    ("E231", |b| set_length(b, 3, 0)),
    ("E232", |b| {
        let child = at(b, 3, 0, 4);
        put(b, child, i32::MIN);
    }),
    ("E233", |b| {
        let child = at(b, 3, 0, 4);
        put(b, child, 0);
    }),
    ("W234", |b| {
        let models = get(b, 12 + 56);
        let copy = [&b[at(b, 7, 0, 0)..at(b, 7, 0, models)], &[0; 40]].concat();
        replace(b, 7, &copy);
    }),
    ("E241", |b| set_length(b, 4, 0)),
    ("E242", |b| {
        let count = at(b, 4, 1, 36);
        put(b, count, -1);
    }),
    ("E243", |b| {
        let area = at(b, 4, 1, 4);
        put(b, area, 256);
    }),
    ("E251", |b| {
        let entry = at(b, 5, 0, 0);
        put(b, entry, -1);
    }),
    ("E261", |b| {
        let entry = at(b, 6, 0, 0);
        put(b, entry, 99_999);
    }),
    ("E271", |b| set_length(b, 7, 0)),
    ("E272", |b| {
        let count = at(b, 7, 0, 28);
        put(b, count, 99_999);
    }),
    ("W273", |b| {
        let min = at(b, 7, 0, 0);
        put_f32(b, min, 1e9);
    }),
    ("I274", |b| {
        let copy = b[at(b, 7, 0, 0)..at(b, 7, 1, 0)].repeat(300);
        replace(b, 7, &copy);
    }),
    ("I275", |b| {
        let copy = b[at(b, 7, 0, 0)..at(b, 7, 1, 0)].repeat(300);
        replace(b, 7, &copy);
    }),
    ("W276", |b| {
        text(b, "{ \"classname\" \"worldspawn\" } { \"model\" \"*999\" }");
    }),
    ("E281", |b| {
        let sides = at(b, 8, 0, 4);
        put(b, sides, 99_999);
    }),
    ("E282", |b| {
        let sides = at(b, 8, 0, 4);
        put(b, sides, 3);
    }),
    ("E291", |b| {
        let plane = at(b, 9, 0, 0);
        put(b, plane, -1);
    }),
    ("W301", |b| {
        let x = at(b, 10, 0, 0);
        put_f32(b, x, 1e6);
    }),
    ("W302", |b| {
        let s = at(b, 10, 0, 12);
        put_f32(b, s, f32::INFINITY);
    }),
    ("W303", |b| {
        let lit = at(b, 13, surface(b, 1), 0);
        put(b, lit + 28, 0);
        let vert = at(b, 10, get(b, lit + 12), 20);
        put_f32(b, vert, f32::NAN);
    }),
    ("I304", |b| {
        let normal = at(b, 10, 0, 28);
        b[normal..normal + 12].fill(0);
    }),
    ("E311", |b| {
        let lit = at(b, 13, surface(b, 1), 0);
        let index = at(b, 11, get(b, lit + 20), 0);
        put(b, index, -1);
    }),
    ("E312", |b| {
        let count = at(b, 13, surface(b, 1), 24);
        put(b, count, 4);
    }),
    ("I313", |b| {
        let lit = at(b, 13, surface(b, 1), 0);
        let index = at(b, 11, get(b, lit + 20), 0);
        b.copy_within(index..index + 4, index + 4);
    }),
    ("W321", |b| replace(b, 12, &fogs(-1, -1, 1))),
    ("W322", |b| replace(b, 12, &fogs(99_999, -1, 1))),
    ("W322", |b| replace(b, 12, &fogs(0, 99, 1))),
    ("W323", |b| replace(b, 12, &fogs(0, -1, 32))),
    ("E331", |b| {
        let material = at(b, 13, 0, 0);
        put(b, material, -1);
    }),
    ("E332", |b| {
        let count = at(b, 13, surface(b, 1), 16);
        put(b, count, i32::MAX);
    }),
    ("E333", |b| {
        let kind = at(b, 13, 0, 8);
        put(b, kind, 6);
    }),
    ("W334", |b| {
        let fog = at(b, 13, surface(b, 1), 4);
        put(b, fog, 77);
    }),
    ("E335", |b| {
        let width = at(b, 13, surface(b, 2), 96);
        put(b, width, 46_341);
        put(b, width + 4, 46_341);
    }),
    ("W336", |b| {
        replace(b, 14, &vec![9; 49_152]);
        let page = at(b, 13, surface(b, 1), 28);
        put(b, page, 1);
    }),
    ("W341", |b| replace(b, 14, &vec![9; 49_153])),
    ("I342", |b| replace(b, 14, &vec![9; 8 * 49_152])),
    ("W361", |b| replace(b, 16, b"1234567")),
    ("W381", |b| text(b, "{ \"classname\" \"worldspawn\" } }")),
    ("I382", |b| {
        replace(b, 0, b"{ \"classname\" \"worldspawn\" }");
    }),
    ("W383", |b| {
        text(
            b,
            "{ \"classname\" \"worldspawn\" \"gridsize\" \"64 0 128\" }",
        );
    }),
    ("W384", |b| {
        let value = "v".repeat(1024);
        text(
            b,
            &format!("{{ \"classname\" \"worldspawn\" \"k\" \"{value}\" }}"),
        );
    }),
    ("I385", |b| {
        let pairs = "\"k\" \"v\" ".repeat(65);
        text(b, &format!("{{ {pairs} }}"));
    }),
    ("I386", |b| text(b, "{ \"classname\" \"other\" }")),
    ("I387", |b| {
        text(b, "{ \"classname\" \"worldspawn\" \"Classname\" \"x\" }");
    }),
    ("W113", |b| replace(b, 15, &[1; 8 * 7])),
    ("I401", |b| set_length(b, 15, 0)),
    ("I402", |b| {
        let max = at(b, 7, 0, 12);
        put_f32(b, max, -400.0);
    }),
];

/// Those that the demo has, or has when its grids are damaged.
const DEMO_CASES: &[(&str, Damage)] = &[
    ("I403", |_| {}),
    ("I404", |_| {}),
    ("I405", |b| {
        let (grid, length) = (at(b, 15, 0, 0), get(b, 12 + 120));
        b[grid..grid + length].fill(0);
        b[grid..grid + 8].fill(9);
    }),
    ("I406", |b| {
        let grid = at(b, 15, 0, 0);
        b[grid..grid + 8].copy_from_slice(&[0, 0, 0, 9, 9, 9, 3, 3]);
    }),
    ("I407", |b| {
        let grid = at(b, 15, 0, 0);
        b[grid..grid + 8].copy_from_slice(&[1, 1, 1, 9, 9, 9, 3, 3]);
    }),
    ("I408", |b| {
        let grid = at(b, 15, 0, 0);
        b[grid..grid + 8].copy_from_slice(&[1, 1, 1, 9, 9, 9, 0, 0]);
    }),
    ("W411", |b| {
        let (grid, length) = (at(b, 15, 0, 0), get(b, 12 + 120));
        b[grid..grid + length].fill(0);
    }),
    // Every point lit: those under the lowest floors too.
    ("W114", |b| {
        let (grid, length) = (at(b, 15, 0, 0), get(b, 12 + 120));
        b[grid..grid + length].fill(50);
    }),
    ("I423", |_| {}),
    ("I424", |_| {}),
    ("W421", |b| {
        let grid = get(b, 8 + 144) + 40;
        put_f32(b, grid, f32::NAN);
    }),
    ("I422", |b| {
        let grid = get(b, 8 + 144) + 40;
        let end = get(b, 8 + 144) + get(b, 12 + 144);
        b[grid..end].fill(0);
    }),
    ("W371", |b| {
        let count = get(b, 8 + 144) + 36;
        put(b, count, 1);
    }),
    ("W372", |b| {
        let length = get(b, 12 + 8 * 17);
        assert_eq!(length, 0);
        set_length(b, 17, 1);
    }),
    ("W120", |b| {
        let materials = get(b, 12 + 8) / 72;
        for index in 0..materials {
            let name = at(b, 1, index, 0);
            b[name..name + 7].copy_from_slice(b"no/such");
        }
    }),
];

#[test]
fn every_code_fires_on_a_map_made_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("x.bsp");
    let mut fired = BTreeSet::new();
    let mut missed = Vec::new();
    for (base, cases) in [(PATCH, CASES), (DEMO, DEMO_CASES)] {
        for (code, damage) in cases {
            let mut bytes = base.to_vec();
            damage(&mut bytes);
            std::fs::write(&map, bytes).unwrap();
            let (exit, list) = findings(&map);
            let found = list.iter().find(|finding| finding["code"] == *code);
            match found {
                Some(finding) => {
                    let letter = finding["severity"].as_str().unwrap()[..1].to_uppercase();
                    assert!(code.starts_with(&letter), "{finding}");
                    fired.insert(*code);
                }
                None => missed.push(format!("{code}: {list:?}")),
            }
            let worst = list.iter().any(|finding| finding["severity"] == "error");
            let expected = match (&code[..2], worst) {
                ("E1", _) => Exit::Failed,
                (_, true) => Exit::Findings,
                (_, false) => Exit::Done,
            };
            assert_eq!(exit, expected, "{code} {list:?}");
        }
    }
    // A palette with fewer entries than the indices name.
    let mut bytes = styled(Layout::Rbsp);
    let length = get(&bytes, 12 + 8 * 15) - 30;
    set_length(&mut bytes, 15, length);
    std::fs::write(&map, bytes).unwrap();
    let (exit, list) = findings(&map);
    assert_eq!(exit, Exit::Done, "{list:?}");
    let found = list.iter().find(|finding| finding["code"] == "W412");
    assert_eq!(found.unwrap()["lump"], 17);
    fired.insert("W412");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    // W100 is for what has no code of its own: nothing today.
    let all = RULES
        .iter()
        .map(|rule| rule.code)
        .filter(|code| *code != "W100");
    assert_eq!(fired, all.collect::<BTreeSet<_>>());
}

/// The demo's neighbour in a layout with four styles.
fn styled(layout: Layout) -> Vec<u8> {
    map_builder::build(&read(POINT).unwrap(), layout, true)
}

/// What the undamaged maps have, so that a case of it proves nothing about its cause: floors over lit rooms, and counts of
/// points.
const OWN: &[(&[u8], &[&str])] = &[
    (PATCH, &["I401"]),
    (DEMO, &["I403", "I404", "I423", "I424", "W114"]),
];

#[test]
fn no_code_fires_without_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("x.bsp");
    for ((base, own), cases) in OWN.iter().zip([CASES, DEMO_CASES]) {
        std::fs::write(&map, base).unwrap();
        let (_, list) = findings(&map);
        let found: BTreeSet<&str> = list
            .iter()
            .map(|finding| finding["code"].as_str().unwrap())
            // The materials are not beside this copy.
            .filter(|code| *code != "W120")
            .collect();
        let cases: BTreeSet<&str> = cases.iter().map(|(code, _)| *code).collect();
        let both: Vec<&str> = found.intersection(&cases).copied().collect();
        assert_eq!(both, *own, "{found:?}");
        assert_eq!(
            found.contains("I401"),
            own.contains(&"I401"),
            "the demo has a grid"
        );
    }
    // The counts go when there is nothing to count: a room without walls and void around its points.
    let mut bytes = DEMO.to_vec();
    let clusters = get(&bytes, 12 + 8 * 4) / 48;
    for leaf in 0..clusters {
        let cluster = at(&bytes, 4, leaf, 0);
        put(&mut bytes, cluster, 0);
        put(&mut bytes, cluster + 44, 0);
    }
    // Nothing under the floors is lit.
    let (grid, length) = (at(&bytes, 15, 0, 0), get(&bytes, 12 + 120));
    bytes[grid..grid + length].fill(0);
    bytes[grid + length - 8..grid + length].fill(9);
    std::fs::write(&map, bytes).unwrap();
    let (_, list) = findings(&map);
    for code in ["I403", "I404", "I423", "I424", "W114"] {
        assert!(
            list.iter().all(|finding| finding["code"] != code),
            "{list:?}"
        );
    }
}

/// The reference compiler's maps of the other games, our own in every layout, and SH grids in a block: nothing but infos.
#[test]
fn sound_maps_of_every_layout_have_no_warning() {
    let folder = tempfile::tempdir().unwrap();
    let variants = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
    let mut maps: Vec<PathBuf> = ["et", "quakelive", "xonotic", "ja", "qfusion"]
        .iter()
        .map(|game| variants.join(format!("{game}.pk3/maps/m02_occluder.bsp")))
        .collect();
    for layout in Layout::ALL {
        let bytes = styled(layout);
        let path = folder.path().join(format!("{layout:?}.bsp"));
        std::fs::write(&path, &bytes).unwrap();
        maps.push(path);
        let grid = read(DEMO).unwrap().sh_grid;
        let lit = read(&bytes).unwrap().with_sh_grid(grid.as_ref());
        let path = folder.path().join(format!("{layout:?} with a block.bsp"));
        std::fs::write(&path, write_with(&lit, ShContainer::Bspx).bsp).unwrap();
        maps.push(path);
    }
    for path in maps {
        let (exit, list) = findings(&path);
        assert_eq!(exit, Exit::Done, "{}", path.display());
        for finding in list {
            let code = finding["code"].as_str().unwrap();
            let fits = code.starts_with('I') && !matches!(code, "I202" | "I206") || code == "W120";
            assert!(fits, "{}: {finding}", path.display());
        }
    }
}

#[test]
fn sound_maps_have_no_error_and_the_threshold_decides() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("x.bsp");
    for bytes in [DEMO, PATCH] {
        std::fs::write(&map, bytes).unwrap();
        let (exit, list) = findings(&map);
        assert_eq!(exit, Exit::Done, "{list:?}");
        // The materials are not beside this copy, and the demo's galleries have a room under them.
        let known = ["W114", "W120"];
        let mine = list
            .iter()
            .filter(|finding| !known.contains(&finding["code"].as_str().unwrap()));
        let bad: Vec<_> = mine
            .filter(|finding| finding["severity"] != "info")
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }
    let mut world_fog = PATCH.to_vec();
    replace(&mut world_fog, 12, &fogs(-1, -1, 2));
    std::fs::write(&map, world_fog).unwrap();
    let (exit, out, _) = check(&map, &[]);
    assert_eq!(exit, Exit::Done);
    assert!(
        out.contains(
            "warning W321  lump 12 (fogs), record 0: “fog” covers the whole world (2 times)\n"
        ),
        "{out}"
    );
    assert_eq!(check(&map, &["-fail-on", "warning"]).0, Exit::Findings);
}

#[test]
fn numbers_say_where_and_what() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("x.bsp");
    let mut bytes = PATCH.to_vec();
    let plane = at(&bytes, 9, 2, 0);
    put(&mut bytes, plane, 70_000);
    std::fs::write(&map, bytes).unwrap();
    let (_, list) = findings(&map);
    let finding = list
        .iter()
        .find(|finding| finding["code"] == "E291")
        .unwrap();
    assert_eq!(
        (&finding["lump"], &finding["index"]),
        (&json!(9), &json!(2))
    );
    assert_eq!(finding["numbers"]["found"], json!(70_000.0));
    assert_eq!(finding["numbers"]["min"], json!(0.0));
    assert_eq!(finding["numbers"]["offset"], json!(plane as f64));
}

/// All maps of both games by game and name.
fn real_maps() -> BTreeMap<String, PathBuf> {
    let mut maps = BTreeMap::new();
    let mut add = |game: &str, folder: &Path| {
        let found = openarena::maps(folder).into_iter();
        maps.extend(found.map(|(name, path)| (format!("{game}/{name}"), path)));
    };
    if let Some(folder) = openarena::folder() {
        add("oa", &folder);
    }
    if Path::new(NEXUIZ).join("data.pk3").is_file() {
        add("nx", Path::new(NEXUIZ));
    } else {
        eprintln!("skipped: no Nexuiz data");
    }
    maps
}

#[test]
fn real_maps_have_no_false_error() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let maps = real_maps();
    let mut by_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut errors = Vec::new();
    for (name, path) in &maps {
        let (exit, list) = findings(path);
        for finding in &list {
            let code = finding["code"].as_str().unwrap().to_owned();
            if finding["severity"] == "error" {
                errors.push(format!("{name}: {finding}"));
            }
            let names = by_code.entry(code).or_default();
            if names.last() != Some(name) {
                names.push(name.clone());
            }
        }
        assert_eq!(exit == Exit::Done, errors.is_empty());
    }
    for (code, names) in &by_code {
        println!(
            "{code}: {} maps, {}",
            names.len(),
            names[..names.len().min(6)].join(" ")
        );
    }
    println!("{} maps", maps.len());
    for (code, expected) in [
        ("I201", "nx/bloodprisonctf nx/evilspace nx/warfare"),
        ("I202", "nx/racetrack"),
        ("I402", "nx/racetrack nx/soylent oa/oa_dm3"),
        ("W321", "nx/ons-reborn nx/reslimed nx/silvercity"),
    ] {
        let expected = expected.split(' ').filter(|name| maps.contains_key(*name));
        let expected: Vec<&str> = expected.collect();
        let found = by_code.get(code).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{code}");
    }
    assert!(!by_code.contains_key("W113"));
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
