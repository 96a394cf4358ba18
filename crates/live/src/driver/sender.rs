//! Offering frames at a pace. Sleeps between them, never spins: a spinning sender would take a core from the bus.

use super::{Label, blank};
use link::MacAddr;
use link::clock::{RealtimeNanos, monotonic_nanos};
use link::packet::SendError;
use link::station::StationSocket;
use medium::{BitRate, Octets};
use std::time::Duration;

/// The shortest sleep: several frames go out together rather than wake up for each.
const SHORTEST_SLEEP: u64 = 500_000;
/// The longest sleep, so that a request to stop need not wait.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Frames in one call of the kernel.
const BATCH: usize = 64;

/// When the next frame is due.
#[derive(Clone, Debug)]
pub enum Spacing {
    /// When the caller says so: see [`Sender::fill`].
    Asked,
    /// Evenly, this number of nanoseconds apart.
    Even(f64),
}

impl Spacing {
    fn gap(&self) -> f64 {
        match self {
            Spacing::Asked => f64::INFINITY,
            Spacing::Even(gap) => *gap,
        }
    }
}

/// Frames per second that fill a medium of this rate: preamble, frame and gap back to back.
pub fn line_rate(rate: BitRate, size: Octets) -> f64 {
    rate.get() as f64 / (size.get().max(64) * 8 + 160) as f64
}

/// Frames of one station that the medium must have to stay busy while its driver sleeps: 10 ms, and at least 16.
pub fn saturating_level(rate: BitRate, size: Octets) -> u64 {
    (line_rate(rate, size) / 100.0).ceil().max(16.0) as u64
}

/// What a sender has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Frames that the station's kernel took.
    pub frames: u64,
    /// Frames that it refused.
    pub refused: u64,
}

/// One station's raw-socket driver.
#[derive(Debug)]
pub struct Sender {
    socket: StationSocket,
    blank: Vec<u8>,
    stream: u32,
    pace: Spacing,
    count: u64,
    due: f64,
    /// Frames that are offered before the first is due.
    lead: u64,
    sent: Sent,
}

impl Sender {
    /// Will offer frames of `size` octets, FCS included, to `to`; at most `count` of them.
    pub fn new(
        socket: StationSocket,
        to: MacAddr,
        size: Octets,
        stream: u32,
        pace: Spacing,
        count: Option<u64>,
    ) -> Sender {
        let blank = blank(to, socket.mac(), size.get());
        Sender {
            socket,
            blank,
            stream,
            pace,
            count: count.unwrap_or(u64::MAX),
            due: 0.0,
            lead: 0,
            sent: Sent::default(),
        }
    }

    /// The same, `lead` frames ahead of its pace: they wait in the station's queue, so that the medium has frames to
    /// send while a busy machine lets this program wait.
    pub fn ahead(self, lead: u64) -> Sender {
        Sender { lead, ..self }
    }

    /// The frames sent and refused so far.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Offers as many frames as bring the station's transmit queue to `level`, when the medium is done with `finished`.
    ///
    /// A veth pair has no back-pressure; this is the one that a MAC gives its host.
    pub fn fill(&mut self, level: u64, finished: u64) {
        // Whatever the medium says, it cannot be done with more than it was offered.
        let finished = finished.min(self.sent.frames);
        self.offer((finished + level).saturating_sub(self.sent.frames));
    }

    fn begin(&mut self, now: u64) {
        self.due = now as f64 + (1..=self.lead).fold(self.pace.gap(), |due, _| due - self.pace.gap());
    }

    fn finished(&self) -> bool {
        self.sent.frames + self.sent.refused >= self.count
    }

    fn offer_due(&mut self, now: u64) {
        let mut due = 0;
        while self.due <= now as f64 && due < BATCH as u64 {
            due += 1;
            self.due += self.pace.gap();
        }
        self.offer(due);
    }

    fn offer(&mut self, frames: u64) {
        let begun = self.sent.frames + self.sent.refused;
        let frames = frames.min(self.count - begun);
        let labelled = |sequence| {
            let mut octets = self.blank.clone();
            Label { stream: self.stream, sequence, sent: RealtimeNanos::now() }.write(&mut octets);
            octets
        };
        let batch: Vec<Vec<u8>> = (begun..begun + frames).map(labelled).collect();
        let batch: Vec<&[u8]> = batch.iter().map(Vec::as_slice).collect();
        let mut results: Vec<Result<(), SendError>> = Vec::with_capacity(batch.len());
        self.socket.send_batch(&batch, &mut results);
        let taken = results.iter().filter(|result| result.is_ok()).count() as u64;
        self.sent.frames += taken;
        self.sent.refused += results.len() as u64 - taken;
    }
}

/// Runs senders until all have offered their count, or `go_on` says no.
pub fn run(senders: &mut [Sender], go_on: impl Fn() -> bool) {
    let begin = monotonic_nanos();
    senders.iter_mut().for_each(|sender| sender.begin(begin));
    while go_on() && !senders.iter().all(Sender::finished) {
        let now = monotonic_nanos();
        senders.iter_mut().filter(|sender| !sender.finished()).for_each(|sender| sender.offer_due(now));
        let next = senders.iter().filter(|sender| !sender.finished()).map(|sender| sender.due as u64).min();
        let sleep = next.unwrap_or(0).saturating_sub(now).clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
        std::thread::sleep(Duration::from_nanos(sleep));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Back to back at 10 Mb/s: 14,880.95 frames a second at 64 octets, 812.74 at 1518 (802.3, 4.4.2).
    #[test]
    fn line_rates_are_those_of_the_standard() {
        assert!((line_rate(BitRate::MBIT_10, Octets::new(64)) - 14_880.95).abs() < 0.01);
        assert!((line_rate(BitRate::MBIT_10, Octets::new(1518)) - 812.74).abs() < 0.01);
    }
}
