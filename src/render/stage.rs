use bytemuck::Zeroable as _;
use glam::{Vec2, Vec3};

use crate::format::material_script::{
    AlphaFunc, AlphaGen, BlendFactor, Deform, RgbGen, TcGen, TcMod, Wave, WaveFunction,
};
use crate::render::shared;
use crate::scene::{FogVolume, Stage};

/// Pairs of matrix and turbulence that a stage holds.
const TC_MOD_LIMIT: usize = 4;

/// WGSL's constants of these names.
const FOGGED_RGB: u32 = 1;
const FOGGED_ALPHA: u32 = 2;

/// What a stage's picture is, WGSL's `PICTURE_` constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// An image.
    Image = 0,
    /// The lightmap.
    Lightmap = 1,
    /// Their product.
    Both = 2,
    /// None: the fog that the surface is in.
    Fog = 3,
}

/// Whether anything in the uniform changes with time.
pub(super) fn is_animated(stage: &Stage) -> bool {
    let moves = |tc_mod: &TcMod| match tc_mod {
        TcMod::Scroll(_) | TcMod::Rotate(_) | TcMod::Stretch(_) | TcMod::Turbulence(_) => true,
        TcMod::Scale(_) | TcMod::Transform(..) | TcMod::EntityTranslate => false,
    };
    matches!(stage.rgb_gen, RgbGen::Wave(_))
        || matches!(stage.alpha_gen, AlphaGen::Wave(_))
        || stage.tc_mods.iter().any(moves)
}

/// The deformations at a time, section 5.8 of the rendering specification. Three at most, as in the engine.
pub(super) fn deforms(deforms: &[Deform], time_secs: f32) -> [shared::Deform; 3] {
    let mut out = [shared::Deform::zeroed(); 3];
    let known = deforms.iter().map(|deform| match deform {
        Deform::Wave(spread, wave) => shared::Deform {
            kind: 1,
            function: wave.function as u32,
            base: wave.base,
            amplitude: wave.amplitude,
            vector: [*spread, 0.0, 0.0],
            phase: (wave.phase + time_secs * wave.frequency).fract(),
        },
        Deform::Bulge(width, height, speed) => shared::Deform {
            kind: 2,
            amplitude: *height,
            vector: [*width, 0.0, 0.0],
            phase: (time_secs * speed) % std::f32::consts::TAU,
            ..shared::Deform::zeroed()
        },
        Deform::Move(vector, wave) => shared::Deform {
            kind: 3,
            vector: (*vector * wave_value(wave, time_secs)).to_array(),
            ..shared::Deform::zeroed()
        },
        Deform::AutoSprite | Deform::AutoSprite2 => shared::Deform {
            kind: 4,
            ..shared::Deform::zeroed()
        },
        Deform::Normal(amplitude, frequency) => shared::Deform {
            kind: 5,
            amplitude: *amplitude,
            phase: time_secs * frequency,
            ..shared::Deform::zeroed()
        },
    });
    for (out, deform) in out.iter_mut().zip(known) {
        *out = deform;
    }
    out
}

/// Puts a fog into a stage's uniform; `fogged` is a sum of WGSL's `FOGGED_` constants.
pub(super) fn put_fog(uniform: &mut shared::Stage, fog: &FogVolume, fogged: u32) {
    uniform.fog_colour = fog.colour.to_array();
    uniform.fog_density = 1.0 / fog.depth.max(1.0);
    uniform.fogged = fogged;
    uniform.fog = match fog.surface {
        None => 1,
        Some(plane) => {
            uniform.fog_plane = plane.normal.extend(plane.dist).to_array();
            2
        }
    };
}

/// What of a translucent stage its fog weakens, section 7.2 of the rendering specification.
pub(super) fn fogged(stage: &Stage) -> u32 {
    use BlendFactor as F;
    match stage.blend {
        Some((F::One, F::One) | (F::Zero, F::OneMinusSrcColor)) => FOGGED_RGB,
        Some((F::SrcAlpha, F::OneMinusSrcAlpha)) => FOGGED_ALPHA,
        Some((F::One, F::OneMinusSrcAlpha)) => FOGGED_RGB | FOGGED_ALPHA,
        _ => 0,
    }
}

/// The uniform of `stage` at a time, without deformations; tables of section 5.7 of the rendering specification.
pub(super) fn uniform(stage: &Stage, picture: Picture, time_secs: f32) -> shared::Stage {
    let (rgb_gen, rgb) = rgb(&stage.rgb_gen, time_secs);
    let (alpha_gen, alpha, portal_range) = alpha(&stage.alpha_gen, time_secs);
    let (tc_gen, tc_s, tc_t) = match stage.tc_gen {
        TcGen::Base => (0, Vec3::ZERO, Vec3::ZERO),
        TcGen::Lightmap => (1, Vec3::ZERO, Vec3::ZERO),
        TcGen::Environment => (2, Vec3::ZERO, Vec3::ZERO),
        TcGen::Vector(s, t) => (3, s, t),
    };
    let (tc_mods, tc_mod_count) = tc_mods(&stage.tc_mods, time_secs);
    shared::Stage {
        deforms: [shared::Deform::zeroed(); 3],
        tc_mods,
        tc_s: tc_s.to_array(),
        portal_range,
        tc_t: tc_t.to_array(),
        cloud_height: 0.0,
        colour: rgb.extend(alpha).to_array(),
        tc_gen,
        rgb_gen,
        alpha_gen,
        alpha_func: match stage.alpha_func {
            None => 0,
            Some(AlphaFunc::Greater0) => 1,
            Some(AlphaFunc::Less128) => 2,
            Some(AlphaFunc::GreaterEqual128) => 3,
        },
        picture: picture as u32,
        tc_mod_count,
        ..shared::Stage::zeroed()
    }
}

/// Code and fixed colour. The world counts as a white entity; overbright is all in the light, so identity is white.
fn rgb(generator: &RgbGen, time_secs: f32) -> (u32, Vec3) {
    match generator {
        RgbGen::Identity | RgbGen::IdentityLighting | RgbGen::Entity => (0, Vec3::ONE),
        RgbGen::OneMinusEntity => (0, Vec3::ZERO),
        RgbGen::Const(colour) => (0, *colour),
        RgbGen::Wave(wave) => (0, Vec3::splat(wave_value(wave, time_secs).clamp(0.0, 1.0))),
        RgbGen::Vertex => (1, Vec3::ONE),
        // What materials without a script have in place of a lightmap; no script of the games' asks for it.
        RgbGen::ExactVertex => (4, Vec3::ONE),
        RgbGen::OneMinusVertex => (2, Vec3::ONE),
        // The vertices hold it.
        RgbGen::LightingDiffuse => (3, Vec3::ONE),
    }
}

/// Code, fixed alpha and portal range.
fn alpha(generator: &AlphaGen, time_secs: f32) -> (u32, f32, f32) {
    match generator {
        AlphaGen::Identity | AlphaGen::Entity => (0, 1.0, 1.0),
        AlphaGen::OneMinusEntity => (0, 0.0, 1.0),
        AlphaGen::Const(alpha) => (0, *alpha, 1.0),
        AlphaGen::Wave(wave) => (0, wave_value(wave, time_secs).clamp(0.0, 1.0), 1.0),
        AlphaGen::Vertex => (1, 1.0, 1.0),
        AlphaGen::OneMinusVertex => (2, 1.0, 1.0),
        AlphaGen::LightingSpecular => (3, 1.0, 1.0),
        AlphaGen::Portal(range) => (4, 1.0, range.max(1.0)),
    }
}

/// s' = s·m\[0\] + t·m\[2\] + offset.x, t' = s·m\[1\] + t·m\[3\] + offset.y.
#[derive(Clone, Copy)]
struct Affine {
    m: [f32; 4],
    offset: Vec2,
}

impl Affine {
    const IDENTITY: Self = Self {
        m: [1.0, 0.0, 0.0, 1.0],
        offset: Vec2::ZERO,
    };

    fn apply(&self, st: Vec2) -> Vec2 {
        self.linear(st) + self.offset
    }

    fn linear(&self, st: Vec2) -> Vec2 {
        Vec2::new(
            st.x * self.m[0] + st.y * self.m[2],
            st.x * self.m[1] + st.y * self.m[3],
        )
    }

    /// First this, then `next`.
    fn then(self, next: &Self) -> Self {
        let (x, y) = (
            next.linear(Vec2::new(self.m[0], self.m[1])),
            next.linear(Vec2::new(self.m[2], self.m[3])),
        );
        Self {
            m: [x.x, x.y, y.x, y.y],
            offset: next.apply(self.offset),
        }
    }

    /// Scaled by `p` about the middle of the picture.
    fn about_middle(p: f32) -> Self {
        Self {
            m: [p, 0.0, 0.0, p],
            offset: Vec2::splat(0.5 - 0.5 * p),
        }
    }
}

/// Runs of linear changes joined to one matrix each, a turbulence ending a run. What does not fit is left out.
fn tc_mods(mods: &[TcMod], time_secs: f32) -> ([[f32; 4]; 8], u32) {
    let mut pairs = [[0.0; 4]; 2 * TC_MOD_LIMIT];
    let mut count = 0;
    let mut affine = Affine::IDENTITY;
    let mut pending = false;
    let mut emit = |affine: &Affine, amplitude: f32, phase: f32, count: &mut usize| {
        if *count < TC_MOD_LIMIT {
            pairs[2 * *count] = affine.m;
            pairs[2 * *count + 1] = [affine.offset.x, affine.offset.y, amplitude, phase];
            *count += 1;
        }
    };
    for tc_mod in mods {
        if let TcMod::Turbulence(wave) = tc_mod {
            let phase = (wave.phase + time_secs * wave.frequency).fract();
            emit(&affine, wave.amplitude, phase, &mut count);
            affine = Affine::IDENTITY;
            pending = false;
        } else if let Some(next) = affine_of(tc_mod, time_secs) {
            affine = affine.then(&next);
            pending = true;
        }
    }
    if pending {
        emit(&affine, 0.0, 0.0, &mut count);
    }
    (pairs, count as u32)
}

fn affine_of(tc_mod: &TcMod, time_secs: f32) -> Option<Affine> {
    Some(match tc_mod {
        TcMod::Scale(scale) => Affine {
            m: [scale.x, 0.0, 0.0, scale.y],
            offset: Vec2::ZERO,
        },
        TcMod::Scroll(speed) => Affine {
            offset: (*speed * time_secs).fract(),
            ..Affine::IDENTITY
        },
        TcMod::Rotate(degrees) => {
            let (n, c) = (-degrees * time_secs % 360.0).to_radians().sin_cos();
            Affine {
                m: [c, n, -n, c],
                offset: Vec2::new(0.5 - 0.5 * c + 0.5 * n, 0.5 - 0.5 * n - 0.5 * c),
            }
        }
        TcMod::Stretch(wave) => {
            let value = wave_value(wave, time_secs);
            let p = if value.abs() > 1e-6 { 1.0 / value } else { 0.0 };
            Affine::about_middle(p)
        }
        TcMod::Transform(m, offset) => Affine {
            m: *m,
            offset: *offset,
        },
        TcMod::Turbulence(_) | TcMod::EntityTranslate => return None,
    })
}

/// base + amplitude · f(phase + time · frequency).
pub(super) fn wave_value(wave: &Wave, time_secs: f32) -> f32 {
    let turns = wave.phase + time_secs * wave.frequency;
    let x = turns.rem_euclid(1.0);
    let shape = match wave.function {
        WaveFunction::Sine => (x * std::f32::consts::TAU).sin(),
        WaveFunction::Triangle if x < 0.25 => 4.0 * x,
        WaveFunction::Triangle if x < 0.75 => 2.0 - 4.0 * x,
        WaveFunction::Triangle => 4.0 * x - 4.0,
        WaveFunction::Square if x < 0.5 => 1.0,
        WaveFunction::Square => -1.0,
        WaveFunction::Sawtooth => x,
        WaveFunction::InverseSawtooth => 1.0 - x,
        WaveFunction::Noise => noise(turns),
    };
    wave.base + wave.amplitude * shape
}

/// Value noise along a line, −1 to 1. The engine's table is random too, so only the character is the same.
fn noise(at: f32) -> f32 {
    let value = |cell: f32| {
        let hash = (cell as i64 as u32).wrapping_mul(0x9E37_79B9);
        let hash = (hash ^ (hash >> 15)).wrapping_mul(0x85EB_CA6B);
        (hash >> 8) as f32 / 8_388_608.0 - 1.0
    };
    let cell = at.floor();
    let (low, high) = (value(cell), value(cell + 1.0));
    low + (high - low) * (at - cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(mods: &[TcMod], time_secs: f32, st: Vec2) -> Vec2 {
        let (pairs, count) = tc_mods(mods, time_secs);
        (0..count as usize).fold(st, |st, i| {
            let affine = Affine {
                m: pairs[2 * i],
                offset: Vec2::new(pairs[2 * i + 1][0], pairs[2 * i + 1][1]),
            };
            affine.apply(st)
        })
    }

    #[test]
    fn changes_of_coordinates_act_in_order() {
        let scale = TcMod::Scale(Vec2::new(2.0, 3.0));
        let scroll = TcMod::Scroll(Vec2::new(0.25, 0.0));
        let at = Vec2::new(1.0, 1.0);
        assert_eq!(apply(&[scale, scroll], 1.0, at), Vec2::new(2.25, 3.0));
        assert_eq!(apply(&[scroll, scale], 1.0, at), Vec2::new(2.5, 3.0));
    }

    /// Section 5.7: the angle is −degrees · time, about the middle.
    #[test]
    fn rotation_leaves_the_middle() {
        let turn = [TcMod::Rotate(90.0)];
        let middle = Vec2::splat(0.5);
        assert!(apply(&turn, 1.0, middle).abs_diff_eq(middle, 1e-6));
        let turned = apply(&turn, 1.0, Vec2::new(1.0, 0.5));
        assert!(turned.abs_diff_eq(Vec2::new(0.5, 0.0), 1e-6), "{turned}");
    }

    #[test]
    fn a_move_is_the_wave_times_its_vector() {
        let wave = Wave {
            function: WaveFunction::Sine,
            base: 1.0,
            amplitude: 2.0,
            phase: 0.25,
            frequency: 0.5,
        };
        let [_, first, second] = deforms(
            &[
                Deform::AutoSprite,
                Deform::Move(Vec3::new(0.0, 0.0, 4.0), wave),
                Deform::Wave(0.01, wave),
            ],
            2.0,
        );
        assert_eq!((first.kind, second.kind), (3, 1));
        assert!((first.vector[2] - 12.0).abs() < 1e-4);
        assert!((second.phase - 0.25).abs() < 1e-6);
    }

    #[test]
    fn waves_have_their_shapes() {
        let wave = |function, phase| Wave {
            function,
            base: 1.0,
            amplitude: 2.0,
            phase,
            frequency: 1.0,
        };
        for (function, phase, expected) in [
            (WaveFunction::Sine, 0.25, 3.0),
            (WaveFunction::Triangle, 0.5, 1.0),
            (WaveFunction::Triangle, 0.75, -1.0),
            (WaveFunction::Square, 0.75, -1.0),
            (WaveFunction::Sawtooth, 0.5, 2.0),
            (WaveFunction::InverseSawtooth, 0.75, 1.5),
        ] {
            let value = wave_value(&wave(function, phase), 3.0);
            assert!((value - expected).abs() < 1e-5, "{function:?} {phase}");
        }
    }

    #[test]
    fn fog_weakens_the_channels_that_are_blended() {
        use BlendFactor as F;
        let stage = |blend| Stage {
            image: crate::scene::StageImage::Lightmap,
            clamp: false,
            blend,
            alpha_func: None,
            depth_write: false,
            depth_equal: false,
            detail: false,
            rgb_gen: RgbGen::Identity,
            alpha_gen: AlphaGen::Identity,
            tc_gen: TcGen::Base,
            tc_mods: Vec::new(),
        };
        for (blend, expected) in [
            (None, 0),
            (Some((F::One, F::One)), 1),
            (Some((F::Zero, F::OneMinusSrcColor)), 1),
            (Some((F::SrcAlpha, F::OneMinusSrcAlpha)), 2),
            (Some((F::One, F::OneMinusSrcAlpha)), 3),
            (Some((F::DstColor, F::Zero)), 0),
        ] {
            assert_eq!(fogged(&stage(blend)), expected, "{blend:?}");
        }
    }

    fn bytes(pair: &[f32; 4]) -> &[u8] {
        bytemuck::cast_slice(pair)
    }

    #[test]
    fn a_turbulence_ends_a_run() {
        let swirl = TcMod::Turbulence(Wave {
            function: WaveFunction::Sine,
            base: 0.0,
            amplitude: 0.1,
            phase: 0.5,
            frequency: 0.0,
        });
        let scale = TcMod::Scale(Vec2::splat(2.0));
        let (pairs, count) = tc_mods(&[scale, swirl, scale], 0.0);
        assert_eq!(count, 2);
        assert_eq!(bytes(&pairs[0]), bytes(&[2.0, 0.0, 0.0, 2.0]));
        assert_eq!(bytes(&pairs[1]), bytes(&[0.0, 0.0, 0.1, 0.5]));
        assert_eq!(tc_mods(&[], 0.0).1, 0);
    }
}
