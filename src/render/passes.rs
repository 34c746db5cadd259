use crate::format::material_script::BlendFactor;
use crate::render::pipelines::{Program, SurfaceKey};
use crate::render::scene::{Draw, GpuScene, Pass};
use crate::view::{RenderMode, ViewOptions};

/// A pass of a draw as a mode draws it.
pub(super) struct Selected<'a> {
    /// Number of the draw.
    pub(super) draw: usize,
    pub(super) pass: &'a Pass,
    /// The pipeline, which may be another than the pass's own.
    pub(super) key: SurfaceKey,
}

/// WGSL's `MODE_` constant.
pub(super) fn mode_number(mode: RenderMode) -> u32 {
    match mode {
        RenderMode::Lit | RenderMode::Wireframe => 0,
        RenderMode::Lightmap => 1,
        RenderMode::Fullbright => 2,
        RenderMode::VertexColour => 3,
        RenderMode::Normals => 4,
        RenderMode::Deluxe => 5,
        RenderMode::GridLit => 6,
        RenderMode::ShLit => 7,
        RenderMode::Clay => 8,
        RenderMode::Overdraw => 9,
        RenderMode::Luxels => 10,
        RenderMode::LightSource => 11,
        RenderMode::Clusters => 12,
        RenderMode::Areas => 13,
        RenderMode::Clipping => 14,
    }
}

/// Whether surfaces are drawn by the programs of `modes.wgsl`.
pub(super) fn is_inspecting(mode: RenderMode) -> bool {
    mode_number(mode) >= mode_number(RenderMode::GridLit)
}

/// Whether stages that scripts mark with `detail` are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Details {
    Drawn,
    LeftOut,
}

impl Details {
    pub(super) fn of(options: &ViewOptions) -> Self {
        if options.detail_stages {
            Self::Drawn
        } else {
            Self::LeftOut
        }
    }
}

/// What `mode` draws, in order. The lightmap mode stops a material after its lightmap, as `r_lightmap 1` does.
pub(super) fn selected_passes(
    scene: &GpuScene,
    mode: RenderMode,
    details: Details,
) -> impl Iterator<Item = Selected<'_>> {
    let draws = scene.draws.iter().enumerate();
    draws.flat_map(move |(number, draw)| {
        let fog = draw.fog.iter().filter(move |_| shows_fog(mode));
        passes_of(draw, mode)
            .iter()
            .chain(fog)
            .filter(move |pass| details == Details::Drawn || !pass.is_detail)
            .filter_map(move |pass| {
                Some(Selected {
                    draw: number,
                    pass,
                    key: key_in(mode, draw, pass)?,
                })
            })
    })
}

/// Whether fog is drawn; the modes that look at one property of the surfaces look through it.
fn shows_fog(mode: RenderMode) -> bool {
    matches!(
        mode,
        RenderMode::Lit
            | RenderMode::Lightmap
            | RenderMode::Fullbright
            | RenderMode::GridLit
            | RenderMode::ShLit
            | RenderMode::Overdraw
    )
}

fn passes_of(draw: &Draw, mode: RenderMode) -> &[Pass] {
    match (mode, &draw.plain) {
        (RenderMode::Wireframe, _) => &[],
        (
            RenderMode::VertexColour
            | RenderMode::Normals
            | RenderMode::Deluxe
            | RenderMode::Clay
            | RenderMode::Luxels
            | RenderMode::LightSource
            | RenderMode::Clusters
            | RenderMode::Areas
            | RenderMode::Clipping,
            Some(plain),
        ) => std::slice::from_ref(plain),
        (RenderMode::Lightmap, Some(_)) => {
            let last = draw.passes.iter().position(|pass| pass.has_lightmap);
            &draw.passes[..last.map_or(draw.passes.len(), |last| last + 1)]
        }
        _ => draw.passes.as_slice(),
    }
}

/// The pipeline of a pass in a mode; `None` leaves it out.
fn key_in(mode: RenderMode, draw: &Draw, pass: &Pass) -> Option<SurfaceKey> {
    let mut key = pass.key;
    let is_sky = key.is_sky();
    if mode == RenderMode::Overdraw {
        key.blend = Some((BlendFactor::One, BlendFactor::One));
        if is_sky {
            // The six faces of a box write each pixel once between them.
            let is_first = draw
                .passes
                .first()
                .is_some_and(|first| std::ptr::eq(first, pass));
            if key.program == Program::SkyBox && !is_first {
                return None;
            }
            key.program = Program::CountedSky;
            return Some(key);
        }
    }
    if is_inspecting(mode) && !is_sky {
        key.program = Program::Inspect;
    }
    Some(key)
}

/// The image of an animation at a time.
pub(super) fn frame_number(pass: &Pass, time_secs: f32) -> usize {
    let frame = (time_secs * pass.rate).floor().max(0.0) as usize;
    pass.frames[frame % pass.frames.len()]
}
