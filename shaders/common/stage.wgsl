// A drawing pass of a material: `stage`, which another part declares.

struct Deform {
    // Along the normal by a wave: its phase grows by `vector.x` a unit of x + y + z.
    // Bulge: along the normal by a sine of `vector.x` times s. Move: by `vector`.
    kind: u32,
    // Shape of the wave.
    function: u32,
    base: f32,
    amplitude: f32,
    vector: vec3f,
    phase: f32,
}

struct Stage {
    deforms: array<Deform, 3>,
    // Pairs: a matrix (m00 m01 m10 m11), then an offset and the amplitude and phase of a turbulence applied after it.
    tc_mods: array<vec4f, 8>,
    // Texture coordinates from the position, `tcGen vector`.
    tc_s: vec3f,
    portal_range: f32,
    tc_t: vec3f,
    cloud_height: f32,
    // Colour and alpha of the generators that need no vertex.
    colour: vec4f,
    // The side of its fog that is seen: normal out of the fog, distance.
    fog_plane: vec4f,
    fog_colour: vec3f,
    // 1 / distance in the fog that hides everything.
    fog_density: f32,
    tc_gen: u32,
    rgb_gen: u32,
    alpha_gen: u32,
    alpha_func: u32,
    // One of the PICTURE_ constants.
    picture: u32,
    // Pairs in use in tc_mods.
    tc_mod_count: u32,
    // Sky box face, in the order rt, lf, bk, ft, up, dn.
    face: u32,
    // One of the FOG_ constants.
    fog: u32,
    // What fog weakens: sum of FOGGED_ constants.
    fogged: u32,
    // Added to a vertex's number it is that of its sprite.
    sprite_offset: u32,
    // Of a flare: layer of its picture.
    layer: u32,
    // Sum of FLARE_ constants.
    flare_flags: u32,
}

const TC_BASE = 0u;
const TC_LIGHTMAP = 1u;
const TC_ENVIRONMENT = 2u;
const TC_VECTOR = 3u;

const RGB_CONST = 0u;
const RGB_VERTEX = 1u;
const RGB_ONE_MINUS_VERTEX = 2u;
// The vertex colour holds light of the grid, as it is shown.
const RGB_GRID = 3u;
// Vertex light in place of a lightmap, which the fullbright mode takes away as it does lightmaps. Scripts that ask for vertex
// colours keep them.
const RGB_VERTEX_LIGHT = 4u;

const ALPHA_CONST = 0u;
const ALPHA_VERTEX = 1u;
const ALPHA_ONE_MINUS_VERTEX = 2u;
const ALPHA_SPECULAR = 3u;
const ALPHA_PORTAL = 4u;

const ALPHA_FUNC_NONE = 0u;
const ALPHA_FUNC_GREATER_0 = 1u;
const ALPHA_FUNC_LESS_128 = 2u;
const ALPHA_FUNC_GREATER_EQUAL_128 = 3u;

const PICTURE_IMAGE = 0u;
const PICTURE_LIGHTMAP = 1u;
// An image times the lightmap: two passes of the material in one.
const PICTURE_BOTH = 2u;
// The fog that the surface is in.
const PICTURE_FOG = 3u;

const FOG_NONE = 0u;
// Everything on the ray is in the fog.
const FOG_WHOLE = 1u;
// What is behind `fog_plane` is.
const FOG_PLANE = 2u;

const FOGGED_RGB = 1u;
const FOGGED_ALPHA = 2u;

const TAU = 6.2831855;

fn apply_tc_mods(start: vec2f, position: vec3f) -> vec2f {
    var st = start;
    for (var i = 0u; i < stage.tc_mod_count; i++) {
        let m = stage.tc_mods[2u * i];
        let more = stage.tc_mods[2u * i + 1u];
        st = vec2f(st.x * m.x + st.y * m.z, st.x * m.y + st.y * m.w) + more.xy;
        let turns = vec2f(position.x + position.z, position.y) / 1024.0 + more.w;
        st += more.z * sin(turns * TAU);
    }
    return st;
}

fn passes_alpha_test(alpha: f32) -> bool {
    switch stage.alpha_func {
        case ALPHA_FUNC_GREATER_0: { return alpha > 0.0; }
        case ALPHA_FUNC_LESS_128: { return alpha < 0.5; }
        case ALPHA_FUNC_GREATER_EQUAL_128: { return alpha >= 0.5; }
        default: { return true; }
    }
}

// How much of the way to a point is in the stage's fog: its depth along the view over what hides everything, and the share
// of it that lies in the fog. Only the side that is seen counts, as in the engine.
fn fog_way(position: vec3f) -> vec2f {
    if stage.fog == FOG_NONE {
        return vec2f(0.0);
    }
    let forward = cross(frame.up, frame.right);
    let depth = dot(position - frame.eye, forward) * stage.fog_density;
    if stage.fog == FOG_WHOLE {
        return vec2f(depth, 1.0);
    }
    let point = stage.fog_plane.w - dot(stage.fog_plane.xyz, position);
    let eye = stage.fog_plane.w - dot(stage.fog_plane.xyz, frame.eye);
    if eye >= 0.0 {
        return vec2f(depth, select(0.0, 1.0, point >= 0.0));
    }
    return vec2f(depth, select(0.0, point / (point - eye), point >= 1.0));
}

fn fog_opacity(way: vec2f) -> f32 {
    return sqrt(clamp(way.x * way.y, 0.0, 1.0));
}

// A translucent stage's colour in fog.
fn weakened(colour: vec4f, position: vec3f) -> vec4f {
    if stage.fogged == 0u {
        return colour;
    }
    let left = 1.0 - fog_opacity(fog_way(position));
    let rgb = select(1.0, left, (stage.fogged & FOGGED_RGB) != 0u);
    let alpha = select(1.0, left, (stage.fogged & FOGGED_ALPHA) != 0u);
    return colour * vec4f(vec3f(rgb), alpha);
}
