use wgpu::util::DeviceExt as _;

use crate::render::gpu::Gpu;
use crate::render::layouts::Layouts;
use crate::render::pipelines::fullscreen_pipeline;
use crate::render::{TARGET_FORMAT, shared, wgsl};

/// Brings the finished picture through the engine's gamma table. Costs nothing while gamma is 1.
#[derive(Default)]
pub(super) struct GammaPass {
    ready: Option<Ready>,
}

struct Ready {
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::RenderPipeline,
    uniform: wgpu::Buffer,
    between: Between,
}

/// What follows the size of the target.
struct Between {
    size: (u32, u32),
    /// What is drawn instead of the target.
    view: wgpu::TextureView,
    group: wgpu::BindGroup,
}

impl GammaPass {
    /// The view to draw into in place of a target of `size` pixels; `None` when gamma leaves the picture as it is.
    pub(super) fn begin(
        &mut self,
        gpu: &Gpu,
        size: (u32, u32),
        gamma: f32,
    ) -> Option<wgpu::TextureView> {
        if (gamma - 1.0).abs() < 1e-3 || gamma.is_nan() || gamma <= 0.0 {
            return None;
        }
        let ready = self.ready.get_or_insert_with(|| Ready::new(gpu, size));
        if ready.between.size != size {
            ready.between = Between::new(&gpu.device, &ready.layout, &ready.uniform, size);
        }
        let uniform = shared::Gamma {
            exponent: 1.0 / gamma,
            pad_a: 0,
            pad_b: 0,
            pad_c: 0,
        };
        gpu.queue
            .write_buffer(&ready.uniform, 0, bytemuck::bytes_of(&uniform));
        Some(ready.between.view.clone())
    }

    /// Draws what was drawn into the view of [`GammaPass::begin`] into the target.
    pub(super) fn end(&self, encoder: &mut wgpu::CommandEncoder, target: &wgpu::TextureView) {
        let Some(ready) = &self.ready else {
            return;
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("gamma"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        pass.set_pipeline(&ready.pipeline);
        pass.set_bind_group(0, &ready.between.group, &[]);
        pass.draw(0..3, 0..1);
    }
}

impl Ready {
    fn new(gpu: &Gpu, size: (u32, u32)) -> Self {
        let device = &gpu.device;
        let layout = Layouts::new(device).gamma;
        let module = wgsl::compile(device, &wgsl::GAMMA);
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("gamma"),
            contents: &[0; size_of::<shared::Gamma>()],
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        });
        Self {
            pipeline: fullscreen_pipeline(
                device,
                &layout,
                &module,
                ["vs_gamma", "fs_gamma"],
                TARGET_FORMAT,
            ),
            between: Between::new(device, &layout, &uniform, size),
            layout,
            uniform,
        }
    }
}

impl Between {
    fn new(
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        uniform: &wgpu::Buffer,
        size: (u32, u32),
    ) -> Self {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture before gamma"),
            size: wgpu::Extent3d {
                width: size.0,
                height: size.1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: TARGET_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("gamma"),
            layout,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&view),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: uniform.as_entire_binding(),
                },
            ],
        });
        Self { size, view, group }
    }
}
