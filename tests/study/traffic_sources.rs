//! What stations offer, by its public door: loads, mixes and independence as chance would have them. Seeds are written
//! down; every statistic is a number of standard deviations, and lies within 5 of them.

use medium::{BitInstant, BitRate, Destination, Frame, Octets, StationId};
use proptest::prelude::*;
use sim::traffic::{
    Arrivals, Capture, CaptureError, Load, Sizes, Source, To, TrafficError, TrafficSpec, replays, sources,
};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SEED: u64 = 1976;
const LIMIT: f64 = 5.0;

fn spec(arrivals: &str, sizes: &str) -> TrafficSpec {
    let arrivals: Arrivals = arrivals.parse().expect("traffic");
    let sizes: Sizes = sizes.parse().expect("sizes");
    TrafficSpec { arrivals, sizes: Some(sizes), destination: None }
}

fn source(arrivals: &str, sizes: &str, seed: u64) -> Source {
    sources(&[spec(arrivals, sizes)], BitRate::MBIT_10, seed).expect("a valid source").remove(0)
}

fn arrivals(source: &mut Source, count: usize) -> Vec<(u64, Frame)> {
    let drawn: Vec<_> = std::iter::from_fn(|| source.next_arrival()).take(count).map(|(t, f)| (t.get(), f)).collect();
    assert!(drawn.len() == count && drawn.is_sorted_by_key(|&(instant, _)| instant));
    drawn
}

/// The sum of n gaps has n times the mean, and √n times the deviation, which for exponential gaps is the mean.
#[test]
fn poisson_arrivals_have_the_load_that_was_asked() {
    for (load, seed) in [("0.000001", 1), ("0.1", 2), ("0.4", 3), ("40%", 4), ("10", SEED)] {
        for (sizes, mean) in [("18", 512.0), ("64", 512.0), ("64:7,594:4,1518:1", 8.0 * 4342.0 / 12.0)] {
            let text = format!("poisson:{load}");
            let n = 100_000;
            let last = arrivals(&mut source(&text, sizes, seed), n)[n - 1].0 as f64;
            let fraction = if load == "40%" { 0.4 } else { load.parse().expect("a number") };
            let gap: f64 = mean / fraction;
            let deviation = (last / gap - n as f64) / (n as f64).sqrt();
            assert!(deviation.abs() < LIMIT, "{text}, {sizes}, seed {seed}: {deviation:.1}");
        }
    }
}

/// The saturated station's frames: nothing is drawn where there is nothing to choose.
#[test]
fn a_saturated_station_has_frames_and_no_arrivals() {
    let specs = vec![spec("saturated", "64"), spec("silent", "64")];
    let mut both = sources(&specs, BitRate::MBIT_10, SEED).expect("valid");
    assert!(both[0].is_saturated() && !both[1].is_saturated());
    assert_eq!((both[0].next_arrival(), both[1].next_arrival()), (None, None));
    let to = Destination::Station(StationId::new(1));
    assert_eq!(both[0].next_frame(), Frame::new(Octets::new(64), to));
    assert_eq!(TrafficSpec::default().destination.unwrap_or_default(), To::Next);
}

/// Mean and variance of an on/off source's gaps, in bit times: with m the mean gap while on, a gap is an exponential
/// time on, and in it a Poisson number of pauses. So the mean is m(1 + off/on), and the variance mean² + 2m·off²/on.
fn on_off_moments(gap: f64, on: f64, off: f64) -> (f64, f64) {
    (gap, gap.powi(2) + 2.0 * gap * on / (on + off) * off.powi(2) / on)
}

#[test]
fn on_off_arrivals_have_the_load_and_the_bursts_that_were_asked() {
    for (text, load, on, off, n) in [
        ("on_off:0.4,on=100us,off=400us", 0.4, 1e3, 4e3, 1_000_000_usize),
        ("on_off:0.1,on=1ms,off=1us", 0.1, 1e4, 10.0, 300_000),
        ("on_off:0.02", 0.02, 1e5, 4e5, 300_000),
    ] {
        let drawn = arrivals(&mut source(text, "64", SEED), n + 1);
        let (mean, variance) = on_off_moments(512.0 / load, on, off);
        // The first gap is left out: time may begin within a pause.
        let gaps: Vec<f64> = drawn.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64).collect();
        let moment = |k| gaps.iter().map(|gap| (gap - mean).powi(k)).sum::<f64>() / n as f64;
        let deviation = moment(1) / (variance / n as f64).sqrt();
        assert!(deviation.abs() < LIMIT, "{text}, seed {SEED}: the mean is {deviation:.1} off");
        let deviation = (moment(2) - variance) / ((moment(4) - variance.powi(2)) / n as f64).sqrt();
        assert!(deviation.abs() < LIMIT, "{text}, seed {SEED}: the variance is {deviation:.1} off");
    }
}

/// Time begins on with probability on/(on + off): over many stations the load of the first moments is that of all time.
#[test]
fn on_off_sources_begin_as_at_any_other_instant() {
    let stations = 1024;
    let specs = vec![spec("on_off:0.4,on=10ms,off=40ms", "64"); stations];
    let began_on = sources(&specs, BitRate::MBIT_10, SEED)
        .expect("valid")
        .iter_mut()
        .filter_map(Source::next_arrival)
        .filter(|(instant, _)| instant.get() < 2_560)
        .count() as f64;
    // While on, a first arrival within ten mean gaps of 256 BT all but always comes; of those off, the part
    // 1 - exp(-2560/400000) has begun by then.
    let expected = stations as f64 * (0.2 + 0.8 * (1.0 - (-2_560.0_f64 / 400_000.0).exp()));
    let deviation = (began_on - expected) / (stations as f64 * 0.2 * 0.8).sqrt();
    assert!(deviation.abs() < LIMIT, "seed {SEED}: {began_on} of {stations}, expected {expected:.1}");
}

#[test]
fn periodic_arrivals_are_evenly_spaced_from_a_drawn_phase() {
    let stations = 1024;
    let specs = vec![spec("periodic:0.03", "100"); stations];
    let interval = 800.0 / 0.03;
    let mut phases = 0.0;
    for mut source in sources(&specs, BitRate::MBIT_10, SEED).expect("valid") {
        let drawn = arrivals(&mut source, 1_000);
        phases += drawn[0].0 as f64 / interval;
        assert!((drawn[0].0 as f64) < interval);
        for (number, (instant, _)) in drawn.iter().enumerate() {
            let exact = number as f64 * interval;
            assert!(((instant - drawn[0].0) as f64 - exact).abs() <= 1.0, "seed {SEED}: arrival {number} at {instant}");
        }
    }
    // The mean of numbers spread evenly over 0 to 1 has the variance 1/12n.
    let deviation = (phases / stations as f64 - 0.5) * (12.0 * stations as f64).sqrt();
    assert!(deviation.abs() < LIMIT, "seed {SEED}: {deviation:.1}");
}

/// Chi-square against the expected counts, in standard deviations of its distribution from its mean.
fn chi_square(counts: &[u64], expected: &[f64]) -> f64 {
    let terms = counts.iter().zip(expected).map(|(&count, expected)| (count as f64 - expected).powi(2) / expected);
    let freedom = counts.len() as f64 - 1.0;
    (terms.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn sizes_are_as_frequent_as_their_weights() {
    let n = 200_000;
    let weights = [(64, 7.0), (594, 4.0), (1518, 1.0)];
    let mix: Vec<(u32, f64)> = weights.iter().map(|&(size, weight)| (size, weight / 12.0)).collect();
    let uniform: Vec<(u32, f64)> = (64..=1518).map(|size| (size, 1.0 / 1455.0)).collect();
    for (text, shares) in [("64:7,594:4,1518:1", mix), ("uniform:64-1518", uniform)] {
        let mut source = source("saturated", text, SEED);
        let mut counts = vec![0; shares.len()];
        for _ in 0..n {
            let size = source.next_frame().size.get();
            counts[shares.iter().position(|&(known, _)| known == size).expect("a size that was asked for")] += 1;
        }
        let expected: Vec<f64> = shares.iter().map(|(_, share)| share * f64::from(n)).collect();
        let deviation = chi_square(&counts, &expected);
        assert!(deviation.abs() < LIMIT, "{text}, seed {SEED}: {deviation:.1}");
    }
}

#[test]
fn random_destinations_are_the_others_evenly() {
    let mut specs = vec![spec("saturated", "64"); 50];
    specs[7].destination = Some(To::Random);
    let mut source = sources(&specs, BitRate::MBIT_10, SEED).expect("valid").remove(7);
    let mut counts = vec![0; 50];
    for _ in 0..100_000 {
        let Destination::Station(station) = source.next_frame().destination else { panic!("one station") };
        counts[station.index()] += 1;
    }
    assert_eq!(counts.remove(7), 0, "seed {SEED}: frames for the station itself");
    let deviation = chi_square(&counts, &vec![100_000.0 / 49.0; 49]);
    assert!(deviation.abs() < LIMIT, "seed {SEED}: {deviation:.1}");
}

fn instants(source: &mut Source) -> Vec<u64> {
    arrivals(source, 1_000).into_iter().map(|(instant, _)| instant).collect()
}

fn sizes(source: &mut Source) -> Vec<u32> {
    arrivals(source, 1_000).into_iter().map(|(_, frame)| frame.size.get()).collect()
}

/// Streams follow from seed and station alone.
#[test]
fn a_seed_gives_the_same_arrivals_and_neighbours_do_not_matter() {
    for text in ["poisson:0.1", "periodic:0.1", "on_off:0.1"] {
        let alone = sources(&vec![spec(text, "64:7,594:4,1518:1"); 3], BitRate::MBIT_10, SEED).expect("valid");
        let mut more = vec![spec(text, "64:7,594:4,1518:1"); 5];
        more[1] = spec("saturated", "1518");
        let crowd = sources(&more, BitRate::MBIT_10, SEED).expect("valid");
        for station in [0, 2] {
            let (one, other) = (&alone[station], &crowd[station]);
            assert_eq!(instants(&mut one.clone()), instants(&mut other.clone()), "{text}");
            assert_eq!(sizes(&mut one.clone()), sizes(&mut other.clone()), "{text}");
        }
        assert_ne!(instants(&mut alone[0].clone()), instants(&mut alone[1].clone()), "{text}");
        assert_ne!(sizes(&mut alone[0].clone()), sizes(&mut alone[1].clone()), "{text}");
        let again = instants(&mut source(text, "64:7,594:4,1518:1", SEED));
        assert_eq!(again, instants(&mut alone[0].clone()), "{text}");
        assert_ne!(again, instants(&mut source(text, "64:7,594:4,1518:1", SEED + 1)), "{text}");
    }
}

/// Frozen: instants, sizes and destinations of station 1 of 4, seed 1. Worked out apart from this code, from splitmix64,
/// the numbers of the streams in docs/traffic.md, and the processes there.
#[test]
fn draws_are_the_same_in_every_version() {
    for (text, expected) in [
        ("poisson:0.1", [(61_209, 64, 3), (70_074, 594, 3), (75_503, 594, 2), (181_007, 594, 3)]),
        ("periodic:0.1", [(3493, 64, 3), (32_440, 594, 3), (61_386, 594, 2), (90_333, 594, 3)]),
        ("on_off:0.1,on=1ms,off=4ms", [(62_806, 64, 3), (82_119, 594, 3), (94_457, 594, 2), (196_126, 594, 3)]),
    ] {
        let random = TrafficSpec { destination: Some(To::Random), ..spec(text, "64:7,594:4,1518:1") };
        let mut source = sources(&vec![random; 4], BitRate::MBIT_10, 1).expect("valid").remove(1);
        for (instant, size, to) in expected {
            let frame = Frame::new(Octets::new(size), Destination::Station(StationId::new(to)));
            assert_eq!(source.next_arrival(), Some((BitInstant::new(instant), frame)), "{text}");
        }
    }
}

/// Common random numbers: runs that differ in one thing share the others.
#[test]
fn arrivals_sizes_and_destinations_are_drawn_apart() {
    for text in ["poisson:0.1", "periodic:0.1", "on_off:0.1"] {
        let fixed = instants(&mut source(text, "96", SEED));
        for same_mean in ["64:1,128:1", "uniform:64-128"] {
            assert_eq!(instants(&mut source(text, same_mean, SEED)), fixed, "{text}, {same_mean}");
        }
        let mut specs = vec![spec(text, "64:1,128:1"); 3];
        let next = sources(&specs, BitRate::MBIT_10, SEED).expect("valid").remove(0);
        specs[0].destination = Some(To::Random);
        let random = sources(&specs, BitRate::MBIT_10, SEED).expect("valid").remove(0);
        assert_eq!(instants(&mut next.clone()), instants(&mut random.clone()), "{text}");
        assert_eq!(sizes(&mut next.clone()), sizes(&mut random.clone()), "{text}");
    }
    // Twice the load: the same arrivals, twice as fast.
    let (slow, fast) =
        (instants(&mut source("poisson:0.1", "64", SEED)), instants(&mut source("poisson:0.2", "64", SEED)));
    assert!(slow.iter().zip(&fast).all(|(slow, fast)| slow / 2 == *fast));
}

#[test]
fn what_cannot_be_offered_is_an_error() {
    let error = |specs: &[TrafficSpec]| sources(specs, BitRate::MBIT_10, 1).expect_err("wrong");
    let with = |arrivals| TrafficSpec { arrivals, ..TrafficSpec::default() };
    let to = |to| TrafficSpec { destination: Some(to), ..TrafficSpec::default() };
    assert!(matches!(error(&[to(To::Station(0))]), TrafficError::Destination { station: 0, to: 0, .. }));
    assert!(matches!(error(&[to(To::Station(1))]), TrafficError::Destination { station: 0, to: 1, .. }));
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY, 10.5] {
        assert!(
            matches!(
                error(&[with(Arrivals::Poisson { load: Load::Rate(load) })]),
                TrafficError::Range { station: 0, .. }
            ),
            "{load}"
        );
    }
    let mut sized = with(Arrivals::Silent);
    sized.sizes = Some(Sizes::Mixed(Vec::new()));
    assert!(matches!(error(&[with(Arrivals::Silent), sized.clone()]), TrafficError::Range { station: 1, .. }));
    sized.arrivals = Arrivals::Replay { path: "no such file".into() };
    let missing = error(&[sized]);
    assert!(missing.to_string().contains("no such file"), "{missing}");
    let directory = error(&[with(Arrivals::Replay { path: ".".into() })]);
    assert!(matches!(directory, TrafficError::Replay(CaptureError::Read { offset: 0, .. })), "{directory}");
}

proptest! {
    /// Any text gives a value, or an error that names the text; and a source can offer each accepted value.
    #[test]
    fn texts_are_read_or_refused(
        kind in prop::sample::select(vec!["", "poisson:", "periodic:", "on_off:", "uniform:", "64:7,", "saturated"]),
        rest in prop::collection::vec(prop::sample::select("0123456789.:,-=%sunomf \u{b5}\0".chars().collect::<Vec<_>>()), 0..24),
        odd in prop::collection::vec(any::<char>(), 0..4),
    ) {
        let text = format!("{kind}{}{}", rest.iter().collect::<String>(), odd.iter().collect::<String>());
        let mut spec = TrafficSpec::default();
        if let Ok(arrivals) = text.parse::<Arrivals>() {
            spec.arrivals = arrivals;
        }
        match text.parse::<Sizes>() {
            Ok(sizes) => {
                prop_assert_eq!(sizes.to_string().parse(), Ok(sizes.clone()));
                spec.sizes = Some(sizes);
            }
            Err(error) => prop_assert!(error.contains(&text)),
        }
        if let Ok(to) = To::read(&text, &["a", "b"]) {
            spec.destination = Some(to);
        }
        let mut source = sources(&[spec], BitRate::MBIT_10, 1).expect("what was read is valid").remove(0);
        let mut last = 0;
        for (instant, _) in std::iter::from_fn(|| source.next_arrival()).take(10) {
            prop_assert!(last <= instant.get());
            last = instant.get();
        }
    }
}

proptest! {
    /// Whatever follows a good beginning: frames, or an error with a place in the file.
    #[test]
    fn files_are_read_or_refused(
        begin in prop::sample::select(vec![
            "d4c3b2a1020004000000000000000000ffff000001000000",
            "a1b23c4d000200040000000000000000ffff000000000001",
            "0a0d0d0a1c0000004d3c2b1a01000000ffffffffffffffff1c000000010000001400000001000000000000001400000006000000",
            "0a0d0d0a0000001c1a2b3c4d00010000ffffffffffffffff0000001c000000010000001400010000000000000000001400000006",
        ]),
        rest in prop::collection::vec(prop_oneof![Just(0), Just(32), Just(60), Just(64), any::<u8>()], 0..200),
    ) {
        let octet = |place| u8::from_str_radix(&begin[place..place + 2], 16).expect("hexadecimal");
        let file: Vec<u8> = (0..begin.len()).step_by(2).map(octet).chain(rest).collect();
        match Capture::read(Path::new("trace"), &file[..]) {
            Ok(replay) => prop_assert!(replay.frames().is_sorted_by_key(|frame| frame.at)),
            Err(CaptureError::Damaged { offset, .. }) => prop_assert!(offset <= file.len() as u64),
            Err(CaptureError::Empty { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// A pcap file of 100 frames of several sizes, from four stations, some tagged, some to groups.
fn trace(directory: &Path) -> PathBuf {
    let mut file = [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, 262_144, 1].map(u32::to_le_bytes).concat();
    for number in 0..100_u32 {
        let size = 60 + number * 14;
        file.extend(
            [1_700_000_000 + number / 10, number * 7_919 % 10 + number % 10 * 100_000, size, size]
                .map(u32::to_le_bytes)
                .concat(),
        );
        let to = if number % 9 == 0 { [0xff; 6] } else { [2, 0, 0, 0, 0, (number % 5) as u8] };
        let kind = if number % 7 == 0 { [0x81, 0, 0, 5, 0x88, 0xb5] } else { [0x88, 0xb5, 0, 0, 0, 0] };
        let header = [&to[..], &[2, 0, 0, 0, 0, (number % 4) as u8], &kind].concat();
        file.extend(header.iter().copied().chain(std::iter::repeat(0)).take(size as usize));
    }
    let path = directory.join("trace.pcap");
    std::fs::write(&path, file).expect("room for a small file");
    path
}

/// Runs a program; what it printed, or `None` if it is not installed.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let child = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = match child {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("SKIPPED: {program} is not installed");
            return None;
        }
        child => child.expect("a child"),
    };
    assert!(output.status.success(), "{program} {arguments:?}");
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// Files that Wireshark's and tcpdump's own programs wrote are read as the one that they were made from.
#[test]
fn files_of_wireshark_and_tcpdump_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = trace(directory.path());
    let original = Capture::open(&trace).expect("a whole file");
    let text = |path: &Path| path.to_str().expect("plain").to_owned();
    for (format, name) in [("pcapng", "b"), ("nsecpcap", "c"), ("pcap", "d")] {
        let copy = directory.path().join(name);
        if run("editcap", &["-F", format, &text(&trace), &text(&copy)]).is_some() {
            assert_eq!(Capture::open(&copy).expect(format).frames(), original.frames(), "{format}");
        }
    }
    let copy = directory.path().join("e");
    if run("tcpdump", &["-r", &text(&trace), "-w", &text(&copy)]).is_some() {
        assert_eq!(Capture::open(&copy).expect("tcpdump").frames(), original.frames());
    }
    let fields = ["frame.time_relative", "frame.len", "eth.dst", "eth.src"].map(|field| ["-e", field]).concat();
    let file = text(&trace);
    let arguments = [&["-r", &file, "-T", "fields"][..], &fields].concat();
    if let Some(listed) = run("tshark", &arguments) {
        assert_eq!(listed.lines().count(), original.frames().len());
        for (line, frame) in listed.lines().zip(original.frames()) {
            let seconds = format!("{}.{:09}", frame.at.as_secs(), frame.at.subsec_nanos());
            let size = frame.size.get() - 4;
            assert_eq!(line, format!("{seconds}\t{size}\t{}\t{}", frame.destination, frame.source));
        }
    }
}

/// The whole way: a file, its stations, their arrivals; at 10 Mb/s a microsecond is 10 BT.
#[test]
fn a_capture_is_replayed_by_its_stations() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = trace(directory.path());
    let replay = TrafficSpec { arrivals: Arrivals::Replay { path: path.clone() }, ..TrafficSpec::default() };
    let mut specs = vec![replay; 5];
    specs[4].arrivals = Arrivals::Silent;
    assert_eq!(replays(&specs).expect("one file").len(), 1);
    let mut all = sources(&specs, BitRate::MBIT_10, 1).expect("four source addresses");
    for (station, source) in all.iter_mut().take(4).enumerate() {
        let drawn = arrivals(source, 25);
        assert_eq!(source.next_arrival(), None);
        for (frame, (instant, replayed)) in (station as u64..).step_by(4).zip(drawn) {
            let micros = frame / 10 * 1_000_000 + frame * 7_919 % 10 + frame % 10 * 100_000;
            assert_eq!(instant, micros * 10);
            assert_eq!(replayed.size.get() as u64, 64 + frame * 14);
            assert_eq!(replayed.tagged, frame % 7 == 0);
            let to = StationId::new((frame % 5) as u16);
            assert_eq!(
                replayed.destination,
                match frame {
                    _ if frame % 9 == 0 => Destination::All,
                    _ if frame % 5 == 4 || to.index() == station => Destination::Nobody,
                    _ => Destination::Station(to),
                }
            );
        }
    }
    specs[0].destination = Some(To::Station(4));
    let mut readdressed = sources(&specs, BitRate::MBIT_10, 1).expect("as before").remove(0);
    let to = Destination::Station(StationId::new(4));
    assert!(arrivals(&mut readdressed, 25).iter().all(|(_, frame)| frame.destination == to));
    specs.truncate(3);
    let error = sources(&specs, BitRate::MBIT_10, 1).expect_err("4 sources, 3 stations").to_string();
    assert!(error.contains("4 source addresses, but 3 stations") && error.contains("trace.pcap"), "{error}");
    specs.truncate(1);
    specs[0] = TrafficSpec { sizes: Some(Sizes::Fixed(64)), destination: None, ..specs[0].clone() };
    assert!(matches!(sources(&specs, BitRate::MBIT_10, 1), Err(TrafficError::SizesOfReplay { station: 0 })));
}
