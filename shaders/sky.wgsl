// Sky surfaces: the view ray picks what is seen through their triangles, at the far plane.

struct Varying {
    @builtin(position) @invariant position: vec4f,
    @location(0) world: vec3f,
}

// Distance from the middle of the sphere that carries the clouds to the eye, game units: the engine's value.
const SKY_RADIUS = 4096.0;

@vertex
fn vs_sky(@location(0) position: vec3f) -> Varying {
    var out: Varying;
    out.position = frame.clip_from_world * vec4f(position, 1.0);
    // Depth 0 is infinitely far.
    out.position.z = 0.0;
    out.world = position;
    return out;
}

// Axis with the largest size as a face number: rt +X, lf -X, bk +Y, ft -Y, up +Z, dn -Z.
fn sky_face(d: vec3f) -> u32 {
    let a = abs(d);
    if a.x >= a.y && a.x >= a.z {
        return select(0u, 1u, d.x < 0.0);
    }
    if a.y >= a.z {
        return select(2u, 3u, d.y < 0.0);
    }
    return select(4u, 5u, d.z < 0.0);
}

fn face_coordinates(d: vec3f, face: u32) -> vec2f {
    var st: vec2f;
    switch face {
        case 0u: { st = vec2f(-d.y, d.z) / abs(d.x); }
        case 1u: { st = vec2f(d.y, d.z) / abs(d.x); }
        case 2u: { st = vec2f(d.x, d.z) / abs(d.y); }
        case 3u: { st = vec2f(-d.x, d.z) / abs(d.y); }
        case 4u: { st = vec2f(-d.y, -d.x) / abs(d.z); }
        default: { st = vec2f(-d.y, d.x) / abs(d.z); }
    }
    return vec2f(st.x + 1.0, 1.0 - st.y) * 0.5;
}

@fragment
fn fs_sky_box(in: Varying) -> @location(0) vec4f {
    let d = in.world - frame.eye;
    let texel = textureSample(image, image_sampler, face_coordinates(d, stage.face));
    if sky_face(d) != stage.face {
        discard;
    }
    return vec4f(texel.rgb, 1.0);
}

@fragment
fn fs_cloud(in: Varying) -> @location(0) vec4f {
    let d = normalize(in.world - frame.eye);
    let height = stage.cloud_height;
    let down = d.z * SKY_RADIUS;
    let reach = sqrt(down * down + 2.0 * SKY_RADIUS * height + height * height) - down;
    let q = normalize(d * reach + vec3f(0.0, 0.0, SKY_RADIUS));
    let st = apply_tc_mods(acos(clamp(q.xy, vec2f(-1.0), vec2f(1.0))), in.world);
    let texel = textureSample(image, image_sampler, st) * stage.colour;
    if sky_face(d) == 5u || !passes_alpha_test(texel.a) {
        discard;
    }
    return texel;
}

@fragment
fn fs_sky_flat(in: Varying) -> @location(0) vec4f {
    return stage.colour;
}

// Fog before the cloud layers, whose places are on a cube around the eye.
@fragment
fn fs_sky_fog(in: Varying) -> @location(0) vec4f {
    let d = in.world - frame.eye;
    if sky_face(d) == 5u {
        discard;
    }
    let a = abs(d);
    let position = frame.eye + d * (frame.sky_reach / max(a.x, max(a.y, a.z)));
    return vec4f(stage.fog_colour, fog_opacity(fog_way(position)));
}
