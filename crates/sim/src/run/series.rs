//! Metrics over time: one row for each interval of the measured time. See docs/results.md.

use crate::figures::metrics::Delays;
use crate::figures::results::{ConfigResults, Results};
use crate::figures::row::{Columns, Value, columns_of};
use crate::figures::slotted::Slots;
use crate::figures::snapshot::Snapshot;
use crate::files::json_lines::WriteError;
use crate::files::observer::End;
use crate::files::table::{Cell, Column, ColumnKind, TableWriter};
use crate::run::observer::Observer;
use crate::words::configuration::WrittenConfig;
use medium::{BitInstant, BitTimes, Config, Event, Input, Kind, Tally};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Columns of a run's flat row that are the same in every interval.
const CONSTANT: [&str; 5] = ["seed", "stations", "rate_bits_per_second", "longest_distance_bt", "offered_load"];

/// Counts what happens in each interval, and works out every metric of it.
#[derive(Debug)]
pub struct Series {
    interval: BitTimes,
    /// The present interval.
    from: BitInstant,
    to: BitInstant,
    config: ConfigResults,
    columns: Columns,
    rate: f64,
    names: Vec<String>,
    tally: Tally,
    delays: Delays,
    /// Of a slotted medium.
    slots: Option<Slots>,
    /// Frames in the transmit queues as the interval began, and now.
    queued_before: Vec<u64>,
    queued: Vec<u64>,
}

/// A [`Series`] that is written to a table.
#[derive(Debug)]
pub struct SeriesTable {
    series: Series,
    table: TableWriter,
}

impl Series {
    /// Counts on a medium made from `config` with these stations, from `begin` on.
    pub fn new(config: &Config, names: Vec<String>, begin: BitInstant, interval: BitTimes) -> Series {
        let interval = interval.max(BitTimes::new(1));
        let stations = names.len();
        Series {
            interval,
            from: begin,
            to: begin + interval,
            config: ConfigResults::new(&WrittenConfig::from(config), ""),
            columns: Columns::of(config, BTreeSet::new()),
            rate: config.rate.get() as f64,
            names,
            tally: Tally::new(stations, config.attempt_limit()),
            delays: Delays::default(),
            slots: Slots::of(config),
            queued_before: vec![0; stations],
            queued: vec![0; stations],
        }
    }

    /// The same with the columns of a table that has other runs too.
    #[must_use]
    pub fn with_columns(self, columns: Columns) -> Series {
        Series { columns, ..self }
    }

    /// The table's columns.
    pub fn columns(&self) -> Vec<Column> {
        let kind = |value: &Value| match value {
            Value::Count(_) => ColumnKind::Count,
            Value::Measure(_) | Value::Missing => ColumnKind::Measure,
        };
        // An interval in which nothing happened lacks values whose kind does not show.
        let count = |name: &str| name.ends_with("max_bt") || name.starts_with("collision_frames_");
        let of = |(name, value): &(String, Value)| {
            Column::new(name.clone(), if count(name) { ColumnKind::Count } else { kind(value) })
        };
        self.row(self.to).iter().map(of).collect()
    }

    /// The interval up to `to`, in columns.
    fn row(&self, to: BitInstant) -> Vec<(String, Value)> {
        let seconds = |at: BitInstant| Value::Measure(at.get() as f64 / self.rate);
        let stations = self.names.len();
        let snapshot = Snapshot {
            tally: self.tally.clone(),
            measured: to.since(self.from),
            queued_at_start: self.queued_before.clone(),
            queued: self.queued.clone(),
            attached: vec![true; stations],
            faults: vec![None; stations],
            cut: None,
            delays: self.delays.packed().figures(),
            station_delays: Vec::new(),
            longest_frame: 0,
            contention: self.delays.contention().clone(),
            plca: None,
            emulator: None,
            plan: None,
        };
        let mut results = Results::new(self.config.clone(), 0, &self.names, &snapshot);
        results.medium.slotted = self.slots.clone().map(|mut slots| slots.take(to).results());
        let varies = |(name, _): &(String, Value)| !CONSTANT.contains(&name.as_str()) && !name.starts_with("ci95_");
        let ends = [("from_s", seconds(self.from)), ("to_s", seconds(to))];
        let queued = [("queued", Value::Count(self.queued.iter().sum()))];
        let named = ends.into_iter().chain(queued).map(|(name, value)| (name.to_owned(), value));
        named.chain(columns_of(&results, &self.columns).into_iter().filter(varies)).collect()
    }

    /// Ends the interval at `at` and begins the next.
    fn next(&mut self, at: BitInstant) {
        (self.from, self.to) = (at, at + self.interval);
        self.tally.restart();
        self.delays.restart();
        self.slots.as_mut().into_iter().for_each(|slots| slots.restart(at));
        self.queued_before.clone_from(&self.queued);
    }

    fn count(&mut self, event: &Event) {
        self.tally.record(event);
        self.delays.record(event);
        self.slots.iter_mut().for_each(|slots| slots.record(event));
        let queued = &mut self.queued[event.frame.station.index()];
        if matches!(event.kind, Kind::Offered { .. }) {
            *queued += 1;
        } else if matches!(event.kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop) {
            *queued -= 1;
        }
    }
}

impl SeriesTable {
    /// Writes the rows of `series` to a table that `open` begins.
    ///
    /// # Errors
    /// It cannot be begun.
    pub fn new(
        series: Series,
        open: impl FnOnce(&[Column]) -> Result<TableWriter, WriteError>,
    ) -> Result<SeriesTable, WriteError> {
        let table = open(&series.columns())?;
        Ok(SeriesTable { series, table })
    }

    fn end_interval(&mut self, at: BitInstant) -> Result<(), WriteError> {
        let row = self.series.row(at);
        self.table.row(row.iter().map(|(_, value)| match value {
            Value::Count(count) => Cell::Count(*count),
            Value::Measure(measure) => Cell::Measure(*measure),
            Value::Missing => Cell::Missing,
        }))?;
        self.series.next(at);
        Ok(())
    }
}

impl Observer for SeriesTable {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        self.series.slots.iter_mut().for_each(|slots| slots.input(at, input));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        while event.at >= self.series.to {
            self.end_interval(self.series.to)?;
        }
        self.series.count(event);
        Ok(())
    }

    fn restart(&mut self, _: BitInstant, at: BitInstant) -> Result<(), WriteError> {
        self.series.next(at);
        Ok(())
    }

    /// The last interval is shorter where the measured time is no multiple of it.
    fn end(&mut self, end: End) -> Result<(), WriteError> {
        let end = BitInstant::new(end.t);
        while self.series.to <= end {
            self.end_interval(self.series.to)?;
        }
        if self.series.from < end {
            self.end_interval(end)?;
        }
        self.table.finish()
    }
}
