//! `ethbus explain` against a check of its own: of random runs, with faults, cuts, bursts and odd parameters, every
//! sentence about every frame is held against the log's lines, read as JSON, and against what was offered.
//!
//! The check finds the signals at a place by asking each signal whether it covers a bit time there, and by no other
//! means. `ETHBUS_SEED=2` draws other runs, `ETHBUS_CASES=10000` more. Longer than other files, since each kind of
//! sentence has its check here.
//!
//! One file above 500 lines because the second derivation of every sentence is one piece.

use crate::common::files::kind;
use crate::logged::{beyond_cut, logged, number, station, text};
use crate::scenario::{
    Scenario, any_cable, any_medium, cut_scenario, extending_config, faulty_scenario, fitting_topology, gigabit_config,
    joined_segments, runner,
};
use medium::{BitInstant, BitRate, Config, Destination, Frame, FrameId, Input, Octets, StationId, Topology};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use sim::explain::{Wanted, find, tell};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

const PREAMBLE: u64 = 64;

/// One attempt as it was on the medium.
struct Signal {
    frame: String,
    station: usize,
    attempt: u64,
    begin: u64,
    preamble: u64,
    burst: bool,
    end: u64,
    collided: Option<u64>,
    fault: Option<String>,
    /// Which stations it gets to, and which of them hear it.
    reaches: Vec<bool>,
    heard: Vec<bool>,
}

/// A run, and all that its log has.
struct Run {
    config: Config,
    log: String,
    lines: Vec<Value>,
    signals: Vec<Signal>,
    tally: BTreeMap<&'static str, u64>,
}

impl Run {
    fn of(scenario: &Scenario) -> Run {
        let config = scenario.config.clone();
        let (medium, log, lines) = logged(&config, &scenario.inputs, 1 << 40);
        let mut tally = BTreeMap::new();
        for counters in medium.tally().stations() {
            counters.named().for_each(|(name, count)| *tally.entry(name).or_default() += count);
        }
        let signals = signals(&config, &lines);
        Run { config, log, lines, signals, tally }
    }

    /// When a signal is at a place: its first bit, and the first bit time without it.
    fn at(&self, signal: &Signal, place: usize) -> (u64, u64) {
        let of = |station: usize| StationId::new(station as u16);
        let distance = self.config.way(of(signal.station), BitInstant::new(signal.begin), of(place)).get();
        (signal.begin + distance, signal.end + distance)
    }

    fn names<'a>(&'a self, which: impl Fn(&Signal) -> bool + 'a) -> BTreeSet<String> {
        self.signals.iter().filter(|signal| which(signal)).map(|signal| signal.frame.clone()).collect()
    }

    /// Whose signals a station hears as it decides at `t`: those of the bit time before, its own if it goes on.
    fn hears(&self, place: usize, t: u64) -> BTreeSet<String> {
        self.names(|one| {
            let (begin, end) = self.at(one, place);
            let goes_on = if one.station == place { end > t } else { end >= t };
            begin < t && goes_on && one.heard[place]
        })
    }
}

/// The fault that a deed's line gives a station, if any.
fn fault_of(line: &Value) -> Option<&str> {
    line["fault"].as_str().filter(|fault| *fault != "none")
}

fn is_of_cable(line: &Value) -> bool {
    ["cut", "mend"].contains(&kind(line))
}

/// Every signal, with the faults and the cut of the lines before it.
fn signals(config: &Config, lines: &[Value]) -> Vec<Signal> {
    let stations = config.topology.stations();
    let mut signals: Vec<Signal> = Vec::new();
    let mut faults = vec![None; stations];
    let mut far = vec![false; stations];
    for line in lines {
        match kind(line) {
            "fault" => faults[station(text(line, "station"))] = fault_of(line).map(str::to_owned),
            "cut" | "mend" => far = beyond_cut(config, line),
            "attempt" => {
                let (own, begin) = (station(text(line, "station")), number(line, "t"));
                let burst = line["burst"] == true;
                let reaches: Vec<bool> = far.iter().map(|side| *side == far[own]).collect();
                let is_deaf = |at: usize| match faults[at].as_deref() {
                    Some("deaf") => true,
                    // It senses its own signals, and no others.
                    Some("full_duplex") => at != own,
                    Some(_) | None => false,
                };
                let hears = |at: usize| reaches[at] && !is_deaf(at);
                signals.push(Signal {
                    frame: text(line, "frame").to_owned(),
                    station: own,
                    attempt: number(line, "attempt"),
                    begin,
                    preamble: begin + if burst { config.parameters.inter_packet_gap.get() } else { 0 },
                    burst,
                    end: u64::MAX >> 1,
                    collided: None,
                    fault: faults[own].clone(),
                    heard: (0..stations).map(hears).collect(),
                    reaches,
                });
            }
            kind @ ("collision" | "jam_end" | "transmitted") => {
                let own = signals.iter_mut().rfind(|one| one.frame == text(line, "frame")).expect("an attempt");
                let t = number(line, "t");
                if kind == "collision" { own.collided = Some(t) } else { own.end = t }
            }
            _ => {}
        }
    }
    signals
}

/// The frames that are named in a text.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    words.filter(|word| word.contains('#')).map(str::to_owned).collect()
}

/// The number before ` BT` after `words`.
fn bits_after(text: &str, words: &str) -> u64 {
    let rest = text.split_once(words).unwrap_or_else(|| panic!("no `{words}` in {text}")).1;
    let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after `{words}` in {text}"))
}

/// The steps of a told life: instant and words, line ends taken out.
fn steps(told: &str) -> Vec<(u64, String)> {
    let mut steps: Vec<(u64, String)> = Vec::new();
    for line in told.split("t in BT").nth(1).expect("a table").lines().skip(1).take_while(|line| !line.is_empty()) {
        let fresh = line.chars().take(16).any(|c| c.is_ascii_digit()) && !line.starts_with(&" ".repeat(40));
        if fresh {
            let t = line.split_whitespace().next().expect("an instant").replace(',', "").parse().expect("a number");
            // Two columns of numbers, and a number with its unit.
            let (_, words) = line.split_at(line.char_indices().nth(40).map_or(line.len(), |(at, _)| at));
            steps.push((t, words.trim().to_owned()));
        } else {
            let last = &mut steps.last_mut().expect("a step").1;
            *last = format!("{last} {}", line.trim());
        }
    }
    steps
}

/// Checks the words of a step at an instant.
type Step<'a> = fn(&Check<'a>, u64, &str);

/// Compares every sentence about one frame with its run.
struct Check<'a> {
    run: &'a Run,
    frame: &'a str,
    own: usize,
}

impl<'a> Check<'a> {
    fn lines(&self) -> impl Iterator<Item = &Value> {
        self.run.lines.iter().filter(|line| text(line, "frame") == self.frame)
    }

    fn line(&self, kind: &str, t: u64, words: &str) -> &Value {
        let found = self.lines().find(|line| text(line, "kind") == kind && number(line, "t") == t);
        found.unwrap_or_else(|| panic!("{} has no {kind} at {t}: {words}", self.frame))
    }

    fn signal(&self, attempt: u64) -> &Signal {
        let own = |one: &&Signal| one.frame == self.frame && one.attempt == attempt;
        self.run.signals.iter().find(own).expect("an attempt")
    }

    fn step(&self, t: u64, words: &str) {
        let kinds: [(&str, Step<'a>); 13] = [
            ("The host of ", Check::offered),
            ("The MAC of ", Check::head),
            ("Ready for attempt ", Check::deferred),
            ("Collision ", Check::collided),
            ("The jam of ", |check, t, words| _ = check.line("jam_end", t, words)),
            ("Backoff ", Check::backed_off),
            ("The last bit is out", Check::transmitted),
            ("The transmit queue is full", |check, t, words| _ = check.line("queue_drop", t, words)),
            ("The cable is ", Check::cable),
            ("It still holds the medium", Check::attempted),
            ("Silence at the place of ", Check::attempted),
            ("The medium is free ", Check::attempted),
            ("The station is off the medium", |check, t, words| {
                assert_eq!(text(check.line("discarded", t, words), "cause"), "detached");
            }),
        ];
        if let Some((_, check)) = kinds.iter().find(|(begin, _)| words.starts_with(begin)) {
            return check(self, t, words);
        }
        match words {
            _ if words.contains("Attempt ") && !words.contains("attemptLimit is reached") => self.attempted(t, words),
            _ if words.contains(" nothing of it: ") || words.contains(" off the medium when ") => self.unheard(words),
            _ if words.contains(", the addressee") || words.contains("the frame whole (4.2.4).") => {
                self.received(t, words)
            }
            _ if words.contains("gets the fault") || words.contains("no fault any more") => self.done(t, words),
            _ if words.contains("put back on") || words.contains("taken off the medium") => self.done(t, words),
            _ => assert_eq!(text(self.line("discarded", t, words), "kind"), "discarded", "{words}"),
        }
    }

    fn offered(&self, t: u64, words: &str) {
        let line = self.line("offered", t, words);
        assert!(words.contains(&format!("{} octets from", line["size"])), "{words}");
        let whom = match &line["destination"] {
            Value::String(word) if word == "all" => "the frame for all stations to".to_owned(),
            Value::String(_) => "the frame for an address that no station has to".to_owned(),
            station => format!("the frame for {} to", text(station, "station")),
        };
        assert!(words.contains(&whom), "{words}: {line}");
        let station = text(line, "station");
        let before = || self.run.lines.iter().take_while(|other| *other != line);
        let of = |kinds: &[&str]| {
            before().filter(|it| text(it, "station") == station && kinds.contains(&text(it, "kind"))).count()
        };
        let ahead = of(&["offered"]) - of(&["transmitted", "discarded", "queue_drop"]);
        let told = if ahead == 0 { "No other frame of".to_owned() } else { format!("It waits behind {ahead} frame") };
        assert!(words.contains(&told), "{ahead}: {words}");
        let fault = before().filter(|it| kind(it) == "fault" && text(it, "station") == station).last();
        let fault = fault.and_then(fault_of);
        assert_eq!(words.contains("has the fault"), fault.is_some(), "{words}");
        assert!(fault.is_none_or(|fault| words.contains(&format!("has the fault `{fault}`"))), "{words}");
        let cut = before().filter(|it| is_of_cable(it)).last().is_some_and(|line| !line["cut"].is_null());
        assert_eq!(words.contains("The cable is cut"), cut, "{words}");
    }

    fn head(&self, t: u64, words: &str) {
        let before = named(words).into_iter().next().expect("a frame");
        let over = |line: &Value| ["transmitted", "discarded"].contains(&text(line, "kind"));
        let of = |line: &&Value| text(line, "frame") == before && number(line, "t") == t && over(line);
        assert!(self.run.lines.iter().any(|line| of(&line)), "{words} at {t}");
    }

    fn deferred(&self, t: u64, words: &str) {
        self.line("defer", t, words);
        // Of a signal that ends at this very bit it is the gap that is waited for.
        let hears = self.run.names(|one| {
            let (begin, end) = self.run.at(one, self.own);
            begin < t && t < end && one.heard[self.own]
        });
        assert_eq!(words.contains("it hears "), !hears.is_empty(), "{words}");
        if !hears.is_empty() {
            return assert_eq!(named(words), hears, "{words} at {t}");
        }
        let ended = |one: &Signal| Some(self.run.at(one, self.own).1).filter(|end| *end <= t && one.heard[self.own]);
        let last = self.run.signals.iter().filter_map(ended).max().expect("something ended");
        assert!(last + self.run.config.parameters.inter_packet_gap.get() > t, "{words}");
        assert_eq!(named(words), self.run.names(|one| ended(one) == Some(last)), "{words} at {t}");
    }

    fn attempted(&self, t: u64, words: &str) {
        let line = self.line("attempt", t, words);
        let (attempt, parameters) = (number(line, "attempt"), &self.run.config.parameters);
        assert!(words.contains(&format!("Attempt {attempt} of at most {}.", parameters.attempt_limit)), "{words}");
        assert_eq!(words.contains("excessive deferral"), line["excessive_deferral"] == true, "{words}");
        assert_eq!(words.contains("goes on with its burst"), line["burst"] == true, "{words}");
        if line["burst"] == true {
            return;
        }
        let waits = |line: &&Value| text(line, "kind") == "defer" && number(line, "attempt") == attempt;
        let since = self.lines().find(waits).map(|line| number(line, "t"));
        match since {
            Some(since) => assert_eq!(bits_after(words, "after "), t - since, "{words}"),
            None => assert!(!words.contains("of deferring"), "{words}"),
        }
        let there = |one: &Signal| {
            let (begin, end) = self.run.at(one, self.own);
            begin < t && end >= t
        };
        let cut = self.run.names(|one| there(one) && !one.reaches[self.own]);
        // A station misses no signal of its own.
        let missed = |one: &Signal| one.reaches[self.own] && !one.heard[self.own] && one.station != self.own;
        let deaf = self.run.names(|one| there(one) && missed(one));
        let told = |words: &str, end: &str| named(words.split(end).next().unwrap_or(""));
        let told_deaf = words.split_once("it does not hear ").map_or(BTreeSet::new(), |it| told(it.1, ", since"));
        assert_eq!(told_deaf, deaf, "{words} at {t}");
        let told_cut = words.split_once(" cannot be heard here");
        assert_eq!(
            told_cut.map_or(BTreeSet::new(), |it| named(it.0.rsplit(';').next().expect("words"))),
            cut,
            "{words}"
        );
        self.gap(t, words, since.is_some(), cut.is_empty() && deaf.is_empty());
    }

    /// What is said of the gap before an attempt.
    fn gap(&self, t: u64, words: &str, waited: bool, all_heard: bool) {
        let (parameters, hears) = (&self.run.config.parameters, self.run.hears(self.own, t));
        let back = words.contains(" came back ");
        assert_eq!(words.starts_with("Silence at"), waited && hears.is_empty(), "{words}");
        assert_eq!(back, waited && !hears.is_empty(), "{words}: {hears:?}");
        assert_eq!(words.starts_with("The medium is free"), !waited && all_heard, "{words}: {hears:?}");
        assert!(waited || hears.is_empty(), "{words}: {hears:?}");
        if back {
            let begin = t - parameters.inter_packet_gap.get();
            let told = named(words.split(" came back").next().expect("names"));
            assert_eq!(told, hears, "{words}");
            let first = self.run.signals.iter().filter(|one| hears.contains(&one.frame));
            let first = first.map(|one| self.run.at(one, self.own).0).filter(|at| *at >= begin && *at < t).min();
            let into = first.expect("it came back in the gap") - begin;
            assert_eq!(bits_after(words, " came back "), into, "{words}");
            assert_eq!(words.contains("second part"), into >= parameters.inter_packet_gap_part_1.get(), "{words}");
            // Back to the pause before the gap: its own signal was in that stretch of carrier.
            let covers = |one: &&Signal, bit: u64| {
                let (begin, end) = self.run.at(one, self.own);
                begin <= bit && bit < end && one.heard[self.own]
            };
            let heard = |bit: u64| self.run.signals.iter().filter(move |one| covers(one, bit));
            let stretch = (0..begin).rev().take_while(|bit| heard(*bit).next().is_some());
            let own = stretch.into_iter().any(|bit| heard(bit).any(|one| one.station == self.own));
            assert!(words.contains("second part") || own, "{words} at {t}");
        }
    }

    fn collided(&self, t: u64, words: &str) {
        let (line, parameters) = (self.line("collision", t, words), &self.run.config.parameters);
        let own = self.signal(number(line, "attempt"));
        assert_eq!(bits_after(words, "on this medium (4.2.3.2.4): "), t - own.begin, "{words}");
        let met = self.run.names(|one| {
            let (begin, end) = self.run.at(one, self.own);
            one.station != self.own && begin <= t && t < end && one.reaches[self.own]
        });
        assert_eq!(named(words), met, "{words} at {t}");
        for party in words.split("notices ").nth(1).expect("parties").split("; and ") {
            let name = named(party).into_iter().next().expect("a frame");
            let here = |one: &&Signal| one.frame == name && self.run.at(one, self.own).0 <= t;
            let other = self.run.signals.iter().rfind(here).expect("a signal");
            let told = match other.begin.cmp(&own.begin) {
                std::cmp::Ordering::Equal => party.contains("began in the same bit time"),
                std::cmp::Ordering::Less => bits_after(party, "had begun ") == own.begin - other.begin,
                std::cmp::Ordering::Greater => bits_after(party, "which began ") == other.begin - own.begin,
            };
            assert!(told, "{party}: {} and {}", other.begin, own.begin);
        }
        let late = line["late"] == true;
        let beyond = t - own.begin > parameters.slot_time.get();
        assert_eq!(words.contains("later than slotTime"), late && beyond, "{words}");
        assert_eq!(words.contains("After a burst's first frame every"), late && !beyond, "{words}");
        let jam = if own.preamble > t {
            assert!(words.ends_with("Its preamble has not begun, so there is none, and the jam follows at once."));
            t
        } else if t < own.preamble + PREAMBLE {
            assert!(words.ends_with("Preamble and SFD are finished first, then comes the jam."), "{words}");
            own.preamble + PREAMBLE
        } else {
            assert!(words.ends_with("The jam follows at once."), "{words}");
            t
        };
        assert_eq!(own.end, jam + parameters.jam_size.get(), "{words}");
    }

    fn backed_off(&self, t: u64, words: &str) {
        let line = self.line("backoff", t, words);
        assert!(words.contains(&format!("after collision {} of", line["attempt"])), "{words}");
        // The standard's draw has a range; for another policy only the draw is printed.
        let own_policy = self.run.config.backoff.is_some();
        assert_eq!(own_policy, !words.starts_with("Backoff (4.2.3.2.5)"), "{words}");
        let draws = if own_policy { "its policy draws a number of slots," } else { "it draws" };
        assert!(words.replace(',', "").contains(&format!("{} {};", draws.replace(',', ""), line["slots"])), "{words}");
    }

    fn transmitted(&self, t: u64, words: &str) {
        let line = self.line("transmitted", t, words);
        assert_eq!(words.contains("carrier extension"), number(line, "extension") > 0, "{words}");
        assert_eq!(words.contains("no carrier sense"), line["no_carrier"] == true, "{words}");
        assert!(words.contains(&format!("{} octets, at attempt {} ", line["size"], line["attempts"])), "{words}");
        let own = self.signal(number(line, "attempts"));
        assert_eq!(line["no_carrier"] == true, own.fault.as_deref() == Some("deaf"), "the log tells of faults in time");
    }

    fn cable(&self, t: u64, words: &str) {
        let line = self.run.lines.iter().filter(|line| is_of_cable(line) && number(line, "t") == t);
        assert!(line.into_iter().any(|line| line["cut"].is_null() == words.contains("mended")), "{words}");
    }

    fn done(&self, t: u64, words: &str) {
        let name = words.split_whitespace().next().expect("a station");
        let kind = match words {
            _ if words.contains("fault") => "fault",
            _ if words.contains("put back") => "plug",
            _ => "unplug",
        };
        let of = |line: &Value| text(line, if kind == "fault" { "station" } else { kind }) == name;
        let is = |line: &&Value| self::kind(line) == kind && of(line) && number(line, "t") == t;
        let mut lines = self.run.lines.iter().filter(is);
        let told = |line: &Value| match fault_of(line) {
            Some(fault) => words.contains(&format!("the fault `{fault}`")),
            None => kind != "fault" || words.contains("no fault any more"),
        };
        assert!(lines.any(told), "{words} at {t}");
    }

    fn unheard(&self, words: &str) {
        let sent = self.run.signals.iter().rfind(|one| one.frame == self.frame).expect("an attempt");
        for name in
            words.split(", the addressee").next().expect("names").split([' ', ',']).filter(|it| it.starts_with("st"))
        {
            let place = station(name);
            assert_eq!(words.contains("cable was cut"), !sent.reaches[place], "{words}");
            let received = ["delivered", "fragment", "damaged", "too_long"];
            let at = self.run.at(sent, place).1;
            let hears = |line: &&Value| text(line, "station") == name && number(line, "t") == at;
            assert!(!self.lines().filter(hears).any(|line| received.contains(&text(line, "kind"))), "{words}");
        }
    }

    fn received(&self, t: u64, words: &str) {
        let who: BTreeSet<&str> = words
            .split([' ', ','])
            .take_while(|word| !word.starts_with("addressee") && !word.starts_with("receive"))
            .filter(|it| it.starts_with("st"))
            .collect();
        let kind = match words {
            _ if words.contains("the frame whole") => "delivered",
            _ if words.contains("too long, dropped") => "too_long",
            _ if words.contains("collision fragment") => "fragment",
            _ => "damaged",
        };
        for name in who {
            let here =
                |line: &&Value| text(line, "kind") == kind && text(line, "station") == name && number(line, "t") >= t;
            let line = self.lines().find(here).unwrap_or_else(|| panic!("{name} has no {kind} from {t}: {words}"));
            let place = station(name);
            let ends = |one: &&Signal| one.frame == self.frame && self.run.at(one, place).1 == number(line, "t");
            let sent = self.run.signals.iter().rfind(ends).expect("it was sent");
            match kind {
                "fragment" => self.fragment(sent, number(line, "bits"), words),
                "damaged" => self.damaged(sent, place, words),
                _ => assert!(sent.collided.is_none(), "{words}"),
            }
        }
    }

    fn fragment(&self, sent: &Signal, bits: u64, words: &str) {
        let p = &self.run.config.parameters;
        let (least, extended) = (u64::from(p.min_frame_size.get()) * 8, u64::from(p.extend_size.get()) * 8);
        let slot = extended > 0 && !sent.burst;
        assert_eq!(words.contains("less than slotTime"), slot, "{words}");
        assert_eq!(words.contains("less than minFrameSize"), !slot, "{words}");
        assert!(bits < if slot { p.slot_time.get() } else { least }, "{words}");
        assert_eq!(sent.end - sent.preamble - PREAMBLE, bits, "{words}");
    }

    fn damaged(&self, sent: &Signal, place: usize, words: &str) {
        let (_, end) = self.run.at(sent, place);
        let preamble = end - (sent.end - sent.preamble);
        let over = self.run.names(|one| {
            let (begin, silent) = self.run.at(one, place);
            let other = (&one.frame, one.attempt) != (&sent.frame, sent.attempt);
            other && one.reaches[place] && begin < end && silent > preamble
        });
        let cut_short = sent.collided.is_some();
        assert_eq!(words.contains("cut it short with a jam"), cut_short, "{words}");
        let faulty = !cut_short && sent.fault.as_deref() == Some("bad_fcs");
        assert_eq!(words.contains("had the fault `bad_fcs`"), faulty, "{words}");
        if !cut_short && !faulty {
            assert!(!over.is_empty(), "{words}: nothing met it");
            assert_eq!(named(words.split("the signal of").nth(1).unwrap_or("")), over, "{words}");
        }
    }

    /// Attempts, collisions, time and counters.
    fn in_short(&self, told: &str, sums: &mut BTreeMap<String, u64>) {
        let short = told.split("In short: ").nth(1).expect("a summary").replace('\n', " ");
        let count = |kind: &str| self.lines().filter(|line| text(line, "kind") == kind).count();
        let s = |count: usize| if count == 1 { "" } else { "s" };
        let (attempts, collisions) = (count("attempt"), count("collision"));
        let begin = format!("{attempts} attempt{}, {collisions} collision{}, ", s(attempts), s(collisions));
        assert!(short.starts_with(&begin), "{short}");
        let own = self.run.signals.iter().filter(|one| one.frame == self.frame);
        assert_eq!(bits_after(&short, &begin), own.map(|one| one.end - one.begin).sum::<u64>(), "{short}");
        let Some((_, counted)) = short.split_once("It counts in ") else { return };
        let list = counted.split(" (30.3.1.1)").next().expect("names").replace(" and ", ", ");
        for counter in list.split(", ") {
            let (name, times) = counter.split_once(" (").unwrap_or((counter, "1"));
            let times: u64 = times.trim_end_matches(" times)").parse().expect("a count");
            *sums.entry(name.to_owned()).or_default() += times;
        }
    }
}

/// Tells every frame of a run and checks every step; then the counters of all together.
fn check(scenario: &Scenario, seen: &mut BTreeMap<String, u64>) {
    let run = Run::of(scenario);
    let mut sums = BTreeMap::new();
    for line in run.lines.iter().filter(|line| text(line, "kind") == "offered") {
        let frame = text(line, "frame");
        let mut log = EventLogReader::new(LineReader::new(run.log.as_bytes(), "log".to_owned())).expect("a log");
        let wanted = Wanted::parse(frame, log.header()).expect("its name");
        let story = find(&mut log, wanted).expect("it is in the log");
        let told = tell(&story);
        let check = Check { run: &run, frame, own: station(frame) };
        let steps = steps(&told);
        for (t, words) in &steps {
            let begin: String = words.split_whitespace().filter(|word| !word.contains("st")).take(4).collect();
            *seen.entry(begin).or_default() += 1;
            check.step(*t, words);
        }
        let own = check.lines().filter(|line| text(line, "station") == frame.split('#').next().expect("a station"));
        let own = own.filter(|line| !["delivered", "fragment", "damaged", "too_long"].contains(&text(line, "kind")));
        let other = |words: &str| {
            let extra = ["The MAC of ", "The cable is ", "The station is "];
            let done = ["gets the fault", "no fault any more", "put back on", "taken off the medium"];
            let receivers = [", the addressee", "the frame whole (4.2.4)."];
            extra[..2].iter().any(|begin| words.starts_with(begin))
                || done.iter().chain(&receivers).any(|part| words.contains(part))
        };
        assert_eq!(steps.iter().filter(|(_, words)| !other(words)).count(), own.count(), "{frame}: {told}");
        check.in_short(&told, &mut sums);
    }
    for name in [
        "frames_transmitted_ok",
        "single_collision_frames",
        "multiple_collision_frames",
        "deferred_transmissions",
        "late_collisions",
        "excessive_collisions",
        "late_collision_discards",
        "excessive_deferrals",
        "queue_drops",
        "carrier_sense_errors",
        "internal_mac_transmit_errors",
        "too_short",
        "too_long",
        "detached",
    ] {
        assert_eq!(sums.get(name).copied().unwrap_or(0), run.tally[name], "{name}");
    }
}

/// Of 400 random runs every sentence is true: 200 with faults and cuts over any topology, and 200 that extend frames
/// or are at 1 Gb/s, bursts on or off.
#[test]
fn every_sentence_about_every_frame_of_random_runs_is_true() {
    let odd = prop_oneof![
        2 => faulty_scenario(any_medium()).boxed(),
        1 => cut_scenario(extending_config(any_cable())).boxed(),
        1 => cut_scenario(crate::scenario::any_config(any_cable())).boxed(),
    ];
    let gigabit = prop_oneof![
        2 => faulty_scenario(gigabit_config(fitting_topology())).boxed(),
        1 => faulty_scenario(gigabit_config(joined_segments())).boxed(),
        1 => faulty_scenario(extending_config(crate::scenario::any_topology())).boxed(),
    ];
    let seen = std::cell::RefCell::new(BTreeMap::new());
    for strategy in [odd.boxed(), gigabit.boxed()] {
        let told = runner(200).run(&strategy, |scenario| {
            let tried =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&scenario, &mut seen.borrow_mut())));
            tried.map_err(|_| TestCaseError::fail("a sentence is not true, as said above"))
        });
        if let Err(error) = told {
            panic!("{error}");
        }
    }
    for (begin, times) in seen.into_inner() {
        println!("{times:>8} {begin}");
    }
}

/// Without distances, decisions and ends fall on one bit time; the log has the decisions before the ends.
#[test]
fn a_wait_for_the_gap_names_every_signal_that_ended_last() {
    let frame = Frame { size: Octets::new(64), destination: Destination::Nobody, tagged: false };
    let offer = |station| (0, Input::Offer { station: StationId::new(station), frame });
    for (attempt_limit, stations) in [(1, vec![0, 2, 2]), (2, vec![0, 1]), (16, vec![0, 1, 2])] {
        let mut config = Config::new(BitRate::MBIT_10, Topology::star(3, 0), 0);
        config.parameters.attempt_limit = NonZeroU32::new(attempt_limit).expect("at least one");
        let inputs = stations.into_iter().map(offer).collect();
        check(&Scenario { config, inputs }, &mut BTreeMap::new());
    }
}

/// The log has the addressee of a frame as it was offered, with any other event at the same instant.
#[test]
fn the_log_tells_what_was_offered_and_done() {
    let told = runner(200).run(&cut_scenario(crate::scenario::any_config(any_cable())), |scenario| {
        let run = Run::of(&scenario);
        let mut log = EventLogReader::new(LineReader::new(run.log.as_bytes(), "log".to_owned())).expect("a log");
        let (mut offers, mut done) = (Vec::new(), Vec::new());
        while let Some(entry) = log.next_entry().expect("a line") {
            match entry {
                sim::files::event_log::Entry::Medium(event) if event.kind.name() == "offered" => {
                    let FrameId { .. } = event.frame;
                    offers.push((event.at.get(), log.destination().expect("it is told")));
                }
                sim::files::event_log::Entry::Deed { at, deed } => done.push((at.get(), Input::Deed(deed))),
                sim::files::event_log::Entry::Medium(_) | sim::files::event_log::Entry::Emulator(_) => {}
            }
        }
        let (mut given, mut others) = (Vec::new(), Vec::new());
        for &(at, input) in &scenario.inputs {
            match input {
                Input::Offer { frame, .. } => given.push((at, frame.destination)),
                other => others.push((at, other)),
            }
        }
        prop_assert_eq!(offers, given);
        prop_assert_eq!(done, others);
        Ok(())
    });
    if let Err(error) = told {
        panic!("{error}");
    }
}
