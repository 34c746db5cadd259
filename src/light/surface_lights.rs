use std::collections::BTreeMap;

use glam::Vec3;

use crate::format::bsp::{Bsp, SurfaceKind};
use crate::job::{CancelToken, Cancelled, JobContext};
use crate::light::lights::{
    AREA_SCALE, Area, Emission, FORM_FACTOR_SCALE, FastCut, Light, LightList, POINT_SCALE,
};
use crate::light::materials::{CompileFlags, Materials, compile_flags, is_two_sided};
use crate::light::patch::{self, Mesh};
use crate::light::settings::{BakeSettings, LightModel};
use crate::light::sky_box::SkyBox;
use crate::light::suns::Sky;
use crate::light::winding::{self, Corner, Winding};
use crate::light::world::WorldKeys;
use crate::math::Aabb;
use crate::scene::{Image, Material, Scene, SurfaceId};

/// Piece size without `q3map_lightSubdivide`, game units.
const DEFAULT_SUBDIVIDE: f32 = 999.0;
/// Share of backsplash lights without `q3map_backsplash`.
const DEFAULT_BACKSPLASH: f32 = 0.05;
/// Backsplash lights are this many times brighter than their fraction says.
const BACKSPLASH_GAIN: f32 = 7.0;
/// Pieces outside this range of areas do not emit, square game units.
const AREAS: std::ops::RangeInclusive<f32> = 1.0..=2.0e7;
/// Pieces at most; a bound for hostile sizes.
const PIECES_MAX: usize = 1_000_000;
/// Skies with a number of their own at most; the others let any sun in.
const SKIES_MAX: usize = 32;

/// Numbers of the sky materials, for telling their suns apart.
pub(crate) type SkyNumbers = BTreeMap<String, Option<u8>>;

/// Makes suns, sky lights and surface lights from the materials of the BSP's surfaces (sections 2.4 to 2.6).
///
/// Returns the numbers of the skies by material name.
pub(crate) fn push_surface_lights(
    list: &mut LightList,
    scene: &Scene,
    materials: &Materials<'_>,
    world: &WorldKeys,
    settings: &BakeSettings,
    context: &JobContext,
) -> Result<SkyNumbers, Cancelled> {
    let offsets = model_offsets(scene, settings.model);
    let mut skies = SkyNumbers::new();
    let mut pieces = 0_usize;
    for surface in &scene.surfaces {
        context.cancel.check()?;
        let Some(material) = materials.of_surface(surface.id) else {
            continue;
        };
        let directives = &material.light;
        let is_sky = !directives.suns.is_empty() || !directives.sky_lights.is_empty();
        if is_sky && !skies.contains_key(&material.name) {
            let ordinal = skies.len();
            let index = u8::try_from(ordinal)
                .ok()
                .filter(|_| ordinal < SKIES_MAX && !settings.one_sky);
            skies.insert(material.name.clone(), index);
            let sky = Sky {
                directives,
                colour: materials.light_colour(material, settings),
                images: sky_box(scene, material),
                index,
            };
            if !world.no_material_suns {
                sky.push_suns(list, settings);
            }
            sky.push_sky_lights(list, settings);
        }
        if directives.surface_light > 0.0 && pieces < PIECES_MAX {
            let emitter = Emitter {
                cancel: &context.cancel,
                scene,
                settings,
                material,
                flags: compile_flags(
                    material.surface_flags,
                    material.content_flags,
                    Some(material),
                ),
                colour: materials.light_colour(material, settings),
                offset: offsets
                    .get(surface.model as usize)
                    .copied()
                    .unwrap_or(Vec3::ZERO),
            };
            pieces += emitter.push(list, surface.id, PIECES_MAX - pieces);
            if pieces >= PIECES_MAX {
                context.warnings.push(
                    "W153",
                    format!("more than {PIECES_MAX} surface lights; the rest is dropped (raise q3map_lightSubdivide)"),
                );
            }
        }
    }
    // A surface that was left in the middle is not all there.
    context.cancel.check()?;
    Ok(skies)
}

fn sky_box(scene: &Scene, material: &Material) -> Option<SkyBox> {
    let images: Vec<&Image> = material
        .sky_box?
        .iter()
        .filter_map(|id| scene.images.get(id.0 as usize))
        .collect();
    <[&Image; 6]>::try_from(images).ok().map(SkyBox::new)
}

/// Where inline models stand. The reference compiler moves a model once for every entity that shows it.
fn model_offsets(scene: &Scene, model: LightModel) -> Vec<Vec3> {
    let mut offsets = vec![Vec3::ZERO; scene.bsp.models.len()];
    let mut is_placed = vec![false; offsets.len()];
    for entity in &scene.bsp.entities.list {
        let Some(number) = entity.inline_model().filter(|n| *n < offsets.len()) else {
            continue;
        };
        if model == LightModel::Q3map2 || !is_placed[number] {
            offsets[number] += entity.origin();
        }
        is_placed[number] = true;
    }
    offsets
}

/// An emitting material on one model.
struct Emitter<'a> {
    cancel: &'a CancelToken,
    scene: &'a Scene,
    settings: &'a BakeSettings,
    material: &'a Material,
    flags: CompileFlags,
    colour: Vec3,
    offset: Vec3,
}

impl Emitter<'_> {
    /// Makes the lights of one surface, at most `limit` pieces; returns their number.
    fn push(&self, list: &mut LightList, surface: SurfaceId, limit: usize) -> usize {
        let directives = &self.material.light;
        let polygons = self.polygons(surface);
        if directives.autosprite {
            let corners = polygons.iter().flatten().map(|corner| corner.position);
            let bounds = Aabb::from_points(corners);
            if bounds.is_empty() {
                return 0;
            }
            let scale = self.settings.point_scale * self.settings.spherical_scale;
            let photons = directives.surface_light * POINT_SCALE * scale;
            let mut light = Light::point(bounds.centre(), self.colour, photons);
            light.tolerance = self.settings.tolerance();
            // Switching styles off misses these in the reference compiler.
            let is_kept = !self.settings.no_styles || self.settings.model == LightModel::Q3map2;
            light.style = if is_kept { directives.style } else { 0 };
            list.lights.push(light);
            return 1;
        }
        let subdivide = directives.subdivide.unwrap_or(DEFAULT_SUBDIVIDE);
        let mut count = 0;
        for polygon in polygons {
            if self.cancel.is_cancelled() {
                break;
            }
            winding::subdivide(polygon, subdivide, |piece| {
                if AREAS.contains(&winding::area(piece)) {
                    self.push_piece(list, piece);
                    count += 1;
                }
                count < limit && !self.cancel.is_cancelled()
            });
        }
        count
    }

    fn push_piece(&self, list: &mut LightList, piece: &Winding) {
        let directives = &self.material.light;
        let normal = winding::mean_normal(piece);
        let scale = AREA_SCALE * self.settings.area_scale;
        let origin = winding::bounds(piece).centre() + normal;
        let corners: Vec<Vec3> = piece.iter().map(|corner| corner.position).collect();
        let area = Area {
            winding: corners,
            plane_dist: origin.dot(normal),
            add: directives.surface_light * FORM_FACTOR_SCALE * scale,
            two_sided: is_two_sided(self.material, self.flags),
        };
        let photons = directives.surface_light * winding::area(piece) * scale;
        let light = Light {
            emission: Emission::Area(area),
            normal,
            style: if directives.style == 255 || self.settings.no_styles {
                0
            } else {
                directives.style
            },
            fast: if directives.no_fast {
                FastCut::Never
            } else {
                FastCut::BySettings
            },
            tolerance: self.settings.tolerance(),
            ..Light::point(origin, self.colour, photons)
        };
        let backsplash = self.backsplash(&light);
        list.lights.push(light);
        list.lights.extend(backsplash);
    }

    /// A second light before the first that shines back at its surface.
    fn backsplash(&self, light: &Light) -> Option<Light> {
        let default = (
            DEFAULT_BACKSPLASH * self.settings.backsplash_scale,
            self.settings.backsplash_distance,
        );
        let (fraction, distance) = self.material.light.backsplash.unwrap_or(default);
        let Emission::Area(area) = &light.emission else {
            return None;
        };
        if fraction <= 0.0 || self.flags.sky {
            return None;
        }
        let shift = light.normal * distance;
        let origin = light.origin + shift;
        let gain = BACKSPLASH_GAIN * fraction;
        let winding = area.winding.iter().rev().map(|corner| *corner + shift);
        Some(Light {
            emission: Emission::Area(Area {
                winding: winding.collect(),
                plane_dist: -origin.dot(light.normal),
                add: area.add * gain,
                two_sided: false,
            }),
            origin,
            normal: -light.normal,
            photons: light.photons * gain,
            ..light.clone()
        })
    }

    /// Emitting polygons of a surface in the world; none for flares.
    fn polygons(&self, surface: SurfaceId) -> Vec<Winding> {
        let bsp = self.scene.bsp.as_ref();
        let Some(record) = bsp.surfaces.get(surface.0 as usize) else {
            return Vec::new();
        };
        let corner = |number: usize| {
            bsp.draw_verts.get(number).map(|vertex| Corner {
                position: vertex.position + self.offset,
                normal: vertex.normal,
            })
        };
        let first = record.first_vert as usize;
        match record.kind {
            SurfaceKind::Planar | SurfaceKind::TriangleSoup => surface_triangles(bsp, surface)
                .filter_map(|triangle| triangle.iter().map(|vertex| corner(*vertex)).collect())
                .collect(),
            SurfaceKind::Patch { width, height } => {
                let (width, height) = (width as usize, height as usize);
                let corners: Option<Winding> =
                    (first..first + width * height).map(corner).collect();
                let Some(corners) = corners.filter(|_| width > 1 && height > 1) else {
                    return Vec::new();
                };
                let mesh = Mesh {
                    width,
                    height,
                    corners,
                };
                let longest = match &self.scene.surface_extras {
                    Some(extras) => extras.get(surface.0).longest_curve,
                    None => patch::longest_curve(&mesh),
                };
                let iterations = patch::iterations(longest, self.settings.subdivisions);
                mesh.tessellate(iterations).polygons()
            }
            SurfaceKind::Foliage { .. } | SurfaceKind::Flare | SurfaceKind::Skipped => Vec::new(),
        }
    }
}

/// Draw-vertex numbers of a surface's triangles, as the file lists them.
pub(crate) fn surface_triangles(
    bsp: &Bsp,
    surface: SurfaceId,
) -> impl Iterator<Item = [usize; 3]> + '_ {
    let record = bsp.surfaces.get(surface.0 as usize);
    let (first, indexes) = record.map_or((0, &[][..]), |record| {
        let start = record.first_index as usize;
        let range = start..start + record.index_count as usize;
        (
            record.first_vert as usize,
            bsp.draw_indexes.get(range).unwrap_or_default(),
        )
    });
    indexes
        .chunks_exact(3)
        .map(move |triangle| std::array::from_fn(|i| first + triangle[i] as usize))
}
