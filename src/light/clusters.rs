use glam::Vec3;

use crate::format::bsp::{Bsp, Child};
use crate::light::materials::Materials;
use crate::math::{Aabb, Plane};
use crate::scene::Scene;

/// A point this close to a node's plane is looked for on both sides, game units.
const ON_PLANE: f32 = 0.1;
/// More than a distance from a plane is ever off by rounding, game units.
const ROUNDING: f32 = 1.0;

/// Which visibility cluster a point is in, and what it may see (section 1.2 of the compiler's specification).
#[derive(Debug)]
pub(crate) struct Clusters<'a> {
    bsp: &'a Bsp,
    /// By brush: its planes when it is opaque to sample points, else empty.
    opaque: Vec<Vec<Plane>>,
}

impl<'a> Clusters<'a> {
    /// Finds the opaque brushes: those of the world without a translucent side.
    pub(super) fn new(scene: &'a Scene, materials: &Materials<'_>) -> Self {
        let bsp = scene.bsp.as_ref();
        let world = bsp.models.first().map_or(0..0, |model| {
            model.first_brush as usize..(model.first_brush + model.brush_count) as usize
        });
        let opaque = bsp.brushes.iter().enumerate().map(|(number, brush)| {
            let first = brush.first_side as usize;
            let sides = bsp
                .brush_sides
                .get(first..first + brush.side_count as usize)
                .unwrap_or_default();
            let is_opaque = world.contains(&number)
                && sides.iter().all(|side| {
                    let is_nameless = bsp
                        .shaders
                        .get(side.shader as usize)
                        .is_some_and(|shader| shader.name.eq_ignore_ascii_case("noshader"));
                    is_nameless || !materials.shader_flags(side.shader).translucent
                });
            let planes = sides
                .iter()
                .filter_map(|side| bsp.planes.get(side.plane as usize).copied());
            if is_opaque {
                planes.collect()
            } else {
                Vec::new()
            }
        });
        Self {
            bsp,
            opaque: opaque.collect(),
        }
    }

    /// The cluster of `point`; `None` in an opaque leaf, or inside an opaque brush grown by `margin` units.
    ///
    /// A map without a tree is one cluster, number 0.
    pub(super) fn of_point(&self, point: Vec3, margin: f32) -> Option<u32> {
        self.of_point_in(Child::Node(0), point, margin)
    }

    /// The same, and faster, for a point in the bounds that [`Clusters::subtree`] gave `subtree` for.
    pub(super) fn of_point_in(&self, subtree: Child, point: Vec3, margin: f32) -> Option<u32> {
        if self.bsp.nodes.is_empty() {
            return Some(0);
        }
        let leaf = self.bsp.leafs.get(self.leaf_of(subtree, point)?)?;
        let cluster = leaf.cluster?;
        let first = leaf.first_brush as usize;
        let brushes = self
            .bsp
            .leaf_brushes
            .get(first..first + leaf.brush_count as usize)
            .unwrap_or_default();
        let is_inside = brushes
            .iter()
            .filter_map(|brush| self.opaque.get(*brush as usize))
            .any(|planes| {
                !planes.is_empty() && planes.iter().all(|plane| plane.distance(point) <= margin)
            });
        (!is_inside).then_some(cluster)
    }

    /// Near a plane the front is taken, unless its leaf is opaque.
    fn leaf_of(&self, subtree: Child, point: Vec3) -> Option<usize> {
        let mut child = subtree;
        let mut pending = Vec::new();
        loop {
            match child {
                Child::Leaf(leaf) => {
                    let leaf = leaf as usize;
                    if pending.is_empty() || self.bsp.leafs.get(leaf)?.cluster.is_some() {
                        return Some(leaf);
                    }
                    child = pending.pop()?;
                }
                Child::Node(node) => {
                    let node = self.bsp.nodes.get(node as usize)?;
                    let plane = self.bsp.planes.get(node.plane as usize)?;
                    let distance = plane.distance(point);
                    let [front, back] = node.children;
                    child = if distance < -ON_PLANE { back } else { front };
                    if distance.abs() <= ON_PLANE {
                        pending.push(back);
                    }
                }
            }
        }
    }

    /// The smallest part of the tree in which all points in `bounds` are looked for.
    pub(super) fn subtree(&self, bounds: &Aabb) -> Child {
        let mut child = Child::Node(0);
        while let Some([front, back]) = self.children_meeting(child, bounds) {
            child = match (front, back) {
                (Some(only), None) | (None, Some(only)) => only,
                _ => break,
            };
        }
        child
    }

    /// Whether no point in `bounds` has a cluster, found at once for all of them; false when that is not certain.
    pub(super) fn is_all_opaque(&self, subtree: Child, bounds: &Aabb) -> bool {
        let mut pending = vec![subtree];
        while let Some(child) = pending.pop() {
            match (self.children_meeting(child, bounds), child) {
                (Some(children), _) => pending.extend(children.into_iter().flatten()),
                (None, Child::Node(_)) => return false,
                (None, Child::Leaf(leaf)) => {
                    let leaf = self.bsp.leafs.get(leaf as usize);
                    if leaf.is_none_or(|leaf| leaf.cluster.is_some()) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Those of a node's children in which points in `bounds` may be looked for; `None` for leafs.
    fn children_meeting(&self, child: Child, bounds: &Aabb) -> Option<[Option<Child>; 2]> {
        let Child::Node(node) = child else {
            return None;
        };
        let node = self.bsp.nodes.get(node as usize)?;
        let plane = self.bsp.planes.get(node.plane as usize)?;
        let distance = plane.distance(bounds.centre());
        let half = bounds.size() * 0.5;
        let reach = plane.normal.abs().dot(half) + ON_PLANE + ROUNDING;
        let [front, back] = node.children;
        // Written so that NaN goes both ways.
        let (is_ahead, is_behind) = (distance > reach, distance < -reach);
        Some([(!is_behind).then_some(front), (!is_ahead).then_some(back)])
    }

    /// Whether cluster `to` is potentially visible from `from`.
    pub(super) fn sees(&self, from: u32, to: u32) -> bool {
        from == to
            || self
                .bsp
                .visibility
                .as_ref()
                .is_none_or(|visibility| visibility.sees(from, to))
    }

    /// Box around all leafs that `cluster` may see; empty when there are none.
    pub(super) fn seen_bounds(&self, cluster: u32) -> Aabb {
        self.bsp
            .leafs
            .iter()
            .filter(|leaf| leaf.cluster.is_some_and(|to| self.sees(cluster, to)))
            .fold(Aabb::EMPTY, |bounds, leaf| {
                bounds.union(Aabb {
                    min: leaf.min.as_vec3(),
                    max: leaf.max.as_vec3(),
                })
            })
    }
}
