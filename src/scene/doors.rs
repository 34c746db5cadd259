use glam::{Affine3A, Quat, Vec3};

use crate::format::bsp::Bsp;
use crate::format::entities::Entity;
use crate::job::Warnings;
use crate::math::Aabb;
use crate::scene::tree::leafs_in;
use crate::scene::types::ModelInstance;

/// How far around a brush model its areas are looked for, game units: a door that fills its portal brush still meets both.
const REACH: f32 = 1.0;
/// How much of a sliding door stays in its frame without the key `lip`, game units.
const LIP: f32 = 8.0;
/// How far a rotating door turns when nothing is said, degrees.
const TURN_DEG: f32 = 90.0;
/// `spawnflags`: the game begins with the door open.
const START_OPEN: u32 = 1;
/// `spawnflags` of rotating doors: about X, about Y instead of Z.
const ABOUT_X: u32 = 64;
const ABOUT_Y: u32 = 128;

/// Movers looked at most: more inline models than the engine takes; a damaged file may hold any number.
pub const MOVERS_MAX: usize = 256;

/// Classes that move, by the start of their names. Those that are no doors open portals only where they stand in one.
const MOVERS: [&str; 9] = [
    "func_door",
    "func_button",
    "func_plat",
    "func_train",
    "func_bobbing",
    "func_pendulum",
    "func_rotating",
    "func_explosive",
    "func_breakable",
];

/// How a door moves from its place in the file when it is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opening {
    /// It stays where it is: movers that are no doors.
    Stays,
    /// By this vector, game units.
    Slides(Vec3),
    /// About its origin, by the right-hand rule.
    Turns {
        /// Unit vector.
        axis: Vec3,
        /// Radians.
        angle: f32,
    },
}

/// A brush model that can be opened and shut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Door {
    /// Number of the entity.
    pub entity: u32,
    /// Number of its inline model.
    pub model: u32,
    /// How it moves.
    pub opening: Opening,
    /// Whether the game begins with it open.
    pub starts_open: bool,
    /// The two areas whose portal it opens; `None` when it stands in one area, in none, or in more than two.
    pub areas: Option<[u32; 2]>,
    /// First door of the team that it moves with: its own number in the list when it is alone or first.
    pub leader: u32,
}

impl Door {
    /// World position of the opened door from that of the shut one.
    pub fn opened_from_shut(&self, place: &ModelInstance) -> Affine3A {
        match self.opening {
            Opening::Stays => Affine3A::IDENTITY,
            Opening::Slides(by) => Affine3A::from_translation(by),
            Opening::Turns { axis, angle } => {
                let turn = Affine3A::from_quat(Quat::from_axis_angle(axis, angle));
                let there = Affine3A::from_translation(place.origin);
                there * turn * Affine3A::from_translation(-place.origin)
            }
        }
    }
}

/// All doors, and other movers that stand between two areas, in the order of their entities. A model that several entities
/// show belongs to the first.
pub(super) fn find_doors(bsp: &Bsp, models: &[ModelInstance], warnings: &Warnings) -> Vec<Door> {
    let mut doors: Vec<Door> = Vec::new();
    let mut teams: Vec<(&str, u32)> = Vec::new();
    let mut movers = 0;
    for (number, entity) in bsp.entities.list.iter().enumerate() {
        let class = entity.classname().to_ascii_lowercase();
        let Some(model) = entity.inline_model().filter(|_| is_mover(&class)) else {
            continue;
        };
        let (Some(place), Some(shape)) = (models.get(model), bsp.models.get(model)) else {
            continue;
        };
        if place.entity != Some(number as u32) {
            continue;
        }
        movers += 1;
        if movers > MOVERS_MAX {
            let text = format!("more than {MOVERS_MAX} movers: the rest opens no portals");
            warnings.push("W131", text);
            break;
        }
        let areas = areas_of(bsp, place, shape.bounds, &class, warnings);
        if areas.is_none() && !class.starts_with("func_door") {
            continue;
        }
        let own = doors.len() as u32;
        let leader = entity.get("team").map_or(own, |team| {
            let known = teams.iter().find(|(name, _)| *name == team);
            known.map_or(own, |(_, first)| *first)
        });
        if let (Some(team), true) = (entity.get("team"), leader == own) {
            teams.push((team, own));
        }
        doors.push(Door {
            entity: number as u32,
            model: model as u32,
            opening: opening(entity, &class, shape.bounds.size()),
            starts_open: class.starts_with("func_door") && flags(entity) & START_OPEN != 0,
            areas,
            leader,
        });
    }
    doors
}

fn is_mover(class: &str) -> bool {
    MOVERS.iter().any(|mover| class.starts_with(mover))
}

fn flags(entity: &Entity) -> u32 {
    entity.number(&["spawnflags"]).unwrap_or(0.0) as i64 as u32
}

fn opening(entity: &Entity, class: &str, size: Vec3) -> Opening {
    let number = |key: &str| entity.number(&[key]).filter(|value| *value != 0.0);
    match class {
        "func_door" => {
            let direction = direction(entity);
            let lip = entity.number(&["lip"]).unwrap_or(LIP);
            // The engine's projection of the box onto the way, by which a slanting door goes a little too far.
            let distance = direction.abs().dot(size) - lip;
            Opening::Slides(direction * distance)
        }
        "func_door_rotating" => {
            let degrees = number("distance").or(number("angle")).unwrap_or(TURN_DEG);
            let axis = match flags(entity) & (ABOUT_X | ABOUT_Y) {
                0 => Vec3::Z,
                ABOUT_X => Vec3::X,
                _ => Vec3::Y,
            };
            Opening::Turns {
                axis,
                angle: degrees.to_radians(),
            }
        }
        _ => Opening::Stays,
    }
}

/// Where `angle` or `angles` points: headings in degrees, −1 up and −2 down.
fn direction(entity: &Entity) -> Vec3 {
    let angles = match entity.number(&["angle"]) {
        Some(yaw) => Vec3::new(0.0, yaw, 0.0),
        None => entity.vector(&["angles"]).unwrap_or(Vec3::ZERO),
    };
    if angles == Vec3::new(0.0, -1.0, 0.0) {
        return Vec3::Z;
    }
    if angles == Vec3::new(0.0, -2.0, 0.0) {
        return Vec3::NEG_Z;
    }
    let (sin_pitch, cos_pitch) = angles.x.to_radians().sin_cos();
    let (sin_yaw, cos_yaw) = angles.y.to_radians().sin_cos();
    Vec3::new(cos_pitch * cos_yaw, cos_pitch * sin_yaw, -sin_pitch)
}

/// The two areas that a mover stands between.
fn areas_of(
    bsp: &Bsp,
    place: &ModelInstance,
    bounds: Aabb,
    class: &str,
    warnings: &Warnings,
) -> Option<[u32; 2]> {
    if bounds.is_empty() {
        return None;
    }
    let placed = placed_bounds(place, bounds).grown(REACH);
    let mut areas = Vec::new();
    leafs_in(bsp, &placed, |leaf| {
        areas.extend(bsp.leafs.get(leaf as usize).and_then(|leaf| leaf.area));
    });
    areas.sort_unstable();
    areas.dedup();
    match *areas.as_slice() {
        [a, b] => Some([a, b]),
        [_, _, _, ..] => {
            let centre = placed.centre();
            let text = format!(
                "{class} touching {} areas at {:.0} {:.0} {:.0}: it opens no portal",
                areas.len(),
                centre.x,
                centre.y,
                centre.z
            );
            warnings.push("W131", text);
            None
        }
        _ => None,
    }
}

/// Box in the world of a model's own box.
pub(super) fn placed_bounds(place: &ModelInstance, bounds: Aabb) -> Aabb {
    let corners = bounds.corners();
    Aabb::from_points(corners.map(|corner| place.rotation * corner + place.origin))
}

#[cfg(test)]
mod tests {
    use glam::Mat3;

    use super::*;
    use crate::format::entities::Entities;

    fn entity(text: &str) -> Entity {
        Entities::parse(text.as_bytes()).list.remove(0)
    }

    const SIZE: Vec3 = Vec3::new(12.0, 128.0, 96.0);

    fn slide(text: &str) -> Vec3 {
        match opening(&entity(text), "func_door", SIZE) {
            Opening::Slides(by) => by,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_sliding_door_goes_by_its_size_but_the_lip() {
        assert!(slide("{ angle 90 }").abs_diff_eq(Vec3::Y * 120.0, 1e-4));
        assert!(slide("{ angle 180 lip 4 }").abs_diff_eq(Vec3::NEG_X * 8.0, 1e-4));
        assert!(slide("{ angle -1 lip 0 }").abs_diff_eq(Vec3::Z * 96.0, 1e-4));
        assert!(slide("{ angle -2 }").abs_diff_eq(Vec3::NEG_Z * 88.0, 1e-4));
        assert!(slide("{ angles \"0 270 0\" lip -8 }").abs_diff_eq(Vec3::NEG_Y * 136.0, 1e-4));
        assert!(slide("{ }").abs_diff_eq(Vec3::X * 4.0, 1e-4));
    }

    #[test]
    fn a_rotating_door_turns_about_its_origin() {
        let door = |text: &str| Door {
            entity: 1,
            model: 1,
            opening: opening(&entity(text), "func_door_rotating", SIZE),
            starts_open: false,
            areas: None,
            leader: 0,
        };
        let place = ModelInstance {
            entity: Some(1),
            origin: Vec3::new(100.0, 0.0, 0.0),
            rotation: Mat3::IDENTITY,
        };
        let moved = |text: &str| {
            door(text)
                .opened_from_shut(&place)
                .transform_point3(Vec3::new(110.0, 0.0, 5.0))
        };
        assert!(moved("{ }").abs_diff_eq(Vec3::new(100.0, 10.0, 5.0), 1e-4));
        assert!(moved("{ distance 180 }").abs_diff_eq(Vec3::new(90.0, 0.0, 5.0), 1e-4));
        assert!(moved("{ angle -90 }").abs_diff_eq(Vec3::new(100.0, -10.0, 5.0), 1e-4));
        assert!(moved("{ spawnflags 64 }").abs_diff_eq(Vec3::new(110.0, -5.0, 0.0), 1e-4));
        assert!(moved("{ spawnflags 128 }").abs_diff_eq(Vec3::new(105.0, 0.0, -10.0), 1e-4));
    }
}
