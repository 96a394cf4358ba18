//! Bounds of a node whose messages have priorities: strict priority without preemption.
//!
//! The proof is in docs/plan.md: the frames of a level and above, behind one frame from below.

use super::{
    Ahead, Analysis, Begin, Bound, DELIMITER, GAP, LONGEST_BACKLOG, LONGEST_WAIT, Parts, frame, keep_longest, since,
};
use sim::scenario::messages::{Message, Node};

/// A number of frames, and what they take with their gaps.
#[derive(Clone, Copy, Default)]
struct Frames {
    count: u64,
    bits: u64,
}

impl Frames {
    fn and(self, count: u64, message: &Message) -> Frames {
        let bits = count.saturating_mul(GAP + frame(message));
        Frames { count: self.count.saturating_add(count), bits: self.bits.saturating_add(bits) }
    }

    /// With all frames of `messages` that are released in a closed interval of `span`, at most.
    fn released<'a>(self, messages: impl IntoIterator<Item = &'a Message>, span: u64) -> Frames {
        messages.into_iter().fold(self, |sum, message| sum.and(message.released(span), message))
    }
}

/// The messages of a node as those of one priority see them.
struct Level<'a> {
    analysis: &'a Analysis<'a>,
    number: usize,
    responses: &'a [Option<u64>],
    equal: Vec<(usize, &'a Message)>,
    higher: Vec<&'a Message>,
    /// The longest message below, of which the MAC may have a frame as the backlog begins.
    lower: Option<&'a Message>,
}

impl Analysis<'_> {
    /// The bounds of a node with priorities, without their access delay; none of a level whose backlog has no end.
    pub(super) fn by_priority(&self, number: usize, responses: &[Option<u64>]) -> Vec<Option<Bound>> {
        let mut found = vec![None; self.table.messages.len()];
        for priority in 0..=7 {
            let own = || self.messages[number].iter().map(|&at| (at, self.message(at)));
            let level = Level {
                analysis: self,
                number,
                responses,
                equal: own().filter(|(_, message)| message.priority == priority).collect(),
                higher: own().map(|(_, message)| message).filter(|message| message.priority > priority).collect(),
                lower: own()
                    .map(|(_, message)| message)
                    .filter(|message| message.priority < priority)
                    .max_by_key(|message| message.octets),
            };
            let bounds = level.bounds().unwrap_or_default();
            bounds.into_iter().for_each(|(message, bound)| keep_longest(&mut found[message], bound));
        }
        found
    }
}

impl Level<'_> {
    fn node(&self) -> &Node {
        &self.analysis.table.nodes[self.number]
    }

    /// The frame of a lower level that the MAC has as the backlog begins.
    fn blocker(&self) -> Frames {
        self.lower.map_or(Frames::default(), |message| Frames::default().and(1, message))
    }

    fn ahead(&self, all: Frames) -> Ahead {
        Ahead { frames: all.count, is_behind: self.lower.is_some() }
    }

    /// The wait of the last one of these frames, a frame of `last`, up to its first bit.
    fn wait(&self, all: Frames, last: &Message) -> Option<Parts> {
        if all.count > LONGEST_BACKLOG {
            return None;
        }
        let queue = all.bits - GAP - frame(last) + (all.count - 1) * Analysis::later_gap(self.node());
        let parts = self.analysis.wait(self.number, self.ahead(all), queue, self.responses);
        (parts.response() < LONGEST_WAIT).then_some(parts)
    }

    /// The longest time in which the node has a frame of this level or above.
    fn backlog(&self) -> Option<u64> {
        let (_, last) = self.equal.first()?;
        let mut span = 0;
        loop {
            let equal = self.equal.iter().map(|(_, message)| *message);
            let all = self.blocker().released(equal, span).released(self.higher.iter().copied(), span);
            let end = self.wait(all, last)?.response() + frame(last) + DELIMITER;
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
                let parts = Parts { frame: parts.frame + frame(last) + DELIMITER, ..parts };
                let turns = Analysis::turns(self.node(), self.ahead(all));
                bounds.push((message, Bound { access: 0, turns, backlog: all.count, parts: since(parts, at) }));
            }
        }
        Some(bounds)
    }

    /// The frames up to one of `last`, where `before` are those of lower and equal priority, and how long they take.
    fn handed(&self, before: Frames, last: &Message) -> Option<(Frames, Parts)> {
        let mut span = 0;
        loop {
            let all = before.released(self.higher.iter().copied(), span);
            let parts = self.wait(all, last)?;
            if parts.response() <= span {
                return Some((all, parts));
            }
            span = parts.response();
        }
    }
}
