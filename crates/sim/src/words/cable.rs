//! Where a cable is cut: between which stations, as people say it.

use super::places::{by_place, place};
use medium::{BitTimes, CutError, Place, StationId, Topology};

/// Halfway between two stations, given by number, that are on one piece of cable.
///
/// # Errors
/// Why there is no such place, with `names` for the stations, and what would be right.
pub fn between(topology: &Topology, names: [&str; 2], stations: [usize; 2]) -> Result<Place, String> {
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
    let cut = Place { segment: one.segment, position: BitTimes::new(near + (far - near).div_ceil(2)) };
    topology.beyond(cut).map_err(|error| error.to_string())?;
    Ok(cut)
}

/// The nearest stations on the two sides of a cut, if both have one.
pub fn sides(cut: Place, topology: &Topology) -> Option<[StationId; 2]> {
    let places = by_place(topology).into_iter().map(|station| (place(topology, station), station));
    let (near, far): (Vec<_>, Vec<_>) = places
        .filter(|((segment, _), _)| *segment == cut.segment)
        .partition(|((_, position), _)| *position < cut.position);
    Some([near.last()?.1, far.first()?.1])
}

/// Where a cable is cut, as it is written.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of results reads its fields")]
pub struct Cut {
    /// The segment; 0 on a bus.
    segment: usize,
    /// Stations at this place and beyond it are on the far side.
    position_bt: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::Segments;

    #[test]
    fn a_cut_is_halfway_between_two_stations_of_one_cable() {
        let place = |segment, position| Place { segment, position: BitTimes::new(position) };
        let bus = Topology::Bus { positions: [0, 11, 10, 10].map(BitTimes::new).to_vec() };
        let between = |topology: &Topology, a, b| super::between(topology, ["a", "b"], [a, b]);
        assert_eq!(between(&bus, 0, 1), Ok(place(0, 6)));
        assert_eq!(between(&bus, 1, 2), Ok(place(0, 11)));
        assert!(between(&bus, 2, 3).expect_err("nothing between").contains("at the same place"));
        assert!(between(&Topology::star(3, 5), 0, 1).expect_err("no cable").contains("a star has no cable"));
        let repeater =
            medium::Repeater { delay: BitTimes::new(8), jitter: BitTimes::ZERO, ports: vec![place(0, 9), place(1, 0)] };
        let places = vec![place(0, 0), place(1, 4), place(1, 8)];
        let segments = Topology::Segments(Segments::new(places, &[repeater]).expect("a tree"));
        assert_eq!(between(&segments, 2, 1), Ok(place(1, 6)));
        let sides = |cut: Place| super::sides(cut, &segments).map(|both| both.map(StationId::index));
        assert_eq!(sides(place(1, 6)), Some([1, 2]));
        assert_eq!(sides(place(0, 6)), None);
        assert!(between(&segments, 0, 1).expect_err("a repeater").contains("on two segments"));
    }
}
