use rayon::prelude::*;

use crate::format::bsp::Bsp;
use crate::format::lattice::Lattice;
use crate::math::Aabb;
use crate::render::shown_points::{Blocks, REACH};
use crate::scene::leafs_in;

/// Which blocks of a grid's points can be seen.
pub(super) struct Sights {
    lattice: Lattice,
    /// By block: clusters that its spheres reach into.
    clusters: Vec<Vec<u32>>,
    /// The cluster that one looks from.
    made_for: Option<u32>,
    /// By block.
    seen: Vec<bool>,
}

impl Sights {
    pub(super) fn new(bsp: &Bsp, lattice: &Lattice) -> Self {
        Self {
            lattice: *lattice,
            clusters: clusters_of_blocks(bsp, lattice),
            made_for: None,
            seen: Vec::new(),
        }
    }

    /// Whether it is about this grid.
    pub(super) fn is_of(&self, lattice: &Lattice) -> bool {
        self.lattice == *lattice
    }

    /// By block, whether something of its spheres can be seen from cluster `from`; all without visibility data. A block
    /// altogether in solid is seen from nowhere.
    pub(super) fn seen_from(&mut self, bsp: &Bsp, from: u32) -> &[bool] {
        if self.made_for != Some(from) {
            self.made_for = Some(from);
            let sees = |to: u32| bsp.visibility.as_ref().is_none_or(|vis| vis.sees(from, to));
            self.seen.clear();
            let is_seen = |reached: &Vec<u32>| reached.iter().any(|to| sees(*to));
            self.seen.extend(self.clusters.iter().map(is_seen));
        }
        &self.seen
    }
}

/// By block of a grid's points: the clusters that its spheres may reach into.
fn clusters_of_blocks(bsp: &Bsp, lattice: &Lattice) -> Vec<Vec<u32>> {
    let blocks = Blocks(lattice);
    let reach = REACH * lattice.cell_size.min_element();
    (0..blocks.len())
        .into_par_iter()
        .map(|block| clusters_in(bsp, &blocks.bounds(block).grown(reach)))
        .collect()
}

/// The clusters of all leafs that `bounds` reaches into.
fn clusters_in(bsp: &Bsp, bounds: &Aabb) -> Vec<u32> {
    let mut clusters = Vec::new();
    leafs_in(bsp, bounds, |leaf| {
        clusters.extend(bsp.leafs.get(leaf as usize).and_then(|leaf| leaf.cluster));
    });
    clusters.sort_unstable();
    clusters.dedup();
    clusters
}
