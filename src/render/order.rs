use crate::format::bsp::Bsp;
use crate::format::material_script::{Deform, Wave};
use crate::render::styles::is_styled;
use crate::scene::{Material, Scene, Surface};

/// The number of the fog that `surface` is in, if that draws something.
pub(super) fn fog_number(scene: &Scene, surface: &Surface) -> Option<u32> {
    scene.fog_of(surface).and(surface.fog)
}

/// Drawn surfaces by sort value, then material, then whether they have light styles, then fog; then by inline model and, for
/// neighbours to be near each other, in the order of the leafs, then by number. Materials without stages that are neither sky
/// nor the surface of a fog draw nothing.
pub(super) fn ordered_surfaces(scene: &Scene) -> Vec<&Surface> {
    let mut surfaces: Vec<_> = scene
        .surfaces
        .iter()
        .filter(|surface| {
            let material = scene.material_of(surface);
            let is_fog = material.is_fog() && scene.fog_of(surface).is_some();
            let is_drawn = material.is_sky() || !material.stages.is_empty() || is_fog;
            is_drawn && !surface.indices.is_empty()
        })
        .collect();
    let leafs = first_leafs(&scene.bsp);
    let leaf = |surface: &Surface| leafs.get(surface.id.0 as usize);
    surfaces.sort_by(|a, b| {
        let (sort_a, sort_b) = (scene.material_of(a).sort, scene.material_of(b).sort);
        sort_a
            .total_cmp(&sort_b)
            .then(a.material.cmp(&b.material))
            .then(is_styled(scene, a).cmp(&is_styled(scene, b)))
            .then(fog_number(scene, a).cmp(&fog_number(scene, b)))
            .then(a.model.cmp(&b.model))
            .then(leaf(a).cmp(&leaf(b)))
            .then(a.id.cmp(&b.id))
    });
    surfaces
}

/// By surface: the first leaf that lists it. Compilers number leafs in the order of the tree.
fn first_leafs(bsp: &Bsp) -> Vec<u32> {
    let mut first = vec![u32::MAX; bsp.surfaces.len()];
    for (number, leaf) in (0..).zip(&bsp.leafs) {
        let start = leaf.first_surface as usize;
        let listed = start..start + leaf.surface_count as usize;
        for surface in bsp.leaf_surfaces.get(listed).unwrap_or_default() {
            if let Some(first) = first.get_mut(*surface as usize) {
                *first = (*first).min(number);
            }
        }
    }
    first
}

/// How far a surface's material may move its vertices, game units.
pub(super) fn reach(material: &Material, surface: &Surface) -> f32 {
    let farthest = |wave: &Wave| wave.base.abs() + wave.amplitude.abs();
    let reaches = material.deforms.iter().map(|deform| match deform {
        Deform::Wave(_, wave) => farthest(wave),
        Deform::Bulge(_, height, _) => height.abs(),
        Deform::Move(by, wave) => by.length() * farthest(wave),
        Deform::Normal(..) => 0.0,
        Deform::AutoSprite | Deform::AutoSprite2 => surface.bounds.size().length(),
    });
    let reach: f32 = reaches.sum();
    if reach.is_finite() { reach } else { 0.0 }
}
