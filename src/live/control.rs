//! Requests to a lab that is up: one line on a socket that only its user may open.

use crate::live::clients::{InTime, side_by_side};
use crate::live::lab::inventory::Inventory;
use crate::live::plane::protocol::Change;
use crate::live::supervisor::RESULTS;
use crossbeam_channel::{Receiver, bounded};
use link::channel::{Channel, hold};
use link::namespace::{Namespace, UserNamespace};
use serde::{Deserialize, Serialize};
use sim::figures::results::Results;
use sim::windows::capture::Framing;
use sim::words::cable::Cut;
use sim::words::fault::{FaultName, fault};
use sim::words::plca::SettingsText;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a lab may take to be taken down: a thousand stations take a while.
const LONGEST_END: Duration = Duration::from_secs(60);
/// How long a lab may take to answer anything else: longer than the data plane may take to answer the lab.
const LONGEST_ANSWER: Duration = Duration::from_secs(15);
/// The longest request.
const LONGEST: u64 = 128;

/// A client's request to a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Tell the results so far.
    Stats,
    /// Write events, line by line, until the reader is gone.
    Events,
    /// Write the last seconds, and tell the file's name.
    Keep,
    /// Tell the path of the socket at which programs of a station hear of its discards.
    Discards {
        /// The station's name.
        station: String,
    },
    /// Take the lab down.
    Down,
    /// Panic, so that a test can see the lab cleaned up all the same. Not in release builds.
    Panic,
    /// Have the data plane make a system call that it may not make, for a test again. Not in release builds.
    Trespass,
    /// Have it panic, likewise.
    BusPanic,
    /// Hand a station's namespace over, and the user namespace that owns it: for labs whose namespaces have no names.
    Enter {
        /// Its name.
        station: String,
    },
    /// Change a station, and tell the results after that.
    Change {
        /// Its name.
        station: String,
        /// What changes.
        change: Change,
    },
    /// Cut the cable, or mend it, and tell the results after that.
    Cable(Option<Cut>),
    /// Write a capture until the client sends no more, or the lab ends.
    Capture {
        /// What frames are written with.
        framing: Framing,
        /// Which packets are written; everything if it is empty.
        filter: String,
    },
}

impl Control {
    /// Reads one line, and no more than a request may be long; `None` if it is none.
    pub fn read_from(input: impl Read) -> Option<Control> {
        let mut line = String::new();
        BufReader::new(input.take(LONGEST)).read_line(&mut line).ok()?;
        Control::read(line.trim_end())
    }

    /// Those that are one word.
    const PLAIN: [Control; 7] = [
        Control::Stats,
        Control::Events,
        Control::Keep,
        Control::Down,
        Control::Panic,
        Control::Trespass,
        Control::BusPanic,
    ];

    fn line(&self) -> String {
        match self {
            Control::Stats => "stats".to_owned(),
            Control::Events => "events".to_owned(),
            Control::Keep => "keep".to_owned(),
            Control::Down => "down".to_owned(),
            Control::Panic => "panic".to_owned(),
            Control::Trespass => "trespass".to_owned(),
            Control::BusPanic => "bus-panic".to_owned(),
            Control::Enter { station } => format!("enter {station}"),
            Control::Discards { station } => format!("discards {station}"),
            Control::Capture { framing, filter } => {
                let framing = if *framing == Framing::Plain { "plain" } else { "whole" };
                let filter = if filter.is_empty() { String::new() } else { format!(" {filter}") };
                format!("capture {framing}{filter}")
            }
            Control::Cable(None) => "mend".to_owned(),
            Control::Cable(Some(Cut { segment, position_bt })) => format!("cut {segment} {position_bt}"),
            Control::Change { station, change: Change::Attach } => format!("attach {station}"),
            Control::Change { station, change: Change::Detach } => format!("detach {station}"),
            Control::Change { station, change: Change::Plca(settings) } => {
                let SettingsText { enabled, node_id, node_cnt, to_tmr, burst_cnt, burst_tmr } = settings;
                let enabled = u8::from(*enabled);
                format!("plca {station} {enabled} {node_id} {node_cnt} {to_tmr} {burst_cnt} {burst_tmr}")
            }
            Control::Change { station, change: Change::Fault(None) } => format!("fault {station} none"),
            Control::Change { station, change: Change::Fault(Some(fault)) } => format!("fault {station} {fault}"),
        }
    }

    fn read(line: &str) -> Option<Control> {
        if let Some(plain) = Control::PLAIN.into_iter().find(|request| line == request.line()) {
            return Some(plain);
        }
        // No interface's name, and so no station's, has a blank in it.
        let words: Vec<&str> = line.split(' ').collect();
        let (station, change) = match words[..] {
            ["enter", station] => return Some(Control::Enter { station: station.to_owned() }),
            ["discards", station] => return Some(Control::Discards { station: station.to_owned() }),
            ["capture", framing @ ("whole" | "plain"), ref filter @ ..] if filter.len() <= 1 => {
                let framing = if framing == "plain" { Framing::Plain } else { Framing::Whole };
                return Some(Control::Capture { framing, filter: filter.concat() });
            }
            ["mend"] => return Some(Control::Cable(None)),
            ["cut", segment, position] => {
                let (segment, position_bt) = (segment.parse().ok()?, position.parse().ok()?);
                return Some(Control::Cable(Some(Cut { segment, position_bt })));
            }
            ["attach", station] => (station, Change::Attach),
            ["detach", station] => (station, Change::Detach),
            ["fault", station, name] => (station, Change::Fault(fault(name).ok()?.map(FaultName))),
            ["plca", station, ref settings @ ..] => (station, Change::Plca(settings_of(settings)?)),
            _ => return None,
        };
        Some(Control::Change { station: station.to_owned(), change })
    }
}

/// The settings of PLCA as a request has them.
fn settings_of(words: &[&str]) -> Option<SettingsText> {
    let numbers: Vec<u8> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let [enabled @ 0..=1, node_id, node_cnt, to_tmr, burst_cnt, burst_tmr] = numbers[..] else { return None };
    let settings = SettingsText { enabled: enabled == 1, node_id, node_cnt, to_tmr, burst_cnt, burst_tmr };
    medium::PlcaSettings::from(settings).check().is_ok().then_some(settings)
}

/// Listens for requests to the lab `name`. Each comes with the stream that its answer goes to.
///
/// # Errors
/// The socket cannot be made.
pub fn listen(name: &str) -> io::Result<Receiver<(Control, UnixStream)>> {
    let path = Inventory::control_socket(name).map_err(io::Error::other)?;
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    let (sender, requests) = bounded(16);
    let serve = move |stream: UnixStream| {
        if let Some(request) = read_request(&stream) {
            // A lab that has ended answers nothing.
            let _ = sender.send((request, stream));
        }
    };
    let clients = move |serve: &mut dyn FnMut(UnixStream)| listener.incoming().flatten().for_each(serve);
    side_by_side("control", clients, serve)?;
    Ok(requests)
}

fn read_request(stream: &UnixStream) -> Option<Control> {
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    hold(stream, RESULTS);
    Control::read_from(InTime { stream, end: Instant::now() + PATIENCE })
}

/// Answers [`Control::Enter`]: one octet, which brings two descriptors.
///
/// # Errors
/// The client is gone.
pub fn hand_over(stream: UnixStream, station: &Namespace) -> io::Result<()> {
    let owner = UserNamespace::current()?;
    let sent = Channel::from_fd(stream.into()).send_with_fds(b"\n", &[owner.as_fd(), station.as_fd()]);
    sent.map_err(io::Error::other)
}

/// Asks the lab `name` for a station: its namespace, and the user namespace that owns it.
///
/// # Errors
/// No lab listens, or it does not hand the station over.
pub fn enter(name: &str, station: &str) -> io::Result<(UserNamespace, Namespace)> {
    let stream = connect(name, &Control::Enter { station: station.to_owned() })?;
    let received = Channel::from_fd(stream.into()).receive_with_fds(&mut Vec::new()).map_err(io::Error::other)?;
    let Some((_, descriptors)) = received else { return Err(io::ErrorKind::UnexpectedEof.into()) };
    let [owner, station] = <[OwnedFd; 2]>::try_from(descriptors).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok((UserNamespace::from_fd(owner), Namespace::from_fd(station)))
}

/// Asks the lab `name`, and gives its whole answer; an empty one means that it has ended.
///
/// # Errors
/// No lab listens, or it does not answer.
pub fn ask(name: &str, request: &Control) -> io::Result<String> {
    let patience = if *request == Control::Down { LONGEST_END } else { LONGEST_ANSWER };
    ask_within(name, request, patience)
}

fn ask_within(name: &str, request: &Control, patience: Duration) -> io::Result<String> {
    let (mut answer, stream) = (String::new(), connect(name, request)?);
    let read = InTime { stream: &stream, end: Instant::now() + patience }.read_to_string(&mut answer);
    let late = |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
    match read {
        Err(error) if late(&error) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("there was no answer within {} seconds", patience.as_secs()),
        )),
        read => read.map(|_| answer),
    }
}

/// What an answer begins with that says why there are no results; no JSON does.
const REFUSAL: char = '\u{1}';

/// Tells the client at the other end of `stream` why there are no results.
pub fn refuse(mut stream: UnixStream, why: &str) {
    // A client that went away does not matter to the lab.
    let _ = stream.write_all(format!("{REFUSAL}{why}").as_bytes());
}

/// Asks the lab `name` for something that it answers with its results.
///
/// # Errors
/// No lab listens; it does not answer, or says why it cannot.
pub fn results(name: &str, request: &Control) -> io::Result<Results> {
    results_within(name, request, LONGEST_ANSWER)
}

/// The same with another deadline.
///
/// # Errors
/// As [`results`].
pub fn results_within(name: &str, request: &Control, patience: Duration) -> io::Result<Results> {
    serde_json::from_str(&answer(name, request, patience)?).map_err(io::Error::from)
}

/// Asks the lab `name` to write its last seconds, and gives the name of the file.
///
/// # Errors
/// As [`results`].
pub fn keep(name: &str) -> io::Result<String> {
    answer(name, &Control::Keep, LONGEST_ANSWER)
}

/// Asks the lab `name` for the path of the socket at which programs of `station` hear of its discards.
///
/// # Errors
/// As [`results`].
pub fn discards(name: &str, station: &str) -> io::Result<String> {
    answer(name, &Control::Discards { station: station.to_owned() }, PATIENCE)
}

/// An answer that is neither a refusal nor empty.
fn answer(name: &str, request: &Control, patience: Duration) -> io::Result<String> {
    let answer = ask_within(name, request, patience)?;
    if let Some(why) = answer.strip_prefix(REFUSAL) {
        return Err(io::Error::other(why.to_owned()));
    }
    if answer.is_empty() {
        let what = "it ended before it answered: `ethbus down` says why, and removes what it left behind";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    Ok(answer)
}

/// Asks the lab `name` for what happens from now on: a line each, as `plane::seen` has them.
///
/// # Errors
/// No lab listens.
pub fn events(name: &str) -> io::Result<UnixStream> {
    let stream = connect(name, &Control::Events)?;
    stream.set_read_timeout(None)?;
    Ok(stream)
}

/// Asks the lab `name` for a capture of what happens from now on.
///
/// # Errors
/// No lab listens.
pub fn capture(name: &str, framing: Framing, filter: &str) -> io::Result<UnixStream> {
    connect(name, &Control::Capture { framing, filter: filter.to_owned() })
}

/// What a lab answers to [`Control::Down`] when everything is removed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Farewell {
    /// What went wrong, for standard error.
    pub says: String,
    /// The last results, unless the data plane was killed.
    pub results: Option<Results>,
    /// The lab did not end as it should.
    pub failed: bool,
    /// The lab was brought up with `--strict`, and is not to be trusted.
    pub distrusted: bool,
}

impl Farewell {
    /// As it goes through the socket.
    pub fn written(&self) -> String {
        serde_json::to_string(self).expect("numbers and names")
    }

    /// Reads what [`ask`] gives: nothing if the supervisor was killed before it could answer, a plain text if it is of an older
    /// version.
    pub fn read(answer: &str) -> Option<Farewell> {
        let older = || Farewell { says: answer.to_owned(), ..Farewell::default() };
        (!answer.is_empty()).then(|| serde_json::from_str(answer).unwrap_or_else(|_| older()))
    }
}

fn connect(name: &str, request: &Control) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(Inventory::control_socket(name).map_err(io::Error::other)?)?;
    stream.set_read_timeout(Some(LONGEST_END))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", request.line()).as_bytes())?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::Fault;

    #[test]
    fn a_farewell_is_read_as_it_was_written() {
        let told: serde_json::Value =
            serde_json::from_slice(include_bytes!("../../fuzz/corpus/messages/results")).expect("a message");
        let results: Results = serde_json::from_value(told["results"].clone()).expect("results");
        for results in [None, Some(results)] {
            let farewell = Farewell { says: "a reason\n".to_owned(), results, failed: true, distrusted: false };
            let read = Farewell::read(&farewell.written()).expect("an answer");
            assert_eq!(read.written(), farewell.written());
        }
        assert!(Farewell::read("").is_none(), "nothing was answered");
        assert_eq!(Farewell::read("a table\n").expect("an answer").says, "a table\n");
    }

    #[test]
    fn every_request_is_read_as_it_was_written() {
        let change = |change| Control::Change { station: "a-name-of-15.oc".to_owned(), change };
        let faults = [None, Some(Fault::Deaf), Some(Fault::BadFcs), Some(Fault::Babble)];
        let faults = faults.map(|fault| change(Change::Fault(fault.map(FaultName))));
        let settings = SettingsText::from(medium::PlcaSettings { burst_count: 255, ..medium::PlcaSettings::off() });
        let plugs = [change(Change::Attach), change(Change::Detach), change(Change::Plca(settings))];
        let enter = Control::Enter { station: "a-name-of-15.oc".to_owned() };
        let cut = Cut { segment: 1023, position_bt: u64::MAX };
        let filter = "collisions,station=a-name-of-15.oc,address=02:eb:00:00:00:01".to_owned();
        let capture = Control::Capture { framing: Framing::Whole, filter };
        let all = Control::Capture { framing: Framing::Plain, filter: String::new() };
        let others = [enter, Control::Cable(None), Control::Cable(Some(cut)), capture, all];
        for request in Control::PLAIN.into_iter().chain(plugs).chain(faults).chain(others) {
            let line = request.line();
            assert!((line.len() as u64) < LONGEST, "{line}");
            assert_eq!(Control::read(&line), Some(request));
        }
        for nonsense in [
            "",
            "stat",
            "attach",
            "attach a b",
            "fault a",
            "fault a mute",
            "fault a deaf now",
            "cut",
            "cut 1",
            "cut a b",
            "plca a",
            "plca a 1 2 0 32 0 128",
            "plca a 2 2 8 32 0 128",
        ] {
            assert_eq!(Control::read(nonsense), None, "{nonsense}");
        }
    }
}
