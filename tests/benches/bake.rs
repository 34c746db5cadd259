//! Speed of a bake of the embedded demo: `cargo bench --bench bake`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use luxgrid::job::JobContext;
use luxgrid::light::{BakeSettings, bake, plan};
use luxgrid::scene::build;
use luxgrid::vfs::open_demo;

fn demo(criterion: &mut Criterion) {
    let Ok(scene) = build(&open_demo(), &JobContext::default()) else {
        return;
    };
    let settings = BakeSettings {
        fast: true,
        ..BakeSettings::default()
    };
    let mut group = criterion.benchmark_group("demo");
    group.sample_size(10);
    group.bench_function("bake both grids", |bencher| {
        bencher.iter(|| black_box(bake(&scene, &settings, &JobContext::default())));
    });
    group.bench_function("plan", |bencher| {
        bencher.iter(|| black_box(plan(&scene, &settings, &JobContext::default())));
    });
    group.finish();
}

criterion_group!(benches, demo);
criterion_main!(benches);
