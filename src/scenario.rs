//! The scenario file: one TOML file that describes the medium and its stations. See docs/scenario.md.
//!
//! Reads the file and checks each value by itself; whether they fit together is `plan`'s to say.

use crate::units::{self, Length};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, de};
use std::net::IpAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
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
    /// One for each station, in order along the bus.
    pub station: Vec<Spanned<StationSection>>,
}

/// `[medium]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MediumSection {
    /// Bits per second, like `"10Mbit/s"`.
    #[serde(deserialize_with = "with_rate")]
    pub rate: Option<u64>,
    /// `"star:50bt"` or `"bus:500m"`.
    pub topology: Option<Spanned<TopologyText>>,
    /// Metres per second, like `"0.77c"`.
    #[serde(deserialize_with = "with_speed")]
    pub propagation_speed: Option<f64>,
    /// Frames that a station's transmit queue holds.
    pub queue: Option<Spanned<usize>>,
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
    /// Its IPv4 address with prefix length.
    pub ipv4: Option<Spanned<Network>>,
    /// Its IPv6 address with prefix length.
    pub ipv6: Option<Spanned<Network>>,
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
}

impl FromStr for TopologyText {
    type Err = String;
    fn from_str(text: &str) -> Result<TopologyText, String> {
        match text.split_once(':').map(|(kind, size)| (kind.trim(), units::length(size))) {
            Some(("star", size)) => size.map(TopologyText::Star),
            Some(("bus", size)) => size.map(TopologyText::Bus),
            _ => Err(format!(
                "`{text}` is no topology: write `star:50bt` (distance between every pair) or `bus:500m` (length of the cable)"
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

/// A MAC address that a station can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacText(pub link::MacAddr);

impl FromStr for MacText {
    type Err = String;
    fn from_str(text: &str) -> Result<MacText, String> {
        match text.parse::<link::MacAddr>() {
            Ok(mac) if mac.0 & 1 == 0 && mac != link::MacAddr::zero() => Ok(MacText(mac)),
            Ok(_) => Err(format!("`{text}` is no station's MAC address: it must be neither a group address nor zero")),
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
deserialize_from_text!(Network, TopologyText, LengthText, MacText);

fn with_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    units::rate(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

fn with_speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    units::speed(&String::deserialize(deserializer)?).map(Some).map_err(D::Error::custom)
}

/// Where a scenario's text came from, so that an error can name the place.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// File and line of the octets `span` of the text.
    pub fn place(&self, span: Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        format!("{}:{}", self.path.display(), before.matches('\n').count() + 1)
    }
}

/// Why a scenario file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("cannot read the scenario {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A key is unknown, or a value is wrong.
    #[error("{}: {source}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, key, and what would be right.
        source: Box<toml::de::Error>,
    },
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// A file that cannot be read; an unknown key or a bad value, with file, line and key.
    pub fn read(path: &Path) -> Result<(Scenario, Source), ScenarioError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
        let scenario = toml::from_str(&text)
            .map_err(|source| ScenarioError::Content { path: path.to_owned(), source: Box::new(source) })?;
        Ok((scenario, Source { path: path.to_owned(), text }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        toml::from_str::<Scenario>(text).expect_err(text).to_string()
    }

    #[test]
    fn a_whole_scenario_is_read() {
        let scenario: Scenario = toml::from_str(
            "name = 'lab'\nseed = 7\nipv4 = '10.1.0.0/24'\n[medium]\nrate = '100Mbit/s'\ntopology = 'bus:500m'\n\
             propagation_speed = '0.66c'\nqueue = 50\n[[station]]\nname = 'a'\nposition = '10 m'\n\
             mac = '02:00:00:00:00:01'\nipv6 = 'fd00::1/64'\n",
        )
        .expect("a valid scenario");
        assert_eq!(scenario.medium.rate, Some(100_000_000));
        assert_eq!(scenario.station.len(), 1);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_what_would_be_allowed() {
        let error = error("[medium]\nraet = '10M'\n");
        assert!(error.contains("line 2") && error.contains("raet") && error.contains("`rate`"), "{error}");
    }

    #[test]
    fn a_bad_unit_is_named_with_its_line_and_what_would_be_right() {
        let error = error("seed = 1\n[medium]\nrate = '10 bananas'\n");
        assert!(error.contains("line 3") && error.contains("bananas") && error.contains("10Mbit/s"), "{error}");
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
