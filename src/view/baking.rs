use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::format::bsp::{SIDECAR_EXTENSION, ShContainer};
use crate::light::{Baked, Density};
use crate::view::bake_form::LightsBy;
use crate::view::command::{Command, Effect, FilePurpose};
use crate::view::draft::{BakeNews, Draft};
use crate::view::map::{BakeResult, GridSet, LoadedMap, MapFile, Side};
use crate::view::selection;
use crate::view::state::{Level, Pending, State, same};

/// Baking, comparing and saving.
impl State {
    pub(super) fn apply_bake(&mut self, command: Command) -> Option<Effect> {
        match command {
            Command::Planned(plan) => {
                // One for an older form or map still counts until the next comes; it is asked for at once.
                self.is_planning = false;
                self.plan = Some(*plan);
            }
            Command::StartBake => return self.start_bake(),
            Command::BakeFinished {
                revision,
                baked,
                grids,
                secs,
            } => self.bake_finished(revision, &baked, grids, secs),
            Command::BakeProgressed {
                revision,
                news,
                is_late,
            } if self.baking == Some(revision) => self.bake_progressed(news, is_late),
            Command::BakeFailed { revision, message } if self.baking == Some(revision) => {
                self.baking = None;
                self.change_shown(|map| map.draft = None);
                self.report(Level::Error, format!("Bake failed: {message}"));
            }
            Command::BakeCancelled { revision } if self.baking == Some(revision) => {
                self.baking = None;
                self.change_shown(|map| map.draft = None);
                self.report(Level::Info, "Bake cancelled, nothing changed");
            }
            Command::LightsDialog => return Some(Effect::PickFile(FilePurpose::Lights)),
            Command::TakeLights(path) => return Some(Effect::ReadLights(path)),
            Command::LightsTaken(source) => {
                let path = source.origin.display();
                self.report(Level::Info, format!("Bakes take lights from {path}"));
                self.bake_form.lights = LightsBy::File(source);
            }
            Command::ResetLights => self.bake_form.lights = LightsBy::Auto,
            Command::CancelBake => return self.baking.map(|_| Effect::CancelBake),
            Command::ToggleBlink => self.toggle_blink(),
            Command::Save => {
                let map = self.map.as_ref()?;
                let Some(path) = map.file.writable().map(Path::to_path_buf) else {
                    return Some(Effect::PickFile(FilePurpose::SaveAs));
                };
                return self.save(path, false);
            }
            Command::SaveAsDialog => {
                self.map.as_ref()?;
                return Some(Effect::PickFile(FilePurpose::SaveAs));
            }
            Command::SaveAs(path) => return self.save(path, false),
            Command::Saved { .. } => self.saved(command),
            Command::SaveFailed(message) => {
                self.saving = None;
                self.report(Level::Error, format!("Not saved: {message}"));
            }
            Command::SaveBlocked(path) => {
                self.saving = None;
                let text = format!("Not saved: {} was changed on disk", path.display());
                self.report(Level::Warning, text);
                self.pending = Some(Pending::Overwrite(path));
            }
            _ => {}
        }
        None
    }

    fn start_bake(&mut self) -> Option<Effect> {
        let map = self.map.as_ref()?;
        if self.baking.is_some() {
            self.report(Level::Info, "A bake is running; cancel it first (Esc)");
            return None;
        }
        self.baking = Some(map.revision);
        self.banner = None;
        Some(Effect::StartBake {
            revision: map.revision,
            scene: Arc::clone(&map.scene),
            grids: Arc::clone(&map.original),
            settings: Box::new(self.bake_form.settings()),
            eye: self.camera.eye,
        })
    }

    fn bake_finished(&mut self, revision: u64, baked: &Arc<Baked>, grids: Arc<GridSet>, secs: f32) {
        self.baking.take_if(|at| *at == revision);
        if self.map.as_ref().is_none_or(|map| map.revision != revision) {
            return;
        }
        let result = BakeResult {
            baked: Arc::clone(baked),
            grids,
            secs,
            saved: false,
        };
        self.change_shown(|map| {
            map.bake = Some(result);
            map.side = Side::Baked;
            map.draft = None;
        });
        let report = &baked.report;
        self.report(
            Level::Info,
            format!(
                "Bake finished in {secs:.1} s: {} rays, {} points stayed in solid; unsaved",
                report.rays, report.points_in_solid
            ),
        );
    }

    /// Takes in what a running bake tells. The old grids are shown until all coarse points are there, or it gets late.
    fn bake_progressed(&mut self, news: Vec<BakeNews>, is_late: bool) {
        let Some(map) = self.map.as_mut() else {
            return;
        };
        let mut has_points = false;
        let mut is_past_coarse = false;
        for news in news {
            match (news, &mut map.draft) {
                (BakeNews::Begun { legacy, sh }, draft) => {
                    self.drafts += 1;
                    *draft = Some(Draft::new(self.drafts, legacy, sh, &map.original));
                }
                (BakeNews::Points(points), Some(draft)) => {
                    has_points = true;
                    is_past_coarse |= points.density == Density::Fine;
                    draft.take(&points);
                }
                (BakeNews::Points(_), None) => {}
            }
        }
        let is_hidden = map.draft.as_ref().is_some_and(|draft| !draft.is_shown());
        if is_hidden && (is_past_coarse || is_late && has_points) {
            self.change_shown(|map| {
                if let Some(draft) = &mut map.draft {
                    draft.show();
                }
            });
        }
    }

    fn toggle_blink(&mut self) {
        if self.baking.is_some() {
            self.report(
                Level::Info,
                "The running bake is shown until it ends or is stopped (Esc)",
            );
            return;
        }
        let side = match &self.map {
            Some(map) if map.bake.is_some() => match map.side {
                Side::Original => Side::Baked,
                Side::Baked => Side::Original,
            },
            _ => {
                self.report(Level::Info, "Nothing to compare yet: bake first (F5)");
                return;
            }
        };
        self.show_side(side);
    }

    fn show_side(&mut self, side: Side) {
        self.change_shown(|map| map.side = side);
    }

    /// Changes what is shown; the selection moves to the point of the new grid that is nearest to the old one.
    fn change_shown(&mut self, change: impl FnOnce(&mut LoadedMap)) {
        let Some(map) = self.map.as_mut() else {
            return;
        };
        let place = self.selected.and_then(|probe| {
            let position = selection::probe_position(map.shown(), probe)?;
            Some((probe.source, position))
        });
        change(map);
        self.selected = place
            .and_then(|(source, position)| selection::nearest_probe(map.shown(), source, position));
    }

    /// Starts a save; `overwrite` says that a change by somebody else may be lost.
    pub(super) fn save(&mut self, path: PathBuf, overwrite: bool) -> Option<Effect> {
        self.panels.path_field = None;
        let map = self.map.as_ref()?;
        if self.saving.is_some() {
            self.report(Level::Info, "A save is running");
            return None;
        }
        let baked = map.bake.as_ref().map(|bake| Arc::clone(&bake.baked));
        let container = self.bake_form.sh_container;
        let is_same = map.file.writable() == Some(path.as_path()) && !map.moves_sh(container);
        if baked.is_none() && is_same {
            self.report(Level::Info, "Nothing to save: no bake since opening");
            return None;
        }
        self.saving = Some(path.clone());
        // A failure of an earlier try is no longer true.
        self.banner = None;
        Some(Effect::SaveBsp {
            revision: map.revision,
            path,
            scene: Arc::clone(&map.scene),
            baked,
            container,
            overwrite,
        })
    }

    fn saved(&mut self, command: Command) {
        let Command::Saved {
            revision,
            path,
            baked,
            scene,
            grids,
        } = command
        else {
            return;
        };
        self.saving = None;
        let place = match scene.bsp.sh_container {
            None => String::new(),
            Some(ShContainer::V47) => ", SH grid in lump 18".to_owned(),
            Some(ShContainer::Bspx) => ", SH grid in a BSPX block".to_owned(),
            Some(ShContainer::Sidecar) => {
                let beside = path.with_extension(SIDECAR_EXTENSION);
                format!(", SH grid in {}", beside.display())
            }
        };
        self.report(Level::Info, format!("Saved {}{place}", path.display()));
        let Some(map) = self.map.as_mut().filter(|map| map.revision == revision) else {
            return;
        };
        map.scene = scene;
        map.original = grids;
        map.file = MapFile::Disk(path.clone());
        self.last_source = Some(crate::view::LoadSource::Path(path));
        let current = map.bake.as_ref().map(|bake| &bake.baked);
        if same(current, baked.as_ref()) {
            // What was B is now A, byte for byte; nothing is left to compare.
            self.show_side(Side::Original);
            if let Some(map) = &mut self.map {
                map.bake = None;
            }
        }
    }
}
