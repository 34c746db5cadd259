//! What a hostile file is put through: for every kind of file a function of its bytes. The coverage-guided fuzzer and the
//! seeded mutations of `tests/mutations.rs` call the same functions.
//!
//! A target does what the viewer and `luxtool` do with such a file up to the first pixel. It panics when a promise of the
//! library does not hold; an error is a fine outcome.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::LazyLock;

use glam::Vec3;
use luxgrid::format::bsp::{Bsp, ShContainer, read, write, write_with};
use luxgrid::format::entities::{Entities, with_worldspawn_key};
use luxgrid::format::lattice::Lattice;
use luxgrid::format::pk3::Pk3;
use luxgrid::format::srf::SurfaceExtras;
use luxgrid::format::{check, json, map_file, material_script};
use luxgrid::job::JobContext;
use luxgrid::light::{BakeSettings, plan};
use luxgrid::math::Ray;
use luxgrid::math::colour::Overbright;
use luxgrid::probe::{
    LegacyProfile, ShCorners, blocked_points, evaluate_sh, findings, sample_legacy, sample_sh,
};
use luxgrid::scene::{Image, Scene, build, spawn_points};
use luxgrid::trace::Picker;
use luxgrid::vfs::{MapTarget, OpenedMap, Origin, Vfs, VfsFile};

use crate::indices::assert_in_range;

/// Name and function of a target.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets.
pub(crate) const TARGETS: [Target; 9] = [
    ("bsp", bsp),
    ("sidecar", sidecar),
    ("pk3", pk3),
    ("image", image),
    ("material_script", material_script),
    ("entities", entities),
    ("map_text", map_text),
    ("srf", srf),
    ("json", json_folder),
];

/// Members of an archive that are unpacked.
const MEMBERS: usize = 16;
/// Begins a file in the input of [`json_folder`]: its name follows up to the end of the line.
pub(crate) const JSON_MARK: u8 = 0x0C;

/// A map: read, judged, written back, taken apart into JSON and put together again, made into a scene and sampled.
pub(crate) fn bsp(bytes: &[u8]) {
    let Ok(bsp) = read(bytes) else { return };
    assert_in_range(&bsp);
    assert!(write(&bsp) == bytes, "an unchanged map must stay as it was");
    black_box(check::findings(&bsp));
    write_changed(&bsp);
    drop(bsp);
    through_json(bytes);
    show(bytes);
}

/// A changed map can be read again.
fn write_changed(bsp: &Bsp) {
    let changed = bsp.with_worldspawn_key("gridsize", "32 32 32");
    for container in [ShContainer::V47, ShContainer::Bspx] {
        let written = write_with(&changed, container).bsp;
        assert!(read(&written).is_ok(), "a written map must be readable");
    }
}

/// The file that a writer of [`json::unpack`] fills.
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn through_json(bytes: &[u8]) {
    let mut files: BTreeMap<String, Rc<RefCell<Vec<u8>>>> = BTreeMap::new();
    let unpacked = json::unpack(bytes, &mut |name| {
        let file = files.entry(name.to_owned()).or_default();
        Ok(Box::new(Shared(Rc::clone(file))))
    });
    if unpacked.is_err() {
        // Formats without a JSON form.
        return;
    }
    let packed = json::pack(None, &mut |name| {
        let file = files.get(name).map(|file| file.take());
        Ok(file.map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>))
    });
    assert!(
        packed.as_deref().is_ok_and(|packed| packed == bytes),
        "JSON must bring back the same bytes: {:?}",
        packed.err()
    );
}

fn scene_of(bytes: &[u8]) -> Option<Scene> {
    let map = OpenedMap {
        vfs: Vfs::default(),
        bytes: bytes.to_vec(),
        origin: file("hostile.bsp", &[]).origin,
        name: "hostile".to_owned(),
        target: MapTarget::Demo,
        stamp: None,
    };
    build(&map, &JobContext::default()).ok()
}

/// What happens between opening a map and its first picture.
fn show(bytes: &[u8]) {
    let Some(scene) = scene_of(bytes) else { return };
    let picker = Picker::new(&scene);
    for direction in [Vec3::X, Vec3::NEG_Y, Vec3::new(0.3, 0.4, -0.8)] {
        black_box(picker.pick(&Ray::new(scene.bounds.centre(), direction)));
    }
    black_box(findings(&scene));
    let _ = black_box(plan(
        &scene,
        &BakeSettings::default(),
        &JobContext::default(),
    ));
    sample_grids(&scene);
}

/// Positions in, on the edge of, and outside a lattice.
fn positions(lattice: &Lattice) -> [Vec3; 5] {
    let bounds = lattice.bounds();
    [
        bounds.min,
        bounds.max,
        bounds.centre() + 0.3,
        bounds.max + 1.0e6,
        Vec3::NAN,
    ]
}

fn sample_grids(scene: &Scene) {
    if let Some(grid) = &scene.lighting.light_grid {
        black_box(blocked_points(scene, &grid.lattice));
        for position in positions(&grid.lattice) {
            for profile in LegacyProfile::ALL {
                black_box(sample_legacy(
                    grid,
                    position,
                    profile,
                    Overbright::default(),
                ));
            }
        }
    }
    if let Some(grid) = &scene.lighting.sh_grid {
        black_box(blocked_points(scene, &grid.lattice));
        for position in positions(&grid.lattice) {
            for rule in [ShCorners::SkipSolid, ShCorners::Guide] {
                let sample = sample_sh(grid, position, rule);
                black_box(evaluate_sh(&sample.coefficients, Vec3::Z, [1.0; 3]));
            }
        }
    }
}

/// The map that sidecars are put beside.
static BESIDE: LazyLock<Bsp> =
    LazyLock::new(|| read(include_bytes!("../data/format/occluder.bsp")).expect("our own map"));

/// The file of an SH grid beside a map.
pub(crate) fn sidecar(bytes: &[u8]) {
    let Ok(map) = BESIDE.with_sidecar(bytes) else {
        return;
    };
    assert_in_range(&map);
    let written = write_with(&map, ShContainer::Sidecar);
    assert!(written.sidecar.as_deref() == Some(bytes));
    show(&write_with(&map, ShContainer::V47).bsp);
}

/// An archive: listed, its first members unpacked.
pub(crate) fn pk3(bytes: &[u8]) {
    let Ok(mut archive) = Pk3::open(Cursor::new(bytes)) else {
        return;
    };
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    for name in names.iter().take(MEMBERS) {
        black_box(archive.stored_name(name));
        let _ = black_box(archive.read(name));
    }
}

/// Bytes as a file that was found under a name.
pub(crate) fn file(name: &str, bytes: &[u8]) -> VfsFile {
    VfsFile {
        bytes: bytes.to_vec(),
        origin: Origin {
            container: PathBuf::new(),
            name: name.to_owned(),
        },
        passed_over: Vec::new(),
    }
}

/// A picture: PNG and JPEG by their first bytes, everything else is taken for a TGA.
pub(crate) fn image(bytes: &[u8]) {
    if let Ok(image) = Image::decode("hostile", file("hostile.tga", bytes)) {
        let texels = u64::from(image.width) * u64::from(image.height);
        assert_eq!(image.rgba.len() as u64, texels * 4);
        black_box(image.texel(image.width, image.height - 1));
    }
}

/// A material script.
pub(crate) fn material_script(bytes: &[u8]) {
    black_box(material_script::parse(bytes));
}

/// Text of lump 0, and what the viewer and the light compiler look for in it.
pub(crate) fn entities(bytes: &[u8]) {
    let parsed = Entities::parse(bytes);
    look_through(&parsed);
    let edited = Entities::parse(&with_worldspawn_key(bytes, "gridsize", "64 64 128"));
    let key = edited.worldspawn().and_then(|world| world.get("gridsize"));
    assert!(parsed.list.is_empty() || key == Some("64 64 128"));
}

fn look_through(entities: &Entities) {
    black_box(spawn_points(entities));
    for entity in &entities.list {
        black_box((entity.is_light(), entity.inline_model(), entity.origin()));
        black_box(entity.number(&["light", "_light"]));
        black_box(entity.vector(&["_color"]));
        black_box(entity.get("target").map(|name| entities.find_target(name)));
    }
}

/// A `.map` file.
pub(crate) fn map_text(bytes: &[u8]) {
    look_through(&map_file::entities(bytes));
    black_box(map_file::lights(bytes));
}

/// A `.srf` file.
pub(crate) fn srf(bytes: &[u8]) {
    let extras = SurfaceExtras::parse(bytes);
    black_box(extras.get(0));
    black_box(extras.get(u32::MAX));
}

/// A folder of JSON files, each behind [`JSON_MARK`] and its name. A file that is not given is an empty object.
pub(crate) fn json_folder(bytes: &[u8]) {
    let sections = bytes.split(|byte| *byte == JSON_MARK).skip(1);
    let files: BTreeMap<&[u8], &[u8]> = sections
        .map(|section| {
            let line = section.iter().position(|byte| *byte == b'\n');
            let (name, rest) = section.split_at(line.unwrap_or(section.len()));
            (name, rest)
        })
        .collect();
    let packed = json::pack(None, &mut |name| {
        let may_lack = name == json::EXTRA_FILE || name == "GridPointsSH.json";
        let missing = (!may_lack).then_some(&b"{}"[..]);
        let file = files.get(name.as_bytes()).copied().or(missing);
        let file = file.map(<[u8]>::to_vec);
        Ok(file.map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>))
    });
    if let Ok(map) = packed {
        bsp(&map);
    }
}
