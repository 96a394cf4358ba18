//! Values that are read now and then, because their changes come without a message: drops of the ring and of the
//! channels, and other work of the machine. Each look gives the changes since the one before, as counts and as events.

use super::emulator::since;
use super::overload::OVERLOAD;
use super::threads;
use link::load::{CpuWait, Steal};
use sim::figures::results::EmulatorResults;
use sim::files::event_log::EmulatorKind;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often the machine's figures are read: that takes longer the more processors it has.
const PAUSE: Duration = Duration::from_secs(1);
/// The kernel does not say.
const UNKNOWN: u64 = u64::MAX;

/// What was seen at the last look.
#[derive(Debug)]
pub struct Watch {
    cpu_wait: Option<CpuWait>,
    /// Kept up to date by a thread of its own.
    steal: Arc<AtomicU64>,
    seen: Seen,
}

/// What others count, since the data plane began.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoFar {
    /// Frames the kernel dropped because the receive ring was full.
    pub ring_drops: u64,
    /// Inputs that are not in a trace of inputs.
    pub inputs_skipped: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    so_far: SoFar,
    cpu_wait: Option<u64>,
    steal: Option<u64>,
    reports_skipped: u64,
    link_changes_missed: u64,
}

impl Watch {
    /// Opens the machine's figures for the calling thread, which will look at them.
    ///
    /// # Errors
    /// The kernel gives no thread. That it has no such figures is no error.
    pub fn start() -> io::Result<Watch> {
        let steal = Arc::new(AtomicU64::new(UNKNOWN));
        if let Ok(figures) = Steal::open() {
            let read = move |into: &AtomicU64| into.store(figures.nanos().unwrap_or(UNKNOWN), Ordering::Relaxed);
            read(&steal);
            let into = steal.clone();
            let work = move || loop {
                std::thread::sleep(PAUSE);
                read(&into);
            };
            threads::start("steal", work)?;
        }
        let mut watch = Watch { cpu_wait: CpuWait::open().ok(), steal, seen: Seen::default() };
        (watch.seen.cpu_wait, watch.seen.steal) = watch.machine();
        Ok(watch)
    }

    /// Adds to `counts` what is new, and to `events` what is worth one.
    pub fn look(&mut self, so_far: SoFar, counts: &mut EmulatorResults, events: &mut Vec<EmulatorKind>) {
        let before = self.seen;
        let (cpu_wait, steal) = self.machine();
        let reports_skipped = counts.observers.reports_skipped;
        let link_changes_missed = counts.ports.link_changes_missed;
        self.seen = Seen { so_far, cpu_wait, steal, reports_skipped, link_changes_missed };
        let ring_drops = so_far.ring_drops - before.so_far.ring_drops;
        counts.undelivered.ring_drops += ring_drops;
        let [steal, cpu_wait] = [(before.steal, steal), (before.cpu_wait, cpu_wait)]
            .map(|(before, now)| Some(now?.saturating_sub(before?)));
        add(&mut counts.machine.steal_ns, steal);
        add(&mut counts.machine.cpu_wait_ns, cpu_wait);
        let new = [
            (ring_drops, EmulatorKind::RingDrops { count: ring_drops }),
            news(before.reports_skipped, reports_skipped, |count| EmulatorKind::ReportsSkipped { count }),
            news(before.link_changes_missed, link_changes_missed, |count| EmulatorKind::LinkChangesMissed { count }),
            news(before.so_far.inputs_skipped, so_far.inputs_skipped, |count| EmulatorKind::InputsSkipped { count }),
            (steal.unwrap_or(0), EmulatorKind::Steal { ns: steal.unwrap_or(0) }),
            // No thread gets a processor at once every time.
            (cpu_wait.unwrap_or(0) / OVERLOAD, EmulatorKind::CpuWait { ns: cpu_wait.unwrap_or(0) }),
        ];
        events.extend(new.into_iter().filter(|(weight, _)| *weight > 0).map(|(_, kind)| kind));
    }

    fn machine(&self) -> (Option<u64>, Option<u64>) {
        let steal = self.steal.load(Ordering::Relaxed);
        (self.cpu_wait.as_ref().and_then(CpuWait::nanos), (steal != UNKNOWN).then_some(steal))
    }
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0) + more);
    }
}

fn news(before: u64, now: u64, kind: fn(u64) -> EmulatorKind) -> (u64, EmulatorKind) {
    let count = since(before, now);
    (count, kind(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::figures::results::emulator::ObserverResults;

    fn watch() -> Watch {
        Watch { cpu_wait: None, steal: Arc::new(AtomicU64::new(UNKNOWN)), seen: Seen::default() }
    }

    #[test]
    fn a_look_tells_what_is_new_once() {
        let (mut watch, mut counts, mut events) = (watch(), EmulatorResults::default(), Vec::new());
        let so_far = SoFar { ring_drops: 7, inputs_skipped: 2 };
        watch.look(so_far, &mut counts, &mut events);
        assert_eq!(events, [EmulatorKind::RingDrops { count: 7 }, EmulatorKind::InputsSkipped { count: 2 }]);
        watch.look(SoFar { ring_drops: 9, ..so_far }, &mut counts, &mut events);
        assert_eq!(events[2..], [EmulatorKind::RingDrops { count: 2 }]);
        assert_eq!(
            (counts.undelivered.ring_drops, counts.machine.steal_ns, counts.machine.cpu_wait_ns),
            (9, None, None)
        );
    }

    #[test]
    fn counts_that_begin_anew_are_told_as_new() {
        let (mut watch, mut events) = (watch(), Vec::new());
        let skipped = |reports_skipped| EmulatorResults {
            observers: ObserverResults { reports_skipped, ..ObserverResults::default() },
            ..EmulatorResults::default()
        };
        for (counted, told) in [(5, Some(5)), (5, None), (3, Some(3)), (0, None)] {
            events.clear();
            watch.look(SoFar::default(), &mut skipped(counted), &mut events);
            assert_eq!(events.first().cloned(), told.map(|count| EmulatorKind::ReportsSkipped { count }));
        }
    }

    #[test]
    fn steal_is_told_from_the_first_look_on() {
        let (mut watch, mut counts, mut events) = (watch(), EmulatorResults::default(), Vec::new());
        watch.steal.store(1_000, Ordering::Relaxed);
        watch.look(SoFar::default(), &mut counts, &mut events);
        assert_eq!((counts.machine.steal_ns, events.len()), (None, 0), "what was before nobody looked at");
        watch.steal.store(3_000, Ordering::Relaxed);
        watch.look(SoFar::default(), &mut counts, &mut events);
        assert_eq!((counts.machine.steal_ns, &events[..]), (Some(2_000), &[EmulatorKind::Steal { ns: 2_000 }][..]));
    }
}
