// The engine's colour transfer. Twins of the functions of the same names in `math::colour`.

const BYTE_MAX = 255.0;

fn clamp_keep_hue(rgb: vec3f) -> vec3f {
    let largest = max(rgb.x, max(rgb.y, rgb.z));
    if largest > BYTE_MAX {
        return rgb * (BYTE_MAX / largest);
    }
    return rgb;
}

fn shift(rgb: vec3f, factor: f32, keep_hue: u32) -> vec3f {
    let scaled = rgb * factor;
    if keep_hue != 0u {
        return clamp_keep_hue(scaled);
    }
    return scaled;
}
