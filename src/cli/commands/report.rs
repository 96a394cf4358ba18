//! `ethbus report`: runs as one page to hand out.

use super::Outcome;
use crate::cli::args::ReportArgs;
use say::say;
use sim::files::output::{HTML, ready, replace};
use sim::scenario::plan::PlanError;
use sim::words::units::group;
use std::process::ExitCode;
use study::plot::PlotError;
use study::report::gather::Run;
use study::report::page::page;

/// Makes a page of runs.
///
/// # Errors
/// A run that cannot be read, an instant that no run has, a page that cannot be written. A trace that is cut short gets its page,
/// and fails then.
pub fn report(args: &ReportArgs) -> Outcome {
    ready(&args.out, HTML).map_err(PlotError::from)?;
    let runs = args.runs.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>()?;
    check_instant(args, &runs)?;
    let cut_short: Vec<String> = runs.iter().filter_map(|run| run.told.as_ref()?.cut_short.clone()).collect();
    let page = page(runs, args.at, &command(args))?;
    replace(&args.out, HTML, page.as_bytes()).map_err(PlotError::from)?;
    cut_short.iter().for_each(|why| say(&format!("ethbus: {why}: the page is of what came before\n")));
    Ok(if cut_short.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses an instant that no run has.
fn check_instant(args: &ReportArgs, runs: &[Run]) -> Result<(), PlanError> {
    let ends = runs.iter().filter_map(|run| Some(run.told.as_ref()?.end.get()));
    let end = ends.max().unwrap_or(u64::MAX);
    match args.at.filter(|at| *at > end) {
        Some(at) => {
            let what = format!("{} BT is after the end, which is at {} BT: write less", group(at), group(end));
            Err(PlanError::option("--at", what))
        }
        None => Ok(()),
    }
}

/// The command that makes the page again.
fn command(args: &ReportArgs) -> String {
    let mut words = vec!["ethbus report".to_owned()];
    words.extend(args.runs.iter().map(|path| path.display().to_string()));
    words.push(format!("-o {}", args.out.display()));
    words.extend(args.at.map(|at| format!("--at {at}")));
    words.join(" ")
}
