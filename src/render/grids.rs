use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use wgpu::util::DeviceExt as _;

use crate::format::bsp::{LightGridPoint, ShPoint};
use crate::format::lattice::Lattice;
use crate::math::colour::Overbright;
use crate::probe::{LegacyLight, LegacyProfile, node_legacy, sample_legacy};
use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::layouts::{Layouts, bind_buffers};
use crate::render::shared::{GridPlace, LegacyPoint};
use crate::scene::{LightGrid, Lighting};

/// Floats of an SH point on the GPU: its coefficients, and one more to fill whole vectors.
const SH_FLOATS: usize = 28;
/// Bytes of the larger kind of point, for sizing parts.
const POINT_BYTES: u64 = (SH_FLOATS * 4) as u64;

/// The light grids on the GPU, as far as the map has them.
pub struct GpuGrids {
    pub(super) light_grid: Option<Arc<LightGrid>>,
    pub(super) legacy: Option<GridSpheres>,
    pub(super) sh: Option<GridSpheres>,
    /// Of a draft, whose legacy light comes with its updates.
    pub(super) is_draft: bool,
    /// The legacy grid as the file stores it, for pixels that are lit by it; made when first needed.
    pub(super) stored: Mutex<Option<wgpu::Buffer>>,
}

/// What is known about a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointState {
    /// Nothing is known, nothing is drawn.
    Unknown,
    /// In the air.
    Free,
    /// In solid.
    Blocked,
}

impl PointState {
    pub(super) fn of(blocked: bool) -> Self {
        if blocked { Self::Blocked } else { Self::Free }
    }
}

/// The points of one lattice. Light of the legacy grid at them is evaluated when first drawn and when its options change.
pub(super) struct GridSpheres {
    pub(super) lattice: Lattice,
    /// By point.
    pub(super) states: Vec<PointState>,
    pub(super) parts: Vec<Part>,
    pub(super) evaluated: Mutex<Option<(LegacyProfile, Overbright)>>,
}

/// As many points as one buffer binding holds; nearly always all.
pub(super) struct Part {
    pub(super) first: usize,
    pub(super) count: u32,
    legacy: wgpu::Buffer,
    sh: wgpu::Buffer,
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
            is_draft: false,
            stored: Mutex::new(None),
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

    /// The legacy grid's points as stored, eight bytes each; `None` without that grid.
    pub(super) fn stored_legacy(&self, gpu: &Gpu) -> Option<wgpu::Buffer> {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(grid)) = (&*stored, &self.light_grid) {
            *stored = Some(upload_stored(gpu, &grid.points));
        }
        stored.clone()
    }

    /// Replaces the points that [`GpuGrids::stored_legacy`] gives: a draft's.
    pub(super) fn store_legacy(&self, gpu: &Gpu, points: &[LightGridPoint]) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        *stored = Some(upload_stored(gpu, points));
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

    /// Samples the legacy grid at the points of the SH grid; false when either is missing. A draft has the samples already.
    pub(super) fn light_sh_points(
        &self,
        gpu: &Gpu,
        profile: LegacyProfile,
        overbright: Overbright,
    ) -> bool {
        if self.is_draft {
            return self.legacy.is_some();
        }
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
        let mut spheres = Self::empty(gpu, layouts, lattice, count, sh_points.is_some());
        spheres.know(0..count, |index| {
            PointState::of(blocked.get(index).copied().unwrap_or(false))
        });
        if let Some(points) = sh_points {
            spheres.write_sh(gpu, 0..count, points);
        }
        spheres
    }

    /// Spheres for `count` points about which nothing is known yet, with room for coefficients if they have some.
    pub(super) fn empty(
        gpu: &Gpu,
        layouts: &Layouts,
        lattice: Lattice,
        count: usize,
        has_sh: bool,
    ) -> Self {
        let limits = gpu.device.limits();
        let bytes = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        let step = usize::try_from(bytes / POINT_BYTES).unwrap_or(usize::MAX);
        let parts = (0..count)
            .step_by(step.max(1))
            .map(|first| {
                let end = count.min(first.saturating_add(step.max(1)));
                Part::new(gpu, layouts, &lattice, first..end, has_sh)
            })
            .collect();
        Self {
            lattice,
            states: vec![PointState::Unknown; count],
            parts,
            evaluated: Mutex::new(None),
        }
    }

    /// Notes what is known about some points; those beyond the last are passed over.
    pub(super) fn know(&mut self, some: Range<usize>, state: impl Fn(usize) -> PointState) {
        let some = some.start.min(self.states.len())..some.end.min(self.states.len());
        for (index, known) in some.clone().zip(&mut self.states[some]) {
            *known = state(index);
        }
    }

    /// Uploads some points of `all`.
    pub(super) fn write_sh(&self, gpu: &Gpu, some: Range<usize>, all: &[ShPoint]) {
        for (part, some) in self.parts_of(some) {
            let mut floats = Vec::with_capacity(some.len() * SH_FLOATS);
            for index in some.clone() {
                let point = all.get(index).copied().unwrap_or_default();
                let finite = point.as_flattened().iter().all(|value| value.is_finite());
                // A damaged point is black.
                let coefficients = point.as_flattened().iter();
                floats.extend(coefficients.map(|c| if finite { *c } else { 0.0 }));
                floats.push(0.0);
            }
            let offset = (some.start - part.first) * SH_FLOATS * size_of::<f32>();
            let bytes = bytemuck::cast_slice(&floats);
            gpu.queue.write_buffer(&part.sh, offset as u64, bytes);
        }
    }

    /// Uploads the legacy light of some points.
    pub(super) fn write_legacy(
        &self,
        gpu: &Gpu,
        some: Range<usize>,
        light: impl Fn(usize) -> LegacyLight + Sync,
    ) {
        for (part, some) in self.parts_of(some) {
            let points: Vec<LegacyPoint> = some
                .clone()
                .into_par_iter()
                .map(|index| legacy_point(&light(index)))
                .collect();
            let offset = (some.start - part.first) * size_of::<LegacyPoint>();
            let bytes = bytemuck::cast_slice(&points);
            gpu.queue.write_buffer(&part.legacy, offset as u64, bytes);
        }
    }

    /// Coefficients of the first points and how many; nearly always all there are. `None` without coefficients.
    pub(super) fn first_coefficients(&self) -> Option<(&wgpu::Buffer, u32)> {
        self.parts.first().map(|part| (&part.sh, part.count))
    }

    /// Everything that is written point by point.
    pub(super) fn buffers(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.parts.iter().flat_map(|part| [&part.legacy, &part.sh])
    }

    /// The parts that hold some points, with what of them each holds.
    fn parts_of(&self, some: Range<usize>) -> impl Iterator<Item = (&Part, Range<usize>)> {
        self.parts.iter().filter_map(move |part| {
            let held = part.first..part.first + part.count as usize;
            let both = some.start.max(held.start)..some.end.min(held.end);
            (!both.is_empty()).then_some((part, both))
        })
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
        self.write_legacy(gpu, 0..usize::MAX, light);
        *evaluated = Some(key);
    }
}

impl Part {
    fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        lattice: &Lattice,
        points: Range<usize>,
        has_sh: bool,
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
        let buffer = |label, bytes: usize| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: bytes as u64,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let legacy = buffer("legacy light", count.max(1) * size_of::<LegacyPoint>());
        let sh_count = if has_sh { count.max(1) } else { 1 };
        let sh = buffer("SH coefficients", sh_count * SH_FLOATS * size_of::<f32>());
        let buffers = [&place, &legacy, &sh];
        Self {
            first: points.start,
            count: count as u32,
            group: bind_buffers(&gpu.device, "grid", &layouts.grid, &buffers),
            legacy,
            sh,
        }
    }
}

fn upload_stored(gpu: &Gpu, points: &[LightGridPoint]) -> wgpu::Buffer {
    let bytes = points.iter().flat_map(|point| {
        let ([ar, ag, ab], [dr, dg, db]) = (point.ambient, point.directed);
        [ar, ag, ab, dr, dg, db, point.zenith, point.azimuth]
    });
    let mut bytes: Vec<u8> = bytes.collect();
    // A binding must hold one element at least.
    bytes.resize(bytes.len().max(8), 0);
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("stored legacy grid"),
            contents: &bytes,
            usage: wgpu::BufferUsages::STORAGE,
        })
}

fn legacy_point(light: &LegacyLight) -> LegacyPoint {
    LegacyPoint {
        ambient: light.ambient.to_array(),
        pad_a: 0,
        directed: light.directed.to_array(),
        pad_b: 0,
        direction: light.direction.to_array(),
        pad_c: 0,
    }
}
