//! One end of a TCP connection: a stack of smoltcp, and the program that sends into it or reads from it.

use crate::figures::tcp::TcpSums;
use crate::traffic::{Connection, Tcp};
use crate::words::interface::Address;
use device::{Clock, Host, Port};
use medium::{BitInstant, BitTimes, StationId};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Duration;
use smoltcp::wire::{EthernetFrame, IpCidr, Ipv4Address, Ipv4Packet, TcpPacket, TcpSeqNumber};
use std::fmt;
use std::sync::Arc;

/// Receivers listen at this port, and those of further connections at the ports after it; iperf3's.
pub(super) const FIRST_PORT: u16 = 5201;
/// Senders' ports are from here on (RFC 6335).
const FIRST_DYNAMIC_PORT: u16 = 49_152;
const DYNAMIC_PORTS: u64 = 1 << 14;
/// Between the ports of connections that follow each other: a prime, and more than a bus has stations.
const APART: u64 = 1031;
/// Octets of the buffer against the flow of data: the smallest window that is usual.
const UNUSED: usize = 536;
/// The prefix of each address: stations of one bus reach each other without a router, whatever networks they are in.
const ALL_IS_ON_LINK: u8 = 0;

/// What an end does.
#[derive(Clone, Debug)]
pub(super) enum Role {
    /// Opens connections and sends.
    Sender(Sender),
    /// Waits for connections and reads.
    Receiver(Receiver),
}

/// A program that sends.
#[derive(Clone, Debug)]
pub(super) struct Sender {
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

/// A program that reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Receiver {
    /// When the sender opened the connection.
    opened: Option<BitInstant>,
    /// Sockets of connections before, which still wait for their last acknowledgements.
    closing: Vec<SocketHandle>,
}

/// See the module.
pub(super) struct End {
    /// Whose it is, and the other end's.
    pub station: StationId,
    pub peer: StationId,
    /// The number of the connection.
    number: u16,
    peer_address: Ipv4Address,
    tcp: Tcp,
    pub role: Role,
    pub host: Host,
    socket: SocketHandle,
    /// When the stack is next on the agenda.
    pub wake: Option<BitInstant>,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").field("station", &self.station).field("role", &self.role).finish_non_exhaustive()
    }
}

/// What both ends of a connection have, from the sender's view.
pub(super) struct Ends<'a> {
    pub number: u16,
    pub connection: &'a Connection,
    pub stations: [StationId; 2],
    pub addresses: [Address; 2],
    /// Octets of an IP packet.
    pub mtu: usize,
    /// Frames that a station's transmit queue holds.
    pub room: usize,
}

impl Ends<'_> {
    /// The sender and the receiver.
    pub fn make(&self) -> [End; 2] {
        let begin = BitInstant::ZERO + self.connection.begin;
        let sender = Sender {
            connection: self.connection.clone(),
            opens: Some(begin),
            opened: 0,
            opened_at: None,
            left: 0,
            highest: None,
            timed: None,
        };
        [self.end(0, Role::Sender(sender), Some(begin)), self.end(1, Role::Receiver(Receiver::default()), None)]
    }

    fn end(&self, own: usize, role: Role, wake: Option<BitInstant>) -> End {
        let tcp = &self.connection.tcp;
        let headers = 40;
        let mtu = tcp.mss.map_or(self.mtu, |mss| self.mtu.min(usize::from(mss) + headers));
        let ipv4 = |which: usize| Ipv4Address::from(self.addresses[which].ipv4);
        let ip = IpCidr::new(ipv4(own).into(), ALL_IS_ON_LINK);
        let seed = self.connection.seed.wrapping_add(own as u64);
        let mut host = Host::new(Port::new(mtu, self.room), self.addresses[own].mac, ip, seed);
        let socket = host.sockets.add(socket(tcp, self.number, own == 0));
        End {
            station: self.stations[own],
            peer: self.stations[1 - own],
            number: self.number,
            peer_address: ipv4(1 - own),
            tcp: *tcp,
            role,
            host,
            socket,
            wake,
        }
    }
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

impl End {
    /// Has the stack and its program do what they can at `at`. Returns when the stack has something to do next, if it does not
    /// wait for the medium.
    pub fn act(&mut self, at: BitInstant, clock: Clock, sums: &mut TcpSums) -> Option<BitInstant> {
        let now = clock.instant(at);
        self.host.poll(now);
        while self.program(at, sums) {
            self.host.poll(now);
        }
        let stack = self.host.poll_at(now);
        // A timer that has passed is that of a frame for which there was no room.
        let stack = stack.map(|wake| clock.bit(wake)).filter(|wake| *wake > at);
        let opens = if let Role::Sender(sender) = &self.role { sender.opens } else { None };
        stack.into_iter().chain(opens).min()
    }

    /// Has the program do what it can. Returns whether the stack may have something to do then.
    fn program(&mut self, at: BitInstant, sums: &mut TcpSums) -> bool {
        match self.role {
            Role::Sender(_) => self.send(at, sums),
            Role::Receiver(_) => self.receive(at, sums),
        }
    }

    fn receive(&mut self, at: BitInstant, sums: &mut TcpSums) -> bool {
        let Role::Receiver(receiver) = &mut self.role else { return false };
        let sockets = &mut self.host.sockets;
        receiver.closing.retain(|closing| {
            let is_over = sockets.get::<Socket>(*closing).state() == State::Closed;
            if is_over {
                sockets.remove(*closing);
            }
            !is_over
        });
        let socket = sockets.get_mut::<Socket>(self.socket);
        let mut read = 0;
        while let Ok(octets @ 1..) = socket.recv(|data| (data.len(), data.len())) {
            read += octets as u64;
        }
        sums.octets += read;
        let state = socket.state();
        if matches!(state, State::CloseWait | State::Closed) {
            // The next connection may come while this one waits for its last acknowledgement.
            if state == State::CloseWait {
                socket.close();
                sums.transfers.add(at.since(receiver.opened.unwrap_or(at)));
            }
            receiver.closing.push(self.socket);
            self.socket = sockets.add(self::socket(&self.tcp, self.number, false));
            return true;
        }
        read > 0
    }

    fn send(&mut self, at: BitInstant, sums: &mut TcpSums) -> bool {
        let Role::Sender(sender) = &mut self.role else { return false };
        let socket = self.host.sockets.get_mut::<Socket>(self.socket);
        match (socket.state(), sender.opens) {
            (State::Closed | State::TimeWait, Some(opens)) if opens <= at => {
                let own = (u64::from(self.number) + sender.opened * APART) % DYNAMIC_PORTS;
                let remote = (self.peer_address, FIRST_PORT + self.number);
                sender.open(at);
                let context = self.host.interface.context();
                let opened = socket.connect(context, remote, FIRST_DYNAMIC_PORT + own as u16);
                opened.expect("an address, and a socket that is closed");
                true
            }
            (State::Closed | State::TimeWait, None) => {
                // The last octets may be on their way, but nothing will say that they have arrived.
                sums.broken += u64::from(socket.state() == State::Closed);
                sender.opens = Some(at + sender.connection.pauses.draw() + BitTimes::new(1));
                false
            }
            (State::Established, _) => sender.fill(socket),
            _ => false,
        }
    }

    /// When a connection was opened, if one was since this was asked last.
    pub fn take_opened(&mut self) -> Option<BitInstant> {
        if let Role::Sender(sender) = &mut self.role { sender.opened_at.take() } else { None }
    }

    /// The other end has opened a connection at `at`.
    pub fn opened_at(&mut self, at: BitInstant) {
        if let Role::Receiver(receiver) = &mut self.role {
            receiver.opened = Some(at);
        }
    }

    /// A frame of this end is handed over at `at`.
    pub fn hands_over(&mut self, octets: &[u8], at: BitInstant, sums: &mut TcpSums) {
        let Role::Sender(sender) = &mut self.role else { return };
        let Some(segment) = Segment::of(octets).filter(|segment| segment.data > 0) else { return };
        let end = segment.sequence + segment.data;
        sums.segments += 1;
        if sender.highest.is_some_and(|highest| segment.sequence < highest) {
            sums.retransmissions += 1;
            sender.timed = None;
        } else {
            sender.timed.get_or_insert((end, at));
        }
        sender.highest = Some(sender.highest.filter(|highest| *highest > end).unwrap_or(end));
    }

    /// A frame for this end has arrived at `at`.
    pub fn takes(&mut self, octets: Arc<[u8]>, at: BitInstant, sums: &mut TcpSums) {
        if let Role::Sender(sender) = &mut self.role
            && let Some(acknowledged) = Segment::of(&octets).and_then(|segment| segment.acknowledged)
            && let Some((_, sent)) = sender.timed.take_if(|(end, _)| *end <= acknowledged)
        {
            sums.round_trips.add(at.since(sent));
        }
        self.host.port.receive_frame(octets);
    }
}

impl Sender {
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
