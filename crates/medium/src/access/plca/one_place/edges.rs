//! Signals on the line begin and end, for all stations at once.

use super::Signal;
use crate::access::plca::Reconciliation;
use crate::access::plca::wire::{Edge, Sent, What};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::receive::Arrival;
use crate::timers::{NEVER, instant, number};

/// The signal at all places changes.
impl Engine<Reconciliation> {
    pub(super) fn run_edge<H: Host>(&mut self, host: &mut H) {
        match std::mem::replace(&mut self.method.here.edge, (NEVER, Edge::End)).1 {
            Edge::Begin => self.edge_begins(host),
            Edge::End => self.edge_ends(host),
        }
    }

    fn edge_begins<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let here = &mut self.method.here;
        let signal = here.signal.as_mut().expect("something begins");
        let goes_on = signal.commit.take().is_some();
        signal.heard = true;
        if signal.what == What::Beacon {
            here.beacons += 1;
            here.empty += u64::from(!std::mem::take(&mut here.busy));
            here.edge = (now + self.method.plca.beacon, Edge::End);
            return;
        }
        here.busy = true;
        here.may_change |= signal.what == What::Frame;
        if goes_on {
            // Carrier stays; only the carrier that MACs see changes.
            return;
        }
        let mut from = 0;
        while let Some(station) = self.method.here.holding.next(from) {
            from = station.index() + 1;
            self.settle_in_one_place(station, host);
        }
    }

    fn edge_ends<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let here = &mut self.method.here;
        let Signal { source, frame, .. } = here.signal.take().expect("something ends");
        here.turn_since = now;
        if let Some(sent) = frame {
            here.cur += 1;
            here.may_change = true;
            self.receive_in_one_place(&sent, host);
            self.settle_in_one_place(source, host);
        } else {
            (here.cur, here.rounds) = (0, here.rounds + 1);
        }
        let cur = self.method.here.cur;
        self.plan_turn(cur);
        let next = self.method.here.turn;
        if instant(next) == now {
            self.settle_in_one_place(StationId::new(number(next)), host);
        }
    }

    /// The addressees of a frame hear its end.
    fn receive_in_one_place<H: Host>(&mut self, sent: &Sent, host: &mut H) {
        let kind = sent.worth.received(sent.size, Arrival::Clear);
        for place in sent.destination.places(self.stations.len()) {
            if place != sent.id.station {
                self.core.emit(place, sent.id, kind, host);
            }
        }
    }
}
