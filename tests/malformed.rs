//! Malformed maps: each opens as far as it can and says what it found, or is refused in words; none is written back
//! differently from how it was read.
#![allow(clippy::unwrap_used, missing_docs, reason = "a test may stop at once")]

#[allow(dead_code, reason = "the twins need all layouts, these cases four")]
#[path = "support/map_builder.rs"]
mod map_builder;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use luxgrid::format::bsp::{Bsp, read, write};
use luxgrid::job::JobContext;
use luxgrid::scene::build;
use luxgrid::vfs::{SearchOptions, open_map};

use map_builder::Layout;

/// What must come of a file.
enum Expect {
    /// Refused, with these words.
    Error(&'static str),
    /// Opened, with these words in a warning of the reader or of the scene's builder.
    Warning(&'static str),
    /// Opened without a warning of the reader.
    Clean,
}
use Expect::{Clean, Error, Warning};

/// Name, file before the damage, damage, outcome.
type Case = (
    &'static str,
    &'static LazyLock<Vec<u8>>,
    fn(&mut Vec<u8>),
    Expect,
);

static SOURCE: LazyLock<Bsp> = LazyLock::new(|| {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants/quake3.pk3");
    let mut zip = zip::ZipArchive::new(fs::File::open(archive).unwrap()).unwrap();
    let mut bytes = Vec::new();
    let mut member = zip.by_name("maps/m02_occluder.bsp").unwrap();
    member.read_to_end(&mut bytes).unwrap();
    read(&bytes).unwrap()
});
/// IBSP 46 with lightmaps and a grid, no mark.
static PLAIN: LazyLock<Vec<u8>> =
    LazyLock::new(|| map_builder::build(&SOURCE, Layout::Ibsp17, false));
/// The same with the compiler's mark.
static MARKED: LazyLock<Vec<u8>> =
    LazyLock::new(|| map_builder::build(&SOURCE, Layout::Ibsp17, true));
/// IBSP 47 with an SH grid and the mark.
static SH: LazyLock<Vec<u8>> = LazyLock::new(|| map_builder::build(&SOURCE, Layout::Sh, true));
/// IBSP 47 with an advertisement and the mark.
static LIVE: LazyLock<Vec<u8>> =
    LazyLock::new(|| map_builder::build(&SOURCE, Layout::QuakeLive, true));
static RAVEN: LazyLock<Vec<u8>> =
    LazyLock::new(|| map_builder::build(&SOURCE, Layout::Rbsp, false));
/// With patches; surface 5 is one, of 3×3 and more points.
static PATCH: LazyLock<Vec<u8>> =
    LazyLock::new(|| include_bytes!("data/format/patch.bsp").to_vec());

fn put(bytes: &mut [u8], at: usize, value: i32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put_f32(bytes: &mut [u8], at: usize, value: f32) {
    put(bytes, at, value.to_bits().cast_signed());
}

fn get(bytes: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Offset of byte `field` of record `index` in `lump`, whose records have `size` bytes.
fn at(bytes: &[u8], lump: usize, index: usize, size: usize, field: usize) -> usize {
    get(bytes, 8 + lump * 8) as usize + index * size + field
}

fn entry(bytes: &mut [u8], lump: usize, offset: i32, length: i32) {
    put(bytes, 8 + lump * 8, offset);
    put(bytes, 12 + lump * 8, length);
}

fn length(bytes: &[u8], lump: usize) -> i32 {
    get(bytes, 12 + lump * 8)
}

fn set_length(bytes: &mut [u8], lump: usize, length: i32) {
    put(bytes, 12 + lump * 8, length);
}

/// Puts a lump's new contents behind everything.
fn replace(bytes: &mut Vec<u8>, lump: usize, contents: &[u8]) {
    let offset = bytes.len() as i32;
    bytes.extend_from_slice(contents);
    entry(bytes, lump, offset, contents.len() as i32);
}

fn text(bytes: &mut Vec<u8>, contents: &[u8]) {
    replace(bytes, 0, contents);
}

fn set_key(bytes: &mut Vec<u8>, key: &str, value: &str) {
    *bytes = write(&read(bytes).unwrap().with_worldspawn_key(key, value));
}

fn fog(brush: i32, side: i32) -> Vec<u8> {
    let mut record = b"textures/fog".to_vec();
    record.resize(64, 0);
    record.extend(brush.to_le_bytes());
    record.extend(side.to_le_bytes());
    record
}

fn patch_surface(bytes: &[u8]) -> usize {
    let count = length(bytes, 13) as usize / 104;
    let found = (0..count).find(|index| get(bytes, at(bytes, 13, *index, 104, 8)) == 2);
    at(bytes, 13, found.unwrap(), 104, 0)
}

/// Makes the patch `width` × `height` points, with as many vertices in the file when `backed`.
fn patch_size(bytes: &mut Vec<u8>, width: i32, height: i32, backed: bool) {
    let surface = patch_surface(bytes);
    put(bytes, surface + 96, width);
    put(bytes, surface + 100, height);
    if backed {
        let first = at(bytes, 10, 0, 44, 0);
        let vert = bytes[first..first + 44].to_vec();
        let verts = vert.repeat((width * height) as usize);
        let old = bytes[first..first + length(bytes, 10) as usize].to_vec();
        put(bytes, surface + 12, old.len() as i32 / 44);
        put(bytes, surface + 16, width * height);
        replace(bytes, 10, &[old, verts].concat());
    }
}

#[rustfmt::skip]
fn header_cases() -> Vec<Case> {
    vec![
        ("empty", &PLAIN, |b| b.clear(), Error("too short for a BSP: 0 bytes")),
        ("seven bytes", &PLAIN, |b| b.truncate(7), Error("too short for a BSP: 7 bytes")),
        ("eight bytes", &PLAIN, |b| b.truncate(8), Error("directory ends at byte 144, the file has 8")),
        ("all lengths zero", &PLAIN, |b| (0..17).for_each(|lump| set_length(b, lump, 0)), Warning("no world model")),
        ("offset and length wrap", &PLAIN, |b| entry(b, 2, 0x7FFF_FFF0, 0x20), Error("lump 2 (planes) is not inside the file")),
        ("negative length", &PLAIN, |b| set_length(b, 3, -1), Error("lump 3 (nodes) is not inside the file")),
        ("negative offset", &PLAIN, |b| entry(b, 4, -4, 48), Error("lump 4 (leafs) is not inside the file")),
        ("lump in the header", &PLAIN, |b| entry(b, 1, 8, 72), Error("lump 1 (shaders) is not inside the file")),
        ("lump beyond the end", &PLAIN, |b| { let n = b.len() as i32; entry(b, 16, n - 8, 9); }, Error("lump 16 (visibility) is not inside the file")),
        ("two lumps overlap", &PLAIN, |b| { let o = get(b, 8 + 5 * 8); entry(b, 6, o, 8); }, Warning("overlaps lump 6")),
        ("47 on 17 entries", &PLAIN, |b| b[4] = 47, Clean),
        ("47 on 17 entries with a mark", &MARKED, |b| b[4] = 47, Clean),
        ("RBSP ident on an IBSP body", &MARKED, |b| { b[0] = b'R'; put(b, 4, 1); }, Error("SiN, or damaged")),
        ("FBSP ident on an IBSP body", &PLAIN, |b| { b[0] = b'F'; put(b, 4, 1); }, Error("FBSP")),
        ("IBSP ident on an RBSP body", &RAVEN, |b| { b[0] = b'I'; put(b, 4, 46); set_length(b, 9, 12 * 47); }, Error("fits another format's records: IBSP 48 or RBSP")),
        ("RBSP without models", &RAVEN, |b| set_length(b, 7, 0), Error("SiN, or damaged")),
        ("RBSP cut in the directory", &RAVEN, |b| b.truncate(151), Error("directory ends at byte 152, the file has 151")),
        ("RBSP 2", &RAVEN, |b| put(b, 4, 2), Error("starts with “RBSP” version 2")),
        ("Quake II", &PLAIN, |b| put(b, 4, 38), Error("Quake II")),
        ("big-endian", &PLAIN, |b| b[..4].copy_from_slice(b"PSBI"), Error("big-endian console file")),
        ("a zip", &PLAIN, |b| b[..4].copy_from_slice(b"PK\x03\x04"), Error("open it as .pk3")),
        ("Quake", &PLAIN, |b| put(b, 0, 29), Error("Quake")),
        ("advertisements of an odd length", &LIVE, |b| set_length(b, 17, 127), Warning("entry is not usable")),
        ("advertisement without a model", &LIVE, |b| { let o = get(b, 8 + 17 * 8) as usize; b[o + 64] = b'x'; }, Warning("entry is not usable")),
        ("a trailing byte", &PLAIN, |b| b.push(b'\n'), Clean),
        ("garbage in the mark's padding", &MARKED, |b| { let n = b.windows(4).position(|w| w == b"\n\0\0\0").unwrap(); b[n + 2] = 0x7F; }, Clean),
    ]
}

#[rustfmt::skip]
fn size_cases() -> Vec<Case> {
    const WORDS: &str = "length is no multiple of the record size";
    vec![
        ("shaders", &PLAIN, |b| { let n = length(b, 1); set_length(b, 1, n - 1); }, Warning(WORDS)),
        ("planes", &PLAIN, |b| { let n = length(b, 2); set_length(b, 2, n - 1); }, Warning(WORDS)),
        ("nodes", &PLAIN, |b| { let n = length(b, 3); set_length(b, 3, n - 1); }, Warning(WORDS)),
        ("leafs", &PLAIN, |b| { let n = length(b, 4); set_length(b, 4, n - 1); }, Warning(WORDS)),
        ("leaf surfaces", &PLAIN, |b| { let n = length(b, 5); set_length(b, 5, n - 1); }, Warning(WORDS)),
        ("leaf brushes", &PLAIN, |b| { let n = length(b, 6); set_length(b, 6, n - 1); }, Warning(WORDS)),
        ("models", &PLAIN, |b| { let n = length(b, 7); set_length(b, 7, n + 4); }, Warning(WORDS)),
        ("brushes", &PLAIN, |b| { let n = length(b, 8); set_length(b, 8, n - 1); }, Warning(WORDS)),
        ("brush sides", &PLAIN, |b| { let n = length(b, 9); set_length(b, 9, n - 1); }, Warning(WORDS)),
        ("draw verts", &PLAIN, |b| { let n = length(b, 10); set_length(b, 10, n - 1); }, Warning(WORDS)),
        ("draw indexes", &PLAIN, |b| { let n = length(b, 11); set_length(b, 11, n - 1); }, Warning(WORDS)),
        ("fogs", &PLAIN, |b| replace(b, 12, &[b'f'; 71]), Warning(WORDS)),
        ("surfaces", &PLAIN, |b| { let n = length(b, 13); set_length(b, 13, n - 1); }, Warning(WORDS)),
        ("lightmaps", &PLAIN, |b| { let n = length(b, 14); set_length(b, 14, n - 1); }, Warning("no multiple of a 128×128 page")),
        ("light grid", &PLAIN, |b| { let n = length(b, 15); set_length(b, 15, n - 1); }, Warning(WORDS)),
    ]
}

#[rustfmt::skip]
fn grid_cases() -> Vec<Case> {
    fn sh(bytes: &[u8], field: usize) -> usize {
        at(bytes, 18, 0, 1, field)
    }
    const PLACED: &str = "engines drop it";
    vec![
        ("SH: more points than the product", &SH, |b| { let o = sh(b, 36); put(b, o, 7); }, Warning("7 points stored")),
        ("SH: one point short", &SH, |b| { let n = length(b, 18); set_length(b, 18, n - 108); }, Warning("bytes, the lump has")),
        ("SH: one byte long", &SH, |b| { b.push(0); let n = length(b, 18); set_length(b, 18, n + 1); }, Warning("bytes, the lump has")),
        ("SH: product wraps to 0", &SH, |b| { let o = sh(b, 24); put(b, o, 65536); put(b, o + 4, 65536); put(b, o + 8, 1); put(b, o + 12, 0); }, Warning("0 points stored")),
        ("SH: no cells", &SH, |b| { let o = sh(b, 24); put(b, o, 0); }, Warning("not all positive")),
        ("SH: negative cells", &SH, |b| { let o = sh(b, 28); put(b, o, -4); }, Warning("not all positive")),
        ("SH: cell size NaN", &SH, |b| { let o = sh(b, 12); put_f32(b, o, f32::NAN); }, Warning("is not usable")),
        ("SH: cell size zero", &SH, |b| { let o = sh(b, 16); put_f32(b, o, 0.0); }, Warning("is not usable")),
        ("SH: coefficients not finite", &SH, |b| { let o = sh(b, 40); put_f32(b, o, f32::NAN); put_f32(b, o + 4, f32::INFINITY); }, Clean),
        ("SH entry over the grid's", &SH, |b| { let (o, n) = (get(b, 8 + 15 * 8), length(b, 15)); entry(b, 18, o, n); }, Warning("entry is not usable")),
        ("vis: seven bytes", &PLAIN, |b| set_length(b, 16, 7), Warning("everything counts as visible")),
        ("vis: 2³¹−1 clusters", &PLAIN, |b| { let o = at(b, 16, 0, 1, 0); put(b, o, i32::MAX); put(b, o + 4, 1); }, Warning("everything counts as visible")),
        ("vis: rows of 0 bytes", &PLAIN, |b| { let o = at(b, 16, 0, 1, 4); put(b, o, 0); }, Warning("everything counts as visible")),
        ("vis: a cluster too few", &PLAIN, |b| { let o = at(b, 16, 0, 1, 0); let n = get(b, o); put(b, o, n - 1); }, Warning("everything counts as visible")),
        ("world bounds NaN", &PLAIN, |b| { let o = at(b, 7, 0, 40, 0); put_f32(b, o, f32::NAN); }, Warning("bounds are not finite")),
        ("world bounds inverted", &PLAIN, |b| { let o = at(b, 7, 0, 40, 0); put_f32(b, o, 9e4); }, Warning(PLACED)),
        ("world bounds 1e30", &PLAIN, |b| { let o = at(b, 7, 0, 40, 12); put_f32(b, o, 1e30); }, Warning(PLACED)),
        ("gridsize 0 0 0", &PLAIN, |b| set_key(b, "gridsize", "0 0 0"), Warning("component 1 is not usable")),
        ("gridsize 64", &PLAIN, |b| set_key(b, "gridsize", "64"), Warning("component 2 is not usable")),
        ("gridsize with commas", &PLAIN, |b| set_key(b, "gridsize", "64,64,128"), Warning("component 3 is not usable")),
        ("gridsize nan", &PLAIN, |b| set_key(b, "gridsize", "nan nan nan"), Warning("component 1 is not usable")),
        ("gridsize tiny", &PLAIN, |b| set_key(b, "gridsize", "1e-30 1 1"), Warning(PLACED)),
        ("gridsize negative", &PLAIN, |b| set_key(b, "gridsize", "-64 64 128"), Warning("component 1 is not usable")),
        ("gridsize of 10⁶ digits and signs", &PLAIN, |b| { set_key(b, "gridsize", &["1".repeat(500_000), "-".repeat(500_000)].concat()) }, Warning("gridsize")),
        ("grid one record short", &PLAIN, |b| { let n = length(b, 15); set_length(b, 15, n - 8); }, Warning(PLACED)),
        ("grid one record long", &PLAIN, |b| { let (o, n) = (at(b, 15, 0, 8, 0), length(b, 15) as usize); let lump = [&b[o..o + n], &[1; 8]].concat(); replace(b, 15, &lump); }, Warning(PLACED)),
        ("grid empty", &PLAIN, |b| set_length(b, 15, 0), Clean),
        ("RBSP: index = palette size", &RAVEN, |b| { let (o, n) = (at(b, 17, 0, 2, 0), length(b, 15) / 30); b[o..o + 2].copy_from_slice(&(n as u16).to_le_bytes()); }, Warning("1 of 459 points name no entry of the palette")),
        ("RBSP: index 65,535", &RAVEN, |b| { let o = at(b, 17, 3, 2, 0); b[o..o + 2].fill(0xFF); }, Warning("they count as missing")),
        ("RBSP: no palette", &RAVEN, |b| set_length(b, 15, 0), Warning("459 of 459 points name no entry of the palette of 0")),
        ("RBSP: array one short", &RAVEN, |b| { let n = length(b, 17); set_length(b, 17, n - 2); }, Warning("the last 1 count as missing")),
        ("RBSP: array one byte short", &RAVEN, |b| { let n = length(b, 17); set_length(b, 17, n - 1); }, Error("SiN, or damaged")),
        ("RBSP: array a layer short", &RAVEN, |b| { let n = length(b, 17); set_length(b, 17, n - 2 * 17 * 9); }, Warning(PLACED)),
    ]
}

#[rustfmt::skip]
fn world_cases() -> Vec<Case> {
    const TREE: &str = "tree dropped";
    const LIST: &str = "list emptied";
    vec![
        ("node is its own child", &PLAIN, |b| { let o = at(b, 3, 0, 36, 4); put(b, o, 0); }, Warning(TREE)),
        ("two nodes in a circle", &PLAIN, |b| { let o = at(b, 3, 0, 36, 4); put(b, o, 1); let o = at(b, 3, 1, 36, 4); put(b, o, 0); }, Warning(TREE)),
        ("child = count", &PLAIN, |b| { let (o, n) = (at(b, 3, 0, 36, 8), length(b, 3) / 36); put(b, o, n); }, Warning(TREE)),
        ("child −2³¹", &PLAIN, |b| { let o = at(b, 3, 0, 36, 8); put(b, o, i32::MIN); }, Warning(TREE)),
        ("a leaf twice", &PLAIN, |b| { let o = at(b, 3, 0, 36, 4); put(b, o, -3); put(b, o + 4, -3); }, Warning(TREE)),
        ("node plane out of range", &PLAIN, |b| { let o = at(b, 3, 0, 36, 0); put(b, o, 40); }, Warning(TREE)),
        ("leaf with −1 surfaces", &PLAIN, |b| { let o = at(b, 4, 1, 48, 36); put(b, o, -1); }, Warning(LIST)),
        ("leaf list ends at 2³¹", &PLAIN, |b| { let o = at(b, 4, 1, 48, 32); put(b, o, i32::MAX); put(b, o + 4, 1); }, Warning(LIST)),
        ("area 2³⁰", &PLAIN, |b| { let o = at(b, 4, 1, 48, 4); put(b, o, 1 << 30); }, Error("record 1: area is 1073741824")),
        ("area 300", &PLAIN, |b| { let o = at(b, 4, 1, 48, 4); put(b, o, 300); }, Warning("area above 255")),
        ("cluster 2³¹−2", &PLAIN, |b| { set_length(b, 16, 0); let o = at(b, 4, 1, 48, 0); put(b, o, i32::MAX - 1); }, Error("cluster is 2147483646")),
        ("leaf surface out of range", &PLAIN, |b| { let o = at(b, 5, 0, 4, 0); put(b, o, 999); }, Warning("number out of range, 0 taken")),
        ("leaf brush −1", &PLAIN, |b| { let o = at(b, 6, 0, 4, 0); put(b, o, -1); }, Warning("number out of range, 0 taken")),
        ("model surfaces out of range", &PLAIN, |b| { let o = at(b, 7, 0, 40, 28); put(b, o, 14); }, Warning("surfaces or brushes out of range")),
        ("brush without sides", &PLAIN, |b| { let o = at(b, 8, 0, 12, 4); put(b, o, 0); }, Warning("fewer than six sides")),
        ("brush of three sides", &PLAIN, |b| { let o = at(b, 8, 0, 12, 4); put(b, o, 3); }, Warning("fewer than six sides")),
        ("brush of −1 sides", &PLAIN, |b| { let o = at(b, 8, 0, 12, 4); put(b, o, -1); }, Warning("brush dropped")),
        ("side plane = count", &PLAIN, |b| { let (o, n) = (at(b, 9, 0, 8, 0), length(b, 2) / 16); put(b, o, n); }, Warning("its brush is dropped")),
        ("plane NaN", &PLAIN, |b| { let side = get(b, at(b, 9, 0, 8, 0)) as usize; let o = at(b, 2, side, 16, 0); put_f32(b, o, f32::NAN); }, Warning("plane is not finite")),
        ("first six planes not axial", &PLAIN, |b| { let o = at(b, 9, 0, 8, 0); for side in 0..6 { let p = get(b, o + 8 * side); put(b, o + 8 * side, p ^ 1); } }, Clean),
        ("fog of the world", &PLAIN, |b| replace(b, 12, &fog(-1, -1)), Clean),
        ("fog brush = count", &PLAIN, |b| { let n = length(b, 8) / 12; replace(b, 12, &fog(n, -1)); }, Warning("brush out of range; whole world taken")),
        ("fog side = sides", &PLAIN, |b| replace(b, 12, &fog(0, 6)), Warning("visible side out of range")),
        ("name of 64 bytes", &PLAIN, |b| { let o = at(b, 1, 0, 72, 0); b[o..o + 64].fill(b'x'); }, Warning("name has no end")),
        ("garbage behind a name", &PLAIN, |b| { let o = at(b, 1, 0, 72, 63); b[o] = 0xFE; }, Clean),
        ("name that climbs out", &PLAIN, |b| { let o = at(b, 1, 0, 72, 0); b[o..o + 17].copy_from_slice(b"../../etc/passwd\0"); }, Warning("material ../../etc/passwd: no script and no image")),
        ("name with backslashes in upper case", &PLAIN, |b| { let o = at(b, 1, 0, 72, 0); b[o..o + 20].copy_from_slice(b"TEXTURES\\micro\\wall\0"); }, Clean),
    ]
}

#[rustfmt::skip]
fn surface_cases() -> Vec<Case> {
    const TRIANGLES: &str = "those triangles are dropped";
    const PATCH_WORDS: &str = "patch size is not odd";
    fn surface(bytes: &[u8], field: usize) -> usize {
        at(bytes, 13, 0, 104, field)
    }
    /// A private index range for surface 0.
    fn indexes(bytes: &mut Vec<u8>, values: &[i32]) {
        let (o, n) = (at(bytes, 11, 0, 4, 0), length(bytes, 11) as usize);
        let mut lump = bytes[o..o + n].to_vec();
        lump.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let o = surface(bytes, 20);
        put(bytes, o, n as i32 / 4);
        put(bytes, o + 4, values.len() as i32);
        replace(bytes, 11, &lump);
    }
    vec![
        ("index = vertices", &PLAIN, |b| indexes(b, &[0, 1, 4]), Warning(TRIANGLES)),
        ("index −1", &PLAIN, |b| indexes(b, &[0, 1, -1]), Warning(TRIANGLES)),
        ("four indexes", &PLAIN, |b| indexes(b, &[0, 1, 2, 0]), Warning(TRIANGLES)),
        ("index range wraps", &PLAIN, |b| { let o = surface(b, 20); put(b, o, i32::MAX); put(b, o + 4, 3); }, Warning("indexes out of range")),
        ("vertex range wraps", &PLAIN, |b| { let o = surface(b, 12); put(b, o, i32::MAX); }, Warning("vertices out of range")),
        ("material out of range", &PLAIN, |b| { let o = surface(b, 0); put(b, o, 2); }, Warning("material number out of range")),
        ("fog out of range", &PLAIN, |b| { let o = surface(b, 4); put(b, o, 3); }, Warning("fog number out of range")),
        ("flare with fog 99", &PLAIN, |b| { let o = surface(b, 4); put(b, o, 99); put(b, o + 4, 4); }, Clean),
        ("type 0", &PLAIN, |b| { let o = surface(b, 8); put(b, o, 0); }, Warning("unknown surface type")),
        ("type 6", &PLAIN, |b| { let o = surface(b, 8); put(b, o, 6); }, Warning("unknown surface type")),
        ("type 5 in version 46", &PLAIN, |b| { let o = surface(b, 8); put(b, o, 5); }, Warning("foliage in a format that has none; drawn once")),
        ("type 5 in 47 with odd sizes", &PLAIN, |b| { b[4] = 47; let o = surface(b, 8); put(b, o, 5); }, Warning("mesh and instances are not its vertices")),
        ("lightmap −5", &PLAIN, |b| { let o = surface(b, 28); put(b, o, -5); }, Warning("lightmap number out of range; vertex-lit")),
        ("lightmap = pages", &PLAIN, |b| { let o = surface(b, 28); put(b, o, 1); }, Warning("lightmap number out of range; vertex-lit")),
        ("lightmap 2³¹−1", &PLAIN, |b| { let o = surface(b, 28); put(b, o, i32::MAX); }, Warning("lightmap number out of range; vertex-lit")),
        ("lightmap 2³¹−1 without pages", &PLAIN, |b| { set_length(b, 14, 0); let o = surface(b, 28); put(b, o, i32::MAX); }, Warning("maps/m/lm_0000.tga")),
        ("patch 2×3", &PATCH, |b| patch_size(b, 2, 3, true), Warning(PATCH_WORDS)),
        ("patch 3×4", &PATCH, |b| patch_size(b, 3, 4, true), Warning(PATCH_WORDS)),
        ("patch 31×33", &PATCH, |b| patch_size(b, 31, 33, true), Clean),
        ("patch 33×33", &PATCH, |b| patch_size(b, 33, 33, true), Warning(PATCH_WORDS)),
        ("patch 46341×46341", &PATCH, |b| patch_size(b, 46341, 46341, false), Warning(PATCH_WORDS)),
        ("patch of other vertices", &PATCH, |b| { let o = patch_surface(b); put(b, o + 16, 8); }, Warning(PATCH_WORDS)),
        ("patch with a vertex NaN", &PATCH, |b| { let first = get(b, patch_surface(b) + 12) as usize; let o = at(b, 10, first, 44, 0); put_f32(b, o, f32::NAN); }, Warning("a patch uses an unsound vertex")),
        ("vertex NaN", &PLAIN, |b| { let o = at(b, 10, 0, 44, 4); put_f32(b, o, f32::NAN); }, Warning("triangles that use it are dropped")),
        ("normal infinite", &PLAIN, |b| { let o = at(b, 10, 0, 44, 28); put_f32(b, o, f32::INFINITY); }, Warning("normal is not finite")),
        ("texture coordinate NaN", &PLAIN, |b| { let o = at(b, 10, 0, 44, 12); put_f32(b, o, f32::NAN); }, Warning("texture coordinates are not finite")),
        ("texture coordinate 1e30", &PLAIN, |b| { let o = at(b, 10, 0, 44, 12); put_f32(b, o, 1e30); }, Clean),
        ("lightmap coordinate NaN, lit", &PLAIN, |b| { let first = get(b, surface(b, 12)) as usize; let o = at(b, 10, first, 44, 20); put_f32(b, o, f32::NAN); }, Warning("lightmap coordinates of a lit surface")),
        ("lightmap coordinate NaN, unlit", &PLAIN, |b| { let o = surface(b, 28); put(b, o, -3); let first = get(b, surface(b, 12)) as usize; let o = at(b, 10, first, 44, 20); put_f32(b, o, f32::NAN); }, Clean),
    ]
}

#[rustfmt::skip]
fn text_cases() -> Vec<Case> {
    vec![
        ("text without NUL", &PLAIN, |b| text(b, b"{\n\"classname\" \"worldspawn\"\n}\n"), Clean),
        ("NUL in the middle", &PLAIN, |b| text(b, b"{\n\"classname\" \"worldspawn\"\n\0\"a\" \"b\"\n}\n\0"), Warning("the last entity is not closed")),
        ("open quote", &PLAIN, |b| text(b, b"{ \"classname\" \"worldspawn }\0"), Warning("a quote is not closed")),
        ("a value of 1 MB", &PLAIN, |b| { let t = format!("{{ \"classname\" \"worldspawn\" \"v\" \"{}\" }}", "v".repeat(1 << 20) ); text(b, t.as_bytes()); }, Clean),
        ("10⁵ open braces", &PLAIN, |b| text(b, &b"{ ".repeat(100_000)), Warning("“{” inside an entity closes the open one")),
        ("only a closing brace", &PLAIN, |b| text(b, b"}\0"), Warning("“}” outside an entity")),
        ("key without value", &PLAIN, |b| text(b, b"{ \"classname\" \"worldspawn\" \"key\" }\0"), Warning("key without a value")),
        ("lines ending in CR", &PLAIN, |b| text(b, b"{\r\"classname\" \"worldspawn\"\r}\r\0"), Clean),
        ("byte order mark", &PLAIN, |b| text(b, b"\xEF\xBB\xBF{\n\"classname\" \"worldspawn\"\n}\n\0"), Warning("a byte order mark is skipped")),
        ("bytes 0xFF", &PLAIN, |b| text(b, b"{ \"classname\" \"worldspawn\" \"a\" \"\xFF\xFF\" }\0"), Clean),
        ("$include", &PLAIN, |b| { text(b, b"$include \"/etc/passwd\"\n{ \"classname\" \"worldspawn\" }\0") }, Warning("text outside an entity")),
        ("no text", &PLAIN, |b| set_length(b, 0, 0), Clean),
    ]
}

/// Warnings of the reader, or of it and the scene's builder.
fn warnings(bytes: &[u8], folder: &Path) -> Vec<String> {
    let path = folder.join("m.bsp");
    fs::write(&path, bytes).unwrap();
    let context = JobContext::default();
    let opened = open_map(&path, &SearchOptions::default()).unwrap();
    build(&opened, &context).unwrap();
    let warnings = context.warnings.list();
    warnings.into_iter().map(|warning| warning.text).collect()
}

fn check(cases: Vec<Case>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, base, damage, expect) in cases {
        let mut bytes = base.to_vec();
        damage(&mut bytes);
        let start = Instant::now();
        let result = read(&bytes);
        match (&result, expect) {
            (Err(error), Error(words)) => {
                let text = error.to_string();
                assert!(text.contains(words), "{name}: {text}");
            }
            (Ok(_), Warning(words)) => {
                let texts = warnings(&bytes, folder.path());
                assert!(
                    texts.iter().any(|text| text.contains(words)),
                    "{name}: {texts:?}"
                );
            }
            (Ok(bsp), Clean) => {
                assert_eq!(bsp.warnings, [], "{name}");
                warnings(&bytes, folder.path());
            }
            (result, _) => panic!("{name}: {:?}", result.as_ref().map(|bsp| &bsp.warnings)),
        }
        if let Ok(bsp) = result {
            assert_eq!(write(&bsp), bytes, "{name}: the file stays as it was");
            // A changed map is written and read again without trouble.
            let changed = write(&bsp.with_sh_grid(SOURCE.sh_grid.as_ref()));
            assert_eq!(read(&changed).unwrap().sh_grid, SOURCE.sh_grid, "{name}");
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: too slow");
    }
}

#[test]
fn headers() {
    check(header_cases());
}

#[test]
fn lengths_that_hold_a_broken_record() {
    check(size_cases());
}

#[test]
fn grids_and_visibility() {
    check(grid_cases());
}

#[test]
fn tree_brushes_fogs_and_names() {
    check(world_cases());
}

#[test]
fn surfaces_and_vertices() {
    check(surface_cases());
}

#[test]
fn entity_text() {
    check(text_cases());
}

#[test]
fn a_directory_cut_at_each_entry_is_refused() {
    for base in [&PLAIN, &MARKED, &SH, &RAVEN] {
        let needed = if base.starts_with(b"RBSP") { 152 } else { 144 };
        for entry in 0..(needed - 8) / 8 {
            let error = read(&base[..8 + entry * 8 + 4]).unwrap_err().to_string();
            assert!(error.contains(&format!("ends at byte {needed}")), "{error}");
        }
    }
}

#[test]
#[rustfmt::skip]
fn there_are_at_least_forty_cases() {
    let tables = [
        header_cases(),
        size_cases(),
        grid_cases(),
        world_cases(),
        surface_cases(),
        text_cases(),
    ];
    let cases: usize = tables.iter().map(Vec::len).sum();
    assert!(cases >= 140, "{cases}");
}

/// The offset may be odd everywhere: lumps are moved by one byte.
#[test]
fn lumps_at_odd_offsets_read_clean() {
    let mut bytes = PLAIN[..144].to_vec();
    bytes.push(0xAA);
    for lump in 0..17 {
        let (offset, length) = (
            get(&PLAIN, 8 + lump * 8) as usize,
            length(&PLAIN, lump) as usize,
        );
        let moved = bytes.len() as i32;
        bytes.extend_from_slice(&PLAIN[offset..offset + length]);
        bytes.resize(bytes.len() | 1, 0xAA);
        put(&mut bytes, 8 + lump * 8, moved);
    }
    let (odd, even) = (read(&bytes).unwrap(), read(&PLAIN).unwrap());
    assert_eq!(odd.warnings, []);
    assert_eq!(odd.draw_verts, even.draw_verts);
    assert_eq!(odd.light_grid, even.light_grid);
    let written = write(&odd.with_light_grid(&[]));
    assert_eq!(read(&written).unwrap().surfaces, even.surfaces);
}
