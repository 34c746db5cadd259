use std::io::Write;

use anyhow::Context;
use glam::Vec3;
use serde::Serialize;

use crate::cli::args::{Profile, SampleArgs};
use crate::cli::error::Exit;
use crate::cli::output::{Document, Output, WarningLine, warning_lines};
use crate::format::bsp::{ShGrid, ShPoint, read};
use crate::job::Warnings;
use crate::math::colour::{Clamp, Overbright, shift};
use crate::probe::{
    Corner, LegacyLight, ShProfile, Verdict, evaluate_sh, sample_legacy, sample_sh, shade_legacy,
};
use crate::scene::{LightGrid, LightScale, Lighting};

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/sample/1";

pub(crate) fn run(args: &SampleArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let opened = args.map.open()?;
    let bsp = read(&opened.bytes).with_context(|| args.map.map.clone())?;
    let warnings = Warnings::default();
    let lighting = Lighting::from_bsp(&bsp, &warnings);
    let overbright = args
        .overbright
        .unwrap_or_else(|| LightScale::of_map(&bsp, &opened).overbright);
    let sample = Sample {
        position: args.pos.to_array(),
        normal: args.normal.to_array(),
        overbright: overbright.factor(),
        legacy: lighting
            .light_grid
            .as_deref()
            .map(|grid| Legacy::new(grid, args, overbright)),
        sh: lighting
            .sh_grid
            .as_deref()
            .map(|grid| Sh::new(grid, args, overbright)),
        warnings: warning_lines(&warnings),
    };
    if args.json {
        output.json(&Document::new(SCHEMA, &args.map.map, &sample))?;
    } else {
        sample.print(output.out())?;
        output.warnings(&sample.warnings)?;
    }
    Ok(Exit::Done)
}

/// Both grids at one point.
#[derive(Serialize)]
struct Sample {
    position: [f32; 3],
    normal: [f32; 3],
    /// Factor by which stored light is multiplied.
    overbright: f32,
    legacy: Option<Legacy>,
    sh: Option<Sh>,
    warnings: Vec<WarningLine>,
}

/// A grid point that takes part.
#[derive(Serialize)]
struct CornerInfo<V> {
    index: usize,
    cell: [u32; 3],
    position: [f32; 3],
    weight: f32,
    verdict: &'static str,
    /// As stored; null beyond the far edge of the grid.
    stored: Option<V>,
}

impl<V> CornerInfo<V> {
    fn new(corner: &Corner, stored: impl Fn(usize) -> V) -> Self {
        Self {
            index: corner.index,
            cell: corner.cell.to_array(),
            position: corner.position.to_array(),
            weight: corner.weight,
            verdict: corner.verdict.word(),
            stored: (corner.verdict != Verdict::OutsideGrid).then(|| stored(corner.index)),
        }
    }
}

#[derive(Serialize)]
struct StoredLegacy {
    ambient: [u8; 3],
    directed: [u8; 3],
    zenith: u8,
    azimuth: u8,
}

/// Byte units after overbright.
#[derive(Serialize)]
struct Light {
    ambient: [f32; 3],
    directed: [f32; 3],
    /// Towards the light.
    direction: [f32; 3],
}

impl From<LegacyLight> for Light {
    fn from(light: LegacyLight) -> Self {
        Self {
            ambient: light.ambient.to_array(),
            directed: light.directed.to_array(),
            direction: light.direction.to_array(),
        }
    }
}

#[derive(Serialize)]
struct Legacy {
    profile: String,
    outside: bool,
    weight: f32,
    corners: Vec<CornerInfo<StoredLegacy>>,
    /// Before the profile's factors.
    blended: Light,
    /// With them: what models are lit by.
    light: Light,
    /// A white surface with the normal, byte units.
    shaded: [f32; 3],
}

impl Legacy {
    fn new(grid: &LightGrid, args: &SampleArgs, overbright: Overbright) -> Self {
        let chosen = args
            .profile
            .iter()
            .rev()
            .find_map(|profile| profile.legacy());
        let profile = chosen.unwrap_or_default();
        let sample = sample_legacy(grid, args.pos, profile, overbright);
        let stored = |index: usize| {
            let point = grid.points[index];
            StoredLegacy {
                ambient: point.ambient,
                directed: point.directed,
                zenith: point.zenith,
                azimuth: point.azimuth,
            }
        };
        Self {
            profile: profile.word().to_owned(),
            outside: sample.outside,
            weight: sample.weight,
            corners: sample
                .corners
                .iter()
                .map(|corner| CornerInfo::new(corner, stored))
                .collect(),
            shaded: shade_legacy(&sample.light, args.normal).to_array(),
            blended: sample.blended.into(),
            light: sample.light.into(),
        }
    }
}

#[derive(Serialize)]
struct Sh {
    profile: String,
    outside: bool,
    weight: f32,
    corners: Vec<CornerInfo<ShPoint>>,
    /// Blended, byte units before overbright.
    coefficients: ShPoint,
    /// On a white surface with the normal, before overbright; may be negative.
    light: [f32; 3],
    /// The same as shown: negative light cut, overbright applied, hue kept.
    shaded: [f32; 3],
}

impl Sh {
    fn new(grid: &ShGrid, args: &SampleArgs, overbright: Overbright) -> Self {
        let chosen = args
            .profile
            .iter()
            .rev()
            .find(|profile| profile.sh().is_some());
        let word = chosen.copied().unwrap_or(Profile::Irradiance);
        let profile: ShProfile = word.sh().unwrap_or_default();
        let sample = sample_sh(grid, args.pos, profile.corners);
        let light = evaluate_sh(&sample.coefficients, args.normal, profile.band_weights());
        let shaded = shift(light.max(Vec3::ZERO), overbright.factor(), Clamp::KeepHue);
        Self {
            profile: word.word(),
            outside: sample.outside,
            weight: sample.weight,
            corners: sample
                .corners
                .iter()
                .map(|corner| CornerInfo::new(corner, |index| grid.points[index]))
                .collect(),
            coefficients: sample.coefficients,
            light: light.to_array(),
            shaded: shaded.to_array(),
        }
    }
}

impl Sample {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let [x, y, z] = self.position;
        writeln!(
            out,
            "at ({x}, {y}, {z}), normal {}, overbright ×{}",
            rounded(self.normal),
            self.overbright
        )?;
        match &self.legacy {
            Some(legacy) => legacy.print(out)?,
            None => writeln!(out, "\nno legacy grid")?,
        }
        match &self.sh {
            Some(sh) => sh.print(out),
            None => writeln!(out, "\nno SH grid"),
        }
    }
}

impl Legacy {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        print_heading(out, "legacy", &self.profile, self.outside, self.weight)?;
        for corner in &self.corners {
            print_corner(out, corner)?;
            match &corner.stored {
                Some(stored) => writeln!(
                    out,
                    "  ambient {:?} directed {:?} angles {} {}",
                    stored.ambient, stored.directed, stored.zenith, stored.azimuth
                )?,
                None => writeln!(out)?,
            }
        }
        for (name, light) in [("blended", &self.blended), ("light", &self.light)] {
            writeln!(
                out,
                "  {name:<8} ambient {} directed {} from {}",
                rounded(light.ambient),
                rounded(light.directed),
                rounded(light.direction)
            )?;
        }
        writeln!(out, "  shaded   {}", rounded(self.shaded))
    }
}

impl Sh {
    fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        print_heading(out, "SH", &self.profile, self.outside, self.weight)?;
        for corner in &self.corners {
            print_corner(out, corner)?;
            match &corner.stored {
                Some(stored) => writeln!(out, "  first coefficient {}", rounded(stored[0]))?,
                None => writeln!(out)?,
            }
        }
        for (band, coefficient) in self.coefficients.iter().enumerate() {
            writeln!(out, "  blended {band} {}", rounded(*coefficient))?;
        }
        writeln!(out, "  light    {}", rounded(self.light))?;
        writeln!(out, "  shaded   {}", rounded(self.shaded))
    }
}

fn print_heading(
    out: &mut dyn Write,
    grid: &str,
    profile: &str,
    outside: bool,
    weight: f32,
) -> std::io::Result<()> {
    let place = if outside { ", outside the grid" } else { "" };
    writeln!(
        out,
        "\n{grid} grid, profile {profile}, weight {weight:.4}{place}"
    )
}

fn print_corner<V>(out: &mut dyn Write, corner: &CornerInfo<V>) -> std::io::Result<()> {
    let [x, y, z] = corner.cell;
    let number = if corner.stored.is_some() {
        format!("#{}", corner.index)
    } else {
        "-".to_owned()
    };
    let cell = format!("({x}, {y}, {z})");
    write!(
        out,
        "  {number:<8} {cell:<14} {:.4}  {:<17}",
        corner.weight, corner.verdict
    )
}

fn rounded(values: [f32; 3]) -> String {
    format!("({:.3}, {:.3}, {:.3})", values[0], values[1], values[2])
}
