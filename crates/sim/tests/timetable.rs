//! A timetable in virtual time: stations that join and leave, other traffic, other queues, and the run's end, each at its bit
//! time. Seeds are written down.

mod common;

use common::plan;
use medium::{BitInstant, BitTimes, Event, Input, Kind, StationId, Topology};
use sim::files::event_log::{EventLog, EventLogReader, Header, Level};
use sim::files::json_lines::LineReader;
use sim::files::replay::replay;
use sim::run::measure;
use sim::run::observer::Observer;
use std::convert::Infallible;
use std::sync::Arc;

/// Keeps everything.
#[derive(Debug, Default)]
struct Kept {
    /// When each station was offered a frame, and how long the frame was.
    offers: Vec<(u64, usize, u32)>,
    /// What else was done, as traces call it.
    done: Vec<(u64, &'static str)>,
    events: Vec<Event>,
}

impl Observer for Kept {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        let done = match input {
            Input::Offer { station, frame } => {
                self.offers.push((at.get(), station.index(), frame.size.get()));
                return Ok(());
            }
            Input::Deed(deed) => deed.word(),
        };
        self.done.push((at.get(), done));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.events.push(*event);
        Ok(())
    }
}

impl Kept {
    /// When a station was offered frames of this size, from one instant up to another.
    fn instants(&self, station: usize, size: u32, from: u64, to: u64) -> Vec<u64> {
        let own = |(at, whose, own): &&(u64, usize, u32)| *whose == station && *own == size && (from..to).contains(at);
        self.offers.iter().filter(own).map(|(at, ..)| *at).collect()
    }

    fn count(&self, station: u16, of: fn(&Kind) -> bool) -> usize {
        let own = |event: &&Event| event.frame.station == StationId::new(station) && of(&event.kind);
        self.events.iter().filter(own).count()
    }
}

/// Runs a scenario of 10 Mb/s without warm-up for 20 ms, 200,000 BT.
fn run(text: &str) -> (Kept, sim::figures::results::Results) {
    let text = format!("{text}\n[run]\nwarmup = '0s'\nduration = '20ms'\n");
    let plan = plan(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut kept = Kept::default();
    let measured = measure::run(&plan, 1, &mut kept, |_| true).expect("a plan that was checked");
    assert!(kept.events.is_sorted_by_key(|event| event.at), "events come in order of time");
    let results = measure::results(&plan, &[measured]);
    results.check().expect("the books are exact");
    (kept, results)
}

/// Everything that a timetable can do in virtual time, not in order of time.
const ALL: &str = "stations = 2\n[medium]\ntopology = 'bus:500m'\n[traffic]\narrivals = 'poisson:0.2'\n\
    [[at]]\ntime = '8ms'\nremove = 'late'\n\
    [[at]]\ntime = '2ms'\nadd = { name = 'late', position = '250 m', arrivals = 'saturated', fault = 'bad_fcs' }\n\
    [[at]]\ntime = '4ms'\nqueue = 3\n\
    [[at]]\ntime = '6ms'\nstation = 'st1'\narrivals = 'saturated'\nframe_size = 100\n\
    [[at]]\ntime = '10ms'\nadd = { name = 'late' }\n\
    [[at]]\ntime = '12ms'\nadd = {}\n\
    [[at]]\ntime = '14ms'\narrivals = 'silent'\n";

#[test]
fn each_change_comes_at_its_bit_time() {
    let (kept, results) = run(ALL);
    let wanted = [(20_000, "add"), (20_000, "fault"), (40_000, "queue"), (80_000, "remove"), (100_000, "add")];
    let wanted = wanted.into_iter().chain([(120_000, "add")]);
    assert_eq!(kept.done, wanted.collect::<Vec<_>>());
    let names: Vec<&str> = results.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["st1", "st2", "late", "st4"], "in order of their seats");
    assert!(results.stations.iter().all(|station| station.attached));
    // A saturated station hands over its first frame as it joins, and the next ones as it is done with one.
    let late = kept.instants(2, 64, 0, u64::MAX);
    assert_eq!(late.first(), Some(&20_000));
    assert!(late.iter().all(|at| (20_000..=80_000).contains(at) || *at > 100_000), "{late:?}");
    let first = kept.instants(0, 100, 0, u64::MAX);
    assert!(first.first() == Some(&60_000) && first.iter().all(|at| *at < 140_000), "{first:?}");
    assert!(kept.offers.iter().all(|(at, ..)| *at < 140_000), "all stations are silent at the end");
}

/// The log of the run and that of its replay are the same octets.
#[test]
fn a_trace_has_it_all_and_replays_it() {
    let plan = plan(ALL).expect("a plan");
    let header = Header::new(&plan.name, &plan.medium, &plan.station_names());
    let folder = tempfile::tempdir().expect("a folder");
    let [inputs, events, again] = ["run.inputs", "run.events", "again.events"].map(|name| folder.path().join(name));
    let create = |path, level| EventLog::create(path, &[], &header.clone().at_level(level)).expect("own folder");
    let mut files = vec![create(&events, Level::Events), create(&inputs, Level::Inputs)];
    measure::run(&plan, 1, &mut files, |_| true).expect("a plan that was checked");
    drop(files);
    let read = EventLogReader::new(LineReader::open(&inputs).expect("own file")).expect("a trace");
    let replayed = replay(read, EventLog::create(&again, &[], &header).expect("own folder")).expect("the same events");
    assert!(replayed.confirmed && replayed.inputs > 100, "{replayed:?}");
    let [events, again] = [events, again].map(|path| std::fs::read(path).expect("own folder"));
    assert!(events == again && !events.is_empty());
}

/// A station has streams of random numbers of its own, so another station's arrivals stay as they were.
#[test]
fn the_others_offer_what_they_would_have_offered() {
    let base = "stations = 3\n[traffic]\narrivals = 'poisson:0.3'\n";
    let (before, _) = run(base);
    let (after, _) = run(&format!(
        "{base}[[at]]\ntime = '5ms'\nstation = 'st2'\narrivals = 'poisson:0.6'\n[[at]]\ntime = '9ms'\nadd = {{}}\n"
    ));
    for station in [0, 2] {
        assert_eq!(after.instants(station, 64, 0, u64::MAX), before.instants(station, 64, 0, u64::MAX));
    }
    let [earlier, later] = [&before, &after].map(|kept| kept.instants(1, 64, 0, 50_000));
    assert_eq!(earlier, later, "up to the change");
    let [earlier, later] = [&before, &after].map(|kept| kept.instants(1, 64, 50_000, u64::MAX).len());
    assert!(later > 3 * earlier, "six times the load: {earlier}, {later}");
}

/// Periodic frames come a phase after the change, and then with their period; destination and length stay.
#[test]
fn the_time_of_a_source_begins_with_the_change() {
    let (kept, _) =
        run("stations = 2\n[[station]]\narrivals = 'silent'\nframe_size = 80\n[[station]]\narrivals = 'silent'\n\
         [[at]]\ntime = '1ms'\nstation = 'st1'\narrivals = 'periodic:every=4ms'\n");
    let instants = kept.instants(0, 80, 0, u64::MAX);
    assert!((10_000..50_000).contains(&instants[0]), "{instants:?}");
    assert!(instants.len() >= 4 && instants.windows(2).all(|pair| pair[1] - pair[0] == 40_000), "{instants:?}");
    assert_eq!(kept.offers.len(), instants.len(), "and nothing else");
}

/// A window opens, waits for answers, and closes: what is under way then is answered by no further frame.
#[test]
fn a_window_opens_and_closes() {
    let (kept, _) = run("stations = 2\n[[station]]\narrivals = 'poisson:0.2'\n[[station]]\narrivals = 'silent'\n\
         [[at]]\ntime = '5ms'\nstation = 'st2'\narrivals = 'window:1,reply=100'\nframe_size = 90\ndestination = 'st1'\n\
         [[at]]\ntime = '10ms'\nstation = 'st2'\narrivals = 'silent'\n");
    let requests = kept.instants(1, 90, 0, u64::MAX);
    assert!(requests.len() > 5 && requests[0] == 50_000 && *requests.last().expect("some") < 100_000, "{requests:?}");
    let replies = kept.instants(0, 100, 0, u64::MAX);
    assert!(requests.len() - replies.len() <= 1 && replies.iter().all(|at| *at <= 101_000), "{replies:?}");
    assert!(kept.instants(0, 64, 100_000, u64::MAX).len() > 10, "the other station goes on");
}

/// Frames in a queue that has become too long stay; what comes behind them is dropped.
#[test]
fn a_shorter_queue_drops_what_comes_later() {
    let base = "stations = 2\n[traffic]\narrivals = 'poisson:4'\nframe_size = 1000\n[medium]\nqueue = 50\n";
    let is_drop = |kind: &Kind| matches!(kind, Kind::QueueDrop);
    let (before, _) = run(base);
    let (after, results) = run(&format!("{base}[[at]]\ntime = '10ms'\nqueue = 2\n"));
    assert_eq!([0, 1].map(|station| before.count(station, is_drop)), [0, 0], "50 frames are room enough for 20 ms");
    let first = after.events.iter().find(|event| is_drop(&event.kind)).expect("drops").at;
    assert!(first >= BitInstant::new(100_000), "{first}");
    let queued: Vec<u64> = results.stations.iter().map(|station| station.queued).collect();
    assert!(
        queued[0] > 2 && queued[1] == 2,
        "a station that captures the medium empties its own queue first: {queued:?}"
    );
}

#[test]
fn a_run_ends_when_the_timetable_says_so() {
    let measured = |text: &str| run(&format!("stations = 2\n{text}")).1.measured_bit_times;
    let at = |time: &str, until: &str| format!("[[at]]\ntime = '{time}'\nuntil = '{until}'\n");
    assert_eq!(measured(""), 200_000);
    assert_eq!(measured(&at("1ms", "5ms")), 50_000);
    assert_eq!(measured(&at("1ms", "300000 BT")), 300_000);
    assert_eq!(measured(&at("7ms", "5ms")), 70_000, "at once, since that instant is over");
    assert_eq!(measured(&(at("1ms", "5ms") + &at("2ms", "9ms"))), 90_000, "the last one counts");
    assert_eq!(measured(&(at("1ms", "5ms") + &at("6ms", "9ms"))), 50_000, "nothing is done after the end");
}

/// Seats are as many as the timetable needs, or as the scenario says, and where it says.
#[test]
fn those_that_join_have_places() {
    let text = "stations = 2\n[medium]\ntopology = 'bus:500m'\n[[at]]\ntime = '2ms'\nadd.position = '100 m'\n\
         [[at]]\ntime = '1ms'\nadd.position = '12 BT'\n[[at]]\ntime = '3ms'\nadd = {}\n";
    let plan = plan(text).expect("a plan");
    let positions = [0, 22, 12, 4, 22].map(BitTimes::new).to_vec();
    assert_eq!((plan.medium.topology, plan.medium.seats), (Topology::Bus { positions }, 3));
    assert_eq!(plan.joiners, ["st3", "st4", "st5"]);
    let more = common::plan(&format!("capacity = 10\n{text}")).expect("a plan").with_room();
    assert_eq!(more.medium.seats, 8);
    assert_eq!(
        common::plan(text).expect("a plan").with_room().medium.seats,
        67,
        "64 more for those that join by command"
    );
}
