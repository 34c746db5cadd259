use glam::{IVec3, Vec2, Vec3};

use crate::math::Ray;
use crate::scene::{Scene, SurfaceId};
use crate::view::{GridSet, GridSource, ProbeOptions, ProbeShow};

/// A grid point of one of the grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRef {
    /// Which grid.
    pub source: GridSource,
    /// Number of the point, x fastest.
    pub index: usize,
}

/// Where a ray met the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// The surface.
    pub surface: SurfaceId,
    /// Where the triangle begins in [`crate::scene::Scene::indices`].
    pub first_index: u32,
    /// Weights of the triangle's second and third vertex there.
    pub weights: Vec2,
    /// Distance from the ray's origin, game units.
    pub t: f32,
    /// World position.
    pub position: Vec3,
    /// Unit normal facing the ray.
    pub normal: Vec3,
}

impl SurfaceHit {
    /// Where a sample stands for this hit: off the surface by about half a player's width.
    pub fn sample_position(&self) -> Vec3 {
        self.position + self.normal * SAMPLE_OFFSET
    }

    /// The same place in a scene whose surfaces have other triangles: in the nearest of its surface.
    #[must_use]
    pub fn moved_to(self, scene: &Scene) -> Self {
        let surface = scene.surfaces.get(self.surface.0 as usize);
        let firsts = surface.map_or(0..0, |surface| surface.indices.clone());
        let near = |first_index: u32| {
            let [a, b, c] = scene.corners(first_index)?.map(|vertex| vertex.position);
            let weights = weights(self.position, [a, b, c])?;
            let position = a + (b - a) * weights.x + (c - a) * weights.y;
            Some((position.distance(self.position), first_index, weights))
        };
        let all = firsts.step_by(3).filter_map(near);
        match all.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, first_index, weights)) => Self {
                first_index,
                weights,
                ..self
            },
            None => self,
        }
    }
}

/// Weights of the second and third corner for the point of a triangle next to `point`, or nearly that beside its corners;
/// `None` for a triangle without area.
fn weights(point: Vec3, [a, b, c]: [Vec3; 3]) -> Option<Vec2> {
    let (e1, e2, to) = (b - a, c - a, point - a);
    let (e11, e12, e22) = (e1.dot(e1), e1.dot(e2), e2.dot(e2));
    let area = e11 * e22 - e12 * e12;
    let (t1, t2) = (to.dot(e1), to.dot(e2));
    let free = Vec2::new(e22 * t1 - e12 * t2, e11 * t2 - e12 * t1) / area;
    let inside = free.max(Vec2::ZERO);
    let inside = inside / inside.element_sum().max(1.0);
    inside.is_finite().then_some(inside)
}

/// How far off a surface the sample sphere stands, game units.
const SAMPLE_OFFSET: f32 = 24.0;

/// How far from their point the two spheres of a pair stand, in radii; the renderer's figure.
const PAIR_SPREAD: f32 = 1.08;

/// Radius of spheres for a grid of this cell size, game units: the option times the smallest side.
pub fn probe_radius(options: &ProbeOptions, cell_size: Vec3) -> f32 {
    options.size * cell_size.min_element()
}

/// The grid whose points carry the spheres; `None` when none are drawn or the map has no such grid.
pub fn shown_source(options: &ProbeOptions, grids: &GridSet) -> Option<GridSource> {
    let lighting = &grids.lighting;
    match options.show {
        ProbeShow::Off => None,
        ProbeShow::Legacy => lighting.light_grid.as_ref().map(|_| GridSource::Legacy),
        ProbeShow::Sh | ProbeShow::Both => lighting.sh_grid.as_ref().map(|_| GridSource::Sh),
    }
}

/// Position of a grid point; `None` when the grid has no such point.
pub fn probe_position(grids: &GridSet, probe: ProbeRef) -> Option<Vec3> {
    let lattice = grids.lattice(probe.source)?;
    ((probe.index as u64) < lattice.len()).then(|| lattice.position_of(probe.index))
}

/// Cell size of a grid.
pub fn cell_size(grids: &GridSet, source: GridSource) -> Option<Vec3> {
    grids.lattice(source).map(|lattice| lattice.cell_size)
}

/// The point of `source` nearest to `position`; `None` when there is no such grid or the position is more than a cell
/// outside it.
pub fn nearest_probe(grids: &GridSet, source: GridSource, position: Vec3) -> Option<ProbeRef> {
    let lattice = grids.lattice(source)?;
    let bounds = lattice.bounds();
    let near = position.clamp(bounds.min, bounds.max);
    if !((position - near).abs().cmple(lattice.cell_size).all()) {
        return None;
    }
    let cell = ((near - lattice.origin) / lattice.cell_size)
        .round()
        .as_uvec3();
    Some(ProbeRef {
        source,
        index: lattice.index(cell),
    })
}

/// The nearest drawn sphere that the ray meets, by the exact intersection of ray and sphere.
///
/// The rules are the renderer's: radius from the smallest cell side, shrinking towards the distance limit; points in solid
/// left out on demand; with both grids two spheres stand beside each point along `right`, the picture's right; and nothing
/// behind `world_t` counts unless x-ray is on.
pub fn pick_probe(
    grids: &GridSet,
    options: &ProbeOptions,
    ray: &Ray,
    right: Vec3,
    world_t: Option<f32>,
) -> Option<ProbeRef> {
    let source = shown_source(options, grids)?;
    let (lattice, blocked) = (grids.lattice(source)?, grids.blocked(source));
    let full_radius = probe_radius(options, lattice.cell_size);
    let sideways = match options.show {
        ProbeShow::Both => right * (full_radius * PAIR_SPREAD),
        ProbeShow::Off | ProbeShow::Legacy | ProbeShow::Sh => Vec3::ZERO,
    };
    let t_max = match world_t {
        Some(t) if !options.x_ray => t,
        _ => f32::INFINITY,
    };
    let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
    let mut best: Option<(f32, usize)> = None;
    for index in 0..count {
        if options.hide_in_solid && blocked.get(index).copied().unwrap_or(false) {
            continue;
        }
        let point = lattice.position_of(index);
        let left = 1.0 - point.distance(ray.origin) / options.distance;
        let radius = full_radius * (left * 10.0).clamp(0.0, 1.0);
        if radius <= 0.0 {
            continue;
        }
        for centre in [point - sideways, point + sideways] {
            if let Some(t) = ray_sphere(ray, centre, radius)
                && t <= t_max
                && best.is_none_or(|(nearest, _)| t < nearest)
            {
                best = Some((t, index));
            }
        }
    }
    best.map(|(_, index)| ProbeRef { source, index })
}

/// Distance at which the ray enters the sphere; `None` when it misses, leaves it behind, or starts inside.
fn ray_sphere(ray: &Ray, centre: Vec3, radius: f32) -> Option<f32> {
    let to_centre = centre - ray.origin;
    let along = to_centre.dot(ray.direction);
    let miss_squared = (to_centre - ray.direction * along).length_squared();
    let half_chord_squared = radius * radius - miss_squared;
    if half_chord_squared < 0.0 {
        return None;
    }
    let t = along - half_chord_squared.sqrt();
    (t >= ray.t_min).then_some(t)
}

/// The point some cells away; `None` at the edge of the grid.
pub fn stepped(grids: &GridSet, probe: ProbeRef, step: IVec3) -> Option<ProbeRef> {
    let lattice = grids.lattice(probe.source)?;
    let cell = lattice.cell(probe.index).as_ivec3() + step;
    let inside = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(lattice.counts.as_ivec3()).all();
    inside.then(|| ProbeRef {
        source: probe.source,
        index: lattice.index(cell.as_uvec3()),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::UVec3;

    use super::*;
    use crate::format::bsp::ShGrid;
    use crate::format::lattice::Lattice;
    use crate::scene::Lighting;

    fn grids() -> GridSet {
        let lattice = Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::new(32.0, 32.0, 64.0),
            counts: UVec3::new(4, 1, 1),
        };
        GridSet {
            lighting: Lighting {
                light_grid: None,
                sh_grid: Some(Arc::new(ShGrid {
                    lattice,
                    points: Arc::new(vec![[[1.0; 3]; 9]; 4]),
                })),
            },
            blocked_legacy: Vec::new(),
            blocked_sh: vec![false, true, false, false],
        }
    }

    fn shown() -> ProbeOptions {
        ProbeOptions {
            show: ProbeShow::Sh,
            size: 0.2,
            ..ProbeOptions::default()
        }
    }

    #[test]
    fn nearest_visible_sphere_is_picked() {
        let along = Ray::new(Vec3::new(-100.0, 0.0, 0.0), Vec3::X);
        let index = |options: &ProbeOptions, ray: &Ray, wall| {
            pick_probe(&grids(), options, ray, Vec3::NEG_Y, wall).map(|probe| probe.index)
        };
        assert_eq!(index(&shown(), &along, None), Some(0));
        // From beyond point 0, point 1 is in solid and left out.
        let later = Ray::new(Vec3::new(16.0, 0.0, 0.0), Vec3::X);
        assert_eq!(index(&shown(), &later, None), Some(2));
        let all = ProbeOptions {
            hide_in_solid: false,
            ..shown()
        };
        assert_eq!(index(&all, &later, None), Some(1));
        // A wall between hides it, x-ray shows it again.
        assert_eq!(index(&shown(), &later, Some(10.0)), None);
        let x_ray = ProbeOptions {
            x_ray: true,
            ..shown()
        };
        assert_eq!(index(&x_ray, &later, Some(10.0)), Some(2));
        // Radius is 0.2 × 32 = 6.4: a ray 6 units off meets it, one 7 units off does not.
        let off = |y: f32| Ray::new(Vec3::new(-100.0, y, 0.0), Vec3::X);
        assert_eq!(index(&shown(), &off(6.0), None), Some(0));
        assert_eq!(index(&shown(), &off(7.0), None), None);
        let near_only = ProbeOptions {
            distance: 90.0,
            ..shown()
        };
        assert_eq!(index(&near_only, &along, None), None);
        // Of both grids' spheres, side by side, the ray between them meets none.
        let both = ProbeOptions {
            show: ProbeShow::Both,
            ..shown()
        };
        assert_eq!(index(&both, &along, None), None);
        assert_eq!(index(&both, &off(7.0), None), Some(0));
        assert_eq!(
            pick_probe(
                &grids(),
                &ProbeOptions::default(),
                &along,
                Vec3::NEG_Y,
                None
            ),
            None
        );
    }

    #[test]
    fn nearest_point_of_another_grid_keeps_the_place() {
        let probe = nearest_probe(&grids(), GridSource::Sh, Vec3::new(70.0, 3.0, -9.0));
        assert_eq!(probe.map(|p| p.index), Some(2));
        assert_eq!(
            nearest_probe(&grids(), GridSource::Sh, Vec3::splat(900.0)),
            None
        );
        assert_eq!(
            nearest_probe(&grids(), GridSource::Legacy, Vec3::ZERO),
            None
        );
    }
}
