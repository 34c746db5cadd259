use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::format::bsp::ShContainer;
use crate::format::lattice::Lattice;
use crate::job::Warning;
use crate::light::Baked;
use crate::scene::{Lighting, Scene};
use crate::view::draft::Draft;
use crate::view::entities::EntityIndex;
use crate::view::mode::RenderMode;
use crate::view::options::GridSource;

/// Which file a map is, as far as people and a save need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapFile {
    /// A file on disk, which a save may replace.
    Disk(PathBuf),
    /// A member of an archive: read only.
    Archive {
        /// The archive.
        archive: PathBuf,
        /// Name of the map inside.
        member: String,
    },
    /// The embedded demo: read only.
    Demo,
}

impl MapFile {
    /// Where a plain save goes; `None` when only “Save as…” is possible.
    pub fn writable(&self) -> Option<&Path> {
        match self {
            Self::Disk(path) => Some(path),
            Self::Archive { .. } | Self::Demo => None,
        }
    }

    /// For titles and lists.
    pub fn text(&self) -> String {
        match self {
            Self::Disk(path) => path.display().to_string(),
            Self::Archive { archive, member } => format!("{}/{member}", archive.display()),
            Self::Demo => "embedded demo".to_owned(),
        }
    }
}

/// Both grids of a map with what is known about their points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridSet {
    /// The grids.
    pub lighting: Lighting,
    /// Per point of the legacy grid, whether it is in solid; empty without a grid.
    pub blocked_legacy: Vec<bool>,
    /// Per point of the SH grid, whether it is in solid; empty without a grid.
    pub blocked_sh: Vec<bool>,
}

impl GridSet {
    /// Placement of one of the grids; `None` when the map has none.
    pub fn lattice(&self, source: GridSource) -> Option<Lattice> {
        match source {
            GridSource::Legacy => Some(self.lighting.light_grid.as_ref()?.lattice),
            GridSource::Sh => Some(self.lighting.sh_grid.as_ref()?.lattice),
        }
    }

    /// Per point of one of the grids, whether it is in solid; empty without a grid.
    pub fn blocked(&self, source: GridSource) -> &[bool] {
        match source {
            GridSource::Legacy => &self.blocked_legacy,
            GridSource::Sh => &self.blocked_sh,
        }
    }
}

/// A finished bake beside the grids that the file holds.
#[derive(Clone, Debug)]
pub struct BakeResult {
    /// What the compiler made; a save puts it into the file.
    pub baked: Arc<Baked>,
    /// The map's grids with the baked ones in their place.
    pub grids: Arc<GridSet>,
    /// Time from start to end, seconds.
    pub secs: f32,
    /// Whether the file already holds it.
    pub saved: bool,
}

/// Which of the two sets of grids is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// A: what the file holds.
    #[default]
    Original,
    /// B: the bake of this session.
    Baked,
}

/// An opened map.
#[derive(Clone, Debug)]
pub struct LoadedMap {
    /// Tells this opening from any other.
    pub revision: u64,
    /// Everything the file holds, lighting A included.
    pub scene: Arc<Scene>,
    /// The file.
    pub file: MapFile,
    /// Lighting A with its points in solid.
    pub original: Arc<GridSet>,
    /// Lighting B.
    pub bake: Option<BakeResult>,
    /// Which is shown.
    pub side: Side,
    /// The grids of the running bake.
    pub draft: Option<Draft>,
    /// What had to be mended or replaced while loading.
    pub warnings: Vec<Warning>,
    /// Its entities.
    pub entities: Arc<EntityIndex>,
}

impl LoadedMap {
    /// A map as it comes from its file.
    pub fn new(
        revision: u64,
        scene: Arc<Scene>,
        file: MapFile,
        original: Arc<GridSet>,
        warnings: Vec<Warning>,
    ) -> Self {
        Self {
            revision,
            entities: Arc::new(EntityIndex::new(&scene)),
            scene,
            file,
            original,
            bake: None,
            side: Side::Original,
            draft: None,
            warnings,
        }
    }

    /// The grids that are shown.
    pub fn shown(&self) -> &GridSet {
        self.shown_draft().map_or(self.kept(), Draft::grids)
    }

    /// Why there is nothing to see of the map in this mode with the grids that are shown; `None` when there is.
    pub fn missing_in(&self, mode: RenderMode) -> Option<&'static str> {
        mode.missing_in(&self.scene, &self.shown().lighting)
    }

    /// The grids of the running bake, once they are shown.
    pub fn shown_draft(&self) -> Option<&Draft> {
        self.draft.as_ref().filter(|draft| draft.is_shown())
    }

    /// The finished grids that are shown when no bake runs.
    pub fn kept(&self) -> &Arc<GridSet> {
        match (self.side, &self.bake) {
            (Side::Baked, Some(bake)) => &bake.grids,
            _ => &self.original,
        }
    }

    /// Whether a bake would be lost by closing.
    pub fn is_unsaved(&self) -> bool {
        self.bake.as_ref().is_some_and(|bake| !bake.saved)
    }

    /// Whether a save with `container` would put the file's own SH grid somewhere else.
    pub fn moves_sh(&self, container: ShContainer) -> bool {
        let found = self.scene.bsp.sh_container;
        found.is_some_and(|found| found != container)
    }

    /// File name for messages and command lines.
    pub fn file_name(&self) -> String {
        match &self.file {
            MapFile::Disk(path) => path.file_name().map_or_else(
                || format!("{}.bsp", self.scene.name),
                |name| name.to_string_lossy().into_owned(),
            ),
            MapFile::Archive { .. } | MapFile::Demo => format!("{}.bsp", self.scene.name),
        }
    }
}
