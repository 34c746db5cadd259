use glam::Vec3;

use crate::format::entities::{Entity, numbers};
use crate::light::contribute::Sample;
use crate::light::lights::normalise_colour;
use crate::light::settings::BakeSettings;
use crate::light::tracer::{TraceState, Tracer};

/// Directions around the normal.
const AZIMUTHS: u32 = 16;
/// Rows of directions by their angle to the normal, degrees.
const ANGLES_DEGREES: [f32; 4] = [11.0, 33.0, 55.0, 77.0];
/// Triangles nearer than this do not count, game units.
const INHIBIT: f32 = 1.5;

/// Light from all directions that are open for some way (section 8.8 of the compiler's specification).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloodLight {
    /// Largest component 1.
    pub colour: Vec3,
    /// How far a direction must be open to count in full, game units.
    pub distance: f32,
    /// Byte units where every direction is open.
    pub intensity: f32,
}

impl Default for FloodLight {
    fn default() -> Self {
        Self {
            colour: Vec3::new(0.94, 0.94, 1.0),
            distance: 1024.0,
            intensity: 128.0,
        }
    }
}

impl FloodLight {
    /// Worldspawn's `_floodlight "r g b distance intensity"`, with the defaults for what is zero or too small; without the
    /// key what `-floodlight` says.
    pub(super) fn of_world(world: &Entity, settings: &BakeSettings) -> Option<Self> {
        let Some(text) = world.get("_floodlight") else {
            return settings.floodlight.then(Self::default);
        };
        let given = numbers(text);
        let number = |at: usize| given.get(at).copied().unwrap_or(0.0);
        let or_default = |value: f32, default: f32| if value < 1.0 { default } else { value };
        let default = Self::default();
        let colour = Vec3::new(number(0), number(1), number(2));
        let colour = if colour == Vec3::ZERO {
            default.colour
        } else {
            colour
        };
        Some(Self {
            colour: normalise_colour(settings.linear_colour(colour)),
            distance: or_default(number(3), default.distance),
            intensity: or_default(number(4), default.intensity),
        })
    }

    /// Light of the hemispheres above and below a grid point.
    pub(super) fn light_at(
        &self,
        sample: &Sample,
        tracer: &Tracer<'_>,
        state: &mut TraceState,
    ) -> [Vec3; 2] {
        [Vec3::Z, Vec3::NEG_Z].map(|normal| {
            let sum: f32 = directions(normal)
                .map(|direction| {
                    tracer.open_share(sample.position, direction, self.distance, INHIBIT, state)
                })
                .sum();
            let count = AZIMUTHS as f32 * ANGLES_DEGREES.len() as f32;
            self.colour * (self.intensity * sum / count)
        })
    }
}

/// Evenly spaced around a normal that is ±Z.
fn directions(normal: Vec3) -> impl Iterator<Item = Vec3> {
    let right = Vec3::X * normal.z;
    (0..AZIMUTHS).flat_map(move |step| {
        let turn = std::f32::consts::TAU * step as f32 / AZIMUTHS as f32;
        let across = right * turn.cos() + Vec3::Y * turn.sin();
        ANGLES_DEGREES.into_iter().map(move |angle| {
            let (sin, cos) = angle.to_radians().sin_cos();
            across * sin + normal * cos
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::entities::Entities;

    fn of(text: &str, settings: &BakeSettings) -> Option<FloodLight> {
        let entities = Entities::parse(text.as_bytes());
        FloodLight::of_world(entities.worldspawn().unwrap(), settings)
    }

    #[test]
    fn key_and_flag_turn_it_on() {
        let plain = BakeSettings::default();
        assert_eq!(of("{ classname worldspawn }", &plain), None);
        let flagged = BakeSettings {
            floodlight: true,
            ..plain.clone()
        };
        let default = Some(FloodLight::default());
        assert_eq!(of("{ classname worldspawn }", &flagged), default);
        let found = of("{ _floodlight \"0 0 0 0 0.5 1\" }", &plain);
        assert_eq!(found, default);
        let found = of("{ _floodlight \"1 2 4 512 30\" }", &plain).unwrap();
        assert_eq!(found.colour, Vec3::new(0.25, 0.5, 1.0));
        assert!((found.distance - 512.0).abs() < 1e-6 && (found.intensity - 30.0).abs() < 1e-6);
    }

    #[test]
    fn directions_surround_the_normal() {
        for normal in [Vec3::Z, Vec3::NEG_Z] {
            let all: Vec<Vec3> = directions(normal).collect();
            assert_eq!(all.len(), 64);
            let sum: Vec3 = all.iter().sum();
            assert!(sum.truncate().length() < 1e-3);
            // Mean cosine of the four rows.
            assert!((sum.dot(normal) / 64.0 - 0.654_8).abs() < 1e-3);
            assert!(all.iter().all(|d| (d.length() - 1.0).abs() < 1e-5));
        }
    }
}
