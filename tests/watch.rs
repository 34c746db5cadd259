//! Bakes that somebody watches, and bakes of a region: the order changes, the result does not.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exemption covers only the test functions themselves"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use glam::Vec3;
use luxgrid::format::bsp::{LightGridPoint, ShPoint};
use luxgrid::format::lattice::Lattice;
use luxgrid::job::JobContext;
use luxgrid::light::{
    Audience, BakeError, BakeSettings, Baked, Density, FinishedPoints, ShCell, Watcher, apply,
    bake, bake_watched,
};
use luxgrid::math::Aabb;
use luxgrid::scene::{Lighting, Scene, build};
use luxgrid::trace::leaf_at;
use luxgrid::vfs::{SearchOptions, open_map};

fn micro(name: &str) -> Scene {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/micro/maps");
    let map = open_map(
        &folder.join(format!("{name}.bsp")),
        &SearchOptions::default(),
    )
    .unwrap();
    build(&map, &JobContext::default()).unwrap()
}

/// Keeps all that it sees, in the order of its coming.
#[derive(Default)]
struct Record {
    begun: Mutex<Vec<[Option<Lattice>; 2]>>,
    finished: Mutex<Vec<FinishedPoints>>,
}

impl Watcher for Record {
    fn begun(&self, legacy: Option<Lattice>, sh: Option<Lattice>) {
        self.begun.lock().unwrap().push([legacy, sh]);
    }

    fn finished(&self, points: FinishedPoints) {
        self.finished.lock().unwrap().push(points);
    }
}

fn watched(scene: &Scene, settings: &BakeSettings, eye: Vec3) -> (Baked, Record) {
    let record = Record::default();
    let audience = Audience {
        eye,
        watcher: &record,
    };
    let baked = bake_watched(scene, settings, &JobContext::default(), Some(&audience)).unwrap();
    (baked, record)
}

/// Grids whose points partly coincide, counts that are no multiples of a block, and points in solid.
fn odd() -> BakeSettings {
    BakeSettings {
        cell_size: Some(Vec3::new(48.0, 48.0, 64.0)),
        sh_cell: ShCell::Explicit(Vec3::new(24.0, 32.0, 32.0)),
        ..BakeSettings::default()
    }
}

fn grids(baked: &Baked) -> impl PartialEq {
    let rays = baked.report.rays;
    let solid = baked.report.points_in_solid;
    (baked.light_grid.clone(), baked.sh_grid.clone(), rays, solid)
}

#[test]
fn who_watches_from_where_and_with_how_many_threads_changes_no_byte() {
    for name in ["m02_occluder", "m07_filter"] {
        let scene = micro(name);
        let plain = bake(&scene, &odd(), &JobContext::default()).unwrap();
        assert!(plain.report.points_in_solid > 0);
        // In the room, elsewhere in it, in solid far outside.
        for (eye, threads) in [
            (Vec3::new(0.0, 0.0, 64.0), 1),
            (Vec3::new(-300.0, 200.0, 32.0), 3),
            (Vec3::splat(9e4), 2),
        ] {
            let settings = BakeSettings {
                threads: Some(threads),
                ..odd()
            };
            let (baked, _) = watched(&scene, &settings, eye);
            assert!(grids(&baked) == grids(&plain), "{name} {eye} {threads}");
        }
    }
}

#[test]
fn every_point_is_handed_out_once_coarse_ones_first_and_near_ones_before_far_ones() {
    let scene = micro("m02_occluder");
    let settings = BakeSettings {
        threads: Some(1),
        ..odd()
    };
    let eye = Vec3::new(100.0, -50.0, 64.0);
    let (baked, record) = watched(&scene, &settings, eye);
    let (legacy, sh) = (baked.light_grid.unwrap(), baked.sh_grid.unwrap());
    assert_eq!(
        record.begun.into_inner().unwrap(),
        [[Some(legacy.lattice), Some(sh.lattice)]]
    );
    let finished = record.finished.into_inner().unwrap();
    let mut all_legacy: BTreeMap<usize, LightGridPoint> = BTreeMap::new();
    let mut all_sh: BTreeMap<usize, ShPoint> = BTreeMap::new();
    for (index, value) in finished.iter().flat_map(|points| &points.legacy) {
        let is_new = all_legacy
            .insert(*index, value.unwrap_or_default())
            .is_none();
        assert!(is_new, "legacy {index}");
    }
    for (index, value) in finished.iter().flat_map(|points| &points.sh) {
        let is_new = all_sh.insert(*index, value.unwrap_or_default()).is_none();
        assert!(is_new, "SH {index}");
    }
    assert!(all_legacy.into_values().eq(legacy.points));
    assert!(all_sh.into_values().eq(sh.points.iter().copied()));

    // Coarse before fine, and few of them.
    let coarse: Vec<_> = finished
        .iter()
        .take_while(|points| points.density == Density::Coarse)
        .collect();
    let fine = &finished[coarse.len()..];
    assert!(fine.iter().all(|points| points.density == Density::Fine));
    let count = |points: &[&FinishedPoints]| points.iter().map(|p| p.sh.len()).sum::<usize>();
    let (few, most) = (count(&coarse), count(&fine.iter().collect::<Vec<_>>()));
    assert!(few > 0 && few * 40 < most, "{few} of {most}");

    // The room is one cluster, so order is by distance; blocks are handed out by their nearest corner.
    let distance = |points: &FinishedPoints| {
        let positions = points
            .sh
            .iter()
            .map(|(index, _)| sh.lattice.position_of(*index));
        positions
            .map(|position| position.distance(eye))
            .reduce(f32::min)
    };
    let distances: Vec<f32> = fine.iter().filter_map(distance).collect();
    let half = distances.len() / 2;
    let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
    assert!(mean(&distances[..half]) * 1.5 < mean(&distances[half..]));
    assert!(distances[0] < 48.0, "{}", distances[0]);
}

/// What is hidden from the eye comes after all that may be seen.
#[test]
fn visible_points_come_first() {
    let map = luxgrid::vfs::open_demo();
    let scene = build(&map, &JobContext::default()).unwrap();
    let settings = BakeSettings {
        threads: Some(1),
        ..BakeSettings::default()
    };
    let bsp = &scene.bsp;
    let visibility = bsp.visibility.as_ref().unwrap();
    let cluster = |point| leaf_at(&scene, point).and_then(|leaf| bsp.leafs[leaf].cluster);
    // Somewhere in the leaf that sees least.
    let seen = |from: u32| {
        bsp.leafs
            .iter()
            .filter(|leaf| leaf.cluster.is_some_and(|to| visibility.sees(from, to)))
            .count()
    };
    let leafs = bsp.leafs.iter().filter(|leaf| leaf.cluster.is_some());
    let leaf = leafs
        .min_by_key(|leaf| seen(leaf.cluster.unwrap()))
        .unwrap();
    let eye = (leaf.min.as_vec3() + leaf.max.as_vec3()) / 2.0;
    let from = cluster(eye).unwrap();
    let (baked, record) = watched(&scene, &settings, eye);
    let lattice = baked.sh_grid.unwrap().lattice;
    let coarse = record.finished.into_inner().unwrap();
    let coarse = coarse.iter().filter(|p| p.density == Density::Coarse);
    let seen: Vec<bool> = coarse
        .filter_map(|points| {
            let mut clusters = points
                .sh
                .iter()
                .filter_map(|(index, _)| cluster(lattice.position_of(*index)))
                .peekable();
            clusters.peek()?;
            Some(clusters.any(|to| visibility.sees(from, to)))
        })
        .collect();
    let hidden = seen.iter().filter(|seen| !**seen).count();
    assert!(
        hidden > 5 && hidden < seen.len(),
        "{hidden} of {}",
        seen.len()
    );
    // A block straddles clusters, so a few are out of place; without the rule half of the hidden ones would be.
    let early = seen[..seen.len() - hidden].iter().filter(|seen| !**seen);
    assert!(early.count() * 4 < hidden, "{seen:?}");
}

#[test]
fn a_region_is_baked_anew_and_the_rest_stays() {
    let mut scene = micro("m02_occluder");
    let full = bake(&scene, &odd(), &JobContext::default()).unwrap();
    // A file with the same points and other light.
    let dim = BakeSettings {
        point_scale: 0.25,
        ..odd()
    };
    let dim = bake(&scene, &dim, &JobContext::default()).unwrap();
    scene.bsp = Arc::new(apply(&scene.bsp, &dim));
    scene.lighting = Lighting::from_bsp(&scene.bsp, &JobContext::default().warnings);
    let region = Aabb {
        min: Vec3::new(-200.0, -130.0, -400.0),
        max: Vec3::new(96.0, 150.0, 70.0),
    };
    let settings = BakeSettings {
        region: Some(region),
        ..odd()
    };
    let some = bake(&scene, &settings, &JobContext::default()).unwrap();
    let (seen, _) = watched(&scene, &settings, Vec3::ZERO);
    assert!(grids(&some) == grids(&seen));
    assert!(some.report.rays * 2 < full.report.rays);
    assert_eq!(some.gridsize_key, None);

    let mut counts = [0; 2];
    let (legacy, old, new) = (
        some.light_grid.unwrap(),
        dim.light_grid.unwrap(),
        full.light_grid.unwrap(),
    );
    for (index, point) in legacy.points.iter().enumerate() {
        let is_inside = region.contains(legacy.lattice.position_of(index));
        let expected = if is_inside { &new } else { &old };
        assert_eq!(*point, expected.points[index], "legacy {index}");
        counts[usize::from(is_inside)] += usize::from(old.points[index] != new.points[index]);
    }
    let (sh, old, new) = (
        some.sh_grid.unwrap(),
        dim.sh_grid.unwrap(),
        full.sh_grid.unwrap(),
    );
    for (index, point) in sh.points.iter().enumerate() {
        let is_inside = region.contains(sh.lattice.position_of(index));
        let expected = if is_inside { &new } else { &old };
        assert_eq!(*point, expected.points[index], "SH {index}");
        counts[usize::from(is_inside)] += usize::from(old.points[index] != new.points[index]);
    }
    // Both sides have points that tell old from new.
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}

#[test]
fn a_region_needs_the_files_own_points() {
    let mut scene = micro("m02_occluder");
    let both = bake(&scene, &BakeSettings::default(), &JobContext::default()).unwrap();
    scene.bsp = Arc::new(apply(&scene.bsp, &both));
    scene.lighting = Lighting::from_bsp(&scene.bsp, &JobContext::default().warnings);
    let own = both.sh_grid.unwrap().lattice;
    let region = Some(Aabb {
        min: Vec3::splat(-100.0),
        max: Vec3::splat(100.0),
    });
    let settings = BakeSettings {
        sh_cell: ShCell::Explicit(own.cell_size * 2.0),
        region,
        ..BakeSettings::default()
    };
    let error = bake(&scene, &settings, &JobContext::default()).unwrap_err();
    let [x, y, z] = own.cell_size.to_array();
    let text = error.to_string();
    assert!(
        text.contains(&format!("its SH grid has cells of {x} {y} {z}")),
        "{text}"
    );
    let settings = BakeSettings {
        region,
        ..BakeSettings::default()
    };
    assert!(bake(&scene, &settings, &JobContext::default()).is_ok());
    let nowhere = BakeSettings {
        region: Some(Aabb {
            min: Vec3::splat(1e5),
            max: Vec3::splat(2e5),
        }),
        ..settings.clone()
    };
    let error = bake(&scene, &nowhere, &JobContext::default()).unwrap_err();
    assert!(matches!(error, BakeError::EmptyRegion));
    let mut bare = scene;
    bare.lighting.sh_grid = None;
    let error = bake(&bare, &settings, &JobContext::default()).unwrap_err();
    assert!(matches!(error, BakeError::RegionWithoutGrid { grid: "SH" }));
}
