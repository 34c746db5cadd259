//! Everything that is known about a surface at a point of it: for the inspector and for `luxtool pick`.

use std::collections::HashMap;

use glam::{Vec2, Vec3};
use serde::Serialize;

use crate::format::bsp::SurfaceKind;
use crate::math::colour::{Clamp, Overbright, shift, shift_bytes};
use crate::scene::{Image, Material, MaterialSource, Scene, Surface, SurfaceId, Vertex};
use crate::view::selection::SurfaceHit;

/// How far in front of a surface its leaf is looked up, game units.
const NUDGE: f32 = 1.0;
/// Edges that [`outline`] gives at most.
const OUTLINE_LIMIT: usize = 4096;

/// A surface at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SurfaceReport {
    /// Number in the file.
    pub surface: u32,
    /// What it is made of: `planar`, `patch 3×5` and so on.
    pub kind: String,
    /// The point, game units.
    pub position: [f32; 3],
    /// Unit normal towards the eye.
    pub normal: [f32; 3],
    /// Distance of the point from the eye, game units.
    pub distance: f32,
    /// Its material.
    pub material: MaterialReport,
    /// What lights it: `lightmap`, `vertex`, `grid` or `none`.
    pub light: &'static str,
    /// The lightmap there.
    pub lightmap: Option<LuxelReport>,
    /// Vertex light there as stored, interpolated over the triangle, and alpha.
    pub vertex_light: [u8; 4],
    /// Texture coordinates there.
    pub texture: [f32; 2],
    /// Leaf in front of the point.
    pub leaf: Option<u32>,
    /// Its visibility cluster; `None` in solid and outside.
    pub cluster: Option<u32>,
    /// Its area; `None` in solid and outside.
    pub area: Option<u32>,
    /// The fog volume that the surface is in.
    pub fog: Option<FogName>,
    /// The inline model that it belongs to; 0 is the world.
    pub model: u32,
    /// The entity that shows the model; for the world worldspawn.
    pub entity: Option<EntityName>,
    /// Vertices that its triangles use.
    pub vertices: u32,
    /// Triangles as drawn, patches tessellated.
    pub triangles: u32,
}

/// A material and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaterialReport {
    /// Name as in the map.
    pub name: String,
    /// `script`, `image` (no script, an image of that name) or `missing`.
    pub source: &'static str,
    /// Script file, in its game folder.
    pub file: Option<String>,
    /// Line of the name there, from 1.
    pub line: Option<usize>,
    /// Folder or archive of the script, or of the image where there is no script; `demo` for the embedded one.
    pub pack: Option<String>,
    /// The script's text.
    pub text: Option<String>,
    /// Images of its stages and sky box in order, each once.
    pub images: Vec<ImageName>,
    /// Passes.
    pub stages: usize,
    /// Draw order.
    pub sort: f32,
    /// Of lump 1, in the numbering of the Quake 3 games.
    pub surface_flags: u32,
    /// Of lump 1, in the numbering of the Quake 3 games.
    pub content_flags: u32,
}

/// An image and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageName {
    /// Name as the material has it.
    pub name: String,
    /// File, in its game folder; `None` for stand-ins.
    pub file: Option<String>,
    /// Folder or archive; `None` for stand-ins.
    pub pack: Option<String>,
}

/// A texel of the lightmap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LuxelReport {
    /// Number of the page.
    pub page: u32,
    /// Place on the page, luxels from its left and top edge.
    pub at: [f32; 2],
    /// The luxel that holds it: column and row.
    pub luxel: [u32; 2],
    /// Its colour as stored.
    pub raw: [u8; 3],
    /// Side of a luxel in the world, game units; the mean over the surface.
    pub units_per_luxel: Option<f32>,
}

/// A fog volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FogName {
    /// Number in the file.
    pub number: u32,
    /// Its material.
    pub material: String,
}

/// An entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntityName {
    /// Number in the file.
    pub number: u32,
    /// Its class.
    pub classname: String,
}

/// A stored colour as the picture shows it, byte units.
fn shown(raw: [u8; 3], overbright: Overbright, clamp: Clamp) -> [u8; 3] {
    if let (Overbright::Bits(bits), Clamp::KeepHue) = (overbright, clamp) {
        return shift_bytes(raw, bits);
    }
    let light = shift(Vec3::from(raw.map(f32::from)), overbright.factor(), clamp);
    let bytes = light.round().min(Vec3::splat(255.0)).to_array();
    bytes.map(|channel| channel as u8)
}

impl LuxelReport {
    /// The colour after overbright and clamp, as it multiplies the texture.
    pub fn shown(&self, overbright: Overbright, clamp: Clamp) -> [u8; 3] {
        shown(self.raw, overbright, clamp)
    }

    fn new(scene: &Scene, surface: &Surface, st: Vec2) -> Option<Self> {
        let page = surface.lightmap?;
        let side = scene.lightmaps.size;
        let at = st * side as f32;
        let luxel = at
            .floor()
            .clamp(Vec2::ZERO, Vec2::splat(side.saturating_sub(1) as f32))
            .as_uvec2();
        let first = (luxel.y as usize * side as usize + luxel.x as usize) * 3;
        let stored = scene.lightmaps.pages.get(page as usize)?;
        Some(Self {
            page,
            at: at.to_array(),
            luxel: luxel.to_array(),
            raw: *stored.get(first..first + 3)?.as_array()?,
            units_per_luxel: scene.units_per_luxel(surface),
        })
    }
}

impl SurfaceReport {
    /// What is known about the surface that was hit. Flags and counts of a number that the map does not have are zero.
    pub fn new(scene: &Scene, hit: &SurfaceHit) -> Self {
        let surface = scene.surfaces.get(hit.surface.0 as usize);
        let corners = scene.corners(hit.first_index);
        let st = |of: fn(&Vertex) -> Vec2| {
            corners.map_or(Vec2::ZERO, |[a, b, c]| {
                of(a) + (of(b) - of(a)) * hit.weights.x + (of(c) - of(a)) * hit.weights.y
            })
        };
        let vertex_light = corners.map_or([0; 4], |corners| {
            let [a, b, c] = corners.map(|vertex| glam::Vec4::from(vertex.colour.map(f32::from)));
            let light = a + (b - a) * hit.weights.x + (c - a) * hit.weights.y;
            light.round().to_array().map(|channel| channel as u8)
        });
        let front = hit.position + hit.normal * NUDGE;
        let leaf_number = scene.bsp.leaf_number_at(front);
        let leaf = leaf_number.and_then(|number| scene.bsp.leafs.get(number));
        let model = surface.map_or(0, |surface| surface.model);
        let entity = match model {
            0 => Some(0),
            _ => scene
                .models
                .get(model as usize)
                .and_then(|model| model.entity),
        };
        Self {
            surface: hit.surface.0,
            kind: surface.map_or_else(String::new, |surface| kind(&surface.kind)),
            position: hit.position.to_array(),
            normal: hit.normal.to_array(),
            distance: hit.t,
            material: surface.map_or_else(MaterialReport::nothing, |surface| {
                MaterialReport::new(scene, scene.material_of(surface))
            }),
            light: surface.map_or("none", |surface| scene.light_source(surface).word()),
            lightmap: surface.and_then(|surface| {
                LuxelReport::new(scene, surface, st(|vertex| vertex.lightmap_st))
            }),
            vertex_light,
            texture: st(|vertex| vertex.st).to_array(),
            leaf: leaf_number.and_then(|number| u32::try_from(number).ok()),
            cluster: leaf.and_then(|leaf| leaf.cluster),
            area: leaf.and_then(|leaf| leaf.area),
            fog: surface.and_then(|surface| {
                let number = surface.fog?;
                let fog = scene.bsp.fogs.get(number as usize)?;
                Some(FogName {
                    number,
                    material: fog.material.clone(),
                })
            }),
            model,
            entity: entity.and_then(|number| {
                let entity = scene.bsp.entities.list.get(number as usize)?;
                Some(EntityName {
                    number,
                    classname: entity.classname().to_owned(),
                })
            }),
            vertices: surface.map_or(0, |surface| vertex_count(scene, surface)),
            triangles: surface.map_or(0, |surface| surface.indices.len() as u32 / 3),
        }
    }

    /// Names and values for people, in order; colours as they are shown with these options.
    pub fn rows(&self, overbright: Overbright, clamp: Clamp) -> Vec<(&'static str, String)> {
        let mut rows = vec![
            ("Surface", format!("{}, {}", self.surface, self.kind)),
            ("Material", self.material.name.clone()),
            ("Defined in", self.material.place()),
        ];
        rows.extend(self.material.pack.clone().map(|pack| ("Pack", pack)));
        rows.push((
            "Sort",
            format!("{}, {} stages", self.material.sort, self.material.stages),
        ));
        rows.push((
            "Flags",
            format!(
                "surface 0x{:X}, content 0x{:X}",
                self.material.surface_flags, self.material.content_flags
            ),
        ));
        rows.push(("Lit by", self.light.to_owned()));
        if let Some(luxel) = &self.lightmap {
            let [s, t] = luxel.at;
            let [x, y] = luxel.luxel;
            rows.push((
                "Lightmap",
                format!("page {}, luxel {x} {y} ({s:.2} {t:.2})", luxel.page),
            ));
            rows.push(("Luxel stored", triple(luxel.raw)));
            rows.push(("Luxel shown", triple(luxel.shown(overbright, clamp))));
            let density = luxel.units_per_luxel;
            rows.extend(density.map(|units| ("Density", format!("{units:.2} units a luxel"))));
        }
        let [r, g, b, a] = self.vertex_light;
        let vertex = shown([r, g, b], overbright, clamp);
        rows.push((
            "Vertex light",
            format!("{r} {g} {b}, alpha {a}; shown {}", triple(vertex)),
        ));
        rows.push(("Cluster", or_none(self.cluster)));
        rows.push(("Area", or_none(self.area)));
        rows.push(("Leaf", or_none(self.leaf)));
        rows.push((
            "Fog",
            self.fog.as_ref().map_or_else(
                || "none".to_owned(),
                |fog| format!("{}, {}", fog.number, fog.material),
            ),
        ));
        let entity = self.entity.as_ref();
        rows.push((
            "Entity",
            entity.map_or_else(
                || "none".to_owned(),
                |entity| format!("{}, {}", entity.number, entity.classname),
            ),
        ));
        rows.push(("Model", self.model.to_string()));
        rows.push((
            "Geometry",
            format!("{} vertices, {} triangles", self.vertices, self.triangles),
        ));
        rows.push(("Position", floats(self.position)));
        rows.push(("Normal", floats(self.normal)));
        rows.push((
            "Texture st",
            format!("{:.3} {:.3}", self.texture[0], self.texture[1]),
        ));
        rows
    }

    /// Everything as lines of text, the script last.
    pub fn text(&self, overbright: Overbright, clamp: Clamp) -> String {
        let rows = self.rows(overbright, clamp);
        let lines = rows
            .iter()
            .map(|(name, value)| format!("{name}: {value}\n"));
        let images = self.material.images.iter().map(|image| {
            let (name, place) = (&image.name, image.place());
            format!("Image: {name}, {place}\n")
        });
        let script = self.material.text.iter().map(|text| format!("\n{text}\n"));
        lines.chain(images).chain(script).collect()
    }
}

impl ImageName {
    /// File and pack for people.
    pub fn place(&self) -> String {
        match (&self.file, &self.pack) {
            (Some(file), Some(pack)) => format!("{file} in {pack}"),
            _ => "built in".to_owned(),
        }
    }

    fn new(image: &Image) -> Self {
        let origin = image.origin.as_ref();
        Self {
            name: image.name.clone(),
            file: origin.map(|origin| origin.name.clone()),
            pack: origin.map(|origin| pack(&origin.container)),
        }
    }
}

impl MaterialReport {
    /// Script and line for people, or what there is instead.
    pub fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ if self.source == "image" => "no script, an image of that name".to_owned(),
            _ => "nothing: neither script nor image".to_owned(),
        }
    }

    fn nothing() -> Self {
        Self {
            name: String::new(),
            source: "missing",
            file: None,
            line: None,
            pack: None,
            text: None,
            images: Vec::new(),
            stages: 0,
            sort: 0.0,
            surface_flags: 0,
            content_flags: 0,
        }
    }

    fn new(scene: &Scene, material: &Material) -> Self {
        let images = images(scene, material);
        let (source, file, line, container, text) = match &material.source {
            MaterialSource::Script {
                file,
                line,
                origin,
                text,
            } => (
                "script",
                Some(file.clone()),
                Some(*line),
                Some(pack(&origin.container)),
                Some(text.to_string()),
            ),
            MaterialSource::Image => {
                let pack = images.first().and_then(|image| image.pack.clone());
                ("image", None, None, pack, None)
            }
            MaterialSource::Missing => ("missing", None, None, None, None),
        };
        Self {
            name: material.name.clone(),
            source,
            file,
            line,
            pack: container,
            text,
            images,
            stages: material.stages.len(),
            sort: material.sort,
            surface_flags: material.surface_flags,
            content_flags: material.content_flags,
        }
    }
}

fn images(scene: &Scene, material: &Material) -> Vec<ImageName> {
    let mut seen = Vec::new();
    for id in material.image_ids() {
        if !seen.contains(&id) {
            seen.push(id);
        }
    }
    let images = seen.iter().filter_map(|id| scene.images.get(id.0 as usize));
    images.map(ImageName::new).collect()
}

/// Folder or archive for people; the embedded demo has none.
fn pack(container: &std::path::Path) -> String {
    if container.as_os_str().is_empty() {
        "demo".to_owned()
    } else {
        container.display().to_string()
    }
}

fn kind(kind: &SurfaceKind) -> String {
    match kind {
        SurfaceKind::Planar => "planar".to_owned(),
        SurfaceKind::Patch { width, height } => format!("patch {width}×{height}"),
        SurfaceKind::TriangleSoup => "triangle soup".to_owned(),
        SurfaceKind::Foliage { instances, .. } => format!("foliage of {instances}"),
        SurfaceKind::Flare => "flare".to_owned(),
        SurfaceKind::Skipped => "not drawn".to_owned(),
    }
}

fn vertex_count(scene: &Scene, surface: &Surface) -> u32 {
    let range = surface.indices.start as usize..surface.indices.end as usize;
    let mut used = scene.indices.get(range).unwrap_or_default().to_vec();
    used.sort_unstable();
    used.dedup();
    used.len() as u32
}

fn or_none(number: Option<u32>) -> String {
    number.map_or_else(|| "none".to_owned(), |number| number.to_string())
}

fn triple([r, g, b]: [u8; 3]) -> String {
    format!("{r} {g} {b}")
}

fn floats(values: [f32; 3]) -> String {
    // No negative zero.
    let [x, y, z] = values.map(|value| (value * 100.0).round() / 100.0 + 0.0);
    format!("{x:.2} {y:.2} {z:.2}")
}

/// The boundary of a surface: edges that its triangles do not run along as often one way as the other, by position; empty for a
/// number that the map does not have. Of soups with very many the first few thousand.
pub fn outline(scene: &Scene, surface: SurfaceId) -> Vec<[Vec3; 2]> {
    let Some(surface) = scene.surfaces.get(surface.0 as usize) else {
        return Vec::new();
    };
    // Vertices are told apart by position: smooth surfaces may store one twice.
    let key = |v: Vec3| v.to_array().map(|c| (c + 0.0).to_bits());
    let mut balances: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
    let mut edges = Vec::new();
    for first in surface.indices.clone().step_by(3) {
        let Some(corners) = scene.corners(first) else {
            break;
        };
        let [a, b, c] = corners.map(|vertex| vertex.position);
        for [from, to] in [[a, b], [b, c], [c, a]] {
            let (from_key, to_key) = (key(from), key(to));
            let (ends, way) = if from_key <= to_key {
                ([from_key, to_key], 1)
            } else {
                ([to_key, from_key], -1)
            };
            let balance = balances.entry(ends).or_insert_with(|| {
                edges.push((ends, [from, to]));
                0
            });
            *balance += way;
        }
    }
    edges.retain(|(ends, _)| ends[0] != ends[1] && balances.get(ends) != Some(&0));
    edges.truncate(OUTLINE_LIMIT);
    edges.into_iter().map(|(_, edge)| edge).collect()
}
