//! Seeded changes to a file. A seed always gives the same change; half of the changes know the file's structure.

use luxgrid::math::sampling;

/// Values that break arithmetic on 32-bit fields.
const EXTREMES: [i32; 14] = [
    0,
    1,
    -1,
    2,
    3,
    255,
    65_535,
    65_536,
    i32::MAX,
    i32::MIN,
    i32::MAX - 1,
    0x7FFF_FFF0,
    1 << 30,
    -4,
];
/// The same for floats, by their bits.
const FLOATS: [f32; 10] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    0.0,
    -0.0,
    1.0e-20,
    1.0e9,
];
/// Words that some text format knows.
const WORDS: [&str; 28] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "\"\"",
    ",",
    ":",
    "/*",
    "*/",
    "//",
    "\\u0000",
    "-1",
    "0",
    "1e39",
    "NaN",
    "-Infinity",
    "2147483648",
    "99999999999999999999",
    "0.000000001",
    "light",
    "model",
    "*99999999",
    "\n",
    "\0",
    "_0",
];
/// A file never grows beyond this by changes.
const BYTES_MAX: usize = 4 << 20;

/// What a file is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    /// A BSP, or an SH grid: 32-bit numbers, for a BSP behind a directory.
    Map,
    /// A zip archive.
    Zip,
    /// PNG, JPEG or TGA.
    Picture,
    /// Words.
    Text,
}

/// Numbers drawn from a seed.
pub(crate) struct Draws {
    seed: u64,
    index: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, index: 0 }
    }

    /// A number below `limit`; 0 when there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.index += 1;
        let drawn = (sampling::unit(self.seed, self.index, 0) * limit as f32) as usize;
        drawn.min(limit.saturating_sub(1))
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }
}

/// `bytes` with one to four changes; `other` lends parts.
pub(crate) fn mutate(draws: &mut Draws, bytes: &mut Vec<u8>, other: &[u8], structure: Structure) {
    for _ in 0..=draws.below(4) {
        if draws.below(2) == 0 {
            change_any(draws, bytes, other);
        } else {
            match structure {
                Structure::Map => change_map(draws, bytes),
                Structure::Zip => change_zip(draws, bytes),
                Structure::Picture => change_picture(draws, bytes),
                Structure::Text => change_text(draws, bytes),
            }
        }
    }
    bytes.truncate(BYTES_MAX);
    if structure == Structure::Picture && draws.below(4) > 0 {
        mend_png(bytes);
    }
}

/// Changes that suit any file.
fn change_any(draws: &mut Draws, bytes: &mut Vec<u8>, other: &[u8]) {
    let at = draws.below(bytes.len());
    // Short stretches far more often than long ones.
    let span = 1 << draws.below(14);
    let length = (1 + draws.below(span)).min(bytes.len() - at);
    match draws.below(9) {
        0 | 1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = draws.byte();
            }
        }
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << draws.below(8);
            }
        }
        3 => put(bytes, at, draws.one_of(&EXTREMES)),
        4 => {
            if draws.below(4) == 0 {
                bytes.truncate(at);
            } else {
                bytes.drain(at..at + length);
            }
        }
        5 => {
            let stretch = bytes[at..at + length].to_vec();
            let times = 1 + draws.below(8);
            let to = draws.below(bytes.len());
            bytes.splice(to..to, stretch.repeat(times));
        }
        6 => {
            let from = draws.below(other.len());
            let end = (from + length).min(other.len());
            let keep = (at + draws.below(2) * length).min(bytes.len());
            bytes.splice(at..keep, other[from..end].iter().copied());
        }
        7 => {
            let to = draws.below(bytes.len() + 1 - length);
            bytes.copy_within(at..at + length, to);
        }
        _ => {
            let value = draws.byte();
            bytes[at..at + length].fill(value);
        }
    }
}

fn get(bytes: &[u8], at: usize) -> i32 {
    let field = bytes
        .get(at..at + 4)
        .and_then(|field| field.try_into().ok());
    field.map_or(0, i32::from_le_bytes)
}

fn put(bytes: &mut [u8], at: usize, value: i32) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}

/// Overwrites the 32-bit field at `at` by an extreme, a float, a near value or another field.
fn change_field(draws: &mut Draws, bytes: &mut [u8], at: usize) {
    let old = get(bytes, at);
    let value = match draws.below(6) {
        0 | 1 => draws.one_of(&EXTREMES),
        2 => draws.one_of(&FLOATS).to_bits().cast_signed(),
        3 => old.wrapping_add(draws.below(33) as i32 - 16),
        4 => old.wrapping_mul(1 << draws.below(8)),
        _ => get(bytes, draws.below(bytes.len()) & !3),
    };
    put(bytes, at, value);
}

/// A field of the directory, or of a record: every lump equally often, whatever its size.
fn change_map(draws: &mut Draws, bytes: &mut [u8]) {
    let entry = 8 + 8 * draws.below(19);
    if draws.below(4) == 0 {
        let field = entry + 4 * draws.below(2);
        let near = get(bytes, 8 + 4 * draws.below(38));
        match draws.below(4) {
            0 => put(bytes, field, near),
            1 => put(bytes, field, bytes.len() as i32 - draws.below(64) as i32),
            _ => change_field(draws, bytes, field),
        }
        return;
    }
    let (offset, length) = (get(bytes, entry), get(bytes, entry + 4));
    let [offset, length] = [offset, length].map(|value| usize::try_from(value).unwrap_or(0));
    let within = (offset + (draws.below(length) & !3)).min(bytes.len());
    change_field(draws, bytes, within);
}

/// A field behind one of the signatures of a zip archive.
fn change_zip(draws: &mut Draws, bytes: &mut [u8]) {
    let marks: Vec<usize> = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, window)| window.starts_with(b"PK") && window[2] < 9)
        .map(|(at, _)| at)
        .collect();
    if marks.is_empty() {
        return;
    }
    let at = draws.one_of(&marks) + 4 + 2 * draws.below(22);
    if draws.below(2) == 0 {
        change_field(draws, bytes, at);
    } else if let Some(field) = bytes.get_mut(at..at + 2) {
        let value = draws.one_of(&EXTREMES) as u16;
        field.copy_from_slice(&value.to_le_bytes());
    }
}

/// Width, height and whatever else stands in a picture's header.
fn change_picture(draws: &mut Draws, bytes: &mut [u8]) {
    let frame = bytes
        .windows(2)
        .position(|pair| pair[0] == 0xFF && (0xC0..=0xC2).contains(&pair[1]));
    let (at, big_endian) = match bytes {
        [0x89, b'P', ..] => (16 + draws.below(13), true),
        [0xFF, 0xD8, ..] => (frame.unwrap_or(0) + 4 + draws.below(14), true),
        _ => (draws.below(18), false),
    };
    let value = draws.one_of(&EXTREMES) as u16;
    let pair = if big_endian {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    };
    if let Some(field) = bytes.get_mut(at..at + 2) {
        field.copy_from_slice(&pair);
    }
}

/// Puts the right checksums into the chunks of a PNG: behind a wrong one a reader sees nothing.
pub(crate) fn mend_png(bytes: &mut [u8]) {
    if !bytes.starts_with(b"\x89PNG") {
        return;
    }
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = length
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let Some(chunk) = bytes.get(at + 4..at + 8 + length) else {
            return;
        };
        let sum = crc32(chunk).to_be_bytes();
        if let Some(field) = bytes.get_mut(at + 8 + length..at + 12 + length) {
            field.copy_from_slice(&sum);
        }
        at += 12 + length;
    }
}

/// The checksum of zip and PNG.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            let carry = 0xEDB8_8320 & (sum & 1).wrapping_neg();
            sum >> 1 ^ carry
        })
    })
}

/// A word taken out, repeated, exchanged, or put in.
fn change_text(draws: &mut Draws, bytes: &mut Vec<u8>) {
    let word_at = |from: usize, bytes: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.*".contains(byte);
        let first = bytes[from..].iter().position(is_part);
        let start = first.map_or(bytes.len(), |first| from + first);
        let length = bytes[start..].iter().take_while(|byte| is_part(byte));
        start..start + length.count()
    };
    let from = draws.below(bytes.len());
    let word = word_at(from, bytes);
    let from = draws.below(bytes.len());
    let other = word_at(from, bytes);
    let text = bytes[other.clone()].to_vec();
    match draws.below(7) {
        0 => drop(bytes.drain(word)),
        1 => drop(bytes.splice(word, text)),
        2 => {
            let mut repeated = text;
            repeated.push(b' ');
            let times = 1 << draws.below(12);
            bytes.splice(word.start..word.start, repeated.repeat(times));
        }
        3 | 4 => drop(bytes.splice(word, draws.one_of(&WORDS).bytes())),
        5 => drop(bytes.splice(word.start..word.start, draws.one_of(&WORDS).bytes())),
        _ => {
            let brackets: Vec<usize> = bytes
                .iter()
                .enumerate()
                .filter(|(_, byte)| b"{}[]\"(),:".contains(byte))
                .map(|(at, _)| at)
                .collect();
            if !brackets.is_empty() {
                let at = draws.one_of(&brackets);
                bytes.remove(at);
            }
        }
    }
}
