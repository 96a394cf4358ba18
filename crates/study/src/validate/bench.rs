//! What checks are run on: `ethbus sim` itself, by its own command line, and the medium by hand.

use super::Section;
use super::row::Row;
use medium::{BitRate, Config, ConfigError, Event, Medium, Topology};
use sim::figures::results::{Results, StationResults};
use sim::run::measure::{self, RunError};
use sim::run::observer::Observer;
use sim::scenario::plan::Plan;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to validate.
pub struct Options<'a> {
    /// Seed of every run.
    pub seed: u64,
    /// Shorter runs, fewer rows.
    pub quick: bool,
    /// Only the topics whose title has this in it, whatever the case; all if empty.
    pub only: &'a str,
    /// The plan of a command, as `ethbus sim` itself makes it.
    pub plan: &'a (dyn Fn(&str) -> Plan + Sync),
    /// What is done to every medium before it runs: nothing, unless one wants to see the checks fail.
    pub alter: &'a (dyn Fn(&mut Config) + Sync),
    /// Gets the part that is done; returns whether to continue.
    pub go_on: &'a (dyn Fn(f64) -> bool + Sync),
}

/// Why there is no report.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ValidateError {
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// An altered medium cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Runs checks, and keeps the books of all of them.
pub(super) struct Bench<'a> {
    options: &'a Options<'a>,
    runs: AtomicU64,
    stations: AtomicU64,
    wrong: AtomicU64,
}

/// What a run gave, and the command that gives it.
pub(super) struct Run {
    pub command: String,
    pub results: Results,
}

impl<'a> Bench<'a> {
    pub fn new(options: &'a Options<'a>) -> Bench<'a> {
        Bench { options, runs: AtomicU64::new(0), stations: AtomicU64::new(0), wrong: AtomicU64::new(0) }
    }

    /// Whether runs are to be short.
    pub fn quick(&self) -> bool {
        self.options.quick
    }

    /// One of two texts: for a whole validation, or a quick one.
    pub fn choose(&self, whole: &'static str, quick: &'static str) -> &'static str {
        if self.quick() { quick } else { whole }
    }

    /// Runs `ethbus sim` with these arguments and the seed.
    pub fn sim(&self, arguments: &str) -> Result<Run, ValidateError> {
        self.watch(arguments, |_| ())
    }

    /// The same, with every event from the start shown to `see`.
    pub fn watch(&self, arguments: &str, see: impl FnMut(&Event)) -> Result<Run, ValidateError> {
        let command = format!("ethbus sim {arguments} --seed {}", self.options.seed);
        let mut plan = (self.options.plan)(&command);
        (self.options.alter)(&mut plan.medium);
        let measured = measure::run(&plan, plan.medium.seed, &mut Seen(see), |_| true);
        let measured = measured.map_err(|error| match error {
            RunError::Config(error) => ValidateError::Config(error),
            RunError::Traffic(error) => panic!("{command}: {error}"),
            RunError::Observer(never) => match never {},
        })?;
        let results = measure::results(&plan, &[measured]);
        self.enter(&results);
        Ok(Run { command, results })
    }

    /// Enters a run in the books.
    fn enter(&self, results: &Results) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.stations.fetch_add(results.stations.len() as u64, Ordering::Relaxed);
        let wrong = results.stations.iter().filter(|station| !station.adds_up()).count();
        self.wrong.fetch_add(wrong as u64, Ordering::Relaxed);
    }

    /// A medium of two stations, 10 Mb/s, to be given inputs by hand.
    pub fn pair(&self, topology: Topology) -> Result<Medium, ValidateError> {
        let mut config = Config::new(BitRate::MBIT_10, topology, self.options.seed);
        (self.options.alter)(&mut config);
        Ok(Medium::new(config)?)
    }

    /// The parameters of a medium at 10 Mb/s, as every run has them.
    pub fn parameters(&self) -> medium::Parameters {
        let mut config = Config::new(BitRate::MBIT_10, Topology::star(2, 0), self.options.seed);
        (self.options.alter)(&mut config);
        config.parameters
    }

    /// Whether every station of every run adds up.
    pub fn books(&self) -> Section {
        let (runs, stations) = (self.runs.load(Ordering::Relaxed), self.stations.load(Ordering::Relaxed));
        let wrong = self.wrong.load(Ordering::Relaxed) as f64;
        Section {
            title: "Conservation",
            source: "no frame is lost or made",
            about: "offered + queued at the start = transmitted + discarded + queued at the end, at every station of every run above",
            rows: vec![Row::exactly(format!("stations that do not add up, of {stations} in {runs} runs"), 0.0, wrong)],
        }
    }
}

impl Run {
    /// A metric or a figure of a delay like `mac_delay.mean_bt`, and the half-width of its interval.
    ///
    /// # Panics
    /// Where the run has none: a mistake in the check.
    pub fn estimate(&self, metric: &str, value: Option<f64>) -> (f64, f64) {
        let value = value.unwrap_or_else(|| panic!("{}: no {metric}", self.command));
        let half = say::half_width(&self.results.medium, metric);
        (value, half.unwrap_or_else(|| panic!("{}: no interval of {metric}", self.command)))
    }

    /// A counter, summed over the stations.
    pub fn counter(&self, name: &str) -> f64 {
        self.results.stations.iter().map(|station: &StationResults| station.counter(name)).sum::<u64>() as f64
    }

    /// A counter per second of the medium's time.
    pub fn per_second(&self, name: &str) -> f64 {
        let Results { config, measured_bit_times, .. } = &self.results;
        self.counter(name) * config.rate_bits_per_second as f64 / *measured_bit_times as f64
    }
}

/// Shows events to a closure.
struct Seen<F>(F);

impl<F: FnMut(&Event)> Observer for Seen<F> {
    type Error = Infallible;

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        (self.0)(event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::Verdict;
    use super::*;
    use sim::scenario::file::Scenario;
    use sim::scenario::plan::Overrides;

    /// A medium that loses a frame shows in the books.
    #[test]
    fn a_station_that_does_not_add_up_is_found() {
        let two = Overrides::default().with("stations", 2).with("duration", "10ms");
        let plan = |_: &str| Plan::new(&Scenario::default(), None, &two, 1).expect("a plan");
        let options = Options { seed: 1, quick: true, only: "", plan: &plan, alter: &|_| (), go_on: &|_| true };
        let bench = Bench::new(&options);
        let mut run = bench.sim("--stations 2 --duration 10ms").expect("a valid medium");
        assert_eq!(bench.books().rows[0].verdict(), Verdict::Agrees);
        *run.results.stations[1].counters.get_mut("frames_transmitted_ok").expect("a counter") -= 1;
        bench.enter(&run.results);
        assert_eq!(bench.books().rows[0].verdict(), Verdict::Deviates);
    }
}
