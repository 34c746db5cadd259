use std::io::Cursor;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use crate::cli::args::{DoorsArg, ShotArgs};
use crate::cli::error::{Exit, NoGpu};
use crate::cli::output::{Document, Output, WarningLine, warning_lines};
use crate::job::JobContext;
use crate::math::colour::Clamp;
use crate::probe::blocked_points;
use crate::render::{Gpu, GpuGrids, GpuScene, RenderError, Renderer, render_to_image};
use crate::scene::{BuildOptions, Scene};
use crate::vfs::save;
use crate::view::{
    Camera, DoorStates, EntityIndex, EntityLayer, EntityOverlays, GridSet, GridSource, Overlays,
    ProbeOptions, ProbeShow, RenderMode, SampleOptions, ViewOptions, VisibilityOptions,
    entity_lines, sample_mark,
};

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/shot/1";

pub(crate) fn run(args: &ShotArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let started = Instant::now();
    let gpu = Gpu::headless().map_err(|error| NoGpu(error.to_string()))?;
    let context = JobContext::default();
    let curves = BuildOptions {
        curves: args.subdivisions,
        ..BuildOptions::default()
    };
    let (_, scene) = args.map.build_with(curves, &context)?;
    let open_secs = started.elapsed().as_secs_f32();

    let camera = args.camera.camera(&scene);
    if let Some(why) = args.mode.missing_in(&scene, &scene.lighting) {
        anyhow::bail!("--mode {}: {why}", args.mode.word());
    }
    let options = options(args, &scene);
    let grids = grids(args, &scene);
    let overlays = Overlays {
        sample: args.pin.and_then(|pin| sample_mark(&grids, &options, pin)),
        lines: entity_lines(
            &EntityIndex::new(&scene),
            options.entities,
            camera.eye,
            None,
        ),
        ..Overlays::default()
    };
    if args.pin.is_some() && overlays.sample.is_none() {
        context
            .warnings
            .push("W201", "the map has no grid to sample at the pin");
    }
    let mut studio = Studio::new(gpu, &scene, &grids, args.mode)?;
    let mut draw = || {
        let before = Instant::now();
        let image = studio.draw(args, &camera, &options, &overlays)?;
        Ok::<_, RenderError>((image, before.elapsed().as_secs_f32() * 1000.0))
    };
    let (image, _) = draw()?;
    let first_frame_secs = started.elapsed().as_secs_f32();
    let frames = (0..args.repeat.unwrap_or(0))
        .map(|_| draw().map(|(_, millis)| millis))
        .collect::<Result<Vec<f32>, _>>()?;

    if let Some(path) = &args.output {
        let mut png = Cursor::new(Vec::new());
        image
            .write_to(&mut png, image::ImageFormat::Png)
            .with_context(|| format!("cannot encode {}", path.display()))?;
        save(path, png.get_ref())?;
    }
    let shot = Shot {
        output: args.output.as_ref().map(|path| path.display().to_string()),
        adapter: studio.gpu.description(),
        size: args.camera.size,
        eye: camera.eye.to_array(),
        yaw: camera.yaw.to_degrees(),
        pitch: camera.pitch.to_degrees(),
        fov: camera.fov_x.to_degrees(),
        mode: args.mode.word(),
        open_secs,
        first_frame_secs,
        frames: Times::of(frames),
        warnings: warning_lines(&context.warnings),
    };
    if args.json {
        output.json(&Document::new(SCHEMA, &args.map.map, &shot))?;
    } else {
        shot.print(output)?;
        output.warnings(&shot.warnings)?;
    }
    Ok(Exit::Done)
}

/// As asked for, and for the rest as the map's game shows it.
fn options(args: &ShotArgs, scene: &Scene) -> ViewOptions {
    let scale = &scene.light_scale;
    let show = ProbeShow::from(args.probes);
    let mut entities = EntityOverlays::default();
    for layer in &args.entities {
        *entities.layer(EntityLayer::from(*layer)) = true;
    }
    ViewOptions {
        entities,
        mode: args.mode,
        overbright: args.overbright.unwrap_or(scale.overbright),
        clamp: args.clamp.map_or(scale.clamp, Clamp::from),
        exposure_ev: args.exposure,
        gamma: args.gamma,
        probes: ProbeOptions {
            show,
            size: args.probe_size,
            distance: args.probe_distance,
            x_ray: args.xray,
            ..ProbeOptions::default()
        },
        visibility: VisibilityOptions {
            draws_all: args.visibility.no_vis,
            locked_at: args.visibility.lock_pvs_at,
            shows_portals: args.visibility.portals,
        },
        doors: DoorStates::untouched(args.visibility.doors == DoorsArg::Closed),
        sample: SampleOptions {
            pinned: args.pin,
            source: if show == ProbeShow::Legacy {
                GridSource::Legacy
            } else {
                GridSource::Sh
            },
            ..SampleOptions::default()
        },
        ..ViewOptions::default()
    }
}

/// The grids; which points are in solid is only asked when spheres are drawn.
fn grids(args: &ShotArgs, scene: &Scene) -> GridSet {
    let lighting = scene.lighting.clone();
    if ProbeShow::from(args.probes) == ProbeShow::Off {
        return GridSet {
            lighting,
            ..GridSet::default()
        };
    }
    let legacy = lighting
        .light_grid
        .as_deref()
        .map(|grid| blocked_points(scene, &grid.lattice));
    let sh = lighting
        .sh_grid
        .as_deref()
        .map(|grid| blocked_points(scene, &grid.lattice));
    GridSet {
        blocked_legacy: legacy.unwrap_or_default(),
        blocked_sh: sh.unwrap_or_default(),
        lighting,
    }
}

/// Everything that draws one map.
struct Studio {
    gpu: Gpu,
    renderer: Renderer,
    scene: GpuScene,
    /// Only with spheres and in the modes that show a grid's light.
    grids: Option<GpuGrids>,
}

impl Studio {
    fn new(
        gpu: Gpu,
        scene: &Scene,
        grids: &GridSet,
        mode: RenderMode,
    ) -> Result<Self, RenderError> {
        let has_spheres = !grids.blocked_legacy.is_empty() || !grids.blocked_sh.is_empty();
        let uploaded = (has_spheres || mode.shows_grid()).then(|| {
            GpuGrids::upload(
                &gpu,
                &grids.lighting,
                &grids.blocked_legacy,
                &grids.blocked_sh,
            )
        });
        Ok(Self {
            renderer: Renderer::new(&gpu)?,
            scene: GpuScene::upload(&gpu, scene)?,
            grids: uploaded.transpose()?,
            gpu,
        })
    }

    fn draw(
        &mut self,
        args: &ShotArgs,
        camera: &Camera,
        options: &ViewOptions,
        overlays: &Overlays,
    ) -> Result<image::RgbaImage, RenderError> {
        render_to_image(
            &self.gpu,
            &mut self.renderer,
            args.camera.size,
            &self.scene,
            self.grids.as_ref(),
            camera,
            options,
            overlays,
            args.time,
        )
    }
}

/// What was drawn, and how long it took.
#[derive(Serialize)]
struct Shot {
    output: Option<String>,
    adapter: String,
    size: (u32, u32),
    eye: [f32; 3],
    /// Degrees.
    yaw: f32,
    /// Degrees, positive looks down.
    pitch: f32,
    /// Horizontal, degrees.
    fov: f32,
    mode: &'static str,
    /// From the start to a built scene.
    open_secs: f32,
    /// From the start to the first picture in memory.
    first_frame_secs: f32,
    /// Only with `--repeat`.
    frames: Option<Times>,
    warnings: Vec<WarningLine>,
}

/// Times of repeated frames, each from the call to the picture in memory.
#[derive(Serialize)]
struct Times {
    count: usize,
    median_ms: f32,
    min_ms: f32,
    max_ms: f32,
}

impl Times {
    fn of(mut millis: Vec<f32>) -> Option<Self> {
        millis.sort_by(f32::total_cmp);
        Some(Self {
            count: millis.len(),
            median_ms: *millis.get(millis.len() / 2)?,
            min_ms: *millis.first()?,
            max_ms: *millis.last()?,
        })
    }
}

impl Shot {
    fn print(&self, output: &mut Output<'_>) -> std::io::Result<()> {
        let out = output.out();
        if let Some(path) = &self.output {
            writeln!(out, "{path}")?;
        }
        let err = output.err();
        let [x, y, z] = self.eye;
        writeln!(
            err,
            "view {x},{y},{z},{:.2},{:.2} fov {:.2} on {}; map open after {:.2} s, first picture after {:.2} s",
            self.yaw, self.pitch, self.fov, self.adapter, self.open_secs, self.first_frame_secs
        )?;
        if let Some(times) = &self.frames {
            writeln!(
                output.out(),
                "{} frames: median {:.2} ms, fastest {:.2} ms, slowest {:.2} ms",
                times.count,
                times.median_ms,
                times.min_ms,
                times.max_ms
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_sorted_and_none_of_nothing() {
        let times = Times::of(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!(
            (times.count, times.median_ms, times.min_ms, times.max_ms),
            (3, 2.0, 1.0, 3.0)
        );
        assert!(Times::of(Vec::new()).is_none());
    }
}
