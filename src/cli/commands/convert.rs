//! `ethbus convert`: an event log or a record as a file for another tool.

use super::{CommandError, Outcome};
use crate::cli::args::{ConvertArgs, ConvertTo};
use crate::cli::windows::open_one;
use crate::show::say;
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::LineReader;
use sim::files::observer::Observer;
use sim::files::record::{RecordReader, replay_before};
use sim::scenario::plan::PlanError;
use sim::windows::capture::Framing;
use sim::windows::{Known, WindowKind, Windows};
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
        Ok(files.begin(&Known::of(header))?.0)
    };
    if is_record(&args.input) {
        let record = RecordReader::new(LineReader::open(&args.input)?)?;
        let Header { name, stations, .. } = record.header().clone();
        let header = Header::new(&name, &record.header().config(), &stations);
        let mut windows = open(header.clone())?.on_a_thread();
        replay_before(record, EventLog::unwritten(&header).on_a_thread(), &mut windows)
            .map_err(CommandError::Replay)?;
    } else {
        let mut log = EventLogReader::new(LineReader::open(&args.input)?)?;
        let mut windows = open(log.header().clone())?;
        let told = log.tell(&mut windows);
        // What there is of a log that was cut short is written whole.
        let read = windows.flush().and(told)?;
        read.inspect_err(|_| say("ethbus: what came before is written\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a file begins like a record. What cannot be read is the reader's to tell of.
fn is_record(path: &Path) -> bool {
    let mut beginning = String::new();
    let read = File::open(path).map(|file| file.take(32).read_to_string(&mut beginning));
    read.is_ok() && beginning.starts_with("{\"format\":\"ethbus record\"")
}
