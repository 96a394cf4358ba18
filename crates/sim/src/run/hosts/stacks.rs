//! The stacks of stations whose sources have some, between their programs and the medium.
//!
//! ```text
//!   program ─► stack ─► frame on the agenda ─► medium ──delivered──► stack ─► program
//!                 └──────────── timers, room in the transmit queue ─────┘
//! ```
//! The two ends of a talk have a stack each, with the address of their station: a stack of smoltcp knows few neighbors, and a
//! station can have many talks. A packet of one end is for the other one; ARP is a station's.

use super::agenda::{Agenda, Due};
use super::end::{End, Ends};
use crate::figures::stacks::{Protocol, StackSums};
use crate::figures::tcp::TcpSums;
use crate::traffic::Source;
use crate::words::interface::Address;
use device::{Clock, InFlight, octets};
use medium::{BitInstant, BitTimes, Config, Frame, FrameId, StationId};
use smoltcp::wire::{ArpOperation, ArpPacket, EthernetFrame, EthernetProtocol, Ipv4Address, Ipv4Packet};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// See the module.
#[derive(Debug)]
pub(super) struct Stacks {
    clock: Clock,
    in_flight: InFlight<Sent>,
    /// Two for each talk: the one that begins, and the other after it.
    ends: Vec<End>,
    /// Sums of each station's talks, by the stations that begin them.
    sums: Vec<StackSums>,
    stations: Vec<Station>,
    by_mac: HashMap<[u8; 6], StationId>,
    room: usize,
}

/// A frame of a stack.
#[derive(Clone, Debug)]
struct Sent {
    /// The number of the end that sent it.
    by: usize,
    octets: Arc<[u8]>,
}

/// A station's part.
#[derive(Debug)]
struct Station {
    address: Address,
    /// Its ends.
    ends: Vec<usize>,
    /// Frames that are on the agenda.
    sent: VecDeque<Sent>,
    /// Frames of its ends that the medium has, or that are on the agenda.
    held: usize,
}

impl Stacks {
    /// Those of the talks of `sources`; nothing if there are none. `addresses` are in order of station.
    pub fn of(sources: &[Source], config: &Config, addresses: &[Address], agenda: &mut Agenda) -> Option<Stacks> {
        let talks: Vec<_> = sources.iter().filter_map(|source| Some((source.station(), source.talk()?))).collect();
        if talks.is_empty() {
            return None;
        }
        let (mtu, room) = (octets::mtu(&config.parameters), config.queue_limit);
        let ends = talks.into_iter().enumerate().flat_map(|(number, (station, (talk, peer)))| {
            let stations = [station, peer];
            let addresses = stations.map(|station| addresses[station.index()]);
            Ends { number: number as u16, talk, stations, addresses, mtu, room }.make()
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
            sums: vec![StackSums::default(); stations.len()],
            ends,
            stations,
            by_mac,
            room,
        })
    }

    /// Sums of each station's talks since they were restarted, by the stations that began them.
    pub fn sums(&self) -> &[StackSums] {
        &self.sums
    }

    /// Those of all TCP connections together; nothing if there are none.
    pub fn all_tcp(&self) -> Option<TcpSums> {
        let all = || self.sums.iter().map(|sums| sums.tcp).fold(TcpSums::default(), TcpSums::and);
        self.ends.iter().any(|end| end.protocol == Protocol::Tcp).then(all)
    }

    /// Counts from zero.
    pub fn restart(&mut self) {
        self.sums.fill(StackSums::default());
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
            end.program.hands_over(&octets, at, sums);
            station.sent.push_back(Sent { by: number, octets });
            station.held += 1;
            agenda.expect(at, end.station, Due::Segment);
        }
        if let Some(wake) = end.wake {
            agenda.expect(wake, end.station, Due::Stack { end: number });
        }
        if let Some(opened) = end.program.take_opened() {
            self.ends[number + 1].program.opened_at(opened);
        }
    }

    /// The oldest frame of a station's ends is handed over as `id`.
    pub fn segment(&mut self, id: FrameId) -> (Frame, Arc<[u8]>) {
        let sent = self.stations[id.station.index()].sent.pop_front().expect("a frame for each entry of the agenda");
        let frame = octets::frame(id.station, &sent.octets, |address| self.by_mac.get(address).copied());
        self.in_flight.insert(id, sent.clone());
        (frame, sent.octets)
    }

    /// A frame has arrived at `station`.
    pub fn arrived(&mut self, at: BitInstant, station: StationId, frame: FrameId, agenda: &mut Agenda) {
        self.in_flight.passed(at);
        if let Some(sent) = self.in_flight.get(frame).cloned() {
            self.deliver(at, station, &sent, agenda);
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

    fn deliver(&mut self, at: BitInstant, station: StationId, sent: &Sent, agenda: &mut Agenda) {
        let Station { address, ends, .. } = &self.stations[station.index()];
        let Some(wanted) = Wanted::of(&sent.octets, Ipv4Address::from(address.ipv4)) else { return };
        // The two ends of a talk follow each other.
        let other = sent.by ^ 1;
        let is_tcp = self.ends[other].protocol == Protocol::Tcp;
        let mut is_first = true;
        for &number in ends {
            let end = &mut self.ends[number];
            let sums = &mut self.sums[if number.is_multiple_of(2) { end.station } else { end.peer }.index()];
            let peer = self.stations[end.peer.index()].address.ipv4;
            let takes = match wanted {
                // The station answers once. Of connections its first end does, and all its ends to that station learn the
                // address by the answer to theirs; a stack that only answers echo requests has to learn it now.
                Wanted::Request if is_tcp => std::mem::take(&mut is_first),
                Wanted::Request | Wanted::Packet => number == other,
                Wanted::Reply { from } => from == Ipv4Address::from(peer),
            };
            if takes {
                end.takes(sent.octets.clone(), at, sums);
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
    Packet,
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
                (packet.dst_addr() == own).then_some(Wanted::Packet)
            }
            _ => None,
        }
    }
}

fn ipv4(octets: &[u8]) -> Option<Ipv4Address> {
    <[u8; 4]>::try_from(octets).ok().map(Ipv4Address::from)
}
