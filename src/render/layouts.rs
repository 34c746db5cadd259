use crate::render::shared::Stage;

/// Bind group layouts. Equal layouts of one device are interchangeable, so every owner makes its own.
pub(super) struct Layouts {
    /// Group 0: the frame.
    pub(super) frame: wgpu::BindGroupLayout,
    /// Group 1 of surfaces: lightmap pages, and light in styles: vertices, surfaces, levels.
    pub(super) pages: wgpu::BindGroupLayout,
    /// Group 1 of surfaces in the modes of `modes.wgsl`: the same, then facts of surfaces, the tree, the grids, colours.
    pub(super) modes: wgpu::BindGroupLayout,
    /// Group 2 of surfaces: an image.
    pub(super) image: wgpu::BindGroupLayout,
    /// Group 3 of surfaces: a stage, by dynamic offset, where the inline models are, and sprites.
    pub(super) stage: wgpu::BindGroupLayout,
    /// Group 1 of spheres: a part of a grid.
    pub(super) grid: wgpu::BindGroupLayout,
    /// Group 2 of spheres: which points are shown.
    pub(super) shown_points: wgpu::BindGroupLayout,
    /// Group 1 of flares: all, stages, levels, pictures.
    pub(super) flares: wgpu::BindGroupLayout,
    /// Group 0 of the gamma pass: the picture, the exponent.
    pub(super) gamma: wgpu::BindGroupLayout,
    /// Group 1 of marks: light on the sample sphere.
    pub(super) sample: wgpu::BindGroupLayout,
}

impl Layouts {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let pages = [
            texture(wgpu::TextureViewDimension::D2Array),
            sampler(),
            storage(),
            storage(),
            uniform(None),
        ];
        Self {
            frame: layout(device, "frame", &[uniform(None)]),
            pages: layout(device, "lightmap pages", &pages),
            modes: modes_layout(device, &pages),
            image: layout(
                device,
                "image",
                &[texture(wgpu::TextureViewDimension::D2), sampler()],
            ),
            stage: stage_layout(device),
            grid: layout(device, "grid", &[uniform(None), storage(), storage()]),
            shown_points: layout(device, "shown points", &[storage()]),
            flares: flares_layout(device),
            gamma: layout(
                device,
                "gamma",
                &[texture(wgpu::TextureViewDimension::D2), uniform(None)],
            ),
            sample: layout(device, "sample light", &[uniform(None)]),
        }
    }
}

impl Layouts {
    /// Groups 0 and 2 of what fades flares: the frame; flares, levels, the step, depths.
    pub(super) fn flare_fade(device: &wgpu::Device) -> [wgpu::BindGroupLayout; 2] {
        let levels = wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: false },
            has_dynamic_offset: false,
            min_binding_size: None,
        };
        // Some back ends read depth textures only as ones that compare, which a plain look-up is not.
        let depths = wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let compute = |ty| (wgpu::ShaderStages::COMPUTE, ty);
        let fade = [storage(), levels, uniform(None), depths];
        [
            staged_layout(
                device,
                "frame of flares",
                std::iter::once(compute(uniform(None))),
            ),
            staged_layout(device, "flare fade", fade.into_iter().map(compute)),
        ]
    }
}

fn flares_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let (vertex, fragment) = (wgpu::ShaderStages::VERTEX, wgpu::ShaderStages::FRAGMENT);
    let bindings = [
        (vertex, storage()),
        (vertex | fragment, storage()),
        (vertex, storage()),
        (fragment, texture(wgpu::TextureViewDimension::D2Array)),
        (fragment, sampler()),
    ];
    staged_layout(device, "flares", bindings.into_iter())
}

/// Buffers that the fragment stage of the inspecting modes reads, pages and styles not counted.
const INSPECTED_BUFFERS: u32 = 5;

/// Whether the device has enough buffers for the modes of `modes.wgsl`.
pub(super) fn can_inspect(device: &wgpu::Device) -> bool {
    device.limits().max_storage_buffers_per_shader_stage >= INSPECTED_BUFFERS
}

/// Only what a stage reads counts for its limit: styles are read by the vertex stage, facts, tree and grids by the other.
fn modes_layout(device: &wgpu::Device, pages: &[wgpu::BindingType]) -> wgpu::BindGroupLayout {
    let (vertex, fragment) = (wgpu::ShaderStages::VERTEX, wgpu::ShaderStages::FRAGMENT);
    let is_buffer = |ty: &wgpu::BindingType| *ty == storage();
    let own = pages.iter().map(|ty| {
        let stages = if is_buffer(ty) {
            vertex
        } else {
            vertex | fragment
        };
        (stages, *ty)
    });
    let facts_and_tree = [storage(), storage(), storage()];
    let grids_and_colours = [uniform(None), storage(), storage(), uniform(None)];
    let more = facts_and_tree.into_iter().chain(grids_and_colours);
    let more = more.map(|ty| (fragment, ty));
    if can_inspect(device) {
        staged_layout(device, "modes", own.chain(more))
    } else {
        staged_layout(device, "no modes", own)
    }
}

/// A stage is read by both stages, where the models are only by the one that places vertices.
fn stage_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let (vertex, fragment) = (wgpu::ShaderStages::VERTEX, wgpu::ShaderStages::FRAGMENT);
    let size = wgpu::BufferSize::new(size_of::<Stage>() as u64);
    let bindings = [
        (vertex | fragment, uniform(size)),
        (vertex, storage()),
        (vertex, storage()),
    ];
    staged_layout(device, "stage", bindings.into_iter())
}

fn layout(
    device: &wgpu::Device,
    label: &str,
    bindings: &[wgpu::BindingType],
) -> wgpu::BindGroupLayout {
    let both = wgpu::ShaderStages::VERTEX_FRAGMENT;
    staged_layout(device, label, bindings.iter().map(|ty| (both, *ty)))
}

fn staged_layout(
    device: &wgpu::Device,
    label: &str,
    bindings: impl Iterator<Item = (wgpu::ShaderStages, wgpu::BindingType)>,
) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..)
        .zip(bindings)
        .map(|(binding, (visibility, ty))| wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(label),
        entries: &entries,
    })
}

/// A uniform buffer; with a size it is picked by a dynamic offset.
fn uniform(size: Option<wgpu::BufferSize>) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: size.is_some(),
        min_binding_size: size,
    }
}

fn storage() -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

fn texture(view_dimension: wgpu::TextureViewDimension) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension,
        multisampled: false,
    }
}

fn sampler() -> wgpu::BindingType {
    wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering)
}

/// A bind group of whole buffers, in the order of their bindings.
pub(super) fn bind_buffers(
    device: &wgpu::Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}

/// A bind group of a texture and a sampler.
pub(super) fn bind_texture(
    device: &wgpu::Device,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    view: &wgpu::TextureView,
    sampler: &wgpu::Sampler,
) -> wgpu::BindGroup {
    let entries = [
        wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::TextureView(view),
        },
        wgpu::BindGroupEntry {
            binding: 1,
            resource: wgpu::BindingResource::Sampler(sampler),
        },
    ];
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}
