//! One node of PLCA: the variables and timers of its three machines (802.3, 148.4.4 to 148.4.6).
//!
//! A node does not step through unused turns: a waiting node knows when the next turn begins that matters to it, and
//! computes the number of passed turns on request.
//!
//! One file above 500 lines because the variables, the timers and the actions of three machines are one node.

use super::assignment::Dynamic;
use super::counters::PlcaCounters;
use super::ids::Ids;
use super::tables::{Control, Data, Seen, Status};
use super::wire::{Heard, What};
use crate::config::{Plca, PlcaNode, PlcaSettings};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;

/// A node's machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub own: PlcaNode,
    /// Its ids.
    ids: Ids,
    pub control: Control,
    pub data: Data,
    pub status: Status,
    pub cur_id: u8,
    pub active: bool,
    pub status_ok: bool,
    pub committed: bool,
    pub pending: bool,
    pub bursts: u8,
    /// Own turns that are still to pass before its MAC may send again.
    skips: u8,
    pub command: Option<What>,
    /// When the turn of `cur_id` began.
    pub turn_since: BitInstant,
    /// Since when turns have been counted one after the other, and how many have passed: the node's clock decides when
    /// each begins.
    pub count_since: BitInstant,
    pub counted: u64,
    /// The next turn begins when the one before it is over by the clock.
    counts_on: bool,
    /// How far `count_since` is behind the instant of its own clock, in parts of a bit time.
    behind: i64,
    /// One of several coordinators: when its last count of turns, or its BEACON, was over by its clock, and how far
    /// that is behind. So its cycles drift against those of another coordinator, bit by bit.
    drift: Option<(BitInstant, i64)>,
    /// When the next turn begins that matters.
    pub to_end: BitInstant,
    pub beacon_end: BitInstant,
    pub detection_end: BitInstant,
    pub invalid_end: BitInstant,
    burst_end: BitInstant,
    pub line_end: BitInstant,
    pub flush_end: BitInstant,
    pub pending_end: BitInstant,
    pub commit_end: BitInstant,
    status_end: BitInstant,
    /// A node has sent since the last BEACON.
    pub busy_cycle: bool,
    /// Its station is on the medium.
    pub attached: bool,
    /// plca_reset.
    pub reset: bool,
    /// It finds its own id.
    pub dynamic: Option<Box<Dynamic>>,
}

impl Node {
    pub fn new(own: PlcaNode) -> Node {
        let mut node = Node {
            own,
            ids: Ids::NONE,
            control: Control::Disable,
            data: Data::Normal,
            status: Status::Inactive,
            cur_id: 0,
            active: false,
            status_ok: false,
            committed: false,
            pending: false,
            bursts: 0,
            skips: 0,
            command: None,
            turn_since: BitInstant::ZERO,
            count_since: BitInstant::ZERO,
            counted: 0,
            counts_on: false,
            behind: 0,
            drift: None,
            to_end: NEVER,
            beacon_end: NEVER,
            detection_end: NEVER,
            invalid_end: NEVER,
            burst_end: NEVER,
            line_end: NEVER,
            flush_end: NEVER,
            pending_end: NEVER,
            commit_end: NEVER,
            status_end: NEVER,
            busy_cycle: false,
            attached: true,
            reset: false,
            dynamic: None,
        };
        node.take_settings(own.settings);
        node
    }

    /// The state at the end of an idle cycle of `turns` turns: the next BEACON begins. plca_status rises at once.
    pub fn settle(&mut self, turns: u8) {
        if self.on() {
            (self.control, self.cur_id, self.active) = (Control::Resync, turns, true);
            // That cycle is before the medium's first instant: no counter has it.
            self.busy_cycle = true;
        }
    }

    /// A settled node may not hear the first BEACON: it counts as one that has lost BEACONs, until it hears one.
    pub fn doubt(&mut self) {
        if self.control == Control::Resync && !self.is_coordinator() {
            self.active = false;
        }
    }

    /// Sets new settings; the machines see them in their next run. `found` is what D-PLCA begins with.
    pub fn set(&mut self, settings: PlcaSettings, found: impl FnOnce() -> Dynamic) {
        let before = self.dynamic.take().filter(|_| settings.dplca);
        self.dynamic = before.or_else(|| settings.dplca.then(|| Box::new(found())));
        self.take_settings(settings.told());
    }

    pub(super) fn take_settings(&mut self, settings: PlcaSettings) {
        self.own.settings = settings;
        self.ids = Ids::NONE;
        self.own.ids().for_each(|id| self.ids.insert(id));
    }

    pub(super) fn on(&self) -> bool {
        self.own.settings.is_on() && self.attached && !self.reset
    }

    pub fn is_coordinator(&self) -> bool {
        self.own.settings.node_id == 0
    }

    fn to(&self) -> u64 {
        self.own.settings.to_timer.into()
    }

    /// The curID at which the cycle is over.
    fn last(&self) -> u8 {
        if self.is_coordinator() { self.own.settings.node_count } else { 255 }
    }

    #[inline]
    pub fn ids(&self) -> &Ids {
        &self.ids
    }

    #[inline]
    pub fn owns(&self, id: u8) -> bool {
        self.ids.has(id)
    }

    /// The first of its ids from `id` on, below `end`.
    #[inline]
    fn next_own(&self, id: u8, end: u8) -> Option<u8> {
        self.ids.next(id).filter(|&own| own < end)
    }

    /// Its MAC waits for a turn, and would use it.
    fn wants(&self) -> bool {
        self.pending && self.active
    }

    /// A node that counts turns.
    #[inline]
    pub fn counts_turns(&self) -> bool {
        matches!(self.control, Control::WaitTo | Control::Yield)
    }

    /// A node that uses its turn.
    #[inline]
    pub fn is_in_turn(&self) -> bool {
        matches!(self.control, Control::Commit | Control::Transmit | Control::Burst | Control::Abort)
    }

    /// It would use its turn, now or from the end of its pending_timer on.
    #[inline]
    pub fn asks_for_turn(&self) -> bool {
        self.pending || self.data == Data::DelayPending
    }

    /// From when on a node that asks for its turn would use it.
    #[inline]
    pub fn ready_from(&self) -> BitInstant {
        if self.data == Data::DelayPending { self.pending_end } else { BitInstant::ZERO }
    }

    /// It has sent all frames that it may send in its turn.
    #[inline]
    pub fn is_burst_over(&self) -> bool {
        self.bursts >= self.own.settings.burst_count
    }

    /// It has waited long enough for another frame of its burst.
    #[inline]
    pub fn is_burst_done(&self, now: BitInstant) -> bool {
        self.burst_end <= now
    }

    /// Computes the present turn from those without an event: at `now`, or with `before` just before it.
    pub fn catch_up(&mut self, now: BitInstant, before: bool, counters: &mut PlcaCounters) {
        if !self.counts_turns() {
            return;
        }
        let turns = self.passed(now, before).saturating_sub(self.counted);
        // The machine itself handles the end of the last turn.
        let left = u64::from(self.last().saturating_sub(self.cur_id)).saturating_sub(1);
        // With D-PLCA it also handles the end of turn 0.
        let left = if self.dynamic.is_some() && self.cur_id == 0 { 0 } else { left };
        let turns = turns.min(left);
        if turns == 0 {
            return;
        }
        for id in self.cur_id + 1..=self.cur_id + turns as u8 {
            self.yields(id, counters);
        }
        self.cur_id += turns as u8;
        self.counted += turns;
        self.turn_since = self.turn_begin(self.counted);
        self.control = if self.owns(self.cur_id) { Control::Yield } else { Control::WaitTo };
        self.plan();
    }

    /// When turn number `turn` begins, among those counted one after the other.
    #[inline]
    fn turn_begin(&self, turn: u64) -> BitInstant {
        self.count_since + self.own.on_medium_from(self.behind, BitTimes::new(turn * self.to())).0
    }

    /// The number of turns that are over at `now`, or with `before` just before it, among those counted one after the
    /// other.
    #[inline]
    fn passed(&self, now: BitInstant, before: bool) -> u64 {
        let elapsed = now.since(self.count_since).get();
        let elapsed = if before { elapsed.saturating_sub(1) } else { elapsed };
        if self.own.clock_ppm == 0 {
            return elapsed / self.to();
        }
        let (end, begins) = (self.count_since + BitTimes::new(elapsed), |turn| self.turn_begin(turn));
        // Clocks differ by less than a ninth, and a turn's begin is rounded to a bit time.
        let least = (elapsed * 8 / 9).saturating_sub(3) / self.to();
        (least..).take_while(|&turn| begins(turn) <= end).last().unwrap_or(0)
    }

    fn yields(&mut self, id: u8, counters: &mut PlcaCounters) {
        let own = u64::from(self.owns(id));
        counters.opportunities += own;
        counters.yielded += own;
    }

    /// Finds the next turn that matters: one that the node would use, or skips, or the end of the cycle.
    pub fn plan(&mut self) {
        let last = self.last();
        let next = match (self.skips > 0, self.wants()) {
            // The end of an own turn matters that is skipped.
            (true, _) if self.owns(self.cur_id) => last.min(self.cur_id.saturating_add(1)),
            (true, _) | (_, true) => self.next_own(self.cur_id.saturating_add(1), last).unwrap_or(last),
            (false, false) => last,
        };
        // With D-PLCA claims may expire as turn 0 ends.
        let next = if self.dynamic.is_some() && self.cur_id == 0 { next.min(1) } else { next };
        let turns = u64::from(next.saturating_sub(self.cur_id)).max(1);
        self.to_end = self.turn_begin(self.counted + turns);
    }

    /// The next event of the node itself.
    #[inline]
    pub fn next(&self) -> BitInstant {
        let control = match self.control {
            Control::WaitTo | Control::Yield => self.to_end,
            Control::SendBeacon => self.beacon_end,
            Control::Burst => self.burst_end,
            Control::Disable
            | Control::Resync
            | Control::Recover
            | Control::Syncing
            | Control::EarlyReceive
            | Control::Commit
            | Control::Receive
            | Control::Transmit
            | Control::Abort
            | Control::NextTxOpportunity => NEVER,
        };
        let timer_end = self.dynamic.as_ref().map_or(NEVER, |dynamic| dynamic.timer_end());
        control.min(self.data_end()).min(self.invalid_end).min(self.status_end).min(timer_end)
    }

    /// The next event of its data machine itself.
    #[inline]
    pub fn data_end(&self) -> BitInstant {
        match self.data {
            Data::Hold => self.line_end,
            Data::DelayPending => self.pending_end,
            Data::WaitMac => self.commit_end,
            Data::Flush => self.flush_end,
            Data::Normal
            | Data::WaitIdle
            | Data::Idle
            | Data::Receive
            | Data::Collide
            | Data::Pending
            | Data::Transmit => NEVER,
        }
    }

    /// The next event of the node itself while a follower counts its turns: the end of pending_timer is none.
    #[inline]
    pub fn next_by_follower(&self) -> BitInstant {
        let has_timer = matches!(self.data, Data::Hold | Data::WaitMac | Data::Flush);
        let data = if has_timer { self.data_end() } else { NEVER };
        if self.control == Control::Burst { data.min(self.burst_end) } else { data }
    }

    /// The node's frame is to be on the line.
    pub fn tx_en(&self, mac_sends: bool) -> bool {
        match self.data {
            Data::Transmit | Data::Flush => true,
            Data::Normal => mac_sends,
            Data::WaitIdle
            | Data::Idle
            | Data::Receive
            | Data::Hold
            | Data::Collide
            | Data::DelayPending
            | Data::Pending
            | Data::WaitMac => false,
        }
    }

    /// CARRIER_STATUS, as the MAC sees it.
    pub fn carrier(&self, crs: bool, commit: bool) -> bool {
        match self.data {
            Data::Normal => crs,
            Data::Receive | Data::WaitIdle | Data::Idle if self.skips > 0 => true,
            Data::Receive => crs && !commit,
            Data::WaitIdle | Data::Idle | Data::WaitMac => false,
            Data::Hold | Data::Collide | Data::DelayPending | Data::Pending | Data::Transmit | Data::Flush => true,
        }
    }

    /// The inputs of the machines at `now`, while the node's place hears `heard`, of which `own` is the node's own.
    #[inline]
    pub fn seen(&self, now: BitInstant, heard: Heard, own: Option<What>, mac_sends: bool, delayed: bool) -> Seen {
        let others = heard.without(own);
        let clear = others.count() == 1 && own.is_none();
        Seen {
            crs: heard.count() > 0,
            receiving: others.frames + others.commits > 0,
            beacon: clear && others.beacons == 1,
            echo: heard.count() == 1 && own == Some(What::Beacon),
            tx_en: self.tx_en(mac_sends),
            on: self.on(),
            coordinator: self.is_coordinator(),
            own_turn: self.owns(self.cur_id),
            active: self.active,
            pending: self.pending,
            committed: self.committed,
            burst_over: self.is_burst_over(),
            last_turn: (self.is_coordinator() && self.cur_id >= self.own.settings.node_count) || self.cur_id == 255,
            no_command: self.command.is_none(),
            status: self.status_ok,
            mac_sends,
            delayed,
            to_done: self.to_end <= now,
            beacon_done: self.beacon_end <= now,
            detection_done: self.detection_end <= now,
            invalid_done: self.invalid_end <= now,
            burst_done: self.is_burst_done(now),
            line_full: self.line_end <= now,
            flushed: self.flush_end <= now,
            pending_done: self.pending_end <= now,
            commit_done: self.commit_end <= now,
            status_done: self.status_end <= now,
        }
    }

    /// The actions on entering a state of the control machine.
    pub fn enter_control(
        &mut self,
        to: Control,
        now: BitInstant,
        seen: &Seen,
        plca: &Plca,
        counters: &mut PlcaCounters,
    ) {
        let from = std::mem::replace(&mut self.control, to);
        match to {
            Control::Disable => {
                (self.command, self.committed, self.cur_id, self.active) = (None, false, 0, false);
                (self.drift, self.skips) = (None, 0);
                self.stop_timers();
            }
            Control::Resync => {
                self.active = false;
                self.stop_timers();
            }
            Control::Recover => self.active = false,
            Control::SendBeacon => {
                self.beacon(counters);
                let end = now + self.own.on_medium(plca.beacon);
                self.drift = self.drift_after_beacon(now, plca);
                (self.beacon_end, self.command, self.active) = (end, Some(What::Beacon), true);
            }
            Control::Syncing => self.sync(seen, now, plca, counters),
            Control::WaitTo => {
                self.begin_turn(from, now);
                self.plan();
                counters.opportunities += u64::from(self.owns(self.cur_id));
            }
            Control::EarlyReceive => {
                self.detection_end = now + self.own.on_medium(plca.beacon_detection);
                counters.received_in_own_turn += u64::from(from == Control::Yield && seen.receiving);
                counters.unexpected_beacons += u64::from(self.is_coordinator() && seen.beacon);
            }
            Control::Commit => {
                (self.command, self.committed, self.bursts) = (Some(What::Commit), true, 0);
                // A node that takes a turn waits for no BEACON.
                self.invalid_end = NEVER;
            }
            Control::Yield => {
                counters.yielded += 1;
                self.plan();
            }
            Control::Receive => self.busy_cycle = true,
            Control::Transmit => {
                (self.command, self.busy_cycle, self.burst_end) = (None, true, NEVER);
                self.skips = self.own.skipped_turns;
                self.committed &= self.bursts < self.own.settings.burst_count;
                counters.used += u64::from(from == Control::Commit);
            }
            Control::Burst => {
                (self.bursts, self.command) = (self.bursts + 1, Some(What::Commit));
                let burst = BitTimes::new(self.own.settings.burst_timer.into());
                self.burst_end = now + self.own.on_medium(burst);
            }
            Control::Abort => (self.command, self.committed, self.burst_end) = (None, false, NEVER),
            Control::NextTxOpportunity => {
                let (is_unused, turn) = (!matches!(from, Control::Transmit | Control::Abort), self.cur_id);
                self.skips -= u8::from(self.skips > 0 && is_unused && self.owns(turn));
                (self.cur_id, self.committed) = (turn.wrapping_add(1), false);
                self.counts_on = matches!(from, Control::WaitTo | Control::Yield);
                let turns = BitTimes::new((self.counted + 1) * self.to());
                self.drift = self.counts_on.then(|| (now, self.own.on_medium_from(self.behind, turns).1));
                self.end_claims(turn, from == Control::Receive, seen, now);
            }
        }
    }

    /// A turn begins, by the clock or with what was heard.
    fn begin_turn(&mut self, from: Control, now: BitInstant) {
        (self.turn_since, self.detection_end) = (now, NEVER);
        self.begin_claims();
        match std::mem::take(&mut self.counts_on) {
            true => self.counted += 1,
            false => {
                let goes_on = from == Control::Syncing && self.is_coordinator();
                let drift = self.drift.take().filter(|_| goes_on);
                (self.count_since, self.counted, self.behind) = (now, 0, drift.map_or(0, |(_, behind)| behind));
            }
        }
    }

    /// Of one of several coordinators whose clock is not that of the medium: its BEACON begins with the end of a turn,
    /// or anew.
    fn drift_after_beacon(&self, now: BitInstant, plca: &Plca) -> Option<(BitInstant, i64)> {
        if self.own.clock_ppm == 0 || !plca.has_several_coordinators() {
            return None;
        }
        let behind = self.drift.filter(|(at, _)| *at == now).map_or(0, |(_, behind)| behind);
        let (_, own) = self.own.on_medium_from(0, plca.beacon);
        Some((now + self.own.on_medium(plca.beacon), behind + own))
    }

    fn stop_timers(&mut self) {
        self.counts_on = false;
        (self.invalid_end, self.detection_end, self.beacon_end, self.burst_end) = (NEVER, NEVER, NEVER, NEVER);
    }

    fn sync(&mut self, seen: &Seen, now: BitInstant, plca: &Plca, counters: &mut PlcaCounters) {
        if seen.beacon {
            let came = self.owns(self.cur_id) || self.next_own(0, self.cur_id).is_some();
            counters.beacons_before_turn += u64::from(self.active && !came);
            self.beacon(counters);
            self.invalid_end = NEVER;
        } else if !self.is_coordinator() {
            self.invalid_end = now + self.own.on_medium(plca.invalid_beacon);
        }
        self.note_turns(seen.beacon);
        (self.cur_id, self.command, self.active) = (0, None, true);
        (self.beacon_end, self.detection_end) = (NEVER, NEVER);
    }

    /// A BEACON is sent or seen.
    fn beacon(&mut self, counters: &mut PlcaCounters) {
        counters.beacons += 1;
        // The coordinator is between two cycles: a cycle is in progress if plca_status is OK.
        let cycle = self.active || (self.is_coordinator() && self.status_ok);
        counters.empty_cycles += u64::from(cycle && !self.busy_cycle);
        self.busy_cycle = false;
    }

    /// A node has sent since the last BEACON.
    pub fn was_busy(&self) -> bool {
        self.busy_cycle
    }

    /// The actions on entering a state of the data machine.
    pub fn enter_data(&mut self, to: Data, now: BitInstant, plca: &Plca, counters: &mut PlcaCounters) {
        self.data = to;
        let pending = match to {
            Data::Hold => {
                self.line_end = now + self.own.on_medium(plca.delay_line);
                true
            }
            Data::Collide => {
                (self.line_end, self.pending_end) = (NEVER, now + self.own.on_medium(plca.pending));
                counters.logical_collisions += 1;
                false
            }
            Data::Pending => {
                self.pending_end = NEVER;
                true
            }
            Data::WaitMac => {
                self.commit_end = now + self.own.on_medium(plca.commit);
                true
            }
            Data::DelayPending | Data::Idle | Data::Receive | Data::Flush => false,
            Data::Normal | Data::WaitIdle | Data::Transmit => {
                (self.line_end, self.pending_end, self.commit_end, self.flush_end) = (NEVER, NEVER, NEVER, NEVER);
                false
            }
        };
        if std::mem::replace(&mut self.pending, pending) != pending && self.counts_turns() {
            self.plan();
        }
    }

    /// The actions on entering a state of the status machine; true if plca_status has changed.
    pub fn enter_status(&mut self, to: Status, now: BitInstant, plca: &Plca, counters: &mut PlcaCounters) -> bool {
        self.status = to;
        let ok = match to {
            Status::Inactive => {
                self.status_end = NEVER;
                false
            }
            Status::Active => {
                self.status_end = NEVER;
                true
            }
            Status::Hysteresis => {
                self.status_end = now + self.own.on_medium(plca.status);
                self.status_ok
            }
        };
        let changed = std::mem::replace(&mut self.status_ok, ok) != ok;
        counters.status_losses += u64::from(changed && !ok);
        changed
    }

    /// The state that repeats in every cycle of a bus without traffic, relative to `now`; `None` if something is in
    /// progress.
    pub fn relative(&self, now: BitInstant) -> Option<Node> {
        let quiet = [self.invalid_end, self.burst_end, self.beacon_end, self.detection_end, self.line_end];
        let data = [self.pending_end, self.commit_end, self.flush_end];
        if self.behind != 0 || self.skips > 0 {
            return None;
        }
        if quiet.iter().chain(&data).any(|&end| end != NEVER) {
            return None;
        }
        let since = |at: BitInstant| if self.counts_turns() { BitInstant::new(now.since(at).get()) } else { NEVER };
        let until = BitInstant::new(self.to_end.since(now).get());
        let to_end = if self.counts_turns() { until } else { NEVER };
        let (turn_since, count_since) = (since(self.turn_since), since(self.count_since));
        let counted = if self.counts_turns() { self.counted } else { 0 };
        let dynamic = match &self.dynamic {
            Some(dynamic) => Some(Box::new(dynamic.relative(&self.own.settings)?)),
            None => None,
        };
        Some(Node { turn_since, count_since, counted, to_end, drift: None, dynamic, ..self.clone() })
    }

    /// Moves the state forward by `span`, in which `count` cycles passed.
    pub fn pass(&mut self, span: BitTimes, count: u64) {
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.pass(count, self.own.settings.aging_cycles);
        }
        if self.counts_turns() {
            (self.turn_since, self.to_end) = (self.turn_since + span, self.to_end + span);
            self.count_since = self.count_since + span;
        }
    }

    /// The next event that does not repeat in every cycle.
    pub fn next_of_its_own(&self) -> BitInstant {
        self.status_end
    }
}
