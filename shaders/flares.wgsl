// Flares: first how much of each is seen, by the depths of the picture, then their quads over the picture. Group 1.

struct Flare {
    origin: vec3f,
    pad_a: u32,
    colour: vec3f,
    pad_b: u32,
    // Where it shines; zero for everywhere.
    normal: vec3f,
    pad_c: u32,
}

struct FlareFade {
    // By how much a level may change in this frame.
    step: f32,
    count: u32,
    pad_a: u32,
    pad_b: u32,
}

// What stands in front of a flare by no more than this hides nothing of it, game units.
const FLARE_DEPTH_SLACK = 24.0;
// Side of a far flare as a share of the picture's width: the engine's r_flareSize 40 at 640 pixels.
const FLARE_SIZE = 40.0 / 640.0;
// What a near one has beside that, game units.
const FLARE_NEAR_SIZE = 8.0;
// The engine's r_flareCoeff.
const FLARE_COEFFICIENT = 150.0;

// Beyond its edge the picture repeats.
const FLARE_REPEATS = 1u;
// The picture's alpha counts.
const FLARE_ALPHA = 2u;

@group(1) @binding(0) var<storage, read> flares: array<Flare>;
@group(1) @binding(1) var<storage, read> flare_stages: array<Stage>;
// From 0, hidden, to 1.
@group(1) @binding(2) var<storage, read> levels: array<f32>;
@group(1) @binding(3) var pictures: texture_2d_array<f32>;
@group(1) @binding(4) var pictures_sampler: sampler;

@group(2) @binding(0) var<storage, read> fading: array<Flare>;
@group(2) @binding(1) var<storage, read_write> faded: array<f32>;
@group(2) @binding(2) var<uniform> fade: FlareFade;
@group(2) @binding(3) var depths: texture_2d<f32>;

// The stage that the functions of stage.wgsl read.
var<private> stage: Stage;

fn is_in_picture(clip: vec4f) -> bool {
    // The nearest depth is where z is w.
    return clip.w > clip.z && all(abs(clip.xy) < vec2f(clip.w));
}

// Whether nothing hides a flare. Depth is what z, the same everywhere, is over w.
fn is_seen(clip: vec4f) -> bool {
    if !is_in_picture(clip) {
        return false;
    }
    let size = vec2i(textureDimensions(depths));
    let place = (clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5) * vec2f(size);
    let depth = textureLoad(depths, clamp(vec2i(place), vec2i(0), size - 1), 0).x;
    return clip.z > (clip.w - FLARE_DEPTH_SLACK) * depth;
}

@compute @workgroup_size(64)
fn fade_flares(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= fade.count {
        return;
    }
    let clip = frame.clip_from_world * vec4f(fading[id.x].origin, 1.0);
    let change = select(-fade.step, fade.step, is_seen(clip));
    faded[id.x] = clamp(faded[id.x] + change, 0.0, 1.0);
}

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) st: vec2f,
    @location(1) @interpolate(flat) colour: vec4f,
    @location(2) @interpolate(flat) number: u32,
}

// Light of a flare at a distance along the view, whose quad has `size` pixels.
fn flare_intensity(distance: f32, size: f32) -> f32 {
    let way = distance + size * sqrt(FLARE_COEFFICIENT);
    return FLARE_COEFFICIENT * size * size / (way * way);
}

fn flare_colour(light: vec3f) -> vec4f {
    var rgb = stage.colour.rgb;
    switch stage.rgb_gen {
        case RGB_VERTEX, RGB_VERTEX_LIGHT: { rgb = light; }
        case RGB_ONE_MINUS_VERTEX: { rgb = 1.0 - light; }
        default: { }
    }
    return vec4f(rgb, stage.colour.a);
}

// `which`: a flare, and a stage of its material.
@vertex
fn vs_flare(@builtin(vertex_index) corner: u32, @location(0) which: vec2u) -> Varying {
    let flare = flares[which.x];
    let level = levels[which.x];
    stage = flare_stages[which.y];
    var out: Varying;
    let clip = frame.clip_from_world * vec4f(flare.origin, 1.0);
    let facing = select(dot(flare.normal, normalize(frame.eye - flare.origin)), 1.0, all(flare.normal == vec3f(0.0)));
    if level <= 0.0 || facing <= 0.0 || !is_in_picture(clip) {
        return out;
    }
    let size = frame.size_px.x * (FLARE_SIZE + FLARE_NEAR_SIZE / clip.w);
    let light = clamp(flare.colour * (facing * level * flare_intensity(clip.w, size)), vec3f(0.0), vec3f(1.0));
    let st = vec2f(f32(corner & 1u), f32(corner >> 1u));
    let middle = clip.xy / clip.w;
    out.position = vec4f(middle + (st - 0.5) * vec2f(2.0, -2.0) * size / frame.size_px, 0.0, 1.0);
    out.st = apply_tc_mods(st, flare.origin);
    out.colour = weakened(flare_colour(light), flare.origin);
    out.number = which.y;
    return out;
}

@fragment
fn fs_flare(in: Varying) -> @location(0) vec4f {
    let layer = flare_stages[in.number].layer;
    let flags = flare_stages[in.number].flare_flags;
    let st = select(in.st, fract(in.st), (flags & FLARE_REPEATS) != 0u);
    let texel = textureSample(pictures, pictures_sampler, st, layer) * in.colour;
    let alpha = select(1.0, texel.a, (flags & FLARE_ALPHA) != 0u);
    return vec4f(texel.rgb * alpha, 1.0);
}
