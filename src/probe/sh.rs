use glam::{UVec3, Vec3};

use crate::format::bsp::{ShGrid, ShPoint};
use crate::probe::corner::{Corner, Verdict, trilinear_corners};

/// How coefficients become light on a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ShEvaluator {
    /// Cosine-convolved: bands × (π, 2π/3, π/4). Same mean over all normals as the legacy grid.
    #[default]
    Irradiance,
    /// Straight along the normal, as the SH commit's guide does.
    Direct,
    /// [`ShEvaluator::Irradiance`] with a Hann window over the bands against ringing; strength 0 to 1.
    Windowed(f32),
}

/// Which corners take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShCorners {
    /// Points in solid (all coefficients zero) are skipped, weights renormalised; positions outside are clamped to the edge.
    #[default]
    SkipSolid,
    /// All eight, as in the SH commit's guide (`sh-guide`): fraction from the unclamped position, cells clamped.
    Guide,
}

/// How the SH grid is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShProfile {
    /// Evaluation.
    pub evaluator: ShEvaluator,
    /// Scaled so that a single light seen head-on gives its own strength (16/17 or 4π/9).
    pub match_front: bool,
    /// Corner rule.
    pub corners: ShCorners,
}

impl ShProfile {
    /// Factors of bands 0, 1, 2 for [`evaluate_sh`].
    pub fn band_weights(&self) -> [f32; 3] {
        use std::f32::consts::PI;
        let cosine = [PI, 2.0 * PI / 3.0, PI / 4.0];
        let (bands, front) = match self.evaluator {
            ShEvaluator::Irradiance => (cosine, 16.0 / 17.0),
            ShEvaluator::Direct => ([1.0; 3], 4.0 * PI / 9.0),
            ShEvaluator::Windowed(strength) => {
                let hann = |band: f32| 0.5 * (1.0 + (PI * band / 3.0).cos());
                let window = |band: f32| 1.0 + strength.clamp(0.0, 1.0) * (hann(band) - 1.0);
                (
                    [cosine[0], cosine[1] * window(1.0), cosine[2] * window(2.0)],
                    16.0 / 17.0,
                )
            }
        };
        let scale = if self.match_front { front } else { 1.0 };
        bands.map(|weight| weight * scale)
    }
}

/// The nine real orthonormal basis functions at a unit direction, in the file's order.
pub fn sh_basis(n: Vec3) -> [f32; 9] {
    const K0: f32 = 0.282_094_8;
    const K1: f32 = 0.488_602_52;
    const K2: f32 = 1.092_548_5;
    const K3: f32 = 0.315_391_57;
    const K4: f32 = 0.546_274_2;
    [
        K0,
        K1 * n.y,
        K1 * n.z,
        K1 * n.x,
        K2 * n.x * n.y,
        K2 * n.y * n.z,
        K3 * (3.0 * n.z * n.z - 1.0),
        K2 * n.x * n.z,
        K4 * (n.x * n.x - n.y * n.y),
    ]
}

/// Light on a surface of unit `normal`: Σ bandWeight · coefficient · basis(normal), byte units before overbright.
///
/// May be negative; clamp for display only. Has a twin of this name in WGSL.
pub fn evaluate_sh(coefficients: &ShPoint, normal: Vec3, band_weights: [f32; 3]) -> Vec3 {
    const BAND: [usize; 9] = [0, 1, 1, 1, 2, 2, 2, 2, 2];
    let basis = sh_basis(normal);
    (0..9).fold(Vec3::ZERO, |sum, i| {
        sum + Vec3::from(coefficients[i]) * (basis[i] * band_weights[BAND[i]])
    })
}

/// A sample of the SH grid.
#[derive(Clone, Debug, PartialEq)]
pub struct ShSample {
    /// The eight corners, skipped ones included.
    pub corners: [Corner; 8],
    /// Sum of the weights of used corners.
    pub weight: f32,
    /// Whether the position is outside the grid.
    pub outside: bool,
    /// Blended coefficients, renormalised; all zero when no corner is used.
    pub coefficients: ShPoint,
}

/// Samples the SH grid at a world position.
pub fn sample_sh(grid: &ShGrid, position: Vec3, rule: ShCorners) -> ShSample {
    let lattice = &grid.lattice;
    let last = lattice.position(lattice.counts - UVec3::ONE);
    let clamped = position.clamp(lattice.origin, last);
    let (mut corners, outside) = match rule {
        ShCorners::SkipSolid => {
            let (corners, _) = trilinear_corners(lattice, clamped);
            (corners, clamped != position)
        }
        ShCorners::Guide => guide_corners(grid, position),
    };
    let mut coefficients: ShPoint = [[0.0; 3]; 9];
    let mut weight = 0.0;
    for corner in &mut corners {
        if corner.verdict != Verdict::Used {
            continue;
        }
        let point = &grid.points[corner.index];
        corner.verdict = match rule {
            _ if !point.as_flattened().iter().all(|c| c.is_finite()) => Verdict::NotFinite,
            ShCorners::SkipSolid if point.as_flattened().iter().all(|c| *c == 0.0) => {
                Verdict::ZeroCoefficients
            }
            _ => Verdict::Used,
        };
        if corner.verdict != Verdict::Used {
            continue;
        }
        weight += corner.weight;
        for (sum, value) in coefficients
            .as_flattened_mut()
            .iter_mut()
            .zip(point.as_flattened())
        {
            *sum += value * corner.weight;
        }
    }
    if rule == ShCorners::SkipSolid && weight > 0.0 {
        for sum in coefficients.as_flattened_mut() {
            *sum /= weight;
        }
    }
    ShSample {
        corners,
        weight,
        outside,
        coefficients,
    }
}

/// The guide's corners: cells beyond an edge are moved onto it, so every corner counts.
fn guide_corners(grid: &ShGrid, position: Vec3) -> ([Corner; 8], bool) {
    let lattice = &grid.lattice;
    let in_cells = (position - lattice.origin) / lattice.cell_size;
    let in_cells = if in_cells.is_finite() {
        in_cells
    } else {
        Vec3::ZERO
    };
    let floor = in_cells.floor();
    let fraction = in_cells - floor;
    let last = lattice.counts.as_vec3() - 1.0;
    let outside = in_cells.cmplt(Vec3::ZERO).any() || in_cells.cmpgt(last).any();
    let corners = std::array::from_fn(|bits| {
        let step = Vec3::new(
            (bits & 1) as f32,
            (bits >> 1 & 1) as f32,
            (bits >> 2 & 1) as f32,
        );
        let cell = (floor + step).clamp(Vec3::ZERO, last).as_uvec3();
        let pick = step * fraction + (1.0 - step) * (1.0 - fraction);
        Corner {
            cell,
            index: lattice.index(cell),
            position: lattice.position(cell),
            weight: pick.x * pick.y * pick.z,
            verdict: Verdict::Used,
        }
    });
    (corners, outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::lattice::Lattice;

    /// Section 7.2 of the light compiler's specification: one light of strength 1 from +Z.
    #[test]
    fn one_light_gives_the_table_of_the_specification() {
        let direction = Vec3::new(0.36, -0.48, 0.8);
        let side = Vec3::new(0.8, 0.6, 0.0);
        let light: ShPoint = sh_basis(direction).map(|y| [y; 3]);
        let value = |evaluator, match_front, normal| {
            let profile = ShProfile {
                evaluator,
                match_front,
                ..ShProfile::default()
            };
            evaluate_sh(&light, normal, profile.band_weights()).x
        };
        for (evaluator, match_front, front, at_side, back) in [
            (ShEvaluator::Irradiance, false, 1.0625, 0.09375, 0.0625),
            (ShEvaluator::Irradiance, true, 1.0, 0.088_235, 0.058_824),
            (ShEvaluator::Direct, false, 0.716_197, -0.119_366, 0.238_732),
            (ShEvaluator::Direct, true, 1.0, -1.0 / 6.0, 1.0 / 3.0),
        ] {
            // One f32 formula: relative 1e-5 of the largest term, which is about 1.
            assert!((value(evaluator, match_front, direction) - front).abs() < 1e-5);
            assert!((value(evaluator, match_front, side) - at_side).abs() < 1e-5);
            assert!((value(evaluator, match_front, -direction) - back).abs() < 1e-5);
        }
    }

    #[test]
    fn solid_points_are_skipped_by_default_and_blended_by_the_guide() {
        let lattice = Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::splat(32.0),
            counts: UVec3::new(2, 1, 1),
        };
        let mut lit: ShPoint = [[0.0; 3]; 9];
        lit[0] = [8.0; 3];
        let grid = ShGrid {
            lattice,
            points: std::sync::Arc::new(vec![[[0.0; 3]; 9], lit]),
        };
        let middle = Vec3::new(16.0, 0.0, 0.0);
        let skipped = sample_sh(&grid, middle, ShCorners::SkipSolid);
        assert_eq!(skipped.corners[0].verdict, Verdict::ZeroCoefficients);
        assert!((skipped.coefficients[0][0] - 8.0).abs() < 1e-6);
        let guide = sample_sh(&grid, middle, ShCorners::Guide);
        assert!((guide.coefficients[0][0] - 4.0).abs() < 1e-6);
        let outside = sample_sh(&grid, Vec3::splat(900.0), ShCorners::SkipSolid);
        assert!(outside.outside && (outside.coefficients[0][0] - 8.0).abs() < 1e-6);
    }
}
