use std::io::Read;
use std::ops::Range;

use crate::format::bsp::{Format, LumpKind, StyledGrid};
use crate::format::json::error::{Fault, JsonError};
use crate::format::json::extra::{EXTRA_FILE, Extra, fault};
use crate::format::json::layout::{self, Lumps};
use crate::format::json::parse::Parser;
use crate::format::json::record;
use crate::format::json::schema::{ENTITIES_FILE, RECORD_FILES, SH_FILE, Styles};
use crate::format::json::{sh, text};

/// Bytes of a surface with four style slots, and where its lightmap numbers are.
const WIDE_SURFACE_BYTES: usize = 148;
const WIDE_LIGHTMAP_NUMBERS: Range<usize> = 36..52;

/// Opens a file to be read, by its name without folder; `None` when there is none.
pub type Open<'a> = dyn FnMut(&str) -> std::io::Result<Option<Box<dyn Read>>> + 'a;

/// Makes a map from its JSON files.
///
/// With the extra file of [`crate::format::json::unpack`] the map is laid out as it was, byte for byte if no JSON file says
/// anything else; an edited file replaces its lump only. Without it (q3map2's own output) the map is written in the usual
/// order, as `format` or, where that is `None`, as what the files hold. IBSP is version 46 with 17
/// entries, 47 when a surface is foliage, or 47 with 19 entries when there is an SH grid; in RBSP and FBSP an SH grid goes
/// into a block of extra lumps. Numbers are checked against their storage, not against each other: a map that had unsound
/// indexes can be put together again.
///
/// # Errors
/// The first mistake, with file, line and member; or that the extra file is of another format than `format`.
pub fn pack(format: Option<Format>, open: &mut Open<'_>) -> Result<Vec<u8>, JsonError> {
    let extra = read_extra(open)?;
    let kept = extra.as_ref().map(Extra::format).transpose()?;
    if let (Some(kept), Some(asked)) = (kept, format)
        && kept != asked
    {
        let [kept, asked] = [kept, asked].map(|format| format.ident().escape_ascii());
        return Err(fault(format!("the map was {kept}, not {asked}")));
    }
    let (format, mut lumps) = read_lumps(kept.or(format), open)?;
    let entities = parse_file(ENTITIES_FILE, open, text::parse)?;
    let entities = entities.ok_or_else(|| missing(ENTITIES_FILE))?;
    put(&mut lumps, LumpKind::Entities, entities);
    if let Some(grid) = parse_file(SH_FILE, open, sh::parse)? {
        put(&mut lumps, LumpKind::LightGridSh, grid);
    }
    match extra {
        Some(extra) => {
            let edited = restore(&extra, format, &mut lumps)?;
            layout::preserved(&extra, &lumps, edited)
        }
        None => layout::canonical(format, &lumps),
    }
}

/// The lumps of records, in `format` or what they turn out to be.
fn read_lumps(format: Option<Format>, open: &mut Open<'_>) -> Result<(Format, Lumps), JsonError> {
    let styles = format.map_or(Styles::Four, Styles::of);
    let mut lumps = Lumps::default();
    for lump in &RECORD_FILES {
        let mut bytes = Vec::new();
        let parsed = parse_file(lump.file, open, |parser| {
            parser.object(|parser, _| record::parse(parser, lump, styles, &mut bytes))
        })?;
        if parsed.is_none() {
            return Err(missing(lump.file));
        }
        put(&mut lumps, lump.lump, bytes);
    }
    let format = format.unwrap_or_else(|| told_format(&lumps));
    if format.has_styles() {
        let points = take(&mut lumps, LumpKind::LightGrid);
        let [palette, indices] = StyledGrid::merge_records(&points);
        put(&mut lumps, LumpKind::LightGrid, palette);
        put(&mut lumps, LumpKind::LightGridArray, indices);
    } else if styles == Styles::Four {
        for lump in RECORD_FILES.iter().filter(|lump| lump.has_slots()) {
            let wide = take(&mut lumps, lump.lump);
            let mut narrow = Vec::new();
            for record in wide.chunks_exact(lump.record_bytes(Styles::Four)) {
                record::narrow(record, lump, &mut narrow);
            }
            put(&mut lumps, lump.lump, narrow);
        }
    }
    Ok((format, lumps))
}

/// What records with four style slots are of: IBSP when no slot but the first is in use and no brush side knows a surface;
/// else FBSP when the light fills that format's larger pages and surfaces name no more pages than that makes; else RBSP.
fn told_format(lumps: &Lumps) -> Format {
    let bytes = |kind: LumpKind| lumps.get(kind.index()).map_or(&[][..], Vec::as_slice);
    let mut slotted = RECORD_FILES.iter().filter(|lump| lump.has_slots());
    let styled = slotted.any(|lump| {
        let mut records = bytes(lump.lump).chunks_exact(lump.record_bytes(Styles::Four));
        records.any(|record| record::has_styles(record, lump))
    });
    if !styled {
        return Format::Ibsp;
    }
    let side = Format::Fbsp.lightmap_size() as usize;
    let (light, page) = (bytes(LumpKind::Lightmaps).len(), side * side * 3);
    let pages = i32::try_from(light / page).unwrap_or(i32::MAX);
    let mut surfaces = bytes(LumpKind::Surfaces).chunks_exact(WIDE_SURFACE_BYTES);
    let fits = surfaces.all(|surface| {
        let numbers = surface.get(WIDE_LIGHTMAP_NUMBERS).unwrap_or_default();
        let mut numbers = numbers.as_chunks::<4>().0.iter();
        numbers.all(|number| i32::from_le_bytes(*number) < pages)
    });
    if light > 0 && light.is_multiple_of(page) && fits {
        Format::Fbsp
    } else {
        Format::Rbsp
    }
}

/// Puts back what JSON lost, lump by lump; whether any lump was edited since.
fn restore(extra: &Extra, format: Format, lumps: &mut Lumps) -> Result<bool, JsonError> {
    let mut edited = false;
    let mut described = [false; 19];
    let advertisements = LumpKind::Advertisements.index();
    // One file says both palette and indices: either is only what it was when the other is.
    let grid = [LumpKind::LightGrid, LumpKind::LightGridArray].map(LumpKind::index);
    let is_grid = |place: usize| format.has_styles() && grid.contains(&place);
    let grid_edited = extra.lumps.iter().any(|known| {
        let said = lumps.get(known.lump);
        is_grid(known.lump) && said.is_some_and(|said| !known.is_untouched(said))
    });
    for known in &extra.lumps {
        let place = known.lump;
        let (Some(lump), Some(described)) = (lumps.get_mut(place), described.get_mut(place)) else {
            return Err(fault(format!("there is no lump {place}")));
        };
        *described = true;
        if place == advertisements && !format.has_styles() {
            *lump = known.original(&[])?;
        } else if is_grid(place) && grid_edited {
            edited = true;
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

fn take(lumps: &mut Lumps, kind: LumpKind) -> Vec<u8> {
    let slot = lumps.get_mut(kind.index());
    slot.map(std::mem::take).unwrap_or_default()
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
