//! `ethbus sim`: the medium in virtual time, measured.

mod bridged;

use super::watch;
use super::{CommandError, INTERRUPTED, Outcome, interrupts_of_a_run, print, refuse_one_file_for_two};
use crate::cli::args::{SimArgs, SimFormat};
use crate::cli::traces;
use crate::cli::windows::{self, WindowFiles, named};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use medium::{BitInstant, BitTimes};
use say::terminal::in_locale;
use say::{progress, say, table};
use sim::figures::results::Results;
use sim::figures::results::{RanAway, UntilResults};
use sim::figures::row::csv;
use sim::files::event_log::{EventLog, Header};
use sim::files::json_lines::WriteError;
use sim::files::output::STDOUT;
use sim::files::table::{BUILD_WITH_PARQUET, TableWriter, lacks_parquet};
use sim::run::frames::FrameTable;
use sim::run::measure::{Measured, RunError, results, run};
use sim::run::observer::{Both, Observer};
use sim::run::pool::{self, Stop};
use sim::run::series::{Series, SeriesTable};
use sim::scenario::plan::bridged::Planned;
use sim::scenario::plan::{Overrides, Plan, PlanError};
use sim::settings::overrides::Written;
use sim::windows::Trailing;
use sim::windows::{Known, WindowsBeside};
use sim::words::units::{group, many};
use std::convert::Infallible;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;
use study::runaway::warnings;

/// Runs a plan in virtual time and tells what it gave.
///
/// # Errors
/// A scenario or options that make no plan, traffic that cannot be had, or a result that cannot be written.
pub fn sim(args: &SimArgs) -> Outcome {
    let overrides = Overrides::of(args.run.given())?;
    let plan = match Planned::read(args.file.scenario.as_deref(), &overrides, DEFAULT_SEED)? {
        Planned::One(plan) => *plan,
        Planned::Several(bridged) => return bridged::sim(&bridged, args),
    };
    warnings(&plan).for_each(|warning| say(&format!("ethbus: warning: {warning}\n")));
    check_files(args, plan.run.replications)?;
    let interrupts = interrupts_of_a_run()?;
    let begin = Instant::now();
    let runs = match plan.run.replications {
        1 => vec![once(&plan, args, &interrupts)?],
        _ => replicate(&plan, args, &interrupts)?,
    };
    let took = begin.elapsed().as_secs_f64();
    let results = results(&plan, &runs);
    if args.timing.timing {
        say(&timing([&results], took));
    }
    // The series was printed instead, unless it has a file.
    if args.over_time.series.is_none() || args.series_out.is_some() {
        let text = match args.tabled.format {
            SimFormat::Table => in_locale(table(&results)),
            SimFormat::Json => serde_json::to_string_pretty(&results).expect("numbers and names") + "\n",
            SimFormat::Csv => csv([&results]).map_err(|error| CommandError::Output(error.into()))?,
        };
        print(&text)?;
    }
    let whole = runs.iter().all(Measured::is_done);
    if let Some(until) = results.config.run.as_ref().and_then(|run| run.until.as_ref()).filter(|_| whole) {
        say(&format!("ethbus: {}\n", ended(until, &plan, &results)));
    }
    ran_away(&plan, &results, &runs).iter().for_each(|text| say(text));
    if whole && runs.len() as u64 == plan.run.replications {
        return Ok(ExitCode::SUCCESS);
    }
    let (how, code) = match args.drawn.watch {
        // A user who leaves the view has seen enough.
        true => ("the view was left", ExitCode::SUCCESS),
        false => ("interrupted", ExitCode::from(INTERRUPTED)),
    };
    say(&ended_early(how, &plan, &results));
    Ok(code)
}

/// The files that the options name.
fn outputs(args: &SimArgs) -> Vec<(&'static str, Option<&Path>)> {
    let capture = named(&args.windows);
    let printed = args.over_time.series.is_some() && args.series_out.is_none();
    let others = [
        ("--frames", args.frames.as_deref()),
        ("--series-out", args.series_out.as_deref()),
        ("--series", printed.then(|| Path::new(STDOUT))),
    ];
    std::iter::once(capture).chain(args.traces.named()).chain(others).collect()
}

/// What can be wrong with files before one is made.
fn check_files(args: &SimArgs, replications: u64) -> Result<(), CommandError> {
    refuse_one_file_for_two(&outputs(args))?;
    refuse_parquet(args)?;
    let files = outputs(args).into_iter().map(|(option, path)| (option, path.is_some()));
    let mut files =
        [("--watch", args.drawn.watch), ("--series", args.over_time.series.is_some())].into_iter().chain(files);
    match files.find(|(_, given)| *given) {
        Some((option, _)) if replications > 1 => {
            let what = format!("one file is of one run: leave {option} or --replications out");
            Err(PlanError::option(option, what).into())
        }
        _ => Ok(()),
    }
}

fn refuse_parquet(args: &SimArgs) -> Result<(), PlanError> {
    let tables = [("--frames", &args.frames), ("--series-out", &args.series_out)];
    let Some((option, _)) = tables.into_iter().find(|(_, path)| path.as_deref().is_some_and(lacks_parquet)) else {
        return Ok(());
    };
    let what = format!("this ethbus writes no Parquet: write a .csv file, or {BUILD_WITH_PARQUET}");
    Err(PlanError::option(option, what))
}

/// Seed of a run in virtual time unless said otherwise: the same command gives the same numbers.
pub const DEFAULT_SEED: u64 = 1;

/// Successful frames of the measured time, and the wall time of everything, warm-up included.
fn timing<'a>(buses: impl IntoIterator<Item = &'a Results>, took: f64) -> String {
    let stations = buses.into_iter().flat_map(|results| &results.stations);
    let frames: u64 = stations.map(|station| station.counter("frames_transmitted_ok")).sum();
    format!("ethbus: {} in {took:.3} s: {} a second\n", many(frames, "frame"), group((frames as f64 / took) as u64))
}

/// Why a run ended that was to know a metric well.
fn ended(until: &UntilResults, plan: &Plan, results: &Results) -> String {
    let UntilResults { metric, asked, half_width, reached } = until;
    let measured = results.measured_bit_times as f64 / plan.medium.rate.get() as f64;
    let percent = |part: f64| format!("{:.3}", 100.0 * part).trim_end_matches('0').trim_end_matches('.').to_owned();
    let known = match half_width {
        Some(part) => format!("{metric} is known to ±{} %", percent(*part)),
        None => format!("{metric} has no interval, or is 0"),
    };
    match reached {
        true => {
            format!("ended after {measured:.3} s measured: {known}, and ±{} % was asked for", percent(*asked))
        }
        false => format!(
            "ended after {measured:.3} s measured, since --duration was over: {known}, not to ±{} %; write a longer one",
            percent(*asked)
        ),
    }
}

/// When infinitely many users ran away, or that they did not.
fn ran_away(plan: &Plan, results: &Results, runs: &[Measured]) -> Option<String> {
    let told = results.medium.slotted.as_ref().and_then(|it| it.ran_away.as_ref());
    let Some(RanAway { unstable_backlog, slots }) = told else {
        let text = "ethbus: the users have not run away: write a longer --duration\n";
        return plan.run.until_collapse().then(|| text.to_owned());
    };
    let above = match unstable_backlog {
        0 => "from the first frame on that was to be sent again, more came than got through".to_owned(),
        1 => "above 1 frame was backlogged, and from there on more come than get through".to_owned(),
        more => format!("above {} frames were backlogged, and from there on more come than get through", group(*more)),
    };
    let in_warmup = runs.iter().any(|run| run.ran_away_in_warmup(plan));
    let stopped = match (plan.run.until_collapse(), in_warmup) {
        (true, _) => "",
        (false, true) => "; that was in the warm-up, so the figures are of the time from 0 s until the run was stopped",
        (false, false) => "; the figures are of the time before the run was stopped",
    };
    Some(match slots[..] {
        [slot] if runs.len() == 1 => format!("ethbus: ran away at slot {}: {above}{stopped}\n", group(slot)),
        _ => format!("ethbus: {} of {} ran away: {above}{stopped}\n", slots.len(), many(runs.len() as u64, "run")),
    })
}

fn ended_early(how: &str, plan: &Plan, results: &Results) -> String {
    let measured = results.measured_bit_times as f64 / plan.medium.rate.get() as f64;
    let asked = plan.run.duration.as_secs_f64() * plan.run.replications as f64;
    format!("ethbus: {how} after {measured:.3} of {asked} s measured; the figures are of that part\n")
}

/// All observers of a run from the command line.
type Observers = Both<Vec<EventLog>, Both<Option<WindowsBeside>, Both<Option<FrameTable>, Option<SeriesTable>>>>;

/// The files that the options name, no two of them the same; nothing if they name none.
fn observers(plan: &Plan, args: &SimArgs) -> Result<Option<(Observers, Vec<Trailing>)>, CommandError> {
    let [scenario, frames, series] = [&args.file.scenario, &args.frames, &args.series_out].map(Option::as_deref);
    // Those before each output.
    let of_traces: Vec<&Path> = scenario.into_iter().collect();
    let of_frames: Vec<&Path> = of_traces.iter().copied().chain(args.traces.paths()).collect();
    let of_series: Vec<&Path> = of_frames.iter().copied().chain(frames).collect();
    let of_windows: Vec<&Path> = of_series.iter().copied().chain(series).collect();
    let files = windows::open(&args.windows, &of_windows)?;
    let others = [!args.traces.is_empty(), frames.is_some(), args.over_time.series.is_some()];
    if files.is_empty() && !others.contains(&true) {
        return Ok(None);
    }
    let names = plan.all_names();
    let scenario = plan.written.as_ref().map(Written::text);
    let header = Header::new(&plan.name, &plan.medium, &plan.station_names()).of_scenario(scenario);
    let (windows, trailing) = open_windows(plan, &header, files)?;
    let traces = traces::create(&args.traces, &of_traces, &header)?;
    let begin = BitInstant::ZERO + BitTimes::within(plan.run.warmup, plan.medium.rate);
    let frames = frames.map(|path| FrameTable::create(path, &of_frames, names.clone(), begin));
    let frames = frames.transpose()?;
    let series = args.over_time.series.map(|interval| {
        let interval = BitTimes::within(interval, plan.medium.rate);
        SeriesTable::new(Series::new(&plan.medium, names, begin, interval), |columns| match &args.series_out {
            Some(path) => TableWriter::create(path, &of_series, columns),
            None => TableWriter::create(Path::new(STDOUT), &[], columns),
        })
    });
    Ok(Some((Both(traces, Both(windows, Both(frames, series.transpose()?))), trailing)))
}

/// The windows on a run, if there are any, made beside it.
pub(super) fn open_windows(
    plan: &Plan,
    header: &Header,
    files: WindowFiles,
) -> Result<(Option<WindowsBeside>, Vec<Trailing>), WriteError> {
    let macs = plan.stations.iter().map(|station| station.mac.octets());
    let (windows, trailing) = files.begin(&Known::of(header.clone()).with_macs(macs))?;
    Ok(((!windows.0.is_empty()).then(|| windows.on_a_thread()), trailing))
}

/// One run beside its observers, if it has some.
fn once(plan: &Plan, args: &SimArgs, interrupts: &Receiver<Signal>) -> Result<Measured, CommandError> {
    if args.drawn.watch {
        return watched(plan, args, interrupts);
    }
    let (mut observers, trailing) = observers(plan, args)?.unzip();
    let measured = with_progress(plan, &mut observers, interrupts)?;
    drop(observers);
    // A file that could not be written any further is what was wrong with the pipe to it.
    windows::finish(trailing.unwrap_or_default())?;
    measured.map_err(CommandError::Write)
}

/// One run beside its live view, which it waits for.
fn watched(plan: &Plan, args: &SimArgs, interrupts: &Receiver<Signal>) -> Result<Measured, CommandError> {
    let names = plan.station_names();
    let header = Header::new(&plan.name, &plan.medium, &names);
    let title = format!("{} seed {}", plan.name, plan.medium.seed);
    watch::beside(&header, title.trim(), interrupts, |feeder, stop| {
        let (files, trailing) = observers(plan, args)?.unzip();
        let mut observers = Both(files, feeder);
        let measured = observed(plan, &mut observers, |_| !stop.load(Ordering::Relaxed))?;
        drop(observers);
        windows::finish(trailing.unwrap_or_default())?;
        measured.map_err(CommandError::Write)
    })?
}

fn with_progress<O: Observer>(
    plan: &Plan,
    observer: &mut O,
    interrupts: &Receiver<Signal>,
) -> Result<Result<Measured, O::Error>, CommandError> {
    let bar = progress("simulating", 1.0);
    let measured = observed(plan, observer, |done| {
        bar(done);
        interrupts.is_empty()
    });
    bar(1.0);
    measured
}

/// One run; the inner error is the observer's.
pub fn observed<O: Observer>(
    plan: &Plan,
    observer: &mut O,
    go_on: impl FnMut(f64) -> bool,
) -> Result<Result<Measured, O::Error>, CommandError> {
    match run(plan, plan.medium.seed, observer, go_on) {
        Ok(measured) => Ok(Ok(measured)),
        Err(RunError::Config(error)) => Err(CommandError::Medium(error)),
        Err(RunError::Traffic(error)) => Err(CommandError::Traffic(error)),
        Err(RunError::Observer(error)) => Ok(Err(error)),
    }
}

fn replicate(plan: &Plan, args: &SimArgs, interrupts: &Receiver<Signal>) -> Result<Vec<Measured>, CommandError> {
    replicas(plan.run.replications, args, interrupts, |number, go_on| {
        let seed = plan.medium.seed.wrapping_add(number);
        Ok(Some(run(plan, seed, &mut (), go_on).map_err(unobserved)?).filter(Measured::is_done))
    })
}

/// Gets the part of a run that is done, and says whether to continue.
type GoOn<'a> = &'a mut (dyn FnMut(f64) -> bool + Send);

/// Independent runs on all cores; returns the finished ones in order of their seeds. `one` gives `None` if it was stopped.
fn replicas<T: Send>(
    count: u64,
    args: &SimArgs,
    interrupts: &Receiver<Signal>,
    one: impl Fn(u64, GoOn<'_>) -> Result<Option<T>, CommandError> + Sync,
) -> Result<Vec<T>, CommandError> {
    let threads = pool::threads(args.jobs.jobs);
    let bar = Mutex::new((progress("replications", count as f64), 0.0));
    let one = |number: usize, stop: &Stop| {
        let mut before = 0.0;
        one(number as u64, &mut |part| {
            let mut bar = bar.lock().expect("no thread panics: a panic ends the process");
            bar.1 += part - before;
            before = part;
            (bar.0)(bar.1);
            interrupts.is_empty() && !stop.is_set()
        })
    };
    let runs = pool::run(count as usize, threads, one)?;
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Why a run without observers failed.
pub fn unobserved(error: RunError<Infallible>) -> CommandError {
    match error {
        RunError::Config(error) => CommandError::Medium(error),
        RunError::Traffic(error) => CommandError::Traffic(error),
        RunError::Observer(never) => match never {},
    }
}
