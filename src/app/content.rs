use egui::epaint::{PaintCallback, Primitive};
use egui::{ClippedPrimitive, Rect, TextureId};

use crate::app::damage::{Areas, Damage, GROUND, clipped};
use crate::render::{Gpu, PicturePainter, RenderError, ShownPicture, TARGET_FORMAT};

/// What egui knows the picture of the map by; it is shown whole.
pub(super) const PICTURE: TextureId = TextureId::User(u64::MAX);

/// Draws the window's content. For a software renderer it is kept from frame to frame, so that only what changed is drawn and
/// the rest copied.
pub(super) struct Content {
    panels: egui_wgpu::Renderer,
    painter: PicturePainter,
    picture: Option<ShownPicture>,
    /// What is below everything.
    ground: ShownPicture,
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
        let painter = PicturePainter::new(gpu, format)?;
        let options = egui_wgpu::RendererOptions::default();
        Ok(Self {
            panels: egui_wgpu::Renderer::new(&gpu.device, format, options),
            ground: painter.show(gpu, &black(gpu), wgpu::FilterMode::Nearest),
            painter,
            picture: None,
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
        self.picture = Some(self.painter.show(gpu, view, filter));
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
                self.panels
                    .update_texture(&gpu.device, &gpu.queue, id, &delta);
            }
        }
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures do not depend on each other"
    )]
    pub(super) fn free_textures(&mut self, textures: &mut egui::TexturesDelta) {
        for id in textures.free.drain() {
            self.panels.free_texture(&id);
        }
    }

    /// Draws everything into `target`, what did not change by a copy where that can be: the target must take copies then.
    pub(super) fn draw(
        &mut self,
        gpu: &Gpu,
        target: &wgpu::Texture,
        jobs: &[ClippedPrimitive],
        pixels_per_point: f32,
    ) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("window"),
            });
        let size = target.size();
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [size.width, size.height],
            pixels_per_point,
        };
        let mut more = Vec::new();
        let black = wgpu::LoadOp::Clear(wgpu::Color::BLACK);
        if target.usage().contains(wgpu::TextureUsages::COPY_DST) {
            let mut kept = match self.kept.take() {
                Some(kept) if kept.texture.size() == size => kept,
                _ => Kept::new(gpu, target),
            };
            let fresh = self.is_picture_fresh.then_some(PICTURE);
            let areas = kept
                .damage
                .take(jobs, screen.size_in_pixels, pixels_per_point, fresh);
            let to = &kept.view;
            match areas {
                Areas::All => {
                    let jobs = self.with_picture(jobs.to_vec());
                    more = self.record(gpu, &mut encoder, (to, black), &screen, &jobs);
                }
                Areas::Some(areas) if areas.is_empty() => {}
                Areas::Some(areas) => {
                    let jobs = self.with_picture(clipped(jobs, &areas));
                    let over = wgpu::LoadOp::Load;
                    more = self.record(gpu, &mut encoder, (to, over), &screen, &jobs);
                }
            }
            let (from, to) = (kept.texture.as_image_copy(), target.as_image_copy());
            encoder.copy_texture_to_texture(from, to, size);
            self.kept = Some(kept);
        } else {
            let view = target.create_view(&wgpu::TextureViewDescriptor::default());
            let jobs = self.with_picture(jobs.to_vec());
            more = self.record(gpu, &mut encoder, (&view, black), &screen, &jobs);
        }
        self.is_picture_fresh = false;
        gpu.queue.submit(more.into_iter().chain([encoder.finish()]));
    }

    /// Puts our own programs in place of the meshes that show the picture and the ground.
    fn with_picture(&self, mut jobs: Vec<ClippedPrimitive>) -> Vec<ClippedPrimitive> {
        for job in &mut jobs {
            let Primitive::Mesh(mesh) = &job.primitive else {
                continue;
            };
            let shown = match mesh.texture_id {
                PICTURE => self.picture.as_ref(),
                GROUND => Some(&self.ground),
                _ => continue,
            };
            if let Some(shown) = shown {
                let rect = mesh.calc_bounds();
                job.primitive = Primitive::Callback(callback(rect, shown.clone()));
            }
        }
        jobs
    }

    /// Draws `jobs` into a target, over what it loads; gives what has to be submitted before.
    fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        (target, load): (&wgpu::TextureView, wgpu::LoadOp<wgpu::Color>),
        screen: &egui_wgpu::ScreenDescriptor,
        jobs: &[ClippedPrimitive],
    ) -> Vec<wgpu::CommandBuffer> {
        let (device, queue) = (&gpu.device, &gpu.queue);
        let more = self
            .panels
            .update_buffers(device, queue, encoder, jobs, screen);
        let mut pass = encoder
            .begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("panels"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: target,
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load,
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..wgpu::RenderPassDescriptor::default()
            })
            .forget_lifetime();
        self.panels.render(&mut pass, jobs, screen);
        more
    }
}

/// A black texel.
fn black(gpu: &Gpu) -> wgpu::TextureView {
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("ground"),
        size: wgpu::Extent3d {
            width: 1,
            height: 1,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: TARGET_FORMAT,
        // Textures start as zeros.
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn callback(rect: Rect, shown: ShownPicture) -> PaintCallback {
    struct Show(ShownPicture);

    impl egui_wgpu::CallbackTrait for Show {
        fn paint(
            &self,
            _: egui::PaintCallbackInfo,
            pass: &mut wgpu::RenderPass<'static>,
            _: &egui_wgpu::CallbackResources,
        ) {
            self.0.draw(pass);
        }
    }

    egui_wgpu::Callback::new_paint_callback(rect, Show(shown))
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
