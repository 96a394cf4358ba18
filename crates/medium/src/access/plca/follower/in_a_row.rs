//! Turns in a row: where all places are one, and nodes send in turns that follow each other, the next event is that of
//! the node whose turn it is, or of the node before it, nearly always.
//!
//! ```text
//!   the node before   gap    |attempt: logical collision, jam|backoff ....
//!   the node          |COMMIT    |frame ....................... ESD|
//!   the next                                                       |COMMIT
//! ```
//! While turns are run in a row, the timers of these two nodes and the end of the frame are not entered among those of
//! all nodes: one comparison finds the next. As soon as anything else comes, the row is over, and the follower has
//! everything again. The steps themselves are those of `at_once`.

use super::Turn;
use super::edges::Concern;
use crate::access::csma_cd::attempts::Below;
use crate::access::csma_cd::{Deference, Transmit};
use crate::access::plca::Reconciliation;
use crate::access::plca::tables::Data;
use crate::access::plca::wire::{EVERYWHERE, Edge};
use crate::engine::Engine;
use crate::frame::StationId;
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes};
use crate::timers::{NEVER, NONE, instant, key, number};

/// The nodes of a row, and the frame on the line.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The node whose turn it is.
    sender: StationId,
    /// The node that sent before, if it has another frame, or waits for its backoff to end.
    before: Option<StationId>,
    /// When they act next.
    sender_at: BitInstant,
    before_at: BitInstant,
    /// When the last frame's end, which is known, is heard; `NEVER`: there is none.
    heard: BitInstant,
    /// The number of that frame's signal.
    frame: u64,
}

/// What a MAC does in a row as its timer ends.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It sends the first bit of a frame in its turn.
    Begins,
    /// It sends in the turn of another: a logical collision.
    Collides,
    /// Its jam is over: it backs off, and asks for its turn.
    Yields,
    /// Its backoff is over.
    Defers,
    /// It has sent the last bit of its frame.
    Ends,
}

/// The next event of a row.
enum Event {
    /// The end of a node's timer.
    Timer { at: BitInstant, station: StationId },
    /// The end of the frame.
    Heard,
    /// Hosts hand over frames.
    Feed,
    /// An event that the row does not know.
    Other,
}

impl Engine<Reconciliation> {
    /// Runs the turns that follow the one that has just begun; false if none has.
    #[inline]
    pub(super) fn runs_in_a_row<H: Host>(&mut self, host: &mut H) -> bool {
        let Some(sender) = self.method.follower.begun.take() else { return false };
        self.begin_row(sender).is_some_and(|row| {
            self.run_row(row, host);
            true
        })
    }

    /// A row begins with the turn of `sender`, if no other event is near.
    fn begin_row(&mut self, sender: StationId) -> Option<Row> {
        let (plca, follower) = (&self.method.plca, &mut self.method.follower);
        let waiting = follower.waiting.len();
        let is_simple = self.method.wire.is_one_place()
            && plca.phy_on + plca.phy_off == BitTimes::ZERO
            && plca.commit > BitTimes::ZERO
            && self.method.changed.is_empty()
            && self.core.done.is_empty()
            && follower.notices.is_empty()
            && follower.holding.len() == 0
            && waiting <= 1;
        if !is_simple {
            return None;
        }
        let before = follower.waiting.next(0);
        let own = |station: StationId| self.stations[station.index()].mac.mac_at;
        // Carrier does not change for a node that waits.
        if before.is_some_and(|before| own(before) >= own(sender)) {
            return None;
        }
        self.look_at_touched();
        for station in [Some(sender), before].into_iter().flatten() {
            self.next_is(station, NEVER);
        }
        if let Some(before) = before {
            self.waits_is(before, false);
        }
        self.method.follower.in_a_row = true;
        let mut row = Row { sender, before, sender_at: NEVER, before_at: NEVER, heard: NEVER, frame: 0 };
        self.look_at_row(&mut row);
        Some(row)
    }

    /// The follower has everything again.
    fn end_row(&mut self, row: Row) {
        self.method.follower.in_a_row = false;
        self.method.follower.begun = None;
        if row.heard != NEVER {
            self.expect_frame(row.heard, EVERYWHERE, row.frame);
            if row.frame == self.method.follower.signals.newest {
                self.expect(row.heard, Concern::Ends, row.sender);
                self.plan_turn();
            }
        }
        self.look_at(row.sender);
        row.before.into_iter().for_each(|before| self.look_at(before));
    }

    fn run_row<H: Host>(&mut self, mut row: Row, host: &mut H) {
        while !host.stops() && self.method.changed.is_empty() {
            match self.next_in_row(&row) {
                Event::Timer { at, station } if at < self.core.limit => {
                    let Some(step) = self.step_in_row(&row, station, at) else { break };
                    self.core.instant = at;
                    self.run_step_in_row(&mut row, station, step, host);
                }
                Event::Heard if row.heard < self.core.limit && self.hears_end(&mut row, host) => {}
                Event::Feed => {
                    self.feed(host);
                    self.look_at_row(&mut row);
                }
                Event::Timer { .. } | Event::Heard | Event::Other => break,
            }
        }
        self.end_row(row);
    }

    /// When the nodes of the row act next may have changed.
    #[inline(always)]
    fn look_at_row(&self, row: &mut Row) {
        let own = &self.stations[row.sender.index()].mac;
        row.sender_at = own.mac_at.min(own.node.next_by_follower());
        row.before_at = row.before.map_or(NEVER, |before| self.stations[before.index()].mac.mac_at);
    }

    /// The next event, in the order of [`run_path`](Engine::run_path).
    #[inline(always)]
    fn next_in_row(&self, row: &Row) -> Event {
        let other = self.method.follower.timers.first().copied().unwrap_or(NONE);
        let (own, others) = (row.sender_at.min(row.before_at), instant(other));
        let next = own.min(others);
        if !self.core.done.is_empty() && next > self.core.instant {
            return if self.core.instant < self.core.limit { Event::Feed } else { Event::Other };
        }
        if row.heard < next {
            Event::Heard
        } else if others < own {
            Event::Timer { at: others, station: StationId::new(number(other)) }
        } else if own < others && row.sender_at != row.before_at {
            let station = if own == row.sender_at { row.sender } else { row.before.unwrap_or(row.sender) };
            Event::Timer { at: own, station }
        } else {
            // Together, or never.
            Event::Other
        }
    }

    /// What the MAC of `station` does as its timer ends at `at`; `None` if that is not one of a row's steps.
    #[inline(always)]
    fn step_in_row(&self, row: &Row, station: StationId, at: BitInstant) -> Option<Step> {
        let own = &self.stations[station.index()].mac;
        let (mac, node) = (&own.mac, &own.node);
        let step = match mac.transmit {
            Transmit::Idle => None,
            Transmit::WaitingToSend if own.handing_over => None,
            Transmit::WaitingToSend if node.data == Data::Idle => {
                let hears = station != row.sender && self.method.follower.signals.newest().begin < at;
                hears.then_some(Step::Collides)
            }
            Transmit::WaitingToSend => own.may_begin_at_once().then_some(Step::Begins),
            Transmit::Transmitting => {
                let goes_on = !node.is_burst_over() && node.own.settings.burst_timer == 0;
                (own.may_end_at_once() && row.heard == NEVER && !goes_on).then_some(Step::Ends)
            }
            Transmit::Jamming => (own.may_yield_at_once() && node.pending_end > at).then_some(Step::Yields),
            Transmit::BackingOff => {
                let defers = own.watch.state == Deference::Busy && self.handed_over(station) <= at;
                defers.then_some(Step::Defers)
            }
        };
        step.filter(|_| own.mac_at == at)
    }

    #[inline(always)]
    fn run_step_in_row<H: Host>(&mut self, row: &mut Row, station: StationId, step: Step, host: &mut H) {
        let own = &mut self.stations[station.index()].mac;
        own.mac_at = NEVER;
        self.method.in_timers = true;
        let done = match step {
            Step::Begins => {
                own.watch.release();
                self.begin_attempt(station, host);
                self.begins_at_once(station);
                true
            }
            Step::Collides => {
                own.watch.release();
                self.begin_attempt(station, host);
                self.collides_at_once(station, host);
                true
            }
            Step::Yields => {
                self.back_off(station, host);
                self.method.cut_ends.pop();
                self.yields_at_once(station)
            }
            Step::Defers => {
                Reconciliation::wait(self, station, host);
                true
            }
            Step::Ends => {
                Reconciliation::finish(self, station, host);
                let signals = &self.method.follower.signals;
                let last = signals.newest();
                // The COMMIT of a burst begins where the frame ends.
                let is_last = last.frame.is_some();
                (row.heard, row.frame) =
                    if is_last { (last.end, signals.newest) } else { (last.begin, signals.newest - 1) };
                true
            }
        };
        assert!(done, "{station} goes on as foreseen");
        self.method.in_timers = false;
        let own = &self.stations[station.index()].mac;
        if station == row.sender {
            row.sender_at = own.mac_at.min(own.node.next_by_follower());
        } else if Some(station) == row.before {
            row.before_at = own.mac_at;
        } else {
            self.next_is(station, own.mac_at);
        }
    }

    /// The end of the frame is heard, and the next turn begins with it; false, and nothing is done, if that is not the
    /// next one.
    #[inline(always)]
    fn hears_end<H: Host>(&mut self, row: &mut Row, host: &mut H) -> bool {
        let follower = &self.method.follower;
        let at = row.heard;
        let next = if row.frame == follower.signals.newest {
            let id = follower.signals.newest().next_turn();
            let Some(next) = follower.owners[usize::from(id)].filter(|_| id < follower.count) else { return false };
            let waits = row.before.is_some_and(|before| self.stations[before.index()].mac.node.data == Data::Idle);
            if waits || next == row.sender || !self.stations[next.index()].mac.may_take_turn_at_once(at) {
                return false;
            }
            Some((id, next))
        } else {
            None
        };
        self.core.instant = at;
        self.method.follower.reached = (at, Edge::End);
        row.heard = NEVER;
        self.receive_by_follower(EVERYWHERE, row.frame, host);
        let Some((id, next)) = next else { return true };
        if let Some(before) = row.before {
            self.next_is(before, row.before_at);
        }
        let falls_silent = self.goes_idle_at_once(row.sender);
        self.method.follower.turn = Turn { id, begin: key(at, next.index() as u16), by_edge: true };
        let takes_turn = self.takes_turn_at_once(next, host);
        assert!(falls_silent && takes_turn, "{} and {next} go on as foreseen", row.sender);
        (row.before, row.sender) = (Some(row.sender), next);
        self.look_at_row(row);
        true
    }
}
