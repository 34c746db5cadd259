//! A virtual X display whose picture is read from its framebuffer file, so that nothing but `Xvfb` is needed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use image::{Rgb, RgbImage};

/// A running `Xvfb`; ends when dropped.
pub(crate) struct VirtualDisplay {
    server: Child,
    folder: tempfile::TempDir,
    /// Value for `DISPLAY`.
    pub(crate) name: String,
}

impl VirtualDisplay {
    /// Starts one of `width` × `height` pixels; `None` when there is no `Xvfb`.
    pub(crate) fn start(width: u32, height: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .arg("-fbdir")
            .arg(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        // The server prints the number it chose once it accepts clients.
        let mut line = String::new();
        BufReader::new(server.stdout.take()?)
            .read_line(&mut line)
            .ok()?;
        Some(Self {
            server,
            folder,
            name: format!(":{}", line.trim()),
        })
    }

    fn framebuffer(&self) -> PathBuf {
        self.folder.path().join("Xvfb_screen0")
    }

    /// What the display shows now. The file is an X window dump: a head of big-endian words, a colour table, then rows.
    pub(crate) fn picture(&self) -> RgbImage {
        let bytes = std::fs::read(self.framebuffer()).unwrap();
        let word = |at: usize| u32::from_be_bytes(bytes[at * 4..at * 4 + 4].try_into().unwrap());
        let (width, height, stride) = (word(4), word(5), word(12) as usize);
        assert_eq!(word(11), 32, "32 bits a pixel");
        let start = word(0) as usize + word(19) as usize * 12;
        RgbImage::from_fn(width, height, |x, y| {
            let at = start + y as usize * stride + x as usize * 4;
            Rgb([bytes[at + 2], bytes[at + 1], bytes[at]])
        })
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
