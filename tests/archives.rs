//! pk3 archives as they really come: every member that can be read is read, every other one is refused by name.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; their own are allowed by clippy.toml"
)]

#[path = "support/zip_builder.rs"]
mod zip_builder;

use std::io::Cursor;

use luxgrid::format::pk3::{Pk3, Pk3Error};

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
