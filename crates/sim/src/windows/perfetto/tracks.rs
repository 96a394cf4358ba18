//! The tracks of a trace, and their order: the bus, its counters, the stations.

use super::fields::{message, number, text};
use crate::files::json_lines::{LineWriter, WriteError};
use medium::StationId;

/// Tracks that are of no station.
const PROCESS: u64 = 1;
pub const BUS: u64 = 2;
pub const UTILIZATION: u64 = 3;
pub const COLLISIONS: u64 = 4;

/// A station's tracks, in their order.
#[derive(Clone, Copy)]
pub enum Track {
    Station,
    Frames,
    Transmit,
    Received,
    Queue,
    Signals,
}

/// A track's number in the trace.
pub fn track(station: StationId, track: Track) -> u64 {
    16 * (station.index() as u64 + 1) + track as u64
}

/// What is on a track.
#[derive(Clone, Copy)]
enum Shows {
    /// Slices and instants, or other tracks.
    Events,
    /// A counter, and its unit if it has one.
    Counts(&'static str),
}

/// Writes the descriptors of all tracks.
pub fn describe(output: &mut LineWriter, stations: &[String], has_signals: bool) -> Result<(), WriteError> {
    // Always the same octets, by which ethbus knows such files.
    one(output, PROCESS, None, "ethbus", Shows::Events)?;
    one(output, BUS, Some((PROCESS, 0)), "bus", Shows::Events)?;
    one(output, COLLISIONS, Some((PROCESS, 1)), "collisions", Shows::Counts("collisions"))?;
    one(output, UTILIZATION, Some((PROCESS, 2)), "utilization_wire", Shows::Counts(""))?;
    let mut each = (0..).map(StationId::new).zip(stations);
    each.try_for_each(|(station, name)| describe_station(output, station, name, has_signals))
}

/// Writes the descriptors of one station's tracks.
pub fn describe_station(
    output: &mut LineWriter,
    station: StationId,
    name: &str,
    has_signals: bool,
) -> Result<(), WriteError> {
    let signals = has_signals.then_some((Track::Signals, "signals", Shows::Events));
    let tracks = [
        (Track::Frames, "frames", Shows::Events),
        (Track::Transmit, "transmit", Shows::Events),
        (Track::Received, "received", Shows::Events),
        (Track::Queue, "queue", Shows::Counts("frames")),
    ];
    let own = track(station, Track::Station);
    one(output, own, Some((PROCESS, 3 + station.index() as u64)), name, Shows::Events)?;
    let mut tracks = tracks.into_iter().chain(signals);
    tracks.try_for_each(|(kind, name, shows)| one(output, track(station, kind), Some((own, kind as u64)), name, shows))
}

/// A track: `uuid`, its parent's and its place among the parent's tracks, its name. Its own tracks have such places.
fn one(
    output: &mut LineWriter,
    uuid: u64,
    parent: Option<(u64, u64)>,
    name: &str,
    shows: Shows,
) -> Result<(), WriteError> {
    const TRACK_DESCRIPTOR: u32 = 60;
    /// `ChildTracksOrdering.EXPLICIT`.
    const BY_PLACE: u64 = 3;
    output.unit(|into| {
        message(into, 1, |packet| {
            message(packet, TRACK_DESCRIPTOR, |own| {
                number(own, 1, uuid);
                text(own, 2, name);
                if let Some((parent, place)) = parent {
                    number(own, 5, parent);
                    number(own, 12, place);
                }
                match shows {
                    Shows::Events => number(own, 11, BY_PLACE),
                    Shows::Counts(unit) => message(own, 8, |counter| text(counter, 6, unit)),
                }
            });
        });
    })
}
