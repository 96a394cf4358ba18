//! Known figures beside measured ones: what `ethbus theory check` runs and judges. See docs/validation.md.
//!
//! A check is a run of `ethbus sim` or of the medium alone, and the rows that it gives. What a row expects is worked out
//! from the standard's values or from a paper, and never from the medium that is run: so a medium that is wrong shows.

mod access;
mod backoff;
mod bench;
mod capture;
mod contention;
mod csma_ca;
mod efficiency;
mod plca;
mod published;
mod queueing;
mod rates;
mod row;
mod two_stations;
mod view;

pub use bench::{Options, ValidateError};
pub use row::{Expected, Explained, HALF_WIDTHS, Row, Verdict};
pub use view::table;

use bench::Bench;
use serde::Serialize;
use sim::run::pool::{self, Stop};
use std::sync::atomic::{AtomicUsize, Ordering};

/// One run, and the rows that it gives.
type Check = Box<dyn Fn(&Bench) -> Result<Vec<Row>, ValidateError> + Send + Sync>;

/// Checks that belong together.
struct Topic {
    title: &'static str,
    source: &'static str,
    about: &'static str,
    checks: Vec<Check>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// The title of the topic.
    pub title: &'static str,
    /// Clause or paper that the expected figures come from.
    pub source: &'static str,
    /// What was done, and how to read it.
    pub about: &'static str,
    /// Expected and measured, side by side.
    pub rows: Vec<Row>,
}

/// What a validation gave.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this form.
    pub version: u32,
    /// Seed of every run.
    pub seed: u64,
    /// Shorter runs, fewer rows.
    pub quick: bool,
    /// The rows, by topic.
    pub sections: Vec<Section>,
    /// How many rows agree.
    pub agree: usize,
    /// How many deviate as their explanation says.
    pub explained: usize,
    /// How many deviate, and nothing explains it.
    pub unexplained: usize,
}

/// Version of a report's form.
const VERSION: u32 = 1;

/// Runs every check, on as many threads as there are processors.
///
/// # Errors
/// The run was interrupted, or [`Options::alter`] made a medium that cannot be.
pub fn run(options: &Options) -> Result<Report, ValidateError> {
    let bench = Bench::new(options);
    let wanted = |topic: &Topic| topic.title.to_lowercase().contains(&options.only.to_lowercase());
    let topics: Vec<Topic> = topics(options.quick).into_iter().filter(wanted).collect();
    let checks: Vec<(usize, &Check)> = topics
        .iter()
        .enumerate()
        .flat_map(|(index, topic)| topic.checks.iter().map(move |check| (index, check)))
        .collect();
    let finished = AtomicUsize::new(0);
    let one = |number: usize, _: &Stop| {
        let (topic, check) = checks[number];
        let rows = check(&bench)?;
        let part = (finished.fetch_add(1, Ordering::Relaxed) + 1) as f64 / checks.len() as f64;
        let goes_on = (options.go_on)(part) || part == 1.0;
        Ok::<_, ValidateError>(goes_on.then_some((topic, rows)))
    };
    let done = pool::run(checks.len(), pool::processors(), one)?;
    if done.len() < checks.len() {
        return Err(ValidateError::Interrupted);
    }
    let mut sections: Vec<Section> = topics.iter().map(Section::empty).collect();
    for (_, (topic, rows)) in done {
        sections[topic].rows.extend(rows);
    }
    if !sections.is_empty() {
        sections.push(bench.books());
    }
    Ok(Report::new(options, sections))
}

/// The titles of all topics.
pub fn titles() -> Vec<&'static str> {
    topics(true).iter().map(|topic| topic.title).collect()
}

/// Every topic, in the order in which they are shown.
fn topics(quick: bool) -> Vec<Topic> {
    vec![
        rates::topic(),
        backoff::topic(),
        contention::topic(),
        capture::topic(),
        two_stations::topic(),
        efficiency::first_ethernet(quick),
        efficiency::slotted(quick),
        efficiency::ieee_802_3(quick),
        queueing::topic(),
        access::aloha(),
        access::csma(),
        csma_ca::topic(),
        published::of_one_sender(),
        plca::topic(),
        published::topic(),
    ]
}

impl Section {
    fn empty(topic: &Topic) -> Section {
        Section { title: topic.title, source: topic.source, about: topic.about, rows: Vec::new() }
    }
}

impl Report {
    fn new(options: &Options, sections: Vec<Section>) -> Report {
        let count = |wanted: fn(&Verdict) -> bool| {
            sections.iter().flat_map(|section| &section.rows).filter(|row| wanted(&row.verdict())).count()
        };
        Report {
            version: VERSION,
            seed: options.seed,
            quick: options.quick,
            agree: count(|verdict| *verdict == Verdict::Agrees),
            explained: count(|verdict| matches!(verdict, Verdict::Explained(_))),
            unexplained: count(|verdict| *verdict == Verdict::Deviates),
            sections,
        }
    }
}
