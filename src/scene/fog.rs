use glam::Vec3;

use crate::format::bsp::{Bsp, Fog};
use crate::math::Plane;
use crate::scene::material::Material;
use crate::scene::types::{Scene, Surface};

/// A fog volume with its material's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FogVolume {
    /// Display-referred, 0 to 1; overbright never applies to it.
    pub colour: Vec3,
    /// Distance in the fog along the view at which it hides everything, game units, at least 1.
    pub depth: f32,
    /// The side that is seen, its normal pointing out of the fog; `None` when the whole ray counts as inside.
    pub surface: Option<Plane>,
}

impl FogVolume {
    /// The volume of a record; `None` for one of the whole world, which the engine does not know, and for a material without
    /// `fogparms`.
    pub(super) fn new(bsp: &Bsp, fog: &Fog, parameters: Option<(Vec3, f32)>) -> Option<Self> {
        let brush = bsp.brushes.get(fog.brush? as usize)?;
        let (colour, depth) = parameters?;
        let side = fog.visible_side.and_then(|side| {
            let side = bsp.brush_sides.get((brush.first_side + side) as usize)?;
            bsp.planes.get(side.plane as usize).copied()
        });
        Some(Self {
            colour,
            depth,
            surface: side,
        })
    }
}

/// What a fog does to a surface's passes, section 7.2 of the rendering specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FogPass {
    /// A last pass where depth is equal: opaque surfaces, and cloud layers.
    Equal,
    /// A pass where nothing is nearer: the fog's own faces.
    Nearer,
    /// None: translucent surfaces, whose stages are weakened instead.
    None,
}

impl Material {
    /// The pass that fog adds to it.
    pub fn fog_pass(&self) -> FogPass {
        if self.is_sky() {
            // The box is no stage, and stays plain.
            if self.stages.is_empty() {
                FogPass::None
            } else {
                FogPass::Equal
            }
        } else if self.has_parm("fog") || self.is_fog() {
            FogPass::Nearer
        } else if self.sort <= 3.0 {
            FogPass::Equal
        } else {
            FogPass::None
        }
    }

    /// Whether it is the surface of a fog: `fogparms` and no stages.
    pub fn is_fog(&self) -> bool {
        self.fog.is_some() && self.stages.is_empty()
    }
}

impl Scene {
    /// The fog that `surface` is in, if its record makes one.
    pub fn fog_of(&self, surface: &Surface) -> Option<&FogVolume> {
        self.fogs.get(surface.fog? as usize)?.as_ref()
    }
}
