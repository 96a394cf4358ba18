//! When a run has been long enough: one metric is known to within a part of itself.

use crate::figures::intervals::{BELOW, half_width};
use crate::figures::results::{Results, UntilResults};
use crate::figures::row::columns;
use crate::figures::slotted;
use crate::figures::table::{DELAYS, FAIRNESS, FIGURES, NUMBERS, TCP_GOODPUT};
use crate::words::units;
use std::fmt;
use std::str::FromStr;

/// The metric that is looked at unless another is named: it settles last of those that always settle.
pub const DEFAULT_METRIC: &str = "access_delay_mean_bt";

/// The half-width of a metric's 95 % interval at which a run may end: `1%` or `utilization_total=0.1%`.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// The metric, under the name of its column.
    pub metric: String,
    /// The half-width as a part of the metric, above 0 and below 1.
    pub part: f64,
}

/// In place of a metric: a run ends when infinitely many users of ALOHA have run away.
const COLLAPSE: &str = "collapse";

/// Metrics of any medium that have an interval in a single run, under the names of their columns.
fn metrics() -> impl Iterator<Item = String> {
    let numbers = NUMBERS.iter().map(|number| number.name.to_owned()).filter(|name| name != FAIRNESS);
    let of_delay = |delay: &'static str| FIGURES.iter().map(move |figure| format!("{delay}_{}", figure.name));
    let delays = DELAYS.iter().flat_map(move |delay| of_delay(delay.name));
    numbers.chain(delays)
}

/// Those that only a slotted medium has, and that of TCP connections.
fn of_some() -> impl Iterator<Item = String> {
    slotted::all().map(|number| number.name).chain([TCP_GOODPUT]).map(str::to_owned)
}

impl FromStr for Until {
    type Err = String;
    fn from_str(text: &str) -> Result<Until, String> {
        if text.trim() == COLLAPSE {
            return Ok(Until { metric: COLLAPSE.to_owned(), part: 0.0 });
        }
        let (metric, part) = match text.split_once('=') {
            Some((metric, part)) => (metric.trim(), part),
            None => (DEFAULT_METRIC, text),
        };
        if metric == FAIRNESS {
            return Err(format!(
                "`{text}`: fairness of a single run has no interval: leave `fairness=` out, or name another metric"
            ));
        }
        if !metrics().chain(of_some()).any(|name| name == metric) {
            let names: Vec<String> = metrics().chain(of_some()).collect();
            return Err(format!("`{metric}` has no interval: write one of {}", names.join(", ")));
        }
        let part = units::tolerance(part).ok().filter(|part| *part > 0.0 && *part < 1.0).ok_or_else(|| {
            format!("`{text}`: write a part above 0 and below 100%, like `1%` or `utilization_total=0.1%`")
        })?;
        Ok(Until { metric: metric.to_owned(), part })
    }
}

/// A half-width as a part of its metric; nothing where that is 0.
fn part_of(half: f64, metric: f64) -> Option<f64> {
    let part = half / metric.abs();
    part.is_finite().then_some(part)
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_collapse() {
            return f.write_str(COLLAPSE);
        }
        write!(f, "{}={}%", self.metric, (self.part * 1e8).round() / 1e6)
    }
}

impl Until {
    /// Whether only TCP connections have its metric.
    pub fn needs_connections(&self) -> bool {
        self.metric == TCP_GOODPUT
    }

    /// Whether the run is to end when its users have run away.
    pub fn is_collapse(&self) -> bool {
        self.metric == COLLAPSE
    }

    /// Whether only a slotted medium has the metric.
    pub fn needs_slots(&self) -> bool {
        slotted::all().any(|number| number.name == self.metric)
    }

    /// How far the metric of `results` can be off, as a part of it; nothing where it is 0 or has no interval.
    ///
    /// Where an interval reaches less far below the metric than above, the longer side counts.
    pub fn half_width(&self, results: &Results) -> Option<f64> {
        let row = columns(results);
        let number = |name: &str| row.iter().find(|(column, _)| column == name).and_then(|(_, value)| value.number());
        let half = number(&format!("ci95_{}", self.metric))?;
        let below = number(&format!("ci95_{}{BELOW}", self.metric)).unwrap_or(0.0);
        part_of(half.max(below), number(&self.metric)?)
    }

    /// The same of the mean over runs with different seeds, which have these values of the metric: by Student's t, as in figures.
    pub fn half_width_over_seeds(values: &[f64]) -> Option<f64> {
        let half = half_width(values.iter().copied())?;
        part_of(half, values.iter().sum::<f64>() / values.len() as f64)
    }

    /// What results say: how far it got.
    pub fn results(&self, results: &Results) -> UntilResults {
        let half_width = self.half_width(results);
        let reached = half_width.is_some_and(|part| part <= self.part);
        UntilResults { metric: self.metric.clone(), asked: self.part, half_width, reached }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_of_access_delay_unless_another_metric_is_named() {
        let until = |text: &str| text.parse::<Until>().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(until("1%"), Until { metric: DEFAULT_METRIC.to_owned(), part: 0.01 });
        assert_eq!(until("utilization_total = 0.001").to_string(), "utilization_total=0.1%");
        assert_eq!(until("collapse").to_string(), "collapse");
        assert!(until("throughput=1%").needs_slots() && !until("2 %").needs_slots());
        for (text, right) in [
            ("0%", "above 0 and below 100%"),
            ("100%", "above 0 and below 100%"),
            ("-1%", "above 0 and below 100%"),
            ("1", "above 0 and below 100%"),
            ("bananas=1%", "write one of utilization_frame, "),
            ("fairness=1%", "no interval"),
            ("", "like `1%`"),
        ] {
            let error = text.parse::<Until>().expect_err(text);
            assert!(error.contains(right), "{text}: {error}");
        }
    }
}
