//! Flags of the Raven games, which number them otherwise than all others, in the vocabulary of the IBSP games.

use crate::format::bsp::directory::Format;
use crate::format::bsp::types::{Shader, content_flags, surface_flags};

// Which of these numbers are seen in files, which are from descriptions, and which are not confirmed: `docs/formats.md`.

/// Raven's surface flag, and ours.
const RAVEN_SURFACE: [(u32, u32); 2] = [
    (0x2000, surface_flags::SKY),
    (0x20_0000, surface_flags::NO_DRAW),
];

/// Raven's content flag, and ours.
const RAVEN_CONTENT: [(u32, u32); 10] = [
    (0x1, content_flags::SOLID),
    (0x2, content_flags::LAVA),
    (0x4, content_flags::WATER),
    (0x8, content_flags::FOG),
    (0x10, content_flags::PLAYER_CLIP),
    (0x20, content_flags::MONSTER_CLIP),
    (0x400, content_flags::TRIGGER),
    (0x2_0000, content_flags::SLIME),
    (0x800_0000, content_flags::DETAIL),
    (0x8000_0000, content_flags::TRANSLUCENT),
];

fn translate(stored: u32, table: &[(u32, u32)]) -> u32 {
    let hits = table.iter().filter(|(theirs, _)| stored & theirs != 0);
    hits.fold(0, |flags, (_, ours)| flags | ours)
}

/// Puts the flags of `shaders`, as stored in a file of `format`, into the IBSP games' numbering.
pub(super) fn unify(format: Format, shaders: &mut [Shader]) {
    if format != Format::Rbsp {
        // Warsow kept Quake 3's numbers.
        return;
    }
    for shader in shaders {
        let [surface, content] = shader.stored_flags;
        shader.surface_flags = translate(surface, &RAVEN_SURFACE);
        shader.content_flags = translate(content, &RAVEN_CONTENT);
    }
}
