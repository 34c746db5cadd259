//! The light compiler: bakes both light grids from a scene.
//!
//! [`bake`] is a pure function of scene and settings (progress and cancellation beside them); [`apply`] puts its result
//! into a BSP. This layer knows no files and no user interface. Everything inside is `f32` in byte units (255 = full
//! white in a lightmap before overbright); bytes appear only in [`Baked`]'s legacy points.

mod bake;
mod settings;

pub use bake::{BakeError, BakeReport, Baked, LightCounts, Plan, apply, bake, plan};
pub use settings::{BakeSettings, LightModel, LightsFrom, ShCell};
