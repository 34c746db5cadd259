use fearless_simd::Level;
use glam::Vec3;

use crate::light::clusters::Clusters;
use crate::light::envelope::is_fast;
use crate::light::form_factor::form_factors;
use crate::light::lights::{Area, Emission, Falloff, LINEAR_SCALE, Light};
use crate::light::settings::BakeSettings;
use crate::light::tracer::{Segments, TraceState, Tracer, lanes_of};
use crate::math::Aabb;
use crate::math::lanes::LANES;

/// Distances below this count as this, game units.
const NEAREST: f32 = 16.0;
/// Points this close to an emitter's plane are pushed to this distance, game units.
const PUSH: f32 = 8.0;
/// Points this far behind an emitter's plane get nothing, game units.
const BEHIND: f32 = -1.0;
/// Width of a spot's soft rim, game units.
const SPOT_RIM: f32 = 32.0;

/// A point in the air that gathers light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// World position.
    pub position: Vec3,
    /// Its cluster.
    pub cluster: u32,
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
    /// Where each of them can reach at all.
    reaches: Vec<Reach>,
    /// Visibility.
    pub clusters: &'a Clusters<'a>,
    /// Shadows.
    pub tracer: Tracer<'a>,
    /// By grid: triangles nearer than this to a sample cast no shadow, game units.
    inhibit: [f32; 2],
    /// Formulas.
    pub settings: &'a BakeSettings,
}

/// The part of a light that decides, for a place, whether it is worth a look; kept small, since all are asked for every block.
#[derive(Clone, Copy, Debug)]
struct Reach {
    bounds: Aabb,
    origin: Vec3,
    envelope: f32,
}

impl<'a> Illumination<'a> {
    pub(super) fn new(
        lights: Vec<Light>,
        clusters: &'a Clusters<'a>,
        tracer: Tracer<'a>,
        inhibit: [f32; 2],
        settings: &'a BakeSettings,
    ) -> Self {
        let reaches = lights
            .iter()
            .map(|light| Reach {
                bounds: light.bounds,
                origin: light.origin,
                envelope: if light.is_sun() {
                    f32::INFINITY
                } else {
                    light.envelope
                },
            })
            .collect();
        Self {
            lights,
            reaches,
            clusters,
            tracer,
            inhibit,
            settings,
        }
    }

    /// Numbers of the lights that may reach a place in `bounds`, in the order of summation.
    pub(super) fn candidates(&self, bounds: &Aabb, numbers: &mut Vec<u32>) {
        numbers.clear();
        // Room for the rounding of the exact test.
        let bounds = bounds.grown(1.0);
        let reaches = (0_u32..).zip(&self.reaches).filter(|(_, reach)| {
            let nearest = reach.origin.clamp(bounds.min, bounds.max);
            reach.bounds.intersects(&bounds)
                && nearest.distance_squared(reach.origin) <= reach.envelope * reach.envelope
        });
        numbers.extend(reaches.map(|(number, _)| number));
    }

    /// Light of `light` at up to eight samples, shadows included (section 4.3): calls `give` with lane, grid and light.
    /// `wanted` has a bit for each sample by grid.
    pub(super) fn contributions(
        &self,
        light: &Light,
        samples: &[Sample],
        mut wanted: [u8; 2],
        state: &mut TraceState,
        mut give: impl FnMut(usize, usize, &Contribution),
    ) {
        let mut segments = Segments::default();
        let mut given = [Contribution::default(); LANES];
        let mut reached = 0_u8;
        for (lane, sample) in samples.iter().enumerate().take(LANES) {
            if (wanted[0] | wanted[1]) >> lane & 1 == 0 {
                continue;
            }
            if self.is_reached(light, sample) {
                reached |= 1 << lane;
                segments.from[lane] = sample.position;
            }
        }
        if reached == 0 {
            return;
        }
        let amounts = self.amounts(light, &segments.from, reached, state);
        for (lane, sample) in samples.iter().enumerate().take(LANES) {
            let Some((add, aim)) = amounts[lane].filter(|(add, _)| self.is_enough(light, *add))
            else {
                reached &= !(1 << lane);
                continue;
            };
            segments.to[lane] = aim;
            let direction = if light.is_sun() {
                -light.normal
            } else {
                (aim - sample.position).normalize_or_zero()
            };
            let colour = light.colour * add;
            given[lane] = Contribution {
                colour: if light.negative { -colour } else { colour },
                direction,
                style: light.style,
            };
        }
        wanted = wanted.map(|wanted| wanted & reached);
        if reached == 0 {
            return;
        }
        let glance = self
            .tracer
            .glance(&segments, wanted, self.inhibit, light.is_sun(), state);
        for (grid, inhibit) in self.inhibit.into_iter().enumerate() {
            for lane in lanes_of(wanted[grid] & !glance.blocked[grid]) {
                let mut given = given[lane];
                if glance.unclear >> lane & 1 == 1 {
                    let (from, to) = (segments.from[lane], segments.to[lane]);
                    let filter = if light.is_sun() {
                        self.tracer.sun_light(from, to, inhibit, light.sky, state)
                    } else {
                        self.tracer.lamp_light(from, to, inhibit, state)
                    };
                    let Some(filter) = filter else { continue };
                    given.colour *= filter;
                }
                give(lane, grid, &given);
            }
        }
    }

    /// Whether `light` may give anything to `sample`, by visibility and distance.
    fn is_reached(&self, light: &Light, sample: &Sample) -> bool {
        if light.is_sun() {
            return true;
        }
        !self.settings.sun_only
            && self.clusters.sees(sample.cluster, light.cluster)
            && light.bounds.contains(sample.position)
            && light.origin.distance(sample.position) <= light.envelope
    }

    /// Whether that many byte units are worth tracing.
    fn is_enough(&self, light: &Light, add: f32) -> bool {
        let is_weak = !light.is_sun() && add <= light.tolerance && is_fast(light, self.settings);
        add > 0.0 && !is_weak
    }

    /// By lane byte units without shadows, and the point from which the light seems to come.
    fn amounts(
        &self,
        light: &Light,
        positions: &[Vec3; LANES],
        lanes: u8,
        state: &TraceState,
    ) -> [Option<(f32, Vec3)>; LANES] {
        let mut amounts = [None; LANES];
        if let (Emission::Area(area), false) = (&light.emission, self.settings.faster) {
            return from_area(state.level(), light, area, positions, lanes);
        }
        for lane in lanes_of(lanes) {
            amounts[lane] = unshadowed(light, positions[lane]);
        }
        amounts
    }
}

/// Byte units at `position` without shadows, and the point from which the light seems to come.
fn unshadowed(light: &Light, position: Vec3) -> Option<(f32, Vec3)> {
    let towards = light.origin - position;
    let squared = towards.length_squared() + light.extra_distance * light.extra_distance;
    let distance = squared.sqrt().max(NEAREST);
    match &light.emission {
        Emission::Point => Some((faded(light, distance), light.origin)),
        Emission::Spot { radius_by_distance } => {
            let share = spot_share(light, *radius_by_distance, position)?;
            Some((faded(light, distance) * share, light.origin))
        }
        // The cheap formula. Not even the side matters, so backsplash lights add to what is before a lamp.
        Emission::Area(_) => Some((light.photons / (distance * distance), light.origin)),
        Emission::Sun { .. } => Some((light.photons, position + light.origin)),
    }
}

fn faded(light: &Light, distance: f32) -> f32 {
    match light.falloff {
        Falloff::Linear(fade) => (light.photons * LINEAR_SCALE - distance * fade).max(0.0),
        Falloff::Quadratic => light.photons / (distance * distance),
    }
}

/// Share of a spot's light at a place in its cone: 1, falling to 0 over the outermost 32 units.
fn spot_share(light: &Light, radius_by_distance: f32, position: Vec3) -> Option<f32> {
    let ahead = (position - light.origin).dot(light.normal);
    if ahead < 0.0 {
        return None;
    }
    let radius = radius_by_distance * ahead;
    let off_axis = position.distance(light.origin + light.normal * ahead);
    if off_axis >= radius {
        None
    } else if off_axis > radius - SPOT_RIM {
        Some((radius - off_axis) / SPOT_RIM)
    } else {
        Some(1.0)
    }
}

/// Light of a whole polygon on receivers that face its middle.
fn from_area(
    level: Level,
    light: &Light,
    area: &Area,
    positions: &[Vec3; LANES],
    lanes: u8,
) -> [Option<(f32, Vec3)>; LANES] {
    let mut amounts = [None; LANES];
    let (mut points, mut facings) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
    let mut is_ahead = 0_u8;
    for lane in lanes_of(lanes) {
        let position = positions[lane];
        let height = position.dot(light.normal) - area.plane_dist;
        if height < BEHIND && !area.two_sided {
            continue;
        }
        is_ahead |= 1 << lane;
        let pushed = if height.abs() < PUSH {
            position + light.normal * (PUSH - height)
        } else {
            position
        };
        let facing = (light.origin - position).normalize_or_zero();
        for axis in 0..3 {
            points[axis][lane] = pushed[axis];
            facings[axis][lane] = facing[axis];
        }
    }
    if is_ahead == 0 {
        return amounts;
    }
    let factors = form_factors(level, &points, &facings, &area.winding);
    for lane in lanes_of(is_ahead) {
        let factor = factors[lane];
        if factor > 0.0 {
            amounts[lane] = Some((factor * area.add, light.origin));
        } else if factor < 0.0 && area.two_sided {
            // From behind: the light's plane floats one unit before the surface, so aim at its mirror image.
            let aim = light.origin - light.normal * 2.0;
            if aim.distance(positions[lane]) < light.envelope {
                amounts[lane] = Some((-factor * area.add, aim));
            }
        }
    }
    amounts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(light: &Light, position: Vec3) -> Option<f32> {
        let found = match &light.emission {
            Emission::Area(area) => from_area(Level::new(), light, area, &[position; LANES], 1)[0],
            _ => unshadowed(light, position),
        };
        found.map(|(add, _)| add)
    }

    fn near(found: Option<f32>, expected: f32) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 0.01)
    }

    /// Section 4.5.
    #[test]
    fn point_light_follows_the_inverse_square_and_linear_lights_do_not() {
        let mut light = Light::point(Vec3::ZERO, Vec3::ONE, 300.0 * 7500.0);
        assert!(near(at(&light, Vec3::X * 128.0), 137.33));
        assert!(near(at(&light, Vec3::X * 3.0), 300.0 * 7500.0 / 256.0));
        light.extra_distance = 96.0;
        assert!(near(at(&light, Vec3::X * 128.0), 87.89));
        light.extra_distance = 0.0;
        light.falloff = Falloff::Linear(1.0);
        assert!(near(at(&light, Vec3::X * 128.0), 153.25));
    }

    /// Section 14 item 2.
    #[test]
    fn spot_fades_over_its_rim() {
        let mut light = Light::point(Vec3::ZERO, Vec3::ONE, 1.0);
        light.normal = Vec3::X;
        let share = |off| spot_share(&light, 0.625, Vec3::new(128.0, off, 0.0));
        assert!(near(share(60.0), 0.625));
        assert!(near(share(40.0), 1.0));
        assert_eq!(share(80.0), None);
        assert_eq!(spot_share(&light, 0.625, Vec3::NEG_X), None);
    }

    fn panel(two_sided: bool) -> Light {
        let winding = [(-32.0, -32.0), (-32.0, 32.0), (32.0, 32.0), (32.0, -32.0)]
            .map(|(x, y)| Vec3::new(x, y, 0.0));
        Light {
            emission: Emission::Area(Area {
                winding: winding.to_vec(),
                plane_dist: 1.0,
                add: 750.0,
                two_sided,
            }),
            normal: Vec3::Z,
            envelope: 1000.0,
            ..Light::point(Vec3::Z, Vec3::ONE, 1000.0 * 4096.0 * 0.25)
        }
    }

    /// Section 4.5: 179.6 at 64 units over the winding.
    #[test]
    fn panel_gives_its_form_factor_in_front_and_nothing_behind() {
        assert!(near(at(&panel(false), Vec3::Z * 64.0), 179.6));
        assert_eq!(at(&panel(false), Vec3::Z * -64.0), None);
        assert!(near(at(&panel(true), Vec3::Z * -64.0), 179.6));
        // Two units over the surface it is lit as if it were nine over it.
        assert_eq!(
            at(&panel(false), Vec3::Z * 2.0),
            at(&panel(false), Vec3::Z * 9.0)
        );
    }
}
