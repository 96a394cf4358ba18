//! A bus with PLCA: what goes wrong on the segment and why, and the line while one frame lived.
//!
//! `segment` folds a trace into setups, with what each node did and met in each; `causes` finds what is wrong in it, `dynamic` what D-PLCA found; `turns` has what was
//! on the line in a stretch of time; `rows` and `picture` draw that; `statistics` has INET's names.

pub(super) mod causes;
mod chips;
pub(super) mod dynamic;
pub(super) mod noise;
mod picture;
pub(super) mod rows;
pub(super) mod segment;
pub(super) mod setup;
mod statistics;
pub(super) mod turns;

use super::ExplainError;
use super::scene::Scene;
use super::story::Story;
use super::words::findings as words;
use crate::files::event_log::{Entry, EventLogReader, Header};
use crate::files::json_lines::ReadError;
use causes::{Finding, findings};
use medium::{BitInstant, BitTimes, Event, Input, Method, Plca};
use segment::Segment;
use serde::Serialize;
use statistics::Of;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;
use turns::{LATE, Recorder, Turns};

/// After a frame's end, how long its picture goes on.
const AFTER: u64 = 120;
/// Before a frame's first step, how long its picture has begun.
const BEFORE: u64 = 40;
/// What is drawn of a life that the trace does not see the end of.
const LONGEST: BitTimes = BitTimes::new(4_000);
/// The stretch of time that shows a right bus, in bit times.
const FIRST_TURNS: u64 = 4_000;

/// A segment while its trace is read for one frame.
#[derive(Debug)]
pub(super) struct Reading {
    segment: Segment,
    recorder: Recorder,
    is_open: bool,
}

/// What is known of the segment of one frame.
#[derive(Debug)]
pub(super) struct OnSegment {
    pub plca: Plca,
    /// What was on the line while it lived.
    pub turns: Turns,
    /// What is wrong with its station, or with the segment as a whole.
    pub findings: Vec<Finding>,
    /// How long a frame waits at most where all is right, and the command that tells this.
    pub bound: Option<(u64, String)>,
    pub segment: Segment,
}

impl Reading {
    /// Nothing of a trace of another method.
    pub fn of(header: &Header) -> Option<Reading> {
        let plca = of(header)?;
        let recorder = Recorder::new(&plca);
        Some(Reading { segment: Segment::new(header, plca), recorder, is_open: false })
    }

    pub fn event(&mut self, event: &Event, scene: &Scene) {
        self.segment.event(event, scene);
        self.recorder.event(event, scene);
        if !self.is_open {
            self.recorder.forget(before(event.at));
        }
    }

    pub fn input(&mut self, at: BitInstant, input: Input) {
        self.segment.input(at, input);
        self.recorder.input(at, input);
    }

    /// The frame's first step is at `at`.
    pub fn opens(&mut self, at: BitInstant) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.recorder.forget(before(at));
        }
    }

    /// No step of the frame comes after `at`.
    pub fn closes(&mut self, at: BitInstant) {
        self.recorder.close(at + BitTimes::new(AFTER));
    }

    pub fn of_frame(mut self, story: &Story, scene: &Scene) -> OnSegment {
        self.segment.finish();
        let first = story.steps.first().map_or(BitInstant::ZERO, |step| step.at);
        let last = story.steps.last().map_or(first, |step| step.at);
        let last = story.end.map_or(scene.now.max(last).min(first + LONGEST), |end| end.max(last));
        let turns = self.recorder.finish(before(first), last + BitTimes::new(AFTER), &story.names, scene);
        let mut findings = findings(&self.segment);
        let lives = |finding: &Finding| finding.since <= last && finding.until.is_none_or(|until| until >= first);
        findings.retain(|finding| finding.cause.stations().contains(&story.frame.station) && lives(finding));
        let (bound, plca) = (self.segment.bound().zip(self.segment.theory()), self.segment.plca.clone());
        OnSegment { plca, turns, findings, bound, segment: self.segment }
    }
}

fn before(at: BitInstant) -> BitInstant {
    BitInstant::new(at.get().saturating_sub(BEFORE))
}

/// A finding in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// Its number in docs/symptoms.md, and the first part of its scenario's name; 0 if it has none.
    pub number: u8,
    /// Since when, in bit times.
    pub since_bt: u64,
    /// When it ended; none if it holds as the trace ends.
    pub until_bt: Option<u64>,
    /// Why.
    pub cause: String,
    /// What the trace shows of it.
    pub seen: String,
    /// What to do about it.
    pub mend: String,
    /// The stretch of time that shows it best, in bit times.
    pub from_bt: u64,
    /// Its end.
    pub to_bt: u64,
}

/// What is to be said of a segment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Nodes with PLCA on, cycles, and how the frames fared.
    pub summary: String,
    /// What is wrong, in the order of docs/symptoms.md.
    pub findings: Vec<Told>,
    /// Under the names of INET's EthernetPlca, in bit times.
    pub statistics: BTreeMap<&'static str, Of>,
}

/// The PLCA of a trace's configuration, if it is a trace of PLCA.
fn of(header: &Header) -> Option<Plca> {
    match header.config().method {
        Method::Plca(plca) => Some(plca),
        _ => None,
    }
}

/// Reads a trace with its scene, up to `to`. One that is cut short is read as far as it goes.
fn read<R: BufRead>(
    log: &mut EventLogReader<R>,
    to: BitInstant,
    mut each: impl FnMut(&Entry, &Scene),
) -> Result<Scene, ReadError> {
    let mut scene = Scene::new(log.header().config());
    loop {
        let entry = match log.next_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) | Err(ReadError::CutShort { .. }) => return Ok(scene),
            Err(error) => return Err(error),
        };
        match &entry {
            Entry::Medium(event) if event.at > to => return Ok(scene),
            Entry::Medium(event) => scene.event(event, None),
            Entry::Deed { at, deed } => scene.input(*at, &Input::Deed(*deed)),
            Entry::Emulator(_) => {}
        }
        each(&entry, &scene);
    }
}

/// Reads a trace of PLCA, and says what goes wrong on its segment.
///
/// # Errors
/// A trace that is damaged or of another method.
pub fn diagnose<R: BufRead>(log: &mut EventLogReader<R>) -> Result<Diagnosis, ExplainError> {
    let plca = of(log.header()).ok_or(ExplainError::Segment)?;
    let mut segment = Segment::new(log.header(), plca);
    read(log, BitInstant::new(u64::MAX), |entry, scene| match entry {
        Entry::Medium(event) => segment.event(event, scene),
        Entry::Deed { at, deed } => segment.input(*at, Input::Deed(*deed)),
        Entry::Emulator(_) => {}
    })?;
    segment.finish();
    let findings = findings(&segment).iter().map(|finding| words::told(finding, &segment)).collect();
    let statistics = segment.statistics.written(&segment.names);
    Ok(Diagnosis { summary: words::summary(&segment), findings, statistics })
}

/// The number of the finding "collision detection is off". No other finding has its evidence.
const UNNOTICED: u8 = 9;

/// Draws the stretch of time that shows the first finding, or frames that overlapped unnoticed, or the bus's first turns if
/// nothing is wrong. The trace is the same one, from its beginning.
///
/// # Errors
/// A trace that is damaged or of another method.
pub fn draw<R: BufRead>(log: &mut EventLogReader<R>, diagnosis: &Diagnosis) -> Result<String, ExplainError> {
    let unnoticed = diagnosis.findings.iter().find(|finding| finding.number == UNNOTICED && finding.from_bt > 0);
    let (from, to, title) = match unnoticed.or(diagnosis.findings.first()) {
        Some(finding) => (finding.from_bt, finding.to_bt, finding.cause.as_str()),
        None => (0, FIRST_TURNS, "Nothing is wrong: the first turns of the bus"),
    };
    let (from, to) = (BitInstant::new(from), BitInstant::new(to));
    let mut recorder = Recorder::new(&of(log.header()).ok_or(ExplainError::Segment)?);
    recorder.close(to);
    let scene = read(log, to + LATE, |entry, scene| match entry {
        Entry::Medium(event) => {
            recorder.event(event, scene);
            recorder.forget(event.at.min(from));
        }
        Entry::Deed { at, deed } => recorder.input(*at, Input::Deed(*deed)),
        Entry::Emulator(_) => {}
    })?;
    let turns = recorder.finish(from, to, &log.header().stations, &scene);
    Ok(picture::draw(&turns, title))
}

/// Draws what was on the line while a frame lived; nothing if nothing was.
pub(super) fn draw_life(on: &OnSegment, title: &str) -> Option<String> {
    (!on.turns.stretches.is_empty()).then(|| picture::draw(&on.turns, title))
}

/// Appends to a string, which takes any text.
fn add(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes any text");
}
