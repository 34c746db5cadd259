//! pk3 archives: zip files of game data, indexed by their central directory and read member by member.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use zip::{CompressionMethod, ZipArchive};

/// A member that unpacks to more than this is refused: no game file comes near.
const MEMBER_LIMIT_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes that a member may unpack to beside four for each of its packed ones: a picture of 4096×4096 texels in one colour
/// passes, a bomb does not.
const UNPACKED_BASE_BYTES: u64 = 64 * 1024 * 1024 + 1024;
/// Unpacked bytes for each packed one at most: what deflate reaches, and a little. No more is reserved before the data
/// proves how long it is.
const EXPANSION_MAX: u64 = 1_100;
/// End record, zip64 end record and its locator: what an empty archive may have beside its comment.
const END_RECORDS_BYTES: u64 = 22 + 56 + 20;

/// Why an archive or a member cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Pk3Error {
    /// There is no sound central directory.
    #[error("no readable zip directory: {0}")]
    Directory(String),
    /// A member's header, data or checksum is damaged.
    #[error("{name}: damaged: {reason}")]
    Damaged {
        /// Member, as stored.
        name: String,
        /// What the unpacker says.
        reason: String,
    },
    /// A member needs a password.
    #[error("{name}: encrypted; games and luxgrid read only plain members")]
    Encrypted {
        /// Member, as stored.
        name: String,
    },
    /// A member is packed by a method that games cannot unpack either.
    #[error("{name}: packed with {method}; only stored and deflated members are read")]
    Method {
        /// Member, as stored.
        name: String,
        /// Method in words and with its number.
        method: String,
    },
    /// It unpacks to more than the limit, or to far more than it takes up.
    #[error("{name}: would unpack from {packed} to {bytes} bytes, which no game file does")]
    TooLarge {
        /// Member, as stored.
        name: String,
        /// Packed size from the central directory.
        packed: u64,
        /// Size from the central directory.
        bytes: u64,
    },
}

/// A member that a name finds.
#[derive(Debug)]
struct Member {
    /// Number in the zip reader's list.
    number: usize,
    /// Name with its own case and slashes.
    stored: String,
    /// Where its directory entry starts: of equal names the last one counts.
    at: u64,
}

/// An indexed archive over any seekable reader; its members stay packed until asked for.
#[derive(Debug)]
pub struct Pk3<R> {
    archive: ZipArchive<R>,
    /// Bytes of the archive: no member has more packed ones, whatever the directory says.
    length: u64,
    /// By normal name.
    index: BTreeMap<String, Member>,
    refused: Vec<String>,
    hidden: usize,
}

impl<R: Read + Seek> Pk3<R> {
    /// Reads the central directory. Bytes before the archive are skipped, comments passed over.
    ///
    /// # Errors
    /// [`Pk3Error::Directory`] when there is none.
    pub fn open(mut reader: R) -> Result<Self, Pk3Error> {
        let failed = |error: zip::result::ZipError| Pk3Error::Directory(error.to_string());
        let length = reader
            .seek(SeekFrom::End(0))
            .map_err(|error| failed(error.into()))?;
        let archive = ZipArchive::new(reader).map_err(failed)?;
        let end_bytes = END_RECORDS_BYTES + archive.comment().len() as u64;
        if archive.is_empty() && length > end_bytes {
            let reason = format!("it lists no members, yet the file has {length} bytes");
            return Err(Pk3Error::Directory(reason));
        }
        let mut index: BTreeMap<String, Member> = BTreeMap::new();
        let (mut refused, mut hidden) = (Vec::new(), 0);
        for number in 0..archive.len() {
            let entry = archive.by_index_data(number).map_err(failed)?;
            let Ok(stored) = entry.name() else {
                refused.push(String::from_utf8_lossy(entry.name_raw()).into_owned());
                continue;
            };
            let stored = stored.into_owned();
            if stored.ends_with(['/', '\\']) {
                continue;
            }
            let Some(name) = normal_name(&stored) else {
                refused.push(stored);
                continue;
            };
            let at = entry.central_header_start();
            if let Some(known) = index.get(&name) {
                hidden += 1;
                if known.at > at {
                    continue;
                }
            }
            index.insert(name, Member { number, stored, at });
        }
        Ok(Self {
            archive,
            length,
            index,
            refused,
            hidden,
        })
    }

    /// The stored name of the member that `name` (lower case, forward slashes) finds.
    pub fn stored_name(&self, name: &str) -> Option<&str> {
        self.index.get(name).map(|member| member.stored.as_str())
    }

    /// Lower-case names of all members, sorted.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.index.keys().map(String::as_str)
    }

    /// Members that no name reaches, as stored: absolute names, drives, `..` and other parts that stand for folders, and
    /// names that are no text.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }

    /// Members hidden by a later one whose name differs in case or slashes only.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// Unpacks a member; `None` when there is no such name.
    ///
    /// # Errors
    /// When its data is damaged (the checksum is verified), encrypted, of an unknown method, or too large; all of them name
    /// the member and leave the others readable.
    pub fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Pk3Error> {
        let Some(Member { number, stored, .. }) = self.index.get(name) else {
            return Ok(None);
        };
        let damaged = |reason: String| Pk3Error::Damaged {
            name: stored.clone(),
            reason,
        };
        let entry = self
            .archive
            .by_index_data(*number)
            .map_err(|error| damaged(error.to_string()))?;
        if entry.encrypted() {
            return Err(Pk3Error::Encrypted {
                name: stored.clone(),
            });
        }
        if let Some(method) = unknown_method(entry.compression()) {
            return Err(Pk3Error::Method {
                name: stored.clone(),
                method,
            });
        }
        let size = entry.size();
        let packed = entry.compressed_size().min(self.length);
        let plausible = packed.saturating_mul(4).saturating_add(UNPACKED_BASE_BYTES);
        if size > plausible.min(MEMBER_LIMIT_BYTES) {
            return Err(Pk3Error::TooLarge {
                name: stored.clone(),
                packed,
                bytes: size,
            });
        }
        let member = self
            .archive
            .by_index(*number)
            .map_err(|error| damaged(error.to_string()))?;
        let reserve = size.min(packed.saturating_mul(EXPANSION_MAX).saturating_add(1));
        let mut bytes = Vec::with_capacity(usize::try_from(reserve).unwrap_or(0));
        // To the end, where the checksum is compared, and not far beyond the size that was promised.
        member
            .take(size + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| damaged(error.to_string()))?;
        if bytes.len() as u64 > size {
            return Err(damaged(format!("longer than the {size} bytes it promises")));
        }
        Ok(Some(bytes))
    }
}

/// A method that is neither “stored” nor “deflated”, in words.
fn unknown_method(method: CompressionMethod) -> Option<String> {
    #[expect(deprecated, reason = "nothing else tells the number")]
    let number = match method {
        CompressionMethod::Stored | CompressionMethod::Deflated => return None,
        CompressionMethod::Unsupported(number) => number,
        other => return Some(other.to_string()),
    };
    let word = match number {
        1 => "Shrink",
        2..=5 => "Reduce",
        6 => "Implode",
        9 => "Deflate64",
        12 => "bzip2",
        14 => "LZMA",
        93 => "Zstandard",
        95 => "XZ",
        96 => "JPEG",
        97 => "WavPack",
        98 => "PPMd",
        99 => "AES encryption",
        _ => return Some(format!("unknown method {number}")),
    };
    Some(format!("{word} (method {number})"))
}

/// A virtual name in its one form: lower case (ASCII) with forward slashes. `None` for what no file may be asked for by:
/// absolute names, drives, `.`, `..` and empty parts, NUL.
pub fn normal_name(name: &str) -> Option<String> {
    let normal = name.replace('\\', "/").to_ascii_lowercase();
    let sound = !normal.contains([':', '\0'])
        && normal
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."));
    sound.then_some(normal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::write::{SimpleFileOptions, ZipWriter};

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn members_are_found_without_case_and_climbing_names_are_not() {
        let bytes = archive(&[
            ("Maps\\A.BSP", b"one"),
            ("../evil", b"x"),
            ("/abs", b"x"),
            ("c:/d", b"x"),
        ]);
        let mut pk3 = Pk3::open(Cursor::new(bytes)).unwrap();
        assert_eq!(pk3.names().collect::<Vec<_>>(), ["maps/a.bsp"]);
        assert_eq!(
            pk3.read("maps/a.bsp").unwrap().as_deref(),
            Some(&b"one"[..])
        );
        assert_eq!(pk3.stored_name("maps/a.bsp"), Some("Maps\\A.BSP"));
        assert_eq!(pk3.read("none").unwrap(), None);
        assert_eq!(pk3.refused(), ["../evil", "/abs", "c:/d"]);
    }

    #[test]
    fn a_member_that_expands_beyond_reason_is_refused() {
        let mut bytes = archive(&[("bomb", &vec![0; 70 << 20]), ("plain", b"text")]);
        let mut pk3 = Pk3::open(Cursor::new(bytes.clone())).unwrap();
        assert!(matches!(pk3.read("bomb"), Err(Pk3Error::TooLarge { .. })));
        assert!(pk3.read("plain").unwrap().is_some());
        // The central directory says 16 bytes.
        let at = bytes.windows(4).position(|window| window == b"PK\x01\x02");
        let size = at.unwrap() + 24;
        bytes[size..size + 4].copy_from_slice(&16_u32.to_le_bytes());
        let error = Pk3::open(Cursor::new(bytes)).unwrap().read("bomb");
        assert!(matches!(error, Err(Pk3Error::Damaged { .. })), "{error:?}");
    }

    #[test]
    fn a_damaged_member_is_an_error_and_garbage_is_no_archive() {
        let mut bytes = archive(&[("a", &[b'a'; 4000])]);
        bytes[40] ^= 0xff;
        assert!(Pk3::open(Cursor::new(bytes)).unwrap().read("a").is_err());
        assert!(Pk3::open(Cursor::new(b"garbage".to_vec())).is_err());
        assert!(Pk3::open(Cursor::new(Vec::new())).is_err());
    }
}
