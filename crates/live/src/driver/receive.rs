//! The fate of a sender's frames: loss, duplicates, order and delay, derived from their sequence numbers.

use super::Label;
use hdrhistogram::Histogram;
use link::clock::RealtimeNanos;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Missing frames remembered for each stream; older ones stay lost even if they arrive.
const MISSING: usize = 1 << 20;
/// Delays up to ten minutes, to three digits.
const LONGEST: u64 = 600_000_000_000;

/// One sender's frames, as they came.
#[derive(Debug)]
struct Stream {
    from: String,
    received: u64,
    duplicates: u64,
    reordered: u64,
    first: u64,
    next: u64,
    missing: BTreeSet<u64>,
    lost_for_good: u64,
    octets: u64,
    delay: Histogram<u64>,
}

/// Everything received so far.
#[derive(Debug, Default)]
pub struct Reception {
    streams: BTreeMap<u32, Stream>,
    other: u64,
}

/// The report of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamReport {
    /// The sender's MAC address.
    pub from: String,
    /// Which run of the sender.
    pub stream: u32,
    /// Frames received, duplicates included.
    pub received: u64,
    /// Octets of them, from destination address to FCS.
    pub octets: u64,
    /// Numbers between the first and the last received that never came.
    pub lost: u64,
    /// Frames that had come before.
    pub duplicates: u64,
    /// Frames that came after one with a higher number.
    pub reordered: u64,
    /// The first number received: those before it were sent before reception began, or lost.
    pub first: u64,
    /// Median of the time from the sender's kernel to the receiver's.
    pub delay_p50_ns: u64,
    /// 99th percentile of it.
    pub delay_p99_ns: u64,
    /// The longest.
    pub delay_max_ns: u64,
}

impl Reception {
    /// Takes in one frame, received at `at`.
    pub fn record(&mut self, octets: &[u8], at: RealtimeNanos) {
        let Some(label) = Label::read(octets) else {
            self.other += 1;
            return;
        };
        let from = || octets[6..12].iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(":");
        let stream = self.streams.entry(label.stream).or_insert_with(|| Stream::new(from(), label.sequence));
        stream.octets += octets.len() as u64 + u64::from(medium::FCS.get());
        stream.record(label.sequence, at.0.saturating_sub(label.sent.0));
    }

    /// Frames received, of all streams.
    pub fn received(&self) -> u64 {
        self.streams.values().map(|stream| stream.received).sum()
    }

    /// Frames of the same EtherType that were no driver's.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// The report of each stream.
    pub fn reports(&self) -> Vec<StreamReport> {
        self.streams.iter().map(|(&number, stream)| stream.report(number)).collect()
    }
}

impl Stream {
    fn new(from: String, first: u64) -> Stream {
        Stream {
            from,
            received: 0,
            duplicates: 0,
            reordered: 0,
            first,
            next: first,
            missing: BTreeSet::new(),
            lost_for_good: 0,
            octets: 0,
            delay: Histogram::new_with_max(LONGEST, 3).expect("a range and digits that the histogram supports"),
        }
    }

    fn record(&mut self, sequence: u64, delay: u64) {
        self.received += 1;
        self.delay.saturating_record(delay);
        if sequence >= self.next {
            let missing = sequence - self.next;
            let remembered = missing.min(MISSING as u64);
            self.lost_for_good += missing - remembered;
            self.missing.extend(sequence - remembered..sequence);
            self.next = sequence.saturating_add(1);
            while self.missing.len() > MISSING {
                self.missing.pop_first();
                self.lost_for_good += 1;
            }
        } else if self.missing.remove(&sequence) || sequence < self.first {
            self.reordered += 1;
            let missing = self.first.saturating_sub(sequence + 1);
            let remembered = missing.min((MISSING - self.missing.len().min(MISSING)) as u64);
            self.lost_for_good += missing - remembered;
            self.missing.extend(self.first - remembered..self.first);
            self.first = self.first.min(sequence);
        } else {
            self.duplicates += 1;
        }
    }

    fn report(&self, number: u32) -> StreamReport {
        StreamReport {
            from: self.from.clone(),
            stream: number,
            received: self.received,
            octets: self.octets,
            lost: self.missing.len() as u64 + self.lost_for_good,
            duplicates: self.duplicates,
            reordered: self.reordered,
            first: self.first,
            delay_p50_ns: self.delay.value_at_quantile(0.50),
            delay_p99_ns: self.delay.value_at_quantile(0.99),
            delay_max_ns: self.delay.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sequences: &[u64]) -> (u64, u64, u64) {
        let mut stream = Stream::new(String::new(), sequences[0]);
        sequences.iter().for_each(|&sequence| stream.record(sequence, 1));
        let report = stream.report(0);
        (report.lost, report.duplicates, report.reordered)
    }

    #[test]
    fn loss_duplicates_and_order_are_told_apart() {
        assert_eq!(told(&[0, 1, 2, 3]), (0, 0, 0));
        assert_eq!(told(&[0, 1, 3]), (1, 0, 0));
        assert_eq!(told(&[0, 2, 1, 3]), (0, 0, 1));
        assert_eq!(told(&[0, 1, 1, 2]), (0, 1, 0));
        assert_eq!(told(&[5, 4, 7, 7, 3]), (1, 1, 2));
        assert_eq!(told(&[5, 3]), (1, 0, 1));
    }

    #[test]
    fn a_gap_beyond_memory_is_lost_for_good() {
        assert_eq!(told(&[u64::MAX, 0]).0, u64::MAX - 1);
        let (lost, ..) = told(&[0, 10_000_000]);
        assert_eq!(lost, 9_999_999);
    }
}
