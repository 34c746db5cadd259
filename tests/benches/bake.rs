//! Speed of bakes on one thread: `cargo bench --bench bake`.
//!
//! Points and lights are varied in the embedded demo; triangles, and light by shadow rays alone, in `cargo bench --bench
//! rays`. Maps of games are left out where they are not installed.
#![allow(clippy::unwrap_used, reason = "a benchmark of sound maps")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use glam::Vec3;
use luxgrid::format::entities::Entities;
use luxgrid::job::JobContext;
use luxgrid::light::{BakeSettings, LightsFrom, bake, plan};
use luxgrid::math::sampling;
use luxgrid::scene::{MapSource, MapSourceKind, Scene, build};
use luxgrid::vfs::{SearchOptions, open_demo, open_map};

/// Where Debian installs Nexuiz, which comes with the sources of its maps.
const NEXUIZ: &str = "/usr/share/games/nexuiz/data";

fn settings() -> BakeSettings {
    BakeSettings {
        fast: true,
        threads: Some(1),
        ..BakeSettings::default()
    }
}

fn points(scene: &Scene, settings: &BakeSettings) -> u64 {
    let plan = plan(scene, settings, &JobContext::default()).unwrap();
    [plan.legacy, plan.sh]
        .into_iter()
        .flatten()
        .map(|lattice| lattice.len())
        .sum()
}

fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(500));
    group.measurement_time(Duration::from_secs(2));
    group
}

fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    id: BenchmarkId,
    scene: &Scene,
    settings: &BakeSettings,
) {
    group.throughput(Throughput::Elements(points(scene, settings)));
    group.bench_function(id, |bencher| {
        bencher.iter(|| bake(black_box(scene), settings, &JobContext::default()).unwrap());
    });
}

/// Point lights anywhere in the map.
fn lamps(scene: &Scene, count: u64) -> MapSource {
    let bounds = scene.bsp.models[0].bounds;
    let mut text = String::from("{ \"classname\" \"worldspawn\" }\n");
    for index in 0..count {
        let at = |axis: u32| sampling::unit(9, index, axis);
        let Vec3 { x, y, z } = bounds.min + bounds.size() * Vec3::new(at(0), at(1), at(2));
        let place = format!("\"origin\" \"{x} {y} {z}\" \"light\" \"200\"");
        writeln!(text, "{{ \"classname\" \"light\" {place} }}").unwrap();
    }
    MapSource {
        entities: Entities::parse(text.as_bytes()),
        origin: PathBuf::from("lamps.map"),
        kind: MapSourceKind::Map,
    }
}

fn demo(criterion: &mut Criterion) {
    let scene = build(&open_demo(), &JobContext::default()).unwrap();
    let mut by_points = group(criterion, "bake: demo, by cell size");
    by_points.bench_function("plan", |bencher| {
        bencher.iter(|| black_box(plan(&scene, &settings(), &JobContext::default())));
    });
    for cell in [128.0, 64.0, 32.0] {
        let settings = BakeSettings {
            cell_size: Some(Vec3::splat(cell)),
            ..settings()
        };
        let id = BenchmarkId::new("both grids", cell);
        bench(&mut by_points, id, &scene, &settings);
    }
    by_points.finish();
    let mut by_lights = group(criterion, "bake: demo, by added lights");
    for count in [0, 100, 1_000] {
        let settings = BakeSettings {
            lights: LightsFrom::File(lamps(&scene, count).into()),
            ..settings()
        };
        let id = BenchmarkId::new("both grids", count);
        bench(&mut by_lights, id, &scene, &settings);
    }
    by_lights.finish();
}

fn nexuiz(criterion: &mut Criterion) {
    let folder = std::env::var_os("LUXGRID_NEXUIZ").map_or_else(|| NEXUIZ.into(), PathBuf::from);
    let archive = folder.join("data.pk3");
    if !archive.is_file() {
        return;
    }
    let path = archive.join(Path::new("maps/soylent.bsp"));
    let map = open_map(&path, &SearchOptions::default()).unwrap();
    let scene = build(&map, &JobContext::default()).unwrap();
    let mut by_grid = group(criterion, "bake: soylent");
    for (name, sh) in [("legacy grid", false), ("both grids", true)] {
        let settings = BakeSettings { sh, ..settings() };
        bench(
            &mut by_grid,
            BenchmarkId::from_parameter(name),
            &scene,
            &settings,
        );
    }
    by_grid.finish();
}

criterion_group!(benches, demo, nexuiz);
criterion_main!(benches);
