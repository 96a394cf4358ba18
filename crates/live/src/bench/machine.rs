//! The machine that figures were measured on, and what else it did meanwhile, as `/proc` tells.

use link::clock::set_timer_slack;
use serde::Serialize;
use std::fs::read_to_string;
use std::time::{Duration, Instant};

/// What does not change while a bench runs.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The kernel's release.
    pub kernel: String,
    /// What the processor calls itself.
    pub processor: String,
    /// How many of them there are.
    pub processors: usize,
}

impl Machine {
    /// This machine; what cannot be read is called unknown.
    pub fn read() -> Machine {
        let text = |path: &str| read_to_string(path).unwrap_or_default();
        let known = |text: &str| if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() };
        let processors = text("/proc/cpuinfo");
        let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        Machine {
            kernel: known(&text("/proc/sys/kernel/osrelease")),
            processor: known(model.map_or("", |(_, model)| model)),
            processors: processors.lines().filter(|line| line.starts_with("processor")).count(),
        }
    }
}

/// What else the machine did while a figure was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Conditions {
    /// Time that the hypervisor gave to others although there was work here, in % of all processors.
    pub steal_percent: f64,
    /// Time that processors were not idle, in %; the bench's own work is in it.
    pub busy_percent: f64,
    /// Processes that ran or wanted to, averaged over the minute before.
    pub load_average: f64,
    /// How late a thread wakes up whose processor has gone to sleep, in microseconds: the median of some sleeps of 1 ms.
    pub wake_p50_us: f64,
    /// The longest but one of them.
    pub wake_late_us: f64,
    /// The part of pages, in %, whose first touch after a while took more than 50 us: a hypervisor causes this.
    pub page_stall_percent: f64,
}

/// The counts of `/proc/stat` at the start of a measurement.
#[derive(Clone, Debug)]
pub struct Meter {
    ticks: Ticks,
    load_average: f64,
    /// Touched at the start, and not again before the end.
    pages: Vec<u8>,
}

/// What a page of memory has in octets.
const PAGE: usize = 4_096;
const PAGES: usize = 200;
/// A page that is there is read in less than a microsecond.
const STALL: Duration = Duration::from_micros(50);
const SLEEPS: usize = 25;
const SLEEP: Duration = Duration::from_millis(1);

/// Sums over all processors, in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    all: u64,
    idle: u64,
    steal: u64,
}

impl Meter {
    /// Counts from now on.
    pub fn start() -> Meter {
        let average = read_to_string("/proc/loadavg").unwrap_or_default();
        let load_average = average.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(f64::NAN);
        Meter { ticks: Ticks::read(), load_average, pages: vec![1; PAGES * PAGE] }
    }

    /// What happened since then.
    pub fn stop(self) -> Conditions {
        // Read before the measurements below, which are work for the machine too.
        let conditions = Ticks::read().since(self.ticks);
        let stalls = self.pages.chunks(PAGE).filter(|page| touch(page) > STALL).count();
        let (wake_p50_us, wake_late_us) = wakes();
        let page_stall_percent = 100.0 * stalls as f64 / PAGES as f64;
        Conditions { load_average: self.load_average, wake_p50_us, wake_late_us, page_stall_percent, ..conditions }
    }
}

/// How long the first touch of a page takes.
fn touch(page: &[u8]) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(page[0]);
    begin.elapsed()
}

/// How late some sleeps end, in microseconds: the median, and the longest but one.
fn wakes() -> (f64, f64) {
    let sleep = || {
        // A slack that the kernel does not let this thread have makes the figure larger, as it does everybody's.
        let _ = set_timer_slack(Duration::from_nanos(1));
        let mut late: Vec<f64> = (0..SLEEPS)
            .map(|_| {
                let begin = Instant::now();
                std::thread::sleep(SLEEP);
                (begin.elapsed() - SLEEP).as_secs_f64() * 1e6
            })
            .collect();
        late.sort_by(f64::total_cmp);
        (late[SLEEPS / 2], late[SLEEPS - 2])
    };
    // On a thread of its own, because the timer slack belongs to a thread.
    std::thread::spawn(sleep).join().unwrap_or((f64::NAN, f64::NAN))
}

impl Ticks {
    fn read() -> Ticks {
        Ticks::parse(&read_to_string("/proc/stat").unwrap_or_default())
    }

    /// The first line: `cpu`, then user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user's.
    fn parse(stat: &str) -> Ticks {
        let first = stat.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = first.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
        let at = |place: usize| ticks.get(place).copied().unwrap_or(0);
        Ticks { all: ticks.iter().sum(), idle: at(3) + at(4), steal: at(7) }
    }

    fn since(self, earlier: Ticks) -> Conditions {
        let all = self.all.saturating_sub(earlier.all).max(1) as f64;
        let part = |now: u64, before: u64| 100.0 * now.saturating_sub(before) as f64 / all;
        Conditions {
            steal_percent: part(self.steal, earlier.steal),
            busy_percent: 100.0 - part(self.idle, earlier.idle),
            ..Conditions::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_and_idle_are_parts_of_all_time() {
        let before = Ticks::parse("cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 1 2 3\n");
        let after = Ticks::parse("cpu  120 5 5 150 10 0 5 5 0 0\n");
        assert_eq!(before, Ticks { all: 200, idle: 100, steal: 0 });
        let conditions = after.since(before);
        assert_eq!((conditions.steal_percent, conditions.busy_percent), (5.0, 40.0));
    }

    #[test]
    fn this_machine_has_a_processor() {
        let machine = Machine::read();
        assert!(machine.processors >= 1 && machine.kernel != "unknown", "{machine:?}");
    }
}
