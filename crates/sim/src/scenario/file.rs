//! The scenario file: one TOML file that describes the medium and its stations. See docs/scenario.md.
//!
//! Reads the file; `check` looks at each value by itself, and whether they fit together is `plan`'s to say.
//!
//! One file above 500 lines because each section of a scenario is one struct, and the texts in it one type each.

use super::check;
use super::wrong::{FilePlace, Wrong, Wrongs};
use crate::traffic::{Arrivals, Sizes};
use crate::words::MacAddr;
use crate::words::choices::{FanOutChoice, FilterChoice, LatencyChoice, OnOverload};
use crate::words::contention;
use crate::words::fault::fault;
use crate::words::units::{self, Length};
use backoff::Policy;
use medium::Fault;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use toml::Spanned;
use toml::de::DeTable;

/// What a scenario file says. What it leaves out has a default.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// The lab's name.
    pub name: Option<Spanned<String>>,
    /// Seed of every random draw.
    pub seed: Option<u64>,
    /// How many stations, if there is no `[[station]]` for each.
    pub stations: Option<Spanned<usize>>,
    /// Where stations get their IPv4 addresses from.
    pub ipv4: Option<Spanned<Network>>,
    /// Where stations get their IPv6 addresses from.
    pub ipv6: Option<Spanned<Network>>,
    /// The medium.
    pub medium: MediumSection,
    /// How stations get to send.
    pub access: AccessSection,
    /// What stations offer in virtual time, unless their own section says otherwise.
    pub traffic: TrafficSection,
    /// How long a run in virtual time is.
    pub run: RunSection,
    /// How a live bus follows real time.
    pub emulator: EmulatorSection,
    /// Segments of cable, for topology `"segments"`.
    pub segment: Vec<Spanned<SegmentSection>>,
    /// What joins them.
    pub repeater: Vec<Spanned<RepeaterSection>>,
    /// When the cable is cut, and where.
    pub cut: Vec<Spanned<CutSection>>,
    /// Frames whose instants are written down.
    pub frame: Vec<Spanned<FrameSection>>,
    /// One for each station, in order along the bus.
    pub station: Vec<Spanned<StationSection>>,
}

/// `[medium]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MediumSection {
    /// Bits per second, like `"10Mbit/s"`.
    pub rate: Option<Spanned<RateText>>,
    /// `"star:50bt"` or `"bus:500m"`.
    pub topology: Option<Spanned<TopologyText>>,
    /// Metres per second, like `"0.77c"`.
    #[serde(deserialize_with = "with_speed")]
    pub propagation_speed: Option<f64>,
    /// Frames that a station's transmit queue holds.
    pub queue: Option<Spanned<usize>>,
    /// Frame bursting at 1000 Mb/s.
    pub bursting: Option<Spanned<bool>>,
    /// slotTime.
    pub slot_time: Option<Spanned<BitTimesText>>,
    /// interPacketGap.
    pub inter_packet_gap: Option<Spanned<BitTimesText>>,
    /// The part of it in which carrier starts it anew.
    pub inter_packet_gap_part_1: Option<Spanned<BitTimesText>>,
    /// attemptLimit.
    pub attempt_limit: Option<Spanned<u32>>,
    /// backoffLimit.
    pub backoff_limit: Option<Spanned<u32>>,
    /// jamSize.
    pub jam_size: Option<Spanned<BitTimesText>>,
    /// Octets from destination address to FCS.
    pub max_frame_size: Option<Spanned<u32>>,
    /// Octets from destination address to FCS.
    pub min_frame_size: Option<Spanned<u32>>,
    /// maxDeferTime.
    pub max_defer_time: Option<Spanned<BitTimesText>>,
}

/// `[access]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSection {
    /// `"csma-cd"` or `"slotted-aloha"`.
    pub method: Option<Spanned<AccessMethod>>,
    /// Of slotted ALOHA: `"uniform:20"`, `"geometric:20"`, `"beb"` or `"rcp:10,100,200"`.
    pub backoff: Option<Spanned<BackoffText>>,
    /// Of slotted ALOHA: slots from the end of its own until a sender knows what became of a frame.
    pub ack_delay: Option<Spanned<u32>>,
    /// Of slotted ALOHA: `"stations"` or `"infinite"`.
    pub population: Option<Spanned<PopulationChoice>>,
}

/// How stations get to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessMethod {
    /// 802.3, clause 4.
    #[default]
    CsmaCd,
    /// Roberts 1972.
    SlottedAloha,
}

impl FromStr for AccessMethod {
    type Err = String;
    fn from_str(text: &str) -> Result<AccessMethod, String> {
        match text.trim() {
            "csma-cd" => Ok(AccessMethod::CsmaCd),
            "slotted-aloha" => Ok(AccessMethod::SlottedAloha),
            _ => Err(format!("`{text}` is no access method: write `csma-cd` or `slotted-aloha`")),
        }
    }
}

/// Who sends on a slotted medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulationChoice {
    /// The stations, each one frame after the other.
    Stations,
    /// Infinitely many users, one for each frame.
    Infinite,
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

/// `[traffic]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficSection {
    /// `"saturated"`, `"poisson:0.4"` …: a load is that of all stations together.
    pub arrivals: Option<Spanned<ArrivalsText>>,
    /// When the first of periodic arrivals comes.
    pub phase: Option<Spanned<DurationText>>,
    /// `"64"`, `"64:7,594:4,1518:1"` …
    pub frame_size: Option<Spanned<SizesText>>,
    /// `"next"`, `"broadcast"`, `"random"` or a station's name.
    pub destination: Option<Spanned<String>>,
}

/// `[run]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunSection {
    /// How long is measured, like `"100s"`.
    pub duration: Option<Spanned<DurationText>>,
    /// How long the medium runs before.
    pub warmup: Option<Spanned<DurationText>>,
    /// Independent runs.
    pub replications: Option<Spanned<u64>>,
}

/// `[emulator]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EmulatorSection {
    /// The medium's time as a part of real time.
    pub time_scale: Option<Spanned<f64>>,
    /// `"slip"` or `"drop"`.
    pub on_overload: Option<OnOverload>,
    /// `"normal"` or `"low"`.
    pub latency: Option<LatencyChoice>,
    /// With `latency = "low"`: how long the ring is read after each frame.
    pub read_on: Option<Spanned<DurationText>>,
    /// The number of the processor that the data plane runs on.
    pub processor: Option<usize>,
    /// `"auto"`, `"kernel"` or `"batch"`.
    pub fan_out: Option<FanOutChoice>,
    /// `"none"` or `"address"`.
    pub filter: Option<FilterChoice>,
}

/// `[[segment]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SegmentSection {
    /// The segment's name; its number from 1 unless said otherwise.
    pub name: Option<Spanned<String>>,
    /// How long the cable is.
    pub length: Option<Spanned<LengthText>>,
}

/// `[[repeater]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepeaterSection {
    /// How long a signal takes through it.
    pub delay: Option<Spanned<BitTimesText>>,
    /// Where its ports are: `["a:185m", "b:0m"]`.
    pub ports: Vec<Spanned<PlaceText>>,
}

/// `[[cut]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CutSection {
    /// Two stations, by name: the cut is halfway between them.
    pub between: Vec<Spanned<String>>,
    /// When it is cut, in the medium's time; at the first instant unless said otherwise.
    pub from: Option<Spanned<DurationText>>,
    /// When it is mended; never unless said otherwise.
    pub until: Option<Spanned<DurationText>>,
}

/// `[[station]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StationSection {
    /// The station's name, and that of its interface on the bus's side.
    pub name: Option<Spanned<String>>,
    /// Its place on a bus, from the cable's end.
    pub position: Option<Spanned<LengthText>>,
    /// Its MAC address.
    pub mac: Option<Spanned<MacText>>,
    /// What its host is, in a live lab.
    pub kind: PortKind,
    /// For kind "interface": the interface that is its port.
    pub interface: Option<Spanned<String>>,
    /// For kind "bridge": the bridge that it leads to; ethbus makes one if this is left out.
    pub bridge: Option<Spanned<String>>,
    /// For kind "vxlan": the machine that the station is on.
    pub remote: Option<Spanned<MachineText>>,
    /// For kind "vxlan": this machine's own address.
    pub local: Option<Spanned<MachineText>>,
    /// For kind "vxlan": the VXLAN Network Identifier.
    pub vni: Option<Spanned<u32>>,
    /// For kind "vxlan": the UDP port.
    pub port: Option<Spanned<u16>>,
    /// What is wrong with it from the first instant on.
    pub fault: Option<Spanned<FaultText>>,
    /// Its IPv4 address with prefix length.
    pub ipv4: Option<Spanned<Network>>,
    /// Its IPv6 address with prefix length.
    pub ipv6: Option<Spanned<Network>>,
    /// The segment that it is on.
    pub segment: Option<Spanned<String>>,
    /// When its own frames arrive; a load is this station's own.
    pub arrivals: Option<Spanned<ArrivalsText>>,
    /// When the first of its periodic arrivals comes.
    pub phase: Option<Spanned<DurationText>>,
    /// Several sources, in place of `arrivals`.
    pub source: Vec<Spanned<SourceSection>>,
    /// How long its own frames are.
    pub frame_size: Option<Spanned<SizesText>>,
    /// Whom its own frames are for.
    pub destination: Option<Spanned<String>>,
}

/// `[[station.source]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SourceSection {
    /// When its frames arrive; a load is this source's own.
    pub arrivals: Option<Spanned<ArrivalsText>>,
    /// When the first of its periodic arrivals comes.
    pub phase: Option<Spanned<DurationText>>,
    /// How long its frames are.
    pub frame_size: Option<Spanned<SizesText>>,
    /// Whom its frames are for.
    pub destination: Option<Spanned<String>>,
}

/// `[[frame]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FrameSection {
    /// The station that offers it.
    pub station: Option<Spanned<String>>,
    /// When, since the medium's time began: `"1ms"` or `"512 BT"`.
    pub at: Option<Spanned<InstantText>>,
    /// `"next"`, `"broadcast"`, or a station's name.
    pub destination: Option<Spanned<String>>,
    /// Octets from destination address to FCS.
    pub size: Option<Spanned<u32>>,
}

/// What a station's host is, in a live lab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortKind {
    /// A network namespace with a kernel's own stack.
    #[default]
    Veth,
    /// A program that opens a TAP device in the station's namespace.
    Tap,
    /// Whatever is behind an interface of the namespace that ethbus is run in.
    Interface,
    /// Whatever is behind a bridge of that namespace.
    Bridge,
    /// Another machine, at the other end of a VXLAN tunnel.
    Vxlan,
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

/// A span in bit times, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitTimesText(pub u64);

impl FromStr for BitTimesText {
    type Err = String;
    fn from_str(text: &str) -> Result<BitTimesText, String> {
        units::bit_times(text).map(BitTimesText)
    }
}

/// What is wrong with a station, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultText(pub Option<Fault>);

impl FromStr for FaultText {
    type Err = String;
    fn from_str(text: &str) -> Result<FaultText, String> {
        fault(text).map(FaultText)
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
                "`{text}` is the address of no one machine: write it like `192.0.2.7` or `2001:db8::7`"
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
    TopologyText,
    LengthText,
    MacText,
    ArrivalsText,
    RateText,
    DurationText,
    InstantText,
    BackoffText,
    BitTimesText,
    PlaceText,
    FaultText,
    MachineText
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

fn with_speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    units::speed(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// Where a scenario's text came from, so that an error can name the place.
#[derive(Clone, Debug)]
pub struct SourceText {
    path: PathBuf,
    text: String,
}

impl SourceText {
    /// The text of the file `path`.
    pub fn new(path: &Path, text: String) -> SourceText {
        SourceText { path: path.to_owned(), text }
    }

    /// File, line and column of the octets `span` of the text.
    pub fn place(&self, span: Range<usize>) -> FilePlace {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        FilePlace {
            file: self.path.display().to_string(),
            line: before.matches('\n').count() + 1,
            column: before[line..].chars().count() + 1,
        }
    }

    /// What stands at `span`.
    pub fn text(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The line in which the octet `at` is.
    pub fn line_at(&self, at: usize) -> &str {
        let at = at.min(self.text.len());
        let begin = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        self.text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default()
    }
}

/// Why a scenario file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("{}: cannot read the scenario", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Keys are unknown, or values are wrong: all that are.
    #[error("{0}")]
    Content(Wrongs),
}

/// What a file says, as far as it makes sense.
#[derive(Debug)]
pub struct Reading {
    /// All that is right in it.
    pub scenario: Scenario,
    /// Where it came from.
    pub source: SourceText,
    /// All that is wrong in it.
    pub wrongs: Vec<Wrong>,
    /// Sections from which wrong values were taken out; empty text for the top of the file.
    pub broken: Vec<&'static str>,
    /// A line is no TOML, so nobody knows what the file says.
    pub is_broken: bool,
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// A file that cannot be read; unknown keys and bad values, all of them, with file, line, column and key.
    pub fn read(path: &Path) -> Result<(Scenario, SourceText), ScenarioError> {
        Scenario::from_text(path, file_text(path)?)
    }

    /// Reads a scenario from `text`, which stands in, or was made from, the file `path`.
    ///
    /// # Errors
    /// Unknown keys and bad values, all of them, with file, line, column and key.
    pub fn from_text(path: &Path, text: String) -> Result<(Scenario, SourceText), ScenarioError> {
        let reading = Reading::of(path, text);
        match reading.wrongs.is_empty() {
            true => Ok((reading.scenario, reading.source)),
            false => Err(ScenarioError::Content(Wrongs::new(reading.wrongs))),
        }
    }
}

/// The text of a scenario file.
///
/// # Errors
/// The file cannot be read, or is no text.
pub fn file_text(path: &Path) -> Result<String, ScenarioError> {
    let octets = std::fs::read(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
    String::from_utf8(octets).map_err(|error| {
        let (right, octets) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let source = SourceText::new(path, String::from_utf8_lossy(&octets[..right]).into_owned());
        let what = format!("octet 0x{:02X} is no text in UTF-8: save the file as UTF-8", octets[right]);
        let place = Some(source.place(right..right));
        ScenarioError::Content(Wrong { place, name: String::new(), what }.into())
    })
}

impl Reading {
    /// Reads what can be read of `text`, and finds all that is wrong in it.
    pub fn of(path: &Path, text: String) -> Reading {
        let source = SourceText::new(path, text.clone());
        let (mut table, errors) = DeTable::parse_recoverable(&text);
        let mut wrongs: Vec<Wrong> = errors.iter().map(|error| check::syntax(&source, error)).collect();
        // One error leads to others on its line.
        wrongs.sort_by(|one, other| one.place.cmp(&other.place));
        wrongs.dedup_by_key(|wrong| wrong.place.as_ref().map(|place| place.line));
        // Behind a heading that is none, values would belong to another section.
        let is_value =
            |error: &toml::de::Error| source.line_at(error.span().map_or(0, |span| span.start)).contains('=');
        if !errors.iter().all(is_value) {
            return Reading { scenario: Scenario::default(), source, wrongs, broken: Vec::new(), is_broken: true };
        }
        let found = check::check(&source, table.get_mut());
        let line = |wrong: &Wrong| wrong.place.as_ref().map(|place| place.line);
        let mut is_broken = !wrongs.is_empty();
        let known: Vec<Option<usize>> = wrongs.iter().map(line).collect();
        wrongs.extend(found.wrongs.into_iter().filter(|wrong| !known.contains(&line(wrong))));
        let scenario = Scenario::deserialize(toml::de::Deserializer::from(table)).unwrap_or_else(|error| {
            is_broken = true;
            let place = Some(source.place(error.span().unwrap_or(0..0)));
            wrongs.push(Wrong { place, name: String::new(), what: error.message().to_owned() });
            Scenario::default()
        });
        Reading { scenario, source, wrongs, broken: found.broken, is_broken }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Scenario::from_text(Path::new("lab.toml"), text.to_owned()).expect_err(text).to_string()
    }

    #[test]
    fn a_whole_scenario_is_read() {
        let scenario: Scenario = toml::from_str(
            "name = 'lab'\nseed = 7\nipv4 = '10.1.0.0/24'\n[medium]\nrate = '100Mbit/s'\ntopology = 'bus:500m'\n\
             propagation_speed = '0.66c'\nqueue = 50\n[[station]]\nname = 'a'\nposition = '10 m'\n\
             mac = '02:00:00:00:00:01'\nipv6 = 'fd00::1/64'\n",
        )
        .expect("a valid scenario");
        assert_eq!(scenario.medium.rate.map(|rate| rate.into_inner()), Some(RateText(100_000_000)));
        assert_eq!(scenario.station.len(), 1);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_what_would_be_allowed() {
        let error = error("[medium]\nraet = '10M'\n");
        assert!(error.contains("lab.toml:2:1:") && error.contains("raet") && error.contains("`rate`"), "{error}");
    }

    #[test]
    fn a_bad_unit_is_named_with_its_line_and_what_would_be_right() {
        let error = error("seed = 1\n[medium]\nrate = '10 bananas'\n");
        assert!(
            error.contains("lab.toml:3:8: rate:") && error.contains("bananas") && error.contains("10Mbit/s"),
            "{error}"
        );
        for text in [
            "[medium]\ntopology = 'ring:5m'",
            "[medium]\ntopology = 'bus:5'",
            "ipv4 = '10.0.0.0'",
            "ipv4 = '10.0.0.0/33'",
        ] {
            assert!(self::error(text).contains("write"), "{text}");
        }
        assert!(self::error("[[station]]\nmac = '01:00:00:00:00:01'").contains("group"));
    }
}
