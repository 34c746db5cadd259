//! Camera, options, selection, commands: plain state that can be copied, compared and tested. No handle to anything.
//!
//! [`State::apply`] is pure: a [`Command`] changes the state and may ask for an [`Effect`], which only `app` performs and
//! whose outcome comes back as another command.

mod camera;
mod options;
mod overlay;

pub use camera::Camera;
pub use options::{GridSource, ProbeOptions, ProbeShow, RenderMode, SampleOptions, ViewOptions};
pub use overlay::{CornerMark, Overlays, SampleMark, SphereLight};
