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
use std::sync::Arc;

use glam::{Vec2, Vec3};
use image::RgbaImage;
use luxgrid::format::bsp::{Leaf, LightGridPoint, SurfaceKind, surface_flags};
use luxgrid::format::material_script::{
    AlphaGen, BlendFactor, Cull, Deform, RgbGen, SkyParms, TcGen,
};
use luxgrid::job::JobContext;
use luxgrid::math::colour::Overbright;
use luxgrid::math::{Aabb, Plane};
use luxgrid::probe::{LegacyProfile, sample_legacy, shade_legacy};
use luxgrid::render::{Gpu, GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{
    self, Flare, FogVolume, ImageId, MaterialId, Scene, Stage, StageImage, SurfaceId, Vertex,
};
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
        self.shot_at(&uploaded, camera, options, 0.0)
    }

    fn shot_at(
        &mut self,
        uploaded: &GpuScene,
        camera: &Camera,
        options: &ViewOptions,
        time_secs: f32,
    ) -> RgbaImage {
        self.shot_of(uploaded, None, camera, options, time_secs)
    }

    fn shot_of(
        &mut self,
        uploaded: &GpuScene,
        grids: Option<&GpuGrids>,
        camera: &Camera,
        options: &ViewOptions,
        time_secs: f32,
    ) -> RgbaImage {
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            uploaded,
            grids,
            camera,
            options,
            &Overlays::default(),
            time_secs,
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

/// The room with one flare of a white picture where the ray through the middle of the view is `before_wall` units short
/// of what it meets. Also where that is.
fn flaring(own: Vec3, before_wall: f32, normal: Vec3) -> (Scene, Vec3) {
    let mut scene = room(own);
    let camera = camera(&scene);
    let ray = camera.ray(Vec2::ZERO, ASPECT);
    let wall = Picker::new(&scene).pick(&ray).unwrap().position;
    let origin = wall - camera.forward() * before_wall;
    let mut material = scene.materials[0].clone();
    let glow = Stage {
        rgb_gen: RgbGen::Vertex,
        ..stage(Vec3::ONE)
    };
    material.stages = vec![blended(glow, BlendFactor::One, BlendFactor::One)];
    let mut surface = scene.surfaces[0].clone();
    surface.kind = SurfaceKind::Flare;
    surface.material = MaterialId(u32::try_from(scene.materials.len()).unwrap());
    surface.id = SurfaceId(u32::try_from(scene.surfaces.len()).unwrap());
    surface.indices = 0..0;
    scene.flares = vec![Flare {
        surface: surface.id,
        origin,
        // From so far a common one would hardly show.
        colour: Vec3::new(16.0, 8.0, 4.0),
        normal,
    }];
    scene.surfaces.push(surface);
    scene.materials.push(material);
    (scene, origin)
}

/// What a flare of colour 1 adds to the middle of its quad, and the quad's side in pixels: section 3 of the specification.
fn flare_light(camera: &Camera, origin: Vec3) -> (f32, f32) {
    let depth = (origin - camera.eye).dot(camera.forward());
    let size = SIZE.0 as f32 * (40.0 / 640.0 + 8.0 / depth);
    (
        150.0 * size * size / (depth + size * 150_f32.sqrt()).powi(2),
        size,
    )
}

fn with_flares() -> ViewOptions {
    ViewOptions {
        flares: true,
        ..ViewOptions::default()
    }
}

/// A flare is a square of the specified size and brightness around its place, and off unless asked for.
#[test]
fn a_flare_has_its_size_and_brightness() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::new(0.1, 0.2, 0.3);
    let (scene, origin) = flaring(own, 64.0, Vec3::ZERO);
    let camera = camera(&scene);
    let (light, size) = flare_light(&camera, origin);
    let picture = stand.shot_with(&scene, &camera, &with_flares());
    let (expected, shown) = (own + scene.flares[0].colour * light, rgb(&picture, 40, 30));
    assert!(
        shown.abs_diff_eq(expected.min(Vec3::ONE), ROUNDED),
        "{shown} {expected}"
    );
    let glowing = picture.pixels().filter(|pixel| pixel.0[0] > 60).count();
    // Along each side the middles of `size` pixels, give or take one.
    let (least, most) = ((size - 1.0).powi(2), (size + 1.0).powi(2));
    assert!(
        (least..=most).contains(&(glowing as f32)),
        "{glowing} for {size} squared"
    );
    let plain = stand.shot_with(&scene, &camera, &ViewOptions::default());
    assert!(rgb(&plain, 40, 30).abs_diff_eq(own, ROUNDED));
}

/// Up to 24 units behind what is drawn it is seen, and not farther.
#[test]
fn a_flare_is_hidden_by_what_is_well_before_it() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::splat(0.2);
    for (before_wall, is_seen) in [(1.0, true), (-22.0, true), (-26.0, false), (-200.0, false)] {
        let (scene, _) = flaring(own, before_wall, Vec3::ZERO);
        let camera = camera(&scene);
        let shown = rgb(&stand.shot_with(&scene, &camera, &with_flares()), 40, 30);
        assert_eq!(shown.x > 0.21, is_seen, "{before_wall}: {shown}");
    }
}

/// It is dimmed by the cosine between its normal and the way to the eye, and gone from behind.
#[test]
fn a_flare_shines_along_its_normal() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::splat(0.1);
    let back = -camera(&room(own)).forward();
    let aslant = (back + back.cross(Vec3::Z).normalize_or_zero() * 3_f32.sqrt()) * 0.5;
    for (normal, share) in [(back, 1.0), (aslant, 0.5), (-back, 0.0)] {
        let (scene, origin) = flaring(own, 64.0, normal);
        let camera = camera(&scene);
        let light = flare_light(&camera, origin).0 * share;
        let shown = rgb(&stand.shot_with(&scene, &camera, &with_flares()), 40, 30);
        let expected = own + scene.flares[0].colour * light;
        assert!(
            shown.abs_diff_eq(expected, ROUNDED),
            "{normal}: {shown} {expected}"
        );
    }
}

/// Fog weakens it as it does all that is added.
#[test]
fn a_flare_is_weakened_by_its_fog() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::splat(0.1);
    let (mut scene, origin) = flaring(own, 64.0, Vec3::ZERO);
    let fog = volumes(&scene)[0];
    scene.fogs = vec![Some(fog)];
    scene.surfaces.last_mut().unwrap().fog = Some(0);
    let camera = camera(&scene);
    let left = 1.0 - opacity(&fog, &camera, origin);
    let expected = own + scene.flares[0].colour * flare_light(&camera, origin).0 * left;
    let shown = rgb(&stand.shot_with(&scene, &camera, &with_flares()), 40, 30);
    assert!(
        left < 0.9 && shown.abs_diff_eq(expected, ROUNDED),
        "{shown} {expected}"
    );
}

/// In moving pictures it comes and goes at 7 a second; the first one shows it whole.
#[test]
fn a_flare_fades() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::splat(0.1);
    let (scene, origin) = flaring(own, 64.0, Vec3::ZERO);
    let uploaded = GpuScene::upload(&stand.gpu, &scene).unwrap();
    let camera = camera(&scene);
    // The same way from behind the wall: there is no flare in the picture.
    let away = Camera {
        yaw: camera.yaw + std::f32::consts::PI,
        ..camera
    };
    let light = flare_light(&camera, origin).0;
    for (time_secs, view, level) in [
        (1.0, &camera, 1.0),
        (1.05, &away, 0.65),
        (1.07, &camera, 0.79),
        (1.07, &camera, 1.0),
        (1.17, &away, 0.3),
        (1.3, &away, 0.0),
        (1.35, &camera, 0.35),
        (1.45, &camera, 1.0),
    ] {
        let picture = stand.shot_at(&uploaded, view, &with_flares(), time_secs);
        if view == &camera {
            let expected = own + scene.flares[0].colour * light * level;
            let shown = rgb(&picture, 40, 30);
            assert!(
                shown.abs_diff_eq(expected, ROUNDED),
                "{time_secs}: {shown} {expected}"
            );
        }
    }
}

/// The places of cloud layers are on a cube that just fits before the farthest corner of what is seen; fog covers them by the
/// same formula as a wall there. A sky box alone has no stage, and no fog.
#[test]
fn fog_covers_cloud_layers() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let own = Vec3::new(0.2, 0.4, 0.8);
    for fog in volumes(&room(own)) {
        let fog = FogVolume {
            depth: 1500.0,
            ..fog
        };
        let mut scene = in_fog(room(own), fog);
        for material in &mut scene.materials {
            material.surface_flags |= surface_flags::SKY;
            material.sort = 2.0;
        }
        let camera = camera(&scene);
        // The first leaf is a stand-in of the compiler, its box inside out.
        let is_real = |leaf: &&Leaf| leaf.cluster.is_some() && leaf.min.x < leaf.max.x;
        let leafs = scene.bsp.leafs.iter().filter(is_real);
        let ends = leafs.flat_map(|leaf| [leaf.min.as_vec3(), leaf.max.as_vec3()]);
        let corners = Aabb::from_points(ends).corners().into_iter();
        let farthest = corners.map(|corner| corner.distance(camera.eye));
        let reach = farthest.fold(0.0, f32::max) / 3_f32.sqrt();
        let picture = stand.shot(&scene, &camera);
        let (mut compared, mut fogged) = (0, 0);
        for (x, y, position) in hits(&scene, &camera) {
            let away = position - camera.eye;
            let face = away.abs().max_element();
            // No clouds below, and rays at an edge fall to either side.
            if away.z < 0.0 && away.z.abs() > face - 4.0 {
                continue;
            }
            let opacity = opacity(&fog, &camera, camera.eye + away * (reach / face));
            let expected = own.lerp(fog.colour, opacity);
            let shown = rgb(&picture, x, y);
            // The same tolerance as above: a root rises steeply from 0.
            assert!(
                shown.abs_diff_eq(expected, ROUNDED + 0.01),
                "{fog:?} {x} {y}: {shown} for {expected}"
            );
            compared += 1;
            fogged += usize::from(opacity > 0.1);
        }
        println!("{fogged} of {compared} pixels of the sky in fog");
        assert!(compared > 200 && fogged > 40, "{compared} {fogged}");
        for material in &mut scene.materials {
            material.stages.clear();
        }
        let sky = rgb(&stand.shot(&scene, &camera), 40, 20);
        assert!(!sky.abs_diff_eq(fog.colour, 0.1), "{sky}");
    }
}

/// `rgbGen lightingDiffuse` on the world is the light grid at the middle of the surface, by the grid and the overbright that
/// are shown: those of a bake, after it.
#[test]
fn surfaces_lit_by_the_grid_follow_it_and_the_overbright() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let mut scene = room(Vec3::ONE);
    for material in &mut scene.materials {
        for stage in &mut material.stages {
            stage.rgb_gen = RgbGen::LightingDiffuse;
        }
    }
    let own = scene.lighting.clone();
    let mut baked = own.clone();
    let grid = Arc::make_mut(baked.light_grid.as_mut().unwrap());
    for point in &mut grid.points {
        *point = LightGridPoint {
            ambient: [10, 20, 30],
            directed: [0, 40, 0],
            ..*point
        };
    }
    let uploaded = GpuScene::upload(&stand.gpu, &scene).unwrap();
    let camera = camera(&scene);
    let picker = Picker::new(&scene);
    let mut shots = Vec::new();
    for (lighting, bits) in [
        (None, 2),
        (Some(&baked), 2),
        (Some(&baked), 0),
        (Some(&own), 0),
    ] {
        let options = ViewOptions {
            overbright: Overbright::Bits(bits),
            ..ViewOptions::default()
        };
        let grids =
            lighting.map(|lighting| GpuGrids::upload(&stand.gpu, lighting, &[], &[]).unwrap());
        let picture = stand.shot_of(&uploaded, grids.as_ref(), &camera, &options, 0.0);
        let grid = lighting.unwrap_or(&own).light_grid.as_ref().unwrap();
        let mut compared = 0;
        for (x, y, _) in hits(&scene, &camera) {
            let ndc = Vec2::new((x as f32 + 0.5) / 40.0 - 1.0, 1.0 - (y as f32 + 0.5) / 30.0);
            let hit = picker.pick(&camera.ray(ndc, ASPECT)).unwrap();
            let surface = &scene.surfaces[hit.surface.0 as usize];
            let middle = surface.bounds.centre();
            let sample = sample_legacy(grid, middle, LegacyProfile::Ioq3, options.overbright);
            let normal = scene.corners(surface.indices.start).unwrap()[0].normal;
            let expected = shade_legacy(&sample.light, normal) / 255.0;
            let shown = rgb(&picture, x, y);
            assert!(
                shown.abs_diff_eq(expected, ROUNDED),
                "{bits} {x} {y}: {shown} {expected}"
            );
            compared += 1;
        }
        assert!(compared > 600, "{compared}");
        shots.push(picture);
    }
    for pair in shots.windows(2) {
        assert!(pair[0] != pair[1]);
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
