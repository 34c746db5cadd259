use glam::Vec3;

/// A ray or segment: the points `origin + t · direction` for `t_min ≤ t ≤ t_max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where `t` is 0.
    pub origin: Vec3,
    /// Unit direction.
    pub direction: Vec3,
    /// Nearest accepted distance, game units.
    pub t_min: f32,
    /// Farthest accepted distance, game units; may be infinite.
    pub t_max: f32,
}

impl Ray {
    /// The endless ray from `origin` along `direction`, which is normalised here; a zero direction stays zero.
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        Self {
            origin,
            direction: direction.normalize_or_zero(),
            t_min: 0.0,
            t_max: f32::INFINITY,
        }
    }

    /// The segment from `from` to `to`.
    pub fn segment(from: Vec3, to: Vec3) -> Self {
        let (direction, length) = (to - from).normalize_and_length();
        Self {
            origin: from,
            direction: if length > 0.0 { direction } else { Vec3::ZERO },
            t_min: 0.0,
            t_max: length,
        }
    }

    /// The point at distance `t`.
    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + self.direction * t
    }
}
