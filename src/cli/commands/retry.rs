//! `ethbus retry`: delays of policies, tables of the literature, and a service to which many clients come back.

use super::{CommandError, Outcome, print_result};
use crate::cli::args::retry::{
    HerdArgs, HerdWhat, PictureArgs, RetryArgs, RetryCommand, RetryDelaysArgs, ServiceArgs, ServiceWhat, TipArgs,
};
use backoff::{BudgetLimits, RateLimits};
use retry_lab::delays::{self, Delay, Delays};
use retry_lab::herd::{self, Herd};
use retry_lab::published::Published;
use retry_lab::service::keys::{HERD, KEYS, key};
use retry_lab::service::{self, Class, Settings, Tips};
use retry_lab::{Named, NamedError, RunError};
use sim::scenario::file::ScenarioError;
use sim::scenario::wrong::meant;
use sim::words::units::{duration, duration_or_zero, per_second, whole};
use std::process::ExitCode;
use std::time::Duration;
use study::plot::PlotError;
use study::plot::axis::Axis;
use study::plot::data::{Figure, Point, Series};
use study::plot::picture::{Kind, write};
use study::sweep::values::{Value, values};

/// A bound farther away than this number of means is not drawn.
const FARTHEST: f64 = 100.0;
/// How long a herd is looked at after the outage.
const AFTERWARDS: Duration = Duration::from_secs(600);

/// Shows policies.
///
/// # Errors
/// Names that are no policies, options that make no service, output that cannot be written.
pub fn retry(args: &RetryArgs) -> Outcome {
    match &args.command {
        None => show_delays(&args.delays)?,
        Some(RetryCommand::Service(args)) => run_service(args)?,
        Some(RetryCommand::Tip(args)) => find_tips(args)?,
        Some(RetryCommand::Herd(args)) => run_herd(args)?,
        Some(RetryCommand::Published(args)) => print_result(args.written.format, &Published::new(), Published::table)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn named(policies: &[String]) -> Result<Vec<Named>, NamedError> {
    policies.iter().map(|text| Named::parse(text)).collect()
}

fn show_delays(args: &RetryDelaysArgs) -> Result<(), CommandError> {
    let comparison = delays::Comparison::new(&named(&args.of.policies)?, args.count, args.seeded.seed, args.within);
    let series = comparison.policies.iter().flat_map(|policy| lines(policy, args.picture.log_y)).collect();
    draw(&args.picture, args.seeded.seed, ("failures", "delay, s"), "bands: shortest to longest", series)?;
    print_result(args.written.format, &comparison, delays::Comparison::table)
}

/// Mean and bounds of a policy, and its sample.
fn lines(policy: &Delays, is_log: bool) -> [Series; 2] {
    let mean = |delay: &Delay| {
        let (above, below) = (delay.longest_s - delay.mean_s, delay.mean_s - delay.shortest_s);
        // A geometric delay has hardly a longest, and on a logarithmic axis 0 has no place.
        let has_band = above > 0.0 && above < FARTHEST * delay.mean_s && !(is_log && delay.shortest_s <= 0.0);
        let (half, below) = if has_band { (Some(above), Some(below)) } else { (None, None) };
        Point { x: delay.failures as f64, mean: delay.mean_s, half, below, seeds: 1 }
    };
    let sample = |delay: &Delay| {
        let sample = delay.sample_s.filter(|&sample| !is_log || sample > 0.0)?;
        Some(Point { x: delay.failures as f64, mean: sample, half: None, below: None, seeds: 1 })
    };
    let points = policy.delays.iter().filter(|delay| !is_log || delay.mean_s > 0.0);
    [
        Series { name: policy.policy.clone(), points: points.map(mean).collect(), is_curve: false },
        Series {
            name: format!("{}, sample", policy.policy),
            points: policy.delays.iter().filter_map(sample).collect(),
            is_curve: false,
        },
    ]
}

fn draw(args: &PictureArgs, seed: u64, (x, y): (&str, &str), note: &str, series: Vec<Series>) -> Result<(), PlotError> {
    let Some(path) = &args.plot else { return Ok(()) };
    let kind = Kind::of(path)?;
    let wrong = |what| PlotError::Option { option: "--plot".to_owned(), what };
    let points = || series.iter().flat_map(|series| &series.points);
    let places: Vec<f64> = points().map(|point| point.x).collect();
    let ends = points().flat_map(|point| {
        let above = point.half.unwrap_or(0.0);
        [point.mean - point.below.unwrap_or(above), point.mean + above]
    });
    let ends: Vec<f64> = ends.filter(|&end| !args.log_y || end > 0.0).collect();
    let axes = (Axis::along(&places, false).map_err(wrong)?, Axis::up(&ends, args.log_y).map_err(wrong)?);
    let figure = Figure {
        x_label: x.to_owned(),
        y_label: y.to_owned(),
        series,
        note: vec![note.to_owned()],
        ..Figure::default()
    };
    write(path, kind, &kind.picture(&figure, (&axes.0, &axes.1))?, &seed.to_string())
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// The herd that options describe.
fn herd_of(what: &HerdWhat, seed: u64) -> Result<Herd, RunError> {
    let capacity = value(what, "capacity", per_second)?.unwrap_or_default();
    let outage = value(what, "outage", duration)?.unwrap_or_default();
    let cooling_off = value(what, "cooling-off", duration)?.unwrap_or_default();
    let limits = |rate: f64| RateLimits::new(Duration::from_secs_f64(1.0 / rate)).with_cooling_off(cooling_off);
    let small = |text: &str| whole(text, 0, u32::MAX.into(), "1000").map(|number| number as u32);
    let budget = |text: &str| whole(text, 1, u32::MAX.into(), "10").map(|number| BudgetLimits::new(number as u32));
    Ok(Herd {
        clients: value(what, "clients", small)?.unwrap_or_default(),
        outage: nanos(outage),
        capacity,
        queue: value(what, "queue", small)?.unwrap_or(capacity.ceil() as u32),
        spread: nanos(value(what, "spread", duration_or_zero)?.unwrap_or_default()),
        retry_after: value(what, "retry-after", duration)?.map_or(0, nanos),
        budget: value(what, "budget", budget)?,
        rate: value(what, "rate", per_second)?.map(limits),
        classes: all(what, "class").map(|text| read("class", text, Class::parse)).collect::<Result<_, _>>()?,
        duration: nanos(value(what, "duration", duration)?.unwrap_or(outage.saturating_add(AFTERWARDS))),
        seed,
    })
}

fn all<'a>(what: &'a HerdWhat, name: &'a str) -> impl Iterator<Item = &'a str> {
    what.0.iter().filter(move |(given, _)| *given == name).map(|(_, text)| text.as_str())
}

fn read<T>(name: &str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, RunError> {
    read(text).map_err(|what| RunError::new(format!("--{name}"), what))
}

/// The value of a key of a herd, its default included; `none` is none.
fn value<T>(what: &HerdWhat, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, RunError> {
    let default = HERD.iter().find(|key| key.name == name).map_or("", |key| key.default);
    let text = all(what, name).last().unwrap_or(default);
    if text.is_empty() || text == "none" { Ok(None) } else { read(name, text, parse).map(Some) }
}

fn run_herd(args: &HerdArgs) -> Result<(), CommandError> {
    let herd = herd_of(&args.what, args.seeded.seed)?;
    let policies = named(&args.of.policies)?;
    let reports = policies.iter().map(|policy| herd.run(policy)).collect::<Result<Vec<_>, _>>()?;
    let line =
        |report: &herd::Report| over_time(report.policy.clone(), &report.requests_over_time, &args.picture, false);
    let lines = reports.iter().map(line).collect();
    draw(&args.picture, args.seeded.seed, ("time, s", "requests in 1 s"), "", lines)?;
    print_result(args.written.format, &herd::Comparison::new(&herd, reports), herd::Comparison::table)
}

/// A number a second as a line; on a logarithmic axis 0 has no place.
fn over_time(name: String, numbers: &[u64], picture: &PictureArgs, is_curve: bool) -> Series {
    let point = |(second, &number): (usize, &u64)| {
        let mean = number as f64;
        (!picture.log_y || number > 0).then_some(Point { x: second as f64, mean, half: None, below: None, seeds: 1 })
    };
    Series { name, points: numbers.iter().enumerate().filter_map(point).collect(), is_curve }
}

fn settings(what: &ServiceWhat) -> Result<Settings, ScenarioError> {
    Settings::read(what.file.as_deref(), &what.options, &what.policies)
}

fn run_service(args: &ServiceArgs) -> Result<(), CommandError> {
    let settings = settings(&args.what)?;
    let mut varied = vec![(String::new(), settings.clone())];
    for set in &args.grid.set {
        varied = with_values(set, &varied)?;
    }
    let mut runs = Vec::new();
    for (text, settings) in &varied {
        let service = settings.service().map_err(ScenarioError::Content)?;
        for policy in &settings.policies {
            runs.push(service::Outcome { varied: text.clone(), ..service.run(policy)? });
        }
    }
    let lines = runs.iter().flat_map(|run| {
        let line = |what, numbers| over_time(format!("{}, {what}", run.name()), numbers, &args.picture, true);
        [line("load", &run.requests_over_time), line("goodput", &run.served_over_time)]
    });
    let service = settings.service().map_err(ScenarioError::Content)?;
    let note = "requests, and operations that succeed";
    draw(&args.picture, service.seed, ("time, s", "in 1 s"), note, lines.collect())?;
    print_result(args.written.format, &service::Comparison::new(&service, runs), service::Comparison::table)
}

/// Each of the settings with each value of one more key.
fn with_values(set: &str, varied: &[(String, Settings)]) -> Result<Vec<(String, Settings)>, RunError> {
    let wrong = |what: String| RunError::new("--set", format!("`{set}`: {what}"));
    let (name, written) = set.split_once('=').ok_or_else(|| wrong("write it like `clients=10,100`".to_owned()))?;
    let names = || KEYS.iter().map(|key| key.name);
    let key = key(&name.trim().replace('_', "-")).ok_or_else(|| {
        let near =
            meant(name, names()).map_or_else(|| "known".to_owned(), |near| format!("did you mean `{near}`? Known"));
        wrong(format!("no such key: {near} here: {}", names().collect::<Vec<_>>().join(", ")))
    })?;
    let values = values(written).map_err(wrong)?;
    let each = |(text, settings): &(String, Settings)| {
        let space = if text.is_empty() { "" } else { " " };
        let with =
            |value: &Value| (format!("{text}{space}{}={value}", key.name), settings.with(key, &value.to_string()));
        values.iter().map(with).collect::<Vec<_>>()
    };
    Ok(varied.iter().flat_map(each).collect())
}

fn find_tips(args: &TipArgs) -> Result<(), CommandError> {
    let settings = settings(&args.what)?;
    let service = settings.service().map_err(ScenarioError::Content)?;
    let tips = settings.policies.iter().map(|policy| service.tip(policy, args.seeds)).collect::<Result<_, _>>()?;
    print_result(args.written.format, &Tips::new(&service, args.seeds, tips), Tips::table)
}
