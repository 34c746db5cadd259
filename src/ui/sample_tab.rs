use egui::{Grid, RichText, Ui, vec2};
use glam::Vec3;

use crate::math::colour::{Clamp, shift};
use crate::probe::{Corner, Verdict, evaluate_sh, sample_legacy, sample_sh, shade_legacy};
use crate::ui::probe_tab::{colour_text, faces_ui};
use crate::ui::widgets::{Explained, empty_ui, row_ui, section_ui, swatch_ui, triple, value_ui};
use crate::ui::{Model, theme};
use crate::view::{Command, GridSet, GridSource, ProbeRef, ViewOptions};

/// The sample sphere: corners, weights, blended light.
pub(crate) fn sample_tab_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    let state = model.state;
    let Some(map) = &state.map else {
        empty_ui(ui, "No map is open.");
        return;
    };
    row_ui(ui, "Lit by", |ui| {
        let source = &mut options.sample.source;
        ui.radio_value(source, GridSource::Sh, "SH grid")
            .tip("Lights the sample sphere by the SH grid.");
        ui.radio_value(source, GridSource::Legacy, "Legacy grid")
            .tip("Lights the sample sphere by the legacy grid.");
    });
    ui.checkbox(&mut options.sample.follow_cursor, "Follow the cursor")
        .tip("Samples under the cursor all the time, not only while Ctrl is held.");
    let Some(position) = state.sample_position() else {
        empty_ui(
            ui,
            "Ctrl+hover samples the light grid on any surface; Ctrl+click pins the sample there.",
        );
        if ui
            .button("Pin at the eye")
            .tip("Pins the sample sphere where you stand.")
            .clicked()
        {
            let ahead = state.camera.eye + state.camera.forward() * 96.0;
            commands.push(Command::PinSample(ahead));
        }
        return;
    };
    ui.horizontal(|ui| {
        let is_pinned = options.sample.pinned.is_some();
        ui.label(
            RichText::new(if state.hover.is_some() {
                "Under the cursor"
            } else {
                "Pinned"
            })
            .heading(),
        );
        if ui
            .add_enabled(is_pinned, egui::Button::new("Unpin"))
            .tip("Takes the pinned sample sphere away.")
            .clicked()
        {
            commands.push(Command::Unpin);
        }
    });
    value_ui(ui, "Position", triple(position));
    ui.separator();
    let grids = map.shown();
    match options.sample.source {
        GridSource::Sh => sh_ui(ui, grids, options, position, commands),
        GridSource::Legacy => legacy_ui(ui, grids, options, position, commands),
    }
}

fn sh_ui(
    ui: &mut Ui,
    grids: &GridSet,
    options: &ViewOptions,
    position: Vec3,
    commands: &mut Vec<Command>,
) {
    let Some(grid) = &grids.lighting.sh_grid else {
        empty_ui(
            ui,
            "This map has no SH grid. Bake one, or sample the legacy grid.",
        );
        return;
    };
    let profile = options.probes.sh_profile;
    let sample = sample_sh(grid, position, profile.corners);
    outside_ui(ui, sample.outside);
    corners_ui(ui, &sample.corners, GridSource::Sh, sample.weight, commands);
    let weights = profile.band_weights();
    let factor = options.overbright.factor();
    let light = |normal| {
        let raw = evaluate_sh(&sample.coefficients, normal, weights);
        shift(raw, factor, Clamp::KeepHue)
    };
    section_ui(ui, "Blended");
    let mean = Vec3::from(sample.coefficients[0]) * (0.282_094_8 * weights[0]);
    value_ui(
        ui,
        "Mean, stored",
        format!("{:.1} {:.1} {:.1}", mean.x, mean.y, mean.z),
    );
    let linear = Vec3::new(
        luminance(sample.coefficients[3]),
        luminance(sample.coefficients[1]),
        luminance(sample.coefficients[2]),
    );
    let direction = linear.normalize_or_zero();
    value_ui(
        ui,
        "Brightest side",
        format!("{:.2} {:.2} {:.2}", direction.x, direction.y, direction.z),
    );
    shaded_ui(
        ui,
        light(if direction == Vec3::ZERO {
            Vec3::Z
        } else {
            direction
        }),
    );
    faces_ui(ui, light);
}

fn legacy_ui(
    ui: &mut Ui,
    grids: &GridSet,
    options: &ViewOptions,
    position: Vec3,
    commands: &mut Vec<Command>,
) {
    let Some(grid) = &grids.lighting.light_grid else {
        empty_ui(
            ui,
            "Lump 15 is empty or does not match: the engine lights models with flat ambient. Bake one.",
        );
        return;
    };
    let sample = sample_legacy(
        grid,
        position,
        options.probes.legacy_profile,
        options.overbright,
    );
    outside_ui(ui, sample.outside);
    corners_ui(
        ui,
        &sample.corners,
        GridSource::Legacy,
        sample.weight,
        commands,
    );
    section_ui(ui, "Blended");
    value_ui(ui, "Ambient", colour_text(sample.light.ambient));
    value_ui(ui, "Directed", colour_text(sample.light.directed));
    let direction = sample.light.direction;
    value_ui(
        ui,
        "Direction",
        format!("{:.2} {:.2} {:.2}", direction.x, direction.y, direction.z),
    );
    let light = |normal| shade_legacy(&sample.light, normal);
    shaded_ui(
        ui,
        light(if direction == Vec3::ZERO {
            Vec3::Z
        } else {
            direction
        }),
    );
    faces_ui(ui, light);
}

/// Brightness of a coefficient, for a direction only.
fn luminance(rgb: [f32; 3]) -> f32 {
    0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
}

fn outside_ui(ui: &mut Ui, is_outside: bool) {
    if is_outside {
        ui.label(
            RichText::new("Outside the grid: the edge is taken, as the engine does.")
                .color(theme::WARNING),
        );
    }
}

fn shaded_ui(ui: &mut Ui, rgb: Vec3) {
    row_ui(ui, "Shaded", |ui| {
        swatch_ui(ui, "Shaded colour", rgb, vec2(60.0, 22.0));
        ui.monospace(colour_text(rgb));
    });
}

fn corners_ui(
    ui: &mut Ui,
    corners: &[Corner],
    source: GridSource,
    used: f32,
    commands: &mut Vec<Command>,
) {
    section_ui(ui, "Corners");
    Grid::new("corners")
        .num_columns(4)
        .spacing(vec2(10.0, 2.0))
        .striped(true)
        .show(ui, |ui| {
            for head in ["point", "cell", "weight", "verdict"] {
                ui.label(RichText::new(head).color(theme::WEAK));
            }
            ui.end_row();
            for corner in corners {
                corner_ui(ui, corner, source, commands);
                ui.end_row();
            }
        });
    value_ui(ui, "Weight used", format!("{:.0} %", used * 100.0));
    if used <= 0.0 {
        ui.label(RichText::new("Black, because every corner is skipped.").color(theme::WARNING));
    }
}

fn corner_ui(ui: &mut Ui, corner: &Corner, source: GridSource, commands: &mut Vec<Command>) {
    if corner.verdict == Verdict::OutsideGrid {
        ui.label("–");
    } else if ui
        .link(format!("#{}", corner.index))
        .tip("Selects this grid point.")
        .clicked()
    {
        let index = corner.index;
        commands.push(Command::SelectProbe(ProbeRef { source, index }));
    }
    let cell = corner.cell;
    ui.monospace(format!("{} {} {}", cell.x, cell.y, cell.z));
    ui.monospace(format!("{:>5.1} %", corner.weight * 100.0));
    let colour = if corner.verdict == Verdict::Used {
        theme::GOOD
    } else {
        theme::WARNING
    };
    ui.label(RichText::new(corner.verdict.word()).color(colour));
}
