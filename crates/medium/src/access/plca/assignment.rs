//! D-PLCA of one node: the table of claims and its aging (P802.3da D3.0, figure 148-9), and what the node's machine does
//! on entering a state (148.4.7).
//!
//! A turn is claimed if another node sent in it: a frame that follows no COMMIT begins with the code of one (147.3.2). The
//! table of claims is what was claimed in this age and the one before; an age is over as turn 0 ends in the cycle after
//! aging_cycles others.

use super::ids::Ids;
use super::node::Node;
use super::tables::{Assignment, Claims, Control, Seen};
use super::wire::{Heard, What};
use crate::config::PlcaSettings;
use crate::draws::{DPLCA, draw};
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use std::ops::RangeInclusive;

/// wait_beacon_timer is drawn from this range, in periods of the MII's clock.
const WAIT_BEACON: RangeInclusive<u64> = 40..=295;
/// A period of the MII's clock.
const MII_PERIOD: BitTimes = BitTimes::new(4);
/// beacon_timeout_timer: a coordinator that does not hear its own BEACON, since another begins with it, begins anew.
const BEACON_TIMEOUT: BitTimes = BitTimes::new(68);

/// A node that finds its own id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dynamic {
    seed: u64,
    station: StationId,
    state: Assignment,
    /// wait_beacon_timer, or beacon_timeout_timer.
    timer_end: BitInstant,
    /// dplca_aging: the table of claims is kept.
    aging: bool,
    /// txop_claim_table, whose highest id is MAX_CLAIM, and txop_claim_table_new.
    claimed: Ids,
    claimed_anew: Ids,
    /// The last turn in which the node received, in this age and in each of the four before.
    last_received: [u8; 5],
    /// The last turn that no coordinator takes away in this cycle: it may have taken turns away as turn 0 ended.
    safe: u8,
    /// The node has sent BEACONs and stopped, and no BEACON has come since.
    gave_up: bool,
    /// aging_cnt.
    cycles: u16,
    /// dplca_txop_claim: somebody claims the present turn.
    claim: bool,
    /// dplca_txop_id, dplca_txop_node_count.
    turn: u8,
    turns: u8,
    /// A turn is over that the machine has not yet seen, and with it an age.
    turn_over: bool,
    new_age: bool,
    /// The number of its latest draw.
    drawn: u64,
    /// The id or the number of turns has changed since the last look.
    changed: bool,
}

impl Dynamic {
    /// D-PLCA of a node that begins with it at `now`. Its draws, less than one in a bit time, are numbered from there on: a
    /// node that begins again draws others.
    pub fn new(seed: u64, station: StationId, now: BitInstant) -> Dynamic {
        Dynamic {
            seed,
            station,
            state: Assignment::Disabled,
            timer_end: NEVER,
            aging: false,
            claimed: Ids::NONE,
            claimed_anew: Ids::NONE,
            last_received: [0; 5],
            safe: PlcaSettings::LEAST_TURNS - 1,
            gave_up: false,
            cycles: 0,
            claim: false,
            turn: 0,
            turns: PlcaSettings::LEAST_TURNS,
            turn_over: false,
            new_age: false,
            drawn: now.get(),
            changed: false,
        }
    }

    pub fn timer_end(&self) -> BitInstant {
        self.timer_end
    }

    /// A number of `range`, drawn evenly.
    fn draw(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.drawn += 1;
        draw(self.seed, DPLCA + self.station.index() as u64, self.drawn, range)
    }

    /// TXOP_END to NOTIFY of the aging machine: `turn` is over, in which the node perhaps `received`.
    fn turn_ends(&mut self, turn: u8, received: bool, aging_cycles: u16) {
        let claim = std::mem::take(&mut self.claim);
        if !self.aging {
            return;
        }
        (self.turn, self.turn_over, self.new_age) = (turn, true, false);
        if turn == 0 {
            self.new_age = self.cycles == aging_cycles;
            self.cycles = if self.new_age { 0 } else { self.cycles + 1 };
        }
        if self.new_age {
            self.last_received.rotate_right(1);
            self.last_received[0] = 0;
            self.claimed = std::mem::take(&mut self.claimed_anew);
        }
        if turn == 0 {
            self.safe = self.claimed.highest().saturating_add(1).max(PlcaSettings::LEAST_TURNS - 1);
        }
        if received {
            self.last_received[0] = self.last_received[0].max(turn);
        }
        if claim {
            self.claimed.insert(turn);
            self.claimed_anew.insert(turn);
        }
    }

    /// PICK_FREE_TXOP: a free turn of the cycle up to the last claimed one. The draft leaves the choice among them to the
    /// implementation. Here it is drawn, so that nodes that begin together do not pick one turn. If all of them are
    /// claimed, the node keeps its turn or draws another, among those that a coordinator never takes away: the first
    /// eight, and the one after the last that was claimed before this cycle. If there are none, the node goes without a
    /// turn.
    fn pick_free(&mut self, present: u8) -> u8 {
        let (highest, last) = (self.claimed.highest(), self.turns.max(2) - 1);
        let free = |ids: RangeInclusive<u8>| ids.filter(|&id| !self.claimed.has(id)).collect::<Vec<_>>();
        let below = free(1..=highest.min(last));
        let beyond = free(highest.saturating_add(1)..=self.safe.min(last));
        let all = match (below.is_empty(), beyond.is_empty()) {
            (false, _) => below,
            (true, false) if beyond.contains(&present) => return present,
            (true, false) => beyond,
            (true, true) => return PlcaSettings::SEEKING,
        };
        all[self.draw(0..=all.len() as u64 - 1) as usize]
    }

    /// The number of turns of a coordinator whose last turn is free: one turn after the last in which the coordinator
    /// received in the last four ages. A follower's turn is at most one after the last claim that the follower remembers,
    /// which is younger than that, so no follower loses the turn that it has. Where two nodes send in one turn, a follower
    /// may hear one of them first, and a claim, while both begin at once at the coordinator: it received, and noted none.
    fn turns_after_received(&self) -> u8 {
        let last = self.last_received.iter().fold(0, |last, &turn| last.max(turn));
        last.saturating_add(2).max(PlcaSettings::LEAST_TURNS)
    }

    /// Nothing is claimed, and more cycles without traffic leave it so.
    fn is_steady(&self, settings: &PlcaSettings) -> bool {
        let claimed = self.claimed != Ids::NONE || self.claimed_anew != Ids::NONE;
        let nothing = !claimed && !self.claim && self.last_received == [0; 5];
        let stays = match self.state {
            Assignment::Coordinator => settings.node_count == PlcaSettings::LEAST_TURNS,
            Assignment::Follower => settings.node_id < self.turns,
            Assignment::Disabled => true,
            Assignment::WaitBeacon
            | Assignment::LoopbackTx
            | Assignment::LoopbackRx
            | Assignment::IncreaseNodeCount
            | Assignment::ReduceNodeCount
            | Assignment::Learning => false,
        };
        nothing && stays
    }

    /// The state that repeats in every cycle; `None` if the next cycle will be another.
    pub fn relative(&self, settings: &PlcaSettings) -> Option<Dynamic> {
        self.is_steady(settings).then(|| Dynamic { cycles: 0, ..self.clone() })
    }

    /// `count` cycles pass, all of them alike.
    pub fn pass(&mut self, count: u64, aging_cycles: u16) {
        if !self.aging {
            return;
        }
        let age = u64::from(aging_cycles) + 1;
        self.cycles = ((u64::from(self.cycles) + count % age) % age) as u16;
    }
}

/// D-PLCA's part of a node.
impl Node {
    /// What the place of the node hears: a COMMIT or a frame of another claims the turn.
    pub fn hear_claim(&mut self, heard: Heard, own: Option<What>) {
        let Some(dynamic) = &mut self.dynamic else { return };
        let is_clear = own.is_none() && heard.count() == 1 && heard.commits + heard.frames == 1;
        dynamic.claim |= self.control == Control::Receive && is_clear;
    }

    /// The cycle ends, `with_beacon` of another node.
    pub fn note_turns(&mut self, with_beacon: bool) {
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.turns = self.cur_id;
            dynamic.gave_up &= !with_beacon;
        }
    }

    /// A turn begins, which is not claimed yet.
    pub fn begin_claims(&mut self) {
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.claim = false;
        }
    }

    /// The turn `turn` is over, in which the node perhaps `received`: the table has it, and the machine acts on it before the
    /// next turn begins.
    pub fn end_claims(&mut self, turn: u8, received: bool, seen: &Seen, now: BitInstant) {
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.turn_ends(turn, received, self.own.settings.aging_cycles);
            while let Some(to) = self.next_assignment(now, seen) {
                self.enter_assignment(to, now);
            }
            let dynamic = self.dynamic.as_mut().expect("it was there");
            (dynamic.turn_over, dynamic.new_age) = (false, false);
        }
    }

    /// The next state of the machine of D-PLCA, if it is to change.
    #[inline]
    pub fn next_assignment(&self, now: BitInstant, seen: &Seen) -> Option<Assignment> {
        let dynamic = self.dynamic.as_deref()?;
        let PlcaSettings { node_id, node_count, coordinator_role, .. } = self.own.settings;
        dynamic.state.next(&Claims {
            on: seen.on,
            status: self.status_ok,
            gave_up: dynamic.gave_up,
            beacon: seen.beacon,
            sends_beacon: self.command == Some(What::Beacon),
            echo: seen.echo,
            wait_done: dynamic.timer_end <= now,
            timeout: dynamic.timer_end <= now,
            coordinator_allowed: coordinator_role,
            turn_over: dynamic.turn_over,
            new_age: dynamic.new_age,
            first_claimed: dynamic.claimed.has(0),
            last_claimed: dynamic.claimed.has(node_count.saturating_sub(1)),
            own_claimed: dynamic.claimed.has(node_id),
            beyond: dynamic.turn == 0 && dynamic.turns <= node_id,
            above: node_id > dynamic.claimed.highest(),
            count: node_count,
        })
    }

    /// The actions on entering a state of the machine of D-PLCA.
    pub fn enter_assignment(&mut self, to: Assignment, now: BitInstant) {
        let (present, count) = (self.own.settings.node_id, self.own.settings.node_count);
        let is_on = self.on();
        let Some(dynamic) = self.dynamic.as_deref_mut() else { return };
        let gave_up = is_on && matches!(dynamic.state, Assignment::Coordinator | Assignment::LoopbackTx);
        dynamic.state = to;
        let (id, count) = match to {
            Assignment::Disabled => {
                let Dynamic { seed, station, drawn, changed, .. } = *dynamic;
                *dynamic = Dynamic { drawn, changed, gave_up, ..Dynamic::new(seed, station, now) };
                (PlcaSettings::SEEKING, PlcaSettings::LEAST_TURNS)
            }
            Assignment::WaitBeacon => {
                let wait = MII_PERIOD * dynamic.draw(WAIT_BEACON);
                dynamic.timer_end = now + self.own.on_medium(wait);
                (PlcaSettings::SEEKING, PlcaSettings::LEAST_TURNS)
            }
            Assignment::Coordinator => {
                (dynamic.aging, dynamic.timer_end) = (true, NEVER);
                (0, count)
            }
            Assignment::LoopbackTx => {
                dynamic.timer_end = now + self.own.on_medium(BEACON_TIMEOUT);
                (0, count)
            }
            Assignment::LoopbackRx => {
                dynamic.timer_end = NEVER;
                (0, count)
            }
            Assignment::IncreaseNodeCount => (0, count + 1),
            Assignment::ReduceNodeCount => (0, dynamic.turns_after_received().min(count)),
            Assignment::Learning => {
                (dynamic.aging, dynamic.timer_end) = (true, NEVER);
                (PlcaSettings::SEEKING, count)
            }
            Assignment::Follower => (dynamic.pick_free(present), count),
        };
        (dynamic.turn_over, dynamic.new_age) = (false, false);
        self.assign(id, count);
    }

    /// The node has this id, and as coordinator this number of turns.
    fn assign(&mut self, id: u8, count: u8) {
        let settings = PlcaSettings { node_id: id, node_count: count, ..self.own.settings };
        if settings == self.own.settings {
            return;
        }
        self.take_settings(settings);
        if let Some(dynamic) = &mut self.dynamic {
            dynamic.changed = true;
        }
        if self.counts_turns() {
            self.plan();
        }
    }

    /// Its id and number of turns, if they have changed since the last look.
    pub fn take_assigned(&mut self) -> Option<(u8, u8)> {
        let dynamic = self.dynamic.as_deref_mut()?;
        let PlcaSettings { node_id, node_count, .. } = self.own.settings;
        std::mem::take(&mut dynamic.changed).then_some((node_id, node_count))
    }
}
