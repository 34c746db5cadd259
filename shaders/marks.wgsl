// The sample sphere and the spheres at its corners. Group 1.

struct SampleLight {
    ambient: vec3f,
    // 0 legacy, 1 SH.
    source: u32,
    directed: vec3f,
    pad_a: u32,
    direction: vec3f,
    pad_b: u32,
    bands: vec3f,
    pad_c: u32,
    coefficients: array<vec4f, 9>,
}

@group(1) @binding(0) var<uniform> sample: SampleLight;

struct MarkColour {
    @location(0) colour: vec4f,
    @builtin(frag_depth) depth: f32,
}

// Alpha 0 asks for the sample's light instead of the colour.
@vertex
fn vs_mark(
    @builtin(vertex_index) corner: u32,
    @location(0) centre: vec3f,
    @location(1) radius: f32,
    @location(2) colour: vec4f,
) -> SphereVertex {
    var out = sphere_corner(centre, radius, corner);
    out.colour = colour;
    return out;
}

fn sample_rgb(normal: vec3f) -> vec3f {
    if sample.source == 0u {
        return shade_legacy(LegacyLight(sample.ambient, sample.directed, sample.direction), normal);
    }
    var coefficients: array<vec3f, 9>;
    for (var i = 0u; i < 9u; i++) {
        coefficients[i] = sample.coefficients[i].xyz;
    }
    let stored = max(evaluate_sh(coefficients, normal, sample.bands), vec3f(0.0));
    return shift(stored, frame.overbright, frame.keep_hue);
}

@fragment
fn fs_mark(in: SphereVertex) -> MarkColour {
    let hit = sphere_hit(in.centre, in.radius, in.world);
    if !hit.hit {
        discard;
    }
    if in.colour.a > 0.0 {
        // A headlight keeps flat colours round.
        let facing = abs(dot(hit.normal, normalize(frame.eye - in.centre)));
        return MarkColour(vec4f(in.colour.rgb * (0.4 + 0.6 * facing), 1.0), hit.depth);
    }
    let rgb = sample_rgb(hit.normal) / BYTE_MAX * frame.exposure;
    return MarkColour(vec4f(rgb, 1.0), hit.depth);
}
