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
    /// Found and left out: they reach no point.
    culled: CulledInfo,
}

#[derive(Clone, Copy, Serialize)]
struct CulledInfo {
    in_solid: usize,
    no_grid: usize,
    too_weak: usize,
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
            culled: CulledInfo {
                in_solid: counts.culled.in_solid,
                no_grid: counts.culled.no_grid,
                too_weak: counts.culled.too_weak,
            },
        }
    }
}

impl std::fmt::Display for LightInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} entities in the BSP, {} in the .map, {} in the .ent; as compiled: {} points, {} spots, {} of surfaces, {} suns, {} of skies; left out: {} in solid, {} not for grids, {} too weak",
            self.bsp_entities,
            self.map_entities,
            self.ent_entities,
            self.points,
            self.spots,
            self.areas,
            self.suns,
            self.sky,
            self.culled.in_solid,
            self.culled.no_grid,
            self.culled.too_weak
        )
    }
}
