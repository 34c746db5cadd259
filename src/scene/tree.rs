use glam::Vec3;

use crate::format::bsp::{Bsp, Child, Leaf};
use crate::math::Aabb;

/// The leaf that holds `point`, by the engine's walk: a point on a plane is behind it. `None` without a usable tree.
pub fn leaf_of(bsp: &Bsp, point: Vec3) -> Option<&Leaf> {
    let mut child = Child::Node(0);
    // A sound tree is never deeper than it has nodes; the bound stops a circle.
    for _ in 0..=bsp.nodes.len() {
        match child {
            Child::Leaf(leaf) => return bsp.leafs.get(leaf as usize),
            Child::Node(node) => {
                let node = bsp.nodes.get(node as usize)?;
                let plane = bsp.planes.get(node.plane as usize)?;
                let is_front = plane.distance(point) > 0.0;
                child = node.children[usize::from(!is_front)];
            }
        }
    }
    None
}

/// Calls `found` with the number of every leaf that `bounds` reaches into or touches, in the order of the tree.
pub fn leafs_in(bsp: &Bsp, bounds: &Aabb, mut found: impl FnMut(u32)) {
    let (centre, half) = (bounds.centre(), bounds.size() * 0.5);
    let mut open = vec![Child::Node(0)];
    // Each node of a sound tree is met once; the bound stops a circle.
    for _ in 0..=2 * bsp.nodes.len() {
        match open.pop() {
            None => break,
            Some(Child::Leaf(leaf)) => found(leaf),
            Some(Child::Node(node)) => {
                let node = bsp.nodes.get(node as usize);
                let Some((node, plane)) =
                    node.and_then(|node| Some((node, bsp.planes.get(node.plane as usize)?)))
                else {
                    continue;
                };
                let (distance, reach) = (plane.distance(centre), plane.normal.abs().dot(half));
                if distance <= reach {
                    open.push(node.children[1]);
                }
                if distance >= -reach {
                    open.push(node.children[0]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::bsp::Node;
    use crate::math::Plane;
    use glam::IVec3;

    /// One plane at x = 0: leaf 0 in front, leaf 1 behind.
    fn halves() -> Bsp {
        let leaf = |cluster| Leaf {
            cluster: Some(cluster),
            area: Some(0),
            min: IVec3::ZERO,
            max: IVec3::ZERO,
            first_surface: 0,
            surface_count: 0,
            first_brush: 0,
            brush_count: 0,
        };
        Bsp {
            planes: vec![Plane {
                normal: Vec3::X,
                dist: 0.0,
            }],
            nodes: vec![Node {
                plane: 0,
                children: [Child::Leaf(0), Child::Leaf(1)],
                min: IVec3::ZERO,
                max: IVec3::ZERO,
            }],
            leafs: vec![leaf(0), leaf(1)],
            ..Bsp::default()
        }
    }

    #[test]
    fn a_point_on_a_plane_is_behind_it() {
        let bsp = halves();
        let cluster = |x: f32| leaf_of(&bsp, Vec3::new(x, 0.0, 0.0)).unwrap().cluster;
        assert_eq!(cluster(1.0), Some(0));
        assert_eq!(cluster(0.0), Some(1));
        assert_eq!(
            leaf_of(&Bsp::default(), Vec3::ZERO).map(|leaf| leaf.area),
            None
        );
    }

    #[test]
    fn a_box_that_touches_a_plane_is_in_both_halves() {
        let bsp = halves();
        let met = |min: f32, max: f32| {
            let mut met = Vec::new();
            let bounds = Aabb {
                min: Vec3::new(min, -1.0, -1.0),
                max: Vec3::new(max, 1.0, 1.0),
            };
            leafs_in(&bsp, &bounds, |leaf| met.push(leaf));
            met
        };
        assert_eq!(met(-2.0, 0.0), [0, 1]);
        assert_eq!(met(0.5, 2.0), [0]);
        assert_eq!(met(-2.0, -0.5), [1]);
    }
}
