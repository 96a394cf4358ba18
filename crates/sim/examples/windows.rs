//! What windows on a saturated run cost, in a program that is quick to build:
//! `valgrind --tool=callgrind target/release/examples/windows pcapng 10 3`
//!
//! Arguments: windows with commas between (`pcapng`, `perfetto`, `vcd`, `csv`, `events`, `inputs`, `all`; or `none`), stations,
//! seconds at 10 Mb/s, and a folder for what is made, /dev/null without. Frames have 64 octets, the star has no length.

use sim::files::event_log::{EventLog, Header, Level};
use sim::run::measure::run;
use sim::run::observer::Both;
use sim::scenario::Scenario;
use sim::scenario::plan::{Overrides, Plan};
use sim::windows::capture::Framing;
use sim::windows::{Known, WindowKind, Windows};
use std::fs::File;
use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default| arguments.get(at).map_or(default, |text| text.parse().expect("a number"));
    let wanted: Vec<&str> = arguments.first().map_or("pcapng", String::as_str).split(',').collect();
    let overrides = Overrides::default()
        .with("stations", number(1, 10))
        .with("duration", format!("{}s", number(2, 3)))
        .with("warmup", 0);
    let plan = Plan::new(&Scenario::default(), None, &overrides, 1).expect("a plan");
    let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
    let header = Header::new(&plan.name, &plan.medium, &names);
    let macs = plan.stations.iter().map(|station| station.mac.octets()).collect();
    let known = Known { macs, ..Known::of(header.clone()) };
    let folder = arguments.get(3);
    let place = |name: &str| folder.map_or("/dev/null".into(), |folder| Path::new(folder).join(format!("run.{name}")));
    let kinds = [
        ("pcapng", WindowKind::Pcapng(Framing::Whole.unfiltered())),
        ("perfetto", WindowKind::Perfetto),
        ("vcd", WindowKind::Vcd),
        ("csv", WindowKind::Csv),
    ];
    let open = |name, kind: WindowKind| kind.open(File::create(place(name)).expect("a file"), name.to_owned(), &known);
    let windows = kinds.into_iter().filter(|(name, _)| wanted.contains(name)).map(|(name, kind)| open(name, kind));
    let windows = Windows(windows.collect::<Result<_, _>>().expect("room"));
    let windows = (!windows.0.is_empty()).then(|| windows.on_a_thread());
    let create = |level: Level| {
        let log = EventLog::create(&place(level.word()), &[], &header.clone().at_level(level)).expect("room");
        log.of_a_run().on_a_thread()
    };
    let traces = Level::ALL.iter().copied().filter(|level| wanted.contains(&level.word()));
    let traces: Vec<EventLog> = traces.map(create).collect();
    let frames = match windows {
        None if traces.is_empty() => run(&plan, 1, &mut (), |_| true).map_err(|_| ()),
        windows => run(&plan, 1, &mut Both(traces, windows), |_| true).map_err(|_| ()),
    };
    assert!(frames.is_ok(), "a run");
}
