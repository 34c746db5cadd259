use clap::Args;

use crate::cli::values;
use crate::light::{BakeSettings, EntityModel, SrgbSpaces};

/// Heading of the flags about how light becomes stored values.
const TONE: &str = "Stored values";
/// Heading of the flags about what lights look like.
const LOOK: &str = "Look of lights";
/// Heading of the flags that trade looks for time.
const SPEED: &str = "Shortcuts";

/// From light to stored values; where nothing is said, the game decides.
#[derive(Args, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, named as in q3map2"
)]
pub(crate) struct ToneArgs {
    /// Multiplies both grids; may be given more than once
    #[arg(long, value_name = "F", value_parser = values::finite, help_heading = TONE)]
    pub(crate) gridscale: Vec<f32>,
    /// Multiplies the legacy ambient light further; may be given more than once
    #[arg(long, value_name = "F", value_parser = values::finite, help_heading = TONE)]
    pub(crate) gridambientscale: Vec<f32>,
    /// Share of light from the main direction that is directed, at most 1 [default: 1]
    #[arg(long, value_name = "F", value_parser = values::finite, allow_negative_numbers = true, help_heading = TONE)]
    pub(crate) griddirectionality: Option<f32>,
    /// Share of light from across that is directed, at least -1 [default: 0]
    #[arg(long, value_name = "F", value_parser = values::finite, allow_negative_numbers = true, help_heading = TONE)]
    pub(crate) gridambientdirectionality: Option<f32>,
    /// Exponent of the curve from light to bytes [default: the game's]
    #[arg(long, value_name = "F", value_parser = values::positive, help_heading = TONE)]
    pub(crate) gamma: Option<f32>,
    /// Soft shoulder in byte units, 0 is off [default: the game's]
    #[arg(long, value_name = "F", value_parser = values::finite, help_heading = TONE)]
    pub(crate) exposure: Option<f32>,
    /// Divides bytes [default: 1]
    #[arg(long, value_name = "F", value_parser = values::finite, help_heading = TONE)]
    pub(crate) compensate: Option<f32>,
    /// -255 to 255 [default: 0]
    #[arg(long, value_name = "F", value_parser = values::finite, allow_negative_numbers = true, help_heading = TONE)]
    pub(crate) contrast: Option<f32>,
    /// 0 is grey [default: 1]
    #[arg(long, value_name = "F", value_parser = values::finite, allow_negative_numbers = true, help_heading = TONE)]
    pub(crate) saturation: Option<f32>,
    /// Stored light, texels and colours are sRGB
    #[arg(long = "sRGB", help_heading = TONE)]
    pub(crate) srgb: bool,
    /// Nothing is sRGB
    #[arg(long = "nosRGB", help_heading = TONE, conflicts_with = "srgb")]
    pub(crate) no_srgb: bool,
    /// Stored light is sRGB
    #[arg(long = "sRGBlight", help_heading = TONE)]
    pub(crate) srgb_light: bool,
    /// Stored light is linear
    #[arg(long = "nosRGBlight", help_heading = TONE, conflicts_with = "srgb_light")]
    pub(crate) no_srgb_light: bool,
    /// Texels are sRGB
    #[arg(long = "sRGBtex", help_heading = TONE)]
    pub(crate) srgb_tex: bool,
    /// Texels are linear
    #[arg(long = "nosRGBtex", help_heading = TONE, conflicts_with = "srgb_tex")]
    pub(crate) no_srgb_tex: bool,
    /// Colours of keys and materials are sRGB
    #[arg(long = "sRGBcolor", help_heading = TONE)]
    pub(crate) srgb_color: bool,
    /// Colours of keys and materials are linear
    #[arg(long = "nosRGBcolor", help_heading = TONE, conflicts_with = "srgb_color")]
    pub(crate) no_srgb_color: bool,
}

impl ToneArgs {
    /// Changes what is said.
    pub(crate) fn apply(&self, settings: &mut BakeSettings) {
        settings.grid_scale *= self.gridscale.iter().product::<f32>();
        settings.grid_ambient_scale *= self.gridambientscale.iter().product::<f32>();
        set(&mut settings.grid_directionality, self.griddirectionality);
        set(
            &mut settings.grid_ambient_directionality,
            self.gridambientdirectionality,
        );
        let spaces = SrgbSpaces {
            light: settings.transfer.srgb,
            textures: settings.srgb_textures,
            colours: settings.srgb_colours,
        };
        let spaces = self.spaces(spaces);
        settings.srgb_textures = spaces.textures;
        settings.srgb_colours = spaces.colours;
        let transfer = &mut settings.transfer;
        transfer.srgb = spaces.light;
        set(&mut transfer.gamma, self.gamma);
        set(&mut transfer.exposure, self.exposure);
        set(&mut transfer.compensate, self.compensate);
        set(&mut transfer.contrast, self.contrast);
        set(&mut transfer.saturation, self.saturation);
    }

    fn spaces(&self, game: SrgbSpaces) -> SrgbSpaces {
        let all = |own: bool| (own || self.srgb) && !self.no_srgb;
        let one = |own: bool, on: bool, off: bool| (all(own) || on) && !off;
        SrgbSpaces {
            light: one(game.light, self.srgb_light, self.no_srgb_light),
            textures: one(game.textures, self.srgb_tex, self.no_srgb_tex),
            colours: one(game.colours, self.srgb_color, self.no_srgb_color),
        }
    }

    /// The flags as they were given.
    pub(crate) fn push_words(&self, words: &mut Vec<String>) {
        let product = |values: &[f32]| (!values.is_empty()).then(|| values.iter().product());
        for (name, value) in [
            ("gridscale", product(&self.gridscale)),
            ("gridambientscale", product(&self.gridambientscale)),
            ("griddirectionality", self.griddirectionality),
            ("gridambientdirectionality", self.gridambientdirectionality),
            ("gamma", self.gamma),
            ("exposure", self.exposure),
            ("compensate", self.compensate),
            ("contrast", self.contrast),
            ("saturation", self.saturation),
        ] {
            words.extend(value.map(|value: f32| format!("-{name} {value}")));
        }
        for (given, name) in [
            (self.srgb, "sRGB"),
            (self.no_srgb, "nosRGB"),
            (self.srgb_light, "sRGBlight"),
            (self.no_srgb_light, "nosRGBlight"),
            (self.srgb_tex, "sRGBtex"),
            (self.no_srgb_tex, "nosRGBtex"),
            (self.srgb_color, "sRGBcolor"),
            (self.no_srgb_color, "nosRGBcolor"),
        ] {
            words.extend(given.then(|| format!("-{name}")));
        }
    }
}

/// What lights do.
#[derive(Args, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, named as in q3map2"
)]
pub(crate) struct LookArgs {
    /// Light entities fade linearly, as in Wolfenstein [default: the game's]
    #[arg(long, help_heading = LOOK)]
    pub(crate) wolf: bool,
    /// Light entities fade with the square of the distance, as in Quake 3 [default: the game's]
    #[arg(long, help_heading = LOOK, conflicts_with = "wolf")]
    pub(crate) q3: bool,
    /// Added dimension of the distance to light entities, game units [default: 0]
    #[arg(long, value_name = "U", value_parser = values::finite, help_heading = LOOK)]
    pub(crate) extradist: Option<f32>,
    /// Scale of the light that emitting surfaces throw back at themselves, and its distance (game units; below -900 as it is) [default: 1 23]
    #[arg(long, num_args = 2, value_names = ["F", "U"], value_parser = values::finite, allow_negative_numbers = true, help_heading = LOOK)]
    pub(crate) backsplash: Option<Vec<f32>>,
    /// Subdivisions of curves, for emitting patches [default: 8]
    #[arg(long, value_name = "N", value_parser = values::positive, help_heading = LOOK)]
    pub(crate) subdivisions: Option<f32>,
    /// Light from all open directions, as worldspawn's _floodlight
    #[arg(long, help_heading = LOOK)]
    pub(crate) floodlight: bool,
    /// Lights of materials keep their styles [default: the game's]
    #[arg(long, visible_alias = "styles", help_heading = LOOK)]
    pub(crate) style: bool,
    /// Lights of materials lose their styles [default: the game's]
    #[arg(long, visible_alias = "nostyles", help_heading = LOOK, conflicts_with = "style")]
    pub(crate) nostyle: bool,
}

impl LookArgs {
    /// Changes what is said.
    pub(crate) fn apply(&self, settings: &mut BakeSettings) {
        if self.wolf {
            settings.entity_model = EntityModel::Wolfenstein;
        } else if self.q3 {
            settings.entity_model = EntityModel::Quake3;
        }
        set(&mut settings.extra_distance, self.extradist);
        set(&mut settings.subdivisions, self.subdivisions);
        if let Some([scale, distance]) = self.backsplash.as_deref() {
            settings.backsplash_scale = *scale;
            if *distance >= BACKSPLASH_DISTANCE_MIN {
                settings.backsplash_distance = *distance;
            }
        }
        settings.floodlight = self.floodlight;
        settings.no_styles = (settings.no_styles || self.nostyle) && !self.style;
    }

    /// The flags as they were given.
    pub(crate) fn push_words(&self, words: &mut Vec<String>) {
        for (name, value) in [
            ("extradist", self.extradist),
            ("subdivisions", self.subdivisions),
        ] {
            words.extend(value.map(|value| format!("-{name} {value}")));
        }
        if let Some([scale, distance]) = self.backsplash.as_deref() {
            words.push(format!("-backsplash {scale} {distance}"));
        }
        for (given, name) in [
            (self.wolf, "wolf"),
            (self.q3, "q3"),
            (self.floodlight, "floodlight"),
            (self.style, "style"),
            (self.nostyle, "nostyle"),
        ] {
            words.extend(given.then(|| format!("-{name}")));
        }
    }
}

/// Distances of backsplash below this leave the default, game units.
const BACKSPLASH_DISTANCE_MIN: f32 = -900.0;

/// Less exact and faster, or only a part.
#[derive(Args, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, named as in q3map2"
)]
pub(crate) struct ShortcutArgs {
    /// Cut lights of surfaces off at a distance
    #[arg(long, help_heading = SPEED)]
    pub(crate) fast: bool,
    /// The same, and a cheap formula for lights of surfaces
    #[arg(long, help_heading = SPEED)]
    pub(crate) faster: bool,
    /// As -fast: the grids are all that is baked
    #[arg(long, help_heading = SPEED)]
    pub(crate) fastgrid: bool,
    /// Points of the legacy grid stop gathering when they are white
    #[arg(long, help_heading = SPEED)]
    pub(crate) cheap: bool,
    /// As -cheap: the grids are all that is baked
    #[arg(long, help_heading = SPEED)]
    pub(crate) cheapgrid: bool,
    /// No shadows
    #[arg(long, help_heading = SPEED)]
    pub(crate) notrace: bool,
    /// Shadows of opaque leafs only; suns give nothing
    #[arg(long, help_heading = SPEED)]
    pub(crate) nosurf: bool,
    /// Only suns
    #[arg(long, help_heading = SPEED)]
    pub(crate) sunonly: bool,
    /// Any sky lets any sun in
    #[arg(long, help_heading = SPEED)]
    pub(crate) onesky: bool,
}

impl ShortcutArgs {
    /// Changes what is said.
    pub(crate) fn apply(&self, settings: &mut BakeSettings) {
        settings.fast = self.fast || self.fastgrid || self.faster;
        settings.faster = self.faster;
        settings.cheap = self.cheap || self.cheapgrid;
        settings.no_trace = self.notrace;
        settings.no_surfaces = self.nosurf;
        settings.sun_only = self.sunonly;
        settings.one_sky = self.onesky;
    }

    /// Which are given, by name.
    pub(crate) fn switches(&self) -> [(bool, &'static str); 9] {
        [
            (self.fast, "fast"),
            (self.faster, "faster"),
            (self.fastgrid, "fastgrid"),
            (self.cheap, "cheap"),
            (self.cheapgrid, "cheapgrid"),
            (self.notrace, "notrace"),
            (self.nosurf, "nosurf"),
            (self.sunonly, "sunonly"),
            (self.onesky, "onesky"),
        ]
    }
}

fn set(value: &mut f32, given: Option<f32>) {
    if let Some(given) = given {
        *value = given;
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::bake_settings;

    fn settings(line: &str) -> crate::light::BakeSettings {
        let words: Vec<&str> = line.split_whitespace().collect();
        bake_settings(&words).unwrap()
    }

    #[test]
    fn flags_override_the_game() {
        let found = settings("-game xonotic -nosRGBtex -style");
        assert!(found.transfer.srgb && found.srgb_colours);
        assert!(!found.srgb_textures && !found.no_styles);
        let found = settings("-game darkplaces -gridscale 2 -gridscale 0.5 -exposure 0");
        assert!((found.grid_scale - 0.3).abs() < 1e-6 && found.transfer.exposure.abs() < 1e-6);
        assert_eq!(
            found.command_line,
            "-light -gridscale 1 -exposure 0 -game darkplaces"
        );
        let found = settings("-game etut -nosRGB -sRGBcolor");
        assert!(!found.transfer.srgb && !found.srgb_textures && found.srgb_colours);
    }

    #[test]
    fn numbers_may_be_negative_where_that_means_something() {
        let found = settings("-gridambientdirectionality -0.5 -contrast -20 -backsplash 2 -999");
        assert!((found.grid_ambient_directionality + 0.5).abs() < 1e-6);
        assert!((found.transfer.contrast + 20.0).abs() < 1e-6);
        assert!((found.backsplash_scale - 2.0).abs() < 1e-6);
        assert!((found.backsplash_distance - 23.0).abs() < 1e-6);
        let far = settings("-backsplash 1 40");
        assert!((far.backsplash_distance - 40.0).abs() < 1e-6);
    }

    #[test]
    fn shortcuts_are_switches() {
        let found = settings("-faster -cheap -nosurf -onesky -nostyles -floodlight -wolf");
        assert!(found.fast && found.faster && found.cheap && found.no_surfaces);
        assert!(found.one_sky && found.no_styles && found.floodlight);
        assert!(!found.sun_only && !found.no_trace);
        assert!(bake_settings(&["-wolf", "-q3"]).is_err());
        assert!(bake_settings(&["-sRGB", "-nosRGB"]).is_err());
    }
}
