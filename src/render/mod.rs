//! Scene + view → texture: the map's surfaces with their materials, the spheres of the light grids, and marks.
//!
//! This layer knows no window and no widgets: [`Renderer::draw`] records into any [`TARGET_FORMAT`] view, so what a test
//! or a headless shot sees is what the window shows. All blending is done on encoded bytes, as the engine does, and the
//! target is therefore not an sRGB format. Light comes from `probe`, shading runs in WGSL twins of its functions.
//!
//! [`Gpu`] is the device, [`GpuScene`] and [`GpuGrids`] are uploaded data, [`Renderer`] draws them.

mod draft;
mod error;
mod frustum;
mod gamma;
mod geometry;
mod gpu;
mod grids;
mod images;
mod inspect;
mod layouts;
mod lightmaps;
mod models;
mod offscreen;
mod order;
mod overlay;
mod passes;
mod pipelines;
mod renderer;
mod runs;
mod scene;
pub mod shared;
mod shown_points;
mod sights;
mod sprites;
mod stage;
mod styles;
mod uploader;
mod visibility;
pub mod wgsl;

pub use draft::DraftGrids;
pub use error::RenderError;
pub use gpu::Gpu;
pub use grids::GpuGrids;
pub use offscreen::{Canvas, render_to_image};
pub use renderer::{FrameStats, Renderer};
pub use scene::GpuScene;

/// Format of every target: bytes as the engine's frame buffer holds them.
pub const TARGET_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
/// Format of the depth buffer; depth is reversed, 1 at the near plane and 0 at infinity.
const DEPTH_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
