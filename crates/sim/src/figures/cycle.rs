//! A bus with PLCA in closed form: how long its cycles are, and the longest wait (802.3, clause 148).
//!
//! ```text
//!   |BEACON 20|turn: to_tmr if unused|COMMIT 96|preamble 64|frame 8 L|ESD 8| …
//! ```
//! COMMIT covers the MAC's gap. The gap of a lone node goes by in the turns of the others, and its frame waits in the
//! delay line.

use crate::words::configuration::longest_distance;
use medium::{BitTimes, Config, Method, Plca, PlcaNode, PlcaSettings};
use std::collections::BTreeSet;

const BEACON: u64 = 20;
/// What a MAC leaves between two frames.
pub const GAP: u64 = 96;
const PREAMBLE: u64 = 64;
/// ESD and ESDOK, two symbols of 5 bits that encode 4 each.
pub const DELIMITER: u64 = 8;
/// The most that a delay line holds back here.
const LONGEST_LINE: u64 = 512;
const USUAL_LINE: u64 = 396;
/// pending_timer.
const PENDING: u64 = 512;

/// A bus with PLCA right at every node, on a line without delay.
#[derive(Clone, Copy, Debug)]
pub struct Bus {
    /// How many turns a cycle has.
    pub nodes: u64,
    /// How long the longest frame is.
    pub octets: u64,
    /// Frames that may follow the first of a turn.
    pub bursts: u64,
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

    /// From when a frame is at the head to its first bit: one's own turn is missed, all others use theirs, and COMMIT
    /// comes before the frame. Where the delay line is shorter than an idle cycle, a frame may get a logical collision
    /// before, and miss the turn that comes within pending_timer.
    pub fn access_delay_bound(&self) -> u64 {
        let line = self.line();
        let missed = if self.idle_cycle() - self.to > line { line + PENDING } else { 0 };
        self.longest_cycle() - self.turn() + self.to + GAP + missed + self.deferred()
    }

    /// What a MAC loses that defers. A frame that comes while another is on the line waits until that is over, and a gap of
    /// 96 BT more. A turn that begins before the gap ends is missed: the own one is the last of them at worst.
    ///
    /// ```text
    ///   |COMMIT, frame of k − 3, ESD|turn of k − 2|turn of k − 1|turn of k|
    ///    ^ ready here               |gap 96 BT ........................|^ the MAC may send here
    /// ```
    pub fn deferred(&self) -> u64 {
        if self.nodes < 2 {
            return 0;
        }
        let before = GAP.div_ceil(self.to) - 1;
        self.turn() + self.to * before.min(self.nodes - 2)
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
        self.idle_cycle().clamp(USUAL_LINE, LONGEST_LINE)
    }

    /// The bus of a configuration whose nodes have these settings by now, with frames of up to `octets`. None unless
    /// all is right: nothing between the nodes, no chip or host that is slow, each id once and below the node count.
    pub fn of(config: &Config, settings: &[PlcaSettings], octets: u64) -> Option<Bus> {
        let Method::Plca(plca) = &config.method else { return None };
        let first = settings.iter().find(|node| node.is_on() && node.node_id == 0)?;
        let delays = longest_distance(&config.topology) + plca.phy_on + plca.phy_off;
        let usual_line = plca.delay_line == Plca::delay_line_for(&plca.nodes);
        let is_plain = delays == BitTimes::ZERO && !plca.cold_start && usual_line && octets > 0;
        let chips = plca.nodes.iter().all(|node| {
            let host = node.host_delay == BitTimes::ZERO && node.heeds_logical_collisions;
            host && node.clock_ppm == 0 && node.collision_detection
        });
        let right = settings.iter().all(|node| node.is_on() && node.to_timer == first.to_timer);
        let nodes = plca.nodes.iter().zip(settings).map(|(node, settings)| PlcaNode { settings: *settings, ..*node });
        let ids: Vec<u8> = nodes.flat_map(|node| node.ids()).collect();
        let is_once = ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
        let has_turns = is_once && ids.iter().all(|&id| id < first.node_count);
        let bursts = settings.iter().map(|node| node.burst_count).max()?.into();
        let bus = Bus { nodes: first.node_count.into(), octets, bursts, to: first.to_timer.into() };
        (is_plain && chips && right && has_turns).then_some(bus)
    }
}
