//! Colours, sizes and fonts of the whole window, in one place.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, vec2};

/// Behind everything.
pub(crate) const BACKGROUND: Color32 = Color32::from_rgb(27, 29, 33);
/// Panels.
pub(crate) const PANEL: Color32 = Color32::from_rgb(34, 37, 42);
/// Toolbar and status bar.
pub(crate) const BAR: Color32 = Color32::from_rgb(29, 31, 36);
/// Text fields and tables.
pub(crate) const SUNK: Color32 = Color32::from_rgb(22, 24, 27);
/// Buttons at rest.
const BUTTON: Color32 = Color32::from_rgb(50, 54, 62);
/// Buttons under the cursor.
const BUTTON_HOVER: Color32 = Color32::from_rgb(64, 70, 80);
/// Lines between things.
const LINE: Color32 = Color32::from_rgb(52, 56, 63);
/// Text.
pub(crate) const TEXT: Color32 = Color32::from_rgb(214, 218, 224);
/// Text that matters more.
const TEXT_STRONG: Color32 = Color32::from_rgb(242, 244, 247);
/// Text that matters less.
pub(crate) const WEAK: Color32 = Color32::from_rgb(150, 157, 168);
/// What is chosen.
pub(crate) const ACCENT: Color32 = Color32::from_rgb(49, 112, 176);
/// What is chosen, as text or a line.
pub(crate) const ACCENT_BRIGHT: Color32 = Color32::from_rgb(110, 178, 246);
/// Warnings as text.
pub(crate) const WARNING: Color32 = Color32::from_rgb(240, 186, 84);
/// Warnings as a bar.
pub(crate) const WARNING_BAR: Color32 = Color32::from_rgb(86, 64, 20);
/// Errors as text.
pub(crate) const ERROR: Color32 = Color32::from_rgb(246, 124, 116);
/// Errors as a bar.
pub(crate) const ERROR_BAR: Color32 = Color32::from_rgb(92, 36, 34);
/// What went well, as text.
pub(crate) const GOOD: Color32 = Color32::from_rgb(126, 205, 142);

/// Width of the left panel, points.
pub(crate) const LEFT_WIDTH: f32 = 252.0;
/// Width of the right panel, points.
pub(crate) const RIGHT_WIDTH: f32 = 336.0;
/// Height of the open log, points.
pub(crate) const LOG_HEIGHT: f32 = 120.0;
/// Width of the names in a form's first column, points.
pub(crate) const NAME_WIDTH: f32 = 96.0;

/// Sets colours, sizes and fonts of every window of `ctx`; call once.
pub fn apply(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.set_fonts(fonts());
    ctx.all_styles_mut(|style| {
        let proportional = |size| FontId::new(size, FontFamily::Proportional);
        style.text_styles = [
            (TextStyle::Heading, proportional(15.0)),
            (TextStyle::Body, proportional(13.0)),
            (TextStyle::Button, proportional(13.0)),
            (TextStyle::Small, proportional(11.0)),
            (
                TextStyle::Monospace,
                FontId::new(12.0, FontFamily::Monospace),
            ),
        ]
        .into();
        style.spacing.item_spacing = vec2(6.0, 5.0);
        style.spacing.button_padding = vec2(7.0, 3.0);
        style.spacing.interact_size = vec2(36.0, 21.0);
        style.spacing.slider_width = 86.0;
        style.spacing.combo_width = 120.0;
        style.spacing.menu_margin = Margin::same(6);
        style.spacing.tooltip_width = 320.0;
        style.spacing.indent = 14.0;
        style.visuals = visuals();
    });
}

/// The built-in fonts; marks like ▶ ● ▲ come from the monospaced one in every family.
fn fonts() -> egui::FontDefinitions {
    let mut fonts = egui::FontDefinitions::default();
    let fallback = fonts
        .families
        .get(&FontFamily::Monospace)
        .and_then(|names| names.first().cloned());
    if let (Some(name), Some(family)) =
        (fallback, fonts.families.get_mut(&FontFamily::Proportional))
    {
        family.push(name);
    }
    fonts
}

fn visuals() -> egui::Visuals {
    let mut visuals = egui::Visuals::dark();
    let corner = CornerRadius::same(4);
    visuals.panel_fill = PANEL;
    visuals.window_fill = PANEL;
    visuals.window_stroke = Stroke::new(1.0, LINE);
    visuals.extreme_bg_color = SUNK;
    visuals.faint_bg_color = Color32::from_rgb(38, 41, 47);
    visuals.code_bg_color = SUNK;
    visuals.weak_text_color = Some(WEAK);
    visuals.warn_fg_color = WARNING;
    visuals.error_fg_color = ERROR;
    visuals.hyperlink_color = ACCENT_BRIGHT;
    visuals.selection.bg_fill = ACCENT;
    visuals.selection.stroke = Stroke::new(1.0, TEXT_STRONG);
    visuals.slider_trailing_fill = true;
    visuals.striped = true;
    let widgets = &mut visuals.widgets;
    for (state, fill, text) in [
        (&mut widgets.noninteractive, PANEL, TEXT),
        (&mut widgets.inactive, BUTTON, TEXT),
        (&mut widgets.hovered, BUTTON_HOVER, TEXT_STRONG),
        (&mut widgets.active, ACCENT, TEXT_STRONG),
        (&mut widgets.open, BUTTON_HOVER, TEXT_STRONG),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.fg_stroke = Stroke::new(1.0, text);
        state.bg_stroke = Stroke::NONE;
        state.corner_radius = corner;
        state.expansion = 0.0;
    }
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, LINE);
    widgets.hovered.bg_stroke = Stroke::new(1.0, Color32::from_rgb(92, 100, 114));
    visuals
}

/// Around toolbar, status bar and message bars.
pub(crate) fn bar_frame() -> egui::Frame {
    egui::Frame::new()
        .fill(BAR)
        .inner_margin(Margin::symmetric(8, 4))
}

/// Around side panels and the log.
pub(crate) fn panel_frame() -> egui::Frame {
    egui::Frame::new()
        .fill(PANEL)
        .inner_margin(Margin::symmetric(10, 8))
}

/// Around what floats over the picture.
pub(crate) fn floating_frame() -> egui::Frame {
    egui::Frame::new()
        .fill(Color32::from_rgba_unmultiplied(24, 26, 30, 235))
        .stroke(Stroke::new(1.0, LINE))
        .corner_radius(CornerRadius::same(6))
        .inner_margin(Margin::same(14))
}
