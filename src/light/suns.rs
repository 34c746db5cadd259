use std::f32::consts::PI;

use glam::Vec3;

use crate::format::material_script::{LightDirectives, SkyLight, SunDirective};
use crate::light::lights::{Emission, FastCut, INFINITY, Light, LightList, normalise_colour};
use crate::light::settings::BakeSettings;
use crate::light::sky_box::SkyBox;
use crate::math::{Aabb, CRandom};

/// Elevation steps beyond this are not made: 128 are 65 000 suns already.
const ITERATIONS_MAX: u32 = 128;

/// A sun before it is split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sun {
    /// Unit direction towards it.
    pub direction: Vec3,
    /// Multiplies each channel.
    pub colour: Vec3,
    /// Byte units.
    pub photons: f32,
    /// Angular radius of the jitter, radians.
    pub deviance: f32,
    /// Lights it is split into, at least 1.
    pub samples: u32,
    /// Light style.
    pub style: u8,
    /// Which sky lets it in; `None` is any.
    pub sky: Option<u8>,
    /// Whether it is one of the lights of a sky.
    pub from_sky: bool,
}

/// Splits a sun into lights: the first in its own direction, the others within a disc of azimuth and elevation (section
/// 2.4).
pub(crate) fn push_sun(list: &mut LightList, sun: &Sun, settings: &BakeSettings) {
    let samples = sun.samples.max(1);
    let azimuth = sun.direction.y.atan2(sun.direction.x);
    let elevation = sun.direction.z.clamp(-1.0, 1.0).asin();
    for sample in 0..samples {
        let direction = if sample == 0 {
            sun.direction
        } else {
            let (da, de) = disc(&mut list.random);
            on_sphere(azimuth + da * sun.deviance, elevation + de * sun.deviance)
        };
        let photons = sun.photons / samples as f32 * settings.sky_scale;
        list.lights.push(Light {
            emission: Emission::Sun {
                from_sky: sun.from_sky,
            },
            normal: -direction,
            style: if settings.no_styles { 0 } else { sun.style },
            sky: sun.sky,
            fast: FastCut::Never,
            bounds: Aabb::EMPTY,
            ..Light::point(direction * INFINITY, sun.colour, photons)
        });
    }
}

/// A uniform point of the unit disc, by rejection from the square around it.
fn disc(random: &mut CRandom) -> (f32, f32) {
    let mut draw = || 2.0 * random.unit() - 1.0;
    loop {
        let (x, y) = (draw(), draw());
        if x * x + y * y <= 1.0 {
            return (x, y);
        }
    }
}

/// Radians, rounded as the reference compiler does: where suns cancel out, the last bit decides about the direction that is
/// left.
fn radians(degrees: f32) -> f32 {
    degrees / 180.0 * PI
}

/// Azimuth from +X towards +Y and elevation above the horizon, radians.
fn on_sphere(azimuth: f32, elevation: f32) -> Vec3 {
    let (sin_a, cos_a) = f64::from(azimuth).sin_cos();
    let (sin_e, cos_e) = f64::from(elevation).sin_cos();
    Vec3::new((cos_a * cos_e) as f32, (sin_a * cos_e) as f32, sin_e as f32)
}

/// Everything that a sky material sends.
#[derive(Debug)]
pub(crate) struct Sky<'a> {
    /// Its directives.
    pub directives: &'a LightDirectives,
    /// Colour of sky lights without sky box images, largest component 1.
    pub colour: Vec3,
    /// The six images, when they are to be had.
    pub images: Option<SkyBox>,
    /// Number among the skies; `None` lets its lights in anywhere.
    pub index: Option<u8>,
}

impl Sky<'_> {
    /// Makes the material's suns.
    pub(super) fn push_suns(&self, list: &mut LightList, settings: &BakeSettings) {
        for sun in &self.directives.suns {
            push_sun(list, &self.sun(sun, settings), settings);
        }
    }

    fn sun(&self, sun: &SunDirective, settings: &BakeSettings) -> Sun {
        Sun {
            direction: on_sphere(radians(sun.azimuth_degrees), radians(sun.elevation_degrees)),
            colour: normalise_colour(settings.linear_colour(sun.colour)),
            photons: sun.intensity,
            deviance: sun.deviance_degrees.to_radians(),
            samples: sun.samples,
            style: sun.style,
            sky: self.index,
            from_sky: false,
        }
    }

    /// Makes the material's sky lights (section 2.5).
    pub(super) fn push_sky_lights(&self, list: &mut LightList, settings: &BakeSettings) {
        for sky_light in &self.directives.sky_lights {
            let is_lit = sky_light.value > 0.0
                && sky_light.horizon_min_degrees <= sky_light.horizon_max_degrees;
            if !is_lit {
                continue;
            }
            let directions = directions(sky_light);
            let span = sky_light.horizon_max_degrees - sky_light.horizon_min_degrees;
            let photons = sky_light.value / directions.len() as f32 * (span / 90.0).max(0.25);
            let colours = self.colours(sky_light, &directions);
            for (direction, colour) in directions.into_iter().zip(colours) {
                let sun = Sun {
                    direction,
                    colour,
                    photons,
                    deviance: 0.0,
                    samples: 1,
                    style: self.directives.style,
                    sky: self.index,
                    from_sky: true,
                };
                push_sun(list, &sun, settings);
            }
        }
    }

    /// Sky box colours override the material's; the brightest channel over all directions is 1.
    fn colours(&self, sky_light: &SkyLight, directions: &[Vec3]) -> Vec<Vec3> {
        let Some(images) = self.images.as_ref().filter(|_| sky_light.sample_images) else {
            return vec![self.colour; directions.len()];
        };
        let limit = if sky_light.horizon_min_degrees >= 0.0 {
            Some(Vec3::Z)
        } else if sky_light.horizon_max_degrees <= 0.0 {
            Some(Vec3::NEG_Z)
        } else {
            None
        };
        let colours: Vec<Vec3> = directions
            .iter()
            .map(|direction| images.light_from(*direction, limit))
            .collect();
        let max = colours
            .iter()
            .fold(0.0_f32, |max, colour| max.max(colour.max_element()));
        let scale = if max > 0.0 { 1.0 / max } else { 1.0 };
        colours.into_iter().map(|colour| colour * scale).collect()
    }
}

/// Directions of a sky light's suns: rows of equal elevation, then straight up and down where the horizon allows.
fn directions(sky_light: &SkyLight) -> Vec<Vec3> {
    let iterations = sky_light.iterations.clamp(2, ITERATIONS_MAX);
    let (low, high) = (sky_light.horizon_min_degrees, sky_light.horizon_max_degrees);
    let step = 90.0 / iterations as f32;
    let columns = 4 * (iterations - 1);
    let (has_bottom, has_top) = (low <= -90.0, high >= 90.0);
    let first = if has_bottom {
        -90.0 + 1.5 * step
    } else {
        low + 0.5 * step
    };
    let last = if has_top {
        90.0 - 1.5 * step
    } else {
        high - 0.5 * step
    };
    let rows = (1.0 + ((last - first) / step).max(0.0)).round() as u32;
    let turn = 360.0 / columns as f32;
    let mut found = Vec::new();
    let (mut elevation, mut azimuth) = (first.min(high), 0.0_f32);
    for _ in 0..rows {
        for _ in 0..columns {
            found.push(on_sphere(radians(azimuth), radians(elevation)));
            azimuth += turn;
        }
        azimuth += turn / rows as f32;
        elevation += step;
    }
    found.extend(has_bottom.then_some(Vec3::NEG_Z));
    found.extend(has_top.then_some(Vec3::Z));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sky_light(iterations: u32, low: f32, high: f32) -> SkyLight {
        SkyLight {
            value: 100.0,
            iterations,
            horizon_min_degrees: low,
            horizon_max_degrees: high,
            sample_images: true,
        }
    }

    /// Section 14 item 3.
    #[test]
    fn three_iterations_make_17_suns_that_share_the_value() {
        let directives = LightDirectives {
            sky_lights: vec![sky_light(3, 0.0, 90.0)],
            ..LightDirectives::default()
        };
        let sky = Sky {
            directives: &directives,
            colour: Vec3::ONE,
            images: None,
            index: Some(0),
        };
        let mut list = LightList::new(0);
        sky.push_sky_lights(&mut list, &BakeSettings::default());
        assert_eq!(list.lights.len(), 17);
        for light in &list.lights {
            assert!((light.photons - 5.8824).abs() < 1e-4);
        }
        let mut elevations: Vec<i32> = list
            .lights
            .iter()
            .map(|light| (-light.normal.z).asin().to_degrees().round() as i32)
            .collect();
        elevations.dedup();
        assert_eq!(elevations, [15, 45, 90]);
        assert_eq!(directions(&sky_light(4, 0.0, 90.0)).len(), 37);
    }

    #[test]
    fn whole_sphere_has_both_poles() {
        let found = directions(&sky_light(2, -90.0, 90.0));
        assert!(found.contains(&Vec3::Z) && found.contains(&Vec3::NEG_Z));
        let sum: Vec3 = found.iter().sum();
        assert!(sum.length() < 1e-3, "{sum}");
    }

    #[test]
    fn split_suns_stay_within_the_deviance() {
        let sun = Sun {
            direction: on_sphere(0.5, 0.3),
            colour: Vec3::ONE,
            photons: 100.0,
            deviance: 0.05,
            samples: 50,
            style: 0,
            sky: None,
            from_sky: false,
        };
        let mut list = LightList::new(0);
        push_sun(&mut list, &sun, &BakeSettings::default());
        assert_eq!(list.lights.len(), 50);
        assert!(list.lights[1].normal != list.lights[2].normal);
        for light in &list.lights {
            assert!((-light.normal).angle_between(sun.direction) <= 0.0501);
            assert!((light.photons - 2.0).abs() < 1e-5);
        }
    }
}
