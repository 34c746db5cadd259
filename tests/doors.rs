//! Doors and areas in a map of two rooms with a door in an area portal between them.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use std::path::Path;
use std::sync::Arc;

use glam::Vec3;
use image::RgbaImage;
use luxgrid::job::JobContext;
use luxgrid::math::Ray;
use luxgrid::render::{Gpu, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, Opening, Scene, SurfaceId};
use luxgrid::trace::Picker;
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{
    Camera, Command, DoorStates, Effect, LoadedMap, MapFile, Overlays, PickPurpose, State,
    SurfaceHit, ViewOptions,
};
use support::adapter::adapter;

/// In the middle of the western room, before the door.
const WEST: Vec3 = Vec3::new(-200.0, 0.0, 64.0);
/// In the eastern room.
const EAST: Vec3 = Vec3::new(120.0, -100.0, 64.0);
/// The doorway is between x = −8 and 8.
const WALL: f32 = 8.0;
/// What is in the eastern room alone: its two end walls and a pillar of six sides.
const EASTERN: [u32; 8] = [6, 10, 17, 18, 19, 20, 21, 22];
const SIZE: (u32, u32) = (160, 120);

fn rooms() -> Scene {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
    let path = data.join("quake3.pk3/maps/m09_areas.bsp");
    let map = open_map(&path, &SearchOptions::default()).unwrap();
    scene::build(&map, &JobContext::default()).unwrap()
}

fn east_of(camera_at: Vec3) -> Camera {
    Camera {
        eye: camera_at,
        fov_x: 90_f32.to_radians(),
        ..Camera::default()
    }
}

struct Stand {
    gpu: Gpu,
    renderer: Renderer,
    scene: Scene,
    uploaded: GpuScene,
}

impl Stand {
    fn new() -> Option<Self> {
        let gpu = adapter()?;
        let scene = rooms();
        Some(Self {
            renderer: Renderer::new(&gpu).unwrap(),
            uploaded: GpuScene::upload(&gpu, &scene).unwrap(),
            scene,
            gpu,
        })
    }

    fn picture(&mut self, eye: Vec3, options: &ViewOptions) -> RgbaImage {
        render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &self.uploaded,
            None,
            &east_of(eye),
            options,
            &Overlays::default(),
            0.0,
        )
        .unwrap()
    }

    /// Drawn surfaces that are altogether in the eastern room; floor, ceiling and side walls belong to both rooms.
    fn eastern(&self, eye: Vec3, options: &ViewOptions) -> Vec<SurfaceId> {
        let mut seen = self.uploaded.seen_from(&self.gpu, eye, options);
        seen.retain(|id| {
            let surface = &self.scene.surfaces[id.0 as usize];
            !surface.indices.is_empty() && surface.bounds.min.x >= WALL
        });
        seen
    }

    fn shut(&self) -> ViewOptions {
        let mut options = ViewOptions::default();
        options.adapt_to(&self.scene);
        options.doors.closed = true;
        options.background = [255, 0, 255];
        options
    }

    fn open(&self) -> ViewOptions {
        let mut options = self.shut();
        options.doors.toggle(&self.scene.doors, 0);
        options
    }
}

/// Share of the pixels that nothing was drawn to.
fn empty_share(picture: &RgbaImage) -> f64 {
    let empty = picture
        .pixels()
        .filter(|pixel| pixel.0 == [255, 0, 255, 255]);
    empty.count() as f64 / f64::from(SIZE.0 * SIZE.1)
}

/// Share of the pixels that differ.
fn changed_share(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let pairs = a.pixels().zip(b.pixels());
    pairs.filter(|(a, b)| a != b).count() as f64 / f64::from(SIZE.0 * SIZE.1)
}

#[test]
fn the_door_stands_between_the_two_areas() {
    let scene = rooms();
    assert_eq!(scene.area_count(), 2);
    let [door] = scene.doors.as_slice() else {
        panic!("{:?}", scene.doors);
    };
    assert_eq!(door.areas, Some([0, 1]));
    // 128 wide, 8 of them stay: northwards by `angle 90`.
    let Opening::Slides(by) = door.opening else {
        panic!("{door:?}");
    };
    assert!(by.abs_diff_eq(Vec3::Y * 120.0, 1e-3), "{by}");
    let of_door = scene
        .surfaces
        .iter()
        .find(|surface| surface.model == door.model);
    assert_eq!(scene.door_of(of_door.unwrap().id), Some(0));
    let all = DoorStates::default();
    let area = |point: Vec3| scene::leaf_of(&scene.bsp, point).unwrap().area;
    assert_ne!(area(WEST), area(EAST));
    let from_west = all.areas_from(&scene.doors, 2, area(WEST));
    assert!(from_west.holds(area(EAST)));
}

#[test]
fn a_shut_door_hides_the_room_behind_it_and_an_open_one_shows_it() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let (shut, open) = (stand.shut(), stand.open());
    let untouched = ViewOptions {
        doors: DoorStates::default(),
        ..shut
    };
    assert_eq!(stand.eastern(WEST, &shut), []);
    let shown = stand.eastern(WEST, &open);
    assert_eq!(shown, EASTERN.map(SurfaceId));
    assert_eq!(
        stand.eastern(WEST, &untouched),
        shown,
        "portals are open by default"
    );
    assert!(
        !stand.eastern(EAST, &shut).is_empty(),
        "one's own room stays"
    );

    let [shut, open, untouched] =
        [shut, open, untouched].map(|options| stand.picture(WEST, &options));
    // The doorway is 128 × 128 of a wall 400 units wide in the picture; the door fills all of it or its last eight units.
    let opened = changed_share(&shut, &open);
    assert!((0.05..0.15).contains(&opened), "{opened}");
    assert_eq!(shut, untouched, "drawn shut as in the file");
    assert!(
        empty_share(&open) < 0.001,
        "the eastern room fills the doorway"
    );
}

#[test]
fn a_locked_view_keeps_to_what_the_door_lets_through() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let (mut shut, mut open) = (stand.shut(), stand.open());
    for options in [&mut shut, &mut open] {
        options.visibility.locked_at = Some(WEST);
    }
    // The camera has flown into the eastern room; what is drawn is what can be seen from the western one.
    assert_eq!(stand.eastern(EAST, &shut), []);
    assert_eq!(stand.eastern(EAST, &open), EASTERN.map(SurfaceId));
    let (nothing, room) = (stand.picture(EAST, &shut), stand.picture(EAST, &open));
    assert!(
        (0.2..0.4).contains(&empty_share(&nothing)),
        "{}",
        empty_share(&nothing)
    );
    assert!(empty_share(&room) < 0.001, "{}", empty_share(&room));
    // The far wall, which is all that the rooms don't share, is missing and there again.
    // Everything is drawn all the same on demand.
    shut.visibility.draws_all = true;
    assert_eq!(stand.eastern(EAST, &shut), EASTERN.map(SurfaceId));
    assert!(empty_share(&stand.picture(EAST, &shut)) < 0.001);
}

#[test]
fn what_is_seen_follows_the_door_there_and_back() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let (shut, open) = (stand.shut(), stand.open());
    let first = stand.picture(WEST, &shut);
    let between = stand.picture(WEST, &open);
    assert_ne!(first, between);
    let mut again = open;
    again.doors.toggle(&stand.scene.doors, 0);
    assert_eq!(stand.picture(WEST, &again), first);
}

#[test]
fn a_click_meets_the_door_where_it_stands_now() {
    let scene = rooms();
    let picker = Picker::new(&scene);
    let model = |y: f32, is_open: bool| {
        let ray = Ray::new(Vec3::new(-200.0, y, 64.0), Vec3::X);
        let hit = picker.pick_with_doors(&scene, &ray, |_| is_open).unwrap();
        scene.surfaces[hit.surface.0 as usize].model
    };
    // Shut it fills the doorway from −64 to 64; open only 8 units of it, and behind it stands the pillar, model 2.
    assert_eq!(model(0.0, false), 1);
    assert_eq!(model(0.0, true), 2);
    assert_eq!(model(60.0, true), 1);
    assert_eq!(model(-60.0, true), 0);
    let ray = Ray::new(Vec3::new(-200.0, 60.0, 64.0), Vec3::X);
    let hit = picker.pick_with_doors(&scene, &ray, |_| true).unwrap();
    assert!(hit.position.abs_diff_eq(Vec3::new(-6.0, 60.0, 64.0), 1e-2));
}

#[test]
fn a_click_opens_the_door_and_the_next_shuts_it_and_its_portal() {
    let scene = Arc::new(rooms());
    let picker = Picker::new(&scene);
    let file = MapFile::Demo;
    let map = LoadedMap::new(1, Arc::clone(&scene), file, Arc::default(), Vec::new());
    let mut state = State::default();
    state.map = Some(map);
    let click = |state: &mut State, y: f32| {
        let ray = Ray::new(Vec3::new(-200.0, y, 64.0), Vec3::X);
        let purpose = PickPurpose::Select;
        let effect = state.apply(Command::Click { ray, purpose });
        let Some(Effect::Pick { doors, .. }) = effect else {
            panic!("{effect:?}");
        };
        let is_open = |door: usize| doors.is_drawn_open(&scene.doors, door);
        let hit = picker.pick_with_doors(&scene, &ray, is_open).unwrap();
        let hit = Some(SurfaceHit {
            surface: hit.surface,
            first_index: hit.first_index,
            weights: hit.weights,
            t: hit.t,
            position: hit.position,
            normal: hit.normal,
        });
        state.apply(Command::Picked { ray, purpose, hit });
        let doors = &state.options.doors;
        (
            doors.is_drawn_open(&scene.doors, 0),
            doors.is_portal_open(0),
        )
    };
    assert_eq!(click(&mut state, 100.0), (false, true), "a wall");
    assert_eq!(click(&mut state, 0.0), (true, true));
    assert_eq!(
        click(&mut state, 0.0),
        (true, true),
        "through the open doorway"
    );
    assert_eq!(click(&mut state, 60.0), (false, false));
    assert_eq!(click(&mut state, 0.0), (true, true));
}
