//! Values of arguments: text → number, vector, size, word. Every error is one line that says what was expected.

use glam::{Vec2, Vec3};

use crate::math::Aabb;
use crate::math::colour::Overbright;
use crate::scene::CurveDetail;
use crate::view::ViewOptions;

/// Side of a picture at most, pixels: what every adapter allows.
const SIDE_LIMIT: u32 = 8192;

/// `count` finite numbers between commas.
fn numbers<const N: usize>(text: &str, shape: &str) -> Result<[f32; N], String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let parsed: Result<Vec<f32>, String> = words.iter().map(|word| finite(word)).collect();
    parsed?
        .try_into()
        .map_err(|found: Vec<f32>| format!("{} numbers, expected {shape}", found.len()))
}

/// A finite number.
pub(crate) fn finite(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(format!("“{text}” is not a finite number")),
    }
}

/// A finite number above zero.
pub(crate) fn positive(text: &str) -> Result<f32, String> {
    match finite(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err(format!("{text} is not above 0")),
    }
}

/// A gamma of the picture.
pub(crate) fn gamma(text: &str) -> Result<f32, String> {
    let range = ViewOptions::GAMMA_RANGE;
    match finite(text)? {
        value if range.contains(&value) => Ok(value),
        _ => Err(format!(
            "{text} is not from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

/// `X,Y`.
pub(crate) fn pair(text: &str) -> Result<Vec2, String> {
    numbers::<2>(text, "X,Y").map(Vec2::from)
}

/// `X,Y,Z`.
pub(crate) fn vector(text: &str) -> Result<Vec3, String> {
    numbers::<3>(text, "X,Y,Z").map(Vec3::from)
}

/// `X0,Y0,Z0,X1,Y1,Z1`: two opposite corners of a box.
pub(crate) fn region(text: &str) -> Result<Aabb, String> {
    let [x0, y0, z0, x1, y1, z1] = numbers::<6>(text, "X0,Y0,Z0,X1,Y1,Z1")?;
    let (a, b) = (Vec3::new(x0, y0, z0), Vec3::new(x1, y1, z1));
    Ok(Aabb {
        min: a.min(b),
        max: a.max(b),
    })
}

/// `X,Y,Z` that point somewhere; made a unit vector.
pub(crate) fn direction(text: &str) -> Result<Vec3, String> {
    vector(text)?
        .try_normalize()
        .ok_or_else(|| "a direction must not be zero".to_owned())
}

/// A view: eye, heading and pitch in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct View {
    /// Game units.
    pub(crate) eye: Vec3,
    /// From +X towards +Y, degrees.
    pub(crate) yaw: f32,
    /// Positive looks down, degrees.
    pub(crate) pitch: f32,
}

/// `X,Y,Z,YAW,PITCH`.
pub(crate) fn view(text: &str) -> Result<View, String> {
    let [x, y, z, yaw, pitch] = numbers::<5>(text, "X,Y,Z,YAW,PITCH")?;
    Ok(View {
        eye: Vec3::new(x, y, z),
        yaw,
        pitch,
    })
}

/// `WxH`, pixels.
pub(crate) fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |word: &str| {
        word.parse::<u32>()
            .ok()
            .filter(|side| (1..=SIDE_LIMIT).contains(side))
            .ok_or_else(|| format!("“{word}” is not a number from 1 to {SIDE_LIMIT}"))
    };
    let (width, height) = text
        .split_once(['x', 'X'])
        .ok_or_else(|| format!("“{text}” is not WxH"))?;
    Ok((side(width)?, side(height)?))
}

/// Field of view, degrees.
pub(crate) fn field_of_view(text: &str) -> Result<f32, String> {
    match finite(text)? {
        degrees if (1.0..=170.0).contains(&degrees) => Ok(degrees),
        _ => Err(format!("{text} is not between 1 and 170 degrees")),
    }
}

/// `0` to `3`, or `blog`.
pub(crate) fn overbright(text: &str) -> Result<Overbright, String> {
    match text {
        "0" | "1" | "2" | "3" => Ok(Overbright::Bits(text.as_bytes()[0] - b'0')),
        "blog" => Ok(Overbright::Blog),
        _ => Err(format!("“{text}” is none of 0, 1, 2, 3, blog")),
    }
}

/// One of the engine's values of `r_subdivisions`.
pub(crate) fn subdivisions(text: &str) -> Result<CurveDetail, String> {
    CurveDetail::ALL
        .into_iter()
        .find(|detail| detail.subdivisions().to_string() == text)
        .ok_or_else(|| format!("“{text}” is none of 80, 20, 12, 4, 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_take_signs_and_refuse_the_rest() {
        assert_eq!(vector("-10,0, 5.5"), Ok(Vec3::new(-10.0, 0.0, 5.5)));
        for wrong in ["", "1,2", "1,2,3,4", "1,2,x", "1,2,inf", "nan,0,0"] {
            assert!(vector(wrong).is_err(), "{wrong}");
        }
        assert_eq!(direction("0,0,-3"), Ok(Vec3::NEG_Z));
        assert!(direction("0,0,0").is_err());
    }

    #[test]
    fn a_region_takes_its_corners_in_any_order() {
        let found = region("10,-5,0, -1,5,8").unwrap();
        assert_eq!(found.min, Vec3::new(-1.0, -5.0, 0.0));
        assert_eq!(found.max, Vec3::new(10.0, 5.0, 8.0));
        assert!(region("1,2,3").is_err() && region("1,2,3,4,5,inf").is_err());
    }

    #[test]
    fn sizes_and_angles_are_bounded() {
        assert_eq!(size("320x180"), Ok((320, 180)));
        for wrong in ["320", "0x1", "1x-1", "99999x1", "x"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert!(field_of_view("180").is_err() && field_of_view("90").is_ok());
        assert!(positive("0").is_err() && positive("1e-3").is_ok());
    }

    #[test]
    fn subdivisions_are_those_of_the_engine() {
        assert_eq!(subdivisions("4"), Ok(CurveDetail::High));
        assert_eq!(subdivisions("80"), Ok(CurveDetail::Lowest));
        assert!(subdivisions("0").is_err() && subdivisions("4.0").is_err());
    }

    #[test]
    fn overbright_words() {
        assert_eq!(overbright("2"), Ok(Overbright::Bits(2)));
        assert_eq!(overbright("blog"), Ok(Overbright::Blog));
        assert!(overbright("4").is_err());
    }
}
