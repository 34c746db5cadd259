// Lines one pixel wide.

struct Varying {
    @builtin(position) position: vec4f,
    @location(0) colour: vec4f,
}

@vertex
fn vs_line(@location(0) position: vec3f, @location(1) colour: vec4f) -> Varying {
    return Varying(frame.clip_from_world * vec4f(position, 1.0), colour);
}

// Edges of the map's triangles, pulled towards the eye by four thousandths of their distance.
@vertex
fn vs_wire(@location(0) position: vec3f, @location(7) model: u32) -> Varying {
    var clip = frame.clip_from_world * vec4f(moved_point(position, model), 1.0);
    clip.z *= 1.004;
    return Varying(clip, vec4f(0.85, 0.9, 1.0, 1.0));
}

@fragment
fn fs_line(in: Varying) -> @location(0) vec4f {
    return in.colour;
}
