//! Speed of shadow rays, one by one and in packets of eight, and of building the hierarchy: `cargo bench --bench rays`.
//!
//! The segments lead from a regular grid in the map's bounds to one light. Maps of games are left out where they are not
//! installed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a benchmark of sound maps"
)]

#[path = "../support/openarena.rs"]
mod openarena;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;
use luxgrid::job::JobContext;
use luxgrid::math::lanes::{LANES, Lanes3, set_lane};
use luxgrid::math::{Aabb, Ray, sampling};
use luxgrid::scene::{Scene, build, spawn_points};
use luxgrid::trace::{
    BareSubtrees, Division, Grazing, Hints, HitRules, Packet, PacketTracer, PacketWalk, SolidTree,
    TriangleSet, Walk,
};
use luxgrid::vfs::{SearchOptions, open_map};

/// As the compiler has them.
const RULES: HitRules = HitRules {
    grazing: Grazing::Absolute(0.25),
    slack: HitRules::MAX_SLACK,
};
/// Grid points along each side: a multiple of the two of a packet.
const SIDE: u64 = 24;

struct Case {
    name: String,
    triangles: Vec<[Vec3; 3]>,
    /// Eight neighbours after eight others.
    from: Vec<[Vec3; LANES]>,
    light: Vec3,
    scene: Option<Scene>,
}

/// Packets of the points of a regular grid in `bounds`, two along each side.
fn packets(bounds: &Aabb) -> Vec<[Vec3; LANES]> {
    let half = SIDE / 2;
    let place = |number: u64, lane: usize| {
        let cell = [number % half, number / half % half, number / half / half];
        let at = |axis: usize| {
            let step = 2 * cell[axis] + (lane as u64 >> axis & 1);
            (step as f32 + 0.5) / SIDE as f32
        };
        bounds.min + bounds.size() * Vec3::new(at(0), at(1), at(2))
    };
    (0..half.pow(3))
        .map(|number| std::array::from_fn(|lane| place(number, lane)))
        .collect()
}

/// Small triangles anywhere in a cube, of which a ray from side to side meets about one however many there are.
fn synthetic(count: u64) -> Case {
    let side = 4096.0;
    let size = side / (count as f32).sqrt();
    let vector = |index: u64, draw: u32| {
        let at = |axis: u32| sampling::unit(7, index, draw + axis);
        Vec3::new(at(0), at(1), at(2))
    };
    let triangle = |index: u64| {
        let corner = vector(index, 0) * side;
        let edge = |draw: u32| (vector(index, draw) - 0.5) * 2.0 * size;
        [corner, corner + edge(3), corner + edge(6)]
    };
    let bounds = Aabb::from_points([Vec3::ZERO, Vec3::splat(side)]);
    Case {
        name: format!("{count} triangles"),
        triangles: (0..count).map(triangle).collect(),
        from: packets(&bounds),
        light: bounds.centre(),
        scene: None,
    }
}

/// Everything that the map draws; the light hangs over its first start.
fn real(name: &str) -> Option<Case> {
    let path = openarena::maps(&openarena::folder()?).remove(name)?;
    let map = open_map(&path, &SearchOptions::default()).unwrap();
    let scene = build(&map, &JobContext::default()).unwrap();
    let vertex = |index: &u32| scene.vertices[*index as usize].position;
    let mut triangles = Vec::new();
    for surface in scene.drawn_surfaces() {
        let range = surface.indices.start as usize..surface.indices.end as usize;
        let corners = scene.indices[range].chunks_exact(3);
        triangles.extend(corners.map(|corners| [0, 1, 2].map(|i| vertex(&corners[i]))));
    }
    let start = spawn_points(&scene.bsp.entities).first()?.eye;
    Some(Case {
        name: name.to_owned(),
        triangles,
        from: packets(&scene.bsp.models[0].bounds),
        light: start + Vec3::Z * 64.0,
        scene: Some(scene),
    })
}

impl Case {
    /// Segments that something blocks, one by one.
    fn blocked_alone(&self, set: &TriangleSet) -> u32 {
        let mut blocked = 0;
        for from in self.from.iter().flatten() {
            set.crossings(&Ray::segment(*from, self.light), &RULES, |_| {
                blocked += 1;
                ControlFlow::Break(())
            });
        }
        blocked
    }

    /// The same in packets.
    fn blocked_together(&self, set: &TriangleSet, tracer: &mut PacketTracer) -> u32 {
        let (mut blocked, mut hints) = (0, Hints::default());
        for from in &self.from {
            let mut packet = Packet::default();
            for (lane, from) in from.iter().enumerate() {
                packet.set(lane, &Ray::segment(*from, self.light));
            }
            tracer.crossings(set, &mut packet, &RULES, &mut hints, |crossing, _| {
                blocked += crossing.lanes.count_ones();
                crossing.lanes
            });
        }
        blocked
    }

    /// Segments that a leaf or a triangle blocks, leafs first, as the compiler looks at them.
    fn shaded(
        &self,
        (tree, set): (&SolidTree, &TriangleSet),
        tracer: &mut PacketTracer,
        walk: &mut PacketWalk,
    ) -> u32 {
        let (mut blocked, mut hints) = (0, Hints::default());
        let mut to = Lanes3::default();
        (0..LANES).for_each(|lane| set_lane(&mut to, lane, self.light));
        for from in &self.from {
            let mut packet = Packet::default();
            for (lane, from) in from.iter().enumerate() {
                packet.set(lane, &Ray::segment(*from, self.light));
            }
            let walled = walk.blocked(tracer.level(), tree, &packet.origin, &to, u8::MAX);
            blocked += walled.count_ones();
            packet.active = !walled;
            tracer.crossings(set, &mut packet, &RULES, &mut hints, |crossing, _| {
                blocked += crossing.lanes.count_ones();
                crossing.lanes
            });
        }
        blocked
    }

    /// Segments that meet an opaque leaf, one by one.
    fn walled_alone(&self, tree: &SolidTree, walk: &mut Walk) -> usize {
        let from = self.from.iter().flatten();
        from.filter(|from| {
            let bare = BareSubtrees::Walked;
            tree.first_solid(**from, self.light, bare, walk).is_some()
        })
        .count()
    }

    /// The same in packets.
    fn walled_together(
        &self,
        tree: &SolidTree,
        level: &PacketTracer,
        walk: &mut PacketWalk,
    ) -> u32 {
        let mut to = Lanes3::default();
        (0..LANES).for_each(|lane| set_lane(&mut to, lane, self.light));
        let blocked = self.from.iter().map(|from| {
            let mut lanes = Lanes3::default();
            for (lane, from) in from.iter().enumerate() {
                set_lane(&mut lanes, lane, *from);
            }
            walk.blocked(level.level(), tree, &lanes, &to, u8::MAX)
        });
        blocked.map(u8::count_ones).sum()
    }
}

fn rays(criterion: &mut Criterion) {
    let cases = [1_000, 10_000, 100_000].map(synthetic);
    let maps = ["kaos", "oacmpdm7"].into_iter().filter_map(real);
    for case in cases.into_iter().chain(maps) {
        let mut group = criterion.benchmark_group(format!("rays: {}", case.name));
        group.sample_size(10);
        group.warm_up_time(Duration::from_millis(300));
        group.measurement_time(Duration::from_secs(1));
        group.throughput(Throughput::Elements(case.triangles.len() as u64));
        group.bench_function("build the hierarchy", |bencher| {
            bencher.iter(|| TriangleSet::new(black_box(&case.triangles)));
        });
        let set = TriangleSet::new(&case.triangles);
        let mut tracer = PacketTracer::default();
        let together = case.blocked_together(&set, &mut tracer);
        assert_eq!(case.blocked_alone(&set), together, "{}", case.name);
        group.throughput(Throughput::Elements(SIDE.pow(3)));
        group.bench_function("triangles, one by one", |bencher| {
            bencher.iter(|| case.blocked_alone(black_box(&set)));
        });
        group.bench_function("triangles, packets", |bencher| {
            bencher.iter(|| case.blocked_together(black_box(&set), &mut tracer));
        });
        if let Some(scene) = &case.scene {
            let (tree, _) = SolidTree::new(&scene.bsp, [], Division::Never);
            let pruned = tree.pruned();
            let (mut walk, mut packet_walk) = (Walk::default(), PacketWalk::default());
            group.bench_function("opaque leafs, one by one", |bencher| {
                bencher.iter(|| case.walled_alone(black_box(&tree), &mut walk));
            });
            group.bench_function("opaque leafs, packets", |bencher| {
                let tree = black_box(&pruned);
                bencher.iter(|| case.walled_together(tree, &tracer, &mut packet_walk));
            });
            group.bench_function("leafs and triangles, packets", |bencher| {
                let world = black_box((&pruned, &set));
                bencher.iter(|| case.shaded(world, &mut tracer, &mut packet_walk));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, rays);
criterion_main!(benches);
