//! The panels' triangles on the GPU: images and parts of them, colours over each other, cuts, pictures drawn elsewhere.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use luxgrid::render::{Gpu, PanelImage, PanelMesh, PanelPainter, PanelTarget, PanelVertex};
use support::adapter::adapter;

/// Width and height of the target, pixels.
const SIDE: u32 = 8;
const EVERYTHING: [u32; 4] = [0, 0, SIDE, SIDE];
const CORNERS: [u32; 6] = [0, 1, 2, 2, 1, 3];
const WHITE: [u8; 4] = [255; 4];

/// Names of images.
const PLAIN: u8 = 0;
const CHECKED: u8 = 1;
const ELSEWHERE: u8 = 2;
const MISSING: u8 = 9;

/// Corners of a rectangle from `min` to `max`, points, that shows a whole image.
fn rectangle(min: [f32; 2], max: [f32; 2], colour_srgb: [u8; 4]) -> [PanelVertex; 4] {
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|uv| PanelVertex {
        position: [0, 1].map(|axis: usize| min[axis] + (max[axis] - min[axis]) * uv[axis]),
        uv,
        colour_srgb,
    })
}

fn texture(gpu: &Gpu, format: wgpu::TextureFormat) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("target"),
        size: wgpu::Extent3d {
            width: SIDE,
            height: SIDE,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Pixels of a texture, rows from the top.
fn read(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<[u8; 4]> {
    let row = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: u64::from(row * SIDE),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: None,
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |outcome| outcome.unwrap());
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .unwrap();
    let bytes = buffer.get_mapped_range(..).unwrap();
    let rows = bytes.chunks_exact(row as usize);
    rows.flat_map(|row| row.as_chunks().0[..SIDE as usize].to_vec())
        .collect()
}

/// A painter with a white image and a checked one: red, green, blue, black.
fn painter(gpu: &Gpu, format: wgpu::TextureFormat) -> PanelPainter<u8> {
    let mut painter = PanelPainter::new(gpu, format).unwrap();
    let mut set = |key, side, pixels: &[[u8; 4]], corner_px| {
        let image = PanelImage {
            size_px: (side, side),
            pixels: pixels.as_flattened(),
            corner_px,
            filter: wgpu::FilterMode::Nearest,
        };
        painter.set_image(gpu, key, &image);
    };
    set(PLAIN, 1, &[WHITE], None);
    let (red, blue, black) = ([255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 255]);
    set(CHECKED, 2, &[red, WHITE, blue, black], None);
    // A part of it, then what is out of reach: parts beyond its edge or of an image that is not there, too few pixels.
    set(CHECKED, 1, &[[0, 255, 0, 255]], Some((1, 0)));
    set(CHECKED, 1, &[WHITE], Some((2, 0)));
    set(CHECKED, 1, &[WHITE], Some((u32::MAX, 0)));
    set(CHECKED, 2, &[WHITE], None);
    set(MISSING, 1, &[WHITE], Some((0, 0)));
    painter
}

/// Draws over black and reads what came of it.
fn drawn(
    gpu: &Gpu,
    painter: &mut PanelPainter<u8>,
    format: wgpu::TextureFormat,
    pixels_per_point: f32,
    meshes: &[(u8, [PanelVertex; 4], [u32; 4])],
) -> Vec<[u8; 4]> {
    let target = texture(gpu, format);
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let to = PanelTarget {
        view: &target.create_view(&wgpu::TextureViewDescriptor::default()),
        size_px: (SIDE, SIDE),
        pixels_per_point,
        load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
    };
    let meshes: Vec<_> = meshes
        .iter()
        .map(|(image, vertices, clip_px)| PanelMesh {
            image: *image,
            vertices,
            indices: &CORNERS,
            clip_px: *clip_px,
        })
        .collect();
    painter.draw(gpu, &mut encoder, &to, &meshes);
    gpu.queue.submit([encoder.finish()]);
    read(gpu, &target)
}

fn at(pixels: &[[u8; 4]], x: u32, y: u32) -> [u8; 4] {
    pixels[(y * SIDE + x) as usize]
}

const PLAIN_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

#[test]
fn triangles_lie_over_each_other_and_end_at_their_cuts() {
    let Some(gpu) = adapter() else { return };
    let mut painter = painter(&gpu, PLAIN_FORMAT);
    let red = rectangle([1.0, 1.0], [3.0, 3.0], [200, 0, 0, 255]);
    // Half of what is there and green.
    let green = rectangle([0.0, 0.0], [4.0, 4.0], [0, 128, 0, 128]);
    let white = rectangle([0.0, 0.0], [4.0, 4.0], WHITE);
    let meshes = [
        (PLAIN, red, EVERYTHING),
        (PLAIN, green, [4, 0, 100, 5]),
        (MISSING, white, EVERYTHING),
        (PLAIN, white, [3, 3, 3, 8]),
        (PLAIN, white, [100, 0, 200, 8]),
    ];
    let pixels = drawn(&gpu, &mut painter, PLAIN_FORMAT, 2.0, &meshes);
    for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
        let is_red = (2..6).contains(&x) && (2..6).contains(&y);
        let is_green = x >= 4 && y < 5;
        // 200 × (1 − 128 / 255) = 99.6; the driver may round either way.
        let expected = match (is_red, is_green) {
            (true, true) => [100, 128, 0, 255],
            (true, false) => [200, 0, 0, 255],
            (false, true) => [0, 128, 0, 255],
            (false, false) => [0, 0, 0, 255],
        };
        let pixel = at(&pixels, x, y);
        let is_near = |i: usize| pixel[i].abs_diff(expected[i]) <= 1;
        assert!((0..4).all(is_near), "{x} {y}: {pixel:?}");
    }
}

#[test]
fn images_are_set_whole_and_in_parts_and_multiplied_with_colours() {
    let Some(gpu) = adapter() else { return };
    let mut painter = painter(&gpu, PLAIN_FORMAT);
    let whole = rectangle([0.0, 0.0], [8.0, 8.0], WHITE);
    let meshes = [(CHECKED, whole, EVERYTHING)];
    let pixels = drawn(&gpu, &mut painter, PLAIN_FORMAT, 1.0, &meshes);
    let quarters =
        |pixels: &[[u8; 4]]| [(0, 0), (7, 0), (0, 7), (7, 7)].map(|(x, y)| at(pixels, x, y));
    let (red, green, blue) = ([255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]);
    assert_eq!(quarters(&pixels), [red, green, blue, [0, 0, 0, 255]]);

    let tinted = rectangle([0.0, 0.0], [8.0, 8.0], [51, 102, 153, 255]);
    let meshes = [(CHECKED, tinted, EVERYTHING)];
    let pixels = drawn(&gpu, &mut painter, PLAIN_FORMAT, 1.0, &meshes);
    let (red, green, blue) = ([51, 0, 0, 255], [0, 102, 0, 255], [0, 0, 153, 255]);
    assert_eq!(quarters(&pixels), [red, green, blue, [0, 0, 0, 255]]);

    assert_eq!(gpu.take_error(), None, "nothing was written beyond an edge");

    painter.free_image(CHECKED);
    let pixels = drawn(&gpu, &mut painter, PLAIN_FORMAT, 1.0, &meshes);
    assert_eq!(quarters(&pixels), [[0, 0, 0, 255]; 4]);
}

#[test]
fn a_picture_drawn_elsewhere_hides_what_is_below_whatever_its_alpha() {
    let Some(gpu) = adapter() else { return };
    let mut painter = painter(&gpu, PLAIN_FORMAT);
    let picture = texture(&gpu, PLAIN_FORMAT);
    let view = picture.create_view(&wgpu::TextureViewDescriptor::default());
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let transparent = wgpu::Color {
        r: 0.2,
        g: 0.4,
        b: 0.6,
        a: 0.0,
    };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(transparent),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..wgpu::RenderPassDescriptor::default()
    });
    gpu.queue.submit([encoder.finish()]);
    painter.set_view(&gpu, ELSEWHERE, &view, wgpu::FilterMode::Linear);
    let whole = rectangle([0.0, 0.0], [8.0, 8.0], WHITE);
    let meshes = [(PLAIN, whole, EVERYTHING), (ELSEWHERE, whole, EVERYTHING)];
    let pixels = drawn(&gpu, &mut painter, PLAIN_FORMAT, 1.0, &meshes);
    assert!(pixels.iter().all(|pixel| pixel[..3] == [51, 102, 153]));
}

#[test]
fn a_target_that_encodes_shows_the_same_colours() {
    let Some(gpu) = adapter() else { return };
    let format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let mut painter = painter(&gpu, format);
    let colour = [5, 64, 200, 255];
    let whole = rectangle([0.0, 0.0], [8.0, 8.0], colour);
    let pixels = drawn(
        &gpu,
        &mut painter,
        format,
        1.0,
        &[(PLAIN, whole, EVERYTHING)],
    );
    // Decoded and encoded again, each of which may round.
    let is_near = |pixel: &[u8; 4]| (0..4).all(|i| pixel[i].abs_diff(colour[i]) <= 1);
    assert!(pixels.iter().all(is_near), "{:?}", pixels[0]);
}
