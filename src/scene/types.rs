use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{Mat3, Vec2, Vec3};

use crate::format::bsp::{Bsp, STYLE_SLOTS, SurfaceKind};
use crate::format::entities::Entities;
use crate::format::map_file;
use crate::format::srf::SurfaceExtras;
use crate::math::Aabb;
use crate::scene::curve_detail::CurveDetail;
use crate::scene::deluxe::Deluxe;
use crate::scene::doors::Door;
use crate::scene::fog::FogVolume;
use crate::scene::image::Image;
use crate::scene::light_scale::LightScale;
use crate::scene::lighting::Lighting;
use crate::scene::lightmaps::LightmapPages;
use crate::scene::material::{Material, MaterialId};
use crate::scene::sources::Sources;
use crate::scene::spawn::SpawnPoint;

/// Number of a surface in the BSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceId(pub u32);

/// A map ready to be drawn, traced, lit and sampled.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Map name: file stem, without folder and extension.
    pub name: String,
    /// The file it was built from. Tree, brushes, planes and raw surfaces are read from here.
    pub bsp: Arc<Bsp>,
    /// Box around all drawn geometry; unlike model 0's bounds never shrunk by a light-grid brush.
    pub bounds: Aabb,
    /// How finely its curves are divided.
    pub curves: CurveDetail,
    /// Vertices of all surfaces, patches tessellated, inline models moved to their place, game units.
    pub vertices: Vec<Vertex>,
    /// Triangles, absolute into `vertices`; clockwise seen from the front, as in the file.
    pub indices: Vec<u32>,
    /// One per BSP surface, same order.
    pub surfaces: Vec<Surface>,
    /// Materials by name and [`LightingClass`].
    pub materials: Vec<Material>,
    /// Images; number 0 is the stand-in for missing ones, number 1 is white.
    pub images: Vec<Image>,
    /// One per BSP model.
    pub models: Vec<ModelInstance>,
    /// What can be opened and shut, in the order of the entities.
    pub doors: Vec<Door>,
    /// One per record of `bsp.fogs`; `None` for those that draw nothing.
    pub fogs: Vec<Option<FogVolume>>,
    /// Lightmap pages, from the BSP or from images beside it.
    pub lightmaps: LightmapPages,
    /// Whether, and by which sign, every second page holds directions of light instead of light.
    pub deluxe: Option<Deluxe>,
    /// The overbright and clamp that the map's game shows stored light with.
    pub light_scale: LightScale,
    /// Light styles that surfaces use, ascending, without 0 (always on).
    pub light_styles: Vec<u8>,
    /// Light of the vertices of surfaces with [`Surface::styled`] beyond slot 0.
    pub slot_lights: Vec<SlotLight>,
    /// The grids that the file holds.
    pub lighting: Lighting,
    /// Start views, best first; may be empty.
    pub spawns: Vec<SpawnPoint>,
    /// Entities of the `.map` beside the BSP, or of the `.ent` where there is no `.map`.
    pub map_source: Option<MapSource>,
    /// The `.srf` beside the BSP, when there is one.
    pub surface_extras: Option<SurfaceExtras>,
    /// Where its files were looked for and found.
    pub sources: Sources,
}

/// What a file with lights is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapSourceKind {
    /// `.map`: what the map was compiled from.
    #[default]
    Map,
    /// `.ent`: the text of an entity lump, for instance one that was exported and edited.
    Ent,
}

impl MapSourceKind {
    /// By the file's extension; whatever is not `.ent` counts as a `.map`.
    pub fn of(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("ent") {
            Self::Ent
        } else {
            Self::Map
        }
    }

    /// The extension with its dot, for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Map => ".map",
            Self::Ent => ".ent",
        }
    }
}

/// Entities from a `.map` or `.ent` file, for lights that the BSP no longer holds.
#[derive(Clone, Debug)]
pub struct MapSource {
    /// Where it was found, for display.
    pub origin: PathBuf,
    /// What file it is.
    pub kind: MapSourceKind,
    /// All entities; brushes were skipped.
    pub entities: Entities,
}

impl MapSource {
    /// What a chosen file holds; `None` when it holds no light.
    pub fn chosen(origin: PathBuf, bytes: &[u8]) -> Option<Self> {
        Some(Self {
            kind: MapSourceKind::of(&origin),
            entities: map_file::lights(bytes)?,
            origin,
        })
    }
}

/// A vertex as drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// World position.
    pub position: Vec3,
    /// Unit normal, or zero where the file has none.
    pub normal: Vec3,
    /// Texture coordinates.
    pub st: Vec2,
    /// Lightmap coordinates of slot 0, 0 to 1 over the page; zero when the surface has no page.
    pub lightmap_st: Vec2,
    /// Stored vertex light of slot 0 (before overbright) and alpha.
    pub colour: [u8; 4],
}

/// Light of a vertex in the style slots behind slot 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotLight {
    /// Lightmap coordinates of slots 1 to 3.
    pub lightmap_st: [Vec2; STYLE_SLOTS - 1],
    /// Stored vertex light (before overbright) and alpha of slots 1 to 3.
    pub colour: [[u8; 4]; STYLE_SLOTS - 1],
}

/// Which styles light a surface, for those that have more than style 0 (RBSP and FBSP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StyledLight {
    /// Style and lightmap page of each slot; `None` when it is not used or has no page that holds light.
    pub pages: [Option<(u8, u32)>; STYLE_SLOTS],
    /// Style of the vertex light of each slot; `None` when it is not used.
    pub vertex: [Option<u8>; STYLE_SLOTS],
    /// First vertex of the surface in [`Scene::vertices`].
    pub first_vertex: u32,
    /// Index into [`Scene::slot_lights`] that belongs to it; the others follow in order.
    pub first_light: u32,
}

impl StyledLight {
    /// All styles in use; 0 is among them when it is.
    pub fn styles(&self) -> impl Iterator<Item = u8> {
        let pages = self.pages.iter().flatten().map(|(style, _)| *style);
        pages.chain(self.vertex.iter().flatten().copied())
    }
}

/// How a surface is lit; part of what makes two materials of one name differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LightingClass {
    /// By a lightmap page.
    Lightmap,
    /// By vertex colours (lightmap number −3, triangle soups, bad page numbers).
    Vertex,
    /// Lightmap number −1: no light set up.
    None,
    /// Lightmap number −2: white.
    White,
}

/// A drawable surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Its number in the BSP.
    pub id: SurfaceId,
    /// Kind in the file.
    pub kind: SurfaceKind,
    /// Index into `materials`.
    pub material: MaterialId,
    /// Lightmap page when the class is [`LightingClass::Lightmap`].
    pub lightmap: Option<u32>,
    /// How it is lit.
    pub lighting: LightingClass,
    /// Its styles, when there is more than style 0.
    pub styled: Option<StyledLight>,
    /// Index into `bsp.fogs`.
    pub fog: Option<u32>,
    /// Range in `Scene::indices`; empty when it has no geometry or is not drawn (no-draw, flares, unsound).
    pub indices: Range<u32>,
    /// Box around it in the world.
    pub bounds: Aabb,
    /// Inline model that it belongs to; 0 is the world.
    pub model: u32,
}

/// Where an inline model stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelInstance {
    /// Entity that shows it; `None` for the world and for models that no entity names.
    pub entity: Option<u32>,
    /// World position of the model's own origin.
    pub origin: Vec3,
    /// Rotation by the entity's angles.
    pub rotation: Mat3,
}

impl Scene {
    /// Number of areas: the highest of a leaf and one more; 0 without leafs.
    pub fn area_count(&self) -> usize {
        let areas = self.bsp.leafs.iter().filter_map(|leaf| leaf.area);
        areas.max().map_or(0, |highest| highest as usize + 1)
    }

    /// The door that surface `surface` belongs to, by its number in [`Scene::doors`].
    pub fn door_of(&self, surface: SurfaceId) -> Option<usize> {
        let model = self.surfaces.get(surface.0 as usize)?.model;
        self.doors.iter().position(|door| door.model == model)
    }

    /// Content flags of brush `brush`.
    pub fn brush_contents(&self, brush: u32) -> u32 {
        let bsp = &self.bsp;
        let Some(brush) = bsp.brushes.get(brush as usize) else {
            return 0;
        };
        bsp.shaders
            .get(brush.shader as usize)
            .map_or(0, |shader| shader.content_flags)
    }

    /// Surfaces with something to draw.
    pub fn drawn_surfaces(&self) -> impl Iterator<Item = &Surface> {
        self.surfaces.iter().filter(|surface| {
            let material = self.material_of(surface);
            !surface.indices.is_empty() && (material.is_sky() || !material.stages.is_empty())
        })
    }

    /// The vertices of the triangle that begins at `first_index` of [`Scene::indices`]; `None` where there is none.
    pub fn corners(&self, first_index: u32) -> Option<[&Vertex; 3]> {
        let first = first_index as usize;
        let [a, b, c] = *self.indices.get(first..first.checked_add(3)?)?.as_array()?;
        let vertex = |index: u32| self.vertices.get(index as usize);
        Some([vertex(a)?, vertex(b)?, vertex(c)?])
    }

    /// The material of `surface`.
    pub fn material_of(&self, surface: &Surface) -> &Material {
        &self.materials[surface.material.0 as usize]
    }
}
