//! A frame's life in words: the one teller. Each access method has its sentences in a file of its own; what a step took
//! place among is data by then (`story`), and becomes text here.

mod contention;
mod csma_cd;
pub mod findings;
mod heard;
mod met;
mod noise;
mod plca;
mod wireless;

use super::plca::draw_life;
use super::story::{Step, Story};
use super::{ToldLife, ToldStep, diagram};
use crate::words::configuration::kind;
use crate::words::lines::wrap;
use crate::words::sentences::{self, TIED};
use crate::words::units::group;
use medium::{BitInstant, BitTimes, Destination, Method, StationId};

/// Columns that instant, time since the first step, and the same in seconds have at least.
const COLUMNS: [usize; 3] = [16, 12, 8];

/// What each access method says in its own words.
trait Teller {
    /// The medium and the method, in lines.
    fn heading(&self) -> String;
    /// How many steps from this one on have the same words, and these words.
    fn step(&self, number: usize) -> (usize, String);
    /// What is said of a life whose end the trace does not have.
    fn ending(&self, cut: &str) -> String;
    /// The picture: the attempts and the whole life along an axis of bit times.
    fn drawn(&self) -> String;
    /// The whole life in one paragraph.
    fn in_short(&self) -> String;
    /// The table of steps has a column in seconds.
    fn is_in_time(&self) -> bool {
        false
    }
}

fn teller(story: &Story) -> Box<dyn Teller + '_> {
    match (&story.config.method, &story.segment) {
        (Method::Plca(_), Some(on)) => Box::new(plca::Words { story, on }),
        (Method::CsmaCd | Method::Plca(_), _) => Box::new(csma_cd::Words(story)),
        _ => Box::new(contention::Words(story)),
    }
}

/// Tells the whole life: what it is about, step by step, drawn, and in short.
pub fn tell(story: &Story) -> String {
    let teller = teller(story);
    let of = if story.run.is_empty() { String::new() } else { format!(" of `{}`", story.run) };
    let sender = story.emulated.sender(&story.names[story.frame.station.index()]);
    let mut text = format!("Frame {}{of}\n{sender}{}\n\n", story.name(story.frame), teller.heading());
    text += &table(story, &*teller);
    text += &ending(story, &*teller);
    text += &kept(story);
    text += &story.emulated.tell(&story.names);
    text += &teller.drawn();
    text += &teller.in_short();
    text.replace(TIED, " ")
}

/// The life as data: stations that heard the same of one transmission share a step.
pub fn data(story: &Story) -> ToldLife {
    let told = |(step, says): (&Step, String)| ToldStep::new(step.at, step.name(), &says);
    ToldLife::new(&story.names, story.frame, told_steps(story, &*teller(story)).into_iter().map(told).collect())
}

/// The frame on the medium as SVG; nothing if it was never there.
pub fn draw(story: &Story) -> Option<String> {
    match &story.segment {
        Some(on) => {
            let waited = story.waited().map_or(String::new(), |wait| {
                format!(": {} from the head of its queue to its first bit", story.span(wait))
            });
            let title = format!("Frame {}{waited}", story.name(story.frame)).replace(TIED, " ");
            draw_life(on, &title)
        }
        None => diagram::draw(story),
    }
}

/// Each step with its words.
fn told_steps<'a>(story: &'a Story, teller: &dyn Teller) -> Vec<(&'a Step, String)> {
    let (mut told, mut number) = (Vec::new(), 0);
    while let Some(step) = story.steps.get(number) {
        let (steps, words) = teller.step(number);
        told.push((step, words));
        number += steps.max(1);
    }
    told
}

fn table(story: &Story, teller: &dyn Teller) -> String {
    let begin = story.steps.first().map_or(BitInstant::ZERO, |step| step.at);
    let cells = |at: BitInstant| {
        let since = at.since(begin);
        [group(at.get()), group(since.get()), sentences::real(since, story.config.rate)]
    };
    // Wider where a number needs it, so that columns never run together.
    let [mut t, mut since, mut real] = COLUMNS;
    for [at, after, in_time] in story.steps.iter().map(|step| cells(step.at)) {
        (t, since) = (t.max(at.len()), since.max(after.len() + 2));
        real = real.max(in_time.chars().count());
    }
    let time = if teller.is_in_time() { "  in time" } else { "" };
    let mut text = format!("{:>t$}{:>since$}{time}\n", "t in BT", "since then");
    for (step, what) in told_steps(story, teller) {
        let [at, after, in_time] = cells(step.at);
        text += &match teller.is_in_time() {
            true => wrap(&format!("{at:>t$}{after:>since$}  {in_time:<real$}"), t + since + real + 4, &what),
            false => wrap(&format!("{at:>t$}{after:>since$}"), t + since + 2, &what),
        };
    }
    text
}

/// What the trace does not have of the frame's time.
fn kept(story: &Story) -> String {
    if story.steps.first().is_none_or(|step| step.at >= story.kept_from) {
        return String::new();
    }
    let from = group(story.kept_from.get());
    let what = format!(
        "The trace has everything from {from} BT on. Of the time before it has only frames that were not over then: others \
         that this frame met are missing."
    );
    format!("\n{}\n", wrap("", 0, &what).trim_end())
}

fn ending(story: &Story, teller: &dyn Teller) -> String {
    let cut = story.cut_short.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
    match (story.end, cut.is_empty()) {
        (None, _) => teller.ending(&cut),
        (Some(_), true) => String::new(),
        (Some(_), false) => format!("\nThe trace is not whole{cut}.\n"),
    }
}

impl Story {
    /// The medium, in a line.
    fn medium(&self) -> String {
        let topology = &self.config.topology;
        format!(
            "{}, {} of {} stations, at most {} from one to another, seed {}; 1 BT is {}{}",
            self.config.rate,
            kind(topology),
            topology.stations(),
            self.span(topology.longest_distance()),
            self.config.seed,
            sentences::real(BitTimes::new(1), self.config.rate),
            self.clocks(),
        )
    }

    /// The stations whose clocks are off: `; the clock of st2 is fast by 50 ppm`.
    fn clocks(&self) -> String {
        let off = || (0..).zip(&self.config.clocks_ppm).filter(|(_, ppm)| **ppm != 0);
        match off().count() {
            many @ 5.. => format!("; the clocks of {many} stations are off"),
            _ => off()
                .map(|(number, ppm)| {
                    let how = if *ppm > 0 { "fast" } else { "slow" };
                    let station = self.station(StationId::new(number));
                    format!("; the clock of {station} is {how} by {} ppm", group(ppm.unsigned_abs().into()))
                })
                .collect(),
        }
    }

    /// Whom it is for, if the trace says so: ` for st2`.
    fn whom(&self) -> String {
        match self.destination {
            Some(Destination::Station(to)) => format!(" for {}", self.station(to)),
            Some(Destination::All) => " for all stations".to_owned(),
            Some(Destination::Nobody | Destination::Beyond(_)) => " for an address that no station has".to_owned(),
            None => String::new(),
        }
    }

    /// From the head of the queue to the first bit, once it is transmitted.
    fn waited(&self) -> Option<BitTimes> {
        self.steps.iter().find_map(|step| match step.kind() {
            Some(medium::Kind::Transmitted { access_delay, .. }) => Some(*access_delay),
            _ => None,
        })
    }

    /// The trace ends before the frame does: when, and how long after its first step.
    fn not_ended(&self, cut: &str) -> String {
        format!(
            "The trace ends at t = {}, {} after the frame was first heard of and before its end{cut}",
            group(self.read_to.get()),
            self.span(self.lived())
        )
    }
}

/// `1 attempt`, `2 attempts`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
