//! Light styles: surfaces whose light comes in up to four layers that the game switches or flickers one by one.

use crate::format::bsp::{DrawVert, LightmapIndex, STYLE_NONE, STYLE_SLOTS, STYLE_UNUSED, Surface};
use crate::scene::lightmaps::LightmapPages;
use crate::scene::patch::{PatchInput, PatchLevels, tessellate};
use crate::scene::types::{SlotLight, StyledLight};

/// The slots of a surface; `None` when it has style 0 alone, as all IBSP files have. Ranges are left at zero.
pub(super) fn styled_light(raw: &Surface, pages: &LightmapPages) -> Option<StyledLight> {
    let page_styles = used(raw.lightmap_styles);
    let pages = std::array::from_fn(|slot| match raw.lightmap[slot] {
        LightmapIndex::Page(page) if pages.is_light(page) => {
            page_styles[slot].map(|style| (style, page))
        }
        _ => None,
    });
    let light = StyledLight {
        pages,
        vertex: used(raw.vertex_styles),
        first_vertex: 0,
        first_light: 0,
    };
    light.styles().any(|style| style != 0).then_some(light)
}

/// Styles up to the first slot that is marked as the end.
fn used(styles: [u8; STYLE_SLOTS]) -> [Option<u8>; STYLE_SLOTS] {
    let end = styles.iter().position(|style| *style == STYLE_NONE);
    let end = end.unwrap_or(STYLE_SLOTS);
    std::array::from_fn(|slot| {
        Some(styles[slot]).filter(|style| slot < end && *style != STYLE_UNUSED)
    })
}

/// The light of a vertex behind slot 0.
pub(super) fn slot_light(vert: &DrawVert) -> SlotLight {
    SlotLight {
        lightmap_st: std::array::from_fn(|slot| vert.lightmap_st[slot + 1]),
        colour: std::array::from_fn(|slot| vert.colour[slot + 1]),
    }
}

/// The same for a patch, vertex by vertex of its tessellation: each slot takes the place of slot 0 once.
pub(super) fn patch_slot_lights(
    patch: &PatchInput,
    levels: &PatchLevels,
    controls: &[DrawVert],
) -> Vec<SlotLight> {
    let slots: [_; STYLE_SLOTS - 1] = std::array::from_fn(|slot| {
        let mut patch = patch.clone();
        for (vertex, control) in patch.controls.iter_mut().zip(controls) {
            vertex.lightmap_st = control.lightmap_st[slot + 1];
            vertex.colour = control.colour[slot + 1];
        }
        tessellate(&patch, levels).vertices
    });
    (0..slots[0].len())
        .map(|number| SlotLight {
            lightmap_st: std::array::from_fn(|slot| slots[slot][number].lightmap_st),
            colour: std::array::from_fn(|slot| slots[slot][number].colour),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_mark_ends_the_styles() {
        assert_eq!(used([0, 3, STYLE_NONE, 5]), [Some(0), Some(3), None, None]);
        assert_eq!(
            used([0, STYLE_UNUSED, 5, STYLE_NONE]),
            [Some(0), None, Some(5), None]
        );
    }
}
