//! The light compiler: bakes both light grids from a scene.
//!
//! [`bake`] is a pure function of scene and settings (progress and cancellation beside them); [`apply`] puts its result
//! into a BSP. This layer knows no files and no user interface. Everything inside is `f32` in byte units (255 = full
//! white in a lightmap before overbright); bytes appear only in [`Baked`]'s legacy points.
//!
//! Reading order: `lights` (what a light is), `sources`, `suns` and `surface_lights` (where lights come from), `envelope`
//! (what they reach), `contribute` (what they give to a block of points: `reach`, `offers`), `tracer` and `glance` (what
//! stands between), `blocks` (in which order points are baked), `gather` (the loop over points), `legacy_grid` and `sh_grid`
//! (what is stored).

mod apply;
mod bake;
mod blocks;
mod clusters;
mod contribute;
mod encode;
mod envelope;
mod flood;
mod form_factor;
mod games;
mod gather;
mod glance;
mod lattices;
mod legacy_grid;
mod lights;
mod materials;
mod memory;
mod offers;
mod patch;
mod reach;
mod report;
mod settings;
mod sh_grid;
mod sky_box;
mod sources;
mod suns;
mod surface_lights;
mod tracer;
mod watch;
mod winding;
mod world;

pub use apply::apply;
pub use bake::{BakeError, Baked, Plan, bake, bake_watched, plan};
pub use encode::ByteTransfer;
pub use flood::FloodLight;
pub use games::{GameProfile, SrgbSpaces};
pub use memory::MemoryEstimate;
pub use report::{BakeReport, CulledLights, EntityCounts, LightCounts, PairCounts};
pub use settings::{BakeSettings, EntityModel, LightModel, LightsFrom, ShCell};
pub use watch::{Audience, Density, Finished, FinishedPoints, Watcher};
