//! The grid compiler against everything that the reference compiler stored: `micro`, small maps with one feature each and
//! many flag sets, and `real`, maps of a released game.
//!
//! `LUXGRID_REFERENCE` names the folder that holds both; without it these tests do nothing. `real` also needs the game's
//! archives, see [`GAME_FOLDER`]. Every set must meet its bar. `FIGURES=word` runs only the sets whose name holds the word.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; figures are shown on request"
)]

#[path = "support/grid_compare.rs"]
mod grid_compare;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use grid_compare::{LegacyFigures, ShFigures, compare_legacy, compare_sh};
use luxgrid::cli::bake_settings;
use luxgrid::format::bsp::Bsp;
use luxgrid::format::lattice::Lattice;
use luxgrid::job::JobContext;
use luxgrid::light::{BakeSettings, bake};
use luxgrid::scene::{BuildOptions, Scene, ScriptFiles, build_with};
use luxgrid::trace::is_blocked;
use luxgrid::vfs::{SearchOptions, open_map};

/// Where the archives of the maps of `real` are, unless `LUXGRID_OPENARENA` says otherwise.
const GAME_FOLDER: &str = "/usr/share/games/openarena";

/// Flags that shape lightmaps or vertex colours only: the grids are the same without them. With their numbers of values.
const LIGHTMAP_FLAGS: [(&str, usize); 16] = [
    ("-brightness", 1),
    ("-lightanglehl", 1),
    ("-dirty", 0),
    ("-dirtdepth", 1),
    ("-dirtscale", 1),
    ("-dirtgain", 1),
    ("-patchshadows", 0),
    ("-shade", 0),
    ("-shadeangle", 1),
    ("-samples", 1),
    ("-super", 1),
    ("-filter", 0),
    ("-deluxe", 0),
    ("-lightmapsize", 1),
    ("-samplesize", 1),
    ("-novertex", 0),
];

/// What a set must reach.
#[derive(Clone, Copy)]
struct Bar {
    /// This share of bytes within this difference, and the rest within the other.
    bytes: (f64, u8, u8),
    /// This share of directions within this angle, degrees.
    directions: (f64, f64),
    sh_rms: f64,
    sh_max: f64,
}

/// A little less than what all sets reach, so that a ray that goes astray shows.
const MICRO: Bar = Bar {
    bytes: (1.0, 1, 1),
    directions: (0.995, 1.5),
    sh_rms: 0.0002,
    sh_max: 0.0002,
};

/// The same of maps of a released game, which have more rays that rounding decides. Without the `.srf` too, whose contents are
/// then guessed.
const REAL: Bar = Bar {
    bytes: (0.9999, 2, u8::MAX),
    directions: (0.9995, 3.0),
    sh_rms: 0.001,
    sh_max: 0.0025,
};

/// What a set reached.
struct Figures {
    name: String,
    legacy: Option<LegacyFigures>,
    sh: Option<ShFigures>,
    secs: f32,
}

impl Figures {
    fn meets(&self, bar: &Bar) -> bool {
        let legacy = self.legacy.as_ref().is_none_or(|figures| {
            figures.bytes_within(bar.bytes.1) >= bar.bytes.0
                && figures.worst_byte() <= bar.bytes.2
                && figures.directions_within(bar.directions.1) >= bar.directions.0
        });
        // Written so that NaN does not meet it.
        let sh = |figures: &ShFigures| {
            figures.relative_rms <= bar.sh_rms && figures.relative_max <= bar.sh_max
        };
        legacy && self.sh.as_ref().is_none_or(sh)
    }

    fn print(&self, bar: &Bar, met: bool) {
        print!("{:28}", self.name);
        match &self.legacy {
            Some(figures) => print!(
                " {:6} points  bytes ≤{} {:7.3} % worst {:3}  directions ≤{}° {:7.3} % worst {:6.2}°",
                figures.points,
                bar.bytes.1,
                figures.bytes_within(bar.bytes.1) * 100.0,
                figures.worst_byte(),
                bar.directions.1,
                figures.directions_within(bar.directions.1) * 100.0,
                figures.worst_degrees(),
            ),
            None => print!("  no legacy grid{:64}", ""),
        }
        match &self.sh {
            Some(figures) => print!(
                "  SH rms {:7.4} % max {:7.4} %",
                figures.relative_rms * 100.0,
                figures.relative_max * 100.0
            ),
            None => print!("  no SH grid{:17}", ""),
        }
        println!("  {:5.2} s{}", self.secs, if met { "" } else { "  MISSES" });
    }
}

fn reference() -> Option<PathBuf> {
    let folder = std::env::var_os("LUXGRID_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: LUXGRID_REFERENCE is not set");
    }
    folder
}

fn scene(path: &Path, base: &Path, game: &str) -> Scene {
    let options = SearchOptions {
        base_paths: vec![base.to_owned()],
        games: vec![game.to_owned()],
        ..SearchOptions::default()
    };
    let map = open_map(path, &options).unwrap();
    // As the reference compiler: what no list names it does not know.
    let options = BuildOptions {
        scripts: ScriptFiles::Listed,
        ..BuildOptions::default()
    };
    build_with(&map, options, &JobContext::default()).unwrap()
}

fn read(path: &Path) -> Bsp {
    luxgrid::format::bsp::read(&std::fs::read(path).unwrap()).unwrap()
}

/// The scene and settings without what both models mend in the SH grid: the reference compiler leaves ambient light,
/// `_mingridlight` and the grid scale out of it. `None` when that changes nothing.
fn without_mends(scene: &Scene, settings: &BakeSettings) -> Option<(Scene, BakeSettings)> {
    let world = scene.bsp.entities.worldspawn()?;
    let keys = ["_ambient", "ambient", "_minlight", "_mingridlight"];
    let is_scaled = (settings.grid_scale - 1.0).abs() > 0.0;
    if !is_scaled && world.get_any(&keys).is_none() {
        return None;
    }
    let bsp = scene.bsp.with_worldspawn_key("_ambient", "0");
    let mut scene = scene.clone();
    scene.bsp = Arc::new(bsp.with_worldspawn_key("_mingridlight", "0"));
    let settings = BakeSettings {
        grid_scale: 1.0,
        legacy: false,
        ..settings.clone()
    };
    Some((scene, settings))
}

/// Bakes with `flags` and compares the points outside solids.
fn figures(name: &str, scene: &Scene, flags: &[&str], expected: &Bsp) -> Figures {
    let settings = bake_settings(flags).unwrap_or_else(|error| panic!("{name}: {error}"));
    let started = Instant::now();
    let mut baked = bake(scene, &settings, &JobContext::default()).unwrap();
    let secs = started.elapsed().as_secs_f32();
    if let Some((scene, settings)) = without_mends(scene, &settings).filter(|_| settings.sh) {
        baked.sh_grid = bake(&scene, &settings, &JobContext::default())
            .unwrap()
            .sh_grid;
    }
    let is_open = |lattice: &Lattice, index: usize| !is_blocked(scene, lattice.position_of(index));
    let legacy = baked.light_grid.as_ref().map(|grid| {
        let figures = compare_legacy(&grid.points, &expected.light_grid, |index| {
            is_open(&grid.lattice, index)
        });
        assert!(figures.points > 20, "{name}: {} points", figures.points);
        figures
    });
    assert_eq!(baked.sh_grid.is_some(), expected.sh_grid.is_some());
    let sh = baked
        .sh_grid
        .as_ref()
        .zip(expected.sh_grid.as_ref())
        .map(|(found, expected)| {
            assert_eq!(found.lattice, expected.lattice, "{name}");
            compare_sh(&found.points, &expected.points, |index| {
                is_open(&found.lattice, index)
            })
        });
    Figures {
        name: name.to_owned(),
        legacy,
        sh,
        secs,
    }
}

/// Whether the set is asked for.
fn is_asked(name: &str) -> bool {
    std::env::var("FIGURES").map_or(true, |word| name.contains(&word))
}

/// Prints a set, and says what is wrong with it.
fn judge(figures: &Figures, bar: &Bar) -> Option<String> {
    let met = figures.meets(bar);
    figures.print(bar, met);
    (!met).then(|| format!("{} misses its bar", figures.name))
}

/// Flags without those of lightmaps.
fn grid_flags(flags: &str) -> Vec<&str> {
    let mut words = flags.split_whitespace();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match LIGHTMAP_FLAGS.iter().find(|(flag, _)| *flag == word) {
            Some((_, values)) => words.by_ref().take(*values).for_each(drop),
            None => kept.push(word),
        }
    }
    kept
}

#[test]
fn flags_of_lightmaps_go_with_their_values() {
    let found = grid_flags("-sh -dirtdepth 64 -dirty -gridscale 0.5 -samples 3");
    assert_eq!(found, ["-sh", "-gridscale", "0.5"]);
}

#[test]
fn micro_maps_agree_with_the_reference() {
    let Some(folder) = reference().map(|folder| folder.join("micro")) else {
        return;
    };
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let sets: Vec<serde_json::Value> = serde_json::from_slice(&manifest).unwrap();
    let mut wrong = Vec::new();
    let mut skipped = Vec::new();
    for set in &sets {
        let text = |key: &str| set[key].as_str().unwrap();
        let (name, flags) = (text("name"), text("flags"));
        if !is_asked(name) {
            continue;
        }
        if flags.contains("-bounce") || flags.contains("-nogrid") {
            skipped.push(name);
            continue;
        }
        let scene = scene(&folder.join("input").join(text("input")), &folder, "game");
        let expected = read(&folder.join(format!("expected/{name}.bsp")));
        wrong.extend(judge(
            &figures(name, &scene, &grid_flags(flags), &expected),
            &MICRO,
        ));
    }
    println!("not compared, for bounces need lightmaps, or there is no grid: {skipped:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn real_maps_agree_with_the_reference() {
    let Some(folder) = reference().map(|folder| folder.join("real")) else {
        return;
    };
    let base = std::env::var_os("LUXGRID_OPENARENA").map_or_else(
        || PathBuf::from(GAME_FOLDER),
        |folder| PathBuf::from(folder).join(".."),
    );
    if !base.join("baseoa").is_dir() {
        println!("skipped: no game in {}", base.display());
        return;
    }
    let flags = ["-sh", "-gridsh", "128", "128", "128"];
    let mut maps: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    maps.sort();
    let mut wrong = Vec::new();
    for map in maps {
        let name = map.file_name().unwrap().to_str().unwrap().to_owned();
        let without = format!("{name} without srf");
        if !is_asked(&without) {
            continue;
        }
        let mut scene = scene(&map.join("input.bsp"), &base, "baseoa");
        let expected = read(&map.join("expected.bsp"));
        assert!(scene.surface_extras.is_some() && scene.map_source.is_some());
        wrong.extend(judge(&figures(&name, &scene, &flags, &expected), &REAL));
        scene.surface_extras = None;
        wrong.extend(judge(&figures(&without, &scene, &flags, &expected), &REAL));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
