//! The runs of a sweep: each becomes a row, side by side with others.

use super::super::CommandError;
use super::super::sim::{observed, unobserved};
use super::tables::Tables;
use crossbeam_channel::Receiver;
use link::signals::Signal;
use medium::BitTimes;
use say::{progress, wall_time};
use sim::figures::results::Results;
use sim::figures::row::{Columns, Value, columns_of};
use sim::run::measure::{results, run};
use sim::run::pool::{self, Stop};
use sim::scenario::plan::Plan;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use study::sweep::enough::{Values, value};
use study::sweep::further::Further;
use study::sweep::grid::Grid;
use study::sweep::journal::Journal;
use study::sweep::lines::line;
use study::sweep::output::{Output, TableError};

/// What every thread of a sweep knows.
pub struct Sweep<'a> {
    pub grid: &'a Grid,
    pub timing: bool,
    /// The longest that a run may take.
    pub limit: Option<Duration>,
    /// The same in every row.
    pub columns: Columns,
    /// What is written beside rows.
    pub tables: Option<Tables>,
    pub interrupts: &'a Receiver<Signal>,
}

/// Where rows go.
pub struct Sink {
    pub output: Output,
    pub journal: Option<Journal>,
    /// Runs without a row, and why.
    pub failed: Vec<(u64, String)>,
    /// Where seeds are added: the metric, and what it was.
    pub seen: Option<(String, Values)>,
}

impl Sink {
    fn take(&mut self, run: u64, ended: Ended, seconds: f64) -> Result<(), TableError> {
        match ended {
            Ended::Row { header, row, further } => {
                if let Some((metric, seen)) = &mut self.seen {
                    let value =
                        value(&header, &row, metric).ok_or_else(|| TableError::Until { metric: metric.clone() })?;
                    seen.insert(run, value);
                }
                self.output.row(run, &header, row.clone(), further)?;
                self.journal.as_mut().map_or(Ok(()), |journal| journal.done(run, seconds, &row))
            }
            Ended::Failed(why) => {
                self.output.failed(run)?;
                if let Some((_, seen)) = &mut self.seen {
                    seen.insert(run, None);
                }
                self.journal.as_mut().map_or(Ok(()), |journal| journal.failed(run, &why))?;
                self.failed.push((run, why));
                Ok(())
            }
        }
    }
}

/// How a run ended that was not interrupted.
pub enum Ended {
    Row { header: String, row: String, further: Further },
    Failed(String),
}

const NO_PANIC: &str = "no thread panics: a panic ends the process";

impl Sweep<'_> {
    /// Runs `todo`, a fixed number at a time, until all are done or there is an interrupt.
    pub fn all(
        &self,
        todo: &[u64],
        cost: impl Fn(u64) -> f64 + Sync,
        jobs: usize,
        sink: Sink,
    ) -> Result<Sink, CommandError> {
        let whole: f64 = todo.iter().map(|&run| cost(run)).sum();
        let bar = Mutex::new((progress("sweeping", whole), 0.0));
        let sink = Mutex::new(sink);
        let one = |number: usize, stop: &Stop| {
            let (run, mut before, begin) = (todo[number], 0.0, Instant::now());
            let told = |part: f64| {
                let mut bar = bar.lock().expect(NO_PANIC);
                bar.1 += (part - before) * cost(run);
                before = part;
                (bar.0)(bar.1.min(0.999 * whole));
                !stop.is_set() && self.interrupts.is_empty()
            };
            let Some(ended) = self.one(run, told)? else { return Ok(None) };
            sink.lock().expect(NO_PANIC).take(run, ended, begin.elapsed().as_secs_f64())?;
            Ok::<_, CommandError>(Some(()))
        };
        let done = pool::run(todo.len(), jobs, one);
        // Takes the bar away.
        (bar.into_inner().expect(NO_PANIC).0)(whole.max(1.0));
        done?;
        Ok(sink.into_inner().expect(NO_PANIC))
    }

    /// How one run ended; nothing if it was stopped.
    pub fn one(&self, run: u64, mut go_on: impl FnMut(f64) -> bool) -> Result<Option<Ended>, CommandError> {
        let plan = self.grid.plan(run)?;
        let (mut clock, begin, mut late) = (Clock::new(&plan), Instant::now(), None);
        let go_on = |part| {
            clock.tick(part);
            late = self.limit.filter(|limit| part < 1.0 && begin.elapsed() > *limit).map(|_| part);
            late.is_none() && go_on(part)
        };
        let (measured, mut further) = match &self.tables {
            None => (self::run(&plan, plan.medium.seed, &mut (), go_on).map_err(unobserved)?, Further::default()),
            Some(tables) => {
                let (mut observers, further) = tables.begin(&plan, run)?;
                let measured = observed(&plan, &mut observers, go_on)?.map_err(CommandError::Write)?;
                (measured, further)
            }
        };
        if let Some((limit, part)) = self.limit.zip(late) {
            let (limit, done) = (wall_time(limit), 100.0 * part);
            return Ok(Some(Ended::Failed(format!("not done after {limit} (--time-limit): {done:.0} % of it"))));
        }
        Ok(measured.is_done().then(|| {
            let results = results(&plan, std::slice::from_ref(&measured));
            further.stations = self.tables.as_ref().and_then(|tables| tables.stations(run, &results));
            let (header, row) = self.row(run, &results, clock.measured());
            Ended::Row { header, row, further }
        }))
    }

    /// The grid's number, the values of its keys, and every figure.
    fn row(&self, run: u64, results: &Results, wall: f64) -> (String, String) {
        let figures = columns_of(results, &self.columns);
        let (mut names, mut values) = (vec!["run".to_owned()], vec![(run + 1).to_string()]);
        let keys = self.grid.keys().into_iter().map(str::to_owned);
        let point = self.grid.values_at(self.grid.place(run).0);
        for (key, value) in keys.zip(point) {
            // `stations` is a figure too, and its number the same.
            if figures.iter().all(|(name, _)| *name != key) {
                names.push(key);
                values.push(value.to_owned());
            }
        }
        let frames = figures.iter().find(|(name, _)| name == "frames_transmitted_ok");
        let frames = frames.and_then(|(_, value)| value.number()).unwrap_or_default();
        let timing = TIMING.into_iter().zip([wall, frames / wall].map(Value::Measure));
        let timing = timing.filter(|_| self.timing).map(|(name, value)| (name.to_owned(), value));
        for (name, value) in figures.into_iter().chain(timing) {
            names.push(name);
            values.push(value.to_string());
        }
        (line(names), line(values))
    }
}

/// The columns of `--timing`, which differ each time.
pub const TIMING: [&str; 2] = ["wall_s", "frames_per_wall_s"];

/// Wall-clock time of the measured part of a run.
struct Clock {
    /// The part of the run that is not measured.
    warmup: f64,
    begin: Instant,
    end: Instant,
}

impl Clock {
    fn new(plan: &Plan) -> Clock {
        let bits = |span| BitTimes::within(span, plan.medium.rate).get();
        let (warmup, duration, now) = (bits(plan.run.warmup), bits(plan.run.duration), Instant::now());
        Clock { warmup: warmup as f64 / (warmup + duration) as f64, begin: now, end: now }
    }

    fn tick(&mut self, part: f64) {
        self.end = Instant::now();
        if part <= self.warmup {
            self.begin = self.end;
        }
    }

    fn measured(&self) -> f64 {
        (self.end - self.begin).as_secs_f64()
    }
}
