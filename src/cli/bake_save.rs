use std::io::{self, Write};
use std::path::Path;

use crate::format::bsp::{Contents, SIDECAR_EXTENSION, ShContainer, contents_with};
use crate::job::{CancelToken, JobContext};
use crate::light::{Baked, apply};
use crate::scene::Scene;
use crate::vfs::{save_pair_with, save_with};

/// Bytes that are written between two looks at the cancellation.
const CHUNK_BYTES: usize = 1 << 20;

/// What was written.
pub(crate) struct Saved {
    /// Bytes of the map.
    pub(crate) bytes: usize,
    /// Whether a file with the SH grid lies beside it.
    pub(crate) has_sidecar: bool,
}

/// Puts the grids into the map and writes it. Cancelled, it leaves neither map nor temporary file, and an old map as it was.
pub(crate) fn save_result(
    scene: &Scene,
    baked: &Baked,
    container: Option<ShContainer>,
    target: &Path,
    context: &JobContext,
) -> anyhow::Result<Saved> {
    context.cancel.check()?;
    context.progress.begin("apply", 0);
    let lit = apply(&scene.bsp, baked);
    let container = container.unwrap_or_else(|| lit.own_container());
    let contents = contents_with(&lit, container);
    context.progress.begin("write", 0);
    let map = |out: &mut dyn Write| copy(&contents.bsp, out, &context.cancel);
    let written = match &contents.sidecar {
        Some(sidecar) => {
            let beside = target.with_extension(SIDECAR_EXTENSION);
            let grid = |out: &mut dyn Write| copy(sidecar, out, &context.cancel);
            save_pair_with((target, map), (&beside, grid))
        }
        None => save_with(target, map),
    };
    if written.is_err() {
        // The better reason.
        context.cancel.check()?;
    }
    written?;
    Ok(Saved {
        bytes: contents.bsp.len(),
        has_sidecar: contents.sidecar.is_some(),
    })
}

/// Writes until it is cancelled, up to the very end.
fn copy(contents: &Contents<'_>, out: &mut dyn Write, cancel: &CancelToken) -> io::Result<()> {
    let mut out = Cancellable { out, cancel };
    contents.write_to(&mut out)?;
    out.check()
}

struct Cancellable<'a> {
    out: &'a mut dyn Write,
    cancel: &'a CancelToken,
}

impl Cancellable<'_> {
    fn check(&self) -> io::Result<()> {
        self.cancel.check().map_err(io::Error::other)
    }
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let part = bytes.get(..CHUNK_BYTES).unwrap_or(bytes);
        self.out.write(part)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
