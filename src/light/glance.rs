//! A look at eight segments at once, which decides all that meet no filter.

use crate::light::tracer::{Occluder, TraceState, Tracer, lets_in};
use crate::math::lanes::{LANES, Lanes3};
use crate::trace::{BareSubtrees, Packet};

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

/// What lies at the segments' ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// A light that all of the segment must lead to.
    Lamp,
    /// A sun.
    Sun {
        /// Which sky lets it in; `None` is any.
        sky: Option<u8>,
    },
}

/// What a look at a packet of segments told, as bits by lane. Neither blocked nor unclear means that all light passes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Glance {
    /// By grid: no light passes.
    pub blocked: [u8; 2],
    /// Where not blocked: the segment must be looked at alone, since it meets filters, or several skies.
    pub unclear: u8,
}

/// A crossing that counts for those segments whose walk passes its leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    leaf: u32,
    /// Number of the sky; `None` is an opaque triangle.
    sky: Option<Option<u8>>,
    lanes: u8,
    t: [f32; LANES],
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
    let bits = (0..LANES).map(|lane| u8::from(t[lane] > limit) << lane);
    lanes & bits.fold(0, |bits, bit| bits | bit)
}

impl Tracer<'_> {
    /// Looks at up to eight segments at once and decides the plain cases, as [`Tracer::lamp_light`] and
    /// [`Tracer::sun_light`] would; see [`Glance`]. `wanted` has a bit for each segment by grid.
    ///
    /// By grid, triangles nearer than `inhibit` are passed.
    pub(super) fn glance(
        &self,
        segments: &Segments,
        wanted: [u8; 2],
        inhibit: [f32; 2],
        goal: Goal,
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
            t_max: segments.length,
            active: lanes,
        };
        match goal {
            Goal::Lamp => self.glance_at_lamp(segments, wanted, inhibit, state, &mut glance),
            Goal::Sun { sky } => self.glance_at_sun(segments, inhibit, sky, state, &mut glance),
        }
        glance
    }

    /// Anything opaque decides; where a triangle is met within the slack around its edges, the walk must pass its leaf.
    fn glance_at_lamp(
        &self,
        segments: &Segments,
        wanted: [u8; 2],
        inhibit: [f32; 2],
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
        let (from, to) = (&segments.from, &segments.to);
        let solid = packet_walk.blocked(level, &self.obstacles, from, to, packet.active);
        glance.blocked = [solid; 2];
        packet.active &= !solid;
        packet_tracer.crossings(&self.triangles, packet, &self.rules, |crossing, _| {
            let part = &self.parts[crossing.triangle as usize];
            match self.occluders[part.owner as usize] {
                Occluder::Opaque => {
                    for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
                        *blocked |= beyond(crossing.inside, &crossing.t, inhibit);
                    }
                    if crossing.lanes != crossing.inside {
                        met.push(Met {
                            leaf: part.leaf,
                            sky: None,
                            lanes: crossing.lanes & !crossing.inside,
                            t: crossing.t,
                        });
                    }
                }
                Occluder::Sky(_) => {}
                Occluder::Filter(_) => glance.unclear |= crossing.lanes,
            }
            (glance.blocked[0] | !wanted[0]) & (glance.blocked[1] | !wanted[1])
        });
        let open = (wanted[0] & !glance.blocked[0]) | (wanted[1] & !glance.blocked[1]);
        let grazing = met.iter().fold(0, |lanes, met| lanes | met.lanes);
        let grazing = grazing & open & !glance.unclear;
        if grazing == 0 {
            return;
        }
        let bare = BareSubtrees::Walked;
        packet_walk.walk(level, &self.solids, from, to, grazing, bare);
        for met in met {
            let lanes = met.lanes & grazing & packet_walk.passed(met.leaf);
            for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
                *blocked |= beyond(lanes, &met.t, inhibit);
            }
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
        let mut filtered = 0;
        packet_tracer.crossings(&self.triangles, packet, &self.rules, |crossing, t_max| {
            let part = &self.parts[crossing.triangle as usize];
            let mut note = |sky| {
                met.push(Met {
                    leaf: part.leaf,
                    sky,
                    lanes: crossing.lanes,
                    t: crossing.t,
                });
            };
            match self.occluders[part.owner as usize] {
                Occluder::Opaque => {
                    note(None);
                    // Between the two limits it counts for one grid alone.
                    let far = inhibit[0].max(inhibit[1]);
                    for lane in lanes_of(beyond(crossing.inside, &crossing.t, far)) {
                        opaque[lane] = opaque[lane].min(crossing.t[lane]);
                        t_max[lane] = t_max[lane].min(crossing.t[lane]);
                    }
                }
                Occluder::Sky(number) => {
                    note(Some(number));
                    for lane in lanes_of(crossing.lanes) {
                        sky[lane] = sky[lane].min(crossing.t[lane]);
                    }
                }
                Occluder::Filter(_) => filtered |= crossing.lanes,
            }
            0
        });
        let mut plain = 0;
        for lane in lanes_of(lanes) {
            let bit = 1 << lane;
            if !(sky[lane] < f32::INFINITY && sky[lane] <= opaque[lane]) {
                glance.blocked = glance.blocked.map(|blocked| blocked | bit);
            } else if opaque[lane] < f32::INFINITY || filtered & bit != 0 {
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
            met.lanes &= plain & packet_walk.passed(met.leaf);
        }
        for (blocked, inhibit) in glance.blocked.iter_mut().zip(inhibit) {
            let (lit, doubtful) = lit_by_sun(met, inhibit, own);
            *blocked |= plain & !lit & !doubtful;
            glance.unclear |= doubtful;
        }
    }
}

/// The segments that the nearest sky beyond `inhibit` lets in and no opaque triangle blocks, and those that meet different
/// skies at once.
fn lit_by_sun(met: &[Met], inhibit: f32, own: Option<u8>) -> (u8, u8) {
    let mut nearest: [Option<(f32, Option<u8>)>; LANES] = [None; LANES];
    let (mut blocked, mut doubtful) = (0, 0);
    for met in met {
        let lanes = beyond(met.lanes, &met.t, inhibit);
        let Some(number) = met.sky else {
            blocked |= lanes;
            continue;
        };
        for lane in lanes_of(lanes) {
            let t = met.t[lane];
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

    fn met(sky: Option<Option<u8>>, lanes: u8, t: f32) -> Met {
        Met {
            leaf: 0,
            sky,
            lanes,
            t: [t; LANES],
        }
    }

    #[test]
    fn the_nearest_sky_beyond_the_limit_lets_suns_in_unless_something_opaque_is_met() {
        let skies = [
            met(Some(Some(1)), 0b0111, 30.0),
            met(Some(Some(2)), 0b0010, 20.0),
            met(Some(Some(2)), 0b0001, 40.0),
            met(Some(Some(2)), 0b1000, 4.0),
            met(None, 0b0100, 50.0),
        ];
        assert_eq!(lit_by_sun(&skies, 5.0, Some(1)), (0b0001, 0));
        assert_eq!(lit_by_sun(&skies, 5.0, Some(2)), (0b0010, 0));
        assert_eq!(lit_by_sun(&skies, 3.0, None), (0b1011, 0));
        let both = [met(Some(Some(1)), 3, 9.0), met(Some(Some(2)), 1, 9.0)];
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
