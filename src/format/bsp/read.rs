use std::collections::BTreeMap;
use std::sync::Arc;

use glam::UVec3;

use crate::format::bsp::bspx::{self, Bspx};
use crate::format::bsp::directory::{
    Directory, SH_HEAD_BYTES, SH_POINT_BYTES, VariantLabel, check_sh_head, read_directory,
};
use crate::format::bsp::error::{BspError, BspWarning};
use crate::format::bsp::flags;
use crate::format::bsp::records::{
    self, RawBrush, RawFog, RawLeaf, RawModel, RawNode, RawSurface, size,
};
use crate::format::bsp::sanitise::{Findings, Limits, Sanitiser};
use crate::format::bsp::types::{
    Bsp, DrawVert, LightGridPoint, LightmapPage, LumpKind, ShContainer, ShGrid, Shader, StyledGrid,
    Visibility,
};
use crate::format::entities::Entities;
use crate::format::lattice::Lattice;
use crate::format::reader::Record;
use crate::math::Plane;

/// Bytes of a name field.
const NAME_BYTES: usize = 64;
/// Surface type of Enemy Territory's foliage.
const FOLIAGE: i32 = 5;

/// Reads a BSP of IBSP 46 or 47 in any of its variants, RBSP 1 or FBSP 1.
///
/// A file whose lumps lie inside it opens; records with indices out of range are mended or dropped, each kind with a
/// warning in [`Bsp::warnings`]. Memory stays within a small multiple of the file's size.
///
/// # Errors
/// See [`BspError`].
pub fn read(bytes: &[u8]) -> Result<Bsp, BspError> {
    let mut findings = Findings::default();
    let mut overlaps = Vec::new();
    let mut directory = read_directory(bytes, &mut overlaps)?;
    let lumps = Lumps {
        bytes,
        directory: &directory,
    };
    lumps.refuse_foreign_records()?;
    let raw = lumps.records(&mut findings);
    let (sh_grid, sh_container) = lumps.sh_grid(&mut overlaps).unzip();
    if let (Some(grid), Some(ShContainer::Bspx)) = (&sh_grid, sh_container) {
        let [x, y, z] = grid.lattice.counts.to_array();
        directory.variant.reasons.push(format!(
            "the block behind the last lump holds an SH grid of {x}×{y}×{z} points"
        ));
    }
    if directory.variant.label == VariantLabel::Unknown47
        && raw.surfaces.iter().any(|surface| surface.kind == FOLIAGE)
    {
        directory.variant.label = VariantLabel::WolfEt;
        directory
            .variant
            .reasons
            .push("a surface is foliage".to_owned());
    }
    let mut sanitiser = Sanitiser {
        limits: raw.limits(),
        has_foliage: directory.variant.version == 47,
        findings,
    };
    let verts = sanitiser.draw_verts(raw.draw_verts);
    let (surfaces, draw_indexes) = sanitiser.surfaces(&raw.surfaces, &raw.indexes, &verts);
    let brush_sides = sanitiser.brush_sides(raw.sides, &raw.planes);
    let brushes = sanitiser.brushes(&raw.brushes, &brush_sides);
    let (leaf_surfaces, leaf_brushes) = sanitiser.leaf_lists(&raw.leaf_surfaces, &raw.leaf_brushes);
    let leafs = sanitiser.leafs(&raw.leafs, leaf_surfaces.len(), leaf_brushes.len())?;
    let highest = leafs.iter().filter_map(|leaf| leaf.cluster).max();
    let lumps = Lumps {
        bytes,
        directory: &directory,
    };
    let entities = Entities::parse(lumps.bytes_of(LumpKind::Entities));
    Ok(Bsp {
        nodes: sanitiser.nodes(&raw.nodes),
        fogs: sanitiser.fogs(raw.fogs, &brushes),
        models: sanitiser.models(&raw.models),
        visibility: lumps.visibility(highest.map_or(0, |c| c + 1), &mut sanitiser.findings),
        sh_grid,
        sh_container,
        sidecar: None,
        warnings: collect_warnings(overlaps, sanitiser.findings, &entities),
        entities,
        shaders: raw.shaders,
        planes: raw.planes,
        leafs,
        leaf_surfaces,
        leaf_brushes,
        brushes,
        brush_sides: brush_sides.list,
        draw_verts: verts.list,
        draw_indexes,
        surfaces,
        lightmaps: raw.lightmaps,
        lightmap_size: directory.format().lightmap_size(),
        light_grid: raw.light_grid,
        styled_grid: raw.styled_grid,
        source: Arc::from(bytes),
        replaced: BTreeMap::new(),
        directory,
    })
}

/// All lumps as stored, before any index is checked.
struct RawRecords {
    shaders: Vec<Shader>,
    planes: Vec<Plane>,
    nodes: Vec<RawNode>,
    leafs: Vec<RawLeaf>,
    leaf_surfaces: Vec<i32>,
    leaf_brushes: Vec<i32>,
    models: Vec<RawModel>,
    brushes: Vec<RawBrush>,
    sides: Vec<[i32; 2]>,
    draw_verts: Vec<DrawVert>,
    indexes: Vec<i32>,
    fogs: Vec<RawFog>,
    surfaces: Vec<RawSurface>,
    lightmaps: Vec<LightmapPage>,
    light_grid: Vec<LightGridPoint>,
    styled_grid: Option<StyledGrid>,
}

impl RawRecords {
    fn limits(&self) -> Limits {
        Limits {
            shaders: self.shaders.len(),
            planes: self.planes.len(),
            nodes: self.nodes.len(),
            leafs: self.leafs.len(),
            brushes: self.brushes.len(),
            sides: self.sides.len(),
            surfaces: self.surfaces.len(),
            pages: self.lightmaps.len(),
            fogs: self.fogs.len(),
        }
    }
}

fn collect_warnings(
    overlaps: Vec<BspWarning>,
    findings: Findings,
    entities: &Entities,
) -> Vec<BspWarning> {
    let texts = entities.warnings.iter().map(|what| BspWarning {
        lump: LumpKind::Entities,
        index: None,
        what: what.clone(),
        count: 1,
    });
    overlaps
        .into_iter()
        .chain(findings.into_warnings())
        .chain(texts)
        .collect()
}

/// Lumps cut out of the file.
struct Lumps<'a> {
    bytes: &'a [u8],
    directory: &'a Directory,
}

impl<'a> Lumps<'a> {
    fn bytes_of(&self, kind: LumpKind) -> &'a [u8] {
        self.bytes
            .get(self.directory.entry(kind).range())
            .unwrap_or_default()
    }

    /// IBSP brush sides of 12 bytes are another format's (version 48 or RBSP under a wrong header).
    fn refuse_foreign_records(&self) -> Result<(), BspError> {
        let bytes = self.bytes_of(LumpKind::BrushSides).len();
        let styled = self.directory.format().has_styles();
        if !styled && !bytes.is_multiple_of(size::BRUSH_SIDE) && bytes.is_multiple_of(12) {
            return Err(BspError::ForeignRecords {
                lump: LumpKind::BrushSides,
                bytes,
                guess: "IBSP 48 or RBSP",
            });
        }
        Ok(())
    }

    fn records(&self, findings: &mut Findings) -> RawRecords {
        use LumpKind as Lump;
        let format = self.directory.format();
        let mut shaders = self.array(Lump::Shaders, size::SHADER, records::shader, findings);
        flags::unify(format, &mut shaders);
        self.check_names(findings);
        let (side_bytes, vert_bytes, surface_bytes) = if format.has_styles() {
            (
                size::STYLED_BRUSH_SIDE,
                size::STYLED_DRAW_VERT,
                size::STYLED_SURFACE,
            )
        } else {
            (size::BRUSH_SIDE, size::DRAW_VERT, size::SURFACE)
        };
        let vert = if format.has_styles() {
            records::styled_draw_vert
        } else {
            records::draw_vert
        };
        let surface = if format.has_styles() {
            records::styled_surface
        } else {
            records::surface
        };
        let styled_grid = format.has_styles().then(|| self.styled_grid(findings));
        let light_grid = match &styled_grid {
            Some(grid) => grid.first_slots(),
            None => self.array(
                Lump::LightGrid,
                size::GRID_POINT,
                records::grid_point,
                findings,
            ),
        };
        RawRecords {
            shaders,
            planes: self.array(Lump::Planes, size::PLANE, records::plane, findings),
            nodes: self.array(Lump::Nodes, size::NODE, records::node, findings),
            leafs: self.array(Lump::Leafs, size::LEAF, records::leaf, findings),
            leaf_surfaces: self.array(Lump::LeafSurfaces, size::INDEX, records::index, findings),
            leaf_brushes: self.array(Lump::LeafBrushes, size::INDEX, records::index, findings),
            models: self.array(Lump::Models, size::MODEL, records::model, findings),
            brushes: self.array(Lump::Brushes, size::BRUSH, records::brush, findings),
            sides: self.array(Lump::BrushSides, side_bytes, records::brush_side, findings),
            draw_verts: self.array(Lump::DrawVerts, vert_bytes, vert, findings),
            indexes: self.array(Lump::DrawIndexes, size::INDEX, records::index, findings),
            fogs: self.array(Lump::Fogs, size::FOG, records::fog, findings),
            surfaces: self.array(Lump::Surfaces, surface_bytes, surface, findings),
            lightmaps: self.pages(findings),
            light_grid,
            styled_grid,
        }
    }

    /// A name field without a NUL is taken whole.
    fn check_names(&self, findings: &mut Findings) {
        for (kind, size) in [
            (LumpKind::Shaders, size::SHADER),
            (LumpKind::Fogs, size::FOG),
        ] {
            for (index, record) in self.bytes_of(kind).chunks_exact(size).enumerate() {
                if record.iter().take(NAME_BYTES).all(|byte| *byte != 0) {
                    findings.add(kind, Some(index), "name has no end, all 64 bytes taken");
                }
            }
        }
    }

    fn styled_grid(&self, findings: &mut Findings) -> StyledGrid {
        let grid = StyledGrid {
            palette: self.array(
                LumpKind::LightGrid,
                size::STYLED_GRID_POINT,
                records::styled_grid_point,
                findings,
            ),
            indices: self.array(
                LumpKind::LightGridArray,
                size::GRID_INDEX,
                records::grid_index,
                findings,
            ),
        };
        let missing = grid.missing();
        if missing > 0 {
            let entries = grid.palette.len();
            findings.add(
                LumpKind::LightGridArray,
                None,
                &format!(
                    "{missing} of {} points name no entry of the palette of {entries}; they count as missing",
                    grid.indices.len()
                ),
            );
        }
        grid
    }

    fn array<T>(
        &self,
        kind: LumpKind,
        record_bytes: usize,
        decode: fn(&[u8]) -> T,
        findings: &mut Findings,
    ) -> Vec<T> {
        let bytes = self.bytes_of(kind);
        let rest = bytes.len() % record_bytes;
        if rest != 0 {
            findings.add(
                kind,
                None,
                "length is no multiple of the record size; the rest is ignored",
            );
        }
        bytes.chunks_exact(record_bytes).map(decode).collect()
    }

    fn pages(&self, findings: &mut Findings) -> Vec<LightmapPage> {
        let bytes = self.bytes_of(LumpKind::Lightmaps);
        let side = self.directory.format().lightmap_size() as usize;
        let page_bytes = side * side * 3;
        if !bytes.len().is_multiple_of(page_bytes) {
            findings.add(
                LumpKind::Lightmaps,
                None,
                &format!("length is no multiple of a {side}×{side} page; the rest is ignored"),
            );
        }
        bytes.chunks_exact(page_bytes).map(Arc::from).collect()
    }

    fn visibility(&self, clusters_used: u32, findings: &mut Findings) -> Option<Visibility> {
        let bytes = self.bytes_of(LumpKind::Visibility);
        if bytes.is_empty() {
            return None;
        }
        let mut record = Record::new(bytes);
        let (clusters, row_bytes) = (record.i32(), record.i32());
        let sound = || {
            let (clusters, row) = (
                u32::try_from(clusters).ok()?,
                u32::try_from(row_bytes).ok()?,
            );
            let rows = bytes.get(8..)?;
            let needed = u64::from(clusters) * u64::from(row);
            let holds = row >= clusters.div_ceil(8) && needed <= rows.len() as u64;
            (holds && clusters >= clusters_used).then(|| Visibility {
                clusters,
                row_bytes: row,
                rows: Arc::from(rows),
            })
        };
        let visibility = sound();
        if visibility.is_none() {
            findings.add(
                LumpKind::Visibility,
                None,
                &format!(
                    "{clusters} clusters in rows of {row_bytes} bytes do not fit {} bytes or the leafs' {clusters_used} clusters; everything counts as visible",
                    bytes.len()
                ),
            );
        }
        visibility
    }

    /// The SH grid of lump 18, whose head was checked when the directory accepted the entry, or of the block behind the
    /// lumps.
    fn sh_grid(&self, warnings: &mut Vec<BspWarning>) -> Option<(ShGrid, ShContainer)> {
        let lump = decode_sh(self.bytes_of(LumpKind::LightGridSh));
        let extra = self.directory.bspx.as_ref().and_then(Bspx::sh_entry);
        let Some(extra) = extra else {
            return Some((lump?, ShContainer::V47));
        };
        let packed = self.bytes.get(extra.range()).unwrap_or_default();
        let mut warn = |what: String| warnings.push(bspx::warning(None, what));
        match (lump, unpack_sh_grid(packed)) {
            (Some(grid), _) => {
                warn("the block behind the last lump holds another SH grid, ignored".to_owned());
                Some((grid, ShContainer::V47))
            }
            (None, Ok(grid)) => Some((grid, ShContainer::Bspx)),
            (None, Err(why)) => {
                warn(format!(
                    "the SH grid in the block behind the last lump is not usable: {why}; ignored"
                ));
                None
            }
        }
    }
}

/// A packed SH grid, from a block behind the lumps or a file of its own.
pub(super) fn unpack_sh_grid(packed: &[u8]) -> Result<ShGrid, String> {
    let lump = bspx::unpack_sh(packed)?;
    check_sh_head(lump)?;
    decode_sh(lump).ok_or_else(|| "points do not match the counts".to_owned())
}

/// Contents of lump 18.
fn decode_sh(bytes: &[u8]) -> Option<ShGrid> {
    {
        let (head, points) = bytes.split_at_checked(SH_HEAD_BYTES)?;
        let mut record = Record::new(head);
        let (origin, cell_size) = (record.vec3(), record.vec3());
        let lattice = Lattice {
            origin,
            cell_size,
            counts: UVec3::new(record.u32(), record.u32(), record.u32()),
        };
        let points: Vec<_> = points
            .chunks_exact(SH_POINT_BYTES)
            .map(records::sh_point)
            .collect();
        let points = Arc::new(points);
        (points.len() as u64 == lattice.len()).then_some(ShGrid { lattice, points })
    }
}
