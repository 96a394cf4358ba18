//! The medium over place and time: stations side by side, the newest bit times at the bottom. On a cable they are at their
//! places; otherwise each has a lane.
//!
//! ```text
//!             st1          st2          st3
//!   -32 BT    pp           |            |          st1 begins
//!   -16 BT    pppp         pp           |          st2 begins before it hears st1
//!      now    Xppp##ppppp##pX           |          each notices the other at its own place
//! ```

use super::screen::{Screen, is_for_a_room, sender_style};
use medium::{BitInstant, BitTimes, Event, Kind, Method, StationId, Topology};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use say::terminal::cut;
use sim::scene::{Layout, Part, Shape, Signal};
use sim::words::places::place;
use sim::words::units::group;

/// Columns for the times.
const MARGIN: u16 = 12;
/// Columns that a station needs at least.
const ROOM: u16 = 5;
/// Columns of a lane at most.
const WIDEST: u16 = 9;
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
            "B BEACON, C COMMIT, p preamble and SFD, = frame, e delimiter, o told to wait for its turn, \
             X collision noticed, j jam, # several signals",
            "B BEACON C COMMIT p preamble = frame o told to wait X collision j jam",
        ),
        Method::CsmaCa(_) => ("= frame, r RTS, c CTS, a ACK, # several signals", "= frame r RTS c CTS a ACK # several"),
        _ => ("p preamble and SFD, = frame, # several signals", "p preamble = frame # several"),
    }
}

/// Where a column of the picture is on the medium.
enum Column {
    /// On the cable between two stations.
    Cable {
        left: StationId,
        right: StationId,
        /// 0 at `left`, 1 at `right`.
        part: f64,
        /// The stations at this column: of many, several have one place.
        stations: Vec<StationId>,
        /// It is halfway between both.
        middle: bool,
    },
    /// In a station's lane.
    Lane {
        station: StationId,
        /// It is in the middle of the lane.
        middle: bool,
    },
    /// Between two lanes.
    Nowhere,
}

impl Column {
    /// The stations that are drawn here.
    fn stations(&self) -> &[StationId] {
        match self {
            Column::Cable { stations, .. } => stations,
            Column::Lane { station, middle: true } => std::slice::from_ref(station),
            Column::Lane { middle: false, .. } | Column::Nowhere => &[],
        }
    }

    /// How long a signal takes to this place, if it is drawn there.
    fn delay(&self, one: &Signal, layout: &Layout, config: &medium::Config) -> Option<BitTimes> {
        let way = |to: StationId| config.way(one.source, one.begin, to);
        let (nearer, delay) = match self {
            Column::Cable { left, right, part, .. } => {
                let [begin, end] = [left, right].map(|end| way(*end).get() as f64);
                let nearer = if *part < 0.5 { left } else { right };
                (*nearer, BitTimes::new((begin + (end - begin) * part).round() as u64))
            }
            Column::Lane { station, .. } => (*station, way(*station)),
            Column::Nowhere => return None,
        };
        layout.shows(one, nearer, config).then_some(delay)
    }
}

/// How many stations fit beside each other.
pub fn fits(width: u16) -> usize {
    let room = if is_for_a_room(width) { ROOM * 2 } else { ROOM };
    usize::from((width.saturating_sub(MARGIN) / room).max(2))
}

/// Lines of a row: a room sees each instant twice as high.
fn lines(width: u16) -> u16 {
    if is_for_a_room(width) { 2 } else { 1 }
}

/// Bit times of a row, at least and at most, until the user chooses: an eighth of the way from end to end.
const ROWS: (u64, u64) = (1, 16);

/// Bit times of a row in a picture of this size. While a run is younger than the picture, rows are shorter.
pub fn row_bt(screen: &Screen<'_>, area: Rect) -> u64 {
    let config = screen.view.config();
    let longest = screen.view.signals.longest().get();
    let is_without_way = match Layout::new(config).shape {
        Shape::Cable => longest == 0,
        Shape::Places => longest < ROWS.1,
        Shape::Senders => true,
    };
    let usual = if is_without_way { ROWS.1 } else { (longest / 8).next_power_of_two().clamp(ROWS.0, ROWS.1) };
    let rows = u64::from(area.height.saturating_sub(1) / lines(area.width));
    let shorter = |row: &u64| (*row > ROWS.0).then_some(*row / 2);
    let fitting = std::iter::successors(Some(usual), shorter).find(|row| screen.view.now.get() * 2 >= row * rows);
    screen.row_bt.or(fitting).unwrap_or(ROWS.0)
}

/// Draws the medium with `shown`, at least one, beside each other: a row of names, then time.
pub fn draw(screen: &Screen<'_>, shown: &[StationId], area: Rect, buffer: &mut Buffer) {
    let width = area.width.saturating_sub(MARGIN + 4);
    let layout = screen.view.layout();
    let places = places(screen, &layout, shown, width);
    let columns = match layout.shape {
        Shape::Cable => cable(&places, width),
        Shape::Places | Shape::Senders => lanes(&places, width),
    };
    names(screen, &places, area, buffer);
    let lines = lines(area.width);
    let row_bt = row_bt(screen, area);
    for row in 1..area.height {
        let (before, lower) = ((area.height - 1 - row) / lines, (area.height - 1 - row).is_multiple_of(lines));
        let y = area.y + row;
        let back = u64::from(before) * row_bt;
        let Some(at) = screen.view.now.get().checked_sub(back).map(BitInstant::new) else { continue };
        if before == 0 && lower {
            buffer.set_string(area.x, y, format!("{:>9}", "now"), Style::default());
        } else if before.is_multiple_of(LABELS) && lower {
            buffer.set_string(area.x, y, format!("{:>9}", format!("-{} BT", group(back))), Style::default());
        }
        let longest = screen.view.signals.longest() + BitTimes::new(row_bt);
        let somewhere = |one: &&Signal| one.begin <= at && one.end.is_none_or(|end| end + longest > at);
        let signals: Vec<&Signal> = screen.view.signals.iter().filter(somewhere).collect();
        for (x, column) in columns.iter().enumerate() {
            let (letter, style) = cell(screen, &layout, &signals, column, at, row_bt, before == 0 && lower);
            buffer.set_string(area.x + MARGIN + x as u16, y, letter.to_string(), style);
        }
    }
}

/// The station that is drawn nearest to a column of the screen.
pub fn station_at(screen: &Screen<'_>, shown: &[StationId], area: Rect, x: u16) -> Option<StationId> {
    let width = area.width.saturating_sub(MARGIN + 4);
    let places = places(screen, &screen.view.layout(), shown, width);
    let x = x.checked_sub(area.x + MARGIN)?;
    places.into_iter().min_by_key(|(_, middle)| middle.abs_diff(x)).map(|(station, _)| station)
}

/// The place of each station: on a bus as on the cable, otherwise evenly; lanes have half of their room on each side.
fn places(screen: &Screen<'_>, layout: &Layout, shown: &[StationId], width: u16) -> Vec<(StationId, u16)> {
    let topology = &screen.view.config().topology;
    let last = f64::from(width.saturating_sub(1));
    let position = |station: StationId| place(topology, station).1.get() as f64;
    let ends = shown.first().zip(shown.last()).map(|(first, last)| (position(*first), position(*last)));
    let to_scale = matches!(topology, Topology::Bus { .. });
    let place = |(number, station): (usize, &StationId)| {
        let part = match ends {
            _ if layout.shape != Shape::Cable => (number as f64 + 0.5) / shown.len() as f64,
            Some((first, last)) if to_scale && last > first => (position(*station) - first) / (last - first),
            _ => number as f64 / (shown.len() - 1).max(1) as f64,
        };
        (*station, (last * part).round() as u16)
    };
    shown.iter().enumerate().map(place).collect()
}

/// The columns of a cable.
fn cable(places: &[(StationId, u16)], width: u16) -> Vec<Column> {
    let column = |x: u16| {
        let next = places.iter().position(|(_, at)| *at >= x).unwrap_or(places.len() - 1);
        let (right, end) = places[next];
        let (left, begin) = places[next.saturating_sub(1)];
        let part = if end > begin { f64::from(x.saturating_sub(begin)) / f64::from(end - begin) } else { 1.0 };
        let stations = places.iter().filter(|(_, at)| *at == x).map(|(station, _)| *station).collect();
        Column::Cable { left, right, part: part.min(1.0), stations, middle: x == begin.midpoint(end) }
    };
    (0..width).map(column).collect()
}

/// The columns of lanes, with a free one between two of them at least.
fn lanes(places: &[(StationId, u16)], width: u16) -> Vec<Column> {
    let room = places.windows(2).map(|pair| pair[1].1 - pair[0].1).min().unwrap_or(WIDEST);
    let half = (room.saturating_sub(2) / 2).min(WIDEST / 2);
    let column = |x: u16| {
        let lane = places.iter().find(|(_, middle)| middle.abs_diff(x) <= half);
        lane.map_or(Column::Nowhere, |(station, middle)| Column::Lane { station: *station, middle: *middle == x })
    };
    (0..width).map(column).collect()
}

/// Columns of a name that is cut because others are near; with less room it is left out.
const SHORTEST: usize = 4;

/// Names over their stations, as far as there is room; the chosen one always. Where two would touch, each of the
/// others is cut to the room between its neighbours.
fn names(screen: &Screen<'_>, places: &[(StationId, u16)], area: Rect, buffer: &mut Buffer) {
    let mut taken: Vec<(u16, u16)> = Vec::new();
    let whole = |station: StationId| screen.names[station.index()].as_str();
    let touch = |pair: &[(StationId, u16)]| {
        let both: usize = pair.iter().map(|(station, _)| whole(*station).chars().count()).sum();
        both / 2 + 1 > usize::from(pair[1].1.abs_diff(pair[0].1))
    };
    let crowded = places.windows(2).any(touch);
    let room = |(station, place): (StationId, u16)| {
        let others =
            places.iter().filter(|(other, _)| *other != station).map(|(_, at)| usize::from(at.abs_diff(place)));
        others.min().filter(|near| crowded && *near > SHORTEST).map_or(usize::MAX, |near| near - 1)
    };
    let is_chosen = |station: StationId| station == screen.chosen;
    let (chosen, others): (Vec<_>, Vec<_>) = places.iter().copied().partition(|(station, _)| is_chosen(*station));
    for (station, place) in chosen.into_iter().chain(others) {
        let room = if is_chosen(station) { usize::MAX } else { room((station, place)) };
        let text = cut(whole(station), room);
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
fn cell(
    screen: &Screen<'_>,
    layout: &Layout,
    signals: &[&Signal],
    column: &Column,
    at: BitInstant,
    row_bt: u64,
    newest: bool,
) -> (char, Style) {
    let config = screen.view.config();
    let part_at =
        |one: &Signal| one.part(BitInstant::new(at.get().checked_sub(column.delay(one, layout, config)?.get())?));
    let mut there = signals.iter().filter_map(|one| Some((*one, part_at(one)?)));
    let first = there.next();
    let more = there.next().is_some();
    if let Some(letter) = noticed(screen, row_bt, signals, column, at) {
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
            let empty = match column {
                Column::Cable { left, right, middle: true, .. }
                    if screen.view.signals.is_cut_between(*left, *right) =>
                {
                    '/'
                }
                Column::Cable { .. } if newest => cable,
                Column::Cable { .. } | Column::Lane { .. } | Column::Nowhere => ' ',
            };
            (if column.stations().is_empty() { empty } else { station }, Style::default().add_modifier(Modifier::DIM))
        }
    }
}

/// The mark of a collision that a station here notices in this row.
fn noticed(screen: &Screen<'_>, row_bt: u64, signals: &[&Signal], column: &Column, at: BitInstant) -> Option<char> {
    let here = column.stations();
    let in_row = |collided: u64| collided <= at.get() && at.get() < collided + row_bt;
    let own = |one: &&&Signal| here.contains(&one.source);
    let mut collided = signals.iter().filter(own).filter_map(|one| one.collision);
    if collided.any(|collision| in_row(collision.at.get())) {
        return Some('X');
    }
    // PLCA tells a MAC of a collision that is on no medium.
    let is_logical = |event: &Event| matches!(event.kind, Kind::Collision { episode: 0, .. });
    let told = |event: &&Event| here.contains(&event.station) && is_logical(event) && in_row(event.at.get());
    screen.view.recent.iter().rev().any(|event| told(&event)).then_some('o')
}
