//! Zip files by hand, with everything that a writer library would not write.

use std::io::{Cursor, Read, Write};

/// A member: what its two headers say, and its bytes.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: Vec<u8>,
    pub(crate) packed: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    /// Unpacked size in the headers.
    pub(crate) size: u64,
    /// Sizes and offset in a zip64 extra field.
    pub(crate) zip64: bool,
    /// More extra fields of the central directory.
    pub(crate) extra: Vec<u8>,
}

/// Flag bit 0: encrypted.
pub(crate) const ENCRYPTED: u16 = 1;
/// Flag bit 3: checksum and sizes follow the data.
pub(crate) const DESCRIPTOR: u16 = 1 << 3;

impl Member {
    pub(crate) fn stored(name: &str, data: &[u8]) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            packed: data.to_vec(),
            flags: 0,
            method: 0,
            crc: crc32(data),
            size: data.len() as u64,
            zip64: false,
            extra: Vec::new(),
        }
    }

    pub(crate) fn deflated(name: &str, data: &[u8]) -> Self {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated);
        writer.start_file("x", options).unwrap();
        writer.write_all(data).unwrap();
        let mut archive = zip::ZipArchive::new(writer.finish().unwrap()).unwrap();
        let mut packed = Vec::new();
        let mut raw = archive.by_index_raw(0).unwrap();
        raw.read_to_end(&mut packed).unwrap();
        Self {
            packed,
            method: 8,
            crc: raw.crc32(),
            size: data.len() as u64,
            ..Self::stored(name, b"")
        }
    }

    fn is_streamed(&self) -> bool {
        self.flags & DESCRIPTOR != 0
    }

    fn local(&self) -> Vec<u8> {
        let known = !self.is_streamed();
        let mut extra = Vec::new();
        if self.zip64 {
            put16(&mut extra, 1);
            put16(&mut extra, 16);
            put64(&mut extra, if known { self.size } else { 0 });
            put64(&mut extra, if known { self.packed.len() as u64 } else { 0 });
        }
        let mut out = b"PK\x03\x04".to_vec();
        put16(&mut out, if self.zip64 { 45 } else { 20 });
        put16(&mut out, self.flags);
        put16(&mut out, self.method);
        put32(&mut out, 0x5821_0000);
        put32(&mut out, if known { self.crc } else { 0 });
        let (packed, size) = (self.packed.len() as u64, self.size);
        for value in [packed, size] {
            let value = if known { value } else { 0 };
            put32(&mut out, if self.zip64 { u32::MAX } else { value as u32 });
        }
        put16(&mut out, self.name.len() as u16);
        put16(&mut out, extra.len() as u16);
        out.extend(&self.name);
        out.extend(extra);
        out.extend(&self.packed);
        if self.is_streamed() {
            out.extend(b"PK\x07\x08");
            put32(&mut out, self.crc);
            for value in [packed, size] {
                if self.zip64 {
                    put64(&mut out, value);
                } else {
                    put32(&mut out, value as u32);
                }
            }
        }
        out
    }

    fn central(&self, offset: u64) -> Vec<u8> {
        let mut extra = Vec::new();
        if self.zip64 {
            put16(&mut extra, 1);
            put16(&mut extra, 24);
            put64(&mut extra, self.size);
            put64(&mut extra, self.packed.len() as u64);
            put64(&mut extra, offset);
        }
        extra.extend(&self.extra);
        let narrow = |value: u64| if self.zip64 { u32::MAX } else { value as u32 };
        let mut out = b"PK\x01\x02".to_vec();
        put16(&mut out, 45);
        put16(&mut out, if self.zip64 { 45 } else { 20 });
        put16(&mut out, self.flags);
        put16(&mut out, self.method);
        put32(&mut out, 0x5821_0000);
        put32(&mut out, self.crc);
        put32(&mut out, narrow(self.packed.len() as u64));
        put32(&mut out, narrow(self.size));
        put16(&mut out, self.name.len() as u16);
        put16(&mut out, extra.len() as u16);
        for _ in 0..3 {
            put16(&mut out, 0);
        }
        put32(&mut out, 0);
        put32(&mut out, narrow(offset));
        out.extend(&self.name);
        out.extend(extra);
        out
    }
}

/// What is around the members.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    /// Bytes before the archive.
    pub(crate) before: Vec<u8>,
    /// Whether offsets count those bytes, as self-extractors' tools make them.
    pub(crate) adjusted: bool,
    pub(crate) comment: Vec<u8>,
    /// With the zip64 end record and its locator.
    pub(crate) zip64: bool,
}

pub(crate) fn archive(members: &[Member]) -> Vec<u8> {
    framed(members, &Frame::default())
}

pub(crate) fn framed(members: &[Member], frame: &Frame) -> Vec<u8> {
    let mut out = frame.before.clone();
    let base = if frame.adjusted { 0 } else { out.len() as u64 };
    let mut central = Vec::new();
    for member in members {
        let offset = out.len() as u64 - base;
        out.extend(member.local());
        central.extend(member.central(offset));
    }
    let (start, length) = (out.len() as u64 - base, central.len() as u64);
    let count = members.len() as u64;
    out.extend(central);
    if frame.zip64 {
        let end = out.len() as u64 - base;
        out.extend(b"PK\x06\x06");
        put64(&mut out, 44);
        put16(&mut out, 45);
        put16(&mut out, 45);
        put32(&mut out, 0);
        put32(&mut out, 0);
        for value in [count, count, length, start] {
            put64(&mut out, value);
        }
        out.extend(b"PK\x06\x07");
        put32(&mut out, 0);
        put64(&mut out, end);
        put32(&mut out, 1);
    }
    out.extend(b"PK\x05\x06");
    put32(&mut out, 0);
    for _ in 0..2 {
        put16(&mut out, if frame.zip64 { u16::MAX } else { count as u16 });
    }
    for value in [length, start] {
        put32(&mut out, if frame.zip64 { u32::MAX } else { value as u32 });
    }
    put16(&mut out, frame.comment.len() as u16);
    out.extend(&frame.comment);
    out
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

/// The checksum of zip files, bit by bit.
pub(crate) fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| {
            let mask = if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
            (crc >> 1) ^ mask
        })
    })
}
