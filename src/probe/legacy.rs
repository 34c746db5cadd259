use glam::Vec3;

use crate::format::bsp::LightGridPoint;
use crate::format::lattice::Lattice;
use crate::math::colour::{Clamp, Overbright, shift, shift_bytes};
use crate::probe::corner::{Corner, Verdict, trilinear_corners};
use crate::probe::decode::decode_direction;
use crate::scene::LightGrid;

/// The engine's `r_ambientScale`.
const AMBIENT_SCALE: f32 = 0.6;
/// What the engine adds to the ambient term of every model (32 · identityLight with no overbright left).
const AMBIENT_ADD: f32 = 32.0;
/// Sum of used weights from which the engine leaves the blend alone.
const FULL_WEIGHT: f32 = 0.99;
/// Side of the box whose overlaps are the weights of [`LegacyProfile::Area`], game units.
const AREA_BOX: f32 = 64.0;

/// How the legacy grid is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LegacyProfile {
    /// As the game lights models: black corners skipped, weights renormalised, ambient × 0.6 + 32, clamped.
    #[default]
    Ioq3,
    /// Trilinear blend of the stored values, no engine factors, no skipping.
    Plain,
    /// The nearest grid point alone, no engine factors.
    Nearest,
    /// The light-volume article's: weights by the overlap of a 64 × 64 box in x and y, nearest in z; no engine factors.
    Area,
}

impl LegacyProfile {
    /// All profiles.
    pub const ALL: [Self; 4] = [Self::Ioq3, Self::Plain, Self::Nearest, Self::Area];

    /// Word on the command line and in lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ioq3 => "ioq3",
            Self::Plain => "plain",
            Self::Nearest => "nearest",
            Self::Area => "area",
        }
    }
}

/// Light on a model, byte units after overbright.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LegacyLight {
    /// From everywhere.
    pub ambient: Vec3,
    /// From `direction`.
    pub directed: Vec3,
    /// Unit vector towards the light; zero when there is none.
    pub direction: Vec3,
}

/// A sample of the legacy grid.
#[derive(Clone, Debug, PartialEq)]
pub struct LegacySample {
    /// The grid points that take part, skipped ones included.
    pub corners: Vec<Corner>,
    /// Sum of the weights of used corners.
    pub weight: f32,
    /// Whether the position is outside the grid.
    pub outside: bool,
    /// Blend of the used corners after overbright, renormalised, before engine factors.
    pub blended: LegacyLight,
    /// The same with the profile's factors: what models are lit by.
    pub light: LegacyLight,
}

/// Shades a surface of unit `normal`: ambient + directed · max(0, n·d), each channel at most 255.
///
/// Has a twin of this name in WGSL.
pub fn shade_legacy(light: &LegacyLight, normal: Vec3) -> Vec3 {
    let lambert = normal.dot(light.direction).max(0.0);
    (light.ambient + light.directed * lambert).min(Vec3::splat(255.0))
}

/// Light of one grid point by `profile`: what a sample exactly at that point gives.
pub fn node_legacy(
    point: &LightGridPoint,
    profile: LegacyProfile,
    overbright: Overbright,
) -> LegacyLight {
    let (ambient, directed) = shifted(*point, overbright);
    let skipped = profile == LegacyProfile::Ioq3 && point.ambient == [0; 3];
    let blended = if skipped {
        LegacyLight::default()
    } else {
        LegacyLight {
            ambient,
            directed,
            direction: decode_direction(point.zenith, point.azimuth).normalize_or_zero(),
        }
    };
    with_factors(&blended, profile)
}

/// Samples the legacy grid at a world position.
pub fn sample_legacy(
    grid: &LightGrid,
    position: Vec3,
    profile: LegacyProfile,
    overbright: Overbright,
) -> LegacySample {
    let (corners, outside) = match profile {
        LegacyProfile::Ioq3 | LegacyProfile::Plain => {
            let (corners, outside) = trilinear_corners(&grid.lattice, position);
            (corners.to_vec(), outside)
        }
        LegacyProfile::Nearest => nearest_corner(&grid.lattice, position),
        LegacyProfile::Area => area_corners(&grid.lattice, position),
    };
    let mut sample = LegacySample {
        corners,
        weight: 0.0,
        outside,
        blended: LegacyLight::default(),
        light: LegacyLight::default(),
    };
    let mut sum = LegacyLight::default();
    for corner in &mut sample.corners {
        if corner.verdict != Verdict::Used {
            continue;
        }
        let point = &grid.points[corner.index];
        if profile == LegacyProfile::Ioq3 && point.ambient == [0; 3] {
            corner.verdict = Verdict::ZeroAmbient;
            continue;
        }
        let (ambient, directed) = shifted(*point, overbright);
        sample.weight += corner.weight;
        sum.ambient += ambient * corner.weight;
        sum.directed += directed * corner.weight;
        sum.direction += decode_direction(point.zenith, point.azimuth) * corner.weight;
    }
    if sample.weight > 0.0 && sample.weight < FULL_WEIGHT {
        sum.ambient /= sample.weight;
        sum.directed /= sample.weight;
    }
    sum.direction = sum.direction.normalize_or_zero();
    sample.blended = sum;
    sample.light = with_factors(&sum, profile);
    sample
}

fn with_factors(light: &LegacyLight, profile: LegacyProfile) -> LegacyLight {
    match profile {
        LegacyProfile::Ioq3 => LegacyLight {
            ambient: (light.ambient * AMBIENT_SCALE + AMBIENT_ADD).min(Vec3::splat(255.0)),
            ..*light
        },
        LegacyProfile::Plain | LegacyProfile::Nearest | LegacyProfile::Area => *light,
    }
}

/// Ambient and directed after overbright: whole bytes for bits, as the engine has them.
fn shifted(point: LightGridPoint, overbright: Overbright) -> (Vec3, Vec3) {
    let shift_one = |rgb: [u8; 3]| match overbright {
        Overbright::Bits(bits) => Vec3::from(shift_bytes(rgb, bits).map(f32::from)),
        Overbright::Blog => shift(
            Vec3::from(rgb.map(f32::from)),
            overbright.factor(),
            Clamp::KeepHue,
        ),
    };
    (shift_one(point.ambient), shift_one(point.directed))
}

/// Position in cells, clamped into the grid, and whether it was outside. NaN counts as the origin.
fn clamped_cells(lattice: &Lattice, position: Vec3) -> (Vec3, bool) {
    let in_cells = (position - lattice.origin) / lattice.cell_size;
    let in_cells = if in_cells.is_nan() {
        Vec3::NEG_ONE
    } else {
        in_cells
    };
    let last = lattice.counts.as_vec3() - 1.0;
    let clamped = in_cells.clamp(Vec3::ZERO, last);
    (clamped, clamped != in_cells)
}

fn corner_at(lattice: &Lattice, cell: glam::UVec3, weight: f32) -> Corner {
    Corner {
        cell,
        index: lattice.index(cell),
        position: lattice.position(cell),
        weight,
        verdict: Verdict::Used,
    }
}

fn nearest_corner(lattice: &Lattice, position: Vec3) -> (Vec<Corner>, bool) {
    let (cells, outside) = clamped_cells(lattice, position);
    (
        vec![corner_at(lattice, cells.round().as_uvec3(), 1.0)],
        outside,
    )
}

/// The light volumes that a 64 × 64 box around the position touches, weighted by the share of the box inside each.
fn area_corners(lattice: &Lattice, position: Vec3) -> (Vec<Corner>, bool) {
    let (cells, outside) = clamped_cells(lattice, position);
    let z = cells.z.round() as u32;
    let axis_weights = |axis: usize| -> Vec<(u32, f32)> {
        let half_box = AREA_BOX * 0.5 / lattice.cell_size[axis];
        let last = lattice.counts[axis] - 1;
        let first = (cells[axis] - half_box).round().max(0.0) as u32;
        let end = ((cells[axis] + half_box).round().max(0.0) as u32).min(last);
        let overlap = |cell: u32| {
            let centre = cell as f32;
            // The outermost volumes reach on without end, so that a box at the edge has its full weight.
            let low = if cell == 0 {
                f32::NEG_INFINITY
            } else {
                centre - 0.5
            };
            let high = if cell == last {
                f32::INFINITY
            } else {
                centre + 0.5
            };
            let length = high.min(cells[axis] + half_box) - low.max(cells[axis] - half_box);
            (length / (2.0 * half_box)).max(0.0)
        };
        (first..=end)
            .map(|cell| (cell, overlap(cell)))
            .filter(|(_, weight)| *weight > 0.0)
            .collect()
    };
    let (along_x, along_y) = (axis_weights(0), axis_weights(1));
    let corners = along_y
        .iter()
        .flat_map(|(y, weight_y)| {
            along_x.iter().map(move |(x, weight_x)| {
                corner_at(lattice, glam::UVec3::new(*x, *y, z), weight_x * weight_y)
            })
        })
        .collect();
    (corners, outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::UVec3;

    fn grid() -> LightGrid {
        let lattice = Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::new(64.0, 64.0, 128.0),
            counts: UVec3::new(2, 2, 2),
        };
        let points = (0..8_u8)
            .map(|i| LightGridPoint {
                ambient: if i == 0 { [0; 3] } else { [10 * i, 5, 1] },
                directed: [20, i, 40],
                zenith: 32 * (i % 4),
                azimuth: 30 * i,
            })
            .collect();
        LightGrid { lattice, points }
    }

    #[test]
    fn a_node_sample_equals_the_node() {
        let grid = grid();
        for profile in LegacyProfile::ALL {
            for index in 0..8 {
                let position = grid.lattice.position_of(index);
                let sample = sample_legacy(&grid, position, profile, Overbright::ENGINE);
                let node = node_legacy(&grid.points[index], profile, Overbright::ENGINE);
                assert!(
                    sample.light.ambient.abs_diff_eq(node.ambient, 1e-4),
                    "{profile:?} {index}"
                );
                assert!(sample.light.directed.abs_diff_eq(node.directed, 1e-4));
                assert!(sample.light.direction.abs_diff_eq(node.direction, 1e-6));
            }
        }
    }

    #[test]
    fn grid_point_in_solid_is_skipped_and_the_rest_renormalised() {
        let grid = grid();
        let sample = sample_legacy(
            &grid,
            Vec3::new(16.0, 0.0, 0.0),
            LegacyProfile::Ioq3,
            Overbright::Bits(0),
        );
        assert_eq!(sample.corners[0].verdict, Verdict::ZeroAmbient);
        assert!((sample.weight - 0.25).abs() < 1e-6);
        assert!((sample.blended.ambient.x - 10.0).abs() < 1e-5);
        assert!((sample.light.ambient.x - (10.0 * 0.6 + 32.0)).abs() < 1e-4);
    }

    #[test]
    fn area_weights_are_bilinear_for_cells_of_the_box_size() {
        let grid = grid();
        let position = Vec3::new(16.0, 48.0, 10.0);
        let area = sample_legacy(&grid, position, LegacyProfile::Area, Overbright::Bits(0));
        assert_eq!(area.corners.len(), 4);
        let plain = sample_legacy(
            &grid,
            Vec3::new(16.0, 48.0, 0.0),
            LegacyProfile::Plain,
            Overbright::Bits(0),
        );
        assert!(area.light.directed.abs_diff_eq(plain.light.directed, 1e-4));
        let nearest = sample_legacy(&grid, position, LegacyProfile::Nearest, Overbright::Bits(0));
        assert_eq!(nearest.corners[0].cell, UVec3::new(0, 1, 0));
    }

    #[test]
    fn shading_saturates_each_channel() {
        let light = LegacyLight {
            ambient: Vec3::new(100.0, 0.0, 0.0),
            directed: Vec3::new(200.0, 50.0, 0.0),
            direction: Vec3::Z,
        };
        assert_eq!(shade_legacy(&light, Vec3::Z), Vec3::new(255.0, 50.0, 0.0));
        assert_eq!(shade_legacy(&light, Vec3::NEG_Z), light.ambient);
    }
}
