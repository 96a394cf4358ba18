//! CSMA/CA leaves the fast path for one place: waits and signals move to the general path.

use crate::access::csma_ca::air::{Content, Signal};
use crate::access::csma_ca::listening::Listening;
use crate::access::csma_ca::{Dcf, WAIT};
use crate::engine::Engine;
use crate::frame::{FrameId, Queued};
use crate::line::{Transmission, Worth};
use crate::time::BitInstant;

impl Engine<Dcf> {
    /// From now on stations may hear different signals: moves all waits to the general path.
    pub(in crate::access::csma_ca) fn leave_one_place(&mut self) {
        if !self.method.here.holds {
            return;
        }
        let now = self.core.instant;
        if self.method.here.new && self.method.here.last.begin < now {
            self.settle_in_one_place();
        }
        if !self.method.here.new
            && let Some((Some(addressee), _)) = self.method.here.clear
        {
            self.step_out(addressee);
        }
        self.method.here.holds = false;
        self.put_on_line();
        let (here, since) = (&mut self.method.here, self.core.instant);
        let crowd = self.stations.iter_mut().filter_map(|it| Some((it.mac.stand.due.take()?, it)));
        for (due, station) in crowd {
            let slots = due - here.counted;
            station.mac.listening = Listening::with(here.heard.gap, since, BitInstant::ZERO, Some(slots));
            here.others.push((station.id, here.from + here.spans.slot * slots));
        }
        for (station, at) in std::mem::take(&mut self.method.here.others) {
            let Dcf { air, .. } = &self.method;
            let listening = &mut self.stations[station.index()].mac.listening;
            // A station that has drawn nothing yet still has to process the signals since it found silence.
            let since = if listening.slots.is_some() { since } else { listening.not_before() };
            listening.goes_on_from(air, since);
            self.set(station, WAIT, at);
        }
    }

    /// Puts the last signals where the general path looks for signals in progress.
    fn put_on_line(&mut self) {
        let Dcf { air, here, .. } = &self.method;
        let signals = air.begun_since(here.last.begin).map(|(_, signal)| {
            let Signal { source: station, destination, size, content, about, begin, end, good, .. } = *signal;
            let frame = if content == Content::Data { about } else { FrameId { station, serial: 0 } };
            let queued =
                Queued { serial: frame.serial, size, unpadded: size, destination, arrived: begin, too_long: false };
            Transmission::whole(frame, &queued, begin, end, if good { Worth::Good } else { Worth::BadFcs })
        });
        let transmissions: Vec<Transmission> = signals.collect();
        self.core.line.recall(transmissions, air.next_id());
    }
}
