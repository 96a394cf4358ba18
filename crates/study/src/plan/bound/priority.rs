//! Bounds of a node whose messages have priorities: strict priority without preemption.
//!
//! The proof is in docs/plan.md: the frames of a level and above, behind one frame from below. Classes with a shaper are
//! levels too: `shaper` has what they wait for credit.

use super::{Ahead, Analysis, Begin, Bound, DELIMITER, GAP, LONGEST_BACKLOG, LONGEST_WAIT, Parts, keep_longest, since};
use sim::scenario::messages::{Message, Node};

/// A number of frames, and what they take with their gaps.
#[derive(Clone, Copy, Default)]
pub(super) struct Frames {
    pub count: u64,
    pub bits: u64,
}

impl Frames {
    pub fn and(self, count: u64, message: &Message) -> Frames {
        let bits = count.saturating_mul(GAP + message.packet());
        Frames { count: self.count.saturating_add(count), bits: self.bits.saturating_add(bits) }
    }

    /// With all frames of `messages` that are released in a closed interval of `span`, at most.
    fn released<'a>(self, messages: impl IntoIterator<Item = &'a Message>, span: u64) -> Frames {
        messages.into_iter().fold(self, |sum, message| sum.and(message.released(span), message))
    }
}

/// The messages of a node as those of one priority see them.
pub(super) struct Level<'a> {
    pub analysis: &'a Analysis<'a>,
    number: usize,
    responses: &'a [Option<u64>],
    pub equal: Vec<(usize, &'a Message)>,
    /// Those above without a shaper.
    higher: Vec<&'a Message>,
    /// Those above with one, and the longest response of each. They may wait while others are sent.
    shaped_higher: Vec<(&'a Message, Option<u64>)>,
    /// The node has a shaper.
    has_shaper: bool,
    /// The longest message of a lower priority: the MAC may have a frame of it as the backlog begins. For a shaped class behind
    /// a higher one it may be a message of the class itself.
    lower: Option<&'a Message>,
}

impl Analysis<'_> {
    /// The bounds of a node with classes, without their access delay; none of a class whose backlog has no end.
    pub(super) fn by_class(&self, number: usize, responses: &[Option<u64>]) -> Vec<Option<Bound>> {
        let mut found = vec![None; self.table.messages.len()];
        for priority in (0..=7).rev() {
            let level = self.level(number, priority, responses);
            let slope = level.equal.first().and_then(|(_, message)| message.idle_slope);
            let bounds = match slope {
                Some(slope) => level.shaped_bounds(slope),
                None => level.bounds(),
            };
            let bounds = bounds.unwrap_or_default();
            bounds.into_iter().for_each(|(message, bound)| keep_longest(&mut found[message], bound));
        }
        found
    }

    fn level<'a>(&'a self, number: usize, priority: u8, responses: &'a [Option<u64>]) -> Level<'a> {
        let own = || self.messages[number].iter().map(|&at| (at, self.message(at)));
        let above = || own().filter(|(_, message)| message.priority > priority);
        let is_shaped = |message: &Message| message.idle_slope.is_some();
        let higher: Vec<&Message> = above().map(|(_, it)| it).filter(|it| !is_shaped(it)).collect();
        let is_lower = |message: &Message| {
            let is_equal = message.priority == priority && is_shaped(message);
            message.priority < priority || (is_equal && !higher.is_empty())
        };
        Level {
            analysis: self,
            number,
            responses,
            equal: own().filter(|(_, message)| message.priority == priority).collect(),
            lower: own().map(|(_, it)| it).filter(|it| is_lower(it)).max_by_key(|it| it.octets),
            shaped_higher: above().filter(|(_, it)| is_shaped(it)).map(|(at, it)| (it, responses[at])).collect(),
            has_shaper: own().any(|(_, message)| is_shaped(message)),
            higher,
        }
    }
}

impl Level<'_> {
    pub fn node(&self) -> &Node {
        &self.analysis.table.nodes[self.number]
    }

    /// The frame of a lower level that the MAC has as the backlog begins.
    pub fn blocker(&self) -> Frames {
        self.lower.map_or(Frames::default(), |message| Frames::default().and(1, message))
    }

    /// With a shaper, a backlog may begin while the line has a frame of the node with which its MAC is done.
    pub fn ahead(&self, all: Frames) -> Ahead {
        // A node with classes has no MAC-PHY, so each frame takes its host as long.
        let host = all.count * self.node().host_delay.most.get();
        Ahead { frames: all.count, host, is_behind: self.lower.is_some() || self.has_shaper }
    }

    /// These frames, and all from above that the MAC gets in `span`, at most; unknown while a response is. A frame of a
    /// shaped class that it gets was released no earlier than its longest response before.
    fn and_above(&self, frames: Frames, span: u64) -> Option<Frames> {
        let frames = frames.released(self.higher.iter().copied(), span);
        let mut shaped = self.shaped_higher.iter();
        shaped.try_fold(frames, |sum, (message, longest)| {
            Some(sum.released([*message], span.saturating_add((*longest)?)))
        })
    }

    /// The wait of the last one of these frames, a frame of `last`, up to its first bit.
    fn wait(&self, all: Frames, last: &Message) -> Option<Parts> {
        if all.count > LONGEST_BACKLOG {
            return None;
        }
        let queue = all.bits - GAP - last.packet() + (all.count - 1) * Analysis::later_gap(self.node());
        let parts = self.analysis.wait(self.number, self.ahead(all), queue, self.responses);
        (parts.response() < LONGEST_WAIT).then_some(parts)
    }

    /// The longest time in which the node has a frame of this level or above.
    fn backlog(&self) -> Option<u64> {
        let (_, last) = self.equal.first()?;
        let mut span = 0;
        loop {
            let equal = self.equal.iter().map(|(_, message)| *message);
            let all = self.and_above(self.blocker().released(equal, span), span)?;
            let end = self.wait(all, last)?.response() + last.packet() + DELIMITER;
            if end <= span {
                return Some(span);
            }
            span = end;
        }
    }

    /// The longest response of each message, if the backlog has an end. Frames from above come first if they are released
    /// before the MAC gets the frame in question.
    fn bounds(&self) -> Option<Vec<(usize, Bound)>> {
        let begin = Begin { own: self.equal.clone(), at: None };
        let mut releases = begin.releases(self.backlog()?).into_iter().peekable();
        let (mut before, mut bounds) = (self.blocker(), Vec::new());
        while let Some((at, message)) = releases.next() {
            before = before.and(1, self.analysis.message(message));
            if releases.peek().is_some_and(|(next, _)| *next == at) {
                continue;
            }
            for &(message, last) in &self.equal {
                let (all, parts) = self.handed(before, last)?;
                let parts = Parts { frame: parts.frame + last.packet() + DELIMITER, ..parts };
                let turns = Analysis::turns(self.node(), self.ahead(all));
                bounds.push((message, Bound { access: 0, turns, backlog: all.count, parts: since(parts, at) }));
            }
        }
        Some(bounds)
    }

    /// The frames up to one of `last`, where `before` are those of lower and equal priority, and how long they take.
    pub fn handed(&self, before: Frames, last: &Message) -> Option<(Frames, Parts)> {
        let mut span = 0;
        loop {
            let all = self.and_above(before, span)?;
            let parts = self.wait(all, last)?;
            if parts.response() <= span {
                return Some((all, parts));
            }
            span = parts.response();
        }
    }
}
