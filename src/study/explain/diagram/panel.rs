//! One attempt in a diagram: its stations, bands, and marks where senders notice the collision.

use super::super::{Meeting, Transmission};
use super::{COLOURS, Columns, LEFT, RIGHT, parts};
use crate::study::page::escape;
use medium::{BitInstant, BitTimes, Config, StationId};
use sim::words::units::group;
use std::fmt::Write;

/// Points for the time that the longest signal takes.
const TALL: f64 = 330.0;
/// Points above the first bit: what the panel is, and the stations' names.
const ABOVE: f64 = 88.0;
/// Points below the last: who noticed what.
const BELOW: f64 = 30.0;
/// Points for each further line below.
const LINE: f64 = 18.0;
/// Parties that are told of in one line.
const TOLD: usize = 4;
/// Points between parties that leave room for words beside their marks.
const ROOM: f64 = 150.0;
/// Points between names of stations, so that they do not overlap.
const NAME: f64 = 64.0;
/// Half the width of a band that nobody but its sender is reached by.
const ALONE: f64 = 10.0;

const ANY: &str = "a string takes any text";

/// One attempt, with all who met it.
pub struct Panel<'a> {
    meeting: &'a Meeting,
    columns: &'a Columns,
    config: &'a Config,
    names: &'a [String],
    read_to: BitInstant,
    from: BitInstant,
    to: BitInstant,
}

impl<'a> Panel<'a> {
    pub fn new(
        meeting: &'a Meeting,
        columns: &'a Columns,
        config: &'a Config,
        names: &'a [String],
        read_to: BitInstant,
    ) -> Panel<'a> {
        let all = || std::iter::once(&meeting.own).chain(&meeting.others);
        let from = all().map(|one| one.begin).min().unwrap_or(meeting.own.begin);
        let last = |one: &Transmission| {
            let distance = |station: &StationId| config.topology.distance(one.source(), *station);
            let reached = columns.drawn.iter().map(|(station, _)| station).filter(|station| one.reaches(**station));
            one.end.unwrap_or(read_to) + reached.map(distance).max().unwrap_or(BitTimes::ZERO)
        };
        let learns = meeting.own.collision.map_or(from, |collision| collision.at);
        let to = all().map(last).max().unwrap_or(from).max(from + BitTimes::new(1)).max(learns);
        Panel { meeting, columns, config, names, read_to, from, to }
    }

    /// Points from the panel's top to the next one's.
    pub fn height(&self) -> f64 {
        ABOVE + TALL + BELOW + LINE * self.told().len() as f64
    }

    fn all(&self) -> impl Iterator<Item = &Transmission> {
        std::iter::once(&self.meeting.own).chain(&self.meeting.others)
    }

    /// Where an instant stands below the first bit.
    fn down(&self, at: BitInstant) -> f64 {
        TALL * at.since(self.from).get() as f64 / self.to.since(self.from).get() as f64
    }

    /// The panel with its top at `top`.
    pub fn draw(&self, top: f64) -> String {
        let own = &self.meeting.own;
        let mut text = format!(
            "<g class=\"attempt\" data-attempt=\"{}\" data-zero=\"{}\">\n<text class=\"ink\" x=\"24\" y=\"{:.1}\">Attempt {}: \
             0 BT is t = {} BT</text>\n",
            own.attempt,
            own.begin.get(),
            top + 16.0,
            own.attempt,
            group(own.begin.get())
        );
        let first = top + ABOVE;
        text += &self.ticks(first);
        text += &self.stations(first);
        for (number, one) in self.all().enumerate() {
            for part in parts(one, self.read_to) {
                text += &self.bands(one, number, part, first);
            }
        }
        for one in self.all() {
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
        let (zero, span) = (self.meeting.own.begin, self.to.since(self.from).get());
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
        let mut taken: Vec<f64> = self.columns.parties.iter().map(|party| self.columns.x(*party)).collect();
        for (station, x) in &self.columns.drawn {
            writeln!(
                text,
                "<line class=\"station\" data-station=\"{}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                escape(&self.names[station.index()]),
                first - 8.0,
                first + TALL
            )
            .expect(ANY);
            let is_party = self.columns.parties.contains(station);
            if !is_party && taken.iter().any(|other| (other - x).abs() < NAME) {
                continue;
            }
            taken.push(*x);
            let own = self.meeting.own.source();
            let far = match self.config.topology.distance(own, *station) {
                _ if *station == own => "the frame's own".to_owned(),
                distance => format!("{} BT away", group(distance.get())),
            };
            write!(
                text,
                "<text class=\"ink\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
                 <text class=\"faint\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{far}</text>\n",
                first - 40.0,
                escape(&self.names[station.index()]),
                first - 25.0,
            )
            .expect(ANY);
        }
        text
    }

    /// A part of a signal on its way to all whom it reaches: one polygon for each stretch of stations in a row.
    fn bands(&self, one: &Transmission, number: usize, part: super::Part, first: f64) -> String {
        let (kind, from, to) = part;
        let edge = |station: StationId, at: BitInstant| {
            first + self.down(at + self.config.topology.distance(one.source(), station))
        };
        let mut text = String::new();
        for stretch in self.columns.drawn.chunk_by(|(a, _), (b, _)| one.reaches(*a) == one.reaches(*b)) {
            if !one.reaches(stretch[0].0) {
                continue;
            }
            let mut places: Vec<(StationId, f64)> = stretch.to_vec();
            if let [(station, x)] = places[..] {
                places = vec![(station, x - ALONE), (station, x + ALONE)];
            }
            let above = places.iter().map(|(station, x)| (x, edge(*station, from)));
            let below = places.iter().rev().map(|(station, x)| (x, edge(*station, to)));
            let points: Vec<String> = above.chain(below).map(|(x, y)| format!("{x:.1},{y:.2}")).collect();
            writeln!(
                text,
                "<polygon class=\"band {kind} s{}\" data-frame=\"{}\" data-attempt=\"{}\" data-from=\"{}\" data-to=\"{}\" \
                 points=\"{}\"><title>{}: {kind}</title></polygon>",
                number % COLOURS.len(),
                escape(&one.name(self.names)),
                one.attempt,
                from.get(),
                to.get(),
                points.join(" "),
                escape(&one.name(self.names)),
            )
            .expect(ANY);
        }
        text
    }

    /// Whose signal it is, where it begins, and where its sender notices the collision.
    fn marks(&self, one: &Transmission, first: f64) -> String {
        let x = self.columns.x(one.source());
        let (anchor, beside) = if x < (LEFT + RIGHT) / 2.0 { ("start", x + 14.0) } else { ("end", x - 14.0) };
        let has_room = self.columns.room() >= ROOM;
        let frame = escape(&one.name(self.names));
        let words = |at: BitInstant, words: &str| {
            let y = first + self.down(at);
            format!("<text class=\"ink halo\" x=\"{beside:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n")
        };
        let mut text = String::new();
        if has_room {
            let middle = |from: BitInstant, to: BitInstant| BitInstant::new((from.get() + to.get()) / 2);
            if let Some((_, from, to)) = parts(one, self.read_to).into_iter().find(|(part, ..)| *part == "jam") {
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
        let zero = self.meeting.own.begin;
        let when = |at: BitInstant| match at.get().checked_sub(zero.get()) {
            Some(after) => group(after),
            None => format!("−{}", group(zero.get() - at.get())),
        };
        let one = |one: &Transmission| {
            let frame = one.name(self.names);
            let noticed = match (one.collision, one.end) {
                (Some(collision), _) if !self.config.detects_collisions() => {
                    format!("learns of the collision at {} BT, as no acknowledgement comes", when(collision.at))
                }
                (None, Some(end)) if !self.config.detects_collisions() => format!("ends at {} BT", when(end)),
                (Some(collision), _) => format!("notices the collision at {} BT", when(collision.at)),
                (None, Some(end)) => format!("notices no collision, and ends at {} BT", when(end)),
                (None, None) => "notices no collision before the log ends".to_owned(),
            };
            format!("{frame} begins at {} BT and {noticed}.", when(one.begin))
        };
        let mut lines: Vec<String> = self.all().take(TOLD).map(one).collect();
        match self.meeting.others.len().saturating_sub(TOLD - 1) {
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
