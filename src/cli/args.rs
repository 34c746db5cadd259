use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use glam::Vec3;

use crate::cli::bake_args::BakeArgs;
use crate::cli::camera::CameraArgs;
use crate::cli::game_paths::{MapArgs, games};
use crate::cli::pick::PickArgs;
use crate::cli::values;
use crate::math::colour::{Clamp, Overbright};
use crate::probe::{LegacyProfile, ShCorners, ShEvaluator, ShProfile};
use crate::scene::CurveDetail;
use crate::view::{EntityLayer, ProbeShow, RenderMode};

/// Reads, samples, re-lights and draws maps of the Quake 3 family.
///
/// Flags are accepted with one dash or two, q3map2's names among them. Data goes to the standard output, messages to the
/// standard error.
#[derive(Debug, Parser)]
#[command(name = "luxtool", version, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What a map is: format variant and why, lumps, grids, lights
    Info(InfoArgs),
    /// The light grids at one point: corners, weights, blended values, shaded colour
    Sample(SampleArgs),
    /// What is seen at a pixel of a picture: the surface, its material and script, luxel, cluster, area, entity
    Pick(PickArgs),
    /// Bakes the light grids anew and writes a new BSP
    Bake(Box<BakeArgs>),
    /// Judges a map: file, indexes, geometry, light grids
    Check(CheckArgs),
    /// A map as a folder of JSON files, named as q3map2 -json names them
    Unpack(UnpackArgs),
    /// A map from such a folder
    Pack(PackArgs),
    /// Draws a picture, without a window
    Shot(ShotArgs),
    /// Measures draw calls and the processor's time of a frame, as a Markdown table
    #[command(hide = true)]
    Frames(FramesArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// Exit with 1 when there is a finding at least this bad
    #[arg(long = "fail-on", value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,
    /// One JSON object (`luxgrid/check/1`) instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A tool for this project's own documents.
#[derive(Args, Debug)]
pub(crate) struct FramesArgs {
    /// Game folders whose archives hold the maps
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Only maps of this name; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Further views: an `index.json` of reference pictures
    #[arg(long, value_name = "FILE.json")]
    pub(crate) views: Option<PathBuf>,
    /// Document whose lines between `<!-- frames -->` and `<!-- /frames -->` the table replaces
    #[arg(long, value_name = "FILE.md")]
    pub(crate) into: Option<PathBuf>,
}

/// From which severity on findings are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Errors only
    Error,
    /// Warnings and errors
    Warning,
}

#[derive(Args, Debug)]
pub(crate) struct UnpackArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// Folder to write; new or empty
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Replace the files of an older unpacking in a folder that is not empty
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct PackArgs {
    /// Folder with the files of `unpack`, or of q3map2 -json
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// BSP file to write
    #[arg(value_name = "MAP")]
    pub(crate) output: PathBuf,
    /// Game whose format to write where `luxgrid.json` is missing; else the files' own light styles tell
    #[arg(long, value_name = "NAME", value_parser = games())]
    pub(crate) game: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// One JSON object (`luxgrid/info/1`) instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// Where, game units
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) pos: Vec3,
    /// Normal of the surface that is shaded
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction, allow_hyphen_values = true, default_value = "0,0,1")]
    pub(crate) normal: Vec3,
    /// How a grid is read: the first four are of the legacy grid, the others of the SH grid; may be given once for each
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Vec<Profile>,
    /// Bits by which stored light is shifted, or `blog` for 255/63; default: as the map's own game does
    #[arg(long, value_name = "0-3|blog", value_parser = values::overbright)]
    pub(crate) overbright: Option<Overbright>,
    /// One JSON object (`luxgrid/sample/1`) instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A way of reading one of the two grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// As the game lights models: black corners skipped, ambient × 0.6 + 32
    Ioq3,
    /// Trilinear blend of the stored values
    Plain,
    /// The nearest point alone
    Nearest,
    /// Overlap of a 64 × 64 box, nearest in z
    Area,
    /// Cosine-convolved
    Irradiance,
    /// Coefficients straight along the normal
    Direct,
    /// Cosine-convolved with a window against ringing
    Windowed,
    /// As the SH commit's guide: straight, all eight corners
    ShGuide,
}

impl Profile {
    /// The legacy profile that it is, if it is one.
    pub(crate) fn legacy(self) -> Option<LegacyProfile> {
        match self {
            Self::Ioq3 => Some(LegacyProfile::Ioq3),
            Self::Plain => Some(LegacyProfile::Plain),
            Self::Nearest => Some(LegacyProfile::Nearest),
            Self::Area => Some(LegacyProfile::Area),
            Self::Irradiance | Self::Direct | Self::Windowed | Self::ShGuide => None,
        }
    }

    /// The SH profile that it is, if it is one.
    pub(crate) fn sh(self) -> Option<ShProfile> {
        let (evaluator, corners) = match self {
            Self::Irradiance => (ShEvaluator::Irradiance, ShCorners::SkipSolid),
            Self::Direct => (ShEvaluator::Direct, ShCorners::SkipSolid),
            Self::Windowed => (ShEvaluator::Windowed(1.0), ShCorners::SkipSolid),
            Self::ShGuide => (ShEvaluator::Direct, ShCorners::Guide),
            Self::Ioq3 | Self::Plain | Self::Nearest | Self::Area => return None,
        };
        Some(ShProfile {
            evaluator,
            match_front: false,
            corners,
        })
    }

    /// Word on the command line.
    pub(crate) fn word(self) -> String {
        self.to_possible_value()
            .map(|value| value.get_name().to_owned())
            .unwrap_or_default()
    }
}

#[derive(Args, Debug)]
pub(crate) struct ShotArgs {
    #[command(flatten)]
    pub(crate) map: MapArgs,
    /// PNG file to write
    #[arg(
        short,
        long,
        value_name = "OUT.png",
        required_unless_present = "repeat"
    )]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) camera: CameraArgs,
    /// What surfaces show
    #[arg(long, value_name = "MODE", default_value = "lit", value_parser = ModeParser)]
    pub(crate) mode: RenderMode,
    /// Seconds since the start, for what moves
    #[arg(long, value_name = "S", value_parser = values::finite, allow_hyphen_values = true, default_value = "0")]
    pub(crate) time: f32,
    /// Spheres at the grid points
    #[arg(long, value_name = "WHICH", default_value = "off")]
    pub(crate) probes: ProbesArg,
    /// Radius of the spheres over the smallest cell side
    #[arg(long = "probe-size", value_name = "F", value_parser = values::positive, default_value = "0.1")]
    pub(crate) probe_size: f32,
    /// Farthest spheres from the eye, game units
    #[arg(long = "probe-distance", value_name = "U", value_parser = values::positive, default_value = "1024")]
    pub(crate) probe_distance: f32,
    /// Draw the spheres over walls
    #[arg(long)]
    pub(crate) xray: bool,
    /// Entities over the picture, within 2048 units of the eye; several words are joined by commas
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    pub(crate) entities: Vec<EntityArg>,
    /// A sample sphere at this place, with its corners
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) pin: Option<Vec3>,
    #[command(flatten)]
    pub(crate) visibility: VisibilityArgs,
    /// Bits by which stored light is shifted, or `blog` for 255/63; default: as the map's own game does
    #[arg(long, value_name = "0-3|blog", value_parser = values::overbright)]
    pub(crate) overbright: Option<Overbright>,
    /// Multiplies the light by 2^EV after the overbright clamp
    #[arg(long, value_name = "EV", value_parser = values::finite, allow_hyphen_values = true, default_value = "0")]
    pub(crate) exposure: f32,
    /// What becomes of light above white [default: as the map's own game does]
    #[arg(long, value_name = "RULE")]
    pub(crate) clamp: Option<ClampArg>,
    /// Brightens the middle tones of the finished picture, as `r_gamma`
    #[arg(long, value_name = "G", value_parser = values::gamma, default_value = "1")]
    pub(crate) gamma: f32,
    /// How far a curve's middle may be from its chord before it is halved once more, as `r_subdivisions`: 80, 20, 12, 4 or 1
    #[arg(long, value_name = "U", value_parser = values::subdivisions, default_value = "4")]
    pub(crate) subdivisions: CurveDetail,
    /// Draw the picture N times more and time it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) repeat: Option<u32>,
    /// One JSON object (`luxgrid/shot/1`) with view, adapter and times
    #[arg(long)]
    pub(crate) json: bool,
}

/// Entities that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EntityArg {
    /// Lights, and the distance at which each alone gives white
    Lights,
    /// Arrows to what entities target
    Targets,
    /// Where players begin
    Spawns,
    /// Boxes around brush models
    Models,
}

impl From<EntityArg> for EntityLayer {
    fn from(arg: EntityArg) -> Self {
        match arg {
            EntityArg::Lights => Self::Lights,
            EntityArg::Targets => Self::Targets,
            EntityArg::Spawns => Self::Spawns,
            EntityArg::Models => Self::Models,
        }
    }
}

/// What becomes of light above white.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClampArg {
    /// All channels are scaled back alike
    KeepHue,
    /// Each channel saturates
    Off,
}

impl From<ClampArg> for Clamp {
    fn from(arg: ClampArg) -> Self {
        match arg {
            ClampArg::KeepHue => Self::KeepHue,
            ClampArg::Off => Self::Off,
        }
    }
}

/// Which spheres are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbesArg {
    /// None
    Off,
    /// The legacy grid
    Legacy,
    /// The SH grid
    Sh,
    /// Both, side by side
    Both,
}

impl From<ProbesArg> for ProbeShow {
    fn from(arg: ProbesArg) -> Self {
        match arg {
            ProbesArg::Off => Self::Off,
            ProbesArg::Legacy => Self::Legacy,
            ProbesArg::Sh => Self::Sh,
            ProbesArg::Both => Self::Both,
        }
    }
}

/// What is left out because it cannot be seen.
#[derive(Args, Debug)]
pub(crate) struct VisibilityArgs {
    /// Which doors are shut: untouched ones let one look through, closed ones hide the areas behind them
    #[arg(long, value_name = "STATE", default_value = "open")]
    pub(crate) doors: DoorsArg,
    /// Draw only what can be seen from this place, wherever the eye is (`r_lockpvs`)
    #[arg(long = "lock-pvs-at", value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) lock_pvs_at: Option<Vec3>,
    /// Draw everything, whatever can be seen (`r_novis`)
    #[arg(long = "no-vis")]
    pub(crate) no_vis: bool,
    /// Outline the area portals
    #[arg(long)]
    pub(crate) portals: bool,
}

/// Which doors are shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoorsArg {
    /// All area portals are open, doors are drawn as the game begins with them
    Open,
    /// All doors and their portals are shut
    Closed,
}

/// Parses the words of [`RenderMode`].
#[derive(Clone)]
struct ModeParser;

impl clap::builder::TypedValueParser for ModeParser {
    type Value = RenderMode;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<RenderMode, clap::Error> {
        let words = clap::builder::PossibleValuesParser::new(RenderMode::ALL.map(RenderMode::word));
        let word = words.parse_ref(command, arg, value)?;
        let mode = RenderMode::ALL.into_iter().find(|mode| mode.word() == word);
        Ok(mode.expect("the parser lets only words of modes pass"))
    }

    fn possible_values(
        &self,
    ) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        let words = RenderMode::ALL.map(RenderMode::word);
        Some(Box::new(words.into_iter().map(Into::into)))
    }
}

/// The arguments with every known flag that has one dash given two: `-gridsh` becomes `--gridsh`.
///
/// What is no flag of any subcommand stays: negative numbers, file names, `-o`. Nothing behind `--` is touched.
pub(crate) fn with_two_dashes<I>(command: &clap::Command, args: I) -> Vec<OsString>
where
    I: IntoIterator<Item = OsString>,
{
    let mut flags = BTreeSet::from(["help".to_owned(), "version".to_owned()]);
    for arg in command
        .get_subcommands()
        .flat_map(clap::Command::get_arguments)
    {
        let names = arg.get_long_and_visible_aliases().unwrap_or_default();
        flags.extend(names.into_iter().map(str::to_owned));
    }
    let mut literal = false;
    args.into_iter()
        .map(|arg| {
            literal |= arg == "--";
            let is_flag = arg
                .to_str()
                .and_then(|text| text.strip_prefix('-'))
                .and_then(|text| text.split('=').next())
                .is_some_and(|name| flags.contains(name));
            if is_flag && !literal {
                let mut long = OsString::from("-");
                long.push(arg);
                long
            } else {
                arg
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = line.split(' ').map(OsString::from);
        Cli::try_parse_from(with_two_dashes(&Cli::command(), words))
    }

    #[test]
    fn definitions_are_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn one_dash_and_two_are_equal_and_negative_numbers_pass() {
        for dashes in ["-", "--"] {
            let line = format!("luxtool sample a.bsp {dashes}pos -10,0,5 {dashes}normal -1,0,0");
            let Command::Sample(sample) = parse(&line).unwrap().command else {
                unreachable!("the line says sample")
            };
            assert_eq!(sample.pos, Vec3::new(-10.0, 0.0, 5.0));
            assert_eq!(sample.normal, Vec3::NEG_X);
            let line = format!(
                "luxtool bake a.bsp -o b.bsp {dashes}sh {dashes}gridsh 16 16 32 {dashes}fs_game=x {dashes}pointscale 2"
            );
            let Command::Bake(bake) = parse(&line).unwrap().command else {
                unreachable!("the line says bake")
            };
            assert!(bake.sh);
            assert_eq!(bake.gridsh, Some(vec![16.0, 16.0, 32.0]));
            assert_eq!(bake.map.fs_game, ["x"]);
        }
        assert!(parse("luxtool shot a.bsp -o b.png -view -440,0,32,-90,-5").is_ok());
    }

    #[test]
    fn what_is_unknown_or_incomplete_is_refused() {
        for line in [
            "luxtool",
            "luxtool check a.bsp -fail-on info",
            "luxtool info",
            "luxtool info a.bsp -nosuch",
            "luxtool sample a.bsp",
            "luxtool sample a.bsp -pos 1,2",
            "luxtool sample a.bsp -pos -json",
            "luxtool bake a.bsp",
            "luxtool bake a.bsp -o b.bsp -gridsh 16 16 -sh",
            "luxtool bake a.bsp -o b.bsp -gridsize 0 16 16",
            "luxtool shot a.bsp -o b.png -mode sepia",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_profile_reads_exactly_one_grid() {
        for profile in Profile::value_variants() {
            assert_ne!(profile.legacy().is_some(), profile.sh().is_some());
        }
    }
}
