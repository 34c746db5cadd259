use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::ShPoint;
use crate::probe::{LegacyLight, ShProfile};

/// Light on the sample sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SphereLight {
    /// By the legacy grid.
    Legacy(LegacyLight),
    /// By the SH grid: blended coefficients and how to evaluate them.
    Sh(ShPoint, ShProfile),
}

/// A grid point that takes part in the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CornerMark {
    /// World position.
    pub position: Vec3,
    /// Weight, 0 to 1.
    pub weight: f32,
    /// False when it was skipped.
    pub used: bool,
}

/// The sample sphere and the corners it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleMark {
    /// World position of the centre.
    pub position: Vec3,
    /// Radius, game units.
    pub radius: f32,
    /// What lights it.
    pub light: SphereLight,
    /// Its corners.
    pub corners: Vec<CornerMark>,
}

/// A line one pixel wide, over everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlayLine {
    /// World position.
    pub from: Vec3,
    /// World position.
    pub to: Vec3,
    /// 0 to 1.
    pub rgb: Vec3,
}

/// What is drawn over the map beside the grids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overlays {
    /// The sample sphere.
    pub sample: Option<SampleMark>,
    /// Centre and radius of the selected grid point's sphere.
    pub selected: Option<(Vec3, f32)>,
    /// Boundary of the selected surface.
    pub outline: Option<Arc<Vec<[Vec3; 2]>>>,
    /// Entities.
    pub lines: Vec<OverlayLine>,
}
