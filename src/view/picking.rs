use std::sync::Arc;

use glam::Vec3;

use crate::scene::Scene;
use crate::view::command::{Command, Effect, PickPurpose, Tab};
use crate::view::entities::{EntityKind, camera_at};
use crate::view::selection::{self, SurfaceHit};
use crate::view::state::State;
use crate::view::surface_report::{SurfaceReport, outline};

/// A surface that was clicked, with what is known about it there.
#[derive(Clone, Debug)]
pub struct PickedSurface {
    /// Where it was clicked.
    pub hit: SurfaceHit,
    /// What is known.
    pub report: Arc<SurfaceReport>,
    /// Its boundary, world positions.
    pub outline: Arc<Vec<[Vec3; 2]>>,
}

impl PickedSurface {
    pub(super) fn new(scene: &Scene, hit: SurfaceHit) -> Self {
        Self {
            report: Arc::new(SurfaceReport::new(scene, &hit)),
            outline: Arc::new(outline(scene, hit.surface)),
            hit,
        }
    }
}

impl State {
    pub(super) fn apply_pick(&mut self, command: &Command) -> Option<Effect> {
        match *command {
            Command::Click { ray, purpose } => {
                let scene = Arc::clone(&self.map.as_ref()?.scene);
                return Some(Effect::Pick {
                    scene,
                    ray,
                    purpose,
                    doors: self.options.doors,
                });
            }
            Command::Picked { ray, purpose, hit } => match purpose {
                PickPurpose::Select => {
                    let map = self.map.as_ref()?;
                    let probes = &self.options.probes;
                    let world_t = hit.map(|hit| hit.t);
                    self.selected = selection::pick_probe(
                        map.shown(),
                        probes,
                        &ray,
                        self.camera.right(),
                        world_t,
                    );
                    // A sphere in front of a surface goes first, and the surface behind it is none of the click's.
                    let hit = hit.filter(|_| self.selected.is_none());
                    self.surface = hit.map(|hit| PickedSurface::new(&map.scene, hit));
                    if self.selected.is_some() {
                        self.panels.tab = Tab::Probe;
                    } else if let Some(hit) = hit {
                        self.panels.tab = Tab::Surface;
                        if let Some(door) = map.scene.door_of(hit.surface) {
                            self.options.doors.toggle(&map.scene.doors, door);
                        }
                    }
                }
                PickPurpose::Pin => {
                    if let Some(hit) = hit {
                        self.options.sample.pinned = Some(hit.sample_position());
                        self.panels.tab = Tab::Sample;
                    }
                }
                PickPurpose::Hover => self.hover = hit.map(|hit| hit.sample_position()),
            },
            Command::SelectProbe(probe) => {
                let map = self.map.as_ref()?;
                if selection::probe_position(map.shown(), probe).is_some() {
                    self.selected = Some(probe);
                    self.panels.tab = Tab::Probe;
                }
            }
            Command::SelectEntity(number) => {
                let map = self.map.as_ref()?;
                let entry = map.entities.get(number)?;
                if entry.kind != EntityKind::World {
                    self.camera = camera_at(&map.scene.bsp, &self.camera, &entry.bounds);
                }
                self.entity = Some(number);
                self.panels.tab = Tab::Entities;
            }
            Command::StepProbe(step) => {
                let (map, probe) = (self.map.as_ref()?, self.selected?);
                self.selected = selection::stepped(map.shown(), probe, step).or(self.selected);
            }
            Command::PinSample(position) if position.is_finite() => {
                self.options.sample.pinned = Some(position);
                self.panels.tab = Tab::Sample;
            }
            Command::Unpin => self.options.sample.pinned = None,
            Command::EndHover => self.hover = None,
            Command::Escape => return self.escape(),
            _ => {}
        }
        None
    }

    fn escape(&mut self) -> Option<Effect> {
        if self.baking.is_some() {
            return Some(Effect::CancelBake);
        }
        if self.panels.path_field.take().is_some() || self.pending.take().is_some() {
            return None;
        }
        if self.panels.help {
            self.panels.help = false;
        } else if self.banner.take().is_none()
            && self.selected.take().is_none()
            && self.surface.take().is_none()
            && self.entity.take().is_none()
        {
            self.options.sample.pinned = None;
        }
        None
    }
}
