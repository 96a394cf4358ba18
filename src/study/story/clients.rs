//! The same idea in clients of a service.

use super::{Chapter, text};
use crate::study::page::{Chart, Part};
use crate::study::retry::Named;
use crate::study::retry::herd::{Herd, Report};

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
