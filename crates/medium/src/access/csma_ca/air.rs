//! Recent signals in the air, and what a place hears of them.
//!
//! Every signal is sent whole, so its end is known as it begins. No station is notified of signals: it works out what
//! it has heard when it looks. Nothing here knows how stations react.

use crate::config::{Capture, CsmaCa, Reach};
use crate::frame::{Addressed, FrameId, StationId, TransmissionId};
use crate::line::Sides;
use crate::noise::Noise;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::topology::Topology;
use std::collections::VecDeque;
use std::ops::Range;

/// What a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A signal.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub source: StationId,
    /// The one station that it is for.
    pub to: Option<StationId>,
    /// Of a frame: its destination and its length.
    pub destination: Addressed,
    pub size: Octets,
    pub content: Content,
    /// The frame that it is, requests, grants or acknowledges.
    pub about: FrameId,
    pub begin: BitInstant,
    pub end: BitInstant,
    /// How long it reserves the medium after its end (Duration).
    pub reserves: BitTimes,
    /// Its FCS is right.
    pub good: bool,
    /// The collision that it took part in.
    pub episode: Option<u64>,
    /// The stations that do not hear it, if the line was cut or a station was deaf as it began.
    pub shadow: Option<Box<Shadow>>,
}

/// The stations that do not hear a signal.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// The line was cut as it began: which stations were on the far side.
    pub parted: Option<Sides>,
    /// Which stations were deaf as it began.
    pub deaf: Box<[bool]>,
}

impl Signal {
    /// The line was cut as it began: which stations were on the far side.
    #[inline]
    pub fn parted(&self) -> Option<&Sides> {
        self.shadow.as_ref().and_then(|shadow| shadow.parted.as_ref())
    }
}

/// A signal, and whether no other can be at the same place at the same time.
#[derive(Debug)]
struct Entry {
    signal: Signal,
    alone: bool,
}

/// All signals that still matter to some station, in order of begin.
#[derive(Debug)]
pub(super) struct Air {
    entries: VecDeque<Entry>,
    /// The number of the first entry.
    first: u64,
    /// Which stations hear each other, if not all do.
    reach: Option<Reach>,
    /// Which signal is decoded of several; `None`: no one.
    capture: Option<Capture>,
    /// What precedes the bits of every signal: a wrong bit in it does no harm.
    preamble: BitTimes,
    /// The longest way.
    longest: BitTimes,
    eifs: BitTimes,
    /// The longest time between two looks of a station, reservations not counted.
    longest_wait: BitTimes,
    last_end: BitInstant,
    longest_signal: BitTimes,
    longest_reservation: BitTimes,
}

/// How a station hears a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It can be decoded.
    Clear,
    /// It cannot be decoded: its FCS is wrong, or another signal was there, and it was not captured.
    Spoilt,
    /// The station sent meanwhile, and so did not hear it.
    SpokenOver,
}

/// A signal as it passes a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub begin: BitInstant,
    pub end: BitInstant,
    pub number: u64,
}

impl Air {
    /// An empty air. After what it has heard, no station waits longer than `longest_wait` before it looks.
    pub fn new(topology: &Topology, own: &CsmaCa, eifs: BitTimes, longest_wait: BitTimes) -> Air {
        let longest = BitTimes::new(topology.round_trip().get() / 2);
        Air {
            entries: VecDeque::new(),
            first: 0,
            reach: own.reach.clone().filter(Reach::hides_some),
            capture: own.capture.clone(),
            preamble: own.phy.preamble(),
            longest,
            eifs,
            longest_wait,
            last_end: BitInstant::ZERO,
            longest_signal: BitTimes::ZERO,
            longest_reservation: BitTimes::ZERO,
        }
    }

    /// Some stations are hidden from others.
    pub fn has_hidden(&self) -> bool {
        self.reach.is_some()
    }

    /// The longest way.
    pub fn longest(&self) -> BitTimes {
        self.longest
    }

    /// Signals that began before this instant do not matter to a station that begins to listen at `now`.
    pub fn horizon(&self, now: BitInstant) -> BitInstant {
        let reach = self.longest_signal + self.longest_reservation + self.longest + self.eifs;
        BitInstant::new(now.get().saturating_sub(reach.get()))
    }

    #[inline]
    pub fn get(&self, id: TransmissionId) -> &Signal {
        &self.entries[(id.get() - self.first) as usize].signal
    }

    fn entry(&self, number: u64) -> &Entry {
        &self.entries[(number - self.first) as usize]
    }

    pub fn signal(&self, number: u64) -> &Signal {
        &self.entry(number).signal
    }

    /// The number of the next signal.
    #[inline]
    pub fn next_id(&self) -> TransmissionId {
        TransmissionId::new(self.first + self.entries.len() as u64)
    }

    /// The signals that began at `begin` and later, each with its number.
    pub fn begun_since(&self, begin: BitInstant) -> impl Iterator<Item = (u64, &Signal)> {
        let before = self.entries.partition_point(|entry| entry.signal.begin < begin);
        (self.first + before as u64..).zip(self.entries.range(before..).map(|entry| &entry.signal))
    }

    /// Adds a signal, under the next number.
    pub fn begin(&mut self, signal: Signal) {
        let (longest, oldest) = (self.longest, self.horizon(signal.begin));
        let now = signal.begin;
        while self.entries.front().is_some_and(|old| old.signal.end + self.longest_wait < oldest) {
            self.entries.pop_front();
            self.first += 1;
        }
        let alone = self.last_end + longest <= now;
        if !alone {
            let reach = self.longest_signal + longest;
            let late = self.entries.iter_mut().rev().take_while(|old| old.signal.begin + reach > now);
            late.filter(|old| old.signal.end + longest > now).for_each(|old| old.alone = false);
        }
        self.last_end = self.last_end.max(signal.end);
        self.longest_signal = self.longest_signal.max(signal.end - signal.begin);
        self.longest_reservation = self.longest_reservation.max(signal.reserves);
        self.entries.push_back(Entry { signal, alone });
    }

    /// The signal, which has just begun, is an answer to station `to`.
    pub fn answers(&mut self, id: TransmissionId, to: StationId) {
        self.entries[(id.get() - self.first) as usize].signal.to = Some(to);
    }

    /// Whether the signal gets to `place`.
    #[inline]
    pub fn reaches(&self, signal: &Signal, place: StationId) -> bool {
        let source = signal.source;
        let near = self.reach.as_ref().is_none_or(|reach| reach.joins(source, place));
        near && signal.parted().is_none_or(|far| far[place.index()] == far[source.index()])
    }

    /// When the signal is at `place`, if it reaches the station there.
    #[inline]
    fn heard(&self, topology: &Topology, number: u64, place: StationId) -> Option<Arrival> {
        let signal = self.signal(number);
        if signal.shadow.as_ref().is_some_and(|shadow| shadow.deaf[place.index()]) || !self.reaches(signal, place) {
            return None;
        }
        let way = topology.distance(signal.source, place);
        Some(Arrival { begin: signal.begin + way, end: signal.end + way, number })
    }

    /// The signals from number `next` on that begin at `place` at `since` or later and before `now`, in order of begin.
    pub fn arrivals(
        &self,
        topology: &Topology,
        place: StationId,
        (since, now): (BitInstant, BitInstant),
        next: u64,
        into: &mut Vec<Arrival>,
    ) {
        into.clear();
        let numbers = next.max(self.first)..self.first + self.entries.len() as u64;
        let heard = numbers.filter_map(|number| self.heard(topology, number, place));
        into.extend(heard.filter(|arrival| arrival.begin >= since && arrival.begin < now));
        if !into.is_sorted_by_key(|arrival| arrival.begin) {
            into.sort_by_key(|arrival| (arrival.begin, arrival.number));
        }
    }

    /// The signals from number `next` on, in order of begin at their sources, each with its number.
    #[inline]
    pub fn from(&self, next: u64) -> impl Iterator<Item = (u64, &Signal)> {
        let next = next.max(self.first);
        (next..).zip(self.entries.range((next - self.first) as usize..).map(|entry| &entry.signal))
    }

    /// The first signal from number `next` on that may still begin at some place at `since` or later.
    pub fn next_after(&self, mut next: u64, since: BitInstant) -> u64 {
        next = next.max(self.first);
        let past = |number: u64| {
            let index = (number - self.first) as usize;
            self.entries.get(index).is_some_and(|entry| entry.signal.begin + self.longest < since)
        };
        while past(next) {
            next += 1;
        }
        next
    }

    /// The numbers of signals that may overlap with this one at some place, this one included; an empty range if it is
    /// alone.
    fn about(&self, number: u64) -> Range<u64> {
        let Entry { signal, alone } = self.entry(number);
        if *alone {
            return number..number;
        }
        let reach = self.longest_signal + self.longest;
        let (mut first, mut end) = (number, number + 1);
        while first > self.first && self.signal(first - 1).begin + reach > signal.begin {
            first -= 1;
        }
        while end < self.next_id().get() && self.signal(end).begin < signal.end + self.longest {
            end += 1;
        }
        first..end
    }

    /// Whether signal `other` is at `place` at the same time as this one; false for this one itself.
    fn meets(&self, topology: &Topology, number: u64, place: StationId, other: u64) -> bool {
        if other == number {
            return false;
        }
        let (this, that) = (self.signal(number), self.signal(other));
        let (way, other_way) = (topology.distance(this.source, place), topology.distance(that.source, place));
        let overlaps = that.begin + other_way < this.end + way && this.begin + way < that.end + other_way;
        overlaps && self.reaches(that, place)
    }

    /// The station at `place` can decode the signal: its FCS is right, and no other signal overlaps there, or it
    /// is captured.
    #[inline]
    pub fn is_clear(&self, topology: &Topology, number: u64, place: StationId) -> bool {
        self.heard_as(topology, number, place) == Heard::Clear
    }

    /// How the station at `place`, which did not send the signal, hears it.
    #[inline]
    pub fn heard_as(&self, topology: &Topology, number: u64, place: StationId) -> Heard {
        let entry = self.entry(number);
        if entry.alone {
            return if entry.signal.good { Heard::Clear } else { Heard::Spoilt };
        }
        self.heard_among(topology, number, place)
    }

    /// Wrong bits at `place` spoil the signal for the station there, or it hears nothing.
    #[inline]
    pub fn is_struck(&self, topology: &Topology, noise: &Noise, number: u64, place: StationId) -> bool {
        if !noise.is_on {
            return false;
        }
        let signal = self.signal(number);
        let way = topology.distance(signal.source, place);
        let begin = signal.begin + way;
        noise.strikes(place, begin, (begin + self.preamble, signal.end + way))
    }

    #[inline(never)]
    fn heard_among(&self, topology: &Topology, number: u64, place: StationId) -> Heard {
        let mut met = self.about(number).filter(|&other| self.meets(topology, number, place, other)).peekable();
        let is_clear = met.peek().is_none() || self.captured(topology, number, place, met.clone());
        if met.any(|other| self.signal(other).source == place) {
            return Heard::SpokenOver;
        }
        if is_clear && self.signal(number).good { Heard::Clear } else { Heard::Spoilt }
    }

    /// The station at `place` decodes the signal although it `met` others there.
    fn captured(&self, topology: &Topology, number: u64, place: StationId, met: impl Iterator<Item = u64>) -> bool {
        let Some(capture) = &self.capture else { return false };
        let there = |number| {
            let Signal { source, begin, end, .. } = *self.signal(number);
            let way = topology.distance(source, place);
            (source, begin + way, end + way)
        };
        let (source, begin, _) = there(number);
        capture.survives(place, (source, begin), met.map(there))
    }

    /// Puts the signal and those that it overlaps with at `place` into one collision, and gives its number: the number
    /// that one of them has already, or `next`; `None` without an overlap.
    pub fn share_episode(&mut self, topology: &Topology, number: u64, place: StationId, next: u64) -> Option<u64> {
        let near = self.about(number);
        let mut met = near.clone().filter(|&other| self.meets(topology, number, place, other)).peekable();
        met.peek()?;
        let known = met.chain([number]).filter_map(|party| self.signal(party).episode).min();
        let episode = known.unwrap_or(next);
        for party in near {
            let has_one = self.signal(party).episode.is_some();
            if !has_one && (party == number || self.meets(topology, number, place, party)) {
                self.entries[(party - self.first) as usize].signal.episode = Some(episode);
            }
        }
        self.signal(number).episode
    }
}
