//! Bézier patches: how finely, and the tessellation itself.
//!
//! Every piece of 3×3 control points is halved by de Casteljau a power-of-two number of times along each axis. Two patches
//! that share a boundary curve get the same number along it, and midpoints are computed from sums that do not depend on
//! direction, so both produce bit-equal points there: no cracks.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3, Vec4};

use crate::scene::curve_detail::CurveDetail;
use crate::scene::types::Vertex;

/// Distance of a curve's middle from its chord below which it counts as straight, game units; the engine's value.
const STRAIGHT: f32 = 0.1;
/// Halvings of one piece at most: 32 segments.
const LEVEL_MAX: u32 = 5;
/// Vertices of all patches of a map at most, beside [`VERTICES_PER_VERT`]; beyond it everything is tessellated more
/// coarsely. Of 125 maps of two games the roundest has 26,000.
const VERTEX_BUDGET: u64 = 80_000;
/// Vertices that each vertex of the file adds to the budget.
const VERTICES_PER_VERT: u64 = 8;

/// A patch to be tessellated.
#[derive(Clone, Debug)]
pub struct PatchInput {
    /// Control points in a row, odd, ≥ 3.
    pub width: usize,
    /// Rows, odd, ≥ 3.
    pub height: usize,
    /// Control points, row by row: `width · height`.
    pub controls: Vec<Vertex>,
}

/// Tessellated patch: `width` × `height` vertices, width fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchGrid {
    /// Vertices in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row by row.
    pub vertices: Vec<Vertex>,
}

/// Halvings of each piece of a patch, along width and along height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchLevels {
    columns: Vec<u32>,
    rows: Vec<u32>,
}

/// Which way a curve runs through a patch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Axis {
    Width,
    Height,
}

impl PatchInput {
    fn point(&self, x: usize, y: usize) -> &Vertex {
        &self.controls[y * self.width + x]
    }

    /// Pieces along `axis`.
    fn pieces(&self, axis: Axis) -> usize {
        match axis {
            Axis::Width => (self.width - 1) / 2,
            Axis::Height => (self.height - 1) / 2,
        }
    }

    /// Curves across one piece: lines of control points along the other axis.
    fn lines(&self, axis: Axis) -> usize {
        match axis {
            Axis::Width => self.height,
            Axis::Height => self.width,
        }
    }

    /// The three control positions of `piece` on `line`.
    fn curve(&self, axis: Axis, piece: usize, line: usize) -> [Vec3; 3] {
        std::array::from_fn(|i| match axis {
            Axis::Width => self.point(piece * 2 + i, line).position,
            Axis::Height => self.point(line, piece * 2 + i).position,
        })
    }

    /// Halvings that the piece needs on its own: 0 when all its curves are straight.
    fn own_level(&self, axis: Axis, piece: usize, detail: CurveDetail) -> u32 {
        let deviation = (0..self.lines(axis))
            .map(|line| deviation(self.curve(axis, piece, line)))
            .fold(0.0, f32::max);
        level_for(deviation, detail)
    }
}

/// The engine keeps the middle of every curve that is not straight, and halves further while a piece's middle is too far off.
fn level_for(deviation: f32, detail: CurveDetail) -> u32 {
    if deviation < STRAIGHT {
        return 0;
    }
    let accepted = f32::from(detail.subdivisions());
    // A halving divides the deviation by four.
    let mut level = 1;
    let mut rest = deviation;
    while rest > accepted && level < LEVEL_MAX {
        rest *= 0.25;
        level += 1;
    }
    level
}

/// Distance of the curve's middle from the chord.
fn deviation([a, b, c]: [Vec3; 3]) -> f32 {
    let middle = (a + b * 2.0 + c) * 0.25;
    let chord = (c - a).normalize_or_zero();
    let from_a = middle - a;
    (from_a - chord * from_a.dot(chord)).length()
}

/// The middle control point of a boundary curve with each of its ends, as bits. Two that share one side by side leave their
/// common end alike: they are the same curve, or one that ends a little before the other, as an arch that is deeper than its
/// cap. Then chords of one must not cut deeper than those of the other.
fn curve_keys([a, b, c]: [Vec3; 3]) -> [[[u32; 3]; 2]; 2] {
    // Adding zero turns −0 into 0.
    let bits = |point: Vec3| point.to_array().map(|value| (value + 0.0).to_bits());
    [[bits(a), bits(b)], [bits(c), bits(b)]]
}

/// Halvings for all patches of a map whose file holds `file_verts` vertices, equal along every shared boundary curve.
pub fn patch_levels(
    patches: &[PatchInput],
    file_verts: usize,
    detail: CurveDetail,
) -> Vec<PatchLevels> {
    let mut owners: Vec<(usize, Axis, usize)> = Vec::new();
    let mut levels: Vec<u32> = Vec::new();
    let mut groups = UnionFind::default();
    let mut by_curve: BTreeMap<[[u32; 3]; 2], usize> = BTreeMap::new();
    for (number, patch) in patches.iter().enumerate() {
        for axis in [Axis::Width, Axis::Height] {
            for piece in 0..patch.pieces(axis) {
                let node = groups.add();
                owners.push((number, axis, piece));
                levels.push(patch.own_level(axis, piece, detail));
                for line in [0, patch.lines(axis) - 1] {
                    for key in curve_keys(patch.curve(axis, piece, line)) {
                        if let Some(other) = by_curve.insert(key, node) {
                            groups.join(node, other);
                        }
                    }
                }
            }
        }
    }
    let mut highest: BTreeMap<usize, u32> = BTreeMap::new();
    for (node, own) in levels.iter().enumerate() {
        let level = highest.entry(groups.root(node)).or_default();
        *level = (*level).max(*own);
    }
    let mut result: Vec<PatchLevels> = patches
        .iter()
        .map(|patch| PatchLevels {
            columns: vec![0; patch.pieces(Axis::Width)],
            rows: vec![0; patch.pieces(Axis::Height)],
        })
        .collect();
    for (node, (number, axis, piece)) in owners.into_iter().enumerate() {
        let level = highest.get(&groups.root(node)).copied().unwrap_or(0);
        match axis {
            Axis::Width => result[number].columns[piece] = level,
            Axis::Height => result[number].rows[piece] = level,
        }
    }
    let budget = VERTEX_BUDGET + VERTICES_PER_VERT * file_verts as u64;
    limit_to_budget(&mut result, budget);
    result
}

fn limit_to_budget(levels: &mut [PatchLevels], budget: u64) {
    let points = |list: &[u32]| 1 + list.iter().map(|level| 1_u64 << level).sum::<u64>();
    for cap in (0..LEVEL_MAX).rev() {
        let total: u64 = levels
            .iter()
            .map(|patch| points(&patch.columns) * points(&patch.rows))
            .sum();
        if total <= budget {
            return;
        }
        for level in levels
            .iter_mut()
            .flat_map(|patch| patch.columns.iter_mut().chain(&mut patch.rows))
        {
            *level = (*level).min(cap);
        }
    }
}

#[derive(Default)]
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// A vertex in floats, for halving.
#[derive(Clone, Copy)]
struct Point {
    position: Vec3,
    normal: Vec3,
    st: Vec2,
    lightmap_st: Vec2,
    colour: Vec4,
}

impl Point {
    fn new(vertex: &Vertex) -> Self {
        Self {
            position: vertex.position,
            normal: vertex.normal,
            st: vertex.st,
            lightmap_st: vertex.lightmap_st,
            colour: Vec4::from(vertex.colour.map(f32::from)),
        }
    }

    fn middle(self, other: Self) -> Self {
        Self {
            position: (self.position + other.position) * 0.5,
            normal: (self.normal + other.normal) * 0.5,
            st: (self.st + other.st) * 0.5,
            lightmap_st: (self.lightmap_st + other.lightmap_st) * 0.5,
            colour: (self.colour + other.colour) * 0.5,
        }
    }

    fn vertex(self, normal: Vec3) -> Vertex {
        Vertex {
            position: self.position,
            normal,
            st: self.st,
            lightmap_st: self.lightmap_st,
            colour: self
                .colour
                .to_array()
                .map(|channel| channel.round().clamp(0.0, 255.0) as u8),
        }
    }
}

/// Appends the curve's points behind `a`, in order, up to and with `c`.
fn halve(a: Point, b: Point, c: Point, level: u32, out: &mut Vec<Point>) {
    if level == 0 {
        out.push(c);
        return;
    }
    let (ab, bc) = (a.middle(b), b.middle(c));
    let middle = ab.middle(bc);
    halve(a, ab, middle, level - 1, out);
    halve(middle, bc, c, level - 1, out);
}

/// All points along one line of control points.
fn run(controls: &[Point], levels: &[u32]) -> Vec<Point> {
    let mut out = vec![controls[0]];
    for (piece, level) in levels.iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|i| controls[piece * 2 + i]);
        halve(a, b, c, *level, &mut out);
    }
    out
}

/// Control points of the pieces between a patch's outer vertices: of its first row, last row, first column and last column.
pub(super) fn boundary_controls(patch: &PatchInput, levels: &PatchLevels) -> [Vec<Vec3>; 4] {
    let row = |y: usize| {
        let line = (0..patch.width).map(|x| patch.point(x, y).position);
        controls_along(&line.collect::<Vec<_>>(), &levels.columns)
    };
    let column = |x: usize| {
        let line = (0..patch.height).map(|y| patch.point(x, y).position);
        controls_along(&line.collect::<Vec<_>>(), &levels.rows)
    };
    [
        row(0),
        row(patch.height - 1),
        column(0),
        column(patch.width - 1),
    ]
}

/// The middle control points of what [`run`] leaves of a line.
fn controls_along(controls: &[Vec3], levels: &[u32]) -> Vec<Vec3> {
    fn halve(a: Vec3, b: Vec3, c: Vec3, level: u32, out: &mut Vec<Vec3>) {
        if level == 0 {
            out.push(b);
            return;
        }
        let (ab, bc) = ((a + b) * 0.5, (b + c) * 0.5);
        let middle = (ab + bc) * 0.5;
        halve(a, ab, middle, level - 1, out);
        halve(middle, bc, c, level - 1, out);
    }
    let mut out = Vec::new();
    for (piece, level) in levels.iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|i| controls[piece * 2 + i]);
        halve(a, b, c, *level, &mut out);
    }
    out
}

/// Tessellates one patch. Normals are recomputed from the mesh; where it is degenerate the control points' are blended.
pub fn tessellate(patch: &PatchInput, levels: &PatchLevels) -> PatchGrid {
    let rows: Vec<Vec<Point>> = patch
        .controls
        .chunks_exact(patch.width)
        .map(|row| {
            run(
                &row.iter().map(Point::new).collect::<Vec<_>>(),
                &levels.columns,
            )
        })
        .collect();
    let width = rows[0].len();
    let columns: Vec<Vec<Point>> = (0..width)
        .map(|x| {
            run(
                &rows.iter().map(|row| row[x]).collect::<Vec<_>>(),
                &levels.rows,
            )
        })
        .collect();
    let height = columns[0].len();
    let mut vertices = Vec::with_capacity(width * height);
    for y in 0..height {
        for (x, column) in columns.iter().enumerate() {
            vertices.push(column[y].vertex(mesh_normal(&columns, x, y)));
        }
    }
    PatchGrid {
        width,
        height,
        vertices,
    }
}

/// Normal of the mesh at a vertex: the cross product of the width and height directions in that order, the side that the
/// engine draws and that stored control normals point to.
fn mesh_normal(columns: &[Vec<Point>], x: usize, y: usize) -> Vec3 {
    let (width, height) = (columns.len(), columns[0].len());
    let at = |x: usize, y: usize| columns[x][y].position;
    let along_width = at((x + 1).min(width - 1), y) - at(x.saturating_sub(1), y);
    let along_height = at(x, (y + 1).min(height - 1)) - at(x, y.saturating_sub(1));
    let mesh = along_width.cross(along_height).normalize_or_zero();
    let blended = columns[x][y].normal.normalize_or_zero();
    if mesh == Vec3::ZERO { blended } else { mesh }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(position: Vec3) -> Vertex {
        Vertex {
            position,
            normal: Vec3::Z,
            st: position.truncate(),
            lightmap_st: Vec2::ZERO,
            colour: [100, 0, 0, 255],
        }
    }

    /// A quarter cylinder about Z: radius 64, height 128.
    fn quarter(mirrored: bool) -> PatchInput {
        let arc = [
            Vec3::new(64.0, 0.0, 0.0),
            Vec3::new(64.0, 64.0, 0.0),
            Vec3::new(0.0, 64.0, 0.0),
        ];
        let mut controls = Vec::new();
        for z in [0.0, 64.0, 128.0] {
            let mut row: Vec<Vertex> = arc
                .iter()
                .map(|point| control(*point + Vec3::Z * z))
                .collect();
            if mirrored {
                row.reverse();
            }
            controls.extend(row);
        }
        PatchInput {
            width: 3,
            height: 3,
            controls,
        }
    }

    #[test]
    fn a_cylinder_is_round_and_its_straight_side_is_not_divided() {
        let patch = quarter(false);
        let levels = patch_levels(std::slice::from_ref(&patch), 9, CurveDetail::High);
        let grid = tessellate(&patch, &levels[0]);
        assert_eq!(grid.height, 2);
        assert!(grid.width >= 5, "{}", grid.width);
        for vertex in &grid.vertices {
            // A quadratic arc leaves the circle by up to 6 % of its radius at 45 degrees.
            let radius = vertex.position.truncate().length();
            assert!((64.0..=64.0 * 1.061).contains(&radius), "{radius}");
            assert!(vertex.normal.z.abs() < 1e-5 && (vertex.normal.length() - 1.0).abs() < 1e-5);
            assert_eq!(vertex.colour, [100, 0, 0, 255]);
        }
    }

    #[test]
    fn neighbours_share_bit_equal_boundary_points() {
        // The second patch continues the first upwards, runs the other way, and bulges so that it needs more points.
        let below = quarter(true);
        let mut above = quarter(false);
        for (at, vertex) in above.controls.iter_mut().enumerate() {
            vertex.position.z += 128.0;
            if at >= 6 {
                vertex.position *= Vec3::new(40.0, 40.0, 1.0);
            }
        }
        let alone = tessellate(
            &below,
            &patch_levels(std::slice::from_ref(&below), 9, CurveDetail::High)[0],
        );
        let patches = [below, above];
        let levels = patch_levels(&patches, 18, CurveDetail::High);
        let grids: Vec<PatchGrid> = patches
            .iter()
            .zip(&levels)
            .map(|(p, l)| tessellate(p, l))
            .collect();
        assert!(grids[0].width > alone.width, "the neighbour's needs count");
        let top: Vec<Vec3> = grids[0].vertices[grids[0].vertices.len() - grids[0].width..]
            .iter()
            .rev()
            .map(|vertex| vertex.position)
            .collect();
        let bottom: Vec<Vec3> = grids[1].vertices[..grids[1].width]
            .iter()
            .map(|vertex| vertex.position)
            .collect();
        assert_eq!(top, bottom);
    }

    #[test]
    fn normals_face_the_clockwise_side() {
        // Row along +X, next row along +Y: seen from +Z.
        let controls = (0..9)
            .map(|i| control(Vec3::new((i % 3) as f32, (i / 3) as f32, 0.0)))
            .collect();
        let patch = PatchInput {
            width: 3,
            height: 3,
            controls,
        };
        let grid = tessellate(
            &patch,
            &patch_levels(std::slice::from_ref(&patch), 9, CurveDetail::High)[0],
        );
        assert_eq!((grid.width, grid.height), (2, 2));
        assert_eq!(grid.vertices[0].normal, Vec3::Z);
    }

    #[test]
    fn hostile_sizes_stay_within_the_budget() {
        let controls = (0..1023)
            .map(|i| control(Vec3::new(i as f32, (i * 7919 % 1000) as f32 * 50.0, 0.0)))
            .collect();
        let patch = PatchInput {
            width: 31,
            height: 33,
            controls,
        };
        let patches = vec![patch; 40];
        let total: u64 = patch_levels(&patches, 1023, CurveDetail::High)
            .iter()
            .map(|levels| {
                let points =
                    |list: &[u32]| 1 + list.iter().map(|level| 1_u64 << level).sum::<u64>();
                points(&levels.columns) * points(&levels.rows)
            })
            .sum();
        assert!(total <= VERTEX_BUDGET + VERTICES_PER_VERT * 1023);
    }
}
