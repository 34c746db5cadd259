use egui::Ui;

use crate::ui::widgets::Explained;
use crate::ui::{Model, bake_tab, entities_tab, map_tab, probe_tab, sample_tab, surface_tab};
use crate::view::{BakeForm, Command, Tab, ViewOptions};

/// The tabs at the right.
pub(crate) fn inspector_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    form: &mut BakeForm,
    commands: &mut Vec<Command>,
) {
    let front = model.state.panels.tab;
    ui.horizontal(|ui| {
        for (tab, text, name, tip) in [
            (
                Tab::Probe,
                "Probe",
                "Probe tab",
                "The selected grid point: place, raw bytes, coefficients.",
            ),
            (
                Tab::Surface,
                "Surface",
                "Surface tab",
                "The clicked surface: material and script, lightmap, cluster, entity.",
            ),
            (
                Tab::Sample,
                "Sample",
                "Sample tab",
                "The sample sphere: its corners, weights and blended light.",
            ),
            (
                Tab::Entities,
                "Entities",
                "Entities tab",
                "All entities: filter, classes, keys; a click flies there.",
            ),
            (
                Tab::Map,
                "Map",
                "Map tab",
                "The file: variant, counts, grids, warnings.",
            ),
            (
                Tab::Bake,
                "Bake",
                "Bake tab",
                "Settings of the light compiler.",
            ),
        ] {
            if ui
                .selectable_label(front == tab, text)
                .named(name)
                .tip(tip)
                .clicked()
            {
                commands.push(Command::ShowTab(tab));
            }
        }
    });
    ui.separator();
    egui::ScrollArea::vertical()
        .id_salt(("inspector", front as u8))
        .auto_shrink([false, false])
        .show(ui, |ui| match front {
            Tab::Probe => probe_tab::probe_tab_ui(ui, model, options, commands),
            Tab::Surface => surface_tab::surface_tab_ui(ui, model, options, commands),
            Tab::Sample => sample_tab::sample_tab_ui(ui, model, options, commands),
            Tab::Entities => entities_tab::entities_tab_ui(ui, model, commands),
            Tab::Map => map_tab::map_tab_ui(ui, model, commands),
            Tab::Bake => bake_tab::bake_tab_ui(ui, model, form, commands),
        });
}
