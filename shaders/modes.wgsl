// What surfaces show in the modes that look at one of their properties. Needs world.wgsl, whose vertices these are.

// What is known about a surface, by its number in the file.
struct SurfaceFacts {
    // Layer of its lightmap page.
    layer: u32,
    // What lights it, one of the LIGHT_BY_ constants.
    light_by: u32,
    // Side of a luxel in the world; 0 without a lightmap.
    units_per_luxel: f32,
    // What of the tree all of it is in, for leaf_below.
    root: i32,
}

// Colours of the legends, from the code that draws them.
struct ModeColours {
    // From the finest luxels to the coarsest; then without a lightmap.
    luxels: array<vec4f, 7>,
    // By LIGHT_BY_ constant.
    light_by: array<vec4f, 4>,
    // What a pass adds to a pixel.
    overdraw: vec4f,
    // Clay, and where there is no cluster or area.
    clay: vec4f,
    nowhere: vec4f,
}

const LIGHT_BY_LIGHTMAP = 0u;
const LIGHT_BY_VERTEX = 1u;

// How far in front of a surface its leaf is looked up and the grids are sampled, game units: walls love the planes of the
// lattice, where rounding would choose the cell.
const NUDGE = 1.0;

@group(1) @binding(5) var<storage, read> surface_facts: array<SurfaceFacts>;
@group(1) @binding(11) var<uniform> colours: ModeColours;

struct ModeVarying {
    @builtin(position) @invariant position: vec4f,
    @location(0) st: vec2f,
    @location(1) page_st: vec2f,
    @location(2) colour: vec4f,
    // Stored vertex light, 0 to 1.
    @location(3) stored: vec3f,
    @location(4) world: vec3f,
    @location(5) normal: vec3f,
    @location(6) @interpolate(flat) surface: u32,
}

@vertex
fn vs_mode(stored: Vertex, @location(6) surface: u32) -> ModeVarying {
    let vertex = placed(stored);
    let light = vertex_light(vertex.colour.rgb);
    var out: ModeVarying;
    out.position = frame.clip_from_world * vec4f(vertex.position, 1.0);
    out.st = stage_coordinates(vertex);
    out.page_st = vertex.page_st;
    out.colour = weakened(vec4f(stage_rgb(vertex, light), stage_alpha(vertex)), vertex.position);
    out.stored = vertex.colour.rgb;
    out.world = vertex.position;
    out.normal = vertex.normal;
    out.surface = surface;
    return out;
}

// Light of the page, for control flow that textureSample may not be in.
fn page_light_at(st: vec2f, layer: u32) -> vec3f {
    let texel = textureSampleLevel(pages, page_sampler, st, layer, 0.0);
    return texel.rgb * mix(1.0, frame.page_factor, texel.a);
}

// Darker where the surface turns away, so that shapes show in flat colours.
fn headlight(world: vec3f, normal: vec3f) -> f32 {
    return 0.55 + 0.45 * abs(dot(normal, normalize(frame.eye - world)));
}

// A colour of its own for a number. Has a twin of this name in `view::legend`.
fn hashed_colour(number: u32) -> vec3f {
    let hue = f32((number * 40503u) & 65535u) / 65536.0 * 6.0;
    let rgb = clamp(abs(((vec3f(0.0, 4.0, 2.0) + hue) % 6.0) - 3.0) - 1.0, vec3f(0.0), vec3f(1.0));
    let value = 1.0 - 0.2 * f32(number % 3u);
    return mix(vec3f(1.0), rgb, 0.7) * value;
}

fn place_colour(number: i32) -> vec3f {
    if number < 0 {
        return colours.nowhere.rgb;
    }
    return hashed_colour(u32(number));
}

fn grid_light(surface: vec3f, normal: vec3f) -> vec3f {
    let world = surface + normal * NUDGE;
    if frame.mode == MODE_GRID_LIT {
        return shade_legacy(sample_legacy(world), normal) / BYTE_MAX * frame.exposure;
    }
    let stored = max(sample_sh(world, normal), vec3f(0.0));
    return shift(stored, frame.overbright, frame.keep_hue) / BYTE_MAX * frame.exposure;
}

fn clay(in: ModeVarying, facts: SurfaceFacts, shape: f32) -> vec3f {
    var light = vec3f(shape);
    if facts.light_by == LIGHT_BY_LIGHTMAP {
        light = page_light_at(in.page_st, facts.layer);
    } else if facts.light_by == LIGHT_BY_VERTEX {
        light = vertex_light(in.stored);
    }
    return colours.clay.rgb * light;
}

// Squares of the lightmap's texels; `width` is what a pixel covers of them.
fn luxels(in: ModeVarying, facts: SurfaceFacts, luxel: vec2f, width: vec2f, shape: f32) -> vec3f {
    if facts.units_per_luxel <= 0.0 {
        return colours.luxels[6].rgb * shape;
    }
    let rank = clamp(ceil(log2(facts.units_per_luxel) - 1.01), 0.0, 5.0);
    let odd = f32((i32(floor(luxel.x)) + i32(floor(luxel.y))) & 1);
    let to_line = abs(fract(luxel - 0.5) - 0.5) / max(width, vec2f(1e-6));
    let line = 1.0 - clamp(min(to_line.x, to_line.y) - 0.5, 0.0, 1.0);
    // Squares that are smaller than a few pixels would only shimmer.
    let clear = clamp(0.5 / max(max(width.x, width.y), 1e-6) - 1.0, 0.0, 1.0);
    let pattern = 1.0 - clear * max(0.15 * odd, 0.6 * line);
    return colours.luxels[u32(rank)].rgb * (shape * pattern);
}

// Channels that overbright pushes above white, brighter the farther; all else dark grey.
fn clipping(in: ModeVarying, facts: SurfaceFacts) -> vec3f {
    var stored = vec3f(0.0);
    if facts.light_by == LIGHT_BY_LIGHTMAP {
        let side = vec2f(textureDimensions(pages));
        let texel = clamp(in.page_st * side, vec2f(0.0), side - 1.0);
        stored = textureLoad(pages, vec2i(texel), facts.layer, 0).rgb;
    } else if facts.light_by == LIGHT_BY_VERTEX {
        stored = in.stored;
    }
    // Bytes are whole: what stands for 255 is not above it.
    let over = round(stored * BYTE_MAX) * frame.overbright / BYTE_MAX;
    let clipped = over > vec3f(1.0);
    if !any(clipped) {
        let grey = dot(over, vec3f(0.299, 0.587, 0.114));
        return vec3f(0.3 * grey);
    }
    return select(vec3f(0.0), 0.5 + 0.5 * clamp(log2(max(over, vec3f(1.0))) * 0.5, vec3f(0.0), vec3f(1.0)), clipped);
}

@fragment
fn fs_mode(in: ModeVarying) -> @location(0) vec4f {
    let flat_normal = normalize(cross(dpdy(in.world), dpdx(in.world)));
    let luxel = in.page_st * vec2f(textureDimensions(pages));
    let width = fwidth(luxel);
    var texel = vec4f(1.0);
    if stage.picture != PICTURE_LIGHTMAP {
        texel = textureSample(image, image_sampler, in.st);
    }
    let alpha = texel.a * in.colour.a;
    if !passes_alpha_test(alpha) {
        discard;
    }
    let towards = faceForward(flat_normal, in.world - frame.eye, flat_normal);
    let normal = select(towards, normalize(in.normal), dot(in.normal, in.normal) > 0.25);
    let facts = surface_facts[in.surface];
    let shape = headlight(in.world, normal);
    if stage.picture == PICTURE_FOG && frame.mode != MODE_OVERDRAW {
        return vec4f(stage.fog_colour, fog_opacity(in.st));
    }
    switch frame.mode {
        case MODE_GRID_LIT, MODE_SH_LIT: {
            var colour = in.colour.rgb;
            let is_vertex_lit = stage.rgb_gen == RGB_VERTEX || stage.rgb_gen == RGB_VERTEX_LIGHT || stage.rgb_gen == RGB_GRID;
            let is_lit = stage.picture != PICTURE_IMAGE || is_vertex_lit;
            if is_vertex_lit {
                colour = vec3f(1.0);
            }
            if is_lit {
                colour *= grid_light(in.world, normal);
            }
            return vec4f(texel.rgb * colour, alpha);
        }
        case MODE_OVERDRAW: { return colours.overdraw; }
        case MODE_LUXELS: { return vec4f(luxels(in, facts, luxel, width, shape), 1.0); }
        case MODE_LIGHT_SOURCE: { return vec4f(colours.light_by[facts.light_by].rgb * shape, 1.0); }
        case MODE_CLUSTERS: { return vec4f(place_colour(leaf_below(facts.root, in.world + normal * NUDGE).cluster) * shape, 1.0); }
        case MODE_AREAS: { return vec4f(place_colour(leaf_below(facts.root, in.world + normal * NUDGE).area) * shape, 1.0); }
        case MODE_CLIPPING: { return vec4f(clipping(in, facts), 1.0); }
        default: { return vec4f(clay(in, facts, shape), 1.0); }
    }
}

// A sky's layers in the overdraw mode, where they are seen: at the far plane.
@vertex
fn vs_overdraw_sky(@location(0) position: vec3f) -> @builtin(position) @invariant vec4f {
    let clip = frame.clip_from_world * vec4f(position, 1.0);
    return vec4f(clip.xy, 0.0, clip.w);
}

@fragment
fn fs_overdraw_sky() -> @location(0) vec4f {
    return colours.overdraw;
}
