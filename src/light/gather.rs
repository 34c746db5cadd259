//! Gathering: which points of the grids see which lights, block by block of neighbouring points.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::{UVec3, Vec3};
use rayon::prelude::*;

use crate::format::bsp::{LightGridPoint, ShPoint, StyledGridPoint};
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext};
use crate::light::contribute::{Contribution, Illumination, Neighbourhood, Sample};
use crate::light::legacy_grid::LegacySum;
use crate::light::settings::LightModel;
use crate::light::sh_grid::ShSum;
use crate::light::tracer::TraceState;
use crate::light::world::WorldKeys;
use crate::math::lanes::LANES;
use crate::math::{Aabb, sampling};

/// Places tried for a point in solid.
const NUDGES: u32 = 199;
/// Growth of the box in which they lie, in cells.
const NUDGE_STEP: f32 = 0.005;
/// A nudged point may lie this deep in an opaque brush, game units.
const NUDGE_MARGIN: f32 = 0.125;
/// Triangles nearer than this cast no shadow in the corrected model, game units.
const CORRECTED_INHIBIT: f32 = 8.0;
/// Points along each side of a block.
const BLOCK_SIDE: u32 = 4;

/// One of the two grids, as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grid {
    /// Lump 15.
    Legacy = 0,
    /// Lump 18.
    Sh = 1,
}

impl Grid {
    pub(super) const ALL: [Self; 2] = [Self::Legacy, Self::Sh];
}

/// Counts over all points.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Segments traced.
    pub rays: AtomicU64,
    /// Points in solid that found no air.
    pub in_solid: AtomicU64,
    /// Gathering places times lights.
    pub pairs: AtomicU64,
    /// Those of lights that may reach the block.
    pub near_pairs: AtomicU64,
}

/// The grids that are baked, each with its points in lattice order.
#[derive(Debug, Default)]
pub(crate) struct GridPoints {
    /// Lump 15; empty when off.
    pub legacy: Vec<LightGridPoint>,
    /// Lump 15 with all style slots; empty when off, or when the format has none.
    pub styled: Vec<StyledGridPoint>,
    /// Lump 18; empty when off.
    pub sh: Vec<ShPoint>,
}

/// The lattices that are baked, and which points they share.
#[derive(Debug)]
pub(crate) struct Targets {
    lattices: [Option<Lattice>; 2],
    /// Whether points of the legacy grid keep all style slots.
    has_styles: bool,
    /// By axis and SH coordinate: the legacy coordinate at the very same place.
    twins: [Vec<Option<u32>>; 3],
    /// By axis and legacy coordinate: whether the SH lattice has it.
    is_shared: [Vec<bool>; 3],
}

impl Targets {
    pub(super) fn new(legacy: Option<Lattice>, sh: Option<Lattice>, has_styles: bool) -> Self {
        let coordinates = |lattice: Option<Lattice>, axis: usize| -> Vec<f32> {
            let lattice = lattice.into_iter();
            lattice
                .flat_map(|lattice| {
                    (0..lattice.counts[axis])
                        .map(move |at| lattice.position(UVec3::splat(at))[axis])
                })
                .collect()
        };
        let pairs: [_; 3] =
            std::array::from_fn(|axis| (coordinates(legacy, axis), coordinates(sh, axis)));
        let numbered = |coordinates: &[f32]| -> BTreeMap<u32, u32> {
            let bits = coordinates.iter().map(|at| at.to_bits());
            bits.zip(0..).collect()
        };
        Self {
            lattices: [legacy, sh],
            has_styles,
            twins: std::array::from_fn(|axis| {
                let (legacy, sh) = &pairs[axis];
                let legacy = numbered(legacy);
                sh.iter()
                    .map(|at| legacy.get(&at.to_bits()).copied())
                    .collect()
            }),
            is_shared: std::array::from_fn(|axis| {
                let (legacy, sh) = &pairs[axis];
                let sh = numbered(sh);
                legacy
                    .iter()
                    .map(|at| sh.contains_key(&at.to_bits()))
                    .collect()
            }),
        }
    }

    /// Points of all grids.
    fn len(&self) -> u64 {
        self.lattices.iter().flatten().map(Lattice::len).sum()
    }

    /// By grid: triangles nearer than this to a point cast no shadow, game units. A grid that is not baked goes with the other.
    pub(super) fn inhibits(&self, model: LightModel) -> [f32; 2] {
        let of = |lattice: Lattice| match model {
            LightModel::Q3map2 => lattice.cell_size.max_element() * 0.5,
            LightModel::Corrected => CORRECTED_INHIBIT,
        };
        let [legacy, sh] = self.lattices;
        [legacy.or(sh), sh.or(legacy)].map(|lattice| lattice.map_or(0.0, of))
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for grid in Grid::ALL {
            let Some(lattice) = self.lattices[grid as usize] else {
                continue;
            };
            let steps = |axis: usize| (0..lattice.counts[axis]).step_by(BLOCK_SIDE as usize);
            for z in steps(2) {
                for y in steps(1) {
                    blocks.extend(steps(0).map(|x| Block {
                        grid,
                        first: UVec3::new(x, y, z),
                    }));
                }
            }
        }
        blocks
    }

    /// The legacy point at the place of an SH point.
    fn twin(&self, cell: UVec3) -> Option<usize> {
        let legacy = self.lattices[Grid::Legacy as usize]?;
        let at = |axis: usize| self.twins[axis].get(cell[axis] as usize).copied().flatten();
        Some(legacy.index(UVec3::new(at(0)?, at(1)?, at(2)?)))
    }

    /// Whether the SH lattice has a point at the place of a legacy point.
    fn has_twin(&self, cell: UVec3) -> bool {
        (0..3).all(|axis| self.is_shared[axis].get(cell[axis] as usize) == Some(&true))
    }
}

/// Neighbouring points of one lattice.
#[derive(Clone, Copy, Debug)]
struct Block {
    grid: Grid,
    first: UVec3,
}

impl Block {
    /// The points in an order in which every eight that follow each other are neighbours.
    fn cells(self, lattice: &Lattice) -> impl Iterator<Item = UVec3> {
        let counts = lattice.counts;
        (0..BLOCK_SIDE.pow(3)).filter_map(move |number| {
            let axis = |shift: u32| (number >> shift & 1) | (number >> (shift + 2) & 2);
            let cell = self.first + UVec3::new(axis(0), axis(1), axis(2));
            cell.cmplt(counts).all().then_some(cell)
        })
    }
}

/// Where light is gathered and which points get it.
#[derive(Clone, Debug)]
struct Gatherer {
    sample: Sample,
    /// Point number by grid.
    points: [Option<usize>; 2],
}

/// Working memory of one thread.
#[derive(Debug, Default)]
struct Memory {
    state: TraceState,
    gatherers: Vec<Gatherer>,
    samples: Vec<Sample>,
    around: Neighbourhood,
    /// By packet and grid: a bit for each sample that wants light.
    wanted: Vec<[u8; 2]>,
    legacy: Vec<LegacySum>,
    sh: Vec<ShSum>,
}

/// Fills the grids in parallel blocks; a point in solid keeps the default.
///
/// Values depend neither on the number of threads nor on which other grid is baked.
pub(crate) fn fill_grids(
    targets: &Targets,
    lighting: &Illumination<'_>,
    world: &WorldKeys,
    tally: &Tally,
    context: &JobContext,
) -> Result<GridPoints, Cancelled> {
    context.progress.begin("light grids", targets.len());
    // The point caps keep these far below the address space.
    let count = |grid: Grid| {
        let lattice = targets.lattices[grid as usize];
        usize::try_from(lattice.map_or(0, |lattice| lattice.len())).unwrap_or(0)
    };
    let points = Mutex::new(GridPoints {
        legacy: vec![LightGridPoint::default(); count(Grid::Legacy)],
        styled: vec![
            StyledGridPoint::default();
            if targets.has_styles {
                count(Grid::Legacy)
            } else {
                0
            }
        ],
        sh: vec![ShPoint::default(); count(Grid::Sh)],
    });
    targets
        .blocks()
        .into_par_iter()
        .try_for_each_init(Memory::default, |memory, block| {
            // Also where no light is asked, as in blocks that are all in solid.
            context.cancel.check()?;
            let done = memory.collect(block, targets, lighting, tally);
            memory.gather(lighting, context)?;
            memory.count_pairs(lighting, tally);
            memory.finish(lighting, world, &points);
            tally.rays.fetch_add(memory.state.rays, Ordering::Relaxed);
            memory.state.rays = 0;
            context.progress.add(done);
            Ok(())
        })?;
    context.cancel.check()?;
    Ok(points.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Memory {
    /// Finds the places where the block's points gather light; returns how many points the block has.
    fn collect(
        &mut self,
        block: Block,
        targets: &Targets,
        lighting: &Illumination<'_>,
        tally: &Tally,
    ) -> u64 {
        self.gatherers.clear();
        let mut done = 0;
        let Some(lattice) = &targets.lattices[block.grid as usize] else {
            return done;
        };
        let cells = block.cells(lattice).map(|cell| lattice.position(cell));
        let subtree = lighting.clusters.subtree(&Aabb::from_points(cells));
        for cell in block.cells(lattice) {
            let mut points = [None; 2];
            points[block.grid as usize] = Some(lattice.index(cell));
            match block.grid {
                Grid::Sh => points[Grid::Legacy as usize] = targets.twin(cell),
                Grid::Legacy if targets.has_twin(cell) => continue,
                Grid::Legacy => {}
            }
            done += points.iter().flatten().count() as u64;
            let mut push = |position, cluster, points| {
                let sample = Sample { position, cluster };
                self.gatherers.push(Gatherer { sample, points });
            };
            let position = lattice.position(cell);
            if let Some(cluster) = lighting.clusters.of_point_in(subtree, position, 0.0) {
                push(position, cluster, points);
                continue;
            }
            for grid in Grid::ALL {
                let (Some(point), Some(lattice)) =
                    (points[grid as usize], &targets.lattices[grid as usize])
                else {
                    continue;
                };
                let Some((position, cluster)) = nudged(lattice, grid, point, lighting) else {
                    tally.in_solid.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                let mut points = [None; 2];
                points[grid as usize] = Some(point);
                push(position, cluster, points);
            }
        }
        done
    }

    /// Sums the light at all places, light by light in their order.
    fn gather(
        &mut self,
        lighting: &Illumination<'_>,
        context: &JobContext,
    ) -> Result<(), Cancelled> {
        let count = self.gatherers.len();
        self.legacy.iter_mut().for_each(LegacySum::clear);
        self.legacy
            .resize_with(count.max(self.legacy.len()), LegacySum::default);
        self.sh.clear();
        self.sh.resize(count, ShSum::default());
        self.samples.clear();
        self.samples
            .extend(self.gatherers.iter().map(|gatherer| gatherer.sample));
        lighting.look_around(&self.samples, &self.state, &mut self.around);
        self.wanted.clear();
        self.wanted
            .extend(self.gatherers.chunks(LANES).map(|packet| {
                let mut wanted = [0; 2];
                for (lane, gatherer) in packet.iter().enumerate() {
                    for (wanted, point) in wanted.iter_mut().zip(gatherer.points) {
                        *wanted |= u8::from(point.is_some()) << lane;
                    }
                }
                wanted
            }));
        let (legacy, sh, state) = (&mut self.legacy, &mut self.sh, &mut self.state);
        for light in self.around.lights() {
            context.cancel.check()?;
            let give = |slot: usize, grid: usize, given: &Contribution| {
                if grid == Grid::Sh as usize {
                    sh[slot].add(given, lighting.settings);
                    return true;
                }
                legacy[slot].add(given, lighting.settings);
                !legacy[slot].is_full()
            };
            lighting.illuminate(&self.around, *light, &mut self.wanted, state, give);
        }
        Ok(())
    }

    /// Counts what the block's candidates spared.
    fn count_pairs(&self, lighting: &Illumination<'_>, tally: &Tally) {
        let pairs = |lights: usize| (self.samples.len() * lights) as u64;
        let (all, near) = (
            pairs(lighting.lights.len()),
            pairs(self.around.lights().len()),
        );
        tally.pairs.fetch_add(all, Ordering::Relaxed);
        tally.near_pairs.fetch_add(near, Ordering::Relaxed);
    }

    /// Adds what needs no lights, and stores the block's points.
    fn finish(
        &mut self,
        lighting: &Illumination<'_>,
        world: &WorldKeys,
        points: &Mutex<GridPoints>,
    ) {
        let mut done = Vec::with_capacity(self.gatherers.len());
        for (slot, gatherer) in self.gatherers.iter().enumerate() {
            let flood = world
                .flood
                .as_ref()
                .map(|flood| flood.light_at(&gatherer.sample, &lighting.tracer, &mut self.state));
            let [legacy, sh] = gatherer.points;
            done.push((
                legacy.map(|point| {
                    (
                        point,
                        self.legacy[slot].finish(flood, lighting.settings, world),
                    )
                }),
                sh.map(|point| (point, self.sh[slot].finish(flood, lighting.settings, world))),
            ));
        }
        let mut points = points.lock().unwrap_or_else(PoisonError::into_inner);
        for (legacy, sh) in done {
            if let Some((point, value)) = legacy {
                points.legacy[point] = value.first_slot();
                if let Some(styled) = points.styled.get_mut(point) {
                    *styled = value;
                }
            }
            if let Some((point, value)) = sh {
                points.sh[point] = value;
            }
        }
    }
}

/// A random place near a point in solid that is in the air, with its cluster.
fn nudged(
    lattice: &Lattice,
    grid: Grid,
    point: usize,
    lighting: &Illumination<'_>,
) -> Option<(Vec3, u32)> {
    let salt = grid as u64 + 1;
    let seed = lighting.settings.seed ^ salt;
    let position = lattice.position_of(point);
    let reach = lattice.cell_size * (NUDGE_STEP * NUDGES as f32);
    let places = Aabb::from_points([position - reach, position + reach]);
    let subtree = lighting.clusters.subtree(&places);
    if lighting.clusters.is_all_opaque(subtree, &places) {
        return None;
    }
    (0..NUDGES).find_map(|attempt| {
        let draw = |axis: u32| sampling::unit(seed, point as u64, 3 * attempt + axis) - 0.5;
        let step = NUDGE_STEP * (attempt + 1) as f32;
        let offset = Vec3::new(draw(0), draw(1), draw(2)) * step * lattice.cell_size;
        let nudged = position + offset;
        let cluster = lighting
            .clusters
            .of_point_in(subtree, nudged, -NUDGE_MARGIN)?;
        Some((nudged, cluster))
    })
}
