//! Where stations are in a picture.
//!
//! ```text
//!   cable     stations at their places, and signals on their way between them
//!   places    a lane for each station, with what is at its place: on a star a signal passes no other station, on a short
//!             cable most stations are within one bit time, and not every station is in range of every other
//!   senders   a lane for each node of PLCA, with what it sends: nodes are so near to each other that all hear the same,
//!             and their turns are what counts
//! ```

use super::Signal;
use crate::words::places::{by_place, place};
use medium::{Config, Method, Reach, StationId, Topology};

/// What is drawn for a station, and between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Stations are at their places, and signals on their way between them.
    Cable,
    /// A lane each, with what is at its place.
    Places,
    /// A lane each, with what it sends.
    Senders,
}

/// The stations of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Beside each other in this order.
    pub order: Vec<StationId>,
    /// What is drawn.
    pub shape: Shape,
}

impl Layout {
    /// That of a medium: by place, and nodes of PLCA by their node id, those without one last.
    pub fn new(config: &Config) -> Layout {
        let mut order = by_place(&config.topology);
        if let Method::Plca(plca) = &config.method {
            order.sort_by_key(|station| plca.nodes[station.index()].settings.node_id);
        }
        let shape = match (&config.topology, &config.method) {
            (_, Method::Plca(_)) => Shape::Senders,
            (Topology::Star { .. }, _) => Shape::Places,
            (_, Method::CsmaCa(own)) if own.reach.as_ref().is_some_and(Reach::hides_some) => Shape::Places,
            (Topology::Bus { .. } | Topology::Segments(_), _) if are_apart(&order, &config.topology) => Shape::Cable,
            (Topology::Bus { .. } | Topology::Segments(_), _) => Shape::Places,
        };
        Layout { order, shape }
    }

    /// Whether the signal is drawn for the station.
    pub fn shows(&self, one: &Signal, station: StationId, config: &Config) -> bool {
        match self.shape {
            Shape::Senders => one.source == station,
            Shape::Cable | Shape::Places => one.reaches(station, config),
        }
    }
}

/// Whether more than half of the stations, in order of their places, have a place of their own.
fn are_apart(order: &[StationId], topology: &Topology) -> bool {
    let places = order.chunk_by(|a, b| place(topology, *a) == place(topology, *b)).count();
    2 * places > order.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitRate, BitTimes, CsmaCa, Octets, Phy, Plca};

    fn config(topology: Topology) -> Config {
        Config::new(BitRate::MBIT_10, topology, 1)
    }

    fn order(layout: &Layout) -> Vec<usize> {
        layout.order.iter().map(|station| station.index()).collect()
    }

    #[test]
    fn a_cable_has_its_places_and_a_star_has_lanes() {
        let cable = Layout::new(&config(Topology::Bus { positions: [90, 0, 40].map(BitTimes::new).into() }));
        assert_eq!((order(&cable), cable.shape), (vec![1, 2, 0], Shape::Cable));
        let star = Layout::new(&config(Topology::star(3, 20)));
        assert_eq!((order(&star), star.shape), (vec![0, 1, 2], Shape::Places));
    }

    /// Four stations on 25 m have two places, 1 BT apart; and a cable does not show which stations are out of range.
    #[test]
    fn stations_that_a_cable_cannot_tell_apart_have_lanes() {
        let bus = |places: &[u64]| Topology::Bus { positions: places.iter().copied().map(BitTimes::new).collect() };
        assert_eq!(Layout::new(&config(bus(&[0, 0, 1, 1]))).shape, Shape::Places);
        assert_eq!(Layout::new(&config(bus(&[0, 0, 1, 2]))).shape, Shape::Cable);
        let mut own = CsmaCa::new(Phy::Dsss1, Octets::new(64));
        let in_air = |own: &CsmaCa| Config { method: Method::CsmaCa(own.clone()), ..config(bus(&[0, 1, 2])) };
        own.reach = Some(Reach { range: 120, positions: vec![0, 50, 100] });
        assert_eq!(Layout::new(&in_air(&own)).shape, Shape::Cable);
        own.reach = Some(Reach { range: 120, positions: vec![0, 100, 200] });
        assert_eq!(Layout::new(&in_air(&own)).shape, Shape::Places);
    }

    /// Eight nodes on 25 m are 1 BT apart: their turns are in order of id, whatever their places.
    #[test]
    fn nodes_of_plca_are_in_order_of_id() {
        let mut plca = Plca::right(3);
        [2, 255, 0].into_iter().zip(&mut plca.nodes).for_each(|(id, node)| node.settings.node_id = id);
        let positions = [0, 0, 1].map(BitTimes::new).into();
        let config = Config { method: Method::Plca(plca), ..config(Topology::Bus { positions }) };
        let layout = Layout::new(&config);
        assert_eq!((order(&layout), layout.shape), (vec![2, 0, 1], Shape::Senders));
    }
}
