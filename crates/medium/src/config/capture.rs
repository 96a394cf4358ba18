//! Radio capture: a receiver decodes the stronger of several signals.

use super::error::{ConfigError, rule};
use crate::frame::StationId;
use crate::time::BitInstant;
use crate::topology::Topology;

/// When a frame survives the signals that it meets, and where stations are.
///
/// The interference against a frame is the largest sum, over the instants at which the frame is at the receiver, of the
/// powers of the other signals there.
///
/// The power of a signal falls with the distance d as d^-α; all stations send with the same power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// How much stronger than the interference a signal has to be, in hundredths of a dB.
    pub threshold: u32,
    /// α, the path loss exponent, in hundredths.
    pub exponent: u32,
    /// Where each station is, in millimetres: bit times are too coarse.
    pub positions: Vec<u64>,
}

impl Capture {
    /// α = 4, in hundredths: that of a signal over plane ground, which the models of ALOHA with capture use (Abramson 1977;
    /// Arnbak and van Blitterswijk 1987).
    pub const GROUND: u32 = 400;
    /// The greatest threshold, 100 dB. Above 0 dB at most one of several signals is received.
    pub const MOST_THRESHOLD: u32 = 10_000;
    /// The path loss exponents that are accepted.
    pub const EXPONENTS: std::ops::RangeInclusive<u32> = 100..=1000;

    /// Checks every value against its range.
    pub(super) fn check(&self, topology: &Topology) -> Result<(), ConfigError> {
        let placed = self.positions.len() == topology.stations() && !matches!(topology, Topology::Star { .. });
        rule(placed, "capture", "on a bus, with a position for each station")?;
        let fits = (1..=Capture::MOST_THRESHOLD).contains(&self.threshold);
        rule(fits, "capture", "a threshold above 0 dB, at most 100 dB")?;
        rule(Capture::EXPONENTS.contains(&self.exponent), "capture", "a path loss exponent from 1 to 10")
    }

    /// The power at `place` of a signal from `source`, as a part of that at 1 mm, the least distance.
    fn power(&self, source: StationId, place: StationId) -> f64 {
        let distance = self.positions[source.index()].abs_diff(self.positions[place.index()]).max(1);
        (distance as f64).powf(-f64::from(self.exponent) / 100.0)
    }

    /// Whether `place` receives the signal from `source`, which is there from `begin` on, although it meets `others`: from
    /// which station, and from when to when each of them is there. A station receives nothing while it sends.
    ///
    /// Every one of `others` is there at some instant of the signal.
    pub(crate) fn survives(
        &self,
        place: StationId,
        (source, begin): (StationId, BitInstant),
        others: impl Iterator<Item = (StationId, BitInstant, BitInstant)>,
    ) -> bool {
        let (own, least) = (self.power(source, place), 10_f64.powf(f64::from(self.threshold) / 1000.0));
        let bears = |power: f64| own >= least * power;
        let (mut there, mut total) = (Vec::new(), 0.0);
        for (other, from, to) in others {
            let power = self.power(other, place);
            if other == place || !bears(power) {
                return false;
            }
            total += power;
            there.push((from.max(begin), to, power));
        }
        // Interference is largest at an instant at which one of the others begins.
        let at = |instant| there.iter().filter(move |(from, to, _)| *from <= instant && instant < *to);
        let most = |instant| at(instant).map(|(_, _, power)| power).sum::<f64>();
        bears(total) || there.iter().all(|(from, ..)| bears(most(*from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With α = 4 a threshold of 10 dB is a distance 10^(10/40) = 1.778 times as long.
    #[test]
    fn the_threshold_is_a_ratio_of_distances() {
        let survives = |farther, others: &[u16]| {
            let capture = Capture { threshold: 1000, exponent: 400, positions: vec![0, 10_000, farther, farther] };
            let at = BitInstant::new;
            let others = others.iter().map(|&other| (StationId::new(other), at(0), at(9)));
            capture.survives(StationId::new(0), (StationId::new(1), at(0)), others)
        };
        assert!(survives(17_783, &[2]) && !survives(17_782, &[2]));
        assert!(!survives(17_783, &[2, 3]), "two of them are 3 dB stronger");
        assert!(survives(21_148, &[2, 3]), "1.778 x 2^(1/4)");
        assert!(!survives(1_000_000, &[0]), "the receiver sends");
    }

    /// Two signals, each of which a frame survives: together they are too strong, and one after the other they are not.
    #[test]
    fn interference_is_the_largest_sum_of_one_instant() {
        let capture = Capture { threshold: 1000, exponent: 400, positions: vec![0, 10_000, 18_000, 18_000] };
        let at = BitInstant::new;
        let survives = |others: &[(u16, u64, u64)]| {
            let others = others.iter().map(|&(other, from, to)| (StationId::new(other), at(from), at(to)));
            capture.survives(StationId::new(0), (StationId::new(1), at(100)), others)
        };
        assert!(survives(&[(2, 0, 101), (3, 101, 200)]), "one ends as the other begins");
        assert!(!survives(&[(2, 0, 102), (3, 101, 200)]), "one bit of both");
        assert!(survives(&[(2, 110, 150), (3, 150, 160), (2, 160, 170)]));
        assert!(!survives(&[(2, 110, 150), (3, 149, 160)]));
    }
}
