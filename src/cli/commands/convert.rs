//! `ethbus convert`: an event log or a record as a file for another tool.

use super::{CommandError, INTERRUPTED, Outcome, interrupts};
use crate::cli::args::{ConvertArgs, ConvertTo, WishArgs};
use crate::cli::windows::{finish, open_whole, wish};
use crate::show::say;
use crossbeam_channel::Receiver;
use link::signals::Signal;
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::{ReadError, WriteError};
use sim::files::observer::Observer;
use sim::files::output::Unfinished;
use sim::files::record::{RecordReader, replay_before};
use sim::files::table::{BUILD_WITH_PARQUET, Form};
use sim::scenario::plan::PlanError;
use sim::windows::{Known, Trailing, WindowKind, Windows};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Makes a file for another tool from an event log or a record.
///
/// # Errors
/// A log or record that is damaged or of a newer version; a file that cannot be written. What was written is whole.
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
                WindowKind::Pcapng(wish("--filter", Some(&args.out), *plain, filter, &header.stations)?)
            }
            ConvertTo::Perfetto => WindowKind::Perfetto,
            ConvertTo::Vcd => WindowKind::Vcd,
            ConvertTo::Csv | ConvertTo::Events => WindowKind::Csv,
            ConvertTo::Parquet => built(Form::Parquet, WindowKind::Parquet)?,
            ConvertTo::Arrow => built(Form::Arrow, WindowKind::Arrow)?,
        })
    };
    if args.to == ConvertTo::Events {
        return to_events(args);
    }
    let interrupts = interrupts()?;
    let open = |header: Header| -> Result<(Windows, Vec<Trailing>, Option<Unfinished>), CommandError> {
        let (files, unfinished) = open_whole("--out", kind(&header)?, &args.out, &[&args.input])?;
        end_on_interrupt(interrupts, unfinished.as_ref())?;
        let (windows, trailing) = files.begin(&Known::of(header))?;
        Ok((windows, trailing, unfinished))
    };
    let (written, trailing, unfinished) = if is_record(&args.input) {
        let record = RecordReader::open(&args.input)?;
        let Header { name, stations, .. } = record.header().clone();
        let header = Header::new(&name, &record.header().config(), &stations);
        let (windows, trailing, unfinished) = open(header.clone())?;
        let mut windows = windows.on_a_thread();
        let replayed = replay_before(record, EventLog::unwritten(&header).on_a_thread(), &mut windows);
        (replayed.map(|_| ()).map_err(CommandError::Replay), trailing, unfinished)
    } else {
        let mut log = EventLogReader::open(&args.input)?;
        let (mut windows, trailing, unfinished) = open(log.header().clone())?;
        let told = log.tell(&mut windows);
        // What there is of a log that was cut short is written whole.
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

/// Copies an event log line by line into the other form.
fn to_events(args: &ConvertArgs) -> Outcome {
    if is_record(&args.input) {
        let what = format!("`ethbus replay {} --events FILE` writes them", args.input.display());
        return Err(PlanError::option("--to events", what).into());
    }
    let mut log = EventLogReader::open(&args.input)?;
    let header = log.header().clone();
    let mut copy = EventLog::create(&args.out, &[&args.input], &header)?.without_digest();
    let read = loop {
        match log.next_entry() {
            Ok(Some(entry)) => copy.copy(&entry, log.offered())?,
            Ok(None) => break log.not_whole().map_or(Ok(()), |why| Err(ReadError::NotWhole { why })),
            Err(error) => break Err(error),
        }
    };
    match read {
        Ok(()) => _ = copy.finish()?,
        Err(error) => {
            copy.stop_writing(&error.to_string())?;
            say("ethbus: what came before is written\n");
            return Err(error.into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file begins like a record. The reader reports a file that cannot be read.
fn is_record(path: &Path) -> bool {
    let mut beginning = String::new();
    let read = File::open(path).map(|file| file.take(32).read_to_string(&mut beginning));
    read.is_ok() && beginning.starts_with("{\"format\":\"ethbus record\"")
}
