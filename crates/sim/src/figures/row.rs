//! Results as one flat row: for CSV, for sweeps and for plots. See docs/results.md.

use crate::figures::delays::DelayResults;
use crate::figures::intervals::BELOW;
use crate::figures::metrics::places;
use crate::figures::results::{Results, SlottedResults, StationResults};
use crate::figures::slotted;
use crate::figures::stacks::Protocol;
use crate::figures::table::{
    ACCESS_DELAY, DELAYS, FIGURES, LONGEST, MAC_DELAY, Metric, NUMBERS, Number, SlottedFigure, TCP_GOODPUT, of_protocol,
};
use medium::Config;
use std::collections::{BTreeMap, BTreeSet};

/// A row's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A measure; it is written with as many digits as bring it back exactly.
    Measure(f64),
    /// There is none, as for an interval of a single sample or the mean of nothing.
    Missing,
}

impl Value {
    /// As a number, if there is one.
    pub fn number(self) -> Option<f64> {
        match self {
            Value::Count(count) => Some(count as f64),
            Value::Measure(measure) => Some(measure),
            Value::Missing => None,
        }
    }
}

impl From<Option<f64>> for Value {
    fn from(measure: Option<f64>) -> Value {
        measure.map_or(Value::Missing, Value::Measure)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Measure(measure) => measure.fmt(f),
            Value::Missing => Ok(()),
        }
    }
}

/// Columns that differ between runs: those of several runs together are the same in every row of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// How many columns of `collision_frames` there are.
    places: usize,
    /// Which figures of slotted media there are.
    slotted: BTreeSet<&'static str>,
    /// What stacks of stations say to each other.
    protocols: BTreeSet<Protocol>,
}

impl Columns {
    /// Those of a run of this medium on which stacks have these protocols.
    pub fn of(config: &Config, protocols: BTreeSet<Protocol>) -> Columns {
        let slotted = slotted::figures(&config.method).map(|figure| figure.name).collect();
        Columns { places: places(config.attempt_limit()), slotted, protocols }
    }

    /// Those that a run gave.
    fn in_results(results: &Results) -> Columns {
        let medium = &results.medium;
        let slotted = medium.slotted.iter().flat_map(SlottedResults::figures).map(|figure| figure.name).collect();
        Columns { places: medium.collision_frames.len(), slotted, protocols: medium.protocols().collect() }
    }

    /// Those of either.
    pub fn and(mut self, other: Columns) -> Columns {
        self.slotted.extend(other.slotted);
        self.protocols.extend(other.protocols);
        Columns { places: self.places.max(other.places), ..self }
    }

    /// The figures of stacks.
    fn stacks(&self) -> impl Iterator<Item = &'static Number<Metric>> {
        self.protocols.iter().flat_map(|protocol| of_protocol(*protocol))
    }

    /// The figures of slotted media, in the order of columns.
    fn slotted(&self) -> impl Iterator<Item = &'static Number<SlottedFigure>> {
        slotted::columns().filter(|figure| self.slotted.contains(figure.name))
    }
}

/// Every figure of a run under its column's name: metrics, their half-widths as `ci95_…`, then each counter summed over
/// the stations. The names and their order are the same for all runs with the same `attempt_limit` and access method.
pub fn columns(results: &Results) -> Vec<(String, Value)> {
    columns_of(results, &Columns::in_results(results))
}

/// The same with these columns: so runs of several access methods have the same, and nothing where a method has no such figure.
pub fn columns_of(results: &Results, there: &Columns) -> Vec<(String, Value)> {
    let medium = &results.medium;
    let mut row = vec![
        ("seed".to_owned(), Value::Count(results.seed)),
        ("stations".to_owned(), Value::Count(results.stations.len() as u64)),
        ("rate_bits_per_second".to_owned(), Value::Count(results.config.rate_bits_per_second)),
        ("longest_distance_bt".to_owned(), Value::Count(results.config.longest_distance_bt)),
        ("measured_bit_times".to_owned(), Value::Count(results.measured_bit_times)),
        ("offered_load".to_owned(), results.config.run.as_ref().and_then(|run| run.offered_load).into()),
        ("collision_episodes".to_owned(), Value::Count(medium.collision_episodes)),
    ];
    row.extend(NUMBERS.iter().map(|number| (number.name.to_owned(), (number.value)(medium).into())));
    for delay in DELAYS {
        let (name, delay) = (delay.name, (delay.of)(medium));
        row.extend(FIGURES.iter().map(|figure| (format!("{name}_{}", figure.name), (figure.value)(delay).into())));
        row.push((format!("{name}_{}", LONGEST.0), delay.max_bt.map_or(Value::Missing, Value::Count)));
    }
    let of_slots = |figure: &Number<SlottedFigure>| medium.slotted.as_ref().and_then(|slotted| (figure.value)(slotted));
    row.extend(there.slotted().map(|figure| (figure.name.to_owned(), of_slots(figure).into())));
    row.extend(there.stacks().map(|number| (number.name.to_owned(), (number.value)(medium).into())));
    let half = |metric: &str, figure: Option<&str>| {
        medium.ci95.as_ref().and_then(|intervals| intervals.half_width(metric, figure)).into()
    };
    row.extend(NUMBERS.iter().map(|number| (format!("ci95_{}", number.name), half(number.name, None))));
    for name in DELAYS.iter().map(|delay| delay.name) {
        let figures = FIGURES.iter().map(|figure| figure.name);
        row.extend(figures.map(|figure| (format!("ci95_{name}_{figure}"), half(name, Some(figure)))));
        let below = format!("mean_bt{BELOW}");
        row.push((format!("ci95_{name}_{below}"), half(name, Some(&below))));
    }
    let estimated = there.stacks().filter(|number| number.name == TCP_GOODPUT);
    row.extend(estimated.map(|number| (format!("ci95_{}", number.name), half(number.name, None))));
    row.extend(there.slotted().map(|figure| (format!("ci95_{}", figure.name), half(figure.name, None))));
    let collision_frames = medium.collision_frames.iter().map(|&count| Value::Count(count));
    let collision_frames = collision_frames.chain(std::iter::repeat(Value::Missing)).take(there.places);
    row.extend((1..).zip(collision_frames).map(|(after, count)| (format!("collision_frames_{after}"), count)));
    let mut counters: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in results.stations.iter().flat_map(|station| &station.counters) {
        *counters.entry(name).or_default() += count;
    }
    row.extend(counters.into_iter().map(|(name, count)| (name.to_owned(), Value::Count(count))));
    row
}

/// Every figure of one station under its column's name: what is in its queue, its delays, and its counters.
pub fn station_columns(station: &StationResults) -> Vec<(String, Value)> {
    let queues = [("queued_at_start", station.queued_at_start), ("queued", station.queued)];
    let mut row: Vec<(String, Value)> =
        queues.into_iter().map(|(name, count)| (name.to_owned(), Value::Count(count))).collect();
    let none = DelayResults::default();
    for (name, delay) in [(ACCESS_DELAY, &station.access_delay), (MAC_DELAY, &station.mac_delay)] {
        let delay = delay.as_ref().unwrap_or(&none);
        row.extend(FIGURES.iter().map(|figure| (format!("{name}_{}", figure.name), (figure.value)(delay).into())));
        row.push((format!("{name}_{}", LONGEST.0), delay.max_bt.map_or(Value::Missing, Value::Count)));
    }
    row.extend(station.counters.iter().map(|(name, count)| (name.clone(), Value::Count(*count))));
    row
}

/// A header and one row for each of `results`.
///
/// # Errors
/// They cannot be written.
pub fn csv<'a>(results: impl IntoIterator<Item = &'a Results>) -> csv::Result<String> {
    let rows = results.into_iter().map(|results| texts(columns(results)).unzip());
    table(rows)
}

/// The same of several buses: the name of each is in the column `bus`, and figures that a bus has not are missing there.
///
/// # Errors
/// They cannot be written.
pub fn csv_of_buses(buses: &BTreeMap<String, Results>) -> csv::Result<String> {
    let there = buses.values().map(Columns::in_results).reduce(Columns::and).unwrap_or_default();
    let rows = buses.iter().map(|(name, results)| {
        let bus = ("bus".to_owned(), name.clone());
        std::iter::once(bus).chain(texts(columns_of(results, &there))).unzip()
    });
    table(rows)
}

fn texts(row: Vec<(String, Value)>) -> impl Iterator<Item = (String, String)> {
    row.into_iter().map(|(name, value)| (name, value.to_string()))
}

/// The names of the first row, and the values of all.
fn table(rows: impl Iterator<Item = (Vec<String>, Vec<String>)>) -> csv::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (number, (names, values)) in rows.enumerate() {
        if number == 0 {
            writer.write_record(names)?;
        }
        writer.write_record(values)?;
    }
    let octets = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&octets).into_owned())
}
