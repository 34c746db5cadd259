use std::sync::Arc;

use crate::view::command::{Command, Effect};
use crate::view::picking::PickedSurface;
use crate::view::state::{Level, State};

impl State {
    /// Asks for the curves that the options want, one time after another; call once a frame. Everything but the triangles of
    /// curves stays: view, selection, bakes and drafts.
    pub fn refresh_curves(&mut self) -> Option<Effect> {
        let map = self.map.as_ref()?;
        // A save brings a scene of its own, which would then be the older one.
        let must_wait = self.is_dividing || self.saving.is_some() || self.loading.is_some();
        if must_wait || map.scene.curves == self.options.curves {
            return None;
        }
        self.is_dividing = true;
        Some(Effect::DivideCurves {
            revision: map.revision,
            scene: Arc::clone(&map.scene),
            curves: self.options.curves,
        })
    }

    pub(super) fn apply_curves(&mut self, command: Command) {
        match command {
            Command::CurvesDivided {
                revision,
                from,
                scene,
            } => {
                let saves = self.saving.is_some();
                let Some(map) = self.map.as_mut().filter(|map| map.revision == revision) else {
                    return;
                };
                self.is_dividing = false;
                // What was made from a scene that is no longer shown is asked for again.
                if saves || !Arc::ptr_eq(&map.scene, &from) {
                    return;
                }
                map.scene = scene;
                self.surface = self
                    .surface
                    .take()
                    .map(|picked| PickedSurface::new(&map.scene, picked.hit.moved_to(&map.scene)));
            }
            Command::CurvesFailed { revision, message } => {
                let Some(map) = self.map.as_ref().filter(|map| map.revision == revision) else {
                    return;
                };
                self.is_dividing = false;
                self.options.curves = map.scene.curves;
                self.report(Level::Error, format!("Curves stay as they are: {message}"));
            }
            _ => {}
        }
    }
}
