//! Light grids with four style slots, as RBSP and FBSP have them, against the reference compiler's.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; figures are shown on request"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use luxgrid::format::bsp::{Bsp, STYLE_NONE, StyledGridPoint, read, write};
use luxgrid::format::entities::Entity;
use luxgrid::job::JobContext;
use luxgrid::light::{BakeSettings, Baked, GameProfile, LightsFrom, apply, bake, plan};
use luxgrid::scene::{MapSource, Scene, build};
use luxgrid::trace::is_blocked;
use luxgrid::vfs::{SearchOptions, open_map};

/// The reference compiler merges points that differ by up to 4 in a byte; one more is rounding.
const MERGED: u8 = 5;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn scene(game: &str, map: &str) -> Scene {
    let path = root().join(format!("tests/data/variants/{game}.pk3/maps/{map}.bsp"));
    let map = open_map(&path, &SearchOptions::default()).unwrap();
    build(&map, &JobContext::default()).unwrap()
}

/// As `-game` has it, with the lights of the micro map's source where the BSP has none.
fn settings(game: &str, map: &str, scene: &Scene) -> BakeSettings {
    let own = &scene.bsp.entities.list;
    let lights = if own.iter().any(Entity::is_light) {
        LightsFrom::Bsp
    } else {
        let source: PathBuf = root().join(format!("tests/data/micro/maps/{map}.map"));
        let bytes = std::fs::read(&source).unwrap();
        LightsFrom::File(Arc::new(MapSource::chosen(source, &bytes).unwrap()))
    };
    BakeSettings {
        sh: false,
        lights,
        ..GameProfile::by_name(game).unwrap().settings()
    }
}

fn baked(scene: &Scene, settings: &BakeSettings) -> Baked {
    bake(scene, settings, &JobContext::default()).unwrap()
}

fn all_points(bsp: &Bsp) -> Vec<StyledGridPoint> {
    let grid = bsp.styled_grid.as_ref().unwrap();
    let points = (0..grid.indices.len()).map(|index| *grid.point(index).unwrap());
    points.collect()
}

fn light(point: &StyledGridPoint) -> Vec<u8> {
    let slots = [point.ambient, point.directed];
    slots.as_flattened().as_flattened().to_vec()
}

#[test]
fn every_slot_agrees_with_the_reference() {
    for game in ["ja", "qfusion"] {
        for map in ["m02_occluder", "m09_areas", "m11_styles"] {
            let scene = scene(game, map);
            let expected = all_points(&scene.bsp);
            let baked = baked(&scene, &settings(game, map, &scene));
            let found = baked.styled_points.as_ref().unwrap();
            let lattice = baked.light_grid.as_ref().unwrap().lattice;
            assert_eq!(found.len(), expected.len());
            let is_open = |index: &usize| !is_blocked(&scene, lattice.position_of(*index));
            let open: Vec<usize> = (0..found.len()).filter(is_open).collect();
            assert!(open.len() > 100, "{}", open.len());
            let (mut bytes, mut near, mut merged, mut worst) = (0, 0, 0, 0);
            for index in &open {
                let (a, b) = (&found[*index], &expected[*index]);
                assert_eq!(
                    a.styles, b.styles,
                    "{game} {map} point {index}: {a:?} {b:?}"
                );
                for (a, b) in light(a).into_iter().zip(light(b)) {
                    let difference = a.abs_diff(b);
                    bytes += 1;
                    near += u32::from(difference <= 1);
                    merged += u32::from(difference <= MERGED);
                    worst = worst.max(difference);
                }
            }
            let share = |count: u32| f64::from(count) / f64::from(bytes);
            let (near, merged) = (share(near), share(merged));
            eprintln!(
                "{game} {map}: {} points, bytes within 1 {near:.4}, within {MERGED} {merged:.4}, worst {worst}",
                open.len()
            );
            assert!(
                merged >= 0.9999 && near >= 0.995,
                "{game} {map}: {near} {merged}"
            );
            let is_styled = |index: &usize| found[*index].styles[1] != STYLE_NONE;
            assert_eq!(open.iter().any(is_styled), map == "m11_styles");
        }
    }
}

#[test]
fn all_slots_are_written_and_read_back() {
    let scene = scene("ja", "m11_styles");
    let settings = BakeSettings {
        cell_size: Some(glam::Vec3::new(32.0, 32.0, 64.0)),
        ..settings("ja", "m11_styles", &scene)
    };
    let baked = baked(&scene, &settings);
    let points = baked.styled_points.as_ref().unwrap();
    let back = read(&write(&apply(&scene.bsp, &baked))).unwrap();
    // Few enough that none is merged.
    assert!(all_points(&back) == *points);
    let second =
        |point: &&StyledGridPoint| point.styles[..2] == [0, 3] && point.directed[1] != [0; 3];
    assert!(points.iter().filter(second).count() > 100);
    let first: Vec<_> = points.iter().map(StyledGridPoint::first_slot).collect();
    assert!(baked.light_grid.as_ref().unwrap().points == first);
    assert_eq!(back.light_grid, first);
    // The same once more changes nothing.
    assert!(!apply_again(&back, &baked).is_modified());
}

/// The grid alone, into a map that holds it.
fn apply_again(bsp: &Bsp, baked: &Baked) -> Bsp {
    bsp.with_styled_points(baked.styled_points.as_ref().unwrap())
}

/// IBSP has one slot: the light of other styles goes nowhere.
#[test]
fn ibsp_keeps_the_first_slot() {
    let raven = scene("ja", "m11_styles");
    let quake3 = scene("quake3", "m11_styles");
    let found = baked(&quake3, &settings("quake3", "m11_styles", &quake3));
    assert!(found.styled_points.is_none());
    let styled = baked(&raven, &settings("ja", "m11_styles", &raven));
    assert_eq!(
        found.light_grid.unwrap().points,
        styled.light_grid.unwrap().points
    );
}

/// Section 1.4: such a light can be switched, and the game looks for it in the BSP alone.
#[test]
fn a_named_light_of_a_map_source_counts_in_other_formats_only() {
    let source = "{ \"classname\" \"worldspawn\" }\n{ \"classname\" \"light\" \"origin\" \"0 0 64\" }\n{ \"classname\" \"light\" \"targetname\" \"lamp\" \"origin\" \"0 0 96\" }\n";
    let source = MapSource::chosen("x.map".into(), source.as_bytes()).unwrap();
    let source = Arc::new(source);
    let count = |game: &str| {
        let settings = BakeSettings {
            lights: LightsFrom::File(Arc::clone(&source)),
            ..BakeSettings::default()
        };
        let scene = scene(game, "m11_styles");
        let planned = plan(&scene, &settings, &JobContext::default()).unwrap();
        planned.lights.entities.map
    };
    assert_eq!([count("quake3"), count("ja"), count("qfusion")], [2, 1, 1]);
}
