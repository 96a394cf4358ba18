//! `ethbus sweep` and `ethbus merge`: a grid of runs into one table.

use super::sim::{DEFAULT_SEED, unobserved};
use super::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run};
use crate::cli::args::{MergeArgs, SweepArgs};
use crate::show::{progress, say};
use crate::study::sweep::grid::Grid;
use crate::study::sweep::manifest::{Manifest, Shard};
use crate::study::sweep::merge::STANDARD_OUTPUT;
use crate::study::sweep::output::{Output, TableError, line};
use crate::study::sweep::{again, environment};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use medium::BitTimes;
use sim::figures::row::{Value, columns_with};
use sim::files::output::{PARQUET, TABLE, create, ready};
use sim::run::measure::{Measured, results, run};
use sim::run::pool::{self, Stop};
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::settings::overrides::dotted_key;
use sim::words::units::{self, group, many};
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// Runs a grid, or what is left of it.
///
/// # Errors
/// A grid that makes no sense anywhere, a table that is of another grid or cannot be written, a run that fails.
pub fn sweep(args: &SweepArgs) -> Outcome {
    check_parquet(args.parquet.as_deref())?;
    let options = options(args);
    let given: Vec<(&str, &str)> = options.iter().map(|(option, key, _)| (key.as_str(), option.as_str())).collect();
    let (shard, learned) = shard(args.shard.as_deref())?;
    let args = &SweepArgs { out: again::named(&args.out, shard), ..args.clone() };
    let overrides = Overrides::of(args.run.given())?;
    let grid = Grid::read(args.scenario.as_deref(), &overrides, &given, &args.set, &args.seeds, DEFAULT_SEED)?;
    let checked = grid.check()?;
    checked.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    let texts: Vec<(&str, String)> = options.iter().map(|(option, _, text)| (option.as_str(), text.clone())).collect();
    let manifest = Manifest::new(&grid, &texts, args.timing, shard);
    if let Some(whom) = learned {
        say(&format!("ethbus: this is shard {shard}, as told by {whom}\n"));
    }
    args.parquet.iter().try_for_each(|path| ready(path, PARQUET)).map_err(TableError::from)?;
    let (output, mut todo) = open(args, &grid, manifest)?;
    let cost = |run: u64| checked.costs[grid.place(run).0 as usize];
    if !is_stream(&args.out) {
        // The longest first, so that no core is left alone with one at the end.
        todo.sort_by(|one, other| cost(*other).total_cmp(&cost(*one)));
    }
    let interrupts = interrupts_of_a_run()?;
    let places = checked.collision_places;
    let sweep = Sweep { grid: &grid, timing: args.timing, places, interrupts: &interrupts };
    let jobs = args.jobs.map_or_else(pool::processors, usize::from);
    let (begin, before) = (Instant::now(), output.kept());
    let output = sweep.all(&todo, cost, jobs, output)?;
    let (kept, runs) = (output.kept(), before + todo.len() as u64);
    output.finish()?;
    if kept < runs {
        let (kept, runs, place) = (group(kept), many(runs, "run"), args.out.display());
        let next = if is_stream(&args.out) { "" } else { "; the same command goes on from there" };
        say(&format!("ethbus: interrupted: {kept} of {runs} done: {place}{next}\n"));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    args.parquet.as_deref().map_or(Ok(()), |path| write_parquet(&args.out, path))?;
    let there = if before > 0 { format!(", {} were there", group(before)) } else { String::new() };
    let (done, took) = (many(runs - before, "run"), begin.elapsed().as_secs_f64());
    say(&format!("ethbus: {done} in {took:.1} s{there}: {}\n", args.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// Which part of the grid is run, and whom that was learned from.
fn shard(text: Option<&str>) -> Result<(Shard, Option<String>), PlanError> {
    let variable = |name: &str| std::env::var(name).ok();
    let shard = text.map_or(Ok((Shard::WHOLE, None)), |text| environment::shard(text, variable));
    shard.map_err(|what| PlanError::option("--shard", what))
}

/// Puts shards together.
///
/// # Errors
/// Shards that do not make a whole, a file that cannot be read or written.
pub fn merge(args: &MergeArgs) -> Outcome {
    check_parquet(args.parquet.as_deref())?;
    if args.parquet.is_some() && args.out == Path::new(STANDARD_OUTPUT) {
        return Err(PlanError::option("--parquet", "it needs a file: write one to --out".to_owned()).into());
    }
    args.parquet.iter().try_for_each(|path| ready(path, PARQUET)).map_err(TableError::from)?;
    let runs = crate::study::sweep::merge::merge(&args.out, &args.shards).map_err(|error| match error {
        TableError::File { what: "write", path, source } if path == Path::new(STANDARD_OUTPUT) => {
            CommandError::Output(source)
        }
        error => error.into(),
    })?;
    args.parquet.as_deref().map_or(Ok(()), |path| write_parquet(&args.out, path))?;
    say(&format!("ethbus: {}: {}\n", many(runs, "run"), args.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// What options say over the scenario: each with its key and its value.
fn options(args: &SweepArgs) -> Vec<(String, String, String)> {
    let option = |(long, value): (&str, &str)| (format!("--{long}"), dotted_key(long), in_manifest(long, value));
    args.run.given().map(option).collect()
}

/// A value as manifests have it, so that `10M` is the same as `10Mbit/s`.
fn in_manifest(long: &str, value: &str) -> String {
    let plain = match long {
        "rate" => units::rate(value).map(|rate| rate.to_string()),
        "duration" | "warmup" => units::run_time(value).map(|time| time.to_string()),
        _ => Ok(value.to_owned()),
    };
    plain.unwrap_or_else(|_| value.to_owned())
}

/// Rows can only be added, not read again.
fn is_stream(out: &Path) -> bool {
    out == Path::new("-") || std::fs::metadata(out).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// The table, and the runs that are still to be done.
fn open(args: &SweepArgs, grid: &Grid, manifest: Manifest) -> Result<(Output, Vec<u64>), CommandError> {
    let shard = manifest.shard;
    let runs = (0..grid.runs()).filter(|&run| shard.has(run));
    if !is_stream(&args.out) {
        let (output, done) = Output::file(&args.out, manifest)?;
        let done: std::collections::HashSet<u64> = done.into_iter().collect();
        return Ok((output, runs.filter(|run| !done.contains(run)).collect()));
    }
    let needs_file = [("--shard", args.shard.is_some()), ("--parquet", args.parquet.is_some())];
    if let Some((option, _)) = needs_file.iter().find(|(_, given)| *given) {
        return Err(PlanError::option(option, "it needs a file: write one to --out".to_owned()).into());
    }
    let (file, place) = if args.out == Path::new("-") {
        (std::io::stdout().as_fd().try_clone_to_owned().map(File::from), "standard output".to_owned())
    } else {
        let file = create(&args.out, TABLE).map_err(TableError::from)?;
        (Ok(file), args.out.display().to_string())
    };
    let file = file.map_err(|source| TableError::File { what: "open", path: args.out.clone(), source })?;
    Ok((Output::stream(file, place, runs.clone()), runs.collect()))
}

/// What every thread of a sweep knows.
struct Sweep<'a> {
    grid: &'a Grid,
    timing: bool,
    /// Columns of `collision_frames`: the same in every row.
    places: usize,
    interrupts: &'a Receiver<Signal>,
}

const NO_PANIC: &str = "no thread panics: a panic ends the process";

impl Sweep<'_> {
    /// Runs `todo`, a fixed number at a time, until all are done or there is an interrupt.
    fn all(
        &self,
        todo: &[u64],
        cost: impl Fn(u64) -> f64 + Sync,
        jobs: usize,
        output: Output,
    ) -> Result<Output, CommandError> {
        let whole: f64 = todo.iter().map(|&run| cost(run)).sum();
        let bar = Mutex::new((progress("sweeping", whole), 0.0));
        let output = Mutex::new(output);
        let one = |number: usize, stop: &Stop| {
            let (run, mut before) = (todo[number], 0.0);
            let told = |part: f64| {
                let mut bar = bar.lock().expect(NO_PANIC);
                bar.1 += (part - before) * cost(run);
                before = part;
                (bar.0)(bar.1.min(0.999 * whole));
                !stop.is_set() && self.interrupts.is_empty()
            };
            let Some((header, row)) = self.one(run, told)? else { return Ok(None) };
            output.lock().expect(NO_PANIC).row(run, &header, row)?;
            Ok::<_, CommandError>(Some(()))
        };
        let done = pool::run(todo.len(), jobs, one);
        // Takes the bar away.
        (bar.into_inner().expect(NO_PANIC).0)(whole.max(1.0));
        done?;
        Ok(output.into_inner().expect(NO_PANIC))
    }

    /// One run's header and row; nothing if it was stopped.
    fn one(&self, run: u64, mut go_on: impl FnMut(f64) -> bool) -> Result<Option<(String, String)>, CommandError> {
        let plan = self.grid.plan(run)?;
        let mut clock = Clock::new(&plan);
        let measured = self::run(&plan, plan.medium.seed, &mut (), |part| {
            clock.tick(part);
            go_on(part)
        });
        let measured = measured.map_err(unobserved)?;
        Ok(measured.is_done().then(|| self.row(run, &plan, &measured, clock.measured())))
    }

    /// The grid's number, the values of its keys, and every figure.
    fn row(&self, run: u64, plan: &Plan, measured: &Measured, wall: f64) -> (String, String) {
        let figures = columns_with(&results(plan, std::slice::from_ref(measured)), self.places);
        let (mut names, mut values) = (vec!["run".to_owned()], vec![(run + 1).to_string()]);
        let keys = self.grid.axes().iter().map(|axis| axis.key.clone());
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
        let timing = [("wall_s", Value::Measure(wall)), ("frames_per_wall_s", Value::Measure(frames / wall))];
        let timing = timing.into_iter().filter(|_| self.timing).map(|(name, value)| (name.to_owned(), value));
        for (name, value) in figures.into_iter().chain(timing) {
            names.push(name);
            values.push(value.to_string());
        }
        (line(names), line(values))
    }
}

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

#[cfg(feature = "parquet")]
fn check_parquet(_: Option<&Path>) -> Result<(), PlanError> {
    Ok(())
}

#[cfg(feature = "parquet")]
fn write_parquet(table: &Path, path: &Path) -> Result<(), CommandError> {
    crate::study::sweep::parquet::write(table, path)
        .map_err(|source| CommandError::Parquet { path: path.to_owned(), source })
}

#[cfg(not(feature = "parquet"))]
fn check_parquet(path: Option<&Path>) -> Result<(), PlanError> {
    match path {
        None => Ok(()),
        Some(_) => {
            let what = format!("this ethbus was built without it: {}", sim::files::table::BUILD_WITH_PARQUET);
            Err(PlanError::option("--parquet", what))
        }
    }
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Path, _: &Path) -> Result<(), CommandError> {
    unreachable!("check_parquet has refused")
}
