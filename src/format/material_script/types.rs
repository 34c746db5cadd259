use glam::{Vec2, Vec3};

use crate::format::material_script::light::LightDirectives;

/// All materials of one script file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialScript {
    /// In file order; of two with one name the first wins.
    pub materials: Vec<MaterialDef>,
    /// What was not understood: line number and text.
    pub warnings: Vec<(usize, String)>,
}

/// One material as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialDef {
    /// Lower-case name with forward slashes, without an extension.
    pub name: String,
    /// Line of the name, from 1.
    pub line: usize,
    /// Drawing passes in order.
    pub stages: Vec<StageDef>,
    /// Which faces are not drawn.
    pub cull: Cull,
    /// Draw order, if given.
    pub sort: Option<f32>,
    /// Sky box and clouds.
    pub sky: Option<SkyParms>,
    /// Fog colour (0 to 1) and depth at which it is opaque, game units.
    pub fog: Option<(Vec3, f32)>,
    /// Lower-case `surfaceparm` words, and `q3map_*` words that stand for one.
    pub surface_parms: Vec<String>,
    /// Whether it is drawn in front of what it lies on.
    pub polygon_offset: bool,
    /// Whether its images have no mipmaps.
    pub no_mipmaps: bool,
    /// Vertex deformations in order.
    pub deforms: Vec<Deform>,
    /// What only the light compiler reads.
    pub light: LightDirectives,
}

impl MaterialDef {
    /// Whether `surfaceparm name` is given.
    pub fn has_parm(&self, name: &str) -> bool {
        self.surface_parms.iter().any(|parm| parm == name)
    }
}

/// Which faces are not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cull {
    /// Those seen from behind. The default (`cull front` in the scripts' words).
    #[default]
    BackFaces,
    /// Those seen from the front (`cull back`).
    FrontFaces,
    /// None: two-sided.
    Nothing,
}

/// `skyparms outer height inner`.
#[derive(Clone, Debug, PartialEq)]
pub struct SkyParms {
    /// Base name of the six outer images.
    pub outer: Option<String>,
    /// Height of the cloud layer, game units.
    pub cloud_height: f32,
    /// Base name of the inner images; no engine draws them.
    pub inner: Option<String>,
}

/// One drawing pass.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a keyword of its own in the script"
)]
pub struct StageDef {
    /// What is drawn.
    pub map: StageMap,
    /// Whether the texture is clamped to its edge.
    pub clamp: bool,
    /// Source and destination factor; `None` replaces.
    pub blend: Option<(BlendFactor, BlendFactor)>,
    /// Alpha test.
    pub alpha_func: Option<AlphaFunc>,
    /// Whether depth is written although it blends.
    pub depth_write: bool,
    /// Whether it is drawn only where depth is equal.
    pub depth_equal: bool,
    /// A detail pass, dropped when details are off.
    pub detail: bool,
    /// Colour; `None` is the rule for absent keywords.
    pub rgb_gen: Option<RgbGen>,
    /// Alpha.
    pub alpha_gen: AlphaGen,
    /// Texture coordinates; `None` is lightmap for `$lightmap`, else base.
    pub tc_gen: Option<TcGen>,
    /// Changes of the coordinates, in order.
    pub tc_mods: Vec<TcMod>,
}

impl Default for StageDef {
    fn default() -> Self {
        Self {
            map: StageMap::None,
            clamp: false,
            blend: None,
            alpha_func: None,
            depth_write: false,
            depth_equal: false,
            detail: false,
            rgb_gen: None,
            alpha_gen: AlphaGen::Identity,
            tc_gen: None,
            tc_mods: Vec::new(),
        }
    }
}

/// Picture of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum StageMap {
    /// None given: not drawn.
    None,
    /// `$lightmap`: the surface's.
    Lightmap,
    /// `$whiteimage`.
    White,
    /// A film, of which nothing is shown: black.
    Video,
    /// An image by name, as written.
    Image(String),
    /// Frames a second, and their names.
    Animated(f32, Vec<String>),
}

/// A factor of `blendFunc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are OpenGL's")]
pub enum BlendFactor {
    One,
    Zero,
    SrcColor,
    OneMinusSrcColor,
    DstColor,
    OneMinusDstColor,
    SrcAlpha,
    OneMinusSrcAlpha,
    DstAlpha,
    OneMinusDstAlpha,
    SrcAlphaSaturate,
}

/// Alpha test of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlphaFunc {
    /// Keep alpha above 0.
    Greater0,
    /// Keep alpha below one half.
    Less128,
    /// Keep alpha of one half and more.
    GreaterEqual128,
}

/// A periodic function: value = base + amplitude · f(phase + time · frequency).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wave {
    /// Shape of one period.
    pub function: WaveFunction,
    /// Added to everything.
    pub base: f32,
    /// Multiplies the shape.
    pub amplitude: f32,
    /// Shift in periods.
    pub phase: f32,
    /// Periods a second.
    pub frequency: f32,
}

/// Shape of a [`Wave`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFunction {
    /// 0, 1, 0, −1, 0 along a sine.
    Sine,
    /// 0, 1, 0, −1, 0 along straight lines.
    Triangle,
    /// 1, then −1.
    Square,
    /// 0 rising to 1.
    Sawtooth,
    /// 1 falling to 0.
    InverseSawtooth,
    /// Value noise.
    Noise,
}

/// `rgbGen`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RgbGen {
    /// White.
    Identity,
    /// White over 2^overbright.
    IdentityLighting,
    /// Vertex colour.
    Vertex,
    /// Vertex colour without overbright scale.
    ExactVertex,
    /// White minus vertex colour.
    OneMinusVertex,
    /// The entity's colour.
    Entity,
    /// White minus the entity's colour.
    OneMinusEntity,
    /// Grey by a wave.
    Wave(Wave),
    /// Fixed, 0 to 1.
    Const(Vec3),
    /// Lit by the light grid as models are.
    LightingDiffuse,
}

/// `alphaGen`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlphaGen {
    /// Opaque.
    Identity,
    /// Fixed, 0 to 1.
    Const(f32),
    /// Vertex alpha.
    Vertex,
    /// One minus vertex alpha.
    OneMinusVertex,
    /// The entity's alpha.
    Entity,
    /// One minus the entity's alpha.
    OneMinusEntity,
    /// By a wave.
    Wave(Wave),
    /// A highlight of a fixed light.
    LightingSpecular,
    /// Distance from the eye over this range, game units.
    Portal(f32),
}

/// `tcGen`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TcGen {
    /// Stored texture coordinates.
    Base,
    /// Lightmap coordinates.
    Lightmap,
    /// Reflection.
    Environment,
    /// Dot products with the position.
    Vector(Vec3, Vec3),
}

/// `tcMod`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TcMod {
    /// Multiplied.
    Scale(Vec2),
    /// Moved, periods a second.
    Scroll(Vec2),
    /// Turned about the middle, degrees a second.
    Rotate(f32),
    /// Scaled about the middle by one over a wave.
    Stretch(Wave),
    /// Swirling: amplitude, phase, frequency.
    Turbulence(Wave),
    /// A matrix, row by row, and an offset.
    Transform([f32; 4], Vec2),
    /// The entity's own scroll.
    EntityTranslate,
}

/// `deformVertexes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deform {
    /// Along the normal by a wave; spread in periods a unit.
    Wave(f32, Wave),
    /// Wobbling normals: amplitude, frequency.
    Normal(f32, f32),
    /// Along the normal: width, height, speed.
    Bulge(f32, f32, f32),
    /// The whole surface along a vector by a wave.
    Move(Vec3, Wave),
    /// Quads that face the eye.
    AutoSprite,
    /// Quads that turn about their long axis.
    AutoSprite2,
}
