//! The coordinator's place in the scheduler: ahead of everything ordinary as long as it is asleep most of the time.
//!
//! An ordinary thread that wakes up, however low its nice value, may have to wait until the next tick of the clock takes the
//! processor from the program that has it: up to 4 ms. One under SCHED_FIFO does not. But one under SCHED_FIFO that is busy all
//! the time is stalled by the kernel for 50 ms in each second, so that ordinary programs get on. So: SCHED_FIFO while there is
//! room for others, and the nice value when there is not.
//!
//! The data plane has no right to take SCHED_FIFO: the supervisor gives it when asked. To leave it takes no right.

use link::clock::{has_fifo, leave_fifo};

/// Busier than this part of the time between two looks, the thread does without SCHED_FIFO at once.
const BUSY: f64 = 0.85;
/// Less busy than this for a while, it may have it again.
const CALM: f64 = 0.7;
/// For how many looks. This number of looks after the request, SCHED_FIFO is there or never will be.
const WHILE: u32 = 4;
const PATIENCE: u32 = 40;

/// See the module.
#[derive(Debug)]
pub struct Precedence {
    /// What results call it when it is not SCHED_FIFO.
    ordinary: String,
    possible: bool,
    fifo: bool,
    left: bool,
    /// Looks since the request for SCHED_FIFO.
    asked: Option<u32>,
    /// Nanoseconds asleep since the last look.
    slept: u64,
    last_look: u64,
    /// For how many looks the thread has been calm.
    calm: u32,
}

/// What comes of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To be under SCHED_FIFO.
    Fifo,
    /// To be ordinary again.
    Ordinary,
}

impl Precedence {
    /// A thread that is ordinary at `now`, and may get SCHED_FIFO if that is `possible`.
    pub fn new(ordinary: String, possible: bool, now: u64) -> Precedence {
        Precedence { ordinary, possible, fifo: false, left: false, asked: None, slept: 0, last_look: now, calm: 0 }
    }

    /// Whether SCHED_FIFO is to be asked for as the medium begins, at `now`: nothing tells yet that the thread would be too
    /// busy for it.
    pub fn begin(&mut self, now: u64) -> bool {
        (self.slept, self.last_look) = (0, now);
        self.asked = self.possible.then_some(0);
        self.possible
    }

    /// What results call its place.
    pub fn name(&self) -> String {
        if self.fifo { "SCHED_FIFO".to_owned() } else { self.ordinary.clone() }
    }

    /// Whether it has left SCHED_FIFO since this was asked last.
    pub fn has_left(&mut self) -> bool {
        std::mem::take(&mut self.left)
    }

    /// The thread has been asleep for this number of nanoseconds.
    pub fn slept(&mut self, nanos: u64) {
        self.slept += nanos;
    }

    /// Looks how busy the thread has been since the last look; whether SCHED_FIFO is to be asked for.
    pub fn look(&mut self, now: u64) -> bool {
        self.fifo = self.fifo || self.asked.is_some() && has_fifo();
        match self.wish(now) {
            Some(Wish::Fifo) => {
                self.asked = Some(0);
                true
            }
            Some(Wish::Ordinary) => {
                // If the kernel refuses, which it never does, the thread stays ahead of others.
                self.fifo = leave_fifo().is_err();
                self.left = true;
                false
            }
            None => false,
        }
    }

    fn wish(&mut self, now: u64) -> Option<Wish> {
        let span = now.saturating_sub(self.last_look).max(1);
        let busy = 1.0 - self.slept as f64 / span as f64;
        (self.slept, self.last_look) = (0, now);
        self.calm = if busy < CALM { self.calm + 1 } else { 0 };
        if self.fifo {
            self.asked = None;
            return (busy >= BUSY).then_some(Wish::Ordinary);
        }
        self.asked = self.asked.map(|looks| looks + 1);
        self.possible &= self.asked.is_none_or(|looks| looks < PATIENCE);
        (self.possible && self.asked.is_none() && self.calm >= WHILE).then_some(Wish::Fifo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wished after each of some looks, one a second, of a thread that was busy for such parts of the time; what
    /// it asks for it gets.
    fn wishes(precedence: &mut Precedence, busy: &[f64]) -> Vec<Option<Wish>> {
        let look = |busy: &f64| {
            precedence.slept(((1.0 - busy) * 1e9) as u64);
            let wish = precedence.wish(precedence.last_look + 1_000_000_000);
            precedence.fifo = wish.map_or(precedence.fifo, |wish| wish == Wish::Fifo);
            wish
        };
        busy.iter().map(look).collect()
    }

    fn ordinary() -> Precedence {
        Precedence::new("nice -20".to_owned(), true, 0)
    }

    #[test]
    fn a_thread_that_sleeps_most_of_the_time_gets_ahead_after_a_while() {
        assert_eq!(wishes(&mut ordinary(), &[0.1, 0.2, 0.4, 0.3, 0.6]), [None, None, None, Some(Wish::Fifo), None]);
        assert_eq!(wishes(&mut ordinary(), &[0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.1])[5..], [None, Some(Wish::Fifo)]);
    }

    #[test]
    fn a_thread_that_gets_busy_is_ordinary_at_once() {
        let wishes = wishes(&mut ordinary(), &[0.1, 0.1, 0.1, 0.1, 0.9, 0.8, 0.8]);
        assert_eq!(wishes[3..], [Some(Wish::Fifo), Some(Wish::Ordinary), None, None]);
    }

    #[test]
    fn what_is_not_given_is_not_asked_for_again() {
        let mut precedence = ordinary();
        let asked = (1..1_000_u64).filter(|second| {
            precedence.slept(1_000_000_000);
            precedence.look(second * 1_000_000_000)
        });
        assert_eq!(asked.count(), 1, "this test's thread is no data plane's");
        assert_eq!(precedence.name(), "nice -20");
    }
}
