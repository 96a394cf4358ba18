//! Back to separate nodes: the follower's state goes into all nodes, and the edges of signals onto the line.

use super::hearing::{Signal, is_past};
use crate::access::plca::Reconciliation;
use crate::access::plca::counters::PlcaCounters;
use crate::access::plca::node::Node;
use crate::access::plca::tables::{Control, Data};
use crate::access::plca::wire::{Piece, What};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::time::BitInstant;
use crate::timers::NEVER;

impl Engine<Reconciliation> {
    /// From now on nodes may differ.
    pub(in crate::access::plca) fn leave_follower(&mut self) {
        self.method.follower.look_again();
        if !self.method.follower.leads {
            return;
        }
        let now = self.core.instant;
        for index in 0..self.stations.len() {
            let station = StationId::new(index as u16);
            self.take_carrier_back(station);
            self.renew_watch(station, false);
            let (node, counters) = self.apart(station);
            let own = &mut self.stations[index].mac;
            (own.node, own.counters, own.delimited) = (node, counters, true);
            if self.method.follower.reached.0 == now {
                // MACs see the end of this instant.
                self.note_change(station);
            }
        }
        self.put_on_line();
        self.method.follower.notices.clear();
        self.method.follower.leads = false;
        self.method.cycles.disturb();
        self.method.cycles.silent_since = now;
        (0..self.stations.len()).for_each(|index| self.look_ahead(StationId::new(index as u16)));
    }

    /// Puts the signals that have not ended everywhere on the line, as far as they have come.
    fn put_on_line(&mut self) {
        let now = self.core.instant;
        let Engine { stations, method, .. } = self;
        let (wire, signals) = (&mut method.wire, &method.follower.signals);
        let latest = wire.longest_way + method.plca.phy_off;
        let is_new = |&number: &u64| signals.get(number).end == NEVER || signals.get(number).end + latest >= now;
        let mut numbers: Vec<u64> = signals.numbers().take_while(is_new).collect();
        let mut before = None;
        while let Some(number) = numbers.pop() {
            let &Signal { source, what, begin, end, frame, followed, .. } = signals.get(number);
            let id = wire.begin(Piece::new(source, what, begin, frame), before);
            before = followed.then_some(id);
            // The coordinator itself ends its BEACON.
            if end == NEVER || (what == What::Beacon && now < end) {
                stations[source.index()].mac.piece = Some(id);
            } else {
                wire.end(id, end);
            }
        }
        let reached = method.follower.reached;
        wire.catch_up(|at, edge| is_past(at, edge, now, reached));
    }

    /// The node of `station` and its counts, as they would be without a follower.
    pub(in crate::access::plca) fn apart(&self, station: StationId) -> (Node, PlcaCounters) {
        let own = &self.stations[station.index()].mac;
        let (mut node, mut counters) = (own.node.clone(), own.counters);
        let (now, before) = (self.core.instant, self.method.in_timers);
        let (signal, heard) = self.heard_by_follower(station);
        if node.data == Data::DelayPending && (node.pending_end < now || (node.pending_end == now && !before)) {
            node.enter_data(Data::Pending, now, &self.method.plca, &mut counters);
        }
        self.count_apart(station, signal, heard, &mut counters);
        (node.detection_end, node.beacon_end, node.invalid_end) = (NEVER, NEVER, NEVER);
        if node.is_in_turn() {
            self.counts_from(&mut node, signal, signal.begin);
        } else if heard {
            self.counts_from(&mut node, signal, signal.begin);
            self.listen(station, signal, &mut node);
        } else {
            self.counts_from(&mut node, signal, self.end_at(signal, station));
            (node.cur_id, node.busy_cycle) = (signal.next_turn(), !signal.is_beacon());
            node.control = if node.owns(node.cur_id) { Control::Yield } else { Control::WaitTo };
            node.plan();
            node.catch_up(now, before, &mut counters);
        }
        (node, counters)
    }

    /// `node` counts turns from `since` on.
    fn counts_from(&self, node: &mut Node, signal: &Signal, since: BitInstant) {
        if let (false, Some(turn)) = (node.is_in_turn(), signal.turn) {
            node.cur_id = turn;
        }
        (node.turn_since, node.count_since, node.counted, node.active) = (since, since, 0, true);
    }

    /// The node of `station` hears `signal`, or sends it as a BEACON.
    fn listen(&self, station: StationId, signal: &Signal, node: &mut Node) {
        if signal.is_beacon() {
            (node.control, node.cur_id, node.busy_cycle) = (Control::Syncing, 0, false);
            if signal.source == station && self.core.instant < signal.end {
                (node.control, node.command, node.beacon_end) = (Control::SendBeacon, Some(What::Beacon), signal.end);
            }
            return;
        }
        (node.control, node.busy_cycle) = (Control::Receive, true);
        if node.data == Data::Idle {
            node.data = Data::Receive;
        }
    }

    /// The follower's counts for the node of `station`, whose last signal is `signal`.
    fn count_apart(&self, station: StationId, signal: &Signal, heard: bool, counters: &mut PlcaCounters) {
        let own = &self.stations[station.index()].mac;
        counters.beacons += signal.beacons;
        counters.empty_cycles += signal.empty;
        // The first turn begins as a BEACON is over.
        let (rounds, last) = match (signal.turn, heard) {
            (None, true) => (signal.beacons, None),
            (Some(turn), true) => (signal.beacons + 1, Some(turn)),
            (_, false) => (signal.beacons + 1, Some(signal.next_turn())),
        };
        let turns = |id: u8| rounds - u64::from(last.is_some_and(|last| id > last));
        let opportunities: u64 = (0..self.method.follower.count).filter(|&id| own.node.owns(id)).map(turns).sum();
        counters.opportunities += opportunities;
        counters.yielded += opportunities - own.apart.commits;
    }
}
