//! The renderer beside the real engine: eighteen views of six `OpenArena` maps and eight of the demo, as the game shows them,
//! as lightmaps only and without light, each at the engine's own size and camera.
//!
//! `LUXGRID_REFERENCE` names the folder with the engine's pictures, the demo's lie beside it; the maps come from the game's
//! archives. What cannot be compared is masked, see [`Mask`]. All pictures, the engine's, ours and their difference, are left
//! as a sheet in `target/tmp`. `FIGURES=word` compares only the views whose name holds the word.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests stop and report as tests do"
)]

#[path = "support/adapter.rs"]
mod adapter;
#[path = "support/image_compare.rs"]
mod image_compare;
#[path = "support/openarena.rs"]
mod openarena;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use adapter::adapter;
use glam::{Vec2, Vec3};
use image::imageops::{FilterType, replace, resize};
use image::{Rgba, RgbaImage};
use image_compare::{box_downscale, difference_image, worst_mean_difference};
use luxgrid::job::JobContext;
use luxgrid::math::Ray;
use luxgrid::render::{Gpu, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{Scene, build};
use luxgrid::trace::Picker;
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, RenderMode, ViewOptions};
use serde_json::Value;

/// Largest mean absolute difference of a channel, bytes.
const MEAN_LIMIT: f64 = 6.0;
/// A pixel is off when a channel differs by more, bytes.
const OFF: u8 = 24;
/// Largest share of pixels that are off.
const OFF_LIMIT: f64 = 0.05;
/// Largest share of a picture that may be masked where its time is known: with more, it shows too little.
const MASK_LIMIT: f64 = 0.4;
/// Pixels of the engine's window.
const SIZE: (u32, u32) = (1280, 720);
/// What the recorded game time is behind the picture, seconds: five views that move fit best at this offset, sharply.
const BEHIND: f32 = 0.15;
/// From a player's origin up to the eye, and how far off an item is taken along each axis, game units.
const EYE_HEIGHT: f32 = 26.0;
const REACH: f32 = 50.0;
/// Width of a picture on the sheet, pixels.
const SHEET_WIDTH: u32 = 426;

/// One engine picture and how to draw the same.
struct Shot {
    name: String,
    map: String,
    file: PathBuf,
    camera: Camera,
    /// How far the eye may have been pushed forward, game units, where its place was not recorded: the engine throws whoever
    /// it puts somewhere, and another run ends parts of a unit elsewhere.
    pushes: &'static [f32],
    mode: RenderMode,
    /// Game times that the picture may be of, seconds; ours is drawn at the first.
    times: Vec<f32>,
}

/// What is left out of a comparison.
///
/// - *Moving light and textures*: pixels of ours that change by half of what counts as off over the times that the engine's
///   picture may be of. Game time is known to a tenth of a second for normal pictures; lightmap pictures are 0.6 s
///   later or more; where nearly all moves, the moment within 0.8 s that fits best is taken. Those without light are from another run,
///   so anything that ever moves is left out there.
/// - *Items*: the game draws weapons, ammunition, armour and the like, which luxgrid does not; a box around each, down to
///   the floor that it was dropped to, unless a wall is in front of it.
/// - *Edges*: nothing. Neither picture is antialiased, so they are compared too.
struct Mask {
    hidden: Vec<bool>,
}

impl Mask {
    fn share(&self) -> f64 {
        self.hidden.iter().filter(|hidden| **hidden).count() as f64 / self.hidden.len() as f64
    }
}

/// How far a picture is from the engine's, masked pixels left out.
#[derive(Debug)]
struct Difference {
    mean: f64,
    off: f64,
}

impl Difference {
    fn is_far(&self) -> bool {
        self.mean > MEAN_LIMIT || self.off > OFF_LIMIT
    }
}

fn vector(value: &Value) -> Vec3 {
    let number = |i: usize| value[i].as_f64().unwrap() as f32;
    Vec3::new(number(0), number(1), number(2))
}

fn camera(eye: &Value, yaw: &Value, pitch: &Value) -> Camera {
    let degrees = |value: &Value| (value.as_f64().unwrap() as f32).to_radians();
    Camera {
        eye: vector(eye),
        yaw: degrees(yaw),
        pitch: degrees(pitch),
        fov_x: Camera::fov_x_for_aspect(90_f32.to_radians(), SIZE.0 as f32 / SIZE.1 as f32),
    }
}

fn index(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("index.json")).unwrap()).unwrap()
}

/// The eye is where it was recorded.
const STANDS: &[f32] = &[0.0];
/// Where it may be in the pictures without light of the demo.
const PUSHED: &[f32] = &[
    0.0, -0.7, -0.6, -0.5, -0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7,
];

/// Any time of a run that was not recorded.
fn any_time() -> Vec<f32> {
    (0..4_u8).map(|i| 10.0 + 1.37 * f32::from(i)).collect()
}

fn around(secs: f32) -> Vec<f32> {
    [0.0, -0.1, 0.1].map(|offset| secs + offset).to_vec()
}

fn game_shots(folder: &Path) -> Vec<Shot> {
    let index = index(folder);
    let mut shots = Vec::new();
    for view in index["views"].as_array().unwrap() {
        let angles = &view["angles_deg"];
        let secs = view["server_time_ms"].as_f64().unwrap() as f32 / 1000.0 + BEHIND;
        let other = &view["fullbright_angles_deg"];
        let own = camera(&view["eye"], &angles["yaw"], &angles["pitch"]);
        let unlit = camera(&view["fullbright_eye"], &other["yaw"], &other["pitch"]);
        for (kind, mode, camera, times) in [
            ("normal", RenderMode::Lit, own, around(secs)),
            ("lightmap", RenderMode::Lightmap, own, around(secs + 0.6)),
            ("fullbright", RenderMode::Fullbright, unlit, any_time()),
        ] {
            shots.push(Shot {
                name: format!("{} {kind}", view["id"].as_str().unwrap()),
                map: view["map"].as_str().unwrap().to_owned(),
                file: folder.join(view["images"][kind].as_str().unwrap()),
                camera,
                pushes: STANDS,
                mode,
                times,
            });
        }
    }
    shots
}

fn demo_shots(folder: &Path) -> Vec<Shot> {
    let index = index(folder);
    let mut shots = Vec::new();
    for view in index.as_array().unwrap() {
        let name = format!("atrium_{}", view["view"].as_str().unwrap());
        for (suffix, mode, pushes) in [
            ("", RenderMode::Lit, STANDS),
            ("_lightmap", RenderMode::Lightmap, STANDS),
            ("_fullbright", RenderMode::Fullbright, PUSHED),
        ] {
            shots.push(Shot {
                name: format!("{name}{suffix}"),
                map: String::new(),
                file: folder.join(format!("{name}{suffix}.png")),
                camera: camera(&view["eye"], &view["yaw"], &view["pitch"]),
                pushes,
                mode,
                times: any_time(),
            });
        }
    }
    shots
}

/// A map ready to be drawn and asked.
struct Stage {
    scene: Scene,
    gpu_scene: GpuScene,
    picker: Picker,
}

fn stage(gpu: &Gpu, map: &Path, options: &SearchOptions) -> Stage {
    let opened = open_map(map, options).unwrap();
    let scene = build(&opened, &JobContext::default()).unwrap();
    Stage {
        gpu_scene: GpuScene::upload(gpu, &scene).unwrap(),
        picker: Picker::new(&scene),
        scene,
    }
}

fn draw(
    gpu: &Gpu,
    renderer: &mut Renderer,
    stage: &Stage,
    shot: &Shot,
    camera: &Camera,
    secs: f32,
) -> RgbaImage {
    let options = ViewOptions {
        mode: shot.mode,
        ..ViewOptions::default()
    };
    render_to_image(
        gpu,
        renderer,
        SIZE,
        &stage.gpu_scene,
        None,
        camera,
        &options,
        &Overlays::default(),
        secs,
    )
    .unwrap()
}

/// Classes of things that lie about and that the game draws; flags are not there in a free-for-all.
fn is_item(class: &str) -> bool {
    ["weapon_", "ammo_", "item_", "holdable_"]
        .iter()
        .any(|start| class.to_ascii_lowercase().starts_with(start))
}

/// Boxes around the items of a map, where they rest: on the floor below unless they hang.
fn items(stage: &Stage) -> Vec<(Vec3, Vec3)> {
    let entities = &stage.scene.bsp.entities;
    let mut boxes = Vec::new();
    for entity in entities.list.iter().filter(|e| is_item(e.classname())) {
        let mut at = entity.origin();
        let hangs = entity
            .number(&["spawnflags"])
            .is_some_and(|flags| flags as i64 & 1 != 0);
        let below = Ray::new(at + Vec3::Z, Vec3::NEG_Z);
        if let (false, Some(hit)) = (hangs, stage.picker.pick(&below)) {
            at.z = hit.position.z + 15.0;
        }
        boxes.push((
            at - Vec3::new(36.0, 36.0, 20.0),
            at + Vec3::new(36.0, 36.0, 36.0),
        ));
    }
    boxes
}

/// Where a ray enters a box, if it does in front of its origin.
fn entry(ray: &Ray, (low, high): (Vec3, Vec3)) -> Option<f32> {
    let (a, b) = (
        (low - ray.origin) / ray.direction,
        (high - ray.origin) / ray.direction,
    );
    let (enter, leave) = (a.min(b).max_element(), a.max(b).min_element());
    (enter > 0.0 && enter <= leave).then_some(enter)
}

/// Marks the pixels of items that no wall hides.
fn mask_items(mask: &mut [bool], stage: &Stage, camera: &Camera, (width, height): (u32, u32)) {
    // Who stands at an item has taken it.
    let taken = |(low, high): &(Vec3, Vec3)| {
        let apart = (*low + *high) / 2.0 - (camera.eye - Vec3::Z * EYE_HEIGHT);
        apart.truncate().abs().max_element() < REACH && apart.z.abs() < REACH
    };
    let boxes: Vec<_> = items(stage)
        .into_iter()
        .filter(|item| !taken(item))
        .collect();
    let aspect = width as f32 / height as f32;
    for (number, hidden) in (0_u32..).zip(mask) {
        let (x, y) = ((number % width) as f32, (number / width) as f32);
        let ndc = Vec2::new(
            (x + 0.5) / width as f32 * 2.0 - 1.0,
            1.0 - (y + 0.5) / height as f32 * 2.0,
        );
        let ray = camera.ray(ndc, aspect);
        let entries = boxes.iter().filter_map(|item| entry(&ray, *item));
        let nearest = entries.fold(f32::INFINITY, f32::min);
        *hidden |= nearest.is_finite() && stage.picker.pick(&ray).is_none_or(|hit| hit.t > nearest);
    }
}

/// What may not be compared of `ours`, whose moments are `moments`.
fn mask(stage: &Stage, camera: &Camera, moments: &[RgbaImage]) -> Mask {
    const MOVES: u8 = OFF / 2;
    let size = moments[0].dimensions();
    let mut hidden = vec![false; (size.0 * size.1) as usize];
    for later in &moments[1..] {
        for ((hidden, a), b) in hidden
            .iter_mut()
            .zip(moments[0].pixels())
            .zip(later.pixels())
        {
            *hidden |= (0..3).any(|i| a.0[i].abs_diff(b.0[i]) > MOVES);
        }
    }
    mask_items(&mut hidden, stage, camera, size);
    Mask { hidden }
}

fn difference(ours: &RgbaImage, engine: &RgbaImage, mask: &Mask) -> Difference {
    assert_eq!(ours.dimensions(), engine.dimensions());
    let (mut sums, mut off, mut count) = ([0_u64; 3], 0_u64, 0_u64);
    for ((a, b), hidden) in ours.pixels().zip(engine.pixels()).zip(&mask.hidden) {
        if *hidden {
            continue;
        }
        count += 1;
        let apart: [u8; 3] = std::array::from_fn(|i| a.0[i].abs_diff(b.0[i]));
        off += u64::from(apart.iter().any(|apart| *apart > OFF));
        for (sum, apart) in sums.iter_mut().zip(apart) {
            *sum += u64::from(apart);
        }
    }
    let count = count.max(1) as f64;
    let worst = sums.into_iter().max().unwrap();
    Difference {
        mean: worst as f64 / count,
        off: off as f64 / count,
    }
}

/// Darkens masked pixels, so that the sheet shows what was compared.
fn with_mask(picture: &RgbaImage, mask: &Mask) -> RgbaImage {
    let mut shown = picture.clone();
    for (pixel, hidden) in shown.pixels_mut().zip(&mask.hidden) {
        if *hidden {
            *pixel = Rgba([64, 0, 96, 255]);
        }
    }
    shown
}

fn sheet(rows: &[[RgbaImage; 3]]) -> RgbaImage {
    let height = SHEET_WIDTH * SIZE.1 / SIZE.0;
    let mut sheet = RgbaImage::new(3 * SHEET_WIDTH, rows.len() as u32 * height);
    for (row, pictures) in (0_u32..).zip(rows) {
        for (column, picture) in (0_u32..).zip(pictures) {
            let small = resize(picture, SHEET_WIDTH, height, FilterType::Triangle);
            let (x, y) = (column * SHEET_WIDTH, row * height);
            replace(&mut sheet, &small, i64::from(x), i64::from(y));
        }
    }
    sheet
}

struct Comparer {
    gpu: Gpu,
    renderer: Renderer,
    rows: Vec<[RgbaImage; 3]>,
    failures: Vec<String>,
}

impl Comparer {
    fn draw(
        &mut self,
        stage: &Stage,
        shot: &Shot,
        camera: &Camera,
        secs: f32,
        factor: u32,
    ) -> RgbaImage {
        let picture = draw(&self.gpu, &mut self.renderer, stage, shot, camera, secs);
        box_downscale(&picture, factor)
    }

    /// Our picture at the first of `times`, and what cannot be compared of it.
    fn at(
        &mut self,
        stage: &Stage,
        shot: &Shot,
        camera: &Camera,
        times: &[f32],
        factor: u32,
    ) -> (RgbaImage, Mask) {
        let mut moments: Vec<RgbaImage> = times
            .iter()
            .map(|secs| self.draw(stage, shot, camera, *secs, factor))
            .collect();
        let mask = mask(stage, camera, &moments);
        (moments.swap_remove(0), mask)
    }

    /// Where nearly everything moves, the moment within what is known of it at which ours fits best, and those that could
    /// not be told from it.
    fn moment(&mut self, stage: &Stage, shot: &Shot, engine: &RgbaImage) -> [f32; 3] {
        const STEP: f32 = 0.02;
        let factor = SIZE.0 / engine.width();
        let mut best = (f64::INFINITY, shot.times[0]);
        for step in -40_i8..=40 {
            let secs = shot.times[0] + STEP * f32::from(step);
            let ours = self.draw(stage, shot, &shot.camera, secs, factor);
            let apart = worst_mean_difference(&ours, engine);
            if apart < best.0 {
                best = (apart, secs);
            }
        }
        [best.1, best.1 - STEP / 2.0, best.1 + STEP / 2.0]
    }

    /// The camera that fits best of those that a shot may be from.
    fn place(&mut self, stage: &Stage, shot: &Shot, engine: &RgbaImage) -> Camera {
        let ahead = Vec3::new(shot.camera.yaw.cos(), shot.camera.yaw.sin(), 0.0);
        let pushed = |push: &f32| Camera {
            eye: shot.camera.eye + ahead * push,
            ..shot.camera
        };
        let [first, others @ ..] = shot.pushes else {
            return shot.camera;
        };
        let factor = SIZE.0 / engine.width();
        let mut best = (f64::INFINITY, pushed(first));
        for push in others {
            let camera = pushed(push);
            let ours = self.draw(stage, shot, &camera, shot.times[0], factor);
            let apart = worst_mean_difference(&ours, engine);
            if apart < best.0 {
                best = (apart, camera);
            }
        }
        best.1
    }

    fn compare(&mut self, stage: &Stage, shot: &Shot) {
        let engine = image::open(&shot.file).unwrap().to_rgba8();
        let factor = SIZE.0 / engine.width();
        let camera = self.place(stage, shot, &engine);
        let (mut ours, mut mask) = self.at(stage, shot, &camera, &shot.times, factor);
        let mut found = difference(&ours, &engine, &mask);
        let is_timed = shot.mode != RenderMode::Fullbright;
        if is_timed && (found.is_far() || mask.share() > MASK_LIMIT) {
            let times = self.moment(stage, shot, &engine);
            (ours, mask) = self.at(stage, shot, &camera, &times, factor);
            found = difference(&ours, &engine, &mask);
        }
        let masked = mask.share();
        println!(
            "{:40} mean {:5.2}  off {:5.2} %  masked {:5.2} %",
            shot.name,
            found.mean,
            100.0 * found.off,
            100.0 * masked
        );
        let is_timed = shot.mode != RenderMode::Fullbright;
        if found.mean > MEAN_LIMIT || found.off > OFF_LIMIT || (is_timed && masked > MASK_LIMIT) {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let name = shot.name.replace(' ', "_");
            ours.save(folder.join(format!("{name}.ours.png"))).unwrap();
            self.failures
                .push(format!("{}: {found:?}, masked {masked:.3}", shot.name));
        }
        let apart = with_mask(&difference_image(&ours, &engine), &mask);
        self.rows.push([engine, ours, apart]);
    }
}

/// Compares all shots and leaves the sheet `name`.
fn compare_all(shots: &[Shot], map: impl Fn(&str) -> (PathBuf, SearchOptions), name: &str) {
    let Some(gpu) = adapter() else {
        return;
    };
    let word = std::env::var("FIGURES").unwrap_or_default();
    let mut comparer = Comparer {
        renderer: Renderer::new(&gpu).unwrap(),
        gpu,
        rows: Vec::new(),
        failures: Vec::new(),
    };
    let mut stages: HashMap<&str, Stage> = HashMap::new();
    for shot in shots.iter().filter(|shot| shot.name.contains(&word)) {
        let stage = stages.entry(&shot.map).or_insert_with(|| {
            let (path, options) = map(&shot.map);
            stage(&comparer.gpu, &path, &options)
        });
        comparer.compare(stage, shot);
    }
    let sheet = sheet(&comparer.rows);
    sheet
        .save(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
        .unwrap();
    assert_eq!(comparer.gpu.take_error(), None);
    assert!(comparer.failures.is_empty(), "{:#?}", comparer.failures);
}

fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("LUXGRID_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LUXGRID_REFERENCE is not set");
    }
    folder
}

#[test]
fn openarena_looks_as_in_the_engine() {
    let (Some(reference), Some(game)) = (reference(), openarena::folder()) else {
        return;
    };
    let maps = openarena::maps(&game);
    let shots = game_shots(&reference.join("engine-shots"));
    compare_all(
        &shots,
        |name| (maps[name].clone(), SearchOptions::default()),
        "engine-openarena.png",
    );
}

#[test]
fn the_demo_looks_as_in_the_engine() {
    let Some(folder) = reference().map(|folder| folder.join("../demo/engine-shots")) else {
        return;
    };
    if !folder.is_dir() {
        println!("skipped: no pictures of the demo beside the reference");
        return;
    }
    let options = SearchOptions {
        base_paths: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("assets")],
        games: vec!["demo".to_owned()],
        ..SearchOptions::default()
    };
    let shots = demo_shots(&folder);
    compare_all(
        &shots,
        |_| (folder.join("atrium46.bsp"), options.clone()),
        "engine-demo.png",
    );
}

#[test]
fn masked_pixels_do_not_count_and_others_do() {
    let engine = RgbaImage::from_pixel(4, 1, Rgba([100, 100, 100, 255]));
    let mut ours = engine.clone();
    ours.put_pixel(0, 0, Rgba([0, 0, 0, 255]));
    ours.put_pixel(1, 0, Rgba([100, 112, 100, 255]));
    let mut mask = Mask {
        hidden: vec![false; 4],
    };
    let all = difference(&ours, &engine, &mask);
    assert!((all.mean - 28.0).abs() < 1e-9 && (all.off - 0.25).abs() < 1e-9);
    mask.hidden[0] = true;
    let rest = difference(&ours, &engine, &mask);
    assert!((rest.mean - 4.0).abs() < 1e-9 && rest.off.abs() < 1e-9);
    assert!((mask.share() - 0.25).abs() < 1e-9);
}
