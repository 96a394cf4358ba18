//! The figures of a live bus beside what is asked of them: what `ethbus doctor --measure` measures. See docs/live.md.
//!
//! A row is one thing to know. Each has a bus of its own, made for it and gone after it, so that no row hangs over the next;
//! and where a plain veth pair or a kernel bridge tells what the machine itself can do, they are measured in the same row.

mod bus;
mod cpu;
mod echo;
mod latency;
mod load;
mod machine;
mod peer;
mod row;
mod scale;
mod tcp;
mod view;
mod yardstick;

pub use bus::{BenchError, Context, Logs, frames_per_second};
pub use machine::{Conditions, Machine};
pub use peer::PeerError;
pub use row::{Asked, Figure, Row, Run, State, Verdict};
pub use view::table;

use say::with_causes;
use serde::Serialize;
use std::time::Instant;

/// A row's name, what it is about, and how it is measured.
type Entry = (&'static str, &'static str, fn(&Context<'_>, &mut Row) -> Result<(), BenchError>);

/// Every row, in the order in which they are measured.
const ROWS: [Entry; 14] = [
    ("idle", "a bus on which no station sends, 10 Mb/s, 4 stations", cpu::idle),
    ("echo", "round trips of 102 octets, 10 Mb/s, 2 stations", latency::at_10),
    ("echo_100", "round trips of 102 octets, 100 Mb/s, 2 stations", latency::at_100),
    ("pairs", "two senders above line rate, 64 octets, 10 Mb/s, 4 stations", load::pairs),
    ("sixteen", "16 saturated stations, 64 octets, 10 Mb/s", load::sixteen),
    ("sixty_four", "64 saturated stations, 64 octets, 10 Mb/s", load::sixty_four),
    ("tcp", "one TCP stream, 10 Mb/s, 2 stations", tcp::one),
    ("tcp_pairs", "two TCP streams, 10 Mb/s, 4 stations", tcp::two),
    ("cpu", "a bus full of 1518 octets, 10 Mb/s, 4 stations", cpu::longest),
    (
        "windows",
        "what every file of a run costs at once, 64 octets, 10 Mb/s, 4 stations; a binary log, 100 Mb/s",
        cpu::windows,
    ),
    ("tcp_100", "one TCP stream, 100 Mb/s, 2 stations", tcp::at_100),
    ("lateness_100", "4 saturated stations, 1518 octets, 100 Mb/s", load::longest_at_100),
    ("frames_100", "saturated stations, 64 octets, 100 Mb/s", load::shortest_at_100),
    ("scale", "many saturated stations, 64 octets, 10 Mb/s; 4 stations, 1518 octets, 1 Gb/s", scale::scale),
];

/// What a bench gave.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this form.
    pub version: u32,
    /// Seed of every random draw.
    pub seed: u64,
    /// How long each measurement took, in seconds.
    pub duration_s: f64,
    /// How long everything took, in seconds.
    pub took_s: f64,
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    pub rows: Vec<Row>,
}

/// Version of a report's form.
const VERSION: u32 = 1;

/// What rows are called, in the order in which they are measured.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(name, ..)| *name)
}

/// Measures the chosen rows, and calls `begins` before each. A row that goes wrong reports that itself.
///
/// Returns nothing after an interrupt.
pub fn run(
    context: &Context<'_>,
    wanted: impl Fn(&str) -> bool,
    mut begins: impl FnMut(usize, usize, &str),
) -> Option<Report> {
    let begin = Instant::now();
    let entries: Vec<&Entry> = ROWS.iter().filter(|(name, ..)| wanted(name)).collect();
    let mut rows = Vec::with_capacity(entries.len());
    for (number, (name, about, measure)) in entries.iter().enumerate() {
        begins(number, entries.len(), about);
        let mut row = Row::new(name, about);
        match measure(context, &mut row) {
            Ok(()) => {}
            Err(BenchError::Interrupted) => return None,
            Err(BenchError::Peer(error @ PeerError::Missing { .. })) => row.state = State::Skipped(error.to_string()),
            Err(error) => row.state = State::Failed(with_causes(&error)),
        }
        rows.push(row);
    }
    Some(Report {
        version: VERSION,
        seed: context.seed,
        duration_s: context.duration.as_secs_f64(),
        took_s: begin.elapsed().as_secs_f64(),
        machine: Machine::read(),
        rows,
    })
}
