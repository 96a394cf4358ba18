//! Inputs of the medium as lines: all of them in a record, and in an event log those that are no frames.

use crate::files::columns::{key, number, string, truth};
use crate::files::event_log::Names;
use crate::files::programs::Call;
use crate::words::MacAddr;
use crate::words::cable::Cut;
use crate::words::fault::FaultName;
use crate::words::plca::SettingsText;
use crate::words::prose::push_number;
use medium::{BitInstant, Config, Destination, Frame, Input, Joiner, Place, StationId, Topology};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// What `layer` says in an event log's lines about inputs.
pub(crate) const LAYER: &str = "input";

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

/// A station that joins, as a line says it.
pub(super) struct JoinText<'a> {
    pub name: &'a str,
    pub seat: u16,
    pub mac: &'a str,
    /// Where, if it has a place of its own.
    pub place: Option<Cut>,
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
    pub fn take(&mut self, input: &Input) {
        let Input::Join { station, who } = *input else { return };
        self.joined.insert(station);
        let moved = who.place.and_then(|place| self.topology.with_place(station, place).ok().flatten());
        self.topology = moved.unwrap_or_else(|| self.topology.clone());
    }

    /// Who joins at which seat: the next one, or the one that a station of this name has already.
    ///
    /// # Errors
    /// Another seat, no address, a name that no station can have, or a place that this one cannot have.
    pub fn joining(&self, names: &Names, text: &JoinText<'_>) -> Result<Input, String> {
        let JoinText { name, seat, mac, place } = *text;
        let seats = self.topology.stations();
        let (right, station) = (names.station(name).map_or(names.len(), StationId::index), StationId::new(seat));
        if station.index() != right || right >= seats {
            return Err(format!("`seat` is {seat} for {name}: the next one is {right}, and the last {}", seats - 1));
        }
        let address: MacAddr = mac.parse().map_err(|_| format!("`mac` is `{mac}`, which is no address"))?;
        let who = Joiner::new(name, address.octets()).ok_or_else(|| format!("no station can be called `{name}`"))?;
        let place = place.map(Place::from);
        if let Some(place) = place {
            if !self.planned.is_seat(station) || self.joined.contains(&station) {
                return Err(format!("`place` of {name}, which joins again: it has the place that it had"));
            }
            self.planned.check_place(place).map_err(|error| format!("`place` of {name}: {error}"))?;
        }
        Ok(Input::Join { station, who: who.at(place) })
    }

    /// A cut at a place, or none.
    ///
    /// # Errors
    /// The cable cannot be cut there.
    pub fn cut(&self, cut: Option<Cut>) -> Result<Input, String> {
        let cut = cut.map(Place::from);
        cut.map_or(Ok(()), |cut| self.topology.beyond(cut).map(|_| ())).map_err(|error| error.to_string())?;
        Ok(Input::SetCut { cut })
    }
}

/// Queues that hold this number of frames, as a line says it.
///
/// # Errors
/// No queue holds no frame.
pub(super) fn queue(limit: u32) -> Result<Input, String> {
    match limit {
        0 => Err("`queue` is 0: a queue holds at least 1 frame".to_owned()),
        limit => Ok(Input::SetQueue { limit: limit as usize }),
    }
}

/// The names of all kinds of inputs.
pub(crate) const KINDS: [&str; 9] =
    ["offer", "attach", "detach", "set_fault", "set_plca", "set_cut", "join", "leave", "set_queue"];

/// The name of an input's kind.
pub(crate) fn kind(input: &Input) -> &'static str {
    KINDS[match input {
        Input::Offer { .. } => 0,
        Input::Attach { .. } => 1,
        Input::Detach { .. } => 2,
        Input::SetFault { .. } => 3,
        Input::SetPlca { .. } => 4,
        Input::SetCut { .. } => 5,
        Input::Join { .. } => 6,
        Input::Leave { .. } => 7,
        Input::SetQueue { .. } => 8,
    }]
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

/// Appends an input, without the line's end; nothing for the passing of time.
pub(crate) fn write(
    line: &mut Vec<u8>,
    names: &Names,
    at: BitInstant,
    input: &Input,
    octets: Option<&[u8]>,
    layer: Option<&str>,
) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, at.get());
    if let Some(layer) = layer {
        string(line, "layer", layer);
    }
    string(line, "kind", kind(input));
    if let Some(station) = input.station() {
        string(line, "station", names.escaped(station));
    }
    match input {
        Input::Attach { .. } | Input::Detach { .. } | Input::Leave { .. } => {}
        Input::Join { station, who } => {
            number(line, "seat", station.index() as u64);
            string(line, "mac", &MacAddr::from(who.address).to_string());
            if let Some(place) = who.place {
                key(line, "place");
                serde_json::to_writer(&mut *line, &Cut::from(place)).expect("numbers");
            }
        }
        Input::Offer { frame, .. } => {
            number(line, "size", frame.size.get().into());
            write_destination(line, names, frame);
            octets.into_iter().for_each(|octets| write_octets(line, octets));
        }
        Input::SetFault { fault, .. } => {
            key(line, "fault");
            serde_json::to_writer(&mut *line, &fault.map(FaultName)).expect("a name");
        }
        Input::SetPlca { settings, .. } => {
            key(line, "plca");
            serde_json::to_writer(&mut *line, &SettingsText::from(*settings)).expect("numbers");
        }
        Input::SetCut { cut } => {
            key(line, "cut");
            serde_json::to_writer(&mut *line, &cut.map(Cut::from)).expect("numbers");
        }
        Input::SetQueue { limit } => number(line, "queue", *limit as u64),
    }
    line.push(b'}');
}

/// Appends whom a frame is for, and whether it has a VLAN tag.
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
