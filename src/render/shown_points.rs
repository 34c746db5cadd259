use std::ops::Range;

use glam::{UVec3, Vec3};
use wgpu::util::DeviceExt as _;

use crate::format::lattice::Lattice;
use crate::math::Aabb;
use crate::render::frustum::{Frustum, Place};
use crate::render::gpu::Gpu;
use crate::render::grids::{GridSpheres, PointState};
use crate::render::layouts::{Layouts, bind_buffers};
use crate::view::{Camera, ProbeOptions, ProbeShow};

/// Points of a block along each axis.
pub(super) const BLOCK: u32 = 4;
/// How far a sphere of a pair stands beside its point, radii.
const PAIR_SPREAD: f32 = 1.08;
/// Spheres narrower than this are left out, pixels.
const SMALLEST_PIXELS: f32 = 1.0;
/// Farthest that a sphere reaches from its point, smallest cell sides: the largest radius, beside its point.
pub(super) const REACH: f32 = 0.5 * (1.0 + PAIR_SPREAD);
/// Two triangles of a sphere's four corners.
const CORNERS: [u32; 6] = [0, 1, 2, 2, 1, 3];

/// The points of a lattice by blocks of neighbours, block x fastest.
pub(super) struct Blocks<'a>(pub(super) &'a Lattice);

impl Blocks<'_> {
    /// Blocks along each axis.
    pub(super) fn counts(&self) -> UVec3 {
        self.0.counts.map(|count| count.div_ceil(BLOCK))
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.lattice().len().try_into().unwrap_or(usize::MAX)
    }

    /// First and last cell of block number `block`.
    fn cells(&self, block: usize) -> (UVec3, UVec3) {
        let first = self.lattice().cell(block) * BLOCK;
        (first, (first + (BLOCK - 1)).min(self.0.counts - 1))
    }

    /// Box around the points of block number `block`.
    pub(super) fn bounds(&self, block: usize) -> Aabb {
        let (first, last) = self.cells(block);
        Aabb {
            min: self.0.position(first),
            max: self.0.position(last),
        }
    }

    fn lattice(&self) -> Lattice {
        Lattice {
            counts: self.counts(),
            ..*self.0
        }
    }
}

/// Decides which spheres are in the picture.
struct Sieve {
    frustum: Frustum,
    eye: Vec3,
    /// Squared distance beyond which nothing is drawn.
    farthest_squared: f32,
    /// How far a sphere reaches from its point.
    margin: f32,
    hides_blocked: bool,
}

impl Sieve {
    fn new(camera: &Camera, size: (u32, u32), options: &ProbeOptions, smallest: f32) -> Self {
        let aspect = size.0 as f32 / size.1 as f32;
        let radius = options.size * smallest;
        let spread = if options.show == ProbeShow::Both {
            PAIR_SPREAD
        } else {
            0.0
        };
        let pixels_a_unit = size.0 as f32 * 0.5 / (camera.fov_x * 0.5).tan();
        let farthest = (2.0 * radius * pixels_a_unit / SMALLEST_PIXELS).min(options.distance);
        Self {
            frustum: Frustum::new(&camera.clip_from_world(aspect)),
            eye: camera.eye,
            farthest_squared: farthest * farthest,
            margin: radius * (1.0 + spread),
            hides_blocked: options.hide_in_solid,
        }
    }

    fn place(&self, bounds: &Aabb) -> Place {
        let nearest = self.eye.clamp(bounds.min, bounds.max);
        if nearest.distance_squared(self.eye) > self.farthest_squared {
            return Place::Outside;
        }
        self.frustum.place(bounds, self.margin)
    }

    fn shows(&self, point: Vec3, state: PointState, place: Place) -> bool {
        let is_drawn = match state {
            PointState::Unknown => false,
            PointState::Free => true,
            PointState::Blocked => !self.hides_blocked,
        };
        is_drawn
            && point.distance_squared(self.eye) < self.farthest_squared
            && (place == Place::Inside || self.frustum.meets_ball(point, self.margin))
    }
}

/// Numbers of the points of `spheres` that are in the picture, block by block. `sights` says by block whether the eye's
/// cluster sees it.
fn points_in_picture(
    spheres: &GridSpheres,
    sieve: &Sieve,
    sights: Option<&[bool]>,
    mut add: impl FnMut(usize),
) {
    let lattice = &spheres.lattice;
    let blocks = Blocks(lattice);
    for block in 0..blocks.len() {
        if sights.is_some_and(|sights| !sights[block]) {
            continue;
        }
        let place = sieve.place(&blocks.bounds(block));
        if place == Place::Outside {
            continue;
        }
        let (first, last) = blocks.cells(block);
        for z in first.z..=last.z {
            for y in first.y..=last.y {
                for x in first.x..=last.x {
                    let cell = UVec3::new(x, y, z);
                    let index = lattice.index(cell);
                    let state = spheres.states.get(index);
                    let point = lattice.position(cell);
                    if state.is_some_and(|state| sieve.shows(point, *state, place)) {
                        add(index);
                    }
                }
            }
        }
    }
}

/// Which spheres a frame draws, on the GPU. What goes up each frame is four bytes a sphere in the picture, and nothing when
/// those stay the same.
pub(super) struct ShownPoints {
    /// By sphere: its point's index in its part.
    points: Vec<u32>,
    uploaded: Vec<u32>,
    scratch: Vec<usize>,
    /// By part of the grid: its run of `points`.
    runs: Vec<Range<u32>>,
    list: Option<(wgpu::Buffer, wgpu::BindGroup)>,
    corners: Option<wgpu::Buffer>,
}

impl ShownPoints {
    pub(super) fn new() -> Self {
        Self {
            points: Vec::new(),
            uploaded: Vec::new(),
            scratch: Vec::new(),
            runs: Vec::new(),
            list: None,
            corners: None,
        }
    }

    /// Finds the spheres in the picture.
    pub(super) fn update(
        &mut self,
        gpu: &Gpu,
        spheres: &GridSpheres,
        (camera, size): (&Camera, (u32, u32)),
        options: &ProbeOptions,
        sights: Option<&[bool]>,
    ) {
        let smallest = spheres.lattice.cell_size.min_element();
        let sieve = Sieve::new(camera, size, options, smallest);
        self.scratch.clear();
        points_in_picture(spheres, &sieve, sights, |index| self.scratch.push(index));
        self.points.clear();
        self.runs.clear();
        for part in &spheres.parts {
            let start = self.points.len() as u32;
            let held = part.first..part.first + part.count as usize;
            let of_part = self.scratch.iter().filter(|index| held.contains(index));
            self.points
                .extend(of_part.map(|index| (index - part.first) as u32));
            self.runs.push(start..self.points.len() as u32);
        }
        self.upload(gpu);
    }

    fn upload(&mut self, gpu: &Gpu) {
        if self.points.is_empty() {
            return;
        }
        let bytes: &[u8] = bytemuck::cast_slice(&self.points);
        let size = (bytes.len() as u64).next_power_of_two();
        if !matches!(&self.list, Some((list, _)) if list.size() >= size) {
            let layouts = Layouts::new(&gpu.device);
            let list = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("shown points"),
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let layout = &layouts.shown_points;
            let group = bind_buffers(&gpu.device, "shown points", layout, &[&list]);
            self.list = Some((list, group));
            self.corners = Some(corners(gpu, (size / 4) as u32));
            self.uploaded.clear();
        }
        if self.uploaded == self.points {
            return;
        }
        if let Some((list, _)) = &self.list {
            gpu.queue.write_buffer(list, 0, bytes);
            self.uploaded.clone_from(&self.points);
        }
    }

    /// Binds what all parts need; false when there is nothing to draw.
    pub(super) fn bind(&self, pass: &mut wgpu::RenderPass<'_>) -> bool {
        let (Some((_, group)), Some(corners)) = (&self.list, &self.corners) else {
            return false;
        };
        pass.set_bind_group(2, group, &[]);
        pass.set_index_buffer(corners.slice(..), wgpu::IndexFormat::Uint32);
        !self.points.is_empty()
    }

    /// By part of the grid: which spheres are its own.
    pub(super) fn runs(&self) -> &[Range<u32>] {
        &self.runs
    }

    /// The indices that draw `run`.
    pub(super) fn indices(run: &Range<u32>) -> Range<u32> {
        let each = CORNERS.len() as u32;
        run.start * each..run.end * each
    }
}

/// The triangles of so many spheres. Drawing one instance each of four corners costs a software renderer far more.
fn corners(gpu: &Gpu, spheres: u32) -> wgpu::Buffer {
    let indices: Vec<u32> = (0..spheres)
        .flat_map(|sphere| CORNERS.map(|corner| 4 * sphere + corner))
        .collect();
    gpu.device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("sphere corners"),
            contents: bytemuck::cast_slice(&indices),
            usage: wgpu::BufferUsages::INDEX,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice() -> Lattice {
        Lattice {
            origin: Vec3::new(-320.0, -160.0, -64.0),
            cell_size: Vec3::new(32.0, 32.0, 16.0),
            counts: UVec3::new(21, 11, 9),
        }
    }

    fn shown(options: &ProbeOptions, camera: &Camera, sights: Option<&[bool]>) -> Vec<usize> {
        let lattice = lattice();
        let mut states = vec![PointState::Free; lattice.len() as usize];
        states[7] = PointState::Unknown;
        states[8] = PointState::Blocked;
        let spheres = GridSpheres {
            lattice,
            states,
            parts: Vec::new(),
            evaluated: std::sync::Mutex::default(),
        };
        let sieve = Sieve::new(camera, (800, 600), options, 16.0);
        let mut found = Vec::new();
        points_in_picture(&spheres, &sieve, sights, |index| found.push(index));
        found.sort_unstable();
        found
    }

    #[test]
    fn blocks_hold_each_point_once() {
        let lattice = lattice();
        let blocks = Blocks(&lattice);
        assert_eq!(blocks.counts(), UVec3::new(6, 3, 3));
        let everything = ProbeOptions {
            // Wider than a pixel at the far end too.
            size: 0.5,
            distance: f32::INFINITY,
            hide_in_solid: false,
            ..ProbeOptions::default()
        };
        // From far enough to see all of it.
        let camera = Camera {
            eye: Vec3::new(-1000.0, 0.0, 0.0),
            ..Camera::default()
        };
        let mut expected: Vec<usize> = (0..lattice.len() as usize).collect();
        expected.remove(7);
        assert_eq!(shown(&everything, &camera, None), expected);
        let hidden = ProbeOptions {
            hide_in_solid: true,
            ..everything
        };
        expected.remove(7);
        assert_eq!(shown(&hidden, &camera, None), expected);

        let mut sights = vec![true; blocks.len()];
        sights[0] = false;
        let seen = shown(&everything, &camera, Some(&sights));
        // The block of 64, and the point about which nothing is known.
        assert_eq!(seen.len(), lattice.len() as usize - 65);
        assert!(!seen.contains(&lattice.index(UVec3::new(3, 3, 3))));
        assert!(seen.contains(&lattice.index(UVec3::new(4, 3, 3))));
    }

    #[test]
    fn what_the_picture_and_the_distance_hold_is_what_is_shown() {
        let options = ProbeOptions {
            distance: 200.0,
            size: 0.3,
            ..ProbeOptions::default()
        };
        let camera = Camera {
            eye: Vec3::new(-100.0, 13.0, 5.0),
            yaw: 0.4,
            pitch: 0.2,
            fov_x: 1.2,
        };
        let lattice = lattice();
        let clip = camera.clip_from_world(800.0 / 600.0);
        let found = shown(&options, &camera, None);
        let mut inside = 0;
        for index in 0..lattice.len() as usize {
            let point = lattice.position_of(index);
            let at = clip * point.extend(1.0);
            let is_near = point.distance(camera.eye) < options.distance;
            let is_inside = at.x.abs() <= at.w && at.y.abs() <= at.w && at.z <= at.w;
            inside += usize::from(is_near && is_inside);
            if is_near && is_inside {
                assert!(found.contains(&index), "{point} is in the picture");
            }
            // Behind the eye by more than a sphere.
            let ahead = (point - camera.eye).dot(camera.forward());
            assert!(!found.contains(&index) || is_near && ahead > -5.0);
        }
        assert!(
            inside > 20 && found.len() < 2 * inside,
            "{inside} {}",
            found.len()
        );
    }

    #[test]
    fn spheres_narrower_than_a_pixel_are_left_out() {
        let camera = Camera {
            eye: Vec3::new(-320.0, 0.0, 0.0),
            fov_x: std::f32::consts::FRAC_PI_2,
            ..Camera::default()
        };
        let options = ProbeOptions {
            distance: f32::INFINITY,
            size: 0.05,
            ..ProbeOptions::default()
        };
        // 1.6 units across are a pixel at 400 · 1.6 units; a tenth of the size at a tenth of that.
        let far = lattice().index(UVec3::new(15, 5, 4));
        assert!(shown(&options, &camera, None).contains(&far));
        let tiny = ProbeOptions {
            size: 0.005,
            ..options
        };
        let found = shown(&tiny, &camera, None);
        assert!(!found.is_empty() && !found.contains(&far));
    }
}
