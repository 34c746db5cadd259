//! pk3 archives as they really come: every member that can be read is read, every other one is refused by name.
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
use std::io::Cursor;
use std::path::{Path, PathBuf};

use luxgrid::format::pk3::{Pk3, Pk3Error};
use luxgrid::job::JobContext;
use luxgrid::scene::{AssetKind, build};
use luxgrid::vfs::{Engine, OpenedMap, SearchOptions, VfsError, open_map};

use luxtool::{luxtool, repository_file};
use zip_builder::{DESCRIPTOR, ENCRYPTED, Frame, Member, archive, framed};

type Archive = Pk3<Cursor<Vec<u8>>>;

fn open(bytes: Vec<u8>) -> Archive {
    Pk3::open(Cursor::new(bytes)).unwrap()
}

fn read(pk3: &mut Archive, name: &str) -> Vec<u8> {
    pk3.read(name).unwrap().unwrap()
}

fn words() -> Vec<u8> {
    b"the quick brown fox ".repeat(400)
}

fn both_methods() -> [Member; 2] {
    [
        Member::stored("maps/stored.bsp", &words()),
        Member::deflated("Textures/Deflated.TGA", &words()),
    ]
}

fn assert_both(bytes: Vec<u8>, case: &str) {
    let mut pk3 = open(bytes);
    assert_eq!(pk3.names().len(), 2, "{case}");
    assert_eq!(read(&mut pk3, "maps/stored.bsp"), words(), "{case}");
    assert_eq!(read(&mut pk3, "textures/deflated.tga"), words(), "{case}");
}

#[test]
fn stored_deflated_zip64_and_streamed_members_are_read() {
    let plain = both_methods();
    assert!(plain[1].packed.len() < plain[1].size as usize / 10);
    for zip64 in [false, true] {
        for streamed in [false, true] {
            for end64 in [false, true] {
                let mut members = plain.clone();
                for member in &mut members {
                    member.zip64 = zip64;
                    member.flags |= if streamed { DESCRIPTOR } else { 0 };
                }
                let frame = Frame {
                    zip64: end64,
                    ..Frame::default()
                };
                let case = format!("zip64 {zip64} streamed {streamed} end {end64}");
                assert_both(framed(&members, &frame), &case);
            }
        }
    }
}

#[test]
fn bytes_before_the_archive_and_long_comments_do_not_matter() {
    let members = both_methods();
    // A stub with signatures of its own in it.
    let stub = [
        b"MZ\x90\0".repeat(999),
        b"PK\x05\x06PK\x01\x02PK\x03\x04".to_vec(),
    ]
    .concat();
    let comments = [
        Vec::new(),
        vec![b'c'; 65_535],
        [b"made by PK\x05\x06 tools ".as_slice(), &[7; 300]].concat(),
        [
            b"PK\x01\x02 and PK\x06\x06 and PK\x06\x07".as_slice(),
            &[0xff; 99],
        ]
        .concat(),
    ];
    for (number, comment) in comments.into_iter().enumerate() {
        for before in [Vec::new(), stub.clone()] {
            for adjusted in [false, true] {
                for zip64 in [false, true] {
                    let frame = Frame {
                        before: before.clone(),
                        adjusted,
                        comment: comment.clone(),
                        zip64,
                    };
                    let case = format!(
                        "comment {number}, {} bytes before, adjusted {adjusted}, zip64 {zip64}",
                        before.len()
                    );
                    assert_both(framed(&members, &frame), &case);
                }
            }
        }
    }
}

#[test]
fn an_empty_archive_is_one_only_when_nothing_is_in_it() {
    for zip64 in [false, true] {
        let frame = Frame {
            zip64,
            comment: b"nothing here".to_vec(),
            ..Frame::default()
        };
        assert_eq!(open(framed(&[], &frame)).names().len(), 0);
    }
    // A whole end record in the comment makes other readers, too, take the archive for an empty one.
    let frame = Frame {
        comment: [b"PK\x05\x06".as_slice(), &[0; 18], b" behind it"].concat(),
        ..Frame::default()
    };
    let error = Pk3::open(Cursor::new(framed(&both_methods(), &frame))).unwrap_err();
    assert!(error.to_string().contains("lists no members"), "{error}");
}

#[test]
fn of_equal_names_the_last_wins() {
    let named = |name: &str, data: &str| Member::stored(name, data.as_bytes());
    let mut pk3 = open(archive(&[
        named("a.txt", "1"),
        named("A.TXT", "2"),
        named("dir/b", "1"),
        named("dir\\B", "2"),
        named("a.txt", "3"),
        named("dir/b", "3"),
        named("DIR\\b", "4"),
        named("c", "1"),
        named("c", "2"),
    ]));
    assert_eq!(pk3.names().collect::<Vec<_>>(), ["a.txt", "c", "dir/b"]);
    assert_eq!(read(&mut pk3, "a.txt"), b"3");
    assert_eq!(pk3.stored_name("a.txt"), Some("a.txt"));
    assert_eq!(read(&mut pk3, "dir/b"), b"4");
    assert_eq!(pk3.stored_name("dir/b"), Some("DIR\\b"));
    assert_eq!(read(&mut pk3, "c"), b"2");
    assert!(pk3.hidden() >= 3);
}

#[test]
fn one_damaged_member_does_not_stop_the_others() {
    let good = Member::stored("good", b"good");
    let mut bad_crc = Member::deflated("First.tga", &words());
    bad_crc.crc ^= 1;
    let mut bad_data = Member::deflated("second.tga", &words());
    bad_data.packed[3] ^= 0xff;
    let mut longer = Member::deflated("longer", &words());
    longer.size = 10;
    let mut shorter = Member::stored("shorter", b"abc");
    shorter.size = 60_000_000;
    let mut pk3 = open(archive(&[bad_crc, bad_data, longer, shorter, good.clone()]));
    for (name, stored) in [
        ("first.tga", "First.tga"),
        ("second.tga", "second.tga"),
        ("longer", "longer"),
    ] {
        let error = pk3.read(name).unwrap_err();
        assert!(
            matches!(&error, Pk3Error::Damaged { name, .. } if name == stored),
            "{error}"
        );
        assert!(error.to_string().starts_with(stored), "{error}");
    }
    // The data is sound, the directory's size is not: the data counts, without the memory that was asked for.
    assert_eq!(read(&mut pk3, "shorter"), b"abc");
    assert_eq!(read(&mut pk3, "good"), b"good");

    let mut bytes = archive(&[Member::stored("lost", b"lost"), good]);
    bytes[..4].fill(0);
    let mut pk3 = open(bytes);
    let error = pk3.read("lost").unwrap_err().to_string();
    assert!(error.starts_with("lost: damaged"), "{error}");
    assert_eq!(read(&mut pk3, "good"), b"good");
}

#[test]
fn encrypted_members_and_unknown_methods_are_refused_by_name() {
    let mut members = vec![Member::stored("good", b"good")];
    let mut locked = Member::stored("Maps/Locked.bsp", &words());
    locked.flags = ENCRYPTED;
    members.push(locked.clone());
    locked.name = b"aes.bsp".to_vec();
    locked.method = 99;
    // Vendor version 2, “AE”, 256 bits, deflated inside.
    locked.extra = [&[0x01, 0x99, 7, 0, 2, 0][..], b"AE", &[3, 8, 0]].concat();
    members.push(locked);
    let methods = [
        (1, "Shrink"),
        (4, "Reduce"),
        (6, "Implode"),
        (9, "Deflate64"),
        (12, "bzip2"),
        (14, "LZMA"),
        (93, "Zstandard"),
        (95, "XZ"),
        (98, "PPMd"),
        (1234, "unknown method"),
    ];
    for (method, _) in methods {
        let mut member = Member::stored(&format!("m{method}"), b"data");
        member.method = method;
        members.push(member);
    }
    let mut pk3 = open(archive(&members));
    for (name, stored) in [
        ("maps/locked.bsp", "Maps/Locked.bsp"),
        ("aes.bsp", "aes.bsp"),
    ] {
        let error = pk3.read(name).unwrap_err();
        assert!(
            matches!(&error, Pk3Error::Encrypted { name } if name == stored),
            "{error}"
        );
    }
    for (number, word) in methods {
        let text = pk3.read(&format!("m{number}")).unwrap_err().to_string();
        assert!(
            text.starts_with(&format!("m{number}: packed with {word}"))
                && text.contains(&number.to_string()),
            "{text}"
        );
    }
    assert_eq!(read(&mut pk3, "good"), b"good");
}

#[test]
fn names_that_climb_are_never_reached_and_counted() {
    let refused = [
        "../evil",
        "a/../../evil",
        "a\\..\\evil",
        "/etc/passwd",
        "\\evil",
        "C:\\evil",
        "c:evil",
        "./odd",
        "a//b",
        "..",
        "nul\0.tga",
    ];
    let mut members: Vec<Member> = refused
        .iter()
        .map(|name| Member::stored(name, b"evil"))
        .collect();
    members.push(Member::stored("a/", b""));
    members.push(Member::stored("textures\\Back\\Slash.tga", b"fine"));
    let mut pk3 = open(archive(&members));
    assert_eq!(pk3.names().collect::<Vec<_>>(), ["textures/back/slash.tga"]);
    assert_eq!(pk3.refused(), refused);
    assert_eq!(read(&mut pk3, "textures/back/slash.tga"), b"fine");
    for name in refused {
        assert!(pk3.read(name).unwrap().is_none(), "{name}");
    }
}

#[test]
fn names_that_are_no_utf_8_are_names_still() {
    let mut old = Member::stored("", b"old");
    // “ö” in code page 437.
    old.name = b"textures/k\x94nig.tga".to_vec();
    let mut marked = Member::stored("", b"broken");
    marked.name = b"textures/\xff\xfe.tga".to_vec();
    marked.flags = 1 << 11;
    let mut utf8 = Member::stored("textures/straße.tga", b"utf8");
    utf8.flags = 1 << 11;
    let mut pk3 = open(archive(&[
        old,
        marked,
        utf8,
        Member::stored("last", b"last"),
    ]));
    assert_eq!(read(&mut pk3, "textures/könig.tga"), b"old");
    assert_eq!(read(&mut pk3, "textures/straße.tga"), b"utf8");
    assert_eq!(read(&mut pk3, "last"), b"last");
    assert_eq!(pk3.names().len() + pk3.refused().len(), 4);
}

#[test]
fn sizes_that_lie_cost_no_memory() {
    let mut huge = Member::stored("huge", b"abc");
    huge.size = u64::MAX / 2;
    huge.zip64 = true;
    // 100 MiB of zeros, honestly declared: 1000 to 1.
    let bomb = Member::deflated("bomb", &vec![0; 100 << 20]);
    let picture = Member::deflated("black.tga", &vec![0; 60 << 20]);
    let mut pk3 = open(archive(&[huge, bomb, picture]));
    for name in ["huge", "bomb"] {
        let error = pk3.read(name).unwrap_err();
        assert!(matches!(error, Pk3Error::TooLarge { .. }), "{error}");
    }
    assert_eq!(read(&mut pk3, "black.tga").len(), 60 << 20);
    // More entries than the file has bytes for.
    let mut bytes = archive(&[Member::stored("a", b"a")]);
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].fill(0xfe);
    assert!(Pk3::open(Cursor::new(bytes)).is_err());
}

#[test]
fn no_truncation_and_no_mutation_does_worse_than_an_error() {
    let frame = Frame {
        zip64: true,
        comment: b"comment".to_vec(),
        ..Frame::default()
    };
    let mut members = both_methods().to_vec();
    members[0].zip64 = true;
    members[1].flags |= DESCRIPTOR;
    let whole = framed(&members, &frame);
    let read_all = |bytes: Vec<u8>| {
        let Ok(mut pk3) = Pk3::open(Cursor::new(bytes)) else {
            return 0;
        };
        let names: Vec<String> = pk3.names().map(str::to_owned).collect();
        let good = names.iter().filter(|name| pk3.read(name).is_ok());
        good.count()
    };
    assert_eq!(read_all(whole.clone()), 2);
    let tail = whole.len() - 400;
    for length in (0..tail).step_by(97).chain(tail..whole.len()) {
        read_all(whole[..length].to_vec());
    }
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut damaged = 0;
    for _ in 0..4_000 {
        let mut bytes = whole.clone();
        for _ in 0..3 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            // Headers and directory, where it hurts.
            let at = if seed & 1 == 0 {
                seed as usize % 64
            } else {
                tail + seed as usize % 400
            };
            bytes[at] = (seed >> 32) as u8;
        }
        damaged += usize::from(read_all(bytes) < 2);
    }
    assert!(damaged > 1_000, "{damaged}");
}

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
