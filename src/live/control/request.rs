//! A request as it is written: one line of JSON-RPC 2.0.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":1,"method":"fault","params":{"station":"st1","fault":"deaf"}}
//! ```

use super::answer::RpcError;
use crate::live::plane::protocol::Change;
use medium::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sim::windows::capture::Framing;
use sim::words::cable::Cut;
use sim::words::fault::FaultName;
use sim::words::plca::SettingsText;
use std::io::{self, BufRead, Read};

/// The version of the protocol. It changes with each change that a client of the version before could not understand.
pub const VERSION: u32 = 1;
/// The version of JSON-RPC.
pub const JSON_RPC: &str = "2.0";
/// The longest request, in octets: one that names a thousand stations.
pub const LONGEST: u64 = 1 << 16;
/// The longest step, in bit times: at 10 Mb/s a minute and a half.
const LONGEST_STEP: u64 = 1_000_000_000;
/// The least span between two results of a subscription, in seconds.
const LEAST_SPAN: f64 = 0.1;

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
    /// Make a station faulty or right again, and tell the results after that.
    Fault {
        /// Its name.
        station: String,
        /// The fault; `null` for none.
        fault: Option<FaultName>,
    },
    /// Give a station other settings of PLCA, and tell the results after that.
    Plca {
        /// Its name.
        station: String,
        /// All of them.
        settings: SettingsText,
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
    Cut(Cut),
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
    /// The methods that documents have, in their order there.
    pub const METHODS: [&str; 21] = [
        "version",
        "stats",
        "subscribe",
        "keep",
        "discards",
        "down",
        "attach",
        "detach",
        "add",
        "set",
        "remove",
        "fault",
        "plca",
        "pause",
        "step",
        "resume",
        "cut",
        "mend",
        "capture",
        "enter",
        "exec",
    ];
    /// Those for tests.
    const HIDDEN: [&str; 3] = ["panic", "trespass", "bus_panic"];

    /// The request for a change of a station.
    pub fn change(station: &str, change: Change) -> Control {
        let station = station.to_owned();
        match change {
            Change::Attach => Control::Attach { station },
            Change::Detach => Control::Detach { station },
            Change::Fault(fault) => Control::Fault { station, fault },
            Change::Plca(settings) => Control::Plca { station, settings },
        }
    }

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
            Control::Subscribe(Subscription { results_every_s: Some(span), .. })
                if !(LEAST_SPAN..=1e6).contains(span) =>
            {
                Err(format!("`results_every_s` is {span}: it is from {LEAST_SPAN} to a million seconds"))
            }
            Control::Subscribe(Subscription { events: Some(wanted), .. }) => wanted.check(),
            Control::Step { bit_times: Some(bits) } if !(1..=LONGEST_STEP).contains(bits) => {
                Err(format!("`bit_times` is {bits}: it is from 1 to {LONGEST_STEP}"))
            }
            Control::Exec { command, .. } if command.trim().is_empty() || command.contains('\0') => {
                Err("`command` is a line of a shell, like `ping -c 3 st2`".to_owned())
            }
            Control::Plca { settings, .. } => {
                medium::PlcaSettings::from(*settings).check().map_err(|error| error.to_string())
            }
            _ => Ok(()),
        }
    }
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

/// The envelope of a request.
#[derive(Deserialize)]
struct Envelope {
    jsonrpc: Option<String>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// A request, and the number or text that its answer repeats. A notification has none, and gets no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What the answer repeats.
    pub id: Option<Value>,
    /// The request, or why it is none.
    pub request: Result<Control, RpcError>,
}

impl Asked {
    /// Reads the next line, and no more than a request may be long; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn read_from(input: &mut impl BufRead) -> io::Result<Option<Asked>> {
        let mut line = Vec::new();
        input.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let is_whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST;
        Ok(Some(if is_whole { Asked::read(&line) } else { Asked::too_long() }))
    }

    fn too_long() -> Asked {
        let why = format!("a request is one line of at most {LONGEST} octets");
        Asked { id: Some(Value::Null), request: Err(RpcError::invalid_request(&why)) }
    }

    fn read(line: &[u8]) -> Asked {
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) => return Asked { id: Some(Value::Null), request: Err(RpcError::no_json(&error)) },
        };
        let id = value.get("id").cloned();
        let is_id = id.as_ref().is_none_or(|id| id.is_string() || id.is_number() || id.is_null());
        if !value.is_object() || !is_id {
            let why = "a request is one object, and its `id` a number or a text";
            return Asked { id: Some(Value::Null), request: Err(RpcError::invalid_request(why)) };
        }
        Asked { id, request: request(value) }
    }
}

fn request(value: Value) -> Result<Control, RpcError> {
    let envelope = serde_json::from_value(value).map_err(|error| RpcError::invalid_request(&error.to_string()))?;
    let Envelope { jsonrpc, method, params } = envelope;
    if jsonrpc.as_deref() != Some(JSON_RPC) {
        return Err(RpcError::invalid_request(&format!("`jsonrpc` is \"{JSON_RPC}\" in a request")));
    }
    let Some(method) = method else { return Err(RpcError::invalid_request("`method` names what is wanted")) };
    if !Control::METHODS.iter().chain(&Control::HIDDEN).any(|known| *known == method) {
        return Err(RpcError::no_method(&method));
    }
    let is_empty = params.is_null() || params.as_object().is_some_and(serde_json::Map::is_empty);
    let own = match is_empty {
        true => json!({ "method": &method }),
        false => json!({ "method": &method, "params": params }),
    };
    // A method all of whose parameters may be missing has an object of them all the same.
    let read = serde_json::from_value(own).or_else(|error| match is_empty {
        true => serde_json::from_value(json!({ "method": &method, "params": {} })),
        false => Err(error),
    });
    let request: Control = read.map_err(|error| RpcError::invalid_params(&format!("{method}: {error}")))?;
    request.check().map_err(|why| RpcError::invalid_params(&format!("{method}: {why}")))?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::super::answer::code;
    use super::*;
    use medium::{Fault, PlcaSettings};
    use std::collections::BTreeSet;

    /// One request of each method.
    fn all() -> Vec<Control> {
        let station = || "a-name-of-15.oc".to_owned();
        let settings = SettingsText::from(PlcaSettings { burst_count: 255, ..PlcaSettings::off() });
        let keys = ["name", "mac", "kind", "interface", "netns", "bridge", "remote", "local", "vni", "port", "fault"];
        let more = ["ipv4", "ipv6", "position", "segment", "arrivals", "frame_size", "destination"];
        let added = keys.into_iter().chain(more).map(|key| (key.to_owned(), json!("a"))).collect();
        let keys = ["station", "arrivals", "frame_size", "destination", "queue", "filter", "until"];
        let set = keys.map(|key| (key.to_owned(), json!("a"))).into_iter().collect();
        let wanted = Wanted { stations: vec![station()], kinds: vec!["collision".to_owned()] };
        let filter = "collisions,station=a-name-of-15.oc,address=02:eb:00:00:00:01".to_owned();
        vec![
            Control::Version,
            Control::Stats,
            Control::Subscribe(Subscription { events: Some(wanted), results_every_s: Some(1.5) }),
            Control::Keep,
            Control::Discards { station: station() },
            Control::Down,
            Control::Attach { station: station() },
            Control::Detach { station: station() },
            Control::Add(added),
            Control::Set(set),
            Control::Remove { station: station() },
            Control::Fault { station: station(), fault: Some(FaultName(Fault::BadFcs)) },
            Control::Plca { station: station(), settings },
            Control::Pause,
            Control::Step { bit_times: Some(1) },
            Control::Resume,
            Control::Cut(Cut { segment: 1023, position_bt: u64::MAX }),
            Control::Mend,
            Control::Capture { framing: Framing::Plain, filter },
            Control::Enter { station: station() },
            Control::Exec { station: station(), command: "ping -c 3 st2".to_owned(), input: true },
        ]
    }

    #[test]
    fn every_request_is_read_as_it_was_written() {
        let own = [
            Control::Fault { station: "st1".to_owned(), fault: None },
            Control::Subscribe(Subscription { events: Some(Wanted::default()), results_every_s: None }),
            Control::Panic,
            Control::Trespass,
            Control::BusPanic,
        ];
        for request in all().into_iter().chain(own) {
            let asked = Asked::read(request.line().as_bytes());
            assert_eq!(asked, Asked { id: Some(json!(1)), request: Ok(request) });
        }
        let written = |request: &Control| serde_json::to_value(request).expect("names");
        let methods: Vec<Value> = all().iter().map(|request| written(request)["method"].clone()).collect();
        assert_eq!(methods, Control::METHODS);
    }

    /// The document has each method with its parameters, and its examples are requests.
    #[test]
    fn the_schema_has_every_method() {
        let document = include_str!("../../../docs/api.json");
        let document: Value = serde_json::from_str(document).expect("JSON");
        assert_eq!(document["info"]["version"], json!(VERSION.to_string()));
        let names: Vec<&str> = document["methods"]
            .as_array()
            .expect("methods")
            .iter()
            .map(|method| method["name"].as_str().expect("a name"))
            .collect();
        assert_eq!(names, Control::METHODS);
        for (method, request) in document["methods"].as_array().expect("methods").iter().zip(all()) {
            let written = serde_json::to_value(&request).expect("names");
            let own = written["params"].as_object().map_or(BTreeSet::new(), |it| it.keys().cloned().collect());
            let params = method["params"].as_array().expect("params").iter();
            let told: BTreeSet<String> = params.map(|it| it["name"].as_str().expect("a name").to_owned()).collect();
            assert_eq!(told, own, "{}", method["name"]);
            for example in method["examples"].as_array().expect("examples") {
                let params: Value = example["params"]
                    .as_array()
                    .expect("params")
                    .iter()
                    .map(|it| (it["name"].as_str().expect("a name").to_owned(), it["value"].clone()))
                    .collect();
                let line = json!({"jsonrpc": "2.0", "id": 1, "method": method["name"], "params": params}).to_string();
                assert!(Asked::read(line.as_bytes()).request.is_ok(), "{line}: {:?}", Asked::read(line.as_bytes()));
            }
        }
    }

    /// What is no request is refused with its code, and with what would be right.
    #[test]
    fn what_is_wrong_is_named() {
        for (line, code, words) in [
            ("stats", code::NO_JSON, "expected value at line 1 column 1"),
            ("[]", code::INVALID_REQUEST, "one object"),
            (r#"{"method":"stats"}"#, code::INVALID_REQUEST, "`jsonrpc` is \"2.0\""),
            (r#"{"jsonrpc":"2.0","id":{},"method":"stats"}"#, code::INVALID_REQUEST, "`id` a number or a text"),
            (r#"{"jsonrpc":"2.0","id":1}"#, code::INVALID_REQUEST, "`method`"),
            (r#"{"jsonrpc":"2.0","method":7}"#, code::INVALID_REQUEST, "invalid type: integer `7`"),
            (r#"{"jsonrpc":"2.0","method":"stat"}"#, code::NO_METHOD, "version, stats, subscribe"),
            (r#"{"jsonrpc":"2.0","method":"stats","params":{"a":1}}"#, code::INVALID_PARAMS, "stats: invalid type"),
            (r#"{"jsonrpc":"2.0","method":"attach"}"#, code::INVALID_PARAMS, "attach: missing field `station`"),
            (
                r#"{"jsonrpc":"2.0","method":"fault","params":{"station":"a","fault":"mute"}}"#,
                code::INVALID_PARAMS,
                "fault: `mute` is no fault: write `deaf`",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"fault","params":{"station":"a","fault":null,"now":1}}"#,
                code::INVALID_PARAMS,
                "unknown field `now`",
            ),
            (r#"{"jsonrpc":"2.0","method":"subscribe"}"#, code::INVALID_PARAMS, "`results_every_s` or both"),
            (
                r#"{"jsonrpc":"2.0","method":"subscribe","params":{"results_every_s":0}}"#,
                code::INVALID_PARAMS,
                "from 0.1",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"subscribe","params":{"events":{"kinds":["crash"]}}}"#,
                code::INVALID_PARAMS,
                "`crash` is no kind of event: the kinds are offered",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"plca","params":{"station":"a","settings":{"enabled":true,"node-id":2,"node-cnt":8,"to-tmr":0,"burst-cnt":0,"burst-tmr":128}}}"#,
                code::INVALID_PARAMS,
                "plca: ",
            ),
        ] {
            let refusal = Asked::read(line.as_bytes()).request.expect_err(line);
            assert_eq!(refusal.code, code, "{line}: {refusal:?}");
            assert!(refusal.message.contains(words), "{line}: {refusal:?}");
        }
        let mut long = io::Cursor::new([b' '; LONGEST as usize + 1]);
        let asked = Asked::read_from(&mut long).expect("a stream").expect("a line");
        assert!(asked.request.expect_err("too long").message.contains("65536 octets"));
    }
}
