use std::collections::HashMap;

use crate::format::material_script::{AlphaGen, BlendFactor, RgbGen, TcGen};
use crate::render::gpu::Gpu;
use crate::render::images::{Samplers, Sampling, mean_colour, upload_image};
use crate::render::layouts::{Layouts, bind_texture};
use crate::render::pipelines::{Program, SurfaceKey};
use crate::render::runs::DrawnSurface;
use crate::render::scene::{Draw, Pass, Slot};
use crate::render::shared;
use crate::render::stage::{Picture, fogged};
use crate::render::styles::is_styled;
use crate::scene::{
    FogPass, FogVolume, Image, ImageId, Material, Scene, Stage, StageImage, Surface,
};

/// Cloud height when a sky is one by its flag alone, game units: the default of `skyparms`.
const CLOUD_HEIGHT: f32 = 512.0;

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
pub(super) struct Uploader<'a> {
    gpu: &'a Gpu,
    layouts: &'a Layouts,
    samplers: Samplers,
    images: &'a [Image],
    views: HashMap<ImageId, wgpu::TextureView>,
    numbers: HashMap<(ImageId, Sampling), usize>,
    pub(super) groups: Vec<wgpu::BindGroup>,
    pub(super) slots: Vec<Slot>,
    stride: u32,
    /// Of the draw that is made.
    sprite_offset: u32,
}

impl<'a> Uploader<'a> {
    pub(super) fn new(gpu: &'a Gpu, layouts: &'a Layouts, images: &'a [Image]) -> Self {
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
            sprite_offset: 0,
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

    /// The draw that begins with `surface`.
    pub(super) fn draw(
        &mut self,
        scene: &Scene,
        surface: &Surface,
        drawn: DrawnSurface,
        sprite_offset: u32,
    ) -> Draw {
        self.sprite_offset = sprite_offset;
        let material = scene.material_of(surface);
        let fog = scene.fog_of(surface);
        let mut passes = self.passes(material, fog);
        let mut fog = fog.and_then(|fog| self.fog_pass(material, fog));
        if is_styled(scene, surface) {
            for pass in passes.iter_mut().chain(&mut fog) {
                pass.key.program = Program::Styled;
            }
        }
        Draw {
            surfaces: vec![drawn],
            plain: plain_pass(material, &passes),
            passes,
            fog,
        }
    }

    /// The passes of a material for surfaces in `fog`.
    fn passes(&mut self, material: &Material, fog: Option<&FogVolume>) -> Vec<Pass> {
        if material.is_sky() {
            return self.sky_passes(material);
        }
        let mut stages = material.stages.as_slice();
        let mut passes = Vec::with_capacity(stages.len());
        if let Some((stage, rest)) = folded(stages) {
            passes.push(self.pass(material, &stage, Picture::Both, Program::World));
            stages = rest;
        }
        // The engine weakens the stages of what is translucent from its first stage on.
        let is_translucent = stages.first().is_some_and(|stage| stage.blend.is_some());
        let fog = fog.filter(|_| is_translucent && passes.is_empty());
        for stage in stages {
            let picture = match stage.image {
                StageImage::Lightmap => Picture::Lightmap,
                StageImage::Image(_) | StageImage::Animated(..) => Picture::Image,
            };
            passes.push(self.pass(material, stage, picture, Program::World));
            if let (Some(fog), Some(slot)) = (fog, self.slots.last_mut()) {
                slot.fog = Some((*fog, fogged(stage)));
            }
        }
        passes
    }

    /// The pass that `fog` adds to a material, if any.
    fn fog_pass(&mut self, material: &Material, fog: &FogVolume) -> Option<Pass> {
        let depth_equal = match material.fog_pass() {
            FogPass::Equal => true,
            FogPass::Nearer => false,
            FogPass::None => return None,
        };
        let stage = Stage {
            blend: Some((BlendFactor::SrcAlpha, BlendFactor::OneMinusSrcAlpha)),
            depth_equal,
            ..plain_stage(ImageId::WHITE)
        };
        let pass = self.pass(material, &stage, Picture::Fog, Program::World);
        if let Some(slot) = self.slots.last_mut() {
            slot.fog = Some((*fog, 0));
        }
        Some(pass)
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
            cloud_height: height,
            face: 0,
            deforms: material.deforms.clone(),
            fog: None,
            sprite_offset: self.sprite_offset,
        });
        Pass {
            key: SurfaceKey {
                program,
                blend: stage.blend,
                depth_write: stage.depth_write || sky,
                depth_equal: stage.depth_equal && !sky,
                cull: material.cull,
                offset: material.polygon_offset && !sky,
            },
            rate,
            frames,
            offset,
            is_detail: stage.detail,
            has_lightmap: matches!(picture, Picture::Lightmap | Picture::Both),
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
