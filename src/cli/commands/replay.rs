//! `ethbus replay`: runs a recorded run again, in virtual time.

use super::{CommandError, Outcome, interrupts, print_result, refuse_one_file_for_two, run, watch};
use crate::cli::args::ReplayArgs;
use crate::cli::windows::{self, named};
use say::{say, table};
use sim::figures::results::{ConfigResults, Results};
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::observer::Both;
use sim::files::replay::replay_before;
use sim::windows::Known;
use sim::words::units::many;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Replays a trace, writes its events if they are wanted, and tells its results.
///
/// # Errors
/// A trace that is damaged or incomplete, or whose run had other events; files that cannot be read or written.
pub fn replay(args: &ReplayArgs) -> Outcome {
    let capture = named(&args.windows);
    refuse_one_file_for_two(&[("--events", args.events.as_deref()), capture])?;
    let trace = EventLogReader::open(&args.input.trace)?;
    trace.needs_inputs("`ethbus replay`")?;
    if args.programs {
        return run::again(args, trace);
    }
    let has_programs = trace.header().programs.is_some();
    let Header { name, configuration, stations, scenario, .. } = trace.header().clone();
    let header = Header::new(&name, &trace.header().begun(), &stations).of_scenario(scenario);
    let log = match &args.events {
        Some(path) => EventLog::create(path, &[&args.input.trace], &header)?,
        None => EventLog::unwritten(&header),
    };
    let others: Vec<&Path> = std::iter::once(&args.input.trace).chain(&args.events).map(PathBuf::as_path).collect();
    let files = windows::open(&args.windows, &others)?;
    let (windows, trailing) = files.begin(&Known::of(header))?;
    let mut windows = (!windows.0.is_empty()).then(|| windows.on_a_thread());
    let log = log.on_a_thread();
    let replayed = if args.drawn.watch {
        let interrupts = interrupts()?;
        let header = Header::new(&name, &trace.header().begun(), &stations);
        let title = format!("{name} {}", args.input.trace.display());
        watch::beside(&header, title.trim(), &interrupts, move |feeder, _| {
            let mut both = Both(windows, feeder);
            replay_before(trace, log, &mut both)
        })?
    } else {
        let replayed = replay_before(trace, log, &mut windows);
        drop(windows);
        replayed
    };
    let replayed = replayed.map_err(CommandError::Replay)?;
    windows::finish(trailing)?;
    let verdict =
        if replayed.confirmed { "the same as in the recorded run" } else { "the run kept no digest of its own" };
    say(&format!("ethbus: {}, {}: {verdict}\n", many(replayed.inputs, "input"), many(replayed.digest.events, "event")));
    if has_programs {
        say("ethbus: without their programs: `ethbus replay --programs` runs them as well\n");
    }
    let mut results =
        Results::new(ConfigResults::new(&configuration, &name), configuration.seed(), &stations, &replayed.snapshot);
    results.medium.slotted = replayed.slotted;
    print_result(args.written.format, &results, table)?;
    Ok(ExitCode::SUCCESS)
}
