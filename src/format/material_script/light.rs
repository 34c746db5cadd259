use glam::Vec3;

use crate::format::entities::leading_number;

/// What only the light compiler reads, section 11.1 of its specification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LightDirectives {
    /// `q3map_surfacelight`, byte units; 0 emits nothing.
    pub surface_light: f32,
    /// `q3map_lightSubdivide`, game units.
    pub subdivide: Option<f32>,
    /// `q3map_backsplash`: fraction (0 to 1) and distance, game units.
    pub backsplash: Option<(f32, f32)>,
    /// `q3map_lightRGB`, as written.
    pub colour: Option<Vec3>,
    /// `q3map_lightImage`, else what the compiler falls back to, see [`LightDirectives::light_image_path`].
    pub light_image: Option<String>,
    /// `qer_editorImage`.
    pub editor_image: Option<String>,
    /// `implicitMap` and its kin; `-` stands for the material's name.
    pub implicit_image: Option<String>,
    /// `q3map_lightStyle`.
    pub style: u8,
    /// Suns in order.
    pub suns: Vec<SunDirective>,
    /// Sky lights in order.
    pub sky_lights: Vec<SkyLight>,
    /// `q3map_lightmapFilterRadius`: own surfaces, lights it makes; game units.
    pub filter_radius: (f32, f32),
    /// `q3map_noFast`.
    pub no_fast: bool,
    /// `q3map_bounceScale`; `None` is 1.
    pub bounce_scale: Option<f32>,
    /// `deformVertexes autosprite*`.
    pub autosprite: bool,
    /// `q3map_baseShader`.
    pub base_material: Option<String>,
}

impl LightDirectives {
    /// The image that colours light and shadow: `q3map_lightImage`, then `<sky>_up`, then the first stage image met while
    /// no editor, light or implicit image was known.
    pub fn light_image_path(&self) -> Option<&str> {
        self.light_image.as_deref()
    }
}

/// `q3map_sun`, `sun`, `q3map_sunExt`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunDirective {
    /// As written; only the hue counts.
    pub colour: Vec3,
    /// Byte units.
    pub intensity: f32,
    /// From +X towards +Y, degrees.
    pub azimuth_degrees: f32,
    /// Above the horizon, degrees.
    pub elevation_degrees: f32,
    /// Angular radius of the jitter, degrees.
    pub deviance_degrees: f32,
    /// Lights it is split into, at least 1.
    pub samples: u32,
    /// Style known when the line was parsed.
    pub style: u8,
    /// Filter radius known when the line was parsed, game units.
    pub filter_radius: f32,
}

/// `q3map_skyLight`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyLight {
    /// Byte units, ≥ 0.
    pub value: f32,
    /// Elevation steps, ≥ 2.
    pub iterations: u32,
    /// Lowest elevation, degrees.
    pub horizon_min_degrees: f32,
    /// Highest elevation, degrees.
    pub horizon_max_degrees: f32,
    /// Whether the sky box images colour it.
    pub sample_images: bool,
}

/// Jittered suns of one directive at most.
const SUN_SAMPLES_MAX: f32 = 65_536.0;
/// Elevation steps of one sky light at most: about 40 million suns would follow from more.
const SKY_ITERATIONS_MAX: f32 = 1000.0;

impl LightDirectives {
    /// Reads one `q3map_*`, `qer_editorImage` or `implicit*` line; false when the keyword is none of these.
    pub(super) fn read(&mut self, keyword: &str, words: &[String]) -> bool {
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|word| leading_number(word))
                .unwrap_or(0.0)
        };
        let vector = || Vec3::new(number(0), number(1), number(2));
        let path = || words.first().filter(|word| !word.is_empty()).cloned();
        match keyword {
            "q3map_surfacelight" => self.surface_light = number(0),
            "q3map_lightsubdivide" => {
                self.subdivide = Some(number(0).trunc()).filter(|units| *units > 0.0);
            }
            "q3map_backsplash" => self.backsplash = Some((number(0) * 0.01, number(1))),
            "q3map_lightrgb" => self.colour = Some(vector()),
            "q3map_lightimage" => self.light_image = path(),
            "qer_editorimage" => self.editor_image = path(),
            "implicitmap" | "implicitmask" | "implicitblend" => self.implicit_image = path(),
            "q3map_lightstyle" => self.style = byte(number(0)),
            "q3map_sun" | "sun" | "q3map_sunext" => {
                let extended = keyword == "q3map_sunext";
                self.suns.push(SunDirective {
                    colour: vector(),
                    intensity: number(3),
                    azimuth_degrees: number(4),
                    elevation_degrees: number(5),
                    deviance_degrees: if extended { number(6) } else { 0.0 },
                    samples: if extended {
                        count(number(7), 1.0, SUN_SAMPLES_MAX)
                    } else {
                        1
                    },
                    style: self.style,
                    filter_radius: self.filter_radius.1,
                });
            }
            "q3map_skylight" => {
                let sample = words.get(4).and_then(|word| leading_number(word));
                self.sky_lights.push(SkyLight {
                    value: number(0).max(0.0),
                    iterations: count(number(1), 2.0, SKY_ITERATIONS_MAX),
                    horizon_min_degrees: number(2).clamp(-90.0, 90.0),
                    horizon_max_degrees: if words.len() > 3 {
                        number(3).clamp(-90.0, 90.0)
                    } else {
                        90.0
                    },
                    sample_images: sample.is_none_or(|value| value.trunc().abs() > 0.0),
                });
            }
            "q3map_lightmapfilterradius" => self.filter_radius = (number(0), number(1)),
            "q3map_nofast" => self.no_fast = true,
            "q3map_bounce" | "q3map_bouncescale" => self.bounce_scale = Some(number(0)),
            "q3map_baseshader" => self.base_material = path(),
            _ => return false,
        }
        true
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the byte range"
)]
fn byte(value: f32) -> u8 {
    value.clamp(0.0, 255.0) as u8
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a small range"
)]
fn count(value: f32, min: f32, max: f32) -> u32 {
    value.clamp(min, max) as u32
}
