use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use glam::Vec3;

use crate::format::bsp::{self, Bsp, ShContainer};
use crate::format::lattice::Lattice;
use crate::job::{
    CancelToken, Cancelled, Feed, Job, JobContext, JobError, JobState, ProgressSnapshot, Warning,
};
use crate::light::{self, Audience, BakeSettings, Baked, FinishedPoints, Watcher};
use crate::math::Ray;
use crate::probe::blocked_points_while;
use crate::scene::{self, BuildOptions, CurveDetail, Lighting, MapSource, Scene};
use crate::trace::Picker;
use crate::vfs::{self, MapTarget, OpenedMap, SearchOptions, Stamp};
use crate::view::{
    BakeForm, BakeNews, Command, DoorStates, Effect, GridSet, LoadSource, LoadedMap, MapFile,
    PickPurpose, PlanCache, SurfaceHit,
};

/// Without all coarse points, what is known is shown after this time.
const LATE: Duration = Duration::from_millis(400);
/// Added to the niceness of a bake's threads, of 0 to 19.
#[cfg(target_os = "linux")]
const BAKE_NICENESS: i32 = 5;
/// News of a bake that one [`Effects::poll_bake`] hands out at most.
const NEWS_AT_ONCE: usize = 8;

/// What became of an effect.
#[derive(Debug)]
pub enum Performed {
    /// A job runs; its outcome comes from [`Effects::poll`].
    Started,
    /// Done at once.
    Done(Command),
    /// Needs a window: a dialog, the clipboard, a picture, leaving.
    NeedsWindow(Effect),
}

/// Performs every effect that needs no window. One job of each kind at a time.
pub struct Effects {
    search: SearchOptions,
    wake: Arc<dyn Fn() + Send + Sync>,
    load: Option<Running<Loaded>>,
    plan: Option<(BakeForm, Running<PlanCache>)>,
    bake: Option<Running<Finished>>,
    /// What the bake hands out while it runs: memory for one more copy of the grids at most, as each point comes once.
    bake_news: Option<(Feed<BakeNews>, Instant)>,
    save: Option<Running<Written>>,
    lights: Option<Running<MapSource>>,
    curves: Option<Running<Divided>>,
    /// With the curves of the scene that it is for.
    picker: Option<(CurveDetail, Picker)>,
    /// The opened file as we read or wrote it last.
    on_disk: Option<(PathBuf, Stamp)>,
}

/// A job and the map revision that it is for.
struct Running<T> {
    revision: u64,
    job: Job<T, anyhow::Error>,
}

struct Loaded {
    map: LoadedMap,
    picker: Picker,
    stamp: Option<Stamp>,
}

struct Divided {
    from: Arc<Scene>,
    scene: Arc<Scene>,
    picker: Picker,
}

struct Finished {
    baked: Arc<Baked>,
    grids: GridSet,
    secs: f32,
    warnings: Vec<Warning>,
}

struct Written {
    path: PathBuf,
    stamp: Option<Stamp>,
    baked: Option<Arc<Baked>>,
    scene: Scene,
    grids: GridSet,
}

impl Effects {
    /// `wake` is called from other threads whenever [`Effects::poll`] may have news; it must be quick.
    pub fn new(search: SearchOptions, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            search,
            wake: Arc::new(wake),
            load: None,
            plan: None,
            bake: None,
            bake_news: None,
            save: None,
            lights: None,
            curves: None,
            picker: None,
            on_disk: None,
        }
    }

    /// Starts or does what `effect` asks for.
    pub fn perform(&mut self, effect: Effect) -> Performed {
        match effect {
            Effect::LoadMap {
                revision,
                source,
                curves,
            } => return self.start_load(revision, source, curves),
            Effect::Plan {
                revision,
                scene,
                form,
            } => return self.start_plan(revision, scene, form),
            Effect::StartBake {
                revision,
                scene,
                grids,
                settings,
                eye,
            } => {
                let news = Feed::default();
                let send = news.clone();
                let work = move |context: &JobContext| {
                    let watch = Watch::new(&scene, send, context.cancel.clone());
                    bake(&scene, &grids, &settings, eye, &watch, context)
                };
                match self.spawn("bake", revision, work) {
                    Ok(running) => self.watch_bake(running, news),
                    Err(message) => {
                        return Performed::Done(Command::BakeFailed { revision, message });
                    }
                }
            }
            Effect::CancelBake => {
                if let Some(running) = &self.bake {
                    running.job.context().cancel.cancel();
                }
            }
            Effect::SaveBsp {
                revision,
                path,
                scene,
                baked,
                container,
                overwrite,
            } => {
                if !overwrite && self.was_changed(&path) {
                    return Performed::Done(Command::SaveBlocked(path));
                }
                let work =
                    move |context: &JobContext| save(path, &scene, baked, container, context);
                match self.spawn("save", revision, work) {
                    Ok(running) => self.save = Some(running),
                    Err(message) => return Performed::Done(Command::SaveFailed(message)),
                }
            }
            Effect::DivideCurves {
                revision,
                scene,
                curves,
            } => return self.start_curves(revision, scene, curves),
            Effect::ReadLights(path) => {
                let work = move |_: &JobContext| read_lights(path);
                match self.spawn("lights", 0, work) {
                    Ok(running) => self.lights = Some(running),
                    Err(message) => return Performed::Done(Command::Failed(message)),
                }
            }
            Effect::Pick {
                scene,
                ray,
                purpose,
                doors,
            } => return Performed::Done(self.pick(&scene, ray, purpose, &doors)),
            Effect::PickFile(_) | Effect::SaveImage | Effect::CopyText(_) | Effect::Quit => {
                return Performed::NeedsWindow(effect);
            }
        }
        Performed::Started
    }

    fn start_load(&mut self, revision: u64, source: LoadSource, curves: CurveDetail) -> Performed {
        let search = self.search.clone();
        let work = move |context: &JobContext| load(revision, &source, curves, &search, context);
        match self.spawn("load", revision, work) {
            Ok(running) => {
                replace(&mut self.load, running);
                Performed::Started
            }
            Err(message) => Performed::Done(Command::LoadFailed { revision, message }),
        }
    }

    fn start_curves(&mut self, revision: u64, scene: Arc<Scene>, curves: CurveDetail) -> Performed {
        let work = move |context: &JobContext| divide(scene, curves, context);
        match self.spawn("curves", revision, work) {
            Ok(running) => {
                replace(&mut self.curves, running);
                Performed::Started
            }
            Err(message) => Performed::Done(Command::CurvesFailed { revision, message }),
        }
    }

    fn start_plan(&mut self, revision: u64, scene: Arc<Scene>, form: BakeForm) -> Performed {
        let planned = form.clone();
        let work =
            move |context: &JobContext| Ok(PlanCache::new(&scene, revision, planned, context));
        match self.spawn("plan", revision, work) {
            Ok(running) => {
                self.plan = Some((form, running));
                Performed::Started
            }
            Err(message) => {
                let plan = PlanCache::failed(revision, form, message);
                Performed::Done(Command::Planned(Box::new(plan)))
            }
        }
    }

    fn watch_bake(&mut self, running: Running<Finished>, news: Feed<BakeNews>) {
        replace(&mut self.bake, running);
        self.bake_news = Some((news, Instant::now()));
    }

    /// Outcomes of jobs that ended since the last call.
    pub fn poll(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        commands.extend(self.poll_curves());
        if let Some((revision, outcome)) = ended(&mut self.load) {
            commands.push(match outcome {
                Ok(loaded) => {
                    // Curves of the map before must not come after this one.
                    if let Some(older) = self.curves.take() {
                        older.job.abandon();
                    }
                    self.picker = Some((loaded.map.scene.curves, loaded.picker));
                    let path = loaded.map.file.writable().map(Path::to_path_buf);
                    self.on_disk = path.zip(loaded.stamp);
                    Command::MapLoaded(Box::new(loaded.map))
                }
                Err(error) => Command::LoadFailed {
                    revision,
                    message: text(&error),
                },
            });
        }
        commands.extend(self.poll_plan());
        if let Some((_, outcome)) = ended(&mut self.lights) {
            commands.push(match outcome {
                Ok(source) => Command::LightsTaken(Arc::new(source)),
                Err(error) => Command::Failed(format!("No lights taken: {}", text(&error))),
            });
        }
        if let Some((revision, outcome)) = ended(&mut self.bake) {
            self.bake_news = None;
            match outcome {
                Ok(finished) => {
                    commands.push(Command::Warned(finished.warnings));
                    commands.push(Command::BakeFinished {
                        revision,
                        baked: finished.baked,
                        grids: Arc::new(finished.grids),
                        secs: finished.secs,
                    });
                }
                Err(JobError::Cancelled) => commands.push(Command::BakeCancelled { revision }),
                Err(error) => commands.push(Command::BakeFailed {
                    revision,
                    message: text(&error),
                }),
            }
        }
        if let Some((revision, outcome)) = ended(&mut self.save) {
            commands.push(match outcome {
                Ok(written) => {
                    self.on_disk = Some(written.path.clone()).zip(written.stamp);
                    Command::Saved {
                        revision,
                        path: written.path,
                        baked: written.baked,
                        scene: Arc::new(written.scene),
                        grids: Arc::new(written.grids),
                    }
                }
                Err(error) => Command::SaveFailed(text(&error)),
            });
        }
        commands
    }

    /// Some of what the running bake has come to since the last call; `None` when there is nothing new. Taking it in costs
    /// time, so a window asks again and again while its frame has some left. Call after [`Effects::poll`].
    pub fn poll_bake(&mut self) -> Option<Command> {
        let revision = self.bake.as_ref()?.revision;
        let (feed, started) = self.bake_news.as_ref()?;
        let news = feed.take(NEWS_AT_ONCE);
        (!news.is_empty()).then(|| Command::BakeProgressed {
            revision,
            news,
            is_late: started.elapsed() > LATE,
        })
    }

    fn poll_curves(&mut self) -> Option<Command> {
        let (revision, outcome) = ended(&mut self.curves)?;
        Some(match outcome {
            Ok(divided) => {
                self.picker = Some((divided.scene.curves, divided.picker));
                Command::CurvesDivided {
                    revision,
                    from: divided.from,
                    scene: divided.scene,
                }
            }
            Err(error) => Command::CurvesFailed {
                revision,
                message: text(&error),
            },
        })
    }

    fn poll_plan(&mut self) -> Option<Command> {
        let (form, running) = self.plan.take()?;
        let mut slot = Some(running);
        let Some((revision, outcome)) = ended(&mut slot) else {
            self.plan = slot.map(|running| (form, running));
            return None;
        };
        let plan = outcome.unwrap_or_else(|error| PlanCache::failed(revision, form, text(&error)));
        Some(Command::Planned(Box::new(plan)))
    }

    /// Where the job stands that people wait for: the bake, else the load, else the save, else the curves.
    pub fn progress(&self) -> Option<ProgressSnapshot> {
        let of = |context: &JobContext| context.progress.snapshot();
        let bake = self.bake.as_ref().map(|running| of(running.job.context()));
        let load = self.load.as_ref().map(|running| of(running.job.context()));
        let save = self.save.as_ref().map(|running| of(running.job.context()));
        let curves = self.curves.as_ref();
        let curves = curves.map(|running| of(running.job.context()));
        bake.or(load).or(save).or(curves)
    }

    fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        revision: u64,
        work: impl FnOnce(&JobContext) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<Running<T>, String> {
        let wake = Arc::clone(&self.wake);
        let job = Job::spawn(name, move || wake(), work)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Running { revision, job })
    }

    /// Whether `path` is the opened file, by whichever name, and somebody else changed it since.
    fn was_changed(&self, path: &Path) -> bool {
        let Some((opened, stamp)) = &self.on_disk else {
            return false;
        };
        let is_opened = opened == path
            || matches!((opened.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
        is_opened && stamp.is_replaced_at(path)
    }

    fn pick(
        &mut self,
        scene: &Scene,
        ray: Ray,
        purpose: PickPurpose,
        doors: &DoorStates,
    ) -> Command {
        // When new curves were refused because a save came between: until they are asked for again the old ones are shown.
        if let Some((curves, picker)) = &mut self.picker
            && *curves != scene.curves
        {
            (*curves, *picker) = (scene.curves, Picker::new(scene));
        }
        let picker = self.picker.as_ref().map(|(_, picker)| picker);
        let is_open = |door: usize| doors.is_drawn_open(&scene.doors, door);
        let hit = picker.and_then(|picker| picker.pick_with_doors(scene, &ray, is_open));
        let hit = hit.map(|hit| SurfaceHit {
            surface: hit.surface,
            first_index: hit.first_index,
            weights: hit.weights,
            t: hit.t,
            position: hit.position,
            normal: if hit.normal.dot(ray.direction) > 0.0 {
                -hit.normal
            } else {
                hit.normal
            },
        });
        Command::Picked { ray, purpose, hit }
    }
}

/// Puts a job into its slot. The window must not stand still until an older one has noticed that it is cancelled.
fn replace<T: Send + 'static>(slot: &mut Option<Running<T>>, running: Running<T>) {
    if let Some(older) = slot.replace(running) {
        older.job.abandon();
    }
}

/// Takes a job that has ended out of its slot.
fn ended<T: Send + 'static>(
    slot: &mut Option<Running<T>>,
) -> Option<(u64, Result<T, JobError<anyhow::Error>>)> {
    let running = slot.as_ref()?;
    let revision = running.revision;
    match running.job.poll() {
        JobState::Running(_) => None,
        JobState::Done(outcome) => {
            *slot = None;
            Some((revision, outcome))
        }
        JobState::Taken => {
            *slot = None;
            None
        }
    }
}

/// The whole chain of causes on one line.
fn text(error: &JobError<anyhow::Error>) -> String {
    match error {
        JobError::Failed(error) => format!("{error:#}"),
        JobError::Cancelled | JobError::Panicked(_) => error.to_string(),
    }
}

/// Opens a map as the jobs do.
pub(super) fn open(source: &LoadSource, search: &SearchOptions) -> anyhow::Result<OpenedMap> {
    Ok(match source {
        LoadSource::Path(path) => vfs::open_map(path, search)?,
        LoadSource::Demo => vfs::open_demo(),
    })
}

fn load(
    revision: u64,
    source: &LoadSource,
    curves: CurveDetail,
    search: &SearchOptions,
    context: &JobContext,
) -> anyhow::Result<Loaded> {
    context.progress.begin("reading", 0);
    let opened = open(source, search)?;
    let file = match &opened.target {
        MapTarget::File(path) => MapFile::Disk(path.clone()),
        MapTarget::Archive { archive, member } => MapFile::Archive {
            archive: archive.clone(),
            member: member.clone(),
        },
        MapTarget::Demo => MapFile::Demo,
    };
    let options = BuildOptions {
        curves,
        ..BuildOptions::default()
    };
    let scene = scene::build_with(&opened, options, context).with_context(|| file.text())?;
    context.progress.begin("preparing", 0);
    let picker = Picker::new(&scene);
    context.cancel.check()?;
    let grids = grid_set(&scene, scene.lighting.clone(), &context.cancel)?;
    let map = LoadedMap::new(
        revision,
        Arc::new(scene),
        file,
        Arc::new(grids),
        context.warnings.list(),
    );
    Ok(Loaded {
        map,
        picker,
        stamp: opened.stamp,
    })
}

/// The scene with other curves.
fn divide(from: Arc<Scene>, curves: CurveDetail, context: &JobContext) -> anyhow::Result<Divided> {
    context.progress.begin("curves", 0);
    let scene = from.with_curves(curves);
    context.cancel.check()?;
    Ok(Divided {
        picker: Picker::new(&scene),
        scene: Arc::new(scene),
        from,
    })
}

/// Reads the entities of a `.map` or `.ent` file; one that holds no light is refused.
fn read_lights(path: PathBuf) -> anyhow::Result<MapSource> {
    let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
    let shown = path.display().to_string();
    MapSource::chosen(path, &bytes).with_context(|| format!("{shown} holds no light entities"))
}

/// A lighting with its points in solid.
fn grid_set(scene: &Scene, lighting: Lighting, cancel: &CancelToken) -> Result<GridSet, Cancelled> {
    let blocked = |lattice: Option<Lattice>| match lattice {
        Some(lattice) => {
            blocked_points_while(scene, &lattice, || !cancel.is_cancelled()).ok_or(Cancelled)
        }
        None => Ok(Vec::new()),
    };
    Ok(GridSet {
        blocked_legacy: blocked(lighting.light_grid.as_ref().map(|grid| grid.lattice))?,
        blocked_sh: blocked(lighting.sh_grid.as_ref().map(|grid| grid.lattice))?,
        lighting,
    })
}

/// Tells the window how far a bake is.
struct Watch<'a> {
    scene: &'a Scene,
    news: Feed<BakeNews>,
    cancel: CancelToken,
    /// By grid: the points in solid, found once for draft and result.
    blocked: [OnceLock<Vec<bool>>; 2],
}

impl<'a> Watch<'a> {
    fn new(scene: &'a Scene, news: Feed<BakeNews>, cancel: CancelToken) -> Self {
        Self {
            scene,
            news,
            cancel,
            blocked: Default::default(),
        }
    }
}

impl Watcher for Watch<'_> {
    fn begun(&self, legacy: Option<Lattice>, sh: Option<Lattice>) {
        let [legacy, sh] =
            [(legacy, &self.blocked[0]), (sh, &self.blocked[1])].map(|(lattice, slot)| {
                let lattice = lattice?;
                // Once cancelled the bake stops by itself, and nobody looks at these.
                let proceed = || !self.cancel.is_cancelled();
                let blocked = slot.get_or_init(|| {
                    blocked_points_while(self.scene, &lattice, proceed).unwrap_or_default()
                });
                Some((lattice, blocked.clone()))
            });
        self.news.push(BakeNews::Begun { legacy, sh });
    }

    fn finished(&self, points: FinishedPoints) {
        self.news.push(BakeNews::Points(points));
    }
}

fn bake(
    scene: &Scene,
    old: &GridSet,
    settings: &BakeSettings,
    eye: Vec3,
    watch: &Watch<'_>,
    context: &JobContext,
) -> anyhow::Result<Finished> {
    let started = Instant::now();
    yield_to_the_window();
    let audience = Audience {
        eye,
        watcher: watch,
    };
    let baked = light::bake_watched(scene, settings, context, Some(&audience))?;
    let lighting = Lighting {
        light_grid: baked
            .light_grid
            .clone()
            .map(Arc::new)
            .or_else(|| old.lighting.light_grid.clone()),
        // An SH grid that is not baked anew would be stale: it is taken out of the file, so it is not shown either.
        sh_grid: baked.sh_grid.clone().map(Arc::new),
    };
    let blocked = |slot: &OnceLock<Vec<bool>>| slot.get().cloned();
    let grids = GridSet {
        blocked_legacy: blocked(&watch.blocked[0]).unwrap_or_else(|| old.blocked_legacy.clone()),
        blocked_sh: blocked(&watch.blocked[1]).unwrap_or_default(),
        lighting,
    };
    context.cancel.check()?;
    Ok(Finished {
        baked: Arc::new(baked),
        grids,
        secs: started.elapsed().as_secs_f32(),
        warnings: context.warnings.list(),
    })
}

/// Gives this thread, and those that it starts, less of a busy processor than the window and its renderer have.
fn yield_to_the_window() {
    // A kernel that refuses leaves the bake as fast as it was.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(BAKE_NICENESS) {
        log::debug!("the bake keeps its priority: {error}");
    }
}

fn save(
    path: PathBuf,
    scene: &Scene,
    baked: Option<Arc<Baked>>,
    container: ShContainer,
    context: &JobContext,
) -> anyhow::Result<Written> {
    context.progress.begin("writing", 0);
    let changed = baked.as_ref().map_or_else(
        || (*scene.bsp).clone(),
        |baked| light::apply(&scene.bsp, baked),
    );
    let (written, stamp) = write_map(&path, &scene.bsp, &changed, container)?;
    let lighting = Lighting::from_bsp(&written, &context.warnings);
    let scene = Scene {
        name: stem(&path),
        bsp: Arc::new(written),
        lighting: lighting.clone(),
        ..scene.clone()
    };
    let grids = grid_set(&scene, lighting, &context.cancel)?;
    Ok(Written {
        path,
        stamp,
        baked,
        scene,
        grids,
    })
}

/// Writes the map and, where the SH grid goes into a file beside it, that file too. What comes back is what the files hold, not
/// what was meant to be written, and the map's stamp.
fn write_map(
    path: &Path,
    old: &Bsp,
    new: &Bsp,
    container: ShContainer,
) -> anyhow::Result<(Bsp, Option<Stamp>)> {
    let written = bsp::write_with(new, container);
    let beside = path.with_extension(bsp::SIDECAR_EXTENSION);
    let stamp;
    if let Some(sidecar) = &written.sidecar {
        stamp = vfs::save_pair((path, &written.bsp), (&beside, sidecar))?;
    } else {
        stamp = vfs::save(path, &written.bsp)?;
        // The file that the grid came from would bring the old one back.
        if std::fs::read(&beside).is_ok_and(|bytes| old.is_sidecar(&bytes)) {
            std::fs::remove_file(&beside).with_context(|| {
                let beside = beside.display();
                format!("the map is written, but its old SH grid stays in {beside}")
            })?;
        }
    }
    let back = bsp::read(&written.bsp).with_context(|| path.display().to_string())?;
    let sidecar = std::fs::read(&beside).ok();
    let with_sidecar = sidecar.and_then(|sidecar| back.with_sidecar(&sidecar).ok());
    Ok((with_sidecar.unwrap_or(back), stamp))
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
