//! The real window on a virtual display: it opens, shows the demo with spheres and panels, and stays up.
//!
//! `UPDATE_DOCS=1` writes what it shows to `docs/window.png`.

#![cfg(feature = "viewer")]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exemption covers only the test functions themselves"
)]

#[path = "support/virtual_display.rs"]
mod virtual_display;

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use image::RgbImage;
use virtual_display::VirtualDisplay;

/// Software rendering on two busy cores takes a while for its first frame.
const PATIENCE: Duration = Duration::from_mins(2);

struct Viewer(Child);

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn colours(picture: &RgbImage) -> usize {
    picture
        .pixels()
        .map(|pixel| pixel.0)
        .collect::<BTreeSet<_>>()
        .len()
}

/// What the viewer exits with when there is no GPU.
const NO_GPU: i32 = 3;

/// A picture once two in a row show more than widgets; clouds move, so no two need be equal. `None` without a GPU.
fn settled(display: &VirtualDisplay, viewer: &mut Viewer) -> Option<RgbImage> {
    let started = Instant::now();
    let mut full = 0;
    loop {
        if let Some(end) = viewer.0.try_wait().unwrap() {
            assert_eq!(end.code(), Some(NO_GPU), "the viewer ended by itself");
            return None;
        }
        let picture = display.picture();
        full = if colours(&picture) > 5000 {
            full + 1
        } else {
            0
        };
        if full == 2 {
            return Some(picture);
        }
        assert!(
            started.elapsed() < PATIENCE,
            "{} colours",
            colours(&picture)
        );
        std::thread::sleep(Duration::from_secs(2));
    }
}

/// Says why nothing is tested; a failure where a GPU and a display must be there.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn skip(reason: &str) {
    assert!(std::env::var_os("REQUIRE_GPU").is_none(), "{reason}");
    println!("skipped: {reason}");
}

#[test]
fn the_window_shows_the_demo_with_spheres_and_panels() {
    let Some(display) = VirtualDisplay::start(1600, 1000) else {
        return skip("no Xvfb");
    };
    let viewer = Command::new(env!("CARGO_BIN_EXE_luxgrid"))
        .args([
            "--probes",
            "sh",
            "--pin",
            "120,40,120",
            "--at",
            "-440,-170,120,20,3",
        ])
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let Some(picture) = settled(&display, &mut Viewer(viewer)) else {
        return skip("no adapter");
    };
    if std::env::var_os("UPDATE_DOCS").is_some() {
        picture
            .save(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/window.png"))
            .unwrap();
    }
    // The middle is the viewport: textured and lit, not one flat colour, not black.
    let (width, height) = picture.dimensions();
    let middle = image::imageops::crop_imm(&picture, width / 3, height / 4, width / 3, height / 2)
        .to_image();
    let sum: u64 = middle
        .pixels()
        .flat_map(|pixel| pixel.0)
        .map(u64::from)
        .sum();
    let mean = sum / (u64::from(middle.width()) * u64::from(middle.height()) * 3);
    assert!(
        colours(&middle) > 2000 && mean > 15,
        "{} colours, mean {mean}",
        colours(&middle)
    );
}
