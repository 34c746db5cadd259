use wgpu::util::{DeviceExt as _, TextureDataOrder};

use crate::render::gpu::Gpu;
use crate::scene::{Image, ImageId};

/// How an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sampling {
    /// Clamped to the edge instead of repeated.
    pub(super) clamp: bool,
    /// Only the full size is read.
    pub(super) no_mipmaps: bool,
}

impl Sampling {
    /// In the order of [`Sampling::number`].
    const ALL: [Self; 4] = [
        Self {
            clamp: false,
            no_mipmaps: false,
        },
        Self {
            clamp: true,
            no_mipmaps: false,
        },
        Self {
            clamp: false,
            no_mipmaps: true,
        },
        Self {
            clamp: true,
            no_mipmaps: true,
        },
    ];

    fn number(self) -> usize {
        usize::from(self.clamp) + 2 * usize::from(self.no_mipmaps)
    }
}

/// One sampler for each [`Sampling`].
pub(super) struct Samplers([wgpu::Sampler; 4]);

impl Samplers {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let anisotropy = anisotropy(gpu);
        Self(Sampling::ALL.map(|sampling| {
            let address = if sampling.clamp {
                wgpu::AddressMode::ClampToEdge
            } else {
                wgpu::AddressMode::Repeat
            };
            gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("image sampler"),
                address_mode_u: address,
                address_mode_v: address,
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                lod_max_clamp: if sampling.no_mipmaps { 0.0 } else { 32.0 },
                anisotropy_clamp: anisotropy,
                ..wgpu::SamplerDescriptor::default()
            })
        }))
    }

    pub(super) fn get(&self, sampling: Sampling) -> &wgpu::Sampler {
        &self.0[sampling.number()]
    }
}

/// Sixteen samples where the adapter offers them in hardware; a software rasteriser would pay for each.
fn anisotropy(gpu: &Gpu) -> u16 {
    let flags = gpu.adapter.get_downlevel_capabilities().flags;
    let software = gpu.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    if flags.contains(wgpu::DownlevelFlags::ANISOTROPIC_FILTERING) && !software {
        16
    } else {
        1
    }
}

/// Uploads an image with all its mipmaps. Images larger than the device takes are halved until they fit.
pub(super) fn upload_image(gpu: &Gpu, image: &Image) -> wgpu::TextureView {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    let mut level = Level {
        width: image.width.max(1),
        height: image.height.max(1),
        rgba: image.rgba.clone(),
    };
    while level.width > limit || level.height > limit {
        level = level.halved();
    }
    let size = wgpu::Extent3d {
        width: level.width,
        height: level.height,
        depth_or_array_layers: 1,
    };
    let count = 32 - level.width.max(level.height).leading_zeros();
    let mut data = Vec::with_capacity(level.rgba.len() * 4 / 3 + 64);
    data.extend_from_slice(&level.rgba);
    for _ in 1..count {
        level = level.halved();
        data.extend_from_slice(&level.rgba);
    }
    let descriptor = wgpu::TextureDescriptor {
        label: Some(&image.name),
        size,
        mip_level_count: count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    gpu.device
        .create_texture_with_data(&gpu.queue, &descriptor, TextureDataOrder::LayerMajor, &data)
        .create_view(&wgpu::TextureViewDescriptor::default())
}

/// The mean colour of an image, 0 to 1.
pub(super) fn mean_colour(image: &Image) -> [f32; 3] {
    let mut sum = [0_u64; 3];
    for texel in image.rgba.chunks_exact(4) {
        for (sum, channel) in sum.iter_mut().zip(texel) {
            *sum += u64::from(*channel);
        }
    }
    let count = (image.rgba.len() / 4).max(1) as f64;
    sum.map(|sum| (sum as f64 / count / 255.0) as f32)
}

/// Pictures that share an array texture.
#[derive(Default)]
pub(super) struct Layers {
    ids: Vec<ImageId>,
}

impl Layers {
    /// The layer of an image.
    pub(super) fn layer(&mut self, id: ImageId) -> u32 {
        let known = self.ids.iter().position(|known| *known == id);
        let number = known.unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        });
        number as u32
    }
}

/// Longest side of a layer, texels.
const LAYER_SIDE: u32 = 256;

/// An array of square pictures of one size with all their mipmaps; those beyond what the device takes are left out.
pub(super) fn upload_layers(gpu: &Gpu, images: &[Image], layers: &Layers) -> wgpu::TextureView {
    let missing = Image::missing();
    let room = gpu.device.limits().max_texture_array_layers as usize;
    let found: Vec<&Image> = layers
        .ids
        .iter()
        .take(room)
        .map(|id| images.get(id.0 as usize).unwrap_or(&missing))
        .collect();
    let sides = found.iter().map(|image| image.width.max(image.height));
    let side = sides.max().unwrap_or(1).clamp(1, LAYER_SIDE);
    let side = side.next_power_of_two();
    let count = side.ilog2() + 1;
    let mut data = Vec::new();
    for image in &found {
        let mut level = Level {
            width: image.width.max(1),
            height: image.height.max(1),
            rgba: image.rgba.clone(),
        }
        .fitted(side);
        data.extend_from_slice(&level.rgba);
        for _ in 1..count {
            level = level.halved();
            data.extend_from_slice(&level.rgba);
        }
    }
    let descriptor = wgpu::TextureDescriptor {
        label: Some("flare pictures"),
        size: wgpu::Extent3d {
            width: side,
            height: side,
            depth_or_array_layers: found.len() as u32,
        },
        mip_level_count: count,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    let view = wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..wgpu::TextureViewDescriptor::default()
    };
    gpu.device
        .create_texture_with_data(&gpu.queue, &descriptor, TextureDataOrder::LayerMajor, &data)
        .create_view(&view)
}

struct Level {
    width: u32,
    height: u32,
    rgba: Vec<u8>,
}

impl Level {
    /// A square: halved while it is twice as large, then the texels between.
    fn fitted(mut self, side: u32) -> Self {
        while self.width.min(self.height) >= 2 * side {
            self = self.halved();
        }
        if (self.width, self.height) == (side, side) {
            return self;
        }
        let mut rgba = Vec::with_capacity((side * side * 4) as usize);
        let place = |at: u32, length: u32| {
            let place = (at as f32 + 0.5) * length as f32 / side as f32 - 0.5;
            let place = place.clamp(0.0, (length - 1) as f32);
            let low = place.floor();
            (low as u32, (low as u32 + 1).min(length - 1), place - low)
        };
        for y in 0..side {
            let (top, bottom, down) = place(y, self.height);
            for x in 0..side {
                let (left, right, along) = place(x, self.width);
                for channel in 0..4 {
                    let texel = |x: u32, y: u32| {
                        let at = (y * self.width + x) as usize * 4 + channel;
                        f32::from(self.rgba.get(at).copied().unwrap_or(0))
                    };
                    let row = |y| texel(left, y) * (1.0 - along) + texel(right, y) * along;
                    let value = row(top) * (1.0 - down) + row(bottom) * down;
                    rgba.push((value + 0.5) as u8);
                }
            }
        }
        Self {
            width: side,
            height: side,
            rgba,
        }
    }

    /// The next smaller level: 2×2 boxes of encoded bytes, truncated, as the engine does it.
    fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        let row_bytes = self.width as usize * 4;
        for y in 0..height {
            let top = (2 * y).min(self.height - 1) as usize * row_bytes;
            let bottom = (2 * y + 1).min(self.height - 1) as usize * row_bytes;
            for x in 0..width {
                let left = (2 * x).min(self.width - 1) as usize * 4;
                let right = (2 * x + 1).min(self.width - 1) as usize * 4;
                for channel in 0..4 {
                    let corners = [top + left, top + right, bottom + left, bottom + right];
                    let sum: u32 = corners
                        .iter()
                        .map(|at| u32::from(self.rgba.get(at + channel).copied().unwrap_or(0)))
                        .sum();
                    rgba.push((sum / 4) as u8);
                }
            }
        }
        Self {
            width,
            height,
            rgba,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_box_of_the_one_before() {
        let rgba = [
            [0, 0, 0, 255],
            [10, 0, 0, 255],
            [20, 0, 0, 255],
            [31, 0, 0, 255],
        ];
        let level = Level {
            width: 2,
            height: 2,
            rgba: rgba.concat(),
        };
        let half = level.halved();
        assert_eq!((half.width, half.height), (1, 1));
        assert_eq!(half.rgba, [15, 0, 0, 255]);
        let again = half.halved();
        assert_eq!(again.rgba, half.rgba);
    }

    #[test]
    fn a_fitted_level_is_a_square() {
        let wide = Level {
            width: 2,
            height: 1,
            rgba: [[0, 0, 0, 255], [200, 0, 0, 255]].concat(),
        };
        let square = wide.fitted(2);
        assert_eq!((square.width, square.height), (2, 2));
        assert_eq!(square.rgba[..8], [0, 0, 0, 255, 200, 0, 0, 255]);
        let larger = square.fitted(4);
        let reds: Vec<u8> = larger
            .rgba
            .chunks(4)
            .take(4)
            .map(|texel| texel[0])
            .collect();
        assert_eq!(reds, [0, 50, 150, 200]);
        assert_eq!(larger.fitted(1).rgba.len(), 4);
    }

    #[test]
    fn mean_of_black_and_white_is_grey() {
        let mut image = Image::solid("x", [255, 0, 0, 255]);
        image.width = 2;
        image.rgba.extend([0, 0, 0, 255]);
        assert!((mean_colour(&image)[0] - 0.5).abs() < 1e-6);
    }
}
