use crate::format::bsp::types::Bsp;

/// The file's bytes: those that were read, with the replaced lumps in place.
pub fn write(bsp: &Bsp) -> Vec<u8> {
    bsp.source.to_vec()
}
