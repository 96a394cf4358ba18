//! The stations of all buses by number, and one clock for buses of different rates.

use crate::scenario::plan::bridged::Bridged;
use medium::{BitInstant, BitRate, Destination, StationId};

/// A station or a port, by its number among those of all buses: stations first, as
/// [`Destination::Beyond`] has them, then ports.
pub(super) type Number = u16;

/// Whom a frame is for, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// One station or port.
    One(Number),
    /// A group, or everyone.
    All,
    /// An address that no station has.
    Nobody,
}

/// The numbers of one bus's stations.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// By station.
    numbers: Vec<Number>,
    /// The number of the first station, and how many there are without ports.
    first: Number,
    own: u16,
}

impl Addresses {
    /// Those of every bus, in order.
    pub fn of(bridged: &Bridged) -> Vec<Addresses> {
        let own = |bus: usize| bridged.buses[bus].stations.len() - bridged.buses[bus].medium.ports.len();
        let ports = bridged.bridges.iter().flat_map(|bridge| &bridge.ports);
        let all: usize = (0..bridged.buses.len()).map(own).sum();
        let mut first = 0;
        let of_bus = |bus: usize| {
            let mut numbers: Vec<Number> = (first..first + own(bus)).map(|number| number as Number).collect();
            let mut here: Vec<_> = ports.clone().enumerate().filter(|(_, port)| port.bus == bus).collect();
            here.sort_by_key(|(_, port)| port.station.index());
            numbers.extend(here.into_iter().map(|(number, _)| (all + number) as Number));
            let addresses = Addresses { numbers, first: first as Number, own: own(bus) as u16 };
            first += own(bus);
            addresses
        };
        (0..bridged.buses.len()).map(of_bus).collect()
    }

    /// The number of a station of the bus.
    pub fn number(&self, station: StationId) -> Number {
        self.numbers[station.index()]
    }

    /// Whom a frame offered on the bus is for.
    pub fn whom(&self, destination: Destination) -> Whom {
        match destination {
            Destination::Station(station) => Whom::One(self.number(station)),
            Destination::Beyond(number) => Whom::One(number),
            Destination::All => Whom::All,
            Destination::Nobody => Whom::Nobody,
        }
    }

    /// The same on the bus.
    pub fn destination(&self, whom: Whom) -> Destination {
        match whom {
            Whom::All => Destination::All,
            Whom::Nobody => Destination::Nobody,
            Whom::One(number) => {
                let own = number.checked_sub(self.first).filter(|own| *own < self.own);
                let ports = usize::from(self.own)..self.numbers.len();
                let port = || ports.clone().find(|port| self.numbers[*port] == number).map(|port| port as u16);
                own.or_else(port).map_or(Destination::Beyond(number), |own| Destination::Station(StationId::new(own)))
            }
        }
    }
}

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Nanoseconds since all buses began, and bit instants of one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(pub BitRate);

impl Clock {
    /// The first whole nanosecond that is not before `at`.
    pub fn nanos(self, at: BitInstant) -> u64 {
        (u128::from(at.get()) * NANOS_PER_SECOND).div_ceil(self.0.get().into()) as u64
    }

    /// The first bit instant that is not before `nanos`.
    pub fn bit(self, nanos: u64) -> BitInstant {
        BitInstant::new((u128::from(nanos) * u128::from(self.0.get())).div_ceil(NANOS_PER_SECOND) as u64)
    }
}
