//! What a run is given, as rows of a trace: deeds, and at the levels that have inputs, frames and commands.

use crate::files::columns::{key, number, string, truth};
use crate::files::damage;
use crate::files::event_log::{Digest, Names};
use crate::files::observer::End;
use crate::files::programs::Call;
use crate::words::prose::push_number;
use medium::{BitInstant, Config, Deed, Destination, Frame, Input, Joiner, StationId, Topology};
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::convert::Infallible;

/// What `layer` says in rows about deeds.
pub(crate) const LAYER: &str = "deed";
/// What `layer` says in rows about everything else that a run is given.
pub(super) const INPUT: &str = "input";

/// What a run was given, which is what a replay needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// An input of the medium.
    Input {
        /// When.
        at: BitInstant,
        /// What.
        input: Input,
        /// Of a frame that had octets, those without FCS.
        octets: Option<Vec<u8>>,
    },
    /// A station of a virtual lab gets something from outside.
    Call {
        /// When.
        at: BitInstant,
        /// The station.
        station: StationId,
        /// What.
        call: Call,
    },
    /// A station offers something else from now on.
    Traffic {
        /// When.
        at: BitInstant,
        /// The station.
        station: StationId,
        /// What, as a scenario has it.
        arrivals: String,
    },
    /// The tally starts from zero.
    Restart {
        /// Everything due up to here has been run.
        run_to: BitInstant,
        /// When.
        at: BitInstant,
    },
    /// The end, always the last.
    End {
        /// How the run ended.
        end: End,
        /// Number and digest of its events, if the writer counted them.
        digest: Option<Digest>,
    },
}

impl Given {
    /// When.
    pub fn instant(&self) -> BitInstant {
        match self {
            Given::Input { at, .. } | Given::Call { at, .. } | Given::Traffic { at, .. } => *at,
            Given::Restart { at, .. } => *at,
            Given::End { end, .. } => BitInstant::new(end.t),
        }
    }

    /// Whether it is a frame.
    pub fn is_offer(&self) -> bool {
        matches!(self, Given::Input { input: Input::Offer { .. }, .. })
    }
}

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
            _ => Ok(()),
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

/// Appends what a run was given, deeds excepted, without the line's end.
pub(super) fn write_given(line: &mut Vec<u8>, names: &Names, given: &Given) {
    match given {
        Given::Input { at, input: Input::Offer { station, frame }, octets } => {
            return write_offer(line, names, *at, (*station, frame), octets.as_deref());
        }
        Given::Input { at, input: Input::Deed(deed), .. } => return write_deed(line, names, *at, *deed),
        Given::Call { at, station, call } => write_call(line, names, (*at, *station), call),
        Given::Traffic { at, station, arrivals } => {
            begin(line, *at, "traffic");
            string(line, "station", names.escaped(*station));
            text(line, "arrivals", arrivals);
        }
        Given::Restart { run_to, at } => {
            begin(line, *at, "restart");
            number(line, "run_to", run_to.get());
        }
        Given::End { end, digest } => {
            begin(line, BitInstant::new(end.t), "end");
            number(line, "run_to", end.run_to);
            if let Some(Digest { events, crc32 }) = digest {
                number(line, "events", *events);
                number(line, "events_crc32", u64::from(*crc32));
            }
        }
    }
    line.push(b'}');
}

/// Appends what a station gets from outside.
fn write_call(line: &mut Vec<u8>, names: &Names, (at, station): (BitInstant, StationId), call: &Call) {
    let kind = if matches!(call, Call::Begin { .. }) { "command" } else { "stdin" };
    begin(line, at, kind);
    string(line, "station", names.escaped(station));
    match call {
        Call::Begin { command, has_input } => {
            text(line, "command", command);
            if *has_input {
                truth(line, "has_stdin", true);
            }
        }
        Call::Input { command, octets } => {
            number(line, "number", *command as u64);
            write_octets(line, octets);
        }
    }
}

fn text(line: &mut Vec<u8>, column: &str, text: &str) {
    key(line, column);
    serde_json::to_writer(line, text).expect("a string");
}

fn begin(line: &mut Vec<u8>, at: BitInstant, kind: &str) {
    line.extend_from_slice(b"{\"t\":");
    push_number(line, at.get());
    string(line, "layer", INPUT);
    string(line, "kind", kind);
}

/// Appends an offered frame, without the line's end.
pub(super) fn write_offer(
    line: &mut Vec<u8>,
    names: &Names,
    at: BitInstant,
    (station, frame): (StationId, &Frame),
    octets: Option<&[u8]>,
) {
    begin(line, at, "offer");
    string(line, "station", names.escaped(station));
    number(line, "size", frame.size.get().into());
    write_destination(line, names, frame);
    octets.into_iter().for_each(|octets| write_octets(line, octets));
    line.push(b'}');
}

/// Appends the addressee of a frame, and whether the frame has a VLAN tag.
pub(super) fn write_destination(line: &mut Vec<u8>, names: &Names, frame: &Frame) {
    match frame.destination {
        Destination::All => string(line, "destination", "all"),
        // No address of this medium: a trace knows only its own stations.
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

/// The column `octets` as it is read.
#[derive(Debug)]
pub(super) struct Hexadecimal(pub Vec<u8>);

impl<'de> Deserialize<'de> for Hexadecimal {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Hexadecimal, D::Error> {
        let digits = Cow::<str>::deserialize(value)?;
        let digit = |octet: u8| char::from(octet).to_digit(16).map(|digit| digit as u8);
        let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
        let octets: Option<Vec<u8>> = digits.as_bytes().chunks(2).map(pair).collect();
        let wrong = "`octets` is no list of octets: it has two hexadecimal digits for each";
        octets.map(Hexadecimal).ok_or_else(|| D::Error::custom(wrong))
    }
}
