use std::collections::BTreeSet;

use glam::Vec3;

use crate::format::entities::Entity;
use crate::job::{Cancelled, JobContext, Warnings};
use crate::light::lights::{Emission, Falloff, Light, LightList, POINT_SCALE, normalise_colour};
use crate::light::report::EntityCounts;
use crate::light::settings::{BakeSettings, EntityModel, LightModel, LightsFrom};
use crate::light::suns::{Sun, push_sun};
use crate::light::world::WorldKeys;
use crate::scene::{MapSource, MapSourceKind, Scene};

/// Spawnflag of linear falloff in the Quake 3 model; with the Wolfenstein model it turns linear falloff off.
const FLAG_LINEAR: u32 = 1;
/// Spawnflag of lights that leave the grids alone.
const FLAG_NO_GRID: u32 = 16;
/// Spawnflag of colours that keep their brightness.
const FLAG_RAW_COLOUR: u32 = 32;
/// Copies of one jittered light at most.
const SAMPLES_MAX: f32 = 4096.0;
/// Lights and copies at most; a bound for hostile files.
const LIGHTS_MAX: usize = 1_000_000;

/// Light entities of the BSP and, by the settings' rule, of a `.map` or `.ent` (section 1.4).
pub(crate) struct LightEntities<'a> {
    bsp: Vec<&'a Entity>,
    added: Vec<&'a Entity>,
    file: Option<&'a MapSource>,
    targets: Vec<&'a Entity>,
}

impl<'a> LightEntities<'a> {
    /// Collects them. Targets are searched in the BSP first, then among the added lights.
    pub(super) fn new(scene: &'a Scene, settings: &'a BakeSettings, world: &WorldKeys) -> Self {
        let own = &scene.bsp.entities.list;
        let bsp: Vec<&Entity> = own.iter().filter(|entity| entity.is_light()).collect();
        let is_source = |source: &&MapSource| match source.kind {
            MapSourceKind::Map => !world.keep_lights,
            MapSourceKind::Ent => !world.keep_lights && bsp.is_empty(),
        };
        let file: Option<&MapSource> = match &settings.lights {
            LightsFrom::Auto => scene.map_source.as_ref().filter(is_source),
            LightsFrom::Bsp => None,
            LightsFrom::File(source) => Some(source),
        };
        // Games with styled grids switch lights that have a name, and look for those in the BSP alone.
        let has_styles = scene.bsp.directory.format().has_styles();
        let is_fixed = |entity: &&Entity| !has_styles || entity.get("targetname").is_none();
        let is_new = |entity: &&Entity| {
            settings.model == LightModel::Q3map2
                || !bsp.iter().any(|known| {
                    known.origin() == entity.origin() && known.classname() == entity.classname()
                })
        };
        let found = file.iter().flat_map(|source| &source.entities.list);
        let added: Vec<&Entity> = found
            .filter(|entity| entity.is_light())
            .filter(is_fixed)
            .filter(is_new)
            .collect();
        let targets = match &settings.lights {
            LightsFrom::File(source) => own.iter().chain(&source.entities.list).collect(),
            _ => own.iter().chain(added.iter().copied()).collect(),
        };
        Self {
            bsp,
            added,
            file,
            targets,
        }
    }

    /// The file that lights are taken from beside the BSP.
    pub(super) fn file(&self) -> Option<&'a MapSource> {
        self.file
    }

    /// Lights by file.
    fn counts(&self) -> EntityCounts {
        let added = self.added.len();
        let [map, ent] = match self.file.map(|file| file.kind) {
            Some(MapSourceKind::Ent) => [0, added],
            Some(MapSourceKind::Map) | None => [added, 0],
        };
        EntityCounts {
            bsp: self.bsp.len(),
            map,
            ent,
        }
    }

    /// Says which lights the BSP has already, so that they count twice.
    fn warn_of_copies(&self, warnings: &Warnings) {
        let place = |entity: &Entity| entity.origin().to_array().map(f32::to_bits);
        let known: BTreeSet<_> = self.bsp.iter().map(|entity| place(entity)).collect();
        let is_copy = |entity: &&&Entity| known.contains(&place(entity));
        let copies = self.added.iter().filter(is_copy).count();
        if let Some(file) = self.file.filter(|_| copies > 0) {
            let text = format!(
                "{copies} lights of {} stand where the BSP has one too and light twice (worldspawn _keepLights says that the BSP's are all)",
                file.origin.display()
            );
            warnings.push("W154", text);
        }
    }

    fn target(&self, name: &str) -> Option<&'a Entity> {
        self.targets
            .iter()
            .find(|entity| entity.get("targetname") == Some(name))
            .copied()
    }
}

/// Makes point lights, spots and suns from light entities (section 2.3).
pub(crate) fn push_entity_lights(
    list: &mut LightList,
    entities: &LightEntities<'_>,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<(), Cancelled> {
    let warnings = &context.warnings;
    list.entities = entities.counts();
    entities.warn_of_copies(warnings);
    for entity in entities.bsp.iter().chain(&entities.added) {
        context.cancel.check()?;
        if list.lights.len() >= LIGHTS_MAX {
            warnings.push(
                "W150",
                format!("more than {LIGHTS_MAX} lights; the rest is dropped"),
            );
            break;
        }
        let name = entity.get("target");
        let target = name.and_then(|name| entities.target(name));
        if let (Some(name), None) = (name, target) {
            warnings.push(
                "W151",
                format!(
                    "light at {} has the unknown target “{name}”; taken as a point light",
                    entity.origin()
                ),
            );
        }
        push_light(list, entity, target, settings, warnings);
    }
    Ok(())
}

fn push_light(
    list: &mut LightList,
    entity: &Entity,
    target: Option<&Entity>,
    settings: &BakeSettings,
    warnings: &Warnings,
) {
    let samples = entity
        .number(&["_samples"])
        .map_or(1.0, f32::trunc)
        .clamp(1.0, SAMPLES_MAX);
    let deviance = entity
        .number(&["_deviance", "_deviation", "_jitter"])
        .unwrap_or(0.0)
        .max(0.0);
    let mut light = base_light(entity, settings, warnings);
    light.photons /= samples;
    light.tolerance /= samples;
    if let Some(target) = target {
        let towards = target.origin() - light.origin;
        if entity.flag(&["_sun"]) {
            // The reference compiler divides by the samples twice.
            let photons = match settings.model {
                LightModel::Q3map2 => light.photons,
                LightModel::Corrected => light.photons * samples,
            };
            let sun = Sun {
                direction: -towards.normalize_or_zero(),
                colour: light.colour,
                photons,
                deviance: deviance.to_radians(),
                samples: samples as u32,
                style: light.style,
                sky: None,
                from_sky: false,
            };
            push_sun(list, &sun, settings);
            return;
        }
        make_spot(&mut light, entity, towards, settings);
    } else {
        light.photons *= POINT_SCALE * settings.point_scale * settings.spherical_scale;
    }
    let origin = light.origin;
    for sample in 0..samples as u32 {
        let mut copy = light.clone();
        if sample > 0 {
            let mut offset = || 2.0 * list.random.unit() - 1.0;
            copy.origin = origin + Vec3::new(offset(), offset(), offset()) * deviance;
        }
        list.lights.push(copy);
    }
}

/// Everything that does not depend on the target; photons are the bare intensity.
fn base_light(entity: &Entity, settings: &BakeSettings, warnings: &Warnings) -> Light {
    let is_set = |value: &f32| value.abs() > 0.0;
    let flags = entity.number(&["spawnflags"]).unwrap_or(0.0) as i64 as u32;
    let mut intensity = entity
        .number(&["_light", "light"])
        .filter(is_set)
        .unwrap_or(300.0);
    if let Some(scale) = entity.number(&["scale"]).filter(is_set) {
        intensity *= scale;
    }
    let raw = settings.linear_colour(entity.vector(&["_color"]).unwrap_or(Vec3::ONE));
    let colour = if flags & FLAG_RAW_COLOUR == 0 {
        normalise_colour(raw)
    } else {
        raw
    };
    let is_flagged = flags & FLAG_LINEAR != 0;
    let is_linear = match settings.entity_model {
        EntityModel::Quake3 => is_flagged,
        EntityModel::Wolfenstein => !is_flagged,
    };
    let is_junior = entity.classname().eq_ignore_ascii_case("lightJunior");
    let mut light = Light::point(entity.origin(), colour, intensity);
    if is_linear {
        let fade = entity.number(&["fade"]).filter(is_set).unwrap_or(1.0);
        light.falloff = Falloff::Linear(fade);
    }
    light.extra_distance = entity
        .number(&["_extradist"])
        .unwrap_or(settings.extra_distance);
    light.in_grid = flags & FLAG_NO_GRID == 0 || is_junior;
    light.tolerance = settings.tolerance();
    let style = entity.number(&["_style", "style"]).unwrap_or(0.0);
    if (0.0..255.0).contains(&style) {
        light.style = style as u8;
    } else {
        warnings.push(
            "W152",
            format!("light at {} has style {style}; 0 taken", light.origin),
        );
    }
    light
}

fn make_spot(light: &mut Light, entity: &Entity, towards: Vec3, settings: &BakeSettings) {
    let is_set = |value: &f32| value.abs() > 0.0;
    let (normal, mut distance) = towards.normalize_and_length();
    if distance <= 0.0 {
        distance = 64.0;
    }
    let radius = entity.number(&["radius"]).filter(is_set).unwrap_or(64.0);
    light.normal = if towards == Vec3::ZERO {
        Vec3::ZERO
    } else {
        normal
    };
    light.emission = Emission::Spot {
        radius_by_distance: (radius + 16.0) / distance,
    };
    light.falloff = Falloff::Quadratic;
    light.photons *= POINT_SCALE * settings.point_scale * settings.spot_scale;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::entities::Entities;

    fn lights(text: &str) -> Vec<Light> {
        let entities = Entities::parse(text.as_bytes());
        let all: Vec<&Entity> = entities.list.iter().collect();
        let found = LightEntities {
            bsp: all.iter().copied().filter(|e| e.is_light()).collect(),
            added: Vec::new(),
            file: None,
            targets: all,
        };
        let mut list = LightList::new(0);
        let settings = BakeSettings::default();
        push_entity_lights(&mut list, &found, &settings, &JobContext::default()).unwrap();
        list.lights
    }

    #[test]
    fn intensity_scale_and_colour() {
        let found = lights(
            "{ classname light } { classname Light_x light 0 scale 2 _color \"1 2 4\" } { classname light light -10 spawnflags 32 _color \"2 0 0\" }",
        );
        assert!((found[0].photons - 300.0 * 7500.0).abs() < 1.0);
        assert!((found[1].photons - 600.0 * 7500.0).abs() < 1.0);
        assert_eq!(found[1].colour, Vec3::new(0.25, 0.5, 1.0));
        assert!(found[2].photons < 0.0);
        assert_eq!(found[2].colour, Vec3::new(2.0, 0.0, 0.0));
    }

    /// Section 14 item 2: radius 64 at a target 128 away.
    #[test]
    fn target_makes_a_spot_and_sun_key_a_sun() {
        let found = lights(
            "{ classname light target t spawnflags 1 } { classname info_null targetname t origin \"128 0 0\" } { classname light target t _sun 1 light 100 _samples 4 }",
        );
        let Emission::Spot { radius_by_distance } = found[0].emission else {
            panic!("{:?}", found[0]);
        };
        assert!((radius_by_distance - 0.625).abs() < 1e-6);
        assert_eq!(found[0].normal, Vec3::X);
        assert_eq!(found[0].falloff, Falloff::Quadratic);
        assert_eq!(found.len(), 5);
        // Divided by the samples twice: 100 / 4 / 4.
        assert!(
            found[1..]
                .iter()
                .all(|sun| (sun.photons - 6.25).abs() < 1e-5)
        );
        assert_eq!(found[1].normal, Vec3::X);
    }

    #[test]
    fn jitter_stays_in_its_cube_and_shares_the_intensity() {
        let found = lights("{ classname light _deviance 24 _samples 16 origin \"100 0 0\" }");
        assert_eq!(found.len(), 16);
        assert_eq!(found[0].origin, Vec3::X * 100.0);
        for light in &found {
            assert!((light.origin - Vec3::X * 100.0).abs().max_element() <= 24.0);
            assert!((light.photons * 16.0 - 300.0 * 7500.0).abs() < 1.0);
            assert!((light.tolerance * 16.0 - 1.0).abs() < 1e-6);
        }
    }
}
