//! Material scripts (`scripts/*.shader`): global keywords, stages, and the compiler's light directives.
//!
//! The parser is lenient where the engine drops a material: an unknown keyword is reported and its line skipped. A script
//! with unbalanced braces keeps the materials before the fault.

mod lexer;
mod light;
mod parse;
mod text;
mod types;

pub use light::{LightDirectives, SkyLight, SunDirective};
pub use parse::{normalise_name, parse};
pub use text::definition_text;
pub use types::*;
