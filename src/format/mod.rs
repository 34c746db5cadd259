//! Bytes ↔ typed file contents: BSP, entity text, material scripts, `.map` and `.srf` companions, pk3 archives.
//!
//! This layer knows no files (it is handed bytes or a reader) and processes no geometry. What it returns has every index
//! in range, so later layers do not check again; what had to be dropped for that is in a list of warnings.
//!
//! Key types: [`bsp::Bsp`], [`entities::Entities`], [`material_script::MaterialScript`], [`pk3::Pk3`].
#![cfg_attr(
    not(test),
    warn(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap
    )
)]

pub mod bsp;
pub mod check;
pub mod entities;
pub mod json;
pub mod lattice;
pub mod map_file;
pub mod material_script;
pub mod pk3;
mod reader;
pub mod srf;
mod tokens;
