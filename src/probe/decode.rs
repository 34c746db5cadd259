use glam::Vec3;

/// Entries of the engine's sine table.
const TABLE: usize = 1024;

/// The direction towards the light that the engine decodes from the two angle bytes.
///
/// Source: behaviour of ioquake3's `R_SetupEntityLightingGrid`: a 1024-entry sine table whose step is 360/1023 degrees,
/// indexed with four times the byte; the cosine is 256 entries ahead. Length 0.9975 to 1.0012, as in the engine.
pub fn decode_direction(zenith: u8, azimuth: u8) -> Vec3 {
    let sine = |index: usize| {
        let step = std::f64::consts::TAU / (TABLE - 1) as f64;
        (((index % TABLE) as f64) * step).sin() as f32
    };
    let (polar, around) = (usize::from(zenith) * 4, usize::from(azimuth) * 4);
    Vec3::new(
        sine(around + TABLE / 4) * sine(polar),
        sine(around) * sine(polar),
        sine(polar + TABLE / 4),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of the rendering specification, section 2.5, given to three decimals.
    #[test]
    fn check_values_of_the_engine() {
        for (zenith, azimuth, expected) in [
            (0, 0, [0.0, 0.0, 1.0]),
            (64, 0, [1.0, 0.0, -0.003]),
            (64, 64, [-0.003, 1.0, -0.003]),
            (64, 128, [-1.0, -0.003, -0.003]),
            (64, 192, [0.0, -1.0, -0.003]),
            (128, 0, [-0.003, 0.0, -1.0]),
            (32, 225, [0.513, -0.485, 0.706]),
        ] {
            let decoded = decode_direction(zenith, azimuth);
            assert!(
                decoded.abs_diff_eq(Vec3::from(expected), 1.6e-3),
                "({zenith}, {azimuth}): {decoded} for {expected:?}"
            );
        }
    }
}
