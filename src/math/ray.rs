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

    /// The segment from `from` to `to`; without a direction where they are one.
    ///
    /// Normalised in double precision, as the reference compiler does: the last bit decides whether a segment that ends in
    /// the plane of a triangle meets it.
    pub fn segment(from: Vec3, to: Vec3) -> Self {
        let offset = to - from;
        let length = f64::from(offset.length_squared()).sqrt();
        let direction = if length > 0.0 {
            (offset.as_dvec3() / length).as_vec3()
        } else {
            Vec3::ZERO
        };
        Self {
            origin: from,
            direction,
            t_min: 0.0,
            t_max: length as f32,
        }
    }

    /// The point at distance `t`.
    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + self.direction * t
    }
}
