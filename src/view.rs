//! Results for people: the table, and the live line.

use crate::results::{Results, StationResults};
use comfy_table::{CellAlignment, Table, presets::NOTHING};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::time::Duration;

/// The whole table: stations, medium, emulator.
pub fn table(results: &Results) -> String {
    let mut text = String::new();
    let config = &results.config;
    let seconds = results.measured_bit_times as f64 / config.rate_bits_per_second as f64;
    let rate = medium::BitRate::per_second(config.rate_bits_per_second).map_or(String::new(), |rate| rate.to_string());
    writeln!(
        text,
        "{} stations, {} of {} BT, {rate}, {seconds:.2} s ({} bit times), seed {}\n",
        results.stations.len(),
        config.topology,
        config.longest_distance_bt,
        group(results.measured_bit_times),
        results.seed
    )
    .expect("a string takes any text");
    text += &stations(results);
    text += &medium(results);
    text += &emulator(results);
    text
}

/// A number with its thousands apart.
pub fn group(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let groups = digits.as_bytes()[first..].chunks(3).map(|chunk| String::from_utf8_lossy(chunk).into_owned());
    let head = (first > 0).then(|| digits[..first].to_owned());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
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
    "transmitted",
    "delivered",
    "received",
    "collisions",
    "deferred",
    "queue drops",
    "excessive",
    "other",
    "queued",
];

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
    let mut rows: Vec<_> = results.stations.iter().map(|station| station_row(&station.name, &[station])).collect();
    rows.push(station_row("all", &results.stations.iter().collect::<Vec<_>>()));
    let wrong: Vec<&str> = results.stations.iter().filter(|s| !s.adds_up()).map(|s| s.name.as_str()).collect();
    let verdict = if wrong.is_empty() {
        "it adds up at every station".to_owned()
    } else {
        format!("it does NOT add up at {}: please report this", wrong.join(", "))
    };
    let queued_before: u64 = results.stations.iter().map(|station| station.queued_at_start).sum();
    let before = if queued_before > 0 { format!(" + {} queued before", group(queued_before)) } else { String::new() };
    let table = plain_table(STATION_COLUMNS, rows);
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
    format!(
        "{table}{other}  offered{before} = transmitted + discarded (queue drops, excessive collisions, other) + queued: {verdict}\n\n"
    )
}

fn medium(results: &Results) -> String {
    let medium = &results.medium;
    let mut text = format!(
        "medium\n  utilization        {:.1} % frame, {:.1} % wire, {:.1} % total\n  \
         attempts per frame {:.3}\n  collisions         {} episodes of {:.2} stations\n  \
         fairness           {:.4} (Jain), same winner {:.1} %\n  \
         access delay       {} BT mean, {} BT longest\n  frames after n collisions\n",
        100.0 * medium.utilization_frame,
        100.0 * medium.utilization_wire,
        100.0 * medium.utilization_total,
        medium.attempts_per_frame,
        group(medium.collision_episodes),
        medium.stations_per_collision,
        medium.fairness,
        100.0 * medium.same_winner,
        group(medium.access_delay.mean_bt as u64),
        group(medium.access_delay.max_bt),
    );
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let none = sum("frames_transmitted_ok") - medium.collision_frames.iter().sum::<u64>();
    let counts: Vec<u64> = [none].into_iter().chain(medium.collision_frames.iter().copied()).collect();
    let last = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    for (collisions, &count) in counts[..last].iter().enumerate() {
        text += &histogram_line(&collisions.to_string(), count, &counts);
    }
    let discarded = sum("excessive_collisions");
    if discarded > 0 {
        text += &histogram_line("16", discarded, &counts);
    }
    text + "\n"
}

fn histogram_line(label: &str, count: u64, counts: &[u64]) -> String {
    const WIDTH: u64 = 40;
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let bar = "█".repeat((count * WIDTH).div_ceil(most) as usize);
    format!("  {label:>4} {:>10} {bar}\n", group(count))
}

/// A median lateness that no medium explains: the machine does not keep up.
const FAR_BEHIND: u64 = 1_000_000;

fn emulator(results: &Results) -> String {
    let emulator = &results.emulator;
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let drops = [
        ("ring", emulator.ring_drops),
        ("absent stations", emulator.deliveries_to_absent),
        ("failed deliveries", emulator.delivery_failures),
        ("reports", emulator.reports_skipped),
        ("record", emulator.record_skipped),
        ("event log", emulator.events_skipped),
    ];
    let drops = drops.map(|(name, count)| format!("{name} {}", group(count))).join(", ");
    let oddities = [
        ("stamped at the ring", emulator.stamped_at_ring),
        ("stamps from the future", emulator.future_stamps),
        ("oversized", emulator.oversized),
        ("checksums repaired", emulator.checksums_repaired),
        ("checksums left", emulator.checksums_left),
        ("VLAN tags restored", emulator.vlan_tags_restored),
        ("strays", emulator.strays),
        ("ports lost", emulator.ports_lost),
        ("link changes missed", emulator.link_changes_missed),
    ];
    let oddities: Vec<String> = oddities
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {}", group(*count)))
        .collect();
    let behind = if emulator.lateness_p50_ns > FAR_BEHIND {
        "  this machine is too slow for so many stations or frames: most deliveries came far too late\n"
    } else {
        ""
    };
    let oddities =
        if oddities.is_empty() { String::new() } else { format!("  also          {}\n", oddities.join(", ")) };
    format!(
        "emulator ({})\n  lateness      {:.1} us p50, {:.1} us p99, {:.1} us longest, over {} deliveries\n  \
         late arrivals {}, the latest by {:.1} us\n  drops         {drops}\n{oddities}{behind}",
        emulator.priority,
        micros(emulator.lateness_p50_ns),
        micros(emulator.lateness_p99_ns),
        micros(emulator.lateness_max_ns),
        group(emulator.deliveries),
        group(emulator.late_arrivals),
        micros(emulator.late_arrival_max_ns),
    )
}

/// Tells the user something that is no result, on standard error.
pub fn say(text: &str) {
    // If nobody can be told, what was done stays done: no panic here, as `eprint!` would.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes over the terminal's current line; nothing if standard error is no terminal.
pub fn show(line: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A terminal that is gone is not worth an error.
        let _ = write!(terminal, "\r\x1b[K{line}").and_then(|()| terminal.flush());
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

/// One line for a terminal while the bus runs.
pub fn live_line(results: &Results, elapsed: Duration, duration: Duration) -> String {
    const WIDTH: usize = 20;
    let used = results.medium.utilization_total.clamp(0.0, 1.0);
    let filled = (used * WIDTH as f64).round() as usize;
    let bar = "█".repeat(filled) + &"·".repeat(WIDTH - filled);
    let sum = |counter: &str| results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let queued: Vec<String> = results.stations.iter().take(8).map(|station| station.queued.to_string()).collect();
    let more = if results.stations.len() > queued.len() { " …" } else { "" };
    format!(
        "{:>5.1}/{duration:?} [{bar}] {:>3.0} %  {} frames  {} collisions  {:.2} attempts/frame  queued {}{more}",
        elapsed.as_secs_f64(),
        100.0 * used,
        group(sum("frames_transmitted_ok")),
        group(results.medium.collision_episodes),
        results.medium.attempts_per_frame,
        queued.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let grouped = [0, 7, 999, 1_000, 14_880, 1_234_567].map(group);
        assert_eq!(grouped, ["0", "7", "999", "1,000", "14,880", "1,234,567"]);
    }
}
