//! Sampling, comparing and judging a light grid, as the game and as an SH reader do.
//!
//! This layer checks what the light compiler makes and therefore shares no code with it: it decodes and evaluates on its
//! own. The formulas that also run on the GPU ([`shade_legacy`], [`evaluate_sh`]) have twins of the same names in
//! `shaders/common/probe.wgsl`, compared by a test.

mod blocked;
mod corner;
mod decode;
mod findings;
mod legacy;
mod sh;

pub use blocked::{blocked_points, blocked_points_while};
pub use corner::{Corner, Verdict, trilinear_corners};
pub use decode::decode_direction;
pub use findings::findings;
pub use legacy::{
    LegacyLight, LegacyProfile, LegacySample, node_legacy, sample_legacy, shade_legacy,
};
pub use sh::{ShCorners, ShEvaluator, ShProfile, ShSample, evaluate_sh, sample_sh, sh_basis};
