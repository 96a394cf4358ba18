//! Results for people: the table, and the live line.
#![forbid(unsafe_code)]

mod attempts;
pub mod bridges;
mod connections;
mod emulator;
mod fitted;
pub mod messages;
pub mod metrics;
mod plan;
pub mod program;
mod programs;
pub mod sentence;
pub mod terminal;
mod turns;
pub mod verdict;

use attempts::attempts;
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use emulator::emulator;
use indicatif::{ProgressBar, ProgressStyle};
use sim::figures::intervals::BELOW;
use sim::figures::results::{DelayResults, MediumResults, Results, StationResults};
use sim::words::units::{group, many};
use std::io::IsTerminal;
use std::time::Duration;

pub use fitted::fitted;
pub use messages::say;
pub use sim::words::prose::with_causes;

/// Wall-clock time, like `2m 5s`: whole seconds, and below ten of them milliseconds.
pub fn wall_time(time: Duration) -> String {
    let unit = if time < Duration::from_secs(10) { 1 } else { 1000 };
    let millis = time.as_millis() as u64 / unit * unit;
    humantime::format_duration(Duration::from_millis(millis)).to_string()
}

/// The sign for a value that was not measured, like a mean of nothing.
const NOT_MEASURED: &str = "–";

/// The whole table: stations, medium, emulator, and what it comes to in a sentence; no line is wider than a terminal is
/// usually.
pub fn table(results: &Results) -> String {
    let mut text = heading(results) + "\n";
    text += &stations(results);
    text += &medium(results);
    text += &attempts(results);
    text += "\n";
    text += &turns::turns(results);
    text += &connections::connections(results);
    text += &plan::plan(results);
    text += &programs::programs(results);
    text += &results.emulator.as_ref().map_or_else(String::new, |told| emulator(results, told));
    text += &verdict_line(results);
    if results.emulator.is_some() {
        text += "\n";
    }
    terminal::fold(&format!("{text}{}\n", sentence::sentence(results)), terminal::USUAL)
}

/// The first line of the tables: stations, distance, rate, duration and seed.
fn heading(results: &Results) -> String {
    let config = &results.config;
    let seconds = results.measured_bit_times as f64 / config.rate_bits_per_second as f64;
    let rate = medium::BitRate::per_second(config.rate_bits_per_second).map_or(String::new(), |rate| rate.to_string());
    format!(
        "{}, {} of {} BT, {rate}, {seconds:.2} s ({} bit times), seed {}\n",
        many(results.stations.len() as u64, "station"),
        config.topology,
        config.longest_distance_bt,
        group(results.measured_bit_times),
        results.seed
    )
}

/// Whether a live run is to be trusted.
fn verdict_line(results: &Results) -> String {
    let verdict = results.emulator.as_ref().and_then(|emulator| emulator.verdict.as_ref());
    verdict.map_or_else(String::new, |verdict| format!("  verdict       {verdict}\n"))
}

/// A plain table: the first column to the left, numbers to the right.
pub fn plain_table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header).add_rows(rows.into_iter().map(|row| row.to_vec()));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}

const STATION_COLUMNS: [&str; 11] = [
    "station",
    "offered",
    "trans-\nmitted",
    "deliv-\nered",
    "received",
    "colli-\nsions",
    "deferred",
    "queue\ndrops",
    "exces-\nsive",
    "other",
    "queued",
];

/// Columns that are left out while all their values are 0: the causes of discards.
const CAUSES: std::ops::Range<usize> = 7..10;

fn station_row(name: &str, stations: &[&StationResults]) -> [String; 11] {
    let sum = |counter: &str| stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let other = sum("late_collision_discards") + sum("too_short") + sum("too_long") + sum("detached");
    let numbers = [
        sum("offered"),
        sum("frames_transmitted_ok"),
        sum("delivered"),
        sum("frames_received_ok"),
        sum("collisions"),
        sum("deferred_transmissions"),
        sum("queue_drops"),
        sum("excessive_collisions"),
        other,
        stations.iter().map(|station| station.queued).sum(),
    ];
    let mut row = [const { String::new() }; 11];
    row[0] = name.to_owned();
    row[1..].iter_mut().zip(numbers).for_each(|(cell, number)| *cell = group(number));
    row
}

fn stations(results: &Results) -> String {
    format!("{}{}\n", station_table(&station_rows(results)), station_notes(results))
}

/// A row for each station, and the last for all of them.
fn station_rows(results: &Results) -> Vec<[String; 11]> {
    let mut rows: Vec<_> = results.stations.iter().map(|station| station_row(&station.name, &[station])).collect();
    rows.push(station_row("all", &results.stations.iter().collect::<Vec<_>>()));
    rows
}

/// The notes below the stations' table.
fn station_notes(results: &Results) -> String {
    let wrong: Vec<&str> = results.stations.iter().filter(|s| !s.adds_up()).map(|s| s.name.as_str()).collect();
    let verdict = if wrong.is_empty() {
        "it adds up at every station".to_owned()
    } else {
        format!("it does NOT add up at {}: please report this", wrong.join(", "))
    };
    let queued_before: u64 = results.stations.iter().map(|station| station.queued_at_start).sum();
    let before = if queued_before > 0 { format!(" + {} queued before", group(queued_before)) } else { String::new() };
    let causes = [
        ("late collision", "late_collision_discards"),
        ("too short", "too_short"),
        ("too long", "too_long"),
        ("station off the medium", "detached"),
    ];
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let other = causes.map(|(name, counter)| (name, sum(counter)));
    let other: Vec<String> =
        other.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{name} {}", group(*count))).collect();
    let other = if other.is_empty() { String::new() } else { format!("  other: {}\n", other.join(", ")) };
    let is_more = |station: &StationResults| station.counter("delivered") > station.counter("frames_transmitted_ok");
    let groups = if results.stations.iter().any(is_more) { GROUPS } else { "" };
    let states: String = results.stations.iter().filter_map(unusual).collect();
    format!(
        "{other}{groups}{states}  offered{before} = transmitted + discarded (queue drops, excessive collisions, other)\n  \
         + queued: {verdict}\n"
    )
}

/// Why more is delivered than was transmitted.
const GROUPS: &str = "  delivered: a frame to several stations counts once for each that gets it\n";

/// The stations' table, without columns that say nothing.
fn station_table(rows: &[[String; 11]]) -> String {
    let is_shown = |column: usize| !CAUSES.contains(&column) || rows.iter().any(|row| row[column] != "0");
    let shown: Vec<usize> = (0..STATION_COLUMNS.len()).filter(|&column| is_shown(column)).collect();
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(shown.iter().map(|&column| STATION_COLUMNS[column]));
    table.add_rows(rows.iter().map(|row| shown.iter().map(|&column| row[column].clone()).collect::<Vec<_>>()));
    for (number, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if number > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

/// What is not as it should be with a station.
fn unusual(station: &StationResults) -> Option<String> {
    let off = (!station.attached).then(|| "off the medium".to_owned());
    let faulty = station.fault.map(|fault| format!("faulty ({fault})"));
    let states: Vec<String> = off.into_iter().chain(faulty).collect();
    (!states.is_empty()).then(|| format!("  {}: {}\n", station.name, states.join(", ")))
}

/// The half-width of a metric's 95 % interval, if the run gives one; `key` is the metric, or `delay.figure`.
pub fn half_width(medium: &MediumResults, key: &str) -> Option<f64> {
    let (metric, figure) = key.split_once('.').map_or((key, None), |(metric, figure)| (metric, Some(figure)));
    medium.ci95.as_ref()?.half_width(metric, figure)
}

/// The text in place of an interval, where a run in virtual time was too short for one.
fn unknown(medium: &MediumResults, key: &str) -> &'static str {
    if medium.ci95.is_some() && half_width(medium, key).is_none() { " (too few for an interval)" } else { "" }
}

/// The half-width to show beside `value`, both in whole bit times: rounded up, but an interval that does not reach below 0
/// is not shown as if it did.
fn width(half: f64, value: f64) -> u64 {
    let shown = half.ceil() as u64;
    if half <= value { shown.min(value.round() as u64) } else { shown }
}

/// A half-width with this number of digits; one that is less than a digit is a digit, not 0.
fn digits(half: f64, digits: usize) -> String {
    format!("{:.digits$}", half.max(10_f64.powi(-(digits as i32))))
}

fn medium(results: &Results) -> String {
    let medium = &results.medium;
    let plus_minus = |key: &str, format: &dyn Fn(f64) -> String| {
        half_width(medium, key).map_or_else(String::new, |half| format!(" ± {}", format(half)))
    };
    let percent = |key: &str, part: Option<f64>| {
        let text = |part: f64| format!("{:.2}{} %", 100.0 * part, plus_minus(key, &|half| digits(100.0 * half, 2)));
        part.map_or_else(|| NOT_MEASURED.to_owned(), text)
    };
    let number = |key: &str, value: Option<f64>, digits: usize| {
        let text = |value: f64| format!("{value:.digits$}{}", plus_minus(key, &|half| self::digits(half, digits)));
        value.map_or_else(|| NOT_MEASURED.to_owned(), text)
    };
    let delay = |key: &str, delay: &DelayResults| {
        let Some(mean) = delay.mean_bt else { return NOT_MEASURED.to_owned() };
        let around = |value: f64| move |half: f64| group(width(half, value));
        let spread = match half_width(medium, &format!("{key}.mean_bt{BELOW}")) {
            Some(below) => {
                let above = half_width(medium, &format!("{key}.mean_bt")).unwrap_or(below);
                // No delay is below 0.
                format!(" \u{2212}{} +{}", around(mean)(below.min(mean)), around(mean)(above))
            }
            None => {
                let key = format!("{key}.mean_bt");
                plus_minus(&key, &around(mean)) + unknown(medium, &key)
            }
        };
        let figure = |name: &str, value: Option<u64>| {
            let (value, key) = (value.unwrap_or(0), format!("{key}.{name}"));
            format!("{}{}{}", group(value), plus_minus(&key, &around(value as f64)), unknown(medium, &key))
        };
        format!(
            "{}{spread} BT mean, {} p50, {} p99, {} longest",
            group(mean.round() as u64),
            figure("p50_bt", delay.p50_bt),
            figure("p99_bt", delay.p99_bt),
            group(delay.max_bt.unwrap_or(0))
        )
    };
    let cut = medium.cut.map_or(String::new(), |medium::Place { segment, position }| {
        let on = if results.config.topology == "segments" { format!(" on segment {segment}") } else { String::new() };
        format!("  the cable is cut at {} BT{on}\n", group(position.get()))
    });
    format!(
        "medium\n{cut}  utilization        {} frame, {} wire, {} total\n  \
         attempts per frame {}\n  collisions         {} of {} attempts\n  \
         fairness           {} (Jain{}), same winner {}\n  \
         access delay       {}\n  MAC delay          {}\n",
        percent("utilization_frame", Some(medium.utilization_frame)),
        percent("utilization_wire", Some(medium.utilization_wire)),
        percent("utilization_total", Some(medium.utilization_total)),
        number("attempts_per_frame", medium.attempts_per_frame, 3),
        many(medium.collision_episodes, "episode"),
        number("attempts_per_episode", medium.attempts_per_episode, 2),
        number("fairness", medium.fairness, 4),
        silent(results),
        percent("same_winner", medium.same_winner),
        delay("access_delay", &medium.access_delay),
        delay("mac_delay", &medium.mac_delay),
    )
}

/// How many stations had nothing to send: Jain's index leaves them out.
fn silent(results: &Results) -> String {
    let offered = |station: &&StationResults| station.counter("offered") + station.queued_at_start > 0;
    let silent = results.stations.len() - results.stations.iter().filter(offered).count();
    match silent {
        0 => String::new(),
        silent => {
            format!("; without {silent} silent of {}", many(results.stations.len() as u64, "station"))
        }
    }
}

/// Writes over the terminal's current line; nothing if standard error is no terminal.
pub fn show(line: &str) {
    if std::io::stderr().is_terminal() {
        messages::write_over(line);
    }
}

/// A bar on standard error, if that is a terminal, with an estimate of the time left. Its argument is how much of
/// `whole` is done.
pub fn progress(what: &'static str, whole: f64) -> impl Fn(f64) {
    const STEPS: f64 = 1_000.0;
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3} %  {elapsed} gone, {eta} left");
    let bar = ProgressBar::new(STEPS as u64).with_message(what).with_style(style.expect("a template that is valid"));
    move |done| match done / whole {
        part if part < 1.0 => bar.set_position((part * STEPS) as u64),
        _ => bar.finish_and_clear(),
    }
}

/// Shows how far the making of `stations` stations is, where that takes long enough to be noticed.
pub fn making(stations: usize) -> impl Fn(usize) {
    const NOTICED: usize = 32;
    move |number| {
        if stations > NOTICED && number > 0 {
            let done =
                if number == stations { String::new() } else { format!("making station {number} of {stations}") };
            show(&done);
        }
    }
}

/// One line of at most `width` columns for a terminal while the bus runs. What matters least goes first where there is no room.
pub fn live_line(results: &Results, elapsed: Duration, duration: Duration, width: usize) -> String {
    let bars = if width >= 100 { 20 } else { 10 };
    let used = results.medium.utilization_total;
    let filled = (used.clamp(0.0, 1.0) * bars as f64).round() as usize;
    let bar = "█".repeat(filled) + &"·".repeat(bars - filled);
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let queued: Vec<String> = results.stations.iter().take(8).map(|station| station.queued.to_string()).collect();
    let more = if results.stations.len() > queued.len() { " …" } else { "" };
    let mut line = format!("{:>5.1}/{duration:?} [{bar}] {:>3.0} %", elapsed.as_secs_f64(), 100.0 * used);
    let parts = [
        format!("  {}", many(sum("frames_transmitted_ok"), "frame")),
        format!("  {}", many(results.medium.collision_episodes, "collision")),
        format!(
            "  {} attempts/frame",
            results
                .medium
                .attempts_per_frame
                .map_or_else(|| NOT_MEASURED.to_owned(), |attempts| format!("{attempts:.2}"))
        ),
        format!("  queued {}{more}", queued.join(" ")),
    ];
    for part in parts {
        // A terminal goes to its next line when its last column is written.
        if line.chars().count() + part.chars().count() < width {
            line += &part;
        }
    }
    terminal::cut(&line, width.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data plane's report to a supervisor.
    const TOLD: &[u8] = include_bytes!("../../../fuzz/corpus/messages/results");

    #[test]
    fn results_of_a_run_are_shown() {
        let told: serde_json::Value = serde_json::from_slice(TOLD).expect("a message");
        let results: Results = serde_json::from_value(told["results"].clone()).expect("results");
        assert!(table(&results).contains("it adds up"));
    }

    pub(super) fn told_results() -> Results {
        let told: serde_json::Value = serde_json::from_slice(TOLD).expect("a message");
        serde_json::from_value(told["results"].clone()).expect("results")
    }

    /// Rounded up and rounded to nearest are 1 apart: an interval that ends at 0 or above is not shown below it.
    #[test]
    fn no_half_width_goes_below_zero_by_rounding() {
        assert_eq!([width(5.2, 5.3), width(0.3, 0.4), width(4.1, 5.4)], [5, 0, 5]);
        assert_eq!([width(0.3, 0.2), width(20.5, 10.0)], [1, 21], "those that reach below 0 are shown so");
    }

    /// docs/glossary.md has every word of the tables.
    #[test]
    fn the_glossary_has_every_word_of_the_tables() {
        let glossary = include_str!("../../../docs/glossary.md");
        let cells: Vec<&str> = glossary
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()?.split(" (").next())
            .collect();
        let words: Vec<&str> = cells.iter().flat_map(|cell| cell.split(", ")).map(str::trim).collect();
        let columns = STATION_COLUMNS.map(|column| column.replace("-\n", "").replace('\n', " "));
        let lines = [
            "utilization",
            "attempts per frame",
            "fairness",
            "same winner",
            "access delay",
            "MAC delay",
            "p50",
            "p99",
            "frames after n collisions",
            "turns",
            "cycles",
            "emulator",
            "lateness",
            "late arrivals",
            "drops",
            "in the kernel",
            "taken by",
            "slip",
            "time scale",
            "verdict",
        ];
        for word in columns.iter().map(String::as_str).chain(lines) {
            assert!(words.contains(&word), "{word} is not in docs/glossary.md");
        }
        let text = table(&told_results());
        let labels = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).map(|(label, _)| label);
        for label in labels.filter(|label| label.starts_with(char::is_alphabetic)) {
            assert!(words.contains(&label), "{label} is not in docs/glossary.md");
        }
    }

    #[test]
    fn nothing_that_is_shown_is_wider_than_a_terminal() {
        let results = told_results();
        for line in table(&results).lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
        for width in [20, 40, 80, 100, 120] {
            let line = live_line(&results, Duration::from_millis(3_250), Duration::from_secs(10), width);
            assert!(line.chars().count() < width, "{width}: {line}");
        }
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        let mut results = told_results();
        for station in &mut results.stations {
            station.counters.values_mut().for_each(|count| *count = 0);
            (station.queued_at_start, station.queued) = (0, 0);
        }
        results.medium = sim::figures::results::MediumResults { collision_frames: vec![0; 15], ..Default::default() };
        let table = table(&results);
        assert!(table.contains("attempts per frame –") && table.contains("access delay       –"), "{table}");
        assert!(table.contains("none had a frame to send while"), "{table}");
    }

    /// A station that wanted nothing is no victim.
    #[test]
    fn fairness_says_who_offered_nothing() {
        let mut results = told_results();
        assert!(!table(&results).contains("silent of"), "{}", table(&results));
        let counters = &mut results.stations[0].counters;
        counters.values_mut().for_each(|count| *count = 0);
        results.stations[0].queued_at_start = 0;
        let right = format!("(Jain; without 1 silent of {} stations)", results.stations.len());
        let told = table(&results).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(&right), "{told}");
    }

    #[test]
    fn thousands_stand_apart() {
        let grouped = [0, 7, 999, 1_000, 14_880, 1_234_567].map(group);
        assert_eq!(grouped, ["0", "7", "999", "1,000", "14,880", "1,234,567"]);
    }
}
