use std::collections::HashMap;

use bytemuck::Zeroable as _;
use glam::{Vec2, Vec3};

use crate::format::material_script::Deform;
use crate::render::shared;
use crate::scene::{Material, Scene, Surface};

/// How quads turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turning {
    /// They face the picture (`autosprite`).
    Free,
    /// They turn about their long axis (`autosprite2`).
    AboutAxis,
}

/// Texture coordinates of a freely turning quad's corners: top left, top right, bottom right, bottom left.
const CORNERS: [Vec2; 4] = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
/// The triangles of such a quad, clockwise from the front.
const TRIANGLES: [usize; 6] = [0, 1, 3, 3, 1, 2];
/// Half the side of a square over half its diagonal, rounded as in the engine.
const HALF_SIDE: f32 = 0.707;

/// The quads of a surface that turn towards the eye, section 5.8 of the rendering specification.
#[derive(Default)]
pub(super) struct Quads {
    corners: HashMap<u32, Corner>,
    /// Triangles in place of the surface's own, when those do not fit any more.
    pub(super) triangles: Option<Vec<u32>>,
}

struct Corner {
    sprite: shared::Sprite,
    st: Option<Vec2>,
}

impl Quads {
    /// Those of `surface`; none of a surface that is not made of quads, which then stays as it is. `None` when its material
    /// turns nothing.
    pub(super) fn of(scene: &Scene, surface: &Surface) -> Option<Self> {
        let turning = turning(scene.material_of(surface))?;
        let range = surface.indices.start as usize..surface.indices.end as usize;
        let triangles = scene.indices.get(range).unwrap_or_default();
        let (first, last) = (triangles.iter().min(), triangles.iter().max());
        let mut quads = Self::default();
        let (Some(first), Some(last)) = (first, last) else {
            return Some(quads);
        };
        let numbers: Vec<u32> = (*first..=*last).collect();
        let (whole, []) = numbers.as_chunks::<4>() else {
            return Some(quads);
        };
        for quad in whole {
            let positions = quad.map(|number| scene.vertices[number as usize].position);
            match turning {
                Turning::Free => quads.add_free(quad, &positions),
                Turning::AboutAxis => quads.add_about_axis(quad, &positions, triangles),
            }
        }
        if turning == Turning::Free {
            let turned = whole.iter().flat_map(|quad| TRIANGLES.map(|at| quad[at]));
            quads.triangles = Some(turned.collect());
        }
        Some(quads)
    }

    /// How vertex `number` of the scene turns, and its texture coordinates if they change.
    pub(super) fn corner(&self, number: u32) -> (shared::Sprite, Option<Vec2>) {
        self.corners
            .get(&number)
            .map_or((shared::Sprite::zeroed(), None), |corner| {
                (corner.sprite, corner.st)
            })
    }

    fn add_free(&mut self, quad: &[u32; 4], positions: &[Vec3; 4]) {
        let centre = positions.iter().sum::<Vec3>() * 0.25;
        let half_side = positions[0].distance(centre) * HALF_SIDE;
        for (number, st) in quad.iter().zip(CORNERS) {
            let sprite = shared::Sprite {
                centre: centre.to_array(),
                along_first: (st.x - 0.5) * 2.0 * half_side,
                axis: [0.0; 3],
                along_second: (0.5 - st.y) * 2.0 * half_side,
            };
            let st = Some(st);
            self.corners.insert(*number, Corner { sprite, st });
        }
    }

    /// The middles of the two shortest edges are the axis; its corners keep their side of it as seen from the front.
    fn add_about_axis(&mut self, quad: &[u32; 4], positions: &[Vec3; 4], triangles: &[u32]) {
        let mut edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let length = |(a, b): (usize, usize)| positions[a].distance_squared(positions[b]);
        edges.sort_by(|a, b| length(*a).total_cmp(&length(*b)));
        let middle = |(a, b): (usize, usize)| (positions[a] + positions[b]) * 0.5;
        let (first, second) = (edges[0], edges[1]);
        let axis = (middle(second) - middle(first)).normalize_or_zero();
        let front = front_of(quad, positions, triangles);
        let across = axis.cross(-front).normalize_or_zero();
        let ends_meet = first.0 == second.0 || first.0 == second.1;
        if ends_meet || first.1 == second.0 || first.1 == second.1 || across == Vec3::ZERO {
            return;
        }
        for edge in [first, second] {
            let half_length = positions[edge.0].distance(positions[edge.1]) * 0.5;
            for at in [edge.0, edge.1] {
                let side = (positions[at] - middle(edge)).dot(across);
                let sprite = shared::Sprite {
                    centre: middle(edge).to_array(),
                    along_first: half_length.copysign(side),
                    axis: axis.to_array(),
                    along_second: 0.0,
                };
                self.corners.insert(quad[at], Corner { sprite, st: None });
            }
        }
    }
}

fn turning(material: &Material) -> Option<Turning> {
    material.deforms.iter().find_map(|deform| match deform {
        Deform::AutoSprite => Some(Turning::Free),
        Deform::AutoSprite2 => Some(Turning::AboutAxis),
        _ => None,
    })
}

/// Normal of the quad's front by its first triangle; triangles are clockwise from there.
fn front_of(quad: &[u32; 4], positions: &[Vec3; 4], triangles: &[u32]) -> Vec3 {
    let own = triangles
        .chunks_exact(3)
        .find(|triangle| triangle.iter().all(|number| quad.contains(number)));
    let at = |number: u32| positions[(number - quad[0]) as usize];
    own.map_or(Vec3::ZERO, |triangle| {
        let [a, b, c] = [at(triangle[0]), at(triangle[1]), at(triangle[2])];
        (c - a).cross(b - a).normalize_or_zero()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLADE: [Vec3; 4] = [
        Vec3::new(0.0, -1.0, 0.0),
        Vec3::new(0.0, -1.0, 10.0),
        Vec3::new(0.0, 1.0, 10.0),
        Vec3::new(0.0, 1.0, 0.0),
    ];

    /// Where a corner of a quad about its axis is drawn for a view direction.
    fn turned(sprite: &shared::Sprite, forward: Vec3) -> Vec3 {
        let across = Vec3::from(sprite.axis).cross(forward).normalize_or_zero();
        Vec3::from(sprite.centre) + across * sprite.along_first
    }

    #[test]
    fn a_blade_stays_as_it_is_seen_from_its_front_and_turns_with_the_view() {
        let (quad, triangles) = ([4, 5, 6, 7], [4, 5, 6, 4, 6, 7]);
        let front = front_of(&quad, &BLADE, &triangles);
        let mut quads = Quads::default();
        quads.add_about_axis(&quad, &BLADE, &triangles);
        for (number, position) in quad.iter().zip(BLADE) {
            let (sprite, st) = quads.corner(*number);
            assert!(turned(&sprite, -front).abs_diff_eq(position, 1e-5));
            assert_eq!(st, None);
            // From the side: as wide, and as high.
            let seen = turned(&sprite, Vec3::Y);
            assert!((seen.x.abs() - 1.0).abs() < 1e-5 && seen.y.abs() < 1e-5);
            assert!((seen.z - position.z).abs() < 1e-5);
        }
    }

    #[test]
    fn a_free_quad_is_a_square_with_the_whole_picture() {
        let square = [
            Vec3::new(0.0, 2.0, 2.0),
            Vec3::new(0.0, -2.0, 2.0),
            Vec3::new(0.0, -2.0, -2.0),
            Vec3::new(0.0, 2.0, -2.0),
        ];
        let mut quads = Quads::default();
        quads.add_free(&[0, 1, 2, 3], &square);
        for (number, position) in (0..).zip(square) {
            let (sprite, st) = quads.corner(number);
            // Left is +Y for a view along +X: the engine's 0.707 is a little short.
            assert!((sprite.along_first + position.y).abs() < 1e-3);
            assert!((sprite.along_second - position.z).abs() < 1e-3);
            assert_eq!(st, Some(CORNERS[number as usize]));
        }
    }
}
