//! The BSP file: reading with every bound and index checked, and writing back with only the changed lumps replaced.
//!
//! Offsets and record layouts are in `docs/formats.md`. [`read`] accepts IBSP 46 and 47, RBSP 1 and FBSP 1; the
//! records are shaped like the richer RBSP ones (four style slots), so that one set of types serves the whole family.

mod bspx;
mod contents;
mod directory;
mod error;
mod flags;
mod read;
mod records;
mod sanitise;
mod sanitise_surfaces;
mod styled_grid;
mod types;
mod write;

pub(in crate::format) use bspx::{
    BLOCK_ENTRY_BYTES, BLOCK_HEAD_BYTES, SH_WRAP_BYTES, block_head, encode_block, pack_sh, sh_name,
};
pub use bspx::{Bspx, BspxEntry, SH_NAME, SIDECAR_EXTENSION};
pub use contents::Contents;
pub use directory::{Directory, Format, LumpEntry, MARKER_PREFIX, Variant, VariantLabel};
pub use error::{BspError, BspWarning};
pub use read::read;
pub use types::*;
pub use write::{Written, WrittenContents, contents_with, write, write_with};
