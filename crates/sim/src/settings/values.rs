//! Values of settings as people write them, one type each.
//!
//! One file above 500 lines because each kind of value is read here, and nowhere else.

use crate::figures::until::Until;
use crate::traffic::{Arrivals, Sizes};
use crate::words::MacAddr;
use crate::words::choices::choice;
use crate::words::contention;
use crate::words::units::{self, Length, RunTime};
use crate::words::{macphy, plca};
use backoff::Policy;
use medium::{BitInstant, BitRate, BitTimes, Clock, Control, Fault, HostDelay, Method, Octets, Persistence, Phy};
use serde::{Deserialize, Deserializer, de};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

choice! {
    /// How stations get to send.
    #[derive(Default)]
    pub enum AccessMethod {
        /// 802.3, clause 4.
        #[default]
        CsmaCd = "csma-cd",
        /// 802.3, clause 148.
        Plca = "plca",
        /// Kleinrock and Tobagi 1975.
        Csma = "csma",
        /// IEEE 802.11, clause 10.3.
        CsmaCa = "csma-ca",
        /// Abramson 1970.
        Aloha = "aloha",
        /// Roberts 1972.
        SlottedAloha = "slotted-aloha",
        /// Slots of a fixed frame.
        Tdma = "tdma",
    }
}

impl AccessMethod {
    /// How messages call it.
    pub fn title(self) -> &'static str {
        match self {
            AccessMethod::CsmaCd => "CSMA/CD",
            AccessMethod::Csma => "CSMA",
            AccessMethod::CsmaCa => "CSMA/CA",
            AccessMethod::Aloha => "pure ALOHA",
            AccessMethod::SlottedAloha => "slotted ALOHA",
            AccessMethod::Tdma => "TDMA",
            AccessMethod::Plca => "PLCA",
        }
    }
}

impl From<&Method> for AccessMethod {
    fn from(method: &Method) -> AccessMethod {
        match method {
            Method::CsmaCd => AccessMethod::CsmaCd,
            Method::Plca(_) => AccessMethod::Plca,
            Method::Csma(_) => AccessMethod::Csma,
            Method::CsmaCa(_) => AccessMethod::CsmaCa,
            Method::Aloha(_) => AccessMethod::Aloha,
            Method::SlottedAloha(_) => AccessMethod::SlottedAloha,
            Method::Tdma(_) => AccessMethod::Tdma,
        }
    }
}

choice! {
    /// Who sends on a medium without collision detection.
    pub enum PopulationChoice {
        /// The stations, each one frame after the other.
        Stations = "stations",
        /// Infinitely many users, one for each frame.
        Infinite = "infinite",
    }
}

choice! {
    /// What a station's host is, in a live lab.
    #[derive(Default)]
    pub enum PortKind {
        /// A network namespace with a kernel's own stack.
        #[default]
        Veth = "veth",
        /// A program that opens a TAP device in the station's namespace.
        Tap = "tap",
        /// What is behind an interface of the namespace that ethbus is run in.
        Interface = "interface",
        /// What is behind a bridge of that namespace.
        Bridge = "bridge",
        /// Another machine, at the other end of a VXLAN tunnel.
        Vxlan = "vxlan",
    }
}

/// A number of octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct OctetsNumber(pub u32);

impl From<OctetsNumber> for Octets {
    fn from(OctetsNumber(octets): OctetsNumber) -> Octets {
        Octets::new(octets)
    }
}

impl From<BitTimesText> for BitTimes {
    fn from(BitTimesText(bits): BitTimesText) -> BitTimes {
        BitTimes::new(bits)
    }
}

/// A speed of propagation in metres per second, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedText(pub f64);

impl FromStr for SpeedText {
    type Err = String;
    fn from_str(text: &str) -> Result<SpeedText, String> {
        units::speed(text).map(SpeedText)
    }
}

/// How senders wait, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffText(pub Policy);

impl FromStr for BackoffText {
    type Err = String;
    fn from_str(text: &str) -> Result<BackoffText, String> {
        contention::backoff(text).map(BackoffText)
    }
}

/// How persistent a sender is, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PersistenceText(pub Persistence);

impl FromStr for PersistenceText {
    type Err = String;
    fn from_str(text: &str) -> Result<PersistenceText, String> {
        contention::persistence(text).map(PersistenceText)
    }
}

/// The text of `control`: how frames of slotted ALOHA draw for each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlText(pub Control);

impl FromStr for ControlText {
    type Err = String;
    fn from_str(text: &str) -> Result<ControlText, String> {
        contention::control(text).map(ControlText)
    }
}

/// The threshold of capture and the path loss exponent, as written, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureText(pub u32, pub u32);

impl FromStr for CaptureText {
    type Err = String;
    fn from_str(text: &str) -> Result<CaptureText, String> {
        contention::capture(text).map(|(threshold, exponent)| CaptureText(threshold, exponent))
    }
}

/// A physical layer of 802.11, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyText(pub Phy);

impl FromStr for PhyText {
    type Err = String;
    fn from_str(text: &str) -> Result<PhyText, String> {
        contention::phy(text).map(PhyText)
    }
}

/// The first and the largest window of 802.11's backoff, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowText(pub u32, pub u32);

impl FromStr for WindowText {
    type Err = String;
    fn from_str(text: &str) -> Result<WindowText, String> {
        contention::window(text).map(|(first, most)| WindowText(first, most))
    }
}

/// The stations of the slots of a frame, by name, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotsText(pub Vec<String>);

impl FromStr for SlotsText {
    type Err = String;
    fn from_str(text: &str) -> Result<SlotsText, String> {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.iter().any(|name| name.is_empty() || name.contains(char::is_whitespace)) {
            return Err(format!("`{text}`: write names of stations with commas between them, like `st1,st2,st1,st3`"));
        }
        Ok(SlotsText(names))
    }
}

/// The short and the long retry limit of 802.11, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimitsText(pub NonZeroU32, pub NonZeroU32);

impl FromStr for RetryLimitsText {
    type Err = String;
    fn from_str(text: &str) -> Result<RetryLimitsText, String> {
        contention::retry_limits(text).map(|(short, long)| RetryLimitsText(short, long))
    }
}

/// An address and a prefix length, as in `10.77.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The address.
    pub address: IpAddr,
    /// How many of its bits are the network's.
    pub prefix: u8,
}

impl FromStr for Network {
    type Err = String;
    fn from_str(text: &str) -> Result<Network, String> {
        let parsed = text.split_once('/').and_then(|(address, prefix)| {
            let address: IpAddr = address.trim().parse().ok()?;
            let longest = if address.is_ipv4() { 32 } else { 128 };
            let prefix = prefix.trim().parse().ok().filter(|prefix| *prefix <= longest)?;
            Some(Network { address, prefix })
        });
        parsed.ok_or_else(|| {
            format!("`{text}` is no address with prefix length: write it like `10.77.0.1/16` or `fd77::1/64`")
        })
    }
}

/// A station's own address, or `none`: somebody else gives it one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress(pub Option<Network>);

impl FromStr for OwnAddress {
    type Err = String;
    fn from_str(text: &str) -> Result<OwnAddress, String> {
        if text.trim() == "none" { Ok(OwnAddress(None)) } else { text.parse().map(|own| OwnAddress(Some(own))) }
    }
}

/// A topology as written: which one, and its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TopologyText {
    /// The same distance between every pair.
    Star(Length),
    /// Along a cable of this length.
    Bus(Length),
    /// Segments that repeaters join, each with its own section.
    Segments,
}

impl FromStr for TopologyText {
    type Err = String;
    fn from_str(text: &str) -> Result<TopologyText, String> {
        if text.trim() == "segments" {
            return Ok(TopologyText::Segments);
        }
        match text.split_once(':').map(|(kind, size)| (kind.trim(), units::length(size))) {
            Some(("star", size)) => size.map(TopologyText::Star),
            Some(("bus", size)) => size.map(TopologyText::Bus),
            _ => Err(format!(
                "`{text}` is no topology: write `star:50bt` (distance between every pair), `bus:500m` (length of the cable) or `segments` (each with its [[segment]] section)"
            )),
        }
    }
}

/// A half-width at which a run ends, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct UntilText(pub Until);

impl FromStr for UntilText {
    type Err = String;
    fn from_str(text: &str) -> Result<UntilText, String> {
        text.parse().map(UntilText)
    }
}

/// A length as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LengthText(pub Length);

impl FromStr for LengthText {
    type Err = String;
    fn from_str(text: &str) -> Result<LengthText, String> {
        units::length(text).map(LengthText)
    }
}

/// When frames arrive, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalsText(pub Arrivals);

impl FromStr for ArrivalsText {
    type Err = String;
    fn from_str(text: &str) -> Result<ArrivalsText, String> {
        text.parse().map(ArrivalsText)
    }
}

/// Frame sizes, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct SizesText(pub Sizes);

impl FromStr for SizesText {
    type Err = String;
    fn from_str(text: &str) -> Result<SizesText, String> {
        text.parse().map(SizesText)
    }
}

/// Bits per second, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateText(pub u64);

impl FromStr for RateText {
    type Err = String;
    fn from_str(text: &str) -> Result<RateText, String> {
        units::rate(text).map(RateText)
    }
}

/// A span of real time, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationText(pub Duration);

impl FromStr for DurationText {
    type Err = String;
    fn from_str(text: &str) -> Result<DurationText, String> {
        units::duration_or_zero(text).map(DurationText)
    }
}

/// How long a run is, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTimeText(pub RunTime);

impl FromStr for RunTimeText {
    type Err = String;
    fn from_str(text: &str) -> Result<RunTimeText, String> {
        units::run_time(text).map(RunTimeText)
    }
}

/// An instant since the medium's time began, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstantText {
    /// In real time.
    After(Duration),
    /// In bit times.
    BitTimes(u64),
}

impl FromStr for InstantText {
    type Err = String;
    fn from_str(text: &str) -> Result<InstantText, String> {
        let wrong = || format!("`{text}` is no instant: write it like `1ms` or, in bit times, `512 BT`");
        if text.trim_end().to_ascii_lowercase().ends_with("bt") {
            return units::bit_times(text).map(InstantText::BitTimes).map_err(|_| wrong());
        }
        units::duration_or_zero(text).map(InstantText::After).map_err(|_| wrong())
    }
}

impl InstantText {
    /// The instant on a medium of this rate.
    pub fn on_medium(self, rate: BitRate) -> BitInstant {
        BitInstant::ZERO
            + match self {
                InstantText::After(span) => BitTimes::within(span, rate),
                InstantText::BitTimes(bits) => BitTimes::new(bits),
            }
    }
}

/// A span in bit times, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitTimesText(pub u64);

impl FromStr for BitTimesText {
    type Err = String;
    fn from_str(text: &str) -> Result<BitTimesText, String> {
        units::bit_times(text).map(BitTimesText)
    }
}

/// How long a host takes to hand over a frame, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostDelayText(pub HostDelay);

impl FromStr for HostDelayText {
    type Err = String;
    fn from_str(text: &str) -> Result<HostDelayText, String> {
        plca::host_delay(text).map(HostDelayText)
    }
}

/// The clock of an SPI bus in hertz, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiClockText(pub u64);

impl FromStr for SpiClockText {
    type Err = String;
    fn from_str(text: &str) -> Result<SpiClockText, String> {
        macphy::clock(text).map(SpiClockText)
    }
}

/// How fast a clock is, in parts per million, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PpmText(pub i32);

impl FromStr for PpmText {
    type Err = String;
    fn from_str(text: &str) -> Result<PpmText, String> {
        let number = text.trim().strip_suffix("ppm").and_then(|number| number.trim().parse::<i32>().ok());
        number.filter(|ppm| Clock::new(*ppm).is_allowed()).map(PpmText).ok_or_else(|| {
            format!(
                "`{text}` is no deviation of a clock: write parts per million, `\"-100000 ppm\"` to `\"100000 ppm\"`"
            )
        })
    }
}

/// What is wrong with a station, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultText(pub Option<Fault>);

impl FromStr for FaultText {
    type Err = String;
    fn from_str(text: &str) -> Result<FaultText, String> {
        Fault::read(text).map(FaultText)
    }
}

/// A place on a segment, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceText {
    /// The segment's name.
    pub segment: String,
    /// The place on it, from the cable's end.
    pub position: Length,
}

impl FromStr for PlaceText {
    type Err = String;
    fn from_str(text: &str) -> Result<PlaceText, String> {
        let parts = text.rsplit_once(':').filter(|(segment, _)| !segment.trim().is_empty());
        let (segment, position) = parts.ok_or_else(|| {
            format!("`{text}` is no place on a segment: write the segment's name and the place on it, like `a:185m`")
        })?;
        Ok(PlaceText { segment: segment.trim().to_owned(), position: units::length(position)? })
    }
}

/// A machine's IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineText(pub IpAddr);

impl FromStr for MachineText {
    type Err = String;
    fn from_str(text: &str) -> Result<MachineText, String> {
        let address = text.trim().parse::<IpAddr>();
        let address =
            address.map_err(|_| format!("`{text}` is no IP address: write it like `192.0.2.7` or `2001:db8::7`"))?;
        if address.is_multicast() || address.is_unspecified() || address == IpAddr::V4(Ipv4Addr::BROADCAST) {
            return Err(format!(
                "`{text}` is the address of a group of machines: write it like `192.0.2.7` or `2001:db8::7`"
            ));
        }
        Ok(MachineText(address))
    }
}

/// A MAC address that a station can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacText(pub MacAddr);

impl FromStr for MacText {
    type Err = String;
    fn from_str(text: &str) -> Result<MacText, String> {
        match text.parse::<MacAddr>() {
            Ok(mac) if mac.0 & 1 == 0 && mac != MacAddr::zero() => Ok(MacText(mac)),
            Ok(_) => Err(format!(
                "`{text}` is no station's MAC address: it must be neither a group address nor zero: write one like `02:eb:00:00:00:01`"
            )),
            Err(_) => Err(format!("`{text}` is no MAC address: write six octets like `02:eb:00:00:00:01`")),
        }
    }
}

macro_rules! deserialize_from_text {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
deserialize_from_text!(
    Network,
    OwnAddress,
    TopologyText,
    LengthText,
    MacText,
    ArrivalsText,
    RateText,
    DurationText,
    InstantText,
    RunTimeText,
    BackoffText,
    ControlText,
    CaptureText,
    PersistenceText,
    PhyText,
    WindowText,
    SlotsText,
    RetryLimitsText,
    BitTimesText,
    HostDelayText,
    SpiClockText,
    PpmText,
    PlaceText,
    FaultText,
    MachineText,
    UntilText,
    SpeedText
);

/// One size may also be a bare number.
impl<'de> Deserialize<'de> for SizesText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a frame size in octets like `64`, or sizes with weights like `\"64:7,594:4,1518:1\"`"
        )]
        enum Written {
            Text(String),
            Number(u32),
        }
        let text = match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Number(octets) => octets.to_string(),
        };
        text.parse().map_err(de::Error::custom)
    }
}
