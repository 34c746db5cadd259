use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::format::bsp::Format;
use crate::job::JobContext;
use crate::light::GameProfile;
use crate::scene::{BuildOptions, Scene, build_with};
use crate::vfs::{Engine, OpenedMap, SearchOptions, open_demo, open_map};

/// The map's word for the embedded demo.
const DEMO: &str = "demo";

/// The input of every subcommand: a map, and where its game is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MapArgs {
    /// A BSP file, a BSP inside an archive (`pak1.pk3/maps/x.bsp`), an archive with one map, or `demo`
    #[arg(value_name = "MAP")]
    pub(crate) map: String,
    /// Installation folder that holds game folders; may be given more than once
    #[arg(long = "fs_basepath", value_name = "DIR", help_heading = GAME_DATA)]
    pub(crate) fs_basepath: Vec<PathBuf>,
    /// Game folder, the first one wins; may be given more than once
    #[arg(long = "fs_game", value_name = "NAME", help_heading = GAME_DATA)]
    pub(crate) fs_game: Vec<String>,
    /// The user's folder, searched before the installation
    #[arg(long = "fs_homepath", value_name = "DIR", help_heading = GAME_DATA)]
    pub(crate) fs_homepath: Option<PathBuf>,
    /// Whose search order holds: q3map2, ioq3, darkplaces (loose files first), quake3, q3e (archives first)
    #[arg(long, value_name = "NAME", help_heading = GAME_DATA, default_value = Engine::default().word())]
    pub(crate) engine: Engine,
    /// The game, by q3map2's name for it: a bake's defaults; all are read alike
    #[arg(long, value_name = "NAME", help_heading = GAME_DATA, value_parser = games())]
    pub(crate) game: Option<String>,
}

/// Heading of the game data flags.
const GAME_DATA: &str = "Game data";
/// q3map2's names of games.
pub(crate) fn games() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(GameProfile::names())
}

/// The format that q3map2 writes for one of [`games`].
pub(crate) fn format_of(game: &str) -> Format {
    match game {
        "jk2" | "ja" | "sof2" => Format::Rbsp,
        "qfusion" => Format::Fbsp,
        _ => Format::Ibsp,
    }
}

impl MapArgs {
    /// Opens the map and its search path.
    pub(crate) fn open(&self) -> anyhow::Result<OpenedMap> {
        if self.map == DEMO {
            return Ok(open_demo());
        }
        let options = SearchOptions {
            base_paths: self.fs_basepath.clone(),
            home_path: self.fs_homepath.clone(),
            games: self.fs_game.clone(),
            engine: self.engine,
        };
        Ok(open_map(Path::new(&self.map), &options)?)
    }

    /// Opens the map and builds its scene.
    pub(crate) fn build(&self, context: &JobContext) -> anyhow::Result<(OpenedMap, Scene)> {
        self.build_with(BuildOptions::default(), context)
    }

    /// The same with a choice of scripts and curves.
    pub(crate) fn build_with(
        &self,
        options: BuildOptions,
        context: &JobContext,
    ) -> anyhow::Result<(OpenedMap, Scene)> {
        let opened = self.open()?;
        let scene = build_with(&opened, options, context).with_context(|| self.map.clone())?;
        Ok((opened, scene))
    }
}
