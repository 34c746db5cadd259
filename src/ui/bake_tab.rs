use egui::{Button, DragValue, RadioButton, RichText, Ui};

use crate::light::Plan;
use crate::ui::widgets::{
    Explained, bytes, empty_ui, point_count, row_ui, section_ui, sides_ui, thousands, triple,
};
use crate::ui::{Model, theme};
use crate::view::{BakeForm, Command, ShCellBy, ShContainer};

/// Settings of the light compiler, what they would do, and how far it is.
pub(crate) fn bake_tab_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    form: &mut BakeForm,
    commands: &mut Vec<Command>,
) {
    let Some(map) = &model.state.map else {
        empty_ui(ui, "No map is open.");
        return;
    };
    ui.label(RichText::new("Bake light grid").heading());
    ui.label(RichText::new("The file stays untouched until Save.").color(theme::WEAK));
    form_ui(ui, model, form);
    lights_ui(ui, form, commands);
    if !form.sh && map.original.lighting.sh_grid.is_some() {
        let text = "▲ Without SH the file's SH grid is taken out: it would be stale.";
        ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
    }
    ui.separator();
    plan_ui(ui, model);
    ui.separator();
    action_ui(ui, model, form, commands);
    ui.separator();
    section_ui(ui, "Equivalent command");
    let command_line = form.command_line(&map.file_name());
    egui::Frame::new()
        .fill(theme::SUNK)
        .inner_margin(6.0)
        .corner_radius(4.0)
        .show(ui, |ui| {
            ui.add(egui::Label::new(RichText::new(&command_line).monospace()).wrap());
        });
    if ui
        .button("Copy command")
        .tip("Copies the luxtool call that gives the same bytes.")
        .clicked()
    {
        commands.push(Command::CopyText(command_line));
    }
}

fn form_ui(ui: &mut Ui, model: &Model<'_>, form: &mut BakeForm) {
    row_ui(ui, "Output", |ui| {
        ui.checkbox(&mut form.sh, "SH (lump 18)")
            .tip("Bakes the spherical-harmonics grid (-sh).");
        ui.checkbox(&mut form.legacy, "Legacy (15)")
            .tip("Bakes the legacy light grid, lump 15 (-nogrid turns it off).");
    });
    container_ui(ui, model, form);
    row_ui(ui, "Legacy cell", |ui| {
        sides_ui(
            ui,
            "Legacy cell",
            "Cell size of the legacy grid, game units; written to worldspawn when it differs (gridsize).",
            &mut form.legacy_cell,
        );
    });
    row_ui(ui, "SH cell by", |ui| {
        ui.radio_value(&mut form.sh_by, ShCellBy::Scale, "Scale")
            .tip("SH cell is the legacy cell over a factor (-gridscalesh).");
        ui.radio_value(&mut form.sh_by, ShCellBy::Sides, "Sides")
            .tip("SH cell is given by three sides (-gridsh).");
    });
    match form.sh_by {
        ShCellBy::Scale => row_ui(ui, "SH scale", |ui| {
            ui.add(
                DragValue::new(&mut form.sh_scale)
                    .range(0.5..=32.0)
                    .speed(0.05),
            )
            .named("SH scale")
            .tip("Legacy cell over SH cell, at least 0.5 (-gridscalesh).");
            let cell = form.legacy_cell / form.sh_scale;
            ui.label(RichText::new(format!("cell {}", triple(cell))).color(theme::WEAK));
        }),
        ShCellBy::Sides => row_ui(ui, "SH cell", |ui| {
            sides_ui(
                ui,
                "SH cell",
                "Cell size of the SH grid, game units (-gridsh).",
                &mut form.sh_cell,
            );
        }),
    }
    row_ui(ui, "Threads", |ui| {
        let cores = model.cores.max(1);
        ui.add(
            DragValue::new(&mut form.threads)
                .range(0..=cores)
                .speed(0.1)
                .custom_formatter(|value, _| {
                    if value < 1.0 {
                        "all".to_owned()
                    } else {
                        format!("{value:.0}")
                    }
                }),
        )
        .named("Threads")
        .tip("Threads of the bake; the result does not depend on it (-threads).");
        ui.label(RichText::new(format!("of {cores}")).color(theme::WEAK));
    });
}

/// Where a save puts the SH grid: three ways, grey where there is nothing to choose.
fn container_ui(ui: &mut Ui, model: &Model<'_>, form: &mut BakeForm) {
    let Some(map) = &model.state.map else {
        return;
    };
    let has_grid = form.sh || map.original.lighting.sh_grid.is_some();
    for container in ShContainer::ALL {
        let (name, text, tip) = match container {
            ShContainer::V47 => (
                "Save SH in",
                "Map, version 47",
                "Lump 18, as the SH compiler writes it: engines with SH support read it, stock engines refuse the map (--sh-container v47).",
            ),
            ShContainer::Bspx => (
                "",
                "BSPX block in the map",
                "An extra block at the end of the map, which keeps its version: stock engines load the map and pass over the block (--sh-container bspx).",
            ),
            ShContainer::Sidecar => (
                "",
                "File beside the map",
                "A second file of the same name with the ending .shgrid; the map itself stays as it was, so keep the two together (--sh-container sidecar).",
            ),
        };
        let refusal = if !has_grid {
            Some("There is no SH grid: neither the map has one, nor is one baked.")
        } else if map.scene.bsp.can_hold_sh(container) {
            None
        } else {
            Some("Maps of this game have no lump 18 for it.")
        };
        row_ui(ui, name, |ui| {
            let button = RadioButton::new(form.sh_container == container, text);
            let response = ui.add_enabled(refusal.is_none(), button);
            if response.clicked() {
                form.sh_container = container;
            }
            response
                .on_disabled_hover_text(refusal.unwrap_or_default())
                .tip(tip);
        });
    }
}

/// Where entity lights come from.
fn lights_ui(ui: &mut Ui, form: &BakeForm, commands: &mut Vec<Command>) {
    row_ui(ui, "Lights from", |ui| {
        let name = match form.lights.path() {
            None => "BSP and the file beside it".to_owned(),
            Some(path) => path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
        };
        ui.label(name);
        if ui
            .small_button("Choose…")
            .tip("Adds the entity lights of another .map or .ent; compilers strip them from the BSP (--lights).")
            .clicked()
        {
            commands.push(Command::LightsDialog);
        }
        let is_chosen = form.lights.path().is_some();
        if is_chosen
            && ui
                .small_button("Reset lights")
                .tip("Takes them from the BSP and the .map or .ent beside it again.")
                .clicked()
        {
            commands.push(Command::ResetLights);
        }
    });
}

fn plan_ui(ui: &mut Ui, model: &Model<'_>) {
    match model.state.plan.as_ref().map(|plan| &plan.result) {
        None => {
            ui.label(RichText::new("Counting …").color(theme::WEAK));
        }
        Some(Err(reason)) => {
            ui.add(
                egui::Label::new(RichText::new(format!("× {reason}")).color(theme::ERROR)).wrap(),
            );
        }
        Some(Ok(plan)) => {
            ui.add(egui::Label::new(RichText::new(plan_line(plan)).strong()).wrap());
            let lights = &plan.lights;
            let entities = &lights.entities;
            let mut found = format!(
                "Lights: BSP entities {} · .map {} · .ent {} · surface pieces {} · suns {} · sky {}",
                entities.bsp, entities.map, entities.ent, lights.areas, lights.suns, lights.sky
            );
            if let Some(path) = &plan.light_file {
                let name = path.file_name().unwrap_or(path.as_os_str());
                found = format!("{found}; added from {}", name.display());
            }
            ui.add(egui::Label::new(RichText::new(found).color(theme::WEAK)).wrap());
            for (name, requested, lattice) in [
                ("Legacy", plan.legacy_requested, &plan.legacy),
                ("SH", plan.sh_requested, &plan.sh),
            ] {
                if let (Some(requested), Some(lattice)) = (requested, lattice) {
                    let text = format!(
                        "▲ {name} cell {} becomes {}: rounding, or too many points",
                        triple(requested),
                        triple(lattice.cell_size)
                    );
                    ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
                }
            }
        }
    }
}

fn plan_line(plan: &Plan) -> String {
    let grids = [&plan.sh, &plan.legacy];
    let points: u64 = grids
        .into_iter()
        .flatten()
        .map(|lattice| point_count(lattice.counts))
        .sum();
    let mut parts = vec![format!("{} pts", thousands(points))];
    if plan.sh.is_some() {
        parts.push(format!("SH {}", bytes(plan.sh_bytes)));
    }
    if plan.legacy.is_some() {
        parts.push(format!("legacy {}", bytes(plan.legacy_bytes)));
    }
    parts.push(format!("at most {} of memory", bytes(plan.memory.total())));
    parts.join(" · ")
}

fn action_ui(ui: &mut Ui, model: &Model<'_>, form: &BakeForm, commands: &mut Vec<Command>) {
    let state = model.state;
    if state.baking.is_some() {
        if let Some(progress) = model.progress {
            ui.add(egui::ProgressBar::new(progress.fraction()).show_percentage())
                .named("Bake progress of the form");
            let left = progress
                .remaining_secs()
                .map_or_else(String::new, |secs| format!(" · {secs:.0} s left"));
            let text = if progress.total == 0 {
                format!("{} …", progress.stage)
            } else {
                format!(
                    "{} · {} / {} · {:.0}/s{left}",
                    progress.stage,
                    thousands(progress.done),
                    thousands(progress.total),
                    progress.rate()
                )
            };
            ui.label(RichText::new(text).color(theme::WEAK));
        }
        if ui
            .button("Cancel bake")
            .tip("Stops the running bake and changes nothing (Esc).")
            .clicked()
        {
            commands.push(Command::CancelBake);
        }
        return;
    }
    ui.horizontal(|ui| {
        let is_possible =
            (form.sh || form.legacy) && state.plan.as_ref().is_some_and(|plan| plan.result.is_ok());
        let bake = Button::new(RichText::new("Bake F5").strong()).fill(theme::ACCENT);
        if ui
            .add_enabled(is_possible, bake)
            .tip("Bakes with these settings and shows the result at once (F5).")
            .clicked()
        {
            commands.push(Command::StartBake);
        }
        let Some(bake) = state.map.as_ref().and_then(|map| map.bake.as_ref()) else {
            return;
        };
        ui.label(RichText::new(format!("baked in {:.1} s", bake.secs)).color(theme::WEAK));
        if ui
            .button("Compare (B)")
            .tip("Shows the file's grid or the bake in turn (B).")
            .clicked()
        {
            commands.push(Command::ToggleBlink);
        }
    });
}
