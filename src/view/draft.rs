use std::sync::Arc;

use glam::UVec3;

use crate::format::bsp::{LightGridPoint, ShGrid, ShPoint};
use crate::format::lattice::Lattice;
use crate::light::{Density, Finished, FinishedPoints};
use crate::scene::{LightGrid, Lighting};
use crate::view::map::GridSet;
use crate::view::options::GridSource;

/// How far a coarse point stands in for points that are not baked yet, points along each axis: to its neighbours.
const REACH: u32 = 3;
/// Nothing stands in for a point.
const NOTHING: u8 = u8::MAX;

/// What a running bake tells.
#[derive(Clone, Debug, PartialEq)]
pub enum BakeNews {
    /// The grids that are baked are known. Flags say which points are in solid, in lattice order.
    Begun {
        /// Of lump 15, with its flags; `None` when it is not baked.
        legacy: Option<(Lattice, Vec<bool>)>,
        /// Of lump 18, with its flags; `None` when it is not baked.
        sh: Option<(Lattice, Vec<bool>)>,
    },
    /// Points are done.
    Points(FinishedPoints),
}

/// The grids of a running bake as far as they are known: points that are not baked yet look like the nearest coarse point.
/// For the eye only; the result of the bake is the compiler's.
#[derive(Clone, Debug)]
pub struct Draft {
    grids: GridSet,
    known: [Known; 2],
    number: u64,
    version: u64,
    is_shown: bool,
}

/// What is known about the points of one grid.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By point: squared distance in cells to the point that its value comes from; 0 when baked.
    from: Vec<u8>,
    /// By point: whether it is in solid.
    solid: Vec<bool>,
    /// By chunk of points: the draft's version when one of them last changed.
    stamps: Vec<u64>,
}

impl Known {
    fn new(solid: Vec<bool>) -> Self {
        Self {
            from: vec![NOTHING; solid.len()],
            stamps: vec![0; solid.len().div_ceil(Draft::CHUNK)],
            solid,
        }
    }

    /// Of a grid that is not baked.
    fn complete(blocked: &[bool], count: usize) -> Self {
        Self {
            from: vec![0; count],
            stamps: vec![1; count.div_ceil(Draft::CHUNK)],
            solid: blocked.to_vec(),
        }
    }
}

impl Draft {
    /// Points of a chunk, which [`Draft::stamps`] is about.
    pub const CHUNK: usize = 64;

    /// Of a bake that has just begun; `old` are the map's grids, `number` tells it from any other.
    pub(super) fn new(
        number: u64,
        legacy: Option<(Lattice, Vec<bool>)>,
        sh: Option<(Lattice, Vec<bool>)>,
        old: &GridSet,
    ) -> Self {
        let mut grids = GridSet::default();
        let mut known = [Known::default(), Known::default()];
        if let Some((lattice, solid)) = legacy {
            let points = vec![LightGridPoint::default(); solid.len()];
            grids.lighting.light_grid = Some(Arc::new(LightGrid { lattice, points }));
            grids.blocked_legacy = vec![true; solid.len()];
            known[0] = Known::new(solid);
        } else if let Some(grid) = &old.lighting.light_grid {
            grids.lighting.light_grid = Some(Arc::clone(grid));
            grids.blocked_legacy.clone_from(&old.blocked_legacy);
            known[0] = Known::complete(&old.blocked_legacy, grid.points.len());
        }
        if let Some((lattice, solid)) = sh {
            let points = Arc::new(vec![ShPoint::default(); solid.len()]);
            grids.lighting.sh_grid = Some(Arc::new(ShGrid { lattice, points }));
            grids.blocked_sh = vec![true; solid.len()];
            known[1] = Known::new(solid);
        }
        Self {
            grids,
            known,
            number,
            version: 1,
            is_shown: false,
        }
    }

    /// The grids; a point about which nothing is known counts as blocked.
    pub fn grids(&self) -> &GridSet {
        &self.grids
    }

    /// Tells this draft from any other.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Rises with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Whether it is what the window shows.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// By chunk of [`Draft::CHUNK`] points of a grid: the version when one of them last changed, 0 for never.
    pub fn stamps(&self, source: GridSource) -> &[u64] {
        &self.known(source).stamps
    }

    /// Whether a point has a value, its own or that of a coarse point near it.
    pub fn is_known(&self, source: GridSource, index: usize) -> bool {
        let from = self.known(source).from.get(index);
        from.is_some_and(|from| *from != NOTHING)
    }

    fn known(&self, source: GridSource) -> &Known {
        match source {
            GridSource::Legacy => &self.known[0],
            GridSource::Sh => &self.known[1],
        }
    }

    pub(super) fn show(&mut self) {
        self.is_shown = true;
    }

    /// Takes in finished points.
    pub(super) fn take(&mut self, finished: &FinishedPoints) {
        self.version += 1;
        let (version, density) = (self.version, finished.density);
        let Lighting {
            light_grid,
            sh_grid,
        } = &mut self.grids.lighting;
        let [known_legacy, known_sh] = &mut self.known;
        if let (Some(grid), false) = (light_grid, finished.legacy.is_empty()) {
            let grid = Arc::make_mut(grid);
            let mut slots = Slots {
                lattice: grid.lattice,
                points: &mut grid.points,
                blocked: &mut self.grids.blocked_legacy,
                known: known_legacy,
                version,
            };
            slots.take(&finished.legacy, density);
        }
        if let (Some(grid), false) = (sh_grid, finished.sh.is_empty()) {
            let grid = Arc::make_mut(grid);
            let mut slots = Slots {
                lattice: grid.lattice,
                points: Arc::make_mut(&mut grid.points).as_mut_slice(),
                blocked: &mut self.grids.blocked_sh,
                known: known_sh,
                version,
            };
            slots.take(&finished.sh, density);
        }
    }
}

/// One grid of a draft while it changes.
struct Slots<'a, P> {
    lattice: Lattice,
    points: &'a mut [P],
    blocked: &'a mut [bool],
    known: &'a mut Known,
    version: u64,
}

impl<P: Copy + Default> Slots<'_, P> {
    fn take(&mut self, finished: &[Finished<P>], density: Density) {
        for (index, value) in finished {
            if *index >= self.points.len() {
                continue;
            }
            self.set(*index, value.unwrap_or_default(), 0);
            if let (Density::Coarse, Some(value)) = (density, value) {
                self.spread(self.lattice.cell(*index), *value);
            }
        }
    }

    fn set(&mut self, index: usize, value: P, from: u8) {
        self.points[index] = value;
        self.known.from[index] = from;
        self.blocked[index] = self.known.solid[index];
        self.known.stamps[index / Draft::CHUNK] = self.version;
    }

    /// Lends a value to the points around `cell` that have none from nearer by.
    fn spread(&mut self, cell: UVec3, value: P) {
        let first = cell.saturating_sub(UVec3::splat(REACH));
        let last = (cell + REACH).min(self.lattice.counts - 1);
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                let row = self.lattice.index(UVec3::new(first.x, y, z));
                let across = y.abs_diff(cell.y).pow(2) + z.abs_diff(cell.z).pow(2);
                for (index, x) in (row..).zip(first.x..=last.x) {
                    // At most 27.
                    let from = (across + x.abs_diff(cell.x).pow(2)) as u8;
                    if from < self.known.from[index] {
                        self.set(index, value, from);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn lattice() -> Lattice {
        Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::splat(16.0),
            counts: UVec3::new(12, 9, 5),
        }
    }

    fn points(density: Density, sh: Vec<Finished<ShPoint>>) -> FinishedPoints {
        FinishedPoints {
            density,
            legacy: Vec::new(),
            sh,
        }
    }

    fn value(draft: &Draft, index: usize) -> f32 {
        draft.grids().lighting.sh_grid.as_ref().unwrap().points[index][0][0]
    }

    #[test]
    fn coarse_points_stand_in_for_their_neighbours_until_those_are_baked() {
        let lattice = lattice();
        let at = |x, y, z| lattice.index(UVec3::new(x, y, z));
        let mut solid = vec![false; 540];
        solid[at(4, 3, 3)] = true;
        let mut draft = Draft::new(1, None, Some((lattice, solid)), &GridSet::default());
        assert!(!draft.is_known(GridSource::Sh, at(3, 3, 3)));
        assert!(draft.grids().blocked_sh.iter().all(|blocked| *blocked));

        let coarse = vec![
            (at(3, 3, 3), Some([[1.0; 3]; 9])),
            (at(7, 3, 3), Some([[2.0; 3]; 9])),
            (at(11, 3, 3), None),
        ];
        draft.take(&points(Density::Coarse, coarse));
        for (cell, expected) in [
            ((3, 3, 3), 1.0),
            ((0, 0, 0), 1.0),
            ((5, 3, 3), 1.0),
            ((6, 3, 3), 2.0),
            ((10, 6, 4), 2.0),
            // What found no air lends its black to nobody.
            ((11, 3, 3), 0.0),
        ] {
            let index = at(cell.0, cell.1, cell.2);
            assert!(draft.is_known(GridSource::Sh, index), "{cell:?}");
            assert!((value(&draft, index) - expected).abs() < 1e-6, "{cell:?}");
        }
        let blocked = &draft.grids().blocked_sh;
        assert!(blocked[at(4, 3, 3)] && !blocked[at(5, 3, 3)]);
        assert!(!draft.is_known(GridSource::Sh, at(11, 3, 0)) && blocked[at(11, 3, 0)]);

        // A baked point is not overwritten by a coarse one that comes late.
        draft.take(&points(
            Density::Fine,
            vec![(at(6, 7, 4), Some([[9.0; 3]; 9]))],
        ));
        let late = vec![(at(7, 7, 3), Some([[5.0; 3]; 9]))];
        draft.take(&points(Density::Coarse, late));
        assert!((value(&draft, at(6, 7, 4)) - 9.0).abs() < 1e-6);
        assert!((value(&draft, at(6, 7, 3)) - 5.0).abs() < 1e-6);
    }

    #[test]
    fn stamps_say_which_chunks_changed() {
        let lattice = lattice();
        let mut draft = Draft::new(
            1,
            None,
            Some((lattice, vec![false; 540])),
            &GridSet::default(),
        );
        assert_eq!(draft.stamps(GridSource::Sh), [0; 9]);
        draft.take(&points(
            Density::Fine,
            vec![(130, Some([[1.0; 3]; 9])), (7000, None)],
        ));
        let version = draft.version();
        let stamps = draft.stamps(GridSource::Sh);
        assert_eq!(stamps, [0, 0, version, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_grid_that_is_not_baked_is_the_old_one_and_stale_sh_is_gone() {
        let lattice = lattice();
        let grid = LightGrid {
            lattice,
            points: vec![LightGridPoint::default(); 540],
        };
        let sh = ShGrid {
            lattice,
            points: Arc::new(vec![ShPoint::default(); 540]),
        };
        let old = GridSet {
            lighting: Lighting {
                light_grid: Some(Arc::new(grid)),
                sh_grid: Some(Arc::new(sh)),
            },
            blocked_legacy: vec![false; 540],
            blocked_sh: vec![false; 540],
        };
        let draft = Draft::new(1, None, Some((lattice, vec![false; 540])), &old);
        assert_eq!(draft.grids().lighting.light_grid, old.lighting.light_grid);
        assert!(draft.is_known(GridSource::Legacy, 5) && draft.stamps(GridSource::Legacy)[0] == 1);
        let draft = Draft::new(1, Some((lattice, vec![false; 540])), None, &old);
        assert_eq!(draft.grids().lighting.sh_grid, None);
        assert!(draft.stamps(GridSource::Sh).is_empty());
    }
}
