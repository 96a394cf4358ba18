//! Attempts and whole lives drawn on a BT axis.
//!
//! ```text
//!             0       32      64      96
//!             |       |       |       |
//!   st1#1     ppppppppppppXpppjjjjjjjj      each row at its own sender's place
//!   st2#1     ppppppppppppXpppjjjjjjjj
//! ```

use super::attempts::addressee;
use super::hearing::there;
use super::story::{Step, Story, Try};
use crate::scene::Signal;
use crate::words::units::group;
use medium::{BitInstant, BitTimes, Carried, Event, Kind, Method, PREAMBLE_AND_SFD, StationId};
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
struct Axis {
    from: u64,
    /// Bit times a column: a power of two, so that gap, jam, preamble and slot come out even.
    unit: u64,
    columns: u64,
}

impl Axis {
    /// From `from` to `to`, both included, and such that `zero`, not before `from`, begins a column.
    fn new(from: BitInstant, zero: BitInstant, to: BitInstant) -> Axis {
        let unit = (to.since(from).get() + 1).div_ceil(WIDTH).next_power_of_two();
        let before = zero.since(from).get().div_ceil(unit);
        // Bits that a medium younger than a column has not had are drawn all the same.
        let from = zero.get().saturating_sub(before * unit);
        Axis { from, unit, columns: (to.get() - from + 1).div_ceil(unit) }
    }

    fn column(&self, at: BitInstant) -> usize {
        (at.get().saturating_sub(self.from) / self.unit).min(self.columns - 1) as usize
    }

    /// Labels, and ticks under them; labels count from `zero`.
    fn ruler(&self, zero: BitInstant, label_width: usize) -> String {
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

/// One attempt and the signals that it met.
pub fn attempt(one: &Try, story: &Story) -> Option<String> {
    let (own, read_to) = (one.own()?, story.read_to);
    let from = one.signals().map(|one| one.begin).min().unwrap_or(own.begin);
    let to = one.signals().map(|one| one.end.unwrap_or(read_to)).max().unwrap_or(read_to);
    let axis = Axis::new(from, own.begin, to);
    let label_width = one.signals().map(|one| story.name(one.frame).chars().count()).max().unwrap_or(0);
    let mut text =
        format!("  attempt {}: 0 is t = {} BT, a column is {} BT\n", own.attempt, group(own.begin.get()), axis.unit);
    text += &axis.ruler(own.begin, label_width);
    for one in one.signals() {
        let row = row(one, &axis, read_to);
        writeln!(text, "  {:label_width$}  {}", story.name(one.frame), row.trim_end())
            .expect("a string takes any text");
    }
    Some(text)
}

fn row(one: &Signal, axis: &Axis, read_to: BitInstant) -> String {
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
    let extended_to = if one.is_cut_before_preamble() {
        // No preamble at all: extension bits, and the jam.
        one.collision.map_or(preamble, |collision| collision.at)
    } else {
        paint(preamble, end.min(preamble + PREAMBLE_AND_SFD), 'p');
        preamble
    };
    if let Some(collision) = one.collision.filter(|_| one.is_cut_before_preamble()) {
        paint(collision.at, end, 'j');
    }
    if preamble > one.begin {
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
pub fn life(story: &Story) -> Option<String> {
    let from = story.steps.first()?.at;
    let to = story.end.unwrap_or(story.read_to);
    let axis = Axis::new(from, from, to);
    let mut cells = vec!['.'; axis.columns as usize];
    let mut paint = |from: BitInstant, to: BitInstant, letter: char| {
        cells[axis.column(from)..=axis.column(to)].fill(letter);
    };
    let own = || story.steps.iter().filter_map(Step::event).filter(|event| event.station == story.frame.station);
    let until = |at: BitInstant| own().map(|event| event.at).find(|&next| next > at).unwrap_or(to);
    for &Event { at, kind, .. } in own() {
        match kind {
            Kind::Defer { .. } => paint(at, until(at), 'd'),
            Kind::Backoff { slots, .. } => {
                paint(at, story.config.backoff_end(story.frame.station, at, slots).unwrap_or(to).min(to), 'b');
            }
            _ => {}
        }
    }
    for own in story.tries.iter().filter_map(Try::own) {
        paint(own.begin, own.end.unwrap_or(to), '=');
    }
    for collision in story.tries.iter().filter_map(|one| one.own()?.collision) {
        paint(collision.at, collision.at, 'X');
    }
    for &Event { at, kind, .. } in own() {
        match kind {
            Kind::Transmitted { .. } => paint(at, at, 'T'),
            Kind::Discarded { .. } | Kind::QueueDrop => paint(at, at, 'D'),
            _ => {}
        }
    }
    let label = story.name(story.frame);
    let head = format!("  its life: 0 is t = {} BT, a column is {} BT\n", group(from.get()), group(axis.unit));
    let row: String = cells.into_iter().collect();
    Some(format!("{head}{}  {label}  {row}\n", axis.ruler(from, label.chars().count())))
}

/// Attempts that [`rows`] draws: the last ones.
const DRAWN: usize = 6;
/// Signals of others that [`rows`] draws beside one attempt.
const OTHERS: usize = 8;

/// Without collision detection: the last attempts, each as the place hears it that it is for.
///
/// ```text
///             0       128     256     384
///             |       |       |       |
///   st1#4     ==============##########            as st2 hears it
///   st3#1                   ##########==============
/// ```
pub fn rows(story: &Story) -> String {
    let first = story.tries.len().saturating_sub(DRAWN);
    let drawn: Vec<String> = story.tries[first..].iter().filter_map(|one| at_a_place(story, one)).collect();
    if drawn.is_empty() {
        return String::new();
    }
    let which = match first {
        0 => "Each attempt".to_owned(),
        _ => format!("The last {DRAWN} attempts"),
    };
    let letters = match story.config.method {
        Method::CsmaCa(_) => "= frame, r RTS, c CTS, a ACK, # where two overlap",
        _ => "= frame, # where two overlap",
    };
    format!("\n{which}, as the station hears it that it is for: {letters}\n{}", drawn.join("\n"))
}

fn at_a_place(story: &Story, one: &Try) -> Option<String> {
    let sent = one.own()?;
    let place = addressee(story.destination, sent).or_else(|| one.met.first().map(|met| met.place));
    let place = place.unwrap_or(sent.source);
    let others: Vec<&Signal> = one.met.iter().take(OTHERS).map(|met| &one.others[met.other].sent.signal).collect();
    let all = || one.parts.iter().map(|part| &part.signal).chain(others.iter().copied());
    let from = all().map(|signal| drawn_at(story, signal, place).0).min()?;
    let to = all().map(|signal| drawn_at(story, signal, place).1).max()?;
    let zero = drawn_at(story, sent, place).0;
    let axis = Axis::new(from, zero, BitInstant::new(to.get().saturating_sub(1)).max(zero));
    let mut rows: Vec<(String, Vec<&Signal>)> =
        vec![(story.name(story.frame), one.parts.iter().map(|part| &part.signal).collect())];
    for &signal in &others {
        let name = story.name(signal.frame);
        match rows[1..].iter_mut().find(|(own, _)| *own == name) {
            Some((_, signals)) if signals.contains(&signal) => {}
            Some((_, signals)) => signals.push(signal),
            None => rows.push((name, vec![signal])),
        }
    }
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "  attempt {}: 0 is t = {} BT at the place of {}, a column is {} BT\n",
        one.attempt,
        group(zero.get()),
        story.station(place),
        axis.unit
    );
    text += &axis.ruler(zero, width);
    for (name, signals) in &rows {
        let mut cells = vec![' '; axis.columns as usize];
        for &signal in signals {
            overlaps(story, &axis, (signal, place), all(), &mut cells);
        }
        let row: String = cells.into_iter().collect();
        text += &format!("  {name:width$}  {}\n", row.trim_end());
    }
    Some(text)
}

/// From when to when a signal is at a place. One that is not heard there is drawn where it was sent.
fn drawn_at(story: &Story, signal: &Signal, place: StationId) -> (BitInstant, BitInstant) {
    let sent = (signal.begin, signal.end.unwrap_or(story.read_to));
    there(signal, place, &story.config).unwrap_or(sent)
}

/// A signal, and over it where another one overlaps it.
fn overlaps<'a>(
    story: &Story,
    axis: &Axis,
    (signal, place): (&Signal, StationId),
    all: impl Iterator<Item = &'a Signal>,
    cells: &mut [char],
) {
    let mut paint = |from: BitInstant, to: BitInstant, letter: char| {
        if to > from {
            cells[axis.column(from)..=axis.column(BitInstant::new(to.get() - 1))].fill(letter);
        }
    };
    let letter = match signal.what {
        Carried::Rts => 'r',
        Carried::Cts => 'c',
        Carried::Ack => 'a',
        _ => '=',
    };
    let (begin, end) = drawn_at(story, signal, place);
    paint(begin, end, letter);
    let is_there = there(signal, place, &story.config).is_some();
    for other in all.filter(|other| is_there && *other != signal) {
        if let Some((since, until)) = there(other, place, &story.config) {
            paint(begin.max(since), end.min(until), '#');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::super::story::{Other, Sent};
    use super::*;
    use medium::{BitRate, Config, FrameId, Topology};

    fn event(station: u16, at: u64, kind: Kind) -> Event {
        let station = StationId::new(station);
        Event { at: BitInstant::new(at), frame: FrameId { station, serial: 7 }, station, kind }
    }

    /// A collision in the preamble: 64 BT of preamble and SFD, then 32 BT of jam (802.3, 4.2.3.2.4).
    #[test]
    fn an_attempt_is_drawn_at_each_senders_place() {
        let begins = Kind::Attempt { attempt: 1, excessive_deferral: false, burst: false };
        let collides = Kind::Collision { attempt: 1, late: false, episode: 1 };
        let jams = Kind::JamEnd { attempt: 1 };
        let events = [(1, 996, begins), (0, 1000, begins), (0, 1050, collides), (1, 1054, collides)];
        let mut scene = Scene::new(Config::new(BitRate::MBIT_10, Topology::star(2, 50), 0));
        for (station, at, kind) in events.into_iter().chain([(1, 1092, jams), (0, 1096, jams)]) {
            scene.event(&event(station, at, kind), None);
        }
        let mut sent = scene.signals.numbered().map(Sent::new);
        let other = Other { sent: sent.next().expect("an attempt"), lost: false };
        let (parts, others) = (sent.collect(), vec![other]);
        let names = ["a", "long"].map(str::to_owned).to_vec();
        let story = Story::new(FrameId { station: StationId::new(0), serial: 7 }, names, &scene);
        let one = Try { attempt: 1, parts, others, met: Vec::new() };
        let text = attempt(&one, &story).expect("it was sent");
        assert!(text.starts_with("  attempt 1: 0 is t = 1,000 BT, a column is 2 BT\n"), "{text}");
        let rows: Vec<&str> = text.lines().skip(3).collect();
        let own = format!("  a#7       {}X{}{}", "p".repeat(25), "p".repeat(6), "j".repeat(16));
        let other = format!("  long#7  {}X{}{}", "p".repeat(29), "p".repeat(2), "j".repeat(16));
        assert_eq!(rows, [own, other], "{text}");
        let zero = text.lines().nth(1).expect("labels").find('0').expect("zero");
        assert_eq!(zero, rows[0].find('p').expect("the first bit"), "{text}");
    }
}
