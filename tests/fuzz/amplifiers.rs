//! Small files that ask for much: each names the same records many times over, or promises sizes that it does not have.

use std::io::{Cursor, Write};

use luxgrid::format::bsp::{Bsp, LumpKind, read};

use crate::map_builder;

const OCCLUDER: &[u8] = include_bytes!("../data/format/occluder.bsp");

/// Name of the target, what the file is, the file.
pub(crate) fn amplifiers() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    vec![
        (
            "bsp",
            "surfaces that share all vertices",
            shared_surfaces(3),
        ),
        ("bsp", "soups that share all vertices", shared_surfaces(1)),
        ("bsp", "patches that share all points", shared_patches()),
        ("bsp", "foliage as the square of its size", foliage()),
        ("bsp", "brushes that share all sides", shared_brushes()),
        ("srf", "a long name as the default", long_default()),
        ("image", "a PNG of 16384×16384 texels", tall_png()),
        ("image", "a TGA of 8192×4096 texels", tall_tga()),
        ("pk3", "a member of 60 MB of zeros", bomb()),
    ]
}

fn lumps() -> Vec<Vec<u8>> {
    let bsp: Bsp = read(OCCLUDER).unwrap();
    let kinds = LumpKind::ALL.iter();
    kinds.map(|kind| bsp.lump_bytes(*kind).to_vec()).collect()
}

fn put(bytes: &mut [u8], at: usize, value: i32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn map(version: i32, lumps: &[Vec<u8>]) -> Vec<u8> {
    map_builder::assemble(*b"IBSP", version, 17, lumps, false)
}

/// `count` vertices, no two in one place.
fn verts(vert: &[u8], count: usize) -> Vec<u8> {
    let mut verts = vert.repeat(count);
    for (number, vert) in verts.chunks_exact_mut(44).enumerate() {
        for axis in 0..3 {
            let place = (number * 7919 * (axis + 1) % 4001) as f32;
            vert[4 * axis..4 * axis + 4].copy_from_slice(&place.to_le_bytes());
        }
    }
    verts
}

/// The first surface `count` times over, of `kind`, with all of `vert_count` vertices and `index_count` indexes.
fn surfaces(lumps: &mut [Vec<u8>], count: usize, kind: i32, [vert_count, index_count]: [i32; 2]) {
    let mut surface = lumps[13][..104].to_vec();
    for (field, value) in [
        (8, kind),
        (12, 0),
        (16, vert_count),
        (20, 0),
        (24, index_count),
    ] {
        put(&mut surface, field, value);
    }
    lumps[13] = surface.repeat(count);
}

fn shared_surfaces(kind: i32) -> Vec<u8> {
    let mut lumps = lumps();
    let vert = lumps[10][..44].to_vec();
    lumps[10] = verts(&vert, 3000);
    lumps[11] = (0..3000_i32).flat_map(i32::to_le_bytes).collect();
    surfaces(&mut lumps, 2000, kind, [3000, 3000]);
    map(46, &lumps)
}

fn shared_patches() -> Vec<u8> {
    let mut lumps = lumps();
    let vert = lumps[10][..44].to_vec();
    lumps[10] = verts(&vert, 1023);
    surfaces(&mut lumps, 1000, 2, [1023, 0]);
    for surface in lumps[13].chunks_exact_mut(104) {
        put(surface, 96, 31);
        put(surface, 100, 33);
    }
    map(46, &lumps)
}

fn foliage() -> Vec<u8> {
    let mut lumps = lumps();
    let vert = lumps[10][..44].to_vec();
    lumps[10] = verts(&vert, 1800);
    lumps[11] = (0..600_i32).flat_map(i32::to_le_bytes).collect();
    surfaces(&mut lumps, 1, 5, [1800, 600]);
    put(&mut lumps[13], 96, 1200);
    put(&mut lumps[13], 100, 600);
    map(47, &lumps)
}

fn shared_brushes() -> Vec<u8> {
    let mut lumps = lumps();
    let side = lumps[9][..8].to_vec();
    lumps[9] = side.repeat(20_000);
    let mut brush = lumps[8][..12].to_vec();
    put(&mut brush, 0, 0);
    put(&mut brush, 4, 20_000);
    lumps[8] = brush.repeat(10_000);
    map(46, &lumps)
}

fn long_default() -> Vec<u8> {
    let mut text = b"default { shader ".to_vec();
    text.extend(std::iter::repeat_n(b'x', 50_000));
    text.extend_from_slice(b" }\n");
    for number in 0..10_000 {
        writeln!(text, "{number} {{ }}").unwrap();
    }
    text
}

fn tall_png() -> Vec<u8> {
    let picture = image::GrayImage::new(16_384, 1);
    let mut bytes = Cursor::new(Vec::new());
    picture
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    let mut bytes = bytes.into_inner();
    bytes[20..24].copy_from_slice(&16_384_u32.to_be_bytes());
    crate::mutate::mend_png(&mut bytes);
    bytes
}

fn tall_tga() -> Vec<u8> {
    // An RLE picture in true colour.
    let mut bytes = vec![0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 32, 0, 16, 24, 0];
    bytes.extend([0xFF, 1, 2, 3].repeat(1000));
    bytes
}

fn bomb() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .start_file("bomb", zip::write::SimpleFileOptions::default())
        .unwrap();
    writer.write_all(&vec![0; 60_000_000]).unwrap();
    writer.finish().unwrap().into_inner()
}
