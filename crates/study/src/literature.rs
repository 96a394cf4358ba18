//! Figures of the literature, drawn again: the formula, simulated points on it, and what the source says beside what is here.

mod lam;

use super::plot::chart::Chart;
use medium::{Event, Kind};
use sim::figures::row::{Value, columns};
use sim::run::measure::{self, RunError};
use sim::run::observer::Observer;
use sim::run::pool::{self, Stop};
use sim::scenario::plan::Plan;
use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use lam::FIGURES;

/// A figure, its runs, and its verdict.
pub struct Literature {
    /// What `ethbus plot --figure` calls it.
    pub name: &'static str,
    /// Where it is.
    pub source: &'static str,
    runs: fn(bool) -> Vec<Job>,
    chart: fn(&[Ran]) -> Chart,
    beside: fn(&[Ran]) -> Beside,
}

/// A figure as its source describes it, beside the one computed here.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What the source says.
    pub said: &'static str,
    /// What is computed here.
    pub here: String,
    /// Whether both agree.
    pub verdict: &'static str,
}

/// How to draw a figure.
pub struct Options<'a> {
    /// Seed of every run, but where several seeds are shown.
    pub seed: u64,
    /// Shorter runs.
    pub quick: bool,
    /// The plan of a command, as `ethbus sim` itself makes it.
    pub plan: &'a (dyn Fn(&str) -> Plan + Sync),
    /// Gets the part that is done; returns whether to continue.
    pub go_on: &'a (dyn Fn(f64) -> bool + Sync),
}

/// A run of `ethbus sim`, by its arguments.
struct Job {
    arguments: String,
    /// Another seed than that of the options, added to it.
    seed: u64,
    /// The run ends when the backlog is above this.
    exit: Option<f64>,
}

/// What a run gave.
struct Ran {
    figures: HashMap<String, f64>,
    /// The backlog was above [`Job::exit`].
    is_out: bool,
}

impl Job {
    fn run(&self, options: &Options, goes_on: &dyn Fn() -> bool) -> Ran {
        let command = format!("ethbus sim {} --seed {}", self.arguments, options.seed + self.seed);
        let plan = (options.plan)(&command);
        let is_out = Cell::new(false);
        let mut watcher = Watcher { exit: self.exit.unwrap_or(f64::INFINITY), backlog: 0, is_out: &is_out };
        let measured = measure::run(&plan, plan.medium.seed, &mut watcher, |_| !is_out.get() && goes_on());
        let measured = measured.unwrap_or_else(|error| match error {
            RunError::Config(error) => panic!("{command}: {error}"),
            RunError::Traffic(error) => panic!("{command}: {error}"),
            RunError::Observer(never) => match never {},
        });
        let results = measure::results(&plan, &[measured]);
        let number = |value: Value| value.number();
        let figures = columns(&results).into_iter().filter_map(|(name, value)| Some((name, number(value)?)));
        Ran { figures: figures.collect(), is_out: is_out.get() }
    }
}

impl Ran {
    /// A figure under its column's name; not a number if there is none.
    fn figure(&self, name: &str) -> f64 {
        self.figures.get(name).copied().unwrap_or(f64::NAN)
    }

    /// A measured point: where, how much, and the half-width of its interval.
    fn point(&self, x: f64, name: &str) -> (f64, f64, f64) {
        let half = self.figures.get(&format!("ci95_{name}")).copied().unwrap_or(0.0);
        (x, self.figure(name), half)
    }
}

/// Watches the backlog: frames that were sent in vain and are to be sent again.
struct Watcher<'a> {
    exit: f64,
    backlog: u64,
    /// Ends the run: a channel that has run away has nothing more to show, and takes ever longer.
    is_out: &'a Cell<bool>,
}

impl Observer for Watcher<'_> {
    type Error = Infallible;

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        match event.kind {
            Kind::Backoff { attempt: 1, .. } => self.backlog += 1,
            Kind::Transmitted { attempts: 2.., .. } | Kind::Discarded { attempts: 2.., .. } => self.backlog -= 1,
            _ => return Ok(()),
        }
        if self.backlog as f64 > self.exit {
            self.is_out.set(true);
        }
        Ok(())
    }
}

/// A figure by its name, drawn from runs of its own on as many threads as there are processors, and what its source says of
/// it; none if it was interrupted.
pub fn figure(options: &Options, figure: &Literature) -> Option<(Chart, Beside)> {
    let jobs = (figure.runs)(options.quick);
    let finished = AtomicUsize::new(0);
    let one = |number: usize, _: &Stop| {
        let so_far = || finished.load(Ordering::Relaxed) as f64 / jobs.len() as f64;
        let ran = jobs[number].run(options, &|| (options.go_on)(so_far()));
        let goes_on = (options.go_on)(so_far());
        finished.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(goes_on.then_some(ran))
    };
    let done = pool::run(jobs.len(), pool::processors(), one).unwrap_or_else(|never| match never {});
    let runs: Vec<Ran> = done.into_iter().map(|(_, ran)| ran).collect();
    (runs.len() == jobs.len()).then(|| ((figure.chart)(&runs), (figure.beside)(&runs)))
}
