use std::io::Write;

use serde::Serialize;

use crate::cli::lights::LightInfo;
use crate::cli::output::WarningLine;
use crate::format::lattice::Lattice;
use crate::job::{JobContext, StageTime, peak_memory};
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
    /// Threads that it works with.
    threads: usize,
    memory: MemoryInfo,
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

/// What a bake takes at most beside the opened map, bytes.
#[derive(Serialize)]
struct MemoryInfo {
    grids: u64,
    lights: u64,
    hierarchy: u64,
    threads: u64,
    output: u64,
    /// All together.
    total: u64,
    /// What it may take.
    budget: u64,
}

#[derive(Serialize)]
pub(crate) struct ReportInfo {
    prepare_secs: f32,
    trace_secs: f32,
    /// The whole call up to here, stage by stage in order.
    stages: Vec<StageInfo>,
    threads: usize,
    rays: u64,
    /// Millions a second of tracing, of all threads and of one.
    mrays_per_sec: f32,
    mrays_per_thread_sec: f32,
    /// Gathering places times lights.
    pairs: u64,
    /// Those of lights that may reach the place's block of neighbours; the others cost nothing.
    near_pairs: u64,
    points_in_solid: u64,
    lights: LightInfo,
    /// The most memory that the process has held, bytes; null where the system does not say.
    peak_memory: Option<u64>,
}

#[derive(Serialize)]
struct StageInfo {
    stage: &'static str,
    secs: f32,
}

impl ReportInfo {
    /// Of a finished bake; `context` knows the stages before and after it.
    pub(crate) fn new(report: &BakeReport, context: &JobContext) -> Self {
        let millions = report.rays as f32 * 1e-6;
        let rate = if report.trace_secs > 0.0 {
            millions / report.trace_secs
        } else {
            0.0
        };
        let stages = context.progress.stages().into_iter();
        Self {
            prepare_secs: report.prepare_secs,
            trace_secs: report.trace_secs,
            stages: stages
                .map(|StageTime { stage, secs }| StageInfo { stage, secs })
                .collect(),
            threads: report.threads,
            rays: report.rays,
            mrays_per_sec: rate,
            mrays_per_thread_sec: rate / report.threads.max(1) as f32,
            pairs: report.pairs.all,
            near_pairs: report.pairs.near,
            points_in_solid: report.points_in_solid,
            lights: report.lights.into(),
            peak_memory: peak_memory(),
        }
    }
}

impl PlanInfo {
    pub(crate) fn new(plan: &Plan) -> Self {
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
        let rays = points.saturating_mul(plan.lights.total());
        let rate = RAYS_PER_SEC * plan.threads.max(1) as u64;
        let memory = &plan.memory;
        Self {
            legacy: grid(plan.legacy, plan.legacy_bytes, plan.legacy_requested),
            sh: grid(plan.sh, plan.sh_bytes, plan.sh_requested),
            lights,
            light_file: plan
                .light_file
                .as_ref()
                .map(|path| path.display().to_string()),
            threads: plan.threads,
            memory: MemoryInfo {
                grids: memory.grids,
                lights: memory.lights,
                hierarchy: memory.hierarchy,
                threads: memory.threads,
                output: memory.output,
                total: memory.total(),
                budget: plan.memory_budget,
            },
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
        let memory = &self.plan.memory;
        writeln!(
            out,
            "memory    at most {} MiB beside the map, {} allowed",
            memory.total.div_ceil(1 << 20),
            memory.budget >> 20
        )?;
        match &self.report {
            None => writeln!(
                out,
                "estimate  at most {} rays, {:.1} s",
                self.plan.rays_at_most, self.plan.secs_at_most
            ),
            Some(report) => {
                writeln!(
                    out,
                    "done      {} rays, {:.2} s to prepare, {:.2} s to trace, {:.2} million a second; {} points in solid",
                    report.rays,
                    report.prepare_secs,
                    report.trace_secs,
                    report.mrays_per_sec,
                    report.points_in_solid
                )?;
                let stages = report.stages.iter();
                let stages: Vec<String> = stages
                    .map(|StageInfo { stage, secs }| format!("{stage} {secs:.2}"))
                    .collect();
                writeln!(
                    out,
                    "seconds   {}; {} threads",
                    stages.join(", "),
                    report.threads
                )?;
                writeln!(
                    out,
                    "pairs     {} of places and lights, {} near enough to look at",
                    report.pairs, report.near_pairs
                )
            }
        }
    }
}
