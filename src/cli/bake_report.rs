use std::io::Write;

use serde::Serialize;

use crate::cli::lights::LightInfo;
use crate::cli::output::WarningLine;
use crate::format::lattice::Lattice;
use crate::light::{BakeReport, Plan};

/// Shadow rays a second and thread that the estimate takes: the slow end of what maps of 10 to 30 thousand triangles gave.
const RAYS_PER_SEC: u64 = 2_000_000;

/// What was planned, and what came of it.
#[derive(Serialize)]
pub(crate) struct Summary {
    /// File written; null for `--dry-run`.
    pub(crate) output: Option<String>,
    pub(crate) output_bytes: Option<usize>,
    pub(crate) command_line: String,
    pub(crate) plan: PlanInfo,
    pub(crate) report: Option<ReportInfo>,
    pub(crate) warnings: Vec<WarningLine>,
}

#[derive(Serialize)]
pub(crate) struct PlanInfo {
    legacy: Option<PlannedGrid>,
    sh: Option<PlannedGrid>,
    lights: LightInfo,
    /// The file that light entities are added from.
    light_file: Option<String>,
    /// Points times lights: no bake traces more from grid points to lights.
    rays_at_most: u64,
    /// The time for that many at a cautious rate.
    secs_at_most: f32,
}

#[derive(Serialize)]
struct PlannedGrid {
    counts: [u32; 3],
    cell_size: [f32; 3],
    /// When rounding or the cap on points changed it.
    cell_size_requested: Option<[f32; 3]>,
    points: u64,
    bytes: u64,
}

#[derive(Serialize)]
pub(crate) struct ReportInfo {
    prepare_secs: f32,
    trace_secs: f32,
    rays: u64,
    points_in_solid: u64,
    lights: LightInfo,
}

impl From<&BakeReport> for ReportInfo {
    fn from(report: &BakeReport) -> Self {
        Self {
            prepare_secs: report.prepare_secs,
            trace_secs: report.trace_secs,
            rays: report.rays,
            points_in_solid: report.points_in_solid,
            lights: report.lights.into(),
        }
    }
}

impl PlanInfo {
    pub(crate) fn new(plan: &Plan, threads: Option<usize>) -> Self {
        let grid = |lattice: Option<Lattice>, bytes, requested: Option<glam::Vec3>| {
            lattice.map(|lattice| PlannedGrid {
                counts: lattice.counts.to_array(),
                cell_size: lattice.cell_size.to_array(),
                cell_size_requested: requested.map(|size| size.to_array()),
                points: lattice.len(),
                bytes,
            })
        };
        let lights = LightInfo::from(plan.lights);
        let points = [plan.legacy, plan.sh]
            .iter()
            .flatten()
            .map(Lattice::len)
            .sum::<u64>();
        let rays = points.saturating_mul(lights.total());
        let threads =
            threads.or_else(|| std::thread::available_parallelism().ok().map(usize::from));
        let rate = RAYS_PER_SEC * threads.unwrap_or(1) as u64;
        Self {
            legacy: grid(plan.legacy, plan.legacy_bytes, plan.legacy_requested),
            sh: grid(plan.sh, plan.sh_bytes, plan.sh_requested),
            lights,
            light_file: plan
                .light_file
                .as_ref()
                .map(|path| path.display().to_string()),
            rays_at_most: rays,
            secs_at_most: rays as f32 / rate as f32,
        }
    }
}

impl Summary {
    pub(crate) fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "settings  {}", self.command_line)?;
        for (name, grid) in [("legacy", &self.plan.legacy), ("SH", &self.plan.sh)] {
            let Some(grid) = grid else {
                writeln!(out, "{name} grid off")?;
                continue;
            };
            let [x, y, z] = grid.counts;
            writeln!(
                out,
                "{name} grid {x}×{y}×{z} = {} points, {} bytes, cell {:?}",
                grid.points, grid.bytes, grid.cell_size
            )?;
            if let Some(requested) = grid.cell_size_requested {
                writeln!(
                    out,
                    "          cell asked for {requested:?}, changed by rounding or the cap on points"
                )?;
            }
        }
        writeln!(out, "lights    {}", self.plan.lights)?;
        if let Some(path) = &self.plan.light_file {
            writeln!(out, "          added from {path}")?;
        }
        match &self.report {
            None => writeln!(
                out,
                "estimate  at most {} rays, {:.1} s",
                self.plan.rays_at_most, self.plan.secs_at_most
            ),
            Some(report) => writeln!(
                out,
                "done      {} rays, {:.2} s to prepare, {:.2} s to trace; {} points in solid",
                report.rays, report.prepare_secs, report.trace_secs, report.points_in_solid
            ),
        }
    }
}
