// The light grids sampled anywhere, by the rules of `probe`, whose functions `sample_legacy` and `sample_sh` have their twins
// here. Group 1. Needs `frame`, colour.wgsl and probe.wgsl.

struct SampledGrid {
    origin: vec3f,
    // Of the legacy grid one of the PROFILE_ constants; of the SH grid 1 blends points in solid too.
    profile: u32,
    cell_size: vec3f,
    // Points in the buffer; 0 without a grid.
    points: u32,
    counts: vec3u,
    pad: u32,
}

struct SampledGrids {
    legacy: SampledGrid,
    sh: SampledGrid,
}

const PROFILE_IOQ3 = 0u;
const PROFILE_PLAIN = 1u;
const PROFILE_NEAREST = 2u;
const PROFILE_AREA = 3u;

// Side of the box of PROFILE_AREA, and the engine's figures of PROFILE_IOQ3.
const AREA_BOX = 64.0;
const AMBIENT_SCALE = 0.6;
const AMBIENT_ADD = 32.0;
const FULL_WEIGHT = 0.99;
// Vectors of a point's 27 coefficients; the last number is unused.
const SH_STRIDE = 7u;

@group(1) @binding(8) var<uniform> sampled: SampledGrids;
// As in the file: red, green, blue ambient, red directed; green, blue directed, zenith, azimuth. Lowest byte first.
@group(1) @binding(9) var<storage, read> legacy_stored: array<vec2u>;
@group(1) @binding(10) var<storage, read> sh_stored: array<vec4f>;

struct LegacySum {
    ambient: vec3f,
    directed: vec3f,
    direction: vec3f,
    weight: f32,
}

// Entry of the engine's table of 1024 sines with a step of 360/1023 degrees.
fn table_sine(index: u32) -> f32 {
    return sin(f32(index & 1023u) * (6.2831855 / 1023.0));
}

fn decode_direction(zenith: u32, azimuth: u32) -> vec3f {
    let polar = zenith * 4u;
    let around = azimuth * 4u;
    return vec3f(
        table_sine(around + 256u) * table_sine(polar),
        table_sine(around) * table_sine(polar),
        table_sine(polar + 256u),
    );
}

// Whole bytes for whole factors, as the engine has them.
fn shift_stored(stored: vec3u) -> vec3f {
    let factor = u32(frame.overbright);
    if f32(factor) != frame.overbright {
        return shift(vec3f(stored), frame.overbright, 1u);
    }
    let shifted = stored * factor;
    let largest = max(shifted.x, max(shifted.y, shifted.z));
    if largest > 255u {
        return vec3f(shifted * 255u / largest);
    }
    return vec3f(shifted);
}

fn point_number(grid: SampledGrid, cell: vec3u) -> u32 {
    return cell.x + grid.counts.x * (cell.y + grid.counts.y * cell.z);
}

fn add_legacy(sum: ptr<function, LegacySum>, cell: vec3u, weight: f32) {
    let number = point_number(sampled.legacy, cell);
    if any(cell >= sampled.legacy.counts) || number >= sampled.legacy.points {
        return;
    }
    let words = legacy_stored[number];
    let ambient = vec3u(words.x & 255u, (words.x >> 8u) & 255u, (words.x >> 16u) & 255u);
    if sampled.legacy.profile == PROFILE_IOQ3 && all(ambient == vec3u(0u)) {
        return;
    }
    let directed = vec3u(words.x >> 24u, words.y & 255u, (words.y >> 8u) & 255u);
    (*sum).weight += weight;
    (*sum).ambient += shift_stored(ambient) * weight;
    (*sum).directed += shift_stored(directed) * weight;
    (*sum).direction += decode_direction((words.y >> 16u) & 255u, words.y >> 24u) * weight;
}

fn corner_weight(fraction: vec3f, step: vec3u) -> f32 {
    let along = select(vec3f(1.0) - fraction, fraction, step == vec3u(1u));
    return along.x * along.y * along.z;
}

fn add_area(sum: ptr<function, LegacySum>, in_cells: vec3f) {
    let grid = sampled.legacy;
    let last = vec2f(grid.counts.xy) - 1.0;
    let half_box = AREA_BOX * 0.5 / grid.cell_size.xy;
    let first = max(round(in_cells.xy - half_box), vec2f(0.0));
    let end = min(max(round(in_cells.xy + half_box), vec2f(0.0)), last);
    for (var y = first.y; y <= end.y; y += 1.0) {
        for (var x = first.x; x <= end.x; x += 1.0) {
            let cell = vec2f(x, y);
            // The outermost volumes reach on without end.
            let low = select(cell - 0.5, vec2f(-1e9), cell == vec2f(0.0));
            let high = select(cell + 0.5, vec2f(1e9), cell == last);
            let length = min(high, in_cells.xy + half_box) - max(low, in_cells.xy - half_box);
            let share = max(length / (2.0 * half_box), vec2f(0.0));
            add_legacy(sum, vec3u(vec2u(cell), u32(round(in_cells.z))), share.x * share.y);
        }
    }
}

fn sample_legacy(position: vec3f) -> LegacyLight {
    let grid = sampled.legacy;
    let in_cells = (position - grid.origin) * (1.0 / grid.cell_size);
    let last = vec3f(grid.counts) - 1.0;
    var sum = LegacySum();
    switch grid.profile {
        case PROFILE_NEAREST: {
            add_legacy(&sum, vec3u(round(clamp(in_cells, vec3f(0.0), last))), 1.0);
        }
        case PROFILE_AREA: { add_area(&sum, clamp(in_cells, vec3f(0.0), last)); }
        default: {
            // The cell is moved into the grid, the fraction is not.
            let below = floor(in_cells);
            let base = vec3u(clamp(below, vec3f(0.0), last));
            for (var bits = 0u; bits < 8u; bits++) {
                let step = vec3u(bits & 1u, (bits >> 1u) & 1u, bits >> 2u);
                add_legacy(&sum, base + step, corner_weight(in_cells - below, step));
            }
        }
    }
    if sum.weight > 0.0 && sum.weight < FULL_WEIGHT {
        sum.ambient /= sum.weight;
        sum.directed /= sum.weight;
    }
    if dot(sum.direction, sum.direction) > 0.0 {
        sum.direction = normalize(sum.direction);
    }
    if grid.profile == PROFILE_IOQ3 {
        sum.ambient = min(sum.ambient * AMBIENT_SCALE + AMBIENT_ADD, vec3f(BYTE_MAX));
    }
    return LegacyLight(sum.ambient, sum.directed, sum.direction);
}

// Stored light on a surface, before overbright; may be negative.
fn sample_sh(position: vec3f, normal: vec3f) -> vec3f {
    let grid = sampled.sh;
    let is_guide = grid.profile == 1u;
    let last = vec3f(grid.counts) - 1.0;
    var in_cells = (position - grid.origin) / grid.cell_size;
    if !is_guide {
        in_cells = clamp(in_cells, vec3f(0.0), last);
    }
    let below = floor(in_cells);
    var light = vec3f(0.0);
    var weight = 0.0;
    for (var bits = 0u; bits < 8u; bits++) {
        let step = vec3u(bits & 1u, (bits >> 1u) & 1u, bits >> 2u);
        var cell = below + vec3f(step);
        if is_guide {
            cell = clamp(cell, vec3f(0.0), last);
        }
        let number = point_number(grid, vec3u(cell));
        if any(cell > last) || number >= grid.points {
            continue;
        }
        let share = corner_weight(in_cells - below, step);
        let at = number * SH_STRIDE;
        let coefficients = array<vec3f, 9>(
            sh_stored[at].xyz,
            vec3f(sh_stored[at].w, sh_stored[at + 1u].xy),
            vec3f(sh_stored[at + 1u].zw, sh_stored[at + 2u].x),
            sh_stored[at + 2u].yzw,
            sh_stored[at + 3u].xyz,
            vec3f(sh_stored[at + 3u].w, sh_stored[at + 4u].xy),
            vec3f(sh_stored[at + 4u].zw, sh_stored[at + 5u].x),
            sh_stored[at + 5u].yzw,
            sh_stored[at + 6u].xyz,
        );
        var is_solid = true;
        for (var i = 0u; i < 9u; i++) {
            is_solid = is_solid && all(coefficients[i] == vec3f(0.0));
        }
        if is_solid && !is_guide {
            continue;
        }
        light += evaluate_sh(coefficients, normal, frame.bands) * share;
        weight += share;
    }
    if !is_guide && weight > 0.0 {
        light /= weight;
    }
    return light;
}
