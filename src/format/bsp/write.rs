use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::format::bsp::bspx::{self, Bspx};
use crate::format::bsp::directory::{Directory, LumpEntry};
use crate::format::bsp::error::BspWarning;
use crate::format::bsp::read::unpack_sh_grid;
use crate::format::bsp::records;
use crate::format::bsp::types::{Bsp, LightGridPoint, LumpKind, ShContainer, ShGrid, StyledGrid};
use crate::format::entities::{Entities, with_worldspawn_key};

/// Version that carries an SH grid.
const SH_VERSION: i32 = 47;
/// Alignment of lumps that compilers keep.
const ALIGNMENT: usize = 4;
/// Gaps longer than padding hold something: they are kept.
const PADDING_MAX: usize = ALIGNMENT - 1;

impl Bsp {
    /// Raw bytes of a lump as they will be written. Those of the SH grid are the contents of lump 18 whichever container
    /// the grid came from.
    pub fn lump_bytes(&self, kind: LumpKind) -> &[u8] {
        if let Some(bytes) = self.replaced.get(&kind) {
            return bytes;
        }
        if kind == LumpKind::LightGridSh {
            return self.stored_sh();
        }
        self.source
            .get(self.directory.entry(kind).range())
            .unwrap_or_default()
    }

    /// The contents of lump 18 where `sh_container` says; empty when there is no usable grid.
    fn stored_sh(&self) -> &[u8] {
        let entry = self.directory.entry(LumpKind::LightGridSh);
        let packed = match self.sh_container {
            None => return &[],
            Some(ShContainer::V47) => return self.source.get(entry.range()).unwrap_or_default(),
            Some(ShContainer::Sidecar) => self.sidecar.as_deref(),
            Some(ShContainer::Bspx) => {
                let entry = self.directory.bspx.as_ref().and_then(Bspx::sh_entry);
                entry.and_then(|entry| self.source.get(entry.range()))
            }
        };
        packed
            .and_then(|packed| bspx::unpack_sh(packed).ok())
            .unwrap_or_default()
    }

    /// This map with the SH grid of the file beside it. A grid inside the map goes before.
    ///
    /// # Errors
    /// Why the bytes are no SH grid, or that the map has one.
    pub fn with_sidecar(&self, bytes: &[u8]) -> Result<Self, String> {
        if self.sh_grid.is_some() {
            return Err("the map itself holds an SH grid".to_owned());
        }
        let grid = unpack_sh_grid(bytes)?;
        let mut bsp = self.clone();
        bsp.sh_grid = Some(grid);
        bsp.sh_container = Some(ShContainer::Sidecar);
        bsp.sidecar = Some(Arc::from(bytes));
        Ok(bsp)
    }

    /// Whether the format has that place for an SH grid: only IBSP has lump 18.
    pub fn can_hold_sh(&self, container: ShContainer) -> bool {
        container != ShContainer::V47 || !self.directory.format().has_styles()
    }

    /// Whether the SH grid was read from a file beside the map that holds exactly `bytes`.
    pub fn is_sidecar(&self, bytes: &[u8]) -> bool {
        self.sidecar.as_deref() == Some(bytes)
    }

    /// Whether anything differs from the file that was read.
    pub fn is_modified(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// This map with its light grid replaced; points in lattice order, x fastest.
    ///
    /// In RBSP and FBSP these are slot 0 of the points; the other slots stay when the number of points does. When there are
    /// more distinct points than the palette takes, near ones are merged, and a warning in [`Bsp::warnings`] says by how much.
    #[must_use]
    pub fn with_light_grid(&self, points: &[LightGridPoint]) -> Self {
        if self.directory.format().has_styles() {
            return self.with_styled_grid(points);
        }
        let bytes: Vec<u8> = points
            .iter()
            .copied()
            .flat_map(records::encode_grid_point)
            .collect();
        let mut bsp = self.with_lump(LumpKind::LightGrid, bytes);
        bsp.light_grid = points.to_vec();
        bsp
    }

    fn with_styled_grid(&self, points: &[LightGridPoint]) -> Self {
        let old = self.styled_grid.clone().unwrap_or_default();
        if old.missing() == 0 && old.first_slots() == points {
            return self.clone();
        }
        let (grid, tolerance) = StyledGrid::encode(points, &old);
        let [palette, indices] = grid.to_lumps();
        let mut bsp = self
            .with_lump(LumpKind::LightGrid, palette)
            .with_lump(LumpKind::LightGridArray, indices);
        if tolerance > 0 {
            bsp.warnings.push(BspWarning {
                lump: LumpKind::LightGrid,
                index: None,
                what: format!(
                    "more distinct points than the palette takes; points that differ by up to {tolerance} were merged"
                ),
                count: 1,
            });
        }
        bsp.light_grid = grid.first_slots();
        bsp.styled_grid = Some(grid);
        bsp
    }

    /// This map with the SH grid replaced, or taken away.
    #[must_use]
    pub fn with_sh_grid(&self, grid: Option<&ShGrid>) -> Self {
        let bytes = grid.map(encode_sh_grid).unwrap_or_default();
        let mut bsp = self.with_lump(LumpKind::LightGridSh, bytes);
        bsp.sh_grid = grid.cloned();
        bsp
    }

    /// This map with a key of worldspawn set; the rest of the entity text stays byte for byte.
    #[must_use]
    pub fn with_worldspawn_key(&self, key: &str, value: &str) -> Self {
        let text = with_worldspawn_key(self.lump_bytes(LumpKind::Entities), key, value);
        let entities = Entities::parse(&text);
        let mut bsp = self.with_lump(LumpKind::Entities, text);
        bsp.entities = entities;
        bsp
    }

    /// Replaces a lump's bytes; equal bytes leave the file as it is.
    fn with_lump(&self, kind: LumpKind, bytes: Vec<u8>) -> Self {
        let mut bsp = self.clone();
        if self.lump_bytes(kind) != bytes.as_slice() {
            bsp.replaced.insert(kind, Arc::from(bytes));
        }
        bsp
    }
}

/// The SH lump: mins, cell size, counts, number of points, then nine RGB coefficients a point; all little-endian.
fn encode_sh_grid(grid: &ShGrid) -> Vec<u8> {
    let lattice = &grid.lattice;
    let floats = lattice
        .origin
        .to_array()
        .into_iter()
        .chain(lattice.cell_size.to_array());
    let mut bytes: Vec<u8> = floats.flat_map(f32::to_le_bytes).collect();
    bytes.extend(
        lattice
            .counts
            .to_array()
            .into_iter()
            .flat_map(u32::to_le_bytes),
    );
    let count = u32::try_from(grid.points.len()).unwrap_or(u32::MAX);
    bytes.extend(count.to_le_bytes());
    for point in &grid.points {
        bytes.extend(
            point
                .as_flattened()
                .iter()
                .flat_map(|value| value.to_le_bytes()),
        );
    }
    bytes
}

/// What a map becomes on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The map.
    pub bsp: Vec<u8>,
    /// The SH grid for a file of its own beside the map, with the extension `shgrid`; `None` when there is nothing to put
    /// there.
    pub sidecar: Option<Vec<u8>>,
    /// Where the SH grid went; `None` without one. Only IBSP has lump 18: in other formats [`ShContainer::V47`] becomes
    /// [`ShContainer::Bspx`].
    pub container: Option<ShContainer>,
}

/// The file's bytes with the SH grid where it was found, or in lump 18 when it is new. A grid that lies in a file beside
/// the map stays there as long as it is unchanged, and goes into the map when it was replaced.
pub fn write(bsp: &Bsp) -> Vec<u8> {
    let found = bsp.sh_container.unwrap_or_default();
    let replaced = bsp.replaced.contains_key(&LumpKind::LightGridSh);
    match found {
        ShContainer::Sidecar if replaced => write_with(bsp, ShContainer::V47).bsp,
        container => write_with(bsp, container).bsp,
    }
}

/// The map's bytes with the SH grid in `container`: exactly those that were read if nothing was replaced and the grid stays
/// where it was found.
///
/// Otherwise all other lumps keep their bytes, order and alignment, and the compiler's mark and unknown data between lumps
/// stay; only offsets move. An SH grid in lump 18 makes it IBSP 47 with 19 directory entries; taking the grid out of such
/// a file makes it 46 with 17 again, or 47 with 18 when it holds advertisements.
pub fn write_with(bsp: &Bsp, container: ShContainer) -> Written {
    let container = match container {
        container if !bsp.can_hold_sh(container) => ShContainer::Bspx,
        container => container,
    };
    let sh = bsp.lump_bytes(LumpKind::LightGridSh);
    let container = (!sh.is_empty()).then_some(container);
    let sidecar = (container == Some(ShContainer::Sidecar)).then(|| bspx::pack_sh(sh));
    let bytes = if bsp.replaced.is_empty() && container == bsp.sh_container {
        bsp.source.to_vec()
    } else {
        rewrite(bsp, container)
    };
    Written {
        bsp: bytes,
        sidecar,
        container,
    }
}

fn rewrite(bsp: &Bsp, container: Option<ShContainer>) -> Vec<u8> {
    let directory = &bsp.directory;
    let had_sh = directory.entry(LumpKind::LightGridSh).is_live();
    let has_sh = container == Some(ShContainer::V47);
    let has_advertisements = !bsp.lump_bytes(LumpKind::Advertisements).is_empty();
    let (version, entry_count) = match (had_sh, has_sh) {
        (_, true) => (SH_VERSION, 19),
        (true, false) if has_advertisements => (SH_VERSION, 18),
        (true, false) => (46, 17),
        (false, false) => (directory.variant.version, directory.entry_count),
    };
    let header_bytes = 8 + 8 * entry_count;
    let mut body = Body::new(bsp, header_bytes);
    body.copy_all(bsp, &overrides(bsp, has_sh));
    body.put_block(bsp, container == Some(ShContainer::Bspx));
    let mut file = Vec::with_capacity(body.bytes.len());
    file.extend_from_slice(directory.format().ident());
    file.extend_from_slice(&version.to_le_bytes());
    for entry in body.lumps.iter().take(entry_count) {
        for value in [entry.offset, entry.length] {
            file.extend_from_slice(&i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes());
        }
    }
    file.extend_from_slice(body.bytes.get(header_bytes..).unwrap_or_default());
    file
}

/// Lumps whose bytes are not the old file's. Lump 18 is there only when the grid is to be kept in it.
fn overrides(bsp: &Bsp, sh_in_lump: bool) -> BTreeMap<LumpKind, &[u8]> {
    let replaced = bsp.replaced.iter();
    let mut lumps: BTreeMap<LumpKind, &[u8]> =
        replaced.map(|(kind, bytes)| (*kind, &**bytes)).collect();
    let sh = LumpKind::LightGridSh;
    let stays = sh_in_lump && bsp.sh_container == Some(ShContainer::V47);
    if !stays || bsp.replaced.contains_key(&sh) {
        let bytes = if sh_in_lump { bsp.lump_bytes(sh) } else { &[] };
        lumps.insert(sh, bytes);
    }
    lumps
}

/// The file being put together: header space, then lumps and gaps in the old order.
struct Body {
    bytes: Vec<u8>,
    lumps: [LumpEntry; 19],
}

/// A stretch of the old file behind the header.
struct Segment {
    kind: Option<LumpKind>,
    range: Range<usize>,
}

impl Body {
    fn new(bsp: &Bsp, header_bytes: usize) -> Self {
        let mut body = Self {
            bytes: vec![0; header_bytes],
            lumps: [LumpEntry::default(); 19],
        };
        body.bytes.reserve(bsp.source.len());
        body
    }

    /// Header sizes differ by multiples of 8, so what was aligned in the old file is aligned in the new one.
    fn copy_all(&mut self, bsp: &Bsp, overrides: &BTreeMap<LumpKind, &[u8]>) {
        let directory = &bsp.directory;
        let mut behind_replaced = false;
        for segment in segments(directory, bsp.source.len()) {
            let old = bsp.source.get(segment.range.clone()).unwrap_or_default();
            // Padding behind a lump of a new length is made anew; anything longer is kept.
            if segment.kind.is_none() && behind_replaced && old.len() <= PADDING_MAX {
                continue;
            }
            self.align_like(segment.range.start);
            if let Some(kind) = segment.kind {
                let replaced = overrides.get(&kind);
                self.put(kind, replaced.map_or(old, |bytes| bytes));
                behind_replaced = replaced.is_some();
            } else {
                self.bytes.extend_from_slice(old);
                behind_replaced = false;
            }
        }
        if behind_replaced {
            self.align_like(0);
        }
        for (kind, bytes) in overrides {
            if !directory.entry(*kind).is_live() && !bytes.is_empty() {
                self.align_like(0);
                self.put(*kind, bytes);
                self.align_like(0);
            }
        }
        for kind in directory.kinds() {
            self.place_empty(bsp, kind);
        }
    }

    /// The extra lumps behind the last lump: those that were there, and the SH grid when it belongs there. Trailing bytes
    /// move behind them.
    fn put_block(&mut self, bsp: &Bsp, with_sh: bool) {
        let old = bsp.directory.bspx.iter().flat_map(|block| &block.entries);
        let mut lumps: Vec<([u8; 24], &[u8])> = old
            .filter(|entry| !entry.is_named(bspx::SH_NAME))
            .filter_map(|found| Some((found.name, bsp.source.get(found.entry.range())?)))
            .collect();
        let packed = bspx::pack_sh(bsp.lump_bytes(LumpKind::LightGridSh));
        if with_sh {
            lumps.push((bspx::sh_name(), &packed));
        }
        if lumps.is_empty() {
            return;
        }
        let live = self.lumps.iter().filter(|entry| entry.is_live());
        let end = live.map(|entry| entry.range().end).max();
        let tail = self.bytes.split_off(end.unwrap_or(self.bytes.len()));
        self.align_like(0);
        let block = bspx::encode_block(self.bytes.len(), &lumps);
        self.bytes.extend(block);
        if tail.len() > PADDING_MAX || tail.iter().any(|byte| *byte != 0) {
            self.bytes.extend(tail);
        }
    }

    /// Zero bytes up to the alignment that a lump at `position` had.
    fn align_like(&mut self, position: usize) {
        while self.bytes.len() % ALIGNMENT != position % ALIGNMENT {
            self.bytes.push(0);
        }
    }

    fn put(&mut self, kind: LumpKind, bytes: &[u8]) {
        if let Some(slot) = self.lumps.get_mut(kind.index()) {
            *slot = LumpEntry {
                offset: self.bytes.len(),
                length: bytes.len(),
            };
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Empty lumps keep their offset when it still lies in the file, as compilers write the position of the moment.
    fn place_empty(&mut self, bsp: &Bsp, kind: LumpKind) {
        let old = bsp.directory.entry(kind);
        let end = self.bytes.len();
        if let Some(slot) = self.lumps.get_mut(kind.index())
            && slot.length == 0
        {
            slot.offset = if old.offset == 0 {
                0
            } else {
                old.offset.min(end)
            };
        }
    }
}

/// The old file behind its directory, cut into lumps and the gaps between them, in file order. A lump that overlaps an
/// earlier one appears as a copy of its own.
fn segments(directory: &Directory, length: usize) -> Vec<Segment> {
    let mut live: Vec<(LumpKind, LumpEntry)> = directory
        .kinds()
        .map(|kind| (kind, directory.entry(kind)))
        .filter(|(_, entry)| entry.is_live())
        .collect();
    live.sort_by_key(|(_, entry)| entry.offset);
    let mut segments = Vec::new();
    let mut at = directory.header_bytes();
    for (kind, entry) in live {
        if entry.offset > at {
            segments.push(Segment {
                kind: None,
                range: at..entry.offset,
            });
        }
        segments.push(Segment {
            kind: Some(kind),
            range: entry.range(),
        });
        at = at.max(entry.range().end);
    }
    // The block of extra lumps is made anew, and the padding before it.
    let block_end = directory.bspx.as_ref().map_or(at, |block| block.range.end);
    if length > block_end {
        segments.push(Segment {
            kind: None,
            range: block_end..length,
        });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::bsp::read;
    use crate::format::bsp::types::ShPoint;
    use crate::format::lattice::Lattice;
    use glam::{UVec3, Vec3};

    /// A file of 17 entries with a mark, ragged gaps and trailing bytes.
    fn file() -> Vec<u8> {
        let mut bytes = b"IBSP".to_vec();
        bytes.extend(46_i32.to_le_bytes());
        bytes.resize(144, 0);
        bytes.extend_from_slice(b"I LOVE MY Q3MAP2 1.0 on today\n\0\x7f\x7f");
        let mut put = |number: usize, lump: &[u8], gap: &[u8]| {
            let at = bytes.len() as i32;
            bytes[8 + number * 8..12 + number * 8].copy_from_slice(&at.to_le_bytes());
            bytes[12 + number * 8..16 + number * 8]
                .copy_from_slice(&(lump.len() as i32).to_le_bytes());
            bytes.extend_from_slice(lump);
            bytes.extend_from_slice(gap);
        };
        put(1, &[b'x'; 72], b"");
        put(15, &[7; 16], b"");
        put(0, b"{\n\"classname\" \"worldspawn\"\n}\n\0", b"\0\0");
        put(14, &vec![9; 49152], b"a mark of unknown use");
        put(2, &[0; 32], b"z");
        bytes
    }

    fn sh_grid() -> ShGrid {
        let mut point: ShPoint = [[0.0; 3]; 9];
        point[3] = [1.5, -2.0, f32::NAN];
        ShGrid {
            lattice: Lattice {
                origin: Vec3::new(-64.0, 0.0, 32.0),
                cell_size: Vec3::splat(32.0),
                counts: UVec3::new(2, 1, 1),
            },
            points: vec![point, [[0.25; 3]; 9]],
        }
    }

    #[test]
    fn untouched_file_is_written_as_it_was() {
        let bytes = file();
        assert_eq!(write(&read(&bytes).unwrap()), bytes);
        let same = read(&bytes).unwrap();
        let same = same.with_light_grid(&same.light_grid.clone());
        assert!(!same.is_modified());
    }

    #[test]
    fn only_the_replaced_lump_changes() {
        let bytes = file();
        let old = read(&bytes).unwrap();
        let points = vec![
            LightGridPoint {
                ambient: [1, 2, 3],
                directed: [4, 5, 6],
                zenith: 7,
                azimuth: 8
            };
            5
        ];
        let written = write(&old.with_light_grid(&points));
        let new = read(&written).unwrap();
        assert_eq!(new.light_grid, points);
        assert_eq!(new.directory.variant.version, 46);
        for kind in LumpKind::ALL {
            if kind != LumpKind::LightGrid {
                assert_eq!(new.lump_bytes(kind), old.lump_bytes(kind), "{kind:?}");
                assert_eq!(
                    new.directory.entry(kind).offset % 4,
                    old.directory.entry(kind).offset % 4
                );
            }
        }
        let text = b"a mark of unknown use";
        assert!(written.windows(text.len()).any(|window| window == text));
        assert!(written[144..].starts_with(b"I LOVE MY"));
        assert_eq!(written.last(), Some(&b'z'));
        assert_eq!(written.len(), bytes.len() + 3 * 8);
    }

    #[test]
    fn an_sh_grid_makes_it_47_with_19_entries_and_back() {
        let bytes = file();
        let old = read(&bytes).unwrap();
        let with = write(&old.with_sh_grid(Some(&sh_grid())));
        let new = read(&with).unwrap();
        assert_eq!(
            (new.directory.variant.version, new.directory.entry_count),
            (47, 19)
        );
        assert_eq!(
            new.directory.variant.label,
            crate::format::bsp::VariantLabel::Sh
        );
        let read_back = new.sh_grid.clone().unwrap();
        assert_eq!(read_back.lattice, sh_grid().lattice);
        assert_eq!(read_back.points[0][3][2].to_bits(), f32::NAN.to_bits());
        for kind in LumpKind::ALL.into_iter().take(17) {
            assert_eq!(new.lump_bytes(kind), old.lump_bytes(kind), "{kind:?}");
        }
        let without = write(&new.with_sh_grid(None));
        assert_eq!(read(&without).unwrap().directory.variant.version, 46);
        // The old file, then at most padding where the SH lump was.
        assert!(without.starts_with(&bytes) && without.len() - bytes.len() < ALIGNMENT);
    }

    #[test]
    fn worldspawn_key_is_set_and_the_rest_of_the_text_kept() {
        let old = read(&file()).unwrap();
        let new = read(&write(&old.with_worldspawn_key("gridsize", "64 64 128"))).unwrap();
        assert_eq!(
            new.entities.worldspawn().unwrap().get("gridsize"),
            Some("64 64 128")
        );
        assert_eq!(
            new.lump_bytes(LumpKind::Lightmaps),
            old.lump_bytes(LumpKind::Lightmaps)
        );
    }
}
