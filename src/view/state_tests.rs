use std::path::PathBuf;
use std::sync::Arc;

use glam::{UVec3, Vec2, Vec3};

use crate::format::bsp::{Bsp, ShGrid};
use crate::format::lattice::Lattice;
use crate::light::{BakeReport, Baked};
use crate::math::{Aabb, Ray};
use crate::scene::{
    CurveDetail, LightScale, Lighting, LightmapPages, Scene, Sources, SpawnPoint, SurfaceId,
};
use crate::view::*;

fn scene() -> Scene {
    let bsp = Bsp::default();
    Scene {
        curves: CurveDetail::default(),
        name: "test".to_owned(),
        bsp: Arc::new(bsp),
        bounds: Aabb::EMPTY,
        vertices: Vec::new(),
        indices: Vec::new(),
        surfaces: Vec::new(),
        materials: Vec::new(),
        fogs: Vec::new(),
        images: Vec::new(),
        models: Vec::new(),
        doors: Vec::new(),
        lightmaps: LightmapPages::default(),
        deluxe: None,
        light_scale: LightScale::default(),
        light_styles: Vec::new(),
        slot_lights: Vec::new(),
        lighting: Lighting::default(),
        spawns: vec![SpawnPoint {
            eye: Vec3::new(1.0, 2.0, 3.0),
            yaw: 1.0,
            pitch: 0.0,
        }],
        map_source: None,
        surface_extras: None,
        sources: Sources::default(),
    }
}

pub(super) fn grids(side: f32, count: u32) -> Arc<GridSet> {
    let lattice = Lattice {
        origin: Vec3::ZERO,
        cell_size: Vec3::splat(side),
        counts: UVec3::splat(count),
    };
    let points = usize::try_from(lattice.len()).unwrap();
    Arc::new(GridSet {
        lighting: Lighting {
            light_grid: None,
            sh_grid: Some(Arc::new(ShGrid {
                lattice,
                points: Arc::new(vec![[[1.0; 3]; 9]; points]),
            })),
        },
        blocked_legacy: Vec::new(),
        blocked_sh: vec![false; points],
    })
}

fn open(state: &mut State, path: &str) -> u64 {
    match state.apply(Command::OpenPath(PathBuf::from(path))) {
        Some(Effect::LoadMap { revision, .. }) => revision,
        other => panic!("{other:?}"),
    }
}

fn loaded(revision: u64, path: &str) -> Command {
    let map = LoadedMap::new(
        revision,
        Arc::new(scene()),
        MapFile::Disk(PathBuf::from(path)),
        grids(64.0, 3),
        Vec::new(),
    );
    Command::MapLoaded(Box::new(map))
}

pub(super) fn with_map() -> State {
    let mut state = State::default();
    let revision = open(&mut state, "a.bsp");
    assert!(state.apply(loaded(revision, "a.bsp")).is_none());
    state
}

fn baked(state: &mut State) -> Arc<Baked> {
    let Some(Effect::StartBake { revision, .. }) = state.apply(Command::StartBake) else {
        panic!("no bake started")
    };
    let baked = Arc::new(Baked {
        report: BakeReport::default(),
        ..Baked::default()
    });
    state.apply(Command::BakeFinished {
        revision,
        baked: Arc::clone(&baked),
        grids: grids(32.0, 5),
        secs: 1.0,
    });
    baked
}

#[test]
fn loading_a_map_clears_the_selection_and_stands_at_the_spawn() {
    let mut state = with_map();
    assert_eq!(state.camera.eye, Vec3::new(1.0, 2.0, 3.0));
    let probe = ProbeRef {
        source: GridSource::Sh,
        index: 4,
    };
    state.apply(Command::SelectProbe(probe));
    state.apply(Command::PinSample(Vec3::ONE));
    assert_eq!(state.selected, Some(probe));
    let revision = open(&mut state, "b.bsp");
    assert_eq!(state.selected, Some(probe), "the old map stays until then");
    state.apply(loaded(revision, "b.bsp"));
    assert_eq!(state.selected, None);
    assert_eq!(state.options.sample.pinned, None);
}

#[test]
fn only_the_newest_load_counts() {
    let mut state = State::default();
    let first = open(&mut state, "a.bsp");
    let second = open(&mut state, "b.bsp");
    state.apply(loaded(first, "a.bsp"));
    assert!(state.map.is_none());
    state.apply(loaded(second, "b.bsp"));
    assert_eq!(
        state.map.as_ref().map(LoadedMap::file_name).as_deref(),
        Some("b.bsp")
    );
}

#[test]
fn a_failed_load_keeps_the_map_and_says_why() {
    let mut state = with_map();
    let revision = open(&mut state, "junk.bsp");
    state.apply(Command::LoadFailed {
        revision,
        message: "junk.bsp: not a supported BSP".to_owned(),
    });
    assert!(state.map.is_some() && state.loading.is_none());
    assert!(
        state
            .banner
            .as_ref()
            .unwrap()
            .text
            .contains("not a supported")
    );
    open(&mut state, "a.bsp");
}

#[test]
fn reloading_keeps_the_view() {
    let mut state = with_map();
    state.apply(Command::Fly(Vec3::new(10.0, 0.0, 5.0)));
    let eye = state.camera.eye;
    let Some(Effect::LoadMap {
        revision, source, ..
    }) = state.apply(Command::Reload)
    else {
        panic!("nothing to reload")
    };
    assert_eq!(source, LoadSource::Path(PathBuf::from("a.bsp")));
    state.apply(loaded(revision, "a.bsp"));
    assert_eq!(state.camera.eye, eye);
}

#[test]
fn a_finished_bake_is_shown_at_once_and_is_unsaved() {
    let mut state = with_map();
    baked(&mut state);
    let map = state.map.as_ref().unwrap();
    assert_eq!(map.side, Side::Baked);
    assert!(state.is_unsaved());
    let shown = |state: &State| state.map.as_ref().unwrap().shown().blocked_sh.len();
    assert_eq!(shown(&state), 125);
    state.apply(Command::ToggleBlink);
    assert_eq!(shown(&state), 27);
    state.apply(Command::ToggleBlink);
    assert_eq!(shown(&state), 125);
}

#[test]
fn a_finished_bake_for_an_older_map_is_dropped() {
    let mut state = with_map();
    let Some(Effect::StartBake { revision: old, .. }) = state.apply(Command::StartBake) else {
        panic!("no bake started")
    };
    // A running bake is not lost without a word.
    let asked = state.apply(Command::OpenPath(PathBuf::from("b.bsp")));
    assert!(asked.is_none() && state.pending.is_some());
    let Some(Effect::LoadMap { revision, .. }) = state.apply(Command::Discard) else {
        panic!("nothing was opened")
    };
    let effect = state.apply(loaded(revision, "b.bsp"));
    assert!(matches!(effect, Some(Effect::CancelBake)));
    state.apply(Command::BakeFinished {
        revision: old,
        baked: Arc::default(),
        grids: grids(32.0, 5),
        secs: 1.0,
    });
    let map = state.map.as_ref().unwrap();
    assert!(map.bake.is_none() && !state.is_unsaved());
    assert_eq!(state.baking, None);
}

#[test]
fn the_selection_moves_to_the_nearest_point_of_the_new_grid() {
    let mut state = with_map();
    let probe = ProbeRef {
        source: GridSource::Sh,
        index: 1,
    };
    state.apply(Command::SelectProbe(probe));
    baked(&mut state);
    // Point (64, 0, 0) is number 2 of the finer grid.
    assert_eq!(state.selected.map(|p| p.index), Some(2));
    state.apply(Command::ToggleBlink);
    assert_eq!(state.selected, Some(probe));
}

#[test]
fn saving_makes_the_bake_lighting_a() {
    let mut state = with_map();
    let baked = baked(&mut state);
    let Some(Effect::SaveBsp {
        revision,
        path,
        baked: Some(sent),
        ..
    }) = state.apply(Command::Save)
    else {
        panic!("no save started")
    };
    assert!(Arc::ptr_eq(&sent, &baked));
    assert_eq!(path, PathBuf::from("a.bsp"));
    state.apply(Command::Saved {
        revision,
        path,
        baked: Some(sent),
        scene: Arc::new(scene()),
        grids: grids(32.0, 5),
    });
    assert!(!state.is_unsaved() && state.saving.is_none());
    let map = state.map.as_ref().unwrap();
    assert_eq!(
        (map.side, map.original.blocked_sh.len()),
        (Side::Original, 125)
    );
}

/// A map whose file holds the SH grid in lump 18.
fn with_grid_in_lump() -> State {
    let mut state = with_map();
    let map = state.map.as_mut().unwrap();
    let scene = Scene {
        bsp: Arc::new(Bsp {
            sh_container: Some(ShContainer::V47),
            ..Bsp::default()
        }),
        ..scene()
    };
    map.scene = Arc::new(scene);
    state
}

#[test]
fn a_save_carries_the_place_of_the_sh_grid() {
    for container in ShContainer::ALL {
        let mut state = with_map();
        baked(&mut state);
        state.bake_form.sh_container = container;
        let Some(Effect::SaveBsp {
            container: sent, ..
        }) = state.apply(Command::Save)
        else {
            panic!("no save started")
        };
        assert_eq!(sent, container);
    }
}

#[test]
fn another_place_for_the_grid_is_something_to_save_without_a_bake() {
    let mut state = with_grid_in_lump();
    assert!(!state.can_save());
    assert!(state.apply(Command::Save).is_none());
    state.bake_form.sh_container = ShContainer::Bspx;
    assert!(state.can_save() && !state.is_unsaved());
    let Some(Effect::SaveBsp { baked: None, .. }) = state.apply(Command::Save) else {
        panic!("no save started")
    };
    assert!(!state.can_save(), "one at a time");
    // A map without a grid has none to move.
    let mut state = with_map();
    state.bake_form.sh_container = ShContainer::Sidecar;
    assert!(!state.can_save());
    assert!(state.apply(Command::Save).is_none());
}

#[test]
fn the_form_takes_the_place_of_the_opened_maps_grid() {
    let form = BakeForm {
        sh_container: ShContainer::Sidecar,
        ..BakeForm::default()
    };
    let map = with_grid_in_lump().map.unwrap();
    let found = form.clone().for_scene(&map.scene).sh_container;
    assert_eq!(found, ShContainer::V47);
    let kept = form.for_scene(&scene()).sh_container;
    assert_eq!(kept, ShContainer::Sidecar);
}

#[test]
fn a_file_that_somebody_else_changed_is_overwritten_only_after_a_yes() {
    let mut state = with_map();
    baked(&mut state);
    let saves = |effect: Option<Effect>| match effect {
        Some(Effect::SaveBsp { overwrite, .. }) => Some(overwrite),
        _ => None,
    };
    let blocked = || Command::SaveBlocked(PathBuf::from("a.bsp"));
    assert_eq!(saves(state.apply(Command::Save)), Some(false));
    assert!(state.apply(blocked()).is_none());
    assert_eq!(
        state.pending,
        Some(Pending::Overwrite(PathBuf::from("a.bsp")))
    );
    assert!(state.saving.is_none() && state.is_unsaved());
    // No, by either way.
    state.apply(Command::Escape);
    assert!(state.pending.is_none() && state.is_unsaved());
    state.apply(Command::Save);
    state.apply(blocked());
    assert!(state.apply(Command::KeepBake).is_none());
    assert!(state.pending.is_none() && state.is_unsaved());
    // Yes.
    state.apply(Command::Save);
    state.apply(blocked());
    assert_eq!(saves(state.apply(Command::Discard)), Some(true));
    assert_eq!(state.saving, Some(PathBuf::from("a.bsp")));
    assert!(state.pending.is_none());
}

#[test]
fn a_second_try_to_save_takes_the_error_away() {
    let mut state = with_map();
    baked(&mut state);
    state.apply(Command::Save);
    state.apply(Command::SaveFailed("disk full".to_owned()));
    assert!(state.banner.is_some() && state.saving.is_none() && state.is_unsaved());
    assert!(matches!(
        state.apply(Command::Save),
        Some(Effect::SaveBsp { .. })
    ));
    assert_eq!(state.banner, None);
}

#[test]
fn a_newer_bake_stays_unsaved_when_an_older_save_ends() {
    let mut state = with_map();
    baked(&mut state);
    let Some(Effect::SaveBsp {
        revision,
        path,
        baked: sent,
        ..
    }) = state.apply(Command::Save)
    else {
        panic!("no save started")
    };
    baked(&mut state);
    state.apply(Command::Saved {
        revision,
        path,
        baked: sent,
        scene: Arc::new(scene()),
        grids: grids(32.0, 5),
    });
    assert!(state.is_unsaved());
}

#[test]
fn a_read_only_map_asks_where_to_save() {
    let mut state = with_map();
    state.map.as_mut().unwrap().file = MapFile::Demo;
    baked(&mut state);
    let effect = state.apply(Command::Save);
    assert!(matches!(
        effect,
        Some(Effect::PickFile(FilePurpose::SaveAs))
    ));
}

#[test]
fn an_unsaved_bake_is_not_lost_without_a_yes() {
    let mut state = with_map();
    baked(&mut state);
    assert!(state.apply(Command::Quit).is_none());
    assert_eq!(state.pending, Some(Pending::Quit));
    state.apply(Command::KeepBake);
    assert!(state.apply(Command::OpenDemo).is_none());
    let effect = state.apply(Command::Discard);
    assert!(matches!(
        effect,
        Some(Effect::LoadMap {
            source: LoadSource::Demo,
            ..
        })
    ));
    assert!(matches!(
        State::default().apply(Command::Quit),
        Some(Effect::Quit)
    ));
}

#[test]
fn escape_cancels_then_clears_and_never_quits() {
    let mut state = with_map();
    state.apply(Command::StartBake);
    assert!(matches!(
        state.apply(Command::Escape),
        Some(Effect::CancelBake)
    ));
    let revision = state.baking.unwrap();
    state.apply(Command::BakeCancelled { revision });
    state.apply(Command::SelectProbe(ProbeRef {
        source: GridSource::Sh,
        index: 0,
    }));
    for _ in 0..5 {
        assert!(state.apply(Command::Escape).is_none());
    }
    assert_eq!(state.selected, None);
}

#[test]
fn probes_toggle_back_to_the_last_kind_and_cycle() {
    let mut state = State::default();
    state.apply(Command::SetProbes(ProbeShow::Legacy));
    state.apply(Command::ToggleProbes);
    assert_eq!(state.options.probes.show, ProbeShow::Off);
    state.apply(Command::ToggleProbes);
    assert_eq!(state.options.probes.show, ProbeShow::Legacy);
    for expected in [
        ProbeShow::Sh,
        ProbeShow::Both,
        ProbeShow::Off,
        ProbeShow::Legacy,
    ] {
        state.apply(Command::CycleProbes);
        assert_eq!(state.options.probes.show, expected);
    }
}

#[test]
fn picking_selects_pins_and_hovers() {
    let mut state = with_map();
    state.options.probes.show = ProbeShow::Sh;
    state.options.probes.distance = f32::INFINITY;
    let ray = Ray::new(Vec3::new(-100.0, 0.0, 0.0), Vec3::X);
    let effect = state.apply(Command::Click {
        ray,
        purpose: PickPurpose::Select,
    });
    assert!(matches!(effect, Some(Effect::Pick { .. })));
    let hit = |t: f32| SurfaceHit {
        surface: SurfaceId(0),
        first_index: 0,
        weights: Vec2::ZERO,
        t,
        position: ray.at(t),
        normal: Vec3::NEG_X,
    };
    let picked = |purpose, hit| Command::Picked { ray, purpose, hit };
    state.apply(picked(PickPurpose::Select, Some(hit(10.0))));
    assert_eq!(state.selected, None, "a wall is nearer");
    assert!(state.surface.is_some() && state.panels.tab == Tab::Surface);
    assert!(state.overlays().outline.is_some());
    state.apply(Command::Escape);
    assert!(state.surface.is_none(), "escape clears it");
    state.apply(picked(PickPurpose::Select, Some(hit(10.0))));
    state.apply(picked(PickPurpose::Select, Some(hit(1e6))));
    assert_eq!(state.selected.map(|p| p.index), Some(0));
    assert!(state.surface.is_none(), "a sphere is nearer");
    state.apply(picked(PickPurpose::Select, None));
    assert_eq!(state.selected.map(|p| p.index), Some(0));
    state.apply(picked(PickPurpose::Pin, Some(hit(50.0))));
    assert_eq!(state.sample_position(), Some(Vec3::new(-74.0, 0.0, 0.0)));
    state.apply(picked(PickPurpose::Hover, Some(hit(80.0))));
    assert_eq!(state.sample_position(), Some(Vec3::new(-44.0, 0.0, 0.0)));
    let overlays = state.overlays();
    assert!(overlays.sample.is_some() && overlays.selected.is_some());
    state.apply(Command::EndHover);
    assert_eq!(state.sample_position(), Some(Vec3::new(-74.0, 0.0, 0.0)));
}

#[test]
fn the_picture_keeps_its_height_when_it_gets_wider() {
    let mut state = State::default();
    state.apply(Command::SetViewport(Vec2::new(400.0, 300.0)));
    assert!((state.camera.fov_x.to_degrees() - 95.0).abs() < 1e-3);
    state.apply(Command::SetViewport(Vec2::new(1600.0, 900.0)));
    let tall = (state.camera.fov_x * 0.5).tan() * 9.0 / 16.0;
    assert!((tall - 47.5_f32.to_radians().tan() * 0.75).abs() < 1e-4);
}

#[test]
fn a_locked_view_stays_while_the_camera_flies() {
    let mut state = with_map();
    let from = state.camera.eye;
    state.apply(Command::ToggleLock);
    state.apply(Command::Fly(Vec3::X * 50.0));
    assert_eq!(state.options.visibility.locked_at, Some(from));
    assert_ne!(state.camera.eye, from);
    state.apply(Command::ToggleLock);
    assert_eq!(state.options.visibility.locked_at, None);
}

/// Asks for other curves; what the job would then be given.
fn divide(state: &mut State, curves: CurveDetail) -> (u64, Arc<Scene>) {
    state.options.curves = curves;
    let Some(Effect::DivideCurves {
        revision, scene, ..
    }) = state.refresh_curves()
    else {
        panic!("nothing to divide")
    };
    assert!(state.refresh_curves().is_none(), "one at a time");
    (revision, scene)
}

fn divided(state: &mut State, revision: u64, from: Arc<Scene>, curves: CurveDetail) {
    let scene = Arc::new(Scene { curves, ..scene() });
    state.apply(Command::CurvesDivided {
        revision,
        from,
        scene,
    });
}

fn shown_curves(state: &State) -> CurveDetail {
    state.map.as_ref().unwrap().scene.curves
}

#[test]
fn other_curves_leave_all_else_as_it_is() {
    let mut state = with_map();
    assert!(state.refresh_curves().is_none(), "as the map was loaded");
    let baked = baked(&mut state);
    state.camera.eye = Vec3::splat(7.0);
    state.selected = Some(ProbeRef {
        source: GridSource::Sh,
        index: 2,
    });
    let (camera, selected) = (state.camera, state.selected);
    let (revision, from) = divide(&mut state, CurveDetail::Highest);
    divided(&mut state, revision, from, CurveDetail::Highest);
    assert_eq!(shown_curves(&state), CurveDetail::Highest);
    assert!(state.refresh_curves().is_none());
    assert_eq!((state.camera, state.selected), (camera, selected));
    let bake = state.map.as_ref().unwrap().bake.as_ref().unwrap();
    assert!(Arc::ptr_eq(&bake.baked, &baked) && state.is_unsaved());
    // A map that is opened then has them from the beginning.
    state.apply(Command::OpenDemo);
    let effect = state.apply(Command::Discard);
    assert!(matches!(
        effect,
        Some(Effect::LoadMap {
            curves: CurveDetail::Highest,
            ..
        })
    ));
}

#[test]
fn curves_of_an_older_scene_are_dropped_and_asked_for_again() {
    let mut state = with_map();
    let (revision, from) = divide(&mut state, CurveDetail::Low);
    // A save ends before: its scene has the new file's contents.
    state.map.as_mut().unwrap().scene = Arc::new(scene());
    divided(&mut state, revision, from, CurveDetail::Low);
    assert_eq!(shown_curves(&state), CurveDetail::High);
    let (revision, from) = divide(&mut state, CurveDetail::Low);
    // Another map is opened before.
    let other = open(&mut state, "b.bsp");
    state.apply(loaded(other, "b.bsp"));
    divided(&mut state, revision, from, CurveDetail::Low);
    assert_eq!(shown_curves(&state), CurveDetail::High);
    // A job that fails is not started over and over.
    let (revision, _) = divide(&mut state, CurveDetail::Low);
    let message = "no memory".to_owned();
    state.apply(Command::CurvesFailed { revision, message });
    assert_eq!(state.options.curves, CurveDetail::High);
    assert!(state.refresh_curves().is_none());
}
