//! The effects of a node's MAC and machines on each other, and on the line.

use super::assignment::Dynamic;
use super::tables::{Control, Data};
use super::wire::{Piece, Sent, What};
use super::{Own, Reconciliation};
use crate::access::csma_cd::attempts::Below;
use crate::access::csma_cd::{Deference, Mac, Transmit, TransmitInput};
use crate::config::PlcaSettings;
use crate::engine::Engine;
use crate::event::Kind;
use crate::frame::{FrameId, StationId};
use crate::inputs::Host;
use crate::line::Worth;
use crate::rules::packet;
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use std::cmp::Reverse;

impl Own {
    /// plca_txen: the MAC sends preamble, frame or jam.
    #[inline]
    pub(super) fn mac_sends(&self) -> bool {
        matches!(self.mac.transmit, Transmit::Transmitting | Transmit::Jamming)
    }

    /// The signal that its machines request on the line.
    #[inline]
    pub(super) fn wants_on_line(&self) -> Option<What> {
        if self.node.tx_en(self.mac_sends()) { Some(What::Frame) } else { self.node.command }
    }
}

impl Reconciliation {
    /// The end of a piece of carrier that began at `begin`, if its node has nothing more to send from `now` on; ESD and
    /// the code after it follow a piece that is `delimited`.
    #[inline]
    pub(super) fn piece_end(&self, now: BitInstant, begin: BitInstant, delimited: bool) -> BitInstant {
        let end = now + if delimited { self.plca.end_delimiter } else { BitTimes::ZERO };
        // The code after ESD may be over before it has begun: one bit of it is heard all the same.
        end.max(begin + BitTimes::new(1))
    }
}

impl Below for Reconciliation {
    #[inline(always)]
    fn mac_of(own: &mut Own) -> &mut Mac {
        &mut own.mac
    }

    fn wait<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        engine.transfer(station);
        let (now, handed_over) = (engine.core.instant, engine.handed_over(station));
        let own = &mut engine.station_mut(station).mac;
        own.mac.transmit = Transmit::WaitingToSend;
        own.mac.ready_since = now.max(handed_over);
        own.handing_over = handed_over > now;
        if own.handing_over {
            return engine.set_mac_timer(station, handed_over);
        }
        engine.ask_deference(station, host);
    }

    fn attempt<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        engine.begin_attempt(station, host);
        if !engine.method.follower.leads || !engine.attempts_at_once(station, host) {
            engine.settle_node(station, host);
        }
    }

    fn jam<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        let (now, parameters) = (engine.core.instant, &engine.core.config.parameters);
        let this = &mut engine.stations[station.index()];
        let (frame, own) = (this.frame(), &mut this.mac);
        let (begin, attempt) = (own.mac.begin, own.mac.attempt());
        own.mac.transmit = Transmit::Jamming;
        own.line_begin = begin;
        let wire = &mut engine.method.wire;
        let on_line = own.piece.filter(|&piece| own.node.tx_en(true) && wire.get(piece).what == What::Frame);
        // A logical collision concerns the MAC alone: no signals have met on the medium.
        let episode = match on_line {
            Some(piece) => {
                wire.get_mut(piece).cut = true;
                let with_plca = u64::from(own.node.data == Data::Transmit);
                own.counters.collisions_in_turn += with_plca;
                own.counters.corrupted += with_plca;
                wire.join_episode(piece, now)
            }
            None => 0,
        };
        let late = parameters.late(now - begin, false);
        own.mac.late |= late;
        let end = parameters.jam_begin(now, begin) + parameters.jam_size;
        engine.core.emit(station, frame, Kind::Collision { attempt, late, episode }, host);
        engine.set_mac_timer(station, end);
    }

    fn finish<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        let now = engine.core.instant;
        let this = engine.station_mut(station);
        let (frame, head, own) = (this.frame(), *this.head(), &mut this.mac);
        let transmitted = Kind::Transmitted {
            size: head.size,
            attempts: own.mac.attempt(),
            deferred: own.mac.deferred,
            access_delay: own.line_begin - own.mac.head_since,
            mac_delay: now - head.arrived,
            extension: BitTimes::ZERO,
            no_carrier: false,
        };
        own.mac.transmit = Transmit::Idle;
        let piece = own.piece;
        engine.core.emit(station, frame, transmitted, host);
        engine.release_sent(frame, piece);
        if !engine.method.follower.leads || !engine.ends_at_once(station) {
            engine.settle_node(station, host);
        }
        engine.next_frame(station, host);
    }

    fn jam_ends(engine: &mut Engine<Reconciliation>, station: StationId) {
        engine.station_mut(station).mac.mac.transmit = Transmit::BackingOff;
        engine.method.cut_ends.push(station);
    }

    fn set_backoff(engine: &mut Engine<Reconciliation>, station: StationId, at: BitInstant) {
        engine.set_mac_timer(station, at);
    }

    fn stop_timer(engine: &mut Engine<Reconciliation>, station: StationId) {
        engine.set_mac_timer(station, NEVER);
    }

    fn ignore(engine: &mut Engine<Reconciliation>, station: StationId) {
        engine.station_mut(station).mac.handing_over = false;
    }
}

/// The MAC's side.
impl Engine<Reconciliation> {
    #[inline]
    pub(super) fn set_mac_timer(&mut self, station: StationId, at: BitInstant) {
        self.station_mut(station).mac.mac_at = at;
        self.look_ahead(station);
    }

    /// The MAC sends its first bit, to the node.
    #[inline]
    pub(super) fn begin_attempt<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let this = &mut self.stations[station.index()];
        let (frame, bits) = (this.frame(), parameters.packet(this.head().size, false));
        let mac = &mut this.mac.mac;
        let excessive_deferral = mac.starts_late(now, parameters.max_defer_time);
        mac.transmit = Transmit::Transmitting;
        mac.begin = now;
        let attempt = mac.attempt();
        this.mac.line_begin = now;
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral, burst: false }, host);
        self.set_mac_timer(station, now + bits);
    }

    /// The next event at `station`.
    #[inline]
    pub(super) fn look_ahead(&mut self, station: StationId) {
        if self.method.follower.leads {
            return self.look_ahead_by_follower(station);
        }
        let own = &self.stations[station.index()].mac;
        self.method.next[station.index()] = own.mac_at.min(own.node.next());
    }

    pub(super) fn plca_frame_ready<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.method.cycles.disturb();
        let now = self.core.instant;
        let this = self.station_mut(station);
        if this.queue.len() == 1 {
            this.mac.mac.renew_head(now);
        }
        self.tell_transmit(station, TransmitInput::FrameReady, host);
    }

    /// The MAC has a frame: sends it at once, or defers.
    fn ask_deference<H: Host>(&mut self, station: StationId, host: &mut H) {
        if self.method.follower.leads && self.station(station).mac.apart.at_ease {
            self.renew_watch(station, false);
        }
        let (now, parameters) = (self.core.instant, &self.core.config.parameters);
        let this = &mut self.stations[station.index()];
        let (frame, own) = (this.frame(), &mut this.mac);
        own.watch.catch_up(now, parameters);
        // The MAC does not yet see the carrier of the bit that begins.
        let before = own.apart.told_at_once(now).map(|mut before| {
            before.catch_up(now, parameters);
            before
        });
        if before.unwrap_or(own.watch).state == Deference::Free {
            self.take_carrier_back(station);
            return self.tell_transmit(station, TransmitInput::MediumFree, host);
        }
        let attempt = own.mac.attempt();
        own.mac.deferred |= attempt == 1;
        let gap_end = own.watch.gap_end(parameters).unwrap_or(NEVER);
        self.core.emit(station, frame, Kind::Defer { attempt }, host);
        self.set_mac_timer(station, gap_end);
    }

    /// The timer of the MAC ends.
    pub(super) fn mac_timer_ends<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.method.cycles.disturb();
        self.set_mac_timer(station, NEVER);
        self.mac_acts(station, host);
    }

    /// The MAC does what it waited to do.
    pub(super) fn mac_acts<H: Host>(&mut self, station: StationId, host: &mut H) {
        let own = &mut self.station_mut(station).mac;
        match own.mac.transmit {
            Transmit::WaitingToSend if std::mem::take(&mut own.handing_over) => self.ask_deference(station, host),
            Transmit::WaitingToSend => {
                own.watch.release();
                self.tell_transmit(station, TransmitInput::MediumFree, host);
            }
            Transmit::Idle | Transmit::Transmitting | Transmit::Jamming | Transmit::BackingOff => {
                self.tell_transmit(station, TransmitInput::Timeout, host);
            }
        }
        while let Some(station) = self.method.cut_ends.pop() {
            if !self.method.follower.leads || !self.yields_at_once(station) {
                self.settle_node(station, host);
            }
        }
    }

    /// Sets the carrier that `station`'s MAC sees to that of the bit that begins.
    pub(super) fn tell_carrier(&mut self, station: StationId) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let (heard, line) = self.method.wire.heard(station.index());
        let own = &mut self.stations[station.index()].mac;
        own.changed = false;
        let others = heard.without(line);
        let commit = line.is_none() && heard.count() == 1 && others.commits == 1;
        let carrier = own.node.carrier(heard.count() > 0, commit);
        let sends = own.mac_sends();
        own.watch.tell(now, carrier, sends, &parameters);
        if own.mac.transmit == Transmit::WaitingToSend && !own.handing_over {
            own.mac_at = own.watch.gap_end(&parameters).unwrap_or(NEVER);
            self.look_ahead(station);
        }
    }

    /// The MAC has finished with a frame, which is on the line as `piece`, or was lost in PLCA.
    fn release_sent(&mut self, frame: FrameId, piece: Option<u64>) {
        let waits = piece.is_some_and(|piece| {
            let piece = self.method.wire.get_mut(piece);
            piece.released = piece.frame.is_some_and(|sent| sent.id == frame) && !piece.settled;
            piece.released
        });
        if !waits {
            self.core.release(frame);
        }
    }
}

/// The node's side.
impl Engine<Reconciliation> {
    /// Runs the machines of `station` until none of them changes, and puts their signals on the line.
    pub(super) fn settle_node<H: Host>(&mut self, station: StationId, host: &mut H) {
        if self.method.follower.leads {
            return self.settle_by_follower(station, host);
        }
        let index = station.index();
        loop {
            let now = self.core.instant;
            let (heard, line) = self.method.wire.heard(index);
            let before = self.method.in_timers;
            let this = &mut self.stations[index];
            let own = &mut this.mac;
            let sends = own.mac_sends();
            own.node.attached = this.attached || (sends && own.piece.is_some());
            own.node.catch_up(now, before, &mut own.counters);
            let seen = own.node.seen(now, heard, line, sends, own.line_begin > own.mac.begin);
            // A frame that is ready as a turn begins is in time for it.
            if let Some(to) = own.node.data.next(&seen) {
                self.enter_data(station, to, host);
            } else if let Some(to) = own.node.control.next(&seen) {
                if to == Control::SendBeacon {
                    self.before_beacon(station, host);
                }
                let (now, own) = (self.core.instant, &mut self.stations[index].mac);
                own.node.enter_control(to, now, &seen, &self.method.plca, &mut own.counters);
                self.emit_id(station, host);
                if to == Control::Commit {
                    self.emit_commit(station, host);
                }
            } else if let Some(to) = own.node.status.next(&seen) {
                let changed = own.node.enter_status(to, now, &self.method.plca, &mut own.counters);
                let ok = own.node.status_ok;
                if changed {
                    self.method.cycles.disturb();
                    self.core.emit(station, nameless(station), Kind::PlcaStatus { ok }, host);
                }
            } else if let Some(to) = own.node.next_assignment(now, &seen) {
                // A turn that begins at this instant begins with the id of before.
                own.node.catch_up(now, false, &mut own.counters);
                own.node.enter_assignment(to, now);
                self.emit_id(station, host);
            } else {
                own.node.hear_claim(heard, line);
                break;
            }
        }
        self.drive(station);
        self.note_change(station);
        self.look_ahead(station);
    }

    pub(super) fn note_change(&mut self, station: StationId) {
        let own = &mut self.stations[station.index()].mac;
        if !std::mem::replace(&mut own.changed, true) {
            self.method.changed.push(station);
        }
    }

    pub(super) fn enter_data<H: Host>(&mut self, station: StationId, to: Data, host: &mut H) {
        let now = self.core.instant;
        let own = &mut self.stations[station.index()].mac;
        own.node.enter_data(to, now, &self.method.plca, &mut own.counters);
        match to {
            Data::Transmit => own.line_begin = now,
            Data::Flush => {
                let sent = match own.piece {
                    Some(piece) => self.method.wire.get(piece).frame,
                    None => self.method.follower.frame_on_line(),
                };
                own.node.flush_end = sent.expect("a node that sends has a frame on the line").frame_end;
            }
            Data::Collide if own.node.own.heeds_logical_collisions => {
                self.tell_transmit(station, TransmitInput::Collision, host);
            }
            Data::Collide
            | Data::Normal
            | Data::WaitIdle
            | Data::Idle
            | Data::Receive
            | Data::Hold
            | Data::DelayPending
            | Data::Pending
            | Data::WaitMac => {}
        }
    }

    pub(super) fn emit_commit<H: Host>(&mut self, station: StationId, host: &mut H) {
        let this = self.station(station);
        let frame = if this.queue.is_empty() { nameless(station) } else { this.frame() };
        let id = this.mac.node.cur_id.into();
        self.core.emit(station, frame, Kind::Commit { id }, host);
    }

    /// Reports the id that D-PLCA has given the node, and the number of turns.
    fn emit_id<H: Host>(&mut self, station: StationId, host: &mut H) {
        let node = &mut self.stations[station.index()].mac.node;
        let Some((id, count)) = node.take_assigned() else { return };
        self.method.plca.nodes[station.index()].settings = node.own.settings;
        self.method.cycles.disturb();
        self.core.emit(station, nameless(station), Kind::PlcaId { id: id.into(), turns: count.into() }, host);
    }

    /// While its frame is on the line, the station hears another: the MAC learns it, if the PHY reports it.
    pub(super) fn detect_collision<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (heard, line) = self.method.wire.heard(station.index());
        let own = &self.stations[station.index()].mac;
        let meets = line.is_some() && heard.count() > 1 && own.node.own.collision_detection;
        if meets && own.mac.transmit == Transmit::Transmitting && own.node.tx_en(true) {
            self.tell_transmit(station, TransmitInput::Collision, host);
        }
    }

    /// Puts the signals that the machines of `station` request on the line.
    fn drive(&mut self, station: StationId) {
        let now = self.core.instant;
        let own = &self.stations[station.index()].mac;
        let want = own.wants_on_line();
        let is = own.piece.map(|piece| self.method.wire.get(piece).what);
        if is == want {
            return;
        }
        let (mut begin, mut after) = (now, None);
        if is.is_none() {
            self.method.cycles.sums.silences += u64::from(self.is_long_silent());
        }
        let own = &self.stations[station.index()].mac;
        if let Some(piece) = own.piece {
            // ESD and the code after it follow a frame that was not cut short.
            let sent = self.method.wire.get(piece);
            let delimited = sent.what == What::Frame && !sent.cut && own.delimited;
            begin = self.method.piece_end(now, sent.begin, delimited);
            self.method.wire.end(piece, begin);
            self.method.cycles.silent_since = self.method.cycles.silent_since.max(begin);
            self.expect_settled_after(piece, begin);
            after = want.map(|_| piece);
        }
        let piece = want.map(|what| {
            let frame = (what == What::Frame).then(|| self.sent(station));
            self.method.wire.begin(Piece::new(station, what, begin, frame), after)
        });
        let own = &mut self.stations[station.index()].mac;
        own.piece = piece;
        own.delimited = own.node.data != Data::Normal;
        if want == Some(What::Frame) {
            self.expect_settled_early(station);
        }
    }

    /// The frame at the head, as a signal that begins now. It is a bad frame if PLCA held bits back and lost them.
    pub(super) fn sent(&self, station: StationId) -> Sent {
        let now = self.core.instant;
        let this = self.station(station);
        let (head, own) = (this.head(), &this.mac);
        let lost = own.node.data == Data::Normal && own.mac.begin < now;
        let worth = if lost { Worth::BadFcs } else { Worth::sent(head.too_long, this.fault) };
        let begin = if lost { own.mac.begin } else { now };
        Sent::new(this.frame(), head, worth, begin + packet(head.size))
    }

    fn expect_settled_early(&mut self, station: StationId) {
        let gap = self.core.config.parameters.inter_packet_gap + self.method.plca.phy_on;
        let at = self.core.instant + self.core.line.farthest(station) + gap;
        let piece = self.stations[station.index()].mac.piece;
        if let (Some(piece), true) = (piece, self.core.config.keep_outputs) {
            self.method.settled.push(Reverse((at, station, piece)));
        }
    }

    fn expect_settled_after(&mut self, piece: u64, end: BitInstant) {
        let sent = self.method.wire.get(piece);
        if sent.what == What::Frame && !sent.cut && self.core.config.keep_outputs {
            let source = sent.source;
            let at = end + self.core.line.farthest(source) + self.method.plca.phy_off;
            self.method.settled.push(Reverse((at, source, piece)));
        }
    }
}

/// Changes to a station from outside.
impl Engine<Reconciliation> {
    pub(super) fn plca_detached<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.leave_follower();
        self.method.cycles.disturb();
        let own = &mut self.stations[station.index()].mac;
        if own.mac_sends() && own.piece.is_none() {
            // Nothing of the attempt is on the line, but it counts as made.
            let _ = own.mac.backoff.collide(0);
            self.abandon_all(station, host);
        } else {
            self.tell_transmit(station, TransmitInput::Detach, host);
        }
        self.settle_node(station, host);
    }

    pub(super) fn plca_attached<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.leave_follower();
        self.method.cycles.disturb();
        self.settle_node(station, host);
    }

    pub(super) fn plca_set<H: Host>(&mut self, station: StationId, settings: PlcaSettings, host: &mut H) {
        self.leave_follower();
        self.method.cycles.disturb();
        let (now, seed) = (self.core.instant, self.core.config.seed);
        let own = &mut self.station_mut(station).mac;
        own.node.catch_up(now, false, &mut own.counters);
        // plca_reset: all machines begin anew, whatever their state.
        own.node.set(settings, || Dynamic::new(seed, station, now));
        own.node.reset = true;
        self.settle_node(station, host);
        self.station_mut(station).mac.node.reset = false;
        self.method.plca.nodes[station.index()].settings = self.station(station).mac.node.own.settings;
        self.settle_node(station, host);
    }

    pub(super) fn plca_restart(&mut self) {
        self.leave_follower();
        let now = self.core.instant;
        for this in &mut self.stations {
            let own = &mut this.mac;
            own.node.catch_up(now, false, &mut own.counters);
            own.counters = Default::default();
        }
        self.method.cycles.disturb();
        self.method.cycles.sums = Default::default();
    }
}

/// The frame id of a signal that is no frame.
pub(super) fn nameless(station: StationId) -> FrameId {
    FrameId { station, serial: 0 }
}
