use glam::Affine3A;

use crate::math::Aabb;
use crate::render::gpu::Gpu;
use crate::render::shared;
use crate::scene::{Door, ModelInstance, Scene};
use crate::view::DoorStates;

/// Where the inline models stand, as far as that differs from their places in the file.
pub(super) struct Models {
    doors: Vec<Door>,
    places: Vec<ModelInstance>,
    /// Boxes around the surfaces of each model in its place in the file.
    boxes: Vec<Aabb>,
    /// World position now from that in the file, by model.
    moved: Vec<Affine3A>,
    pub(super) buffer: wgpu::Buffer,
    made_for: Option<DoorStates>,
}

impl Models {
    pub(super) fn new(gpu: &Gpu, scene: &Scene) -> Self {
        let mut boxes = vec![Aabb::EMPTY; scene.models.len()];
        for surface in scene.drawn_surfaces() {
            if let Some(bounds) = boxes.get_mut(surface.model as usize) {
                *bounds = bounds.union(surface.bounds);
            }
        }
        // A binding must hold one element at least.
        let count = scene.models.len().max(1);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("models"),
            size: (count * size_of::<shared::ModelPlace>()) as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let at_rest = vec![place(&Affine3A::IDENTITY); count];
        gpu.queue
            .write_buffer(&buffer, 0, bytemuck::cast_slice(&at_rest));
        Self {
            doors: scene.doors.clone(),
            places: scene.models.clone(),
            boxes,
            moved: vec![Affine3A::IDENTITY; count],
            buffer,
            made_for: None,
        }
    }

    /// Moves the doors whose state is another than at the last call; true when there was one whose place changed.
    pub(super) fn update(&mut self, queue: &wgpu::Queue, states: &DoorStates) -> bool {
        if self.made_for == Some(*states) {
            return false;
        }
        self.made_for = Some(*states);
        let mut has_changed = false;
        for (number, door) in self.doors.iter().enumerate() {
            let model = door.model as usize;
            let (Some(file), Some(moved)) = (self.places.get(model), self.moved.get_mut(model))
            else {
                continue;
            };
            let now = if states.is_drawn_open(&self.doors, number) {
                door.opened_from_shut(file)
            } else {
                Affine3A::IDENTITY
            };
            if *moved != now {
                *moved = now;
                has_changed = true;
                let at = (model * size_of::<shared::ModelPlace>()) as u64;
                queue.write_buffer(&self.buffer, at, bytemuck::bytes_of(&place(&now)));
            }
        }
        has_changed
    }

    /// All doors.
    pub(super) fn doors(&self) -> &[Door] {
        &self.doors
    }

    /// Number of models, the world included.
    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Box around all drawn of a model where it stands now.
    pub(super) fn bounds(&self, model: usize) -> Aabb {
        let file = self.boxes.get(model).copied().unwrap_or(Aabb::EMPTY);
        self.moved_box(model as u32, file)
    }

    /// A box in the world of a part of a model, moved with it.
    pub(super) fn moved_box(&self, model: u32, bounds: Aabb) -> Aabb {
        match self.moved.get(model as usize) {
            Some(moved) if *moved != Affine3A::IDENTITY && !bounds.is_empty() => {
                let corners = bounds.corners();
                Aabb::from_points(corners.map(|corner| moved.transform_point3(corner)))
            }
            _ => bounds,
        }
    }
}

/// Row by row.
fn place(moved: &Affine3A) -> shared::ModelPlace {
    let m = moved.matrix3;
    let row = |axis: usize| {
        [
            m.x_axis[axis],
            m.y_axis[axis],
            m.z_axis[axis],
            moved.translation[axis],
        ]
    };
    shared::ModelPlace {
        x: row(0),
        y: row(1),
        z: row(2),
    }
}
