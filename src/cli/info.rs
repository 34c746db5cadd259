use std::io::Write;

use glam::Vec3;
use serde::Serialize;

use crate::cli::args::InfoArgs;
use crate::cli::error::Exit;
use crate::cli::info_search::{AssetInfo, SearchInfo, assets};
use crate::cli::lights::LightInfo;
use crate::cli::output::{Document, Output, WarningLine, warning_lines};
use crate::format::bsp::{Bsp, LumpKind, ShContainer, ShPoint, Variant};
use crate::format::lattice::Lattice;
use crate::job::JobContext;
use crate::light::{BakeSettings, LightCounts, plan};
use crate::scene::{LightmapOrigin, Scene};
use crate::vfs::{MapTarget, OpenedMap};

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/info/1";

pub(crate) fn run(args: &InfoArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let context = JobContext::default();
    let (opened, scene) = args.map.build(&context)?;
    let info = Info::new(&opened, &scene, &context);
    if args.json {
        output.json(&Document::new(SCHEMA, &args.map.map, &info))?;
    } else {
        info.print(output)?;
        output.warnings(&info.warnings)?;
    }
    Ok(Exit::Done)
}

/// What is known of a map.
#[derive(Serialize)]
struct Info {
    name: String,
    container: String,
    file_bytes: usize,
    variant: VariantInfo,
    lumps: Vec<LumpInfo>,
    lightmaps: Lightmaps,
    grids: Grids,
    lights: Lights,
    model_0: Bounds,
    surfaces: SurfaceInfo,
    worldspawn: Vec<KeyValue>,
    search: SearchInfo,
    assets: Vec<AssetInfo>,
    warnings: Vec<WarningLine>,
}

#[derive(Serialize)]
struct VariantInfo {
    label: &'static str,
    version: i32,
    entries: usize,
    reasons: Vec<String>,
    /// What the compiler left behind the directory.
    mark: Option<String>,
}

#[derive(Serialize)]
struct LumpInfo {
    index: usize,
    name: &'static str,
    offset: usize,
    bytes: usize,
    /// Records read: what was unsound is not counted.
    records: usize,
}

/// Pages of light, from lump 14 or from files.
#[derive(Serialize)]
struct Lightmaps {
    /// `internal`, `external`, or null without pages.
    origin: Option<&'static str>,
    pages: usize,
    /// Side of a page, texels.
    size: u32,
    /// What tells that every other page holds directions; null when they are all light.
    deluxe: Option<String>,
}

#[derive(Serialize)]
struct Grids {
    /// Of lump 15, placed by model 0 and worldspawn; null when absent or not matching its lattice.
    legacy: Option<GridInfo>,
    /// Of lump 18, or of the place that `sh_container` names.
    sh: Option<GridInfo>,
    /// `v47`, `bspx` or `sidecar`.
    sh_container: Option<&'static str>,
}

#[derive(Serialize)]
struct GridInfo {
    counts: [u32; 3],
    cell_size: [f32; 3],
    origin: [f32; 3],
    points: u64,
    /// Points that hold no light at all: in solid, or in the dark.
    black: usize,
}

/// Lights that a bake of this map would start from.
#[derive(Serialize)]
struct Lights {
    #[serde(flatten)]
    counts: LightInfo,
    /// The `.map` beside the BSP.
    map_file: Option<String>,
    /// The file that a bake takes lights from beside the BSP: that one, or none.
    light_file: Option<String>,
    /// Why there are none.
    note: Option<String>,
}

#[derive(Serialize)]
struct Bounds {
    min: [f32; 3],
    max: [f32; 3],
}

#[derive(Serialize)]
struct SurfaceInfo {
    total: usize,
    drawn: usize,
    /// Drawn with the stand-in for a missing material.
    missing_material: usize,
    /// Flares that shine, drawn with `r_flares 1`.
    flares: usize,
    spawns: usize,
}

#[derive(Serialize)]
struct KeyValue {
    key: String,
    value: String,
}

impl Info {
    fn new(opened: &OpenedMap, scene: &Scene, context: &JobContext) -> Self {
        let bsp = &scene.bsp;
        let lights = Lights::find(scene, context);
        let model_0 = bsp.models.first().map(|model| model.bounds);
        let model_0 = model_0.unwrap_or(scene.bounds);
        let drawn = scene.drawn_surfaces().count();
        let missing = scene.drawn_surfaces();
        let missing = missing.filter(|surface| scene.material_of(surface).is_missing());
        Self {
            name: scene.name.clone(),
            container: container(&opened.target),
            file_bytes: opened.bytes.len(),
            variant: VariantInfo::new(&bsp.directory.variant, bsp, &opened.bytes),
            lumps: lumps(bsp),
            lightmaps: Lightmaps::new(scene),
            grids: Grids::new(scene),
            lights,
            model_0: Bounds {
                min: model_0.min.to_array(),
                max: model_0.max.to_array(),
            },
            surfaces: SurfaceInfo {
                total: scene.surfaces.len(),
                drawn,
                missing_material: missing.count(),
                flares: scene.flares.len(),
                spawns: scene.spawns.len(),
            },
            worldspawn: worldspawn(bsp),
            search: SearchInfo::new(scene),
            assets: assets(scene),
            warnings: warning_lines(&context.warnings),
        }
    }

    fn print(&self, output: &mut Output<'_>) -> std::io::Result<()> {
        let out = output.out();
        writeln!(
            out,
            "map       {} ({}, {} bytes)",
            self.name, self.container, self.file_bytes
        )?;
        writeln!(out, "variant   {}", self.variant.label)?;
        for reason in &self.variant.reasons {
            writeln!(out, "          {reason}")?;
        }
        if let Some(mark) = &self.variant.mark {
            writeln!(out, "mark      {mark}")?;
        }
        let Bounds { min, max } = &self.model_0;
        writeln!(out, "model 0   {} to {}", triple(min), triple(max))?;
        let surfaces = &self.surfaces;
        writeln!(
            out,
            "surfaces  {}, {} drawn, {} of them with a missing material; {} flares; {} start views",
            surfaces.total,
            surfaces.drawn,
            surfaces.missing_material,
            surfaces.flares,
            surfaces.spawns
        )?;
        self.lightmaps.print(out)?;
        print_grid(out, "legacy", self.grids.legacy.as_ref())?;
        print_grid(out, "SH", self.grids.sh.as_ref())?;
        if let Some(container) = self.grids.sh_container {
            writeln!(out, "          SH grid kept as {container}")?;
        }
        self.lights.print(out)?;
        writeln!(out, "\n   # lump             offset      bytes    records")?;
        for lump in &self.lumps {
            writeln!(
                out,
                "  {:>2} {:<14} {:>8} {:>10} {:>10}",
                lump.index, lump.name, lump.offset, lump.bytes, lump.records
            )?;
        }
        writeln!(out, "\nworldspawn")?;
        for KeyValue { key, value } in &self.worldspawn {
            writeln!(out, "  {key} = {value}")?;
        }
        self.search.print(out)
    }
}

fn triple(values: &[f32; 3]) -> String {
    format!("({}, {}, {})", values[0], values[1], values[2])
}

fn print_grid(out: &mut dyn Write, name: &str, grid: Option<&GridInfo>) -> std::io::Result<()> {
    let Some(grid) = grid else {
        return writeln!(out, "{:<9} no grid", name.to_owned() + " grid");
    };
    let [x, y, z] = grid.counts;
    writeln!(
        out,
        "{name} grid {x}×{y}×{z} = {} points, {} black, cell {}, origin {}",
        grid.points,
        grid.black,
        triple(&grid.cell_size),
        triple(&grid.origin)
    )
}

impl VariantInfo {
    fn new(variant: &Variant, bsp: &Bsp, bytes: &[u8]) -> Self {
        let mark = bsp
            .directory
            .marker
            .clone()
            .and_then(|range| bytes.get(range));
        Self {
            label: variant.label.text(),
            version: variant.version,
            entries: bsp.directory.entry_count,
            reasons: variant.reasons.clone(),
            mark: mark.map(|text| {
                let text = String::from_utf8_lossy(text);
                text.trim_end_matches(['\0', '\n', '\r', ')']).to_owned()
            }),
        }
    }
}

fn container(target: &MapTarget) -> String {
    match target {
        MapTarget::File(path) => path.display().to_string(),
        MapTarget::Archive { archive, member } => format!("{}/{member}", archive.display()),
        MapTarget::Demo => "embedded".to_owned(),
    }
}

fn lumps(bsp: &Bsp) -> Vec<LumpInfo> {
    let entries = bsp.directory.kinds().take(bsp.directory.entry_count);
    entries
        .map(|kind| {
            let entry = bsp.directory.lumps[kind.index()];
            LumpInfo {
                index: kind.index(),
                name: kind.name(),
                offset: entry.offset,
                bytes: entry.length,
                records: records(bsp, kind, entry.length),
            }
        })
        .collect()
}

/// Records of a lump as read; advertisements are not read, their number follows from the length.
fn records(bsp: &Bsp, kind: LumpKind, bytes: usize) -> usize {
    const ADVERTISEMENT_BYTES: usize = 128;
    match kind {
        LumpKind::Entities => bsp.entities.list.len(),
        LumpKind::Shaders => bsp.shaders.len(),
        LumpKind::Planes => bsp.planes.len(),
        LumpKind::Nodes => bsp.nodes.len(),
        LumpKind::Leafs => bsp.leafs.len(),
        LumpKind::LeafSurfaces => bsp.leaf_surfaces.len(),
        LumpKind::LeafBrushes => bsp.leaf_brushes.len(),
        LumpKind::Models => bsp.models.len(),
        LumpKind::Brushes => bsp.brushes.len(),
        LumpKind::BrushSides => bsp.brush_sides.len(),
        LumpKind::DrawVerts => bsp.draw_verts.len(),
        LumpKind::DrawIndexes => bsp.draw_indexes.len(),
        LumpKind::Fogs => bsp.fogs.len(),
        LumpKind::Surfaces => bsp.surfaces.len(),
        LumpKind::Lightmaps => bsp.lightmaps.len(),
        LumpKind::LightGrid => match &bsp.styled_grid {
            Some(grid) => grid.palette.len(),
            None => bsp.light_grid.len(),
        },
        LumpKind::Visibility => bsp
            .visibility
            .as_ref()
            .map_or(0, |vis| vis.clusters as usize),
        LumpKind::LightGridArray => bsp
            .styled_grid
            .as_ref()
            .map_or(0, |grid| grid.indices.len()),
        LumpKind::Advertisements => bytes / ADVERTISEMENT_BYTES,
        LumpKind::LightGridSh => bsp.sh_grid.as_ref().map_or(0, |grid| grid.points.len()),
    }
}

impl Grids {
    fn new(scene: &Scene) -> Self {
        let dark = |point: &&ShPoint| point.as_flattened().iter().all(|c| *c == 0.0);
        let legacy = scene.lighting.light_grid.as_deref().map(|grid| {
            let black = grid
                .points
                .iter()
                .filter(|point| point.ambient == [0; 3] && point.directed == [0; 3]);
            GridInfo::new(&grid.lattice, black.count())
        });
        let sh = scene
            .lighting
            .sh_grid
            .as_deref()
            .map(|grid| GridInfo::new(&grid.lattice, grid.points.iter().filter(dark).count()));
        let sh_container = scene.bsp.sh_container.map(ShContainer::word);
        Self {
            legacy,
            sh,
            sh_container,
        }
    }
}

impl Lightmaps {
    fn new(scene: &Scene) -> Self {
        let lightmaps = &scene.lightmaps;
        let origin = match lightmaps.origin {
            LightmapOrigin::None => None,
            LightmapOrigin::Internal => Some("internal"),
            LightmapOrigin::External => Some("external"),
        };
        let deluxe = scene.deluxe.as_ref();
        Self {
            origin,
            pages: lightmaps.pages.len(),
            size: lightmaps.size,
            deluxe: deluxe.map(|deluxe| deluxe.reason.text()),
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let Some(origin) = self.origin else {
            return writeln!(out, "lightmaps none");
        };
        let (pages, size) = (self.pages, self.size);
        writeln!(out, "lightmaps {pages} {origin} pages of {size}×{size}")?;
        if let Some(reason) = &self.deluxe {
            writeln!(out, "          deluxe pairs because {reason}")?;
        }
        Ok(())
    }
}

impl GridInfo {
    fn new(lattice: &Lattice, black: usize) -> Self {
        Self {
            counts: lattice.counts.to_array(),
            cell_size: lattice.cell_size.to_array(),
            // Files hold −0, which is no place of its own.
            origin: (lattice.origin + Vec3::ZERO).to_array(),
            points: lattice.len(),
            black,
        }
    }
}

impl Lights {
    fn find(scene: &Scene, context: &JobContext) -> Self {
        let planned = plan(scene, &BakeSettings::default(), context);
        let (counts, light_file, note) = match planned {
            Ok(plan) => (plan.lights, plan.light_file, None),
            Err(error) => (LightCounts::default(), None, Some(error.to_string())),
        };
        Self {
            counts: counts.into(),
            map_file: scene
                .map_source
                .as_ref()
                .map(|source| source.origin.display().to_string()),
            light_file: light_file.map(|path| path.display().to_string()),
            note,
        }
    }

    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "lights    {}", self.counts)?;
        if let Some(path) = &self.map_file {
            let use_of = if self.light_file.is_some() || self.note.is_some() {
                ""
            } else {
                ", not asked: the BSP keeps its lights"
            };
            writeln!(out, "          beside it: {path}{use_of}")?;
        }
        if let Some(note) = &self.note {
            writeln!(out, "          {note}")?;
        }
        Ok(())
    }
}

fn worldspawn(bsp: &Bsp) -> Vec<KeyValue> {
    let pairs = bsp
        .entities
        .worldspawn()
        .map(|world| world.pairs.as_slice());
    let pairs = pairs.unwrap_or_default().iter();
    pairs
        .map(|(key, value)| KeyValue {
            key: key.clone(),
            value: value.clone(),
        })
        .collect()
}
