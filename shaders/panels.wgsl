// Triangles of the panels, and the picture of the map between them. Software renderers run every branch of a program for every
// pixel, so there is none here.

struct Screen {
    // Points to clip space, before 1 is subtracted.
    scale: vec2f,
    pad_a: u32,
    pad_b: u32,
}

struct Corner {
    @builtin(position) at: vec4f,
    @location(0) uv: vec2f,
    // Encoded, times alpha.
    @location(1) colour: vec4f,
}

@group(0) @binding(0) var<uniform> screen: Screen;
@group(1) @binding(0) var image: texture_2d<f32>;
@group(1) @binding(1) var texels: sampler;

@vertex
fn vs_panels(
    @location(0) position: vec2f,
    @location(1) uv: vec2f,
    @location(2) colour: vec4f,
) -> Corner {
    let at = position * screen.scale;
    return Corner(vec4f(at.x - 1.0, 1.0 - at.y, 0.0, 1.0), uv, colour);
}

// For targets that hold encoded bytes.
@fragment
fn fs_panels(corner: Corner) -> @location(0) vec4f {
    return corner.colour * textureSampleLevel(image, texels, corner.uv, 0.0);
}

// For targets that encode what is written.
@fragment
fn fs_panels_encoded(corner: Corner) -> @location(0) vec4f {
    let encoded = corner.colour * textureSampleLevel(image, texels, corner.uv, 0.0);
    let low = encoded.rgb / 12.92;
    let high = pow((encoded.rgb + 0.055) / 1.055, vec3f(2.4));
    return vec4f(select(high, low, encoded.rgb < vec3f(0.04045)), encoded.a);
}
