use glam::Vec3;

use crate::format::lattice::Lattice;
use crate::job::Warnings;
use crate::light::bake::BakeError;
use crate::light::settings::{BakeSettings, ShCell};
use crate::math::Aabb;
use crate::scene::{Scene, grid_cell_size};

/// Points of the legacy grid at most.
const LEGACY_POINTS_MAX: u64 = 1_048_576;
/// Points of the SH grid at most.
const SH_POINTS_MAX: u64 = 4 * LEGACY_POINTS_MAX;
/// A cell grows by this when the legacy grid has too many points, game units.
const LEGACY_BUMP: f32 = 16.0;
/// The same for the SH grid.
const SH_BUMP: f32 = 8.0;
/// Smallest cell, game units.
const CELL_MIN: f32 = 8.0;
/// Largest cell that is tried, game units.
const CELL_MAX: f32 = 1_048_576.0;
/// Density of the SH grid at least.
const SH_SCALE_MIN: f32 = 0.5;
/// Cell sizes that differ by less are the same, game units.
const SAME_SIZE: f32 = 0.001;

/// A lattice and what was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    /// The lattice.
    pub lattice: Lattice,
    /// Cell size asked for, game units.
    pub requested: Vec3,
}

impl Placed {
    /// The size asked for when it is not the lattice's.
    pub(super) fn changed(&self) -> Option<Vec3> {
        differs(self.requested, self.lattice.cell_size).then_some(self.requested)
    }
}

/// The lattices of a bake (sections 6.1 and 7.1).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lattices {
    /// The legacy grid's; `None` when it is off.
    pub legacy: Option<Placed>,
    /// The SH grid's; `None` when it is off.
    pub sh: Option<Placed>,
    /// Value for worldspawn `gridsize` where the engine would otherwise place the legacy grid elsewhere.
    pub gridsize_key: Option<String>,
}

impl Lattices {
    /// Places the grids that are baked in the world model's bounds. Only they must fit: a flat map may hold no legacy point
    /// and yet many of a finer SH grid.
    pub(super) fn new(
        scene: &Scene,
        settings: &BakeSettings,
        warnings: &Warnings,
    ) -> Result<Self, BakeError> {
        let own = grid_cell_size(&scene.bsp, warnings);
        let asked = settings.cell_size.unwrap_or(own);
        let legacy = place(scene, asked, LEGACY_POINTS_MAX, LEGACY_BUMP);
        let cell = legacy
            .as_ref()
            .map_or(asked, |placed| placed.lattice.cell_size);
        let asked = match settings.sh_cell {
            ShCell::Explicit(cell) => cell,
            // Written so that NaN counts as the least.
            ShCell::Scale(scale) if scale >= SH_SCALE_MIN => cell / scale,
            ShCell::Scale(_) => cell / SH_SCALE_MIN,
        };
        let sh = settings
            .sh
            .then(|| place(scene, asked, SH_POINTS_MAX, SH_BUMP));
        let legacy = settings.legacy.then_some(legacy);
        let [x, y, z] = cell.round().to_array();
        Ok(Self {
            legacy: legacy.transpose()?,
            sh: sh.transpose()?,
            gridsize_key: (settings.legacy && differs(own, cell)).then(|| format!("{x} {y} {z}")),
        })
    }
}

fn differs(a: Vec3, b: Vec3) -> bool {
    (a - b).abs().max_element() >= SAME_SIZE
}

fn place(scene: &Scene, requested: Vec3, points_max: u64, bump: f32) -> Result<Placed, BakeError> {
    let bounds = scene.bsp.models.first().map(|world| world.bounds);
    let bounds = bounds.ok_or_else(|| BakeError::NoLattice("no world model".to_owned()))?;
    // NaN becomes the smallest cell.
    let mut size = requested
        .floor()
        .max(Vec3::splat(CELL_MIN))
        .min(Vec3::splat(CELL_MAX));
    let mut axis = 0;
    loop {
        let lattice = Lattice::from_bounds(&bounds, size);
        match lattice {
            Some(lattice) if lattice.len() <= points_max => {
                return Ok(Placed { lattice, requested });
            }
            _ if size.max_element() >= CELL_MAX
                || !bounds.min.is_finite()
                || !bounds.max.is_finite() =>
            {
                let (min, max) = (bounds.min, bounds.max);
                return Err(BakeError::NoLattice(format!("{min} to {max}")));
            }
            None if is_too_small(&bounds, size) => {
                let (min, max) = (bounds.min, bounds.max);
                return Err(BakeError::NoLattice(format!(
                    "{min} to {max} with cells of {size}"
                )));
            }
            _ => {
                size[axis] += bump;
                axis = (axis + 1) % 3;
            }
        }
    }
}

/// Whether some axis holds no lattice point at all.
fn is_too_small(bounds: &Aabb, size: Vec3) -> bool {
    let low = (bounds.min / size).ceil();
    let high = (bounds.max / size).floor();
    !high.cmpge(low).all()
}
