use std::io::Write;

use serde::Serialize;

use crate::scene::Scene;
use crate::vfs::SearchedKind;

/// Where a map's files were looked for.
#[derive(Serialize)]
pub(crate) struct SearchInfo {
    /// Best first.
    places: Vec<PlaceInfo>,
    skipped: Vec<SkippedInfo>,
}

#[derive(Serialize)]
struct PlaceInfo {
    /// Empty for the embedded demo.
    path: String,
    kind: &'static str,
    /// Files that it offers; null for folders.
    files: Option<usize>,
    materials: usize,
    images: usize,
    /// The map, and what lies beside it.
    others: usize,
    /// Members that no name reaches.
    refused: Vec<String>,
    /// Members hidden by a later one of the same name in another case.
    hidden: usize,
}

#[derive(Serialize)]
struct SkippedInfo {
    path: String,
    reason: String,
}

/// A file that the map was made of.
#[derive(Serialize)]
pub(crate) struct AssetInfo {
    kind: &'static str,
    name: String,
    container: String,
    /// Name inside, with its own case.
    member: String,
}

impl SearchInfo {
    pub(crate) fn new(scene: &Scene) -> Self {
        let places = scene.usage().into_iter().map(|(place, usage)| PlaceInfo {
            path: place.path.display().to_string(),
            kind: match place.kind {
                SearchedKind::Folder => "folder",
                SearchedKind::Archive => "archive",
                SearchedKind::Demo => "demo",
            },
            files: place.files,
            materials: usage.materials,
            images: usage.images,
            others: usage.others,
            refused: place.refused.clone(),
            hidden: place.hidden,
        });
        let skipped = scene.sources.skipped.iter();
        Self {
            places: places.collect(),
            skipped: skipped
                .map(|(path, reason)| SkippedInfo {
                    path: path.display().to_string(),
                    reason: reason.clone(),
                })
                .collect(),
        }
    }

    /// Folders and archives that something came out of; the others are only counted.
    pub(crate) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "\nsearched, best first")?;
        let mut unused = 0;
        for place in &self.places {
            if place.materials + place.images + place.others == 0 {
                unused += 1;
                continue;
            }
            let path = if place.path.is_empty() {
                "embedded demo"
            } else {
                &place.path
            };
            writeln!(
                out,
                "  {path}: {} materials, {} images, {} other files",
                place.materials, place.images, place.others
            )?;
        }
        if unused > 0 {
            writeln!(out, "  {unused} others, of no use here")?;
        }
        for skipped in &self.skipped {
            writeln!(out, "  {}: skipped, {}", skipped.path, skipped.reason)?;
        }
        Ok(())
    }
}

pub(crate) fn assets(scene: &Scene) -> Vec<AssetInfo> {
    let info = scene.assets().into_iter().map(|asset| AssetInfo {
        kind: asset.kind.word(),
        name: asset.name.to_owned(),
        container: asset.origin.container.display().to_string(),
        member: asset.origin.name.clone(),
    });
    info.collect()
}
