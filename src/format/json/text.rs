//! Lump 0 ↔ `entities.json`.

use crate::format::entities::{Entities, Entity};
use crate::format::json::emit::Emitter;
use crate::format::json::error::Fault;
use crate::format::json::parse::Parser;
use crate::format::json::record::text_of;

/// The member that every pair of an entity has.
const PAIR: &str = "KeyValue";

/// Latin-1 characters back to bytes, then as JSON has them.
fn json_text(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text
        .chars()
        .map(|c| u8::try_from(u32::from(c)).ok())
        .collect();
    bytes.map_or_else(|| text.to_owned(), |bytes| text_of(&bytes))
}

pub(super) fn emit(lump: &[u8], out: &mut Emitter<'_>) {
    out.begin_object();
    for (number, entity) in Entities::parse(lump).list.iter().enumerate() {
        out.numbered_key("entity", number);
        emit_entity(entity, out);
    }
    out.end();
}

fn emit_entity(entity: &Entity, out: &mut Emitter<'_>) {
    out.begin_object();
    for (key, value) in &entity.pairs {
        out.key(PAIR);
        out.begin_array();
        out.string(&json_text(key));
        out.string(&json_text(value));
        out.end();
    }
    out.end();
}

/// The lump that [`parse`] makes from what [`emit`] writes.
pub(super) fn normalised(lump: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for entity in &Entities::parse(lump).list {
        text.extend_from_slice(b"{\n");
        for (key, value) in &entity.pairs {
            push_pair(
                &mut text,
                json_text(key).as_bytes(),
                json_text(value).as_bytes(),
            );
        }
        text.extend_from_slice(b"}\n");
    }
    text.push(0);
    text
}

fn push_pair(text: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    for (part, behind) in [(key, b' '), (value, b'\n')] {
        text.push(b'"');
        text.extend_from_slice(part);
        text.push(b'"');
        text.push(behind);
    }
}

/// The entity text: a pair a line, one NUL at the end.
pub(super) fn parse(parser: &mut Parser<'_>) -> Result<Vec<u8>, Fault> {
    let mut text = Vec::new();
    parser.object(|parser, _| {
        text.extend_from_slice(b"{\n");
        parser.object(|parser, _| {
            let mut pair = [Vec::new(), Vec::new()];
            parser.array_of(2, |parser, place| {
                let part = parser.string()?;
                if part.iter().any(|byte| matches!(byte, b'"' | 0)) {
                    return parser.fault("a key or value must not hold a quote or NUL");
                }
                if let Some(slot) = pair.get_mut(place) {
                    *slot = part;
                }
                Ok(())
            })?;
            let [key, value] = &pair;
            push_pair(&mut text, key, value);
            Ok(())
        })?;
        text.extend_from_slice(b"}\n");
        Ok(())
    })?;
    text.push(0);
    Ok(text)
}
