//! Every variant of the family: told apart by its bytes, read to the same map, written back as it was.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    missing_docs,
    reason = "a test may stop at once and speak"
)]

#[path = "support/map_builder.rs"]
mod map_builder;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use glam::Vec3;
use luxgrid::format::bsp::{
    Bsp, LightGridPoint, LightmapIndex, LumpKind, ShContainer, SurfaceKind, VariantLabel,
    content_flags, read, surface_flags, write, write_with,
};
use luxgrid::format::material_script::TcGen;
use luxgrid::job::JobContext;
use luxgrid::scene::{DeluxeReason, LightmapOrigin, Scene, StageImage, build};
use luxgrid::vfs::{SearchOptions, open_map};

use map_builder::Layout;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants")
}

/// The reference compiler's map, compiled and lit for `game`.
fn reference(game: &str, map: &str) -> Scene {
    scene_at(&data().join(format!("{game}.pk3/maps/{map}.bsp"))).0
}

fn scene_at(path: &Path) -> (Scene, Vec<String>) {
    let context = JobContext::default();
    let opened = open_map(path, &SearchOptions::default()).unwrap();
    let scene = build(&opened, &context).unwrap();
    let warnings = context.warnings.list();
    (
        scene,
        warnings.into_iter().map(|warning| warning.text).collect(),
    )
}

fn member(game: &str, name: &str) -> Vec<u8> {
    let file = fs::File::open(data().join(format!("{game}.pk3"))).unwrap();
    let mut zip = zip::ZipArchive::new(file).unwrap();
    let mut bytes = Vec::new();
    zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn places(scene: &Scene) -> Vec<(Vec3, glam::Vec2)> {
    let vertices = scene.vertices.iter();
    vertices
        .map(|vertex| (vertex.position, vertex.st))
        .collect()
}

/// Corners, indices and surfaces of the file: the scene has more, since it closes cracks with corners of its own.
fn sizes_of_file(scene: &Scene) -> [usize; 3] {
    let surfaces = &scene.bsp.surfaces;
    let indices = surfaces.iter().map(|surface| surface.index_count as usize);
    [scene.bsp.draw_verts.len(), indices.sum(), surfaces.len()]
}

/// Largest difference of two grids' light bytes.
fn grid_difference(a: &Scene, b: &Scene) -> u8 {
    let points = |scene: &Scene| scene.lighting.light_grid.as_ref().unwrap().points.clone();
    let light = |point: LightGridPoint| [point.ambient, point.directed].concat();
    let (a, b) = (points(a), points(b));
    assert_eq!(a.len(), b.len());
    let bytes = a
        .into_iter()
        .zip(b)
        .flat_map(|(a, b)| light(a).into_iter().zip(light(b)));
    bytes.map(|(a, b)| a.abs_diff(b)).max().unwrap()
}

/// Light of the lit surface's page at each vertex.
fn light_at_vertices(scene: &Scene) -> Vec<[u8; 3]> {
    let mut light = Vec::new();
    for surface in &scene.surfaces {
        let Some(page) = surface.lightmap else {
            continue;
        };
        let page = &scene.lightmaps.pages[page as usize];
        let size = scene.lightmaps.size;
        let range = surface.indices.start as usize..surface.indices.end as usize;
        for index in &scene.indices[range] {
            let uv = scene.vertices[*index as usize].lightmap_st * size as f32;
            let (x, y) = ((uv.x as u32).min(size - 1), (uv.y as u32).min(size - 1));
            let at = (y * size + x) as usize * 3;
            light.push(page[at..at + 3].try_into().unwrap());
        }
    }
    light
}

const MAPS: [&str; 3] = ["m02_occluder", "m09_areas", "m11_styles"];

#[test]
fn reference_files_are_told_apart_and_agree_on_geometry() {
    let games = [
        ("quake3", VariantLabel::Sh, 128),
        ("et", VariantLabel::Unknown47, 128),
        ("quakelive", VariantLabel::Unknown47, 128),
        ("xonotic", VariantLabel::Quake3, 128),
        ("ja", VariantLabel::Raven, 128),
        ("qfusion", VariantLabel::Warsow, 512),
    ];
    for map in MAPS {
        let quake3 = reference("quake3", map);
        for (game, label, page) in games {
            let scene = reference(game, map);
            let name = format!("{game} {map}");
            assert_eq!(scene.bsp.directory.variant.label, label, "{name}");
            assert!(scene.bsp.directory.variant.reasons.len() >= 2, "{name}");
            assert_eq!(scene.bsp.warnings, [], "{name}");
            assert_eq!(scene.lightmaps.size, page, "{name}");
            assert_eq!(scene.lightmaps.origin, LightmapOrigin::Internal, "{name}");
            let lattice = |scene: &Scene| scene.lighting.light_grid.as_ref().unwrap().lattice;
            assert_eq!(lattice(&scene), lattice(&quake3), "{name}");
            if (game, map) == ("ja", "m09_areas") {
                // Compiled without its area portal: another map.
                assert_eq!(sizes_of_file(&scene), [112, 186, 25]);
            } else {
                assert_eq!(places(&scene), places(&quake3), "{name}");
                assert_eq!(scene.indices, quake3.indices, "{name}");
            }
            let bytes = member(game, &format!("maps/{map}.bsp"));
            assert_eq!(write(&scene.bsp), bytes, "{name}");
        }
    }
    let counts = |scene: &Scene| {
        let grid = scene.lighting.light_grid.as_ref().unwrap();
        (sizes_of_file(scene), grid.lattice.counts.to_array())
    };
    assert_eq!(
        counts(&reference("ja", "m02_occluder")),
        ([52, 78, 13], [17, 9, 3])
    );
    assert_eq!(
        counts(&reference("qfusion", "m11_styles")),
        ([24, 36, 6], [9, 9, 3])
    );
}

/// Games lit by the same rules have the same light; the palette of RBSP merges bytes up to 4 apart.
#[test]
fn reference_files_agree_on_light() {
    for map in MAPS {
        let quake3 = reference("quake3", map);
        let live = reference("quakelive", map);
        assert_eq!(grid_difference(&live, &quake3), 0);
        assert_eq!(live.lightmaps.pages, quake3.lightmaps.pages);
        let warsow = reference("qfusion", map);
        assert!(warsow.bsp.styled_grid.as_ref().unwrap().missing() == 0);
        if map != "m09_areas" {
            let jedi = reference("ja", map);
            assert!(grid_difference(&jedi, &quake3) <= 4);
            assert_eq!(jedi.lightmaps.pages[0], quake3.lightmaps.pages[0]);
            assert_eq!(light_at_vertices(&jedi), light_at_vertices(&quake3));
            assert!(grid_difference(&warsow, &reference("xonotic", map)) <= 4);
        }
    }
    let palette = |game: &str, map: &str| {
        let scene = reference(game, map);
        let grid = scene.bsp.styled_grid.clone().unwrap();
        (grid.palette.len(), grid.indices.len())
    };
    assert_eq!(palette("ja", "m02_occluder"), (422, 459));
    assert_eq!(palette("qfusion", "m02_occluder"), (440, 459));
    assert_eq!(palette("ja", "m11_styles"), (243, 243));
}

#[test]
fn styles_of_raven_files_are_read() {
    for game in ["ja", "qfusion"] {
        let bsp = reference(game, "m11_styles").bsp;
        for surface in &bsp.surfaces {
            assert_eq!(surface.lightmap_styles, [0, 3, 255, 255], "{game}");
            assert_eq!(surface.vertex_styles, [0, 3, 255, 255], "{game}");
            let [first, second, third, fourth] = surface.lightmap;
            assert_eq!(first, second, "{game}: both on one page");
            assert!(matches!(first, LightmapIndex::Page(_)), "{game}");
            assert_eq!([third, fourth], [LightmapIndex::Vertex; 2], "{game}");
        }
        let grid = bsp.styled_grid.as_ref().unwrap();
        assert!(
            grid.palette
                .iter()
                .any(|point| point.styles == [0, 3, 255, 255])
        );
        assert!(grid.palette.iter().any(|point| point.directed[1] != [0; 3]));
        let moved = |slot: usize| {
            bsp.draw_verts
                .iter()
                .any(|vert| vert.lightmap_st[slot] != glam::Vec2::ZERO)
        };
        assert!(moved(0) && moved(1) && !moved(2), "{game}");
    }
    // In IBSP styles are stages of a generated material.
    let xonotic = reference("xonotic", "m11_styles");
    let styled = xonotic
        .materials
        .iter()
        .find(|material| material.name.starts_with("m11_styles/"));
    let stages = &styled.unwrap().stages;
    assert_eq!(stages.len(), 3);
    assert_eq!(stages[1].image, StageImage::Lightmap);
    assert_eq!(stages[1].tc_gen, TcGen::Lightmap);
    assert_eq!(stages[1].tc_mods.len(), 1);
}

#[test]
fn deluxe_pages_are_known_and_never_light() {
    for game in ["xonotic", "qfusion"] {
        for map in MAPS {
            let scene = reference(game, map);
            let deluxe = scene.deluxe.clone().unwrap();
            assert!(
                matches!(
                    deluxe.reason,
                    DeluxeReason::Pages {
                        unit_vectors: 99..=100
                    }
                ),
                "{game} {map}: {deluxe:?}"
            );
            let pages = scene.surfaces.iter().filter_map(|surface| surface.lightmap);
            assert!(pages.clone().count() > 0);
            assert!(
                pages
                    .into_iter()
                    .all(|page| page % 2 == 0 && scene.lightmaps.is_light(page))
            );
            assert!(!scene.lightmaps.is_light(1));
        }
    }
    for game in ["quake3", "ja", "et", "quakelive"] {
        for map in MAPS {
            assert_eq!(reference(game, map).deluxe, None, "{game} {map}");
        }
    }
    // A key goes before the pages.
    let source = read(&member("xonotic", "maps/m11_styles.bsp")).unwrap();
    for (value, found) in [("2", true), ("0", false)] {
        let bytes = write(&source.with_worldspawn_key("deluxeMaps", value));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.bsp");
        fs::write(&path, bytes).unwrap();
        let deluxe = scene_at(&path).0.deluxe;
        assert_eq!(deluxe.is_some(), found);
        assert!(deluxe.is_none_or(
            |deluxe| deluxe.tangent_space && deluxe.reason.text().contains("deluxeMaps is “2”")
        ));
    }
}

/// A game folder with `maps/m.bsp` and `pages` as `maps/m/<name>`.
fn external(bsp: &[u8], pages: &[(&str, Vec<u8>)]) -> (Scene, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let maps = folder.path().join("base/maps");
    fs::create_dir_all(maps.join("m")).unwrap();
    fs::write(maps.join("m.bsp"), bsp).unwrap();
    for (name, image) in pages {
        fs::write(maps.join("m").join(name), image).unwrap();
    }
    scene_at(&maps.join("m.bsp"))
}

/// The file with lump 14 empty.
fn without_pages(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes[8 + 14 * 8 + 4..8 + 14 * 8 + 8].fill(0);
    bytes
}

fn png(side: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let image = image::RgbImage::from_pixel(side, side, image::Rgb([9, 8, 7]));
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn external_pages_take_the_place_of_lump_14() {
    let page = |number: u32| member("xonotic", &format!("maps/m11_styles/lm_000{number}.tga"));
    let whole = member("xonotic", "maps/m11_styles.bsp");
    let internal = read(&whole).unwrap();
    let empty = without_pages(whole.clone());
    let all = [
        ("lm_0000.tga", page(0)),
        ("LM_0001.TGA", page(1)),
        ("lm_0002.tga", page(2)),
        ("lm_0003.tga", page(3)),
    ];
    let (scene, _) = external(&empty, &all);
    assert_eq!(scene.lightmaps.origin, LightmapOrigin::External);
    assert_eq!(scene.lightmaps.size, 128);
    assert_eq!(scene.lightmaps.pages.len(), 4);
    assert_eq!(scene.lightmaps.pages, internal.lightmaps);
    assert_eq!(
        light_at_vertices(&scene),
        light_at_vertices(&reference("xonotic", "m11_styles"))
    );
    assert!(scene.deluxe.is_some());
    // Lump 14 goes before.
    let (scene, _) = external(&whole, &[("lm_0000.png", png(256))]);
    assert_eq!(scene.lightmaps.origin, LightmapOrigin::Internal);
    // Larger pages in another format; a surface names page 2, which is missing, and says so with the paths tried.
    let (scene, warnings) = external(
        &empty,
        &[("lm_0000.png", png(256)), ("lm_0001.png", png(256))],
    );
    assert_eq!(
        (scene.lightmaps.size, scene.lightmaps.pages.len()),
        (256, 2)
    );
    let text = warnings
        .iter()
        .find(|text| text.contains("maps/m/lm_0002.tga"))
        .unwrap();
    assert!(
        text.contains("lm_0002.png") && text.contains("name 3 lightmap pages"),
        "{text}"
    );
    // A gap ends the pages.
    let (scene, _) = external(
        &empty,
        &[("lm_0000.tga", page(0)), ("lm_0002.tga", page(2))],
    );
    assert_eq!(scene.lightmaps.pages.len(), 1);
    for (odd, words) in [
        (png(64), "the first page has 128×128"),
        (png(100), "no square of a power of two"),
        (b"garbage".to_vec(), "lm_0001.png"),
    ] {
        let (scene, warnings) = external(&empty, &[("lm_0000.tga", page(0)), ("lm_0001.png", odd)]);
        assert_eq!(scene.lightmaps.pages.len(), 1);
        assert!(
            warnings.iter().any(|text| text.contains(words)),
            "{words}: {warnings:?}"
        );
    }
    let (scene, warnings) = external(&empty, &[]);
    assert_eq!(scene.lightmaps.origin, LightmapOrigin::None);
    assert!(
        warnings
            .iter()
            .any(|text| text.contains("maps/m/lm_0000.tga"))
    );
    assert!(
        scene
            .surfaces
            .iter()
            .all(|surface| surface.lightmap.is_none())
    );
}

/// Mixed mode: a page of its own size as the image of a generated material.
#[test]
fn a_generated_material_draws_its_own_page() {
    let mut bytes = member("quakelive", "maps/m11_styles.bsp");
    let surfaces = i32::from_le_bytes(bytes[8 + 13 * 8..12 + 13 * 8].try_into().unwrap()) as usize;
    bytes[surfaces + 28..surfaces + 32].copy_from_slice(&(-3_i32).to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base");
    fs::create_dir_all(base.join("maps/m11_styles")).unwrap();
    fs::create_dir_all(base.join("scripts")).unwrap();
    fs::write(base.join("maps/m11_styles.bsp"), bytes).unwrap();
    fs::write(base.join("maps/m11_styles/lm_0000.tga"), png(256)).unwrap();
    let script = "m11_styles/A595B3464CE0385936338E418C233FB8\n{\n{\nmap maps/m11_styles/lm_0000.tga\nrgbGen identity\ntcGen lightmap\n}\n}\n";
    fs::write(base.join("scripts/q3map2_m11_styles.shader"), script).unwrap();
    let (scene, _) = scene_at(&base.join("maps/m11_styles.bsp"));
    let surface = scene.surfaces.iter().find(|surface| {
        scene.material_of(surface).name.starts_with("m11_styles/") && surface.lightmap.is_none()
    });
    let material = scene.material_of(surface.unwrap());
    let [stage] = material.stages.as_slice() else {
        panic!("{:?}", material.stages);
    };
    assert_eq!(stage.tc_gen, TcGen::Lightmap);
    let StageImage::Image(image) = stage.image else {
        panic!("{:?}", stage.image);
    };
    assert_eq!(scene.images[image.0 as usize].width, 256);
}

fn source() -> Bsp {
    read(&member("quake3", "maps/m02_occluder.bsp")).unwrap()
}

#[test]
fn twins_in_seven_layouts_are_told_apart_and_are_the_same_map() {
    let source = source();
    let labels = [
        VariantLabel::Quake3,
        VariantLabel::Quake3,
        VariantLabel::QuakeLive,
        VariantLabel::WolfEt,
        VariantLabel::Sh,
        VariantLabel::Raven,
        VariantLabel::Warsow,
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bsp");
    for marked in [false, true] {
        let mut first: Option<Scene> = None;
        for (layout, label) in Layout::ALL.into_iter().zip(labels) {
            let bytes = map_builder::build(&source, layout, marked);
            fs::write(&path, &bytes).unwrap();
            let (scene, _) = scene_at(&path);
            let bsp = &scene.bsp;
            let name = format!(
                "{layout:?}, marked {marked}: {:?}",
                bsp.directory.variant.reasons
            );
            assert_eq!(bsp.directory.variant.label, label, "{name}");
            assert_eq!(bsp.warnings, [], "{name}");
            assert_eq!(write(bsp), bytes, "{name}");
            assert_eq!(bsp.sh_grid.is_some(), layout == Layout::Sh, "{name}");
            let entries = match layout {
                Layout::Ibsp17 => 17,
                Layout::Sh => 19,
                _ => 18,
            };
            assert_eq!(bsp.directory.entry_count, entries, "{name}");
            let first = first.get_or_insert_with(|| scene.clone());
            assert_eq!(places(&scene), places(first), "{name}");
            assert_eq!(scene.indices, first.indices, "{name}");
            assert_eq!(
                light_at_vertices(&scene),
                light_at_vertices(first),
                "{name}"
            );
            assert_eq!(
                scene.lighting.light_grid, first.lighting.light_grid,
                "{name}"
            );
            assert_eq!(bsp.brush_sides, first.bsp.brush_sides, "{name}");
            assert_eq!(bsp.leafs, first.bsp.leafs, "{name}");
        }
    }
}

#[test]
fn version_47_patched_onto_46_changes_no_entry_count() {
    let source = source();
    for (layout, entries) in [(Layout::Ibsp17, 17), (Layout::Ibsp18, 18)] {
        for marked in [false, true] {
            let mut bytes = map_builder::build(&source, layout, marked);
            bytes[4] = 47;
            let bsp = read(&bytes).unwrap();
            assert_eq!(bsp.directory.entry_count, entries);
            assert_eq!(bsp.directory.variant.label, VariantLabel::Unknown47);
            assert!(bsp.sh_grid.is_none() && bsp.warnings.is_empty());
        }
    }
}

#[test]
fn a_changed_grid_is_written_in_every_layout_and_nothing_else_changes() {
    let source = source();
    let mut points = source.light_grid.clone();
    for (index, point) in points.iter_mut().enumerate() {
        point.ambient = [index as u8, (index >> 8) as u8, 77];
    }
    for layout in Layout::ALL {
        for container in [ShContainer::V47, ShContainer::Bspx] {
            let old = read(&map_builder::build(&source, layout, true)).unwrap();
            let written = write_with(&old.with_light_grid(&points), container).bsp;
            let new = read(&written).unwrap();
            assert_eq!(new.light_grid, points, "{layout:?}");
            assert_eq!(new.sh_grid, old.sh_grid, "{layout:?}");
            for kind in old.directory.kinds() {
                let changed = matches!(kind, LumpKind::LightGrid | LumpKind::LightGridArray);
                assert!(
                    changed || new.lump_bytes(kind) == old.lump_bytes(kind),
                    "{layout:?} {kind:?}"
                );
            }
            assert_eq!(
                new.directory.marker.is_some(),
                old.directory.marker.is_some()
            );
            assert_eq!(write(&new), written);
        }
    }
}

/// SH grid in each container and layout: read back the same, the other lumps as they were, and taken out again.
#[test]
fn the_three_containers_are_read_back() {
    let source = source();
    let grid = source.sh_grid.clone().unwrap();
    for layout in Layout::ALL {
        let plain_bytes = map_builder::build(&source, layout, true);
        let plain = read(&plain_bytes).unwrap();
        let lit = plain.with_sh_grid(Some(&grid));
        for container in [ShContainer::V47, ShContainer::Bspx, ShContainer::Sidecar] {
            let written = write_with(&lit, container);
            let styled = matches!(layout, Layout::Rbsp | Layout::Fbsp);
            let expected = match container {
                ShContainer::V47 if styled => ShContainer::Bspx,
                container => container,
            };
            assert_eq!(written.container, Some(expected), "{layout:?}");
            let mut back = read(&written.bsp).unwrap();
            assert_eq!(back.warnings, [], "{layout:?} {container:?}");
            if let Some(sidecar) = &written.sidecar {
                assert!(back.sh_grid.is_none());
                back = back.with_sidecar(sidecar).unwrap();
            }
            assert_eq!(
                back.sh_grid.as_ref(),
                Some(&grid),
                "{layout:?} {container:?}"
            );
            assert_eq!(back.sh_container, Some(expected));
            assert!(!back.is_modified());
            // Again into the same container: the identity.
            assert_eq!(
                write_with(&back, container),
                written,
                "{layout:?} {container:?}"
            );
            if expected != ShContainer::V47 && layout != Layout::Sh {
                let variant = &back.directory.variant;
                assert_eq!(variant.version, plain.directory.variant.version);
                assert_eq!(variant.label, plain.directory.variant.label);
                assert!(written.bsp.starts_with(&plain_bytes));
            }
            for kind in plain
                .directory
                .kinds()
                .filter(|kind| *kind != LumpKind::LightGridSh)
            {
                assert_eq!(
                    back.lump_bytes(kind),
                    plain.lump_bytes(kind),
                    "{layout:?} {kind:?}"
                );
            }
            // Into each other container.
            for other in [ShContainer::V47, ShContainer::Bspx, ShContainer::Sidecar] {
                let moved = write_with(&back, other);
                let mut again = read(&moved.bsp).unwrap();
                if let Some(sidecar) = &moved.sidecar {
                    again = again.with_sidecar(sidecar).unwrap();
                }
                assert_eq!(
                    again.sh_grid.as_ref(),
                    Some(&grid),
                    "{layout:?} {container:?} {other:?}"
                );
            }
            let dark = write_with(&back.with_sh_grid(None), container);
            let read_back = read(&dark.bsp).unwrap();
            assert!(read_back.sh_grid.is_none() && dark.sidecar.is_none());
            assert!(read_back.directory.bspx.is_none());
            if layout != Layout::Sh && expected != ShContainer::V47 {
                assert_eq!(dark.bsp, plain_bytes, "{layout:?} {container:?}");
            }
        }
    }
}

#[test]
fn foreign_extra_lumps_and_trailing_bytes_survive_a_changed_grid() {
    let source = source();
    let mut bytes = map_builder::build(&source, Layout::Ibsp17, true);
    let start = bytes.len() as i32;
    bytes.extend_from_slice(b"BSPX");
    bytes.extend(1_i32.to_le_bytes());
    bytes.extend_from_slice(b"RGBLIGHTING\0\0\0\0\0\0\0\0\0\0\0\0\0");
    bytes.extend((start + 40).to_le_bytes());
    bytes.extend(5_i32.to_le_bytes());
    bytes.extend_from_slice(b"light\0\0\0a tail");
    let old = read(&bytes).unwrap();
    assert_eq!(old.directory.bspx.as_ref().unwrap().entries.len(), 1);
    assert_eq!(write(&old), bytes);
    let lit = write_with(
        &old.with_sh_grid(source.sh_grid.as_ref()),
        ShContainer::Bspx,
    )
    .bsp;
    let new = read(&lit).unwrap();
    let block = new.directory.bspx.as_ref().unwrap();
    assert_eq!(block.entries.len(), 2);
    assert_eq!(&lit[block.entries[0].entry.range()], b"light");
    assert!(lit.ends_with(b"a tail"));
    let dark = write(&new.with_sh_grid(None));
    assert_eq!(
        read(&dark).unwrap().directory.bspx.unwrap().entries.len(),
        1
    );
    assert!(dark.ends_with(b"a tail"));
    let again = write(&read(&dark).unwrap().with_light_grid(&[]));
    assert!(again.len() < dark.len());
}

#[test]
fn a_sidecar_beside_the_map_is_found() {
    let source = source();
    let plain = read(&map_builder::build(&source, Layout::Ibsp17, false)).unwrap();
    let grid = source.sh_grid.clone().unwrap();
    let written = write_with(&plain.with_sh_grid(Some(&grid)), ShContainer::Sidecar);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bsp");
    fs::write(&path, &written.bsp).unwrap();
    let sidecar = written.sidecar.unwrap();
    fs::write(folder.path().join("m.shgrid"), &sidecar).unwrap();
    let (scene, _) = scene_at(&path);
    assert_eq!(scene.lighting.sh_grid.as_deref(), Some(&grid));
    assert_eq!(scene.bsp.sh_container, Some(ShContainer::Sidecar));
    // A plain write leaves the map alone; a new grid goes into it.
    assert_eq!(write(&scene.bsp), written.bsp);
    let mut other = grid.clone();
    std::sync::Arc::make_mut(&mut other.points)[0][0][0] = 5.0;
    let moved = read(&write(&scene.bsp.with_sh_grid(Some(&other)))).unwrap();
    assert_eq!(moved.sh_grid, Some(other));
    for (damage, words) in [
        (&b"LGS"[..], "does not start with LGSH"),
        (&sidecar[..sidecar.len() - 1], "and holds"),
        (
            &[&sidecar[..4], &[9], &sidecar[5..]].concat()[..],
            "version 9",
        ),
    ] {
        fs::write(folder.path().join("m.shgrid"), damage).unwrap();
        let (scene, warnings) = scene_at(&path);
        assert!(scene.lighting.sh_grid.is_none());
        assert!(
            warnings.iter().any(|text| text.contains(words)),
            "{warnings:?}"
        );
    }
}

#[test]
fn more_points_than_the_palette_takes_are_merged_with_a_warning() {
    let source = source();
    let raven = read(&map_builder::build(&source, Layout::Rbsp, false)).unwrap();
    let points: Vec<LightGridPoint> = (0..150_000_u32)
        .map(|index| LightGridPoint {
            ambient: [index as u8, (index >> 8) as u8, (index >> 16) as u8],
            ..LightGridPoint::default()
        })
        .collect();
    let changed = raven.with_light_grid(&points);
    let warning = changed.warnings.last().unwrap().to_string();
    assert!(
        warning.contains("differ by up to 4 were merged"),
        "{warning}"
    );
    let back = read(&write(&changed)).unwrap();
    assert_eq!(back.warnings, []);
    assert_eq!(back.light_grid, changed.light_grid);
}

#[test]
fn flags_of_the_raven_games_are_translated_and_kept() {
    let source = source();
    let mut bytes = map_builder::build(&source, Layout::Rbsp, false);
    let shaders = read(&bytes)
        .unwrap()
        .directory
        .entry(LumpKind::Shaders)
        .offset;
    bytes[shaders + 64..shaders + 68].copy_from_slice(&0x20_2000_u32.to_le_bytes());
    bytes[shaders + 68..shaders + 72].copy_from_slice(&0x8000_000E_u32.to_le_bytes());
    let bsp = read(&bytes).unwrap();
    let shader = &bsp.shaders[0];
    assert_eq!(
        shader.surface_flags,
        surface_flags::SKY | surface_flags::NO_DRAW
    );
    assert_eq!(
        shader.content_flags,
        content_flags::LAVA
            | content_flags::WATER
            | content_flags::FOG
            | content_flags::TRANSLUCENT
    );
    assert_eq!(shader.stored_flags, [0x20_2000, 0x8000_000E]);
    bytes[..4].copy_from_slice(b"FBSP");
    let warsow = read(&bytes).unwrap();
    assert_eq!(
        warsow.shaders[0].content_flags, 0x8000_000E,
        "Warsow kept Quake 3's numbers"
    );
}

/// What the compilers' own files say: the table of formats.md calls these numbers seen.
#[test]
fn flags_seen_in_compiled_maps() {
    let ja = reference("ja", "m02_occluder").bsp;
    for shader in &ja.shaders {
        assert_eq!(shader.stored_flags, [0, 0x8001], "{}", shader.name);
        assert_eq!(shader.content_flags, content_flags::SOLID);
    }
    let warsow = reference("qfusion", "m09_areas").bsp;
    let quake3 = reference("quake3", "m09_areas").bsp;
    for name in ["textures/common/areaportal", "textures/common/caulk"] {
        let [a, b] = [&warsow, &quake3].map(|bsp| {
            let mut shaders = bsp.shaders.iter();
            shaders.find(|shader| shader.name == name).unwrap().clone()
        });
        assert_eq!(a, b);
        assert_eq!(a.surface_flags, 0xCA0);
    }
    let portal =
        content_flags::AREA_PORTAL | content_flags::STRUCTURAL | content_flags::TRANSLUCENT;
    assert!(
        warsow
            .shaders
            .iter()
            .any(|shader| shader.content_flags == portal)
    );
}

/// A triangle that stands at two places, in the instances' colours.
#[test]
fn foliage_stands_at_every_instance() {
    let source = source();
    let mut lumps: Vec<Vec<u8>> = LumpKind::ALL
        .iter()
        .map(|kind| source.lump_bytes(*kind).to_vec())
        .collect();
    lumps[18].clear();
    let first_vert = (lumps[10].len() / 44) as i32;
    let vert = |x: f32, y: f32, z: f32, colour: [u8; 4]| {
        let mut bytes: Vec<u8> = [x, y, z].iter().flat_map(|v| v.to_le_bytes()).collect();
        bytes.resize(40, 0);
        bytes.extend(colour);
        bytes
    };
    for (x, y) in [(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)] {
        lumps[10].extend(vert(x, y, 0.0, [1, 2, 3, 4]));
    }
    lumps[10].extend(vert(100.0, 0.0, 10.0, [10; 4]));
    lumps[10].extend(vert(0.0, 100.0, 20.0, [20; 4]));
    let first_index = (lumps[11].len() / 4) as i32;
    for index in 0..3_i32 {
        lumps[11].extend(index.to_le_bytes());
    }
    let mut record = lumps[13][..104].to_vec();
    let mut put = |at: usize, value: i32| record[at..at + 4].copy_from_slice(&value.to_le_bytes());
    for (at, value) in [
        (8, 5),
        (12, first_vert),
        (16, 5),
        (20, first_index),
        (24, 3),
        (28, -3),
        (96, 2),
        (100, 3),
    ] {
        put(at, value);
    }
    lumps[13].extend(record);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bsp");
    for (version, triangles, label) in
        [(47, 2, VariantLabel::WolfEt), (46, 1, VariantLabel::Quake3)]
    {
        let bytes = map_builder::assemble(*b"IBSP", version, 17, &lumps, false);
        fs::write(&path, bytes).unwrap();
        let (scene, _) = scene_at(&path);
        assert_eq!(scene.bsp.directory.variant.label, label);
        let surface = scene.surfaces.last().unwrap();
        assert!(matches!(surface.kind, SurfaceKind::Foliage { .. }));
        assert_eq!(surface.indices.len(), triangles * 3);
        let warned = scene
            .bsp
            .warnings
            .iter()
            .any(|warning| warning.what.contains("drawn once"));
        assert_eq!(warned, version == 46);
        if version == 47 {
            let at = |n: usize| {
                scene.vertices[scene.indices[surface.indices.start as usize + n] as usize]
            };
            assert_eq!(
                (at(1).position, at(1).colour),
                (Vec3::new(108.0, 0.0, 10.0), [10; 4])
            );
            assert_eq!(
                (at(5).position, at(5).colour),
                (Vec3::new(0.0, 108.0, 20.0), [20; 4])
            );
        }
    }
}
