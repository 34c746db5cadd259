use std::collections::HashMap;

use crate::format::material_script::{BlendFactor, Cull};
use crate::render::geometry::GpuVertex;
use crate::render::layouts::Layouts;
use crate::render::overlay::{LineVertex, MarkVertex};
use crate::render::{DEPTH_FORMAT, TARGET_FORMAT, wgsl};

/// `polygonOffset` of the engine is factor −1, units −2 with depth growing away from the eye; ours grows towards it. A unit
/// of a float depth is far smaller than one of the engine's 24 bits, hence the larger constant.
const POLYGON_OFFSET: wgpu::DepthBiasState = wgpu::DepthBiasState {
    constant: 64,
    slope_scale: 1.0,
    clamp: 0.0,
};

/// Which program draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Program {
    /// A stage of a surface.
    World,
    /// The same of a surface with light styles.
    Styled,
    /// A face of a sky box.
    SkyBox,
    /// A cloud layer.
    Cloud,
    /// A sky of one colour.
    SkyFlat,
    /// A surface in a mode that looks at one of its properties, with or without light styles.
    Inspect,
    /// A layer of a sky, counted.
    CountedSky,
}

/// All that distinguishes the pipelines of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SurfaceKey {
    pub(super) program: Program,
    pub(super) blend: Option<(BlendFactor, BlendFactor)>,
    pub(super) depth_write: bool,
    pub(super) depth_equal: bool,
    pub(super) cull: Cull,
    pub(super) offset: bool,
}

impl SurfaceKey {
    /// Whether it draws a part of the sky: each of these has a depth of its own.
    pub(super) fn is_sky(self) -> bool {
        match self.program {
            Program::SkyBox | Program::Cloud | Program::SkyFlat | Program::CountedSky => true,
            Program::World | Program::Styled | Program::Inspect => false,
        }
    }

    /// Whether its program is one of `modes.wgsl`, which wants more in group 1.
    pub(super) fn is_inspecting(self) -> bool {
        matches!(self.program, Program::Inspect | Program::CountedSky)
    }
}

/// All pipelines; those of surfaces are made when first needed.
pub(super) struct Pipelines {
    world: wgpu::ShaderModule,
    sky: wgpu::ShaderModule,
    /// Compiled when first needed.
    modes: Option<wgpu::ShaderModule>,
    surface_layout: wgpu::PipelineLayout,
    modes_layout: wgpu::PipelineLayout,
    surfaces: HashMap<SurfaceKey, wgpu::RenderPipeline>,
    pub(super) spheres_legacy: wgpu::RenderPipeline,
    pub(super) spheres_sh: wgpu::RenderPipeline,
    pub(super) marks: wgpu::RenderPipeline,
    pub(super) lines: wgpu::RenderPipeline,
    pub(super) wire: wgpu::RenderPipeline,
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, layouts: &Layouts) -> Self {
        let spheres = wgsl::compile(device, &wgsl::SPHERES);
        let lines = wgsl::compile(device, &wgsl::LINES);
        let marks = wgsl::compile(device, &wgsl::MARKS);
        let surface_layout = pipeline_layout(
            device,
            "surfaces",
            &[
                &layouts.frame,
                &layouts.pages,
                &layouts.image,
                &layouts.stage,
            ],
        );
        let modes_layout = pipeline_layout(
            device,
            "modes",
            &[
                &layouts.frame,
                &layouts.modes,
                &layouts.image,
                &layouts.stage,
            ],
        );
        let grid_layout = pipeline_layout(
            device,
            "spheres",
            &[&layouts.frame, &layouts.grid, &layouts.shown_points],
        );
        let mark_layout = pipeline_layout(device, "marks", &[&layouts.frame, &layouts.sample]);
        let line_layout = pipeline_layout(device, "lines", &[&layouts.frame]);
        let wire_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("edges"),
            bind_group_layouts: &[Some(&layouts.frame), None, None, Some(&layouts.stage)],
            immediate_size: 0,
        });
        let sphere = |label, vertex, fragment| {
            Recipe::new(label, &spheres, &grid_layout, vertex, fragment).build(device)
        };
        Self {
            world: wgsl::compile(device, &wgsl::WORLD),
            sky: wgsl::compile(device, &wgsl::SKY),
            modes: None,
            surface_layout,
            modes_layout,
            surfaces: HashMap::new(),
            spheres_legacy: sphere("legacy spheres", "vs_legacy", "fs_legacy"),
            spheres_sh: sphere("SH spheres", "vs_sh", "fs_sh"),
            marks: Recipe {
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                buffer: Some(MarkVertex::LAYOUT),
                ..Recipe::new("marks", &marks, &mark_layout, "vs_mark", "fs_mark")
            }
            .build(device),
            lines: Recipe {
                topology: wgpu::PrimitiveTopology::LineList,
                buffer: Some(LineVertex::LAYOUT),
                ..Recipe::new("lines", &lines, &line_layout, "vs_line", "fs_line")
            }
            .build(device),
            wire: Recipe {
                topology: wgpu::PrimitiveTopology::LineList,
                depth_write: false,
                buffer: Some(GpuVertex::POSITION),
                ..Recipe::new("edges", &lines, &wire_layout, "vs_wire", "fs_line")
            }
            .build(device),
        }
    }

    /// Makes the pipeline for `key` unless it is there.
    pub(super) fn ensure(&mut self, device: &wgpu::Device, key: SurfaceKey) {
        if self.surfaces.contains_key(&key) {
            return;
        }
        let modes = if key.is_inspecting() {
            self.modes
                .get_or_insert_with(|| wgsl::compile(device, &wgsl::MODES))
        } else {
            &self.world
        };
        let (module, vertex, fragment) = match key.program {
            Program::World => (&self.world, "vs_world", "fs_world"),
            Program::Styled => (&self.world, "vs_styled", "fs_styled"),
            Program::SkyBox => (&self.sky, "vs_sky", "fs_sky_box"),
            Program::Cloud => (&self.sky, "vs_sky", "fs_cloud"),
            Program::SkyFlat => (&self.sky, "vs_sky", "fs_sky_flat"),
            Program::Inspect => (modes, "vs_mode", "fs_mode"),
            Program::CountedSky => (modes, "vs_overdraw_sky", "fs_overdraw_sky"),
        };
        let buffer = if key.is_sky() {
            GpuVertex::POSITION
        } else {
            GpuVertex::LAYOUT
        };
        let layout = if key.is_inspecting() {
            &self.modes_layout
        } else {
            &self.surface_layout
        };
        let recipe = Recipe {
            buffer: Some(buffer),
            blend: key.blend.map(blend_state),
            depth_write: key.depth_write,
            compare: if key.is_sky() {
                // Where two skies overlap in the picture the second is not drawn over the first.
                wgpu::CompareFunction::Greater
            } else if key.depth_equal {
                wgpu::CompareFunction::Equal
            } else {
                wgpu::CompareFunction::GreaterEqual
            },
            // Front faces are clockwise in the file; the engine's default hides the others.
            cull: match key.cull {
                Cull::BackFaces => Some(wgpu::Face::Back),
                Cull::FrontFaces => Some(wgpu::Face::Front),
                Cull::Nothing => None,
            },
            bias: if key.offset {
                POLYGON_OFFSET
            } else {
                wgpu::DepthBiasState::default()
            },
            ..Recipe::new("surfaces", module, layout, vertex, fragment)
        };
        let pipeline = recipe.build(device);
        self.surfaces.insert(key, pipeline);
    }

    /// How many pipelines of surfaces were made.
    pub(super) fn surface_count(&self) -> usize {
        self.surfaces.len()
    }

    /// The pipeline for `key`, if [`Pipelines::ensure`] made it.
    pub(super) fn surface(&self, key: SurfaceKey) -> Option<&wgpu::RenderPipeline> {
        self.surfaces.get(&key)
    }
}

fn pipeline_layout(
    device: &wgpu::Device,
    label: &str,
    groups: &[&wgpu::BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = groups.iter().map(|group| Some(*group)).collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(label),
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}

/// A pipeline that draws one triangle over the whole target, without depth.
pub(super) fn fullscreen_pipeline(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    module: &wgpu::ShaderModule,
    vertex: &str,
    fragment: &str,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(fragment),
        layout: Some(&pipeline_layout(device, fragment, &[layout])),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some(fragment),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(TARGET_FORMAT.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// What differs between pipelines, with defaults for the rest.
struct Recipe<'a> {
    label: &'a str,
    module: &'a wgpu::ShaderModule,
    layout: &'a wgpu::PipelineLayout,
    vertex: &'a str,
    fragment: &'a str,
    buffer: Option<wgpu::VertexBufferLayout<'a>>,
    blend: Option<wgpu::BlendState>,
    depth_write: bool,
    compare: wgpu::CompareFunction,
    cull: Option<wgpu::Face>,
    bias: wgpu::DepthBiasState,
    topology: wgpu::PrimitiveTopology,
}

impl<'a> Recipe<'a> {
    fn new(
        label: &'a str,
        module: &'a wgpu::ShaderModule,
        layout: &'a wgpu::PipelineLayout,
        vertex: &'a str,
        fragment: &'a str,
    ) -> Self {
        Self {
            label,
            module,
            layout,
            vertex,
            fragment,
            buffer: None,
            blend: None,
            depth_write: true,
            compare: wgpu::CompareFunction::GreaterEqual,
            cull: None,
            bias: wgpu::DepthBiasState::default(),
            topology: wgpu::PrimitiveTopology::TriangleList,
        }
    }

    fn build(self, device: &wgpu::Device) -> wgpu::RenderPipeline {
        let buffers: Vec<_> = self.buffer.into_iter().map(Some).collect();
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(self.label),
            layout: Some(self.layout),
            vertex: wgpu::VertexState {
                module: self.module,
                entry_point: Some(self.vertex),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &buffers,
            },
            primitive: wgpu::PrimitiveState {
                topology: self.topology,
                front_face: wgpu::FrontFace::Cw,
                cull_mode: self.cull,
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(self.depth_write),
                depth_compare: Some(self.compare),
                stencil: wgpu::StencilState::default(),
                bias: self.bias,
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: Some(wgpu::FragmentState {
                module: self.module,
                entry_point: Some(self.fragment),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(wgpu::ColorTargetState {
                    format: TARGET_FORMAT,
                    blend: self.blend,
                    // The target stays opaque, so destination alpha is 1 as in the engine's frame buffer.
                    write_mask: wgpu::ColorWrites::COLOR,
                })],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

fn blend_state((source, destination): (BlendFactor, BlendFactor)) -> wgpu::BlendState {
    let factor = |factor| match factor {
        BlendFactor::One => wgpu::BlendFactor::One,
        BlendFactor::Zero => wgpu::BlendFactor::Zero,
        BlendFactor::SrcColor => wgpu::BlendFactor::Src,
        BlendFactor::OneMinusSrcColor => wgpu::BlendFactor::OneMinusSrc,
        BlendFactor::DstColor => wgpu::BlendFactor::Dst,
        BlendFactor::OneMinusDstColor => wgpu::BlendFactor::OneMinusDst,
        BlendFactor::SrcAlpha => wgpu::BlendFactor::SrcAlpha,
        BlendFactor::OneMinusSrcAlpha => wgpu::BlendFactor::OneMinusSrcAlpha,
        BlendFactor::DstAlpha => wgpu::BlendFactor::DstAlpha,
        BlendFactor::OneMinusDstAlpha => wgpu::BlendFactor::OneMinusDstAlpha,
        BlendFactor::SrcAlphaSaturate => wgpu::BlendFactor::SrcAlphaSaturated,
    };
    wgpu::BlendState {
        color: wgpu::BlendComponent {
            src_factor: factor(source),
            dst_factor: factor(destination),
            operation: wgpu::BlendOperation::Add,
        },
        alpha: wgpu::BlendComponent::REPLACE,
    }
}
