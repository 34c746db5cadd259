use glam::{Vec2, Vec3};

use crate::format::bsp::{Bsp, Child};
use crate::math::{Aabb, Plane};

/// The end of a segment this close to a node's plane counts as on it, game units. The reference compiler's value.
pub(super) const ON_PLANE: f32 = 0.1;
/// A corner this close to the plane that its polygon is cut at counts as on it, game units. Found from the reference
/// compiler's results, in which a smaller value and one above 0.26 put parts into leafs that their rays contradict.
const ON_CUT: f32 = 0.25;
/// An opaque leaf, as a child of a node.
pub(super) const SOLID: i32 = i32::MIN;
/// A part that reaches farther out of its leaf than this is said to, game units: more than rounding explains, and far less than
/// the slack at the edges of any part that is large enough to block.
const OVERHANG: f32 = 0.001;
/// A polygon whose unit normal is within this of the opposite of a plane's, on each axis, lies in it turned round. From the
/// reference compiler's results: 0.0007 is too much, and rounding takes some.
const OPPOSITE: f32 = 1e-5;
/// Leafs this many planes below the root are not divided. The reference compiler's value.
const DEPTH_MAX: u32 = 32;
/// Nodes are not added beyond this number; a bound for hostile sizes.
const NODES_MAX: usize = 2_000_000;

/// Whether subtrees that hold no polygon are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareSubtrees {
    /// Walked like any other.
    Walked,
    /// Passed through as if they were open, opaque leafs in them included.
    Skipped,
}

/// Whether leafs with long polygons are divided further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Division {
    /// They stay as the file has them.
    Never,
    /// A leaf with many triangles is cut across the longest side of the box around its polygons, at the mean of their
    /// corners rounded down, until there are few, or that side is short. An opaque leaf that is divided becomes
    /// open: in the reference compiler's results pillars from floor to ceiling do not block by their leaf, since floor and
    /// ceiling run on through them.
    Above {
        /// Leafs with at most so many triangles stay.
        triangles: usize,
        /// Leafs whose longest side is at most this stay, game units.
        side: f32,
    },
}

/// A corner of a polygon that is cut into the tree's leafs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeCorner {
    /// World position.
    pub position: Vec3,
    /// Texture coordinates, interpolated along cut edges.
    pub st: Vec2,
}

/// A convex polygon, clockwise seen from its front.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePolygon {
    /// Whatever the caller knows it by.
    pub owner: u32,
    /// At least three.
    pub corners: Vec<TreeCorner>,
    /// Whether corners that count as on the plane of a cut lie beyond it: then a segment may cross it outside of its leaf.
    pub overhangs: bool,
}

/// The BSP tree as far as segments need it: planes, and which leafs are opaque.
#[derive(Clone, Debug, Default)]
pub struct SolidTree {
    pub(super) nodes: Vec<TreeNode>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TreeNode {
    pub(super) plane: Plane,
    /// Front and back: a node number, [`SOLID`], or −1 − number of an open leaf.
    pub(super) children: [i32; 2],
    pub(super) bare: bool,
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
    /// The only leaf of a map without a tree.
    pub const WHOLE_WORLD: u32 = 0;

    /// Copies the tree of `bsp` and cuts `polygons` into their parts in open leafs, which are returned with the leafs'
    /// numbers. A polygon in a node's plane belongs behind it where it faces exactly there, otherwise ahead: one that lies in
    /// the plane by the tolerance of a cut alone, as a slanting one whose corners were rounded, is ahead however it faces. So
    /// is one in the plane that divides a leaf.
    ///
    /// Without a tree nothing is ever solid and all is one leaf, number 0. Numbers of divided leafs are new ones.
    pub fn new(
        bsp: &Bsp,
        polygons: impl IntoIterator<Item = TreePolygon>,
        division: Division,
    ) -> (Self, Vec<(u32, TreePolygon)>) {
        let nodes: Option<Vec<TreeNode>> = bsp
            .nodes
            .iter()
            .map(|node| {
                Some(TreeNode {
                    plane: *bsp.planes.get(node.plane as usize)?,
                    children: node.children.map(|child| match child {
                        Child::Node(node) => i32::try_from(node).unwrap_or(SOLID),
                        Child::Leaf(leaf) => leaf_child(leaf),
                    }),
                    bare: true,
                })
            })
            .collect();
        let mut tree = Self {
            nodes: nodes.unwrap_or_default(),
        };
        let is_solid = |leaf: usize| {
            let leaf = bsp.leafs.get(leaf);
            leaf.is_none_or(|leaf| leaf.cluster.is_none())
        };
        let parts = tree.fill(polygons, bsp.leafs.len(), is_solid, division);
        (tree, parts)
    }

    fn fill(
        &mut self,
        polygons: impl IntoIterator<Item = TreePolygon>,
        leaf_count: usize,
        is_solid: impl Fn(usize) -> bool,
        division: Division,
    ) -> Vec<(u32, TreePolygon)> {
        if self.nodes.is_empty() {
            let whole = polygons.into_iter();
            return whole.map(|polygon| (Self::WHOLE_WORLD, polygon)).collect();
        }
        let mut contents = vec![Vec::new(); leaf_count];
        for polygon in polygons {
            self.scatter(polygon, &mut contents);
        }
        let mut divider = Divider {
            division,
            next_leaf: leaf_count as u32,
            parts: Vec::new(),
        };
        for (node, depth) in (0..).zip(self.depths()) {
            for side in 0..2 {
                let child = self.nodes[node].children[side];
                if child < 0 {
                    let leaf = (-1 - child) as usize;
                    let found = contents.get_mut(leaf).map(std::mem::take);
                    let undivided = if is_solid(leaf) { SOLID } else { child };
                    self.nodes[node].children[side] =
                        divider.divide(self, found.unwrap_or_default(), undivided, depth + 1);
                }
            }
        }
        divider.parts
    }

    /// Of each node: planes above it.
    fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.nodes.len()];
        let mut pending = vec![(0_usize, 0)];
        while let Some((number, depth)) = pending.pop() {
            if let (Some(node), Some(place)) = (self.nodes.get(number), depths.get_mut(number)) {
                *place = depth;
                let below = node.children.into_iter().map(usize::try_from);
                pending.extend(below.flatten().map(|child| (child, depth + 1)));
            }
        }
        depths
    }

    /// Cuts a polygon into the leafs; the subtrees that it reaches are no longer bare.
    fn scatter(&mut self, polygon: TreePolygon, contents: &mut [Vec<TreePolygon>]) {
        let mut pending = vec![(0_i32, polygon)];
        while let Some((number, polygon)) = pending.pop() {
            if number < 0 {
                if let Some(leaf) = contents.get_mut((-1 - number) as usize) {
                    leaf.push(polygon);
                }
            } else if let Some(node) = self.nodes.get_mut(number as usize) {
                node.bare = false;
                let parts = split(polygon, &node.plane, Turned::Behind);
                for (child, part) in node.children.into_iter().zip(parts) {
                    pending.extend(part.map(|part| (child, part)));
                }
            }
        }
    }

    /// The tree with every subtree that has no opaque leaf made one open leaf, number 0: where a walk looks for opaque leafs
    /// alone, it finds the same in fewer steps. Nodes lie in the order of a walk, front first.
    #[must_use]
    pub fn pruned(&self) -> Self {
        let inside = |child: &usize| *child < self.nodes.len();
        let child_node = |child: i32| usize::try_from(child).ok().filter(inside);
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut pending: Vec<usize> = (!self.nodes.is_empty()).then_some(0).into_iter().collect();
        while let Some(number) = pending.pop() {
            order.push(number);
            let [front, back] = self.nodes[number].children.map(child_node);
            pending.extend(back);
            pending.extend(front);
        }
        // Children come after their parents in that order, so they are known first here.
        let mut kept = vec![false; self.nodes.len()];
        for number in order.iter().rev() {
            kept[*number] = self.nodes[*number]
                .children
                .into_iter()
                .any(|child| child == SOLID || child_node(child).is_some_and(|child| kept[child]));
        }
        order.retain(|number| kept[*number]);
        let mut places = vec![leaf_child(0); self.nodes.len()];
        for (place, number) in (0_i32..).zip(&order) {
            places[*number] = place;
        }
        let node = |number: &usize| {
            let node = self.nodes[*number];
            let children = node.children.map(|child| match child_node(child) {
                Some(child) => places[child],
                None if child == SOLID => SOLID,
                None => leaf_child(0),
            });
            TreeNode { children, ..node }
        };
        Self {
            nodes: order.iter().map(node).collect(),
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
        leafs.clear();
        pending.clear();
        if self.nodes.is_empty() {
            leafs.push(Self::WHOLE_WORLD);
            return None;
        }
        let (mut number, mut start, mut end) = (0, from, to);
        loop {
            if number == SOLID {
                return Some(start);
            }
            if number < 0 {
                leafs.push((-1 - number).unsigned_abs());
            }
            let node = usize::try_from(number)
                .ok()
                .and_then(|index| self.nodes.get(index))
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

/// The child number of an open leaf.
pub(super) fn leaf_child(leaf: u32) -> i32 {
    i32::try_from(leaf).map_or(SOLID, |leaf| -1 - leaf)
}

/// Divides leafs and collects what is in the open ones.
struct Divider {
    division: Division,
    next_leaf: u32,
    parts: Vec<(u32, TreePolygon)>,
}

impl Divider {
    /// Returns the child that takes the place of the leaf `undivided`.
    fn divide(
        &mut self,
        tree: &mut SolidTree,
        polygons: Vec<TreePolygon>,
        undivided: i32,
        depth: u32,
    ) -> i32 {
        let corners = || polygons.iter().flat_map(|polygon| &polygon.corners);
        let bounds = Aabb::from_points(corners().map(|corner| corner.position));
        let size = bounds.size();
        let axis = (0..3).fold(
            0,
            |best, axis| {
                if size[axis] > size[best] { axis } else { best }
            },
        );
        let is_full = match self.division {
            Division::Never => false,
            // Written so that NaN is not divided.
            Division::Above { triangles, side } => {
                size[axis] > side && triangle_count(&polygons) > triangles
            }
        };
        let plane = plane_across(axis, corners());
        // A plane beside all corners would not part them.
        let parts_them = plane.dist > bounds.min[axis] && plane.dist < bounds.max[axis];
        if !is_full || !parts_them || depth >= DEPTH_MAX || tree.nodes.len() >= NODES_MAX {
            if undivided != SOLID {
                let leaf = (-1 - undivided) as u32;
                self.parts
                    .extend(polygons.into_iter().map(|polygon| (leaf, polygon)));
            }
            return undivided;
        }
        let mut halves = [Vec::new(), Vec::new()];
        for polygon in polygons {
            for (half, part) in halves.iter_mut().zip(split(polygon, &plane, Turned::Ahead)) {
                half.extend(part);
            }
        }
        let node = tree.nodes.len();
        tree.nodes.push(TreeNode {
            plane,
            children: [SOLID; 2],
            bare: false,
        });
        let children = halves.map(|half| {
            let leaf = leaf_child(self.next_leaf);
            self.next_leaf += 1;
            self.divide(tree, half, leaf, depth + 1)
        });
        tree.nodes[node].children = children;
        i32::try_from(node).unwrap_or(SOLID)
    }
}

/// The plane across `axis` at the mean of the corners there, rounded down.
fn plane_across<'a>(axis: usize, corners: impl Iterator<Item = &'a TreeCorner>) -> Plane {
    let mut normal = Vec3::ZERO;
    normal[axis] = 1.0;
    let (mut sum, mut count) = (0.0, 0.0);
    for corner in corners {
        sum += corner.position[axis];
        count += 1.0;
    }
    Plane {
        normal,
        dist: (sum / count).floor(),
    }
}

/// Triangles in the fans of all polygons.
fn triangle_count(polygons: &[TreePolygon]) -> usize {
    let count = |polygon: &TreePolygon| polygon.corners.len().saturating_sub(2);
    polygons.iter().map(count).sum()
}

/// Where a polygon goes that lies in the plane of a cut with the opposite normal. All others in the plane go ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turned {
    Ahead,
    Behind,
}

/// The parts of a polygon before and behind a plane.
fn split(polygon: TreePolygon, plane: &Plane, turned: Turned) -> [Option<TreePolygon>; 2] {
    let corners = &polygon.corners;
    let distances: Vec<f32> = corners
        .iter()
        .map(|corner| plane.distance(corner.position))
        .collect();
    let is_ahead = distances.iter().all(|distance| *distance >= -ON_CUT);
    let is_behind = distances.iter().all(|distance| *distance <= ON_CUT);
    let beyond = OVERHANG..=ON_CUT;
    let overhangs = [-1.0, 1.0].map(|side| {
        let mut heights = distances.iter().map(|distance| distance * side);
        polygon.overhangs || heights.any(|height| beyond.contains(&height))
    });
    let part = |side: usize, corners: Vec<TreeCorner>| TreePolygon {
        owner: polygon.owner,
        corners,
        overhangs: overhangs[side],
    };
    let is_turned = || (facing(corners) + plane.normal).abs().max_element() < OPPOSITE;
    match (is_ahead, is_behind) {
        (true, true) if turned == Turned::Behind && is_turned() => {
            [None, Some(part(1, polygon.corners))]
        }
        (true, _) => [Some(part(0, polygon.corners)), None],
        (false, true) => [None, Some(part(1, polygon.corners))],
        (false, false) => {
            let [ahead, behind] = cut(corners, &distances);
            [(0, ahead), (1, behind)]
                .map(|(side, corners)| (corners.len() > 2).then(|| part(side, corners)))
        }
    }
}

/// The normal by the first three corners; zero where they lie on a line.
fn facing(corners: &[TreeCorner]) -> Vec3 {
    match corners {
        [a, b, c, ..] => {
            let normal = (c.position - a.position).cross(b.position - a.position);
            normal.normalize_or_zero()
        }
        _ => Vec3::ZERO,
    }
}

/// The corners before and behind a plane from which they have `distances`.
fn cut(corners: &[TreeCorner], distances: &[f32]) -> [Vec<TreeCorner>; 2] {
    let (mut ahead, mut behind) = (Vec::new(), Vec::new());
    for (i, corner) in corners.iter().enumerate() {
        let j = (i + 1) % corners.len();
        let (here, there) = (distances[i], distances[j]);
        if here >= -ON_CUT {
            ahead.push(*corner);
        }
        if here <= ON_CUT {
            behind.push(*corner);
        }
        let crosses = here.abs() > ON_CUT && there.abs() > ON_CUT && (here > 0.0) != (there > 0.0);
        if crosses {
            let share = here / (here - there);
            let cut = TreeCorner {
                position: corner.position + (corners[j].position - corner.position) * share,
                st: corner.st + (corners[j].st - corner.st) * share,
            };
            ahead.push(cut);
            behind.push(cut);
        }
    }
    [ahead, behind]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leaf 7 where x < 0; else leaf 3 where y > 0 and the solid leaf 5 where y < 0. Polygons in z = 0 by their corners.
    fn corner(
        polygons: &[&[(f32, f32)]],
        division: Division,
    ) -> (SolidTree, Vec<(u32, TreePolygon)>) {
        let node = |normal, children| TreeNode {
            plane: Plane { normal, dist: 0.0 },
            children,
            bare: true,
        };
        let mut tree = SolidTree {
            nodes: vec![node(Vec3::X, [1, -8]), node(Vec3::Y, [-4, -6])],
        };
        let corner = |(x, y): &(f32, f32)| TreeCorner {
            position: Vec3::new(*x, *y, 0.0),
            st: Vec2::new(*x, *y),
        };
        let polygons = (0_u32..).zip(polygons).map(|(owner, corners)| TreePolygon {
            owner,
            corners: corners.iter().map(corner).collect(),
            overhangs: false,
        });
        let parts = tree.fill(polygons, 8, |leaf| leaf == 5, division);
        (tree, parts)
    }

    fn area(polygon: &TreePolygon) -> f32 {
        let at = |i: usize| polygon.corners[i].position;
        let fan = 1..polygon.corners.len() - 1;
        fan.map(|i| (at(i) - at(0)).cross(at(i + 1) - at(0)).length() * 0.5)
            .sum()
    }

    #[test]
    fn segment_stops_where_the_first_opaque_leaf_begins() {
        let (tree, _) = corner(&[], Division::Never);
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
        let (from, to) = (Vec3::new(10.0, 10.0, 0.0), Vec3::new(10.0, -30.0, 0.0));
        let mut walk = Walk::default();
        let (bare, _) = corner(&[], Division::Never);
        let (full, _) = corner(&[&[(5.0, 5.0), (6.0, 5.0), (5.0, 6.0)]], Division::Never);
        let mut solid =
            |tree: &SolidTree| tree.first_solid(from, to, BareSubtrees::Skipped, &mut walk);
        assert!(solid(&bare).is_none() && solid(&full).is_some());
    }

    #[test]
    fn polygons_are_cut_at_the_planes_and_dropped_in_solid() {
        let whole: &[(f32, f32)] = &[(-10.0, 10.0), (10.0, 10.0), (10.0, -10.0)];
        let (_, parts) = corner(&[whole], Division::Never);
        let mut areas: Vec<(u32, f32)> = parts.iter().map(|(leaf, p)| (*leaf, area(p))).collect();
        areas.sort_by_key(|(leaf, _)| *leaf);
        // 200 in all: 100 before both planes, 50 left of x = 0, 50 in the solid.
        assert_eq!(
            areas.iter().map(|(leaf, _)| *leaf).collect::<Vec<_>>(),
            [3, 7]
        );
        assert!((areas[0].1 - 100.0).abs() < 1e-3 && (areas[1].1 - 50.0).abs() < 1e-3);
        for (_, polygon) in &parts {
            assert!(
                polygon
                    .corners
                    .iter()
                    .all(|c| c.position.truncate() == c.st)
            );
        }
    }

    #[test]
    fn a_corner_within_a_quarter_unit_of_the_plane_is_on_it() {
        let cut_at_x = |left: f32| {
            let wide: &[(f32, f32)] = &[(left, 9.0), (9.0, 9.0), (9.0, 1.0), (left, 1.0)];
            let (_, parts) = corner(&[wide], Division::Never);
            let rounded = |(_, part): &(u32, TreePolygon)| area(part).round();
            parts.iter().map(rounded).collect::<Vec<_>>()
        };
        assert_eq!(cut_at_x(-0.25), [74.0]);
        assert_eq!(cut_at_x(-0.375), [3.0, 72.0]);
    }

    #[test]
    fn parts_that_reach_out_of_their_leafs_say_so() {
        let overhangs = |top: f32, bottom: f32| {
            let wide: &[(f32, f32)] = &[(top, 9.0), (9.0, 9.0), (9.0, 1.0), (bottom, 1.0)];
            let (_, mut parts) = corner(&[wide], Division::Never);
            parts.sort_by_key(|(leaf, _)| *leaf);
            let overhangs = |(leaf, part): &(u32, TreePolygon)| (*leaf, part.overhangs);
            parts.iter().map(overhangs).collect::<Vec<_>>()
        };
        assert_eq!(overhangs(-0.25, -0.25), [(3, true)]);
        assert_eq!(overhangs(-0.0001, -0.0001), [(3, false)]);
        assert_eq!(overhangs(-5.0, -5.0), [(3, false), (7, false)]);
        assert_eq!(overhangs(-0.125, -5.0), [(3, true), (7, false)]);
        assert_eq!(overhangs(0.125, -5.0), [(3, false), (7, true)]);
    }

    #[test]
    fn leafs_are_divided_at_the_mean_rounded_down() {
        let mean = |xs: [f32; 2]| {
            let corner = |x: f32| TreeCorner {
                position: Vec3::new(x, 7.0, 7.0),
                st: Vec2::ZERO,
            };
            plane_across(0, xs.map(corner).iter())
        };
        let across = |dist| Plane {
            normal: Vec3::X,
            dist,
        };
        assert_eq!(mean([0.0, 5.0]), across(2.0));
        assert_eq!(mean([-5.0, 0.0]), across(-3.0));
    }

    #[test]
    fn what_lies_in_a_plane_is_behind_it_where_it_faces_exactly_there() {
        let triangle = |heights: [f32; 3], is_turned: bool| {
            let places = [(0.0, 0.0), (0.0, 100.0), (100.0, 0.0)];
            let corner = |((x, y), z): ((f32, f32), f32)| TreeCorner {
                position: Vec3::new(x, y, z),
                st: Vec2::ZERO,
            };
            let mut corners: Vec<_> = places.into_iter().zip(heights).map(corner).collect();
            if is_turned {
                corners.reverse();
            }
            TreePolygon {
                owner: 0,
                corners,
                overhangs: false,
            }
        };
        let plane = Plane {
            normal: Vec3::Z,
            dist: 0.0,
        };
        let leaf = |polygon| {
            let mut tree = SolidTree {
                nodes: vec![TreeNode {
                    plane,
                    children: [-1, -2],
                    bare: true,
                }],
            };
            let parts = tree.fill([polygon], 2, |_| false, Division::Never);
            parts.iter().map(|(leaf, _)| *leaf).collect::<Vec<_>>()
        };
        assert_eq!(leaf(triangle([0.0; 3], true)), [1]);
        assert_eq!(leaf(triangle([0.0; 3], false)), [0]);
        assert_eq!(leaf(triangle([0.0, 0.0, 0.05], true)), [0]);
        assert_eq!(leaf(triangle([0.0, 0.0, 0.05], false)), [0]);
        // Of a leaf's division it is ahead in any case.
        let [ahead, behind] = split(triangle([0.0; 3], true), &plane, Turned::Ahead);
        assert!(ahead.is_some() && behind.is_none());
    }

    #[test]
    fn leafs_deep_below_the_root_are_not_divided() {
        let parts_below = |depth: u32| {
            let nodes = (1..=depth).map(|below| TreeNode {
                plane: Plane {
                    normal: Vec3::Z,
                    dist: -1.0,
                },
                children: [if below < depth { below as i32 } else { -1 }, -2],
                bare: true,
            });
            let mut tree = SolidTree {
                nodes: nodes.collect(),
            };
            let corner = |(x, y): (f32, f32)| TreeCorner {
                position: Vec3::new(x, y, 0.0),
                st: Vec2::ZERO,
            };
            let strip = TreePolygon {
                owner: 0,
                corners: [(0.0, 1.0), (1024.0, 1.0), (1024.0, 0.0), (0.0, 0.0)]
                    .map(corner)
                    .to_vec(),
                overhangs: false,
            };
            let division = Division::Above {
                triangles: 0,
                side: 96.0,
            };
            tree.fill([strip], 2, |_| false, division).len()
        };
        assert_eq!(parts_below(1), 16);
        assert_eq!(parts_below(29), 8);
        assert_eq!(parts_below(31), 2);
        assert_eq!(parts_below(32), 1);
    }

    #[test]
    fn divided_opaque_leafs_are_open() {
        let strip: &[(f32, f32)] = &[(5.0, -5.0), (100.0, -5.0), (100.0, -6.0), (5.0, -6.0)];
        let mut walk = Walk::default();
        let (from, to) = (Vec3::new(10.0, 10.0, 0.0), Vec3::new(10.0, -30.0, 0.0));
        let mut solid = |triangles, side| {
            let (tree, parts) = corner(&[strip], Division::Above { triangles, side });
            let total: f32 = parts.iter().map(|(_, polygon)| area(polygon)).sum();
            let found = tree.first_solid(from, to, BareSubtrees::Walked, &mut walk);
            (found.is_some(), parts.len(), total.round())
        };
        assert_eq!(solid(0, 96.0), (true, 0, 0.0));
        assert_eq!(solid(0, 50.0), (false, 2, 95.0));
        assert_eq!(solid(0, 20.0), (false, 8, 95.0));
        // The strip is two triangles: not more than two.
        assert_eq!(solid(1, 50.0), (false, 2, 95.0));
        assert_eq!(solid(2, 50.0), (true, 0, 0.0));
    }

    #[test]
    fn without_a_tree_nothing_is_solid() {
        let mut walk = Walk::default();
        let tree = SolidTree::default();
        let solid = tree.first_solid(Vec3::ZERO, Vec3::X, BareSubtrees::Skipped, &mut walk);
        assert!(solid.is_none() && walk.passed(0));
    }
}
