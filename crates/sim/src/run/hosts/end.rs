//! One end of what two stations' stacks say to each other: a stack of smoltcp, and its program.

use super::messages::{Datagrams, Pinger, Reader, Replier};
use super::tcp::{Receiver, Sender};
use crate::figures::stacks::{Protocol, StackSums};
use crate::traffic::Talk;
use crate::words::interface::Address;
use device::{Clock, Host, Port};
use medium::{BitInstant, StationId};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{IpCidr, Ipv4Address};
use std::fmt;
use std::sync::Arc;

/// Receivers have this port, and those of further talks the ports after it; iperf3's.
pub(super) const FIRST_PORT: u16 = 5201;
/// The prefix of each address: stations of one bus reach each other without a router, whatever networks they are in.
const ALL_IS_ON_LINK: u8 = 0;
/// Octets of the headers of IPv4 and TCP.
const HEADERS: usize = 40;
/// How long a stack waits for the fragments of a datagram. It has room for 32 such datagrams.
const REASSEMBLY: Duration = Duration::from_millis(500);

/// What sends into a stack or reads from it. Sums are those of the station that begins to talk.
pub(super) trait Program: fmt::Debug + Send + Sync {
    /// Does what it can at `at`, when its stack's clock shows `now`. Returns whether the stack may have something to do then.
    fn act(&mut self, at: BitInstant, now: Instant, host: &mut Host, sums: &mut StackSums) -> bool;

    /// When it has something to do by itself.
    fn wakes(&self) -> Option<BitInstant> {
        None
    }

    /// A frame of its stack is handed over at `at`.
    fn hands_over(&mut self, _octets: &[u8], _at: BitInstant, _sums: &mut StackSums) {}

    /// A frame for its stack has arrived at `at`.
    fn takes(&mut self, _octets: &[u8], _at: BitInstant, _sums: &mut StackSums) {}

    /// When it opened a connection, if it has since this was asked last.
    fn take_opened(&mut self) -> Option<BitInstant> {
        None
    }

    /// The other end has opened a connection at `at`.
    fn opened_at(&mut self, _at: BitInstant) {}
}

/// See the module.
pub(super) struct End {
    /// Whose it is, and the other end's.
    pub station: StationId,
    pub peer: StationId,
    pub protocol: Protocol,
    pub program: Box<dyn Program>,
    pub host: Host,
    /// When the stack is next on the agenda.
    pub wake: Option<BitInstant>,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").field("station", &self.station).field("program", &self.program).finish_non_exhaustive()
    }
}

/// What both ends of a talk have, from the view of the one that begins.
pub(super) struct Ends<'a> {
    pub number: u16,
    pub talk: &'a Talk,
    pub stations: [StationId; 2],
    pub addresses: [Address; 2],
    /// Octets of an IP packet.
    pub mtu: usize,
    /// Frames that a station's transmit queue holds.
    pub room: usize,
}

impl Ends<'_> {
    /// The end that begins, and the one that answers or only reads.
    pub fn make(&self) -> [End; 2] {
        let (number, peer) = (self.number, self.ipv4(1));
        let [mut first, mut second] = [self.host(0), self.host(1)];
        let programs: [Box<dyn Program>; 2] = match self.talk {
            Talk::Tcp(connection) => [
                Box::new(Sender::new(number, peer, connection.clone(), &mut first)),
                Box::new(Receiver::new(number, connection.tcp, &mut second)),
            ],
            Talk::Ping(echoes) => [Box::new(Pinger::new(number, peer, echoes.clone(), &mut first)), Box::new(Replier)],
            Talk::Udp(datagrams) => [
                Box::new(Datagrams::new(number, peer, datagrams.clone(), &mut first)),
                Box::new(Reader::new(number, datagrams.size, &mut second)),
            ],
        };
        let [begins, answers] = programs;
        [self.end(0, first, begins), self.end(1, second, answers)]
    }

    fn end(&self, own: usize, host: Host, program: Box<dyn Program>) -> End {
        let (station, peer) = (self.stations[own], self.stations[1 - own]);
        End { station, peer, protocol: self.talk.protocol(), wake: program.wakes(), program, host }
    }

    fn ipv4(&self, which: usize) -> Ipv4Address {
        Ipv4Address::from(self.addresses[which].ipv4)
    }

    fn host(&self, own: usize) -> Host {
        let mss = if let Talk::Tcp(connection) = self.talk { connection.tcp.mss } else { None };
        let mtu = mss.map_or(self.mtu, |mss| self.mtu.min(usize::from(mss) + HEADERS));
        let ip = IpCidr::new(self.ipv4(own).into(), ALL_IS_ON_LINK);
        let seed = self.talk.seed().wrapping_add(own as u64);
        let mut host = Host::new(Port::new(mtu, self.room), self.addresses[own].mac, ip, seed);
        host.interface.set_reassembly_timeout(REASSEMBLY);
        host
    }
}

impl End {
    /// Has the stack and its program do what they can at `at`. Returns when the stack has something to do next, if it does not
    /// wait for the medium.
    pub fn act(&mut self, at: BitInstant, clock: Clock, sums: &mut StackSums) -> Option<BitInstant> {
        let now = clock.instant(at);
        self.host.poll(now);
        while self.program.act(at, now, &mut self.host, sums) {
            self.host.poll(now);
        }
        let stack = self.host.poll_at(now);
        // A timer that has passed is that of a frame for which there was no room.
        let stack = stack.map(|wake| clock.bit(wake)).filter(|wake| *wake > at);
        stack.into_iter().chain(self.program.wakes()).min()
    }

    /// A frame for this end has arrived at `at`.
    pub fn takes(&mut self, octets: Arc<[u8]>, at: BitInstant, sums: &mut StackSums) {
        self.program.takes(&octets, at, sums);
        self.host.port.receive_frame(octets);
    }
}
