//! CSMA while all places are one: on a star without distance, as long as no station is deaf.
//!
//! Every station hears a signal at the same instant, and does not begin during it. So signals meet only if they begin
//! together, and one state replaces the states of all stations.
//!
//! ```text
//!   decisions                        │ arrivals │ signals end               │ signals begin
//!   senses, attempts, ends, learns   │          │ receivers; who waits for   │ who counts gives way
//!                                                 silence looks 1 BT later
//! ```
//! The events and their order are those of the general path in `csma`. The medium leaves this fast path for good when a
//! station becomes deaf.

use super::CarrierSense;
use crate::access::contenders::State;
use crate::config::{Clock, Config};
use crate::engine::Engine;
use crate::frame::{Queued, StationId};
use crate::inputs::Host;
use crate::line::{Course, Transmission};
use crate::star::{self, Sent, Together};
use crate::time::BitInstant;
use crate::timers::NEVER;

/// The state of the medium that all stations share.
#[derive(Debug)]
pub(super) struct OnePlace {
    /// All places are one, and the fields below are valid.
    pub holds: bool,
    /// The last signals.
    pub air: Together,
    /// Contenders that count slots of the line have not yet heard that a signal has begun.
    begins: bool,
    /// Contenders that wait for silence.
    sensing: Vec<usize>,
    /// Contenders that count slots of the line.
    counting: Vec<usize>,
    /// Contenders whose last bits end together.
    pub ends: Gathered,
    /// Contenders that look together after silence.
    pub looks: Gathered,
}

/// Contenders that act at one instant, in any order. Each of them waits for that and nothing else.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The instant; `NEVER` if there are none.
    pub at: BitInstant,
    contenders: Vec<usize>,
}

impl Gathered {
    const NOBODY: Gathered = Gathered { at: NEVER, contenders: Vec::new() };

    /// Adds a contender if it acts at the same instant as the others; false if it does not.
    #[inline]
    pub fn add(&mut self, at: BitInstant, index: usize) -> bool {
        let joins = self.at == at || self.at == NEVER;
        if joins {
            self.at = at;
            self.contenders.push(index);
        }
        joins
    }

    /// Takes all of them out, into an empty list.
    #[inline]
    pub fn take(&mut self, into: &mut Vec<usize>) {
        self.at = NEVER;
        std::mem::swap(&mut self.contenders, into);
    }
}

impl OnePlace {
    /// A medium made from `config` before the first signal.
    pub fn new(config: &Config) -> OnePlace {
        OnePlace {
            holds: star::is_shared(config) && !config.has_wrong_clocks(),
            air: Together::default(),
            begins: false,
            sensing: Vec::new(),
            counting: Vec::new(),
            ends: Gathered::NOBODY,
            looks: Gathered::NOBODY,
        }
    }

    /// Gathered contenders act at `now`.
    #[inline]
    pub fn acts_together(&self, now: BitInstant) -> bool {
        self.ends.at == now || self.looks.at == now
    }

    /// A signal was there in the bit time before `now`.
    #[inline]
    pub fn was_busy(&self, now: BitInstant) -> bool {
        self.air.begin < now && now <= self.air.end && !self.air.signals.is_empty()
    }

    /// A signal begins at `now`.
    #[inline]
    pub fn send(&mut self, now: BitInstant, sent: Sent) {
        let is_first = self.air.begin != now || self.air.signals.is_empty();
        self.air.send(now, is_first, sent);
        self.begins |= is_first;
    }

    pub fn sense(&mut self, index: usize) {
        self.sensing.push(index);
    }

    /// A contender begins to count at `now`.
    pub fn count(&mut self, now: BitInstant, index: usize) {
        self.begins &= self.air.begin == now;
        self.counting.push(index);
    }

    /// The contender stops counting, if it did count.
    #[inline]
    pub fn count_no_more(&mut self, index: usize) {
        self.counting.retain(|&other| other != index);
    }

    /// The next instant at which the begin or the end of signals must be handled.
    #[inline]
    pub fn next_signal(&self) -> BitInstant {
        let begins = if self.begins && !self.counting.is_empty() { self.air.begin } else { NEVER };
        begins.min(self.air.next_end())
    }
}

impl Engine<CarrierSense> {
    /// Signals end or begin at this instant.
    pub(super) fn hear_in_one_place<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        if self.method.here.air.next_end() == now {
            self.receive_what_ends(host);
            if self.method.here.air.next_end() == NEVER {
                self.fall_silent();
            }
            return;
        }
        self.method.here.begins = false;
        let mut counting = std::mem::take(&mut self.method.here.counting);
        counting.sort_unstable_by_key(|&index| self.method.contenders.get(index).frame);
        for index in counting.drain(..) {
            self.defer(index, host);
            self.give_way(index, host);
        }
        self.method.here.counting = counting;
    }

    /// Contenders that wait for silence look as soon as they can sense it.
    fn fall_silent(&mut self) {
        let now = self.core.instant;
        let at = self.method.next_look(now, Clock::RIGHT);
        let CarrierSense { here, contenders, .. } = &mut self.method;
        for index in here.sensing.drain(..) {
            if !here.looks.add(at, index) {
                contenders.expect(now, index, at, State::Sensing);
            }
        }
    }

    /// The frames of `station` stop waiting and counting.
    pub(super) fn forget_in_one_place(&mut self, station: StationId) {
        let CarrierSense { here, contenders, .. } = &mut self.method;
        let is_other = |index: &usize| contenders.get(*index).frame.station != station;
        here.sensing.retain(is_other);
        here.counting.retain(is_other);
        here.looks.contenders.retain(is_other);
        if here.looks.contenders.is_empty() {
            here.looks.at = NEVER;
        }
    }

    /// From now on stations may hear different signals: moves the present state to the general path.
    pub(super) fn leave_one_place(&mut self) {
        if !std::mem::replace(&mut self.method.here.holds, false) {
            return;
        }
        let now = self.core.instant;
        let air = std::mem::take(&mut self.method.here.air);
        if !air.signals.is_empty() && air.end >= now {
            self.put_on_line(&air);
        }
        let CarrierSense { here: OnePlace { ends, looks, .. }, contenders, .. } = &mut self.method;
        for group in [ends, looks] {
            let (at, mut left) = (group.at, Vec::new());
            group.take(&mut left);
            left.into_iter().for_each(|index| contenders.expect(now, index, at, contenders.get(index).state));
        }
        for index in std::mem::take(&mut self.method.here.sensing) {
            let station = self.contender(index).frame.station;
            self.station_mut(station).mac.sensing.push(index);
            self.core.line.hear_silence(now, station, &mut self.core.agenda);
        }
        for index in std::mem::take(&mut self.method.here.counting) {
            let station = self.contender(index).frame.station;
            self.station_mut(station).mac.counting.push(index);
            self.core.line.hear_begins(now, station, &mut self.core.agenda);
        }
        self.await_due();
    }

    /// The signals of `air`, of which some have not ended, are on the line.
    fn put_on_line(&mut self, air: &Together) {
        let (now, begin) = (self.core.instant, air.begin);
        let mut over = Vec::new();
        for sent in &air.signals {
            let Sent { frame, size, destination, end, worth, .. } = *sent;
            let head =
                Queued { serial: frame.serial, size, unpadded: size, destination, arrived: begin, too_long: false };
            let mut transmission = Transmission::whole(frame, &head, begin, end, worth);
            (transmission.course, transmission.episode) = (Course::OnAir { end }, air.episode);
            let id = self.core.line.begin(begin, transmission, &mut self.core.agenda);
            self.core.line.ignore_begins(frame.station);
            if begin == now && self.is_shared() {
                self.core.agenda.begins.push(now, frame.station, id);
                self.station_mut(frame.station).mac.own_heard_at = Some(now);
            }
            let contender = self.contender(sent.index);
            if contender.frame == frame && matches!(contender.state, State::Sending(_)) {
                contender.state = State::Sending(id);
            } else {
                over.push((end, id));
            }
        }
        if begin < now {
            self.core.have_begun(begin);
        }
        over.sort_unstable();
        for (end, id) in over {
            self.core.line.end(end, id, true, &mut self.core.agenda);
            if end < now {
                self.core.have_ended(end);
            }
        }
    }
}
