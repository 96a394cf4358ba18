//! `ethbus convert`: an event log or a record as a file for another tool.

use super::{CommandError, Outcome};
use crate::cli::args::{ConvertArgs, ConvertTo};
use crate::cli::windows::open_one;
use crate::show::say;
use medium::{Destination, Event, Frame, Input, Kind};
use sim::files::event_log::{Entry, EventLog, EventLogReader, Header};
use sim::files::json_lines::{LineReader, WriteError};
use sim::files::observer::Observer;
use sim::files::record::{End, RecordReader, replay_before};
use sim::scenario::plan::PlanError;
use sim::windows::capture::Framing;
use sim::windows::{View, WindowKind, Windows};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Makes a file for another tool from an event log or a record.
///
/// # Errors
/// A log or record that is damaged or of a newer version; a file that cannot be written. What was written is whole.
pub fn convert(args: &ConvertArgs) -> Outcome {
    let kind = match args.to {
        ConvertTo::Pcapng => WindowKind::Pcapng(if args.plain { Framing::Plain } else { Framing::Whole }),
        ConvertTo::Perfetto => WindowKind::Perfetto,
        ConvertTo::Vcd => WindowKind::Vcd,
        ConvertTo::Csv => WindowKind::Csv,
    };
    if args.plain && args.to != ConvertTo::Pcapng {
        let what = "it is about captures: leave it out, or write `--to pcapng`".to_owned();
        return Err(PlanError::option("--plain", what).into());
    }
    let open = |header: Header| -> Result<Windows, CommandError> {
        let files = open_one("--out", kind, &args.out, &[&args.input])?;
        Ok(files.begin(&View::of(header))?.0)
    };
    if is_record(&args.input) {
        let record = RecordReader::new(LineReader::open(&args.input)?)?;
        let Header { name, stations, .. } = record.header().clone();
        let header = Header::new(&name, &record.header().config(), &stations);
        let mut windows = open(header.clone())?.on_a_thread();
        replay_before(record, EventLog::unwritten(&header).on_a_thread(), &mut windows)
            .map_err(CommandError::Replay)?;
    } else {
        let log = EventLogReader::new(LineReader::open(&args.input)?)?;
        let mut windows = open(log.header().clone())?;
        let read = follow(log, &mut windows);
        // What there is of a log that was cut short is written whole.
        read.and(windows.flush().map_err(CommandError::from))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file begins like a record. What cannot be read is the reader's to tell of.
fn is_record(path: &Path) -> bool {
    let mut beginning = String::new();
    let read = File::open(path).map(|file| file.take(32).read_to_string(&mut beginning));
    read.is_ok() && beginning.starts_with("{\"format\":\"ethbus record\"")
}

/// Tells an observer what an event log tells.
///
/// # Errors
/// A log that is damaged, or an observer that cannot go on.
pub fn follow<R: std::io::BufRead, O: Observer<Error = WriteError>>(
    mut log: EventLogReader<R>,
    windows: &mut O,
) -> Result<(), CommandError> {
    let mut last = 0;
    loop {
        let entry = match log.next_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => break,
            Err(error) => {
                windows.end(End { run_to: last, t: last })?;
                say("ethbus: what came before is written\n");
                return Err(error.into());
            }
        };
        match entry {
            Entry::Medium(event) => {
                if let Event { kind: Kind::Offered { size }, station, at, .. } = event {
                    let destination = log.destination().unwrap_or(Destination::Nobody);
                    let frame = Frame { size, destination, tagged: log.tagged() };
                    windows.input(at, &Input::Offer { station, frame }, None)?;
                }
                last = event.at.get();
                windows.event(&event)?;
            }
            Entry::Input { at, input } => windows.input(at, &input, None)?,
            Entry::Emulator(event) => windows.emulator(&event)?,
        }
    }
    Ok(windows.end(End { run_to: last, t: last })?)
}
