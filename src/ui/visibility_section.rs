use egui::Ui;

use crate::scene::Scene;
use crate::ui::Model;
use crate::ui::widgets::{Explained, row_ui, section_ui};
use crate::view::{Command, DoorStates, ViewOptions};

/// What is left out because it cannot be seen, and the doors that decide about it.
pub(crate) fn visibility_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    section_ui(ui, "Visibility");
    let visibility = &mut options.visibility;
    let mut is_locked = visibility.locked_at.is_some();
    row_ui(ui, "Lock", |ui| {
        let tip = "Keeps what is seen from here while you fly on (r_lockpvs 1).";
        if ui
            .checkbox(&mut is_locked, "View from here")
            .tip(tip)
            .changed()
        {
            commands.push(Command::ToggleLock);
        }
    });
    row_ui(ui, "Draw", |ui| {
        ui.checkbox(&mut visibility.draws_all, "Everything")
            .tip("Draws the whole map, whatever can be seen from here (r_novis 1).");
    });
    row_ui(ui, "Portals", |ui| {
        ui.checkbox(&mut visibility.shows_portals, "Outlines")
            .tip("Outlines the brushes that part the map into areas, over the picture.");
    });
    let scene = model.state.map.as_ref().map(|map| &*map.scene);
    doors_ui(ui, scene, &mut options.doors);
}

fn doors_ui(ui: &mut Ui, scene: Option<&Scene>, states: &mut DoorStates) {
    let doors = scene.map_or(&[][..], |scene| &scene.doors);
    let parting = doors.iter().filter(|door| door.areas.is_some()).count();
    let areas = scene.map_or(0, Scene::area_count);
    row_ui(ui, "Doors", |ui| {
        let tip = format!(
            "Shuts all doors, and hides the areas behind them as the game does. Click a door in the picture to open or shut it. \
             This map has {areas} areas and {} doors, of which {parting} part areas.",
            doors.len()
        );
        ui.add_enabled_ui(areas > 1 || !doors.is_empty(), |ui| {
            ui.checkbox(&mut states.closed, "Closed").tip(&tip);
        });
        if !states.is_default()
            && ui
                .small_button("Reset")
                .tip("All doors as the game begins with them, all portals open.")
                .clicked()
        {
            *states = DoorStates::default();
        }
    });
}
