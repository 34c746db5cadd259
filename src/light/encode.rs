use glam::Vec3;

use crate::light::settings::LightModel;
use crate::math::colour::srgb_from_linear;

/// How light in byte units becomes bytes (section 8.11 of the compiler's specification).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByteTransfer {
    /// Exponent of the output curve (`-gamma`); 1 is linear.
    pub gamma: f32,
    /// Soft shoulder in byte units (`-exposure`); 0 is off.
    pub exposure: f32,
    /// Divides everything (`-compensate`); values ≤ 0 count as 1.
    pub compensate: f32,
    /// −255 to 255 (`-contrast`).
    pub contrast: f32,
    /// 1 leaves colours alone, 0 makes them grey (`-saturation`).
    pub saturation: f32,
    /// Whether bytes follow the sRGB curve (`-sRGBlight`).
    pub srgb: bool,
}

impl Default for ByteTransfer {
    fn default() -> Self {
        Self {
            gamma: 1.0,
            exposure: 0.0,
            compensate: 1.0,
            contrast: 0.0,
            saturation: 1.0,
            srgb: false,
        }
    }
}

impl ByteTransfer {
    /// Bytes of `light` times `scale` (values ≤ 0 count as 1). The hue is kept: too bright colours are scaled until the
    /// largest channel is `max_light`, then every channel is truncated.
    pub fn encode(&self, light: Vec3, scale: f32, max_light: f32) -> [u8; 3] {
        let or_one = |value: f32| if value > 0.0 { value } else { 1.0 };
        let mut v = light * or_one(scale);
        let factor = self.contrast_factor();
        if self.contrast.abs() > 0.0 {
            v = (v - 128.0) * factor + 128.0;
        }
        v = v.max(Vec3::ZERO);
        if (self.gamma - 1.0).abs() > 0.0 && self.gamma > 0.0 {
            v = (v / 255.0).powf(1.0 / self.gamma) * 255.0;
        }
        let max = v.max_element();
        if self.exposure.abs() > 0.0 && max > 0.0 {
            v *= (1.0 - (-max / self.exposure).exp()) * 255.0 / max;
        }
        if (self.saturation - 1.0).abs() > 0.0 {
            let grey = v.dot(Vec3::new(0.3086, 0.6094, 0.0820));
            v = (v * self.saturation + Vec3::splat(grey * (1.0 - self.saturation))).max(Vec3::ZERO);
        }
        v /= or_one(self.compensate);
        let max = v.max_element();
        if max > max_light {
            v *= max_light / max;
        }
        if self.srgb {
            v = v.map(|channel| (255.0 * srgb_from_linear(channel / 255.0) + 0.5).floor());
        }
        // Casting truncates and saturates; NaN becomes 0.
        [v.x as u8, v.y as u8, v.z as u8]
    }

    fn contrast_factor(&self) -> f32 {
        let contrast = self.contrast.clamp(-255.0, 255.0);
        259.0 * (contrast + 255.0) / (255.0 * (259.0 - contrast))
    }
}

/// Zenith and azimuth bytes of a direction, not necessarily unit in length but normalised or zero.
///
/// [`LightModel::Q3map2`] truncates 255 steps a turn; [`LightModel::Corrected`] rounds to the engine's decoder, which reads a
/// byte as four steps of 1023 a turn (mean error 0.5 instead of 1.3 degrees). No light at all gives straight down, (128, 0).
pub(crate) fn direction_bytes(direction: Vec3, model: LightModel) -> [u8; 2] {
    if direction.truncate().abs().max_element() <= 0.0 {
        return if direction.z > 0.0 { [0, 0] } else { [128, 0] };
    }
    let zenith = f64::from(direction.z.clamp(-1.0, 1.0)).acos().to_degrees();
    let azimuth = f64::from(direction.y)
        .atan2(f64::from(direction.x))
        .to_degrees();
    [zenith, azimuth].map(|degrees| {
        let steps = match model {
            LightModel::Q3map2 => (degrees * 255.0 / 360.0).trunc(),
            LightModel::Corrected => (degrees * 1023.0 / 1440.0).round(),
        };
        // Within ±256; negative steps wrap around.
        (steps as i32 & 255) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 14 item 6.
    #[test]
    fn bytes_keep_the_hue_and_truncate() {
        let plain = ByteTransfer::default();
        let bytes = |r, g, b| plain.encode(Vec3::new(r, g, b), 1.0, 255.0);
        assert_eq!(bytes(510.0, 255.0, 0.0), [255, 127, 0]);
        // 255/300.9 rounds down in single precision for about one value in eight.
        assert!(bytes(300.9, 0.0, 0.0)[0] >= 254);
        assert_eq!(bytes(137.99, -5.0, f32::NAN), [137, 0, 0]);
        assert_eq!(plain.encode(Vec3::splat(10.0), 0.0, 255.0), [10; 3]);
        let factor = |contrast| ByteTransfer { contrast, ..plain }.contrast_factor();
        assert!((factor(0.0) - 1.0).abs() < 1e-6);
        assert!((factor(64.0) - 1.66156).abs() < 1e-5);
    }

    /// Section 14 item 4.
    #[test]
    fn direction_bytes_of_the_axes() {
        let cases = [
            (Vec3::X, [63, 0]),
            (Vec3::Y, [63, 63]),
            (Vec3::NEG_X, [63, 127]),
            (Vec3::NEG_Y, [63, 193]),
            (Vec3::Z, [0, 0]),
            (Vec3::NEG_Z, [128, 0]),
            (Vec3::ZERO, [128, 0]),
        ];
        for (direction, bytes) in cases {
            assert_eq!(direction_bytes(direction, LightModel::Q3map2), bytes);
        }
        let corrected = direction_bytes(Vec3::NEG_Y, LightModel::Corrected);
        assert_eq!(corrected, [64, 192]);
    }

    #[test]
    fn srgb_bytes_are_rounded() {
        let curve = ByteTransfer {
            srgb: true,
            ..ByteTransfer::default()
        };
        // 0.5 of white is 187.516; half a step of the dark end is 0.44 of a byte.
        let bytes = curve.encode(Vec3::new(127.5, 0.0387, 0.034), 1.0, 255.0);
        assert_eq!(bytes, [188, 1, 0]);
    }

    #[test]
    fn exposure_and_gamma_bend_the_scale() {
        let soft = ByteTransfer {
            exposure: 200.0,
            ..ByteTransfer::default()
        };
        // 255·(1 − e⁻¹) = 161.19
        assert_eq!(soft.encode(Vec3::splat(200.0), 1.0, 255.0), [161; 3]);
        let gamma = ByteTransfer {
            gamma: 2.0,
            ..ByteTransfer::default()
        };
        // 255·√(64/255) = 127.75
        assert_eq!(gamma.encode(Vec3::splat(64.0), 1.0, 255.0), [127; 3]);
    }
}
