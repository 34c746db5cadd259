// Spheres as ray-traced quads. Needs `frame`.

struct SphereVertex {
    @builtin(position) position: vec4f,
    @location(0) world: vec3f,
    @location(1) @interpolate(flat) centre: vec3f,
    @location(2) @interpolate(flat) radius: f32,
    @location(3) @interpolate(flat) colour: vec4f,
}

struct SphereHit {
    hit: bool,
    normal: vec3f,
    depth: f32,
}

// Corner 0 to 3 of the strip that covers the sphere's outline. Nothing is drawn when the eye is inside it or the radius is 0.
fn sphere_corner(centre: vec3f, radius: f32, corner: u32) -> SphereVertex {
    var out: SphereVertex;
    out.centre = centre;
    out.radius = radius;
    let to_eye = frame.eye - centre;
    let squared = dot(to_eye, to_eye);
    let rest = squared - radius * radius;
    if radius <= 0.0 || rest <= squared * 1e-4 {
        out.position = vec4f(0.0, 0.0, 0.0, 1.0);
        return out;
    }
    let facing = to_eye * inverseSqrt(squared);
    // `up` is never along the line of sight of anything in the picture unless the eye almost touches it.
    var side = cross(frame.up, facing);
    if dot(side, side) < 1e-6 {
        side = frame.right;
    }
    side = normalize(side);
    let top = cross(facing, side);
    let half_size = radius * sqrt(squared / rest);
    let x = f32(corner & 1u) * 2.0 - 1.0;
    let y = f32(corner >> 1u) * 2.0 - 1.0;
    out.world = centre + (side * x + top * y) * half_size;
    out.position = frame.clip_from_world * vec4f(out.world, 1.0);
    return out;
}

// Where the ray from the eye through `world` meets the sphere first. The distance is measured from the foot of the
// perpendicular, which keeps its precision far from the eye.
fn sphere_hit(centre: vec3f, radius: f32, world: vec3f) -> SphereHit {
    var out: SphereHit;
    let ray = normalize(world - frame.eye);
    let to_centre = centre - frame.eye;
    let along = dot(to_centre, ray);
    let offset = ray * along - to_centre;
    let inside = radius * radius - dot(offset, offset);
    out.hit = inside >= 0.0;
    let normal = offset - ray * sqrt(max(inside, 0.0));
    out.normal = normalize(normal);
    let clip = frame.clip_from_world * vec4f(centre + normal, 1.0);
    out.depth = clamp(clip.z / clip.w, 0.0, 1.0);
    return out;
}
