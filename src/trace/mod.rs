//! Ray and point queries against a scene: the bounding-volume hierarchy, opaque leafs, picking, point contents.
//!
//! This layer knows triangles, brushes and the tree; it knows nothing of light. Key types: [`TriangleSet`] (any triangles),
//! [`SolidTree`] (the BSP tree's opaque leafs), [`Picker`] (what is under the mouse).

mod contents;
mod packet;
mod pick;
mod solid;
mod triangles;
mod walk_packet;

pub use contents::{is_blocked, leaf_at, point_contents};
pub use packet::{Hints, Packet, PacketCrossing, PacketTracer};
pub use pick::{PickHit, Picker};
pub use solid::{BareSubtrees, Division, SolidTree, TreeCorner, TreePolygon, Walk};
pub use triangles::{Crossing, Edges, Grazing, HitRules, TriangleSet};
pub use walk_packet::PacketWalk;
