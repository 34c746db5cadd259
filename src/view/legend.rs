//! Colours of the modes that code something by colour, and what they mean. The renderer uploads these, so picture and legend
//! cannot differ.

use glam::Vec3;

use crate::scene::{LightSource, Scene};
use crate::view::{Camera, RenderMode};

/// What the colours of a mode mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// What is shown, in a few words.
    pub title: &'static str,
    /// Colours with their meaning.
    pub entries: Vec<LegendEntry>,
}

/// A colour and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendEntry {
    /// The colour, 0 to 1.
    pub rgb: Vec3,
    /// Its meaning.
    pub text: String,
}

/// Luxels from fine to coarse, a step for each doubling of their side, then surfaces without a lightmap; viridis.
pub const LUXEL_COLOURS: [Vec3; 7] = [
    Vec3::new(0.993, 0.906, 0.144),
    Vec3::new(0.478, 0.821, 0.317),
    Vec3::new(0.134, 0.659, 0.518),
    Vec3::new(0.165, 0.471, 0.558),
    Vec3::new(0.363, 0.387, 0.645),
    Vec3::new(0.447, 0.204, 0.529),
    Vec3::new(0.3, 0.3, 0.3),
];
/// By number of [`LightSource::ALL`]; colours that the colour-blind can tell apart.
pub const LIGHT_SOURCE_COLOURS: [Vec3; 4] = [
    Vec3::new(0.0, 0.447, 0.698),
    Vec3::new(0.902, 0.624, 0.0),
    Vec3::new(0.0, 0.62, 0.451),
    Vec3::new(0.6, 0.6, 0.6),
];
/// What each writing of a pixel adds: red is full after 5, green after 15, blue after 42.
pub const OVERDRAW_STEP: Vec3 = Vec3::new(51.0 / 255.0, 17.0 / 255.0, 6.0 / 255.0);
/// Clay in white light.
pub const CLAY: Vec3 = Vec3::new(0.8, 0.78, 0.75);
/// Points without cluster or area.
pub const NOWHERE: Vec3 = Vec3::new(0.35, 0.35, 0.35);

/// A colour of its own for a number; neighbouring numbers differ clearly. Has a twin of this name in WGSL.
pub fn hashed_colour(number: u32) -> Vec3 {
    let hue = (number.wrapping_mul(40_503) & 0xFFFF) as f32 / 65_536.0 * 6.0;
    let rgb = Vec3::new(0.0, 4.0, 2.0).map(|shift| ((shift + hue) % 6.0 - 3.0).abs() - 1.0);
    let value = 1.0 - 0.2 * (number % 3) as f32;
    Vec3::ONE.lerp(rgb.clamp(Vec3::ZERO, Vec3::ONE), 0.7) * value
}

/// What the colours of `mode` mean, seen by `camera`; `None` for modes without a colour code.
pub fn legend(mode: RenderMode, scene: &Scene, camera: &Camera) -> Option<Legend> {
    let entry = |rgb, text: &str| LegendEntry {
        rgb,
        text: text.to_owned(),
    };
    let leaf = || scene.bsp.leaf_at(camera.eye);
    let (title, entries) = match mode {
        RenderMode::Luxels => ("Side of a luxel", luxel_entries()),
        RenderMode::LightSource => {
            let meanings = ["lightmap", "vertex light", "grid", "nothing"];
            let entries = LIGHT_SOURCE_COLOURS.into_iter().zip(meanings);
            debug_assert_eq!(meanings.len(), LightSource::ALL.len());
            (
                "Lit by",
                entries.map(|(rgb, text)| entry(rgb, text)).collect(),
            )
        }
        RenderMode::Overdraw => (
            "Times written",
            [1_u8, 2, 4, 8, 16, 32]
                .into_iter()
                .map(|times| {
                    let rgb = (OVERDRAW_STEP * f32::from(times)).min(Vec3::ONE);
                    entry(rgb, &times.to_string())
                })
                .collect(),
        ),
        RenderMode::Clusters => {
            let eye = leaf().and_then(|leaf| leaf.cluster);
            (
                "Visibility cluster",
                place_entries(eye, "the eye's cluster"),
            )
        }
        RenderMode::Areas => {
            let eye = leaf().and_then(|leaf| leaf.area);
            ("Area", place_entries(eye, "the eye's area"))
        }
        RenderMode::Clipping => (
            "Above white",
            [
                (Vec3::X, "red"),
                (Vec3::Y, "green"),
                (Vec3::Z, "blue"),
                (Vec3::new(1.0, 1.0, 0.0), "red and green"),
                (Vec3::splat(0.5), "all, barely"),
                (Vec3::ONE, "all, four times and more"),
                (Vec3::splat(0.15), "none"),
            ]
            .into_iter()
            .map(|(rgb, text)| entry(rgb, text))
            .collect(),
        ),
        _ => return None,
    };
    Some(Legend { title, entries })
}

fn luxel_entries() -> Vec<LegendEntry> {
    let meanings = [
        "up to 2 units",
        "up to 4",
        "up to 8",
        "up to 16",
        "up to 32",
        "more",
        "no lightmap",
    ];
    LUXEL_COLOURS
        .into_iter()
        .zip(meanings)
        .map(|(rgb, text)| LegendEntry {
            rgb,
            text: text.to_owned(),
        })
        .collect()
}

fn place_entries(eye: Option<u32>, meaning: &str) -> Vec<LegendEntry> {
    let own = match eye {
        Some(number) => LegendEntry {
            rgb: hashed_colour(number),
            text: format!("{number}, {meaning}"),
        },
        None => LegendEntry {
            rgb: NOWHERE,
            text: format!("{meaning} is none"),
        },
    };
    let none = LegendEntry {
        rgb: NOWHERE,
        text: "none: in solid or outside".to_owned(),
    };
    vec![own, none]
}
