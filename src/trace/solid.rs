use glam::{Vec2, Vec3};

use crate::format::bsp::{Bsp, Child};
use crate::math::Plane;

/// A point this close to a node's plane counts as on it, game units. The reference compiler's value.
const ON_PLANE: f32 = 0.1;
/// An opaque leaf, as a child of a node.
const SOLID: i32 = i32::MIN;
/// The only leaf of a map without a tree.
const WHOLE_WORLD: u32 = 0;

/// Whether subtrees that hold no scattered polygon are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareSubtrees {
    /// Walked like any other.
    Walked,
    /// Passed through as if they were open, opaque leafs in them included.
    Skipped,
}

/// A corner of a polygon that is cut into the tree's leafs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeCorner {
    /// World position.
    pub position: Vec3,
    /// Texture coordinates, interpolated along cut edges.
    pub st: Vec2,
}

/// The BSP tree as far as segments need it: planes, and which leafs are opaque.
#[derive(Clone, Debug, Default)]
pub struct SolidTree {
    nodes: Vec<TreeNode>,
}

#[derive(Clone, Copy, Debug)]
struct TreeNode {
    plane: Plane,
    /// Front and back: a node number, [`SOLID`], or −1 − number of an open leaf.
    children: [i32; 2],
    bare: bool,
}

/// What [`SolidTree::first_solid`] passed, and its working memory; keep one a thread.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    pending: Vec<(i32, Vec3, Vec3)>,
    leafs: Vec<u32>,
}

impl Walk {
    /// Whether the last walk passed the open leaf `leaf`.
    pub fn passed(&self, leaf: u32) -> bool {
        self.leafs.contains(&leaf)
    }
}

impl SolidTree {
    /// Copies the tree of `bsp`; without one nothing is ever solid and all is one leaf, number 0.
    pub fn new(bsp: &Bsp) -> Self {
        let child = |child: Child| match child {
            Child::Node(node) => i32::try_from(node).unwrap_or(SOLID),
            Child::Leaf(leaf) => match bsp.leafs.get(leaf as usize) {
                Some(found) if found.cluster.is_some() => {
                    i32::try_from(leaf).map_or(SOLID, |leaf| -1 - leaf)
                }
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

    /// Cuts a convex polygon, clockwise seen from its front, into its parts in open leafs and calls `part` for each.
    ///
    /// The subtrees that it reaches are no longer bare. A polygon in a node's plane belongs to the side that it faces.
    /// Parts in opaque leafs are dropped: no walk gets there.
    pub fn scatter(&mut self, polygon: &[TreeCorner], mut part: impl FnMut(u32, &[TreeCorner])) {
        let facing = facing(polygon);
        if self.nodes.is_empty() {
            part(WHOLE_WORLD, polygon);
            return;
        }
        let mut pending = vec![(0_i32, polygon.to_vec())];
        while let Some((number, polygon)) = pending.pop() {
            if polygon.len() < 3 || number == SOLID {
                continue;
            }
            let Ok(index) = usize::try_from(number) else {
                part((-1 - number).unsigned_abs(), &polygon);
                continue;
            };
            let Some(node) = self.nodes.get_mut(index) else {
                continue;
            };
            node.bare = false;
            let distances: Vec<f32> = polygon
                .iter()
                .map(|corner| node.plane.distance(corner.position))
                .collect();
            let is_ahead = distances.iter().all(|distance| *distance >= -ON_PLANE);
            let is_behind = distances.iter().all(|distance| *distance <= ON_PLANE);
            let [front, back] = node.children;
            match (is_ahead, is_behind) {
                (true, true) if facing.dot(node.plane.normal) > 0.0 => {
                    pending.push((front, polygon));
                }
                (false, true) | (true, true) => pending.push((back, polygon)),
                (true, false) => pending.push((front, polygon)),
                (false, false) => {
                    let (ahead, behind) = split(&polygon, &distances);
                    pending.push((front, ahead));
                    pending.push((back, behind));
                }
            }
        }
    }

    /// Where the segment first enters an opaque leaf; `from` itself when it starts in one. `walk` then knows the open
    /// leafs before that.
    pub fn first_solid(
        &self,
        from: Vec3,
        to: Vec3,
        bare: BareSubtrees,
        walk: &mut Walk,
    ) -> Option<Vec3> {
        let Walk { pending, leafs } = walk;
        pending.clear();
        leafs.clear();
        if self.nodes.is_empty() {
            leafs.push(WHOLE_WORLD);
            return None;
        }
        let (mut number, mut start, mut end) = (0, from, to);
        loop {
            if number == SOLID {
                return Some(start);
            }
            let node = match usize::try_from(number) {
                Ok(index) => self
                    .nodes
                    .get(index)
                    .filter(|node| !(node.bare && bare == BareSubtrees::Skipped)),
                Err(_) => {
                    leafs.push((-1 - number).unsigned_abs());
                    None
                }
            };
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

/// A normal, not unit, by the first three corners.
fn facing(polygon: &[TreeCorner]) -> Vec3 {
    match polygon {
        [a, b, c, ..] => (c.position - a.position).cross(b.position - a.position),
        _ => Vec3::ZERO,
    }
}

/// The parts of a convex polygon before and behind a plane from which its corners have `distances`.
fn split(polygon: &[TreeCorner], distances: &[f32]) -> (Vec<TreeCorner>, Vec<TreeCorner>) {
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for (i, corner) in polygon.iter().enumerate() {
        let j = (i + 1) % polygon.len();
        let (here, there) = (distances[i], distances[j]);
        if here >= -ON_PLANE {
            ahead.push(*corner);
        }
        if here <= ON_PLANE {
            behind.push(*corner);
        }
        let crosses =
            here.abs() > ON_PLANE && there.abs() > ON_PLANE && (here > 0.0) != (there > 0.0);
        if crosses {
            let share = here / (here - there);
            let cut = TreeCorner {
                position: corner.position + (polygon[j].position - corner.position) * share,
                st: corner.st + (polygon[j].st - corner.st) * share,
            };
            ahead.push(cut);
            behind.push(cut);
        }
    }
    (ahead, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaf 7 where x < 0; else leaf 3 where y > 0 and solid where y < 0.
    fn corner() -> SolidTree {
        let node = |normal, children| TreeNode {
            plane: Plane { normal, dist: 0.0 },
            children,
            bare: true,
        };
        SolidTree {
            nodes: vec![node(Vec3::X, [1, -8]), node(Vec3::Y, [-4, SOLID])],
        }
    }

    fn polygon(points: [(f32, f32); 3]) -> Vec<TreeCorner> {
        points
            .map(|(x, y)| TreeCorner {
                position: Vec3::new(x, y, 0.0),
                st: Vec2::new(x, y),
            })
            .to_vec()
    }

    #[test]
    fn segment_stops_where_the_first_opaque_leaf_begins() {
        let tree = corner();
        let mut walk = Walk::default();
        let inside = Vec3::new(10.0, 10.0, 0.0);
        let mut solid = |from, to| tree.first_solid(from, to, BareSubtrees::Walked, &mut walk);
        assert_eq!(solid(inside, Vec3::new(20.0, 5.0, 0.0)), None);
        let below = Vec3::new(10.0, -30.0, 0.0);
        assert_eq!(solid(inside, below), Some(Vec3::X * 10.0));
        assert_eq!(solid(below, inside), Some(below));
        assert_eq!(solid(inside, Vec3::new(-10.0, 10.0, 0.0)), None);
        assert!(walk.passed(3) && walk.passed(7) && !walk.passed(4));
    }

    #[test]
    fn only_reached_subtrees_block_when_bare_ones_are_skipped() {
        let mut tree = corner();
        let mut walk = Walk::default();
        let (from, to) = (Vec3::new(10.0, 10.0, 0.0), Vec3::new(10.0, -30.0, 0.0));
        let bare = BareSubtrees::Skipped;
        assert_eq!(tree.first_solid(from, to, bare, &mut walk), None);
        tree.scatter(&polygon([(5.0, 5.0), (6.0, 5.0), (5.0, 6.0)]), |_, _| {});
        assert!(tree.first_solid(from, to, bare, &mut walk).is_some());
    }

    #[test]
    fn polygons_are_cut_at_the_planes_and_dropped_in_solid() {
        let mut tree = corner();
        let mut parts = Vec::new();
        let whole = polygon([(-10.0, 10.0), (10.0, 10.0), (10.0, -10.0)]);
        tree.scatter(&whole, |leaf, corners| {
            let area: f32 = corners
                .windows(2)
                .map(|edge| {
                    (edge[0].position - corners[0].position)
                        .cross(edge[1].position - corners[0].position)
                        .z
                })
                .sum();
            assert!(corners.iter().all(|c| c.position.truncate() == c.st));
            parts.push((leaf, (area.abs() * 0.5).round() as i32));
        });
        parts.sort_unstable();
        // 200 in all: 50 left of x = 0, 100 before y = 0, 50 in the solid.
        assert_eq!(parts, [(3, 100), (7, 50)]);
    }

    #[test]
    fn without_a_tree_nothing_is_solid() {
        let mut walk = Walk::default();
        let mut tree = SolidTree::default();
        let solid = tree.first_solid(Vec3::ZERO, Vec3::X, BareSubtrees::Skipped, &mut walk);
        assert!(solid.is_none() && walk.passed(0));
        let mut count = 0;
        tree.scatter(&polygon([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]), |_, _| {
            count += 1
        });
        assert_eq!(count, 1);
    }
}
