//! What lights would give to eight places at once if nothing stood between.
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, f32x8, mask32x8};

use crate::light::form_factor::eight_form_factors;
use crate::light::glance::Segments;
use crate::light::lights::{Area, Emission, Falloff, LINEAR_SCALE, Light};
use crate::math::lanes::{
    LANES, Lanes3, Vec3x8, add, dot, load, normalize, scale, select, splat, store, sub,
};

/// Distances below this count as this, game units.
const NEAREST: f32 = 16.0;
/// Points this close to an emitter's plane are pushed to this distance, game units.
const PUSH: f32 = 8.0;
/// Points this far behind an emitter's plane get nothing, game units.
const BEHIND: f32 = -1.0;
/// Width of a spot's soft rim, game units.
const SPOT_RIM: f32 = 32.0;

/// How exactly, and down to which amount, light is offered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// Only more than this many byte units are worth tracing; at least 0.
    pub least: f32,
    /// Whether surfaces shine by the cheap formula, like points.
    pub is_cheap: bool,
    /// Whether what lies behind a two-sided surface looks at that side of it. The reference compiler looks at its front, so
    /// the surface itself is in the way unless it is near enough to be ignored.
    pub sees_backs: bool,
}

/// What a light would give to up to eight places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offers {
    /// Bit n: there is light for place n. Other lanes hold anything.
    pub lanes: u8,
    /// Byte units before the light's colour.
    pub amount: [f32; LANES],
    /// From the places to where the light seems to come from.
    pub segments: Segments,
}

/// A light's share in registers.
struct Offer<S: Simd> {
    is_made: mask32x8<S>,
    amount: f32x8<S>,
    /// Where the light seems to come from.
    to: Vec3x8<S>,
    /// Distance to there, and the unit direction, or zero.
    length: f32x8<S>,
    direction: Vec3x8<S>,
}

impl Offers {
    /// Looks at the places in `lanes`: distance and bounds decide here, visibility elsewhere. Section 4.5 of the compiler's
    /// specification.
    ///
    /// The answer is the same on every processor.
    pub(super) fn make(
        &mut self,
        level: Level,
        light: &Light,
        places: &Lanes3,
        lanes: u8,
        terms: Terms,
    ) {
        dispatch!(level, simd => {
            let position = load(simd, places);
            let offer = if let Emission::Sun { .. } = light.emission {
                from_sun(simd, light, position)
            } else {
                from_lamp(simd, light, position, terms)
            };
            let is_enough = offer.amount.simd_gt(terms.least);
            self.lanes = (offer.is_made & is_enough).to_bitmask() as u8 & lanes;
            if self.lanes != 0 {
                self.amount = offer.amount.to_array();
                self.segments = Segments {
                    from: *places,
                    to: store(offer.to),
                    direction: store(offer.direction),
                    length: offer.length.to_array(),
                };
            }
        });
    }
}

#[inline(always)]
fn from_sun<S: Simd>(simd: S, light: &Light, position: Vec3x8<S>) -> Offer<S> {
    let to = add(position, splat(simd, light.origin));
    let (length, direction) = normalize(simd, sub(to, position));
    let amount = f32x8::splat(simd, light.photons);
    Offer {
        is_made: amount.simd_eq(amount),
        amount,
        to,
        length,
        direction,
    }
}

#[inline(always)]
fn from_lamp<S: Simd>(simd: S, light: &Light, position: Vec3x8<S>, terms: Terms) -> Offer<S> {
    let to = splat(simd, light.origin);
    let towards = sub(to, position);
    let (length, direction) = normalize(simd, towards);
    let mut offer = Offer {
        is_made: length.simd_le(light.envelope),
        amount: f32x8::splat(simd, 0.0),
        to,
        length,
        direction,
    };
    for (axis, at) in position.into_iter().enumerate() {
        let (min, max) = (light.bounds.min[axis], light.bounds.max[axis]);
        offer.is_made &= at.simd_ge(min) & at.simd_le(max);
    }
    if !offer.is_made.any_true() {
        return offer;
    }
    let squared = dot(towards, towards) + light.extra_distance * light.extra_distance;
    let distance = squared.sqrt().max(NEAREST);
    match &light.emission {
        Emission::Area(area) if !terms.is_cheap => {
            return from_area(simd, light, area, position, offer, terms.sees_backs);
        }
        // The cheap formula. Not even the side matters, so backsplash lights add to what is before a lamp.
        Emission::Area(_) => offer.amount = light.photons / (distance * distance),
        Emission::Point | Emission::Sun { .. } => offer.amount = faded(simd, light, distance),
        Emission::Spot { radius_by_distance } => {
            let (is_lit, share) = spot_share(simd, light, *radius_by_distance, position);
            offer.is_made &= is_lit;
            offer.amount = faded(simd, light, distance) * share;
        }
    }
    offer
}

#[inline(always)]
fn faded<S: Simd>(simd: S, light: &Light, distance: f32x8<S>) -> f32x8<S> {
    match light.falloff {
        Falloff::Linear(fade) => {
            let full = f32x8::splat(simd, light.photons * LINEAR_SCALE);
            (full - distance * fade).max(0.0)
        }
        Falloff::Quadratic => light.photons / (distance * distance),
    }
}

/// Share of a spot's light at a place in its cone: 1, falling to 0 over the outermost 32 units.
#[inline(always)]
fn spot_share<S: Simd>(
    simd: S,
    light: &Light,
    radius_by_distance: f32,
    position: Vec3x8<S>,
) -> (mask32x8<S>, f32x8<S>) {
    let (origin, normal) = (splat(simd, light.origin), splat(simd, light.normal));
    let ahead = dot(sub(position, origin), normal);
    let radius = ahead * radius_by_distance;
    let off_axis = sub(position, add(origin, scale(normal, ahead)));
    let off_axis = dot(off_axis, off_axis).sqrt();
    let is_lit = ahead.simd_ge(0.0) & off_axis.simd_lt(radius);
    let is_rim = off_axis.simd_gt(radius - SPOT_RIM);
    let share = is_rim.select((radius - off_axis) / SPOT_RIM, f32x8::splat(simd, 1.0));
    (is_lit, share)
}

/// Light of a whole polygon on receivers that face its middle.
#[inline(always)]
fn from_area<S: Simd>(
    simd: S,
    light: &Light,
    area: &Area,
    position: Vec3x8<S>,
    mut offer: Offer<S>,
    sees_backs: bool,
) -> Offer<S> {
    let normal = splat(simd, light.normal);
    let height = dot(position, normal) - area.plane_dist;
    if !area.two_sided {
        offer.is_made &= height.simd_ge(BEHIND);
        if !offer.is_made.any_true() {
            return offer;
        }
    }
    let is_near = height.abs().simd_lt(PUSH);
    let pushed = add(position, scale(normal, PUSH - height));
    let pushed = select(is_near, pushed, position);
    let factor = eight_form_factors(simd, &pushed, &offer.direction, &area.winding);
    let mut is_lit = factor.simd_gt(0.0);
    offer.amount = factor * area.add;
    if area.two_sided {
        is_lit |= factor.simd_lt(0.0);
        offer.amount = offer.amount.abs();
    }
    if area.two_sided && sees_backs {
        // The light's plane floats one unit before the surface, so aim at its mirror image.
        let aim = splat(simd, light.origin - light.normal * 2.0);
        let (length, direction) = normalize(simd, sub(aim, position));
        let is_behind = factor.simd_lt(0.0);
        is_lit &= !is_behind | length.simd_lt(light.envelope);
        offer.to = select(is_behind, aim, offer.to);
        offer.length = is_behind.select(length, offer.length);
        offer.direction = select(is_behind, direction, offer.direction);
    }
    offer.is_made &= is_lit;
    offer
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::math::Aabb;
    use crate::math::lanes::set_lane;

    /// Amounts at `places` on the best instructions, which the plainest must repeat to the bit.
    fn amounts<const N: usize>(light: &Light, places: [Vec3; N]) -> [Option<f32>; N] {
        let terms = Terms {
            least: 0.0,
            is_cheap: false,
            sees_backs: true,
        };
        let mut lanes = [[0.0; LANES]; 3];
        for (lane, place) in places.iter().enumerate() {
            set_lane(&mut lanes, lane, *place);
        }
        let [best, plain] = [Level::new(), Level::baseline()].map(|level| {
            let mut offers = Offers::default();
            let wanted = u8::MAX >> (LANES - N);
            offers.make(level, light, &lanes, wanted, terms);
            std::array::from_fn(|lane| {
                (offers.lanes >> lane & 1 == 1).then_some(offers.amount[lane])
            })
        });
        assert_eq!(
            best.map(|amount: Option<f32>| amount.map(f32::to_bits)),
            plain.map(|amount: Option<f32>| amount.map(f32::to_bits))
        );
        best
    }

    fn endless(light: Light) -> Light {
        Light {
            envelope: 1e6,
            bounds: Aabb {
                min: Vec3::splat(-1e6),
                max: Vec3::splat(1e6),
            },
            ..light
        }
    }

    fn is_near(found: Option<f32>, expected: f32) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 0.01)
    }

    /// Section 4.5.
    #[test]
    fn point_light_follows_the_inverse_square_and_linear_lights_do_not() {
        let mut light = endless(Light::point(Vec3::ZERO, Vec3::ONE, 300.0 * 7500.0));
        let [far, near] = amounts(&light, [Vec3::X * 128.0, Vec3::X * 3.0]);
        assert!(is_near(far, 137.33));
        assert!(is_near(near, 300.0 * 7500.0 / 256.0));
        light.extra_distance = 96.0;
        assert!(is_near(amounts(&light, [Vec3::X * 128.0])[0], 87.89));
        light.extra_distance = 0.0;
        light.falloff = Falloff::Linear(1.0);
        assert!(is_near(amounts(&light, [Vec3::X * 128.0])[0], 153.25));
    }

    #[test]
    fn envelope_and_bounds_end_a_light() {
        let mut light = endless(Light::point(Vec3::ZERO, Vec3::ONE, 300.0 * 7500.0));
        light.envelope = 100.0;
        light.bounds.max.y = 50.0;
        let places = [
            Vec3::X * 100.0,
            Vec3::X * 101.0,
            Vec3::Y * 50.0,
            Vec3::Y * 51.0,
        ];
        assert_eq!(
            amounts(&light, places).map(|amount| amount.is_some()),
            [true, false, true, false]
        );
    }

    /// Section 14 item 2.
    #[test]
    fn spot_fades_over_its_rim() {
        let mut light = endless(Light::point(Vec3::ZERO, Vec3::ONE, 128.0 * 128.0));
        light.normal = Vec3::X;
        light.emission = Emission::Spot {
            radius_by_distance: 0.625,
        };
        let at = |off: f32| Vec3::new(128.0, off, 0.0);
        let weakened = |off: f32| 1.0 / (1.0 + off * off / (128.0 * 128.0));
        let [rim, core, outside, behind] =
            amounts(&light, [at(60.0), at(40.0), at(80.0), Vec3::NEG_X]);
        assert!(is_near(rim, 0.625 * weakened(60.0)));
        assert!(is_near(core, weakened(40.0)));
        assert_eq!((outside, behind), (None, None));
    }

    fn panel(two_sided: bool) -> Light {
        let winding = [(-32.0, -32.0), (-32.0, 32.0), (32.0, 32.0), (32.0, -32.0)]
            .map(|(x, y)| Vec3::new(x, y, 0.0));
        endless(Light {
            emission: Emission::Area(Area {
                winding: winding.to_vec(),
                plane_dist: 1.0,
                add: 750.0,
                two_sided,
            }),
            normal: Vec3::Z,
            ..Light::point(Vec3::Z, Vec3::ONE, 1000.0 * 4096.0 * 0.25)
        })
    }

    /// Section 4.5: 179.6 at 64 units over the winding.
    #[test]
    fn panel_gives_its_form_factor_in_front_and_nothing_behind() {
        let places = [64.0, -64.0, 2.0, 9.0].map(|height| Vec3::Z * height);
        let [ahead, behind, near, nine] = amounts(&panel(false), places);
        assert!(is_near(ahead, 179.6));
        assert_eq!(behind, None);
        // Two units over the surface it is lit as if it were nine over it.
        assert_eq!(near, nine);
        assert!(is_near(amounts(&panel(true), places)[1], 179.6));
    }

    #[test]
    fn light_from_behind_a_panel_comes_from_its_back_where_backs_are_seen() {
        let mut places = [[0.0; LANES]; 3];
        places[2] = [64.0, -64.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let aims = |sees_backs| {
            let terms = Terms {
                least: 0.0,
                is_cheap: false,
                sees_backs,
            };
            let mut offers = Offers::default();
            offers.make(Level::new(), &panel(true), &places, 3, terms);
            let Segments { to, direction, .. } = &offers.segments;
            assert_eq!((direction[2][0], direction[2][1]), (-1.0, 1.0));
            (offers.lanes, to[2][0], to[2][1])
        };
        assert_eq!(aims(true), (3, 1.0, -1.0));
        assert_eq!(aims(false), (3, 1.0, 1.0));
    }
}
