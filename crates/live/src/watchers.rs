//! Subscribers of a lab that is up: a thread writes to each, and no other thread waits for them.

use crate::control::answer::{Answer, RpcError};
use crate::control::request::{Subscription, Wanted};
use crate::control::{Events, Notification, Subscribed};
use crate::plane::seen::{Seen, Written};
use crossbeam_channel::{Sender, TrySendError, bounded};
use link::channel::has_gone;
use serde_json::value::RawValue;
use sim::figures::results::Results;
use sim::files::event_log::{Entry, Header, Names, append};
use sim::run::view::Note;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lines that wait for their reader: those of a second.
const WAITING: usize = 20;
/// The most subscribers at a time.
const MOST: usize = 8;

/// See the module.
#[derive(Debug)]
pub struct Watchers {
    header: Header,
    names: Names,
    all: Vec<Watcher>,
    /// Results have been asked for.
    asked: bool,
}

#[derive(Debug)]
struct Watcher {
    lines: Lines,
    events: Option<Filter>,
    results: Option<Due>,
    /// What stays of the stretches that found no room since the last line that did.
    owed: Seen,
}

/// When results are due.
#[derive(Debug)]
struct Due {
    every: Duration,
    due: Instant,
}

/// Which events a subscriber wants.
#[derive(Debug, Default, PartialEq)]
struct Filter {
    /// Station numbers; all if it is empty.
    stations: Vec<u16>,
    /// Kinds; all if it is empty.
    kinds: Vec<String>,
}

impl Filter {
    /// # Errors
    /// The name of no station.
    fn new(wanted: &Wanted, names: &Names) -> Result<Filter, RpcError> {
        let number = |name: &String| match names.station(name) {
            Some(station) => Ok(station.index() as u16),
            None => Err(RpcError::no_station(name)),
        };
        let stations = wanted.stations.iter().map(number).collect::<Result<_, _>>()?;
        Ok(Filter { stations, kinds: wanted.kinds.clone() })
    }

    fn takes(&self, note: &Written) -> bool {
        let Written::E(_, station, of, _, kind, _) = note else { return true };
        let is_of = |number| self.stations.contains(number);
        (self.stations.is_empty() || is_of(station) || is_of(of))
            && (self.kinds.is_empty() || self.kinds.contains(kind))
    }

    fn of<'a>(&self, seen: &'a Seen) -> Cow<'a, Seen> {
        if *self == Filter::default() {
            return Cow::Borrowed(seen);
        }
        let notes = seen.notes.iter().filter(|note| self.takes(note)).cloned().collect();
        Cow::Owned(Seen { notes, ..*seen })
    }
}

impl Watchers {
    /// There is no subscriber to the lab whose trace begins with `header`.
    pub fn new(header: Header) -> Watchers {
        Watchers { names: Names::new(&header.stations), header, all: Vec::new(), asked: false }
    }

    /// A station joins: those who subscribe from now on find it in their header.
    pub fn join(&mut self, name: &str) {
        if self.names.station(name).is_none() {
            self.names.join(name);
            self.header.stations.push(name.to_owned());
        }
    }

    /// Whether events are wanted.
    pub fn want_events(&self) -> bool {
        self.all.iter().any(|watcher| watcher.events.is_some())
    }

    /// When results are due for a subscriber.
    pub fn results_due(&self) -> Option<Instant> {
        let due = || self.all.iter().filter_map(|watcher| Some(watcher.results.as_ref()?.due)).min();
        if self.asked { None } else { due() }
    }

    /// Results have been requested for the subscribers whose interval is over.
    pub fn ask_results(&mut self) {
        self.asked = true;
    }

    /// Adds the client that asked for `subscription`.
    ///
    /// # Errors
    /// The name of no station, or more subscribers than there may be; with the place of the answer.
    pub fn add(&mut self, subscription: &Subscription, answer: Answer) -> Result<(), (Answer, RpcError)> {
        self.all.retain(|watcher| !watcher.lines.has_gone());
        let filter = subscription.events.as_ref().map(|wanted| Filter::new(wanted, &self.names)).transpose();
        let most = || RpcError::refused(&format!("it has {MOST} subscribers, which is the most"));
        let events = match filter {
            _ if self.all.len() >= MOST => return Err((answer, most())),
            Err(error) => return Err((answer, error)),
            Ok(events) => events,
        };
        let results = subscription.results_every_s.map(|span| {
            let every = Duration::from_secs_f64(span);
            Due { every, due: Instant::now() + every }
        });
        // A client that went away does not matter to the lab.
        let stream = answer.give_stream(&Subscribed { header: self.header.clone() });
        let lines = stream.ok().and_then(|stream| writer(stream, WAITING));
        self.all.extend(lines.map(|lines| Watcher { lines, events, results, owed: Seen::default() }));
        Ok(())
    }

    /// Tells all who want events.
    pub fn tell(&mut self, seen: &Seen) {
        let Watchers { names, all, .. } = self;
        // That of all who want everything, and owe nothing.
        let shared = OnceCell::new();
        all.retain_mut(|watcher| {
            let Some(filter) = &watcher.events else { return true };
            let own = filter.of(seen);
            let owed = std::mem::take(&mut watcher.owed);
            let is_shared = owed.is_empty() && matches!(own, Cow::Borrowed(_));
            let own_line = match is_shared {
                true => shared.get_or_init(|| line(seen, names)).clone(),
                false => line(&owed.clone().and(&own), names),
            };
            match watcher.lines.try_send(own_line) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => watcher.owed = owed.and(&own).shortened(),
                Err(TrySendError::Disconnected(_)) => return false,
            }
            true
        });
    }

    /// Sends results to the subscribers whose interval is over.
    pub fn tell_results(&mut self, results: &Results) {
        self.asked = false;
        let now = Instant::now();
        let line: Arc<[u8]> = Notification::line("results", results).into();
        self.all.retain_mut(|watcher| {
            let Some(wanted) = watcher.results.as_mut().filter(|wanted| wanted.due <= now) else { return true };
            wanted.due = now + wanted.every;
            // A reader that is late gets the next ones.
            !matches!(watcher.lines.try_send(line.clone()), Err(TrySendError::Disconnected(_)))
        });
    }
}

/// Lines for a client that reads them when it likes.
#[derive(Debug)]
pub struct Lines {
    lines: Sender<Arc<[u8]>>,
    stream: UnixStream,
}

impl Lines {
    /// Adds a line without waiting.
    ///
    /// # Errors
    /// No room, or the client is gone.
    pub fn try_send(&self, line: Arc<[u8]>) -> Result<(), TrySendError<Arc<[u8]>>> {
        self.lines.try_send(line)
    }

    /// Whether the client has closed its stream. Until the next line, only this function notices.
    pub fn has_gone(&self) -> bool {
        has_gone(self.stream.as_fd())
    }
}

/// Starts a thread that writes lines to `stream`, of which `waiting` may wait. Without a thread the reader sees the end of
/// its stream.
pub fn writer(mut stream: UnixStream, waiting: usize) -> Option<Lines> {
    stream.set_write_timeout(None).ok()?;
    let own = stream.try_clone().ok()?;
    let (lines, waiting) = bounded::<Arc<[u8]>>(waiting);
    let write = move || {
        for line in waiting {
            if stream.write_all(&line).is_err() {
                return;
            }
        }
    };
    let started = std::thread::Builder::new().name("watcher".to_owned()).spawn(write);
    started.is_ok().then_some(Lines { lines, stream: own })
}

fn line(seen: &Seen, names: &Names) -> Arc<[u8]> {
    let stations = names.len();
    let event = |note: &Written| {
        let entry = match note.note(stations)? {
            Note::Event(event) => Entry::Medium(event),
            Note::Input { at, input } => Entry::Deed { at, deed: *input.deed()? },
            Note::Passed { .. } | Note::Missed { .. } => return None,
        };
        let mut text = Vec::new();
        append(&mut text, names, &entry);
        RawValue::from_string(String::from_utf8(text).expect("JSON")).ok()
    };
    let events = seen.notes.iter().filter_map(event).collect();
    Notification::line("events", Events { missed: seen.missed, now: seen.now, events }).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::request::{Control, Line};
    use medium::{BitRate, BitTimes, Config, Topology};
    use serde_json::json;
    use std::io::{BufRead, BufReader};

    fn watchers() -> Watchers {
        let topology = Topology::Star { stations: 2, distance: BitTimes::ZERO };
        let config = Config::new(BitRate::MBIT_10, topology, 1);
        Watchers::new(Header::new("lab", &config, &["st1", "st2"].map(str::to_owned)))
    }

    /// A subscriber that has read the answer to its request.
    fn subscribe(watchers: &mut Watchers, params: &serde_json::Value) -> BufReader<UnixStream> {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": params }).to_string();
        let mut line = Line::read_from(&mut line.as_bytes()).expect("a slice").expect("a line");
        let asked = line.asked.remove(0);
        let Ok(Control::Subscribe(subscription)) = &asked.request else { panic!("{asked:?}") };
        watchers.add(subscription, Answer::new(&asked, ours, bounded(1).0)).expect("room");
        let mut stream = BufReader::new(theirs);
        let mut line = String::new();
        stream.read_line(&mut line).expect("an answer");
        assert!(line.contains("ethbus trace"), "{line}");
        stream
    }

    fn told(stream: &mut BufReader<UnixStream>) -> Events {
        let mut line = String::new();
        stream.read_line(&mut line).expect("a line");
        serde_json::from_str::<Notification<Events>>(&line).expect(&line).params
    }

    /// No thread waits for a subscriber that does not read; it learns how many events it missed.
    #[test]
    fn a_slow_watcher_misses_and_is_told_so() {
        let mut watchers = watchers();
        let mut stream = subscribe(&mut watchers, &json!({ "events": {} }));
        let seen = |now| Seen { missed: 1000, now, notes: Vec::new() };
        // More than the socket and the channel hold.
        (0..100_000).for_each(|now| watchers.tell(&seen(now)));
        let (mut missed, mut now) = (0, 100_000);
        while missed < 101 * 1000 * 1000 && now < 105_000 {
            watchers.tell(&seen(now));
            now += 1;
            let read = told(&mut stream);
            assert_eq!(read.missed % 1000, 0);
            missed += read.missed;
        }
        assert!(missed > 90 * 1000 * 1000, "{missed}");
        drop(stream);
        for now in 0..10_000 {
            watchers.tell(&seen(now));
        }
        assert!(!watchers.want_events(), "who has gone is forgotten");
    }

    /// Clients that closed their streams hold no place, though nothing was due for them.
    #[test]
    fn a_closed_client_makes_room() {
        let mut watchers = watchers();
        let rare = json!({ "results_every_s": 1e6 });
        for _ in 0..3 * MOST {
            drop(subscribe(&mut watchers, &rare));
        }
        let _present: Vec<_> = (0..MOST).map(|_| subscribe(&mut watchers, &rare)).collect();
        assert_eq!(watchers.all.len(), MOST);
    }

    /// A filter takes events at stations and about their frames, of the kinds that are wanted, and every input.
    #[test]
    fn a_filter_leaves_events_out_and_no_input() {
        let mut watchers = watchers();
        let wanted = json!({ "events": { "stations": ["st1"], "kinds": ["queue_drop"] } });
        let mut stream = subscribe(&mut watchers, &wanted);
        let event = |station, of, kind: &str| Written::E(5, station, of, 1, kind.to_owned(), Vec::new());
        let notes = vec![
            event(0, 0, "queue_drop"),
            event(1, 1, "queue_drop"),
            event(0, 0, "received"),
            Written::I(6, medium::Deed::Unplug { station: medium::StationId::new(1) }),
        ];
        watchers.tell(&Seen { missed: 3, now: 7, notes });
        let Events { missed, now, events } = told(&mut stream);
        assert_eq!((missed, now), (3, 7));
        let lines: Vec<&str> = events.iter().map(|event| event.get()).collect();
        assert_eq!(
            lines,
            [
                r#"{"t":5,"kind":"queue_drop","station":"st1","frame":"st1#1"}"#,
                r#"{"t":6,"layer":"deed","unplug":"st2"}"#
            ]
        );
    }
}
