//! A frame and its acknowledgement without any other event in between: they need no timers, and no station waits for
//! their ends.
//!
//! ```text
//!   | frame         | SIFS | ACK |
//!   Attempt  Delivered     Ack   Transmitted
//! ```
//! All other stations wait at least a DIFS after each. The events and their effects are those of `exchange`.

use crate::access::csma_ca::air::Content;
use crate::access::csma_ca::exchange::addressee;
use crate::access::csma_ca::{Answer, Dcf, DcfStep, Turn};
use crate::engine::Engine;
use crate::event::Kind;
use crate::frame::{Addressed, StationId};
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes, Octets};

impl Engine<Dcf> {
    /// The station, which attempts its frame, sends it and gets its acknowledgement, if no other event comes in
    /// between; false if one does.
    pub(in crate::access::csma_ca) fn exchange_alone<H: Host>(&mut self, station: StationId, host: &mut H) -> bool {
        let Turn { frame, head, .. } = *self.turn(station);
        let Some(to) = addressee(head.destination, station) else { return false };
        let (now, spans) = (self.core.instant, self.method.spans);
        let data = self.method.own.phy.frame_time(head.size);
        if host.stops() || !self.are_alone_until(station, to, now + data + spans.sifs + spans.ack) {
            return false;
        }
        let reserves = spans.carried(spans.sifs + spans.ack);
        let (sent, end) =
            self.put_in_air((station, Content::Data, frame), (head.destination, head.size), (data, reserves));
        self.settle_in_one_place();
        self.core.instant = end;
        self.receive_data(to, sent, true, host);
        if host.stops() {
            self.ask(station, sent, Content::Ack, end);
            self.prepare(to, Answer { content: Content::Ack, to: station, about: frame, reserves: BitTimes::ZERO });
            return true;
        }
        let begin = end + spans.sifs;
        self.core.instant = begin;
        self.core.emit(to, frame, Kind::Ack, host);
        let nobody = (Addressed::NOBODY, Octets::new(0));
        let (answer, answered) = self.put_in_air((to, Content::Ack, frame), nobody, (spans.ack, BitTimes::ZERO));
        self.method.air.answers(answer, station);
        self.method.here.answers(station);
        if host.stops() {
            self.ask(station, sent, Content::Ack, end);
            self.expect_answer(station, answer, begin, answered);
            return true;
        }
        self.settle_in_one_place();
        self.core.instant = answered;
        self.has_asked(station, sent, Content::Ack, end);
        self.succeed(station, DcfStep::AckArrives, host);
        true
    }

    /// No other event comes from now to `end` if `station` sends to `to` and gets its answer by then.
    fn are_alone_until(&self, station: StationId, to: StationId, end: BitInstant) -> bool {
        let (here, now) = (&self.method.here, self.core.instant);
        let nobody_else_begins = !here.new && here.next() > now;
        let nothing_is_due = self.core.agenda.timers.next() > end && self.core.agenda.next_signal() > end;
        // A station without drawn slots would look at the medium in between.
        let all_count = here.others.iter().all(|(other, _)| self.station(*other).mac.listening.slots.is_some());
        let is_right = |place: StationId| self.station(place).attached && self.station(place).fault.is_none();
        here.holds
            && nobody_else_begins
            && nothing_is_due
            && end < self.core.limit
            && self.core.done.is_empty()
            && all_count
            && is_right(station)
            && is_right(to)
    }
}
