use crate::job::StageTime;
use crate::light::lights::{Emission, LightList};

/// Light entities by the file that they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// In the BSP.
    pub bsp: usize,
    /// In a `.map`.
    pub map: usize,
    /// In an `.ent`.
    pub ent: usize,
}

/// Lights by kind, after splitting and culling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LightCounts {
    /// Light entities, as they were found.
    pub entities: EntityCounts,
    /// Point lights.
    pub points: usize,
    /// Spot lights.
    pub spots: usize,
    /// Pieces of emitting surfaces, backsplash included.
    pub areas: usize,
    /// Suns, jittered ones counted.
    pub suns: usize,
    /// Lights of skies.
    pub sky: usize,
    /// Lights that were found and left out.
    pub culled: CulledLights,
}

/// Lights that reach no point of a grid, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CulledLights {
    /// In solid, with no open place nearby.
    pub in_solid: usize,
    /// They leave the grids alone (`spawnflags` 16).
    pub no_grid: usize,
    /// Too weak to reach anything.
    pub too_weak: usize,
}

impl LightCounts {
    /// Counts the lights that are left.
    pub(super) fn of(list: &LightList) -> Self {
        let mut counts = Self {
            entities: list.entities,
            culled: list.culled,
            ..Self::default()
        };
        for light in &list.lights {
            *match light.emission {
                Emission::Point => &mut counts.points,
                Emission::Spot { .. } => &mut counts.spots,
                Emission::Area(_) => &mut counts.areas,
                Emission::Sun { from_sky: false } => &mut counts.suns,
                Emission::Sun { from_sky: true } => &mut counts.sky,
            } += 1;
        }
        counts
    }

    /// Lights that a grid point may have to trace to.
    pub fn total(&self) -> u64 {
        [self.points, self.spots, self.areas, self.suns, self.sky]
            .into_iter()
            .map(|count| count as u64)
            .sum()
    }
}

/// Pairs of a gathering place and a light: how many there are, and how many are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// Places times lights.
    pub all: u64,
    /// Of lights that may reach the place's block of neighbours at all.
    pub near: u64,
}

/// Times and counts of a finished bake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakeReport {
    /// Seconds spent collecting lights and building the hierarchy.
    pub prepare_secs: f32,
    /// Seconds spent on the grids.
    pub trace_secs: f32,
    /// Both in detail.
    pub stages: Vec<StageTime>,
    /// Threads that worked on the grids.
    pub threads: usize,
    /// Shadow rays traced.
    pub rays: u64,
    /// Which of them could be spared.
    pub pairs: PairCounts,
    /// Grid points in solid that found no air.
    pub points_in_solid: u64,
    /// Lights used.
    pub lights: LightCounts,
}
