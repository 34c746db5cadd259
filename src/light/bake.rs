use std::path::PathBuf;
use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::{ShGrid, StyledGridPoint};
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext, StageTime};
use crate::light::clusters::Clusters;
use crate::light::contribute::Illumination;
use crate::light::envelope::set_envelopes;
use crate::light::gather::{GridPoints, Tally, Targets, Work, fill_grids};
use crate::light::lattices::Lattices;
use crate::light::lights::LightList;
use crate::light::materials::Materials;
use crate::light::memory::MemoryEstimate;
use crate::light::report::{BakeReport, LightCounts, PairCounts};
use crate::light::settings::BakeSettings;
use crate::light::sources::{LightEntities, push_entity_lights};
use crate::light::surface_lights::{SkyNumbers, push_surface_lights};
use crate::light::tracer::Tracer;
use crate::light::watch::Audience;
use crate::light::world::WorldKeys;
use crate::scene::{LightGrid, Scene};

/// Bytes of a point in lump 15.
const LEGACY_POINT_BYTES: u64 = 8;
/// Bytes of a point in lump 18.
const SH_POINT_BYTES: u64 = 108;
/// Bytes before the points of lump 18.
const SH_HEADER_BYTES: u64 = 40;

/// Why a bake gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The token was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No light of any kind was found.
    #[error(
        "no lights found: the map has no light entities, no sky light and no emitting surfaces (compilers strip lights from the file; open the .map beside it)"
    )]
    NoLights,
    /// Neither grid was asked for.
    #[error("nothing to bake: both grids are off")]
    NothingToDo,
    /// The world model's bounds hold no lattice point of a usable size.
    #[error("the world's bounds hold no grid: {0}")]
    NoLattice(String),
    /// It would take more memory than it may.
    #[error("it may take {needed} MiB of memory and is allowed {budget}; {advice}")]
    Memory {
        /// Upper estimate, MiB.
        needed: u64,
        /// Budget, MiB.
        budget: u64,
        /// A cell size that would fit, or that there is none.
        advice: String,
    },
    /// A region is baked into a grid that the file does not have.
    #[error(
        "a region needs the file's own {grid} grid for what is outside it, and the file has none"
    )]
    RegionWithoutGrid {
        /// Name of the grid.
        grid: &'static str,
    },
    /// A region is baked with other points than the file has.
    #[error(
        "a region needs the file's own points: its {grid} grid has cells of {} {} {} and {} × {} × {} points, asked were cells of {} {} {}",
        file.cell_size.x, file.cell_size.y, file.cell_size.z,
        file.counts.x, file.counts.y, file.counts.z,
        asked.cell_size.x, asked.cell_size.y, asked.cell_size.z
    )]
    RegionOfOtherGrid {
        /// Name of the grid.
        grid: &'static str,
        /// What the file has.
        file: Lattice,
        /// What was asked for.
        asked: Lattice,
    },
    /// A region holds no point of the grids that are baked.
    #[error("the region holds no grid point")]
    EmptyRegion,
    /// The thread pool could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// What a bake would do, known before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Lattice of the legacy grid after rounding and the point cap; `None` when off.
    pub legacy: Option<Lattice>,
    /// Lattice of the SH grid after rounding and the point cap; `None` when off.
    pub sh: Option<Lattice>,
    /// Bytes of lump 15.
    pub legacy_bytes: u64,
    /// Bytes of lump 18.
    pub sh_bytes: u64,
    /// Cell size asked for, when rounding or the cap changed it.
    pub legacy_requested: Option<Vec3>,
    /// Cell size asked for, when rounding or the cap changed it.
    pub sh_requested: Option<Vec3>,
    /// Lights found.
    pub lights: LightCounts,
    /// The file that light entities are taken from beside the BSP; `None` when none is.
    pub light_file: Option<PathBuf>,
    /// Threads that it works with.
    pub threads: usize,
    /// What it takes at most.
    pub memory: MemoryEstimate,
    /// What it may take, bytes.
    pub memory_budget: u64,
}

/// The result of a bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// New lump 15; `None` when it was off. Of RBSP and FBSP it holds slot 0.
    pub light_grid: Option<LightGrid>,
    /// The same points with all style slots, where the map's format has them.
    pub styled_points: Option<Vec<StyledGridPoint>>,
    /// New lump 18; `None` when it was off.
    pub sh_grid: Option<ShGrid>,
    /// Value for worldspawn `gridsize` when it must change.
    pub gridsize_key: Option<String>,
    /// Noted in worldspawn `_q3map2_cmdline`; empty notes nothing.
    pub command_line: String,
    /// Times and counts.
    pub report: BakeReport,
}

/// What [`bake`] would do with these settings; quick enough to call at every change of a form. Leaves the progress alone.
///
/// # Errors
/// As [`bake`].
pub fn plan(
    scene: &Scene,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<Plan, BakeError> {
    let lattices = Lattices::new(scene, settings, &context.warnings)?;
    let materials = Materials::new(scene);
    let clusters = Clusters::new(scene, &materials);
    let world = WorldKeys::new(&scene.bsp.entities, settings);
    let (mut list, _) = collect(scene, &materials, &world, settings, context)?;
    set_envelopes(&mut list, &clusters, settings, &context.cancel)?;
    let memory = MemoryEstimate::new(scene, settings, &lattices, &list.lights);
    memory.check(scene, settings, &lattices)?;
    let light_file = LightEntities::new(scene, settings, &world).file();
    let legacy = lattices.legacy;
    let sh = lattices.sh;
    Ok(Plan {
        legacy: legacy.map(|placed| placed.lattice),
        sh: sh.map(|placed| placed.lattice),
        legacy_bytes: legacy.map_or(0, |placed| placed.lattice.len() * LEGACY_POINT_BYTES),
        sh_bytes: sh.map_or(0, |placed| {
            SH_HEADER_BYTES + placed.lattice.len() * SH_POINT_BYTES
        }),
        legacy_requested: legacy.and_then(|placed| placed.changed()),
        sh_requested: sh.and_then(|placed| placed.changed()),
        lights: LightCounts::of(&list),
        light_file: light_file.map(|file| file.origin.clone()),
        threads: settings.thread_count(),
        memory,
        memory_budget: settings.memory_budget(),
    })
}

/// Bakes the grids.
///
/// The result does not depend on the number of threads.
///
/// # Errors
/// See [`BakeError`]; nothing is produced then.
pub fn bake(
    scene: &Scene,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<Baked, BakeError> {
    bake_watched(scene, settings, context, None)
}

/// Bakes the grids for somebody who watches: the same result in another order, handed out as it comes.
///
/// # Errors
/// See [`BakeError`]; nothing is produced then, whatever was handed out.
pub fn bake_watched(
    scene: &Scene,
    settings: &BakeSettings,
    context: &JobContext,
    audience: Option<&Audience<'_>>,
) -> Result<Baked, BakeError> {
    context.cancel.check()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.thread_count())
        .thread_name(|number| format!("bake {number}"))
        .build()
        .map_err(|error| BakeError::Threads(error.to_string()))?;
    pool.install(|| bake_here(scene, settings, context, audience))
}

fn bake_here(
    scene: &Scene,
    settings: &BakeSettings,
    context: &JobContext,
    audience: Option<&Audience<'_>>,
) -> Result<Baked, BakeError> {
    let progress = &context.progress;
    progress.begin("materials and clusters", 0);
    let stages_before = progress.stages().len() - 1;
    let lattices = Lattices::new(scene, settings, &context.warnings)?;
    let [legacy, sh] =
        [lattices.legacy, lattices.sh].map(|placed| placed.map(|placed| placed.lattice));
    let targets = Targets::new(legacy, sh, settings.region.as_ref());
    if targets.is_empty() {
        return Err(BakeError::EmptyRegion);
    }
    let materials = Materials::new(scene);
    let clusters = Clusters::new(scene, &materials);
    let world = WorldKeys::new(&scene.bsp.entities, settings);
    context.cancel.check()?;
    progress.begin("lights", 0);
    let (mut list, skies) = collect(scene, &materials, &world, settings, context)?;
    progress.begin("envelopes", 0);
    set_envelopes(&mut list, &clusters, settings, &context.cancel)?;
    let memory = MemoryEstimate::new(scene, settings, &lattices, &list.lights);
    memory.check(scene, settings, &lattices)?;
    let before = points_before(scene, settings, [legacy, sh])?;
    if let Some(audience) = audience {
        audience.watcher.begun(legacy, sh);
    }
    let counts = LightCounts::of(&list);
    progress.begin("shadow hierarchy", 0);
    let tracer = Tracer::new(scene, &materials, &skies, settings, &context.cancel);
    context.cancel.check()?;
    let inhibit = targets.inhibits(settings.model);
    let lighting = Illumination::new(list.lights, &clusters, tracer, inhibit, settings);
    let tally = Tally::default();
    let work = Work {
        targets: &targets,
        lighting: &lighting,
        world: &world,
        tally: &tally,
        context,
    };
    let stages_of_tracing = progress.stages().len();
    let points = fill_grids(&work, before, audience)?;
    let stages = progress.stages();
    let secs = |stages: &[StageTime]| stages.iter().map(|stage| stage.secs).sum();
    let (preparing, tracing) = stages.split_at(stages_of_tracing);
    let report = BakeReport {
        prepare_secs: secs(preparing.get(stages_before..).unwrap_or_default()),
        trace_secs: secs(tracing),
        threads: rayon::current_num_threads(),
        rays: tally.rays.into_inner(),
        pairs: PairCounts {
            all: tally.pairs.into_inner(),
            near: tally.near_pairs.into_inner(),
        },
        points_in_solid: tally.in_solid.into_inner(),
        lights: counts,
        stages: stages.get(stages_before..).unwrap_or_default().to_vec(),
    };
    Ok(Baked {
        light_grid: legacy.map(|lattice| LightGrid {
            lattice,
            points: points.legacy,
        }),
        sh_grid: sh.map(|lattice| ShGrid {
            lattice,
            points: Arc::new(points.sh),
        }),
        styled_points: (!points.styled.is_empty()).then_some(points.styled),
        gridsize_key: lattices.gridsize_key,
        command_line: settings.command_line.clone(),
        report,
    })
}

/// What the grids hold before the bake: nothing, or with a region the file's points, which must be the same ones.
fn points_before(
    scene: &Scene,
    settings: &BakeSettings,
    lattices: [Option<Lattice>; 2],
) -> Result<GridPoints, BakeError> {
    let [legacy, sh] = lattices;
    let has_styles = scene.bsp.directory.format().has_styles();
    if settings.region.is_none() {
        return Ok(GridPoints::empty(lattices, has_styles));
    }
    let check = |grid, asked: Lattice, file: Option<Lattice>| match file {
        None => Err(BakeError::RegionWithoutGrid { grid }),
        Some(file) if file != asked => Err(BakeError::RegionOfOtherGrid { grid, file, asked }),
        Some(_) => Ok(()),
    };
    let mut points = GridPoints::default();
    if let Some(asked) = legacy {
        let file = scene.lighting.light_grid.as_ref();
        check("legacy", asked, file.map(|file| file.lattice))?;
        points.legacy = file.map(|file| file.points.clone()).unwrap_or_default();
        if has_styles {
            let file = scene.bsp.styled_grid.as_ref();
            points.styled = (0..points.legacy.len())
                .map(|point| file.and_then(|file| file.point(point)).copied())
                .map(Option::unwrap_or_default)
                .collect();
        }
    }
    if let Some(asked) = sh {
        let file = scene.lighting.sh_grid.as_ref();
        check("SH", asked, file.map(|file| file.lattice))?;
        points.sh = file.map(|file| file.points.to_vec()).unwrap_or_default();
    }
    Ok(points)
}

/// Finds and splits all lights.
fn collect(
    scene: &Scene,
    materials: &Materials<'_>,
    world: &WorldKeys,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<(LightList, SkyNumbers), BakeError> {
    if !settings.legacy && !settings.sh {
        return Err(BakeError::NothingToDo);
    }
    let mut list = LightList::new(settings.seed as u32);
    let entities = LightEntities::new(scene, settings, world);
    push_entity_lights(&mut list, &entities, settings, context)?;
    let skies = push_surface_lights(&mut list, scene, materials, world, settings, context)?;
    if list.lights.is_empty() && !world.has_light() {
        return Err(BakeError::NoLights);
    }
    Ok((list, skies))
}
