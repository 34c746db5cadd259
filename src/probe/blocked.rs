use rayon::prelude::*;

use crate::format::lattice::Lattice;
use crate::scene::Scene;
use crate::trace::is_blocked;

/// For each point of `lattice`, x fastest: whether it is in solid.
pub fn blocked_points(scene: &Scene, lattice: &Lattice) -> Vec<bool> {
    points(lattice)
        .map(|index| is_blocked(scene, lattice.position_of(index)))
        .collect()
}

/// The same as long as `goes_on` says so, which is asked at every point; `None` when it stopped.
pub fn blocked_points_while(
    scene: &Scene,
    lattice: &Lattice,
    goes_on: impl Fn() -> bool + Sync,
) -> Option<Vec<bool>> {
    points(lattice)
        .map(|index| goes_on().then(|| is_blocked(scene, lattice.position_of(index))))
        .collect()
}

fn points(lattice: &Lattice) -> impl IndexedParallelIterator<Item = usize> {
    let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
    (0..count).into_par_iter()
}
