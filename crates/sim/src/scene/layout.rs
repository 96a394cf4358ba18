//! Where stations are in a picture.
//!
//! ```text
//!   cable     stations at their places, and signals on their way between them
//!   places    a lane for each station, with what is at its place: on a star a signal passes no other station
//!   senders   a lane for each node of PLCA, with what it sends: nodes are so near to each other that all hear the same,
//!             and their turns are what counts
//! ```

use super::Signal;
use crate::words::places::by_place;
use medium::{Config, Method, StationId, Topology};

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
            (Topology::Bus { .. } | Topology::Segments(_), _) => Shape::Cable,
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

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitRate, BitTimes, Plca};

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
