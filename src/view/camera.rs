use glam::{Mat4, Vec2, Vec3};

use crate::math::Ray;
use crate::scene::SpawnPoint;

/// Nearest distance drawn, game units; the engine's value.
const NEAR: f32 = 4.0;
/// Steepest look up or down, radians: short of vertical so that the heading stays defined.
const PITCH_LIMIT: f32 = 89.9 * std::f32::consts::PI / 180.0;

/// A view: eye, direction and width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Eye position, game units.
    pub eye: Vec3,
    /// Heading from +X towards +Y, radians.
    pub yaw: f32,
    /// Positive looks down, radians.
    pub pitch: f32,
    /// Horizontal field of view for the picture's own shape, radians.
    pub fov_x: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: Vec3::ZERO,
            yaw: 0.0,
            pitch: 0.0,
            fov_x: 95_f32.to_radians(),
        }
    }
}

impl Camera {
    /// The view from a spawn point, keeping the field of view.
    #[must_use]
    pub fn at(self, spawn: &SpawnPoint) -> Self {
        Self {
            eye: spawn.eye,
            yaw: spawn.yaw,
            pitch: spawn.pitch,
            ..self
        }
    }

    /// Unit vector of the view direction.
    pub fn forward(&self) -> Vec3 {
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        Vec3::new(cos_pitch * cos_yaw, cos_pitch * sin_yaw, -sin_pitch)
    }

    /// Unit vector to the right of the picture.
    pub fn right(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        Vec3::new(sin_yaw, -cos_yaw, 0.0)
    }

    /// Unit vector to the top of the picture.
    pub fn up(&self) -> Vec3 {
        self.right().cross(self.forward())
    }

    /// Horizontal field of view that keeps the 4:3 picture height of `fov_4_3` in a picture of another shape, radians.
    pub fn fov_x_for_aspect(fov_4_3: f32, aspect: f32) -> f32 {
        2.0 * ((fov_4_3 * 0.5).tan() * aspect / (4.0 / 3.0)).atan()
    }

    /// View matrix: camera looks along −Z, x right, y up.
    pub fn view_from_world(&self) -> Mat4 {
        glam::camera::rh::view::look_to_mat4(self.eye, self.forward(), self.up())
    }

    /// Projection with reversed depth (1 at the near plane, 4 units away; 0 at infinity); the one change of basis to clip space.
    pub fn clip_from_view(&self, aspect: f32) -> Mat4 {
        let fov_y = 2.0 * ((self.fov_x * 0.5).tan() / aspect).atan();
        glam::camera::rh::proj::directx::perspective_infinite_reverse(fov_y, aspect, NEAR)
    }

    /// Both together.
    pub fn clip_from_world(&self, aspect: f32) -> Mat4 {
        self.clip_from_view(aspect) * self.view_from_world()
    }

    /// The ray through a point of the picture: x from −1 (left) to 1, y from −1 (bottom) to 1.
    pub fn ray(&self, ndc: Vec2, aspect: f32) -> Ray {
        let half_width = (self.fov_x * 0.5).tan();
        let direction = self.forward()
            + self.right() * (ndc.x * half_width)
            + self.up() * (ndc.y * half_width / aspect);
        Ray::new(self.eye, direction)
    }

    /// Turns by radians, pitch limited short of vertical.
    pub fn turn(&mut self, yaw: f32, pitch: f32) {
        self.yaw = (self.yaw + yaw).rem_euclid(std::f32::consts::TAU);
        self.pitch = (self.pitch + pitch).clamp(-PITCH_LIMIT, PITCH_LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_follow_the_engine() {
        let camera = Camera::default();
        assert!(camera.forward().abs_diff_eq(Vec3::X, 1e-6));
        assert!(camera.right().abs_diff_eq(Vec3::NEG_Y, 1e-6));
        assert!(camera.up().abs_diff_eq(Vec3::Z, 1e-6));
        let down = Camera {
            pitch: 0.5,
            ..camera
        };
        assert!(down.forward().z < 0.0 && down.up().x > 0.0);
    }

    #[test]
    fn ray_and_projection_agree() {
        let camera = Camera {
            eye: Vec3::new(10.0, -20.0, 30.0),
            yaw: 1.1,
            pitch: -0.4,
            fov_x: 1.6,
        };
        let ndc = Vec2::new(0.3, -0.7);
        let point = camera.ray(ndc, 1.5).at(123.0);
        let projected = camera.clip_from_world(1.5).project_point3(point);
        assert!(projected.truncate().abs_diff_eq(ndc, 1e-4), "{projected}");
        assert!(projected.z > 0.0 && projected.z < 1.0);
    }

    #[test]
    fn wide_pictures_keep_the_height() {
        let fov = Camera::fov_x_for_aspect(90_f32.to_radians(), 16.0 / 9.0);
        assert!((fov.to_degrees() - 106.26).abs() < 0.01);
    }
}
