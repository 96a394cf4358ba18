//! What hosts offer in virtual time, by the scenario file: scripted frames, phases, several sources, closed loops. Seeds are
//! written down.

mod common;

use common::plan;
use medium::{BitInstant, Destination, Event, Frame, Input, Kind, StationId};
use sim::files::event_log::{EventLog, EventLogReader, Header, Level};
use sim::files::json_lines::LineReader;
use sim::files::replay::replay;
use sim::run::measure;
use sim::run::observer::Observer;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

/// Keeps everything.
#[derive(Debug, Default)]
struct Kept {
    inputs: Vec<(u64, usize, Frame)>,
    events: Vec<Event>,
}

impl Observer for Kept {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        if let Input::Offer { station, frame } = input {
            self.inputs.push((at.get(), station.index(), *frame));
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.events.push(*event);
        Ok(())
    }
}

impl Kept {
    /// Instants at which a station was offered frames of this size.
    fn instants(&self, station: usize, size: u32) -> Vec<u64> {
        let own = |(_, at, frame): &&(u64, usize, Frame)| *at == station && frame.size.get() == size;
        self.inputs.iter().filter(own).map(|(at, _, _)| *at).collect()
    }
}

/// Runs a scenario of 10 Mb/s without warm-up for `ms` milliseconds.
fn run(text: &str, ms: u64) -> Kept {
    let mut plan = plan(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (plan.run.warmup, plan.run.duration) = (std::time::Duration::ZERO, std::time::Duration::from_millis(ms));
    let mut kept = Kept::default();
    measure::run(&plan, 1, &mut kept, |_| true).expect("a plan that was checked");
    assert!(kept.events.is_sorted_by_key(|event| event.at), "events come in order of time");
    kept
}

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let error = plan(text).err().unwrap_or_else(|| panic!("not refused: {text}"));
    words.iter().for_each(|word| assert!(error.contains(word), "no `{word}` in `{error}`: {text}"));
}

#[test]
fn frames_are_offered_at_the_instants_that_are_written_down_and_no_others() {
    let kept = run(
        "stations = 3\n[[frame]]\nstation = 'st2'\nat = '1ms'\n[[frame]]\nstation = 'st1'\nat = '512 BT'\n\
         destination = 'st3'\nsize = 100\n[[frame]]\nstation = 'st1'\nat = '0'\ndestination = 'broadcast'\n\
         [[frame]]\nstation = 'st3'\nat = '512bt'\nsize = 18\n",
        10,
    );
    let to = |number| Destination::Station(StationId::new(number));
    let frame = |size, destination| Frame::new(medium::Octets::new(size), destination);
    let wanted = [
        (0, 0, frame(64, Destination::All)),
        (512, 0, frame(100, to(2))),
        (512, 2, frame(18, to(0))),
        (10_000, 1, frame(64, to(2))),
    ];
    assert_eq!(kept.inputs, wanted);
}

/// Two frames of 576 BT, 512 BT apart, on a cable of 500 BT: the second begins before the first is heard, and they collide.
#[test]
fn a_collision_can_be_written_down() {
    let scenario = |apart| {
        format!(
            "stations = 2\n[medium]\ntopology = 'star:200bt'\n[[frame]]\nstation = 'st1'\nat = '0'\n\
             [[frame]]\nstation = 'st2'\nat = '{apart} BT'\n"
        )
    };
    let collisions = |apart| {
        let is_collision = |event: &&Event| matches!(event.kind, Kind::Collision { attempt: 1, .. });
        run(&scenario(apart), 10).events.iter().filter(is_collision).count()
    };
    assert_eq!((collisions(199), collisions(201)), (2, 0));
}

#[test]
fn periodic_arrivals_begin_at_their_phase() {
    // 512 BT a frame at 0.1 each: every 5,120 BT.
    let kept = run(
        "[traffic]\narrivals = 'periodic:0.2'\nphase = '1ms'\n[[station]]\nphase = '10us'\n[[station]]\n\
         [[station]]\narrivals = 'periodic:0.1,phase=0'\n",
        5,
    );
    let every = |first: u64| (0..).map(move |n| first + n * 5_120).take_while(|&at| at < 50_000).collect::<Vec<_>>();
    assert_eq!(kept.instants(0, 64), every(100));
    assert_eq!(kept.instants(1, 64), every(10_000));
    assert_eq!(kept.instants(2, 64), every(0));
}

/// A further source has streams of its own: the first one's arrivals are as they were.
#[test]
fn a_station_may_have_several_sources() {
    let alone = run("[[station]]\narrivals = 'poisson:0.2'\n[[station]]\narrivals = 'silent'\n", 100);
    let both = run(
        "[[station]]\n[[station.source]]\narrivals = 'poisson:0.2'\n[[station.source]]\narrivals = 'poisson:0.2'\n\
         frame_size = 65\n[[station.source]]\narrivals = 'periodic:0.1'\nphase = '0'\nframe_size = 66\n\
         [[station]]\narrivals = 'silent'\n",
        100,
    );
    assert_eq!(alone.instants(0, 64), both.instants(0, 64));
    assert!(both.instants(0, 65).len() > 200 && both.instants(0, 65) != both.instants(0, 64));
    assert_eq!(both.instants(0, 66).len(), 1 + (1_000_000 - 1) / 5_280);
    // Equal instants come in order of the sources as written, and nothing goes back in time.
    assert!(both.inputs.is_sorted_by_key(|(at, _, _)| *at));
}

/// Two saturated sources of one station take turns, with any other frames in its queue, and each has one frame in it.
#[test]
fn saturated_sources_of_one_station_take_turns() {
    let kept = run(
        "[medium]\nqueue = 3\n[[station]]\n[[station.source]]\narrivals = 'saturated'\n[[station.source]]\n\
         arrivals = 'saturated'\nframe_size = 65\n[[station.source]]\narrivals = 'poisson:2'\nframe_size = 66\n\
         [[station]]\narrivals = 'silent'\n",
        200,
    );
    let sent = |size| {
        let own = |event: &&Event| matches!(event.kind, Kind::Transmitted { size: octets, .. } if octets.get() == size);
        kept.events.iter().filter(own).count()
    };
    let (first, second, third) = (sent(64), sent(65), sent(66));
    assert!(first.abs_diff(second) <= 1 && first > 500, "{first}, {second}, {third}");
    assert!(third > 500, "the third source has its part of the queue: {first}, {second}, {third}");
}

/// On an idle star a frame is delivered 576 BT after it was offered, the host learns that a bit time later, and the gap of
/// 96 BT runs meanwhile: with a window of 1 every 672 BT. An answer takes as long again.
#[test]
fn a_window_of_one_sends_as_soon_as_the_last_frame_or_its_answer_arrived() {
    let window = |text: &str| format!("[[station]]\narrivals = '{text}'\n[[station]]\narrivals = 'silent'\n");
    let kept = run(&window("window:1"), 10);
    assert_eq!(kept.instants(0, 64)[..3], [0, 577, 577 + 672]);
    assert_eq!(kept.instants(0, 64).len(), 1 + (100_000 - 577_usize).div_ceil(672));
    let kept = run(&window("window:1,reply=100"), 10);
    // 672 + 64 + 800: the answer's last bit.
    assert_eq!((kept.instants(0, 64)[1], kept.instants(1, 100)[0]), (672 + 864 + 1, 577));
    assert!(kept.instants(0, 64).len() - kept.instants(1, 100).len() <= 1);
    let to = kept.inputs.iter().find(|(_, station, _)| *station == 1).map(|(_, _, frame)| frame.destination);
    assert_eq!(to, Some(Destination::Station(StationId::new(0))));
}

/// Requests less those that arrived, or whose answers did, are the window, always, as long as nothing is lost.
#[test]
fn a_window_is_never_exceeded_and_always_full() {
    for (window, frames, awaited) in [("window:5", 5, 64), ("window:3,reply=70", 3, 70)] {
        let kept = run(
            &format!(
                "[[station]]\narrivals = '{window}'\ndestination = 'random'\n[[station]]\narrivals = 'silent'\n\
                 [[station]]\n[[station.source]]\narrivals = 'periodic:0.02'\nframe_size = 65\n"
            ),
            100,
        );
        let (mut offered, mut arrived, mut sizes) = (0, 0, HashMap::new());
        for event in &kept.events {
            if let Kind::Offered { size } = event.kind {
                sizes.insert(event.frame, size.get());
                offered += usize::from(size.get() == 64);
            }
            assert!(!matches!(event.kind, Kind::Discarded { .. } | Kind::QueueDrop), "nothing is lost here: {event}");
            let is_awaited = matches!(event.kind, Kind::Delivered { .. }) && sizes[&event.frame] == awaited;
            arrived += usize::from(is_awaited);
            assert!(offered - arrived <= frames, "{window}: {offered} less {arrived}, {event}");
        }
        assert!(arrived > 300 && offered - arrived >= frames - 1, "{window}: {offered} less {arrived}");
    }
}

/// A user thinks for an exponentially distributed time with mean Z, then waits 577 BT: a frame every Z + 576.5 BT (a pause is
/// cut to whole bit times). The deviation of a cycle is Z.
#[test]
fn a_window_with_pauses_has_the_rate_of_one_user() {
    let kept = run("[[station]]\narrivals = 'window:1,think=1ms'\n[[station]]\narrivals = 'silent'\n", 40_000);
    let (cycle, n) = (10_000.0 + 576.5, 400_000_000.0 / (10_000.0 + 576.5));
    let frames = kept.instants(0, 64).len() as f64;
    let deviation = (frames - n) / (n.sqrt() * 10_000.0 / cycle);
    assert!(deviation.abs() < 5.0, "seed 1: {frames} frames, {n:.0} expected");
}

/// A cut cable: nothing arrives, and each frame of the window is given up after its timeout.
#[test]
fn what_never_arrives_is_given_up_after_the_timeout() {
    let kept = run(
        "[medium]\ntopology = 'bus:500m'\n[[cut]]\nbetween = ['st1', 'st2']\n[[station]]\n\
         arrivals = 'window:2,timeout=10ms'\n[[station]]\narrivals = 'silent'\n",
        95,
    );
    let wanted: Vec<u64> = (0..10).flat_map(|n| [n * 100_000; 2]).collect();
    assert_eq!(kept.instants(0, 64), wanted);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = "[traffic]\narrivals = 'window:3,reply=64,think=1ms'\ndestination = 'random'\n[[station]]\n[[station]]\n\
                [[station]]\n[[station.source]]\narrivals = 'saturated'\n[[station.source]]\narrivals = 'on_off:0.1'\n\
                [[frame]]\nstation = 'st1'\nat = '0'\n";
    let (one, other) = (run(text, 200), run(text, 200));
    assert!(one.inputs == other.inputs && one.events == other.events && one.inputs.len() > 500);
}

/// Sources of every kind at once: inputs are recorded in order of time, and the trace gives the same events again.
#[test]
fn a_run_with_every_kind_of_source_can_be_replayed() {
    let text = "[medium]\ntopology = 'bus:500m'\nqueue = 4\n[[station]]\n[[station]]\narrivals = 'poisson:0.2'\n\
                [[station]]\narrivals = 'window:3,reply=64,timeout=5ms'\ndestination = 'random'\n[[station]]\n\
                [[station.source]]\narrivals = 'saturated'\n[[station.source]]\narrivals = 'on_off:0.1'\n\
                [[frame]]\nstation = 'st1'\nat = '1ms'\n[[cut]]\nbetween = ['st2', 'st3']\nfrom = '20ms'\n\
                until = '40ms'\n[run]\nduration = '100ms'\nwarmup = '10ms'\n";
    let plan = plan(text).expect("a plan");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("inputs");
    let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
    let header = Header::new("", &plan.medium, &names);
    let mut files = EventLog::create(&path, &[], &header.clone().at_level(Level::Inputs)).expect("own folder");
    measure::run(&plan, 1, &mut files, |_| true).expect("a plan that was checked");
    let trace = EventLogReader::new(LineReader::open(&path).expect("own file")).expect("a trace");
    let replayed = replay(trace, EventLog::unwritten(&header)).expect("the same events");
    assert!(replayed.confirmed && replayed.inputs > 500, "{replayed:?}");
}

#[test]
fn wrong_traffic_is_refused_with_file_line_and_key() {
    let frame = |keys: &str| format!("stations = 2\n[[frame]]\n{keys}");
    refused(&frame("at = '0'\n"), &["s.toml:2:", "frame: `station` is missing"]);
    refused(&frame("station = 'st1'\n"), &["s.toml:2:", "frame: `at` is missing", "1ms"]);
    refused(&frame("station = 'st9'\nat = '0'\n"), &["s.toml:3:", "station: `st9` is no station: write `st1`"]);
    refused(&frame("station = 'st1'\nat = 'noon'\n"), &["s.toml:4:", "at: `noon` is no instant", "512 BT"]);
    refused(&frame("station = 'st1'\nat = '0'\nsize = 17\n"), &["s.toml:5:", "size: `17` is out of range", "18"]);
    refused(&frame("station = 'st1'\nat = '0'\nsize = 1519\n"), &["s.toml:5:", "size: 1519 octets", "18 to 1518"]);
    refused(&frame("station = 'st1'\nat = '0'\ndestination = 'st1'\n"), &["s.toml:5:", "destination", "itself"]);
    let random = "station = 'st1'\nat = '0'\ndestination = 'random'\n";
    refused(&frame(random), &["s.toml:5:", "destination: `random`", "broadcast"]);
    refused(&frame("station = 'st1'\nat = '0'\nto = 'st1'\n"), &["s.toml:5:", "to: ", "destination"]);
    let station = |keys: &str| format!("[[station]]\n{keys}\n[[station]]\n");
    refused(&station("phase = '1ms'"), &["s.toml:2:", "phase: `saturated` has no phase", "periodic:0.1"]);
    refused(&station("arrivals = 'periodic:0.1,phase=0'\nphase = '1ms'"), &["s.toml:3:", "phase: ", "leave one out"]);
    let besides = "arrivals = 'silent'\n[[station.source]]\narrivals = 'silent'";
    refused(&station(besides), &["s.toml:2:", "arrivals: `silent`", "[[station.source]]"]);
    let besides = "phase = '0'\n[[station.source]]\narrivals = 'periodic:0.1'";
    refused(&station(besides), &["s.toml:2:", "phase: ", "[[station.source]]"]);
    refused(&station("[[station.source]]\nframe_size = 64"), &["s.toml:2:", "source: `arrivals` is missing"]);
    refused(&station("[[station.source]]\narrival = 'silent'"), &["s.toml:3:", "arrival: ", "`arrivals`"]);
    let broadcast = "arrivals = 'window:4'\ndestination = 'broadcast'";
    refused(&station(broadcast), &["s.toml:2:", "arrivals: st1: ", "one addressee", "next"]);
    refused(&station("[[station.source]]\narrivals = 'window:0'"), &["s.toml:3:", "0 is no window"]);
    refused("stations = 1\n[traffic]\narrivals = 'window:4'\n", &["s.toml:3:", "2 stations or more"]);
    // All that is wrong, at once.
    let several = "stations = 2\n[[frame]]\nstation = 'st9'\nat = '0'\n[[frame]]\nat = '0'\n";
    refused(several, &["s.toml:3:", "s.toml:5:"]);
}

/// Of frames that the warm-up swallows no figure tells.
#[test]
fn frames_that_the_warm_up_swallows_are_warned_about() {
    let early = |warmup: &str| {
        let text = format!(
            "stations = 2\n[run]\nduration = '1s'\nwarmup = '{warmup}'\n[[frame]]\nstation = 'st1'\nat = '1ms'\n"
        );
        plan(&text).expect("allowed").run_warnings.concat()
    };
    assert!(early("2ms").contains("[[frame]] sections is offered in the warm-up of 2ms"), "{}", early("2ms"));
    assert_eq!(early("1ms"), "");
}

#[test]
fn a_frame_that_no_run_gets_to_is_warned_about() {
    let late = "stations = 2\n[run]\nduration = '1s'\nwarmup = '1s'\n[[frame]]\nstation = 'st1'\nat = '3s'\n";
    let plan = plan(late).expect("allowed");
    assert!(
        plan.run_warnings.iter().any(|warning| warning.contains("1 of 1 [[frame]] sections")),
        "{:?}",
        plan.run_warnings
    );
}
