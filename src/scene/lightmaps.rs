//! Lightmap pages: those of the BSP, or numbered images beside it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::format::bsp::{Bsp, LightmapIndex, LightmapPage, SurfaceKind};
use crate::job::{Cancelled, JobContext};
use crate::scene::image::Image;
use crate::scene::sources;
use crate::vfs::{Origin, Vfs};

/// Extensions of external pages in the order in which they are tried.
const EXTENSIONS: [&str; 4] = ["tga", "png", "jpg", "jpeg"];
/// Numbers have four digits.
const PAGES_MAX: u32 = 10_000;
/// Texels of all pages at most: what a page costs on disk says nothing about its size.
const TEXELS_MAX: u64 = 512 * 1024 * 1024;

/// Where the pages came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LightmapOrigin {
    /// There are none.
    #[default]
    None,
    /// Lump 14.
    Internal,
    /// `maps/<map>/lm_0000` and so on.
    External,
}

/// The light of a map's surfaces.
#[derive(Clone, Debug, Default)]
pub struct LightmapPages {
    /// Side of a page, texels; 0 without pages.
    pub size: u32,
    /// RGB, top row first, `size · size · 3` bytes each, as stored (before overbright).
    pub pages: Vec<LightmapPage>,
    /// Where they came from.
    pub origin: LightmapOrigin,
    /// The file of each page that is not in the BSP, in their order.
    pub origins: Vec<Origin>,
    /// Whether odd pages hold directions: they are never drawn as light.
    pub(super) every_other_is_light: bool,
}

impl LightmapPages {
    /// Whether page `page` exists and holds light.
    pub fn is_light(&self, page: u32) -> bool {
        let is_direction = self.every_other_is_light && page % 2 == 1;
        (page as usize) < self.pages.len() && !is_direction
    }

    /// The pages of lump 14.
    pub(super) fn internal(bsp: &Bsp) -> Self {
        if bsp.lightmaps.is_empty() {
            return Self::default();
        }
        Self {
            size: bsp.lightmap_size,
            pages: bsp.lightmaps.clone(),
            origin: LightmapOrigin::Internal,
            origins: Vec::new(),
            every_other_is_light: false,
        }
    }

    /// The page with the directions that the light of `page` comes from, in a deluxe map.
    pub fn direction_page(&self, page: u32) -> Option<u32> {
        let direction = page.checked_add(1)?;
        let exists = (direction as usize) < self.pages.len();
        (self.every_other_is_light && page.is_multiple_of(2) && exists).then_some(direction)
    }

    /// The pages of lump 14, or, when it is empty, the images `maps/<name>/lm_0000` and so on up to the first that is
    /// missing or unlike the first. Pages that surfaces ask for and that are not there cost a warning.
    pub(super) fn load(
        bsp: &Bsp,
        vfs: &Vfs,
        name: &str,
        context: &JobContext,
    ) -> Result<Self, Cancelled> {
        if !bsp.lightmaps.is_empty() {
            return Ok(Self::internal(bsp));
        }
        let wanted = pages_named(bsp);
        let loaded = load_external(vfs, name, context)?;
        if (loaded.pages.len() as u64) < u64::from(wanted) {
            let number = loaded.pages.len();
            context.warnings.push(
                "W123",
                format!(
                    "surfaces name {wanted} lightmap pages, the BSP holds none, and {number} were found beside it; tried {}. The others are lit by vertex",
                    tried(name, u32::try_from(number).unwrap_or(PAGES_MAX)),
                ),
            );
        }
        Ok(loaded)
    }
}

/// One more than the highest page that a lit surface names.
pub(super) fn pages_named(bsp: &Bsp) -> u32 {
    lit_pages(bsp)
        .map(|page| page.saturating_add(1))
        .max()
        .unwrap_or(0)
}

/// Pages that surfaces are lit by; flares and triangle soups carry numbers without meaning.
pub(super) fn lit_pages(bsp: &Bsp) -> impl Iterator<Item = u32> {
    let lit = bsp.surfaces.iter().filter(|surface| {
        matches!(
            surface.kind,
            SurfaceKind::Planar | SurfaceKind::Patch { .. } | SurfaceKind::Foliage { .. }
        )
    });
    lit.flat_map(|surface| surface.lightmap)
        .filter_map(|slot| match slot {
            LightmapIndex::Page(page) => Some(page),
            _ => None,
        })
}

fn stem(name: &str, number: u32) -> String {
    format!("maps/{name}/lm_{number:04}")
}

fn tried(name: &str, number: u32) -> String {
    let stem = stem(name, number);
    EXTENSIONS
        .map(|extension| format!("{stem}.{extension}"))
        .join(", ")
}

/// Virtual name of an external page.
fn find_external(vfs: &Vfs, name: &str, number: u32) -> Option<String> {
    let stem = stem(name, number);
    let mut paths = EXTENSIONS
        .iter()
        .map(|extension| format!("{stem}.{extension}"));
    paths.find(|path| vfs.contains(path))
}

/// Whether there are pages beside the map.
pub(super) fn has_external(vfs: &Vfs, name: &str) -> bool {
    find_external(vfs, name, 0).is_some()
}

fn load_external(vfs: &Vfs, name: &str, context: &JobContext) -> Result<LightmapPages, Cancelled> {
    let find = |number| find_external(vfs, name, number);
    let paths: Vec<String> = (0..PAGES_MAX).map_while(find).collect();
    let decoded: Vec<(String, Result<Image, String>)> = paths
        .into_par_iter()
        .map(|path| {
            context.cancel.check()?;
            let file =
                sources::read(vfs, &path, &context.warnings).map_err(|error| error.to_string());
            let image = file.and_then(|file| Image::decode(&path, file));
            Ok((path, image))
        })
        .collect::<Result<_, Cancelled>>()?;
    let mut loaded = LightmapPages::default();
    for (path, image) in decoded {
        let page = image.and_then(|image| loaded.accept(image));
        if let Err(why) = page {
            context.warnings.push(
                "W123",
                format!("lightmap page {path}: {why}; it and later pages are not used"),
            );
            break;
        }
    }
    Ok(loaded)
}

impl LightmapPages {
    fn accept(&mut self, image: Image) -> Result<(), String> {
        let (width, height) = (image.width, image.height);
        if width != height || !width.is_power_of_two() {
            return Err(format!(
                "{width}×{height} texels are no square of a power of two"
            ));
        }
        if !self.pages.is_empty() && width != self.size {
            return Err(format!(
                "{width}×{height} texels, the first page has {0}×{0}",
                self.size
            ));
        }
        let texels = u64::from(width) * u64::from(height) * (self.pages.len() as u64 + 1);
        if texels > TEXELS_MAX {
            return Err("more texels than fit in memory".to_owned());
        }
        let rgb = image
            .rgba
            .chunks_exact(4)
            .flat_map(|texel| texel.iter().take(3).copied());
        let rgb: Vec<u8> = rgb.collect();
        self.pages.push(Arc::from(rgb));
        self.origins.extend(image.origin);
        self.size = width;
        self.origin = LightmapOrigin::External;
        Ok(())
    }
}
