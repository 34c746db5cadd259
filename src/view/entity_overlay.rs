//! Entities as lines over the picture, no more of them than a frame can carry.

use glam::Vec3;

use crate::math::Aabb;
use crate::view::entities::{EntityEntry, EntityIndex, EntityKind};
use crate::view::options::{EntityLayer, EntityOverlays};
use crate::view::overlay::OverlayLine;

/// Lines of all entities at most; the nearest entities go first.
pub const LINES_MAX: usize = 8192;
/// Corners of the ring at a light's reach.
const RING: u16 = 24;
/// Half the size of a light's star, game units.
const STAR: f32 = 8.0;
/// Length of an arrow head over its line, at most [`HEAD_MAX`] game units.
const HEAD: f32 = 0.25;
/// Game units.
const HEAD_MAX: f32 = 14.0;
const TARGET: Vec3 = Vec3::new(0.35, 0.85, 1.0);
const SPAWN: Vec3 = Vec3::new(0.45, 0.95, 0.45);
const MODEL: Vec3 = Vec3::new(0.95, 0.5, 0.9);
const SELECTED: Vec3 = Vec3::new(1.0, 0.85, 0.2);

/// The lines of the layers that are shown, of entities within the options' distance of `eye`; those of the `selected` one
/// whatever is shown.
pub fn entity_lines(
    index: &EntityIndex,
    options: EntityOverlays,
    eye: Vec3,
    selected: Option<u32>,
) -> Vec<OverlayLine> {
    let mut lines = Lines::default();
    if let Some(entry) = selected.and_then(|number| index.get(number)) {
        if entry.kind != EntityKind::World {
            lines.cage(&entry.bounds.grown(2.0), SELECTED);
        }
        lines.targets(index, entry, SELECTED);
    }
    if !options.shows_any() {
        return lines.0;
    }
    let all = index.entries.iter().chain(&index.outside_lights);
    let mut near: Vec<(f32, &EntityEntry)> = all
        .filter(|entry| entry.kind != EntityKind::World)
        .map(|entry| {
            let closest = eye.clamp(entry.bounds.min, entry.bounds.max);
            (closest.distance(eye), entry)
        })
        .filter(|(distance, _)| *distance <= options.distance)
        .collect();
    near.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    for (_, entry) in near {
        if lines.0.len() >= LINES_MAX {
            break;
        }
        lines.entity(index, entry, options, eye);
    }
    lines.0.truncate(LINES_MAX);
    lines.0
}

#[derive(Default)]
struct Lines(Vec<OverlayLine>);

impl Lines {
    fn entity(
        &mut self,
        index: &EntityIndex,
        entry: &EntityEntry,
        options: EntityOverlays,
        eye: Vec3,
    ) {
        match entry.kind {
            EntityKind::Light { radius, rgb } if options.shows(EntityLayer::Lights) => {
                self.light(entry.place(), radius, rgb, eye);
            }
            EntityKind::Spawn { yaw } if options.shows(EntityLayer::Spawns) => {
                self.cage(&entry.bounds, SPAWN);
                let forward = Vec3::new(yaw.cos(), yaw.sin(), 0.0);
                let from = entry.place();
                self.arrow(from, from + forward * 40.0, SPAWN);
            }
            EntityKind::Model if options.shows(EntityLayer::Models) => {
                self.cage(&entry.bounds, MODEL);
            }
            _ => {}
        }
        if options.shows(EntityLayer::Targets) {
            self.targets(index, entry, TARGET);
        }
    }

    fn targets(&mut self, index: &EntityIndex, entry: &EntityEntry, rgb: Vec3) {
        for target in entry.targets.iter().filter_map(|number| index.get(*number)) {
            self.arrow(entry.place(), target.place(), rgb);
        }
    }

    /// A star at the light and a ring at its reach, which faces the eye.
    fn light(&mut self, at: Vec3, radius: f32, rgb: Vec3, eye: Vec3) {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            self.line(at - axis * STAR, at + axis * STAR, rgb);
        }
        let facing = (eye - at).normalize_or(Vec3::Z);
        let (side, top) = facing.any_orthonormal_pair();
        let point = |corner: u16| {
            let angle = f32::from(corner) / f32::from(RING) * std::f32::consts::TAU;
            at + (side * angle.cos() + top * angle.sin()) * radius
        };
        for corner in 0..RING {
            self.line(point(corner), point(corner + 1), rgb * 0.6);
        }
    }

    fn arrow(&mut self, from: Vec3, to: Vec3, rgb: Vec3) {
        self.line(from, to, rgb);
        let along = to - from;
        let length = along.length();
        if length <= 0.0 {
            return;
        }
        let along = along / length;
        let head = (length * HEAD).min(HEAD_MAX);
        let (side, _) = along.any_orthonormal_pair();
        for side in [side, -side] {
            self.line(to, to - along * head + side * (head * 0.5), rgb);
        }
    }

    /// The twelve edges of a box.
    fn cage(&mut self, bounds: &Aabb, rgb: Vec3) {
        let corner = |bits: usize| {
            let pick = |axis: usize| {
                let side = if bits >> axis & 1 == 0 {
                    bounds.min
                } else {
                    bounds.max
                };
                side[axis]
            };
            Vec3::new(pick(0), pick(1), pick(2))
        };
        for bits in 0..8_usize {
            for axis in 0..3 {
                let other = bits | 1 << axis;
                if other != bits {
                    self.line(corner(bits), corner(other), rgb);
                }
            }
        }
    }

    fn line(&mut self, from: Vec3, to: Vec3, rgb: Vec3) {
        self.0.push(OverlayLine { from, to, rgb });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn light(x: f32) -> EntityEntry {
        EntityEntry::for_tests(
            EntityKind::Light {
                radius: 100.0,
                rgb: Vec3::ONE,
            },
            Vec3::X * x,
        )
    }

    #[test]
    fn far_entities_and_hidden_layers_are_left_out() {
        let index = EntityIndex {
            entries: vec![light(0.0), light(500.0), light(5000.0)],
            ..EntityIndex::default()
        };
        let mut options = EntityOverlays::default();
        let count = |options| entity_lines(&index, options, Vec3::ZERO, None).len();
        assert_eq!(count(options), 0);
        *options.layer(EntityLayer::Lights) = true;
        options.distance = 1000.0;
        let one = 3 + usize::from(RING);
        assert_eq!(count(options), 2 * one);
        options.distance = f32::INFINITY;
        assert_eq!(count(options), 3 * one);
        *options.layer(EntityLayer::Lights) = false;
        *options.layer(EntityLayer::Spawns) = true;
        assert_eq!(count(options), 0);
        // The selected one has its box even so.
        assert_eq!(entity_lines(&index, options, Vec3::ZERO, Some(2)).len(), 12);
    }

    #[test]
    fn however_many_there_are_the_lines_have_a_limit() {
        let entries: Vec<_> = (0..5000).map(|x| light(x as f32)).collect();
        let index = EntityIndex {
            entries,
            ..EntityIndex::default()
        };
        let mut options = EntityOverlays::default();
        *options.layer(EntityLayer::Lights) = true;
        options.distance = f32::INFINITY;
        let lines = entity_lines(&index, options, Vec3::ZERO, None);
        assert_eq!(lines.len(), LINES_MAX);
        assert!(lines.iter().all(|line| line.from.x < 1000.0), "the nearest");
    }

    #[test]
    fn targets_are_joined() {
        let mut trigger = EntityEntry::for_tests(EntityKind::Point, Vec3::ZERO);
        trigger.targets = vec![1];
        let door = EntityEntry::for_tests(EntityKind::Model, Vec3::X * 100.0);
        let index = EntityIndex {
            entries: vec![trigger, door],
            ..EntityIndex::default()
        };
        let mut options = EntityOverlays::default();
        *options.layer(EntityLayer::Targets) = true;
        let lines = entity_lines(&index, options, Vec3::ZERO, None);
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].from, lines[0].to), (Vec3::ZERO, Vec3::X * 100.0));
    }
}
