//! Draws that need no order of calls: each is a function of the run's seed, a stream and a number, and of nothing else.
//!
//! The draws of backoff are others: each station has a generator of its own.

use backoff::Generator;
use std::ops::RangeInclusive;

/// The stream of the bit errors that all places share; each place has its own number, which is smaller.
pub(crate) const LINE: u64 = 1 << 32;
/// The streams of signals that get lost, by the place.
pub(crate) const SIGNALS: u64 = 1 << 33;
/// The streams of delays of hosts, by the station. Only PLCA has them.
pub(crate) const HOSTS: u64 = 1 << 34;
/// The streams of what repeaters add, by repeater and sender. Only CSMA/CD has them, so they are not beside those of hosts.
pub(crate) const REPEATERS: u64 = 1 << 34;

/// The streams of D-PLCA, by the station.
pub(crate) const DPLCA: u64 = 1 << 35;

/// The generator of `number` in a stream.
pub(crate) fn draws(seed: u64, stream: u64, number: u64) -> Generator {
    Generator::stream(Generator::operation(seed, stream).next_u64(), number)
}

/// A number of `range`, drawn evenly.
pub(crate) fn draw(seed: u64, stream: u64, number: u64, range: RangeInclusive<u64>) -> u64 {
    let span = u128::from(range.end() - range.start()) + 1;
    range.start() + ((u128::from(draws(seed, stream, number).next_u64()) * span) >> 64) as u64
}
