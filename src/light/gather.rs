use std::sync::atomic::{AtomicU64, Ordering};

use glam::Vec3;
use rayon::prelude::*;

use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext};
use crate::light::contribute::{Illumination, Sample};
use crate::light::settings::LightModel;
use crate::light::tracer::TraceState;
use crate::math::sampling;

/// Places tried for a point in solid.
const NUDGES: u32 = 199;
/// Growth of the box in which they lie, in cells.
const NUDGE_STEP: f32 = 0.005;
/// A nudged point may lie this deep in an opaque brush, game units.
const NUDGE_MARGIN: f32 = 0.125;
/// Triangles nearer than this cast no shadow in the corrected model, game units.
const CORRECTED_INHIBIT: f32 = 8.0;
/// Points of one tile.
const TILE: usize = 32;

/// Counts over all points of a grid.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Segments traced.
    pub rays: AtomicU64,
    /// Points in solid that found no air.
    pub in_solid: AtomicU64,
}

/// Where the points of one grid are sampled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridPlaces {
    /// The grid's placement.
    pub lattice: Lattice,
    /// Separates the random numbers of the grids.
    pub salt: u64,
}

impl GridPlaces {
    /// Where point number `index` gathers light: at its lattice position, or at a random place nearby when that is solid.
    fn sample(&self, index: usize, lighting: &Illumination<'_>) -> Option<Sample> {
        let cell = self.lattice.cell_size;
        let inhibit = match lighting.settings.model {
            LightModel::Q3map2 => cell.max_element() * 0.5,
            LightModel::Corrected => CORRECTED_INHIBIT,
        };
        let sample = |position: Vec3, margin: f32| {
            let cluster = lighting.clusters.of_point(position, margin)?;
            Some(Sample {
                position,
                cluster,
                inhibit,
            })
        };
        let position = self.lattice.position_of(index);
        sample(position, 0.0).or_else(|| {
            (0..NUDGES).find_map(|attempt| {
                let draw = |axis: u32| {
                    let seed = lighting.settings.seed ^ self.salt;
                    sampling::unit(seed, index as u64, 3 * attempt + axis) - 0.5
                };
                let step = NUDGE_STEP * (attempt + 1) as f32;
                let offset = Vec3::new(draw(0), draw(1), draw(2)) * step * cell;
                sample(position + offset, -NUDGE_MARGIN)
            })
        })
    }
}

/// Fills one value a lattice point in parallel tiles; a point in solid keeps the default.
///
/// Values do not depend on the number of threads.
pub(crate) fn fill_grid<T: Default + Clone + Send, M: Default>(
    places: &GridPlaces,
    lighting: &Illumination<'_>,
    stage: &'static str,
    tally: &Tally,
    context: &JobContext,
    at_sample: impl Fn(&Sample, &mut TraceState, &mut M) -> T + Sync,
) -> Result<Vec<T>, Cancelled> {
    let count = places.lattice.len();
    context.progress.begin(stage, count);
    // The point caps keep this far below the address space.
    let mut points = vec![T::default(); usize::try_from(count).unwrap_or(0)];
    points.par_chunks_mut(TILE).enumerate().try_for_each_init(
        || (TraceState::default(), M::default()),
        |(state, memory), (tile, points)| {
            for (offset, point) in points.iter_mut().enumerate() {
                context.cancel.check()?;
                match places.sample(tile * TILE + offset, lighting) {
                    Some(sample) => *point = at_sample(&sample, state, memory),
                    None => {
                        tally.in_solid.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            tally.rays.fetch_add(state.rays, Ordering::Relaxed);
            state.rays = 0;
            context.progress.add(points.len() as u64);
            Ok(())
        },
    )?;
    Ok(points)
}
