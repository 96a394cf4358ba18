//! What met an attempt, where, and by how many bit times.

use super::super::hearing::there;
use super::super::story::{Met, Step, Try};
use super::contention::{NAMED, Words};
use crate::words::units::group;
use medium::{BitTimes, Carried, Method};

impl Words<'_> {
    pub(super) fn collides(&self, step: &Step, attempt: u32) -> String {
        let Some((last, sent)) = self.the_try(attempt).and_then(|last| Some((last, last.own()?))) else {
            return String::new();
        };
        let when = match step.at.since(sent.end.unwrap_or(sent.begin)) {
            BitTimes::ZERO => "as its last bit is out".to_owned(),
            later => format!("now, {} after its last bit", self.span(later)),
        };
        format!(" {} learns it {when}: {}.", self.own(), self.met(last))
    }

    /// What has met an attempt, and how.
    pub(super) fn met(&self, last: &Try) -> String {
        let mut told: Vec<String> = last.met.iter().take(NAMED).map(|met| self.overlap(last, met)).collect();
        match last.met.len().saturating_sub(NAMED) {
            0 => {}
            1 => told.push("1 more did so too".to_owned()),
            more => told.push(format!("{} more did so too", group(more as u64))),
        }
        if told.is_empty() {
            return "it met a signal that began before the trace".to_owned();
        }
        let lost = match (last.met.len(), last.met.iter().all(|met| last.others[met.other].lost)) {
            (1, true) => "both are lost",
            (_, true) => "all are lost",
            (_, false) => "this frame is lost",
        };
        format!("{}: {lost}", told.join("; "))
    }

    fn overlap(&self, last: &Try, met: &Met) -> String {
        let (own, them) = (&last.parts[met.part], &last.others[met.other].sent);
        let hidden = !self.config.reaches(self.frame.station, them.source, None);
        let hidden = if hidden {
            format!(" of {}, hidden from {},", self.station(them.source), self.own())
        } else {
            String::new()
        };
        let what = format!("{}{hidden}", self.signal_name(them));
        let where_it_is = format!(" at the place of {}", self.station(met.place));
        let (Some(mine), Some(theirs)) = (there(own, met.place, &self.config), there(them, met.place, &self.config))
        else {
            return what;
        };
        if let (Method::SlottedAloha(_), true) = (&self.config.method, own.begin == them.begin) {
            return format!("{what} was sent in the same slot");
        }
        let ours = if own.what == Carried::Frame { "ours".to_owned() } else { self.part(own) };
        if mine.0 == theirs.0 {
            format!("{what} began in the same bit time{where_it_is}")
        } else if mine.0 < theirs.0 {
            let left = self.span(mine.1.since(theirs.0));
            format!("{what} began {left} before {ours} ended{where_it_is}")
        } else {
            let left = self.span(theirs.1.since(mine.0));
            format!("{ours} began {left} before {what} ended{where_it_is}")
        }
    }
}
