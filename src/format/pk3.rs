//! pk3 archives: zip files of game data, indexed by their central directory and read member by member.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};

use zip::ZipArchive;

/// A member that unpacks to more than this is refused: no game file comes near.
const MEMBER_LIMIT_BYTES: u64 = 512 * 1024 * 1024;
/// Bytes that a member may unpack to beside four for each of its packed ones: a picture of 4096×4096 texels in one colour
/// passes, a bomb does not.
const UNPACKED_BASE_BYTES: u64 = 64 * 1024 * 1024 + 1024;
/// Unpacked bytes for each packed one at most: what deflate reaches, and a little. No more is reserved before the data
/// proves how long it is.
const EXPANSION_MAX: u64 = 1_100;

/// Why an archive or a member cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Pk3Error {
    /// The central directory or a member is damaged, or of an unknown method.
    #[error("{0}")]
    Zip(String),
    /// It unpacks to more than the limit.
    #[error("{name} would unpack to {bytes} bytes")]
    TooLarge {
        /// Member.
        name: String,
        /// Size from the central directory.
        bytes: u64,
    },
}

/// An indexed archive over any seekable reader; its members stay packed until asked for.
#[derive(Debug)]
pub struct Pk3<R> {
    archive: ZipArchive<R>,
    /// Bytes of the archive: no member has more packed ones, whatever the directory says.
    length: u64,
    /// Lower-case name with forward slashes → member number and name as stored. Of equal names the last counts.
    index: BTreeMap<String, (usize, String)>,
}

impl<R: Read + Seek> Pk3<R> {
    /// Reads the central directory.
    ///
    /// # Errors
    /// [`Pk3Error::Zip`] when there is none.
    pub fn open(mut reader: R) -> Result<Self, Pk3Error> {
        let length = reader
            .seek(SeekFrom::End(0))
            .map_err(|error| Pk3Error::Zip(error.to_string()))?;
        let archive = ZipArchive::new(reader).map_err(|error| Pk3Error::Zip(error.to_string()))?;
        let mut index = BTreeMap::new();
        for number in 0..archive.len() {
            let Some(Ok(name)) = archive.name_for_index(number) else {
                continue;
            };
            let is_folder = name.ends_with('/') || name.ends_with('\\');
            if let (Some(key), false) = (normalise_member(&name), is_folder) {
                index.insert(key, (number, name.into_owned()));
            }
        }
        Ok(Self {
            archive,
            length,
            index,
        })
    }

    /// The stored name of the member that `name` (lower case, forward slashes) finds.
    pub fn stored_name(&self, name: &str) -> Option<&str> {
        self.index.get(name).map(|(_, stored)| stored.as_str())
    }

    /// Lower-case names of all members, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.index.keys().map(String::as_str)
    }

    /// Unpacks a member; `None` when there is no such name.
    ///
    /// # Errors
    /// When its data is damaged (the checksum is verified), of an unknown method, or too large.
    pub fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Pk3Error> {
        let Some((number, stored)) = self.index.get(name) else {
            return Ok(None);
        };
        let failed = |error: String| Pk3Error::Zip(format!("{stored}: {error}"));
        let member = self
            .archive
            .by_index(*number)
            .map_err(|error| failed(error.to_string()))?;
        let size = member.size();
        let packed = member.compressed_size().min(self.length);
        let plausible = packed.saturating_mul(4).saturating_add(UNPACKED_BASE_BYTES);
        if size > plausible.min(MEMBER_LIMIT_BYTES) {
            return Err(Pk3Error::TooLarge {
                name: stored.clone(),
                bytes: size,
            });
        }
        let reserve = size.min(packed.saturating_mul(EXPANSION_MAX).saturating_add(1));
        let mut bytes = Vec::with_capacity(usize::try_from(reserve).unwrap_or(0));
        // To the end, where the checksum is compared, and not far beyond the size that was promised.
        member
            .take(size + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(error.to_string()))?;
        if bytes.len() as u64 > size {
            return Err(failed(format!("longer than the {size} bytes it promises")));
        }
        Ok(Some(bytes))
    }
}

/// Lower case with forward slashes; `None` for absolute names, drives and `..`, which are never reached.
fn normalise_member(name: &str) -> Option<String> {
    let name = name.replace('\\', "/").to_ascii_lowercase();
    let climbs = name.split('/').any(|part| part == "..");
    (!climbs && !name.starts_with('/') && !name.contains(':')).then_some(name)
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
        assert!(matches!(error, Err(Pk3Error::Zip(_))), "{error:?}");
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
