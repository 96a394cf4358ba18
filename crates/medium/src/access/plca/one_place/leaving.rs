//! Back to separate nodes: the follower's state goes into all nodes, and its signal onto the line.

use super::Signal;
use crate::access::plca::Reconciliation;
use crate::access::plca::counters::PlcaCounters;
use crate::access::plca::node::Node;
use crate::access::plca::tables::{Control, Data};
use crate::access::plca::wire::{Edge, Piece, What};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::timers::NEVER;

impl Engine<Reconciliation> {
    /// From now on nodes may differ.
    pub(in crate::access::plca) fn leave_one_place(&mut self) {
        self.method.here.look_again();
        if !self.method.here.holds {
            return;
        }
        for index in 0..self.stations.len() {
            let station = StationId::new(index as u16);
            self.renew_watch(station);
            let (node, counters) = self.apart(station);
            let own = &mut self.stations[index].mac;
            (own.node, own.counters, own.delimited) = (node, counters, true);
        }
        self.method.here.holds = false;
        self.method.cycles.disturb();
        if let Some(signal) = self.method.here.signal.take() {
            self.put_on_line(signal);
        }
        (0..self.stations.len()).for_each(|index| self.look_ahead(StationId::new(index as u16)));
    }

    /// Puts `signal` on the line, as far as it is heard already.
    fn put_on_line(&mut self, signal: Signal) {
        let Signal { source, what, begin, heard, commit, frame, ended } = signal;
        let now = self.core.instant;
        let wire = &mut self.method.wire;
        let before = commit.map(|since| {
            let id = wire.begin(Piece::new(source, What::Commit, since, None), None);
            if let Some((place, id)) = wire.take(since, Edge::Begin) {
                wire.begins_at(place, id, since);
            }
            wire.end(id, begin);
            id
        });
        let id = wire.begin(Piece::new(source, what, begin, frame), before);
        if heard && let Some((place, id)) = wire.take(begin, Edge::Begin) {
            wire.begins_at(place, id, begin);
        }
        let (end, kind) = self.method.here.edge;
        let is_over = ended || (kind == Edge::End && end <= now);
        if is_over {
            wire.end(id, end);
        }
        self.stations[source.index()].mac.piece = (!is_over).then_some(id);
    }

    /// The node of `station` and its counts, as they would be without a follower.
    pub(in crate::access::plca) fn apart(&self, station: StationId) -> (Node, PlcaCounters) {
        let own = &self.stations[station.index()].mac;
        let (mut node, mut counters) = (own.node.clone(), own.counters);
        self.count_apart(station, &node, &mut counters);
        let here = &self.method.here;
        (node.detection_end, node.beacon_end, node.invalid_end) = (NEVER, NEVER, NEVER);
        (node.cur_id, node.turn_since, node.busy_cycle) = (here.cur, here.turn_since, here.busy);
        (node.command, node.active, node.count_since, node.counted) = (None, true, here.turn_since, 0);
        match &here.signal {
            Some(signal) if signal.source == station => self.speak(signal, &mut node),
            Some(signal) if here.heard().is_some() => self.listen(signal, &mut node),
            Some(_) | None => {
                node.control = if node.owns(here.cur) { Control::Yield } else { Control::WaitTo };
                node.plan();
                node.catch_up(self.core.instant, self.method.in_timers, &mut counters);
            }
        }
        (node, counters)
    }

    /// The node that sends `signal`.
    fn speak(&self, signal: &Signal, node: &mut Node) {
        let here = &self.method.here;
        let end = signal.begin + self.method.plca.beacon;
        match signal.what {
            What::Frame => (node.control, node.busy_cycle) = (Control::Transmit, true),
            What::Commit => {
                (node.control, node.command) = (Control::Commit, Some(What::Commit));
                node.busy_cycle = here.busy_before;
            }
            What::Beacon if self.core.instant < end => {
                (node.control, node.command, node.beacon_end) = (Control::SendBeacon, Some(What::Beacon), end);
                node.busy_cycle = false;
            }
            What::Beacon => (node.control, node.cur_id, node.busy_cycle) = (Control::Syncing, 0, false),
        }
    }

    /// A node that hears `signal`.
    fn listen(&self, signal: &Signal, node: &mut Node) {
        if signal.what == What::Beacon {
            (node.control, node.cur_id) = (Control::Syncing, 0);
            return;
        }
        let since = signal.commit.unwrap_or(signal.begin);
        node.control = Control::Receive;
        node.detection_end = since + self.method.plca.beacon_detection;
        if node.data == Data::Idle {
            node.data = Data::Receive;
        }
    }

    /// The follower's counts for the node of `station`.
    fn count_apart(&self, station: StationId, node: &Node, counters: &mut PlcaCounters) {
        let here = &self.method.here;
        let unheard = here.signal.as_ref().filter(|signal| !signal.heard && signal.what == What::Beacon);
        let sends = u64::from(unheard.is_some_and(|signal| signal.source == station));
        counters.beacons += here.beacons + sends;
        counters.empty_cycles += here.empty + sends * u64::from(!here.busy);
        let begun = self.begun_up_to();
        let turns = |id: u8| here.rounds - u64::from(begun.is_some_and(|last| id > last));
        let opportunities: u64 = (0..here.count).filter(|&id| node.owns(id)).map(turns).sum();
        counters.opportunities += opportunities;
        counters.yielded += opportunities - self.stations[station.index()].mac.apart.commits;
    }
}
