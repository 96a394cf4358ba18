//! One attempt in a diagram: its stations, bands, and marks where senders notice the collision.

use super::super::story::{Sent, Story, Try};
use super::{COLOURS, Columns, LEFT, RIGHT, parts};
use crate::scene::{Part, Signal};
use crate::words::prose::escape;
use crate::words::sentences::TIED;
use crate::words::units::group;
use medium::{BitInstant, BitTimes, StationId};
use std::fmt::Write;

/// Points for the time that the longest signal takes.
const TALL: f64 = 330.0;
/// Points above the first bit: what the panel is, and the stations' names.
const ABOVE: f64 = 88.0;
/// Points below the last: who noticed what.
const BELOW: f64 = 30.0;
/// Points for each further line below.
const LINE: f64 = 18.0;
/// Parties that have a line of words each.
const TOLD: usize = 4;
/// Points between parties that leave room for words beside their marks.
const ROOM: f64 = 150.0;
/// Points between names of stations, so that they do not overlap.
const NAME: f64 = 64.0;
/// Points from one row of names to the next, and how many rows there are at most.
const ROW: f64 = 30.0;
const ROWS: usize = 4;

const ANY: &str = "a string takes any text";

/// One attempt, with all signals that met it.
pub struct Panel<'a> {
    one: &'a Try,
    own: &'a Sent,
    columns: &'a Columns,
    story: &'a Story,
    from: BitInstant,
    to: BitInstant,
}

impl<'a> Panel<'a> {
    /// Nothing of an attempt that was never on the medium.
    pub fn new(one: &'a Try, columns: &'a Columns, story: &'a Story) -> Option<Panel<'a>> {
        let (own, config) = (one.own()?, &story.config);
        let from = one.signals().map(|one| one.begin).min().unwrap_or(own.begin);
        let last = |one: &Signal| {
            let distance = |station: &StationId| config.way(one.source, one.begin, *station);
            let stations = columns.drawn.iter().map(|(station, _)| station);
            let reached = stations.filter(|station| one.reaches(**station, config));
            one.end.unwrap_or(story.read_to) + reached.map(distance).max().unwrap_or(BitTimes::ZERO)
        };
        let learns = own.collision.map_or(from, |collision| collision.at);
        let to = one.signals().map(last).max().unwrap_or(from).max(from + BitTimes::new(1)).max(learns);
        Some(Panel { one, own, columns, story, from, to })
    }

    fn name(&self, one: &Signal) -> String {
        self.story.signal_name(one).replace(TIED, " ")
    }

    /// Points from the panel's top to the next one's.
    pub fn height(&self) -> f64 {
        self.above() + TALL + BELOW + LINE * self.told().len() as f64
    }

    /// Points above the first bit.
    fn above(&self) -> f64 {
        let rows = self.names().iter().map(|(_, _, row)| row + 1).max().unwrap_or(1);
        ABOVE + ROW * (rows - 1) as f64
    }

    /// Stations that have a name in the picture, where, and in which row above it: parties first, since others may go
    /// without.
    fn names(&self) -> Vec<(StationId, f64, usize)> {
        let (parties, others): (Vec<_>, Vec<_>) =
            self.columns.drawn.iter().copied().partition(|(station, _)| self.columns.parties.contains(station));
        let mut named: Vec<(StationId, f64, usize)> = Vec::new();
        for ((station, x), rows) in parties.iter().map(|one| (*one, ROWS)).chain(others.iter().map(|one| (*one, 1))) {
            let is_free = |row: &usize| named.iter().all(|(_, other, taken)| taken != row || (other - x).abs() >= NAME);
            if let Some(row) = (0..rows).find(is_free) {
                named.push((station, x, row));
            }
        }
        named
    }

    /// How far below the first bit an instant is.
    fn down(&self, at: BitInstant) -> f64 {
        TALL * at.since(self.from).get() as f64 / self.to.since(self.from).get() as f64
    }

    /// The panel with its top at `top`.
    pub fn draw(&self, top: f64) -> String {
        let own = self.own;
        let mut text = format!(
            "<g class=\"attempt\" data-attempt=\"{}\" data-zero=\"{}\">\n<text class=\"ink\" x=\"24\" y=\"{:.1}\">Attempt {}: \
             0 BT is t = {} BT</text>\n",
            own.attempt,
            own.begin.get(),
            top + 16.0,
            own.attempt,
            group(own.begin.get())
        );
        let first = top + self.above();
        text += &self.ticks(first);
        text += &self.stations(first);
        let bands = |jam: bool| {
            let all = self.one.signals().enumerate();
            let parts =
                all.flat_map(|(number, one)| parts(one, self.story.read_to).map(move |part| (number, one, part)));
            let wanted = parts.filter(|(_, _, (kind, ..))| (*kind == Part::Jam.name()) == jam);
            wanted.map(|(number, one, part)| self.bands(one, number, part, first)).collect::<String>()
        };
        text += &bands(false);
        text += &self.overlaps(first);
        text += &bands(true);
        text += &self.edges(first);
        for one in self.one.signals() {
            text += &self.marks(one, first);
        }
        for (number, line) in self.told().iter().enumerate() {
            let y = first + TALL + BELOW + LINE * number as f64;
            writeln!(text, "<text class=\"ink\" x=\"{LEFT}\" y=\"{y:.1}\">{}</text>", escape(line)).expect(ANY);
        }
        text + "</g>\n"
    }

    /// Lines across at even bit times from the attempt's own begin, and what they are.
    fn ticks(&self, first: f64) -> String {
        let (zero, span) = (self.own.begin, self.to.since(self.from).get());
        let step = [8, 16, 32, 64, 128, 256, 512].into_iter().find(|step| span / step <= 10);
        let step = step.unwrap_or_else(|| (span / 10).next_power_of_two());
        let before = zero.since(self.from).get() / step;
        let mut text = String::new();
        for number in 0..=before + self.to.since(zero).get() / step {
            let at = BitInstant::new(zero.get() - before * step + number * step);
            let y = first + self.down(at);
            let label = match number < before {
                true => format!("−{}", group((before - number) * step)),
                false => group((number - before) * step),
            };
            write!(
                text,
                "<line class=\"tick\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n\
                 <text class=\"faint tick-label\" data-t=\"{}\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{label} BT</text>\n",
                at.get(),
                LEFT - 18.0,
                y + 4.0
            )
            .expect(ANY);
        }
        text
    }

    fn stations(&self, first: f64) -> String {
        let mut text = String::new();
        for (station, x) in &self.columns.drawn {
            writeln!(
                text,
                "<line class=\"station\" data-station=\"{}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                escape(&self.story.names[station.index()]),
                first - 8.0,
                first + TALL
            )
            .expect(ANY);
        }
        for (station, x, row) in self.names() {
            let own = self.own.source;
            let far = match self.story.config.way(own, self.own.begin, station) {
                _ if station == own => "the frame's own".to_owned(),
                distance => format!("{} BT away", group(distance.get())),
            };
            let y = first - 40.0 - ROW * row as f64;
            write!(
                text,
                "<text class=\"ink name\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>\n\
                 <text class=\"faint\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{far}</text>\n",
                escape(&self.story.names[station.index()]),
                y + 15.0,
            )
            .expect(ANY);
        }
        text
    }

    /// How far down the picture an instant at a sender's place is at another station.
    fn edge(&self, one: &Signal, station: StationId, at: BitInstant, first: f64) -> f64 {
        first + self.down(at + self.story.config.way(one.source, one.begin, station))
    }

    /// The corners of a signal from one instant to another, for each stretch of stations in a row.
    fn outlines(&self, one: &Signal, from: BitInstant, to: BitInstant, first: f64) -> Vec<String> {
        let outline = |places: Vec<(StationId, f64)>| {
            let above = places.iter().map(|(station, x)| (x, self.edge(one, *station, from, first)));
            let below = places.iter().rev().map(|(station, x)| (x, self.edge(one, *station, to, first)));
            above.chain(below).map(|(x, y)| format!("{x:.1},{y:.2}")).collect::<Vec<_>>().join(" ")
        };
        self.columns.stretches(one, &self.story.config).map(outline).collect()
    }

    fn end(&self, one: &Signal) -> BitInstant {
        one.end.unwrap_or(self.story.read_to)
    }

    /// Where signals meet: each one, cut out to where a later one is.
    fn overlaps(&self, first: f64) -> String {
        let name = |number: usize| format!("signal-{}-{number}", self.own.begin.get());
        let (mut whole, mut met) = (String::new(), String::new());
        for (number, one) in self.one.signals().enumerate() {
            let outlines = self.outlines(one, one.begin, self.end(one), first);
            let path: String = outlines.iter().map(|points| format!("M{points}Z")).collect();
            let name = name(number);
            write!(
                whole,
                "<path id=\"{name}\" d=\"{path}\"/>\n<clipPath id=\"in-{name}\"><use href=\"#{name}\"/></clipPath>\n"
            )
            .expect(ANY);
        }
        let all = self.one.signals().count();
        for number in 0..all {
            let later: String = (number + 1..all).map(|other| format!("<use href=\"#{}\"/>", name(other))).collect();
            if !later.is_empty() {
                writeln!(met, "<g class=\"overlap\" clip-path=\"url(#in-{})\">{later}</g>", name(number)).expect(ANY);
            }
        }
        if met.is_empty() { met } else { format!("<defs>\n{whole}</defs>\n{met}") }
    }

    /// The first and the last bit of each signal on their way.
    fn edges(&self, first: f64) -> String {
        let mut text = String::new();
        for (number, one) in self.one.signals().enumerate() {
            for (class, at) in [("leading", one.begin), ("trailing", self.end(one))] {
                for places in self.columns.stretches(one, &self.story.config) {
                    let points =
                        places.iter().map(|(station, x)| format!("{x:.1},{:.2}", self.edge(one, *station, at, first)));
                    writeln!(
                        text,
                        "<polyline class=\"edge {class} s{}\" points=\"{}\"/>",
                        number % COLOURS.len(),
                        points.collect::<Vec<_>>().join(" ")
                    )
                    .expect(ANY);
                }
            }
        }
        text
    }

    /// A part of a signal on its way to all whom it reaches: one polygon for each stretch of stations in a row.
    fn bands(&self, one: &Signal, number: usize, part: (&str, BitInstant, BitInstant), first: f64) -> String {
        let (kind, from, to) = part;
        let mut text = String::new();
        for points in self.outlines(one, from, to, first) {
            writeln!(
                text,
                "<polygon class=\"band {kind} s{}\" data-frame=\"{}\" data-attempt=\"{}\" data-from=\"{}\" data-to=\"{}\" \
                 points=\"{points}\"><title>{}: {kind}</title></polygon>",
                number % COLOURS.len(),
                escape(&self.name(one)),
                if one.frame == self.own.frame { self.one.attempt } else { one.attempt },
                from.get(),
                to.get(),
                escape(&self.name(one)),
            )
            .expect(ANY);
        }
        text
    }

    /// Whose signal it is, where it begins, and where its sender notices the collision.
    fn marks(&self, one: &Signal, first: f64) -> String {
        let x = self.columns.x(one.source);
        let (anchor, beside) = if x < (LEFT + RIGHT) / 2.0 { ("start", x + 14.0) } else { ("end", x - 14.0) };
        let has_room = self.columns.room() >= ROOM;
        let frame = escape(&self.name(one));
        let words = |at: BitInstant, words: &str| {
            let y = first + self.down(at);
            format!("<text class=\"ink halo\" x=\"{beside:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
        };
        let mut text = String::new();
        if has_room {
            let middle = |from: BitInstant, to: BitInstant| BitInstant::new((from.get() + to.get()) / 2);
            if let Some((_, from, to)) = parts(one, self.story.read_to).find(|(part, ..)| *part == "jam") {
                text += &words(middle(from, to), "jam");
            }
            // Below the edge, since the band slants away from it.
            let y = first + self.down(one.begin) - 4.0;
            writeln!(
                text,
                "<text class=\"ink halo\" x=\"{beside:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{frame}</text>"
            )
            .expect(ANY);
        }
        if let Some(collision) = one.collision {
            let y = first + self.down(collision.at);
            text += &cross(x, y, &format!(" data-frame=\"{frame}\" data-at=\"{}\"", collision.at.get()));
        }
        text
    }

    /// Who noticed the collision when, in lines.
    fn told(&self) -> Vec<String> {
        let zero = self.own.begin;
        let when = |at: BitInstant| match at.get().checked_sub(zero.get()) {
            Some(after) => group(after),
            None => format!("−{}", group(zero.get() - at.get())),
        };
        let one = |one: &Signal| {
            let frame = self.name(one);
            let noticed = match (one.collision, one.end) {
                (Some(collision), _) if !self.story.config.detects_collisions() => {
                    format!("learns of the collision at {} BT, as no acknowledgement comes", when(collision.at))
                }
                (None, Some(end)) if !self.story.config.detects_collisions() => format!("ends at {} BT", when(end)),
                (Some(collision), _) => format!("notices the collision at {} BT", when(collision.at)),
                (None, Some(end)) => format!("notices no collision, and ends at {} BT", when(end)),
                (None, None) => "notices no collision before the trace ends".to_owned(),
            };
            format!("{frame} begins at {} BT and {noticed}.", when(one.begin))
        };
        let mut lines: Vec<String> = self.one.signals().take(TOLD).map(one).collect();
        match self.one.others.len().saturating_sub(TOLD - 1) {
            0 => {}
            1 => lines.push("One further signal is drawn.".to_owned()),
            further => lines.push(format!("{further} further signals are drawn.")),
        }
        lines
    }
}

/// The mark of a collision that is noticed, with further attributes.
pub fn cross(x: f64, y: f64, attributes: &str) -> String {
    let (left, right, up, down) = (x - 5.0, x + 5.0, y - 5.0, y + 5.0);
    format!(
        "<path class=\"mark\"{attributes} d=\"M{left:.1} {up:.2}L{right:.1} {down:.2}M{left:.1} {down:.2}L{right:.1} {up:.2}\"/>\n"
    )
}
