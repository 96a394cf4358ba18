//! The data plane's observers: one thread reads the supervisor's requests, one writes reports.
//!
//! The coordinator talks to both through bounded channels and never waits for either.

use super::discards::Batch;
use super::protocol::{Request, Setup, Told};
use super::seen::Seen;
use super::threads;
use crossbeam_channel::{Receiver, Sender, bounded};
use link::channel::Arriving;
use link::wait::Wake;
use medium::{BitInstant, Joiner, StationId};
use sim::figures::results::Results;
use sim::figures::snapshot::Snapshot;
use sim::run::view::Note;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Reports that may wait for the supervisor to read them.
const WAITING: usize = 64;

/// A report, as cheap for the coordinator as it can be: the writer works the rest out.
#[derive(Debug)]
pub enum Report {
    /// To be passed on as it is.
    Told(Told),
    /// For viewers: the number of missing notes before these, how far the medium was run, and the notes.
    Seen(u64, BitInstant, Vec<Note>),
    /// For programs of this station: its frames that the medium gave up.
    Discards(u16, Batch),
    /// A station joins: results have it from now on.
    Joined(StationId, Joiner),
    /// To be made into results.
    Snapshot(Box<Snapshot>),
}

/// The coordinator's ends.
#[derive(Debug)]
pub struct Observers {
    /// What the supervisor asks, and the stream that comes with a request for a capture.
    pub requests: Receiver<(Request, Option<OwnedFd>)>,
    /// The reports.
    pub reports: Sender<Report>,
    /// Rings when there is a request.
    pub wake: Arc<Wake>,
    writer: JoinHandle<()>,
}

impl Observers {
    /// Waits until all reports so far are written.
    pub fn finish(self) {
        drop(self.reports);
        // A writer that ended early lost its supervisor, so the error has no reader.
        let _ = self.writer.join();
    }
}

/// Starts both threads.
///
/// # Errors
/// The kernel gives no descriptor or thread.
pub fn start(stream: UnixStream, setup: &Setup) -> std::io::Result<Observers> {
    let (request_sender, requests) = bounded(WAITING);
    let (reports, report_receiver) = bounded(WAITING);
    let wake = Arc::new(Wake::new()?);
    let input = BufReader::new(Arriving::new(stream.try_clone()?.into()));
    let rings = wake.clone();
    let read = move || read_requests(input, &request_sender, &rings);
    threads::start("requests", read)?;
    let setup = setup.clone();
    let write = move || write_reports(stream, &report_receiver, &setup);
    let writer = threads::start("reports", write)?;
    Ok(Observers { requests, reports, wake, writer })
}

/// Ends the process when the supervisor is gone: then only the kernel can clean up after it.
fn read_requests(mut input: BufReader<Arriving>, requests: &Sender<(Request, Option<OwnedFd>)>, wake: &Wake) {
    let mut line = String::new();
    while input.read_line(&mut line).is_ok() {
        let Ok(request) = serde_json::from_str(&line) else { break };
        line.clear();
        let stream = if matches!(request, Request::Capture(..)) { input.get_mut().next_descriptor() } else { None };
        if requests.send((request, stream)).is_err() {
            return;
        }
        if wake.wake().is_err() {
            break;
        }
    }
    std::process::exit(1);
}

fn write_reports(mut stream: UnixStream, reports: &Receiver<Report>, setup: &Setup) {
    let mut names = setup.names();
    for report in reports {
        let told = match report {
            // Seats are taken one after the other, and a station that joins again has its old one.
            Report::Joined(station, who) => {
                names.extend((station.index() == names.len()).then(|| who.name().to_owned()));
                continue;
            }
            Report::Told(told) => told,
            Report::Seen(missed, now, notes) => Told::Seen(Seen::of((missed, now, notes))),
            Report::Discards(station, batch) => Told::Discards(batch.written(station)),
            Report::Snapshot(snapshot) => Told::Results(Box::new(Results::new(
                setup.config_results(),
                setup.configuration.seed(),
                &names,
                &snapshot,
            ))),
        };
        // In one piece, which the socket holds.
        let mut line = serde_json::to_vec(&told).expect("numbers and names");
        line.push(b'\n');
        if stream.write_all(&line).is_err() {
            return;
        }
    }
}
