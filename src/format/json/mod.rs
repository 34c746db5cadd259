//! A map as a folder of JSON files, with the file and member names of q3map2's `-json`, and back.
//!
//! The dialect has comments, trailing commas, `NaN` and `Infinity`, and objects whose members repeat; hence a reader and a
//! writer of our own. Member keys of a file's outermost object are decoration, their order counts. What the files cannot hold
//! (bytes behind a name's NUL, the compiler's mark, lump order, padding, NaN payloads, the layout of the entity text,
//! advertisements) goes into [`EXTRA_FILE`], so that [`pack`] after [`unpack`] gives the same bytes.

mod emit;
mod error;
mod extra;
mod layout;
mod pack;
mod parse;
mod record;
mod schema;
mod sh;
mod text;
mod unpack;

pub use error::JsonError;
pub use extra::EXTRA_FILE;
pub use pack::{Open, pack};
pub use unpack::{Create, unpack};

/// Names of all files that [`unpack`] may write.
pub fn file_names() -> impl Iterator<Item = &'static str> {
    let others = [schema::ENTITIES_FILE, schema::SH_FILE, EXTRA_FILE];
    schema::RECORD_FILES
        .iter()
        .map(|lump| lump.file)
        .chain(others)
}
