//! Attempts and whole lives drawn on a BT axis.
//!
//! ```text
//!             0       32      64      96
//!             |       |       |       |
//!   st1#1     ppppppppppppXpppjjjjjjjj      each row at its own sender's place
//!   st2#1     ppppppppppppXpppjjjjjjjj
//! ```

use super::{Meeting, Story, Transmission};
use medium::{BitInstant, BitTimes, Config, Event, Kind, PREAMBLE_AND_SFD};
use sim::words::sentences::frame_name;
use sim::words::units::group;
use std::fmt::Write;

/// Columns for time.
const WIDTH: u64 = 72;
/// Columns from tick to tick.
const TICK: u64 = 8;

/// What the letters of [`attempt`] mean.
pub const LETTERS: &str = "p preamble and SFD, = frame, X collision noticed, j jam, e extension";
/// What the letters of [`life`] mean.
pub const LIFE_LETTERS: &str = ". in the queue, d defers, = sends, X collides, b backs off, T transmitted, D discarded";

/// A stretch of time in equal columns.
pub(super) struct Axis {
    from: u64,
    /// Bit times a column: a power of two, so that gap, jam, preamble and slot come out even.
    unit: u64,
    columns: u64,
}

impl Axis {
    /// From `from` to `to`, both included, and such that `zero`, not before `from`, begins a column.
    pub(super) fn new(from: BitInstant, zero: BitInstant, to: BitInstant) -> Axis {
        let unit = (to.since(from).get() + 1).div_ceil(WIDTH).next_power_of_two();
        let before = zero.since(from).get().div_ceil(unit);
        // Bits that a medium younger than a column has not had are drawn all the same.
        let from = zero.get().saturating_sub(before * unit);
        Axis { from, unit, columns: (to.get() - from + 1).div_ceil(unit) }
    }

    /// Bit times a column.
    pub(super) fn unit(&self) -> u64 {
        self.unit
    }

    pub(super) fn columns(&self) -> usize {
        self.columns as usize
    }

    pub(super) fn column(&self, at: BitInstant) -> usize {
        (at.get().saturating_sub(self.from) / self.unit).min(self.columns - 1) as usize
    }

    /// Labels, and ticks under them; labels count from `zero`.
    pub(super) fn ruler(&self, zero: BitInstant, label_width: usize) -> String {
        let (mut labels, mut ticks) = (String::new(), String::new());
        // The first tick is a whole number of ticks from zero, so that zero has one.
        let step = self.unit * TICK;
        let first = zero.get().saturating_sub(self.from) % step;
        for column in (first / self.unit..=self.columns).step_by(TICK as usize) {
            let at = self.from + column * self.unit;
            let label = match at.checked_sub(zero.get()) {
                Some(after) => after.to_string(),
                None => format!("-{}", zero.get() - at),
            };
            // A label too long for its place leaves out the next.
            if labels.len() <= column as usize {
                let pad = column as usize - labels.len();
                write!(labels, "{:pad$}{label} ", "").expect("a string takes any text");
            }
            let pad = column as usize - ticks.len();
            write!(ticks, "{:pad$}|", "").expect("a string takes any text");
        }
        format!("  {:label_width$}  {}\n  {:label_width$}  {ticks}\n", "", labels.trim_end(), "")
    }
}

/// One attempt and whom it met.
pub fn attempt(meeting: &Meeting, names: &[String], read_to: BitInstant) -> String {
    let all = || std::iter::once(&meeting.own).chain(&meeting.others);
    let from = all().map(|one| one.begin).min().unwrap_or(meeting.own.begin);
    let to = all().map(|one| one.end.unwrap_or(read_to)).max().unwrap_or(read_to);
    let axis = Axis::new(from, meeting.own.begin, to);
    let label_width = all().map(|one| frame_name(names, one.frame).chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "  attempt {}: 0 is t = {} BT, a column is {} BT\n",
        meeting.own.attempt,
        group(meeting.own.begin.get()),
        axis.unit
    );
    text += &axis.ruler(meeting.own.begin, label_width);
    for one in all() {
        let row = row(one, &axis, read_to);
        writeln!(text, "  {:label_width$}  {}", frame_name(names, one.frame), row.trim_end())
            .expect("a string takes any text");
    }
    text
}

fn row(one: &Transmission, axis: &Axis, read_to: BitInstant) -> String {
    let mut cells = vec![' '; axis.columns as usize];
    let mut paint = |from: BitInstant, to: BitInstant, letter: char| {
        // A column shows what fills most of it; what is shorter than a column shows all the same.
        let half = axis.unit / 2;
        let first = axis.column(from + BitTimes::new(half));
        let last = axis.column(to + BitTimes::new(half)).max(first + 1).min(cells.len());
        if to > from {
            cells[first.min(last - 1)..last].fill(letter);
        }
    };
    let preamble = one.preamble;
    let end = one.end.unwrap_or(read_to);
    let body = BitInstant::new(end.get() - one.extension.get().min(end.get()));
    paint(preamble + PREAMBLE_AND_SFD, body, '=');
    paint(body, end, 'e');
    if let Some(collision) = one.collision {
        paint(collision.at.max(preamble + PREAMBLE_AND_SFD), end, 'j');
    }
    let extended_to = if one.cut_before_preamble() {
        // No preamble at all: extension bits, and the jam.
        one.collision.map_or(preamble, |collision| collision.at)
    } else {
        paint(preamble, end.min(preamble + PREAMBLE_AND_SFD), 'p');
        preamble
    };
    if let Some(collision) = one.collision.filter(|_| one.cut_before_preamble()) {
        paint(collision.at, end, 'j');
    }
    if one.burst {
        paint(one.begin, extended_to.min(end), 'e');
    }
    if let Some(collision) = one.collision {
        cells[axis.column(collision.at)] = 'X';
    }
    if one.end.is_none() {
        cells[axis.columns as usize - 1] = '>';
    }
    cells.into_iter().collect()
}

/// The whole life in one row.
pub fn life(story: &Story, names: &[String], config: &Config) -> Option<String> {
    let from = story.steps.first()?.at;
    let to = story.end.unwrap_or(story.read_to);
    let axis = Axis::new(from, from, to);
    let mut cells = vec!['.'; axis.columns as usize];
    let mut paint = |from: BitInstant, to: BitInstant, letter: char| {
        cells[axis.column(from)..=axis.column(to)].fill(letter);
    };
    let events = || story.steps.iter().filter_map(|step| step.event);
    let own = || events().filter(|event| event.station == story.frame.station);
    let until = |at: BitInstant| own().map(|event| event.at).find(|&next| next > at).unwrap_or(to);
    for Event { at, kind, .. } in own() {
        match kind {
            Kind::Defer { .. } => paint(at, until(at), 'd'),
            Kind::Backoff { slots, .. } => paint(at, (at + config.parameters.slot_time * slots).min(to), 'b'),
            _ => {}
        }
    }
    for meeting in &story.meetings {
        paint(meeting.own.begin, meeting.own.end.unwrap_or(to), '=');
    }
    for collision in story.meetings.iter().filter_map(|meeting| meeting.own.collision) {
        paint(collision.at, collision.at, 'X');
    }
    for Event { at, kind, .. } in own() {
        match kind {
            Kind::Transmitted { .. } => paint(at, at, 'T'),
            Kind::Discarded { .. } | Kind::QueueDrop => paint(at, at, 'D'),
            _ => {}
        }
    }
    let label = frame_name(names, story.frame);
    let head = format!("  its life: 0 is t = {} BT, a column is {} BT\n", group(from.get()), group(axis.unit));
    let row: String = cells.into_iter().collect();
    Some(format!("{head}{}  {label}  {row}\n", axis.ruler(from, label.chars().count())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{FrameId, StationId};

    fn sent(station: u16, begin: u64, collision: Option<u64>, end: u64) -> Transmission {
        Transmission {
            frame: FrameId { station: StationId::new(station), serial: 7 },
            called: None,
            bare: false,
            attempt: 1,
            begin: BitInstant::new(begin),
            burst: false,
            preamble: BitInstant::new(begin),
            fault: None,
            parted: None,
            deaf: None,
            collision: collision.map(|at| super::super::Collision { at: BitInstant::new(at), episode: 1 }),
            end: Some(BitInstant::new(end)),
            extension: BitTimes::ZERO,
        }
    }

    /// A collision in the preamble: 64 BT of preamble and SFD, then 32 BT of jam (802.3, 4.2.3.2.4).
    #[test]
    fn an_attempt_is_drawn_at_each_senders_place() {
        let meeting = Meeting { own: sent(0, 1000, Some(1050), 1096), others: vec![sent(1, 996, Some(1054), 1092)] };
        let names = ["a", "long"].map(str::to_owned);
        let text = attempt(&meeting, &names, BitInstant::new(2000));
        assert!(text.starts_with("  attempt 1: 0 is t = 1,000 BT, a column is 2 BT\n"), "{text}");
        let rows: Vec<&str> = text.lines().skip(3).collect();
        let own = format!("  a#7       {}X{}{}", "p".repeat(25), "p".repeat(6), "j".repeat(16));
        let other = format!("  long#7  {}X{}{}", "p".repeat(29), "p".repeat(2), "j".repeat(16));
        assert_eq!(rows, [own, other], "{text}");
        let zero = text.lines().nth(1).expect("labels").find('0').expect("zero");
        assert_eq!(zero, rows[0].find('p').expect("the first bit"), "{text}");
    }
}
