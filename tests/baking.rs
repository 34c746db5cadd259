//! What the window shows while a bake runs: real jobs, the state and the renderer, without a window.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; figures are shown on request"
)]

#[path = "support/adapter.rs"]
mod adapter;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter::adapter;
use glam::Vec3;
use image::RgbaImage;
use luxgrid::app::{Effects, Performed, ShownGrids};
use luxgrid::render::{Gpu, GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::vfs::SearchOptions;
use luxgrid::view::{Command, Effect, LoadedMap, Overlays, ProbeShow, ShCellBy, State};

/// Long enough for any job here on a loaded machine.
const DEADLINE: Duration = Duration::from_mins(3);
/// Size of the picture, pixels.
const SIZE: (u32, u32) = (480, 300);

/// The program as its window has it: a frame takes news in, uploads a part and draws.
struct Program {
    gpu: Gpu,
    renderer: Renderer,
    scene: GpuScene,
    shown: ShownGrids,
    state: State,
    effects: Effects,
    /// When the bake was asked for.
    pressed: Instant,
}

/// One frame.
struct Frame {
    picture: RgbaImage,
    secs: f32,
}

fn perform(state: &mut State, effects: &mut Effects, command: Command) {
    let mut next = state.apply(command);
    while let Some(effect) = next {
        assert!(!matches!(effect, Effect::Quit));
        next = match effects.perform(effect) {
            Performed::Done(answer) => state.apply(answer),
            Performed::Started | Performed::NeedsWindow(_) => None,
        };
    }
}

impl Program {
    /// The demo with spheres of the SH grid.
    fn open() -> Option<Self> {
        let gpu = adapter()?;
        let mut state = State::default();
        let mut effects = Effects::new(SearchOptions::default(), || {});
        perform(&mut state, &mut effects, Command::OpenDemo);
        let started = Instant::now();
        while state.map.is_none() {
            assert!(started.elapsed() < DEADLINE);
            for command in effects.poll() {
                perform(&mut state, &mut effects, command);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        state.apply(Command::SetProbes(ProbeShow::Sh));
        let renderer = Renderer::new(&gpu).unwrap();
        let scene = GpuScene::upload(&gpu, &state.map.as_ref().unwrap().scene).unwrap();
        Some(Self {
            gpu,
            renderer,
            scene,
            shown: ShownGrids::default(),
            state,
            effects,
            pressed: Instant::now(),
        })
    }

    fn command(&mut self, command: Command) {
        perform(&mut self.state, &mut self.effects, command);
    }

    fn bake(&mut self, sh_cell: f32) {
        let form = &mut self.state.bake_form;
        form.sh_by = ShCellBy::Sides;
        form.sh_cell = Vec3::splat(sh_cell);
        form.threads = 1;
        self.pressed = Instant::now();
        self.command(Command::StartBake);
        assert!(self.state.baking.is_some());
    }

    fn map(&self) -> &LoadedMap {
        self.state.map.as_ref().unwrap()
    }

    fn frame(&mut self) -> Frame {
        let began = Instant::now();
        for command in self.effects.poll() {
            self.command(command);
        }
        while began.elapsed() < Duration::from_millis(6)
            && let Some(command) = self.effects.poll_bake()
        {
            self.command(command);
        }
        let map = self.state.map.as_ref().unwrap();
        let options = &self.state.options;
        self.shown.upload(&self.gpu, map, options).unwrap();
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &self.scene,
            self.shown.get(map),
            &self.state.camera,
            options,
            &Overlays::default(),
            0.0,
        );
        Frame {
            picture: picture.unwrap(),
            secs: began.elapsed().as_secs_f32(),
        }
    }

    /// The picture of the grids alone, uploaded at once and afresh.
    fn expected(&mut self) -> RgbaImage {
        let kept = Arc::clone(self.map().kept());
        let (legacy, sh) = (&kept.blocked_legacy, &kept.blocked_sh);
        let grids = GpuGrids::upload(&self.gpu, &kept.lighting, legacy, sh).unwrap();
        let picture = render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &self.scene,
            Some(&grids),
            &self.state.camera,
            &self.state.options,
            &Overlays::default(),
            0.0,
        );
        picture.unwrap()
    }
}

/// Share of pixels that differ visibly.
fn difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let pairs = a.pixels().zip(b.pixels());
    let differ = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 24)
    };
    pairs.filter(differ).count() as f64 / f64::from(a.width() * a.height())
}

fn save(name: &str, picture: &RgbaImage) {
    if let Some(folder) = std::env::var_os("BAKING_PICTURES").map(PathBuf::from) {
        picture.save(folder.join(format!("{name}.png"))).unwrap();
    }
}

/// The story of the window: another grid size, bake; soon a coarse picture of the whole map, which becomes finer until it is
/// exactly the result, while frames go on.
#[test]
fn a_bake_is_seen_coming() {
    let Some(mut program) = Program::open() else {
        return;
    };
    let old = program.frame();
    let plain = old.secs;
    program.bake(40.0);
    let mut first = None;
    let mut steps = 0;
    let mut frames: Vec<f32> = Vec::new();
    let mut pictures: Vec<RgbaImage> = Vec::new();
    while program.state.baking.is_some() || program.shown.is_catching_up(program.map()) {
        assert!(program.pressed.elapsed() < DEADLINE);
        // As the window, which draws thirty times a second.
        std::thread::sleep(Duration::from_millis(33));
        let frame = program.frame();
        frames.push(frame.secs);
        if let Some(step) = program.shown.draft_step() {
            steps = step;
            first.get_or_insert(program.pressed.elapsed().as_secs_f32());
            pictures.push(frame.picture);
        } else if pictures.is_empty() && program.state.baking.is_some() {
            assert!(
                frame.picture == old.picture,
                "the old grids stay until then"
            );
        }
    }
    let baked = program.pressed.elapsed().as_secs_f32();
    let last = program.frame().picture;
    let expected = program.expected();
    let first = first.expect("the bake is long enough to be seen");
    frames.sort_by(f32::total_cmp);
    let [most, worst] = [frames.len() * 19 / 20, frames.len() - 1].map(|rank| frames[rank]);
    println!(
        "first picture {first:.2} s, all {baked:.2} s; {} pictures, worst frame {:.0} ms, before {:.0} ms",
        pictures.len(),
        worst * 1e3,
        plain * 1e3
    );
    save("0-old", &old.picture);
    save("1-first", &pictures[0]);
    save("2-middle", &pictures[pictures.len() / 2]);
    save("3-last", &last);

    // Bars of an unoptimised build on a loaded machine; docs/performance.md has the real figures.
    assert!(first < 2.0, "{first} s");
    assert!(most < 0.3 && worst < 1.0, "{most} s, {worst} s");
    assert!(pictures.len() > 5, "{} pictures", pictures.len());

    // The window draws anew for each; a part is uploaded every tenth of a second.
    assert!(steps > 3, "{steps} steps");
    assert!(last == expected, "the result is what is shown in the end");
    let away: Vec<f64> = pictures.iter().map(|p| difference(p, &last)).collect();
    // Every sphere is there from the first picture on, lit nearly as in the end.
    let spheres = difference(&old.picture, &last);
    assert!(away[0] < spheres / 3.0, "{} {spheres}", away[0]);
    assert!(away[away.len() - 1] <= away[0]);
    // It only comes nearer to the result: neither flickers nor falls back.
    for pair in away.windows(2) {
        assert!(pair[1] <= pair[0] + 2e-3, "{away:?}");
    }
}

#[test]
fn a_stopped_bake_leaves_the_picture_as_it_was() {
    let Some(mut program) = Program::open() else {
        return;
    };
    let old = program.frame().picture;
    for round in 0..2 {
        program.bake(24.0);
        while program.map().shown_draft().is_none() {
            assert!(program.pressed.elapsed() < DEADLINE);
            program.frame();
        }
        assert!(program.frame().picture != old, "round {round}");
        program.command(Command::CancelBake);
        let cancelled = Instant::now();
        while program.state.baking.is_some() {
            assert!(cancelled.elapsed() < DEADLINE);
            program.frame();
        }
        assert!(program.frame().picture == old, "round {round}");
    }
}
