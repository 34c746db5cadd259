use std::collections::BTreeMap;

use glam::Vec3;

use crate::format::bsp::{content_flags, surface_flags};
use crate::format::material_script::Cull;
use crate::light::lights::normalise_colour;
use crate::light::settings::BakeSettings;
use crate::scene::{Image, Material, Scene, SurfaceId};

/// Content flags of everything that light passes: water, slime, lava, portals, clips, triggers, origins, `trans`.
const TRANSLUCENT_CONTENTS: u32 = content_flags::TRANSLUCENT
    | content_flags::WATER
    | content_flags::SLIME
    | content_flags::LAVA
    | content_flags::AREA_PORTAL
    | 0x1_0000 // player clip
    | 0x2_0000 // monster clip
    | 0x10_0000 // cluster portal
    | 0x20_0000 // do not enter
    | 0x40_0000 // bot clip
    | 0x100_0000 // origin
    | 0x4000_0000 // trigger
    | 0x8000_0000; // no drop

/// Words of `surfaceparm` with the same meaning.
const TRANSLUCENT_PARMS: [&str; 15] = [
    "trans",
    "alphashadow",
    "lightfilter",
    "origin",
    "areaportal",
    "trigger",
    "water",
    "slime",
    "lava",
    "playerclip",
    "monsterclip",
    "nodrop",
    "clusterportal",
    "donotenter",
    "botclip",
];
/// Surface flag of `surfaceparm lightfilter`.
const LIGHT_FILTER: u32 = 0x8000;
/// Surface flag of `surfaceparm alphashadow`.
const ALPHA_SHADOW: u32 = 0x1_0000;

/// What the compiler knows of a material beyond its look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent flags of the script language"
)]
pub(crate) struct CompileFlags {
    /// Casts no shadow of its own.
    pub translucent: bool,
    /// Lets suns in.
    pub sky: bool,
    /// Not there at all.
    pub no_draw: bool,
    /// Shadow by the light image's alpha.
    pub alpha_shadow: bool,
    /// Shadow by the light image's colour.
    pub light_filter: bool,
    /// A fog volume.
    pub fog: bool,
}

/// Materials and flags by BSP shader and by surface.
#[derive(Debug)]
pub(crate) struct Materials<'a> {
    scene: &'a Scene,
    by_name: BTreeMap<String, &'a Material>,
}

impl<'a> Materials<'a> {
    /// Indexes the scene's materials by name.
    pub(super) fn new(scene: &'a Scene) -> Self {
        let mut by_name = BTreeMap::new();
        for material in &scene.materials {
            by_name.entry(key(&material.name)).or_insert(material);
        }
        Self { scene, by_name }
    }

    /// The material of a surface: the `.srf`'s original one where it is known, else the BSP's.
    pub(super) fn of_surface(&self, surface: SurfaceId) -> Option<&'a Material> {
        let extra = self.scene.surface_extras.as_ref();
        let original = extra
            .and_then(|extras| extras.get(surface.0).material.as_deref())
            .and_then(|name| self.by_name.get(&key(name)).copied());
        original.or_else(|| {
            let surface = self.scene.surfaces.get(surface.0 as usize)?;
            self.scene.materials.get(surface.material.0 as usize)
        })
    }

    /// Flags of entry `shader` of the BSP's lump 1, from its own flags and the script of that name, if loaded.
    pub(super) fn shader_flags(&self, shader: u32) -> CompileFlags {
        let Some(shader) = self.scene.bsp.shaders.get(shader as usize) else {
            return CompileFlags::default();
        };
        let material = self.by_name.get(&key(&shader.name)).copied();
        compile_flags(shader.surface_flags, shader.content_flags, material)
    }

    /// Average of the light image with the largest component made 1, or `q3map_lightRGB` likewise.
    pub(super) fn light_colour(&self, material: &Material, settings: &BakeSettings) -> Vec3 {
        let given = material.light.colour;
        let colour = given.map_or_else(
            || {
                let image = self.scene.images.get(material.light_image.0 as usize);
                image.map_or(Vec3::ONE, sum_of_texels)
            },
            |colour| settings.linear_colour(colour),
        );
        normalise_colour(colour)
    }
}

/// Names compare without case and extension.
fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Flags of a surface's or brush side's material.
pub(crate) fn compile_flags(
    surface: u32,
    contents: u32,
    material: Option<&Material>,
) -> CompileFlags {
    let parm = |name: &str| material.is_some_and(|material| material.has_parm(name));
    let flagged = |flag: u32, name: &str| surface & flag != 0 || parm(name);
    let has_sun = material.is_some_and(|material| {
        !material.light.suns.is_empty() || !material.light.sky_lights.is_empty()
    });
    CompileFlags {
        translucent: contents & TRANSLUCENT_CONTENTS != 0
            || surface & (LIGHT_FILTER | ALPHA_SHADOW) != 0
            || TRANSLUCENT_PARMS.iter().any(|name| parm(name)),
        sky: flagged(surface_flags::SKY, "sky") || has_sun,
        no_draw: flagged(surface_flags::NO_DRAW, "nodraw"),
        alpha_shadow: flagged(ALPHA_SHADOW, "alphashadow"),
        light_filter: flagged(LIGHT_FILTER, "lightfilter"),
        fog: contents & content_flags::FOG != 0 || parm("fog"),
    }
}

/// Whether a material emits to both sides.
pub(crate) fn is_two_sided(material: &Material, flags: CompileFlags) -> bool {
    material.cull == Cull::Nothing || flags.fog
}

fn sum_of_texels(image: &Image) -> Vec3 {
    let mut sum = [0_u64; 3];
    for texel in image.rgba.chunks_exact(4) {
        for (channel, value) in sum.iter_mut().zip(texel) {
            *channel += u64::from(*value);
        }
    }
    Vec3::from(sum.map(|channel| channel as f32))
}
