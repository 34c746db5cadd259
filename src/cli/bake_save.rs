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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::light::BakeSettings;
    use crate::scene::build;
    use crate::vfs::open_demo;

    /// Cancels once it was given some bytes.
    struct Doorbell<'a> {
        out: &'a mut dyn Write,
        left: usize,
        cancel: CancelToken,
    }

    impl Write for Doorbell<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.left = self.left.saturating_sub(bytes.len());
            if self.left == 0 {
                self.cancel.cancel();
            }
            self.out.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.out.flush()
        }
    }

    #[test]
    fn cancelled_at_any_byte_it_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("m.bsp");
        let bytes = vec![7; 5 * CHUNK_BYTES + 3];
        let contents = Contents::from(bytes.as_slice());
        for at in [1, 2 * CHUNK_BYTES, bytes.len()] {
            let cancel = CancelToken::default();
            let saved = save_with(&target, |out| {
                let mut out = Doorbell {
                    out,
                    left: at,
                    cancel: cancel.clone(),
                };
                copy(&contents, &mut out, &cancel)
            });
            assert!(saved.is_err() && cancel.is_cancelled(), "{at}");
            assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{at}");
        }
        save_with(&target, |out| copy(&contents, out, &CancelToken::default())).unwrap();
        assert!(std::fs::read(&target).unwrap() == bytes);
    }

    #[test]
    fn cancelled_between_bake_and_file_it_says_so_and_leaves_none() {
        let folder = tempfile::tempdir().unwrap();
        let context = JobContext::default();
        let scene = build(&open_demo(), &context).unwrap();
        let settings = BakeSettings {
            sh: false,
            no_trace: true,
            cell_size: Some(glam::Vec3::splat(256.0)),
            ..BakeSettings::default()
        };
        let baked = crate::light::bake(&scene, &settings, &context).unwrap();
        let save = |name: &str| {
            let target = folder.path().join(name);
            save_result(
                &scene,
                &baked,
                Some(ShContainer::Sidecar),
                &target,
                &context,
            )
        };
        assert!(!save("a.bsp").unwrap().has_sidecar);
        context.cancel.cancel();
        let error = save("b.bsp").err().unwrap();
        assert!(error.downcast_ref::<crate::job::Cancelled>().is_some());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
