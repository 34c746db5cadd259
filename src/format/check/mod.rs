//! Judging a map file by what engines rely on: findings with stable codes, each with its place and numbers.
//!
//! The reader mends and goes on; this looks at the bytes as stored and says what a strict engine would refuse (`E…`), what
//! works differently from engine to engine (`W…`), and what is worth knowing (`I…`). Light grids are judged in `probe`.
//!
//! Key types: [`Finding`], [`Rule`] (the table of all codes, [`RULES`]).

mod file;
mod geometry;
mod rules;
mod world;

use std::collections::BTreeMap;

use crate::format::bsp::{Bsp, LumpKind};
pub use rules::{RULES, Rule};

/// How bad a finding is; the greater, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Engines differ, or something is lost.
    Warning,
    /// A strict engine refuses the map, or reads beyond its data.
    Error,
}

impl Severity {
    /// Word in lists and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One kind of thing found, in one lump.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable code; its letter is the severity.
    pub code: &'static str,
    /// Where.
    pub lump: Option<LumpKind>,
    /// Record of the first case.
    pub index: Option<usize>,
    /// How often.
    pub count: usize,
    /// What, in words, of the first case; one line.
    pub message: String,
    /// Figures of the first case by name: what was found, what is allowed, the byte offset in the file.
    pub numbers: Vec<(&'static str, f64)>,
}

impl Finding {
    /// A finding that came up once.
    pub fn new(code: &'static str, lump: Option<LumpKind>, message: impl Into<String>) -> Self {
        Self {
            code,
            lump,
            index: None,
            count: 1,
            message: message.into(),
            numbers: Vec::new(),
        }
    }

    /// This finding with figures.
    #[must_use]
    pub fn with_numbers(mut self, numbers: &[(&'static str, f64)]) -> Self {
        self.numbers.extend_from_slice(numbers);
        self
    }

    /// By the code's letter.
    pub fn severity(&self) -> Severity {
        match self.code.as_bytes().first() {
            Some(b'E') => Severity::Error,
            Some(b'W') => Severity::Warning,
            _ => Severity::Info,
        }
    }
}

/// All findings on the file of `bsp` but those on its light grids, by code.
///
/// Records are judged as stored, also where the reader has mended its copy.
pub fn findings(bsp: &Bsp) -> Vec<Finding> {
    let mut list = Findings::default();
    let view = View::new(bsp);
    file::check(&view, &mut list);
    world::check(&view, &mut list);
    geometry::check(&view, &mut list);
    list.into_vec()
}

/// Findings while they are gathered: one entry a code and lump.
#[derive(Default)]
struct Findings(BTreeMap<(&'static str, Option<LumpKind>), Finding>);

impl Findings {
    /// Adds a case; `message` is made for the first of its kind only.
    fn add(
        &mut self,
        code: &'static str,
        lump: LumpKind,
        index: Option<usize>,
        numbers: &[(&'static str, f64)],
        message: impl FnOnce() -> String,
    ) {
        let entry = self.0.entry((code, Some(lump)));
        entry
            .and_modify(|known| known.count += 1)
            .or_insert_with(|| {
                let mut finding = Finding::new(code, Some(lump), message()).with_numbers(numbers);
                finding.index = index;
                finding
            });
    }

    fn into_vec(self) -> Vec<Finding> {
        self.0.into_values().collect()
    }
}

/// The file's lumps as stored, and where things are in their records.
struct View<'a> {
    bsp: &'a Bsp,
    /// Sizes and offsets that differ between IBSP and RBSP.
    side_bytes: usize,
    vert_bytes: usize,
    normal_at: usize,
    surface_bytes: usize,
    lightmap_at: usize,
    patch_at: usize,
    grid_bytes: usize,
    page_bytes: usize,
}

impl<'a> View<'a> {
    fn new(bsp: &'a Bsp) -> Self {
        let ident = bsp.source.get(..4).unwrap_or_default();
        let view = Self {
            bsp,
            side_bytes: 8,
            vert_bytes: 44,
            normal_at: 28,
            surface_bytes: 104,
            lightmap_at: 28,
            patch_at: 96,
            grid_bytes: 8,
            page_bytes: 128 * 128 * 3,
        };
        match ident {
            b"RBSP" | b"FBSP" => Self {
                side_bytes: 12,
                vert_bytes: 80,
                normal_at: 52,
                surface_bytes: 148,
                lightmap_at: 36,
                patch_at: 140,
                grid_bytes: 30,
                page_bytes: if ident == b"FBSP" {
                    512 * 512 * 3
                } else {
                    view.page_bytes
                },
                ..view
            },
            _ => view,
        }
    }

    fn lump(&self, kind: LumpKind) -> &'a [u8] {
        self.bsp.lump_bytes(kind)
    }

    /// Bytes of a record, for lumps that are arrays.
    fn record_bytes(&self, kind: LumpKind) -> Option<usize> {
        Some(match kind {
            LumpKind::Shaders | LumpKind::Fogs => 72,
            LumpKind::Planes => 16,
            LumpKind::Nodes => 36,
            LumpKind::Leafs => 48,
            LumpKind::LeafSurfaces | LumpKind::LeafBrushes | LumpKind::DrawIndexes => 4,
            LumpKind::Models => 40,
            LumpKind::Brushes => 12,
            LumpKind::BrushSides => self.side_bytes,
            LumpKind::DrawVerts => self.vert_bytes,
            LumpKind::Surfaces => self.surface_bytes,
            LumpKind::Lightmaps => self.page_bytes,
            LumpKind::LightGrid => self.grid_bytes,
            _ => return None,
        })
    }

    fn records(&self, kind: LumpKind) -> std::slice::ChunksExact<'a, u8> {
        let bytes = self.record_bytes(kind).unwrap_or(1);
        self.lump(kind).chunks_exact(bytes)
    }

    fn count(&self, kind: LumpKind) -> i64 {
        let bytes = self.record_bytes(kind).unwrap_or(1);
        i64::try_from(self.lump(kind).len() / bytes).unwrap_or(i64::MAX)
    }

    /// Offset in the file of byte `at` of record `index`.
    fn offset(&self, kind: LumpKind, index: usize, at: usize) -> f64 {
        let bytes = self.record_bytes(kind).unwrap_or(1);
        (self.bsp.directory.entry(kind).offset + index * bytes + at) as f64
    }

    /// The number at `at` of record `index` must be from `min` up to but not `end`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a rule's row: where, what, range"
    )]
    fn in_range(
        &self,
        list: &mut Findings,
        code: &'static str,
        (kind, index, at): (LumpKind, usize, usize),
        field: &str,
        value: i32,
        min: i64,
        end: i64,
    ) -> bool {
        let sound = (min..end).contains(&i64::from(value));
        if !sound {
            let numbers = [
                ("found", f64::from(value)),
                ("min", min as f64),
                ("max", (end - 1) as f64),
                ("offset", self.offset(kind, index, at)),
            ];
            list.add(code, kind, Some(index), &numbers, || match end {
                0 => format!("{field} is {value}, but there is nothing to name"),
                _ => format!("{field} is {value}, allowed are {min} to {}", end - 1),
            });
        }
        sound
    }

    /// First and count, stored side by side at `at`, must lie within `total`.
    fn span(
        &self,
        list: &mut Findings,
        code: &'static str,
        (kind, index, at): (LumpKind, usize, usize),
        field: &str,
        record: &[u8],
        total: i64,
    ) -> bool {
        let (first, count) = (i32_at(record, at), i32_at(record, at + 4));
        let end = i64::from(first) + i64::from(count);
        let sound = count == 0 || (first >= 0 && count >= 0 && end <= total);
        if !sound {
            let numbers = [
                ("first", f64::from(first)),
                ("count", f64::from(count)),
                ("total", total as f64),
                ("offset", self.offset(kind, index, at)),
            ];
            list.add(code, kind, Some(index), &numbers, || {
                format!("{field} start at {first} and are {count}, but there are {total}")
            });
        }
        sound
    }
}

fn i32_at(record: &[u8], at: usize) -> i32 {
    let bytes = record.get(at..).and_then(<[u8]>::first_chunk::<4>);
    bytes.map_or(0, |bytes| i32::from_le_bytes(*bytes))
}

fn f32s_at<const N: usize>(record: &[u8], at: usize) -> [f32; N] {
    std::array::from_fn(|place| f32::from_bits(i32_at(record, at + 4 * place).cast_unsigned()))
}

/// Whether all numbers are finite.
fn finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|number| number.is_finite())
}
