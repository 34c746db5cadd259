use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::format::bsp::bspx::{self, Bspx};
use crate::format::bsp::contents::Contents;
use crate::format::bsp::directory::{Directory, LumpEntry};
use crate::format::bsp::error::BspWarning;
use crate::format::bsp::read::unpack_sh_grid;
use crate::format::bsp::records;
use crate::format::bsp::types::{
    Bsp, LightGridPoint, LumpKind, Replacement, ShContainer, ShGrid, StyledGrid, StyledGridPoint,
};
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
        match self.replaced.get(&kind) {
            Some(Replacement::Bytes(bytes)) => return bytes,
            Some(Replacement::ShGrid(made)) => {
                return made.get_or_init(|| self.lump_contents(kind).to_bytes().into());
            }
            None => {}
        }
        if kind == LumpKind::LightGridSh {
            return self.stored_sh();
        }
        self.source
            .get(self.directory.entry(kind).range())
            .unwrap_or_default()
    }

    /// [`Bsp::lump_bytes`] without making them.
    fn lump_contents(&self, kind: LumpKind) -> Contents<'_> {
        match (self.replaced.get(&kind), &self.sh_grid) {
            (Some(Replacement::ShGrid(_)), Some(grid)) => grid.into(),
            (Some(Replacement::ShGrid(_)), None) => Contents::default(),
            (Some(Replacement::Bytes(_)) | None, _) => self.lump_bytes(kind).into(),
        }
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

    /// Where [`write()`] puts the SH grid.
    pub fn own_container(&self) -> ShContainer {
        let replaced = self.replaced.contains_key(&LumpKind::LightGridSh);
        match self.sh_container.unwrap_or_default() {
            ShContainer::Sidecar if replaced => ShContainer::V47,
            container => container,
        }
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
        self.with_palette(StyledGrid::encode(points, &old))
    }

    /// This map with all slots of its light grid replaced; points in lattice order, x fastest. Merged and warned of as in
    /// [`Bsp::with_light_grid`]. IBSP keeps slot 0 of them.
    #[must_use]
    pub fn with_styled_points(&self, points: &[StyledGridPoint]) -> Self {
        if !self.directory.format().has_styles() {
            let first: Vec<_> = points.iter().map(StyledGridPoint::first_slot).collect();
            return self.with_light_grid(&first);
        }
        let old = self.styled_grid.as_ref();
        if old.is_some_and(|old| old.is_of(points)) {
            return self.clone();
        }
        self.with_palette(StyledGrid::of_points(points))
    }

    fn with_palette(&self, (grid, tolerance): (StyledGrid, u8)) -> Self {
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
        let kind = LumpKind::LightGridSh;
        let contents = grid.map(Contents::from).unwrap_or_default();
        let is_stored = !self.replaced.contains_key(&kind) && contents.is_equal(self.stored_sh());
        let mut bsp = self.clone();
        bsp.sh_grid = grid.cloned();
        if !is_stored {
            let made = Replacement::ShGrid(OnceLock::new());
            bsp.replaced.insert(kind, made);
        }
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
            let bytes = Replacement::Bytes(Arc::from(bytes));
            bsp.replaced.insert(kind, bytes);
        }
        bsp
    }
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

/// The same in pieces, for writing without a copy of the whole.
#[derive(Clone, Debug)]
pub struct WrittenContents<'a> {
    /// See [`Written::bsp`].
    pub bsp: Contents<'a>,
    /// See [`Written::sidecar`].
    pub sidecar: Option<Contents<'a>>,
    /// See [`Written::container`].
    pub container: Option<ShContainer>,
}

/// The file's bytes with the SH grid where it was found, or in lump 18 when it is new. A grid that lies in a file beside
/// the map stays there as long as it is unchanged, and goes into the map when it was replaced.
pub fn write(bsp: &Bsp) -> Vec<u8> {
    write_with(bsp, bsp.own_container()).bsp
}

/// [`contents_with`] in one piece each.
pub fn write_with(bsp: &Bsp, container: ShContainer) -> Written {
    let contents = contents_with(bsp, container);
    Written {
        bsp: contents.bsp.to_bytes(),
        sidecar: contents.sidecar.as_ref().map(Contents::to_bytes),
        container: contents.container,
    }
}

/// The map's bytes with the SH grid in `container`: exactly those that were read if nothing was replaced and the grid stays
/// where it was found.
///
/// Otherwise all other lumps keep their bytes, order and alignment, and the compiler's mark and unknown data between lumps
/// stay; only offsets move. An SH grid in lump 18 makes it IBSP 47 with 19 directory entries; taking the grid out of such
/// a file makes it 46 with 17 again, or 47 with 18 when it holds advertisements.
pub fn contents_with(bsp: &Bsp, container: ShContainer) -> WrittenContents<'_> {
    let container = match container {
        container if !bsp.can_hold_sh(container) => ShContainer::Bspx,
        container => container,
    };
    let sh = bsp.lump_contents(LumpKind::LightGridSh);
    let container = (!sh.is_empty()).then_some(container);
    let is_beside = container == Some(ShContainer::Sidecar);
    let contents = if bsp.replaced.is_empty() && container == bsp.sh_container {
        Contents::from(&*bsp.source)
    } else {
        rewrite(bsp, container)
    };
    WrittenContents {
        bsp: contents,
        sidecar: is_beside.then(|| bspx::packed_contents(sh)),
        container,
    }
}

fn rewrite(bsp: &Bsp, container: Option<ShContainer>) -> Contents<'_> {
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
    let mut body = Body::new(header_bytes);
    body.copy_all(bsp, overrides(bsp, has_sh));
    body.put_block(bsp, container == Some(ShContainer::Bspx));
    let mut head = Vec::with_capacity(header_bytes);
    head.extend_from_slice(directory.format().ident());
    head.extend_from_slice(&version.to_le_bytes());
    for entry in body.lumps.iter().take(entry_count) {
        for value in [entry.offset, entry.length] {
            head.extend_from_slice(&i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes());
        }
    }
    let mut file = Contents::default();
    file.push_owned(head);
    file.append(body.contents.split_off(header_bytes));
    file
}

/// Lumps whose bytes are not the old file's. Lump 18 is there only when the grid is to be kept in it.
fn overrides(bsp: &Bsp, sh_in_lump: bool) -> BTreeMap<LumpKind, Contents<'_>> {
    let replaced = bsp.replaced.keys();
    let mut lumps: BTreeMap<_, _> = replaced
        .map(|kind| (*kind, bsp.lump_contents(*kind)))
        .collect();
    let sh = LumpKind::LightGridSh;
    let stays = sh_in_lump && bsp.sh_container == Some(ShContainer::V47);
    if !stays || bsp.replaced.contains_key(&sh) {
        let contents = if sh_in_lump {
            bsp.lump_contents(sh)
        } else {
            Contents::default()
        };
        lumps.insert(sh, contents);
    }
    lumps
}

/// The file being put together: header space, then lumps and gaps in the old order.
struct Body<'a> {
    contents: Contents<'a>,
    lumps: [LumpEntry; 19],
}

/// A stretch of the old file behind the header.
struct Segment {
    kind: Option<LumpKind>,
    range: Range<usize>,
}

impl<'a> Body<'a> {
    fn new(header_bytes: usize) -> Self {
        let mut contents = Contents::default();
        contents.push_owned(vec![0; header_bytes]);
        Self {
            contents,
            lumps: [LumpEntry::default(); 19],
        }
    }

    /// Header sizes differ by multiples of 8, so what was aligned in the old file is aligned in the new one.
    fn copy_all(&mut self, bsp: &'a Bsp, overrides: BTreeMap<LumpKind, Contents<'a>>) {
        let directory = &bsp.directory;
        let mut behind_replaced = false;
        for segment in segments(directory, bsp.source.len()) {
            let old = bsp.source.get(segment.range.clone()).unwrap_or_default();
            // Padding behind a lump of a new length is made anew; anything longer is kept.
            if segment.kind.is_none() && behind_replaced && old.len() <= PADDING_MAX {
                continue;
            }
            self.contents.align_like(segment.range.start, ALIGNMENT);
            if let Some(kind) = segment.kind {
                let replaced = overrides.get(&kind);
                behind_replaced = replaced.is_some();
                self.put(kind, replaced.cloned().unwrap_or_else(|| old.into()));
            } else {
                self.contents.push(old);
                behind_replaced = false;
            }
        }
        if behind_replaced {
            self.contents.align_like(0, ALIGNMENT);
        }
        for (kind, bytes) in overrides {
            if !directory.entry(kind).is_live() && !bytes.is_empty() {
                self.contents.align_like(0, ALIGNMENT);
                self.put(kind, bytes);
                self.contents.align_like(0, ALIGNMENT);
            }
        }
        for kind in directory.kinds() {
            self.place_empty(bsp, kind);
        }
    }

    /// The extra lumps behind the last lump: those that were there, and the SH grid when it belongs there. Trailing bytes
    /// move behind them.
    fn put_block(&mut self, bsp: &'a Bsp, with_sh: bool) {
        let old = bsp.directory.bspx.iter().flat_map(|block| &block.entries);
        let mut lumps: Vec<([u8; 24], Contents<'a>)> = old
            .filter(|entry| !entry.is_named(bspx::SH_NAME))
            .filter_map(|found| Some((found.name, bsp.source.get(found.entry.range())?.into())))
            .collect();
        if with_sh {
            let lump = bsp.lump_contents(LumpKind::LightGridSh);
            lumps.push((bspx::sh_name(), bspx::packed_contents(lump)));
        }
        if lumps.is_empty() {
            return;
        }
        let live = self.lumps.iter().filter(|entry| entry.is_live());
        let end = live.map(|entry| entry.range().end).max();
        let tail = self.contents.split_off(end.unwrap_or(self.contents.len()));
        self.contents.align_like(0, ALIGNMENT);
        let block = bspx::block_contents(self.contents.len(), lumps);
        self.contents.append(block);
        if tail.len() > PADDING_MAX || !tail.is_equal(&vec![0; tail.len()]) {
            self.contents.append(tail);
        }
    }

    fn put(&mut self, kind: LumpKind, bytes: Contents<'a>) {
        if let Some(slot) = self.lumps.get_mut(kind.index()) {
            *slot = LumpEntry {
                offset: self.contents.len(),
                length: bytes.len(),
            };
        }
        self.contents.append(bytes);
    }

    /// Empty lumps keep their offset when it still lies in the file, as compilers write the position of the moment.
    fn place_empty(&mut self, bsp: &Bsp, kind: LumpKind) {
        let old = bsp.directory.entry(kind);
        let end = self.contents.len();
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
            points: Arc::new(vec![point, [[0.25; 3]; 9]]),
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
