use crate::format::bsp::error::BspError;
use crate::format::bsp::types::LumpKind;

/// Start of the text that compilers leave right behind the directory.
pub const MARKER_PREFIX: &[u8] = b"I LOVE MY ";

/// Which game's file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariantLabel {
    /// IBSP 46: Quake 3 and its kin.
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
        }
    }
}

/// The verdict on a file and its grounds.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The lump directory, as far as it really is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// What kind of file it is.
    pub variant: Variant,
    /// Directory entries in the file: 17, 18 or 19.
    pub entry_count: usize,
    /// Lumps by kind; absent entries are empty.
    pub lumps: [LumpEntry; 19],
    /// Byte range of the compiler's mark behind the directory, if there is one.
    pub marker: Option<std::ops::Range<usize>>,
}
