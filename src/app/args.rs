use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use glam::Vec3;

use crate::vfs::{Engine, SearchOptions};
use crate::view::{ProbeShow, RenderMode};

/// Map viewer and light-grid debugger for the Quake 3 family.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "luxgrid", version, about)]
pub struct Args {
    /// A BSP, a pk3 with one map, or a BSP inside a pk3; the embedded demo when left out
    pub file: Option<PathBuf>,
    /// Start view: position, heading and (positive down) pitch in degrees
    #[arg(long, value_name = "X,Y,Z,YAW[,PITCH]", allow_hyphen_values = true, value_parser = parse_view)]
    pub at: Option<StartView>,
    /// What surfaces show: lit, lightmap, fullbright, vertex, normals, wireframe
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    pub mode: Option<RenderMode>,
    /// Which spheres are drawn: off, legacy, sh, both
    #[arg(long, value_name = "KIND", value_parser = parse_probes)]
    pub probes: Option<ProbeShow>,
    /// Pins the sample sphere
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_position)]
    pub pin: Option<Vec3>,
    /// Window size, points
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<(u32, u32)>,
    /// Installation folder that holds game folders
    #[arg(long = "fs_basepath", value_name = "DIR")]
    pub base_paths: Vec<PathBuf>,
    /// Game folder name
    #[arg(long = "fs_game", value_name = "NAME")]
    pub games: Vec<String>,
    /// The user's folder, searched before the base paths
    #[arg(long = "fs_homepath", value_name = "DIR")]
    pub home_path: Option<PathBuf>,
    /// Whose search order holds: q3map2, ioq3, darkplaces (loose files first), quake3, q3e (archives first)
    #[arg(long, value_name = "NAME", default_value = Engine::default().word())]
    pub engine: Engine,
}

/// Where the view starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartView {
    /// Eye, game units.
    pub eye: Vec3,
    /// Heading, radians.
    pub yaw: f32,
    /// Positive looks down, radians.
    pub pitch: f32,
}

impl Args {
    /// Reads the command line, the program's name first; long flags may have one dash as in q3map2.
    ///
    /// # Errors
    /// What clap says, which is also how help and version are asked for.
    pub fn parse_words(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        Self::try_parse_from(words.into_iter().map(two_dashes))
    }

    /// Where game data is looked for.
    pub fn search(&self) -> SearchOptions {
        SearchOptions {
            base_paths: self.base_paths.clone(),
            home_path: self.home_path.clone(),
            games: self.games.clone(),
            engine: self.engine,
        }
    }
}

/// `-word` becomes `--word`; one letter, numbers and file names stay.
fn two_dashes(word: OsString) -> OsString {
    let long = word.to_str().and_then(|text| {
        let rest = text.strip_prefix('-')?;
        let mut letters = rest.chars();
        let is_word = letters.next()?.is_ascii_alphabetic() && letters.next().is_some();
        is_word.then(|| format!("--{rest}"))
    });
    long.map_or(word, OsString::from)
}

fn parse_numbers(text: &str) -> Result<Vec<f32>, String> {
    text.split(',')
        .map(|word| match word.trim().parse::<f32>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(format!("“{word}” is no number")),
        })
        .collect()
}

fn parse_view(text: &str) -> Result<StartView, String> {
    match parse_numbers(text)?[..] {
        [x, y, z, yaw] => Ok((x, y, z, yaw, 0.0)),
        [x, y, z, yaw, pitch] => Ok((x, y, z, yaw, pitch)),
        _ => Err("four or five numbers are needed: x,y,z,yaw[,pitch]".to_owned()),
    }
    .map(|(x, y, z, yaw, pitch)| StartView {
        eye: Vec3::new(x, y, z),
        yaw: yaw.to_radians(),
        pitch: pitch.clamp(-89.9, 89.9).to_radians(),
    })
}

fn parse_position(text: &str) -> Result<Vec3, String> {
    match parse_numbers(text)?[..] {
        [x, y, z] => Ok(Vec3::new(x, y, z)),
        _ => Err("three numbers are needed: x,y,z".to_owned()),
    }
}

fn parse_mode(text: &str) -> Result<RenderMode, String> {
    let found = RenderMode::ALL.into_iter().find(|mode| mode.word() == text);
    found.ok_or_else(|| {
        let words = RenderMode::ALL.map(RenderMode::word).join(", ");
        format!("modes are {words}")
    })
}

fn parse_probes(text: &str) -> Result<ProbeShow, String> {
    match text {
        "off" => Ok(ProbeShow::Off),
        "legacy" => Ok(ProbeShow::Legacy),
        "sh" => Ok(ProbeShow::Sh),
        "both" => Ok(ProbeShow::Both),
        _ => Err("kinds are off, legacy, sh, both".to_owned()),
    }
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text
        .split_once('x')
        .ok_or_else(|| "WIDTHxHEIGHT is needed".to_owned())?;
    let side = |word: &str| match word.parse::<u32>() {
        Ok(value) if (64..=16384).contains(&value) => Ok(value),
        _ => Err(format!("“{word}” is no size from 64 to 16384")),
    };
    Ok((side(width)?, side(height)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::parse_words(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        let args = parse("luxgrid a.bsp -fs_basepath /q3 --fs_game oa -fs_game mod -mode normals")
            .unwrap();
        assert_eq!(args.base_paths, [PathBuf::from("/q3")]);
        assert_eq!(args.games, ["oa", "mod"]);
        assert_eq!(args.mode, Some(RenderMode::Normals));
        assert_eq!(args.file, Some(PathBuf::from("a.bsp")));
    }

    #[test]
    fn views_may_be_negative_and_mistakes_are_said() {
        let args = parse("luxgrid --at -10,20,-30.5,90 --pin 1,2,3 --size 640x480").unwrap();
        let at = args.at.unwrap();
        assert_eq!(at.eye, Vec3::new(-10.0, 20.0, -30.5));
        assert!((at.yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
        assert_eq!(args.pin, Some(Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(args.size, Some((640, 480)));
        for wrong in [
            "--at 1,2",
            "--mode sepia",
            "--size 5x5",
            "--probes all",
            "--at 1,2,nan,4",
        ] {
            assert!(parse(&format!("luxgrid {wrong}")).is_err(), "{wrong}");
        }
    }
}
