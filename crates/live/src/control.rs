//! The control socket of a lab that is up: JSON-RPC 2.0, a request a line, as docs/api.md has it. Only the user of the
//! lab may open the socket. Here is the client's side; [`server`] has the lab's.
//!
//! ```text
//!   client ──{"jsonrpc":"2.0","id":1,"method":"stats"}──────► control.sock ──► connection's thread ──► supervisor
//!          ◄─{"jsonrpc":"2.0","id":1,"result":{…}}───────────────────────────────────┘◄──── answer ───────┘
//! ```
//! JSON-RPC needs nothing beside the JSON library that results are written with. Varlink would need a parser of its
//! interface language, or an asynchronous runtime, on both sides.

pub mod answer;
mod document;
pub mod request;
pub mod server;

use crate::clients::InTime;
use crate::lab::inventory::Inventory;
use answer::{Response, RpcError};
use link::Pid;
use link::channel::Channel;
use link::namespace::{Namespace, UserNamespace};
use link::process::stopped_peer;
use request::{Control, JSON_RPC, Subscription, Wanted};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sim::figures::results::Results;
use sim::files::event_log::Header;
use sim::windows::capture::Framing;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a lab may take to read a request.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a lab may take to be taken down: a thousand stations take a while.
const LONGEST_END: Duration = Duration::from_secs(60);
/// How long a lab may take to answer anything else: longer than the data plane may take to answer the lab.
const LONGEST_ANSWER: Duration = Duration::from_secs(15);

/// How long a lab's process may be stopped before its client gives up.
const LONGEST_STOP: Duration = Duration::from_millis(1_500);

/// Asks the lab `name` for a station: its namespace, and the user namespace that owns it.
///
/// # Errors
/// No lab listens, or it does not hand the station over.
pub fn enter(name: &str, station: &str) -> io::Result<(UserNamespace, Namespace)> {
    let stream = connect(name, &Control::Enter { station: station.to_owned() })?;
    let rest = stream.try_clone()?;
    let mut line = Vec::new();
    // The descriptors come with the first octet.
    let received = Channel::from_fd(stream.into()).receive_with_fds(&mut line).map_err(io::Error::other)?;
    let Some((_, descriptors)) = received else { return Err(io::ErrorKind::UnexpectedEof.into()) };
    BufReader::new(rest).read_until(b'\n', &mut line)?;
    result::<serde_json::Value>(&line)?;
    let [owner, station] = <[OwnedFd; 2]>::try_from(descriptors).map_err(|_| io::ErrorKind::InvalidData)?;
    Ok((UserNamespace::from_fd(owner), Namespace::from_fd(station)))
}

/// Asks the lab `name`, and waits at most this long for its result.
fn call<T: DeserializeOwned>(name: &str, request: &Control, patience: Duration) -> io::Result<T> {
    let stream = connect(name, request)?;
    let mut line = Vec::new();
    let read = BufReader::new(Patient { stream: &stream, end: Instant::now() + patience }).read_until(b'\n', &mut line);
    match read {
        Err(error) if is_late(&error) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("there was no answer within {} seconds", patience.as_secs()),
        )),
        Err(error) => Err(error),
        Ok(_) => result(&line),
    }
}

/// The answer of a lab, which is waited for until an instant, or until its process is found stopped.
struct Patient<'a> {
    stream: &'a UnixStream,
    end: Instant,
}

impl Read for Patient<'_> {
    fn read(&mut self, octets: &mut [u8]) -> io::Result<usize> {
        loop {
            let look = self.end.min(Instant::now() + LONGEST_STOP);
            match (InTime { stream: self.stream, end: look }).read(octets) {
                Err(error) if is_late(&error) && Instant::now() < self.end => refuse_stopped(self.stream)?,
                read => return read,
            }
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// An error if the process at the other end is stopped, and stays so.
fn refuse_stopped(stream: &UnixStream) -> io::Result<()> {
    let begin = Instant::now();
    while let Some(process) = stopped_peer(stream) {
        if begin.elapsed() > LONGEST_STOP {
            let what = format!(
                "its process {process} is stopped, as by Ctrl-Z: `fg` in its terminal or `kill -CONT {process}` lets it go on"
            );
            return Err(io::Error::other(what));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The process of the lab `name`, if it is stopped.
pub fn stopped(name: &str) -> Option<Pid> {
    stopped_peer(UnixStream::connect(Inventory::control_socket(name).ok()?).ok()?)
}

/// The result in an answer's line, or the error in it.
fn result<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    if line.is_empty() {
        let what = "it ended before it answered: `ethbus down` says why, and removes what it left behind";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, what));
    }
    match serde_json::from_slice(line)? {
        Response { error: Some(refusal), .. } => Err(io::Error::other(refusal)),
        Response { result: Some(result), .. } => Ok(result),
        Response { .. } => Err(io::Error::new(io::ErrorKind::InvalidData, "its answer has no result")),
    }
}

/// Why a lab refused, if that is what an error says.
pub fn refusal(error: &io::Error) -> Option<&RpcError> {
    error.get_ref()?.downcast_ref()
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
    call(name, request, patience)
}

/// What a lab answers to [`Control::Keep`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// The file with the last seconds.
    pub file: String,
}

/// Asks the lab `name` to write its last seconds, and gives the name of the file.
///
/// # Errors
/// As [`results`].
pub fn keep(name: &str) -> io::Result<String> {
    call(name, &Control::Keep, LONGEST_ANSWER).map(|kept: Kept| kept.file)
}

/// What a lab answers to [`Control::Add`]: what the station has.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Added {
    /// Its name.
    pub name: String,
    /// Its MAC address.
    pub mac: String,
    /// The addresses that it has from the lab, with the length of their prefixes.
    pub addresses: Vec<String>,
    /// What its interface is called in its namespace; nothing if its host is no namespace.
    pub interface: Option<String>,
    /// Its namespace: a name of `ip netns`, or what `netns` said; nothing for one without a name.
    pub netns: Option<String>,
}

/// Has a station join the lab `name`.
///
/// # Errors
/// As [`results`].
pub fn add(name: &str, station: serde_json::Map<String, serde_json::Value>) -> io::Result<Added> {
    call(name, &Control::Add(station), LONGEST_END)
}

/// Has a station leave the lab `name`: programs in it may take a while to end.
///
/// # Errors
/// As [`results`].
pub fn removed(name: &str, request: &Control) -> io::Result<Results> {
    results_within(name, request, LONGEST_END)
}

/// What a lab answers to [`Control::Discards`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DiscardsAt {
    /// The path of the socket.
    pub path: String,
}

/// Asks the lab `name` for the path of the socket at which programs of `station` hear of its discards.
///
/// # Errors
/// As [`results`].
pub fn discards(name: &str, station: &str) -> io::Result<String> {
    let request = Control::Discards { station: station.to_owned() };
    call(name, &request, PATIENCE).map(|discards: DiscardsAt| discards.path)
}

/// Takes the lab `name` down; nothing if it ended before it could answer.
///
/// # Errors
/// As [`results`].
pub fn down(name: &str) -> io::Result<Option<Farewell>> {
    match call(name, &Control::Down, LONGEST_END) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        answer => answer.map(Some),
    }
}

/// What a lab answers to [`Control::Subscribe`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Subscribed {
    /// What a trace of this lab begins with: the medium's configuration and the stations' names.
    pub header: Header,
}

/// A line that no request has asked for: news for a subscriber.
#[derive(Debug, Serialize, Deserialize)]
pub struct Notification<T> {
    /// The version of JSON-RPC.
    pub jsonrpc: String,
    /// `events` or `results`.
    pub method: String,
    /// [`Events`] or results.
    pub params: T,
}

impl<T: Serialize> Notification<T> {
    /// As a line.
    pub fn line(method: &str, params: T) -> Vec<u8> {
        let notification = Notification { jsonrpc: JSON_RPC.to_owned(), method: method.to_owned(), params };
        let mut line = serde_json::to_vec(&notification).expect("numbers and names");
        line.push(b'\n');
        line
    }
}

/// A stretch of what happened, in order.
#[derive(Debug, Serialize, Deserialize)]
pub struct Events {
    /// The number of missing events before these.
    pub missed: u64,
    /// The bit time up to which the medium had been run.
    pub now: u64,
    /// Each as a line of a trace has it.
    pub events: Vec<Box<RawValue>>,
}

/// Asks the lab `name` for all events from now on.
///
/// # Errors
/// No lab listens, or it does not answer.
pub fn events(name: &str) -> io::Result<(Header, BufReader<UnixStream>)> {
    let wanted = Subscription { events: Some(Wanted::default()), results_every_s: None };
    let mut stream = BufReader::new(connect(name, &Control::Subscribe(wanted))?);
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line)?;
    stream.get_ref().set_read_timeout(None)?;
    Ok((result::<Subscribed>(&line)?.header, stream))
}

/// Asks the lab `name` for a capture of what happens from now on.
///
/// # Errors
/// No lab listens, or it refuses.
pub fn capture(name: &str, framing: Framing, filter: &str) -> io::Result<UnixStream> {
    let stream = connect(name, &Control::Capture { framing, filter: filter.to_owned() })?;
    // No octet of the capture may be read with the answer.
    let (mut line, mut octet) = (Vec::new(), [0]);
    while line.last() != Some(&b'\n') && (&stream).read(&mut octet)? > 0 {
        line.push(octet[0]);
    }
    // A lab that can give no further capture closes the stream, and what is read from it is empty.
    if !line.is_empty() {
        result::<serde_json::Value>(&line)?;
    }
    Ok(stream)
}

/// What a command in a station of a virtual lab printed: a notification `output`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// It went to standard error.
    pub error: bool,
    /// The octets, two hexadecimal digits each.
    pub octets: String,
}

/// Octets as hexadecimal digits, two each.
pub fn digits_of(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// The octets of [`digits_of`], up to a digit that is none.
pub fn octets_of(digits: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map_while(pair).collect()
}

/// How such a command ended: a notification `ended`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandEnded {
    /// Its exit code; none if its station ended before.
    pub code: Option<u8>,
    /// The virtual instants at which it began and was known to have ended, in nanoseconds.
    pub from_ns: u64,
    /// See `from_ns`.
    pub until_ns: u64,
}

/// What a lab answers to [`Control::Exec`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Begun {
    /// The lab's clock is stopped: the command begins when the clock goes on.
    pub paused: bool,
}

/// Asks the lab `name` to run a line of a shell in a station of virtual time; the notifications follow. With `input` the
/// command reads what is sent into the stream.
///
/// # Errors
/// No lab listens, or it refuses.
pub fn exec(name: &str, station: &str, command: &str, input: bool) -> io::Result<(Begun, BufReader<UnixStream>)> {
    let request = Control::Exec { station: station.to_owned(), command: command.to_owned(), input };
    let mut stream = BufReader::new(connect(name, &request)?);
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line)?;
    stream.get_ref().set_read_timeout(None)?;
    Ok((result(&line)?, stream))
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

fn connect(name: &str, request: &Control) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(Inventory::control_socket(name).map_err(io::Error::other)?)?;
    refuse_stopped(&stream)?;
    stream.set_read_timeout(Some(LONGEST_END))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(request.line().as_bytes())?;
    Ok(stream)
}
