use glam::Vec3;

/// An axis-aligned box in game units, closed on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner.
    pub min: Vec3,
    /// Largest corner.
    pub max: Vec3,
}

impl Aabb {
    /// The box that holds nothing: any [`Aabb::extend`] makes it that point.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// The smallest box around `points`; [`Aabb::EMPTY`] for none.
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, Self::extend)
    }

    /// The smallest box around this one and `point`.
    #[must_use]
    pub fn extend(self, point: Vec3) -> Self {
        Self {
            min: self.min.min(point),
            max: self.max.max(point),
        }
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// This box grown by `margin` units on every side.
    #[must_use]
    pub fn grown(self, margin: f32) -> Self {
        Self {
            min: self.min - margin,
            max: self.max + margin,
        }
    }

    /// This box moved by `offset`.
    #[must_use]
    pub fn translated(self, offset: Vec3) -> Self {
        Self {
            min: self.min + offset,
            max: self.max + offset,
        }
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all())
    }

    /// Whether `point` is inside or on the surface; false for NaN.
    pub fn contains(&self, point: Vec3) -> bool {
        self.min.cmple(point).all() && point.cmple(self.max).all()
    }

    /// Whether the boxes share a point.
    pub fn intersects(&self, other: &Self) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// The middle; not finite for [`Aabb::EMPTY`].
    pub fn centre(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }

    /// Edge lengths, zero for an empty box.
    pub fn size(&self) -> Vec3 {
        (self.max - self.min).max(Vec3::ZERO)
    }

    /// The eight corners; bit 0 of the index picks x, bit 1 y, bit 2 z (set = maximum).
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            Vec3::new(
                if i & 1 == 0 { self.min.x } else { self.max.x },
                if i & 2 == 0 { self.min.y } else { self.max.y },
                if i & 4 == 0 { self.min.z } else { self.max.z },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_box_contains_nothing_and_grows_from_a_point() {
        assert!(Aabb::EMPTY.is_empty());
        assert!(!Aabb::EMPTY.contains(Vec3::ZERO));
        let one = Aabb::EMPTY.extend(Vec3::ONE);
        assert_eq!((one.min, one.max), (Vec3::ONE, Vec3::ONE));
        assert!(one.contains(Vec3::ONE) && !one.contains(Vec3::NAN));
    }

    #[test]
    fn corners_follow_the_bits() {
        let bounds = Aabb {
            min: Vec3::ZERO,
            max: Vec3::new(1.0, 2.0, 3.0),
        };
        assert_eq!(bounds.corners()[5], Vec3::new(1.0, 0.0, 3.0));
    }
}
