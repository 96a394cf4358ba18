//! The figures of a medium without collision detection, in slots or frame times: throughput, offered traffic, backlog, delay (Kleinrock and Lam 1975).
//!
//! A fold of the engine's events. A frame is *backlogged* from the end of its first unsuccessful slot to the end of its
//! last one, as the medium's senders know it.

use crate::figures::intervals::{Events, half_width};
use crate::figures::results::{HalfWidth, Intervals, RanAway, SlottedResults};
pub use crate::figures::table::RAN_AWAY;
use crate::figures::table::{CSMA_CA, MAC_DELAY, Number, SLOTTED, SlottedFigure, WHOLE};
use crate::words::configuration::slot;
use medium::{BitInstant, BitTimes, Cause, Config, Event, FrameId, HEADER_AND_FCS, Input, MacKind, Method};
use medium::{SlottedAloha, StationId};
use std::collections::HashSet;

/// The last place of `backlog_distribution`, which has all from there on.
const LARGEST_BACKLOG: usize = (1 << 16) - 1;

impl RanAway {
    /// The half-width of its 95 % interval; of one run there is none.
    pub fn half_width(&self) -> Option<f64> {
        half_width(self.slots.iter().map(|&slot| slot as f64))
    }
}

/// Backlogs that say that a channel runs away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Above this one the backlog grows on average.
    pub unstable: u64,
    /// From this one on the channel has run away.
    pub gone: u64,
}

/// Looks out for a channel that runs away.
#[derive(Clone, Copy, Debug, Default)]
struct Lookout {
    edge: Option<Edge>,
    /// When the backlog passed the unstable one last.
    passed: Option<BitInstant>,
    is_gone: bool,
}

impl Lookout {
    /// The backlog has grown by one, to `backlog`.
    #[inline]
    fn grown(&mut self, at: BitInstant, backlog: u64) {
        let Some(Edge { unstable, gone }) = self.edge else { return };
        if backlog == unstable + 1 && !self.is_gone {
            self.passed = Some(at);
        }
        self.is_gone |= backlog >= gone;
    }
}

/// All that any method has in a stretch of a run.
pub fn all() -> impl Iterator<Item = &'static Number<SlottedFigure>> {
    SLOTTED.iter().chain(CSMA_CA)
}

/// The figures of a whole run of this method; a medium without slots has none.
pub fn figures(method: &Method) -> impl Iterator<Item = &'static Number<SlottedFigure>> {
    let further = if matches!(method, Method::CsmaCa(_)) { CSMA_CA } else { WHOLE };
    slot(method).into_iter().flat_map(move |_| SLOTTED.iter().chain(further))
}

/// All that there are, in the order of a table's columns.
pub fn columns() -> impl Iterator<Item = &'static Number<SlottedFigure>> {
    SLOTTED.iter().chain(CSMA_CA).chain(WHOLE)
}

impl SlottedResults {
    /// The same with the part of the time for each number of backlogged frames, from the bit times for each number.
    pub fn with_distribution(mut self, spent: &[u64]) -> SlottedResults {
        let all: u64 = spent.iter().sum();
        let places = spent.iter().rposition(|&bits| bits > 0).map_or(0, |last| last + 1);
        self.backlog_distribution = spent[..places].iter().map(|&bits| bits as f64 / all as f64).collect();
        self
    }

    /// What the method has whose results these are.
    pub fn figures(&self) -> impl Iterator<Item = &'static Number<SlottedFigure>> {
        let further = if self.goodput_mbps.is_some() { CSMA_CA } else { WHOLE };
        SLOTTED.iter().chain(further)
    }
}

/// The sums over a stretch of time from which the figures follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSums {
    slot: u64,
    measured: u64,
    frames: u64,
    attempts: u64,
    /// Bit times from arrival to last bit, of all frames that got through.
    delay: u128,
    /// Backlogged frames, summed over bit times.
    backlog: u128,
    /// Of CSMA/CA, the medium's rate; 0 of others.
    rate: u64,
    /// Bits of data in frames that got through.
    data: u64,
    collisions: u64,
    /// Slots that were drawn.
    waited: u64,
}

/// Counts what happens on a slotted medium.
#[derive(Clone, Debug)]
pub struct Slots {
    sums: SlotSums,
    /// Since when the sums count, and up to when the backlog has been summed.
    from: BitInstant,
    at: BitInstant,
    backlogged: u64,
    /// The backlogged frames, where frames draw for each slot and no backoff tells of them: from their first collision on.
    drawing: Option<HashSet<FrameId>>,
    /// For each number of frames, how many bit times it was the backlog.
    spent: Vec<u64>,
    /// Who has just found the line busy: if it gives way, that is no attempt in vain.
    deferred: Option<(BitInstant, FrameId)>,
    /// Which station was unplugged last, and when.
    unplugged: Option<(BitInstant, StationId)>,
    lookout: Lookout,
}

impl Slots {
    /// Those of a medium made from `config`; nothing if it has no slots.
    pub fn of(config: &Config) -> Option<Slots> {
        let mut slots = slot(&config.method).map(Slots::new)?;
        if let Method::CsmaCa(_) = config.method {
            slots.sums.rate = config.rate.get();
        }
        if let Method::SlottedAloha(SlottedAloha { control: Some(_), .. }) = config.method {
            slots.drawing = Some(HashSet::new());
        }
        Some(slots)
    }

    /// Slots of this length, nothing counted yet.
    pub fn new(slot: BitTimes) -> Slots {
        let sums = SlotSums { slot: slot.get(), ..SlotSums::default() };
        let (from, at) = (BitInstant::ZERO, BitInstant::ZERO);
        let lookout = Lookout::default();
        let (drawing, spent) = (None, Vec::new());
        Slots { sums, from, at, backlogged: 0, drawing, spent, deferred: None, unplugged: None, lookout }
    }

    /// From now on looks out for a backlog that passes `edge`.
    pub fn look_out(&mut self, edge: Edge) {
        self.lookout.edge = Some(edge);
    }

    /// When the channel ran away, if it has.
    pub fn ran_away(&self) -> Option<BitInstant> {
        self.lookout.passed.filter(|_| self.lookout.is_gone)
    }

    /// The medium is given an input at `at`; its events come next.
    #[inline]
    pub fn input(&mut self, at: BitInstant, input: &Input) {
        if let Some((station, false)) = input.plugs() {
            self.unplugged = Some((at, station));
        }
    }

    /// Takes one more event in. Where its kind is known when this is compiled, most events cost nothing.
    #[inline(always)]
    pub fn record(&mut self, event: &Event) {
        let Some(kind) = event.kind.mac() else { return };
        let waits = match kind {
            MacKind::Collision { .. } => Some(true),
            MacKind::Transmitted { .. } | MacKind::Discarded { .. } => Some(false),
            MacKind::Attempt { .. } | MacKind::Defer { .. } | MacKind::Backoff { .. } | MacKind::JamEnd { .. } => None,
        };
        if let (Some(waits), true) = (waits, self.drawing.is_some()) {
            self.draw(event.at, event.frame, waits);
        }
        match kind {
            MacKind::Attempt { .. } => self.sums.attempts += 1,
            MacKind::Defer { .. } => self.deferred = Some((event.at, event.frame)),
            // It comes before the first attempt.
            MacKind::Backoff { attempt: 0, slots } => self.sums.waited += slots,
            // It gives way to another sender: that counts as offered, but nothing was sent.
            MacKind::Backoff { .. } if self.deferred.take() == Some((event.at, event.frame)) => self.sums.attempts += 1,
            MacKind::Backoff { attempt, slots } => {
                self.sums.waited += slots;
                if attempt == 1 {
                    self.pass(event.at);
                    self.backlogged += 1;
                    self.lookout.grown(event.at, self.backlogged);
                }
            }
            MacKind::Transmitted { size, attempts, mac_delay, .. } => {
                self.sums.frames += 1;
                self.sums.data += u64::from(size.get().saturating_sub(HEADER_AND_FCS.get())) * 8;
                self.sums.delay += u128::from(mac_delay.get());
                self.leave(event.at, attempts);
            }
            // The last collision draws no backoff any more, so a frame with one attempt was never backlogged; unless it
            // waited for its second one as its station was unplugged.
            MacKind::Discarded { attempts: 1, cause: Cause::Detached }
                if self.unplugged == Some((event.at, event.station)) =>
            {
                self.leave(event.at, 2);
            }
            MacKind::Discarded { attempts, .. } => self.leave(event.at, attempts),
            MacKind::Collision { .. } => self.sums.collisions += 1,
            MacKind::JamEnd { .. } => {}
        }
    }

    /// Counts the backlog where frames draw for each slot: `frame` waits for that from now on, or no longer.
    #[cold]
    fn draw(&mut self, at: BitInstant, frame: FrameId, waits: bool) {
        let Some(drawing) = &mut self.drawing else { return };
        let changed = if waits { drawing.insert(frame) } else { drawing.remove(&frame) };
        if changed {
            let backlogged = drawing.len() as u64;
            self.pass(at);
            self.backlogged = backlogged;
        }
    }

    /// Takes the sums up to `at`, and begins new ones there.
    pub fn take(&mut self, at: BitInstant) -> SlotSums {
        self.pass(at);
        let sums = SlotSums { measured: at.since(self.from).get(), ..self.sums };
        self.from = at;
        self.sums = SlotSums { slot: sums.slot, rate: sums.rate, ..SlotSums::default() };
        sums
    }

    /// Takes the bit times that were spent with 0, 1, 2 … backlogged frames, up to where the sums were taken.
    pub fn take_spent(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.spent)
    }

    /// Counts from zero again.
    pub fn restart(&mut self, at: BitInstant) {
        self.take(at);
        self.spent.clear();
    }

    fn leave(&mut self, at: BitInstant, attempts: u32) {
        if attempts > 1 && self.drawing.is_none() {
            self.pass(at);
            self.backlogged -= 1;
        }
    }

    fn pass(&mut self, at: BitInstant) {
        let passed = at.since(self.at).get();
        self.sums.backlog += u128::from(self.backlogged) * u128::from(passed);
        let place = (self.backlogged as usize).min(LARGEST_BACKLOG);
        if place >= self.spent.len() {
            self.spent.resize(place + 1, 0);
        }
        self.spent[place] += passed;
        self.at = at;
    }
}

impl SlotSums {
    /// The sums of this stretch and another one.
    pub fn and(self, other: SlotSums) -> SlotSums {
        SlotSums {
            slot: self.slot.max(other.slot),
            measured: self.measured + other.measured,
            frames: self.frames + other.frames,
            attempts: self.attempts + other.attempts,
            delay: self.delay + other.delay,
            backlog: self.backlog + other.backlog,
            rate: self.rate.max(other.rate),
            data: self.data + other.data,
            collisions: self.collisions + other.collisions,
            waited: self.waited + other.waited,
        }
    }

    /// How long a slot is.
    pub fn slot(&self) -> BitTimes {
        BitTimes::new(self.slot)
    }

    /// Works out the figures.
    pub fn results(&self) -> SlottedResults {
        let slots = self.measured as f64 / self.slot as f64;
        let a_slot = |count: u64| if self.measured == 0 { 0.0 } else { count as f64 / slots };
        let delay = self.delay as f64 / self.slot as f64 / self.frames as f64;
        let is_wireless = self.rate > 0;
        let attempted = is_wireless && self.attempts > 0;
        let seconds = self.measured as f64 / self.rate as f64;
        let megabits = |bits: u64| if self.measured == 0 { 0.0 } else { bits as f64 / seconds / 1e6 };
        SlottedResults {
            throughput: a_slot(self.frames),
            offered_traffic: a_slot(self.attempts),
            backlog: if self.measured == 0 { 0.0 } else { self.backlog as f64 / self.measured as f64 },
            backlog_distribution: Vec::new(),
            longest_waiting_bt: None,
            ran_away: None,
            delay: (self.frames > 0).then_some(delay),
            goodput_mbps: is_wireless.then(|| megabits(self.data)),
            collision_probability: attempted.then(|| self.collisions as f64 / self.attempts as f64),
            tau: attempted.then(|| self.attempts as f64 / (self.attempts + self.waited) as f64),
        }
    }
}

/// Adds the half-widths of the figures to `intervals`, from the sums of its samples.
///
/// Batches of one run that lie next to each other depend on each other; so the widest of the half-widths from all of them,
/// from pairs and from groups of four serves. Runs are independent.
pub fn add_half_widths(intervals: &mut Intervals, samples: &[SlotSums], independent: bool) {
    let groups: &[usize] = if independent { &[1] } else { &[1, 2, 4] };
    let all_of_them = samples.iter().copied().fold(SlotSums::default(), SlotSums::and);
    for Number { name, value: figure, .. } in all() {
        let half = |size: &usize| {
            let sums =
                samples.chunks_exact(*size).map(|group| group.iter().copied().fold(SlotSums::default(), SlotSums::and));
            let told: Vec<f64> = sums.filter_map(|sums| figure(&sums.results())).collect();
            half_width(told.iter().copied())
        };
        let half = events(&all_of_them, name, figure(&all_of_them.results()))
            .half_width(groups.iter().filter_map(half).reduce(f64::max));
        intervals.half_widths.extend(half.map(|half| ((*name).to_owned(), HalfWidth::Number(half))));
    }
    // It is the mean MAC delay, in slots: of rare delays that knows more.
    if let (Some(mean), slot @ 1..) = (intervals.half_width(MAC_DELAY, Some("mean_bt")), all_of_them.slot) {
        let delay = mean / slot as f64;
        intervals.half_widths.insert("delay".to_owned(), HalfWidth::Number(delay));
        // By Little's law a frame that waits so much longer is backlogged so much more.
        let more = delay * all_of_them.results().throughput;
        let backlog = intervals.half_width("backlog", None).unwrap_or_default().max(more);
        intervals.half_widths.insert("backlog".to_owned(), HalfWidth::Number(backlog));
    }
}

/// What the figure called `name` counts, which has this value.
fn events(sums: &SlotSums, name: &str, value: Option<f64>) -> Events {
    let value = value.unwrap_or_default();
    match name {
        "throughput" | "goodput_mbps" => Events::each(sums.frames, value),
        "offered_traffic" => Events::each(sums.attempts, value),
        // A frame is backlogged for a slot at least.
        "backlog" => {
            let slot = sums.slot as f64 / sums.measured.max(1) as f64;
            Events { count: sums.collisions, each: (value / sums.collisions.max(1) as f64).max(slot) }
        }
        "collision_probability" => Events::part(Some(value), sums.attempts),
        "tau" => Events::part(Some(value), sums.attempts + sums.waited),
        _ => Events::default(),
    }
}
