//! The programs of a TCP connection: one sends into its stack, one reads from it.

use super::end::{FIRST_PORT, Program};
use crate::figures::stacks::StackSums;
use crate::traffic::{Connection, Tcp};
use device::Host;
use medium::{BitInstant, BitTimes};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetFrame, Ipv4Address, Ipv4Packet, TcpPacket, TcpSeqNumber};

/// Senders' ports are from here on (RFC 6335).
const FIRST_DYNAMIC_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u64 = 1 << 14;
/// Between the ports of connections that follow each other: a prime, and more than a bus has stations.
const APART: u64 = 1031;
/// Octets of the buffer against the flow of data: the smallest window that is usual.
const UNUSED: usize = 536;

/// Opens connections and sends.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// The number of the talk.
    number: u16,
    peer: Ipv4Address,
    socket: SocketHandle,
    connection: Connection,
    /// When the next connection is opened, if none is open.
    opens: Option<BitInstant>,
    /// Connections so far.
    opened: u64,
    /// When the last one was opened, until the receiver knows.
    opened_at: Option<BitInstant>,
    /// Octets of the transfer that are not in the stack yet.
    left: u64,
    /// The end of the data that has been sent at least once.
    highest: Option<TcpSeqNumber>,
    /// The end of a segment that was sent once, and when: its acknowledgement ends a round trip (Karn and Partridge 1987).
    timed: Option<(TcpSeqNumber, BitInstant)>,
}

/// Waits for connections and reads.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    /// The number of the talk.
    number: u16,
    tcp: Tcp,
    socket: SocketHandle,
    /// When the sender opened the connection.
    opened: Option<BitInstant>,
    /// Sockets of connections before, which still wait for their last acknowledgements.
    closing: Vec<SocketHandle>,
}

/// The socket of an end of connection `number`. Data flows one way: a receiver's socket listens.
fn socket(tcp: &Tcp, number: u16, sends: bool) -> Socket<'static> {
    let buffer = |is_used: bool| SocketBuffer::new(vec![0; if is_used { tcp.buffer as usize } else { UNUSED }]);
    let mut socket = Socket::new(buffer(!sends), buffer(sends));
    socket.set_congestion_control(if tcp.reno { CongestionControl::Reno } else { CongestionControl::None });
    let delay = Duration::from_micros(tcp.ack_delay.as_micros() as u64);
    socket.set_ack_delay((delay > Duration::ZERO).then_some(delay));
    if !sends {
        socket.listen(FIRST_PORT + number).expect("a port and a closed socket");
    }
    socket
}

impl Sender {
    /// Sends to `peer` by `host`.
    pub fn new(number: u16, peer: Ipv4Address, connection: Connection, host: &mut Host) -> Sender {
        Sender {
            number,
            peer,
            socket: host.sockets.add(socket(&connection.tcp, number, true)),
            opens: Some(BitInstant::ZERO + connection.begin),
            connection,
            opened: 0,
            opened_at: None,
            left: 0,
            highest: None,
            timed: None,
        }
    }

    fn open(&mut self, at: BitInstant) {
        (self.opens, self.opened_at) = (None, Some(at));
        self.opened += 1;
        self.left = self.connection.tcp.octets.unwrap_or(u64::MAX);
        (self.highest, self.timed) = (None, None);
    }

    /// Fills the stack's buffer; closes the connection after the last octet.
    fn fill(&mut self, socket: &mut Socket<'_>) -> bool {
        let mut filled = false;
        while self.left > 0
            && let Ok(octets @ 1..) = socket.send(|room| {
                let octets = (room.len() as u64).min(self.left) as usize;
                (octets, octets)
            })
        {
            self.left -= octets as u64;
            filled = true;
        }
        if self.left == 0 {
            socket.close();
            return true;
        }
        filled
    }
}

impl Program for Sender {
    fn act(&mut self, at: BitInstant, _: Instant, host: &mut Host, sums: &mut StackSums) -> bool {
        let socket = host.sockets.get_mut::<Socket>(self.socket);
        match (socket.state(), self.opens) {
            (State::Closed | State::TimeWait, Some(opens)) if opens <= at => {
                let own = (u64::from(self.number) + self.opened * APART) % DYNAMIC_PORTS;
                let remote = (self.peer, FIRST_PORT + self.number);
                self.open(at);
                let context = host.interface.context();
                let opened = socket.connect(context, remote, FIRST_DYNAMIC_PORT + own as u16);
                opened.expect("an address, and a socket that is closed");
                true
            }
            (State::Closed | State::TimeWait, None) => {
                // The last octets may be on their way, but nothing will say that they have arrived.
                sums.tcp.broken += u64::from(socket.state() == State::Closed);
                self.opens = Some(at + self.connection.pauses.draw() + BitTimes::new(1));
                false
            }
            (State::Established, _) => self.fill(socket),
            _ => false,
        }
    }

    fn wakes(&self) -> Option<BitInstant> {
        self.opens
    }

    fn hands_over(&mut self, octets: &[u8], at: BitInstant, sums: &mut StackSums) {
        let Some(segment) = Segment::of(octets).filter(|segment| segment.data > 0) else { return };
        let end = segment.sequence + segment.data;
        sums.tcp.segments += 1;
        if self.highest.is_some_and(|highest| segment.sequence < highest) {
            sums.tcp.retransmissions += 1;
            self.timed = None;
        } else {
            self.timed.get_or_insert((end, at));
        }
        self.highest = Some(self.highest.filter(|highest| *highest > end).unwrap_or(end));
    }

    fn takes(&mut self, octets: &[u8], at: BitInstant, sums: &mut StackSums) {
        if let Some(acknowledged) = Segment::of(octets).and_then(|segment| segment.acknowledged)
            && let Some((_, sent)) = self.timed.take_if(|(end, _)| *end <= acknowledged)
        {
            sums.tcp.round_trips.add(at.since(sent));
        }
    }

    fn take_opened(&mut self) -> Option<BitInstant> {
        self.opened_at.take()
    }
}

impl Receiver {
    /// Reads by `host` what comes over a connection that is set up like this.
    pub fn new(number: u16, tcp: Tcp, host: &mut Host) -> Receiver {
        let socket = host.sockets.add(socket(&tcp, number, false));
        Receiver { number, tcp, socket, opened: None, closing: Vec::new() }
    }
}

impl Program for Receiver {
    fn act(&mut self, at: BitInstant, _: Instant, host: &mut Host, sums: &mut StackSums) -> bool {
        let sockets = &mut host.sockets;
        self.closing.retain(|closing| {
            let is_over = sockets.get::<Socket>(*closing).state() == State::Closed;
            if is_over {
                sockets.remove(*closing);
            }
            !is_over
        });
        let own = sockets.get_mut::<Socket>(self.socket);
        let mut read = 0;
        while let Ok(octets @ 1..) = own.recv(|data| (data.len(), data.len())) {
            read += octets as u64;
        }
        sums.tcp.octets += read;
        let state = own.state();
        if matches!(state, State::CloseWait | State::Closed) {
            // The next connection may come while this one waits for its last acknowledgement.
            if state == State::CloseWait {
                own.close();
                sums.tcp.transfers.add(at.since(self.opened.unwrap_or(at)));
            }
            self.closing.push(self.socket);
            self.socket = sockets.add(socket(&self.tcp, self.number, false));
            return true;
        }
        read > 0
    }

    fn opened_at(&mut self, at: BitInstant) {
        self.opened = Some(at);
    }
}

/// What a TCP segment says.
struct Segment {
    sequence: TcpSeqNumber,
    data: usize,
    acknowledged: Option<TcpSeqNumber>,
}

impl Segment {
    fn of(octets: &[u8]) -> Option<Segment> {
        let frame = EthernetFrame::new_checked(octets).ok()?;
        let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
        let segment = TcpPacket::new_checked(packet.payload()).ok()?;
        Some(Segment {
            sequence: segment.seq_number(),
            data: segment.payload().len(),
            acknowledged: segment.ack().then(|| segment.ack_number()),
        })
    }
}
