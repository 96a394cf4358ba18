//! Results of labs as text that Prometheus reads: OpenMetrics 1.0, or the older format for those who ask for no other.

use sim::figures::counters::{COUNTERS, Counter};
use sim::figures::delays::DelayResults;
use sim::figures::emulator::{self as figures, LINKS, figures};
use sim::figures::results::{ChangeResults, EmulatorResults, Results};
use sim::figures::table::{ACCESS_DELAY, DELAYS, FIGURES};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// OpenMetrics 1.0: a counter's family has no `_total`, units are declared, and the end is marked.
    OpenMetrics,
    /// The text format of Prometheus, 0.0.4.
    Plain,
}

impl Exposition {
    /// What a client wants that sent this header.
    pub fn wanted(accept: &str) -> Exposition {
        if accept.contains("application/openmetrics-text") { Exposition::OpenMetrics } else { Exposition::Plain }
    }

    /// What an answer says its content is.
    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Exposition::Plain => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

/// A text in the making.
struct Page {
    text: String,
    exposition: Exposition,
}

/// The text for labs by name.
pub fn text(exposition: Exposition, labs: &[(String, Results)]) -> String {
    let mut page = Page { text: String::new(), exposition };
    let text = &mut page;
    let info = if exposition == Exposition::OpenMetrics { ("ethbus", "info") } else { ("ethbus_info", "gauge") };
    family(text, info.0, info.1, "The program that serves this");
    sample(text, "ethbus_info", &[("version", env!("CARGO_PKG_VERSION"))], "1");
    family(text, "ethbus_up", "gauge", "Whether the lab answers");
    labs.iter().for_each(|(lab, _)| sample(text, "ethbus_up", &[("lab", lab)], "1"));
    for Counter { name, help, .. } in COUNTERS {
        let metric = format!("ethbus_{name}");
        family(text, &metric, "counter", help);
        for (lab, station) in stations(labs) {
            let labels = [("lab", lab), ("station", &station.name)];
            sample(text, &format!("{metric}_total"), &labels, &station.counter(name).to_string());
        }
    }
    family(text, "ethbus_collision_frames", "counter", "aCollisionFrames (802.3, 30.3.1.1.30): sent after so many");
    for (lab, station) in stations(labs) {
        for (count, collisions) in station.collision_frames.iter().zip(1_u32..).filter(|(count, _)| **count > 0) {
            let labels = [("lab", lab), ("station", &station.name), ("collisions", &collisions.to_string())];
            sample(text, "ethbus_collision_frames_total", &labels, &count.to_string());
        }
    }
    gauges(text, labs);
    for delay in DELAYS {
        let metric = format!("ethbus_{}_seconds", delay.name);
        family(text, &metric, "histogram", delay.help);
        for (lab, results) in labs {
            let (delay, bit) = ((delay.of)(&results.medium), 1.0 / results.config.rate_bits_per_second as f64);
            histogram(text, &metric, lab, &delay.histogram, bit, sum(delay));
        }
    }
    waits(text, labs);
    emulator(text, labs);
    if exposition == Exposition::OpenMetrics {
        page.text += "# EOF\n";
    }
    page.text
}

fn stations(labs: &[(String, Results)]) -> impl Iterator<Item = (&str, &sim::figures::results::StationResults)> {
    labs.iter().flat_map(|(lab, results)| results.stations.iter().map(move |station| (lab.as_str(), station)))
}

fn gauges(text: &mut Page, labs: &[(String, Results)]) {
    family(text, "ethbus_queued", "gauge", "Frames in the station's transmit queue");
    for (lab, station) in stations(labs) {
        sample(text, "ethbus_queued", &[("lab", lab), ("station", &station.name)], &station.queued.to_string());
    }
    family(text, "ethbus_attached", "gauge", "Whether the station is on the medium");
    for (lab, station) in stations(labs) {
        let labels = [("lab", lab), ("station", station.name.as_str())];
        sample(text, "ethbus_attached", &labels, if station.attached { "1" } else { "0" });
    }
    family(text, "ethbus_medium_seconds", "counter", "The medium's time in which all this was counted");
    for (lab, results) in labs {
        let seconds = results.measured_bit_times as f64 / results.config.rate_bits_per_second as f64;
        sample(text, "ethbus_medium_seconds_total", &[("lab", lab)], &seconds.to_string());
    }
    family(text, "ethbus_bit_time_seconds", "gauge", "How long a bit is on the medium");
    for (lab, results) in labs {
        let bit = (1.0 / results.config.rate_bits_per_second as f64).to_string();
        sample(text, "ethbus_bit_time_seconds", &[("lab", lab)], &bit);
    }
    family(text, "ethbus_collision_episodes", "counter", "Overlaps on the medium, each counted once");
    for (lab, results) in labs {
        let count = results.medium.collision_episodes.to_string();
        sample(text, "ethbus_collision_episodes_total", &[("lab", lab)], &count);
    }
}

/// The access delay of each node with PLCA, and its bound.
fn waits(text: &mut Page, labs: &[(String, Results)]) {
    let nodes = || {
        let with_plca = labs.iter().filter(|(_, results)| results.medium.plca.is_some());
        with_plca.flat_map(|(lab, results)| {
            let bit = 1.0 / results.config.rate_bits_per_second as f64;
            results.stations.iter().filter_map(move |station| Some((lab, station, station.access_delay.as_ref()?, bit)))
        })
    };
    for delay in DELAYS.iter().filter(|delay| delay.name == ACCESS_DELAY) {
        let metric = format!("ethbus_station_{}_seconds", delay.name);
        family(text, &metric, "summary", delay.help);
        for (lab, station, delay, bit) in nodes() {
            for (part, value) in FIGURES.iter().filter_map(|figure| Some((figure.part?, (figure.value)(delay)?))) {
                let labels = [("lab", lab.as_str()), ("station", &station.name), ("quantile", &part.to_string())];
                sample(text, &metric, &labels, &(value * bit).to_string());
            }
        }
        let longest = format!("ethbus_station_{}_max_seconds", delay.name);
        family(text, &longest, "gauge", "The longest of these");
        for (lab, station, delay, bit) in nodes() {
            let value = delay.max_bt.map(|bits| bits as f64 * bit);
            let labels = [("lab", lab.as_str()), ("station", station.name.as_str())];
            value.into_iter().for_each(|value| sample(text, &longest, &labels, &value.to_string()));
        }
    }
    family(
        text,
        "ethbus_plca_access_delay_bound_seconds",
        "gauge",
        "Its bound, with frames as long as the longest yet",
    );
    for (lab, results) in labs {
        let bound = results.medium.plca.as_ref().and_then(|plca| plca.access_delay_bound_bt);
        let seconds = bound.map(|bits| bits as f64 / results.config.rate_bits_per_second as f64);
        let labels = [("lab", lab.as_str())];
        let metric = "ethbus_plca_access_delay_bound_seconds";
        seconds.into_iter().for_each(|seconds| sample(text, metric, &labels, &seconds.to_string()));
    }
}

fn emulator(text: &mut Page, labs: &[(String, Results)]) {
    let labs = labs.iter().filter_map(|(lab, results)| Some((lab.as_str(), results.emulator.as_ref()?)));
    let labs: Vec<(&str, &EmulatorResults)> = labs.collect();
    for figure in figures() {
        let kind = match figure.kind {
            figures::Kind::Counter => "counter",
            figures::Kind::Gauge => "gauge",
            figures::Kind::Other => continue,
        };
        let (metric, part) = match figure.name.strip_suffix("_ns") {
            Some(stem) => (format!("ethbus_emulator_{stem}_seconds"), 1e-9),
            None => (format!("ethbus_emulator_{}", figure.name), 1.0),
        };
        family(text, &metric, kind, figure.help);
        let sampled = if kind == "counter" { format!("{metric}_total") } else { metric };
        for (lab, emulator) in &labs {
            let value = (figure.value)(emulator).map(|value| value * part);
            value.into_iter().for_each(|value| sample(text, &sampled, &[("lab", lab)], &value.to_string()));
        }
    }
    family(text, "ethbus_emulator_file_missing", "counter", "What is known to miss in a file that is not whole");
    for (lab, emulator) in &labs {
        for file in &emulator.observers.incomplete_files {
            let labels = [("lab", *lab), ("file", &file.file), ("holds", &file.holds)];
            sample(text, "ethbus_emulator_file_missing_total", &labels, &file.missing.to_string());
        }
    }
    changes(text, &labs);
    links(text, &labs);
    family(text, "ethbus_emulator_lateness_seconds", "histogram", "How late deliveries were handed to the kernel");
    for (lab, emulator) in &labs {
        let bins = &emulator.lateness_histogram_ns;
        // Each copy counts with the end of its bin, because the emulator keeps no sum of lateness.
        let sum = bins.iter().map(|(end, count)| *end as f64 * *count as f64).sum();
        histogram(text, "ethbus_emulator_lateness_seconds", lab, bins, 1e-9, sum);
    }
}

/// When stations and cable were changed last: for annotations.
fn changes(text: &mut Page, labs: &[(&str, &EmulatorResults)]) {
    let metric = "ethbus_change_timestamp_seconds";
    family(text, metric, "gauge", "When a station, or without one the cable, was last changed so");
    for (lab, emulator) in labs {
        for ChangeResults { station, change, unix_ns } in &emulator.changes {
            let labels = [("lab", *lab), ("station", station), ("change", change)];
            sample(text, metric, &labels, &format!("{:.3}", *unix_ns as f64 / 1e9));
        }
    }
}

fn links(text: &mut Page, labs: &[(&str, &EmulatorResults)]) {
    for counter in LINKS {
        if counter.help.is_empty() {
            continue;
        }
        let metric = format!("ethbus_link_{}", counter.name);
        let all = labs.iter().flat_map(|(lab, emulator)| emulator.links.iter().map(move |link| (*lab, link)));
        let all: Vec<(&str, &str, u64)> =
            all.filter_map(|(lab, link)| Some((lab, link.station.as_str(), (counter.value)(link)?))).collect();
        family(text, &metric, "counter", counter.help);
        for (lab, station, value) in all {
            sample(text, &format!("{metric}_total"), &[("lab", lab), ("station", station)], &value.to_string());
        }
    }
}

/// The sum of a delay, in bit times.
fn sum(delay: &DelayResults) -> f64 {
    delay.mean_bt.unwrap_or(0.0) * delay.histogram.values().sum::<u64>() as f64
}

/// Buckets for each doubling of a unit, so that the same ones are there at each scrape.
fn histogram(text: &mut Page, metric: &str, lab: &str, bins: &BTreeMap<u64, u64>, unit: f64, sum: f64) {
    let bucket = format!("{metric}_bucket");
    for doubling in 6..36_u32 {
        let end = (1_u64 << doubling) - 1;
        let count: u64 = bins.range(..=end).map(|(_, count)| count).sum();
        let end = (end as f64 * unit).to_string();
        sample(text, &bucket, &[("lab", lab), ("le", &end)], &count.to_string());
    }
    let count: u64 = bins.values().sum();
    sample(text, &bucket, &[("lab", lab), ("le", "+Inf")], &count.to_string());
    sample(text, &format!("{metric}_sum"), &[("lab", lab)], &(sum * unit).to_string());
    sample(text, &format!("{metric}_count"), &[("lab", lab)], &count.to_string());
}

fn family(page: &mut Page, metric: &str, kind: &str, help: &str) {
    let suffix = if kind == "counter" && page.exposition == Exposition::Plain { "_total" } else { "" };
    let text = &mut page.text;
    writeln!(text, "# HELP {metric}{suffix} {help}\n# TYPE {metric}{suffix} {kind}").expect("a string takes any text");
    if metric.ends_with("_seconds") && page.exposition == Exposition::OpenMetrics {
        writeln!(text, "# UNIT {metric} seconds").expect("a string takes any text");
    }
}

fn sample(text: &mut Page, metric: &str, labels: &[(&str, &str)], value: &str) {
    let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
    writeln!(text.text, "{metric}{{{}}} {value}", labels.join(",")).expect("a string takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::Counters;
    use serde_json::Value;

    /// A new counter or number needs an entry here too.
    #[test]
    fn every_number_of_a_lab_is_told() {
        let counters: Vec<&str> = Counters::default().named().map(|(name, _)| name).collect();
        assert_eq!(COUNTERS.iter().map(|counter| counter.name).collect::<Vec<_>>(), counters);
        let told: Value =
            serde_json::from_slice(include_bytes!("../../../fuzz/corpus/messages/results")).expect("JSON");
        let mut results: Results = serde_json::from_value(told["results"].clone()).expect("results");
        let mut emulator = EmulatorResults::default();
        (emulator.machine.steal_ns, emulator.machine.cpu_wait_ns) = (Some(1), Some(1));
        results.emulator = Some(emulator);
        let emulator = serde_json::to_value(results.emulator.as_ref().expect("a live bus")).expect("numbers");
        for (name, value) in emulator.as_object().expect("an object") {
            let known = figures().find(|figure| figure.name == name);
            assert!(known.is_some_and(|known| value.is_number() != (known.kind == figures::Kind::Other)), "{name}");
        }
        let text = text(Exposition::OpenMetrics, &[("a\"b".to_owned(), results)]);
        assert!(text.contains("ethbus_frames_transmitted_ok_total{lab=\"a\\\"b\",station=\""), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }
}
