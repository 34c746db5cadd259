use glam::Vec3;

/// Sums beyond a whole turn come from degenerate polygons.
const TURN_LIMIT: f64 = 6.3;

/// Share of the hemisphere around `facing` that the polygon fills at `point`, weighted by the cosine; −1 to 1.
///
/// Lambert's formula: each edge adds the angle it spans times the cosine between `facing` and the normal of the edge's
/// plane. Positive when `point` is in front of the polygon (clockwise) and `facing` looks at it. The polygon is not clipped
/// at the horizon, as in the reference compiler. `facing` must be unit.
pub(crate) fn form_factor(point: Vec3, facing: Vec3, corners: &[Vec3]) -> f32 {
    let mut directions = corners
        .iter()
        .map(|corner| (*corner - point).normalize_or_zero());
    let Some(first) = directions.next() else {
        return 0.0;
    };
    let (mut total, mut from) = (0.0_f64, first);
    for to in directions.chain(std::iter::once(first)) {
        let edge = from.cross(to);
        let length = edge.length();
        let cosine = from.dot(to);
        from = to;
        if length < 1e-4 {
            continue;
        }
        let angle = f64::from(cosine.clamp(-1.0, 1.0)).acos();
        total += f64::from(facing.dot(edge / length)) * angle;
        if total.abs() > TURN_LIMIT {
            return 0.0;
        }
    }
    (total / std::f64::consts::TAU) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of side `2·half` around the origin, clockwise seen from +Z.
    fn square(half: f32) -> [Vec3; 4] {
        [
            Vec3::new(-half, -half, 0.0),
            Vec3::new(-half, half, 0.0),
            Vec3::new(half, half, 0.0),
            Vec3::new(half, -half, 0.0),
        ]
    }

    fn factor(point: Vec3, facing: Vec3, square: &[Vec3]) -> f32 {
        form_factor(point, facing, square)
    }

    /// Section 4.5: a 64×64 emitter seen from 64 units straight ahead.
    #[test]
    fn square_emitter_has_the_tabled_factor() {
        let f = factor(Vec3::Z * 64.0, Vec3::NEG_Z, &square(32.0));
        assert!((f - 0.23946).abs() < 1e-5, "{f}");
        assert!((f * 750.0 - 179.6).abs() < 0.05);
    }

    /// Closed form of a rectangle over a point below its centre: (4/2π)·2·(a/√(1+a²))·atan(a/√(1+a²)), a = half/height.
    #[test]
    fn matches_the_closed_form_and_the_hemisphere() {
        for half in [0.5_f32, 8.0, 100.0] {
            let a = half / 10.0;
            let root = (1.0 + a * a).sqrt();
            let exact = 4.0 / std::f32::consts::PI * (a / root) * (a / root).atan();
            let f = factor(Vec3::Z * 10.0, Vec3::NEG_Z, &square(half));
            assert!((f - exact).abs() < 1e-5, "{half}: {f} {exact}");
        }
        let whole = factor(Vec3::Z, Vec3::NEG_Z, &square(1e5));
        assert!((whole - 1.0).abs() < 1e-3);
    }

    /// Section 14 item 9.
    #[test]
    fn reversing_the_winding_negates_it_exactly() {
        let point = Vec3::new(10.0, -5.0, 40.0);
        let forward = square(20.0);
        let mut reverse = forward;
        reverse.reverse();
        let facing = Vec3::new(0.6, 0.0, -0.8);
        let sum = factor(point, facing, &forward) + factor(point, facing, &reverse);
        assert!(sum.abs() < f32::EPSILON);
    }
}
