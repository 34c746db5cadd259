//! What a map's entities are and where, worked out once a map: for the list, for flying to them and for drawing them.

use std::collections::{BTreeMap, HashMap};

use glam::Vec3;

use crate::format::bsp::Bsp;
use crate::format::entities::Entity;
use crate::math::Aabb;
use crate::scene::Scene;
use crate::view::Camera;

/// Byte units of light of an intensity of 1 at a distance of 1, by the reference compiler's point scale.
const POINT_SCALE: f32 = 7500.0;
/// Light that the engine's overbright of two bits shows as white, byte units.
const WHITE: f32 = 64.0;
/// What a linear light of intensity 1 gives at no distance, byte units.
const LINEAR_SCALE: f32 = POINT_SCALE / 8000.0;
/// Spawnflag of linear lights.
const FLAG_LINEAR: u32 = 1;
/// Intensity of lights that say nothing.
const DEFAULT_INTENSITY: f32 = 300.0;
/// A player around the origin, game units.
const PLAYER: Aabb = Aabb {
    min: Vec3::new(-15.0, -15.0, -24.0),
    max: Vec3::new(15.0, 15.0, 32.0),
};
/// Half the side of the box of an entity without a size, game units.
const POINT_HALF: f32 = 8.0;
/// Targets of one entity that are followed at most.
const TARGETS_MAX: usize = 32;

/// Kinds of entities that are named for a light style at most.
const STYLE_NAMES_MAX: usize = 6;

/// What is drawn for an entity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntityKind {
    /// A light: the distance at which it alone gives white (of a linear light: where it ends), game units; its colour, the
    /// largest channel 1.
    Light {
        /// Game units.
        radius: f32,
        /// 0 to 1.
        rgb: Vec3,
    },
    /// A place where players begin, and where they look, radians from +X towards +Y.
    Spawn {
        /// Radians.
        yaw: f32,
    },
    /// A brush model.
    Model,
    /// Anything else with a place.
    Point,
    /// Without a place: worldspawn.
    World,
}

/// An entity.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityEntry {
    /// Its class.
    pub class: String,
    /// `targetname` or `target`, to tell entities of one class apart; may be empty.
    pub name: String,
    /// What it is.
    pub kind: EntityKind,
    /// Box around it, in the world.
    pub bounds: Aabb,
    /// Entities that it targets, by their numbers.
    pub targets: Vec<u32>,
    /// Light style that it names, if that is not 0.
    pub style: Option<u8>,
    /// All keys and values in lower case, for the filter.
    text: String,
}

impl EntityEntry {
    /// Whether a filter in lower case finds it: each word must occur in a key or value.
    pub fn matches(&self, filter: &str) -> bool {
        filter
            .split_whitespace()
            .all(|word| self.text.contains(word))
    }

    /// An entity of that kind, for tests of what is drawn of it.
    #[cfg(test)]
    pub(super) fn for_tests(kind: EntityKind, at: Vec3) -> Self {
        Self {
            class: "test".to_owned(),
            name: String::new(),
            kind,
            bounds: cube(at, POINT_HALF),
            targets: Vec::new(),
            style: None,
            text: String::new(),
        }
    }

    /// Where it is.
    pub fn place(&self) -> Vec3 {
        self.bounds.centre()
    }
}

/// All entities of a map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntityIndex {
    /// By number in the file.
    pub entries: Vec<EntityEntry>,
    /// Lights of the `.map` or `.ent` beside a BSP that holds none.
    pub outside_lights: Vec<EntityEntry>,
    /// Classes with the number of their entities, by name.
    pub classes: Vec<(String, usize)>,
}

impl EntityIndex {
    /// Works them out.
    pub fn new(scene: &Scene) -> Self {
        let list = &scene.bsp.entities.list;
        let models = model_bounds(scene);
        let mut named: HashMap<&str, Vec<u32>> = HashMap::new();
        for (number, entity) in (0..).zip(list) {
            if let Some(name) = entity.get("targetname") {
                named.entry(name).or_default().push(number);
            }
        }
        let entries: Vec<EntityEntry> = (0..)
            .zip(list)
            .map(|(number, entity): (u32, _)| {
                let mut entry = entry(entity, &models);
                if number == 0 {
                    entry.kind = EntityKind::World;
                    entry.bounds = scene.bounds;
                }
                entry.targets = targets(entity, &named);
                entry
            })
            .collect();
        let has_lights = list.iter().any(Entity::is_light);
        let outside = scene.map_source.as_ref().filter(|_| !has_lights);
        let outside = outside.iter().flat_map(|source| &source.entities.list);
        let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in &entries {
            *classes.entry(&entry.class).or_default() += 1;
        }
        let classes = classes
            .into_iter()
            .map(|(class, count)| (class.to_owned(), count))
            .collect();
        Self {
            outside_lights: outside
                .filter(|entity| entity.is_light())
                .map(|entity| entry(entity, &models))
                .collect(),
            entries,
            classes,
        }
    }

    /// The entities of a light style, for display: each class and name once, with how often it occurs; the first few.
    pub fn of_style(&self, style: u8) -> String {
        let all = self.entries.iter().chain(&self.outside_lights);
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for entry in all.filter(|entry| entry.style == Some(style)) {
            *counts.entry((&entry.class, &entry.name)).or_default() += 1;
        }
        let words = counts.iter().map(|((class, name), count)| {
            let name = if name.is_empty() {
                ""
            } else {
                &format!(" {name}")
            };
            let times = if *count > 1 {
                &format!(" ×{count}")
            } else {
                ""
            };
            format!("{class}{name}{times}")
        });
        let mut words: Vec<String> = words.take(STYLE_NAMES_MAX + 1).collect();
        if words.len() > STYLE_NAMES_MAX {
            "…".clone_into(&mut words[STYLE_NAMES_MAX]);
        }
        words.join(", ")
    }

    /// The entity of this number, if the map has it.
    pub fn get(&self, number: u32) -> Option<&EntityEntry> {
        self.entries.get(number as usize)
    }
}

/// Boxes of inline models where they stand; empty ones for models without surfaces and brushes.
fn model_bounds(scene: &Scene) -> Vec<Aabb> {
    let mut bounds: Vec<Aabb> = scene
        .bsp
        .models
        .iter()
        .zip(&scene.models)
        .map(|(model, instance)| {
            let corners = model.bounds.corners();
            Aabb::from_points(corners.map(|corner| instance.rotation * corner + instance.origin))
        })
        .collect();
    for surface in scene.surfaces.iter().filter(|s| !s.indices.is_empty()) {
        if let Some(bounds) = bounds.get_mut(surface.model as usize) {
            *bounds = bounds.union(surface.bounds);
        }
    }
    bounds
}

/// The keys that the compiler reads. A `style` of models is something else in some games, one of lights is not.
fn style(entity: &Entity) -> Option<u8> {
    let number = entity.number(&["_style", "style"])?;
    let is_style = entity.is_light() && (1.0..255.0).contains(&number);
    is_style.then_some(number as u8)
}

fn entry(entity: &Entity, models: &[Aabb]) -> EntityEntry {
    let class = entity.classname();
    let model = entity.inline_model().and_then(|model| models.get(model));
    let at = entity.origin();
    let is_spawn = is_spawn(class);
    let (kind, bounds) = if let Some(bounds) = model {
        (EntityKind::Model, *bounds)
    } else if entity.is_light() {
        (light(entity), cube(at, POINT_HALF))
    } else if is_spawn {
        let angles = entity.vector(&["angles"]).unwrap_or(Vec3::ZERO);
        let yaw = entity.number(&["angle"]).unwrap_or(angles.y).to_radians();
        (EntityKind::Spawn { yaw }, PLAYER.translated(at))
    } else {
        (EntityKind::Point, cube(at, POINT_HALF))
    };
    let text = entity.pairs.iter().fold(String::new(), |mut text, pair| {
        for word in [&pair.0, &pair.1] {
            text.push_str(&word.to_lowercase());
            text.push('\n');
        }
        text
    });
    let name = entity.get("targetname").or_else(|| entity.get("target"));
    EntityEntry {
        class: class.to_owned(),
        name: name.unwrap_or_default().to_owned(),
        kind,
        bounds,
        targets: Vec::new(),
        style: style(entity),
        text,
    }
}

/// Whether players begin there: also team spawns, but not the flags beside them.
fn is_spawn(class: &str) -> bool {
    let class = class.to_ascii_lowercase();
    let is_team = class.starts_with("team_ctf_");
    class.starts_with("info_player")
        || is_team && (class.contains("player") || class.contains("spawn"))
}

fn cube(centre: Vec3, half: f32) -> Aabb {
    Aabb {
        min: centre - half,
        max: centre + half,
    }
}

/// Reach and colour of a light, by section 3 of the light compiler's specification.
fn light(entity: &Entity) -> EntityKind {
    let is_set = |value: &f32| value.abs() > 0.0;
    let number = |keys: &[&str]| entity.number(keys).filter(is_set);
    let intensity = number(&["_light", "light"]).unwrap_or(DEFAULT_INTENSITY)
        * number(&["scale"]).unwrap_or(1.0);
    let flags = entity.number(&["spawnflags"]).unwrap_or(0.0) as i64 as u32;
    let radius = if flags & FLAG_LINEAR != 0 {
        intensity.abs() * LINEAR_SCALE / number(&["fade"]).unwrap_or(1.0).abs()
    } else {
        (intensity.abs() * POINT_SCALE / WHITE).sqrt()
    };
    let raw = entity.vector(&["_color"]).unwrap_or(Vec3::ONE);
    let largest = raw.max_element();
    EntityKind::Light {
        radius,
        rgb: if largest > 0.0 {
            (raw / largest).max(Vec3::ZERO)
        } else {
            Vec3::ONE
        },
    }
}

/// Entities whose `targetname` a key that begins with `target` names; `killtarget` too.
fn targets(entity: &Entity, named: &HashMap<&str, Vec<u32>>) -> Vec<u32> {
    let mut found = Vec::new();
    for (key, value) in &entity.pairs {
        let key = key.trim_end().to_ascii_lowercase();
        let is_target = key.starts_with("target") && !key.starts_with("targetname");
        if is_target || key == "killtarget" {
            found.extend(named.get(value.trim_end()).into_iter().flatten());
        }
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(TARGETS_MAX);
    found
}

/// Stands where an entity is seen whole: on the side of the camera when nothing is between, else where there is room.
pub(super) fn camera_at(bsp: &Bsp, camera: &Camera, bounds: &Aabb) -> Camera {
    /// Game units beyond the entity's own size.
    const AWAY: f32 = 96.0;
    /// Places along the line of sight that must be outside solid.
    const STEPS: u32 = 8;
    let centre = bounds.centre();
    let away = AWAY + bounds.size().length() * 0.75;
    let around = (0..8_u8).map(|step| {
        let angle = f32::from(step) * std::f32::consts::FRAC_PI_4;
        Vec3::new(angle.cos(), angle.sin(), 0.35).normalize_or_zero()
    });
    let own = (camera.eye - centre).normalize_or(Vec3::new(-0.9, 0.0, 0.4));
    let is_open = |point: Vec3| {
        let leaf = bsp.leaf_at(point);
        leaf.is_none_or(|leaf| leaf.cluster.is_some())
    };
    let is_seen = |towards: Vec3, away: f32| {
        (STEPS / 2..=STEPS)
            .all(|step| is_open(centre + towards * (away * step as f32 / STEPS as f32)))
    };
    let ways: Vec<Vec3> = std::iter::once(own).chain(around).collect();
    let near = [1.0, 0.6, 0.35].iter().map(|share| away * share);
    let found = near
        .flat_map(|away| ways.iter().map(move |way| (*way, away)))
        .find(|(way, away)| is_seen(*way, *away));
    let (way, away) = found.unwrap_or((own, away));
    let mut placed = Camera {
        eye: centre + way * away,
        yaw: (-way.y).atan2(-way.x),
        pitch: 0.0,
        ..*camera
    };
    placed.turn(0.0, way.z.clamp(-1.0, 1.0).asin());
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::entities::Entities;

    fn parsed(text: &str) -> Vec<Entity> {
        Entities::parse(text.as_bytes()).list
    }

    #[test]
    fn lights_reach_as_far_as_they_are_white() {
        let list = parsed(
            "{ \"classname\" \"light\" \"_color\" \"2 1 0\" } { \"classname\" \"light\" \"light\" \"100\" \"spawnflags\" \"1\" \"fade\" \"0.5\" }",
        );
        let EntityKind::Light { radius, rgb } = light(&list[0]) else {
            unreachable!("it is a light")
        };
        // 300 · 7500 / 187.5² = 64.
        assert!((radius - 187.5).abs() < 0.01, "{radius}");
        assert_eq!(rgb, Vec3::new(1.0, 0.5, 0.0));
        let EntityKind::Light { radius, .. } = light(&list[1]) else {
            unreachable!("it is a light")
        };
        // 100 · 7500 / 8000 = 93.75, half a byte unit lost a unit.
        assert!((radius - 187.5).abs() < 0.01, "{radius}");
    }

    #[test]
    fn every_kind_of_target_is_followed_by_name() {
        let list = parsed(
            "{ \"targetname\" \"a\" } { \"target\" \"a\" \"target2\" \"b\" \"targetname\" \"c\" } { \"targetname\" \"a\" \"killtarget\" \"c\" } { \"targetname\" \"b\" }",
        );
        let mut named: HashMap<&str, Vec<u32>> = HashMap::new();
        for (number, entity) in (0..).zip(&list) {
            if let Some(name) = entity.get("targetname") {
                named.entry(name).or_default().push(number);
            }
        }
        assert_eq!(targets(&list[1], &named), [0, 2, 3]);
        assert_eq!(targets(&list[2], &named), [1]);
        assert!(targets(&list[0], &named).is_empty());
    }

    #[test]
    fn flags_are_no_spawns() {
        for class in [
            "info_player_start",
            "team_CTF_redspawn",
            "team_CTF_blueplayer",
        ] {
            assert!(is_spawn(class), "{class}");
        }
        for class in ["team_CTF_redflag", "info_notnull", "light"] {
            assert!(!is_spawn(class), "{class}");
        }
    }

    #[test]
    fn a_filter_needs_all_its_words() {
        let list = parsed("{ \"classname\" \"item_Armor\" \"origin\" \"1 2 3\" }");
        let entry = entry(&list[0], &[]);
        assert!(entry.matches("") && entry.matches("armor 1 2") && entry.matches("classname"));
        assert!(!entry.matches("armor gun"));
    }

    #[test]
    fn the_camera_looks_at_what_it_flies_to() {
        let bounds = cube(Vec3::new(100.0, 50.0, 20.0), 16.0);
        let camera = Camera {
            eye: Vec3::new(-300.0, 50.0, 400.0),
            ..Camera::default()
        };
        let placed = camera_at(&Bsp::default(), &camera, &bounds);
        let towards = (bounds.centre() - placed.eye).normalize_or_zero();
        assert!(placed.forward().dot(towards) > 0.9999);
        assert!(placed.eye.distance(bounds.centre()) > 90.0);
        assert!(
            (camera.eye - bounds.centre()).dot(-towards) > 0.0,
            "the same side"
        );
    }
}
