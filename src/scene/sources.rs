use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::job::Warnings;
use crate::scene::material::{ImageId, MaterialSource};
use crate::scene::types::{MapSourceKind, Scene};
use crate::vfs::{OpenedMap, Origin, Searched, Vfs, VfsError, VfsFile};

/// Refused names listed in a warning at most.
const NAMES_IN_WARNING: usize = 4;

/// Where a scene's files were looked for, and which of them are not named by what they became.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The BSP.
    pub bsp: Option<Origin>,
    /// The `.map` or `.ent` with the lights.
    pub map_source: Option<Origin>,
    /// The `.srf`.
    pub surface_extras: Option<Origin>,
    /// The `.shgrid` that the SH grid came from.
    pub sh_grid: Option<Origin>,
    /// Folders and archives searched, best first.
    pub searched: Vec<Searched>,
    /// What could not be searched, with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

/// What a file of the search path became.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssetKind {
    /// The BSP.
    Map,
    /// Lights of a `.map`.
    MapSource,
    /// Lights of an `.ent`.
    EntityFile,
    /// Surface extras of a `.srf`.
    SurfaceExtras,
    /// The SH grid of a `.shgrid`.
    ShGrid,
    /// A lightmap page outside the BSP.
    LightmapPage,
    /// A material: its script, or the image that stands for one.
    Material,
    /// A picture: texture, sky side, light image.
    Image,
}

impl AssetKind {
    /// For lists and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::MapSource => "map source",
            Self::EntityFile => "entity file",
            Self::SurfaceExtras => "surface extras",
            Self::ShGrid => "SH grid",
            Self::LightmapPage => "lightmap page",
            Self::Material => "material",
            Self::Image => "image",
        }
    }
}

/// Something that a scene is made of, and the file that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asset<'a> {
    /// What it is.
    pub kind: AssetKind,
    /// Name by which the map or a script asked for it.
    pub name: &'a str,
    /// Where it came from.
    pub origin: &'a Origin,
}

/// How much came out of one folder or archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Materials.
    pub materials: usize,
    /// Pictures.
    pub images: usize,
    /// Everything else: the map and the files beside it.
    pub others: usize,
}

impl Sources {
    /// Notes where a map's files are looked for and warns of what is amiss there.
    pub(super) fn of(map: &OpenedMap, warnings: &Warnings) -> Self {
        let sources = Self {
            bsp: Some(map.origin.clone()),
            searched: map.vfs.searched(),
            skipped: map.vfs.skipped().to_vec(),
            ..Self::default()
        };
        for (container, reason) in &sources.skipped {
            let text = format!("{}: skipped, {reason}", container.display());
            warnings.push("W122", text);
        }
        for place in &sources.searched {
            let count = place.refused.len();
            if count > 0 {
                let shown = place.refused.iter().take(NAMES_IN_WARNING);
                let shown: Vec<String> = shown.map(|name| format!("{name:?}")).collect();
                let more = if count > shown.len() { ", …" } else { "" };
                let text = format!(
                    "{}: members left out because no game reaches such names ({count}): {}{more}",
                    place.path.display(),
                    shown.join(", ")
                );
                warnings.push("W122", text);
            }
        }
        sources
    }
}

impl Scene {
    /// Everything that came out of a file, sorted by kind and name; what is missing or built in is left out.
    pub fn assets(&self) -> Vec<Asset<'_>> {
        let sources = &self.sources;
        let lights = self.map_source.as_ref().map(|source| source.kind);
        let lights = match lights.unwrap_or_default() {
            MapSourceKind::Map => AssetKind::MapSource,
            MapSourceKind::Ent => AssetKind::EntityFile,
        };
        let singles = [
            (AssetKind::Map, &sources.bsp),
            (lights, &sources.map_source),
            (AssetKind::SurfaceExtras, &sources.surface_extras),
            (AssetKind::ShGrid, &sources.sh_grid),
        ];
        let singles = singles.into_iter().filter_map(|(kind, origin)| {
            let origin = origin.as_ref()?;
            Some((kind, self.name.as_str(), origin))
        });
        let pages = self.lightmaps.origins.iter();
        let pages = pages.map(|origin| (AssetKind::LightmapPage, origin.name.as_str(), origin));
        let images = self.images.iter().filter_map(|image| {
            let origin = image.origin.as_ref()?;
            Some((AssetKind::Image, image.name.as_str(), origin))
        });
        let materials = self.materials.iter().filter_map(|material| {
            let origin = match &material.source {
                MaterialSource::Script { origin, .. } => origin,
                MaterialSource::Image => self.image_origin(material.base_image)?,
                MaterialSource::Missing => return None,
            };
            Some((AssetKind::Material, material.name.as_str(), origin))
        });
        let all = singles.chain(pages).chain(images).chain(materials);
        let mut assets: Vec<Asset<'_>> = all
            .map(|(kind, name, origin)| Asset { kind, name, origin })
            .collect();
        assets.sort_unstable();
        // A material is there once for each way of lighting.
        assets.dedup();
        assets
    }

    /// What came out of each place of the search path, in its order.
    pub fn usage(&self) -> Vec<(&Searched, Usage)> {
        let mut usages: BTreeMap<&Path, Usage> = BTreeMap::new();
        for asset in self.assets() {
            let usage = usages.entry(&asset.origin.container).or_default();
            match asset.kind {
                AssetKind::Material => usage.materials += 1,
                AssetKind::Image => usage.images += 1,
                _ => usage.others += 1,
            }
        }
        let searched = self.sources.searched.iter();
        searched
            .map(|place| {
                let usage = usages.get(place.path.as_path());
                (place, usage.copied().unwrap_or_default())
            })
            .collect()
    }

    fn image_origin(&self, image: ImageId) -> Option<&Origin> {
        self.images.get(image.0 as usize)?.origin.as_ref()
    }
}

/// Reads a file; better copies that cannot be read cost a warning each.
pub(super) fn read(vfs: &Vfs, name: &str, warnings: &Warnings) -> Result<VfsFile, VfsError> {
    let file = vfs.read(name)?;
    for error in &file.passed_over {
        let text = format!("{error}; {} is taken instead", file.origin);
        warnings.push("W122", text);
    }
    Ok(file)
}

/// The file of the map's stem with that extension; one that cannot be read costs a warning.
pub(super) fn read_companion(
    map: &OpenedMap,
    extension: &str,
    warnings: &Warnings,
) -> Option<VfsFile> {
    match map.companion(extension) {
        Ok(file) => file,
        Err(error) => {
            warnings.push("W122", format!("{error}; ignored"));
            None
        }
    }
}
