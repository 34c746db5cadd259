use std::collections::{BTreeMap, BTreeSet};

use glam::{EulerRot, Mat3, Vec3};

use crate::format::bsp::{Bsp, DrawVert, LightmapIndex, SurfaceKind, surface_flags};
use crate::format::entities::Entity;
use crate::job::Warnings;
use crate::math::Aabb;
use crate::scene::curve_detail::CurveDetail;
use crate::scene::lightmaps::LightmapPages;
use crate::scene::material::MaterialId;
use crate::scene::mesh::Mesh;
use crate::scene::patch::{PatchInput, patch_levels};
use crate::scene::resolve::Use;
use crate::scene::stitch::{Budget, stitch};
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

/// How a surface is lit: soups by vertex whatever they say, by pages only when they exist and hold light.
fn lighting_class(pages: &LightmapPages, surface: &crate::format::bsp::Surface) -> LightingClass {
    if surface.kind == SurfaceKind::TriangleSoup {
        return LightingClass::Vertex;
    }
    match surface.lightmap[0] {
        LightmapIndex::Page(page) if pages.is_light(page) => LightingClass::Lightmap,
        LightmapIndex::Page(_) | LightmapIndex::Vertex => LightingClass::Vertex,
        LightmapIndex::None => LightingClass::None,
        LightmapIndex::White => LightingClass::White,
    }
}

/// All surfaces on their own, before their seams are closed.
pub(super) struct Draft {
    meshes: Vec<Mesh>,
    surfaces: Vec<Surface>,
    styles: BTreeSet<u8>,
    file_verts: usize,
}

/// Builds all surfaces; `material` says which material a surface has.
pub(super) fn build(
    bsp: &Bsp,
    models: &[ModelInstance],
    pages: &LightmapPages,
    detail: CurveDetail,
    warnings: &Warnings,
    mut material: impl FnMut(SurfaceId, LightingClass, Use) -> MaterialId,
) -> Draft {
    let owner = model_of_surface(bsp);
    let (patches, patch_of) = collect_patches(bsp, models, &owner);
    let levels = patch_levels(&patches, bsp.draw_verts.len(), detail);
    let mut foliage = Foliage::new(bsp);
    let mut draft = Draft {
        meshes: Vec::with_capacity(bsp.surfaces.len()),
        surfaces: Vec::with_capacity(bsp.surfaces.len()),
        styles: BTreeSet::new(),
        file_verts: bsp.draw_verts.len(),
    };
    for (number, raw) in bsp.surfaces.iter().enumerate() {
        let class = lighting_class(pages, raw);
        let place = &models[owner[number] as usize];
        let mut styled = None;
        let mut mesh = Mesh::default();
        match (raw.kind, patch_of[number]) {
            (SurfaceKind::Patch { .. }, Some(patch)) => {
                let (patch, levels) = (&patches[patch], &levels[patch]);
                mesh = Mesh::of_patch(patch, levels);
                styled = styled_light(raw, pages);
                if styled.is_some() {
                    mesh.slot_lights = patch_slot_lights(patch, levels, verts_of(bsp, raw));
                }
            }
            (SurfaceKind::Planar | SurfaceKind::TriangleSoup, _) if is_drawn(bsp, raw) => {
                mesh = triangles(bsp, raw, place);
                styled = styled_light(raw, pages);
                if styled.is_some() {
                    mesh.slot_lights = verts_of(bsp, raw).iter().map(slot_light).collect();
                }
            }
            (
                SurfaceKind::Foliage {
                    mesh: own,
                    instances,
                },
                _,
            ) if is_drawn(bsp, raw) => {
                let found = foliage.mesh(bsp, raw, [own, instances], place);
                mesh = found.unwrap_or_else(|| {
                    let text =
                        format!("surface {number}: more foliage than is sensible, not drawn");
                    warnings.push("W100", text);
                    Mesh::default()
                });
            }
            _ => {}
        }
        let use_of = if mesh.indices.is_empty() {
            Use::NoGeometry
        } else {
            Use::Drawn
        };
        let used_styles = styled.iter().flat_map(StyledLight::styles);
        draft.styles.extend(used_styles.filter(|style| *style != 0));
        draft.surfaces.push(Surface {
            id: SurfaceId(number as u32),
            kind: raw.kind,
            material: material(SurfaceId(number as u32), class, use_of),
            lightmap: match raw.lightmap[0] {
                LightmapIndex::Page(page) if class == LightingClass::Lightmap => Some(page),
                _ => None,
            },
            lighting: class,
            styled,
            fog: raw.fog,
            indices: 0..0,
            bounds: Aabb::EMPTY,
            model: owner[number],
        });
        draft.meshes.push(mesh);
    }
    draft
}

impl Draft {
    /// Closes the seams among the surfaces of each model, but for those whose vertices `is_loose` says to be no place that
    /// others touch, and puts all into common lists.
    pub(super) fn finish(mut self, is_loose: impl Fn(MaterialId) -> bool) -> Geometry {
        let mut budget = Budget::new(self.file_verts);
        let mut by_model: BTreeMap<u32, Vec<&mut Mesh>> = BTreeMap::new();
        for (surface, mesh) in self.surfaces.iter().zip(&mut self.meshes) {
            let is_foliage = matches!(surface.kind, SurfaceKind::Foliage { .. });
            if !is_foliage && !mesh.indices.is_empty() && !is_loose(surface.material) {
                by_model.entry(surface.model).or_default().push(mesh);
            }
        }
        for meshes in by_model.values_mut() {
            stitch(meshes, &mut budget);
        }
        let mut geometry = Geometry {
            styles: self.styles,
            ..Geometry::default()
        };
        for (mut surface, mesh) in self.surfaces.into_iter().zip(self.meshes) {
            let used = mesh.indices.iter();
            let used = used.map(|index| mesh.vertices[*index as usize].position);
            surface.bounds = Aabb::from_points(used);
            if !surface.bounds.is_empty() {
                let all = geometry.bounds.unwrap_or(Aabb::EMPTY);
                geometry.bounds = Some(all.union(surface.bounds));
            }
            surface.styled = surface.styled.map(|light| StyledLight {
                first_vertex: geometry.vertices.len() as u32,
                first_light: geometry.slot_lights.len() as u32,
                ..light
            });
            surface.indices = mesh.append_to(
                &mut geometry.vertices,
                &mut geometry.slot_lights,
                &mut geometry.indices,
            );
            geometry.surfaces.push(surface);
        }
        geometry
    }
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

/// A surface of the file as it is.
fn triangles(bsp: &Bsp, raw: &crate::format::bsp::Surface, place: &ModelInstance) -> Mesh {
    // The engine lights a flat face by its plane; merged surfaces have a zero normal there.
    let plane_normal = raw.lightmap_vecs[2];
    let is_flat =
        raw.kind == SurfaceKind::Planar && plane_normal.is_finite() && plane_normal != Vec3::ZERO;
    let verts = verts_of(bsp, raw).iter();
    let placed = verts.map(|vert| {
        let normal = if is_flat { plane_normal } else { vert.normal };
        place_vertex(vert, normal, place)
    });
    Mesh {
        vertices: placed.collect(),
        indices: indexes_of(bsp, raw).to_vec(),
        is_flat: true,
        ..Mesh::default()
    }
}

fn indexes_of<'a>(bsp: &'a Bsp, raw: &crate::format::bsp::Surface) -> &'a [u32] {
    let first = raw.first_index as usize;
    let range = first..first + raw.index_count as usize;
    bsp.draw_indexes.get(range).unwrap_or_default()
}

/// Counts the vertices of all foliage.
struct Foliage {
    vertices: usize,
    limit: usize,
}

impl Foliage {
    fn new(bsp: &Bsp) -> Self {
        Self {
            vertices: 0,
            limit: FOLIAGE_VERTICES + FOLIAGE_PER_VERT * bsp.draw_verts.len(),
        }
    }

    /// The mesh once at every instance, in the instance's colour; `None` when that would be too much.
    fn mesh(
        &mut self,
        bsp: &Bsp,
        raw: &crate::format::bsp::Surface,
        [mesh, instances]: [u32; 2],
        place: &ModelInstance,
    ) -> Option<Mesh> {
        let mut built = Mesh::default();
        let Some((mesh, instance_list)) = verts_of(bsp, raw).split_at_checked(mesh as usize) else {
            return Some(built);
        };
        let indexes = indexes_of(bsp, raw);
        if instances == 0 {
            let placed = mesh.iter();
            built.vertices = placed
                .map(|vert| place_vertex(vert, vert.normal, place))
                .collect();
            built.indices = indexes.to_vec();
            return Some(built);
        }
        let records = mesh.len().max(indexes.len());
        self.vertices = self
            .vertices
            .saturating_add(records.saturating_mul(instance_list.len()));
        if self.vertices > self.limit {
            return None;
        }
        for instance in instance_list {
            let base = built.vertices.len() as u32;
            let placed = mesh.iter().map(|vert| {
                let moved = DrawVert {
                    position: vert.position + instance.position,
                    colour: instance.colour,
                    ..*vert
                };
                place_vertex(&moved, vert.normal, place)
            });
            built.vertices.extend(placed);
            built
                .indices
                .extend(indexes.iter().map(|index| base + index));
        }
        Some(built)
    }
}
