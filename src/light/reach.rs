//! Which lights may reach a box: asked of every light for every block of points, so eight are answered at once.
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, f32x8};
use glam::Vec3;

use crate::light::lights::Light;
use crate::math::Aabb;
use crate::math::lanes::{LANES, Lanes3, set_lane};

/// Room for the rounding of the exact test, game units.
const MARGIN: f32 = 1.0;

/// Where lights can reach at all: the part of them that decides whether they are worth a look, eight side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaches {
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug)]
struct Chunk {
    /// Box outside of which nothing is lit; empty in lanes without a light.
    min: Lanes3,
    max: Lanes3,
    origin: Lanes3,
    /// Square of the farthest distance.
    squared: [f32; LANES],
    /// The caller's numbers.
    numbers: [u32; LANES],
    used: usize,
}

impl Chunk {
    const EMPTY: Self = Self {
        min: [[f32::INFINITY; LANES]; 3],
        max: [[f32::NEG_INFINITY; LANES]; 3],
        origin: [[0.0; LANES]; 3],
        squared: [0.0; LANES],
        numbers: [0; LANES],
        used: 0,
    };
}

impl Reaches {
    /// Forgets all lights.
    pub(super) fn clear(&mut self) {
        self.chunks.clear();
    }

    /// Adds a light, which [`Reaches::meeting`] will call `number`.
    pub(super) fn push(&mut self, number: u32, light: &Light) {
        if self.chunks.last().is_none_or(|chunk| chunk.used == LANES) {
            self.chunks.push(Chunk::EMPTY);
        }
        let Some(chunk) = self.chunks.last_mut() else {
            return;
        };
        let lane = chunk.used;
        set_lane(&mut chunk.min, lane, light.bounds.min);
        set_lane(&mut chunk.max, lane, light.bounds.max);
        set_lane(&mut chunk.origin, lane, light.origin);
        chunk.squared[lane] = if light.is_sun() {
            f32::INFINITY
        } else {
            light.envelope * light.envelope
        };
        chunk.numbers[lane] = number;
        chunk.used += 1;
    }

    /// Calls `found` with the lights that may reach a place in `bounds`, in the order in which they were added: never too
    /// few.
    pub(super) fn meeting(&self, level: Level, bounds: &Aabb, mut found: impl FnMut(u32)) {
        let bounds = bounds.grown(MARGIN);
        dispatch!(level, simd => {
            for chunk in &self.chunks {
                let mut lanes = meets(simd, chunk, bounds.min, bounds.max);
                while lanes != 0 {
                    found(chunk.numbers[lanes.trailing_zeros() as usize]);
                    lanes &= lanes - 1;
                }
            }
        });
    }
}

/// Lights whose box meets the one from `low` to `high`, with a place in it that is near enough; as bits.
#[inline(always)]
fn meets<S: Simd>(simd: S, chunk: &Chunk, low: Vec3, high: Vec3) -> u64 {
    let mut squared = f32x8::splat(simd, 0.0);
    let mut hit = squared.simd_eq(0.0);
    for axis in 0..3 {
        let (low, high) = (low[axis], high[axis]);
        hit &= f32x8::load_array(simd, chunk.min[axis]).simd_le(high);
        hit &= f32x8::load_array(simd, chunk.max[axis]).simd_ge(low);
        let origin = f32x8::load_array(simd, chunk.origin[axis]);
        let outside = (low - origin).max(origin - high).max(0.0);
        squared += outside * outside;
    }
    hit &= squared.simd_le(f32x8::load_array(simd, chunk.squared));
    hit.to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::sampling::unit;

    #[test]
    fn every_light_that_reaches_a_place_is_found_in_order() {
        let point = |index: u64, draw: u32| {
            let at = |axis: u32| unit(11, index, draw + axis) * 1000.0;
            Vec3::new(at(0), at(1), at(2))
        };
        let lights: Vec<Light> = (0..61)
            .map(|index| Light {
                envelope: unit(12, index, 0) * 400.0,
                bounds: Aabb::from_points([point(index, 3), point(index, 6)]),
                ..Light::point(point(index, 0), Vec3::ONE, 1.0)
            })
            .collect();
        let mut reaches = Reaches::default();
        for (number, light) in (100..).zip(&lights) {
            reaches.push(number, light);
        }
        let (mut all, mut certain) = (0, 0);
        for case in 0..200 {
            let place = point(case, 20);
            let bounds = Aabb::from_points([place, place + point(case, 23) * 0.1]);
            let mut found = Vec::new();
            reaches.meeting(Level::new(), &bounds, |number| found.push(number));
            let mut plain = Vec::new();
            reaches.meeting(Level::baseline(), &bounds, |number| plain.push(number));
            assert_eq!(found, plain);
            assert!(found.is_sorted());
            for (number, light) in (100..).zip(&lights) {
                let reached =
                    light.bounds.contains(place) && light.origin.distance(place) <= light.envelope;
                assert!(!reached || found.contains(&number));
                certain += usize::from(reached);
            }
            all += found.len();
        }
        assert!(certain > 20 && all < 4 * 200, "{certain} of {all}");
    }
}
