use glam::Vec3;

use crate::light::clusters::Clusters;
use crate::light::envelope::is_fast;
use crate::light::glance::{Goal, lanes_of};
use crate::light::lights::{Emission, Light};
use crate::light::offers::{Offers, Terms};
use crate::light::reach::Reaches;
use crate::light::settings::BakeSettings;
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
pub(crate) struct SamplePacket {
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
    /// Takes the first eight of `samples`.
    pub(super) fn new(samples: &[Sample]) -> Self {
        let samples = &samples[..samples.len().min(LANES)];
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

    /// Collects the lights that may reach one of the `samples`, in the order of summation.
    pub(super) fn collect_candidates(
        &self,
        samples: &[Sample],
        state: &TraceState,
        candidates: &mut Reaches,
    ) {
        candidates.clear();
        let bounds = Aabb::from_points(samples.iter().map(|sample| sample.position));
        let clusters = DistinctClusters::of(samples);
        self.reaches.meeting(state.level(), &bounds, |number| {
            let light = &self.lights[number as usize];
            if self.seeing(&clusters, light) != 0 {
                candidates.push(number, light);
            }
        });
    }

    /// Light of all `candidates` at a packet of samples, light by light in their order, shadows included (section 4.3): calls
    /// `give` with lane, grid and light. `wanted` has a bit for each sample by grid; `give` may take some away.
    pub(super) fn illuminate(
        &self,
        packet: &SamplePacket,
        candidates: &Reaches,
        wanted: &mut [u8; 2],
        state: &mut TraceState,
        mut give: impl FnMut(usize, usize, &Contribution, &mut [u8; 2]),
    ) {
        candidates.meeting(state.level(), &packet.bounds, |number| {
            let light = &self.lights[number as usize];
            let lanes = (wanted[0] | wanted[1]) & self.seeing(&packet.clusters, light);
            if lanes != 0 {
                self.give_light(light, packet, lanes, wanted, state, &mut give);
            }
        });
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

    fn give_light(
        &self,
        light: &Light,
        packet: &SamplePacket,
        lanes: u8,
        wanted: &mut [u8; 2],
        state: &mut TraceState,
        mut give: impl FnMut(usize, usize, &Contribution, &mut [u8; 2]),
    ) {
        let terms = self.terms(light);
        let mut offers = Offers::default();
        offers.make(state.level(), light, &packet.positions, lanes, terms);
        if offers.lanes == 0 {
            return;
        }
        let traced = wanted.map(|wanted| wanted & offers.lanes);
        let segments = &offers.segments;
        let goal = match light.emission {
            Emission::Sun { .. } => Goal::Sun { sky: light.sky },
            _ => Goal::Lamp,
        };
        let glance = self
            .tracer
            .glance(segments, traced, self.inhibit, goal, state);
        for (grid, inhibit) in self.inhibit.into_iter().enumerate() {
            for number in lanes_of(traced[grid] & !glance.blocked[grid]) {
                let mut colour = light.colour * offers.amount[number];
                if light.negative {
                    colour = -colour;
                }
                if glance.unclear >> number & 1 == 1 {
                    let (from, to) = (lane(&segments.from, number), lane(&segments.to, number));
                    let filter = if light.is_sun() {
                        self.tracer.sun_light(from, to, inhibit, light.sky, state)
                    } else {
                        self.tracer.lamp_light(from, to, inhibit, state)
                    };
                    let Some(filter) = filter else { continue };
                    colour *= filter;
                }
                let given = Contribution {
                    colour,
                    direction: if light.is_sun() {
                        -light.normal
                    } else {
                        lane(&segments.direction, number)
                    },
                    style: light.style,
                };
                give(number, grid, &given, wanted);
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
        }
    }
}
