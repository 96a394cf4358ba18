//! The rows of the schedule in Rust, and of its peers: the same jobs as in `table_schedule.h`, and the same for each. Rows are
//! `NAME|JOB, N pending, delays below 2^B`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use backoff::{Due, Generator, Schedule, Ticket};
use hierarchical_hash_wheel_timer::IdOnlyTimerEntry;
use hierarchical_hash_wheel_timer::wheels::Skip;
use hierarchical_hash_wheel_timer::wheels::cancellable::QuadWheelWithOverflow;
use tokio_util::time::{DelayQueue, delay_queue::Key};

const OPERATIONS: u64 = 4096;
/// How many timers are set and cancelled in turn.
const TIMERS: usize = 64;

/// Counts the octets that are allocated.
struct Counting;

static OCTETS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it hands everything to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        OCTETS.fetch_add(layout.size(), Relaxed);
        // SAFETY: by the caller's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        OCTETS.fetch_sub(layout.size(), Relaxed);
        // SAFETY: by the caller's contract, which is the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Timers that wait some ticks.
trait Timers {
    type Key: Clone;
    fn set(&mut self, delay: u64) -> Self::Key;
    fn cancel(&mut self, key: &Self::Key);
    fn reschedule(&mut self, key: &Self::Key, delay: u64) -> Self::Key;
    /// Lets the next timers expire, and sets each again; gives how many.
    fn turn(&mut self, delay: impl FnMut() -> u64) -> u64;
}

struct Ours {
    schedule: Schedule<u64>,
    due: Due<u64>,
}

impl Timers for Ours {
    type Key = Ticket;

    fn set(&mut self, delay: u64) -> Ticket {
        self.schedule.insert(self.schedule.now() + delay, delay)
    }

    fn cancel(&mut self, ticket: &Ticket) {
        self.schedule.cancel(*ticket);
    }

    fn reschedule(&mut self, ticket: &Ticket, delay: u64) -> Ticket {
        self.schedule.reschedule(*ticket, self.schedule.now() + delay).unwrap_or_default()
    }

    #[inline]
    fn turn(&mut self, mut delay: impl FnMut() -> u64) -> u64 {
        let mut turned = 0;
        while turned < OPERATIONS {
            let Some(slot) = self.schedule.take_next(u64::MAX, &mut self.due) else { break };
            for value in self.due.values() {
                self.schedule.insert(slot + delay(), value);
                turned += 1;
            }
        }
        turned
    }
}

struct HashWheel {
    wheel: QuadWheelWithOverflow<IdOnlyTimerEntry<u64>>,
    ids: u64,
}

impl HashWheel {
    fn insert(&mut self, id: u64, delay: u64) {
        let entry = IdOnlyTimerEntry { id, delay: Duration::from_millis(delay) };
        assert!(self.wheel.insert(entry).is_ok(), "the id is new");
    }
}

impl Timers for HashWheel {
    type Key = u64;

    fn set(&mut self, delay: u64) -> u64 {
        self.ids += 1;
        self.insert(self.ids, delay);
        self.ids
    }

    fn cancel(&mut self, id: &u64) {
        _ = self.wheel.cancel(id);
    }

    fn reschedule(&mut self, id: &u64, delay: u64) -> u64 {
        self.cancel(id);
        self.set(delay)
    }

    fn turn(&mut self, mut delay: impl FnMut() -> u64) -> u64 {
        let mut turned = 0;
        while turned < OPERATIONS {
            if let Skip::Millis(ticks) = self.wheel.can_skip() {
                self.wheel.skip(ticks);
            }
            for entry in self.wheel.tick() {
                self.insert(entry.id, delay());
                turned += 1;
            }
        }
        turned
    }
}

/// Its clock is tokio's, which is paused: a turn moves it on, by ticks enough for 64 values.
struct Tokio {
    runtime: tokio::runtime::Runtime,
    queue: DelayQueue<u64>,
    ticks: u64,
}

impl Timers for Tokio {
    type Key = Key;

    fn set(&mut self, delay: u64) -> Key {
        let _inside = self.runtime.enter();
        self.queue.insert(delay, Duration::from_millis(delay))
    }

    fn cancel(&mut self, key: &Key) {
        self.queue.try_remove(key);
    }

    fn reschedule(&mut self, key: &Key, delay: u64) -> Key {
        let _inside = self.runtime.enter();
        self.queue.reset(key, Duration::from_millis(delay));
        *key
    }

    fn turn(&mut self, mut delay: impl FnMut() -> u64) -> u64 {
        let mut turned = 0;
        let Tokio { runtime, queue, ticks } = self;
        runtime.block_on(tokio::task::unconstrained(async {
            let mut context = Context::from_waker(Waker::noop());
            while turned < OPERATIONS {
                tokio::time::advance(Duration::from_millis(*ticks)).await;
                while let Poll::Ready(Some(expired)) = queue.poll_expired(&mut context) {
                    queue.insert(expired.into_inner(), Duration::from_millis(delay()));
                    turned += 1;
                }
            }
        }));
        turned
    }
}

/// The rows of all cells.
pub fn rows(samples: usize) {
    for bits in [10, 20] {
        for pending in [1000_u64, 100_000, 1_000_000] {
            let ours = || Ours { schedule: Schedule::starting_at(0), due: Due::new() };
            cell("Rust", samples, pending, bits, ours);
            cell("hash wheel", samples / 10, pending, bits, || HashWheel {
                wheel: QuadWheelWithOverflow::new(),
                ids: 0,
            });
            let runtime = || {
                let mut builder = tokio::runtime::Builder::new_current_thread();
                builder.enable_time().start_paused(true).build().expect("a runtime without threads")
            };
            let ticks = 1 + (TIMERS as u64 * (1 << bits)) / 2 / pending;
            cell("tokio-util", samples / 10, pending, bits, || Tokio {
                runtime: runtime(),
                queue: DelayQueue::new(),
                ticks,
            });
        }
    }
}

fn cell<T: Timers>(name: &str, samples: usize, pending: u64, bits: u32, make: impl FnOnce() -> T) {
    let (mut generator, mask) = (Generator::new(1), (1 << bits) - 1);
    let mut delay = || 1 + (generator.next_u64() & mask);
    let rest = format!("{pending} pending, delays below 2^{bits}");
    let before = OCTETS.load(Relaxed);
    let mut timers = make();
    for _ in 0..pending {
        timers.set(delay());
    }
    for _ in 0..2 * pending / OPERATIONS + 50 {
        timers.turn(&mut delay);
    }
    println!("{name}|octets a value, {rest}\t{:.0}\t", (OCTETS.load(Relaxed) - before) as f64 / pending as f64);
    let mut times: Vec<f64> = (0..samples)
        .map(|_| {
            let start = Instant::now();
            let turned = timers.turn(&mut delay);
            start.elapsed().as_nanos() as f64 / turned as f64
        })
        .collect();
    print(name, "schedule", &rest, &mut times);
    let mut keys: Vec<T::Key> = (0..TIMERS).map(|_| timers.set(delay())).collect();
    for (job, cancels) in [("set and cancel", true), ("reschedule", false)] {
        let mut times: Vec<f64> = (0..samples)
            .map(|_| {
                let start = Instant::now();
                for key in (0..OPERATIONS as usize).map(|operation| operation % TIMERS) {
                    keys[key] = if cancels {
                        timers.cancel(&keys[key]);
                        timers.set(delay())
                    } else {
                        timers.reschedule(&keys[key], delay())
                    };
                }
                let took = start.elapsed().as_nanos() as f64 / OPERATIONS as f64;
                keys.iter().for_each(|key| timers.cancel(key));
                timers.turn(&mut delay);
                keys.iter_mut().for_each(|key| *key = timers.set(delay()));
                took
            })
            .collect();
        print(name, job, &rest, &mut times);
    }
}

fn print(name: &str, job: &str, rest: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    println!("{name}|{job}, {rest}\t{:.2}\t{:.2}", times[0], times[times.len() / 10]);
}
