use winit::event::WindowEvent;
use winit::window::Window;

/// Connects egui to one window: events in, shapes and cursor out.
pub(super) struct EguiGlue {
    context: egui::Context,
    winit: egui_winit::State,
}

/// What a pass over the panels gave, ready for the GPU.
pub(super) struct Painted {
    /// Triangles in drawing order.
    pub(super) jobs: Vec<egui::ClippedPrimitive>,
    /// Textures to set before and to free after drawing.
    pub(super) textures: egui::TexturesDelta,
    /// Physical pixels per point.
    pub(super) pixels_per_point: f32,
}

impl EguiGlue {
    /// `repaint_after` is called from any thread when egui wants another frame after a delay.
    pub(super) fn new(
        window: &Window,
        max_texture_side: usize,
        repaint_after: impl Fn(std::time::Duration) + Send + Sync + 'static,
    ) -> Self {
        let context = egui::Context::default();
        crate::ui::apply_theme(&context);
        context.set_request_repaint_callback(move |info| repaint_after(info.delay));
        let winit = egui_winit::State::new(
            context.clone(),
            egui::ViewportId::ROOT,
            window,
            Some(window.scale_factor() as f32),
            Some(winit::window::Theme::Dark),
            Some(max_texture_side),
        );
        Self { context, winit }
    }

    /// The context, for tests of focus and for repaint requests.
    pub(super) fn context(&self) -> &egui::Context {
        &self.context
    }

    /// Hands an event to egui; true when a new frame is needed.
    pub(super) fn on_event(&mut self, window: &Window, event: &WindowEvent) -> bool {
        self.winit.on_window_event(window, event).repaint
    }

    /// Hands raw mouse motion to egui; true when it wanted it.
    pub(super) fn on_motion(&mut self, delta: (f64, f64)) -> bool {
        self.winit.on_mouse_motion(delta)
    }

    /// Draws the panels once and takes care of cursor, clipboard and text input.
    pub(super) fn run(&mut self, window: &Window, panels: impl FnMut(&mut egui::Ui)) -> Painted {
        let input = self.winit.take_egui_input(window);
        let output = self.context.run_ui(input, panels);
        self.winit
            .handle_platform_output(window, output.platform_output);
        Painted {
            jobs: self
                .context
                .tessellate(output.shapes, output.pixels_per_point),
            textures: output.textures_delta,
            pixels_per_point: output.pixels_per_point,
        }
    }
}
