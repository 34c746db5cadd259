use std::collections::BTreeMap;
use std::sync::Arc;

use glam::UVec3;

use crate::format::bsp::directory::{
    Directory, SH_HEAD_BYTES, SH_POINT_BYTES, VariantLabel, read_directory,
};
use crate::format::bsp::error::{BspError, BspWarning};
use crate::format::bsp::records::{
    self, RawBrush, RawFog, RawLeaf, RawModel, RawNode, RawSurface, size,
};
use crate::format::bsp::sanitise::{Findings, Limits, Sanitiser};
use crate::format::bsp::types::{
    Bsp, DrawVert, LIGHTMAP_BYTES, LightGridPoint, LightmapPage, LumpKind, ShGrid, Shader,
    Visibility,
};
use crate::format::entities::Entities;
use crate::format::lattice::Lattice;
use crate::format::reader::Record;
use crate::math::Plane;

/// Surface type of Enemy Territory's foliage.
const FOLIAGE: i32 = 5;

/// Reads a BSP of IBSP 46 or 47 in any of its variants.
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
        findings,
    };
    let verts = sanitiser.draw_verts(raw.draw_verts);
    let (surfaces, draw_indexes) = sanitiser.surfaces(&raw.surfaces, &raw.indexes, &verts.sound);
    let brush_sides = sanitiser.brush_sides(raw.sides);
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
        sh_grid: lumps.sh_grid(),
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
        light_grid: raw.light_grid,
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

    /// Brush sides of 12 bytes are another format's (version 48 or RBSP under a wrong header).
    fn refuse_foreign_records(&self) -> Result<(), BspError> {
        let bytes = self.bytes_of(LumpKind::BrushSides).len();
        if !bytes.is_multiple_of(size::BRUSH_SIDE) && bytes.is_multiple_of(12) {
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
        RawRecords {
            shaders: self.array(Lump::Shaders, size::SHADER, records::shader, findings),
            planes: self.array(Lump::Planes, size::PLANE, records::plane, findings),
            nodes: self.array(Lump::Nodes, size::NODE, records::node, findings),
            leafs: self.array(Lump::Leafs, size::LEAF, records::leaf, findings),
            leaf_surfaces: self.array(Lump::LeafSurfaces, size::INDEX, records::index, findings),
            leaf_brushes: self.array(Lump::LeafBrushes, size::INDEX, records::index, findings),
            models: self.array(Lump::Models, size::MODEL, records::model, findings),
            brushes: self.array(Lump::Brushes, size::BRUSH, records::brush, findings),
            sides: self.array(
                Lump::BrushSides,
                size::BRUSH_SIDE,
                records::brush_side,
                findings,
            ),
            draw_verts: self.array(
                Lump::DrawVerts,
                size::DRAW_VERT,
                records::draw_vert,
                findings,
            ),
            indexes: self.array(Lump::DrawIndexes, size::INDEX, records::index, findings),
            fogs: self.array(Lump::Fogs, size::FOG, records::fog, findings),
            surfaces: self.array(Lump::Surfaces, size::SURFACE, records::surface, findings),
            lightmaps: self.pages(findings),
            light_grid: self.array(
                Lump::LightGrid,
                size::GRID_POINT,
                records::grid_point,
                findings,
            ),
        }
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
        if !bytes.len().is_multiple_of(LIGHTMAP_BYTES) {
            findings.add(
                LumpKind::Lightmaps,
                None,
                "length is no multiple of a 128×128 page; the rest is ignored",
            );
        }
        bytes.chunks_exact(LIGHTMAP_BYTES).map(Arc::from).collect()
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

    /// The SH grid; its head was checked when the directory accepted the entry.
    fn sh_grid(&self) -> Option<ShGrid> {
        let bytes = self.bytes_of(LumpKind::LightGridSh);
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
        (points.len() as u64 == lattice.len()).then_some(ShGrid { lattice, points })
    }
}
