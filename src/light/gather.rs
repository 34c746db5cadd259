//! Gathering: which points of the grids see which lights, block by block of neighbouring points.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use glam::{UVec3, Vec3};

use crate::format::bsp::{LightGridPoint, ShPoint, StyledGridPoint};
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext};
use crate::light::blocks::{self, Block, Target, Wanted};
use crate::light::contribute::{Contribution, Illumination, Neighbourhood, Sample};
use crate::light::legacy_grid::LegacySum;
use crate::light::settings::LightModel;
use crate::light::sh_grid::ShSum;
use crate::light::tracer::TraceState;
use crate::light::watch::{Audience, Density, FinishedPoints};
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

/// Name of the pass over all points.
const STAGE: &str = "light grids";
/// Name of the pass before it that somebody who watches gets.
const COARSE_STAGE: &str = "light grids, coarse";

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

impl GridPoints {
    /// Black ones for the lattices that are baked. The point caps keep them far below the address space.
    pub(super) fn empty(lattices: [Option<Lattice>; 2], has_styles: bool) -> Self {
        let count = |lattice: Option<Lattice>| {
            usize::try_from(lattice.map_or(0, |lattice| lattice.len())).unwrap_or(0)
        };
        let [legacy, sh] = lattices.map(count);
        Self {
            legacy: vec![LightGridPoint::default(); legacy],
            styled: vec![StyledGridPoint::default(); if has_styles { legacy } else { 0 }],
            sh: vec![ShPoint::default(); sh],
        }
    }
}

/// The lattices that are baked, which of their points are, and which points they share.
#[derive(Debug)]
pub(crate) struct Targets {
    lattices: [Option<Lattice>; 2],
    wanted: [Wanted; 2],
    /// By axis and SH coordinate: the legacy coordinate at the very same place.
    twins: [Vec<Option<u32>>; 3],
    /// By axis and legacy coordinate: whether the SH lattice has it.
    is_shared: [Vec<bool>; 3],
}

impl Targets {
    /// `region` leaves out the points outside it.
    pub(super) fn new(legacy: Option<Lattice>, sh: Option<Lattice>, region: Option<&Aabb>) -> Self {
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
            wanted: [legacy, sh].map(|lattice| {
                lattice.map_or_else(Wanted::default, |lattice| blocks::wanted(&lattice, region))
            }),
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

    /// Points of all grids that are baked.
    fn len(&self) -> u64 {
        self.wanted.iter().map(blocks::wanted_count).sum()
    }

    /// Whether no point is baked.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Baked points of some blocks.
    fn len_of(&self, order: &[Block]) -> u64 {
        let of = |block: &Block| -> u64 {
            let lattice = self.lattices[block.grid as usize].iter();
            let cells = lattice.flat_map(|lattice| block.cells(lattice));
            let points = cells.flat_map(|cell| self.points_at(block.grid, cell));
            points.flatten().count() as u64
        };
        order.iter().map(of).sum()
    }

    fn each(&self) -> impl Iterator<Item = Target<'_>> {
        Grid::ALL.into_iter().filter_map(|grid| {
            let lattice = self.lattices[grid as usize].as_ref()?;
            Some((grid, lattice, &self.wanted[grid as usize]))
        })
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

    /// The legacy point at the place of an SH point.
    fn twin(&self, cell: UVec3) -> Option<usize> {
        let legacy = self.lattices[Grid::Legacy as usize]?;
        let at = |axis: usize| self.twins[axis].get(cell[axis] as usize).copied().flatten();
        Some(legacy.index(UVec3::new(at(0)?, at(1)?, at(2)?)))
    }

    /// By grid: the baked points that a cell of `grid` stands for. SH points bring their twins along, which have none of their own.
    fn points_at(&self, grid: Grid, cell: UVec3) -> [Option<usize>; 2] {
        let mut points = [None; 2];
        let Some(lattice) = &self.lattices[grid as usize] else {
            return points;
        };
        let is_twin = grid == Grid::Legacy && self.has_twin(cell);
        if is_twin || !blocks::is_wanted(&self.wanted[grid as usize], cell) {
            return points;
        }
        points[grid as usize] = Some(lattice.index(cell));
        if grid == Grid::Sh {
            points[Grid::Legacy as usize] = self.twin(cell);
        }
        points
    }

    /// Whether the SH lattice has a point at the place of a legacy point.
    fn has_twin(&self, cell: UVec3) -> bool {
        (0..3).all(|axis| self.is_shared[axis].get(cell[axis] as usize) == Some(&true))
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
    /// By grid: points of the block without light.
    solid: [Vec<usize>; 2],
    samples: Vec<Sample>,
    around: Neighbourhood,
    /// By packet and grid: a bit for each sample that wants light.
    wanted: Vec<[u8; 2]>,
    legacy: Vec<LegacySum>,
    sh: Vec<ShSum>,
}

/// Fills the baked points of the grids in parallel blocks; one in solid gets the default. `points` holds what the others
/// are.
///
/// Values depend neither on the number of threads, nor on which other grid is baked, nor on who watches.
pub(crate) fn fill_grids(
    work: &Work<'_>,
    points: GridPoints,
    audience: Option<&Audience<'_>>,
) -> Result<GridPoints, Cancelled> {
    let (targets, progress) = (work.targets, &work.context.progress);
    let points = Mutex::new(points);
    if let Some(audience) = audience {
        let order = work.order(audience, Density::Coarse);
        progress.begin(COARSE_STAGE, targets.len_of(&order));
        work.run(&order, &points, Some((Density::Coarse, audience)))?;
        let done = progress.snapshot().done;
        progress.begin(STAGE, targets.len());
        progress.add(done);
        let order = work.order(audience, Density::Fine);
        work.run(&order, &points, Some((Density::Fine, audience)))?;
    } else {
        progress.begin(STAGE, targets.len());
        work.run(&blocks::whole(targets.each()), &points, None)?;
    }
    work.context.cancel.check()?;
    Ok(points.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Everything that workers share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    /// What is baked.
    pub targets: &'a Targets,
    /// The light.
    pub lighting: &'a Illumination<'a>,
    /// What needs no lights.
    pub world: &'a WorldKeys,
    /// Counts over all points.
    pub tally: &'a Tally,
    /// Progress and cancellation.
    pub context: &'a JobContext,
}

impl Work<'_> {
    fn order(&self, audience: &Audience<'_>, density: Density) -> Vec<Block> {
        let clusters = self.lighting.clusters;
        blocks::seen_from(audience.eye, density, clusters, self.targets.each())
    }

    /// Works on the blocks on all threads of the pool, begun in their order.
    fn run(
        &self,
        order: &[Block],
        points: &Mutex<GridPoints>,
        audience: Option<(Density, &Audience<'_>)>,
    ) -> Result<(), Cancelled> {
        let next = AtomicUsize::new(0);
        let outcomes = rayon::broadcast(|_| {
            let mut memory = Memory::default();
            while let Some(block) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                // Also where no light is asked, as in blocks that are all in solid.
                self.context.cancel.check()?;
                let done = memory.collect(*block, self);
                memory.gather(self.lighting, self.context)?;
                memory.count_pairs(self.lighting, self.tally);
                let finished = memory.finish(self, points, audience.map(|(density, _)| density));
                if let (Some(finished), Some((_, audience))) = (finished, audience) {
                    audience.watcher.finished(finished);
                }
                let rays = std::mem::take(&mut memory.state.rays);
                self.tally.rays.fetch_add(rays, Ordering::Relaxed);
                self.context.progress.add(done);
            }
            Ok(())
        });
        outcomes.into_iter().collect()
    }
}

impl Memory {
    /// Finds the places where the block's points gather light; returns how many points the block has.
    fn collect(&mut self, block: Block, work: &Work<'_>) -> u64 {
        let (targets, lighting) = (work.targets, work.lighting);
        self.gatherers.clear();
        self.solid = [const { Vec::new() }; 2];
        let mut done = 0;
        let Some(lattice) = &targets.lattices[block.grid as usize] else {
            return done;
        };
        let cells = block.cells(lattice).map(|cell| lattice.position(cell));
        let subtree = lighting.clusters.subtree(&Aabb::from_points(cells));
        for cell in block.cells(lattice) {
            let points = targets.points_at(block.grid, cell);
            done += points.iter().flatten().count() as u64;
            let mut push = |position, cluster, points| {
                let sample = Sample { position, cluster };
                self.gatherers.push(Gatherer { sample, points });
            };
            let position = lattice.position(cell);
            if let Some(cluster) = lighting.clusters.of_point_in(subtree, position, 0.0) {
                if points != [None; 2] {
                    push(position, cluster, points);
                }
                continue;
            }
            for grid in Grid::ALL {
                let (Some(point), Some(lattice)) =
                    (points[grid as usize], &targets.lattices[grid as usize])
                else {
                    continue;
                };
                let Some((position, cluster)) = nudged(lattice, grid, point, lighting) else {
                    work.tally.in_solid.fetch_add(1, Ordering::Relaxed);
                    self.solid[grid as usize].push(point);
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

    /// Adds what needs no lights, and stores the block's points; returns them too where somebody watches.
    fn finish(
        &mut self,
        work: &Work<'_>,
        points: &Mutex<GridPoints>,
        watched: Option<Density>,
    ) -> Option<FinishedPoints> {
        let (lighting, world) = (work.lighting, work.world);
        let mut done = FinishedPoints::new(watched.unwrap_or(Density::Fine));
        let mut legacy_done: Vec<(usize, Option<StyledGridPoint>)> = Vec::new();
        for (slot, gatherer) in self.gatherers.iter().enumerate() {
            let flood = world
                .flood
                .as_ref()
                .map(|flood| flood.light_at(&gatherer.sample, &lighting.tracer, &mut self.state));
            let [legacy, sh] = gatherer.points;
            legacy_done.extend(legacy.map(|point| {
                let value = self.legacy[slot].finish(flood, lighting.settings, world);
                (point, Some(value))
            }));
            done.sh.extend(sh.map(|point| {
                let value = self.sh[slot].finish(flood, lighting.settings, world);
                (point, Some(value))
            }));
        }
        let [legacy, sh] = &self.solid;
        legacy_done.extend(legacy.iter().map(|point| (*point, None)));
        done.sh.extend(sh.iter().map(|point| (*point, None)));
        {
            let mut points = points.lock().unwrap_or_else(PoisonError::into_inner);
            for (point, value) in &legacy_done {
                let value = value.unwrap_or_default();
                points.legacy[*point] = value.first_slot();
                if let Some(styled) = points.styled.get_mut(*point) {
                    *styled = value;
                }
            }
            for (point, value) in &done.sh {
                points.sh[*point] = value.unwrap_or_default();
            }
        }
        watched?;
        let first_slot = |value: Option<StyledGridPoint>| value.map(|value| value.first_slot());
        done.legacy = legacy_done
            .into_iter()
            .map(|(point, value)| (point, first_slot(value)))
            .collect();
        Some(done)
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
