//! Signals as a page draws them.

use medium::{BitInstant, StationId};
use serde::Serialize;
use sim::scene::{Signal, Signals};
use sim::words::sentences::frame_name;

/// A signal: its parts at its sender's place, and from when to when it is at each station's.
#[derive(Debug, Serialize)]
pub struct Drawn {
    source: u16,
    frame: String,
    /// `frame`, `RTS`, `BEACON` …
    what: &'static str,
    begin: u64,
    /// When its sender noticed a collision.
    collided: Option<u64>,
    parts: Vec<(&'static str, u64, u64)>,
    /// In order of station number; none where it does not get to.
    there: Vec<Option<(u64, u64)>>,
}

/// A signal as a page draws it. What goes on ends with `end`.
pub fn drawn(
    signals: &Signals,
    one: &Signal,
    stations: impl Iterator<Item = StationId>,
    names: &[String],
    end: BitInstant,
) -> Drawn {
    let at = |(begin, to): (BitInstant, BitInstant)| (begin.get(), to.min(end).get());
    Drawn {
        source: one.source.index() as u16,
        frame: frame_name(names, one.frame),
        what: one.name(),
        begin: one.begin.get(),
        collided: one.collision.map(|collision| collision.at.get()),
        parts: one.parts(end).map(|(part, from, to)| (part.name(), from.get(), to.get())).collect(),
        there: stations.map(|station| signals.there(one, station).map(at)).collect(),
    }
}
