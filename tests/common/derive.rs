//! Derives the log of a live bus again: whether the stations' actions agree with clause 4, however late the emulator
//! was. Knows the log and nothing of the engine.
//!
//! ```text
//!   attempt ─ 64 BT preamble ─ octets ─ transmitted     nothing else is heard at any addressee or sender meanwhile
//!   attempt ─ collision ─ jam 32 BT ─ jam_end ─ backoff: slots < 2^n ─ next attempt not before
//!   any end ─ 96 BT gap ─ attempt                       but for carrier that began in the last third of the gap
//! ```
//! Gaps and slots are by the clock of the station.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// Preamble and SFD.
const PREAMBLE: u64 = 64;
/// The number of remembered transmissions: more than can be heard at one time.
const REMEMBERED: usize = 64;

/// The number of checked lines: a debug build takes some 20 us for each.
const LINES: usize = 300_000;

/// One signal on the medium.
#[derive(Clone, Copy, Debug)]
struct Signal {
    station: usize,
    begin: u64,
    /// `None` as long as it lasts.
    end: Option<u64>,
}

/// The known state of a station.
#[derive(Clone, Debug, Default)]
struct Station {
    /// Numbers of the frames in its queue, the one at its head first.
    queue: VecDeque<u64>,
    offered: u64,
    /// Attempts of the frame at the head.
    attempts: u64,
    /// When its present attempt began, and when it noticed a collision.
    sends: Option<(u64, Option<u64>)>,
    /// The earliest begin of its next attempt: after the gap that follows its own last signal, or after its backoff.
    not_before: u64,
    /// It has no carrier sense, so no gap follows the signals that it begins now.
    deaf: bool,
    /// It had no carrier sense as the present attempt began.
    began_deaf: bool,
}

/// The medium's parameters, in the log's own words.
struct Rules {
    gap: u64,
    part_1: u64,
    slot: u64,
    attempt_limit: u64,
    backoff_limit: u64,
    jam: u64,
    queue_limit: usize,
    /// By how many parts per million the clocks of the first stations are fast; those of the others are right.
    clocks: Vec<i64>,
}

impl Rules {
    /// Ticks of the clock of `station` in a million bit times.
    fn pace(&self, station: usize) -> u64 {
        1_000_000_u64.saturating_add_signed(self.clocks.get(station).copied().unwrap_or(0))
    }

    /// The end of a timer of `span` ticks that `station` starts at `at`, with the nearest tick.
    fn later(&self, station: usize, at: u64, span: u64) -> u64 {
        let nearest = |count: u64, by: u64, of: u64| {
            ((u128::from(count) * u128::from(by) + u128::from(of / 2)) / u128::from(of)) as u64
        };
        let pace = self.pace(station);
        let tick = nearest(at, pace, 1_000_000) + span;
        if span == 0 { at } else { nearest(tick, 1_000_000, pace).max(at + 1) }
    }
}

struct Log {
    rules: Rules,
    names: HashMap<String, usize>,
    /// Distances; `None` where they are not simple, and each station is checked separately.
    places: Option<Vec<Vec<u64>>>,
    /// Of a bus, the place of each station.
    positions: Vec<u64>,
    stations: Vec<Station>,
    signals: VecDeque<Signal>,
}

/// Checks a log; gives the number of its events of the medium.
///
/// `healthy`: no station was ever faulty, and no cable cut. Otherwise each station is checked separately.
///
/// # Errors
/// The first impossible line, and the reason.
pub fn derive(text: &str, healthy: bool) -> Result<u64, String> {
    let mut lines = text.lines();
    let mut derivation = Derivation::begin(lines.next().ok_or("an empty log")?, healthy)?;
    lines.take(LINES).try_for_each(|line| derivation.line(line))?;
    Ok(derivation.events)
}

/// Checks the log in a file, if there is one. A line without end is left out: its writer was killed.
///
/// # Panics
/// If it contains an impossible line.
#[track_caller]
pub fn derive_file(path: &Path, healthy: bool) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    // Clause 4 applies to its own method only; records of other methods are replayed.
    let is_csma_cd = whole.lines().next().is_none_or(|header| !header.contains("\"method\":"));
    if whole.is_empty() || !is_csma_cd {
        return 0;
    }
    derive(whole, healthy).unwrap_or_else(|why| panic!("the log {} cannot be: {why}", path.display()))
}

/// A log that is checked line by line, while it grows.
pub struct Derivation {
    log: Log,
    /// Events of the medium so far.
    pub events: u64,
}

impl Derivation {
    /// Begins with a log's first line.
    ///
    /// # Errors
    /// A line that is no JSON.
    pub fn begin(header: &str, healthy: bool) -> Result<Derivation, String> {
        let header: Value = serde_json::from_str(header).map_err(|error| error.to_string())?;
        Ok(Derivation { log: Log::new(&header, healthy), events: 0 })
    }

    /// Checks the next line.
    ///
    /// # Errors
    /// Why the line is impossible.
    pub fn line(&mut self, line: &str) -> Result<(), String> {
        let event: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
        if event["layer"].is_null() {
            self.log.take(&event).map_err(|why| format!("{why}: {line}"))?;
            self.events += 1;
        } else if !event["fault"].is_null() {
            let station = self.log.names[event["station"].as_str().expect("a name")];
            self.log.stations[station].deaf = event["fault"] == "deaf";
        } else if !event["queue"].is_null() {
            self.log.rules.queue_limit = number(&event, "queue") as usize;
        } else if let Some(name) = event["add"]["name"].as_str() {
            let name = name.to_owned();
            let seat = number(&event, "seat") as usize;
            self.log.names.insert(name, seat);
            if let Some(place) = event["add"]["place"]["position_bt"].as_u64() {
                self.log.place(seat, place);
            }
        }
        Ok(())
    }
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("`{key}` is no number in {value}"))
}

/// `Err` with these words unless `holds`.
fn must(holds: bool, words: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(words()) }
}

impl Log {
    fn new(header: &Value, healthy: bool) -> Log {
        let configuration = &header["configuration"];
        let parameters = &configuration["parameters"];
        let of = |key: &str| number(parameters, key);
        let rules = Rules {
            gap: of("inter_packet_gap_bt"),
            part_1: of("inter_packet_gap_part_1_bt"),
            slot: of("slot_time_bt"),
            attempt_limit: of("attempt_limit"),
            backoff_limit: of("backoff_limit"),
            jam: of("jam_size_bt"),
            queue_limit: number(configuration, "queue_limit") as usize,
            clocks: configuration["clocks_ppm"]
                .as_array()
                .map_or(Vec::new(), |all| all.iter().map(|ppm| ppm.as_i64().expect("parts per million")).collect()),
        };
        let list = header["stations"].as_array().expect("names");
        let names = list.iter().map(|name| name.as_str().expect("a name").to_owned()).zip(0..).collect();
        // Behind those that have a name are seats.
        let count = list.len() + configuration["seats"].as_u64().unwrap_or(0) as usize;
        let topology = &configuration["topology"];
        let star = topology["star"]["distance_bt"].as_u64();
        let bus = topology["bus"]["positions_bt"].as_array();
        let distance = |a: usize, b: usize| match (star, bus) {
            (Some(distance), _) => Some(if a == b { 0 } else { distance }),
            (None, Some(places)) => Some(places[a].as_u64()?.abs_diff(places[b].as_u64()?)),
            (None, None) => None,
        };
        let places: Option<Vec<Vec<u64>>> =
            (0..count).map(|a| (0..count).map(|b| distance(a, b)).collect::<Option<_>>()).collect();
        let stations = vec![Station::default(); count];
        let positions = bus.map_or(Vec::new(), |all| all.iter().filter_map(Value::as_u64).collect());
        Log { rules, names, places: places.filter(|_| healthy), positions, stations, signals: VecDeque::new() }
    }

    /// A station that joins is at a place of its own.
    fn place(&mut self, seat: usize, place: u64) {
        let Some(places) = &mut self.places else { return };
        self.positions[seat] = place;
        for (other, position) in self.positions.iter().enumerate() {
            places[seat][other] = position.abs_diff(place);
            places[other][seat] = position.abs_diff(place);
        }
    }

    fn take(&mut self, event: &Value) -> Result<(), String> {
        let (at, kind) = (number(event, "t"), event["kind"].as_str().expect("a kind"));
        let (from, serial) = event["frame"].as_str().and_then(|name| name.rsplit_once('#')).expect("a frame's name");
        let (from, serial) = (self.names[from], serial.parse::<u64>().expect("a number"));
        match kind {
            "offered" => self.offered(from, serial),
            "queue_drop" => self.dropped(from, serial),
            "defer" => self.is_at_head(from, serial),
            "attempt" => self.attempt(at, from, serial, event),
            "collision" => self.collision(at, from, serial, event),
            "jam_end" => self.jam_end(at, from, serial),
            "backoff" => self.backoff(at, from, serial, event),
            "transmitted" => self.transmitted(at, from, serial, event),
            "discarded" => self.discarded(at, from, serial, event),
            "delivered" => self.delivered(at, from, event),
            _ => Ok(()),
        }
    }

    fn offered(&mut self, from: usize, serial: u64) -> Result<(), String> {
        let station = &mut self.stations[from];
        station.offered += 1;
        station.queue.push_back(serial);
        must(station.offered == serial, || format!("frame {} was expected", station.offered))
    }

    fn dropped(&mut self, from: usize, serial: u64) -> Result<(), String> {
        let (station, limit) = (&mut self.stations[from], self.rules.queue_limit);
        let last = station.queue.pop_back();
        must(last == Some(serial) && station.queue.len() >= limit, || {
            format!("a queue of {} of {limit} drops, and {last:?} is its last", station.queue.len())
        })
    }

    fn is_at_head(&self, from: usize, serial: u64) -> Result<(), String> {
        let head = self.stations[from].queue.front();
        must(head == Some(&serial), || format!("{head:?} is at the head of the queue"))
    }

    fn attempt(&mut self, at: u64, from: usize, serial: u64, event: &Value) -> Result<(), String> {
        self.is_at_head(from, serial)?;
        let burst = event["burst"] == true;
        self.defers(at, from, burst)?;
        let (station, limit) = (&mut self.stations[from], self.rules.attempt_limit);
        station.attempts += 1;
        let (count, told, before) = (station.attempts, number(event, "attempt"), station.not_before);
        must(count == told && count <= limit, || format!("attempt {count} of {limit}"))?;
        must(burst || at >= before, || format!("not before {before}"))?;
        must(station.sends.is_none(), || "it sends already".to_owned())?;
        station.sends = Some((at, None));
        station.began_deaf = station.deaf;
        self.signals.push_back(Signal { station: from, begin: at, end: None });
        if self.signals.len() > REMEMBERED + self.stations.len() {
            // The first signal has ended long ago.
            self.signals.pop_front();
        }
        Ok(())
    }

    /// No other signal is heard in the gap before an attempt, unless it began when the attempt could no longer be held
    /// back.
    fn defers(&self, at: u64, from: usize, burst: bool) -> Result<(), String> {
        let Some(places) = self.places.as_ref().filter(|_| !burst) else { return Ok(()) };
        let rules = &self.rules;
        // The gap began some bit times ago; to within one of them, its second part is as long as it is for the clock.
        let off = rules.pace(from) != 1_000_000;
        let part_2 = (rules.gap - rules.part_1) * 1_000_000 / rules.pace(from) + 2 * u64::from(off);
        let heard = self.signals.iter().filter(|signal| signal.station != from).find(|signal| {
            let distance = places[from][signal.station];
            let (begin, end) = (signal.begin + distance, signal.end.map_or(u64::MAX, |end| end + distance));
            begin < at && rules.later(from, end.min(at), rules.gap) > at && begin + part_2 < at
        });
        must(heard.is_none(), || format!("{heard:?} is heard in the gap"))
    }

    fn collision(&mut self, at: u64, from: usize, serial: u64, event: &Value) -> Result<(), String> {
        self.is_at_head(from, serial)?;
        let slot = self.rules.slot;
        let Some((begin, noticed)) = &mut self.stations[from].sends else { return Err("it does not send".to_owned()) };
        let late = event["late"] == true;
        must(noticed.is_none(), || "it has noticed a collision already".to_owned())?;
        *noticed = Some(at);
        must(late == (at - *begin > slot), || format!("{} BT after the first bit", at - *begin))
    }

    fn jam_end(&mut self, at: u64, from: usize, serial: u64) -> Result<(), String> {
        self.is_at_head(from, serial)?;
        let Some((begin, Some(noticed))) = self.stations[from].sends else { return Err("no collision".to_owned()) };
        // Preamble and SFD come first, at whatever bit the collision was noticed (4.2.3.2.4).
        let due = noticed.max(begin + PREAMBLE) + self.rules.jam;
        self.ends(at, from);
        must(at == due, || format!("the jam ends at {due}"))
    }

    fn backoff(&mut self, at: u64, from: usize, serial: u64, event: &Value) -> Result<(), String> {
        self.is_at_head(from, serial)?;
        let (slots, station) = (number(event, "slots"), &mut self.stations[from]);
        let bound = 1 << station.attempts.min(self.rules.backoff_limit);
        station.not_before = station.not_before.max(self.rules.later(from, at, slots * self.rules.slot));
        must(slots < bound, || format!("{slots} slots of {bound}"))
    }

    fn transmitted(&mut self, at: u64, from: usize, serial: u64, event: &Value) -> Result<(), String> {
        self.is_at_head(from, serial)?;
        let Some((begin, None)) = self.stations[from].sends else {
            return Err("no attempt without collision".to_owned());
        };
        let due = begin + PREAMBLE + 8 * number(event, "size") + number(event, "extension");
        must(at == due, || format!("its last bit is at {due}"))?;
        let (made, told) = (self.stations[from].attempts, number(event, "attempts"));
        must(made == told, || format!("{made} attempts"))?;
        self.ends(at, from);
        self.alone(from, from, begin, at)?;
        self.leaves(from)
    }

    fn discarded(&mut self, at: u64, from: usize, serial: u64, event: &Value) -> Result<(), String> {
        let cause = event["cause"].as_str().expect("a cause");
        let (made, limit) = (self.stations[from].attempts, self.rules.attempt_limit);
        if cause == "excessive_collisions" {
            must(made == limit, || format!("{made} attempts of {limit}"))?;
        }
        if self.stations[from].queue.front() == Some(&serial) {
            if self.stations[from].sends.is_some() {
                self.ends(at, from);
            }
            return self.leaves(from);
        }
        // A frame that is too short or too long never gets to the head, and a station that is taken off loses all its
        // frames.
        let waits = self.stations[from].queue.iter().position(|&waiting| waiting == serial);
        must(waits.is_some(), || "it does not wait".to_owned())?;
        waits.and_then(|place| self.stations[from].queue.remove(place));
        Ok(())
    }

    fn delivered(&mut self, at: u64, from: usize, event: &Value) -> Result<(), String> {
        let Some(places) = &self.places else { return Ok(()) };
        let to = self.names[event["station"].as_str().expect("a name")];
        let distance = places[from][to];
        let signal = self
            .signals
            .iter()
            .rev()
            .find(|signal| signal.station == from && signal.end.is_some_and(|end| end + distance == at));
        let Some(&Signal { begin, .. }) = signal else { return Err("no signal of it ended then".to_owned()) };
        self.alone(from, to, begin + distance, at)
    }

    /// No other signal is heard at this place between two instants.
    fn alone(&self, from: usize, at: usize, begin: u64, end: u64) -> Result<(), String> {
        let Some(places) = &self.places else { return Ok(()) };
        let heard = self.signals.iter().filter(|signal| signal.station != from).find(|signal| {
            let distance = places[at][signal.station];
            signal.begin + distance < end && signal.end.is_none_or(|end| end + distance > begin)
        });
        must(heard.is_none(), || format!("{heard:?} is heard from {begin} to {end}"))
    }

    fn ends(&mut self, at: u64, from: usize) {
        let signal = self.signals.iter_mut().rev().find(|signal| signal.station == from);
        signal.expect("it was begun").end = Some(at);
        let gap_end = self.rules.later(from, at, self.rules.gap);
        let station = &mut self.stations[from];
        station.sends = None;
        station.not_before = if station.began_deaf { at } else { gap_end };
    }

    fn leaves(&mut self, from: usize) -> Result<(), String> {
        let station = &mut self.stations[from];
        station.attempts = 0;
        station.queue.pop_front();
        Ok(())
    }
}
