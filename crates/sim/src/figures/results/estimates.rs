//! How well figures are known: half-widths, and what `--until` asked for.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Half-widths of 95 % confidence intervals, each under the name of its metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Intervals {
    /// Where the samples come from: `batch_means` over the run, or `replications`.
    pub method: String,
    /// How many samples there are.
    pub samples: usize,
    /// The half-widths: a number, or for a delay an object of numbers.
    #[serde(flatten)]
    pub half_widths: BTreeMap<String, HalfWidth>,
}

impl Intervals {
    /// The half-width of a metric or, of a delay, of one of its figures; none where there is none.
    pub fn half_width(&self, metric: &str, figure: Option<&str>) -> Option<f64> {
        match (self.half_widths.get(metric)?, figure) {
            (HalfWidth::Number(half), None) => Some(*half),
            (HalfWidth::Delay(figures), Some(figure)) => figures.get(figure).copied(),
            (HalfWidth::Number(_), Some(_)) | (HalfWidth::Delay(_), None) => None,
        }
    }
}

/// How far a figure can be off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum HalfWidth {
    /// In the metric's own unit.
    Number(f64),
    /// For each figure of a delay.
    Delay(BTreeMap<String, f64>),
}

/// What a run was to know of a metric, and what it knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UntilResults {
    /// The metric, under the name of its column.
    pub metric: String,
    /// The half-width of its 95 % interval that was asked for, as a part of the metric.
    pub asked: f64,
    /// The half-width at the end, as a part of the metric; `None` if the metric is 0 or has no interval.
    pub half_width: Option<f64>,
    /// Whether the half-width reached `asked`, which ended the run; otherwise `duration` did.
    pub reached: bool,
}
