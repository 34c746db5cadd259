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

/// Grids of a running bake, and of one that has ended until all of its result is uploaded. What takes long is done in parts
/// and in turn, one a frame: room, uploads, and drawing what was uploaded.
struct FollowedDraft {
    grids: DraftGrids,
    has_room: bool,
    /// Rises with everything that is to be drawn; 0 until there is something.
    step: u64,
    last_upload: Option<Instant>,
    /// Whether something is uploaded that is not to be drawn yet.
    is_waiting: bool,
    /// Version of the draft that was taken in last, and whether all of it.
    version: u64,
    is_complete: bool,
}

impl FollowedDraft {
    fn is_due(&self) -> bool {
        self.last_upload
            .is_none_or(|last| last.elapsed() >= DRAFT_INTERVAL)
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
        if let Some(draft) = &map.draft {
            let has_room = self.make_room(gpu, draft)?;
            if has_room && draft.is_shown() {
                self.follow(gpu, draft, options);
                return Ok(());
            }
        }
        self.upload_kept(gpu, map)
    }

    /// Makes room for a bake that has begun, in parts; true when there was enough before.
    fn make_room(&mut self, gpu: &Gpu, draft: &Draft) -> Result<bool, RenderError> {
        let followed = match &mut self.draft {
            Some(followed) if followed.grids.is_of(draft) => followed,
            slot => slot.insert(FollowedDraft {
                grids: DraftGrids::new(gpu, draft)?,
                has_room: false,
                step: 0,
                last_upload: None,
                is_waiting: false,
                version: 0,
                is_complete: false,
            }),
        };
        let had_room = followed.has_room;
        if !had_room {
            followed.has_room = followed.grids.make_room(gpu);
        }
        Ok(had_room)
    }

    /// Takes in a part of what a running bake has come to, when it is time.
    fn follow(&mut self, gpu: &Gpu, draft: &Draft, options: &ViewOptions) {
        let Some(followed) = &mut self.draft else {
            return;
        };
        let is_new = followed.version != draft.version() || !followed.is_complete;
        if followed.is_waiting {
            followed.is_waiting = false;
            followed.step += 1;
        } else if is_new && followed.is_due() {
            followed.is_complete = followed.grids.follow(gpu, draft, options);
            followed.version = draft.version();
            followed.is_waiting = true;
            followed.last_upload = Some(Instant::now());
        }
    }

    /// Uploads finished grids, unless they are there. Those of a bake that was followed take its draft's place part by part.
    fn upload_kept(&mut self, gpu: &Gpu, map: &LoadedMap) -> Result<(), RenderError> {
        let kept = map.kept();
        if self.kept.iter().any(|(set, _)| Arc::ptr_eq(set, kept)) {
            self.draft = self.draft.take().filter(|_| map.draft.is_some());
            return Ok(());
        }
        let draft = self.draft.take();
        if let Some(mut draft) = draft.filter(|draft| draft.grids.has_points_of(kept)) {
            if !draft.has_room {
                draft.has_room = draft.grids.make_room(gpu);
            } else if draft.grids.become_finished(gpu, kept) {
                let grids = draft.grids.into_finished(kept);
                self.kept.push((Arc::clone(kept), grids));
                return Ok(());
            }
            self.draft = Some(draft);
            return Ok(());
        }
        let (legacy, sh) = (&kept.blocked_legacy, &kept.blocked_sh);
        let grids = GpuGrids::upload(gpu, &kept.lighting, legacy, sh)?;
        self.kept.push((Arc::clone(kept), grids));
        Ok(())
    }

    /// Whether the result of a bake is not all uploaded, which takes further frames.
    pub fn is_catching_up(&self, map: &LoadedMap) -> bool {
        map.draft.is_none() && self.draft.is_some()
    }

    /// Changes with what is drawn of a running bake; `None` when finished grids are drawn.
    pub fn draft_step(&self) -> Option<u64> {
        let draft = self.draft.as_ref()?;
        (draft.step > 0).then_some(draft.step)
    }

    /// The finished grids that are shown of `map`: its own, or those before until its own are uploaded; `None` when a running
    /// bake is shown.
    pub(super) fn finished(&self, map: &LoadedMap) -> Option<&(Arc<GridSet>, GpuGrids)> {
        if self.draft_step().is_some() {
            return None;
        }
        let mut kept = self.kept.iter();
        let own = kept.find(|(set, _)| Arc::ptr_eq(set, map.kept()));
        own.or(self.kept.first())
    }

    /// What is shown of `map`.
    pub fn get(&self, map: &LoadedMap) -> Option<&GpuGrids> {
        match &self.draft {
            Some(draft) if draft.step > 0 => Some(draft.grids.grids()),
            _ => self.finished(map).map(|(_, grids)| grids),
        }
    }
}
