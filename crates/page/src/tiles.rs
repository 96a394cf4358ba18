//! Key figures, each with how sure it is.

use medium::Method;
use serde::Serialize;
use sim::figures::intervals::BELOW;
use sim::figures::results::Results;
use sim::figures::row::{Value, columns};
use sim::figures::table::key_figures;
use sim::words::units::group;

/// Digits of a figure whose interval is not known.
pub const DIGITS: i32 = 4;

/// A key figure.
#[derive(Clone, Debug, Serialize)]
pub struct Tile {
    /// The name of the figure.
    pub what: String,
    /// With its digits.
    pub says: String,
    /// Where it is in 95 of 100 runs, in words; empty if that is not known.
    pub sure: String,
    /// For who compares runs.
    pub value: f64,
}

/// The key figures of a run that has them.
pub fn tiles(results: &Results) -> Vec<Tile> {
    let row = columns(results);
    let value =
        |name: &str| row.iter().find(|(known, _)| known == name).and_then(|(_, value): &(_, Value)| value.number());
    let counted = |what: &str, counter: &str| {
        let count = results.stations.iter().map(|station| station.counter(counter)).sum::<u64>();
        Tile { what: what.to_owned(), says: group(count), sure: String::new(), value: count as f64 }
    };
    let collided = match results.config.medium.config().method {
        Method::Plca(_) => "attempts that collided, logical collisions of PLCA among them",
        _ => "attempts that collided",
    };
    let counts = [("frames that were transmitted", "frames_transmitted_ok"), (collided, "collisions")];
    let measured = key_figures().into_iter().filter_map(|(name, what)| {
        let own = value(&name)?;
        let half = value(&format!("ci95_{name}"));
        let below = value(&format!("ci95_{name}{BELOW}"));
        let (says, sure) = with_interval(own, half, below);
        Some(Tile { what: what.to_owned(), says, sure, value: own })
    });
    counts.into_iter().map(|(what, counter)| counted(what, counter)).chain(measured).collect()
}

/// A figure and its interval; neither has digits that the interval does not warrant.
pub fn with_interval(own: f64, half: Option<f64>, below: Option<f64>) -> (String, String) {
    let Some(half) = half.filter(|half| *half > 0.0) else { return (digits(own, DIGITS), String::new()) };
    let below = below.filter(|below| *below > 0.0).unwrap_or(half);
    let order = |value: f64| value.abs().log10().floor() as i32;
    // Two digits of the interval, and four of the figure at most.
    let most = if own == 0.0 { 9 } else { 3 - order(own) };
    let places = (1 - order(below.min(half))).min(most).clamp(0, 9) as usize;
    let written = |value: f64| match () {
        () if value.abs() < 0.5 * 0.1_f64.powi(places as i32) => digits(value, DIGITS),
        () if places == 0 => group(value.round() as u64),
        () => format!("{value:.places$}"),
    };
    let sure = format!("95 %: {} to {}", written((own - below).max(0.0)), written(own + half));
    (written(own), sure)
}

/// A number with `count` significant digits, and with all digits before its point.
pub fn digits(value: f64, count: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor() as i32 + 1;
    match before - count {
        0.. => group(value.round() as u64),
        after => format!("{value:.*}", (-after).clamp(0, 9) as usize),
    }
}
