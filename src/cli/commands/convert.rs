//! `ethbus convert`: a trace as a file for another tool, or as another trace.

use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::{ConvertArgs, ConvertTo, WishArgs};
use crate::cli::windows::{finish, open_whole, wish};
use crossbeam_channel::Receiver;
use link::signals::Signal;
use say::say;
use sim::files::event_log::{EventLog, EventLogReader, Header, Level};
use sim::files::json_lines::WriteError;
use sim::files::observer::Observer;
use sim::files::output::Unfinished;
use sim::files::replay::{replay, replay_before};
use sim::files::table::{BUILD_WITH_PARQUET, Form};
use sim::scenario::plan::PlanError;
use sim::windows::{Known, Trailing, WindowKind, Windows};
use std::path::Path;
use std::process::ExitCode;

/// Makes a file for another tool, or another trace, from a trace.
///
/// # Errors
/// A trace that is damaged or of a newer version; a file that cannot be written. What was written is whole.
pub fn convert(args: &ConvertArgs) -> Outcome {
    let WishArgs { plain, filter } = &args.wish;
    if let (Some(option), true) = (about_captures(&args.wish), args.to != ConvertTo::Pcapng) {
        let what = "it is about captures: leave it out, or write `--to pcapng`".to_owned();
        return Err(PlanError::option(option, what).into());
    }
    let kind = |header: &Header| -> Result<WindowKind, PlanError> {
        Ok(match args.to {
            ConvertTo::Pcapng => {
                let filter = filter.as_deref();
                WindowKind::Pcapng(wish("--filter", Some(&args.output.out), *plain, filter, &header.stations)?)
            }
            ConvertTo::Perfetto => WindowKind::Perfetto,
            ConvertTo::Vcd => WindowKind::Vcd,
            ConvertTo::Csv | ConvertTo::Trace => WindowKind::Csv,
            ConvertTo::Parquet => built(Form::Parquet, WindowKind::Parquet)?,
            ConvertTo::Arrow => built(Form::Arrow, WindowKind::Arrow)?,
        })
    };
    if args.to == ConvertTo::Trace {
        return to_trace(args);
    }
    let about_traces = [("--level", args.level.is_some()), ("--without-octets", args.without_octets)];
    if let Some((option, _)) = about_traces.into_iter().find(|(_, given)| *given) {
        let what = "it is about traces: leave it out, or write `--to trace`".to_owned();
        return Err(PlanError::option(option, what).into());
    }
    let interrupts = interrupts()?;
    let open = |header: Header| -> Result<(Windows, Vec<Trailing>, Option<Unfinished>), CommandError> {
        let (files, unfinished) = open_whole("--out", kind(&header)?, &args.output.out, &[&args.input.trace])?;
        end_on_interrupt(interrupts, unfinished.as_ref())?;
        let (windows, trailing) = files.begin(&Known::of(header))?;
        Ok((windows, trailing, unfinished))
    };
    let mut trace = EventLogReader::open(&args.input.trace)?;
    let (written, trailing, unfinished) = if !trace.header().level.has_events() {
        let Header { name, stations, .. } = trace.header().clone();
        let header = Header::new(&name, &trace.header().config(), &stations);
        let (windows, trailing, unfinished) = open(header.clone())?;
        let mut windows = windows.on_a_thread();
        let replayed = replay_before(trace, EventLog::unwritten(&header).on_a_thread(), &mut windows);
        (replayed.map(|_| ()).map_err(CommandError::Replay), trailing, unfinished)
    } else {
        let (mut windows, trailing, unfinished) = open(trace.header().clone())?;
        let told = trace.tell(&mut windows);
        // What there is of a trace that was cut short is written whole.
        let written = match windows.flush().and(told) {
            Ok(read) => read.inspect_err(|_| say("ethbus: what came before is written\n")).map_err(CommandError::from),
            Err(error) => Err(error.into()),
        };
        (written, trailing, unfinished)
    };
    finish(trailing)?;
    unfinished.map_or(Ok(()), Unfinished::finish).map_err(WriteError::from)?;
    written.map(|()| ExitCode::SUCCESS)
}

/// The option that is only about captures, if there is one.
fn about_captures(WishArgs { plain, filter }: &WishArgs) -> Option<&'static str> {
    if *plain { Some("--plain") } else { filter.as_ref().map(|_| "--filter") }
}

/// The kind, if this program can write tables of this form.
fn built(form: Form, kind: WindowKind) -> Result<WindowKind, PlanError> {
    let what = || format!("this ethbus writes neither Parquet nor Arrow: write `--to csv`, or {BUILD_WITH_PARQUET}");
    if form.is_built() { Ok(kind) } else { Err(PlanError::option("--to", what())) }
}

/// Ends the process at an interrupt, and leaves nothing of a file that is not whole.
fn end_on_interrupt(interrupts: Receiver<Signal>, unfinished: Option<&Unfinished>) -> Result<(), CommandError> {
    let new = unfinished.and_then(Unfinished::file).map(Path::to_owned);
    let end = move || {
        if interrupts.recv().is_ok() {
            // A file that is whole by now has another name.
            let _ = new.map(std::fs::remove_file);
            std::process::exit(INTERRUPTED.into());
        }
    };
    let system = |source| CommandError::System { what: "start a thread", source };
    std::thread::Builder::new().name("interrupts".to_owned()).spawn(end).map(|_| ()).map_err(system)
}

/// Makes another trace: of the other form, of another level, or without octets.
fn to_trace(args: &ConvertArgs) -> Outcome {
    let mut trace = EventLogReader::open(&args.input.trace)?;
    let given = trace.header().level;
    let level = args.level.map_or(given, Level::from);
    if level.has_inputs() {
        trace.needs_inputs(&format!("`--level {}`", level.word()))?;
    }
    let header = trace.header().clone().at_level(level);
    let header = Header { binary: None, ..header };
    let copy = EventLog::create(&args.output.out, &[&args.input.trace], &header)?;
    let copy = if args.without_octets { copy.without_octets() } else { copy };
    if level.has_events() && !given.has_events() {
        return replay(trace, copy).map(|_| ExitCode::SUCCESS).map_err(CommandError::Replay);
    }
    let mut copy = copy.without_digest();
    match copy.copy_rest(&mut trace)? {
        Ok(()) => _ = copy.finish()?,
        Err(error) => {
            copy.stop_writing(&error.to_string())?;
            say("ethbus: what came before is written\n");
            return Err(error.into());
        }
    }
    Ok(ExitCode::SUCCESS)
}
