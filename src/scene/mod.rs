//! What the map is: meshes, materials, images, visibility, light grids, start views. Immutable once built.
//!
//! A [`Scene`] is made from a [`crate::format::bsp::Bsp`] and a [`crate::vfs::Vfs`] by [`build`] and then shared behind an
//! `Arc`. It knows no GPU and no light compiler; it resolves every name to an image, so later layers open no files.

mod areas;
mod build;
mod curve_detail;
mod deluxe;
mod doors;
mod fog;
mod geometry;
mod image;
mod light_scale;
mod light_source;
mod lighting;
mod lightmaps;
mod material;
mod mesh;
mod near;
mod patch;
mod portals;
mod resolve;
mod sources;
mod spawn;
mod stitch;
mod styles;
mod tree;
mod types;

/// What a place of the search path is, for layers that name no file system.
pub use crate::vfs::SearchedKind;
pub use areas::{AreaLinks, AreaMask};
pub use build::{BuildError, BuildOptions, ScriptFiles, build, build_with};
pub use curve_detail::CurveDetail;
pub use deluxe::{Deluxe, DeluxeReason};
pub use doors::{Door, MOVERS_MAX, Opening};
pub use fog::{FogPass, FogVolume};
pub use image::Image;
pub use light_scale::{LightScale, LightScaleReason};
pub use light_source::LightSource;
pub use lighting::{DEFAULT_CELL_SIZE, LightGrid, Lighting, grid_cell_size};
pub use lightmaps::{LightmapOrigin, LightmapPages};
pub use material::{ImageId, Material, MaterialId, MaterialSource, Stage, StageImage};
pub use patch::{PatchGrid, PatchInput, PatchLevels, patch_levels, tessellate};
pub use portals::portal_edges;
pub use sources::{Asset, AssetKind, Sources, Usage};
pub use spawn::{SpawnPoint, spawn_points};
pub use tree::{leaf_of, leafs_in};
pub use types::{
    LightingClass, MapSource, MapSourceKind, ModelInstance, Scene, SlotLight, StyledLight, Surface,
    SurfaceId, Vertex,
};
