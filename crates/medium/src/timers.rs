//! Timers by number, and which of them ends first; of those that end together, the lowest number.
//!
//! Those that end soon and in order as they were set (jams and gaps, and apart from them the ends of attempts) stand in
//! queues; the others (backoff) in a tournament, so that setting one costs a walk towards its root.
//!
//! ```text
//!                 1: the first of all           ties go to the lower number,
//!            2           3                      as the written order of ties wants it
//!          4   5       6   7
//!         s0 s1 s2 s3 s4 s5 s6 s7
//! ```
//! Setting a timer again leaves its old place in a queue behind; it is passed over when its time comes.

use crate::time::BitInstant;
use std::collections::VecDeque;

/// No instant: what has this one is not due at all.
pub(crate) const NEVER: BitInstant = BitInstant::new(u64::MAX);

/// When a timer ends, and below it its number: compared as one, so that ties go to the lower number.
pub(crate) type Key = u128;

/// No timer: later than any.
pub(crate) const NONE: Key = key(NEVER, u16::MAX);

/// The timer with number `index` that ends at `at`.
#[inline(always)]
pub(crate) const fn key(at: BitInstant, index: u16) -> Key {
    (at.get() as Key) << 16 | index as Key
}

/// Which timer it is.
#[inline(always)]
pub(crate) const fn number(key: Key) -> u16 {
    key as u16
}

/// When it ends.
#[inline(always)]
pub(crate) const fn instant(key: Key) -> BitInstant {
    BitInstant::new((key >> 16) as u64)
}

#[derive(Debug)]
pub(crate) struct Timers {
    /// When each timer ends; `NEVER` if it is not set.
    ends: Vec<BitInstant>,
    soon: Queue,
    sending: Queue,
    later: Tournament,
    /// The first of the tournament.
    first_later: Key,
    /// The first of all.
    next: Key,
}

impl Timers {
    /// `timers` timers, none of them set.
    pub fn new(timers: usize) -> Timers {
        Timers {
            ends: vec![NEVER; timers],
            soon: Queue::new(),
            sending: Queue::new(),
            later: Tournament::with_leaves(2),
            first_later: NONE,
            next: NONE,
        }
    }

    /// The timer that ends first.
    #[inline(always)]
    pub fn first(&self) -> Key {
        self.next
    }

    /// When the first timer ends; `NEVER` if there is none.
    #[inline(always)]
    pub fn next(&self) -> BitInstant {
        instant(self.next)
    }

    /// Takes out the timer that ends first, and gives its number.
    #[inline(always)]
    pub fn take(&mut self) -> usize {
        let index = number(self.next);
        self.ends[usize::from(index)] = NEVER;
        if self.soon.first == self.next {
            self.soon.look(&self.ends);
        }
        if self.sending.first == self.next {
            self.sending.look(&self.ends);
        }
        if self.first_later == self.next {
            self.later.set(index.into(), NEVER);
            self.first_later = self.later.first();
        }
        self.look();
        index.into()
    }

    /// Sets a timer that ends soon, and hardly before others set so far: the end of a jam, or of a gap.
    #[inline]
    pub fn set_soon(&mut self, index: usize, at: BitInstant) {
        self.unset(index);
        self.ends[index] = at;
        self.soon.insert(key(at, index as u16));
        self.look();
    }

    /// Sets a timer for the end of an attempt.
    #[inline]
    pub fn set_sending(&mut self, index: usize, at: BitInstant) {
        self.unset(index);
        self.ends[index] = at;
        self.sending.insert(key(at, index as u16));
        self.look();
    }

    /// Sets a timer that ends whenever.
    #[inline]
    pub fn set(&mut self, index: usize, at: BitInstant) {
        self.unset(index);
        self.ends[index] = at;
        self.later.set(index, at);
        self.first_later = self.later.first();
        self.look();
    }

    #[inline]
    pub fn stop(&mut self, index: usize) {
        self.unset(index);
        self.look();
    }

    /// Whatever timer `index` was set to holds no longer.
    #[inline(always)]
    fn unset(&mut self, index: usize) {
        if self.ends[index] != NEVER {
            self.ends[index] = NEVER;
            self.forget(index as u16);
        }
    }

    fn forget(&mut self, index: u16) {
        if self.later.is_set(index.into()) {
            self.later.set(index.into(), NEVER);
            self.first_later = self.later.first();
        }
        if number(self.soon.first) == index {
            self.soon.look(&self.ends);
        }
        if number(self.sending.first) == index {
            self.sending.look(&self.ends);
        }
    }

    #[inline(always)]
    fn look(&mut self) {
        self.next = self.first_later.min(self.soon.first).min(self.sending.first);
    }
}

/// Timers in order of their ends; behind the first, some may have been set anew since.
#[derive(Debug)]
struct Queue {
    first: Key,
    others: VecDeque<Key>,
}

impl Queue {
    fn new() -> Queue {
        Queue { first: NONE, others: VecDeque::new() }
    }

    #[inline]
    fn insert(&mut self, timer: Key) {
        if timer < self.first {
            let second = std::mem::replace(&mut self.first, timer);
            if second != NONE {
                self.others.push_front(second);
            }
            return;
        }
        let in_order = self.others.back().is_none_or(|&last| last <= timer);
        self.others.push_back(timer);
        if !in_order {
            self.sift();
        }
    }

    /// Moves the last to its place.
    fn sift(&mut self) {
        let mut place = self.others.len() - 1;
        while place > 0 && self.others[place - 1] > self.others[place] {
            self.others.swap(place - 1, place);
            place -= 1;
        }
    }

    /// The first is over: finds the next that still ends when it says.
    #[inline]
    fn look(&mut self, ends: &[BitInstant]) {
        self.first = NONE;
        while let Some(timer) = self.others.pop_front() {
            if ends[usize::from(number(timer))] == instant(timer) {
                self.first = timer;
                return;
            }
        }
    }
}

/// It has as many leaves as the highest number that ever was set needs: timers that were never set cost nothing.
#[derive(Debug)]
struct Tournament {
    /// When each timer ends; as many as there are leaves.
    ends: Box<[BitInstant]>,
    /// Who ends first below each node; the leaves come after the inner nodes, node 0 is not used.
    first: Box<[u16]>,
}

impl Tournament {
    /// Nobody has a timer yet, so of each pair the lower number is first: the leftmost leaf below a node.
    fn with_leaves(leaves: usize) -> Tournament {
        let leftmost = |node: usize| (node << (leaves.ilog2() - node.max(1).ilog2())) - leaves;
        Tournament {
            ends: vec![NEVER; leaves].into(),
            first: (0..2 * leaves).map(|node| if node == 0 { 0 } else { leftmost(node) as u16 }).collect(),
        }
    }

    /// Makes room for timer number `index`.
    #[cold]
    fn grow(&mut self, index: usize) {
        let smaller = std::mem::replace(self, Tournament::with_leaves((index + 1).next_power_of_two()));
        for (number, &at) in smaller.ends.iter().enumerate().filter(|(_, at)| **at != NEVER) {
            self.set(number, at);
        }
    }

    #[inline]
    fn first(&self) -> Key {
        let first = self.first[1];
        key(self.ends[usize::from(first)], first)
    }

    #[inline]
    fn is_set(&self, index: usize) -> bool {
        self.ends.get(index).is_some_and(|&end| end != NEVER)
    }

    fn set(&mut self, index: usize, at: BitInstant) {
        if index >= self.ends.len() {
            self.grow(index);
        }
        self.ends[index] = at;
        let mut node = (self.ends.len() + index) / 2;
        while node > 0 {
            let (left, right) = (self.first[2 * node], self.first[2 * node + 1]);
            let right_first = self.ends[usize::from(right)] < self.ends[usize::from(left)];
            let first = if right_first { right } else { left };
            // Somebody else was and is first here: nothing changes further up.
            if first == self.first[node] && usize::from(first) != index {
                return;
            }
            self.first[node] = first;
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backoff::Generator;

    #[test]
    fn the_first_is_the_earliest_and_of_those_the_lowest_number() {
        for count in [1, 2, 3, 7, 50, 1024] {
            let mut timers = Timers::new(count);
            let mut plain = vec![None; count];
            let mut generator = Generator::stream(1, count as u64);
            for _ in 0..5_000 {
                let number = (generator.next_u64() % count as u64) as usize;
                let at = BitInstant::new(generator.next_u64() % 40);
                plain[number] = Some(at);
                match generator.next_u64() % 6 {
                    0 => timers.set(number, at),
                    1 | 2 => timers.set_soon(number, at),
                    3 => timers.set_sending(number, at),
                    4 => {
                        plain[number] = None;
                        timers.stop(number);
                    }
                    _ if timers.next() == NEVER => plain[number] = None,
                    _ => {
                        plain[number] = plain[number].filter(|_| false);
                        timers.stop(number);
                        if timers.next() != NEVER {
                            plain[timers.take()] = None;
                        }
                    }
                }
                let numbered = plain.iter().zip(0_u16..).filter_map(|(at, number)| at.map(|at| key(at, number)));
                let first = (timers.next() != NEVER).then_some(timers.next);
                assert_eq!(first, numbered.min(), "{count} timers, seed 1");
            }
        }
    }
}
