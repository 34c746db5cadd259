use crate::format::bsp::BspError;

/// Why a map cannot be written as JSON, or JSON files cannot become a map.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// A file's text or values are wrong.
    #[error("{file}, line {line}{}: {what}", if path.is_empty() { String::new() } else { format!(", {path}") })]
    Malformed {
        /// File name, without folder.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Members and array places that lead to it, for example `DrawVert#3/color/[0]`.
        path: String,
        /// What is wrong, with the allowed range.
        what: String,
    },
    /// A lump's file is not there.
    #[error("{file} is missing")]
    MissingFile {
        /// File name, without folder.
        file: String,
    },
    /// Reading or writing a file failed.
    #[error("{file}: {source}")]
    Io {
        /// File name, without folder.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The map itself cannot be read.
    #[error(transparent)]
    Bsp(#[from] BspError),
    /// A map of this kind has no JSON form here.
    #[error("maps of the kind {ident} cannot be taken apart into JSON")]
    UnsupportedKind {
        /// First four bytes, printable.
        ident: String,
    },
    /// The map would be larger than its 32-bit directory can say.
    #[error("the map would have {bytes} bytes, more than its directory can address")]
    TooLarge {
        /// Bytes of all lumps.
        bytes: u64,
    },
}

/// A mistake in a file whose name the parser does not know.
#[derive(Debug)]
pub(super) struct Fault {
    line: u64,
    path: String,
    what: String,
    io: Option<std::io::Error>,
}

impl Fault {
    pub(super) fn new(line: u64, what: impl Into<String>) -> Self {
        Self {
            line,
            path: String::new(),
            what: what.into(),
            io: None,
        }
    }

    pub(super) fn io(error: std::io::Error) -> Self {
        Self {
            line: 0,
            path: String::new(),
            what: String::new(),
            io: Some(error),
        }
    }

    /// This fault seen from the member or array around it.
    pub(super) fn within(mut self, segment: &str) -> Self {
        if !self.path.is_empty() {
            self.path.insert(0, '/');
        }
        self.path.insert_str(0, segment);
        self
    }

    pub(super) fn in_file(self, file: &str) -> JsonError {
        let file = file.to_owned();
        match self.io {
            Some(source) => JsonError::Io { file, source },
            None => JsonError::Malformed {
                file,
                line: self.line,
                path: self.path,
                what: self.what,
            },
        }
    }
}
