//! The table of GPU programs: what each is joined from. Nothing else reads WGSL.

use std::fmt::Write as _;

/// A piece of WGSL and its path below `shaders/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Path below `shaders/`.
    pub name: &'static str,
    /// Contents of the file.
    pub text: &'static str,
}

/// A GPU program: its parts in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name, for labels and messages.
    pub name: &'static str,
    /// What it is joined from.
    pub parts: &'static [Part],
}

macro_rules! part {
    ($constant:ident, $path:literal) => {
        #[doc = concat!("`shaders/", $path, "`.")]
        pub const $constant: Part = Part {
            name: $path,
            text: include_str!(concat!("../../shaders/", $path)),
        };
    };
}

part!(FRAME, "common/frame.wgsl");
part!(COLOUR, "common/colour.wgsl");
part!(PROBE, "common/probe.wgsl");
part!(SPHERE, "common/sphere.wgsl");
part!(STAGE, "common/stage.wgsl");
part!(STAGE_BINDINGS, "common/stage_bindings.wgsl");
part!(DEFORM, "common/deform.wgsl");
part!(MODELS, "common/models.wgsl");
part!(PAGES, "common/pages.wgsl");
part!(GRID_LIGHT, "common/grid_light.wgsl");
part!(TREE, "common/tree.wgsl");
part!(WORLD_PASS, "world.wgsl");
part!(MODES_PASS, "modes.wgsl");
part!(SKY_PASS, "sky.wgsl");
part!(SPHERES_PASS, "spheres.wgsl");
part!(MARKS_PASS, "marks.wgsl");
part!(LINES_PASS, "lines.wgsl");
part!(FLARES_PASS, "flares.wgsl");
part!(GAMMA_PASS, "gamma.wgsl");
part!(PICTURE_PASS, "picture.wgsl");

/// Surfaces.
pub const WORLD: Module = Module {
    name: "world",
    parts: &[
        FRAME,
        COLOUR,
        STAGE,
        STAGE_BINDINGS,
        DEFORM,
        MODELS,
        PAGES,
        WORLD_PASS,
    ],
};
/// Surfaces in the modes that look at one of their properties.
pub const MODES: Module = Module {
    name: "modes",
    parts: &[
        FRAME,
        COLOUR,
        STAGE,
        STAGE_BINDINGS,
        DEFORM,
        MODELS,
        PAGES,
        PROBE,
        GRID_LIGHT,
        TREE,
        WORLD_PASS,
        MODES_PASS,
    ],
};
/// Sky surfaces.
pub const SKY: Module = Module {
    name: "sky",
    parts: &[FRAME, STAGE, STAGE_BINDINGS, SKY_PASS],
};
/// Spheres at grid points.
pub const SPHERES: Module = Module {
    name: "spheres",
    parts: &[FRAME, COLOUR, PROBE, SPHERE, SPHERES_PASS],
};
/// The sample sphere and its corners.
pub const MARKS: Module = Module {
    name: "marks",
    parts: &[FRAME, COLOUR, PROBE, SPHERE, MARKS_PASS],
};
/// Lines and edges.
pub const LINES: Module = Module {
    name: "lines",
    parts: &[FRAME, MODELS, LINES_PASS],
};

/// Flares over the picture.
pub const FLARES: Module = Module {
    name: "flares",
    parts: &[FRAME, STAGE, FLARES_PASS],
};

/// The finished picture.
pub const GAMMA: Module = Module {
    name: "gamma",
    parts: &[GAMMA_PASS],
};

/// The picture of the map in a window.
pub const PICTURE: Module = Module {
    name: "picture",
    parts: &[PICTURE_PASS],
};

/// All programs.
pub const MODULES: [Module; 9] = [
    WORLD, MODES, SKY, SPHERES, MARKS, LINES, FLARES, GAMMA, PICTURE,
];

/// Joins parts to one text, each after a line that names it.
pub fn join(parts: &[Part]) -> String {
    parts.iter().fold(String::new(), |mut text, part| {
        let _ = write!(text, "// part: {}\n{}\n", part.name, part.text);
        text
    })
}

/// The compiled form of `module` on `device`.
pub(super) fn compile(device: &wgpu::Device, module: &Module) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(module.name),
        source: wgpu::ShaderSource::Wgsl(join(module.parts).into()),
    })
}
