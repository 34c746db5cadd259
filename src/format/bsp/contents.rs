use std::io::{self, Write};

use crate::format::bsp::types::{ShGrid, ShPoint};

/// SH points that are made into bytes at once.
const POINTS_AT_ONCE: usize = 1024;

/// A file, or a part of one, as pieces that are written one after the other: large lumps stay where they are.
#[derive(Clone, Debug, Default)]
pub struct Contents<'a> {
    pieces: Vec<Piece<'a>>,
    len: usize,
}

#[derive(Clone, Debug)]
enum Piece<'a> {
    Borrowed(&'a [u8]),
    Owned(Vec<u8>),
    ShPoints(&'a [ShPoint]),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Borrowed(bytes) => bytes.len(),
            Self::Owned(bytes) => bytes.len(),
            Self::ShPoints(points) => size_of_val(*points),
        }
    }

    /// Calls `give` with the bytes in order, until it fails.
    fn bytes<E>(&self, mut give: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Borrowed(bytes) => give(bytes),
            Self::Owned(bytes) => give(bytes),
            Self::ShPoints(points) => {
                let mut buffer = Vec::new();
                points.chunks(POINTS_AT_ONCE).try_for_each(|points| {
                    let values = points.as_flattened().as_flattened().iter();
                    buffer.clear();
                    buffer.extend(values.flat_map(|value| value.to_le_bytes()));
                    give(&buffer)
                })
            }
        }
    }
}

impl<'a> Contents<'a> {
    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes everything, in parts of at most a few hundred kilobytes where they are made here.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pieces = self.pieces.iter();
        pieces.try_for_each(|piece| piece.bytes(|bytes| out.write_all(bytes)))
    }

    /// A copy in one piece.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut all = Vec::with_capacity(self.len);
        self.for_each(|bytes| {
            all.extend_from_slice(bytes);
            true
        });
        all
    }

    /// Whether it is just these bytes.
    pub(super) fn is_equal(&self, mut other: &[u8]) -> bool {
        self.len == other.len()
            && self.for_each(|bytes| {
                let part = other.split_off(..bytes.len());
                part == Some(bytes)
            })
    }

    /// Calls `give` with the bytes in order while it returns true; whether it always did.
    fn for_each(&self, mut give: impl FnMut(&[u8]) -> bool) -> bool {
        let mut pieces = self.pieces.iter();
        let mut give = |bytes: &[u8]| if give(bytes) { Ok(()) } else { Err(()) };
        pieces.try_for_each(|piece| piece.bytes(&mut give)).is_ok()
    }

    /// Adds bytes that stay where they are.
    pub(super) fn push(&mut self, bytes: &'a [u8]) {
        self.push_piece(Piece::Borrowed(bytes));
    }

    /// Adds bytes.
    pub(super) fn push_owned(&mut self, bytes: Vec<u8>) {
        self.push_piece(Piece::Owned(bytes));
    }

    /// Adds other contents.
    pub(super) fn append(&mut self, other: Self) {
        for piece in other.pieces {
            self.push_piece(piece);
        }
    }

    /// Adds zero bytes until the length has the remainder of `position` by `alignment`.
    pub(super) fn align_like(&mut self, position: usize, alignment: usize) {
        let count = (position % alignment + alignment - self.len % alignment) % alignment;
        self.push_owned(vec![0; count]);
    }

    /// Takes off what lies behind `end`, which is between two pieces.
    pub(super) fn split_off(&mut self, end: usize) -> Self {
        let mut at = 0;
        let stays = |piece: &&Piece<'_>| {
            at += piece.len();
            at <= end
        };
        let kept = self.pieces.iter().take_while(stays).count();
        let tail = self.pieces.split_off(kept);
        let mut rest = Self::default();
        for piece in tail {
            rest.push_piece(piece);
        }
        self.len -= rest.len;
        rest
    }

    fn push_piece(&mut self, piece: Piece<'a>) {
        let len = piece.len();
        if len > 0 {
            self.len += len;
            self.pieces.push(piece);
        }
    }
}

impl<'a> From<&'a [u8]> for Contents<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        let mut contents = Self::default();
        contents.push(bytes);
        contents
    }
}

/// Lump 18: mins, cell size, counts, number of points, then nine RGB coefficients a point; all little-endian.
impl<'a> From<&'a ShGrid> for Contents<'a> {
    fn from(grid: &'a ShGrid) -> Self {
        let lattice = &grid.lattice;
        let floats = [lattice.origin, lattice.cell_size].map(|v| v.to_array());
        let floats = floats.as_flattened().iter();
        let mut head: Vec<u8> = floats.flat_map(|value| value.to_le_bytes()).collect();
        let counts = lattice.counts.to_array().into_iter();
        let count = u32::try_from(grid.points.len()).unwrap_or(u32::MAX);
        head.extend(counts.chain([count]).flat_map(u32::to_le_bytes));
        let mut contents = Self::default();
        contents.push_owned(head);
        contents.push_piece(Piece::ShPoints(&grid.points));
        contents
    }
}
