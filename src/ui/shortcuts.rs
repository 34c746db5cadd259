use egui::{Key, Modifiers, Ui};
use glam::IVec3;

use crate::view::{Command, RenderMode, State};

/// Keys of the help overlay and of the menus, in the order shown.
pub(crate) const KEYS: [(&str, &str); 20] = [
    (
        "Hold right button",
        "Look; W A S D to move, E / Q up and down",
    ),
    ("Shift / Alt", "Four times faster / slower while moving"),
    ("Wheel", "Dolly; with the right button held: speed"),
    (
        "Click",
        "Select the sphere under the cursor, else the surface; a door opens or shuts",
    ),
    ("Ctrl+hover", "Sample the light grid under the cursor"),
    ("Ctrl+click", "Pin the sample sphere there"),
    ("Arrows, Shift+↑ ↓", "Step the selected probe"),
    ("G / Shift+G", "Probes on or off / next kind"),
    ("X", "Probes through walls"),
    (
        "Alt+1 … 0",
        "Lit, Lightmap, Fullbright, Vertex, Normals, Wireframe, Deluxe, Grid-lit, SH-lit, Clay",
    ),
    ("Shift+[ ]", "The mode before / after"),
    ("F5 / Esc", "Bake / cancel"),
    ("B", "Blink between the file's grid and the bake"),
    ("Ctrl+S", "Save the bake into the BSP"),
    ("Ctrl+O / Ctrl+R", "Open / reload"),
    ("Ctrl+Shift+S", "Screenshot"),
    ("Z", "Hide all panels"),
    ("O", "Log"),
    ("F1", "This help"),
    ("Ctrl+Q", "Quit"),
];

/// Reads the keys that are not movement. Plain letters are left alone while a text field has focus, everything but
/// movement while the mouse turns the view.
pub(crate) fn shortcuts(ui: &Ui, state: &State, is_looking: bool) -> Vec<Command> {
    let mut commands = Vec::new();
    if is_looking {
        return commands;
    }
    let is_typing = ui.ctx().text_edit_focused();
    let has_selection = state.selected.is_some();
    ui.input_mut(|input| {
        let mut on = |modifiers: Modifiers, key: Key, command: Command| {
            if input.consume_key(modifiers, key) {
                commands.push(command);
            }
        };
        // Longer combinations first: egui matches a shorter one too.
        let ctrl_shift = Modifiers::COMMAND | Modifiers::SHIFT;
        on(ctrl_shift, Key::S, Command::Screenshot);
        on(Modifiers::COMMAND, Key::S, Command::Save);
        on(Modifiers::COMMAND, Key::O, Command::OpenDialog);
        on(Modifiers::COMMAND, Key::R, Command::Reload);
        on(Modifiers::COMMAND, Key::Q, Command::Quit);
        on(Modifiers::NONE, Key::F1, Command::ToggleHelp);
        on(Modifiers::NONE, Key::F5, Command::StartBake);
        on(Modifiers::NONE, Key::Escape, Command::Escape);
        for (mode, key) in RenderMode::ALL.into_iter().zip(MODE_KEYS) {
            on(Modifiers::ALT, key, Command::SetMode(mode));
        }
        if is_typing {
            return;
        }
        on(Modifiers::SHIFT, Key::OpenBracket, Command::StepMode(-1));
        on(Modifiers::SHIFT, Key::CloseBracket, Command::StepMode(1));
        on(Modifiers::SHIFT, Key::G, Command::CycleProbes);
        on(Modifiers::NONE, Key::G, Command::ToggleProbes);
        on(Modifiers::NONE, Key::B, Command::ToggleBlink);
        on(Modifiers::NONE, Key::X, Command::ToggleXRay);
        on(Modifiers::NONE, Key::Z, Command::ToggleUi);
        on(Modifiers::NONE, Key::O, Command::ToggleLog);
        if has_selection {
            let step = |x, y, z| Command::StepProbe(IVec3::new(x, y, z));
            on(Modifiers::SHIFT, Key::ArrowUp, step(0, 0, 1));
            on(Modifiers::SHIFT, Key::ArrowDown, step(0, 0, -1));
            on(Modifiers::NONE, Key::ArrowRight, step(1, 0, 0));
            on(Modifiers::NONE, Key::ArrowLeft, step(-1, 0, 0));
            on(Modifiers::NONE, Key::ArrowUp, step(0, 1, 0));
            on(Modifiers::NONE, Key::ArrowDown, step(0, -1, 0));
        }
    });
    commands
}

/// The digit that, with Alt, brings mode `number` of [`RenderMode::ALL`]; `None` when there are none left.
pub(crate) fn mode_key(number: usize) -> Option<usize> {
    (number < MODE_KEYS.len()).then_some((number + 1) % 10)
}

/// Keys of the modes, with Alt.
const MODE_KEYS: [Key; 10] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
    Key::Num0,
];
