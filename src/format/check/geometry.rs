//! Surfaces, vertices, indexes and lightmap pages.

use glam::Vec3;

use crate::format::bsp::LumpKind;
use crate::format::check::{Findings, View, f32s_at, finite, i32_at};

/// Farthest coordinate that engines are made for, game units.
const WORLD_LIMIT: f32 = 131_072.0;
/// Points of a patch at most, and along a side.
const PATCH_POINTS: i64 = 1024;
const PATCH_SIDE: i32 = 129;

/// Vertices and indexes of surfaces that are looked at, beside those for each vertex of the file: surfaces of a hostile file
/// may all name the same ones. The reader skips such surfaces and says so.
const READS: usize = 200_000;
const READS_PER_VERT: usize = 9;

const PLANAR: i32 = 1;
const PATCH: i32 = 2;
const SOUP: i32 = 3;
const FLARE: i32 = 4;
/// Enemy Territory's, under version 47 only.
const FOLIAGE: i32 = 5;

pub(super) fn check(view: &View<'_>, list: &mut Findings) {
    check_verts(view, list);
    let mut used =
        vec![false; usize::try_from(view.count(LumpKind::Lightmaps)).unwrap_or_default()];
    let verts = usize::try_from(view.count(LumpKind::DrawVerts)).unwrap_or_default();
    let mut left = READS + READS_PER_VERT * verts;
    for (index, record) in view.records(LumpKind::Surfaces).enumerate() {
        let rest = left.checked_sub(reads(record));
        left = rest.unwrap_or(left);
        check_surface(view, list, index, record, &mut used, rest.is_some());
    }
    let unused = used.iter().filter(|used| !**used).count();
    if unused > 0 {
        let first = used.iter().position(|used| !*used);
        let numbers = [("unused", unused as f64), ("pages", used.len() as f64)];
        list.add("I342", LumpKind::Lightmaps, first, &numbers, || {
            format!("{unused} of {} pages are used by no surface", used.len())
        });
    }
}

/// Vertices and indexes of a surface.
fn reads(record: &[u8]) -> usize {
    let number = |at| usize::try_from(i32_at(record, at)).unwrap_or_default();
    let indexes = if i32_at(record, 8) == PATCH {
        0
    } else {
        number(24)
    };
    number(16).saturating_add(indexes)
}

fn check_verts(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::DrawVerts;
    for (index, record) in view.records(kind).enumerate() {
        let position: [f32; 3] = f32s_at(record, 0);
        let offset = [("offset", view.offset(kind, index, 0))];
        if !finite(&position) || position.iter().any(|number| number.abs() > WORLD_LIMIT) {
            list.add("W301", kind, Some(index), &offset, || {
                format!("position {position:?}")
            });
        }
        let (st, normal) = (
            f32s_at::<2>(record, 12),
            f32s_at::<3>(record, view.normal_at),
        );
        if !finite(&st) || !finite(&normal) {
            list.add("W302", kind, Some(index), &offset, || {
                format!("texture coordinates {st:?}, normal {normal:?}")
            });
        }
        if Vec3::from(normal) == Vec3::ZERO {
            list.add("I304", kind, Some(index), &offset, || {
                "the normal is zero".to_owned()
            });
        }
    }
}

fn check_surface(
    view: &View<'_>,
    list: &mut Findings,
    index: usize,
    record: &[u8],
    pages: &mut [bool],
    affordable: bool,
) {
    let kind = LumpKind::Surfaces;
    let materials = view.count(LumpKind::Shaders);
    let material = i32_at(record, 0);
    view.in_range(
        list,
        "E331",
        (kind, index, 0),
        "material",
        material,
        0,
        materials,
    );
    let what = i32_at(record, 8);
    let is_47 = view.bsp.directory.variant.version == 47;
    if what == FLARE {
        // Its fog and lightmap numbers mean nothing.
        return;
    }
    if !(matches!(what, PLANAR..=SOUP) || what == FOLIAGE && is_47) {
        let numbers = [
            ("found", f64::from(what)),
            ("offset", view.offset(kind, index, 8)),
        ];
        list.add("E333", kind, Some(index), &numbers, || {
            format!("kind {what}")
        });
        return;
    }
    let fogs = view.count(LumpKind::Fogs);
    view.in_range(
        list,
        "W334",
        (kind, index, 4),
        "fog",
        i32_at(record, 4),
        -1,
        fogs,
    );
    check_page(view, list, index, record, pages);
    let verts = view.count(LumpKind::DrawVerts);
    let mut sound = view.span(list, "E332", (kind, index, 12), "vertices", record, verts);
    if what == PATCH {
        check_patch(view, list, index, record);
    } else {
        let indexes = view.count(LumpKind::DrawIndexes);
        sound &= view.span(list, "E332", (kind, index, 20), "indexes", record, indexes);
        sound &= affordable;
        if sound {
            check_triangles(view, list, index, record);
        }
    }
    let page = i32_at(record, view.lightmap_at);
    if sound && affordable && page >= 0 && what != SOUP {
        check_lightmap_st(view, list, record);
    }
}

fn check_page(
    view: &View<'_>,
    list: &mut Findings,
    index: usize,
    record: &[u8],
    pages: &mut [bool],
) {
    let slots = if view.surface_bytes == 104 { 1 } else { 4 };
    for slot in 0..slots {
        let at = view.lightmap_at + 4 * slot;
        let page = i32_at(record, at);
        // Without pages of its own a map takes them from files, of any number.
        let end = match pages.len() {
            0 => i64::from(i32::MAX),
            pages => i64::try_from(pages).unwrap_or(i64::MAX),
        };
        let place = (LumpKind::Surfaces, index, at);
        view.in_range(list, "W336", place, "lightmap page", page, -4, end);
        if let Some(used) = usize::try_from(page)
            .ok()
            .and_then(|page| pages.get_mut(page))
        {
            *used = true;
        }
    }
}

fn check_patch(view: &View<'_>, list: &mut Findings, index: usize, record: &[u8]) {
    let (width, height) = (
        i32_at(record, view.patch_at),
        i32_at(record, view.patch_at + 4),
    );
    let side = |n: i32| (3..=PATCH_SIDE).contains(&n) && n % 2 == 1;
    let points = i64::from(width) * i64::from(height);
    let verts = i32_at(record, 16);
    if !side(width) || !side(height) || points > PATCH_POINTS || points != i64::from(verts) {
        let numbers = [
            ("width", f64::from(width)),
            ("height", f64::from(height)),
            ("verts", f64::from(verts)),
            (
                "offset",
                view.offset(LumpKind::Surfaces, index, view.patch_at),
            ),
        ];
        list.add("E335", LumpKind::Surfaces, Some(index), &numbers, || {
            format!("a patch of {width}×{height} with {verts} vertices")
        });
    }
}

/// Indexes of a surface whose ranges are sound.
fn check_triangles(view: &View<'_>, list: &mut Findings, surface: usize, record: &[u8]) {
    let number = |at| usize::try_from(i32_at(record, at)).unwrap_or_default();
    let (first_vert, verts) = (number(12), i32_at(record, 16));
    let (first_index, count) = (number(20), number(24));
    if !count.is_multiple_of(3) {
        let numbers = [
            ("found", count as f64),
            ("offset", view.offset(LumpKind::Surfaces, surface, 24)),
        ];
        list.add("E312", LumpKind::Surfaces, Some(surface), &numbers, || {
            format!("{count} indexes are no whole triangles")
        });
    }
    let kind = LumpKind::DrawIndexes;
    let indexes = view
        .lump(kind)
        .get(4 * first_index..4 * (first_index + count));
    for (triangle, corners) in indexes.unwrap_or_default().chunks(12).enumerate() {
        let mut points = [Vec3::ZERO; 3];
        let mut sound = corners.len() == 12;
        for (corner, bytes) in corners.chunks(4).enumerate() {
            let place = first_index + 3 * triangle + corner;
            let index = i32_at(bytes, 0);
            let end = i64::from(verts);
            if !view.in_range(list, "E311", (kind, place, 0), "index", index, 0, end) {
                sound = false;
                continue;
            }
            let vert = first_vert + usize::try_from(index).unwrap_or_default();
            let vert = view.lump(LumpKind::DrawVerts).get(vert * view.vert_bytes..);
            if let Some(point) = points.get_mut(corner) {
                *point = Vec3::from(f32s_at::<3>(vert.unwrap_or_default(), 0));
            }
        }
        let [a, b, c] = points.map(Vec3::as_dvec3);
        if sound && (b - a).cross(c - a).length_squared() == 0.0 {
            list.add(
                "I313",
                LumpKind::Surfaces,
                Some(surface),
                &[("triangle", triangle as f64)],
                || format!("triangle {triangle} has no area: {a}, {b}, {c}"),
            );
        }
    }
}

/// Lightmap coordinates of a lit surface whose vertices are there.
fn check_lightmap_st(view: &View<'_>, list: &mut Findings, record: &[u8]) {
    let kind = LumpKind::DrawVerts;
    let number = |at| usize::try_from(i32_at(record, at)).unwrap_or_default();
    for index in number(12)..number(12) + number(16) {
        let vert = view.lump(kind).get(index * view.vert_bytes..);
        let st: [f32; 2] = f32s_at(vert.unwrap_or_default(), 20);
        if !finite(&st) {
            let offset = [("offset", view.offset(kind, index, 20))];
            list.add("W303", kind, Some(index), &offset, || {
                format!("lightmap coordinates {st:?}")
            });
        }
    }
}
