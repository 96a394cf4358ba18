//! What clients do next, by instant, on the slot schedule of libbackoff.
//!
//! Steps of one instant come in the order in which they were decided. The schedule keeps the order of insertion within a
//! slot, and here the steps of the slot that has been reached are put in order of time.

use backoff::{Due, Schedule};
use std::collections::VecDeque;

/// A slot of the schedule is 2^BITS ns: 65.5 us. A step's instant within its slot fits 16 bits.
const BITS: u32 = 16;

/// What an operation does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It begins.
    Begin,
    /// It asks, for the first time or again.
    Ask,
    /// Its client has waited for the answer long enough.
    TimesOut,
}

/// 8 octets: the slot has the rest of the instant.
#[derive(Clone, Copy, Debug)]
struct Entry {
    operation: u32,
    within: u16,
    step: Step,
}

/// Steps by instant.
#[derive(Debug)]
pub(super) struct Calendar {
    schedule: Schedule<Entry>,
    due: Due<Entry>,
    /// The steps that are left of the slot that has been reached, in the order of time.
    current: VecDeque<Entry>,
    slot: u64,
    end: u64,
}

impl Calendar {
    /// An empty one at instant 0. Steps after `end` are not kept: no run gets there.
    pub fn until(end: u64) -> Calendar {
        let (schedule, due) = (Schedule::starting_at(0), Due::new());
        Calendar { schedule, due, current: VecDeque::new(), slot: 0, end }
    }

    /// Enters a step at `at`, in nanoseconds, not before what was last taken.
    pub fn enter(&mut self, at: u64, operation: u32, step: Step) {
        if at > self.end {
            return;
        }
        let entry = Entry { operation, within: at as u16, step };
        let slot = at >> BITS;
        if slot > self.slot {
            self.schedule.insert(slot, entry);
            return;
        }
        // Behind those of the same instant.
        let place = self.current.partition_point(|other| other.within <= entry.within);
        self.current.insert(place, entry);
    }

    /// When the next step comes, if it does so by `limit`.
    pub fn next_by(&mut self, limit: u64) -> Option<u64> {
        if self.current.is_empty() && limit >> BITS > self.slot {
            self.slot = match self.schedule.take_next(limit >> BITS, &mut self.due) {
                Some(slot) => {
                    self.current.extend(self.due.values());
                    self.current.make_contiguous().sort_by_key(|entry| entry.within);
                    slot
                }
                None => limit >> BITS,
            };
        }
        let at = (self.slot << BITS) | u64::from(self.current.front()?.within);
        (at <= limit).then_some(at)
    }

    /// Takes the step that [`next_by`](Self::next_by) has found.
    pub fn take(&mut self) -> Option<(u32, Step)> {
        self.current.pop_front().map(|entry| (entry.operation, entry.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backoff::Generator;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// A heap of instants and numbers of insertion is the reference, with insertions between the steps.
    #[test]
    fn steps_come_as_from_a_heap() {
        for seed in 1..=20 {
            let mut generator = Generator::new(seed);
            let (mut calendar, mut heap) = (Calendar::until(1 << 40), BinaryHeap::new());
            let (mut now, mut number) = (0, 0);
            for _ in 0..5_000 {
                let word = generator.next_u64();
                if word % 5 < 3 {
                    let at = now + (word >> 8) % (1 << (8 + word % 28));
                    calendar.enter(at, number, Step::Ask);
                    heap.push(Reverse((at, number)));
                    number += 1;
                } else {
                    let limit = now + (word >> 8) % (1 << 22);
                    let expected = heap.peek().map(|Reverse((at, _))| *at).filter(|at| *at <= limit);
                    assert_eq!(calendar.next_by(limit), expected, "seed {seed}");
                    now = expected.unwrap_or(limit);
                    if expected.is_some() {
                        let taken = calendar.take().map(|(number, _)| number);
                        assert_eq!(taken, heap.pop().map(|Reverse((_, number))| number), "seed {seed}");
                    }
                }
            }
        }
    }
}
