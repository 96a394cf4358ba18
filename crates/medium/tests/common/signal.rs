//! The signals on the reference model's medium: packets, their ways, and what each place hears of them.

use backoff::Generator;
use medium::{BitErrors, Capture, Destination, FrameId, Octets, StationId};
use std::ops::Range;

#[path = "../../../verify/src/ways.rs"]
#[allow(dead_code, reason = "each model uses its own part of this module")]
mod ways;
#[allow(unused_imports, reason = "each model uses its own part of this module")]
pub use ways::{distances, instant_of, lateness, later, same_side};

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
