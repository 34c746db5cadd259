use std::io::Write;

use crate::format::bsp::{Bsp, LumpKind, read};
use crate::format::json::emit::Emitter;
use crate::format::json::error::JsonError;
use crate::format::json::extra::{EXTRA_FILE, Extra, LumpExtra, SCHEMA, Segment, to_hex};
use crate::format::json::record;
use crate::format::json::schema::{ENTITIES_FILE, LumpFile, RECORD_FILES, SH_FILE, Styles};
use crate::format::json::{sh, text};
use crate::format::reader::Record;

/// Opens a file to be written, by its name without folder.
pub type Create<'a> = dyn FnMut(&str) -> std::io::Result<Box<dyn Write>> + 'a;

/// Writes the map in `file` as JSON, a file a lump, and what JSON cannot hold as [`EXTRA_FILE`].
///
/// Lumps are written as stored, unsound indexes included. Big lumps stream: memory stays within a few times the map.
///
/// # Errors
/// When the map cannot be read, is of a kind without a JSON form, or a file cannot be written.
pub fn unpack(file: &[u8], create: &mut Create<'_>) -> Result<(), JsonError> {
    let bsp = read(file)?;
    let ident = file.get(..4).unwrap_or_default();
    if ident != b"IBSP" {
        return Err(JsonError::UnsupportedKind {
            ident: ident.escape_ascii().to_string(),
        });
    }
    let mut extras = Vec::new();
    for lump in &RECORD_FILES {
        let stored = stored_lump(file, &bsp, lump.lump);
        write_file(lump.file, create, |out| emit_records(stored, lump, out))?;
        let said = normalised(stored, lump);
        extras.push(LumpExtra::between(lump.lump.index(), stored, &said));
    }
    let entities = stored_lump(file, &bsp, LumpKind::Entities);
    write_file(ENTITIES_FILE, create, |out| text::emit(entities, out))?;
    let said = text::normalised(entities);
    extras.push(LumpExtra::between(0, entities, &said));
    let grid = stored_lump(file, &bsp, LumpKind::LightGridSh);
    if !grid.is_empty() {
        write_file(SH_FILE, create, |out| sh::emit(grid, out))?;
        let said = sh::normalised(grid);
        let place = LumpKind::LightGridSh.index();
        extras.push(LumpExtra::between(place, grid, &said));
    }
    let advertisements = stored_lump(file, &bsp, LumpKind::Advertisements);
    if !advertisements.is_empty() {
        extras.push(LumpExtra {
            lump: LumpKind::Advertisements.index(),
            hash: String::new(),
            bytes: advertisements.len(),
            whole: Some(to_hex(advertisements)),
            patches: Vec::new(),
        });
    }
    extras.sort_by_key(|extra| extra.lump);
    let extra = describe(file, &bsp, extras);
    let failed = |source| JsonError::Io {
        file: EXTRA_FILE.to_owned(),
        source,
    };
    let mut out = create(EXTRA_FILE).map_err(failed)?;
    let written = out.write_all(&extra.to_json()).and_then(|()| out.flush());
    written.map_err(failed)
}

fn stored_lump<'a>(file: &'a [u8], bsp: &Bsp, kind: LumpKind) -> &'a [u8] {
    file.get(bsp.directory.entry(kind).range())
        .unwrap_or_default()
}

fn write_file(
    name: &str,
    create: &mut Create<'_>,
    emit: impl FnOnce(&mut Emitter<'_>),
) -> Result<(), JsonError> {
    let failed = |source| JsonError::Io {
        file: name.to_owned(),
        source,
    };
    let mut target = create(name).map_err(failed)?;
    let mut out = Emitter::new(&mut *target);
    emit(&mut out);
    out.finish().map_err(failed)
}

fn emit_records(stored: &[u8], lump: &LumpFile, out: &mut Emitter<'_>) {
    out.begin_object();
    let records = stored.chunks_exact(lump.record_bytes(Styles::One));
    for (number, bytes) in records.enumerate() {
        out.numbered_key(lump.key, number);
        record::emit(bytes, lump, Styles::One, out);
        if out.has_failed() {
            return;
        }
    }
    out.end();
}

/// The lump as its JSON file says it: whole records, normalised.
fn normalised(stored: &[u8], lump: &LumpFile) -> Vec<u8> {
    let size = lump.record_bytes(Styles::One);
    let whole = stored.len() - stored.len() % size;
    let mut said = stored.get(..whole).unwrap_or_default().to_vec();
    for bytes in said.chunks_exact_mut(size) {
        record::normalise(bytes, lump, Styles::One);
    }
    said
}

fn describe(file: &[u8], bsp: &Bsp, lumps: Vec<LumpExtra>) -> Extra {
    let directory = &bsp.directory;
    let mut header = Record::new(file);
    let ident: [u8; 4] = header.array();
    let version = header.i32();
    let entries = (0..directory.entry_count).map(|_| [header.i32(), header.i32()]);
    let entries: Vec<[i32; 2]> = entries.collect();
    let mut live: Vec<_> = LumpKind::ALL
        .into_iter()
        .map(|kind| (kind.index(), directory.entry(kind)))
        .filter(|(_, entry)| entry.is_live())
        .collect();
    live.sort_by_key(|(place, entry)| (entry.offset, *place));
    let mut layout = Vec::new();
    let mut at = directory.header_bytes();
    let gap = |from: usize, to: usize, layout: &mut Vec<Segment>| {
        if to > from {
            layout.push(Segment {
                at: from,
                lump: None,
                hex: to_hex(file.get(from..to).unwrap_or_default()),
            });
        }
    };
    for (place, entry) in live {
        gap(at, entry.offset, &mut layout);
        layout.push(Segment {
            at: entry.offset,
            lump: Some(place),
            hex: String::new(),
        });
        at = at.max(entry.range().end);
    }
    gap(at, file.len(), &mut layout);
    Extra {
        schema: SCHEMA.to_owned(),
        ident: String::from_utf8_lossy(&ident).into_owned(),
        version,
        directory: entries,
        layout,
        lumps,
    }
}
