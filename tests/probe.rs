//! Sampling against two oracles: a calculation of its own, from the bytes of the file and in doubles, and the engine.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

#[path = "support/luxtool.rs"]
mod luxtool;
#[path = "support/openarena.rs"]
mod openarena;

use std::collections::BTreeMap;

use glam::Vec3;
use luxgrid::math::colour::Overbright;
use luxgrid::probe::{LegacyProfile, sample_legacy};
use luxgrid::scene::{LightGrid, Lighting};
use luxtool::{luxtool, repository_file};
use serde_json::Value;

/// The demo's file.
const DEMO: &str = "assets/demo/maps/atrium.bsp";
/// Cell of the demo's legacy grid: worldspawn `gridsize`.
const LEGACY_CELL: [f64; 3] = [64.0, 64.0, 128.0];

/// Where the demo is sampled: coordinates that `f32` holds exactly, so that cell and fraction are exact on both sides
/// (the cells are powers of two). In the open, beside walls, in a wall, on nodes, outside on each side.
const POINTS: [[f64; 3]; 16] = [
    [0.0, 0.0, 64.0],
    [10.5, -33.25, 77.75],
    [-500.0, 20.0, 40.0],
    [-1000.0, 100.0, 100.5],
    [-1080.0, -200.0, 60.0],
    [900.25, 0.0, 130.0],
    [448.0, -300.0, 200.0],
    [0.0, -700.0, 90.0],
    [5.0, 900.0, 50.0],
    [33.0, 1300.0, 16.0],
    [-520.0, 250.0, 300.0],
    [300.0, 300.0, 470.0],
    [-64.0, 128.0, 128.0],
    [-1500.0, 0.0, 100.0],
    [0.0, 2000.0, 64.0],
    [0.0, 0.0, 900.0],
];

/// Rounding of a blend of up to eight `f32` products with weights of three factors: under 16 roundings of 2⁻²⁴ each,
/// relative to the largest part.
const BLEND_ERROR: f64 = 16.0 / 16_777_216.0;
/// The same behind a division by the sum of weights, a band weight and the sum of nine terms.
const SHADE_ERROR: f64 = 48.0 / 16_777_216.0;

/// A grid as the file has it, read without the library.
struct RawGrid {
    origin: [f64; 3],
    cell: [f64; 3],
    counts: [usize; 3],
    /// Bytes of the records.
    records: Vec<u8>,
    stride: usize,
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn f32_at(bytes: &[u8], at: usize) -> f64 {
    f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
}

fn triple(bytes: &[u8], at: usize) -> [f64; 3] {
    [0, 4, 8].map(|step| f32_at(bytes, at + step))
}

/// Bytes of lump `index`: the directory begins at 8 and has offset and length of each.
fn lump(bytes: &[u8], index: usize) -> &[u8] {
    let entry = 8 + 8 * index;
    let offset = i32_at(bytes, entry) as usize;
    &bytes[offset..offset + i32_at(bytes, entry + 4) as usize]
}

fn raw_legacy(bytes: &[u8]) -> RawGrid {
    let model = lump(bytes, 7);
    let (min, max) = (triple(model, 0), triple(model, 12));
    let origin: [f64; 3] =
        std::array::from_fn(|i| LEGACY_CELL[i] * (min[i] / LEGACY_CELL[i]).ceil());
    let top: [f64; 3] = std::array::from_fn(|i| LEGACY_CELL[i] * (max[i] / LEGACY_CELL[i]).floor());
    RawGrid {
        origin,
        cell: LEGACY_CELL,
        counts: std::array::from_fn(|i| ((top[i] - origin[i]) / LEGACY_CELL[i] + 1.0) as usize),
        records: lump(bytes, 15).to_vec(),
        stride: 8,
    }
}

fn raw_sh(bytes: &[u8]) -> RawGrid {
    let head = lump(bytes, 18);
    RawGrid {
        origin: triple(head, 0),
        cell: triple(head, 12),
        counts: [24, 28, 32].map(|at| i32_at(head, at) as usize),
        records: head[40..].to_vec(),
        stride: 108,
    }
}

/// A corner: index, or nothing beyond the far edge, and weight.
type RawCorner = (Option<usize>, f64);

impl RawGrid {
    fn record(&self, index: usize) -> &[u8] {
        &self.records[index * self.stride..][..self.stride]
    }

    /// The eight corners; the fraction comes from the position, the cell is clamped.
    fn corners(&self, position: [f64; 3]) -> [RawCorner; 8] {
        let scaled: [f64; 3] =
            std::array::from_fn(|i| (position[i] - self.origin[i]) / self.cell[i]);
        std::array::from_fn(|bits| {
            let mut index = 0;
            let mut weight = 1.0;
            let mut inside = true;
            for axis in [2, 1, 0] {
                let step = bits >> axis & 1;
                let fraction = scaled[axis] - scaled[axis].floor();
                weight *= if step == 1 { fraction } else { 1.0 - fraction };
                let last = (self.counts[axis] - 1) as f64;
                let cell = scaled[axis].floor().clamp(0.0, last) as usize + step;
                inside &= cell < self.counts[axis];
                index = index * self.counts[axis] + cell;
            }
            (inside.then_some(index), weight)
        })
    }

    fn clamped(&self, position: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| {
            let last = self.origin[i] + (self.counts[i] - 1) as f64 * self.cell[i];
            position[i].clamp(self.origin[i], last)
        })
    }
}

/// Bytes times four; above white all channels are scaled down together, in whole numbers.
fn overbright(rgb: &[u8]) -> [f64; 3] {
    let shifted: [u32; 3] = std::array::from_fn(|i| u32::from(rgb[i]) * 4);
    let max = *shifted.iter().max().unwrap();
    shifted.map(|c| f64::from(if max > 255 { c * 255 / max } else { c }))
}

/// The engine's angle table: 1024 entries over a turn of 1023 steps.
fn direction(zenith: u8, azimuth: u8) -> [f64; 3] {
    let table = |index: usize| ((index % 1024) as f64 / 1023.0 * std::f64::consts::TAU).sin();
    let (zenith, azimuth) = (4 * usize::from(zenith), 4 * usize::from(azimuth));
    [
        table(azimuth + 256) * table(zenith),
        table(azimuth) * table(zenith),
        table(zenith + 256),
    ]
}

#[derive(Default)]
struct RawLegacyLight {
    weight: f64,
    ambient: [f64; 3],
    directed: [f64; 3],
    direction: [f64; 3],
}

fn raw_legacy_light(grid: &RawGrid, position: [f64; 3]) -> RawLegacyLight {
    let mut light = RawLegacyLight::default();
    for (index, weight) in grid.corners(position) {
        let Some(index) = index else { continue };
        let record = grid.record(index);
        if record[..3] == [0; 3] {
            continue;
        }
        let parts = (
            overbright(&record[..3]),
            overbright(&record[3..6]),
            direction(record[6], record[7]),
        );
        light.weight += weight;
        for i in 0..3 {
            light.ambient[i] += weight * parts.0[i];
            light.directed[i] += weight * parts.1[i];
            light.direction[i] += weight * parts.2[i];
        }
    }
    if light.weight > 0.0 && light.weight < 0.99 {
        light.ambient = light.ambient.map(|c| c / light.weight);
        light.directed = light.directed.map(|c| c / light.weight);
    }
    light.ambient = light.ambient.map(|c| (c * 0.6 + 32.0).min(255.0));
    let length = light.direction.iter().map(|c| c * c).sum::<f64>().sqrt();
    if length > 0.0 {
        light.direction = light.direction.map(|c| c / length);
    }
    light
}

/// Blended coefficients, and the largest one that took part.
fn raw_sh_blend(grid: &RawGrid, position: [f64; 3]) -> ([[f64; 3]; 9], f64) {
    let (mut sum, mut weights, mut largest) = ([[0.0; 3]; 9], 0.0, 0.0_f64);
    for (index, weight) in grid.corners(grid.clamped(position)) {
        let Some(index) = index else { continue };
        let record = grid.record(index);
        let values: Vec<f64> = (0..27).map(|i| f32_at(record, 4 * i)).collect();
        if values.iter().all(|value| *value == 0.0) {
            continue;
        }
        weights += weight;
        for (i, value) in values.iter().enumerate() {
            sum[i / 3][i % 3] += weight * value;
            largest = largest.max(value.abs());
        }
    }
    if weights > 0.0 {
        sum = sum.map(|rgb| rgb.map(|c| c / weights));
    }
    (sum, largest)
}

/// Cosine-convolved light on a surface.
fn raw_irradiance(coefficients: &[[f64; 3]; 9], n: [f64; 3]) -> [f64; 3] {
    use std::f64::consts::PI;
    let [x, y, z] = n;
    let basis = [
        (1.0 / (4.0 * PI)).sqrt() * PI,
        (3.0 / (4.0 * PI)).sqrt() * y * (2.0 * PI / 3.0),
        (3.0 / (4.0 * PI)).sqrt() * z * (2.0 * PI / 3.0),
        (3.0 / (4.0 * PI)).sqrt() * x * (2.0 * PI / 3.0),
        (15.0 / (4.0 * PI)).sqrt() * x * y * (PI / 4.0),
        (15.0 / (4.0 * PI)).sqrt() * y * z * (PI / 4.0),
        (5.0 / (16.0 * PI)).sqrt() * (3.0 * z * z - 1.0) * (PI / 4.0),
        (15.0 / (4.0 * PI)).sqrt() * x * z * (PI / 4.0),
        (15.0 / (16.0 * PI)).sqrt() * (x * x - y * y) * (PI / 4.0),
    ];
    std::array::from_fn(|i| (0..9).map(|k| basis[k] * coefficients[k][i]).sum())
}

/// All numbers of nested arrays, as the `f32` that they were written from.
fn floats(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| match item {
            Value::Array(_) => floats(item),
            _ => vec![f64::from(item.as_f64().unwrap() as f32)],
        })
        .collect()
}

#[track_caller]
fn assert_close(found: &Value, expected: &[f64], tolerance: f64, what: &str) {
    let found = floats(found);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance,
            "{what}: {found} for {expected}, tolerance {tolerance}"
        );
    }
}

/// Used and unused corners as the tool names them, against the raw ones.
#[track_caller]
fn assert_corners(found: &Value, expected: &[RawCorner; 8], what: &str) {
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 8, "{what}");
    for (corner, (index, weight)) in found.iter().zip(expected) {
        match index {
            Some(index) => assert_eq!(corner["index"], *index, "{what}"),
            None => assert_eq!(corner["verdict"], "outside grid", "{what}"),
        }
        assert!(
            (corner["weight"].as_f64().unwrap() - weight).abs() <= BLEND_ERROR,
            "{what}"
        );
    }
}

fn sampled(position: [f64; 3], more: &[&str]) -> Value {
    let place = position.map(|c| c.to_string()).join(",");
    let map = repository_file(DEMO);
    let mut args = vec!["sample", &map, "-pos", &place, "-json"];
    args.extend(more);
    let run = luxtool(&args);
    assert_eq!(run.code, 0, "{}", run.err);
    run.json()
}

#[test]
fn sixteen_points_of_the_demo_equal_a_calculation_of_its_own() {
    let bytes = std::fs::read(repository_file(DEMO)).unwrap();
    let (legacy, sh) = (raw_legacy(&bytes), raw_sh(&bytes));
    assert_eq!((legacy.counts, sh.counts), ([35, 37, 5], [35, 37, 9]));
    let normal = [0.6, 0.0, 0.8];
    let (mut skipped, mut lit) = (0, 0);
    for position in POINTS {
        let what = format!("{position:?}");
        let sample = sampled(position, &["-normal", "0.6,0,0.8"]);

        assert_corners(
            &sample["legacy"]["corners"],
            &legacy.corners(position),
            &what,
        );
        let light = raw_legacy_light(&legacy, position);
        let found = &sample["legacy"];
        let tolerance = 255.0 * BLEND_ERROR;
        assert!((found["weight"].as_f64().unwrap() - light.weight).abs() <= BLEND_ERROR);
        assert_close(&found["light"]["ambient"], &light.ambient, tolerance, &what);
        assert_close(
            &found["light"]["directed"],
            &light.directed,
            tolerance,
            &what,
        );
        // Directions may nearly cancel; none of these sums is below a tenth of its parts.
        assert_close(
            &found["light"]["direction"],
            &light.direction,
            10.0 * BLEND_ERROR,
            &what,
        );
        let lambert: f64 = (0..3)
            .map(|i| normal[i] * light.direction[i])
            .sum::<f64>()
            .max(0.0);
        let shaded: [f64; 3] =
            std::array::from_fn(|i| (light.ambient[i] + light.directed[i] * lambert).min(255.0));
        assert_close(&found["shaded"], &shaded, 255.0 * 11.0 * BLEND_ERROR, &what);

        assert_corners(
            &sample["sh"]["corners"],
            &sh.corners(sh.clamped(position)),
            &what,
        );
        let (coefficients, largest) = raw_sh_blend(&sh, position);
        assert_close(
            &sample["sh"]["coefficients"],
            coefficients.as_flattened(),
            largest * SHADE_ERROR,
            &what,
        );
        let expected = raw_irradiance(&coefficients, normal);
        // Nine terms; basis times band is at most 1.03 (band 1 along its axis).
        assert_close(
            &sample["sh"]["light"],
            &expected,
            9.0 * 1.03 * largest * SHADE_ERROR,
            &what,
        );

        skipped += usize::from(light.weight > 0.0 && light.weight < 0.99);
        lit += usize::from(light.weight > 0.0 && largest > 0.0);
    }
    assert!(
        skipped >= 3 && lit >= 12,
        "the table misses its cases: {skipped}, {lit}"
    );
}

#[test]
fn a_sample_at_a_node_is_the_node() {
    let bytes = std::fs::read(repository_file(DEMO)).unwrap();
    let (legacy, sh) = (raw_legacy(&bytes), raw_sh(&bytes));
    let mut compared = 0;
    for cell in [
        [17, 15, 1],
        [3, 15, 0],
        [30, 13, 2],
        [16, 4, 1],
        [17, 30, 0],
    ] {
        let [x, y, z]: [usize; 3] = cell;
        let index = x + legacy.counts[0] * (y + legacy.counts[1] * z);
        let position = std::array::from_fn(|i| legacy.origin[i] + cell[i] as f64 * legacy.cell[i]);
        let record = legacy.record(index);
        let sample = sampled(position, &["-profile", "plain"]);
        let corner = &sample["legacy"]["corners"][0];
        assert_eq!(corner["index"], index);
        assert_eq!(corner["weight"], 1.0);
        assert_eq!(
            floats(&sample["legacy"]["light"]["ambient"]),
            overbright(&record[..3])
        );
        assert_eq!(
            floats(&sample["legacy"]["light"]["directed"]),
            overbright(&record[3..6])
        );

        // The SH cell is half as high: the same place is node 2z.
        let index = x + sh.counts[0] * (y + sh.counts[1] * 2 * z);
        let record = sh.record(index);
        let values: Vec<f64> = (0..27).map(|i| f32_at(record, 4 * i)).collect();
        assert_eq!(sample["sh"]["corners"][0]["index"], index);
        assert_eq!(floats(&sample["sh"]["coefficients"]), values);
        compared += usize::from(values.iter().any(|value| *value != 0.0));
    }
    assert!(compared >= 3, "too few of the nodes are lit: {compared}");
}

/// What the engine's print takes for the largest channel, in whole numbers: it begins with red, rounded down; a green
/// above that is taken, and only otherwise a blue above it.
fn printed(rgb: Vec3) -> i64 {
    let red = rgb.x.trunc();
    let taken = if rgb.y > red {
        rgb.y
    } else if rgb.z > red {
        rgb.z
    } else {
        red
    };
    taken as i64
}

fn grid_of(path: &std::path::Path) -> LightGrid {
    let opened = luxgrid::vfs::open_map(path, &luxgrid::vfs::SearchOptions::default()).unwrap();
    let bsp = luxgrid::format::bsp::read(&opened.bytes).unwrap();
    let warnings = luxgrid::job::Warnings::default();
    let grid = Lighting::from_bsp(&bsp, &warnings).light_grid;
    grid.unwrap_or_else(|| panic!("{}: {:?}", path.display(), warnings.list()))
        .as_ref()
        .clone()
}

/// 64 samples printed by ioquake3 itself, 16 of them outside the grid.
#[test]
fn samples_equal_what_the_engine_prints() {
    let Some(folder) = openarena::folder() else {
        return;
    };
    let maps = openarena::maps(&folder);
    let text = std::fs::read(repository_file(
        "tests/data/probes/engine-lightgrid-probes.json",
    ))
    .unwrap();
    let vectors: Value = serde_json::from_slice(&text).unwrap();
    let vectors = vectors["probes"].as_array().unwrap();
    assert_eq!(vectors.len(), 64);
    let mut grids = BTreeMap::new();
    let (mut exact, mut wrong) = (0, Vec::new());
    for vector in vectors {
        let map = vector["map"].as_str().unwrap();
        let grid = grids.entry(map).or_insert_with(|| grid_of(&maps[map]));
        let point = floats(&vector["point"]);
        let position = Vec3::new(point[0] as f32, point[1] as f32, point[2] as f32);
        let sample = sample_legacy(grid, position, LegacyProfile::Ioq3, Overbright::ENGINE);
        let found = [
            printed(sample.light.ambient),
            printed(sample.light.directed),
        ];
        let expected =
            ["engine_ambient_max", "engine_directed_max"].map(|key| vector[key].as_i64().unwrap());
        let off = (found[0] - expected[0])
            .abs()
            .max((found[1] - expected[1]).abs());
        exact += usize::from(off == 0);
        // The file calls a point outside when its cell is; the sampler also up to a cell beyond the last node.
        let flagged = sample.outside || !vector["outside_grid"].as_bool().unwrap();
        if off > 1 || !flagged {
            wrong.push(format!("{map} {position}: {found:?} for {expected:?}"));
        }
    }
    println!("{exact} of 64 exact");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
