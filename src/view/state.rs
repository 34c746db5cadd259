use std::path::PathBuf;
use std::sync::Arc;

use glam::{Vec2, Vec3};

use crate::job::Warning;
use crate::scene::SpawnPoint;
use crate::view::bake_form::{BakeForm, PlanCache};
use crate::view::command::{Command, Effect, FilePurpose, LoadSource, Looking, Tab};
use crate::view::map::{LoadedMap, MapFile};
use crate::view::picking::PickedSurface;
use crate::view::selection::ProbeRef;
use crate::view::{Camera, GridSource, ProbeShow, ViewOptions};

/// Lines of the log kept.
const LOG_LIMIT: usize = 500;
/// Degrees a pixel of mouse motion turns.
const LOOK_DEG_PER_PX: f32 = 0.15;
/// Flying speeds, game units a second.
pub const SPEED_RANGE: std::ops::RangeInclusive<f32> = 10.0..=10_000.0;
/// Horizontal fields of view for a 4:3 picture, degrees.
pub const FOV_RANGE: std::ops::RangeInclusive<f32> = 60.0..=120.0;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something was done.
    Info,
    /// Something was mended or left out.
    Warning,
    /// Something was not done.
    Error,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How serious.
    pub level: Level,
    /// One line for people.
    pub text: String,
}

/// How the view moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Game units a second.
    pub speed: f32,
    /// Horizontal field of view of a 4:3 picture, degrees; wider pictures keep its height.
    pub fov_deg: f32,
    /// Whether the mouse turns the view.
    pub looking: Looking,
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            speed: 500.0,
            fov_deg: 95.0,
            looking: Looking::Off,
        }
    }
}

/// Which panels are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panels {
    /// The inspector's front tab.
    pub tab: Tab,
    /// Everything but the picture is hidden.
    pub hidden: bool,
    /// The help overlay is shown.
    pub help: bool,
    /// The log panel is open.
    pub log: bool,
    /// A path field is shown in place of a file dialog.
    pub path_field: Option<FilePurpose>,
}

/// What waits for a yes because it would lose an unsaved bake, or somebody else's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Opening another map.
    Open(LoadSource),
    /// Leaving.
    Quit,
    /// Saving over a file that somebody else changed since it was opened.
    Overwrite(PathBuf),
}

/// A load on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loading {
    /// Its number.
    pub revision: u64,
    /// What is being opened, for people.
    pub name: String,
    /// Whether the view stays where it is.
    keeps_view: bool,
}

/// Everything the window shows, as plain data.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The view.
    pub camera: Camera,
    /// What is drawn.
    pub options: ViewOptions,
    /// How the view moves.
    pub flight: Flight,
    /// Size of the picture, points; zero before the first frame.
    pub viewport: Vec2,
    /// The bake panel.
    pub bake_form: BakeForm,
    /// What the bake panel would do; see [`State::refresh_plan`].
    pub plan: Option<PlanCache>,
    /// The opened map.
    pub map: Option<LoadedMap>,
    /// The load on its way.
    pub loading: Option<Loading>,
    /// The map revision that is being baked.
    pub baking: Option<u64>,
    /// The file that is being written.
    pub saving: Option<PathBuf>,
    /// The selected grid point.
    pub selected: Option<ProbeRef>,
    /// The entity that was chosen from the list, by its number.
    pub entity: Option<u32>,
    /// The surface that was clicked.
    pub surface: Option<PickedSurface>,
    /// Where the cursor samples.
    pub hover: Option<Vec3>,
    /// What waits for a yes.
    pub pending: Option<Pending>,
    /// Which panels are open.
    pub panels: Panels,
    /// Messages, oldest first.
    pub log: Vec<LogLine>,
    /// The message shown over the picture.
    pub banner: Option<LogLine>,
    pub(super) is_planning: bool,
    /// Whether curves are being divided anew.
    pub(super) is_dividing: bool,
    /// Drafts so far.
    pub(super) drafts: u64,
    last_revision: u64,
    last_probes: ProbeShow,
    pub(super) last_source: Option<LoadSource>,
}

impl State {
    /// Changes the state by a command; the effect, if any, is for `app` to perform. Pure.
    pub fn apply(&mut self, command: Command) -> Option<Effect> {
        match command {
            Command::OpenDialog
            | Command::OpenPath(_)
            | Command::OpenDemo
            | Command::Reload
            | Command::MapLoaded(_)
            | Command::LoadFailed { .. }
            | Command::DialogUnavailable(_)
            | Command::ClosePathField
            | Command::Discard
            | Command::KeepBake
            | Command::Quit => self.apply_file(command),
            Command::Save
            | Command::SaveAsDialog
            | Command::SaveAs(_)
            | Command::Saved { .. }
            | Command::SaveFailed(_)
            | Command::SaveBlocked(_)
            | Command::Planned(_)
            | Command::StartBake
            | Command::BakeProgressed { .. }
            | Command::BakeFinished { .. }
            | Command::BakeFailed { .. }
            | Command::BakeCancelled { .. }
            | Command::CancelBake
            | Command::LightsDialog
            | Command::TakeLights(_)
            | Command::LightsTaken(_)
            | Command::ResetLights
            | Command::ToggleBlink => self.apply_bake(command),
            Command::Click { .. }
            | Command::Picked { .. }
            | Command::SelectProbe(_)
            | Command::SelectEntity(_)
            | Command::StepProbe(_)
            | Command::PinSample(_)
            | Command::Unpin
            | Command::EndHover
            | Command::Escape => self.apply_pick(&command),
            Command::SetMode(_)
            | Command::StepMode(_)
            | Command::SetProbes(_)
            | Command::ToggleProbes
            | Command::CycleProbes
            | Command::ToggleXRay
            | Command::ToggleDoor(_)
            | Command::ToggleLock
            | Command::SetViewport(_)
            | Command::Look(_)
            | Command::SetLooking(_)
            | Command::Fly(_)
            | Command::SetCamera(_)
            | Command::GoToSpawn(_)
            | Command::SetSpeed(_)
            | Command::SetFov(_) => {
                self.apply_view(&command);
                None
            }
            Command::CurvesDivided { .. } | Command::CurvesFailed { .. } => {
                self.apply_curves(command);
                None
            }
            Command::ShowTab(_)
            | Command::ToggleUi
            | Command::ToggleHelp
            | Command::ToggleLog
            | Command::DismissBanner
            | Command::CopyText(_)
            | Command::Screenshot
            | Command::ImageSaved(_)
            | Command::Failed(_)
            | Command::Warned(_) => self.apply_panel(command),
        }
    }

    /// Asks for a new [`State::plan`] when form or map have changed, one at a time; call once before the panels are drawn.
    pub fn refresh_plan(&mut self) -> Option<Effect> {
        let map = self.map.as_ref()?;
        let is_current = self
            .plan
            .as_ref()
            .is_some_and(|plan| plan.is_for(map.revision, &self.bake_form));
        if is_current || self.is_planning {
            return None;
        }
        self.is_planning = true;
        Some(Effect::Plan {
            revision: map.revision,
            scene: Arc::clone(&map.scene),
            form: self.bake_form.clone(),
        })
    }

    /// Whether leaving the map would lose a bake, finished or running.
    fn would_lose_bake(&self) -> bool {
        self.is_unsaved() || self.baking.is_some()
    }

    /// Whether closing would lose a bake.
    pub fn is_unsaved(&self) -> bool {
        self.map.as_ref().is_some_and(LoadedMap::is_unsaved)
    }

    /// Whether a plain save changes the file: a bake, or another place for the SH grid.
    pub fn can_save(&self) -> bool {
        let moves = |map: &LoadedMap| map.moves_sh(self.bake_form.sh_container);
        self.saving.is_none() && (self.is_unsaved() || self.map.as_ref().is_some_and(moves))
    }

    /// Width over height of the picture; 16:9 before the first frame.
    pub fn aspect(&self) -> f32 {
        if self.viewport.x > 0.0 && self.viewport.y > 0.0 {
            self.viewport.x / self.viewport.y
        } else {
            16.0 / 9.0
        }
    }

    /// Adds a line to the log.
    pub fn report(&mut self, level: Level, text: impl Into<String>) {
        let line = LogLine {
            level,
            text: text.into(),
        };
        if level == Level::Error {
            self.banner = Some(line.clone());
        }
        self.log.push(line);
        if self.log.len() > LOG_LIMIT {
            self.log.drain(..self.log.len() - LOG_LIMIT);
        }
    }

    fn report_warnings(&mut self, warnings: &[Warning]) {
        for warning in warnings {
            let times = if warning.count > 1 {
                format!(" (×{})", warning.count)
            } else {
                String::new()
            };
            self.report(
                Level::Warning,
                format!("{} {}{times}", warning.code, warning.text),
            );
        }
    }

    fn apply_file(&mut self, command: Command) -> Option<Effect> {
        match command {
            Command::OpenDialog => return Some(Effect::PickFile(FilePurpose::Open)),
            // A dropped or typed `.map` or `.ent` is no map to look at: it is a source of lights.
            Command::OpenPath(path) if self.map.is_some() && is_map_source(&path) => {
                return Some(Effect::ReadLights(path));
            }
            Command::OpenPath(path) => return self.open(LoadSource::Path(path)),
            Command::OpenDemo => return self.open(LoadSource::Demo),
            Command::Reload => {
                let source = self.last_source.clone()?;
                return self.open(source);
            }
            Command::MapLoaded(map) => return self.map_loaded(*map),
            Command::LoadFailed { revision, message } if self.is_loading(revision) => {
                self.loading = None;
                self.report(Level::Error, message);
            }
            Command::DialogUnavailable(purpose) => self.panels.path_field = Some(purpose),
            Command::ClosePathField => self.panels.path_field = None,
            Command::Discard => match self.pending.take()? {
                Pending::Open(source) => return Some(self.start_load(source)),
                Pending::Quit => return Some(Effect::Quit),
                Pending::Overwrite(path) => return self.save(path, true),
            },
            Command::KeepBake => self.pending = None,
            Command::Quit if self.would_lose_bake() => self.pending = Some(Pending::Quit),
            Command::Quit => return Some(Effect::Quit),
            _ => {}
        }
        None
    }

    fn is_loading(&self, revision: u64) -> bool {
        self.loading
            .as_ref()
            .is_some_and(|loading| loading.revision == revision)
    }

    fn open(&mut self, source: LoadSource) -> Option<Effect> {
        self.panels.path_field = None;
        if self.would_lose_bake() {
            self.pending = Some(Pending::Open(source));
            return None;
        }
        Some(self.start_load(source))
    }

    fn start_load(&mut self, source: LoadSource) -> Effect {
        self.last_revision += 1;
        let name = match &source {
            LoadSource::Path(path) => path.display().to_string(),
            LoadSource::Demo => "the demo".to_owned(),
        };
        self.loading = Some(Loading {
            revision: self.last_revision,
            name,
            keeps_view: self.map.is_some() && self.last_source.as_ref() == Some(&source),
        });
        Effect::LoadMap {
            revision: self.last_revision,
            source,
            curves: self.options.curves,
        }
    }

    fn map_loaded(&mut self, map: LoadedMap) -> Option<Effect> {
        let loading = self.loading.take_if(|l| l.revision == map.revision)?;
        if !loading.keeps_view {
            self.stand_at(start_view(&map));
            self.bake_form = self.bake_form.clone().for_scene(&map.scene);
            self.options.sample.pinned = None;
            self.options.adapt_to(&map.scene);
            self.options.sample.source = match map.scene.lighting.sh_grid {
                Some(_) => GridSource::Sh,
                None => GridSource::Legacy,
            };
        }
        self.last_source = Some(match &map.file {
            MapFile::Disk(path) => LoadSource::Path(path.clone()),
            MapFile::Archive { archive, member } => LoadSource::Path(archive.join(member)),
            MapFile::Demo => LoadSource::Demo,
        });
        self.selected = None;
        self.surface = None;
        self.entity = None;
        self.hover = None;
        self.pending = None;
        self.banner = None;
        self.report(Level::Info, format!("Opened {}", map.file.text()));
        let variant = &map.scene.bsp.directory.variant;
        let reasons = variant.reasons.join("; ");
        let label = variant.label.text();
        self.report(Level::Info, format!("Taken for {label}: {reasons}"));
        self.report_warnings(&map.warnings);
        self.map = Some(map);
        self.is_dividing = false;
        self.plan = None;
        self.baking.take().map(|_| Effect::CancelBake)
    }

    pub(super) fn stand_at(&mut self, spawn: SpawnPoint) {
        self.camera = self.camera.at(&spawn);
        self.update_fov();
    }

    pub(super) fn update_fov(&mut self) {
        self.camera.fov_x =
            Camera::fov_x_for_aspect(self.flight.fov_deg.to_radians(), self.aspect());
    }

    fn apply_view(&mut self, command: &Command) {
        let probes = &mut self.options.probes;
        match *command {
            Command::SetMode(mode) => {
                match self.map.as_ref().and_then(|map| map.missing_in(mode)) {
                    Some(why) => self.report(Level::Info, why.to_owned()),
                    None => self.options.mode = mode,
                }
            }
            Command::StepMode(by) => {
                let map = self.map.as_ref();
                let is_there = |mode| map.is_none_or(|map| map.missing_in(mode).is_none());
                let mut mode = self.options.mode.stepped(by);
                // Lit is always there.
                while !is_there(mode) && by != 0 {
                    mode = mode.stepped(by.signum());
                }
                self.options.mode = mode;
            }
            Command::SetProbes(show) => probes.show = show,
            Command::ToggleProbes if probes.show == ProbeShow::Off => {
                probes.show = match self.last_probes {
                    ProbeShow::Off => ProbeShow::Sh,
                    other => other,
                };
            }
            Command::ToggleProbes => {
                self.last_probes = probes.show;
                probes.show = ProbeShow::Off;
            }
            Command::CycleProbes => {
                probes.show = match probes.show {
                    ProbeShow::Off => ProbeShow::Legacy,
                    ProbeShow::Legacy => ProbeShow::Sh,
                    ProbeShow::Sh => ProbeShow::Both,
                    ProbeShow::Both => ProbeShow::Off,
                };
            }
            Command::ToggleXRay => probes.x_ray = !probes.x_ray,
            Command::SetViewport(size) => {
                self.viewport = size;
                self.update_fov();
            }
            Command::Look(pixels) => {
                let angles = pixels * LOOK_DEG_PER_PX.to_radians();
                self.camera.turn(-angles.x, angles.y);
            }
            Command::ToggleDoor(door) => self.toggle_door(door),
            Command::ToggleLock => self.toggle_lock(),
            Command::SetLooking(looking) => self.flight.looking = looking,
            Command::Fly(step) => {
                let camera = &mut self.camera;
                camera.eye +=
                    camera.forward() * step.x + camera.right() * step.y + Vec3::Z * step.z;
            }
            Command::SetCamera(camera) => {
                self.camera = camera;
                self.update_fov();
            }
            Command::GoToSpawn(number) => {
                let spawn = self
                    .map
                    .as_ref()
                    .and_then(|map| map.scene.spawns.get(number));
                if let Some(spawn) = spawn.copied() {
                    self.stand_at(spawn);
                }
            }
            Command::SetSpeed(speed) => {
                self.flight.speed = speed.clamp(*SPEED_RANGE.start(), *SPEED_RANGE.end());
            }
            Command::SetFov(degrees) => {
                self.flight.fov_deg = degrees.clamp(*FOV_RANGE.start(), *FOV_RANGE.end());
                self.update_fov();
            }
            _ => {}
        }
    }

    fn toggle_door(&mut self, door: usize) {
        if let Some(map) = &self.map {
            self.options.doors.toggle(&map.scene.doors, door);
        }
    }

    fn toggle_lock(&mut self) {
        let locked = &mut self.options.visibility.locked_at;
        *locked = match *locked {
            Some(_) => None,
            None => Some(self.camera.eye),
        };
    }

    fn apply_panel(&mut self, command: Command) -> Option<Effect> {
        match command {
            Command::ShowTab(tab) => self.panels.tab = tab,
            Command::ToggleUi => self.panels.hidden = !self.panels.hidden,
            Command::ToggleHelp => self.panels.help = !self.panels.help,
            Command::ToggleLog => self.panels.log = !self.panels.log,
            Command::DismissBanner => self.banner = None,
            Command::CopyText(text) => return Some(Effect::CopyText(text)),
            Command::Screenshot if self.map.is_some() => return Some(Effect::SaveImage),
            Command::ImageSaved(path) => {
                self.report(Level::Info, format!("Saved picture {}", path.display()));
            }
            Command::Failed(message) => self.report(Level::Error, message),
            Command::Warned(warnings) => self.report_warnings(&warnings),
            _ => {}
        }
        None
    }
}

/// The first spawn; without one the middle of the map, which at least shows something.
fn start_view(map: &LoadedMap) -> SpawnPoint {
    let centre = map.scene.bounds.centre();
    map.scene.spawns.first().copied().unwrap_or(SpawnPoint {
        eye: if centre.is_finite() {
            centre
        } else {
            Vec3::ZERO
        },
        yaw: 0.0,
        pitch: 0.0,
    })
}

/// Shared handles compare by identity.
pub(super) fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Whether the path is that of a `.map` or `.ent` file.
fn is_map_source(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| {
        (["map", "ent"].iter()).any(|known| extension.eq_ignore_ascii_case(known))
    })
}
