//! Where stations are: beside each other, as one would draw them.

use medium::{BitTimes, Place, StationId, Topology};

/// Which segment a station is on, from 0, and how far from its end; on a star all are at one place.
pub fn place(topology: &Topology, station: StationId) -> (usize, BitTimes) {
    match topology {
        Topology::Star { .. } => (0, BitTimes::ZERO),
        Topology::Bus { positions } => (0, positions[station.index()]),
        Topology::Segments(segments) => {
            let Place { segment, position } = segments.stations()[station.index()];
            (segment, position)
        }
    }
}

/// Stations in order of their places.
pub fn by_place(topology: &Topology) -> Vec<StationId> {
    let mut stations: Vec<StationId> = (0..topology.stations() as u16).map(StationId::new).collect();
    stations.sort_by_key(|&station| (place(topology, station), station));
    stations
}
