use std::ops::ControlFlow;

use glam::{Vec3, Vec3A};
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::leaf_collapser::collapse;
use obvhs::bvh2::reinsertion::ReinsertionOptimizer;
use obvhs::ploc::PlocBuilder;
use obvhs::ray::RayHit;
use obvhs::{Boundable, BvhBuildParams};

use crate::math::Ray;
use crate::trace::packet::Node;

/// When a triangle is too small or too steep to be hit: a limit for the determinant of the ray and its two edges, which is
/// twice its area times the cosine of the angle to the ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grazing {
    /// Square game units.
    Absolute(f32),
    /// Share of the product of the two edge lengths.
    Relative(f32),
}

/// Which crossings count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitRules {
    /// Limit below which a triangle is not hit.
    pub grazing: Grazing,
    /// How far the coordinates u, v and 1 − (u + v) may lie below 0, and u above 1; at most [`HitRules::MAX_SLACK`].
    pub slack: f32,
}

impl HitRules {
    /// Boxes of the hierarchy are grown for this slack.
    pub const MAX_SLACK: f32 = 0.01;
    /// Geometrically exact, for picking.
    pub const EXACT: Self = Self {
        grazing: Grazing::Relative(1e-7),
        slack: 0.0,
    };
}

/// A ray crossing a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Number of the triangle as given to [`TriangleSet::new`].
    pub triangle: u32,
    /// Distance along the ray, game units.
    pub t: f32,
    /// Weight of the second vertex.
    pub u: f32,
    /// Weight of the third vertex.
    pub v: f32,
}

/// Farthest coordinate of a triangle that is kept, game units: the hierarchy weighs boxes by their areas, and those of a
/// million larger boxes have no sum in single precision.
const FARTHEST: f32 = 1e12;

/// Triangles in a binary bounding-volume hierarchy. Both sides are hit.
pub struct TriangleSet {
    /// In the order of the hierarchy.
    pub(super) triangles: Vec<Edges>,
    /// Number of each as given.
    pub(super) numbers: Vec<u32>,
    /// The hierarchy once more for packets of rays; empty without triangles.
    pub(super) nodes: Vec<Node>,
    bvh: Option<Bvh2>,
}

impl std::fmt::Debug for TriangleSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TriangleSet")
            .field("triangles", &self.triangles.len())
            .finish_non_exhaustive()
    }
}

/// A triangle by one corner and the edges to the second and the third, game units.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    pub(super) corner: Vec3,
    pub(super) e1: Vec3,
    pub(super) e2: Vec3,
}

impl Edges {
    /// Of a triangle by its corners.
    pub fn new([a, b, c]: [Vec3; 3]) -> Self {
        Self {
            corner: a,
            e1: b - a,
            e2: c - a,
        }
    }

    /// The crossing, with `triangle` as its number, if it counts by `rules` and `t_min < t < t_max`.
    ///
    /// Möller and Trumbore, "Fast, minimum storage ray/triangle intersection" (1997).
    pub fn cross(&self, triangle: u32, ray: &Ray, rules: &HitRules) -> Option<Crossing> {
        let Self { corner, e1, e2 } = *self;
        let p = ray.direction.cross(e2);
        let det = e1.dot(p);
        let limit = match rules.grazing {
            Grazing::Absolute(limit) => limit,
            Grazing::Relative(share) => share * e1.length() * e2.length(),
        };
        // Written so that NaN is no hit.
        if !(det.abs() >= limit && det.abs() > 0.0) {
            return None;
        }
        let inverse = 1.0 / det;
        let (low, high) = (-rules.slack, 1.0 + rules.slack);
        let towards = ray.origin - corner;
        let u = towards.dot(p) * inverse;
        if !(low..=high).contains(&u) {
            return None;
        }
        let q = towards.cross(e1);
        let v = ray.direction.dot(q) * inverse;
        // Written so that NaN is no hit.
        if !(v >= low && u + v <= high) {
            return None;
        }
        let t = e2.dot(q) * inverse;
        (t > ray.t_min && t < ray.t_max).then_some(Crossing { triangle, t, u, v })
    }
}

impl Boundable for Edges {
    /// Grown so that crossings within the slack are found, and never flat.
    fn aabb(&self) -> obvhs::aabb::Aabb {
        const S: f32 = HitRules::MAX_SLACK * 1.1;
        let at = |u: f32, v: f32| Vec3A::from(self.corner + self.e1 * u + self.e2 * v);
        let points = [at(-S, -S), at(1.0 + 2.0 * S, -S), at(-S, 1.0 + 2.0 * S)];
        let mut bounds = obvhs::aabb::Aabb::from_points(&points);
        let margin = Vec3A::splat(0.01);
        bounds.min -= margin;
        bounds.max += margin;
        bounds
    }
}

impl TriangleSet {
    /// Builds the hierarchy. Triangles with a corner that is not finite, or farther out than any map reaches, are kept out of
    /// it; numbers stay as given.
    pub fn new(triangles: &[[Vec3; 3]]) -> Self {
        // Written so that NaN is not sound.
        let is_near = |corner: &Vec3| corner.abs().cmple(Vec3::splat(FARTHEST)).all();
        let sound = |corners: &[Vec3; 3]| corners.iter().all(is_near);
        let (kept, edges): (Vec<u32>, Vec<Edges>) = (0_u32..)
            .zip(triangles)
            .filter(|(_, corners)| sound(corners))
            .map(|(number, [a, b, c])| (number, Edges::new([*a, *b, *c])))
            .unzip();
        if edges.is_empty() {
            return Self {
                triangles: Vec::new(),
                numbers: Vec::new(),
                nodes: Vec::new(),
                bvh: None,
            };
        }
        let bvh = hierarchy(&edges);
        let order = || bvh.primitive_indices.iter().map(|index| *index as usize);
        Self {
            triangles: order().map(|index| edges[index]).collect(),
            numbers: order().map(|index| kept[index]).collect(),
            nodes: bvh.nodes.iter().map(compact).collect(),
            bvh: Some(bvh),
        }
    }

    /// Calls `visit` for every crossing with `t_min < t < t_max`, in no particular order, until it breaks.
    pub fn crossings(
        &self,
        ray: &Ray,
        rules: &HitRules,
        mut visit: impl FnMut(&Crossing) -> ControlFlow<()>,
    ) {
        let Some(bvh) = &self.bvh else { return };
        bvh.ray_traverse_miss(packed(ray), |_, at| match self.cross(at, ray, rules) {
            Some(crossing) if visit(&crossing).is_break() => 0.0,
            _ => f32::INFINITY,
        });
    }

    /// The nearest crossing with `t_min < t < t_max`.
    pub fn closest(&self, ray: &Ray, rules: &HitRules) -> Option<Crossing> {
        let bvh = self.bvh.as_ref()?;
        let mut nearest: Option<Crossing> = None;
        let mut hit = RayHit::none();
        bvh.ray_traverse(packed(ray), &mut hit, |_, at| {
            match self.cross(at, ray, rules) {
                Some(crossing) if nearest.is_none_or(|near| crossing.t < near.t) => {
                    nearest = Some(crossing);
                    crossing.t
                }
                _ => f32::INFINITY,
            }
        });
        nearest
    }

    fn cross(&self, at: usize, ray: &Ray, rules: &HitRules) -> Option<Crossing> {
        self.triangles[at].cross(self.numbers[at], ray, rules)
    }
}

/// As `obvhs::bvh2::builder::build_bvh2`, but without its checks in debug builds: they compare bounds within 1e-5, less
/// than single precision holds at map coordinates.
fn hierarchy(edges: &[Edges]) -> Bvh2 {
    let quality = BvhBuildParams::medium_build();
    let numbers = (0..edges.len() as u32).collect();
    let mut binary = PlocBuilder::with_capacity(edges.len()).build(
        quality.ploc_search_distance,
        edges,
        numbers,
        quality.sort_precision,
        quality.search_depth_threshold,
    );
    ReinsertionOptimizer::default().run(&mut binary, quality.reinsertion_batch_ratio, None);
    collapse(
        &mut binary,
        quality.max_prims_per_leaf,
        quality.collapse_traversal_cost,
    );
    // Neighbours in space become neighbours in memory.
    binary.reorder_in_stack_traversal_order();
    binary
}

fn compact(node: &obvhs::bvh2::node::Bvh2Node) -> Node {
    let aabb = node.aabb();
    Node {
        min: aabb.min.to_array(),
        count: node.prim_count,
        max: aabb.max.to_array(),
        first: node.first_index,
    }
}

fn packed(ray: &Ray) -> obvhs::ray::Ray {
    obvhs::ray::Ray::new(
        ray.origin.into(),
        ray.direction.into(),
        ray.t_min.max(0.0),
        ray.t_max,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::sampling::unit;

    fn random_point(index: u64, draw: u32) -> Vec3 {
        Vec3::new(
            unit(1, index, draw),
            unit(1, index, draw + 1),
            unit(1, index, draw + 2),
        ) * 100.0
    }

    #[test]
    fn weights_are_exact_on_edges() {
        let edges = Edges::new([Vec3::ZERO, Vec3::X * 96.0, Vec3::Y * 96.0]);
        let rules = HitRules {
            grazing: Grazing::Relative(0.0),
            slack: 1.0,
        };
        let weights = |from, to| {
            let crossing = edges.cross(0, &Ray::segment(from, to), &rules);
            crossing.map(|crossing| [crossing.u, crossing.v])
        };
        let at = |x: f32| weights(Vec3::new(x, 0.0, 64.0), Vec3::new(x, 0.0, -32.0));
        assert_eq!(at(48.0), Some([0.5, 0.0]));
        assert_eq!(at(-96.0), Some([-1.0, 0.0]));
        assert_eq!(weights(Vec3::Z, Vec3::Z + Vec3::X), None);
    }

    /// The hierarchy against a loop over all triangles.
    #[test]
    fn hierarchy_finds_what_a_plain_loop_finds() {
        let triangles: Vec<[Vec3; 3]> = (0..300)
            .map(|i| {
                let corner = random_point(i, 0);
                [
                    corner,
                    corner + random_point(i, 3) * 0.2,
                    corner + random_point(i, 6) * 0.2,
                ]
            })
            .collect();
        let set = TriangleSet::new(&triangles);
        let mut found = 0;
        for i in 0..500 {
            let ray = Ray::segment(random_point(i, 9), random_point(i, 12));
            let plain = (0..set.triangles.len())
                .filter_map(|at| set.cross(at, &ray, &HitRules::EXACT))
                .min_by(|a, b| a.t.total_cmp(&b.t));
            assert_eq!(set.closest(&ray, &HitRules::EXACT), plain, "ray {i}");
            let mut count = 0;
            set.crossings(&ray, &HitRules::EXACT, |_| {
                count += 1;
                ControlFlow::Continue(())
            });
            let all = (0..set.triangles.len())
                .filter(|at| set.cross(*at, &ray, &HitRules::EXACT).is_some())
                .count();
            assert_eq!(count, all);
            found += all;
        }
        assert!(found > 200, "{found}");
    }

    #[test]
    fn slack_and_grazing_limits_hold() {
        let set = TriangleSet::new(&[[Vec3::ZERO, Vec3::X * 10.0, Vec3::Y * 10.0]]);
        let down = |x: f32, y: f32| Ray::segment(Vec3::new(x, y, 5.0), Vec3::new(x, y, -5.0));
        let rules = |limit, slack| HitRules {
            grazing: Grazing::Absolute(limit),
            slack,
        };
        assert!(set.closest(&down(-0.05, 3.0), &rules(0.25, 0.01)).is_some());
        assert!(set.closest(&down(-0.05, 3.0), &rules(0.25, 0.0)).is_none());
        assert!(set.closest(&down(-0.2, 3.0), &rules(0.25, 0.01)).is_none());
        // Beside the first corner both coordinates may be short by the slack, so their sum by twice that.
        assert!(
            set.closest(&down(-0.08, -0.08), &rules(0.25, 0.01))
                .is_some()
        );
        assert!(
            set.closest(&down(-0.05, 10.1), &rules(0.25, 0.01))
                .is_some()
        );
        assert!(
            set.closest(&down(-0.05, 10.2), &rules(0.25, 0.01))
                .is_none()
        );
        // Twice the area is 100.
        assert!(set.closest(&down(1.0, 1.0), &rules(99.0, 0.0)).is_some());
        assert!(set.closest(&down(1.0, 1.0), &rules(101.0, 0.0)).is_none());
    }

    #[test]
    fn empty_and_unsound_sets_hit_nothing() {
        for triangles in [&[][..], &[[Vec3::NAN; 3]]] {
            let set = TriangleSet::new(triangles);
            let ray = Ray::new(Vec3::ZERO, Vec3::X);
            assert_eq!(set.closest(&ray, &HitRules::EXACT), None);
        }
    }
}
