use glam::Vec3;

use crate::math::Ray;
use crate::scene::{Scene, SurfaceId};
use crate::trace::triangles::{HitRules, TriangleSet};

/// Finds the drawn surface that a ray meets first.
#[derive(Debug)]
pub struct Picker {
    triangles: TriangleSet,
    owners: Vec<SurfaceId>,
    normals: Vec<Vec3>,
}

/// What [`Picker::pick`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PickHit {
    /// The surface.
    pub surface: SurfaceId,
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
        let (mut corners, mut owners, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        for surface in scene.drawn_surfaces() {
            let range = surface.indices.start as usize..surface.indices.end as usize;
            for triangle in scene.indices.get(range).unwrap_or_default().chunks_exact(3) {
                let [a, b, c] = std::array::from_fn(|i| position(&triangle[i]));
                corners.push([a, b, c]);
                owners.push(surface.id);
                normals.push((c - a).cross(b - a).normalize_or_zero());
            }
        }
        Self {
            triangles: TriangleSet::new(&corners),
            owners,
            normals,
        }
    }

    /// The first surface along the ray within its range, seen from either side.
    pub fn pick(&self, ray: &Ray) -> Option<PickHit> {
        let crossing = self.triangles.closest(ray, &HitRules::EXACT)?;
        let number = crossing.triangle as usize;
        Some(PickHit {
            surface: *self.owners.get(number)?,
            t: crossing.t,
            position: ray.at(crossing.t),
            normal: *self.normals.get(number)?,
        })
    }
}
