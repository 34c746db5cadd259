use std::collections::BTreeMap;

use glam::{DVec3, UVec3, Vec3};
use rayon::prelude::*;

use crate::format::bsp::{LightGridPoint, LumpKind, ShGrid, content_flags};
use crate::format::check::Finding;
use crate::format::entities::numbers;
use crate::format::lattice::Lattice;
use crate::math::Aabb;
use crate::scene::{DEFAULT_CELL_SIZE, LightGrid, Scene};
use crate::trace::{leaf_at, point_contents};

/// Geometry may stick out of model 0 by this much before a light-grid brush is suspected, game units: bounds are of brushes
/// and of surfaces, and both are rounded.
const OUTSIDE_TOLERANCE: f32 = 64.0;
/// Cosine of the steepest floor.
const FLOOR_COSINE: f32 = 0.7;
/// Height above its feet at which a standing model is lit, game units: the origin of a player.
const MODEL_HEIGHT: f32 = 24.0;
/// A floor this near above a grid level counts as on it, game units.
const ON_LEVEL: f32 = 1.0;
/// Share of all floors that one height must have, lit from below, to be reported.
const FLOOR_SHARE: f64 = 0.05;
/// Floor heights reported at most.
const FLOOR_LEVELS: usize = 4;

/// Where a grid point is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Open,
    /// In a solid brush.
    Wall,
    /// In an opaque leaf, but in no brush: around the map.
    Void,
}

/// All findings on the light grids of `scene`.
pub fn findings(scene: &Scene) -> Vec<Finding> {
    let mut list = Vec::new();
    check_cell_size(scene, &mut list);
    check_coverage(scene, &mut list);
    match &scene.lighting.light_grid {
        Some(grid) => {
            check_points(scene, grid, &mut list);
            check_floors(scene, grid, &mut list);
        }
        None if scene.bsp.lump_bytes(LumpKind::LightGrid).is_empty() => list.push(Finding::new(
            "I401",
            Some(LumpKind::LightGrid),
            "there is no light grid; engines light models evenly",
        )),
        None => list.push(mismatch(scene)),
    }
    if let Some(grid) = &scene.lighting.sh_grid {
        check_sh(scene, grid, &mut list);
    }
    list
}

fn grid_size_text(scene: &Scene) -> Option<&str> {
    scene.bsp.entities.worldspawn()?.get("gridsize")
}

/// Worldspawn's cell size as the scene takes it, and whether all of it was usable.
fn cell_size(scene: &Scene) -> (Vec3, bool) {
    let Some(text) = grid_size_text(scene) else {
        return (DEFAULT_CELL_SIZE, true);
    };
    let mut size = DEFAULT_CELL_SIZE;
    let mut usable = true;
    let parsed = numbers(text);
    for axis in 0..3 {
        match parsed.get(axis) {
            Some(value) if *value > 0.0 => size[axis] = *value,
            _ => usable = false,
        }
    }
    (size, usable)
}

fn check_cell_size(scene: &Scene, list: &mut Vec<Finding>) {
    let (size, usable) = cell_size(scene);
    if !usable {
        let text = grid_size_text(scene).unwrap_or_default();
        list.push(Finding::new(
            "W383",
            Some(LumpKind::Entities),
            format!("gridsize “{text}” is not three numbers above 0; {size} is taken"),
        ));
    }
}

fn mismatch(scene: &Scene) -> Finding {
    let found = scene.bsp.light_grid.len() as u64;
    let (size, _) = cell_size(scene);
    let bounds = scene.bsp.models.first().map(|model| model.bounds);
    let expected = bounds
        .and_then(|bounds| Lattice::from_bounds(&bounds, size))
        .map_or(0, |lattice| lattice.len());
    let mut message = format!(
        "{found} points, bounds and gridsize {} {} {} need {expected}; engines drop the grid",
        size.x, size.y, size.z
    );
    let fits = bounds.map(|bounds| other_sizes(&bounds, size, found));
    if let Some(fits) = fits.filter(|fits| !fits.is_empty()) {
        message.push_str("; it fits with ");
        message.push_str(&fits.join(", "));
    }
    Finding::new("W113", Some(LumpKind::LightGrid), message)
        .with_numbers(&[("found", found as f64), ("expected", expected as f64)])
}

/// Ways of placing the grid that need exactly `found` points.
fn other_sizes(bounds: &Aabb, size: Vec3, found: u64) -> Vec<&'static str> {
    let in_f32 = |size| Lattice::from_bounds(bounds, size).map(|lattice| lattice.len());
    [
        ("the default size 64 64 128", in_f32(DEFAULT_CELL_SIZE)),
        ("the size rounded down", in_f32(size.floor())),
        ("64-bit arithmetic", count_f64(bounds, size)),
        (
            "multiplying by the reciprocal",
            count_reciprocal(bounds, size),
        ),
    ]
    .into_iter()
    .filter(|(_, count)| *count == Some(found))
    .map(|(name, _)| name)
    .collect()
}

fn count_f64(bounds: &Aabb, size: Vec3) -> Option<u64> {
    let size = size.as_dvec3();
    let origin = size * (bounds.min.as_dvec3() / size).ceil();
    let top = size * (bounds.max.as_dvec3() / size).floor();
    product((top - origin) / size + 1.0)
}

fn count_reciprocal(bounds: &Aabb, size: Vec3) -> Option<u64> {
    let per_unit = Vec3::ONE / size;
    let origin = (bounds.min * per_unit).ceil() * size;
    let top = (bounds.max * per_unit).floor() * size;
    product(((top - origin) * per_unit + 1.0).as_dvec3())
}

fn product(counts: DVec3) -> Option<u64> {
    let counts = counts.trunc();
    // Below 2^20 each, the product is exact.
    let sound = counts.cmpge(DVec3::ONE).all() && counts.cmple(DVec3::splat(1_048_576.0)).all();
    sound.then(|| counts.x as u64 * counts.y as u64 * counts.z as u64)
}

/// Model 0's box against its own surfaces.
fn check_coverage(scene: &Scene, list: &mut Vec<Finding>) {
    let bsp = &scene.bsp;
    let Some(world) = bsp.models.first() else {
        return;
    };
    let first = world.first_surface as usize;
    let surfaces = bsp.surfaces.iter().skip(first);
    let points = surfaces
        .take(world.surface_count as usize)
        .flat_map(|surface| {
            let first = surface.first_vert as usize;
            let verts = bsp.draw_verts.iter().skip(first);
            verts.take(surface.vert_count as usize)
        })
        .map(|vert| vert.position);
    let geometry = Aabb::from_points(points);
    if geometry.is_empty() || world.bounds.is_empty() {
        return;
    }
    let below = world.bounds.min - geometry.min;
    let above = geometry.max - world.bounds.max;
    let outside = below.max(above).max_element();
    if outside > OUTSIDE_TOLERANCE {
        let message = format!(
            "geometry reaches {outside:.0} units out of model 0's bounds: a light-grid brush shrank them, and the grid does not cover the map"
        );
        list.push(
            Finding::new("I402", Some(LumpKind::Models), message)
                .with_numbers(&[("outside", f64::from(outside))]),
        );
    }
}

fn places(scene: &Scene, lattice: &Lattice) -> Vec<Place> {
    let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
    let place = |index: usize| {
        let point = lattice.position_of(index);
        if point_contents(scene, point) & content_flags::SOLID != 0 {
            return Place::Wall;
        }
        let leaf = leaf_at(scene, point).and_then(|leaf| scene.bsp.leafs.get(leaf));
        match leaf {
            Some(leaf) if leaf.cluster.is_none() => Place::Void,
            _ => Place::Open,
        }
    };
    (0..count).into_par_iter().map(place).collect()
}

/// Counts of grid points by what they are, the debugger's classes.
#[derive(Default)]
struct Counts {
    wall: usize,
    wall_lit: usize,
    void: usize,
    void_lit: usize,
    open: usize,
    open_black: usize,
    directed_only: usize,
    ambient_one: usize,
    straight_up: usize,
    black: usize,
}

impl Counts {
    fn add(&mut self, point: LightGridPoint, place: Place) {
        let no_ambient = point.ambient == [0; 3];
        let black = no_ambient && point.directed == [0; 3];
        match place {
            Place::Wall => {
                self.wall += 1;
                self.wall_lit += usize::from(!black);
            }
            Place::Void => {
                self.void += 1;
                self.void_lit += usize::from(!black);
            }
            Place::Open => {
                self.open += 1;
                self.open_black += usize::from(black);
            }
        }
        self.black += usize::from(black);
        self.directed_only += usize::from(no_ambient && !black);
        self.ambient_one += usize::from(point.ambient == [1; 3]);
        self.straight_up += usize::from(!black && (point.zenith, point.azimuth) == (0, 0));
    }
}

fn check_points(scene: &Scene, grid: &LightGrid, list: &mut Vec<Finding>) {
    let mut counts = Counts::default();
    for (point, place) in grid.points.iter().zip(places(scene, &grid.lattice)) {
        counts.add(*point, place);
    }
    let total = grid.points.len();
    if counts.black == total {
        let message = format!("all {total} grid points are black: the map was never lit");
        list.push(counted("W411", total, total, message));
        return;
    }
    let Counts {
        wall, void, open, ..
    } = counts;
    for (code, count, message) in [
        (
            "I403",
            wall,
            format!(
                "{wall} of {total} grid points are in solid, {} of them lit",
                counts.wall_lit
            ),
        ),
        (
            "I404",
            void,
            format!(
                "{void} of {total} grid points are in the void, {} of them lit",
                counts.void_lit
            ),
        ),
        (
            "I405",
            counts.open_black,
            format!(
                "{} of {open} grid points in the open are black",
                counts.open_black
            ),
        ),
        (
            "I406",
            counts.directed_only,
            format!(
                "{} grid points have directed light but no ambient: Quake 3 skips them",
                counts.directed_only
            ),
        ),
        (
            "I407",
            counts.ambient_one,
            format!(
                "{} grid points have the ambient light 1 1 1",
                counts.ambient_one
            ),
        ),
        (
            "I408",
            counts.straight_up,
            format!(
                "{} lit grid points have the direction straight up",
                counts.straight_up
            ),
        ),
    ] {
        if count > 0 {
            list.push(counted(code, count, total, message));
        }
    }
}

fn counted(code: &'static str, count: usize, total: usize, message: String) -> Finding {
    Finding::new(code, Some(LumpKind::LightGrid), message)
        .with_numbers(&[("points", count as f64), ("total", total as f64)])
}

/// Floor area of one height, square units.
#[derive(Clone, Copy, Default)]
struct FloorArea {
    /// Above a level that is lit although it lies under the floor.
    lit_from_below: f64,
    height: f32,
}

/// A model on a floor is lit by the grid levels above and below its origin. When the lower one lies under the floor and is not
/// black, so that engines do not skip it, the light of another room comes through.
fn check_floors(scene: &Scene, grid: &LightGrid, list: &mut Vec<Finding>) {
    let mut all = 0.0;
    let mut floors: BTreeMap<i64, FloorArea> = BTreeMap::new();
    for surface in scene.drawn_surfaces().filter(|surface| surface.model == 0) {
        let range = surface.indices.start as usize..surface.indices.end as usize;
        let indices = scene.indices.get(range).unwrap_or_default();
        for triangle in indices.as_chunks::<3>().0 {
            let corners = triangle.map(|index| scene.vertices[index as usize]);
            let [a, b, c] = corners.map(|vertex| vertex.position);
            // Clockwise from the front: this cross product points to the front.
            let normal = (c - a).cross(b - a);
            if normal.z < FLOOR_COSINE * normal.length() || normal.z <= 0.0 {
                continue;
            }
            let area = f64::from(normal.z) * 0.5;
            all += area;
            let centre = (a + b + c) / 3.0;
            if is_lit_from_below(grid, centre) {
                let floor = floors.entry(centre.z.round() as i64).or_default();
                floor.lit_from_below += area;
                floor.height = centre.z.round();
            }
        }
    }
    let mut worst: Vec<FloorArea> = floors
        .into_values()
        .filter(|floor| floor.lit_from_below >= FLOOR_SHARE * all)
        .collect();
    worst.sort_by(|a, b| b.lit_from_below.total_cmp(&a.lit_from_below));
    for floor in worst.iter().take(FLOOR_LEVELS) {
        list.push(floor_finding(grid, floor, all));
    }
}

fn is_lit_from_below(grid: &LightGrid, floor: Vec3) -> bool {
    let lattice = &grid.lattice;
    let cell = (floor + Vec3::Z * MODEL_HEIGHT - lattice.origin) / lattice.cell_size;
    let level = cell.z.floor();
    let height = lattice.origin.z + level * lattice.cell_size.z;
    let last = lattice.counts.as_vec3() - 1.0;
    let inside = level >= 0.0 && level <= last.z;
    if !inside || height > floor.z - ON_LEVEL {
        return false;
    }
    let nearest = Vec3::new(cell.x.round(), cell.y.round(), level);
    let nearest: UVec3 = nearest.clamp(Vec3::ZERO, last).as_uvec3();
    let point = grid.points.get(lattice.index(nearest));
    point.is_some_and(|point| point.ambient != [0; 3])
}

fn floor_finding(grid: &LightGrid, floor: &FloorArea, all: f64) -> Finding {
    let (origin, cell) = (grid.lattice.origin.z, grid.lattice.cell_size.z);
    let phase = ((floor.height - origin) / cell).rem_euclid(1.0);
    let share = floor.lit_from_below / all;
    let fraction = format!("{phase:.2}");
    let message = format!(
        "floors at z={} lie {} of a cell above the grid plane; models may be lit from below ({:.0} % of all floors)",
        floor.height,
        fraction.trim_start_matches('0'),
        share * 100.0
    );
    Finding::new("W114", Some(LumpKind::LightGrid), message).with_numbers(&[
        ("z", f64::from(floor.height)),
        ("phase", f64::from(phase)),
        ("share", share),
    ])
}

fn check_sh(scene: &Scene, grid: &ShGrid, list: &mut Vec<Finding>) {
    let lump = Some(LumpKind::LightGridSh);
    let total = grid.points.len();
    let broken = |point: &[[f32; 3]; 9]| point.as_flattened().iter().any(|c| !c.is_finite());
    let damaged = grid.points.iter().filter(|point| broken(point)).count();
    if damaged > 0 {
        let mut finding = Finding::new(
            "W421",
            lump,
            format!("{damaged} of {total} SH points have coefficients that are not finite"),
        )
        .with_numbers(&[("points", damaged as f64), ("total", total as f64)]);
        finding.index = grid.points.iter().position(broken);
        list.push(finding);
    }
    let places = places(scene, &grid.lattice);
    let count = |place: Place, is_dark: bool| {
        let points = grid.points.iter().zip(&places);
        let alike =
            points.filter(|(point, at)| **at == place && (**point == [[0.0; 3]; 9]) == is_dark);
        alike.count()
    };
    let [open, wall, void] = [Place::Open, Place::Wall, Place::Void]
        .map(|place| (count(place, true), count(place, false)));
    for (code, (dark, lit), message) in [
        (
            "I422",
            (open.0, 0),
            format!(
                "{} of {} SH points in the open are black",
                open.0,
                open.0 + open.1
            ),
        ),
        (
            "I423",
            wall,
            format!(
                "{} of {total} SH points are in solid, {} of them lit",
                wall.0 + wall.1,
                wall.1
            ),
        ),
        (
            "I424",
            void,
            format!(
                "{} of {total} SH points are in the void, {} of them lit",
                void.0 + void.1,
                void.1
            ),
        ),
    ] {
        let points = dark + lit;
        if points > 0 {
            let numbers = [("points", points as f64), ("total", total as f64)];
            list.push(Finding::new(code, lump, message).with_numbers(&numbers));
        }
    }
}
