use egui::{Button, Ui};

use crate::ui::Model;
use crate::ui::shortcuts::mode_key;
use crate::ui::widgets::Explained;
use crate::view::{Command, ProbeShow, RenderMode, Tab, ViewOptions};

/// Width of an open menu, points.
const MENU_WIDTH: f32 = 210.0;

/// A line of a menu.
struct Item<'a> {
    text: &'a str,
    keys: &'a str,
    tip: &'a str,
    command: Command,
}

impl<'a> Item<'a> {
    fn new(text: &'a str, keys: &'a str, tip: &'a str, command: Command) -> Self {
        Self {
            text,
            keys,
            tip,
            command,
        }
    }

    /// Draws it; grey unless `is_possible`.
    fn ui(self, ui: &mut Ui, is_possible: bool, commands: &mut Vec<Command>) {
        let button = Button::new(self.text).shortcut_text(self.keys);
        if ui.add_enabled(is_possible, button).tip(self.tip).clicked() {
            commands.push(self.command);
            ui.close();
        }
    }
}

/// The menu bar.
pub(crate) fn menus_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    let menu = |ui: &mut Ui, name: &str, add: &mut dyn FnMut(&mut Ui)| {
        ui.menu_button(name, |ui| {
            ui.set_min_width(MENU_WIDTH);
            add(ui);
        });
    };
    menu(ui, "File", &mut |ui| file_ui(ui, model, commands));
    menu(ui, "View", &mut |ui| view_ui(ui, model, options, commands));
    menu(ui, "Probes", &mut |ui| probes_ui(ui, options, commands));
    menu(ui, "Bake", &mut |ui| bake_ui(ui, model, commands));
    menu(ui, "Help", &mut |ui| {
        let tip = "What each key and mouse button does.";
        Item::new("Keys and mouse", "F1", tip, Command::ToggleHelp).ui(ui, true, commands);
    });
}

fn file_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let has_map = model.state.map.is_some();
    let tip = "Opens a BSP, or a pk3 that holds one.";
    Item::new("Open…", "Ctrl+O", tip, Command::OpenDialog).ui(ui, true, commands);
    let tip = "Opens the embedded demo map.";
    Item::new("Open the demo", "", tip, Command::OpenDemo).ui(ui, true, commands);
    let tip = "Reads the file again and keeps the view.";
    Item::new("Reload", "Ctrl+R", tip, Command::Reload).ui(ui, has_map, commands);
    ui.separator();
    let tip = "Puts the bake into the BSP, the SH grid where the Bake tab says.";
    let can_save = model.state.can_save();
    Item::new("Save bake", "Ctrl+S", tip, Command::Save).ui(ui, can_save, commands);
    let tip = "Writes the map with the bake to a new file.";
    Item::new("Save as…", "", tip, Command::SaveAsDialog).ui(ui, has_map, commands);
    ui.separator();
    let tip = "Writes the picture as PNG, without panels.";
    Item::new("Screenshot", "Ctrl+Shift+S", tip, Command::Screenshot).ui(ui, has_map, commands);
    ui.separator();
    let tip = "Leaves the program; asks before a bake is lost.";
    Item::new("Quit", "Ctrl+Q", tip, Command::Quit).ui(ui, true, commands);
}

fn view_ui(ui: &mut Ui, model: &Model<'_>, options: &mut ViewOptions, commands: &mut Vec<Command>) {
    let map = model.state.map.as_ref();
    for (number, mode) in RenderMode::ALL.into_iter().enumerate() {
        let keys = mode_key(number).map_or_else(String::new, |key| format!("Alt+{key}"));
        let missing = map.and_then(|map| map.missing_in(mode));
        let tip = format!("{}.", mode.tip());
        let item = Item::new(
            mode.label(),
            &keys,
            missing.unwrap_or(&tip),
            Command::SetMode(mode),
        );
        item.ui(ui, missing.is_none(), commands);
    }
    ui.separator();
    ui.checkbox(&mut options.wire_overlay, "Wire overlay")
        .tip("Edges of the triangles over the picture (r_showtris 1).");
    ui.checkbox(&mut options.detail_stages, "Detail textures")
        .tip("Passes that scripts mark as details (r_detailtextures 1).");
    let tip = "Shows the picture alone.";
    Item::new("Hide panels", "Z", tip, Command::ToggleUi).ui(ui, true, commands);
    let tip = "Opens or closes the log below.";
    Item::new("Show log", "O", tip, Command::ToggleLog).ui(ui, true, commands);
    ui.separator();
    let map = model.state.map.as_ref();
    let has_spawn = map.is_some_and(|map| !map.scene.spawns.is_empty());
    let tip = "Back to where a player starts.";
    Item::new("Go to the first spawn", "", tip, Command::GoToSpawn(0)).ui(ui, has_spawn, commands);
}

fn probes_ui(ui: &mut Ui, options: &ViewOptions, commands: &mut Vec<Command>) {
    for (text, show, tip) in [
        ("No spheres", ProbeShow::Off, "No spheres (G)."),
        ("Legacy grid", ProbeShow::Legacy, "Spheres lit by lump 15."),
        (
            "SH grid as spheres",
            ProbeShow::Sh,
            "Spheres lit by lump 18.",
        ),
        ("Both grids", ProbeShow::Both, "Both grids side by side."),
    ] {
        Item::new(text, "", tip, Command::SetProbes(show)).ui(ui, true, commands);
    }
    ui.separator();
    let tip = "Spheres through walls.";
    Item::new("Toggle x-ray", "X", tip, Command::ToggleXRay).ui(ui, true, commands);
    let tip = "Takes the pinned sample sphere away.";
    let is_pinned = options.sample.pinned.is_some();
    Item::new("Remove the sample", "", tip, Command::Unpin).ui(ui, is_pinned, commands);
}

fn bake_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let map = model.state.map.as_ref();
    let is_baking = model.state.baking.is_some();
    let can_start = map.is_some() && !is_baking;
    let tip = "Bakes with the settings of the Bake tab.";
    Item::new("Start", "F5", tip, Command::StartBake).ui(ui, can_start, commands);
    let tip = "Stops the running bake and changes nothing.";
    Item::new("Stop", "Esc", tip, Command::CancelBake).ui(ui, is_baking, commands);
    let has_bake = map.is_some_and(|map| map.bake.is_some());
    let tip = "Shows the file's grid or the bake in turn.";
    Item::new("Blink old ↔ new", "B", tip, Command::ToggleBlink).ui(ui, has_bake, commands);
    let tip = "Brings the Bake tab to the front.";
    let settings = Command::ShowTab(Tab::Bake);
    Item::new("Settings", "", tip, settings).ui(ui, map.is_some(), commands);
}
