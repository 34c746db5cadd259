use std::sync::Arc;

use crate::format::bsp::{Bsp, BspError, SIDECAR_EXTENSION, Shader, read};
use crate::format::map_file;
use crate::format::srf::SurfaceExtras;
use crate::job::{Cancelled, JobContext, Warnings};
use crate::math::Aabb;
use crate::scene::curve_detail::CurveDetail;
use crate::scene::deluxe::Deluxe;
use crate::scene::doors::find_doors;
use crate::scene::fog::FogVolume;
use crate::scene::geometry;
use crate::scene::light_scale::LightScale;
use crate::scene::lighting::Lighting;
use crate::scene::lightmaps::LightmapPages;
use crate::scene::material::{Material, MaterialId};
use crate::scene::resolve::{Resolver, Scripts};
use crate::scene::sources::{Sources, read_companion};
use crate::scene::spawn::spawn_points;
use crate::scene::types::{MapSource, MapSourceKind, Scene, SurfaceId};
use crate::vfs::{OpenedMap, Origin};

/// Why a map cannot become a scene.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The bytes are no readable BSP.
    #[error(transparent)]
    Bsp(#[from] BspError),
    /// The token was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Which material scripts of the search path are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptFiles {
    /// All, in the engine's order.
    #[default]
    All,
    /// Those that `scripts/shaderlist.txt` names, in its order, of two definitions the first: what the reference compiler
    /// reads. Without a list all. Released games rarely list every script that their maps use.
    Listed,
}

/// How a scene is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Which scripts are read.
    pub scripts: ScriptFiles,
    /// How finely curves are divided.
    pub curves: CurveDetail,
}

/// [`build_with`] every script and the engine's own curves.
///
/// # Errors
/// See [`BuildError`].
pub fn build(map: &OpenedMap, context: &JobContext) -> Result<Scene, BuildError> {
    build_with(map, BuildOptions::default(), context)
}

/// Reads the map's bytes and builds everything that is drawn, traced and lit.
///
/// Missing materials and images become stand-ins with a warning in the context; so does whatever the reader mended.
///
/// # Errors
/// See [`BuildError`].
pub fn build_with(
    map: &OpenedMap,
    options: BuildOptions,
    context: &JobContext,
) -> Result<Scene, BuildError> {
    context.progress.begin("reading", 0);
    let mut sources = Sources::of(map, &context.warnings);
    let mut bsp = read(&map.bytes)?;
    for warning in &bsp.warnings {
        context.warnings.push("W100", warning.to_string());
    }
    if bsp.models.is_empty() {
        // Surfaces and grids need a world to stand in.
        context
            .warnings
            .push("W100", "lump 7 (models) is empty: no world model");
        bsp.surfaces.clear();
    }
    context.cancel.check()?;
    sources.sh_grid = take_sidecar(map, &mut bsp, context);
    context.progress.begin("lightmaps", 0);
    let mut lightmaps = LightmapPages::load(&bsp, &map.vfs, &map.name, context)?;
    let deluxe = Deluxe::detect(&bsp, &lightmaps);
    lightmaps.every_other_is_light = deluxe.is_some();
    let light_scale = LightScale::detect(&bsp, &lightmaps);
    let bsp = Arc::new(bsp);
    let scripts = Scripts::load(&map.vfs, options.scripts, context)?;
    let models = geometry::place_models(&bsp);
    let mut resolver = Resolver::new(&map.vfs, &scripts, &context.warnings);
    context.progress.begin("geometry", 0);
    let geometry = geometry::build(
        &bsp,
        &models,
        &lightmaps,
        options.curves,
        &context.warnings,
        |surface, class, use_of| {
            let raw = &bsp.surfaces[surface.0 as usize];
            let shader = bsp.shaders.get(raw.shader as usize);
            let nameless = Shader {
                name: "noshader".to_owned(),
                surface_flags: 0,
                content_flags: 0,
                stored_flags: [0; 2],
            };
            resolver.material(shader.unwrap_or(&nameless), class, use_of)
        },
    );
    let geometry = geometry.finish(|id| resolver.get(id).is_some_and(Material::is_sprite));
    let fogs = bsp.fogs.iter().map(|fog| {
        let parameters = scripts.fog(&fog.material);
        FogVolume::new(&bsp, fog, parameters)
    });
    let fogs = fogs.collect();
    context.cancel.check()?;
    let (materials, images) = resolver.finish(context)?;
    context.progress.begin("entities", 0);
    let map_source = read_lights(map, &mut sources, context);
    let file = read_companion(map, "srf", &context.warnings);
    sources.surface_extras = file.as_ref().map(|file| file.origin.clone());
    let surface_extras = file.map(|file| SurfaceExtras::parse(&file.bytes));
    Ok(Scene {
        name: map.name.clone(),
        bounds: geometry.bounds.unwrap_or_else(|| world_bounds(&bsp)),
        lightmaps,
        deluxe,
        light_scale,
        light_styles: geometry.styles.into_iter().collect(),
        slot_lights: geometry.slot_lights,
        lighting: Lighting::from_bsp(&bsp, &context.warnings),
        spawns: spawn_points(&bsp.entities),
        doors: find_doors(&bsp, &models, &context.warnings),
        curves: options.curves,
        vertices: geometry.vertices,
        indices: geometry.indices,
        surfaces: geometry.surfaces,
        materials,
        images,
        fogs,
        models,
        map_source,
        surface_extras,
        sources,
        bsp,
    })
}

impl Scene {
    /// The same map with its curves divided anew. Reads no files; images and lightmap pages are copied.
    #[must_use]
    pub fn with_curves(&self, curves: CurveDetail) -> Self {
        let known = |id: SurfaceId| self.surfaces.get(id.0 as usize);
        // What there is to warn of was said when the map was opened.
        let geometry = geometry::build(
            &self.bsp,
            &self.models,
            &self.lightmaps,
            curves,
            &Warnings::default(),
            |surface, _, _| known(surface).map_or(MaterialId(0), |surface| surface.material),
        );
        let material = |id: MaterialId| self.materials.get(id.0 as usize);
        let geometry = geometry.finish(|id| material(id).is_some_and(Material::is_sprite));
        Self {
            curves,
            bounds: geometry.bounds.unwrap_or(self.bounds),
            slot_lights: geometry.slot_lights,
            vertices: geometry.vertices,
            indices: geometry.indices,
            surfaces: geometry.surfaces,
            ..self.clone()
        }
    }
}

/// Takes the SH grid of the file beside the map, when the map itself has none; where it came from.
fn take_sidecar(map: &OpenedMap, bsp: &mut Bsp, context: &JobContext) -> Option<Origin> {
    let file = read_companion(map, SIDECAR_EXTENSION, &context.warnings)?;
    match bsp.with_sidecar(&file.bytes) {
        Ok(with_grid) => {
            *bsp = with_grid;
            Some(file.origin)
        }
        Err(why) => {
            let text = format!("{}: {why}; ignored", file.origin);
            context.warnings.push("W113", text);
            None
        }
    }
}

/// Reads the entities of the `.map` beside the map, and only where there is none those of the `.ent`: a `.map` is where the
/// lights come from, an `.ent` a copy of what some compiler left of them.
fn read_lights(map: &OpenedMap, sources: &mut Sources, context: &JobContext) -> Option<MapSource> {
    let beside = |extension| read_companion(map, extension, &context.warnings);
    let file = beside("map").or_else(|| beside("ent"))?;
    let origin = file.origin.container.join(&file.origin.name);
    sources.map_source = Some(file.origin);
    Some(MapSource {
        kind: MapSourceKind::of(&origin),
        origin,
        entities: map_file::entities(&file.bytes),
    })
}

fn world_bounds(bsp: &Bsp) -> Aabb {
    let world = bsp.models.first().map(|model| model.bounds);
    world.filter(|bounds| !bounds.is_empty()).unwrap_or(Aabb {
        min: glam::Vec3::ZERO,
        max: glam::Vec3::ZERO,
    })
}
