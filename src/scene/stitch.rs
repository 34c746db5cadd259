//! Closes seams between surfaces.
//!
//! Two triangles leave no pixel between them only when they share both ends of an edge, bit by bit. Surfaces of a map often do
//! not: a wall ends in the middle of another's edge, two patches divide the same curve differently, a compiler rounded a corner
//! twice. So every vertex on the outline of one surface that touches the outline of another becomes a vertex there too, and
//! those that nearly coincide are made equal. The engine does the same among patches of one group (`R_StitchAllPatches`: a
//! tolerance of 0.1 units, single missing vertices); we do it among all surfaces, for every detail of curves.

use glam::Vec3;

use crate::scene::mesh::{Bend, Mesh};
use crate::scene::near::PointTree;

/// How near a vertex must be to an outline, or to another vertex, to be meant to lie on it, game units: the engine's value for
/// patches. Compilers round to less, and nothing that is built on a grid of 1/8 is that thin.
const TOUCH: f32 = 0.1;
/// Vertices added to a map at most, beside [`ADDED_PER_VERT`].
const ADDED_MAX: usize = 40_000;
/// Vertices added for each vertex of the file.
const ADDED_PER_VERT: usize = 4;
/// Steps through the tree at most, beside [`VISITS_PER_VERT`]: real maps take a tenth.
const VISITS_MAX: u64 = 1_000_000;
/// Steps through the tree for each vertex of the file.
const VISITS_PER_VERT: u64 = 2_000;

/// What may still be done: a damaged file may ask for the square of its size. Seams beyond it stay as they are.
pub(super) struct Budget {
    added: usize,
    visits: u64,
}

impl Budget {
    pub(super) fn new(file_verts: usize) -> Self {
        Self {
            added: ADDED_MAX + ADDED_PER_VERT * file_verts,
            visits: VISITS_MAX + VISITS_PER_VERT * file_verts as u64,
        }
    }
}

/// A side of a triangle that no other triangle of its surface shares.
#[derive(Clone, Copy)]
struct Rim {
    triangle: usize,
    side: usize,
    ends: [u32; 2],
}

/// A vertex that a side needs.
struct Missing {
    triangle: usize,
    side: usize,
    /// How far along the side, 0 to 1.
    share: f32,
    position: Vec3,
}

/// Closes the seams among `meshes`, those of one model.
pub(super) fn stitch(meshes: &mut [&mut Mesh], budget: &mut Budget) {
    let rims: Vec<Vec<Rim>> = meshes.iter().map(|mesh| outline(mesh)).collect();
    let positions = corners(meshes, &rims);
    let tree = PointTree::new(&positions);
    let Some(met) = meet(&positions, &tree, budget) else {
        return;
    };
    move_vertices(meshes, &positions, &met);
    for (mesh, rims) in meshes.iter_mut().zip(&rims) {
        let mut missing = Vec::new();
        for rim in rims {
            if !find_missing(mesh, rim, &tree, &met, budget, &mut missing) {
                return;
            }
        }
        insert(mesh, missing);
    }
}

/// The sides of a mesh that only one of its triangles has.
fn outline(mesh: &Mesh) -> Vec<Rim> {
    let triangles = mesh.indices.as_chunks::<3>().0.iter().enumerate();
    let mut sides: Vec<Rim> = triangles
        .flat_map(|(triangle, corners)| {
            let side = |side: usize| Rim {
                triangle,
                side,
                ends: [corners[side], corners[(side + 1) % 3]],
            };
            [side(0), side(1), side(2)]
        })
        .collect();
    let key = |rim: &Rim| {
        let [a, b] = rim.ends;
        (a.min(b), a.max(b))
    };
    sides.sort_by_key(|rim| (key(rim), rim.triangle, rim.side));
    let singles = sides.chunk_by(|a, b| key(a) == key(b));
    singles
        .filter_map(|same| match same {
            [single] if single.ends[0] != single.ends[1] => Some(*single),
            _ => None,
        })
        .collect()
}

/// Bits that order and tell apart positions; −0 is 0.
fn bits(position: Vec3) -> [u32; 3] {
    position.to_array().map(|value| (value + 0.0).to_bits())
}

/// Each place where outlines have vertices once; those of vertices of the file first.
fn corners(meshes: &[&mut Mesh], rims: &[Vec<Rim>]) -> Vec<Vec3> {
    let ends = meshes.iter().zip(rims).flat_map(|(mesh, rims)| {
        let ends = rims.iter().flat_map(|rim| rim.ends);
        ends.map(|end| (mesh.vertices[end as usize].position, !mesh.is_flat))
    });
    let mut all: Vec<([u32; 3], bool)> = ends
        .filter(|(position, _)| position.is_finite())
        .map(|(position, is_made)| (bits(position), is_made))
        .collect();
    all.sort_unstable();
    all.dedup_by_key(|(bits, _)| *bits);
    let (made, fixed): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, is_made)| *is_made);
    let places = fixed.into_iter().chain(made);
    places
        .map(|(bits, _)| Vec3::from_array(bits.map(f32::from_bits)))
        .collect()
}

/// For each place the one that it moves to, which is itself for most; earlier places stay. `None` when the budget is used up.
fn meet(positions: &[Vec3], tree: &PointTree, budget: &mut Budget) -> Option<Vec<usize>> {
    let mut met: Vec<usize> = (0..positions.len()).collect();
    for (number, position) in positions.iter().enumerate() {
        let mut nearest: Option<(f32, usize)> = None;
        let within = tree.near_segment([*position; 2], TOUCH, &mut budget.visits, |other, at| {
            let other = other as usize;
            let distance = at.distance(*position);
            let stays = other < number && met[other] == other;
            if stays && distance <= TOUCH && nearest.is_none_or(|near| (distance, other) < near) {
                nearest = Some((distance, other));
            }
        });
        if !within {
            return None;
        }
        if let Some((_, other)) = nearest {
            met[number] = other;
        }
    }
    Some(met)
}

/// Brings all vertices at places that move to where they move.
fn move_vertices(meshes: &mut [&mut Mesh], positions: &[Vec3], met: &[usize]) {
    let moves = (0..).zip(met).filter(|(from, to)| from != *to);
    let mut moves: Vec<([u32; 3], Vec3)> = moves
        .map(|(from, to): (usize, &usize)| (bits(positions[from]), positions[*to]))
        .collect();
    moves.sort_by_key(|(from, _)| *from);
    if moves.is_empty() {
        return;
    }
    for mesh in meshes {
        for vertex in &mut mesh.vertices {
            let from = bits(vertex.position);
            if let Ok(at) = moves.binary_search_by_key(&from, |(from, _)| *from) {
                vertex.position = moves[at].1;
            }
        }
    }
}

/// Appends the places on a side that are no vertices of it yet; false when the budget is used up.
fn find_missing(
    mesh: &Mesh,
    rim: &Rim,
    tree: &PointTree,
    met: &[usize],
    budget: &mut Budget,
    missing: &mut Vec<Missing>,
) -> bool {
    let [from, to] = rim.ends.map(|end| mesh.vertices[end as usize].position);
    // Two surfaces go along the same side in opposite directions, and must come to the same result.
    let is_turned = bits(from) > bits(to);
    let ends = if is_turned { [to, from] } else { [from, to] };
    let curve = Curve {
        ends,
        control: control(&mesh.bends, rim.ends).unwrap_or((from + to) * 0.5),
    };
    if !curve.control.is_finite() || from == to {
        return true;
    }
    let reach = TOUCH + curve.bulge();
    let first = missing.len();
    let within = tree.near_segment(ends, reach, &mut budget.visits, |number, position| {
        if met[number as usize] != number as usize || position == from || position == to {
            return;
        }
        if let Some(share) = curve.holds(position) {
            missing.push(Missing {
                triangle: rim.triangle,
                side: rim.side,
                share: if is_turned { 1.0 - share } else { share },
                position,
            });
        }
    });
    let added = missing.len() - first;
    let rest = budget.added.checked_sub(added);
    budget.added = rest.unwrap_or(0);
    within && rest.is_some()
}

/// The control point of a side when it is curved.
fn control(bends: &[Bend], ends: [u32; 2]) -> Option<Vec3> {
    let [a, b] = ends;
    let key = [a.min(b), a.max(b)];
    let found = bends.binary_search_by_key(&key, |bend| bend.ends).ok()?;
    Some(bends[found].control)
}

/// A piece of an outline as it is meant, and its chord, which is drawn.
struct Curve {
    ends: [Vec3; 2],
    control: Vec3,
}

impl Curve {
    /// Distance between curve and chord at most.
    fn bulge(&self) -> f32 {
        let [from, to] = self.ends;
        (from - self.control * 2.0 + to).length() * 0.25
    }

    fn at(&self, t: f32) -> Vec3 {
        let [from, to] = self.ends;
        let (ahead, behind) = (from.lerp(self.control, t), self.control.lerp(to, t));
        ahead.lerp(behind, t)
    }

    /// How far along a point lies that touches the chord or the curve between their ends.
    fn holds(&self, point: Vec3) -> Option<f32> {
        let [from, to] = self.ends;
        let chord = to - from;
        let share = (point - from).dot(chord) / chord.length_squared();
        let is_inside = |share: f32| (share > 0.0 && share < 1.0).then_some(share);
        if point.distance(from + chord * share) <= TOUCH {
            return is_inside(share);
        }
        if self.bulge() <= f32::EPSILON {
            return None;
        }
        let t = self.nearest(point);
        let share = is_inside(t)?;
        (point.distance(self.at(t)) <= TOUCH).then_some(share)
    }

    /// Where the curve comes nearest to a point: the best of nine places, then thirds around it.
    fn nearest(&self, point: Vec3) -> f32 {
        const PLACES: i16 = 8;
        const ROUNDS: usize = 24;
        let distance = |t: f32| self.at(t).distance_squared(point);
        let best = (0..=PLACES)
            .map(|i| f32::from(i) / f32::from(PLACES))
            .min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
            .unwrap_or(0.0);
        let step = 1.0 / f32::from(PLACES);
        let (mut low, mut high) = ((best - step).max(0.0), (best + step).min(1.0));
        for _ in 0..ROUNDS {
            let third = (high - low) / 3.0;
            if distance(low + third) < distance(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        (low + high) * 0.5
    }
}

/// Puts the missing vertices into the sides of their triangles.
fn insert(mesh: &mut Mesh, mut missing: Vec<Missing>) {
    if missing.is_empty() {
        return;
    }
    missing.sort_by(|a, b| {
        let place = |missing: &Missing| (missing.triangle, missing.side);
        place(a)
            .cmp(&place(b))
            .then(a.share.total_cmp(&b.share))
            .then(bits(a.position).cmp(&bits(b.position)))
    });
    let old = std::mem::take(&mut mesh.indices);
    let mut rest = missing.as_slice();
    for (number, corners) in old.as_chunks::<3>().0.iter().enumerate() {
        let own = rest.partition_point(|missing| missing.triangle <= number);
        let (here, later) = rest.split_at(own);
        rest = later;
        if here.is_empty() {
            mesh.indices.extend(corners);
            continue;
        }
        let sides = [0, 1, 2].map(|side| {
            let ends = [corners[side], corners[(side + 1) % 3]];
            let added = here.iter().filter(|missing| missing.side == side);
            let added: Vec<u32> = added
                .map(|missing| mesh.add_between(ends, missing.share, missing.position))
                .collect();
            added
        });
        split(*corners, &sides, &mut mesh.indices);
    }
}

/// The triangles of one whose sides hold more vertices, each side's in its direction.
fn split([a, b, c]: [u32; 3], [ab, bc, ca]: &[Vec<u32>; 3], out: &mut Vec<u32>) {
    let along = |from: u32, between: &[u32], to: u32| {
        let mut all = vec![from];
        all.extend(between);
        all.push(to);
        all
    };
    // A fan around c. Its first triangle keeps the side from c to a, its last one that from b to c.
    let first = along(a, ab, b);
    for (number, pair) in first.windows(2).enumerate() {
        let is_last = number + 2 == first.len();
        let second = along(pair[1], if is_last { bc } else { &[] }, c);
        // A fan around the pair's first vertex; its last triangle keeps the side from c.
        for (number_2, pair_2) in second.windows(2).enumerate() {
            if number == 0 && number_2 + 2 == second.len() {
                for pair_3 in along(c, ca, a).windows(2) {
                    out.extend([pair_2[0], pair_3[0], pair_3[1]]);
                }
            } else {
                out.extend([pair[0], pair_2[0], pair_2[1]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};

    use super::*;
    use crate::scene::curve_detail::CurveDetail;
    use crate::scene::patch::{PatchInput, patch_levels};
    use crate::scene::types::{SlotLight, Vertex};

    fn vertex(position: Vec3) -> Vertex {
        Vertex {
            position,
            normal: Vec3::Z,
            st: position.truncate(),
            lightmap_st: position.truncate() * 0.5,
            colour: [position.x as u8, 0, 0, 255],
        }
    }

    /// A rectangle in z = 0.
    fn quad([x0, x1]: [f32; 2], [y0, y1]: [f32; 2]) -> Mesh {
        let corners = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)];
        Mesh {
            vertices: corners.map(|(x, y)| vertex(Vec3::new(x, y, 0.0))).to_vec(),
            indices: vec![0, 2, 1, 1, 2, 3],
            is_flat: true,
            ..Mesh::default()
        }
    }

    fn closed(meshes: &mut [Mesh]) {
        stitch(
            &mut meshes.iter_mut().collect::<Vec<_>>(),
            &mut Budget::new(100),
        );
    }

    /// Vertices that touch a side of another mesh, or of their own, without being its end.
    fn seams_left(meshes: &[Mesh]) -> usize {
        let sides = || {
            let all = meshes.iter();
            all.flat_map(|mesh| {
                let at = |end: u32| mesh.vertices[end as usize].position;
                outline(mesh).into_iter().map(move |rim| rim.ends.map(at))
            })
        };
        let points: Vec<Vec3> = sides().flatten().collect();
        let touches = |[from, to]: [Vec3; 2], point: Vec3| {
            let along = to - from;
            let share = (point - from).dot(along) / along.length_squared();
            let inside = share > 0.0 && share < 1.0 && point != from && point != to;
            inside && point.distance(from + along * share) <= TOUCH
        };
        let open = |ends| points.iter().filter(|point| touches(ends, **point)).count();
        sides().map(open).sum()
    }

    fn area(mesh: &Mesh) -> f32 {
        let triangles = mesh.indices.as_chunks::<3>().0;
        let position = |index: u32| mesh.vertices[index as usize].position;
        let area = |triangle: &[u32; 3]| {
            let [a, b, c] = triangle.map(position);
            (c - a).cross(b - a).z * 0.5
        };
        triangles.iter().map(area).sum()
    }

    #[test]
    fn corners_on_a_side_become_its_vertices() {
        // A large face, with three beside its right and two above; one corner is rounded to the wrong side.
        let mut meshes = [
            quad([0.0, 64.0], [0.0, 64.0]),
            quad([64.0, 96.0], [-16.0, 10.0]),
            quad([64.03, 96.0], [10.0, 40.0]),
            quad([64.0, 96.0], [40.0, 64.0]),
            quad([0.0, 21.0], [64.0, 96.0]),
            quad([21.0, 64.0], [64.0, 96.0]),
        ];
        assert!(seams_left(&meshes) > 0);
        let before: f32 = meshes.iter().map(area).sum();
        closed(&mut meshes);
        assert_eq!(seams_left(&meshes), 0);
        // Nothing is drawn twice or turned over.
        let after: f32 = meshes.iter().map(area).sum();
        assert!((after - before).abs() < 1.0, "{before} {after}");
        // (64, 10), (64, 40), (21, 64).
        assert_eq!(meshes[0].indices.len(), 3 * (2 + 3));
        let added = &meshes[0].vertices[4..];
        assert_eq!(added.len(), 3);
        for vertex in added {
            assert!(vertex.st.distance(vertex.position.truncate()) < 0.1);
            assert_eq!(vertex.colour[0], vertex.position.x as u8);
            assert_eq!(vertex.normal, Vec3::Z);
        }
    }

    #[test]
    fn light_styles_get_their_share_of_added_vertices() {
        let mut meshes = [
            quad([0.0, 64.0], [0.0, 64.0]),
            quad([64.0, 96.0], [16.0, 64.0]),
        ];
        let light = |vertex: &Vertex| SlotLight {
            lightmap_st: [vertex.st, Vec2::ZERO, Vec2::ZERO],
            colour: [[vertex.st.y as u8; 4], [0; 4], [0; 4]],
        };
        meshes[0].slot_lights = meshes[0].vertices.iter().map(light).collect();
        closed(&mut meshes);
        let added = meshes[0].slot_lights[4];
        assert_eq!(added.lightmap_st[0], Vec2::new(64.0, 16.0));
        assert_eq!(added.colour[0], [16; 4]);
    }

    #[test]
    fn what_is_apart_stays_apart() {
        // A poster one eighth of a unit in front of a wall, as large as it.
        let mut meshes = [
            quad([0.0, 64.0], [0.0, 64.0]),
            quad([0.0, 64.0], [0.0, 64.0]),
        ];
        for vertex in &mut meshes[1].vertices {
            vertex.position.z = 0.125;
        }
        let before = meshes[1].vertices.clone();
        closed(&mut meshes);
        assert_eq!(meshes[1].vertices, before);
        assert_eq!(meshes[0].vertices.len(), 4);
    }

    /// A sheet along a curve in z = 0 of three control points, up to `height`.
    fn sheet(curve: [Vec3; 3], height: f32) -> PatchInput {
        let rows = [0.0, 0.5, 1.0].map(|share| Vec3::Z * (height * share));
        PatchInput {
            width: 3,
            height: 3,
            controls: rows
                .iter()
                .flat_map(|row| curve.map(|point| vertex(point + *row)))
                .collect(),
        }
    }

    /// Outline positions in z = 0, each once.
    fn foot(meshes: &[Mesh]) -> Vec<[u32; 3]> {
        let at = |mesh: &Mesh| {
            let ends = outline(mesh).into_iter().flat_map(|rim| rim.ends);
            let positions = ends.map(|end| mesh.vertices[end as usize].position);
            positions
                .filter(|position| position.z.abs() < TOUCH)
                .map(bits)
                .collect::<Vec<_>>()
        };
        let mut all: Vec<_> = meshes.iter().flat_map(at).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn a_curve_and_its_halves_share_their_points_at_every_detail() {
        let whole = [
            Vec3::ZERO,
            Vec3::new(100.0, 200.0, 0.0),
            Vec3::new(300.0, 0.0, 0.0),
        ];
        let [a, b, c] = whole;
        let (ab, bc) = (a.midpoint(b), b.midpoint(c));
        let middle = ab.midpoint(bc);
        // The second half runs the other way, and its maker rounded.
        let off = Vec3::new(0.01, -0.02, 0.0);
        let patches = [
            sheet(whole, 100.0),
            sheet([a, ab, middle], -100.0),
            sheet([c, bc + off, middle + off], -70.0),
        ];
        for detail in CurveDetail::ALL {
            let levels = patch_levels(&patches, 27, detail);
            let mut meshes: Vec<Mesh> = patches
                .iter()
                .zip(&levels)
                .map(|(patch, levels)| Mesh::of_patch(patch, levels))
                .collect();
            assert_ne!(foot(&meshes[..1]), foot(&meshes[1..]), "{detail:?}");
            closed(&mut meshes);
            assert_eq!(foot(&meshes[..1]), foot(&meshes[1..]), "{detail:?}");
            assert!(foot(&meshes).len() > 4);
        }
    }

    #[test]
    fn damaged_files_end_within_the_budget() {
        // Every side holds all corners.
        let mut meshes: Vec<Mesh> = (1..400)
            .map(|number| quad([0.0, 1000.0 + number as f32], [0.0, 0.01]))
            .collect();
        let mut budget = Budget {
            added: 1000,
            visits: 100_000,
        };
        stitch(&mut meshes.iter_mut().collect::<Vec<_>>(), &mut budget);
        let vertices: usize = meshes.iter().map(|mesh| mesh.vertices.len()).sum();
        assert!(vertices <= 399 * 4 + 1000);
        // And what cannot be placed is left alone.
        let mut meshes = [quad([0.0, f32::INFINITY], [0.0, f32::NAN]), Mesh::default()];
        closed(&mut meshes);
        assert_eq!(meshes[0].indices.len(), 6);
    }
}
