//! The viewer program: window, surface, dialogs, and the owner of all jobs.
//!
//! The only layer that knows the operating system. [`Effects`] performs what [`crate::view::State::apply`] asks for, without
//! a window, so that tests drive the same jobs; [`run()`] adds the window, or one picture where there is no display.

mod args;
mod bake_watch;
mod content;
mod damage;
mod dialogs;
mod effects;
mod egui_glue;
mod graphics;
mod picture;
mod run;
mod shown_grids;
mod window;

pub use args::Args;
pub use effects::{Effects, Performed};
pub use run::{AppError, Outcome, run};
pub use shown_grids::ShownGrids;
