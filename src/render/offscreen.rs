use crate::render::TARGET_FORMAT;
use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::grids::GpuGrids;
use crate::render::renderer::{FrameStats, Renderer};
use crate::render::scene::GpuScene;
use crate::view::{Camera, Overlays, ViewOptions};

/// A picture that stays on the device, for measuring.
pub struct Canvas {
    view: wgpu::TextureView,
    size: (u32, u32),
}

impl Canvas {
    /// A picture of `size` pixels.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn new(gpu: &Gpu, size: (u32, u32)) -> Result<Self, RenderError> {
        gpu.checked(|| Self {
            view: target(gpu, size).create_view(&wgpu::TextureViewDescriptor::default()),
            size,
        })
    }

    /// Records and submits a frame, says so by `submitted`, and waits until the device has drawn it.
    ///
    /// # Errors
    /// As [`Renderer::draw`], and when the device is lost.
    pub fn draw(
        &self,
        gpu: &Gpu,
        renderer: &mut Renderer,
        scene: &GpuScene,
        (camera, options): (&Camera, &ViewOptions),
        time_secs: f32,
        submitted: impl FnOnce(),
    ) -> Result<FrameStats, RenderError> {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("canvas"),
            });
        let stats = renderer.draw(
            gpu,
            &mut encoder,
            &self.view,
            self.size,
            scene,
            None,
            camera,
            options,
            &Overlays::default(),
            time_secs,
        )?;
        gpu.queue.submit([encoder.finish()]);
        submitted();
        gpu.device
            .poll(wgpu::PollType::wait_indefinitely())
            .map_err(|error| RenderError::ReadBack(error.to_string()))?;
        Ok(stats)
    }
}

/// Draws a frame of `size` pixels and reads it back: opaque bytes as the engine's frame buffer holds them, top row first.
///
/// # Errors
/// As [`Renderer::draw`], and when the device refuses or loses the picture.
#[expect(
    clippy::too_many_arguments,
    reason = "everything that a picture depends on is an argument"
)]
pub fn render_to_image(
    gpu: &Gpu,
    renderer: &mut Renderer,
    size: (u32, u32),
    scene: &GpuScene,
    grids: Option<&GpuGrids>,
    camera: &Camera,
    options: &ViewOptions,
    overlays: &Overlays,
    time_secs: f32,
) -> Result<image::RgbaImage, RenderError> {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let (width, height) = size;
    if width == 0 || height == 0 || width > limit || height > limit {
        return Err(RenderError::Size {
            width,
            height,
            limit,
        });
    }
    let bytes_per_row = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.checked(|| -> Result<wgpu::Buffer, RenderError> {
        let texture = target(gpu, size);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("offscreen picture"),
            });
        renderer.draw(
            gpu,
            &mut encoder,
            &view,
            size,
            scene,
            grids,
            camera,
            options,
            overlays,
            time_secs,
        )?;
        let buffer = copy_out(gpu, &mut encoder, &texture, size, bytes_per_row);
        gpu.queue.submit([encoder.finish()]);
        Ok(buffer)
    })??;
    let bytes = read(gpu, &buffer)?;
    let row_bytes = width as usize * 4;
    let mut pixels = Vec::with_capacity(row_bytes * height as usize);
    for row in bytes.chunks_exact(bytes_per_row as usize) {
        pixels.extend_from_slice(&row[..row_bytes]);
    }
    image::RgbaImage::from_raw(width, height, pixels)
        .ok_or_else(|| RenderError::ReadBack("the device gave too few bytes".to_owned()))
}

fn target(gpu: &Gpu, (width, height): (u32, u32)) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("offscreen picture"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TARGET_FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

fn copy_out(
    gpu: &Gpu,
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
    (width, height): (u32, u32),
    bytes_per_row: u32,
) -> wgpu::Buffer {
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("picture read back"),
        size: u64::from(bytes_per_row) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(bytes_per_row),
                rows_per_image: None,
            },
        },
        wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
    );
    buffer
}

/// Waits for the device and copies a mapped buffer.
fn read(gpu: &Gpu, buffer: &wgpu::Buffer) -> Result<Vec<u8>, RenderError> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    buffer.map_async(wgpu::MapMode::Read, .., move |result| {
        // The receiver is gone only when this function gave up.
        let _ = sender.send(result);
    });
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .map_err(|error| RenderError::ReadBack(error.to_string()))?;
    receiver
        .recv()
        .map_err(|error| RenderError::ReadBack(error.to_string()))?
        .map_err(|error| RenderError::ReadBack(error.to_string()))?;
    let view = buffer
        .get_mapped_range(..)
        .map_err(|error| RenderError::ReadBack(error.to_string()))?;
    Ok(view.to_vec())
}
