//! A cut of the cable: where it is in records, in results and between processes, and between which stations, as people
//! say it.

use super::places::{by_place, place};
use medium::{BitTimes, CutError, Place, StationId, Topology};
use serde::{Deserialize, Serialize};

/// Where a cable is cut, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cut {
    /// The segment; 0 on a bus.
    pub segment: usize,
    /// Stations at this place and beyond it are on the far side.
    pub position_bt: u64,
}

impl From<Place> for Cut {
    fn from(place: Place) -> Cut {
        Cut { segment: place.segment, position_bt: place.position.get() }
    }
}

impl From<Cut> for Place {
    fn from(cut: Cut) -> Place {
        Place { segment: cut.segment, position: BitTimes::new(cut.position_bt) }
    }
}

impl Cut {
    /// Halfway between two stations, given by number, that are on one piece of cable.
    ///
    /// # Errors
    /// Why there is no such place, with `names` for the stations, and what would be right.
    pub fn between(topology: &Topology, names: [&str; 2], stations: [usize; 2]) -> Result<Cut, String> {
        let [a, b] = names;
        let place = |station: usize| match topology {
            Topology::Star { .. } => None,
            Topology::Bus { positions } => Some(Place { segment: 0, position: positions[station] }),
            Topology::Segments(segments) => Some(segments.stations()[station]),
        };
        let [Some(one), Some(other)] = stations.map(place) else { return Err(CutError::NoCable.to_string()) };
        if one.segment != other.segment {
            return Err(format!("{a} and {b} are on two segments: name two stations on the one that is to be cut"));
        }
        let (near, far) = (one.position.min(other.position).get(), one.position.max(other.position).get());
        if near == far {
            return Err(format!("{a} and {b} are at the same place: there is no cable between them to cut"));
        }
        let cut = Cut { segment: one.segment, position_bt: near + (far - near).div_ceil(2) };
        topology.beyond(cut.into()).map_err(|error| error.to_string())?;
        Ok(cut)
    }

    /// The nearest stations on its two sides, if both have one.
    pub fn sides(self, topology: &Topology) -> Option<[StationId; 2]> {
        let places = by_place(topology).into_iter().map(|station| (place(topology, station), station));
        let (near, far): (Vec<_>, Vec<_>) = places
            .filter(|((segment, _), _)| *segment == self.segment)
            .partition(|((_, position), _)| position.get() < self.position_bt);
        Some([near.last()?.1, far.first()?.1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::Segments;

    #[test]
    fn a_cut_is_halfway_between_two_stations_of_one_cable() {
        let bus = Topology::Bus { positions: [0, 11, 10, 10].map(BitTimes::new).to_vec() };
        let between = |topology: &Topology, a, b| Cut::between(topology, ["a", "b"], [a, b]);
        assert_eq!(between(&bus, 0, 1), Ok(Cut { segment: 0, position_bt: 6 }));
        assert_eq!(between(&bus, 1, 2), Ok(Cut { segment: 0, position_bt: 11 }));
        assert!(between(&bus, 2, 3).expect_err("nothing between").contains("at the same place"));
        assert!(between(&Topology::star(3, 5), 0, 1).expect_err("no cable").contains("a star has no cable"));
        let place = |segment, position| Place { segment, position: BitTimes::new(position) };
        let repeater =
            medium::Repeater { delay: BitTimes::new(8), jitter: BitTimes::ZERO, ports: vec![place(0, 9), place(1, 0)] };
        let places = vec![place(0, 0), place(1, 4), place(1, 8)];
        let segments = Topology::Segments(Segments::new(places, &[repeater]).expect("a tree"));
        assert_eq!(between(&segments, 2, 1), Ok(Cut { segment: 1, position_bt: 6 }));
        let sides = |cut: Cut| cut.sides(&segments).map(|both| both.map(StationId::index));
        assert_eq!(sides(Cut { segment: 1, position_bt: 6 }), Some([1, 2]));
        assert_eq!(sides(Cut { segment: 0, position_bt: 6 }), None);
        assert!(between(&segments, 0, 1).expect_err("a repeater").contains("on two segments"));
    }
}
