//! A star without distance: one state of the medium for all stations, under every fast path.
//!
//! Each station hears the same at every instant, and begins no signal while it hears one. So signals meet only if they
//! begin together, and how many there are says which of them met. This also holds for the slots of slotted ALOHA on any
//! star.

use crate::access::Access;
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::Kind;
use crate::frame::{Addressed, FrameId, Queued, StationId};
use crate::inputs::Host;
use crate::line::Worth;
use crate::receive::Arrival;
use crate::time::{BitInstant, Octets};
use crate::timers::NEVER;

/// Whether a medium made from `config` begins with one state for all stations: all hear the same, and outputs are not
/// requested, since these need each signal by itself.
pub(crate) fn is_shared(config: &Config) -> bool {
    config.topology.is_one_place() && !config.keep_outputs
}

/// A frame, as a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// The number by which the method finds its sender again.
    pub index: usize,
    pub frame: FrameId,
    pub size: Octets,
    pub destination: Addressed,
    /// The first instant without it at every other place.
    pub end: BitInstant,
    pub worth: Worth,
}

impl Sent {
    /// `head`, sent under the name `frame` by the sender with number `index`; it ends everywhere at `end`.
    pub fn new(index: usize, frame: FrameId, head: &Queued, end: BitInstant, worth: Worth) -> Sent {
        Sent { index, frame, size: head.size, destination: head.destination, end, worth }
    }
}

/// Signals that began together, each with what the method knows of it.
#[derive(Debug)]
pub(crate) struct Together<S = Sent> {
    pub begin: BitInstant,
    /// In the order in which they began.
    pub signals: Vec<S>,
    /// The end of the last of them.
    pub end: BitInstant,
    /// The end of the first that has not ended; `NEVER` if all have.
    next_end: BitInstant,
    /// The number of the collision that they are, once it has one.
    pub episode: Option<u64>,
}

impl<S> Default for Together<S> {
    fn default() -> Together<S> {
        let (begin, end) = (BitInstant::ZERO, BitInstant::ZERO);
        Together { begin, signals: Vec::new(), end, next_end: NEVER, episode: None }
    }
}

impl<S> Together<S> {
    /// The first of them begins, and ends at `end`.
    #[inline]
    pub fn begin(&mut self, now: BitInstant, end: BitInstant, signal: S) {
        self.signals.clear();
        (self.begin, self.end, self.next_end, self.episode) = (now, end, end, None);
        self.signals.push(signal);
    }

    /// Another one begins at the same instant.
    #[inline]
    pub fn join(&mut self, end: BitInstant, signal: S) {
        self.end = self.end.max(end);
        self.next_end = self.next_end.min(end);
        self.signals.push(signal);
    }

    /// They met: there are several.
    #[inline]
    pub fn met(&self) -> bool {
        self.signals.len() > 1
    }

    /// When one of them ends next; `NEVER` if all have ended.
    #[inline]
    pub fn next_end(&self) -> BitInstant {
        self.next_end
    }
}

impl Together {
    /// A signal begins at `now`: the first, or another one with those that began at this instant.
    #[inline]
    pub fn send(&mut self, now: BitInstant, is_first: bool, sent: Sent) {
        debug_assert!(!is_first || self.next_end == NEVER, "the signals before have ended");
        if is_first { self.begin(now, sent.end, sent) } else { self.join(sent.end, sent) }
    }

    /// A collision cuts all of them short: they end at `end`.
    pub fn cut(&mut self, end: BitInstant) {
        (self.end, self.next_end) = (end, end);
        self.signals.iter_mut().for_each(|sent| sent.end = end);
    }

    /// If there is only one, which ends at `now` and is for one other station: that station.
    #[inline]
    fn take_the_only(&mut self, now: BitInstant) -> Option<StationId> {
        let [sent] = &self.signals[..] else { return None };
        let place = sent.destination.only()?;
        if sent.end != now || place == sent.frame.station {
            return None;
        }
        self.next_end = NEVER;
        Some(place)
    }

    /// The addressees of the signals that end at `now`, among `stations`: each with its signal's index, in order of place.
    fn take_ended(&mut self, now: BitInstant, stations: usize, into: &mut Vec<(StationId, usize)>) {
        self.next_end = NEVER;
        for (index, sent) in self.signals.iter().enumerate() {
            if sent.end > now {
                self.next_end = self.next_end.min(sent.end);
            } else if sent.end != now {
                // It has ended before.
            } else if let Some(place) = sent.destination.only() {
                into.extend((place != sent.frame.station).then_some((place, index)));
            } else {
                let others = sent.destination.places(stations).filter(|&place| place != sent.frame.station);
                into.extend(others.map(|place| (place, index)));
            }
        }
        if into.len() > 1 {
            into.sort_unstable();
        }
    }

    /// Whether one of them has arrived at its addressee, if that station is `there`.
    #[inline]
    pub fn arrives(&self, sent: &Sent, there: bool) -> bool {
        there && sent.worth.is_handed_up(self.met())
    }
}

/// A method that keeps the signals of a star without distance here instead of on the line.
pub(crate) trait OnStar: Access {
    /// The last signals.
    fn air(&self) -> &Together;

    /// The same, to change them.
    fn air_mut(&mut self) -> &mut Together;

    /// What the addressee at `place` makes of a signal that ends; `None` if it does not receive.
    #[inline]
    fn heard(engine: &Engine<Self>, place: StationId, sent: &Sent) -> Option<Kind> {
        let _ = place;
        Some(sent.worth.received(sent.size, Arrival::met(engine.method.air().met())))
    }
}

impl<A: OnStar> Engine<A> {
    /// The addressees receive the signals that end at this instant.
    #[inline]
    pub fn receive_what_ends<H: Host>(&mut self, host: &mut H) {
        let (now, stations) = (self.core.instant, self.stations.len());
        if let Some(place) = self.method.air_mut().take_the_only(now) {
            return self.receive_on_star(place, 0, host);
        }
        let mut heard = std::mem::take(&mut self.core.heard);
        self.method.air_mut().take_ended(now, stations, &mut heard);
        heard.drain(..).for_each(|(place, index)| self.receive_on_star(place, index, host));
        self.core.heard = heard;
    }

    #[inline]
    fn receive_on_star<H: Host>(&mut self, place: StationId, index: usize, host: &mut H) {
        if !self.station(place).attached {
            return;
        }
        let sent = &self.method.air().signals[index];
        let frame = sent.frame;
        if let Some(kind) = A::heard(self, place, sent) {
            self.core.emit_received(place, frame, kind, host);
        }
    }
}

/// When a fast path ends, its signals move to the line.
impl Core {
    /// The signals that began at `begin`, before now, have begun at every place.
    pub fn have_begun(&mut self, begin: BitInstant) {
        let mut begun = Vec::new();
        self.agenda.begins.take_everywhere(begin, &mut begun);
        self.line.got_there(begun.len());
    }

    /// The signals that ended at `end` have ended at every place.
    pub fn have_ended(&mut self, end: BitInstant) {
        let mut ended = Vec::new();
        self.agenda.ends.take_everywhere(end, &mut ended);
        self.line.ended_there(ended.len());
    }
}
