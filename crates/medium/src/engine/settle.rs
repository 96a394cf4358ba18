//! When a transmission's deliveries can be reported.
//!
//! ```text
//!   begin      begin + farthest + exposed                     end
//!     |...............|............................................|
//!                     └ every station that could begin has begun: if nothing met it, its end is settled
//! ```

use super::state::Core;
use crate::access::Access;
use crate::frame::{StationId, TransmissionId};
use crate::line::{Course, Transmission};
use crate::outputs::Output;
use crate::time::BitInstant;

impl Core {
    /// Schedules a call for the instant at which every station that could still disturb the transmission has begun or
    /// defers.
    pub fn expect_settled<A: Access>(&mut self, id: TransmissionId) {
        if !self.config.keep_outputs {
            return;
        }
        let Some(exposed) = A::exposed(&self.config) else { return };
        let transmission = self.line.get(id);
        let (source, begin) = (transmission.source(), transmission.begin);
        self.agenda.settled.push(begin + self.line.farthest(source) + exposed, source, id);
    }

    /// The sender has finished. A transmission that was not alone is checked again when it has passed every station.
    pub fn settle_after_end(&mut self, id: TransmissionId) {
        if !self.config.keep_outputs {
            return;
        }
        let transmission = self.line.get(id);
        if transmission.settled {
            return self.release(transmission.frame);
        }
        let at = self.instant + self.line.farthest(transmission.source());
        self.agenda.settled.push(at, transmission.source(), id);
    }

    /// Reports the deliveries of a transmission if they are settled now.
    pub fn settle(&mut self, id: TransmissionId) {
        let transmission = self.line.get(id);
        if transmission.settled {
            return;
        }
        let (frame, begin, course) = (transmission.frame, transmission.begin, transmission.course);
        let farthest = self.line.farthest(transmission.source());
        let (end, damaged) = match course {
            Course::OnAir { end } | Course::Whole { end } if self.line.alone(id) && self.line.heard_by_all(id) => {
                (end, self.spoilt_places(id, end, false))
            }
            Course::Whole { end } if end + farthest <= self.instant => (end, self.spoilt_places(id, end, true)),
            Course::OnAir { .. } | Course::Whole { .. } | Course::Cut { .. } => return,
        };
        self.line.get_mut(id).settled = true;
        self.give_out(Output::Carried { frame, begin, end, damaged });
        if let Course::Whole { .. } = course {
            self.release(frame);
        }
    }

    /// Reports that a transmission which ended at `end` is delivered: for a method that itself decides what arrived.
    pub fn carried(&mut self, id: TransmissionId, end: BitInstant) {
        if self.config.keep_outputs {
            let Transmission { frame, begin, .. } = *self.line.get(id);
            let damaged = self.spoilt_places(id, end, true);
            self.give_out(Output::Carried { frame, begin, end, damaged });
        }
    }

    /// The places where the frame is not handed up: all of them, or, if it may have `met` another, those where they
    /// overlapped, those that a cut kept it from, and those with noise.
    fn spoilt_places(&self, id: TransmissionId, end: BitInstant, met: bool) -> Vec<StationId> {
        let transmission = self.line.get(id);
        let (frame, worth) = (transmission.frame, transmission.worth);
        if worth.is_handed_up(met) && !self.noise.is_on {
            return Vec::new();
        }
        let others = (0..self.line.topology().stations() as u16).map(StationId::new).filter(|&it| it != frame.station);
        let is_spoilt = |place| !transmission.reaches(place) || self.line.damaged_at(place, id);
        let noisy = |place| {
            let way = self.line.way(transmission, place);
            self.noise.spoils(place, end + way, transmission.size)
        };
        others.filter(|&place| !worth.is_handed_up(met && is_spoilt(place)) || noisy(place)).collect()
    }
}
