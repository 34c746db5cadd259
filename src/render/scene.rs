use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use glam::Vec4;
use wgpu::util::DeviceExt as _;

use crate::format::bsp::Bsp;
use crate::format::material_script::{AlphaGen, BlendFactor, Deform, RgbGen, TcGen};
use crate::render::error::RenderError;
use crate::render::geometry::Geometry;
use crate::render::gpu::Gpu;
use crate::render::images::{Samplers, Sampling, mean_colour, upload_image};
use crate::render::inspect::Inspected;
use crate::render::layouts::{Layouts, bind_texture};
use crate::render::lightmaps::Lightmaps;
use crate::render::models::Models;
use crate::render::order::{ordered_surfaces, reach};
use crate::render::overlay::LineVertex;
use crate::render::pipelines::{Program, SurfaceKey};
use crate::render::runs::{DrawnSurface, Runs};
use crate::render::shared;
use crate::render::stage::{self, Picture};
use crate::render::styles::{StyledSurfaces, Styles, is_styled};
use crate::render::visibility::Seen;
use crate::scene::{
    Image, ImageId, LightingClass, Material, Scene, Stage, StageImage, portal_edges,
};
use crate::view::ViewOptions;

/// Cloud height when a sky is one by its flag alone, game units: the default of `skyparms`.
const CLOUD_HEIGHT: f32 = 512.0;

/// Lines around area portals.
const PORTAL_COLOUR: Vec4 = Vec4::new(0.2, 1.0, 0.9, 1.0);

/// A map on the GPU: geometry, images, lightmap pages and what to draw in which order.
pub struct GpuScene {
    pub(super) vertices: wgpu::Buffer,
    pub(super) lightmaps: Lightmaps,
    pub(super) styles: Styles,
    /// Group 1 of surfaces.
    pub(super) light: wgpu::BindGroup,
    /// For the modes that look at properties.
    pub(super) inspected: Inspected,
    pub(super) images: Vec<wgpu::BindGroup>,
    pub(super) stages: Stages,
    /// Ends of the lines around area portals.
    pub(super) portals: Option<(wgpu::Buffer, u32)>,
    /// In the order of drawing.
    pub(super) draws: Vec<Draw>,
    visible: Mutex<Visible>,
}

/// What is seen and drawn of a scene.
pub(super) struct Visible {
    pub(super) models: Models,
    pub(super) seen: Seen,
    pub(super) runs: Runs,
}

/// The surfaces of one material.
pub(super) struct Draw {
    /// In the order of the index list.
    pub(super) surfaces: Vec<DrawnSurface>,
    pub(super) passes: Vec<Pass>,
    /// The pass of the modes that show no material; `None` for skies, which look the same in all.
    pub(super) plain: Option<Pass>,
}

/// One drawing of a [`Draw`]'s triangles.
#[derive(Clone)]
pub(super) struct Pass {
    pub(super) key: SurfaceKey,
    /// Frames a second.
    pub(super) rate: f32,
    /// Indices into [`GpuScene::images`], one a frame; never empty.
    pub(super) frames: Vec<usize>,
    /// Dynamic offset of its uniform.
    pub(super) offset: u32,
    /// Whether it shows the lightmap: the last one drawn by the lightmap mode.
    pub(super) has_lightmap: bool,
}

/// The uniforms of all stages.
pub(super) struct Stages {
    slots: Vec<Slot>,
    stride: usize,
    buffer: wgpu::Buffer,
    pub(super) group: wgpu::BindGroup,
}

struct Slot {
    stage: Stage,
    picture: Picture,
    lighting: LightingClass,
    cloud_height: f32,
    face: u32,
    deforms: Vec<Deform>,
}

impl Slot {
    fn is_animated(&self) -> bool {
        !self.deforms.is_empty() || stage::is_animated(&self.stage)
    }

    fn uniform(&self, time_secs: f32) -> shared::Stage {
        shared::Stage {
            cloud_height: self.cloud_height,
            face: self.face,
            deforms: stage::deforms(&self.deforms, time_secs),
            ..stage::uniform(&self.stage, self.picture, self.lighting, time_secs)
        }
    }
}

impl Stages {
    fn new(gpu: &Gpu, layouts: &Layouts, slots: Vec<Slot>, models: &wgpu::Buffer) -> Self {
        let size = size_of::<shared::Stage>();
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment as usize;
        let stride = size.next_multiple_of(alignment.max(1));
        let mut bytes = Vec::new();
        fill(&slots, stride, 0.0, &mut bytes);
        bytes.resize(bytes.len().max(stride), 0);
        let buffer = gpu
            .device
            .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some("stages"),
                contents: &bytes,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            });
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("stages"),
            layout: &layouts.stage,
            entries: &[
                wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                        buffer: &buffer,
                        offset: 0,
                        size: wgpu::BufferSize::new(size as u64),
                    }),
                },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: models.as_entire_binding(),
                },
            ],
        });
        Self {
            slots,
            stride,
            buffer,
            group,
        }
    }

    /// Brings the uniforms of animated stages to `time_secs`; `scratch` is reused memory.
    pub(super) fn animate(&self, queue: &wgpu::Queue, time_secs: f32, scratch: &mut Vec<u8>) {
        if self.slots.iter().any(Slot::is_animated) {
            scratch.clear();
            fill(&self.slots, self.stride, time_secs, scratch);
            queue.write_buffer(&self.buffer, 0, scratch);
        }
    }
}

fn fill(slots: &[Slot], stride: usize, time_secs: f32, bytes: &mut Vec<u8>) {
    for (number, slot) in slots.iter().enumerate() {
        bytes.extend_from_slice(bytemuck::bytes_of(&slot.uniform(time_secs)));
        bytes.resize((number + 1) * stride, 0);
    }
}

impl GpuScene {
    /// Uploads all that is drawn of `scene`.
    ///
    /// # Errors
    /// When the device refuses, above all for want of memory.
    pub fn upload(gpu: &Gpu, scene: &Scene) -> Result<Self, RenderError> {
        gpu.checked(|| Self::build(gpu, scene))
    }

    /// Numbers of the surfaces that are drawn from `eye` with `options`, wherever one looks, ascending; those that draw
    /// nothing are among them.
    pub fn seen_from(
        &self,
        gpu: &Gpu,
        eye: glam::Vec3,
        options: &ViewOptions,
    ) -> Vec<crate::scene::SurfaceId> {
        self.visible_from(gpu, eye, options).seen.list()
    }

    /// What can be seen from `eye`, gathered and uploaded.
    pub(super) fn visible_from(
        &self,
        gpu: &Gpu,
        eye: glam::Vec3,
        options: &ViewOptions,
    ) -> MutexGuard<'_, Visible> {
        let mut guard = self.visible.lock().unwrap_or_else(PoisonError::into_inner);
        let Visible { models, seen, runs } = &mut *guard;
        let has_moved = models.update(&gpu.queue, &options.doors);
        if seen.update(models, eye, options) || has_moved {
            runs.gather(&gpu.queue, &self.draws, seen, models);
        }
        guard
    }

    fn build(gpu: &Gpu, scene: &Scene) -> Self {
        let layouts = Layouts::new(&gpu.device);
        let lightmaps = Lightmaps::new(gpu, &scene.lightmaps);
        let mut styled = StyledSurfaces::default();
        let mut uploader = Uploader::new(gpu, &layouts, &scene.images);
        let mut geometry = Geometry::new(scene);
        let mut draws: Vec<Draw> = Vec::new();
        let mut last = None;
        for surface in ordered_surfaces(scene) {
            let material = scene.material_of(surface);
            let is_styled = is_styled(scene, surface);
            let (indices, edges) = match &surface.styled {
                Some(light) if is_styled => {
                    styled.push(light, |page| lightmaps.layer(page));
                    geometry.push(scene, surface, |vertex| {
                        styled.push_vertex(scene, light, vertex)
                    })
                }
                _ => {
                    let layer = lightmaps.layer(surface.lightmap);
                    geometry.push(scene, surface, |_| layer)
                }
            };
            let drawn = DrawnSurface {
                id: surface.id.0,
                model: surface.model,
                bounds: surface.bounds.grown(reach(material, surface)),
                indices,
                edges,
            };
            let run = Some((surface.material, is_styled));
            if let (true, Some(draw)) = (last == run, draws.last_mut()) {
                draw.surfaces.push(drawn);
                continue;
            }
            last = run;
            let mut passes = uploader.passes(material);
            if is_styled {
                for pass in &mut passes {
                    pass.key.program = Program::Styled;
                }
            }
            let plain = plain_pass(material, &passes);
            draws.push(Draw {
                surfaces: vec![drawn],
                passes,
                plain,
            });
        }
        let styles = Styles::new(gpu, &styled);
        let models = Models::new(gpu, scene);
        Self {
            vertices: vertex_buffer(gpu, "vertices", bytemuck::cast_slice(&geometry.vertices)),
            light: lightmaps.bind(gpu, &layouts.pages, &styles, &[]),
            inspected: Inspected::new(gpu, scene, &lightmaps),
            lightmaps,
            styles,
            stages: Stages::new(gpu, &layouts, uploader.slots, &models.buffer),
            visible: Mutex::new(Visible {
                models,
                seen: Seen::new(Arc::clone(&scene.bsp), scene.area_count()),
                runs: Runs::new(&gpu.device, geometry.indices, geometry.edges),
            }),
            images: uploader.groups,
            portals: portals(gpu, &scene.bsp),
            draws,
        }
    }
}

/// At least one vertex large.
fn vertex_buffer(gpu: &Gpu, label: &str, contents: &[u8]) -> wgpu::Buffer {
    let padding = [0_u8; 64];
    let contents = if contents.is_empty() {
        &padding
    } else {
        contents
    };
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents,
            usage: wgpu::BufferUsages::VERTEX,
        })
}

fn portals(gpu: &Gpu, bsp: &Bsp) -> Option<(wgpu::Buffer, u32)> {
    let ends = portal_edges(bsp).into_iter().flatten();
    let lines: Vec<LineVertex> = ends
        .map(|end| LineVertex::new(end, PORTAL_COLOUR))
        .collect();
    let buffer = vertex_buffer(gpu, "area portals", bytemuck::cast_slice(&lines));
    (!lines.is_empty()).then_some((buffer, lines.len() as u32))
}

/// The first pass with an alpha test, else the first, drawn opaque.
fn plain_pass(material: &Material, passes: &[Pass]) -> Option<Pass> {
    if material.is_sky() {
        return None;
    }
    let tested = material
        .stages
        .iter()
        .position(|stage| stage.alpha_func.is_some());
    let pass = tested
        .filter(|_| passes.len() == material.stages.len())
        .and_then(|number| passes.get(number))
        .or(passes.first())?;
    let mut pass = pass.clone();
    pass.key.blend = None;
    pass.key.depth_write = true;
    pass.key.depth_equal = false;
    Some(pass)
}

/// Turns materials into passes and uploads the images that they need, each once.
struct Uploader<'a> {
    gpu: &'a Gpu,
    layouts: &'a Layouts,
    samplers: Samplers,
    images: &'a [Image],
    views: HashMap<ImageId, wgpu::TextureView>,
    numbers: HashMap<(ImageId, Sampling), usize>,
    groups: Vec<wgpu::BindGroup>,
    slots: Vec<Slot>,
    stride: u32,
}

impl<'a> Uploader<'a> {
    fn new(gpu: &'a Gpu, layouts: &'a Layouts, images: &'a [Image]) -> Self {
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        Self {
            gpu,
            layouts,
            samplers: Samplers::new(gpu),
            images,
            views: HashMap::new(),
            numbers: HashMap::new(),
            groups: Vec::new(),
            slots: Vec::new(),
            stride: (size_of::<shared::Stage>() as u32).next_multiple_of(alignment.max(1)),
        }
    }

    fn image(&mut self, id: ImageId, sampling: Sampling) -> usize {
        if let Some(number) = self.numbers.get(&(id, sampling)) {
            return *number;
        }
        let missing = Image::missing();
        let image = self.images.get(id.0 as usize).unwrap_or(&missing);
        let view = self
            .views
            .entry(id)
            .or_insert_with(|| upload_image(self.gpu, image));
        let group = bind_texture(
            &self.gpu.device,
            &image.name,
            &self.layouts.image,
            view,
            self.samplers.get(sampling),
        );
        self.groups.push(group);
        let number = self.groups.len() - 1;
        self.numbers.insert((id, sampling), number);
        number
    }

    fn slot(&mut self, slot: Slot) -> u32 {
        self.slots.push(slot);
        (self.slots.len() as u32 - 1) * self.stride
    }

    fn passes(&mut self, material: &Material) -> Vec<Pass> {
        if material.is_sky() {
            return self.sky_passes(material);
        }
        let mut stages = material.stages.as_slice();
        let mut passes = Vec::with_capacity(stages.len());
        if let Some((stage, rest)) = folded(stages) {
            passes.push(self.pass(material, &stage, Picture::Both, Program::World));
            stages = rest;
        }
        for stage in stages {
            let picture = match stage.image {
                StageImage::Lightmap => Picture::Lightmap,
                StageImage::Image(_) | StageImage::Animated(..) => Picture::Image,
            };
            passes.push(self.pass(material, stage, picture, Program::World));
        }
        passes
    }

    fn pass(
        &mut self,
        material: &Material,
        stage: &Stage,
        picture: Picture,
        program: Program,
    ) -> Pass {
        let sampling = Sampling {
            clamp: stage.clamp,
            no_mipmaps: material.no_mipmaps,
        };
        let (rate, ids) = match &stage.image {
            StageImage::Lightmap => (0.0, vec![ImageId::WHITE]),
            StageImage::Image(id) => (0.0, vec![*id]),
            StageImage::Animated(rate, ids) => (*rate, ids.clone()),
        };
        let frames = ids.into_iter().map(|id| self.image(id, sampling)).collect();
        let sky = program != Program::World;
        let height = material
            .sky
            .as_ref()
            .map_or(CLOUD_HEIGHT, |sky| sky.cloud_height);
        let offset = self.slot(Slot {
            stage: stage.clone(),
            picture,
            lighting: material.lighting,
            cloud_height: height,
            face: 0,
            deforms: material.deforms.clone(),
        });
        Pass {
            key: SurfaceKey {
                program,
                blend: stage.blend,
                depth_write: stage.depth_write && !sky,
                depth_equal: stage.depth_equal && !sky,
                cull: material.cull,
                offset: material.polygon_offset && !sky,
            },
            rate,
            frames,
            offset,
            has_lightmap: picture != Picture::Image,
        }
    }

    /// The box, then the clouds; without either one colour.
    fn sky_passes(&mut self, material: &Material) -> Vec<Pass> {
        let mut passes = Vec::new();
        for (face, id) in (0..).zip(material.sky_box.iter().flatten()) {
            let mut stage = plain_stage(*id);
            stage.clamp = true;
            let pass = self.pass(material, &stage, Picture::Image, Program::SkyBox);
            if let Some(slot) = self.slots.last_mut() {
                slot.face = face;
            }
            passes.push(pass);
        }
        for stage in &material.stages {
            passes.push(self.pass(material, stage, Picture::Image, Program::Cloud));
        }
        if passes.is_empty() {
            let mut stage = plain_stage(ImageId::WHITE);
            let mean = self.images.get(material.base_image.0 as usize);
            stage.rgb_gen = RgbGen::Const(mean.map_or(glam::Vec3::ZERO, |image| {
                glam::Vec3::from(mean_colour(image))
            }));
            passes.push(self.pass(material, &stage, Picture::Image, Program::SkyFlat));
        }
        passes
    }
}

/// A stage that shows an image as it is.
fn plain_stage(id: ImageId) -> Stage {
    Stage {
        image: StageImage::Image(id),
        clamp: false,
        blend: None,
        alpha_func: None,
        depth_write: false,
        depth_equal: false,
        detail: false,
        rgb_gen: RgbGen::Identity,
        alpha_gen: AlphaGen::Identity,
        tc_gen: TcGen::Base,
        tc_mods: Vec::new(),
    }
}

/// The product of the first two stages as one, and the stages after it: lightmap × image or image × lightmap, as the
/// engine merges them. One rounding less, and light above white is kept until it meets the image.
fn folded(stages: &[Stage]) -> Option<(Stage, &[Stage])> {
    let [first, second, rest @ ..] = stages else {
        return None;
    };
    let filter = matches!(
        second.blend,
        Some(
            (BlendFactor::DstColor, BlendFactor::Zero) | (BlendFactor::Zero, BlendFactor::SrcColor)
        )
    );
    let simple = first.blend.is_none()
        && first.alpha_func.is_none()
        && second.alpha_func.is_none()
        && !first.depth_equal
        && !second.depth_equal;
    if !filter || !simple {
        return None;
    }
    let is_light = |stage: &Stage| {
        stage.image == StageImage::Lightmap
            && stage.tc_gen == TcGen::Lightmap
            && stage.tc_mods.is_empty()
            && matches!(stage.rgb_gen, RgbGen::Identity | RgbGen::IdentityLighting)
    };
    let image = match (is_light(first), is_light(second)) {
        (true, false) => second,
        (false, true) => first,
        _ => return None,
    };
    if image.image == StageImage::Lightmap {
        return None;
    }
    let stage = Stage {
        blend: None,
        depth_write: first.depth_write,
        ..image.clone()
    };
    Some((stage, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightmap() -> Stage {
        Stage {
            image: StageImage::Lightmap,
            tc_gen: TcGen::Lightmap,
            depth_write: true,
            ..plain_stage(ImageId::WHITE)
        }
    }

    fn filtered(stage: Stage) -> Stage {
        Stage {
            blend: Some((BlendFactor::DstColor, BlendFactor::Zero)),
            depth_write: false,
            ..stage
        }
    }

    #[test]
    fn image_times_lightmap_is_one_pass_in_either_order() {
        let image = plain_stage(ImageId(5));
        for stages in [
            [lightmap(), filtered(image.clone())],
            [
                Stage {
                    depth_write: true,
                    ..image.clone()
                },
                filtered(lightmap()),
            ],
        ] {
            let (stage, rest) = folded(&stages).unwrap();
            assert_eq!(stage.image, StageImage::Image(ImageId(5)));
            assert!(stage.depth_write && stage.blend.is_none() && rest.is_empty());
        }
    }

    #[test]
    fn an_alpha_test_keeps_the_passes_apart() {
        let mut image = plain_stage(ImageId(5));
        image.alpha_func = Some(crate::format::material_script::AlphaFunc::GreaterEqual128);
        assert!(folded(&[image, filtered(lightmap())]).is_none());
        assert!(folded(&[lightmap()]).is_none());
        assert!(folded(&[lightmap(), filtered(lightmap())]).is_none());
    }
}
