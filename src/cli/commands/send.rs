//! `ethbus send`: the raw-socket driver by itself.

use super::rights::station;
use super::{CommandError, INTERRUPTED, Outcome, draw_seed, interrupts, print_result, running_lab, station_names};
use crate::cli::args::SendArgs;
use link::MacAddr;
use link::clock::raise_nice;
use link::station::StationSocket;
use live::driver::sender::{Sender, Spacing, line_rate, run};
use live::lab::INTERFACE;
use live::lab::inventory::{Content, Inventory, InventoryError};
use medium::{BitRate, Octets};
use serde::Serialize;
use sim::scenario::plan::PlanError;
use sim::words::interface::BROADCAST;
use sim::words::units::FrameRate;
use sim::words::units::{group, many};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Frames that `max` keeps in the station's queue, which holds 100 unless its scenario says otherwise: the queue neither runs
/// dry nor over if this program wakes up some milliseconds late.
const LEAD: u64 = 50;
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// What a run of the driver did.
#[derive(Clone, Debug, Serialize)]
struct SendReport {
    from: String,
    to: String,
    stream: u32,
    frame_size_octets: u32,
    sent: u64,
    refused: u64,
    seconds: f64,
    frames_per_second: f64,
}

/// Offers frames from a station.
///
/// # Errors
/// No such lab, station or destination; a socket that cannot be used; a result that cannot be written.
pub fn send(args: &SendArgs) -> Outcome {
    let lab = running_lab(args.lab.name.as_deref())?;
    let content = Inventory::of_running(&lab)?;
    let from = content.station_meant(&args.from);
    let namespace = station(&lab, &content, &from)?;
    let to = destination(&content, &args.to)?;
    if content.stations.iter().any(|port| port.name == from && MacAddr::from(port.mac) == to) {
        let what =
            format!("`{}` is the sender, and no station receives its own frames: write another station", args.to);
        return Err(PlanError::option("--to", what).into());
    }
    let interrupts = interrupts()?;
    let socket = StationSocket::open_to_send(&namespace, INTERFACE)
        .map_err(|source| CommandError::Station { station: from.clone(), source })?;
    let (size, stream) = (Octets::new(args.frame_size), draw_seed()? as u32);
    let duration = args.limit.timed.duration.or(args.limit.count.is_none().then_some(DEFAULT_DURATION));
    let begin = Instant::now();
    let pace = wanted_pace(args, rate(&lab, &content)?);
    let lead = if args.rate == FrameRate::Max { LEAD } else { 0 };
    if lead > 0 {
        // On a busy machine others would have the processor until the next tick of the clock. Most users may not.
        let _ = raise_nice();
    }
    let mut senders = [Sender::new(socket, to, size, stream, pace, args.limit.count).ahead(lead)];
    let interrupted = AtomicBool::new(false);
    run(&mut senders, || {
        let stop = interrupts.try_recv().is_ok();
        interrupted.fetch_or(stop, Ordering::Relaxed);
        !stop && duration.is_none_or(|duration| begin.elapsed() < duration)
    });
    let (sent, seconds) = (senders[0].sent(), begin.elapsed().as_secs_f64());
    let report = SendReport {
        from,
        to: to.to_string(),
        stream,
        frame_size_octets: args.frame_size,
        sent: sent.frames,
        refused: sent.refused,
        seconds,
        frames_per_second: sent.frames as f64 / seconds,
    };
    print_result(args.written.format, &report, told)?;
    Ok(if interrupted.into_inner() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn told(report: &SendReport) -> String {
    format!(
        "{} -> {}: {} of {} octets sent in {:.2} s ({:.1}/s), {} refused, stream {}\n",
        report.from,
        report.to,
        many(report.sent, "frame"),
        report.frame_size_octets,
        report.seconds,
        report.frames_per_second,
        group(report.refused),
        report.stream
    )
}

/// At `max` as many as fill the medium when no other station sends.
fn wanted_pace(args: &SendArgs, rate: BitRate) -> Spacing {
    match args.rate {
        FrameRate::PerSecond(rate) => Spacing::Even(1e9 / rate),
        FrameRate::Max => Spacing::Even(1e9 / line_rate(rate, Octets::new(args.frame_size))),
    }
}

/// The medium's rate, which the inventory has as soon as the lab is up.
fn rate(lab: &str, content: &Content) -> Result<BitRate, InventoryError> {
    BitRate::per_second(content.rate).ok_or_else(|| InventoryError::NotUp { name: lab.to_owned() })
}

fn destination(content: &Content, to: &str) -> Result<MacAddr, CommandError> {
    if to == BROADCAST {
        return Ok(MacAddr::broadcast());
    }
    let meant = content.station_meant(to);
    if let Some(port) = content.stations.iter().find(|port| port.name == meant) {
        return Ok(port.mac.into());
    }
    to.parse().map_err(|_| CommandError::NoDestination { to: to.to_owned(), stations: station_names(content) })
}
