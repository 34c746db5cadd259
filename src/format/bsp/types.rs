use std::sync::{Arc, OnceLock};

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
/// Style of a slot that holds nothing while later ones may.
pub const STYLE_UNUSED: u8 = 254;
/// Side of an internal lightmap page of IBSP and RBSP, texels; FBSP's are larger, see [`Bsp::lightmap_size`].
pub const LIGHTMAP_SIZE: usize = 128;

/// Surface flags in the numbering of the IBSP games; other games' are translated on reading, see [`Shader`].
pub mod surface_flags {
    /// A sky: not drawn as geometry, lets suns in.
    pub const SKY: u32 = 0x4;
    /// Never drawn.
    pub const NO_DRAW: u32 = 0x80;
    /// Cuts the tree, never drawn.
    pub const HINT: u32 = 0x100;
    /// Ignored by the compiler.
    pub const SKIP: u32 = 0x200;
    /// No lightmap: vertex-lit.
    pub const NO_LIGHTMAP: u32 = 0x400;
    /// Vertex-lit.
    pub const POINT_LIGHT: u32 = 0x800;
    /// Does not block.
    pub const NON_SOLID: u32 = 0x4000;
}

/// Content flags in the numbering of the IBSP games; other games' are translated on reading, see [`Shader`].
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
    /// Blocks players only.
    pub const PLAYER_CLIP: u32 = 0x1_0000;
    /// Blocks monsters only.
    pub const MONSTER_CLIP: u32 = 0x2_0000;
    /// Not used to cut the tree.
    pub const DETAIL: u32 = 0x800_0000;
    /// Used to cut the tree.
    pub const STRUCTURAL: u32 = 0x1000_0000;
    /// Touched by entities only.
    pub const TRIGGER: u32 = 0x4000_0000;
    /// Dropped items vanish.
    pub const NO_DROP: u32 = 0x8000_0000;
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
    /// Entry 17 of IBSP: advertisements of Quake Live (128-byte records).
    Advertisements,
    /// Entry 17 of RBSP and FBSP: which palette entry of lump 15 each point of the light grid has.
    LightGridArray,
    /// Entry 18: the spherical-harmonics grid of the SH commit.
    LightGridSh,
}

impl LumpKind {
    /// All kinds of IBSP in directory order. A file's own kinds: [`Directory::kinds`].
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
        let known = match self {
            Self::LightGridArray => Self::Advertisements,
            other => other,
        };
        Self::ALL
            .iter()
            .position(|kind| *kind == known)
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
            Self::LightGridArray => "light grid array",
            Self::LightGridSh => "SH light grid",
        }
    }
}

/// A map file in the engine's vocabulary, every index in range, together with the bytes it came from.
///
/// Change lighting through [`Bsp::with_light_grid`] and its siblings: they record which lumps [`crate::format::bsp::write`]
/// has to replace. Everything else is written back byte for byte.
#[derive(Clone, Debug, Default)]
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
    /// Lump 14: pages of [`Bsp::lightmap_size`] squared, RGB, top row first, as stored (before overbright).
    pub lightmaps: Vec<LightmapPage>,
    /// Side of a page of lump 14, texels: 128, in FBSP 512.
    pub lightmap_size: u32,
    /// Lump 15, x fastest; its placement follows from model 0 and worldspawn, see `scene`. Of a [`StyledGrid`] it holds
    /// slot 0 of every point, and zeros for points without a palette entry.
    pub light_grid: Vec<LightGridPoint>,
    /// Lumps 15 and 17 of RBSP and FBSP.
    pub styled_grid: Option<StyledGrid>,
    /// Lump 16; `None` when empty or unsound: everything is visible.
    pub visibility: Option<Visibility>,
    /// The spherical-harmonics grid, whichever container it came from.
    pub sh_grid: Option<ShGrid>,
    /// Where `sh_grid` was found; `None` when the map had none.
    pub sh_container: Option<ShContainer>,
    /// What had to be dropped or mended while reading.
    pub warnings: Vec<BspWarning>,
    /// The whole file as read.
    pub(crate) source: Arc<[u8]>,
    /// New contents of replaced lumps.
    pub(crate) replaced: std::collections::BTreeMap<LumpKind, Replacement>,
    /// The grid file beside the map, as read.
    pub(crate) sidecar: Option<Arc<[u8]>>,
}

impl Bsp {
    /// The leaf that holds `point`; `None` when the file has no usable tree.
    ///
    /// Behind is `distance < 0`; a point on a plane is in front. The tree is free of cycles (checked on reading).
    pub fn leaf_at(&self, point: Vec3) -> Option<&Leaf> {
        self.leafs.get(self.leaf_number_at(point)?)
    }

    /// The number of [`Bsp::leaf_at`]'s leaf.
    pub fn leaf_number_at(&self, point: Vec3) -> Option<usize> {
        let mut node = self.nodes.first()?;
        loop {
            let plane = self.planes.get(node.plane as usize)?;
            let [front, behind] = node.children;
            let is_behind = plane.distance(point) < 0.0;
            match if is_behind { behind } else { front } {
                Child::Node(next) => node = self.nodes.get(next as usize)?,
                Child::Leaf(leaf) => return Some(leaf as usize),
            }
        }
    }
}

/// New contents of a lump.
#[derive(Clone, Debug)]
pub(crate) enum Replacement {
    /// These bytes.
    Bytes(Arc<[u8]>),
    /// Those of the map's SH grid, made when somebody asks for them.
    ShGrid(OnceLock<Arc<[u8]>>),
}

/// One page of light, RGB bytes, row 0 is v = 0.
pub type LightmapPage = Arc<[u8]>;

/// A material as the BSP names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Name without the NUL and what follows; Latin-1 bytes become characters.
    pub name: String,
    /// In the numbering of [`surface_flags`] whatever the file's; bits without a counterpart there are dropped.
    pub surface_flags: u32,
    /// In the numbering of [`content_flags`] whatever the file's; bits without a counterpart there are dropped.
    pub content_flags: u32,
    /// Surface and content flags as the file holds them, in its own game's numbering.
    pub stored_flags: [u32; 2],
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
    /// Enemy Territory's foliage: a small mesh drawn once for each instance. The surface's vertices are the mesh's, then
    /// one for each instance whose position is the instance's place and whose colour is its light.
    Foliage {
        /// Vertices of the mesh.
        mesh: u32,
        /// Instances behind them; 0 where the format has no foliage: then the mesh stands once, as it is.
        instances: u32,
    },
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

/// A point of the light grid of RBSP and FBSP, 30 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StyledGridPoint {
    /// Light from everywhere of each style slot, RGB, before overbright.
    pub ambient: [[u8; 3]; STYLE_SLOTS],
    /// Light from the direction of each style slot, RGB, before overbright.
    pub directed: [[u8; 3]; STYLE_SLOTS],
    /// Style of each slot; [`STYLE_NONE`] ends the list.
    pub styles: [u8; STYLE_SLOTS],
    /// As in [`LightGridPoint`].
    pub zenith: u8,
    /// As in [`LightGridPoint`].
    pub azimuth: u8,
}

/// No light, style 0 alone.
impl Default for StyledGridPoint {
    fn default() -> Self {
        Self {
            ambient: [[0; 3]; STYLE_SLOTS],
            directed: [[0; 3]; STYLE_SLOTS],
            styles: [0, STYLE_NONE, STYLE_NONE, STYLE_NONE],
            zenith: 0,
            azimuth: 0,
        }
    }
}

impl StyledGridPoint {
    /// The point in the legacy form: the light of slot 0.
    pub fn first_slot(&self) -> LightGridPoint {
        LightGridPoint {
            ambient: self.ambient[0],
            directed: self.directed[0],
            zenith: self.zenith,
            azimuth: self.azimuth,
        }
    }
}

/// The light grid of RBSP and FBSP as stored: distinct points, and which of them each lattice point has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledGrid {
    /// Lump 15.
    pub palette: Vec<StyledGridPoint>,
    /// Lump 17: index into `palette` of each lattice point, x fastest. May be out of range: compilers really write one
    /// past the end when the palette is full.
    pub indices: Vec<u16>,
}

impl StyledGrid {
    /// The record of lattice point `index`; `None` when it is missing.
    pub fn point(&self, index: usize) -> Option<&StyledGridPoint> {
        self.palette.get(usize::from(*self.indices.get(index)?))
    }

    /// Lattice points whose index is not in the palette.
    pub fn missing(&self) -> usize {
        let outside = |index: &&u16| usize::from(**index) >= self.palette.len();
        self.indices.iter().filter(outside).count()
    }

    /// Slot 0 of every lattice point; zeros where it is missing.
    pub fn first_slots(&self) -> Vec<LightGridPoint> {
        (0..self.indices.len())
            .map(|index| {
                self.point(index)
                    .map(StyledGridPoint::first_slot)
                    .unwrap_or_default()
            })
            .collect()
    }
}

/// Where the spherical-harmonics grid is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShContainer {
    /// Lump 18 of an IBSP 47 with 19 entries, as the SH commit writes it. Stock engines refuse such a map.
    #[default]
    V47,
    /// A block behind the last lump; the map keeps its version, and stock engines load it.
    Bspx,
    /// A file of its own beside the map.
    Sidecar,
}

impl ShContainer {
    /// All, in the order of lists.
    pub const ALL: [Self; 3] = [Self::V47, Self::Bspx, Self::Sidecar];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::V47 => "v47",
            Self::Bspx => "bspx",
            Self::Sidecar => "sidecar",
        }
    }
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

/// The spherical-harmonics light grid, lump 18. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct ShGrid {
    /// Placement; from the lump's own head, independent of the legacy grid.
    pub lattice: Lattice,
    /// One per lattice point, x fastest.
    pub points: Arc<Vec<ShPoint>>,
}
