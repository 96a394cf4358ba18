//! Frames that wait for another attempt, counted again from the rows of a trace (docs/access.md, results).
//!
//! A frame is backlogged from its sender's first backoff until it gets through or is discarded; where frames draw anew for
//! each slot no row tells of a backoff, and its first collision counts.

use medium::{Config, Event, FrameId, HostKind, MacKind, Method, Part};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The last place of the distribution has all longer backlogs.
const MOST_PLACES: usize = 1 << 16;

/// The backlog, and how long frames have waited.
#[derive(Debug)]
pub struct Backlog {
    measured: Range<u64>,
    draws_each_slot: bool,
    frames: HashSet<FrameId>,
    /// Up to when the backlog has been summed.
    at: u64,
    /// How many bit times each number of frames was the backlog, and the sum of their products.
    spent: Vec<u64>,
    sum: u128,
    /// When each frame that is not over was offered; none where the results do not tell of it.
    offered: Option<HashMap<FrameId, u64>>,
}

impl Backlog {
    /// That of a medium which is measured in these bit times; `tells_wait` if its results have the longest wait.
    pub fn new(config: &Config, measured: Range<u64>, tells_wait: bool) -> Backlog {
        Backlog {
            at: measured.start,
            measured,
            draws_each_slot: matches!(&config.method, Method::SlottedAloha(own) if own.control.is_some()),
            frames: HashSet::new(),
            spent: Vec::new(),
            sum: 0,
            offered: tells_wait.then(HashMap::new),
        }
    }

    /// Takes one more event; `gives_way` says of a backoff that its frame has not been sent.
    pub fn take(&mut self, event: &Event, gives_way: bool) {
        let (now, frame) = (event.at.get(), event.frame);
        match event.kind.part() {
            Part::Host(HostKind::Offered { .. }) => self.offered.iter_mut().for_each(|all| _ = all.insert(frame, now)),
            Part::Host(HostKind::QueueDrop) => self.is_over(frame),
            Part::Mac(MacKind::Collision { .. }) if self.draws_each_slot => self.waits(now, frame),
            Part::Mac(MacKind::Backoff { attempt: 1.., .. }) if !gives_way => self.waits(now, frame),
            Part::Mac(MacKind::Transmitted { .. } | MacKind::Discarded { .. }) => {
                self.pass(now);
                self.frames.remove(&frame);
                self.is_over(frame);
            }
            _ => {}
        }
    }

    fn waits(&mut self, now: u64, frame: FrameId) {
        self.pass(now);
        self.frames.insert(frame);
    }

    fn is_over(&mut self, frame: FrameId) {
        self.offered.iter_mut().for_each(|all| _ = all.remove(&frame));
    }

    /// The backlog was what it is up to `now`.
    fn pass(&mut self, now: u64) {
        let now = now.clamp(self.at, self.measured.end);
        let (passed, backlog) = (now - self.at, self.frames.len());
        let place = backlog.min(MOST_PLACES - 1);
        self.spent.resize(self.spent.len().max(place + 1), 0);
        self.spent[place] += passed;
        self.sum += passed as u128 * backlog as u128;
        self.at = now;
    }

    /// The figures under their names.
    pub fn figures(mut self) -> Vec<(String, f64)> {
        self.pass(self.measured.end);
        let span = (self.measured.end - self.measured.start) as f64;
        let mut figures = vec![("backlog".to_owned(), self.sum as f64 / span)];
        let parts = self.spent.iter().map(|spent| *spent as f64 / span).enumerate();
        figures.extend(parts.map(|(backlog, part)| (format!("backlog_distribution/{backlog}"), part)));
        let first = self.offered.iter().flat_map(HashMap::values).min();
        figures.extend(first.map(|first| ("longest_waiting_bt".to_owned(), (self.measured.end - first) as f64)));
        figures
    }
}
