use egui::{Button, RichText, Ui};

use crate::ui::widgets::{Explained, thousands};
use crate::ui::{Model, theme};
use crate::view::{Command, ProbeShow, RenderMode, Tab, ViewOptions};

/// Words and tooltips of the probe buttons.
const PROBES: [(ProbeShow, &str, &str); 4] = [
    (ProbeShow::Off, "Off", "No spheres (G)."),
    (
        ProbeShow::Legacy,
        "Legacy",
        "Spheres lit by the legacy light grid, lump 15 (Shift+G).",
    ),
    (
        ProbeShow::Sh,
        "SH",
        "Spheres lit by the spherical-harmonics grid, lump 18 (Shift+G).",
    ),
    (
        ProbeShow::Both,
        "Both",
        "Both grids side by side at each point of the SH grid (Shift+G).",
    ),
];

/// Menus, mode buttons, probes, bake and save.
pub(crate) fn toolbar_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    egui::MenuBar::new().ui(ui, |ui| menus_ui(ui, model, options, commands));
    ui.add_space(1.0);
    ui.horizontal_wrapped(|ui| {
        modes_ui(ui, options);
        ui.separator();
        ui.label(RichText::new("Probes").color(theme::WEAK));
        for (show, word, tip) in PROBES {
            ui.radio_value(&mut options.probes.show, show, word)
                .tip(tip);
        }
        ui.separator();
        bake_ui(ui, model, commands);
        ui.separator();
        save_ui(ui, model, commands);
    });
}

fn modes_ui(ui: &mut Ui, options: &mut ViewOptions) {
    for (number, mode) in RenderMode::ALL.into_iter().enumerate() {
        let tip = match mode {
            RenderMode::Lit => "As in the game, all stages of the material",
            RenderMode::Lightmap => "Light alone on white surfaces, as r_lightmap 1",
            RenderMode::Fullbright => "Textures alone with white light, as r_fullbright 1",
            RenderMode::VertexColour => "Stored vertex light, as r_vertexLight 1",
            RenderMode::Normals => "Surface normals as colours",
            RenderMode::Wireframe => "Edges of the triangles, as r_showtris 1",
        };
        let tip = format!("{tip} (Alt+{}).", number + 1);
        ui.selectable_value(&mut options.mode, mode, mode.label())
            .tip(&tip);
    }
}

fn bake_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let state = model.state;
    if state.baking.is_some() {
        if ui
            .add(Button::new("■ Stop bake"))
            .tip("Stops the running bake and changes nothing (Esc).")
            .clicked()
        {
            commands.push(Command::CancelBake);
        }
        if let Some(progress) = model.progress {
            ui.add(
                egui::ProgressBar::new(progress.fraction())
                    .desired_width(90.0)
                    .desired_height(12.0),
            )
            .named("Bake progress");
            let done = format!(
                "{} / {}",
                thousands(progress.done),
                thousands(progress.total)
            );
            ui.label(RichText::new(done).color(theme::WEAK).small());
        }
        return;
    }
    let bake = Button::new(RichText::new("▶ Bake").strong()).fill(theme::ACCENT);
    if ui
        .add_enabled(state.map.is_some(), bake)
        .tip("Bakes the grids with the settings of the Bake tab; the file stays untouched until Save (F5).")
        .clicked()
    {
        commands.push(Command::StartBake);
        commands.push(Command::ShowTab(Tab::Bake));
    }
}

fn save_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let state = model.state;
    let is_read_only = state
        .map
        .as_ref()
        .is_some_and(|map| map.file.writable().is_none());
    let word = if is_read_only { "Save as…" } else { "Save" };
    let text = if state.is_unsaved() {
        RichText::new(format!("{word} ●")).color(theme::WARNING)
    } else {
        RichText::new(word)
    };
    let tip = if is_read_only {
        "Writes the map with the bake to a new file; maps in archives and the demo are read only (Ctrl+S)."
    } else {
        "Puts the bake into the BSP; all other lumps stay byte for byte (Ctrl+S)."
    };
    let can_save = state.is_unsaved() && state.saving.is_none();
    if ui
        .add_enabled(can_save, Button::new(text))
        .tip(tip)
        .clicked()
    {
        commands.push(Command::Save);
    }
    if state.is_unsaved() {
        ui.label(RichText::new("unsaved bake").color(theme::WARNING).small());
    }
}

fn menus_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    let state = model.state;
    let has_map = state.map.is_some();
    let mut item = |ui: &mut Ui, enabled: bool, text: &str, keys: &str, tip: &str, command| {
        let button = Button::new(text).shortcut_text(keys);
        if ui.add_enabled(enabled, button).tip(tip).clicked() {
            commands.push(command);
            ui.close();
        }
    };
    ui.menu_button("File", |ui| {
        ui.set_min_width(210.0);
        item(
            ui,
            true,
            "Open…",
            "Ctrl+O",
            "Opens a BSP, or a pk3 that holds one.",
            Command::OpenDialog,
        );
        item(
            ui,
            true,
            "Open the demo",
            "",
            "Opens the embedded demo map.",
            Command::OpenDemo,
        );
        item(
            ui,
            has_map,
            "Reload",
            "Ctrl+R",
            "Reads the file again and keeps the view.",
            Command::Reload,
        );
        ui.separator();
        item(
            ui,
            state.is_unsaved(),
            "Save bake",
            "Ctrl+S",
            "Puts the bake into the BSP.",
            Command::Save,
        );
        item(
            ui,
            has_map,
            "Save as…",
            "",
            "Writes the map with the bake to a new file.",
            Command::SaveAsDialog,
        );
        ui.separator();
        item(
            ui,
            has_map,
            "Screenshot",
            "Ctrl+Shift+S",
            "Writes the picture as PNG, without panels.",
            Command::Screenshot,
        );
        ui.separator();
        item(
            ui,
            true,
            "Quit",
            "Ctrl+Q",
            "Leaves the program; asks before a bake is lost.",
            Command::Quit,
        );
    });
    ui.menu_button("View", |ui| {
        ui.set_min_width(210.0);
        for (number, mode) in RenderMode::ALL.into_iter().enumerate() {
            let keys = format!("Alt+{}", number + 1);
            item(
                ui,
                true,
                mode.label(),
                &keys,
                "What the surfaces show.",
                Command::SetMode(mode),
            );
        }
        ui.separator();
        ui.checkbox(&mut options.wire_overlay, "Wire overlay")
            .tip("Edges of the triangles over the picture (r_showtris 1).");
        item(
            ui,
            true,
            "Hide panels",
            "Z",
            "Shows the picture alone.",
            Command::ToggleUi,
        );
        item(
            ui,
            true,
            "Show log",
            "O",
            "Opens or closes the log below.",
            Command::ToggleLog,
        );
        ui.separator();
        let spawns = state.map.as_ref().map_or(0, |map| map.scene.spawns.len());
        item(
            ui,
            spawns > 0,
            "Go to the first spawn",
            "",
            "Back to where a player starts.",
            Command::GoToSpawn(0),
        );
    });
    ui.menu_button("Probes", |ui| {
        ui.set_min_width(210.0);
        for (show, word, tip) in PROBES {
            let text = format!("Show {}", word.to_lowercase().replace("sh", "SH"));
            item(ui, true, &text, "", tip, Command::SetProbes(show));
        }
        ui.separator();
        item(
            ui,
            true,
            "X-ray",
            "X",
            "Spheres through walls.",
            Command::ToggleXRay,
        );
        item(
            ui,
            options.sample.pinned.is_some(),
            "Unpin the sample",
            "",
            "Takes the pinned sample sphere away.",
            Command::Unpin,
        );
    });
    ui.menu_button("Bake", |ui| {
        ui.set_min_width(210.0);
        let idle = state.baking.is_none();
        item(
            ui,
            has_map && idle,
            "Start",
            "F5",
            "Bakes with the settings of the Bake tab.",
            Command::StartBake,
        );
        item(
            ui,
            !idle,
            "Stop",
            "Esc",
            "Stops the running bake and changes nothing.",
            Command::CancelBake,
        );
        let has_bake = state.map.as_ref().is_some_and(|map| map.bake.is_some());
        item(
            ui,
            has_bake,
            "Blink old ↔ new",
            "B",
            "Shows the file's grid or the bake in turn.",
            Command::ToggleBlink,
        );
        item(
            ui,
            has_map,
            "Settings",
            "",
            "Brings the Bake tab to the front.",
            Command::ShowTab(Tab::Bake),
        );
    });
    ui.menu_button("Help", |ui| {
        ui.set_min_width(210.0);
        item(
            ui,
            true,
            "Keys and mouse",
            "F1",
            "What each key and mouse button does.",
            Command::ToggleHelp,
        );
    });
}
