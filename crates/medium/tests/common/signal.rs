//! The signals on the reference model's medium: packets, their ways, and what each place hears of them.

use backoff::Generator;
use medium::{BitErrors, Capture, Config, Destination, FrameId, Octets, Place, Segments, StationId, Topology};
use std::ops::Range;

/// Preamble and start frame delimiter, in bits (802.3, 4.2.5 and 4.2.6).
pub const PREAMBLE_AND_SFD: u64 = 64;

/// One transmission, from first to last bit at its sender's place; heard elsewhere later.
///
/// ```text
///           |preamble, SFD|frame|extension|        or      |preamble, SFD|part of it|jam|
///   |filling|preamble, SFD|frame|                  or      |part of the filling|jam|
///   begin   packet                        end
/// ```
pub struct Signal {
    pub station: usize,
    pub frame: FrameId,
    pub size: Octets,
    pub destination: Destination,
    /// Too long for an honest station.
    pub too_long: bool,
    pub bad_fcs: bool,
    pub no_carrier: bool,
    pub begin: u64,
    /// Where the preamble begins, or would begin.
    pub packet: u64,
    pub end: u64,
    /// The first bit of the burst it belongs to, `begin` if to none: before it the sender was silent.
    pub burst_begin: u64,
    pub cut: Option<Cut>,
    pub episode: Option<u64>,
    /// By place: how long the signal takes to it.
    pub distance: Vec<u64>,
    /// By place: another signal was heard there during the packet.
    pub spoilt: Vec<bool>,
    /// By place: the station there sent at the same time.
    pub spoken_over: Vec<bool>,
    /// By place: the station there ignores this carrier.
    pub unheard: Vec<bool>,
    /// By place: no cut of the cable kept the signal from it.
    pub reaches: Vec<bool>,
}

/// Whether one of `errors` at `place` overlaps with `bits`: the errors of each 1,024 bit times, one after the other.
pub fn is_hit(errors: BitErrors, seed: u64, place: usize, bits: Range<u64>) -> bool {
    let source = if errors.on_line { 1 << 32 } else { place as u64 };
    let run = Generator::operation(seed, source).next_u64();
    let length = u64::from(errors.burst.max(1));
    let wrong_bits = if length == 1 { 1.0 } else { 2.0 + (length - 2) as f64 / 2.0 };
    let a_piece = 1024.0 * errors.rate as f64 / 1e12 / wrong_bits;
    let earliest = (bits.start / 1024).saturating_sub(length.div_ceil(1024));
    (earliest..=bits.end / 1024).any(|piece| {
        let mut draws = Generator::stream(run, piece);
        let factor = |draws: &mut Generator| (draws.next_high_bits(53) + 1) as f64 / 2_f64.powi(53);
        // Knuth 1969: the errors are as many as the factors that keep their product above e to the minus mean.
        let (mut product, mut begins) = (factor(&mut draws), Vec::new());
        while product > (-a_piece).exp() {
            begins.push(piece * 1024 + draws.next_high_bits(10));
            product *= factor(&mut draws);
        }
        begins.into_iter().any(|begin| begin < bits.end && begin + length > bits.start)
    })
}

/// The part of the signal that a collision hit.
#[derive(Clone, Copy, PartialEq)]
pub enum Cut {
    Filling,
    Packet,
    Extension,
}

impl Signal {
    /// It begins with a preamble, and so did the burst with it.
    pub fn is_first(&self) -> bool {
        self.begin == self.burst_begin
    }

    /// When its end is heard at the place of `station`.
    ///
    /// No signal is shorter than the 96 bits to which a repeater would extend it (802.3, 9.6.4, 27.3.1.4.4).
    pub fn end_at(&self, station: usize) -> u64 {
        self.end + self.distance[station]
    }

    /// It is on at the place of `station` during the bit time that begins at `t`.
    pub fn is_on(&self, station: usize, t: u64) -> bool {
        self.reaches[station] && self.begin + self.distance[station] <= t && t < self.end_at(station)
    }

    /// The same, for a packet and not filling.
    pub fn is_packet(&self, station: usize, t: u64) -> bool {
        self.is_on(station, t) && self.packet + self.distance[station] <= t && self.cut != Some(Cut::Filling)
    }

    /// It is neither on anywhere at `t` nor ends there, now or later.
    pub fn is_gone(&self, t: u64) -> bool {
        (0..self.distance.len()).all(|station| self.end_at(station) < t)
    }

    /// Bits after preamble and SFD, extension and jam included.
    pub fn bits(&self) -> u64 {
        self.end - self.packet - PREAMBLE_AND_SFD
    }

    /// Bits that follow the frame up to the end.
    pub fn extension(&self) -> u64 {
        self.end - self.packet - PREAMBLE_AND_SFD - self.size.bit_times().get()
    }

    pub fn is_addressed_to(&self, station: usize) -> bool {
        station != self.station
            && match self.destination {
                Destination::Station(to) => to == id(station),
                Destination::All => true,
                Destination::Nobody | Destination::Beyond(_) => false,
            }
    }
}

/// How long a signal takes from `station` to each place.
pub fn distances(topology: &Topology, station: usize) -> Vec<u64> {
    let to = |place: usize| match topology {
        Topology::Star { distance, .. } => {
            if place == station {
                0
            } else {
                distance.get()
            }
        }
        Topology::Bus { positions } => positions[station].get().abs_diff(positions[place].get()),
        Topology::Segments(segments) => {
            let (from, to) = (segments.stations()[station], segments.stations()[place]);
            way(segments, from, to, &mut Vec::new()).expect("the segments are joined").0
        }
    };
    (0..topology.stations()).map(to).collect()
}

/// What the repeaters on the way add to a signal of `station` that begins at `begin`, by place: each has a draw for each
/// signal, the same at all of its ports.
#[allow(dead_code, reason = "only CSMA/CD has repeaters with jitter")]
pub fn lateness(config: &Config, station: usize, begin: u64) -> Vec<u64> {
    let Topology::Segments(segments) = &config.topology else { return vec![0; config.topology.stations()] };
    let from = segments.stations()[station];
    let late = |to: &Place| {
        let mut through = Vec::new();
        way(segments, from, *to, &mut through).expect("the segments are joined");
        let draw = |&index: &usize| {
            let source = (1 << 34) + index as u64 * 65_536 + station as u64;
            let run = Generator::operation(config.seed, source).next_u64();
            let choices = u128::from(segments.repeaters()[index].jitter.get() + 1);
            (u128::from(Generator::stream(run, begin).next_high_bits(32)) * choices / (1 << 32)) as u64
        };
        through.iter().map(draw).sum()
    };
    segments.stations().iter().map(late).collect()
}

/// The pieces of cable between two places.
fn pieces(segments: &Segments, from: Place, to: Place) -> Vec<(Place, Place)> {
    way(segments, from, to, &mut Vec::new()).expect("the segments are joined").1
}

/// Along the cable, or through a repeater that is not in `through` yet, and on from its other ports: the time, and the
/// pieces of cable.
fn way(segments: &Segments, from: Place, to: Place, through: &mut Vec<usize>) -> Option<(u64, Vec<(Place, Place)>)> {
    let cable = |a: Place, b: Place| a.position.get().abs_diff(b.position.get());
    if from.segment == to.segment {
        return Some((cable(from, to), vec![(from, to)]));
    }
    for (index, repeater) in segments.repeaters().iter().enumerate() {
        let entry = repeater.ports.iter().find(|port| port.segment == from.segment);
        let Some(&entry) = entry.filter(|_| !through.contains(&index)) else { continue };
        through.push(index);
        for &exit in repeater.ports.iter().filter(|port| port.segment != from.segment) {
            if let Some((rest, mut pieces)) = way(segments, exit, to, through) {
                pieces.push((from, entry));
                return Some((cable(from, entry) + repeater.delay.get() + rest, pieces));
            }
        }
        through.pop();
    }
    None
}

/// For each place, whether it is on the same side of a cut as `station`: no cable on the signal's way contains the cut.
///
/// The cut is just before its position, so a station there is beyond it.
pub fn same_side(topology: &Topology, station: usize, cut: Option<Place>) -> Vec<bool> {
    let reaches = |place: usize| {
        let Some(cut) = cut else { return true };
        let (from, to, segments) = match topology {
            Topology::Star { .. } => panic!("a star has no cable"),
            Topology::Bus { positions } => {
                let along = |station: usize| Place { segment: 0, position: positions[station] };
                (along(station), along(place), None)
            }
            Topology::Segments(segments) => (segments.stations()[station], segments.stations()[place], Some(segments)),
        };
        let whole = |a: Place, b: Place| {
            let (near, far) = (a.position.min(b.position), a.position.max(b.position));
            a.segment != cut.segment || !(near < cut.position && cut.position <= far)
        };
        match segments {
            None => whole(from, to),
            Some(segments) => pieces(segments, from, to).iter().all(|&(a, b)| whole(a, b)),
        }
    };
    (0..topology.stations()).map(reaches).collect()
}

/// Ticks of the clock of `station` in a bit time of the medium.
fn pace(config: &Config, station: usize) -> f64 {
    config.clocks_ppm.get(station).map_or(1.0, |ppm| 1.0 + f64::from(*ppm) / 1e6)
}

/// The instant of a tick of the clock of `station`; all began to tick at instant 0.
#[allow(dead_code, reason = "only slots are counted from the beginning")]
pub fn instant_of(config: &Config, station: usize, tick: u64) -> u64 {
    (tick as f64 / pace(config, station) + 0.5).floor() as u64
}

/// The end of a timer of `span` ticks that `station` starts at `at`: it starts with the nearest tick.
#[allow(dead_code, reason = "the models of slots use the ticks themselves")]
pub fn later(config: &Config, station: usize, at: u64, span: u64) -> u64 {
    let tick = (at as f64 * pace(config, station) + 0.5).floor() as u64;
    if span == 0 { at } else { instant_of(config, station, tick + span).max(at + 1) }
}

pub fn id(station: usize) -> StationId {
    StationId::new(station as u16)
}

/// The station at `place` receives a signal, given as its source, begin and end there, among the `others`: in each of its
/// bit times the signal is that many decibels above the sum of what else is there, and the station does not send.
#[allow(dead_code, reason = "the models of cables without capture use the rest of this module")]
pub fn is_captured(
    capture: &Capture,
    place: usize,
    (from, begin, end): (usize, u64, u64),
    others: &[(usize, u64, u64)],
) -> bool {
    let level = |source: usize| {
        let millimetres = capture.positions[source].abs_diff(capture.positions[place]).max(1);
        -10.0 * f64::from(capture.exponent) / 100.0 * (millimetres as f64).log10()
    };
    (begin..end).all(|t| {
        let there = || others.iter().filter(|(_, first, last)| (*first..*last).contains(&t)).map(|(other, ..)| *other);
        let sum: f64 = there().map(|other| 10_f64.powf(level(other) / 10.0)).sum();
        let speaks = there().any(|other| other == place);
        sum == 0.0 || (!speaks && level(from) - 10.0 * sum.log10() >= f64::from(capture.threshold) / 100.0)
    })
}
