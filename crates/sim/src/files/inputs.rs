//! Inputs of the medium as lines: frames in a record, and deeds in records and event logs.

use crate::files::columns::{key, number, string, truth};
use crate::files::damage;
use crate::files::event_log::Names;
use crate::files::programs::Call;
use crate::words::prose::push_number;
use medium::{BitInstant, Config, Deed, Destination, Frame, Joiner, StationId, Topology};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::convert::Infallible;

/// What `layer` says in lines about deeds.
pub(crate) const LAYER: &str = "deed";

/// Whom a frame is for, as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum To {
    Station(String),
    All,
    Nobody,
}

impl To {
    /// # Errors
    /// No station is called so.
    pub fn destination(&self, names: &Names) -> Result<Destination, String> {
        Ok(match self {
            To::Station(name) => Destination::Station(station(names, name)?),
            To::All => Destination::All,
            To::Nobody => Destination::Nobody,
        })
    }
}

/// # Errors
/// No station is called so.
pub(super) fn station(names: &Names, name: &str) -> Result<StationId, String> {
    names.station(name).ok_or_else(|| format!("no station is called `{name}`"))
}

/// The seats of a medium as a file tells of them, so that a line about one can be checked.
#[derive(Debug)]
pub(super) struct Seating {
    /// What the medium was made from.
    planned: Config,
    topology: Topology,
    joined: HashSet<StationId>,
}

impl Seating {
    pub fn new(planned: Config) -> Seating {
        Seating { topology: planned.topology.clone(), planned, joined: HashSet::new() }
    }

    /// Takes in what was done to the medium.
    pub fn take(&mut self, deed: &Deed) {
        let Deed::Add { station, who } = *deed else { return };
        self.joined.insert(station);
        let moved = who.place.and_then(|place| self.topology.with_place(station, place).ok().flatten());
        self.topology = moved.unwrap_or_else(|| self.topology.clone());
    }

    /// # Errors
    /// A deed that this medium cannot have.
    fn check(&self, names: &Names, deed: &Deed) -> Result<(), String> {
        match deed {
            Deed::Add { station, who } => self.check_joining(names, *station, who),
            Deed::Cut(Some(cut)) => self.topology.beyond(*cut).map(drop).map_err(|error| error.to_string()),
            Deed::Queue { limit: 0 } => Err("`queue` is 0: a queue holds at least 1 frame".to_owned()),
            Deed::Plug { .. } | Deed::Unplug { .. } | Deed::Remove { .. } => Ok(()),
            Deed::Fault { .. } | Deed::Plca { .. } | Deed::Cut(None) | Deed::Queue { .. } => Ok(()),
        }
    }

    /// A station takes the next seat, or the one that a station of its name has already.
    fn check_joining(&self, names: &Names, station: StationId, who: &Joiner) -> Result<(), String> {
        let (name, seats) = (who.name(), self.topology.stations());
        let right = names.station(name).map_or(names.len(), StationId::index);
        if station.index() != right || right >= seats {
            let seat = station.index();
            return Err(format!("`seat` is {seat} for {name}: the next one is {right}, and the last {}", seats - 1));
        }
        let Some(place) = who.place else { return Ok(()) };
        if !self.planned.is_seat(station) || self.joined.contains(&station) {
            return Err(format!("`place` of {name}, which joins again: it has the place that it had"));
        }
        self.planned.check_place(place).map_err(|error| format!("`place` of {name}: {error}"))
    }
}

/// A line about a deed, which has the columns of the deed beside these two.
#[derive(Deserialize)]
struct Row {
    t: u64,
    #[serde(rename = "layer")]
    _layer: IgnoredAny,
    #[serde(flatten)]
    deed: Deed<String>,
}

/// When something was done to the bus, and what.
///
/// # Errors
/// A line that is no deed, or a deed that this medium cannot have.
pub(super) fn read_deed(line: &[u8], names: &Names, seating: &Seating) -> Result<(u64, Deed), String> {
    let Row { t, deed, .. } = serde_json::from_slice(line).map_err(|error| damage::told(line, &error))?;
    let deed = deed.try_map(|name| station(names, &name))?;
    seating.check(names, &deed).map(|()| (t, deed))
}

/// Appends what was done to the bus, without the line's end.
pub(crate) fn write_deed(line: &mut Vec<u8>, names: &Names, at: BitInstant, deed: Deed) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, at.get());
    string(line, "layer", LAYER);
    line.push(b',');
    let brace = line.len();
    let Ok(named) = deed.try_map(|station| Ok::<_, Infallible>(names.name(station)));
    serde_json::to_writer(&mut *line, &named).expect("numbers and names");
    line.remove(brace);
}

/// Appends what a station gets from outside.
pub(super) fn write_call(line: &mut Vec<u8>, names: &Names, at: BitInstant, station: StationId, call: &Call) {
    match call {
        Call::Begin { command, has_input } => {
            write_text(line, names, (at, station), ["command"; 2], command);
            if *has_input {
                truth(line, "input", true);
            }
        }
        Call::Input { command, octets } => {
            begin(line, names, at, station, "input");
            number(line, "command", *command as u64);
            write_octets(line, octets);
        }
    }
    line.push(b'}');
}

/// Appends what a station offers from now on.
pub(super) fn write_traffic(line: &mut Vec<u8>, names: &Names, at: BitInstant, station: StationId, arrivals: &str) {
    write_text(line, names, (at, station), ["traffic", "arrivals"], arrivals);
    line.push(b'}');
}

fn write_text(
    line: &mut Vec<u8>,
    names: &Names,
    (at, station): (BitInstant, StationId),
    [kind, column]: [&str; 2],
    text: &str,
) {
    begin(line, names, at, station, kind);
    key(line, column);
    serde_json::to_writer(line, text).expect("a string");
}

fn begin(line: &mut Vec<u8>, names: &Names, at: BitInstant, station: StationId, kind: &str) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, at.get());
    string(line, "kind", kind);
    string(line, "station", names.escaped(station));
}

/// Appends an offered frame, without the line's end.
pub(super) fn write_offer(
    line: &mut Vec<u8>,
    names: &Names,
    at: BitInstant,
    (station, frame): (StationId, &Frame),
    octets: Option<&[u8]>,
) {
    begin(line, names, at, station, "offer");
    number(line, "size", frame.size.get().into());
    write_destination(line, names, frame);
    octets.into_iter().for_each(|octets| write_octets(line, octets));
    line.push(b'}');
}

/// Appends the addressee of a frame, and whether the frame has a VLAN tag.
pub(super) fn write_destination(line: &mut Vec<u8>, names: &Names, frame: &Frame) {
    match frame.destination {
        Destination::All => string(line, "destination", "all"),
        // No address of this medium: a log knows only its own stations.
        Destination::Nobody | Destination::Beyond(_) => string(line, "destination", "nobody"),
        Destination::Station(station) => {
            key(line, "destination");
            line.extend_from_slice(b"{\"station\":\"");
            line.extend_from_slice(names.escaped(station).as_bytes());
            line.extend_from_slice(b"\"}");
        }
    }
    truth(line, "tagged", frame.tagged);
}

/// Appends the column `octets`: two hexadecimal digits for each.
pub fn write_octets(line: &mut Vec<u8>, octets: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    key(line, "octets");
    line.push(b'"');
    line.extend(octets.iter().flat_map(|&octet| [octet >> 4, octet & 15]).map(|digit| DIGITS[usize::from(digit)]));
    line.push(b'"');
}
