use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::app::args::Args;
use crate::app::effects;
use crate::job::JobContext;
use crate::render::{Gpu, GpuScene, RenderError, Renderer, render_to_image};
use crate::scene;
use crate::view::{Camera, LoadSource, Overlays, RenderMode, ViewOptions};

/// Size of the picture where there is no display, pixels.
const SIZE: (u32, u32) = (1280, 720);
/// Numbers tried for the name of a screenshot.
const NAME_LIMIT: u32 = 10_000;

/// Renders the start view of a map and writes it into the folder for temporary files; returns the path.
///
/// # Errors
/// [`RenderError::NoAdapter`] inside the chain when there is no GPU.
pub(super) fn start_view(args: &Args) -> anyhow::Result<PathBuf> {
    let source = args.file.clone().map_or(LoadSource::Demo, LoadSource::Path);
    let opened = effects::open(&source, &args.search())?;
    let context = JobContext::default();
    let scene = scene::build(&opened, &context).with_context(|| opened.name.clone())?;
    let gpu = Gpu::headless()?;
    let (width, height) = SIZE;
    let mut camera = Camera {
        fov_x: Camera::fov_x_for_aspect(95_f32.to_radians(), width as f32 / height as f32),
        ..Camera::default()
    };
    match (args.at, scene.spawns.first()) {
        (Some(at), _) => {
            camera.eye = at.eye;
            camera.yaw = at.yaw;
            camera.pitch = at.pitch;
        }
        (None, Some(spawn)) => camera = camera.at(spawn),
        (None, None) => camera.eye = scene.bounds.centre(),
    }
    let mut options = ViewOptions {
        mode: args.mode.unwrap_or_default(),
        ..ViewOptions::default()
    };
    options.adapt_to(&scene);
    let uploaded = GpuScene::upload(&gpu, &scene)?;
    let mut renderer = Renderer::new(&gpu)?;
    let image = render_to_image(
        &gpu,
        &mut renderer,
        SIZE,
        &uploaded,
        None,
        &camera,
        &options,
        &Overlays::default(),
        0.0,
    )?;
    let path = std::env::temp_dir().join(format!("luxgrid-{}.png", scene.name));
    image
        .save_with_format(&path, image::ImageFormat::Png)
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Whether an error means that there is no usable GPU.
pub(super) fn is_no_gpu(error: &RenderError) -> bool {
    matches!(
        error,
        RenderError::NoAdapter(_) | RenderError::NoDevice { .. }
    )
}

/// Writes a screenshot as `<map>_<mode>_NNNN.png` under a number not used before; returns the path.
pub(super) fn save_screenshot(
    image: &image::RgbaImage,
    map: &str,
    mode: RenderMode,
) -> anyhow::Result<PathBuf> {
    let folder = pictures_folder();
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    for number in 0..NAME_LIMIT {
        let path = folder.join(format!("{map}_{}_{number:04}.png", mode.word()));
        match File::create_new(&path) {
            Ok(file) => {
                image
                    .write_to(&mut BufWriter::new(file), image::ImageFormat::Png)
                    .with_context(|| path.display().to_string())?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
    }
    anyhow::bail!("{}: all {NAME_LIMIT} names are used", folder.display())
}

/// The pictures folder of the desktop, else `Pictures` at home, else the current folder; `luxgrid` inside.
fn pictures_folder() -> PathBuf {
    let named = std::env::var_os("XDG_PICTURES_DIR").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join("Pictures"));
    named
        .or_else(|| home.filter(|path| path.is_dir()))
        .unwrap_or_else(|| Path::new(".").to_owned())
        .join("luxgrid")
}
