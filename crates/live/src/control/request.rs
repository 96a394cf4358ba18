//! A request as it is written: one line of JSON-RPC 2.0.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":1,"method":"fault","params":{"station":"st1","fault":"deaf"}}
//! ```

use super::answer::{RpcError, code};
use super::document;
use crate::lab::inventory::LEAST_DIGITS;
use medium::{Fault, Kind, Place, PlcaSettings};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sim::figures::results::check::is_plain;
use sim::windows::capture::Framing;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// The version of the protocol. It changes with each change that a client of the version before could not understand.
pub const VERSION: u32 = 1;
/// The version of JSON-RPC.
pub const JSON_RPC: &str = "2.0";
/// The longest request, in octets: one that names a thousand stations.
pub const LONGEST: u64 = 1 << 16;
/// The longest name of a container, in octets.
const LONGEST_NAME: usize = 255;

/// A client's request to a lab: the methods of the protocol, and their parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case", deny_unknown_fields)]
pub enum Control {
    /// Tell the versions of protocol and program.
    Version,
    /// Tell the results so far.
    Stats,
    /// Tell events, results or both from now on.
    Subscribe(Subscription),
    /// Write the last seconds, and tell the file's name.
    Keep,
    /// Tell the path of the socket at which programs of a station hear of its discards.
    Discards {
        /// Its name.
        station: String,
    },
    /// Take the lab down.
    Down,
    /// Put a station back on the medium, and tell the results after that.
    Attach {
        /// Its name.
        station: String,
    },
    /// Take a station off the medium, and tell the results after that.
    Detach {
        /// Its name.
        station: String,
    },
    /// Have a station join, and tell what it has.
    Add(Map<String, Value>),
    /// Set what a station offers, the length of queues, the filter or the lab's end, and tell the results after that.
    Set(Map<String, Value>),
    /// Have a station leave, and tell the results after that.
    Remove {
        /// Its name.
        station: String,
    },
    /// Note what a container engine calls a station's container, and tell the results after that.
    Label {
        /// The station; none for the network that the lab is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        station: Option<String>,
        /// The name.
        name: String,
        /// The container's identifier.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// Make a station faulty or right again, and tell the results after that.
    Fault {
        /// Its name.
        station: String,
        /// The fault; `null` for none.
        fault: Option<Fault>,
    },
    /// Give a station other settings of PLCA, and tell the results after that.
    Plca {
        /// Its name.
        station: String,
        /// All of them.
        settings: PlcaSettings,
    },
    /// Stop the medium's clock, and tell the results after that.
    Pause,
    /// Let the stopped clock go on a little, and tell the results after that.
    Step {
        /// For this number of bit times; up to the next event if it is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bit_times: Option<u64>,
    },
    /// Start the medium's clock again, and tell the results after that.
    Resume,
    /// Cut the cable, and tell the results after that.
    Cut(Place),
    /// Mend the cable, and tell the results after that.
    Mend,
    /// Write a capture until the client sends no more, or the lab ends.
    Capture {
        /// What frames are written with.
        #[serde(default)]
        framing: Framing,
        /// Which packets are written; everything if it is empty.
        #[serde(default)]
        filter: String,
    },
    /// Hand a station's namespace over, and the user namespace that owns it: for labs whose namespaces have no names.
    Enter {
        /// Its name.
        station: String,
    },
    /// Run a line of a shell in a station of a virtual lab. What it prints follows the answer, and then how it ended.
    Exec {
        /// The station.
        station: String,
        /// The line.
        command: String,
        /// The client sends its standard input after the answer, as it is, up to the end of its direction.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        input: bool,
    },
    /// Panic, so that a test can see the lab cleaned up all the same. Not in release builds.
    Panic,
    /// Have the data plane make a system call that it may not make, for a test again. Not in release builds.
    Trespass,
    /// Have it panic, likewise.
    BusPanic,
}

/// What a client wants to be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Which events; none if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Wanted>,
    /// The span between two results, in seconds; no results if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_every_s: Option<f64>,
}

/// Which events a client wants. What is done to the medium, it is always told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wanted {
    /// At these stations, or about their frames; all stations if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<String>,
    /// Of these kinds; all kinds if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
}

impl Control {
    /// The methods for tests, which the document leaves out.
    const HIDDEN: [&str; 3] = ["panic", "trespass", "bus_panic"];

    /// The request as a line.
    pub fn line(&self) -> String {
        let mut request = json!({ "jsonrpc": JSON_RPC, "id": 1 });
        let Value::Object(own) = serde_json::to_value(self).expect("numbers and names") else {
            unreachable!("a method and its parameters")
        };
        request.as_object_mut().expect("an object").extend(own);
        format!("{request}\n")
    }

    /// Why a lab refuses it, in virtual time or in real time, if it does.
    pub fn refusal(&self, is_virtual: bool) -> Option<&'static str> {
        match self {
            Control::Exec { .. } if !is_virtual => {
                Some("`exec` of a lab in real time needs no request: a program enters the station's namespace")
            }
            _ if !is_virtual => None,
            Control::Add(_) | Control::Remove { .. } => Some(
                "the stations of a virtual lab are those of its scenario: `unplug` and `plug` take one off and back",
            ),
            Control::Set(_) => {
                Some("a virtual lab sets its queues by `[[at]]` in its scenario; programs offer its frames")
            }
            Control::Label { .. } => Some("a station of a virtual lab is a kernel of its own and no container"),
            Control::Enter { .. } => Some("a station of a virtual lab is a kernel of its own and no namespace"),
            Control::Discards { .. } => Some("a virtual lab has no streams of discards: its event log has them"),
            Control::Keep => Some("a virtual lab keeps no last seconds: bring it up with `--events FILE`"),
            _ => None,
        }
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Control::Subscribe(Subscription { events: None, results_every_s: None }) => {
                Err("`events`, `results_every_s` or both say what is wanted".to_owned())
            }
            Control::Subscribe(Subscription { events: Some(wanted), .. }) => wanted.check(),
            Control::Exec { command, .. } if command.trim().is_empty() || command.contains('\0') => {
                Err("`command` is a line of a shell, like `ping -c 3 st2`".to_owned())
            }
            Control::Label { name, .. } if !is_plain(name) || name.is_empty() || name.len() > LONGEST_NAME => {
                Err(format!("`name` is a text of 1 to {LONGEST_NAME} octets, none of which is a control character"))
            }
            Control::Label { station, id, .. } if station.is_some() != id.is_some() => {
                Err("`station` and `id` are a container's, and come together".to_owned())
            }
            Control::Label { id: Some(id), .. } if !is_id(id) => {
                Err(format!("`id` is `{id}`: it is {LEAST_DIGITS} to 64 hexadecimal digits, the letters small"))
            }
            Control::Plca { settings, .. } => settings.check().map_err(|error| error.to_string()),
            _ => Ok(()),
        }
    }
}

/// Whether a text is a container's identifier.
fn is_id(id: &str) -> bool {
    (LEAST_DIGITS..=64).contains(&id.len()) && id.bytes().all(|octet| matches!(octet, b'0'..=b'9' | b'a'..=b'f'))
}

impl Wanted {
    fn check(&self) -> Result<(), String> {
        let is_known = |kind: &String| Kind::ALL.iter().any(|(name, _)| name == kind);
        match self.kinds.iter().find(|kind| !is_known(kind)) {
            None => Ok(()),
            Some(kind) => {
                let names: Vec<&str> = Kind::ALL.iter().map(|(name, _)| *name).collect();
                Err(format!("`{kind}` is no kind of event: the kinds are {}", names.join(", ")))
            }
        }
    }
}

/// A request, and what its answer repeats. A notification has nothing to repeat, and gets no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The JSON that the answer repeats, as it was sent: a number, a text or `null`.
    pub id: Option<String>,
    /// The request, or why it is none.
    pub request: Result<Control, RpcError>,
}

/// A line: one request, or a batch of them.
#[derive(Debug)]
pub struct Line {
    /// The requests.
    pub asked: Vec<Asked>,
    /// They are a batch: so are the answers.
    pub is_batch: bool,
    /// The end of the line was read. The rest of a line that is too long is no request.
    pub is_whole: bool,
}

impl Line {
    /// Reads the next line, and no more than a request may be long; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn read_from(input: &mut impl BufRead) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST;
        let why = || RpcError::invalid_request(&format!("a request is one line of at most {LONGEST} octets"));
        let line = if is_whole { Line::read(&line) } else { Line::one(Asked::refused(why())) };
        Ok(Some(Line { is_whole, ..line }))
    }

    fn one(asked: Asked) -> Line {
        Line { asked: vec![asked], is_batch: false, is_whole: true }
    }

    fn read(line: &[u8]) -> Line {
        if line.trim_ascii_start().first() != Some(&b'[') {
            let value = serde_json::from_slice(line);
            return Line::one(value.map_or_else(|error| Asked::refused(RpcError::no_json(&error)), Asked::read));
        }
        match serde_json::from_slice::<Vec<&RawValue>>(line) {
            Err(error) => Line::one(Asked::refused(RpcError::no_json(&error))),
            Ok(batch) if batch.is_empty() => {
                Line::one(Asked::refused(RpcError::invalid_request("a batch has at least one request")))
            }
            Ok(batch) => {
                let asked = batch.into_iter().map(Asked::read).map(Asked::of_batch).collect();
                Line { asked, is_batch: true, is_whole: true }
            }
        }
    }
}

impl Asked {
    /// What is no request is answered all the same, with `null` where its `id` would be.
    fn refused(refusal: RpcError) -> Asked {
        Asked { id: Some("null".to_owned()), request: Err(refusal) }
    }

    fn read(request: &RawValue) -> Asked {
        // Members as they were sent: a number may have more digits than a program's numbers.
        let Ok(members) = serde_json::from_str::<HashMap<String, &RawValue>>(request.get()) else {
            return Asked::refused(RpcError::invalid_request("a request is an object"));
        };
        let id = members.get("id").map(|id| id.get().to_owned());
        if id.as_ref().is_some_and(|id| id.starts_with(['{', '[', 't', 'f'])) {
            return Asked::refused(RpcError::invalid_request("`id` is a number or a text"));
        }
        match request_of(&members) {
            Err(refusal) if refusal.code == code::INVALID_REQUEST => {
                Asked { id: id.or(Asked::refused(refusal.clone()).id), request: Err(refusal) }
            }
            request => Asked { id, request },
        }
    }

    /// The same in a batch, where no other use of the stream may follow.
    fn of_batch(self) -> Asked {
        match self.is_last() {
            true => Asked { request: Err(RpcError::invalid_request("this method is refused in a batch")), ..self },
            false => self,
        }
    }
}

fn request_of(members: &HashMap<String, &RawValue>) -> Result<Control, RpcError> {
    let text = |name| serde_json::from_str::<String>(members.get(name)?.get()).ok();
    if text("jsonrpc").as_deref() != Some(JSON_RPC) {
        return Err(RpcError::invalid_request(&format!("`jsonrpc` is \"{JSON_RPC}\" in a request")));
    }
    let Some(name) = text("method") else {
        return Err(RpcError::invalid_request("`method` is the name of a method, a text"));
    };
    let wrong = |why: String| RpcError::invalid_params(&format!("{name}: {why}"));
    let given = members.get("params").map_or("null", |params| params.get());
    if !given.starts_with(['{', '[', 'n']) {
        return Err(RpcError::invalid_request("`params` is an object or a list"));
    }
    let params = match document::method(&name) {
        Some(method) => {
            let read =
                serde_json::from_str(given).map_err(|error| wrong(format!("`params` cannot be read: {error}")))?;
            Some(method.read(read).map_err(wrong)?).filter(|_| method.has_parameters())
        }
        None if Control::HIDDEN.contains(&name.as_str()) => None,
        None => return Err(RpcError::no_method(&name)),
    };
    let own = match params {
        Some(params) => json!({ "method": &name, "params": params }),
        None => json!({ "method": &name }),
    };
    let request: Control = serde_json::from_value(own).map_err(|error| wrong(error.to_string()))?;
    request.check().map_err(wrong)?;
    Ok(request)
}

#[cfg(test)]
mod tests;
