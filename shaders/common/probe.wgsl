// Light of the grids on a surface. Twins of the functions of the same names in `probe`.

struct LegacyLight {
    ambient: vec3f,
    directed: vec3f,
    direction: vec3f,
}

fn shade_legacy(light: LegacyLight, normal: vec3f) -> vec3f {
    let lambert = max(dot(normal, light.direction), 0.0);
    return min(light.ambient + light.directed * lambert, vec3f(255.0));
}

fn sh_basis(n: vec3f) -> array<f32, 9> {
    let k1 = 0.48860252;
    let k2 = 1.0925485;
    return array<f32, 9>(
        0.2820948,
        k1 * n.y,
        k1 * n.z,
        k1 * n.x,
        k2 * n.x * n.y,
        k2 * n.y * n.z,
        0.31539157 * (3.0 * n.z * n.z - 1.0),
        k2 * n.x * n.z,
        0.5462742 * (n.x * n.x - n.y * n.y),
    );
}

fn evaluate_sh(coefficients: array<vec3f, 9>, normal: vec3f, band_weights: vec3f) -> vec3f {
    let basis = sh_basis(normal);
    var sum = coefficients[0] * (basis[0] * band_weights.x);
    sum += coefficients[1] * (basis[1] * band_weights.y);
    sum += coefficients[2] * (basis[2] * band_weights.y);
    sum += coefficients[3] * (basis[3] * band_weights.y);
    sum += coefficients[4] * (basis[4] * band_weights.z);
    sum += coefficients[5] * (basis[5] * band_weights.z);
    sum += coefficients[6] * (basis[6] * band_weights.z);
    sum += coefficients[7] * (basis[7] * band_weights.z);
    sum += coefficients[8] * (basis[8] * band_weights.z);
    return sum;
}
