//! Bounds of a class with a credit-based shaper (802.1Q, 8.6.8.2).
//!
//! The proof is in docs/plan.md: some frames of the backlog are sent while credit comes back, and the rest of it waits as a
//! level of strict priority does. It must never know how credit is counted in a simulation.

use super::priority::{Frames, Level};
use super::{Analysis, Begin, Bound, DELIMITER, LONGEST_BACKLOG, LONGEST_WAIT, Parts, since};
use sim::scenario::messages::{Message, RATE};
use std::collections::BTreeMap;

/// Numbers of frames that are compared one by one; more are taken together, to the safe side.
const STEPS: usize = 8;

/// The frames of a class in a backlog.
struct Backlog {
    /// What each takes of the line.
    packets: Vec<u64>,
    slope: u64,
    longest: u64,
}

impl Backlog {
    /// When the class may send again after the frames that take `sent`: credit was that after its longest frame.
    fn credit_is_back(&self, sent: u64) -> u64 {
        let rate = u128::from(RATE.get());
        let owed = u128::from(sent) * rate + u128::from(self.longest) * (rate - u128::from(self.slope));
        owed.div_ceil(self.slope.into()).try_into().unwrap_or(u64::MAX)
    }
}

impl Level<'_> {
    /// The longest response of each message of a class with this slope, if its backlog has an end.
    pub fn shaped_bounds(&self, slope: u64) -> Option<Vec<(usize, Bound)>> {
        let begin = Begin { own: self.equal.clone(), at: None };
        let longest = self.equal.iter().map(|(_, message)| message.packet()).max()?;
        if self.offered() > u128::from(slope) {
            return None;
        }
        let (mut span, mut done, mut bounds) = (0, 0, Vec::new());
        let mut backlog = Backlog { packets: Vec::new(), slope, longest };
        loop {
            let releases = begin.releases(span);
            let mut end = 0;
            while let Some(&(at, _)) = releases.get(done) {
                let group = releases[done..].iter().take_while(|(other, _)| *other == at);
                backlog.packets.extend(group.map(|(_, message)| self.analysis.message(*message).packet()));
                done = backlog.packets.len();
                backlog.packets.sort_unstable_by(|one, other| other.cmp(one));
                let mut known: BTreeMap<u64, Bound> = BTreeMap::new();
                for &(message, last) in &self.equal {
                    let bound = match known.get(&last.packet()) {
                        Some(bound) => *bound,
                        None => self.last_of(&backlog, last)?,
                    };
                    known.insert(last.packet(), bound);
                    end = end.max(bound.parts.response());
                    bounds.push((message, Bound { parts: since(bound.parts, at), ..bound }));
                }
            }
            // What is released by the end of the last frame belongs to the same backlog.
            if end <= span {
                return Some(bounds);
            }
            span = end;
        }
    }

    /// What the class offers, in bit/s, rounded down for each message.
    fn offered(&self) -> u128 {
        let rate = |message: &Message| {
            u128::from(message.packet()) * u128::from(message.burst) * u128::from(RATE.get())
                / u128::from(message.period)
        };
        self.equal.iter().map(|(_, message)| rate(message)).sum()
    }

    /// The bound of a frame of `last` that is the last one of a backlog, from the begin of that on.
    fn last_of(&self, backlog: &Backlog, last: &Message) -> Option<Bound> {
        let count = backlog.packets.len();
        if count as u64 > LONGEST_BACKLOG {
            return None;
        }
        let own = backlog.packets.iter().position(|packet| *packet == last.packet())?;
        let before = backlog.packets.iter().enumerate().filter(|(place, _)| *place != own).map(|(_, packet)| packet);
        let sums: Vec<u64> = std::iter::once(0)
            .chain(before.scan(0, |sum, packet| {
                *sum += packet;
                Some(*sum)
            }))
            .collect();
        let mut longest: Option<Bound> = None;
        for fewest in (0..count).step_by(count.div_ceil(STEPS)) {
            let most = (fewest + count.div_ceil(STEPS)).min(count) - 1;
            let shaper = backlog.credit_is_back(sums[most]);
            let rest = count - 1 - fewest;
            let blocker = self.blocker();
            let rest = Frames {
                count: blocker.count + rest as u64,
                bits: blocker.bits + sums[rest] + rest as u64 * super::GAP,
            };
            let (all, parts) = self.handed(rest.and(1, last), last)?;
            let parts = Parts { shaper, frame: parts.frame + last.packet() + DELIMITER, ..parts };
            if parts.response() >= LONGEST_WAIT {
                return None;
            }
            if longest.is_none_or(|bound| bound.parts.response() < parts.response()) {
                let turns = Analysis::turns(self.node(), self.ahead(all));
                longest = Some(Bound { access: 0, turns, backlog: all.count + most as u64, parts });
            }
        }
        longest
    }
}
