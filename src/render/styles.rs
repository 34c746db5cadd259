use std::sync::{Mutex, PoisonError};

use bytemuck::Zeroable as _;
use wgpu::util::DeviceExt as _;

use crate::render::gpu::Gpu;
use crate::render::shared;
use crate::scene::{Scene, StyledLight, Surface};
use crate::view::StyleLevels;

/// Number of a slot without a style; its level is 0.
const NO_STYLE: u32 = 256;

/// Surfaces with light styles while they are collected.
#[derive(Default)]
pub(super) struct StyledSurfaces {
    surfaces: Vec<shared::StyledSurface>,
    vertices: Vec<shared::StyledVertex>,
}

impl StyledSurfaces {
    /// Adds a surface; `layer` is the array layer of a lightmap page.
    pub(super) fn push(&mut self, light: &StyledLight, layer: impl Fn(Option<u32>) -> u32) {
        let style = |style: Option<u8>| style.map_or(NO_STYLE, u32::from);
        // Light that is in no page is vertex light or none: the white layer once, as for other surfaces.
        let is_paged = light.pages.iter().any(Option::is_some);
        self.surfaces.push(shared::StyledSurface {
            layers: light.pages.map(|slot| layer(slot.map(|(_, page)| page))),
            page_styles: if is_paged {
                light.pages.map(|slot| style(slot.map(|(style, _)| style)))
            } else {
                [0, NO_STYLE, NO_STYLE, NO_STYLE]
            },
            vertex_styles: light.vertex.map(style),
        });
    }

    /// Adds a vertex of the surface pushed last, `number` being its number in the scene, and returns its number here.
    pub(super) fn push_vertex(&mut self, scene: &Scene, light: &StyledLight, number: u32) -> u32 {
        let slot = number
            .wrapping_sub(light.first_vertex)
            .wrapping_add(light.first_light);
        let slots = scene.slot_lights.get(slot as usize);
        let mut vertex = shared::StyledVertex {
            surface: self.surfaces.len().saturating_sub(1) as u32,
            ..shared::StyledVertex::zeroed()
        };
        if let Some(slots) = slots {
            [vertex.st_1, vertex.st_2, vertex.st_3] = slots.lightmap_st.map(|st| st.to_array());
            [vertex.colour_1, vertex.colour_2, vertex.colour_3] =
                slots.colour.map(u32::from_le_bytes);
        }
        self.vertices.push(vertex);
        self.vertices.len() as u32 - 1
    }
}

/// Whether `surface` is drawn with light styles.
pub(super) fn is_styled(scene: &Scene, surface: &Surface) -> bool {
    surface.styled.is_some() && !scene.material_of(surface).is_sky()
}

/// Light styles on the GPU.
pub(super) struct Styles {
    pub(super) vertices: wgpu::Buffer,
    pub(super) surfaces: wgpu::Buffer,
    pub(super) levels: wgpu::Buffer,
    uploaded: Mutex<Option<StyleLevels>>,
}

impl Styles {
    pub(super) fn new(gpu: &Gpu, styled: &StyledSurfaces) -> Self {
        // A binding must hold one element at least.
        let storage = |label, contents: &[u8], least: usize| {
            let mut contents = contents.to_vec();
            contents.resize(contents.len().max(least), 0);
            gpu.device
                .create_buffer_init(&wgpu::util::BufferInitDescriptor {
                    label: Some(label),
                    contents: &contents,
                    usage: wgpu::BufferUsages::STORAGE,
                })
        };
        Self {
            vertices: storage(
                "styled vertices",
                bytemuck::cast_slice(&styled.vertices),
                size_of::<shared::StyledVertex>(),
            ),
            surfaces: storage(
                "styled surfaces",
                bytemuck::cast_slice(&styled.surfaces),
                size_of::<shared::StyledSurface>(),
            ),
            levels: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("style levels"),
                size: size_of::<shared::StyleLevels>() as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            uploaded: Mutex::new(None),
        }
    }

    /// Uploads the levels unless they are there.
    pub(super) fn prepare(&self, queue: &wgpu::Queue, levels: &StyleLevels) {
        let mut uploaded = self.uploaded.lock().unwrap_or_else(PoisonError::into_inner);
        if *uploaded == Some(*levels) {
            return;
        }
        let mut uniform = shared::StyleLevels::zeroed();
        for (level, percent) in uniform
            .levels
            .as_flattened_mut()
            .iter_mut()
            .zip(levels.percent)
        {
            *level = f32::from(percent) / 100.0;
        }
        queue.write_buffer(&self.levels, 0, bytemuck::bytes_of(&uniform));
        *uploaded = Some(*levels);
    }
}
