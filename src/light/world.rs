use glam::Vec3;

use crate::format::entities::Entities;
use crate::light::flood::FloodLight;
use crate::light::settings::BakeSettings;

/// What worldspawn says about light (section 8.9 of the compiler's specification). Byte units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WorldKeys {
    /// `_color` times `_ambient`: light that is everywhere.
    pub ambient: Vec3,
    /// `_mingridlight`, else `_minlight`, times `_color`: the least ambient term of a grid point.
    pub min_grid_light: Vec3,
    /// `_maxlight`: the brightest byte.
    pub max_light: f32,
    /// `_noshadersun`: materials make no suns (their sky lights stay).
    pub no_material_suns: bool,
    /// `_keepLights`: light entities are in the BSP, the `.map`'s are not read.
    pub keep_lights: bool,
    /// Light from all open directions, if there is any.
    pub flood: Option<FloodLight>,
}

impl WorldKeys {
    /// Reads the first entity; without one everything is at its default.
    pub(super) fn new(entities: &Entities, settings: &BakeSettings) -> Self {
        let Some(world) = entities.worldspawn() else {
            return Self {
                ambient: Vec3::ZERO,
                min_grid_light: Vec3::ZERO,
                max_light: 255.0,
                no_material_suns: false,
                keep_lights: false,
                flood: settings.floodlight.then(FloodLight::default),
            };
        };
        let colour = world
            .vector(&["_color"])
            .filter(|colour| *colour != Vec3::ZERO)
            .unwrap_or(Vec3::ONE);
        let colour = settings.linear_colour(colour);
        let number = |keys: &[&str]| world.number(keys);
        let least = number(&["_mingridlight"]).or_else(|| number(&["_minlight"]));
        Self {
            ambient: colour * number(&["_ambient", "ambient"]).unwrap_or(0.0),
            min_grid_light: colour * least.unwrap_or(0.0),
            max_light: number(&["_maxlight"]).unwrap_or(255.0).clamp(0.0, 255.0),
            no_material_suns: world.flag(&["_noshadersun"]),
            keep_lights: world.flag(&["_keepLights"]),
            flood: FloodLight::of_world(world, settings),
        }
    }
}

impl WorldKeys {
    /// Whether there is light without any lamp.
    pub(super) fn has_light(&self) -> bool {
        self.ambient.max_element() > 0.0 || self.flood.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_minimum_falls_back_to_the_general_one() {
        let keys = |text: &[u8]| WorldKeys::new(&Entities::parse(text), &BakeSettings::default());
        let world = keys(b"{ \"_ambient\" \"10\" \"_color\" \"0.5 1 1\" \"_minlight\" \"6\" }");
        assert_eq!(world.ambient, Vec3::new(5.0, 10.0, 10.0));
        assert_eq!(world.min_grid_light, Vec3::new(3.0, 6.0, 6.0));
        let world = keys(b"{ \"_minlight\" \"6\" \"_mingridlight\" \"9\" \"_color\" \"0 0 0\" }");
        assert_eq!(world.min_grid_light, Vec3::splat(9.0));
        assert_eq!(keys(b"").ambient, Vec3::ZERO);
    }
}
