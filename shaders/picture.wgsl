// The picture of the map between the panels: the viewport is its place in the window.

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var image_sampler: sampler;

struct Corner {
    @builtin(position) at: vec4f,
    // From the top left corner, 0 to 1 inside the viewport.
    @location(0) uv: vec2f,
}

// One triangle over everything.
@vertex
fn vs_picture(@builtin(vertex_index) corner: u32) -> Corner {
    let uv = vec2f(f32(corner & 1u), f32(corner >> 1u)) * 2.0;
    return Corner(vec4f(uv.x * 2.0 - 1.0, 1.0 - uv.y * 2.0, 0.0, 1.0), uv);
}

// For targets that hold encoded bytes, as the picture does.
@fragment
fn fs_picture(corner: Corner) -> @location(0) vec4f {
    return vec4f(textureSampleLevel(image, image_sampler, corner.uv, 0.0).rgb, 1.0);
}

// For targets that encode what is written.
@fragment
fn fs_picture_encoded(corner: Corner) -> @location(0) vec4f {
    let encoded = textureSampleLevel(image, image_sampler, corner.uv, 0.0).rgb;
    let low = encoded / 12.92;
    let high = pow((encoded + 0.055) / 1.055, vec3f(2.4));
    return vec4f(select(high, low, encoded < vec3f(0.04045)), 1.0);
}
