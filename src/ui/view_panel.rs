use egui::{ComboBox, RichText, Slider, Ui};

use crate::math::colour::{Clamp, Overbright};
use crate::probe::{LegacyProfile, ShCorners, ShEvaluator};
use crate::scene::{CurveDetail, Scene};
use crate::ui::visibility_section::visibility_ui;
use crate::ui::widgets::{Explained, row_ui, section_ui};
use crate::ui::{Model, theme};
use crate::view::{
    Command, EntityLayer, EntityOverlays, FOV_RANGE, ProbeOptions, SPEED_RANGE, ViewOptions,
};

/// Farthest draw distance of the slider; its end means no limit.
const FAR: f32 = 16_384.0;

/// How the picture is made: light, camera, spheres.
pub(crate) fn view_panel_ui(
    ui: &mut Ui,
    model: &Model<'_>,
    options: &mut ViewOptions,
    commands: &mut Vec<Command>,
) {
    egui::ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.label(RichText::new("View").heading());
            let scene = model.state.map.as_ref().map(|map| &*map.scene);
            light_ui(ui, scene, options);
            if let Some(scene) = scene.filter(|scene| !scene.light_styles.is_empty()) {
                ui.separator();
                styles_ui(ui, scene, options);
            }
            ui.separator();
            camera_ui(ui, model, commands);
            ui.separator();
            curves_ui(ui, options);
            ui.separator();
            visibility_ui(ui, model, options, commands);
            ui.separator();
            section_ui(ui, "Probes");
            probes_ui(ui, &mut options.probes);
            ui.separator();
            section_ui(ui, "Entities");
            entities_ui(ui, &mut options.entities);
            ui.separator();
            section_ui(ui, "Evaluation");
            evaluation_ui(ui, &mut options.probes);
        });
}

fn light_ui(ui: &mut Ui, scene: Option<&Scene>, options: &mut ViewOptions) {
    section_ui(ui, "Light");
    let factor_text = |value: Overbright| match value {
        Overbright::Bits(1) => "1 bit, ×2".to_owned(),
        Overbright::Bits(bits) => format!("{bits} bits, ×{}", value.factor()),
        Overbright::Blog => "×255/63".to_owned(),
    };
    let own = scene.map(|scene| &scene.light_scale);
    let tip = match own {
        Some(own) => format!(
            "How far stored light is multiplied (r_mapOverBrightBits). This map asks for {}: {}.",
            factor_text(own.overbright),
            own.reason.text()
        ),
        None => "How far stored light is multiplied (r_mapOverBrightBits).".to_owned(),
    };
    row_ui(ui, "Overbright", |ui| {
        ComboBox::from_id_salt("overbright")
            .selected_text(factor_text(options.overbright))
            .show_ui(ui, |ui| {
                let bits = (0..=3).map(Overbright::Bits);
                for value in bits.chain([Overbright::Blog]) {
                    let is_own = own.is_some_and(|own| own.overbright == value);
                    let mark = if is_own { " (this map's)" } else { "" };
                    let text = format!("{}{mark}", factor_text(value));
                    ui.selectable_value(&mut options.overbright, value, text);
                }
            })
            .response
            .named("Overbright")
            .tip(&tip);
    });
    row_ui(ui, "Clamp", |ui| {
        let mut keeps_hue = options.clamp == Clamp::KeepHue;
        if ui
            .checkbox(&mut keeps_hue, "Keep hue")
            .tip("Scales colours above white back as the engine does; off lets each channel saturate.")
            .changed()
        {
            options.clamp = if keeps_hue { Clamp::KeepHue } else { Clamp::Off };
        }
    });
    row_ui(ui, "Exposure", |ui| {
        let slider = Slider::new(&mut options.exposure_ev, -10.0..=10.0)
            .step_by(0.1)
            .suffix(" EV");
        let response = ui
            .add(slider)
            .named("Exposure")
            .tip("Brightens the picture by 2^EV after the clamp; 0 is the engine's picture. Right-click resets.");
        if response.secondary_clicked() {
            options.exposure_ev = 0.0;
        }
    });
    gamma_ui(ui, options);
}

fn gamma_ui(ui: &mut Ui, options: &mut ViewOptions) {
    row_ui(ui, "Gamma", |ui| {
        let slider = Slider::new(&mut options.gamma, ViewOptions::GAMMA_RANGE)
            .step_by(0.05)
            .fixed_decimals(2);
        let response = ui
            .add(slider)
            .named("Gamma")
            .tip("Brightens the middle tones of the finished picture (r_gamma); 1 leaves it as it is. Right-click resets.");
        if response.secondary_clicked() {
            options.gamma = 1.0;
        }
    });
}

/// A level for each light style that the map uses.
fn styles_ui(ui: &mut Ui, scene: &Scene, options: &mut ViewOptions) {
    section_ui(ui, "Light styles");
    for style in &scene.light_styles {
        let name = format!("Style {style}");
        let kind = match style {
            1..=31 => "The game lets styles 1 to 31 flicker.",
            32..=63 => "The game switches styles 32 to 63.",
            _ => "Not a style that games know.",
        };
        let level = &mut options.styles.percent[usize::from(*style)];
        row_ui(ui, &name, |ui| {
            let response = ui
                .add(Slider::new(level, 0..=200).suffix(" %"))
                .named(&name)
                .tip(&format!("Brightness of this layer of light; 100 % is as baked. {kind} Right-click resets."));
            if response.secondary_clicked() {
                *level = 100;
            }
        });
    }
}

fn camera_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    section_ui(ui, "Camera");
    let flight = &model.state.flight;
    row_ui(ui, "FOV", |ui| {
        let mut fov = flight.fov_deg;
        let response = ui
            .add(Slider::new(&mut fov, FOV_RANGE).step_by(1.0).suffix("°"))
            .named("FOV")
            .tip("Horizontal field of view of a 4:3 picture; wider windows show more (cg_fov). Right-click resets.");
        if response.secondary_clicked() {
            commands.push(Command::SetFov(95.0));
        } else if response.changed() {
            commands.push(Command::SetFov(fov));
        }
    });
    row_ui(ui, "Speed", |ui| {
        let mut speed = flight.speed;
        let slider = Slider::new(&mut speed, SPEED_RANGE)
            .logarithmic(true)
            .fixed_decimals(0)
            .suffix(" u/s");
        let response = ui
            .add(slider)
            .named("Speed")
            .tip("Flying speed; a player runs at 320 (g_speed). Right-click resets.");
        if response.secondary_clicked() {
            commands.push(Command::SetSpeed(500.0));
        } else if response.changed() {
            commands.push(Command::SetSpeed(speed));
        }
    });
}

/// How finely curves are divided.
fn curves_ui(ui: &mut Ui, options: &mut ViewOptions) {
    section_ui(ui, "Geometry");
    row_ui(ui, "Curves", |ui| {
        ComboBox::from_id_salt("curves")
            .selected_text(options.curves.label())
            .show_ui(ui, |ui| {
                for detail in CurveDetail::ALL {
                    ui.selectable_value(&mut options.curves, detail, detail.label());
                }
            })
            .response
            .named("Curve detail")
            .tip("How far the middle of a curve may be from its chord before it is divided once more, game units (r_subdivisions; the game's is 4). Bakes and grids do not depend on it.");
    });
}

/// Entities as lines over the picture.
fn entities_ui(ui: &mut Ui, entities: &mut EntityOverlays) {
    for pair in EntityLayer::ALL.chunks(2) {
        row_ui(ui, "", |ui| {
            for layer in pair {
                let tip = match layer {
                    EntityLayer::Lights => {
                        "Lights in their colour, with a ring where each alone gives white; linear lights end there. Those of the .map where the BSP has none."
                    }
                    EntityLayer::Targets => {
                        "Arrows from entities to those whose targetname they target."
                    }
                    EntityLayer::Spawns => "Places where players begin, and where they look.",
                    EntityLayer::Models => "Boxes around doors, lifts and other brush models.",
                };
                ui.checkbox(entities.layer(*layer), layer.label()).tip(tip);
            }
        });
    }
    row_ui(ui, "Distance", |ui| {
        let mut distance = entities.distance.min(FAR);
        let slider = Slider::new(&mut distance, 256.0..=FAR)
            .logarithmic(true)
            .custom_formatter(far_text);
        let response = ui
            .add(slider)
            .named("Entity distance")
            .tip("Entities farther from the eye are not drawn, game units. Right-click resets.");
        if response.secondary_clicked() {
            entities.distance = EntityOverlays::default().distance;
        } else if response.changed() {
            entities.distance = if distance >= FAR {
                f32::INFINITY
            } else {
                distance
            };
        }
    });
}

/// A distance; the end of the slider is no limit.
fn far_text(value: f64, _: std::ops::RangeInclusive<usize>) -> String {
    if value >= f64::from(FAR) {
        "∞".to_owned()
    } else {
        format!("{value:.0}")
    }
}

fn probes_ui(ui: &mut Ui, probes: &mut ProbeOptions) {
    row_ui(ui, "Size", |ui| {
        let response = ui
            .add(
                Slider::new(&mut probes.size, 0.05..=0.5)
                    .fixed_decimals(2)
                    .suffix(" cell"),
            )
            .named("Probe size")
            .tip("Radius of the spheres over the smallest side of a cell. Right-click resets.");
        if response.secondary_clicked() {
            probes.size = ProbeOptions::default().size;
        }
    });
    row_ui(ui, "Distance", |ui| {
        let mut distance = probes.distance.min(FAR);
        let slider = Slider::new(&mut distance, 128.0..=FAR)
            .logarithmic(true)
            .custom_formatter(far_text);
        let response = ui
            .add(slider)
            .named("Probe distance")
            .tip("Spheres farther from the eye are not drawn, game units. Right-click resets.");
        if response.secondary_clicked() {
            probes.distance = 1024.0;
        } else if response.changed() {
            probes.distance = if distance >= FAR {
                f32::INFINITY
            } else {
                distance
            };
        }
    });
    row_ui(ui, "Show", |ui| {
        ui.checkbox(&mut probes.x_ray, "X-ray")
            .tip("Draws the spheres through walls (X).");
    });
    row_ui(ui, "Hide", |ui| {
        ui.checkbox(&mut probes.hide_in_solid, "In solid")
            .tip("Leaves out points inside walls, which hold no light of their own.");
    });
}

fn evaluation_ui(ui: &mut Ui, probes: &mut ProbeOptions) {
    row_ui(ui, "Legacy", |ui| {
        ComboBox::from_id_salt("legacy profile")
            .selected_text(probes.legacy_profile.word())
            .show_ui(ui, |ui| {
                for profile in LegacyProfile::ALL {
                    ui.selectable_value(&mut probes.legacy_profile, profile, profile.word())
                        .tip(legacy_tip(profile));
                }
            })
            .response
            .named("Legacy profile")
            .tip("How the legacy grid is read (luxtool sample -profile).");
    });
    let evaluator = &mut probes.sh_profile.evaluator;
    row_ui(ui, "SH", |ui| {
        ComboBox::from_id_salt("evaluator")
            .selected_text(evaluator_word(*evaluator))
            .show_ui(ui, |ui| {
                for (value, tip) in [
                    (
                        ShEvaluator::Irradiance,
                        "Cosine-convolved: what a matt surface receives.",
                    ),
                    (
                        ShEvaluator::Direct,
                        "Coefficients straight along the normal, as the SH commit's guide.",
                    ),
                    (
                        ShEvaluator::Windowed(0.5),
                        "Convolved, with a window against ringing.",
                    ),
                ] {
                    let chosen = evaluator_word(*evaluator) == evaluator_word(value);
                    if ui
                        .selectable_label(chosen, evaluator_word(value))
                        .tip(tip)
                        .clicked()
                    {
                        *evaluator = value;
                    }
                }
            })
            .response
            .named("SH evaluator")
            .tip("How coefficients become light on a surface.");
    });
    if let ShEvaluator::Windowed(strength) = evaluator {
        row_ui(ui, "Window", |ui| {
            ui.add(Slider::new(strength, 0.0..=1.0).fixed_decimals(2))
                .named("Window strength")
                .tip("0 is convolved as it is, 1 the full Hann window.");
        });
    }
    let profile = &mut probes.sh_profile;
    row_ui(ui, "", |ui| {
        ui.checkbox(&mut profile.match_front, "Match front")
            .tip("Scales so that a single light seen head-on gives its own strength.");
    });
    let mut is_guide = profile.corners == ShCorners::Guide;
    row_ui(ui, "", |ui| {
        if ui
            .checkbox(&mut is_guide, "Blend points in solid")
            .tip("Blends all eight corners as the SH commit's guide does; off skips points in solid (profile sh-guide).")
            .changed()
        {
            profile.corners = if is_guide { ShCorners::Guide } else { ShCorners::SkipSolid };
        }
    });
    if *profile != crate::probe::ShProfile::default() {
        ui.label(
            RichText::new("Not the default SH profile")
                .color(theme::WARNING)
                .small(),
        );
    }
}

fn legacy_tip(profile: LegacyProfile) -> &'static str {
    match profile {
        LegacyProfile::Ioq3 => "As the game lights models.",
        LegacyProfile::Plain => "Trilinear blend of the stored values.",
        LegacyProfile::Nearest => "The nearest point alone.",
        LegacyProfile::Area => "Weights by overlap of a 64 × 64 box, nearest in z.",
    }
}

fn evaluator_word(evaluator: ShEvaluator) -> &'static str {
    match evaluator {
        ShEvaluator::Irradiance => "irradiance",
        ShEvaluator::Direct => "direct",
        ShEvaluator::Windowed(_) => "windowed",
    }
}
