//! The engine's hot path: a saturated star in virtual time, one second of the medium an iteration.
//!
//! `cargo bench --bench medium`. Throughput is simulated frames per wall second; compare rows of one run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use medium::{BitInstant, BitRate, Config, Destination, Frame, Input, Medium, Octets, StationId, Topology};

/// Frames that every station is given at the start: more than it can send in the time measured.
const QUEUE: usize = 15_000;
const SECOND: u64 = 10_000_000;

fn saturated(stations: u16, distance: u64) -> Medium {
    let config = Config {
        queue_limit: QUEUE,
        keep_events: false,
        keep_outputs: false,
        ..Config::new(BitRate::MBIT_10, Topology::star(stations.into(), distance), 1)
    };
    let mut medium = Medium::new(config).expect("a valid configuration");
    for number in 0..stations {
        let next = Destination::Station(StationId::new((number + 1) % stations));
        let offer = Input::Offer { station: StationId::new(number), frame: Frame::new(Octets::new(64), next) };
        (0..QUEUE).for_each(|_| medium.handle_input(BitInstant::ZERO, offer));
    }
    medium
}

fn run(mut medium: Medium) -> u64 {
    medium.advance(BitInstant::new(SECOND));
    medium.tally().stations().iter().map(|counters| counters.frames_transmitted_ok).sum()
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("saturated");
    group.sample_size(20);
    for (stations, distance) in [(2, 0), (10, 0), (10, 50), (50, 0), (50, 50)] {
        group.throughput(Throughput::Elements(run(saturated(stations, distance))));
        group.bench_function(BenchmarkId::new(format!("{stations} stations"), format!("{distance} BT")), |bencher| {
            bencher.iter_batched(|| saturated(stations, distance), run, criterion::BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
