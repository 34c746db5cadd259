//! The demo map through the whole reading path: bytes, search path, scene.

use luxgrid::format::bsp::{SurfaceKind, VariantLabel};
use luxgrid::job::JobContext;
use luxgrid::scene::{LightingClass, Scene, build};
use luxgrid::vfs::open_demo;

fn demo() -> (Scene, JobContext) {
    let context = JobContext::default();
    let scene = build(&open_demo(), &context).expect("the demo is sound");
    (scene, context)
}

#[test]
fn the_demo_is_an_sh_file_with_both_grids_in_place() {
    let (scene, context) = demo();
    assert!(context.warnings.is_empty(), "{:?}", context.warnings.list());
    let variant = &scene.bsp.directory.variant;
    assert_eq!(variant.label, VariantLabel::Sh);
    assert_eq!((variant.version, scene.bsp.directory.entry_count), (47, 19));
    let legacy = scene.lighting.light_grid.as_ref().unwrap();
    assert_eq!(legacy.lattice.counts.to_array(), [35, 37, 5]);
    let sh = scene.lighting.sh_grid.as_ref().unwrap();
    assert_eq!(sh.lattice.counts.to_array(), [35, 37, 9]);
    assert!(scene.map_source.is_some() && scene.surface_extras.is_some());
}

#[test]
fn every_drawn_surface_of_the_demo_has_its_picture() {
    let (scene, _) = demo();
    assert!(scene.drawn_surfaces().count() > 100);
    for surface in scene.drawn_surfaces() {
        let material = scene.material_of(surface);
        assert!(!material.is_missing(), "{}", material.name);
        assert!(surface.indices.len().is_multiple_of(3));
    }
    let grate = scene
        .materials
        .iter()
        .find(|m| m.name == "textures/atrium/grate")
        .unwrap();
    assert_eq!(grate.lighting, LightingClass::Lightmap);
    assert_eq!(grate.stages.len(), 2);
    assert!(grate.stages[1].depth_equal && grate.stages[0].depth_write);
    assert!(scene.spawns.len() >= 4);
}

/// The four columns are patches of 9×3 whose front, as the author drew them, is the inside: that is what the engine shows.
#[test]
fn columns_are_round_and_face_the_stored_side() {
    let (scene, _) = demo();
    let column = SurfaceKind::Patch {
        width: 9,
        height: 3,
    };
    let columns: Vec<_> = scene
        .drawn_surfaces()
        .filter(|s| s.kind == column)
        .collect();
    assert_eq!(columns.len(), 4);
    for surface in columns {
        let raw = &scene.bsp.surfaces[surface.id.0 as usize];
        let stored = scene.bsp.draw_verts[raw.first_vert as usize].normal;
        let first = &scene.vertices[scene.indices[surface.indices.start as usize] as usize];
        assert!(first.normal.dot(stored) > 0.95);
        let axis = surface.bounds.centre().truncate();
        let range = surface.indices.start as usize..surface.indices.end as usize;
        for index in &scene.indices[range] {
            let vertex = &scene.vertices[*index as usize];
            let out = vertex.position.truncate() - axis;
            // Quadratic arcs of a square of half-side 40 stay within 40 and 42.5 of its axis.
            assert!((39.9..42.5).contains(&out.length()), "{out}");
            assert!(vertex.normal.truncate().dot(out.normalize_or_zero()) < -0.95);
        }
    }
}

#[test]
fn triangles_are_clockwise_seen_from_the_front() {
    let (scene, _) = demo();
    let mut wrong = 0;
    let mut all = 0;
    for surface in scene.drawn_surfaces() {
        let range = surface.indices.start as usize..surface.indices.end as usize;
        for triangle in scene.indices[range].chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|i| scene.vertices[triangle[i] as usize]);
            let face = (b.position - a.position).cross(c.position - a.position);
            all += 1;
            wrong += usize::from(face.dot(a.normal) > 0.0);
        }
    }
    assert!(all > 1000);
    assert_eq!(wrong, 0, "of {all}");
}
