//! The search path: files by virtual name over folders and pk3 archives, in the engine's order.
//!
//! The only reader of disk below `app` and `cli`, and the only writer of maps ([`save`], [`save_pair`]). It knows no file's contents.
//! Names are relative, use `/`, and compare without case. Precedence: game folders in order; inside one, loose files
//! before archives; of the archives (and `.pk3dir` folders) the name that sorts last wins; the archive that a map came
//! from is searched before everything.

mod container;
mod demo;
mod locate;
mod save;
mod save_pair;
mod search;

pub use locate::{MapTarget, OpenedMap, SearchOptions, open_demo, open_map};
pub use save::save;
pub use save_pair::save_pair;
pub use search::{Origin, Vfs, VfsError, VfsFile};
