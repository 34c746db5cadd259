use egui::{RichText, Ui};

use crate::scene::leaf_of;
use crate::ui::widgets::{Explained, empty_ui, thousands, triple};
use crate::ui::{Model, theme};
use crate::view::{Command, Level, LoadedMap, Side};

/// Where you are, what is shown, what runs.
pub(crate) fn status_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let state = model.state;
    ui.horizontal(|ui| {
        let problems = state
            .log
            .iter()
            .filter(|line| line.level != Level::Info)
            .count();
        let text = if problems > 0 {
            RichText::new(format!("▲ {problems}")).color(theme::WARNING)
        } else {
            RichText::new("Log")
        };
        if ui
            .selectable_label(state.panels.log, text)
            .named("Log panel")
            .tip("Opens or closes the log with all warnings (O).")
            .clicked()
        {
            commands.push(Command::ToggleLog);
        }
        let mut parts = Vec::new();
        if let Some(map) = &state.map {
            let camera = &state.camera;
            parts.push(format!(
                "({:.0} {:.0} {:.0}) : {:.0}",
                camera.eye.x,
                camera.eye.y,
                camera.eye.z,
                camera.yaw.to_degrees().round().rem_euclid(360.0)
            ));
            parts.extend(leaf_part(map, camera.eye));
            parts.extend(grid_part(map, camera.eye));
            parts.push(state.options.mode.label().to_owned());
            parts.push(source_part(map));
        } else if state.loading.is_none() {
            parts.push("No map".to_owned());
        }
        if let Some(loading) = &state.loading {
            let stage = model.progress.map_or("", |progress| progress.stage);
            parts.push(format!("Opening {} … {stage}", loading.name));
        }
        if let Some(path) = &state.saving {
            parts.push(format!("Saving {} …", path.display()));
        }
        parts.push(match model.frames_per_sec {
            Some(rate) => format!("{rate:.0} fps"),
            None => "idle".to_owned(),
        });
        for part in parts {
            ui.separator();
            ui.label(RichText::new(part).small());
        }
        if state.is_unsaved() {
            ui.separator();
            ui.label(RichText::new("● unsaved").color(theme::WARNING).small());
        }
    });
}

/// Cluster and area of the leaf that the eye is in, as the engine looks it up; `None` without a tree.
fn leaf_part(map: &LoadedMap, eye: glam::Vec3) -> Option<String> {
    let leaf = leaf_of(&map.scene.bsp, eye)?;
    Some(match (leaf.cluster, leaf.area) {
        (Some(cluster), Some(area)) => format!("cluster {cluster}, area {area}"),
        (Some(cluster), None) => format!("cluster {cluster}, no area"),
        (None, _) => "in solid".to_owned(),
    })
}

/// Position in cells of the finest grid there is.
fn grid_part(map: &LoadedMap, eye: glam::Vec3) -> Option<String> {
    let lighting = &map.shown().lighting;
    let (word, lattice) = match (&lighting.sh_grid, &lighting.light_grid) {
        (Some(grid), _) => ("SH", grid.lattice),
        (None, Some(grid)) => ("legacy", grid.lattice),
        (None, None) => return None,
    };
    let at = (eye - lattice.origin) / lattice.cell_size;
    Some(format!(
        "grid {:.1} {:.1} {:.1} ({word} {})",
        at.x,
        at.y,
        at.z,
        triple(lattice.cell_size)
    ))
}

fn source_part(map: &LoadedMap) -> String {
    let lighting = &map.shown().lighting;
    let side = match (map.side, &map.bake) {
        (Side::Baked, Some(_)) => "bake",
        _ => "file",
    };
    let legacy = lighting
        .light_grid
        .as_ref()
        .map_or(0, |grid| grid.points.len());
    let sh = lighting
        .sh_grid
        .as_ref()
        .map_or(0, |grid| grid.points.len());
    format!(
        "{side}: {} legacy, {} SH probes",
        thousands(legacy as u64),
        thousands(sh as u64)
    )
}

/// All messages, newest at the bottom.
pub(crate) fn log_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Log").heading());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if ui.button("Close log").tip("Closes the log (O).").clicked() {
                commands.push(Command::ToggleLog);
            }
            let copy = ui.button("Copy log").tip("Copies all lines.");
            if copy.clicked() {
                let lines = model.state.log.iter().map(|line| line.text.as_str());
                commands.push(Command::CopyText(lines.collect::<Vec<_>>().join("\n")));
            }
        });
    });
    egui::ScrollArea::vertical()
        .auto_shrink([false, false])
        .stick_to_bottom(true)
        .show(ui, |ui| {
            if model.state.log.is_empty() {
                empty_ui(ui, "Nothing was reported.");
            }
            for line in &model.state.log {
                let (mark, colour) = match line.level {
                    Level::Info => ("·", theme::WEAK),
                    Level::Warning => ("▲", theme::WARNING),
                    Level::Error => ("×", theme::ERROR),
                };
                let text = RichText::new(format!("{mark} {}", line.text)).color(colour);
                ui.add(egui::Label::new(text).wrap());
            }
        });
}
