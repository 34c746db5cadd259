use std::collections::HashMap;

use crate::format::material_script::BlendFactor;
use crate::render::gpu::Gpu;
use crate::render::images::{Layers, upload_layers};
use crate::render::layouts::{Layouts, bind_buffers};
use crate::render::scene::Slot;
use crate::render::stage::Picture;
use crate::render::visibility::Seen;
use crate::render::{TARGET_FORMAT, shared, wgsl};
use crate::scene::{Flare, FogVolume, ImageId, Scene, Stage, StageImage};
use crate::view::RenderMode;
use wgpu::util::DeviceExt as _;

/// How fast a flare comes and goes, levels a second: the engine's `r_flareFade`.
const FADE_RATE: f32 = 7.0;
/// Flares that a workgroup of `fade_flares` takes.
const WORKGROUP: u32 = 64;
/// WGSL's constants of these names.
const FLARE_REPEATS: u32 = 1;
const FLARE_ALPHA: u32 = 2;
/// WGSL's `FOGGED_RGB`.
const FOGGED_RGB: u32 = 1;

/// Whether a mode that shows the map as a whole shows its flares.
pub(super) fn shows_flares(mode: RenderMode) -> bool {
    matches!(
        mode,
        RenderMode::Lit | RenderMode::Fullbright | RenderMode::GridLit | RenderMode::ShLit
    )
}

/// Whether the device can look for what hides them.
pub(super) fn can_fade(gpu: &Gpu) -> bool {
    let flags = gpu.adapter.get_downlevel_capabilities().flags;
    flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
}

/// All flares of a map; one draw call.
pub(super) struct Flares {
    count: u32,
    /// By flare: its surface and its stages.
    stages_of: Vec<(u32, std::ops::Range<u32>)>,
    stages: Vec<FlareStage>,
    /// Flare and stage of what may be seen now.
    shown: Vec<[u32; 2]>,
    is_gathered: bool,
    drawn_at: Option<f32>,
    flare_buffer: wgpu::Buffer,
    stage_buffer: wgpu::Buffer,
    level_buffer: wgpu::Buffer,
    fade_buffer: wgpu::Buffer,
    shown_buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// A stage of the material of flares in one fog.
struct FlareStage {
    slot: Slot,
    rate: f32,
    /// Of the array of pictures, one a frame; never empty.
    layers: Vec<u32>,
    flags: u32,
}

impl FlareStage {
    fn new(stage: &Stage, fog: Option<&FogVolume>, layers: &mut Layers) -> Self {
        let (rate, ids) = match &stage.image {
            StageImage::Lightmap => (0.0, vec![ImageId::WHITE]),
            StageImage::Image(id) => (0.0, vec![*id]),
            StageImage::Animated(rate, ids) => (*rate, ids.clone()),
        };
        let uses_alpha = matches!(stage.blend, Some((BlendFactor::SrcAlpha, _)));
        let flags = u32::from(!stage.clamp) * FLARE_REPEATS + u32::from(uses_alpha) * FLARE_ALPHA;
        Self {
            slot: Slot {
                stage: stage.clone(),
                picture: Picture::Image,
                cloud_height: 0.0,
                face: 0,
                deforms: Vec::new(),
                fog: fog.map(|fog| (*fog, FOGGED_RGB)),
                sprite_offset: 0,
            },
            rate,
            layers: ids.into_iter().map(|id| layers.layer(id)).collect(),
            flags,
        }
    }

    fn uniform(&self, time_secs: f32) -> shared::Stage {
        let frame = (time_secs * self.rate).floor().max(0.0) as usize;
        shared::Stage {
            layer: self.layers[frame % self.layers.len()],
            flare_flags: self.flags,
            ..self.slot.uniform(time_secs)
        }
    }
}

impl Flares {
    /// `None` for a map without flares.
    pub(super) fn new(gpu: &Gpu, layouts: &Layouts, scene: &Scene) -> Option<Self> {
        let mut layers = Layers::default();
        let mut stages: Vec<FlareStage> = Vec::new();
        let mut known: HashMap<_, std::ops::Range<u32>> = HashMap::new();
        let (mut stages_of, mut records) = (Vec::new(), Vec::new());
        for flare in &scene.flares {
            let Some(surface) = scene.surfaces.get(flare.surface.0 as usize) else {
                continue;
            };
            let own = known
                .entry((surface.material, surface.fog))
                .or_insert_with(|| {
                    let first = stages.len() as u32;
                    let fog = scene.fog_of(surface);
                    let material = scene.material_of(surface);
                    let added = material.stages.iter();
                    stages.extend(added.map(|stage| FlareStage::new(stage, fog, &mut layers)));
                    first..stages.len() as u32
                });
            if own.start == own.end {
                continue;
            }
            stages_of.push((flare.surface.0, own.clone()));
            records.push(record(flare));
        }
        if records.is_empty() {
            return None;
        }
        let pairs: usize = stages_of.iter().map(|(_, stages)| stages.len()).sum();
        let buffer = |label, size: usize, usage| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size as u64,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let records_buffer = wgpu::util::BufferInitDescriptor {
            label: Some("flares"),
            contents: bytemuck::cast_slice(&records),
            usage: storage,
        };
        let flare_buffer = gpu.device.create_buffer_init(&records_buffer);
        let stages_bytes = stages.len() * size_of::<shared::Stage>();
        let stage_buffer = buffer("flare stages", stages_bytes, storage);
        let level_buffer = buffer("flare levels", records.len() * size_of::<f32>(), storage);
        let pictures = upload_layers(gpu, &scene.images, &layers);
        Some(Self {
            count: records.len() as u32,
            group: group(
                gpu,
                layouts,
                [&flare_buffer, &stage_buffer, &level_buffer],
                &pictures,
            ),
            stages_of,
            stages,
            shown: Vec::with_capacity(pairs),
            is_gathered: false,
            drawn_at: None,
            fade_buffer: buffer(
                "flare fade",
                size_of::<shared::FlareFade>(),
                wgpu::BufferUsages::UNIFORM,
            ),
            shown_buffer: buffer(
                "shown flares",
                pairs * size_of::<[u32; 2]>(),
                wgpu::BufferUsages::VERTEX,
            ),
            flare_buffer,
            stage_buffer,
            level_buffer,
        })
    }

    /// What is seen is another now.
    pub(super) fn forget_seen(&mut self) {
        self.is_gathered = false;
    }

    /// Brings all to a picture at `time_secs`. Levels fade with the time since the last one; the first picture, and a further
    /// one of the same time, show them as they are to become.
    pub(super) fn prepare(
        &mut self,
        gpu: &Gpu,
        seen: &Seen,
        time_secs: f32,
        scratch: &mut Vec<u8>,
    ) {
        if !self.is_gathered {
            self.is_gathered = true;
            self.shown.clear();
            for (number, (surface, stages)) in (0..).zip(&self.stages_of) {
                if seen.holds(*surface) {
                    self.shown
                        .extend(stages.clone().map(|stage| [number, stage]));
                }
            }
            let shown = bytemuck::cast_slice(&self.shown);
            gpu.queue.write_buffer(&self.shown_buffer, 0, shown);
        }
        scratch.clear();
        for stage in &self.stages {
            scratch.extend_from_slice(bytemuck::bytes_of(&stage.uniform(time_secs)));
        }
        gpu.queue.write_buffer(&self.stage_buffer, 0, scratch);
        let passed = self.drawn_at.map_or(0.0, |before| time_secs - before);
        self.drawn_at = Some(time_secs);
        let fade = shared::FlareFade {
            step: if passed > 0.0 {
                passed * FADE_RATE
            } else {
                1.0
            },
            count: self.count,
            pad_a: 0,
            pad_b: 0,
        };
        gpu.queue
            .write_buffer(&self.fade_buffer, 0, bytemuck::bytes_of(&fade));
    }

    /// Group 2 of what fades them by a depth buffer.
    pub(super) fn fade_group(
        &self,
        gpu: &Gpu,
        pipelines: &FlarePipelines,
        depth: &wgpu::TextureView,
    ) -> wgpu::BindGroup {
        let resources = [
            self.flare_buffer.as_entire_binding(),
            self.level_buffer.as_entire_binding(),
            self.fade_buffer.as_entire_binding(),
            wgpu::BindingResource::TextureView(depth),
        ];
        bind(gpu, "flare fade", &pipelines.fade_layout, resources)
    }

    /// Records both passes: over `target`, whose depths `fade` holds.
    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &FlarePipelines,
        frame: [&wgpu::BindGroup; 2],
        fade: &wgpu::BindGroup,
        target: &wgpu::TextureView,
    ) {
        let [frame, compute_frame] = frame;
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("flare levels"),
                timestamp_writes: None,
            });
            pass.set_pipeline(&pipelines.fade);
            pass.set_bind_group(0, compute_frame, &[]);
            pass.set_bind_group(2, fade, &[]);
            pass.dispatch_workgroups(self.count.div_ceil(WORKGROUP), 1, 1);
        }
        if self.shown.is_empty() {
            return;
        }
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("flares"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Load,
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(&pipelines.draw);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &self.group, &[]);
        pass.set_vertex_buffer(0, self.shown_buffer.slice(..));
        pass.draw(0..4, 0..self.shown.len() as u32);
    }

    /// Whether [`Flares::record`] draws something.
    pub(super) fn draw_calls(&self) -> u32 {
        u32::from(!self.shown.is_empty())
    }
}

fn record(flare: &Flare) -> shared::Flare {
    shared::Flare {
        origin: flare.origin.to_array(),
        pad_a: 0,
        colour: flare.colour.to_array(),
        pad_b: 0,
        normal: flare.normal.to_array(),
        pad_c: 0,
    }
}

fn bind<const N: usize>(
    gpu: &Gpu,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    resources: [wgpu::BindingResource<'_>; N],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}

fn group(
    gpu: &Gpu,
    layouts: &Layouts,
    buffers: [&wgpu::Buffer; 3],
    pictures: &wgpu::TextureView,
) -> wgpu::BindGroup {
    let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        label: Some("flare sampler"),
        mag_filter: wgpu::FilterMode::Linear,
        min_filter: wgpu::FilterMode::Linear,
        mipmap_filter: wgpu::MipmapFilterMode::Linear,
        ..wgpu::SamplerDescriptor::default()
    });
    let [flares, stages, levels] = buffers.map(wgpu::Buffer::as_entire_binding);
    let resources = [
        flares,
        stages,
        levels,
        wgpu::BindingResource::TextureView(pictures),
        wgpu::BindingResource::Sampler(&sampler),
    ];
    bind(gpu, "flares", &layouts.flares, resources)
}

/// What draws flares, of any map.
pub(super) struct FlarePipelines {
    fade: wgpu::ComputePipeline,
    fade_layout: wgpu::BindGroupLayout,
    draw: wgpu::RenderPipeline,
    /// The frame, for `fade`.
    pub(super) frame: wgpu::BindGroup,
}

impl FlarePipelines {
    /// `frame` holds the [`shared::Frame`].
    pub(super) fn new(gpu: &Gpu, frame: &wgpu::Buffer) -> Self {
        let device = &gpu.device;
        let layouts = Layouts::new(device);
        let module = wgsl::compile(device, &wgsl::FLARES);
        let [frame_layout, fade_layout] = Layouts::flare_fade(device);
        let pipeline_layout = |label, groups: &[Option<&wgpu::BindGroupLayout>]| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: groups,
                immediate_size: 0,
            })
        };
        let fade_groups = [Some(&frame_layout), None, Some(&fade_layout)];
        let draw_groups = [Some(&layouts.frame), Some(&layouts.flares)];
        let fade = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("flare levels"),
            layout: Some(&pipeline_layout("flare levels", &fade_groups)),
            module: &module,
            entry_point: Some("fade_flares"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let which = wgpu::VertexBufferLayout {
            array_stride: size_of::<[u32; 2]>() as u64,
            step_mode: wgpu::VertexStepMode::Instance,
            attributes: &wgpu::vertex_attr_array![0 => Uint32x2],
        };
        let added = wgpu::BlendComponent {
            src_factor: wgpu::BlendFactor::One,
            dst_factor: wgpu::BlendFactor::One,
            operation: wgpu::BlendOperation::Add,
        };
        let draw = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("flares"),
            layout: Some(&pipeline_layout("flares", &draw_groups)),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some("vs_flare"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[Some(which)],
            },
            primitive: wgpu::PrimitiveState {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some("fs_flare"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: TARGET_FORMAT,
                    blend: Some(wgpu::BlendState {
                        color: added,
                        alpha: wgpu::BlendComponent::REPLACE,
                    }),
                    write_mask: wgpu::ColorWrites::COLOR,
                })],
            }),
            multiview_mask: None,
            cache: None,
        });
        Self {
            fade,
            frame: bind_buffers(device, "frame of flares", &frame_layout, &[frame]),
            fade_layout,
            draw,
        }
    }
}
