//! A cursor over little-endian records. Reading past the end gives zeros: callers cut whole records first.

use glam::{IVec3, Vec2, Vec3};

/// Reads one record field by field.
pub(crate) struct Record<'a> {
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.bytes.split_first_chunk::<N>() {
            Some((head, rest)) => {
                self.bytes = rest;
                *head
            }
            None => [0; N],
        }
    }

    pub(crate) fn u8(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    pub(crate) fn i32(&mut self) -> i32 {
        i32::from_le_bytes(self.array())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// Bit pattern kept, NaN payloads included.
    pub(crate) fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.array())
    }

    pub(crate) fn vec2(&mut self) -> Vec2 {
        Vec2::new(self.f32(), self.f32())
    }

    pub(crate) fn vec3(&mut self) -> Vec3 {
        Vec3::new(self.f32(), self.f32(), self.f32())
    }

    pub(crate) fn ivec3(&mut self) -> IVec3 {
        IVec3::new(self.i32(), self.i32(), self.i32())
    }

    /// A 64-byte name: up to the first NUL, Latin-1.
    pub(crate) fn name64(&mut self) -> String {
        let field: [u8; 64] = self.array();
        let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
        crate::format::tokens::latin1(text)
    }
}
