//! Cancelling a bake: at any moment it returns at once, with nothing made.
//!
//! The bar is 100 ms; without optimisation, and beside other work, a little more is allowed.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests; figures are shown on request"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use luxgrid::job::{Job, JobContext, JobError};
use luxgrid::light::{BakeError, BakeSettings, Baked, LightsFrom, ShCell, bake, plan};
use luxgrid::probe::{blocked_points, blocked_points_while};
use luxgrid::scene::{MapSource, Scene, build};
use luxgrid::vfs::{SearchOptions, open_map};

/// From the request to the end of the job.
const LIMIT: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 100 });
/// Longest wait for a moment to come.
const PATIENCE: Duration = Duration::from_mins(5);

fn scene(path: &Path) -> Arc<Scene> {
    let map = open_map(path, &SearchOptions::default()).unwrap();
    Arc::new(build(&map, &JobContext::default()).unwrap())
}

fn demo() -> Arc<Scene> {
    scene(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/maps/atrium.bsp"))
}

/// A million points, so that the last hundredth is still ten thousand.
fn million(no_trace: bool) -> BakeSettings {
    BakeSettings {
        sh_cell: ShCell::Explicit(glam::Vec3::new(13.0, 13.0, 15.0)),
        no_trace,
        ..BakeSettings::default()
    }
}

/// Tries to meet a moment near the end, on a machine with other work.
const TRIES: u32 = 10;

type BakeJob = Job<Baked, BakeError>;

/// Cancels when `is_time` says so, and measures; `None` when the bake was faster than this thread.
fn cancel_when(job: BakeJob, is_time: impl Fn(&BakeJob) -> bool) -> Option<Duration> {
    let started = Instant::now();
    while !is_time(&job) {
        assert!(started.elapsed() < PATIENCE, "the moment never came");
        std::thread::yield_now();
    }
    job.context().cancel.cancel();
    let asked = Instant::now();
    let outcome = job.wait();
    let took = asked.elapsed();
    match outcome {
        Ok(_) => None,
        Err(JobError::Cancelled) => Some(took),
        Err(error) => panic!("{error}"),
    }
}

/// The same, tried again until the moment is met.
fn cancel_at(
    scene: &Arc<Scene>,
    settings: &BakeSettings,
    is_time: impl Fn(&BakeJob) -> bool,
) -> Duration {
    let mut tries =
        (0..TRIES).filter_map(|_| cancel_when(start(scene, settings.clone()), &is_time));
    tries.next().unwrap()
}

fn start(scene: &Arc<Scene>, settings: BakeSettings) -> BakeJob {
    let scene = Arc::clone(scene);
    let work = move |context: &JobContext| bake(&scene, &settings, context);
    Job::spawn("bake", || {}, work).unwrap()
}

fn assert_prompt(scene: &Arc<Scene>, settings: &BakeSettings, percents: &[u64]) {
    for percent in percents {
        let took = cancel_at(scene, settings, |job| {
            let at = job.context().progress.snapshot();
            at.stage == "light grids" && at.done * 100 >= at.total * percent
        });
        eprintln!("{}: cancelled at {percent} %: {took:?}", scene.name);
        assert!(took < LIMIT, "at {percent} %: {took:?}");
    }
}

#[test]
fn a_million_points_end_at_once_at_the_beginning() {
    assert_prompt(&demo(), &million(false), &[1]);
}

#[test]
fn a_million_points_end_at_once_in_the_middle_and_near_the_end() {
    if std::env::var_os("SLOW_TESTS").is_none() {
        eprintln!("skipped: slow, SLOW_TESTS=1 runs it");
        return;
    }
    assert_prompt(&demo(), &million(true), &[50, 99]);
    assert_prompt(&demo(), &million(false), &[50, 99]);
}

/// Released maps with thousands of surface lights, with the lights of their `.map` where `LUXGRID_MAPS` names a folder with it.
fn big_maps() -> Vec<(Arc<Scene>, BakeSettings)> {
    let archive = Path::new("/usr/share/games/openarena/baseoa/z_oacmp-volume1-v3.pk3");
    if !archive.is_file() {
        eprintln!("skipped: no {}", archive.display());
        return Vec::new();
    }
    let with_lights = |name: &&str| {
        let sources = std::env::var_os("LUXGRID_MAPS").map(PathBuf::from);
        let path = sources.map(|folder| folder.join(format!("{name}.map")));
        let lights = path.map_or(LightsFrom::Auto, |path| {
            let bytes = std::fs::read(&path).unwrap();
            LightsFrom::File(Arc::new(MapSource::chosen(path, &bytes).unwrap()))
        });
        let settings = BakeSettings {
            lights,
            ..BakeSettings::default()
        };
        (scene(&archive.join(format!("maps/{name}.bsp"))), settings)
    };
    ["oacmpdm7", "oacmpdm2"].iter().map(with_lights).collect()
}

#[test]
fn big_maps_end_at_once_in_every_stage_of_preparation() {
    for (scene, settings) in big_maps() {
        for stage in [
            "materials and clusters",
            "lights",
            "envelopes",
            "shadow hierarchy",
            "light grids",
        ] {
            let took = cancel_at(&scene, &settings, |job| {
                let stages = job.context().progress.stages();
                stages.iter().any(|time| time.stage == stage)
            });
            eprintln!("{}: cancelled in {stage}: {took:?}", scene.name);
            assert!(took < LIMIT, "{} in {stage}: {took:?}", scene.name);
        }
    }
}

#[test]
fn looking_for_points_in_solid_stops_when_it_is_told() {
    let scene = demo();
    let lattice = scene.lighting.light_grid.as_ref().unwrap().lattice;
    let all = blocked_points(&scene, &lattice);
    assert!(all.contains(&true) && all.contains(&false));
    assert_eq!(blocked_points_while(&scene, &lattice, || true), Some(all));
    assert_eq!(blocked_points_while(&scene, &lattice, || false), None);
}

#[test]
fn a_cancelled_plan_says_so() {
    let context = JobContext::default();
    context.cancel.cancel();
    let planned = plan(&demo(), &BakeSettings::default(), &context);
    assert!(
        matches!(planned, Err(BakeError::Cancelled(_))),
        "{planned:?}"
    );
}

/// Interrupted through the tool, it leaves nothing behind.
#[cfg(unix)]
#[test]
fn an_interrupted_tool_leaves_nothing_and_an_old_file_stays() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let is_slow = std::env::var_os("SLOW_TESTS").is_some();
    let percents: &[u64] = if is_slow { &[1, 50, 99] } else { &[1] };
    for percent in percents {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.bsp");
        std::fs::write(&target, b"old").unwrap();
        let mut tool = Command::new(env!("CARGO_BIN_EXE_luxtool"))
            .args(["bake", "demo", "-sh", "-gridsh", "13", "13", "15"])
            .args(["-notrace", "-progress", "json", "-o"])
            .arg(&target)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(tool.stderr.take().unwrap()).lines();
        let is_time = |line: &std::io::Result<String>| {
            let line: serde_json::Value =
                serde_json::from_str(line.as_ref().unwrap()).unwrap_or_default();
            let count = |name: &str| line[name].as_u64().unwrap_or_default();
            line["stage"] == "light grids" && count("done") * 100 >= count("total") * percent
        };
        assert!(lines.any(|line| is_time(&line)), "no progress was shown");
        let id = tool.id().to_string();
        let killed = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(killed.success());
        let asked = Instant::now();
        let rest: Vec<String> = lines.map_while(Result::ok).collect();
        assert_eq!(tool.wait().unwrap().code(), Some(5), "{rest:?}");
        let took = asked.elapsed();
        eprintln!("interrupted at {percent} %: {took:?} with the end of the process");
        assert!(took < LIMIT * 2, "{took:?}");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "something beside the old file was left");
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
    }
}
