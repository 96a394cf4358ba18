//! Wall-clock time as a number of nanoseconds with fractions. A `Duration` counts whole ones: where few operations are
//! asked for, as with `--quick`, a row of 1.6 ns would show 2.

use std::time::{Duration, Instant};

use criterion::measurement::{Measurement, ValueFormatter, WallTime};

/// The measurement of every bench here.
pub struct Nanoseconds;

impl Nanoseconds {
    /// The share of `operations` in the time of `measured` ones.
    pub fn share(elapsed: Duration, operations: u64, measured: u64) -> f64 {
        elapsed.as_nanos() as f64 * operations as f64 / measured as f64
    }
}

impl Measurement for Nanoseconds {
    type Intermediate = Instant;
    type Value = f64;

    fn start(&self) -> Instant {
        Instant::now()
    }

    fn end(&self, start: Instant) -> f64 {
        start.elapsed().as_nanos() as f64
    }

    fn add(&self, one: &f64, other: &f64) -> f64 {
        one + other
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
