use std::ops::ControlFlow;

use glam::{Vec2, Vec3};

use crate::format::bsp::SurfaceKind;
use crate::light::materials::{Materials, compile_flags};
use crate::light::settings::{BakeSettings, LightModel};
use crate::light::surface_lights::{SkyNumbers, surface_triangles};
use crate::math::Ray;
use crate::scene::{ImageId, Material, Scene, SurfaceId};
use crate::trace::{
    BareSubtrees, Crossing, Grazing, HitRules, SolidTree, TreeCorner, TriangleSet, Walk,
};

/// How far barycentric coordinates of a filtering triangle may lie outside 0 to 1.
const FILTER_SLACK: f32 = 0.0001;
/// Light filtered down to this share is none.
const DARK: f32 = 0.001;

/// Finds out how much light passes along a segment (section 5 of the compiler's specification).
#[derive(Debug)]
pub(crate) struct Tracer<'a> {
    scene: &'a Scene,
    solids: SolidTree,
    triangles: TriangleSet,
    occluders: Vec<Occluder>,
    /// Leaf of each triangle.
    leafs: Vec<u32>,
    rules: HitRules,
    bare: BareSubtrees,
    is_tracing: bool,
}

/// Working memory and counter of one thread.
#[derive(Debug, Default)]
pub(crate) struct TraceState {
    walk: Walk,
    /// Segments traced.
    pub rays: u64,
}

#[derive(Clone, Copy, Debug)]
enum Occluder {
    Opaque,
    /// Lets suns in; its number.
    Sky(Option<u8>),
    Filter(Filter),
}

#[derive(Clone, Copy, Debug)]
struct Filter {
    image: ImageId,
    st: [Vec2; 3],
    by_alpha: bool,
    by_colour: bool,
}

impl<'a> Tracer<'a> {
    /// Builds the hierarchy over everything that casts shadows into the grids: patches and mesh models never do.
    pub(super) fn new(
        scene: &'a Scene,
        materials: &Materials<'_>,
        skies: &SkyNumbers,
        settings: &BakeSettings,
    ) -> Self {
        let mut solids = SolidTree::new(&scene.bsp);
        let (mut triangles, mut occluders, mut leafs) = (Vec::new(), Vec::new(), Vec::new());
        for (surface, offset) in casting_surfaces(scene) {
            let Some((material, occluder)) = classify(surface, scene, materials, skies) else {
                continue;
            };
            let corner = |vertex: &usize| {
                let vertex = scene.bsp.draw_verts.get(*vertex)?;
                Some(TreeCorner {
                    position: vertex.position + offset,
                    st: vertex.st,
                })
            };
            for triangle in surface_triangles(&scene.bsp, surface) {
                let corners: Option<Vec<TreeCorner>> = triangle.iter().map(corner).collect();
                solids.scatter(&corners.unwrap_or_default(), |leaf, part| {
                    for edge in part.windows(2).skip(1) {
                        let corners = [part[0], edge[0], edge[1]];
                        triangles.push(corners.map(|corner| corner.position));
                        leafs.push(leaf);
                        occluders.push(match occluder {
                            Occluder::Filter(filter) => Occluder::Filter(Filter {
                                image: material.light_image,
                                st: corners.map(|corner| corner.st),
                                ..filter
                            }),
                            other => other,
                        });
                    }
                });
            }
        }
        let is_exact = settings.model == LightModel::Corrected;
        Self {
            scene,
            solids,
            triangles: TriangleSet::new(&triangles),
            occluders,
            leafs,
            rules: HitRules {
                grazing: if is_exact {
                    Grazing::Relative(1e-6)
                } else {
                    Grazing::Absolute(0.25)
                },
                slack: HitRules::MAX_SLACK,
            },
            bare: if is_exact {
                BareSubtrees::Walked
            } else {
                BareSubtrees::Skipped
            },
            is_tracing: !settings.no_trace,
        }
    }

    /// What is left of white light on its way from a lamp at `to`; `None` when it is blocked.
    ///
    /// Triangles nearer than `inhibit` to `from` are passed.
    pub(super) fn from_lamp(
        &self,
        from: Vec3,
        to: Vec3,
        inhibit: f32,
        state: &mut TraceState,
    ) -> Option<Vec3> {
        if !self.is_tracing {
            return Some(Vec3::ONE);
        }
        state.rays += 1;
        let solid = self
            .solids
            .first_solid(from, to, BareSubtrees::Walked, &mut state.walk);
        if solid.is_some() {
            return None;
        }
        let ray = Ray {
            t_min: inhibit,
            ..Ray::segment(from, to)
        };
        self.filtered(&ray, &state.walk)
            .map(|passage| passage.filter)
    }

    /// What is left of a sun's white light; `None` when it is blocked or comes through no sky, or through another than
    /// `sky`.
    pub(super) fn from_sun(
        &self,
        from: Vec3,
        to: Vec3,
        inhibit: f32,
        sky: Option<u8>,
        state: &mut TraceState,
    ) -> Option<Vec3> {
        if !self.is_tracing {
            return Some(Vec3::ONE);
        }
        state.rays += 1;
        let ray = Ray {
            t_min: inhibit,
            ..Ray::segment(from, to)
        };
        // Solid does not block by itself: it ends the walk, and what lies behind is not met.
        self.solids
            .first_solid(from, to, self.bare, &mut state.walk);
        let passage = self.filtered(&ray, &state.walk)?;
        let (_, number) = passage.sky?;
        (sky.is_none() || number.is_none() || number == sky).then_some(passage.filter)
    }

    /// `None` when an opaque triangle is met, or filters leave nothing.
    ///
    /// Only triangles in leafs that the walk passed count, as in the reference compiler, which cuts them at the leafs'
    /// borders: this decides about rays that graze edges within the slack.
    fn filtered(&self, ray: &Ray, walk: &Walk) -> Option<Passage> {
        let mut passage = Passage {
            filter: Vec3::ONE,
            sky: None,
        };
        let mut is_blocked = false;
        self.triangles.crossings(ray, &self.rules, |crossing| {
            let number = crossing.triangle as usize;
            if !walk.passed(self.leafs[number]) {
                return ControlFlow::Continue(());
            }
            is_blocked = match &self.occluders[number] {
                Occluder::Opaque => true,
                Occluder::Sky(number) => {
                    if passage.sky.is_none_or(|(t, _)| crossing.t < t) {
                        passage.sky = Some((crossing.t, *number));
                    }
                    false
                }
                Occluder::Filter(filter) => {
                    passage.filter *= self.transmission(filter, crossing);
                    passage.filter.max_element() <= DARK
                }
            };
            if is_blocked {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        (!is_blocked).then_some(passage)
    }

    /// Share of each channel that passes at a crossing: the nearest texel of the light image.
    fn transmission(&self, filter: &Filter, crossing: &Crossing) -> Vec3 {
        let Crossing { u, v, .. } = *crossing;
        let within = -FILTER_SLACK..=1.0 + FILTER_SLACK;
        let image = self.scene.images.get(filter.image.0 as usize);
        let (Some(image), true) = (
            image,
            [u, v, u + v].iter().all(|weight| within.contains(weight)),
        ) else {
            return Vec3::ONE;
        };
        let st = filter.st[0] * (1.0 - u - v) + filter.st[1] * u + filter.st[2] * v;
        let at =
            |coordinate: f32, size: u32| ((coordinate - coordinate.floor()) * size as f32) as u32;
        let [r, g, b, a] = image.texel(at(st.x, image.width), at(st.y, image.height));
        let mut share = Vec3::ONE;
        if filter.by_colour {
            share *= Vec3::from([r, g, b].map(f32::from)) / 255.0;
        }
        if filter.by_alpha {
            share *= f32::from(255 - a) / 255.0;
        }
        share
    }
}

struct Passage {
    filter: Vec3,
    /// Distance and number of the nearest sky met.
    sky: Option<(f32, Option<u8>)>,
}

/// Surfaces that cast shadows into the grids (receive value 1), with the offset of their model.
fn casting_surfaces(scene: &Scene) -> Vec<(SurfaceId, Vec3)> {
    let casts = |surface: u32, fallback: i32| {
        let extras = scene.surface_extras.as_ref();
        extras.map_or(fallback, |extras| extras.get(surface).cast_shadows) > 0
    };
    let mut found = Vec::new();
    let mut push = |model: usize, fallback: i32, offset: Vec3| {
        let Some(model) = scene.bsp.models.get(model) else {
            return;
        };
        let surfaces = model.first_surface..model.first_surface + model.surface_count;
        found.extend(
            surfaces
                .filter(|surface| casts(*surface, fallback))
                .map(|surface| (SurfaceId(surface), offset)),
        );
    };
    push(0, 1, Vec3::ZERO);
    for entity in scene.bsp.entities.list.iter().skip(1) {
        let cast = entity.number(&["_castShadows", "_cs"]).unwrap_or(0.0) as i32;
        if let (Some(model), true) = (entity.inline_model(), cast != 0) {
            push(model, cast, entity.origin());
        }
    }
    found
}

/// What a surface does to light that crosses it; `None` for nothing.
fn classify<'m>(
    surface: SurfaceId,
    scene: &Scene,
    materials: &Materials<'m>,
    skies: &SkyNumbers,
) -> Option<(&'m Material, Occluder)> {
    let record = scene.bsp.surfaces.get(surface.0 as usize)?;
    let is_traced = matches!(record.kind, SurfaceKind::Planar | SurfaceKind::TriangleSoup);
    let material = materials.of_surface(surface).filter(|_| is_traced)?;
    let shader = scene.bsp.shaders.get(record.shader as usize)?;
    let flags = compile_flags(
        shader.surface_flags | material.surface_flags,
        shader.content_flags | material.content_flags,
        Some(material),
    );
    let filters = flags.alpha_shadow || flags.light_filter;
    if flags.no_draw || (flags.translucent && !filters) {
        return None;
    }
    let occluder = if flags.sky {
        Occluder::Sky(skies.get(&material.name).copied().flatten())
    } else if filters {
        Occluder::Filter(Filter {
            image: ImageId::WHITE,
            st: [Vec2::ZERO; 3],
            by_alpha: flags.alpha_shadow,
            by_colour: flags.light_filter,
        })
    } else {
        Occluder::Opaque
    };
    Some((material, occluder))
}
