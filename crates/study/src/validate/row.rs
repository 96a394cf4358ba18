//! One figure: what it should be, what it is, and whether the two agree.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// An estimate agrees within this number of half-widths of its 95 % interval: five standard errors, so that about one
/// of a million right rows is called wrong.
pub const HALF_WIDTHS: f64 = 2.5;
/// An estimate whose half-width is a larger part of what is expected says nothing, and so does not agree.
const VAGUE: f64 = 0.25;
/// What is exact agrees to the last digits of a double.
const ROUNDING: f64 = 1e-12;

/// What a figure should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Nothing else.
    Exactly(f64),
    /// An estimate of this.
    About(f64),
    /// From one to the other, both included.
    Between(f64, f64),
}

/// Why a figure is not what a formula or a paper says, and how far off it is for that reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// Measured less expected, as documented.
    pub deviation: f64,
    /// How far from the documented deviation it may be, besides what an estimate may be off.
    pub within: f64,
    /// The reason.
    pub why: &'static str,
}

/// Whether a figure has the expected value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The figure agrees.
    Agrees,
    /// The figure deviates for this reason, and by as much as is documented.
    Explained(&'static str),
    /// The figure deviates without a documented reason, or by another amount.
    Deviates,
}

/// One figure, expected and measured.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the figure.
    pub what: String,
    /// What gives the same figure, if a command other than `ethbus theory check` does.
    pub command: Option<String>,
    /// What it should be.
    pub expected: Expected,
    /// The measured value.
    pub measured: f64,
    /// Half-width of the 95 % interval of an estimate.
    pub half_width: Option<f64>,
    /// A documented deviation.
    pub explained: Option<Explained>,
}

impl Row {
    /// A figure that has to be `expected` exactly.
    pub fn exactly(what: impl Into<String>, expected: f64, measured: f64) -> Row {
        let expected = Expected::Exactly(expected);
        Row { what: what.into(), command: None, expected, measured, half_width: None, explained: None }
    }

    /// A figure that has to be in an interval.
    pub fn between(what: impl Into<String>, low: f64, high: f64, measured: f64) -> Row {
        Row { expected: Expected::Between(low, high), ..Row::exactly(what, low, measured) }
    }

    /// An estimate, and the half-width of its 95 % interval.
    pub fn about(what: impl Into<String>, expected: f64, (measured, half_width): (f64, f64)) -> Row {
        let half_width = Some(half_width);
        Row { expected: Expected::About(expected), half_width, ..Row::exactly(what, expected, measured) }
    }

    /// The same, from a run of `command`.
    pub fn from(self, command: &str) -> Row {
        Row { command: Some(command.to_owned()), ..self }
    }

    /// The same, with a deviation that is documented.
    pub fn explained(self, deviation: f64, within: f64, why: &'static str) -> Row {
        Row { explained: Some(Explained { deviation, within, why }), ..self }
    }

    /// Measured less expected; from the nearer end of an interval.
    pub fn deviation(&self) -> f64 {
        match self.expected {
            Expected::Exactly(expected) | Expected::About(expected) => self.measured - expected,
            Expected::Between(low, high) => self.measured - self.measured.clamp(low, high),
        }
    }

    fn is_vague(&self) -> bool {
        match (self.expected, self.half_width) {
            (Expected::About(expected), Some(half)) => half.is_nan() || half > VAGUE * expected.abs(),
            _ => false,
        }
    }

    /// Whether it is what it should be. What is no number never is.
    pub fn verdict(&self) -> Verdict {
        let estimate = self.half_width.map_or(0.0, |half| HALF_WIDTHS * half);
        if self.is_vague() {
            return Verdict::Deviates;
        }
        if let Some(Explained { deviation, within, why }) = self.explained {
            let as_documented = (self.deviation() - deviation).abs() <= within + estimate;
            return match as_documented {
                // What is within the interval of the measurement needs no reason.
                true if matches!(self.expected, Expected::About(_)) && self.deviation().abs() <= estimate => {
                    Verdict::Agrees
                }
                true => Verdict::Explained(why),
                false => Verdict::Deviates,
            };
        }
        let allowed = match self.expected {
            Expected::Exactly(expected) => ROUNDING * expected.abs(),
            Expected::About(_) => estimate,
            Expected::Between(..) => 0.0,
        };
        if self.deviation().abs() <= allowed { Verdict::Agrees } else { Verdict::Deviates }
    }
}

/// How many things of `of` were so, as a part of them: the estimate, and its half-width for independent things.
///
/// The half-width is that of Agresti and Coull, two more of each kind counted: it is never 0, however rare the other kind.
pub fn share(hits: u64, of: u64) -> (f64, f64) {
    let (n, p) = (of as f64 + 4.0, (hits as f64 + 2.0) / (of as f64 + 4.0));
    (hits as f64 / of as f64, 1.96 * (p * (1.0 - p) / n).sqrt())
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("Row", 9)?;
        row.serialize_field("what", &self.what)?;
        row.serialize_field("command", &self.command)?;
        match self.expected {
            Expected::Exactly(expected) | Expected::About(expected) => row.serialize_field("expected", &expected)?,
            Expected::Between(low, high) => row.serialize_field("expected", &[low, high])?,
        }
        row.serialize_field("measured", &self.measured)?;
        row.serialize_field("half_width", &self.half_width)?;
        row.serialize_field("deviation", &self.deviation())?;
        let (verdict, why) = match self.verdict() {
            Verdict::Agrees => ("agrees", None),
            Verdict::Explained(why) => ("deviates", Some(why)),
            Verdict::Deviates => ("DEVIATES", None),
        };
        row.serialize_field("verdict", verdict)?;
        row.serialize_field("documented_deviation", &self.explained.map(|explained| explained.deviation))?;
        row.serialize_field("explanation", &why)?;
        row.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exact_has_no_room() {
        assert_eq!(Row::exactly("", 7151.0, 7151.0).verdict(), Verdict::Agrees);
        assert_eq!(Row::exactly("", 7151.0, 7152.0).verdict(), Verdict::Deviates);
        assert_eq!(Row::exactly("", 0.0, f64::NAN).verdict(), Verdict::Deviates);
        assert_eq!(Row::between("", 1.0, 2.0, 2.0).verdict(), Verdict::Agrees);
        assert_eq!(Row::between("", 1.0, 2.0, 2.1).verdict(), Verdict::Deviates);
    }

    #[test]
    fn an_estimate_has_the_stated_number_of_half_widths() {
        assert_eq!(Row::about("", 1.0, (1.24, 0.1)).verdict(), Verdict::Agrees);
        assert_eq!(Row::about("", 1.0, (1.26, 0.1)).verdict(), Verdict::Deviates);
        assert_eq!(Row::about("", 1.0, (f64::NAN, 0.1)).verdict(), Verdict::Deviates);
    }

    #[test]
    fn an_estimate_that_says_nothing_does_not_agree() {
        assert_eq!(Row::about("", 1.0, (1.0, 0.3)).verdict(), Verdict::Deviates);
        assert_eq!(Row::about("", 1.0, (1.0, f64::NAN)).verdict(), Verdict::Deviates);
    }

    /// An explanation that explains nothing any more is as wrong as a deviation without one.
    #[test]
    fn an_explanation_holds_for_the_documented_deviation_only() {
        let row = |measured| Row::about("", 1.0, (measured, 0.01)).explained(0.5, 0.01, "because");
        assert_eq!(row(1.5).verdict(), Verdict::Explained("because"));
        assert_eq!(row(1.0).verdict(), Verdict::Deviates);
        assert_eq!(row(2.0).verdict(), Verdict::Deviates);
    }

    #[test]
    fn a_share_is_off_by_something_even_if_all_are_of_a_kind() {
        let (all, half) = share(1000, 1000);
        assert!(all == 1.0 && half > 0.0 && half < 0.01, "{half}");
        let (part, half) = share(500, 1000);
        assert!(part == 0.5 && (half - 0.0309).abs() < 1e-4, "{half}");
        assert!(share(0, 0).0.is_nan());
    }
}
