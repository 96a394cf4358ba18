//! `ethbus sim`'s loop with everything that it counts: sources, engine, tally, delays; no event log.
//!
//! `cargo bench --bench simulator`. Throughput is successful frames per wall second; compare rows of one run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use medium::{BitInstant, BitRate, Config, Topology};
use sim::run::simulator::Simulator;
use sim::traffic::{TrafficSpec, sources};

const SECOND: u64 = 10_000_000;

fn saturated(stations: usize, distance: u64) -> Simulator {
    let config = Config::new(BitRate::MBIT_10, Topology::star(stations, distance), 1);
    let sources = sources(&vec![TrafficSpec::default(); stations], config.rate, config.seed).expect("valid");
    Simulator::new(config, sources, Vec::new()).expect("valid")
}

fn run(mut simulator: Simulator) -> u64 {
    simulator.run_until(BitInstant::new(SECOND), &mut ()).unwrap_or_else(|never| match never {});
    simulator.medium().tally().stations().iter().map(|counters| counters.frames_transmitted_ok).sum()
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sim, saturated, 64 octets, one second at 10 Mb/s");
    group.sample_size(20);
    for (stations, distance) in [(2, 0), (10, 0), (10, 50), (50, 0), (50, 50), (200, 0), (1000, 0)] {
        group.throughput(Throughput::Elements(run(saturated(stations, distance))));
        group.bench_function(BenchmarkId::new(format!("{stations} stations"), format!("{distance} BT")), |bencher| {
            bencher.iter_batched(|| saturated(stations, distance), run, criterion::BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
