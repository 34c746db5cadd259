// What all passes of a frame share. Group 0.

struct Frame {
    clip_from_world: mat4x4f,
    // World position of the eye.
    eye: vec3f,
    time_secs: f32,
    // Unit vectors of the camera.
    right: vec3f,
    // Stored vertex light and SH light are multiplied by this, then clamped.
    overbright: f32,
    up: vec3f,
    // What is left to multiply lightmap texels with, exposure included.
    page_factor: f32,
    // 2^EV.
    exposure: f32,
    // One of the MODE_ constants.
    mode: u32,
    // 1 keeps the hue of light above white, 0 leaves it.
    keep_hue: u32,
    // Half the side of the cube that carries the sky, game units.
    sky_reach: f32,
    // Factors of the SH bands 0, 1, 2.
    bands: vec3f,
    // Sphere radius over the smallest cell side.
    probe_size: f32,
    // Farthest sphere, game units.
    probe_distance: f32,
    // 1 moves the two kinds of spheres apart, 0 leaves them at their points.
    probe_apart: f32,
    // Size of the picture, pixels.
    size_px: vec2f,
}

const MODE_LIT = 0u;
const MODE_LIGHTMAP = 1u;
const MODE_FULLBRIGHT = 2u;
const MODE_VERTEX_COLOUR = 3u;
const MODE_NORMALS = 4u;
const MODE_DELUXE = 5u;
const MODE_GRID_LIT = 6u;
const MODE_SH_LIT = 7u;
const MODE_CLAY = 8u;
const MODE_OVERDRAW = 9u;
const MODE_LUXELS = 10u;
const MODE_LIGHT_SOURCE = 11u;
const MODE_CLUSTERS = 12u;
const MODE_AREAS = 13u;
const MODE_CLIPPING = 14u;

@group(0) @binding(0) var<uniform> frame: Frame;
