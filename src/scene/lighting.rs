use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::{Bsp, LightGridPoint, ShGrid};
use crate::format::entities::numbers;
use crate::format::lattice::Lattice;
use crate::job::Warnings;

/// Cell size when worldspawn says nothing, game units.
pub const DEFAULT_CELL_SIZE: Vec3 = Vec3::new(64.0, 64.0, 128.0);

/// The legacy light grid in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct LightGrid {
    /// Placement.
    pub lattice: Lattice,
    /// One per lattice point, as stored (before overbright), x fastest.
    pub points: Vec<LightGridPoint>,
}

/// The grids of a map: what a bake replaces. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lighting {
    /// Lump 15; `None` when absent or not matching its lattice.
    pub light_grid: Option<Arc<LightGrid>>,
    /// Lump 18.
    pub sh_grid: Option<Arc<ShGrid>>,
}

/// Cell size of the legacy grid: worldspawn `gridsize`, component by component; what is missing, not finite or not
/// positive falls back to [`DEFAULT_CELL_SIZE`] with a warning.
pub fn grid_cell_size(bsp: &Bsp, warnings: &Warnings) -> Vec3 {
    let mut size = DEFAULT_CELL_SIZE;
    let Some(text) = bsp
        .entities
        .worldspawn()
        .and_then(|world| world.get("gridsize"))
    else {
        return size;
    };
    let parsed = numbers(text);
    for axis in 0..3 {
        match parsed.get(axis) {
            Some(value) if *value > 0.0 => size[axis] = *value,
            _ => warnings.push(
                "W113",
                format!(
                    "worldspawn gridsize “{text}”: component {} is not usable, default taken",
                    axis + 1
                ),
            ),
        }
    }
    size
}

impl Lighting {
    /// Places the grids of `bsp`. A legacy grid whose length does not match its lattice is dropped with a warning, as
    /// the engine does.
    pub fn from_bsp(bsp: &Bsp, warnings: &Warnings) -> Self {
        Self {
            light_grid: place_light_grid(bsp, warnings).map(Arc::new),
            sh_grid: bsp.sh_grid.clone().map(Arc::new),
        }
    }
}

fn place_light_grid(bsp: &Bsp, warnings: &Warnings) -> Option<LightGrid> {
    if bsp.light_grid.is_empty() {
        return None;
    }
    let cell_size = grid_cell_size(bsp, warnings);
    let world = bsp.models.first()?;
    let lattice = Lattice::from_bounds(&world.bounds, cell_size);
    let expected = lattice.map_or(0, |lattice| lattice.len());
    let found = bsp.light_grid.len() as u64;
    let lattice_layer = lattice.map_or(0, |lattice| {
        u64::from(lattice.counts.x) * u64::from(lattice.counts.y)
    });
    let short_by = expected.saturating_sub(found);
    let fillable = bsp.styled_grid.is_some() && short_by < lattice_layer && short_by <= found;
    if expected != found && !(fillable && short_by > 0) {
        warnings.push(
            "W113",
            format!("light grid has {found} points, bounds and gridsize {cell_size} need {expected}; engines drop it"),
        );
        return None;
    }
    let mut points = bsp.light_grid.clone();
    if short_by > 0 {
        warnings.push(
            "W113",
            format!("light grid array has {found} points of {expected}; the last {short_by} count as missing"),
        );
        // At most twice as many as there are.
        points.resize_with(
            points.len() + usize::try_from(short_by).unwrap_or(0),
            LightGridPoint::default,
        );
    }
    lattice.map(|lattice| LightGrid { lattice, points })
}
