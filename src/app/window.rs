use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{DeviceEvent, DeviceId, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::window::{CursorGrabMode, Window, WindowId};

use crate::app::args::Args;
use crate::app::bake_watch::{BakeWatch, FrameTimes};
use crate::app::dialogs::Dialog;
use crate::app::effects::{Effects, Performed};
use crate::app::egui_glue::EguiGlue;
use crate::app::graphics::Graphics;
use crate::app::picture;
use crate::app::run::AppError;
use crate::job::{Job, JobState};
use crate::ui::{BakePace, Model, root_ui};
use crate::view::{
    Camera, Command, Effect, Level, Looking, MapFile, PickPurpose, ProbeShow, State,
};

/// Size of the window unless told otherwise, points.
const WINDOW_SIZE: (u32, u32) = (1600, 1000);
/// Smallest size at which every panel still works, points.
const SMALLEST_SIZE: (u32, u32) = (1024, 640);
/// Without a frame for this long the view rests.
const REST_AFTER: Duration = Duration::from_millis(300);
/// How far ahead the demo's sample sphere is pinned, game units.
const DEMO_PIN_AHEAD: f32 = 160.0;

/// What a frame may spend on taking in what a bake hands out.
const NEWS_TIME: Duration = Duration::from_millis(6);
/// Time between frames that only a job asks for: twenty a second leave a software renderer's processors to the job.
const JOB_INTERVAL: Duration = Duration::from_millis(50);

/// What other threads tell the window.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wake {
    /// A job or dialog has news.
    Jobs,
    /// egui wants a frame then.
    RepaintAt(Instant),
}

/// The program with a window.
pub(super) struct Viewer {
    args: Args,
    proxy: EventLoopProxy<Wake>,
    state: State,
    effects: Effects,
    dialog: Option<Dialog>,
    screenshot: Option<Job<PathBuf, anyhow::Error>>,
    shown: Option<Shown>,
    repaint_at: Option<Instant>,
    /// When the last frame began.
    last_frame: Option<Instant>,
    pace: Pace,
    bake_watch: Option<BakeWatch>,
    bake_pace: Option<BakePace>,
    is_started: bool,
    is_leaving: bool,
    failure: Option<AppError>,
}

/// What exists while there is a window.
struct Shown {
    window: Arc<Window>,
    graphics: Graphics,
    egui: EguiGlue,
    looking: Looking,
    title: String,
}

/// Measures frames a second while frames follow each other.
#[derive(Default)]
struct Pace {
    last: Option<Instant>,
    mean_secs: Option<f32>,
}

impl Pace {
    fn tick(&mut self) -> Option<f32> {
        let now = Instant::now();
        let since = self.last.replace(now).map(|last| now - last);
        self.mean_secs = match (since, self.mean_secs) {
            (Some(since), mean) if since < REST_AFTER => {
                let secs = since.as_secs_f32();
                Some(mean.map_or(secs, |mean| mean + (secs - mean) * 0.1))
            }
            _ => None,
        };
        self.mean_secs.map(|mean| 1.0 / mean.max(1e-4))
    }
}

impl Viewer {
    pub(super) fn new(args: Args, proxy: EventLoopProxy<Wake>) -> Self {
        let effects = Effects::new(args.search(), waker(&proxy));
        let mut state = State::default();
        state.options.mode = args.mode.unwrap_or_default();
        state.options.probes.show = args.probes.unwrap_or_default();
        state.bake_form.threads = cores().saturating_sub(1);
        Self {
            args,
            proxy,
            state,
            effects,
            dialog: None,
            screenshot: None,
            shown: None,
            repaint_at: None,
            last_frame: None,
            pace: Pace::default(),
            bake_watch: None,
            bake_pace: None,
            is_started: false,
            is_leaving: false,
            failure: None,
        }
    }

    /// How it went, after the loop has ended.
    pub(super) fn into_outcome(self) -> Result<(), AppError> {
        self.failure.map_or(Ok(()), Err)
    }

    fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<Shown, AppError> {
        let (width, height) = self.args.size.unwrap_or(WINDOW_SIZE);
        let attributes = Window::default_attributes()
            .with_title("luxgrid")
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(SMALLEST_SIZE.0, SMALLEST_SIZE.1));
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| AppError::Other(error.into()))?;
        let window = Arc::new(window);
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
        let graphics = Graphics::new(wgpu::Instance::new(descriptor), Arc::clone(&window))?;
        let proxy = self.proxy.clone();
        let egui = EguiGlue::new(&window, graphics.max_texture_side(), move |delay| {
            // A delay beyond the clock's range means never.
            if let Some(at) = Instant::now().checked_add(delay) {
                let _ = proxy.send_event(Wake::RepaintAt(at));
            }
        });
        Ok(Shown {
            window,
            graphics,
            egui,
            looking: Looking::Off,
            title: String::new(),
        })
    }

    /// Applies a command and performs what it asks for, until nothing more comes back at once.
    fn command(&mut self, command: Command) {
        let is_load = matches!(command, Command::MapLoaded(_));
        let effect = self.state.apply(command);
        if is_load && !self.is_started && self.state.map.is_some() {
            self.is_started = true;
            self.start_as_told();
        }
        self.perform(effect);
    }

    fn perform(&mut self, mut next: Option<Effect>) {
        while let Some(effect) = next {
            if matches!(effect, Effect::StartBake { .. }) {
                self.bake_watch = Some(BakeWatch::start());
            }
            next = match self.effects.perform(effect) {
                Performed::Started => None,
                Performed::Done(answer) => self.state.apply(answer),
                Performed::NeedsWindow(effect) => self
                    .perform_here(effect)
                    .and_then(|answer| self.state.apply(answer)),
            };
        }
    }

    /// View and pin from the command line, once, when the first map is there; the demo opens with something to look at.
    fn start_as_told(&mut self) {
        if let Some(at) = self.args.at {
            self.command(Command::SetCamera(Camera {
                eye: at.eye,
                yaw: at.yaw,
                pitch: at.pitch,
                ..self.state.camera
            }));
        }
        let is_demo = self
            .state
            .map
            .as_ref()
            .is_some_and(|map| map.file == MapFile::Demo);
        if is_demo && self.args.probes.is_none() {
            self.command(Command::SetProbes(ProbeShow::Sh));
        }
        let camera = self.state.camera;
        let ahead = camera.eye + camera.forward() * DEMO_PIN_AHEAD;
        if let Some(pin) = self.args.pin.or(is_demo.then_some(ahead)) {
            self.command(Command::PinSample(pin));
        }
    }

    fn perform_here(&mut self, effect: Effect) -> Option<Command> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Some(Command::Failed(format!("{what}: {error}")))
        };
        match effect {
            Effect::PickFile(purpose) => {
                let wake = waker(&self.proxy);
                match Dialog::open(purpose, self.state.map.as_ref(), wake) {
                    Ok(dialog) => self.dialog = Some(dialog),
                    Err(_) => return Some(Command::DialogUnavailable(purpose)),
                }
            }
            Effect::SaveImage => {
                let shown = self.shown.as_mut()?;
                let image = match shown.graphics.image(&self.state) {
                    Ok(image) => image?,
                    Err(error) => return failed("No screenshot", &error),
                };
                let map = self.state.map.as_ref()?.scene.name.clone();
                let mode = self.state.options.mode;
                let wake = waker(&self.proxy);
                let work = move |_: &_| picture::save_screenshot(&image, &map, mode);
                match Job::spawn("screenshot", wake, work) {
                    Ok(job) => self.screenshot = Some(job),
                    Err(error) => return failed("No screenshot", &error),
                }
            }
            Effect::CopyText(text) => self.shown.as_ref()?.egui.context().copy_text(text),
            Effect::Quit => self.is_leaving = true,
            _ => {}
        }
        None
    }

    /// Takes in what jobs and dialogs have to say.
    fn take_news(&mut self) {
        for command in self.effects.poll() {
            if matches!(
                command,
                Command::BakeCancelled { .. } | Command::BakeFailed { .. }
            ) {
                self.bake_watch = None;
            }
            self.command(command);
        }
        let started = Instant::now();
        while started.elapsed() < NEWS_TIME
            && let Some(command) = self.effects.poll_bake()
        {
            self.command(command);
        }
        if let Some(answer) = self.dialog.as_ref().and_then(|dialog| dialog.poll().ok()) {
            self.dialog = None;
            if let Some(command) = answer {
                self.command(command);
            }
        }
        if let Some(JobState::Done(outcome)) = self.screenshot.as_ref().map(Job::poll) {
            self.screenshot = None;
            self.command(match outcome {
                Ok(path) => Command::ImageSaved(path),
                Err(error) => Command::Failed(format!("No screenshot: {error:#}")),
            });
        }
    }

    fn repaint_at(&mut self, at: Instant) {
        self.repaint_at = Some(self.repaint_at.map_or(at, |earlier| earlier.min(at)));
    }

    fn frame(&mut self) {
        let mut times = FrameTimes::start();
        self.last_frame = Some(times.began);
        self.take_news();
        let plan = self.state.refresh_plan();
        self.perform(plan);
        let curves = self.state.refresh_curves();
        self.perform(curves);
        times.news = times.lap();
        let frames_per_sec = self.pace.tick();
        let Some(shown) = self.shown.as_mut() else {
            return;
        };
        let (mut options, mut form) = (self.state.options, self.state.bake_form.clone());
        let model = Model {
            state: &self.state,
            progress: self.effects.progress(),
            picture: shown.graphics.picture(),
            frames_per_sec,
            cores: cores(),
            bake_pace: self.bake_pace,
        };
        let mut commands = Vec::new();
        let painted = shown.egui.run(&shown.window, |ui| {
            // A pass that egui repeats has no events the second time.
            commands.extend(root_ui(ui, &model, &mut options, &mut form));
        });
        times.panels = times.lap();
        // What commands change is seen in the panels of the next frame.
        let has_changes = commands.iter().any(|command| !is_hover(command));
        if has_changes || form != self.state.bake_form || options != self.state.options {
            shown.egui.context().request_repaint();
        }
        if frames_per_sec.is_some() {
            shown.egui.context().request_repaint_after(REST_AFTER);
        }
        self.state.options = options;
        self.state.bake_form = form;
        for command in commands {
            self.command(command);
        }
        times.commands = times.lap();
        self.show(painted, &mut times);
        self.count_frame(times);
    }

    /// Measures a frame of a bake, and asks for the next while the result is still being uploaded.
    fn count_frame(&mut self, times: FrameTimes) {
        let (Some(watch), Some(shown)) = (&mut self.bake_watch, &self.shown) else {
            return;
        };
        let map = self.state.map.as_ref();
        let is_running = self.state.baking.is_some();
        let is_catching_up = shown.graphics.is_catching_up(map);
        let has_draft = map.is_some_and(|map| map.shown_draft().is_some());
        watch.count(times, has_draft || !is_running);
        if is_catching_up {
            shown.window.request_redraw();
        }
        if is_running || is_catching_up {
            return;
        }
        log::info!(
            "bake in the window: first picture {:.2} s, worst of {} frames {}",
            watch.pace.first_picture_secs.unwrap_or_default(),
            watch.frames,
            watch.worst
        );
        self.bake_pace = Some(watch.pace);
        self.bake_watch = None;
        // The panel that says so was drawn before it was known.
        shown.window.request_redraw();
    }

    /// Draws map and panels, and keeps cursor and title in step with the state.
    fn show(&mut self, painted: crate::app::egui_glue::Painted, times: &mut FrameTimes) {
        let Some(shown) = self.shown.as_mut() else {
            return;
        };
        let had_picture = shown.graphics.picture().is_some();
        let drawn = shown
            .graphics
            .draw_map(&self.state, painted.pixels_per_point);
        times.map = times.lap();
        let presented = shown.graphics.paint(painted);
        times.present = times.lap();
        if !had_picture && shown.graphics.picture().is_some() {
            // The panels were drawn before the texture had a number.
            shown.window.request_redraw();
        }
        let looking = self.state.flight.looking;
        if shown.looking != looking {
            shown.looking = looking;
            grab_cursor(&shown.window, looking);
        }
        let title = title(&self.state);
        if shown.title != title {
            shown.window.set_title(&title);
            shown.title = title;
        }
        let stray = shown.graphics.take_error();
        for error in [drawn, presented].into_iter().filter_map(Result::err) {
            report_once(&mut self.state, error.to_string());
        }
        if let Some(error) = stray {
            report_once(&mut self.state, format!("graphics device: {error}"));
        }
    }
}

/// Hovering gives a command each frame, which must not keep the window awake.
fn is_hover(command: &Command) -> bool {
    matches!(
        command,
        Command::Click {
            purpose: PickPurpose::Hover,
            ..
        }
    )
}

/// A frame's error comes again with the next frame; the log needs it once.
fn report_once(state: &mut State, text: String) {
    if state.log.last().is_none_or(|line| line.text != text) {
        state.report(Level::Error, text);
    }
}

fn title(state: &State) -> String {
    let Some(map) = &state.map else {
        return "luxgrid".to_owned();
    };
    let mark = if map.is_unsaved() { " ●" } else { "" };
    format!("{}{mark} – luxgrid", map.file_name())
}

/// Holds the cursor in the window while the mouse turns the view; where neither way works, it can leave.
fn grab_cursor(window: &Window, looking: Looking) {
    let outcome = match looking {
        Looking::Off => window.set_cursor_grab(CursorGrabMode::None),
        Looking::On => window
            .set_cursor_grab(CursorGrabMode::Locked)
            .or_else(|_| window.set_cursor_grab(CursorGrabMode::Confined)),
    };
    if let Err(error) = outcome {
        log::warn!("W160 the cursor cannot be held in the window: {error}");
    }
}

/// Tells the window from any thread that a job or dialog has news.
fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + Sync + 'static {
    let proxy = proxy.clone();
    move || {
        // Fails only when the loop has ended, and then nobody waits for news.
        let _ = proxy.send_event(Wake::Jobs);
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

impl ApplicationHandler<Wake> for Viewer {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match self.open_window(event_loop) {
            Ok(shown) => self.shown = Some(shown),
            Err(error) => {
                self.failure = Some(error);
                event_loop.exit();
                return;
            }
        }
        if self.state.map.is_none() {
            self.command(match self.args.file.clone() {
                Some(path) => Command::OpenPath(path),
                None => Command::OpenDemo,
            });
        }
    }

    fn user_event(&mut self, _event_loop: &ActiveEventLoop, wake: Wake) {
        match wake {
            // Nothing is lost by waiting: the next frame takes in whatever has come until then.
            Wake::Jobs => self.repaint_at(match self.last_frame {
                Some(last) => last + JOB_INTERVAL,
                None => Instant::now(),
            }),
            Wake::RepaintAt(at) => self.repaint_at(at),
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _id: WindowId, event: WindowEvent) {
        let Some(shown) = self.shown.as_mut() else {
            return;
        };
        // egui asks for a frame after this event too, which would never end.
        let is_frame = matches!(event, WindowEvent::RedrawRequested);
        if shown.egui.on_event(&shown.window, &event) && !is_frame {
            shown.window.request_redraw();
        }
        match event {
            WindowEvent::RedrawRequested => self.frame(),
            WindowEvent::Resized(size) => {
                shown.graphics.resize(size);
                shown.window.request_redraw();
            }
            WindowEvent::CloseRequested => {
                shown.window.request_redraw();
                self.command(Command::Quit);
            }
            WindowEvent::DroppedFile(path) => {
                shown.window.request_redraw();
                self.command(Command::OpenPath(path));
            }
            _ => {}
        }
        if self.is_leaving {
            event_loop.exit();
        }
    }

    fn device_event(&mut self, _event_loop: &ActiveEventLoop, _id: DeviceId, event: DeviceEvent) {
        let (DeviceEvent::MouseMotion { delta }, Some(shown)) = (event, self.shown.as_mut()) else {
            return;
        };
        if shown.looking == Looking::On && shown.egui.on_motion(delta) {
            shown.window.request_redraw();
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        if self.repaint_at.is_some_and(|at| at <= now) {
            self.repaint_at = None;
            if let Some(shown) = &self.shown {
                shown.window.request_redraw();
            }
        }
        event_loop.set_control_flow(match self.repaint_at {
            Some(at) => ControlFlow::WaitUntil(at),
            None => ControlFlow::Wait,
        });
    }
}
