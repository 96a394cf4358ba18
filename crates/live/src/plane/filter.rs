//! `filter = "address"`: which stations a frame need not be copied to, because their interfaces would drop it.
//!
//! A host's interface gives its stack what is for its own address or a group's, unless something in the host wants
//! more: a capture, a bridge, a second address. So a station is spared other stations' frames only while all of this is known:
//! ```text
//!   no program asks it for everything           IFLA_PROMISCUITY is 0
//!   the interface is a part of nothing         no IFLA_MASTER
//!   no other interface is on top of it         no interface of its namespace has it as IFLA_LINK
//!   its address is the planned one             IFLA_ADDRESS
//!   it has sent from no other address          seen in its frames; once is for good
//! ```
//! The kernel announces the first four before the call that changes them returns. The coordinator applies them when it
//! next looks, at the latest at its next housekeeping. The fifth covers what the kernel does not announce here, such as
//! a macvlan that was made in a namespace inside the station.

use super::protocol::Port;
use link::netlink::{LinkNews, LinkState, LinkWatch, MonitorError};
use medium::StationId;
use serde::{Deserialize, Serialize};
use sim::figures::results::EmulatorResults;
use sim::words::choices::FilterChoice;
use std::collections::{BTreeSet, HashMap};

/// A station with more interfaces than this on top of its own hears everything.
const UPPERS_MAX: usize = 256;

/// Where a station's interface is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The number by which the bus's namespace knows the station's.
    pub namespace: i32,
    /// The interface's index there.
    pub index: u32,
}

/// Who need not hear what.
#[derive(Debug, Default)]
pub struct Filter {
    watch: Option<LinkWatch>,
    /// Whether it filters now.
    choice: FilterChoice,
    stations: Vec<Station>,
    by_namespace: HashMap<i32, usize>,
}

#[derive(Debug)]
struct Station {
    mac: [u8; 6],
    /// What is known of its interface; nothing if it hears everything for good.
    host: Option<Host>,
}

#[derive(Debug)]
struct Host {
    index: u32,
    uppers: BTreeSet<u32>,
    /// The last news of its interface allows to filter.
    plain: bool,
}

impl Filter {
    /// A filter of the stations that are watched, which filters if `choice` says so; none of the others.
    pub fn new(ports: &[Port], watch: LinkWatch, choice: FilterChoice) -> Filter {
        let host = |watched: Watched| Host { index: watched.index, uppers: BTreeSet::new(), plain: true };
        let stations = ports.iter().map(|port| Station { mac: port.mac, host: port.watched.map(host) });
        let watched = ports.iter().enumerate().filter_map(|(place, port)| Some((port.watched?.namespace, place)));
        Filter { watch: Some(watch), choice, stations: stations.collect(), by_namespace: watched.collect() }
    }

    /// A station joins, and hears everything: nothing is known of what is done to its interface.
    pub fn join(&mut self, station: StationId, port: &Port) {
        if let Some(known) = self.stations.get_mut(station.index()) {
            *known = Station { mac: port.mac, host: None };
            self.by_namespace.retain(|_, place| *place != station.index());
        }
    }

    /// What to wait for.
    pub fn watch(&self) -> Option<&LinkWatch> {
        self.watch.as_ref()
    }

    /// What results say of it.
    pub fn choice(&self) -> FilterChoice {
        self.choice
    }

    /// Filters from now on, or does not. What is known of the stations is kept up to date all the time.
    pub fn choose(&mut self, choice: FilterChoice) {
        self.choice = choice;
    }

    /// Heeds what has been announced.
    ///
    /// # Errors
    /// A kernel that does not answer. If it lost a message, no station is filtered any more.
    pub fn look(&mut self, counts: &mut EmulatorResults) -> Result<(), MonitorError> {
        let Some(watch) = &mut self.watch else { return Ok(()) };
        match watch.poll() {
            Ok(news) => news.into_iter().for_each(|news| self.heed(news)),
            Err(MonitorError::Overrun) => {
                counts.ports.link_changes_missed += 1;
                self.stations.iter_mut().for_each(|station| station.host = None);
            }
            Err(error) => return Err(error),
        }
        counts.copying.stations_unfiltered =
            self.stations.iter().filter(|station| station.hears_everything()).count() as u64;
        Ok(())
    }

    fn heed(&mut self, LinkNews { namespace, index, state }: LinkNews) {
        let Some(&place) = self.by_namespace.get(&namespace) else { return };
        let station = &mut self.stations[place];
        let Some(host) = &mut station.host else { return };
        let stands_on_it = |state: &LinkState| state.lower == Some(host.index);
        match state {
            // A later interface in its place is another one.
            None if index == host.index => station.host = None,
            None => _ = host.uppers.remove(&index),
            Some(state) if index == host.index => {
                let planned = state.mac.map(|mac| mac.octets()) == Some(station.mac);
                host.plain = planned && state.promiscuity == 0 && !state.controlled;
            }
            Some(state) if stands_on_it(&state) => {
                host.uppers.insert(index);
                if host.uppers.len() > UPPERS_MAX {
                    station.host = None;
                }
            }
            Some(_) => _ = host.uppers.remove(&index),
        }
    }

    /// Sees what a station sends.
    pub fn sent(&mut self, station: StationId, octets: &[u8]) {
        if let Some(station) = self.stations.get_mut(station.index())
            && octets.get(6..12).is_some_and(|source| source != station.mac)
        {
            station.host = None;
        }
    }

    /// Leaves out the stations whose interface would drop the frame, and returns their number.
    pub fn leave_out(&self, octets: &[u8], stations: &mut Vec<StationId>) -> u64 {
        if self.choice == FilterChoice::None {
            return 0;
        }
        let before = stations.len();
        if let Some(address) = octets.first_chunk::<6>().filter(|address| address[0] & 1 == 0) {
            stations.retain(|station| {
                let known = self.stations.get(station.index());
                known.is_none_or(|station| station.mac == *address || station.hears_everything())
            });
        }
        (before - stations.len()) as u64
    }
}

impl Station {
    fn hears_everything(&self) -> bool {
        self.host.as_ref().is_none_or(|host| !host.plain || !host.uppers.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use link::MacAddr;

    /// Three stations, the first two of which are watched: interface 5 in namespace 10 and 11.
    fn filter() -> Filter {
        let station = |n: u8| {
            let host = Host { index: 5, uppers: BTreeSet::new(), plain: true };
            Station { mac: [2, 0, 0, 0, 0, n], host: (n < 2).then_some(host) }
        };
        let stations = (0..3).map(station).collect();
        Filter { watch: None, choice: FilterChoice::Address, stations, by_namespace: HashMap::from([(10, 0), (11, 1)]) }
    }

    /// Who hears a frame that is for `destination`.
    fn hear(filter: &Filter, destination: [u8; 6]) -> Vec<u16> {
        let mut stations: Vec<StationId> = (0..3).map(StationId::new).collect();
        let left_out = filter.leave_out(&destination, &mut stations);
        assert_eq!(left_out, 3 - stations.len() as u64);
        stations.iter().map(|station| station.index() as u16).collect()
    }

    const NOBODY: [u8; 6] = [2, 0, 0, 0, 0, 99];

    fn news(index: u32, state: Option<LinkState>) -> LinkNews {
        LinkNews { namespace: 11, index, state }
    }

    fn own() -> LinkState {
        LinkState { mac: Some(MacAddr(2, 0, 0, 0, 0, 1)), ..LinkState::default() }
    }

    #[test]
    fn a_frame_goes_to_its_station_groups_to_all_and_everything_to_those_not_watched() {
        let filter = filter();
        assert_eq!(hear(&filter, [2, 0, 0, 0, 0, 0]), [0, 2]);
        assert_eq!(hear(&filter, [2, 0, 0, 0, 0, 2]), [2]);
        assert_eq!(hear(&filter, NOBODY), [2]);
        assert_eq!(hear(&filter, [0xff; 6]), [0, 1, 2]);
        assert_eq!(hear(&filter, [0x33, 0x33, 0, 0, 0, 1]), [0, 1, 2]);
        assert_eq!(hear(&Filter::default(), NOBODY), [0, 1, 2], "without a filter");
    }

    #[test]
    fn whoever_may_want_more_hears_everything_for_as_long() {
        let lifting = [
            LinkState { promiscuity: 1, ..own() },
            LinkState { controlled: true, ..own() },
            LinkState { mac: Some(MacAddr(2, 0, 0, 0, 0, 7)), ..own() },
            LinkState { mac: None, ..own() },
        ];
        let mut filter = filter();
        for state in lifting {
            filter.heed(news(5, Some(state.clone())));
            assert_eq!(hear(&filter, NOBODY), [1, 2], "{state:?}");
            filter.heed(news(5, Some(own())));
            assert_eq!(hear(&filter, NOBODY), [2], "{state:?}");
        }
    }

    #[test]
    fn an_interface_on_top_lifts_the_filter_until_it_is_gone() {
        let mut filter = filter();
        let on = |lower| Some(LinkState { lower: Some(lower), ..own() });
        filter.heed(news(8, on(7)));
        assert_eq!(hear(&filter, NOBODY), [2], "on another interface");
        filter.heed(news(8, on(5)));
        filter.heed(news(9, on(5)));
        filter.heed(news(8, None));
        filter.heed(news(5, Some(own())));
        assert_eq!(hear(&filter, NOBODY), [1, 2]);
        filter.heed(news(9, None));
        assert_eq!(hear(&filter, NOBODY), [2]);
    }

    #[test]
    fn what_cannot_be_known_any_more_lifts_the_filter_for_good() {
        let mut gone = filter();
        gone.heed(news(5, None));
        gone.heed(news(5, Some(own())));
        assert_eq!(hear(&gone, NOBODY), [1, 2]);
        let mut many = filter();
        (10..=10 + UPPERS_MAX as u32).for_each(|index| {
            many.heed(news(index, Some(LinkState { lower: Some(5), ..own() })));
        });
        (10..=10 + UPPERS_MAX as u32).for_each(|index| many.heed(news(index, None)));
        assert_eq!(hear(&many, NOBODY), [1, 2]);
        let mut second = filter();
        second.sent(StationId::new(1), &[[0xff; 6], [2, 0, 0, 0, 0, 1]].concat());
        assert_eq!(hear(&second, NOBODY), [2]);
        second.sent(StationId::new(1), &[[0xff; 6], [2, 0, 0, 0, 0, 77]].concat());
        assert_eq!(hear(&second, NOBODY), [1, 2]);
    }
}
