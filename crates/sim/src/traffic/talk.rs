//! What the stacks of two stations say to each other, in the medium's units: a TCP connection, echo requests, datagrams.

use super::arrivals::Process;
use super::{Pauses, Ping, Tcp, Udp};
use crate::figures::stacks::Protocol;
use backoff::Generator;
use medium::{BitInstant, BitRate, BitTimes};
use std::time::Duration;

/// See the module. The source's station begins, and its destination answers.
#[derive(Clone, Debug)]
pub enum Talk {
    /// A TCP connection.
    Tcp(Connection),
    /// Echo requests and their replies.
    Ping(Echoes),
    /// UDP datagrams.
    Udp(Datagrams),
}

impl Talk {
    /// Its protocol.
    pub fn protocol(&self) -> Protocol {
        match self {
            Talk::Tcp(_) => Protocol::Tcp,
            Talk::Ping(_) => Protocol::Ping,
            Talk::Udp(_) => Protocol::Udp,
        }
    }

    /// What its stacks draw from.
    pub fn seed(&self) -> u64 {
        match self {
            Talk::Tcp(Connection { seed, .. }) | Talk::Ping(Echoes { seed, .. }) => *seed,
            Talk::Udp(Datagrams { seed, .. }) => *seed,
        }
    }
}

/// Connections are opened within this time from the beginning, each at an instant that is drawn: stations that open them at
/// one instant would send at one instant. Floods of echo requests begin likewise.
const BEGINNING: Duration = Duration::from_millis(10);

/// An instant of the beginning.
fn beginning(generator: &mut Generator, rate: BitRate) -> BitTimes {
    super::even(BitTimes::within(BEGINNING, rate).get() as f64, generator)
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// How its ends are set up.
    pub tcp: Tcp,
    /// When it is opened, after the medium's time began.
    pub begin: BitTimes,
    /// What its stacks draw from.
    pub seed: u64,
    /// Between transfers.
    pub pauses: Pauses,
}

impl Connection {
    pub(super) fn new(tcp: Tcp, mut generator: Generator, rate: BitRate) -> Connection {
        let (seed, begin) = (generator.next_u64(), beginning(&mut generator, rate));
        let mean = BitTimes::within(tcp.think, rate).get() as f64;
        Connection { tcp, begin, seed, pauses: Pauses { mean, generator } }
    }
}

/// Echo requests.
#[derive(Clone, Debug)]
pub struct Echoes {
    /// Octets of data in each.
    pub size: usize,
    /// How long after a request its reply counts.
    pub timeout: BitTimes,
    /// When the first is sent.
    pub begin: Option<BitInstant>,
    /// When the others are; none if each waits for the reply to the one before.
    instants: Option<Process>,
    seed: u64,
}

impl Echoes {
    /// A request every `every` bit times; none: after each reply.
    pub(super) fn new(ping: Ping, every: Option<f64>, mut generator: Generator, rate: BitRate) -> Echoes {
        let seed = generator.next_u64();
        let flood = every.is_none().then(|| BitInstant::ZERO + beginning(&mut generator, rate));
        let mut instants = every.map(|every| Process::periodic(every, None, BitTimes::ZERO, 1, generator));
        Echoes {
            size: ping.size as usize,
            timeout: BitTimes::within(ping.timeout, rate).max(BitTimes::new(1)),
            begin: flood.or_else(|| instants.as_mut()?.next()),
            instants,
            seed,
        }
    }

    /// Whether each request waits for the reply to the one before.
    pub fn floods(&self) -> bool {
        self.instants.is_none()
    }

    /// When the next request after this one is sent, if that does not depend on a reply.
    pub fn next_at(&mut self) -> Option<BitInstant> {
        self.instants.as_mut()?.next()
    }
}

/// UDP datagrams.
#[derive(Clone, Debug)]
pub struct Datagrams {
    /// Octets of data in each.
    pub size: usize,
    instants: Process,
    seed: u64,
}

impl Datagrams {
    /// One every `every` bit times.
    pub(super) fn new(udp: Udp, every: f64, mut generator: Generator) -> Datagrams {
        let seed = generator.next_u64();
        Datagrams {
            size: udp.size as usize,
            instants: Process::periodic(every, None, BitTimes::ZERO, 1, generator),
            seed,
        }
    }

    /// When the next datagram is sent.
    pub fn next_at(&mut self) -> Option<BitInstant> {
        self.instants.next()
    }
}
