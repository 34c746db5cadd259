//! Maps taken apart into JSON and put together again.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "support/luxtool.rs"]
mod luxtool;
#[path = "support/map_builder.rs"]
mod map_builder;
#[path = "support/openarena.rs"]
mod openarena;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use luxgrid::format::bsp::{Bsp, Format, LumpKind, ShContainer, VariantLabel, read, write_with};
use luxgrid::format::json::{EXTRA_FILE, file_names, pack, unpack};
use luxgrid::vfs::{SearchOptions, open_map};
use luxtool::{luxtool, repository_file};
use map_builder::Layout;

const DEMO: &str = "assets/demo/maps/atrium.bsp";
const LIT: &str = "tests/data/micro/expected/m01_point.default.bsp";
const PATCH: &str = "tests/data/format/patch.bsp";

/// A folder in memory.
type Files = BTreeMap<String, Vec<u8>>;

/// A file of a folder in memory; what is written is there at once.
struct Slot(Rc<RefCell<Files>>, String);

impl Write for Slot {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut files = self.0.borrow_mut();
        files.get_mut(&self.1).unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn taken_apart(map: &[u8]) -> Files {
    let files = Rc::new(RefCell::new(Files::new()));
    unpack(map, &mut |name| {
        files.borrow_mut().insert(name.to_owned(), Vec::new());
        Ok(Box::new(Slot(Rc::clone(&files), name.to_owned())))
    })
    .unwrap();
    files.take()
}

fn put_together(files: &Files) -> Result<Vec<u8>, String> {
    put_together_as(None, files)
}

fn put_together_as(format: Option<Format>, files: &Files) -> Result<Vec<u8>, String> {
    pack(format, &mut |name| {
        let bytes = files.get(name).cloned();
        Ok(bytes.map(|bytes| Box::new(std::io::Cursor::new(bytes)) as Box<dyn Read>))
    })
    .map_err(|error| error.to_string())
}

fn without_extra(files: &Files) -> Files {
    let mut files = files.clone();
    files.remove(EXTRA_FILE).unwrap();
    files
}

/// The small maps of the repository.
fn small_maps() -> Vec<PathBuf> {
    let folders = [
        "assets/demo/maps",
        "tests/data/micro/maps",
        "tests/data/micro/expected",
        "tests/data/format",
        "tests/data/engine-shots",
    ];
    let mut maps: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(repository_file(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "bsp"))
        .collect();
    maps.sort();
    assert!(maps.len() >= 16, "{maps:?}");
    maps
}

/// Bytes of shaders and fogs without what is behind the names' NULs; NaN as JSON has it.
fn comparable(kind: LumpKind, lump: &[u8]) -> Vec<u8> {
    let mut lump = lump.to_vec();
    if matches!(kind, LumpKind::Shaders | LumpKind::Fogs) {
        for record in lump.chunks_exact_mut(72) {
            let end = record.iter().position(|byte| *byte == 0).unwrap();
            record[end..64].fill(0);
        }
    }
    if matches!(kind, LumpKind::DrawVerts | LumpKind::LightGridSh) {
        for number in lump.as_chunks_mut::<4>().0 {
            if f32::from_le_bytes(*number).is_nan() {
                *number = 0x7FC0_0000_u32.to_le_bytes();
            }
        }
    }
    lump
}

/// Maps of more bytes are taken apart once only, to save time.
const SMALL: usize = 250_000;

/// Identity with the extra file; without it equal lumps in `format`, or what the files tell; equal JSON the second time.
fn assert_identity(name: &str, map: &[u8], format: Option<Format>) {
    let files = taken_apart(map);
    let same = put_together(&files).unwrap();
    assert!(
        same == map,
        "{name}: {} and {} bytes",
        same.len(),
        map.len()
    );
    let plain = put_together_as(format, &without_extra(&files)).unwrap();
    let (old, new) = (read(map).unwrap(), read(&plain).unwrap());
    assert_eq!(old.directory.format(), new.directory.format(), "{name}");
    for kind in old.directory.kinds() {
        if !matches!(kind, LumpKind::Entities | LumpKind::Advertisements) {
            let [a, b] = [&old, &new].map(|bsp| comparable(kind, bsp.lump_bytes(kind)));
            assert!(a == b, "{name}: {kind:?}");
        }
    }
    assert_eq!(old.sh_grid, new.sh_grid, "{name}");
    assert_eq!(
        old.entities
            .list
            .iter()
            .map(|e| &e.pairs)
            .collect::<Vec<_>>(),
        new.entities
            .list
            .iter()
            .map(|e| &e.pairs)
            .collect::<Vec<_>>()
    );
    if map.len() > SMALL && !name.ends_with("atrium.bsp") {
        return;
    }
    let again = taken_apart(&plain);
    for (file, text) in without_extra(&files) {
        assert!(again[&file] == text, "{name}: {file}");
    }
}

#[test]
fn small_maps_come_back_byte_for_byte() {
    for path in small_maps() {
        let (name, map) = (path.display().to_string(), std::fs::read(&path).unwrap());
        if map.len() <= SMALL || name.ends_with("atrium.bsp") {
            assert_identity(&name, &map, None);
        } else {
            assert!(put_together(&taken_apart(&map)).unwrap() == map, "{name}");
        }
    }
}

/// One of the reference compiler's maps for the other games.
fn variant(game: &str, name: &str) -> Vec<u8> {
    let file = std::fs::File::open(repository_file(&format!("tests/data/variants/{game}.pk3")));
    let mut zip = zip::ZipArchive::new(file.unwrap()).unwrap();
    let mut map = Vec::new();
    let mut member = zip.by_name(&format!("maps/{name}.bsp")).unwrap();
    member.read_to_end(&mut map).unwrap();
    map
}

/// What is RBSP and FBSP shows without the extra file too.
#[test]
fn maps_of_every_game_come_back_byte_for_byte() {
    for game in ["quakelive", "et", "xonotic", "ja"] {
        for name in ["m02_occluder", "m11_styles"] {
            assert_identity(&format!("{game} {name}"), &variant(game, name), None);
        }
    }
    // A large page costs time: the second one is cut off.
    let mut map = variant("qfusion", "m11_styles");
    let length = 8 + 14 * 8 + 4;
    map[length..length + 4].copy_from_slice(&786_432_i32.to_le_bytes());
    assert_identity("qfusion m11_styles", &map, None);
}

fn edit(files: &mut Files, file: &str, from: &str, to: &str) {
    let text = String::from_utf8(files[file].clone()).unwrap();
    assert!(text.contains(from), "{file}: {from}");
    files.insert(file.to_owned(), text.replacen(from, to, 1).into_bytes());
}

#[test]
fn styles_are_edited_slot_by_slot() {
    let map = variant("ja", "m11_styles");
    let old = read(&map).unwrap();
    let files = taken_apart(&map);
    let mut edited = files.clone();
    edit(
        &mut edited,
        "DrawSurfaces.json",
        "\"lightmapStyles\": [0, 3, 255, 255]",
        "\"lightmapStyles\": [0, 3, 7, 255]",
    );
    let new = read(&put_together(&edited).unwrap()).unwrap();
    assert_eq!(new.surfaces[0].lightmap_styles, [0, 3, 7, 255]);
    assert_eq!(new.surfaces[1], old.surfaces[1]);
    for kind in old.directory.kinds() {
        let same = new.lump_bytes(kind) == old.lump_bytes(kind);
        assert_eq!(same, kind != LumpKind::Surfaces, "{kind:?}");
    }
    // One file says palette and indices: a point that becomes its neighbour shifts both.
    let mut edited = files.clone();
    let text = String::from_utf8(files["GridPoints.json"].clone()).unwrap();
    let start = text.find("\"GridPoint#1\": ").unwrap() + "\"GridPoint#1\": ".len();
    let end = start + text[start..].find('}').unwrap() + 1;
    let moved = text[..start].rfind('{').unwrap();
    let first = text[moved..].find('}').unwrap() + moved + 1;
    let text = [&text[..start], &text[moved..first], &text[end..]].concat();
    edited.insert("GridPoints.json".to_owned(), text.into_bytes());
    let new = read(&put_together(&edited).unwrap()).unwrap();
    let [old, new] = [&old, &new].map(|bsp| bsp.styled_grid.clone().unwrap());
    assert_eq!(new.point(0), old.point(0));
    assert_eq!(new.point(1), old.point(0));
    for index in 2..old.indices.len() {
        assert_eq!(new.point(index), old.point(index), "{index}");
    }
}

/// A palette in another order with an unused and a doubled entry, and indices past its end.
#[test]
fn an_unusual_palette_comes_back_byte_for_byte() {
    let mut map = variant("ja", "m11_styles");
    let bsp = read(&map).unwrap();
    let [palette, indices] = [LumpKind::LightGrid, LumpKind::LightGridArray]
        .map(|kind| bsp.directory.entry(kind).range());
    map.copy_within(palette.start..palette.start + 30, palette.start + 60);
    map[indices.start..indices.start + 2].copy_from_slice(&9_u16.to_le_bytes());
    map[indices.start + 18..indices.start + 20].copy_from_slice(&0_u16.to_le_bytes());
    map[indices.start + 8..indices.start + 10].copy_from_slice(&0xFFFF_u16.to_le_bytes());
    let files = taken_apart(&map);
    assert!(put_together(&files).unwrap() == map);
    // Reordered, but no point changes; the missing one has no light.
    let plain = read(&put_together(&without_extra(&files)).unwrap()).unwrap();
    let [old, new] = [&read(&map).unwrap(), &plain].map(|bsp| bsp.light_grid.clone());
    assert_eq!(old, new);
    assert_eq!(plain.styled_grid.unwrap().missing(), 0);
    // An edit that changes the palette alone must not bring the old indices back.
    let mut edited = files.clone();
    edit(
        &mut edited,
        "GridPoints.json",
        "\"latLong\": [",
        "\"latLong\": [77, 78], \"was\": [",
    );
    let new = read(&put_together(&edited).unwrap()).unwrap().light_grid;
    assert_eq!((new[0].zenith, new[0].azimuth), (77, 78));
    assert_eq!(new[1..], old[1..]);
}

#[test]
fn a_format_is_told_or_given() {
    let source = lit_source();
    let rbsp = map_builder::build(&source, Layout::Rbsp, true);
    let files = taken_apart(&rbsp);
    let plain = without_extra(&files);
    let kind = |bytes: Vec<u8>| read(&bytes).unwrap().directory.variant.label;
    // One style everywhere and no brush side with a surface: nothing tells, so it is IBSP; slots that it has not go.
    let ibsp = put_together(&plain).unwrap();
    let lumps = read(&ibsp).unwrap();
    for kind in [LumpKind::DrawVerts, LumpKind::Surfaces, LumpKind::LightGrid] {
        assert!(
            lumps.lump_bytes(kind) == source.lump_bytes(kind),
            "{kind:?}"
        );
    }
    assert_eq!(kind(ibsp), VariantLabel::Quake3);
    let raven = put_together_as(Some(Format::Rbsp), &plain).unwrap();
    assert_eq!(kind(raven), VariantLabel::Raven);
    let mut styled = plain.clone();
    edit(
        &mut styled,
        "BrushSides.json",
        "\"surfaceNum\": -1",
        "\"surfaceNum\": 0",
    );
    assert_eq!(kind(put_together(&styled).unwrap()), VariantLabel::Raven);
    // What IBSP does not store may be missing; and then says what IBSP says.
    let mut shorter = plain.clone();
    edit(
        &mut shorter,
        "BrushSides.json",
        ",\n        \"surfaceNum\": -1",
        "",
    );
    assert!(
        put_together_as(Some(Format::Rbsp), &shorter)
            == put_together_as(Some(Format::Rbsp), &plain)
    );
    assert_eq!(put_together(&shorter), put_together(&plain));
    // The extra file knows.
    assert!(put_together_as(Some(Format::Rbsp), &files).unwrap() == rbsp);
    let refused = put_together_as(Some(Format::Ibsp), &files).unwrap_err();
    assert!(refused.contains("the map was RBSP, not IBSP"), "{refused}");
    // Foliage needs version 47.
    let foliage = taken_apart(&map_builder::build(&source, Layout::EnemyTerritory, true));
    let foliage = put_together(&without_extra(&foliage)).unwrap();
    assert_eq!(kind(foliage), VariantLabel::WolfEt);
}

/// The grid in the block of extra lumps is edited, taken out and put in like lump 18; foreign lumps and a tail stay.
#[test]
fn an_sh_grid_in_the_block_is_edited() {
    let source = lit_source();
    let demo = read(&std::fs::read(repository_file(DEMO)).unwrap()).unwrap();
    let mut grid = demo.sh_grid.clone().unwrap();
    grid.lattice.counts = glam::UVec3::ONE;
    std::sync::Arc::make_mut(&mut grid.points).truncate(1);
    for layout in [Layout::Ibsp17, Layout::Rbsp] {
        let mut bytes = map_builder::build(&source, layout, true);
        let dark = bytes.clone();
        let start = bytes.len() as i32;
        bytes.extend_from_slice(b"BSPX\x01\0\0\0RGBLIGHTING\0\0\0\0\0\0\0\0\0\0\0\0\0");
        bytes.extend((start + 40).to_le_bytes());
        bytes.extend(5_i32.to_le_bytes());
        bytes.extend_from_slice(b"light\0\0\0a tail");
        let old = read(&bytes).unwrap().with_sh_grid(Some(&grid));
        let map = write_with(&old, ShContainer::Bspx).bsp;
        let files = taken_apart(&map);
        assert!(put_together(&files).unwrap() == map);
        let foreign = |bytes: &[u8]| {
            let bsp = read(bytes).unwrap();
            assert_eq!(bsp.warnings, []);
            let block = bsp.directory.bspx.clone().unwrap();
            assert!(block.range.start.is_multiple_of(4));
            assert_eq!(&bytes[block.entries[0].entry.range()], b"light");
            assert!(bytes.ends_with(b"a tail"));
            (bsp, block.entries.len())
        };
        // Another lump grows: the block moves.
        let mut edited = files.clone();
        edit(
            &mut edited,
            "entities.json",
            "\"worldspawn\"",
            "\"worldspawn of another length\"",
        );
        let (bsp, entries) = foreign(&put_together(&edited).unwrap());
        assert_eq!((bsp.sh_grid, entries), (Some(grid.clone()), 2));
        // The grid grows.
        let text = r#"{ "header": { "gridMins": [0, 0, 0], "gridSize": [8, 8, 8], "gridBounds": [2, 1, 1] }, "points": [P, P] }"#;
        let point = format!("[{}]", ["[1.5, 2, 3]"; 9].join(", "));
        let text = text.replace('P', &point).into_bytes();
        edited.insert("GridPointsSH.json".to_owned(), text.clone());
        let (bsp, entries) = foreign(&put_together(&edited).unwrap());
        assert_eq!(*bsp.sh_grid.unwrap().points, [[[1.5, 2.0, 3.0]; 9]; 2]);
        assert_eq!((bsp.sh_container, entries), (Some(ShContainer::Bspx), 2));
        assert_eq!(bsp.directory.entry_count, old.directory.entry_count);
        // It goes.
        let mut without = files.clone();
        without.remove("GridPointsSH.json").unwrap();
        let (bsp, entries) = foreign(&put_together(&without).unwrap());
        assert_eq!((bsp.sh_grid, entries), (None, 1));
        // It comes into a map that had none.
        let mut lit = taken_apart(&dark);
        lit.insert("GridPointsSH.json".to_owned(), text);
        let bsp = read(&put_together(&lit).unwrap()).unwrap();
        assert_eq!(bsp.sh_grid.unwrap().points.len(), 2);
        let expected = match layout {
            Layout::Rbsp => ShContainer::Bspx,
            _ => ShContainer::V47,
        };
        assert_eq!(bsp.sh_container, Some(expected));
    }
}

/// A small lit map without its lightmap pages, which only cost time.
fn lit_source() -> Bsp {
    let mut bytes = std::fs::read(repository_file(LIT)).unwrap();
    let length = 8 + 14 * 8 + 4;
    bytes[length..length + 4].fill(0);
    let source = read(&bytes).unwrap();
    assert!(source.light_grid.len() > 100);
    source
}

/// Our own maps in all seven layouts, with the SH grid in each place, in the layouts that need telling told.
#[test]
fn every_layout_comes_back_byte_for_byte() {
    let source = lit_source();
    let grid = read(&std::fs::read(repository_file(DEMO)).unwrap()).unwrap();
    for layout in Layout::ALL {
        let bytes = map_builder::build(&source, layout, true);
        let format = read(&bytes).unwrap().directory.format();
        assert_identity(&format!("{layout:?}"), &bytes, Some(format));
        let lit = read(&bytes).unwrap().with_sh_grid(grid.sh_grid.as_ref());
        let in_block = write_with(&lit, ShContainer::Bspx).bsp;
        assert_identity(&format!("{layout:?} with a block"), &in_block, Some(format));
    }
}

/// Trailing bytes, odd offsets, garbage behind names, a cut record, no NUL: what only the extra file can keep.
#[test]
fn what_json_cannot_hold_comes_back_too() {
    let old = std::fs::read(repository_file(PATCH)).unwrap();
    let bsp = read(&old).unwrap();
    let mut map = old.clone();
    let shaders = bsp.directory.entry(LumpKind::Shaders);
    map[shaders.offset + 60..shaders.offset + 64].copy_from_slice(b"\0xyz");
    let verts = bsp.directory.entry(LumpKind::DrawVerts);
    map[verts.offset + 20..verts.offset + 24].copy_from_slice(&[255; 4]);
    // The entity lump again, at an odd offset at the end, without a NUL and with a Latin-1 byte; then a tail.
    let text = b"{ \"classname\" \"worldspawn\" \"m\" \"caf\xe9\" } // note";
    map.push(7);
    let at = map.len() as i32;
    map.extend_from_slice(text);
    map.extend_from_slice(b"tail");
    map[8..12].copy_from_slice(&at.to_le_bytes());
    map[12..16].copy_from_slice(&(text.len() as i32).to_le_bytes());
    // Half a fog.
    let fogs = 8 + 12 * 8;
    map[fogs..fogs + 4].copy_from_slice(&(at + 3).to_le_bytes());
    map[fogs + 4..fogs + 8].copy_from_slice(&36_i32.to_le_bytes());
    let files = taken_apart(&map);
    assert!(put_together(&files).unwrap() == map);
    let entities = std::str::from_utf8(&files["entities.json"]).unwrap();
    assert!(entities.contains("café"), "{entities}");
}

#[test]
fn an_edited_file_replaces_its_lump_and_nothing_else() {
    let map = std::fs::read(repository_file(DEMO)).unwrap();
    let old = read(&map).unwrap();
    let untouched = taken_apart(&map);
    for (file, from, to, kind) in [
        (
            "entities.json",
            "\"worldspawn\"",
            "\"worldspawn \"",
            LumpKind::Entities,
        ),
        (
            "GridPoints.json",
            "\"latLong\": [",
            "\"latLong\": [ /* same length */ 1, 2], \"x\": [",
            LumpKind::LightGrid,
        ),
    ] {
        let mut files = untouched.clone();
        let text = String::from_utf8(files[file].clone()).unwrap();
        files.insert(file.to_owned(), text.replacen(from, to, 1).into_bytes());
        let new = put_together(&files).unwrap();
        let bsp = read(&new).unwrap();
        assert_eq!(bsp.directory.entry_count, old.directory.entry_count);
        assert_eq!(
            bsp.directory.marker.clone().map(|range| &new[range]),
            old.directory.marker.clone().map(|range| &map[range])
        );
        for other in LumpKind::ALL {
            let same = bsp.lump_bytes(other) == old.lump_bytes(other);
            assert_eq!(same, other != kind, "{file}: {other:?}");
            let entries = [&bsp, &old].map(|bsp| bsp.directory.entry(other));
            assert_eq!(
                entries[0].offset % 4,
                entries[1].offset % 4,
                "{file}: {other:?}"
            );
        }
    }
    let mut files = untouched.clone();
    files.remove("GridPointsSH.json").unwrap();
    let without = read(&put_together(&files).unwrap()).unwrap();
    assert_eq!(
        (
            without.directory.variant.version,
            without.directory.entry_count
        ),
        (46, 17)
    );
    assert!(without.sh_grid.is_none());
    assert_eq!(without.light_grid, old.light_grid);
}

#[test]
fn reformatted_files_are_not_edited_files() {
    let map = std::fs::read(repository_file(PATCH)).unwrap();
    let mut files = taken_apart(&map);
    for (name, text) in &mut files {
        if name != EXTRA_FILE {
            let compact = String::from_utf8(text.clone())
                .unwrap()
                .replace("\n    ", "\r\n\t");
            *text = format!("// by hand\n{compact}\n").into_bytes();
        }
    }
    assert!(put_together(&files).unwrap() == map);
}

/// What q3map2's own reader takes: any keys outside, any order inside, comments, trailing commas, no extra file.
#[test]
fn foreign_json_is_read_by_order_and_names() {
    let map = std::fs::read(repository_file(PATCH)).unwrap();
    let mut files = without_extra(&taken_apart(&map));
    let replace = |files: &mut Files, file: &str, text: &str| {
        files
            .insert(file.to_owned(), text.as_bytes().to_vec())
            .unwrap();
    };
    replace(
        &mut files,
        "fogs.json",
        r#"{ "same": { "visibleSide": -1, "brushNum": 0x0, }, }"#,
    );
    assert!(put_together(&files).unwrap_err().contains("0x0"));
    replace(
        &mut files,
        "fogs.json",
        r#"/* two */ { "same": { "visibleSide": -1, "brushNum": 0, "shader": "a", "shader": "b", "more": [{}] }, "same": { "shader": "c", "brushNum": -1, "visibleSide": 2 }, }"#,
    );
    let lumps = [LumpKind::Fogs, LumpKind::Shaders];
    replace(
        &mut files,
        "shaders.json",
        r#"{ "": { "shader": "x", "surfaceFlags": { "sky": "0x4", "?": "16", "?": "040" }, "contentFlags": {} } }"#,
    );
    let bsp = read(&put_together(&files).unwrap()).unwrap();
    let [fogs, shaders] = lumps.map(|kind| bsp.lump_bytes(kind).to_vec());
    assert_eq!((fogs.len(), fogs[0], fogs[72]), (144, b'a', b'c'));
    assert_eq!(bsp.shaders[0].surface_flags, 4 | 16 | 32);
    assert_eq!(shaders.len(), 72);
}

#[test]
fn malformed_files_are_refused_with_their_place() {
    for map in [
        std::fs::read(repository_file(PATCH)).unwrap(),
        variant("ja", "m11_styles"),
    ] {
        malformed_files_of(&map);
    }
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn malformed_files_of(map: &[u8]) {
    let mut files = taken_apart(map);
    let deep = format!("{{ \"a\": {{ \"x\": {} }} }}", "[".repeat(10_000));
    let long = format!(
        r#"{{ "f": {{ "shader": "{}", "brushNum": 0, "visibleSide": 0 }} }}"#,
        "n".repeat(64)
    );
    let sh = |counts: &str, points: &str| {
        format!(
            r#"{{ "header": {{ "gridMins": [0, 0, 0], "gridSize": [1, 1, 1], "gridBounds": {counts} }}, "points": [{points}] }}"#
        )
    };
    let point = format!("[{}]", ["[0.0, NaN, -Infinity]"; 9].join(", "));
    let eight = format!("[{}]", ["[0, 0, 0]"; 8].join(", "));
    let surface = |styles: &str, pages: &str| {
        format!(
            r#"{{ "s": {{ "shaderNum": 0, "lightmapStyles": {styles}, "lightmapNum": {pages} }} }}"#
        )
    };
    let vert = r#"{ "v": { "xyz": [0, 0, 0], "st": [0, 0], "lightmap": [[0, 0], [0, 0], [0, 0]], "normal": [0, 0, 1], "color": [] } }"#;
    files.insert(
        "GridPointsSH.json".to_owned(),
        sh("[1, 1, 1]", &point).into_bytes(),
    );
    assert!(put_together(&files).is_ok());
    for (file, text, message) in [
        (
            "Brushes.json",
            r#"{ "b": { "firstSide": 0, "numSides": 6 } }"#,
            "Brushes.json, line 1, b: member “shaderNum” is missing",
        ),
        (
            "Brushes.json",
            r#"{ "b": { "firstSide": 0, "numSides": "6", "shaderNum": 0 } }"#,
            "Brushes.json, line 1, b/numSides: expected a number, found “\\\"”",
        ),
        (
            "Brushes.json",
            r#"{ "b": { "firstSide": 2147483648, "numSides": 6, "shaderNum": 0 } }"#,
            "2147483648 is no whole number from -2147483648 to 2147483647",
        ),
        (
            "Brushes.json",
            r#"{ "b": { "firstSide": 1.5, "numSides": 6, "shaderNum": 0 } }"#,
            "1.5 is no whole number",
        ),
        (
            "LightBytes.json",
            "{\n\"l\": { \"Num\": 256 } }",
            "LightBytes.json, line 2, l/Num: 256 is no whole number from 0 to 255",
        ),
        (
            "VisBytes.json",
            r#"{ "l": { "Num": -1 } }"#,
            "VisBytes.json, line 1, l/Num: -1",
        ),
        (
            "VisBytes.json",
            "",
            "VisBytes.json, line 1: expected “{”, found the end of the file",
        ),
        ("VisBytes.json", "{} {}", "“{” behind the end"),
        (
            "VisBytes.json",
            r#"{ "l": { "Num": 1 }"#,
            "expected “,” or “}”, found the end of the file",
        ),
        (
            "planes.json",
            r#"{ "p": [0, 0, 1] }"#,
            "planes.json, line 1, p: 3 elements, expected 4",
        ),
        (
            "planes.json",
            r#"{ "p": [0, 0, 1, 2, 3] }"#,
            "planes.json, line 1, p/[4]: more than 4 elements",
        ),
        (
            "planes.json",
            r#"{ "p": [0, 0, 1e39, 2] }"#,
            "p/[2]: 1e39 is too large for a 32-bit float",
        ),
        (
            "nodes.json",
            r#"{ "n": { "planeNum": 0, "children": [1, 2], "minmax": { "mins": [0, 0, 0] } } }"#,
            "nodes.json, line 1, n/minmax: “mins” or “maxs” is missing",
        ),
        (
            "DrawVert.json",
            vert,
            "DrawVert.json, line 1, v/lightmap: 3 elements, expected 4",
        ),
        (
            "DrawSurfaces.json",
            &surface("[0, 256, 255, 255]", "[0, -3, -3, -3]"),
            "DrawSurfaces.json, line 1, s/lightmapStyles/[1]: 256 is no whole number from 0 to 255",
        ),
        (
            "DrawSurfaces.json",
            &surface("[0, 255, 255, 255]", "0"),
            "DrawSurfaces.json, line 1, s/lightmapNum: expected “[”",
        ),
        (
            "GridPoints.json",
            r#"{ "g": { "ambient": [[1, 2, 3]], "directed": [] } }"#,
            "GridPoints.json, line 1, g/ambient: 1 elements, expected 4",
        ),
        (
            "fogs.json",
            &long,
            "fogs.json, line 1, f/shader: a name of 64 bytes, at most 63",
        ),
        (
            "shaders.json",
            r#"{ "s": { "shader": "x", "surfaceFlags": { "sky": "0xg" }, "contentFlags": {} } }"#,
            "s/surfaceFlags/sky: “0xg” is no 32-bit number",
        ),
        (
            "entities.json",
            r#"{ "e": { "KeyValue": ["a\"b", "c"] } }"#,
            "e/KeyValue/[0]: a key or value must not hold a quote",
        ),
        (
            "entities.json",
            r#"{ "e": { "KeyValue": ["a"] } }"#,
            "e/KeyValue: 1 elements, expected 2",
        ),
        ("models.json", &deep, "nested deeper than 16"),
        (
            "GridPointsSH.json",
            &sh("[2, 1, 1]", &point),
            "GridPointsSH.json, line 1: 1 points, gridBounds 2×1×1 need another number",
        ),
        (
            "GridPointsSH.json",
            &sh("[65536, 65536, 2147483647]", &point),
            "1 points, gridBounds",
        ),
        (
            "GridPointsSH.json",
            &sh("[0, 1, 1]", &point),
            "header/gridBounds/[0]: 0 is no whole number from 1",
        ),
        (
            "GridPointsSH.json",
            &sh("[1, 1, 1]", &eight),
            "points/[0]: 8 elements, expected 9",
        ),
        (
            "GridPointsSH.json",
            &format!(r#"{{ "points": [{point}] }}"#),
            "“header” is missing",
        ),
        (EXTRA_FILE, "{}", "luxgrid.json, line 1: missing field"),
        (
            EXTRA_FILE,
            r#"{ "schema": "x", "ident": "IBSP", "version": 46, "directory": [], "layout": [], "lumps": [] }"#,
            "schema “x”",
        ),
        (
            EXTRA_FILE,
            r#"{ "schema": "luxgrid/unpack/1", "ident": "IBSP", "version": 46, "directory": [], "layout": [{ "at": 999999999999 }], "lumps": [] }"#,
            "the layout has a hole before byte 999999999999",
        ),
        (
            EXTRA_FILE,
            r#"{ "schema": "luxgrid/unpack/1", "ident": "VBSP", "version": 20, "directory": [], "layout": [], "lumps": [] }"#,
            "the kind VBSP",
        ),
    ] {
        let mut files = files.clone();
        files.insert(file.to_owned(), text.as_bytes().to_vec());
        let found = put_together(&files).expect_err(text);
        assert!(found.contains(message), "{file}\n{found}\n{message}");
    }
    for file in file_names() {
        let mut fewer = files.clone();
        fewer.remove(file).unwrap();
        let optional = matches!(file, "GridPointsSH.json" | "luxgrid.json");
        assert_eq!(put_together(&fewer).is_ok(), optional, "{file}");
    }
}

/// Every cut of a file is an error, none a panic; and so are seeded changes of single bytes, or they are legal.
#[test]
fn damaged_files_never_panic() {
    damage(&std::fs::read(repository_file(PATCH)).unwrap());
    damage(&variant("ja", "m11_styles"));
}

fn damage(map: &[u8]) {
    let mut files = taken_apart(map);
    // The big files only cost time.
    files.insert("LightBytes.json".to_owned(), b"{}".to_vec());
    files.insert("VisBytes.json".to_owned(), b"{}".to_vec());
    assert!(put_together(&files).is_ok());
    for (name, text) in &files {
        for part in 0..7_usize {
            let mut damaged = files.clone();
            let cut = text.len() * part / 7;
            damaged.insert(name.clone(), text[..cut].to_vec());
            assert!(put_together(&damaged).is_err(), "{name} cut at {cut}");
            let mut text = text.clone();
            let bytes = b"\0{}[],:\"-9eN/\xff";
            let at = text.len() * part / 7;
            if let Some(byte) = text.get_mut(at) {
                *byte = bytes[part % bytes.len()];
            }
            damaged.insert(name.clone(), text);
            let _ = put_together(&damaged);
        }
    }
}

/// The four maps that the reference compiler's own round trip was tried on, and the odd ones.
#[test]
fn real_maps_come_back_byte_for_byte() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let Some(folder) = openarena::folder() else {
        return;
    };
    let maps = openarena::maps(&folder);
    for name in [
        "oa_dm1",
        "kaos",
        "oa_dm3",
        "q3dm6ish",
        "cbctf1",
        "oacmpdm4",
        "aggressor",
    ] {
        let Some(path) = maps.get(name) else {
            eprintln!("{name}: not there");
            continue;
        };
        let map = open_map(path, &SearchOptions::default()).unwrap().bytes;
        let started = Instant::now();
        assert_identity(name, &map, None);
        println!(
            "{name}: {} bytes, {:.1} s",
            map.len(),
            started.elapsed().as_secs_f64()
        );
    }
}

#[test]
fn the_tool_takes_apart_and_puts_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (parts, target) = (path("parts"), path("new.bsp"));
    let demo = repository_file(DEMO);
    let run = luxtool(&["unpack", &demo, &parts]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(
        std::fs::read_dir(&parts).unwrap().count(),
        file_names().count()
    );
    let run = luxtool(&["pack", &parts, &target]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(std::fs::read(&target).unwrap() == std::fs::read(&demo).unwrap());
    assert!(run.out.is_empty() && run.err.contains("bytes written to"));
    let checked = luxtool(&["check", &target, "--json"]).json();
    assert_eq!(checked["counts"]["error"], 0);

    // A folder with something in it is not touched unless it is said; then the old files go.
    std::fs::write(Path::new(&parts).join("shaders.json"), "old").unwrap();
    std::fs::write(Path::new(&parts).join("mine.txt"), "mine").unwrap();
    let small = repository_file(PATCH);
    let run = luxtool(&["unpack", &small, &parts]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--force"), "{}", run.err);
    assert_eq!(
        std::fs::read(Path::new(&parts).join("shaders.json")).unwrap(),
        b"old"
    );
    assert_eq!(luxtool(&["unpack", &small, &parts, "-force"]).code, 0);
    assert!(!Path::new(&parts).join("GridPointsSH.json").exists());
    assert_eq!(
        std::fs::read(Path::new(&parts).join("mine.txt")).unwrap(),
        b"mine"
    );
    assert_eq!(luxtool(&["pack", &parts, &target]).code, 0);
    assert!(std::fs::read(&target).unwrap() == std::fs::read(&small).unwrap());
    // Nothing else was left beside the folder, and an empty one is as good as none.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    std::fs::create_dir(path("empty")).unwrap();
    assert_eq!(luxtool(&["unpack", &small, &path("empty")]).code, 0);

    // A mistake leaves the old map.
    std::fs::write(Path::new(&parts).join("fogs.json"), "{").unwrap();
    let run = luxtool(&["pack", &parts, &target]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("fogs.json, line 1"), "{}", run.err);
    assert!(std::fs::read(&target).unwrap() == std::fs::read(&small).unwrap());
    assert_eq!(luxtool(&["pack", &path("none"), &target]).code, 2);
    assert_eq!(
        luxtool(&["unpack", &repository_file("Cargo.toml"), &path("no")]).code,
        2
    );
    assert!(!Path::new(&path("no")).exists());
}
