//! Results of runs, as a table and as JSON.

use super::figures::{Figures, Oscillation};
use super::{Crowd, Outcome, Service, Verdict};
use crate::{side_by_side, span, wrapped};
use serde::Serialize;

/// Version of the JSON form.
const VERSION: u32 = 1;

/// Runs of one service with several policies, or of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    version: u32,
    seed: u64,
    capacity_per_s: f64,
    duration_s: f64,
    warm_up_s: f64,
    #[serde(skip)]
    crowd: String,
    /// One for each policy and value.
    pub runs: Vec<Outcome>,
}

fn time(seconds: f64) -> String {
    span(seconds * 1e9)
}

/// Four digits at most.
fn number(value: f64) -> String {
    let places = if value == 0.0 { 0 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 3) as usize };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A figure, and how far it can be off.
fn figure(of: &Outcome, value: fn(&Figures) -> Option<f64>, tell: fn(f64) -> String) -> String {
    let half = of.ci95.as_ref().and_then(value).filter(|half| *half > 0.0);
    match (value(&of.measured), half) {
        (None, _) => "-".to_owned(),
        (Some(value), None) => tell(value),
        (Some(value), Some(half)) => format!("{} ± {}", tell(value), tell(half)),
    }
}

fn percent(part: f64) -> String {
    format!("{} %", number(100.0 * part))
}

/// A row of the table: its label, and what it says of a run.
type Row = (&'static str, fn(&Outcome) -> String);

const ROWS: [Row; 23] = [
    ("operations", |run| run.counts.operations.to_string()),
    ("  succeeded", |run| run.counts.served.to_string()),
    ("  gave up: attempts, time", |run| (run.counts.gave_up_attempts + run.counts.gave_up_elapsed).to_string()),
    ("  gave up: no budget", |run| run.counts.gave_up_budget.to_string()),
    ("  gave up: breaker open", |run| run.counts.gave_up_breaker.to_string()),
    ("  gave up: not retried", |run| run.counts.gave_up_answer.to_string()),
    ("  no end yet", |run| run.pending_at_end.to_string()),
    ("requests", |run| run.counts.requests.to_string()),
    ("  refused: out", |run| run.counts.refused_out.to_string()),
    ("  refused: queue full", |run| run.counts.refused_full.to_string()),
    ("  refused: quota", |run| run.counts.refused_quota.to_string()),
    ("  timed out", |run| run.counts.timed_out.to_string()),
    ("  done, and not heard", |run| run.counts.unheard.to_string()),
    ("  accepted before", |run| run.counts.repeated.to_string()),
    ("goodput, /s", |run| figure(run, |it| it.goodput_per_s, number)),
    ("load, /s", |run| figure(run, |it| it.load_per_s, number)),
    ("requests an operation", |run| figure(run, |it| it.amplification, number)),
    ("success", |run| figure(run, |it| it.success_fraction, percent)),
    ("mean delay", |run| figure(run, |it| it.mean_delay_s, time)),
    ("p50 delay", |run| figure(run, |it| it.p50_delay_s, time)),
    ("p99 delay", |run| figure(run, |it| it.p99_delay_s, time)),
    ("fairness (Jain)", |run| number(run.fairness)),
    ("waves in the load", |run| match run.oscillation {
        None => "none".to_owned(),
        Some(Oscillation { period_s, amplitude }) => {
            format!("±{:.0} % each {}", 100.0 * amplitude, time(period_s))
        }
    }),
];

impl Verdict {
    /// In words.
    pub fn text(self) -> String {
        match self {
            Verdict::Recovered { after_s: 0.0 } => "recovered at once".to_owned(),
            Verdict::Recovered { after_s } => format!("recovered {} after the dip", time(after_s)),
            Verdict::Metastable { goodput_fraction } => {
                format!("metastable: still overloaded at the end, goodput {} of what it was", percent(goodput_fraction))
            }
            Verdict::Waiting { goodput_fraction } => {
                format!("clients still wait at the end: goodput {} of what it was", percent(goodput_fraction))
            }
        }
    }
}

impl Outcome {
    /// The policy, and what a sweep varied.
    pub fn name(&self) -> String {
        if self.varied.is_empty() { self.policy.clone() } else { format!("{} {}", self.policy, self.varied) }
    }
}

impl Comparison {
    /// Puts the runs of one service together.
    pub fn new(service: &Service, runs: Vec<Outcome>) -> Comparison {
        let crowd = match service.crowd {
            Crowd::Open { load } => format!("{} operations/s of {} clients", number(load), service.clients),
            Crowd::Closed { think } => {
                format!("{} clients that think for {}", service.clients, span(think as f64))
            }
            Crowd::Once { .. } => format!("{} clients", service.clients),
        };
        Comparison {
            version: VERSION,
            seed: service.seed,
            capacity_per_s: service.capacity,
            duration_s: service.duration as f64 / 1e9,
            warm_up_s: service.warm_up as f64 / 1e9,
            crowd,
            runs,
        }
    }

    /// For people, at most 80 characters wide. Rows in which all runs have 0 are left out.
    pub fn table(&self) -> String {
        let what = format!(
            "{}, capacity {}/s, {} with {} of warm-up, seed {}",
            self.crowd,
            number(self.capacity_per_s),
            time(self.duration_s),
            time(self.warm_up_s),
            self.seed
        );
        let mut text = wrapped("", &what) + "\n";
        let heads: Vec<String> = self.runs.iter().map(Outcome::name).collect();
        let told: Vec<(&str, Vec<String>)> = (ROWS.iter())
            .map(|(label, of)| (*label, self.runs.iter().map(of).collect()))
            .filter(|(label, cells): &(&str, Vec<String>)| !label.starts_with(' ') || cells.iter().any(|it| it != "0"))
            .collect();
        let mut labels: Vec<String> = told.iter().map(|(label, _)| (*label).to_owned()).collect();
        let mut columns: Vec<Vec<String>> =
            (0..self.runs.len()).map(|run| told.iter().map(|(_, cells)| cells[run].clone()).collect()).collect();
        for class in self.runs.first().map_or(&[][..], |run| &run.classes) {
            labels.push(format!("{}: share, p99", class.class));
        }
        for (column, run) in columns.iter_mut().zip(&self.runs) {
            let p99 = |seconds: Option<f64>| seconds.map_or("-".to_owned(), time);
            column.extend(
                run.classes.iter().map(|it| format!("{}, {}", percent(it.share_of_served), p99(it.p99_delay_s))),
            );
        }
        text += &side_by_side("", &labels, &heads, &columns);
        let verdicts = self.runs.iter().filter_map(|run| Some((run.name(), run.verdict?)));
        let verdicts: String = verdicts.map(|(name, verdict)| wrapped(&format!("{name}: "), &verdict.text())).collect();
        if !verdicts.is_empty() {
            text += &format!("\n{verdicts}");
        }
        text
    }
}
