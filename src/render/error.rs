/// Why something cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// No graphics device that wgpu can use.
    #[error("no usable graphics adapter: {0}")]
    NoAdapter(String),
    /// The adapter gave no device.
    #[error("the graphics adapter {adapter} gave no device: {reason}")]
    NoDevice {
        /// Its name.
        adapter: String,
        /// What the driver says.
        reason: String,
    },
    /// The device refused an operation.
    #[error("the graphics device refused: {0}")]
    Device(String),
    /// A picture of this size cannot be drawn.
    #[error("a picture of {width}×{height} pixels cannot be drawn; the device takes 1 to {limit}")]
    Size {
        /// Width, pixels.
        width: u32,
        /// Height, pixels.
        height: u32,
        /// Longest side that the device takes, pixels.
        limit: u32,
    },
    /// The picture could not be read back.
    #[error("the picture could not be read back: {0}")]
    ReadBack(String),
}
