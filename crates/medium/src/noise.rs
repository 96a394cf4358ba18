//! Noise: bit errors, and signals of PLCA that get lost, at places.
//!
//! Every draw is a function of the seed, the place and the instant, and of nothing else. So it needs no order of calls:
//! a fast path, the general engine, and an output that is settled early all find the same errors. The draws of backoff
//! are others, so a medium without noise runs as if this module were not there.

use crate::draws::{LINE, SIGNALS, draws};
use crate::event::Kind;
use crate::fault::Fault;
use crate::frame::StationId;
use crate::time::{BitInstant, BitTimes, Octets};
use backoff::Generator;

/// A million: millionths of a whole.
pub(crate) const MILLION: u32 = 1_000_000;
/// The unit of a rate of errors: one in 10^12 bits.
const TRILLION: f64 = 1e12;
/// How long the fault before the present one can still matter: longer than any signal and its way.
const MEMORY: u64 = 1 << 20;

/// Bit errors at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitErrors {
    /// Wrong bits in 10^12, at most [`BitErrors::MOST`].
    pub rate: u64,
    /// How many bits an error lasts. 1: a single bit. A longer burst begins and ends with a wrong bit, and half of the
    /// bits between them are wrong.
    pub burst: u16,
    /// The errors come from the line: all places with such errors have them at the same instants. Otherwise each place
    /// has its own.
    pub on_line: bool,
}

impl BitErrors {
    /// The highest rate: a tenth of all bits.
    pub const MOST: u64 = 100_000_000_000;

    /// Errors that begin in a bit, on average.
    fn begins(self) -> f64 {
        let wrong = if self.burst < 2 { 1.0 } else { 1.0 + f64::from(self.burst) / 2.0 };
        self.rate.min(BitErrors::MOST) as f64 / TRILLION / wrong
    }

    /// Whether a wrong bit is among those from `from` to just before `to`, at `place`.
    ///
    /// Time is cut into pieces, and each piece has a generator of its own: it gives the number of errors that begin in
    /// it, by Poisson's law, and where.
    fn hit(self, seed: u64, place: StationId, from: BitInstant, to: BitInstant) -> bool {
        const PIECE: u64 = 1024;
        let stream = if self.on_line { LINE } else { place.index() as u64 };
        let run = Generator::operation(seed, stream).next_u64();
        let least = (-self.begins() * PIECE as f64).exp();
        let last = u64::from(self.burst.max(1)) - 1;
        let first = from.get().saturating_sub(last);
        (first / PIECE..=to.get().saturating_sub(1) / PIECE).any(|piece| {
            let mut generator = Generator::stream(run, piece);
            let mut left = fraction(&mut generator);
            let mut hit = false;
            while left > least {
                let at = piece * PIECE + generator.next_high_bits(10);
                hit |= (first..to.get()).contains(&at);
                left *= fraction(&mut generator);
            }
            hit
        })
    }
}

/// Uniform in (0, 1].
fn fraction(generator: &mut Generator) -> f64 {
    (generator.next_high_bits(53) + 1) as f64 / (1_u64 << 53) as f64
}

/// What happens to a signal of PLCA at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mishap {
    /// A BEACON is not heard at all.
    LostBeacon,
    /// A BEACON is heard as carrier, and not recognised.
    BadBeacon,
    /// A COMMIT is not heard at all.
    LostCommit,
    /// A COMMIT is heard as carrier, and not recognised.
    BadCommit,
}

/// How a place senses a signal that it does not hear as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Nothing,
    /// Only that something is there.
    Carrier,
}

/// A signal of PLCA, as noise treats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// It lasts so long.
    Beacon(BitTimes),
    Commit,
    Frame,
}

/// A fault of a place from an instant on, or that it has none from then on.
type Since = (BitInstant, Option<Fault>);

/// The faults of all places that change what is received there.
#[derive(Debug)]
pub(crate) struct Noise {
    seed: u64,
    /// Some place has such a fault, or had one shortly before.
    pub is_on: bool,
    /// The faults of each place, from when on; the newest is the last.
    faults: Box<[Vec<Since>]>,
    /// When each place was last free of them.
    ended: Box<[Option<BitInstant>]>,
}

impl Noise {
    pub fn new(seed: u64, stations: usize) -> Noise {
        Noise { seed, is_on: false, faults: vec![Vec::new(); stations].into(), ended: vec![None; stations].into() }
    }

    /// `station` has this fault from `now` on.
    pub fn set(&mut self, station: StationId, now: BitInstant, fault: Option<Fault>) {
        let fault = fault.filter(|fault| fault.is_of_receiver());
        let is_old = |next: &Since| next.0.get() + MEMORY < now.get();
        for faults in &mut self.faults {
            let keep = faults.iter().rposition(is_old).unwrap_or(0);
            faults.drain(..keep);
        }
        let own = &mut self.faults[station.index()];
        if own.last().is_some_and(|(_, fault)| fault.is_some()) {
            self.ended[station.index()] = Some(now);
        }
        if fault.is_some() || !own.is_empty() {
            own.push((now, fault));
        }
        let matters = |faults: &Vec<Since>| faults.iter().any(|(_, fault)| fault.is_some());
        self.is_on = self.faults.iter().any(matters);
    }

    /// The latest instant up to `now` at which `place` had such a fault; `None` if it had none.
    pub fn last(&self, place: StationId, now: BitInstant) -> Option<BitInstant> {
        let is_present = self.faults[place.index()].last().is_some_and(|(_, fault)| fault.is_some());
        if is_present { Some(now) } else { self.ended[place.index()] }
    }

    /// The fault for a signal whose first bit comes to `place` at `begin`.
    fn at(&self, place: StationId, begin: BitInstant) -> Option<Fault> {
        self.faults[place.index()].iter().rev().find(|(since, _)| *since <= begin)?.1
    }

    /// What the station at `place` makes of a signal that has ended there at `at`, if it would be `kind` without noise;
    /// `None` if it does not hear it.
    #[cold]
    pub fn heard(&self, place: StationId, at: BitInstant, kind: Kind) -> Option<Kind> {
        let Some(bits) = bits(kind) else { return Some(kind) };
        let begin = BitInstant::new(at.get().saturating_sub(bits.get()));
        match self.at(place, begin) {
            Some(Fault::OneWay) => None,
            Some(Fault::BitErrors(errors)) if is_whole(kind) && errors.hit(self.seed, place, begin, at) => {
                Some(Kind::Damaged { bits })
            }
            Some(_) | None => Some(kind),
        }
    }

    /// Whether a frame of `size`, whose last bit has come to `place` at `at`, is not received there because of noise.
    #[inline]
    pub fn spoils(&self, place: StationId, at: BitInstant, size: Octets) -> bool {
        let kind = Kind::Delivered { size };
        self.is_on && self.heard(place, at, kind) != Some(kind)
    }

    /// Whether noise keeps the station at `place` from decoding a signal that begins there at `begin`, and whose bits
    /// come from `from` to just before `to`: for a method whose signals are not frames alone.
    #[inline]
    pub fn strikes(&self, place: StationId, begin: BitInstant, (from, to): (BitInstant, BitInstant)) -> bool {
        self.is_on && self.hits(place, begin, (from, to))
    }

    #[cold]
    fn hits(&self, place: StationId, begin: BitInstant, (from, to): (BitInstant, BitInstant)) -> bool {
        match self.at(place, begin) {
            Some(Fault::OneWay) => true,
            Some(Fault::BitErrors(errors)) => errors.hit(self.seed, place, from, to),
            Some(Fault::Deaf | Fault::BadFcs | Fault::Babble | Fault::FullDuplex | Fault::Signals { .. }) | None => {
                false
            }
        }
    }

    /// The station at `place` hears nothing of a signal that begins there at `begin`.
    pub fn silences(&self, place: StationId, begin: BitInstant) -> bool {
        self.is_on && self.at(place, begin) == Some(Fault::OneWay)
    }

    /// How a signal of another station sounds at `place`, if not as it was sent.
    #[cold]
    pub fn sense(&self, place: StationId, begin: BitInstant, sort: Sort) -> Option<Sense> {
        let strikes = |millionths: u32| {
            let mut draws = draws(self.seed, SIGNALS + place.index() as u64, begin.get());
            let draw = (draws.next_high_bits(32) * u64::from(MILLION)) >> 32;
            draw < u64::from(millionths)
        };
        match (self.at(place, begin)?, sort) {
            (Fault::OneWay, _) => Some(Sense::Nothing),
            (Fault::Signals { mishap, millionths }, _) if strikes(millionths) => match (mishap, sort) {
                (Mishap::LostBeacon, Sort::Beacon(_)) | (Mishap::LostCommit, Sort::Commit) => Some(Sense::Nothing),
                (Mishap::BadBeacon, Sort::Beacon(_)) | (Mishap::BadCommit, Sort::Commit) => Some(Sense::Carrier),
                (_, Sort::Beacon(_) | Sort::Commit | Sort::Frame) => None,
            },
            (Fault::BitErrors(errors), Sort::Beacon(span)) => {
                errors.hit(self.seed, place, begin, begin + span).then_some(Sense::Carrier)
            }
            (
                Fault::Deaf
                | Fault::BadFcs
                | Fault::Babble
                | Fault::FullDuplex
                | Fault::Signals { .. }
                | Fault::BitErrors(_),
                Sort::Beacon(_) | Sort::Commit | Sort::Frame,
            ) => None,
        }
    }
}

/// The bits of a receiver's event after preamble and SFD.
#[allow(clippy::wildcard_enum_match_arm, reason = "other events are not a receiver's")]
fn bits(kind: Kind) -> Option<BitTimes> {
    match kind {
        Kind::Delivered { size } | Kind::TooLong { size } | Kind::Duplicate { size } => Some(size.bit_times()),
        Kind::Fragment { bits } | Kind::Damaged { bits } => Some(bits),
        _ => None,
    }
}

/// A receiver would hand the frame up, or drop it as one that it has.
fn is_whole(kind: Kind) -> bool {
    matches!(kind, Kind::Delivered { .. } | Kind::Duplicate { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: StationId = StationId::new(3);

    fn share(errors: BitErrors, bits: u64) -> f64 {
        let spans = 20_000;
        let hit = |number: u64| {
            let from = BitInstant::new(number * bits);
            errors.hit(9, PLACE, from, BitInstant::new((number + 1) * bits))
        };
        (0..spans).filter(|&number| hit(number)).count() as f64 / spans as f64
    }

    /// Of spans of n bits 1 - (1 - p)^n have a wrong bit, whatever the length of the pieces.
    #[test]
    fn the_share_of_spans_with_an_error_is_that_of_the_rate() {
        let errors = BitErrors { rate: 100_000_000, burst: 1, on_line: false };
        for bits in [512_u64, 1_000, 12_144] {
            let expected = 1.0 - (1.0 - 1e-4_f64).powf(bits as f64);
            let found = share(errors, bits);
            assert!((found - expected).abs() < 0.015, "{bits} bits: {found}, not {expected}");
        }
        // As many wrong bits in bursts of 100 are in fewer spans: errors begin 51 times less often.
        let bursts = BitErrors { burst: 100, ..errors };
        let expected = 1.0 - (-1e-4 / 51.0 * (512.0 + 99.0_f64)).exp();
        let found = share(bursts, 512);
        assert!((found - expected).abs() < 0.003, "{found}, not {expected}");
    }

    /// Errors of the line are at the same instants everywhere, those of a place are not.
    #[test]
    fn errors_of_the_line_are_the_same_at_all_places() {
        let hits = |errors: BitErrors, place| -> Vec<bool> {
            let span = |number: u64| (BitInstant::new(number * 512), BitInstant::new((number + 1) * 512));
            (0..200_u64).map(span).map(|(from, to)| errors.hit(1, StationId::new(place), from, to)).collect()
        };
        let own = BitErrors { rate: 1_000_000_000, burst: 1, on_line: false };
        let line = BitErrors { on_line: true, ..own };
        assert_eq!(hits(line, 0), hits(line, 7));
        assert_ne!(hits(own, 0), hits(own, 7));
    }

    /// A fault counts for signals that begin at its place from then on: one that is settled early keeps its verdict.
    #[test]
    fn a_signal_has_the_fault_that_was_there_as_it_began() {
        let mut noise = Noise::new(1, 4);
        noise.set(PLACE, BitInstant::new(1_000), Some(Fault::OneWay));
        noise.set(PLACE, BitInstant::new(2_000), None);
        let size = Octets::new(64);
        let lost = |begin: u64| noise.spoils(PLACE, BitInstant::new(begin + 512), size);
        assert_eq!([999, 1_000, 1_999, 2_000].map(lost), [false, true, true, false]);
        noise.set(PLACE, BitInstant::new(3_000 + MEMORY), None);
        noise.set(PLACE, BitInstant::new(4_000 + 2 * MEMORY), None);
        assert!(!noise.is_on);
        assert_eq!(noise.last(PLACE, BitInstant::new(9_000_000)), Some(BitInstant::new(2_000)));
    }
}
