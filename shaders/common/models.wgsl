// Inline models: doors that were opened. Group 3.

// Rows of the matrix that moves a model from its place in the file.
struct ModelPlace {
    x: vec4f,
    y: vec4f,
    z: vec4f,
}

@group(3) @binding(1) var<storage, read> model_places: array<ModelPlace>;

fn moved_point(point: vec3f, model: u32) -> vec3f {
    let place = model_places[model];
    let p = vec4f(point, 1.0);
    return vec3f(dot(place.x, p), dot(place.y, p), dot(place.z, p));
}

fn moved_direction(direction: vec3f, model: u32) -> vec3f {
    let place = model_places[model];
    return vec3f(dot(place.x.xyz, direction), dot(place.y.xyz, direction), dot(place.z.xyz, direction));
}
