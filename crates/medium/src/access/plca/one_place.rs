//! PLCA while all places are one and all nodes are configured consistently: one follower replaces the control machines
//! of all nodes.
//!
//! All nodes hear the same, and count the same turns. The follower knows the present turn and the counts of all nodes,
//! so a node that waits, or has nothing to send, costs nothing. A signal is handled only at the node that sends it, at
//! the node whose turn comes next, and at nodes whose MAC sends into its delay line or waits for a gap.
//!
//! ```text
//!   |BEACON|turn of 0|turn of 1|COMMIT of 2|frame of 2 ......|turn of 3 …
//!   └ `cur` is 0 from here on  └ next of those that wait     └ `cur` is 3
//! ```
//! Each node keeps its own data machine and MAC, which act by the tables, as everywhere. The events and their order are
//! those of the general path in `acts` and `run`. The medium enters this fast path at a BEACON, if all nodes are
//! configured consistently. It leaves when an input changes a node, or a node gives up its turn.

mod edges;
mod joining;
mod leaving;
mod turns;

use super::tables::{Data, Seen};
use super::watch::Watch;
use super::wire::{Edge, Sent, What};
use super::{Own, Reconciliation};
use crate::access::csma_cd::{Transmit, TransmitInput};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::frame::StationId;
use crate::inputs::Host;
use crate::line::StationSet;
use crate::time::{BitInstant, BitTimes};
use crate::timers::{Key, NEVER, NONE, instant, key, number};

/// The bus as all nodes see it.
#[derive(Debug)]
pub(super) struct OnePlace {
    /// The fields below are valid.
    pub holds: bool,
    /// Whether the configuration allows the fast path, regardless of the present state of the nodes; `None`: not yet
    /// checked.
    fits: Option<bool>,
    /// The station of each id.
    owners: Box<[Option<StationId>]>,
    /// The number of turns in a cycle, and their length.
    count: u8,
    to: BitTimes,
    coordinator: StationId,
    /// Ids whose node would use its turn.
    pending: [u64; 4],
    /// curID at `turn_since`; turns that have passed since are not included.
    cur: u8,
    turn_since: BitInstant,
    /// When the next turn that matters begins, and at which station: a turn that will be used, or the end of the cycle
    /// at the coordinator.
    turn: Key,
    signal: Option<Signal>,
    /// The signal's next edge, and when.
    edge: (BitInstant, Edge),
    /// A node has sent since the last BEACON; and its value before the present turn.
    busy: bool,
    busy_before: bool,
    /// The numbers of first turns, BEACONs, and empty cycles since the medium entered this path.
    rounds: u64,
    beacons: u64,
    empty: u64,
    /// Deference state of stations that are not transmitting: the number of changes of their carrier, and the time of
    /// the last.
    carrier: Watch,
    changes: u64,
    changed_at: BitInstant,
    /// Their carrier may have changed in this instant.
    may_change: bool,
    /// Stations that wait for the end of a gap, with the common carrier; and those whose MAC sends into the delay line.
    waiting: StationSet,
    holding: StationSet,
    /// The first of the stations' own timers; 0 if it must be searched for.
    first: Key,
    /// The station whose timers have changed since the last search.
    touched: Option<StationId>,
}

/// The signal on the line, or the one that begins at this instant.
#[derive(Debug)]
struct Signal {
    source: StationId,
    what: What,
    begin: BitInstant,
    /// It is heard already.
    heard: bool,
    /// The begin of the COMMIT that this frame follows.
    commit: Option<BitInstant>,
    frame: Option<Sent>,
    /// Its end is known.
    ended: bool,
}

/// The part of a node that differs from the follower.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// Turns that it took, since the medium entered this path.
    commits: u64,
    /// Its MAC has seen the common carrier since its last update, when `changes` of the follower had this value.
    at_ease: bool,
    told: u64,
    /// It is among those that wait with the common carrier.
    waits: bool,
}

impl OnePlace {
    pub fn new(config: &Config) -> OnePlace {
        let stations = config.topology.stations();
        OnePlace {
            holds: false,
            fits: None,
            owners: vec![None; 256].into(),
            count: 0,
            to: BitTimes::ZERO,
            coordinator: StationId::new(0),
            pending: [0; 4],
            cur: 0,
            turn_since: BitInstant::ZERO,
            turn: NONE,
            signal: None,
            edge: (NEVER, Edge::End),
            busy: false,
            busy_before: false,
            rounds: 0,
            beacons: 0,
            empty: 0,
            carrier: Watch::SILENT,
            changes: 0,
            changed_at: BitInstant::ZERO,
            may_change: false,
            waiting: StationSet::new(stations),
            holding: StationSet::new(stations),
            first: 0,
            touched: None,
        }
    }

    /// Settings have changed, or stations were attached or detached.
    pub fn look_again(&mut self) {
        self.fits = None;
    }

    /// What is heard in this part of the instant, and its sender.
    #[inline]
    fn heard(&self) -> Option<(What, StationId)> {
        let signal = self.signal.as_ref()?;
        match signal.heard {
            true => Some((signal.what, signal.source)),
            false => signal.commit.map(|_| (What::Commit, signal.source)),
        }
    }

    /// `station` hears another's COMMIT or frame.
    #[inline]
    fn receives(&self, station: StationId) -> bool {
        self.heard().is_some_and(|(what, source)| what != What::Beacon && source != station)
    }

    /// Stations that do not send hear a frame.
    #[inline]
    fn carries_frame(&self) -> bool {
        self.heard().is_some_and(|(what, _)| what == What::Frame)
    }
}

/// The next decision is that of the first station, or the next turn that matters.
impl Path<Reconciliation> for OnePlace {
    type Decision = Key;

    #[inline(always)]
    fn is_valid(engine: &Engine<Reconciliation>) -> bool {
        engine.method.here.holds
    }

    #[inline(always)]
    fn next(engine: &mut Engine<Reconciliation>) -> Next<Key> {
        let first = engine.first_timer().min(engine.method.here.turn);
        Next { decides: instant(first), signals: engine.method.here.edge.0, decision: first }
    }

    #[inline(always)]
    fn instant_ends<H: Host>(engine: &mut Engine<Reconciliation>, next: BitInstant, _: &mut H) -> bool {
        let changes = engine.method.here.may_change || !engine.method.changed.is_empty();
        let is_over = changes && next > engine.core.instant;
        if is_over {
            engine.end_instant_in_one_place();
        }
        is_over
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<Reconciliation>, first: Key, host: &mut H) {
        engine.method.in_timers = true;
        engine.run_timer_in_one_place(StationId::new(number(first)), host);
        engine.method.in_timers = false;
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<Reconciliation>, host: &mut H) {
        engine.run_edge(host);
    }
}

/// The follower's events.
impl Engine<Reconciliation> {
    /// The next event that is visible from outside.
    pub(super) fn due_in_one_place(&self) -> BitInstant {
        let here = &self.method.here;
        if here.may_change || !self.method.changed.is_empty() {
            return self.core.instant + BitTimes::new(1);
        }
        let own = self.stations.iter().map(|this| this.mac.mac_at.min(this.mac.node.data_end())).min().unwrap_or(NEVER);
        // The first BEACON after a frame is reported.
        let quiet = here.pending == [0; 4] && !here.busy;
        let idle = quiet && here.signal.as_ref().is_none_or(|signal| signal.what == What::Beacon);
        if idle { own } else { own.min(instant(here.turn)).min(here.edge.0) }
    }

    #[inline]
    fn first_timer(&mut self) -> Key {
        if let Some(station) = self.method.here.touched.take() {
            self.look_at(station);
        }
        if self.method.here.first == 0 {
            let mut first = (NEVER, u16::MAX);
            for (station, &at) in (0..).zip(&self.method.next) {
                if at < first.0 {
                    first = (at, station);
                }
            }
            self.method.here.first = key(first.0, first.1);
        }
        self.method.here.first
    }

    fn run_timer_in_one_place<H: Host>(&mut self, station: StationId, host: &mut H) {
        let own = &mut self.stations[station.index()].mac;
        if own.mac_at != self.core.instant {
            return self.settle_in_one_place(station, host);
        }
        own.mac_at = NEVER;
        self.look_ahead_in_one_place(station);
        self.mac_acts(station, host);
    }

    /// The instant is over: MACs see its carrier.
    fn end_instant_in_one_place(&mut self) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let here = &mut self.method.here;
        let carrier = here.carries_frame();
        if std::mem::take(&mut here.may_change) && carrier != here.carrier.carrier() {
            here.carrier.tell(now, carrier, false, &parameters);
            (here.changes, here.changed_at) = (here.changes + 1, now);
            let mut from = 0;
            while let Some(station) = self.method.here.waiting.next(from) {
                from = station.index() + 1;
                self.tell_carrier_in_one_place(station);
            }
        }
        let mut changed = std::mem::take(&mut self.method.changed);
        changed.drain(..).for_each(|station| self.tell_carrier_in_one_place(station));
        self.method.changed = changed;
    }

    fn tell_carrier_in_one_place(&mut self, station: StationId) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let renewed = self.renew_watch(station);
        let here = &self.method.here;
        let own = &mut self.stations[station.index()].mac;
        own.changed = false;
        let at_ease = own.node.data == Data::Idle;
        let carrier = if at_ease { here.carries_frame() } else { own.node.carrier(true, false) };
        let sends = own.mac_sends();
        (own.apart.at_ease, own.apart.told) = (at_ease, here.changes);
        if !renewed && own.watch.is_told(carrier, sends) {
            return;
        }
        own.watch.tell(now, carrier, sends, &parameters);
        if own.mac.transmit == Transmit::WaitingToSend && !own.handing_over {
            own.mac_at = own.watch.gap_end(&parameters).unwrap_or(NEVER);
            self.look_ahead_in_one_place(station);
        }
    }

    /// Brings the MAC of a node at ease up to date with the common carrier; false if nothing has changed.
    pub(super) fn renew_watch(&mut self, station: StationId) -> bool {
        let here = &self.method.here;
        let own = &mut self.stations[station.index()].mac;
        if !own.apart.at_ease || own.apart.told == here.changes {
            return false;
        }
        if here.changes - own.apart.told == 1 {
            own.watch.tell(here.changed_at, here.carrier.carrier(), false, &self.core.config.parameters);
        } else {
            // A whole frame went by: whatever the MAC saw before, the gap after the frame is the common one.
            own.watch = here.carrier;
        }
        own.apart.told = here.changes;
        true
    }

    /// The next event at `station` may have changed, apart from its turn.
    #[inline]
    pub(super) fn look_ahead_in_one_place(&mut self, station: StationId) {
        let before = self.method.here.touched.replace(station);
        if let Some(before) = before.filter(|&before| before != station) {
            self.look_at(before);
        }
    }

    fn look_at(&mut self, station: StationId) {
        let own = &mut self.stations[station.index()].mac;
        let next = own.mac_at.min(own.node.data_end());
        let waits = own.mac.transmit == Transmit::WaitingToSend && !own.handing_over && own.node.data == Data::Idle;
        let here = &mut self.method.here;
        if waits != own.apart.waits {
            own.apart.waits = waits;
            if waits {
                here.waiting.insert(station);
            } else {
                here.waiting.remove(station);
            }
        }
        let before = std::mem::replace(&mut self.method.next[station.index()], next);
        if next < before {
            here.first = here.first.min(key(next, station.index() as u16));
        } else if next > before && number(here.first) == station.index() as u16 {
            here.first = 0;
        }
    }
}

impl Own {
    /// The next state of the data machine, by the table, while something is `heard`, or another's COMMIT or frame is
    /// `receiving`.
    #[inline(always)]
    fn data_in_one_place(&self, now: BitInstant, heard: bool, receiving: bool) -> Option<Data> {
        let node = &self.node;
        let seen =
            Seen { on: true, status: true, mac_sends: self.mac_sends(), crs: heard, receiving, ..Seen::default() };
        match node.data {
            // A node at ease receives implicitly.
            Data::Idle if receiving => Data::Receive.next(&seen),
            Data::Idle => Data::Idle.next(&seen),
            Data::Hold => {
                let line_full = node.line_end <= now;
                Data::Hold.next(&Seen { line_full, committed: node.committed, ..seen })
            }
            Data::Collide => Data::Collide.next(&seen),
            Data::DelayPending => Data::DelayPending.next(&Seen { pending_done: node.pending_end <= now, ..seen }),
            Data::Pending => Data::Pending.next(&Seen { committed: node.committed, ..seen }),
            Data::WaitMac => Data::WaitMac.next(&Seen { commit_done: node.commit_end <= now, ..seen }),
            Data::Transmit => Data::Transmit.next(&Seen { delayed: self.line_begin > self.mac.begin, ..seen }),
            Data::Flush => Data::Flush.next(&Seen { flushed: node.flush_end <= now, ..seen }),
            Data::WaitIdle => Data::WaitIdle.next(&Seen { committed: node.committed, ..seen }),
            Data::Normal | Data::Receive => panic!("{:?} of a node at ease", node.data),
        }
    }
}

/// A node by itself.
impl Engine<Reconciliation> {
    /// Runs the machines of `station` until none of them changes, and puts their signals on the line.
    pub(super) fn settle_in_one_place<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (heard, receiving) = (self.method.here.heard().is_some(), self.method.here.receives(station));
        loop {
            let own = &self.stations[station.index()].mac;
            if let Some(to) = own.data_in_one_place(self.core.instant, heard, receiving) {
                if to == Data::WaitIdle && own.node.data == Data::WaitMac {
                    // The node gives its turn up.
                    self.leave_one_place();
                    return self.settle_node(station, host);
                }
                self.enter_data_in_one_place(station, to, host);
            } else if own.node.committed && own.node.tx_en(true) {
                let own = &mut self.stations[station.index()].mac;
                own.node.committed = false;
                own.counters.used += 1;
            } else if self.method.here.turn == key(self.core.instant, station.index() as u16) {
                self.take_turn(station, host);
            } else {
                break;
            }
        }
        self.drive_in_one_place(station);
        self.note_change(station);
        self.look_ahead_in_one_place(station);
    }

    fn enter_data_in_one_place<H: Host>(&mut self, station: StationId, to: Data, host: &mut H) {
        let now = self.core.instant;
        let own = &mut self.stations[station.index()].mac;
        let pending = own.node.pending;
        own.node.enter_data(to, now, &self.method.plca, &mut own.counters);
        own.apart.at_ease &= to == Data::Idle;
        match to {
            Data::Transmit => own.line_begin = now,
            Data::Flush => {
                let sent = self.method.here.signal.as_ref().and_then(|signal| signal.frame);
                own.node.flush_end = sent.expect("a node that sends has a frame on the line").frame_end;
            }
            Data::Hold
            | Data::Collide
            | Data::Normal
            | Data::WaitIdle
            | Data::Idle
            | Data::Receive
            | Data::DelayPending
            | Data::Pending
            | Data::WaitMac => {}
        }
        if pending != own.node.pending {
            self.note_pending(station);
        }
        if to == Data::Hold {
            self.method.here.holding.insert(station);
        } else {
            self.method.here.holding.remove(station);
        }
        if to == Data::Collide {
            self.tell_transmit(station, TransmitInput::Collision, host);
        }
    }

    /// Puts the signals that the machines of `station` request on the line.
    fn drive_in_one_place(&mut self, station: StationId) {
        let now = self.core.instant;
        let node = &self.stations[station.index()].mac.node;
        let want = match node.tx_en(true) {
            true => Some(What::Frame),
            false => node.committed.then_some(What::Commit),
        };
        let here = &mut self.method.here;
        let is = here.signal.as_ref().filter(|signal| signal.source == station && !signal.ended);
        let (is, begin) = (is.map(|signal| signal.what), is.map(|signal| signal.begin));
        if is == want || is == Some(What::Beacon) {
            return;
        }
        here.turn = NONE;
        if let Some(what) = want {
            let frame = (what == What::Frame).then(|| self.sent(station));
            let signal = Signal { source: station, what, begin: now, heard: false, commit: begin, frame, ended: false };
            (self.method.here.signal, self.method.here.edge) = (Some(signal), (now, Edge::Begin));
        } else if let (Some(signal), Some(begin)) = (&mut here.signal, begin) {
            signal.ended = true;
            let end = (now + self.method.plca.end_delimiter).max(begin + BitTimes::new(1));
            here.edge = (end, Edge::End);
        }
    }
}
