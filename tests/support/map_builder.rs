//! A canonical writer for tests: one map in each of the seven layouts that share its geometry.

use luxgrid::format::bsp::{Bsp, LumpKind};

/// A layout that the family's readers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// IBSP 46 as the original compiler writes it.
    Ibsp17,
    /// IBSP 46 with an empty entry 17.
    Ibsp18,
    /// IBSP 47 with an advertisement.
    QuakeLive,
    /// IBSP 47 with a foliage surface (of no vertices).
    EnemyTerritory,
    /// IBSP 47 with an SH grid.
    Sh,
    /// RBSP 1.
    Rbsp,
    /// FBSP 1.
    Fbsp,
}

impl Layout {
    pub(crate) const ALL: [Self; 7] = [
        Self::Ibsp17,
        Self::Ibsp18,
        Self::QuakeLive,
        Self::EnemyTerritory,
        Self::Sh,
        Self::Rbsp,
        Self::Fbsp,
    ];

    fn head(self) -> ([u8; 4], i32, usize) {
        match self {
            Self::Ibsp17 => (*b"IBSP", 46, 17),
            Self::Ibsp18 => (*b"IBSP", 46, 18),
            Self::QuakeLive | Self::EnemyTerritory => (*b"IBSP", 47, 18),
            Self::Sh => (*b"IBSP", 47, 19),
            Self::Rbsp => (*b"RBSP", 1, 18),
            Self::Fbsp => (*b"FBSP", 1, 18),
        }
    }

    fn is_styled(self) -> bool {
        matches!(self, Self::Rbsp | Self::Fbsp)
    }
}

/// Order in which compilers write the lumps.
const ORDER: [usize; 19] = [
    1, 2, 4, 3, 8, 9, 5, 6, 7, 10, 13, 16, 14, 15, 17, 0, 12, 11, 18,
];

/// `source`, an IBSP map, in `layout`; one with an SH grid where that is asked for. With the compiler's mark when `marked`.
pub(crate) fn build(source: &Bsp, layout: Layout, marked: bool) -> Vec<u8> {
    let mut lumps: Vec<Vec<u8>> = LumpKind::ALL
        .iter()
        .map(|kind| source.lump_bytes(*kind).to_vec())
        .collect();
    lumps[17].clear();
    match layout {
        Layout::Sh => {}
        _ => lumps[18].clear(),
    }
    match layout {
        Layout::QuakeLive => lumps[17] = advertisement(),
        Layout::EnemyTerritory => {
            let mut foliage = lumps[13][..104].to_vec();
            foliage[8..12].copy_from_slice(&5_i32.to_le_bytes());
            foliage[16..20].fill(0);
            foliage[24..28].fill(0);
            foliage[96..104].fill(0);
            lumps[13].extend(foliage);
        }
        _ if layout.is_styled() => style(&mut lumps, layout),
        _ => {}
    }
    let (ident, version, entries) = layout.head();
    assemble(ident, version, entries, &lumps, marked)
}

/// A file with `lumps` in the compilers' order, 4-aligned.
pub(crate) fn assemble(
    ident: [u8; 4],
    version: i32,
    entries: usize,
    lumps: &[Vec<u8>],
    marked: bool,
) -> Vec<u8> {
    let mut bytes = ident.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.resize(8 + 8 * entries, 0);
    if marked {
        bytes.extend_from_slice(b"I LOVE MY Q3MAP2 2.5.17 on Mon Jan  1 00:00:00 2024\n\0\0\0\0");
    }
    for number in ORDER.into_iter().filter(|number| *number < entries) {
        let at = (bytes.len() as i32).to_le_bytes();
        let length = (lumps[number].len() as i32).to_le_bytes();
        bytes[8 + 8 * number..12 + 8 * number].copy_from_slice(&at);
        bytes[12 + 8 * number..16 + 8 * number].copy_from_slice(&length);
        bytes.extend_from_slice(&lumps[number]);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn advertisement() -> Vec<u8> {
    let mut record = 1_i32.to_le_bytes().to_vec();
    for number in 0..15 {
        record.extend((number as f32).to_le_bytes());
    }
    record.extend_from_slice(b"*1");
    record.resize(128, 0);
    record
}

/// IBSP records widened to four style slots, of which slot 0 is in use.
fn style(lumps: &mut [Vec<u8>], layout: Layout) {
    let larger = layout == Layout::Fbsp;
    let sides = lumps[9].chunks_exact(8);
    lumps[9] = sides.flat_map(|side| [side, &[0xFF; 4]].concat()).collect();
    let verts = lumps[10].chunks_exact(44).map(|vert| {
        let scale = if larger { 0.25 } else { 1.0 };
        let uv = [20, 24].map(|at| f32::from_le_bytes(vert[at..at + 4].try_into().unwrap()));
        let uv: Vec<u8> = uv.iter().flat_map(|c| (c * scale).to_le_bytes()).collect();
        [&vert[..20], &uv, &[0; 24], &vert[28..], &[0; 12]].concat()
    });
    lumps[10] = verts.flatten().collect();
    let none = (-3_i32).to_le_bytes();
    let surfaces = lumps[13].chunks_exact(104).map(|surface| {
        let styles = [0, 255, 255, 255, 0, 255, 255, 255];
        let unused = [none, none, none].concat();
        let number = &surface[28..32];
        let (x, y) = (&surface[32..36], &surface[36..40]);
        let zeros = [0; 12];
        [
            &surface[..28],
            &styles,
            number,
            &unused,
            x,
            &zeros,
            y,
            &zeros,
            &surface[40..],
        ]
        .concat()
    });
    lumps[13] = surfaces.flatten().collect();
    if larger {
        lumps[14] = lumps[14]
            .chunks_exact(128 * 128 * 3)
            .flat_map(enlarge)
            .collect();
    }
    let mut palette: Vec<&[u8]> = Vec::new();
    let mut array = Vec::new();
    for point in lumps[15].chunks_exact(8) {
        let known = palette.iter().position(|entry| *entry == point);
        let index = known.unwrap_or(palette.len());
        if known.is_none() {
            palette.push(point);
        }
        array.extend((index as u16).to_le_bytes());
    }
    let styled = palette.into_iter().flat_map(|point| {
        let styles = [0, 255, 255, 255];
        [
            &point[..3],
            &[0; 9],
            &point[3..6],
            &[0; 9],
            &styles,
            &point[6..],
        ]
        .concat()
    });
    let styled = styled.collect();
    lumps[17] = array;
    lumps[15] = styled;
}

/// The page in the corner of one of 512×512.
fn enlarge(page: &[u8]) -> Vec<u8> {
    let mut large = vec![0; 512 * 512 * 3];
    for (row, texels) in page.chunks_exact(128 * 3).enumerate() {
        large[row * 512 * 3..][..128 * 3].copy_from_slice(texels);
    }
    large
}
