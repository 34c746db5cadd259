use glam::{Vec2, Vec3};

use crate::format::material_script::{AlphaFunc, Cull, TcGen};
use crate::math::Ray;
use crate::scene::{Door, Material, Scene, StageImage, SurfaceId};
use crate::trace::triangles::{HitRules, TriangleSet};

/// Surfaces that a ray passes through at most before it gives up.
const THROUGH_MAX: usize = 256;
/// What is left between a surface that a ray passed through and its next part, game units.
const STEP: f32 = 1e-3;

/// Finds the drawn surface that a ray meets first.
#[derive(Debug)]
pub struct Picker {
    triangles: TriangleSet,
    owners: Vec<SurfaceId>,
    normals: Vec<Vec3>,
    /// Where each triangle begins in [`Scene::indices`].
    firsts: Vec<u32>,
}

/// What [`Picker::pick`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PickHit {
    /// The surface.
    pub surface: SurfaceId,
    /// Where the triangle begins in [`Scene::indices`].
    pub first_index: u32,
    /// Weights of the triangle's second and third vertex there.
    pub weights: Vec2,
    /// Distance along the ray, game units.
    pub t: f32,
    /// World position.
    pub position: Vec3,
    /// Unit normal of the triangle's front, world space; may point away from the ray's origin.
    pub normal: Vec3,
}

impl Picker {
    /// Builds the hierarchy over everything that `scene` draws.
    pub fn new(scene: &Scene) -> Self {
        let position = |index: &u32| {
            scene
                .vertices
                .get(*index as usize)
                .map_or(Vec3::NAN, |vertex| vertex.position)
        };
        let (mut corners, mut owners) = (Vec::new(), Vec::new());
        let (mut normals, mut firsts) = (Vec::new(), Vec::new());
        for surface in scene.drawn_surfaces() {
            let range = surface.indices.start as usize..surface.indices.end as usize;
            let triangles = scene.indices.get(range).unwrap_or_default();
            for (first, triangle) in surface
                .indices
                .clone()
                .step_by(3)
                .zip(triangles.chunks_exact(3))
            {
                let [a, b, c] = std::array::from_fn(|i| position(&triangle[i]));
                corners.push([a, b, c]);
                owners.push(surface.id);
                normals.push((c - a).cross(b - a).normalize_or_zero());
                firsts.push(first);
            }
        }
        Self {
            triangles: TriangleSet::new(&corners),
            owners,
            normals,
            firsts,
        }
    }

    /// The first surface along the ray within its range, seen from either side.
    pub fn pick(&self, ray: &Ray) -> Option<PickHit> {
        let crossing = self.triangles.closest(ray, &HitRules::EXACT)?;
        let number = crossing.triangle as usize;
        Some(PickHit {
            surface: *self.owners.get(number)?,
            first_index: *self.firsts.get(number)?,
            weights: Vec2::new(crossing.u, crossing.v),
            t: crossing.t,
            position: ray.at(crossing.t),
            normal: *self.normals.get(number)?,
        })
    }

    /// The first surface that is seen along the ray: sides that `scene` does not draw and holes of alpha tests are passed, and
    /// so is what `is_shown` refuses. What is seen through counts as seen.
    pub fn pick_seen(
        &self,
        scene: &Scene,
        ray: &Ray,
        is_shown: impl Fn(&PickHit) -> bool,
    ) -> Option<PickHit> {
        let mut rest = *ray;
        for _ in 0..THROUGH_MAX {
            let hit = self.pick(&rest)?;
            if is_drawn(scene, ray, &hit) && is_shown(&hit) {
                return Some(hit);
            }
            // A step that a float at that distance can hold.
            rest.t_min = hit.t + STEP.max(hit.t * 1e-6);
        }
        None
    }
}

impl Picker {
    /// [`Picker::pick_seen`] with the doors that stand open, by number, where they then are.
    pub fn pick_with_doors(
        &self,
        scene: &Scene,
        ray: &Ray,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<PickHit> {
        let opened: Vec<&Door> = (0..)
            .zip(&scene.doors)
            .filter_map(|(number, door)| is_open(number).then_some(door))
            .collect();
        let model_of = |hit: &PickHit| {
            let surface = scene.surfaces.get(hit.surface.0 as usize);
            surface.map_or(0, |surface| surface.model)
        };
        let mut nearest = self.pick_seen(scene, ray, |hit| {
            !opened.iter().any(|door| door.model == model_of(hit))
        });
        for door in opened {
            let Some(place) = scene.models.get(door.model as usize) else {
                continue;
            };
            let now_from_file = door.opened_from_shut(place);
            let file_from_now = now_from_file.inverse();
            let in_file = Ray {
                origin: file_from_now.transform_point3(ray.origin),
                direction: file_from_now.transform_vector3(ray.direction),
                ..*ray
            };
            let hit = self.pick_seen(scene, &in_file, |hit| model_of(hit) == door.model);
            let is_nearer = |hit: &PickHit| nearest.is_none_or(|other| hit.t < other.t);
            if let Some(hit) = hit.filter(is_nearer) {
                nearest = Some(PickHit {
                    position: ray.at(hit.t),
                    normal: now_from_file.transform_vector3(hit.normal),
                    ..hit
                });
            }
        }
        nearest
    }
}

fn is_drawn(scene: &Scene, ray: &Ray, hit: &PickHit) -> bool {
    let Some(surface) = scene.surfaces.get(hit.surface.0 as usize) else {
        return false;
    };
    let material = scene.material_of(surface);
    let is_back = hit.normal.dot(ray.direction) > 0.0;
    let is_culled = match material.cull {
        Cull::BackFaces => is_back,
        Cull::FrontFaces => !is_back,
        Cull::Nothing => false,
    };
    !is_culled && !is_hole(scene, material, hit)
}

/// Whether the first pass of a material is alpha tested and has a hole there. Animated and moving pictures have none.
fn is_hole(scene: &Scene, material: &Material, hit: &PickHit) -> bool {
    let Some(stage) = material.stages.first() else {
        return false;
    };
    let (Some(test), StageImage::Image(id)) = (stage.alpha_func, &stage.image) else {
        return false;
    };
    let is_still = stage.tc_gen == TcGen::Base && stage.tc_mods.is_empty();
    let (Some(image), true) = (scene.images.get(id.0 as usize), is_still) else {
        return false;
    };
    let Some([a, b, c]) = scene.corners(hit.first_index) else {
        return false;
    };
    let st = a.st + (b.st - a.st) * hit.weights.x + (c.st - a.st) * hit.weights.y;
    let texel = |at: f32, side: u32| (at.rem_euclid(1.0) * side as f32) as u32;
    let [_, _, _, alpha] = image.texel(texel(st.x, image.width), texel(st.y, image.height));
    match test {
        AlphaFunc::Greater0 => alpha == 0,
        AlphaFunc::Less128 => alpha >= 128,
        AlphaFunc::GreaterEqual128 => alpha < 128,
    }
}
