//! Lumps → file: in the places that the extra file names, or in the compiler's usual order.

use crate::format::bsp::LumpKind;
use crate::format::json::error::JsonError;
use crate::format::json::extra::{Extra, fault, from_hex};

/// Bytes of the lumps by directory place.
pub(super) type Lumps = [Vec<u8>; 19];

/// Order in which compilers write the lumps.
const CANONICAL_ORDER: [usize; 19] = [
    1, 2, 4, 3, 8, 9, 5, 6, 7, 10, 13, 16, 14, 15, 0, 12, 11, 17, 18,
];
const ALIGNMENT: usize = 4;
const HEAD_BYTES: usize = 8;
const ENTRY_BYTES: usize = 8;

/// Directory entries and version for lumps without a history.
const PLAIN: (i32, usize) = (46, 17);
const WITH_SH: (i32, usize) = (47, 19);
const WITH_ADVERTISEMENTS: (i32, usize) = (47, 18);

/// A file in the order and alignment of the reference compiler, without its mark.
pub(super) fn canonical(lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
    let has = |kind: LumpKind| lumps.get(kind.index()).is_some_and(|lump| !lump.is_empty());
    let (version, entries) = if has(LumpKind::LightGridSh) {
        WITH_SH
    } else {
        PLAIN
    };
    let mut body = Body::new(entries);
    for place in CANONICAL_ORDER.into_iter().filter(|place| *place < entries) {
        body.put(place, lumps.get(place).map_or(&[], Vec::as_slice));
        body.align_like(0);
    }
    body.finish("IBSP", version)
}

/// A file laid out as the one that was taken apart; byte for byte the same if no lump is `edited`.
pub(super) fn preserved(extra: &Extra, lumps: &Lumps, edited: bool) -> Result<Vec<u8>, JsonError> {
    let segments = Segments::of(extra)?;
    let same_lengths = lumps.iter().enumerate().all(|(place, lump)| {
        let stored = segments.length_of(place);
        stored.unwrap_or(0) == lump.len()
    });
    if same_lengths && !(edited && segments.overlap) {
        return segments.in_place(extra, lumps);
    }
    segments.moved(extra, lumps)
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
}

impl Segments {
    fn of(extra: &Extra) -> Result<Self, JsonError> {
        let mut list = Vec::with_capacity(extra.layout.len());
        let mut end = HEAD_BYTES + ENTRY_BYTES * extra.directory.len();
        let mut overlap = false;
        let mut named = [false; 19];
        for segment in &extra.layout {
            let gap = from_hex(&segment.hex)?;
            let length = match segment.lump {
                Some(place) => {
                    let entry = extra.directory.get(place);
                    let length = entry.and_then(|[_, length]| usize::try_from(*length).ok());
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
            list.push(Piece {
                at: segment.at,
                lump: segment.lump,
                gap,
                length,
            });
        }
        Ok(Self { list, overlap })
    }

    fn length_of(&self, place: usize) -> Option<usize> {
        let piece = self.list.iter().find(|piece| piece.lump == Some(place));
        piece.map(|piece| piece.length)
    }

    /// Every piece at its old offset; lengths are those of the old file.
    fn in_place(&self, extra: &Extra, lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
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
        body.finish(&extra.ident, extra.version)
    }

    /// The pieces in their old order and alignment, wherever the new lengths put them.
    fn moved(&self, extra: &Extra, lumps: &Lumps) -> Result<Vec<u8>, JsonError> {
        let live = |kind: LumpKind| lumps.get(kind.index()).is_some_and(|lump| !lump.is_empty());
        let had_sh = self.length_of(LumpKind::LightGridSh.index()).is_some();
        let (version, entries) = match (had_sh, live(LumpKind::LightGridSh)) {
            (_, true) => WITH_SH,
            (true, false) if live(LumpKind::Advertisements) => WITH_ADVERTISEMENTS,
            (true, false) => PLAIN,
            (false, false) => (extra.version, extra.directory.len()),
        };
        let mut body = Body::new(entries);
        for (slot, [offset, _]) in body.entries.iter_mut().zip(&extra.directory) {
            *slot = (i64::from(*offset), 0);
        }
        let mut resized = false;
        for piece in &self.list {
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
        for (place, lump) in lumps.iter().enumerate().take(entries) {
            if self.length_of(place).is_none() && !lump.is_empty() {
                body.align_like(0);
                body.put(place, lump);
                body.align_like(0);
            }
        }
        let end = i64::try_from(body.bytes.len()).unwrap_or(i64::MAX);
        for entry in body.entries.iter_mut().filter(|entry| entry.1 == 0) {
            entry.0 = entry.0.clamp(0, end);
        }
        body.finish(&extra.ident, version)
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

    fn finish(mut self, ident: &str, version: i32) -> Result<Vec<u8>, JsonError> {
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
        let header = ident.bytes().take(4).chain(version.to_le_bytes()).chain(
            numbers.flat_map(|number| i32::try_from(number).unwrap_or(i32::MAX).to_le_bytes()),
        );
        let header: Vec<u8> = header.collect();
        for (byte, new) in self.bytes.iter_mut().zip(header) {
            *byte = new;
        }
        Ok(self.bytes)
    }
}
