use glam::Vec3;

/// A plane `normal · p = dist`; the front is where the signed distance is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal in a sound file; not checked.
    pub normal: Vec3,
    /// Distance from the origin along the normal, game units.
    pub dist: f32,
}

impl Plane {
    /// Signed distance of `point`, positive in front.
    pub fn distance(&self, point: Vec3) -> f32 {
        self.normal.dot(point) - self.dist
    }
}
