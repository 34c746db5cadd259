use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use crate::render::shared::SampleLight;
use crate::view::{Camera, CornerMark, Overlays, SampleMark, SphereLight};

/// Segments of the ring around the selected sphere.
const RING_SEGMENTS: u32 = 64;
/// Rings over the sphere's radius; two, so that they show on any background.
const RINGS: [(f32, Vec4); 2] = [
    (1.16, Vec4::new(1.0, 0.85, 0.2, 1.0)),
    (1.22, Vec4::new(0.1, 0.08, 0.0, 1.0)),
];
/// Colour of the selected surface's boundary.
const OUTLINE: Vec4 = Vec4::new(1.0, 0.62, 0.1, 1.0);
/// Colour of corners that do not take part.
const SKIPPED: Vec3 = Vec3::new(0.9, 0.12, 0.1);
/// Colour of a corner of no weight.
const LIGHT_WEIGHT: Vec3 = Vec3::new(0.25, 0.4, 0.75);
/// Colour of a corner of full weight.
const FULL_WEIGHT: Vec3 = Vec3::new(1.0, 0.9, 0.3);

/// A sphere of one colour; alpha 0 asks for the sample's light.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct MarkVertex {
    centre: [f32; 3],
    radius: f32,
    colour: [f32; 4],
}

impl MarkVertex {
    const ATTRIBUTES: [wgpu::VertexAttribute; 3] =
        wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32, 2 => Float32x4];

    /// One an instance.
    pub(super) const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &Self::ATTRIBUTES,
    };
}

/// An end of a line.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct LineVertex {
    position: [f32; 3],
    colour: [f32; 4],
}

impl LineVertex {
    pub(super) fn new(position: Vec3, colour: Vec4) -> Self {
        Self {
            position: position.to_array(),
            colour: colour.to_array(),
        }
    }

    const ATTRIBUTES: [wgpu::VertexAttribute; 2] =
        wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x4];

    pub(super) const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &Self::ATTRIBUTES,
    };
}

/// What [`Overlays`] become; kept between frames so that no memory is taken each time.
#[derive(Default)]
pub(super) struct OverlayGeometry {
    pub(super) marks: Vec<MarkVertex>,
    pub(super) lines: Vec<LineVertex>,
    pub(super) light: Option<SampleLight>,
}

impl OverlayGeometry {
    /// Replaces the contents.
    pub(super) fn build(&mut self, overlays: &Overlays, camera: &Camera) {
        self.marks.clear();
        self.lines.clear();
        self.light = None;
        if let Some(sample) = &overlays.sample {
            self.sample(sample);
        }
        for [from, to] in overlays.outline.iter().flat_map(|outline| outline.iter()) {
            self.line(*from, *to, OUTLINE);
        }
        for line in &overlays.lines {
            self.line(line.from, line.to, line.rgb.extend(1.0));
        }
        if let Some((centre, radius)) = overlays.selected {
            for (scale, colour) in RINGS {
                self.ring(centre, radius * scale, colour, camera);
            }
        }
    }

    fn sample(&mut self, sample: &SampleMark) {
        self.light = Some(sample_light(&sample.light));
        self.marks.push(MarkVertex {
            centre: sample.position.to_array(),
            radius: sample.radius,
            colour: [0.0; 4],
        });
        for corner in &sample.corners {
            let colour = corner_colour(corner);
            let share = if corner.used {
                corner.weight.clamp(0.0, 1.0)
            } else {
                0.0
            };
            self.marks.push(MarkVertex {
                centre: corner.position.to_array(),
                radius: sample.radius * (0.15 + 0.35 * share.sqrt()),
                colour: colour.to_array(),
            });
            self.line(sample.position, corner.position, colour);
        }
    }

    /// A circle that faces the eye.
    fn ring(&mut self, centre: Vec3, radius: f32, colour: Vec4, camera: &Camera) {
        let facing = (camera.eye - centre).normalize_or(-camera.forward());
        let side = camera.up().cross(facing).normalize_or(camera.right());
        let top = facing.cross(side);
        let point = |step: u32| {
            let angle = step as f32 / RING_SEGMENTS as f32 * std::f32::consts::TAU;
            centre + (side * angle.cos() + top * angle.sin()) * radius
        };
        for step in 0..RING_SEGMENTS {
            self.line(point(step), point(step + 1), colour);
        }
    }

    fn line(&mut self, from: Vec3, to: Vec3, colour: Vec4) {
        self.lines
            .extend([from, to].map(|end| LineVertex::new(end, colour)));
    }
}

fn corner_colour(corner: &CornerMark) -> Vec4 {
    if corner.used {
        LIGHT_WEIGHT
            .lerp(FULL_WEIGHT, corner.weight.clamp(0.0, 1.0))
            .extend(1.0)
    } else {
        SKIPPED.extend(1.0)
    }
}

fn sample_light(light: &SphereLight) -> SampleLight {
    let mut out = SampleLight::zeroed();
    match light {
        SphereLight::Legacy(light) => {
            out.ambient = light.ambient.to_array();
            out.directed = light.directed.to_array();
            out.direction = light.direction.to_array();
        }
        SphereLight::Sh(coefficients, profile) => {
            out.source = 1;
            out.bands = profile.band_weights();
            for (out, [r, g, b]) in out.coefficients.iter_mut().zip(coefficients) {
                *out = [*r, *g, *b, 0.0];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::LegacyLight;

    #[test]
    fn skipped_corners_are_red_and_small() {
        let corner = |weight, used| CornerMark {
            position: Vec3::X,
            weight,
            used,
        };
        let overlays = Overlays {
            sample: Some(SampleMark {
                position: Vec3::ZERO,
                radius: 10.0,
                light: SphereLight::Legacy(LegacyLight::default()),
                corners: vec![corner(1.0, true), corner(0.5, false)],
            }),
            selected: Some((Vec3::Y, 4.0)),
            outline: Some(std::sync::Arc::new(vec![[Vec3::X, Vec3::Y]; 3])),
            lines: Vec::new(),
        };
        let mut geometry = OverlayGeometry::default();
        geometry.build(&overlays, &Camera::default());
        assert_eq!(geometry.marks.len(), 3);
        assert!(geometry.marks[1].radius > geometry.marks[2].radius);
        assert!(Vec4::from(geometry.marks[2].colour).abs_diff_eq(SKIPPED.extend(1.0), 0.0));
        let rings = RINGS.len() * RING_SEGMENTS as usize;
        assert_eq!(geometry.lines.len(), 2 * (2 + 3 + rings));
        geometry.build(&Overlays::default(), &Camera::default());
        assert!(geometry.marks.is_empty() && geometry.lines.is_empty());
    }
}
