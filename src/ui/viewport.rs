use egui::{Color32, Key, PointerButton, Rect, Response, Sense, Ui};
use glam::{Vec2, Vec3};

use crate::math::Ray;
use crate::ui::{Model, theme};
use crate::view::{Command, Looking, PickPurpose};

/// A step of the wheel, game units over speed: how far a dolly goes.
const DOLLY_SECS: f32 = 0.12;
/// A step of the wheel while looking multiplies the speed by this.
const SPEED_STEP: f32 = 1.15;
/// Points of wheel motion that count as one step.
const WHEEL_STEP: f32 = 50.0;
/// Longest frame that movement believes, seconds: a hitch must not throw the view across the map.
const LONGEST_FRAME: f32 = 0.1;

/// The picture and everything that the mouse and the movement keys do in it.
pub(crate) fn viewport_ui(ui: &mut Ui, model: &Model<'_>) -> (Rect, Vec<Command>) {
    let state = model.state;
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Picture of the map"));
    if let (Some(texture), true) = (model.picture, state.map.is_some()) {
        let whole = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        ui.painter().image(texture, rect, whole, Color32::WHITE);
    } else {
        ui.painter().rect_filled(rect, 0.0, theme::BACKGROUND);
    }

    let mut commands = Vec::new();
    let size = Vec2::new(rect.width(), rect.height());
    if size != state.viewport && size.min_element() >= 1.0 {
        commands.push(Command::SetViewport(size));
    }
    if state.map.is_none() {
        return (rect, commands);
    }
    look(ui, model, &response, &mut commands);
    point(ui, model, &response, rect, &mut commands);
    wheel(ui, model, &response, &mut commands);
    fly(ui, model, &mut commands);
    (rect, commands)
}

fn look(ui: &Ui, model: &Model<'_>, response: &Response, commands: &mut Vec<Command>) {
    let held = response.is_pointer_button_down_on() && ui.input(|i| i.pointer.secondary_down());
    let was = model.state.flight.looking == Looking::On;
    if held && !was {
        commands.push(Command::SetLooking(Looking::On));
        ui.memory_mut(egui::Memory::stop_text_input);
    } else if !held && was {
        commands.push(Command::SetLooking(Looking::Off));
    }
    // The frame of the press still holds the way to where it happened.
    if held && was {
        // Raw motion where the system gives it: it does not end at the screen's edge.
        let motion = ui.input(|i| i.pointer.motion().unwrap_or_else(|| i.pointer.delta()));
        if motion != egui::Vec2::ZERO {
            commands.push(Command::Look(Vec2::new(motion.x, motion.y)));
        }
    }
    if held {
        ui.set_cursor_icon(egui::CursorIcon::None);
    }
}

fn point(ui: &Ui, model: &Model<'_>, response: &Response, rect: Rect, commands: &mut Vec<Command>) {
    let state = model.state;
    let has_ctrl = ui.input(|i| i.modifiers.command);
    let ray_at = |pointer: egui::Pos2| -> Ray {
        let x = (pointer.x - rect.left()) / rect.width() * 2.0 - 1.0;
        let y = 1.0 - (pointer.y - rect.top()) / rect.height() * 2.0;
        state
            .camera
            .ray(Vec2::new(x, y), rect.width() / rect.height())
    };
    if response.clicked_by(PointerButton::Primary)
        && let Some(pointer) = response.interact_pointer_pos()
    {
        ui.memory_mut(egui::Memory::stop_text_input);
        // A slow frame may hold click and release of the key; the click knows better.
        let clicked_with_ctrl = ui.input(|i| {
            i.events.iter().any(|event| {
                matches!(event, egui::Event::PointerButton { button: PointerButton::Primary, modifiers, .. } if modifiers.command)
            })
        });
        let purpose = if has_ctrl || clicked_with_ctrl {
            PickPurpose::Pin
        } else {
            PickPurpose::Select
        };
        let ray = ray_at(pointer);
        commands.push(Command::Click { ray, purpose });
    }
    let samples =
        (has_ctrl || state.options.sample.follow_cursor) && state.flight.looking == Looking::Off;
    match response.hover_pos() {
        Some(pointer) if samples => commands.push(Command::Click {
            ray: ray_at(pointer),
            purpose: PickPurpose::Hover,
        }),
        _ if state.hover.is_some() => commands.push(Command::EndHover),
        _ => {}
    }
}

fn wheel(ui: &Ui, model: &Model<'_>, response: &Response, commands: &mut Vec<Command>) {
    if !response.contains_pointer() {
        return;
    }
    let steps = ui.input(|i| i.smooth_scroll_delta().y) / WHEEL_STEP;
    if steps == 0.0 {
        return;
    }
    let flight = &model.state.flight;
    commands.push(match flight.looking {
        Looking::On => Command::SetSpeed(flight.speed * SPEED_STEP.powf(steps)),
        Looking::Off => Command::Fly(Vec3::X * (steps * flight.speed * DOLLY_SECS)),
    });
}

fn fly(ui: &Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    let state = model.state;
    // Without a selection the arrows move as well; with one they step it.
    let has_arrows = state.selected.is_none();
    let step = ui.input(|i| {
        if i.modifiers.command {
            return Vec3::ZERO;
        }
        let axis = |plus: &[Key], minus: &[Key]| {
            let held = |keys: &[Key]| f32::from(u8::from(keys.iter().any(|k| i.key_down(*k))));
            held(plus) - held(minus)
        };
        let used = if has_arrows { 2 } else { 1 };
        let direction = Vec3::new(
            axis(
                &[Key::W, Key::ArrowUp][..used],
                &[Key::S, Key::ArrowDown][..used],
            ),
            axis(
                &[Key::D, Key::ArrowRight][..used],
                &[Key::A, Key::ArrowLeft][..used],
            ),
            axis(&[Key::E], &[Key::Q]),
        );
        let pace = match (i.modifiers.shift, i.modifiers.alt) {
            (true, _) => 4.0,
            (_, true) => 0.25,
            _ => 1.0,
        };
        direction * (state.flight.speed * pace * i.stable_dt.min(LONGEST_FRAME))
    });
    if step != Vec3::ZERO {
        commands.push(Command::Fly(step));
        ui.request_repaint();
    }
}
