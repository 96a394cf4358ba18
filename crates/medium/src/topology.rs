//! The places of the stations, and so how long a signal takes between two of them.

pub(crate) mod segments;

use crate::config::Config;
use crate::frame::StationId;
use crate::time::{BitInstant, BitRate, BitTimes};
use crate::topology::segments::{Place, Segments};
use std::fmt;
use std::ops::RangeInclusive;

/// The longest distance accepted: more than a second at 1 Gb/s, and far from any overflow.
pub(crate) const MAX_DISTANCE: BitTimes = BitTimes::new(1 << 31);

/// How far apart the stations are, in bit times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// The same distance between every pair, as through a hub.
    Star {
        /// The number of stations.
        stations: usize,
        /// From any station to any other.
        distance: BitTimes,
    },
    /// Along a cable; a station's number is its index here.
    Bus {
        /// Each station's place, as the time a signal takes to it from the cable's end.
        positions: Vec<BitTimes>,
    },
    /// On segments of cable that repeaters join.
    Segments(Segments),
}

/// Why places do not make a topology.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TopologyError {
    /// A station's place in metres is negative, not a number, or too far away.
    Position {
        /// The station's index.
        station: usize,
        /// The given value, in metres.
        metres: f64,
    },
    /// The propagation speed is not a positive number of metres per second.
    Speed {
        /// The given value.
        metres_per_second: f64,
    },
    /// A segment's number is too high.
    Segment {
        /// The number.
        segment: usize,
    },
    /// A place on a segment is too far from its end.
    Place {
        /// The segment.
        segment: usize,
        /// The given value.
        position: BitTimes,
    },
    /// A repeater joins nothing: it has no two ports.
    Ports {
        /// The repeater's index.
        repeater: usize,
        /// The number of its ports.
        ports: usize,
    },
    /// A repeater's delay is too long.
    Delay {
        /// The repeater's index.
        repeater: usize,
        /// The given value.
        delay: BitTimes,
    },
    /// A repeater joins segments that are joined already.
    Loop {
        /// The repeater's index.
        repeater: usize,
        /// The segment that it reaches twice.
        segment: usize,
    },
    /// No repeater joins a segment to the others.
    NotJoined {
        /// The segment.
        segment: usize,
    },
    /// The way between two segments is too long.
    Way {
        /// The segment at one end.
        from: usize,
        /// The segment at the other.
        to: usize,
    },
}

/// Why a cable cannot be cut at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CutError {
    /// A star's stations share a hub, and no cable.
    NoCable,
    /// There is no such segment.
    NoSegment {
        /// The segment asked for.
        segment: usize,
    },
    /// All stations are on one side.
    OneSide {
        /// The segment.
        segment: usize,
        /// The place on it.
        position: BitTimes,
    },
}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutError::NoCable => {
                write!(f, "a star has no cable that could be cut in two: take a station off, or use a bus or segments")
            }
            CutError::NoSegment { segment } => write!(f, "there is no segment {segment} to be cut"),
            CutError::OneSide { segment, position } => {
                write!(f, "a cut of segment {segment} at {position} has all stations on one side: cut between two")
            }
        }
    }
}

impl std::error::Error for CutError {}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopologyError::Position { station, metres } => {
                write!(
                    f,
                    "station {station} cannot be at {metres} m: a place is 0 m or more from the cable's end, and within 2^31 bit times"
                )
            }
            TopologyError::Speed { metres_per_second } => {
                write!(f, "signals cannot propagate at {metres_per_second} m/s: it takes a number above 0")
            }
            TopologyError::Segment { segment } => {
                write!(f, "segment {segment}: segments are numbered from 0 to {}", Segments::MAX_SEGMENTS - 1)
            }
            TopologyError::Place { segment, position } => {
                write!(f, "a place on segment {segment} cannot be {position} from its end: at most 2^31 bit times")
            }
            TopologyError::Ports { repeater, ports } => {
                write!(
                    f,
                    "repeater {repeater} has {ports} port{}: it takes two or more to join segments",
                    plural(*ports)
                )
            }
            TopologyError::Delay { repeater, delay } => {
                write!(f, "repeater {repeater} cannot delay a signal by {delay}: at most 2^31 bit times")
            }
            TopologyError::Loop { repeater, segment } => write!(
                f,
                "repeater {repeater} closes a loop at segment {segment}: between two segments there may be one way only"
            ),
            TopologyError::NotJoined { segment } => {
                write!(f, "segment {segment} is joined to nothing that leads to segment 0: it takes a repeater")
            }
            TopologyError::Way { from, to } => {
                write!(f, "the way from segment {from} to segment {to} is longer than 2^31 bit times")
            }
        }
    }
}

impl std::error::Error for TopologyError {}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

impl Topology {
    /// `stations` stations, `bits` bit times between every pair.
    pub const fn star(stations: usize, bits: u64) -> Topology {
        Topology::Star { stations, distance: BitTimes::new(bits) }
    }

    /// Stations along a cable at places given in metres from its end.
    ///
    /// Each place is rounded to whole bit times once, here.
    ///
    /// # Errors
    /// A place that is negative, no number, or beyond 2^31 bit times; a speed that is not above zero.
    pub fn bus(metres: &[f64], metres_per_second: f64, rate: BitRate) -> Result<Topology, TopologyError> {
        if !(metres_per_second > 0.0 && metres_per_second.is_finite()) {
            return Err(TopologyError::Speed { metres_per_second });
        }
        let place = |(station, &metres): (usize, &f64)| {
            let bits = (metres / metres_per_second * rate.get() as f64).round();
            if (0.0..=MAX_DISTANCE.get() as f64).contains(&bits) && metres >= 0.0 {
                Ok(BitTimes::new(bits as u64))
            } else {
                Err(TopologyError::Position { station, metres })
            }
        };
        let positions = metres.iter().enumerate().map(place).collect::<Result<_, _>>()?;
        Ok(Topology::Bus { positions })
    }

    /// The number of stations.
    pub fn stations(&self) -> usize {
        match self {
            Topology::Star { stations, .. } => *stations,
            Topology::Bus { positions } => positions.len(),
            Topology::Segments(segments) => segments.stations().len(),
        }
    }

    /// Where a station is on a cable; nothing on a star.
    pub fn place(&self, station: StationId) -> Option<Place> {
        match self {
            Topology::Star { .. } => None,
            Topology::Bus { positions } => Some(Place { segment: 0, position: positions[station.index()] }),
            Topology::Segments(segments) => Some(segments.stations()[station.index()]),
        }
    }

    /// The same cable with a station elsewhere on it; nothing on a star, and beyond a bus's only segment.
    ///
    /// # Errors
    /// A place that is too far away, or on no segment.
    pub fn with_place(&self, station: StationId, place: Place) -> Result<Option<Topology>, TopologyError> {
        Ok(match self {
            Topology::Bus { positions } if place.segment == 0 => {
                let mut positions = positions.clone();
                positions[station.index()] = place.position;
                Some(Topology::Bus { positions })
            }
            Topology::Star { .. } | Topology::Bus { .. } => None,
            Topology::Segments(segments) => {
                let mut places = segments.stations().to_vec();
                places[station.index()] = place;
                Some(Topology::Segments(Segments::new(places, segments.repeaters())?))
            }
        })
    }

    /// The places on a segment from which no station is farther away than a station is from it already; nothing on a
    /// star, and on a segment without such a place.
    pub(crate) fn within_reach(&self, segment: usize) -> Option<RangeInclusive<BitTimes>> {
        let (mut lowest, mut highest) = (0, MAX_DISTANCE.get());
        for station in (0..self.stations() as u16).map(StationId::new) {
            let entry = match self {
                Topology::Bus { positions } if segment == 0 => (positions[station.index()].get(), 0),
                Topology::Segments(segments) if segment < segments.segments() => {
                    segments.entry(station.index(), segment)
                }
                Topology::Star { .. } | Topology::Bus { .. } | Topology::Segments(_) => return None,
            };
            let left = self.farthest(station).get().checked_sub(entry.1)?;
            lowest = lowest.max(entry.0.saturating_sub(left));
            highest = highest.min(entry.0 + left);
        }
        (lowest <= highest).then(|| BitTimes::new(lowest)..=BitTimes::new(highest))
    }

    /// The most that all repeaters together add to their delays.
    pub fn jitter(&self) -> BitTimes {
        match self {
            Topology::Star { .. } | Topology::Bus { .. } => BitTimes::ZERO,
            Topology::Segments(segments) => segments.jitter(),
        }
    }

    /// How long a signal, given as its source and its begin, takes to `place`: the distance, and what repeaters with
    /// jitter add to this signal in a run with `seed`.
    #[inline]
    pub(crate) fn way(&self, seed: u64, signal: (StationId, BitInstant), place: StationId) -> BitTimes {
        let distance = self.distance(signal.0, place);
        match self {
            Topology::Star { .. } | Topology::Bus { .. } => distance,
            Topology::Segments(segments) => distance + segments.late(seed, signal, place.index()),
        }
    }

    /// How long a signal takes from `a` to `b`; where repeaters have jitter, at least.
    #[inline]
    pub fn distance(&self, a: StationId, b: StationId) -> BitTimes {
        match self {
            Topology::Star { .. } if a == b => BitTimes::ZERO,
            Topology::Star { distance, .. } => *distance,
            Topology::Bus { positions } => {
                BitTimes::new(positions[a.index()].get().abs_diff(positions[b.index()].get()))
            }
            Topology::Segments(segments) => segments.distance(a.index(), b.index()),
        }
    }

    /// Whether it is a star without distance: every station hears every signal at the same instants.
    pub(crate) fn is_one_place(&self) -> bool {
        match self {
            Topology::Star { .. } => self.farthest(StationId::new(0)) == BitTimes::ZERO,
            Topology::Bus { .. } | Topology::Segments(_) => false,
        }
    }

    /// How long a signal takes from `a` to the station farthest from it, at most.
    pub fn farthest(&self, a: StationId) -> BitTimes {
        match self {
            Topology::Star { stations: 1, .. } => BitTimes::ZERO,
            Topology::Star { distance, .. } => *distance,
            Topology::Bus { positions } => {
                let here = positions[a.index()].get();
                let far = positions.iter().map(|place| place.get().abs_diff(here)).max();
                BitTimes::new(far.unwrap_or(0))
            }
            Topology::Segments(segments) => {
                let others = 0..segments.stations().len();
                others.map(|other| segments.most(a.index(), other)).max().unwrap_or(BitTimes::ZERO)
            }
        }
    }

    /// From one station to another, the farthest way there is.
    pub fn longest_distance(&self) -> BitTimes {
        let stations = (0..self.stations().min(Config::MAX_STATIONS) as u16).map(StationId::new);
        stations.map(|station| self.farthest(station)).max().unwrap_or(BitTimes::ZERO)
    }

    /// From one station to the farthest other and back, for the pair that is farthest apart.
    ///
    /// While this is at most slot_time, every collision is detected in time (802.3, 4.2.3.2.3); beyond that, late
    /// collisions appear.
    pub fn round_trip(&self) -> BitTimes {
        let farthest = match self {
            Topology::Star { .. } => self.farthest(StationId::new(0)),
            Topology::Bus { positions } => {
                let (first, last) = (positions.iter().min(), positions.iter().max());
                BitTimes::new(last.zip(first).map_or(0, |(last, first)| last.get() - first.get()))
            }
            Topology::Segments(segments) => {
                let all = 0..segments.stations().len();
                let pairs = all.clone().flat_map(|a| all.clone().map(move |b| segments.most(a, b)));
                pairs.max().unwrap_or(BitTimes::ZERO)
            }
        };
        farthest * 2
    }

    /// The number of repeaters that a signal passes from `a` to `b`: one hub on a star, none on a bus.
    pub fn repeaters_between(&self, a: StationId, b: StationId) -> usize {
        match self {
            Topology::Star { .. } => usize::from(a != b),
            Topology::Bus { .. } => 0,
            Topology::Segments(segments) => segments.repeaters_between(a.index(), b.index()),
        }
    }

    /// The stations on the far side of a cut just before `cut`, in order of their numbers: `true` for those whose place
    /// is at the cut or beyond it. A bus is segment 0.
    ///
    /// # Errors
    /// A topology without a cable, a segment that it does not have, or a cut with all stations on one side.
    pub fn beyond(&self, cut: Place) -> Result<Box<[bool]>, CutError> {
        let Place { segment, position } = cut;
        let beyond: Box<[bool]> = match self {
            Topology::Star { .. } => return Err(CutError::NoCable),
            Topology::Bus { positions } if segment == 0 => positions.iter().map(|place| *place >= position).collect(),
            Topology::Segments(segments) if segment < segments.segments() => segments.beyond(cut),
            Topology::Bus { .. } | Topology::Segments(_) => return Err(CutError::NoSegment { segment }),
        };
        if beyond.iter().all(|&far| far) || beyond.iter().all(|&far| !far) {
            return Err(CutError::OneSide { segment, position });
        }
        Ok(beyond)
    }

    /// Whether the longest distance is short enough for the engine to add it without overflow.
    pub(crate) fn fits(&self) -> bool {
        match self {
            Topology::Star { distance, .. } => *distance <= MAX_DISTANCE,
            Topology::Bus { positions } => positions.iter().all(|place| *place <= MAX_DISTANCE),
            Topology::Segments(_) => self.round_trip() <= MAX_DISTANCE * 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 m of 10BASE5 at 0.77 c are 21.65 BT at 10 Mb/s (802.3, 8.4.1.3 gives the least velocity 0.77 c).
    #[test]
    fn metres_become_bit_times_once() {
        let bus = Topology::bus(&[0.0, 500.0], 0.77 * 299_792_458.0, BitRate::MBIT_10);
        assert_eq!(bus, Ok(Topology::Bus { positions: vec![BitTimes::ZERO, BitTimes::new(22)] }));
    }

    #[test]
    fn places_that_make_no_sense_are_named() {
        for metres in [-1.0, f64::NAN, f64::INFINITY, 1e18] {
            let error = Topology::bus(&[0.0, metres], 2e8, BitRate::MBIT_10).expect_err("refused");
            assert!(error.to_string().starts_with("station 1 cannot be at"), "{error}");
        }
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Topology::bus(&[0.0], speed, BitRate::MBIT_10), Err(TopologyError::Speed { .. })));
        }
    }
}
