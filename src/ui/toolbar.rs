use egui::{Button, RichText, Ui};

use crate::ui::shortcuts::mode_key;
use crate::ui::widgets::{Explained, thousands};
use crate::ui::{Model, menus, theme};
use crate::view::{Command, LoadedMap, ProbeShow, RenderMode, Side, Tab, ViewOptions};

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
    egui::MenuBar::new().ui(ui, |ui| menus::menus_ui(ui, model, options, commands));
    ui.add_space(1.0);
    ui.horizontal_wrapped(|ui| {
        modes_ui(ui, model.state.map.as_ref(), options);
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
        sides_ui(ui, model, commands);
    });
}

/// Which lighting is shown, once there are two.
fn sides_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let Some(map) = model.state.map.as_ref().filter(|map| map.bake.is_some()) else {
        return;
    };
    ui.separator();
    ui.label(RichText::new("Shown").color(theme::WEAK));
    for (side, word, tip) in [
        (
            Side::Original,
            "A file",
            "The grids that the file holds (B).",
        ),
        (
            Side::Baked,
            "B bake",
            "The grids of this session's bake (B).",
        ),
    ] {
        let is_shown = map.side == side;
        if ui.selectable_label(is_shown, word).tip(tip).clicked() && !is_shown {
            commands.push(Command::ToggleBlink);
        }
    }
}

/// The modes with a button of their own; the others are in a menu.
const COMMON_MODES: [RenderMode; 8] = [
    RenderMode::Lit,
    RenderMode::Lightmap,
    RenderMode::Fullbright,
    RenderMode::GridLit,
    RenderMode::ShLit,
    RenderMode::Clay,
    RenderMode::VertexColour,
    RenderMode::Normals,
];

fn modes_ui(ui: &mut Ui, map: Option<&LoadedMap>, options: &mut ViewOptions) {
    for mode in COMMON_MODES {
        mode_ui(ui, map, options, mode);
    }
    let is_common = COMMON_MODES.contains(&options.mode);
    let word = if is_common {
        "More"
    } else {
        options.mode.label()
    };
    let text = if is_common {
        RichText::new(format!("{word} ▾"))
    } else {
        RichText::new(format!("{word} ▾")).color(theme::ACCENT_BRIGHT)
    };
    let menu = ui.menu_button(text, |ui| {
        for mode in RenderMode::ALL {
            if !COMMON_MODES.contains(&mode) {
                mode_ui(ui, map, options, mode);
            }
        }
    });
    menu.response
        .named("More modes")
        .tip("Modes that show one property of the surfaces.");
}

fn mode_ui(ui: &mut Ui, map: Option<&LoadedMap>, options: &mut ViewOptions, mode: RenderMode) {
    let number = RenderMode::ALL.iter().position(|other| *other == mode);
    let key = number.and_then(mode_key);
    let missing = map.and_then(|map| map.missing_in(mode));
    let tip = match (missing, key) {
        (Some(why), _) => format!("{}. {why}", mode.tip()),
        (None, Some(key)) => format!("{} (Alt+{key}).", mode.tip()),
        (None, None) => format!("{}.", mode.tip()),
    };
    ui.add_enabled_ui(missing.is_none(), |ui| {
        ui.selectable_value(&mut options.mode, mode, mode.label())
            .tip(&tip);
    });
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
            let done = if progress.total == 0 {
                progress.stage.to_owned()
            } else {
                format!(
                    "{} / {}",
                    thousands(progress.done),
                    thousands(progress.total)
                )
            };
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
    let can_save = state.can_save();
    let text = if can_save || state.is_unsaved() {
        RichText::new(format!("{word} ●")).color(theme::WARNING)
    } else {
        RichText::new(word)
    };
    let tip = if is_read_only {
        "Writes the map with the bake to a new file; maps in archives and the demo are read only (Ctrl+S)."
    } else {
        "Puts the bake into the BSP; all other lumps stay byte for byte (Ctrl+S)."
    };
    if ui
        .add_enabled(can_save, Button::new(text))
        .tip(tip)
        .clicked()
    {
        commands.push(Command::Save);
    }
}
