use std::io::Read;

use crate::format::bsp::LumpKind;
use crate::format::json::error::{Fault, JsonError};
use crate::format::json::extra::{EXTRA_FILE, Extra, fault};
use crate::format::json::layout::{self, Lumps};
use crate::format::json::parse::Parser;
use crate::format::json::record;
use crate::format::json::schema::{ENTITIES_FILE, RECORD_FILES, SH_FILE, Styles};
use crate::format::json::{sh, text};

/// Opens a file to be read, by its name without folder; `None` when there is none.
pub type Open<'a> = dyn FnMut(&str) -> std::io::Result<Option<Box<dyn Read>>> + 'a;

/// Makes a map from its JSON files.
///
/// With the extra file of [`crate::format::json::unpack`] the map is laid out as it was, byte for byte if no JSON file says
/// anything else; an edited file replaces its lump only. Without it (q3map2's own output) the map is written in the usual
/// order: version 46 with 17 entries, or 47 with 19 when there is an SH grid. Numbers are checked against their storage, not
/// against each other: a map that had unsound indexes can be put together again.
///
/// # Errors
/// The first mistake, with file, line and member.
pub fn pack(open: &mut Open<'_>) -> Result<Vec<u8>, JsonError> {
    let extra = read_extra(open)?;
    if let Some(extra) = &extra
        && extra.ident != "IBSP"
    {
        return Err(JsonError::UnsupportedKind {
            ident: extra.ident.escape_debug().to_string(),
        });
    }
    let mut lumps = Lumps::default();
    for lump in &RECORD_FILES {
        let mut bytes = Vec::new();
        let parsed = parse_file(lump.file, open, |parser| {
            parser.object(|parser, _| record::parse(parser, lump, Styles::One, &mut bytes))
        })?;
        if parsed.is_none() {
            return Err(missing(lump.file));
        }
        put(&mut lumps, lump.lump, bytes);
    }
    let entities = parse_file(ENTITIES_FILE, open, text::parse)?;
    let entities = entities.ok_or_else(|| missing(ENTITIES_FILE))?;
    put(&mut lumps, LumpKind::Entities, entities);
    if let Some(grid) = parse_file(SH_FILE, open, sh::parse)? {
        put(&mut lumps, LumpKind::LightGridSh, grid);
    }
    match extra {
        Some(extra) => {
            let edited = restore(&extra, &mut lumps)?;
            layout::preserved(&extra, &lumps, edited)
        }
        None => layout::canonical(&lumps),
    }
}

/// Puts back what JSON lost, lump by lump; whether any lump was edited since.
fn restore(extra: &Extra, lumps: &mut Lumps) -> Result<bool, JsonError> {
    let mut edited = false;
    let mut described = [false; 19];
    for known in &extra.lumps {
        let place = known.lump;
        let (Some(lump), Some(described)) = (lumps.get_mut(place), described.get_mut(place)) else {
            return Err(fault(format!("there is no lump {place}")));
        };
        *described = true;
        if place == LumpKind::Advertisements.index() {
            *lump = known.original(&[])?;
        } else if let Some(original) = known.restore(lump)? {
            *lump = original;
        } else {
            edited = true;
        }
    }
    let added = lumps.iter().zip(described);
    Ok(edited
        || added
            .into_iter()
            .any(|(lump, known)| !known && !lump.is_empty()))
}

fn put(lumps: &mut Lumps, kind: LumpKind, bytes: Vec<u8>) {
    if let Some(slot) = lumps.get_mut(kind.index()) {
        *slot = bytes;
    }
}

fn missing(file: &str) -> JsonError {
    JsonError::MissingFile {
        file: file.to_owned(),
    }
}

fn open_file(file: &str, open: &mut Open<'_>) -> Result<Option<Box<dyn Read>>, JsonError> {
    open(file).map_err(|source| JsonError::Io {
        file: file.to_owned(),
        source,
    })
}

fn read_extra(open: &mut Open<'_>) -> Result<Option<Extra>, JsonError> {
    let Some(mut source) = open_file(EXTRA_FILE, open)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    source
        .read_to_end(&mut bytes)
        .map_err(|source| JsonError::Io {
            file: EXTRA_FILE.to_owned(),
            source,
        })?;
    Extra::from_json(&bytes).map(Some)
}

fn parse_file<T>(
    file: &str,
    open: &mut Open<'_>,
    parse: impl FnOnce(&mut Parser<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, JsonError> {
    let Some(mut source) = open_file(file, open)? else {
        return Ok(None);
    };
    let mut parser = Parser::new(&mut *source);
    let parsed = parse(&mut parser).and_then(|value| parser.finish().map(|()| value));
    parsed.map(Some).map_err(|fault| fault.in_file(file))
}
