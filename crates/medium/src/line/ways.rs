//! The distances between places: the topology, prepared for fast queries by signal and place.

use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes};
use crate::topology::Topology;

#[derive(Debug)]
pub(super) enum Ways {
    /// The distance to any other place.
    Star(BitTimes),
    /// The place of each station.
    Cable(Box<[u64]>),
    /// Any other topology.
    Other(Box<Other>),
}

/// A topology, the seed of what its repeaters add, and the most by which they delay one signal more than another.
#[derive(Debug)]
pub(super) struct Other {
    topology: Topology,
    seed: u64,
    jitter: BitTimes,
}

impl Ways {
    pub fn new(topology: &Topology, seed: u64) -> Ways {
        match topology {
            Topology::Star { .. } => Ways::Star(topology.farthest(StationId::new(0))),
            Topology::Bus { positions } => Ways::Cable(positions.iter().map(|place| place.get()).collect()),
            Topology::Segments(_) => {
                Ways::Other(Box::new(Other { topology: topology.clone(), seed, jitter: topology.jitter() }))
            }
        }
    }

    /// On a star: how long a signal takes to any other place.
    #[inline(always)]
    pub fn of_star(&self) -> Option<BitTimes> {
        match self {
            Ways::Star(distance) => Some(*distance),
            Ways::Cable(_) | Ways::Other(_) => None,
        }
    }

    /// The most by which repeaters delay one signal more than another.
    #[inline]
    pub fn jitter(&self) -> BitTimes {
        match self {
            Ways::Star(_) | Ways::Cable(_) => BitTimes::ZERO,
            Ways::Other(other) => other.jitter,
        }
    }

    /// The same with a station elsewhere, which makes the topology `moved`.
    pub fn moved(&self, moved: &Topology) -> Ways {
        let seed = if let Ways::Other(other) = self { other.seed } else { 0 };
        Ways::new(moved, seed)
    }

    /// How long a signal takes from its source `a`, where it began at `begin`, to `b`.
    #[inline(always)]
    pub fn between(&self, a: StationId, begin: BitInstant, b: StationId) -> BitTimes {
        match self {
            Ways::Star(_) if a == b => BitTimes::ZERO,
            Ways::Star(distance) => *distance,
            Ways::Cable(places) => BitTimes::new(places[a.index()].abs_diff(places[b.index()])),
            Ways::Other(other) => other.topology.way(other.seed, (a, begin), b),
        }
    }
}
