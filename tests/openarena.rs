//! Real maps: all of `OpenArena`'s open, find their materials, and draw.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]
#![cfg(feature = "viewer")]

#[path = "support/adapter.rs"]
mod adapter;
#[path = "support/openarena.rs"]
mod openarena;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use adapter::adapter;
use glam::Vec3;
use image::RgbaImage;
use image::imageops::replace;
use luxgrid::job::JobContext;
use luxgrid::math::Ray;
use luxgrid::render::{Canvas, Gpu, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{Scene, build};
use luxgrid::trace::Picker;
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, ViewOptions};

/// Maps in the eight archives that hold any, superseded copies not counted.
const MAPS: usize = 85;
/// Share of drawn surfaces that may show the stand-in for a missing material: some of the game's materials are missing
/// from its own archives.
const MISSING_LIMIT: f64 = 0.01;
/// A picture with no more colours than this shows no map.
const FEW_COLOURS: usize = 50;
/// A picture of less mean luminance shows no map: the darkest start, a platform in space (`oa_ctf4ish`), has 3.0.
const DARK: f64 = 2.0;
/// Draw calls that a picture may take.
const CALLS: u32 = 400;
/// Pictures: size, and columns of the contact sheet.
const SIZE: (u32, u32) = (320, 180);
const COLUMNS: u32 = 10;

/// Draws maps on one device.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    /// Counts draw calls, which do not depend on its size.
    canvas: Canvas,
}

fn studio() -> Option<Studio> {
    let gpu = adapter()?;
    Some(Studio {
        renderer: Renderer::new(&gpu).unwrap(),
        canvas: Canvas::new(&gpu, (16, 9)).unwrap(),
        gpu,
    })
}

impl Studio {
    /// The picture from the first start view, and its draw calls.
    fn draw(&mut self, scene: &Scene) -> (RgbaImage, u32) {
        let uploaded = GpuScene::upload(&self.gpu, scene).unwrap();
        let aspect = SIZE.0 as f32 / SIZE.1 as f32;
        let camera = Camera {
            eye: scene.bounds.centre(),
            fov_x: Camera::fov_x_for_aspect(90_f32.to_radians(), aspect),
            ..Camera::default()
        };
        let camera = scene
            .spawns
            .first()
            .map_or(camera, |spawn| camera.at(spawn));
        let (options, overlays) = (ViewOptions::default(), Overlays::default());
        let (gpu, renderer) = (&self.gpu, &mut self.renderer);
        let view = (&camera, &options);
        let stats = self
            .canvas
            .draw(gpu, renderer, &uploaded, view, 0.0, || ())
            .unwrap();
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &uploaded,
            None,
            &camera,
            &options,
            &overlays,
            0.0,
        )
        .unwrap();
        (picture, stats.draw_calls)
    }
}

/// What is flat about a picture, if anything: few colours, or hardly any light.
fn flat(picture: &RgbaImage) -> Option<String> {
    let colours: BTreeSet<[u8; 4]> = picture.pixels().map(|pixel| pixel.0).collect();
    let luminance = |rgba: [u8; 4]| {
        let [r, g, b, _] = rgba.map(f64::from);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let pixels = f64::from(picture.width() * picture.height());
    let mean = picture
        .pixels()
        .map(|pixel| luminance(pixel.0))
        .sum::<f64>()
        / pixels;
    let is_flat = colours.len() <= FEW_COLOURS || mean <= DARK;
    is_flat.then(|| format!("{} colours, mean luminance {mean:.1}", colours.len()))
}

fn contact_sheet(pictures: &[RgbaImage]) -> RgbaImage {
    let count = u32::try_from(pictures.len()).unwrap();
    let mut sheet = RgbaImage::new(COLUMNS * SIZE.0, count.div_ceil(COLUMNS) * SIZE.1);
    for (number, picture) in (0..count).zip(pictures) {
        let (column, row) = (number % COLUMNS, number / COLUMNS);
        replace(
            &mut sheet,
            picture,
            i64::from(column * SIZE.0),
            i64::from(row * SIZE.1),
        );
    }
    sheet
}

#[test]
fn every_map_opens_finds_its_materials_and_draws() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let Some(folder) = openarena::folder() else {
        return;
    };
    let started = Instant::now();
    let maps = openarena::maps(&folder);
    let mut studio = studio();
    let (mut drawn, mut missing, mut standing) = (0, 0, 0);
    let (mut failed, mut dull, mut pictures) = (Vec::new(), Vec::new(), Vec::new());
    let mut slowest = (0.0, String::new());
    for (name, path) in &maps {
        let map_started = Instant::now();
        let opened = open_map(path, &SearchOptions::default()).unwrap();
        let scene = match build(&opened, &JobContext::default()) {
            Ok(scene) => scene,
            Err(error) => {
                failed.push(format!("{name}: {error}"));
                continue;
            }
        };
        let below = scene
            .spawns
            .first()
            .map(|spawn| Ray::new(spawn.eye, Vec3::NEG_Z));
        standing += usize::from(below.is_some_and(|ray| Picker::new(&scene).pick(&ray).is_some()));
        let here = scene
            .drawn_surfaces()
            .filter(|surface| scene.material_of(surface).is_missing())
            .count();
        drawn += scene.drawn_surfaces().count();
        missing += here;
        if let Some(studio) = &mut studio {
            let (picture, calls) = studio.draw(&scene);
            assert!((1..=CALLS).contains(&calls), "{name}: {calls} draw calls");
            dull.extend(flat(&picture).map(|why| format!("{name}: {why}")));
            pictures.push(picture);
        }
        let secs = map_started.elapsed().as_secs_f64();
        println!(
            "{name}: {} surfaces, {here} without a material, {secs:.2} s",
            scene.surfaces.len()
        );
        if secs > slowest.0 {
            slowest = (secs, name.clone());
        }
    }
    if !pictures.is_empty() {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/contact-sheet.png");
        contact_sheet(&pictures).save(&target).unwrap();
    }
    let share = missing as f64 / drawn.max(1) as f64;
    println!(
        "{} maps in {:.1} s, slowest {} {:.1} s; {missing} of {drawn} surfaces without a material ({:.2} %)",
        maps.len(),
        started.elapsed().as_secs_f64(),
        slowest.1,
        slowest.0,
        share * 100.0
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(maps.len(), MAPS);
    // A click finds the floor under the first start view.
    assert_eq!(standing, MAPS);
    assert!(share < MISSING_LIMIT, "{missing} of {drawn}");
    assert!(dull.is_empty(), "{}", dull.join("\n"));
}

#[test]
fn flat_pictures_are_told_from_others() {
    let black = RgbaImage::new(64, 64);
    let colourful = RgbaImage::from_fn(64, 64, |x, y| {
        image::Rgba([4 * x as u8, 4 * y as u8, 99, 255])
    });
    assert!(flat(&black).is_some());
    assert_eq!(flat(&colourful), None);
    assert_ne!(
        contact_sheet(&[colourful.clone(), black])
            .get_pixel(60, 60)
            .0,
        [0; 4]
    );
}
