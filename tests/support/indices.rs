//! What later layers rely on when they take a number from a map.

use luxgrid::format::bsp::{Bsp, Child, SurfaceKind};

/// Fails unless every number of `bsp` names a record that is there.
pub(crate) fn assert_in_range(bsp: &Bsp) {
    for surface in &bsp.surfaces {
        let range =
            surface.first_index as usize..(surface.first_index + surface.index_count) as usize;
        let indexes = &bsp.draw_indexes[range];
        let is_mesh = matches!(
            surface.kind,
            SurfaceKind::Planar | SurfaceKind::TriangleSoup
        );
        assert!(!is_mesh || indexes.iter().all(|index| *index < surface.vert_count));
        assert!((surface.first_vert + surface.vert_count) as usize <= bsp.draw_verts.len());
        assert!(
            surface.kind == SurfaceKind::Skipped || (surface.shader as usize) < bsp.shaders.len()
        );
        if let SurfaceKind::Patch { width, height } = surface.kind {
            assert_eq!(width * height, surface.vert_count);
        }
    }
    assert_tree_in_range(bsp);
    for brush in &bsp.brushes {
        let range = brush.first_side as usize..(brush.first_side + brush.side_count) as usize;
        let sides = &bsp.brush_sides[range];
        assert!(
            sides
                .iter()
                .all(|side| (side.plane as usize) < bsp.planes.len())
        );
    }
    let surfaces = &bsp.leaf_surfaces;
    assert!(
        surfaces
            .iter()
            .all(|index| (*index as usize) < bsp.surfaces.len())
    );
    let brushes = &bsp.leaf_brushes;
    assert!(
        brushes
            .iter()
            .all(|index| (*index as usize) < bsp.brushes.len())
    );
    if let Some(sh) = &bsp.sh_grid {
        assert_eq!(sh.points.len() as u64, sh.lattice.len());
    }
}

fn assert_tree_in_range(bsp: &Bsp) {
    for leaf in &bsp.leafs {
        assert!((leaf.first_surface + leaf.surface_count) as usize <= bsp.leaf_surfaces.len());
        assert!((leaf.first_brush + leaf.brush_count) as usize <= bsp.leaf_brushes.len());
    }
    for node in &bsp.nodes {
        assert!((node.plane as usize) < bsp.planes.len());
        for child in node.children {
            match child {
                Child::Node(node) => assert!((node as usize) < bsp.nodes.len()),
                Child::Leaf(leaf) => assert!((leaf as usize) < bsp.leafs.len()),
            }
        }
    }
}
