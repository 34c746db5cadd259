use glam::Vec3;

use crate::format::bsp::{Bsp, LightGridPoint, ShPoint, StyledGridPoint, SurfaceKind};
use crate::format::lattice::Lattice;
use crate::job::{Warnings, available_memory};
use crate::light::bake::BakeError;
use crate::light::lattices::{Lattices, Placed};
use crate::light::lights::{Emission, Light};
use crate::light::settings::{BakeSettings, LightModel, ShCell};
use crate::light::surface_lights::surface_triangles;
use crate::math::Aabb;
use crate::scene::{Scene, SurfaceId};

/// Budget where the system does not say how much memory there is, bytes.
const UNKNOWN_BUDGET: u64 = 4 << 30;
/// Share of the available memory that a bake may take.
const BUDGET_SHARE: u64 = 2;
/// Points of a block, which one thread works at.
const BLOCK_POINTS: u64 = 64;
/// Contributions that one point keeps at most.
const CONTRIBUTIONS_MAX: u64 = 32_767;
/// Bytes of one of them.
const CONTRIBUTION_BYTES: u64 = 28;
/// Sums and places of one point, and what a growing list holds in vain.
const SLOT_BYTES: u64 = 512;
/// Stack and buffers of a thread.
const THREAD_BYTES: u64 = 256 << 10;
/// Parts into which a triangle is cut at the borders of leafs alone, on average, at most.
const PARTS: f64 = 4.0;
/// Where leafs are divided as well: length of a triangle's box, all three sides together, that makes one more part, game
/// units. Measured on nine maps: between 7.6 and 17.4.
const PART_LENGTH: f64 = 7.0;
/// More than any map is long, game units: what lies farther out is not worth refusing a bake.
const LENGTH_MAX: f32 = 3.0 * 131_072.0;
/// Bytes of a part while the hierarchy is built: polygon, triangle, and both forms of the hierarchy. Measured on eight maps: up to 450.
const PART_BYTES: f64 = 520.0;
/// A list that grows holds up to twice its contents, and for a moment its old copy.
const GROWTH: u64 = 3;
/// Buffers for writing, and a copy of small lumps.
const OUTPUT_BYTES: u64 = 4 << 20;
/// How much larger a cell is tried in turn for one that fits, game units.
const CELL_STEP: f32 = 8.0;
/// Steps tried.
const CELL_STEPS: u16 = 1024;

/// What a bake takes at most beside the opened map, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Points of both grids.
    pub grids: u64,
    /// Lights.
    pub lights: u64,
    /// Hierarchy of occluders, while it is built.
    pub hierarchy: u64,
    /// Working memory of all threads.
    pub threads: u64,
    /// Making the file: beside the SH grid, which is written as it lies there, a copy of the legacy grid.
    pub output: u64,
}

impl MemoryEstimate {
    /// All together.
    pub fn total(&self) -> u64 {
        self.grids + self.lights + self.hierarchy + self.threads + self.output
    }

    /// For these lattices and lights.
    pub(super) fn new(
        scene: &Scene,
        settings: &BakeSettings,
        lattices: &Lattices,
        lights: &[Light],
    ) -> Self {
        let points = |placed: &Option<Placed>| placed.map_or(0, |placed| placed.lattice.len());
        let legacy_point = if scene.bsp.directory.format().has_styles() {
            size_of::<LightGridPoint>() + size_of::<StyledGridPoint>()
        } else {
            size_of::<LightGridPoint>()
        } as u64;
        let legacy = points(&lattices.legacy) * legacy_point;
        let threads = settings.thread_count() as u64;
        let count = lights.len() as u64;
        let kept = count.min(CONTRIBUTIONS_MAX) * CONTRIBUTION_BYTES * 2;
        Self {
            grids: legacy + points(&lattices.sh) * size_of::<ShPoint>() as u64,
            lights: lights.iter().map(light_bytes).sum::<u64>() * GROWTH,
            hierarchy: (parts(scene, settings) * PART_BYTES) as u64,
            threads: threads * (BLOCK_POINTS * (kept + SLOT_BYTES) + 4 * count + THREAD_BYTES),
            output: legacy * GROWTH + OUTPUT_BYTES,
        }
    }

    /// Refuses what is over the budget of `settings`, and says which cell would fit.
    pub(super) fn check(
        &self,
        scene: &Scene,
        settings: &BakeSettings,
        lattices: &Lattices,
    ) -> Result<(), BakeError> {
        let budget = settings.memory_budget();
        if self.total() <= budget {
            return Ok(());
        }
        Err(BakeError::Memory {
            needed: mebibytes(self.total()),
            budget: mebibytes(budget),
            advice: self.advice(scene, settings, lattices, budget),
        })
    }

    fn advice(
        &self,
        scene: &Scene,
        settings: &BakeSettings,
        lattices: &Lattices,
        budget: u64,
    ) -> String {
        let is_sh = lattices.sh.is_some();
        let placed = lattices.sh.or(lattices.legacy);
        let own = placed.map_or(Vec3::ZERO, |placed| placed.lattice.cell_size);
        let fitting = (1..=CELL_STEPS).find_map(|step| {
            let cell = own + CELL_STEP * f32::from(step);
            let mut larger = settings.clone();
            if is_sh {
                larger.sh_cell = ShCell::Explicit(cell);
            } else {
                larger.cell_size = Some(cell);
            }
            let lattices = Lattices::new(scene, &larger, &Warnings::default()).ok()?;
            let grids = Self::new(scene, settings, &lattices, &[]);
            let total = self.total() - self.grids - self.output + grids.grids + grids.output;
            let placed = if is_sh { lattices.sh } else { lattices.legacy };
            placed.filter(|_| total <= budget)
        });
        let name = if is_sh { "an SH" } else { "a legacy" };
        match fitting.map(|placed: Placed| placed.lattice) {
            Some(Lattice { cell_size, .. }) => {
                let [x, y, z] = cell_size.to_array();
                format!("{name} cell of {x} {y} {z} would fit")
            }
            None => "no larger cell would fit either".to_owned(),
        }
    }
}

/// Half of what the system has to give now.
pub(super) fn default_budget() -> u64 {
    available_memory().map_or(UNKNOWN_BUDGET, |bytes| bytes / BUDGET_SHARE)
}

/// Parts into which all triangles are cut that may cast shadows, at most.
fn parts(scene: &Scene, settings: &BakeSettings) -> f64 {
    let triangles = (0_u32..)
        .zip(&scene.bsp.surfaces)
        .filter(|(_, surface)| {
            matches!(
                surface.kind,
                SurfaceKind::Planar | SurfaceKind::TriangleSoup
            )
        })
        .flat_map(|(number, _)| surface_triangles(&scene.bsp, SurfaceId(number)));
    triangles
        .map(|triangle| match settings.model {
            LightModel::Corrected => PARTS,
            LightModel::Q3map2 => 1.0 + box_length(&scene.bsp, triangle) / PART_LENGTH,
        })
        .sum()
}

/// The three sides of the box around a triangle together, game units, at most [`LENGTH_MAX`]; 0 for NaN.
fn box_length(bsp: &Bsp, triangle: [usize; 3]) -> f64 {
    let corners = triangle.map(|vertex| bsp.draw_verts.get(vertex).map(|vertex| vertex.position));
    let length = Aabb::from_points(corners.into_iter().flatten())
        .size()
        .element_sum();
    // Written so that NaN is none.
    if length > 0.0 {
        f64::from(length.min(LENGTH_MAX))
    } else {
        0.0
    }
}

fn light_bytes(light: &Light) -> u64 {
    let corners = match &light.emission {
        Emission::Area(area) => area.winding.capacity(),
        _ => 0,
    };
    let heap = corners * size_of::<Vec3>() + size_of::<[usize; 2]>();
    // The place in the list, and box and origin once more for a quick look.
    (size_of::<Light>() + heap + size_of::<[Vec3; 4]>()) as u64
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}
