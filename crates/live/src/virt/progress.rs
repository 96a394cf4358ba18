//! What a run shows while it goes on: how fast virtual time passes, and which kernel takes most of the real time.

use std::time::{Duration, Instant};

/// How often it is shown.
const EVERY: Duration = Duration::from_millis(500);

/// What was shown last.
#[derive(Debug)]
pub struct Progress {
    since: Instant,
    now: u64,
    took: Vec<Duration>,
}

impl Progress {
    /// At the begin of a lab.
    pub fn new(stations: usize) -> Progress {
        Progress { since: Instant::now(), now: 0, took: vec![Duration::ZERO; stations] }
    }

    /// The next line if it is time: virtual time is `now`, in nanoseconds, and the kernel of a station `took` this long.
    pub fn line<'a>(
        &mut self,
        now: u64,
        took: impl Fn(usize) -> Duration,
        name: impl Fn(usize) -> &'a str,
    ) -> Option<String> {
        let passed = self.since.elapsed();
        if passed < EVERY {
            return None;
        }
        let took: Vec<Duration> = (0..self.took.len()).map(took).collect();
        let shares = took.iter().zip(&self.took).map(|(took, before)| took.saturating_sub(*before).as_secs_f64());
        let (busiest, share) = shares.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let (passed, share) = (passed.as_secs_f64(), 100.0 * share / passed.as_secs_f64());
        let speed = now.saturating_sub(self.now) as f64 / 1e9 / passed;
        *self = Progress { since: Instant::now(), now, took };
        let name = name(busiest);
        Some(format!(
            "{:.3} s, {speed:.2} lab seconds a second; busiest: {name}, {share:.0} % of the time",
            now as f64 / 1e9
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_station_is_named_with_the_speed_of_the_lab() {
        let began = Instant::now().checked_sub(Duration::from_secs(2)).expect("the machine has been up that long");
        let mut progress = Progress { since: began, ..Progress::new(2) };
        let took = |station| Duration::from_secs(if station == 1 { 1 } else { 0 });
        let line = progress.line(500_000_000, took, |station| ["st1", "st2"][station]).expect("it is time");
        assert!(line.starts_with("0.500 s, 0.2") && line.contains("busiest: st2, "), "{line}");
        assert_eq!(progress.line(600_000_000, took, |_| "st1"), None, "half a second has not passed");
    }
}
