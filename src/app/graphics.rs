use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::TextureId;
use winit::dpi::PhysicalSize;
use winit::window::Window;

use crate::app::content::{Content, PICTURE};
use crate::app::egui_glue::Painted;
use crate::app::shown_grids::ShownGrids;
use crate::render::{Gpu, GpuScene, RenderError, Renderer, TARGET_FORMAT};
use crate::scene::CurveDetail;
use crate::view::{Camera, GridSet, LoadedMap, Overlays, Sharpness, State, ViewOptions};

/// A coarse picture that stays for this long is drawn sharply.
const SHARPEN_AFTER: Duration = Duration::from_millis(200);

/// In which a flare comes or goes: seven times a second.
const FLARE_FADE_TIME: Duration = Duration::from_millis(143);

/// The window's surface, the picture's texture, and everything uploaded.
pub(super) struct Graphics {
    window: Arc<Window>,
    gpu: Gpu,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    renderer: Renderer,
    content: Content,
    picture: Option<Picture>,
    /// With the revision of its map and its curves.
    scene: Option<((u64, CurveDetail), GpuScene)>,
    grids: ShownGrids,
    drawn: Option<DrawnView>,
    /// How sharp a software renderer draws; `None` for others, which draw all pixels.
    sharpness: Option<Sharpness>,
    /// When the flares will have come and gone.
    settled_at: Option<Instant>,
    started: Instant,
}

/// Everything that the picture depends on but time: while it stays the same, frames that only move panels reuse the
/// picture, which keeps software renderers usable.
struct DrawnView {
    revision: u64,
    curves: CurveDetail,
    /// The finished grids that are shown, if such are.
    grids: Option<Arc<GridSet>>,
    /// Step of the draft that is shown.
    step: Option<u64>,
    camera: Camera,
    options: ViewOptions,
    overlays: Overlays,
    /// Of the viewport, pixels; the picture itself may be coarser.
    size: (u32, u32),
    at: Instant,
}

impl DrawnView {
    fn is_same(&self, other: &Self) -> bool {
        // Grids are compared by identity: by value they are megabytes.
        let identity = |view: &Self| view.grids.as_ref().map(Arc::as_ptr);
        identity(self) == identity(other)
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
}

/// What became of a call of [`Graphics::draw_map`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MapDrawn {
    /// The picture stays as it was, or there is none.
    Kept,
    /// It was drawn, its sides this share of the full ones.
    At(f32),
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
        let content = Content::new(&gpu, config.format)?;
        let renderer = Renderer::new(&gpu)?;
        Ok(Self {
            window,
            surface,
            config,
            renderer,
            content,
            picture: None,
            scene: None,
            grids: ShownGrids::default(),
            drawn: None,
            sharpness: is_software(&gpu).then(Sharpness::default),
            settled_at: None,
            gpu,
            started: Instant::now(),
        })
    }

    /// Longest side of a texture.
    pub(super) fn max_texture_side(&self) -> usize {
        self.gpu.device.limits().max_texture_dimension_2d as usize
    }

    /// The picture's texture for egui.
    pub(super) fn picture(&self) -> Option<TextureId> {
        self.picture.as_ref().map(|_| PICTURE)
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

    /// Whether light of a running bake is shown.
    pub(super) fn shows_draft(&self) -> bool {
        self.grids.draft_step().is_some()
    }

    /// Whether the picture changes without anything else changing, which takes further frames.
    pub(super) fn is_settling(&self) -> bool {
        self.settled_at.is_some()
    }

    /// Draws the map into the picture's texture, sized for the viewport. A software renderer draws a picture that changed
    /// coarsely when it must, and sharply once it has stayed for a while and no bake runs.
    pub(super) fn draw_map(
        &mut self,
        state: &State,
        pixels_per_point: f32,
    ) -> Result<MapDrawn, RenderError> {
        let Some(map) = &state.map else {
            return Ok(MapDrawn::Kept);
        };
        self.upload(map, &state.options)?;
        let view = DrawnView {
            revision: map.revision,
            curves: map.scene.curves,
            grids: self.grids.finished(map).map(|(set, _)| Arc::clone(set)),
            step: self.grids.draft_step(),
            camera: state.camera,
            options: state.options,
            overlays: state.overlays(),
            size: self.full_size(state, pixels_per_point),
            at: Instant::now(),
        };
        let is_kept = self
            .drawn
            .as_ref()
            .is_some_and(|drawn| drawn.is_same(&view));
        let is_due = self
            .sharp_at(state)
            .is_some_and(|sharp_at| sharp_at <= view.at);
        let was_settling = self.is_settling();
        if !is_kept {
            // What the eye's move hid or uncovered fades.
            let fades = view.options.flares && !map.scene.flares.is_empty();
            self.settled_at = fades.then(|| view.at + FLARE_FADE_TIME);
        } else if was_settling {
            self.settled_at = self.settled_at.filter(|at| *at > view.at);
        } else if !is_due {
            return Ok(MapDrawn::Kept);
        }
        let size = match (self.sharpness, &self.picture) {
            (Some(sharpness), _) if !is_kept => sharpness.size_of(view.size),
            (Some(_), Some(picture)) if !is_due => picture.size,
            _ => view.size,
        };
        self.fit_picture(size, view.size);
        let mut encoder = self.encoder("map");
        let (Some((_, scene)), Some(picture)) = (&self.scene, &self.picture) else {
            return Ok(MapDrawn::Kept);
        };
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
        self.content.freshen_picture();
        let scale = size.0 as f32 / view.size.0 as f32;
        self.drawn = Some(view);
        Ok(MapDrawn::At(scale))
    }

    /// When a coarse picture is due to be drawn sharply, if nothing changes it until then.
    pub(super) fn sharp_at(&self, state: &State) -> Option<Instant> {
        let (drawn, picture) = (self.drawn.as_ref()?, self.picture.as_ref()?);
        let is_changing = state.baking.is_some() || self.is_catching_up(state.map.as_ref());
        (picture.size != drawn.size && !is_changing).then(|| drawn.at + SHARPEN_AFTER)
    }

    /// Takes in how long a frame took, and what it drew.
    pub(super) fn took(&mut self, drawn: MapDrawn, time: Duration) {
        if let (Some(sharpness), MapDrawn::At(scale)) = (&mut self.sharpness, drawn) {
            sharpness.took(scale, time.as_secs_f32());
        }
    }

    /// Says that what is drawn next may take much longer than what was drawn last.
    pub(super) fn be_careful(&mut self) {
        if let Some(sharpness) = &mut self.sharpness {
            sharpness.be_careful();
        }
    }

    /// The current view as an image of the viewport's size.
    pub(super) fn image(&mut self, state: &State) -> Result<Option<image::RgbaImage>, RenderError> {
        let (Some((_, scene)), Some(drawn), Some(map)) = (&self.scene, &self.drawn, &state.map)
        else {
            return Ok(None);
        };
        crate::render::render_to_image(
            &self.gpu,
            &mut self.renderer,
            drawn.size,
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
        self.content.set_textures(&self.gpu, &mut textures);
        let outcome = self.acquire().map(|frame| {
            if let Some(frame) = frame {
                let scale = painted.pixels_per_point;
                self.content
                    .draw(&self.gpu, &frame.texture, &painted.jobs, scale);
                self.window.pre_present_notify();
                self.gpu.queue.present(frame);
            }
        });
        self.content.free_textures(&mut textures);
        outcome
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

    /// Width and height of the viewport, pixels.
    fn full_size(&self, state: &State, pixels_per_point: f32) -> (u32, u32) {
        let limit = self.max_texture_side() as u32;
        let pixels = |points: f32| ((points * pixels_per_point).round() as u32).clamp(1, limit);
        (pixels(state.viewport.x), pixels(state.viewport.y))
    }

    /// Makes a picture of `size` for a viewport of `full` pixels, unless there is one.
    fn fit_picture(&mut self, size: (u32, u32), full: (u32, u32)) {
        let old = self.picture.as_ref();
        if old.is_some_and(|picture| picture.size == size) {
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
        let filter = if size == full {
            wgpu::FilterMode::Nearest
        } else {
            wgpu::FilterMode::Linear
        };
        self.content.set_picture(&self.gpu, &view, filter);
        self.picture = Some(Picture { view, size });
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
    let capabilities = surface.get_capabilities(&gpu.adapter);
    let formats = capabilities.formats;
    let plain = [
        wgpu::TextureFormat::Bgra8Unorm,
        wgpu::TextureFormat::Rgba8Unorm,
    ];
    if let Some(format) = plain.into_iter().find(|format| formats.contains(format)) {
        config.format = format;
    }
    // A real GPU draws the whole window faster than we find out what changed.
    if is_software(gpu) && capabilities.usages.contains(wgpu::TextureUsages::COPY_DST) {
        config.usage |= wgpu::TextureUsages::COPY_DST;
    }
    config.present_mode = wgpu::PresentMode::AutoVsync;
    // A look must show its frame at once, not behind two others.
    config.desired_maximum_frame_latency = 1;
    Ok(config)
}

/// Whether pixels are drawn by processors.
fn is_software(gpu: &Gpu) -> bool {
    gpu.adapter.get_info().device_type == wgpu::DeviceType::Cpu
}
