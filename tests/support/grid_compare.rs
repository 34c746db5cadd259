//! Compares two light grids of one lattice, point by point.

use luxgrid::format::bsp::{LightGridPoint, ShPoint};

/// Directed light up to this many bytes has no direction worth comparing.
const DIRECTED_MIN: u8 = 4;

/// How two legacy grids agree over the compared points.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LegacyFigures {
    /// Points compared.
    pub points: usize,
    /// Colour bytes compared: six a point.
    pub bytes: usize,
    /// Share of bytes that differ by at most 1.
    pub within_1: f64,
    /// Share of bytes that differ by at most 2.
    pub within_2: f64,
    /// Largest difference of a byte.
    pub worst_byte: u8,
    /// Directions compared.
    pub directions: usize,
    /// Share of directions within 3 degrees.
    pub within_3_degrees: f64,
    /// Largest angle, degrees.
    pub worst_degrees: f64,
}

/// Compares the points for which `is_compared` holds. Slices of different lengths are a mistake of the caller.
pub(crate) fn compare_legacy(
    found: &[LightGridPoint],
    expected: &[LightGridPoint],
    is_compared: impl Fn(usize) -> bool,
) -> LegacyFigures {
    assert_eq!(found.len(), expected.len(), "different lattices");
    let mut figures = LegacyFigures::default();
    let (mut within_1, mut within_2, mut within_3_degrees) = (0, 0, 0);
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        if !is_compared(index) {
            continue;
        }
        figures.points += 1;
        let pairs = found.ambient.iter().zip(&expected.ambient);
        for (a, b) in pairs.chain(found.directed.iter().zip(&expected.directed)) {
            let difference = a.abs_diff(*b);
            figures.bytes += 1;
            figures.worst_byte = figures.worst_byte.max(difference);
            within_1 += usize::from(difference <= 1);
            within_2 += usize::from(difference <= 2);
        }
        if expected.directed.iter().any(|byte| *byte > DIRECTED_MIN) {
            let degrees = angle_degrees(*found, *expected);
            figures.directions += 1;
            figures.worst_degrees = figures.worst_degrees.max(degrees);
            within_3_degrees += usize::from(degrees <= 3.0);
        }
    }
    let share = |part: usize, whole: usize| {
        if whole == 0 {
            1.0
        } else {
            part as f64 / whole as f64
        }
    };
    figures.within_1 = share(within_1, figures.bytes);
    figures.within_2 = share(within_2, figures.bytes);
    figures.within_3_degrees = share(within_3_degrees, figures.directions);
    figures
}

/// Root mean square of the difference of all coefficients over that of the expected ones.
pub(crate) fn sh_relative_rms(
    found: &[ShPoint],
    expected: &[ShPoint],
    is_compared: impl Fn(usize) -> bool,
) -> f64 {
    assert_eq!(found.len(), expected.len(), "different lattices");
    let (mut difference, mut size) = (0.0, 0.0);
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        if is_compared(index) {
            for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
                difference += (f64::from(*a) - f64::from(*b)).powi(2);
                size += f64::from(*b).powi(2);
            }
        }
    }
    (difference / size).sqrt()
}

fn angle_degrees(a: LightGridPoint, b: LightGridPoint) -> f64 {
    let direction = |point: LightGridPoint| {
        let turn = |byte: u8| f64::from(byte) * std::f64::consts::TAU / 255.0;
        let (zenith, azimuth) = (turn(point.zenith), turn(point.azimuth));
        [
            zenith.sin() * azimuth.cos(),
            zenith.sin() * azimuth.sin(),
            zenith.cos(),
        ]
    };
    let cosine: f64 = direction(a)
        .into_iter()
        .zip(direction(b))
        .map(|(a, b)| a * b)
        .sum();
    cosine.clamp(-1.0, 1.0).acos().to_degrees()
}

#[test]
fn differing_grids_are_told_apart() {
    let point = LightGridPoint {
        ambient: [10, 20, 30],
        directed: [40, 50, 60],
        zenith: 64,
        azimuth: 10,
    };
    let all = |_: usize| true;
    let same = compare_legacy(&[point; 3], &[point; 3], all);
    assert!(same.within_1 >= 1.0 && same.worst_byte == 0 && same.points == 3);
    let mut brighter = point;
    brighter.ambient[1] = 25;
    brighter.directed[2] = 62;
    let mut turned = point;
    turned.azimuth = 20;
    let figures = compare_legacy(&[point, brighter, turned], &[point; 3], all);
    assert!((figures.within_1 - 16.0 / 18.0).abs() < 1e-9);
    assert!((figures.within_2 - 17.0 / 18.0).abs() < 1e-9);
    assert_eq!(figures.worst_byte, 5);
    assert!((figures.within_3_degrees - 2.0 / 3.0).abs() < 1e-9);
    // Ten steps of 360°/255 on the horizon.
    assert!((figures.worst_degrees - 3600.0 / 255.0).abs() < 0.01);
    let figures = compare_legacy(&[brighter, point], &[point; 2], |index| index == 1);
    assert_eq!((figures.points, figures.worst_byte), (1, 0));
}

#[test]
fn sh_difference_is_relative_and_skips_what_is_not_compared() {
    let one: ShPoint = [[1.0; 3]; 9];
    let other: ShPoint = [[1.1; 3]; 9];
    let all = |_: usize| true;
    assert!(sh_relative_rms(&[one], &[one], all) < 1e-9);
    assert!((sh_relative_rms(&[other], &[one], all) - 0.1).abs() < 1e-6);
    let first = |index: usize| index == 0;
    assert!(sh_relative_rms(&[one, other], &[one, one], first) < 1e-9);
    assert!(sh_relative_rms(&[one, other], &[one, one], all) > 0.07);
}
