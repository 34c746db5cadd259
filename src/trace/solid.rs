use glam::Vec3;

use crate::format::bsp::{Bsp, Child};
use crate::math::Plane;

/// A point this close to a node's plane counts as on it, game units. The reference compiler's value.
const ON_PLANE: f32 = 0.1;
/// An open leaf.
const OPEN: i32 = -1;
/// An opaque leaf, or a tree that is not there.
const SOLID: i32 = -2;

/// Whether subtrees that hold no marked triangle are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareSubtrees {
    /// Walked like any other.
    Walked,
    /// Passed through as if they were open, solid leafs in them included.
    Skipped,
}

/// The BSP tree as far as segments need it: planes and which leafs are opaque.
///
/// Triangles can be marked in it, so that walks may skip subtrees without any ([`BareSubtrees::Skipped`]).
#[derive(Clone, Debug, Default)]
pub struct SolidTree {
    nodes: Vec<TreeNode>,
}

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    plane: Plane,
    /// Front and back: a node number, [`OPEN`] or [`SOLID`].
    children: [i32; 2],
    bare: bool,
}

/// Working memory of [`SolidTree::first_solid`]; keep one a thread.
#[derive(Clone, Debug, Default)]
pub struct WalkStack(Vec<(i32, Vec3, Vec3)>);

impl SolidTree {
    /// Copies the tree of `bsp`; without one nothing is ever solid.
    pub fn new(bsp: &Bsp) -> Self {
        let child = |child: Child| match child {
            Child::Node(node) => i32::try_from(node).unwrap_or(SOLID),
            Child::Leaf(leaf) => match bsp.leafs.get(leaf as usize) {
                Some(leaf) if leaf.cluster.is_some() => OPEN,
                _ => SOLID,
            },
        };
        let nodes = bsp
            .nodes
            .iter()
            .filter_map(|node| {
                Some(TreeNode {
                    plane: *bsp.planes.get(node.plane as usize)?,
                    children: node.children.map(child),
                    bare: true,
                })
            })
            .collect::<Vec<_>>();
        let is_whole = nodes.len() == bsp.nodes.len();
        Self {
            nodes: if is_whole { nodes } else { Vec::new() },
        }
    }

    /// Marks every subtree that `triangle` reaches into. A triangle in a node's plane belongs to the side that it faces
    /// (clockwise seen from the front).
    pub fn mark(&mut self, triangle: [Vec3; 3]) {
        let [a, b, c] = triangle;
        let facing = (c - a).cross(b - a);
        let mut pending = vec![(0_i32, triangle.to_vec())];
        while let Some((number, polygon)) = pending.pop() {
            let Some(node) = usize::try_from(number)
                .ok()
                .and_then(|number| self.nodes.get_mut(number))
            else {
                continue;
            };
            node.bare = false;
            let distances = polygon.iter().map(|point| node.plane.distance(*point));
            let (low, high) = distances.fold((f32::MAX, f32::MIN), |(low, high), distance| {
                (low.min(distance), high.max(distance))
            });
            let [front, back] = node.children;
            if low >= -ON_PLANE && high <= ON_PLANE {
                let is_front = facing.dot(node.plane.normal) > 0.0;
                pending.push((if is_front { front } else { back }, polygon));
            } else if low >= -ON_PLANE {
                pending.push((front, polygon));
            } else if high <= ON_PLANE {
                pending.push((back, polygon));
            } else {
                let (ahead, behind) = split(&polygon, &node.plane);
                pending.push((front, ahead));
                pending.push((back, behind));
            }
        }
    }

    /// Where the segment first enters an opaque leaf; `from` itself when it starts in one.
    pub fn first_solid(
        &self,
        from: Vec3,
        to: Vec3,
        bare: BareSubtrees,
        stack: &mut WalkStack,
    ) -> Option<Vec3> {
        let pending = &mut stack.0;
        pending.clear();
        let root = if self.nodes.is_empty() { OPEN } else { 0 };
        let (mut number, mut start, mut end) = (root, from, to);
        loop {
            if number == SOLID {
                return Some(start);
            }
            let node = usize::try_from(number)
                .ok()
                .and_then(|number| self.nodes.get(number))
                .filter(|node| !(node.bare && bare == BareSubtrees::Skipped));
            let Some(node) = node else {
                (number, start, end) = pending.pop()?;
                continue;
            };
            let front = node.plane.distance(start);
            let back = node.plane.distance(end);
            if front >= -ON_PLANE && back >= -ON_PLANE {
                number = node.children[0];
            } else if front < ON_PLANE && back < ON_PLANE {
                number = node.children[1];
            } else {
                let side = usize::from(front < 0.0);
                let middle = start + (end - start) * (front / (front - back));
                pending.push((node.children[1 - side], middle, end));
                number = node.children[side];
                end = middle;
            }
        }
    }
}

/// The parts of a convex polygon before and behind a plane.
fn split(polygon: &[Vec3], plane: &Plane) -> (Vec<Vec3>, Vec<Vec3>) {
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for (i, point) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        let (here, there) = (plane.distance(*point), plane.distance(next));
        if here >= 0.0 {
            ahead.push(*point);
        }
        if here <= 0.0 {
            behind.push(*point);
        }
        if here * there < 0.0 {
            let crossing = *point + (next - *point) * (here / (here - there));
            ahead.push(crossing);
            behind.push(crossing);
        }
    }
    (ahead, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Open where x > 0 and y > 0.
    fn corner() -> SolidTree {
        let node = |normal, children| TreeNode {
            plane: Plane { normal, dist: 0.0 },
            children,
            bare: true,
        };
        SolidTree {
            nodes: vec![node(Vec3::X, [1, SOLID]), node(Vec3::Y, [OPEN, SOLID])],
        }
    }

    #[test]
    fn segment_stops_where_the_first_opaque_leaf_begins() {
        let tree = corner();
        let mut stack = WalkStack::default();
        let mut walk = |from, to| tree.first_solid(from, to, BareSubtrees::Walked, &mut stack);
        let inside = Vec3::new(10.0, 10.0, 0.0);
        assert_eq!(walk(inside, Vec3::new(20.0, 5.0, 0.0)), None);
        assert_eq!(
            walk(inside, Vec3::new(-10.0, 10.0, 0.0)),
            Some(Vec3::new(0.0, 10.0, 0.0))
        );
        assert_eq!(
            walk(inside, Vec3::new(10.0, -30.0, 0.0)),
            Some(Vec3::new(10.0, 0.0, 0.0))
        );
        assert_eq!(walk(-inside, inside), Some(-inside));
    }

    #[test]
    fn only_marked_subtrees_block_when_bare_ones_are_skipped() {
        let mut tree = corner();
        let mut stack = WalkStack::default();
        let from = Vec3::new(10.0, 10.0, 0.0);
        let to = Vec3::new(10.0, -30.0, 0.0);
        assert_eq!(
            tree.first_solid(from, to, BareSubtrees::Skipped, &mut stack),
            None
        );
        tree.mark([
            Vec3::new(5.0, 5.0, 0.0),
            Vec3::new(6.0, 5.0, 0.0),
            Vec3::new(5.0, 6.0, 0.0),
        ]);
        assert!(
            tree.first_solid(from, to, BareSubtrees::Skipped, &mut stack)
                .is_some()
        );
    }

    #[test]
    fn without_a_tree_nothing_is_solid() {
        let mut stack = WalkStack::default();
        let tree = SolidTree::default();
        assert_eq!(
            tree.first_solid(Vec3::ZERO, Vec3::X, BareSubtrees::Walked, &mut stack),
            None
        );
    }
}
