use egui::{RichText, Ui};
use glam::Vec3;

use crate::ui::widgets::{Explained, empty_ui, row_ui, section_ui, swatch_ui, value_ui};
use crate::ui::{Model, theme};
use crate::view::{Command, LuxelReport, PickedSurface, SurfaceReport, ViewOptions};

/// The clicked surface: material with its script, light, place, entity.
pub(crate) fn surface_tab_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &ViewOptions,
    commands: &mut Vec<Command>,
) {
    let Some(picked) = &model.state.surface else {
        empty_ui(
            ui,
            "Nothing selected. Click a surface in the picture; a sphere in front of it goes first.",
        );
        return;
    };
    let report = &*picked.report;
    ui.label(RichText::new(format!("Surface {}", report.surface)).heading());
    ui.add(egui::Label::new(RichText::new(&report.material.name).color(theme::WEAK)).wrap());
    buttons_ui(ui, picked, options, commands);
    ui.separator();
    for (name, value) in report.rows(options.overbright, options.clamp) {
        match (name, &report.lightmap) {
            ("Luxel stored", Some(luxel)) => colour_ui(ui, name, &value, luxel.raw),
            ("Luxel shown", Some(luxel)) => {
                colour_ui(ui, name, &value, shown_colour(luxel, options));
            }
            _ => value_ui(ui, name, value),
        }
    }
    ui.separator();
    images_ui(ui, report);
    script_ui(ui, report, commands);
}

fn shown_colour(luxel: &LuxelReport, options: &ViewOptions) -> [u8; 3] {
    luxel.shown(options.overbright, options.clamp)
}

fn buttons_ui(
    ui: &mut Ui,
    picked: &PickedSurface,
    options: &ViewOptions,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        let copy = ui
            .button("Copy all")
            .tip("Copies everything below as text, the script too (luxtool pick).");
        if copy.clicked() {
            let text = picked.report.text(options.overbright, options.clamp);
            commands.push(Command::CopyText(text));
        }
        if let Some(entity) = picked.report.entity.as_ref().filter(|e| e.number > 0) {
            let go = ui
                .button("Entity")
                .tip("Selects the entity that shows this brush model.");
            if go.clicked() {
                commands.push(Command::SelectEntity(entity.number));
            }
        }
        let pin = ui
            .button("Sample here")
            .tip("Pins the sample sphere in front of the point.");
        if pin.clicked() {
            commands.push(Command::PinSample(picked.hit.sample_position()));
        }
    });
}

/// A colour as numbers and as a swatch.
fn colour_ui(ui: &mut Ui, name: &str, text: &str, rgb: [u8; 3]) {
    row_ui(ui, name, |ui| {
        swatch_ui(
            ui,
            name,
            Vec3::from(rgb.map(f32::from)),
            egui::vec2(28.0, 14.0),
        );
        ui.label(text);
    });
}

fn images_ui(ui: &mut Ui, report: &SurfaceReport) {
    if report.material.images.is_empty() {
        return;
    }
    section_ui(ui, "Images");
    for image in &report.material.images {
        ui.add(egui::Label::new(&image.name).wrap());
        ui.add(egui::Label::new(RichText::new(image.place()).color(theme::WEAK).small()).wrap());
    }
}

fn script_ui(ui: &mut Ui, report: &SurfaceReport, commands: &mut Vec<Command>) {
    let Some(text) = &report.material.text else {
        return;
    };
    section_ui(ui, "Script");
    ui.add(
        egui::Label::new(
            RichText::new(report.material.place())
                .color(theme::WEAK)
                .small(),
        )
        .wrap(),
    );
    let copy = ui
        .button("Copy script")
        .tip("Copies the material's text as it stands in the script file.");
    if copy.clicked() {
        commands.push(Command::CopyText(text.clone()));
    }
    egui::Frame::new()
        .fill(theme::SUNK)
        .inner_margin(6.0)
        .show(ui, |ui| {
            ui.add(egui::Label::new(RichText::new(text.replace('\t', "    ")).monospace()).wrap());
        });
}
