//! Materials, planes, the tree, models and brushes.

use std::collections::BTreeSet;

use crate::format::bsp::LumpKind;
use crate::format::check::{Findings, View, f32s_at, finite, i32_at};

/// Bytes of a name field.
const NAME_BYTES: usize = 64;
/// How far a normal's length may be from 1.
const UNIT_TOLERANCE: f32 = 1e-3;
/// Areas that engines allow.
const AREAS: i64 = 256;
/// Models that the original engine takes.
const MODELS: i64 = 256;
/// Sides from which engines take a brush's bounds.
const AXIAL_SIDES: usize = 6;

pub(super) fn check(view: &View<'_>, list: &mut Findings) {
    for (kind, code, what) in [
        (LumpKind::Shaders, "E211", "material"),
        (LumpKind::Planes, "E221", "plane"),
        (LumpKind::Nodes, "E231", "node"),
        (LumpKind::Leafs, "E241", "leaf"),
        (LumpKind::Models, "E271", "model"),
    ] {
        if view.count(kind) == 0 {
            list.add(code, kind, None, &[], || format!("there is no {what}"));
        }
    }
    check_materials(view, list);
    check_planes(view, list);
    check_nodes(view, list);
    check_leafs(view, list);
    check_models(view, list);
    check_brushes(view, list);
    check_fogs(view, list);
}

fn check_materials(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Shaders;
    let mut seen = BTreeSet::new();
    for (index, record) in view.records(kind).enumerate() {
        let field = record.get(..NAME_BYTES).unwrap_or_default();
        let offset = [("offset", view.offset(kind, index, 0))];
        if !field.contains(&0) {
            list.add("W212", kind, Some(index), &offset, || {
                "the name has no NUL in its 64 bytes".to_owned()
            });
        }
        let bytes = field.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(bytes).to_ascii_lowercase();
        if name.contains("..") || name.starts_with(['/', '\\']) || name.contains(':') {
            list.add("W213", kind, Some(index), &offset, || {
                format!("“{name}” is no name inside a game folder")
            });
        }
        let flags = record.get(NAME_BYTES..).unwrap_or_default();
        if !seen.insert((name.clone(), flags)) {
            list.add("I214", kind, Some(index), &offset, || {
                format!("“{name}” is listed twice with the same flags")
            });
        }
    }
}

fn check_planes(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Planes;
    for (index, record) in view.records(kind).enumerate() {
        let [x, y, z, dist] = f32s_at(record, 0);
        let length = (x * x + y * y + z * z).sqrt();
        if !finite(&[x, y, z, dist]) || (length - 1.0).abs() > UNIT_TOLERANCE {
            let numbers = [
                ("length", f64::from(length)),
                ("offset", view.offset(kind, index, 0)),
            ];
            list.add("W222", kind, Some(index), &numbers, || {
                format!("normal {x} {y} {z} (length {length}), distance {dist}")
            });
        }
    }
    for (pair, record) in view.lump(kind).chunks(32).enumerate() {
        let (front, back) = (f32s_at::<4>(record, 0), f32s_at::<4>(record, 16));
        #[expect(clippy::float_cmp, reason = "exact opposites are meant")]
        let opposite = record.len() == 32 && front == back.map(|number| -number);
        if !opposite && record.len() >= 16 {
            list.add("I223", kind, Some(2 * pair), &[], || {
                format!(
                    "planes {} and {} are no exact opposites",
                    2 * pair,
                    2 * pair + 1
                )
            });
        }
    }
}

fn check_nodes(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Nodes;
    let (nodes, leafs) = (view.count(kind), view.count(LumpKind::Leafs));
    let mut sound = true;
    for (index, record) in view.records(kind).enumerate() {
        let plane = i32_at(record, 0);
        let planes = view.count(LumpKind::Planes);
        sound &= view.in_range(list, "E232", (kind, index, 0), "plane", plane, 0, planes);
        for at in [4, 8] {
            let child = i32_at(record, at);
            sound &= view.in_range(
                list,
                "E232",
                (kind, index, at),
                "child",
                child,
                -leafs,
                nodes,
            );
        }
    }
    if sound && nodes > 0 {
        walk(view, list);
    }
}

/// Goes through a tree whose numbers are in range.
fn walk(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Nodes;
    let size = |kind| usize::try_from(view.count(kind)).unwrap_or_default();
    let mut node_seen = vec![false; size(kind)];
    let mut leaf_seen = vec![false; size(LumpKind::Leafs)];
    let mut open = vec![0_usize];
    while let Some(number) = open.pop() {
        match node_seen.get_mut(number) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                list.add("E233", kind, Some(number), &[], || {
                    format!("node {number} is reached twice")
                });
                return;
            }
        }
        let record = view.lump(kind).get(number * 36..).unwrap_or_default();
        for child in [i32_at(record, 4), i32_at(record, 8)] {
            if let Ok(next) = usize::try_from(child) {
                open.push(next);
                continue;
            }
            // −1 − child cannot overflow for a negative child.
            let leaf = usize::try_from(-1 - child).unwrap_or_default();
            match leaf_seen.get_mut(leaf) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    list.add("E233", kind, Some(number), &[], || {
                        format!("leaf {leaf} is reached twice")
                    });
                    return;
                }
            }
        }
    }
    let unreached = leaf_seen.iter().filter(|seen| !**seen).count();
    let models = size(LumpKind::Models);
    if unreached != models {
        let numbers = [("unreached", unreached as f64), ("models", models as f64)];
        list.add("W234", LumpKind::Leafs, None, &numbers, || {
            format!("the tree does not reach {unreached} leafs, there are {models} models")
        });
    }
}

fn check_leafs(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Leafs;
    let lists = [LumpKind::LeafSurfaces, LumpKind::LeafBrushes].map(|lump| view.count(lump));
    let [surfaces, brushes] = lists;
    for (index, record) in view.records(kind).enumerate() {
        let end = i64::from(i32::MAX) + 1;
        let cluster = i32_at(record, 0);
        view.in_range(list, "E243", (kind, index, 0), "cluster", cluster, -1, end);
        let area = i32_at(record, 4);
        view.in_range(list, "E243", (kind, index, 4), "area", area, -1, AREAS);
        view.span(
            list,
            "E242",
            (kind, index, 32),
            "surfaces",
            record,
            surfaces,
        );
        view.span(list, "E242", (kind, index, 40), "brushes", record, brushes);
    }
    for (lump, code, target, what) in [
        (
            LumpKind::LeafSurfaces,
            "E251",
            LumpKind::Surfaces,
            "surface",
        ),
        (LumpKind::LeafBrushes, "E261", LumpKind::Brushes, "brush"),
    ] {
        let total = view.count(target);
        for (index, record) in view.records(lump).enumerate() {
            view.in_range(
                list,
                code,
                (lump, index, 0),
                what,
                i32_at(record, 0),
                0,
                total,
            );
        }
    }
}

fn check_models(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Models;
    let surfaces = view.count(LumpKind::Surfaces);
    let brushes = view.count(LumpKind::Brushes);
    for (index, record) in view.records(kind).enumerate() {
        view.span(
            list,
            "E272",
            (kind, index, 24),
            "surfaces",
            record,
            surfaces,
        );
        view.span(list, "E272", (kind, index, 32), "brushes", record, brushes);
        let (min, max) = (f32s_at::<3>(record, 0), f32s_at::<3>(record, 12));
        let turned = min.iter().zip(max).any(|(min, max)| *min > max);
        if turned || !finite(&min) || !finite(&max) {
            let offset = [("offset", view.offset(kind, index, 0))];
            list.add("W273", kind, Some(index), &offset, || {
                format!("bounds from {min:?} to {max:?}")
            });
        }
    }
    let models = view.count(kind);
    if models > MODELS {
        let numbers = [("found", models as f64), ("max", MODELS as f64)];
        list.add("I274", kind, None, &numbers, || format!("{models} models"));
    }
}

fn check_brushes(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Brushes;
    let (sides, materials) = (
        view.count(LumpKind::BrushSides),
        view.count(LumpKind::Shaders),
    );
    let planes = view.count(LumpKind::Planes);
    for (index, record) in view.records(LumpKind::BrushSides).enumerate() {
        let place = |at| (LumpKind::BrushSides, index, at);
        view.in_range(
            list,
            "E291",
            place(0),
            "plane",
            i32_at(record, 0),
            0,
            planes,
        );
        view.in_range(
            list,
            "E291",
            place(4),
            "material",
            i32_at(record, 4),
            0,
            materials,
        );
    }
    for (index, record) in view.records(kind).enumerate() {
        let material = i32_at(record, 8);
        view.in_range(
            list,
            "E281",
            (kind, index, 8),
            "material",
            material,
            0,
            materials,
        );
        if !view.span(list, "E281", (kind, index, 0), "sides", record, sides) {
            continue;
        }
        let (first, count) = (i32_at(record, 0), i32_at(record, 4));
        let axial = (0..AXIAL_SIDES)
            .take_while(|side| is_axial(view, first, *side))
            .count();
        if usize::try_from(count).is_ok_and(|count| count < AXIAL_SIDES) || axial < AXIAL_SIDES {
            let numbers = [("sides", f64::from(count)), ("axial", axial as f64)];
            list.add("E282", kind, Some(index), &numbers, || {
                format!("{count} sides, of the first six {axial} are axial and in order")
            });
        }
    }
}

/// Whether side `number` of a brush has the plane that engines expect there: −X, +X, −Y, +Y, −Z, +Z.
fn is_axial(view: &View<'_>, first: i32, number: usize) -> bool {
    let first = usize::try_from(first).unwrap_or_default();
    let side = view.lump(LumpKind::BrushSides);
    let side = side
        .get((first + number) * view.side_bytes..)
        .unwrap_or_default();
    let Ok(plane) = usize::try_from(i32_at(side, 0)) else {
        return false;
    };
    let plane = view.lump(LumpKind::Planes).get(plane.saturating_mul(16)..);
    let normal: [f32; 3] = f32s_at(plane.unwrap_or_default(), 0);
    let sign = if number.is_multiple_of(2) { -1.0 } else { 1.0 };
    let along = normal.get(number / 2).copied().unwrap_or_default();
    (along - sign).abs() < UNIT_TOLERANCE
}

fn check_fogs(view: &View<'_>, list: &mut Findings) {
    let kind = LumpKind::Fogs;
    let brushes = view.count(LumpKind::Brushes);
    for (index, record) in view.records(kind).enumerate() {
        let (brush, side) = (i32_at(record, 64), i32_at(record, 68));
        if brush == -1 {
            let name = record.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let offset = [("offset", view.offset(kind, index, 64))];
            list.add("W321", kind, Some(index), &offset, || {
                format!("“{name}” covers the whole world")
            });
            continue;
        }
        let place = (kind, index, 64);
        if !view.in_range(list, "W322", place, "brush", brush, 0, brushes) {
            continue;
        }
        let at = usize::try_from(brush).unwrap_or_default() * 12;
        let record = view.lump(LumpKind::Brushes).get(at..).unwrap_or_default();
        let sides = i64::from(i32_at(record, 4));
        view.in_range(
            list,
            "W322",
            (kind, index, 68),
            "visible side",
            side,
            -1,
            sides,
        );
    }
    let fogs = view.count(kind);
    if fogs > 31 {
        let numbers = [("found", fogs as f64), ("max", 31.0)];
        list.add("W323", kind, None, &numbers, || format!("{fogs} fogs"));
    }
}
