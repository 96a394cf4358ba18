//! A run as a timeline and as waveforms: what other readers make of them is what the event log says.

use crate::common::files::{folder, logged, path};
use crate::common::process::{ethbus, program, run};
use crate::common::{is_installed, skip};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
/// Runs `ethbus sim` with these options, and converts its log.
fn converted(options: &[&str], events: &str, to: &str, out: &str) {
    run(ethbus([&["sim", "--warmup", "0s", "--events", events], options].concat())).succeeded();
    run(ethbus(["convert", events, "--to", to, "--out", out])).succeeded();
}

/// What ui.perfetto.dev is given: as many collisions as the log has, slices that end, flows that arrive.
#[test]
fn a_timeline_tells_what_the_log_does() {
    let folder = folder();
    let [events, trace] = ["run.events", "run.pftrace"].map(|name| path(&folder, name));
    converted(&["--duration", "50ms", "--topology", "bus:1500m"], &events, "perfetto", &trace);
    let (log, trace) = (fs::read_to_string(&events).expect("a log"), fs::read(&trace).expect("a trace"));
    let (mut named, mut open, mut last_end) = (BTreeMap::<String, usize>::new(), BTreeMap::new(), BTreeMap::new());
    let (mut begun, mut arrived, mut counted) = (Vec::new(), Vec::new(), Vec::new());
    for (field, packet) in fields(&trace) {
        assert_eq!(field, 1, "a trace is made of packets");
        let packet = fields(packet.octets());
        let number = |fields: &[(u64, Field)], wanted| {
            fields.iter().find(|(field, _)| *field == wanted).map(|(_, value)| value.number())
        };
        let Some((_, event)) = packet.iter().find(|(field, _)| *field == 11) else { continue };
        let (at, event) = (number(&packet, 8).expect("a time"), fields(event.octets()));
        let (kind, track) = (number(&event, 9).expect("a type"), number(&event, 11).expect("a track"));
        let name = event.iter().find(|(field, _)| *field == 23);
        if let Some((_, name)) = name {
            *named.entry(String::from_utf8(name.octets().to_vec()).expect("a name")).or_default() += 1;
        }
        match kind {
            1 => {
                assert!(last_end.get(&track).is_none_or(|end| *end <= at), "a slice begins when the last has ended");
                assert!(open.insert(track, at).is_none(), "one slice at a time on track {track}");
            }
            2 => {
                assert!(open.remove(&track).is_some_and(|begin| begin <= at), "what ends has begun");
                last_end.insert(track, at);
            }
            _ => {}
        }
        // The counter of collisions.
        if track == 4 {
            counted.extend(number(&event, 30));
        }
        begun.extend(event.iter().filter(|(field, _)| *field == 47).map(|(_, flow)| flow.number()));
        arrived.extend(event.iter().filter(|(field, _)| *field == 48).map(|(_, flow)| flow.number()));
    }
    for kind in ["collision", "attempt", "defer", "backoff", "delivered"] {
        assert_eq!(named.get(kind).copied().unwrap_or(0), logged(&log, &[kind]).len(), "{kind}");
    }
    assert!(named["collision"] > 20 && named["collision"] == named["jam"]);
    assert!(arrived.iter().all(|flow| begun.contains(flow)), "every arrow has a beginning");
    let (mut met, sent): (Vec<u64>, Vec<u64>) = begun.into_iter().partition(|flow| flow >> 63 == 1);
    assert_eq!(sent.len(), logged(&log, &["transmitted"]).len());
    // An arrow leads through all attempts that met in one collision.
    let episodes = logged(&log, &["collision"]).into_iter().map(|event| event["episode"].as_u64().expect("a number"));
    let mut expected: Vec<u64> = episodes.map(|episode| 1 << 63 | episode).collect();
    [&mut met, &mut expected].into_iter().for_each(|flows| flows.sort_unstable());
    assert_eq!(met, expected);
    expected.dedup();
    assert_eq!(counted, (1..=expected.len() as u64).collect::<Vec<_>>(), "a counter of collisions");
}

/// The bus and its counters are above the stations, and each station's tracks have their order, whatever happens first.
#[test]
fn tracks_of_a_timeline_have_an_order() {
    const BY_PLACE: u64 = 3;
    let folder = folder();
    let [events, trace] = ["run.events", "run.pftrace"].map(|name| path(&folder, name));
    converted(&["--stations", "12", "--duration", "1ms", "--access", "csma-ca"], &events, "perfetto", &trace);
    let (trace, mut tracks) = (fs::read(&trace).expect("a trace"), BTreeMap::<Option<u64>, Vec<(u64, String)>>::new());
    for (_, packet) in fields(&trace) {
        let packet = fields(packet.octets());
        let Some((_, track)) = packet.iter().find(|(field, _)| *field == 60) else { continue };
        let track = fields(track.octets());
        let find = |wanted| track.iter().find(|(field, _)| *field == wanted).map(|(_, value)| value);
        let name = String::from_utf8(find(2).expect("a name").octets().to_vec()).expect("UTF-8");
        assert_eq!(find(8).is_none(), find(11).is_some_and(|order| order.number() == BY_PLACE), "{name}");
        let place = find(12).map_or(0, Field::number);
        tracks.entry(find(5).map(Field::number)).or_default().push((place, name));
    }
    let rises = |own: &Vec<(u64, String)>| own.is_sorted_by(|one, next| one.0 < next.0);
    assert!(tracks.values().all(rises), "{tracks:?}");
    let names = |of: u64| tracks[&Some(of)].iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(1)[..5], ["bus", "collisions", "utilization_wire", "st1", "st2"]);
    assert_eq!(names(16), ["frames", "transmit", "received", "queue", "signals"]);
}

/// A field of protobuf.
#[derive(Debug)]
enum Field<'a> {
    Number(u64),
    Octets(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(&self) -> u64 {
        let Field::Number(number) = self else { panic!("no number: {self:?}") };
        *number
    }

    fn octets(&self) -> &'a [u8] {
        let Field::Octets(octets) = self else { panic!("no octets: {self:?}") };
        octets
    }
}

/// The fields of a message of protobuf.
fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    fn varint(message: &mut &[u8]) -> u64 {
        let length = message.iter().position(|octet| octet & 0x80 == 0).expect("an end") + 1;
        let (digits, rest) = message.split_at(length);
        *message = rest;
        digits.iter().rev().fold(0, |value, octet| value << 7 | u64::from(octet & 0x7f))
    }
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let value = match key & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => {
                let (octets, rest) = message.split_first_chunk().expect("eight octets");
                message = rest;
                Field::Number(u64::from_le_bytes(*octets))
            }
            2 => {
                let length = varint(&mut message) as usize;
                let (octets, rest) = message.split_at(length);
                message = rest;
                Field::Octets(octets)
            }
            wire => panic!("wire type {wire}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

/// Waveforms as another program reads them: the machines do what the log says, and carrier is where a station sends.
#[test]
fn waveforms_tell_what_the_log_does() {
    let folder = folder();
    let [events, vcd] = ["run.events", "run.vcd"].map(|name| path(&folder, name));
    converted(&["--duration", "50ms", "--stations", "3", "--topology", "bus:1500m"], &events, "vcd", &vcd);
    let log = fs::read_to_string(&events).expect("a log");
    let mut waves = wellen::simple::read(&vcd).expect("waveforms");
    let mut changes = |station: &str, name: &str| {
        let var = waves.hierarchy().lookup_var(&["bus", station], name).expect("it is declared");
        let signal = waves.hierarchy()[var].signal_ref();
        waves.load_signals(&[signal]);
        let times = waves.time_table().to_vec();
        let values = waves.get_signal(signal).expect("it is loaded").iter_changes();
        values.map(|(at, value)| (times[at as usize], value.to_string())).collect::<Vec<(u64, String)>>()
    };
    let of = |station: &str, kinds: &[&str]| -> Vec<u64> {
        let events = logged(&log, kinds).into_iter().filter(|event| event["station"] == station);
        events.map(|event| event["t"].as_u64().expect("an instant") * 100).collect()
    };
    let begins = |changes: &[(u64, String)], state: &str| -> Vec<u64> {
        changes.iter().filter(|(_, value)| value == state).map(|(at, _)| *at).collect()
    };
    let far = |a: &str, b: &str| {
        let header: Value = serde_json::from_str(log.lines().next().expect("a header")).expect("JSON");
        let place = |name: &str| {
            let number = name.strip_prefix("st").expect("a name").parse::<usize>().expect("a number") - 1;
            header["configuration"]["topology"]["bus"]["positions_bt"][number].as_u64().expect("a place")
        };
        place(a).abs_diff(place(b)) * 100
    };
    for station in ["st1", "st2", "st3"] {
        let transmit = changes(station, "transmit");
        assert_eq!(begins(&transmit, "Transmitting"), of(station, &["attempt"]));
        assert_eq!(begins(&transmit, "Jamming"), of(station, &["collision"]));
        assert_eq!(begins(&transmit, "BackingOff"), of(station, &["backoff"]));
        let collision = changes(station, "collision");
        assert_eq!(begins(&collision, "1"), of(station, &["collision"]));
        assert!(begins(&collision, "1").len() > 5);
        // Somebody's signal is at the station's place.
        let mut heard = Vec::new();
        for other in ["st1", "st2", "st3"] {
            let distance = far(station, other);
            let ends = of(other, &["jam_end", "transmitted"]);
            heard.extend(
                of(other, &["attempt"]).into_iter().zip(ends).map(|(from, to)| (from + distance, to + distance)),
            );
        }
        heard.sort_unstable();
        let mut expected: Vec<(u64, u64)> = Vec::new();
        for (from, to) in heard {
            match expected.last_mut().filter(|(_, end)| from < *end) {
                Some((_, end)) => *end = to.max(*end),
                None => expected.push((from, to)),
            }
        }
        let carrier = changes(station, "carrier");
        let (rises, falls) = (begins(&carrier, "1"), begins(&carrier, "0"));
        let falls: Vec<u64> = falls.into_iter().filter(|at| *at > 0).collect();
        let seen: Vec<(u64, u64)> = rises.into_iter().zip(falls).collect();
        assert_eq!(seen[..], expected[..seen.len()], "{station}");
        assert!(seen.len() + 2 >= expected.len() && seen.len() > 100, "{} of {}", seen.len(), expected.len());
        // A station that does not burst begins only where deference lets it.
        let deference = changes(station, "deference");
        for attempt in of(station, &["attempt"]) {
            let state = deference.iter().rev().find(|(at, _)| *at <= attempt).map(|(_, state)| state.as_str());
            assert!(matches!(state, Some("Free" | "Busy")), "{station} at {attempt}: {state:?}");
        }
    }
}

/// Waveforms of PLCA have the turns that are used: each COMMIT of the log in its order, and none without PLCA.
#[test]
fn waveforms_of_plca_have_its_turns() {
    let folder = tempfile::tempdir().expect("a folder");
    let [events, vcd, plain] = ["run.events", "run.vcd", "plain.vcd"].map(|name| path(&folder, name));
    let sim = ["--stations", "4", "--traffic", "poisson:0.4", "--duration", "20ms"];
    converted(&sim, &path(&folder, "plain.events"), "vcd", &plain);
    converted(&[&sim[..], &["--access", "plca"]].concat(), &events, "vcd", &vcd);
    let read = |path: &str| std::fs::read_to_string(path).expect("UTF-8");
    let (waves, log) = (read(&vcd), read(&events));
    let turns: Vec<&str> = waves.lines().filter_map(|line| line.strip_prefix('s')?.strip_suffix(" turn")).collect();
    let mut taken: Vec<&str> = turns.iter().filter_map(|turn| Some(turn.split_once('_')?.1)).collect();
    // A frame that follows a COMMIT is of the same turn.
    let follows: Vec<bool> = turns
        .iter()
        .filter(|turn| turn.contains('_'))
        .scan("", |before, turn| {
            let follows = turn.starts_with("frame") && before.starts_with("COMMIT");
            *before = turn;
            Some(follows)
        })
        .collect();
    let mut follows = follows.into_iter();
    taken.retain(|_| !follows.next().expect("one for each"));
    let commits: Vec<String> = log
        .lines()
        .filter(|line| line.contains("\"commit\""))
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["id"].to_string())
        .collect();
    assert!(commits.len() > 20, "{} turns", commits.len());
    assert_eq!(taken, commits);
    let beacons = log.lines().filter(|line| line.contains("\"beacon\"")).count();
    assert_eq!(turns.iter().filter(|turn| **turn == "BEACON").count(), beacons);
    assert!(!read(&plain).contains("turn"), "turns without PLCA");
}

/// GTKWave's own reader takes the waveforms, and has every change of every signal.
#[test]
fn gtkwave_reads_the_waveforms() {
    if !["vcd2fst", "fst2vcd"].iter().all(|tool| is_installed(tool)) {
        return skip("needs gtkwave");
    }
    let folder = folder();
    let [events, vcd, fst, again] = ["run.events", "run.vcd", "run.fst", "again.vcd"].map(|name| path(&folder, name));
    converted(&["--duration", "20ms", "--topology", "bus:500m"], &events, "vcd", &vcd);
    run(program("vcd2fst", [&vcd, &fst])).succeeded();
    run(program("fst2vcd", ["-f", &fst, "-o", &again])).succeeded();
    let changes = |file: &str| {
        let mut waves = wellen::simple::read(file).expect("waveforms");
        let vars: Vec<wellen::Var> = waves.hierarchy().all_vars().map(|var| waves.hierarchy()[var].clone()).collect();
        let signals: Vec<_> = vars.iter().map(|var| var.signal_ref()).collect();
        waves.load_signals(&signals);
        let times = waves.time_table().to_vec();
        let of = |var: &wellen::Var| {
            let signal = waves.get_signal(var.signal_ref()).expect("it is loaded");
            let all = signal.iter_changes().map(|(at, value)| (times[at as usize], value.to_string()));
            (var.full_name(waves.hierarchy()), all.collect::<Vec<_>>())
        };
        vars.iter().map(of).collect::<BTreeMap<_, _>>()
    };
    let (ours, theirs) = (changes(&vcd), changes(&again));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for (name, ours) in &ours {
        // A value that is given again is no change to GTKWave.
        let mut ours = ours.clone();
        ours.dedup_by(|next, last| next.1 == last.1);
        let mut theirs = theirs[name].clone();
        theirs.dedup_by(|next, last| next.1 == last.1);
        assert_eq!(ours, theirs, "{name}");
    }
    assert!(ours.len() > 10 && ours.values().map(Vec::len).sum::<usize>() > 500);
}
