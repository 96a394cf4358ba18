//! `ethbus story`: the story of backoff as a page of HTML.

use super::validate::plan;
use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::StoryArgs;
use crate::show::{progress, say};
use crate::study::plot::PlotError;
use crate::study::story::{Options, StoryError, run, titles};
use sim::files::output::{HTML, ready};
use sim::scenario::plan::PlanError;
use sim::words::units::many;
use std::process::ExitCode;
use std::sync::Mutex;

/// Runs every section and writes the page.
///
/// # Errors
/// Sections that there are not; a page that cannot be written.
pub fn story(args: &StoryArgs) -> Outcome {
    let only = args.some.only.as_deref().unwrap_or_default();
    check_section(only)?;
    ready(&args.out, HTML).map_err(PlotError::from)?;
    match with_options((args.seeded.seed, args.some.quick, only), run)? {
        Ok(page) => {
            page.write(&args.out)?;
            say(&format!("ethbus: {}: {}\n", many(page.sections.len() as u64, "section"), args.out.display()));
            Ok(ExitCode::SUCCESS)
        }
        Err(StoryError::Interrupted) => {
            say("ethbus: interrupted; no page was written\n");
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(error) => Err(error.into()),
    }
}

/// Has something of the story run, with a bar of progress and until an interrupt.
///
/// # Errors
/// Signals that cannot be handled.
pub(super) fn with_options<T>(
    (seed, quick, only): (u64, bool, &str),
    run: impl FnOnce(&Options) -> Result<T, StoryError>,
) -> Result<Result<T, StoryError>, CommandError> {
    let interrupts = interrupts()?;
    let bar = Mutex::new(progress("running", 1.0));
    let go_on = |part: f64| {
        (bar.lock().expect("no thread panics: a panic ends the process"))(part);
        interrupts.is_empty()
    };
    Ok(run(&Options { seed, quick, only, plan: &plan, go_on: &go_on }))
}

fn check_section(only: &str) -> Result<(), PlanError> {
    let titles = titles();
    if titles.iter().any(|title| title.to_lowercase().contains(&only.to_lowercase())) {
        return Ok(());
    }
    let what = format!("no section has `{only}` in its title; there are: {}", titles.join("; "));
    Err(PlanError::option("--only", what))
}
