use std::sync::Arc;
use std::time::Instant;

use winit::dpi::PhysicalSize;
use winit::window::Window;

use crate::app::egui_glue::Painted;
use crate::app::shown_grids::ShownGrids;
use crate::render::{Gpu, GpuScene, RenderError, Renderer, TARGET_FORMAT};
use crate::scene::CurveDetail;
use crate::view::{Camera, GridSet, LoadedMap, Overlays, State, ViewOptions};

/// The window's surface, the picture's texture, and everything uploaded.
pub(super) struct Graphics {
    window: Arc<Window>,
    gpu: Gpu,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    renderer: Renderer,
    panels: egui_wgpu::Renderer,
    picture: Option<Picture>,
    /// With the revision of its map and its curves.
    scene: Option<((u64, CurveDetail), GpuScene)>,
    grids: ShownGrids,
    drawn: Option<DrawnView>,
    started: Instant,
}

/// Everything that the picture depends on but time: while it stays the same, frames that only move panels reuse the
/// picture, which keeps software renderers usable.
struct DrawnView {
    revision: u64,
    curves: CurveDetail,
    grids: Arc<GridSet>,
    /// Step of the draft that is shown.
    step: Option<u64>,
    camera: Camera,
    options: ViewOptions,
    overlays: Overlays,
    size: (u32, u32),
}

impl DrawnView {
    fn is_same(&self, other: &Self) -> bool {
        // Grids are compared by identity: by value they are megabytes.
        Arc::ptr_eq(&self.grids, &other.grids)
            && self.revision == other.revision
            && self.curves == other.curves
            && self.camera == other.camera
            && self.options == other.options
            && self.step == other.step
            && self.has_same_overlays(other)
            && self.size == other.size
    }

    /// Light of the sample that a running bake changes is drawn with the next step.
    fn has_same_overlays(&self, other: &Self) -> bool {
        if self.step.is_none() {
            return self.overlays == other.overlays;
        }
        let place = |overlays: &Overlays| overlays.sample.as_ref().map(|sample| sample.position);
        self.overlays.selected == other.overlays.selected
            && self.overlays.outline == other.overlays.outline
            && self.overlays.lines == other.overlays.lines
            && place(&self.overlays) == place(&other.overlays)
    }
}

/// The texture that the map is drawn into and that egui shows.
struct Picture {
    view: wgpu::TextureView,
    size: (u32, u32),
    id: egui::TextureId,
}

impl Graphics {
    /// Makes the surface of `window` and a device for it.
    pub(super) fn new(instance: wgpu::Instance, window: Arc<Window>) -> Result<Self, RenderError> {
        let surface = instance
            .create_surface(Arc::clone(&window))
            .map_err(|error| RenderError::NoAdapter(error.to_string()))?;
        let gpu = Gpu::for_surface(instance, &surface)?;
        let config = configuration(&gpu, &surface, window.inner_size())?;
        surface.configure(&gpu.device, &config);
        let options = egui_wgpu::RendererOptions::default();
        let panels = egui_wgpu::Renderer::new(&gpu.device, config.format, options);
        let renderer = Renderer::new(&gpu)?;
        Ok(Self {
            window,
            gpu,
            surface,
            config,
            renderer,
            panels,
            picture: None,
            scene: None,
            grids: ShownGrids::default(),
            drawn: None,
            started: Instant::now(),
        })
    }

    /// Longest side of a texture.
    pub(super) fn max_texture_side(&self) -> usize {
        self.gpu.device.limits().max_texture_dimension_2d as usize
    }

    /// The picture's texture for egui.
    pub(super) fn picture(&self) -> Option<egui::TextureId> {
        self.picture.as_ref().map(|picture| picture.id)
    }

    /// Follows the window's size; nothing happens while it is minimised.
    pub(super) fn resize(&mut self, size: PhysicalSize<u32>) {
        if size.width > 0 && size.height > 0 {
            self.config.width = size.width;
            self.config.height = size.height;
            self.surface.configure(&self.gpu.device, &self.config);
        }
    }

    /// An error that the device reported outside any call.
    pub(super) fn take_error(&self) -> Option<String> {
        self.gpu.take_error()
    }

    /// Uploads what changed: the scene of a newly opened map, grids that were not shown before, what a bake has come to.
    pub(super) fn upload(
        &mut self,
        map: &LoadedMap,
        options: &ViewOptions,
    ) -> Result<(), RenderError> {
        let uploaded = self.scene.as_ref().map(|(of, _)| *of);
        let wanted = (map.revision, map.scene.curves);
        if uploaded != Some(wanted) {
            // The old one goes first: two maps at once may be more than the device holds.
            self.scene = None;
            if uploaded.is_none_or(|(revision, _)| revision != map.revision) {
                self.grids = ShownGrids::default();
            }
            let scene = GpuScene::upload(&self.gpu, &map.scene)?;
            self.scene = Some((wanted, scene));
        }
        self.grids.upload(&self.gpu, map, options)
    }

    /// Whether the result of a bake is not all uploaded, which takes further frames.
    pub(super) fn is_catching_up(&self, map: Option<&LoadedMap>) -> bool {
        map.is_some_and(|map| self.grids.is_catching_up(map))
    }

    /// Draws the map into the picture's texture, sized for the viewport.
    pub(super) fn draw_map(
        &mut self,
        state: &State,
        pixels_per_point: f32,
    ) -> Result<(), RenderError> {
        let Some(map) = &state.map else {
            return Ok(());
        };
        self.upload(map, &state.options)?;
        self.fit_picture(state, pixels_per_point);
        let (Some((_, scene)), Some(picture)) = (&self.scene, &self.picture) else {
            return Ok(());
        };
        let view = DrawnView {
            revision: map.revision,
            curves: map.scene.curves,
            grids: Arc::clone(map.kept()),
            step: self.grids.draft_step(),
            camera: state.camera,
            options: state.options,
            overlays: state.overlays(),
            size: picture.size,
        };
        if self
            .drawn
            .as_ref()
            .is_some_and(|drawn| drawn.is_same(&view))
        {
            return Ok(());
        }
        let mut encoder = self.encoder("map");
        self.renderer.draw(
            &self.gpu,
            &mut encoder,
            &picture.view,
            picture.size,
            scene,
            self.grids.get(map),
            &view.camera,
            &view.options,
            &view.overlays,
            self.started.elapsed().as_secs_f32(),
        )?;
        self.gpu.queue.submit([encoder.finish()]);
        self.drawn = Some(view);
        Ok(())
    }

    /// The current view as an image of the viewport's size.
    pub(super) fn image(&mut self, state: &State) -> Result<Option<image::RgbaImage>, RenderError> {
        let (Some((_, scene)), Some(picture), Some(map)) = (&self.scene, &self.picture, &state.map)
        else {
            return Ok(None);
        };
        crate::render::render_to_image(
            &self.gpu,
            &mut self.renderer,
            picture.size,
            scene,
            self.grids.get(map),
            &state.camera,
            &state.options,
            &state.overlays(),
            self.started.elapsed().as_secs_f32(),
        )
        .map(Some)
    }

    /// Shows the panels. Textures are updated even when the frame itself is skipped, as egui demands.
    pub(super) fn paint(&mut self, painted: Painted) -> Result<(), RenderError> {
        let mut textures = painted.textures;
        self.set_textures(&mut textures);
        let outcome = self.acquire().map(|frame| {
            if let Some(frame) = frame {
                self.present(frame, &painted.jobs, painted.pixels_per_point);
            }
        });
        self.free_textures(&mut textures);
        outcome
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures do not depend on each other"
    )]
    fn set_textures(&mut self, textures: &mut egui::TexturesDelta) {
        for (id, deltas) in textures.set.drain() {
            for delta in deltas {
                self.panels
                    .update_texture(&self.gpu.device, &self.gpu.queue, id, &delta);
            }
        }
    }

    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures do not depend on each other"
    )]
    fn free_textures(&mut self, textures: &mut egui::TexturesDelta) {
        for id in textures.free.drain() {
            self.panels.free_texture(&id);
        }
    }

    fn present(
        &mut self,
        frame: wgpu::SurfaceTexture,
        jobs: &[egui::ClippedPrimitive],
        pixels_per_point: f32,
    ) {
        let view = frame
            .texture
            .create_view(&wgpu::TextureViewDescriptor::default());
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: [self.config.width, self.config.height],
            pixels_per_point,
        };
        self.record_panels(jobs, &view, &screen);
        self.window.pre_present_notify();
        self.gpu.queue.present(frame);
    }

    fn record_panels(
        &mut self,
        jobs: &[egui::ClippedPrimitive],
        view: &wgpu::TextureView,
        screen: &egui_wgpu::ScreenDescriptor,
    ) {
        let mut encoder = self.encoder("panels");
        let more = self.panels.update_buffers(
            &self.gpu.device,
            &self.gpu.queue,
            &mut encoder,
            jobs,
            screen,
        );
        {
            let mut pass = encoder
                .begin_render_pass(&wgpu::RenderPassDescriptor {
                    label: Some("panels"),
                    color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                        view,
                        depth_slice: None,
                        resolve_target: None,
                        ops: wgpu::Operations {
                            load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                            store: wgpu::StoreOp::Store,
                        },
                    })],
                    ..wgpu::RenderPassDescriptor::default()
                })
                .forget_lifetime();
            self.panels.render(&mut pass, jobs, screen);
        }
        self.gpu
            .queue
            .submit(more.into_iter().chain([encoder.finish()]));
    }

    /// The next frame of the surface; `None` skips this one.
    fn acquire(&mut self) -> Result<Option<wgpu::SurfaceTexture>, RenderError> {
        match self.surface.get_current_texture() {
            // A suboptimal one is shown as it is; the resize event that follows configures the surface anew.
            wgpu::CurrentSurfaceTexture::Success(frame)
            | wgpu::CurrentSurfaceTexture::Suboptimal(frame) => Ok(Some(frame)),
            wgpu::CurrentSurfaceTexture::Timeout => {
                self.window.request_redraw();
                Ok(None)
            }
            wgpu::CurrentSurfaceTexture::Occluded => Ok(None),
            wgpu::CurrentSurfaceTexture::Outdated => {
                self.resize(self.window.inner_size());
                self.window.request_redraw();
                Ok(None)
            }
            wgpu::CurrentSurfaceTexture::Lost => {
                self.surface = self
                    .gpu
                    .instance
                    .create_surface(Arc::clone(&self.window))
                    .map_err(|error| RenderError::Device(error.to_string()))?;
                self.resize(self.window.inner_size());
                self.window.request_redraw();
                Ok(None)
            }
            wgpu::CurrentSurfaceTexture::Validation => {
                Err(RenderError::Device(self.gpu.take_error().unwrap_or_else(
                    || "the window's surface is invalid".to_owned(),
                )))
            }
        }
    }

    fn fit_picture(&mut self, state: &State, pixels_per_point: f32) {
        let limit = self.max_texture_side() as u32;
        let pixels = |points: f32| ((points * pixels_per_point).round() as u32).clamp(1, limit);
        let size = (pixels(state.viewport.x), pixels(state.viewport.y));
        if self
            .picture
            .as_ref()
            .is_some_and(|picture| picture.size == size)
        {
            return;
        }
        let texture = self.gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
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
        let filter = wgpu::FilterMode::Nearest;
        let device = &self.gpu.device;
        let id = match &self.picture {
            Some(old) => {
                self.panels
                    .update_egui_texture_from_wgpu_texture(device, &view, filter, old.id);
                old.id
            }
            None => self.panels.register_native_texture(device, &view, filter),
        };
        self.picture = Some(Picture { view, size, id });
        self.drawn = None;
    }

    fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some(label) };
        self.gpu.device.create_command_encoder(&descriptor)
    }
}

/// Settings of the surface: a format without sRGB conversion (what egui and the engine's colours want), vertical sync.
fn configuration(
    gpu: &Gpu,
    surface: &wgpu::Surface<'_>,
    size: PhysicalSize<u32>,
) -> Result<wgpu::SurfaceConfiguration, RenderError> {
    let mut config = surface
        .get_default_config(&gpu.adapter, size.width.max(1), size.height.max(1))
        .ok_or_else(|| RenderError::NoAdapter("it cannot present to this window".to_owned()))?;
    let formats = surface.get_capabilities(&gpu.adapter).formats;
    let plain = [
        wgpu::TextureFormat::Bgra8Unorm,
        wgpu::TextureFormat::Rgba8Unorm,
    ];
    if let Some(format) = plain.into_iter().find(|format| formats.contains(format)) {
        config.format = format;
    }
    config.present_mode = wgpu::PresentMode::AutoVsync;
    // A look must show its frame at once, not behind two others.
    config.desired_maximum_frame_latency = 1;
    Ok(config)
}
