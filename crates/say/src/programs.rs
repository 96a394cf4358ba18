//! The programs of a virtual lab, for people: how each ended.

use sim::figures::results::{ProgramResults, Results};

/// The part of the table that only a lab with programs has.
pub fn programs(results: &Results) -> String {
    let lines: String = results.programs.iter().map(told).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn told(ProgramResults { station, command, code }: &ProgramResults) -> String {
    match code {
        Some(code) => format!("  program       {station}: `{command}` ended with {code}\n"),
        None => format!("  program       {station}: `{command}` has not ended\n"),
    }
}
