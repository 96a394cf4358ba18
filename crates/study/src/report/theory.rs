//! Theory beside measurement.

use super::gather::Run;
use crate::theory::contention::{efficiency, slots_lost};
use medium::{Kind, Method};
use page::words;
use sim::figures::intervals::half_width;
use sim::run::told::Told;
use sim::words::units::many;

/// A figure of theory beside what was measured.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The name of the figure.
    pub what: String,
    /// Theory's figure.
    pub theory: f64,
    /// The measured one.
    pub measured: f64,
    /// Half of its 95 % interval.
    pub half: Option<f64>,
    /// Where the theory comes from, and where it holds.
    pub source: String,
}

/// The predictions of theory for a run, beside its results.
pub fn theory(run: &Run) -> Vec<Beside> {
    let config = run.config();
    let mut rows = Vec::new();
    if config.method != Method::CsmaCd {
        return rows;
    }
    let (slot, bits) = (config.parameters.slot_time.get() as f64, mean_bits(run));
    let stations = config.topology.stations() as u32;
    let around = 64.0 + config.parameters.inter_packet_gap.get() as f64;
    // It is of one medium, which nothing is done to.
    let is_as_it_was = run.told.as_ref().is_none_or(|told| told.inputs.is_empty());
    let bits = bits.filter(|_| is_as_it_was && always_had_one(run));
    if let Some(expected) = bits.and_then(|bits| efficiency(stations, bits + around, slot).ok()) {
        let ci95 = run.results.medium.ci95.as_ref();
        rows.push(Beside {
            what: "utilization, frames with preamble and gap".to_owned(),
            theory: expected,
            measured: run.results.medium.utilization_total,
            half: ci95.and_then(|all| all.half_width("utilization_total", None)),
            source: metcalfe_boggs(stations, bits.unwrap_or(0.0) + around, slot),
        });
    }
    if let (Some(told), None) = (&run.told, &config.backoff) {
        rows.extend(draws(told, config.parameters.backoff_limit));
    }
    rows
}

/// The formula with the run's own numbers, and the stations that it assumes.
fn metcalfe_boggs(stations: u32, bits: f64, slot: f64) -> String {
    let lost = slots_lost(stations).unwrap_or(0.0);
    format!(
        "Metcalfe and Boggs 1976: E = P / (P + W T); P = {bits:.0} bit a frame, T = {slot:.0} bit a slot, W = {lost:.3} slots lost \
         before a frame with {}. It is of stations that always have a frame, as here, and send in a slot with the chance 1/{stations}: \
         with the backoff of 802.3 who has just won tries again at once",
        many(stations.into(), "station")
    )
}

/// Each station always had a frame.
fn always_had_one(run: &Run) -> bool {
    match &run.told {
        Some(told) => words::always_had_one(told),
        None => {
            let of = run.results.config.run.as_ref();
            of.is_some_and(|run| run.traffic.iter().all(|traffic| traffic.starts_with("saturated")))
        }
    }
}

/// Mean length of a frame that got through, in bits.
fn mean_bits(run: &Run) -> Option<f64> {
    let sum = |counter: &str| run.results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
    let frames = sum("frames_transmitted_ok");
    (frames > 0).then(|| 8.0 * (sum("octets_transmitted_ok") as f64 / frames as f64 + 18.0))
}

/// The fewest draws after one number of collisions of which the mean is shown.
const LEAST_DRAWS: usize = 30;

fn draws(told: &Told, backoff_limit: u32) -> Vec<Beside> {
    let mut drawn: Vec<Vec<f64>> = Vec::new();
    for event in &told.events {
        if let Kind::Backoff { attempt, slots } = event.kind {
            let place = attempt.max(1) as usize - 1;
            if drawn.len() <= place {
                drawn.resize_with(place + 1, Vec::new);
            }
            drawn[place].push(slots as f64);
        }
    }
    let row = |(collisions, slots): (u32, Vec<f64>)| Beside {
        what: format!("mean backoff after collision {collisions} of a frame, slots"),
        theory: (2_f64.powi(collisions.min(backoff_limit) as i32) - 1.0) / 2.0,
        measured: slots.iter().sum::<f64>() / slots.len() as f64,
        half: half_width(slots.iter().copied()),
        source: "802.3, 4.2.3.2.5: uniform over 0 to 2^min(n, backoffLimit) - 1".to_owned(),
    };
    (1..).zip(drawn).filter(|(_, slots)| slots.len() >= LEAST_DRAWS).map(row).collect()
}
