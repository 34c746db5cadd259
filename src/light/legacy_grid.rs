use glam::Vec3;

use crate::format::bsp::{STYLE_NONE, STYLE_SLOTS, StyledGridPoint};
use crate::light::contribute::Contribution;
use crate::light::encode::direction_bytes;
use crate::light::settings::BakeSettings;
use crate::light::world::WorldKeys;
use crate::math::colour::BYTE_MAX;

/// Lights of one point at most.
const CONTRIBUTIONS_MAX: usize = 32_767;
/// Share of flood light that has a direction.
const FLOOD_DIRECTED: f32 = 0.75;

/// Light at one point of lump 15 while it is summed (section 6.2), in a slot for each of up to four styles. IBSP stores the
/// first.
#[derive(Clone, Debug, Default)]
pub(crate) struct LegacySum {
    found: Vec<Contribution>,
    total: Vec3,
    is_full: bool,
}

impl LegacySum {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.total = Vec3::ZERO;
        self.is_full = false;
    }

    /// Whether further lights are not wanted.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(super) fn add(&mut self, given: &Contribution, settings: &BakeSettings) {
        self.found.push(*given);
        self.total += given.colour;
        self.is_full = self.found.len() >= CONTRIBUTIONS_MAX
            || (settings.cheap && self.total.min_element() >= BYTE_MAX);
    }

    /// The record; `flood` is flood light from above and below.
    pub(super) fn finish(
        &mut self,
        flood: Option<[Vec3; 2]>,
        settings: &BakeSettings,
        world: &WorldKeys,
    ) -> StyledGridPoint {
        let mut flood_ambient = Vec3::ZERO;
        // Light from below too counts as from above.
        for light in flood.into_iter().flatten() {
            self.found.push(Contribution {
                colour: light * FLOOD_DIRECTED,
                direction: Vec3::Z,
                style: 0,
            });
            flood_ambient += light * (1.0 - FLOOD_DIRECTED);
        }
        encode(&self.found, flood_ambient, settings, world)
    }
}

fn encode(
    found: &[Contribution],
    flood_ambient: Vec3,
    settings: &BakeSettings,
    world: &WorldKeys,
) -> StyledGridPoint {
    let sum: Vec3 = found
        .iter()
        .map(|contribution| contribution.direction * contribution.colour.length())
        .sum();
    let main = sum.normalize_or_zero();
    let mut directionality = settings.grid_directionality.min(1.0);
    let across = settings.grid_ambient_directionality.max(-1.0);
    directionality = directionality.max(across);
    let mut directed = [Vec3::ZERO; STYLE_SLOTS];
    let mut ambient = [world.ambient; STYLE_SLOTS];
    ambient[0] += flood_ambient;
    let mut slots = StyleSlots::default();
    for contribution in found {
        let cosine = contribution.direction.dot(main);
        let share = (across + cosine * (directionality - across)).max(0.0);
        let slot = slots.slot(contribution.style);
        directed[slot] += contribution.colour * share;
        ambient[slot] += contribution.colour * (0.25 * (1.0 - share));
    }
    let ambient_scale = settings.grid_scale * settings.grid_ambient_scale;
    let bytes = |light: Vec3, scale: f32| settings.transfer.encode(light, scale, world.max_light);
    let mut point = StyledGridPoint {
        ambient: ambient.map(|light| bytes(light.max(world.min_grid_light), ambient_scale)),
        directed: directed.map(|light| bytes(light, settings.grid_scale)),
        styles: slots.styles(),
        ..StyledGridPoint::default()
    };
    // Engines skip points without ambient light.
    for (ambient, directed) in point.ambient.iter_mut().zip(point.directed) {
        if *ambient == [0; 3] && directed != [0; 3] {
            *ambient = [1; 3];
        }
    }
    [point.zenith, point.azimuth] = direction_bytes(main, settings.model);
    point
}

/// Slots that a point's styles go to: style 0 first, others as they come, and slot 0 again when all are taken.
#[derive(Default)]
struct StyleSlots {
    styles: [u8; STYLE_SLOTS],
    used: usize,
}

impl StyleSlots {
    fn slot(&mut self, style: u8) -> usize {
        self.used = self.used.max(1);
        if let Some(slot) = self.styles[..self.used].iter().position(|s| *s == style) {
            return slot;
        }
        if self.used == STYLE_SLOTS {
            return 0;
        }
        self.styles[self.used] = style;
        self.used += 1;
        self.used - 1
    }

    /// As they are stored: slots that no light took hold no style, but slot 0 is always there.
    fn styles(&self) -> [u8; STYLE_SLOTS] {
        std::array::from_fn(|slot| {
            if slot < self.used.max(1) {
                self.styles[slot]
            } else {
                STYLE_NONE
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_style_falls_into_slot_0() {
        let mut slots = StyleSlots::default();
        let found = [3, 0, 3, 4, 5, 6, 5].map(|style| slots.slot(style));
        assert_eq!(found, [1, 0, 1, 2, 3, 0, 3]);
    }
}
