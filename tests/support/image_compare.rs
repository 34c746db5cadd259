//! Comparison of pictures: scaling down by boxes, mean difference per channel, difference images.

use image::{Rgba, RgbaImage};

/// The picture scaled down by a whole factor: the mean of each box, rounded to the nearest byte.
///
/// Columns and rows that fill no box are left out.
pub(crate) fn box_downscale(picture: &RgbaImage, factor: u32) -> RgbaImage {
    let (width, height) = (picture.width() / factor, picture.height() / factor);
    let count = factor * factor;
    RgbaImage::from_fn(width, height, |x, y| {
        let mut sums = [0_u32; 4];
        for (dx, dy) in (0..count).map(|i| (i % factor, i / factor)) {
            let texel = picture.get_pixel(x * factor + dx, y * factor + dy);
            for (sum, channel) in sums.iter_mut().zip(texel.0) {
                *sum += u32::from(channel);
            }
        }
        Rgba(sums.map(|sum| ((sum + count / 2) / count) as u8))
    })
}

/// Mean absolute difference of red, green and blue, in bytes; `None` for pictures of different sizes.
pub(crate) fn mean_difference(a: &RgbaImage, b: &RgbaImage) -> Option<[f64; 3]> {
    if a.dimensions() != b.dimensions() {
        return None;
    }
    let mut sums = [0_u64; 3];
    for (a, b) in a.pixels().zip(b.pixels()) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.0.iter().zip(b.0)) {
            *sum += u64::from(a.abs_diff(b));
        }
    }
    let count = (f64::from(a.width()) * f64::from(a.height())).max(1.0);
    Some(sums.map(|sum| sum as f64 / count))
}

/// The largest of the three means; infinite for pictures of different sizes.
pub(crate) fn worst_mean_difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    mean_difference(a, b).map_or(f64::INFINITY, |means| means.into_iter().fold(0.0, f64::max))
}

/// Absolute differences times four, for looking at.
pub(crate) fn difference_image(a: &RgbaImage, b: &RgbaImage) -> RgbaImage {
    let (width, height) = (a.width().min(b.width()), a.height().min(b.height()));
    RgbaImage::from_fn(width, height, |x, y| {
        let (a, b) = (a.get_pixel(x, y), b.get_pixel(x, y));
        let [red, green, blue] = std::array::from_fn(|i| a.0[i].abs_diff(b.0[i]).saturating_mul(4));
        Rgba([red, green, blue, 255])
    })
}

mod tests {
    use super::*;

    #[test]
    fn equal_pictures_do_not_differ() {
        let grey = RgbaImage::from_pixel(4, 2, Rgba([90, 91, 92, 255]));
        assert_eq!(mean_difference(&grey, &grey), Some([0.0; 3]));
    }

    #[test]
    fn differing_pictures_differ_by_channel() {
        let a = RgbaImage::from_pixel(4, 2, Rgba([10, 200, 30, 255]));
        let mut b = a.clone();
        b.put_pixel(1, 1, Rgba([26, 192, 30, 0]));
        assert_eq!(mean_difference(&a, &b), Some([2.0, 1.0, 0.0]));
        assert!((worst_mean_difference(&a, &b) - 2.0).abs() < 1e-9);
        assert_eq!(difference_image(&a, &b).get_pixel(1, 1).0, [64, 32, 0, 255]);
    }

    #[test]
    fn pictures_of_other_sizes_never_match() {
        let (a, b) = (RgbaImage::new(2, 2), RgbaImage::new(2, 3));
        assert_eq!(mean_difference(&a, &b), None);
        assert!(worst_mean_difference(&a, &b).is_infinite());
    }

    #[test]
    fn scaling_down_takes_the_mean_of_each_box() {
        let mut picture = RgbaImage::from_pixel(5, 4, Rgba([0, 0, 0, 255]));
        picture.put_pixel(0, 0, Rgba([255, 2, 0, 255]));
        picture.put_pixel(4, 3, Rgba([255, 255, 255, 255]));
        let small = box_downscale(&picture, 2);
        assert_eq!(small.dimensions(), (2, 2));
        assert_eq!(small.get_pixel(0, 0).0, [64, 1, 0, 255]);
        assert_eq!(small.get_pixel(1, 1).0, [0, 0, 0, 255]);
    }
}
