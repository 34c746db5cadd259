//! Lumps → file: in the places that the extra file names, or in the compiler's usual order.

use std::ops::Range;

use crate::format::bsp::{
    BLOCK_ENTRY_BYTES, BLOCK_HEAD_BYTES, Format, LumpKind, SH_WRAP_BYTES, block_head, encode_block,
    pack_sh, sh_name,
};
use crate::format::json::error::JsonError;
use crate::format::json::extra::{Extra, fault, from_hex};

/// Bytes of the lumps by directory place.
pub(super) type Lumps = [Vec<u8>; 19];

/// Order in which compilers write the lumps; place 17 is the light grid's array where there is one.
const CANONICAL_ORDER: [usize; 19] = [
    1, 2, 4, 3, 8, 9, 5, 6, 7, 10, 13, 16, 14, 15, 17, 0, 12, 11, 18,
];
const ALIGNMENT: usize = 4;
const HEAD_BYTES: usize = 8;
const ENTRY_BYTES: usize = 8;
const SH_PLACE: usize = 18;

/// Version and directory entries for lumps without a history.
const PLAIN: (i32, usize) = (46, 17);
const WITH_SH: (i32, usize) = (47, 19);
const WITH_ADVERTISEMENTS: (i32, usize) = (47, 18);
const WITH_FOLIAGE: (i32, usize) = (47, 17);
const WITH_STYLES: (i32, usize) = (1, 18);

/// A surface's type, in its record, and that of foliage.
const SURFACE_BYTES: usize = 104;
const SURFACE_TYPE: usize = 8;
const FOLIAGE: [u8; 4] = 5_i32.to_le_bytes();

/// A file in the order and alignment of the reference compiler, without its mark.
pub(super) fn canonical(format: Format, lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
    let has_sh = !sh_of(lumps).is_empty();
    let (version, entries) = match format {
        Format::Rbsp | Format::Fbsp => WITH_STYLES,
        Format::Ibsp if has_sh => WITH_SH,
        Format::Ibsp if has_foliage(lumps) => WITH_FOLIAGE,
        Format::Ibsp => PLAIN,
    };
    let mut body = Body::new(entries);
    for place in CANONICAL_ORDER.into_iter().filter(|place| *place < entries) {
        body.put(place, lumps.get(place).map_or(&[], Vec::as_slice));
        body.align_like(0);
    }
    if has_sh && entries <= SH_PLACE {
        body.put_block(&[(sh_name(), &pack_sh(sh_of(lumps)))]);
    }
    body.finish(format, version)
}

fn sh_of(lumps: &Lumps) -> &[u8] {
    lumps.get(SH_PLACE).map_or(&[], Vec::as_slice)
}

/// Whether an IBSP surface is foliage, which version 46 does not know.
fn has_foliage(lumps: &Lumps) -> bool {
    let surfaces = lumps.get(LumpKind::Surfaces.index());
    let mut records = surfaces
        .into_iter()
        .flat_map(|lump| lump.chunks_exact(SURFACE_BYTES));
    records.any(|record| record.get(SURFACE_TYPE..SURFACE_TYPE + 4) == Some(&FOLIAGE))
}

/// A file laid out as the one that was taken apart; byte for byte the same if no lump is `edited`.
pub(super) fn preserved(extra: &Extra, lumps: &Lumps, edited: bool) -> Result<Vec<u8>, JsonError> {
    let format = extra.format()?;
    let segments = Segments::of(extra)?;
    let same_lengths = lumps.iter().enumerate().all(|(place, lump)| {
        let stored = segments.length_of(place);
        stored.unwrap_or(0) == lump.len()
    });
    if same_lengths && !(edited && segments.overlap) {
        return segments.in_place(format, extra, lumps);
    }
    segments.moved(format, extra, lumps)
}

/// A checked stretch of the old file.
struct Piece {
    at: usize,
    lump: Option<usize>,
    /// Bytes of a gap.
    gap: Vec<u8>,
    length: usize,
}

struct Segments {
    list: Vec<Piece>,
    overlap: bool,
    /// Whether the SH grid is not in the directory but in the block of extra lumps.
    sh_in_block: bool,
    /// Where that block starts, if there is one.
    block: Option<usize>,
}

impl Segments {
    fn of(extra: &Extra) -> Result<Self, JsonError> {
        let mut list = Vec::with_capacity(extra.layout.len());
        let mut end = HEAD_BYTES + ENTRY_BYTES * extra.directory.len();
        let mut overlap = false;
        let mut named = [false; 19];
        let mut lumps_end = end;
        let mut sh_in_block = false;
        for segment in &extra.layout {
            let gap = from_hex(&segment.hex)?;
            let length = match segment.lump {
                Some(place) => {
                    let entry = extra.directory.get(place);
                    let listed = entry.and_then(|[_, length]| usize::try_from(*length).ok());
                    let in_block = segment.bytes.is_some() && place == SH_PLACE;
                    sh_in_block |= in_block;
                    let length = if in_block { segment.bytes } else { listed };
                    let before = named
                        .get_mut(place)
                        .map(|seen| std::mem::replace(seen, true));
                    match (length, before) {
                        (Some(length), Some(false)) => length,
                        _ => return Err(fault(format!("lump {place} of the layout is not sound"))),
                    }
                }
                None => gap.len(),
            };
            if segment.at > end {
                return Err(fault(format!(
                    "the layout has a hole before byte {}",
                    segment.at
                )));
            }
            overlap |= segment.at < end;
            let behind = segment.at.checked_add(length);
            end = end.max(behind.ok_or_else(|| fault("the layout is too large"))?);
            if segment.lump.is_some() && segment.bytes.is_none() {
                lumps_end = end;
            }
            list.push(Piece {
                at: segment.at,
                lump: segment.lump,
                gap,
                length,
            });
        }
        let block = lumps_end.checked_next_multiple_of(ALIGNMENT);
        let is_block = |piece: &Piece| Some(piece.at) == block && block_head(&piece.gap).is_some();
        let block = block.filter(|_| list.iter().any(is_block));
        Ok(Self {
            list,
            overlap,
            sh_in_block,
            block,
        })
    }

    /// Bytes between lumps.
    fn gap_bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        let mut gaps = self.list.iter().filter(|piece| piece.lump.is_none());
        gaps.find_map(|piece| {
            let start = range.start.checked_sub(piece.at)?;
            piece.gap.get(start..range.end.checked_sub(piece.at)?)
        })
    }

    fn length_of(&self, place: usize) -> Option<usize> {
        let piece = self.list.iter().find(|piece| piece.lump == Some(place));
        piece.map(|piece| piece.length)
    }

    /// Every piece at its old offset; lengths are those of the old file.
    fn in_place(&self, format: Format, extra: &Extra, lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
        let mut body = Body::new(extra.directory.len());
        for (slot, [offset, length]) in body.entries.iter_mut().zip(&extra.directory) {
            *slot = (i64::from(*offset), i64::from(*length));
        }
        for piece in &self.list {
            let bytes = match piece.lump {
                Some(place) => lumps.get(place).map_or(&[][..], Vec::as_slice),
                None => &piece.gap,
            };
            let end = piece.at + bytes.len();
            if body.bytes.len() < end {
                body.bytes.resize(end, 0);
            }
            if let Some(target) = body.bytes.get_mut(piece.at..end) {
                target.copy_from_slice(bytes);
            }
        }
        body.finish(format, extra.version)
    }

    /// The pieces in their old order and alignment, wherever the new lengths put them.
    fn moved(&self, format: Format, extra: &Extra, lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
        let has_sh = !sh_of(lumps).is_empty();
        let sh_in_block = self.sh_in_block || format.has_styles();
        let had_sh_lump = self.length_of(SH_PLACE).is_some() && !self.sh_in_block;
        let has_advertisements = lumps
            .get(LumpKind::Advertisements.index())
            .is_some_and(|lump| !lump.is_empty());
        let (version, entries) = match (had_sh_lump, has_sh && !sh_in_block) {
            (_, true) => WITH_SH,
            (true, false) if has_advertisements => WITH_ADVERTISEMENTS,
            (true, false) => PLAIN,
            (false, false) => (extra.version, extra.directory.len()),
        };
        let mut body = Body::new(entries);
        for (slot, [offset, _]) in body.entries.iter_mut().zip(&extra.directory) {
            *slot = (i64::from(*offset), 0);
        }
        self.copy_pieces(lumps, &mut body);
        for (place, lump) in lumps.iter().enumerate().take(entries) {
            if self.length_of(place).is_none() && !lump.is_empty() {
                body.align_like(0);
                body.put(place, lump);
                body.align_like(0);
            }
        }
        if self.block.is_some() || (has_sh && sh_in_block) {
            self.renew_block(sh_in_block.then_some(sh_of(lumps)), &mut body);
        }
        let end = i64::try_from(body.bytes.len()).unwrap_or(i64::MAX);
        for entry in body.entries.iter_mut().filter(|entry| entry.1 == 0) {
            entry.0 = entry.0.clamp(0, end);
        }
        body.finish(format, version)
    }

    /// Every piece before the block of extra lumps.
    fn copy_pieces(&self, lumps: &Lumps, body: &mut Body) {
        let mut resized = false;
        let before_block = |piece: &&Piece| self.block.is_none_or(|block| piece.at < block);
        for piece in self.list.iter().filter(before_block) {
            // Padding behind a lump of a new length is made anew; anything longer is kept.
            if piece.lump.is_none() && resized && piece.gap.len() < ALIGNMENT {
                continue;
            }
            body.align_like(piece.at);
            if let Some(place) = piece.lump {
                let bytes = lumps.get(place).map_or(&[][..], Vec::as_slice);
                body.put(place, bytes);
                resized = bytes.len() != piece.length;
            } else {
                body.bytes.extend_from_slice(&piece.gap);
                resized = false;
            }
        }
        if resized {
            body.align_like(0);
        }
    }

    /// The block of extra lumps with its foreign lumps, with `sh` where that is to be in it, and what was behind it.
    fn renew_block(&self, sh: Option<&[u8]>, body: &mut Body) {
        let packed = sh.filter(|sh| !sh.is_empty()).map(pack_sh);
        let start = self.block.unwrap_or(usize::MAX);
        let head = self.list.iter().find(|piece| piece.at == start);
        let entries = head.and_then(|piece| block_head(&piece.gap));
        let entries = entries.unwrap_or_default();
        let mut lumps = Vec::new();
        let mut old_end =
            start.saturating_add(BLOCK_HEAD_BYTES + BLOCK_ENTRY_BYTES * entries.len());
        let sh_piece = self.list.iter().find(|piece| piece.lump == Some(SH_PLACE));
        for (name, offset, length) in entries {
            let (Ok(offset), Ok(length)) = (usize::try_from(offset), usize::try_from(length))
            else {
                continue;
            };
            let end = offset + length;
            if sh_piece.is_some_and(|piece| piece.at == offset + SH_WRAP_BYTES) {
                lumps.extend(packed.as_deref().map(|packed| (name, packed)));
                old_end = old_end.max(end);
            } else if let Some(bytes) = self.gap_bytes(offset..end) {
                lumps.push((name, bytes));
                old_end = old_end.max(end);
            }
        }
        if !self.sh_in_block {
            lumps.extend(packed.as_deref().map(|packed| (sh_name(), packed)));
        }
        body.put_block(&lumps);
        let gaps = self.list.iter().filter(|piece| piece.lump.is_none());
        let tail: Vec<u8> = gaps
            .filter_map(|piece| piece.gap.get(old_end.saturating_sub(piece.at)..))
            .flatten()
            .copied()
            .collect();
        body.put_tail(&tail);
    }
}

/// The file being put together.
struct Body {
    bytes: Vec<u8>,
    /// Offset and length.
    entries: Vec<(i64, i64)>,
}

impl Body {
    fn new(entries: usize) -> Self {
        Self {
            bytes: vec![0; HEAD_BYTES + ENTRY_BYTES * entries],
            entries: vec![(0, 0); entries],
        }
    }

    /// Zero bytes up to the alignment that `position` has.
    fn align_like(&mut self, position: usize) {
        while self.bytes.len() % ALIGNMENT != position % ALIGNMENT {
            self.bytes.push(0);
        }
    }

    fn put(&mut self, place: usize, lump: &[u8]) {
        let wide = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = (wide(self.bytes.len()), wide(lump.len()));
        }
        self.bytes.extend_from_slice(lump);
    }

    /// A block of extra lumps behind the last lump; trailing bytes move behind it.
    fn put_block(&mut self, lumps: &[([u8; 24], &[u8])]) {
        if lumps.is_empty() {
            return;
        }
        let ends = self.entries.iter().filter(|entry| entry.1 > 0);
        let end = ends.map(|(offset, length)| offset + length).max();
        let end = end.and_then(|end| usize::try_from(end).ok());
        let end = end.unwrap_or(self.bytes.len()).min(self.bytes.len());
        let tail = self.bytes.split_off(end);
        self.align_like(0);
        let block = encode_block(self.bytes.len(), lumps);
        self.bytes.extend(block);
        self.put_tail(&tail);
    }

    /// What follows the last lump, unless it is padding.
    fn put_tail(&mut self, tail: &[u8]) {
        if tail.len() >= ALIGNMENT || tail.iter().any(|byte| *byte != 0) {
            self.bytes.extend_from_slice(tail);
        }
    }

    fn finish(mut self, format: Format, version: i32) -> Result<Vec<u8>, JsonError> {
        let too_large = JsonError::TooLarge {
            bytes: self.bytes.len() as u64,
        };
        if i32::try_from(self.bytes.len()).is_err() {
            return Err(too_large);
        }
        let numbers = self
            .entries
            .iter()
            .flat_map(|(offset, length)| [*offset, *length]);
        let ident = format.ident().iter().copied();
        let header = ident.chain(version.to_le_bytes()).chain(
            numbers.flat_map(|number| i32::try_from(number).unwrap_or(i32::MAX).to_le_bytes()),
        );
        let header: Vec<u8> = header.collect();
        for (byte, new) in self.bytes.iter_mut().zip(header) {
            *byte = new;
        }
        Ok(self.bytes)
    }
}
