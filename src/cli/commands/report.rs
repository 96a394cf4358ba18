//! `ethbus report`: runs as one page to hand out.

use super::{CommandError, Outcome};
use crate::cli::args::ReportArgs;
use crate::show::say;
use crate::study::plot::PlotError;
use crate::study::plot::picture::{Kind, write};
use crate::study::report::figures::plots;
use crate::study::report::gather::Run;
use crate::study::report::page::{Stretch, page};
use sim::files::output::{HTML, ready, replace};
use sim::scenario::plan::PlanError;
use sim::words::units::group;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Makes a page of runs, and their plots as files if they are wanted.
///
/// # Errors
/// A run that cannot be read, a stretch that no run has, a page that cannot be written. A log that is cut short gets its page,
/// and fails then.
pub fn report(args: &ReportArgs) -> Outcome {
    ready(&args.out, HTML).map_err(PlotError::from)?;
    let runs = args.runs.iter().map(|path| Run::read(path)).collect::<Result<Vec<Run>, _>>()?;
    check_stretch(args, &runs)?;
    let plots = plots(&runs);
    let stretch = Stretch { from: args.from, to: args.to, open: args.at };
    let page = page(&runs, &plots, stretch, &command(args))?;
    replace(&args.out, HTML, page.as_bytes()).map_err(PlotError::from)?;
    let seeds = runs.iter().map(|run| run.results.seed.to_string()).collect::<Vec<_>>().join(", ");
    for (folder, kind, ending) in [(&args.svg, Kind::Svg, "svg"), (&args.png, Kind::Png, "png")] {
        let Some(folder) = folder else { continue };
        make(folder)?;
        for plot in &plots {
            write(&folder.join(format!("{}.{ending}", plot.name)), kind, &plot.picture(kind)?, &seeds)?;
        }
    }
    let cut_short: Vec<&String> = runs.iter().filter_map(|run| run.told.as_ref()?.cut_short.as_ref()).collect();
    cut_short.iter().for_each(|why| say(&format!("ethbus: {why}: the page is of what came before\n")));
    Ok(if cut_short.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses a stretch that no run has.
fn check_stretch(args: &ReportArgs, runs: &[Run]) -> Result<(), PlanError> {
    let ends = runs.iter().filter_map(|run| Some(run.told.as_ref()?.end.get()));
    let end = ends.max().unwrap_or(u64::MAX);
    for (option, at) in [("--from", args.from), ("--at", args.at)] {
        if let Some(at) = at.filter(|at| *at > end) {
            let what = format!("{} BT is after the end, which is at {} BT: write less", group(at), group(end));
            return Err(PlanError::option(option, what));
        }
    }
    match (args.from, args.to) {
        (Some(from), Some(to)) if to <= from => {
            let what = format!("{} BT is not after --from, {} BT: write more", group(to), group(from));
            Err(PlanError::option("--to", what))
        }
        _ => Ok(()),
    }
}

fn make(folder: &Path) -> Result<(), CommandError> {
    let made = std::fs::create_dir(folder);
    let is_there = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir();
    match made {
        Err(source) if !is_there(&source) => Err(CommandError::Init { path: folder.to_owned(), source }),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The command that makes the page again.
fn command(args: &ReportArgs) -> String {
    let mut words = vec!["ethbus report".to_owned()];
    words.extend(args.runs.iter().map(|path| path.display().to_string()));
    words.push(format!("-o {}", args.out.display()));
    let given = [("--from", args.from), ("--to", args.to), ("--at", args.at)];
    words.extend(given.into_iter().filter_map(|(option, at)| Some(format!("{option} {}", at?))));
    words.join(" ")
}
