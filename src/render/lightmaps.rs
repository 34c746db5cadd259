use std::sync::{Mutex, PoisonError};

use crate::format::bsp::{LIGHTMAP_SIZE, LightmapPage};
use crate::math::colour::{Clamp, Overbright, shift, shift_bytes};
use crate::render::gpu::Gpu;
use crate::render::styles::Styles;
use crate::scene::LightmapPages;

/// A texel of the layer for surfaces without a page. Alpha 0 keeps it from being multiplied by overbright and exposure.
const WHITE: [u8; 4] = [255, 255, 255, 0];

/// The lightmap pages as an array texture whose last layer is white.
///
/// The engine shifts and clamps texels before they are filtered, so pages are prepared on the CPU for the overbright in
/// use and uploaded again when it changes.
pub(super) struct Lightmaps {
    pages: Vec<LightmapPage>,
    /// Side of a page, texels.
    side: u32,
    /// Whether odd pages hold directions, which are shown as stored.
    has_directions: bool,
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    sampler: wgpu::Sampler,
    uploaded: Mutex<Option<(Overbright, Clamp)>>,
}

impl Lightmaps {
    /// Pages beyond what the device takes are dropped with a line in the log; their surfaces are white.
    pub(super) fn new(gpu: &Gpu, lightmaps: &LightmapPages) -> Self {
        let limits = gpu.device.limits();
        let pages = &lightmaps.pages;
        let too_large = lightmaps.size > limits.max_texture_dimension_2d;
        let (side, room) = match lightmaps.size {
            0 => (LIGHTMAP_SIZE as u32, 0),
            _ if too_large => (LIGHTMAP_SIZE as u32, 0),
            size => (size, limits.max_texture_array_layers as usize),
        };
        let kept = pages.len().min(room.saturating_sub(1));
        if kept < pages.len() {
            log::warn!(
                "{} lightmap pages, the device takes {kept}: the rest is drawn white",
                pages.len()
            );
        }
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("lightmap pages"),
            size: wgpu::Extent3d {
                width: side,
                height: side,
                depth_or_array_layers: kept as u32 + 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..wgpu::TextureViewDescriptor::default()
        });
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("lightmap sampler"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        Self {
            pages: pages[..kept].to_vec(),
            side,
            has_directions: lightmaps.direction_page(0).is_some(),
            texture,
            view,
            sampler,
            uploaded: Mutex::new(None),
        }
    }

    /// Group 1 of surfaces: pages and light styles, then `more` buffers.
    pub(super) fn bind(
        &self,
        gpu: &Gpu,
        layout: &wgpu::BindGroupLayout,
        styles: &Styles,
        more: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let resources = [
            wgpu::BindingResource::TextureView(&self.view),
            wgpu::BindingResource::Sampler(&self.sampler),
            styles.vertices.as_entire_binding(),
            styles.surfaces.as_entire_binding(),
            styles.levels.as_entire_binding(),
        ];
        let more = more.iter().map(|buffer| buffer.as_entire_binding());
        let entries: Vec<_> = (0..)
            .zip(resources.into_iter().chain(more))
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("lightmap pages"),
            layout,
            entries: &entries,
        })
    }

    /// Layer of `page`; the white one for no page.
    pub(super) fn layer(&self, page: Option<u32>) -> u32 {
        let white = self.pages.len() as u32;
        page.filter(|page| *page < white).unwrap_or(white)
    }

    /// Uploads the pages for this overbright unless they are there, and returns what texels are still to be multiplied
    /// with.
    pub(super) fn prepare(&self, gpu: &Gpu, overbright: Overbright, clamp: Clamp) -> f32 {
        let mut uploaded = self.uploaded.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a clamp texels go up as stored and the factor is left to the GPU.
        let key = match clamp {
            Clamp::KeepHue => (overbright, clamp),
            Clamp::Off => (Overbright::Bits(0), clamp),
        };
        if *uploaded != Some(key) {
            let mut rgba = Vec::new();
            for layer in 0..=self.pages.len() {
                rgba.clear();
                match self.pages.get(layer) {
                    Some(page) if self.has_directions && layer % 2 == 1 => {
                        prepare_page(page, self.side, Overbright::Bits(0), &mut rgba);
                    }
                    Some(page) => prepare_page(page, self.side, key.0, &mut rgba),
                    None => rgba.extend(WHITE.repeat((self.side * self.side) as usize)),
                }
                self.write(gpu, layer as u32, &rgba);
            }
            *uploaded = Some(key);
        }
        match clamp {
            Clamp::KeepHue => 1.0,
            Clamp::Off => overbright.factor(),
        }
    }

    fn write(&self, gpu: &Gpu, layer: u32, rgba: &[u8]) {
        gpu.queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &self.texture,
                mip_level: 0,
                origin: wgpu::Origin3d {
                    x: 0,
                    y: 0,
                    z: layer,
                },
                aspect: wgpu::TextureAspect::All,
            },
            rgba,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(self.side * 4),
                rows_per_image: None,
            },
            wgpu::Extent3d {
                width: self.side,
                height: self.side,
                depth_or_array_layers: 1,
            },
        );
    }
}

/// Appends a page's texels after overbright; a short page ends in black.
fn prepare_page(page: &[u8], side: u32, overbright: Overbright, rgba: &mut Vec<u8>) {
    let texels = (side * side) as usize;
    for texel in page.chunks_exact(3).take(texels) {
        let stored = [texel[0], texel[1], texel[2]];
        let shown = match overbright {
            Overbright::Bits(bits) => shift_bytes(stored, bits),
            Overbright::Blog => {
                let light = glam::Vec3::from(stored.map(f32::from));
                let shown = shift(light, overbright.factor(), Clamp::KeepHue);
                shown.round().to_array().map(|channel| channel as u8)
            }
        };
        rgba.extend([shown[0], shown[1], shown[2], 255]);
    }
    rgba.resize(texels * 4, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_shifted_as_the_engine_does() {
        let mut rgba = Vec::new();
        prepare_page(
            &[10, 20, 30, 40, 80, 160],
            128,
            Overbright::Bits(2),
            &mut rgba,
        );
        assert_eq!(rgba[..8], [40, 80, 120, 255, 63, 127, 255, 255]);
        assert_eq!(rgba.len(), 128 * 128 * 4);
        rgba.clear();
        prepare_page(&[63, 0, 0], 128, Overbright::Blog, &mut rgba);
        assert_eq!(rgba[..4], [255, 0, 0, 255]);
    }
}
