use glam::{UVec3, Vec3};

use crate::format::lattice::Lattice;

/// What became of a grid point that takes part in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Blended.
    Used,
    /// Beyond the far edge of the grid: dropped.
    OutsideGrid,
    /// Ambient is black: the engine takes it for a point in a wall.
    ZeroAmbient,
    /// All coefficients are zero: in solid, or unlit.
    ZeroCoefficients,
    /// A coefficient is not finite: a damaged file.
    NotFinite,
}

impl Verdict {
    /// Stable word for JSON and lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::OutsideGrid => "outside grid",
            Self::ZeroAmbient => "zero ambient",
            Self::ZeroCoefficients => "zero coefficients",
            Self::NotFinite => "not finite",
        }
    }
}

/// A grid point that takes part in a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// Grid coordinates.
    pub cell: UVec3,
    /// Index into the grid's points; only meaningful unless outside the grid.
    pub index: usize,
    /// World position.
    pub position: Vec3,
    /// Weight before skipping and renormalising, 0 to 1.
    pub weight: f32,
    /// Whether it is used, else why not.
    pub verdict: Verdict,
}

/// The eight corners around `position` in the order of their bits (bit 0 x, bit 1 y, bit 2 z), and whether the position is
/// outside the grid.
///
/// As the engine does it: cell = ⌊(P − origin)·(1/size)⌋, fraction = rest, then the cell (not the fraction) is clamped into the
/// grid; corners beyond the far edge are [`Verdict::OutsideGrid`]. Outside the grid the result therefore repeats with the
/// cell. A position that is not finite counts as the origin, outside.
pub fn trilinear_corners(lattice: &Lattice, position: Vec3) -> ([Corner; 8], bool) {
    let in_cells = (position - lattice.origin) * (Vec3::ONE / lattice.cell_size);
    let finite = in_cells.is_finite();
    let in_cells = if finite { in_cells } else { Vec3::ZERO };
    let floor = in_cells.floor();
    let fraction = in_cells - floor;
    let last = lattice.counts.as_vec3() - 1.0;
    let outside = !finite || in_cells.cmplt(Vec3::ZERO).any() || in_cells.cmpgt(last).any();
    let base = floor.clamp(Vec3::ZERO, last).as_uvec3();
    let corners = std::array::from_fn(|bits| {
        let step = UVec3::new(bits as u32 & 1, bits as u32 >> 1 & 1, bits as u32 >> 2 & 1);
        let cell = base + step;
        let pick = |axis: usize| {
            if step[axis] == 1 {
                fraction[axis]
            } else {
                1.0 - fraction[axis]
            }
        };
        let inside = cell.cmplt(lattice.counts).all();
        Corner {
            cell,
            index: if inside { lattice.index(cell) } else { 0 },
            position: lattice.position(cell),
            weight: pick(0) * pick(1) * pick(2),
            verdict: if inside {
                Verdict::Used
            } else {
                Verdict::OutsideGrid
            },
        }
    });
    (corners, outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice() -> Lattice {
        Lattice {
            origin: Vec3::new(-64.0, 0.0, 0.0),
            cell_size: Vec3::new(64.0, 64.0, 128.0),
            counts: UVec3::new(3, 2, 2),
        }
    }

    #[test]
    fn weights_sum_to_one_and_a_node_takes_all() {
        let (corners, outside) = trilinear_corners(&lattice(), Vec3::new(-20.0, 16.0, 100.0));
        assert!(!outside);
        let sum: f32 = corners.iter().map(|corner| corner.weight).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        let (corners, _) = trilinear_corners(&lattice(), Vec3::new(0.0, 64.0, 128.0));
        assert!((corners[0].weight - 1.0).abs() < 1e-6);
        assert_eq!(corners[0].cell, UVec3::ONE);
        assert_eq!(corners[2].verdict, Verdict::OutsideGrid);
    }

    #[test]
    fn outside_keeps_the_fraction() {
        let (corners, outside) = trilinear_corners(&lattice(), Vec3::new(-80.0, 0.0, 0.0));
        assert!(outside);
        assert!((corners[1].weight - 0.75).abs() < 1e-6);
        let (corners, outside) = trilinear_corners(&lattice(), Vec3::NAN);
        assert!(outside && corners[0].weight > 0.99);
    }
}
