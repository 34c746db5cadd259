// Spheres at the points of a grid, lit by the point they stand on. Groups 1 and 2. What of a point the light depends on is
// read once a corner and handed on flat: pixels are many, and reading buffers is what they would spend most on.

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
    pad_a: u32,
    directed: vec3f,
    pad_b: u32,
    direction: vec3f,
    pad_c: u32,
}

// Vectors of a point's 27 coefficients; the last number is unused.
const SH_STRIDE = 7u;

@group(1) @binding(0) var<uniform> place: GridPlace;
@group(1) @binding(1) var<storage, read> legacy_points: array<LegacyPoint>;
@group(1) @binding(2) var<storage, read> sh_points: array<vec4f>;
// By sphere: its point's index in the buffers above.
@group(2) @binding(0) var<storage, read> shown_points: array<u32>;

struct LegacySphere {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) @interpolate(flat) centre: vec3f,
    @location(2) @interpolate(flat) radius: f32,
    @location(3) @interpolate(flat) ambient: vec3f,
    @location(4) @interpolate(flat) directed: vec3f,
    @location(5) @interpolate(flat) direction: vec3f,
}

struct ShSphere {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) @interpolate(flat) centre: vec3f,
    @location(2) @interpolate(flat) radius: f32,
    @location(3) @interpolate(flat) c0: vec4f,
    @location(4) @interpolate(flat) c1: vec4f,
    @location(5) @interpolate(flat) c2: vec4f,
    @location(6) @interpolate(flat) c3: vec4f,
    @location(7) @interpolate(flat) c4: vec4f,
    @location(8) @interpolate(flat) c5: vec4f,
    @location(9) @interpolate(flat) c6: vec4f,
}

struct SphereColour {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

fn grid_sphere(index: u32, corner: u32, sideways: f32) -> SphereVertex {
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
    return sphere_corner(centre, radius, corner);
}

@vertex
fn vs_legacy(@builtin(vertex_index) vertex: u32) -> LegacySphere {
    let index = shown_points[vertex / 4u];
    let corner = grid_sphere(index, vertex % 4u, frame.probe_apart);
    let point = legacy_points[index];
    return LegacySphere(
        corner.position, corner.world, corner.centre, corner.radius,
        point.ambient, point.directed, point.direction,
    );
}

@vertex
fn vs_sh(@builtin(vertex_index) vertex: u32) -> ShSphere {
    let index = shown_points[vertex / 4u];
    let corner = grid_sphere(index, vertex % 4u, -frame.probe_apart);
    let at = index * SH_STRIDE;
    return ShSphere(
        corner.position, corner.world, corner.centre, corner.radius,
        sh_points[at], sh_points[at + 1u], sh_points[at + 2u], sh_points[at + 3u],
        sh_points[at + 4u], sh_points[at + 5u], sh_points[at + 6u],
    );
}

@fragment
fn fs_legacy(in: LegacySphere) -> SphereColour {
    let hit = sphere_hit(in.centre, in.radius, in.world);
    if !hit.hit {
        discard;
    }
    let light = LegacyLight(in.ambient, in.directed, in.direction);
    let rgb = shade_legacy(light, hit.normal) / BYTE_MAX * frame.exposure;
    return SphereColour(vec4f(rgb, 1.0), hit.depth);
}

@fragment
fn fs_sh(in: ShSphere) -> SphereColour {
    let hit = sphere_hit(in.centre, in.radius, in.world);
    if !hit.hit {
        discard;
    }
    let coefficients = array<vec3f, 9>(
        in.c0.xyz,
        vec3f(in.c0.w, in.c1.xy),
        vec3f(in.c1.zw, in.c2.x),
        in.c2.yzw,
        in.c3.xyz,
        vec3f(in.c3.w, in.c4.xy),
        vec3f(in.c4.zw, in.c5.x),
        in.c5.yzw,
        in.c6.xyz,
    );
    let stored = max(evaluate_sh(coefficients, hit.normal, frame.bands), vec3f(0.0));
    let rgb = shift(stored, frame.overbright, frame.keep_hue) / BYTE_MAX * frame.exposure;
    return SphereColour(vec4f(rgb, 1.0), hit.depth);
}
