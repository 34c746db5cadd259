use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use glam::Vec3;
use serde::Deserialize;

use crate::cli::args::FramesArgs;
use crate::cli::error::{Exit, NoGpu};
use crate::cli::output::Output;
use crate::job::JobContext;
use crate::render::{Canvas, FrameStats, Gpu, GpuScene, Renderer};
use crate::scene::{Scene, SpawnPoint, build};
use crate::vfs::{SearchOptions, open_map, save};
use crate::view::{Camera, ViewOptions};

/// Pixels of the measured pictures. The processor's part does not depend on it, and a software renderer is quick.
const SIZE: (u32, u32) = (160, 90);
/// Views a map at most, beside those of the reference pictures.
const SPAWNS: usize = 24;
/// Views a map at least: a map with fewer spawns is looked at in several directions.
const VIEWS_LEAST: usize = 4;
/// Times that each view is visited; the median of its frames counts.
const ROUNDS: usize = 3;
/// Frames at a view in each round, beside the one that comes there.
const STAYS: usize = 3;
/// Around the table.
const MARKS: [&str; 2] = ["<!-- frames -->\n", "<!-- /frames -->"];

pub(crate) fn run(args: &FramesArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let gpu = Gpu::headless().map_err(|error| NoGpu(error.to_string()))?;
    let mut studio = Studio {
        renderer: Renderer::new(&gpu)?,
        canvas: Canvas::new(&gpu, SIZE)?,
        gpu,
    };
    let views = args.views.as_deref().map(reference_views).transpose()?;
    let mut rows = Vec::new();
    for ((name, _), path) in maps(&args.folders)? {
        if !args.only.is_empty() && !args.only.contains(&name) {
            continue;
        }
        let more = views.as_ref().and_then(|views| views.get(&name));
        let row = studio.measure(&name, &path, more.map_or(&[], Vec::as_slice));
        match row.with_context(|| path.display().to_string()) {
            Ok(row) => rows.push(row),
            Err(error) => writeln!(output.err(), "{error:#}")?,
        }
    }
    let table = table(&rows);
    match &args.into {
        Some(path) => {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let text = replaced(&text, &table).with_context(|| {
                format!("{}: no lines “{}”", path.display(), MARKS[0].trim_end())
            })?;
            save(path, text.as_bytes())?;
        }
        None => write!(output.out(), "{table}")?,
    }
    Ok(Exit::Done)
}

/// Map name and number of its folder to the path by which it is opened; of a map that several archives of a folder hold,
/// the last archive wins.
fn maps(folders: &[PathBuf]) -> anyhow::Result<BTreeMap<(String, usize), PathBuf>> {
    let mut maps = BTreeMap::new();
    for (number, folder) in folders.iter().enumerate() {
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut archives: Vec<PathBuf> = paths.map_err(|error: std::io::Error| error)?;
        archives.retain(|path| path.extension().is_some_and(|suffix| suffix == "pk3"));
        archives.sort_by_key(|path| path.to_string_lossy().to_ascii_uppercase());
        for archive in archives {
            let file = File::open(&archive).with_context(|| archive.display().to_string())?;
            let zip = zip::ZipArchive::new(file).with_context(|| archive.display().to_string())?;
            for member in zip.file_names().filter_map(Result::ok) {
                let lower = member.to_ascii_lowercase();
                let name = lower
                    .strip_prefix("maps/")
                    .and_then(|name| name.strip_suffix(".bsp"));
                if let Some(name) = name {
                    maps.insert((name.to_owned(), number), archive.join(&*member));
                }
            }
        }
    }
    Ok(maps)
}

/// What is read of the list of reference pictures.
#[derive(Deserialize)]
struct ReferenceList {
    views: Vec<ReferenceView>,
}

#[derive(Deserialize)]
struct ReferenceView {
    map: String,
    eye: [f32; 3],
    angles_deg: ReferenceAngles,
}

#[derive(Deserialize)]
struct ReferenceAngles {
    pitch: f32,
    yaw: f32,
}

fn reference_views(path: &Path) -> anyhow::Result<BTreeMap<String, Vec<SpawnPoint>>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let list: ReferenceList =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let mut views: BTreeMap<String, Vec<SpawnPoint>> = BTreeMap::new();
    for view in list.views {
        views.entry(view.map).or_default().push(SpawnPoint {
            eye: Vec3::from(view.eye),
            yaw: view.angles_deg.yaw.to_radians(),
            pitch: view.angles_deg.pitch.to_radians(),
        });
    }
    Ok(views)
}

/// What draws and measures.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    canvas: Canvas,
}

/// What was measured at a view.
#[derive(Default)]
struct Sample {
    stats: FrameStats,
    /// Frames that come here from another view, milliseconds.
    arrivals_ms: Vec<f32>,
    /// Frames that stay here, milliseconds.
    stays_ms: Vec<f32>,
}

/// The measurements of a map.
struct Row {
    name: String,
    surfaces: usize,
    samples: Vec<Sample>,
}

impl Studio {
    fn measure(&mut self, name: &str, path: &Path, more: &[SpawnPoint]) -> anyhow::Result<Row> {
        let map = open_map(path, &SearchOptions::default())?;
        let scene = build(&map, &JobContext::default())?;
        let uploaded = GpuScene::upload(&self.gpu, &scene)?;
        let mut options = ViewOptions::default();
        options.adapt_to(&scene);
        let mut views = views(&scene);
        views.extend_from_slice(more);
        // The first round is for what is made only once: pipelines, lightmaps.
        let mut samples: Vec<Sample> = views.iter().map(|_| Sample::default()).collect();
        for round in 0..=ROUNDS {
            for (view, sample) in views.iter().zip(&mut samples) {
                let start_secs = round as f32;
                let (stats, arrival_ms) = self.frame(&uploaded, view, &options, start_secs)?;
                if round == 0 {
                    continue;
                }
                sample.stats = stats;
                sample.arrivals_ms.push(arrival_ms);
                for number in 1..=STAYS {
                    let time_secs = start_secs + number as f32 * 0.05;
                    let (_, stay_ms) = self.frame(&uploaded, view, &options, time_secs)?;
                    sample.stays_ms.push(stay_ms);
                }
            }
        }
        Ok(Row {
            name: name.to_owned(),
            surfaces: scene.drawn_surfaces().count(),
            samples,
        })
    }

    /// The processor's time for a frame, milliseconds.
    fn frame(
        &mut self,
        scene: &GpuScene,
        view: &SpawnPoint,
        options: &ViewOptions,
        time_secs: f32,
    ) -> anyhow::Result<(FrameStats, f32)> {
        let aspect = SIZE.0 as f32 / SIZE.1 as f32;
        let camera = Camera {
            fov_x: Camera::fov_x_for_aspect(90_f32.to_radians(), aspect),
            ..Camera::default()
        };
        let camera = camera.at(view);
        let started = thread_time();
        let mut ended = started;
        let stats = self.canvas.draw(
            &self.gpu,
            &mut self.renderer,
            scene,
            (&camera, options),
            time_secs,
            || ended = thread_time(),
        )?;
        Ok((
            stats,
            (ended.saturating_sub(started)).as_secs_f32() * 1000.0,
        ))
    }
}

/// Time that this thread had a processor for: what else the machine does is not counted.
#[cfg(target_os = "linux")]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Time since the first call.
#[cfg(not(target_os = "linux"))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Spawns from all over the list; a map with few is looked at in several directions.
fn views(scene: &Scene) -> Vec<SpawnPoint> {
    let middle = SpawnPoint {
        eye: scene.bounds.centre(),
        yaw: 0.0,
        pitch: 0.0,
    };
    let spawns = &scene.spawns;
    let count = spawns.len().min(SPAWNS);
    let mut views: Vec<SpawnPoint> = (0..count)
        .map(|number| spawns[number * spawns.len() / count])
        .collect();
    if views.is_empty() {
        views.push(middle);
    }
    for number in views.len()..VIEWS_LEAST {
        let turned = views[number - 1];
        views.push(SpawnPoint {
            yaw: turned.yaw + std::f32::consts::FRAC_PI_2,
            ..turned
        });
    }
    views
}

/// The median and the largest; zeros for none.
fn median_and_worst(mut values: Vec<f32>) -> (f32, f32) {
    values.sort_by(f32::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
    (median, values.last().copied().unwrap_or(0.0))
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| map | surfaces | views | calls, median | calls, worst | triangles, worst | CPU ms, median | CPU ms, worst view | on arrival, worst |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let of =
            |value: fn(&Sample) -> f32| median_and_worst(row.samples.iter().map(value).collect());
        let calls = of(|sample| sample.stats.draw_calls as f32);
        let stay = of(|sample| median_and_worst(sample.stays_ms.clone()).0);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {:.2} | {:.2} | {:.2} |",
            row.name,
            row.surfaces,
            row.samples.len(),
            calls.0,
            calls.1,
            of(|sample| sample.stats.triangles as f32).1,
            stay.0,
            stay.1,
            of(|sample| median_and_worst(sample.arrivals_ms.clone()).0).1,
        );
    }
    text
}

/// `text` with `table` between its marks; `None` without them.
fn replaced(text: &str, table: &str) -> Option<String> {
    let [open, close] = MARKS;
    let start = text.find(open)? + open.len();
    let end = start + text[start..].find(close)?;
    Some(format!("{}{table}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_replaces_what_is_between_the_marks() {
        let text = "a\n<!-- frames -->\nold\n<!-- /frames -->\nb\n";
        let new = replaced(text, "| x |\n").unwrap();
        assert_eq!(new, "a\n<!-- frames -->\n| x |\n<!-- /frames -->\nb\n");
        assert_eq!(replaced(&new, "old\n").as_deref(), Some(text));
        assert_eq!(replaced("nothing", ""), None);
        assert_eq!(median_and_worst(vec![3.0, 1.0, 2.0]), (2.0, 3.0));
    }
}
