use std::ops::Range;

use crate::math::Aabb;
use crate::render::frustum::{Frustum, Place};
use crate::render::models::Models;
use crate::render::scene::Draw;
use crate::render::visibility::Seen;

/// Indices of a chunk at least, where its draw has as many: what is looked at and left out as one.
const CHUNK: usize = 3 * 128;
/// Indices outside the picture that are drawn with what is around them rather than split a run: a further draw call costs
/// more than so many vertices.
const BRIDGE: u32 = 3 * 512;

/// A surface's place in the index lists.
pub(super) struct DrawnSurface {
    /// Its number in the BSP.
    pub(super) id: u32,
    /// Inline model that it belongs to; 0 is the world.
    pub(super) model: u32,
    /// Where it is at rest, with whatever its material moves it by.
    pub(super) bounds: Aabb,
    pub(super) indices: Range<u32>,
    pub(super) edges: Range<u32>,
}

/// The triangles and edges of what is seen, draw by draw without gaps, and which runs of them are in the picture.
///
/// They are gathered and uploaded only when something else is seen; a frame only looks at boxes.
pub(super) struct Runs {
    /// Triangles and edges of everything.
    all_indices: Vec<u32>,
    all_edges: Vec<u32>,
    indices: Vec<u32>,
    edges: Vec<u32>,
    chunks: Vec<Chunk>,
    /// Chunks of each draw.
    by_draw: Vec<Range<usize>>,
    /// In the picture.
    shown: Vec<Range<u32>>,
    /// Runs of each draw.
    shown_by_draw: Vec<Range<usize>>,
    index_buffer: wgpu::Buffer,
    edge_buffer: wgpu::Buffer,
    has_edges: bool,
}

/// Neighbouring surfaces of a draw.
struct Chunk {
    indices: Range<u32>,
    bounds: Aabb,
}

impl Runs {
    pub(super) fn new(device: &wgpu::Device, indices: Vec<u32>, edges: Vec<u32>) -> Self {
        let buffer = |label, list: &[u32]| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size_of_val(list).max(64) as u64,
                usage: wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self {
            index_buffer: buffer("indices", &indices),
            edge_buffer: buffer("edges", &edges),
            all_indices: indices,
            all_edges: edges,
            indices: Vec::new(),
            edges: Vec::new(),
            chunks: Vec::new(),
            by_draw: Vec::new(),
            shown: Vec::new(),
            shown_by_draw: Vec::new(),
            has_edges: false,
        }
    }

    /// Gathers what is seen now.
    pub(super) fn gather(
        &mut self,
        queue: &wgpu::Queue,
        draws: &[Draw],
        seen: &Seen,
        models: &Models,
    ) {
        self.indices.clear();
        self.chunks.clear();
        self.by_draw.clear();
        self.has_edges = false;
        for draw in draws {
            let first = self.chunks.len();
            let mut model = 0;
            for surface in draw
                .surfaces
                .iter()
                .filter(|surface| seen.holds(surface.id))
            {
                let start = self.indices.len() as u32;
                let own = surface.indices.start as usize..surface.indices.end as usize;
                self.indices
                    .extend_from_slice(self.all_indices.get(own).unwrap_or_default());
                let indices = start..self.indices.len() as u32;
                let bounds = models.moved_box(surface.model, surface.bounds);
                let open = self.chunks[first..].last_mut();
                match open.filter(|chunk| chunk.indices.len() < CHUNK && model == surface.model) {
                    Some(chunk) => {
                        chunk.indices.end = indices.end;
                        chunk.bounds = chunk.bounds.union(bounds);
                    }
                    None => self.chunks.push(Chunk { indices, bounds }),
                }
                model = surface.model;
            }
            self.by_draw.push(first..self.chunks.len());
        }
        queue.write_buffer(&self.index_buffer, 0, bytemuck::cast_slice(&self.indices));
    }

    /// Gathers the edges of what is seen, unless they are.
    pub(super) fn gather_edges(&mut self, queue: &wgpu::Queue, draws: &[Draw], seen: &Seen) {
        if self.has_edges {
            return;
        }
        self.has_edges = true;
        self.edges.clear();
        let surfaces = draws.iter().flat_map(|draw| &draw.surfaces);
        for surface in surfaces.filter(|surface| seen.holds(surface.id)) {
            let own = surface.edges.start as usize..surface.edges.end as usize;
            self.edges
                .extend_from_slice(self.all_edges.get(own).unwrap_or_default());
        }
        queue.write_buffer(&self.edge_buffer, 0, bytemuck::cast_slice(&self.edges));
    }

    /// Finds what of it is in the picture.
    pub(super) fn cull(&mut self, frustum: &Frustum) {
        self.shown.clear();
        self.shown_by_draw.clear();
        for chunks in &self.by_draw {
            let first = self.shown.len();
            for chunk in &self.chunks[chunks.clone()] {
                if frustum.place(&chunk.bounds, 0.0) == Place::Outside {
                    continue;
                }
                match self.shown[first..].last_mut() {
                    Some(run) if chunk.indices.start - run.end <= BRIDGE => {
                        run.end = chunk.indices.end;
                    }
                    _ => self.shown.push(chunk.indices.clone()),
                }
            }
            self.shown_by_draw.push(first..self.shown.len());
        }
    }

    /// Runs of triangles of draw number `draw`.
    pub(super) fn of_draw(&self, draw: usize) -> &[Range<u32>] {
        let runs = self.shown_by_draw.get(draw).cloned();
        runs.and_then(|runs| self.shown.get(runs))
            .unwrap_or_default()
    }

    /// The triangles that the runs are of.
    pub(super) fn indices(&self) -> wgpu::BufferSlice<'_> {
        self.index_buffer.slice(..)
    }

    /// The edges of everything seen, and how many ends they have.
    pub(super) fn edges(&self) -> (wgpu::BufferSlice<'_>, u32) {
        (self.edge_buffer.slice(..), self.edges.len() as u32)
    }
}
