use glam::Vec3;

use crate::light::winding::{Corner, Winding};

/// Distance from the line between its neighbours below which a row or column is dropped, game units.
const LINEAR_EPSILON: f32 = 0.1;
/// Distance of a quad's corners from one plane below which it emits as one piece, game units.
const PLANAR_EPSILON: f32 = 0.1;
/// Rows or columns are not split beyond this number.
const SIZE_LIMIT: usize = 128;

/// Control points or vertices in rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mesh {
    /// Vertices in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row, `width · height`.
    pub corners: Vec<Corner>,
}

/// Times a patch is split, from its longest curve in game units and `-subdivisions`: 0 to 3.
pub(crate) fn iterations(longest_curve: f32, subdivisions: f32) -> u32 {
    (0..3)
        .find(|i| longest_curve <= 16.0 * subdivisions * (1_u32 << i) as f32)
        .unwrap_or(3)
}

/// Length of the longest curve, estimated over the first row and column of each 3×3 sub-patch, for maps without `.srf`.
pub(crate) fn longest_curve(mesh: &Mesh) -> f32 {
    let at = |x: usize, y: usize| mesh.corners[y * mesh.width + x].position;
    let mut longest = 0.0_f32;
    for y in (0..mesh.height.saturating_sub(2)).step_by(2) {
        for x in (0..mesh.width.saturating_sub(2)).step_by(2) {
            longest = longest
                .max(curve_length(at(x, y), at(x + 1, y), at(x + 2, y)))
                .max(curve_length(at(x, y), at(x, y + 1), at(x, y + 2)));
        }
    }
    longest
}

/// 0 for curves that are short or nearly straight.
fn curve_length(a: Vec3, b: Vec3, c: Vec3) -> f32 {
    let (ab, bc, ac) = (b - a, c - b, c - a);
    if [ab, bc, ac].iter().any(|edge| edge.length() < 0.125) {
        return 0.0;
    }
    let along = ab.normalize_or_zero();
    let is_straight =
        along.dot(bc.normalize_or_zero()) > 0.99 && along.dot(ac.normalize_or_zero()) > 0.99;
    if is_straight {
        0.0
    } else {
        ab.length() + 0.875 * (bc - ab).length()
    }
}

impl Mesh {
    /// Splits the patch `iterations` times, moves the points onto the curve and drops straight rows and columns.
    pub(super) fn tessellate(self, iterations: u32) -> Self {
        let mut mesh = self;
        for _ in 0..iterations {
            mesh = mesh.split_columns().transposed();
            mesh = mesh.split_columns().transposed();
        }
        mesh = mesh.transposed().on_curve().transposed().on_curve();
        mesh = mesh.without_straight_columns().transposed();
        mesh.without_straight_columns().transposed()
    }

    /// The polygons that emit: planar quads whole, others as two triangles.
    pub(super) fn polygons(&self) -> Vec<Winding> {
        let mut polygons = Vec::new();
        for y in 0..self.height.saturating_sub(1) {
            for x in 0..self.width.saturating_sub(1) {
                let at = |dx: usize, dy: usize| self.corners[(y + dy) * self.width + x + dx];
                let mut quad = [at(0, 0), at(0, 1), at(1, 1), at(1, 0)];
                quad.rotate_left((x + y) & 1);
                if is_planar(&quad) {
                    polygons.push(quad.to_vec());
                } else {
                    polygons.push(vec![quad[0], quad[1], quad[2]]);
                    polygons.push(vec![quad[0], quad[2], quad[3]]);
                }
            }
        }
        polygons
    }

    fn transposed(&self) -> Self {
        let corners = (0..self.width)
            .flat_map(|x| (0..self.height).map(move |y| self.corners[y * self.width + x]))
            .collect();
        Self {
            width: self.height,
            height: self.width,
            corners,
        }
    }

    /// Each column triple (a, b, c) becomes (a, ab, the middle of ab and bc, bc, c).
    fn split_columns(self) -> Self {
        let mut mesh = self;
        let mut x = 0;
        while x + 2 < mesh.width && mesh.width + 2 < SIZE_LIMIT {
            let mut corners = Vec::with_capacity((mesh.width + 2) * mesh.height);
            for row in mesh.corners.chunks_exact(mesh.width) {
                let before = middle(&row[x], &row[x + 1]);
                let after = middle(&row[x + 1], &row[x + 2]);
                corners.extend_from_slice(&row[..=x]);
                corners.extend([before, middle(&before, &after), after]);
                corners.extend_from_slice(&row[x + 2..]);
            }
            mesh.corners = corners;
            mesh.width += 2;
            x += 4;
        }
        mesh
    }

    /// Moves every odd point of each row onto its curve.
    fn on_curve(self) -> Self {
        let mut mesh = self;
        for row in mesh.corners.chunks_exact_mut(mesh.width) {
            for x in (1..row.len().saturating_sub(1)).step_by(2) {
                let (before, after) = (row[x - 1].position, row[x + 1].position);
                row[x].position = (before + 2.0 * row[x].position + after) * 0.25;
            }
        }
        mesh
    }

    fn without_straight_columns(self) -> Self {
        let mut mesh = self;
        let mut x = 1;
        while x + 1 < mesh.width {
            let is_straight = mesh.corners.chunks_exact(mesh.width).all(|row| {
                let (from, to) = (row[x - 1].position, row[x + 1].position);
                distance_to_line(row[x].position, from, to) <= LINEAR_EPSILON
            });
            if is_straight {
                let width = mesh.width;
                let mut at = 0;
                mesh.corners.retain(|_| {
                    at += 1;
                    (at - 1) % width != x
                });
                mesh.width -= 1;
            } else {
                x += 1;
            }
        }
        mesh
    }
}

fn middle(a: &Corner, b: &Corner) -> Corner {
    Corner {
        position: (a.position + b.position) * 0.5,
        normal: (a.normal + b.normal).normalize_or_zero(),
    }
}

fn distance_to_line(point: Vec3, from: Vec3, to: Vec3) -> f32 {
    let along = (to - from).normalize_or_zero();
    let offset = point - from;
    (offset - along * offset.dot(along)).length()
}

fn is_planar(quad: &[Corner; 4]) -> bool {
    let [a, b, c, d] = quad.map(|corner| corner.position);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    normal != Vec3::ZERO && (d - a).dot(normal).abs() < PLANAR_EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(bulge: f32) -> Mesh {
        let corners = (0..9)
            .map(|i: u8| {
                let (x, y) = (f32::from(i % 3), f32::from(i / 3));
                let z = if i % 3 == 1 { bulge } else { 0.0 };
                Corner {
                    position: Vec3::new(x * 100.0, y * 100.0, z),
                    normal: Vec3::Z,
                }
            })
            .collect();
        Mesh {
            width: 3,
            height: 3,
            corners,
        }
    }

    #[test]
    fn flat_patch_becomes_one_quad() {
        let mesh = patch(0.0).tessellate(2);
        assert_eq!((mesh.width, mesh.height), (2, 2));
        assert_eq!(mesh.polygons().len(), 1);
    }

    #[test]
    fn curved_patch_lies_on_the_parabola() {
        let mesh = patch(100.0);
        // √2·100 along the first half, 7/8 of the bend of 200.
        assert!((longest_curve(&mesh) - 316.4).abs() < 0.1);
        let mesh = mesh.tessellate(1);
        assert_eq!((mesh.width, mesh.height), (5, 2));
        for corner in &mesh.corners {
            let s = corner.position.x / 200.0;
            assert!((corner.position.z - 200.0 * s * (1.0 - s)).abs() < 1e-3);
        }
    }

    #[test]
    fn iterations_follow_the_curve() {
        let found = [0.0, 128.0, 129.0, 300.0, 513.0].map(|curve| iterations(curve, 8.0));
        assert_eq!(found, [0, 0, 1, 2, 3]);
        assert_eq!(iterations(129.0, 16.0), 0);
    }
}
