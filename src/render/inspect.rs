//! What the modes of `modes.wgsl` read besides materials: facts of surfaces, the map's tree, the grids.

use std::sync::{Mutex, PoisonError};

use bytemuck::Zeroable as _;
use glam::Vec3;
use wgpu::util::DeviceExt as _;

use crate::format::bsp::{Bsp, Child};
use crate::math::Aabb;
use crate::probe::{LegacyProfile, ShCorners};
use crate::render::gpu::Gpu;
use crate::render::grids::GpuGrids;
use crate::render::layouts::Layouts;
use crate::render::lightmaps::Lightmaps;
use crate::render::shared::{
    ModeColours, SampledGrid, SampledGrids, SurfaceFacts, TreeLeaf, TreeNode,
};
use crate::render::styles::Styles;
use crate::scene::{LightSource, Scene, Surface};
use crate::view::{
    CLAY, LIGHT_SOURCE_COLOURS, LUXEL_COLOURS, NOWHERE, OVERDRAW_STEP, ProbeOptions,
};

/// How far in front of surfaces the modes look the tree up, game units: WGSL's constant of this name.
const NUDGE: f32 = 1.0;
/// For the rounding of what is interpolated on the GPU, game units.
const ROOT_MARGIN: f32 = 0.1;
/// Bytes of a point of the legacy grid as stored.
const STORED_BYTES: u64 = 8;

/// Buffers of a map for the modes, and their bind group.
pub(super) struct Inspected {
    facts: wgpu::Buffer,
    nodes: wgpu::Buffer,
    leafs: wgpu::Buffer,
    sampled: wgpu::Buffer,
    colours: wgpu::Buffer,
    /// In place of a grid that there is not.
    nothing: wgpu::Buffer,
    bound: Mutex<Option<Bound>>,
}

/// The group and the grids that it was made for.
struct Bound {
    legacy: wgpu::Buffer,
    sh: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Inspected {
    pub(super) fn new(gpu: &Gpu, scene: &Scene, lightmaps: &Lightmaps) -> Self {
        let buffer = |label, contents: &[u8], usage| {
            gpu.device
                .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                    label: Some(label),
                    contents,
                    usage,
                })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        let uniform = wgpu::BufferUsages::UNIFORM;
        let (nodes, leafs) = tree(&scene.bsp);
        let facts = facts(scene, lightmaps);
        Self {
            facts: buffer("surface facts", bytemuck::cast_slice(&facts), storage),
            nodes: buffer("tree nodes", bytemuck::cast_slice(&nodes), storage),
            leafs: buffer("tree leafs", bytemuck::cast_slice(&leafs), storage),
            sampled: buffer(
                "sampled grids",
                bytemuck::bytes_of(&SampledGrids::zeroed()),
                uniform | wgpu::BufferUsages::COPY_DST,
            ),
            colours: buffer("mode colours", bytemuck::bytes_of(&colours()), uniform),
            nothing: buffer("no grid", &[0; 16], storage),
            bound: Mutex::new(None),
        }
    }

    /// Group 1 of surfaces in the modes, with these grids and evaluation.
    pub(super) fn group(
        &self,
        gpu: &Gpu,
        lightmaps: &Lightmaps,
        styles: &Styles,
        grids: Option<&GpuGrids>,
        probes: &ProbeOptions,
    ) -> wgpu::BindGroup {
        let stored = grids.and_then(|grids| grids.stored_legacy(gpu));
        let sampled = SampledGrids {
            legacy: legacy_grid(grids, stored.as_ref(), probes),
            sh: sh_grid(grids, probes),
        };
        gpu.queue
            .write_buffer(&self.sampled, 0, bytemuck::bytes_of(&sampled));
        let legacy = stored.unwrap_or_else(|| self.nothing.clone());
        let sh = grids.and_then(|grids| grids.sh.as_ref()?.first_coefficients());
        let sh = sh.map_or_else(|| self.nothing.clone(), |(buffer, _)| buffer.clone());
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bound) = bound.as_ref()
            && bound.legacy == legacy
            && bound.sh == sh
        {
            return bound.group.clone();
        }
        let more = [
            &self.facts,
            &self.nodes,
            &self.leafs,
            &self.sampled,
            &legacy,
            &sh,
            &self.colours,
        ];
        let layout = Layouts::new(&gpu.device).modes;
        let group = lightmaps.bind(gpu, &layout, styles, &more);
        *bound = Some(Bound {
            legacy,
            sh,
            group: group.clone(),
        });
        group
    }
}

fn facts(scene: &Scene, lightmaps: &Lightmaps) -> Vec<SurfaceFacts> {
    let number = |source| {
        let all = LightSource::ALL.iter();
        all.take_while(|other| **other != source).count() as u32
    };
    let mut facts: Vec<SurfaceFacts> = scene
        .surfaces
        .iter()
        .map(|surface| SurfaceFacts {
            layer: lightmaps.layer(surface.lightmap),
            light_by: number(scene.light_source(surface)),
            units_per_luxel: scene.units_per_luxel(surface).unwrap_or(0.0),
            root: root(scene, surface),
        })
        .collect();
    if facts.is_empty() {
        facts.push(SurfaceFacts::zeroed());
    }
    facts
}

fn child_number(child: Child) -> i32 {
    match child {
        Child::Node(node) => node as i32,
        Child::Leaf(leaf) => -1 - leaf as i32,
    }
}

/// The lowest part of the tree that holds all points in front of a surface: nearly all steps of their walks are the same.
/// The whole tree for what moves.
fn root(scene: &Scene, surface: &Surface) -> i32 {
    let is_still = surface.model == 0 && scene.material_of(surface).deforms.is_empty();
    let bsp = &scene.bsp;
    if !is_still || bsp.nodes.is_empty() || bsp.leafs.is_empty() {
        return 0;
    }
    let range = surface.indices.start as usize..surface.indices.end as usize;
    let corners = scene.indices.get(range).unwrap_or_default().iter();
    let corners = corners.filter_map(|index| scene.vertices.get(*index as usize));
    let first = corners
        .clone()
        .next()
        .map_or(Vec3::ZERO, |vertex| vertex.normal);
    let is_flat = first.length_squared() > 0.25
        && corners
            .clone()
            .all(|vertex| vertex.normal.dot(first) > 0.9999);
    // Of a curved surface normals between the vertices', or the triangles' own where those are missing, lead elsewhere.
    let (offset, margin) = if is_flat {
        (first.normalize_or_zero() * NUDGE, ROOT_MARGIN)
    } else {
        (Vec3::ZERO, NUDGE + ROOT_MARGIN)
    };
    let bounds = Aabb::from_points(corners.map(|vertex| vertex.position + offset)).grown(margin);
    let (centre, half) = (bounds.centre(), bounds.size() * 0.5);
    let mut child = Child::Node(0);
    // A sound tree is never deeper than it has nodes.
    for _ in 0..=bsp.nodes.len() {
        let Child::Node(number) = child else {
            break;
        };
        let node = bsp.nodes.get(number as usize);
        let Some((node, plane)) =
            node.and_then(|node| Some((node, bsp.planes.get(node.plane as usize)?)))
        else {
            return 0;
        };
        let (distance, reach) = (plane.distance(centre), plane.normal.abs().dot(half));
        if distance > reach {
            child = node.children[0];
        } else if distance < -reach {
            child = node.children[1];
        } else {
            break;
        }
    }
    child_number(child)
}

/// Nodes and leafs; of a map without a usable tree one node whose leaf is nowhere.
fn tree(bsp: &Bsp) -> (Vec<TreeNode>, Vec<TreeLeaf>) {
    let number = |value: Option<u32>| value.and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
    let mut nodes: Vec<TreeNode> = bsp
        .nodes
        .iter()
        .map(|node| {
            let plane = bsp.planes.get(node.plane as usize);
            TreeNode {
                normal: plane.map_or(Vec3::ZERO, |plane| plane.normal).to_array(),
                distance: plane.map_or(0.0, |plane| plane.dist),
                children: node.children.map(child_number),
                pad_a: 0,
                pad_b: 0,
            }
        })
        .collect();
    let leafs = bsp.leafs.iter().map(|leaf| TreeLeaf {
        cluster: number(leaf.cluster),
        area: number(leaf.area),
    });
    let mut leafs: Vec<TreeLeaf> = leafs.collect();
    if nodes.is_empty() || leafs.is_empty() {
        nodes = vec![TreeNode {
            children: [-1; 2],
            ..TreeNode::zeroed()
        }];
        leafs = vec![TreeLeaf {
            cluster: -1,
            area: -1,
        }];
    }
    (nodes, leafs)
}

fn colours() -> ModeColours {
    let rgba = |rgb: Vec3| rgb.extend(1.0).to_array();
    ModeColours {
        luxels: LUXEL_COLOURS.map(rgba),
        light_by: LIGHT_SOURCE_COLOURS.map(rgba),
        overdraw: rgba(OVERDRAW_STEP),
        clay: rgba(CLAY),
        nowhere: rgba(NOWHERE),
    }
}

fn legacy_grid(
    grids: Option<&GpuGrids>,
    stored: Option<&wgpu::Buffer>,
    probes: &ProbeOptions,
) -> SampledGrid {
    let spheres = grids.and_then(|grids| grids.legacy.as_ref());
    let (Some(spheres), Some(stored)) = (spheres, stored) else {
        return SampledGrid::zeroed();
    };
    let lattice = spheres.lattice;
    SampledGrid {
        origin: lattice.origin.to_array(),
        profile: match probes.legacy_profile {
            LegacyProfile::Ioq3 => 0,
            LegacyProfile::Plain => 1,
            LegacyProfile::Nearest => 2,
            LegacyProfile::Area => 3,
        },
        cell_size: lattice.cell_size.to_array(),
        points: u32::try_from(stored.size() / STORED_BYTES).unwrap_or(u32::MAX),
        counts: lattice.counts.to_array(),
        pad: 0,
    }
}

fn sh_grid(grids: Option<&GpuGrids>, probes: &ProbeOptions) -> SampledGrid {
    let spheres = grids.and_then(|grids| grids.sh.as_ref());
    let Some((spheres, (_, points))) = spheres.and_then(|s| Some((s, s.first_coefficients()?)))
    else {
        return SampledGrid::zeroed();
    };
    let lattice = spheres.lattice;
    SampledGrid {
        origin: lattice.origin.to_array(),
        profile: u32::from(probes.sh_profile.corners == ShCorners::Guide),
        cell_size: lattice.cell_size.to_array(),
        points,
        counts: lattice.counts.to_array(),
        pad: 0,
    }
}
