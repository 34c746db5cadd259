//! Ray and point queries against a scene: the bounding-volume hierarchy, occlusion, point contents.
//!
//! This layer knows triangles, brushes and the tree; it knows nothing of light.

mod contents;

pub use contents::{is_blocked, leaf_at, point_contents};
