//! What will be heard at stations' places, and which gaps will end: by instant, and then in the order in which it was
//! expected. Stations beside each other that expect the same share an entry.

use crate::scene::Signal;
use medium::{BitInstant, BitTimes, Config, StationId};
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    SignalEnds { signal: u64 },
    SignalBegins { signal: u64 },
    GapEnds { gap: u64 },
}

/// Stations whose numbers follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub first: u16,
    pub end: u16,
}

impl Row {
    /// One station.
    pub fn of(station: StationId) -> Row {
        let first = station.index() as u16;
        Row { first, end: first + 1 }
    }

    pub fn contains(self, station: StationId) -> bool {
        self.places().contains(&station.index())
    }

    /// The places of its stations in a list of all.
    pub fn places(self) -> Range<usize> {
        self.first.into()..self.end.into()
    }
}

/// What happens at an instant.
pub(super) type List = Vec<(Row, Due)>;

#[derive(Debug, Default)]
pub(super) struct Agenda {
    instants: VecDeque<(BitInstant, List)>,
    /// Where something was expected last.
    latest: usize,
    /// Lists of instants that are over, to be used again.
    spare: Vec<List>,
    /// The number of the last gap.
    gaps: u64,
}

impl Agenda {
    #[inline]
    pub fn expect(&mut self, at: BitInstant, row: Row, due: Due) {
        self.list(at).push((row, due));
    }

    /// A gap will end. Its number, which stations before may have, too.
    pub fn expect_gap(&mut self, at: BitInstant, row: Row) -> u64 {
        if let Some((before, Due::GapEnds { gap })) = self.list(at).last_mut()
            && before.end == row.first
        {
            before.end = row.end;
            return *gap;
        }
        self.gaps += 1;
        self.expect(at, row, Due::GapEnds { gap: self.gaps });
        self.gaps
    }

    /// What happens at the first instant, if that is not after `now`. The caller gives the list back.
    #[inline]
    pub fn take_first(&mut self, now: BitInstant) -> Option<(BitInstant, List)> {
        self.instants.pop_front_if(|(at, _)| *at <= now)
    }

    pub fn give_back(&mut self, mut list: List) {
        list.clear();
        self.spare.push(list);
    }

    /// The last instant at which something is expected.
    pub fn last(&self) -> Option<BitInstant> {
        self.instants.back().map(|(at, _)| *at)
    }

    #[inline]
    fn list(&mut self, at: BitInstant) -> &mut List {
        if self.instants.get(self.latest).is_none_or(|(instant, _)| *instant != at) {
            self.latest = self.instants.partition_point(|(instant, _)| *instant < at);
            if self.instants.get(self.latest).is_none_or(|(instant, _)| *instant != at) {
                self.instants.insert(self.latest, (at, self.spare.pop().unwrap_or_default()));
            }
        }
        &mut self.instants[self.latest].1
    }
}

/// Which stations a signal reaches, and after which time: worked out once for each sender while the cable is
/// whole and repeaters have no jitter.
#[derive(Debug)]
pub(super) struct Reached {
    of: Vec<Vec<(Row, BitTimes)>>,
    /// Those of a signal with ways of its own.
    own: Vec<(Row, BitTimes)>,
}

impl Reached {
    pub fn new(stations: usize) -> Reached {
        Reached { of: vec![Vec::new(); stations], own: Vec::new() }
    }

    pub fn by(&mut self, signal: &Signal, config: &Config) -> &[(Row, BitTimes)] {
        if signal.parted.is_some() || config.topology.jitter() > BitTimes::ZERO {
            self.own = rows(signal, config);
            return &self.own;
        }
        let of = &mut self.of[signal.source.index()];
        if of.is_empty() {
            // A signal reaches its sender at least.
            *of = rows(signal, config);
        }
        of
    }
}

fn rows(signal: &Signal, config: &Config) -> Vec<(Row, BitTimes)> {
    let mut rows: Vec<(Row, BitTimes)> = Vec::new();
    for number in 0..config.topology.stations() as u16 {
        let station = StationId::new(number);
        if !signal.reaches(station, config) {
            continue;
        }
        let way = config.way(signal.source, signal.begin, station);
        match rows.last_mut() {
            Some((row, its)) if row.end == number && *its == way => row.end += 1,
            _ => rows.push((Row { first: number, end: number + 1 }, way)),
        }
    }
    rows
}
