//! Sound files that mutations start from: one of every variant, as small as they come.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use luxgrid::format::bsp::{
    Bsp, LightGridPoint, LumpKind, ShContainer, ShGrid, read, write, write_with,
};
use luxgrid::format::json;
use luxgrid::format::lattice::Lattice;
use luxgrid::scene::grid_cell_size;

use crate::map_builder::{self, Layout};
use crate::targets::JSON_MARK;

const PATCH: &[u8] = include_bytes!("../data/format/patch.bsp");
const OCCLUDER: &[u8] = include_bytes!("../data/format/occluder.bsp");

fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Sound files for the target `name`.
pub(crate) fn seeds(name: &str) -> Vec<Vec<u8>> {
    match name {
        "bsp" => maps(),
        "sidecar" => vec![written_to(ShContainer::Sidecar).1.unwrap()],
        "pk3" => vec![archive(true), archive(false)],
        "image" => pictures(),
        "material_script" => vec![
            data("tests/data/micro/scripts/micro.shader"),
            data("assets/demo/scripts/atrium.shader"),
            data("assets/demo/scripts/common.shader"),
        ],
        "entities" => [PATCH, OCCLUDER]
            .map(|map| read(map).unwrap().lump_bytes(LumpKind::Entities).to_vec())
            .to_vec(),
        "map_text" => vec![
            data("tests/data/micro/maps/m06_area.map"),
            data("tests/data/micro/maps/m03_spot.map"),
        ],
        "srf" => vec![data("tests/data/micro/maps/m06_area.srf")],
        "json" => [PATCH.to_vec(), written_to(ShContainer::V47).0]
            .map(|map| folder(&map))
            .to_vec(),
        _ => panic!("no seeds for {name}"),
    }
}

/// The small map with both grids and visibility.
fn lit() -> Bsp {
    let bsp = read(OCCLUDER)
        .unwrap()
        .with_worldspawn_key("gridsize", "256 256 128");
    let cell_size = grid_cell_size(&bsp, &luxgrid::job::Warnings::default());
    let lattice = Lattice::from_bounds(&bsp.models[0].bounds, cell_size).unwrap();
    let count = lattice.len() as usize;
    let points: Vec<LightGridPoint> = (0..count)
        .map(|index| LightGridPoint {
            ambient: [index as u8, 60, 40],
            directed: [90, index as u8, 30],
            zenith: index as u8,
            azimuth: (3 * index) as u8,
        })
        .collect();
    let sh = ShGrid {
        lattice,
        points: std::sync::Arc::new(vec![[[20.0, 10.0, 5.0]; 9]; count]),
    };
    let bsp = bsp.with_light_grid(&points).with_sh_grid(Some(&sh));
    read(&write(&bsp)).unwrap()
}

/// The lit map's bytes with its SH grid in `container`, and the file beside it.
fn written_to(container: ShContainer) -> (Vec<u8>, Option<Vec<u8>>) {
    let written = write_with(&lit(), container);
    (written.bsp, written.sidecar)
}

/// One map of each layout, one with patches, one with an SH grid behind the lumps, one with foliage, one with visibility.
fn maps() -> Vec<Vec<u8>> {
    let lit = lit();
    let mut maps: Vec<Vec<u8>> = Layout::ALL
        .map(|layout| map_builder::build(&lit, layout, layout != Layout::Ibsp17))
        .to_vec();
    maps.extend([
        PATCH.to_vec(),
        written_to(ShContainer::Bspx).0,
        with_foliage(),
        with_light(&lit),
    ]);
    maps
}

/// Lumps of the patch map.
fn lumps_of(bsp: &Bsp) -> Vec<Vec<u8>> {
    let kinds = LumpKind::ALL.iter();
    kinds.map(|kind| bsp.lump_bytes(*kind).to_vec()).collect()
}

/// Enemy Territory's foliage: the first surface's mesh at its own vertices.
fn with_foliage() -> Vec<u8> {
    let mut lumps = lumps_of(&read(OCCLUDER).unwrap());
    let mut put = |lump: usize, at: usize, value: i32| {
        lumps[lump][at..at + 4].copy_from_slice(&value.to_le_bytes());
    };
    // Kind 5; of the four vertices of a face two are the mesh, two its instances.
    put(13, 8, 5);
    put(13, 96, 1);
    put(13, 100, 3);
    put(13, 24, 3);
    for (at, index) in [0, 1, 2].into_iter().enumerate() {
        put(11, 4 * at, index);
    }
    map_builder::assemble(*b"IBSP", 47, 18, &lumps, true)
}

/// A page of light on every surface, and visibility.
fn with_light(lit: &Bsp) -> Vec<u8> {
    let mut lumps = lumps_of(lit);
    let clusters = lit.leafs.iter().filter_map(|leaf| leaf.cluster).max();
    let clusters = clusters.map_or(1, |highest| highest + 1);
    let row = clusters.div_ceil(8);
    let mut visibility = clusters.to_le_bytes().to_vec();
    visibility.extend(row.to_le_bytes());
    visibility.resize(8 + (clusters * row) as usize, 0xFF);
    lumps[16] = visibility;
    lumps[14] = vec![99; 128 * 128 * 3];
    for surface in lumps[13].chunks_exact_mut(104) {
        surface[28..32].fill(0);
    }
    map_builder::assemble(*b"IBSP", 46, 17, &lumps, false)
}

fn archive(packed: bool) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let method = if packed {
        zip::CompressionMethod::Deflated
    } else {
        zip::CompressionMethod::Stored
    };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, contents) in [
        ("maps/Small.bsp", &OCCLUDER[..2000]),
        ("scripts\\a.shader", b"textures/a { }".as_slice()),
        ("../climbs", b"x"),
        ("empty/", b""),
    ] {
        writer.start_file(name, options).unwrap();
        writer.write_all(contents).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn pictures() -> Vec<Vec<u8>> {
    use image::{DynamicImage, ImageFormat};
    let colour = image::RgbaImage::from_fn(9, 5, |x, y| {
        image::Rgba([x as u8 * 20, y as u8 * 40, 7, 200])
    });
    let colour = DynamicImage::ImageRgba8(colour);
    let grey = DynamicImage::ImageLuma8(colour.to_luma8());
    let rgb = DynamicImage::ImageRgb8(colour.to_rgb8());
    let deep = DynamicImage::ImageRgb16(colour.to_rgb16());
    let encoded = |picture: &DynamicImage, format: ImageFormat| {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    };
    vec![
        encoded(&colour, ImageFormat::Png),
        encoded(&grey, ImageFormat::Png),
        encoded(&deep, ImageFormat::Png),
        encoded(&colour, ImageFormat::Tga),
        encoded(&rgb, ImageFormat::Tga),
        encoded(&grey, ImageFormat::Tga),
        encoded(&rgb, ImageFormat::Jpeg),
        encoded(&grey, ImageFormat::Jpeg),
    ]
}

/// The JSON files of a map in the form of the target's input.
fn folder(map: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    json::unpack(map, &mut |name| {
        let file = fs::File::create(folder.path().join(name))?;
        Ok(Box::new(file) as Box<dyn Write>)
    })
    .unwrap();
    let mut bytes = Vec::new();
    for name in json::file_names() {
        if let Ok(text) = fs::read(folder.path().join(name)) {
            bytes.push(JSON_MARK);
            bytes.extend(name.bytes());
            bytes.push(b'\n');
            bytes.extend(text);
        }
    }
    bytes
}
