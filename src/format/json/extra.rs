//! `luxgrid.json`: what q3map2's files cannot hold, so that taking a map apart and putting it together gives the same bytes.

use serde::{Deserialize, Serialize};

use crate::format::bsp::Format;
use crate::format::json::error::JsonError;

/// Name of the extra file.
pub const EXTRA_FILE: &str = "luxgrid.json";
/// Name and version of its shape.
pub(super) const SCHEMA: &str = "luxgrid/unpack/1";
/// Equal bytes between two differences that are not worth a patch of their own.
const JOIN_BYTES: usize = 8;

/// The whole file.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Extra {
    pub(super) schema: String,
    /// First four bytes of the map.
    pub(super) ident: String,
    pub(super) version: i32,
    /// Offset and length of each directory entry, as stored.
    pub(super) directory: Vec<[i32; 2]>,
    /// Everything behind the directory in file order: lumps, and bytes that belong to none (the compiler's mark, padding).
    pub(super) layout: Vec<Segment>,
    pub(super) lumps: Vec<LumpExtra>,
}

/// A stretch of the file: a lump, or bytes.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Segment {
    pub(super) at: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lump: Option<usize>,
    /// Length of a lump that the directory does not list: the SH grid in the block of extra lumps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<usize>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) hex: String,
}

impl Segment {
    pub(super) fn gap(at: usize, bytes: &[u8]) -> Self {
        Self {
            at,
            lump: None,
            bytes: None,
            hex: to_hex(bytes),
        }
    }

    pub(super) fn lump(at: usize, place: usize, bytes: Option<usize>) -> Self {
        Self {
            at,
            lump: Some(place),
            bytes,
            hex: String::new(),
        }
    }
}

/// How a lump differs from what its JSON file says.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct LumpExtra {
    pub(super) lump: usize,
    /// Of the lump as its JSON file says it, see [`hash`]: another value means that the file was edited, and what follows
    /// does not apply. Empty for a lump without a JSON file.
    pub(super) hash: String,
    /// Length in the map.
    pub(super) bytes: usize,
    /// The lump itself, when most of it differs or it has no JSON file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) whole: Option<String>,
    /// Offset in the lump, and bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) patches: Vec<(usize, String)>,
}

/// FNV-1a with 64 bits, as 16 hexadecimal digits: tells an edited file from an untouched one, guards against nobody.
pub(super) fn hash(bytes: &[u8]) -> String {
    let value = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    format!("{value:016x}")
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

pub(super) fn from_hex(text: &str) -> Result<Vec<u8>, JsonError> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect();
    match bytes {
        Some(bytes) if rest.is_empty() => Ok(bytes),
        _ => Err(fault("a text is not made of pairs of hexadecimal digits")),
    }
}

/// A mistake in the extra file.
pub(super) fn fault(what: impl Into<String>) -> JsonError {
    JsonError::Malformed {
        file: EXTRA_FILE.to_owned(),
        line: 1,
        path: String::new(),
        what: what.into(),
    }
}

impl Extra {
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Texts and numbers into memory: nothing here can fail.
        let _ = self.serialize(&mut serializer);
        bytes
    }

    /// Layout of the map's records.
    pub(super) fn format(&self) -> Result<Format, JsonError> {
        let known = [Format::Ibsp, Format::Rbsp, Format::Fbsp];
        let found = known
            .into_iter()
            .find(|format| format.ident() == self.ident.as_bytes());
        found.ok_or_else(|| JsonError::UnsupportedKind {
            ident: self.ident.escape_debug().to_string(),
        })
    }

    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        let extra: Self = serde_json::from_slice(bytes).map_err(|error| JsonError::Malformed {
            file: EXTRA_FILE.to_owned(),
            line: error.line() as u64,
            path: String::new(),
            what: error.to_string(),
        })?;
        if extra.schema == SCHEMA {
            Ok(extra)
        } else {
            Err(fault(format!(
                "schema “{}”, expected {SCHEMA}",
                extra.schema
            )))
        }
    }
}

impl LumpExtra {
    /// How `original` differs from `said`, its form that JSON keeps.
    pub(super) fn between(lump: usize, original: &[u8], said: &[u8]) -> Self {
        let mut extra = Self {
            lump,
            hash: hash(said),
            bytes: original.len(),
            whole: None,
            patches: Vec::new(),
        };
        if original.len() < said.len() {
            extra.whole = Some(to_hex(original));
            return extra;
        }
        let differs = |at: usize| original.get(at) != said.get(at);
        let mut open: Option<(usize, usize)> = None;
        let mut changed = 0;
        for at in (0..original.len()).filter(|at| differs(*at)) {
            changed += 1;
            open = Some(match open {
                Some((start, end)) if at <= end + JOIN_BYTES => (start, at + 1),
                Some((start, end)) => {
                    extra.push_patch(original, start, end);
                    (at, at + 1)
                }
                None => (at, at + 1),
            });
        }
        if changed > original.len() / 2 {
            extra.patches.clear();
            extra.whole = Some(to_hex(original));
        } else if let Some((start, end)) = open {
            extra.push_patch(original, start, end);
        }
        extra
    }

    fn push_patch(&mut self, original: &[u8], start: usize, end: usize) {
        let bytes = original.get(start..end).unwrap_or_default();
        self.patches.push((start, to_hex(bytes)));
    }

    /// Whether `said` is what JSON kept of the original lump.
    pub(super) fn is_untouched(&self, said: &[u8]) -> bool {
        hash(said) == self.hash
    }

    /// The original lump, if `said` is what JSON kept of it.
    pub(super) fn restore(&self, said: &[u8]) -> Result<Option<Vec<u8>>, JsonError> {
        if !self.is_untouched(said) {
            return Ok(None);
        }
        self.original(said).map(Some)
    }

    /// The lump with its patches put in.
    pub(super) fn original(&self, said: &[u8]) -> Result<Vec<u8>, JsonError> {
        let bad = || fault(format!("patches of lump {} lie outside it", self.lump));
        let mut lump = match &self.whole {
            Some(whole) => from_hex(whole)?,
            None => said.to_vec(),
        };
        let patches: u64 = self.patches.iter().map(|(_, hex)| hex.len() as u64).sum();
        if self.bytes as u64 > lump.len() as u64 + patches {
            return Err(bad());
        }
        lump.resize(self.bytes, 0);
        for (at, hex) in &self.patches {
            let bytes = from_hex(hex)?;
            let end = at.checked_add(bytes.len()).ok_or_else(bad)?;
            lump.get_mut(*at..end)
                .ok_or_else(bad)?
                .copy_from_slice(&bytes);
        }
        Ok(lump)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_restore_the_original() {
        let said: Vec<u8> = (0..200).collect();
        let mut near = said.clone();
        near[3] = 0;
        near[8] = 0;
        near[100] = 1;
        near.push(9);
        for original in [said.clone(), near.clone(), vec![7; 200], vec![], vec![1, 2]] {
            let extra = LumpExtra::between(2, &original, &said);
            assert_eq!(extra.restore(&said).unwrap().unwrap(), original);
            assert!(extra.restore(b"edited").unwrap().is_none());
        }
        let extra = LumpExtra::between(2, &near, &said);
        assert_eq!(extra.patches.len(), 3);
    }

    #[test]
    fn hostile_patches_are_refused() {
        let mut extra = LumpExtra::between(2, &[1, 2, 3], &[1, 2, 4]);
        extra.bytes = usize::MAX;
        assert!(extra.restore(&[1, 2, 4]).is_err());
        extra.bytes = 3;
        for (at, hex) in [(usize::MAX, "00"), (3, "00"), (0, "0"), (0, "xx")] {
            extra.patches = vec![(at, hex.to_owned())];
            assert!(extra.restore(&[1, 2, 4]).is_err(), "{at} {hex}");
        }
    }
}
