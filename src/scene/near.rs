use std::ops::Range;

use glam::Vec3;

use crate::math::Aabb;

/// Ways below this are none, game units.
const SHORT: f32 = 1e-20;
/// Points of a leaf at most.
const LEAF: usize = 8;

/// Finds points near a segment: a tree of boxes, each half of its parent's points along the longest side.
pub(super) struct PointTree {
    /// In the order of the tree, with their numbers.
    points: Vec<(Vec3, u32)>,
    nodes: Vec<Node>,
}

struct Node {
    bounds: Aabb,
    first: u32,
    end: u32,
    /// The second child; the first follows its parent. 0 is a leaf.
    second: u32,
}

impl PointTree {
    /// Numbers are places in the list.
    pub(super) fn new(points: &[Vec3]) -> Self {
        let mut tree = Self {
            points: points.iter().copied().zip(0..).collect(),
            nodes: Vec::with_capacity(points.len() / LEAF * 3 + 1),
        };
        if !points.is_empty() {
            tree.divide(0..points.len());
        }
        tree
    }

    fn divide(&mut self, range: Range<usize>) {
        let own = &mut self.points[range.clone()];
        let bounds = Aabb::from_points(own.iter().map(|(point, _)| *point));
        let number = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            first: range.start as u32,
            end: range.end as u32,
            second: 0,
        });
        if own.len() <= LEAF {
            return;
        }
        let axis = bounds.size().max_position();
        let half = own.len() / 2;
        own.select_nth_unstable_by(half, |(a, i), (b, j)| {
            a[axis].total_cmp(&b[axis]).then(i.cmp(j))
        });
        let middle = range.start + half;
        self.divide(range.start..middle);
        self.nodes[number].second = self.nodes.len() as u32;
        self.divide(middle..range.end);
    }

    /// Calls `found` with each point of the boxes that the segment comes within `radius` of, and others near; false when
    /// `visits`, which counts down, is used up.
    pub(super) fn near_segment(
        &self,
        ends: [Vec3; 2],
        radius: f32,
        visits: &mut u64,
        mut found: impl FnMut(u32, Vec3),
    ) -> bool {
        if self.nodes.is_empty() {
            return true;
        }
        let segment = Segment::new(ends, radius);
        // Halves of halves of 2³² points are 32 deep, and each leaves one sibling waiting.
        let mut open = [0_u32; 40];
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let number = open[waiting];
            let node = &self.nodes[number as usize];
            if *visits == 0 {
                return false;
            }
            *visits -= 1;
            if !segment.touches(&node.bounds) {
                continue;
            }
            if node.second == 0 {
                for (point, number) in &self.points[node.first as usize..node.end as usize] {
                    found(*number, *point);
                }
            } else {
                open[waiting] = node.second;
                open[waiting + 1] = number + 1;
                waiting += 2;
            }
        }
        true
    }
}

/// A segment with a distance around it.
struct Segment {
    from: Vec3,
    /// One over the way along each axis; large where there is none.
    per_way: Vec3,
    bounds: Aabb,
    radius: f32,
}

impl Segment {
    fn new([from, to]: [Vec3; 2], radius: f32) -> Self {
        Self {
            from,
            per_way: Vec3::from_array((to - from).to_array().map(|way| {
                if way.abs() > SHORT {
                    way.recip()
                } else {
                    SHORT.recip()
                }
            })),
            bounds: Aabb::from_points([from, to]).grown(radius),
            radius,
        }
    }

    /// Whether it may come within the distance of a box; where it does it says so.
    fn touches(&self, bounds: &Aabb) -> bool {
        let is_apart = self.bounds.min.cmpgt(bounds.max) | bounds.min.cmpgt(self.bounds.max);
        if is_apart.any() {
            return false;
        }
        let (low, high) = (bounds.min - self.radius, bounds.max + self.radius);
        let (a, b) = (
            (low - self.from) * self.per_way,
            (high - self.from) * self.per_way,
        );
        let enter = a.min(b).max_element().max(0.0);
        let leave = a.max(b).min_element().min(1.0);
        enter <= leave
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::sampling;

    #[test]
    fn all_points_near_a_segment_are_found() {
        let at = |index: u64| {
            Vec3::from_array([0, 1, 2].map(|draw| sampling::unit(3, index, draw))) * 100.0
        };
        let points: Vec<Vec3> = (0..2000).map(at).collect();
        let tree = PointTree::new(&points);
        for number in 0..50 {
            let ends = [at(5000 + number), at(6000 + number)];
            let distance = |point: Vec3| {
                let along = ends[1] - ends[0];
                let t = ((point - ends[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                point.distance(ends[0] + along * t)
            };
            let mut found = Vec::new();
            let mut visits = u64::MAX;
            assert!(tree.near_segment(ends, 3.0, &mut visits, |number, point| {
                if distance(point) <= 3.0 {
                    found.push(number);
                }
            }));
            found.sort_unstable();
            let all = (0..).zip(&points).filter(|(_, p)| distance(**p) <= 3.0);
            assert_eq!(found, all.map(|(number, _)| number).collect::<Vec<u32>>());
            // Far fewer than all were looked at.
            assert!(u64::MAX - visits < 1000);
        }
        let mut visits = 5;
        assert!(!tree.near_segment(
            [Vec3::ZERO, Vec3::splat(100.0)],
            50.0,
            &mut visits,
            |_, _| {}
        ));
        assert!(PointTree::new(&[]).near_segment([Vec3::ZERO; 2], 1.0, &mut visits, |_, _| {}));
    }
}
