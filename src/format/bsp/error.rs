use crate::format::bsp::types::LumpKind;

/// Why a file cannot be opened at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BspError {
    /// Fewer bytes than ident and version.
    #[error("too short for a BSP: {length} bytes")]
    TooShort {
        /// File length.
        length: usize,
    },
    /// Another format; `game` names it when known.
    #[error("not a supported BSP: starts with “{ident}” version {version}{}; supported: IBSP 46 and 47, RBSP 1, FBSP 1", game.map_or(String::new(), |g| format!(" ({g})")))]
    UnsupportedFormat {
        /// First four bytes, printable.
        ident: String,
        /// Next four as a number.
        version: i32,
        /// What it is, when recognised.
        game: Option<&'static str>,
    },
    /// The directory is cut off.
    #[error("the lump directory ends at byte {needed}, the file has {length}")]
    TruncatedHeader {
        /// Bytes that the directory needs.
        needed: usize,
        /// File length.
        length: usize,
    },
    /// A lump is not inside the file.
    #[error("lump {} ({}) is not inside the file: offset {offset}, length {bytes}, file {length}", lump.index(), lump.name())]
    LumpOutOfFile {
        /// Which.
        lump: LumpKind,
        /// As stored.
        offset: i64,
        /// As stored.
        bytes: i64,
        /// File length.
        length: usize,
    },
    /// A number is so large that honouring it would need memory out of proportion to the file.
    #[error("lump {} ({}), record {index}: {field} is {value}, more than a sound file can have", lump.index(), lump.name())]
    Excessive {
        /// Which.
        lump: LumpKind,
        /// Record number.
        index: usize,
        /// Field name.
        field: &'static str,
        /// As stored.
        value: i64,
    },
    /// Records have a shape that points to another format.
    #[error("lump {} ({}) has {bytes} bytes, which fits another format's records: {guess}", lump.index(), lump.name())]
    ForeignRecords {
        /// Which.
        lump: LumpKind,
        /// Lump length.
        bytes: usize,
        /// What it may be.
        guess: &'static str,
    },
}

/// Something that was dropped or mended while reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BspWarning {
    /// Where.
    pub lump: LumpKind,
    /// Record number of the first such case, if it concerns a record.
    pub index: Option<usize>,
    /// What, in words, with the found value and the allowed range.
    pub what: String,
    /// How often.
    pub count: usize,
}

impl std::fmt::Display for BspWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lump {} ({})", self.lump.index(), self.lump.name())?;
        if let Some(index) = self.index {
            write!(f, ", record {index}")?;
        }
        write!(f, ": {}", self.what)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}
