use glam::Vec3;

use crate::format::bsp::content_flags;
use crate::scene::Scene;

/// Number of the leaf that holds `point`; `None` when the file has no usable tree.
///
/// Behind is `distance < 0`; a point on a plane is in front. The tree is free of cycles (checked on reading).
pub fn leaf_at(scene: &Scene, point: Vec3) -> Option<usize> {
    scene.bsp.leaf_number_at(point)
}

/// Content flags of all brushes of the point's leaf that hold it, combined; 0 in the open.
pub fn point_contents(scene: &Scene, point: Vec3) -> u32 {
    let bsp = &scene.bsp;
    let Some(leaf) = leaf_at(scene, point).and_then(|leaf| bsp.leafs.get(leaf)) else {
        return 0;
    };
    let first = leaf.first_brush as usize;
    let listed = bsp
        .leaf_brushes
        .get(first..first + leaf.brush_count as usize)
        .unwrap_or_default();
    listed
        .iter()
        .filter(|brush| is_inside(scene, **brush, point))
        .fold(0, |contents, brush| contents | scene.brush_contents(*brush))
}

/// Whether a grid point at `point` is in solid: its leaf is opaque, or a solid brush holds it.
pub fn is_blocked(scene: &Scene, point: Vec3) -> bool {
    let opaque = leaf_at(scene, point)
        .and_then(|leaf| scene.bsp.leafs.get(leaf))
        .is_some_and(|leaf| leaf.cluster.is_none());
    opaque || point_contents(scene, point) & content_flags::SOLID != 0
}

fn is_inside(scene: &Scene, brush: u32, point: Vec3) -> bool {
    let bsp = &scene.bsp;
    let Some(brush) = bsp.brushes.get(brush as usize) else {
        return false;
    };
    let first = brush.first_side as usize;
    let sides = bsp
        .brush_sides
        .get(first..first + brush.side_count as usize)
        .unwrap_or_default();
    !sides.is_empty()
        && sides.iter().all(|side| {
            bsp.planes
                .get(side.plane as usize)
                .is_some_and(|plane| plane.distance(point) <= 0.0)
        })
}
