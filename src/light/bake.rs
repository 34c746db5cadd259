use std::path::PathBuf;

use glam::Vec3;

use crate::format::bsp::ShGrid;
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext, Warnings};
use crate::light::clusters::Clusters;
use crate::light::contribute::Illumination;
use crate::light::envelope::set_envelopes;
use crate::light::gather::{Tally, Targets, fill_grids};
use crate::light::lattices::Lattices;
use crate::light::lights::LightList;
use crate::light::materials::Materials;
use crate::light::settings::BakeSettings;
use crate::light::sources::{LightEntities, push_entity_lights};
use crate::light::surface_lights::{SkyNumbers, push_surface_lights};
use crate::light::tracer::Tracer;
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
    /// The thread pool could not be started.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// Light entities by the file that they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// In the BSP.
    pub bsp: usize,
    /// In a `.map`.
    pub map: usize,
    /// In an `.ent`.
    pub ent: usize,
}

/// Lights by kind, after splitting and culling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightCounts {
    /// Light entities, as they were found.
    pub entities: EntityCounts,
    /// Point lights.
    pub points: usize,
    /// Spot lights.
    pub spots: usize,
    /// Pieces of emitting surfaces, backsplash included.
    pub areas: usize,
    /// Suns, jittered ones counted.
    pub suns: usize,
    /// Lights of skies.
    pub sky: usize,
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
}

/// Times and counts of a finished bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakeReport {
    /// Seconds spent collecting lights and building the hierarchy.
    pub prepare_secs: f32,
    /// Seconds spent on the grids.
    pub trace_secs: f32,
    /// Shadow rays traced.
    pub rays: u64,
    /// Grid points in solid that found no air.
    pub points_in_solid: u64,
    /// Lights used.
    pub lights: LightCounts,
}

/// The result of a bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// New lump 15; `None` when it was off.
    pub light_grid: Option<LightGrid>,
    /// New lump 18; `None` when it was off.
    pub sh_grid: Option<ShGrid>,
    /// Value for worldspawn `gridsize` when it must change.
    pub gridsize_key: Option<String>,
    /// Noted in worldspawn `_q3map2_cmdline`; empty notes nothing.
    pub command_line: String,
    /// Times and counts.
    pub report: BakeReport,
}

/// What [`bake`] would do with these settings; quick enough to call at every change of a form.
///
/// # Errors
/// As [`bake`], without cancellation.
pub fn plan(
    scene: &Scene,
    settings: &BakeSettings,
    warnings: &Warnings,
) -> Result<Plan, BakeError> {
    let lattices = Lattices::new(scene, settings, warnings)?;
    let materials = Materials::new(scene);
    let clusters = Clusters::new(scene, &materials);
    let world = WorldKeys::new(&scene.bsp.entities, settings);
    let light_file = light_file(scene, settings, &world);
    let (list, _) = collect(scene, &materials, &clusters, &world, settings, warnings)?;
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
        lights: list.counts(),
        light_file,
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
    context.cancel.check()?;
    let mut pool = rayon::ThreadPoolBuilder::new();
    if let Some(threads) = settings.threads {
        pool = pool.num_threads(threads.max(1));
    }
    let pool = pool
        .thread_name(|number| format!("bake {number}"))
        .build()
        .map_err(|error| BakeError::Threads(error.to_string()))?;
    pool.install(|| bake_here(scene, settings, context))
}

fn bake_here(
    scene: &Scene,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<Baked, BakeError> {
    context.progress.begin("lights and shadows", 0);
    let warnings = &context.warnings;
    let lattices = Lattices::new(scene, settings, warnings)?;
    let materials = Materials::new(scene);
    let clusters = Clusters::new(scene, &materials);
    let world = WorldKeys::new(&scene.bsp.entities, settings);
    let (list, skies) = collect(scene, &materials, &clusters, &world, settings, warnings)?;
    let counts = list.counts();
    context.cancel.check()?;
    let tracer = Tracer::new(scene, &materials, &skies, settings, &context.cancel);
    context.cancel.check()?;
    let [legacy, sh] =
        [lattices.legacy, lattices.sh].map(|placed| placed.map(|placed| placed.lattice));
    let targets = Targets::new(legacy, sh);
    let inhibit = targets.inhibits(settings.model);
    let lighting = Illumination::new(list.lights, &clusters, tracer, inhibit, settings);
    // The clock is the progress's: time since the stage began.
    let stage_secs = || context.progress.snapshot().elapsed.as_secs_f32();
    let prepare_secs = stage_secs();
    let tally = Tally::default();
    let points = fill_grids(&targets, &lighting, &world, &tally, context)?;
    let mut baked = Baked {
        light_grid: legacy.map(|lattice| LightGrid {
            lattice,
            points: points.legacy,
        }),
        sh_grid: sh.map(|lattice| ShGrid {
            lattice,
            points: points.sh,
        }),
        gridsize_key: lattices.gridsize_key,
        command_line: settings.command_line.clone(),
        ..Baked::default()
    };
    let trace_secs = stage_secs();
    baked.report = BakeReport {
        prepare_secs,
        trace_secs,
        rays: tally.rays.into_inner(),
        points_in_solid: tally.in_solid.into_inner(),
        lights: counts,
    };
    Ok(baked)
}

/// The file that light entities are taken from beside the BSP.
fn light_file(scene: &Scene, settings: &BakeSettings, world: &WorldKeys) -> Option<PathBuf> {
    let file = LightEntities::new(scene, settings, world).file();
    file.map(|file| file.origin.clone())
}

/// Finds, splits and culls all lights.
fn collect(
    scene: &Scene,
    materials: &Materials<'_>,
    clusters: &Clusters<'_>,
    world: &WorldKeys,
    settings: &BakeSettings,
    warnings: &Warnings,
) -> Result<(LightList, SkyNumbers), BakeError> {
    if !settings.legacy && !settings.sh {
        return Err(BakeError::NothingToDo);
    }
    let mut list = LightList::default();
    let entities = LightEntities::new(scene, settings, world);
    push_entity_lights(&mut list, &entities, settings, warnings);
    let skies = push_surface_lights(&mut list, scene, materials, world, settings, warnings);
    if list.lights.is_empty() && !world.has_light() {
        return Err(BakeError::NoLights);
    }
    list.lights = set_envelopes(list.lights, clusters, settings);
    Ok((list, skies))
}
