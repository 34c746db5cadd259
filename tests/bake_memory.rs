//! What a bake takes: never more than its plan says beside the map, and of its grids one copy and a half at most.
//!
//! A binary of its own, since the figures are those of the whole process.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; figures are shown on request"
)]

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use luxgrid::cli::Exit;
use luxgrid::job::JobContext;
use luxgrid::light::{BakeError, BakeSettings, ShCell, bake, plan};
use luxgrid::scene::{Scene, build};
use luxgrid::vfs::{SearchOptions, open_map};
use peak_alloc::PeakAlloc;
use serde_json::Value;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes of a point in both grids; the bar counts every point as if it were in both.
const POINT_BYTES: u64 = 116;

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most bytes allocated at once while `work` runs, beside those that were there before.
fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result = work();
    (result, MEMORY.peak_usage().saturating_sub(before) as u64)
}

fn scene(path: &Path) -> Scene {
    let map = open_map(path, &SearchOptions::default()).unwrap();
    build(&map, &JobContext::default()).unwrap()
}

fn demo() -> Scene {
    scene(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/maps/atrium.bsp"))
}

fn with_sh_cell(x: f32, y: f32, z: f32) -> BakeSettings {
    BakeSettings {
        sh_cell: ShCell::Explicit(glam::Vec3::new(x, y, z)),
        ..BakeSettings::default()
    }
}

/// The whole call of the tool, in this process: points, and the most bytes at once.
fn bake_demo(cell: [&str; 3], more: &[&str]) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out.bsp");
    let mut words = vec![
        "luxtool",
        "bake",
        "demo",
        "-sh",
        "-json",
        "-progress",
        "off",
    ];
    words.extend(["-gridsh", cell[0], cell[1], cell[2], "-o"]);
    words.push(target.to_str().unwrap());
    words.extend(more);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words = words.iter().map(OsString::from);
    let (exit, bytes) = peak(|| luxgrid::cli::run(words, &mut out, &mut err));
    assert_eq!(exit, Exit::Done, "{}", String::from_utf8_lossy(&err));
    let report: Value = serde_json::from_slice(&out).unwrap();
    let points = |grid: &str| report["plan"][grid]["points"].as_u64().unwrap();
    let stored = std::fs::metadata(target).unwrap().len();
    assert!(stored > 108 * points("sh"));
    (points("sh") + points("legacy"), bytes)
}

#[test]
fn the_grids_are_held_once() {
    let _alone = alone();
    // What does not grow with the points: the map with its images.
    let (few, base) = bake_demo(["128", "128", "128"], &["-notrace"]);
    let (many, bytes) = bake_demo(["24", "24", "28"], &["-notrace"]);
    let grown = (many - few) * POINT_BYTES;
    eprintln!("{few} points {base} bytes, {many} points {bytes} bytes");
    assert!(many > 150_000 && base < 100 << 20);
    // Far under one half more: a second copy of the points would not fit.
    assert!(bytes < base + grown * 5 / 4, "{bytes} {base} {grown}");
}

#[test]
fn a_million_points_stay_under_the_bar() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let _alone = alone();
    let (points, bytes) = bake_demo(["13", "13", "15"], &[]);
    eprintln!("{points} points: {bytes} bytes");
    assert!(points > 1_000_000);
    assert!(bytes < points * POINT_BYTES * 3 / 2 + 200_000_000);
}

#[test]
fn a_bake_takes_no_more_than_its_plan_says() {
    let _alone = alone();
    let mut scenes = vec![demo()];
    let archive = Path::new("/usr/share/games/openarena/baseoa/z_oacmp-volume1-v3.pk3");
    if archive.is_file() {
        for map in ["oacmpdm2", "oacmpdm7", "oacmpdm9"] {
            scenes.push(scene(&archive.join(format!("maps/{map}.bsp"))));
        }
    } else {
        eprintln!("skipped: no {}", archive.display());
    }
    if let Some(reference) = std::env::var_os("LUXGRID_REFERENCE") {
        for map in ["oacmpdm1", "oacmpdm3", "oacmpdm4", "oacmpdm8"] {
            let folder = Path::new(&reference).join("real").join(map);
            scenes.push(scene(&folder.join("input.bsp")));
        }
    } else {
        eprintln!("skipped: no LUXGRID_REFERENCE");
    }
    for scene in scenes {
        let settings = BakeSettings {
            threads: Some(3),
            no_trace: true,
            fast: true,
            ..with_sh_cell(96.0, 96.0, 96.0)
        };
        let context = JobContext::default();
        let planned = plan(&scene, &settings, &context).unwrap();
        let (baked, bytes) = peak(|| bake(&scene, &settings, &context).unwrap());
        let estimate = planned.memory.total();
        eprintln!(
            "{}: {bytes} of {estimate}, {:?}",
            scene.name, planned.memory
        );
        assert!(bytes <= estimate, "{bytes} {:?}", planned.memory);
        // Nor so much that the figure would say nothing.
        assert!(bytes > estimate / 8, "{bytes} {:?}", planned.memory);
        drop(baked);
    }
}

#[test]
fn over_the_budget_nothing_is_allocated_and_a_cell_that_fits_is_named() {
    let _alone = alone();
    let scene = demo();
    let budget = 40_u64 << 20;
    let settings = BakeSettings {
        memory: Some(budget),
        ..with_sh_cell(8.0, 8.0, 8.0)
    };
    let context = JobContext::default();
    let (refused, bytes) = peak(|| bake(&scene, &settings, &context));
    let Err(BakeError::Memory {
        needed,
        budget: allowed,
        advice,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert!(needed > 200 && allowed == 40, "{needed} {allowed}");
    assert!(bytes < 10 << 20, "{bytes}");
    assert!(plan(&scene, &settings, &context).is_err());
    let cell: Vec<f32> = advice
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [x, y, z] = cell[..] else {
        panic!("{advice}");
    };
    let smaller = BakeSettings {
        memory: Some(budget),
        ..with_sh_cell(x, y, z)
    };
    let planned = plan(&scene, &smaller, &context).unwrap();
    assert!(planned.memory.total() <= budget);
    // The next smaller cell does not fit.
    let larger = BakeSettings {
        memory: Some(budget),
        ..with_sh_cell(x - 8.0, y - 8.0, z - 8.0)
    };
    assert!(plan(&scene, &larger, &context).is_err());
    let hopeless = BakeSettings {
        memory: Some(1 << 20),
        ..BakeSettings::default()
    };
    let error = plan(&scene, &hopeless, &context).unwrap_err().to_string();
    assert!(error.contains("no larger cell would fit"), "{error}");
}
