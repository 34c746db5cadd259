//! The palette of RBSP's light grid: putting one together from the points of a lattice.

use std::collections::HashMap;

use crate::format::bsp::records::{self, size};
use crate::format::bsp::types::{
    LightGridPoint, STYLE_NONE, STYLE_SLOTS, StyledGrid, StyledGridPoint,
};

/// Palette entries at most; index 65,535 is what compilers write when the palette is full.
const PALETTE_MAX: usize = 65_535;
/// Differences that are merged, tried in turn until the palette fits. The second is what compilers merge anyway.
const TOLERANCES: [u8; 7] = [0, 4, 8, 16, 32, 64, 255];

impl StyledGrid {
    /// The grid with `points` in slot 0, and the largest difference between a point's bytes and what is stored for it.
    ///
    /// The other slots keep what `old` holds when it has as many points. More than 65,535 distinct points are merged, at
    /// first where no byte differs by more than 4, as compilers do, and if need be by more.
    pub(super) fn encode(points: &[LightGridPoint], old: &Self) -> (Self, u8) {
        let kept = (old.indices.len() == points.len()).then_some(old);
        let styled: Vec<StyledGridPoint> = points
            .iter()
            .enumerate()
            .map(|(index, point)| with_first_slot(*point, kept.and_then(|old| old.point(index))))
            .collect();
        Self::of_points(&styled)
    }

    /// The grid of `points`, and the largest difference between a point's bytes and what is stored for it.
    pub(super) fn of_points(points: &[StyledGridPoint]) -> (Self, u8) {
        let fitting = TOLERANCES
            .into_iter()
            .find_map(|tolerance| Some((merge(points, tolerance)?, tolerance)));
        fitting.unwrap_or_default()
    }

    /// Whether it holds just these points.
    pub(super) fn is_of(&self, points: &[StyledGridPoint]) -> bool {
        let found = (0..self.indices.len()).map(|index| self.point(index));
        self.indices.len() == points.len() && found.eq(points.iter().map(Some))
    }

    /// Lumps 15 and 17.
    pub(in crate::format) fn to_lumps(&self) -> [Vec<u8>; 2] {
        let palette = self.palette.iter();
        let indices = self.indices.iter();
        [
            palette
                .flat_map(records::encode_styled_grid_point)
                .collect(),
            indices.flat_map(|index| index.to_le_bytes()).collect(),
        ]
    }

    /// A record for each lattice point from lumps 15 and 17; one without light and styles where the index has no record.
    pub(in crate::format) fn expand_lumps(palette: &[u8], indices: &[u8]) -> Vec<u8> {
        let missing = records::encode_styled_grid_point(&StyledGridPoint {
            ambient: [[0; 3]; STYLE_SLOTS],
            directed: [[0; 3]; STYLE_SLOTS],
            styles: [STYLE_NONE; STYLE_SLOTS],
            zenith: 0,
            azimuth: 0,
        });
        let palette = palette.as_chunks::<{ size::STYLED_GRID_POINT }>().0;
        let indices = indices.chunks_exact(size::GRID_INDEX);
        let points = indices.flat_map(|index| {
            let index = usize::from(records::grid_index(index));
            *palette.get(index).unwrap_or(&missing)
        });
        points.collect()
    }

    /// Lumps 15 and 17 from a record for each lattice point: equal ones share an entry, in order of first use. More distinct
    /// ones than the palette takes are merged as on saving.
    pub(in crate::format) fn merge_records(points: &[u8]) -> [Vec<u8>; 2] {
        let records = points.chunks_exact(size::STYLED_GRID_POINT);
        let points: Vec<_> = records.map(records::styled_grid_point).collect();
        Self::of_points(&points).0.to_lumps()
    }
}

fn with_first_slot(point: LightGridPoint, old: Option<&StyledGridPoint>) -> StyledGridPoint {
    let mut styled = old.copied().unwrap_or_default();
    styled.ambient[0] = point.ambient;
    styled.directed[0] = point.directed;
    styled.styles[0] = if styled.styles[0] == STYLE_NONE {
        0
    } else {
        styled.styles[0]
    };
    (styled.zenith, styled.azimuth) = (point.zenith, point.azimuth);
    styled
}

/// Palette in order of first use, points of one cell of side `tolerance` + 1 merged into the first of them; `None` when
/// there are too many.
fn merge(points: &[StyledGridPoint], tolerance: u8) -> Option<StyledGrid> {
    let side = u16::from(tolerance) + 1;
    let cell = |byte: u8| u8::try_from(u16::from(byte) / side).unwrap_or_default();
    let mut grid = StyledGrid {
        palette: Vec::new(),
        indices: Vec::with_capacity(points.len()),
    };
    let mut known: HashMap<StyledGridPoint, u16> = HashMap::new();
    for point in points {
        let key = StyledGridPoint {
            ambient: point.ambient.map(|rgb| rgb.map(cell)),
            directed: point.directed.map(|rgb| rgb.map(cell)),
            styles: point.styles,
            zenith: cell(point.zenith),
            azimuth: cell(point.azimuth),
        };
        let next = u16::try_from(known.len()).ok();
        let index = if let Some(index) = known.get(&key) {
            *index
        } else {
            let index = next.filter(|index| usize::from(*index) < PALETTE_MAX)?;
            grid.palette.push(*point);
            known.insert(key, index);
            index
        };
        grid.indices.push(index);
    }
    Some(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(seed: u32) -> LightGridPoint {
        let [a, b, c, _] = seed.to_le_bytes();
        LightGridPoint {
            ambient: [a, b, c],
            directed: [1, 2, 3],
            zenith: 4,
            azimuth: 5,
        }
    }

    #[test]
    fn equal_points_share_an_entry_and_other_slots_stay() {
        let points = [point(1), point(2), point(1)];
        let (mut grid, tolerance) = StyledGrid::encode(&points, &StyledGrid::default());
        assert_eq!((grid.palette.len(), tolerance), (2, 0));
        assert_eq!(grid.indices, [0, 1, 0]);
        assert_eq!(grid.first_slots(), points);
        grid.palette[1].styles[1] = 3;
        grid.palette[1].ambient[1] = [9; 3];
        let (again, _) = StyledGrid::encode(&[point(7); 3], &grid);
        assert_eq!(again.palette.len(), 2);
        assert_eq!(again.point(1).unwrap().ambient[..2], [[7, 0, 0], [9; 3]]);
    }

    #[test]
    fn a_full_palette_merges_near_points_and_never_points_past_its_end() {
        let points: Vec<_> = (0..200_000).map(point).collect();
        let (grid, tolerance) = StyledGrid::encode(&points, &StyledGrid::default());
        assert_eq!(tolerance, 4);
        assert!(grid.palette.len() <= PALETTE_MAX);
        assert_eq!(grid.missing(), 0);
        for (stored, wanted) in grid.first_slots().iter().zip(&points) {
            for (a, b) in stored.ambient.iter().zip(&wanted.ambient) {
                assert!(a.abs_diff(*b) <= 4);
            }
        }
    }
}
