//! `.map` sources: only what lighting needs, the entities. Brushes are skipped unread.

use crate::format::entities::Entities;

/// Entities of a `.map` file, classic, Valve 220 and brush-primitive alike.
pub fn entities(bytes: &[u8]) -> Entities {
    Entities::parse_map(bytes)
}
