//! The loop of a medium with PLCA: the next event, in the written order of ties, and skipped cycles.

use super::acts::nameless;
use super::follower::Follower;
use super::tables::Data;
use super::wire::{EVERYWHERE, Edge, What, Wire};
use super::{Own, PlcaCounters, Reconciliation};
use crate::access::csma_cd::Transmit;
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::event::Kind;
use crate::frame::{PREAMBLE_AND_SFD, StationId};
use crate::inputs::Host;
use crate::noise::{Sense, Sort};
use crate::outputs::Output;
use crate::receive::{Arrival, Cut};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use std::cmp::Reverse;

/// Each node by itself.
impl Path<Reconciliation> for Wire {
    type Decision = BitInstant;

    #[inline(always)]
    fn is_valid(engine: &Engine<Reconciliation>) -> bool {
        !engine.method.follower.leads
    }

    #[inline(always)]
    fn next(engine: &mut Engine<Reconciliation>) -> Next<BitInstant> {
        let decides = engine.next_timer();
        Next { decides, signals: engine.next_signal(), decision: decides }
    }

    #[inline(always)]
    fn instant_ends<H: Host>(engine: &mut Engine<Reconciliation>, next: BitInstant, _: &mut H) -> bool {
        let is_over = !engine.method.changed.is_empty() && next > engine.core.instant;
        if is_over {
            engine.end_instant();
        }
        is_over
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<Reconciliation>, at: BitInstant, host: &mut H) {
        engine.method.in_timers = true;
        engine.run_timer(at, host);
        engine.method.in_timers = false;
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<Reconciliation>, host: &mut H) {
        engine.run_edges(host);
    }
}

impl Engine<Reconciliation> {
    /// Runs everything before `limit`, and with `timers_too` the ends of timers at it.
    pub(super) fn run_plca<H: Host>(&mut self, limit: BitInstant, timers_too: bool, host: &mut H) {
        while !host.stops() {
            self.run_path::<Follower, H>(limit, timers_too, host);
            if self.method.follower.leads {
                break;
            }
            self.run_path::<Wire, H>(limit, timers_too, host);
            if !self.method.follower.leads {
                break;
            }
        }
    }

    /// The next event that is visible from outside.
    pub(super) fn plca_due(&self) -> BitInstant {
        if self.method.follower.leads {
            return self.due_by_follower();
        }
        if !self.method.changed.is_empty() {
            return self.core.instant + BitTimes::new(1);
        }
        if self.method.cycles.regular { self.next_irregular() } else { self.next_timer().min(self.next_signal()) }
    }

    #[inline]
    fn next_timer(&self) -> BitInstant {
        self.method.next.iter().copied().min().unwrap_or(NEVER)
    }

    /// The first event that does not repeat in every cycle.
    fn next_irregular(&self) -> BitInstant {
        self.stations.iter().map(|this| this.mac.mac_at.min(this.mac.node.next_of_its_own())).min().unwrap_or(NEVER)
    }

    #[inline]
    fn next_signal(&self) -> BitInstant {
        self.method.wire.next.min(self.next_settled())
    }

    fn next_settled(&self) -> BitInstant {
        self.method.settled.peek().map_or(NEVER, |Reverse((at, ..))| *at)
    }

    /// The instant is over: MACs see its carrier.
    fn end_instant(&mut self) {
        let mut changed = std::mem::take(&mut self.method.changed);
        changed.drain(..).for_each(|station| self.tell_carrier(station));
        self.method.changed = changed;
        self.join_follower();
    }

    /// Runs the first station whose timer ends at `now`: its MAC, then its machines.
    fn run_timer<H: Host>(&mut self, now: BitInstant, host: &mut H) {
        let first = self.method.next.iter().position(|&at| at == now).expect("a timer ends now");
        let station = StationId::new(first as u16);
        if self.stations[first].mac.mac_at == now {
            return self.mac_timer_ends(station, host);
        }
        self.settle_node(station, host);
        // A node that waits for nothing new would be run again endlessly.
        assert!(self.core.instant > now || self.method.next[first] > now, "{station} stays at {now}");
    }

    /// Signals end, then signals begin, then outputs settle.
    fn run_edges<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let edge = [Edge::End, Edge::Begin].into_iter().find(|&edge| self.method.wire.is_next(now, edge));
        match edge {
            Some(Edge::End) => self.edges_end(host),
            Some(Edge::Begin) => self.edges_begin(host),
            None => {
                if let Some(Reverse((_, _, piece))) = self.method.settled.pop() {
                    self.settle_outputs(piece);
                }
            }
        }
    }

    fn edges_end<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let mut received = Vec::new();
        let mut told = std::mem::take(&mut self.method.told);
        while let Some((place, id)) = self.method.wire.take(now, Edge::End) {
            received.extend(self.method.wire.addressees(place, id).map(|station| (station, id)));
            self.method.wire.ends_at(place, id);
            self.add_told(place, &mut told);
        }
        received.sort_unstable();
        received.into_iter().for_each(|(station, id)| self.receive_piece(station, id, host));
        self.tell(told, host);
    }

    fn edges_begin<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        let mut told = std::mem::take(&mut self.method.told);
        while let Some((place, id)) = self.method.wire.take(now, Edge::Begin) {
            let sense = self.sensed_at(place, id);
            self.method.wire.begins_at(place, id, now, sense);
            // A COMMIT that continues as a frame keeps carrier up; only the carrier that the MACs see changes.
            if told.is_empty() && self.method.wire.goes_on_alone(id) {
                (0..self.stations.len() as u16).for_each(|station| self.note_change(StationId::new(station)));
                told.push(self.method.wire.get(id).source);
            } else {
                self.add_told(place, &mut told);
            }
        }
        self.tell(told, host);
    }

    /// How piece `id` sounds as it begins at `place`, if noise changes it.
    fn sensed_at(&self, place: u16, id: u64) -> Option<Sense> {
        let piece = self.method.wire.get(id);
        if !self.core.noise.is_on || usize::from(place) == piece.source.index() {
            return None;
        }
        let sort = match piece.what {
            What::Beacon => Sort::Beacon(self.method.plca.beacon),
            What::Commit => Sort::Commit,
            What::Frame => Sort::Frame,
        };
        self.core.noise.sense(StationId::new(place), self.core.instant, sort)
    }

    fn add_told(&self, place: u16, told: &mut Vec<StationId>) {
        if place != EVERYWHERE {
            told.push(StationId::new(place));
        } else if told.len() < self.stations.len() {
            told.clear();
            told.extend((0..self.stations.len() as u16).map(StationId::new));
        }
    }

    /// The signals at these stations have changed.
    fn tell<H: Host>(&mut self, mut told: Vec<StationId>, host: &mut H) {
        if !self.method.wire.is_one_place() {
            told.sort_unstable();
            told.dedup();
        }
        for &station in &told {
            self.detect_collision(station, host);
            self.settle_node(station, host);
        }
        told.clear();
        self.method.told = told;
    }

    /// The station at `place` receives a frame that is addressed to it, as it ends there.
    fn receive_piece<H: Host>(&mut self, place: StationId, id: u64, host: &mut H) {
        if !self.station(place).attached {
            return;
        }
        let piece = self.method.wire.get(id);
        let sent = piece.frame.expect("only frames have addressees");
        let end = piece.end.expect("it has ended");
        let kind = if piece.cut {
            // A station that sends does not receive.
            if piece.spoken.contains(&(place.index() as u16)) {
                return;
            }
            // A signal that a delay line held back may be cut before the preamble is out.
            let end = end.max(piece.begin + PREAMBLE_AND_SFD);
            let cut = Cut { begin: piece.begin, preamble: piece.begin, frame_end: sent.frame_end, end };
            cut.received(&self.core.config.parameters)
        } else {
            sent.worth.received(sent.size, Arrival::met(piece.is_spoilt_at(place)))
        };
        self.core.emit_received(place, sent.id, kind, host);
    }

    /// Reports the deliveries of a frame if they can no longer change.
    fn settle_outputs(&mut self, id: u64) {
        let now = self.core.instant;
        let stations = self.stations.len() as u16;
        let esd = self.method.plca.end_delimiter;
        let Some(piece) = self.method.wire.find(id).filter(|piece| !piece.settled && !piece.cut) else { return };
        let sent = piece.frame.expect("only frames are settled");
        let farthest = self.core.line.farthest(piece.source) + self.method.plca.phy_off;
        let over = piece.end.is_some_and(|end| end + farthest <= now);
        if !over && !piece.spoilt.is_empty() {
            return;
        }
        let delimited = self.stations[piece.source.index()].mac.delimited;
        let end = piece.end.unwrap_or(sent.frame_end + if delimited { esd } else { BitTimes::ZERO });
        let spoilt = |&place: &StationId| {
            let at = end + self.method.wire.way(piece.source, place) + self.method.plca.phy_off;
            !sent.worth.is_handed_up(piece.is_spoilt_at(place) || !piece.reaches(place))
                || self.core.noise.spoils(place, at, sent.size)
        };
        let others = (0..stations).map(StationId::new).filter(|&place| place != piece.source);
        let damaged = others.filter(spoilt).collect();
        let piece = self.method.wire.get_mut(id);
        piece.settled = true;
        let (begin, released) = (piece.begin, piece.released);
        self.core.give_out(Output::Carried { frame: sent.id, begin, end, damaged });
        if released {
            self.core.release(sent.id);
        }
    }
}

/// Cycles of a bus without traffic.
impl Engine<Reconciliation> {
    /// The coordinator `station` is about to send a BEACON: skips cycles that repeat the last one.
    pub(super) fn before_beacon<H: Host>(&mut self, station: StationId, host: &mut H) {
        if !self.counts_cycles(station) {
            return self.method.cycles.disturb();
        }
        let busy = self.station(station).mac.node.was_busy();
        if !busy {
            self.pass_cycles(station);
        }
        if self.report_beacon(station, busy, host) {
            self.method.cycles.disturb();
        }
    }

    /// Counts the BEACON that `station` is about to send, and reports it, unless it ends one more empty cycle.
    pub(super) fn report_beacon<H: Host>(&mut self, station: StationId, busy: bool, host: &mut H) -> bool {
        let (now, cycles) = (self.core.instant, &mut self.method.cycles);
        let length = cycles.beacon(now, busy);
        if !busy && length.is_some() {
            cycles.untold += 1;
            return false;
        }
        let empty = std::mem::take(&mut cycles.untold);
        let length = length.unwrap_or(BitTimes::ZERO);
        self.core.emit(station, nameless(station), Kind::Beacon { empty, length }, host);
        true
    }

    /// The cycles of one coordinator count: the first that sends BEACONs, as long as it does.
    fn counts_cycles(&mut self, station: StationId) -> bool {
        let sends = |other: StationId| {
            let this = &self.stations[other.index()];
            this.attached && this.mac.node.is_coordinator() && this.mac.node.own.settings.enabled
        };
        let owner = *self.method.cycles.owner.get_or_insert(station);
        if owner != station && !sends(owner) {
            self.method.cycles.owner = Some(station);
        }
        self.method.cycles.owner == Some(station)
    }

    fn pass_cycles(&mut self, station: StationId) {
        let now = self.core.instant;
        let alone = |(index, &at): (usize, &BitInstant)| index == station.index() || at > now;
        // A gap that a BEACON cuts short differs from cycle to cycle.
        let in_gap = |own: &Own| {
            own.mac.transmit == Transmit::WaitingToSend && !own.handing_over && own.node.data == Data::Normal
        };
        let quiet = self.method.wire.is_silent()
            && !self.stations.iter().any(|this| in_gap(&this.mac))
            && self.method.changed.is_empty()
            && self.core.done.is_empty()
            && self.method.next.iter().enumerate().all(alone);
        if !quiet || self.core.noise.is_on || !self.method.cycles.may_be_known() {
            return;
        }
        let parameters = &self.core.config.parameters;
        let relative = |own: &Own| Some((own.node.relative(now)?, own.watch.relative(now, parameters)));
        let nodes = self.stations.iter().map(|this| relative(&this.mac)).collect();
        let counters = self.stations.iter().map(|this| this.mac.counters).collect();
        let Some((length, counted)) = self.method.cycles.period(now, nodes, counters) else { return };
        self.method.cycles.regular = true;
        let bound = self.core.limit.min(self.next_irregular()).min(self.next_settled());
        let count = bound.since(now).get().saturating_sub(1) / length.get().max(1);
        if count > 0 {
            self.let_cycles_pass(length, count, &counted);
        }
    }

    fn let_cycles_pass(&mut self, length: BitTimes, count: u64, counted: &[PlcaCounters]) {
        let span = length * count;
        self.core.instant = self.core.instant + span;
        self.method.cycles.pass(length, count, counted);
        for (index, (this, more)) in self.stations.iter_mut().zip(counted).enumerate() {
            let own = &mut this.mac;
            own.node.pass(span, count);
            own.watch.pass(span);
            own.counters = own.counters.and(more, count);
            self.method.next[index] = own.mac_at.min(own.node.next());
        }
    }

    /// The counts of a station's node up to now.
    pub(crate) fn plca_counters(&self, station: StationId) -> PlcaCounters {
        if self.method.follower.leads {
            return self.apart(station).1;
        }
        let own = &self.station(station).mac;
        let (mut node, mut counters) = (own.node.clone(), own.counters);
        node.catch_up(self.core.instant, false, &mut counters);
        counters
    }

    /// Whether plca_status of a station is OK.
    pub(crate) fn plca_status(&self, station: StationId) -> bool {
        self.station(station).mac.node.status_ok
    }

    /// The present settings of a station's node.
    pub(crate) fn plca_settings(&self, station: StationId) -> super::PlcaSettings {
        self.station(station).mac.node.own.settings
    }

    /// The cycles so far; a silence that is not over counts.
    pub(crate) fn plca_cycles(&self) -> super::PlcaCycles {
        let mut cycles = self.method.cycles.sums;
        cycles.silences += u64::from(!self.method.follower.leads && self.is_long_silent());
        cycles
    }

    /// Nothing has been on the line for longer than 255 turns, as long as PLCA is on at some node.
    pub(super) fn is_long_silent(&self) -> bool {
        let nodes = self.stations.iter().map(|this| &this.mac.node).filter(|node| node.on());
        let longest = nodes.map(|node| node.own.settings.to_timer).max();
        let silent = self.core.instant.since(self.method.cycles.silent_since);
        self.method.wire.is_silent() && longest.is_some_and(|to| silent > BitTimes::new(255 * u64::from(to)))
    }
}
