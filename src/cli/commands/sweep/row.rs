//! `ethbus sweep row`: a row of a sweep's table is run again, and the two are compared.

use super::runs::{Ended, Sweep, TIMING};
use crate::cli::args::RowArgs;
use crate::cli::commands::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print_result};
use say::{plain_table, say};
use serde::Serialize;
use sim::words::units::many;
use std::process::ExitCode;
use study::sweep::again::grid;
use study::sweep::journal::Provenance;
use study::sweep::kept::{Difference, Kept};
use study::sweep::output::{TableError, with_slash};

/// How a row compares with the same run of today.
#[derive(Debug, Serialize)]
struct Again {
    table: String,
    row: u64,
    /// Each key with its value, and the seed.
    values: Vec<(String, String)>,
    /// Every column that can be the same is the same.
    same: bool,
    columns: usize,
    differs: Vec<Difference>,
    /// Columns that differ each time.
    left_out: Vec<&'static str>,
    /// What made the row, where that is known.
    made_by: Option<Provenance>,
    /// When the row was written.
    end: Option<String>,
    /// This program.
    here: Provenance,
}

/// Runs a row again.
///
/// # Errors
/// A table that was altered or is no sweep's, a row that it does not have, a run that fails.
pub fn row(args: &RowArgs) -> Outcome {
    let table = with_slash(&args.table);
    let kept = Kept::read(&table, args.row.map(|row| row - 1))?;
    let wrong = |what: String| TableError::Shards { path: table.clone(), what };
    let grid = grid(&kept.grid)?;
    if kept.run >= grid.runs() {
        return Err(wrong(format!("its grid has no row {}", kept.run + 1)).into());
    }
    let columns = grid.check()?.columns;
    let interrupts = interrupts_of_a_run()?;
    let (timing, interrupts) = (kept.grid.timing(), &interrupts);
    let sweep = Sweep { grid: &grid, timing, limit: None, columns, tables: None, interrupts };
    let Some(ended) = sweep.one(kept.run, |_| interrupts.is_empty())? else {
        say("ethbus: interrupted\n");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let (header, row) = match ended {
        Ended::Row { header, row, .. } => (header, row),
        Ended::Failed(why) => return Err(CommandError::from(wrong(why))),
    };
    let left_out: Vec<&str> = TIMING.into_iter().filter(|_| kept.grid.timing()).collect();
    let differs = kept.differences(&header, &row, &left_out);
    let seed = ("seed", kept.grid.seed(kept.run).to_string());
    let values = kept.grid.values(kept.run).into_iter().map(|(key, value)| (key, value.to_owned())).chain([seed]);
    let again = Again {
        table: table.display().to_string(),
        row: kept.run + 1,
        values: values.map(|(key, value)| (key.to_owned(), value)).collect(),
        same: differs.is_empty(),
        columns: kept.columns.len() - left_out.len().min(kept.columns.len()),
        differs,
        left_out,
        made_by: kept.made_by,
        end: kept.end,
        here: Provenance::here(),
    };
    print_result(args.written.format, &again, told)?;
    Ok(if again.same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn told(all: &Again) -> String {
    let values: Vec<String> = all.values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let mut text = format!("row {} of {}: {}\n", all.row, all.table, values.join(", "));
    match &all.made_by {
        Some(by) => {
            let end = all.end.as_ref().map_or(String::new(), |end| format!(", written {end}"));
            text += &format!("made by {}, begun {}{end}:\n  {}\n", program(by), by.start, by.command);
        }
        None => text += "no log is beside the table, so what made it is not known\n",
    }
    text += &format!("again by {}\n", program(&all.here));
    if !all.left_out.is_empty() {
        text += &format!("not compared, since they differ each time: {}\n", all.left_out.join(", "));
    }
    if all.same {
        return text + &format!("all {} are the same, byte for byte\n", many(all.columns as u64, "column"));
    }
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "no such column".to_owned());
    let rows = all.differs.iter().map(|one| [one.column.clone(), value(&one.there), value(&one.here)]);
    text += &format!("{} of {} differ:\n", all.differs.len(), many(all.columns as u64, "column"));
    text + &plain_table(["column", "in the table", "again"], rows)
}

/// Which program, of which source, where.
fn program(by: &Provenance) -> String {
    let commit = by.commit.as_ref().map_or(String::new(), |commit| format!(" ({commit})"));
    format!("ethbus {}{commit} on {}", by.ethbus, by.host)
}
