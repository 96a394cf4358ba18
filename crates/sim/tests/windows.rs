//! Every window on a run shows the same bus: the live view, waveforms, the timeline and captures have each signal with the
//! begin, the end and the hearers that the reference models of `crates/medium` give it, and the same numbers.
//!
//! Each method has random scenarios with distances, ranges, faults, cuts, bursts, RTS and CTS, BEACONs and COMMITs.
//! `ETHBUS_CASES=2000` draws more of them, `ETHBUS_SEED=2` others. `tests/windows/pages.rs` holds the page of a report against the
//! same runs.
//!
//! One file above 500 lines because logs of the last bit times are compared over the same runs.

#[path = "common/case.rs"]
mod case;

use case::{Case, Key, differs, name, queue_lengths, viewed};
use medium::{
    Aloha, BitInstant, BitTimes, Csma, CsmaCa, Deed, Event, Input, Kind, Method, Octets, Phy, Population, StationId,
};
use serde_json::Value;
use sim::files::event_log::{Entry, EventLogReader};
use sim::files::json_lines::LineReader;
use sim::files::keep::{Ring, Room};
use sim::scene::{Signal, Signals, Stations};
use sim::windows::capture::Framing;
use sim::windows::{Known, WindowKind, Windows};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

/// What a window makes of a run.
fn window(case: &Case, kind: WindowKind) -> Vec<u8> {
    window_on(&case.log, kind)
}

/// What a window makes of a log.
fn window_on(log: &str, kind: WindowKind) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let mut log = EventLogReader::new(LineReader::new(log.as_bytes(), "log".to_owned())).expect("a log");
    let known = Known::of(log.header().clone());
    let window = kind.open(file.reopen().expect("a file"), String::new(), &known).expect("room");
    log.tell(&mut Windows(vec![window])).expect("room").expect("a whole log");
    fs::read(file.path()).expect("a file")
}

/// From when to when something is at each station's place, by the model, in nanoseconds.
fn carrier(case: &Case) -> Vec<Vec<(u64, u64)>> {
    let stations = case.stations() as u16;
    let mut away: Vec<Vec<(u64, u64)>> = vec![Vec::new(); stations.into()];
    for entry in &case.entries {
        match entry {
            Entry::Deed { at, deed: Deed::Unplug { station } } => away[station.index()].push((at.get(), u64::MAX)),
            Entry::Deed { at, deed: Deed::Plug { station } } => {
                away[station.index()].iter_mut().for_each(|(_, to)| *to = (*to).min(at.get()));
            }
            _ => {}
        }
    }
    let at_place = |place: u16| {
        let mut spans: Vec<(u64, u64)> = case
            .all
            .iter()
            .filter(|(_, (_, reaches))| reaches[usize::from(place)])
            .map(|((of, _, begin, _), (end, _))| {
                let (source, place) = (StationId::new(*of as u16), StationId::new(place));
                let way = case.config.way(source, BitInstant::new(*begin), place).get();
                (begin + way, end + way)
            })
            .collect();
        for &(from, to) in &away[usize::from(place)] {
            let cut = |(a, b): (u64, u64)| [(a, b.min(from)), (a.max(to), b)].into_iter().filter(|(a, b)| a < b);
            spans = spans.into_iter().flat_map(cut).collect();
        }
        spans.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in spans {
            match joined.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => joined.push((from, to)),
            }
        }
        joined.into_iter().map(|(from, to)| (case.nanos(from), case.nanos(to))).collect()
    };
    (0..stations).map(at_place).collect()
}

/// The same in the waveforms.
fn waveforms(case: &Case) -> Vec<Vec<(u64, u64)>> {
    let text = String::from_utf8(window(case, WindowKind::Vcd)).expect("text");
    let mut levels: Vec<Vec<(u64, bool)>> = vec![Vec::new(); case.stations()];
    let mut now = 0;
    for line in text.lines().skip_while(|line| !line.starts_with("$dumpvars")) {
        if let Some(at) = line.strip_prefix('#') {
            now = at.parse().expect("a time");
        } else if let Some((level, station)) = line.split_once('c').filter(|(level, _)| ["0", "1"].contains(level)) {
            let own = &mut levels[station.parse::<usize>().expect("a station")];
            own.retain(|(at, _)| *at != now);
            own.push((now, level == "1"));
        }
    }
    let spans = |levels: Vec<(u64, bool)>| {
        let (mut spans, mut since) = (Vec::new(), None);
        for (at, level) in levels {
            match (level, since) {
                (true, None) => since = Some(at),
                (false, Some(from)) => {
                    spans.push((from, at));
                    since = None;
                }
                (true, Some(_)) | (false, None) => {}
            }
        }
        spans
    };
    levels.into_iter().map(spans).collect()
}

/// Numbers of a message of protobuf, and its texts.
fn fields(mut message: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(message: &mut &[u8]) -> u64 {
        let length = message.iter().position(|octet| octet & 0x80 == 0).expect("an end") + 1;
        let (digits, rest) = message.split_at(length);
        *message = rest;
        digits.iter().rev().fold(0, |number, digit| number << 7 | u64::from(digit & 0x7f))
    }
    let mut all = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let (number, octets): (u64, &[u8]) = match key & 7 {
            0 => (varint(&mut message), &[]),
            1 => {
                let (fixed, rest) = message.split_at(8);
                message = rest;
                (u64::from_le_bytes(fixed.try_into().expect("eight")), &[])
            }
            _ => {
                let length = varint(&mut message) as usize;
                let (octets, rest) = message.split_at(length);
                message = rest;
                (0, octets)
            }
        };
        all.push((key >> 3, number, octets));
    }
    all
}

/// Slices of the timeline's tracks of signals: sender, name, from when to when in nanoseconds. Under CSMA/CD an attempt and
/// its jam are the signal.
fn timeline(case: &Case) -> BTreeSet<(usize, String, u64, u64)> {
    let trace = window(case, WindowKind::Perfetto);
    let track = if case.config.method == Method::CsmaCd { 2 } else { 5 };
    let mut open: BTreeMap<usize, (String, u64)> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for (_, _, packet) in fields(&trace) {
        let packet = fields(packet);
        let number =
            |fields: &[(u64, u64, &[u8])], wanted| fields.iter().find(|field| field.0 == wanted).map(|it| it.1);
        let Some((_, _, event)) = packet.iter().find(|field| field.0 == 11) else { continue };
        let (at, event) = (number(&packet, 8).expect("a time"), fields(event));
        let on = number(&event, 11).expect("a track");
        if on < 16 || on % 16 != track {
            continue;
        }
        let station = (on / 16 - 1) as usize;
        match number(&event, 9) {
            Some(1) => {
                let name = event.iter().find(|field| field.0 == 23).expect("a name").2;
                let name = String::from_utf8(name.to_vec()).expect("text");
                match name.as_str() {
                    // The jam goes on where the attempt ends.
                    "jam" => {
                        let begun = all.iter().rfind(|(of, _, _, end)| *of == station && *end == at).cloned();
                        let begun: (usize, String, u64, u64) = begun
                            .unwrap_or_else(|| panic!("no attempt of {station} before its jam at {at}\n{}", case.log));
                        all.remove(&begun);
                        open.insert(station, (begun.1, begun.2));
                    }
                    "attempt" => drop(open.insert(station, ("frame".to_owned(), at))),
                    "defer" | "backoff" => {}
                    _ => drop(open.insert(station, (name, at))),
                }
            }
            Some(2) => {
                all.extend(open.remove(&station).map(|(name, from)| (station, name, from, at)));
            }
            _ => {}
        }
    }
    all
}

/// The counters of queues in the timeline: how many frames each station holds after an instant, in nanoseconds.
fn queue_counters(case: &Case) -> BTreeMap<(usize, u64), u64> {
    let trace = window(case, WindowKind::Perfetto);
    let (track, mut counters) = (4, BTreeMap::new());
    for (_, _, packet) in fields(&trace) {
        let packet = fields(packet);
        let number =
            |fields: &[(u64, u64, &[u8])], wanted| fields.iter().find(|field| field.0 == wanted).map(|it| it.1);
        let Some((_, _, event)) = packet.iter().find(|field| field.0 == 11) else { continue };
        let (at, event) = (number(&packet, 8).expect("a time"), fields(event));
        let on = number(&event, 11).expect("a track");
        if on >= 16 && on % 16 == track {
            counters.insert(((on / 16 - 1) as usize, at), number(&event, 30).expect("a length"));
        }
    }
    counters
}

/// A packet of a station's interface: of which, when in nanoseconds, how many octets, and whether it is marked as bad.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    of: usize,
    at: u64,
    octets: u64,
    bad: bool,
}

/// Packets of a capture, and its rows.
fn captured(case: &Case) -> (Vec<Packet>, Vec<Value>) {
    let capture = window(case, WindowKind::Pcapng(Framing::Whole.unfiltered()));
    let word = |block: &[u8], at: usize| u32::from_ne_bytes(block[at..at + 4].try_into().expect("four"));
    let (mut packets, mut rows, mut rest) = (Vec::new(), Vec::new(), &capture[..]);
    while !rest.is_empty() {
        let (block, after) = rest.split_at(word(rest, 4) as usize);
        rest = after;
        if word(block, 0) != 6 {
            continue;
        }
        let (of, octets) = (word(block, 8) as usize, word(block, 20));
        let at = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
        let data = &block[28..28 + octets as usize];
        assert!(octets <= 262_144, "no reader takes a packet of {octets} octets");
        if of == case.stations() {
            let json = data.iter().position(|octet| *octet == b'{').expect("an object");
            rows.push(serde_json::from_slice(&data[json..]).expect("JSON"));
            continue;
        }
        let flags = word(block, 28 + octets.next_multiple_of(4) as usize + 4);
        packets.push(Packet { of, at, octets: octets.into(), bad: flags >> 24 & 1 == 1 });
    }
    (packets, rows)
}

/// What a capture should have of each frame whose fate is known: an instant, how many octets if it was sent whole, and
/// whether it was destroyed.
fn capture_agrees(case: &Case) -> Result<(), String> {
    let (packets, rows) = captured(case);
    let has_preamble = !matches!(case.config.method, Method::CsmaCa(_));
    let detects = matches!(case.config.method, Method::CsmaCd | Method::Plca(_));
    let events: Vec<&Event> = case.events().collect();
    let mut begins: BTreeSet<(usize, u64)> = BTreeSet::new();
    for ((of, what, begin, frame), (end, _)) in case.truth.iter().filter(|((_, what, ..), _)| what == "frame") {
        let own = |event: &&&Event| name(event.frame) == *frame;
        let burst = events
            .iter()
            .filter(own)
            .any(|event| event.at.get() == *begin && matches!(event.kind, Kind::Attempt { burst: true, .. }));
        let gap = if burst { case.config.parameters.inter_packet_gap.get() } else { 0 };
        let at = case.nanos(begin + gap);
        begins.insert((*of, at));
        let after = |event: &&&Event| event.at.get() > *begin && event.frame.station == event.station;
        let outcome = events.iter().filter(own).filter(after).find(|event| {
            matches!(
                event.kind,
                Kind::Transmitted { .. } | Kind::Backoff { .. } | Kind::Discarded { .. } | Kind::Attempt { .. }
            )
        });
        let Some(outcome) = outcome else { continue };
        // Frames of an infinite population may begin together at one station.
        let is_long = |packet: &&Packet| !has_preamble || detects || 8 * packet.octets == end - begin;
        let shown = packets.iter().filter(|packet| (packet.of, packet.at) == (*of, at)).find(is_long);
        if detects {
            let is_long = end.saturating_sub(begin + gap) >= 64 + 64 + 2 * case.config.parameters.jam_size.get();
            if is_long && shown.is_none() {
                return Err(format!("the capture has no packet of {frame}, {what} at {begin}"));
            }
            continue;
        }
        let Some(shown) = shown else {
            return Err(format!("the capture has no packet of {frame} at {begin}"));
        };
        let arrived = events.iter().filter(own).any(|event| {
            let known = matches!(event.kind, Kind::Delivered { .. } | Kind::Duplicate { .. });
            known && event.at.get() > *begin && event.at <= outcome.at
        });
        let vain = !matches!(outcome.kind, Kind::Transmitted { .. });
        if vain && shown.bad == arrived {
            return Err(format!("{frame}, which did {}arrive: {shown:?}", if arrived { "" } else { "not " }));
        }
    }
    let foreign = packets.iter().find(|packet| {
        packet.at < case.nanos(case.horizon.saturating_sub(20_000)) && !begins.contains(&(packet.of, packet.at))
    });
    if let Some(packet) = foreign {
        return Err(format!("nobody begins with {packet:?}"));
    }
    let told = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    for kind in ["rts", "cts", "ack", "collision", "backoff"] {
        let logged = events.iter().filter(|event| event.kind.name() == kind).count();
        if logged != told(kind) {
            return Err(format!("{logged} of {kind} in the log, {} in the capture", told(kind)));
        }
    }
    with_whom(case, &rows)
}

/// A row of a collision names exactly the frames that lay over its own: at the place of a sender that notices it, or,
/// without collision detection, where its own is for. A logical collision of PLCA meets none.
fn with_whom(case: &Case, rows: &[Value]) -> Result<(), String> {
    for row in rows.iter().filter(|row| row["kind"] == "collision") {
        let (frame, t) = (row["frame"].as_str().expect("a frame"), row["t"].as_u64().expect("a time"));
        // The fate of a later one is open.
        if t + 10_000 >= case.horizon {
            continue;
        }
        let told: Option<BTreeSet<String>> = row["with"]
            .as_array()
            .map(|others| others.iter().map(|other| other.as_str().expect("a name").to_owned()).collect());
        let id = case.destinations.keys().find(|id| name(**id) == frame).expect("it was offered");
        let asks = |(of, what, begin, about): &Key| {
            let has_begun = *begin < t || (case.detects() && *begin == t);
            about == frame && has_begun && *of == id.station.index() && (what == "frame" || what == "RTS")
        };
        let is_logical = case.detects() && row["episode"] == 0;
        let own = case.all.iter().filter(|(key, _)| !is_logical && asks(key)).max_by_key(|(key, _)| key.2);
        let wanted: Option<BTreeSet<String>> = own.map(|own| {
            let places = if case.detects() { own.0.0..own.0.0 + 1 } else { case.matters(own, *id) };
            case.met(own, places).into_iter().filter(|key| !key.3.is_empty()).map(|key| key.3.clone()).collect()
        });
        if told != wanted {
            return Err(format!("{frame} at {t} is said to have met {told:?}, and has met {wanted:?}"));
        }
    }
    Ok(())
}

fn agrees(case: &Case) -> Result<(), String> {
    let (viewed, _) = viewed(case)?;
    differs("the live view", &viewed, &case.truth)?;
    let shown = waveforms(case);
    let before = case.nanos(case.horizon.saturating_sub(4_000));
    for (station, (shown, truth)) in shown.iter().zip(carrier(case)).enumerate() {
        let early = |spans: &[(u64, u64)]| -> Vec<(u64, u64)> {
            spans.iter().copied().filter(|(_, to)| *to < before).collect()
        };
        let (shown, truth) = (early(shown), early(&truth));
        if shown != truth {
            let place = shown.iter().zip(&truth).take_while(|(a, b)| a == b).count();
            return Err(format!(
                "waveforms: carrier of st{} from {:?}, by the model {:?}",
                station + 1,
                shown.get(place),
                truth.get(place)
            ));
        }
    }
    let truth: BTreeSet<(usize, String, u64, u64)> = (case.truth.iter())
        .map(|((of, what, begin, _), (end, _))| (*of, what.clone(), case.nanos(*begin), case.nanos(*end)))
        .collect();
    if case.config.population() == Population::Stations {
        let shown: BTreeSet<_> = timeline(case).into_iter().filter(|one| one.3 < case.nanos(case.horizon)).collect();
        if let Some(one) = shown.symmetric_difference(&truth).next() {
            return Err(format!("the timeline, or the model, has {one:?} alone"));
        }
        let (shown, truth) = (queue_counters(case), queue_lengths(case));
        if let Some(((station, at), length)) = truth.iter().find(|(place, length)| shown.get(*place) != Some(*length)) {
            let shown = shown.get(&(*station, *at));
            return Err(format!("timeline: st{} holds {length} frames at {at} ns, and not {shown:?}", station + 1));
        }
    }
    capture_agrees(case)
}

fn hold(method: &str, case: Case) {
    agrees(&case).unwrap_or_else(|error| panic!("{method}\n{error}\n{}", case.log));
    keeps(method, &case);
}

#[test]
fn windows_agree_on_csma_cd() {
    case::csma_cd(&mut hold);
}

#[test]
fn windows_agree_on_aloha() {
    case::aloha(&mut hold);
}

#[test]
fn windows_agree_on_csma() {
    case::csma(&mut hold);
}

#[test]
fn windows_agree_on_slotted_aloha() {
    case::slotted_aloha(&mut hold);
}

#[test]
fn windows_agree_on_tdma() {
    case::tdma(&mut hold);
}

#[test]
fn windows_agree_on_csma_ca() {
    case::csma_ca(&mut hold);
}

#[test]
fn windows_agree_on_plca() {
    case::plca(&mut hold);
}

/// ALOHA above its capacity once gave 54 GB of packets for a second, as each row named all frames of a chain of overlaps.
#[test]
fn a_storm_does_not_make_a_window_four_times_the_log() {
    let size = Octets::new(64);
    let methods = [
        ("CSMA/CD", Method::CsmaCd, 40),
        ("ALOHA", Method::Aloha(Aloha::new(size)), 100),
        ("CSMA", Method::Csma(Csma::new(size)), 100),
        ("CSMA/CA", Method::CsmaCa(CsmaCa::new(Phy::Dsss1, size)), 100),
    ];
    for (name, method, stations) in methods {
        let log = case::log_of(&case::storm(method, stations), 600_000);
        assert!(log.lines().count() > 2_000, "{name}: {} lines", log.lines().count());
        for kind in
            [WindowKind::Pcapng(Framing::Whole.unfiltered()), WindowKind::Perfetto, WindowKind::Vcd, WindowKind::Csv]
        {
            let (own, log) = (window_on(&log, kind).len(), log.len());
            println!("{name}: {kind:?} {:.2} times its log", own as f64 / log as f64);
            assert!(own <= 4 * log, "{name}: {kind:?} has {own} octets, its log {log}");
        }
    }
}

/// What a scene has at an instant: of each station its frames and its fault, and every signal from an instant on.
fn scene_at(log: &str, at: u64, from: u64) -> (Vec<String>, Vec<String>) {
    let mut log = EventLogReader::new(LineReader::new(log.as_bytes(), "log".to_owned())).expect("a log");
    let config = Arc::new(log.header().config());
    let (mut signals, mut stations) =
        (Signals::new(config.clone(), usize::MAX), Stations::new(config.topology.stations()));
    while let Some(entry) = log.next_entry().expect("a whole log") {
        match entry {
            Entry::Medium(event) if event.at.get() > at => break,
            Entry::Medium(event) => {
                signals.event(&event);
                stations.event(&event, &config);
            }
            Entry::Deed { at, deed } => signals.input(at, &Input::Deed(deed)),
            Entry::Emulator(_) => {}
        }
    }
    let station = |number: u16| {
        let station = StationId::new(number);
        let (own, fault) = (stations.get(station), signals.fault(station));
        // With several frames that contend at once, it follows from the latest event of any of them.
        let one_at_once = !matches!(config.method, Method::Aloha(_) | Method::SlottedAloha(_) | Method::Csma(_));
        let doing = one_at_once.then_some(own.doing);
        format!("{} frames, first {:?}, {fault:?}, {doing:?}", own.queue(), own.head())
    };
    let lasts = |one: &&Signal| one.end.is_none_or(|end| end.get() >= from);
    let all = signals.iter().filter(lasts).map(|one| format!("{one:?}")).collect();
    ((0..config.topology.stations() as u16).map(station).collect(), all)
}

/// A log of the last bit times has every entry of that time, and shows the signals and queues that the whole log shows.
/// Every window reads it.
fn keeps(method: &str, case: &Case) {
    let last = case.entries.last().map_or(0, |entry| case::instant(entry).map_or(0, BitInstant::get));
    // One of three kinds, which follows from the run.
    let kinds = [
        (last / 3, Room::default()),
        (last / 2, Room { facts: 16, chunks: 1_000 }),
        (last, Room { facts: 8, chunks: 6 }),
    ];
    let (span, room) = kinds[case.log.len() % kinds.len()];
    let mut ring = Ring::new(&case.config, BitTimes::new(span), room);
    let mut whole = EventLogReader::new(LineReader::new(case.log.as_bytes(), "log".to_owned())).expect("a log");
    let Ok(told) = whole.tell(&mut ring);
    told.expect("a whole log");
    let file = tempfile::NamedTempFile::new().expect("a file");
    let kept = ring.kept(BitInstant::new(last));
    kept.write(Arc::new(file.reopen().expect("a file")), "kept".to_owned(), &case.header).expect("room");
    let log = fs::read_to_string(file.path()).expect("a file");
    let mut reader = EventLogReader::new(LineReader::new(log.as_bytes(), "kept".to_owned())).expect("a log");
    let from = reader.header().kept_from_bt.unwrap_or(0);
    assert!(from <= last && (from == 0 || room.chunks < 10 || last - from == span), "{method}: {from} {last} {span}");
    let entries: Vec<Entry> = std::iter::from_fn(|| reader.next_entry().expect(&log)).collect();
    assert_eq!(reader.not_whole(), None);
    let later = |entries: &[Entry]| -> Vec<Entry> {
        entries.iter().filter(|entry| case::instant(entry).is_some_and(|at| at.get() >= from)).cloned().collect()
    };
    assert_eq!(later(&entries), later(&case.entries), "{method}, from {from}\n{}\n{log}", case.log);
    for at in [from, last] {
        assert_eq!(
            scene_at(&log, at, from),
            scene_at(&case.log, at, from),
            "{method}, from {from} at {at}\n{}\n{log}",
            case.log
        );
    }
    for kind in
        [WindowKind::Pcapng(Framing::Whole.unfiltered()), WindowKind::Perfetto, WindowKind::Vcd, WindowKind::Csv]
    {
        assert!(!window_on(&log, kind).is_empty(), "{method}: {kind:?}");
    }
}

/// Logs that no engine wrote, among them those of fuzzers that were too much for a window.
#[test]
fn every_window_reads_every_log_of_the_fuzzers() {
    const KINDS: [WindowKind; 5] = [
        WindowKind::Pcapng(Framing::Whole.unfiltered()),
        WindowKind::Pcapng(Framing::Plain.unfiltered()),
        WindowKind::Perfetto,
        WindowKind::Vcd,
        WindowKind::Csv,
    ];
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/windows");
    let mut read = 0;
    for path in fs::read_dir(corpus).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let log = fs::read(&path).expect("a file");
        let Ok(mut log) = EventLogReader::new(LineReader::new(log.as_slice(), "log".to_owned())) else { continue };
        let known = Known::of(log.header().clone());
        let open =
            |kind: WindowKind| kind.open(tempfile::tempfile().expect("a file"), String::new(), &known).expect("room");
        let mut windows = Windows(KINDS.map(open).into());
        // What is wrong with the log is for the reader to tell.
        let _ = log.tell(&mut windows).expect("room");
        read += 1;
    }
    assert!(read > 5, "{read} logs");
}
