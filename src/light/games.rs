use crate::light::encode::ByteTransfer;
use crate::light::settings::{BakeSettings, EntityModel};

/// What a game's levels expect of the compiler (section 2.7 of the compiler's specification): defaults of a bake, each of
/// which a flag may override. Only what shapes the grids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameProfile {
    /// The compiler's word for it (`-game`).
    pub name: &'static str,
    /// Meaning of the spawnflags of light entities.
    pub entity_model: EntityModel,
    /// Exponent of the output curve.
    pub gamma: f32,
    /// Soft shoulder in byte units; 0 is off.
    pub exposure: f32,
    /// Whether lightmaps, textures and colours are sRGB.
    pub srgb: SrgbSpaces,
    /// Multiplies both grids.
    pub grid_scale: f32,
    /// Multiplies the legacy ambient light further.
    pub grid_ambient_scale: f32,
    /// Whether materials' lights lose their styles.
    pub no_styles: bool,
}

/// Which values are in the sRGB curve and not linear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrgbSpaces {
    /// Stored light (`-sRGBlight`).
    pub light: bool,
    /// Texels (`-sRGBtex`).
    pub textures: bool,
    /// Colours of keys and directives (`-sRGBcolor`).
    pub colours: bool,
}

impl SrgbSpaces {
    /// All three (`-sRGB`).
    pub const ALL: Self = Self {
        light: true,
        textures: true,
        colours: true,
    };
    const NONE: Self = Self {
        light: false,
        textures: false,
        colours: false,
    };
}

const QUAKE3: GameProfile = GameProfile {
    name: "quake3",
    entity_model: EntityModel::Quake3,
    gamma: 1.0,
    exposure: 0.0,
    srgb: SrgbSpaces::NONE,
    grid_scale: 1.0,
    grid_ambient_scale: 1.0,
    no_styles: false,
};

const fn like_quake3(name: &'static str) -> GameProfile {
    GameProfile { name, ..QUAKE3 }
}

const fn wolfenstein(name: &'static str) -> GameProfile {
    GameProfile {
        name,
        entity_model: EntityModel::Wolfenstein,
        ..QUAKE3
    }
}

/// Every game that the reference compiler knows.
const GAMES: [GameProfile; 19] = [
    QUAKE3,
    like_quake3("quakelive"),
    wolfenstein("wolf"),
    wolfenstein("et"),
    GameProfile {
        gamma: 2.2,
        srgb: SrgbSpaces {
            light: true,
            ..SrgbSpaces::NONE
        },
        ..like_quake3("etut")
    },
    GameProfile {
        no_styles: true,
        ..like_quake3("nexuiz")
    },
    GameProfile {
        srgb: SrgbSpaces::ALL,
        no_styles: true,
        ..like_quake3("xonotic")
    },
    like_quake3("unvanquished"),
    GameProfile {
        gamma: 2.0,
        no_styles: true,
        ..like_quake3("tenebrae")
    },
    GameProfile {
        srgb: SrgbSpaces::ALL,
        no_styles: true,
        ..like_quake3("qfusion")
    },
    GameProfile {
        exposure: 200.0,
        grid_scale: 0.3,
        grid_ambient_scale: 0.6,
        no_styles: true,
        ..like_quake3("darkplaces")
    },
    GameProfile {
        gamma: 1.2,
        exposure: 200.0,
        grid_scale: 0.3,
        grid_ambient_scale: 0.6,
        no_styles: true,
        ..like_quake3("dq")
    },
    GameProfile {
        exposure: 200.0,
        grid_scale: 0.4,
        grid_ambient_scale: 0.6,
        no_styles: true,
        ..like_quake3("prophecy")
    },
    like_quake3("sof2"),
    like_quake3("jk2"),
    like_quake3("ja"),
    like_quake3("tremulous"),
    like_quake3("ef"),
    like_quake3("reaction"),
];

impl GameProfile {
    /// Names of all games.
    pub fn names() -> impl Iterator<Item = &'static str> {
        GAMES.iter().map(|game| game.name)
    }

    /// The game called `name`, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        GAMES
            .into_iter()
            .find(|game| game.name.eq_ignore_ascii_case(name))
    }

    /// Settings of a bake without any flag.
    pub fn settings(&self) -> BakeSettings {
        BakeSettings {
            entity_model: self.entity_model,
            transfer: ByteTransfer {
                gamma: self.gamma,
                exposure: self.exposure,
                srgb: self.srgb.light,
                ..ByteTransfer::default()
            },
            srgb_textures: self.srgb.textures,
            srgb_colours: self.srgb.colours,
            grid_scale: self.grid_scale,
            grid_ambient_scale: self.grid_ambient_scale,
            no_styles: self.no_styles,
            ..BakeSettings::default()
        }
    }
}

impl Default for GameProfile {
    fn default() -> Self {
        QUAKE3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_differ_where_the_table_says() {
        let game = |name: &str| GameProfile::by_name(name).unwrap().settings();
        assert_eq!(game("WOLF").entity_model, EntityModel::Wolfenstein);
        let etut = game("etut");
        assert_eq!(etut.entity_model, EntityModel::Quake3);
        assert!(etut.transfer.srgb && !etut.srgb_textures && !etut.srgb_colours);
        let xonotic = game("xonotic");
        assert!(xonotic.transfer.srgb && xonotic.srgb_textures && xonotic.no_styles);
        let dq = game("dq");
        assert!((dq.grid_scale - 0.3).abs() < 1e-6 && (dq.transfer.gamma - 1.2).abs() < 1e-6);
        assert!(GameProfile::by_name("chess").is_none());
        let mut names: Vec<&str> = GameProfile::names().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), GAMES.len());
    }
}
