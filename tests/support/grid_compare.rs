//! Compares two light grids of one lattice, point by point.

use luxgrid::format::bsp::{LightGridPoint, ShPoint};

/// Directed light up to this many bytes has no direction worth comparing.
const DIRECTED_MIN: u8 = 4;

/// Byte differences and angles between the compared points of two legacy grids.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LegacyFigures {
    /// Points compared.
    pub points: usize,
    /// Colour bytes by their difference: six bytes a point.
    by_difference: Vec<usize>,
    /// Angles between directions where there is directed light, degrees, ascending.
    angles: Vec<f64>,
}

impl LegacyFigures {
    /// Share of bytes that differ by at most `limit`; 1 of none.
    pub(crate) fn bytes_within(&self, limit: u8) -> f64 {
        let near = self.by_difference.iter().take(usize::from(limit) + 1).sum();
        share(near, self.by_difference.iter().sum())
    }

    /// Largest difference of a byte.
    pub(crate) fn worst_byte(&self) -> u8 {
        let last = self.by_difference.iter().rposition(|count| *count > 0);
        u8::try_from(last.unwrap_or(0)).unwrap_or(u8::MAX)
    }

    /// Share of directions at most `degrees` apart; 1 of none.
    pub(crate) fn directions_within(&self, degrees: f64) -> f64 {
        let near = self.angles.partition_point(|angle| *angle <= degrees);
        share(near, self.angles.len())
    }

    /// Largest angle between directions, degrees.
    pub(crate) fn worst_degrees(&self) -> f64 {
        self.angles.last().copied().unwrap_or(0.0)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Compares the points for which `is_compared` holds. Slices of different lengths are a mistake of the caller.
pub(crate) fn compare_legacy(
    found: &[LightGridPoint],
    expected: &[LightGridPoint],
    is_compared: impl Fn(usize) -> bool,
) -> LegacyFigures {
    assert_eq!(found.len(), expected.len(), "different lattices");
    let mut figures = LegacyFigures {
        by_difference: vec![0; 256],
        ..LegacyFigures::default()
    };
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        if !is_compared(index) {
            continue;
        }
        figures.points += 1;
        let pairs = found.ambient.iter().zip(&expected.ambient);
        for (a, b) in pairs.chain(found.directed.iter().zip(&expected.directed)) {
            figures.by_difference[usize::from(a.abs_diff(*b))] += 1;
        }
        if expected.directed.iter().any(|byte| *byte > DIRECTED_MIN) {
            figures.angles.push(angle_degrees(*found, *expected));
        }
    }
    figures.angles.sort_by(f64::total_cmp);
    figures
}

/// How the coefficients of two SH grids agree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ShFigures {
    /// Root mean square of the difference of all coefficients over that of the expected ones.
    pub relative_rms: f64,
    /// Largest difference of a coefficient over the largest expected one.
    pub relative_max: f64,
}

/// Compares the points for which `is_compared` holds.
pub(crate) fn compare_sh(
    found: &[ShPoint],
    expected: &[ShPoint],
    is_compared: impl Fn(usize) -> bool,
) -> ShFigures {
    assert_eq!(found.len(), expected.len(), "different lattices");
    let (mut difference, mut size) = (0.0, 0.0);
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        if is_compared(index) {
            for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
                let (a, b) = (f64::from(*a), f64::from(*b));
                difference += (a - b).powi(2);
                size += b.powi(2);
                worst = worst.max((a - b).abs());
                largest = largest.max(b.abs());
            }
        }
    }
    let ratio = |part: f64, whole: f64| if part > 0.0 { part / whole } else { 0.0 };
    ShFigures {
        relative_rms: ratio(difference, size).sqrt(),
        relative_max: ratio(worst, largest),
    }
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

fn all(_: usize) -> bool {
    true
}

#[test]
fn differing_grids_are_told_apart() {
    let point = LightGridPoint {
        ambient: [10, 20, 30],
        directed: [40, 50, 60],
        zenith: 64,
        azimuth: 10,
    };
    let same = compare_legacy(&[point; 3], &[point; 3], all);
    assert!(same.bytes_within(0) >= 1.0 && same.worst_byte() == 0 && same.points == 3);
    let mut brighter = point;
    brighter.ambient[1] = 25;
    brighter.directed[2] = 62;
    let mut turned = point;
    turned.azimuth = 20;
    let figures = compare_legacy(&[point, brighter, turned], &[point; 3], all);
    assert!((figures.bytes_within(1) - 16.0 / 18.0).abs() < 1e-9);
    assert!((figures.bytes_within(2) - 17.0 / 18.0).abs() < 1e-9);
    assert_eq!(figures.worst_byte(), 5);
    assert!((figures.directions_within(3.0) - 2.0 / 3.0).abs() < 1e-9);
    // Ten steps of 360°/255 on the horizon.
    assert!((figures.worst_degrees() - 3600.0 / 255.0).abs() < 0.01);
    let figures = compare_legacy(&[brighter, point], &[point; 2], |index| index == 1);
    assert_eq!((figures.points, figures.worst_byte()), (1, 0));
}

#[test]
fn sh_difference_is_relative_and_skips_what_is_not_compared() {
    let one: ShPoint = [[1.0; 3]; 9];
    let other: ShPoint = [[1.1; 3]; 9];
    let same = compare_sh(&[one], &[one], all);
    assert!(same.relative_rms < 1e-9 && same.relative_max < 1e-9);
    assert!((compare_sh(&[other], &[one], all).relative_rms - 0.1).abs() < 1e-6);
    let first = |index: usize| index == 0;
    assert!(compare_sh(&[one, other], &[one, one], first).relative_rms < 1e-9);
    assert!(compare_sh(&[one, other], &[one, one], all).relative_rms > 0.07);
}

/// One coefficient off by a quarter of the largest.
#[test]
fn largest_error_of_a_coefficient_is_over_the_largest_coefficient() {
    let expected: ShPoint = [[2.0; 3]; 9];
    let mut found = expected;
    found[4][1] = 1.5;
    let figures = compare_sh(&[expected, found], &[expected; 2], all);
    assert!((figures.relative_max - 0.25).abs() < 1e-9);
    assert!((figures.relative_rms - 0.25 / (54.0_f64).sqrt()).abs() < 1e-9);
    // Against nothing, something is infinitely much.
    let dark = [[[0.0; 3]; 9]];
    assert!(compare_sh(&[found], &dark, all).relative_rms.is_infinite());
}
