// Light of surfaces: lightmap pages and light styles. Group 1. Needs `frame`.

struct StyledVertex {
    // Lightmap coordinates of the slots behind slot 0.
    st_1: vec2f,
    st_2: vec2f,
    st_3: vec2f,
    // Vertex light of the same slots, four bytes, red lowest.
    colour_1: u32,
    colour_2: u32,
    colour_3: u32,
    // Index into styled_surfaces.
    surface: u32,
}

struct StyledSurface {
    layers: vec4u,
    // 256 for no style.
    page_styles: vec4u,
    vertex_styles: vec4u,
}

struct StyleLevels {
    // By style, four to a vector; number 256 is 0.
    levels: array<vec4f, 65>,
}

@group(1) @binding(0) var pages: texture_2d_array<f32>;
@group(1) @binding(1) var page_sampler: sampler;
@group(1) @binding(2) var<storage, read> styled_vertices: array<StyledVertex>;
@group(1) @binding(3) var<storage, read> styled_surfaces: array<StyledSurface>;
@group(1) @binding(4) var<uniform> style_levels: StyleLevels;

fn style_level(style: u32) -> f32 {
    return style_levels.levels[style / 4u][style % 4u];
}

fn levels_of(styles: vec4u) -> vec4f {
    return vec4f(style_level(styles.x), style_level(styles.y), style_level(styles.z), style_level(styles.w));
}

fn page_light(st: vec2f, layer: u32) -> vec3f {
    let texel = textureSample(pages, page_sampler, st, layer);
    // Alpha is 0 on the white layer of surfaces without a page.
    return texel.rgb * mix(1.0, frame.page_factor, texel.a);
}

// Where the light of a page comes from, as a colour; the page behind it holds that. Grey when there is none.
fn page_direction(st: vec2f, layer: u32) -> vec3f {
    let own = textureSample(pages, page_sampler, st, layer);
    let direction = textureSample(pages, page_sampler, st, layer + 1u);
    return select(vec3f(0.5), direction.rgb, own.a * direction.a > 0.0);
}
