use clap::Args;

use crate::cli::values::{self, View};
use crate::scene::Scene;
use crate::view::Camera;

/// Field of view that a picture of another shape keeps the height of, degrees at 4:3.
const FOV_4_3: f32 = 90.0;

/// From where and how wide a picture is taken.
#[derive(Args, Debug)]
pub(crate) struct CameraArgs {
    /// Eye (not origin) in game units, heading and pitch in degrees, positive pitch looks down [default: the first spawn]
    #[arg(long, value_name = "X,Y,Z,YAW,PITCH", value_parser = values::view, allow_hyphen_values = true)]
    pub(crate) view: Option<View>,
    /// Size of the picture, pixels
    #[arg(long, value_name = "WxH", value_parser = values::size, default_value = "1280x720")]
    pub(crate) size: (u32, u32),
    /// Horizontal field of view for that size, degrees [default: what keeps the height of 90 degrees at 4:3]
    #[arg(long, value_name = "F", value_parser = values::field_of_view)]
    pub(crate) fov: Option<f32>,
}

impl CameraArgs {
    /// Width over height.
    pub(crate) fn aspect(&self) -> f32 {
        let (width, height) = self.size;
        width as f32 / height as f32
    }

    /// The view asked for, else the first spawn, else the middle of the map.
    pub(crate) fn camera(&self, scene: &Scene) -> Camera {
        let fov_x = match self.fov {
            Some(degrees) => degrees.to_radians(),
            None => Camera::fov_x_for_aspect(FOV_4_3.to_radians(), self.aspect()),
        };
        let camera = Camera {
            fov_x,
            eye: scene.bounds.centre(),
            ..Camera::default()
        };
        match (self.view, scene.spawns.first()) {
            (Some(view), _) => Camera {
                eye: view.eye,
                yaw: view.yaw.to_radians(),
                pitch: view.pitch.to_radians(),
                ..camera
            },
            (None, Some(spawn)) => camera.at(spawn),
            (None, None) => camera,
        }
    }
}
