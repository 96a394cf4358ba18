//! A collision on the line of CSMA/CD, as its station notices it: the frames that it meets, and the consequences.

use super::{
    APART, COLLISION, JAM_AFTER_PREAMBLE, JAM_ALONE, JAM_AT_ONCE, LATE, LATE_IN_BURST, MET_AT_ONCE, MET_EARLIER,
    MET_LATER, MET_MORE, MET_UNKNOWN, NAMED, alone,
};
use crate::words::prose::{Prose, tell};
use medium::{BitInstant, BitRate, BitTimes, Parameters};

/// Who was met in a collision.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    /// The sender's name.
    pub station: &'a str,
    /// Which of its frames.
    pub serial: u64,
    /// Its first bit, at its sender's place.
    pub begin: BitInstant,
    /// From its sender to the station that notices.
    pub distance: BitTimes,
}

impl Party<'_> {
    /// Appends how a signal that began at `own_begin` met it.
    fn tell(&self, prose: &mut Prose<'_>, own_begin: BitInstant, rate: BitRate) {
        let frame = |prose: &mut Prose<'_>| prose.frame(self.station, self.serial);
        let apart = |prose: &mut Prose<'_>| match self.distance {
            BitTimes::ZERO => {}
            distance => tell!(prose, APART, "span" => prose.span(distance, rate)),
        };
        if self.begin == own_begin {
            tell!(prose, MET_AT_ONCE, "frame" => frame(prose), "apart" => apart(prose));
        } else if self.begin < own_begin {
            let earlier = own_begin.since(self.begin);
            tell!(prose, MET_EARLIER, "frame" => frame(prose), "span" => prose.span(earlier, rate), "apart" => apart(prose));
        } else {
            let later = self.begin.since(own_begin);
            tell!(prose, MET_LATER, "frame" => frame(prose), "span" => prose.span(later, rate), "apart" => apart(prose));
        }
    }
}

/// A collision, as its station notices it at `at`.
#[derive(Clone, Copy, Debug)]
pub struct Noticed<'a> {
    /// The station's name.
    pub station: &'a str,
    /// Its own first bit.
    pub begin: BitInstant,
    /// Where its preamble begins, or would have.
    pub preamble: BitInstant,
    /// When it notices.
    pub at: BitInstant,
    /// It is a late collision.
    pub late: bool,
    /// Which overlap on the medium, from 1.
    pub episode: u64,
}

impl Noticed<'_> {
    /// Appends the sentence. It meets `met`: none if that began before the trace.
    pub fn tell<'a>(
        &self,
        prose: &mut Prose<'_>,
        met: impl IntoIterator<Item = Party<'a>>,
        parameters: &Parameters,
        rate: BitRate,
    ) {
        let sent = self.at.since(self.begin);
        tell!(prose, COLLISION,
            "episode" => prose.number(self.episode),
            "sent" => prose.span(sent, rate),
            "station" => prose.put(self.station),
            "met" => self.tell_met(prose, met.into_iter(), rate),
            "late" => match (self.late, parameters.late(sent, false)) {
                (false, _) => {}
                (true, true) => tell!(prose, LATE, "slot" => prose.span(parameters.slot_time, rate)),
                (true, false) => prose.put(LATE_IN_BURST),
            },
            "jam" => prose.put(self.jam(parameters)),
        );
    }

    fn tell_met<'a>(&self, prose: &mut Prose<'_>, mut met: impl Iterator<Item = Party<'a>>, rate: BitRate) {
        let mut count = 0;
        for party in met.by_ref().take(NAMED) {
            prose.put(if count > 0 { "; and " } else { "" });
            party.tell(prose, self.begin, rate);
            count += 1;
        }
        match (count, met.count()) {
            (0, _) => prose.put(MET_UNKNOWN),
            (_, 0) => {}
            (_, more) => tell!(prose, MET_MORE, "more" => prose.group(more as u64)),
        }
    }

    fn jam(&self, parameters: &Parameters) -> &'static str {
        if self.preamble > self.at {
            JAM_ALONE
        } else if parameters.jam_begin(self.at, self.preamble) > self.at {
            JAM_AFTER_PREAMBLE
        } else {
            JAM_AT_ONCE
        }
    }

    /// The same alone.
    pub fn sentence<'a>(
        &self,
        met: impl IntoIterator<Item = Party<'a>>,
        parameters: &Parameters,
        rate: BitRate,
    ) -> String {
        alone(|prose| self.tell(prose, met, parameters, rate))
    }
}
