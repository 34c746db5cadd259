use glam::Vec3;

use crate::format::bsp::{LightGridPoint, STYLE_SLOTS};
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext};
use crate::light::contribute::{Contribution, Illumination, Sample};
use crate::light::encode::direction_bytes;
use crate::light::gather::{GridPlaces, Tally, fill_grid};
use crate::light::tracer::TraceState;
use crate::light::world::WorldKeys;
use crate::math::colour::BYTE_MAX;

/// Lights of one point at most.
const CONTRIBUTIONS_MAX: usize = 32_767;
/// Share of flood light that has a direction.
const FLOOD_DIRECTED: f32 = 0.75;

/// Bakes lump 15 (section 6.2). Only style 0 is stored, as IBSP has one slot.
pub(crate) fn bake_legacy(
    lattice: Lattice,
    lighting: &Illumination<'_>,
    world: &WorldKeys,
    tally: &Tally,
    context: &JobContext,
) -> Result<Vec<LightGridPoint>, Cancelled> {
    let places = GridPlaces { lattice, salt: 1 };
    fill_grid(
        &places,
        lighting,
        "legacy grid",
        tally,
        context,
        |sample: &Sample, state: &mut TraceState, found: &mut Vec<Contribution>| {
            found.clear();
            let is_cheap = lighting.settings.cheap;
            let mut total = Vec3::ZERO;
            for light in &lighting.lights {
                let given = lighting.contribution(light, sample, state);
                total += given.map_or(Vec3::ZERO, |given| given.colour);
                found.extend(given);
                let is_full = is_cheap && total.min_element() >= BYTE_MAX;
                if is_full || found.len() >= CONTRIBUTIONS_MAX {
                    break;
                }
            }
            let mut ambient = world.ambient;
            if let Some(flood) = &world.flood {
                // Light from below too counts as from above.
                for light in flood.light_at(sample, &lighting.tracer, state) {
                    found.push(Contribution {
                        colour: light * FLOOD_DIRECTED,
                        direction: Vec3::Z,
                        style: 0,
                    });
                    ambient += light * (1.0 - FLOOD_DIRECTED);
                }
            }
            encode(found, ambient, lighting, world)
        },
    )
}

fn encode(
    found: &[Contribution],
    mut ambient: Vec3,
    lighting: &Illumination<'_>,
    world: &WorldKeys,
) -> LightGridPoint {
    let settings = lighting.settings;
    let sum: Vec3 = found
        .iter()
        .map(|contribution| contribution.direction * contribution.colour.length())
        .sum();
    let main = sum.normalize_or_zero();
    let mut directionality = settings.grid_directionality.min(1.0);
    let across = settings.grid_ambient_directionality.max(-1.0);
    directionality = directionality.max(across);
    let mut directed = Vec3::ZERO;
    let mut slots = StyleSlots::default();
    for contribution in found {
        let cosine = contribution.direction.dot(main);
        let share = (across + cosine * (directionality - across)).max(0.0);
        if slots.slot(contribution.style) == 0 {
            directed += contribution.colour * share;
            ambient += contribution.colour * (0.25 * (1.0 - share));
        }
    }
    let ambient_scale = settings.grid_scale * settings.grid_ambient_scale;
    let bytes = |light: Vec3, scale: f32| settings.transfer.encode(light, scale, world.max_light);
    let mut point = LightGridPoint {
        ambient: bytes(ambient.max(world.min_grid_light), ambient_scale),
        directed: bytes(directed, settings.grid_scale),
        ..LightGridPoint::default()
    };
    // Engines skip points without ambient light.
    if point.ambient == [0; 3] && point.directed != [0; 3] {
        point.ambient = [1; 3];
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
