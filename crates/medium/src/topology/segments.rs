//! Segments of cable that repeaters join into a tree, and the only way of a signal between two stations.
//!
//! ```text
//!   segment 0  ──a───────┬────        from a to b: |a − port| on segment 0, the repeater's delay
//!                    repeater         and what it adds to this signal, then |port − b| on segment 1
//!   segment 1  ──────────┴──b─
//! ```
//! Knows cable and delays only. What a repeater adds to its delay is drawn from the run's seed, the repeater, the
//! signal's source and its begin ([`draws`](crate::draws)). The other effect of a repeater
//! needs no code: no transmission is shorter than the 96 bits to which a repeater extends a fragment (802.3, 9.6.4,
//! 27.3.1.4.4, 41.2.1.4.4).

use crate::draws::{REPEATERS, draws};
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use crate::topology::{MAX_DISTANCE, TopologyError};

/// A place on a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Place {
    /// The segment's number, from 0.
    pub segment: usize,
    /// The time that a signal takes to it from the segment's end.
    #[cfg_attr(feature = "serde", serde(rename = "position_bt"))]
    pub position: BitTimes,
}

/// A repeater: a signal at one port goes out at all others, a little later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeater {
    /// From the first bit in at a port to the first bit out at another.
    pub delay: BitTimes,
    /// The most by which it is later for some transmissions: each has a draw of its own, from 0 to this, which holds for
    /// all of it and at all ports.
    pub jitter: BitTimes,
    /// The places of its ports; at least two, each on another segment.
    pub ports: Vec<Place>,
}

/// Stations on segments of cable that repeaters join into a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    stations: Vec<Place>,
    repeaters: Vec<Repeater>,
    segments: usize,
    /// For each pair of segments: the way between them. Row by row, ordered by the first segment.
    ways: Vec<Way>,
    /// For each way its last step, if some repeater has jitter; otherwise none.
    steps: Vec<Step>,
}

/// The last repeater of a way, the segment on its near side, and the jitter of the whole way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Step {
    repeater: u16,
    from: u16,
    jitter: u32,
}

/// The way out of one segment to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    /// The place where the way leaves this segment. It enters the other segment at the exit of the way back.
    exit: u32,
    /// From there to the entry of the other, cable and delays.
    between: u32,
    repeaters: u16,
    known: bool,
}

impl Segments {
    /// The most segments in one topology: each station on its own, as at hubs.
    pub const MAX_SEGMENTS: usize = 1024;

    /// Stations at `stations`, in order of their numbers, on segments that `repeaters` join.
    ///
    /// # Errors
    /// A repeater with fewer than two ports, or one that closes a loop; segments that no repeater joins; a place, a
    /// delay or a way of more than 2^31 bit times; a segment number of 1024 or more.
    pub fn new(stations: Vec<Place>, repeaters: &[Repeater]) -> Result<Segments, TopologyError> {
        let ports = || repeaters.iter().flat_map(|repeater| &repeater.ports);
        for &Place { segment, position } in stations.iter().chain(ports()) {
            if segment >= Segments::MAX_SEGMENTS {
                return Err(TopologyError::Segment { segment });
            }
            if position > MAX_DISTANCE {
                return Err(TopologyError::Place { segment, position });
            }
        }
        let segments = stations.iter().chain(ports()).map(|place| place.segment + 1).max().unwrap_or(0);
        check_tree(segments, repeaters)?;
        let mut made =
            Segments { stations, repeaters: repeaters.to_vec(), segments, ways: Vec::new(), steps: Vec::new() };
        made.ways = vec![Way { known: false, ..Way::default() }; segments * segments];
        if made.jitter() > BitTimes::ZERO {
            made.steps = vec![Step::default(); segments * segments];
        }
        (0..segments).try_for_each(|segment| made.lead_out_of(segment))?;
        Ok(made)
    }

    /// The places of the stations, in order of their numbers.
    pub fn stations(&self) -> &[Place] {
        &self.stations
    }

    /// The repeaters, as they were given.
    pub fn repeaters(&self) -> &[Repeater] {
        &self.repeaters
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// The number of repeaters that a signal passes between two stations.
    pub fn repeaters_between(&self, a: usize, b: usize) -> usize {
        self.way(self.stations[a].segment, self.stations[b].segment).repeaters.into()
    }

    /// The jitter of all repeaters together.
    pub(crate) fn jitter(&self) -> BitTimes {
        BitTimes::new(self.repeaters.iter().map(|repeater| repeater.jitter.get()).sum())
    }

    /// The most that repeaters add on the way between two segments.
    fn jitter_between(&self, from: usize, to: usize) -> u64 {
        self.steps.get(from * self.segments + to).map_or(0, |step| step.jitter.into())
    }

    /// What the repeaters on the way of a signal, given as its source and begin, add to the distance to station `b`.
    #[inline]
    pub(crate) fn late(&self, seed: u64, signal: (StationId, BitInstant), b: usize) -> BitTimes {
        if self.steps.is_empty() { BitTimes::ZERO } else { self.drawn(seed, signal, b) }
    }

    #[cold]
    fn drawn(&self, seed: u64, (source, begin): (StationId, BitInstant), b: usize) -> BitTimes {
        let (first, mut segment) = (self.stations[source.index()].segment, self.stations[b].segment);
        let mut late = 0;
        while segment != first {
            let step = self.steps[first * self.segments + segment];
            let stream = REPEATERS + (u64::from(step.repeater) << 16) + source.index() as u64;
            let range = self.repeaters[usize::from(step.repeater)].jitter.get() + 1;
            late += (draws(seed, stream, begin.get()).next_high_bits(32) * range) >> 32;
            segment = step.from.into();
        }
        BitTimes::new(late)
    }

    /// How long a signal takes between two stations at most.
    pub(crate) fn most(&self, a: usize, b: usize) -> BitTimes {
        let jitter = self.jitter_between(self.stations[a].segment, self.stations[b].segment);
        self.distance(a, b) + BitTimes::new(jitter)
    }

    /// How long a signal takes between two stations at least.
    #[inline]
    pub(crate) fn distance(&self, a: usize, b: usize) -> BitTimes {
        let (a, b) = (self.stations[a], self.stations[b]);
        if a.segment == b.segment {
            return BitTimes::new(a.position.get().abs_diff(b.position.get()));
        }
        let (out, back) = (self.way(a.segment, b.segment), self.way(b.segment, a.segment));
        let ends = a.position.get().abs_diff(out.exit.into()) + b.position.get().abs_diff(back.exit.into());
        BitTimes::new(ends + u64::from(out.between))
    }

    /// Where a signal of a station enters a segment, and the time that it takes to there at most.
    pub(crate) fn entry(&self, station: usize, segment: usize) -> (u64, u64) {
        let Place { segment: own, position } = self.stations[station];
        if own == segment {
            return (position.get(), 0);
        }
        let (out, back) = (self.way(own, segment), self.way(segment, own));
        let between = u64::from(out.between) + self.jitter_between(own, segment);
        (back.exit.into(), position.get().abs_diff(out.exit.into()) + between)
    }

    /// The stations on the far side of a cut: those that a signal from the cut segment's near end cannot reach.
    pub(crate) fn beyond(&self, cut: Place) -> Box<[bool]> {
        let place_there = |station: &Place| {
            if station.segment == cut.segment {
                return station.position;
            }
            BitTimes::new(self.way(cut.segment, station.segment).exit.into())
        };
        self.stations.iter().map(|station| place_there(station) >= cut.position).collect()
    }

    fn way(&self, from: usize, to: usize) -> &Way {
        &self.ways[from * self.segments + to]
    }

    /// Walks the tree from `first` and notes the way to every segment.
    fn lead_out_of(&mut self, first: usize) -> Result<(), TopologyError> {
        let row = first * self.segments;
        self.ways[row + first].known = true;
        // The segments reached, where the way enters them, and by which repeater.
        let mut reached = vec![(first, None, usize::MAX)];
        while let Some((segment, entry, by)) = reached.pop() {
            let so_far = self.ways[row + segment];
            for (number, repeater) in self.repeaters.iter().enumerate().filter(|(number, _)| *number != by) {
                let Some(exit) = repeater.ports.iter().find(|port| port.segment == segment) else { continue };
                let position = exit.position.get();
                let across = entry.map_or(0, |entry: u64| entry.abs_diff(position));
                let between = u64::from(so_far.between) + across + repeater.delay.get();
                let way = Way {
                    exit: if entry.is_none() { position as u32 } else { so_far.exit },
                    between: u32::try_from(between).unwrap_or(u32::MAX),
                    repeaters: so_far.repeaters + 1,
                    known: true,
                };
                let jitter = self.jitter_between(first, segment) + repeater.jitter.get();
                for port in repeater.ports.iter().filter(|port| port.segment != segment) {
                    if between + jitter > MAX_DISTANCE.get() {
                        return Err(TopologyError::Way { from: first, to: port.segment });
                    }
                    self.ways[row + port.segment] = way;
                    if let Some(step) = self.steps.get_mut(row + port.segment) {
                        *step = Step { repeater: number as u16, from: segment as u16, jitter: jitter as u32 };
                    }
                    reached.push((port.segment, Some(port.position.get()), number));
                }
            }
        }
        Ok(())
    }
}

/// Checks that every repeater joins separate segments, and that in the end all are joined.
fn check_tree(segments: usize, repeaters: &[Repeater]) -> Result<(), TopologyError> {
    let mut part: Vec<usize> = (0..segments).collect();
    for (number, repeater) in repeaters.iter().enumerate() {
        let ports = repeater.ports.len();
        if ports < 2 {
            return Err(TopologyError::Ports { repeater: number, ports });
        }
        if repeater.delay.max(repeater.jitter) > MAX_DISTANCE {
            return Err(TopologyError::Delay { repeater: number, delay: repeater.delay.max(repeater.jitter) });
        }
        let joined = part[repeater.ports[0].segment];
        for port in &repeater.ports[1..] {
            let other = part[port.segment];
            if other == joined {
                return Err(TopologyError::Loop { repeater: number, segment: port.segment });
            }
            part.iter_mut().filter(|one| **one == other).for_each(|one| *one = joined);
        }
    }
    match (0..segments).find(|&segment| part[segment] != part[0]) {
        Some(segment) => Err(TopologyError::NotJoined { segment }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(segment: usize, position: u64) -> Place {
        Place { segment, position: BitTimes::new(position) }
    }

    fn repeater(delay: u64, ports: &[(usize, u64)]) -> Repeater {
        let ports = ports.iter().map(|&(segment, position)| place(segment, position)).collect();
        Repeater { delay: BitTimes::new(delay), jitter: BitTimes::ZERO, ports }
    }

    /// 0 ─(8)─ 1 ─(8)─ 2, and segment 3 at the second repeater too.
    fn tree() -> Segments {
        let repeaters = [repeater(8, &[(0, 10), (1, 0)]), repeater(8, &[(1, 20), (2, 5), (3, 0)])];
        Segments::new(vec![place(0, 3), place(1, 6), place(2, 1), place(3, 9), place(0, 30)], &repeaters)
            .expect("a tree")
    }

    #[test]
    fn a_signal_takes_the_cable_and_each_repeater_on_its_one_way() {
        let tree = tree();
        for (a, b, distance, repeaters) in [
            (0, 1, 7 + 8 + 6, 1),
            (0, 2, 7 + 8 + 20 + 8 + 4, 2),
            (2, 3, 4 + 8 + 9, 1),
            (0, 4, 27, 0),
            (4, 2, 20 + 8 + 20 + 8 + 4, 2),
            (1, 1, 0, 0),
        ] {
            assert_eq!(tree.distance(a, b), BitTimes::new(distance), "{a} to {b}");
            assert_eq!(tree.distance(b, a), BitTimes::new(distance), "{b} to {a}");
            assert_eq!(tree.repeaters_between(a, b), repeaters, "{a} to {b}");
        }
    }

    /// The engine's reasoning about settled deliveries depends on it.
    #[test]
    fn no_way_round_is_shorter_than_the_straight_one() {
        let tree = tree();
        for (a, b, c) in (0..125).map(|n| (n / 25, n / 5 % 5, n % 5)) {
            assert!(tree.distance(a, c) <= tree.distance(a, b) + tree.distance(b, c), "{a} {b} {c}");
        }
    }

    /// A station behind a repeater is on the side of the repeater's port.
    #[test]
    fn a_cut_parts_the_tree_in_two() {
        let tree = tree();
        for (segment, position, beyond) in [
            (0, 5, [false, true, true, true, true]),
            (0, 10, [false, true, true, true, true]),
            (0, 11, [false, false, false, false, true]),
            (1, 6, [false, true, true, true, false]),
            (1, 7, [false, false, true, true, false]),
            (3, 1, [false, false, false, true, false]),
        ] {
            assert_eq!(*tree.beyond(place(segment, position)), beyond, "segment {segment} at {position}");
        }
    }

    #[test]
    fn what_is_no_tree_is_named() {
        let on = |segments: &[usize]| segments.iter().map(|&segment| place(segment, 0)).collect::<Vec<_>>();
        let looped = [repeater(8, &[(0, 0), (1, 0)]), repeater(8, &[(1, 9), (0, 9)])];
        for (stations, repeaters, words) in [
            (on(&[0, 1]), &looped[..], "repeater 1 closes a loop at segment 0"),
            (on(&[0]), &[repeater(8, &[(0, 0), (0, 5)])], "repeater 0 closes a loop at segment 0"),
            (on(&[0, 1]), &[], "segment 1 is joined to nothing"),
            (on(&[0]), &[repeater(8, &[(0, 0)])], "repeater 0 has 1 port"),
            (on(&[0, 1024]), &[], "segment 1024"),
            (vec![place(0, 1 << 40)], &[], "a place on segment 0"),
            (on(&[0, 1]), &[repeater(1 << 40, &[(0, 0), (1, 0)])], "repeater 0 cannot delay"),
        ] {
            let error = Segments::new(stations, repeaters).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
        let far = [repeater(1 << 31, &[(0, 0), (1, 0)]), repeater(1 << 31, &[(1, 0), (2, 0)])];
        let error = Segments::new(on(&[0, 2]), &far).expect_err("too far").to_string();
        assert!(error.contains("from segment 0 to segment 2"), "{error}");
    }
}
