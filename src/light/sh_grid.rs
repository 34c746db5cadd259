use std::f32::consts::PI;

use glam::Vec3;

use crate::format::bsp::ShPoint;
use crate::light::contribute::Contribution;
use crate::light::settings::{BakeSettings, LightModel};
use crate::light::world::WorldKeys;

/// Constant of the first band, ½·√(1/π).
const K0: f32 = 0.282_094_8;
/// Constant of the second band, √(3/4π).
const K1: f32 = 0.488_602_52;
/// Constants of the third band: ½·√(15/π), ¼·√(5/π), ¼·√(15/π).
const K2: f32 = 1.092_548_4;
const K3: f32 = 0.315_391_57;
const K4: f32 = 0.546_274_24;

/// Light at one point of lump 18 while it is summed (section 7.1): each light is projected onto nine basis functions of its
/// direction.
///
/// Beyond the SH commit, ambient light, `_mingridlight` and the grid scale reach this grid too: as radiance from
/// everywhere, so that irradiance rises by exactly the ambient colour, and as a floor under the mean irradiance. The
/// ambient scale is the legacy grid's alone. Points in solid stay zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShSum {
    sum: [Vec3; 9],
}

impl ShSum {
    pub(super) fn add(&mut self, given: &Contribution, settings: &BakeSettings) {
        let is_corrected = settings.model == LightModel::Corrected;
        if is_corrected && given.style != 0 {
            return;
        }
        let basis = if is_corrected && given.direction == Vec3::ZERO {
            // From no direction: radiance from everywhere with the same mean.
            [K0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        } else {
            basis(given.direction)
        };
        self.project(given.colour, basis);
    }

    fn project(&mut self, colour: Vec3, basis: [f32; 9]) {
        for (coefficient, weight) in self.sum.iter_mut().zip(basis) {
            *coefficient += colour * weight;
        }
    }

    /// The record; `flood` is flood light from above and below.
    pub(super) fn finish(
        &mut self,
        flood: Option<[Vec3; 2]>,
        settings: &BakeSettings,
        world: &WorldKeys,
    ) -> ShPoint {
        for (light, direction) in flood.into_iter().flatten().zip([Vec3::Z, Vec3::NEG_Z]) {
            self.project(light, basis(direction));
        }
        finish(self.sum, world, settings.grid_scale)
    }
}

fn finish(mut sum: [Vec3; 9], world: &WorldKeys, scale: f32) -> ShPoint {
    // Radiance r from everywhere gives irradiance r·π·k0·c0 = r.
    let from_everywhere = 1.0 / (PI * K0);
    sum[0] += world.ambient * from_everywhere;
    if world.min_grid_light.max_element() > 0.0 {
        sum[0] = sum[0].max(world.min_grid_light * from_everywhere);
    }
    let scale = if scale > 0.0 { scale } else { 1.0 };
    sum.map(|coefficient| (coefficient * scale).to_array())
}

/// The basis functions in file order: 1, y, z, x, xy, yz, 3z²−1, xz, x²−y².
fn basis(direction: Vec3) -> [f32; 9] {
    let Vec3 { x, y, z } = direction;
    [
        K0,
        K1 * y,
        K1 * z,
        K1 * x,
        K2 * x * y,
        K2 * y * z,
        K3 * (3.0 * z * z - 1.0),
        K2 * x * z,
        K4 * (x * x - y * y),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::sampling::unit;

    fn random_direction(index: u64) -> Vec3 {
        let axis = |draw| unit(3, index, draw) - 0.5;
        Vec3::new(axis(0), axis(1), axis(2)).normalize_or_zero()
    }

    /// Section 14 item 7: what one light looks like evaluated directly and as irradiance, table 7.2.
    #[test]
    fn one_light_has_the_tabled_lobe() {
        for i in 0..100 {
            let (light, normal) = (random_direction(2 * i), random_direction(2 * i + 1));
            let x = f64::from(light.dot(normal));
            let products = basis(light)
                .into_iter()
                .zip(basis(normal))
                .map(|(a, b)| f64::from(a) * f64::from(b));
            let direct: f64 = products.clone().sum();
            let lobe = (1.0 + 3.0 * x + 2.5 * (3.0 * x * x - 1.0)) / (4.0 * std::f64::consts::PI);
            assert!((direct - lobe).abs() < 2e-6, "{direct} {lobe}");
            let bands = [PI, 2.0 * PI / 3.0, PI / 4.0];
            let band = [0, 1, 1, 1, 2, 2, 2, 2, 2];
            let irradiance: f64 = products
                .zip(band)
                .map(|(product, band)| product * f64::from(bands[band]))
                .sum();
            let exact = 3.0 / 32.0 + x / 2.0 + 15.0 / 32.0 * x * x;
            assert!((irradiance - exact).abs() < 4e-6, "{irradiance} {exact}");
        }
    }

    #[test]
    fn ambient_and_floor_are_irradiance_from_everywhere() {
        let world = WorldKeys {
            ambient: Vec3::new(10.0, 0.0, 2.0),
            min_grid_light: Vec3::new(4.0, 4.0, 0.0),
            max_light: 255.0,
            no_material_suns: false,
            keep_lights: false,
            flood: None,
        };
        let point = finish([Vec3::ZERO; 9], &world, 0.5);
        let irradiance = point[0].map(|c0| PI * K0 * c0);
        for (found, expected) in irradiance.into_iter().zip([5.0, 2.0, 1.0]) {
            assert!((found - expected).abs() < 1e-5);
        }
    }
}
