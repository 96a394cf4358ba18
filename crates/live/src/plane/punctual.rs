//! What is spent on being punctual. Sleeps that would end too late are left out; with `latency = "low"` the ring is also
//! read for a while after each frame, instead of sleeping until the next one.
//!
//! A thread that wakes up is late by as long as its processor takes to wake, and finds its memory cold; one that reads on
//! is neither. It costs a processor meanwhile, so only a part of the time may be spent so.

use sim::words::choices::{Latency, LatencyChoice};

/// Of each span between two looks at the house this part may be spent reading on.
const PART: f64 = 0.4;
/// And this part instead of sleeps that would end too late.
const PART_AWAKE: f64 = 0.01;
/// What a sleep that is left out costs at least, in nanoseconds: one more look at the ring and the medium.
const LOOK: u64 = 2_000;

/// See the module.
#[derive(Debug)]
pub struct Punctual {
    read_on: u64,
    /// When a frame was read last.
    last_frame: u64,
    /// How long may still be spent reading on in this span.
    left: u64,
    /// How long may still be spent awake instead of asleep in it.
    left_awake: u64,
}

impl Punctual {
    /// Nothing has been read yet.
    pub fn new(latency: Latency) -> Punctual {
        let read_on = match latency.choice {
            LatencyChoice::Normal => 0,
            LatencyChoice::Low => latency.read_on_ns,
        };
        Punctual { read_on, last_frame: 0, left: 0, left_awake: 0 }
    }

    /// A frame was read at `now`.
    pub fn frame(&mut self, now: u64) {
        self.last_frame = now;
    }

    /// A span of `length` nanoseconds begins.
    pub fn span(&mut self, length: u64) {
        self.left = (length as f64 * PART) as u64;
        self.left_awake = (length as f64 * PART_AWAKE) as u64;
    }

    /// Whether to stay awake for `length` instead of sleeping so long, where sleeps usually end late by `usually_late`: a
    /// sleep that is shorter than that would most likely end too late.
    pub fn stays_awake(&mut self, length: u64, usually_late: u64) -> bool {
        let cost = length.max(LOOK);
        let stays = length < usually_late && cost <= self.left_awake;
        if stays {
            self.left_awake -= cost;
        }
        stays
    }

    /// Until when the ring is to be read at `now`, if at all.
    pub fn until(&self, now: u64) -> Option<u64> {
        let until = (self.last_frame + self.read_on).min(now + self.left);
        (until > now).then_some(until)
    }

    /// The thread read on for this number of nanoseconds.
    pub fn spent(&mut self, nanos: u64) {
        self.left = self.left.saturating_sub(nanos);
    }
}

/// The effort in words, for results: the setting, and what the machine granted of it.
pub fn in_words(latency: Latency, awake: bool, huge_pages: bool, bound: bool) -> String {
    let mut words = match latency.choice {
        LatencyChoice::Normal => "normal".to_owned(),
        LatencyChoice::Low => {
            let awake = if awake { "processors kept awake" } else { "processors not kept awake: not allowed" };
            let huge_pages = if huge_pages { "heap in huge pages" } else { "no huge pages: switched off" };
            let micros = latency.read_on_ns as f64 / 1e3;
            format!("low: {awake}, {huge_pages}, reads on for {micros} us after a frame")
        }
    };
    if let Some(processor) = latency.processor {
        words += if bound { ", on processor " } else { ", not on processor " };
        words += &processor.to_string();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low() -> Latency {
        Latency { choice: LatencyChoice::Low, read_on_ns: 500, processor: None }
    }

    #[test]
    fn the_ring_is_read_for_a_while_after_a_frame_and_not_for_ever() {
        let mut punctual = Punctual::new(low());
        punctual.span(2_000);
        punctual.frame(10_000);
        assert_eq!(punctual.until(10_100), Some(10_500));
        assert_eq!(punctual.until(10_500), None);
        punctual.spent(700);
        punctual.frame(11_000);
        assert_eq!(punctual.until(11_000), Some(11_100), "800 in each span of 2,000");
        punctual.spent(100);
        assert_eq!(punctual.until(11_100), None);
        punctual.span(2_000);
        assert_eq!(punctual.until(11_100), Some(11_500));
    }

    #[test]
    fn normally_it_is_not_read_on() {
        let mut punctual = Punctual::new(Latency::default());
        punctual.span(2_000);
        punctual.frame(10_000);
        assert_eq!(punctual.until(10_000), None);
    }

    /// A delivery 88 us after its frame came, with sleeps that end 38 us late, was late as often as not (issue 12, 2).
    #[test]
    fn a_sleep_that_would_end_too_late_is_left_out_while_there_is_time_for_it() {
        let mut punctual = Punctual::new(Latency::default());
        assert!(!punctual.stays_awake(1_000, 38_000), "no span has begun");
        punctual.span(10_000_000);
        assert!(!punctual.stays_awake(38_000, 38_000) && punctual.stays_awake(37_000, 38_000));
        assert!(punctual.stays_awake(37_000, 38_000) && !punctual.stays_awake(37_000, 38_000), "100 us in each 10 ms");
        // Of the 26 us that are left each costs 2 at least.
        assert_eq!((0..20).filter(|_| punctual.stays_awake(10, 38_000)).count(), 13);
        punctual.span(10_000_000);
        assert!(punctual.stays_awake(37_000, 38_000));
    }

    #[test]
    fn what_was_not_given_is_said() {
        assert_eq!(in_words(Latency::default(), false, true, false), "normal");
        let words = in_words(Latency { processor: Some(3), ..low() }, false, true, true);
        assert!(words.contains("not allowed") && words.contains("huge pages") && words.ends_with("on processor 3"));
    }
}
