use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use wgpu::util::DeviceExt as _;

use crate::format::bsp::ShPoint;
use crate::format::lattice::Lattice;
use crate::math::colour::Overbright;
use crate::probe::{LegacyLight, LegacyProfile, node_legacy, sample_legacy};
use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::layouts::{Layouts, bind_buffers};
use crate::render::shared::{GridPlace, LegacyPoint};
use crate::scene::{LightGrid, Lighting};

/// Floats of an SH point on the GPU: its coefficients and the blocked flag.
const SH_FLOATS: usize = 28;
/// Bytes of the larger kind of point, for sizing parts.
const POINT_BYTES: u64 = (SH_FLOATS * 4) as u64;

/// The light grids on the GPU, as far as the map has them.
pub struct GpuGrids {
    light_grid: Option<Arc<LightGrid>>,
    pub(super) legacy: Option<GridSpheres>,
    pub(super) sh: Option<GridSpheres>,
}

/// The points of one lattice. Light of the legacy grid at them is evaluated when first drawn and when its options change.
pub(super) struct GridSpheres {
    lattice: Lattice,
    blocked: Vec<bool>,
    pub(super) parts: Vec<Part>,
    evaluated: Mutex<Option<(LegacyProfile, Overbright)>>,
}

/// As many points as one buffer binding holds; nearly always all.
pub(super) struct Part {
    first: usize,
    pub(super) count: u32,
    legacy: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
}

impl GpuGrids {
    /// Uploads the grids of `lighting`. The flags say which points are in solid, in the order of the points; missing ones
    /// count as free.
    ///
    /// # Errors
    /// When the device refuses, above all for want of memory.
    pub fn upload(
        gpu: &Gpu,
        lighting: &Lighting,
        blocked_legacy: &[bool],
        blocked_sh: &[bool],
    ) -> Result<Self, RenderError> {
        let layouts = Layouts::new(&gpu.device);
        gpu.checked(|| Self {
            light_grid: lighting.light_grid.clone(),
            legacy: lighting
                .light_grid
                .as_ref()
                .map(|grid| GridSpheres::new(gpu, &layouts, grid.lattice, blocked_legacy, None)),
            sh: lighting.sh_grid.as_ref().map(|grid| {
                let points = Some(grid.points.as_slice());
                GridSpheres::new(gpu, &layouts, grid.lattice, blocked_sh, points)
            }),
        })
    }

    /// Evaluates the legacy grid at its own points.
    pub(super) fn light_legacy(&self, gpu: &Gpu, profile: LegacyProfile, overbright: Overbright) {
        if let (Some(grid), Some(spheres)) = (&self.light_grid, &self.legacy) {
            spheres.evaluate(gpu, (profile, overbright), |index| {
                grid.points
                    .get(index)
                    .map(|point| node_legacy(point, profile, overbright))
                    .unwrap_or_default()
            });
        }
    }

    /// Samples the legacy grid at the points of the SH grid; false when either is missing.
    pub(super) fn light_sh_points(
        &self,
        gpu: &Gpu,
        profile: LegacyProfile,
        overbright: Overbright,
    ) -> bool {
        let (Some(grid), Some(spheres)) = (&self.light_grid, &self.sh) else {
            return false;
        };
        spheres.evaluate(gpu, (profile, overbright), |index| {
            let position = spheres.lattice.position_of(index);
            sample_legacy(grid, position, profile, overbright).light
        });
        true
    }
}

impl GridSpheres {
    fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        lattice: Lattice,
        blocked: &[bool],
        sh_points: Option<&[ShPoint]>,
    ) -> Self {
        let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
        let count = sh_points.map_or(count, |points| points.len().min(count));
        let limits = gpu.device.limits();
        let bytes = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        let step = usize::try_from(bytes / POINT_BYTES).unwrap_or(usize::MAX);
        let parts = (0..count)
            .step_by(step.max(1))
            .map(|first| {
                let end = count.min(first.saturating_add(step.max(1)));
                let points = sh_points.and_then(|points| points.get(first..end));
                let blocked = blocked.get(first..).unwrap_or_default();
                Part::new(gpu, layouts, &lattice, first..end, blocked, points)
            })
            .collect();
        Self {
            lattice,
            blocked: blocked.to_vec(),
            parts,
            evaluated: Mutex::new(None),
        }
    }

    fn evaluate(
        &self,
        gpu: &Gpu,
        key: (LegacyProfile, Overbright),
        light: impl Fn(usize) -> LegacyLight + Sync,
    ) {
        let mut evaluated = self
            .evaluated
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *evaluated == Some(key) {
            return;
        }
        for part in &self.parts {
            let points: Vec<LegacyPoint> = (part.first..part.first + part.count as usize)
                .into_par_iter()
                .map(|index| {
                    let blocked = self.blocked.get(index).copied().unwrap_or(false);
                    legacy_point(&light(index), blocked)
                })
                .collect();
            gpu.queue
                .write_buffer(&part.legacy, 0, bytemuck::cast_slice(&points));
        }
        *evaluated = Some(key);
    }
}

impl Part {
    fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        lattice: &Lattice,
        points: std::ops::Range<usize>,
        blocked: &[bool],
        sh_points: Option<&[ShPoint]>,
    ) -> Self {
        let place = GridPlace {
            origin: lattice.origin.to_array(),
            smallest: lattice.cell_size.min_element(),
            cell_size: lattice.cell_size.to_array(),
            first: points.start as u32,
            counts: lattice.counts.to_array(),
            pad: 0,
        };
        let place = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("grid place"),
                contents: bytemuck::bytes_of(&place),
                usage: wgpu::BufferUsages::UNIFORM,
            });
        let count = points.len();
        let legacy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("legacy light"),
            size: (count.max(1) * size_of::<LegacyPoint>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut floats = Vec::with_capacity(sh_points.map_or(1, <[_]>::len) * SH_FLOATS);
        for (index, point) in sh_points.unwrap_or_default().iter().enumerate() {
            let finite = point.as_flattened().iter().all(|value| value.is_finite());
            // A damaged point is black.
            floats.extend(
                point
                    .as_flattened()
                    .iter()
                    .map(|c| if finite { *c } else { 0.0 }),
            );
            let blocked = blocked.get(index).copied().unwrap_or(false);
            floats.push(f32::from(u8::from(blocked)));
        }
        floats.resize(floats.len().max(SH_FLOATS), 0.0);
        let sh = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("SH coefficients"),
                contents: bytemuck::cast_slice(&floats),
                usage: wgpu::BufferUsages::STORAGE,
            });
        let buffers = [&place, &legacy, &sh];
        Self {
            first: points.start,
            count: count as u32,
            group: bind_buffers(&gpu.device, "grid", &layouts.grid, &buffers),
            legacy,
        }
    }
}

fn legacy_point(light: &LegacyLight, blocked: bool) -> LegacyPoint {
    LegacyPoint {
        ambient: light.ambient.to_array(),
        blocked: u32::from(blocked),
        directed: light.directed.to_array(),
        pad_a: 0,
        direction: light.direction.to_array(),
        pad_b: 0,
    }
}
