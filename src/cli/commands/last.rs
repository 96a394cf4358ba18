//! `ethbus capture --last`: what has happened on the bus of a lab that keeps its last seconds.

use super::convert::convert;
use super::{CommandError, Outcome};
use crate::cli::args::{CaptureArgs, ConvertArgs, ConvertTo};
use crate::live::control;
use crate::show::say;
use medium::{BitInstant, BitTimes, Config, Event, Input};
use sim::files::event_log::{EmulatorEvent, EventLogReader, Header};
use sim::files::json_lines::{WriteError, create};
use sim::files::keep::{Fact, Ring, Room};
use sim::files::observer::Observer;
use sim::files::output::{is_stdout, place_name};
use sim::files::record::End;
use std::convert::Infallible;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The form of a log in memory, by its name.
const IN_MEMORY: &str = "last.ebe";

/// Writes the last `span` of the bus's time: a log, or a capture where the name of the file says so.
///
/// # Errors
/// A lab that keeps nothing or does not answer; a file that cannot be written.
pub fn last(args: &CaptureArgs, lab: &str, span: Duration) -> Outcome {
    let kept = control::keep(lab).map_err(|error| CommandError::of_lab(lab, error))?;
    let mut log = EventLogReader::open(Path::new(&kept))?;
    let header = log.header().clone();
    let mut facts = Facts::new(&header, span);
    match log.tell(&mut facts) {
        Ok(read) => read?,
        Err(never) => match never {},
    }
    let name = args.out.file_name().unwrap_or_default().to_string_lossy();
    // Compressed or not.
    let is_capture = is_stdout(&args.out) || name.split('.').any(|part| part == "pcapng" || part == "pcap");
    if is_capture {
        let log = Arc::new(
            link::memory::memory_file("last")
                .map_err(|source| CommandError::System { what: "have a file in memory", source })?,
        );
        facts.write(Arc::clone(&log), IN_MEMORY.to_owned(), &header)?;
        let input = PathBuf::from(format!("/proc/self/fd/{}", log.as_raw_fd()));
        convert(&ConvertArgs { input, to: ConvertTo::Pcapng, out: args.out.clone(), wish: args.wish.clone() })?;
    } else {
        let file = create(&args.out, &[Path::new(&kept)])?;
        facts.write(Arc::new(file), place_name(&args.out), &header)?;
    }
    say(&format!("ethbus: the lab keeps what it had in {kept}\n"));
    Ok(ExitCode::SUCCESS)
}

/// The facts of a log.
struct Facts(Ring);

impl Facts {
    fn new(header: &Header, span: Duration) -> Facts {
        let config: Config = header.config();
        let all = Room { facts: usize::MAX, chunks: usize::MAX };
        let mut ring = Ring::new(&config, BitTimes::within(span, config.rate), all);
        if header.kept_from_bt.is_some() {
            ring.miss();
        }
        Facts(ring)
    }

    fn write(&self, file: Arc<std::fs::File>, place: String, header: &Header) -> Result<(), WriteError> {
        self.0.kept(self.0.now()).write(file, place, header).map(|_| ())
    }
}

impl Observer for Facts {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        self.0.take(Fact::Input(at, *input));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.0.take(Fact::Event(*event));
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Infallible> {
        self.0.take(Fact::Emulator(*event));
        Ok(())
    }

    fn end(&mut self, _: End) -> Result<(), Infallible> {
        Ok(())
    }
}
