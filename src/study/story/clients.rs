//! The same idea in clients of a service.

use super::{Chapter, text};
use crate::study::page::{Chart, Part};
use crate::study::plot::PlotError;
use crate::study::retry::Named;
use crate::study::retry::herd::{Herd, Report};
use crate::study::retry::service::keys::key;
use crate::study::retry::service::{Outcome, Service, Settings};

const SECOND: u64 = 1_000_000_000;
const POLICIES: [&str; 3] = ["constant:1s", "google-http", "full-jitter:100ms,20s"];
const CLIENTS: u32 = 10_000;

pub(super) fn herd(_: bool) -> Chapter {
    Chapter {
        id: "clients",
        title: "The same in clients: ten thousand come back at once",
        source: "RFC 3261 (SIP timers); Google's and Amazon's advice to clients; see `ethbus retry published`",
        runs: Vec::new(),
        tell: |_, quick| {
            let herd = Herd {
                clients: CLIENTS,
                outage: 30 * SECOND,
                capacity: 1000.0,
                queue: 1000,
                spread: SECOND,
                retry_after: 0,
                budget: None,
                rate: None,
                classes: Vec::new(),
                duration: if quick { 90 } else { 240 } * SECOND,
                seed: 1,
            };
            let named = POLICIES.iter().filter_map(|policy| Named::parse(policy).ok());
            let reports: Vec<Report> = named.filter_map(|named| herd.run(&named).ok()).collect();
            let chart = Chart { labels: ["seconds", "requests in a second"], log: [false, true], ..Chart::default() };
            let chart = reports.iter().fold(chart, |chart, report| {
                let load = report.requests_over_time.iter().enumerate().filter(|(_, requests)| **requests > 0);
                chart.curve(report.policy.clone(), load.map(|(second, &requests)| (second as f64, requests as f64)))
            });
            let told = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"));
            let rows = reports.iter().map(|report| {
                vec![
                    report.policy.clone(),
                    report.requests.to_string(),
                    format!("{:.1} %", 100.0 * report.wasted_fraction),
                    told(report.recovered_99_s),
                    told(report.p99_delay_s),
                ]
            });
            let head =
                ["policy", "requests", "wasted", "99 % served after, s", "p99 delay, s"].map(str::to_owned).into();
            let commands = format!(
                "ethbus retry herd --clients {CLIENTS} --outage 30s --capacity 1000/s --queue {} --spread 1s --duration {}s {}",
                herd.queue,
                herd.duration / SECOND,
                POLICIES.join(" ")
            );
            Ok(vec![
                text(
                    "A service is out for 30 seconds, and ten thousand clients want to be served. Clients that ask every second \
                     hammer it all the time and fill its queue when it comes back. Clients that double their delays, with some \
                     chance in it, come back one after the other: it is ALOHA again, with a server in the place of the channel.",
                ),
                chart.figure("What the service sees: an outage of 30 s, then 1000 requests a second can be served.")?,
                Part::Table { head, rows: rows.collect() },
                Part::Commands(vec![commands]),
            ])
        },
    }
}

/// A service at 80 % of its capacity, which is at 10 % of it for a while.
const OUTAGE: [(&str, &str); 4] = [("capacity", "500/s"), ("load", "400/s"), ("duration", "120s"), ("warm-up", "10s")];
const TRIES: &str = "constant:1s/attempts=4";
/// Dips that are too short and long enough to tip it.
const DIPS: [&str; 2] = ["30s,1s,10%", "30s,2s,10%"];
const BUDGET: (&str, &str) = ("budget", "bucket:10,10%");

/// The service of some settings over [`OUTAGE`], its policy, and the options that say so.
fn outage(more: &[(&str, &str)]) -> Option<(Service, Named, String)> {
    let options: Vec<(&str, &str)> = OUTAGE.iter().chain(more).copied().collect();
    let settings: Vec<_> =
        options.iter().filter_map(|(name, text)| Some((key(name)?.name, (*text).to_owned()))).collect();
    let settings = Settings::read(None, &settings, &[TRIES.to_owned()]).ok()?;
    let told: Vec<String> = options.iter().map(|(name, text)| format!("--{name} {text}")).collect();
    Some((settings.service().ok()?, settings.policies.first()?.clone(), format!("{} {TRIES}", told.join(" "))))
}

/// The same with each of these, or why it cannot be.
fn outages(all: [&[(&str, &str)]; 3]) -> Result<Vec<(Service, Outcome, String, Named)>, PlotError> {
    let one = |more: &[(&str, &str)]| {
        let (service, named, options) = outage(more)?;
        let outcome = service.run(&named).ok()?;
        Some((service, outcome, options, named))
    };
    let wrong = || PlotError::Draw("the service of the story cannot be run".to_owned());
    all.into_iter().map(|more| one(more).ok_or_else(wrong)).collect()
}

pub(super) fn overload(_: bool) -> Chapter {
    Chapter {
        id: "metastable",
        title: "An overload that outlives its cause",
        source: "Bronson, Aghayev, Charapko and Zhu, HotOS 2021; Huang et al., OSDI 2022; see docs/retry.md",
        runs: Vec::new(),
        tell: |_, quick| {
            let (short, long) = ([("dip", DIPS[0])], [("dip", DIPS[1])]);
            let cured = [("dip", DIPS[1]), BUDGET];
            let runs = outages([&short, &long, &cured])?;
            let names = ["dip of 1 s", "dip of 2 s", "dip of 2 s, a budget of retries"];
            let chart = Chart { labels: ["seconds", "operations that succeed in a second"], ..Chart::default() };
            let chart = runs.iter().zip(names).fold(chart, |chart, ((service, outcome, _, named), name)| {
                let served = outcome.served_over_time.iter().enumerate();
                let chart = chart.curve(name, served.map(|(second, &served)| (second as f64, served as f64)));
                match service.mean(named) {
                    Ok(mean) if name == names[1] => {
                        let served = mean.served_over_time.into_iter().enumerate();
                        chart.curve("the same, predicted", served.map(|(second, served)| (second as f64, served)))
                    }
                    _ => chart,
                }
            });
            let seeds = if quick { 1 } else { 3 };
            let (service, _, options, named) = &runs[1];
            let tip = service.tip(named, seeds).map_err(|wrong| PlotError::Draw(wrong.to_string()))?;
            let told = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2} s"));
            let row = |(_, outcome, _, _): &(Service, Outcome, String, Named), name: &str| {
                let verdict = outcome.verdict.map_or_else(String::new, |verdict| verdict.text());
                vec![name.to_owned(), verdict]
            };
            let rows = runs.iter().zip(names).map(|(run, name)| row(run, name));
            let tips = format!("predicted {}, simulated {}", told(tip.predicted_s), told(tip.simulated_s));
            let tips = vec!["shortest dip that tips it".to_owned(), tips];
            Ok(vec![
                text(
                    "A service has a quarter more capacity than its clients need. For a second it is slow, and recovers. It is slow \
                     for two seconds, and never recovers: each request waits for longer than its client does, so the service \
                     works for clients that have gone, and these ask again. Four requests an operation are more than it can \
                     serve, so the overload feeds itself. It is Lam's ALOHA with 400 users again: two stable states, and a \
                     disturbance that moves the system from one into the other.",
                ),
                text(
                    "A longer delay or jitter does not help, since each client still sends its four requests. What helps is \
                     fewer requests: a budget that adds a retry for ten operations keeps the load below the capacity.",
                ),
                chart.figure("A service of 500 requests a second under 400, at 10 % of its capacity from 30 s on.")?,
                Part::Table { head: vec!["what".to_owned(), "then".to_owned()], rows: rows.chain([tips]).collect() },
                Part::Commands(vec![
                    format!("ethbus retry service {options}"),
                    format!("ethbus retry tip --seeds {seeds} {options}"),
                ]),
            ])
        },
    }
}
