//! The light compiler against stored results of the reference compiler, and what it promises beside them.
//!
//! `tests/data/micro` holds small maps of our own, compiled and lit by the reference compiler with `-light -sh`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; figures are shown on request"
)]

#[path = "support/grid_compare.rs"]
mod grid_compare;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use glam::Vec3;
use grid_compare::{LegacyFigures, compare_legacy, compare_sh};
use luxgrid::format::bsp::Bsp;
use luxgrid::format::lattice::Lattice;
use luxgrid::job::{Job, JobContext, JobError, Warnings};
use luxgrid::light::{
    BakeError, BakeSettings, Baked, LightModel, LightsFrom, ShCell, apply, bake, plan,
};
use luxgrid::scene::{Lighting, Scene, build};
use luxgrid::trace::is_blocked;
use luxgrid::vfs::{SearchOptions, open_map};

/// Rounding alone, with room to spare: measured below 1e-5.
const SH_EXACT: f64 = 1e-3;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/micro")
}

fn scene(path: &Path) -> Scene {
    let map = open_map(path, &SearchOptions::default()).unwrap();
    build(&map, &JobContext::default()).unwrap()
}

fn micro(name: &str) -> Scene {
    scene(&data().join(format!("maps/{name}.bsp")))
}

fn read(path: &Path) -> Bsp {
    luxgrid::format::bsp::read(&std::fs::read(path).unwrap()).unwrap()
}

/// Figures of a bake against a file that the reference compiler lit, over the points outside solids.
fn agreement(scene: &Scene, baked: &Baked, expected: &Bsp) -> (Option<LegacyFigures>, f64) {
    let is_open = |lattice: &Lattice, index: usize| !is_blocked(scene, lattice.position_of(index));
    let legacy = baked.light_grid.as_ref().map(|grid| {
        compare_legacy(&grid.points, &expected.light_grid, |index| {
            is_open(&grid.lattice, index)
        })
    });
    let sh = match (&baked.sh_grid, &expected.sh_grid) {
        (Some(found), Some(expected)) => {
            assert_eq!(found.lattice, expected.lattice);
            compare_sh(&found.points, &expected.points, |index| {
                is_open(&found.lattice, index)
            })
            .relative_rms
        }
        _ => f64::NAN,
    };
    (legacy, sh)
}

/// At least 98 % of bytes within 2, 99.5 % within 1, 98 % of directions within 3 degrees: what single precision in another
/// order of sums, and other random numbers for points in solid, may cost. Most maps agree to the byte.
///
/// `sh_limit` bounds the relative RMS error of the coefficients: [`SH_EXACT`] where every ray is decided alike, so that
/// only rounding is left; more where rays run along edges.
fn assert_agrees(name: &str, sh_limit: f64) {
    let scene = micro(name);
    let expected = read(&data().join(format!("expected/{name}.default.bsp")));
    let baked = bake(&scene, &BakeSettings::default(), &JobContext::default()).unwrap();
    let (legacy, sh) = agreement(&scene, &baked, &expected);
    let legacy = legacy.unwrap();
    let (bytes, directions) = (legacy.bytes_within(1), legacy.directions_within(3.0));
    println!("{name}: bytes {bytes:.5}, directions {directions:.5}, SH {sh:.5}");
    assert!(legacy.points > 100, "{legacy:?}");
    assert!(legacy.bytes_within(2) >= 0.98, "{legacy:?}");
    assert!(legacy.bytes_within(1) >= 0.995, "{legacy:?}");
    assert!(legacy.directions_within(3.0) >= 0.98, "{legacy:?}");
    assert!(sh <= sh_limit, "{sh}");
}

#[test]
fn point_light_agrees_with_the_reference() {
    assert_agrees("m01_point", SH_EXACT);
}

#[test]
fn shadows_agree_with_the_reference() {
    assert_agrees("m02_occluder", SH_EXACT);
}

#[test]
fn spots_agree_with_the_reference() {
    assert_agrees("m03_spot", SH_EXACT);
}

#[test]
fn suns_agree_with_the_reference() {
    assert_agrees("m04_sun", SH_EXACT);
}

#[test]
fn surface_lights_agree_with_the_reference() {
    assert_agrees("m06_area", 0.003);
}

#[test]
fn filters_agree_with_the_reference() {
    assert_agrees("m07_filter", 0.02);
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    let scene = micro("m07_filter");
    let with = |threads| {
        let settings = BakeSettings {
            threads: Some(threads),
            ..BakeSettings::default()
        };
        let baked = bake(&scene, &settings, &JobContext::default()).unwrap();
        (baked.light_grid, baked.sh_grid, baked.report.rays)
    };
    assert!(with(1) == with(3));
}

#[test]
fn cancelling_a_long_bake_returns_quickly() {
    let settings = BakeSettings {
        sh_cell: ShCell::Explicit(Vec3::splat(8.0)),
        model: LightModel::Corrected,
        ..BakeSettings::default()
    };
    let scene = micro("m06_area");
    let job = Job::spawn(
        "bake",
        || {},
        move |context| bake(&scene, &settings, context),
    )
    .unwrap();
    let progress = job.context().progress.clone();
    let started = Instant::now();
    while progress.snapshot().stage != "light grids" || progress.snapshot().done == 0 {
        assert!(started.elapsed() < Duration::from_secs(20));
        std::thread::yield_now();
    }
    job.context().cancel.cancel();
    let cancelled = Instant::now();
    assert!(matches!(job.wait(), Err(JobError::Cancelled)));
    // Cancellation is checked at every point: micro-seconds; the rest is the scheduler's.
    assert!(cancelled.elapsed() < Duration::from_millis(500));
    let context = JobContext::default();
    context.cancel.cancel();
    let result = bake(&micro("m01_point"), &BakeSettings::default(), &context);
    assert!(matches!(result, Err(BakeError::Cancelled(_))));
}

#[test]
fn plan_says_what_the_bake_makes() {
    let scene = micro("m06_area");
    let settings = BakeSettings::default();
    let planned = plan(&scene, &settings, &JobContext::default()).unwrap();
    let baked = bake(&scene, &settings, &JobContext::default()).unwrap();
    let (legacy, sh) = (baked.light_grid.unwrap(), baked.sh_grid.unwrap());
    assert_eq!(planned.legacy, Some(legacy.lattice));
    assert_eq!(planned.sh, Some(sh.lattice));
    assert_eq!(planned.legacy_bytes, 8 * legacy.points.len() as u64);
    assert_eq!(planned.sh_bytes, 40 + 108 * sh.points.len() as u64);
    assert_eq!(planned.lights, baked.report.lights);
    assert!(planned.lights.areas > 0 && planned.legacy_requested.is_none());
}

#[test]
fn cell_sizes_are_rounded_and_written_to_worldspawn() {
    let scene = micro("m01_point");
    let settings = BakeSettings {
        cell_size: Some(Vec3::new(40.7, 2.0, 128.0)),
        command_line: "-light -sh".to_owned(),
        ..BakeSettings::default()
    };
    let planned = plan(&scene, &settings, &JobContext::default()).unwrap();
    let size = planned.legacy.unwrap().cell_size;
    assert_eq!(size, Vec3::new(40.0, 8.0, 128.0));
    assert_eq!(planned.legacy_requested, settings.cell_size);
    let baked = bake(&scene, &settings, &JobContext::default()).unwrap();
    assert_eq!(baked.gridsize_key.as_deref(), Some("40 8 128"));
    let lit = apply(&scene.bsp, &baked);
    let lit = luxgrid::format::bsp::read(&luxgrid::format::bsp::write(&lit)).unwrap();
    let world = lit.entities.worldspawn().unwrap();
    assert_eq!(world.get("gridsize"), Some("40 8 128"));
    assert!(
        world
            .get("_q3map2_cmdline")
            .unwrap()
            .ends_with("; -light -sh")
    );
    assert_eq!(lit.light_grid, baked.light_grid.unwrap().points);
    assert_eq!(lit.sh_grid, baked.sh_grid);
    let lighting = Lighting::from_bsp(&lit, &Warnings::default());
    assert!(lighting.light_grid.is_some());
}

/// A relight without an SH grid must not leave the old one behind; one of the SH grid alone keeps the legacy grid.
#[test]
fn stale_sh_grid_is_dropped_and_sh_works_without_legacy() {
    let scene = micro("m01_point");
    let settings = BakeSettings {
        legacy: false,
        ..BakeSettings::default()
    };
    let baked = bake(&scene, &settings, &JobContext::default()).unwrap();
    let sh = baked.sh_grid.as_ref().unwrap();
    assert!(baked.light_grid.is_none());
    assert!(
        sh.points
            .iter()
            .flatten()
            .flatten()
            .any(|value| *value > 1.0)
    );
    let lit = apply(&scene.bsp, &baked);
    assert!(lit.sh_grid.is_some());
    let settings = BakeSettings {
        sh: false,
        ..BakeSettings::default()
    };
    let relit = apply(
        &lit,
        &bake(&scene, &settings, &JobContext::default()).unwrap(),
    );
    assert!(relit.sh_grid.is_none() && !relit.light_grid.is_empty());
}

#[test]
fn a_map_without_lights_is_an_error_unless_it_has_ambient_light() {
    let mut scene = micro("m02_occluder");
    let dark = BakeSettings {
        lights: LightsFrom::Bsp,
        ..BakeSettings::default()
    };
    let context = JobContext::default();
    assert!(matches!(
        bake(&scene, &dark, &context),
        Err(BakeError::NoLights)
    ));
    assert!(matches!(
        plan(&scene, &dark, &context),
        Err(BakeError::NoLights)
    ));
    let lit = scene.bsp.with_worldspawn_key("_ambient", "20");
    scene.bsp = Arc::new(lit);
    let baked = bake(&scene, &dark, &context).unwrap();
    let legacy = baked.light_grid.unwrap();
    let open = |index: usize| !is_blocked(&scene, legacy.lattice.position_of(index));
    assert!(
        (0..legacy.points.len())
            .filter(|i| open(*i))
            .all(|i| legacy.points[i].ambient == [20; 3])
    );
    // Irradiance of the SH grid: π·k0·c0, k0 = 0.2821.
    let sh = baked.sh_grid.unwrap();
    let irradiance = |point: &[[f32; 3]; 9]| std::f32::consts::PI * 0.282_094_8 * point[0][0];
    let lit = sh.points.iter().filter(|point| point[0][0] > 0.0);
    assert!(lit.clone().count() > 1000);
    assert!(
        lit.clone()
            .all(|point| (irradiance(point) - 20.0).abs() < 1e-3)
    );
}

#[test]
fn corrected_model_differs_but_not_wildly() {
    let scene = micro("m02_occluder");
    let with = |model| {
        let settings = BakeSettings {
            model,
            ..BakeSettings::default()
        };
        let baked = bake(&scene, &settings, &JobContext::default()).unwrap();
        baked.sh_grid.unwrap().points
    };
    let (plain, corrected) = (with(LightModel::Q3map2), with(LightModel::Corrected));
    let lattice = plan(&scene, &BakeSettings::default(), &JobContext::default());
    let lattice = lattice.unwrap().sh.unwrap();
    let at_a_light = |position: Vec3| position.abs() == Vec3::new(384.0, 0.0, 128.0);
    let difference = |is_compared: &dyn Fn(Vec3) -> bool| {
        compare_sh(&corrected, &plain, |index| {
            let position = lattice.position_of(index);
            !is_blocked(&scene, position) && is_compared(position)
        })
        .relative_rms
    };
    // At the place of a light it comes from everywhere, not from a direction of length zero.
    assert!(difference(&at_a_light) > 0.3);
    let elsewhere = difference(&|position| !at_a_light(position));
    assert!(elsewhere < 0.02, "{elsewhere}");
}

#[test]
fn a_flat_map_without_a_legacy_point_still_bakes_its_sh_grid() {
    let mut scene = micro("m01_point");
    let mut bsp = (*scene.bsp).clone();
    // Between two multiples of 128, with three of 16 inside.
    bsp.models[0].bounds.min.z = 10.0;
    bsp.models[0].bounds.max.z = 60.0;
    scene.bsp = Arc::new(bsp);
    let settings = BakeSettings {
        legacy: false,
        sh_cell: ShCell::Explicit(Vec3::splat(16.0)),
        ..BakeSettings::default()
    };
    let planned = plan(&scene, &settings, &JobContext::default()).unwrap();
    assert_eq!(planned.sh.map(|lattice| lattice.counts.z), Some(3));
    assert_eq!(planned.legacy, None);
    let both = BakeSettings {
        legacy: true,
        ..settings
    };
    let refused = plan(&scene, &both, &JobContext::default());
    assert!(matches!(refused, Err(BakeError::NoLattice(_))));
}
