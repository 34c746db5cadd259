//! The real window on a virtual display: it opens, shows the demo with spheres and panels, and stays up.
//!
//! `UPDATE_DOCS=1` writes what it shows to `docs/window.png`. `BAKE_FRAMES=1` measures what a bake does to its frames, which needs
//! `xdotool`, an optimised build and an otherwise idle machine (`docs/performance.md`).

#![cfg(feature = "viewer")]
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests; the exemption covers only the test functions themselves"
)]

#[path = "support/virtual_display.rs"]
mod virtual_display;

use std::collections::BTreeSet;
use std::path::Path;
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

/// What the cursor and the keys do to change the grid's size and bake, in a window of 1280 × 720 without a window manager. Words
/// are `xdotool`'s.
fn input(display: &VirtualDisplay, words: &str) {
    let outcome = Command::new("xdotool")
        .args(words.split_whitespace())
        .env("DISPLAY", &display.name)
        .stdout(Stdio::null())
        .status();
    assert!(outcome.is_ok_and(|end| end.success()), "xdotool {words}");
    std::thread::sleep(Duration::from_millis(300));
}

/// Milliseconds of the frames while a bake ran, and what the window says in the end, once it does.
fn bake_log(path: &Path) -> Option<(Vec<f32>, String)> {
    let log = std::fs::read_to_string(path).unwrap();
    let said = log
        .lines()
        .find_map(|line| line.split_once("bake in the window: "))?;
    let frames = log.lines().filter_map(|line| {
        let (_, times) = line.split_once("of the bake a frame of ")?;
        times.split_once(" ms")?.0.parse().ok()
    });
    Some((frames.collect(), said.1.to_owned()))
}

/// `BAKE_FRAMES=1 cargo test --release --test window -- --nocapture bake`; `BAKE_FRAMES=12,16,16` takes other sides of the SH cell.
#[test]
fn a_bake_leaves_the_window_fluent() {
    /// The bars: seconds until the first picture, milliseconds of the worst frame.
    const BARS: (f32, f32) = (1.0, 50.0);
    let Some(sides) = std::env::var_os("BAKE_FRAMES") else {
        println!("skipped: BAKE_FRAMES is not set");
        return;
    };
    let sides = sides.into_string().unwrap();
    let sides = if sides == "1" { "24,24,24" } else { &sides };
    let display = VirtualDisplay::start(1280, 720).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let viewer = Command::new(env!("CARGO_BIN_EXE_luxgrid"))
        .args(["--size", "1280x720", "--probes", "sh"])
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env("RUST_LOG", "luxgrid=debug")
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let mut viewer = Viewer(viewer);
    settled(&display, &mut viewer).expect("an adapter");
    input(
        &display,
        "search --sync --onlyvisible --name luxgrid windowfocus",
    );
    input(&display, "mousemove 1248 76 click 1");
    for (side, x) in sides.split(',').zip(["1058", "1100", "1142"]) {
        input(&display, &format!("mousemove {x} 310 click 1"));
        input(&display, &format!("key ctrl+a type {side}"));
        input(&display, "key Tab");
    }
    input(&display, "mousemove 967 481");
    std::thread::sleep(Duration::from_secs(1));
    input(&display, "click 1");
    let started = Instant::now();
    let (mut frames, said) = loop {
        assert!(started.elapsed() < PATIENCE, "the bake goes on");
        if let Some(found) = bake_log(&log) {
            break found;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    frames.sort_by(f32::total_cmp);
    let (median, worst) = (frames[frames.len() / 2], frames[frames.len() - 1]);
    println!("SH cell {sides}: {said}; median {median:.0} ms");
    assert!(!said.starts_with("18130 points"), "the grid's size stayed");
    let first = said.split_once("first picture ").unwrap().1;
    let first: f32 = first.split_once(" s").unwrap().0.parse().unwrap();
    println!(
        "first picture {first:.2} s of {:.0}, worst frame {worst:.0} ms of {:.0}",
        BARS.0, BARS.1
    );
    assert!(first < BARS.0 && worst <= BARS.1, "a bar is missed");
}
