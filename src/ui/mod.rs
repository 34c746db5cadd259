//! The panels: a model in, edited options and commands out.
//!
//! [`root_ui`] draws everything. A panel never waits, reads a file or touches the GPU; it edits in place only the
//! [`ViewOptions`] and the [`BakeForm`], everything else is a returned [`Command`]. One file per panel; colours and sizes
//! are in one theme file. The picture itself is a texture that `app` hands in; without one the panels work the same.

mod bake_tab;
mod bars;
mod bottom;
mod entities_tab;
mod help;
mod inspector;
mod legend;
mod map_tab;
mod menus;
mod probe_tab;
mod sample_tab;
mod shortcuts;
mod surface_tab;
mod theme;
mod toolbar;
mod view_panel;
mod viewport;
mod visibility_section;
mod widgets;

pub use theme::apply as apply_theme;

use crate::job::ProgressSnapshot;
use crate::view::{BakeForm, Command, Looking, State, ViewOptions};

/// What the panels read.
#[derive(Clone, Copy, Debug)]
pub struct Model<'a> {
    /// The state; its options and form are the ones before this frame.
    pub state: &'a State,
    /// Where the running job stands: the bake if there is one, else the load.
    pub progress: Option<ProgressSnapshot>,
    /// The picture; `None` without a GPU.
    pub picture: Option<egui::TextureId>,
    /// Frames a second while the view moves; `None` while it rests.
    pub frames_per_sec: Option<f32>,
    /// Threads that the machine can run at once.
    pub cores: usize,
    /// What the last bake did to the window; `None` before the first.
    pub bake_pace: Option<BakePace>,
}

/// How a bake felt in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BakePace {
    /// From the press until the picture showed its first light, seconds; `None` when it never did.
    pub first_picture_secs: Option<f32>,
    /// The longest frame while it ran, seconds.
    pub worst_frame_secs: f32,
}

/// Draws the whole window.
pub fn root_ui(
    ui: &mut egui::Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    form: &mut BakeForm,
) -> Vec<Command> {
    let state = model.state;
    let is_looking = state.flight.looking == Looking::On;
    let mut commands = shortcuts::shortcuts(ui, state, is_looking);
    if !state.panels.hidden {
        egui::Panel::top("toolbar")
            .frame(theme::bar_frame())
            .show(ui, |ui| {
                toolbar::toolbar_ui(ui, model, options, &mut commands);
            });
        bars::messages_ui(ui, model, &mut commands);
        egui::Panel::bottom("status")
            .frame(theme::bar_frame())
            .show(ui, |ui| bottom::status_ui(ui, model, &mut commands));
        if state.panels.log {
            egui::Panel::bottom("log")
                .frame(theme::panel_frame())
                .default_size(theme::LOG_HEIGHT)
                .resizable(true)
                .show(ui, |ui| bottom::log_ui(ui, model, &mut commands));
        }
        egui::Panel::left("view")
            .frame(theme::panel_frame())
            .default_size(theme::LEFT_WIDTH)
            .resizable(true)
            .show(ui, |ui| {
                view_panel::view_panel_ui(ui, model, options, &mut commands);
            });
        egui::Panel::right("inspector")
            .frame(theme::panel_frame())
            .default_size(theme::RIGHT_WIDTH)
            .resizable(true)
            .show(ui, |ui| {
                inspector::inspector_ui(ui, model, options, form, &mut commands);
            });
        bars::variant_ui(ui, model);
    }
    egui::CentralPanel::no_frame().show(ui, |ui| {
        let (rect, more) = viewport::viewport_ui(ui, model);
        commands.extend(more);
        legend::legend_ui(ui, model, rect);
        bars::empty_states_ui(ui, model, rect, &mut commands);
        if state.panels.help {
            help::help_ui(ui, rect, &mut commands);
        }
    });
    commands
}
