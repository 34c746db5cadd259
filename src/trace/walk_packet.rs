//! Eight neighbouring segments at once down the tree of a [`SolidTree`].
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, f32x8};

use crate::math::Plane;
use crate::math::lanes::{Lanes3, Vec3x8, add, dot, load, scale, select, splat, store, sub};
use crate::trace::solid::{BareSubtrees, ON_PLANE, SOLID, SolidTree, TreeNode};

/// Which open leafs a walk of up to eight segments passed, and its working memory; keep one a thread.
#[derive(Clone, Debug, Default)]
pub struct PacketWalk {
    pending: Vec<Pieces>,
    /// By leaf: the segments that passed it, as bits.
    passed: Vec<u8>,
    /// Leafs that some segment passed.
    leafs: Vec<u32>,
}

/// Pieces of some segments in the same subtree, to be walked later.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    number: i32,
    lanes: u8,
    start: Lanes3,
    end: Lanes3,
}

impl PacketWalk {
    /// Which of the segments in `lanes` meet an opaque leaf: those for which [`SolidTree::first_solid`] finds one in
    /// [`BareSubtrees::Walked`]. Fastest on a [`SolidTree::pruned`] tree.
    pub fn blocked(
        &mut self,
        level: Level,
        tree: &SolidTree,
        from: &Lanes3,
        to: &Lanes3,
        lanes: u8,
    ) -> u8 {
        let (pending, bare) = (&mut self.pending, BareSubtrees::Walked);
        dispatch!(level, simd => {
            let segments = (load(simd, from), load(simd, to));
            descend(simd, tree, segments, lanes, bare, pending, |_, _| {})
        })
    }

    /// The same, and notes the leafs that each of the segments passes, see [`PacketWalk::passed`]: the very ones of
    /// [`SolidTree::first_solid`].
    pub fn walk(
        &mut self,
        level: Level,
        tree: &SolidTree,
        from: &Lanes3,
        to: &Lanes3,
        lanes: u8,
        bare: BareSubtrees,
    ) -> u8 {
        let Self {
            pending,
            passed,
            leafs,
        } = self;
        for leaf in leafs.drain(..) {
            if let Some(lanes) = passed.get_mut(leaf as usize) {
                *lanes = 0;
            }
        }
        let open_leaf = |leaf: u32, lanes: u8| {
            let at = leaf as usize;
            if at >= passed.len() {
                passed.resize(at + 1, 0);
            }
            passed[at] |= lanes;
            leafs.push(leaf);
        };
        dispatch!(level, simd => {
            let segments = (load(simd, from), load(simd, to));
            descend(simd, tree, segments, lanes, bare, pending, open_leaf)
        })
    }

    /// The segments that passed the open leaf `leaf` in the last [`PacketWalk::walk`], as bits.
    pub fn passed(&self, leaf: u32) -> u8 {
        self.passed.get(leaf as usize).copied().unwrap_or(0)
    }
}

/// As [`SolidTree::first_solid`] does with one segment, operation by operation. Returns the segments that meet an opaque
/// leaf, each of which ends there.
#[inline(always)]
fn descend<S: Simd>(
    simd: S,
    tree: &SolidTree,
    segments: (Vec3x8<S>, Vec3x8<S>),
    mut lanes: u8,
    bare: BareSubtrees,
    pending: &mut Vec<Pieces>,
    mut open_leaf: impl FnMut(u32, u8),
) -> u8 {
    pending.clear();
    if tree.nodes.is_empty() {
        open_leaf(SolidTree::WHOLE_WORLD, lanes);
        return 0;
    }
    let (mut start, mut end) = segments;
    let mut number = 0;
    let mut blocked = 0;
    loop {
        if number == SOLID {
            blocked |= lanes;
        } else if number < 0 {
            open_leaf((-1 - number).unsigned_abs(), lanes);
        }
        let Some(node) = node_at(tree, number, bare) else {
            let next = loop {
                let Some(pieces) = pending.pop() else {
                    return blocked;
                };
                lanes = pieces.lanes & !blocked;
                if lanes != 0 {
                    break pieces;
                }
            };
            number = next.number;
            (start, end) = (load(simd, &next.start), load(simd, &next.end));
            continue;
        };
        let front = distance(simd, &node.plane, start);
        let back = distance(simd, &node.plane, end);
        let ahead = front.simd_ge(-ON_PLANE) & back.simd_ge(-ON_PLANE);
        let behind = front.simd_lt(ON_PLANE) & back.simd_lt(ON_PLANE);
        let crosses = !(ahead | behind);
        let ahead = ahead.to_bitmask() as u8 & lanes;
        let crossing = crosses.to_bitmask() as u8 & lanes;
        let behind = lanes & !ahead & !crossing;
        let mut later = |number: i32, lanes: u8, start: Vec3x8<S>| {
            if lanes != 0 {
                let (start, end) = (store(start), store(end));
                pending.push(Pieces {
                    number,
                    lanes,
                    start,
                    end,
                });
            }
        };
        if crossing == 0 {
            if ahead == 0 {
                number = node.children[1];
            } else {
                later(node.children[1], behind, start);
                (number, lanes) = (node.children[0], ahead);
            }
            continue;
        }
        let backwards = front.simd_lt(0.0).to_bitmask() as u8 & crossing;
        if backwards != 0 && backwards != crossing {
            // Those that cross the other way meet the children the other way round: they are looked at again on their own.
            later(number, backwards, start);
            lanes &= !backwards;
            continue;
        }
        let middle = add(start, scale(sub(end, start), front / (front - back)));
        let (near, far) = if backwards == 0 { (0, 1) } else { (1, 0) };
        let by_side = [ahead | crossing, behind | crossing];
        later(
            node.children[far],
            by_side[far],
            select(crosses, middle, start),
        );
        end = select(crosses, middle, end);
        (number, lanes) = (node.children[near], by_side[near]);
    }
}

#[inline(always)]
fn node_at(tree: &SolidTree, number: i32, bare: BareSubtrees) -> Option<&TreeNode> {
    let node = tree.nodes.get(usize::try_from(number).ok()?)?;
    (!(node.bare && bare == BareSubtrees::Skipped)).then_some(node)
}

/// As [`Plane::distance`].
#[inline(always)]
fn distance<S: Simd>(simd: S, plane: &Plane, points: Vec3x8<S>) -> f32x8<S> {
    dot(splat(simd, plane.normal), points) - plane.dist
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::math::lanes::{LANES, set_lane};
    use crate::math::sampling::unit;
    use crate::trace::solid::{Walk, leaf_child};

    fn draw(index: u64, draw: u32) -> f32 {
        unit(21, index, draw) - 0.5
    }

    fn vector(index: u64, first: u32) -> Vec3 {
        Vec3::new(
            draw(index, first),
            draw(index, first + 1),
            draw(index, first + 2),
        )
    }

    /// A complete tree of random planes, every other one along an axis; a third of the leafs is opaque, some subtrees bare.
    fn random_tree(depth: u32) -> SolidTree {
        let inner = (1_u32 << depth) - 1;
        let child = |number: u32| match number {
            number if number < inner => number as i32,
            number if draw(u64::from(number), 9) < -0.17 => SOLID,
            number => leaf_child(number - inner),
        };
        let node = |number: u32| {
            let index = u64::from(number);
            let normal = match number % 2 {
                0 => Vec3::AXES[(number / 2 % 3) as usize],
                _ => vector(index, 0).normalize_or_zero(),
            };
            TreeNode {
                plane: Plane {
                    normal,
                    dist: draw(index, 3) * 120.0,
                },
                children: [child(2 * number + 1), child(2 * number + 2)],
                bare: draw(index, 4) > 0.4,
            }
        };
        SolidTree {
            nodes: (0..inner).map(node).collect(),
        }
    }

    /// Every lane against the walk of a single segment: whether it is blocked and which leafs it passes. Rays are short and
    /// long, parallel and not, and some run within planes.
    #[test]
    fn eight_segments_walk_as_one_by_one() {
        let tree = random_tree(9);
        let pruned = tree.pruned();
        assert!(pruned.nodes.len() < tree.nodes.len());
        let (mut packet, mut single) = (PacketWalk::default(), Walk::default());
        let mut count = [0; 2];
        for case in 0..2000 {
            let (mut from, mut to) = (Lanes3::default(), Lanes3::default());
            let origin = vector(case, 20) * 100.0;
            let target = vector(case, 23) * 100.0;
            for lane in 0..LANES {
                let offset = vector(case, 30 + 3 * lane as u32) * 30.0;
                let snap = |point: Vec3| if case % 3 == 0 { point.round() } else { point };
                let end = if case % 2 == 0 {
                    target
                } else {
                    target + offset
                };
                set_lane(&mut from, lane, snap(origin + offset));
                set_lane(&mut to, lane, snap(end));
            }
            let lanes = 0xFF ^ (1 << (case % 8));
            for bare in [BareSubtrees::Walked, BareSubtrees::Skipped] {
                for level in [Level::new(), Level::baseline()] {
                    let blocked = packet.walk(level, &tree, &from, &to, lanes, bare);
                    if bare == BareSubtrees::Walked {
                        let found = packet.blocked(level, &pruned, &from, &to, lanes);
                        assert_eq!(found, blocked, "case {case}");
                    }
                    for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
                        let at = |lanes: &Lanes3| crate::math::lanes::lane(lanes, lane);
                        let solid = tree.first_solid(at(&from), at(&to), bare, &mut single);
                        assert_eq!(blocked >> lane & 1 == 1, solid.is_some(), "case {case}");
                        for leaf in 0..512 {
                            let is_passed = packet.passed(leaf) >> lane & 1 == 1;
                            assert_eq!(is_passed, single.passed(leaf), "case {case}");
                        }
                        count[usize::from(solid.is_some())] += 1;
                    }
                }
            }
        }
        assert!(count.iter().all(|count| *count > 5000), "{count:?}");
    }

    #[test]
    fn without_a_tree_nothing_is_solid() {
        let mut walk = PacketWalk::default();
        let (tree, ends) = (SolidTree::default(), Lanes3::default());
        let bare = BareSubtrees::Walked;
        let blocked = walk.walk(Level::new(), &tree, &ends, &ends, 5, bare);
        assert_eq!((blocked, walk.passed(SolidTree::WHOLE_WORLD)), (0, 5));
    }
}
