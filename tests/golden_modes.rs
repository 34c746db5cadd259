//! A picture of every mode on the demo and on two small maps, against the ones in `tests/data/modes`, which were looked at.
//!
//! Drivers differ at edges and in rounding; that is what the tolerance is for. `UPDATE_SNAPSHOTS=1` rewrites the pictures.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
    pub(crate) mod image_compare;
}

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glam::Vec3;
use image::RgbaImage;
use luxgrid::job::JobContext;
use luxgrid::render::{GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, Scene};
use luxgrid::vfs::{SearchOptions, open_demo, open_map};
use luxgrid::view::{Camera, Overlays, RenderMode, ViewOptions};
use support::adapter::adapter;
use support::image_compare::{difference_image, worst_mean_difference};

const SIZE: (u32, u32) = (160, 90);
/// Largest mean absolute difference of a channel, bytes.
const MEAN: f64 = 1.0;
/// A channel that differs by more, in bytes, counts as another colour.
const FAR: u8 = 24;
/// Share of pixels that may have another colour.
const SHARE: f64 = 0.01;

struct View {
    name: &'static str,
    scene: Scene,
    camera: Camera,
    /// Modes that show nothing of this map.
    missing: &'static [RenderMode],
}

fn camera(eye: Vec3, yaw: f32, pitch: f32) -> Camera {
    Camera {
        eye,
        yaw: yaw.to_radians(),
        pitch: pitch.to_radians(),
        fov_x: 100_f32.to_radians(),
    }
}

/// The demo under its glass roof and along its grate; rooms with doors between areas; a map with deluxe pages.
fn views() -> [View; 3] {
    let small = |path: &str| {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
        let map = open_map(&data.join(path), &SearchOptions::default()).unwrap();
        scene::build(&map, &JobContext::default()).unwrap()
    };
    [
        View {
            name: "atrium",
            scene: scene::build(&open_demo(), &JobContext::default()).unwrap(),
            camera: camera(Vec3::new(-560.0, 0.0, 60.0), 180.0, -25.0),
            missing: &[RenderMode::Deluxe],
        },
        View {
            name: "m09_areas",
            scene: small("quake3.pk3/maps/m09_areas.bsp"),
            camera: camera(Vec3::new(-440.0, -60.0, 90.0), 10.0, 10.0),
            missing: &[RenderMode::Deluxe],
        },
        View {
            name: "m02_occluder",
            scene: small("xonotic.pk3/maps/m02_occluder.bsp"),
            camera: camera(Vec3::new(-400.0, -200.0, 58.0), 60.0, 5.0),
            missing: &[RenderMode::ShLit],
        },
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/modes")
}

/// Share of the pixels with a channel that is far off.
fn far_share(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let is_far = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > FAR)
    };
    let far = a.pixels().zip(b.pixels()).filter(is_far).count();
    far as f64 / (f64::from(a.width()) * f64::from(a.height()))
}

/// What is wrong with a picture; `None` when it is as expected.
fn verdict(name: &str, actual: &RgbaImage) -> Option<String> {
    let path = folder().join(format!("{name}.png"));
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|value| value != "0") {
        image::DynamicImage::from(actual.clone())
            .to_rgb8()
            .save(&path)
            .unwrap();
        return None;
    }
    let Ok(expected) = image::open(&path) else {
        return Some(format!("{name}: no {}", path.display()));
    };
    let expected = expected.to_rgba8();
    let (mean, far) = (
        worst_mean_difference(actual, &expected),
        far_share(actual, &expected),
    );
    if mean <= MEAN && far <= SHARE {
        return None;
    }
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR"));
    actual
        .save(kept.join(format!("{name}.actual.png")))
        .unwrap();
    difference_image(actual, &expected)
        .save(kept.join(format!("{name}.difference.png")))
        .unwrap();
    println!("kept {name} in {}", kept.display());
    let percent = far * 100.0;
    Some(format!("{name}: mean {mean:.2}, {percent:.1} % far off"))
}

#[test]
fn every_mode_looks_as_it_did() {
    let Some(gpu) = adapter() else {
        return;
    };
    let mut renderer = Renderer::new(&gpu).unwrap();
    let mut failures = Vec::new();
    let mut names = BTreeSet::new();
    for view in views() {
        let lighting = &view.scene.lighting;
        let scene = GpuScene::upload(&gpu, &view.scene).unwrap();
        let grids = GpuGrids::upload(&gpu, lighting, &[], &[]).unwrap();
        for mode in RenderMode::ALL {
            let missing = mode.missing_in(&view.scene, lighting).is_some();
            assert_eq!(missing, view.missing.contains(&mode), "{mode:?}");
            if missing {
                continue;
            }
            let mut options = ViewOptions::default();
            options.adapt_to(&view.scene);
            options.mode = mode;
            let picture = render_to_image(
                &gpu,
                &mut renderer,
                SIZE,
                &scene,
                Some(&grids),
                &view.camera,
                &options,
                &Overlays::default(),
                0.0,
            )
            .unwrap();
            let name = format!("{}_{}", view.name, mode.word());
            failures.extend(verdict(&name, &picture));
            names.insert(format!("{name}.png"));
        }
    }
    assert_eq!(gpu.take_error(), None);
    assert!(failures.is_empty(), "{failures:#?}");
    let stored = std::fs::read_dir(folder()).unwrap();
    let stored: BTreeSet<String> = stored
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(stored, names, "pictures without a mode, or modes without");
}
