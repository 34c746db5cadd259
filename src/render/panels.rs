use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};

use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::layouts::{Layouts, bind_buffers, bind_texture};
use crate::render::pipelines::pipeline_layout;
use crate::render::{shared, wgsl};

/// A corner of a triangle on the screen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PanelVertex {
    /// From the top left corner, points.
    pub position: [f32; 2],
    /// In the image, 0 to 1 from its top left corner.
    pub uv: [f32; 2],
    /// Encoded, times alpha; the image is multiplied with it.
    pub colour_srgb: [u8; 4],
}

/// Triangles that share an image, cut at a rectangle.
#[derive(Clone, Copy, Debug)]
pub struct PanelMesh<'a, K> {
    /// The image, as it was handed to [`PanelPainter::set_image`] or [`PanelPainter::set_view`]; an unknown one is not drawn.
    pub image: K,
    /// Corners.
    pub vertices: &'a [PanelVertex],
    /// Three corners for each triangle.
    pub indices: &'a [u32],
    /// Left, top, right and bottom edge of the rectangle, pixels; nothing is drawn when it is empty.
    pub clip_px: [u32; 4],
}

/// Where the panels are drawn.
#[derive(Clone, Copy, Debug)]
pub struct PanelTarget<'a> {
    /// Of the format that [`PanelPainter::new`] was told.
    pub view: &'a wgpu::TextureView,
    /// Width and height.
    pub size_px: (u32, u32),
    /// Physical pixels per point.
    pub pixels_per_point: f32,
    /// What is there before.
    pub load: wgpu::LoadOp<wgpu::Color>,
}

/// A part of an image, rows from the top, four encoded bytes a pixel, colour times alpha.
#[derive(Clone, Copy, Debug)]
pub struct PanelImage<'a> {
    /// Width and height.
    pub size_px: (u32, u32),
    /// As many as the size says.
    pub pixels: &'a [u8],
    /// Left and top edge in an image that is there; without it the whole image is replaced.
    pub corner_px: Option<(u32, u32)>,
    /// Between texels.
    pub filter: wgpu::FilterMode,
}

/// Draws the triangles of panels over each other. `K` names images.
///
/// In place of `egui_wgpu`'s renderer, whose program filters texels in branches that a software renderer runs for every pixel: it
/// took six times as long there (`docs/performance.md`).
pub struct PanelPainter<K> {
    /// Over what is there, by alpha; and in place of it.
    pipelines: [wgpu::RenderPipeline; 2],
    layout: wgpu::BindGroupLayout,
    uniform: wgpu::Buffer,
    group: wgpu::BindGroup,
    vertices: Option<wgpu::Buffer>,
    indices: Option<wgpu::Buffer>,
    images: BTreeMap<K, Image>,
    scratch: Vec<u8>,
}

struct Image {
    group: wgpu::BindGroup,
    /// None where somebody else draws into it.
    texture: Option<wgpu::Texture>,
    is_opaque: bool,
}

impl<K: Ord + Copy> PanelPainter<K> {
    /// Makes the pipelines for targets of `format`.
    ///
    /// # Errors
    /// When the device refuses one.
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Result<Self, RenderError> {
        gpu.checked(|| {
            let device = &gpu.device;
            let layouts = Layouts::new(device);
            let uniform = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("screen"),
                size: size_of::<shared::Screen>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let module = wgsl::compile(device, &wgsl::PANELS);
            let layout = pipeline_layout(device, "panels", &[&layouts.frame, &layouts.image]);
            let over = wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING;
            Self {
                pipelines: [Some(over), None]
                    .map(|blend| pipeline(device, &layout, &module, format, blend)),
                group: bind_buffers(device, "screen", &layouts.frame, &[&uniform]),
                layout: layouts.image,
                uniform,
                vertices: None,
                indices: None,
                images: BTreeMap::new(),
                scratch: Vec::new(),
            }
        })
    }

    /// Sets an image or a part of one; a part beyond its edges, or of an image that is not there, is left out.
    pub fn set_image(&mut self, gpu: &Gpu, key: K, image: &PanelImage<'_>) {
        let (width, height) = image.size_px;
        let is_whole = image.pixels.len() as u64 == u64::from(width) * u64::from(height) * 4;
        if width == 0 || height == 0 || !is_whole {
            return;
        }
        if image.corner_px.is_none() {
            let new = self.new_image(gpu, image);
            self.images.insert(key, new);
        }
        let (left, top) = image.corner_px.unwrap_or_default();
        let old = self.images.get(&key).and_then(|old| old.texture.as_ref());
        let Some(texture) = old.filter(|texture| {
            left.saturating_add(width) <= texture.width()
                && top.saturating_add(height) <= texture.height()
        }) else {
            return;
        };
        gpu.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                origin: wgpu::Origin3d {
                    x: left,
                    y: top,
                    z: 0,
                },
                ..texture.as_image_copy()
            },
            image.pixels,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(width * 4),
                rows_per_image: None,
            },
            extent(image.size_px),
        );
    }

    fn new_image(&self, gpu: &Gpu, image: &PanelImage<'_>) -> Image {
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("panel image"),
            size: extent(image.size_px),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Image {
            group: self.bind(gpu, &view, image.filter),
            texture: Some(texture),
            is_opaque: false,
        }
    }

    /// Sets an image that is drawn elsewhere; it hides what is below whatever its alpha.
    pub fn set_view(
        &mut self,
        gpu: &Gpu,
        key: K,
        view: &wgpu::TextureView,
        filter: wgpu::FilterMode,
    ) {
        let image = Image {
            group: self.bind(gpu, view, filter),
            texture: None,
            is_opaque: true,
        };
        self.images.insert(key, image);
    }

    /// Forgets an image.
    pub fn free_image(&mut self, key: K) {
        self.images.remove(&key);
    }

    fn bind(
        &self,
        gpu: &Gpu,
        view: &wgpu::TextureView,
        filter: wgpu::FilterMode,
    ) -> wgpu::BindGroup {
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("panel image"),
            mag_filter: filter,
            min_filter: filter,
            ..wgpu::SamplerDescriptor::default()
        });
        bind_texture(&gpu.device, "panel image", &self.layout, view, &sampler)
    }

    /// Records the drawing of `meshes`, each over those before it. Buffers are written through the queue, so submit the
    /// encoder before the next call.
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &PanelTarget<'_>,
        meshes: &[PanelMesh<'_, K>],
    ) {
        self.write(gpu, target, meshes);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("panels"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target.view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: target.load,
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..wgpu::RenderPassDescriptor::default()
        });
        let (Some(vertices), Some(indices)) = (&self.vertices, &self.indices) else {
            return;
        };
        pass.set_bind_group(0, &self.group, &[]);
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint32);
        let (mut first_vertex, mut first_index) = (0, 0);
        for mesh in meshes {
            let end = first_index + mesh.indices.len() as u32;
            let [left, top, right, bottom] = mesh.clip_px;
            let right = right.min(target.size_px.0);
            let bottom = bottom.min(target.size_px.1);
            if let Some(image) = self.images.get(&mesh.image)
                && left < right
                && top < bottom
            {
                pass.set_pipeline(&self.pipelines[usize::from(image.is_opaque)]);
                pass.set_bind_group(1, &image.group, &[]);
                pass.set_scissor_rect(left, top, right - left, bottom - top);
                pass.draw_indexed(first_index..end, first_vertex, 0..1);
            }
            first_vertex += mesh.vertices.len() as i32;
            first_index = end;
        }
    }

    /// Fills the buffers with everything that is drawn.
    fn write(&mut self, gpu: &Gpu, target: &PanelTarget<'_>, meshes: &[PanelMesh<'_, K>]) {
        let scale = |size: u32| 2.0 * target.pixels_per_point / size.max(1) as f32;
        let screen = shared::Screen {
            scale: [scale(target.size_px.0), scale(target.size_px.1)],
            pad_a: 0,
            pad_b: 0,
        };
        gpu.queue
            .write_buffer(&self.uniform, 0, bytemuck::bytes_of(&screen));
        let fill = |scratch: &mut Vec<u8>, bytes: &mut dyn Iterator<Item = &[u8]>| {
            scratch.clear();
            bytes.for_each(|bytes| scratch.extend_from_slice(bytes));
        };
        let vertices = &mut meshes
            .iter()
            .map(|mesh| bytemuck::cast_slice(mesh.vertices));
        fill(&mut self.scratch, vertices);
        let usage = wgpu::BufferUsages::VERTEX;
        upload(gpu, &mut self.vertices, usage, &self.scratch);
        let indices = &mut meshes.iter().map(|mesh| bytemuck::cast_slice(mesh.indices));
        fill(&mut self.scratch, indices);
        let usage = wgpu::BufferUsages::INDEX;
        upload(gpu, &mut self.indices, usage, &self.scratch);
    }
}

/// Writes a buffer, a larger one when `bytes` outgrew it.
fn upload(gpu: &Gpu, slot: &mut Option<wgpu::Buffer>, usage: wgpu::BufferUsages, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let size = (bytes.len() as u64).next_power_of_two();
    let buffer = match slot.take().filter(|buffer| buffer.size() >= size) {
        Some(buffer) => buffer,
        None => gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("panels"),
            size,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        }),
    };
    gpu.queue.write_buffer(&buffer, 0, bytes);
    *slot = Some(buffer);
}

fn extent((width, height): (u32, u32)) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: 1,
    }
}

fn pipeline(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    format: wgpu::TextureFormat,
    blend: Option<wgpu::BlendState>,
) -> wgpu::RenderPipeline {
    let attributes = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Unorm8x4];
    let fragment = if format.is_srgb() {
        "fs_panels_encoded"
    } else {
        "fs_panels"
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("panels"),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some("vs_panels"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<PanelVertex>() as u64,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            })],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
