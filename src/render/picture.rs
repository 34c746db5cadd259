use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::layouts::{Layouts, bind_texture};
use crate::render::pipelines::fullscreen_pipeline;
use crate::render::wgsl;

/// Shows pictures that [`crate::render::Renderer::draw`] drew in a part of a window.
///
/// Panels are drawn by their own library's program, which takes a software renderer six times as long for each pixel: too
/// long for the largest part of the window.
pub struct PicturePainter {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

/// A picture that is ready to be shown.
#[derive(Clone)]
pub struct ShownPicture {
    pipeline: wgpu::RenderPipeline,
    group: wgpu::BindGroup,
}

impl PicturePainter {
    /// For targets of `format`, without depths and with one sample a pixel.
    ///
    /// # Errors
    /// When the device refuses the pipeline.
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Result<Self, RenderError> {
        gpu.checked(|| {
            let layout = Layouts::new(&gpu.device).image;
            let module = wgsl::compile(&gpu.device, &wgsl::PICTURE);
            let fragment = if format.is_srgb() {
                "fs_picture_encoded"
            } else {
                "fs_picture"
            };
            Self {
                pipeline: fullscreen_pipeline(
                    &gpu.device,
                    &layout,
                    &module,
                    ["vs_picture", fragment],
                    format,
                ),
                layout,
            }
        })
    }

    /// A picture of any size; `filter` says how its texels become pixels.
    pub fn show(
        &self,
        gpu: &Gpu,
        picture: &wgpu::TextureView,
        filter: wgpu::FilterMode,
    ) -> ShownPicture {
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("picture"),
            mag_filter: filter,
            min_filter: filter,
            ..wgpu::SamplerDescriptor::default()
        });
        ShownPicture {
            pipeline: self.pipeline.clone(),
            group: bind_texture(&gpu.device, "picture", &self.layout, picture, &sampler),
        }
    }
}

impl ShownPicture {
    /// Draws it over the whole viewport of the pass, inside its scissor rectangle.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
    }
}
