use std::collections::HashSet;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::render::grid_lit::grid_lit_from;
use crate::render::shared;
use crate::render::sprites::Quads;
use crate::scene::{Scene, Surface};

/// A vertex on the GPU.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct GpuVertex {
    position: [f32; 3],
    normal: [f32; 3],
    st: [f32; 2],
    page_st: [f32; 2],
    colour: [u8; 4],
    page: u32,
    surface: u32,
    model: u32,
}

impl GpuVertex {
    const ATTRIBUTES: [wgpu::VertexAttribute; 8] = wgpu::vertex_attr_array![
        0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Float32x2, 4 => Unorm8x4, 5 => Uint32,
        6 => Uint32, 7 => Uint32
    ];

    fn new(scene: &Scene, surface: &Surface, number: u32, page: u32) -> Self {
        let vertex = &scene.vertices[number as usize];
        Self {
            position: vertex.position.to_array(),
            normal: vertex.normal.to_array(),
            st: vertex.st.to_array(),
            page_st: vertex.lightmap_st.to_array(),
            colour: vertex.colour,
            page,
            surface: surface.id.0,
            model: surface.model,
        }
    }

    /// Unit vector, or zero.
    pub(super) fn normal(&self) -> Vec3 {
        Vec3::from(self.normal)
    }

    /// The same in another colour of byte units.
    pub(super) fn with_rgb(self, rgb: Vec3) -> Self {
        let [r, g, b] = rgb.clamp(Vec3::ZERO, Vec3::splat(255.0)).to_array();
        Self {
            colour: [r as u8, g as u8, b as u8, self.colour[3]],
            ..self
        }
    }

    /// All attributes.
    pub(super) const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &Self::ATTRIBUTES,
    };

    /// The position and the inline model.
    pub(super) const POSITION: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &[Self::ATTRIBUTES[0], Self::ATTRIBUTES[7]],
    };
}

/// The drawn triangles of a scene in one vertex and one index list, surfaces in the order of drawing.
#[derive(Default)]
pub(super) struct Geometry {
    pub(super) vertices: Vec<GpuVertex>,
    pub(super) indices: Vec<u32>,
    /// Each edge of each surface once, for lines.
    pub(super) edges: Vec<u32>,
    /// Of the vertices of surfaces that turn towards the eye, in their order.
    pub(super) sprites: Vec<shared::Sprite>,
    /// Surfaces that the light grid lights: where from, and their vertices.
    pub(super) grid_lit: Vec<(Vec3, Range<u32>)>,
    remap: Vec<u32>,
    touched: Vec<u32>,
    seen: HashSet<(u32, u32)>,
}

impl Geometry {
    pub(super) fn new(scene: &Scene) -> Self {
        Self {
            remap: vec![u32::MAX; scene.vertices.len()],
            ..Self::default()
        }
    }

    /// Appends a surface and returns its ranges of `indices` and `edges`; `page` gives the last attribute of a vertex by its
    /// number in the scene. Vertices are copied, so surfaces that share some may differ in page.
    pub(super) fn push(
        &mut self,
        scene: &Scene,
        surface: &Surface,
        mut page: impl FnMut(u32) -> u32,
    ) -> (Range<u32>, Range<u32>) {
        let (first_index, first_edge) = (self.indices.len() as u32, self.edges.len() as u32);
        let range = surface.indices.start as usize..surface.indices.end as usize;
        let triangles = scene.indices.get(range).unwrap_or_default();
        let quads = Quads::of(scene, surface);
        let first_vertex = self.vertices.len() as u32;
        let turned = quads.as_ref().and_then(|quads| quads.triangles.as_deref());
        for triangle in turned.unwrap_or(triangles).chunks_exact(3) {
            let corners: [u32; 3] = std::array::from_fn(|i| {
                let number = triangle[i];
                let known = self.remap[number as usize];
                if known != u32::MAX {
                    return known;
                }
                let vertex = GpuVertex::new(scene, surface, number, page(number));
                self.add_vertex(number, vertex, quads.as_ref())
            });
            self.indices.extend(corners);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let (a, b) = (corners[a], corners[b]);
                if self.seen.insert((a.min(b), a.max(b))) {
                    self.edges.extend([a, b]);
                }
            }
        }
        if let Some(position) = grid_lit_from(scene, surface) {
            let own = first_vertex..self.vertices.len() as u32;
            self.grid_lit.push((position, own));
        }
        for vertex in self.touched.drain(..) {
            self.remap[vertex as usize] = u32::MAX;
        }
        self.seen.clear();
        (
            first_index..self.indices.len() as u32,
            first_edge..self.edges.len() as u32,
        )
    }

    fn add_vertex(&mut self, number: u32, mut vertex: GpuVertex, quads: Option<&Quads>) -> u32 {
        if let Some(quads) = quads {
            let (sprite, st) = quads.corner(number);
            self.sprites.push(sprite);
            vertex.st = st.map_or(vertex.st, |st| st.to_array());
        }
        let added = self.vertices.len() as u32;
        self.vertices.push(vertex);
        self.remap[number as usize] = added;
        self.touched.push(number);
        added
    }

    /// What a vertex that is added now needs to find its sprite: both lists grow alike while surfaces of quads are added.
    pub(super) fn sprite_offset(&self) -> u32 {
        (self.sprites.len() as u32).wrapping_sub(self.vertices.len() as u32)
    }
}
