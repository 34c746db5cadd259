use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::{Bsp, Leaf};
use crate::format::lattice::Lattice;
use crate::math::Aabb;
use crate::render::models::Models;
use crate::render::sights::Sights;
use crate::scene::{AreaMask, SurfaceId, leaf_of, leafs_in};
use crate::view::{DoorStates, ViewOptions};

/// What can be seen from the eye's cluster and area, wherever one looks. From solid and outside everything; without
/// visibility data whatever the areas let through.
pub(super) struct Seen {
    bsp: Arc<Bsp>,
    area_count: usize,
    made_for: Option<(Standpoint, DoorStates)>,
    /// By surface.
    surfaces: Vec<bool>,
    /// By leaf.
    leafs: Vec<bool>,
    /// Around the leafs that are seen.
    bounds: Aabb,
    sights: Option<Sights>,
}

/// Half the side of the sky's cube of a map without leafs, game units.
const NO_BOUNDS_REACH: f32 = 4096.0;

/// Where one looks from, as far as what is seen depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standpoint {
    /// All surfaces are drawn.
    Everywhere,
    /// In this cluster and area.
    In {
        cluster: Option<u32>,
        area: Option<u32>,
    },
}

impl Seen {
    /// `area_count` as [`crate::scene::Scene::area_count`] has it.
    pub(super) fn new(bsp: Arc<Bsp>, area_count: usize) -> Self {
        Self {
            bsp,
            area_count,
            made_for: None,
            surfaces: Vec::new(),
            leafs: Vec::new(),
            bounds: Aabb::EMPTY,
            sights: None,
        }
    }

    /// Whether surface `surface` of the world, or of an inline model, is among what is seen.
    pub(super) fn holds(&self, surface: u32) -> bool {
        let seen = self.surfaces.get(surface as usize);
        seen.copied().unwrap_or(true)
    }

    /// All that is seen.
    pub(super) fn list(&self) -> Vec<SurfaceId> {
        let seen = (0..).zip(&self.surfaces).filter(|(_, is_seen)| **is_seen);
        seen.map(|(number, _)| SurfaceId(number)).collect()
    }

    /// Brings it to this eye and these options; true when it may have changed.
    pub(super) fn update(&mut self, models: &Models, eye: Vec3, options: &ViewOptions) -> bool {
        let standpoint = self.standpoint(options.visibility.locked_at.unwrap_or(eye), options);
        let wanted = Some((standpoint, options.doors));
        if self.made_for == wanted {
            return false;
        }
        self.made_for = wanted;
        match standpoint {
            Standpoint::Everywhere => self.mark_all(),
            Standpoint::In { cluster, area } => {
                let areas = options
                    .doors
                    .areas_from(models.doors(), self.area_count, area);
                if self.bsp.visibility.is_none() && areas == AreaMask::ALL {
                    self.mark_all();
                } else {
                    self.mark(models, cluster, &areas);
                }
            }
        }
        true
    }

    /// By block of a grid's points, whether something of its spheres can be seen; `None` when all count as visible.
    pub(super) fn blocks_of(&mut self, lattice: &Lattice) -> Option<&[bool]> {
        let Some((Standpoint::In { cluster, .. }, _)) = self.made_for else {
            return None;
        };
        let from = cluster.filter(|_| self.bsp.visibility.is_some())?;
        let known = self.sights.take_if(|sights| sights.is_of(lattice));
        let sights = known.unwrap_or_else(|| Sights::new(&self.bsp, lattice));
        Some(self.sights.insert(sights).seen_from(&self.bsp, from))
    }

    fn standpoint(&self, eye: Vec3, options: &ViewOptions) -> Standpoint {
        if options.visibility.draws_all {
            return Standpoint::Everywhere;
        }
        match leaf_of(&self.bsp, eye) {
            Some(Leaf {
                cluster: cluster @ Some(_),
                area,
                ..
            }) => Standpoint::In {
                cluster: *cluster,
                area: *area,
            },
            _ => Standpoint::Everywhere,
        }
    }

    /// Half the side of the cube that carries the sky around `eye`: the largest one whose corners are no farther than that
    /// of what is seen, the engine's far plane.
    pub(super) fn sky_reach(&self, eye: Vec3) -> f32 {
        let corners = self.bounds.corners();
        let farthest = corners.map(|corner| corner.distance(eye));
        let farthest = farthest.into_iter().fold(0.0, f32::max);
        if self.bounds.is_empty() || !farthest.is_finite() {
            return NO_BOUNDS_REACH;
        }
        farthest / 3_f32.sqrt()
    }

    fn find_bounds(&mut self) {
        let seen = self.bsp.leafs.iter().zip(&self.leafs);
        let seen = seen.filter(|(leaf, is_seen)| **is_seen && leaf.cluster.is_some());
        let boxes = seen.map(|(leaf, _)| Aabb {
            min: leaf.min.as_vec3(),
            max: leaf.max.as_vec3(),
        });
        self.bounds = boxes.fold(Aabb::EMPTY, Aabb::union);
    }

    fn mark_all(&mut self) {
        self.surfaces.clear();
        self.surfaces.resize(self.bsp.surfaces.len(), true);
        self.leafs.clear();
        self.leafs.resize(self.bsp.leafs.len(), true);
        self.find_bounds();
    }

    fn mark(&mut self, models: &Models, cluster: Option<u32>, areas: &AreaMask) {
        let bsp = &self.bsp;
        let visibility = cluster.zip(bsp.visibility.as_ref());
        let is_seen = |leaf: &Leaf| {
            let Some(to) = leaf.cluster else {
                return false;
            };
            let in_sight = visibility.is_none_or(|(from, visibility)| visibility.sees(from, to));
            in_sight && areas.holds(leaf.area)
        };
        self.surfaces.clear();
        self.surfaces.resize(bsp.surfaces.len(), false);
        self.leafs.clear();
        self.leafs.extend(bsp.leafs.iter().map(is_seen));
        self.find_bounds();
        let bsp = &self.bsp;
        for (leaf, _) in bsp.leafs.iter().zip(&self.leafs).filter(|(_, seen)| **seen) {
            let first = leaf.first_surface as usize;
            let listed = first..first + leaf.surface_count as usize;
            for surface in bsp.leaf_surfaces.get(listed).unwrap_or_default() {
                if let Some(mark) = self.surfaces.get_mut(*surface as usize) {
                    *mark = true;
                }
            }
        }
        // Inline models are in no leaf list: the engine sends those that stand in a leaf that is seen.
        for model in 1..models.len() {
            let bounds = models.bounds(model);
            if bounds.is_empty() {
                continue;
            }
            let mut is_seen = false;
            leafs_in(bsp, &bounds, |leaf| {
                is_seen |= self.leafs.get(leaf as usize).is_some_and(|seen| *seen);
            });
            let Some(model) = bsp.models.get(model).filter(|_| is_seen) else {
                continue;
            };
            let first = model.first_surface as usize;
            let own = self
                .surfaces
                .get_mut(first..first + model.surface_count as usize);
            own.unwrap_or_default().fill(true);
        }
    }
}
