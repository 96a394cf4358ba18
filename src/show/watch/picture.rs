//! The medium over place and time: stations side by side at their places, the newest bit times at the bottom.
//!
//! ```text
//!             st1          st2          st3
//!   -32 BT    pp           |            |          st1 begins
//!   -16 BT    pppp         pp           |          st2 begins before it hears st1
//!      now    Xppp##ppppp##pX           |          each notices the other at its own place
//! ```

use super::screen::{Screen, sender_style};
use medium::{BitInstant, BitTimes, Method, StationId, Topology};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use sim::run::view::View;
use sim::scene::{Part, Signal};
use sim::words::units::group;

/// Columns for the times.
const MARGIN: u16 = 12;
/// Columns that a station needs at least.
const ROOM: u16 = 5;
/// Rows from one time to the next.
const LABELS: u16 = 4;

/// What the letters mean, by method: in full, and where there is less room.
pub fn letters(method: &Method) -> (&'static str, &'static str) {
    match method {
        Method::CsmaCd => (
            "p preamble and SFD, = frame, X collision noticed, j jam, e extension, # several signals",
            "p preamble = frame X collision j jam e extension # several",
        ),
        Method::Plca(_) => (
            "B BEACON, C COMMIT, p preamble and SFD, = frame, e delimiter, X collision noticed, j jam, # several signals",
            "B BEACON C COMMIT p preamble = frame X collision j jam # several",
        ),
        Method::CsmaCa(_) => ("= frame, r RTS, c CTS, a ACK, # several signals", "= frame r RTS c CTS a ACK # several"),
        _ => ("p preamble and SFD, = frame, # several signals", "p preamble = frame # several"),
    }
}

/// Where a column of the picture is on the medium: between two stations.
struct Column {
    left: StationId,
    right: StationId,
    /// 0 at `left`, 1 at `right`.
    part: f64,
    /// The station at this column.
    station: Option<StationId>,
    /// It is halfway between both.
    middle: bool,
}

impl Column {
    fn delay(&self, from: StationId, topology: &Topology) -> BitTimes {
        let [left, right] = [self.left, self.right].map(|end| topology.distance(from, end).get() as f64);
        BitTimes::new((left + (right - left) * self.part).round() as u64)
    }

    /// The station on whose side of a cut the column is.
    fn nearer(&self) -> StationId {
        if self.part < 0.5 { self.left } else { self.right }
    }
}

/// How many stations fit beside each other.
pub fn fits(width: u16) -> usize {
    usize::from((width.saturating_sub(MARGIN) / ROOM).max(2))
}

/// Draws the medium with `shown`, at least one, beside each other: a row of names, then time.
pub fn draw(screen: &Screen<'_>, shown: &[StationId], area: Rect, buffer: &mut Buffer) {
    let width = area.width.saturating_sub(MARGIN + 4);
    let places = places(screen.view.config(), shown, width);
    let columns = columns(&places, width);
    names(screen, &places, area, buffer);
    for row in 1..area.height {
        let before = area.height - 1 - row;
        let y = area.y + row;
        let back = u64::from(before) * screen.row_bt;
        let Some(at) = screen.view.now.get().checked_sub(back).map(BitInstant::new) else { continue };
        if before == 0 {
            buffer.set_string(area.x, y, format!("{:>9}", "now"), Style::default());
        } else if before.is_multiple_of(LABELS) {
            buffer.set_string(area.x, y, format!("{:>9}", format!("-{} BT", group(back))), Style::default());
        }
        let longest = screen.view.signals.longest() + BitTimes::new(screen.row_bt);
        let somewhere = |one: &&Signal| one.begin <= at && one.end.is_none_or(|end| end + longest > at);
        let signals: Vec<&Signal> = screen.view.signals.iter().filter(somewhere).collect();
        for (x, column) in columns.iter().enumerate() {
            let (letter, style) = cell(screen, &signals, column, at, before == 0);
            buffer.set_string(area.x + MARGIN + x as u16, y, letter.to_string(), style);
        }
    }
}

/// The place of each station: on a bus as on the cable, otherwise evenly.
fn places(config: &medium::Config, shown: &[StationId], width: u16) -> Vec<(StationId, u16)> {
    let last = f64::from(width.saturating_sub(1));
    let position = |station: StationId| match &config.topology {
        Topology::Bus { positions } => Some(positions[station.index()].get() as f64),
        Topology::Star { .. } | Topology::Segments(_) => None,
    };
    let ends = shown.first().zip(shown.last()).and_then(|(a, b)| position(*a).zip(position(*b)));
    let place = |(number, station): (usize, &StationId)| {
        let even = number as f64 / (shown.len() - 1).max(1) as f64;
        let part = match (ends, position(*station)) {
            (Some((first, last)), Some(own)) if last > first => (own - first) / (last - first),
            _ => even,
        };
        (*station, (last * part).round() as u16)
    };
    shown.iter().enumerate().map(place).collect()
}

fn columns(places: &[(StationId, u16)], width: u16) -> Vec<Column> {
    let column = |x: u16| {
        let next = places.iter().position(|(_, at)| *at >= x).unwrap_or(places.len() - 1);
        let (right, end) = places[next];
        let (left, begin) = places[next.saturating_sub(1)];
        let part = if end > begin { f64::from(x.saturating_sub(begin)) / f64::from(end - begin) } else { 1.0 };
        let station = places.iter().find(|(_, at)| *at == x).map(|(station, _)| *station);
        Column { left, right, part: part.min(1.0), station, middle: x == begin.midpoint(end) }
    };
    (0..width).map(column).collect()
}

/// Names over their stations, as far as there is room; the chosen one always.
fn names(screen: &Screen<'_>, places: &[(StationId, u16)], area: Rect, buffer: &mut Buffer) {
    let mut taken: Vec<(u16, u16)> = Vec::new();
    let is_chosen = |station: StationId| station == screen.chosen;
    let (chosen, others): (Vec<_>, Vec<_>) = places.iter().copied().partition(|(station, _)| is_chosen(*station));
    for (station, place) in chosen.into_iter().chain(others) {
        let text = &screen.names[station.index()];
        let length = text.chars().count() as u16;
        let middle = area.x + MARGIN + place;
        let x = middle.saturating_sub(length / 2).min((area.x + area.width).saturating_sub(length));
        if taken.iter().any(|(from, to)| x < *to + 1 && *from < x + length + 1) {
            continue;
        }
        taken.push((x, x + length));
        let style = sender_style(screen.look, station);
        let style = if is_chosen(station) { style.add_modifier(Modifier::REVERSED) } else { style };
        buffer.set_string(x, area.y, text, style);
    }
}

/// What is at a place at an instant.
fn cell(screen: &Screen<'_>, signals: &[&Signal], column: &Column, at: BitInstant, newest: bool) -> (char, Style) {
    let view = screen.view;
    let mut there = signals.iter().filter_map(|one| Some((*one, part_at(view, column, one, at)?)));
    let first = there.next();
    let more = there.next().is_some();
    if let Some(letter) = noticed(screen, signals, column, at) {
        let style = Style::default().add_modifier(Modifier::BOLD | Modifier::REVERSED);
        return (letter, style);
    }
    match first {
        Some(_) if more => ('#', Style::default().add_modifier(Modifier::BOLD)),
        Some((one, part)) => {
            let letter = match part {
                Part::Preamble => 'p',
                Part::Frame => '=',
                Part::Jam => 'j',
                Part::Extension => 'e',
                Part::Rts => 'r',
                Part::Cts => 'c',
                Part::Ack => 'a',
                Part::Beacon => 'B',
                Part::Commit => 'C',
            };
            let style = sender_style(screen.look, one.source).add_modifier(Modifier::REVERSED);
            let followed = screen.followed == Some(one.frame);
            (letter, if followed { style.add_modifier(Modifier::BOLD) } else { style })
        }
        None => {
            let (cable, station) = if screen.look.unicode { ('─', '│') } else { ('-', '|') };
            let cut = column.middle && screen.view.signals.is_cut_between(column.left, column.right);
            let empty = match (cut, newest) {
                (true, _) => '/',
                (false, true) => cable,
                (false, false) => ' ',
            };
            (column.station.map_or(empty, |_| station), Style::default().add_modifier(Modifier::DIM))
        }
    }
}

/// What of a signal is at a place.
fn part_at(view: &View, column: &Column, one: &Signal, at: BitInstant) -> Option<Part> {
    if !one.reaches(column.nearer(), view.config()) {
        return None;
    }
    let delay = column.delay(one.source, &view.config().topology);
    one.part(BitInstant::new(at.get().checked_sub(delay.get())?))
}

/// The mark of a collision that the station here notices in this row.
fn noticed(screen: &Screen<'_>, signals: &[&Signal], column: &Column, at: BitInstant) -> Option<char> {
    let station = column.station?;
    let in_row = |collided: u64| collided <= at.get() && at.get() < collided + screen.row_bt;
    let own = |one: &&&Signal| one.source == station;
    let mut collided = signals.iter().filter(own).filter_map(|one| one.collision);
    collided.any(|collision| in_row(collision.at.get())).then_some('X')
}
