use egui::{Align2, Grid, Rect, RichText, Ui, vec2};

use crate::ui::bars::floating;
use crate::ui::shortcuts::KEYS;
use crate::ui::theme;
use crate::ui::widgets::Explained;
use crate::view::Command;

/// Keys and mouse, over the picture.
pub(crate) fn help_ui(ui: &Ui, rect: Rect, commands: &mut Vec<Command>) {
    floating(ui, "help", rect.center(), Align2::CENTER_CENTER, |ui| {
        ui.label(RichText::new("Keys and mouse").heading());
        ui.add_space(4.0);
        Grid::new("keys")
            .num_columns(2)
            .spacing(vec2(18.0, 4.0))
            .show(ui, |ui| {
                for (keys, what) in KEYS {
                    ui.label(RichText::new(keys).color(theme::ACCENT_BRIGHT));
                    ui.label(what);
                    ui.end_row();
                }
            });
        ui.add_space(6.0);
        if ui
            .button("Close help")
            .tip("Closes this help (F1 or Esc).")
            .clicked()
        {
            commands.push(Command::ToggleHelp);
        }
    });
}
