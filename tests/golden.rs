//! The renderer against the real engine: the demo map from four views in three modes.
//!
//! The references are the engine's own pictures (ioquake3's first renderer, no overbright left, no anisotropy) scaled from
//! 1280×720 to 320×180 by boxes of four; ours are scaled the same way. Clouds drift by a time that is not recorded, the
//! fullbright pictures are from another run whose eye is off by parts of a unit, and edges are not antialiased; that is
//! what the tolerance is for. A wrong overbright is far outside it, which the last test shows.

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

use std::path::{Path, PathBuf};

use glam::Vec3;
use image::RgbaImage;
use luxgrid::job::JobContext;
use luxgrid::math::colour::{Overbright, shift};
use luxgrid::probe::{LegacyProfile, evaluate_sh, node_legacy, shade_legacy};
use luxgrid::render::{Gpu, GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, Scene};
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, ProbeShow, RenderMode, ViewOptions};
use support::adapter::adapter;
use support::image_compare::{box_downscale, difference_image, worst_mean_difference};

/// Largest mean absolute difference of a channel, bytes.
const TOLERANCE: f64 = 6.0;
/// Size at which the engine drew, pixels.
const SIZE: (u32, u32) = (1280, 720);
/// Between that and the references.
const FACTOR: u32 = 4;

struct View {
    name: &'static str,
    eye: Vec3,
    yaw_degrees: f32,
}

const VIEWS: [View; 4] = [
    View {
        name: "hall",
        eye: Vec3::new(-440.295, -120.079, 86.0),
        yaw_degrees: 14.996,
    },
    View {
        name: "twin",
        eye: Vec3::new(600.377, -149.783, 66.0),
        yaw_degrees: 29.998,
    },
    View {
        name: "box",
        eye: Vec3::new(0.0, -599.871, 66.0),
        yaw_degrees: -90.0,
    },
    View {
        name: "corridor",
        eye: Vec3::new(0.0, 600.435, 66.0),
        yaw_degrees: 90.0,
    },
];

const MODES: [(RenderMode, &str); 3] = [
    (RenderMode::Lit, ""),
    (RenderMode::Lightmap, "_lightmap"),
    (RenderMode::Fullbright, "_fullbright"),
];

impl View {
    fn camera(&self) -> Camera {
        let aspect = SIZE.0 as f32 / SIZE.1 as f32;
        Camera {
            eye: self.eye,
            yaw: self.yaw_degrees.to_radians(),
            pitch: 0.0,
            fov_x: Camera::fov_x_for_aspect(90_f32.to_radians(), aspect),
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn references() -> PathBuf {
    root().join("tests/data/engine-shots")
}

fn demo_scene() -> Scene {
    let options = SearchOptions {
        base_paths: vec![root().join("assets")],
        games: vec!["demo".to_owned()],
        ..SearchOptions::default()
    };
    let map = open_map(&references().join("atrium46.bsp"), &options).unwrap();
    scene::build(&map, &JobContext::default()).unwrap()
}

struct Stand {
    gpu: Gpu,
    renderer: Renderer,
    scene: GpuScene,
}

impl Stand {
    fn new() -> Option<Self> {
        let gpu = adapter()?;
        let renderer = Renderer::new(&gpu).unwrap();
        let scene = GpuScene::upload(&gpu, &demo_scene()).unwrap();
        Some(Self {
            gpu,
            renderer,
            scene,
        })
    }

    fn shot(&mut self, view: &View, options: &ViewOptions) -> RgbaImage {
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &self.scene,
            None,
            &view.camera(),
            options,
            &Overlays::default(),
            0.0,
        )
        .unwrap();
        box_downscale(&picture, FACTOR)
    }
}

fn reference(name: &str) -> RgbaImage {
    let path = references().join(format!("{name}.png"));
    image::open(path).unwrap().to_rgba8()
}

/// Leaves the picture and its difference where CI collects them.
fn keep(name: &str, actual: &RgbaImage, expected: &RgbaImage) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let difference = difference_image(actual, expected);
    actual
        .save(folder.join(format!("{name}.actual.png")))
        .unwrap();
    difference
        .save(folder.join(format!("{name}.difference.png")))
        .unwrap();
    println!("kept {name} in {}", folder.display());
}

#[test]
fn pictures_match_the_engine() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let mut failures = Vec::new();
    for view in &VIEWS {
        for (mode, suffix) in MODES {
            let options = ViewOptions {
                mode,
                ..ViewOptions::default()
            };
            let name = format!("{}{suffix}", view.name);
            let (actual, expected) = (stand.shot(view, &options), reference(&name));
            let worst = worst_mean_difference(&actual, &expected);
            println!("{name}: {worst:.2}");
            if worst > TOLERANCE {
                keep(&name, &actual, &expected);
                failures.push(format!("{name}: {worst:.2}"));
            }
        }
    }
    assert_eq!(stand.gpu.take_error(), None);
    assert!(failures.is_empty(), "{failures:?}");
}

/// The comparison must notice half and double the light wherever light is shown.
#[test]
fn another_overbright_does_not_match() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    for view in &VIEWS {
        for (mode, suffix) in &MODES[..2] {
            for bits in [0, 1, 3] {
                let options = ViewOptions {
                    mode: *mode,
                    overbright: Overbright::Bits(bits),
                    ..ViewOptions::default()
                };
                let name = format!("{}{suffix}", view.name);
                let worst = worst_mean_difference(&stand.shot(view, &options), &reference(&name));
                println!("{name} with {bits} bits: {worst:.2}");
                assert!(worst > TOLERANCE, "{name} with {bits} bits: {worst:.2}");
            }
        }
    }
}

/// Byte difference allowed on spheres: a pixel's middle is not the projected centre, and the target rounds.
const SPHERE_TOLERANCE: f32 = 2.0;

/// The pixel in the middle of a sphere shows what the sampler's own functions give for the normal towards the eye.
#[test]
fn spheres_show_what_the_sampler_computes() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let scene = scene::build(&luxgrid::vfs::open_demo(), &JobContext::default()).unwrap();
    let lighting = &scene.lighting;
    let grids = GpuGrids::upload(&stand.gpu, lighting, &[], &[]).unwrap();
    let light_grid = lighting.light_grid.as_ref().unwrap();
    let sh_grid = lighting.sh_grid.as_ref().unwrap();
    let mut compared = 0;
    for show in [ProbeShow::Legacy, ProbeShow::Sh] {
        let lattice = match show {
            ProbeShow::Legacy => light_grid.lattice,
            _ => sh_grid.lattice,
        };
        for index in (0..usize::try_from(lattice.len()).unwrap()).step_by(311) {
            let mut options = ViewOptions::default();
            options.probes.show = show;
            options.probes.x_ray = true;
            options.probes.hide_in_solid = false;
            // Only the sphere in front of the eye is near enough.
            options.probes.distance = 40.0;
            let profile = options.probes.sh_profile;
            let centre = lattice.position_of(index);
            let camera = Camera {
                eye: centre + Vec3::new(-18.0, 6.0, 9.0),
                ..Camera::default()
            };
            let to_eye = (camera.eye - centre).normalize_or_zero();
            let camera = Camera {
                yaw: (-to_eye.y).atan2(-to_eye.x),
                pitch: to_eye.z.asin(),
                ..camera
            };
            let expected = if show == ProbeShow::Legacy {
                let point = &light_grid.points[index];
                let light = node_legacy(point, LegacyProfile::Ioq3, options.overbright);
                shade_legacy(&light, to_eye)
            } else {
                let point = &sh_grid.points[index];
                let stored = evaluate_sh(point, to_eye, profile.band_weights());
                let factor = options.overbright.factor();
                shift(stored.max(Vec3::ZERO), factor, options.clamp)
            };
            let picture = render_to_image(
                &stand.gpu,
                &mut stand.renderer,
                (65, 65),
                &stand.scene,
                Some(&grids),
                &camera,
                &options,
                &Overlays::default(),
                0.0,
            )
            .unwrap();
            let pixel = picture.get_pixel(32, 32).0;
            let shown = Vec3::new(pixel[0].into(), pixel[1].into(), pixel[2].into());
            assert!(
                shown.abs_diff_eq(expected, SPHERE_TOLERANCE),
                "{show:?} {index}: {shown} for {expected}"
            );
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
    assert_eq!(stand.gpu.take_error(), None);
}
