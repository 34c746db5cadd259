use std::collections::BTreeMap;

use glam::Vec3;

use crate::job::{CancelToken, Cancelled};
use crate::light::clusters::Clusters;
use crate::light::form_factor::form_factor;
use crate::light::lights::{Emission, Falloff, FastCut, INFINITY, LINEAR_SCALE, Light, LightList};
use crate::light::settings::{BakeSettings, LightModel};
use crate::math::Aabb;

/// Light origins this close to an opaque brush count as inside, game units.
const ORIGIN_MARGIN: f32 = 0.125;
/// Steps of the search for a place outside solid, in units of [`NUDGE`]. The reference compiler's list.
const NUDGE_STEPS: [f32; 4] = [0.0, 0.0, 1.0, -1.0];
/// The corrected model's steps.
const CORRECTED_STEPS: [f32; 5] = [0.0, 1.0, -1.0, 2.0, -2.0];
/// Length of a step, game units.
const NUDGE: f32 = 2.0;
/// First and further radii tried for a fast area light, game units.
const AREA_RADIUS_START: f32 = 100.0;
const AREA_RADIUS_STEP: f32 = 10.0;

/// Finds cluster, bounds and reach of every light, drops those that reach no grid, and sorts by style (section 3).
pub(crate) fn set_envelopes(
    list: &mut LightList,
    clusters: &Clusters<'_>,
    settings: &BakeSettings,
    cancel: &CancelToken,
) -> Result<(), Cancelled> {
    let mut seen = BTreeMap::new();
    let mut kept = Vec::with_capacity(list.lights.len());
    // The reference compiler puts each new light in front of the others.
    for light in std::mem::take(&mut list.lights).into_iter().rev() {
        cancel.check()?;
        match set_envelope(light, clusters, &mut seen, settings) {
            Ok(light) => kept.push(light),
            Err(Culled::InSolid) => list.culled.in_solid += 1,
            Err(Culled::NoGrid) => list.culled.no_grid += 1,
            Err(Culled::TooWeak) => list.culled.too_weak += 1,
        }
    }
    kept.sort_by_key(|light| light.style);
    list.lights = kept;
    Ok(())
}

/// Why a light reaches no grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Culled {
    InSolid,
    NoGrid,
    TooWeak,
}

/// Whether weak contributions of `light` are dropped.
pub(crate) fn is_fast(light: &Light, settings: &BakeSettings) -> bool {
    match light.fast {
        FastCut::Always => true,
        FastCut::BySettings => settings.fast || settings.faster,
        FastCut::Never => false,
    }
}

fn set_envelope(
    mut light: Light,
    clusters: &Clusters<'_>,
    seen: &mut BTreeMap<u32, Aabb>,
    settings: &BakeSettings,
) -> Result<Light, Culled> {
    let add = match &mut light.emission {
        Emission::Area(area) => &mut area.add,
        _ => &mut 0.0,
    };
    if light.photons < 0.0 || *add < 0.0 {
        light.photons = -light.photons;
        *add = -*add;
        light.negative = true;
    }
    if light.is_sun() {
        light.envelope = INFINITY;
        light.bounds = Aabb {
            min: Vec3::splat(-INFINITY),
            max: Vec3::splat(INFINITY),
        };
        return Ok(light);
    }
    light.cluster = place(&mut light.origin, clusters, settings.model).ok_or(Culled::InSolid)?;
    let bounds = seen
        .entry(light.cluster)
        .or_insert_with(|| clusters.seen_bounds(light.cluster))
        .extend(light.origin);
    let farthest = (bounds.max - light.origin).max(light.origin - bounds.min);
    light.envelope = reach(&light, is_fast(&light, settings)).min(farthest.length());
    light.bounds = bounds;
    if !light.in_grid {
        Err(Culled::NoGrid)
    } else if light.envelope > 0.0 {
        Ok(light)
    } else {
        // Also where it is no number.
        Err(Culled::TooWeak)
    }
}

/// Cluster of the origin, which is moved out of solid where that is possible nearby.
fn place(origin: &mut Vec3, clusters: &Clusters<'_>, model: LightModel) -> Option<u32> {
    let at = |origin: Vec3| clusters.of_point(origin, ORIGIN_MARGIN);
    if let Some(cluster) = at(*origin) {
        return Some(cluster);
    }
    let offsets = |steps: &'static [f32]| {
        steps.iter().flat_map(move |x| {
            steps
                .iter()
                .flat_map(move |y| steps.iter().map(move |z| Vec3::new(*x, *y, *z) * NUDGE))
        })
    };
    match model {
        LightModel::Q3map2 => {
            // Every success moves the origin, the search goes on from there, and the last try decides.
            let mut cluster = None;
            for offset in offsets(&NUDGE_STEPS) {
                let moved = *origin + offset;
                cluster = at(moved);
                if cluster.is_some() {
                    *origin = moved;
                }
            }
            cluster
        }
        LightModel::Corrected => {
            let (moved, cluster) = offsets(&CORRECTED_STEPS)
                .map(|offset| *origin + offset)
                .find_map(|moved| Some((moved, at(moved)?)))?;
            *origin = moved;
            Some(cluster)
        }
    }
}

/// Distance beyond which a light gives nothing worth having.
fn reach(light: &Light, is_fast: bool) -> f32 {
    match (&light.emission, light.falloff, is_fast) {
        (Emission::Area(area), _, true) => {
            let is_weak = |radius: f32| {
                let point = light.origin + light.normal * radius;
                let factor = form_factor(point, -light.normal, &area.winding);
                factor.abs() * area.add <= light.tolerance
            };
            first_weak_radius(is_weak)
        }
        (Emission::Area(_), _, false) | (_, Falloff::Quadratic, false) => INFINITY,
        (_, Falloff::Linear(fade), true) => (light.photons * LINEAR_SCALE - light.tolerance) / fade,
        (_, Falloff::Linear(fade), false) => light.photons * LINEAR_SCALE / fade,
        (_, Falloff::Quadratic, true) => (light.photons / light.tolerance).sqrt(),
    }
}

/// The first of 100, 110, 120, … for which `is_weak` holds. The form factor falls with distance, so it is bisected.
fn first_weak_radius(is_weak: impl Fn(f32) -> bool) -> f32 {
    let radius = |step: u32| AREA_RADIUS_START + AREA_RADIUS_STEP * step as f32;
    let (mut strong, mut weak) = (
        0_u32,
        ((INFINITY - AREA_RADIUS_START) / AREA_RADIUS_STEP) as u32,
    );
    if is_weak(radius(0)) {
        return radius(0);
    }
    if !is_weak(radius(weak)) {
        return INFINITY;
    }
    while weak - strong > 1 {
        let middle = u32::midpoint(strong, weak);
        if is_weak(radius(middle)) {
            weak = middle;
        } else {
            strong = middle;
        }
    }
    radius(weak)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 4.5: light 300 reaches 1500 units.
    #[test]
    fn reach_of_a_plain_light() {
        let mut light = Light::point(Vec3::ZERO, Vec3::ONE, 300.0 * 7500.0);
        assert!((reach(&light, true) - 1500.0).abs() < 1e-3);
        light.falloff = Falloff::Linear(1.0);
        assert!((reach(&light, true) - 280.25).abs() < 1e-3);
        assert!((reach(&light, false) - 281.25).abs() < 1e-3);
    }

    #[test]
    fn radius_is_the_first_weak_step() {
        assert!((first_weak_radius(|radius| radius >= 333.0) - 340.0).abs() < 1e-3);
        assert!((first_weak_radius(|_| true) - 100.0).abs() < 1e-3);
        assert!((first_weak_radius(|_| false) - INFINITY).abs() < 1e-3);
    }
}
