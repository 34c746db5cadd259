use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;

use crate::format::material_script::RgbGen;
use crate::math::colour::Overbright;
use crate::probe::{LegacyLight, LegacyProfile, sample_legacy, shade_legacy};
use crate::render::geometry::GpuVertex;
use crate::render::gpu::Gpu;
use crate::scene::{LightGrid, Scene, Stage, Surface};

/// The engine's light where there is no grid: from everywhere, and from its first sun.
const NO_GRID: LegacyLight = LegacyLight {
    ambient: Vec3::splat(182.0),
    directed: Vec3::splat(150.0),
    direction: Vec3::new(0.428_7, 0.285_8, 0.857_1),
};

/// What lights a surface with `rgbGen lightingDiffuse`: the light grid at one place, as it lights models.
///
/// The engine does so for inline models at their origin. On the world it leaves the light unset, which is black; we take the
/// grid at the middle of the surface.
pub(super) fn grid_lit_from(scene: &Scene, surface: &Surface) -> Option<Vec3> {
    let stages = &scene.material_of(surface).stages;
    let is_lit = |stage: &Stage| stage.rgb_gen == RgbGen::LightingDiffuse;
    if !stages.iter().any(is_lit) {
        return None;
    }
    let model = scene.models.get(surface.model as usize);
    let place = model.filter(|_| surface.model != 0);
    Some(place.map_or(surface.bounds.centre(), |model| model.origin))
}

/// All surfaces whose vertices hold light of the grid, brought to the grid and overbright that are shown.
pub(super) struct GridLit {
    /// By surface: what it is lit from, and its vertices.
    surfaces: Vec<(Vec3, Range<u32>)>,
    /// Theirs, in the same order.
    vertices: Vec<GpuVertex>,
    /// The file's.
    own: Option<Arc<LightGrid>>,
    made_for: Mutex<Option<Shown>>,
}

/// What the light depends on.
struct Shown {
    grid: Option<Arc<LightGrid>>,
    overbright: Overbright,
}

impl Shown {
    fn is_same(&self, grid: Option<&Arc<LightGrid>>, overbright: Overbright) -> bool {
        let is_same_grid = match (&self.grid, grid) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        is_same_grid && self.overbright == overbright
    }
}

impl GridLit {
    /// `surfaces` are ranges of `vertices`, which are all of the scene.
    pub(super) fn new(
        scene: &Scene,
        surfaces: Vec<(Vec3, Range<u32>)>,
        vertices: &[GpuVertex],
    ) -> Self {
        let own = surfaces.iter().flat_map(|(_, range)| {
            let range = range.start as usize..range.end as usize;
            vertices.get(range).unwrap_or_default()
        });
        Self {
            vertices: own.copied().collect(),
            surfaces,
            own: scene.lighting.light_grid.clone(),
            made_for: Mutex::new(None),
        }
    }

    /// Writes the light of `grid`, or of the file's where none is given, into `buffer` unless it is there.
    pub(super) fn update(
        &self,
        gpu: &Gpu,
        buffer: &wgpu::Buffer,
        grid: Option<&Arc<LightGrid>>,
        overbright: Overbright,
    ) {
        if self.surfaces.is_empty() {
            return;
        }
        let grid = grid.or(self.own.as_ref());
        let mut made_for = self.made_for.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made_for.as_ref();
        if known.is_some_and(|shown| shown.is_same(grid, overbright)) {
            return;
        }
        *made_for = Some(Shown {
            grid: grid.cloned(),
            overbright,
        });
        let mut first = 0;
        let mut lit = Vec::new();
        for (position, range) in &self.surfaces {
            let light = grid.map_or(NO_GRID, |grid| {
                sample_legacy(grid, *position, LegacyProfile::Ioq3, overbright).light
            });
            let own = first..first + range.len();
            first = own.end;
            lit.clear();
            lit.extend(self.vertices.get(own).into_iter().flatten().map(|vertex| {
                let rgb = shade_legacy(&light, vertex.normal());
                vertex.with_rgb(rgb)
            }));
            let at = u64::from(range.start) * size_of::<GpuVertex>() as u64;
            gpu.queue
                .write_buffer(buffer, at, bytemuck::cast_slice(&lit));
        }
    }
}
