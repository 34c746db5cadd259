// The finished picture through the engine's gamma table.

struct Gamma {
    // 1 / r_gamma.
    exponent: f32,
    pad_a: u32,
    pad_b: u32,
    pad_c: u32,
}

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var<uniform> gamma: Gamma;

// One triangle over everything.
@vertex
fn vs_gamma(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4f {
    return vec4f(f32(corner & 1u) * 4.0 - 1.0, f32(corner >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fs_gamma(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let rgb = textureLoad(picture, vec2i(at.xy), 0).rgb;
    return vec4f(floor(pow(rgb, vec3f(gamma.exponent)) * 255.0 + 0.5) / 255.0, 1.0);
}
