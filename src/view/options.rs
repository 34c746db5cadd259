use crate::math::colour::{Clamp, Overbright};
use crate::probe::{LegacyProfile, ShProfile};
use crate::scene::{CurveDetail, Scene};
use crate::view::doors::DoorStates;
use crate::view::mode::RenderMode;

/// One of the two grids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GridSource {
    /// Lump 15.
    Legacy,
    /// Lump 18.
    #[default]
    Sh,
}

/// Which spheres are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProbeShow {
    /// None.
    #[default]
    Off,
    /// The legacy grid.
    Legacy,
    /// The SH grid.
    Sh,
    /// Both, side by side at each point of the SH grid (the legacy one sampled there).
    Both,
}

/// How spheres are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeOptions {
    /// Which.
    pub show: ProbeShow,
    /// Radius over the smallest cell side, 0.05 to 0.5.
    pub size: f32,
    /// Farthest distance from the eye, game units; infinite draws all.
    pub distance: f32,
    /// Drawn over walls.
    pub x_ray: bool,
    /// Points in solid are left out.
    pub hide_in_solid: bool,
    /// How the legacy grid is evaluated.
    pub legacy_profile: LegacyProfile,
    /// How the SH grid is evaluated.
    pub sh_profile: ShProfile,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            show: ProbeShow::Off,
            size: 0.1,
            distance: 1024.0,
            x_ray: false,
            hide_in_solid: true,
            legacy_profile: LegacyProfile::default(),
            sh_profile: ShProfile::default(),
        }
    }
}

/// The sample sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SampleOptions {
    /// Whether it follows the cursor when it is not pinned.
    pub follow_cursor: bool,
    /// Where it is pinned, game units.
    pub pinned: Option<glam::Vec3>,
    /// Grid that lights it.
    pub source: GridSource,
}

/// A kind of entities that can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityLayer {
    /// Lights: a star, and a ring at the distance at which they alone give white.
    Lights,
    /// Lines from an entity to those that it targets.
    Targets,
    /// Places where players begin, with their facing.
    Spawns,
    /// Boxes around brush models.
    Models,
}

impl EntityLayer {
    /// All, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Lights, Self::Targets, Self::Spawns, Self::Models];

    /// The word on the check box.
    pub fn label(self) -> &'static str {
        match self {
            Self::Lights => "Lights",
            Self::Targets => "Targets",
            Self::Spawns => "Spawns",
            Self::Models => "Models",
        }
    }
}

/// Which entities are drawn over the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntityOverlays {
    /// By place in [`EntityLayer::ALL`].
    shown: [bool; EntityLayer::ALL.len()],
    /// Farthest from the eye, game units; infinite draws all.
    pub distance: f32,
}

impl Default for EntityOverlays {
    fn default() -> Self {
        Self {
            shown: [false; EntityLayer::ALL.len()],
            distance: 2048.0,
        }
    }
}

impl EntityOverlays {
    /// Whether a layer is drawn.
    pub fn shows(&self, layer: EntityLayer) -> bool {
        self.shown[layer as usize]
    }

    /// Whether any is.
    pub fn shows_any(&self) -> bool {
        self.shown.contains(&true)
    }

    /// The switch of a layer.
    pub fn layer(&mut self, layer: EntityLayer) -> &mut bool {
        &mut self.shown[layer as usize]
    }
}

/// Brightness of each light style, percent. 100, the start value, is the light as baked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StyleLevels {
    /// By style; 0 to 200.
    pub percent: [u8; 256],
}

impl Default for StyleLevels {
    fn default() -> Self {
        Self {
            percent: [100; 256],
        }
    }
}

/// What is left out because it cannot be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VisibilityOptions {
    /// Everything is drawn wherever one looks from (`r_novis 1`).
    pub draws_all: bool,
    /// Where one counts as standing, while the camera flies elsewhere (`r_lockpvs 1`), game units.
    pub locked_at: Option<glam::Vec3>,
    /// Outlines of the area portals over the picture.
    pub shows_portals: bool,
}

/// Everything about the picture but the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewOptions {
    /// What surfaces show.
    pub mode: RenderMode,
    /// How stored light is multiplied.
    pub overbright: Overbright,
    /// Whether it is scaled back to white.
    pub clamp: Clamp,
    /// Multiplies the light further by 2^EV, after the overbright clamp; 0 is the engine's picture.
    pub exposure_ev: f32,
    /// Exponent's inverse of the finished picture, as the engine's `r_gamma`; 1 leaves it as it is.
    pub gamma: f32,
    /// What is shown where nothing is drawn, encoded bytes.
    pub background: [u8; 3],
    /// Edges of triangles over the picture.
    pub wire_overlay: bool,
    /// Whether the stages are drawn that scripts mark with `detail`.
    pub detail_stages: bool,
    /// Spheres at the grid points.
    pub probes: ProbeOptions,
    /// Entities over the picture.
    pub entities: EntityOverlays,
    /// The sample sphere.
    pub sample: SampleOptions,
    /// How finely curves are to be divided; [`State::refresh_curves`](crate::view::State::refresh_curves) sees to it.
    pub curves: CurveDetail,
    /// Light styles of surfaces.
    pub styles: StyleLevels,
    /// What is left out because it cannot be seen.
    pub visibility: VisibilityOptions,
    /// Which doors stand open.
    pub doors: DoorStates,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            mode: RenderMode::default(),
            overbright: Overbright::default(),
            clamp: Clamp::default(),
            exposure_ev: 0.0,
            gamma: 1.0,
            background: [0; 3],
            wire_overlay: false,
            detail_stages: true,
            probes: ProbeOptions::default(),
            entities: EntityOverlays::default(),
            sample: SampleOptions::default(),
            curves: CurveDetail::default(),
            styles: StyleLevels::default(),
            visibility: VisibilityOptions::default(),
            doors: DoorStates::default(),
        }
    }
}

impl ViewOptions {
    /// Gammas that the picture can be shown with, the engine's.
    pub const GAMMA_RANGE: std::ops::RangeInclusive<f32> = 0.5..=3.0;

    /// Shows stored light as the map's own game does, all light styles on and all doors as the game begins with them, in a mode
    /// that the map has.
    pub fn adapt_to(&mut self, scene: &Scene) {
        self.overbright = scene.light_scale.overbright;
        self.clamp = scene.light_scale.clamp;
        self.styles = StyleLevels::default();
        self.visibility.locked_at = None;
        self.doors = DoorStates::default();
        if self.mode.missing_in(scene, &scene.lighting).is_some() {
            self.mode = RenderMode::default();
        }
    }
}
