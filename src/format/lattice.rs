//! Placement of grid points in the world.

use glam::{UVec3, Vec3};

use crate::math::Aabb;

/// Points on a regular grid: `origin + (x, y, z) · cell_size` for `x < counts.x` and so on.
///
/// Order everywhere: x fastest, then y, then z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Position of point (0, 0, 0), game units.
    pub origin: Vec3,
    /// Distance between neighbours along each axis, game units, positive and finite.
    pub cell_size: Vec3,
    /// Points along each axis, at least 1.
    pub counts: UVec3,
}

/// Points along one axis at most; keeps products of three inside 64 bits.
const COUNT_LIMIT: f32 = 1_048_576.0;

impl Lattice {
    /// The lattice that fits into `bounds`, by the engine's rule with every step rounded to `f32`.
    ///
    /// origin = size·⌈min/size⌉, top = size·⌊max/size⌋, count = trunc((top − origin)/size + 1). `None` when a bound or size
    /// is not finite, a size is not positive, or a count is below 1 or above 2²⁰.
    pub fn from_bounds(bounds: &Aabb, cell_size: Vec3) -> Option<Self> {
        let origin = cell_size * (bounds.min / cell_size).ceil();
        let top = cell_size * (bounds.max / cell_size).floor();
        let counts = ((top - origin) / cell_size + 1.0).trunc();
        let sound = cell_size.cmpgt(Vec3::ZERO).all()
            && origin.is_finite()
            && counts.is_finite()
            && counts.cmpge(Vec3::ONE).all()
            && counts.cmple(Vec3::splat(COUNT_LIMIT)).all();
        sound.then(|| Self {
            origin,
            cell_size,
            counts: counts.as_uvec3(),
        })
    }

    /// Number of points.
    pub fn len(&self) -> u64 {
        u64::from(self.counts.x) * u64::from(self.counts.y) * u64::from(self.counts.z)
    }

    /// Whether there are no points; never true for a lattice from [`Lattice::from_bounds`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the point at `cell`, which must be below `counts`.
    pub fn index(&self, cell: UVec3) -> usize {
        let x = u64::from(cell.x);
        let y = u64::from(cell.y) * u64::from(self.counts.x);
        let z = u64::from(cell.z) * u64::from(self.counts.x) * u64::from(self.counts.y);
        usize::try_from(x + y + z).unwrap_or(usize::MAX)
    }

    /// Grid coordinates of point number `index`.
    pub fn cell(&self, index: usize) -> UVec3 {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        let row = u64::from(self.counts.x.max(1));
        let column = u64::from(self.counts.y.max(1));
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        UVec3::new(
            narrow(index % row),
            narrow(index / row % column),
            narrow(index / row / column),
        )
    }

    /// World position of the point at `cell`.
    pub fn position(&self, cell: UVec3) -> Vec3 {
        self.origin + cell.as_vec3() * self.cell_size
    }

    /// World position of point number `index`.
    pub fn position_of(&self, index: usize) -> Vec3 {
        self.position(self.cell(index))
    }

    /// Box around all points.
    pub fn bounds(&self) -> Aabb {
        Aabb {
            min: self.origin,
            max: self.position(self.counts.saturating_sub(UVec3::ONE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 14 item 5 of the light compiler's specification.
    #[test]
    fn bounds_of_100_hold_three_points_of_64() {
        let bounds = Aabb {
            min: Vec3::splat(-100.0),
            max: Vec3::splat(100.0),
        };
        let lattice = Lattice::from_bounds(&bounds, Vec3::splat(64.0)).unwrap();
        assert_eq!(lattice.origin, Vec3::splat(-64.0));
        assert_eq!(lattice.counts, UVec3::splat(3));
        assert_eq!(lattice.bounds().max, Vec3::splat(64.0));
    }

    #[test]
    fn index_and_cell_are_inverse() {
        let lattice = Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::ONE,
            counts: UVec3::new(3, 4, 5),
        };
        for index in 0..60 {
            assert_eq!(lattice.index(lattice.cell(index)), index);
        }
        assert_eq!(lattice.cell(1), UVec3::new(1, 0, 0));
        assert_eq!(lattice.cell(3), UVec3::new(0, 1, 0));
    }

    #[test]
    fn unsound_bounds_have_no_lattice() {
        let fine = Aabb {
            min: Vec3::ZERO,
            max: Vec3::ONE,
        };
        for (bounds, size) in [
            (fine, Vec3::ZERO),
            (fine, Vec3::NAN),
            (fine, Vec3::splat(-1.0)),
            (fine, Vec3::splat(1e-30)),
            (Aabb::EMPTY, Vec3::ONE),
            (
                Aabb {
                    min: Vec3::ONE,
                    max: Vec3::NEG_ONE * 9.0,
                },
                Vec3::ONE,
            ),
            (
                Aabb {
                    min: Vec3::splat(-1e30),
                    max: Vec3::splat(1e30),
                },
                Vec3::ONE,
            ),
        ] {
            assert_eq!(
                Lattice::from_bounds(&bounds, size),
                None,
                "{bounds:?} {size}"
            );
        }
    }
}
