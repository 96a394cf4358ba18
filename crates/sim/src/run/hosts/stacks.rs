//! The stacks of stations with TCP connections, between their programs and the medium.
//!
//! ```text
//!   program ─► stack ─► segment on the agenda ─► medium ──delivered──► stack ─► program
//!                 └──────────── timers, room in the transmit queue ─────┘
//! ```
//! A connection's ends have a stack each, with the address of their station: a stack of smoltcp knows few neighbors, and a
//! station can have many connections. A station's frames get to the end that they are for.

use super::agenda::{Agenda, Due};
use super::end::{End, Ends, FIRST_PORT};
use crate::figures::tcp::TcpSums;
use crate::traffic::Source;
use crate::words::interface::Address;
use device::{Clock, InFlight, octets};
use medium::{BitInstant, BitTimes, Config, Frame, FrameId, StationId};
use smoltcp::wire::{
    ArpOperation, ArpPacket, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Address, Ipv4Packet, TcpPacket,
};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Stacks {
    clock: Clock,
    in_flight: InFlight<Arc<[u8]>>,
    /// Two for each connection: the sender, and the receiver after it.
    ends: Vec<End>,
    /// Sums of each station's connections, by their senders.
    sums: Vec<TcpSums>,
    stations: Vec<Station>,
    by_mac: HashMap<[u8; 6], StationId>,
    room: usize,
}

/// A station's part.
#[derive(Debug)]
struct Station {
    address: Address,
    /// Its ends.
    ends: Vec<usize>,
    /// Frames that are on the agenda.
    sent: VecDeque<Arc<[u8]>>,
    /// Frames of its ends that the medium has, or that are on the agenda.
    held: usize,
}

impl Stacks {
    /// Those of the connections of `sources`; nothing if there are none. `addresses` are in order of station.
    pub fn of(sources: &[Source], config: &Config, addresses: &[Address], agenda: &mut Agenda) -> Option<Stacks> {
        let connections: Vec<_> =
            sources.iter().filter_map(|source| Some((source.station(), source.connection()?))).collect();
        if connections.is_empty() {
            return None;
        }
        let (mtu, room) = (octets::mtu(&config.parameters), config.queue_limit);
        let ends = connections.into_iter().enumerate().flat_map(|(number, (station, (connection, peer)))| {
            let stations = [station, peer];
            let addresses = stations.map(|station| addresses[station.index()]);
            Ends { number: number as u16, connection, stations, addresses, mtu, room }.make()
        });
        let ends: Vec<End> = ends.collect();
        let station =
            |address: &Address| Station { address: *address, ends: Vec::new(), sent: VecDeque::new(), held: 0 };
        let mut stations: Vec<Station> = addresses.iter().map(station).collect();
        for (number, end) in ends.iter().enumerate() {
            stations[end.station.index()].ends.push(number);
            if let Some(wake) = end.wake {
                agenda.expect(wake, end.station, Due::Stack { end: number });
            }
        }
        let by_mac = addresses.iter().map(|address| address.mac).zip((0..).map(StationId::new)).collect();
        Some(Stacks {
            clock: Clock::new(config.rate),
            in_flight: InFlight::new(config),
            sums: vec![TcpSums::default(); stations.len()],
            ends,
            stations,
            by_mac,
            room,
        })
    }

    /// Sums of each station's connections since they were restarted, by their senders.
    pub fn sums(&self) -> &[TcpSums] {
        &self.sums
    }

    /// Counts from zero.
    pub fn restart(&mut self) {
        self.sums.fill(TcpSums::default());
    }

    /// The stack of this end is on the agenda at `at`.
    pub fn act(&mut self, at: BitInstant, number: usize, agenda: &mut Agenda) {
        let end = &mut self.ends[number];
        if end.wake != Some(at) {
            // It has been put on the agenda earlier meanwhile.
            return;
        }
        let sums = &mut self.sums[if number.is_multiple_of(2) { end.station } else { end.peer }.index()];
        let station = &mut self.stations[end.station.index()];
        end.host.port.set_room(self.room.saturating_sub(station.held));
        end.wake = end.act(at, self.clock, sums);
        while let Some(octets) = end.host.port.take_sent() {
            end.hands_over(&octets, at, sums);
            station.sent.push_back(octets);
            station.held += 1;
            agenda.expect(at, end.station, Due::Segment);
        }
        if let Some(wake) = end.wake {
            agenda.expect(wake, end.station, Due::Stack { end: number });
        }
        if let Some(opened) = end.take_opened() {
            self.ends[number + 1].opened_at(opened);
        }
    }

    /// The oldest frame of a station's ends is handed over as `id`.
    pub fn segment(&mut self, id: FrameId) -> (Frame, Arc<[u8]>) {
        let octets = self.stations[id.station.index()].sent.pop_front().expect("a frame for each entry of the agenda");
        let frame = octets::frame(id.station, &octets, |address| self.by_mac.get(address).copied());
        self.in_flight.insert(id, octets.clone());
        (frame, octets)
    }

    /// A frame has arrived at `station`.
    pub fn arrived(&mut self, at: BitInstant, station: StationId, frame: FrameId, agenda: &mut Agenda) {
        self.in_flight.passed(at);
        if let Some(octets) = self.in_flight.get(frame).cloned() {
            self.deliver(at, station, &octets, agenda);
        }
    }

    /// The medium is done with a frame: its station has room for another.
    pub fn finished(&mut self, at: BitInstant, frame: FrameId, agenda: &mut Agenda) {
        if self.in_flight.finished(at, frame).is_none() {
            return;
        }
        let station = &mut self.stations[frame.station.index()];
        station.held -= 1;
        for &number in &station.ends {
            if self.ends[number].host.port.was_refused() {
                wake(&mut self.ends[number], number, at + BitTimes::new(1), agenda);
            }
        }
    }

    fn deliver(&mut self, at: BitInstant, station: StationId, octets: &Arc<[u8]>, agenda: &mut Agenda) {
        let Station { address, ends, .. } = &self.stations[station.index()];
        let Some(wanted) = Wanted::of(octets, Ipv4Address::from(address.ipv4)) else { return };
        let mut is_first = true;
        for &number in ends {
            let end = &mut self.ends[number];
            let is_sender = number.is_multiple_of(2);
            let own_port = FIRST_PORT + (number / 2) as u16;
            let sums = &mut self.sums[if is_sender { end.station } else { end.peer }.index()];
            let peer = self.stations[end.peer.index()].address.ipv4;
            let takes = match wanted {
                // The station answers once, and all its ends to that station learn the address by the answer to theirs.
                Wanted::Request => std::mem::take(&mut is_first),
                Wanted::Reply { from } => from == Ipv4Address::from(peer),
                Wanted::Segment { from, to } => own_port == if is_sender { from } else { to },
            };
            if takes {
                end.takes(octets.clone(), at, sums);
                wake(end, number, at + BitTimes::new(1), agenda);
            }
        }
    }
}

/// The stack of `end` does something at `at`, unless it does so before.
fn wake(end: &mut End, number: usize, at: BitInstant, agenda: &mut Agenda) {
    if end.wake.is_none_or(|wake| at < wake) {
        end.wake = Some(at);
        agenda.expect(at, end.station, Due::Stack { end: number });
    }
}

/// Which ends of a station a frame is for.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    Request,
    Reply { from: Ipv4Address },
    Segment { from: u16, to: u16 },
}

impl Wanted {
    /// Of a frame that has arrived at a host with this address.
    fn of(octets: &[u8], own: Ipv4Address) -> Option<Wanted> {
        let frame = EthernetFrame::new_checked(octets).ok()?;
        match frame.ethertype() {
            EthernetProtocol::Arp => {
                let packet = ArpPacket::new_checked(frame.payload()).ok()?;
                let target = ipv4(packet.target_protocol_addr())?;
                let from = ipv4(packet.source_protocol_addr())?;
                match packet.operation() {
                    ArpOperation::Request if target == own => Some(Wanted::Request),
                    ArpOperation::Reply if target == own => Some(Wanted::Reply { from }),
                    _ => None,
                }
            }
            EthernetProtocol::Ipv4 => {
                let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
                if packet.dst_addr() != own || packet.next_header() != IpProtocol::Tcp {
                    return None;
                }
                let segment = TcpPacket::new_checked(packet.payload()).ok()?;
                Some(Wanted::Segment { from: segment.src_port(), to: segment.dst_port() })
            }
            _ => None,
        }
    }
}

fn ipv4(octets: &[u8]) -> Option<Ipv4Address> {
    <[u8; 4]>::try_from(octets).ok().map(Ipv4Address::from)
}
