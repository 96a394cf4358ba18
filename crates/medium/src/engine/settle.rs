//! When a transmission's deliveries can be given out.
//!
//! ```text
//!   begin      begin + farthest + exposed                     end
//!     |...............|............................................|
//!                     └ whoever could still have begun has begun: if nothing met it, its end is settled
//! ```

use super::state::Core;
use crate::access::Access;
use crate::frame::{StationId, TransmissionId};
use crate::line::{Course, Worth};
use crate::outputs::Output;
use crate::time::BitInstant;

impl Core {
    /// Asks to be called when everyone who could still disturb the transmission has begun or defers.
    pub fn expect_settled<A: Access>(&mut self, id: TransmissionId) {
        let Some(exposed) = A::exposed(&self.config).filter(|_| self.config.keep_outputs) else { return };
        let transmission = self.line.get(id);
        let (source, begin) = (transmission.source(), transmission.begin);
        self.agenda.settled.push(begin + self.line.farthest(source) + exposed, source, id);
    }

    /// The sender is done. A transmission that was not alone is looked at again when it has passed every station.
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

    /// Gives out the deliveries of a transmission if they are settled now.
    pub fn settle(&mut self, id: TransmissionId) {
        let transmission = self.line.get(id);
        if transmission.settled {
            return;
        }
        let (frame, course) = (transmission.frame, transmission.course);
        let farthest = self.line.farthest(transmission.source());
        let (end, damaged) = match course {
            Course::OnAir { end } | Course::Whole { end } if self.line.alone(id) && self.line.heard_by_all(id) => {
                (end, self.spoilt_places(id, false))
            }
            Course::Whole { end } if end + farthest <= self.instant => (end, self.spoilt_places(id, true)),
            Course::OnAir { .. } | Course::Whole { .. } | Course::Cut { .. } => return,
        };
        self.line.get_mut(id).settled = true;
        self.give_out(Output::Carried { frame, end, damaged });
        if let Course::Whole { .. } = course {
            self.release(frame);
        }
    }

    /// Gives out that a transmission which ended at `end` is carried: for a method that judges itself what arrived.
    pub fn carried(&mut self, id: TransmissionId, end: BitInstant) {
        if self.config.keep_outputs {
            let (frame, damaged) = (self.line.get(id).frame, self.spoilt_places(id, true));
            self.give_out(Output::Carried { frame, end, damaged });
        }
    }

    /// Where the frame is not handed up: everywhere, or, if it may have `met` another, where they overlapped and where a
    /// cut kept it from.
    fn spoilt_places(&self, id: TransmissionId, met: bool) -> Vec<StationId> {
        let transmission = self.line.get(id);
        let (frame, worth) = (transmission.frame, transmission.worth);
        let others =
            || (0..self.line.topology().stations() as u16).map(StationId::new).filter(|&it| it != frame.station);
        match worth {
            Worth::BadFcs | Worth::TooLong => others().collect(),
            Worth::Good if met => {
                let spoilt = |&place: &StationId| !transmission.reaches(place) || self.line.damaged_at(place, id);
                others().filter(spoilt).collect()
            }
            Worth::Good => Vec::new(),
        }
    }
}
