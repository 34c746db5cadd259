//! GPU programs: parsing and validation, shared structs and twinned formulas.

#![cfg(feature = "viewer")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests stop and report as tests do"
)]

mod support {
    pub(crate) mod adapter;
}

use std::collections::BTreeSet;
use std::path::Path;

use glam::Vec3;
use luxgrid::format::bsp::ShPoint;
use luxgrid::math::colour::{Clamp, Overbright, shift};
use luxgrid::math::sampling;
use luxgrid::probe::{LegacyLight, ShEvaluator, ShProfile, evaluate_sh, shade_legacy};
use luxgrid::render::shared::LAYOUTS;
use luxgrid::render::{Gpu, wgsl};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use support::adapter::adapter;

fn parsed(module: &wgsl::Module) -> naga::Module {
    let text = wgsl::join(module.parts);
    naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|error| panic!("{}: {}", module.name, error.emit_to_string(&text)))
}

#[test]
fn every_module_is_valid_without_optional_capabilities() {
    for module in wgsl::MODULES {
        let text = wgsl::join(module.parts);
        let parsed = parsed(&module);
        if let Err(error) =
            Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&parsed)
        {
            panic!("{}: {}", module.name, error.emit_to_string(&text));
        }
    }
}

#[test]
fn a_fault_is_reported_with_the_part_it_is_in() {
    let broken = wgsl::Part {
        name: "broken.wgsl",
        text: "fn f() -> u32 { return 1.5; }",
    };
    let text = wgsl::join(&[wgsl::FRAME, broken]);
    let module = naga::front::wgsl::parse_str(&text);
    let valid = module.is_ok_and(|module| {
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .is_ok()
    });
    assert!(!valid);
    assert!(text.contains("// part: broken.wgsl\n"));
}

fn files_below(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files_below(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

#[test]
fn every_file_is_used() {
    let mut found = BTreeSet::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    files_below(&folder, "", &mut found);
    let used: BTreeSet<String> = wgsl::MODULES
        .iter()
        .flat_map(|module| module.parts)
        .map(|part| part.name.to_owned())
        .collect();
    assert_eq!(found, used);
}

#[test]
fn shared_structs_have_the_layout_of_their_twins() {
    let modules: Vec<_> = wgsl::MODULES.iter().map(parsed).collect();
    for layout in LAYOUTS {
        let mut seen = 0;
        for (_, twin) in modules.iter().flat_map(|module| module.types.iter()) {
            if twin.name.as_deref() != Some(layout.name) {
                continue;
            }
            let naga::TypeInner::Struct { members, span } = &twin.inner else {
                panic!("{} is no struct", layout.name);
            };
            let members: Vec<_> = members
                .iter()
                .map(|member| {
                    let name = member.name.as_deref().unwrap_or_default();
                    (name, member.offset as usize)
                })
                .collect();
            assert_eq!(members, layout.members, "{}", layout.name);
            assert_eq!(*span as usize, layout.size, "{}", layout.name);
            seen += 1;
        }
        assert!(seen > 0, "{} has no twin", layout.name);
    }
}

/// Seed of the twin table.
const SEED: u64 = 7;
/// Cases of the twin table.
const CASES: usize = 512;
/// Floats of a case: normal, legacy light, 27 coefficients, band weights, factor and clamp.
const INPUT: usize = 48;
/// Floats of a result: shade, SH, shift.
const OUTPUT: usize = 12;

/// Reads a case, runs the three formulas, writes their results.
const TWINS: wgsl::Part = wgsl::Part {
    name: "tests/shaders.rs",
    text: "
@group(0) @binding(0) var<storage, read> cases: array<array<f32, 48>>;
@group(0) @binding(1) var<storage, read_write> results: array<array<f32, 12>>;

fn triple(at: u32, first: u32) -> vec3f {
    return vec3f(cases[at][first], cases[at][first + 1u], cases[at][first + 2u]);
}

fn put(at: u32, first: u32, value: vec3f) {
    results[at][first] = value.x;
    results[at][first + 1u] = value.y;
    results[at][first + 2u] = value.z;
}

@compute @workgroup_size(64)
fn twins(@builtin(global_invocation_id) id: vec3u) {
    let at = id.x;
    let normal = triple(at, 0u);
    put(at, 0u, shade_legacy(LegacyLight(triple(at, 3u), triple(at, 6u), triple(at, 9u)), normal));
    var coefficients: array<vec3f, 9>;
    for (var i = 0u; i < 9u; i++) {
        coefficients[i] = triple(at, 12u + 3u * i);
    }
    put(at, 3u, evaluate_sh(coefficients, normal, triple(at, 39u)));
    put(at, 6u, shift(triple(at, 12u), cases[at][42], u32(cases[at][43])));
}
",
};

struct Case {
    normal: Vec3,
    light: LegacyLight,
    coefficients: ShPoint,
    bands: [f32; 3],
    factor: f32,
    clamp: Clamp,
}

impl Case {
    /// Case number `seed`, from hashed numbers; every profile, overbright and clamp occurs.
    fn new(seed: usize) -> Self {
        let mut counter = 0;
        let mut number = |low: f32, high: f32| {
            counter += 1;
            low + (high - low) * sampling::unit(SEED, seed as u64, counter)
        };
        let mut vector = |low, high| Vec3::from_array(std::array::from_fn(|_| number(low, high)));
        let normal = vector(-1.0, 1.0).normalize_or(Vec3::Z);
        let light = LegacyLight {
            ambient: vector(0.0, 255.0),
            directed: vector(0.0, 255.0),
            direction: if seed.is_multiple_of(9) {
                Vec3::ZERO
            } else {
                vector(-1.0, 1.0).normalize_or_zero()
            },
        };
        let coefficients = std::array::from_fn(|_| vector(-120.0, 240.0).to_array());
        let profile = ShProfile {
            evaluator: match seed % 3 {
                0 => ShEvaluator::Irradiance,
                1 => ShEvaluator::Direct,
                _ => ShEvaluator::Windowed(0.7),
            },
            match_front: seed.is_multiple_of(2),
            ..ShProfile::default()
        };
        let overbrights = [0, 1, 2, 3].map(Overbright::Bits);
        let overbright = overbrights.get(seed % 5).copied();
        Self {
            normal,
            light,
            coefficients,
            bands: profile.band_weights(),
            factor: overbright.unwrap_or(Overbright::Blog).factor(),
            clamp: if seed.is_multiple_of(4) {
                Clamp::Off
            } else {
                Clamp::KeepHue
            },
        }
    }

    fn input(&self) -> [f32; INPUT] {
        let mut out = [0.0; INPUT];
        let vectors = [
            self.normal,
            self.light.ambient,
            self.light.directed,
            self.light.direction,
        ];
        for (i, vector) in vectors.iter().enumerate() {
            out[3 * i..3 * i + 3].copy_from_slice(&vector.to_array());
        }
        out[12..39].copy_from_slice(self.coefficients.as_flattened());
        out[39..42].copy_from_slice(&self.bands);
        out[42] = self.factor;
        out[43] = f32::from(u8::from(self.clamp == Clamp::KeepHue));
        out
    }

    fn expected(&self) -> [Vec3; 3] {
        [
            shade_legacy(&self.light, self.normal),
            evaluate_sh(&self.coefficients, self.normal, self.bands),
            shift(Vec3::from(self.coefficients[0]), self.factor, self.clamp),
        ]
    }

    /// Largest magnitude that takes part in each result: what relative errors are measured by.
    fn scales(&self) -> [f32; 3] {
        let largest = |values: &[f32]| values.iter().fold(1.0_f32, |m, v| m.max(v.abs()));
        let coefficients = largest(self.coefficients.as_flattened());
        [
            255.0,
            coefficients * largest(&self.bands),
            coefficients * self.factor,
        ]
    }
}

fn run_twins(gpu: &Gpu, cases: &[Case]) -> Vec<f32> {
    use wgpu::util::DeviceExt as _;
    let text = wgsl::join(&[wgsl::COLOUR, wgsl::PROBE, TWINS]);
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("twins"),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
    let pipeline = gpu
        .device
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("twins"),
            layout: None,
            module: &module,
            entry_point: Some("twins"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
    let inputs: Vec<f32> = cases.iter().flat_map(Case::input).collect();
    let input = gpu
        .device
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("cases"),
            contents: bytemuck::cast_slice(&inputs),
            usage: wgpu::BufferUsages::STORAGE,
        });
    let size = (cases.len() * OUTPUT * 4) as u64;
    let buffer = |label, usage| {
        gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let output = buffer(
        "results",
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
    );
    let read = buffer(
        "read back",
        wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
    );
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("twins"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry {
                binding: 0,
                resource: input.as_entire_binding(),
            },
            wgpu::BindGroupEntry {
                binding: 1,
                resource: output.as_entire_binding(),
            },
        ],
    });
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(cases.len() as u32 / 64, 1, 1);
    }
    encoder.copy_buffer_to_buffer(&output, 0, &read, 0, size);
    gpu.queue.submit([encoder.finish()]);
    read.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device
        .poll(wgpu::PollType::wait_indefinitely())
        .unwrap();
    let bytes = read.get_mapped_range(..).unwrap();
    bytemuck::cast_slice(&bytes).to_vec()
}

#[test]
fn twinned_formulas_agree() {
    let Some(gpu) = adapter() else { return };
    let cases: Vec<Case> = (0..CASES).map(Case::new).collect();
    let results = run_twins(&gpu, &cases);
    assert_eq!(gpu.take_error(), None);
    for (number, (case, result)) in cases.iter().zip(results.chunks_exact(OUTPUT)).enumerate() {
        let names = ["shade_legacy", "evaluate_sh", "shift"];
        for (formula, expected) in case.expected().iter().enumerate() {
            let found = Vec3::from_slice(&result[3 * formula..]);
            // One f32 formula: relative 1e-5 of the largest term.
            let tolerance = 1e-5 * case.scales()[formula];
            assert!(
                found.abs_diff_eq(*expected, tolerance),
                "{} case {number}: {found} for {expected}",
                names[formula]
            );
        }
    }
}
