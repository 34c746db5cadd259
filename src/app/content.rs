use egui::TextureId;

use crate::app::damage::{Areas, Damage, clipped};
use crate::render::{Gpu, PanelImage, PanelMesh, PanelPainter, PanelTarget, RenderError};

/// What egui knows the picture of the map by.
pub(super) const PICTURE: TextureId = TextureId::User(0);

/// Draws the window's content. For a software renderer it is kept from frame to frame, so that only what changed is drawn and
/// the rest copied.
pub(super) struct Content {
    painter: PanelPainter<TextureId>,
    kept: Option<Kept>,
    /// Whether the picture changed since it was shown.
    is_picture_fresh: bool,
}

/// The content of the window at its last frame.
struct Kept {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    damage: Damage,
}

impl Content {
    pub(super) fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Result<Self, RenderError> {
        Ok(Self {
            painter: PanelPainter::new(gpu, format)?,
            kept: None,
            is_picture_fresh: false,
        })
    }

    /// Shows another texture as the picture; `filter` says how its texels become pixels.
    pub(super) fn set_picture(
        &mut self,
        gpu: &Gpu,
        view: &wgpu::TextureView,
        filter: wgpu::FilterMode,
    ) {
        self.painter.set_view(gpu, PICTURE, view, filter);
        self.is_picture_fresh = true;
    }

    /// Says that the picture was drawn anew.
    pub(super) fn freshen_picture(&mut self) {
        self.is_picture_fresh = true;
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures do not depend on each other"
    )]
    pub(super) fn set_textures(&mut self, gpu: &Gpu, textures: &mut egui::TexturesDelta) {
        let keeps_pixels = textures.set.iter().all(|(id, deltas)| {
            // New glyphs of the font's texture go where there were none.
            *id == TextureId::default() && deltas.iter().all(|delta| delta.pos.is_some())
        });
        if let Some(kept) = self.kept.as_mut().filter(|_| !keeps_pixels) {
            kept.damage.forget();
        }
        for (id, deltas) in textures.set.drain() {
            for delta in deltas {
                let egui::ImageData::Color(image) = &delta.image;
                let pair = |[x, y]: [usize; 2]| (x as u32, y as u32);
                let image = PanelImage {
                    size_px: pair(image.size),
                    pixels: bytemuck::cast_slice(&image.pixels),
                    corner_px: delta.pos.map(pair),
                    filter: match delta.options.magnification {
                        egui::TextureFilter::Nearest => wgpu::FilterMode::Nearest,
                        egui::TextureFilter::Linear => wgpu::FilterMode::Linear,
                    },
                };
                self.painter.set_image(gpu, id, &image);
            }
        }
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures do not depend on each other"
    )]
    pub(super) fn free_textures(&mut self, textures: &mut egui::TexturesDelta) {
        for id in textures.free.drain() {
            self.painter.free_image(id);
        }
    }

    /// Draws everything into `target`, what did not change by a copy where that can be: the target must take copies then.
    pub(super) fn draw(
        &mut self,
        gpu: &Gpu,
        target: &wgpu::Texture,
        jobs: &[egui::ClippedPrimitive],
        pixels_per_point: f32,
    ) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("window"),
            });
        let black = wgpu::LoadOp::Clear(wgpu::Color::BLACK);
        let size = target.size();
        let mut to = PanelTarget {
            view: &target.create_view(&wgpu::TextureViewDescriptor::default()),
            size_px: (size.width, size.height),
            pixels_per_point,
            load: black,
        };
        if target.usage().contains(wgpu::TextureUsages::COPY_DST) {
            let mut kept = match self.kept.take() {
                Some(kept) if kept.texture.size() == size => kept,
                _ => Kept::new(gpu, target),
            };
            let fresh = self.is_picture_fresh.then_some(PICTURE);
            let size_px = [size.width, size.height];
            let areas = kept.damage.take(jobs, size_px, pixels_per_point, fresh);
            to.view = &kept.view;
            match areas {
                Areas::All => self.draw_jobs(gpu, &mut encoder, &to, jobs),
                Areas::Some(areas) if areas.is_empty() => {}
                Areas::Some(areas) => {
                    to.load = wgpu::LoadOp::Load;
                    self.draw_jobs(gpu, &mut encoder, &to, &clipped(jobs, &areas));
                }
            }
            let (from, to) = (kept.texture.as_image_copy(), target.as_image_copy());
            encoder.copy_texture_to_texture(from, to, size);
            self.kept = Some(kept);
        } else {
            self.draw_jobs(gpu, &mut encoder, &to, jobs);
        }
        self.is_picture_fresh = false;
        gpu.queue.submit([encoder.finish()]);
    }

    fn draw_jobs(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &PanelTarget<'_>,
        jobs: &[egui::ClippedPrimitive],
    ) {
        let scale = target.pixels_per_point;
        let meshes: Vec<_> = jobs.iter().filter_map(|job| mesh(job, scale)).collect();
        self.painter.draw(gpu, encoder, target, &meshes);
    }
}

impl Kept {
    fn new(gpu: &Gpu, target: &wgpu::Texture) -> Self {
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("kept content"),
            size: target.size(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: target.format(),
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        Self {
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            texture,
            damage: Damage::default(),
        }
    }
}

/// What egui wants drawn, as the painter takes it; no part of the program draws by callbacks.
fn mesh(job: &egui::ClippedPrimitive, pixels_per_point: f32) -> Option<PanelMesh<'_, TextureId>> {
    let egui::epaint::Primitive::Mesh(mesh) = &job.primitive else {
        return None;
    };
    let edge = |points: f32| (points * pixels_per_point).round().max(0.0) as u32;
    let (min, max) = (job.clip_rect.min, job.clip_rect.max);
    Some(PanelMesh {
        image: mesh.texture_id,
        vertices: bytemuck::cast_slice(&mesh.vertices),
        indices: &mesh.indices,
        clip_px: [edge(min.x), edge(min.y), edge(max.x), edge(max.y)],
    })
}
