use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::format::lattice::Lattice;
use crate::math::colour::Overbright;
use crate::probe::{LegacyProfile, node_legacy, sample_legacy};
use crate::render::error::RenderError;
use crate::render::gpu::Gpu;
use crate::render::grids::{GpuGrids, GridSpheres, PointState};
use crate::render::layouts::Layouts;
use crate::view::{Draft, GridSet, GridSource, ProbeShow, RenderMode, ViewOptions};

/// Chunks of points that one update uploads at most: 7 MiB of coefficients.
const CHUNKS_AT_ONCE: usize = 1024;
/// Bytes of room that are made at once.
const ROOM_AT_ONCE: u64 = 16 << 20;
/// Stale chunks that lie at most this far apart are uploaded together with what is between them.
const GAP: usize = 8;
/// Points of the SH grid at which one update samples the legacy grid at most.
const SAMPLES_AT_ONCE: usize = 16_384;

/// The grids of a running bake on the GPU. Follows them in steps that are each short enough for a frame, and turns into
/// the finished ones the same way.
pub struct DraftGrids {
    /// Number of the draft.
    number: u64,
    grids: GpuGrids,
    legacy: Uploaded,
    sh: Uploaded,
    /// What the legacy light was evaluated for.
    key: Option<(LegacyProfile, Overbright)>,
    /// Where sampling goes on.
    next_sample: usize,
    /// Points of the finished SH grid that are uploaded.
    finished: usize,
    /// Bytes of all buffers, one after the other, that are cleared.
    room: u64,
}

/// What of a grid is on the GPU: by chunk, the stamp that it had then.
#[derive(Default)]
struct Uploaded(Vec<u64>);

impl Uploaded {
    /// Takes the chunks that changed longest ago, at most so many, as ranges of points; says too whether that was all.
    fn take_stale(&mut self, stamps: &[u64]) -> (Vec<Range<usize>>, bool) {
        self.0.resize(stamps.len(), 0);
        let mut stale: Vec<usize> = (0..stamps.len())
            .filter(|chunk| stamps[*chunk] > self.0[*chunk])
            .collect();
        let is_all = stale.len() <= CHUNKS_AT_ONCE;
        if !is_all {
            stale.sort_by_key(|chunk| stamps[*chunk]);
            stale.truncate(CHUNKS_AT_ONCE);
            stale.sort_unstable();
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for chunk in stale {
            match runs.last_mut() {
                Some(run) if chunk - run.end <= GAP => run.end = chunk + 1,
                _ => runs.push(chunk..chunk + 1),
            }
        }
        for run in &mut runs {
            self.0[run.clone()].copy_from_slice(&stamps[run.clone()]);
            *run = run.start * Draft::CHUNK..run.end * Draft::CHUNK;
        }
        (runs, is_all)
    }
}

impl DraftGrids {
    /// The grids of `draft`, empty as yet. Call [`DraftGrids::make_room`] until there is room for them.
    ///
    /// # Errors
    /// When the device refuses, above all for want of memory.
    pub fn new(gpu: &Gpu, draft: &Draft) -> Result<Self, RenderError> {
        let layouts = Layouts::new(&gpu.device);
        let spheres = |source, has_sh| {
            let lattice: Lattice = draft.grids().lattice(source)?;
            let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
            Some(GridSpheres::empty(gpu, &layouts, lattice, count, has_sh))
        };
        gpu.checked(|| Self {
            number: draft.number(),
            grids: GpuGrids {
                light_grid: None,
                legacy: spheres(GridSource::Legacy, false),
                sh: spheres(GridSource::Sh, true),
                is_draft: true,
                stored: Mutex::default(),
            },
            legacy: Uploaded::default(),
            sh: Uploaded::default(),
            key: None,
            next_sample: 0,
            finished: 0,
            room: 0,
        })
    }

    /// Makes a part of the room; true when there is enough. Without it the device does so all at once when they are first
    /// drawn, and a software renderer stands still meanwhile.
    pub fn make_room(&mut self, gpu: &Gpu) -> bool {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("room for a draft"),
            });
        let wanted = self.room..self.room + ROOM_AT_ONCE;
        let mut first = 0;
        for buffer in [&self.grids.legacy, &self.grids.sh]
            .into_iter()
            .flatten()
            .flat_map(GridSpheres::buffers)
        {
            let end = first + buffer.size();
            let (from, to) = (wanted.start.max(first), wanted.end.min(end));
            if from < to {
                encoder.clear_buffer(buffer, from - first, Some(to - from));
            }
            first = end;
        }
        self.room = wanted.end.min(first);
        gpu.queue.submit([encoder.finish()]);
        self.room == first
    }

    /// For [`crate::render::Renderer::draw`].
    pub fn grids(&self) -> &GpuGrids {
        &self.grids
    }

    /// Whether it is this draft's.
    pub fn is_of(&self, draft: &Draft) -> bool {
        self.number == draft.number()
    }

    /// Whether it has the points of these grids, so that it can become them.
    pub fn has_points_of(&self, grids: &GridSet) -> bool {
        let lattice = |spheres: &Option<GridSpheres>| spheres.as_ref().map(|s| s.lattice);
        lattice(&self.grids.legacy) == grids.lattice(GridSource::Legacy)
            && lattice(&self.grids.sh) == grids.lattice(GridSource::Sh)
    }

    /// Uploads a part of what changed in `draft` since the last call; true when nothing is left.
    pub fn follow(&mut self, gpu: &Gpu, draft: &Draft, options: &ViewOptions) -> bool {
        let grids = draft.grids();
        let mut is_all = true;
        if let (Some(spheres), Some(grid)) = (&mut self.grids.sh, &grids.lighting.sh_grid) {
            let (runs, is_done) = self.sh.take_stale(draft.stamps(GridSource::Sh));
            is_all &= is_done;
            for run in runs {
                spheres.know(run.clone(), |index| state(draft, GridSource::Sh, index));
                spheres.write_sh(gpu, run, &grid.points);
            }
        }
        if let (RenderMode::GridLit, Some(grid)) = (options.mode, &grids.lighting.light_grid) {
            self.grids.store_legacy(gpu, &grid.points);
        }
        is_all & self.follow_legacy(gpu, draft, options)
    }

    fn follow_legacy(&mut self, gpu: &Gpu, draft: &Draft, options: &ViewOptions) -> bool {
        let key = (options.probes.legacy_profile, options.overbright);
        let (profile, overbright) = key;
        if self.key.replace(key) != Some(key) {
            self.legacy = Uploaded::default();
        }
        let Some(grid) = &draft.grids().lighting.light_grid else {
            return true;
        };
        match (options.probes.show, &mut self.grids.legacy, &self.grids.sh) {
            (ProbeShow::Legacy, Some(spheres), _) => {
                let (runs, is_all) = self.legacy.take_stale(draft.stamps(GridSource::Legacy));
                for run in runs {
                    spheres.know(run.clone(), |index| state(draft, GridSource::Legacy, index));
                    spheres.write_legacy(gpu, run, |index| {
                        let light = grid.points.get(index);
                        let light = light.map(|point| node_legacy(point, profile, overbright));
                        light.unwrap_or_default()
                    });
                }
                is_all
            }
            (ProbeShow::Both, _, Some(spheres)) => {
                // Each sample has eight points, so all are taken anew in turn as long as anything changes.
                let count = usize::try_from(spheres.lattice.len()).unwrap_or(usize::MAX);
                let first = if self.next_sample < count {
                    self.next_sample
                } else {
                    0
                };
                let end = count.min(first + SAMPLES_AT_ONCE);
                spheres.write_legacy(gpu, first..end, |index| {
                    let position = spheres.lattice.position_of(index);
                    sample_legacy(grid, position, profile, overbright).light
                });
                self.next_sample = end;
                end == count
            }
            _ => true,
        }
    }

    /// Uploads a part of the finished grids, which must have the same points; true when nothing is left.
    pub fn become_finished(&mut self, gpu: &Gpu, finished: &GridSet) -> bool {
        let (Some(spheres), Some(grid)) = (&mut self.grids.sh, &finished.lighting.sh_grid) else {
            return true;
        };
        let end = grid
            .points
            .len()
            .min(self.finished + CHUNKS_AT_ONCE * Draft::CHUNK);
        spheres.write_sh(gpu, self.finished..end, &grid.points);
        self.finished = end;
        end == grid.points.len()
    }

    /// The finished grids, after [`DraftGrids::become_finished`] said that nothing is left.
    #[must_use]
    pub fn into_finished(mut self, finished: &GridSet) -> GpuGrids {
        self.grids.is_draft = false;
        self.grids.stored = Mutex::default();
        self.grids
            .light_grid
            .clone_from(&finished.lighting.light_grid);
        for (spheres, blocked) in [
            (&mut self.grids.legacy, &finished.blocked_legacy),
            (&mut self.grids.sh, &finished.blocked_sh),
        ] {
            if let Some(spheres) = spheres {
                spheres.know(0..usize::MAX, |index| {
                    PointState::of(blocked.get(index).copied().unwrap_or(false))
                });
                let evaluated = spheres.evaluated.get_mut();
                *evaluated.unwrap_or_else(PoisonError::into_inner) = None;
            }
        }
        self.grids
    }
}

fn state(draft: &Draft, source: GridSource, index: usize) -> PointState {
    if draft.is_known(source, index) {
        let blocked = draft.grids().blocked(source).get(index);
        PointState::of(blocked.copied().unwrap_or(false))
    } else {
        PointState::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_chunks_are_taken_oldest_first_in_bounded_steps() {
        let mut uploaded = Uploaded::default();
        let points = |chunks: Range<usize>| chunks.start * Draft::CHUNK..chunks.end * Draft::CHUNK;
        let mut stamps = vec![0; 3 * CHUNKS_AT_ONCE];
        stamps[3] = 5;
        stamps[4] = 6;
        stamps[100] = 7;
        let (runs, is_all) = uploaded.take_stale(&stamps);
        assert_eq!(runs, [points(3..5), points(100..101)]);
        assert!(is_all && uploaded.take_stale(&stamps) == (Vec::new(), true));

        // Newer ones in front wait.
        stamps[..CHUNKS_AT_ONCE].fill(9);
        stamps[2 * CHUNKS_AT_ONCE..].fill(8);
        let (runs, is_all) = uploaded.take_stale(&stamps);
        assert_eq!(runs, [points(2 * CHUNKS_AT_ONCE..3 * CHUNKS_AT_ONCE)]);
        assert!(!is_all);
        let (runs, is_all) = uploaded.take_stale(&stamps);
        assert_eq!(runs, [points(0..CHUNKS_AT_ONCE)]);
        assert!(is_all);
    }
}
