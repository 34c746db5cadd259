use clap::Args;
use glam::Vec2;
use serde::Serialize;

use crate::cli::camera::CameraArgs;
use crate::cli::error::Exit;
use crate::cli::game_paths::MapArgs;
use crate::cli::output::{Document, Output, WarningLine, warning_lines};
use crate::cli::values;
use crate::job::JobContext;
use crate::math::colour::Overbright;
use crate::trace::Picker;
use crate::view::{SurfaceHit, SurfaceReport};

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/pick/1";

#[derive(Args, Debug)]
pub(crate) struct PickArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    #[command(flatten)]
    pub(crate) camera: CameraArgs,
    /// Pixel of the picture, from its left and top edge [default: the middle]
    #[arg(long, value_name = "X,Y", value_parser = values::pair, allow_hyphen_values = true)]
    pub(crate) at: Option<Vec2>,
    /// Bits by which stored light is shifted, or `blog` for 255/63; default: as the map's own game does
    #[arg(long, value_name = "0-3|blog", value_parser = values::overbright)]
    pub(crate) overbright: Option<Overbright>,
    /// One JSON object (`luxgrid/pick/1`) instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(args: &PickArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let context = JobContext::default();
    let (_, scene) = args.map.build(&context)?;
    let camera = args.camera.camera(&scene);
    let (width, height) = args.camera.size;
    let size = Vec2::new(width as f32, height as f32);
    // A pixel is its middle.
    let at = args.at.map_or(size * 0.5, |at| at + 0.5) / size;
    let ndc = Vec2::new(2.0 * at.x - 1.0, 1.0 - 2.0 * at.y);
    let ray = camera.ray(ndc, args.camera.aspect());
    let hit = Picker::new(&scene).pick_seen(&scene, &ray, |_| true);
    let report = hit.map(|hit| {
        let facing = if hit.normal.dot(ray.direction) > 0.0 {
            -hit.normal
        } else {
            hit.normal
        };
        let hit = SurfaceHit {
            surface: hit.surface,
            first_index: hit.first_index,
            weights: hit.weights,
            t: hit.t,
            position: hit.position,
            normal: facing,
        };
        SurfaceReport::new(&scene, &hit)
    });
    let scale = &scene.light_scale;
    let overbright = args.overbright.unwrap_or(scale.overbright);
    let pick = Pick {
        eye: camera.eye.to_array(),
        direction: ray.direction.to_array(),
        overbright: overbright.factor(),
        luxel_shown: report
            .as_ref()
            .and_then(|report| report.lightmap.as_ref())
            .map(|luxel| luxel.shown(overbright, scale.clamp)),
        picked: report.as_ref(),
        warnings: warning_lines(&context.warnings),
    };
    if args.json {
        output.json(&Document::new(SCHEMA, &args.map.map, &pick))?;
    } else {
        let text = report.as_ref().map_or_else(
            || "nothing\n".to_owned(),
            |report| report.text(overbright, scale.clamp),
        );
        output.out().write_all(text.as_bytes())?;
        output.warnings(&pick.warnings)?;
    }
    Ok(Exit::Done)
}

/// What is seen at a pixel.
#[derive(Serialize)]
struct Pick<'a> {
    eye: [f32; 3],
    /// Unit vector of the line of sight.
    direction: [f32; 3],
    /// Factor by which stored light is multiplied.
    overbright: f32,
    /// Null where nothing is seen.
    picked: Option<&'a SurfaceReport>,
    /// The lightmap's colour there after overbright and clamp.
    luxel_shown: Option<[u8; 3]>,
    warnings: Vec<WarningLine>,
}
