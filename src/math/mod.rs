//! Boxes, planes, rays, colour transfer and random numbers: pure functions of numbers.
//!
//! This layer knows no file, no map and no other layer. World space is the game's: right-handed, Z up, lengths in game
//! units. Colours are in byte units (255 = full white in a lightmap before overbright) unless a name says otherwise.

mod aabb;
mod c_random;
pub mod colour;
pub mod lanes;
mod plane;
mod ray;
pub mod sampling;

pub use aabb::Aabb;
pub use c_random::CRandom;
pub use plane::Plane;
pub use ray::Ray;
