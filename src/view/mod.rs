//! Camera, options, selection, commands: plain state that can be copied, compared and tested. No handle to anything.
//!
//! [`State::apply`] is pure: a [`Command`] changes the state and may ask for an [`Effect`], which only `app` performs and
//! whose outcome comes back as another command. Every opened map has a revision number; a job's result for an older one
//! is dropped.

mod bake_form;
mod baking;
#[cfg(test)]
mod baking_tests;
mod camera;
mod command;
mod curves;
mod doors;
mod draft;
mod entities;
mod entity_overlay;
mod legend;
mod map;
mod mode;
mod options;
mod overlay;
mod overlays;
mod picking;
mod selection;
mod state;
#[cfg(test)]
mod state_tests;
mod surface_report;

pub use crate::format::bsp::ShContainer;
pub use bake_form::{BakeForm, LightsBy, PlanCache, ShCellBy};
pub use camera::Camera;
pub use command::{Command, Effect, FilePurpose, LoadSource, Looking, PickPurpose, Tab};
pub use doors::DoorStates;
pub use draft::{BakeNews, Draft};
pub use entities::{EntityEntry, EntityIndex, EntityKind};
pub use entity_overlay::{LINES_MAX, entity_lines};
pub use legend::{
    CLAY, LIGHT_SOURCE_COLOURS, LUXEL_COLOURS, Legend, LegendEntry, NOWHERE, OVERDRAW_STEP,
    hashed_colour, legend,
};
pub use map::{BakeResult, GridSet, LoadedMap, MapFile, Side};
pub use mode::RenderMode;
pub use options::{
    EntityLayer, EntityOverlays, GridSource, ProbeOptions, ProbeShow, SampleOptions, StyleLevels,
    ViewOptions, VisibilityOptions,
};
pub use overlay::{CornerMark, OverlayLine, Overlays, SampleMark, SphereLight};
pub use overlays::sample_mark;
pub use picking::PickedSurface;
pub use selection::{
    ProbeRef, SurfaceHit, cell_size, nearest_probe, pick_probe, probe_position, probe_radius,
    shown_source, stepped,
};
pub use state::{FOV_RANGE, Flight, Level, Loading, LogLine, Panels, Pending, SPEED_RANGE, State};
pub use surface_report::{
    EntityName, FogName, ImageName, LuxelReport, MaterialReport, SurfaceReport, outline,
};
