//! The scenario file: one TOML file that describes the medium and its stations. See docs/scenario.md.
//!
//! Here are its sections; `texts` has the values in them, `reading` reads a file. `check` looks at each value by itself, and
//! whether they fit together is `plan`'s to say.

mod reading;
mod texts;

pub use self::reading::{Reading, ScenarioError, SourceText, file_text};
pub use self::texts::{
    ArrivalsText, BackoffText, BitTimesText, DurationText, FaultText, InstantText, LengthText, MacText, MachineText,
    Network, PersistenceText, PhyText, PlaceText, PpmText, RateText, RetryLimitsText, RunTimeText, SizesText,
    TopologyText, UntilText, WindowText,
};

use crate::words::choices::{FanOutChoice, FilterChoice, LatencyChoice, OnOverload};
use crate::words::units;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::str::FromStr;
use toml::Spanned;

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
    /// PLCA of all stations, unless their own section says otherwise.
    pub plca: PlcaSection,
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
    /// What is done to stations and cable while the medium runs, and when.
    pub at: Vec<Spanned<AtSection>>,
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
    /// `"csma-cd"`, `"plca"`, `"csma"`, `"csma-ca"`, `"aloha"` or `"slotted-aloha"`.
    pub method: Option<Spanned<AccessMethod>>,
    /// `"uniform:20"`, `"geometric:20"`, `"beb"`, `"rcp:1,10,100,200"` …
    pub backoff: Option<Spanned<BackoffText>>,
    /// Of methods without collision detection: slots until a sender knows what became of a frame.
    pub ack_delay: Option<Spanned<u32>>,
    /// Of methods without collision detection: `"stations"` or `"infinite"`.
    pub population: Option<Spanned<PopulationChoice>>,
    /// Of CSMA: `"1"`, `"non"`, or a probability.
    pub persistence: Option<Spanned<PersistenceText>>,
    /// Of CSMA/CA: `"dsss-11"`, `"ofdm-54"` …
    pub phy: Option<Spanned<PhyText>>,
    /// Of CSMA/CA with `dsss-11`: the rate of ACK, RTS and CTS.
    pub control_rate: Option<Spanned<RateText>>,
    /// Of CSMA/CA: RTS and CTS before each frame for one station.
    pub rts: Option<Spanned<bool>>,
    /// Of CSMA/CA: `"32:1024"`, the first and the largest window.
    pub window: Option<Spanned<WindowText>>,
    /// Of CSMA/CA: `"7:4"`, the short and the long retry limit.
    pub retry_limits: Option<Spanned<RetryLimitsText>>,
    /// Of CSMA/CA: stations that are farther apart do not hear each other.
    pub range: Option<Spanned<LengthText>>,
}

/// How stations get to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessMethod {
    /// 802.3, clause 4.
    #[default]
    CsmaCd,
    /// Kleinrock and Tobagi 1975.
    Csma,
    /// IEEE 802.11, clause 10.3.
    CsmaCa,
    /// Abramson 1970.
    Aloha,
    /// Roberts 1972.
    SlottedAloha,
    /// 802.3, clause 148.
    Plca,
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
            AccessMethod::Plca => "PLCA",
        }
    }
}

impl FromStr for AccessMethod {
    type Err = String;
    fn from_str(text: &str) -> Result<AccessMethod, String> {
        match text.trim() {
            "csma-cd" => Ok(AccessMethod::CsmaCd),
            "csma" => Ok(AccessMethod::Csma),
            "csma-ca" => Ok(AccessMethod::CsmaCa),
            "aloha" => Ok(AccessMethod::Aloha),
            "slotted-aloha" => Ok(AccessMethod::SlottedAloha),
            "plca" => Ok(AccessMethod::Plca),
            _ => Err(format!(
                "`{text}` is no access method: write `csma-cd`, `plca`, `csma`, `csma-ca`, `aloha` or `slotted-aloha`"
            )),
        }
    }
}

/// Who sends on a medium without collision detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PopulationChoice {
    /// The stations, each one frame after the other.
    Stations,
    /// Infinitely many users, one for each frame.
    Infinite,
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
    /// How long is measured, like `"100s"` or `"1000000 slots"`.
    pub duration: Option<Spanned<RunTimeText>>,
    /// How long the medium runs before.
    pub warmup: Option<Spanned<RunTimeText>>,
    /// Independent runs.
    pub replications: Option<Spanned<u64>>,
    /// `"1%"`: the half-width at which it ends before `duration` is over.
    pub until: Option<Spanned<UntilText>>,
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

/// `[[at]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AtSection {
    /// When, since the medium's time began: `"1s"` or `"512 BT"`.
    pub time: Option<Spanned<InstantText>>,
    /// Whose fault it is.
    pub station: Option<Spanned<String>>,
    /// What is wrong with it from then on, or `"none"`.
    pub fault: Option<Spanned<FaultText>>,
    /// Two stations, by name: the cable is cut halfway between them.
    pub cut: Option<Vec<Spanned<String>>>,
    /// The cable is mended.
    pub mend: Option<Spanned<bool>>,
    /// The station that is put back on the medium.
    pub plug: Option<Spanned<String>>,
    /// The station that is taken off.
    pub unplug: Option<Spanned<String>>,
    /// What the PLCA of `station` is told from then on.
    pub plca: Option<Spanned<PlcaSection>>,
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
    /// For kind "interface": the interface that is its port. With `netns`: what its interface is called there.
    pub interface: Option<Spanned<String>>,
    /// For kind "veth": the namespace that its host is in already, a container's or one with a name.
    pub netns: Option<Spanned<String>>,
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
    /// Its PLCA.
    pub plca: PlcaSection,
}

/// `[plca]`, and of one station `plca.node-id = 3` and so on: the names are ethtool's.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct PlcaSection {
    /// PLCA is on.
    pub enable: Option<Spanned<bool>>,
    /// aPLCALocalNodeID, of one station.
    pub node_id: Option<Spanned<u8>>,
    /// Of one station: further turns beside that of its id.
    pub more_ids: Option<Spanned<Vec<String>>>,
    /// aPLCANodeCount.
    pub node_cnt: Option<Spanned<u8>>,
    /// aPLCATransmitOpportunityTimer, in bit times.
    pub to_tmr: Option<Spanned<u8>>,
    /// aPLCAMaxBurstCount.
    pub burst_cnt: Option<Spanned<u8>>,
    /// aPLCABurstTimer, in bit times.
    pub burst_tmr: Option<Spanned<u8>>,
    /// The PHY tells the MAC of collisions on the line.
    pub collision_detection: Option<Spanned<bool>>,
    /// The MAC takes notice of logical collisions.
    pub logical_collisions: Option<Spanned<bool>>,
    /// How long the host takes to hand a frame over.
    pub host_delay: Option<Spanned<BitTimesText>>,
    /// How much faster the node's clock is than it should be.
    pub clock: Option<Spanned<PpmText>>,
    /// Of all stations: delay_line_length.
    pub delay_line: Option<Spanned<BitTimesText>>,
    /// Of all stations: plca_status_timer.
    pub status_timer: Option<Spanned<BitTimesText>>,
    /// Of all stations: invalid_beacon_timer.
    pub invalid_beacon_timer: Option<Spanned<BitTimesText>>,
    /// Of all stations: from TX_EN to the line and on to CRS.
    pub phy_on: Option<Spanned<BitTimesText>>,
    /// Of all stations: the same as a signal ends.
    pub phy_off: Option<Spanned<BitTimesText>>,
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

fn with_speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    units::speed(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
