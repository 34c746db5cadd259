/// A decoded picture, 8 bits a channel, display-referred values as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Name by which it was asked for.
    pub name: String,
    /// Virtual path and container it came from, for display; empty for built-in ones.
    pub origin: String,
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// RGBA, top row first, `width · height · 4` bytes.
    pub rgba: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn solid(name: &str, rgba: [u8; 4]) -> Self {
        Self {
            name: name.to_owned(),
            origin: String::new(),
            width: 1,
            height: 1,
            rgba: rgba.to_vec(),
        }
    }

    /// The stand-in for a missing picture: an orange and black checker that no map uses by accident.
    pub fn missing() -> Self {
        const SIDE: u32 = 16;
        let texel = |i: u32| {
            let (x, y) = (i % SIDE, i / SIDE);
            if (x / 4 + y / 4) % 2 == 0 {
                [255, 120, 0, 255]
            } else {
                [40, 20, 0, 255]
            }
        };
        Self {
            name: "*missing".to_owned(),
            origin: String::new(),
            width: SIDE,
            height: SIDE,
            rgba: (0..SIDE * SIDE).flat_map(texel).collect(),
        }
    }

    /// The texel at column `x` and row `y`, which wrap around.
    pub fn texel(&self, x: u32, y: u32) -> [u8; 4] {
        let at = ((y % self.height) as usize * self.width as usize + (x % self.width) as usize) * 4;
        let texel = self
            .rgba
            .get(at..at + 4)
            .and_then(|slice| slice.try_into().ok());
        texel.unwrap_or_default()
    }
}
