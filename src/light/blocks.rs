//! Which points are gathered together, and in which order.

use std::ops::Range;

use glam::{UVec3, Vec3};

use crate::format::lattice::Lattice;
use crate::light::clusters::Clusters;
use crate::light::gather::Grid;
use crate::light::watch::Density;
use crate::math::Aabb;

/// Points along each side of a block. A power of two.
const BLOCK_SIDE: u32 = 4;
/// Coarse points along each side of a coarse block.
const COARSE_SIDE: u32 = 2;

/// One of so many points of a block is asked whether it is visible; odd, so that they lie on all sides.
const SAMPLE_STEP: usize = 9;

/// Neighbouring points of one lattice that are gathered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) grid: Grid,
    /// Coordinates of the first point.
    first: UVec3,
    kind: Kind,
}

/// Which of the points of its box a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All.
    Whole,
    /// The coarse ones.
    Coarse,
    /// All but the coarse ones.
    Rest,
}

impl Kind {
    /// Lattice points along each side of its box.
    fn side(self) -> u32 {
        match self {
            Self::Whole | Self::Rest => BLOCK_SIDE,
            Self::Coarse => BLOCK_SIDE * COARSE_SIDE,
        }
    }
}

impl Block {
    /// The points in an order in which every eight that follow each other are neighbours, as far as none is left out.
    pub(super) fn cells(self, lattice: &Lattice) -> impl Iterator<Item = UVec3> {
        let (side, step) = match self.kind {
            Kind::Whole | Kind::Rest => (BLOCK_SIDE, 1),
            Kind::Coarse => (COARSE_SIDE, BLOCK_SIDE),
        };
        let counts = lattice.counts;
        (0..side.pow(3)).filter_map(move |number| {
            let axis = |shift: u32| (number >> shift & 1) | (number >> (shift + 2) & 2);
            let at = UVec3::new(axis(0), axis(1), axis(2)) * step;
            let cell = match self.kind {
                Kind::Whole | Kind::Rest => self.first + at,
                Kind::Coarse => coarse_cell(self.first + at, counts),
            };
            let is_left_out = self.kind == Kind::Rest && is_coarse(cell, counts);
            (cell.cmplt(counts).all() && !is_left_out).then_some(cell)
        })
    }

    /// Box around the points.
    fn bounds(self, lattice: &Lattice) -> Aabb {
        let last = (self.first + (self.kind.side() - 1)).min(lattice.counts - 1);
        Aabb {
            min: lattice.position(self.first),
            max: lattice.position(last),
        }
    }
}

/// The coarse point of the group of points that begins at `first`: its last one, so that the rest of a group still packs
/// by eights. A lattice thinner than a group has its last layer instead.
fn coarse_cell(first: UVec3, counts: UVec3) -> UVec3 {
    let last = BLOCK_SIDE - 1;
    let axis = |axis: usize| {
        if counts[axis] > last || first[axis] >= counts[axis] {
            first[axis] + last
        } else {
            counts[axis] - 1
        }
    };
    UVec3::new(axis(0), axis(1), axis(2))
}

/// Whether a point is a coarse one.
fn is_coarse(cell: UVec3, counts: UVec3) -> bool {
    coarse_cell(cell / BLOCK_SIDE * BLOCK_SIDE, counts) == cell
}

/// By axis: which coordinates of a lattice are baked.
pub(super) type Wanted = [Range<u32>; 3];

/// The coordinates of the points inside `region`, its faces included; without one all.
pub(super) fn wanted(lattice: &Lattice, region: Option<&Aabb>) -> Wanted {
    std::array::from_fn(|axis| {
        let Some(region) = region else {
            return 0..lattice.counts[axis];
        };
        let at = |number: u32| lattice.position(UVec3::splat(number))[axis];
        let all = 0..lattice.counts[axis];
        // Positions ascend.
        let first = all.clone().find(|number| at(*number) >= region.min[axis]);
        let first = first.unwrap_or(lattice.counts[axis]);
        let end = all.rev().find(|number| at(*number) <= region.max[axis]);
        first..end.map_or(first, |last| (last + 1).max(first))
    })
}

/// Whether a point is baked.
pub(super) fn is_wanted(wanted: &Wanted, cell: UVec3) -> bool {
    wanted
        .iter()
        .enumerate()
        .all(|(axis, range)| range.contains(&cell[axis]))
}

/// Points that are baked.
pub(super) fn wanted_count(wanted: &Wanted) -> u64 {
    wanted.iter().map(|range| range.len() as u64).product()
}

/// The blocks of a lattice that have a baked point, x fastest.
fn blocks_of(grid: Grid, wanted: &Wanted, kind: Kind) -> Vec<Block> {
    let side = kind.side();
    let steps = |axis: usize| {
        let range = &wanted[axis];
        let first = range.start / side * side;
        let end = if range.is_empty() { first } else { range.end };
        (first..end).step_by(side as usize)
    };
    let mut blocks = Vec::new();
    for z in steps(2) {
        for y in steps(1) {
            blocks.extend(steps(0).map(|x| Block {
                grid,
                first: UVec3::new(x, y, z),
                kind,
            }));
        }
    }
    blocks
}

/// A lattice that is baked, and which of its points are.
pub(super) type Target<'a> = (Grid, &'a Lattice, &'a Wanted);

/// All blocks in lattice order, for bakes that nobody watches.
pub(super) fn whole<'a>(targets: impl Iterator<Item = Target<'a>>) -> Vec<Block> {
    targets
        .flat_map(|(grid, _, wanted)| blocks_of(grid, wanted, Kind::Whole))
        .collect()
}

/// The blocks of one pass: those visible from `eye` first, the nearest foremost.
pub(super) fn seen_from<'a>(
    eye: Vec3,
    density: Density,
    clusters: &Clusters<'_>,
    targets: impl Iterator<Item = Target<'a>>,
) -> Vec<Block> {
    let from = clusters.of_point(eye, 0.0);
    let is_seen = |point: Vec3| {
        let to = clusters.of_point(point, 0.0);
        to.is_some_and(|to| from.is_none_or(|from| clusters.sees(from, to)))
    };
    let (kind, step) = match density {
        Density::Coarse => (Kind::Coarse, 1),
        Density::Fine => (Kind::Rest, SAMPLE_STEP),
    };
    let mut ranked = Vec::new();
    for (grid, lattice, wanted) in targets {
        ranked.extend(blocks_of(grid, wanted, kind).into_iter().map(|block| {
            let bounds = block.bounds(lattice);
            let nearest = eye.clamp(bounds.min, bounds.max);
            let mut some = block.cells(lattice).step_by(step);
            let is_hidden = !some.any(|cell| is_seen(lattice.position(cell)));
            (is_hidden, nearest.distance_squared(eye), block)
        }));
    }
    ranked.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ranked.into_iter().map(|(_, _, block)| block).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lattice(counts: UVec3) -> Lattice {
        Lattice {
            origin: Vec3::ZERO,
            cell_size: Vec3::new(8.0, 16.0, 32.0),
            counts,
        }
    }

    fn cells(lattice: &Lattice, wanted: &Wanted, kind: Kind) -> Vec<[u32; 3]> {
        blocks_of(Grid::Sh, wanted, kind)
            .into_iter()
            .flat_map(|block| block.cells(lattice))
            .map(|cell| cell.to_array())
            .collect()
    }

    #[test]
    fn coarse_and_rest_are_the_whole_and_share_nothing() {
        for counts in [[1, 1, 1], [2, 3, 4], [5, 8, 9], [17, 3, 33]] {
            let lattice = lattice(counts.into());
            let all = wanted(&lattice, None);
            let whole = cells(&lattice, &all, Kind::Whole);
            let [coarse, rest] = [Kind::Coarse, Kind::Rest].map(|kind| cells(&lattice, &all, kind));
            assert!(!coarse.is_empty(), "{counts:?}");
            assert_eq!(whole.len() as u64, lattice.len());
            let together: BTreeSet<_> = coarse.iter().chain(&rest).collect();
            assert_eq!(together, whole.iter().collect());
            assert_eq!(coarse.len() + rest.len(), whole.len(), "{counts:?}");
        }
    }

    #[test]
    fn eight_that_follow_are_neighbours_also_without_the_coarse_point() {
        let lattice = lattice(UVec3::splat(8));
        for block in blocks_of(Grid::Sh, &wanted(&lattice, None), Kind::Rest) {
            let cells: Vec<UVec3> = block.cells(&lattice).collect();
            assert_eq!(cells.len(), 63);
            for eight in cells.chunks(8) {
                let low = eight.iter().copied().reduce(UVec3::min).unwrap();
                let high = eight.iter().copied().reduce(UVec3::max).unwrap();
                assert_eq!(high - low, UVec3::ONE);
            }
        }
    }

    #[test]
    fn a_region_takes_the_points_inside_and_on_its_faces() {
        let lattice = lattice(UVec3::new(10, 10, 10));
        let region = |min: [f32; 3], max: [f32; 3]| Aabb {
            min: min.into(),
            max: max.into(),
        };
        let some = wanted(
            &lattice,
            Some(&region([8.0, 17.0, -5.0], [24.0, 48.0, 31.9])),
        );
        assert_eq!(some, [1..4, 2..4, 0..1]);
        assert_eq!(wanted_count(&some), 6);
        assert!(is_wanted(&some, UVec3::new(3, 2, 0)) && !is_wanted(&some, UVec3::new(4, 2, 0)));
        for empty in [
            region([1.0, 0.0, 0.0], [7.0, 90.0, 90.0]),
            region([500.0, 0.0, 0.0], [600.0, 90.0, 90.0]),
            region([-50.0, 0.0, 0.0], [-1.0, 90.0, 90.0]),
        ] {
            let none = wanted(&lattice, Some(&empty));
            assert_eq!(wanted_count(&none), 0);
            assert!(blocks_of(Grid::Sh, &none, Kind::Whole).is_empty());
        }
    }
}
