//! The stations of a plan: how many, their names, MAC addresses, IP addresses, and what their hosts are.

use super::StationPlan;
use super::host::{self, Hosts};
use super::planner::Planner;
use crate::scenario::file::{Network, OwnAddress, StationSection, value};
use crate::settings::overrides::option_at;
use crate::settings::wrong::PlanError;
use crate::words::MacAddr;
use crate::words::interface::{Address, station_name};
use crate::words::units::many;
use ::medium::Config;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use toml::Spanned;

const DEFAULT_STATIONS: usize = 4;
const DEFAULT_IPV4: Network = Network { address: IpAddr::V4(Ipv4Addr::new(10, 77, 0, 0)), prefix: 16 };
const DEFAULT_IPV6: Network = Network { address: IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 0)), prefix: 64 };

/// Which station has a value, and where in the file.
type Owners<T> = HashMap<T, (String, Option<Range<usize>>)>;

/// What stations have taken so far.
#[derive(Default)]
pub(super) struct Taken {
    names: Owners<String>,
    macs: Owners<MacAddr>,
    addresses: Owners<IpAddr>,
    hosts: Hosts,
}

impl Taken {
    /// What these stations have.
    pub(super) fn by(stations: &[StationPlan]) -> Taken {
        let owner = |station: &StationPlan| (station.name.clone(), None);
        let mut taken = Taken::default();
        for station in stations {
            taken.names.insert(station.name.clone(), owner(station));
            taken.macs.insert(station.mac, owner(station));
            taken.addresses.extend(station.addresses.iter().map(|network| (network.address, owner(station))));
        }
        taken
    }
}

impl Planner<'_> {
    /// One section for each station: those of the scenario, and then one for each `--lend`.
    pub(super) fn sections(&self) -> Result<Vec<StationSection>, PlanError> {
        let mut sections = self.own_sections()?;
        sections.extend(self.attached_sections()?);
        self.add_ports(&mut sections)?;
        if sections.len() > Config::MAX_STATIONS {
            let what = format!("{} stations: 802.3 allows 1 to {}", sections.len(), Config::MAX_STATIONS);
            return Err(PlanError::option("--lend", what));
        }
        Ok(sections)
    }

    /// Those given, or empty ones.
    fn own_sections(&self) -> Result<Vec<StationSection>, PlanError> {
        let given: Vec<_> = self.scenario.station.iter().map(|section| section.get_ref().clone()).collect();
        let (count, place, span) = match &self.scenario.stations {
            Some(count) if option_at(&count.span()).is_some() => (*count.get_ref(), "--stations", Some(count.span())),
            Some(count) => (*count.get_ref(), "stations", Some(count.span())),
            None if given.is_empty() => (DEFAULT_STATIONS, "stations", None),
            None => (given.len(), "station", self.scenario.station.first().map(Spanned::span)),
        };
        if count == 0 && self.scenario.capacity.is_none() {
            let what =
                "0 stations: write a whole number from 1 to 1024, or a `capacity` too, for stations that join later"
                    .to_owned();
            return Err(self.wrong(place, span, what));
        }
        if !(0..=Config::MAX_STATIONS).contains(&count) {
            let what = format!("{count} stations: 802.3 allows 1 to {} on one medium", Config::MAX_STATIONS);
            return Err(self.wrong(place, span, what));
        }
        if given.is_empty() {
            return Ok(vec![StationSection::default(); count]);
        }
        if given.len() != count {
            let what = format!(
                "{}, but the scenario has {}: leave `{place}` out, or have as many sections",
                many(count as u64, "station"),
                many(given.len() as u64, "[[station]] section")
            );
            return Err(self.wrong(place, span, what));
        }
        Ok(given)
    }

    /// The stations; what is wrong with one does not hide what is wrong with others.
    pub(super) fn stations(&self, lab: &str, sections: &[StationSection]) -> Option<Vec<StationPlan>> {
        let mut taken = Taken::default();
        let stations: Vec<Option<StationPlan>> = sections
            .iter()
            .enumerate()
            .map(|(index, section)| self.keep(self.station(lab, index, section, &mut taken)))
            .collect();
        stations.into_iter().collect()
    }

    pub(super) fn station(
        &self,
        lab: &str,
        index: usize,
        section: &StationSection,
        taken: &mut Taken,
    ) -> Result<StationPlan, PlanError> {
        let name = self.station_name(index, section)?;
        let span = section.name.as_ref().map(Spanned::span);
        self.unique(&mut taken.names, name.clone(), &name, "name", span)?;
        let mac = section.mac.as_ref().map_or_else(|| default_mac(lab, index), |mac| mac.get_ref().0);
        if value(&self.scenario.duplicate_mac) != Some(true) {
            self.unique(&mut taken.macs, mac, &name, "mac", section.mac.as_ref().map(Spanned::span))?;
        }
        let fault = section.fault.as_ref().and_then(|fault| fault.get_ref().0);
        let host = self.host(&name, self.section_at(index), section, &mut taken.hosts)?;
        self.check_default_name(&name, section)?;
        let kernel = self.kernel(section)?;
        let mut plan = StationPlan { name, mac, addresses: Vec::new(), host, fault, kernel };
        let families = [
            ("ipv4", &section.ipv4, &self.scenario.ipv4, DEFAULT_IPV4),
            ("ipv6", &section.ipv6, &self.scenario.ipv6, DEFAULT_IPV6),
        ];
        for (key, own, network, default) in families {
            let Some(address) =
                self.address(key, own.as_ref(), network.as_ref(), default, self.overrides.of_bus.before + index)?
            else {
                continue;
            };
            self.unique(&mut taken.addresses, address.address, &plan.name, key, own.as_ref().map(Spanned::span))?;
            plan.addresses.push(address);
        }
        Ok(plan)
    }

    pub(super) fn station_name(&self, index: usize, section: &StationSection) -> Result<String, PlanError> {
        if let Some(name) = &section.name {
            station_name(name.get_ref()).map_err(|what| self.at("name", name, what))?;
            return Ok(name.get_ref().clone());
        }
        Ok(host::default_name(section).unwrap_or_else(|| self.overrides.of_bus.default_name(index)))
    }

    /// A station that is named after the interface that it lends: not every interface's name is one for a station.
    fn check_default_name(&self, name: &str, section: &StationSection) -> Result<(), PlanError> {
        let Some(interface) = section.interface.as_ref().filter(|_| section.name.is_none()) else { return Ok(()) };
        let (key, span) = self.named_by(interface);
        let right = "a station of a scenario can lend it under a `name` of its own";
        station_name(name).map_err(|what| self.wrong(key, span, format!("{what}; {right}")))
    }

    pub(super) fn unique<T: Hash + Eq + std::fmt::Display>(
        &self,
        taken: &mut Owners<T>,
        value: T,
        station: &str,
        key: &str,
        span: Option<Range<usize>>,
    ) -> Result<(), PlanError> {
        if let Some((other, other_span)) = taken.get(&value) {
            let line = |span: &Option<Range<usize>>| self.place(span.clone()).map(|place| place.line);
            let lines = (line(&span), line(other_span));
            // Where one of the two is given by default, the place is that of the one that was written.
            let span = span.or_else(|| other_span.clone());
            let at = lines.1.map_or_else(String::new, |line| format!(" in line {line}"));
            let what = match (key, lines) {
                ("name", (Some(_), Some(_))) => format!("`{value}` is the name of the station{at} too"),
                ("name", _) => format!("`{value}` is the default name of another station too, which has no `name`"),
                (_, (None, Some(_))) => {
                    let gets = format!("`{value}` of station {other} is what station {station} gets by itself");
                    let what = format!("{gets}: write another one, or give {station} its own `{key}`");
                    return Err(self.wrong(key, span, what));
                }
                (_, (Some(_), None)) => {
                    let gets = format!("`{value}` of station {station} is what station {other} gets by itself");
                    let what = format!("{gets}: write another one, or give {other} its own `{key}`");
                    return Err(self.wrong(key, span, what));
                }
                (_, (Some(_), Some(_))) => {
                    format!("`{value}` of station {station} is that of station {other}{at} too")
                }
                _ => format!("`{value}` of station {station} is that of station {other} too"),
            };
            let unless = if key == "mac" { ", unless `duplicate_mac = true` is before all sections" } else { "" };
            return Err(self.wrong(key, span, format!("{what}: each needs its own{unless}")));
        }
        taken.insert(value, (station.to_owned(), span));
        Ok(())
    }

    fn address(
        &self,
        key: &str,
        own: Option<&Spanned<OwnAddress>>,
        network: Option<&Spanned<Network>>,
        default: Network,
        index: usize,
    ) -> Result<Option<Network>, PlanError> {
        let own = match own.map(|own| (own.get_ref().0, own.span())) {
            Some((None, _)) => return Ok(None),
            Some((Some(own), span)) => Some(Spanned::new(span, own)),
            None => None,
        };
        let family = |given: &Spanned<Network>| {
            let Network { address, prefix } = *given.get_ref();
            if address.is_ipv4() != default.address.is_ipv4() {
                let right = if default.address.is_ipv4() { "IPv4" } else { "IPv6" };
                return Err(self.at(
                    key,
                    given,
                    format!("`{address}` is of the other family: write an {right} address"),
                ));
            }
            match not_for_stations(address) {
                Some(why) => Err(self.at(key, given, format!("`{address}/{prefix}` {why}"))),
                None => Ok(*given.get_ref()),
            }
        };
        let one_host = |given: &Spanned<Network>| {
            let network = family(given)?;
            match no_host(network) {
                Some(why) => Err(self.at(key, given, format!("`{}/{}` {why}", network.address, network.prefix))),
                None => Ok(network),
            }
        };
        let address = match (&own, network) {
            (Some(own), _) => one_host(own),
            (None, Some(network)) => host(family(network)?, index).ok_or_else(|| {
                self.at(
                    key,
                    network,
                    format!(
                        "`{}/{}` has no address for station {}: write a shorter prefix, like `/16`",
                        network.get_ref().address,
                        network.get_ref().prefix,
                        index + 1
                    ),
                )
            }),
            (None, None) => Ok(host(default, index).expect("the default networks hold 1,024 stations")),
        };
        address.map(Some)
    }
}

/// Why no station can have such an address, and what would be right.
fn not_for_stations(address: IpAddr) -> Option<&'static str> {
    if address.is_multicast() {
        return Some(
            "is of multicast groups: write an address that one station can have, like `10.77.0.1/16` or `fd77::1/64`",
        );
    }
    if address.is_loopback() {
        return Some("is each machine's own loopback: write another address, like `10.77.0.1/16` or `fd77::1/64`");
    }
    let reserved = matches!(address, IpAddr::V4(v4) if v4.octets()[0] == 0 || v4.octets()[0] >= 240);
    reserved.then_some("is reserved: write another address, like `10.77.0.1/16`")
}

/// Why this is no host of its own network, and what would be right.
fn no_host(network: Network) -> Option<&'static str> {
    let (width, bits) = match network.address {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    };
    let host_bits = u32::from(width - network.prefix);
    // Of two addresses or one, all are hosts' (RFC 3021).
    if host_bits < 2 {
        return None;
    }
    let mask = u128::MAX.checked_shr(128 - host_bits).unwrap_or(u128::MAX);
    match bits & mask {
        0 => Some("is the network itself: write a host in it, like one that ends in `.1` or `::1`"),
        number if width == 32 && number == mask => {
            Some("is the network's broadcast address: write a host in it, like one that ends in `.1`")
        }
        _ => None,
    }
}

/// A locally administered address that differs between labs and stations.
pub fn default_mac(lab: &str, index: usize) -> MacAddr {
    let hash = lab.bytes().fold(0x811c_u16, |hash, b| (hash ^ u16::from(b)).wrapping_mul(0x0193));
    let ([lab_high, lab_low], [high, low]) = (hash.to_be_bytes(), (index as u16 + 1).to_be_bytes());
    MacAddr::new(0x02, 0xeb, lab_high, lab_low, high, low)
}

/// What the interface of a station in the lab without a name is known by.
pub fn default_address(index: usize) -> Address {
    let IpAddr::V4(ipv4) = host(DEFAULT_IPV4, index).unwrap_or(DEFAULT_IPV4).address else {
        unreachable!("the default network is of IPv4")
    };
    Address { mac: default_mac("", index).octets(), ipv4: ipv4.octets() }
}

/// The address of host number `index` + 1 in a network.
fn host(network: Network, index: usize) -> Option<Network> {
    let number = index as u128 + 1;
    let (width, base) = match network.address {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    };
    let host_bits = u32::from(width - network.prefix);
    let mask = u128::MAX.checked_shr(128 - host_bits).unwrap_or(0);
    // IPv4's highest host number is the broadcast address.
    let reserved = u128::from(width == 32);
    if number + reserved > mask {
        return None;
    }
    let address = (base & !mask) | number;
    let address = match network.address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(address as u32)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(address)),
    };
    Some(Network { address, prefix: network.prefix })
}
