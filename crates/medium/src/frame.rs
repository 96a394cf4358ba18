//! The medium's knowledge of a frame: its sender, its length, and its destination. Never its octets.

use crate::time::{BitInstant, BitTimes, Octets};
use std::fmt;

/// Preamble (56 bit) and start frame delimiter (8 bit): 802.3, 4.2.5 and 4.2.6.
pub const PREAMBLE_AND_SFD: BitTimes = BitTimes::new(64);
/// Frame check sequence: 802.3, 3.2.9. A frame's size counts it, and no socket hands it over.
pub const FCS: Octets = Octets::new(4);
/// Destination, source, type and FCS: the parts of a frame besides data and padding.
pub const HEADER_AND_FCS: Octets = Octets::new(14 + FCS.get());

/// How long a frame of `size` octets with preamble and SFD lasts, where nothing follows it.
#[inline]
pub(crate) fn packet(size: Octets) -> BitTimes {
    PREAMBLE_AND_SFD + size.bit_times()
}

/// A station's number on the medium, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct StationId(u16);

impl StationId {
    /// The station with number `number`.
    pub const fn new(number: u16) -> StationId {
        StationId(number)
    }

    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// Numbers transmissions on the bus, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TransmissionId(u64);

impl TransmissionId {
    pub fn new(number: u64) -> TransmissionId {
        TransmissionId(number)
    }

    pub fn get(self) -> u64 {
        self.0
    }
}

/// A frame's name: the station that offered it, and its number among that station's frames, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId {
    /// The station that offered the frame.
    pub station: StationId,
    /// The number of frames that the station had offered, this one included.
    pub serial: u64,
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.station, self.serial)
    }
}

/// The stations whose received counters a frame is for. Every station hears it all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// One station's own address.
    Station(StationId),
    /// A group or broadcast address: every station but the sender.
    All,
    /// An address that no station's MAC is known to have.
    Nobody,
    /// The address of a station that is not on this medium, by a number that the engine never reads.
    Beyond(u16),
}

/// The stations that receive a frame: its addressees, and the [ports](crate::Config::ports) of bridges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressed {
    pub to: Destination,
    /// The first port, and the first station after the ports.
    ports: (u16, u16),
}

impl Addressed {
    /// Received by no station, not even by ports: a signal that is no frame.
    pub const NOBODY: Addressed = Addressed { to: Destination::Nobody, ports: (0, 0) };

    /// For `to`, on a medium where the stations from the first to before the second of `ports` are ports.
    pub const fn new(to: Destination, ports: (u16, u16)) -> Addressed {
        Addressed { to, ports }
    }

    fn is_for_port(self, place: u16) -> bool {
        (self.ports.0..self.ports.1).contains(&place)
    }

    /// Whether the station at `place` receives it; that may be its sender.
    pub fn is_for(self, place: StationId) -> bool {
        let is_addressee = match self.to {
            Destination::Station(addressee) => addressee == place,
            Destination::All => true,
            Destination::Nobody | Destination::Beyond(_) => false,
        };
        is_addressee || self.is_for_port(place.0)
    }

    /// The stations that receive it, out of `stations`, in order; the sender may be among them.
    #[inline]
    pub fn places(self, stations: usize) -> impl Iterator<Item = StationId> {
        let ports = self.ports.0..self.ports.1;
        let (addressees, ports) = match self.to {
            // Ports are behind all other stations.
            Destination::Station(place) if !self.is_for_port(place.0) => (place.0..place.0 + 1, ports),
            Destination::All => (0..stations as u16, 0..0),
            Destination::Station(_) | Destination::Nobody | Destination::Beyond(_) => (0..0, ports),
        };
        addressees.chain(ports).map(StationId)
    }

    /// The only station that receives it, if that is certain; it may be the sender.
    #[inline]
    pub fn only(self) -> Option<StationId> {
        let is_only = self.ports.0 == self.ports.1;
        if let Destination::Station(place) = self.to { Some(place).filter(|_| is_only) } else { None }
    }
}

/// A frame as a host hands it to its MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Length from destination address to FCS, before padding.
    pub size: Octets,
    /// Its destination.
    pub destination: Destination,
    /// Carries a VLAN tag, so that it may be 4 octets longer (802.3, 3.2.7).
    pub tagged: bool,
}

impl Frame {
    /// An untagged frame of `size` octets, FCS included, for `destination`.
    pub const fn new(size: Octets, destination: Destination) -> Frame {
        Frame { size, destination, tagged: false }
    }
}

/// A frame in a station's transmit queue, padded, or cut to the length that the MAU allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub serial: u64,
    pub size: Octets,
    /// As the host hands it over.
    pub unpadded: Octets,
    pub destination: Addressed,
    pub arrived: BitInstant,
    /// Longer than 802.3 allows: its station babbles.
    pub too_long: bool,
}
