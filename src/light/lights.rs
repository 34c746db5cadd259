use glam::Vec3;

use crate::light::report::{CulledLights, EntityCounts};
use crate::math::{Aabb, CRandom};

/// A distance that counts as infinite, game units (8 × 65536).
pub(crate) const INFINITY: f32 = 524_288.0;
/// Point lights: photons of intensity 1.
pub(crate) const POINT_SCALE: f32 = 7500.0;
/// Linear lights: byte units of one photon.
pub(crate) const LINEAR_SCALE: f32 = 1.0 / 8000.0;
/// Surface lights: photons of value 1 and one square unit.
pub(crate) const AREA_SCALE: f32 = 0.25;
/// Surface lights: light in front of an endless emitter, in values × area scale.
pub(crate) const FORM_FACTOR_SCALE: f32 = 3.0;
/// Contributions up to this many byte units are dropped.
pub(crate) const TOLERANCE: f32 = 1.0;
/// The same in the corrected model.
pub(crate) const CORRECTED_TOLERANCE: f32 = 0.1;

/// Light sources of one map, in the order in which they are summed.
#[derive(Clone, Debug)]
pub(crate) struct LightList {
    /// The lights.
    pub lights: Vec<Light>,
    /// Where jittered lights draw their places from, in the order in which they are made.
    pub random: CRandom,
    /// Light entities by source.
    pub entities: EntityCounts,
    /// Lights taken out again.
    pub culled: CulledLights,
}

impl LightList {
    /// No lights yet; `seed` is that of [`CRandom`].
    pub(super) fn new(seed: u32) -> Self {
        Self {
            lights: Vec::new(),
            random: CRandom::new(seed),
            entities: EntityCounts::default(),
            culled: CulledLights::default(),
        }
    }
}

/// How a light sends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Emission {
    /// Alike in all directions.
    Point,
    /// In a cone around the normal.
    Spot {
        /// Radius of the cone at distance 1.
        radius_by_distance: f32,
    },
    /// From a polygon.
    Area(Area),
    /// From one direction, endlessly far.
    Sun {
        /// Whether it is one of the lights of a sky.
        from_sky: bool,
    },
}

/// The polygon of a surface light.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Area {
    /// Clockwise seen from the front.
    pub winding: Vec<Vec3>,
    /// Distance of the light's plane from the world's origin along the normal.
    pub plane_dist: f32,
    /// Byte units in front of an endless emitter.
    pub add: f32,
    /// Whether it shines to both sides.
    pub two_sided: bool,
}

/// How light fades with distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Falloff {
    /// Inverse square.
    Quadratic,
    /// Byte units lost per unit of distance.
    Linear(f32),
}

/// A light as it is summed. Distances are game units, amounts byte units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Light {
    /// How it sends.
    pub emission: Emission,
    /// Position; for a sun a point at distance [`INFINITY`] towards it.
    pub origin: Vec3,
    /// Direction in which it shines; zero for points.
    pub normal: Vec3,
    /// Multiplies each channel.
    pub colour: Vec3,
    /// Strength; negative ones darken, see `negative`.
    pub photons: f32,
    /// Fading of points and spots.
    pub falloff: Falloff,
    /// A further dimension of the distance.
    pub extra_distance: f32,
    /// Light style, 0 is always on.
    pub style: u8,
    /// Which sky lets this sun in; `None` is any.
    pub sky: Option<u8>,
    /// Whether it lights the grids.
    pub in_grid: bool,
    /// Whether contributions up to the tolerance are dropped.
    pub fast: FastCut,
    /// Contributions up to this are dropped when it is fast.
    pub tolerance: f32,
    /// Whether it is subtracted.
    pub negative: bool,
    /// Cluster of the origin.
    pub cluster: u32,
    /// Distance beyond which it gives nothing.
    pub envelope: f32,
    /// Box around all that its cluster may see.
    pub bounds: Aabb,
}

/// Whether weak contributions of a light are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastCut {
    /// Always.
    Always,
    /// When the settings say so.
    BySettings,
    /// Never (`q3map_noFast`).
    Never,
}

impl Light {
    /// A point light with every other property at its default.
    pub(super) fn point(origin: Vec3, colour: Vec3, photons: f32) -> Self {
        Self {
            emission: Emission::Point,
            origin,
            normal: Vec3::ZERO,
            colour,
            photons,
            falloff: Falloff::Quadratic,
            extra_distance: 0.0,
            style: 0,
            sky: None,
            in_grid: true,
            fast: FastCut::Always,
            tolerance: TOLERANCE,
            negative: false,
            cluster: 0,
            envelope: 0.0,
            bounds: Aabb::EMPTY,
        }
    }

    /// Whether it is a sun.
    pub(super) fn is_sun(&self) -> bool {
        matches!(self.emission, Emission::Sun { .. })
    }
}

/// `colour` over its largest component; white when it has none.
pub(crate) fn normalise_colour(colour: Vec3) -> Vec3 {
    let max = colour.max_element();
    if max > 0.0 { colour / max } else { Vec3::ONE }
}
