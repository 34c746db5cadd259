use std::path::Path;

use egui::{RichText, Ui};
use glam::{UVec3, Vec3};

use crate::scene::{LightmapOrigin, MapSourceKind, Scene, SearchedKind, Usage};
use crate::ui::widgets::{
    Explained, bytes, empty_ui, point_count, section_ui, thousands, told_value_ui, triple, value_ui,
};
use crate::ui::{Model, theme};
use crate::view::{Command, LoadedMap, ShContainer, Side, Tab};

/// The file: variant, counts, grids, warnings.
pub(crate) fn map_tab_ui(ui: &mut Ui, model: &Model<'_>, commands: &mut Vec<Command>) {
    let Some(map) = &model.state.map else {
        empty_ui(
            ui,
            "No map is open. Drop a .bsp or .pk3 on the window, or press Ctrl+O.",
        );
        return;
    };
    let scene = &map.scene;
    ui.label(RichText::new(&scene.name).heading());
    ui.add(egui::Label::new(RichText::new(map.file.text()).color(theme::WEAK)).wrap());
    section_ui(ui, "Variant");
    let variant = &scene.bsp.directory.variant;
    ui.add(egui::Label::new(variant.label.text()).wrap());
    for reason in &variant.reasons {
        ui.add(egui::Label::new(RichText::new(format!("• {reason}")).color(theme::WEAK)).wrap());
    }
    ui.separator();
    grids_ui(ui, map, commands);
    ui.separator();
    counts_ui(ui, map);
    ui.separator();
    search_ui(ui, &map.scene);
    if !map.warnings.is_empty() {
        ui.separator();
        section_ui(ui, "Warnings");
        for warning in &map.warnings {
            let times = if warning.count > 1 {
                format!(" ×{}", warning.count)
            } else {
                String::new()
            };
            let text = format!("▲ {} {}{times}", warning.code, warning.text);
            ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
        }
    }
}

fn grids_ui(ui: &mut Ui, map: &LoadedMap, commands: &mut Vec<Command>) {
    section_ui(ui, "Light grids");
    let shown = match (map.side, &map.bake) {
        (Side::Baked, Some(bake)) if bake.saved => "B, this session's bake".to_owned(),
        (Side::Baked, Some(bake)) => {
            format!("B, this session's bake ({:.1} s), unsaved", bake.secs)
        }
        (Side::Original, Some(_)) => "A, the file's; press B for the bake".to_owned(),
        _ => "A, the file's".to_owned(),
    };
    value_ui(ui, "Shown", shown);
    let lighting = &map.shown().lighting;
    match &lighting.light_grid {
        Some(grid) => layout_ui(ui, "Legacy", grid.lattice.counts, grid.lattice.cell_size, 8),
        None => value_ui(
            ui,
            "Legacy",
            RichText::new("none, or not matching").color(theme::WARNING),
        ),
    }
    if let Some(grid) = &lighting.sh_grid {
        layout_ui(ui, "SH", grid.lattice.counts, grid.lattice.cell_size, 108);
        if let Some(container) = map.scene.bsp.sh_container {
            let place = match container {
                ShContainer::V47 => "lump 18",
                ShContainer::Bspx => "BSPX block",
                ShContainer::Sidecar => "file beside the map",
            };
            value_ui(ui, "SH kept in", place);
        }
        return;
    }
    value_ui(ui, "SH", "none");
    if ui
        .button("Bake SH grid")
        .tip("Brings the bake settings to the front.")
        .clicked()
    {
        commands.push(Command::ShowTab(Tab::Bake));
    }
}

fn layout_ui(ui: &mut Ui, name: &str, counts: UVec3, cell: Vec3, point_bytes: u64) {
    let points = point_count(counts);
    let text = format!(
        "{} × {} × {} = {} points\ncell {}, {}",
        counts.x,
        counts.y,
        counts.z,
        thousands(points),
        triple(cell),
        bytes(points * point_bytes)
    );
    value_ui(ui, name, text);
}

/// Pages of light, where they come from, and what tells that every other one holds directions.
fn lightmaps_ui(ui: &mut Ui, map: &LoadedMap) {
    let lightmaps = &map.scene.lightmaps;
    let place = match lightmaps.origin {
        LightmapOrigin::None => None,
        LightmapOrigin::Internal => Some("lump 14"),
        LightmapOrigin::External => Some("files"),
    };
    let (pages, size) = (lightmaps.pages.len(), lightmaps.size);
    let text = place.map_or_else(
        || "none".to_owned(),
        |place| format!("{pages} of {size} × {size}, {place}"),
    );
    value_ui(ui, "Lightmaps", text);
    if let Some(deluxe) = &map.scene.deluxe {
        let space = if deluxe.tangent_space {
            "surface"
        } else {
            "world"
        };
        let reason = format!(
            "• every second one holds directions in {space} space: {}",
            deluxe.reason.text()
        );
        ui.add(egui::Label::new(RichText::new(reason).color(theme::WEAK)).wrap());
    }
}

fn counts_ui(ui: &mut Ui, map: &LoadedMap) {
    section_ui(ui, "Contents");
    let (scene, bsp) = (&map.scene, &map.scene.bsp);
    let lights = bsp
        .entities
        .list
        .iter()
        .filter(|entity| entity.is_light())
        .count();
    for (name, count) in [
        ("Surfaces", bsp.surfaces.len()),
        ("Triangles", scene.indices.len() / 3),
        ("Materials", scene.materials.len()),
        ("Images", scene.images.len()),
        ("Models", bsp.models.len()),
        ("Brushes", bsp.brushes.len()),
        ("Leafs", bsp.leafs.len()),
        ("Entities", bsp.entities.list.len()),
        ("Lights", lights),
        ("Start views", scene.spawns.len()),
    ] {
        value_ui(ui, name, thousands(count as u64));
    }
    lightmaps_ui(ui, map);
    value_ui(ui, "Size", triple(scene.bounds.size()));
    let scale = &scene.light_scale;
    let factor = format!("×{}", scale.overbright.factor());
    let why = format!("The map asks for this: {}.", scale.reason.text());
    told_value_ui(ui, "Overbright", factor, &why);
    if !scene.light_styles.is_empty() {
        let styles: Vec<String> = scene.light_styles.iter().map(u8::to_string).collect();
        value_ui(ui, "Light styles", styles.join(", "));
    }
    if let Some(source) = &scene.map_source {
        let name = match source.kind {
            MapSourceKind::Map => "Map source",
            MapSourceKind::Ent => "Entity file",
        };
        value_ui(ui, name, source.origin.display().to_string());
    }
}

/// Where the map's files were looked for, what came out of each place, and what could not be searched.
fn search_ui(ui: &mut Ui, scene: &Scene) {
    let sources = &scene.sources;
    let skipped = match sources.skipped.len() {
        0 => String::new(),
        count => format!(", {count} skipped"),
    };
    let places = match sources.searched.len() {
        1 => "1 place".to_owned(),
        count => format!("{count} places"),
    };
    let title = format!("Search path ({places}{skipped})");
    let header = egui::CollapsingHeader::new(title).id_salt("search path");
    header.show(ui, |ui| {
        for (place, usage) in scene.usage() {
            let path = match place.kind {
                SearchedKind::Demo => "embedded demo".to_owned(),
                SearchedKind::Folder | SearchedKind::Archive => place.path.display().to_string(),
            };
            if usage == Usage::default() {
                ui.add(egui::Label::new(RichText::new(path).color(theme::WEAK)).wrap());
            } else {
                egui::CollapsingHeader::new(path)
                    .id_salt(&place.path)
                    .show(ui, |ui| place_ui(ui, scene, &place.path, usage));
            }
        }
        for (path, reason) in &sources.skipped {
            let text = format!("▲ {}: skipped, {reason}", path.display());
            ui.add(egui::Label::new(RichText::new(text).color(theme::WARNING)).wrap());
        }
    });
}

fn place_ui(ui: &mut Ui, scene: &Scene, container: &Path, usage: Usage) {
    ui.label(format!(
        "{} materials, {} images, {} other files",
        usage.materials, usage.images, usage.others
    ));
    let assets = scene.assets();
    let here = assets
        .iter()
        .filter(|asset| asset.origin.container == container);
    for asset in here {
        let text = format!(
            "{} {} · {}",
            asset.kind.word(),
            asset.name,
            asset.origin.name
        );
        ui.add(egui::Label::new(RichText::new(text).color(theme::WEAK)).truncate())
            .on_hover_text(&asset.origin.name);
    }
}
