use glam::Vec2;

use crate::format::material_script::RgbGen;
use crate::scene::material::StageImage;
use crate::scene::types::{LightingClass, Scene, Surface};

/// What the stages of a surface's material are lit by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LightSource {
    /// A lightmap page.
    Lightmap,
    /// Vertex colours.
    Vertex,
    /// The light grid: `rgbGen lightingDiffuse`, the rule for models. Vertex light is drawn for it where there is some.
    Grid,
    /// Nothing: the material looks the same in the dark.
    Nothing,
}

impl LightSource {
    /// All, in the order of their numbers on the GPU.
    pub const ALL: [Self; 4] = [Self::Lightmap, Self::Vertex, Self::Grid, Self::Nothing];

    /// Stable word for JSON and lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lightmap => "lightmap",
            Self::Vertex => "vertex",
            Self::Grid => "grid",
            Self::Nothing => "none",
        }
    }
}

impl Scene {
    /// What lights `surface`: the first of lightmap, vertex colours and grid that a stage of its material asks for.
    pub fn light_source(&self, surface: &Surface) -> LightSource {
        let stages = &self.material_of(surface).stages;
        let has = |wanted: &dyn Fn(&RgbGen) -> bool| stages.iter().any(|s| wanted(&s.rgb_gen));
        let is_paged = surface.lightmap.is_some() && surface.lighting == LightingClass::Lightmap;
        if is_paged && stages.iter().any(|s| s.image == StageImage::Lightmap) {
            LightSource::Lightmap
        } else if has(&|rgb| {
            matches!(
                rgb,
                RgbGen::Vertex | RgbGen::ExactVertex | RgbGen::OneMinusVertex
            )
        }) {
            LightSource::Vertex
        } else if has(&|rgb| matches!(rgb, RgbGen::LightingDiffuse)) {
            LightSource::Grid
        } else {
            LightSource::Nothing
        }
    }

    /// Side of a luxel of `surface` in the world, game units: the root of the surface's area over the area of its luxels.
    ///
    /// `None` without a lightmap page and when the lightmap coordinates span no area.
    pub fn units_per_luxel(&self, surface: &Surface) -> Option<f32> {
        surface.lightmap?;
        let side = self.lightmaps.size as f32;
        let range = surface.indices.start as usize..surface.indices.end as usize;
        let (mut world, mut luxels) = (0.0_f64, 0.0_f64);
        for triangle in self.indices.get(range)?.chunks_exact(3) {
            let corner = |i: usize| self.vertices.get(triangle[i] as usize);
            let (a, b, c) = (corner(0)?, corner(1)?, corner(2)?);
            let cross = (b.position - a.position).cross(c.position - a.position);
            world += f64::from(cross.length());
            let flat = |st: Vec2| (st - a.lightmap_st) * side;
            luxels += f64::from(flat(b.lightmap_st).perp_dot(flat(c.lightmap_st)).abs());
        }
        let density = (world / luxels).sqrt() as f32;
        (luxels > 0.0 && density.is_finite() && density > 0.0).then_some(density)
    }
}
