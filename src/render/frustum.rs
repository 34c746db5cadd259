use glam::{Mat4, Vec3, Vec4, Vec4Swizzles as _};

use crate::math::Aabb;

/// The sides of a picture and its near plane.
#[derive(Clone, Copy)]
pub(super) struct Frustum {
    /// Inwards; their vectors have unit length.
    planes: [Vec4; 5],
}

/// What a box is to the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Outside,
    Across,
    Inside,
}

impl Frustum {
    /// From −w ≤ x, y ≤ w and z ≤ w.
    pub(super) fn new(clip_from_world: &Mat4) -> Self {
        let row = |number| clip_from_world.row(number);
        let w = row(3);
        Self {
            planes: [w + row(0), w - row(0), w + row(1), w - row(1), w - row(2)]
                .map(|plane| plane / plane.xyz().length().max(f32::MIN_POSITIVE)),
        }
    }

    /// Where a box lies that reaches `margin` farther on all sides.
    pub(super) fn place(&self, bounds: &Aabb, margin: f32) -> Place {
        let (centre, half) = (bounds.centre(), bounds.size() * 0.5);
        let mut place = Place::Inside;
        for plane in &self.planes {
            let distance = plane.dot(centre.extend(1.0));
            let reach = plane.xyz().abs().dot(half);
            if distance + reach < -margin {
                return Place::Outside;
            }
            if distance - reach < -margin {
                place = Place::Across;
            }
        }
        place
    }

    /// Whether a ball reaches into the picture.
    pub(super) fn meets_ball(&self, centre: Vec3, radius: f32) -> bool {
        let point = centre.extend(1.0);
        self.planes.iter().all(|plane| plane.dot(point) >= -radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Camera;

    #[test]
    fn boxes_are_inside_across_or_outside() {
        // Looking along +X, 90 degrees wide and high.
        let camera = Camera {
            fov_x: 90_f32.to_radians(),
            ..Camera::default()
        };
        let frustum = Frustum::new(&camera.clip_from_world(1.0));
        let place = |x: f32, y: f32, half: f32| {
            let centre = Vec3::new(x, y, 0.0);
            let bounds = Aabb {
                min: centre - half,
                max: centre + half,
            };
            frustum.place(&bounds, 0.0)
        };
        assert_eq!(place(100.0, 0.0, 10.0), Place::Inside);
        assert_eq!(place(100.0, 100.0, 10.0), Place::Across);
        assert_eq!(place(100.0, 130.0, 10.0), Place::Outside);
        assert_eq!(place(100.0, -130.0, 10.0), Place::Outside);
        assert_eq!(place(-20.0, 0.0, 10.0), Place::Outside);
        assert_eq!(place(1e6, 0.0, 10.0), Place::Inside, "nothing is too far");
        assert!(frustum.meets_ball(Vec3::new(100.0, 110.0, 0.0), 10.0));
        assert!(!frustum.meets_ball(Vec3::new(100.0, 120.0, 0.0), 10.0));
    }
}
