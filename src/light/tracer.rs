use std::ops::ControlFlow;

use fearless_simd::Level;
use glam::{Vec2, Vec3};

use crate::format::bsp::SurfaceKind;
use crate::job::CancelToken;
use crate::light::glance::Met;
use crate::light::materials::{Materials, compile_flags};
use crate::light::settings::{BakeSettings, LightModel};
use crate::light::surface_lights::{SkyNumbers, surface_triangles};
use crate::math::Ray;
use crate::math::lanes::LANES;
use crate::scene::{ImageId, Scene, SurfaceId};
use crate::trace::{
    BareSubtrees, Crossing, Division, Edges, Grazing, Hints, HitRules, Packet, PacketTracer,
    PacketWalk, SolidTree, TreeCorner, TreePolygon, TriangleSet, Walk,
};

/// Leafs with more triangles in a longer box are divided; the rule is found from the reference compiler's results.
const DIVISION: Division = Division::Above {
    triangles: 4,
    side: 32.0,
};
/// Which crossings of a filtering triangle take light away, of those that count.
const FILTER_RULES: HitRules = HitRules {
    grazing: Grazing::Relative(0.0),
    slack: 0.0001,
};
/// Light filtered down to this share is none.
pub(super) const DARK: f32 = 0.001;

/// Finds out how much light passes along a segment (section 5 of the compiler's specification).
#[derive(Debug)]
pub(crate) struct Tracer<'a> {
    scene: &'a Scene,
    pub(super) solids: SolidTree,
    /// The same, pruned.
    pub(super) obstacles: SolidTree,
    pub(super) triangles: TriangleSet,
    pub(super) parts: Vec<Part>,
    panes: Vec<Pane>,
    pub(super) occluders: Vec<Occluder>,
    pub(super) rules: HitRules,
    pub(super) bare: BareSubtrees,
    pub(super) is_tracing: bool,
    pub(super) has_surfaces: bool,
}

/// Working memory and counter of one thread.
#[derive(Debug, Default)]
pub(crate) struct TraceState {
    walk: Walk,
    pub(super) packet_tracer: PacketTracer,
    pub(super) packet: Packet,
    pub(super) packet_walk: PacketWalk,
    /// What the packet met besides what decided at once.
    pub(super) met: Vec<Met>,
    /// By grid and lane: what filters leave of the light, see [`Glance`](crate::light::glance::Glance).
    pub(super) shares: [[Vec3; LANES]; 2],
    /// By light: triangles that lately hid it.
    pub(super) hints: Vec<Hints>,
    /// Segments traced.
    pub rays: u64,
}

impl TraceState {
    /// The instructions that packets are computed with.
    pub(super) fn level(&self) -> Level {
        self.packet_tracer.level()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Occluder {
    Opaque,
    /// Lets suns in; its number.
    Sky(Option<u8>),
    Filter(Filter),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    image: ImageId,
    by_alpha: bool,
    by_colour: bool,
}

/// A traced triangle: a part of an occluder in one leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) leaf: u32,
    /// Number of its occluder.
    pub(super) owner: u32,
    /// Number of its texture coordinates, where it filters; else none has it.
    pane: u32,
    /// Whether it reaches out of its leaf, see [`TreePolygon::overhangs`].
    pub(super) overhangs: bool,
}

/// A traced triangle that filters.
#[derive(Clone, Copy, Debug)]
struct Pane {
    edges: Edges,
    st: [Vec2; 3],
}

impl<'a> Tracer<'a> {
    /// Builds the hierarchy over everything that casts shadows into the grids: patches and mesh models never do.
    ///
    /// Once cancelled it leaves the rest out; the caller must check and drop it.
    pub(super) fn new(
        scene: &'a Scene,
        materials: &Materials<'_>,
        skies: &SkyNumbers,
        settings: &BakeSettings,
        cancel: &CancelToken,
    ) -> Self {
        let is_exact = settings.model == LightModel::Corrected;
        let division = if is_exact { Division::Never } else { DIVISION };
        let (polygons, occluders) = occluders(scene, materials, skies);
        let polygons = polygons.into_iter().take_while(|_| !cancel.is_cancelled());
        let (solids, parts) = SolidTree::new(&scene.bsp, polygons, division);
        let (mut corners, mut triangles, mut panes) = (Vec::new(), Vec::new(), Vec::new());
        for (
            leaf,
            TreePolygon {
                owner,
                corners: part,
                overhangs,
            },
        ) in parts
        {
            let filters = matches!(occluders[owner as usize], Occluder::Filter(_));
            for edge in part.windows(2).skip(1) {
                let triangle = [part[0], edge[0], edge[1]];
                let positions = triangle.map(|corner| corner.position);
                corners.push(positions);
                triangles.push(Part {
                    leaf,
                    owner,
                    pane: if filters {
                        panes.len() as u32
                    } else {
                        u32::MAX
                    },
                    overhangs,
                });
                panes.extend(filters.then_some(Pane {
                    edges: Edges::new(positions),
                    st: triangle.map(|corner| corner.st),
                }));
            }
        }
        Self {
            scene,
            obstacles: solids.pruned(),
            solids,
            triangles: TriangleSet::new(&corners),
            parts: triangles,
            panes,
            occluders,
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
            has_surfaces: !settings.no_surfaces,
        }
    }

    /// What is left of white light on its way from a lamp at `to`; `None` when it is blocked.
    ///
    /// Triangles nearer than `inhibit` to `from` are passed.
    /// The segment is not counted: [`Tracer::glance`] did that.
    pub(super) fn lamp_light(
        &self,
        from: Vec3,
        to: Vec3,
        inhibit: f32,
        state: &mut TraceState,
    ) -> Option<Vec3> {
        if !self.is_tracing {
            return Some(Vec3::ONE);
        }
        let solid = self
            .solids
            .first_solid(from, to, BareSubtrees::Walked, &mut state.walk);
        if solid.is_some() {
            return None;
        }
        if !self.has_surfaces {
            return Some(Vec3::ONE);
        }
        let passage = self.filtered(from, to, inhibit, state)?;
        Some(passage.filter)
    }

    /// What is left of a sun's white light; `None` when it is blocked or comes through no sky, or through another than
    /// `sky`. Not counted either.
    pub(super) fn sun_light(
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
        if !self.has_surfaces {
            return None;
        }
        // Solid does not block by itself: it ends the walk, and what lies behind is not met.
        self.solids
            .first_solid(from, to, self.bare, &mut state.walk);
        let passage = self.filtered(from, to, inhibit, state)?;
        let (_, met) = passage.sky?;
        lets_in(met, sky).then_some(passage.filter)
    }

    /// How far it is open from `from` along `direction`, as a share of `distance`: 1 where nothing opaque is met, or a sky or
    /// a filter before it.
    ///
    /// As for suns, solid does not block by itself.
    pub(super) fn open_share(
        &self,
        from: Vec3,
        direction: Vec3,
        distance: f32,
        inhibit: f32,
        state: &mut TraceState,
    ) -> f32 {
        if !self.is_tracing || !self.has_surfaces {
            return 1.0;
        }
        state.rays += 1;
        let to = from + direction * distance;
        let ray = Ray {
            t_min: inhibit,
            ..Ray::segment(from, to)
        };
        self.solids
            .first_solid(from, to, self.bare, &mut state.walk);
        let (mut opaque, mut clear) = (f32::INFINITY, f32::INFINITY);
        self.triangles.crossings(&ray, &self.rules, |crossing| {
            let part = &self.parts[crossing.triangle as usize];
            if state.walk.passed(part.leaf) {
                let nearest = match &self.occluders[part.owner as usize] {
                    Occluder::Opaque => &mut opaque,
                    Occluder::Sky(_) | Occluder::Filter(_) => &mut clear,
                };
                *nearest = nearest.min(crossing.t);
            }
            ControlFlow::Continue(())
        });
        if clear <= opaque {
            1.0
        } else {
            (opaque / distance).min(1.0)
        }
    }

    /// `None` when an opaque triangle is met, or filters leave nothing.
    ///
    /// Only triangles in leafs that the walk passed count, as in the reference compiler, which cuts them at the leafs'
    /// borders: this decides about rays that graze edges within the slack. Where a ray runs along the edge of two parts, even
    /// of one triangle, both filter it, as there.
    fn filtered(
        &self,
        from: Vec3,
        to: Vec3,
        inhibit: f32,
        state: &mut TraceState,
    ) -> Option<Passage> {
        let walk = &state.walk;
        let ray = Ray {
            t_min: inhibit,
            ..Ray::segment(from, to)
        };
        let mut passage = Passage {
            filter: Vec3::ONE,
            sky: None,
        };
        let mut is_blocked = false;
        self.triangles.crossings(&ray, &self.rules, |crossing| {
            let part = &self.parts[crossing.triangle as usize];
            if !walk.passed(part.leaf) {
                return ControlFlow::Continue(());
            }
            is_blocked = match &self.occluders[part.owner as usize] {
                Occluder::Opaque => true,
                Occluder::Sky(number) => {
                    if passage.sky.is_none_or(|(t, _)| crossing.t < t) {
                        passage.sky = Some((crossing.t, *number));
                    }
                    false
                }
                Occluder::Filter(filter) => {
                    let share = self.transmission(*filter, part, from, to);
                    passage.filter *= share.unwrap_or(Vec3::ONE);
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

    /// Share of each channel that passes where a segment crosses a part: the nearest texel of the light image. `None` beside
    /// it.
    ///
    /// Grid points and textures are regular, so crossings on the very edge of a texel are common, and rounding decides about
    /// them: single precision and this order of sums decide as the reference compiler does in every such case that is known.
    pub(super) fn transmission(
        &self,
        filter: Filter,
        part: &Part,
        from: Vec3,
        to: Vec3,
    ) -> Option<Vec3> {
        let pane = self.panes.get(part.pane as usize)?;
        let line = Ray {
            t_min: f32::NEG_INFINITY,
            t_max: f32::INFINITY,
            ..Ray::segment(from, to)
        };
        let Crossing { u, v, .. } = pane.edges.cross(part.pane, &line, &FILTER_RULES)?;
        let Some(image) = self.scene.images.get(filter.image.0 as usize) else {
            return Some(Vec3::ONE);
        };
        let [a, b, c] = pane.st;
        let st = (b * u + c * v + a * (1.0 - (u + v))).as_dvec2();
        let at = |coordinate: f64, size: u32| {
            ((coordinate - coordinate.floor()) * f64::from(size)) as u32
        };
        let [r, g, b, a] = image.texel(at(st.x, image.width), at(st.y, image.height));
        let mut share = Vec3::ONE;
        if filter.by_colour {
            share *= Vec3::from([r, g, b].map(f32::from)) / 255.0;
        }
        if filter.by_alpha {
            share *= f32::from(255 - a) / 255.0;
        }
        Some(share)
    }
}

/// Whether the sky number `met` lets in a sun of the sky `own`; a sun or a sky without a number goes with any.
pub(super) fn lets_in(met: Option<u8>, own: Option<u8>) -> bool {
    own.is_none() || met.is_none() || met == own
}

/// Casting triangles, and what each does to light: a polygon's owner is the number of its occluder.
fn occluders(
    scene: &Scene,
    materials: &Materials<'_>,
    skies: &SkyNumbers,
) -> (Vec<TreePolygon>, Vec<Occluder>) {
    let (mut polygons, mut occluders) = (Vec::new(), Vec::new());
    for (surface, offset) in casting_surfaces(scene) {
        let Some(occluder) = classify(surface, scene, materials, skies) else {
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
            if let Some(corners) = triangle.iter().map(corner).collect() {
                polygons.push(TreePolygon {
                    owner: occluders.len() as u32,
                    corners,
                    overhangs: false,
                });
                occluders.push(occluder);
            }
        }
    }
    (polygons, occluders)
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
fn classify(
    surface: SurfaceId,
    scene: &Scene,
    materials: &Materials<'_>,
    skies: &SkyNumbers,
) -> Option<Occluder> {
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
            image: material.light_image,
            by_alpha: flags.alpha_shadow,
            by_colour: flags.light_filter,
        })
    } else {
        Occluder::Opaque
    };
    Some(occluder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sun_shines_through_its_own_sky_alone() {
        assert!(lets_in(Some(1), Some(1)));
        assert!(!lets_in(Some(0), Some(1)));
        assert!(lets_in(None, Some(1)) && lets_in(Some(0), None));
    }
}
