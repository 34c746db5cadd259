use std::ops::Range;

use crate::format::bsp::bspx::Bspx;
use crate::format::bsp::error::{BspError, BspWarning};
use crate::format::bsp::types::LumpKind;
use crate::format::reader::Record;

/// Start of the text that compilers leave right behind the directory.
pub const MARKER_PREFIX: &[u8] = b"I LOVE MY ";

/// Ident and version.
const HEAD_BYTES: usize = 8;
/// Offset and length.
const ENTRY_BYTES: usize = 8;
/// An advertisement record of Quake Live.
const ADVERTISEMENT_BYTES: usize = 128;
/// Head of the SH lump.
pub(super) const SH_HEAD_BYTES: usize = 40;
/// One SH point.
pub(super) const SH_POINT_BYTES: usize = 108;

/// Which game's file it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariantLabel {
    /// IBSP 46: Quake 3 and its kin.
    #[default]
    Quake3,
    /// IBSP 47 with the SH commit's entry 18.
    Sh,
    /// IBSP 46 that nevertheless carries a sound entry 18.
    Quake3WithSh,
    /// IBSP 47 with advertisements.
    QuakeLive,
    /// IBSP 47 with foliage.
    WolfEt,
    /// IBSP 47, nothing tells which.
    Unknown47,
    /// RBSP 1: Jedi Outcast, Jedi Academy, Soldier of Fortune II.
    Raven,
    /// FBSP 1: Warsow and other games on its engine.
    Warsow,
}

/// The three layouts of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One light style.
    #[default]
    Ibsp,
    /// Four light styles, a light grid with a palette.
    Rbsp,
    /// As RBSP, with larger lightmap pages.
    Fbsp,
}

impl Format {
    /// First four bytes of such a file.
    pub fn ident(self) -> &'static [u8; 4] {
        match self {
            Self::Ibsp => b"IBSP",
            Self::Rbsp => b"RBSP",
            Self::Fbsp => b"FBSP",
        }
    }

    /// Whether surfaces, vertices and grid points have four style slots in the file.
    pub fn has_styles(self) -> bool {
        self != Self::Ibsp
    }

    /// Side of an internal lightmap page, texels.
    pub fn lightmap_size(self) -> u32 {
        match self {
            Self::Ibsp | Self::Rbsp => 128,
            Self::Fbsp => 512,
        }
    }

    /// Directory entries that every such file has.
    pub fn base_entries(self) -> usize {
        if self.has_styles() { 18 } else { 17 }
    }

    /// The lump of directory entry 0 and so on.
    pub fn kinds(self) -> impl Iterator<Item = LumpKind> {
        LumpKind::ALL
            .into_iter()
            .filter_map(move |kind| match kind {
                LumpKind::Advertisements if self.has_styles() => Some(LumpKind::LightGridArray),
                LumpKind::LightGridSh if self.has_styles() => None,
                kind => Some(kind),
            })
    }
}

impl VariantLabel {
    /// For people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Quake3 => "Quake 3 (IBSP 46)",
            Self::Sh => "SH commit's variant (IBSP 47, 19 entries)",
            Self::Quake3WithSh => "Quake 3 with an SH grid (IBSP 46, 19 entries)",
            Self::QuakeLive => "Quake Live (IBSP 47)",
            Self::WolfEt => "Return to Castle Wolfenstein / Enemy Territory (IBSP 47)",
            Self::Unknown47 => {
                "IBSP 47 of an unknown game (Quake Live, Wolfenstein or Enemy Territory)"
            }
            Self::Raven => "Jedi Outcast, Jedi Academy or Soldier of Fortune II (RBSP 1)",
            Self::Warsow => "Warsow (FBSP 1)",
        }
    }

    /// Layout of its records.
    pub fn format(self) -> Format {
        match self {
            Self::Raven => Format::Rbsp,
            Self::Warsow => Format::Fbsp,
            _ => Format::Ibsp,
        }
    }
}

/// The verdict on a file and its grounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Which game's.
    pub label: VariantLabel,
    /// Version number in the header.
    pub version: i32,
    /// Why, one sentence each.
    pub reasons: Vec<String>,
}

/// Where a lump is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LumpEntry {
    /// Byte offset in the file.
    pub offset: usize,
    /// Bytes.
    pub length: usize,
}

impl LumpEntry {
    /// Its bytes in the file.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset.saturating_add(self.length)
    }

    /// Whether it holds anything.
    pub fn is_live(&self) -> bool {
        self.length > 0
    }

    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.range(), other.range());
        self.is_live() && other.is_live() && a.start < b.end && b.start < a.end
    }
}

/// The lump directory, as far as it really is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// What kind of file it is.
    pub variant: Variant,
    /// Directory entries in the file: 17, 18 or 19.
    pub entry_count: usize,
    /// Lumps in directory order; absent entries are empty.
    pub lumps: [LumpEntry; 19],
    /// Byte range of the compiler's mark behind the directory, if there is one.
    pub marker: Option<Range<usize>>,
    /// The block of extra lumps behind the last one, if there is one.
    pub bspx: Option<Bspx>,
}

impl Directory {
    /// Bytes of ident, version and entries.
    pub fn header_bytes(&self) -> usize {
        HEAD_BYTES + ENTRY_BYTES * self.entry_count
    }

    /// Layout of its records.
    pub fn format(&self) -> Format {
        self.variant.label.format()
    }

    /// Kinds of lump that such a file has, in directory order, whether or not this file's directory reaches so far.
    pub fn kinds(&self) -> impl Iterator<Item = LumpKind> + use<> {
        self.format().kinds()
    }

    /// Entry of `kind`; empty when absent or of another format.
    pub fn entry(&self, kind: LumpKind) -> LumpEntry {
        let styled = self.format().has_styles();
        let foreign = match kind {
            LumpKind::LightGridArray => !styled,
            LumpKind::Advertisements | LumpKind::LightGridSh => styled,
            _ => false,
        };
        let own = self.lumps.get(kind.index()).filter(|_| !foreign);
        own.copied().unwrap_or_default()
    }

    /// End of the last lump.
    pub(super) fn lumps_end(&self) -> usize {
        let ends = self.lumps.iter().filter(|entry| entry.is_live());
        ends.map(|entry| entry.range().end)
            .max()
            .unwrap_or(self.header_bytes())
    }
}

/// Reads and judges the directory by the procedure of `docs/formats.md`: never by the version alone.
pub(super) fn read_directory(
    bytes: &[u8],
    warnings: &mut Vec<BspWarning>,
) -> Result<Directory, BspError> {
    let (format, version) = check_ident(bytes)?;
    let base_entries = format.base_entries();
    let needed = HEAD_BYTES + ENTRY_BYTES * base_entries;
    if bytes.len() < needed {
        return Err(BspError::TruncatedHeader {
            needed,
            length: bytes.len(),
        });
    }
    if format.has_styles() {
        // Before anything is believed: another game's directory is shorter.
        check_structure(bytes, format, version)?;
    }
    let mut lumps = [LumpEntry::default(); 19];
    for (kind, slot) in format.kinds().zip(&mut lumps).take(base_entries) {
        *slot = base_entry(bytes, kind, needed)?;
    }
    warn_overlaps(format, &lumps, warnings);
    let first = lumps
        .iter()
        .filter(|entry| entry.is_live())
        .map(|entry| entry.offset)
        .min()
        .unwrap_or(bytes.len());
    let ident = format.ident().escape_ascii();
    let mut reasons = vec![format!("ident {ident}, version {version}")];
    let marker = find_marker(bytes, base_entries, first);
    let room = |end: usize| end.saturating_sub(HEAD_BYTES) / ENTRY_BYTES;
    let mut entry_count = base_entries;
    match &marker {
        Some(range) => {
            entry_count = room(range.start).clamp(base_entries, LumpKind::ALL.len());
            reasons.push(format!(
                "the compiler's mark at byte {} shows {entry_count} directory entries",
                range.start
            ));
        }
        None => reasons.push(format!(
            "no compiler's mark; the first lump at byte {first} leaves room for {} entries",
            room(first).min(LumpKind::ALL.len())
        )),
    }
    let mut directory = Directory {
        variant: Variant {
            label: match format {
                Format::Ibsp => VariantLabel::Quake3,
                Format::Rbsp => VariantLabel::Raven,
                Format::Fbsp => VariantLabel::Warsow,
            },
            version,
            reasons,
        },
        entry_count,
        lumps,
        marker,
        bspx: None,
    };
    if format.has_styles() {
        // An entry behind the base ones means nothing here.
        directory.entry_count = base_entries;
        directory
            .variant
            .reasons
            .push("every lump holds whole records of that format".to_owned());
    } else {
        probe_advertisements(bytes, room(first), &mut directory, warnings);
        probe_sh(bytes, room(first), &mut directory, warnings);
    }
    directory.bspx = Bspx::find(bytes, directory.lumps_end(), warnings);
    Ok(directory)
}

/// Record sizes that tell the Raven games' files from `SiN`'s, which start with the same bytes: lump and divisor.
const STRUCTURE: [(LumpKind, i64); 7] = [
    (LumpKind::Shaders, 72),
    (LumpKind::Surfaces, 148),
    (LumpKind::DrawVerts, 80),
    (LumpKind::BrushSides, 12),
    (LumpKind::LightGrid, 30),
    (LumpKind::LightGridArray, 2),
    (LumpKind::Models, 40),
];

fn check_structure(bytes: &[u8], format: Format, version: i32) -> Result<(), BspError> {
    let length = |kind: LumpKind| raw_entry(bytes, kind.index()).map_or(0, |(_, length)| length);
    let whole = STRUCTURE
        .iter()
        .all(|(kind, size)| length(*kind) % size == 0);
    if whole && length(LumpKind::Models) > 0 {
        return Ok(());
    }
    Err(BspError::UnsupportedFormat {
        ident: format.ident().escape_ascii().to_string(),
        version,
        game: Some("SiN, or damaged: its lumps are not whole records of the Jedi games or Warsow"),
    })
}

fn check_ident(bytes: &[u8]) -> Result<(Format, i32), BspError> {
    let mut record = Record::new(bytes);
    if bytes.len() < HEAD_BYTES {
        return Err(BspError::TooShort {
            length: bytes.len(),
        });
    }
    let ident: [u8; 4] = record.array();
    let version = record.i32();
    let format = match (&ident, version) {
        (b"IBSP", 46 | 47) => Some(Format::Ibsp),
        (b"RBSP", 1) => Some(Format::Rbsp),
        (b"FBSP", 1) => Some(Format::Fbsp),
        _ => None,
    };
    if let Some(format) = format {
        return Ok((format, version));
    }
    let first_integer = i32::from_le_bytes(ident);
    let game = match (&ident, version) {
        (b"IBSP", 38) => Some("Quake II"),
        (b"IBSP", 41) => Some("Daikatana or an early SiN"),
        (b"IBSP", 48) => Some("Iron Grip: Warlord"),
        (b"IBSP", 58 | 59 | 4 | 22) => Some("Call of Duty"),
        (b"FAKK" | b"EF2!" | b"EALA", _) => Some("a Ritual game"),
        (b"2015", _) => Some("Medal of Honor"),
        (b"VBSP", _) => Some("Source"),
        (b"rBSP", _) => Some("Titanfall"),
        (b"BSP2" | b"2PSB", _) => Some("Quake with large limits"),
        (b"PSBI" | b"PSBR" | b"PSBV", _) => Some("a big-endian console file"),
        (b"PK\x03\x04", _) => Some("a zip archive; open it as .pk3"),
        _ => match first_integer {
            29 => Some("Quake"),
            30 => Some("Half-Life"),
            _ => None,
        },
    };
    Err(BspError::UnsupportedFormat {
        ident: ident.escape_ascii().to_string(),
        version,
        game,
    })
}

/// Offset and length as stored, widened so that no sum overflows.
fn raw_entry(bytes: &[u8], number: usize) -> Option<(i64, i64)> {
    let at = HEAD_BYTES + ENTRY_BYTES * number;
    let mut record = Record::new(bytes.get(at..at + ENTRY_BYTES)?);
    Some((i64::from(record.i32()), i64::from(record.i32())))
}

fn base_entry(bytes: &[u8], kind: LumpKind, header: usize) -> Result<LumpEntry, BspError> {
    let (offset, length) = raw_entry(bytes, kind.index()).unwrap_or_default();
    match (usize::try_from(offset), usize::try_from(length)) {
        (_, Ok(0)) => Ok(LumpEntry {
            offset: usize::try_from(offset).unwrap_or_default(),
            length: 0,
        }),
        (Ok(start), Ok(count)) if start >= header && start.saturating_add(count) <= bytes.len() => {
            Ok(LumpEntry {
                offset: start,
                length: count,
            })
        }
        _ => Err(BspError::LumpOutOfFile {
            lump: kind,
            offset,
            bytes: length,
            length: bytes.len(),
        }),
    }
}

fn warn_overlaps(format: Format, lumps: &[LumpEntry], warnings: &mut Vec<BspWarning>) {
    for (at, (kind, entry)) in format.kinds().zip(lumps).enumerate() {
        for (other_kind, other) in format.kinds().zip(lumps).skip(at + 1) {
            if entry.overlaps(other) {
                warnings.push(BspWarning {
                    lump: kind,
                    index: None,
                    what: format!(
                        "overlaps lump {} ({})",
                        other_kind.index(),
                        other_kind.name()
                    ),
                    count: 1,
                });
            }
        }
    }
}

/// The text behind the directory that no entry points to.
fn find_marker(bytes: &[u8], base_entries: usize, first: usize) -> Option<Range<usize>> {
    let starts = (base_entries..=LumpKind::ALL.len()).map(|n| HEAD_BYTES + ENTRY_BYTES * n);
    starts.filter(|start| *start < first).find_map(|start| {
        let text = bytes.get(start..first)?;
        let length = text
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(text.len());
        let text = text.get(..length)?;
        let printable = |byte: &u8| *byte == b'\n' || (b' '..=b'~').contains(byte);
        (text.starts_with(MARKER_PREFIX) && text.iter().all(printable))
            .then_some(start..start + length)
    })
}

/// The range of an extra entry when it lies behind the directory, inside the file, and on no other lump.
fn extra_entry(bytes: &[u8], directory: &Directory, number: usize) -> Option<LumpEntry> {
    let (offset, length) = raw_entry(bytes, number)?;
    let entry = LumpEntry {
        offset: usize::try_from(offset).ok()?,
        length: usize::try_from(length).ok()?,
    };
    let header = HEAD_BYTES + ENTRY_BYTES * (number + 1);
    let inside = entry.offset >= header && entry.range().end <= bytes.len();
    let alone = directory.lumps.iter().all(|other| !entry.overlaps(other));
    let marked = directory.marker.as_ref();
    let off_marker = marked.is_none_or(|m| entry.offset >= m.end || entry.range().end <= m.start);
    (inside && alone && off_marker).then_some(entry)
}

fn probe_advertisements(
    bytes: &[u8],
    room: usize,
    directory: &mut Directory,
    warnings: &mut Vec<BspWarning>,
) {
    let number = LumpKind::Advertisements.index();
    let by_marker = directory.marker.is_some() && directory.entry_count > number;
    let may_exist = by_marker || (directory.marker.is_none() && room > number);
    if !may_exist {
        return;
    }
    let (offset, length) = raw_entry(bytes, number).unwrap_or((-1, -1));
    let empty = length == 0 && usize::try_from(offset).is_ok_and(|at| at <= bytes.len());
    let filled = extra_entry(bytes, directory, number).filter(|entry| {
        entry.is_live()
            && entry.length % ADVERTISEMENT_BYTES == 0
            && bytes
                .get(entry.range())
                .is_some_and(advertisements_plausible)
    });
    match filled {
        Some(entry) => {
            directory.variant.reasons.push(format!(
                "entry 17 holds {} advertisements",
                entry.length / ADVERTISEMENT_BYTES
            ));
            set_entry(directory, LumpKind::Advertisements, entry);
        }
        None if empty => {
            directory
                .variant
                .reasons
                .push("entry 17 is present and empty".to_owned());
            let entry = LumpEntry {
                offset: usize::try_from(offset).unwrap_or_default(),
                length: 0,
            };
            set_entry(directory, LumpKind::Advertisements, entry);
        }
        None if by_marker => {
            warnings.push(unusable(LumpKind::Advertisements, offset, length));
        }
        None => {}
    }
}

fn unusable(lump: LumpKind, offset: i64, length: i64) -> BspWarning {
    BspWarning {
        lump,
        index: None,
        what: format!("entry is not usable (offset {offset}, length {length}), dropped"),
        count: 1,
    }
}

fn set_entry(directory: &mut Directory, kind: LumpKind, entry: LumpEntry) {
    if let Some(slot) = directory.lumps.get_mut(kind.index()) {
        *slot = entry;
    }
    directory.entry_count = directory.entry_count.max(kind.index() + 1);
}

/// Finite numbers, and a model of the form `*digits`.
fn advertisements_plausible(lump: &[u8]) -> bool {
    lump.chunks_exact(ADVERTISEMENT_BYTES).all(|bytes| {
        let mut record = Record::new(bytes);
        record.i32();
        let finite = (0..15).all(|_| record.f32().is_finite());
        let model = record.name64();
        let digits = model.strip_prefix('*').unwrap_or_default();
        finite && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn probe_sh(bytes: &[u8], room: usize, directory: &mut Directory, warnings: &mut Vec<BspWarning>) {
    let number = LumpKind::LightGridSh.index();
    let by_marker = directory.marker.is_some() && directory.entry_count > number;
    let may_exist = by_marker || (directory.marker.is_none() && room > number);
    let entry = extra_entry(bytes, directory, number)
        .filter(|entry| may_exist && entry.length >= SH_HEAD_BYTES);
    let label_47 = if directory.entry(LumpKind::Advertisements).is_live() {
        VariantLabel::QuakeLive
    } else {
        VariantLabel::Unknown47
    };
    let is_47 = directory.variant.version == 47;
    directory.variant.label = if is_47 {
        label_47
    } else {
        VariantLabel::Quake3
    };
    let Some(entry) = entry else {
        let (offset, length) = raw_entry(bytes, number).unwrap_or_default();
        if by_marker && length != 0 {
            warnings.push(unusable(LumpKind::LightGridSh, offset, length));
        }
        if is_47 {
            let reason = "entry 18 is absent: no SH grid".to_owned();
            directory.variant.reasons.push(reason);
        }
        return;
    };
    match check_sh_head(bytes.get(entry.range()).unwrap_or_default()) {
        Ok([x, y, z]) => {
            set_entry(directory, LumpKind::LightGridSh, entry);
            directory.variant.reasons.push(format!(
                "entry 18 passes as an SH grid of {x}×{y}×{z} points"
            ));
            directory.variant.label = if is_47 {
                VariantLabel::Sh
            } else {
                VariantLabel::Quake3WithSh
            };
        }
        Err(why) if by_marker => {
            directory
                .variant
                .reasons
                .push(format!("entry 18 is no SH grid: {why}"));
            warnings.push(BspWarning {
                lump: LumpKind::LightGridSh,
                index: None,
                what: format!("{why}; ignored"),
                count: 1,
            });
        }
        Err(_) => {}
    }
}

/// The three counts when the lump is a sound SH grid, else why not.
pub(super) fn check_sh_head(lump: &[u8]) -> Result<[i32; 3], String> {
    let mut record = Record::new(lump);
    let (mins, size) = (record.vec3(), record.vec3());
    let counts = [record.i32(), record.i32(), record.i32()];
    let points = i64::from(record.i32());
    if !mins.is_finite() || !size.is_finite() || !size.cmpgt(glam::Vec3::ZERO).all() {
        return Err(format!("placement {mins}, cell size {size} is not usable"));
    }
    if counts.iter().any(|count| *count < 1) {
        return Err(format!("counts {counts:?} are not all positive"));
    }
    let product = counts.iter().try_fold(1_i64, |product, count| {
        product.checked_mul(i64::from(*count))
    });
    if product != Some(points) {
        return Err(format!("{points} points stored, but counts are {counts:?}"));
    }
    let expected = u64::try_from(points)
        .ok()
        .and_then(|points| points.checked_mul(SH_POINT_BYTES as u64))
        .and_then(|bytes| bytes.checked_add(SH_HEAD_BYTES as u64));
    let [x, y, z] = counts;
    match expected {
        Some(expected) if expected == lump.len() as u64 => Ok(counts),
        expected => Err(format!(
            "{x}×{y}×{z} points need {} bytes, the lump has {}",
            expected.unwrap_or(u64::MAX),
            lump.len()
        )),
    }
}
