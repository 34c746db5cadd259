//! Where light entities come from: the BSP, the `.map` or `.ent` beside it, or a chosen file of either kind.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "support/luxtool.rs"]
mod luxtool;

use std::fs;
use std::path::{Path, PathBuf};

use luxgrid::format::bsp::{read, write};
use luxgrid::format::entities::{Entities, Entity};
use luxtool::{luxtool, repository_file};
use serde_json::Value;

/// The micro map whose lights the BSP no longer holds, with what lies beside it left behind.
fn map_in(folder: &Path) -> PathBuf {
    let source = repository_file("tests/data/micro/maps/m02_occluder.bsp");
    let target = folder.join("m.bsp");
    fs::copy(source, &target).unwrap();
    target
}

fn source_text() -> Vec<u8> {
    fs::read(repository_file("tests/data/micro/maps/m02_occluder.map")).unwrap()
}

/// The lights of the micro map as an entity lump has them.
fn entity_text() -> String {
    let entities = Entities::parse_map(&source_text());
    let lights = entities.list.iter().filter(|entity| entity.is_light());
    let text = |entity: &Entity| {
        let pairs = entity.pairs.iter();
        let pairs: Vec<String> = pairs
            .map(|(key, value)| format!("\"{key}\" \"{value}\"\n"))
            .collect();
        format!("{{\n{}}}\n", pairs.concat())
    };
    format!(
        "{{\n\"classname\" \"worldspawn\"\n}}\n{}",
        lights.map(text).collect::<String>()
    )
}

/// The file with another entity text, behind its end.
fn with_entities(mut bytes: Vec<u8>, text: &str) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    for (at, value) in [(8, bytes.len()), (12, text.len())] {
        let value = u32::try_from(value).unwrap().to_le_bytes();
        bytes[at..at + 4].copy_from_slice(&value);
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// Bakes and returns the report and the file.
fn bake(map: &Path, more: &[&str]) -> (Value, Vec<u8>) {
    let target = map.with_file_name("out.bsp");
    let mut args = vec!["bake", map.to_str().unwrap(), "-json", "-progress", "off"];
    args.extend(["-o", target.to_str().unwrap()]);
    args.extend(more);
    let run = luxtool(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    (run.json(), fs::read(target).unwrap())
}

/// Light entities of the BSP, the `.map` and the `.ent`.
fn counts(report: &Value) -> [u64; 3] {
    ["bsp_entities", "map_entities", "ent_entities"]
        .map(|name| report["plan"]["lights"][name].as_u64().unwrap())
}

fn warnings(report: &Value) -> String {
    report["warnings"].to_string()
}

#[test]
fn an_ent_gives_what_the_map_gives_beside_the_bsp_and_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let map = map_in(folder.path());
    let (source, ent) = (map.with_extension("map"), map.with_extension("ent"));
    fs::write(&source, source_text()).unwrap();
    fs::write(&ent, entity_text()).unwrap();
    // The .map goes first.
    let (report, expected) = bake(&map, &[]);
    let [_, lights, _] = counts(&report);
    assert!(lights > 0);
    assert_eq!(counts(&report), [0, lights, 0]);
    let named = report["plan"]["light_file"].as_str().unwrap();
    assert!(named.ends_with("m.map"), "{named}");

    let (report, baked) = bake(&map, &["--lights", ent.to_str().unwrap()]);
    assert_eq!(counts(&report), [0, 0, lights]);
    assert!(baked == expected);

    fs::remove_file(&source).unwrap();
    let (report, baked) = bake(&map, &[]);
    assert_eq!(counts(&report), [0, 0, lights]);
    let named = report["plan"]["light_file"].as_str().unwrap();
    assert!(named.ends_with("m.ent"), "{named}");
    assert!(baked == expected);

    let info = luxtool(&["info", map.to_str().unwrap(), "-json"]).json();
    assert_eq!(info["lights"]["ent_entities"], lights);
    let named = info["lights"]["light_file"].as_str().unwrap();
    assert!(named.ends_with("m.ent"), "{named}");
    let asset = |asset: &Value| asset["kind"] == "entity file";
    assert!(info["assets"].as_array().unwrap().iter().any(asset));
}

/// A compiler that keeps lights leaves the same in its BSP as in an `.ent` made of it.
#[test]
fn an_ent_beside_a_bsp_with_lights_is_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let map = map_in(folder.path());
    let text = entity_text();
    let kept = with_entities(fs::read(&map).unwrap(), &text);
    fs::write(&map, kept).unwrap();
    let (report, alone) = bake(&map, &[]);
    let [lights, _, _] = counts(&report);
    assert!(lights > 0);

    let ent = map.with_extension("ent");
    fs::write(&ent, &text).unwrap();
    let (report, baked) = bake(&map, &[]);
    assert_eq!(counts(&report), [lights, 0, 0]);
    assert_eq!(report["plan"]["light_file"], Value::Null);
    assert!(baked == alone);
    assert!(!warnings(&report).contains("W154"));

    // A chosen file is added whatever the BSP holds; copies are named.
    let (report, baked) = bake(&map, &["--lights", ent.to_str().unwrap()]);
    assert_eq!(counts(&report), [lights, 0, lights]);
    assert!(baked != alone);
    let text = warnings(&report);
    assert!(
        text.contains("W154") && text.contains(&format!("{lights} lights")),
        "{text}"
    );

    // So is a .map beside it, as the reference compiler does, unless worldspawn says that the BSP's are all.
    fs::remove_file(&ent).unwrap();
    fs::write(map.with_extension("map"), source_text()).unwrap();
    let (report, twice) = bake(&map, &[]);
    assert_eq!(counts(&report), [lights, lights, 0]);
    assert!(twice == baked && warnings(&report).contains("W154"));
    let kept = read(&fs::read(&map).unwrap()).unwrap();
    fs::write(&map, write(&kept.with_worldspawn_key("_keepLights", "1"))).unwrap();
    let (report, _) = bake(&map, &[]);
    assert_eq!(counts(&report), [lights, 0, 0]);
}

#[test]
fn an_ent_without_lights_is_refused_when_it_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let map = map_in(folder.path());
    let ent = folder.path().join("none.ent");
    fs::write(&ent, "{ \"classname\" \"worldspawn\" }").unwrap();
    let run = luxtool(&[
        "bake",
        map.to_str().unwrap(),
        "-dry-run",
        "--lights",
        ent.to_str().unwrap(),
    ]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("none.ent holds no light"), "{}", run.err);
}
