//! The file as a whole and its entity text.

use std::collections::BTreeSet;

use crate::format::bsp::{LumpEntry, LumpKind};
use crate::format::check::{Findings, View};
use crate::format::entities::Entity;

/// Padding between lumps.
const PADDING_MAX: usize = 3;
/// Longest key and value that engines copy without cutting.
const KEY_BYTES: usize = 31;
const VALUE_BYTES: usize = 1023;
/// Pairs of an entity at most, in Quake 3.
const PAIRS: usize = 64;

pub(super) fn check(view: &View<'_>, list: &mut Findings) {
    check_places(view, list);
    for kind in view.bsp.directory.kinds() {
        let Some(bytes) = view.record_bytes(kind) else {
            continue;
        };
        let rest = view.lump(kind).len() % bytes;
        if rest != 0 {
            let code = if kind == LumpKind::Lightmaps {
                "W341"
            } else {
                "E205"
            };
            let length = view.lump(kind).len();
            let numbers = [("bytes", length as f64), ("record", bytes as f64)];
            list.add(code, kind, None, &numbers, || {
                format!("{length} bytes are no whole number of records of {bytes}")
            });
        }
    }
    reader_warnings(view, list);
    check_text(view, list);
}

/// Alignment, overlaps, gaps, trailing bytes.
fn check_places(view: &View<'_>, list: &mut Findings) {
    let directory = &view.bsp.directory;
    let mut live: Vec<(LumpKind, LumpEntry)> = directory
        .kinds()
        .map(|kind| (kind, directory.entry(kind)))
        .filter(|(_, entry)| entry.is_live())
        .collect();
    live.sort_by_key(|(_, entry)| entry.offset);
    let odd: Vec<String> = live
        .iter()
        .filter(|(_, entry)| !entry.offset.is_multiple_of(4))
        .map(|(kind, _)| kind.index().to_string())
        .collect();
    if let Some((kind, _)) = live.iter().find(|(_, e)| !e.offset.is_multiple_of(4)) {
        list.add("I201", *kind, None, &[("lumps", odd.len() as f64)], || {
            format!(
                "{} lumps lie at offsets that are no multiple of 4: {}",
                odd.len(),
                odd.join(", ")
            )
        });
    }
    let mut end = directory.header_bytes();
    let mut before = None;
    for (kind, entry) in &live {
        if let Some(other) = before.filter(|_| entry.offset < end) {
            let other: LumpKind = other;
            list.add(
                "W203",
                *kind,
                None,
                &[("offset", entry.offset as f64)],
                || {
                    format!(
                        "shares bytes with lump {} ({})",
                        other.index(),
                        other.name()
                    )
                },
            );
        }
        let marked = before.is_none() && directory.marker.is_some();
        let gap = entry.offset.saturating_sub(end);
        if gap > PADDING_MAX && !marked {
            list.add(
                "I206",
                *kind,
                None,
                &[("bytes", gap as f64), ("offset", end as f64)],
                || format!("{gap} bytes of no lump lie before it, from byte {end} on"),
            );
        }
        if entry.range().end >= end {
            end = entry.range().end;
            before = Some(*kind);
        }
    }
    if let Some(block) = &directory.bspx {
        end = end.max(block.range.end);
    }
    // Padding to the next multiple of 4 is nothing to speak of.
    let padded = end.next_multiple_of(4);
    let length = view.bsp.source.len();
    if let Some(kind) = before
        && length > padded
    {
        let trailing = length - padded;
        list.add(
            "I202",
            kind,
            None,
            &[("bytes", trailing as f64), ("offset", padded as f64)],
            || format!("{trailing} bytes behind the last lump, from byte {padded} on"),
        );
    }
}

/// What only the reader looks at: visibility, the extra lumps.
fn reader_warnings(view: &View<'_>, list: &mut Findings) {
    for warning in &view.bsp.warnings {
        let code = match warning.lump {
            LumpKind::Visibility => "W361",
            LumpKind::LightGridSh => "W371",
            LumpKind::Advertisements => "W372",
            LumpKind::LightGridArray => "W412",
            _ => continue,
        };
        list.add(code, warning.lump, warning.index, &[], || {
            warning.what.clone()
        });
    }
}

fn check_text(view: &View<'_>, list: &mut Findings) {
    let entities = &view.bsp.entities;
    let lump = LumpKind::Entities;
    for warning in &entities.warnings {
        list.add("W381", lump, None, &[], || warning.clone());
    }
    let text = view.lump(lump);
    if !text.is_empty() && text.last() != Some(&0) {
        list.add("I382", lump, None, &[], || {
            "the text does not end in a NUL".to_owned()
        });
    }
    let classname = entities.worldspawn().map(Entity::classname);
    if let Some(found) = classname.filter(|name| !name.eq_ignore_ascii_case("worldspawn")) {
        list.add("I386", lump, Some(0), &[], || {
            format!("the first entity is “{found}”")
        });
    }
    let models = view.count(LumpKind::Models);
    let mut shown = BTreeSet::from([0]);
    for (index, entity) in entities.list.iter().enumerate() {
        check_entity(index, entity, list);
        let Some(number) = entity.inline_model() else {
            continue;
        };
        shown.insert(number);
        let known = i64::try_from(number).is_ok_and(|number| number < models);
        if !known {
            let numbers = [("found", number as f64), ("max", (models - 1) as f64)];
            list.add("W276", lump, Some(index), &numbers, || {
                format!(
                    "{} shows model *{number}, there are {models}",
                    entity.classname()
                )
            });
        }
    }
    for model in 0..usize::try_from(models).unwrap_or_default() {
        if !shown.contains(&model) {
            list.add("I275", LumpKind::Models, Some(model), &[], || {
                format!("no entity shows model *{model}")
            });
        }
    }
}

fn check_entity(index: usize, entity: &Entity, list: &mut Findings) {
    let lump = LumpKind::Entities;
    let pairs = entity.pairs.len();
    if pairs > PAIRS {
        list.add(
            "I385",
            lump,
            Some(index),
            &[("found", pairs as f64), ("max", PAIRS as f64)],
            || format!("{} has {pairs} pairs", entity.classname()),
        );
    }
    let mut keys = BTreeSet::new();
    for (key, value) in &entity.pairs {
        // One character is one byte: the text is read as Latin-1.
        let (key_bytes, value_bytes) = (key.chars().count(), value.chars().count());
        if key_bytes > KEY_BYTES || value_bytes > VALUE_BYTES {
            let numbers = [("key", key_bytes as f64), ("value", value_bytes as f64)];
            list.add("W384", lump, Some(index), &numbers, || {
                let start: String = key.chars().take(KEY_BYTES).collect();
                format!("“{start}” has a key of {key_bytes} and a value of {value_bytes} bytes")
            });
        }
        if !keys.insert(key.to_ascii_lowercase()) {
            list.add("I387", lump, Some(index), &[], || {
                let start: String = key.chars().take(KEY_BYTES).collect();
                format!("{} has “{start}” twice", entity.classname())
            });
        }
    }
}
