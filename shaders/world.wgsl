// The map's surfaces, one pass of a material at a time.

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) st: vec2f,
    @location(3) page_st: vec2f,
    @location(4) colour: vec4f,
    @location(5) page: u32,
}

struct Varying {
    @builtin(position) @invariant position: vec4f,
    @location(0) st: vec2f,
    @location(1) page_st: vec2f,
    @location(2) colour: vec4f,
    // Vertex light or normal, for the modes that show it.
    @location(3) shown: vec3f,
    @location(4) @interpolate(flat) page: u32,
}

fn vertex_light(stored: vec3f) -> vec3f {
    return shift(stored * BYTE_MAX, frame.overbright, frame.keep_hue) / BYTE_MAX * frame.exposure;
}

fn stage_coordinates(vertex: Vertex) -> vec2f {
    switch stage.tc_gen {
        case TC_LIGHTMAP: { return vertex.page_st; }
        case TC_VECTOR: { return vec2f(dot(vertex.position, stage.tc_s), dot(vertex.position, stage.tc_t)); }
        case TC_ENVIRONMENT: {
            let to_eye = normalize(frame.eye - vertex.position);
            let reflected = 2.0 * dot(vertex.normal, to_eye) * vertex.normal - to_eye;
            return vec2f(0.5 + 0.5 * reflected.y, 0.5 - 0.5 * reflected.z);
        }
        default: { return vertex.st; }
    }
}

fn stage_rgb(vertex: Vertex, light: vec3f) -> vec3f {
    switch stage.rgb_gen {
        case RGB_VERTEX: {
            if frame.mode == MODE_FULLBRIGHT {
                return vec3f(1.0);
            }
            return light;
        }
        case RGB_ONE_MINUS_VERTEX: { return vec3f(1.0) - min(light, vec3f(1.0)); }
        default: { return stage.colour.rgb; }
    }
}

// Highlight of the engine's one fixed light.
fn specular(vertex: Vertex) -> f32 {
    let to_light = normalize(vec3f(-960.0, 1980.0, 96.0) - vertex.position);
    let reflected = 2.0 * dot(vertex.normal, to_light) * vertex.normal - to_light;
    let strength = max(dot(reflected, normalize(frame.eye - vertex.position)), 0.0);
    return strength * strength * strength * strength;
}

fn stage_alpha(vertex: Vertex) -> f32 {
    switch stage.alpha_gen {
        case ALPHA_VERTEX: { return vertex.colour.a; }
        case ALPHA_ONE_MINUS_VERTEX: { return 1.0 - vertex.colour.a; }
        case ALPHA_SPECULAR: { return specular(vertex); }
        case ALPHA_PORTAL: { return min(distance(frame.eye, vertex.position) / stage.portal_range, 1.0); }
        default: { return stage.colour.a; }
    }
}

@vertex
fn vs_world(stored: Vertex) -> Varying {
    var vertex = stored;
    vertex.position = deformed(stored.position, stored.normal, stored.st);
    var out: Varying;
    out.position = frame.clip_from_world * vec4f(vertex.position, 1.0);
    out.st = apply_tc_mods(stage_coordinates(vertex), vertex.position);
    out.page_st = vertex.page_st;
    out.page = vertex.page;
    let light = vertex_light(vertex.colour.rgb);
    out.colour = vec4f(stage_rgb(vertex, light), stage_alpha(vertex));
    out.shown = light;
    if frame.mode == MODE_NORMALS {
        out.shown = 0.5 * vertex.normal + 0.5;
    }
    return out;
}

fn page_light(st: vec2f, page: u32) -> vec3f {
    let texel = textureSample(pages, page_sampler, st, page);
    if frame.mode == MODE_FULLBRIGHT {
        return vec3f(1.0);
    }
    // Alpha is 0 on the white layer of surfaces without a page.
    return texel.rgb * mix(1.0, frame.page_factor, texel.a);
}

@fragment
fn fs_world(in: Varying) -> @location(0) vec4f {
    var texel = vec4f(1.0);
    var light = vec3f(1.0);
    if stage.picture != PICTURE_LIGHTMAP {
        texel = textureSample(image, image_sampler, in.st);
    }
    if stage.picture == PICTURE_LIGHTMAP {
        light = page_light(in.st, in.page);
    }
    if stage.picture == PICTURE_BOTH {
        light = page_light(in.page_st, in.page);
        if frame.mode == MODE_LIGHTMAP {
            texel = vec4f(1.0);
        }
    }
    let alpha = texel.a * in.colour.a;
    if !passes_alpha_test(alpha) {
        discard;
    }
    if frame.mode == MODE_VERTEX_COLOUR || frame.mode == MODE_NORMALS {
        return vec4f(in.shown, 1.0);
    }
    return vec4f(texel.rgb * in.colour.rgb * light, alpha);
}
