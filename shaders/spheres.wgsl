// Spheres at the points of a grid, lit by the point they stand on. Group 1.

struct GridPlace {
    origin: vec3f,
    // Smallest cell side.
    smallest: f32,
    cell_size: vec3f,
    // Number of the first point in the buffer.
    first: u32,
    counts: vec3u,
    pad: u32,
}

struct LegacyPoint {
    ambient: vec3f,
    // 0: nothing is known about the point; 1: it is free; 2: it is in solid.
    state: u32,
    directed: vec3f,
    pad_a: u32,
    direction: vec3f,
    pad_b: u32,
}

// 27 coefficients and the state, as in `LegacyPoint`.
const SH_STRIDE = 28u;

@group(1) @binding(0) var<uniform> place: GridPlace;
@group(1) @binding(1) var<storage, read> legacy_points: array<LegacyPoint>;
@group(1) @binding(2) var<storage, read> sh_points: array<f32>;

struct SphereColour {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

fn grid_sphere(index: u32, corner: u32, state: u32, sideways: f32) -> SphereVertex {
    let number = place.first + index;
    let row = place.counts.x;
    let slab = place.counts.x * place.counts.y;
    let cell = vec3u(number % row, number / row % place.counts.y, number / slab);
    let point = place.origin + vec3f(cell) * place.cell_size;
    var radius = frame.probe_size * place.smallest;
    let centre = point + frame.right * (sideways * radius * 1.08);
    // Spheres shrink over the last tenth of the distance instead of popping.
    let left = 1.0 - distance(frame.eye, point) / frame.probe_distance;
    radius *= clamp(left * 10.0, 0.0, 1.0);
    if state == 0u || (state == 2u && frame.hide_in_solid != 0u) {
        radius = 0.0;
    }
    var out = sphere_corner(centre, radius, corner);
    out.index = index;
    return out;
}

@vertex
fn vs_legacy(@builtin(vertex_index) corner: u32, @builtin(instance_index) index: u32) -> SphereVertex {
    return grid_sphere(index, corner, legacy_points[index].state, frame.probe_apart);
}

@vertex
fn vs_sh(@builtin(vertex_index) corner: u32, @builtin(instance_index) index: u32) -> SphereVertex {
    return grid_sphere(index, corner, u32(sh_points[index * SH_STRIDE + 27u]), -frame.probe_apart);
}

@fragment
fn fs_legacy(in: SphereVertex) -> SphereColour {
    let hit = sphere_hit(in.centre, in.radius, in.world);
    if !hit.hit {
        discard;
    }
    let point = legacy_points[in.index];
    let light = LegacyLight(point.ambient, point.directed, point.direction);
    let rgb = shade_legacy(light, hit.normal) / BYTE_MAX * frame.exposure;
    return SphereColour(vec4f(rgb, 1.0), hit.depth);
}

@fragment
fn fs_sh(in: SphereVertex) -> SphereColour {
    let hit = sphere_hit(in.centre, in.radius, in.world);
    if !hit.hit {
        discard;
    }
    var coefficients: array<vec3f, 9>;
    for (var i = 0u; i < 9u; i++) {
        let at = in.index * SH_STRIDE + 3u * i;
        coefficients[i] = vec3f(sh_points[at], sh_points[at + 1u], sh_points[at + 2u]);
    }
    let stored = max(evaluate_sh(coefficients, hit.normal, frame.bands), vec3f(0.0));
    let rgb = shift(stored, frame.overbright, frame.keep_hue) / BYTE_MAX * frame.exposure;
    return SphereColour(vec4f(rgb, 1.0), hit.depth);
}
