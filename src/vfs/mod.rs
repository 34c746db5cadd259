//! The search path: files by virtual name over folders and pk3 archives, in the engine's order.
//!
//! The only reader of disk below `app` and `cli`, and the only writer of maps ([`save`]). It knows no file's contents.
//! Names are relative, use `/`, and compare without case.

mod locate;
mod save;
mod search;

pub use locate::{MapTarget, OpenedMap, SearchOptions, open_demo, open_map};
pub use save::save;
pub use search::{Origin, Vfs, VfsError, VfsFile};
