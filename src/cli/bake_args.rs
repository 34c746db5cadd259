use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use glam::Vec3;

use crate::cli::game_paths::MapArgs;
use crate::cli::look_args::{LookArgs, ShortcutArgs, ToneArgs};
use crate::cli::values;
use crate::format::bsp::ShContainer;
use crate::light::{BakeSettings, GameProfile, LightModel, LightsFrom, ShCell};
use crate::math::Aabb;
use crate::scene::{BuildOptions, MapSource, ScriptFiles};

/// Heading of the flags about which points are baked.
const GRIDS: &str = "Grids";
/// Heading of the flags about how bright lights are.
const SCALES: &str = "Light";

#[derive(Args, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, named as in q3map2"
)]
pub(crate) struct BakeArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// BSP file to write; may be the input
    #[arg(short, long, value_name = "OUT", required_unless_present = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Bake the SH grid too; without it a stale SH grid is dropped
    #[arg(long, help_heading = GRIDS)]
    pub(crate) sh: bool,
    /// Leave the legacy grid as it is
    #[arg(long, help_heading = GRIDS)]
    pub(crate) nogrid: bool,
    /// Cell of the legacy grid, game units [default: worldspawn's, else 64 64 128]
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], value_parser = values::positive, help_heading = GRIDS)]
    pub(crate) gridsize: Option<Vec<f32>>,
    /// Cell of the SH grid: the legacy cell over F [default: 2]
    #[arg(long, value_name = "F", value_parser = values::positive, conflicts_with = "gridsh", help_heading = GRIDS)]
    pub(crate) gridscalesh: Option<f32>,
    /// Cell of the SH grid, game units
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], value_parser = values::positive, help_heading = GRIDS)]
    pub(crate) gridsh: Option<Vec<f32>>,
    /// Bake only the points in this box and keep the file's values outside; the file must have the same points
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = values::region, allow_hyphen_values = true, help_heading = GRIDS)]
    pub(crate) region: Option<Aabb>,
    #[command(flatten)]
    pub(crate) tone: ToneArgs,
    /// Multiplies point and spot lights
    #[arg(long, value_name = "F", value_parser = values::finite, visible_alias = "pointscale", help_heading = SCALES)]
    pub(crate) point: Vec<f32>,
    /// Multiplies point lights
    #[arg(long, value_name = "F", value_parser = values::finite, visible_alias = "sphericalscale", help_heading = SCALES)]
    pub(crate) spherical: Vec<f32>,
    /// Multiplies spot lights
    #[arg(long, value_name = "F", value_parser = values::finite, visible_alias = "spotscale", help_heading = SCALES)]
    pub(crate) spot: Vec<f32>,
    /// Multiplies lights of surfaces
    #[arg(long, value_name = "F", value_parser = values::finite, visible_alias = "areascale", help_heading = SCALES)]
    pub(crate) area: Vec<f32>,
    /// Multiplies suns and sky lights
    #[arg(long, value_name = "F", value_parser = values::finite, visible_alias = "skyscale", help_heading = SCALES)]
    pub(crate) sky: Vec<f32>,
    /// Multiplies all lights; scales that are given several times multiply
    #[arg(long, value_name = "F", value_parser = values::finite, help_heading = SCALES)]
    pub(crate) scale: Vec<f32>,
    /// Add the entity lights of this .map or .ent instead of those of the file beside the BSP
    #[arg(long, value_name = "FILE", help_heading = SCALES)]
    pub(crate) lights: Option<PathBuf>,
    /// Read only the material scripts that scripts/shaderlist.txt names, as q3map2 does; without a list all
    #[arg(long, help_heading = SCALES)]
    pub(crate) shaderlist: bool,
    /// Whose look is made
    #[arg(long, value_name = "MODEL", default_value = "q3map2", help_heading = SCALES)]
    pub(crate) model: ModelArg,
    /// Where the SH grid goes [default: where the map has it, else v47]
    #[arg(long, value_name = "WHERE")]
    pub(crate) sh_container: Option<ContainerArg>,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    #[command(flatten)]
    pub(crate) shortcuts: ShortcutArgs,
    /// Threads to work with [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Memory that the bake may take, MiB; one that may take more is refused [default: half of what is available]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) memory: Option<u64>,
    /// How progress is shown on the standard error
    #[arg(long, value_name = "HOW", default_value = "text")]
    pub(crate) progress: ProgressArg,
    /// Say what would be baked, and stop
    #[arg(long = "dry-run")]
    pub(crate) dry_run: bool,
    /// Write the report (`luxgrid/bake/1`) to this file too
    #[arg(long, value_name = "FILE.json")]
    pub(crate) report: Option<PathBuf>,
    /// One JSON object (`luxgrid/bake/1`) instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose look a bake makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelArg {
    /// The reference compiler's, with what mappers tuned against
    #[default]
    Q3map2,
    /// With its accidents mended
    Corrected,
}

/// Where the SH grid is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContainerArg {
    /// Lump 18, as the SH commit has it; stock engines refuse the map
    V47,
    /// A block behind the last lump; stock engines load the map
    Bspx,
    /// A file beside the map with the extension shgrid; stock engines load the map
    Sidecar,
}

impl From<ContainerArg> for ShContainer {
    fn from(container: ContainerArg) -> Self {
        match container {
            ContainerArg::V47 => Self::V47,
            ContainerArg::Bspx => Self::Bspx,
            ContainerArg::Sidecar => Self::Sidecar,
        }
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    /// A line that changes; in a log, one every five seconds
    #[default]
    Text,
    /// A JSON object a line, four times a second
    Json,
    /// Nothing
    Off,
}

impl BakeArgs {
    /// The settings that these flags ask for. Reads the file of `--lights`.
    pub(crate) fn settings(&self) -> anyhow::Result<BakeSettings> {
        let all = product(&self.scale);
        for (name, given) in [
            ("point", &self.point),
            ("spherical", &self.spherical),
            ("spot", &self.spot),
            ("area", &self.area),
            ("sky", &self.sky),
        ] {
            // An infinite scale would leave points that no engine can read.
            if !(all * product(given)).is_finite() {
                bail!("-scale times all -{name} is not a finite number");
            }
        }
        let sh_cell = match (&self.gridsh, self.gridscalesh) {
            (Some(cell), _) => ShCell::Explicit(Vec3::from_slice(cell)),
            (None, Some(factor)) => ShCell::Scale(factor),
            (None, None) => BakeSettings::default().sh_cell,
        };
        let profile = match &self.map.game {
            Some(name) => {
                GameProfile::by_name(name).with_context(|| format!("unknown game {name}"))?
            }
            None => GameProfile::default(),
        };
        let mut settings = BakeSettings {
            legacy: !self.nogrid,
            sh: self.sh,
            cell_size: self.gridsize.as_deref().map(Vec3::from_slice),
            sh_cell,
            region: self.region,
            threads: self
                .threads
                .and_then(|threads| usize::try_from(threads).ok()),
            memory: self.memory.map(|mebibytes| mebibytes << 20),
            lights: self.light_source()?,
            model: match self.model {
                ModelArg::Q3map2 => LightModel::Q3map2,
                ModelArg::Corrected => LightModel::Corrected,
            },
            point_scale: all * product(&self.point),
            spherical_scale: product(&self.spherical),
            spot_scale: product(&self.spot),
            area_scale: all * product(&self.area),
            sky_scale: all * product(&self.sky),
            command_line: self.command_line(),
            ..profile.settings()
        };
        self.tone.apply(&mut settings);
        self.look.apply(&mut settings);
        self.shortcuts.apply(&mut settings);
        Ok(settings)
    }

    /// Which material scripts are read; curves as for everything that is not looked at.
    pub(crate) fn build_options(&self) -> BuildOptions {
        BuildOptions {
            scripts: if self.shaderlist {
                ScriptFiles::Listed
            } else {
                ScriptFiles::All
            },
            ..BuildOptions::default()
        }
    }

    fn light_source(&self) -> anyhow::Result<LightsFrom> {
        let Some(path) = &self.lights else {
            return Ok(LightsFrom::Auto);
        };
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let source = MapSource::chosen(path.clone(), &bytes)
            .with_context(|| format!("{} holds no light entities", path.display()))?;
        Ok(LightsFrom::File(Arc::new(source)))
    }

    /// The flags that shape the result, as q3map2 would be told; no file names, so that it may go into the map.
    pub(crate) fn command_line(&self) -> String {
        let mut words = vec!["-light".to_owned()];
        let switches = [(self.sh, "sh"), (self.nogrid, "nogrid")];
        for (given, name) in switches.into_iter().chain(self.shortcuts.switches()) {
            if given {
                words.push(format!("-{name}"));
            }
        }
        self.tone.push_words(&mut words);
        self.look.push_words(&mut words);
        if let Some(game) = &self.map.game {
            words.push(format!("-game {game}"));
        }
        if let Some(region) = &self.region {
            let sides = [region.min, region.max].map(|at| at.to_array());
            let numbers: Vec<String> = sides.as_flattened().iter().map(f32::to_string).collect();
            words.push(format!("-region {}", numbers.join(",")));
        }
        let mut push = |name: &str, values: &[f32]| {
            words.push(format!("-{name}"));
            words.extend(values.iter().map(f32::to_string));
        };
        if let Some(cell) = &self.gridsize {
            push("gridsize", cell);
        }
        if let Some(cell) = &self.gridsh {
            push("gridsh", cell);
        }
        if let Some(factor) = self.gridscalesh {
            push("gridscalesh", &[factor]);
        }
        for (name, value) in [
            ("point", product(&self.point)),
            ("spherical", product(&self.spherical)),
            ("spot", product(&self.spot)),
            ("area", product(&self.area)),
            ("sky", product(&self.sky)),
            ("scale", product(&self.scale)),
        ] {
            if (value - 1.0).abs() > f32::EPSILON {
                push(name, &[value]);
            }
        }
        words.join(" ")
    }
}

/// Of no values: 1.
fn product(values: &[f32]) -> f32 {
    values.iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> BakeArgs {
        BakeArgs::default()
    }

    #[test]
    fn without_flags_only_the_legacy_grid_is_baked() {
        let settings = plain().settings().unwrap();
        assert!(settings.legacy && !settings.sh && !settings.fast);
        assert_eq!(settings.sh_cell, ShCell::Scale(2.0));
        assert_eq!(settings.command_line, "-light");
    }

    #[test]
    fn scales_multiply_as_in_q3map2() {
        let args = BakeArgs {
            scale: vec![2.0, 3.0],
            point: vec![0.5],
            shortcuts: ShortcutArgs {
                faster: true,
                ..ShortcutArgs::default()
            },
            gridsh: Some(vec![16.0, 16.0, 32.5]),
            ..plain()
        };
        let settings = args.settings().unwrap();
        assert!((settings.point_scale - 3.0).abs() < 1e-6);
        assert!((settings.spot_scale - 1.0).abs() < 1e-6);
        assert!((settings.sky_scale - 6.0).abs() < 1e-6);
        assert!(settings.fast && settings.faster);
        assert_eq!(
            settings.command_line,
            "-light -faster -gridsh 16 16 32.5 -point 0.5 -scale 6"
        );
    }

    #[test]
    fn a_region_goes_into_settings_and_command_line() {
        let region = Aabb {
            min: Vec3::new(-10.0, 0.0, 2.5),
            max: Vec3::splat(64.0),
        };
        let args = BakeArgs {
            region: Some(region),
            ..plain()
        };
        let settings = args.settings().unwrap();
        assert_eq!(settings.region, Some(region));
        assert_eq!(settings.command_line, "-light -region -10,0,2.5,64,64,64");
    }

    #[test]
    fn scales_beyond_the_range_of_numbers_are_refused() {
        let args = BakeArgs {
            sky: vec![1e38, 1e38],
            ..plain()
        };
        let error = format!("{:#}", args.settings().unwrap_err());
        assert!(error.contains("-sky"), "{error}");
    }

    #[test]
    fn missing_light_file_is_named() {
        let args = BakeArgs {
            lights: Some(PathBuf::from("/no/such.map")),
            ..plain()
        };
        let error = format!("{:#}", args.settings().unwrap_err());
        assert!(error.contains("/no/such.map"), "{error}");
    }
}
