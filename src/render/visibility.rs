use std::ops::Range;
use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::{Bsp, Child};
use crate::render::scene::Draw;

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
