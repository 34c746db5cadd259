use glam::Vec3;

use crate::format::bsp::{Bsp, ShGrid};
use crate::format::lattice::Lattice;
use crate::job::{Cancelled, JobContext, Warnings};
use crate::light::settings::BakeSettings;
use crate::scene::{LightGrid, Scene};

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

/// Lights by kind, after splitting and culling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightCounts {
    /// Light entities in the BSP.
    pub bsp_entities: usize,
    /// Light entities in the `.map`.
    pub map_entities: usize,
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
    _scene: &Scene,
    _settings: &BakeSettings,
    _warnings: &Warnings,
) -> Result<Plan, BakeError> {
    Err(BakeError::NothingToDo)
}

/// Bakes the grids.
///
/// # Errors
/// See [`BakeError`]; nothing is produced then.
pub fn bake(
    _scene: &Scene,
    _settings: &BakeSettings,
    _context: &JobContext,
) -> Result<Baked, BakeError> {
    Err(BakeError::NothingToDo)
}

/// The BSP with the baked grids in place of its own; nothing else changes but worldspawn's `gridsize` where it must.
pub fn apply(bsp: &Bsp, _baked: &Baked) -> Bsp {
    bsp.clone()
}
