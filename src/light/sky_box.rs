use glam::Vec3;

use crate::scene::Image;

/// Each face is reduced to this many texels a side.
const SIDE: u32 = 64;

/// Directions and colours of a sky box, for sky lights (section 2.5 of the compiler's specification).
#[derive(Clone, Debug)]
pub(crate) struct SkyBox {
    texels: Vec<Texel>,
}

#[derive(Clone, Copy, Debug)]
struct Texel {
    direction: Vec3,
    /// 0 to 1, times the cosine to the face's middle.
    colour: Vec3,
}

/// Forward, left and up of each face in the order right, left, back, front, up, down.
const FACES: [[Vec3; 3]; 6] = [
    [Vec3::X, Vec3::Y, Vec3::Z],
    [Vec3::NEG_X, Vec3::NEG_Y, Vec3::Z],
    [Vec3::Y, Vec3::NEG_X, Vec3::Z],
    [Vec3::NEG_Y, Vec3::X, Vec3::Z],
    [Vec3::Z, Vec3::Y, Vec3::NEG_X],
    [Vec3::NEG_Z, Vec3::Y, Vec3::X],
];

impl SkyBox {
    /// From the six images in the order right, left, back, front, up, down.
    pub(super) fn new(images: [&Image; 6]) -> Self {
        let mut texels = Vec::with_capacity((6 * SIDE * SIDE) as usize);
        for (image, [forward, left, up]) in images.into_iter().zip(FACES) {
            for v in 0..SIDE {
                for u in 0..SIDE {
                    // The texel's corner, not its middle, as in the reference compiler.
                    let local = Vec3::new(
                        1.0,
                        1.0 - 2.0 * u as f32 / SIDE as f32,
                        1.0 - 2.0 * v as f32 / SIDE as f32,
                    )
                    .normalize_or_zero();
                    texels.push(Texel {
                        direction: forward * local.x + left * local.y + up * local.z,
                        colour: box_average(image, u, v) / 255.0 * local.x,
                    });
                }
            }
        }
        Self { texels }
    }

    /// Cosine-weighted mean of what the hemisphere around `direction` shows, without what is behind `limit`.
    pub(super) fn light_from(&self, direction: Vec3, limit: Option<Vec3>) -> Vec3 {
        let (mut sum, mut total) = (Vec3::ZERO, 0.0);
        for texel in &self.texels {
            let weight = texel.direction.dot(direction);
            let is_allowed = limit.is_none_or(|limit| texel.direction.dot(limit) >= 0.0);
            if weight > 0.0 && is_allowed {
                sum += texel.colour * weight;
                total += weight;
            }
        }
        if total > 0.0 { sum / total } else { Vec3::ZERO }
    }
}

/// Mean of the texels of `image` under texel (u, v) of the reduced face; at least one is taken.
fn box_average(image: &Image, u: u32, v: u32) -> Vec3 {
    let range = |at: u32, size: u32| {
        let first = (u64::from(at) * u64::from(size) / u64::from(SIDE)) as u32;
        let end = (u64::from(at + 1) * u64::from(size) / u64::from(SIDE)) as u32;
        first..end.max(first + 1)
    };
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for y in range(v, image.height) {
        for x in range(u, image.width) {
            let [r, g, b, _] = image.texel(x, y);
            sum += Vec3::from([r, g, b].map(f32::from));
            count += 1.0;
        }
    }
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_face_lights_its_own_direction() {
        let colours = [
            [255, 0, 0, 255],
            [0, 255, 0, 255],
            [0, 0, 255, 255],
            [255, 255, 0, 255],
            [0, 255, 255, 255],
            [255, 0, 255, 255],
        ];
        let images = colours.map(|colour| Image::solid("x", colour));
        let sky_box = SkyBox::new(images.each_ref());
        for ([forward, ..], colour) in FACES.into_iter().zip(colours) {
            let light = sky_box.light_from(forward, None);
            for channel in 0..3 {
                assert_eq!(
                    light[channel] > 0.45,
                    colour[channel] > 0,
                    "{forward} {light}"
                );
            }
        }
        // Above the horizon the floor counts for nothing.
        let down = sky_box.light_from(Vec3::NEG_Z, Some(Vec3::Z));
        assert!(down.max_element() <= 0.0);
    }
}
