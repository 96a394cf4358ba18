//! What the same machine does without a medium: a plain veth pair, and a kernel bridge between two.

use super::bus::{BenchError, Context, rest};
use super::machine::Meter;
use super::peer::Peer;
use super::row::Run;
use crate::lab::INTERFACE;
use link::MacAddr;
use link::ethtool::disable_offloads;
use link::namespace::Namespace;
use link::netlink::Netlink;
use link::sysctl::silence_ipv6_everywhere;
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

/// What joins two stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yardstick {
    /// Nothing: they are the two ends of one pair.
    Veth,
    /// A bridge of the kernel, in a namespace of its own.
    Bridge,
}

impl Yardstick {
    /// Both.
    pub const ALL: [Yardstick; 2] = [Yardstick::Veth, Yardstick::Bridge];

    /// What figures call it.
    pub fn name(self) -> &'static str {
        match self {
            Yardstick::Veth => "veth pair",
            Yardstick::Bridge => "kernel bridge",
        }
    }
}

/// Why two stations could not be joined.
#[derive(Debug, thiserror::Error)]
#[error("cannot make a {what}")]
pub struct YardstickError {
    what: &'static str,
    source: AnyError,
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Two stations that speak IPv4, without offloads, as those of a bus are.
#[derive(Debug)]
pub struct Pair {
    /// What joins them.
    pub yardstick: Yardstick,
    /// Both.
    pub stations: [Namespace; 2],
    /// The first one's address.
    pub from: Ipv4Addr,
    /// The second one's address.
    pub address: Ipv4Addr,
    /// The second one's hardware address.
    pub mac: MacAddr,
    /// Keeps the bridge.
    _bridge: Option<Namespace>,
}

/// The addresses of both stations.
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const MACS: [MacAddr; 2] = [MacAddr(2, 0xeb, 0, 0, 0, 1), MacAddr(2, 0xeb, 0, 0, 0, 2)];
const PREFIX: u8 = 16;
/// How long links may take to come up.
const PATIENCE: Duration = Duration::from_secs(5);

impl Pair {
    /// Joins two stations.
    ///
    /// # Errors
    /// Any refusal of the kernel; an interrupt.
    pub fn make(context: &Context<'_>, yardstick: Yardstick) -> Result<Pair, BenchError> {
        let failed = |source| YardstickError { what: yardstick.name(), source };
        let pair = match yardstick {
            Yardstick::Veth => veth(),
            Yardstick::Bridge => bridge(),
        };
        let pair = pair.map_err(failed)?;
        let begin = Instant::now();
        while !pair.is_up().map_err(failed)? {
            if begin.elapsed() > PATIENCE {
                return Err(failed("its links did not come up".into()).into());
            }
            rest(context, Duration::from_millis(5))?;
        }
        rest(context, Duration::from_millis(200))?;
        Ok(pair)
    }

    fn is_up(&self) -> Result<bool, AnyError> {
        for station in &self.stations {
            let link = Netlink::in_namespace(station)?.link_by_name(INTERFACE)?;
            if !link.is_some_and(|link| link.carrier) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until a program has ended, and gives what it said.
    ///
    /// # Errors
    /// It failed, or did not end within `limit`; an interrupt.
    pub fn serve(&self, context: &Context<'_>, peer: Peer, limit: Duration) -> Result<String, BenchError> {
        crossbeam_channel::select! {
            recv(peer.ended()) -> _ => Ok(peer.output()?),
            recv(context.interrupts) -> _ => Err(BenchError::Interrupted),
            default(limit) => Err(BenchError::Endless { what: "a program", limit }),
        }
    }

    /// A run of it as a row tells it.
    pub fn run(&self, meter: Meter) -> Run {
        Run { name: self.yardstick.name().to_owned(), conditions: meter.stop(), emulator: None }
    }
}

/// Inside a station.
fn configure(index: u32, address: Ipv4Addr) -> Result<(), AnyError> {
    disable_offloads(INTERFACE)?;
    let mut netlink = Netlink::open()?;
    netlink.add_address(index, IpAddr::V4(address), PREFIX)?;
    netlink.set_up(index)?;
    Ok(())
}

fn silent() -> Result<Namespace, AnyError> {
    let namespace = Namespace::anonymous()?;
    namespace.run(silence_ipv6_everywhere)??;
    Ok(namespace)
}

fn veth() -> Result<Pair, AnyError> {
    let stations = [silent()?, silent()?];
    let mut netlink = Netlink::in_namespace(&stations[0])?;
    let ends = netlink.create_veth(INTERFACE, &stations[1], INTERFACE, MACS[1])?;
    stations[0].run(|| configure(ends.bus_index, ADDRESSES[0]))??;
    stations[1].run(|| configure(ends.station_index, ADDRESSES[1]))??;
    Ok(Pair {
        yardstick: Yardstick::Veth,
        stations,
        from: ADDRESSES[0],
        address: ADDRESSES[1],
        mac: MACS[1],
        _bridge: None,
    })
}

fn bridge() -> Result<Pair, AnyError> {
    let (middle, stations) = (silent()?, [silent()?, silent()?]);
    let mut netlink = Netlink::in_namespace(&middle)?;
    let bridge = netlink.create_hub("br0")?;
    for (index, station) in stations.iter().enumerate() {
        let port = ["st1", "st2"][index];
        let ends = netlink.create_veth(port, station, INTERFACE, MACS[index])?;
        station.run(|| configure(ends.station_index, ADDRESSES[index]))??;
        netlink.set_bridge(ends.bus_index, bridge)?;
        netlink.set_up(ends.bus_index)?;
    }
    netlink.set_up(bridge)?;
    Ok(Pair {
        yardstick: Yardstick::Bridge,
        stations,
        from: ADDRESSES[0],
        address: ADDRESSES[1],
        mac: MACS[1],
        _bridge: Some(middle),
    })
}
