//! The BSP file: reading with every bound and index checked, and writing back with only the changed lumps replaced.
//!
//! Offsets and record layouts are in `docs/formats.md`. [`read`] accepts IBSP 46 and 47; the records are shaped like the
//! richer RBSP ones (four style slots) so that the rest of the family needs no new types.

mod directory;
mod error;
mod read;
mod records;
mod sanitise;
mod types;
mod write;

pub use directory::{Directory, LumpEntry, MARKER_PREFIX, Variant, VariantLabel};
pub use error::{BspError, BspWarning};
pub use read::read;
pub use types::*;
pub use write::write;
