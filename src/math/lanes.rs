//! Eight vectors at once, for kernels that are compiled for several sets of instructions.
//!
//! Only exactly rounded operations are used, so that every processor gives the same answer.
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::prelude::*;
use fearless_simd::{f32x8, mask32x8};
use glam::Vec3;

/// Values at once.
pub const LANES: usize = 8;

/// Eight vectors, axis by axis, in memory.
pub type Lanes3 = [[f32; LANES]; 3];

/// Eight vectors, axis by axis, in registers.
pub type Vec3x8<S> = [f32x8<S>; 3];

/// Brings eight vectors from memory into registers.
#[inline(always)]
pub fn load<S: Simd>(simd: S, lanes: &Lanes3) -> Vec3x8<S> {
    [
        f32x8::load_array(simd, lanes[0]),
        f32x8::load_array(simd, lanes[1]),
        f32x8::load_array(simd, lanes[2]),
    ]
}

/// The same vector eight times.
#[inline(always)]
pub fn splat<S: Simd>(simd: S, vector: Vec3) -> Vec3x8<S> {
    [
        f32x8::splat(simd, vector.x),
        f32x8::splat(simd, vector.y),
        f32x8::splat(simd, vector.z),
    ]
}

/// Differences.
#[inline(always)]
pub fn sub<S: Simd>(a: Vec3x8<S>, b: Vec3x8<S>) -> Vec3x8<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Cross products, in [`glam`]'s order of operations.
#[inline(always)]
pub fn cross<S: Simd>(a: Vec3x8<S>, b: Vec3x8<S>) -> Vec3x8<S> {
    [
        a[1] * b[2] - b[1] * a[2],
        a[2] * b[0] - b[2] * a[0],
        a[0] * b[1] - b[0] * a[1],
    ]
}

/// Dot products, in [`glam`]'s order of operations.
#[inline(always)]
pub fn dot<S: Simd>(a: Vec3x8<S>, b: Vec3x8<S>) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Sums.
#[inline(always)]
pub fn add<S: Simd>(a: Vec3x8<S>, b: Vec3x8<S>) -> Vec3x8<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Vectors times numbers.
#[inline(always)]
pub fn scale<S: Simd>(a: Vec3x8<S>, by: f32x8<S>) -> Vec3x8<S> {
    [a[0] * by, a[1] * by, a[2] * by]
}

/// By lane the vector of `a` where `mask` is set, else that of `b`.
#[inline(always)]
pub fn select<S: Simd>(mask: mask32x8<S>, a: Vec3x8<S>, b: Vec3x8<S>) -> Vec3x8<S> {
    [
        mask.select(a[0], b[0]),
        mask.select(a[1], b[1]),
        mask.select(a[2], b[2]),
    ]
}

/// Lengths, and unit vectors or zero: as [`Vec3::normalize_or_zero`].
#[inline(always)]
pub fn normalize<S: Simd>(simd: S, a: Vec3x8<S>) -> (f32x8<S>, Vec3x8<S>) {
    let length = dot(a, a).sqrt();
    let inverse = 1.0 / length;
    let is_sound = inverse.simd_gt(0.0) & inverse.simd_lt(f32::INFINITY);
    let zero = f32x8::splat(simd, 0.0);
    let unit = select(is_sound, scale(a, inverse), [zero; 3]);
    (length, unit)
}

/// Brings eight vectors from registers into memory.
#[inline(always)]
pub fn store<S: Simd>(a: Vec3x8<S>) -> Lanes3 {
    [a[0].to_array(), a[1].to_array(), a[2].to_array()]
}

/// One of eight vectors.
pub fn lane(lanes: &Lanes3, lane: usize) -> Vec3 {
    Vec3::new(lanes[0][lane], lanes[1][lane], lanes[2][lane])
}

/// Replaces one of eight vectors.
pub fn set_lane(lanes: &mut Lanes3, lane: usize, vector: Vec3) {
    for (axis, value) in lanes.iter_mut().zip(vector.to_array()) {
        axis[lane] = value;
    }
}
