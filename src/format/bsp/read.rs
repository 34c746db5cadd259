use crate::format::bsp::error::BspError;
use crate::format::bsp::types::Bsp;

/// Reads a BSP.
///
/// # Errors
/// See [`BspError`].
pub fn read(_bytes: &[u8]) -> Result<Bsp, BspError> {
    Err(BspError::TooShort { length: 0 })
}
