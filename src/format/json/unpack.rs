use std::io::Write;
use std::ops::Range;

use crate::format::bsp::{Bsp, LumpKind, SH_NAME, SH_WRAP_BYTES, ShContainer, StyledGrid, read};
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
/// Lumps are written as stored, unsound indexes included. Big lumps stream: memory stays within a few times the map. The
/// light grid of RBSP and FBSP is written as a point for each place of its lattice.
///
/// # Errors
/// When the map cannot be read, or a file cannot be written.
pub fn unpack(file: &[u8], create: &mut Create<'_>) -> Result<(), JsonError> {
    let bsp = read(file)?;
    let format = bsp.directory.format();
    let styles = Styles::of(format);
    let mut extras = Vec::new();
    for lump in &RECORD_FILES {
        if lump.lump == LumpKind::LightGrid && format.has_styles() {
            extras.extend(unpack_styled_grid(file, &bsp, lump, create)?);
            continue;
        }
        let stored = stored_lump(file, &bsp, lump.lump);
        write_file(lump.file, create, |out| {
            emit_records(stored, lump, styles, out);
        })?;
        let said = normalised(stored, lump, styles);
        extras.push(LumpExtra::between(lump.lump.index(), stored, &said));
    }
    let entities = stored_lump(file, &bsp, LumpKind::Entities);
    write_file(ENTITIES_FILE, create, |out| text::emit(entities, out))?;
    let said = text::normalised(entities);
    extras.push(LumpExtra::between(0, entities, &said));
    let sh_range = sh_range(&bsp);
    let grid = sh_range.clone().and_then(|range| file.get(range));
    if let Some(grid) = grid {
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
    let extra = describe(file, &bsp, sh_range, extras);
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

/// Where the contents of lump 18 are, be it an entry of the directory or of the block of extra lumps.
fn sh_range(bsp: &Bsp) -> Option<Range<usize>> {
    match bsp.sh_container? {
        ShContainer::V47 => Some(bsp.directory.entry(LumpKind::LightGridSh).range()),
        ShContainer::Bspx => {
            let mut entries = bsp.directory.bspx.iter().flat_map(|block| &block.entries);
            let entry = entries.find(|entry| entry.is_named(SH_NAME))?;
            let range = entry.entry.range();
            Some(range.start + SH_WRAP_BYTES..range.end)
        }
        ShContainer::Sidecar => None,
    }
}

/// The light grid of four styles as a point for each place of the lattice. Palette and indices are what the extra file keeps.
fn unpack_styled_grid(
    file: &[u8],
    bsp: &Bsp,
    lump: &LumpFile,
    create: &mut Create<'_>,
) -> Result<[LumpExtra; 2], JsonError> {
    let kinds = [LumpKind::LightGrid, LumpKind::LightGridArray];
    let [palette, indices] = kinds.map(|kind| stored_lump(file, bsp, kind));
    let points = StyledGrid::expand_lumps(palette, indices);
    write_file(lump.file, create, |out| {
        emit_records(&points, lump, Styles::Four, out);
    })?;
    let [said_palette, said_indices] = StyledGrid::merge_records(&points);
    let [palette_place, indices_place] = kinds.map(LumpKind::index);
    Ok([
        LumpExtra::between(palette_place, palette, &said_palette),
        LumpExtra::between(indices_place, indices, &said_indices),
    ])
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

fn emit_records(stored: &[u8], lump: &LumpFile, styles: Styles, out: &mut Emitter<'_>) {
    out.begin_object();
    let records = stored.chunks_exact(lump.record_bytes(styles));
    for (number, bytes) in records.enumerate() {
        out.numbered_key(lump.key, number);
        record::emit(bytes, lump, styles, out);
        if out.has_failed() {
            return;
        }
    }
    out.end();
}

/// The lump as its JSON file says it: whole records, normalised.
fn normalised(stored: &[u8], lump: &LumpFile, styles: Styles) -> Vec<u8> {
    let size = lump.record_bytes(styles);
    let whole = stored.len() - stored.len() % size;
    let mut said = stored.get(..whole).unwrap_or_default().to_vec();
    for bytes in said.chunks_exact_mut(size) {
        record::normalise(bytes, lump, styles);
    }
    said
}

fn describe(
    file: &[u8],
    bsp: &Bsp,
    sh_range: Option<Range<usize>>,
    lumps: Vec<LumpExtra>,
) -> Extra {
    let directory = &bsp.directory;
    let mut header = Record::new(file);
    let ident: [u8; 4] = header.array();
    let version = header.i32();
    let entries = (0..directory.entry_count).map(|_| [header.i32(), header.i32()]);
    let entries: Vec<[i32; 2]> = entries.collect();
    let sh_place = LumpKind::LightGridSh.index();
    let mut live: Vec<(usize, Range<usize>)> = directory
        .kinds()
        .map(|kind| (kind.index(), directory.entry(kind)))
        .filter(|(place, entry)| entry.is_live() && *place < directory.entry_count)
        .map(|(place, entry)| (place, entry.range()))
        .collect();
    let in_block = bsp.sh_container == Some(ShContainer::Bspx);
    if in_block {
        live.extend(sh_range.map(|range| (sh_place, range)));
    }
    live.sort_by_key(|(place, range)| (range.start, *place));
    let block = directory.bspx.as_ref().map(|block| block.range.start);
    let mut layout = Vec::new();
    let mut at = directory.header_bytes();
    let gap = |from: usize, to: usize, layout: &mut Vec<Segment>| {
        // The block starts a stretch of its own: what pads the lump before it may change.
        let cut = block.filter(|block| from < *block && *block < to);
        for (from, to) in [(from, cut.unwrap_or(from)), (cut.unwrap_or(from), to)] {
            if to > from {
                let bytes = file.get(from..to).unwrap_or_default();
                layout.push(Segment::gap(from, bytes));
            }
        }
    };
    for (place, range) in live {
        gap(at, range.start, &mut layout);
        let bytes = (in_block && place == sh_place).then_some(range.len());
        layout.push(Segment::lump(range.start, place, bytes));
        at = at.max(range.end);
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
