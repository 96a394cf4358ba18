//! What met an attempt, where, and by how many bit times.

use super::words::NAMED;
use super::{Life, Other, Step, Try, air};
use medium::{BitTimes, Method};
use sim::words::units::group;

impl Life {
    pub(super) fn collides(&self, step: &Step, attempt: u32, episode: u64) -> String {
        let Some(last) = self.the_try(attempt) else {
            return format!("No acknowledgement comes: the attempt met another, collision {episode} on this medium.");
        };
        let sent = &last.parts[0];
        format!(
            "No acknowledgement: {}. {} learns it {} (collision {episode} on this medium).",
            self.met(last),
            self.own(),
            match step.at.since(sent.end) {
                BitTimes::ZERO => "as its last bit is out".to_owned(),
                later => format!("now, {} after its last bit", self.span(later)),
            }
        )
    }

    /// What has met an attempt, and how.
    pub(super) fn met(&self, last: &Try) -> String {
        let mut told: Vec<String> = last.others.iter().take(NAMED).map(|other| self.overlap(last, other)).collect();
        match last.others.len().saturating_sub(NAMED) {
            0 => {}
            1 => told.push("1 more did so too".to_owned()),
            more => told.push(format!("{} more did so too", group(more as u64))),
        }
        if told.is_empty() {
            return "it met a signal of before the log".to_owned();
        }
        let lost = match (last.others.len(), last.others.iter().all(|other| other.lost)) {
            (1, true) => "both are lost",
            (_, true) => "all are lost",
            (_, false) => "this frame is lost",
        };
        format!("{}: {lost}", told.join("; "))
    }

    fn overlap(&self, last: &Try, other: &Other) -> String {
        let (own, them) = (&last.parts[other.part], &other.signal);
        let hidden = !self.air.config.reaches(self.frame.station, them.source, None);
        let hidden = if hidden {
            format!(" of {}, hidden from {},", self.station(them.source), self.own())
        } else {
            String::new()
        };
        let what = format!("{}{hidden}", self.signal(them));
        let where_it_is = format!(" at the place of {}", self.station(other.place));
        let (Some(mine), Some(theirs)) = (self.air.there(own, other.place), self.air.there(them, other.place)) else {
            return what;
        };
        if let (Method::SlottedAloha(_), true) = (&self.air.config.method, own.begin == them.begin) {
            return format!("{what} was sent in the same slot");
        }
        let ours = if own.what == air::What::Frame { "ours".to_owned() } else { self.part(own) };
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
