//! Map viewer, light-grid debugger and light compiler for the Quake 3 family.
//!
//! The layers, lowest first. A module names only the layers in its row; `tests/architecture.rs` holds the same table
//! and fails on any other path. `†` needs the `viewer` feature.
//!
//! | layer | is about | may use |
//! |---|---|---|
//! | [`math`] | boxes, planes, rays, colour transfer, hashed sampling | – |
//! | [`job`] | background work: progress, cancellation, warnings | – |
//! | [`format`](mod@format) | bytes ↔ typed file contents | `math` |
//! | [`vfs`] | search path over folders and pk3 archives | `format` |
//! | [`scene`] | what the map is: meshes, materials, visibility, light grids | `math job format vfs` |
//! | [`trace`] | bounding-volume hierarchy, ray and point queries | `math format scene` |
//! | [`light`] | the light compiler | `math job format scene trace` |
//! | [`probe`] | sampling, comparing and judging a light grid | `math format scene trace` |
//! | [`view`] | camera, options, selection, commands: plain state | `math job format scene light probe` |
//! | `render` † | scene + view → texture | `math format scene probe view` |
//! | `ui` † | state → widgets and commands | `math job scene light probe view` |
//! | `app` † | window, surface, dialogs, owner of jobs | all but `cli` |
//! | [`cli`] | arguments and headless subcommands | all but `ui`, `app` (`render` †) |
//!
//! Data travels one way: bytes → [`format::bsp::Bsp`] → [`scene::Scene`] (immutable, shared) → `render` draws it, [`probe`]
//! samples and judges it, [`light::bake`] makes new lighting, [`light::apply`] puts it into the `Bsp`,
//! [`format`](mod@format) writes it.

pub mod cli;
pub mod format;
pub mod job;
pub mod light;
pub mod math;
pub mod probe;
pub mod scene;
pub mod trace;
pub mod vfs;
pub mod view;

#[cfg(feature = "viewer")]
pub mod app;
#[cfg(feature = "viewer")]
pub mod render;
#[cfg(feature = "viewer")]
pub mod ui;
