use std::ops::Range;

use glam::Vec3;

use crate::scene::patch::{PatchGrid, PatchInput, PatchLevels, boundary_controls, tessellate};
use crate::scene::types::{SlotLight, Vertex};

/// The triangles of one surface on their own.
#[derive(Default)]
pub(super) struct Mesh {
    pub(super) vertices: Vec<Vertex>,
    /// Of each vertex, when the surface has light styles; else empty.
    pub(super) slot_lights: Vec<SlotLight>,
    /// Triangles, clockwise seen from the front.
    pub(super) indices: Vec<u32>,
    /// Where its outline is curved, ascending by the ends.
    pub(super) bends: Vec<Bend>,
    /// Whether its vertices come from the file as they are.
    pub(super) is_flat: bool,
}

/// A piece of a curved outline: between two vertices it is the quadratic curve with this control point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bend {
    /// Vertices, the lower number first.
    pub(super) ends: [u32; 2],
    pub(super) control: Vec3,
}

impl Mesh {
    /// A tessellated patch: two triangles a cell.
    pub(super) fn of_patch(patch: &PatchInput, levels: &PatchLevels) -> Self {
        let PatchGrid {
            width,
            height,
            vertices,
        } = tessellate(patch, levels);
        let at = |x: usize, y: usize| (y * width + x) as u32;
        let mut indices = Vec::with_capacity((width - 1) * (height - 1) * 6);
        for y in 0..height - 1 {
            for x in 0..width - 1 {
                let (a, b, c, d) = (at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1));
                indices.extend([a, c, b, b, c, d]);
            }
        }
        let [top, bottom, left, right] = boundary_controls(patch, levels);
        let mut bends = Vec::new();
        let mut bend = |ends: [u32; 2], control: Vec3| bends.push(Bend { ends, control });
        for (x, (first, last)) in top.into_iter().zip(bottom).enumerate() {
            bend([at(x, 0), at(x + 1, 0)], first);
            bend([at(x, height - 1), at(x + 1, height - 1)], last);
        }
        for (y, (first, last)) in left.into_iter().zip(right).enumerate() {
            bend([at(0, y), at(0, y + 1)], first);
            bend([at(width - 1, y), at(width - 1, y + 1)], last);
        }
        bends.sort_by_key(|bend| bend.ends);
        Self {
            vertices,
            indices,
            bends,
            ..Self::default()
        }
    }

    /// Appends it to lists of everything; the range of its indices there.
    pub(super) fn append_to(
        self,
        vertices: &mut Vec<Vertex>,
        slot_lights: &mut Vec<SlotLight>,
        indices: &mut Vec<u32>,
    ) -> Range<u32> {
        let base = vertices.len() as u32;
        let first = indices.len() as u32;
        vertices.extend(self.vertices);
        slot_lights.extend(self.slot_lights);
        indices.extend(self.indices.into_iter().map(|index| base + index));
        first..indices.len() as u32
    }

    /// Adds a vertex between two others, at `position` and `share` of the way.
    pub(super) fn add_between(&mut self, ends: [u32; 2], share: f32, position: Vec3) -> u32 {
        let [a, b] = ends.map(|end| end as usize);
        let (from, to) = (self.vertices[a], self.vertices[b]);
        let normal = from.normal.lerp(to.normal, share);
        self.vertices.push(Vertex {
            position,
            normal: normal.normalize_or(from.normal),
            st: from.st.lerp(to.st, share),
            lightmap_st: from.lightmap_st.lerp(to.lightmap_st, share),
            colour: mixed(from.colour, to.colour, share),
        });
        if let (Some(from), Some(to)) = (
            self.slot_lights.get(a).copied(),
            self.slot_lights.get(b).copied(),
        ) {
            self.slot_lights.push(SlotLight {
                lightmap_st: std::array::from_fn(|slot| {
                    from.lightmap_st[slot].lerp(to.lightmap_st[slot], share)
                }),
                colour: std::array::from_fn(|slot| {
                    mixed(from.colour[slot], to.colour[slot], share)
                }),
            });
        }
        self.vertices.len() as u32 - 1
    }
}

fn mixed(from: [u8; 4], to: [u8; 4], share: f32) -> [u8; 4] {
    std::array::from_fn(|i| {
        let (from, to) = (f32::from(from[i]), f32::from(to[i]));
        (from + (to - from) * share).round() as u8
    })
}
