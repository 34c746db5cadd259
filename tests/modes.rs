//! What the modes of the picture show, on small maps whose answer is known.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use image::RgbaImage;
use luxgrid::format::bsp::STYLE_NONE;
use luxgrid::job::JobContext;
use luxgrid::math::colour::Overbright;
use luxgrid::render::{Gpu, GpuScene, Renderer, render_to_image};
use luxgrid::scene::{self, Scene};
use luxgrid::vfs::{SearchOptions, open_map};
use luxgrid::view::{Camera, Overlays, RenderMode, ViewOptions};
use support::adapter::adapter;

const SIZE: (u32, u32) = (160, 120);

fn open(path: &Path) -> Scene {
    let map = open_map(path, &SearchOptions::default()).unwrap();
    scene::build(&map, &JobContext::default()).unwrap()
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/variants")
}

/// The reference compiler's map, compiled and lit for `game`.
fn reference(game: &str, map: &str) -> Scene {
    open(&data().join(format!("{game}.pk3/maps/{map}.bsp")))
}

/// The same with every record of `size` bytes of some lumps changed: the change gets the record's number and bytes.
fn changed(game: &str, map: &str, changes: &[Change<'_>]) -> Scene {
    let mut zip =
        zip::ZipArchive::new(File::open(data().join(format!("{game}.pk3"))).unwrap()).unwrap();
    let mut bytes = Vec::new();
    let mut member = zip.by_name(&format!("maps/{map}.bsp")).unwrap();
    member.read_to_end(&mut bytes).unwrap();
    for (lump, size, change) in changes {
        let at = 8 + lump * 8;
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (start, length) = (number(at), number(at + 4));
        let records = bytes[start..start + length].chunks_exact_mut(*size);
        records
            .enumerate()
            .for_each(|(number, record)| change(number, record));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bsp");
    std::fs::write(&path, bytes).unwrap();
    open(&path)
}

/// Lump, bytes of a record, what is done to each.
type Change<'a> = (usize, usize, &'a dyn Fn(usize, &mut [u8]));

const DRAW_VERTS: usize = 10;
const SURFACES: usize = 13;
const LIGHTMAPS: usize = 14;
/// Bytes of a vertex and of a surface in RBSP, and where its styles are.
const VERT_BYTES: usize = 80;
const SURFACE_BYTES: usize = 148;
const VERT_COLOURS: Range<usize> = 64..80;
const LIGHTMAP_STYLES: Range<usize> = 28..32;
const VERTEX_STYLES: Range<usize> = 32..36;
const ONE_STYLE: [u8; 4] = [0, STYLE_NONE, STYLE_NONE, STYLE_NONE];

struct Stand {
    gpu: Gpu,
    renderer: Renderer,
}

impl Stand {
    fn new() -> Option<Self> {
        let gpu = adapter()?;
        let renderer = Renderer::new(&gpu).unwrap();
        Some(Self { gpu, renderer })
    }

    fn shot(&mut self, scene: &Scene, options: &ViewOptions) -> RgbaImage {
        let uploaded = GpuScene::upload(&self.gpu, scene).unwrap();
        let camera = Camera::default().at(&scene.spawns[0]);
        render_to_image(
            &self.gpu,
            &mut self.renderer,
            SIZE,
            &uploaded,
            None,
            &camera,
            options,
            &Overlays::default(),
            0.0,
        )
        .unwrap()
    }
}

fn own_options(scene: &Scene, mode: RenderMode) -> ViewOptions {
    let mut options = ViewOptions {
        mode,
        ..ViewOptions::default()
    };
    options.adapt_to(scene);
    options
}

/// Sum of each channel over the picture.
fn sums(picture: &RgbaImage) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for pixel in picture.pixels() {
        for (sum, channel) in sums.iter_mut().zip(pixel.0) {
            *sum += f64::from(channel);
        }
    }
    sums
}

/// A style's light is a layer of its own: at 0 % the map without it, at 200 % as much more as at 100 %.
#[test]
fn light_styles_add_up() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let scene = reference("ja", "m11_styles");
    assert_eq!(scene.light_styles, [3]);
    let mut options = own_options(&scene, RenderMode::Lightmap);
    assert_eq!(options.overbright, Overbright::Bits(0), "Jedi games");
    let mut at = |percent| {
        options.styles.percent[3] = percent;
        stand.shot(&scene, &options)
    };
    let (off, on, double) = (at(0), at(100), at(200));
    let layer: Vec<f64> = sums(&on)
        .iter()
        .zip(sums(&off))
        .map(|(on, off)| on - off)
        .collect();
    // The light is orange: 1, 0.5, 0.2.
    assert!(
        layer[0] > 1.5 * layer[1] && layer[1] > 1.5 * layer[2] && layer[2] > 0.0,
        "{layer:?}"
    );
    for ((off, on), double) in off.pixels().zip(on.pixels()).zip(double.pixels()) {
        for channel in 0..3 {
            let [off, on, double] = [off, on, double].map(|pixel| i32::from(pixel.0[channel]));
            if double < 255 {
                assert!((double - on - (on - off)).abs() <= 2, "{off} {on} {double}");
            }
        }
    }
    // The same as a map without the slots.
    let without = changed(
        "ja",
        "m11_styles",
        &[(SURFACES, SURFACE_BYTES, &|_, surface| {
            surface[LIGHTMAP_STYLES].copy_from_slice(&ONE_STYLE);
            surface[VERTEX_STYLES].copy_from_slice(&ONE_STYLE);
        })],
    );
    assert!(without.light_styles.is_empty());
    assert_eq!(stand.shot(&without, &options), off);
    assert_eq!(stand.gpu.take_error(), None);
}

/// Vertex light has styles too.
#[test]
fn vertex_light_has_styles() {
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let colours = [[50, 20, 0, 255], [0, 30, 70, 255], [0; 4], [0; 4]];
    let scene = changed(
        "ja",
        "m11_styles",
        &[
            (DRAW_VERTS, VERT_BYTES, &|_, vert| {
                vert[VERT_COLOURS].copy_from_slice(colours.as_flattened());
            }),
            (SURFACES, SURFACE_BYTES, &|_, surface| {
                surface[VERTEX_STYLES].copy_from_slice(&[0, 33, STYLE_NONE, STYLE_NONE]);
            }),
        ],
    );
    assert_eq!(scene.light_styles, [3, 33]);
    let mut options = own_options(&scene, RenderMode::VertexColour);
    for (percent, expected) in [(0, [50, 20, 0]), (100, [50, 50, 70]), (50, [50, 35, 35])] {
        options.styles.percent[33] = percent;
        let picture = stand.shot(&scene, &options);
        assert_eq!(picture.get_pixel(80, 60).0[..3], expected, "{percent} %");
    }
}

/// The deluxe mode shows the stored texels of odd pages whatever the overbright, and no other mode shows them.
#[test]
fn deluxe_maps_are_shown_as_stored() {
    /// Of unit length, so that the pages' contents still tell.
    const DIRECTION: [u8; 3] = [218, 218, 127];
    let Some(mut stand) = Stand::new() else {
        return;
    };
    let scene = changed(
        "xonotic",
        "m02_occluder",
        &[(LIGHTMAPS, 128 * 128 * 3, &|number, page| {
            if number % 2 == 1 {
                page.chunks_exact_mut(3)
                    .for_each(|texel| texel.copy_from_slice(&DIRECTION));
            }
        })],
    );
    for bits in [0, 2] {
        let mut options = own_options(&scene, RenderMode::Deluxe);
        assert_eq!(options.overbright, Overbright::Bits(1), "DarkPlaces");
        options.overbright = Overbright::Bits(bits);
        let picture = stand.shot(&scene, &options);
        let shown = picture.pixels().filter(|pixel| pixel.0[..3] == DIRECTION);
        assert!(shown.count() > 150 * 120, "{bits} bits");
    }
    let lit = stand.shot(&scene, &own_options(&scene, RenderMode::Lightmap));
    assert!(lit.pixels().all(|pixel| pixel.0[..3] != DIRECTION));
    // A map without deluxe maps has no such mode.
    let plain = reference("quake3", "m02_occluder");
    assert!(
        RenderMode::Deluxe
            .missing_in(&plain, &plain.lighting)
            .is_some()
    );
    assert_eq!(
        own_options(&plain, RenderMode::Deluxe).mode,
        RenderMode::Lit
    );
    assert_eq!(stand.gpu.take_error(), None);
}
