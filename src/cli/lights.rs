use serde::Serialize;

use crate::light::LightCounts;

/// Lights by kind, as JSON and text have them.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct LightInfo {
    bsp_entities: usize,
    map_entities: usize,
    ent_entities: usize,
    points: usize,
    spots: usize,
    /// Pieces of emitting surfaces.
    areas: usize,
    suns: usize,
    sky: usize,
}

impl From<LightCounts> for LightInfo {
    fn from(counts: LightCounts) -> Self {
        Self {
            bsp_entities: counts.entities.bsp,
            map_entities: counts.entities.map,
            ent_entities: counts.entities.ent,
            points: counts.points,
            spots: counts.spots,
            areas: counts.areas,
            suns: counts.suns,
            sky: counts.sky,
        }
    }
}

impl LightInfo {
    /// Lights that a grid point may have to trace to.
    pub(crate) fn total(&self) -> u64 {
        (self.points + self.spots + self.areas + self.suns + self.sky) as u64
    }
}

impl std::fmt::Display for LightInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} entities in the BSP, {} in the .map, {} in the .ent; as compiled: {} points, {} spots, {} of surfaces, {} suns, {} of skies",
            self.bsp_entities,
            self.map_entities,
            self.ent_entities,
            self.points,
            self.spots,
            self.areas,
            self.suns,
            self.sky
        )
    }
}
