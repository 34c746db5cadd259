//! A look at eight segments at once, which decides nearly all of them.

use glam::Vec3;

use crate::light::lights::Light;
use crate::light::tracer::{DARK, Occluder, TraceState, Tracer, lets_in};
use crate::math::lanes::{LANES, Lanes3};
use crate::trace::{BareSubtrees, Hints, Packet, PacketCrossing};

/// A triangle that is met so near the end of a segment, game units, is left to the exact test: rounding decides there.
const TIE: f32 = 0.01;
/// A triangle that is met so near the end of a segment, game units, may lie in a leaf beyond the end's own, which does not
/// count.
const LAST_LEAF: f32 = 1.0;

/// Up to eight segments; lanes without one may hold anything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Segments {
    /// Grid points.
    pub from: Lanes3,
    /// Where the light seems to come from.
    pub to: Lanes3,
    /// Unit directions; zero where the two are one.
    pub direction: Lanes3,
    /// Game units.
    pub length: [f32; LANES],
}

/// What a look at a packet of segments told, as bits by lane. Neither blocked, unclear nor filtered means that all light
/// passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Glance {
    /// By grid: no light passes.
    pub blocked: [u8; 2],
    /// Where not blocked: the segment must be looked at alone, since it meets many filters, or several skies at once.
    pub unclear: u8,
    /// By grid, where neither: a share passes, which the state holds.
    pub filtered: [u8; 2],
}

/// A crossing that counts for those segments whose walk passes its leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    occluder: Occluder,
    leaf: u32,
    /// As a crossing has them; lanes are taken away as they prove not to count.
    found: PacketCrossing,
}

/// Numbers of the set bits, ascending.
pub(crate) fn lanes_of(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// The lanes of `lanes` in which `t` lies beyond `limit`.
fn beyond(lanes: u8, t: &[f32; LANES], limit: f32) -> u8 {
    farther(lanes, t, &[limit; LANES])
}

/// The lanes of `lanes` in which `t` lies beyond each one's limit.
fn farther(lanes: u8, t: &[f32; LANES], limits: &[f32; LANES]) -> u8 {
    let bits = (0..LANES).map(|lane| u8::from(t[lane] > limits[lane]) << lane);
    lanes & bits.fold(0, |bits, bit| bits | bit)
}

impl Tracer<'_> {
    /// Looks at up to eight segments at once and decides the plain cases, as [`Tracer::lamp_light`] and
    /// [`Tracer::sun_light`] would; see [`Glance`]. All lead to `light`, whose number is `number`. `wanted` has a bit for each
    /// segment by grid.
    ///
    /// By grid, triangles nearer than `inhibit` are passed.
    pub(super) fn glance(
        &self,
        segments: &Segments,
        wanted: [u8; 2],
        inhibit: [f32; 2],
        light: &Light,
        number: u32,
        state: &mut TraceState,
    ) -> Glance {
        let lanes = wanted[0] | wanted[1];
        let mut glance = Glance::default();
        if !self.is_tracing {
            return glance;
        }
        state.rays += u64::from(lanes.count_ones());
        if !self.has_surfaces {
            glance.unclear = lanes;
            return glance;
        }
        state.met.clear();
        state.packet = Packet {
            origin: segments.from,
            direction: segments.direction,
            t_min: [inhibit[0].min(inhibit[1]); LANES],
            t_max: segments.length.map(|length| length + TIE),
            active: lanes,
        };
        if light.is_sun() {
            self.glance_at_sun(segments, inhibit, light.sky, state, &mut glance);
        } else {
            self.glance_at_lamp(segments, wanted, inhibit, number, state, &mut glance);
        }
        glance
    }

    /// Anything opaque decides; where a triangle filters, reaches out of its leaf, or is met within the slack around its edges,
    /// the walk must pass its leaf.
    fn glance_at_lamp(
        &self,
        segments: &Segments,
        wanted: [u8; 2],
        inhibit: [f32; 2],
        number: u32,
        state: &mut TraceState,
        glance: &mut Glance,
    ) {
        let level = state.level();
        let number = number as usize;
        if number >= state.hints.len() {
            state.hints.resize(number + 1, Hints::default());
        }
        let TraceState {
            packet_tracer,
            packet,
            packet_walk,
            hints,
            met,
            ..
        } = state;
        let (from, to) = (&segments.from, &segments.to);
        let [tie, last_leaf] =
            [TIE, LAST_LEAF].map(|share| segments.length.map(|length| length - share));
        let solid = packet_walk.blocked(level, &self.obstacles, from, to, packet.active);
        glance.blocked = [solid; 2];
        packet.active &= !solid;
        let hints = &mut hints[number];
        packet_tracer.crossings(&self.triangles, packet, &self.rules, hints, |found, _| {
            let mut counts = *found;
            match self.occluder(found.triangle) {
                Occluder::Opaque => {
                    let inside = self.inside_leaf(found);
                    let inside = inside & !farther(inside, &found.t, &last_leaf);
                    for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
                        *blocked |= beyond(inside, &found.t, inhibit);
                    }
                    counts.lanes &= !inside;
                }
                Occluder::Sky(_) => counts.lanes = 0,
                Occluder::Filter(_) => {}
            }
            let ties = farther(counts.lanes, &found.t, &tie);
            glance.unclear |= ties;
            counts.lanes &= !ties;
            if counts.lanes != 0 {
                met.push(self.met(counts));
            }
            (glance.blocked[0] | !wanted[0]) & (glance.blocked[1] | !wanted[1])
        });
        let open = (wanted[0] & !glance.blocked[0]) | (wanted[1] & !glance.blocked[1]);
        let undecided = open & met.iter().fold(0, |lanes, met| lanes | met.found.lanes);
        if undecided == 0 {
            return;
        }
        let bare = BareSubtrees::Walked;
        packet_walk.walk(level, &self.solids, from, to, undecided, bare);
        for met in met.iter_mut() {
            met.found.lanes &= undecided & packet_walk.passed(met.leaf);
            if let Occluder::Opaque = met.occluder {
                for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
                    *blocked |= beyond(met.found.lanes, &met.found.t, inhibit);
                }
            }
        }
        self.filter(segments, inhibit, state, glance);
    }

    fn occluder(&self, triangle: u32) -> Occluder {
        self.occluders[self.parts[triangle as usize].owner as usize]
    }

    /// The lanes in which a part is crossed so far from its edges that the crossing is in its leaf for sure.
    fn inside_leaf(&self, found: &PacketCrossing) -> u8 {
        if self.parts[found.triangle as usize].overhangs {
            0
        } else {
            found.inside
        }
    }

    fn met(&self, found: PacketCrossing) -> Met {
        Met {
            occluder: self.occluder(found.triangle),
            leaf: self.parts[found.triangle as usize].leaf,
            found,
        }
    }

    /// What is nearer decides: an opaque triangle blocks, behind the nearest sky it may not, since the walk may end before.
    fn glance_at_sun(
        &self,
        segments: &Segments,
        inhibit: [f32; 2],
        own: Option<u8>,
        state: &mut TraceState,
        glance: &mut Glance,
    ) {
        let level = state.level();
        let TraceState {
            packet_tracer,
            packet,
            packet_walk,
            met,
            ..
        } = state;
        let lanes = packet.active;
        let mut sky = [f32::INFINITY; LANES];
        let mut opaque = [f32::INFINITY; LANES];
        // No ray is ever done here, so there is nothing to remember.
        let hints = &mut Hints::default();
        packet_tracer.crossings(
            &self.triangles,
            packet,
            &self.rules,
            hints,
            |found, t_max| {
                met.push(self.met(*found));
                match self.occluder(found.triangle) {
                    Occluder::Opaque => {
                        // Between the two limits it counts for one grid alone.
                        let far = inhibit[0].max(inhibit[1]);
                        for lane in lanes_of(beyond(self.inside_leaf(found), &found.t, far)) {
                            opaque[lane] = opaque[lane].min(found.t[lane]);
                            t_max[lane] = t_max[lane].min(found.t[lane]);
                        }
                    }
                    Occluder::Sky(_) => {
                        for lane in lanes_of(found.lanes) {
                            sky[lane] = sky[lane].min(found.t[lane]);
                        }
                    }
                    Occluder::Filter(_) => {}
                }
                0
            },
        );
        let mut plain = 0;
        for lane in lanes_of(lanes) {
            let bit = 1 << lane;
            if !(sky[lane] < f32::INFINITY && sky[lane] <= opaque[lane]) {
                glance.blocked = glance.blocked.map(|blocked| blocked | bit);
            } else if opaque[lane] < f32::INFINITY {
                // What lies behind the opaque triangle is not known here.
                glance.unclear |= bit;
            } else {
                plain |= bit;
            }
        }
        if plain == 0 {
            return;
        }
        let (from, to) = (&segments.from, &segments.to);
        packet_walk.walk(level, &self.solids, from, to, plain, self.bare);
        for met in met.iter_mut() {
            met.found.lanes &= plain & packet_walk.passed(met.leaf);
        }
        for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
            let (lit, doubtful) = lit_by_sun(met, inhibit, own);
            *blocked |= plain & !lit & !doubtful;
            glance.unclear |= doubtful;
        }
        self.filter(segments, inhibit, state, glance);
    }

    /// Multiplies the shares of the filters met. Segments that meet more than two are unclear: the order would matter.
    fn filter(
        &self,
        segments: &Segments,
        inhibit: [f32; 2],
        state: &mut TraceState,
        glance: &mut Glance,
    ) {
        for (grid, inhibit) in inhibit.into_iter().enumerate() {
            let shares = &mut state.shares[grid];
            let mut counts = [0_u32; LANES];
            for met in &state.met {
                let Occluder::Filter(filter) = met.occluder else {
                    continue;
                };
                let part = &self.parts[met.found.triangle as usize];
                for lane in lanes_of(beyond(met.found.lanes, &met.found.t, inhibit)) {
                    let [from, to] = [&segments.from, &segments.to].map(|ends| lane_of(ends, lane));
                    let Some(share) = self.transmission(filter, part, from, to) else {
                        continue;
                    };
                    match counts[lane] {
                        0 => {
                            glance.filtered[grid] |= 1 << lane;
                            shares[lane] = Vec3::ONE;
                        }
                        1 => {}
                        _ => {
                            glance.unclear |= 1 << lane;
                            continue;
                        }
                    }
                    counts[lane] += 1;
                    shares[lane] *= share;
                    if shares[lane].max_element() <= DARK {
                        glance.blocked[grid] |= 1 << lane;
                    }
                }
            }
        }
    }
}

fn lane_of(vectors: &Lanes3, lane: usize) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|axis| vectors[axis][lane]))
}

/// The segments that the nearest sky beyond `inhibit` lets in and no opaque triangle blocks, and those that meet different
/// skies at once.
fn lit_by_sun(met: &[Met], inhibit: f32, own: Option<u8>) -> (u8, u8) {
    let mut nearest: [Option<(f32, Option<u8>)>; LANES] = [None; LANES];
    let (mut blocked, mut doubtful) = (0, 0);
    for met in met {
        let lanes = beyond(met.found.lanes, &met.found.t, inhibit);
        let number = match met.occluder {
            Occluder::Sky(number) => number,
            Occluder::Opaque => {
                blocked |= lanes;
                continue;
            }
            Occluder::Filter(_) => continue,
        };
        for lane in lanes_of(lanes) {
            let t = met.found.t[lane];
            match nearest[lane] {
                Some((near, _)) if near < t => {}
                Some((near, other)) if near <= t => {
                    doubtful |= u8::from(other != number) << lane;
                }
                _ => nearest[lane] = Some((t, number)),
            }
        }
    }
    let lets = |lane: &usize| nearest[*lane].is_some_and(|(_, number)| lets_in(number, own));
    let lit = (0..LANES).filter(lets).fold(0, |lit, lane| lit | 1 << lane);
    (lit & !blocked, doubtful & !blocked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(occluder: Occluder, lanes: u8, t: f32) -> Met {
        Met {
            occluder,
            leaf: 0,
            found: PacketCrossing {
                triangle: 0,
                lanes,
                inside: 0,
                t: [t; LANES],
            },
        }
    }

    #[test]
    fn the_nearest_sky_beyond_the_limit_lets_suns_in_unless_something_opaque_is_met() {
        let skies = [
            met(Occluder::Sky(Some(1)), 0b0111, 30.0),
            met(Occluder::Sky(Some(2)), 0b0010, 20.0),
            met(Occluder::Sky(Some(2)), 0b0001, 40.0),
            met(Occluder::Sky(Some(2)), 0b1000, 4.0),
            met(Occluder::Opaque, 0b0100, 50.0),
        ];
        assert_eq!(lit_by_sun(&skies, 5.0, Some(1)), (0b0001, 0));
        assert_eq!(lit_by_sun(&skies, 5.0, Some(2)), (0b0010, 0));
        assert_eq!(lit_by_sun(&skies, 3.0, None), (0b1011, 0));
        let both = [
            met(Occluder::Sky(Some(1)), 3, 9.0),
            met(Occluder::Sky(Some(2)), 1, 9.0),
        ];
        assert_eq!(lit_by_sun(&both, 0.0, Some(1)), (3, 1));
        assert_eq!(lit_by_sun(&both[..1], 0.0, Some(1)), (3, 0));
    }

    #[test]
    fn lanes_are_listed_and_limited_by_distance() {
        assert_eq!(lanes_of(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
        let t = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, f32::NAN];
        assert_eq!(beyond(0b1111_0110, &t, 3.0), 0b0111_0000);
    }
}
