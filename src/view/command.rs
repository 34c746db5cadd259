use std::path::PathBuf;
use std::sync::Arc;

use glam::{Vec2, Vec3};

use crate::job::Warning;
use crate::light::{BakeSettings, Baked};
use crate::math::Ray;
use crate::scene::{CurveDetail, MapSource, Scene};
use crate::view::doors::DoorStates;
use crate::view::draft::BakeNews;
use crate::view::{
    BakeForm, Camera, GridSet, LoadedMap, PlanCache, ProbeRef, ProbeShow, RenderMode, ShContainer,
    SurfaceHit,
};

/// What a file dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    /// Choose a map to open.
    Open,
    /// Choose where to save the map.
    SaveAs,
    /// Choose a `.map` to take lights from.
    Lights,
}

/// What a ray into the picture is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickPurpose {
    /// Select the sphere under the cursor.
    Select,
    /// Pin the sample sphere on the surface.
    Pin,
    /// Move the sample sphere along with the cursor.
    Hover,
}

/// A tab of the inspector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// The selected grid point.
    Probe,
    /// The clicked surface.
    Surface,
    /// The list of entities.
    Entities,
    /// The sample sphere.
    Sample,
    /// The map.
    #[default]
    Map,
    /// The bake form.
    Bake,
}

/// What to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadSource {
    /// A BSP, a pk3, or a BSP inside a pk3.
    Path(PathBuf),
    /// The embedded demo.
    Demo,
}

/// Everything that changes the state, asked for by people or reported by jobs.
#[derive(Clone, Debug)]
pub enum Command {
    /// Ask for a map to open.
    OpenDialog,
    /// Open this file.
    OpenPath(PathBuf),
    /// Open the embedded demo.
    OpenDemo,
    /// Open the current file again, keeping the view.
    Reload,
    /// A load ended well.
    MapLoaded(Box<LoadedMap>),
    /// A load failed; the present map stays.
    LoadFailed {
        /// Of the load.
        revision: u64,
        /// Why, for people.
        message: String,
    },
    /// Put the bake into the map's own file.
    Save,
    /// Ask where to save.
    SaveAsDialog,
    /// Save there.
    SaveAs(PathBuf),
    /// A save ended well.
    Saved {
        /// Of the map.
        revision: u64,
        /// File written.
        path: PathBuf,
        /// What was put into it.
        baked: Option<Arc<Baked>>,
        /// The scene with the file's new contents.
        scene: Arc<Scene>,
        /// The grids as read back from the new contents.
        grids: Arc<GridSet>,
    },
    /// A save failed; the old file is as it was.
    SaveFailed(String),
    /// Nothing was saved: somebody else changed that file since it was opened.
    SaveBlocked(PathBuf),
    /// No file dialog can be shown here: offer a path field.
    DialogUnavailable(FilePurpose),
    /// Close the path field.
    ClosePathField,
    /// Go on with what waits for a yes.
    Discard,
    /// Do not; a bake stays as it is.
    KeepBake,
    /// Leave the program.
    Quit,

    /// What surfaces show.
    SetMode(RenderMode),
    /// So many modes on, around the end; modes that show nothing of the map are passed over.
    StepMode(isize),
    /// Which spheres are drawn.
    SetProbes(ProbeShow),
    /// Spheres off, or on again as before.
    ToggleProbes,
    /// The next kind of spheres.
    CycleProbes,
    /// Spheres through walls or not.
    ToggleXRay,
    /// Open the door of this number in [`Scene::doors`], or shut it; its team goes with it.
    ToggleDoor(usize),
    /// Keep what is seen from here while the camera flies on, or follow it again.
    ToggleLock,
    /// Size of the picture in points.
    SetViewport(Vec2),
    /// Turn by so many pixels of mouse motion.
    Look(Vec2),
    /// Whether the mouse turns the view.
    SetLooking(Looking),
    /// Move along the view, right, and world up, game units.
    Fly(Vec3),
    /// Stand there.
    SetCamera(Camera),
    /// Stand at this start view.
    GoToSpawn(usize),
    /// Flying speed, game units a second.
    SetSpeed(f32),
    /// Horizontal field of view of a 4:3 picture, degrees.
    SetFov(f32),
    /// Curves are divided anew.
    CurvesDivided {
        /// Of the map.
        revision: u64,
        /// The scene that it was made from.
        from: Arc<Scene>,
        /// The same with other curves.
        scene: Arc<Scene>,
    },
    /// Curves could not be divided anew; they stay as they are.
    CurvesFailed {
        /// Of the map.
        revision: u64,
        /// Why, for people.
        message: String,
    },

    /// Bring a tab of the inspector to the front.
    ShowTab(Tab),
    /// Panels shown or hidden.
    ToggleUi,
    /// The help overlay.
    ToggleHelp,
    /// The log panel.
    ToggleLog,
    /// Close the message bar.
    DismissBanner,
    /// Put this on the clipboard.
    CopyText(String),

    /// A ray into the picture; comes back as [`Command::Picked`].
    Click {
        /// From the eye.
        ray: Ray,
        /// What for.
        purpose: PickPurpose,
    },
    /// What the ray met in the world.
    Picked {
        /// The ray.
        ray: Ray,
        /// What for.
        purpose: PickPurpose,
        /// Nearest surface; `None` for the sky and beyond.
        hit: Option<SurfaceHit>,
    },
    /// Select a grid point.
    SelectProbe(ProbeRef),
    /// Select the entity of this number and look at it.
    SelectEntity(u32),
    /// Move the selection by whole cells.
    StepProbe(glam::IVec3),
    /// Pin the sample sphere at a position.
    PinSample(Vec3),
    /// Take the pin out.
    Unpin,
    /// The cursor no longer samples.
    EndHover,
    /// Cancel a running bake, else close what is open, else clear the selection; never quits.
    Escape,

    /// What the form would do is known.
    Planned(Box<PlanCache>),
    /// Bake with the form's settings.
    StartBake,
    /// A bake has come further.
    BakeProgressed {
        /// Of the map it is for.
        revision: u64,
        /// What happened, oldest first.
        news: Vec<BakeNews>,
        /// Whether what is known is to be shown though not all coarse points are there yet.
        is_late: bool,
    },
    /// A bake ended well.
    BakeFinished {
        /// Of the map it was for.
        revision: u64,
        /// The compiler's result.
        baked: Arc<Baked>,
        /// The map's grids with the baked ones in their place.
        grids: Arc<GridSet>,
        /// Time from start to end, seconds.
        secs: f32,
    },
    /// A bake failed.
    BakeFailed {
        /// Of the map it was for.
        revision: u64,
        /// Why, for people.
        message: String,
    },
    /// A bake was cancelled; nothing changed.
    BakeCancelled {
        /// Of the map it was for.
        revision: u64,
    },
    /// Ask for a `.map` to take lights from.
    LightsDialog,
    /// Take lights from this `.map`.
    TakeLights(PathBuf),
    /// The lights of a `.map` are read.
    LightsTaken(Arc<MapSource>),
    /// Lights from the BSP and the `.map` beside it again.
    ResetLights,
    /// Stop the running bake.
    CancelBake,
    /// The other one of lighting A and B.
    ToggleBlink,

    /// Save the picture.
    Screenshot,
    /// A picture was saved there.
    ImageSaved(PathBuf),
    /// Something failed that is no load, save or bake.
    Failed(String),
    /// A job had to mend or replace something.
    Warned(Vec<Warning>),
}

/// Whether the mouse turns the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Looking {
    /// It points.
    #[default]
    Off,
    /// It turns.
    On,
}

/// What only the outside world can do; its outcome comes back as a [`Command`].
#[derive(Clone, Debug)]
pub enum Effect {
    /// Show a file dialog.
    PickFile(FilePurpose),
    /// Read a map.
    LoadMap {
        /// Number to report back.
        revision: u64,
        /// What.
        source: LoadSource,
        /// How finely its curves are divided.
        curves: CurveDetail,
    },
    /// Divide the curves of an opened map anew.
    DivideCurves {
        /// Number to report back.
        revision: u64,
        /// The map.
        scene: Arc<Scene>,
        /// How finely.
        curves: CurveDetail,
    },
    /// Read the entities of a `.map`.
    ReadLights(PathBuf),
    /// Find the surface that a ray meets.
    Pick {
        /// The map.
        scene: Arc<Scene>,
        /// The ray.
        ray: Ray,
        /// To report back.
        purpose: PickPurpose,
        /// Which stand open.
        doors: DoorStates,
    },
    /// Find out what the form would do.
    Plan {
        /// Of the map.
        revision: u64,
        /// The map.
        scene: Arc<Scene>,
        /// The form.
        form: BakeForm,
    },
    /// Bake.
    StartBake {
        /// Number to report back.
        revision: u64,
        /// The map.
        scene: Arc<Scene>,
        /// Its grids, for those that are not baked.
        grids: Arc<GridSet>,
        /// How.
        settings: Box<BakeSettings>,
        /// Where somebody looks from: what is near comes first, game units.
        eye: Vec3,
    },
    /// Stop the running bake.
    CancelBake,
    /// Write a map.
    SaveBsp {
        /// Number to report back.
        revision: u64,
        /// Target.
        path: PathBuf,
        /// The map.
        scene: Arc<Scene>,
        /// What to put into it; `None` writes a copy.
        baked: Option<Arc<Baked>>,
        /// Where its SH grid goes.
        container: ShContainer,
        /// Whether to write also when somebody else changed the file since it was opened.
        overwrite: bool,
    },
    /// Render the current view and write it as PNG under a new name.
    SaveImage,
    /// Put this on the clipboard.
    CopyText(String),
    /// Leave the program.
    Quit,
}
