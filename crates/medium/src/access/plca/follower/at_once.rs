//! The steps of a node that sends in its turns, each at once.
//!
//! ```text
//!   on the line   |COMMIT of 1|frame of 1 .......|COMMIT of 2|frame of 2 ....... ......|COMMIT of 1|
//!   step of 1     turn        begins      ends, falls silent  collides   yields        turn
//!   its MAC       |gap        |sends ............|gap        |jam        |backoff .....
//! ```
//! In each of these steps the machines take a known way. The step takes it without asking each machine after each
//! change, as [`settle_by_follower`](Engine::settle_by_follower) does. A node in any other state goes that general way.
//!
//! A MAC gets its carrier with the step, and not at the end of the instant: nothing looks at it before. If an input of
//! that instant makes the medium leave this path, the carrier is taken back.

use crate::access::csma_cd::{Deference, Transmit, TransmitInput};
use crate::access::plca::tables::{Control, Data, Seen};
use crate::access::plca::wire::What;
use crate::access::plca::{Own, Reconciliation};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::time::BitInstant;
use crate::timers::NEVER;

impl Own {
    /// Its MAC has a frame that the host has handed over, and defers.
    #[inline]
    pub(super) fn defers(&self) -> bool {
        self.mac.transmit == Transmit::WaitingToSend && !self.handing_over
    }

    /// It uses a turn that begins now, and its MAC waits for the gap then.
    #[inline]
    pub(super) fn may_take_turn_at_once(&self, now: BitInstant) -> bool {
        let asks = self.node.data == Data::DelayPending && self.node.pending_end <= now;
        (asks || self.node.data == Data::Pending) && self.defers()
    }

    /// It has committed itself to its turn, and its MAC may begin to send.
    #[inline]
    pub(super) fn may_begin_at_once(&self) -> bool {
        match self.node.data {
            Data::WaitMac => self.node.control == Control::Commit,
            Data::WaitIdle => self.node.control == Control::Burst && self.node.committed,
            Data::Normal | Data::Idle | Data::Receive | Data::Hold | Data::Collide => false,
            Data::DelayPending | Data::Pending | Data::Transmit | Data::Flush => false,
        }
    }

    /// Once its MAC has sent the last bit, nothing of the frame is left in the delay line.
    #[inline]
    pub(super) fn may_end_at_once(&self) -> bool {
        let delayed = self.line_begin > self.mac.begin;
        (self.node.data, self.node.control) == (Data::Transmit, Control::Transmit) && !delayed
    }

    /// Its MAC sees carrier after a logical collision: that it sends no more changes nothing for it.
    #[inline]
    pub(super) fn may_yield_at_once(&self) -> bool {
        self.node.data == Data::Collide && self.watch.state == Deference::Busy
    }

    /// It has sent the last frame of its turn, and has not yet heard its end.
    #[inline]
    fn has_sent_last(&self) -> bool {
        (self.node.data, self.node.control) == (Data::WaitIdle, Control::Transmit)
            && self.node.is_burst_over()
            && !self.node.committed
            && !self.mac_sends()
    }
}

/// Each step is false if the machines of `station` must go on by the general way.
impl Engine<Reconciliation> {
    /// The planned turn of `station` begins: it commits itself, and its MAC waits for the gap.
    #[inline]
    pub(super) fn takes_turn_at_once<H: Host>(&mut self, station: StationId, host: &mut H) -> bool {
        let may = self.stations[station.index()].mac.may_take_turn_at_once(self.core.instant);
        if !may || !self.turn_begins(station) || self.is_cycle_over() {
            return false;
        }
        self.change_data(station, Data::Pending);
        self.take_turn(station, host);
        self.change_data(station, Data::WaitMac);
        if self.stations[station.index()].mac.node.commit_end <= self.core.instant {
            return false;
        }
        self.method.follower.begun = Some(station);
        self.signal_changes(station, None, Some(What::Commit));
        self.tell_at_once(station, false);
        let own = &self.stations[station.index()].mac;
        self.has_looked_at(station, own.mac_at.min(own.node.commit_end), false)
    }

    /// The MAC of `station` has begun to send.
    #[inline]
    pub(in crate::access::plca) fn attempts_at_once<H: Host>(&mut self, station: StationId, host: &mut H) -> bool {
        let own = &self.stations[station.index()].mac;
        if own.may_begin_at_once() {
            self.begins_at_once(station);
            return true;
        }
        if own.node.data != Data::Idle {
            return false;
        }
        let (signal, heard) = self.heard_by_follower(station);
        let receives = heard && !signal.is_beacon() && signal.source != station;
        if receives {
            self.collides_at_once(station, host);
        }
        receives
    }

    /// The MAC sends in the node's turn: its frame follows the COMMIT.
    #[inline]
    pub(super) fn begins_at_once(&mut self, station: StationId) {
        let now = self.core.instant;
        let first = self.stations[station.index()].mac.node.data == Data::WaitMac;
        self.change_data(station, Data::Transmit);
        if first {
            self.note_pending(station);
        }
        let own = &mut self.stations[station.index()].mac;
        own.line_begin = now;
        own.node.enter_control(Control::Transmit, now, &Seen::default(), &self.method.plca, &mut own.counters);
        self.signal_changes(station, Some(What::Commit), Some(What::Frame));
        self.tell_at_once(station, true);
        self.has_looked_at(station, self.stations[station.index()].mac.mac_at, false);
    }

    /// The MAC sends while another node uses its turn: a logical collision, which makes it wait for its own.
    #[inline]
    pub(super) fn collides_at_once<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.stations[station.index()].mac.apart.at_ease = false;
        self.change_data(station, Data::Collide);
        self.tell_transmit(station, TransmitInput::Collision, host);
        self.tell_at_once(station, true);
        self.has_looked_at(station, self.stations[station.index()].mac.mac_at, false);
    }

    /// The jam after a logical collision is over: the node asks for its turn from the end of pending_timer on.
    #[inline]
    pub(in crate::access::plca) fn yields_at_once(&mut self, station: StationId) -> bool {
        let (now, own) = (self.core.instant, &self.stations[station.index()].mac);
        if !own.may_yield_at_once() || own.mac_sends() {
            return false;
        }
        self.change_data(station, Data::DelayPending);
        self.note_pending(station);
        let own = &mut self.stations[station.index()].mac;
        if own.node.pending_end <= now || self.turn_begins(station) {
            return false;
        }
        let own = &mut self.stations[station.index()].mac;
        own.watch.tell(now, true, false, &self.core.config.parameters);
        self.has_looked_at(station, self.stations[station.index()].mac.mac_at, false)
    }

    /// The MAC of `station` has sent its frame's last bit.
    #[inline]
    pub(in crate::access::plca) fn ends_at_once(&mut self, station: StationId) -> bool {
        let (now, own) = (self.core.instant, &self.stations[station.index()].mac);
        if !own.may_end_at_once() {
            return false;
        }
        self.change_data(station, Data::WaitIdle);
        let own = &mut self.stations[station.index()].mac;
        if !own.node.is_burst_over() {
            own.node.enter_control(Control::Burst, now, &Seen::default(), &self.method.plca, &mut own.counters);
            if own.node.is_burst_done(now) {
                return false;
            }
        }
        let want = own.node.command;
        self.signal_changes(station, Some(What::Frame), want);
        self.tell_at_once(station, false);
        self.look_ahead_by_follower(station);
        true
    }

    /// The place of `station` falls silent after its own last frame.
    #[inline]
    pub(super) fn falls_silent_at_once(&mut self, station: StationId) -> bool {
        let has_sent_last = self.stations[station.index()].mac.has_sent_last();
        has_sent_last && !self.heard_by_follower(station).1 && self.goes_idle_at_once(station)
    }

    /// The same, of a node that hears nothing any more.
    #[inline]
    pub(super) fn goes_idle_at_once(&mut self, station: StationId) -> bool {
        self.change_data(station, Data::Idle);
        let seen = self.seen_carriers(station, true);
        let own = &mut self.stations[station.index()].mac;
        (own.node.control, own.node.committed) = (Control::Syncing, false);
        let is_told = own.watch.is_told(self.method.follower.carriers.is_on_after(seen), false);
        if !is_told || self.turn_begins(station) {
            return false;
        }
        let own = &mut self.stations[station.index()].mac;
        (own.apart.at_ease, own.apart.told) = (true, seen);
        let (next, waits) = (own.mac_at, own.defers());
        self.has_looked_at(station, next, waits)
    }

    /// A step of the data machine that concerns the node alone.
    #[inline(always)]
    fn change_data(&mut self, station: StationId, to: Data) {
        let own = &mut self.stations[station.index()].mac;
        own.node.enter_data(to, self.core.instant, &self.method.plca, &mut own.counters);
    }

    /// Tells the MAC of `station` the carrier of the bit that begins, before the instant is over.
    #[inline(always)]
    fn tell_at_once(&mut self, station: StationId, carrier: bool) {
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let own = &mut self.stations[station.index()].mac;
        own.apart.early = Some((now, own.watch));
        let sends = own.mac_sends();
        own.watch.tell(now, carrier, sends, parameters);
        if own.defers() {
            own.mac_at = own.watch.gap_end(parameters).unwrap_or(NEVER);
        }
    }

    /// The step is over: `next` is the next event of `station` itself, and it `waits` with the carrier that all see, or
    /// not.
    #[inline(always)]
    fn has_looked_at(&mut self, station: StationId, next: BitInstant, waits: bool) -> bool {
        if self.method.follower.in_a_row {
            return true;
        }
        self.method.follower.touched.take_if(|touched| *touched == station);
        self.next_is(station, next);
        if self.stations[station.index()].mac.apart.waits != waits {
            self.waits_is(station, waits);
        }
        true
    }

    /// Takes back the carrier of this instant that was told before its end: the MAC learns it then.
    pub(in crate::access::plca) fn take_carrier_back(&mut self, station: StationId) {
        let own = &mut self.stations[station.index()].mac;
        if let Some(before) = own.apart.told_at_once(self.core.instant) {
            (own.watch, own.apart.early) = (before, None);
            self.note_change(station);
        }
    }
}
