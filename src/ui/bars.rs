use std::path::{Path, PathBuf};

use egui::{Align2, Id, Rect, RichText, Ui, vec2};

use crate::ui::widgets::Explained;
use crate::ui::{Model, theme};
use crate::view::{Command, FilePurpose, Level, LoadedMap, Pending, ProbeShow, Tab};

/// Bars below the toolbar: errors, questions, the path field.
pub(crate) fn messages_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let state = model.state;
    if let Some(banner) = &state.banner {
        let (mark, fill) = match banner.level {
            Level::Error => ("×", theme::ERROR_BAR),
            Level::Info | Level::Warning => ("▲", theme::WARNING_BAR),
        };
        bar_ui(ui, "banner", fill, |ui| {
            let text = format!("{mark} {}", banner.text);
            buttons_right_ui(ui, &text, |ui| {
                if ui
                    .button("Dismiss")
                    .tip("Closes this message (Esc); it stays in the log.")
                    .clicked()
                {
                    commands.push(Command::DismissBanner);
                }
            });
        });
    }
    if let Some(pending) = &state.pending {
        pending_ui(ui, pending, commands);
    }
    if let Some(purpose) = state.panels.path_field {
        path_field_ui(ui, model, purpose, commands);
    } else {
        ui.data_mut(|data| data.remove_temp::<String>(path_field_id()));
    }
}

/// The bar above the picture that says what stock engines do with the file.
pub(crate) fn variant_ui(ui: &mut Ui, model: &Model<'_>) {
    let state = model.state;
    if state.map.as_ref().is_some_and(is_version_47_with_sh) {
        bar_ui(ui, "variant", theme::WARNING_BAR, |ui| {
            ui.label(
                RichText::new("▲ Stock ioquake3 refuses version 47 (“wrong version number”).")
                    .color(theme::WARNING),
            )
            .tip("The SH commit raises the version to 47; another place for the SH grid in the Bake tab keeps a map at 46 (luxtool bake --sh-container).");
        });
    }
}

/// Whether stock engines refuse the file because of its SH lump.
fn is_version_47_with_sh(map: &LoadedMap) -> bool {
    map.scene.bsp.directory.variant.version == 47 && map.scene.lighting.sh_grid.is_some()
}

fn bar_ui(ui: &mut Ui, id: &'static str, fill: egui::Color32, add: impl FnOnce(&mut Ui)) {
    egui::Panel::top(id)
        .frame(theme::bar_frame().fill(fill))
        .show_separator_line(false)
        .resizable(false)
        .show(ui, |ui| {
            ui.horizontal(|ui| add(ui));
        });
}

fn buttons_right_ui(ui: &mut Ui, text: &str, add: impl FnOnce(&mut Ui)) {
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        add(ui);
        ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
            ui.add(egui::Label::new(text).truncate())
                .on_hover_text(text);
        });
    });
}

fn pending_ui(ui: &mut Ui, pending: &Pending, commands: &mut Vec<Command>) {
    let text = match pending {
        Pending::Open(_) => "▲ A bake runs or is not saved. Open another map and lose it?",
        Pending::Quit => "▲ A bake runs or is not saved. Quit and lose it?",
        Pending::Overwrite(path) => return overwrite_ui(ui, path, commands),
    };
    bar_ui(ui, "pending", theme::WARNING_BAR, |ui| {
        buttons_right_ui(ui, text, |ui| {
            if ui
                .button("Keep bake")
                .tip("Stays with this map (Esc).")
                .clicked()
            {
                commands.push(Command::KeepBake);
            }
            if ui
                .button("Save and stay")
                .tip("Puts the bake into the BSP (Ctrl+S).")
                .clicked()
            {
                commands.push(Command::KeepBake);
                commands.push(Command::Save);
            }
            if ui
                .button("Discard bake")
                .tip("Goes on and forgets the bake.")
                .clicked()
            {
                commands.push(Command::Discard);
            }
        });
    });
}

fn overwrite_ui(ui: &mut Ui, path: &Path, commands: &mut Vec<Command>) {
    let text = format!(
        "▲ {} was changed on disk since it was opened. Overwrite it and lose that change?",
        path.display()
    );
    bar_ui(ui, "pending", theme::WARNING_BAR, |ui| {
        buttons_right_ui(ui, &text, |ui| {
            if ui
                .button("Cancel")
                .tip("Saves nothing; the bake stays as it is (Esc).")
                .clicked()
            {
                commands.push(Command::KeepBake);
            }
            if ui
                .button("Save under another name…")
                .tip("Leaves the changed file alone.")
                .clicked()
            {
                commands.push(Command::KeepBake);
                commands.push(Command::SaveAsDialog);
            }
            if ui
                .button("Overwrite")
                .tip("Puts this map with its bake in the place of the changed file.")
                .clicked()
            {
                commands.push(Command::Discard);
            }
        });
    });
}

fn path_field_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    purpose: FilePurpose,
    commands: &mut Vec<Command>,
) {
    let id = path_field_id();
    let stored = ui.data_mut(|data| data.get_temp::<String>(id));
    let is_new = stored.is_none();
    let mut text = stored.unwrap_or_else(|| suggested_path(model, purpose));
    bar_ui(ui, "path", theme::BAR, |ui| {
        let (name, word) = match purpose {
            FilePurpose::Open => ("Path of the map", "Open file"),
            FilePurpose::SaveAs => ("Save to", "Save file"),
            FilePurpose::Lights => ("Path of the .map", "Take lights"),
        };
        let label = ui.label(RichText::new(name).color(theme::WEAK));
        let field = ui
            .add(
                egui::TextEdit::singleline(&mut text)
                    .desired_width(ui.available_width() - 190.0)
                    .hint_text("/path/to/map.bsp"),
            )
            .labelled_by(label.id);
        if is_new {
            field.request_focus();
        }
        let is_entered = field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        let has_path = !text.trim().is_empty();
        let is_clicked = ui
            .add_enabled(has_path, egui::Button::new(word))
            .tip("No file dialog is available here; type the path.")
            .clicked();
        if (is_clicked || is_entered) && has_path {
            let path = PathBuf::from(text.trim());
            commands.push(match purpose {
                FilePurpose::Open => Command::OpenPath(path),
                FilePurpose::SaveAs => Command::SaveAs(path),
                FilePurpose::Lights => Command::TakeLights(path),
            });
        }
        if ui.button("Close").tip("Closes this field (Esc).").clicked() {
            commands.push(Command::ClosePathField);
        }
    });
    ui.data_mut(|data| data.insert_temp(id, text));
}

/// Where the text of the path field lives while it is open.
fn path_field_id() -> Id {
    Id::unique("path field")
}

fn suggested_path(model: &Model<'_>, purpose: FilePurpose) -> String {
    match (&model.state.map, purpose) {
        (Some(map), FilePurpose::SaveAs) => map
            .file
            .writable()
            .map_or_else(|| map.file_name(), |path| path.display().to_string()),
        _ => String::new(),
    }
}

/// What the picture says while it has nothing to show.
pub(crate) fn empty_states_ui(ui: &Ui, model: &Model<'_>, rect: Rect, commands: &mut Vec<Command>) {
    let state = model.state;
    let Some(map) = &state.map else {
        welcome_ui(ui, model, rect, commands);
        return;
    };
    let lighting = &map.shown().lighting;
    let (text, word, tip) = match state.options.probes.show {
        ProbeShow::Sh | ProbeShow::Both if lighting.sh_grid.is_none() => (
            "This map has no SH grid.",
            "Bake SH grid",
            "Brings the bake settings to the front.",
        ),
        ProbeShow::Legacy if lighting.light_grid.is_none() => (
            "Lump 15 is empty or does not match. The engine lights models with flat ambient.",
            "Bake legacy grid",
            "Brings the bake settings to the front.",
        ),
        _ => return,
    };
    floating(
        ui,
        "no grid",
        rect.center_bottom() - vec2(0.0, 16.0),
        Align2::CENTER_BOTTOM,
        |ui| {
            ui.horizontal(|ui| {
                ui.label(text);
                if ui.button(word).tip(tip).clicked() {
                    commands.push(Command::ShowTab(Tab::Bake));
                }
                let has_legacy = lighting.light_grid.is_some();
                if state.options.probes.show != ProbeShow::Legacy
                    && has_legacy
                    && ui
                        .button("Show legacy instead")
                        .tip("Spheres lit by lump 15.")
                        .clicked()
                {
                    commands.push(Command::SetProbes(ProbeShow::Legacy));
                }
            });
        },
    );
}

fn welcome_ui(ui: &Ui, model: &Model<'_>, rect: Rect, commands: &mut Vec<Command>) {
    floating(ui, "welcome", rect.center(), Align2::CENTER_CENTER, |ui| {
        ui.vertical_centered(|ui| {
            ui.set_width(300.0);
            if let Some(loading) = &model.state.loading {
                ui.spinner();
                ui.label(format!("Opening {}", loading.name));
                return;
            }
            ui.label(RichText::new("Drop a .bsp or .pk3").heading());
            ui.add_space(6.0);
            if ui.button("Open…").tip("Chooses a map (Ctrl+O).").clicked() {
                commands.push(Command::OpenDialog);
            }
            if ui
                .button("Try the demo")
                .tip("Opens the embedded demo map.")
                .clicked()
            {
                commands.push(Command::OpenDemo);
            }
        });
    });
}

/// Shows something over the picture.
pub(crate) fn floating(
    ui: &Ui,
    id: &str,
    at: egui::Pos2,
    pivot: Align2,
    add: impl FnOnce(&mut Ui),
) {
    egui::Area::new(Id::unique(id))
        .fixed_pos(at)
        .pivot(pivot)
        .order(egui::Order::Middle)
        .show(ui.ctx(), |ui| {
            theme::floating_frame().show(ui, add);
        });
}
