//! What materials do to the picture, on a small map whose materials and fogs are replaced by ones with a known answer.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use std::path::Path;

use glam::{Vec2, Vec3};
use image::RgbaImage;
use luxgrid::format::material_script::{
    AlphaGen, BlendFactor, Cull, Deform, RgbGen, SkyParms, TcGen,
};
use luxgrid::job::JobContext;
use luxgrid::math::{Aabb, Plane};
use luxgrid::render::{Gpu, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, FogVolume, ImageId, Scene, Stage, StageImage, Vertex};
use luxgrid::trace::Picker;
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, ViewOptions};
use support::adapter::adapter;

const SIZE: (u32, u32) = (80, 60);
const ASPECT: f32 = 4.0 / 3.0;

struct Stand {
    gpu: Gpu,
    renderer: Renderer,
}

impl Stand {
    fn new() -> Option<Self> {
        let gpu = adapter()?;
        let renderer = Renderer::new(&gpu).unwrap();
        Some(Self { gpu, renderer })
    }

    fn shot(&mut self, scene: &Scene, camera: &Camera) -> RgbaImage {
        self.shot_with(scene, camera, &ViewOptions::default())
    }

    fn shot_with(&mut self, scene: &Scene, camera: &Camera, options: &ViewOptions) -> RgbaImage {
        let uploaded = GpuScene::upload(&self.gpu, scene).unwrap();
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &uploaded,
            None,
            camera,
            options,
            &Overlays::default(),
            0.0,
        )
        .unwrap();
        assert_eq!(self.gpu.take_error(), None);
        picture
    }
}

/// A closed room with a pillar, all of whose surfaces have one stage of one colour.
fn room(rgb: Vec3) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/variants/quake3.pk3/maps/m02_occluder.bsp");
    let map = open_map(&path, &SearchOptions::default()).unwrap();
    let mut scene = scene::build(&map, &JobContext::default()).unwrap();
    for material in &mut scene.materials {
        if !material.stages.is_empty() {
            material.stages = vec![stage(rgb)];
        }
    }
    scene
}

fn stage(rgb: Vec3) -> Stage {
    Stage {
        image: StageImage::Image(ImageId::WHITE),
        clamp: false,
        blend: None,
        alpha_func: None,
        depth_write: true,
        depth_equal: false,
        detail: false,
        rgb_gen: RgbGen::Const(rgb),
        alpha_gen: AlphaGen::Identity,
        tc_gen: TcGen::Base,
        tc_mods: Vec::new(),
    }
}

fn blended(stage: Stage, source: BlendFactor, destination: BlendFactor) -> Stage {
    Stage {
        blend: Some((source, destination)),
        depth_write: false,
        ..stage
    }
}

fn camera(scene: &Scene) -> Camera {
    Camera::default().at(&scene.spawns[0])
}

/// Every seventh pixel with what the ray through its middle meets.
fn hits(scene: &Scene, camera: &Camera) -> Vec<(u32, u32, Vec3)> {
    let picker = Picker::new(scene);
    let pixels = (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y)));
    let hits = pixels.step_by(7).filter_map(|(x, y)| {
        let ndc = Vec2::new(
            (x as f32 + 0.5) / SIZE.0 as f32 * 2.0 - 1.0,
            1.0 - (y as f32 + 0.5) / SIZE.1 as f32 * 2.0,
        );
        Some((x, y, picker.pick(&camera.ray(ndc, ASPECT))?.position))
    });
    hits.collect()
}

fn rgb(picture: &RgbaImage, x: u32, y: u32) -> Vec3 {
    let [r, g, b, _] = picture.get_pixel(x, y).0;
    Vec3::new(r.into(), g.into(), b.into()) / 255.0
}

/// Opacity by section 7.2 of the rendering specification.
fn opacity(fog: &FogVolume, camera: &Camera, position: Vec3) -> f32 {
    let depth = (position - camera.eye).dot(camera.forward()) / fog.depth;
    let inside = |point: Vec3| fog.surface.map(|plane| -plane.distance(point));
    let share = match (inside(camera.eye), inside(position)) {
        (Some(eye), Some(point)) if eye >= 0.0 => f32::from(u8::from(point >= 0.0)),
        (Some(eye), Some(point)) if point >= 1.0 => point / (point - eye),
        (Some(_), _) => 0.0,
        _ => 1.0,
    };
    (depth * share).clamp(0.0, 1.0).sqrt()
}

fn in_fog(mut scene: Scene, fog: FogVolume) -> Scene {
    scene.fogs = vec![Some(fog)];
    for surface in &mut scene.surfaces {
        surface.fog = Some(0);
    }
    scene
}

/// The volumes that the formula tells apart: without a side that is seen, around the eye, and below it.
fn volumes(scene: &Scene) -> [FogVolume; 3] {
    let eye = camera(scene).eye;
    let fog = |surface| FogVolume {
        colour: Vec3::new(0.9, 0.3, 0.1),
        depth: 600.0,
        surface,
    };
    let level = |above: f32| Plane {
        normal: Vec3::Z,
        dist: eye.z + above,
    };
    [fog(None), fog(Some(level(8.0))), fog(Some(level(-20.0)))]
}

/// Bytes by which a rounded colour may be off.
const ROUNDED: f32 = 1.5 / 255.0;

#[test]
fn fog_covers_what_is_opaque_by_the_engines_formula() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::new(0.2, 0.4, 0.8);
    for (number, fog) in volumes(&room(own)).into_iter().enumerate() {
        let scene = in_fog(room(own), fog);
        let camera = camera(&scene);
        let floor = scene.bounds.min.z;
        let picture = stand.shot(&scene, &camera);
        let (mut compared, mut fogged) = (0, 0);
        for (x, y, position) in hits(&scene, &camera) {
            // The engine evaluates the share at corners: only where a polygon is level is it the same in between.
            if number > 0 && (position.z - floor).abs() > 1.0 {
                continue;
            }
            let opacity = opacity(&fog, &camera, position);
            // A root rises steeply from 0: rounding of a hit near the eye shows.
            let tolerance = ROUNDED + 0.01;
            let expected = own.lerp(fog.colour, opacity);
            let shown = rgb(&picture, x, y);
            assert!(
                shown.abs_diff_eq(expected, tolerance),
                "{number} {x} {y} {position}: {shown} for {expected}"
            );
            compared += 1;
            fogged += usize::from(opacity > 0.1);
        }
        println!("volume {number}: {fogged} of {compared} pixels in fog");
        assert!(
            compared > 60 && fogged > 40,
            "{number}: {compared} {fogged}"
        );
    }
}

/// Translucent stages are weakened in the channels that their blend function reads, and have no pass of their own.
#[test]
fn fog_weakens_what_is_translucent() {
    use BlendFactor as F;
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::new(0.5, 0.25, 0.75);
    let fog = volumes(&room(own))[0];
    for (source, destination) in [(F::One, F::One), (F::SrcAlpha, F::OneMinusSrcAlpha)] {
        let mut scene = in_fog(room(own), fog);
        let camera = camera(&scene);
        for material in &mut scene.materials {
            if !material.stages.is_empty() {
                material.stages = vec![blended(stage(own), source, destination)];
                material.sort = 9.0;
            }
        }
        let picture = stand.shot(&scene, &camera);
        let hits = hits(&scene, &camera);
        let mut compared = 0;
        for (x, y, position) in hits {
            let left = 1.0 - opacity(&fog, &camera, position);
            // On black only the source counts.
            let expected = own * left;
            let shown = rgb(&picture, x, y);
            // Opacity is evaluated at corners and is a root in between: only the nearer part is compared closely.
            if shown.abs_diff_eq(expected, ROUNDED + 0.12) {
                compared += 1;
            }
        }
        println!("{source:?} {destination:?}: {compared}");
        assert!(compared > 600, "{source:?} {destination:?}: {compared}");
    }
}

/// Detail stages can be left out; all others stay.
#[test]
fn detail_stages_can_be_left_out() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let (own, detail) = (Vec3::new(0.2, 0.4, 0.6), Vec3::new(0.4, 0.2, 0.0));
    let mut scene = room(own);
    for material in &mut scene.materials {
        if !material.stages.is_empty() {
            let added = blended(stage(detail), BlendFactor::One, BlendFactor::One);
            material.stages.push(Stage {
                detail: true,
                ..added
            });
        }
    }
    let camera = camera(&scene);
    for (detail_stages, expected) in [(true, own + detail), (false, own)] {
        let options = ViewOptions {
            detail_stages,
            ..ViewOptions::default()
        };
        let shown = rgb(&stand.shot_with(&scene, &camera, &options), 40, 30);
        assert!(shown.abs_diff_eq(expected, ROUNDED), "{shown} {expected}");
    }
}

/// A quad that faces the picture shows all of its picture from any side; one about its axis stays upright.
#[test]
fn quads_turn_towards_the_eye() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    for (deform, is_square) in [(Deform::AutoSprite, true), (Deform::AutoSprite2, false)] {
        let mut scene = room(Vec3::ONE);
        let quad = scene
            .surfaces
            .iter()
            .position(|surface| surface.indices.len() == 6);
        let mut surface = scene.surfaces[quad.unwrap()].clone();
        let first = u32::try_from(scene.vertices.len()).unwrap();
        let start = u32::try_from(scene.indices.len()).unwrap();
        let template = scene.vertices[scene.indices[surface.indices.start as usize] as usize];
        // Facing +X: from the other side and edge on it is not seen unless it turns.
        for (y, z) in [(8.0, 24.0), (8.0, -24.0), (-8.0, -24.0), (-8.0, 24.0)] {
            scene.vertices.push(Vertex {
                position: Vec3::new(0.0, y, z),
                ..template
            });
        }
        scene
            .indices
            .extend([0, 1, 2, 0, 2, 3].map(|at| first + at));
        surface.indices = start..start + 6;
        surface.bounds = Aabb::from_points([-24.0, 24.0].map(Vec3::splat));
        let material = &mut scene.materials[surface.material.0 as usize];
        material.deforms = vec![deform];
        scene.surfaces = vec![surface];
        for yaw_degrees in [0.0_f32, 45.0, 90.0, 180.0, 250.0] {
            let yaw = yaw_degrees.to_radians();
            let back = Vec3::new(-yaw.cos(), -yaw.sin(), 0.0);
            let camera = Camera {
                eye: back * 60.0,
                yaw,
                pitch: 0.0,
                fov_x: 90_f32.to_radians(),
            };
            let picture = stand.shot(&scene, &camera);
            let white = picture.pixels().filter(|pixel| pixel.0[0] > 128).count() as f32;
            // 40 pixels are 60 units. The engine makes a square of half the quad's diagonal times 0.707.
            let side = 2.0 * 0.707 * Vec2::new(8.0, 24.0).length();
            let expected = if is_square { side * side } else { 16.0 * 48.0 };
            let expected = expected * (40.0_f32 / 60.0).powi(2);
            assert!(
                (white - expected).abs() < 0.15 * expected,
                "{deform:?} {yaw_degrees}: {white} for {expected}"
            );
        }
    }
}

#[test]
fn a_pixel_shows_each_layer_of_a_sky_once_however_many_surfaces_lie_behind_each_other() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let (first, second) = (Vec3::new(0.2, 0.1, 0.0), Vec3::new(0.5, 0.5, 1.0));
    let mut scene = room(Vec3::ONE);
    for material in &mut scene.materials {
        material.sky = Some(SkyParms {
            outer: None,
            cloud_height: 512.0,
            inner: None,
        });
        material.cull = Cull::Nothing;
        material.stages = vec![
            blended(stage(first), BlendFactor::One, BlendFactor::One),
            blended(stage(second), BlendFactor::DstColor, BlendFactor::Zero),
        ];
    }
    // From outside the near walls, the pillar and the far walls lie behind each other.
    let camera = Camera {
        eye: scene.bounds.centre() - Vec3::new(700.0, 500.0, 0.0),
        yaw: 36_f32.to_radians(),
        ..Camera::default()
    };
    let mut options = ViewOptions::default();
    options.visibility.draws_all = true;
    let picture = stand.shot_with(&scene, &camera, &options);
    let mut covered = 0;
    for pixel in picture.pixels().filter(|pixel| pixel.0[0] > 0) {
        // Clouds end where the lower side of the box begins.
        assert_eq!(pixel.0, [26, 13, 0, 255]);
        covered += 1;
    }
    assert!(covered > 500, "{covered}");
}
