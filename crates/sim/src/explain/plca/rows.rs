//! What was on the line in a stretch of time, a row for each node that did something.
//!
//! ```text
//!             0       64      128     192
//!             |       |       |       |
//!   turn      B0001112222222222222222222222B
//!   st1 (0)   B                             B
//!   st3 (2)   wwwwwwwwcc==================
//! ```

use super::add;
use super::turns::{Turns, What};
use crate::words::units::group;
use medium::{BitInstant, BitTimes};

const WIDTH: u64 = 72;
const TICK: u64 = 8;

/// What the letters mean.
const LETTERS: &str = "B BEACON, w waits, c COMMIT, = frame, j jam, o told to wait for its turn, X collision on the line, \
    - plain CSMA/CD";

/// The rows, with a ruler above.
pub fn rows(turns: &Turns) -> String {
    let span = turns.to.since(turns.from).get().max(1);
    let unit = span.div_ceil(WIDTH).next_power_of_two();
    let columns = span.div_ceil(unit) as usize;
    let column = |at: BitInstant| ((at.since(turns.from).get() / unit) as usize).min(columns - 1);
    let label = |row: usize| match turns.ids[row] {
        255 => format!("{} (no id)", turns.names[row]),
        id => format!("{} ({id})", turns.names[row]),
    };
    let width = (0..turns.names.len()).map(|row| label(row).chars().count()).max().unwrap_or(0).max(4);
    let mut text = format!(
        "\nOn the line: {LETTERS}\n  0 is t = {} BT, a column is {} BT; `turn` is whose turn it is, by id\n",
        group(turns.from.get()),
        unit
    );
    let (mut labels, mut ticks) = (String::new(), String::new());
    for tick in (0..columns as u64).step_by(TICK as usize) {
        let at = tick as usize;
        if labels.len() <= at {
            let pad = at - labels.len();
            add(&mut labels, format_args!("{:pad$}{} ", "", tick * unit));
        }
        let pad = at - ticks.len();
        add(&mut ticks, format_args!("{:pad$}|", ""));
    }
    add(&mut text, format_args!("  {:width$}  {}\n  {:width$}  {ticks}\n", "", labels.trim_end(), ""));
    let mut lane = vec![' '; columns];
    for turn in &turns.turns {
        let digit = char::from_digit((turn.id % 10) as u32, 10).unwrap_or('?');
        lane[column(turn.from)..=column(turn.to + BitTimes::ZERO).min(columns - 1)].fill(digit);
    }
    for beacon in turns.beacons.iter().filter(|at| **at >= turns.from && **at < turns.to) {
        lane[column(*beacon)] = 'B';
    }
    add(&mut text, format_args!("  {:width$}  {}\n", "turn", lane.iter().collect::<String>().trim_end()));
    for row in 0..turns.names.len() {
        let cells = cells(turns, row, columns, column);
        if cells.iter().any(|cell| !matches!(cell, ' ' | '-')) {
            add(&mut text, format_args!("  {:width$}  {}\n", label(row), cells.iter().collect::<String>().trim_end()));
        }
    }
    text
}

fn cells(turns: &Turns, row: usize, columns: usize, column: impl Fn(BitInstant) -> usize) -> Vec<char> {
    let mut cells = vec![' '; columns];
    // What is on the line is drawn over what is not.
    for layer in [What::Fallen, What::Waits, What::Beacon, What::Commit, What::Frame, What::Jam] {
        let letter = match layer {
            What::Fallen => '-',
            What::Waits => 'w',
            What::Beacon => 'B',
            What::Commit => 'c',
            What::Frame => '=',
            What::Jam => 'j',
        };
        for one in turns.stretches.iter().filter(|one| one.row == row && one.what == layer) {
            // The last bit is the one before the end.
            let last = BitInstant::new(one.to.get().saturating_sub(1)).max(one.from);
            cells[column(one.from)..=column(last)].fill(letter);
        }
    }
    for mark in turns.marks.iter().filter(|mark| mark.row == row) {
        cells[column(mark.at)] = if mark.logical { 'o' } else { 'X' };
    }
    cells
}
