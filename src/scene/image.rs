use crate::vfs::{Origin, VfsFile};

/// Width and height at most: more is a damaged header.
const SIDE_MAX: u32 = 16_384;
/// Bytes that decoding one picture may take.
const DECODE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Decoded bytes for each byte of the file at most: what deflate reaches (1,032), and about what JPEG does. A header that
/// promises more lies, and is found out before anything is reserved.
const EXPANSION_MAX: u64 = 1_100;
/// Working memory that decoders need whatever the picture.
const DECODE_BYTES_MIN: u64 = 1024 * 1024;

/// A decoded picture, 8 bits a channel, display-referred values as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Name by which it was asked for.
    pub name: String,
    /// The file that it came from; `None` for built-in ones.
    pub origin: Option<Origin>,
    /// Width in texels, at least 1.
    pub width: u32,
    /// Height in texels, at least 1.
    pub height: u32,
    /// RGBA, top row first, `width · height · 4` bytes.
    pub rgba: Vec<u8>,
}

impl Image {
    /// Decodes a picture by the extension of the file's name; when the bytes say otherwise, by the bytes.
    ///
    /// # Errors
    /// The decoder's reason, in words; also for a header that promises far more texels than the file can hold.
    pub fn decode(name: &str, file: VfsFile) -> Result<Self, String> {
        let VfsFile { bytes, origin, .. } = file;
        let extension = origin.name.rsplit('.').next().map(str::to_ascii_lowercase);
        let by_extension = match extension.as_deref() {
            Some("tga") => image::ImageFormat::Tga,
            Some("png") => image::ImageFormat::Png,
            _ => image::ImageFormat::Jpeg,
        };
        let format = image::guess_format(&bytes).unwrap_or(by_extension);
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(SIDE_MAX);
        limits.max_image_height = Some(SIDE_MAX);
        let plausible = DECODE_BYTES_MIN + EXPANSION_MAX * bytes.len() as u64;
        limits.max_alloc = Some(plausible.min(DECODE_BYTES_MAX));
        let mut reader = image::ImageReader::with_format(std::io::Cursor::new(bytes), format);
        reader.limits(limits);
        let picture = reader
            .decode()
            .map_err(|error| error.to_string())?
            .into_rgba8();
        if picture.width() == 0 || picture.height() == 0 {
            return Err("no texels".to_owned());
        }
        Ok(Self {
            name: name.to_owned(),
            origin: Some(origin),
            width: picture.width(),
            height: picture.height(),
            rgba: picture.into_raw(),
        })
    }

    /// A picture of one colour.
    pub fn solid(name: &str, rgba: [u8; 4]) -> Self {
        Self {
            name: name.to_owned(),
            origin: None,
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
            origin: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(path: &str, bytes: &[u8]) -> Result<Image, String> {
        let origin = Origin {
            container: "x.pk3".into(),
            name: path.to_owned(),
        };
        let file = VfsFile {
            bytes: bytes.to_vec(),
            origin,
            passed_over: Vec::new(),
        };
        Image::decode("a", file)
    }

    #[test]
    fn a_picture_under_a_wrong_extension_is_read_and_garbage_is_not() {
        let mut png = std::io::Cursor::new(Vec::new());
        let picture = image::RgbaImage::from_pixel(2, 3, image::Rgba([1, 2, 3, 4]));
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let decoded = decode("a.TGA", png.get_ref()).unwrap();
        assert_eq!((decoded.width, decoded.height), (2, 3));
        assert_eq!(decoded.texel(3, 5), [1, 2, 3, 4]);
        for path in ["a.tga", "a.jpg", "a.png"] {
            assert!(decode(path, b"garbage").is_err());
            assert!(decode(path, b"").is_err());
        }
        let mut hostile = vec![
            0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 32, 0,
        ];
        assert!(decode("a.tga", &hostile).is_err());
        hostile.truncate(10);
        assert!(decode("a.tga", &hostile).is_err());
    }

    #[test]
    fn a_large_picture_of_one_colour_is_read_and_a_header_alone_is_not() {
        let picture = image::RgbaImage::from_pixel(2048, 2048, image::Rgba([90, 80, 70, 255]));
        let picture = image::DynamicImage::ImageRgba8(picture);
        let mut png = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new_with_quality(
            &mut png,
            image::codecs::png::CompressionType::Best,
            image::codecs::png::FilterType::Sub,
        );
        picture.write_with_encoder(encoder).unwrap();
        let mut jpeg = std::io::Cursor::new(Vec::new());
        let rgb = image::DynamicImage::ImageRgb8(picture.to_rgb8());
        rgb.write_to(&mut jpeg, image::ImageFormat::Jpeg).unwrap();
        for bytes in [&png, jpeg.get_ref()] {
            let decoded = decode("a.tga", bytes).unwrap();
            assert_eq!((decoded.width, decoded.height), (2048, 2048));
        }
        let error = decode("a.tga", &png[..60]).unwrap_err();
        assert!(error.contains("emory"), "{error}");
    }
}
