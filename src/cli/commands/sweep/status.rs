//! `ethbus sweep status`: how far tables are, how long the rest takes, and what failed.

use crate::cli::args::SweepStatusArgs;
use crate::cli::commands::{CommandError, Outcome, print_result};
use say::program::program;
use say::{plain_table, wall_time};
use serde::Serialize;
use sim::words::units::group;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use study::sweep::again;
use study::sweep::enough::expected;
use study::sweep::journal::History;
use study::sweep::manifest::Manifest;
use study::sweep::output::{done, is_written, with_slash};
use study::sweep::part::{Part, spans};

/// How far one table is.
#[derive(Debug, Serialize)]
struct Status {
    table: String,
    part: String,
    /// `done`, `runs` while a sweep writes it, else `stopped`.
    state: &'static str,
    runs: u64,
    done: u64,
    failed: Vec<Failed>,
    left: u64,
    /// The mean wall-clock time of a run.
    run_s: Option<f64>,
    /// The time that the rest takes at the latest command's number of runs at a time.
    left_s: Option<f64>,
    host: Option<String>,
    start: Option<String>,
}

/// A run without a row.
#[derive(Debug, Serialize)]
struct Failed {
    row: u64,
    why: String,
    /// Tries it again, alone.
    command: String,
}

/// Tells how far tables are.
///
/// # Errors
/// A file that is no sweep's table, or cannot be read.
pub fn status(args: &SweepStatusArgs) -> Outcome {
    let all = args.tables.tables.iter().map(|table| one(table)).collect::<Result<Vec<_>, _>>()?;
    print_result(args.written.format, &all, |all| told(all))?;
    Ok(ExitCode::SUCCESS)
}

fn one(table: &Path) -> Result<Status, CommandError> {
    let table = &with_slash(table);
    let manifest = Manifest::of_table(table)?;
    let done = done(table, &manifest)?;
    let history = History::read(table, manifest.seeds().len() as u64)?;
    let (part, runs) = (manifest.part(), expected(table, &manifest)?);
    let failed = history.failed.iter().filter(|(run, _)| !done.contains(run));
    let failed: Vec<Failed> = failed
        .map(|(run, why)| {
            let row = Part::Rows(spans([run + 1])[0]);
            let command = again::command(&program(), &manifest, table, row);
            Failed { row: run + 1, why: why.clone(), command }
        })
        .collect();
    let (done, times) = (done.len() as u64, history.seconds.values());
    let left = runs.saturating_sub(done);
    let run_s = (!history.seconds.is_empty()).then(|| times.sum::<f64>() / history.seconds.len() as f64);
    let left_s = run_s.map(|seconds| seconds * left as f64 / history.jobs.max(1) as f64);
    let state = match () {
        () if left == 0 => "done",
        () if is_written(table) => "runs",
        () => "stopped",
    };
    let latest = history.commands.last();
    let (host, start) = latest.map(|latest| (latest.host.clone(), latest.start.clone())).unzip();
    let part = if part == Part::WHOLE { "all".to_owned() } else { part.to_string() };
    let table = table.display().to_string();
    Ok(Status { table, part, state, runs, done, failed, left, run_s, left_s, host, start })
}

/// The tables, what they come to together, and what failed.
fn told(all: &[Status]) -> String {
    let time = |seconds: Option<f64>| seconds.map_or("–".to_owned(), |it| wall_time(Duration::from_secs_f64(it)));
    let header = ["table", "part", "state", "done", "of", "failed", "a run", "time left"];
    let rows = all.iter().map(|one| {
        let part = one.part.clone();
        let (failed, left) = (group(one.failed.len() as u64), if one.left > 0 { time(one.left_s) } else { "–".into() });
        let (done, runs, run) = (group(one.done), group(one.runs), time(one.run_s));
        [one.table.clone(), part, one.state.to_owned(), done, runs, failed, run, left]
    });
    let mut text = plain_table(header, rows);
    if all.len() > 1 {
        let sum = |of: fn(&Status) -> u64| all.iter().map(of).sum::<u64>();
        let (done, runs) = (sum(|one| one.done), sum(|one| one.runs));
        // Parts run side by side, so the slowest of them is what the whole waits for.
        let left = all.iter().filter(|one| one.left > 0).filter_map(|one| one.left_s).reduce(f64::max);
        let left = left.map_or(String::new(), |_| format!(", time left {} if all parts run now", time(left)));
        text += &format!("\n{} of {} runs are done{left}\n", group(done), group(runs));
    }
    for Failed { row, why, command } in all.iter().flat_map(|one| &one.failed) {
        text += &format!("\nrow {row} failed: {why}\n  {command}\n");
    }
    text
}
