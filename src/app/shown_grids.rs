use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::render::{DraftGrids, Gpu, GpuGrids, RenderError};
use crate::view::{Draft, GridSet, LoadedMap, ViewOptions};

/// How often the picture follows a running bake at most.
const DRAFT_INTERVAL: Duration = Duration::from_millis(100);

/// The grids of the opened map that are on the GPU: finished ones that are shown in turn, and those of a running bake.
#[derive(Default)]
pub struct ShownGrids {
    kept: Vec<(Arc<GridSet>, GpuGrids)>,
    draft: Option<FollowedDraft>,
}

/// Grids of a running bake, and of one that has ended until all of its result is uploaded.
struct FollowedDraft {
    grids: DraftGrids,
    /// Rises with every upload.
    step: u64,
    last_step: Instant,
    /// Version of the draft that was taken in last, and whether all of it.
    version: u64,
    is_complete: bool,
}

impl FollowedDraft {
    fn is_due(&self) -> bool {
        self.last_step.elapsed() >= DRAFT_INTERVAL
    }

    fn step(&mut self) {
        self.step += 1;
        self.last_step = Instant::now();
    }
}

impl ShownGrids {
    /// Uploads what `map` shows and is not there yet. Of a running bake, and of its result, a part that is short enough for
    /// a frame.
    ///
    /// # Errors
    /// When the device refuses, above all for want of memory.
    pub fn upload(
        &mut self,
        gpu: &Gpu,
        map: &LoadedMap,
        options: &ViewOptions,
    ) -> Result<(), RenderError> {
        let baked = map.bake.as_ref().map(|bake| &bake.grids);
        self.kept.retain(|(set, _)| {
            Arc::ptr_eq(set, &map.original) || baked.is_some_and(|baked| Arc::ptr_eq(set, baked))
        });
        match map.shown_draft() {
            Some(draft) => self.follow(gpu, draft, options),
            None => self.upload_kept(gpu, map.kept()),
        }
    }

    /// Takes in a part of what a running bake has come to, when it is time.
    fn follow(
        &mut self,
        gpu: &Gpu,
        draft: &Draft,
        options: &ViewOptions,
    ) -> Result<(), RenderError> {
        let followed = match &mut self.draft {
            Some(followed) if followed.grids.is_of(draft) => followed,
            slot => slot.insert(FollowedDraft {
                grids: DraftGrids::new(gpu, draft)?,
                step: 0,
                last_step: Instant::now(),
                version: 0,
                is_complete: false,
            }),
        };
        let is_new = followed.version != draft.version() || !followed.is_complete;
        if followed.step == 0 || is_new && followed.is_due() {
            followed.is_complete = followed.grids.follow(gpu, draft, options);
            followed.version = draft.version();
            followed.step();
        }
        Ok(())
    }

    /// Uploads finished grids, unless they are there. Those of a bake whose draft was shown take its place step by step.
    fn upload_kept(&mut self, gpu: &Gpu, kept: &Arc<GridSet>) -> Result<(), RenderError> {
        if self.kept.iter().any(|(set, _)| Arc::ptr_eq(set, kept)) {
            self.draft = None;
            return Ok(());
        }
        let draft = self.draft.take();
        if let Some(mut draft) = draft.filter(|draft| draft.grids.has_points_of(kept)) {
            if draft.grids.become_finished(gpu, kept) {
                let grids = draft.grids.into_finished(kept);
                self.kept.push((Arc::clone(kept), grids));
            } else {
                draft.step();
                self.draft = Some(draft);
            }
            return Ok(());
        }
        let (legacy, sh) = (&kept.blocked_legacy, &kept.blocked_sh);
        let grids = GpuGrids::upload(gpu, &kept.lighting, legacy, sh)?;
        self.kept.push((Arc::clone(kept), grids));
        Ok(())
    }

    /// Whether the result of a bake is not all uploaded, which takes further frames.
    pub fn is_catching_up(&self, map: &LoadedMap) -> bool {
        map.shown_draft().is_none() && self.draft.is_some()
    }

    /// Changes with what is drawn of a running bake; `None` when finished grids are drawn.
    pub fn draft_step(&self) -> Option<u64> {
        self.draft.as_ref().map(|draft| draft.step)
    }

    /// What `map` shows, as far as it is uploaded.
    pub fn get(&self, map: &LoadedMap) -> Option<&GpuGrids> {
        if let Some(draft) = &self.draft {
            return Some(draft.grids.grids());
        }
        let mut kept = self.kept.iter();
        let found = kept.find(|(set, _)| Arc::ptr_eq(set, map.kept()));
        found.map(|(_, grids)| grids)
    }
}
