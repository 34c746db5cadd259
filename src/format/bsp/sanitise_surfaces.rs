//! Checks of surfaces: their kind, vertices, triangles and pages.

use crate::format::bsp::records::RawSurface;
use crate::format::bsp::sanitise::{Sanitiser, Verts, index_in, span_in};
use crate::format::bsp::types::{LightmapIndex, LumpKind, STYLE_NONE, Surface, SurfaceKind};

/// Control points of one patch: what the engines' stacks hold.
const PATCH_POINTS: i64 = 1024;
/// Control points along one side of a patch.
const PATCH_SIDE: i32 = 129;

/// Vertices that surfaces may use beyond those of the file. Compilers give every surface its own: more is a file that asks
/// for the square of its size.
const SHARED_VERTS: usize = 50_000;
/// Indexes that surfaces may use, beside eight for each vertex of the file. Compilers share ranges of indexes, yet use
/// about three for a vertex.
const SHARED_INDEXES: usize = 150_000;
const INDEXES_PER_VERT: usize = 8;

/// What is left for surfaces of one kind of record.
#[derive(Clone, Copy)]
struct Budget(usize);

impl Budget {
    /// Takes `count` when there are as many.
    fn take(&mut self, count: u32) -> bool {
        let left = usize::try_from(count)
            .ok()
            .and_then(|count| self.0.checked_sub(count));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Vertices and indexes that are left for surfaces.
struct Budgets {
    verts: Budget,
    indexes: Budget,
}

impl Budgets {
    fn new(verts: usize) -> Self {
        Self {
            verts: Budget(verts.saturating_add(SHARED_VERTS)),
            indexes: Budget(
                verts
                    .saturating_mul(INDEXES_PER_VERT)
                    .saturating_add(SHARED_INDEXES),
            ),
        }
    }
}

impl Sanitiser {
    /// Surfaces, and the index list with private copies for surfaces that lost triangles (ranges are shared in the file).
    pub(super) fn surfaces(
        &mut self,
        raw: &[RawSurface],
        indexes: &[i32],
        verts: &Verts,
    ) -> (Vec<Surface>, Vec<u32>) {
        // Negative values become a number that is out of every surface's range.
        let mut list: Vec<u32> = indexes
            .iter()
            .map(|i| u32::try_from(*i).unwrap_or(u32::MAX))
            .collect();
        let file_indexes = list.len();
        let mut budgets = Budgets::new(verts.sound.len());
        let surfaces: Vec<Surface> = raw
            .iter()
            .enumerate()
            .map(|(number, raw)| {
                let mut surface = self.surface(number, raw, file_indexes, &verts.sound);
                let within = budgets.verts.take(surface.vert_count)
                    && budgets.indexes.take(surface.index_count);
                if within {
                    self.drop_triangles(number, &mut surface, &mut list, &verts.sound);
                } else {
                    self.findings.add(
                        LumpKind::Surfaces,
                        Some(number),
                        "surfaces share more vertices or indexes than is sensible; surface skipped",
                    );
                    surface.kind = SurfaceKind::Skipped;
                    (surface.vert_count, surface.index_count) = (0, 0);
                }
                surface
            })
            .collect();
        for (number, surface) in surfaces.iter().enumerate() {
            self.check_mapping(number, surface, &verts.mapped);
        }
        (surfaces, list)
    }

    /// Lightmap coordinates matter where there is a page.
    fn check_mapping(&mut self, number: usize, surface: &Surface, mapped: &[bool]) {
        let lit = matches!(surface.lightmap[0], LightmapIndex::Page(_))
            && matches!(
                surface.kind,
                SurfaceKind::Planar | SurfaceKind::Patch { .. }
            );
        let first = surface.first_vert as usize;
        let own = mapped.get(first..first + surface.vert_count as usize);
        if lit && own.is_some_and(|own| own.contains(&false)) {
            self.findings.add(
                LumpKind::DrawVerts,
                Some(number),
                "lightmap coordinates of a lit surface are not finite, zero taken",
            );
        }
    }

    fn surface(
        &mut self,
        number: usize,
        raw: &RawSurface,
        file_indexes: usize,
        sound: &[bool],
    ) -> Surface {
        let mut surface = Surface {
            shader: 0,
            fog: None,
            kind: SurfaceKind::Skipped,
            first_vert: 0,
            vert_count: 0,
            first_index: 0,
            index_count: 0,
            lightmap_styles: raw.lightmap_styles,
            vertex_styles: raw.vertex_styles,
            lightmap: std::array::from_fn(|slot| self.lightmap(number, raw, slot)),
            lightmap_origin: raw.lightmap_origin,
            lightmap_vecs: raw.lightmap_vecs,
        };
        let mut skip = |what: &str| self.findings.add(LumpKind::Surfaces, Some(number), what);
        let Some(shader) = index_in(raw.shader, self.limits.shaders) else {
            skip("material number out of range; surface skipped");
            return surface;
        };
        surface.shader = shader;
        surface.kind = match surface_kind(raw, self.has_foliage) {
            Ok((kind, finding)) => {
                if let Some(what) = finding {
                    skip(what);
                }
                kind
            }
            Err(what) => {
                skip(what);
                return surface;
            }
        };
        if surface.kind == SurfaceKind::Flare {
            surface.fog = index_in(raw.fog, self.limits.fogs);
            return surface;
        }
        let Some((first, count)) = span_in(raw.verts, sound.len()) else {
            skip("vertices out of range; surface skipped");
            surface.kind = SurfaceKind::Skipped;
            return surface;
        };
        (surface.first_vert, surface.vert_count) = (first, count);
        surface.fog = index_in(raw.fog, self.limits.fogs);
        if raw.fog != -1 && surface.fog.is_none() {
            skip("fog number out of range; none taken");
        }
        if matches!(surface.kind, SurfaceKind::Patch { .. }) {
            return surface;
        }
        let Some((first_index, index_count)) = span_in(raw.indexes, file_indexes) else {
            skip("indexes out of range; surface skipped");
            surface.kind = SurfaceKind::Skipped;
            return surface;
        };
        (surface.first_index, surface.index_count) = (first_index, index_count);
        surface
    }

    /// Drops what uses an unsound vertex: triangles of a mesh, a patch as a whole.
    fn drop_triangles(
        &mut self,
        number: usize,
        surface: &mut Surface,
        indexes: &mut Vec<u32>,
        sound: &[bool],
    ) {
        let first = surface.first_vert as usize;
        let own = sound.get(first..first + surface.vert_count as usize);
        let own = own.unwrap_or_default();
        match surface.kind {
            SurfaceKind::Patch { .. } => {
                if own.contains(&false) {
                    self.findings.add(
                        LumpKind::Surfaces,
                        Some(number),
                        "a patch uses an unsound vertex; surface skipped",
                    );
                    surface.kind = SurfaceKind::Skipped;
                }
            }
            SurfaceKind::Planar | SurfaceKind::TriangleSoup | SurfaceKind::Foliage { .. } => {
                let own = match surface.kind {
                    SurfaceKind::Foliage { mesh, .. } => {
                        own.get(..mesh as usize).unwrap_or_default()
                    }
                    _ => own,
                };
                let (first, count) = (surface.first_index, surface.index_count);
                (surface.first_index, surface.index_count) =
                    self.triangles(number, first, count, own, indexes);
            }
            SurfaceKind::Flare | SurfaceKind::Skipped => {}
        }
    }

    /// The index range if all its triangles are sound, else the range of a copy without the others.
    fn triangles(
        &mut self,
        number: usize,
        first: u32,
        count: u32,
        own: &[bool],
        indexes: &mut Vec<u32>,
    ) -> (u32, u32) {
        let range = first as usize..(first as usize + count as usize);
        let usable = |index: u32| own.get(index as usize).copied().unwrap_or(false);
        let slice = indexes.get(range).unwrap_or_default();
        if count.is_multiple_of(3) && slice.iter().all(|index| usable(*index)) {
            return (first, count);
        }
        let good: Vec<u32> = slice
            .chunks_exact(3)
            .filter(|triangle| triangle.iter().all(|index| usable(*index)))
            .flatten()
            .copied()
            .collect();
        self.findings.add(
            LumpKind::DrawIndexes,
            Some(number),
            "a surface has indexes beyond its vertices, or no multiple of three; those triangles are dropped",
        );
        let (Ok(new_first), Ok(new_count)) =
            (u32::try_from(indexes.len()), u32::try_from(good.len()))
        else {
            return (0, 0);
        };
        indexes.extend(good);
        (new_first, new_count)
    }

    fn lightmap(&mut self, number: usize, raw: &RawSurface, slot: usize) -> LightmapIndex {
        let external = self.limits.pages == 0;
        let [stored, style] = [
            raw.lightmap.get(slot).copied(),
            raw.lightmap_styles.get(slot).map(|s| i32::from(*s)),
        ]
        .map(Option::unwrap_or_default);
        if slot > 0 && style == i32::from(STYLE_NONE) {
            return LightmapIndex::Vertex;
        }
        match (stored, u32::try_from(stored)) {
            (_, Ok(page)) if external || index_in(stored, self.limits.pages).is_some() => {
                LightmapIndex::Page(page)
            }
            (-1, _) => LightmapIndex::None,
            (-2, _) => LightmapIndex::White,
            (-3, _) => LightmapIndex::Vertex,
            _ => {
                if raw.kind != 4 {
                    self.findings.add(
                        LumpKind::Surfaces,
                        Some(number),
                        "lightmap number out of range; vertex-lit",
                    );
                }
                LightmapIndex::Vertex
            }
        }
    }
}
/// Kind of a surface and what is odd about it, or why it is skipped.
fn surface_kind(
    raw: &RawSurface,
    has_foliage: bool,
) -> Result<(SurfaceKind, Option<&'static str>), &'static str> {
    match raw.kind {
        1 => Ok((SurfaceKind::Planar, None)),
        2 => patch_kind(raw).map(|kind| (kind, None)).ok_or(
            "patch size is not odd, 3 to 129 a side, at most 1024 points, and equal to its vertices; surface skipped",
        ),
        3 => Ok((SurfaceKind::TriangleSoup, None)),
        4 => Ok((SurfaceKind::Flare, None)),
        5 => Ok(foliage_kind(raw, has_foliage)),
        _ => Err("unknown surface type; surface skipped"),
    }
}

/// Foliage, and what is odd about it. A foliage surface keeps its mesh's size as patch height, its instances' number as
/// width; where these do not add up, or in a format without foliage, all vertices are taken for a mesh that stands once.
fn foliage_kind(raw: &RawSurface, has_foliage: bool) -> (SurfaceKind, Option<&'static str>) {
    let [instances, mesh] = raw.patch_size.map(u32::try_from);
    let sum = i64::from(raw.patch_size[0]) + i64::from(raw.patch_size[1]);
    let all = SurfaceKind::Foliage {
        mesh: u32::try_from(raw.verts.count).unwrap_or_default(),
        instances: 0,
    };
    match (instances, mesh) {
        _ if !has_foliage => (all, Some("foliage in a format that has none; drawn once")),
        (Ok(instances), Ok(mesh)) if sum == i64::from(raw.verts.count) => {
            (SurfaceKind::Foliage { mesh, instances }, None)
        }
        _ => (
            all,
            Some("foliage whose mesh and instances are not its vertices; drawn once"),
        ),
    }
}

fn patch_kind(raw: &RawSurface) -> Option<SurfaceKind> {
    let [width, height] = raw.patch_size;
    let side = |n: i32| (3..=PATCH_SIDE).contains(&n) && n % 2 == 1;
    let points = i64::from(width) * i64::from(height);
    let sound = side(width)
        && side(height)
        && points <= PATCH_POINTS
        && points == i64::from(raw.verts.count);
    sound.then_some(SurfaceKind::Patch {
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
    })
}
