//! Small pieces that every panel uses: tooltips, accessible names, form rows.

use egui::{Response, RichText, Ui, WidgetText};
use glam::{UVec3, Vec3};

use crate::ui::theme;

/// Gives a widget its accessible name and its tooltip.
pub(crate) trait Explained {
    /// Adds a tooltip: one sentence and, where there is one, the cvar or flag of the same meaning.
    fn tip(self, text: &str) -> Response;
    /// Sets the name that screen readers and tests know it by.
    fn named(self, name: &str) -> Response;
}

impl Explained for Response {
    fn tip(self, text: &str) -> Response {
        self.on_hover_text(text).on_disabled_hover_text(text)
    }

    fn named(self, name: &str) -> Response {
        self.ctx
            .accesskit_node_builder(self.id, |node| node.set_label(name));
        self
    }
}

/// A row of a form: the name on the left in its column, the control on the right.
pub(crate) fn row_ui<R>(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    ui.horizontal(|ui| {
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(
            egui::vec2(theme::NAME_WIDTH, height),
            egui::Layout::left_to_right(egui::Align::Center),
            |ui| {
                ui.set_min_width(theme::NAME_WIDTH);
                ui.label(RichText::new(name).color(theme::WEAK));
            },
        );
        add(ui)
    })
    .inner
}

/// A name and a value that can be selected.
pub(crate) fn value_ui(ui: &mut Ui, name: &str, value: impl Into<WidgetText>) {
    row_ui(ui, name, |ui| {
        ui.add(egui::Label::new(value).wrap());
    });
}

/// The same with an explanation.
pub(crate) fn told_value_ui(ui: &mut Ui, name: &str, value: impl Into<WidgetText>, tip: &str) {
    row_ui(ui, name, |ui| {
        ui.add(egui::Label::new(value).wrap()).tip(tip);
    });
}

/// Three numbers for the sides of a cell, 1 to 4096 units.
pub(crate) fn sides_ui(ui: &mut Ui, name: &str, tip: &str, sides: &mut Vec3) {
    for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
        ui.add(
            egui::DragValue::new(&mut sides[axis])
                .range(1.0..=4096.0)
                .speed(1.0)
                .max_decimals(2),
        )
        .named(&format!("{name} {letter}"))
        .tip(tip);
    }
}

/// A heading inside a panel.
pub(crate) fn section_ui(ui: &mut Ui, text: &str) {
    ui.add_space(4.0);
    ui.label(RichText::new(text).strong().size(12.5));
}

/// What to say where there is nothing to show.
pub(crate) fn empty_ui(ui: &mut Ui, text: &str) {
    ui.add_space(10.0);
    ui.add(egui::Label::new(RichText::new(text).color(theme::WEAK)).wrap());
    ui.add_space(6.0);
}

/// A count with thin spaces between thousands.
pub(crate) fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// Points of a grid with so many along each axis.
pub(crate) fn point_count(counts: UVec3) -> u64 {
    counts.to_array().into_iter().map(u64::from).product()
}

/// A size in B, KiB or MiB.
pub(crate) fn bytes(value: u64) -> String {
    let value = value as f64;
    if value >= 1024.0 * 1024.0 {
        format!("{:.1} MiB", value / (1024.0 * 1024.0))
    } else if value >= 1024.0 {
        format!("{:.1} KiB", value / 1024.0)
    } else {
        format!("{value} B")
    }
}

/// Three coordinates, short.
pub(crate) fn triple(v: Vec3) -> String {
    let one = |value: f32| {
        if value.fract().abs() < 0.005 {
            format!("{value:.0}")
        } else {
            format!("{value:.2}")
        }
    };
    format!("{} {} {}", one(v.x), one(v.y), one(v.z))
}

/// A colour in byte units as it is shown: each channel 0 to 255.
pub(crate) fn swatch_colour(rgb: Vec3) -> egui::Color32 {
    let [r, g, b] = rgb.clamp(Vec3::ZERO, Vec3::splat(255.0)).round().to_array();
    egui::Color32::from_rgb(r as u8, g as u8, b as u8)
}

/// A filled box of a colour.
pub(crate) fn swatch_ui(ui: &mut Ui, name: &str, rgb: Vec3, size: egui::Vec2) {
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    ui.painter().rect(
        rect,
        3.0,
        swatch_colour(rgb),
        egui::Stroke::new(1.0, egui::Color32::from_black_alpha(120)),
        egui::StrokeKind::Inside,
    );
    let text = format!("{name}: {:.0} {:.0} {:.0}", rgb.x, rgb.y, rgb.z);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &text));
    response.on_hover_text(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(thousands(1_234_567), "1\u{2009}234\u{2009}567");
        assert_eq!(thousands(12), "12");
        assert_eq!(bytes(31_877_775), "30.4 MiB");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(triple(Vec3::new(-16.0, 0.25, 1e4)), "-16 0.25 10000");
    }
}
