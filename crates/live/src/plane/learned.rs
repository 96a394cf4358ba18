//! Which addresses are behind ports that lead to unknown hosts, learnt from the frames that they send.
//!
//! Only the received counters depend on it: every station gets every frame.

use medium::StationId;
use std::collections::{HashMap, VecDeque};

/// Addresses that are kept for one port; the oldest gives way. So a station that makes addresses up harms its own only.
const KEPT: usize = 1024;

/// See the module.
#[derive(Debug, Default)]
pub struct Behind {
    stations: HashMap<[u8; 6], StationId>,
    /// For each port, its addresses, oldest first; some may have moved to another port.
    order: HashMap<StationId, VecDeque<[u8; 6]>>,
}

impl Behind {
    /// A frame from this address came in at the port of `station`.
    pub fn learn(&mut self, address: [u8; 6], station: StationId) {
        if address[0] & 1 == 1 || self.stations.insert(address, station) == Some(station) {
            return;
        }
        let order = self.order.entry(station).or_default();
        order.push_back(address);
        if order.len() > KEPT
            && let Some(oldest) = order.pop_front()
            && self.stations.get(&oldest) == Some(&station)
        {
            self.stations.remove(&oldest);
        }
    }

    /// The station behind which this address is.
    pub fn station(&self, address: &[u8; 6]) -> Option<StationId> {
        self.stations.get(address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u16) -> [u8; 6] {
        let [high, low] = number.to_be_bytes();
        [2, 0, 0, 0, high, low]
    }

    #[test]
    fn an_address_is_behind_the_port_that_it_was_last_seen_at() {
        let (mut behind, [a, b]) = (Behind::default(), [1, 2].map(StationId::new));
        behind.learn(address(7), a);
        assert_eq!((behind.station(&address(7)), behind.station(&address(8))), (Some(a), None));
        behind.learn(address(7), b);
        assert_eq!(behind.station(&address(7)), Some(b));
        behind.learn([0xff; 6], a);
        assert_eq!(behind.station(&[0xff; 6]), None, "nobody is a group");
    }

    #[test]
    fn a_flood_of_addresses_at_one_port_leaves_those_of_others_alone() {
        let (mut behind, [a, b]) = (Behind::default(), [1, 2].map(StationId::new));
        behind.learn(address(0), b);
        for round in 0..3 {
            (1..=5000).for_each(|number| behind.learn(address(number), a));
            assert_eq!(behind.station(&address(5000)), Some(a), "round {round}");
            assert_eq!(behind.station(&address(1)), None, "round {round}");
        }
        assert_eq!(behind.station(&address(0)), Some(b));
        assert!(behind.stations.len() <= KEPT + 1 && behind.order[&a].len() <= KEPT);
    }
}
