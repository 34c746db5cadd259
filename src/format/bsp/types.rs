use std::sync::Arc;

use glam::{IVec3, Vec2, Vec3};

use crate::format::bsp::directory::Directory;
use crate::format::bsp::error::BspWarning;
use crate::format::entities::Entities;
use crate::format::lattice::Lattice;
use crate::math::{Aabb, Plane};

/// Light styles that one surface, vertex or grid point can hold (RBSP; IBSP uses slot 0).
pub const STYLE_SLOTS: usize = 4;
/// A style slot that is not used.
pub const STYLE_NONE: u8 = 255;
/// Side of an internal lightmap page of IBSP and RBSP, texels.
pub const LIGHTMAP_SIZE: usize = 128;
/// Bytes of one IBSP lightmap page, RGB.
pub const LIGHTMAP_BYTES: usize = LIGHTMAP_SIZE * LIGHTMAP_SIZE * 3;

/// Surface flags of the IBSP games, lump 1.
pub mod surface_flags {
    /// A sky: not drawn as geometry, lets suns in.
    pub const SKY: u32 = 0x4;
    /// Never drawn.
    pub const NO_DRAW: u32 = 0x80;
    /// No lightmap: vertex-lit.
    pub const NO_LIGHTMAP: u32 = 0x400;
    /// Vertex-lit.
    pub const POINT_LIGHT: u32 = 0x800;
}

/// Content flags of the IBSP games, lump 1.
pub mod content_flags {
    /// Blocks everything.
    pub const SOLID: u32 = 0x1;
    /// Lava.
    pub const LAVA: u32 = 0x8;
    /// Slime.
    pub const SLIME: u32 = 0x10;
    /// Water.
    pub const WATER: u32 = 0x20;
    /// Fog.
    pub const FOG: u32 = 0x40;
    /// Area portal.
    pub const AREA_PORTAL: u32 = 0x8000;
    /// Light passes: `surfaceparm trans`.
    pub const TRANSLUCENT: u32 = 0x2000_0000;
}

/// A lump of the directory, in file numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    missing_docs,
    reason = "the names are the documentation; docs/formats.md has the table"
)]
pub enum LumpKind {
    Entities,
    Shaders,
    Planes,
    Nodes,
    Leafs,
    LeafSurfaces,
    LeafBrushes,
    Models,
    Brushes,
    BrushSides,
    DrawVerts,
    DrawIndexes,
    Fogs,
    Surfaces,
    Lightmaps,
    LightGrid,
    Visibility,
    /// Entry 17: advertisements of Quake Live (128-byte records).
    Advertisements,
    /// Entry 18: the spherical-harmonics grid of the SH commit.
    LightGridSh,
}

impl LumpKind {
    /// All kinds in directory order.
    pub const ALL: [Self; 19] = [
        Self::Entities,
        Self::Shaders,
        Self::Planes,
        Self::Nodes,
        Self::Leafs,
        Self::LeafSurfaces,
        Self::LeafBrushes,
        Self::Models,
        Self::Brushes,
        Self::BrushSides,
        Self::DrawVerts,
        Self::DrawIndexes,
        Self::Fogs,
        Self::Surfaces,
        Self::Lightmaps,
        Self::LightGrid,
        Self::Visibility,
        Self::Advertisements,
        Self::LightGridSh,
    ];

    /// Place in the directory.
    pub fn index(self) -> usize {
        Self::ALL
            .iter()
            .position(|kind| *kind == self)
            .unwrap_or_default()
    }

    /// The name that messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entities => "entities",
            Self::Shaders => "shaders",
            Self::Planes => "planes",
            Self::Nodes => "nodes",
            Self::Leafs => "leafs",
            Self::LeafSurfaces => "leaf surfaces",
            Self::LeafBrushes => "leaf brushes",
            Self::Models => "models",
            Self::Brushes => "brushes",
            Self::BrushSides => "brush sides",
            Self::DrawVerts => "draw verts",
            Self::DrawIndexes => "draw indexes",
            Self::Fogs => "fogs",
            Self::Surfaces => "surfaces",
            Self::Lightmaps => "lightmaps",
            Self::LightGrid => "light grid",
            Self::Visibility => "visibility",
            Self::Advertisements => "advertisements",
            Self::LightGridSh => "SH light grid",
        }
    }
}

/// A map file in the engine's vocabulary, every index in range, together with the bytes it came from.
///
/// Change lighting through [`Bsp::with_light_grid`] and its siblings: they record which lumps [`crate::format::bsp::write`]
/// has to replace. Everything else is written back byte for byte.
#[derive(Clone, Debug)]
pub struct Bsp {
    /// What kind of file it is, where its lumps are, and why it was taken for that.
    pub directory: Directory,
    /// Lump 0, parsed.
    pub entities: Entities,
    /// Lump 1. The only place where a material keeps the file format's word.
    pub shaders: Vec<Shader>,
    /// Lump 2.
    pub planes: Vec<Plane>,
    /// Lump 3; node 0 is the root. Empty when the tree was unsound.
    pub nodes: Vec<Node>,
    /// Lump 4.
    pub leafs: Vec<Leaf>,
    /// Lump 5: surface numbers, listed by leafs.
    pub leaf_surfaces: Vec<u32>,
    /// Lump 6: brush numbers, listed by leafs.
    pub leaf_brushes: Vec<u32>,
    /// Lump 7; model 0 is the world.
    pub models: Vec<Model>,
    /// Lump 8.
    pub brushes: Vec<Brush>,
    /// Lump 9.
    pub brush_sides: Vec<BrushSide>,
    /// Lump 10.
    pub draw_verts: Vec<DrawVert>,
    /// Lump 11: relative to the surface's first vertex.
    pub draw_indexes: Vec<u32>,
    /// Lump 12.
    pub fogs: Vec<Fog>,
    /// Lump 13.
    pub surfaces: Vec<Surface>,
    /// Lump 14: pages of [`LIGHTMAP_BYTES`], RGB, top row first, as stored (before overbright).
    pub lightmaps: Vec<LightmapPage>,
    /// Lump 15 as stored, x fastest; its placement follows from model 0 and worldspawn, see `scene`.
    pub light_grid: Vec<LightGridPoint>,
    /// Lump 16; `None` when empty or unsound: everything is visible.
    pub visibility: Option<Visibility>,
    /// Lump 18 of the SH commit.
    pub sh_grid: Option<ShGrid>,
    /// What had to be dropped or mended while reading.
    pub warnings: Vec<BspWarning>,
    /// The whole file as read.
    pub(crate) source: Arc<[u8]>,
    /// New contents of replaced lumps.
    pub(crate) replaced: std::collections::BTreeMap<LumpKind, Arc<[u8]>>,
}

/// One page of light, 128×128 RGB bytes, row 0 is v = 0.
pub type LightmapPage = Arc<[u8]>;

/// A material as the BSP names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Name without the NUL and what follows; Latin-1 bytes become characters.
    pub name: String,
    /// See [`surface_flags`].
    pub surface_flags: u32,
    /// See [`content_flags`].
    pub content_flags: u32,
}

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// Index into `nodes`.
    Node(u32),
    /// Index into `leafs`.
    Leaf(u32),
}

/// An inner node of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index into `planes`.
    pub plane: u32,
    /// Front and back.
    pub children: [Child; 2],
    /// Bounds, rounded outwards.
    pub min: IVec3,
    /// Bounds, rounded outwards.
    pub max: IVec3,
}

/// A leaf of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Visibility cluster; `None` is opaque or outside.
    pub cluster: Option<u32>,
    /// Area; `None` is outside or the portal itself.
    pub area: Option<u32>,
    /// Bounds, rounded outwards.
    pub min: IVec3,
    /// Bounds, rounded outwards.
    pub max: IVec3,
    /// First entry in `leaf_surfaces`.
    pub first_surface: u32,
    /// Entries in `leaf_surfaces`.
    pub surface_count: u32,
    /// First entry in `leaf_brushes`.
    pub first_brush: u32,
    /// Entries in `leaf_brushes`.
    pub brush_count: u32,
}

/// The world (number 0) or an inline brush model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Bounds; those of model 0 place the light grid and may be smaller than the world.
    pub bounds: Aabb,
    /// First entry in `surfaces`.
    pub first_surface: u32,
    /// Entries in `surfaces`.
    pub surface_count: u32,
    /// First entry in `brushes`.
    pub first_brush: u32,
    /// Entries in `brushes`.
    pub brush_count: u32,
}

/// A convex solid: the points behind all its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brush {
    /// First entry in `brush_sides`.
    pub first_side: u32,
    /// Entries in `brush_sides`; 0 for a brush that had to be dropped.
    pub side_count: u32,
    /// Index into `shaders`: its content flags are the brush's.
    pub shader: u32,
}

/// A side of a brush; the plane's normal points outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrushSide {
    /// Index into `planes`.
    pub plane: u32,
    /// Index into `shaders`.
    pub shader: u32,
}

/// A vertex of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawVert {
    /// Position, game units.
    pub position: Vec3,
    /// Texture coordinates, repeating.
    pub st: Vec2,
    /// Lightmap coordinates of each style slot, 0 to 1 over the page.
    pub lightmap_st: [Vec2; STYLE_SLOTS],
    /// Normal; may be zero.
    pub normal: Vec3,
    /// Vertex light (RGB, before overbright) and alpha of each style slot.
    pub colour: [[u8; 4]; STYLE_SLOTS],
}

/// A fog volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fog {
    /// Material name with the fog parameters.
    pub material: String,
    /// Index into `brushes`; `None` is the whole world.
    pub brush: Option<u32>,
    /// Side of the brush that is seen; `None` for none.
    pub visible_side: Option<u32>,
}

/// What a surface is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceKind {
    /// Flat, or a merged surface with a lightmap of its own (then the normal is zero).
    Planar,
    /// Bézier patch of `width` × `height` control points, both odd.
    Patch {
        /// Control points in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// Loose triangles, vertex-lit.
    TriangleSoup,
    /// A flare: no geometry.
    Flare,
    /// Unknown, unsound, or not drawn by this format.
    Skipped,
}

/// Where a surface gets its light from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightmapIndex {
    /// A page number, in range of the internal pages if there are any.
    Page(u32),
    /// −1: none; the engine lights it like a model that was never set up.
    None,
    /// −2: white.
    White,
    /// −3 and every other negative number: by vertex.
    Vertex,
}

/// A drawable part of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Index into `shaders`.
    pub shader: u32,
    /// Index into `fogs`.
    pub fog: Option<u32>,
    /// Kind and, for patches, size.
    pub kind: SurfaceKind,
    /// First entry in `draw_verts`.
    pub first_vert: u32,
    /// Entries in `draw_verts`.
    pub vert_count: u32,
    /// First entry in `draw_indexes`; ranges may be shared between surfaces.
    pub first_index: u32,
    /// Entries in `draw_indexes`, a multiple of 3; 0 for patches.
    pub index_count: u32,
    /// Styles of the lightmap slots; [`STYLE_NONE`] ends the list.
    pub lightmap_styles: [u8; STYLE_SLOTS],
    /// Styles of the vertex colour slots.
    pub vertex_styles: [u8; STYLE_SLOTS],
    /// Source of light per slot.
    pub lightmap: [LightmapIndex; STYLE_SLOTS],
    /// Corner of the lightmap: flares keep their origin here.
    pub lightmap_origin: Vec3,
    /// Lightmap axes and normal; patches keep the bounds of their level-of-detail group in the first two.
    pub lightmap_vecs: [Vec3; 3],
}

/// A point of the legacy light grid, 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightGridPoint {
    /// Light from everywhere, RGB, before overbright.
    pub ambient: [u8; 3],
    /// Light from the direction, RGB, before overbright.
    pub directed: [u8; 3],
    /// Angle from +Z of the direction towards the light, 255 for a full turn.
    pub zenith: u8,
    /// Angle from +X towards +Y, 255 for a full turn.
    pub azimuth: u8,
}

/// Which cluster sees which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visibility {
    /// Number of clusters.
    pub clusters: u32,
    /// Bytes of one row.
    pub row_bytes: u32,
    /// `clusters` rows.
    pub rows: Arc<[u8]>,
}

impl Visibility {
    /// Whether cluster `to` is potentially visible from `from`; true when either is out of range.
    pub fn sees(&self, from: u32, to: u32) -> bool {
        if from >= self.clusters || to >= self.clusters {
            return true;
        }
        let at = u64::from(from) * u64::from(self.row_bytes) + u64::from(to >> 3);
        usize::try_from(at)
            .ok()
            .and_then(|at| self.rows.get(at))
            .is_none_or(|byte| byte & (1 << (to & 7)) != 0)
    }
}

/// Coefficients of one SH point: nine basis functions, each RGB, byte units before overbright.
///
/// Order: 1, y, z, x, xy, yz, 3z²−1, xz, x²−y². Negative and very large values are legal; non-finite ones occur in
/// damaged files and are kept.
pub type ShPoint = [[f32; 3]; 9];

/// The spherical-harmonics light grid, lump 18.
#[derive(Clone, Debug, PartialEq)]
pub struct ShGrid {
    /// Placement; from the lump's own head, independent of the legacy grid.
    pub lattice: Lattice,
    /// One per lattice point, x fastest.
    pub points: Vec<ShPoint>,
}
