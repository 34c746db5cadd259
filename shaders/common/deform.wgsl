// How vertices move. Group 3.

// How a vertex of a quad that turns towards the eye is placed.
struct Sprite {
    // Of the quad, or of the edge that the vertex ends.
    centre: vec3f,
    // To the right of the picture; with an axis across it and the view.
    along_first: f32,
    // What it turns about; zero when it faces the picture.
    axis: vec3f,
    // To the top of the picture.
    along_second: f32,
}

const DEFORM_WAVE = 1u;
const DEFORM_BULGE = 2u;
const DEFORM_MOVE = 3u;
const DEFORM_SPRITE = 4u;
// Normals wobble, by noise that changes `phase` times since the start.
const DEFORM_NORMAL = 5u;

const WAVE_SINE = 0u;
const WAVE_TRIANGLE = 1u;
const WAVE_SQUARE = 2u;
const WAVE_SAWTOOTH = 3u;
const WAVE_INVERSE_SAWTOOTH = 4u;

@group(3) @binding(2) var<storage, read> sprites: array<Sprite>;

// One period is 0 to 1.
fn wave_shape(function: u32, turns: f32) -> f32 {
    let x = fract(turns);
    switch function {
        case WAVE_TRIANGLE: { return select(select(4.0 * x - 4.0, 2.0 - 4.0 * x, x < 0.75), 4.0 * x, x < 0.25); }
        case WAVE_SQUARE: { return select(-1.0, 1.0, x < 0.5); }
        case WAVE_SAWTOOTH: { return x; }
        case WAVE_INVERSE_SAWTOOTH: { return 1.0 - x; }
        default: { return sin(x * TAU); }
    }
}

// By how much a vertex of a turning quad is moved.
fn turn(start: vec3f, number: u32) -> vec3f {
    let sprite = sprites[number + stage.sprite_offset];
    if sprite.along_first == 0.0 {
        return vec3f(0.0);
    }
    if all(sprite.axis == vec3f(0.0)) {
        return sprite.centre + frame.right * sprite.along_first + frame.up * sprite.along_second - start;
    }
    let across = cross(sprite.axis, cross(frame.up, frame.right));
    let length = max(length(across), 1e-6);
    return sprite.centre + across * (sprite.along_first / length) - start;
}

fn hashed_corner(corner: vec4f) -> f32 {
    let whole = vec4u(vec4i(corner));
    var hash = whole.x * 0x9E3779B9u ^ whole.y * 0x85EBCA6Bu ^ whole.z * 0xC2B2AE35u ^ whole.w * 0x27D4EB2Fu;
    hash = (hash ^ (hash >> 15u)) * 0x2C1B3C6Du;
    return f32((hash ^ (hash >> 12u)) >> 8u) / 8388608.0 - 1.0;
}

// Value noise, -1 to 1.
fn noise(at: vec4f) -> f32 {
    let cell = floor(at);
    let part = at - cell;
    var sum = 0.0;
    for (var bits = 0u; bits < 16u; bits++) {
        let step = vec4f(vec4u(bits & 1u, (bits >> 1u) & 1u, (bits >> 2u) & 1u, bits >> 3u));
        let share = mix(1.0 - part, part, step);
        sum += hashed_corner(cell + step) * share.x * share.y * share.z * share.w;
    }
    return sum;
}

fn wobbled(normal: vec3f, position: vec3f) -> vec3f {
    var out = normal;
    for (var i = 0u; i < 3u; i++) {
        let deform = stage.deforms[i];
        if deform.kind == DEFORM_NORMAL {
            let at = 0.98 * position;
            let shift = vec3f(100.0, 0.0, 0.0);
            let by = vec3f(
                noise(vec4f(at, deform.phase)),
                noise(vec4f(at + shift, deform.phase)),
                noise(vec4f(at + 2.0 * shift, deform.phase)),
            );
            out = normalize(out + deform.amplitude * by);
        }
    }
    return out;
}

fn deformed(start: vec3f, normal: vec3f, st: vec2f, number: u32) -> vec3f {
    var position = start;
    for (var i = 0u; i < 3u; i++) {
        let deform = stage.deforms[i];
        switch deform.kind {
            case DEFORM_WAVE: {
                let turns = deform.phase + (position.x + position.y + position.z) * deform.vector.x;
                position += normal * (deform.base + deform.amplitude * wave_shape(deform.function, turns));
            }
            case DEFORM_BULGE: {
                position += normal * (deform.amplitude * sin(deform.vector.x * st.x + deform.phase));
            }
            case DEFORM_MOVE: { position += deform.vector; }
            case DEFORM_SPRITE: { position += turn(start, number); }
            default: { }
        }
    }
    return position;
}
