use std::sync::Arc;

use glam::Vec3;

use crate::format::material_script::{
    AlphaFunc, AlphaGen, BlendFactor, Cull, Deform, LightDirectives, RgbGen, SkyParms, TcGen, TcMod,
};
use crate::scene::types::LightingClass;
use crate::vfs::Origin;

/// Index into `Scene::images`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageId(pub u32);

impl ImageId {
    /// The visible stand-in for a missing image.
    pub const MISSING: Self = Self(0);
    /// A white image.
    pub const WHITE: Self = Self(1);
}

/// Index into `Scene::materials`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MaterialId(pub u32);

/// Where a material's look comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MaterialSource {
    /// A script: its virtual path and the line of the name.
    Script {
        /// Virtual path of the script file.
        file: String,
        /// Line of the name, from 1.
        line: usize,
        /// The file that this path found.
        origin: Origin,
        /// The definition as written, from the name to the closing brace.
        text: Arc<str>,
    },
    /// No script; an image of that name, by the engine's implicit rules.
    Image,
    /// Neither: the stand-in is drawn.
    Missing,
}

/// A material resolved to images, for one way of lighting.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name as in the BSP.
    pub name: String,
    /// Where its look comes from.
    pub source: MaterialSource,
    /// The way of lighting that its stages are made for.
    pub lighting: LightingClass,
    /// Flags of lump 1.
    pub surface_flags: u32,
    /// Flags of lump 1.
    pub content_flags: u32,
    /// Drawing passes in order; empty when nothing is drawn (fog volumes, scripts without stages).
    pub stages: Vec<Stage>,
    /// Which faces are not drawn.
    pub cull: Cull,
    /// Draw order: portal 1, sky 2, opaque 3, decal 4, see-through 5, …, blended 9 and up.
    pub sort: f32,
    /// Sky parameters; `Some` makes it a sky.
    pub sky: Option<SkyParms>,
    /// The six sky box images in the order rt, lf, bk, ft, up, dn, when all are there.
    pub sky_box: Option<[ImageId; 6]>,
    /// Fog colour (0 to 1) and depth at which it is opaque, game units.
    pub fog: Option<(Vec3, f32)>,
    /// Drawn in front of what it lies on.
    pub polygon_offset: bool,
    /// Images without mipmaps.
    pub no_mipmaps: bool,
    /// Vertex deformations in order.
    pub deforms: Vec<Deform>,
    /// Lower-case `surfaceparm` words of the script.
    pub surface_parms: Vec<String>,
    /// What only the light compiler reads.
    pub light: LightDirectives,
    /// Image that filters and colours light (section 11.3 of the compiler's specification); white when there is none.
    pub light_image: ImageId,
    /// Image by which the texture-only and clay modes know it: the first stage that is no lightmap.
    pub base_image: ImageId,
}

impl Material {
    /// Images of its stages in order, frames of animations included, then of its sky box; one may come more than once.
    pub fn image_ids(&self) -> impl Iterator<Item = ImageId> {
        let stages = self.stages.iter().flat_map(|stage| match &stage.image {
            StageImage::Lightmap => &[],
            StageImage::Image(id) => std::slice::from_ref(id),
            StageImage::Animated(_, ids) => ids.as_slice(),
        });
        stages.chain(self.sky_box.iter().flatten()).copied()
    }

    /// Whether its surfaces are quads that turn towards the eye: their corners say where and how large, not where they lie.
    pub fn is_sprite(&self) -> bool {
        let is_sprite =
            |deform: &Deform| matches!(deform, Deform::AutoSprite | Deform::AutoSprite2);
        self.deforms.iter().any(is_sprite)
    }

    /// Whether the script says `surfaceparm name`.
    pub fn has_parm(&self, name: &str) -> bool {
        self.surface_parms.iter().any(|parm| parm == name)
    }

    /// Whether it stands for a missing image or script.
    pub fn is_missing(&self) -> bool {
        self.source == MaterialSource::Missing
            || (self.base_image == ImageId::MISSING && self.sky.is_none())
    }

    /// Whether it is drawn as a sky: `skyparms`, the surface parameter, or the BSP's flag.
    pub fn is_sky(&self) -> bool {
        self.sky.is_some() || self.surface_flags & crate::format::bsp::surface_flags::SKY != 0
    }
}

/// A drawing pass with its images resolved.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of its own in the script"
)]
pub struct Stage {
    /// What is drawn.
    pub image: StageImage,
    /// Whether the texture is clamped to its edge.
    pub clamp: bool,
    /// Source and destination factor; `None` replaces.
    pub blend: Option<(BlendFactor, BlendFactor)>,
    /// Alpha test.
    pub alpha_func: Option<AlphaFunc>,
    /// Whether depth is written: always without blending, else on demand.
    pub depth_write: bool,
    /// Whether it is drawn only where depth is equal.
    pub depth_equal: bool,
    /// A detail pass.
    pub detail: bool,
    /// Colour.
    pub rgb_gen: RgbGen,
    /// Alpha.
    pub alpha_gen: AlphaGen,
    /// Texture coordinates.
    pub tc_gen: TcGen,
    /// Changes of the coordinates, in order.
    pub tc_mods: Vec<TcMod>,
}

/// Picture of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageImage {
    /// The surface's lightmap page (white when the surface has none).
    Lightmap,
    /// One image.
    Image(ImageId),
    /// Frames a second, and the frames (never empty).
    Animated(f32, Vec<ImageId>),
}
