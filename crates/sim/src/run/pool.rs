//! Independent pieces of work on all cores: sweeps, replications and validations share it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const NO_PANIC: &str = "no thread panics: a panic ends the process";

/// How many pieces are worth doing at a time: one for each processor.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many that `--jobs` asks for; unless it is said, one for each processor.
pub fn threads(jobs: Option<u16>) -> usize {
    jobs.map_or_else(processors, usize::from)
}

/// Tells pieces under way that another one failed, or wanted no more to begin.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Whether a piece may end early, because its result will not be used.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `work` for every number below `count`, `threads` at a time, and gives what came of them in order of number.
///
/// Numbers are handed out in order. `work` that gives `None` was stopped; then, as after an error, no further number is
/// handed out, and what the others gave is kept.
///
/// # Errors
/// That of the failed piece with the lowest number.
pub fn run<T: Send, E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize, &Stop) -> Result<Option<T>, E> + Sync,
) -> Result<Vec<(usize, T)>, E> {
    let (next, stop) = (AtomicUsize::new(0), Stop::default());
    let (done, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let pieces = || {
        while !stop.is_set() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            match work(number, &stop) {
                Ok(Some(value)) => done.lock().expect(NO_PANIC).push((number, value)),
                Ok(None) => stop.set(),
                Err(error) => {
                    stop.set();
                    failed.lock().expect(NO_PANIC).push((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| (0..threads.min(count)).for_each(|_| drop(scope.spawn(pieces))));
    let first = failed.into_inner().expect(NO_PANIC).into_iter().min_by_key(|(number, _)| *number);
    if let Some((_, error)) = first {
        return Err(error);
    }
    let mut done = done.into_inner().expect(NO_PANIC);
    done.sort_by_key(|(number, _)| *number);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_of_the_pieces_is_in_order_of_their_numbers() {
        for threads in [1, 2, 7, 100] {
            let squares = run::<_, ()>(50, threads, |number, _| Ok(Some(number * number))).expect("nothing fails");
            assert_eq!(squares, (0..50).map(|number| (number, number * number)).collect::<Vec<_>>());
        }
        assert_eq!(run::<(), ()>(0, 3, |_, _| Ok(Some(()))), Ok(Vec::new()));
    }

    /// With one thread the pieces after the failed one never begin.
    #[test]
    fn an_error_ends_the_work_and_an_early_end_keeps_what_was_done() {
        let begun = AtomicUsize::new(0);
        let count = |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            number
        };
        let failed = run(9, 1, |number, _| if count(number) == 3 { Err("three") } else { Ok(Some(())) });
        assert_eq!((failed, begun.load(Ordering::Relaxed)), (Err("three"), 4));
        let stopped = run::<_, ()>(9, 1, |number, _| Ok((number < 2).then_some(number)));
        assert_eq!(stopped, Ok(vec![(0, 0), (1, 1)]));
    }

    /// A piece under way learns of an error, and of two errors the one with the lower number is reported.
    #[test]
    fn pieces_under_way_learn_that_another_one_failed() {
        let waits = |number: usize, stop: &Stop| -> Result<Option<()>, usize> {
            while number == 0 && !stop.is_set() {
                std::thread::yield_now();
            }
            Err(number)
        };
        assert_eq!(run(2, 2, waits), Err(0));
    }
}
