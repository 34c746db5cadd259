//! The engine's colour transfer: overbright shift and the clamp that keeps the hue.
//!
//! Source: measured behaviour of ioquake3's first renderer, `R_ColorShiftLightingBytes`.

use glam::Vec3;

/// The brightest value a byte channel holds.
pub const BYTE_MAX: f32 = 255.0;

/// How stored light is multiplied for display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overbright {
    /// Times 2^bits, 0 to 3. The engine's default for Quake 3 data is 2 (×4).
    Bits(u8),
    /// Times 255/63, the light-volume article's rescale.
    Blog,
}

impl Overbright {
    /// The engine's default.
    pub const ENGINE: Self = Self::Bits(2);

    /// The multiplier.
    pub fn factor(self) -> f32 {
        match self {
            Self::Bits(bits) => f32::from(1_u16 << bits.min(3)),
            Self::Blog => 255.0 / 63.0,
        }
    }
}

impl Default for Overbright {
    fn default() -> Self {
        Self::ENGINE
    }
}

/// Whether a colour above full white is scaled back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// Scale all channels so that the largest is full white; the hue is kept. The engine's rule.
    #[default]
    KeepHue,
    /// Leave it above white: the target saturates each channel.
    Off,
}

/// Shifts a stored triple left by `bits` and clamps as the engine does, in integers.
///
/// `bits` above 3 counts as 3. Twin of [`shift`] for stored bytes; the engine truncates, so the result is exact.
pub fn shift_bytes(rgb: [u8; 3], bits: u8) -> [u8; 3] {
    let shifted = rgb.map(|c| u32::from(c) << bits.min(3));
    let max = shifted[0].max(shifted[1]).max(shifted[2]);
    shifted.map(|c| {
        let value = if max > 255 { c * 255 / max } else { c };
        u8::try_from(value).unwrap_or(u8::MAX)
    })
}

/// Multiplies a colour in byte units by `factor` and applies the clamp.
///
/// Negative channels stay negative. Has a twin of this name in `shaders/common/colour.wgsl`.
pub fn shift(rgb: Vec3, factor: f32, clamp: Clamp) -> Vec3 {
    let scaled = rgb * factor;
    match clamp {
        Clamp::KeepHue => clamp_keep_hue(scaled),
        Clamp::Off => scaled,
    }
}

/// Scales a colour in byte units so that no channel exceeds 255; keeps the hue.
pub fn clamp_keep_hue(rgb: Vec3) -> Vec3 {
    let max = rgb.max_element();
    if max > BYTE_MAX {
        rgb * (BYTE_MAX / max)
    } else {
        rgb
    }
}

/// Linear value, 0 to 1, of an sRGB one (IEC 61966-2-1). Negative values stay on the straight part, larger ones on the curve.
pub fn linear_from_srgb(value: f32) -> f32 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        ((value + 0.055) / 1.055).powf(2.4)
    }
}

/// The inverse of [`linear_from_srgb`].
pub fn srgb_from_linear(value: f32) -> f32 {
    if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked bytes of the rendering specification, section 1.4.
    #[test]
    fn worked_bytes_of_the_engine() {
        let cases = [
            ([10, 20, 30], 2, [40, 80, 120]),
            ([63, 63, 63], 2, [252, 252, 252]),
            ([64, 64, 64], 2, [255, 255, 255]),
            ([100, 50, 25], 2, [255, 127, 63]),
            ([40, 80, 160], 2, [63, 127, 255]),
            ([100, 50, 25], 1, [200, 100, 50]),
            ([255, 128, 0], 2, [255, 128, 0]),
            ([61, 61, 61], 0, [61, 61, 61]),
        ];
        for (stored, bits, shown) in cases {
            assert_eq!(shift_bytes(stored, bits), shown, "{stored:?} << {bits}");
        }
    }

    #[test]
    fn float_twin_agrees_within_the_truncation() {
        for stored in [[1, 2, 3], [40, 80, 160], [255, 1, 90], [64, 63, 62]] {
            let exact = shift_bytes(stored, 2);
            let float = shift(Vec3::from(stored.map(f32::from)), 4.0, Clamp::KeepHue);
            for axis in 0..3 {
                let difference = float[axis] - f32::from(exact[axis]);
                assert!((-1e-3..1.0).contains(&difference), "{stored:?}");
            }
        }
    }

    /// Half of full light is sRGB 188, and 128 is 21.6 % of it.
    #[test]
    fn srgb_curve_has_the_known_points_and_its_inverse() {
        assert!((srgb_from_linear(0.5) * 255.0 - 187.516).abs() < 0.01);
        assert!((linear_from_srgb(128.0 / 255.0) - 0.215_861).abs() < 1e-5);
        assert!((255.0 * linear_from_srgb(1.0 / 255.0) - 0.077_399).abs() < 1e-6);
        for i in 0..=255_u8 {
            let value = f32::from(i) / 255.0;
            assert!((srgb_from_linear(linear_from_srgb(value)) - value).abs() < 1e-5);
        }
    }

    #[test]
    fn blog_rescale_maps_63_to_white() {
        assert!((Overbright::Blog.factor() * 63.0 - 255.0).abs() < 1e-3);
    }
}
