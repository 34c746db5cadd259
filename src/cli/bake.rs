use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use anyhow::{Context, bail};

use crate::cli::bake_args::{BakeArgs, ProgressArg};
use crate::cli::bake_report::{PlanInfo, ReportInfo, Summary};
use crate::cli::bake_save::save_result;
use crate::cli::error::Exit;
use crate::cli::output::{Document, Output, json_bytes, warning_lines};
use crate::cli::progress::{PROGRESS_INTERVAL, ProgressView};
use crate::format::bsp::SIDECAR_EXTENSION;
use crate::job::{CancelToken, Cancelled, Job, JobContext, JobError, JobState, Warnings};
use crate::light::{BakeSettings, Baked, bake, plan};
use crate::scene::Scene;
use crate::vfs::save;

/// Name and version of the JSON object.
const SCHEMA: &str = "luxgrid/bake/1";
/// File names that are archives.
const ARCHIVES: [&str; 2] = ["pk3", "zip"];

pub(crate) fn run(args: &BakeArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let settings = args.settings()?;
    for target in args.output.iter().chain(&args.report) {
        refuse_archive(target)?;
        refuse_lost(target)?;
    }
    let context = JobContext::default();
    cancel_on_interrupt(&context.cancel);
    let (_, scene) = args.map.build_with(args.build_options(), &context)?;
    // The bake says again what its plan has to say.
    let plan_context = if args.dry_run {
        context.clone()
    } else {
        with_own_warnings(&context)
    };
    context.progress.begin("plan", 0);
    let planned = plan(&scene, &settings, &plan_context).with_context(|| args.map.map.clone())?;
    let mut summary = Summary {
        output: None,
        output_bytes: None,
        command_line: settings.command_line.clone(),
        plan: PlanInfo::new(&planned),
        report: None,
        warnings: warning_lines(&context.warnings),
    };
    if !args.dry_run {
        let Some(target) = &args.output else {
            bail!("no output file is named");
        };
        let scene = Arc::new(scene);
        let (baked, warnings) = run_job(&scene, settings, args.progress, &context, output)?;
        let container = args.sh_container.map(Into::into);
        let written = save_result(&scene, &baked, container, target, &context)?;
        if written.has_sidecar {
            let beside = target.with_extension(SIDECAR_EXTENSION);
            writeln!(output.err(), "wrote {}", beside.display())?;
        }
        let bytes = written.bytes;
        writeln!(output.err(), "wrote {}, {bytes} bytes", target.display())?;
        summary.output = Some(target.display().to_string());
        summary.output_bytes = Some(bytes);
        summary.report = Some(ReportInfo::new(&baked.report, &context));
        summary.warnings.extend(warning_lines(&warnings));
    }
    present(args, &summary, output)?;
    Ok(Exit::Done)
}

fn present(args: &BakeArgs, summary: &Summary, output: &mut Output<'_>) -> anyhow::Result<()> {
    let document = Document::new(SCHEMA, &args.map.map, summary);
    if let Some(path) = &args.report {
        save(path, &json_bytes(&document)?)?;
    }
    if args.json {
        output.json(&document)?;
    } else {
        summary.print(output.out())?;
        output.warnings(&summary.warnings)?;
    }
    Ok(())
}

/// What cannot be written is said before the bake, not after it.
fn refuse_lost(target: &Path) -> anyhow::Result<()> {
    let parent = target.parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(folder) = parent.filter(|folder| !folder.is_dir()) {
        bail!("{}: no such folder", folder.display());
    }
    if target.is_dir() {
        bail!("{}: is a folder", target.display());
    }
    Ok(())
}

/// A map inside an archive is read, never written.
fn refuse_archive(target: &Path) -> anyhow::Result<()> {
    let archive = target.ancestors().find(|part| {
        let suffix = part.extension().and_then(|suffix| suffix.to_str());
        let named = suffix.is_some_and(|suffix| {
            ARCHIVES
                .iter()
                .any(|known| suffix.eq_ignore_ascii_case(known))
        });
        named && !part.is_dir()
    });
    match archive {
        Some(archive) => bail!(
            "{} is an archive and is not written into; name a .bsp file",
            archive.display()
        ),
        None => Ok(()),
    }
}

/// Progress and cancellation of `context` with a list of warnings of its own.
fn with_own_warnings(context: &JobContext) -> JobContext {
    JobContext {
        warnings: Warnings::default(),
        ..context.clone()
    }
}

/// Bakes on a thread of its own while this one shows where it stands.
fn run_job(
    scene: &Arc<Scene>,
    settings: BakeSettings,
    how: ProgressArg,
    context: &JobContext,
    output: &mut Output<'_>,
) -> anyhow::Result<(Baked, Warnings)> {
    let (wake, woken) = sync_channel(1);
    let job_scene = Arc::clone(scene);
    let job = Job::spawn_in(
        with_own_warnings(context),
        "bake",
        move || {
            // A full channel means that the owner is about to look anyway.
            let _ = wake.try_send(());
        },
        move |context| bake(&job_scene, &settings, context),
    )
    .context("cannot start a thread")?;
    let mut view = ProgressView::new(how);
    let result = loop {
        match job.poll() {
            JobState::Running(snapshot) => {
                view.update(&snapshot, output.err())?;
                // A time-out is as good as a wake-up: the next poll tells.
                let _ = woken.recv_timeout(PROGRESS_INTERVAL);
            }
            JobState::Done(result) => break result,
            JobState::Taken => bail!("the bake's result was taken before"),
        }
    };
    view.finish(&job.context().progress.snapshot(), output.err())?;
    let warnings = job.context().warnings.clone();
    match result {
        Ok(baked) => Ok((baked, warnings)),
        Err(JobError::Cancelled) => Err(Cancelled.into()),
        Err(JobError::Failed(error)) => Err(error.into()),
        Err(JobError::Panicked(message)) => bail!("internal error: {message}"),
    }
}

/// An interrupt or a request to end cancels the bake; a second one ends the process at once.
fn cancel_on_interrupt(cancel: &CancelToken) {
    let cancel = cancel.clone();
    let handler = move || {
        if cancel.is_cancelled() {
            std::process::exit(i32::from(Exit::Cancelled.code()));
        }
        cancel.cancel();
    };
    // A process that has a handler already keeps it: then an interrupt does what it did before.
    if let Err(error) = ctrlc::set_handler(handler) {
        log::debug!("no interrupt handler: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_not_written_into() {
        for path in ["a/pak0.pk3", "pak0.PK3/maps/x.bsp", "x.zip"] {
            assert!(refuse_archive(Path::new(path)).is_err(), "{path}");
        }
        for path in ["a/x.bsp", "x"] {
            assert!(refuse_archive(Path::new(path)).is_ok(), "{path}");
        }
    }
}
