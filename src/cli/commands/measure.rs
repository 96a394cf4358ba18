//! `ethbus doctor --measure`: the figures of a live bus beside what is asked of them.
//!
//! Everything is held by descriptors, and every program ends with this one, so nothing is left when it ends, however it
//! ends.

use super::{INTERRUPTED, Outcome, draw_seed, interrupts, print_result, rights};
use crate::cli::args::DoctorArgs;
use live::bench::{Context, Logs, Report, State, names, run, table};
use live::lab;
use say::{say, show};
use sim::scenario::plan::PlanError;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

/// Stations of the largest bus.
const STATIONS: usize = 254;

/// A word for every row.
const ALL: &str = "all";
/// How long each measurement takes unless an option says otherwise.
const DURATION: Duration = Duration::from_secs(5);

/// Measures the rows that are wanted, and tells what is as asked.
///
/// # Errors
/// Rows that there are not; what the user may not do; a report that cannot be written.
pub fn measure(args: &DoctorArgs, rows: &[String]) -> Outcome {
    check_rows(rows)?;
    rights::gain("ethbus doctor --measure")?;
    let interrupts = interrupts()?;
    lab::keep_least(STATIONS, true)?;
    let seed = args.seed.map_or_else(draw_seed, Ok)?;
    say(&format!("ethbus: measuring a live bus, seed {seed}; what else this machine does is measured too\n"));
    let logs = args.logs.as_deref().map(Logs::new);
    let context = Context {
        duration: args.timed.duration.unwrap_or(DURATION),
        seed,
        interrupts: &interrupts,
        logs: logs.as_ref(),
    };
    let wanted = |name: &str| rows.iter().any(|row| row == ALL || row == name);
    let report = run(&context, wanted, progress);
    show("");
    let Some(report) = report else {
        say("ethbus: interrupted; nothing was judged\n");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    print_result(args.written.format, &report, table)?;
    Ok(verdict(args.check, &report))
}

fn check_rows(rows: &[String]) -> Result<(), PlanError> {
    match rows.iter().find(|row| **row != ALL && !names().any(|name| name == **row)) {
        None => Ok(()),
        Some(row) => {
            let rows = names().collect::<Vec<_>>().join(", ");
            Err(PlanError::option("--measure", format!("there is no row `{row}`; there are {rows}, and `{ALL}`")))
        }
    }
}

/// Over the terminal's line, or a line for each row.
fn progress(number: usize, of: usize, about: &str) {
    let line = format!("{} of {of}: {about}", number + 1);
    if std::io::stderr().is_terminal() { show(&line) } else { say(&format!("{line}\n")) }
}

/// 1 if a row went wrong, or if what is asked is to be checked and is not met.
fn verdict(check: bool, report: &Report) -> ExitCode {
    let failed = report.rows.iter().any(|row| matches!(row.state, State::Failed(_)));
    let missed = check && !report.rows.iter().all(live::bench::Row::is_met);
    if failed || missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_where_there_is_no_such_row() {
        assert!(check_rows(&["echo".to_owned(), "idle".to_owned()]).is_ok());
        let error = check_rows(&["echo".to_owned(), "pong".to_owned()]).expect_err("no such row").to_string();
        assert!(error.contains("`pong`") && error.contains("tcp_pairs"), "{error}");
    }
}
