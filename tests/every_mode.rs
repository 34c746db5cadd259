//! Real maps draw in every mode without a complaint of the device, and with few pipelines. Some maps of both games; `ALL_MAPS=1`
//! takes all of them.
#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test: its helpers fail and speak as it does"
)]

mod support {
    pub(crate) mod adapter;
    pub(crate) mod openarena;
}

use std::path::PathBuf;

use luxgrid::job::JobContext;
use luxgrid::render::{GpuGrids, GpuScene, Renderer, render_to_image};
use luxgrid::scene::build;
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, RenderMode, ViewOptions};
use support::adapter::adapter;
use support::openarena;

/// Where Debian installs the data of Nexuiz.
const NEXUIZ: &str = "/usr/share/games/nexuiz/data";
/// With fogs, sprites, many blend functions.
const SOME: [&str; 3] = ["kaos", "oa_koth2", "bloodprison"];
/// Pipelines for surfaces that a map needs in all modes together: see the figure that the test prints.
const PIPELINE_LIMIT: usize = 60;
const SIZE: (u32, u32) = (64, 36);

fn maps() -> Vec<(String, PathBuf)> {
    let nexuiz = std::env::var_os("LUXGRID_NEXUIZ").map_or_else(|| NEXUIZ.into(), PathBuf::from);
    let nexuiz = nexuiz.join("data.pk3").is_file().then_some(nexuiz);
    let folders = openarena::folder().into_iter().chain(nexuiz);
    let all = std::env::var_os("ALL_MAPS").is_some();
    folders
        .flat_map(|folder| openarena::maps(&folder))
        .filter(|(name, _)| all || SOME.contains(&name.as_str()))
        .collect()
}

/// 20 s in a debug build.
#[test]
fn real_maps_draw_in_every_mode() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    let Some(gpu) = adapter() else {
        return;
    };
    let mut failures = Vec::new();
    let mut most = (0, String::new());
    let maps = maps();
    for (name, path) in &maps {
        let opened = open_map(path, &SearchOptions::default()).unwrap();
        let scene = build(&opened, &JobContext::default()).unwrap();
        let camera = scene.spawns.first();
        let camera = camera.map_or(Camera::default(), |spawn| Camera::default().at(spawn));
        let uploaded = GpuScene::upload(&gpu, &scene).unwrap();
        let grids = GpuGrids::upload(&gpu, &scene.lighting, &[], &[]).unwrap();
        let mut renderer = Renderer::new(&gpu).unwrap();
        for mode in RenderMode::ALL {
            let mut options = ViewOptions::default();
            options.adapt_to(&scene);
            options.mode = mode;
            let drawn = render_to_image(
                &gpu,
                &mut renderer,
                SIZE,
                &uploaded,
                Some(&grids),
                &camera,
                &options,
                &Overlays::default(),
                1.0,
            );
            let error = drawn.err().map(|error| error.to_string());
            let error = error.or_else(|| gpu.take_error().map(|error| format!("{error:?}")));
            if let Some(error) = error {
                println!("{name} {mode:?}: {error}");
                failures.push(format!("{name} {mode:?}: {error}"));
            }
        }
        let pipelines = renderer.surface_pipelines();
        println!("{name}: {pipelines} pipelines");
        if pipelines > most.0 {
            most = (pipelines, name.clone());
        }
    }
    println!(
        "{} maps; most pipelines: {} in {}",
        maps.len(),
        most.0,
        most.1
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(most.0 <= PIPELINE_LIMIT, "{most:?}");
}
