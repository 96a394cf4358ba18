//! Bounds of a message table on a segment with PLCA: how long each message waits and takes, at most.
//!
//! The proof is in docs/plan.md. A node sends its frames in the order of their release (FIFO), or by class, in its turns,
//! which come once a cycle (clause 148): response-time analysis of round robin between nodes, and of FIFO or fixed
//! priorities within one, shaped or not. In the time until a frame is sent, another node sends no more than its turns of these cycles
//! allow, and no more than its messages release. Both limits hold, so the lower one counts. The second one needs response
//! times, so it is a fixed point: each pass begins with sound response times, and makes them no longer.
//!
//! Everything is in bit times. It must never know how a table is written.

mod begin;
mod priority;
mod shaper;

use self::begin::{Begin, begins, common_period, have_phases};
use sim::figures::cycle::{DELIMITER, GAP, Turn, Turns};
use sim::scenario::messages::{Message, MessageTable, Node};

/// More frames than this in a row without an idle queue count as no bound.
const LONGEST_BACKLOG: u64 = 1_000;
/// Passes of the fixed point over all nodes.
const PASSES: usize = 6;
/// Instants at which a backlog may begin that are compared for a node with phases.
const MOST_BEGINS: u64 = 256;
/// A wait above this, 29 hours, counts as no bound.
const LONGEST_WAIT: u64 = 1 << 40;

/// What a bound consists of, in bit times; the parts add up to the response time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The credit of a shaped class is below zero.
    pub shaper: u64,
    /// The host hands frames over.
    pub host: u64,
    /// A frame of another node is on the line, and the own turn passes within the gap after it.
    pub blocking: u64,
    /// BEACONs and turns without a frame.
    pub cycles: u64,
    /// Frames of other nodes.
    pub others: u64,
    /// Own frames that were released before, with their gaps.
    pub queue: u64,
    /// COMMIT, the frame with its preamble, and its way to the farthest node.
    pub frame: u64,
}

impl Parts {
    /// From release to the last bit at the farthest node.
    pub fn response(&self) -> u64 {
        self.shaper + self.host + self.blocking + self.cycles + self.others + self.queue + self.frame
    }
}

/// The bound of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// From the head of the queue to the first bit.
    pub access: u64,
    /// What the response time consists of.
    pub parts: Parts,
    /// Cycles that pass until the frame is sent.
    pub turns: u64,
    /// Frames in the node's queue, this one included.
    pub backlog: u64,
}

/// The longest queue of a node by these bounds.
pub fn longest_backlog(bounds: &[Option<Bound>]) -> u64 {
    bounds.iter().flatten().map(|bound| bound.backlog).max().unwrap_or(0)
}

/// A segment with its messages, prepared for questions about bounds.
pub struct Analysis<'a> {
    table: &'a MessageTable,
    turns: Turns,
    /// The messages of each node, by index.
    messages: Vec<Vec<usize>>,
    /// How much later the end of a signal is heard.
    late: u64,
}

impl<'a> Analysis<'a> {
    /// The analysis of `table`.
    pub fn new(table: &'a MessageTable) -> Analysis<'a> {
        let late = table.late().get();
        let own = |node: usize| (0..table.messages.len()).filter(|&at| table.messages[at].node == node).collect();
        let messages: Vec<Vec<usize>> = (0..table.nodes.len()).map(own).collect();
        let to = u64::from(table.to_timer);
        let idle = Turn { length: to, is_kept: false };
        let turns = Turns { turns: vec![idle; table.node_count.into()], to, late };
        let mut this = Analysis { table, turns, messages, late };
        for (number, node) in table.nodes.iter().enumerate() {
            let length = this.longest_turn(number, 1 + u64::from(node.burst_count), None);
            this.turns.turns[usize::from(node.id)] = Turn { length, is_kept: node.burst_count > 0 };
        }
        this
    }

    /// The bound of each message, in order of the table; none where frames come faster than they are sent.
    pub fn bounds(mut self) -> Vec<Option<Bound>> {
        let backlog = self.busy_bus();
        let mut responses: Vec<Option<u64>> = vec![backlog; self.table.messages.len()];
        let mut bounds = vec![None; self.table.messages.len()];
        for _ in 0..PASSES {
            self.shorten_turns(&responses);
            for node in 0..self.table.nodes.len() {
                self.node_bounds(node, &responses, &mut bounds);
            }
            let shorter = |(bound, response): (&Option<Bound>, &Option<u64>)| match (bound, response) {
                (Some(bound), Some(response)) => Some(bound.parts.response().min(*response)),
                (Some(bound), None) => Some(bound.parts.response()),
                (None, response) => *response,
            };
            let next: Vec<Option<u64>> = bounds.iter().zip(&responses).map(shorter).collect();
            if next == responses {
                break;
            }
            responses = next;
        }
        bounds
    }

    /// The longest cycle: each node sends all that it may.
    pub fn longest_cycle(&self) -> u64 {
        self.turns.longest_cycle()
    }

    /// A cycle without a frame.
    pub fn idle_cycle(&self) -> u64 {
        self.turns.idle_cycle()
    }

    /// What is legal, and makes bounds longer than they need be.
    pub fn warnings(&self) -> Vec<String> {
        let own = |node: &Vec<usize>| node.iter().map(|&at| (at, self.message(at))).collect::<Vec<_>>();
        let nodes = self.messages.iter().map(own).enumerate();
        let lost = nodes.filter(|(_, own)| have_phases(own)).filter_map(|(number, own)| {
            let node = &self.table.nodes[number];
            let why = if self.table.has_classes(number) {
                "since its messages have more than one priority, or an `idle-slope`".to_owned()
            } else if common_period(&own).is_none() {
                format!("since its backlog may begin at more than {MOST_BEGINS} instants until all repeats; periods with a small common multiple have fewer")
            } else {
                return None;
            };
            Some(format!("{}: its phases are not used, {why}", node.name))
        });
        lost.collect()
    }

    fn message(&self, at: usize) -> &'a Message {
        &self.table.messages[at]
    }

    /// How long the host of its node takes to hand over a frame of `message`, at most.
    fn host(&self, message: &Message) -> u64 {
        self.table.nodes[message.node].longest_host_delay(message.octets)
    }

    /// From a frame of a burst to the next one: the gap, or where frames may come late, burst_tmr.
    fn burst_gap(node: &Node) -> u64 {
        u64::from(node.burst_timer).max(GAP)
    }

    /// The longest turn of a node with up to `most` frames, and no more of a message than `limit` says. COMMIT comes first;
    /// a burst that is not full keeps its turn for burst_tmr after the last frame.
    fn longest_turn(&self, number: usize, most: u64, limit: Option<&dyn Fn(usize) -> u64>) -> u64 {
        let node = &self.table.nodes[number];
        let mut own = self.messages[number].clone();
        own.sort_by_key(|&at| std::cmp::Reverse(self.message(at).octets));
        let (mut left, mut length) = (most, 0);
        for at in own {
            let frames = limit.map_or(left, |limit| limit(at)).min(left);
            length += frames * (Self::burst_gap(node) + self.message(at).packet());
            left -= frames;
        }
        if length == 0 {
            return self.turns.to;
        }
        // The first frame follows COMMIT, which takes no longer than the gap.
        let wait = if left > 0 { u64::from(node.burst_timer) } else { 0 };
        length - Self::burst_gap(node) + GAP + DELIMITER + wait + self.late
    }

    /// Turns are no longer than the frames that a node can have in one.
    fn shorten_turns(&mut self, responses: &[Option<u64>]) {
        for (number, node) in self.table.nodes.iter().enumerate() {
            let full = self.turns.turns[usize::from(node.id)].length;
            let limit = |at: usize| match responses[at] {
                Some(response) => self.message(at).released(full + response),
                None => u64::MAX,
            };
            let turn = self.longest_turn(number, 1 + u64::from(node.burst_count), Some(&limit));
            self.turns.turns[usize::from(node.id)].length = turn.min(full);
        }
    }

    /// The longest time in which some node has a frame, where each frame takes a cycle of its own: above all response times.
    /// Frames that wait for credit leave the line idle, so none with a shaper.
    fn busy_bus(&self) -> Option<u64> {
        if self.table.messages.iter().any(|message| message.idle_slope.is_some()) {
            return None;
        }
        let host = self.table.messages.iter().map(|message| self.host(message)).max().unwrap_or(0);
        let skipped = self.table.nodes.iter().map(|node| u64::from(node.skipped_turns)).max().unwrap_or(0);
        let missed = self.turns.line_missed() + GAP + self.turns.to + self.turns.idle_cycle() + self.late;
        let around = host + (1 + skipped) * missed;
        let cost = |message: &Message| around + self.frame_cost(message);
        let needed = |span: u64| -> u64 {
            let all = self.table.messages.iter();
            all.map(|message| message.released(span).saturating_mul(cost(message))).fold(0, u64::saturating_add)
        };
        fixed_point(needed).map(|span| span + around)
    }

    /// What a frame takes of the line where it is alone in its turn.
    fn frame_cost(&self, message: &Message) -> u64 {
        let node = &self.table.nodes[message.node];
        let wait = if node.burst_count > 0 { Self::burst_gap(node) } else { 0 };
        GAP + message.packet() + DELIMITER + self.late + wait
    }

    /// How many frames a node sends in a turn while it has some.
    fn frames_a_turn(node: &Node) -> u64 {
        // A host that is slow, a timer that is short, or turns to skip end a burst.
        let goes_on = !node.is_late() && node.skipped_turns == 0 && u64::from(node.burst_timer) > GAP;
        if goes_on { 1 + u64::from(node.burst_count) } else { 1 }
    }

    fn node_bounds(&self, number: usize, responses: &[Option<u64>], bounds: &mut [Option<Bound>]) {
        let own = &self.messages[number];
        if own.is_empty() {
            return;
        }
        let by_class = self.table.has_classes(number);
        let found = if by_class { self.by_class(number, responses) } else { self.in_order(number, responses) };
        let access = self.access(number, responses);
        for &at in own {
            let bound = found[at].map(|bound| Bound { access, ..bound });
            bounds[at] = match (bound, bounds[at]) {
                (Some(new), Some(old)) if old.parts.response() <= new.parts.response() => Some(old),
                (Some(new), _) => Some(new),
                (None, old) => old,
            };
        }
    }

    /// The bounds of a node that sends in the order of release, without their access delay; none if its backlog has no end.
    fn in_order(&self, number: usize, responses: &[Option<u64>]) -> Vec<Option<Bound>> {
        let mut found = vec![None; self.table.messages.len()];
        let is_bound =
            self.backlogs(number).iter().all(|releases| self.backlog(number, releases, responses, &mut found));
        if !is_bound {
            found.fill(None);
        }
        found
    }

    /// From the head of the queue to the first bit. A frame behind an own one is at the head when its MAC is done, which is
    /// before the line is, by the delay line at most; then no MAC defers.
    fn access(&self, number: usize, responses: &[Option<u64>]) -> u64 {
        let host = self.messages[number].iter().map(|&at| self.host(self.message(at))).max().unwrap_or(0);
        let first = self.wait(number, Ahead { frames: 1, host, is_behind: false }, 0, responses).response();
        first + self.behind(number) - self.late
    }

    /// What a first frame waits longer if it is behind an own one: its MAC is ready before the line is.
    fn behind(&self, number: usize) -> u64 {
        let node = &self.table.nodes[number];
        let deferred = if node.is_late() || node.skipped_turns > 0 {
            0
        } else {
            self.turns.deferred(node.id.into()) + self.turns.to
        };
        (self.turns.line() + DELIMITER + self.again()).saturating_sub(deferred)
    }

    /// What a backlogged node may lose before each further turn: where others are silent, its turn comes within the gap after
    /// its frame. And where its delay line is full before its turn comes, the MAC, which began a gap later, may miss that
    /// turn at its very end, and waits for a whole cycle.
    fn again(&self) -> u64 {
        let others_idle = self.turns.idle_cycle() - self.turns.to;
        if others_idle < GAP || self.turns.line_missed() > 0 { GAP + self.turns.to } else { 0 }
    }

    /// The own turns that pass until frames of a node in a backlog are sent. A frame behind an own one may end a burst. Before
    /// each turn with a frame the node may skip some: the last frame before the backlog may just be sent.
    fn turns(node: &Node, Ahead { frames, is_behind, .. }: Ahead) -> u64 {
        let alone = u64::from(is_behind);
        let used = alone + (frames - alone).div_ceil(Self::frames_a_turn(node));
        used * (1 + u64::from(node.skipped_turns))
    }

    /// The wait of the last frame of a node in a backlog, of which those before take `queue`: its first bit, and what comes
    /// before.
    fn wait(&self, number: usize, ahead: Ahead, queue: u64, responses: &[Option<u64>]) -> Parts {
        let node = &self.table.nodes[number];
        let (id, frames, turns) = (usize::from(node.id), ahead.frames, Self::turns(node, ahead));
        let deferred = self.turns.deferred(id) + self.turns.to;
        // Where the host is slow, the line is used while it hands a frame over: each frame is the first of a backlog. So is
        // each after skipped turns, in which the MAC hears carrier.
        let begins = if node.is_late() || node.skipped_turns > 0 { frames } else { 1 };
        let behind = if ahead.is_behind { self.behind(number) } else { 0 };
        let blocking = begins * deferred + behind + (turns - 1) * self.again() + turns * self.turns.line_missed();
        let idle = self.turns.idle_cycle() - self.turns.to;
        let ended = turns - 1;
        let parts = Parts {
            shaper: 0,
            host: ahead.host,
            blocking,
            cycles: turns * idle,
            others: 0,
            queue: queue + ended * (DELIMITER + self.late),
            frame: GAP + self.late,
        };
        let fixed = parts.response();
        let others = |span: u64| -> u64 {
            let of = |(other, node): (usize, &Node)| {
                let turn = self.turns.turns[usize::from(node.id)].length;
                let by_turns = turns.saturating_mul(turn.saturating_sub(self.turns.to));
                by_turns.min(self.released(other, span, responses).unwrap_or(u64::MAX))
            };
            let others = self.table.nodes.iter().enumerate().filter(|(other, _)| *other != number);
            others.map(of).fold(0, u64::saturating_add)
        };
        let span = fixed_point(|span| fixed.saturating_add(others(span))).unwrap_or(LONGEST_WAIT);
        Parts { others: span - fixed, ..parts }
    }

    /// What the frames take that a node can send in `span`; unknown while a response time is.
    fn released(&self, number: usize, span: u64, responses: &[Option<u64>]) -> Option<u64> {
        let of = |&at: &usize| {
            let message = self.message(at);
            let frames = message.released(span.saturating_add(responses[at]?));
            Some(frames.saturating_mul(self.frame_cost(message)))
        };
        self.messages[number].iter().map(of).try_fold(0_u64, |sum, more| Some(sum.saturating_add(more?)))
    }

    /// Goes through one backlog of a node, and notes the longest response of each message; false if it has no end.
    fn backlog(
        &self,
        number: usize,
        begin: &Begin<'_>,
        responses: &[Option<u64>],
        found: &mut [Option<Bound>],
    ) -> bool {
        let node = &self.table.nodes[number];
        let (mut horizon, mut done, mut sum, mut host) = (0, 0_usize, 0_u64, 0_u64);
        loop {
            let all = begin.releases(horizon);
            let mut end = 0;
            while done < all.len() {
                let (at, _) = all[done];
                // Frames of one instant come in any order: each may be the last of them.
                let group = all[done..].iter().take_while(|(other, _)| *other == at);
                for message in group.map(|(_, message)| self.message(*message)) {
                    (done, sum, host) = (done + 1, sum + GAP + message.packet(), host + self.host(message));
                }
                for (message, last) in begin.may_come(at) {
                    let before = sum - GAP - last.packet() + (done as u64 - 1) * Self::later_gap(node);
                    let ahead = Ahead { frames: done as u64, host, is_behind: false };
                    let parts = self.wait(number, ahead, before, responses);
                    let parts = Parts { frame: parts.frame + last.packet() + DELIMITER, ..parts };
                    if parts.response() >= LONGEST_WAIT || done as u64 > LONGEST_BACKLOG {
                        return false;
                    }
                    end = end.max(parts.response());
                    let turns = Self::turns(node, ahead);
                    keep_longest(
                        &mut found[message],
                        Bound { access: 0, turns, backlog: done as u64, parts: since(parts, at) },
                    );
                }
            }
            // What is released by the end of the last frame belongs to the same backlog.
            if end <= horizon {
                return true;
            }
            horizon = end;
        }
    }

    /// What a frame in a burst comes later than the gap, where its host is slow.
    fn later_gap(node: &Node) -> u64 {
        if node.is_late() { Self::burst_gap(node) - GAP } else { 0 }
    }

    /// The ways in which a backlog of a node can begin.
    fn backlogs(&self, number: usize) -> Vec<Begin<'_>> {
        let own: Vec<(usize, &Message)> = self.messages[number].iter().map(|&at| (at, self.message(at))).collect();
        let with = |at| Begin { own: own.clone(), at };
        match begins(&own) {
            Some(begins) => begins.into_iter().map(Some).map(with).collect(),
            None => vec![with(None)],
        }
    }
}

/// Frames of a node in a backlog, up to one that is asked about.
#[derive(Clone, Copy)]
struct Ahead {
    /// How many, that one included.
    frames: u64,
    /// How long their hosts take, each by itself.
    host: u64,
    /// The first one may be behind a frame of the node that does not belong to the backlog.
    is_behind: bool,
}

/// Keeps the longer response.
fn keep_longest(kept: &mut Option<Bound>, bound: Bound) {
    if kept.is_none_or(|old| old.parts.response() < bound.parts.response()) {
        *kept = Some(bound);
    }
}

/// The part of a wait after `released`; the wait begins with the backlog, and its earlier part is the queue's.
fn since(parts: Parts, released: u64) -> Parts {
    let mut left = released;
    let mut less = |part: u64| {
        let taken = part.min(left);
        left -= taken;
        part - taken
    };
    let shaper = less(parts.shaper);
    let queue = less(parts.queue);
    let others = less(parts.others);
    let cycles = less(parts.cycles);
    let blocking = less(parts.blocking);
    let host = less(parts.host);
    Parts { shaper, host, blocking, cycles, others, queue, frame: parts.frame - left.min(parts.frame) }
}

/// The least `span` that is at least `needed(span)`, if there is one; `needed` does not fall.
fn fixed_point(needed: impl Fn(u64) -> u64) -> Option<u64> {
    let mut span = needed(0);
    loop {
        let next = needed(span);
        if next <= span {
            return Some(span);
        }
        if next >= LONGEST_WAIT {
            return None;
        }
        span = next;
    }
}
