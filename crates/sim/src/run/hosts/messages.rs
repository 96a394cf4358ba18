//! Programs that send messages of a size: echo requests, which the other stack answers, and datagrams.

use super::end::{FIRST_PORT, Program};
use crate::figures::stacks::StackSums;
use crate::traffic;
use crate::traffic::Echoes;
use device::Host;
use medium::BitInstant;
use smoltcp::iface::SocketHandle;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::socket::{icmp, udp};
use smoltcp::storage::PacketMetadata;
use smoltcp::time::Instant;
use smoltcp::wire::{Icmpv4Packet, Icmpv4Repr, Ipv4Address};
use std::collections::VecDeque;

/// Messages of a program that wait until its stack has sent those before, at most.
const WAITING: usize = 16;
/// Messages that a socket's buffer has room for: only one is to be sent at a time, see [`Host::is_busy`].
const IN_SOCKET: usize = 2;
/// Octets of the header of an echo request.
const ICMP_HEADER: usize = 8;

/// Sends echo requests and waits for replies.
#[derive(Debug)]
pub(super) struct Pinger {
    echoes: Echoes,
    peer: Ipv4Address,
    /// What its requests are known by among those of its station.
    ident: u16,
    socket: SocketHandle,
    data: Vec<u8>,
    /// When the next request is sent.
    next: Option<BitInstant>,
    /// Requests so far.
    sent: u64,
    /// Requests that the stack has not taken yet.
    waiting: VecDeque<u64>,
    /// Requests without a reply yet, and when each was sent.
    under_way: VecDeque<(u64, BitInstant)>,
    /// When the last frame arrived.
    arrived: BitInstant,
}

impl Pinger {
    /// Pings `peer` by `host`.
    pub fn new(number: u16, peer: Ipv4Address, echoes: Echoes, host: &mut Host) -> Pinger {
        let length = ICMP_HEADER + echoes.size;
        let buffer = || icmp::PacketBuffer::new(vec![PacketMetadata::EMPTY; IN_SOCKET], vec![0; IN_SOCKET * length]);
        let mut socket = icmp::Socket::new(buffer(), buffer());
        socket.bind(icmp::Endpoint::Ident(number)).expect("a socket that is closed");
        Pinger {
            data: vec![0; echoes.size],
            next: echoes.begin,
            echoes,
            peer,
            ident: number,
            socket: host.sockets.add(socket),
            sent: 0,
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
            arrived: BitInstant::ZERO,
        }
    }

    /// A request is answered or lost.
    fn done(&mut self, at: BitInstant) {
        if self.echoes.floods() {
            self.next = Some(at);
        }
    }

    fn read(&mut self, at: BitInstant, socket: &mut icmp::Socket<'_>, sums: &mut StackSums) {
        while let Ok((octets, _)) = socket.recv() {
            let reply = Icmpv4Packet::new_checked(octets);
            let reply = reply.and_then(|packet| Icmpv4Repr::parse(&packet, &ChecksumCapabilities::default()));
            let Ok(Icmpv4Repr::EchoReply { seq_no, data, .. }) = reply else { continue };
            // One that comes too late answers nothing.
            let Some(place) = self.under_way.iter().position(|(number, _)| *number as u16 == seq_no) else { continue };
            let (_, sent) = self.under_way.remove(place).expect("the place of one");
            sums.ping.arrives(data.len() as u64, self.arrived.since(sent));
            self.done(at);
        }
    }

    fn lose(&mut self, at: BitInstant, sums: &mut StackSums) {
        let timeout = self.echoes.timeout;
        while self.under_way.pop_front_if(|(_, sent)| *sent + timeout <= at).is_some() {
            sums.ping.lost += 1;
            self.done(at);
        }
    }

    fn request(&mut self, at: BitInstant, sums: &mut StackSums) {
        self.sent += 1;
        sums.ping.sent += 1;
        self.under_way.push_back((self.sent, at));
        // One for which there is no room is lost, and counts as that when its time is over.
        if self.waiting.len() < WAITING {
            self.waiting.push_back(self.sent);
        }
        self.next = self.echoes.next_at();
    }
}

impl Program for Pinger {
    fn act(&mut self, at: BitInstant, now: Instant, host: &mut Host, sums: &mut StackSums) -> bool {
        let is_busy = host.is_busy(now);
        let socket = host.sockets.get_mut::<icmp::Socket>(self.socket);
        self.read(at, socket, sums);
        self.lose(at, sums);
        while self.next.is_some_and(|next| next <= at) {
            self.request(at, sums);
        }
        if is_busy || socket.send_queue() > 0 {
            return false;
        }
        let Some(number) = self.waiting.pop_front() else { return false };
        let request = Icmpv4Repr::EchoRequest { ident: self.ident, seq_no: number as u16, data: &self.data };
        let octets = socket.send(request.buffer_len(), self.peer.into()).expect("a buffer that is empty");
        request.emit(&mut Icmpv4Packet::new_unchecked(octets), &ChecksumCapabilities::default());
        true
    }

    fn wakes(&self) -> Option<BitInstant> {
        let lost = self.under_way.front().map(|(_, sent)| *sent + self.echoes.timeout);
        self.next.into_iter().chain(lost).min()
    }

    fn takes(&mut self, _: &[u8], at: BitInstant, _: &mut StackSums) {
        self.arrived = at;
    }
}

/// Does nothing: its stack answers echo requests by itself.
#[derive(Debug)]
pub(super) struct Replier;

impl Program for Replier {
    fn act(&mut self, _: BitInstant, _: Instant, _: &mut Host, _: &mut StackSums) -> bool {
        false
    }
}

/// Octets of the number of a datagram, and of the instant after it, with which each begins.
const NUMBER: usize = 8;

/// Sends datagrams.
#[derive(Debug)]
pub(super) struct Datagrams {
    datagrams: traffic::Datagrams,
    to: (Ipv4Address, u16),
    socket: SocketHandle,
    data: Vec<u8>,
    next: Option<BitInstant>,
    /// Datagrams so far.
    sent: u64,
    /// The numbers of those that the stack has not got yet, and when they were sent.
    waiting: VecDeque<(u64, BitInstant)>,
}

/// A socket for datagrams with this number of octets, at the port of talk `number`.
fn socket(number: u16, size: usize) -> udp::Socket<'static> {
    let buffer = || udp::PacketBuffer::new(vec![PacketMetadata::EMPTY; IN_SOCKET], vec![0; IN_SOCKET * size]);
    let mut socket = udp::Socket::new(buffer(), buffer());
    socket.bind(FIRST_PORT + number).expect("a port and a closed socket");
    socket
}

impl Datagrams {
    /// Sends to `peer` by `host`.
    pub fn new(number: u16, peer: Ipv4Address, mut datagrams: traffic::Datagrams, host: &mut Host) -> Datagrams {
        let socket = host.sockets.add(socket(number, datagrams.size));
        let (to, data) = ((peer, FIRST_PORT + number), vec![0; datagrams.size]);
        Datagrams { to, socket, data, next: datagrams.next_at(), sent: 0, waiting: VecDeque::new(), datagrams }
    }
}

impl Program for Datagrams {
    fn act(&mut self, at: BitInstant, now: Instant, host: &mut Host, sums: &mut StackSums) -> bool {
        while self.next.is_some_and(|next| next <= at) {
            // One for which there is no room is lost: the reader misses its number.
            if self.waiting.len() < WAITING {
                self.waiting.push_back((self.sent, at));
            }
            self.sent += 1;
            sums.udp.sent += 1;
            self.next = self.datagrams.next_at();
        }
        let is_busy = host.is_busy(now);
        let socket = host.sockets.get_mut::<udp::Socket>(self.socket);
        if is_busy || socket.send_queue() > 0 {
            return false;
        }
        let Some((number, sent)) = self.waiting.pop_front() else { return false };
        self.data[..NUMBER].copy_from_slice(&number.to_be_bytes());
        self.data[NUMBER..2 * NUMBER].copy_from_slice(&sent.get().to_be_bytes());
        socket.send_slice(&self.data, self.to).expect("a buffer that is empty");
        true
    }

    fn wakes(&self) -> Option<BitInstant> {
        self.next
    }
}

/// Reads datagrams.
#[derive(Debug)]
pub(super) struct Reader {
    socket: SocketHandle,
    /// The number of the next datagram, if none is lost.
    expected: u64,
    /// When the last frame arrived.
    arrived: BitInstant,
}

impl Reader {
    /// Reads by `host`.
    pub fn new(number: u16, size: usize, host: &mut Host) -> Reader {
        Reader { socket: host.sockets.add(socket(number, size)), expected: 0, arrived: BitInstant::ZERO }
    }
}

impl Program for Reader {
    fn act(&mut self, _: BitInstant, _: Instant, host: &mut Host, sums: &mut StackSums) -> bool {
        let socket = host.sockets.get_mut::<udp::Socket>(self.socket);
        while let Ok((octets, _)) = socket.recv() {
            let Some((number, sent)) = begin(octets) else { continue };
            // A bus keeps the order of a station's frames.
            sums.udp.lost += number.saturating_sub(self.expected);
            self.expected = number + 1;
            sums.udp.arrives(octets.len() as u64, self.arrived.since(sent));
        }
        false
    }

    fn takes(&mut self, _: &[u8], at: BitInstant, _: &mut StackSums) {
        self.arrived = at;
    }
}

/// The number of a datagram, and when it was sent.
fn begin(octets: &[u8]) -> Option<(u64, BitInstant)> {
    let (number, rest) = octets.split_first_chunk::<NUMBER>()?;
    let sent = rest.first_chunk::<NUMBER>()?;
    Some((u64::from_be_bytes(*number), BitInstant::new(u64::from_be_bytes(*sent))))
}
