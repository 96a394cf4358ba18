//! One thing that was measured: its figures, what was asked of each, and under which conditions.

use super::machine::Conditions;
use serde::Serialize;
use sim::figures::results::EmulatorResults;

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// No less than the first; more than the second cannot be, and is a bug.
    Between(f64, f64),
    /// As far from 0 as this, on either side, and no farther.
    Within(f64),
}

/// Whether a figure meets its goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The figure meets it.
    Met,
    /// The figure misses it by this difference.
    MissedBy(f64),
    /// The figure is above the possible range by this difference.
    ImpossibleBy(f64),
    /// The figure misses its goal by no more than this reason explains.
    Explained(&'static str),
}

impl Asked {
    /// What to say of a measured value.
    pub fn verdict(self, value: f64) -> Verdict {
        let by = |distance: f64| if distance <= 0.0 { Verdict::Met } else { Verdict::MissedBy(distance) };
        match self {
            Asked::AtMost(most) => by(value - most),
            Asked::AtLeast(least) => by(least - value),
            Asked::Between(_, most) if value > most => Verdict::ImpossibleBy(value - most),
            Asked::Between(least, _) => by(least - value),
            Asked::Within(far) => by(value.abs() - far),
        }
    }
}

/// One figure of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The figure's name.
    pub name: String,
    /// What was measured.
    pub value: f64,
    /// Its unit; empty for a count.
    pub unit: &'static str,
    /// The goal, if there is one.
    pub asked: Option<Asked>,
    /// Whether the figure meets the goal.
    pub verdict: Option<Verdict>,
}

impl Figure {
    /// A figure of which nothing is asked.
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Figure {
        Figure { name: name.into(), value, unit, asked: None, verdict: None }
    }

    /// The same with something asked of it.
    pub fn asked(self, asked: Asked) -> Figure {
        Figure { asked: Some(asked), verdict: Some(asked.verdict(self.value)), ..self }
    }

    /// The same, if what was asked is missed by no more than `within`, with the reason for that.
    pub fn explained(self, within: f64, why: &'static str) -> Figure {
        let verdict = self.verdict.map(|verdict| match verdict {
            Verdict::MissedBy(distance) if distance <= within => Verdict::Explained(why),
            Verdict::Met | Verdict::MissedBy(_) | Verdict::ImpossibleBy(_) | Verdict::Explained(_) => verdict,
        });
        Figure { verdict, ..self }
    }
}

/// The outcome of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was measured.
    Measured,
    /// It cannot be measured here, for this reason.
    Skipped(String),
    /// It went wrong, for this reason.
    Failed(String),
}

/// One thing that was to be measured.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What `--only` calls it.
    pub name: &'static str,
    /// What the row measures.
    pub about: &'static str,
    /// Its outcome.
    pub state: State,
    /// Its figures, in the order in which they are shown.
    pub figures: Vec<Figure>,
    /// What else is to be known of them.
    pub notes: Vec<String>,
    /// How well the emulator kept time in each run of the row.
    pub runs: Vec<Run>,
}

/// One run of a bus.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// What it was for.
    pub name: String,
    /// The machine meanwhile.
    pub conditions: Conditions,
    /// The emulator's own figures; none of a yardstick, which has no emulator.
    pub emulator: Option<EmulatorResults>,
}

impl Row {
    /// Nothing measured yet.
    pub fn new(name: &'static str, about: &'static str) -> Row {
        let state = State::Measured;
        Row { name, about, state, figures: Vec::new(), notes: Vec::new(), runs: Vec::new() }
    }

    /// Whether every figure meets its goal.
    pub fn is_met(&self) -> bool {
        self.state == State::Measured
            && self.figures.iter().all(|figure| match figure.verdict {
                None | Some(Verdict::Met | Verdict::Explained(_)) => true,
                Some(Verdict::MissedBy(_) | Verdict::ImpossibleBy(_)) => false,
            })
    }
}

impl Run {
    /// What kept the run from being in time: slip and drops. Empty if nothing did.
    pub fn troubles(&self) -> String {
        let Some(emulator) = &self.emulator else { return String::new() };
        let slip = (emulator.machine.slips > 0).then(|| {
            format!("slipped {:.1} ms in {} stops", emulator.machine.slip_ns as f64 / 1e6, emulator.machine.slips)
        });
        let drops = drops(emulator);
        let dropped = (drops > 0).then(|| format!("dropped {drops} frames in the emulator"));
        let record = (emulator.observers.inputs_skipped > 0)
            .then(|| format!("record misses {}", emulator.observers.inputs_skipped));
        slip.into_iter().chain(dropped).chain(record).collect::<Vec<_>>().join(", ")
    }
}

/// Frames that the emulator had and did not hand on, for whatever cause.
pub fn drops(emulator: &EmulatorResults) -> u64 {
    emulator.undelivered.ring_drops
        + emulator.machine.overload_drops
        + emulator.undelivered.deliveries_to_absent
        + emulator.undelivered.delivery_failures
        + emulator.undelivered.refused_by_mtu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_met_or_missed_by_its_distance() {
        assert_eq!(Asked::AtMost(40.0).verdict(40.0), Verdict::Met);
        assert_eq!(Asked::AtMost(40.0).verdict(50.0), Verdict::MissedBy(10.0));
        assert_eq!(Asked::AtLeast(80.0).verdict(78.0), Verdict::MissedBy(2.0));
        assert_eq!(Asked::Within(2.0).verdict(-3.0), Verdict::MissedBy(1.0));
        assert_eq!(Asked::Between(8.0, 9.0).verdict(8.5), Verdict::Met);
        assert_eq!(Asked::Between(8.0, 9.0).verdict(7.5), Verdict::MissedBy(0.5));
        assert_eq!(Asked::Between(8.0, 9.0).verdict(9.5), Verdict::ImpossibleBy(0.5));
    }

    #[test]
    fn what_is_explained_is_no_miss_and_what_is_farther_off_is() {
        let asked = |value| Figure::new("goodput", value, "Mb/s").asked(Asked::Between(7.0, 9.0)).explained(0.5, "why");
        let verdicts = [6.4, 6.6, 8.0, 9.5].map(|value| asked(value).verdict.expect("something was asked"));
        assert!(matches!(verdicts[0], Verdict::MissedBy(_)) && matches!(verdicts[3], Verdict::ImpossibleBy(_)));
        assert_eq!(verdicts[1..3], [Verdict::Explained("why"), Verdict::Met]);
        let mut row = Row::new("tcp", "");
        row.figures.push(asked(6.6));
        assert!(row.is_met());
        row.figures.push(asked(6.4));
        assert!(!row.is_met());
    }

    #[test]
    fn a_row_that_was_skipped_is_not_met() {
        let mut row = Row::new("ping", "");
        assert!(row.is_met());
        row.figures.push(Figure::new("a", 1.0, "us").asked(Asked::AtMost(2.0)));
        assert!(row.is_met());
        row.state = State::Skipped("no ping".to_owned());
        assert!(!row.is_met());
    }
}
