//! A bus with PLCA in closed form: how long its cycles are, and the longest wait (802.3, clause 148).
//!
//! ```text
//!   |BEACON 20|turn: to_tmr if unused|COMMIT 96|preamble 64|frame 8 L|ESD 8| …
//! ```
//! COMMIT covers the MAC's gap. The gap of a lone node goes by in the turns of the others, and its frame waits in the
//! delay line.

use medium::{BitTimes, Config, Method, Plca, PlcaNode, PlcaSettings};
use std::collections::BTreeSet;

/// BEACON.
pub const BEACON: u64 = 20;
/// What a MAC leaves between two frames.
pub const GAP: u64 = 96;
/// Preamble and SFD.
pub const PREAMBLE: u64 = 64;
/// ESD and ESDOK, two symbols of 5 bits that encode 4 each.
pub const DELIMITER: u64 = 8;
/// The most that a delay line holds back here.
const LONGEST_LINE: u64 = 512;
const USUAL_LINE: u64 = 396;
/// burst_timer, as clause 30.16 has it by default.
pub const BURST_TIMER: u64 = PlcaSettings::new(0, 1).burst_timer as u64;
/// pending_timer.
pub const PENDING: u64 = 512;

/// The delay line of nodes on a bus whose idle cycle is this long.
fn delay_line(idle_cycle: u64) -> u64 {
    idle_cycle.clamp(USUAL_LINE, LONGEST_LINE)
}

/// The longest turn of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// From the begin of COMMIT to the end of ESD.
    pub length: u64,
    /// It may end with COMMIT and without a frame: the node kept its turn for a burst, and nothing came.
    pub is_kept: bool,
}

/// The turns of a cycle, each as long as its node may make it, on a segment where PLCA is right at every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// The longest turn of each id, in order of ids; `to` where no node sends.
    pub turns: Vec<Turn>,
    /// to_tmr, in bit times.
    pub to: u64,
    /// How much later the end of a signal is heard than it is sent: cable and PHYs. Part of each turn that is used.
    pub late: u64,
}

impl Turns {
    /// A cycle in which no node sends.
    pub fn idle_cycle(&self) -> u64 {
        BEACON + self.late + self.to * self.turns.len() as u64
    }

    /// How long the delay line is.
    pub fn line(&self) -> u64 {
        delay_line(self.idle_cycle() - self.late)
    }

    /// From when a frame of the node `id` is at the head to its first bit, at most: one's own turn is missed, all others
    /// use theirs, and COMMIT comes before the frame.
    pub fn access_delay_bound(&self, id: usize) -> u64 {
        self.others(id) + self.to + GAP + self.line_missed() + self.deferred(id)
    }

    /// A cycle in which each node sends all that it may.
    pub fn longest_cycle(&self) -> u64 {
        BEACON + self.late + self.turns.iter().map(|turn| turn.length).sum::<u64>()
    }

    /// BEACON, and the turns of all other ids.
    pub fn others(&self, id: usize) -> u64 {
        self.longest_cycle() - self.turns[id].length
    }

    /// What a frame loses whose delay line is full before its turn comes: it gets a logical collision, and misses a turn
    /// that comes within pending_timer. Nothing where the delay line is as long as the wait.
    pub fn line_missed(&self) -> u64 {
        let line = self.line();
        // A frame that comes in the bit time in which the own turn is given up waits a whole cycle.
        if self.idle_cycle() >= line { line + PENDING } else { 0 }
    }

    /// What a MAC loses that defers. A frame that comes while another is on the line waits until that is over, and a gap of
    /// 96 BT more. A turn that begins before the gap ends is missed: the own one is the last of them at worst. So only a
    /// turn shortly before the own one, with idle turns between, costs more than a cycle.
    ///
    /// ```text
    ///   |COMMIT, frame of k − 3, ESD|turn of k − 2|turn of k − 1|turn of k|
    ///    ^ ready here               |gap 96 BT ........................|^ the MAC may send here
    /// ```
    /// After a turn that is kept for a burst the MAC may begin within COMMIT, which is no carrier. It gets a logical
    /// collision, no frame follows, and all turns within pending_timer are missed.
    pub fn deferred(&self, id: usize) -> u64 {
        let ids = self.turns.len();
        let lost = |distance: usize| {
            let turn = self.turns[(id + ids - distance) % ids];
            let beacon = if distance > id { BEACON + self.late } else { 0 };
            let idle = self.to * (distance as u64 - 1);
            let missed = if turn.is_kept { PENDING } else { GAP };
            if turn.length <= self.to {
                return 0;
            }
            if idle >= missed {
                // The own turn comes later, but the delay line may be full before it does.
                return if self.line_missed() > 0 { turn.length } else { 0 };
            }
            // The turn counts with the first COMMIT, which is no carrier: a BEACON within the gap takes no more than that.
            let beacon = if turn.is_kept { beacon } else { beacon.saturating_sub(GAP) };
            turn.length + idle + beacon
        };
        // A frame that comes as the node gives up its own turn begins before PHYs are silent: the same collision.
        let own = if self.turns[id].is_kept { PENDING } else { 0 };
        (1..ids).map(lost).max().unwrap_or(0).max(own)
    }
}

/// A bus with PLCA right at every node, on a line without delay.
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    /// How many turns a cycle has.
    pub nodes: u64,
    /// How long the longest frame is.
    pub octets: u64,
    /// Frames that may follow the first of a turn.
    pub bursts: u64,
    /// burst_timer, in bit times: the next frame of a burst may come as late.
    pub burst_timer: u64,
    /// to_tmr, in bit times.
    pub to: u64,
}

impl Bus {
    /// A cycle in which no node sends.
    pub fn idle_cycle(&self) -> u64 {
        BEACON + self.to * self.nodes
    }

    /// A frame with its preamble.
    pub fn frame(&self) -> u64 {
        PREAMBLE + 8 * self.octets
    }

    /// A turn in which all frames of a burst go out.
    pub fn turn(&self) -> u64 {
        (1 + self.bursts) * (GAP + self.frame()) + DELIMITER
    }

    /// A cycle in which each node sends all that it may.
    pub fn longest_cycle(&self) -> u64 {
        BEACON + self.nodes * self.turn()
    }

    /// From when a frame is at the head to its first bit: see [`Turns::access_delay_bound`].
    pub fn access_delay_bound(&self) -> u64 {
        let later = self.burst_timer.max(GAP) - GAP;
        let turn = Turn { length: self.turn() + self.bursts * later, is_kept: self.bursts > 0 };
        Turns { turns: vec![turn; self.nodes as usize], to: self.to, late: 0 }.access_delay_bound(0)
    }

    /// How long a cycle is in which one node always has a frame and no other node has any. Its MAC is ready a gap after
    /// its frame, and if its turn is over then, it waits for the next. Where that takes longer than the delay line
    /// holds, a logical collision comes first, and COMMIT before the frame.
    pub fn lone_cycle(&self) -> u64 {
        let others = BEACON + self.to * (self.nodes - 1);
        let burst = (1 + self.bursts) * self.frame() + self.bursts * GAP + DELIMITER;
        // Idle cycles until its turn comes no sooner than `ready` after its MAC was done.
        let idle_until = |ready: u64| (ready.saturating_sub(DELIMITER + others)).div_ceil(self.idle_cycle());
        let idle = idle_until(GAP);
        let held = DELIMITER + others + idle * self.idle_cycle() - GAP;
        let line = self.line();
        if held <= line {
            return burst + others + idle * self.idle_cycle();
        }
        burst + others + idle_until(GAP + line + PENDING) * self.idle_cycle() + GAP
    }

    /// How long the delay line is, as nodes here have it.
    pub fn line(&self) -> u64 {
        delay_line(self.idle_cycle())
    }

    /// The bus of a configuration whose nodes have these settings by now, with frames of up to `octets`. None unless
    /// all is right: nothing between the nodes, no chip or host that is slow, each id once and below the node count.
    pub fn of(config: &Config, settings: &[PlcaSettings], octets: u64) -> Option<Bus> {
        let Method::Plca(plca) = &config.method else { return None };
        let first = settings.iter().find(|node| node.is_on() && node.node_id == 0)?;
        let delays = config.topology.longest_distance() + plca.phy_on + plca.phy_off;
        let usual_line = plca.delay_line == Plca::delay_line_for(&plca.nodes);
        let is_plain = delays == BitTimes::ZERO && !plca.cold_start && usual_line && octets > 0;
        let chips = plca.nodes.iter().all(|node| {
            let host = !node.is_late() && node.heeds_logical_collisions;
            let chip = node.clock_ppm == 0 && node.skipped_turns == 0;
            host && chip && node.collision_detection
        });
        let right = settings.iter().all(|node| node.is_on() && !node.dplca && node.to_timer == first.to_timer);
        let nodes = plca.nodes.iter().zip(settings).map(|(node, settings)| PlcaNode { settings: *settings, ..*node });
        let ids: Vec<u8> = nodes.flat_map(|node| node.ids()).collect();
        let is_once = ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
        let has_turns = is_once && ids.iter().all(|&id| id < first.node_count);
        let bursts = settings.iter().map(|node| node.burst_count).max()?.into();
        let burst_timer = settings.iter().map(|node| node.burst_timer).max()?.into();
        let bus = Bus { nodes: first.node_count.into(), octets, bursts, burst_timer, to: first.to_timer.into() };
        (is_plain && chips && right && has_turns).then_some(bus)
    }
}
