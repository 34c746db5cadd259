use std::collections::BTreeMap;
use std::sync::Arc;

use glam::UVec3;

use crate::format::bsp::directory::{
    Directory, SH_HEAD_BYTES, SH_POINT_BYTES, VariantLabel, read_directory,
};
use crate::format::bsp::error::{BspError, BspWarning};
use crate::format::bsp::records::{self, size};
use crate::format::bsp::sanitise::{Findings, Limits, Sanitiser};
use crate::format::bsp::types::{
    Bsp, LIGHTMAP_BYTES, LightmapPage, LumpKind, ShGrid, SurfaceKind, Visibility,
};
use crate::format::entities::Entities;
use crate::format::lattice::Lattice;
use crate::format::reader::Record;

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

    let shaders = lumps.array(
        LumpKind::Shaders,
        size::SHADER,
        records::shader,
        &mut findings,
    );
    let planes = lumps.array(LumpKind::Planes, size::PLANE, records::plane, &mut findings);
    let draw_verts = lumps.array(
        LumpKind::DrawVerts,
        size::DRAW_VERT,
        records::draw_vert,
        &mut findings,
    );
    let indexes = lumps.array(
        LumpKind::DrawIndexes,
        size::INDEX,
        records::index,
        &mut findings,
    );
    let leaf_surfaces = lumps.array(
        LumpKind::LeafSurfaces,
        size::INDEX,
        records::index,
        &mut findings,
    );
    let leaf_brushes = lumps.array(
        LumpKind::LeafBrushes,
        size::INDEX,
        records::index,
        &mut findings,
    );
    let nodes = lumps.array(LumpKind::Nodes, size::NODE, records::node, &mut findings);
    let leafs = lumps.array(LumpKind::Leafs, size::LEAF, records::leaf, &mut findings);
    let models = lumps.array(LumpKind::Models, size::MODEL, records::model, &mut findings);
    let brushes = lumps.array(
        LumpKind::Brushes,
        size::BRUSH,
        records::brush,
        &mut findings,
    );
    let sides = lumps.array(
        LumpKind::BrushSides,
        size::BRUSH_SIDE,
        records::brush_side,
        &mut findings,
    );
    let fogs = lumps.array(LumpKind::Fogs, size::FOG, records::fog, &mut findings);
    let surfaces = lumps.array(
        LumpKind::Surfaces,
        size::SURFACE,
        records::surface,
        &mut findings,
    );
    let lightmaps = lumps.pages(&mut findings);
    let light_grid = lumps.array(
        LumpKind::LightGrid,
        size::GRID_POINT,
        records::grid_point,
        &mut findings,
    );

    if directory.variant.version == 47
        && directory.variant.label == VariantLabel::Unknown47
        && surfaces.iter().any(|surface| surface.kind == FOLIAGE)
    {
        directory.variant.label = VariantLabel::WolfEt;
        directory
            .variant
            .reasons
            .push("a surface is foliage".to_owned());
    }

    let mut sanitiser = Sanitiser {
        limits: Limits {
            shaders: shaders.len(),
            planes: planes.len(),
            nodes: nodes.len(),
            leafs: leafs.len(),
            brushes: brushes.len(),
            sides: sides.len(),
            surfaces: surfaces.len(),
            pages: lightmaps.len(),
            fogs: fogs.len(),
        },
        findings,
    };
    let draw_verts = sanitiser.draw_verts(draw_verts);
    let (surfaces, draw_indexes) = sanitiser.surfaces(surfaces, indexes, &draw_verts.sound);
    let brush_sides = sanitiser.brush_sides(sides);
    let brushes = sanitiser.brushes(&brushes, &brush_sides);
    let (leaf_surfaces, leaf_brushes) = sanitiser.leaf_lists(&leaf_surfaces, &leaf_brushes);
    let leafs = sanitiser.leafs(&leafs, leaf_surfaces.len(), leaf_brushes.len())?;
    let lumps = Lumps {
        bytes,
        directory: &directory,
    };
    let clusters = leafs
        .iter()
        .filter_map(|leaf| leaf.cluster)
        .max()
        .map_or(0, |c| c + 1);
    let entities = Entities::parse(lumps.bytes_of(LumpKind::Entities));
    let bsp = Bsp {
        nodes: sanitiser.nodes(&nodes),
        fogs: sanitiser.fogs(fogs, &brushes),
        models: sanitiser.models(&models),
        visibility: lumps.visibility(clusters, &mut sanitiser.findings),
        sh_grid: lumps.sh_grid(),
        warnings: collect_warnings(overlaps, sanitiser.findings, &entities),
        entities,
        shaders,
        planes,
        leafs,
        leaf_surfaces,
        leaf_brushes,
        brushes,
        brush_sides: brush_sides.list,
        draw_verts: draw_verts.list,
        draw_indexes,
        surfaces,
        lightmaps,
        light_grid,
        source: Arc::from(bytes),
        replaced: BTreeMap::new(),
        directory,
    };
    debug_assert!(
        bsp.surfaces
            .iter()
            .all(|surface| surface.kind != SurfaceKind::Planar
                || (surface.first_index + surface.index_count) as usize <= bsp.draw_indexes.len())
    );
    Ok(bsp)
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
