//! Byte layouts of the IBSP records. Offsets: `docs/formats.md`.

use glam::{IVec3, Vec2};

use crate::format::bsp::types::{
    BrushSide, DrawVert, LightGridPoint, STYLE_NONE, STYLE_SLOTS, ShPoint, Shader, StyledGridPoint,
};
use crate::format::reader::Record;
use crate::math::{Aabb, Plane};

/// Bytes of a record in each lump; `STYLED_` are those of RBSP and FBSP where they differ from IBSP.
pub(super) mod size {
    pub(crate) const SHADER: usize = 72;
    pub(crate) const PLANE: usize = 16;
    pub(crate) const NODE: usize = 36;
    pub(crate) const LEAF: usize = 48;
    pub(crate) const INDEX: usize = 4;
    pub(crate) const MODEL: usize = 40;
    pub(crate) const BRUSH: usize = 12;
    pub(crate) const BRUSH_SIDE: usize = 8;
    pub(crate) const DRAW_VERT: usize = 44;
    pub(crate) const FOG: usize = 72;
    pub(crate) const SURFACE: usize = 104;
    pub(crate) const GRID_POINT: usize = 8;
    pub(crate) const STYLED_BRUSH_SIDE: usize = 12;
    pub(crate) const STYLED_DRAW_VERT: usize = 80;
    pub(crate) const STYLED_SURFACE: usize = 148;
    pub(crate) const STYLED_GRID_POINT: usize = 30;
    pub(crate) const GRID_INDEX: usize = 2;
}

/// First and count as stored; checked against their target by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: i32,
    pub(super) count: i32,
}

pub(super) struct RawNode {
    pub(super) plane: i32,
    pub(super) children: [i32; 2],
    pub(super) min: IVec3,
    pub(super) max: IVec3,
}

pub(super) struct RawLeaf {
    pub(super) cluster: i32,
    pub(super) area: i32,
    pub(super) min: IVec3,
    pub(super) max: IVec3,
    pub(super) surfaces: Span,
    pub(super) brushes: Span,
}

pub(super) struct RawModel {
    pub(super) bounds: Aabb,
    pub(super) surfaces: Span,
    pub(super) brushes: Span,
}

pub(super) struct RawBrush {
    pub(super) sides: Span,
    pub(super) shader: i32,
}

pub(super) struct RawFog {
    pub(super) material: String,
    pub(super) brush: i32,
    pub(super) visible_side: i32,
}

pub(super) struct RawSurface {
    pub(super) shader: i32,
    pub(super) fog: i32,
    pub(super) kind: i32,
    pub(super) verts: Span,
    pub(super) indexes: Span,
    pub(super) lightmap_styles: [u8; STYLE_SLOTS],
    pub(super) vertex_styles: [u8; STYLE_SLOTS],
    pub(super) lightmap: [i32; STYLE_SLOTS],
    pub(super) lightmap_origin: glam::Vec3,
    pub(super) lightmap_vecs: [glam::Vec3; 3],
    pub(super) patch_size: [i32; 2],
}

fn span(record: &mut Record<'_>) -> Span {
    Span {
        first: record.i32(),
        count: record.i32(),
    }
}

pub(super) fn shader(bytes: &[u8]) -> Shader {
    let mut record = Record::new(bytes);
    let name = record.name64();
    let (surface_flags, content_flags) = (record.u32(), record.u32());
    Shader {
        name,
        surface_flags,
        content_flags,
        stored_flags: [surface_flags, content_flags],
    }
}

pub(super) fn plane(bytes: &[u8]) -> Plane {
    let mut record = Record::new(bytes);
    Plane {
        normal: record.vec3(),
        dist: record.f32(),
    }
}

pub(super) fn node(bytes: &[u8]) -> RawNode {
    let mut record = Record::new(bytes);
    RawNode {
        plane: record.i32(),
        children: [record.i32(), record.i32()],
        min: record.ivec3(),
        max: record.ivec3(),
    }
}

pub(super) fn leaf(bytes: &[u8]) -> RawLeaf {
    let mut record = Record::new(bytes);
    RawLeaf {
        cluster: record.i32(),
        area: record.i32(),
        min: record.ivec3(),
        max: record.ivec3(),
        surfaces: span(&mut record),
        brushes: span(&mut record),
    }
}

pub(super) fn model(bytes: &[u8]) -> RawModel {
    let mut record = Record::new(bytes);
    RawModel {
        bounds: Aabb {
            min: record.vec3(),
            max: record.vec3(),
        },
        surfaces: span(&mut record),
        brushes: span(&mut record),
    }
}

pub(super) fn brush(bytes: &[u8]) -> RawBrush {
    let mut record = Record::new(bytes);
    RawBrush {
        sides: span(&mut record),
        shader: record.i32(),
    }
}

pub(super) fn brush_side(bytes: &[u8]) -> [i32; 2] {
    let mut record = Record::new(bytes);
    [record.i32(), record.i32()]
}

pub(super) fn side(plane: u32, shader: u32) -> BrushSide {
    BrushSide { plane, shader }
}

pub(super) fn draw_vert(bytes: &[u8]) -> DrawVert {
    let mut record = Record::new(bytes);
    let (position, st, lightmap_st) = (record.vec3(), record.vec2(), record.vec2());
    DrawVert {
        position,
        st,
        lightmap_st: [lightmap_st, Vec2::ZERO, Vec2::ZERO, Vec2::ZERO],
        normal: record.vec3(),
        colour: [record.array(), [0; 4], [0; 4], [0; 4]],
    }
}

pub(super) fn styled_draw_vert(bytes: &[u8]) -> DrawVert {
    let mut record = Record::new(bytes);
    let (position, st) = (record.vec3(), record.vec2());
    DrawVert {
        position,
        st,
        lightmap_st: std::array::from_fn(|_| record.vec2()),
        normal: record.vec3(),
        colour: std::array::from_fn(|_| record.array()),
    }
}

pub(super) fn index(bytes: &[u8]) -> i32 {
    Record::new(bytes).i32()
}

pub(super) fn fog(bytes: &[u8]) -> RawFog {
    let mut record = Record::new(bytes);
    RawFog {
        material: record.name64(),
        brush: record.i32(),
        visible_side: record.i32(),
    }
}

pub(super) fn surface(bytes: &[u8]) -> RawSurface {
    let mut record = Record::new(bytes);
    let (shader, fog, kind) = (record.i32(), record.i32(), record.i32());
    let (verts, indexes) = (span(&mut record), span(&mut record));
    let lightmap = record.i32();
    // Place and size on the page: informative only, and often zero.
    let _place: [u8; 16] = record.array();
    RawSurface {
        shader,
        fog,
        kind,
        verts,
        indexes,
        lightmap_styles: IBSP_STYLES,
        vertex_styles: IBSP_STYLES,
        lightmap: [lightmap, VERTEX_LIT, VERTEX_LIT, VERTEX_LIT],
        lightmap_origin: record.vec3(),
        lightmap_vecs: [record.vec3(), record.vec3(), record.vec3()],
        patch_size: [record.i32(), record.i32()],
    }
}

pub(super) fn styled_surface(bytes: &[u8]) -> RawSurface {
    let mut record = Record::new(bytes);
    let (shader, fog, kind) = (record.i32(), record.i32(), record.i32());
    let (verts, indexes) = (span(&mut record), span(&mut record));
    let (lightmap_styles, vertex_styles) = (record.array(), record.array());
    let lightmap = std::array::from_fn(|_| record.i32());
    // Places and size on the pages.
    let _place: [u8; 40] = record.array();
    RawSurface {
        shader,
        fog,
        kind,
        verts,
        indexes,
        lightmap_styles,
        vertex_styles,
        lightmap,
        lightmap_origin: record.vec3(),
        lightmap_vecs: [record.vec3(), record.vec3(), record.vec3()],
        patch_size: [record.i32(), record.i32()],
    }
}

/// Lightmap number of a surface lit by vertex, and of slots that IBSP does not have.
const VERTEX_LIT: i32 = -3;
/// Styles of an IBSP surface: only slot 0 is in use.
pub(super) const IBSP_STYLES: [u8; STYLE_SLOTS] = [0, STYLE_NONE, STYLE_NONE, STYLE_NONE];

pub(super) fn grid_point(bytes: &[u8]) -> LightGridPoint {
    let mut record = Record::new(bytes);
    LightGridPoint {
        ambient: record.array(),
        directed: record.array(),
        zenith: record.u8(),
        azimuth: record.u8(),
    }
}

pub(super) fn encode_grid_point(point: LightGridPoint) -> [u8; size::GRID_POINT] {
    let ([a, b, c], [d, e, f]) = (point.ambient, point.directed);
    [a, b, c, d, e, f, point.zenith, point.azimuth]
}

pub(super) fn styled_grid_point(bytes: &[u8]) -> StyledGridPoint {
    let mut record = Record::new(bytes);
    StyledGridPoint {
        ambient: std::array::from_fn(|_| record.array()),
        directed: std::array::from_fn(|_| record.array()),
        styles: record.array(),
        zenith: record.u8(),
        azimuth: record.u8(),
    }
}

pub(super) fn encode_styled_grid_point(point: &StyledGridPoint) -> [u8; size::STYLED_GRID_POINT] {
    let mut bytes = [0; size::STYLED_GRID_POINT];
    let light = point.ambient.iter().chain(&point.directed).flatten();
    let rest = point.styles.iter().chain([&point.zenith, &point.azimuth]);
    for (slot, byte) in bytes.iter_mut().zip(light.chain(rest)) {
        *slot = *byte;
    }
    bytes
}

pub(super) fn grid_index(bytes: &[u8]) -> u16 {
    u16::from_le_bytes(Record::new(bytes).array())
}

pub(super) fn sh_point(bytes: &[u8]) -> ShPoint {
    let mut record = Record::new(bytes);
    std::array::from_fn(|_| [record.f32(), record.f32(), record.f32()])
}
