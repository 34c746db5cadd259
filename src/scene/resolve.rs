//! Names to materials and images: scripts in the engine's order, image extensions, stand-ins.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use crate::format::bsp::Shader;
use crate::format::material_script::{
    AlphaGen, BlendFactor, Cull, MaterialDef, RgbGen, StageDef, StageMap, TcGen, definition_text,
    normalise_name, parse,
};
use crate::job::{Cancelled, JobContext, Warnings};
use crate::scene::build::ScriptFiles;
use crate::scene::image::Image;
use crate::scene::material::{ImageId, Material, MaterialId, MaterialSource, Stage, StageImage};
use crate::scene::sources;
use crate::scene::types::LightingClass;
use crate::vfs::{Origin, Vfs};

/// Extensions in the order in which they are tried.
const EXTENSIONS: [&str; 4] = ["tga", "jpg", "jpeg", "png"];
/// Suffixes of a sky box's images: +X, −X, +Y, −Y, +Z, −Z.
const SKY_SUFFIXES: [&str; 6] = ["rt", "lf", "bk", "ft", "up", "dn"];

/// All material definitions of a search path, by name.
pub(super) struct Scripts(BTreeMap<String, Definition>);

/// A material's definition and where it stands.
pub(super) struct Definition {
    file: String,
    origin: Origin,
    /// The whole script.
    bytes: Arc<[u8]>,
    material: MaterialDef,
}

impl Scripts {
    /// Reads every `scripts/*.shader`. Of two definitions of one name the file later in the listing wins (the container
    /// searched later), and inside a file the first: the engine joins the files in reverse.
    pub(super) fn load(
        vfs: &Vfs,
        which: ScriptFiles,
        context: &JobContext,
    ) -> Result<Self, Cancelled> {
        // Read backwards below.
        let files = match which {
            ScriptFiles::All => vfs.list("scripts/", ".shader"),
            ScriptFiles::Listed => listed(vfs).unwrap_or_else(|| vfs.list("scripts/", ".shader")),
        };
        context
            .progress
            .begin("material scripts", files.len() as u64);
        let parsed: Vec<_> = files
            .par_iter()
            .map(|file| {
                context.progress.add(1);
                context.cancel.check()?;
                let found = sources::read(vfs, file, &context.warnings);
                Ok(found.map(|found| {
                    let bytes: Arc<[u8]> = found.bytes.into();
                    (parse(&bytes), found.origin, bytes)
                }))
            })
            .collect::<Result<_, Cancelled>>()?;
        let mut definitions = BTreeMap::new();
        for (file, script) in files.iter().zip(parsed).rev() {
            match script {
                Ok((script, origin, bytes)) => {
                    for (line, text) in script.warnings {
                        context
                            .warnings
                            .push("W121", format!("{file}:{line}: {text}"));
                    }
                    for material in script.materials {
                        definitions
                            .entry(material.name.clone())
                            .or_insert_with(|| Definition {
                                file: file.clone(),
                                origin: origin.clone(),
                                bytes: Arc::clone(&bytes),
                                material,
                            });
                    }
                }
                Err(error) => context.warnings.push("W121", format!("{file}: {error}")),
            }
        }
        Ok(Self(definitions))
    }

    /// What `fogparms` of the definition under `name` say.
    pub(super) fn fog(&self, name: &str) -> Option<(glam::Vec3, f32)> {
        self.get(name)?.material.fog
    }

    /// The definition under `name`, without case and extension.
    pub(super) fn get(&self, name: &str) -> Option<&Definition> {
        self.0.get(&normalise_name(name))
    }
}

/// Files that `scripts/shaderlist.txt` names, the last first; `None` without a list.
fn listed(vfs: &Vfs) -> Option<Vec<String>> {
    let list = vfs.read("scripts/shaderlist.txt").ok()?;
    let text = String::from_utf8_lossy(&list.bytes).into_owned();
    let mut files: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for word in line.split_whitespace() {
            let word = word.to_ascii_lowercase();
            let name = word.strip_suffix(".shader").unwrap_or(&word);
            let file = format!("scripts/{name}.shader");
            if !files.contains(&file) && vfs.contains(&file) {
                files.push(file);
            }
        }
    }
    files.reverse();
    Some(files)
}

/// Whether a surface with the material has anything to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    Drawn,
    NoGeometry,
}

/// Makes materials and remembers the images that they need.
pub(super) struct Resolver<'a> {
    vfs: &'a Vfs,
    scripts: &'a Scripts,
    warnings: &'a Warnings,
    by_key: BTreeMap<(String, u32, u32, LightingClass, Use), MaterialId>,
    materials: Vec<Material>,
    /// Virtual path of image n + 2; 0 is the stand-in, 1 is white.
    paths: Vec<(String, String)>,
    by_path: BTreeMap<String, ImageId>,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(vfs: &'a Vfs, scripts: &'a Scripts, warnings: &'a Warnings) -> Self {
        Self {
            vfs,
            scripts,
            warnings,
            by_key: BTreeMap::new(),
            materials: Vec::new(),
            paths: Vec::new(),
            by_path: BTreeMap::new(),
        }
    }

    /// The material of a lump-1 record for one way of lighting. Without a script, what has no geometry needs no image.
    pub(super) fn material(
        &mut self,
        shader: &Shader,
        lighting: LightingClass,
        use_of: Use,
    ) -> MaterialId {
        let flags = (shader.surface_flags, shader.content_flags);
        let scripted = self.scripts.get(&shader.name);
        let use_of = if scripted.is_some() {
            Use::Drawn
        } else {
            use_of
        };
        let key = (
            normalise_name(&shader.name),
            flags.0,
            flags.1,
            lighting,
            use_of,
        );
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        let material = match (scripted, use_of) {
            (Some(definition), _) => self.scripted(shader, lighting, definition),
            (None, Use::Drawn) => self.implicit(shader, lighting),
            (None, Use::NoGeometry) => blank(shader, lighting, MaterialSource::Image),
        };
        let id = MaterialId(self.materials.len() as u32);
        self.materials.push(material);
        self.by_key.insert(key, id);
        id
    }

    /// A material that was handed out.
    pub(super) fn get(&self, id: MaterialId) -> Option<&Material> {
        self.materials.get(id.0 as usize)
    }

    /// The image that `name` finds, by the given extension first, then the known ones.
    fn find_image(&mut self, name: &str) -> Option<ImageId> {
        let stem = normalise_name(name);
        let given = name.replace('\\', "/").to_ascii_lowercase();
        let with_extension = (given != stem).then_some(given);
        let others = EXTENSIONS
            .iter()
            .map(|extension| format!("{stem}.{extension}"));
        let path = with_extension
            .into_iter()
            .chain(others)
            .find(|path| self.vfs.contains(path))?;
        if let Some(id) = self.by_path.get(&path) {
            return Some(*id);
        }
        let id = ImageId(self.paths.len() as u32 + 2);
        self.paths.push((path.clone(), name.to_owned()));
        self.by_path.insert(path, id);
        Some(id)
    }

    fn image_or_missing(&mut self, name: &str, material: &str) -> ImageId {
        self.find_image(name).unwrap_or_else(|| {
            self.warnings.push(
                "W120",
                format!("material {material}: no image {name} (tga, jpg, jpeg, png tried)"),
            );
            ImageId::MISSING
        })
    }

    fn implicit(&mut self, shader: &Shader, lighting: LightingClass) -> Material {
        let found = self.find_image(&shader.name);
        let image = found.unwrap_or(ImageId::MISSING);
        if found.is_none() {
            self.warnings.push(
                "W120",
                format!("material {}: no script and no image", shader.name),
            );
        }
        let source = if found.is_some() {
            MaterialSource::Image
        } else {
            MaterialSource::Missing
        };
        let mut material = blank(shader, lighting, source);
        material.stages = implicit_stages(image, lighting);
        material.base_image = image;
        material.light_image = found.unwrap_or(ImageId::WHITE);
        material
    }

    fn scripted(
        &mut self,
        shader: &Shader,
        lighting: LightingClass,
        found: &Definition,
    ) -> Material {
        let definition = &found.material;
        let source = MaterialSource::Script {
            file: found.file.clone(),
            line: definition.line,
            origin: found.origin.clone(),
            text: definition_text(&found.bytes, definition.line).into(),
        };
        let mut material = blank(shader, lighting, source);
        let stages = definition.stages.iter();
        material.stages = stages
            .filter_map(|stage| self.stage(stage, lighting, &definition.name))
            .collect();
        material.cull = definition.cull;
        material.sky.clone_from(&definition.sky);
        material.sky_box = definition
            .sky
            .as_ref()
            .and_then(|sky| self.sky_box(sky.outer.as_deref()?));
        material.fog = definition.fog;
        material.polygon_offset = definition.polygon_offset;
        material.no_mipmaps = definition.no_mipmaps;
        material.deforms.clone_from(&definition.deforms);
        material.surface_parms.clone_from(&definition.surface_parms);
        material.light = definition.light.clone();
        material.sort = definition.sort.unwrap_or_else(|| implied_sort(&material));
        material.base_image = self.base_image(&material, definition);
        material.light_image = self.light_image(&material, definition);
        material
    }

    fn stage(&mut self, def: &StageDef, lighting: LightingClass, material: &str) -> Option<Stage> {
        let image = match &def.map {
            StageMap::None => return None,
            StageMap::Lightmap if lighting == LightingClass::Lightmap => StageImage::Lightmap,
            // Without a page `$lightmap` is white.
            StageMap::Lightmap | StageMap::White | StageMap::Video => {
                StageImage::Image(ImageId::WHITE)
            }
            StageMap::Image(name) => StageImage::Image(self.image_or_missing(name, material)),
            StageMap::Animated(hz, names) => {
                let frames: Vec<ImageId> = names
                    .iter()
                    .map(|name| self.image_or_missing(name, material))
                    .collect();
                match frames.as_slice() {
                    [] => return None,
                    [only] => StageImage::Image(*only),
                    _ => StageImage::Animated(*hz, frames),
                }
            }
        };
        let is_lightmap = def.map == StageMap::Lightmap;
        let plain = def
            .blend
            .is_none_or(|(source, _)| matches!(source, BlendFactor::One | BlendFactor::SrcAlpha));
        let absent = if plain {
            RgbGen::IdentityLighting
        } else {
            RgbGen::Identity
        };
        Some(Stage {
            image,
            clamp: def.clamp || is_lightmap,
            blend: def.blend,
            alpha_func: def.alpha_func,
            depth_write: def.blend.is_none() || def.depth_write,
            depth_equal: def.depth_equal,
            detail: def.detail,
            rgb_gen: match def.map {
                StageMap::Video => RgbGen::Const(glam::Vec3::ZERO),
                _ => def.rgb_gen.unwrap_or(absent),
            },
            alpha_gen: def.alpha_gen,
            tc_gen: def.tc_gen.unwrap_or(if is_lightmap {
                TcGen::Lightmap
            } else {
                TcGen::Base
            }),
            tc_mods: def.tc_mods.clone(),
        })
    }

    fn sky_box(&mut self, base: &str) -> Option<[ImageId; 6]> {
        let images: Vec<ImageId> = SKY_SUFFIXES
            .iter()
            .filter_map(|suffix| self.find_image(&format!("{base}_{suffix}")))
            .collect();
        images.try_into().ok()
    }

    /// The picture that the material is known by: the first stage that is no lightmap, else what an editor would show.
    fn base_image(&mut self, material: &Material, definition: &MaterialDef) -> ImageId {
        let staged = material.stages.iter().find_map(|stage| match &stage.image {
            StageImage::Image(ImageId::WHITE) | StageImage::Lightmap => None,
            StageImage::Image(id) => Some(*id),
            StageImage::Animated(_, frames) => frames.first().copied(),
        });
        if let Some(id) = staged {
            return id;
        }
        if !material.stages.is_empty() || material.sky.is_some() {
            return material.sky_box.map_or(ImageId::WHITE, |images| images[0]);
        }
        self.editor_image(definition).unwrap_or(ImageId::WHITE)
    }

    /// Editor image, then the material's name, then the implicit image.
    fn editor_image(&mut self, definition: &MaterialDef) -> Option<ImageId> {
        let implicit = definition.light.implicit_image.clone();
        let implicit = implicit.map(|name| {
            if name == "-" {
                definition.name.clone()
            } else {
                name
            }
        });
        let names = [
            definition.light.editor_image.clone(),
            Some(definition.name.clone()),
            implicit,
        ];
        names
            .into_iter()
            .flatten()
            .find_map(|name| self.find_image(&name))
    }

    /// The image that colours and filters light; loaded only where the compiler looks at it.
    fn light_image(&mut self, material: &Material, definition: &MaterialDef) -> ImageId {
        let light = &definition.light;
        let emits =
            light.surface_light > 0.0 || !light.suns.is_empty() || !light.sky_lights.is_empty();
        let filters = ["alphashadow", "lightfilter"]
            .iter()
            .any(|parm| definition.has_parm(parm));
        if !emits && !filters {
            return material.base_image;
        }
        let named = light
            .light_image_path()
            .and_then(|name| self.find_image(name));
        named
            .or_else(|| self.editor_image(definition))
            .unwrap_or(ImageId::WHITE)
    }

    /// Decodes all images that materials asked for; a damaged one becomes the stand-in with a warning.
    pub(super) fn finish(
        self,
        context: &JobContext,
    ) -> Result<(Vec<Material>, Vec<Image>), Cancelled> {
        context.progress.begin("images", self.paths.len() as u64);
        let decoded: Vec<Option<Image>> = self
            .paths
            .par_iter()
            .map(|(path, name)| {
                context.cancel.check()?;
                context.progress.add(1);
                let file = sources::read(self.vfs, path, self.warnings);
                let image = file
                    .map_err(|error| error.to_string())
                    .and_then(|file| Image::decode(name, file));
                if let Err(reason) = &image {
                    context
                        .warnings
                        .push("W120", format!("image {path}: {reason}"));
                }
                Ok(image.ok())
            })
            .collect::<Result<_, Cancelled>>()?;
        let mut images = vec![Image::missing(), Image::solid("*white", [255; 4])];
        let mut final_id = vec![ImageId::MISSING, ImageId::WHITE];
        for image in decoded {
            final_id.push(match image {
                Some(image) => {
                    images.push(image);
                    ImageId(images.len() as u32 - 1)
                }
                None => ImageId::MISSING,
            });
        }
        let mut materials = self.materials;
        for material in &mut materials {
            material.map_images(|id| final_id[id.0 as usize]);
        }
        Ok((materials, images))
    }
}

impl Material {
    fn map_images(&mut self, map: impl Fn(ImageId) -> ImageId) {
        for stage in &mut self.stages {
            match &mut stage.image {
                StageImage::Lightmap => {}
                StageImage::Image(id) => *id = map(*id),
                StageImage::Animated(_, frames) => frames.iter_mut().for_each(|id| *id = map(*id)),
            }
        }
        for id in self.sky_box.iter_mut().flatten() {
            *id = map(*id);
        }
        self.light_image = map(self.light_image);
        self.base_image = map(self.base_image);
    }
}

fn blank(shader: &Shader, lighting: LightingClass, source: MaterialSource) -> Material {
    Material {
        name: shader.name.clone(),
        source,
        lighting,
        surface_flags: shader.surface_flags,
        content_flags: shader.content_flags,
        stages: Vec::new(),
        cull: Cull::BackFaces,
        sort: 3.0,
        sky: None,
        sky_box: None,
        fog: None,
        polygon_offset: false,
        no_mipmaps: false,
        deforms: Vec::new(),
        surface_parms: Vec::new(),
        light: crate::format::material_script::LightDirectives::default(),
        light_image: ImageId::WHITE,
        base_image: ImageId::WHITE,
    }
}

/// Draw order when the script gives none, by the engine's rule.
fn implied_sort(material: &Material) -> f32 {
    if material.sky.is_some() {
        return 2.0;
    }
    if material.polygon_offset {
        return 4.0;
    }
    match material.stages.first() {
        None => 7.0,
        Some(stage) if stage.blend.is_none() => 3.0,
        Some(stage) if stage.depth_write => 5.0,
        Some(_) => 9.0,
    }
}

/// What the engine makes of an image without a script.
fn implicit_stages(image: ImageId, lighting: LightingClass) -> Vec<Stage> {
    let base = Stage {
        image: StageImage::Image(image),
        clamp: false,
        blend: None,
        alpha_func: None,
        depth_write: true,
        depth_equal: false,
        detail: false,
        rgb_gen: RgbGen::Identity,
        alpha_gen: AlphaGen::Identity,
        tc_gen: TcGen::Base,
        tc_mods: Vec::new(),
    };
    let filtered = Stage {
        blend: Some((BlendFactor::DstColor, BlendFactor::Zero)),
        depth_write: false,
        ..base.clone()
    };
    match lighting {
        LightingClass::Lightmap => {
            let light = Stage {
                image: StageImage::Lightmap,
                clamp: true,
                tc_gen: TcGen::Lightmap,
                ..base
            };
            vec![light, filtered]
        }
        LightingClass::White => {
            let white = Stage {
                image: StageImage::Image(ImageId::WHITE),
                rgb_gen: RgbGen::IdentityLighting,
                ..base
            };
            vec![white, filtered]
        }
        LightingClass::Vertex => vec![Stage {
            rgb_gen: RgbGen::ExactVertex,
            ..base
        }],
        LightingClass::None => vec![Stage {
            rgb_gen: RgbGen::LightingDiffuse,
            ..base
        }],
    }
}
