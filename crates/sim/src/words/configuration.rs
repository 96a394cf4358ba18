//! A medium's configuration as it is written down: for the data plane, and in traces.
//!
//! The mirrors name every field and variant of `medium`'s own types, and serde builds those types from them; so what is
//! new there does not compile until it is carried here. Names are the engine's, with the unit after them.
//!
//! One file above 500 lines because every value of a configuration has one mirror, and all of them make one format.

mod capture;
mod csma_ca;
mod plca;
mod tdma;

use backoff::Policy;
use csma_ca::CsmaCaMirror;
use medium::{
    Aloha, BitRate, BitTimes, Capture, Config, ConfigError, Control, Csma, CsmaCa, Method, Octets, Parameters,
    Persistence, Place, Plca, Population, Repeater, Segments, SlottedAloha, Tdma, Topology,
};
use plca::PlcaMirror;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use tdma::TdmaMirror;

/// Everything that a medium is made from; what observers it keeps things for is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WrittenConfig(#[serde(with = "ConfigMirror")] Config);

impl From<&Config> for WrittenConfig {
    fn from(config: &Config) -> WrittenConfig {
        WrittenConfig(Config { keep_events: false, keep_outputs: false, ..config.clone() })
    }
}

/// Keeps neither events nor outputs; a caller that wants them turns them on.
impl TryFrom<WrittenConfig> for Config {
    type Error = ConfigError;
    fn try_from(WrittenConfig(config): WrittenConfig) -> Result<Config, ConfigError> {
        config.check()?;
        Ok(config)
    }
}

impl WrittenConfig {
    /// How many stations there are.
    pub fn stations(&self) -> usize {
        self.0.topology.stations()
    }

    /// The medium's rate.
    pub fn rate(&self) -> BitRate {
        self.0.rate
    }

    /// The engine's own form of it.
    pub fn config(&self) -> &Config {
        &self.0
    }

    /// Seed of every random draw.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }
}

/// The topology's name in scenarios and results.
pub fn kind(topology: &Topology) -> &'static str {
    match topology {
        Topology::Star { .. } => "star",
        Topology::Bus { .. } => "bus",
        Topology::Segments(_) => "segments",
    }
}

/// The slot, or the frame time, in which a method counts loads, attempts and waits; none if it counts in bit times.
pub fn slot(method: &Method) -> Option<BitTimes> {
    match method {
        Method::SlottedAloha(own) => Some(own.slot),
        Method::Tdma(own) => Some(own.slot),
        Method::Aloha(own) => Some(own.slot),
        Method::Csma(own) => Some(own.slot),
        Method::CsmaCa(own) => Some(own.frame_time),
        Method::CsmaCd | Method::Plca(_) => None,
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Config", deny_unknown_fields)]
struct ConfigMirror {
    #[serde(rename = "rate_bits_per_second", with = "bit_rate")]
    rate: BitRate,
    #[serde(with = "TopologyMirror")]
    topology: Topology,
    /// Left out for CSMA/CD, as files of version 1 do.
    #[serde(default = "csma_cd", skip_serializing_if = "is_csma_cd", with = "MethodMirror")]
    method: Method,
    #[serde(with = "ParametersMirror")]
    parameters: Parameters,
    /// Left out where it is that of 802.3, as files of version 1 do.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "some_backoff")]
    backoff: Option<Policy>,
    queue_limit: usize,
    /// Left out where no station is a port of a bridge, as files of version 1 do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ports: Vec<usize>,
    /// Left out where no station can join, as files of version 1 do.
    #[serde(default, skip_serializing_if = "is_none")]
    seats: usize,
    /// Left out where all clocks are right, as files of version 1 do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    clocks_ppm: Vec<i32>,
    seed: u64,
    #[serde(skip)]
    keep_events: bool,
    #[serde(skip)]
    keep_outputs: bool,
}

fn is_none(seats: &usize) -> bool {
    *seats == 0
}

fn csma_cd() -> Method {
    Method::CsmaCd
}

fn is_csma_cd(method: &Method) -> bool {
    matches!(method, Method::CsmaCd)
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Method", rename_all = "snake_case", deny_unknown_fields)]
#[allow(clippy::large_enum_variant, reason = "one of it stands for the moment of reading")]
enum MethodMirror {
    CsmaCd,
    SlottedAloha(#[serde(with = "SlottedAlohaMirror")] SlottedAloha),
    Tdma(#[serde(with = "TdmaMirror")] Tdma),
    Aloha(#[serde(with = "AlohaMirror")] Aloha),
    Csma(#[serde(with = "CsmaMirror")] Csma),
    CsmaCa(#[serde(with = "CsmaCaMirror")] CsmaCa),
    Plca(#[serde(with = "PlcaMirror")] Plca),
}

/// The mirror of a method without collision detection: what it has of its own, and what all of them have.
macro_rules! contention_mirror {
    ($mirror:ident of $method:literal { $($own:tt)* }) => { contention_mirror!($mirror of $method { $($own)* } {}); };
    ($mirror:ident of $method:literal { $($own:tt)* } { $($more:tt)* }) => {
        #[derive(Serialize, Deserialize)]
        #[serde(remote = $method, deny_unknown_fields)]
        struct $mirror {
            $($own)*
            #[serde(rename = "slot_bt", with = "bit_times")]
            slot: BitTimes,
            #[serde(rename = "ack_delay_slots")]
            ack_delay: u32,
            #[serde(default = "yes", skip_serializing_if = "is_so")]
            holds_sender: bool,
            #[serde(with = "slotted_backoff")]
            backoff: Policy,
            $($more)*
            #[serde(default, skip_serializing_if = "Option::is_none", with = "capture")]
            capture: Option<Capture>,
            attempt_limit: Option<NonZeroU32>,
            #[serde(with = "PopulationMirror")]
            population: Population,
        }
    };
}

/// The value of a switch that older traces do not have: ACKs held the sender, nodes of PLCA began cold.
fn yes() -> bool {
    true
}

fn is_so(flag: &bool) -> bool {
    *flag
}

contention_mirror!(AlohaMirror of "Aloha" {});
contention_mirror!(SlottedAlohaMirror of "SlottedAloha" {} {
    #[serde(default, skip_serializing_if = "Option::is_none", with = "some_control")]
    control: Option<Control>,
});
contention_mirror!(CsmaMirror of "Csma" {
    #[serde(with = "persistence")]
    persistence: Persistence,
});

#[derive(Serialize, Deserialize)]
#[serde(remote = "Population", rename_all = "snake_case")]
enum PopulationMirror {
    Stations,
    Infinite,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Parameters", deny_unknown_fields)]
struct ParametersMirror {
    #[serde(rename = "slot_time_bt", with = "bit_times")]
    slot_time: BitTimes,
    #[serde(rename = "inter_packet_gap_bt", with = "bit_times")]
    inter_packet_gap: BitTimes,
    #[serde(rename = "inter_packet_gap_part_1_bt", with = "bit_times")]
    inter_packet_gap_part_1: BitTimes,
    attempt_limit: NonZeroU32,
    backoff_limit: u32,
    #[serde(rename = "jam_size_bt", with = "bit_times")]
    jam_size: BitTimes,
    #[serde(rename = "max_frame_size_octets", with = "octets")]
    max_frame_size: Octets,
    #[serde(rename = "min_frame_size_octets", with = "octets")]
    min_frame_size: Octets,
    #[serde(rename = "extend_size_octets", with = "octets")]
    extend_size: Octets,
    #[serde(rename = "burst_limit_bt", with = "bit_times")]
    burst_limit: BitTimes,
    #[serde(rename = "max_defer_time_bt", with = "bit_times")]
    max_defer_time: BitTimes,
    #[serde(rename = "jabber_limit_bt", with = "bit_times")]
    jabber_limit: BitTimes,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Topology", rename_all = "snake_case", deny_unknown_fields)]
enum TopologyMirror {
    Star {
        stations: usize,
        #[serde(rename = "distance_bt", with = "bit_times")]
        distance: BitTimes,
    },
    Bus {
        #[serde(rename = "positions_bt", with = "bit_times_list")]
        positions: Vec<BitTimes>,
    },
    Segments(#[serde(with = "segments")] Segments),
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceMirror {
    segment: usize,
    position_bt: u64,
}

impl From<&Place> for PlaceMirror {
    fn from(place: &Place) -> PlaceMirror {
        PlaceMirror { segment: place.segment, position_bt: place.position.get() }
    }
}

impl From<PlaceMirror> for Place {
    fn from(place: PlaceMirror) -> Place {
        Place { segment: place.segment, position: BitTimes::new(place.position_bt) }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RepeaterMirror {
    delay_bt: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jitter_bt: Option<u64>,
    ports: Vec<PlaceMirror>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentsMirror {
    stations: Vec<PlaceMirror>,
    repeaters: Vec<RepeaterMirror>,
}

/// Segments as what they are made from; what makes no tree is refused.
mod segments {
    use super::{BitTimes, Place, PlaceMirror, Repeater, RepeaterMirror, Segments, SegmentsMirror};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(segments: &Segments, serializer: S) -> Result<S::Ok, S::Error> {
        let repeater = |repeater: &Repeater| RepeaterMirror {
            delay_bt: repeater.delay.get(),
            jitter_bt: Some(repeater.jitter.get()).filter(|jitter| *jitter > 0),
            ports: repeater.ports.iter().map(PlaceMirror::from).collect(),
        };
        let stations = segments.stations().iter().map(PlaceMirror::from).collect();
        let repeaters = segments.repeaters().iter().map(repeater).collect();
        SegmentsMirror { stations, repeaters }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Segments, D::Error> {
        let SegmentsMirror { stations, repeaters } = SegmentsMirror::deserialize(deserializer)?;
        let places = |places: Vec<PlaceMirror>| places.into_iter().map(Place::from).collect::<Vec<_>>();
        let repeater = |mirror: RepeaterMirror| Repeater {
            delay: BitTimes::new(mirror.delay_bt),
            jitter: BitTimes::new(mirror.jitter_bt.unwrap_or_default()),
            ports: places(mirror.ports),
        };
        let repeaters: Vec<_> = repeaters.into_iter().map(repeater).collect();
        Segments::new(places(stations), &repeaters).map_err(D::Error::custom)
    }
}

/// A backoff as people write it.
mod slotted_backoff {
    use crate::words::contention;
    use backoff::Policy;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
        let name = contention::name(policy).ok_or_else(|| S::Error::custom("a backoff that has no name"))?;
        serializer.serialize_str(&name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Policy, D::Error> {
        contention::backoff(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A control as people write it, if there is one.
mod some_control {
    use crate::words::contention;
    use medium::Control;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(control: &Option<Control>, serializer: S) -> Result<S::Ok, S::Error> {
        match control {
            Some(control) => serializer.serialize_str(&contention::control_name(*control)),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Control>, D::Error> {
        contention::control(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
    }
}

/// The same where there may be none.
mod some_backoff {
    use super::slotted_backoff;
    use backoff::Policy;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(policy: &Option<Policy>, serializer: S) -> Result<S::Ok, S::Error> {
        match policy {
            Some(policy) => slotted_backoff::serialize(policy, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Policy>, D::Error> {
        slotted_backoff::deserialize(deserializer).map(Some)
    }
}

/// A persistence as people write it.
mod persistence {
    use crate::words::contention;
    use medium::Persistence;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(persistence: &Persistence, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&contention::persistence_name(*persistence))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Persistence, D::Error> {
        contention::persistence(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A rate as bits per second; zero is refused.
mod bit_rate {
    use medium::BitRate;
    use serde::de::{Error, Unexpected};
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(rate: &BitRate, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(rate.get())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BitRate, D::Error> {
        let bits = u64::deserialize(deserializer)?;
        let refused = || Error::invalid_value(Unexpected::Unsigned(bits), &"at least 1 bit per second");
        BitRate::per_second(bits).ok_or_else(refused)
    }
}

/// A span as a number of bit times.
mod bit_times {
    use medium::BitTimes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(span: &BitTimes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(span.get())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BitTimes, D::Error> {
        u64::deserialize(deserializer).map(BitTimes::new)
    }
}

/// Spans as a list of numbers of bit times.
mod bit_times_list {
    use medium::BitTimes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(spans: &[BitTimes], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(spans.iter().map(|span| span.get()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<BitTimes>, D::Error> {
        Vec::<u64>::deserialize(deserializer).map(|list| list.into_iter().map(BitTimes::new).collect())
    }
}

/// A length as a number of octets.
mod octets {
    use medium::Octets;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(length: &Octets, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(length.get())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Octets, D::Error> {
        u32::deserialize(deserializer).map(Octets::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::contention;
    use medium::{Phy, Reach};

    /// No two values alike and none a default, so that nothing can be lost or swapped unseen.
    fn odd() -> Config {
        Config {
            rate: BitRate::per_second(2_940_000).expect("not zero"),
            topology: Topology::Bus { positions: [0, 7, 31].map(BitTimes::new).to_vec() },
            method: Method::CsmaCd,
            parameters: Parameters {
                slot_time: BitTimes::new(384),
                inter_packet_gap: BitTimes::new(90),
                inter_packet_gap_part_1: BitTimes::new(59),
                attempt_limit: NonZeroU32::new(15).expect("not zero"),
                backoff_limit: 8,
                jam_size: BitTimes::new(33),
                max_frame_size: Octets::new(1554),
                min_frame_size: Octets::new(47),
                extend_size: Octets::new(1),
                burst_limit: BitTimes::new(60_001),
                max_defer_time: BitTimes::new(25_000),
                jabber_limit: BitTimes::new(150_002),
            },
            backoff: None,
            queue_limit: 17,
            ports: Vec::new(),
            seats: 0,
            clocks_ppm: vec![-77, 100_000],
            seed: u64::MAX,
            keep_events: false,
            keep_outputs: false,
        }
    }

    fn there_and_back(config: &Config) -> Config {
        let text = serde_json::to_string(&WrittenConfig::from(config)).expect("numbers and names");
        let read: WrittenConfig = serde_json::from_str(&text).expect("what was written");
        read.try_into().expect("a valid configuration")
    }

    #[test]
    fn every_value_comes_back_whatever_the_topology() {
        let bus = odd();
        assert_eq!(there_and_back(&bus), bus);
        let bridged = Config { ports: vec![3, 70_000], ..odd() };
        assert_eq!(there_and_back(&bridged), bridged);
        let star = Config { topology: Topology::star(5, 23), ..odd() };
        assert_eq!(there_and_back(&star), star);
        let place = |segment, bits| Place { segment, position: BitTimes::new(bits) };
        for jitter in [0, 4].map(BitTimes::new) {
            let repeater = Repeater { delay: BitTimes::new(8), jitter, ports: vec![place(0, 21), place(1, 2)] };
            let segments = Segments::new(vec![place(0, 5), place(1, 34)], &[repeater]).expect("a tree");
            let mut segments = Config { topology: Topology::Segments(segments), ..odd() };
            segments.parameters.burst_limit = BitTimes::ZERO;
            assert_eq!(there_and_back(&segments), segments);
            let text = serde_json::to_string(&WrittenConfig::from(&segments)).expect("numbers and names");
            assert_eq!(text.contains("jitter_bt"), jitter > BitTimes::ZERO, "left out, as it always was: {text}");
        }
        let slotted = SlottedAloha {
            slot: BitTimes::new(601),
            ack_delay: 3,
            holds_sender: false,
            backoff: contention::backoff("rcp:3,17").expect("a backoff"),
            control: None,
            capture: Some(Capture { threshold: 601, exponent: 350, positions: vec![1, 2, 30] }),
            attempt_limit: NonZeroU32::new(9),
            population: Population::Infinite,
        };
        let controlled =
            SlottedAloha { control: Some(Control::ESTIMATED), capture: None, ack_delay: 0, ..slotted.clone() };
        let (topology, clocks_ppm) = (Topology::star(5, 23), Vec::new());
        let controlled = Config { method: Method::SlottedAloha(controlled), topology, clocks_ppm, ..odd() };
        assert_eq!(there_and_back(&controlled), controlled);
        let slotted = Config { method: Method::SlottedAloha(slotted), ..odd() };
        assert_eq!(there_and_back(&slotted), slotted);
        let text = serde_json::to_string(&WrittenConfig::from(&odd())).expect("numbers and names");
        assert!(!text.contains("method"), "CSMA/CD is left out, as it always was: {text}");
        assert!(!text.contains("\"backoff\""), "and so is the backoff of 802.3: {text}");
    }

    #[test]
    fn every_value_of_the_other_methods_comes_back() {
        let with = |method| Config { method, ..odd() };
        let (slot, attempt_limit) = (BitTimes::new(601), NonZeroU32::new(9));
        let backoff = contention::backoff("beb:32").expect("a backoff");
        let population = Population::Infinite;
        let capture = Some(Capture { threshold: 601, exponent: 350, positions: vec![1, 2, 30] });
        let standard = Aloha { capture: capture.clone(), ..Aloha::new(Octets::new(64)) };
        let aloha = Aloha { slot, ack_delay: 3, holds_sender: false, backoff, attempt_limit, population, ..standard };
        let aloha = with(Method::Aloha(aloha));
        assert_eq!(there_and_back(&aloha), aloha);
        for persistence in [Persistence::One, Persistence::Non, Persistence::Millionths(30_000)] {
            let csma = Csma {
                persistence,
                slot,
                ack_delay: 3,
                holds_sender: true,
                backoff,
                capture: capture.clone(),
                attempt_limit,
                population,
            };
            let csma = with(Method::Csma(csma));
            assert_eq!(there_and_back(&csma), csma);
        }
        let reach = Some(Reach { range: 7, positions: vec![1, 2, 30] });
        let ca = CsmaCa { rts: true, window: 3, reach, ..CsmaCa::new(Phy::Dsss1, Octets::new(77)) };
        let ca = Config { rate: Phy::Dsss1.rate(), topology: Topology::star(3, 1), ..with(Method::CsmaCa(ca)) };
        assert_eq!(there_and_back(&ca), ca);
        let csma_cd = Config { backoff: Some(backoff), ..odd() };
        assert_eq!(there_and_back(&csma_cd), csma_cd);
    }

    #[test]
    fn what_makes_no_medium_is_refused_with_what_would_be_right() {
        let good = serde_json::to_string(&WrittenConfig::from(&odd())).expect("numbers and names");
        for (from, to, words) in [
            ("\"rate_bits_per_second\":2940000", "\"rate_bits_per_second\":0", "at least 1 bit per second"),
            ("\"attempt_limit\":15", "\"attempt_limit\":0", "nonzero"),
            ("\"jam_size_bt\":33", "\"jam_size_bt\":-1", "u64"),
            ("\"jam_size_bt\":33", "\"jam_size_bits\":33", "unknown field `jam_size_bits`"),
            ("\"bus\"", "\"ring\"", "unknown variant `ring`"),
        ] {
            assert!(good.contains(from), "{good}");
            let error = serde_json::from_str::<WrittenConfig>(&good.replace(from, to)).expect_err(to).to_string();
            assert!(error.contains(words), "{error}");
        }
        let silent = good.replace("\"slot_time_bt\":384", "\"slot_time_bt\":0");
        let read: WrittenConfig = serde_json::from_str(&silent).expect("a number");
        let error = Config::try_from(read).expect_err("no slot").to_string();
        assert!(error.contains("slot_time") && error.contains("1 to 2^31 BT"), "{error}");
    }

    #[test]
    fn the_longest_distance_is_that_of_the_two_farthest_stations() {
        assert_eq!(odd().topology.longest_distance(), BitTimes::new(31));
        assert_eq!(Topology::star(1, 50).longest_distance(), BitTimes::ZERO);
        assert_eq!(Topology::star(2, 50).longest_distance(), BitTimes::new(50));
    }
}
