//! The story of backoff, run: who thought of what, the formula, our simulation over it, and the command that repeats it.
//!
//! A chapter names its runs, and tells a page's section from what they gave. All runs of all chapters share one pool.

mod aloha;
mod clients;
mod ethernet;
mod life;
mod literature;
mod sensing;
mod stability;
mod wireless;

use super::page::Chart;
use super::page::{Page, Part, Section};
use super::plot::PlotError;
use life::{LifeError, picture};
use medium::{BitTimes, Event, Kind};
use sim::figures::row::{Value, columns};
use sim::run::measure::{self, RunError};
use sim::run::observer::Observer;
use sim::run::pool::{self, Stop};
use sim::scenario::plan::Plan;
use sim::words::configuration::slot;
use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use literature::{Beside, FIGURES};

/// How to tell the story.
pub struct Options<'a> {
    /// Seed of every run, but where several seeds are shown.
    pub seed: u64,
    /// Shorter runs.
    pub quick: bool,
    /// Only the sections whose title has this in it, whatever the case; all if empty.
    pub only: &'a str,
    /// The plan of a command, as `ethbus sim` itself makes it.
    pub plan: &'a (dyn Fn(&str) -> Plan + Sync),
    /// Gets the part that is done; returns whether to continue.
    pub go_on: &'a (dyn Fn(f64) -> bool + Sync),
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoryError {
    /// The user stopped it.
    #[error("interrupted")]
    Interrupted,
    /// A figure cannot be drawn.
    #[error(transparent)]
    Draw(#[from] PlotError),
    /// A frame's life cannot be drawn.
    #[error("`{command}`: {source}; choose another --seed")]
    Life {
        /// The run.
        command: String,
        /// Why.
        source: LifeError,
    },
}

/// A section before it is run.
struct Chapter {
    id: &'static str,
    title: &'static str,
    source: &'static str,
    runs: Vec<Job>,
    tell: fn(&[Ran], bool) -> Result<Vec<Part>, PlotError>,
}

/// A run of `ethbus sim`, by its arguments.
struct Job {
    arguments: String,
    /// Another seed than the story's, added to it.
    seed: u64,
    watch: Watch,
}

/// What is looked at besides the results.
#[derive(Clone, Copy)]
enum Watch {
    Nothing,
    /// The backlog, once in this number of slots.
    Backlog(u64),
    /// When the backlog is above this for the first time; the run ends then.
    Exit(f64),
    /// The life of the first frame that matches, in the words of `ethbus explain --pick`; no figures.
    Life(&'static str),
}

/// What a run gave.
struct Ran {
    command: String,
    figures: HashMap<String, f64>,
    /// Slots and backlogs.
    backlog: Vec<(f64, f64)>,
    exit_slots: Option<f64>,
    /// A frame's life as a picture, and the command that draws it.
    life: Option<(String, String)>,
}

impl Job {
    fn new(arguments: String) -> Job {
        Job { arguments, seed: 0, watch: Watch::Nothing }
    }

    /// A short run whose first frame that matches `pick` is drawn.
    fn life(arguments: &str, pick: &'static str) -> Job {
        let arguments = format!("{arguments} --warmup 0s --duration 1s");
        Job { arguments, seed: 0, watch: Watch::Life(pick) }
    }

    fn run(&self, options: &Options, goes_on: &dyn Fn() -> bool) -> Result<Ran, StoryError> {
        let command = format!("ethbus sim {} --seed {}", self.arguments, options.seed + self.seed);
        let plan = (options.plan)(&command);
        if let Watch::Life(pick) = self.watch {
            let command = format!("{command} --events run.events");
            return match picture(&plan, pick) {
                Ok(life) => {
                    let (figures, backlog) = (HashMap::new(), Vec::new());
                    Ok(Ran { command, figures, backlog, exit_slots: None, life: Some(life) })
                }
                Err(source) => Err(StoryError::Life { command, source }),
            };
        }
        let slot = slot(&plan.medium.method).map_or(1, BitTimes::get);
        let is_out = Cell::new(false);
        let (watch, samples) = (self.watch, Vec::new());
        let mut watcher = Watcher { watch, slot, backlog: 0, samples, exit: None, is_out: &is_out };
        let measured = measure::run(&plan, plan.medium.seed, &mut watcher, |_| !is_out.get() && goes_on());
        let measured = measured.unwrap_or_else(|error| match error {
            RunError::Config(error) => panic!("{command}: {error}"),
            RunError::Traffic(error) => panic!("{command}: {error}"),
            RunError::Observer(never) => match never {},
        });
        let results = measure::results(&plan, &[measured]);
        let number = |value: Value| value.number();
        let mut figures: HashMap<String, f64> =
            columns(&results).into_iter().filter_map(|(name, value)| Some((name, number(value)?))).collect();
        let collided = results.medium.collision_frames.len() as f64;
        figures.insert("attempt_places".to_owned(), collided);
        Ok(Ran { command, figures, backlog: watcher.samples, exit_slots: watcher.exit, life: None })
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
    watch: Watch,
    slot: u64,
    backlog: u64,
    samples: Vec<(f64, f64)>,
    exit: Option<f64>,
    /// Nothing more is to be seen: a channel that has run away takes ever longer.
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
        let (slots, backlog) = (event.at.get() as f64 / self.slot as f64, self.backlog as f64);
        match self.watch {
            Watch::Nothing | Watch::Life(_) => {}
            Watch::Backlog(every) => {
                if self.samples.last().is_none_or(|(last, _)| slots >= last + every as f64) {
                    self.samples.push((slots, backlog));
                }
            }
            Watch::Exit(above) => {
                if backlog > above {
                    self.exit.get_or_insert(slots);
                    self.is_out.set(true);
                }
            }
        }
        Ok(())
    }
}

fn chapters(quick: bool) -> Vec<Chapter> {
    vec![
        aloha::abramson(quick),
        aloha::roberts(quick),
        aloha::kleinrock_lam(quick),
        stability::lam(quick),
        stability::infinite(quick),
        literature::chapter(quick),
        stability::rcp(quick),
        stability::beb(quick),
        sensing::own_slots(quick),
        sensing::kleinrock_tobagi(quick),
        ethernet::metcalfe_boggs(quick),
        ethernet::why_random(quick),
        ethernet::truncation(quick),
        ethernet::capture(quick),
        wireless::bianchi(quick),
        wireless::hidden(quick),
        clients::herd(quick),
        clients::overload(quick),
    ]
}

/// The titles of all sections.
pub fn titles() -> Vec<&'static str> {
    chapters(true).iter().map(|chapter| chapter.title).collect()
}

/// Runs what is wanted of the story.
///
/// # Errors
/// The run was interrupted, or a figure cannot be drawn.
pub fn run(options: &Options) -> Result<Page, StoryError> {
    let wanted = |chapter: &Chapter| chapter.title.to_lowercase().contains(&options.only.to_lowercase());
    let chapters: Vec<Chapter> = chapters(options.quick).into_iter().filter(wanted).collect();
    let jobs: Vec<&Job> = chapters.iter().flat_map(|chapter| &chapter.runs).collect();
    let mut rest = run_all(options, &jobs)?;
    let mut sections = Vec::new();
    for chapter in &chapters {
        let later = rest.split_off(chapter.runs.len());
        let parts = (chapter.tell)(&rest, options.quick)?;
        let (id, title, source) = (chapter.id.to_owned(), chapter.title.to_owned(), chapter.source.to_owned());
        sections.push(Section { id, title, source, parts });
        rest = later;
    }
    Ok(page(options, sections))
}

/// A figure of the literature by its name, drawn from runs of its own, and what its source says of it.
///
/// # Errors
/// The run was interrupted.
pub fn figure(options: &Options, name: &str) -> Result<Option<(Chart, Beside)>, StoryError> {
    let Some(figure) = FIGURES.iter().find(|figure| figure.name == name) else { return Ok(None) };
    let jobs = figure.runs(options.quick);
    let runs = run_all(options, &jobs.iter().collect::<Vec<_>>())?;
    Ok(Some(figure.drawn(&runs)))
}

/// Runs `jobs` on as many threads as there are processors.
fn run_all(options: &Options, jobs: &[&Job]) -> Result<Vec<Ran>, StoryError> {
    let finished = AtomicUsize::new(0);
    let one = |number: usize, _: &Stop| {
        let so_far = || finished.load(Ordering::Relaxed) as f64 / jobs.len() as f64;
        let ran = jobs[number].run(options, &|| (options.go_on)(so_far()))?;
        if !(options.go_on)(so_far()) {
            return Ok(None);
        }
        finished.fetch_add(1, Ordering::Relaxed);
        Ok::<_, StoryError>(Some(ran))
    };
    let done = pool::run(jobs.len(), pool::processors(), one)?;
    if done.len() < jobs.len() {
        return Err(StoryError::Interrupted);
    }
    Ok(done.into_iter().map(|(_, ran)| ran).collect())
}

fn page(options: &Options, sections: Vec<Section>) -> Page {
    let quick = if options.quick { " --quick" } else { "" };
    let lead = [
        "Stations that share a medium must find out who sends next. This page tells how people learnt to do that: what \
         somebody thought of, the formula, and a simulation over it. Lines are formulas where the legend says so; points \
         are runs of ethbus, and bars and bands are 95 % intervals."
            .to_owned(),
        format!("Everything here was computed by ethbus {} with `ethbus story{quick} --seed {}`. The command under each \
                 figure repeats a point of it, digit for digit.", env!("CARGO_PKG_VERSION"), options.seed),
    ];
    Page { title: "Backoff: a story in runs".to_owned(), lead: lead.into(), sections }
}

/// Evenly spaced numbers, both ends included.
fn along(from: f64, to: f64, count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |step| from + (to - from) * f64::from(step) / f64::from(count - 1))
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn formula(text: &str) -> Part {
    Part::Formula(text.to_owned())
}

/// A frame's life, what it shows, and its commands.
fn life(ran: &Ran, caption: &str) -> [Part; 2] {
    let (svg, explain) = ran.life.clone().unwrap_or_default();
    [Part::Picture { svg, caption: caption.to_owned() }, Part::Commands(vec![ran.command.clone(), explain])]
}

/// The command of one run.
fn command(ran: &Ran) -> Part {
    Part::Commands(vec![ran.command.clone()])
}
