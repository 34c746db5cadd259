use glam::Vec3;

use crate::light::clusters::Clusters;
use crate::light::envelope::is_fast;
use crate::light::glance::lanes_of;
use crate::light::lights::Light;
use crate::light::offers::{Offers, Terms};
use crate::light::reach::Reaches;
use crate::light::settings::{BakeSettings, LightModel};
use crate::light::tracer::{TraceState, Tracer};
use crate::math::Aabb;
use crate::math::lanes::{LANES, Lanes3, lane, set_lane};

/// A point in the air that gathers light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// World position.
    pub position: Vec3,
    /// Its cluster.
    pub cluster: u32,
}

/// Up to eight neighbouring samples.
#[derive(Clone, Debug)]
struct SamplePacket {
    positions: Lanes3,
    bounds: Aabb,
    clusters: DistinctClusters,
}

/// The clusters of some samples, each once, with its samples as bits where they are at most eight.
#[derive(Clone, Debug, Default)]
struct DistinctClusters(Vec<(u32, u8)>);

impl DistinctClusters {
    fn of(samples: &[Sample]) -> Self {
        let mut found: Vec<(u32, u8)> = Vec::new();
        for (lane, sample) in samples.iter().enumerate() {
            let bit = 1_u8 << (lane % LANES);
            match found
                .iter_mut()
                .find(|(cluster, _)| *cluster == sample.cluster)
            {
                Some((_, lanes)) => *lanes |= bit,
                None => found.push((sample.cluster, bit)),
            }
        }
        Self(found)
    }
}

impl SamplePacket {
    fn new(samples: &[Sample]) -> Self {
        let mut positions = Lanes3::default();
        for (lane, sample) in samples.iter().enumerate() {
            set_lane(&mut positions, lane, sample.position);
        }
        Self {
            positions,
            bounds: Aabb::from_points(samples.iter().map(|sample| sample.position)),
            clusters: DistinctClusters::of(samples),
        }
    }
}

/// The samples of a block in packets of eight, and the lights that may reach them. Keep one a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbourhood {
    packets: Vec<SamplePacket>,
    reaches: Reaches,
    /// In the order of summation.
    lights: Vec<Candidate>,
}

/// A light that may reach a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    number: u32,
    /// The packets that it may reach, as bits.
    packets: u32,
}

impl Neighbourhood {
    /// Lights that may reach some of the samples, in the order of summation.
    pub(super) fn lights(&self) -> &[Candidate] {
        &self.lights
    }
}

/// What one light gives to a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Contribution {
    /// Byte units; negative for lights that darken.
    pub colour: Vec3,
    /// Unit direction towards the light; zero at its very place.
    pub direction: Vec3,
    /// Light style.
    pub style: u8,
}

/// Lights, and all that decides how they reach a point.
#[derive(Debug)]
pub(crate) struct Illumination<'a> {
    /// Lights in the order of summation.
    pub lights: Vec<Light>,
    /// Where they can reach at all.
    reaches: Reaches,
    /// Visibility.
    pub clusters: &'a Clusters<'a>,
    /// Shadows.
    pub tracer: Tracer<'a>,
    /// By grid: triangles nearer than this to a sample cast no shadow, game units.
    inhibit: [f32; 2],
    /// Formulas.
    pub settings: &'a BakeSettings,
}

impl<'a> Illumination<'a> {
    pub(super) fn new(
        lights: Vec<Light>,
        clusters: &'a Clusters<'a>,
        tracer: Tracer<'a>,
        inhibit: [f32; 2],
        settings: &'a BakeSettings,
    ) -> Self {
        let mut reaches = Reaches::default();
        for (number, light) in (0..).zip(&lights) {
            if light.is_sun() || !settings.sun_only {
                reaches.push(number, light);
            }
        }
        Self {
            lights,
            reaches,
            clusters,
            tracer,
            inhibit,
            settings,
        }
    }

    /// Finds the lights that may reach one of the `samples`: at most 256 samples are looked at.
    pub(super) fn look_around(
        &self,
        samples: &[Sample],
        state: &TraceState,
        around: &mut Neighbourhood,
    ) {
        let Neighbourhood {
            packets,
            reaches,
            lights,
        } = around;
        packets.clear();
        packets.extend(samples.chunks(LANES).map(SamplePacket::new));
        reaches.clear();
        lights.clear();
        let bounds = Aabb::from_points(samples.iter().map(|sample| sample.position));
        let clusters = DistinctClusters::of(samples);
        self.reaches.meeting(state.level(), &bounds, |number| {
            let light = &self.lights[number as usize];
            if self.seeing(&clusters, light) != 0 {
                reaches.push(lights.len() as u32, light);
                lights.push(Candidate { number, packets: 0 });
            }
        });
        for (number, packet) in packets.iter().enumerate() {
            reaches.meeting(state.level(), &packet.bounds, |place| {
                lights[place as usize].packets |= 1 << number;
            });
        }
    }

    /// Light of one of the lights `around` at the samples, shadows included (section 4.3): calls `give` with sample, grid and
    /// light, which tells whether that sample wants further lights. `wanted` has, by packet and grid, a bit for each sample.
    pub(super) fn illuminate(
        &self,
        around: &Neighbourhood,
        candidate: Candidate,
        wanted: &mut [[u8; 2]],
        state: &mut TraceState,
        mut give: impl FnMut(usize, usize, &Contribution) -> bool,
    ) {
        let light = &self.lights[candidate.number as usize];
        for (number, (packet, wanted)) in around.packets.iter().zip(wanted).enumerate() {
            if candidate.packets >> number & 1 == 0 {
                continue;
            }
            let lanes = (wanted[0] | wanted[1]) & self.seeing(&packet.clusters, light);
            if lanes == 0 {
                continue;
            }
            let mut offers = Offers::default();
            let terms = self.terms(light);
            offers.make(state.level(), light, &packet.positions, lanes, terms);
            if offers.lanes != 0 {
                let first = number * LANES;
                let offered = wanted.map(|wanted| wanted & offers.lanes);
                self.shine(
                    candidate.number,
                    &offers,
                    offered,
                    state,
                    |lane, grid, given| {
                        if !give(first + lane, grid, given) {
                            wanted[grid] &= !(1 << lane);
                        }
                    },
                );
            }
        }
    }

    /// The samples that may see `light`.
    fn seeing(&self, clusters: &DistinctClusters, light: &Light) -> u8 {
        if light.is_sun() {
            return u8::MAX;
        }
        let seeing = clusters
            .0
            .iter()
            .filter(|(cluster, _)| self.clusters.sees(*cluster, light.cluster));
        seeing.fold(0, |lanes, (_, more)| lanes | more)
    }

    /// What of the `offers` of a light comes through: calls `give` with lane, grid and light.
    fn shine(
        &self,
        number: u32,
        offers: &Offers,
        wanted: [u8; 2],
        state: &mut TraceState,
        mut give: impl FnMut(usize, usize, &Contribution),
    ) {
        let light = &self.lights[number as usize];
        let segments = &offers.segments;
        let glance = self
            .tracer
            .glance(segments, wanted, self.inhibit, light, number, state);
        for (grid, inhibit) in self.inhibit.into_iter().enumerate() {
            for at in lanes_of(wanted[grid] & !glance.blocked[grid]) {
                let mut colour = light.colour * offers.amount[at];
                if light.negative {
                    colour = -colour;
                }
                let is_filtered = glance.filtered[grid] >> at & 1 == 1;
                if glance.unclear >> at & 1 == 1 {
                    let (from, to) = (lane(&segments.from, at), lane(&segments.to, at));
                    let filter = if light.is_sun() {
                        self.tracer.sun_light(from, to, inhibit, light.sky, state)
                    } else {
                        self.tracer.lamp_light(from, to, inhibit, state)
                    };
                    let Some(filter) = filter else { continue };
                    colour *= filter;
                } else if is_filtered {
                    colour *= state.shares[grid][at];
                }
                let given = Contribution {
                    colour,
                    direction: if light.is_sun() {
                        -light.normal
                    } else {
                        lane(&segments.direction, at)
                    },
                    style: light.style,
                };
                give(at, grid, &given);
            }
        }
    }

    fn terms(&self, light: &Light) -> Terms {
        let is_cut = !light.is_sun() && is_fast(light, self.settings);
        Terms {
            least: if is_cut {
                light.tolerance.max(0.0)
            } else {
                0.0
            },
            is_cheap: self.settings.faster,
            sees_backs: self.settings.model == LightModel::Corrected,
        }
    }
}
