use glam::Vec3;

use crate::format::bsp::{Brush, Bsp, content_flags};
use crate::math::Plane;

/// Distance by which a corner may lie outside a brush's planes, game units: rounding.
const SLACK: f32 = 0.05;
/// Sides of a brush that is outlined at most; compilers write no more.
const SIDES_MAX: usize = 128;
/// Area portals outlined at most; maps have a handful.
const PORTALS_MAX: usize = 1024;

/// Edges of all brushes that are area portals, as pairs of ends.
pub fn portal_edges(bsp: &Bsp) -> Vec<[Vec3; 2]> {
    let is_portal = |brush: &&Brush| {
        let shader = bsp.shaders.get(brush.shader as usize);
        shader.is_some_and(|shader| shader.content_flags & content_flags::AREA_PORTAL != 0)
    };
    let portals = bsp.brushes.iter().filter(is_portal).take(PORTALS_MAX);
    portals
        .flat_map(|brush| edges(&planes(bsp, brush)))
        .collect()
}

fn planes(bsp: &Bsp, brush: &Brush) -> Vec<Plane> {
    let first = brush.first_side as usize;
    let sides = bsp
        .brush_sides
        .get(first..first + brush.side_count as usize);
    let sides = sides.unwrap_or_default().iter().take(SIDES_MAX);
    let mut planes: Vec<Plane> = sides
        .filter_map(|side| bsp.planes.get(side.plane as usize).copied())
        .collect();
    // Sides that lie in one plane have one face between them.
    planes.dedup();
    planes
}

/// Edges of the solid behind all `planes`: the line in which two of them meet, as far as it is behind the others.
fn edges(planes: &[Plane]) -> Vec<[Vec3; 2]> {
    let mut edges = Vec::new();
    for (number, a) in planes.iter().enumerate() {
        for b in &planes[number + 1..] {
            edges.extend(edge(a, b, planes));
        }
    }
    edges
}

fn edge(a: &Plane, b: &Plane, planes: &[Plane]) -> Option<[Vec3; 2]> {
    let along = a.normal.cross(b.normal);
    let length_squared = along.length_squared();
    if length_squared < 1e-6 {
        return None;
    }
    let on_both = b.normal.cross(along) * a.dist + along.cross(a.normal) * b.dist;
    let start = on_both / length_squared;
    let direction = along / length_squared.sqrt();
    let (mut from, mut to) = (f32::NEG_INFINITY, f32::INFINITY);
    for plane in planes {
        let (out, rate) = (plane.distance(start), plane.normal.dot(direction));
        if rate.abs() < 1e-5 {
            if out > SLACK {
                return None;
            }
        } else if rate > 0.0 {
            to = to.min(-out / rate);
        } else {
            from = from.max(-out / rate);
        }
    }
    let is_edge = from.is_finite() && to.is_finite() && to - from > SLACK;
    is_edge.then(|| [start + direction * from, start + direction * to])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn box_planes(half: Vec3) -> Vec<Plane> {
        let axes = [Vec3::X, Vec3::Y, Vec3::Z];
        let both = axes.into_iter().flat_map(|axis| [axis, -axis]);
        both.map(|normal| Plane {
            normal,
            dist: half.dot(normal.abs()),
        })
        .collect()
    }

    #[test]
    fn a_box_has_twelve_edges_between_its_corners() {
        let half = Vec3::new(4.0, 64.0, 32.0);
        let found = edges(&box_planes(half));
        assert_eq!(found.len(), 12);
        for [from, to] in &found {
            for end in [from, to] {
                assert!(end.abs().abs_diff_eq(half, 1e-3), "{end}");
            }
            let length = from.distance(*to);
            assert!(
                [8.0, 128.0, 64.0]
                    .iter()
                    .any(|side| (length - side).abs() < 1e-3)
            );
        }
    }

    #[test]
    fn a_cut_corner_has_edges_of_its_own() {
        let mut planes = box_planes(Vec3::splat(8.0));
        planes.push(Plane {
            normal: Vec3::new(1.0, 1.0, 0.0).normalize_or_zero(),
            dist: 8.0,
        });
        // The upright edge is replaced by two, with one each at the top and at the bottom.
        assert_eq!(edges(&planes).len(), 15);
        assert!(edges(&box_planes(Vec3::ZERO)).is_empty());
    }
}
