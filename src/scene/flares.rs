use glam::Vec3;

use crate::format::bsp::{Bsp, Surface, SurfaceKind};
use crate::scene::types::{ModelInstance, SurfaceId};

/// A light that dazzles: a picture over the screen where it is seen (surface type 4, `r_flares 1`).
///
/// Its material and its fog are those of its surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flare {
    /// Its record in the BSP.
    pub surface: SurfaceId,
    /// World position.
    pub origin: Vec3,
    /// Of its light, 0 to 1.
    pub colour: Vec3,
    /// Unit vector to where it shines; zero shines everywhere.
    pub normal: Vec3,
}

impl Flare {
    /// What a record of an inline model at `place` says; `None` for other kinds, and for one that adds nothing: compilers leave
    /// records of the six images of a sky box that are black and at the origin.
    pub(super) fn of(id: SurfaceId, record: &Surface, place: &ModelInstance) -> Option<Self> {
        let [colour, _, normal] = record.lightmap_vecs;
        let is_sound = record.lightmap_origin.is_finite() && colour.is_finite();
        let colour = colour.max(Vec3::ZERO);
        let shines = record.kind == SurfaceKind::Flare && is_sound && colour != Vec3::ZERO;
        shines.then(|| Self {
            surface: id,
            origin: place.rotation * record.lightmap_origin + place.origin,
            colour,
            normal: (place.rotation * normal).normalize_or_zero(),
        })
    }
}

/// All flares of a map, in the order of their surfaces; `owner` is the inline model of each surface.
pub(super) fn flares(bsp: &Bsp, models: &[ModelInstance], owner: &[u32]) -> Vec<Flare> {
    let records = (0..).zip(&bsp.surfaces).zip(owner);
    let flares = records.filter_map(|((number, record), owner)| {
        Flare::of(SurfaceId(number), record, models.get(*owner as usize)?)
    });
    flares.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::bsp::{LightmapIndex, STYLE_SLOTS};
    use glam::Mat3;

    #[test]
    fn a_flare_is_read_from_the_fields_of_the_lightmap() {
        let place = ModelInstance {
            entity: None,
            origin: Vec3::new(0.0, 0.0, 100.0),
            rotation: Mat3::from_rotation_z(std::f32::consts::FRAC_PI_2),
        };
        let record = |kind, colour| Surface {
            shader: 0,
            fog: None,
            kind,
            first_vert: 0,
            vert_count: 0,
            first_index: 0,
            index_count: 0,
            lightmap_styles: [0; STYLE_SLOTS],
            vertex_styles: [0; STYLE_SLOTS],
            lightmap: [LightmapIndex::Vertex; STYLE_SLOTS],
            lightmap_origin: Vec3::new(1.0, 2.0, 3.0),
            lightmap_vecs: [colour, Vec3::ZERO, Vec3::X],
        };
        let of = |kind, colour| Flare::of(SurfaceId(7), &record(kind, colour), &place);
        let colour = Vec3::new(1.0, 0.5, 0.0);
        let flare = of(SurfaceKind::Flare, colour).unwrap();
        assert_eq!((flare.surface, flare.colour), (SurfaceId(7), colour));
        assert!(flare.origin.abs_diff_eq(Vec3::new(-2.0, 1.0, 103.0), 1e-5));
        assert!(flare.normal.abs_diff_eq(Vec3::Y, 1e-6));
        assert_eq!(of(SurfaceKind::Planar, colour), None);
        assert_eq!(of(SurfaceKind::Flare, Vec3::ZERO), None);
        assert_eq!(of(SurfaceKind::Flare, Vec3::NAN), None);
    }
}
