//! `.map` sources and `.ent` files: only what lighting needs, the entities. Brushes are skipped unread.

use crate::format::entities::{Entities, Entity};

/// Entities of a `.map` file, classic, Valve 220 and brush-primitive alike, or of a `.ent` file: the text of an entity lump,
/// which is a `.map` without brushes.
pub fn entities(bytes: &[u8]) -> Entities {
    Entities::parse_map(bytes)
}

/// The same for a file that is chosen as a source of lights; `None` when it holds no light.
pub fn lights(bytes: &[u8]) -> Option<Entities> {
    let entities = entities(bytes);
    let holds_light = entities.list.iter().any(Entity::is_light);
    holds_light.then_some(entities)
}
