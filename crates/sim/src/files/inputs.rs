//! Inputs of the medium as lines: all of them in a record, and in an event log those that are no frames.

use crate::files::columns::{key, number, string, truth};
use crate::files::event_log::Names;
use crate::files::programs::Call;
use crate::words::MacAddr;
use crate::words::cable::Cut;
use crate::words::fault::FaultName;
use crate::words::plca::SettingsText;
use crate::words::prose::push_number;
use medium::{BitInstant, Destination, Frame, Input, Joiner, StationId};
use serde::{Deserialize, Serialize};

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

/// Who joins at which seat, as a line says it: the next one, or the one that a station of this name has already.
///
/// # Errors
/// Another seat, no address, or a name that no station can have.
pub(super) fn joining(names: &Names, seats: usize, name: &str, seat: u16, mac: &str) -> Result<Input, String> {
    let (right, station) = (names.station(name).map_or(names.len(), StationId::index), StationId::new(seat));
    if station.index() != right || right >= seats {
        return Err(format!("`seat` is {seat} for {name}: the next one is {right}, and the last {}", seats - 1));
    }
    let address: MacAddr = mac.parse().map_err(|_| format!("`mac` is `{mac}`, which is no address"))?;
    let who = Joiner::new(name, address.octets()).ok_or_else(|| format!("no station can be called `{name}`"))?;
    Ok(Input::Join { station, who })
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

/// Appends what a station gets from outside, likewise.
pub(super) fn write_call(line: &mut Vec<u8>, names: &Names, at: BitInstant, station: StationId, call: &Call) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, at.get());
    let kind = if let Call::Begin { .. } = call { "command" } else { "input" };
    string(line, "kind", kind);
    string(line, "station", names.escaped(station));
    match call {
        Call::Begin { command, has_input } => {
            line.extend_from_slice(b",\"command\":");
            serde_json::to_writer(&mut *line, command).expect("a string");
            if *has_input {
                truth(line, "input", true);
            }
        }
        Call::Input { command, octets } => {
            number(line, "command", *command as u64);
            write_octets(line, octets);
        }
    }
    line.push(b'}');
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
        Destination::Nobody => string(line, "destination", "nobody"),
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
