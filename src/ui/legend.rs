use egui::{Align2, Color32, Rect, RichText, Ui};

use crate::ui::widgets::swatch_ui;
use crate::ui::{Model, theme};
use crate::view::legend;

/// What the colours of the mode mean, in the lower left corner of the picture.
pub(crate) fn legend_ui(ui: &Ui, model: &Model<'_>, picture: Rect) {
    let state = model.state;
    let Some(map) = &state.map else {
        return;
    };
    let mode = state.options.mode;
    // Grids come and go with bakes while the mode stays.
    let missing = map.missing_in(mode);
    let legend = legend(mode, &map.scene, &state.camera);
    if missing.is_none() && legend.is_none() {
        return;
    }
    egui::Area::new(egui::Id::unique("legend"))
        .order(egui::Order::Middle)
        .pivot(Align2::LEFT_BOTTOM)
        .fixed_pos(picture.left_bottom() + egui::vec2(10.0, -10.0))
        .interactable(false)
        .show(ui.ctx(), |ui| {
            egui::Frame::new()
                .fill(Color32::from_black_alpha(190))
                .corner_radius(4.0)
                .inner_margin(8.0)
                .show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = 3.0;
                    if let Some(why) = missing {
                        ui.label(RichText::new(why).color(theme::WARNING));
                    }
                    let Some(legend) = &legend else {
                        return;
                    };
                    ui.label(RichText::new(legend.title).strong());
                    for entry in &legend.entries {
                        ui.horizontal(|ui| {
                            swatch_ui(ui, &entry.text, entry.rgb * 255.0, egui::vec2(16.0, 12.0));
                            ui.label(RichText::new(&entry.text).color(theme::TEXT));
                        });
                    }
                });
        });
}
