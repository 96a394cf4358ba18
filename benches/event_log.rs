//! Events as the log has them: written to nowhere, and read back from memory.
//!
//! `cargo bench --bench event_log`. Throughput is events per wall second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use medium::{
    BitInstant, BitRate, BitTimes, Config, Destination, Event, Frame, Input, Medium, Octets, StationId, Topology,
};
use sim::files::event_log::{EventLog, EventLogReader, Header};
use sim::files::json_lines::LineReader;
use std::path::Path;

const STATIONS: u16 = 10;

fn config() -> Config {
    let config = Config::new(BitRate::MBIT_10, Topology::star(STATIONS.into(), 50), 1);
    Config { queue_limit: 1_000, keep_events: true, keep_outputs: false, ..config }
}

/// Events of ten saturated stations.
fn events() -> Vec<Event> {
    let mut medium = Medium::new(config()).expect("a valid configuration");
    for number in 0..STATIONS {
        let next = Destination::Station(StationId::new((number + 1) % STATIONS));
        let offer = Input::Offer { station: StationId::new(number), frame: Frame::new(Octets::new(64), next) };
        (0..1_000).for_each(|_| medium.handle_input(BitInstant::ZERO, offer));
    }
    while let Some(due) = medium.next_timeout() {
        medium.advance(due + BitTimes::new(1));
    }
    std::iter::from_fn(|| medium.poll_event()).collect()
}

fn bench(criterion: &mut Criterion) {
    let names: Vec<String> = (1..=STATIONS).map(|number| format!("st{number}")).collect();
    let (header, events) = (Header::new("bench", &config(), &names), events());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events");
    let write = |path: &Path| {
        let mut log = EventLog::create(path, &[], &header).expect("a file");
        events.iter().for_each(|event| log.event(event).expect("room"));
        log.flush().expect("room");
    };
    write(&path);
    let text = std::fs::read(&path).expect("the log");
    let mut group = criterion.benchmark_group("event log");
    group.throughput(Throughput::Elements(events.len() as u64));
    group.bench_function("write", |bencher| bencher.iter(|| write(Path::new("/dev/null"))));
    group.bench_function("read", |bencher| {
        bencher.iter(|| {
            let mut log = EventLogReader::new(LineReader::new(&text[..], "log".to_owned())).expect("a log");
            let mut count = 0;
            while log.next_event().expect("an event").is_some() {
                count += 1;
            }
            assert_eq!(count, events.len());
        });
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
