//! PLCA while all nodes are configured consistently: one follower replaces the control machines of all nodes that do not
//! send.
//!
//! All nodes count the same turns, each from the instant at which it hears the last signal end. The follower knows the
//! last signals and the counts of all nodes, so a node that waits, or has nothing to send, costs nothing. An edge of a
//! signal is handled only at the node that sends it, at the addressees of its frame, at the node whose turn comes next,
//! and at nodes whose MAC sends into its delay line or waits for a gap.
//!
//! ```text
//!   at a node     |COMMIT of 2|frame of 2 ......|turn of 3|turn of 4: COMMIT of 4|…
//!   farther away     |COMMIT of 2|frame of 2 ......|turn of 3| turn of 4 |COMMIT of 4|…
//! ```
//! A turn lasts longer than a signal takes there and back. So each node hears a turn being used before the next turn
//! begins there, signals do not overlap at any place, and places hear them in the same order.
//!
//! Each node keeps its own data machine and MAC, and in its turn its control machine, which act by the tables, as
//! everywhere. The events and their order are those of the general path in `acts` and `run`. The medium enters this
//! fast path while all places hear a BEACON, if all nodes are configured consistently. It leaves when an input changes a
//! node, or a node gives up its turn.

mod ahead;
mod at_once;
mod edges;
mod hearing;
mod in_a_row;
mod joining;
mod leaving;
mod turns;

use super::ids::Ids;
use super::tables::{Control, Data, Seen};
use super::watch::Watch;
use super::wire::{Edge, Sent};
use super::{Own, Reconciliation};
use crate::config::Config;
use crate::engine::Engine;
use crate::engine::clock::{Next, Path};
use crate::frame::StationId;
use crate::inputs::Host;
use crate::line::StationSet;
use crate::time::{BitInstant, BitTimes};
use crate::timers::{Key, NEVER, NONE, instant, key, number};
use ahead::Ahead;
use edges::Notices;
use hearing::{Carriers, Signal, Signals};

/// The bus as all nodes see it.
#[derive(Debug)]
pub(super) struct Follower {
    /// The fields below are valid.
    pub leads: bool,
    /// Whether the configuration allows the fast path, regardless of the present state of the nodes; `None`: not yet
    /// checked.
    fits: Option<bool>,
    /// The station of each id.
    owners: Box<[Option<StationId>]>,
    /// The number of turns in a cycle, and their length.
    count: u8,
    to: BitTimes,
    coordinator: StationId,
    /// Ids whose node would use its turn, now or at the end of its pending_timer.
    pending: Ids,
    /// The last signals; those before the newest are on their way to some place at most.
    signals: Signals,
    turn: Turn,
    /// Edges of signals at the stations that they concern.
    notices: Notices,
    /// The last instant at which edges were handled, and the last kind of them.
    reached: (BitInstant, Edge),
    /// Carrier as stations see it that are not transmitting.
    carriers: Carriers,
    /// Stations that wait for the end of a gap, with that carrier; and those whose MAC sends into the delay line.
    waiting: StationSet,
    holding: StationSet,
    /// The first of each station's own timers, as far as they are set.
    timers: Ahead<Key>,
    /// The station whose timers have changed since the last look.
    touched: Option<StationId>,
    /// The station whose turn has just begun.
    begun: Option<StationId>,
    /// Turns are run in a row: who acts next is not looked at.
    in_a_row: bool,
}

/// The next turn that matters: one that will be used, or the end of the cycle at the coordinator.
#[derive(Clone, Copy, Debug)]
struct Turn {
    id: u8,
    /// When it begins, and at which station.
    begin: Key,
    /// It begins as the station hears the last signal end, and not by the timer.
    by_edge: bool,
}

impl Turn {
    const NONE: Turn = Turn { id: 0, begin: NONE, by_edge: false };

    /// When its timer ends.
    #[inline]
    fn timer(&self) -> Key {
        if self.by_edge { NONE } else { self.begin }
    }
}

/// The part of a node that differs from the follower.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// Turns that it took, since the medium entered this path.
    commits: u64,
    /// Its MAC sees the carrier that all see, of which it has seen this number of changes.
    pub at_ease: bool,
    told: u64,
    /// It is among those that wait with that carrier.
    waits: bool,
    /// When its MAC was told of carrier before the end of the instant, and what the MAC had seen before.
    early: Option<(BitInstant, Watch)>,
}

impl Apart {
    /// What its MAC had seen before it was told of carrier at once, at `now`.
    #[inline]
    pub fn told_at_once(&self, now: BitInstant) -> Option<Watch> {
        self.early.filter(|(at, _)| *at == now).map(|(_, before)| before)
    }
}

impl Follower {
    pub fn new(config: &Config) -> Follower {
        let stations = config.topology.stations();
        Follower {
            leads: false,
            fits: None,
            owners: vec![None; 256].into(),
            count: 0,
            to: BitTimes::ZERO,
            coordinator: StationId::new(0),
            pending: Ids::NONE,
            signals: Signals::new(Signal::beacon(StationId::new(0), BitInstant::ZERO, BitTimes::ZERO)),
            turn: Turn::NONE,
            notices: Notices::new(),
            reached: (BitInstant::ZERO, Edge::End),
            carriers: Carriers::new(),
            waiting: StationSet::new(stations),
            holding: StationSet::new(stations),
            timers: Ahead::new(),
            touched: None,
            begun: None,
            in_a_row: false,
        }
    }

    /// The frame on the line, if the last signal is one.
    pub fn frame_on_line(&self) -> Option<Sent> {
        self.signals.newest().frame
    }

    /// Settings have changed, or stations were attached or detached.
    pub fn look_again(&mut self) {
        self.fits = None;
    }
}

/// The next decision is that of the first station, or the next turn that matters.
impl Path<Reconciliation> for Follower {
    type Decision = Key;

    #[inline(always)]
    fn is_valid(engine: &Engine<Reconciliation>) -> bool {
        engine.method.follower.leads
    }

    #[inline(always)]
    fn runs_put_off<H: Host>(engine: &mut Engine<Reconciliation>, host: &mut H) -> bool {
        engine.runs_in_a_row(host)
    }

    #[inline(always)]
    fn next(engine: &mut Engine<Reconciliation>) -> Next<Key> {
        let first = engine.first_timer().min(engine.method.follower.turn.timer());
        Next { decides: instant(first), signals: engine.method.follower.notices.next(), decision: first }
    }

    #[inline(always)]
    fn instant_ends<H: Host>(engine: &mut Engine<Reconciliation>, next: BitInstant, _: &mut H) -> bool {
        let is_over = !engine.method.changed.is_empty() && next > engine.core.instant;
        if is_over {
            let mut changed = std::mem::take(&mut engine.method.changed);
            changed.drain(..).for_each(|station| engine.tell_carrier_by_follower(station));
            engine.method.changed = changed;
        }
        is_over
    }

    #[inline(always)]
    fn decide<H: Host>(engine: &mut Engine<Reconciliation>, first: Key, host: &mut H) {
        engine.method.in_timers = true;
        engine.run_timer_by_follower(StationId::new(number(first)), host);
        engine.method.in_timers = false;
    }

    #[inline(always)]
    fn signals_change<H: Host>(engine: &mut Engine<Reconciliation>, host: &mut H) {
        engine.run_notices(host);
    }
}

/// The follower's events.
impl Engine<Reconciliation> {
    /// The next event that is visible from outside.
    pub(super) fn due_by_follower(&self) -> BitInstant {
        let follower = &self.method.follower;
        if !self.method.changed.is_empty() {
            return self.core.instant + BitTimes::new(1);
        }
        let next = |own: &Own| own.mac_at.min(own.node.next_by_follower());
        let own = self.stations.iter().map(|this| next(&this.mac)).min().unwrap_or(NEVER).min(follower.notices.next());
        // The first BEACON after a frame is reported.
        let idle = follower.pending == Ids::NONE && follower.signals.newest().is_beacon();
        if idle { own } else { own.min(instant(follower.turn.timer())) }
    }

    #[inline]
    fn first_timer(&mut self) -> Key {
        self.look_at_touched();
        self.method.follower.timers.first().copied().unwrap_or(NONE)
    }

    fn run_timer_by_follower<H: Host>(&mut self, station: StationId, host: &mut H) {
        let own = &mut self.stations[station.index()].mac;
        if own.mac_at != self.core.instant {
            if !self.takes_turn_at_once(station, host) {
                self.settle_by_follower(station, host);
            }
            return;
        }
        own.mac_at = NEVER;
        self.look_ahead_by_follower(station);
        self.mac_acts(station, host);
    }

    /// The next event at `station` may have changed, apart from its turn.
    #[inline]
    pub(super) fn look_ahead_by_follower(&mut self, station: StationId) {
        if self.method.follower.in_a_row {
            return;
        }
        let before = self.method.follower.touched.replace(station);
        if let Some(before) = before.filter(|&before| before != station) {
            self.look_at(before);
        }
    }

    #[inline]
    pub(super) fn look_at_touched(&mut self) {
        if let Some(station) = self.method.follower.touched.take() {
            self.look_at(station);
        }
    }

    pub(super) fn look_at(&mut self, station: StationId) {
        let own = &self.stations[station.index()].mac;
        let next = own.mac_at.min(own.node.next_by_follower());
        self.next_is(station, next);
        self.look_whether_waits(station);
    }

    /// Whether `station` waits with the carrier that all see may have changed.
    #[inline]
    pub(super) fn look_whether_waits(&mut self, station: StationId) {
        let own = &self.stations[station.index()].mac;
        let waits = own.defers() && own.node.data == Data::Idle;
        if own.apart.waits != waits {
            self.waits_is(station, waits);
        }
    }

    /// The next event of `station` itself is at `at`.
    #[inline]
    pub(super) fn next_is(&mut self, station: StationId, at: BitInstant) {
        let before = std::mem::replace(&mut self.method.next[station.index()], at);
        let timers = &mut self.method.follower.timers;
        let of = |at| key(at, station.index() as u16);
        if at == before {
            return;
        }
        if before != NEVER {
            timers.remove(of(before));
        }
        if at != NEVER {
            timers.add(of(at));
        }
    }

    /// Whether `station` waits with the carrier that all see has changed.
    #[inline]
    pub(super) fn waits_is(&mut self, station: StationId, waits: bool) {
        self.stations[station.index()].mac.apart.waits = waits;
        if waits {
            self.method.follower.waiting.insert(station);
            self.expect_carriers(station);
        } else {
            self.method.follower.waiting.remove(station);
        }
    }
}

impl Own {
    /// The next state of the data machine, by the table, while something is `heard`, or another's COMMIT or frame is
    /// `receiving`.
    #[inline(always)]
    fn data_by_follower(&self, now: BitInstant, heard: bool, receiving: bool) -> Option<Data> {
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

    /// What is heard at its place can change its state.
    #[inline]
    fn listens(&self) -> bool {
        matches!(self.node.data, Data::Idle | Data::Hold | Data::WaitIdle)
            || matches!(self.node.control, Control::Transmit | Control::Abort)
    }

    /// The MAC is to be told another carrier at the end of the instant. One at ease sees that of all stations.
    #[inline]
    fn carrier_differs(&self) -> bool {
        if self.node.data == Data::Idle {
            return !self.apart.at_ease;
        }
        !self.watch.is_told(self.node.carrier(true, false), self.mac_sends())
    }

    /// The next state of the control machine of a node in its turn, by the table; `None` too if it is not its turn.
    #[inline(always)]
    fn control_by_follower(&self, now: BitInstant, heard: bool) -> Option<Control> {
        let node = &self.node;
        if !node.is_in_turn() {
            return None;
        }
        node.control.next(&Seen {
            on: true,
            crs: heard,
            tx_en: node.tx_en(true),
            pending: node.pending,
            burst_over: node.is_burst_over(),
            burst_done: node.is_burst_done(now),
            ..Seen::default()
        })
    }
}

/// A node by itself.
impl Engine<Reconciliation> {
    /// Runs the machines of `station` until none of them changes, and puts their signals on the line.
    pub(super) fn settle_by_follower<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let mut hears = None;
        loop {
            let own = &self.stations[station.index()].mac;
            if hears.is_none() && own.listens() {
                let (signal, heard) = self.heard_by_follower(station);
                hears = Some((heard, heard && !signal.is_beacon() && signal.source != station));
            }
            let (heard, receiving) = hears.unwrap_or_default();
            if let Some(to) = own.data_by_follower(now, heard, receiving) {
                if to == Data::WaitIdle && own.node.data == Data::WaitMac {
                    // The node gives its turn up.
                    self.leave_follower();
                    return self.settle_node(station, host);
                }
                self.enter_data_by_follower(station, to, host);
            } else if let Some(to) = own.control_by_follower(now, heard) {
                let own = &mut self.stations[station.index()].mac;
                if to == Control::NextTxOpportunity {
                    (own.node.control, own.node.committed) = (Control::Syncing, false);
                } else {
                    own.node.enter_control(to, now, &Seen::default(), &self.method.plca, &mut own.counters);
                }
            } else if self.turn_begins(station) {
                self.take_turn(station, host);
            } else {
                break;
            }
        }
        self.drive_by_follower(station);
        if self.stations[station.index()].mac.carrier_differs() {
            self.note_change(station);
        }
        self.look_ahead_by_follower(station);
    }

    fn enter_data_by_follower<H: Host>(&mut self, station: StationId, to: Data, host: &mut H) {
        let own = &mut self.stations[station.index()].mac;
        let (asks, held) = (own.node.asks_for_turn(), own.node.data == Data::Hold);
        own.apart.at_ease &= to == Data::Idle;
        if held {
            self.method.follower.holding.remove(station);
        }
        self.enter_data(station, to, host);
        if to == Data::Hold {
            self.method.follower.holding.insert(station);
            self.expect_signals(station);
        }
        if asks != self.stations[station.index()].mac.node.asks_for_turn() {
            self.note_pending(station);
        }
    }
}
