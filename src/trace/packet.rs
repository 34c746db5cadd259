//! Eight neighbouring rays at once through the hierarchy of a [`TriangleSet`].
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, f32x8, mask32x8};

use crate::math::Ray;
use crate::math::lanes::{LANES, Lanes3, Vec3x8, cross, dot, load, splat, sub};
use crate::trace::triangles::{Edges, Grazing, HitRules, TriangleSet};

/// Components of a direction smaller than this count as this, so that nothing is divided by zero.
const SMALLEST: f32 = 1e-20;

/// Up to eight rays, best of neighbouring origins and like directions. Lanes that are not active may hold anything.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    /// Origins by axis, game units.
    pub origin: Lanes3,
    /// Unit directions by axis.
    pub direction: Lanes3,
    /// Crossings count beyond this.
    pub t_min: [f32; LANES],
    /// Crossings count before this.
    pub t_max: [f32; LANES],
    /// Bit n: lane n holds a ray.
    pub active: u8,
}

impl Packet {
    /// Puts a ray into a lane, which becomes active.
    pub fn set(&mut self, lane: usize, ray: &Ray) {
        for axis in 0..3 {
            self.origin[axis][lane] = ray.origin[axis];
            self.direction[axis][lane] = ray.direction[axis];
        }
        self.t_min[lane] = ray.t_min;
        self.t_max[lane] = ray.t_max;
        self.active |= 1 << lane;
    }
}

/// Rays of a packet crossing one triangle.
#[derive(Clone, Copy, Debug)]
pub struct PacketCrossing {
    /// Number of the triangle as given to [`TriangleSet::new`].
    pub triangle: u32,
    /// Bit n: ray n crosses it, slack included.
    pub lanes: u8,
    /// Of these the rays that cross it well inside, farther from its edges than the slack.
    pub inside: u8,
    /// Distance along each ray, game units; meaningless in other lanes.
    pub t: [f32; LANES],
}

/// Triangles of one [`TriangleSet`] that ended rays lately, to be asked first: keep one for every light, since what hides it
/// from one place often hides it from the next. Answers do not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Hints {
    /// Places in the order of the hierarchy.
    places: [u32; Self::COUNT],
    oldest: usize,
}

impl Default for Hints {
    /// No triangle yet.
    fn default() -> Self {
        Self {
            places: [u32::MAX; Self::COUNT],
            oldest: 0,
        }
    }
}

impl Hints {
    const COUNT: usize = 4;

    fn remember(&mut self, place: usize) {
        let place = place as u32;
        if !self.places.contains(&place) {
            self.places[self.oldest] = place;
            self.oldest = (self.oldest + 1) % Self::COUNT;
        }
    }
}

/// Which instructions are used, and the working memory of a traversal; keep one a thread.
#[derive(Clone, Debug)]
pub struct PacketTracer {
    level: Level,
    pending: Vec<(u32, u8)>,
}

impl Default for PacketTracer {
    /// The best instructions that this processor has.
    fn default() -> Self {
        Self {
            level: Level::new(),
            pending: Vec::new(),
        }
    }
}

impl PacketTracer {
    /// The instructions in use.
    pub fn level(&self) -> Level {
        self.level
    }

    /// With the instructions that every processor of this kind has; answers are the same.
    pub fn baseline() -> Self {
        Self {
            level: Level::baseline(),
            pending: Vec::new(),
        }
    }

    /// Calls `visit` for crossings with `t_min < t < t_max`, in no particular order, those with triangles of `hints` maybe
    /// twice. It returns which of the crossing rays are done, and may lower the `t_max` of others.
    pub fn crossings(
        &mut self,
        set: &TriangleSet,
        packet: &mut Packet,
        rules: &HitRules,
        hints: &mut Hints,
        mut visit: impl FnMut(&PacketCrossing, &mut [f32; LANES]) -> u8,
    ) {
        if set.nodes.is_empty() || packet.active == 0 {
            return;
        }
        let pending = &mut self.pending;
        dispatch!(self.level, simd => {
            let rays = Rays::new(simd, packet);
            let mut traversal = Traversal { simd, set, packet, rules, rays };
            traversal.run(hints, pending, &mut visit);
        });
    }
}

/// The packet in registers.
struct Rays<S: Simd> {
    origin: Vec3x8<S>,
    direction: Vec3x8<S>,
    inverse: Vec3x8<S>,
    t_min: f32x8<S>,
    t_max: f32x8<S>,
}

impl<S: Simd> Rays<S> {
    #[inline(always)]
    fn new(simd: S, packet: &Packet) -> Self {
        let direction = load(simd, &packet.direction);
        Self {
            origin: load(simd, &packet.origin),
            direction,
            inverse: [
                inverse(simd, direction[0]),
                inverse(simd, direction[1]),
                inverse(simd, direction[2]),
            ],
            t_min: f32x8::load_array(simd, packet.t_min),
            t_max: f32x8::load_array(simd, packet.t_max),
        }
    }

    /// Rays that meet a box, and the distance to it.
    #[inline(always)]
    fn meets(&self, node: &Node) -> (mask32x8<S>, f32x8<S>) {
        let (mut near, mut far) = (self.t_min, self.t_max);
        for axis in 0..3 {
            let a = (node.min[axis] - self.origin[axis]) * self.inverse[axis];
            let b = (node.max[axis] - self.origin[axis]) * self.inverse[axis];
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near.simd_le(far), near)
    }

    /// As [`TriangleSet`]'s test of one ray, operation by operation.
    #[inline(always)]
    fn cross(&self, simd: S, edges: &Edges, rules: &HitRules) -> Crossed<S> {
        let (e1, e2) = (splat(simd, edges.e1), splat(simd, edges.e2));
        let p = cross(self.direction, e2);
        let det = dot(e1, p);
        let limit = match rules.grazing {
            Grazing::Absolute(limit) => limit,
            Grazing::Relative(share) => share * edges.e1.length() * edges.e2.length(),
        };
        let size = det.abs();
        let mut hit = size.simd_ge(limit) & size.simd_gt(0.0);
        let inverse = 1.0 / det;
        let towards = sub(self.origin, splat(simd, edges.corner));
        let (low, high) = (-rules.slack, 1.0 + rules.slack);
        let u = dot(towards, p) * inverse;
        hit &= u.simd_ge(low) & u.simd_le(high);
        let q = cross(towards, e1);
        let v = dot(self.direction, q) * inverse;
        let w = u + v;
        hit &= v.simd_ge(low) & w.simd_le(high);
        let t = dot(e2, q) * inverse;
        hit &= t.simd_gt(self.t_min) & t.simd_lt(self.t_max);
        let inside =
            hit & u.simd_ge(rules.slack) & v.simd_ge(rules.slack) & w.simd_le(1.0 - rules.slack);
        Crossed { hit, inside, t }
    }
}

/// A [`PacketCrossing`] in registers.
struct Crossed<S: Simd> {
    hit: mask32x8<S>,
    inside: mask32x8<S>,
    t: f32x8<S>,
}

#[inline(always)]
fn inverse<S: Simd>(simd: S, along: f32x8<S>) -> f32x8<S> {
    let is_small = along.abs().simd_lt(SMALLEST);
    1.0 / is_small.select(f32x8::splat(simd, SMALLEST), along)
}

/// A node of the hierarchy: a leaf when it has triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) min: [f32; 3],
    /// Triangles in a leaf, else 0.
    pub(super) count: u32,
    pub(super) max: [f32; 3],
    /// First triangle of a leaf, else the first of two neighbouring children.
    pub(super) first: u32,
}

/// A packet on its way through a hierarchy.
struct Traversal<'a, S: Simd> {
    simd: S,
    set: &'a TriangleSet,
    packet: &'a mut Packet,
    rules: &'a HitRules,
    rays: Rays<S>,
}

impl<S: Simd> Traversal<'_, S> {
    #[inline(always)]
    fn run(
        &mut self,
        hints: &mut Hints,
        pending: &mut Vec<(u32, u8)>,
        visit: &mut impl FnMut(&PacketCrossing, &mut [f32; LANES]) -> u8,
    ) {
        let mut active = self.packet.active;
        for place in hints.places {
            active &= !self.ask(place as usize, active, visit);
            if active == 0 {
                return;
            }
        }
        pending.clear();
        let (mut number, mut lanes) = (0, active);
        loop {
            let Some(node) = self.set.nodes.get(number as usize) else {
                return;
            };
            if node.count == 0 {
                if let Some((child, some)) = self.descend(node.first, lanes, pending) {
                    (number, lanes) = (child, some);
                    continue;
                }
            } else {
                for place in node.first as usize..(node.first + node.count) as usize {
                    let done = self.ask(place, lanes, visit);
                    if done != 0 {
                        hints.remember(place);
                        active &= !done;
                        lanes &= active;
                        if lanes == 0 {
                            break;
                        }
                    }
                }
            }
            loop {
                let Some((next, some)) = pending.pop() else {
                    return;
                };
                (number, lanes) = (next, some & active);
                if lanes != 0 {
                    break;
                }
            }
        }
    }

    /// The child that more rays meet first, with those that meet it; the other one is left for later.
    #[inline(always)]
    fn descend(&self, first: u32, lanes: u8, pending: &mut Vec<(u32, u8)>) -> Option<(u32, u8)> {
        let place = first as usize;
        let [left, right] = self.set.nodes.get(place..place + 2)? else {
            return None;
        };
        let (left, left_near) = self.rays.meets(left);
        let (right, right_near) = self.rays.meets(right);
        let left = (first, left.to_bitmask() as u8 & lanes);
        let right = (first + 1, right.to_bitmask() as u8 & lanes);
        if left.1 == 0 || right.1 == 0 {
            return [left, right].into_iter().find(|(_, lanes)| *lanes != 0);
        }
        let both = left.1 & right.1;
        let left_first = left_near.simd_le(right_near).to_bitmask() as u8 & both;
        if 2 * left_first.count_ones() >= both.count_ones() {
            pending.push(right);
            Some(left)
        } else {
            pending.push(left);
            Some(right)
        }
    }

    /// Tests a triangle; returns the rays that it ended.
    #[inline(always)]
    fn ask(
        &mut self,
        place: usize,
        lanes: u8,
        visit: &mut impl FnMut(&PacketCrossing, &mut [f32; LANES]) -> u8,
    ) -> u8 {
        let triangle = self
            .set
            .triangles
            .get(place)
            .zip(self.set.numbers.get(place));
        let Some((edges, number)) = triangle else {
            return 0;
        };
        let crossed = self.rays.cross(self.simd, edges, self.rules);
        let hit = crossed.hit.to_bitmask() as u8 & lanes;
        if hit == 0 {
            return 0;
        }
        let crossing = PacketCrossing {
            triangle: *number,
            lanes: hit,
            inside: crossed.inside.to_bitmask() as u8 & hit,
            t: crossed.t.to_array(),
        };
        let done = visit(&crossing, &mut self.packet.t_max);
        self.rays.t_max = f32x8::load_array(self.simd, self.packet.t_max);
        done & hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    use crate::math::sampling::unit;
    use std::collections::BTreeSet;
    use std::ops::ControlFlow;

    fn random_point(index: u64, draw: u32) -> Vec3 {
        Vec3::new(
            unit(2, index, draw),
            unit(2, index, draw + 1),
            unit(2, index, draw + 2),
        ) * 100.0
    }

    fn set() -> TriangleSet {
        let triangles: Vec<[Vec3; 3]> = (0..300)
            .map(|i| {
                let corner = random_point(i, 0);
                [
                    corner,
                    corner + random_point(i, 3) * 0.4 - 20.0,
                    corner + random_point(i, 6) * 0.4 - 20.0,
                ]
            })
            .collect();
        TriangleSet::new(&triangles)
    }

    type Found = BTreeSet<(usize, u32, u32)>;

    /// Lane, triangle and distance of all crossings, and which of them are well inside.
    fn by_packet(
        tracer: &mut PacketTracer,
        set: &TriangleSet,
        packet: &Packet,
        rules: &HitRules,
    ) -> [Found; 2] {
        let mut found = [Found::new(), Found::new()];
        let visit = |crossing: &PacketCrossing, _: &mut [f32; LANES]| {
            for lane in 0..LANES {
                let entry = (lane, crossing.triangle, crossing.t[lane].to_bits());
                for (found, lanes) in found.iter_mut().zip([crossing.lanes, crossing.inside]) {
                    if lanes >> lane & 1 == 1 {
                        assert!(found.insert(entry));
                    }
                }
            }
            0
        };
        let hints = &mut Hints::default();
        tracer.crossings(set, &mut packet.clone(), rules, hints, visit);
        found
    }

    /// A packet finds what its rays find one by one, to the bit, on the best and on the plainest instructions.
    #[test]
    fn eight_rays_at_once_are_as_one_by_one() {
        let set = set();
        let rules = HitRules {
            grazing: Grazing::Absolute(0.25),
            slack: HitRules::MAX_SLACK,
        };
        let (mut best, mut plain) = (PacketTracer::default(), PacketTracer::baseline());
        let mut count = [0; 2];
        for case in 0..300 {
            let mut packet = Packet::default();
            let mut expected = [Found::new(), Found::new()];
            let light = random_point(case, 40);
            for lane in (0..LANES).filter(|lane| case as usize % 9 != *lane) {
                let from = random_point(case, 50) + random_point(case, 53 + 3 * lane as u32) * 0.1;
                let ray = Ray {
                    t_min: 5.0,
                    ..Ray::segment(from, light)
                };
                packet.set(lane, &ray);
                set.crossings(&ray, &rules, |crossing| {
                    let entry = (lane, crossing.triangle, crossing.t.to_bits());
                    expected[0].insert(entry);
                    let (low, high) = (rules.slack, 1.0 - rules.slack);
                    if crossing.u >= low && crossing.v >= low && crossing.u + crossing.v <= high {
                        expected[1].insert(entry);
                    }
                    ControlFlow::Continue(())
                });
            }
            let found = by_packet(&mut best, &set, &packet, &rules);
            assert_eq!(found, expected, "case {case}");
            assert_eq!(by_packet(&mut plain, &set, &packet, &rules), found);
            count[0] += found[0].len();
            count[1] += found[1].len();
        }
        assert!(count[0] > count[1] && count[1] > 1000, "{count:?}");
    }

    #[test]
    fn rays_that_are_done_are_asked_no_more_and_hints_change_no_answer() {
        let set = set();
        let mut hints = Hints::default();
        let mut met = [0; 2];
        for case in 0..50 {
            let mut packet = Packet::default();
            for lane in 0..LANES {
                let target = random_point(case, 0) + random_point(lane as u64, 0) * 0.2;
                packet.set(lane, &Ray::segment(Vec3::splat(-50.0), target));
            }
            let fresh = [&mut Hints::default(), &mut hints].map(|hints| {
                let (mut ended, mut asked) = (0, 0);
                let mut packet = packet.clone();
                let rules = &HitRules::EXACT;
                PacketTracer::default().crossings(&set, &mut packet, rules, hints, |found, _| {
                    assert_eq!(found.lanes & ended, 0);
                    ended |= found.lanes;
                    asked += 1;
                    found.lanes
                });
                (ended, asked)
            });
            assert_eq!(fresh[0].0, fresh[1].0, "case {case}");
            met[0] += u32::from(fresh[0].0 != 0);
            met[1] += u32::from(hints.places.contains(&u32::MAX));
        }
        assert!(met[0] > 20 && met[1] < 50, "{met:?}");
    }
}
