//! Several hubs, and several threads that have the kernel copy frames behind them at the same time.
//!
//! ```text
//!   this thread   hub 1 ──► hub 2 ──►       ◄── hub 3 ◄── hub 4   a helper
//! ```
//! A thread that sends into a hub makes all copies itself: with many stations it occupies its processor for long. Each
//! hub has a part of the ports. The thread with the frame begins with the first hub and wakes helpers, which begin with
//! the last; each takes only parts that are still free. A late helper, as after a sleep, finds less to do. The sender
//! waits only for a part that a helper has already begun.
//!
//! Small parts also cost less: their frames and stations stay in the cache of one processor.

use std::io;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Thread;
use std::time::Duration;

use super::{FanOut, FanOutError, Hub, make_hub};
use crate::clock::{leave_fifo, monotonic_nanos};
use crate::namespace::Namespace;
use crate::netlink::Netlink;
use crate::packet::{SendError, Sender};

/// The maximum number of ports of one of several hubs.
const PORTS_EACH: usize = 64;

/// From this number of hearers on, waking a helper costs less than it saves.
const WORTH_A_HELPER: usize = 48;

/// How long the sender spins while a helper works on a part, in nanoseconds, before it sleeps until the part is done.
/// Longer than a part takes.
const PATIENCE: u64 = 60_000;

/// Helpers spin between frames that come at most this many nanoseconds apart: waking a thread on another processor
/// costs the waker some 13 us on a virtual machine, and delays the copies.
const DENSE: u64 = 150_000;

/// A helper spins only if it was awake for less than `AWAKE` nanoseconds of each `SPAN`: under SCHED_FIFO other
/// programs need the rest.
const SPAN: u64 = 50_000_000;
const AWAKE: u64 = 40_000_000;

/// After this many nanoseconds without a sleep a helper sleeps for a moment, even if it has work: the kernel ends a
/// process that runs for a second under SCHED_FIFO without a sleep ([`crate::clock::limit_fifo`]).
const LONGEST_AWAKE: u64 = 300_000_000;
const MOMENT: Duration = Duration::from_micros(20);

/// Ports of each hub but the last, for `ports` in all: parts of about the same size.
fn ports_each(ports: usize) -> usize {
    ports.div_ceil(ports.div_ceil(PORTS_EACH).max(1)).max(1)
}

/// The sender, and helpers for the other parts.
fn threads(parts: usize, processors: usize) -> usize {
    /// More helpers would only wait for each other.
    const MOST: usize = 4;
    parts.min(processors).clamp(1, MOST)
}

/// Makes the hubs that ports with these indices need. The first is called `name`; the others have a number appended.
///
/// # Errors
/// As [`make_hub`]. Nothing remains then.
///
/// # Panics
/// As [`make_hub`].
pub fn make_hubs(namespace: &Namespace, name: &str, ports: &[u32]) -> Result<Vec<Hub>, FanOutError> {
    let name = |place| if place == 0 { name.to_owned() } else { format!("{name}~{}", place + 1) };
    let mut hubs = Vec::new();
    for (place, ports) in ports.chunks(ports_each(ports.len())).enumerate() {
        match make_hub(namespace, &name(place), ports) {
            Ok(hub) => hubs.push(hub),
            Err(error) => {
                let mut netlink = Netlink::in_namespace(namespace)?;
                // The first error is the one to report.
                hubs.iter().for_each(|hub| _ = netlink.delete(hub.index));
                return Err(error);
            }
        }
    }
    Ok(hubs)
}

/// Sends frames through several hubs.
#[derive(Debug)]
pub struct Copiers {
    shared: Arc<Shared>,
    each: usize,
    helpers: Vec<Thread>,
    /// Positions in the last call's ports whose hub was missing.
    missing: Vec<usize>,
}

/// The result of sending a frame, beside the result of each copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent<'a> {
    /// Positions of ports to which nothing was sent, since their hub is gone: the caller sends another way.
    pub missing: &'a [usize],
    /// The number of copies made through helpers.
    pub helped: usize,
}

/// What all threads use.
#[derive(Debug)]
struct Shared {
    parts: Vec<Mutex<Part>>,
    /// How many frames helpers were asked to help with.
    asked: AtomicU32,
    end: AtomicBool,
    /// How often helpers were asked to leave SCHED_FIFO.
    leaves: AtomicU32,
}

/// A hub, and the frame to send into it.
#[derive(Debug)]
struct Part {
    hub: FanOut,
    /// The frame, and the hub's ports that get it, until it is sent.
    octets: Vec<u8>,
    ports: Vec<usize>,
    is_to_do: bool,
    results: Vec<Result<(), SendError>>,
    was_helped: bool,
}

impl Part {
    fn send(&mut self, sender: &mut Sender) {
        // If the hub is missing, there are fewer results than ports.
        self.hub.send(sender, &self.octets, &self.ports, &mut self.results);
        self.is_to_do = false;
    }
}

impl Copiers {
    /// Takes the hubs that [`make_hubs`] made for `ports` ports, possibly in another process.
    ///
    /// # Errors
    /// Memory that cannot be mapped; fewer hubs than this number of ports needs.
    pub fn new(hubs: Vec<Hub>, ports: usize) -> io::Result<Copiers> {
        let each = ports_each(ports);
        if hubs.len() != ports.div_ceil(each) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let part = |(place, hub)| {
            let hub = FanOut::new(hub, each.min(ports - place * each))?;
            let (octets, ports, results) = (Vec::new(), Vec::new(), Vec::new());
            Ok(Mutex::new(Part { hub, octets, ports, is_to_do: false, results, was_helped: false }))
        };
        let parts = hubs.into_iter().enumerate().map(part).collect::<io::Result<_>>()?;
        let asked = AtomicU32::new(0);
        let shared = Arc::new(Shared { parts, asked, end: AtomicBool::new(false), leaves: AtomicU32::new(0) });
        Ok(Copiers { shared, each, helpers: Vec::new(), missing: Vec::new() })
    }

    /// The number of helpers that find work on a machine with this many processors.
    pub fn helpers_wanted(&self, processors: usize) -> usize {
        threads(self.shared.parts.len(), processors) - 1
    }

    /// The number of threads that make copies for `ports` ports on a machine with this many processors, at least 1.
    pub fn threads(ports: usize, processors: usize) -> usize {
        threads(ports.div_ceil(ports_each(ports)), processors)
    }

    /// A helper, which runs in a thread of its own, with a sender of its own.
    pub fn helper(&self, sender: Sender) -> Helper {
        Helper { shared: self.shared.clone(), sender, left: 0, rest: Rest::default() }
    }

    /// Registers a thread that runs a [`Helper`], to be woken from now on.
    pub fn helped_by(&mut self, helper: Thread) {
        self.helpers.push(helper);
    }

    /// Makes helpers leave SCHED_FIFO at their next check.
    pub fn leave_fifo(&self) {
        self.shared.leaves.fetch_add(1, Relaxed);
        self.helpers.iter().for_each(Thread::unpark);
    }

    /// Sends one frame to the ports with these numbers, in ascending order.
    ///
    /// Pushes one result a port, in their order; the result of a port whose hub is gone has no meaning.
    ///
    /// # Panics
    /// With a port that does not exist.
    pub fn send(
        &mut self,
        sender: &mut Sender,
        octets: &[u8],
        ports: &[usize],
        results: &mut Vec<Result<(), SendError>>,
    ) -> Sent<'_> {
        let parts = self.hand_out(octets, ports);
        if parts > 1 && ports.len() >= WORTH_A_HELPER {
            self.shared.asked.fetch_add(1, Release);
            // Unparking a helper that spins costs next to nothing.
            self.helpers.iter().for_each(Thread::unpark);
        }
        self.missing.clear();
        let mut helped = 0;
        for part in &self.shared.parts {
            let mut part = in_hand(part);
            if part.is_to_do {
                part.send(sender);
            }
            helped += if part.was_helped { part.results.len() } else { 0 };
            let end = results.len() + part.ports.len();
            results.append(&mut part.results);
            self.missing.extend(results.len()..end);
            results.resize(end, Ok(()));
            part.ports.clear();
        }
        Sent { missing: &self.missing, helped }
    }

    /// Gives each part its ports; returns the number of parts that got some.
    fn hand_out(&self, octets: &[u8], ports: &[usize]) -> usize {
        let (mut rest, mut parts) = (ports, 0);
        for (place, part) in self.shared.parts.iter().enumerate() {
            let first = place * self.each;
            let (own, others) = rest.split_at(rest.partition_point(|&port| port < first + self.each));
            rest = others;
            if own.is_empty() {
                continue;
            }
            let mut part = in_hand(part);
            part.octets.clear();
            part.octets.extend_from_slice(octets);
            part.ports.extend(own.iter().map(|port| port - first));
            (part.is_to_do, part.was_helped) = (true, false);
            parts += 1;
        }
        assert!(rest.is_empty(), "callers know how many ports there are");
        parts
    }
}

impl Drop for Copiers {
    fn drop(&mut self) {
        self.shared.end.store(true, Relaxed);
        self.helpers.iter().for_each(Thread::unpark);
    }
}

/// Locks a part as soon as no helper has it.
fn in_hand(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    let mut until = None;
    loop {
        match part.try_lock() {
            Ok(part) => return part,
            Err(TryLockError::Poisoned(part)) => return part.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let now = monotonic_nanos();
                if now >= *until.get_or_insert(now + PATIENCE) {
                    return part.lock().unwrap_or_else(PoisonError::into_inner);
                }
                std::hint::spin_loop();
            }
        }
    }
}

/// Makes copies in parallel with the thread that has the frames.
#[derive(Debug)]
pub struct Helper {
    shared: Arc<Shared>,
    sender: Sender,
    /// The last request to leave SCHED_FIFO that was handled.
    left: u32,
    rest: Rest,
}

/// How a helper waits for work.
#[derive(Debug, Default)]
struct Rest {
    /// When it last worked, and the time between that and the work before.
    last: u64,
    gap: u64,
    /// When this span began, and how long it slept in it.
    span: u64,
    slept: u64,
    /// When the last sleep ended.
    awake_since: u64,
}

impl Rest {
    /// It worked at `now`.
    fn worked(&mut self, now: u64) {
        self.gap = now - self.last;
        self.last = now;
    }

    /// The helper slept from `begin` to `now`.
    fn slept(&mut self, begin: u64, now: u64) {
        self.awake_since = now;
        if !self.begins_a_span(now) {
            self.slept += now - begin;
        }
    }

    /// Begins a new span if the present one is over at `now`; true if it was.
    fn begins_a_span(&mut self, now: u64) -> bool {
        let over = now - self.span > SPAN;
        if over {
            (self.span, self.slept) = (now, 0);
        }
        over
    }

    /// The instant up to which to spin, or `None` to sleep.
    fn until(&mut self, now: u64) -> Option<u64> {
        self.begins_a_span(now);
        let may = now - self.span < AWAKE + self.slept;
        (may && self.gap <= DENSE && now < self.last + DENSE).then_some(self.last + DENSE)
    }
}

impl Helper {
    /// Works until the [`Copiers`] are dropped. Sleeps without work.
    pub fn run(mut self) {
        while !self.shared.end.load(Relaxed) {
            let asked = self.shared.asked.load(Acquire);
            let leaves = self.shared.leaves.load(Relaxed);
            if std::mem::replace(&mut self.left, leaves) != leaves {
                // If the kernel refuses, which it never does, the thread keeps its priority.
                let _ = leave_fifo();
            }
            if self.take_parts() {
                let now = monotonic_nanos();
                self.rest.worked(now);
                if now - self.rest.awake_since > LONGEST_AWAKE {
                    std::thread::sleep(MOMENT);
                    self.rest.slept(now, monotonic_nanos());
                }
            } else {
                self.wait(asked);
            }
        }
    }

    /// Waits until there may be work that was not in `asked`.
    fn wait(&mut self, asked: u32) {
        let begin = monotonic_nanos();
        if let Some(until) = self.rest.until(begin) {
            while self.shared.asked.load(Relaxed) == asked && monotonic_nanos() < until {
                std::hint::spin_loop();
            }
        } else {
            std::thread::park();
            self.rest.slept(begin, monotonic_nanos());
        }
    }

    /// Sends the parts that are still free, last part first; true if there was any.
    fn take_parts(&mut self) -> bool {
        let mut found = false;
        for part in self.shared.parts.iter().rev() {
            if let Ok(mut part) = part.try_lock()
                && part.is_to_do
            {
                part.send(&mut self.sender);
                part.was_helped = true;
                found = true;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With frames 100 us apart the helper spins for 40 ms of each 50, and sleeps between frames in the rest.
    #[test]
    fn a_helper_spins_between_frames_that_are_close_and_not_for_ever() {
        const STEP: u64 = 100_000;
        let mut rest = Rest::default();
        let mut spins = Vec::new();
        for frame in 1..=1_000 {
            let now = 1_000_000_000 + frame * STEP;
            rest.worked(now);
            let spin = rest.until(now).is_some();
            spins.push(spin);
            if !spin {
                rest.slept(now, now + STEP / 2);
            }
        }
        let part = |spins: &[bool]| spins.iter().filter(|spin| **spin).count();
        assert!(!spins[0], "nothing told that frames are close");
        assert!((780..850).contains(&part(&spins)), "{} of 1,000", part(&spins));
        rest.worked(2_000_000_000);
        assert_eq!(rest.until(2_000_000_001), None, "a frame after a pause");
    }

    #[test]
    fn parts_are_about_as_large_as_each_other_and_not_above_the_most() {
        for (ports, each) in [(0, 1), (1, 1), (17, 17), (64, 64), (65, 33), (128, 64), (254, 64), (300, 60), (1024, 64)]
        {
            assert_eq!(ports_each(ports), each, "{ports} ports");
        }
    }
}
