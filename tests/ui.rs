//! The window without a window: panels, state and real jobs, driven through the widgets by their accessible names.
#![cfg(feature = "viewer")]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exemption covers only the test functions themselves"
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use glam::Vec2;
use luxgrid::app::{Effects, Performed};
use luxgrid::format::bsp::{ShContainer, ShGrid, SurfaceKind};
use luxgrid::math::colour::Overbright;
use luxgrid::scene::CurveDetail;
use luxgrid::ui::{Model, apply_theme, root_ui};
use luxgrid::vfs::SearchOptions;
use luxgrid::view::{Command, Level, ProbeShow, RenderMode, Side, State, Tab};

/// Long enough for any job here on a loaded machine.
const DEADLINE: Duration = Duration::from_mins(2);

/// State and jobs as the program has them; effects that need a window are kept for the test to look at.
struct Program {
    state: State,
    effects: Effects,
    themed: bool,
}

impl Program {
    fn new() -> Self {
        Self {
            state: State::default(),
            effects: Effects::new(SearchOptions::default(), || {}),
            themed: false,
        }
    }

    fn command(&mut self, command: Command) {
        let effect = self.state.apply(command);
        self.perform(effect);
    }

    fn perform(&mut self, mut next: Option<luxgrid::view::Effect>) {
        while let Some(effect) = next {
            next = match self.effects.perform(effect) {
                Performed::Done(answer) => self.state.apply(answer),
                Performed::Started | Performed::NeedsWindow(_) => None,
            };
        }
    }

    fn ui(&mut self, ui: &mut egui::Ui) {
        if !self.themed {
            apply_theme(ui.ctx());
            self.themed = true;
        }
        for command in self.effects.poll() {
            self.command(command);
        }
        while let Some(command) = self.effects.poll_bake() {
            self.command(command);
        }
        let plan = self.state.refresh_plan();
        self.perform(plan);
        let curves = self.state.refresh_curves();
        self.perform(curves);
        let (mut options, mut form) = (self.state.options, self.state.bake_form.clone());
        let model = Model {
            state: &self.state,
            progress: self.effects.progress(),
            picture: None,
            frames_per_sec: None,
            cores: 4,
            bake_pace: None,
        };
        let commands = root_ui(ui, &model, &mut options, &mut form);
        self.state.options = options;
        self.state.bake_form = form;
        for command in commands {
            self.command(command);
        }
    }

    fn sh_points(&self) -> usize {
        let grids = self.state.map.as_ref().unwrap().shown();
        grids
            .lighting
            .sh_grid
            .as_ref()
            .map_or(0, |grid| grid.points.len())
    }

    fn legacy_points(&self) -> usize {
        let grids = self.state.map.as_ref().unwrap().shown();
        grids
            .lighting
            .light_grid
            .as_ref()
            .map_or(0, |grid| grid.points.len())
    }
}

fn harness() -> Harness<'static, Program> {
    Harness::builder()
        .with_size([1600.0, 1000.0])
        .build_ui_state(|ui, program: &mut Program| program.ui(ui), Program::new())
}

/// Steps until `is_done`; a running job never lets the panels settle, so `run` would not do.
fn wait(harness: &mut Harness<'_, Program>, what: &str, is_done: impl Fn(&Program) -> bool) {
    let started = Instant::now();
    while !is_done(harness.state()) {
        assert!(started.elapsed() < DEADLINE, "{what} took too long");
        harness.step();
        std::thread::sleep(Duration::from_millis(2));
    }
    harness.run_steps(2);
}

fn open(harness: &mut Harness<'_, Program>, path: &Path) {
    harness
        .state_mut()
        .command(Command::OpenPath(path.to_owned()));
    wait(harness, "opening", |program| {
        program.state.loading.is_none()
    });
}

fn open_demo(harness: &mut Harness<'_, Program>) {
    harness.state_mut().command(Command::OpenDemo);
    wait(harness, "opening", |program| {
        program.state.loading.is_none()
    });
    assert!(
        harness.state().state.map.is_some(),
        "{:?}",
        harness.state().state.log
    );
}

fn click(harness: &mut Harness<'_, Program>, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

/// Types a number into a field, as a person does: click, select, type, Enter.
fn enter(harness: &mut Harness<'_, Program>, label: &str, number: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(2);
    harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    harness.run_steps(1);
    harness.event(egui::Event::Text(number.to_owned()));
    harness.run_steps(1);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(3);
}

fn demo_on_disk(folder: &Path) -> PathBuf {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    let maps = folder.join("maps");
    std::fs::create_dir_all(&maps).unwrap();
    for name in ["atrium.bsp", "atrium.map", "atrium.srf"] {
        std::fs::copy(demo.join("maps").join(name), maps.join(name)).unwrap();
    }
    maps.join("atrium.bsp")
}

#[expect(clippy::too_many_lines, reason = "one story, told in order")]
#[test]
fn resizing_baking_cancelling_saving_and_reloading() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let mut harness = harness();
    open(&mut harness, &path);
    assert!(
        harness.state().state.map.is_some(),
        "{:?}",
        harness.state().state.log
    );
    let (old_legacy, old_sh) = (harness.state().legacy_points(), harness.state().sh_points());

    click(&mut harness, "Bake tab");
    assert_eq!(harness.state().state.panels.tab, Tab::Bake);
    click(&mut harness, "Sides");
    for axis in ["x", "y", "z"] {
        enter(&mut harness, &format!("SH cell {axis}"), "24");
    }
    assert_eq!(
        harness.state().state.bake_form.sh_cell,
        glam::Vec3::splat(24.0)
    );

    // A fine grid takes long enough to be cancelled.
    click(&mut harness, "Bake F5");
    assert!(harness.state().state.baking.is_some());
    harness.get_by_label("Bake progress of the form");
    click(&mut harness, "Cancel bake");
    wait(&mut harness, "cancelling", |program| {
        program.state.baking.is_none()
    });
    assert!(harness.state().state.map.as_ref().unwrap().bake.is_none());
    assert_eq!(harness.state().sh_points(), old_sh);

    for (label, number) in [
        ("Legacy cell x", "128"),
        ("Legacy cell y", "128"),
        ("SH cell x", "96"),
        ("SH cell y", "96"),
        ("SH cell z", "128"),
    ] {
        enter(&mut harness, label, number);
    }
    harness.get_by_label_contains("-sh -gridsize 128 128 128 -gridsh 96 96 128");
    wait(&mut harness, "planning", |program| {
        let map = program.state.map.as_ref().unwrap();
        let plan = program.state.plan.as_ref();
        plan.is_some_and(|plan| plan.is_for(map.revision, &program.state.bake_form))
    });
    harness.get_by_label_contains(" pts · SH ");
    click(&mut harness, "Bake F5");
    wait(&mut harness, "baking", |program| {
        program.state.baking.is_none()
    });
    let map = harness.state().state.map.as_ref().unwrap();
    let bake = map.bake.clone().expect("the bake arrived");
    assert_eq!(map.side, Side::Baked);
    assert!(harness.state().sh_points() < old_sh);
    assert!(harness.state().legacy_points() < old_legacy);
    harness.get_by_label("Save ●");

    // B blinks back to the file's grid and forth again.
    harness.key_press(egui::Key::B);
    harness.run_steps(2);
    assert_eq!(harness.state().sh_points(), old_sh);
    harness.key_press(egui::Key::B);
    harness.run_steps(2);

    let saved = folder.path().join("maps/new.bsp");
    harness.state_mut().command(Command::SaveAs(saved.clone()));
    wait(&mut harness, "saving", |program| {
        program.state.saving.is_none()
    });
    assert!(
        !harness.state().state.is_unsaved(),
        "{:?}",
        harness.state().state.log
    );
    let baked_lighting = bake.grids.lighting.clone();
    let lighting = |harness: &Harness<'_, Program>| {
        harness
            .state()
            .state
            .map
            .as_ref()
            .unwrap()
            .original
            .lighting
            .clone()
    };
    assert!(
        lighting(&harness) == baked_lighting,
        "lighting A is what was saved"
    );

    open(&mut harness, &saved);
    assert_eq!(
        harness.state().state.map.as_ref().unwrap().scene.name,
        "new"
    );
    assert!(
        lighting(&harness) == baked_lighting,
        "the file holds what was baked"
    );
}

#[test]
fn a_bake_of_the_legacy_grid_alone_shows_that_the_sh_grid_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let mut harness = harness();
    open(&mut harness, &path);
    click(&mut harness, "Bake tab");
    click(&mut harness, "SH (lump 18)");
    wait(&mut harness, "planning", |program| {
        let map = program.state.map.as_ref().unwrap();
        let plan = program.state.plan.as_ref();
        plan.is_some_and(|plan| plan.is_for(map.revision, &program.state.bake_form))
    });
    harness.get_by_label_contains("SH grid is taken out");
    click(&mut harness, "Bake F5");
    wait(&mut harness, "baking", |program| {
        program.state.baking.is_none()
    });
    let map = harness.state().state.map.as_ref().unwrap();
    let shown = map.bake.as_ref().unwrap().grids.lighting.clone();
    assert!(shown.light_grid.is_some() && shown.sh_grid.is_none());
    harness.state_mut().command(Command::Save);
    wait(&mut harness, "saving", |program| {
        program.state.saving.is_none()
    });
    let map = harness.state().state.map.as_ref().unwrap();
    assert!(map.bake.is_none() && map.original.lighting == shown);
}

fn sh_grid(program: &Program) -> ShGrid {
    let lighting = &program.state.map.as_ref().unwrap().original.lighting;
    lighting.sh_grid.as_deref().unwrap().clone()
}

/// Each place in turn, as a mapper moves a grid that is there: saved, shown, and read back the same.
#[test]
fn the_sh_grid_is_saved_in_each_of_the_three_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let beside = path.with_extension("shgrid");
    let mut harness = harness();
    open(&mut harness, &path);
    let grid = sh_grid(harness.state());
    click(&mut harness, "Bake tab");
    for (label, container, version) in [
        ("BSPX block in the map", ShContainer::Bspx, 46),
        ("File beside the map", ShContainer::Sidecar, 46),
        ("Map, version 47", ShContainer::V47, 47),
        ("File beside the map", ShContainer::Sidecar, 46),
        ("BSPX block in the map", ShContainer::Bspx, 46),
    ] {
        click(&mut harness, label);
        harness.get_by_label_contains(&format!("--sh-container {}", container.word()));
        click(&mut harness, "Save ●");
        wait(&mut harness, "saving", |program| {
            program.state.saving.is_none()
        });
        let log = &harness.state().state.log;
        assert!(!harness.state().state.can_save(), "{log:?}");
        assert!(log.last().unwrap().text.contains("SH grid in"), "{log:?}");
        assert_eq!(sh_grid(harness.state()), grid);
        assert_eq!(beside.exists(), container == ShContainer::Sidecar);
        let written = luxgrid::format::bsp::read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(written.directory.variant.version, version, "{label}");
        // From the file again.
        open(&mut harness, &path);
        let map = harness.state().state.map.as_ref().unwrap();
        assert_eq!(map.scene.bsp.sh_container, Some(container));
        // The materials are not beside this copy.
        let others = map.warnings.iter().filter(|warning| warning.code != "W120");
        assert_eq!(others.count(), 0, "{label}: {:?}", map.warnings);
        assert_eq!(sh_grid(harness.state()), grid);
        assert_eq!(harness.state().state.bake_form.sh_container, container);
    }
}

/// A bake without an SH grid takes the file beside the map along: it would bring the old grid back.
#[test]
fn a_grid_beside_the_map_goes_when_a_bake_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let beside = path.with_extension("shgrid");
    let mut harness = harness();
    open(&mut harness, &path);
    harness.state_mut().state.bake_form.sh_container = ShContainer::Sidecar;
    harness.state_mut().command(Command::Save);
    let is_saved = |program: &Program| program.state.saving.is_none();
    wait(&mut harness, "saving", is_saved);
    assert!(beside.exists());
    harness.state_mut().state.bake_form.sh = false;
    harness.state_mut().state.bake_form.legacy_cell = glam::Vec3::splat(128.0);
    harness.state_mut().command(Command::StartBake);
    wait(&mut harness, "baking", |program| {
        program.state.baking.is_none()
    });
    harness.state_mut().command(Command::Save);
    wait(&mut harness, "saving", is_saved);
    assert!(!beside.exists());
    open(&mut harness, &path);
    let map = harness.state().state.map.as_ref().unwrap();
    assert!(map.original.lighting.sh_grid.is_none());
    // Neither a grid nor one to be baked: nothing to choose.
    click(&mut harness, "Bake tab");
    let node = harness.get_by_label("File beside the map");
    assert!(node.accesskit_node().is_disabled());
}

#[test]
fn maps_without_lump_18_offer_the_other_places() {
    let variants = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
    let mut harness = harness();
    open(&mut harness, &variants.join("ja.pk3/maps/m11_styles.bsp"));
    click(&mut harness, "Bake tab");
    let is_disabled = |harness: &Harness<'_, Program>, label: &str| {
        let node = harness.get_by_label(label);
        node.accesskit_node().is_disabled()
    };
    assert!(is_disabled(&harness, "Map, version 47"));
    assert!(!is_disabled(&harness, "BSPX block in the map"));
    assert!(!is_disabled(&harness, "File beside the map"));
    let form = &harness.state().state.bake_form;
    assert_eq!(form.sh_container, ShContainer::Bspx);
}

/// Modes, overbright and light styles follow the map that is open.
#[test]
fn the_view_starts_as_the_maps_game_shows_it() {
    let variants = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
    let mut harness = harness();
    open(&mut harness, &variants.join("ja.pk3/maps/m11_styles.bsp"));
    let options = |harness: &Harness<'_, Program>| harness.state().state.options;
    assert_eq!(options(&harness).overbright, Overbright::Bits(0));
    // Without deluxe maps the button does nothing.
    click(&mut harness, "More modes");
    click(&mut harness, "Deluxe");
    assert_eq!(options(&harness).mode, RenderMode::Lit);
    harness
        .state_mut()
        .command(Command::SetMode(RenderMode::Deluxe));
    harness.run();
    assert_eq!(options(&harness).mode, RenderMode::Lit);
    assert!(harness.query_all_by_label("Style 3").next().is_some());
    harness.state_mut().state.options.styles.percent[3] = 40;

    open(
        &mut harness,
        &variants.join("xonotic.pk3/maps/m02_occluder.bsp"),
    );
    assert_eq!(options(&harness).overbright, Overbright::Bits(1));
    assert_eq!(options(&harness).styles.percent[3], 100);
    assert!(harness.query_all_by_label("Style 3").next().is_none());
    click(&mut harness, "More modes");
    click(&mut harness, "Deluxe");
    assert_eq!(options(&harness).mode, RenderMode::Deluxe);

    open_demo(&mut harness);
    assert_eq!(options(&harness).mode, RenderMode::Lit);
    assert_eq!(options(&harness).overbright, Overbright::ENGINE);
}

#[test]
fn a_file_changed_on_disk_is_not_overwritten_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let mut harness = harness();
    open(&mut harness, &path);
    let bake = |harness: &mut Harness<'_, Program>| {
        harness.state_mut().state.bake_form.sh = false;
        harness.state_mut().state.bake_form.legacy_cell = glam::Vec3::splat(256.0);
        harness.state_mut().command(Command::StartBake);
        wait(harness, "baking", |program| program.state.baking.is_none());
        assert!(harness.state().state.is_unsaved());
    };
    let save = |harness: &mut Harness<'_, Program>| {
        harness.state_mut().command(Command::Save);
        wait(harness, "saving", |program| program.state.saving.is_none());
    };
    bake(&mut harness);
    std::fs::write(&path, "of somebody else").unwrap();
    let theirs = || std::fs::read(&path).unwrap() == b"of somebody else";

    save(&mut harness);
    harness.get_by_label_contains("was changed on disk since it was opened");
    assert!(theirs());
    click(&mut harness, "Cancel");
    assert!(
        harness
            .query_by_label_contains("was changed on disk since")
            .is_none()
    );
    assert!(theirs() && harness.state().state.is_unsaved());

    save(&mut harness);
    click(&mut harness, "Overwrite");
    wait(&mut harness, "saving", |program| {
        program.state.saving.is_none()
    });
    assert!(!theirs() && !harness.state().state.is_unsaved());

    // What we wrote ourselves is no change by somebody else, and neither is a file that is gone.
    bake(&mut harness);
    save(&mut harness);
    assert!(!harness.state().state.is_unsaved());
    bake(&mut harness);
    std::fs::remove_file(&path).unwrap();
    save(&mut harness);
    assert!(!harness.state().state.is_unsaved() && path.exists());
}

#[test]
fn the_map_tab_lists_the_search_path_and_what_was_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    std::fs::write(folder.path().join("broken.pk3"), "no archive").unwrap();
    let mut harness = harness();
    open(&mut harness, &path);
    click(&mut harness, "Map tab");
    assert!(
        harness
            .query_by_label_contains("broken.pk3: skipped, no readable zip directory ")
            .is_none()
    );
    click(&mut harness, "Search path (1 place, 1 skipped)");
    harness.run_steps(20);
    let game = folder.path().display().to_string();
    click(&mut harness, &game);
    harness.run_steps(20);
    harness.get_by_label_contains(" images, 3 other files");
    harness.get_by_label_contains("map atrium · maps/atrium.bsp");
}

#[test]
fn garbage_leaves_the_program_usable() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("junk.bsp");
    std::fs::write(&garbage, b"VBSP\x14\0\0\0 and some noise that is no map").unwrap();
    let good = demo_on_disk(folder.path());
    let mut harness = harness();

    open(&mut harness, &garbage);
    assert!(harness.state().state.map.is_none());
    harness.get_by_label_contains("junk.bsp: ");
    harness.get_by_label("Try the demo");

    open(&mut harness, &good);
    let name = |harness: &Harness<'_, Program>| {
        let map = harness.state().state.map.as_ref();
        map.map(|map| map.scene.name.clone())
    };
    assert_eq!(name(&harness).as_deref(), Some("atrium"));
    assert!(harness.state().state.banner.is_none());

    open(&mut harness, &garbage);
    assert_eq!(
        name(&harness).as_deref(),
        Some("atrium"),
        "the good map stays"
    );
    assert!(harness.state().state.banner.is_some());
    open(&mut harness, &folder.path().join("missing.bsp"));
    assert_eq!(name(&harness).as_deref(), Some("atrium"));

    click(&mut harness, "Fullbright");
    assert_eq!(harness.state().state.options.mode, RenderMode::Fullbright);
    click(&mut harness, "Dismiss");
    open(&mut harness, &good);
    let errors = |line: &&luxgrid::view::LogLine| line.level == Level::Error;
    assert_eq!(harness.state().state.log.iter().filter(errors).count(), 3);
}

/// Modes with a colour code explain it in the picture, with the eye's own place.
#[test]
fn colours_have_a_legend() {
    let mut harness = harness();
    open_demo(&mut harness);
    assert!(harness.query_by_label("Lit by").is_none());
    click(&mut harness, "More modes");
    click(&mut harness, "Light source");
    harness.get_by_label("Lit by");
    harness.get_by_label("vertex light");
    click(&mut harness, "More modes");
    click(&mut harness, "Areas");
    let state = &harness.state().state;
    let map = state.map.as_ref().unwrap();
    let area = map
        .scene
        .bsp
        .leaf_at(state.camera.eye)
        .unwrap()
        .area
        .unwrap();
    harness.get_by_label(&format!("{area}, the eye's area"));
    // A mode whose grid went away says so.
    let variants = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants");
    open(
        &mut harness,
        &variants.join("xonotic.pk3/maps/m02_occluder.bsp"),
    );
    harness.state_mut().state.options.mode = RenderMode::ShLit;
    harness.run_steps(2);
    harness.get_by_label("This map has no SH grid.");
}

#[test]
fn keys_do_what_the_help_says() {
    let mut harness = harness();
    open_demo(&mut harness);
    let show = |harness: &Harness<'_, Program>| harness.state().state.options.probes.show;
    harness.key_press(egui::Key::G);
    harness.run_steps(2);
    assert_eq!(show(&harness), ProbeShow::Sh);
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::G);
    harness.run_steps(2);
    assert_eq!(show(&harness), ProbeShow::Both);
    harness.key_press_modifiers(egui::Modifiers::ALT, egui::Key::Num5);
    harness.run_steps(2);
    assert_eq!(harness.state().state.options.mode, RenderMode::Normals);
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::CloseBracket);
    harness.run_steps(2);
    assert_eq!(harness.state().state.options.mode, RenderMode::Wireframe);
    // The demo has no deluxe maps to step to.
    harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::CloseBracket);
    harness.run_steps(2);
    assert_eq!(harness.state().state.options.mode, RenderMode::GridLit);
    harness.key_press(egui::Key::F1);
    harness.run_steps(2);
    harness.get_by_label("Keys and mouse");
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    assert!(!harness.state().state.panels.help);
    let eye = harness.state().state.camera.eye;
    harness.key_down(egui::Key::W);
    harness.run_steps(4);
    harness.key_up(egui::Key::W);
    harness.run_steps(2);
    assert!(harness.state().state.camera.eye.distance(eye) > 1.0);
    harness.key_press(egui::Key::Z);
    harness.run_steps(2);
    assert!(harness.query_by_label("Bake tab").is_none());
}

/// Presses and releases the left button at a place of the window.
fn press_at(harness: &mut Harness<'_, Program>, pos: egui::Pos2) {
    harness.hover_at(pos);
    harness.run_steps(1);
    for pressed in [true, false] {
        harness.event(egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        harness.run_steps(1);
    }
    harness.run_steps(2);
}

#[test]
fn clicking_a_surface_shows_what_it_is() {
    let mut harness = harness();
    open_demo(&mut harness);
    let picture = harness.get_by_label("Picture of the map").rect();
    press_at(&mut harness, picture.center());
    let state = &harness.state().state;
    let picked = state.surface.as_ref().expect("a surface was clicked");
    assert_eq!(state.panels.tab, Tab::Surface);
    let ray = state
        .camera
        .ray(Vec2::ZERO, picture.width() / picture.height());
    assert!(picked.hit.position.distance(ray.at(picked.hit.t)) < 0.5);
    let (surface, material) = (picked.report.surface, picked.report.material.name.clone());
    harness.get_by_label(&format!("Surface {surface}"));
    assert!(harness.query_all_by_label(&material).next().is_some());
    // The point becomes a sample.
    click(&mut harness, "Sample here");
    assert_eq!(harness.state().state.panels.tab, Tab::Sample);
    assert!(harness.state().state.options.sample.pinned.is_some());
}

/// The list finds entities by words, a click flies to one and shows its keys, and each layer draws lines.
#[test]
fn finer_curves_keep_bake_view_and_selected_surface() {
    let mut harness = harness();
    open_demo(&mut harness);
    harness.state_mut().command(Command::StartBake);
    wait(&mut harness, "baking", |program| {
        program.state.baking.is_none()
    });
    // A look at a curve: the nearest that the picker sees from above the middle of one.
    let (ray, patch) = {
        let map = harness.state().state.map.as_ref().unwrap();
        let picker = luxgrid::trace::Picker::new(&map.scene);
        let surfaces = map.scene.surfaces.iter();
        let mut patches = surfaces.filter(|s| matches!(s.kind, SurfaceKind::Patch { .. }));
        patches
            .find_map(|patch| {
                let corners = map.scene.corners(patch.indices.start)?;
                let middle = corners.iter().map(|c| c.position).sum::<glam::Vec3>() / 3.0;
                let normal = corners[0].normal;
                let ray = luxgrid::math::Ray::new(middle + normal * 8.0, -normal);
                let hit = picker.pick_seen(&map.scene, &ray, |_| true)?;
                (hit.surface == patch.id).then_some((ray, patch.id))
            })
            .unwrap()
    };
    harness.state_mut().command(Command::Click {
        ray,
        purpose: luxgrid::view::PickPurpose::Select,
    });
    let before = harness.state().state.clone();
    let picked = before.surface.as_ref().unwrap().hit;
    assert_eq!(picked.surface, patch);

    harness.get_by_label("Curve detail").click();
    harness.run_steps(3);
    click(&mut harness, "Highest, 1");
    wait(&mut harness, "dividing curves", |program| {
        let map = program.state.map.as_ref().unwrap();
        map.scene.curves == CurveDetail::Highest
    });
    let state = &harness.state().state;
    let (old, new) = (before.map.as_ref().unwrap(), state.map.as_ref().unwrap());
    assert!(new.scene.indices.len() > old.scene.indices.len());
    assert_eq!(state.camera, before.camera);
    assert_eq!(state.panels.tab, before.panels.tab);
    assert_eq!(new.side, old.side);
    let baked = |map: &luxgrid::view::LoadedMap| map.bake.clone().unwrap().baked;
    assert!(std::sync::Arc::ptr_eq(&baked(old), &baked(new)) && state.is_unsaved());
    // The click is where it was, on a triangle of the new mesh.
    let hit = state.surface.as_ref().unwrap().hit;
    assert_eq!(hit.surface, patch);
    assert_eq!(hit.position, picked.position);
    let [a, b, c] = new
        .scene
        .corners(hit.first_index)
        .unwrap()
        .map(|v| v.position);
    let there = a + (b - a) * hit.weights.x + (c - a) * hit.weights.y;
    // Both lie within the coarser chord's distance from the curve.
    assert!(there.distance(hit.position) < 1.5, "{there} {hit:?}");
    // Clicks find the new triangles.
    harness.state_mut().command(Command::Click {
        ray,
        purpose: luxgrid::view::PickPurpose::Select,
    });
    let hit = harness.state().state.surface.as_ref().unwrap().hit;
    assert_eq!(hit.surface, patch);
}

#[test]
fn entities_are_found_shown_and_flown_to() {
    let mut harness = harness();
    open_demo(&mut harness);
    click(&mut harness, "Entities tab");
    let doors: Vec<u32> = (0..)
        .zip(&harness.state().state.map.as_ref().unwrap().entities.entries)
        .filter(|(_, entry)| entry.class == "func_door")
        .map(|(number, _)| number)
        .collect();
    harness.get_by_label("Filter entities").focus();
    harness.run_steps(2);
    harness.event(egui::Event::Text("func_door".to_owned()));
    harness.run_steps(3);
    let row = format!("{}  func_door", doors[0]);
    assert!(
        harness
            .query_all_by_label_contains("  light")
            .next()
            .is_none()
    );
    let rows = harness.query_all_by_label_contains("  func_door").count();
    assert_eq!(rows, doors.len());
    let node = harness.query_all_by_label_contains(&row).next().unwrap();
    node.click();
    harness.run_steps(3);
    let state = &harness.state().state;
    assert_eq!(state.entity, Some(doors[0]));
    let place = state
        .map
        .as_ref()
        .unwrap()
        .entities
        .get(doors[0])
        .unwrap()
        .place();
    let towards = (place - state.camera.eye).normalize_or_zero();
    assert!(state.camera.forward().dot(towards) > 0.999);
    assert_eq!(state.overlays().lines.len(), 12, "its box");
    harness.get_by_label(&format!("Entity {}", doors[0]));
    assert!(harness.query_all_by_label("classname").next().is_some());
    let mut before = 12;
    for layer in ["Lights", "Spawns", "Models"] {
        click(&mut harness, layer);
        let lines = harness.state().state.overlays().lines.len();
        assert!(lines > before, "{layer}: {lines}");
        before = lines;
    }
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    assert_eq!(harness.state().state.entity, None);
}

#[test]
fn clicking_a_sphere_shows_its_numbers_and_ctrl_click_pins_a_sample() {
    let mut harness = harness();
    open_demo(&mut harness);
    harness
        .state_mut()
        .command(Command::SetProbes(ProbeShow::Sh));
    harness.state_mut().state.options.probes.x_ray = true;
    harness.run_steps(2);
    let picture = harness.get_by_label("Picture of the map").rect();
    // Aim at a grid point in front of the eye, so that the click meets its sphere whatever the demo's layout.
    let program = harness.state();
    let map = program.state.map.as_ref().unwrap();
    let lattice = map.shown().lighting.sh_grid.as_ref().unwrap().lattice;
    let camera = program.state.camera;
    let aspect = picture.width() / picture.height();
    let target = (0..program.sh_points())
        .filter(|index| !map.shown().blocked_sh[*index])
        .map(|index| lattice.position_of(index))
        .filter(|point| {
            (point - camera.eye)
                .normalize_or_zero()
                .dot(camera.forward())
                > 0.9
        })
        .min_by(|a, b| a.distance(camera.eye).total_cmp(&b.distance(camera.eye)))
        .unwrap();
    let ndc = camera.clip_from_world(aspect).project_point3(target);
    let at = egui::pos2(
        picture.left() + (ndc.x * 0.5 + 0.5) * picture.width(),
        picture.top() + (0.5 - ndc.y * 0.5) * picture.height(),
    );
    let press = |pressed, modifiers| egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Primary,
        pressed,
        modifiers,
    };
    harness.hover_at(at);
    harness.run_steps(1);
    for pressed in [true, false] {
        harness.event(press(pressed, egui::Modifiers::NONE));
        harness.run_steps(1);
    }
    harness.run_steps(2);
    let selected = harness
        .state()
        .state
        .selected
        .expect("a sphere was clicked");
    assert_eq!(lattice.position_of(selected.index), target);
    harness.get_by_label(&format!("SH probe #{}", selected.index));
    harness.get_by_label("Coefficients");

    for pressed in [true, false] {
        harness.event_modifiers(
            press(pressed, egui::Modifiers::COMMAND),
            egui::Modifiers::COMMAND,
        );
        harness.run_steps(1);
    }
    harness.run_steps(2);
    assert!(harness.state().state.options.sample.pinned.is_some());
    harness.get_by_label("Corners");
    assert!(harness.state().state.overlays().sample.is_some());
}

#[test]
fn a_path_field_stands_in_for_a_missing_file_dialog() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo_on_disk(folder.path());
    let mut harness = harness();
    let ask = || Command::DialogUnavailable(luxgrid::view::FilePurpose::Open);
    harness.state_mut().command(ask());
    harness.run_steps(2);
    // It has the focus at once, and letters typed into it are no shortcuts.
    harness.event(egui::Event::Text(path.display().to_string()));
    harness.key_press(egui::Key::G);
    harness.run_steps(2);
    assert_eq!(harness.state().state.options.probes.show, ProbeShow::Off);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(2);
    wait(&mut harness, "opening", |program| {
        program.state.loading.is_none()
    });
    assert!(
        harness.state().state.map.is_some(),
        "{:?}",
        harness.state().state.log
    );
    assert!(harness.query_by_label("Open file").is_none());

    harness.state_mut().command(ask());
    harness.run_steps(2);
    harness.get_by_label("Open file");
    harness.key_press(egui::Key::Escape);
    harness.run_steps(2);
    assert!(harness.query_by_label("Open file").is_none());
}

/// The demo keeps its lights in the BSP, so a plan counts them there and adds those of the chosen file.
#[test]
fn a_chosen_map_source_gives_its_lights_and_one_without_any_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let two = write(
        "two.map",
        "{ \"classname\" \"worldspawn\" { ( 0 0 0 ) } }\n{ \"classname\" \"light\" \"origin\" \"0 0 64\" }\n{ \"classname\" \"lightJunior\" }\n",
    );
    let none = write("none.map", "{ \"classname\" \"worldspawn\" }");
    let mut harness = harness();
    open_demo(&mut harness);
    click(&mut harness, "Bake tab");
    let from_map = |program: &Program| {
        let plan = program.state.plan.as_ref()?;
        let map = program.state.map.as_ref()?;
        plan.is_for(map.revision, &program.state.bake_form)
            .then(|| {
                plan.result
                    .as_ref()
                    .map_or(0, |plan| plan.lights.entities.map)
            })
    };
    wait(&mut harness, "planning", |program| {
        from_map(program) == Some(0)
    });

    harness.state_mut().command(Command::OpenPath(none));
    wait(&mut harness, "reading", |program| {
        program
            .state
            .log
            .iter()
            .any(|line| line.text.contains("holds no light"))
    });
    harness.state_mut().command(Command::OpenPath(two));
    wait(&mut harness, "planning with lights", |program| {
        from_map(program) == Some(2)
    });
    click(&mut harness, "Reset lights");
    wait(&mut harness, "planning again", |program| {
        from_map(program) == Some(0)
    });
}
