use glam::Vec3;

use crate::math::{Aabb, Plane};

/// A corner of an emitting polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    /// World position.
    pub position: Vec3,
    /// Vertex normal, interpolated along cut edges.
    pub normal: Vec3,
}

/// A convex polygon, clockwise seen from its front.
pub(crate) type Winding = Vec<Corner>;

/// Points this close to a cutting plane count as on it, game units. The reference compiler's value.
const CLIP_EPSILON: f32 = 0.125;
/// Cuts in a row at most; a bound for hostile sizes, far above what 2¹⁷ units need.
const DEPTH_LIMIT: u32 = 128;

/// Cuts `winding` into pieces whose extent along no axis exceeds `limit`, and calls `piece` for each until it returns
/// false.
///
/// The first axis (x, y, z) that is too long is halved, then both halves are looked at again, front first.
pub(crate) fn subdivide(winding: Winding, limit: f32, mut piece: impl FnMut(&Winding) -> bool) {
    if !winding.iter().all(|corner| corner.position.is_finite()) {
        return;
    }
    let mut pending = vec![(winding, 0_u32)];
    while let Some((winding, depth)) = pending.pop() {
        if winding.len() < 3 {
            continue;
        }
        let bounds = bounds(&winding);
        let size = bounds.size();
        let axis = (0..3).find(|axis| size[*axis] > limit && depth < DEPTH_LIMIT);
        let Some(axis) = axis else {
            if !piece(&winding) {
                return;
            }
            continue;
        };
        let mut normal = Vec3::ZERO;
        normal[axis] = 1.0;
        let dist = (bounds.min[axis] + bounds.max[axis]) * 0.5;
        let (front, back) = split(&winding, &Plane { normal, dist });
        pending.push((back, depth + 1));
        pending.push((front, depth + 1));
    }
}

/// Box around the corners.
pub(crate) fn bounds(winding: &Winding) -> Aabb {
    Aabb::from_points(winding.iter().map(|corner| corner.position))
}

/// Area by a fan from the first corner.
pub(crate) fn area(winding: &Winding) -> f32 {
    winding
        .windows(2)
        .skip(1)
        .map(|edge| {
            let origin = winding[0].position;
            let cross = (edge[0].position - origin).cross(edge[1].position - origin);
            cross.length() * 0.5
        })
        .sum()
}

/// Unit mean of the corners' normals; zero when they cancel.
pub(crate) fn mean_normal(winding: &Winding) -> Vec3 {
    let sum: Vec3 = winding.iter().map(|corner| corner.normal).sum();
    sum.normalize_or_zero()
}

/// The parts before and behind `plane`; a part that only touches it is empty.
fn split(winding: &Winding, plane: &Plane) -> (Winding, Winding) {
    let distances: Vec<f32> = winding
        .iter()
        .map(|corner| plane.distance(corner.position))
        .collect();
    if distances.iter().all(|distance| *distance <= CLIP_EPSILON) {
        return (Winding::new(), winding.clone());
    }
    if distances.iter().all(|distance| *distance >= -CLIP_EPSILON) {
        return (winding.clone(), Winding::new());
    }
    let (mut front, mut back) = (Winding::new(), Winding::new());
    for (i, corner) in winding.iter().enumerate() {
        let j = (i + 1) % winding.len();
        let (here, there) = (distances[i], distances[j]);
        if here >= -CLIP_EPSILON {
            front.push(*corner);
        }
        if here <= CLIP_EPSILON {
            back.push(*corner);
        }
        let crosses = here.abs() > CLIP_EPSILON
            && there.abs() > CLIP_EPSILON
            && (here > 0.0) != (there > 0.0);
        if crosses {
            let share = here / (here - there);
            let cut = Corner {
                position: corner.position + (winding[j].position - corner.position) * share,
                normal: corner.normal + (winding[j].normal - corner.normal) * share,
            };
            front.push(cut);
            back.push(cut);
        }
    }
    (front, back)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(width: f32, height: f32) -> Winding {
        [(0.0, 0.0), (0.0, height), (width, height), (width, 0.0)]
            .map(|(x, y)| Corner {
                position: Vec3::new(x, y, 0.0),
                normal: Vec3::Z,
            })
            .to_vec()
    }

    #[test]
    fn pieces_fit_the_limit_and_keep_the_area() {
        let whole = rectangle(300.0, 100.0);
        let (mut count, mut total) = (0, 0.0);
        subdivide(whole.clone(), 64.0, |piece| {
            assert!(bounds(piece).size().max_element() <= 64.0);
            assert!((mean_normal(piece) - Vec3::Z).length() < 1e-6);
            count += 1;
            total += area(piece);
            true
        });
        // 300 → 8 pieces of 37.5, 100 → 2 of 50.
        assert_eq!(count, 16);
        assert!((total - area(&whole)).abs() < 0.1);
    }

    #[test]
    fn hostile_polygons_end() {
        let mut unsound = rectangle(1.0, 1.0);
        unsound[0].position.x = f32::NAN;
        subdivide(unsound, 1.0, |_| unreachable!("dropped"));
        let mut count = 0_u32;
        subdivide(rectangle(1e30, 1e30), 1.0, |_| {
            count += 1;
            count < 1000
        });
        assert_eq!(count, 1000);
    }
}
