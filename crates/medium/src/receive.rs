//! What addressees make of a signal, and when a transmission's deliveries can be given out.
//!
//! ```text
//!   begin      begin + farthest + gap                         end
//!     |...............|............................................|
//!                     └ whoever could still have begun has begun: if nothing met it, its end is settled
//! ```

use crate::bus::{Course, Transmission, Worth};
use crate::event::Kind;
use crate::frame::{Destination, PREAMBLE_AND_SFD, StationId, TransmissionId};
use crate::medium::{Medium, Output};
use crate::time::{BitInstant, BitTimes};

impl Medium {
    /// Transmissions have just ended everywhere but at their sources.
    pub(crate) fn receive_everywhere(&mut self, ended: &[TransmissionId]) {
        let stations = self.bus.topology().stations() as u16;
        let addressees = |&id: &TransmissionId| match self.bus.get(id).destination {
            Destination::Station(addressee) => addressee.index() as u16..addressee.index() as u16 + 1,
            Destination::All => 0..stations,
            Destination::Nobody => 0..0,
        };
        if let [id] = ended {
            return addressees(id).for_each(|place| self.receive(StationId::new(place), *id));
        }
        let mut places: Vec<(u16, TransmissionId)> =
            ended.iter().flat_map(|id| addressees(id).map(|place| (place, *id))).collect();
        places.sort_unstable();
        places.into_iter().for_each(|(place, id)| self.receive(StationId::new(place), id));
    }

    /// A transmission has just ended at `place`.
    pub(crate) fn receive(&mut self, place: StationId, id: TransmissionId) {
        let transmission = self.bus.get(id);
        let addressed = match transmission.destination {
            Destination::Station(addressee) => addressee == place,
            Destination::All => true,
            Destination::Nobody => false,
        };
        if !addressed || transmission.source() == place || !self.station(place).attached {
            return;
        }
        let (frame, size) = (transmission.frame, transmission.size);
        let kind = match transmission.course {
            Course::OnAir { .. } => panic!("{frame} ended at {place} before it ended"),
            // A length above the limit comes before a bad FCS (802.3, 4.2.9 ReceiveDataDecap).
            Course::Whole { .. } if transmission.worth == Worth::TooLong => Kind::TooLong { size },
            Course::Whole { .. } if transmission.worth == Worth::BadFcs => Kind::Damaged { bits: size.bit_times() },
            Course::Whole { .. } if !self.bus.damaged_at(place, id) => Kind::Delivered { size },
            Course::Whole { .. } => Kind::Damaged { bits: size.bit_times() },
            // A station that sends does not receive.
            Course::Cut { .. } if self.bus.spoke_over(place, id) => return,
            Course::Cut { end } => match transmission.preamble {
                Some(preamble) => self.cut_short(transmission, preamble, end),
                None => return,
            },
        };
        self.emit(place, frame, kind);
    }

    /// 802.3, 4.2.9: below slotTime, or in a burst minFrameSize, it is a collision fragment, and no error.
    fn cut_short(&self, transmission: &Transmission, preamble: BitInstant, end: BitInstant) -> Kind {
        let parameters = &self.config.parameters;
        let bits = (end - preamble).get() - PREAMBLE_AND_SFD.get();
        let first = preamble == transmission.begin;
        if bits < parameters.least_received(first).get() {
            return Kind::Fragment { bits: BitTimes::new(bits) };
        }
        // The jam of an extension counts with the octets, and the extension is what was wrong.
        let in_extension = end >= transmission.frame_end + parameters.jam_size;
        Kind::Damaged { bits: BitTimes::new(if in_extension { bits - bits % 8 } else { bits }) }
    }

    /// Asks to be called when everyone who could still disturb the transmission has begun or defers.
    pub(crate) fn expect_settled(&mut self, id: TransmissionId) {
        if self.config.keep_outputs {
            let transmission = self.bus.get(id);
            let (source, begin) = (transmission.source(), transmission.begin);
            let at = begin + self.bus.farthest(source) + self.config.parameters.inter_packet_gap;
            self.agenda.settled.push(at, source, id);
        }
    }

    /// The sender is done. A transmission that was not alone is looked at again when it has passed every station.
    pub(crate) fn settle_after_end(&mut self, id: TransmissionId) {
        let transmission = self.bus.get(id);
        if transmission.settled || !self.config.keep_outputs {
            return self.release(transmission.frame);
        }
        let at = self.instant() + self.bus.farthest(transmission.source());
        self.agenda.settled.push(at, transmission.source(), id);
    }

    /// Gives out the deliveries of a transmission if they are settled now.
    pub(crate) fn settle(&mut self, id: TransmissionId) {
        let transmission = self.bus.get(id);
        if transmission.settled {
            return;
        }
        let (frame, course) = (transmission.frame, transmission.course);
        let farthest = self.bus.farthest(transmission.source());
        let (end, damaged) = match course {
            Course::OnAir { end } | Course::Whole { end } if self.bus.alone(id) && self.bus.heard_by_all(id) => {
                (end, self.spoilt_places(id, false))
            }
            Course::Whole { end } if end + farthest <= self.instant() => (end, self.spoilt_places(id, true)),
            Course::OnAir { .. } | Course::Whole { .. } | Course::Cut { .. } => return,
        };
        self.bus.get_mut(id).settled = true;
        self.give_out(Output::Carried { frame, end, damaged });
        if let Course::Whole { .. } = course {
            self.release(frame);
        }
    }

    /// Where the frame is not handed up: everywhere, or, if it may have `met` another, where they overlapped and where a
    /// cut kept it from.
    fn spoilt_places(&self, id: TransmissionId, met: bool) -> Vec<StationId> {
        let transmission = self.bus.get(id);
        let (frame, worth) = (transmission.frame, transmission.worth);
        let others =
            || (0..self.bus.topology().stations() as u16).map(StationId::new).filter(|&it| it != frame.station);
        match worth {
            Worth::BadFcs | Worth::TooLong => others().collect(),
            Worth::Good if met => {
                let spoilt = |&place: &StationId| !transmission.reaches(place) || self.bus.damaged_at(place, id);
                others().filter(spoilt).collect()
            }
            Worth::Good => Vec::new(),
        }
    }
}
