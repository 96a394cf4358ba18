//! Which station sends which frames of a capture, when, and to whom.

use super::capture::{Capture, CaptureError, Recorded};
use super::destination::station;
use super::{Arrivals, TrafficSpec};
use crate::words::MacAddr;
use medium::{BitInstant, BitRate, BitTimes, Destination, Frame};
use std::collections::HashMap;

/// One station's frames, in order of time.
pub(super) type Share = Vec<(BitInstant, Frame)>;

/// What each station replays; nothing for those that do not.
///
/// # Errors
/// A file that several stations replay, but fewer than it has source addresses.
pub(super) fn shares(specs: &[TrafficSpec], replays: &[Capture], rate: BitRate) -> Result<Vec<Share>, CaptureError> {
    let owners = replays.iter().map(|replay| senders(specs, replay)).collect::<Result<Vec<_>, _>>()?;
    // An address that stations of two files send from is that of the first file's.
    let mut known = HashMap::new();
    for (&mac, &station) in owners.iter().flatten() {
        known.entry(mac).or_insert(station);
    }
    let mut shares = vec![Share::new(); specs.len()];
    for (replay, owners) in replays.iter().zip(&owners) {
        for recorded in replay.frames() {
            let Some(&sender) = owners.get(&recorded.source) else { continue };
            let instant = BitInstant::ZERO + BitTimes::within(recorded.at, rate);
            shares[sender].push((instant, frame(recorded, sender, owners, &known)));
        }
    }
    Ok(shares)
}

/// Which station sends the frames of each source address: one alone sends all, of several each those of one address.
fn senders(specs: &[TrafficSpec], replay: &Capture) -> Result<HashMap<MacAddr, usize>, CaptureError> {
    let names = |spec: &TrafficSpec| matches!(&spec.arrivals, Arrivals::Replay { path } if path == replay.path());
    let stations: Vec<usize> = (0..specs.len()).filter(|&station| names(&specs[station])).collect();
    let sources = replay.sources();
    match stations[..] {
        [] => Ok(HashMap::new()),
        [alone] => Ok(sources.iter().map(|&mac| (mac, alone)).collect()),
        _ if sources.len() <= stations.len() => Ok(sources.iter().copied().zip(stations).collect()),
        _ => Err(CaptureError::TooManySources {
            path: replay.path().to_owned(),
            sources: sources.len(),
            stations: stations.len(),
        }),
    }
}

/// Whom `sender`'s frame is for: another station of the same file, else one of another file, that sends from the address.
fn frame(recorded: &Recorded, sender: usize, same: &HashMap<MacAddr, usize>, any: &HashMap<MacAddr, usize>) -> Frame {
    let other =
        |stations: &HashMap<_, _>| stations.get(&recorded.destination).copied().filter(|&other| other != sender);
    let destination = match other(same).or_else(|| other(any)) {
        _ if recorded.destination.0 & 1 == 1 => Destination::All,
        Some(other) => Destination::Station(station(other)),
        None => Destination::Nobody,
    };
    Frame { size: recorded.size, destination, tagged: recorded.tagged }
}
