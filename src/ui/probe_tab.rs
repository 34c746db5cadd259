use egui::{Grid, RichText, Ui, vec2};
use glam::Vec3;

use crate::math::colour::{Clamp, shift};
use crate::probe::{decode_direction, evaluate_sh, node_legacy, shade_legacy};
use crate::ui::widgets::{Explained, empty_ui, section_ui, swatch_ui, triple, value_ui};
use crate::ui::{Model, theme};
use crate::view::{
    Command, GridSource, LoadedMap, ProbeRef, ViewOptions, nearest_probe, probe_position,
};

/// Names of the nine basis functions in the file's order.
const BASIS: [&str; 9] = ["1", "y", "z", "x", "xy", "yz", "3z²−1", "xz", "x²−y²"];
/// Directions whose light is shown, with their words.
const FACES: [(&str, Vec3); 6] = [
    ("+x", Vec3::X),
    ("−x", Vec3::NEG_X),
    ("+y", Vec3::Y),
    ("−y", Vec3::NEG_Y),
    ("+z", Vec3::Z),
    ("−z", Vec3::NEG_Z),
];

/// The selected grid point.
pub(crate) fn probe_tab_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &ViewOptions,
    commands: &mut Vec<Command>,
) {
    let state = model.state;
    let Some(map) = &state.map else {
        empty_ui(ui, "No map is open.");
        return;
    };
    let Some(probe) = state.selected else {
        empty_ui(ui, "Click a sphere; Ctrl+hover samples any surface.");
        let nearest = [GridSource::Sh, GridSource::Legacy]
            .into_iter()
            .find_map(|source| nearest_probe(map.shown(), source, state.camera.eye));
        if ui
            .add_enabled(nearest.is_some(), egui::Button::new("Select the nearest"))
            .tip("Selects the grid point nearest to the eye.")
            .clicked()
            && let Some(probe) = nearest
        {
            commands.push(Command::SelectProbe(probe));
        }
        return;
    };
    place_ui(ui, map, probe, commands);
    match probe.source {
        GridSource::Legacy => legacy_ui(ui, map, probe.index, options),
        GridSource::Sh => sh_ui(ui, map, probe.index, options),
    }
}

fn place_ui(ui: &mut Ui, map: &LoadedMap, probe: ProbeRef, commands: &mut Vec<Command>) {
    let grids = map.shown();
    let (word, other) = match probe.source {
        GridSource::Legacy => ("Legacy", GridSource::Sh),
        GridSource::Sh => ("SH", GridSource::Legacy),
    };
    let (lattice, blocked) = (grids.lattice(probe.source), grids.blocked(probe.source));
    let (Some(lattice), Some(position)) = (lattice, probe_position(grids, probe)) else {
        return;
    };
    let cell = lattice.cell(probe.index);
    ui.label(RichText::new(format!("{word} probe #{}", probe.index)).heading());
    value_ui(ui, "Cell", format!("{} {} {}", cell.x, cell.y, cell.z));
    value_ui(ui, "Position", triple(position));
    let is_blocked = blocked.get(probe.index).copied().unwrap_or(false);
    value_ui(
        ui,
        "In solid",
        if is_blocked {
            RichText::new("× yes").color(theme::WARNING)
        } else {
            RichText::new("no")
        },
    );
    ui.horizontal(|ui| {
        if ui
            .button("Sample here")
            .tip("Pins the sample sphere at this point.")
            .clicked()
        {
            commands.push(Command::PinSample(position));
        }
        let twin = nearest_probe(grids, other, position);
        let text = match other {
            GridSource::Legacy => "Legacy point here",
            GridSource::Sh => "SH point here",
        };
        if ui
            .add_enabled(twin.is_some(), egui::Button::new(text))
            .tip("Selects the nearest point of the other grid.")
            .clicked()
            && let Some(twin) = twin
        {
            commands.push(Command::SelectProbe(twin));
        }
    });
    ui.separator();
}

fn legacy_ui(ui: &mut Ui, map: &LoadedMap, index: usize, options: &ViewOptions) {
    let grid = map.shown().lighting.light_grid.as_ref();
    let Some(point) = grid.and_then(|grid| grid.points.get(index)) else {
        return;
    };
    section_ui(ui, "Stored bytes");
    Grid::new("legacy bytes")
        .num_columns(4)
        .spacing(vec2(14.0, 3.0))
        .show(ui, |ui| {
            for (name, bytes) in [
                ("Ambient", &point.ambient[..]),
                ("Directed", &point.directed[..]),
                ("Zenith, azimuth", &[point.zenith, point.azimuth][..]),
            ] {
                ui.label(RichText::new(name).color(theme::WEAK));
                let join = |f: &dyn Fn(u8) -> String| {
                    bytes.iter().map(|b| f(*b)).collect::<Vec<_>>().join(" ")
                };
                ui.monospace(join(&|b| format!("{b:02x}")));
                ui.monospace(join(&|b| format!("{b:>3}")));
                if let [r, g, b] = *bytes {
                    swatch_ui(
                        ui,
                        name,
                        Vec3::new(r.into(), g.into(), b.into()),
                        vec2(22.0, 14.0),
                    );
                }
                ui.end_row();
            }
        });
    section_ui(ui, "Decoded");
    let direction = decode_direction(point.zenith, point.azimuth);
    value_ui(
        ui,
        "Direction",
        format!("{:.3} {:.3} {:.3}", direction.x, direction.y, direction.z),
    );
    let light = node_legacy(point, options.probes.legacy_profile, options.overbright);
    value_ui(ui, "Ambient", colour_text(light.ambient));
    value_ui(ui, "Directed", colour_text(light.directed));
    if point.ambient == [0; 3] {
        ui.label(
            RichText::new(
                "Black ambient: the engine takes this point for one in a wall and skips it.",
            )
            .color(theme::WARNING),
        );
    }
    faces_ui(ui, |normal| shade_legacy(&light, normal));
}

fn sh_ui(ui: &mut Ui, map: &LoadedMap, index: usize, options: &ViewOptions) {
    let grid = map.shown().lighting.sh_grid.as_ref();
    let Some(point) = grid.and_then(|grid| grid.points.get(index)) else {
        return;
    };
    section_ui(ui, "Coefficients");
    Grid::new("coefficients")
        .num_columns(4)
        .min_col_width(58.0)
        .spacing(vec2(10.0, 3.0))
        .striped(true)
        .show(ui, |ui| {
            for head in ["basis", "R", "G", "B"] {
                ui.label(RichText::new(head).color(theme::WEAK));
            }
            ui.end_row();
            for (name, rgb) in BASIS.into_iter().zip(point) {
                ui.label(RichText::new(name).color(theme::WEAK));
                for value in rgb {
                    let text = RichText::new(format!("{value:>9.3}")).monospace();
                    ui.label(if *value < 0.0 {
                        text.color(theme::ACCENT_BRIGHT)
                    } else {
                        text
                    });
                }
                ui.end_row();
            }
        });
    if point.as_flattened().iter().all(|c| *c == 0.0) {
        ui.label(
            RichText::new("All coefficients are zero: in solid or unlit; skipped when sampling.")
                .color(theme::WARNING),
        );
    }
    let weights = options.probes.sh_profile.band_weights();
    let (factor, point) = (options.overbright.factor(), *point);
    faces_ui(ui, |normal| {
        shift(evaluate_sh(&point, normal, weights), factor, Clamp::KeepHue)
    });
    ui.horizontal(|ui| {
        let copy = |separator: &str| {
            let rows = point
                .iter()
                .map(|rgb| rgb.map(|c| c.to_string()).join(separator));
            rows.collect::<Vec<_>>()
        };
        if ui
            .button("Copy C")
            .tip("Copies the coefficients as a C array.")
            .clicked()
        {
            let rows = copy(", ")
                .into_iter()
                .map(|row| format!("    {{ {row} }},\n"));
            let text = format!("{{\n{}}}", rows.collect::<String>());
            ui.ctx().copy_text(text);
        }
        if ui
            .button("Copy CSV")
            .tip("Copies the coefficients as nine lines of R,G,B.")
            .clicked()
        {
            ui.ctx().copy_text(copy(",").join("\n"));
        }
    });
}

/// Light on six faces of a cube at the point.
pub(crate) fn faces_ui(ui: &mut Ui, light: impl Fn(Vec3) -> Vec3) {
    section_ui(ui, "Light on faces");
    ui.horizontal(|ui| {
        for (name, normal) in FACES {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                swatch_ui(ui, name, light(normal), vec2(40.0, 24.0));
                ui.label(RichText::new(name).color(theme::WEAK).small());
            });
        }
    });
}

/// Three channels, whole numbers.
pub(crate) fn colour_text(rgb: Vec3) -> String {
    format!("{:.0} {:.0} {:.0}", rgb.x, rgb.y, rgb.z)
}
