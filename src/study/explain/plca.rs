//! A log of a bus with PLCA, explained: what goes wrong on the segment and why, and the life of one frame in it.
//!
//! `segment` folds a log into what each node was told, did and met; `findings` names causes; `turns` is what was on the
//! line in a stretch of time; `rows` and `picture` draw that; `life` tells of one frame; `statistics` has INET's names.

mod findings;
mod life;
mod picture;
mod rows;
mod segment;
mod statistics;
mod turns;

use super::ExplainError;
use findings::findings;
use medium::{BitInstant, Method, Plca, StationId};
use segment::Segment;
use serde::Serialize;
use sim::files::event_log::{Entry, EventLogReader, Header};
use sim::files::json_lines::ReadError;
use sim::words::sentences::TIED;
use statistics::Of;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;
use turns::Turns;

pub use life::{data, find, tell};

/// Something that is wrong on a segment, or unwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its number in docs/plca.md, and the first part of its scenario's name; 0 if it has none.
    pub number: u8,
    /// Since when, in bit times.
    pub since_bt: u64,
    /// The stations that the cause names.
    #[serde(skip)]
    stations: Vec<StationId>,
    /// Why.
    pub cause: String,
    /// What the log shows of it.
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
    /// What is wrong, in the order of docs/plca.md.
    pub findings: Vec<Finding>,
    /// Under the names of INET's EthernetPlca, in bit times.
    pub statistics: BTreeMap<&'static str, Of>,
}

/// The PLCA of a log's configuration, if it is a log of PLCA.
pub fn of(header: &Header) -> Option<Plca> {
    match header.config().method {
        Method::Plca(plca) => Some(plca),
        _ => None,
    }
}

fn open(events: &Path) -> Result<EventLogReader<impl BufRead + use<>>, ReadError> {
    EventLogReader::open(events)
}

/// The next entry of a log, which is told of as far as it goes: none at its end, and where it is cut short.
fn next<R: BufRead>(log: &mut EventLogReader<R>) -> Result<Option<Entry>, ReadError> {
    match log.next_entry() {
        Err(ReadError::CutShort { .. }) => Ok(None),
        entry => entry,
    }
}

/// Reads a log of PLCA, and says what goes wrong on its segment.
///
/// # Errors
/// A log that is damaged or of another method.
pub fn diagnose(events: &Path) -> Result<Diagnosis, ExplainError> {
    let segment = Segment::read(&mut open(events)?)?;
    let statistics = segment.statistics.written(&segment.names);
    Ok(Diagnosis { summary: segment.summary(), findings: findings(&segment), statistics })
}

/// The same in words.
pub fn told(diagnosis: &Diagnosis) -> String {
    let mut text = super::words::wrap("", 0, &diagnosis.summary);
    if diagnosis.findings.is_empty() {
        text += "Nothing is wrong with its PLCA.\n";
    }
    for finding in &diagnosis.findings {
        let number = if finding.number == 0 { String::new() } else { format!("{}. ", finding.number) };
        text.push('\n');
        text += &super::words::wrap(&number, number.len(), &finding.cause);
        text += &super::words::wrap("   Seen:", 9, &finding.seen);
        text += &super::words::wrap("   Do:", 9, &finding.mend);
    }
    text.replace(TIED, " ")
}

/// The finding of collision detection that is off. What shows it nothing else shows.
const UNNOTICED: u8 = 9;

/// Draws the stretch of time that shows the first finding, or frames that overlapped and nobody noticed, or the bus's first
/// turns if nothing is wrong.
///
/// # Errors
/// A log that is damaged or of another method.
pub fn draw(events: &Path, diagnosis: &Diagnosis) -> Result<String, ExplainError> {
    let unnoticed = diagnosis.findings.iter().find(|finding| finding.number == UNNOTICED && finding.from_bt > 0);
    let (from, to, title) = match unnoticed.or(diagnosis.findings.first()) {
        Some(finding) => (finding.from_bt, finding.to_bt, finding.cause.as_str()),
        None => (0, 4_000, "Nothing is wrong: the first turns of the bus"),
    };
    let turns = Turns::read(&mut open(events)?, BitInstant::new(from), BitInstant::new(to))?;
    Ok(picture::draw(&turns, title))
}

/// Draws what was on the line while a frame lived.
///
/// # Errors
/// A log that is damaged.
pub fn draw_life(story: &life::Life) -> String {
    picture::draw(&story.turns, &story.title())
}

/// Appends to a string, which takes any text.
fn add(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes any text");
}
