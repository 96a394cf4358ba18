//! What a run of a herd comes to.

use super::{Herd, Run, Watch};
use crate::service::{BUCKET, Counts};
use crate::{Named, side_by_side, span};
use serde::Serialize;

/// Version of the JSON form.
const VERSION: u32 = 1;
/// Rows of a load over time in a table; JSON has all.
const ROWS: usize = 20;

/// Several policies with the same herd.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    version: u32,
    seed: u64,
    clients: u32,
    outage_s: f64,
    capacity_per_s: f64,
    queue: u32,
    /// One for each policy.
    pub policies: Vec<Report>,
}

/// What the service and the clients saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The policy, as it was written.
    pub policy: String,
    /// Requests that the service saw, during the outage too.
    pub requests: u64,
    /// Of these, made during the outage.
    pub refused_during_outage: u64,
    /// Of these, refused because too many waited.
    pub refused_when_full: u64,
    /// Of these, served.
    pub served: u64,
    /// Of these, waiting or in service at the end.
    pub in_service_at_end: u64,
    /// Requests that served no client, as a part of all.
    pub wasted_fraction: f64,
    /// Clients that gave up at the attempt limit.
    pub gave_up_at_attempt_limit: u64,
    /// Clients that gave up at the elapsed limit.
    pub gave_up_at_elapsed_limit: u64,
    /// Clients whose budget of retries was used up.
    pub gave_up_without_budget: u64,
    /// Clients that neither were served nor gave up.
    pub pending_at_end: u64,
    /// The most requests within a second.
    pub peak_requests_per_s: u64,
    /// The same after the outage.
    pub peak_after_outage_per_s: u64,
    /// From the end of the outage until 99 of 100 clients were served; none if they were not.
    pub recovered_99_s: Option<f64>,
    /// From the end of the outage until the last one that was served; none if some were not.
    pub recovered_all_s: Option<f64>,
    /// Mean time from a client's first request until it was served.
    pub mean_delay_s: Option<f64>,
    /// The time within which 99 of 100 served clients were.
    pub p99_delay_s: Option<f64>,
    /// By class, everybody else last; empty without classes.
    pub classes: Vec<ClassReport>,
    /// Requests in each second.
    pub requests_over_time: Vec<u64>,
    /// Requests served in each second.
    pub served_over_time: Vec<u64>,
}

/// One class of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// Its name; `others` for the rest.
    pub class: String,
    /// Its share of all clients in percent, by its option.
    pub percent: u32,
    /// Its clients.
    pub clients: u64,
    /// Requests of these.
    pub requests: u64,
    /// Clients served.
    pub served: u64,
    /// Mean time until they were.
    pub mean_delay_s: Option<f64>,
    /// The time within which 99 of 100 of them were.
    pub p99_delay_s: Option<f64>,
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The smallest value that 99 of 100 do not exceed; `values` are sorted.
fn p99(values: &[u64]) -> Option<u64> {
    let place = (values.len() * 99).div_ceil(100);
    place.checked_sub(1).map(|place| values[place])
}

fn mean(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64 / 1e9)
}

impl Report {
    pub(super) fn of(herd: &Herd, named: &Named, run: &Run<'_>, mut watch: Watch) -> Report {
        let sum = |of: fn(&Counts) -> u64| run.counts.iter().map(of).sum::<u64>();
        let (requests, served) = (sum(|counts| counts.requests), sum(|counts| counts.served));
        let (out, full) = (sum(|counts| counts.refused_out), sum(|counts| counts.refused_full));
        let gave_up = [sum(|c| c.gave_up_attempts), sum(|c| c.gave_up_elapsed), sum(|c| c.gave_up_budget)];
        watch.waits.iter_mut().for_each(|waits| waits.sort_unstable());
        let mut all: Vec<u64> = watch.waits.iter().flatten().copied().collect();
        all.sort_unstable();
        let since_outage = |clients: u64| {
            // Clients are served in the order of time.
            let end = watch.ends.get(usize::try_from(clients).ok()?.checked_sub(1)?)?;
            Some(seconds(end.saturating_sub(herd.outage)))
        };
        let clients = u64::from(herd.clients);
        let after = herd.outage.div_ceil(BUCKET) as usize;
        let classes = if herd.classes.is_empty() { Vec::new() } else { ClassReport::all(herd, run, &watch) };
        Report {
            policy: named.name.clone(),
            requests,
            refused_during_outage: out,
            refused_when_full: full,
            served,
            in_service_at_end: requests - out - full - served,
            wasted_fraction: (requests - served) as f64 / requests.max(1) as f64,
            gave_up_at_attempt_limit: gave_up[0],
            gave_up_at_elapsed_limit: gave_up[1],
            gave_up_without_budget: gave_up[2],
            pending_at_end: clients - served - gave_up.iter().sum::<u64>(),
            peak_requests_per_s: watch.requests_over_time.iter().copied().max().unwrap_or(0),
            peak_after_outage_per_s: watch.requests_over_time.iter().skip(after).copied().max().unwrap_or(0),
            recovered_99_s: since_outage((clients * 99).div_ceil(100)),
            recovered_all_s: since_outage(clients),
            mean_delay_s: mean(&all),
            p99_delay_s: p99(&all).map(seconds),
            classes,
            requests_over_time: watch.requests_over_time,
            served_over_time: watch.served_over_time,
        }
    }

    /// What a table says of it, under the labels of [`LABELS`].
    fn column(&self) -> Vec<String> {
        let time = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |seconds| span(seconds * 1e9));
        let mut column = vec![
            self.requests.to_string(),
            self.refused_during_outage.to_string(),
            self.refused_when_full.to_string(),
            self.served.to_string(),
            format!("{:.1} %", 100.0 * self.wasted_fraction),
            (self.gave_up_at_attempt_limit + self.gave_up_at_elapsed_limit + self.gave_up_without_budget).to_string(),
            self.pending_at_end.to_string(),
            self.peak_requests_per_s.to_string(),
            self.peak_after_outage_per_s.to_string(),
            time(self.recovered_99_s),
            time(self.recovered_all_s),
            time(self.mean_delay_s),
            time(self.p99_delay_s),
        ];
        column.extend(self.classes.iter().map(|class| time(class.p99_delay_s)));
        column
    }
}

const LABELS: [&str; 13] = [
    "requests",
    "  during the outage",
    "  refused when full",
    "  served",
    "wasted",
    "clients that gave up",
    "clients left at the end",
    "most requests in 1 s",
    "  after the outage",
    "99 % served after",
    "all served after",
    "mean delay",
    "p99 delay",
];

impl ClassReport {
    fn all(herd: &Herd, run: &Run<'_>, watch: &Watch) -> Vec<ClassReport> {
        let service = herd.service();
        let report = |(class, (name, percent)): (usize, (&str, u32))| ClassReport {
            class: name.to_owned(),
            percent,
            clients: run.clients_of(class),
            requests: run.counts[class].requests,
            served: run.counts[class].served,
            mean_delay_s: mean(&watch.waits[class]),
            p99_delay_s: p99(&watch.waits[class]).map(seconds),
        };
        service.class_shares().enumerate().map(report).collect()
    }
}

impl Comparison {
    /// Puts the reports of one herd together.
    pub fn new(herd: &Herd, policies: Vec<Report>) -> Comparison {
        Comparison {
            version: VERSION,
            seed: herd.seed,
            clients: herd.clients,
            outage_s: seconds(herd.outage),
            capacity_per_s: herd.capacity,
            queue: herd.queue,
            policies,
        }
    }

    /// For people, at most 80 characters wide.
    pub fn table(&self) -> String {
        let heads: Vec<String> = self.policies.iter().map(|report| report.policy.clone()).collect();
        let mut labels: Vec<String> = LABELS.map(str::to_owned).into();
        if let Some(report) = self.policies.first() {
            labels
                .extend(report.classes.iter().map(|class| format!("p99 delay, {} ({} %)", class.class, class.percent)));
        }
        let columns: Vec<Vec<String>> = self.policies.iter().map(Report::column).collect();
        let outage = span(self.outage_s * 1e9);
        let mut text = format!(
            "{} clients, out for {outage}, then {} requests/s and {} waiting, seed {}\n\n",
            self.clients, self.capacity_per_s, self.queue, self.seed
        );
        text += &side_by_side("", &labels, &heads, &columns);
        let longest = self.policies.iter().map(|report| report.requests_over_time.len()).max().unwrap_or(0);
        let step = longest.div_ceil(ROWS).max(1);
        let labels: Vec<String> = (0..longest).step_by(step).map(|second| format!("{second} s")).collect();
        let column = |report: &Report| {
            let sum = |begin: usize| report.requests_over_time.iter().skip(begin).take(step).sum::<u64>();
            let rate = |begin: usize| format!("{}", (sum(begin) as f64 / step as f64).round());
            (0..longest).step_by(step).map(rate).collect()
        };
        let columns: Vec<Vec<String>> = self.policies.iter().map(column).collect();
        text += &format!("\nrequests/s from\n{}", side_by_side("", &labels, &heads, &columns));
        text
    }
}
