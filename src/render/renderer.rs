use std::ops::Range;
use std::sync::Once;

use crate::math::colour::Clamp;
use crate::render::error::RenderError;
use crate::render::frustum::Frustum;
use crate::render::gamma::GammaPass;
use crate::render::gpu::Gpu;
use crate::render::grids::{GpuGrids, GridSpheres};
use crate::render::layouts::{Layouts, bind_buffers, can_inspect};
use crate::render::overlay::OverlayGeometry;
use crate::render::passes::{
    Details, Selected, frame_number, is_inspecting, mode_number, selected_passes,
};
use crate::render::pipelines::{Pipelines, SurfaceKey};
use crate::render::scene::GpuScene;
use crate::render::scene::Visible;
use crate::render::shown_points::ShownPoints;
use crate::render::{DEPTH_FORMAT, shared};
use crate::view::{Camera, Overlays, ProbeShow, RenderMode, ViewOptions};

/// Each part of the skies, a side of a box or a layer of clouds, is drawn at a depth of its own, nearer than the one before and behind
/// everything else; so each pixel shows it once however many surfaces of the sky lie behind each other, as the engine does by
/// drawing all of them as one box.
const SKY_DEPTH_STEP: f32 = 1e-20;

/// What a frame was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Draw calls.
    pub draw_calls: u32,
    /// Triangles of surfaces, each pass counted.
    pub triangles: u32,
    /// Spheres in the picture, those behind walls included.
    pub spheres: u32,
}

/// Draws scenes, grids and marks. Holds what does not belong to a map.
pub struct Renderer {
    pipelines: Pipelines,
    frame: Bound,
    sample: Bound,
    marks: Growing,
    lines: Growing,
    depth: Option<Depth>,
    overlay: OverlayGeometry,
    shown_points: ShownPoints,
    gamma: GammaPass,
    scratch: Vec<u8>,
}

/// A uniform buffer with its bind group.
struct Bound {
    buffer: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Bound {
    fn new(gpu: &Gpu, label: &str, layout: &wgpu::BindGroupLayout, size: usize) -> Self {
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: size as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let group = bind_buffers(&gpu.device, label, layout, &[&buffer]);
        Self { buffer, group }
    }
}

/// A vertex buffer that is replaced when its contents outgrow it.
struct Growing {
    label: &'static str,
    buffer: Option<wgpu::Buffer>,
}

impl Growing {
    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let size = (bytes.len() as u64).next_power_of_two();
        if self.buffer.as_ref().is_none_or(|old| old.size() < size) {
            self.buffer = Some(gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(self.label),
                size,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        if let Some(buffer) = &self.buffer {
            gpu.queue.write_buffer(buffer, 0, bytes);
        }
    }
}

struct Depth {
    size: (u32, u32),
    view: wgpu::TextureView,
}

/// Grid spheres that a frame shows.
#[derive(Clone, Copy)]
struct Spheres<'a> {
    /// Whose points they stand at.
    grid: &'a GridSpheres,
    legacy: bool,
    sh: bool,
}

/// What a frame shows, apart from marks.
struct Shown<'a> {
    scene: &'a GpuScene,
    visible: &'a Visible,
    /// Group 1 of surfaces.
    light: &'a wgpu::BindGroup,
    spheres: Option<Spheres<'a>>,
    mode: RenderMode,
    details: Details,
    edges: bool,
    x_ray: bool,
    background: wgpu::Color,
    portals: Option<&'a (wgpu::Buffer, u32)>,
    time_secs: f32,
}

impl Renderer {
    /// Makes the pipelines that every map needs.
    ///
    /// # Errors
    /// When the device refuses one.
    pub fn new(gpu: &Gpu) -> Result<Self, RenderError> {
        gpu.checked(|| {
            let layouts = Layouts::new(&gpu.device);
            let (frame, sample) = (size_of::<shared::Frame>(), size_of::<shared::SampleLight>());
            Self {
                pipelines: Pipelines::new(&gpu.device, &layouts),
                frame: Bound::new(gpu, "frame", &layouts.frame, frame),
                sample: Bound::new(gpu, "sample light", &layouts.sample, sample),
                marks: Growing {
                    label: "marks",
                    buffer: None,
                },
                lines: Growing {
                    label: "lines",
                    buffer: None,
                },
                depth: None,
                overlay: OverlayGeometry::default(),
                shown_points: ShownPoints::new(),
                gamma: GammaPass::default(),
                scratch: Vec::new(),
            }
        })
    }

    /// How many pipelines for surfaces the maps and modes drawn so far needed.
    pub fn surface_pipelines(&self) -> usize {
        self.pipelines.surface_count()
    }

    /// Records the drawing of a frame into `target`, which must be of [`crate::render::TARGET_FORMAT`] and `size` pixels.
    ///
    /// The target is cleared to the background first. Buffers are written through the queue, so submit the encoder before the
    /// next call.
    ///
    /// # Errors
    /// When the size is zero or larger than the device takes.
    #[expect(
        clippy::too_many_arguments,
        reason = "everything that a picture depends on is an argument"
    )]
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: (u32, u32),
        scene: &GpuScene,
        grids: Option<&GpuGrids>,
        camera: &Camera,
        options: &ViewOptions,
        overlays: &Overlays,
        time_secs: f32,
    ) -> Result<FrameStats, RenderError> {
        check_size(gpu, size)?;
        self.ensure_depth(gpu, size);
        let options = &supported(gpu, options);
        for selected in selected_passes(scene, options.mode, Details::of(options)) {
            self.pipelines.ensure(&gpu.device, selected.key);
        }
        let spheres = grids.and_then(|grids| prepare_grids(gpu, grids, options));
        // What clips is told by the stored texels.
        let page_clamp = match options.mode {
            RenderMode::Clipping => Clamp::Off,
            _ => options.clamp,
        };
        let page_factor = scene.lightmaps.prepare(gpu, options.overbright, page_clamp);
        let inspected = is_inspecting(options.mode).then(|| {
            let (lightmaps, styles) = (&scene.lightmaps, &scene.styles);
            let probes = &options.probes;
            scene.inspected.group(gpu, lightmaps, styles, grids, probes)
        });
        scene.styles.prepare(&gpu.queue, &options.styles);
        let aspect = size.0 as f32 / size.1 as f32;
        let frame = frame_uniform(camera, aspect, options, page_factor, time_secs);
        gpu.queue
            .write_buffer(&self.frame.buffer, 0, bytemuck::bytes_of(&frame));
        self.overlay.build(overlays, camera);
        self.write_overlay(gpu);
        let mut visible = scene.visible_from(gpu, camera.eye, options);
        let clip_from_world = camera.clip_from_world(aspect);
        visible.runs.cull(&Frustum::new(&clip_from_world));
        let drawn = selected_passes(scene, options.mode, Details::of(options))
            .filter(|selected| !visible.runs.of_draw(selected.draw).is_empty());
        let offsets = drawn.map(|selected| selected.pass.offset);
        scene
            .stages
            .animate(&gpu.queue, offsets, time_secs, &mut self.scratch);
        if let Some(spheres) = &spheres {
            let probes = &options.probes;
            // Who looks through walls, or for points inside them, is not to miss those beyond.
            let sights = if probes.x_ray || !probes.hide_in_solid {
                None
            } else {
                visible.seen.blocks_of(&spheres.grid.lattice)
            };
            let picture = (camera, size);
            self.shown_points
                .update(gpu, spheres.grid, picture, probes, sights);
        }
        let edges = options.wire_overlay || options.mode == RenderMode::Wireframe;
        if edges {
            let Visible { runs, seen, .. } = &mut *visible;
            runs.gather_edges(&gpu.queue, &scene.draws, seen);
        }
        let shown = Shown {
            scene,
            visible: &visible,
            light: inspected.as_ref().unwrap_or(&scene.light),
            spheres,
            mode: options.mode,
            details: Details::of(options),
            edges,
            x_ray: options.probes.x_ray,
            background: colour(options.background),
            portals: scene
                .portals
                .as_ref()
                .filter(|_| options.visibility.shows_portals),
            time_secs,
        };
        let before_gamma = self.gamma.begin(gpu, size, options.gamma);
        let stats = self.record(encoder, before_gamma.as_ref().unwrap_or(target), &shown);
        if before_gamma.is_some() {
            self.gamma.end(encoder, target);
        }
        Ok(stats)
    }

    fn ensure_depth(&mut self, gpu: &Gpu, size: (u32, u32)) {
        if self.depth.as_ref().is_some_and(|depth| depth.size == size) {
            return;
        }
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("depth"),
            size: wgpu::Extent3d {
                width: size.0,
                height: size.1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        self.depth = Some(Depth {
            size,
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
        });
    }

    fn write_overlay(&mut self, gpu: &Gpu) {
        self.marks
            .write(gpu, bytemuck::cast_slice(&self.overlay.marks));
        self.lines
            .write(gpu, bytemuck::cast_slice(&self.overlay.lines));
        if let Some(light) = &self.overlay.light {
            gpu.queue
                .write_buffer(&self.sample.buffer, 0, bytemuck::bytes_of(light));
        }
    }

    fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        shown: &Shown<'_>,
    ) -> FrameStats {
        let mut stats = FrameStats::default();
        let Some(depth) = &self.depth else {
            return stats;
        };
        let x_ray = shown.x_ray && shown.spheres.is_some();
        {
            let mut pass = begin(
                encoder,
                "world",
                target,
                &depth.view,
                Some(shown.background),
            );
            pass.set_bind_group(0, &self.frame.group, &[]);
            self.draw_surfaces(&mut pass, shown, &mut stats);
            if shown.edges {
                self.draw_edges(&mut pass, shown, &mut stats);
            }
            if !x_ray {
                self.draw_spheres(&mut pass, shown.spheres, &mut stats);
            }
        }
        if x_ray {
            let mut pass = begin(encoder, "spheres", target, &depth.view, None);
            pass.set_bind_group(0, &self.frame.group, &[]);
            self.draw_spheres(&mut pass, shown.spheres, &mut stats);
        }
        let has_marks = !self.overlay.marks.is_empty() || !self.overlay.lines.is_empty();
        if has_marks || shown.portals.is_some() {
            let mut pass = begin(encoder, "overlay", target, &depth.view, None);
            pass.set_bind_group(0, &self.frame.group, &[]);
            self.draw_overlay(&mut pass, shown, &mut stats);
        }
        stats
    }

    fn draw_surfaces(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        shown: &Shown<'_>,
        stats: &mut FrameStats,
    ) {
        let scene = shown.scene;
        pass.set_vertex_buffer(0, scene.vertices.slice(..));
        pass.set_index_buffer(shown.visible.runs.indices(), wgpu::IndexFormat::Uint32);
        let mut bound: Option<SurfaceKey> = None;
        let mut sky_depth = 0.0;
        let mut is_at_sky = false;
        for Selected {
            draw,
            pass: material_pass,
            key,
        } in selected_passes(scene, shown.mode, shown.details)
        {
            let runs = shown.visible.runs.of_draw(draw);
            let Some(pipeline) = self.pipelines.surface(key) else {
                continue;
            };
            if runs.is_empty() {
                continue;
            }
            if bound != Some(key) {
                pass.set_pipeline(pipeline);
                let is_other =
                    bound.is_none_or(|bound| bound.is_inspecting() != key.is_inspecting());
                if is_other {
                    let light = if key.is_inspecting() {
                        shown.light
                    } else {
                        &scene.light
                    };
                    pass.set_bind_group(1, light, &[]);
                }
                bound = Some(key);
            }
            if key.is_sky() {
                sky_depth += SKY_DEPTH_STEP;
                self.set_depth_range(pass, sky_depth..sky_depth);
            } else if is_at_sky {
                self.set_depth_range(pass, 0.0..1.0);
            }
            is_at_sky = key.is_sky();
            let image = &scene.images[frame_number(material_pass, shown.time_secs)];
            pass.set_bind_group(2, image, &[]);
            pass.set_bind_group(3, &scene.stages.group, &[material_pass.offset]);
            for run in runs {
                pass.draw_indexed(run.clone(), 0, 0..1);
                stats.draw_calls += 1;
                stats.triangles += run.len() as u32 / 3;
            }
        }
        if is_at_sky {
            self.set_depth_range(pass, 0.0..1.0);
        }
    }

    fn set_depth_range(&self, pass: &mut wgpu::RenderPass<'_>, range: Range<f32>) {
        if let Some(depth) = &self.depth {
            let (width, height) = (depth.size.0 as f32, depth.size.1 as f32);
            pass.set_viewport(0.0, 0.0, width, height, range.start, range.end);
        }
    }

    fn draw_edges(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        shown: &Shown<'_>,
        stats: &mut FrameStats,
    ) {
        pass.set_pipeline(&self.pipelines.wire);
        pass.set_vertex_buffer(0, shown.scene.vertices.slice(..));
        let (edges, count) = shown.visible.runs.edges();
        pass.set_bind_group(3, &shown.scene.stages.group, &[0]);
        pass.set_index_buffer(edges, wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..count, 0, 0..1);
        stats.draw_calls += 1;
    }

    fn draw_spheres(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        spheres: Option<Spheres<'_>>,
        stats: &mut FrameStats,
    ) {
        let Some(spheres) = spheres.filter(|_| self.shown_points.bind(pass)) else {
            return;
        };
        for (is_shown, pipeline) in [
            (spheres.legacy, &self.pipelines.spheres_legacy),
            (spheres.sh, &self.pipelines.spheres_sh),
        ] {
            let parts = spheres.grid.parts.iter().zip(self.shown_points.runs());
            for (part, run) in parts.filter(|(_, run)| is_shown && !run.is_empty()) {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(1, &part.group, &[]);
                pass.draw_indexed(ShownPoints::indices(run), 0, 0..1);
                stats.draw_calls += 1;
                stats.spheres += run.len() as u32;
            }
        }
    }

    fn draw_overlay(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        shown: &Shown<'_>,
        stats: &mut FrameStats,
    ) {
        if let Some((buffer, ends)) = shown.portals {
            pass.set_pipeline(&self.pipelines.lines);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..*ends, 0..1);
            stats.draw_calls += 1;
        }
        if let (Some(buffer), false) = (&self.lines.buffer, self.overlay.lines.is_empty()) {
            pass.set_pipeline(&self.pipelines.lines);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..self.overlay.lines.len() as u32, 0..1);
            stats.draw_calls += 1;
        }
        if let (Some(buffer), false) = (&self.marks.buffer, self.overlay.marks.is_empty()) {
            pass.set_pipeline(&self.pipelines.marks);
            pass.set_bind_group(1, &self.sample.group, &[]);
            pass.set_vertex_buffer(0, buffer.slice(..));
            pass.draw(0..4, 0..self.overlay.marks.len() as u32);
            stats.draw_calls += 1;
        }
    }
}

fn check_size(gpu: &Gpu, (width, height): (u32, u32)) -> Result<(), RenderError> {
    let limit = gpu.device.limits().max_texture_dimension_2d;
    if (1..=limit).contains(&width) && (1..=limit).contains(&height) {
        Ok(())
    } else {
        Err(RenderError::Size {
            width,
            height,
            limit,
        })
    }
}

fn colour(bytes: [u8; 3]) -> wgpu::Color {
    let [r, g, b] = bytes.map(|byte| f64::from(byte) / 255.0);
    wgpu::Color { r, g, b, a: 1.0 }
}

/// The options, lit where the device lacks the buffers for their mode.
fn supported(gpu: &Gpu, options: &ViewOptions) -> ViewOptions {
    static TOLD: Once = Once::new();
    if !is_inspecting(options.mode) || can_inspect(&gpu.device) {
        return *options;
    }
    TOLD.call_once(|| {
        let mode = options.mode.label();
        log::warn!("{mode}: this graphics device has too few buffers; drawn lit");
    });
    ViewOptions {
        mode: RenderMode::Lit,
        ..*options
    }
}

/// With a background the pass clears the picture to it, else it draws over what is there; depth is cleared by all.
fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    target: &wgpu::TextureView,
    depth: &wgpu::TextureView,
    background: Option<wgpu::Color>,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: background.map_or(wgpu::LoadOp::Load, wgpu::LoadOp::Clear),
                store: wgpu::StoreOp::Store,
            },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: depth,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(0.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }),
        timestamp_writes: None,
        occlusion_query_set: None,
        multiview_mask: None,
    })
}

fn prepare_grids<'a>(gpu: &Gpu, grids: &'a GpuGrids, options: &ViewOptions) -> Option<Spheres<'a>> {
    let (profile, overbright) = (options.probes.legacy_profile, options.overbright);
    let (grid, legacy, sh) = match options.probes.show {
        ProbeShow::Off => return None,
        ProbeShow::Legacy => {
            grids.light_legacy(gpu, profile, overbright);
            (&grids.legacy, true, false)
        }
        ProbeShow::Sh => (&grids.sh, false, true),
        ProbeShow::Both => {
            let has_legacy = grids.light_sh_points(gpu, profile, overbright);
            (&grids.sh, has_legacy, true)
        }
    };
    let grid = grid.as_ref()?;
    Some(Spheres { grid, legacy, sh })
}

fn frame_uniform(
    camera: &Camera,
    aspect: f32,
    options: &ViewOptions,
    page_factor: f32,
    time_secs: f32,
) -> shared::Frame {
    let probes = &options.probes;
    let exposure = options.exposure_ev.exp2();
    shared::Frame {
        clip_from_world: camera.clip_from_world(aspect).to_cols_array_2d(),
        eye: camera.eye.to_array(),
        time_secs,
        right: camera.right().to_array(),
        overbright: options.overbright.factor(),
        up: camera.up().to_array(),
        page_factor: page_factor * exposure,
        exposure,
        mode: mode_number(options.mode),
        keep_hue: u32::from(options.clamp == Clamp::KeepHue),
        pad_a: 0,
        bands: probes.sh_profile.band_weights(),
        probe_size: probes.size,
        // Infinity minus itself is no number; nothing is that far.
        probe_distance: probes.distance.clamp(1.0, 1e9),
        probe_apart: f32::from(u8::from(probes.show == ProbeShow::Both)),
        pad_b: 0.0,
        pad_c: 0.0,
    }
}
