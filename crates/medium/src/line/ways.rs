//! The distances between places: the topology, prepared for fast queries by signal and place.

use crate::frame::StationId;
use crate::time::BitTimes;
use crate::topology::Topology;

#[derive(Debug)]
pub(super) enum Ways {
    /// The distance to any other place.
    Star(BitTimes),
    /// The place of each station.
    Cable(Box<[u64]>),
    /// Any other topology.
    Other(Topology),
}

impl Ways {
    pub fn new(topology: &Topology) -> Ways {
        match topology {
            Topology::Star { .. } => Ways::Star(topology.farthest(StationId::new(0))),
            Topology::Bus { positions } => Ways::Cable(positions.iter().map(|place| place.get()).collect()),
            Topology::Segments(_) => Ways::Other(topology.clone()),
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

    /// How long a signal takes between two places.
    #[inline(always)]
    pub fn between(&self, a: StationId, b: StationId) -> BitTimes {
        match self {
            Ways::Star(_) if a == b => BitTimes::ZERO,
            Ways::Star(distance) => *distance,
            Ways::Cable(places) => BitTimes::new(places[a.index()].abs_diff(places[b.index()])),
            Ways::Other(topology) => topology.distance(a, b),
        }
    }
}
