//! `ethbus sim`: the medium in virtual time, measured.

use super::{CommandError, INTERRUPTED, Outcome, interrupts, print, refuse_one_file_for_two};
use crate::cli::args::{RunArgs, SimArgs, SimFormat, Switch};
use crate::show::{progress, say, table};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use medium::{BitInstant, Event, Input};
use sim::figures::results::Results;
use sim::figures::row::csv;
use sim::files::event_log::{EventLog, Header};
use sim::files::json_lines::WriteError;
use sim::files::record::{End, Recorder};
use sim::run::measure::{Measured, RunError, results, run};
use sim::run::simulator::Watch;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::words::units::group;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs a plan in virtual time and tells what it gave.
///
/// # Errors
/// A scenario or options that make no plan, traffic that cannot be had, or a result that cannot be written.
pub fn sim(args: &SimArgs) -> Outcome {
    let overrides = Overrides { seed: args.seed, replications: args.replications, ..overrides(&args.run)? };
    let plan = Plan::read(args.scenario.as_deref(), &overrides, DEFAULT_SEED)?;
    plan.warnings.iter().for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    refuse_one_file_for_two(args.events.as_deref(), args.record.as_deref())?;
    let interrupts = interrupts()?;
    let begin = Instant::now();
    let runs = if plan.run.replications > 1 {
        let file =
            [("--events", &args.events), ("--record", &args.record)].into_iter().find(|(_, path)| path.is_some());
        if let Some((option, _)) = file {
            let what = format!("one file is of one run: leave {option} or --replications out");
            return Err(PlanError::option(option, what).into());
        }
        replicate(&plan, &interrupts)?
    } else {
        vec![once(&plan, args, &interrupts)?]
    };
    let took = begin.elapsed().as_secs_f64();
    let results = results(&plan, &runs);
    if args.timing {
        say(&timing(&results, took));
    }
    let text = match args.format {
        SimFormat::Table => table(&results),
        SimFormat::Json => serde_json::to_string_pretty(&results).expect("numbers and names") + "\n",
        SimFormat::Csv => csv([&results]).map_err(|error| CommandError::Output(error.into()))?,
    };
    print(&text)?;
    if runs.iter().all(|run| run.whole) && runs.len() as u64 == plan.run.replications {
        return Ok(ExitCode::SUCCESS);
    }
    say(&interrupted(&plan, &results));
    Ok(ExitCode::from(INTERRUPTED))
}

/// Seed of a run in virtual time unless said otherwise: the same command gives the same numbers.
pub const DEFAULT_SEED: u64 = 1;

/// What the options of a run say over its scenario.
///
/// # Errors
/// An option whose text makes no sense.
pub fn overrides(args: &RunArgs) -> Result<Overrides, CommandError> {
    Ok(Overrides {
        stations: args.stations,
        rate: args.rate,
        topology: option("--topology", args.topology.as_deref())?,
        arrivals: option("--traffic", args.traffic.as_deref())?,
        sizes: option("--frame-size", args.frame_size.as_deref())?,
        bursting: args.bursting.map(|switch| switch == Switch::On),
        duration: args.duration,
        warmup: args.warmup,
        ..Overrides::default()
    })
}

/// An option's value, or what is wrong with it.
///
/// # Errors
/// A text that makes no sense.
pub fn option<T: FromStr<Err = String>>(name: &str, text: Option<&str>) -> Result<Option<T>, PlanError> {
    text.map(str::parse).transpose().map_err(|what| PlanError::option(name, what))
}

/// Successful frames of the measured time, and the wall time of everything, warm-up included.
fn timing(results: &Results, took: f64) -> String {
    let frames: u64 = results.stations.iter().map(|station| station.counter("frames_transmitted_ok")).sum();
    format!("ethbus: {} frames in {took:.3} s: {} a second\n", group(frames), group((frames as f64 / took) as u64))
}

fn interrupted(plan: &Plan, results: &Results) -> String {
    let measured = results.measured_bit_times as f64 / plan.medium.rate.get() as f64;
    let asked = plan.run.duration.as_secs_f64() * plan.run.replications as f64;
    format!("ethbus: interrupted after {measured:.3} of {asked} s measured; the figures are of that part\n")
}

/// What is kept of a run besides its results.
#[derive(Debug)]
struct Files {
    /// The log; unwritten if only the record needs its digest.
    events: EventLog,
    record: Option<Recorder>,
}

impl Watch for Files {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input) -> Result<(), WriteError> {
        self.record.as_mut().map_or(Ok(()), |record| record.input(at, input, None))
    }

    fn measure(&mut self, at: BitInstant) -> Result<(), WriteError> {
        match &mut self.record {
            Some(record) if at > BitInstant::ZERO => record.restart(before(at), at),
            Some(_) | None => Ok(()),
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.events.event(event)
    }
}

/// The last instant before `at`.
fn before(at: BitInstant) -> BitInstant {
    BitInstant::new(at.get().saturating_sub(1))
}

impl Files {
    fn finish(mut self, end: BitInstant) -> Result<(), WriteError> {
        self.events.flush()?;
        let digest = self.events.digest();
        if let Some(record) = self.record {
            record.finish(End { t: end.get(), run_to: before(end).get() }, Some(digest))?;
        }
        Ok(())
    }
}

fn files(plan: &Plan, args: &SimArgs) -> Result<Option<Files>, WriteError> {
    if args.events.is_none() && args.record.is_none() {
        return Ok(None);
    }
    let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
    let header = Header::new(&plan.name, &plan.medium, &names);
    let scenario: Vec<&Path> = args.scenario.iter().map(PathBuf::as_path).collect();
    let others: Vec<&Path> = args.scenario.iter().chain(&args.events).map(PathBuf::as_path).collect();
    let create = |path: &Path| EventLog::create(path, &scenario, &header);
    Ok(Some(Files {
        events: args.events.as_deref().map_or_else(|| Ok(EventLog::unwritten(&header)), create)?,
        record: args.record.as_deref().map(|path| Recorder::create(path, &others, &header)).transpose()?,
    }))
}

fn once(plan: &Plan, args: &SimArgs, interrupts: &Receiver<Signal>) -> Result<Measured, CommandError> {
    let mut files = files(plan, args)?;
    let bar = progress("simulating", 1.0);
    let measured = run(plan, plan.medium.seed, &mut files, |done| {
        bar(done);
        interrupts.is_empty()
    });
    bar(1.0);
    let measured = measured.map_err(|error| match error {
        RunError::Config(error) => CommandError::Medium(error),
        RunError::Traffic(error) => CommandError::Traffic(error),
        RunError::Watch(error) => CommandError::Write(error),
    })?;
    files.map_or(Ok(()), |files| files.finish(measured.end))?;
    Ok(measured)
}

/// Independent runs on all cores, those that were finished in order of their seeds.
fn replicate(plan: &Plan, interrupts: &Receiver<Signal>) -> Result<Vec<Measured>, CommandError> {
    let (next, done) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let failed = Mutex::new(None);
    let bar = Mutex::new((progress("replications", plan.run.replications as f64), 0.0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.run.replications || !interrupts.is_empty() {
                return;
            }
            let mut before = 0.0;
            let measured =
                run(plan, plan.medium.seed.wrapping_add(number), &mut sim::run::simulator::Unwatched, |part| {
                    let mut bar = bar.lock().expect("no thread panics: a panic ends the process");
                    bar.1 += part - before;
                    before = part;
                    (bar.0)(bar.1);
                    interrupts.is_empty()
                });
            match measured {
                Ok(measured) if measured.whole => {
                    done.lock().expect("no thread panics: a panic ends the process").push((number, measured));
                }
                Ok(_) => return,
                Err(error) => {
                    *failed.lock().expect("no thread panics: a panic ends the process") = Some(error);
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| drop(scope.spawn(work)));
    });
    if let Some(error) = failed.into_inner().expect("no thread panics: a panic ends the process") {
        return Err(unwatched(error));
    }
    let mut runs = done.into_inner().expect("no thread panics: a panic ends the process");
    runs.sort_by_key(|(number, _)| *number);
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Why a run failed that nobody watched.
pub fn unwatched(error: RunError<Infallible>) -> CommandError {
    match error {
        RunError::Config(error) => CommandError::Medium(error),
        RunError::Traffic(error) => CommandError::Traffic(error),
        RunError::Watch(never) => match never {},
    }
}
