#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::f32x8;
use fearless_simd::prelude::*;
use glam::Vec3;

use crate::math::lanes::{Vec3x8, cross, dot, splat, sub};

/// Sums beyond a whole turn come from degenerate polygons.
const TURN_LIMIT: f64 = 6.3;

/// Share of the hemisphere around `facing` that the polygon fills at `point`, weighted by the cosine; −1 to 1.
///
/// Lambert's formula: each edge adds the angle it spans times the cosine between `facing` and the normal of the edge's
/// plane. Positive when `point` is in front of the polygon (clockwise) and `facing` looks at it. The polygon is not clipped
/// at the horizon, as in the reference compiler. `facing` must be unit.
pub(crate) fn form_factor(point: Vec3, facing: Vec3, corners: &[Vec3]) -> f32 {
    let mut directions = corners
        .iter()
        .map(|corner| (*corner - point).normalize_or_zero());
    let Some(first) = directions.next() else {
        return 0.0;
    };
    let (mut total, mut from) = (0.0_f64, first);
    for to in directions.chain(std::iter::once(first)) {
        let edge = from.cross(to);
        let length = edge.length();
        let cosine = from.dot(to);
        from = to;
        if length < 1e-4 {
            continue;
        }
        let angle = f64::from(cosine.clamp(-1.0, 1.0)).acos();
        total += f64::from(facing.dot(edge / length)) * angle;
        if total.abs() > TURN_LIMIT {
            return 0.0;
        }
    }
    (total / std::f64::consts::TAU) as f32
}

/// The same for eight points and directions in single precision: within 2e-7 of [`form_factor`] for a quarter turn.
///
/// The answer is the same on every processor.
#[inline(always)]
pub(crate) fn eight_form_factors<S: Simd>(
    simd: S,
    point: &Vec3x8<S>,
    facing: &Vec3x8<S>,
    corners: &[Vec3],
) -> f32x8<S> {
    let zero = f32x8::splat(simd, 0.0);
    let Some((first, rest)) = corners.split_first() else {
        return zero;
    };
    let first = direction(simd, point, *first);
    let (mut total, mut from) = (zero, first);
    let mut is_sound = zero.simd_eq(0.0);
    for number in 0..corners.len() {
        let to = match rest.get(number) {
            Some(corner) => direction(simd, point, *corner),
            None => first,
        };
        let edge = cross(from, to);
        let length = dot(edge, edge).sqrt();
        let share = dot(*facing, edge) / length;
        let angle = acos(simd, dot(from, to));
        let counts = length.simd_ge(1e-4);
        total += counts.select(share * angle, zero);
        is_sound &= total.abs().simd_le(TURN_LIMIT as f32);
        from = to;
    }
    let factor = total * (1.0 / std::f32::consts::TAU);
    is_sound.select(factor, zero)
}

/// Unit vectors from the points to a corner, zero where they meet.
#[inline(always)]
fn direction<S: Simd>(simd: S, point: &Vec3x8<S>, corner: Vec3) -> Vec3x8<S> {
    let to = sub(splat(simd, corner), *point);
    let length = dot(to, to).sqrt();
    let scale = length
        .simd_gt(0.0)
        .select(1.0 / length, f32x8::splat(simd, 0.0));
    [to[0] * scale, to[1] * scale, to[2] * scale]
}

/// Abramowitz and Stegun 4.4.46, error 2e-8; the argument is limited to −1 to 1.
#[inline(always)]
fn acos<S: Simd>(simd: S, cosine: f32x8<S>) -> f32x8<S> {
    const TERMS: [f32; 8] = [
        std::f32::consts::FRAC_PI_2,
        -0.214_598_8,
        0.088_978_99,
        -0.050_174_305,
        0.030_891_88,
        -0.017_088_126,
        0.006_670_09,
        -0.001_262_491_1,
    ];
    let size = cosine.abs().min(1.0);
    let mut sum = f32x8::splat(simd, TERMS[7]);
    for term in TERMS[..7].iter().rev() {
        sum = sum * size + *term;
    }
    let angle = (1.0 - size).sqrt() * sum;
    cosine
        .simd_lt(0.0)
        .select(std::f32::consts::PI - angle, angle)
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::math::lanes::{LANES, load};

    /// A square of side `2·half` around the origin, clockwise seen from +Z.
    fn square(half: f32) -> [Vec3; 4] {
        [
            Vec3::new(-half, -half, 0.0),
            Vec3::new(-half, half, 0.0),
            Vec3::new(half, half, 0.0),
            Vec3::new(half, -half, 0.0),
        ]
    }

    fn factor(point: Vec3, facing: Vec3, square: &[Vec3]) -> f32 {
        form_factor(point, facing, square)
    }

    /// Section 4.5: a 64×64 emitter seen from 64 units straight ahead.
    #[test]
    fn square_emitter_has_the_tabled_factor() {
        let f = factor(Vec3::Z * 64.0, Vec3::NEG_Z, &square(32.0));
        assert!((f - 0.23946).abs() < 1e-5, "{f}");
        assert!((f * 750.0 - 179.6).abs() < 0.05);
    }

    /// Closed form of a rectangle over a point below its centre: (4/2π)·2·(a/√(1+a²))·atan(a/√(1+a²)), a = half/height.
    #[test]
    fn matches_the_closed_form_and_the_hemisphere() {
        for half in [0.5_f32, 8.0, 100.0] {
            let a = half / 10.0;
            let root = (1.0 + a * a).sqrt();
            let exact = 4.0 / std::f32::consts::PI * (a / root) * (a / root).atan();
            let f = factor(Vec3::Z * 10.0, Vec3::NEG_Z, &square(half));
            assert!((f - exact).abs() < 1e-5, "{half}: {f} {exact}");
        }
        let whole = factor(Vec3::Z, Vec3::NEG_Z, &square(1e5));
        assert!((whole - 1.0).abs() < 1e-3);
    }

    /// Lanes against the plain function, on the best instructions and on those that every processor has.
    #[test]
    fn eight_at_once_are_as_one_by_one() {
        use crate::math::sampling::unit;
        let mut largest = 0.0_f32;
        for case in 0..200 {
            let draw = |number: u32| unit(5, case, number) - 0.5;
            let vector = |number: u32| Vec3::new(draw(number), draw(number + 1), draw(number + 2));
            let corners: Vec<Vec3> = (0..3 + case as u32 % 3)
                .map(|number| vector(3 * number) * 200.0)
                .collect();
            let (mut points, mut facings) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
            let mut expected = [0.0; LANES];
            for lane in 0..LANES {
                let point = vector(100 + 3 * lane as u32) * 1000.0;
                let facing = (corners[0] - point).normalize_or_zero();
                for axis in 0..3 {
                    points[axis][lane] = point[axis];
                    facings[axis][lane] = facing[axis];
                }
                expected[lane] = form_factor(point, facing, &corners);
            }
            let [found, plain] = [Level::new(), Level::baseline()].map(|level| {
                dispatch!(level, simd => {
                    let (point, facing) = (load(simd, &points), load(simd, &facings));
                    eight_form_factors(simd, &point, &facing, &corners).to_array()
                })
            });
            assert_eq!(found.map(f32::to_bits), plain.map(f32::to_bits));
            for (found, expected) in found.into_iter().zip(expected) {
                largest = largest.max((found - expected).abs());
            }
        }
        assert!(largest < 2e-7, "{largest}");
    }

    /// Section 14 item 9.
    #[test]
    fn reversing_the_winding_negates_it_exactly() {
        let point = Vec3::new(10.0, -5.0, 40.0);
        let forward = square(20.0);
        let mut reverse = forward;
        reverse.reverse();
        let facing = Vec3::new(0.6, 0.0, -0.8);
        let sum = factor(point, facing, &forward) + factor(point, facing, &reverse);
        assert!(sum.abs() < f32::EPSILON);
    }
}
