//! Extra lumps behind the last one (“BSPX”), and the form that an SH grid has there and in a file of its own.

use std::ops::Range;

use crate::format::bsp::contents::Contents;
use crate::format::bsp::directory::LumpEntry;
use crate::format::bsp::error::BspWarning;
use crate::format::bsp::types::LumpKind;
use crate::format::reader::Record;

/// Name of the extra lump that holds an SH grid.
pub const SH_NAME: &str = "LIGHTGRID_SH";

/// Extension of the file beside a map that holds its SH grid, see [`crate::format::bsp::ShContainer::Sidecar`].
pub const SIDECAR_EXTENSION: &str = "shgrid";

/// First bytes of the block.
const BLOCK_MAGIC: &[u8; 4] = b"BSPX";
/// Magic and count.
pub(in crate::format) const BLOCK_HEAD_BYTES: usize = 8;
/// Name, offset, length.
pub(in crate::format) const BLOCK_ENTRY_BYTES: usize = NAME_BYTES + 8;
const NAME_BYTES: usize = 24;
/// Entries that are believed; real blocks hold a few.
const ENTRIES_MAX: usize = 256;
/// First bytes of a packed SH grid.
const SH_MAGIC: &[u8; 4] = b"LGSH";
/// Magic, version, flags, length.
pub(in crate::format) const SH_WRAP_BYTES: usize = 16;
/// Version of the packed form that is written, and the only one that is read.
const SH_WRAP_VERSION: u32 = 1;

/// A block of named extra lumps, at the first multiple of 4 behind the last lump of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bspx {
    /// Bytes of the block in the file, its lumps included.
    pub range: Range<usize>,
    /// Its lumps in file order.
    pub entries: Vec<BspxEntry>,
}

/// A named lump of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BspxEntry {
    /// Name as stored, with its padding.
    pub name: [u8; 24],
    /// Where it is.
    pub entry: LumpEntry,
}

impl BspxEntry {
    /// Whether its name is `name`.
    pub fn is_named(&self, name: &str) -> bool {
        let stored = self.name.split(|byte| *byte == 0).next();
        stored == Some(name.as_bytes())
    }
}

impl Bspx {
    /// The block behind the lumps, which end at `end`. Entries that are not inside the file and behind the block's
    /// directory are dropped with a warning.
    pub(super) fn find(bytes: &[u8], end: usize, warnings: &mut Vec<BspWarning>) -> Option<Self> {
        let start = end.next_multiple_of(4);
        let head = block_head(bytes.get(start..)?)?;
        let data = start + BLOCK_HEAD_BYTES + head.len() * BLOCK_ENTRY_BYTES;
        let mut block = Self {
            range: start..data,
            entries: Vec::new(),
        };
        for (index, (name, offset, length)) in head.into_iter().enumerate() {
            let entry = usize::try_from(offset)
                .ok()
                .zip(usize::try_from(length).ok());
            let entry = entry.map(|(offset, length)| LumpEntry { offset, length });
            let inside =
                |entry: &LumpEntry| entry.offset >= data && entry.range().end <= bytes.len();
            match entry.filter(inside) {
                Some(entry) => {
                    block.range.end = block.range.end.max(entry.range().end);
                    block.entries.push(BspxEntry { name, entry });
                }
                None => warnings.push(warning(
                    Some(index),
                    format!("extra lump is not inside the file (offset {offset}, length {length}), dropped"),
                )),
            }
        }
        Some(block)
    }

    /// The packed SH grid.
    pub(super) fn sh_entry(&self) -> Option<LumpEntry> {
        let found = self.entries.iter().find(|entry| entry.is_named(SH_NAME));
        found.map(|found| found.entry)
    }
}

/// Name, offset and length of each lump as the head of a block says them, unchecked. `None` when `bytes` do not start with
/// a whole head.
pub(in crate::format) fn block_head(bytes: &[u8]) -> Option<Vec<([u8; NAME_BYTES], i32, i32)>> {
    let mut record = Record::new(bytes);
    if &record.array() != BLOCK_MAGIC {
        return None;
    }
    let count = usize::try_from(record.i32()).ok();
    let count = count.filter(|count| *count <= ENTRIES_MAX)?;
    let entries = bytes.get(BLOCK_HEAD_BYTES..BLOCK_HEAD_BYTES + count * BLOCK_ENTRY_BYTES)?;
    let mut record = Record::new(entries);
    let entries = (0..count).map(|_| (record.array(), record.i32(), record.i32()));
    Some(entries.collect())
}

/// A warning about the SH grid.
pub(super) fn warning(index: Option<usize>, what: String) -> BspWarning {
    BspWarning {
        lump: LumpKind::LightGridSh,
        index,
        what,
        count: 1,
    }
}

/// The block with `lumps` for a file whose last byte so far is at `start` − 1; `start` is a multiple of 4.
pub(in crate::format) fn encode_block(
    start: usize,
    lumps: &[([u8; NAME_BYTES], &[u8])],
) -> Vec<u8> {
    let lumps = lumps.iter();
    let lumps = lumps.map(|(name, bytes)| (*name, Contents::from(*bytes)));
    block_contents(start, lumps.collect()).to_bytes()
}

/// The same in pieces.
pub(super) fn block_contents(
    start: usize,
    lumps: Vec<([u8; NAME_BYTES], Contents<'_>)>,
) -> Contents<'_> {
    let data = BLOCK_HEAD_BYTES + lumps.len() * BLOCK_ENTRY_BYTES;
    let number = |value: usize| i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes();
    let mut block = BLOCK_MAGIC.to_vec();
    block.extend(number(lumps.len()));
    let mut at = start + data;
    for (name, bytes) in &lumps {
        block.extend(name);
        block.extend(number(at));
        block.extend(number(bytes.len()));
        at = (at + bytes.len()).next_multiple_of(4);
    }
    let mut contents = Contents::default();
    contents.push_owned(block);
    for (_, bytes) in lumps {
        contents.append(bytes);
        contents.align_like(0, 4);
    }
    contents
}

/// [`SH_NAME`] as a field.
pub(in crate::format) fn sh_name() -> [u8; NAME_BYTES] {
    let mut field = [0; NAME_BYTES];
    for (slot, byte) in field.iter_mut().zip(SH_NAME.bytes()) {
        *slot = byte;
    }
    field
}

/// Packs the contents of lump 18: magic, version, flags, length, contents.
pub(in crate::format) fn pack_sh(lump: &[u8]) -> Vec<u8> {
    packed_contents(lump.into()).to_bytes()
}

/// The same in pieces.
pub(super) fn packed_contents(lump: Contents<'_>) -> Contents<'_> {
    let mut head = SH_MAGIC.to_vec();
    head.extend(SH_WRAP_VERSION.to_le_bytes());
    head.extend(0_u32.to_le_bytes());
    head.extend(u32::try_from(lump.len()).unwrap_or(u32::MAX).to_le_bytes());
    let mut contents = Contents::default();
    contents.push_owned(head);
    contents.append(lump);
    contents
}

/// The contents of lump 18 in a packed grid, or why it is none.
pub(super) fn unpack_sh(bytes: &[u8]) -> Result<&[u8], String> {
    let mut record = Record::new(bytes);
    if &record.array() != SH_MAGIC {
        return Err("does not start with LGSH".to_owned());
    }
    let (version, flags, length) = (record.u32(), record.u32(), record.u32());
    if version != SH_WRAP_VERSION || flags != 0 {
        return Err(format!(
            "version {version} with flags {flags:#x}; version {SH_WRAP_VERSION} without flags is read"
        ));
    }
    let lump = bytes.get(SH_WRAP_BYTES..).unwrap_or_default();
    if lump.len() as u64 != u64::from(length) {
        return Err(format!(
            "says {length} bytes of grid and holds {}",
            lump.len()
        ));
    }
    Ok(lump)
}
