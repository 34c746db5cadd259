use std::path::PathBuf;
use std::sync::Arc;

use glam::Vec3;

use crate::format::bsp::ShContainer;
use crate::job::{JobContext, Warnings};
use crate::light::{BakeSettings, LightsFrom, Plan, ShCell, plan};
use crate::scene::{MapSource, Scene, grid_cell_size};

/// Which way the SH cell is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShCellBy {
    /// The legacy cell over a factor (`-gridscalesh`).
    #[default]
    Scale,
    /// Three sides (`-gridsh`).
    Sides,
}

/// Where the form takes entity lights from.
#[derive(Clone, Debug, Default)]
pub enum LightsBy {
    /// The BSP and the `.map` or `.ent` beside it, as [`LightsFrom::Auto`] has it.
    #[default]
    Auto,
    /// A `.map` or `.ent` that was chosen (`--lights`).
    File(Arc<MapSource>),
}

/// Two chosen files are the same when they were read at the same time: a file read again may have changed.
impl PartialEq for LightsBy {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Auto, Self::Auto) => true,
            (Self::File(a), Self::File(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl LightsBy {
    /// The chosen file.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Auto => None,
            Self::File(source) => Some(&source.origin),
        }
    }
}

/// What the bake panel edits: the part of [`BakeSettings`] that people change between bakes.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeForm {
    /// Whether the legacy grid is baked.
    pub legacy: bool,
    /// Whether the SH grid is baked.
    pub sh: bool,
    /// Cell of the legacy grid, game units.
    pub legacy_cell: Vec3,
    /// Which of the next two counts.
    pub sh_by: ShCellBy,
    /// Legacy cell over SH cell, at least 0.5.
    pub sh_scale: f32,
    /// Cell of the SH grid, game units.
    pub sh_cell: Vec3,
    /// Threads; 0 takes all cores.
    pub threads: usize,
    /// Where a save puts the SH grid; a map's own place when it is opened.
    pub sh_container: ShContainer,
    /// Source of entity lights; back to [`LightsBy::Auto`] with every other map.
    pub lights: LightsBy,
}

impl Default for BakeForm {
    fn default() -> Self {
        Self {
            legacy: true,
            sh: true,
            legacy_cell: crate::scene::DEFAULT_CELL_SIZE,
            sh_by: ShCellBy::Scale,
            sh_scale: 2.0,
            sh_cell: crate::scene::DEFAULT_CELL_SIZE * 0.5,
            threads: 0,
            sh_container: ShContainer::V47,
            lights: LightsBy::Auto,
        }
    }
}

impl BakeForm {
    /// The form for a newly opened map: its own cell sizes and place of the SH grid, everything else as it was.
    #[must_use]
    pub fn for_scene(self, scene: &Scene) -> Self {
        let legacy_cell = scene.lighting.light_grid.as_ref().map_or_else(
            || grid_cell_size(&scene.bsp, &Warnings::default()),
            |grid| grid.lattice.cell_size,
        );
        let stored = scene.lighting.sh_grid.as_ref();
        let sh_cell = stored.map_or(legacy_cell / self.sh_scale.max(0.5), |grid| {
            grid.lattice.cell_size
        });
        // A plain bake then gives the file's own layout.
        let is_scaled = sh_cell == legacy_cell / self.sh_scale;
        Self {
            legacy_cell,
            sh_cell,
            sh_by: if is_scaled {
                ShCellBy::Scale
            } else {
                ShCellBy::Sides
            },
            sh_container: match scene.bsp.sh_container {
                Some(found) => found,
                None if scene.bsp.can_hold_sh(self.sh_container) => self.sh_container,
                None => ShContainer::Bspx,
            },
            lights: LightsBy::Auto,
            ..self
        }
    }

    /// The settings that it stands for.
    pub fn settings(&self) -> BakeSettings {
        BakeSettings {
            legacy: self.legacy,
            sh: self.sh,
            cell_size: Some(self.legacy_cell),
            sh_cell: match self.sh_by {
                ShCellBy::Scale => ShCell::Scale(self.sh_scale),
                ShCellBy::Sides => ShCell::Explicit(self.sh_cell),
            },
            threads: (self.threads > 0).then_some(self.threads),
            lights: match &self.lights {
                LightsBy::Auto => LightsFrom::Auto,
                LightsBy::File(source) => LightsFrom::File(Arc::clone(source)),
            },
            command_line: format!("-light {}", self.flags().join(" ")),
            ..BakeSettings::default()
        }
    }

    /// The console call that gives the same bytes.
    pub fn command_line(&self, map_file: &str) -> String {
        let quoted = quoted(map_file);
        let mut words = vec![
            "luxtool bake".to_owned(),
            quoted.clone(),
            "-o".to_owned(),
            quoted,
        ];
        words.extend(self.flags());
        if self.sh {
            words.push(format!("--sh-container {}", self.sh_container.word()));
        }
        if let Some(path) = self.lights.path() {
            words.push(format!(
                "--lights {}",
                self::quoted(&path.display().to_string())
            ));
        }
        if self.threads > 0 {
            words.push(format!("-threads {}", self.threads));
        }
        words.join(" ")
    }

    /// The flags that decide about bytes.
    fn flags(&self) -> Vec<String> {
        let three = |v: Vec3| format!("{} {} {}", v.x, v.y, v.z);
        let mut flags = Vec::new();
        // In luxtool's order: the line is noted in the map.
        if self.sh {
            flags.push("-sh".to_owned());
        }
        if !self.legacy {
            flags.push("-nogrid".to_owned());
        }
        flags.push(format!("-gridsize {}", three(self.legacy_cell)));
        if self.sh {
            flags.push(match self.sh_by {
                ShCellBy::Scale => format!("-gridscalesh {}", self.sh_scale),
                ShCellBy::Sides => format!("-gridsh {}", three(self.sh_cell)),
            });
        }
        flags
    }
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) {
        format!("\"{word}\"")
    } else {
        word.to_owned()
    }
}

/// What the form would do to one map, kept until form or map change.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanCache {
    form: BakeForm,
    revision: u64,
    /// The plan, or why there is none.
    pub result: Result<Plan, String>,
}

impl PlanCache {
    /// Plans `form` for `scene`.
    pub fn new(scene: &Scene, revision: u64, form: BakeForm, context: &JobContext) -> Self {
        let result = plan(scene, &form.settings(), context);
        Self {
            form,
            revision,
            result: result.map_err(|error| error.to_string()),
        }
    }

    /// What stands in when planning itself broke down.
    pub fn failed(revision: u64, form: BakeForm, reason: String) -> Self {
        Self {
            form,
            revision,
            result: Err(reason),
        }
    }

    /// Whether it still tells the truth.
    pub fn is_for(&self, revision: u64, form: &BakeForm) -> bool {
        // Threads change no byte, and the place of the grid none of the plan.
        let same = BakeForm {
            threads: self.form.threads,
            sh_container: self.form.sh_container,
            ..form.clone()
        };
        self.revision == revision && self.form == same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_says_what_the_settings_say() {
        let form = BakeForm {
            legacy: false,
            sh_by: ShCellBy::Sides,
            sh_cell: Vec3::new(32.0, 32.0, 48.5),
            threads: 3,
            ..BakeForm::default()
        };
        assert_eq!(
            form.command_line("my map.bsp"),
            "luxtool bake \"my map.bsp\" -o \"my map.bsp\" -sh -nogrid -gridsize 64 64 128 -gridsh 32 32 48.5 --sh-container v47 -threads 3"
        );
        let beside = BakeForm {
            sh_container: ShContainer::Sidecar,
            ..form.clone()
        };
        let line = beside.command_line("x");
        assert!(line.contains(" --sh-container sidecar "), "{line}");
        assert_eq!(beside.settings().command_line, form.settings().command_line);
        let dark = BakeForm {
            sh: false,
            ..beside
        };
        assert!(!dark.command_line("x").contains("container"));
        let chosen = BakeForm {
            lights: LightsBy::File(Arc::new(MapSource {
                origin: "a b.map".into(),
                kind: crate::scene::MapSourceKind::Map,
                entities: crate::format::entities::Entities::default(),
            })),
            ..form.clone()
        };
        assert!(
            chosen
                .command_line("x")
                .ends_with("--lights \"a b.map\" -threads 3")
        );
        assert!(matches!(chosen.settings().lights, LightsFrom::File(_)));
        let settings = form.settings();
        assert!(!settings.legacy && settings.sh);
        assert_eq!(
            settings.sh_cell,
            ShCell::Explicit(Vec3::new(32.0, 32.0, 48.5))
        );
        assert_eq!(settings.threads, Some(3));
        assert_eq!(
            settings.command_line,
            "-light -sh -nogrid -gridsize 64 64 128 -gridsh 32 32 48.5"
        );
    }
}
