use std::collections::BTreeSet;

use glam::{EulerRot, Mat3, Vec3};

use crate::format::bsp::{Bsp, DrawVert, LightmapIndex, SurfaceKind, surface_flags};
use crate::format::entities::Entity;
use crate::job::Warnings;
use crate::math::Aabb;
use crate::scene::flares::{Flare, flares};
use crate::scene::lightmaps::LightmapPages;
use crate::scene::material::MaterialId;
use crate::scene::patch::{PatchGrid, PatchInput, patch_levels, tessellate};
use crate::scene::resolve::Use;
use crate::scene::styles::{patch_slot_lights, slot_light, styled_light};
use crate::scene::types::{
    LightingClass, ModelInstance, SlotLight, StyledLight, Surface, SurfaceId, Vertex,
};

/// Vertices, triangles and surfaces of a map.
#[derive(Default)]
pub(super) struct Geometry {
    pub(super) vertices: Vec<Vertex>,
    pub(super) indices: Vec<u32>,
    pub(super) surfaces: Vec<Surface>,
    pub(super) bounds: Option<Aabb>,
    /// Styles in use but 0.
    pub(super) styles: BTreeSet<u8>,
    pub(super) slot_lights: Vec<SlotLight>,
    pub(super) flares: Vec<Flare>,
    foliage_vertices: usize,
}

/// Vertices of all foliage at most, beside [`FOLIAGE_PER_VERT`]: a damaged file may ask for the square of its size.
const FOLIAGE_VERTICES: usize = 150_000;
/// Vertices of foliage for each vertex of the file: a mesh has rarely more, and an instance is one.
const FOLIAGE_PER_VERT: usize = 8;

/// Where each inline model stands: the first entity that names it places it.
pub(super) fn place_models(bsp: &Bsp) -> Vec<ModelInstance> {
    let mut models = vec![
        ModelInstance {
            entity: None,
            origin: Vec3::ZERO,
            rotation: Mat3::IDENTITY,
        };
        bsp.models.len()
    ];
    for (number, entity) in bsp.entities.list.iter().enumerate() {
        let model = entity
            .inline_model()
            .and_then(|model| models.get_mut(model));
        if let Some(model) = model.filter(|model| model.entity.is_none()) {
            *model = ModelInstance {
                entity: u32::try_from(number).ok(),
                origin: entity.origin(),
                rotation: rotation(entity),
            };
        }
    }
    models
}

/// Rotation by `angles` (pitch, yaw, roll in degrees). `angle` is a direction of movement on movers and turns nothing.
fn rotation(entity: &Entity) -> Mat3 {
    let class = entity.classname().to_ascii_lowercase();
    let is_mover = [
        "func_door",
        "func_button",
        "func_plat",
        "func_train",
        "trigger_",
    ]
    .iter()
    .any(|prefix| class.starts_with(prefix));
    match entity.vector(&["angles"]) {
        Some(angles) if !is_mover => {
            let [pitch, yaw, roll] = angles.to_array().map(f32::to_radians);
            Mat3::from_euler(EulerRot::ZYX, yaw, pitch, roll)
        }
        _ => Mat3::IDENTITY,
    }
}

/// How a surface is lit: soups and flares by vertex whatever they say, by pages only when they exist and hold light.
fn lighting_class(pages: &LightmapPages, surface: &crate::format::bsp::Surface) -> LightingClass {
    if matches!(surface.kind, SurfaceKind::TriangleSoup | SurfaceKind::Flare) {
        return LightingClass::Vertex;
    }
    match surface.lightmap[0] {
        LightmapIndex::Page(page) if pages.is_light(page) => LightingClass::Lightmap,
        LightmapIndex::Page(_) | LightmapIndex::Vertex => LightingClass::Vertex,
        LightmapIndex::None => LightingClass::None,
        LightmapIndex::White => LightingClass::White,
    }
}

/// Builds all surfaces; `material` says which material a surface has.
pub(super) fn build(
    bsp: &Bsp,
    models: &[ModelInstance],
    pages: &LightmapPages,
    warnings: &Warnings,
    mut material: impl FnMut(&crate::format::bsp::Surface, LightingClass, Use) -> MaterialId,
) -> Geometry {
    let owner = model_of_surface(bsp);
    let (patches, patch_of) = collect_patches(bsp, models, &owner);
    let levels = patch_levels(&patches, bsp.draw_verts.len());
    let mut geometry = Geometry {
        flares: flares(bsp, models, &owner),
        ..Geometry::default()
    };
    let shining: Vec<SurfaceId> = geometry.flares.iter().map(|flare| flare.surface).collect();
    let mut shining = shining.into_iter().peekable();
    for (number, raw) in bsp.surfaces.iter().enumerate() {
        let class = lighting_class(pages, raw);
        let first_index = geometry.indices.len() as u32;
        let mut styled = None;
        match (raw.kind, patch_of[number]) {
            (SurfaceKind::Patch { .. }, Some(patch)) => {
                let (patch, levels) = (&patches[patch], &levels[patch]);
                styled = geometry.add_styles(styled_light(raw, pages), || {
                    patch_slot_lights(patch, levels, verts_of(bsp, raw))
                });
                geometry.add_grid(&tessellate(patch, levels));
            }
            (SurfaceKind::Planar | SurfaceKind::TriangleSoup, _) if is_drawn(bsp, raw) => {
                styled = geometry.add_styles(styled_light(raw, pages), || {
                    verts_of(bsp, raw).iter().map(slot_light).collect()
                });
                geometry.add_triangles(bsp, raw, &models[owner[number] as usize]);
            }
            (SurfaceKind::Foliage { mesh, instances }, _) if is_drawn(bsp, raw) => {
                let place = &models[owner[number] as usize];
                if !geometry.add_foliage(bsp, raw, [mesh, instances], place) {
                    let text =
                        format!("surface {number}: more foliage than is sensible, not drawn");
                    warnings.push("W100", text);
                }
            }
            _ => {}
        }
        let indices = first_index..geometry.indices.len() as u32;
        let is_flare = shining.next_if_eq(&SurfaceId(number as u32)).is_some();
        let use_of = if indices.is_empty() && !is_flare {
            Use::NoGeometry
        } else {
            Use::Drawn
        };
        let used = geometry.indices[first_index as usize..].iter();
        let bounds =
            Aabb::from_points(used.map(|index| geometry.vertices[*index as usize].position));
        if !bounds.is_empty() {
            geometry.bounds = Some(geometry.bounds.map_or(bounds, |all| all.union(bounds)));
        }
        geometry.surfaces.push(Surface {
            id: SurfaceId(number as u32),
            kind: raw.kind,
            material: material(raw, class, use_of),
            lightmap: match raw.lightmap[0] {
                LightmapIndex::Page(page) if class == LightingClass::Lightmap => Some(page),
                _ => None,
            },
            lighting: class,
            styled,
            fog: raw.fog,
            indices,
            bounds,
            model: owner[number],
        });
    }
    geometry
}

/// Whether the BSP's flags let it be drawn at all.
fn is_drawn(bsp: &Bsp, surface: &crate::format::bsp::Surface) -> bool {
    bsp.shaders
        .get(surface.shader as usize)
        .is_some_and(|shader| shader.surface_flags & surface_flags::NO_DRAW == 0)
}

fn model_of_surface(bsp: &Bsp) -> Vec<u32> {
    let mut owner = vec![0; bsp.surfaces.len()];
    for (number, model) in bsp.models.iter().enumerate().skip(1) {
        let first = model.first_surface as usize;
        let range = first..first + model.surface_count as usize;
        if let Some(slots) = owner.get_mut(range) {
            slots.fill(number as u32);
        }
    }
    // Without any model there is nowhere to stand: `build` needs one placement a surface.
    owner
}

fn collect_patches(
    bsp: &Bsp,
    models: &[ModelInstance],
    owner: &[u32],
) -> (Vec<PatchInput>, Vec<Option<usize>>) {
    let mut patches = Vec::new();
    let mut patch_of = vec![None; bsp.surfaces.len()];
    for (number, raw) in bsp.surfaces.iter().enumerate() {
        let SurfaceKind::Patch { width, height } = raw.kind else {
            continue;
        };
        if !is_drawn(bsp, raw) {
            continue;
        }
        let place = &models[owner[number] as usize];
        let first = raw.first_vert as usize;
        let controls = bsp
            .draw_verts
            .get(first..first + raw.vert_count as usize)
            .unwrap_or_default();
        patch_of[number] = Some(patches.len());
        patches.push(PatchInput {
            width: width as usize,
            height: height as usize,
            controls: controls
                .iter()
                .map(|vert| place_vertex(vert, vert.normal, place))
                .collect(),
        });
    }
    (patches, patch_of)
}

fn verts_of<'a>(bsp: &'a Bsp, raw: &crate::format::bsp::Surface) -> &'a [DrawVert] {
    let first = raw.first_vert as usize;
    let range = first..first + raw.vert_count as usize;
    bsp.draw_verts.get(range).unwrap_or_default()
}

fn place_vertex(vert: &DrawVert, normal: Vec3, place: &ModelInstance) -> Vertex {
    Vertex {
        position: place.rotation * vert.position + place.origin,
        normal: (place.rotation * normal).normalize_or_zero(),
        st: vert.st,
        lightmap_st: vert.lightmap_st[0],
        colour: vert.colour[0],
    }
}

impl Geometry {
    /// Keeps the slots of the surface whose vertices are added next.
    fn add_styles(
        &mut self,
        light: Option<StyledLight>,
        slot_lights: impl FnOnce() -> Vec<SlotLight>,
    ) -> Option<StyledLight> {
        let light = StyledLight {
            first_vertex: self.vertices.len() as u32,
            first_light: self.slot_lights.len() as u32,
            ..light?
        };
        self.slot_lights.extend(slot_lights());
        self.styles
            .extend(light.styles().filter(|style| *style != 0));
        Some(light)
    }

    fn add_triangles(
        &mut self,
        bsp: &Bsp,
        raw: &crate::format::bsp::Surface,
        place: &ModelInstance,
    ) {
        let base = self.vertices.len() as u32;
        let verts = verts_of(bsp, raw);
        // The engine lights a flat face by its plane; merged surfaces have a zero normal there.
        let plane_normal = raw.lightmap_vecs[2];
        let is_flat = raw.kind == SurfaceKind::Planar
            && plane_normal.is_finite()
            && plane_normal != Vec3::ZERO;
        self.vertices.extend(verts.iter().map(|vert| {
            let normal = if is_flat { plane_normal } else { vert.normal };
            place_vertex(vert, normal, place)
        }));
        self.add_indexes(bsp, raw, base);
    }

    fn add_indexes(&mut self, bsp: &Bsp, raw: &crate::format::bsp::Surface, base: u32) {
        let first = raw.first_index as usize;
        let indexes = bsp
            .draw_indexes
            .get(first..first + raw.index_count as usize)
            .unwrap_or_default();
        self.indices
            .extend(indexes.iter().map(|index| base + index));
    }

    /// The mesh once at every instance, in the instance's colour; false when that would be too much.
    fn add_foliage(
        &mut self,
        bsp: &Bsp,
        raw: &crate::format::bsp::Surface,
        [mesh, instances]: [u32; 2],
        place: &ModelInstance,
    ) -> bool {
        let Some((mesh, instance_list)) = verts_of(bsp, raw).split_at_checked(mesh as usize) else {
            return true;
        };
        if instances == 0 {
            let base = self.vertices.len() as u32;
            let placed = mesh
                .iter()
                .map(|vert| place_vertex(vert, vert.normal, place));
            self.vertices.extend(placed);
            self.add_indexes(bsp, raw, base);
            return true;
        }
        let records = mesh.len().max(raw.index_count as usize);
        self.foliage_vertices = self
            .foliage_vertices
            .saturating_add(records.saturating_mul(instance_list.len()));
        if self.foliage_vertices > FOLIAGE_VERTICES + FOLIAGE_PER_VERT * bsp.draw_verts.len() {
            return false;
        }
        for instance in instance_list {
            let base = self.vertices.len() as u32;
            let placed = mesh.iter().map(|vert| {
                let moved = DrawVert {
                    position: vert.position + instance.position,
                    colour: instance.colour,
                    ..*vert
                };
                place_vertex(&moved, vert.normal, place)
            });
            self.vertices.extend(placed);
            self.add_indexes(bsp, raw, base);
        }
        true
    }

    /// Two triangles a cell, clockwise seen from the front.
    fn add_grid(&mut self, grid: &PatchGrid) {
        let base = self.vertices.len() as u32;
        self.vertices.extend_from_slice(&grid.vertices);
        let at = |x: usize, y: usize| base + (y * grid.width + x) as u32;
        for y in 0..grid.height - 1 {
            for x in 0..grid.width - 1 {
                let (a, b, c, d) = (at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1));
                self.indices.extend([a, c, b, b, c, d]);
            }
        }
    }
}
