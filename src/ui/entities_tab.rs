use egui::{Id, RichText, ScrollArea, TextEdit, Ui};

use crate::ui::widgets::{Explained, empty_ui, section_ui, triple, value_ui};
use crate::ui::{Model, theme};
use crate::view::{Command, EntityEntry, EntityIndex, LoadedMap};

/// Height of the list, points.
const LIST_HEIGHT: f32 = 260.0;
/// Height of the open list of classes, points.
const CLASSES_HEIGHT: f32 = 160.0;

/// The entities: a filtered list, classes, and the keys of the selected one.
pub(crate) fn entities_tab_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let Some(map) = &model.state.map else {
        empty_ui(ui, "No map is open.");
        return;
    };
    let id = Id::unique("entity filter");
    let mut filter: String = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    ui.horizontal(|ui| {
        let field = TextEdit::singleline(&mut filter)
            .hint_text("Filter")
            .desired_width(ui.available_width() - 70.0);
        ui.add(field)
            .named("Filter entities")
            .tip("Words that must all occur in an entity's keys or values.");
        if ui.button("Clear").tip("Shows all entities.").clicked() {
            filter.clear();
        }
    });
    classes_ui(ui, &map.entities, &mut filter);
    list_ui(ui, model, &map.entities, &filter, commands);
    ui.data_mut(|data| data.insert_temp(id, filter));
    ui.separator();
    match model.state.entity {
        Some(number) => keys_ui(ui, map, number, commands),
        None => empty_ui(ui, "Click an entity to fly to it and see its keys."),
    }
}

fn classes_ui(ui: &mut Ui, index: &EntityIndex, filter: &mut String) {
    let title = format!("Classes ({})", index.classes.len());
    egui::CollapsingHeader::new(title)
        .id_salt("entity classes")
        .show(ui, |ui| {
            ScrollArea::vertical()
                .id_salt("entity classes")
                .max_height(CLASSES_HEIGHT)
                .show(ui, |ui| {
                    for (class, count) in &index.classes {
                        let text = format!("{class} × {count}");
                        let row = ui.selectable_label(*filter == *class, text);
                        if row.tip("Shows the entities of this class.").clicked() {
                            *filter = class.to_lowercase();
                        }
                    }
                });
        });
}

fn list_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    index: &EntityIndex,
    filter: &str,
    commands: &mut Vec<Command>,
) {
    let filter = filter.to_lowercase();
    let found: Vec<(u32, &EntityEntry)> = (0..)
        .zip(&index.entries)
        .filter(|(_, entry)| entry.matches(&filter))
        .collect();
    let text = format!("{} of {} entities", found.len(), index.entries.len());
    ui.label(RichText::new(text).color(theme::WEAK).small());
    let height = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .id_salt("entity list")
        .max_height(LIST_HEIGHT)
        .auto_shrink([false, true])
        .show_rows(ui, height, found.len(), |ui, rows| {
            for (number, entry) in found.get(rows).unwrap_or_default() {
                let is_selected = model.state.entity == Some(*number);
                let name = if entry.name.is_empty() {
                    String::new()
                } else {
                    format!(" “{}”", entry.name)
                };
                let text = format!("{number}  {}{name}", entry.class);
                let row = ui.selectable_label(is_selected, text);
                if row.tip("Selects the entity and flies to it.").clicked() {
                    commands.push(Command::SelectEntity(*number));
                }
            }
        });
}

/// Keys and values of an entity, as the file has them.
fn keys_ui(ui: &mut Ui, map: &LoadedMap, number: u32, commands: &mut Vec<Command>) {
    let entity = map.scene.bsp.entities.list.get(number as usize);
    let (Some(entity), Some(entry)) = (entity, map.entities.get(number)) else {
        return;
    };
    section_ui(ui, &format!("Entity {number}"));
    ui.horizontal(|ui| {
        let again = ui.button("Fly to").tip("Looks at the entity again.");
        if again.clicked() {
            commands.push(Command::SelectEntity(number));
        }
        let copy = ui
            .button("Copy entity")
            .tip("Copies its keys and values as a map file has them.");
        if copy.clicked() {
            let lines = entity.pairs.iter();
            let lines = lines.map(|(key, value)| format!("\"{key}\" \"{value}\"\n"));
            let text = format!("{{\n{}}}\n", lines.collect::<String>());
            commands.push(Command::CopyText(text));
        }
    });
    for (key, value) in &entity.pairs {
        value_ui(ui, key, value.as_str());
    }
    value_ui(ui, "at", triple(entry.place()));
    for target in &entry.targets {
        let class = map.entities.get(*target).map_or("", |other| &other.class);
        let text = format!("→ {target}  {class}");
        let row = ui
            .button(text)
            .tip("Selects the entity that this one targets.");
        if row.clicked() {
            commands.push(Command::SelectEntity(*target));
        }
    }
}
