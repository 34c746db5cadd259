use rayon::prelude::*;

use crate::format::lattice::Lattice;
use crate::scene::Scene;
use crate::trace::is_blocked;

/// For each point of `lattice`, x fastest: whether it is in solid.
pub fn blocked_points(scene: &Scene, lattice: &Lattice) -> Vec<bool> {
    let count = usize::try_from(lattice.len()).unwrap_or(usize::MAX);
    (0..count)
        .into_par_iter()
        .map(|index| is_blocked(scene, lattice.position_of(index)))
        .collect()
}
