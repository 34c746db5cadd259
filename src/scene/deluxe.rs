//! Deluxe maps: pages in pairs, light and the average direction that it comes from.

use crate::format::bsp::Bsp;
use crate::format::entities::Entity;
use crate::scene::lightmaps::{LightmapPages, lit_pages};

/// Which sign told that a map's pages come in pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeluxeReason {
    /// A worldspawn key says so: key and value.
    Key(String, String),
    /// The compiler's command line in worldspawn says so, and no surface contradicts.
    CommandLine,
    /// An even number of pages, of which surfaces name only even ones, and the odd ones hold unit vectors: percent of
    /// their texels that are neither black nor middle grey.
    Pages {
        /// Percent.
        unit_vectors: u8,
    },
}

impl DeluxeReason {
    /// For people, the rest of a sentence that begins “Deluxe pages because”.
    pub fn text(&self) -> String {
        match self {
            Self::Key(key, value) => format!("worldspawn {key} is “{value}”"),
            Self::CommandLine => "worldspawn _q3map2_cmdline has -deluxe".to_owned(),
            Self::Pages { unit_vectors } => format!(
                "surfaces name only even pages, and {unit_vectors}% of the odd pages' texels are unit vectors"
            ),
        }
    }
}

/// A map whose page 2n + 1 holds the directions that the light of page 2n comes from: RGB/127.5 − 1, black for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deluxe {
    /// What told.
    pub reason: DeluxeReason,
    /// Whether directions are relative to the surface instead of the world.
    pub tangent_space: bool,
}

/// Share of an odd page's texels with a direction that must be unit vectors, percent. Ordinary maps have at most 23.
const UNIT_VECTORS_MIN: u8 = 90;
/// Length of a texel's vector that stands for no direction: compilers write 127, 127, 127 there, or black.
const LENGTH_OF_NONE: f32 = 2.0;
/// How far the length of a texel's vector may be from 127.5.
const LENGTH_TOLERANCE: f32 = 8.0;

impl Deluxe {
    /// Judges by worldspawn's keys, then by its command line and the pages that surfaces name, then by the pages' contents.
    pub(super) fn detect(bsp: &Bsp, pages: &LightmapPages) -> Option<Self> {
        let count = pages.pages.len();
        if count < 2 {
            return None;
        }
        let world = bsp.entities.worldspawn();
        let value = |key: &str| {
            world
                .and_then(|world: &Entity| world.get(key))
                .map(str::trim)
        };
        for key in ["deluxeMaps", "deluxeMapping"] {
            match value(key) {
                Some("0") => return None,
                Some(value @ ("1" | "2")) => {
                    return Some(Self {
                        reason: DeluxeReason::Key(key.to_owned(), value.to_owned()),
                        tangent_space: value == "2",
                    });
                }
                _ => {}
            }
        }
        let is_even = |page: u32| page.is_multiple_of(2);
        if count % 2 == 1 || !lit_pages(bsp).all(is_even) || lit_pages(bsp).next().is_none() {
            return None;
        }
        let unit_vectors = unit_vector_percent(pages);
        let told = value("_q3map2_cmdline").is_some_and(|line| line.contains("-deluxe"));
        let reason = match (told, unit_vectors) {
            (true, _) => DeluxeReason::CommandLine,
            (false, Some(unit_vectors)) if unit_vectors >= UNIT_VECTORS_MIN => {
                DeluxeReason::Pages { unit_vectors }
            }
            _ => return None,
        };
        Some(Self {
            reason,
            tangent_space: false,
        })
    }
}

/// Percent of the texels of odd pages with a direction that are unit vectors, rounded down; `None` without any.
fn unit_vector_percent(pages: &LightmapPages) -> Option<u8> {
    let odd = pages.pages.iter().skip(1).step_by(2);
    let (mut units, mut coloured) = (0_u64, 0_u64);
    for texel in odd.flat_map(|page| page.chunks_exact(3)) {
        let squares = texel.iter().map(|c| (f32::from(*c) - 127.5).powi(2));
        let length = squares.sum::<f32>().sqrt();
        let has_direction = length > LENGTH_OF_NONE && texel.iter().any(|channel| *channel != 0);
        if !has_direction {
            continue;
        }
        coloured += 1;
        units += u64::from((length - 127.5).abs() <= LENGTH_TOLERANCE);
    }
    let percent = (units * 100).checked_div(coloured)?;
    u8::try_from(percent).ok()
}
