//! Signals that begin together, where none begins while another is there: in a slot, or where all stations hear the same.
//!
//! What has met what is a question of how many there are, and nobody needs a line to hear them.

use crate::event::Kind;
use crate::frame::{Destination, FrameId, Queued, StationId};
use crate::line::Worth;
use crate::receive::Arrival;
use crate::time::{BitInstant, Octets};
use crate::timers::NEVER;

/// A signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Whose.
    pub index: usize,
    pub frame: FrameId,
    pub size: Octets,
    pub destination: Destination,
    /// When its last bit is at every other place.
    pub end: BitInstant,
    pub worth: Worth,
}

impl Sent {
    /// `head`, which the contender at `index` sends under the name `frame`; it is everywhere at `end`.
    pub fn new(index: usize, frame: FrameId, head: &Queued, end: BitInstant, worth: Worth) -> Sent {
        Sent { index, frame, size: head.size, destination: head.destination, end, worth }
    }
}

/// Signals that began together.
#[derive(Debug, Default)]
pub(crate) struct Together {
    pub begin: BitInstant,
    /// In the order in which they began.
    pub signals: Vec<Sent>,
    /// When the last of them ends.
    pub end: BitInstant,
    /// When the first does that has not ended.
    next_end: BitInstant,
    /// The collision that they are, once it has a number.
    pub episode: Option<u64>,
}

impl Together {
    /// None so far.
    pub fn new() -> Together {
        Together { next_end: NEVER, ..Together::default() }
    }

    /// The first of them begins.
    #[inline]
    pub fn begin(&mut self, now: BitInstant, sent: Sent) {
        debug_assert!(self.next_end == NEVER, "what was sent before has ended");
        self.signals.clear();
        (self.begin, self.end, self.next_end, self.episode) = (now, sent.end, sent.end, None);
        self.signals.push(sent);
    }

    /// Another one begins at the same instant.
    pub fn join(&mut self, sent: Sent) {
        self.end = self.end.max(sent.end);
        self.next_end = self.next_end.min(sent.end);
        self.signals.push(sent);
    }

    /// They met: there are several.
    #[inline]
    pub fn met(&self) -> bool {
        self.signals.len() > 1
    }

    /// When one of them ends next.
    #[inline]
    pub fn next_end(&self) -> BitInstant {
        self.next_end
    }

    /// If there is only one, it ends at `now` and is for one other station: that, and the signal.
    #[inline]
    pub fn take_the_only(&mut self, now: BitInstant) -> Option<(StationId, Sent)> {
        let [sent] = self.signals[..] else { return None };
        let Destination::Station(place) = sent.destination else { return None };
        if sent.end != now || place == sent.frame.station {
            return None;
        }
        self.next_end = NEVER;
        Some((place, sent))
    }

    /// What ends at `now` comes to the places that it is for, of `stations` places: each with the signal's index, in
    /// order of place.
    pub fn take_ended(&mut self, now: BitInstant, stations: usize, into: &mut Vec<(StationId, usize)>) {
        self.next_end = NEVER;
        for (index, sent) in self.signals.iter().enumerate() {
            if sent.end > now {
                self.next_end = self.next_end.min(sent.end);
            } else if sent.end == now {
                let others = sent.destination.places(stations).filter(|&place| place != sent.frame.station);
                into.extend(others.map(|place| (place, index)));
            }
        }
        if into.len() > 1 {
            into.sort_unstable();
        }
    }

    /// What a station makes of one of them.
    #[inline]
    pub fn verdict(&self, sent: &Sent) -> Kind {
        sent.worth.received(sent.size, Arrival::met(self.met()))
    }

    /// Whether one of them has arrived at whom it is for, if that station is `there`.
    #[inline]
    pub fn arrives(&self, sent: &Sent, there: bool) -> bool {
        there && sent.worth.is_handed_up(self.met())
    }
}
