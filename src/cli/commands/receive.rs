//! `ethbus receive`: the other end of `ethbus send`.

use super::rights::station;
use super::{CommandError, INTERRUPTED, Outcome, interrupts, print_result, running_lab};
use crate::cli::args::ReceiveArgs;
use link::station::StationSocket;
use live::driver::ETHERTYPE;
use live::driver::receive::{Reception, StreamReport};
use live::lab::INTERFACE;
use live::lab::inventory::Inventory;
use say::{plain_table, say};
use serde::Serialize;
use sim::words::units::{group, many};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long a wait for a frame may keep an interrupt waiting.
const PATIENCE: Duration = Duration::from_millis(50);

/// What was received.
#[derive(Clone, Debug, Serialize)]
struct ReceiveReport {
    at: String,
    seconds: f64,
    received: u64,
    /// Frames that the station's own kernel dropped because this program was too slow.
    socket_drops: u64,
    /// Frames of the same EtherType that were no driver's.
    other: u64,
    streams: Vec<StreamReport>,
}

/// Receives a driver's frames in a station.
///
/// # Errors
/// No such lab or station; a socket that cannot be used; a result that cannot be written.
pub fn receive(args: &ReceiveArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let content = Inventory::of_running(&lab)?;
    let at = content.station_meant(&args.at);
    let namespace = station(&lab, &content, &at)?;
    let interrupts = interrupts()?;
    let failed = |source| CommandError::Station { station: at.clone(), source };
    let mut socket = StationSocket::open(&namespace, INTERFACE, ETHERTYPE).map_err(failed)?;
    let own = socket.mac();
    let (mut reception, mut buffer, begin) = (Reception::default(), [0; 2048], Instant::now());
    let mut interrupted = false;
    while !interrupted && args.limit.count.is_none_or(|count| reception.received() < count) {
        let left = args
            .limit
            .timed
            .duration
            .map_or(PATIENCE, |duration| duration.saturating_sub(begin.elapsed()).min(PATIENCE));
        if left.is_zero() {
            break;
        }
        if let Some(frame) = socket.receive(Some(left), &mut buffer).map_err(failed)? {
            let octets = &buffer[..frame.octets];
            // Every station hears every frame; only frames for this station are reported.
            if octets.starts_with(&own.octets()) || octets.first().is_some_and(|first| first & 1 == 1) {
                reception.record(octets, frame.stamp);
            }
        }
        interrupted = interrupts.try_recv().is_ok();
    }
    let report = ReceiveReport {
        at: at.clone(),
        seconds: begin.elapsed().as_secs_f64(),
        received: reception.received(),
        socket_drops: socket.statistics().map_err(failed)?.dropped,
        other: reception.other(),
        streams: reception.reports(),
    };
    print_result(args.written.format, &report, told)?;
    // Without a limit an interrupt is the way to end it.
    let unlimited = args.limit.count.is_none() && args.limit.timed.duration.is_none();
    if interrupted && !unlimited {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if let Some(count) = args.limit.count.filter(|&count| report.received < count) {
        say(&format!("ethbus: {} of {} came within --duration\n", group(report.received), many(count, "frame")));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn told(report: &ReceiveReport) -> String {
    let rows = report.streams.iter().map(|stream| {
        let micros = |nanos: u64| format!("{:.1}", nanos as f64 / 1e3);
        [
            stream.from.clone(),
            stream.stream.to_string(),
            group(stream.received),
            group(stream.lost),
            group(stream.duplicates),
            group(stream.reordered),
            micros(stream.delay_p50_ns),
            micros(stream.delay_p99_ns),
            micros(stream.delay_max_ns),
        ]
    });
    let header =
        ["from", "stream", "received", "lost", "duplicates", "reordered", "delay p50 us", "p99 us", "longest us"];
    format!(
        "{}  {} in {:.2} s at {}; its kernel dropped {} before this program read them\n",
        plain_table(header, rows),
        many(report.received, "frame"),
        report.seconds,
        report.at,
        group(report.socket_drops)
    )
}
