//! `ethbus capture --last`: what has happened on the bus of a lab that keeps its last seconds.

use super::convert::convert;
use super::{CommandError, Outcome};
use crate::cli::args::{CaptureArgs, ConvertArgs, ConvertTo, TraceArg};
use live::control;
use medium::BitTimes;
use say::say;
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::create;
use sim::files::keep::{Ring, Room};
use sim::files::output::{is_stdout, place_name};
use sim::windows::packing::unpacked;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The form of a trace in memory, by its name.
const IN_MEMORY: &str = "last.ebe";

/// Writes the last `span` of the bus's time: a trace, or a capture where the name of the file says so.
///
/// # Errors
/// A lab that keeps nothing or does not answer; a file that cannot be written.
pub fn last(args: &CaptureArgs, lab: &str, span: Duration) -> Outcome {
    let file = control::keep(lab).map_err(|error| CommandError::of_lab(lab, error))?;
    let mut log = EventLogReader::open(Path::new(&file))?;
    let header = log.header().clone();
    let config = header.config();
    let all = Room { facts: usize::MAX, chunks: usize::MAX };
    let mut ring = Ring::new(&config, BitTimes::within(span, config.rate), all);
    if header.kept_from_bt.is_some() {
        ring.miss();
    }
    match log.tell(&mut ring) {
        Ok(read) => read?,
        Err(never) => match never {},
    }
    let kept = ring.kept(ring.now());
    let is_capture = unpacked(&args.output.out).extension().is_some_and(|end| end == "pcapng" || end == "pcap");
    if is_stdout(&args.output.out) || is_capture {
        let system = |source| CommandError::System { what: "have a file in memory", source };
        let log = Arc::new(link::memory::memory_file("last").map_err(system)?);
        kept.write(Arc::clone(&log), IN_MEMORY.to_owned(), &header)?;
        let input = TraceArg { trace: PathBuf::from(format!("/proc/self/fd/{}", log.as_raw_fd())) };
        let (output, wish) = (args.output.clone(), args.wish.clone());
        convert(&ConvertArgs { input, to: ConvertTo::Pcapng, output, level: None, without_octets: false, wish })?;
    } else {
        let log = create(&args.output.out, &[Path::new(&file)])?;
        kept.write(Arc::new(log), place_name(&args.output.out), &header)?;
    }
    say(&format!("ethbus: the lab keeps what it had in {file}\n"));
    Ok(ExitCode::SUCCESS)
}
