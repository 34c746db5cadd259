use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::Zeroable as _;
use glam::Vec4;
use wgpu::util::DeviceExt as _;

use crate::format::bsp::Bsp;
use crate::format::material_script::Deform;
use crate::render::error::RenderError;
use crate::render::geometry::Geometry;
use crate::render::gpu::Gpu;
use crate::render::inspect::Inspected;
use crate::render::layouts::Layouts;
use crate::render::lightmaps::Lightmaps;
use crate::render::models::Models;
use crate::render::order::{fog_number, ordered_surfaces, reach};
use crate::render::overlay::LineVertex;
use crate::render::pipelines::SurfaceKey;
use crate::render::runs::{DrawnSurface, Runs};
use crate::render::shared;
use crate::render::stage::{self, Picture};
use crate::render::styles::{StyledSurfaces, Styles, is_styled};
use crate::render::uploader::Uploader;
use crate::render::visibility::Seen;
use crate::scene::{FogVolume, Scene, Stage, portal_edges};
use crate::view::ViewOptions;

/// Lines around area portals.
const PORTAL_COLOUR: Vec4 = Vec4::new(0.2, 1.0, 0.9, 1.0);

/// A map on the GPU: geometry, images, lightmap pages and what to draw in which order.
pub struct GpuScene {
    pub(super) vertices: wgpu::Buffer,
    pub(super) lightmaps: Lightmaps,
    pub(super) styles: Styles,
    /// Group 1 of surfaces.
    pub(super) light: wgpu::BindGroup,
    /// For the modes that look at properties.
    pub(super) inspected: Inspected,
    pub(super) images: Vec<wgpu::BindGroup>,
    pub(super) stages: Stages,
    /// Ends of the lines around area portals.
    pub(super) portals: Option<(wgpu::Buffer, u32)>,
    /// In the order of drawing.
    pub(super) draws: Vec<Draw>,
    visible: Mutex<Visible>,
}

/// What is seen and drawn of a scene.
pub(super) struct Visible {
    pub(super) models: Models,
    pub(super) seen: Seen,
    pub(super) runs: Runs,
}

/// The surfaces of one material.
pub(super) struct Draw {
    /// In the order of the index list.
    pub(super) surfaces: Vec<DrawnSurface>,
    pub(super) passes: Vec<Pass>,
    /// The pass of the modes that show no material; `None` for skies, which look the same in all.
    pub(super) plain: Option<Pass>,
    /// The pass that their fog adds in the end.
    pub(super) fog: Option<Pass>,
}

/// One drawing of a [`Draw`]'s triangles.
#[derive(Clone)]
pub(super) struct Pass {
    pub(super) key: SurfaceKey,
    /// Frames a second.
    pub(super) rate: f32,
    /// Indices into [`GpuScene::images`], one a frame; never empty.
    pub(super) frames: Vec<usize>,
    /// Dynamic offset of its uniform.
    pub(super) offset: u32,
    /// Whether it shows the lightmap: the last one drawn by the lightmap mode.
    pub(super) has_lightmap: bool,
    /// Whether its script marks it with `detail`.
    pub(super) is_detail: bool,
}

/// The uniforms of all stages.
pub(super) struct Stages {
    slots: Vec<Slot>,
    stride: usize,
    buffer: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
}

/// What a uniform is made from at any time.
pub(super) struct Slot {
    pub(super) stage: Stage,
    pub(super) picture: Picture,
    pub(super) cloud_height: f32,
    pub(super) face: u32,
    pub(super) deforms: Vec<Deform>,
    /// The fog that the surfaces are in, and what of the stage it weakens.
    pub(super) fog: Option<(FogVolume, u32)>,
    /// From numbers of vertices to those of sprites.
    pub(super) sprite_offset: u32,
}

impl Slot {
    fn is_animated(&self) -> bool {
        !self.deforms.is_empty() || stage::is_animated(&self.stage)
    }

    fn uniform(&self, time_secs: f32) -> shared::Stage {
        let mut uniform = shared::Stage {
            cloud_height: self.cloud_height,
            face: self.face,
            sprite_offset: self.sprite_offset,
            deforms: stage::deforms(&self.deforms, time_secs),
            ..stage::uniform(&self.stage, self.picture, time_secs)
        };
        if let Some((fog, fogged)) = &self.fog {
            stage::put_fog(&mut uniform, fog, *fogged);
        }
        uniform
    }
}

impl Stages {
    fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        slots: Vec<Slot>,
        models: &wgpu::Buffer,
        sprites: &[shared::Sprite],
    ) -> Self {
        let size = size_of::<shared::Stage>();
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment as usize;
        let stride = size.next_multiple_of(alignment.max(1));
        let mut bytes = Vec::new();
        fill(&slots, stride, 0.0, &mut bytes);
        bytes.resize(bytes.len().max(stride), 0);
        let buffer = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("stages"),
                contents: &bytes,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            });
        // A binding must hold one element at least.
        let none = [shared::Sprite::zeroed()];
        let sprites = if sprites.is_empty() { &none } else { sprites };
        let sprites = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("sprites"),
                contents: bytemuck::cast_slice(sprites),
                usage: wgpu::BufferUsages::STORAGE,
            });
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("stages"),
            layout: &layouts.stage,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &buffer,
                        offset: 0,
                        size: wgpu::BufferSize::new(size as u64),
                    }),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: models.as_entire_binding(),
                },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: sprites.as_entire_binding(),
                },
            ],
        });
        Self {
            slots,
            stride,
            buffer,
            group,
        }
    }

    /// Brings the uniforms at `offsets` to `time_secs`, as far as they are of animated stages; `scratch` is reused memory.
    /// Neighbours go up together.
    pub(super) fn animate(
        &self,
        queue: &wgpu::Queue,
        offsets: impl Iterator<Item = u32>,
        time_secs: f32,
        scratch: &mut Vec<u8>,
    ) {
        let mut first = 0;
        scratch.clear();
        let numbers = offsets.map(|offset| offset as usize / self.stride);
        let animated = numbers.filter_map(|number| Some((number, self.slots.get(number)?)));
        for (number, slot) in animated.filter(|(_, slot)| slot.is_animated()) {
            if first * self.stride + scratch.len() != number * self.stride {
                self.write(queue, first, scratch);
                scratch.clear();
                first = number;
            }
            scratch.extend_from_slice(bytemuck::bytes_of(&slot.uniform(time_secs)));
            scratch.resize(scratch.len().next_multiple_of(self.stride), 0);
        }
        self.write(queue, first, scratch);
    }

    fn write(&self, queue: &wgpu::Queue, first: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            queue.write_buffer(&self.buffer, (first * self.stride) as u64, bytes);
        }
    }
}

fn fill(slots: &[Slot], stride: usize, time_secs: f32, bytes: &mut Vec<u8>) {
    for (number, slot) in slots.iter().enumerate() {
        bytes.extend_from_slice(bytemuck::bytes_of(&slot.uniform(time_secs)));
        bytes.resize((number + 1) * stride, 0);
    }
}

impl GpuScene {
    /// Uploads all that is drawn of `scene`.
    ///
    /// # Errors
    /// When the device refuses, above all for want of memory.
    pub fn upload(gpu: &Gpu, scene: &Scene) -> Result<Self, RenderError> {
        gpu.checked(|| Self::build(gpu, scene))
    }

    /// Numbers of the surfaces that are drawn from `eye` with `options`, wherever one looks, ascending; those that draw
    /// nothing are among them.
    pub fn seen_from(
        &self,
        gpu: &Gpu,
        eye: glam::Vec3,
        options: &ViewOptions,
    ) -> Vec<crate::scene::SurfaceId> {
        self.visible_from(gpu, eye, options).seen.list()
    }

    /// What can be seen from `eye`, gathered and uploaded.
    pub(super) fn visible_from(
        &self,
        gpu: &Gpu,
        eye: glam::Vec3,
        options: &ViewOptions,
    ) -> MutexGuard<'_, Visible> {
        let mut guard = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        let Visible { models, seen, runs } = &mut *guard;
        let has_moved = models.update(&gpu.queue, &options.doors);
        if seen.update(models, eye, options) || has_moved {
            runs.gather(&gpu.queue, &self.draws, seen, models);
        }
        guard
    }

    fn build(gpu: &Gpu, scene: &Scene) -> Self {
        let layouts = Layouts::new(&gpu.device);
        let lightmaps = Lightmaps::new(gpu, &scene.lightmaps);
        let mut styled = StyledSurfaces::default();
        let mut uploader = Uploader::new(gpu, &layouts, &scene.images);
        let mut geometry = Geometry::new(scene);
        let mut draws: Vec<Draw> = Vec::new();
        let mut last = None;
        for surface in ordered_surfaces(scene) {
            let is_styled = is_styled(scene, surface);
            let (indices, edges) = match &surface.styled {
                Some(light) if is_styled => {
                    styled.push(light, |page| lightmaps.layer(page));
                    geometry.push(scene, surface, |vertex| {
                        styled.push_vertex(scene, light, vertex)
                    })
                }
                _ => {
                    let layer = lightmaps.layer(surface.lightmap);
                    geometry.push(scene, surface, |_| layer)
                }
            };
            let drawn = DrawnSurface {
                id: surface.id.0,
                model: surface.model,
                bounds: surface
                    .bounds
                    .grown(reach(scene.material_of(surface), surface)),
                indices,
                edges,
            };
            let run = Some((surface.material, is_styled, fog_number(scene, surface)));
            if let (true, Some(draw)) = (last == run, draws.last_mut()) {
                draw.surfaces.push(drawn);
                continue;
            }
            last = run;
            draws.push(uploader.draw(scene, surface, drawn, geometry.sprite_offset()));
        }
        let styles = Styles::new(gpu, &styled);
        let models = Models::new(gpu, scene);
        Self {
            vertices: vertex_buffer(gpu, "vertices", bytemuck::cast_slice(&geometry.vertices)),
            light: lightmaps.bind(gpu, &layouts.pages, &styles, &[]),
            inspected: Inspected::new(gpu, scene, &lightmaps),
            lightmaps,
            styles,
            stages: Stages::new(
                gpu,
                &layouts,
                uploader.slots,
                &models.buffer,
                &geometry.sprites,
            ),
            visible: Mutex::new(Visible {
                models,
                seen: Seen::new(Arc::clone(&scene.bsp), scene.area_count()),
                runs: Runs::new(&gpu.device, geometry.indices, geometry.edges),
            }),
            images: uploader.groups,
            portals: portals(gpu, &scene.bsp),
            draws,
        }
    }
}

/// At least one vertex large.
fn vertex_buffer(gpu: &Gpu, label: &str, contents: &[u8]) -> wgpu::Buffer {
    let padding = [0_u8; 64];
    let contents = if contents.is_empty() {
        &padding
    } else {
        contents
    };
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents,
            usage: wgpu::BufferUsages::VERTEX,
        })
}

fn portals(gpu: &Gpu, bsp: &Bsp) -> Option<(wgpu::Buffer, u32)> {
    let ends = portal_edges(bsp).into_iter().flatten();
    let lines: Vec<LineVertex> = ends
        .map(|end| LineVertex::new(end, PORTAL_COLOUR))
        .collect();
    let buffer = vertex_buffer(gpu, "area portals", bytemuck::cast_slice(&lines));
    (!lines.is_empty()).then_some((buffer, lines.len() as u32))
}
