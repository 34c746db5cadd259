//! The modes that show one property of the surfaces, pixel by pixel against the same property worked out from the map.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use glam::{Vec2, Vec3};
use image::RgbaImage;
use luxgrid::format::bsp::SurfaceKind;
use luxgrid::job::JobContext;
use luxgrid::math::colour::{Clamp, Overbright, shift};
use luxgrid::probe::{
    LegacyProfile, ShCorners, evaluate_sh, sample_legacy, sample_sh, shade_legacy,
};
use luxgrid::render::{Gpu, GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, LightSource, Scene, Surface};
use luxgrid::trace::{PickHit, Picker};
use luxgrid::view::{
    Camera, LIGHT_SOURCE_COLOURS, LUXEL_COLOURS, OVERDRAW_STEP, Overlays, RenderMode, ViewOptions,
    hashed_colour,
};
use support::adapter::adapter;

const SIZE: (u32, u32) = (320, 180);
/// Byte difference allowed: the target rounds, and a pixel's middle is met with a float's precision.
const NEAR: f32 = 2.5;

struct Stand {
    gpu: Gpu,
    renderer: Renderer,
    scene: Scene,
    uploaded: GpuScene,
    grids: GpuGrids,
    camera: Camera,
}

/// A pixel in the middle of a surface, and what is behind it.
struct Spot {
    pixel: (u32, u32),
    hit: PickHit,
}

impl Stand {
    /// The demo's hall.
    fn new() -> Option<Self> {
        let gpu = adapter()?;
        let scene = scene::build(&luxgrid::vfs::open_demo(), &JobContext::default()).unwrap();
        Some(Self {
            renderer: Renderer::new(&gpu).unwrap(),
            uploaded: GpuScene::upload(&gpu, &scene).unwrap(),
            grids: GpuGrids::upload(&gpu, &scene.lighting, &[], &[]).unwrap(),
            camera: Camera {
                eye: Vec3::new(-440.0, -120.0, 86.0),
                yaw: 0.3,
                pitch: 0.1,
                fov_x: 1.8,
            },
            scene,
            gpu,
        })
    }

    fn shot(&mut self, options: &ViewOptions) -> RgbaImage {
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &self.uploaded,
            Some(&self.grids),
            &self.camera,
            options,
            &Overlays::default(),
            0.0,
        );
        assert_eq!(self.gpu.take_error(), None);
        picture.unwrap()
    }

    fn mode(&mut self, mode: RenderMode) -> RgbaImage {
        self.shot(&in_mode(mode))
    }

    /// Pixels over the picture whose neighbours show the same flat surface.
    fn spots(&self) -> Vec<Spot> {
        let picker = Picker::new(&self.scene);
        let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
        let at = |x: f32, y: f32| {
            let ndc = Vec2::new(2.0 * x / width - 1.0, 1.0 - 2.0 * y / height);
            picker.pick(&self.camera.ray(ndc, width / height))
        };
        let mut spots = Vec::new();
        for (x, y) in (3..SIZE.1 - 3)
            .step_by(7)
            .flat_map(|y| (3..SIZE.0 - 3).step_by(7).map(move |x| (x, y)))
        {
            let (left, top) = (x as f32 + 0.5, y as f32 + 0.5);
            let Some(hit) = at(left, top) else {
                continue;
            };
            let is_middle = [(-2.0, -2.0), (2.0, -2.0), (-2.0, 2.0), (2.0, 2.0)]
                .iter()
                .all(|(dx, dy)| {
                    at(left + dx, top + dy).is_some_and(|near| near.surface == hit.surface)
                });
            let surface = self.surface(&hit);
            let is_flat = surface.kind == SurfaceKind::Planar;
            if is_middle && is_flat && !self.scene.material_of(surface).is_sky() {
                spots.push(Spot { pixel: (x, y), hit });
            }
        }
        assert!(spots.len() > 300, "{}", spots.len());
        spots
    }

    fn surface(&self, hit: &PickHit) -> &Surface {
        &self.scene.surfaces[hit.surface.0 as usize]
    }

    /// What the picture's own headlight makes of a colour.
    fn headlit(&self, rgb: Vec3, hit: &PickHit) -> Vec3 {
        let towards = (self.camera.eye - hit.position).normalize_or_zero();
        rgb * (255.0 * (0.55 + 0.45 * hit.normal.dot(towards).abs()))
    }
}

/// Where the modes look grids and the tree up.
fn in_front(hit: &PickHit) -> Vec3 {
    hit.position + hit.normal
}

fn in_mode(mode: RenderMode) -> ViewOptions {
    ViewOptions {
        mode,
        ..ViewOptions::default()
    }
}

fn rgb(picture: &RgbaImage, (x, y): (u32, u32)) -> Vec3 {
    let [r, g, b, _] = picture.get_pixel(x, y).0.map(f32::from);
    Vec3::new(r, g, b)
}

/// Compares all spots; some may be off where an alpha test or an edge makes the ray and the picture differ.
fn assert_shows(name: &str, stand: &Stand, picture: &RgbaImage, expected: impl Fn(&Spot) -> Vec3) {
    let spots = stand.spots();
    let mut off = Vec::new();
    for spot in &spots {
        let (shown, expected) = (rgb(picture, spot.pixel), expected(spot));
        if !shown.abs_diff_eq(expected, NEAR) {
            off.push(format!("{:?}: {shown} for {expected}", spot.pixel));
        }
    }
    let shown: Vec<_> = off.iter().take(5).collect();
    assert!(
        off.len() * 100 <= spots.len(),
        "{name}: {} of {} off, {shown:#?}",
        off.len(),
        spots.len()
    );
}

/// A pixel of the grid modes is the texture times what the sampler says for its point, by every rule.
#[test]
fn grid_light_is_the_samplers() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let textures = stand.mode(RenderMode::Fullbright);
    let grid = stand.scene.lighting.light_grid.clone().unwrap();
    let cases = LegacyProfile::ALL.into_iter().flat_map(|profile| {
        let factors = [Overbright::Bits(2), Overbright::Bits(1), Overbright::Blog];
        factors.map(|overbright| (profile, overbright))
    });
    for (profile, overbright) in cases {
        let mut options = in_mode(RenderMode::GridLit);
        options.probes.legacy_profile = profile;
        options.overbright = overbright;
        let picture = stand.shot(&options);
        let name = format!("{} {overbright:?}", profile.word());
        assert_shows(&name, &stand, &picture, |spot| {
            let sample = sample_legacy(&grid, in_front(&spot.hit), profile, overbright);
            let light = shade_legacy(&sample.light, spot.hit.normal);
            rgb(&textures, spot.pixel) * light / 255.0
        });
    }
    let grid = stand.scene.lighting.sh_grid.clone().unwrap();
    for corners in [ShCorners::SkipSolid, ShCorners::Guide] {
        let mut options = in_mode(RenderMode::ShLit);
        options.probes.sh_profile.corners = corners;
        let picture = stand.shot(&options);
        let bands = options.probes.sh_profile.band_weights();
        assert_shows(&format!("{corners:?}"), &stand, &picture, |spot| {
            let sample = sample_sh(&grid, in_front(&spot.hit), corners);
            let stored = evaluate_sh(&sample.coefficients, spot.hit.normal, bands);
            let light = shift(stored.max(Vec3::ZERO), 4.0, Clamp::KeepHue);
            rgb(&textures, spot.pixel) * light / 255.0
        });
    }
}

/// Clusters and areas are those of the leaf in front of the point.
#[test]
fn places_are_those_of_the_tree() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let mut seen = std::collections::BTreeSet::new();
    for mode in [RenderMode::Clusters, RenderMode::Areas] {
        let picture = stand.mode(mode);
        for spot in stand.spots() {
            let point = in_front(&spot.hit);
            let leaf = stand.scene.bsp.leaf_at(point).unwrap();
            seen.insert((
                mode as u8,
                leaf.cluster.filter(|_| mode == RenderMode::Clusters),
            ));
        }
        assert_shows(mode.word(), &stand, &picture, |spot| {
            let point = in_front(&spot.hit);
            let leaf = stand.scene.bsp.leaf_at(point).unwrap();
            let number = if mode == RenderMode::Areas {
                leaf.area
            } else {
                leaf.cluster
            };
            stand.headlit(hashed_colour(number.unwrap()), &spot.hit)
        });
    }
    assert!(seen.len() > 4, "{seen:?}");
}

#[test]
fn surfaces_have_the_colours_of_the_legend() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let picture = stand.mode(RenderMode::LightSource);
    assert_shows("light source", &stand, &picture, |spot| {
        let source = stand.scene.light_source(stand.surface(&spot.hit));
        let number = LightSource::ALL.iter().position(|other| *other == source);
        stand.headlit(LIGHT_SOURCE_COLOURS[number.unwrap()], &spot.hit)
    });
    // Squares and lines only darken the colour of the class.
    let picture = stand.mode(RenderMode::Luxels);
    let mut classes = std::collections::BTreeSet::new();
    for spot in stand.spots() {
        let side = stand.scene.units_per_luxel(stand.surface(&spot.hit));
        let class = side.map_or(6, |side| {
            [2.0, 4.0, 8.0, 16.0, 32.0, f32::INFINITY]
                .iter()
                .position(|limit| side <= limit * 1.005)
                .unwrap()
        });
        classes.insert(class);
        let shown = rgb(&picture, spot.pixel).normalize_or_zero();
        let expected = LUXEL_COLOURS[class].normalize_or_zero();
        assert!(shown.dot(expected) > 0.998, "{:?}: {side:?}", spot.pixel);
    }
    assert!(classes.len() > 1, "{classes:?}");
}

/// The clipping mode tells by the stored texel under each pixel which channels go above white.
#[test]
fn clipping_is_that_of_the_stored_texels() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    for bits in [0, 2] {
        let mut options = in_mode(RenderMode::Clipping);
        options.overbright = Overbright::Bits(bits);
        let picture = stand.shot(&options);
        let mut clipped = 0;
        for spot in stand.spots() {
            let shown = rgb(&picture, spot.pixel);
            // Clipped channels are at least half bright, what does not clip is darker.
            let is_clipped = shown.max_element() > 120.0;
            clipped += usize::from(is_clipped);
            assert!(is_clipped || shown.max_element() < 80.0, "{shown}");
            assert!(bits > 0 || !is_clipped, "{shown}");
        }
        assert_eq!(clipped > 20, bits == 2, "{clipped}");
    }
    // What clips is scaled back by the clamp: two ways of drawing the same light, and only there they differ.
    let mut options = in_mode(RenderMode::Lightmap);
    let kept = stand.shot(&options);
    options.clamp = Clamp::Off;
    let saturated = stand.shot(&options);
    let clipping = stand.mode(RenderMode::Clipping);
    let (mut in_clipped, mut elsewhere) = (0, 0);
    for spot in stand.spots() {
        let differs = rgb(&kept, spot.pixel).distance(rgb(&saturated, spot.pixel)) > 12.0;
        if rgb(&clipping, spot.pixel).max_element() > 120.0 {
            in_clipped += usize::from(differs);
        } else {
            elsewhere += usize::from(differs);
        }
    }
    assert!(
        in_clipped > 20 && elsewhere * 20 <= in_clipped,
        "{in_clipped} {elsewhere}"
    );
}

/// Every pass adds the same to a pixel: one behind nothing, more where materials have more passes or surfaces overlap.
#[test]
fn overdraw_counts_passes() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let picture = stand.mode(RenderMode::Overdraw);
    let step = OVERDRAW_STEP * 255.0;
    let mut counts = std::collections::BTreeMap::new();
    for pixel in picture.pixels() {
        let [r, g, b, _] = pixel.0;
        assert_eq!(u32::from(b) % (step.z.round() as u32), 0);
        let times = f32::from(b) / step.z;
        let full = |channel: f32| (channel * times).min(255.0);
        let expected = [full(step.x), full(step.y)];
        assert!(Vec2::from(expected).abs_diff_eq(Vec2::new(r.into(), g.into()), 1.0));
        *counts.entry(times as u32).or_insert(0_u32) += 1;
    }
    assert!(counts.len() >= 3, "{counts:?}");
    // The hall is closed but for the sky, which is counted too.
    assert!(!counts.contains_key(&0), "{counts:?}");
}

/// Gamma is the engine's table over the finished picture.
#[test]
fn gamma_is_a_table_over_the_picture() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let plain = stand.shot(&ViewOptions::default());
    for gamma in [0.5_f32, 1.5, 3.0] {
        let shown = stand.shot(&ViewOptions {
            gamma,
            ..ViewOptions::default()
        });
        for (plain, shown) in plain.pixels().zip(shown.pixels()) {
            for (plain, shown) in plain.0.iter().zip(shown.0) {
                let value = 255.0 * (f32::from(*plain) / 255.0).powf(1.0 / gamma) + 0.5;
                assert!(f32::from(shown) - value.floor() <= 1.0, "{plain} {shown}");
                assert!(value.floor() - f32::from(shown) <= 1.0, "{plain} {shown}");
            }
        }
    }
}
