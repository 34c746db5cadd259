//! The search path: which of several files wins, what cannot be searched, and where everything in a scene came from.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; their own are allowed by clippy.toml"
)]

#[path = "support/luxtool.rs"]
mod luxtool;
#[path = "support/zip_builder.rs"]
mod zip_builder;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use luxgrid::job::JobContext;
use luxgrid::scene::{AssetKind, build};
use luxgrid::vfs::{Engine, OpenedMap, SearchOptions, VfsError, open_map};

use luxtool::{luxtool, repository_file};
use zip_builder::{ENCRYPTED, Member, archive};

/// A folder tree of text files; a name with `.pk3:` in it is a member of that archive.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let mut archives: BTreeMap<PathBuf, Vec<Member>> = BTreeMap::new();
    for (name, text) in files {
        if let Some((archive, member)) = name.split_once(':') {
            let members = archives.entry(root.path().join(archive)).or_default();
            members.push(Member::stored(member, text.as_bytes()));
        } else {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    for (path, members) in archives {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, archive(&members)).unwrap();
    }
    root
}

fn text_of(opened: &OpenedMap, name: &str) -> String {
    opened.vfs.read(name).map_or_else(
        |error| error.to_string(),
        |file| String::from_utf8(file.bytes).unwrap(),
    )
}

#[test]
fn the_engine_says_whether_loose_files_or_archives_come_first() {
    let root = tree(&[
        ("baseq3/maps/x.bsp", ""),
        ("baseq3/a.txt", "loose"),
        ("baseq3/pak0.pk3:a.txt", "pak0"),
        ("baseq3/pak0.pk3:b.txt", "pak0"),
        ("baseq3/pak0.pk3:c.txt", "pak0"),
        ("baseq3/PAK1.PK3DIR/A.txt", "pak1dir"),
        ("baseq3/PAK1.PK3DIR/b.txt", "pak1dir"),
        ("baseq3/pak2.pk3:B.TXT", "pak2"),
        ("baseq3/loose.txt", "loose"),
    ]);
    let map = root.path().join("baseq3/maps/x.bsp");
    for engine in Engine::ALL {
        let options = SearchOptions {
            engine,
            ..SearchOptions::default()
        };
        let opened = open_map(&map, &options).unwrap();
        let first = if engine.archives_first() {
            "pak1dir"
        } else {
            "loose"
        };
        assert_eq!(text_of(&opened, "a.txt"), first, "{engine:?}");
        assert_eq!(text_of(&opened, "b.txt"), "pak2", "{engine:?}");
        assert_eq!(text_of(&opened, "c.txt"), "pak0", "{engine:?}");
        assert_eq!(text_of(&opened, "loose.txt"), "loose", "{engine:?}");
        assert_eq!(engine.word().parse(), Ok(engine));
    }
    let archives_first = Engine::ALL.map(Engine::archives_first);
    assert_eq!(archives_first, [false, false, false, true, true]);
    assert!(
        "doom3"
            .parse::<Engine>()
            .unwrap_err()
            .contains("q3map2, ioq3")
    );
}

#[test]
fn the_maps_archive_then_the_mod_then_the_base_game_and_home_before_the_installation() {
    let root = tree(&[
        ("home/mod/zz.pk3:1", "home mod"),
        ("home/mod/zz.pk3:2", "home mod"),
        ("home/mod/zz.pk3:0", "home mod"),
        ("base/mod/1", "base mod"),
        ("base/mod/2", "base mod"),
        ("base/mod/3", "base mod"),
        ("home/baseoa/3", "home game"),
        ("home/baseoa/4", "home game"),
        ("base/baseoa/3", "base game"),
        ("base/baseoa/4", "base game"),
        ("base/baseoa/5", "base game"),
        ("base/baseoa/aa.pk3:maps/x.bsp", "BSP"),
        ("base/baseoa/aa.pk3:0", "map's archive"),
        ("base/baseoa/aa.pk3:1", "map's archive"),
        ("base/baseoa/0", "base game"),
        ("base/baseq3/5", "other game"),
        ("base/baseq3/6", "other game"),
    ]);
    let archive = root.path().join("base/baseoa/aa.pk3");
    let options = SearchOptions {
        base_paths: vec![root.path().join("base")],
        home_path: Some(root.path().join("home")),
        games: vec!["mod".to_owned()],
        engine: Engine::default(),
    };
    let opened = open_map(&archive.join("maps/x.bsp"), &options).unwrap();
    let expected = [
        ("0", "map's archive"),
        ("1", "map's archive"),
        ("2", "home mod"),
        ("3", "base mod"),
        // The folder that the map lies in goes before others of its name.
        ("4", "base game"),
        ("5", "base game"),
        ("6", "other game"),
    ];
    for (name, place) in expected {
        assert_eq!(text_of(&opened, name), place, "{name}");
    }
    let places = opened.vfs.searched();
    let named = |name: &str| {
        places
            .iter()
            .filter(|place| place.path.ends_with(name))
            .count()
    };
    assert_eq!((named("aa.pk3"), named("mod"), named("baseoa")), (1, 2, 2));

    // Without a map in it, home goes first; and a mod's own map needs no flag.
    let mod_map = root.path().join("home/mod/maps/y.bsp");
    fs::create_dir_all(mod_map.parent().unwrap()).unwrap();
    fs::write(&mod_map, "").unwrap();
    let options = SearchOptions {
        games: Vec::new(),
        ..options
    };
    let opened = open_map(&mod_map, &options).unwrap();
    for (name, place) in [
        ("1", "home mod"),
        ("3", "base mod"),
        ("4", "home game"),
        ("5", "other game"),
    ] {
        assert_eq!(text_of(&opened, name), place, "{name}");
    }
}

#[test]
fn what_looks_like_an_archive_and_is_none_is_skipped_with_a_reason() {
    let root = tree(&[
        ("baseq3/maps/x.bsp", ""),
        ("baseq3/good.pk3:good.txt", "good"),
        ("baseq3/empty.pk3", ""),
        (
            "baseq3/garbage.pk3",
            "garbage, and not a little of it either",
        ),
        ("baseq3/folder.pk3/a.txt", "a"),
        ("baseq3/file.pk3dir", "a"),
        ("baseq3/whole.pk3:a", "a"),
        ("baseq3/dir.pk3dir/b.txt", "b"),
    ]);
    let game = root.path().join("baseq3");
    let whole = fs::read(game.join("whole.pk3")).unwrap();
    fs::write(game.join("truncated.pk3"), &whole[..whole.len() - 30]).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::{fs::symlink, net::UnixListener};
        symlink("nowhere.pk3", game.join("link.pk3")).unwrap();
        drop(UnixListener::bind(game.join("socket.pk3")).unwrap());
    }
    let opened = open_map(&game.join("maps/x.bsp"), &SearchOptions::default()).unwrap();
    assert_eq!(text_of(&opened, "good.txt"), "good");
    assert_eq!(text_of(&opened, "b.txt"), "b");
    let skipped: Vec<(String, &str)> = opened
        .vfs
        .skipped()
        .iter()
        .map(|(path, reason)| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, reason.as_str())
        })
        .collect();
    let expected = [
        ("truncated.pk3", "no readable zip directory"),
        #[cfg(unix)]
        ("socket.pk3", "not a regular file"),
        #[cfg(unix)]
        ("link.pk3", "No such file"),
        ("garbage.pk3", "no readable zip directory"),
        ("folder.pk3", "is a folder; only .pk3dir"),
        ("file.pk3dir", "is no folder"),
        ("empty.pk3", "no readable zip directory"),
    ];
    assert_eq!(skipped.len(), expected.len(), "{skipped:?}");
    for ((name, reason), (expected_name, start)) in skipped.iter().zip(expected) {
        assert!(
            name == expected_name && reason.starts_with(start),
            "{name}: {reason}"
        );
    }
    for name in ["empty.pk3", "garbage.pk3", "truncated.pk3"] {
        let error = open_map(&game.join(name), &SearchOptions::default()).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_copy_that_cannot_be_read_is_passed_over_and_named() {
    let root = tree(&[
        ("baseq3/maps/x.bsp", ""),
        ("baseq3/pak0.pk3:Dir/A.tga", "sound"),
    ]);
    let mut locked = Member::stored("dir/a.tga", b"locked");
    locked.flags = ENCRYPTED;
    let mut torn = Member::stored("dir/b.tga", b"torn");
    torn.crc ^= 1;
    fs::write(
        root.path().join("baseq3/pak1.pk3"),
        archive(&[locked, torn]),
    )
    .unwrap();
    let opened = open_map(
        &root.path().join("baseq3/maps/x.bsp"),
        &SearchOptions::default(),
    )
    .unwrap();
    let file = opened.vfs.read("DIR/a.tga").unwrap();
    assert_eq!(file.bytes, b"sound");
    assert!(file.origin.container.ends_with("pak0.pk3") && file.origin.name == "Dir/A.tga");
    let [error] = file.passed_over.as_slice() else {
        panic!("{:?}", file.passed_over)
    };
    let text = error.to_string();
    assert!(text.contains("pak1.pk3: dir/a.tga: encrypted"), "{text}");
    let error = opened.vfs.read("dir/b.tga").unwrap_err();
    assert!(matches!(error, VfsError::Unreadable { .. }));
    assert!(
        error.to_string().contains("pak1.pk3: dir/b.tga: damaged"),
        "{error}"
    );
}

/// The demo's files as archives of a game: its map and scripts, its textures, and one with nothing but trouble.
fn demo_game() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let game = root.path().join("baseq3");
    fs::create_dir(&game).unwrap();
    let demo = PathBuf::from(repository_file("assets/demo"));
    let members = |folder: &str| -> Vec<Member> {
        let mut paths: Vec<PathBuf> = fs::read_dir(demo.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        let member = |path: &PathBuf| {
            let name = format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap());
            Member::deflated(&name, &fs::read(path).unwrap())
        };
        paths.iter().map(member).collect()
    };
    let maps = [members("maps"), members("scripts")].concat();
    fs::write(game.join("map-atrium.pk3"), archive(&maps)).unwrap();
    fs::write(game.join("pak0.pk3"), archive(&members("textures/atrium"))).unwrap();
    let mut locked = Member::stored("Textures/Atrium/Brick.jpg", b"locked");
    locked.flags = ENCRYPTED;
    let mut torn = Member::stored("textures/atrium/wood.tga", b"torn");
    torn.crc ^= 1;
    let members = [locked, torn, Member::stored("../../evil", b"evil")];
    fs::write(game.join("pak1.pk3"), archive(&members)).unwrap();
    fs::write(game.join("pak2.pk3"), "garbage").unwrap();
    root
}

#[test]
fn a_scene_knows_where_everything_came_from() {
    let root = demo_game();
    let archive = root.path().join("baseq3/map-atrium.pk3");
    let opened = open_map(&archive, &SearchOptions::default()).unwrap();
    let context = JobContext::default();
    let scene = build(&opened, &context).unwrap();
    let assets = scene.assets();
    let of = |kind: AssetKind, container: &str| {
        let here = |origin: &Path| origin.ends_with(container);
        assets
            .iter()
            .filter(|asset| asset.kind == kind && here(&asset.origin.container))
            .count()
    };
    assert_eq!(of(AssetKind::Map, "map-atrium.pk3"), 1);
    assert_eq!(of(AssetKind::MapSource, "map-atrium.pk3"), 1);
    assert_eq!(of(AssetKind::SurfaceExtras, "map-atrium.pk3"), 1);
    assert!(of(AssetKind::Material, "map-atrium.pk3") > 3);
    assert!(of(AssetKind::Image, "pak0.pk3") > 8);
    assert_eq!(of(AssetKind::Image, "map-atrium.pk3"), 0);
    let brick = assets
        .iter()
        .find(|asset| asset.origin.name.ends_with("brick.jpg"))
        .unwrap();
    assert!(brick.origin.container.ends_with("pak0.pk3"));

    let texts: Vec<String> = context
        .warnings
        .list()
        .into_iter()
        .map(|w| w.text)
        .collect();
    let says = |parts: [&str; 3]| {
        assert!(
            texts
                .iter()
                .any(|text| parts.iter().all(|part| text.contains(part))),
            "{parts:?} in {texts:#?}"
        );
    };
    says([
        "pak1.pk3: Textures/Atrium/Brick.jpg: encrypted",
        "pak0.pk3/textures/atrium/brick.jpg",
        "is taken instead",
    ]);
    says([
        "image textures/atrium/wood.tga",
        "pak1.pk3: textures/atrium/wood.tga: damaged",
        "checksum",
    ]);
    says(["pak2.pk3: skipped", "no readable zip directory", ""]);
    says([
        "pak1.pk3: members left out because no game reaches such names (1)",
        "../../evil",
        "",
    ]);
}

#[test]
fn info_lists_the_packs_and_what_came_out_of_them() {
    let root = demo_game();
    let map = root.path().join("baseq3/map-atrium.pk3/maps/atrium.bsp");
    let run = luxtool(&["info", map.to_str().unwrap(), "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let json = run.json();
    let search = json["search"]["places"].as_array().unwrap();
    let place = |name: &str| {
        let found = search
            .iter()
            .find(|place| place["path"].as_str().unwrap().ends_with(name));
        found.unwrap_or_else(|| panic!("{name} in {search:?}"))
    };
    assert!(
        search[0]["path"]
            .as_str()
            .unwrap()
            .ends_with("map-atrium.pk3")
    );
    assert_eq!(place("map-atrium.pk3")["kind"], "archive");
    assert!(place("map-atrium.pk3")["materials"].as_u64().unwrap() > 3);
    assert_eq!(place("map-atrium.pk3")["others"], 3);
    assert!(place("pak0.pk3")["images"].as_u64().unwrap() > 8);
    assert_eq!(place("pak1.pk3")["refused"][0], "../../evil");
    assert_eq!(place("baseq3")["kind"], "folder");
    let skipped = &json["search"]["skipped"][0];
    assert!(skipped["path"].as_str().unwrap().ends_with("pak2.pk3"));
    assert!(
        skipped["reason"]
            .as_str()
            .unwrap()
            .contains("zip directory")
    );
    let assets = json["assets"].as_array().unwrap();
    let brick = assets
        .iter()
        .find(|asset| asset["kind"] == "image" && asset["member"] == "textures/atrium/brick.jpg")
        .unwrap();
    assert!(brick["container"].as_str().unwrap().ends_with("pak0.pk3"));

    let text = luxtool(&["info", map.to_str().unwrap()]);
    assert!(text.out.contains("searched, best first"), "{}", text.out);
    assert!(
        text.out.contains("pak2.pk3: skipped, no readable"),
        "{}",
        text.out
    );
    // The order is the engine's; the folder's loose files are then last.
    let run = luxtool(&["info", map.to_str().unwrap(), "--json", "-engine", "quake3"]);
    let json = run.json();
    let places = json["search"]["places"].as_array().unwrap();
    assert!(
        places.last().unwrap()["path"]
            .as_str()
            .unwrap()
            .ends_with("baseq3")
    );
}
