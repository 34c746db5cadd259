use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use crate::format::bsp::{Bsp, Child};
use crate::format::lattice::Lattice;
use crate::math::Aabb;
use crate::render::scene::Draw;
use crate::render::shown_points::{Blocks, REACH};

/// A surface's place in the index lists.
pub(super) struct DrawnSurface {
    /// Its number in the BSP.
    pub(super) id: u32,
    /// Whether it belongs to an inline model: those are in no leaf list and count as visible.
    pub(super) is_inline: bool,
    pub(super) indices: Range<u32>,
    pub(super) edges: Range<u32>,
}

/// What can be seen from the eye's cluster, as runs of the index lists. Without a cluster (in solid, outside, or no
/// visibility data) everything; all area portals count as open.
pub(super) struct Visible {
    bsp: Arc<Bsp>,
    runs_for: RunsFor,
    marked: Vec<bool>,
    /// Runs of triangles, one list a draw, reused.
    runs: Vec<Vec<Range<u32>>>,
    pub(super) edge_runs: Vec<Range<u32>>,
    sights: Option<Sights>,
}

/// Which blocks of a grid's points can be seen.
struct Sights {
    lattice: Lattice,
    /// By block: clusters that its spheres reach into.
    clusters: Vec<Vec<u32>>,
    made_for: RunsFor,
    /// By block.
    seen: Vec<bool>,
}

/// What the runs were made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunsFor {
    /// Not yet made.
    Nothing,
    /// No cluster: all surfaces.
    Everything,
    /// The eye in this cluster.
    Cluster(u32),
}

impl Visible {
    pub(super) fn new(bsp: Arc<Bsp>) -> Self {
        Self {
            bsp,
            runs_for: RunsFor::Nothing,
            marked: Vec::new(),
            runs: Vec::new(),
            edge_runs: Vec::new(),
            sights: None,
        }
    }

    /// Brings the runs to the cluster of `eye`; does nothing while that stays the same.
    pub(super) fn update(&mut self, draws: &[Draw], eye: Vec3) {
        let cluster = self
            .bsp
            .visibility
            .as_ref()
            .and_then(|_| cluster_at(&self.bsp, eye));
        let wanted = cluster.map_or(RunsFor::Everything, RunsFor::Cluster);
        if self.runs_for == wanted {
            return;
        }
        self.runs_for = wanted;
        self.mark(cluster);
        self.runs.resize(draws.len(), Vec::new());
        self.edge_runs.clear();
        for (draw, runs) in draws.iter().zip(&mut self.runs) {
            runs.clear();
            for surface in &draw.surfaces {
                let id = surface.id as usize;
                if surface.is_inline || self.marked.get(id).copied().unwrap_or(true) {
                    join(runs, &surface.indices);
                    join(&mut self.edge_runs, &surface.edges);
                }
            }
        }
    }

    /// By block of a grid's points, whether something of its spheres can be seen; `None` when all count as visible. A block
    /// altogether in solid is seen from nowhere.
    pub(super) fn blocks_of(&mut self, lattice: &Lattice) -> Option<&[bool]> {
        let RunsFor::Cluster(from) = self.runs_for else {
            return None;
        };
        let visibility = self.bsp.visibility.as_ref()?;
        let known = self.sights.take_if(|sights| sights.lattice == *lattice);
        let sights = self.sights.insert(known.unwrap_or_else(|| Sights {
            lattice: *lattice,
            clusters: clusters_of_blocks(&self.bsp, lattice),
            made_for: RunsFor::Nothing,
            seen: Vec::new(),
        }));
        if sights.made_for != self.runs_for {
            sights.made_for = self.runs_for;
            sights.seen.clear();
            let clusters = sights.clusters.iter();
            let is_seen = |reached: &Vec<u32>| reached.iter().any(|to| visibility.sees(from, *to));
            sights.seen.extend(clusters.map(is_seen));
        }
        Some(&sights.seen)
    }

    /// Runs of draw number `draw`.
    pub(super) fn runs(&self, draw: usize) -> &[Range<u32>] {
        self.runs.get(draw).map_or(&[], Vec::as_slice)
    }

    fn mark(&mut self, cluster: Option<u32>) {
        let bsp = &self.bsp;
        self.marked.clear();
        let (Some(from), Some(visibility)) = (cluster, &bsp.visibility) else {
            self.marked.resize(bsp.surfaces.len(), true);
            return;
        };
        self.marked.resize(bsp.surfaces.len(), false);
        for leaf in &bsp.leafs {
            if leaf.cluster.is_none_or(|to| !visibility.sees(from, to)) {
                continue;
            }
            let first = leaf.first_surface as usize;
            let listed = bsp
                .leaf_surfaces
                .get(first..first + leaf.surface_count as usize);
            for surface in listed.unwrap_or_default() {
                if let Some(mark) = self.marked.get_mut(*surface as usize) {
                    *mark = true;
                }
            }
        }
    }
}

/// Cluster of the leaf that holds `point`, by the engine's walk: a point on a plane is behind it.
fn cluster_at(bsp: &Bsp, point: Vec3) -> Option<u32> {
    let mut child = Child::Node(0);
    // A sound tree is never deeper than it has nodes; the bound stops a circle.
    for _ in 0..=bsp.nodes.len() {
        match child {
            Child::Leaf(leaf) => return bsp.leafs.get(leaf as usize)?.cluster,
            Child::Node(node) => {
                let node = bsp.nodes.get(node as usize)?;
                let plane = bsp.planes.get(node.plane as usize)?;
                let is_front = plane.distance(point) > 0.0;
                child = node.children[usize::from(!is_front)];
            }
        }
    }
    None
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
    let (centre, half) = (bounds.centre(), bounds.size() * 0.5);
    let mut open = vec![Child::Node(0)];
    // Each node of a sound tree is met once; the bound stops a circle.
    for _ in 0..=2 * bsp.nodes.len() {
        match open.pop() {
            None => break,
            Some(Child::Leaf(leaf)) => {
                clusters.extend(bsp.leafs.get(leaf as usize).and_then(|leaf| leaf.cluster));
            }
            Some(Child::Node(node)) => {
                let node = bsp.nodes.get(node as usize);
                let Some((node, plane)) =
                    node.and_then(|node| Some((node, bsp.planes.get(node.plane as usize)?)))
                else {
                    continue;
                };
                let (distance, reach) = (plane.distance(centre), plane.normal.abs().dot(half));
                if distance >= -reach {
                    open.push(node.children[0]);
                }
                if distance <= reach {
                    open.push(node.children[1]);
                }
            }
        }
    }
    clusters.sort_unstable();
    clusters.dedup();
    clusters
}

/// Appends a range, lengthening the last run when it follows directly.
fn join(runs: &mut Vec<Range<u32>>, range: &Range<u32>) {
    match runs.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => runs.push(range.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_ranges_become_one_run() {
        let mut runs = Vec::new();
        for range in [0..3, 3..9, 12..15, 15..18] {
            join(&mut runs, &range);
        }
        assert_eq!(runs, [0..9, 12..18]);
    }
}
