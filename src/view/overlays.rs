use std::sync::Arc;

use glam::Vec3;

use crate::probe::{Corner, Verdict, sample_legacy, sample_sh};
use crate::view::entity_overlay::entity_lines;
use crate::view::overlay::{CornerMark, Overlays, SampleMark, SphereLight};
use crate::view::selection;
use crate::view::{GridSet, GridSource, ProbeShow, State, ViewOptions};

/// Radius of the sample sphere, game units: about a player's half width.
const SAMPLE_RADIUS: f32 = 14.0;
/// How much larger than its sphere the mark of the selection is.
const SELECTION_GROWTH: f32 = 1.25;
/// The same around a pair of spheres.
const PAIR_GROWTH: f32 = 2.2;

impl State {
    /// Where the sample sphere is: under the cursor while it samples, else where it is pinned.
    pub fn sample_position(&self) -> Option<Vec3> {
        self.hover.or(self.options.sample.pinned)
    }

    /// What is drawn over the map.
    pub fn overlays(&self) -> Overlays {
        let Some(map) = &self.map else {
            return Overlays::default();
        };
        let grids = map.shown();
        let selected = self.selected.and_then(|probe| {
            let position = selection::probe_position(grids, probe)?;
            let cell = selection::cell_size(grids, probe.source)?;
            let radius = selection::probe_radius(&self.options.probes, cell);
            let growth = match self.options.probes.show {
                ProbeShow::Both => PAIR_GROWTH,
                ProbeShow::Off | ProbeShow::Legacy | ProbeShow::Sh => SELECTION_GROWTH,
            };
            Some((position, radius * growth))
        });
        Overlays {
            sample: self
                .sample_position()
                .and_then(|position| sample_mark(grids, &self.options, position)),
            selected,
            outline: self
                .surface
                .as_ref()
                .map(|picked| Arc::clone(&picked.outline)),
            lines: entity_lines(
                &map.entities,
                self.options.entities,
                self.camera.eye,
                self.entity,
            ),
        }
    }
}

/// The sample sphere at a position, by the chosen grid or else the other one; `None` without any grid.
pub fn sample_mark(grids: &GridSet, options: &ViewOptions, position: Vec3) -> Option<SampleMark> {
    let legacy = || {
        let grid = grids.lighting.light_grid.as_ref()?;
        let profile = options.probes.legacy_profile;
        let sample = sample_legacy(grid, position, profile, options.overbright);
        Some((SphereLight::Legacy(sample.light), marks(&sample.corners)))
    };
    let sh = || {
        let grid = grids.lighting.sh_grid.as_ref()?;
        let profile = options.probes.sh_profile;
        let sample = sample_sh(grid, position, profile.corners);
        let light = SphereLight::Sh(sample.coefficients, profile);
        Some((light, marks(&sample.corners)))
    };
    let (light, corners) = match options.sample.source {
        GridSource::Legacy => legacy().or_else(sh),
        GridSource::Sh => sh().or_else(legacy),
    }?;
    Some(SampleMark {
        position,
        radius: SAMPLE_RADIUS,
        light,
        corners,
    })
}

fn marks(corners: &[Corner]) -> Vec<CornerMark> {
    corners
        .iter()
        .filter(|corner| corner.verdict != Verdict::OutsideGrid)
        .map(|corner| CornerMark {
            position: corner.position,
            weight: corner.weight,
            used: corner.verdict == Verdict::Used,
        })
        .collect()
}
