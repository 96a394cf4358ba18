//! What stations offer, by its public door: loads, mixes and independence as chance would have them. Seeds are written
//! down; every statistic is a number of standard deviations, and lies within 5 of them.

use ethbus::traffic::{Arrivals, Sizes, Source, To, TrafficSpec, sources};
use medium::{BitRate, Destination, Frame};

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
    let to = Destination::Station(medium::StationId::new(1));
    assert_eq!(both[0].next_frame(), Frame::new(medium::Octets::new(64), to));
    assert_eq!(TrafficSpec::default().destination.unwrap_or_default(), To::Next);
}
