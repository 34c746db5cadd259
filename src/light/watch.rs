use glam::Vec3;

use crate::format::bsp::{LightGridPoint, ShPoint};
use crate::format::lattice::Lattice;

/// Sees a bake while it runs. Called from the threads of the bake: what it does must be quick, and must not wait.
pub trait Watcher: Sync {
    /// The grids that are about to be baked are known. Called once, before anything else.
    fn begun(&self, legacy: Option<Lattice>, sh: Option<Lattice>);

    /// Some points are done; each point of the grids comes exactly once, in no order that can be relied on.
    fn finished(&self, points: FinishedPoints);
}

/// Somebody who watches a bake, and from where: what is visible from there is baked first, the nearest foremost, every
/// fourth point along each axis before all others.
#[derive(Clone, Copy)]
pub struct Audience<'a> {
    /// The place, game units.
    pub eye: Vec3,
    /// Gets what is done.
    pub watcher: &'a dyn Watcher,
}

impl std::fmt::Debug for Audience<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut audience = f.debug_struct("Audience");
        audience.field("eye", &self.eye).finish_non_exhaustive()
    }
}

/// How dense the points of one pass over the grids are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Every fourth point along each axis, so that the whole map is soon seen.
    Coarse,
    /// All the others.
    Fine,
}

/// A finished point; `None` for one in solid that found no air, which stays black.
pub type Finished<P> = (usize, Option<P>);

/// Finished points of both grids, with their numbers in lattice order.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedPoints {
    /// Of which pass.
    pub density: Density,
    /// Of lump 15.
    pub legacy: Vec<Finished<LightGridPoint>>,
    /// Of lump 18.
    pub sh: Vec<Finished<ShPoint>>,
}

impl FinishedPoints {
    /// None yet.
    pub(super) fn new(density: Density) -> Self {
        Self {
            density,
            legacy: Vec::new(),
            sh: Vec::new(),
        }
    }
}
