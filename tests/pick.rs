//! What a click says about a surface: against the map's own records, through holes and past sides that are not drawn.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests stop and report as tests do"
)]

use glam::Vec3;
use luxgrid::format::bsp::{LightmapIndex, SurfaceKind};
use luxgrid::job::JobContext;
use luxgrid::math::Ray;
use luxgrid::math::colour::{Clamp, Overbright};
use luxgrid::scene::{self, Scene};
use luxgrid::trace::Picker;
use luxgrid::view::{SurfaceHit, SurfaceReport, outline};

fn demo() -> Scene {
    scene::build(&luxgrid::vfs::open_demo(), &JobContext::default()).unwrap()
}

fn seen(scene: &Scene, ray: &Ray) -> Option<SurfaceHit> {
    let hit = Picker::new(scene).pick_seen(scene, ray, |_| true)?;
    Some(SurfaceHit {
        surface: hit.surface,
        first_index: hit.first_index,
        weights: hit.weights,
        t: hit.t,
        position: hit.position,
        normal: if hit.normal.dot(ray.direction) > 0.0 {
            -hit.normal
        } else {
            hit.normal
        },
    })
}

fn report(scene: &Scene, origin: Vec3, towards: Vec3) -> SurfaceReport {
    let hit = seen(scene, &Ray::new(origin, towards)).unwrap();
    SurfaceReport::new(scene, &hit)
}

/// On the flat surfaces of the demo the luxel is where the file's vertices put the point.
#[test]
fn luxels_are_where_the_files_vertices_put_them() {
    let scene = demo();
    let eye = Vec3::new(-440.0, -120.0, 86.0);
    let mut compared = 0;
    for (yaw, pitch) in (0..24).flat_map(|yaw| [-25, 0, 30].map(|pitch| (yaw * 15, pitch))) {
        let (yaw, pitch) = ((yaw as f32).to_radians(), (pitch as f32).to_radians());
        let towards = Vec3::new(
            yaw.cos() * pitch.cos(),
            yaw.sin() * pitch.cos(),
            pitch.sin(),
        );
        let Some(hit) = seen(&scene, &Ray::new(eye, towards)) else {
            continue;
        };
        let report = SurfaceReport::new(&scene, &hit);
        let raw = &scene.bsp.surfaces[report.surface as usize];
        let (SurfaceKind::Planar, LightmapIndex::Page(page), Some(luxel)) =
            (raw.kind, raw.lightmap[0], &report.lightmap)
        else {
            continue;
        };
        assert_eq!(luxel.page, page);
        let [x, y] = luxel.luxel.map(|c| c as usize);
        let texels = &scene.bsp.lightmaps[page as usize];
        assert_eq!(luxel.raw, texels[(y * 128 + x) * 3..][..3]);
        let shown = luxel.shown(Overbright::Bits(2), Clamp::KeepHue);
        let doubled = luxel.shown(Overbright::Bits(1), Clamp::KeepHue);
        assert!(
            shown
                .iter()
                .zip(doubled)
                .all(|(shown, doubled)| *shown >= doubled - doubled / 128)
        );
        // Of a flat surface the coordinates are one map for all its vertices: that of three of them must hold for the point.
        let first = raw.first_vert as usize;
        let verts = &scene.bsp.draw_verts[first..first + raw.vert_count as usize];
        let a = verts[0];
        let corners = verts[1..].iter().zip(&verts[2..]).find(|(b, c)| {
            let cross = (b.position - a.position).cross(c.position - a.position);
            cross.length() > 100.0
        });
        let Some((b, c)) = corners else {
            continue;
        };
        let (u, v, to) = (
            b.position - a.position,
            c.position - a.position,
            hit.position - a.position,
        );
        let normal = u.cross(v);
        let across = to.cross(v).dot(normal) / normal.length_squared();
        let along = u.cross(to).dot(normal) / normal.length_squared();
        let st = |vert: &luxgrid::format::bsp::DrawVert| vert.lightmap_st[0] * 128.0;
        let expected = st(&a) + (st(b) - st(&a)) * across + (st(c) - st(&a)) * along;
        assert!(
            expected.abs_diff_eq(luxel.at.into(), 0.02),
            "{expected} {luxel:?}"
        );
        // And the length of a luxel is the one of the world over the one of the page.
        let density = luxel.units_per_luxel.unwrap();
        let side = u.length() / (st(b) - st(&a)).length();
        assert!((side / density - 1.0).abs() < 0.05, "{side} {density}");
        compared += 1;
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn a_report_names_script_line_pack_and_text() {
    let scene = demo();
    // Straight up under the lamp of the white room.
    let lamp = report(&scene, Vec3::new(0.0, -740.0, 100.0), Vec3::Z);
    assert_eq!(lamp.material.name, "textures/atrium/lamp");
    assert_eq!(lamp.material.source, "script");
    assert_eq!(lamp.material.file.as_deref(), Some("scripts/atrium.shader"));
    assert_eq!(lamp.material.pack.as_deref(), Some("demo"));
    let text = lamp.material.text.as_deref().unwrap();
    assert!(
        text.starts_with("textures/atrium/lamp\n{") && text.ends_with('}'),
        "{text}"
    );
    assert!(
        text.contains("q3map_surfacelight 2600") && !text.contains("grate"),
        "{text}"
    );
    assert_eq!(lamp.material.stages, 3);
    assert_eq!(lamp.material.images[0].name, "textures/atrium/lamp.jpg");
    assert_eq!(lamp.light, "lightmap");
    assert!(lamp.cluster.is_some() && lamp.area.is_some());
    assert_eq!(
        (lamp.model, lamp.entity.unwrap().classname.as_str()),
        (0, "worldspawn")
    );
    let rows = report(&scene, Vec3::new(0.0, -740.0, 100.0), Vec3::Z);
    let text = rows.text(Overbright::Bits(2), Clamp::KeepHue);
    assert!(
        text.contains("scripts/atrium.shader:") && text.contains("blendFunc add"),
        "{text}"
    );
}

/// Rays pass the holes of a grate and meet its bars; both sides of it are drawn, of other brushes only the front.
#[test]
fn what_is_not_drawn_is_passed() {
    let scene = demo();
    let mut names = std::collections::BTreeMap::new();
    for x in 0..60 {
        // From below through the grate over the hall's west end.
        let origin = Vec3::new(-1000.0 + x as f32 * 2.7, 3.0, 100.0);
        let report = report(&scene, origin, Vec3::Z);
        *names.entry(report.material.name).or_insert(0) += 1;
    }
    let bars = names.remove("textures/atrium/grate").unwrap_or(0);
    assert!(
        bars > 5 && names.values().sum::<i32>() > 5,
        "{bars} {names:?}"
    );
    // From outside the map looking in, backs of walls are not drawn, so the far walls' fronts are seen.
    let outside = scene.bounds.centre() - Vec3::X * scene.bounds.size().x;
    let hit = seen(&scene, &Ray::new(outside, Vec3::X)).unwrap();
    let raw = Picker::new(&scene)
        .pick(&Ray::new(outside, Vec3::X))
        .unwrap();
    assert!(raw.t < hit.t && raw.normal.x > 0.0 && hit.normal.x < 0.0);
    // What the caller leaves out is passed too.
    let picker = Picker::new(&scene);
    let next = picker.pick_seen(&scene, &Ray::new(outside, Vec3::X), |other| {
        other.surface != hit.surface
    });
    assert!(next.is_none_or(|next| next.surface != hit.surface));
}

#[test]
fn brush_models_belong_to_their_entity() {
    let scene = demo();
    let mut found = 0;
    for surface in scene.drawn_surfaces().filter(|surface| surface.model > 0) {
        let [a, b, c] = scene.corners(surface.indices.start).unwrap();
        let middle = (a.position + b.position + c.position) / 3.0;
        let normal = (c.position - a.position).cross(b.position - a.position);
        let normal = normal.normalize_or_zero();
        let report = report(&scene, middle + normal * 2.0, -normal);
        if report.surface != surface.id.0 {
            continue;
        }
        found += 1;
        assert_eq!(report.model, surface.model);
        let entity = report.entity.unwrap();
        let raw = &scene.bsp.entities.list[entity.number as usize];
        assert_eq!(raw.inline_model(), Some(surface.model as usize));
        assert_eq!(raw.classname(), entity.classname);
    }
    assert!(found > 5, "{found}");
}

/// The outline of a surface is closed: at every corner an even number of edges ends. The compiler covers a few places of a
/// surface twice, whose inner edges show; nowhere else is one left over.
#[test]
fn outlines_are_closed() {
    let scene = demo();
    let (mut count, mut odd) = (0, 0);
    for surface in scene.drawn_surfaces() {
        let edges = outline(&scene, surface.id);
        let mut ends = std::collections::BTreeMap::new();
        for end in edges.iter().flatten() {
            let key = end.to_array().map(|c| (c + 0.0).to_bits());
            *ends.entry(key).or_insert(0) += 1;
        }
        count += 1;
        odd += usize::from(ends.values().any(|count| count % 2 != 0));
        let triangles = surface.indices.len() / 3;
        assert!(edges.len() >= 3, "{:?}", surface.id);
        // Two triangles share an edge, which is none of the boundary.
        assert!(edges.len() <= 2 + triangles, "{:?}", surface.id);
    }
    assert!(odd * 20 <= count, "{odd} of {count}");
    // A quad is outlined by its four sides.
    let quads = scene
        .drawn_surfaces()
        .filter(|surface| surface.indices.len() == 6);
    let sides: Vec<usize> = quads.map(|quad| outline(&scene, quad.id).len()).collect();
    assert!(
        sides.len() > 10 && sides.iter().all(|sides| *sides == 4),
        "{sides:?}"
    );
}
