//! The search path: files by virtual name over folders and pk3 archives, in the engine's order.
//!
//! The only reader of disk below `app` and `cli`, and the only writer of maps ([`save`], [`save_pair`]). It knows no file's contents.
//! Names are relative, use `/`, and compare without case. Precedence: the archive or `.pk3dir` that a map came from; then
//! game folders from the mod to the base game, each in the user's folder before the installation; inside one, loose files
//! and archives in the order of the [`Engine`], of the archives (and `.pk3dir` folders) the name that sorts last first.

mod container;
mod demo;
mod engine;
mod locate;
mod opened;
mod save;
mod save_pair;
mod search;
mod stamp;

pub use engine::Engine;
pub use locate::{SearchOptions, open_demo, open_map};
pub use opened::{MapTarget, OpenedMap};
pub use save::{save, save_with};
pub use save_pair::{save_pair, save_pair_with};
pub use search::{Origin, Searched, SearchedKind, Vfs, VfsError, VfsFile};
pub use stamp::Stamp;
