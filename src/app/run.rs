use std::path::PathBuf;

use winit::event_loop::EventLoop;

use crate::app::args::Args;
use crate::app::picture;
use crate::app::window::Viewer;
use crate::render::RenderError;

/// How the program ended.
#[derive(Debug)]
pub enum Outcome {
    /// The window was closed.
    Closed,
    /// There is no display; one picture was made instead.
    Picture {
        /// The PNG.
        path: PathBuf,
        /// Why, for people.
        notice: String,
    },
}

/// Why the program could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// No GPU that can be used; exit code 3.
    #[error(
        "{0}; install a Vulkan driver (for example mesa-vulkan-drivers) or try WGPU_BACKEND=gl; luxtool needs no GPU"
    )]
    NoGpu(#[source] RenderError),
    /// Anything else; exit code 2.
    #[error("{0:#}")]
    Other(anyhow::Error),
}

impl AppError {
    /// The exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoGpu(_) => 3,
            Self::Other(_) => 2,
        }
    }
}

impl From<anyhow::Error> for AppError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<RenderError>() {
            Ok(error) => Self::from(error),
            Err(error) => Self::Other(error),
        }
    }
}

impl From<RenderError> for AppError {
    fn from(error: RenderError) -> Self {
        if picture::is_no_gpu(&error) {
            Self::NoGpu(error)
        } else {
            Self::Other(error.into())
        }
    }
}

/// Shows the window until it is closed; without a display renders the start view into a file.
///
/// # Errors
/// See [`AppError`]. A map that cannot be opened is no error in the window; without a display it is.
pub fn run(args: Args) -> Result<Outcome, AppError> {
    let event_loop = if has_display() {
        EventLoop::with_user_event()
            .build()
            .map_err(|error| error.to_string())
    } else {
        Err("neither DISPLAY nor WAYLAND_DISPLAY is set".to_owned())
    };
    let event_loop = match event_loop {
        Ok(event_loop) => event_loop,
        Err(reason) => {
            let path = picture::start_view(&args)?;
            let notice = format!("no display ({reason}): rendered the start view instead");
            return Ok(Outcome::Picture { path, notice });
        }
    };
    let mut viewer = Viewer::new(args, event_loop.create_proxy());
    event_loop
        .run_app(&mut viewer)
        .map_err(|error| AppError::Other(error.into()))?;
    viewer.into_outcome().map(|()| Outcome::Closed)
}

/// Whether a display may be there. X11 and Wayland name theirs; other systems always have one.
fn has_display() -> bool {
    let is_named = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(all(unix, not(target_os = "macos")))
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .into_iter()
            .any(is_named)
}
