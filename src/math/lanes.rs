//! Eight vectors at once, for kernels that are compiled for several sets of instructions.
//!
//! Only exactly rounded operations are used, so that every processor gives the same answer.
#![expect(
    clippy::inline_always,
    reason = "a kernel's parts are compiled for its instructions only inside of it"
)]

use fearless_simd::f32x8;
use fearless_simd::prelude::*;
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
