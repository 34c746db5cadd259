//! Checks of every index against its target. What is out of range is mended or dropped, and counted.

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};

use crate::format::bsp::error::{BspError, BspWarning};
use crate::format::bsp::records::{self, RawBrush, RawFog, RawLeaf, RawModel, RawNode, Span};
use crate::format::bsp::types::{
    Brush, BrushSide, Child, DrawVert, Fog, Leaf, LumpKind, Model, Node,
};
use crate::math::{Aabb, Plane};

/// Cluster numbers up to this are honoured whatever the number of leafs.
const CLUSTERS_ALWAYS: usize = 65_536;
/// Clusters that one leaf can account for, generously.
const CLUSTERS_PER_LEAF: usize = 16;
/// Areas that engines allow.
const AREAS: i32 = 256;
/// Area numbers from here on are hostile: some engines allocate their square.
const AREAS_HOSTILE: i32 = 65_536;

/// Sides of a brush at least: compilers always write the six axial ones.
const BRUSH_SIDES_MIN: u32 = 6;

/// Number of records in each target lump.
pub(super) struct Limits {
    pub(super) shaders: usize,
    pub(super) planes: usize,
    pub(super) nodes: usize,
    pub(super) leafs: usize,
    pub(super) brushes: usize,
    pub(super) sides: usize,
    pub(super) surfaces: usize,
    pub(super) pages: usize,
    pub(super) fogs: usize,
}

/// Findings, one entry a kind.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<(LumpKind, String), (Option<usize>, usize)>);

impl Findings {
    pub(super) fn add(&mut self, lump: LumpKind, index: Option<usize>, what: &str) {
        let entry = self.0.entry((lump, what.to_owned())).or_insert((index, 0));
        entry.1 += 1;
    }

    pub(super) fn into_warnings(self) -> impl Iterator<Item = BspWarning> {
        self.0
            .into_iter()
            .map(|((lump, what), (index, count))| BspWarning {
                lump,
                index,
                what,
                count,
            })
    }
}

pub(super) struct Sanitiser {
    pub(super) limits: Limits,
    /// Whether surface type 5 means foliage in this format.
    pub(super) has_foliage: bool,
    pub(super) findings: Findings,
}

/// Vertices and, for each, whether triangles may use it, and whether its lightmap coordinates were finite.
pub(super) struct Verts {
    pub(super) list: Vec<DrawVert>,
    pub(super) sound: Vec<bool>,
    pub(super) mapped: Vec<bool>,
}

/// Sides and, for each, whether its plane and material exist.
pub(super) struct Sides {
    pub(super) list: Vec<BrushSide>,
    sound: Vec<bool>,
}

/// `value` as an index below `limit`.
pub(super) fn index_in(value: i32, limit: usize) -> Option<u32> {
    let index = u32::try_from(value).ok()?;
    (usize::try_from(index).ok()? < limit).then_some(index)
}

/// First and count when both are sound within `limit` records.
pub(super) fn span_in(span: Span, limit: usize) -> Option<(u32, u32)> {
    let (first, count) = (
        u32::try_from(span.first).ok()?,
        u32::try_from(span.count).ok()?,
    );
    let end = u64::from(first) + u64::from(count);
    (count == 0 || end <= limit as u64).then_some(if count == 0 { (0, 0) } else { (first, count) })
}

impl Sanitiser {
    pub(super) fn draw_verts(&mut self, mut list: Vec<DrawVert>) -> Verts {
        let mut sound = Vec::with_capacity(list.len());
        let mut mapped = Vec::with_capacity(list.len());
        for (index, vert) in list.iter_mut().enumerate() {
            let finite = vert.position.is_finite();
            if !finite {
                self.findings.add(
                    LumpKind::DrawVerts,
                    Some(index),
                    "position is not finite; triangles that use it are dropped",
                );
                vert.position = Vec3::ZERO;
            }
            if !vert.st.is_finite() {
                self.findings.add(
                    LumpKind::DrawVerts,
                    Some(index),
                    "texture coordinates are not finite, zero taken",
                );
                vert.st = Vec2::ZERO;
            }
            if !vert.normal.is_finite() {
                self.findings.add(
                    LumpKind::DrawVerts,
                    Some(index),
                    "normal is not finite, zero taken",
                );
                vert.normal = Vec3::ZERO;
            }
            // Unlit surfaces really hold NaN here: the warning is left to lit ones.
            mapped.push(vert.lightmap_st.iter().all(|st| st.is_finite()));
            for st in vert.lightmap_st.iter_mut().filter(|st| !st.is_finite()) {
                *st = Vec2::ZERO;
            }
            sound.push(finite);
        }
        Verts {
            list,
            sound,
            mapped,
        }
    }

    pub(super) fn brush_sides(&mut self, raw: Vec<[i32; 2]>, planes: &[Plane]) -> Sides {
        let mut sides = Sides {
            list: Vec::with_capacity(raw.len()),
            sound: Vec::with_capacity(raw.len()),
        };
        for (number, [plane, shader]) in raw.into_iter().enumerate() {
            let plane = index_in(plane, self.limits.planes);
            let shader = index_in(shader, self.limits.shaders);
            let is_finite = |plane: u32| {
                let plane = planes.get(plane as usize);
                plane.is_some_and(|plane| plane.normal.is_finite() && plane.dist.is_finite())
            };
            let finite = plane.is_none_or(is_finite);
            if !finite {
                self.findings.add(
                    LumpKind::BrushSides,
                    Some(number),
                    "plane is not finite; its brush is dropped",
                );
            }
            sides
                .sound
                .push(finite && plane.is_some() && shader.is_some());
            if plane.is_none() || shader.is_none() {
                self.findings.add(
                    LumpKind::BrushSides,
                    Some(number),
                    "plane or material out of range; its brush is dropped",
                );
            }
            sides
                .list
                .push(records::side(plane.unwrap_or(0), shader.unwrap_or(0)));
        }
        sides
    }

    pub(super) fn brushes(&mut self, raw: &[RawBrush], sides: &Sides) -> Vec<Brush> {
        let mut check = |(number, raw): (usize, &RawBrush)| {
            let span = span_in(raw.sides, self.limits.sides);
            let shader = index_in(raw.shader, self.limits.shaders);
            let sound = span.filter(|(first, count)| {
                let range = *first as usize..(*first as usize + *count as usize);
                sides
                    .sound
                    .get(range)
                    .is_some_and(|all| !all.contains(&false))
            });
            if let (Some((_, 0..BRUSH_SIDES_MIN)), Some(_)) = (sound, shader) {
                self.findings.add(
                    LumpKind::Brushes,
                    Some(number),
                    "fewer than six sides enclose nothing; brush dropped",
                );
                return Brush {
                    first_side: 0,
                    side_count: 0,
                    shader: 0,
                };
            }
            if let (Some((first_side, side_count)), Some(shader)) = (sound, shader) {
                return Brush {
                    first_side,
                    side_count,
                    shader,
                };
            }
            self.findings.add(
                LumpKind::Brushes,
                Some(number),
                "sides or material out of range; brush dropped",
            );
            Brush {
                first_side: 0,
                side_count: 0,
                shader: 0,
            }
        };
        raw.iter().enumerate().map(&mut check).collect()
    }

    /// Lumps 5 and 6. Leafs address their entries by position, so a bad entry cannot be taken out: it becomes 0.
    pub(super) fn leaf_lists(&mut self, surfaces: &[i32], brushes: &[i32]) -> (Vec<u32>, Vec<u32>) {
        let (surface_limit, brush_limit) = (self.limits.surfaces, self.limits.brushes);
        let surfaces = self.leaf_list(LumpKind::LeafSurfaces, surfaces, surface_limit);
        let brushes = self.leaf_list(LumpKind::LeafBrushes, brushes, brush_limit);
        (surfaces, brushes)
    }

    fn leaf_list(&mut self, lump: LumpKind, raw: &[i32], limit: usize) -> Vec<u32> {
        if limit == 0 {
            if !raw.is_empty() {
                self.findings.add(
                    lump,
                    Some(0),
                    "lists records of an empty lump; list dropped",
                );
            }
            return Vec::new();
        }
        let mut check = |(number, value): (usize, &i32)| {
            index_in(*value, limit).unwrap_or_else(|| {
                self.findings
                    .add(lump, Some(number), "number out of range, 0 taken");
                0
            })
        };
        raw.iter().enumerate().map(&mut check).collect()
    }

    pub(super) fn leafs(
        &mut self,
        raw: &[RawLeaf],
        surfaces: usize,
        brushes: usize,
    ) -> Result<Vec<Leaf>, BspError> {
        let cluster_limit = CLUSTERS_ALWAYS.max(raw.len().saturating_mul(CLUSTERS_PER_LEAF));
        let mut leafs = Vec::with_capacity(raw.len());
        for (index, leaf) in raw.iter().enumerate() {
            let excessive = |field, value: i32| BspError::Excessive {
                lump: LumpKind::Leafs,
                index,
                field,
                value: i64::from(value),
            };
            if leaf.area >= AREAS_HOSTILE {
                return Err(excessive("area", leaf.area));
            }
            if leaf.cluster >= 0 && index_in(leaf.cluster, cluster_limit).is_none() {
                return Err(excessive("cluster", leaf.cluster));
            }
            let mut list = |span: Span, limit: usize| {
                span_in(span, limit).unwrap_or_else(|| {
                    self.findings.add(
                        LumpKind::Leafs,
                        Some(index),
                        "list of surfaces or brushes out of range; list emptied",
                    );
                    (0, 0)
                })
            };
            let (first_surface, surface_count) = list(leaf.surfaces, surfaces);
            let (first_brush, brush_count) = list(leaf.brushes, brushes);
            if leaf.area >= AREAS {
                self.findings
                    .add(LumpKind::Leafs, Some(index), "area above 255; none taken");
            }
            leafs.push(Leaf {
                cluster: u32::try_from(leaf.cluster).ok(),
                area: u32::try_from(leaf.area).ok().filter(|_| leaf.area < AREAS),
                min: leaf.min,
                max: leaf.max,
                first_surface,
                surface_count,
                first_brush,
                brush_count,
            });
        }
        Ok(leafs)
    }

    /// The tree, or none when it is unsound: every child in range, every node and leaf reached at most once.
    pub(super) fn nodes(&mut self, raw: &[RawNode]) -> Vec<Node> {
        let nodes: Option<Vec<Node>> = raw.iter().map(|node| self.node(node)).collect();
        let sound = nodes.filter(|nodes| self.is_tree(nodes));
        if sound.is_none() {
            self.findings.add(
                LumpKind::Nodes,
                None,
                "a plane or child is out of range, or the tree runs in a circle; tree dropped",
            );
        }
        sound.unwrap_or_default()
    }

    fn node(&self, raw: &RawNode) -> Option<Node> {
        let child = |value: i32| {
            if value >= 0 {
                index_in(value, self.limits.nodes).map(Child::Node)
            } else {
                // −1 − value cannot overflow for a negative value.
                index_in(-1 - value, self.limits.leafs).map(Child::Leaf)
            }
        };
        let [front, back] = raw.children;
        Some(Node {
            plane: index_in(raw.plane, self.limits.planes)?,
            children: [child(front)?, child(back)?],
            min: raw.min,
            max: raw.max,
        })
    }

    fn is_tree(&self, nodes: &[Node]) -> bool {
        let mut node_seen = vec![false; nodes.len()];
        let mut leaf_seen = vec![false; self.limits.leafs];
        let mut open = if nodes.is_empty() {
            Vec::new()
        } else {
            vec![0_u32]
        };
        while let Some(number) = open.pop() {
            let (Some(node), Some(seen)) = (
                nodes.get(number as usize),
                node_seen.get_mut(number as usize),
            ) else {
                return false;
            };
            if std::mem::replace(seen, true) {
                return false;
            }
            for child in node.children {
                match child {
                    Child::Node(next) => open.push(next),
                    Child::Leaf(leaf) => match leaf_seen.get_mut(leaf as usize) {
                        Some(seen) if !*seen => *seen = true,
                        _ => return false,
                    },
                }
            }
        }
        true
    }

    pub(super) fn models(&mut self, raw: &[RawModel]) -> Vec<Model> {
        let mut check = |(index, raw): (usize, &RawModel)| {
            let mut list = |span: Span, limit: usize| {
                span_in(span, limit).unwrap_or_else(|| {
                    self.findings.add(
                        LumpKind::Models,
                        Some(index),
                        "surfaces or brushes out of range; none taken",
                    );
                    (0, 0)
                })
            };
            let (first_surface, surface_count) = list(raw.surfaces, self.limits.surfaces);
            let (first_brush, brush_count) = list(raw.brushes, self.limits.brushes);
            let finite = raw.bounds.min.is_finite() && raw.bounds.max.is_finite();
            if !finite {
                self.findings.add(
                    LumpKind::Models,
                    Some(index),
                    "bounds are not finite; empty taken",
                );
            }
            Model {
                bounds: if finite { raw.bounds } else { Aabb::EMPTY },
                first_surface,
                surface_count,
                first_brush,
                brush_count,
            }
        };
        raw.iter().enumerate().map(&mut check).collect()
    }

    pub(super) fn fogs(&mut self, raw: Vec<RawFog>, brushes: &[Brush]) -> Vec<Fog> {
        let mut check = |(index, raw): (usize, RawFog)| {
            let brush = index_in(raw.brush, brushes.len());
            if brush.is_none() && raw.brush != -1 {
                self.findings.add(
                    LumpKind::Fogs,
                    Some(index),
                    "brush out of range; whole world taken",
                );
            }
            let sides = brush
                .and_then(|brush| brushes.get(brush as usize))
                .map_or(0, |brush| brush.side_count as usize);
            let visible_side = index_in(raw.visible_side, sides);
            if visible_side.is_none() && raw.visible_side != -1 {
                self.findings.add(
                    LumpKind::Fogs,
                    Some(index),
                    "visible side out of range; none taken",
                );
            }
            Fog {
                material: raw.material,
                brush,
                visible_side,
            }
        };
        raw.into_iter().enumerate().map(&mut check).collect()
    }
}
