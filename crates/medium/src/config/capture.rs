//! Radio capture: a receiver decodes the stronger of several signals.

use super::error::{ConfigError, rule};
use crate::frame::StationId;
use crate::topology::Topology;

/// When a frame survives the signals that it meets, and where stations are.
///
/// The power of a signal falls with the distance d as d^-α; all stations send with the same power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// How much stronger than the sum of the others a signal has to be, in hundredths of a dB.
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

    /// Whether `place` receives the signal from `source`, while it hears `others` too. A station receives nothing while it
    /// sends.
    pub(crate) fn survives(
        &self,
        place: StationId,
        source: StationId,
        mut others: impl Iterator<Item = StationId>,
    ) -> bool {
        let total = others.try_fold(0.0, |total, other| (other != place).then(|| total + self.power(other, place)));
        let least = 10_f64.powf(f64::from(self.threshold) / 1000.0);
        total.is_some_and(|total| self.power(source, place) >= least * total)
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
            let others = others.iter().map(|&other| StationId::new(other));
            capture.survives(StationId::new(0), StationId::new(1), others)
        };
        assert!(survives(17_783, &[2]) && !survives(17_782, &[2]));
        assert!(!survives(17_783, &[2, 3]), "two of them are 3 dB stronger");
        assert!(survives(21_148, &[2, 3]), "1.778 x 2^(1/4)");
        assert!(!survives(1_000_000, &[0]), "the receiver sends");
    }
}
