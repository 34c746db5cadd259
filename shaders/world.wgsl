// The map's surfaces, one pass of a material at a time.

struct Vertex {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) st: vec2f,
    @location(3) page_st: vec2f,
    @location(4) colour: vec4f,
    @location(5) page: u32,
    @location(7) model: u32,
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

struct StyledVarying {
    @builtin(position) @invariant position: vec4f,
    @location(0) st: vec2f,
    // Lightmap coordinates of slot 0; then those of slots 1 and 2, and 3.
    @location(1) page_st: vec2f,
    @location(2) colour: vec4f,
    @location(3) shown: vec3f,
    @location(4) st_12: vec4f,
    @location(5) st_3: vec2f,
    @location(6) @interpolate(flat) layers: vec4u,
    @location(7) @interpolate(flat) levels: vec4f,
}

fn vertex_light(stored: vec3f) -> vec3f {
    return shift(stored * BYTE_MAX, frame.overbright, frame.keep_hue) / BYTE_MAX * frame.exposure;
}

fn generated_coordinates(vertex: Vertex) -> vec2f {
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

// What the fragment looks its picture up by.
fn stage_coordinates(vertex: Vertex) -> vec2f {
    if stage.picture == PICTURE_FOG {
        return fog_way(vertex.position);
    }
    return apply_tc_mods(generated_coordinates(vertex), vertex.position);
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

// What all vertices have in common, whatever lights them.
fn placed(stored: Vertex) -> Vertex {
    var vertex = stored;
    let deformed = deformed(stored.position, stored.normal, stored.st);
    vertex.position = moved_point(deformed, stored.model);
    vertex.normal = moved_direction(stored.normal, stored.model);
    return vertex;
}

fn shown_light(vertex: Vertex, light: vec3f) -> vec3f {
    if frame.mode == MODE_NORMALS {
        return 0.5 * vertex.normal + 0.5;
    }
    return light;
}

@vertex
fn vs_world(stored: Vertex) -> Varying {
    let vertex = placed(stored);
    let light = vertex_light(vertex.colour.rgb);
    var out: Varying;
    out.position = frame.clip_from_world * vec4f(vertex.position, 1.0);
    out.st = stage_coordinates(vertex);
    out.page_st = vertex.page_st;
    out.page = vertex.page;
    out.colour = weakened(vec4f(stage_rgb(vertex, light), stage_alpha(vertex)), vertex.position);
    out.shown = shown_light(vertex, light);
    return out;
}

// For surfaces with light styles: `page` is the number of the vertex in the list of styled vertices.
@vertex
fn vs_styled(stored: Vertex) -> StyledVarying {
    let vertex = placed(stored);
    let slots = styled_vertices[vertex.page];
    let surface = styled_surfaces[slots.surface];
    let levels = levels_of(surface.vertex_styles);
    var light = vertex_light(vertex.colour.rgb) * levels.x;
    light += vertex_light(unpack4x8unorm(slots.colour_1).rgb) * levels.y;
    light += vertex_light(unpack4x8unorm(slots.colour_2).rgb) * levels.z;
    light += vertex_light(unpack4x8unorm(slots.colour_3).rgb) * levels.w;
    var out: StyledVarying;
    out.position = frame.clip_from_world * vec4f(vertex.position, 1.0);
    out.st = stage_coordinates(vertex);
    out.page_st = vertex.page_st;
    out.colour = weakened(vec4f(stage_rgb(vertex, light), stage_alpha(vertex)), vertex.position);
    out.shown = shown_light(vertex, light);
    out.st_12 = vec4f(slots.st_1, slots.st_2);
    out.st_3 = slots.st_3;
    out.layers = surface.layers;
    out.levels = levels_of(surface.page_styles);
    return out;
}

// The stage's picture at a point that `light` falls on.
fn shaded(st: vec2f, colour: vec4f, shown: vec3f, light: vec3f) -> vec4f {
    if stage.picture == PICTURE_FOG {
        return vec4f(stage.fog_colour, fog_opacity(st));
    }
    var texel = vec4f(1.0);
    if stage.picture != PICTURE_LIGHTMAP {
        texel = textureSample(image, image_sampler, st);
    }
    if stage.picture == PICTURE_BOTH && frame.mode == MODE_LIGHTMAP {
        texel = vec4f(1.0);
    }
    let alpha = texel.a * colour.a;
    if !passes_alpha_test(alpha) {
        discard;
    }
    if frame.mode == MODE_VERTEX_COLOUR || frame.mode == MODE_NORMALS || frame.mode == MODE_DELUXE {
        return vec4f(shown, 1.0);
    }
    return vec4f(texel.rgb * colour.rgb * light, alpha);
}

@fragment
fn fs_world(in: Varying) -> @location(0) vec4f {
    var light = vec3f(1.0);
    var shown = in.shown;
    if frame.mode == MODE_DELUXE {
        shown = page_direction(in.page_st, in.page);
    } else if frame.mode != MODE_FULLBRIGHT {
        if stage.picture == PICTURE_LIGHTMAP {
            light = page_light(in.st, in.page);
        }
        if stage.picture == PICTURE_BOTH {
            light = page_light(in.page_st, in.page);
        }
    }
    return shaded(in.st, in.colour, shown, light);
}

@fragment
fn fs_styled(in: StyledVarying) -> @location(0) vec4f {
    var light = vec3f(1.0);
    var shown = in.shown;
    if frame.mode == MODE_DELUXE {
        shown = page_direction(in.page_st, in.layers.x);
    } else if frame.mode != MODE_FULLBRIGHT && (stage.picture == PICTURE_LIGHTMAP || stage.picture == PICTURE_BOTH) {
        light = page_light(in.page_st, in.layers.x) * in.levels.x;
        light += page_light(in.st_12.xy, in.layers.y) * in.levels.y;
        light += page_light(in.st_12.zw, in.layers.z) * in.levels.z;
        light += page_light(in.st_3, in.layers.w) * in.levels.w;
    }
    return shaded(in.st, in.colour, shown, light);
}
