use std::sync::Arc;

use glam::Vec3;

use crate::light::encode::ByteTransfer;
use crate::light::lights::{CORRECTED_TOLERANCE, TOLERANCE};
use crate::light::memory::default_budget;
use crate::math::Aabb;
use crate::math::colour::linear_from_srgb;
use crate::scene::MapSource;

/// Which compiler's look is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LightModel {
    /// The reference compiler's, accidents that mappers tuned against included.
    #[default]
    Q3map2,
    /// With the accidents mended that `docs/lighting.md` lists.
    Corrected,
}

/// Meaning of the spawnflags of light entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntityModel {
    /// Inverse square unless spawnflag 1 says linear (`-q3`).
    #[default]
    Quake3,
    /// Linear unless spawnflag 1 says inverse square (`-wolf`).
    Wolfenstein,
}

/// Where entity lights come from.
#[derive(Clone, Debug, Default)]
pub enum LightsFrom {
    /// The BSP's entities and, unless worldspawn `_keepLights` is set, those of the `.map` beside it; without a `.map` those of
    /// the `.ent` beside it, where the BSP has no light of its own: a copy of its entity lump would light it twice.
    #[default]
    Auto,
    /// Only the BSP's entities.
    Bsp,
    /// The BSP's entities, and these instead of the file beside it, whatever `_keepLights` says.
    File(Arc<MapSource>),
}

/// How the SH grid's cell size is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShCell {
    /// The legacy cell over this factor (`-gridscalesh`), at least 0.5.
    Scale(f32),
    /// Given (`-gridsh`), game units.
    Explicit(Vec3),
}

/// Everything that a bake depends on beside the scene. One struct serves library, command line and panel.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of a command line"
)]
pub struct BakeSettings {
    /// Whether the legacy grid is baked (`-nogrid` turns it off).
    pub legacy: bool,
    /// Whether the SH grid is baked (`-sh`).
    pub sh: bool,
    /// Cell size of the legacy grid, game units; `None` takes worldspawn's `gridsize`, else 64 64 128. Differing from the
    /// map's own it is written to worldspawn.
    pub cell_size: Option<Vec3>,
    /// Cell size of the SH grid.
    pub sh_cell: ShCell,
    /// Bakes only the points inside, faces included, and keeps the file's values outside; the file must have the same points.
    /// Game units; `None` bakes all.
    pub region: Option<Aabb>,
    /// Threads; `None` is all cores.
    pub threads: Option<usize>,
    /// Bytes that a bake may take beside the opened map; `None` is half of what the system has to give.
    pub memory: Option<u64>,
    /// Source of entity lights.
    pub lights: LightsFrom,
    /// Which compiler's look.
    pub model: LightModel,
    /// Meaning of the spawnflags of light entities.
    pub entity_model: EntityModel,
    /// Multiplies point and spot lights (`-point`).
    pub point_scale: f32,
    /// Multiplies point lights only (`-spherical`).
    pub spherical_scale: f32,
    /// Multiplies spot lights only (`-spot`).
    pub spot_scale: f32,
    /// Multiplies surface lights (`-area`).
    pub area_scale: f32,
    /// Multiplies suns and sky lights (`-sky`).
    pub sky_scale: f32,
    /// A further dimension of the distance to entity lights without a key for it, game units (`-extradist`).
    pub extra_distance: f32,
    /// Multiplies the default share of backsplash lights (`-backsplash`).
    pub backsplash_scale: f32,
    /// Distance of backsplash lights by default, game units (`-backsplash`).
    pub backsplash_distance: f32,
    /// Subdivisions of a curve, which decide how finely emitting patches are cut (`-subdivisions`).
    pub subdivisions: f32,
    /// Light from all open directions; worldspawn `_floodlight` turns it on too (`-floodlight`).
    pub floodlight: bool,
    /// Multiplies both grids (`-gridscale`); values ≤ 0 count as 1.
    pub grid_scale: f32,
    /// Multiplies the legacy ambient term further (`-gridambientscale`).
    pub grid_ambient_scale: f32,
    /// Share of light from the main direction that is directed, at most 1 (`-griddirectionality`).
    pub grid_directionality: f32,
    /// Share of light from across that is directed, at least −1 (`-gridambientdirectionality`).
    pub grid_ambient_directionality: f32,
    /// Curve from light to bytes; the SH grid holds floats and has none.
    pub transfer: ByteTransfer,
    /// Whether texels are sRGB and made linear where they colour light (`-sRGBtex`).
    pub srgb_textures: bool,
    /// Whether colours of keys and directives are sRGB and made linear (`-sRGBcolor`).
    pub srgb_colours: bool,
    /// Whether lights of materials lose their styles (`-nostyles`).
    pub no_styles: bool,
    /// Distance cut for area lights in the grid pass (`-fast`, `-fastgrid`).
    pub fast: bool,
    /// Cheap area formula (`-faster`); implies `fast`.
    pub faster: bool,
    /// Legacy points stop gathering when all channels are full (`-cheapgrid`).
    pub cheap: bool,
    /// No shadows (`-notrace`).
    pub no_trace: bool,
    /// Shadows of opaque leafs alone; no sky is met, so suns give nothing (`-nosurf`).
    pub no_surfaces: bool,
    /// Only suns (`-sunonly`).
    pub sun_only: bool,
    /// Any sky lets any sun in (`-onesky`).
    pub one_sky: bool,
    /// Seed of jittered lights and suns and of the nudges for points in solid; 0 is the reference compiler's.
    pub seed: u64,
    /// Equivalent command line, noted in worldspawn when a result is applied; empty notes nothing.
    pub command_line: String,
}

impl BakeSettings {
    /// A colour of a key or directive, made linear where the settings say that it is sRGB.
    pub(crate) fn linear_colour(&self, colour: Vec3) -> Vec3 {
        if self.srgb_colours {
            Vec3::from(colour.to_array().map(linear_from_srgb))
        } else {
            colour
        }
    }

    /// Threads that a bake works with.
    pub(crate) fn thread_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).max(1)
    }

    /// Bytes that a bake may take.
    pub(crate) fn memory_budget(&self) -> u64 {
        self.memory.unwrap_or_else(default_budget)
    }

    /// Contributions of entity and area lights up to this many byte units are dropped.
    pub(crate) fn tolerance(&self) -> f32 {
        match self.model {
            LightModel::Corrected => CORRECTED_TOLERANCE,
            // What one byte stands for at the dark end of the curve.
            LightModel::Q3map2 if self.transfer.srgb => 255.0 * linear_from_srgb(1.0 / 255.0),
            LightModel::Q3map2 => TOLERANCE,
        }
    }
}

impl Default for BakeSettings {
    fn default() -> Self {
        Self {
            legacy: true,
            sh: true,
            cell_size: None,
            sh_cell: ShCell::Scale(2.0),
            region: None,
            threads: None,
            memory: None,
            lights: LightsFrom::Auto,
            model: LightModel::Q3map2,
            entity_model: EntityModel::Quake3,
            point_scale: 1.0,
            spherical_scale: 1.0,
            spot_scale: 1.0,
            area_scale: 1.0,
            sky_scale: 1.0,
            extra_distance: 0.0,
            backsplash_scale: 1.0,
            backsplash_distance: 23.0,
            subdivisions: 8.0,
            floodlight: false,
            grid_scale: 1.0,
            grid_ambient_scale: 1.0,
            grid_directionality: 1.0,
            grid_ambient_directionality: 0.0,
            transfer: ByteTransfer::default(),
            srgb_textures: false,
            srgb_colours: false,
            no_styles: false,
            fast: false,
            faster: false,
            cheap: false,
            no_trace: false,
            no_surfaces: false,
            sun_only: false,
            one_sky: false,
            seed: 0,
            command_line: String::new(),
        }
    }
}
