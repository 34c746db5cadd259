//! How far a map's stored light is multiplied when its own game shows it.

use crate::format::bsp::{Bsp, Format};
use crate::math::colour::{Clamp, Overbright};
use crate::scene::deluxe::Deluxe;
use crate::scene::lightmaps::{LightmapOrigin, LightmapPages, has_external};
use crate::vfs::OpenedMap;

/// Which sign told how a map's game shows stored light.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LightScaleReason {
    /// The worldspawn key `mapOverBrightBits`: its value.
    Key(String),
    /// An RBSP: the Jedi games show light as stored.
    Rbsp,
    /// Lightmaps beside the map, or deluxe maps: the `DarkPlaces` family.
    DarkPlaces,
    /// Nothing: the Quake 3 rule.
    Default,
}

impl LightScaleReason {
    /// For people, the rest of a sentence that begins “×4 because”.
    pub fn text(&self) -> String {
        match self {
            Self::Key(value) => format!("worldspawn mapOverBrightBits is “{value}”"),
            Self::Rbsp => "the Jedi games show light as stored".to_owned(),
            Self::DarkPlaces => {
                "lightmaps beside the map and deluxe maps are the way of Nexuiz and Xonotic"
                    .to_owned()
            }
            Self::Default => "that is Quake 3's rule".to_owned(),
        }
    }
}

/// The overbright and the clamp that a map was made for; section 1.6 of the rendering specification.
#[derive(Clone, Debug, PartialEq)]
pub struct LightScale {
    /// Multiplier of stored light.
    pub overbright: Overbright,
    /// What happens above white.
    pub clamp: Clamp,
    /// What told.
    pub reason: LightScaleReason,
}

impl Default for LightScale {
    fn default() -> Self {
        Self {
            overbright: Overbright::ENGINE,
            clamp: Clamp::KeepHue,
            reason: LightScaleReason::Default,
        }
    }
}

impl LightScale {
    /// The same as [`crate::scene::Scene::light_scale`] of `map`, whose file is `bsp`, without building a scene.
    pub fn of_map(bsp: &Bsp, map: &OpenedMap) -> Self {
        let mut pages = LightmapPages::internal(bsp);
        if pages.pages.is_empty() && has_external(&map.vfs, &map.name) {
            pages.origin = LightmapOrigin::External;
        }
        pages.every_other_is_light = Deluxe::detect(bsp, &pages).is_some();
        Self::detect(bsp, &pages)
    }

    /// Judges by worldspawn's key, then by the format, then by the pages.
    pub(super) fn detect(bsp: &Bsp, pages: &LightmapPages) -> Self {
        let world = bsp.entities.worldspawn();
        let key = world.and_then(|world| world.get("mapOverBrightBits"));
        if let Some(text) = key.map(str::trim)
            && let Ok(bits @ 0..=3) = text.parse::<u8>()
        {
            return Self::new(bits, LightScaleReason::Key(text.to_owned()));
        }
        if bsp.directory.format() == Format::Rbsp {
            return Self::new(0, LightScaleReason::Rbsp);
        }
        if pages.origin == LightmapOrigin::External || pages.every_other_is_light {
            return Self::new(1, LightScaleReason::DarkPlaces);
        }
        Self::default()
    }

    fn new(bits: u8, reason: LightScaleReason) -> Self {
        let saturates = reason == LightScaleReason::DarkPlaces;
        Self {
            overbright: Overbright::Bits(bits),
            clamp: if saturates {
                Clamp::Off
            } else {
                Clamp::KeepHue
            },
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::bsp::VariantLabel;
    use crate::format::entities::Entities;

    fn bits(bsp: &Bsp, origin: LightmapOrigin) -> (u8, Clamp) {
        let pages = LightmapPages {
            origin,
            ..LightmapPages::default()
        };
        let scale = LightScale::detect(bsp, &pages);
        match scale.overbright {
            Overbright::Bits(bits) => (bits, scale.clamp),
            Overbright::Blog => unreachable!("no game does that"),
        }
    }

    #[test]
    fn each_family_has_its_rule() {
        let mut bsp = Bsp::default();
        assert_eq!(bits(&bsp, LightmapOrigin::Internal), (2, Clamp::KeepHue));
        assert_eq!(bits(&bsp, LightmapOrigin::External), (1, Clamp::Off));
        bsp.directory.variant.label = VariantLabel::Raven;
        assert_eq!(bits(&bsp, LightmapOrigin::Internal), (0, Clamp::KeepHue));
        for (value, expected) in [("1", 1), (" 3 ", 3), ("9", 0), ("x", 0)] {
            let text =
                format!("{{ \"classname\" \"worldspawn\" \"mapOverBrightBits\" \"{value}\" }}");
            bsp.entities = Entities::parse(text.as_bytes());
            assert_eq!(bits(&bsp, LightmapOrigin::Internal).0, expected, "{value}");
        }
    }
}
