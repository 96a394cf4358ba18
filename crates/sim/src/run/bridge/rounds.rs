//! Threads that do rounds of short pieces of work, thousands of rounds a second.
//!
//! A round ends when its pieces are done, not when all threads have come: a thread that the machine has taken off its
//! processor is waited for only if it has a piece in hand.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Looks for the next round before a thread lets another one run.
const LOOKS: u32 = 200;
/// The round after the last.
const OVER: u64 = u64::MAX;

/// See the module. Rounds are numbered from 1.
#[derive(Debug)]
pub(super) struct Rounds {
    now: AtomicU64,
    /// By piece: the last round in which a thread took it.
    taken: Vec<AtomicU64>,
    /// Pieces of this round that are done.
    done: AtomicUsize,
    /// A thread has panicked, and what it had in hand will not be done.
    broken: AtomicBool,
}

impl Rounds {
    /// Rounds of `pieces` pieces, at least 1.
    pub fn of(pieces: usize) -> Rounds {
        let taken = (0..pieces).map(|_| AtomicU64::new(0)).collect();
        Rounds { now: AtomicU64::new(1), taken, done: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Does rounds on `threads` threads: `work` for each piece, and when all are done, `meet`, which says whether another
    /// round comes. All threads see what was done before.
    ///
    /// # Panics
    /// If `work` or `meet` does.
    pub fn run(&self, threads: usize, work: impl Fn(usize) + Sync, meet: impl Fn() -> bool + Sync) {
        let one = |thread: usize| self.work(thread, threads, &work, &meet);
        std::thread::scope(|scope| {
            (1..threads).for_each(|thread| drop(scope.spawn(move || one(thread))));
            one(0);
        });
    }

    fn work(&self, thread: usize, threads: usize, work: &impl Fn(usize), meet: &impl Fn() -> bool) {
        let _watch = Watch(self);
        let pieces = self.taken.len();
        let is_own = |piece: &usize| piece % threads == thread;
        // What a thread worked on last is in the memory of its processor.
        let own = (0..pieces).filter(is_own);
        let order: Vec<usize> = own.chain((0..pieces).rev().filter(|piece| !is_own(piece))).collect();
        loop {
            let round = self.now.load(Ordering::Acquire);
            if round == OVER {
                return;
            }
            for &piece in order.iter().filter(|piece| self.takes(**piece, round)) {
                work(piece);
                if self.done.fetch_add(1, Ordering::AcqRel) + 1 == pieces {
                    self.done.store(0, Ordering::Relaxed);
                    let next = if meet() { round + 1 } else { OVER };
                    self.now.store(next, Ordering::Release);
                }
            }
            self.wait_for_the_round_after(round);
        }
    }

    /// Takes a piece of the round, unless another thread has, or the round is over.
    fn takes(&self, piece: usize, round: u64) -> bool {
        let taken = &self.taken[piece];
        taken.load(Ordering::Relaxed) == round - 1
            && taken.compare_exchange(round - 1, round, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn wait_for_the_round_after(&self, round: u64) {
        let mut looks = 0_u32;
        while self.now.load(Ordering::Acquire) == round {
            assert!(!self.broken.load(Ordering::Relaxed), "another thread has panicked");
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(LOOKS) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    }
}

/// If its thread panics, those that wait for it do as well.
struct Watch<'a>(&'a Rounds);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Each piece is done once in each round, whatever the threads, and what is done in a round is seen in the next.
    #[test]
    fn each_piece_is_done_once_a_round() {
        for (threads, pieces) in [(1, 1), (1, 5), (2, 5), (4, 3), (7, 16)] {
            let (done, rounds) = (Mutex::new(vec![0_u64; pieces]), AtomicU64::new(0));
            let meet = || {
                let round = rounds.fetch_add(1, Ordering::Relaxed) + 1;
                assert!(done.lock().expect("no panic").iter().all(|count| *count == round), "{threads}, {pieces}");
                round < 500
            };
            Rounds::of(pieces).run(threads, |piece| done.lock().expect("no panic")[piece] += 1, meet);
            assert_eq!(rounds.into_inner(), 500);
        }
    }

    #[test]
    fn a_panic_ends_all_threads() {
        let run = || Rounds::of(4).run(2, |piece| assert!(piece != 3, "the third"), || true);
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
