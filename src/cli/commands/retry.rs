//! `ethbus retry`: delays of policies, tables of the literature, and a service to which many clients come back.

use super::{CommandError, Outcome, print_result};
use crate::cli::args::retry::{HerdArgs, PictureArgs, RetryArgs, RetryCommand, RetryDelaysArgs};
use crate::study::plot::PlotError;
use crate::study::plot::axis::Axis;
use crate::study::plot::data::{Figure, Point, Series};
use crate::study::plot::picture::{Kind, write};
use crate::study::retry::delays::{self, Delay, Delays};
use crate::study::retry::herd::{self, Class, Herd};
use crate::study::retry::published::Published;
use crate::study::retry::{Named, NamedError};
use backoff::{BudgetLimits, RateLimits};
use std::process::ExitCode;
use std::time::Duration;

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
        Some(RetryCommand::Herd(args)) => run_herd(args)?,
        Some(RetryCommand::Published(args)) => print_result(args.format, &Published::new(), Published::table)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn named(policies: &[String]) -> Result<Vec<Named>, NamedError> {
    policies.iter().map(|text| Named::parse(text)).collect()
}

fn show_delays(args: &RetryDelaysArgs) -> Result<(), CommandError> {
    let comparison = delays::Comparison::new(&named(&args.policies)?, args.count, args.seed);
    let series = comparison.policies.iter().flat_map(|policy| lines(policy, args.picture.log_y)).collect();
    draw(&args.picture, "failures", "delay, s", "bands: shortest to longest", series)?;
    print_result(args.format, &comparison, delays::Comparison::table)
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

fn draw(args: &PictureArgs, x: &str, y: &str, note: &str, series: Vec<Series>) -> Result<(), PlotError> {
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
        names: None,
        y_label: y.to_owned(),
        title: None,
        legend: None,
        series,
        marks: Vec::new(),
        note: vec![note.to_owned()],
    };
    write(path, kind, &kind.picture(&figure, (&axes.0, &axes.1))?)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn run_herd(args: &HerdArgs) -> Result<(), CommandError> {
    let classes = args.class.iter();
    let herd = Herd {
        clients: args.clients,
        outage: nanos(args.outage),
        capacity: args.capacity,
        queue: args.queue.unwrap_or(args.capacity.ceil() as u32),
        spread: nanos(args.spread),
        retry_after: args.retry_after.map_or(0, nanos),
        budget: args.budget.map(BudgetLimits::new),
        rate: args
            .rate
            .map(|rate| RateLimits::new(Duration::from_secs_f64(1.0 / rate)).with_cooling_off(args.cooling_off)),
        classes: classes
            .map(|class| Class { name: class.name.clone(), percent: class.percent, priority: class.priority })
            .collect(),
        duration: nanos(args.duration.unwrap_or(args.outage.saturating_add(AFTERWARDS))),
        seed: args.seed,
    };
    let policies = named(&args.policies)?;
    let reports = policies.iter().map(|policy| herd.run(policy)).collect::<Result<Vec<_>, _>>()?;
    let line = |report: &herd::Report| {
        let point = |(second, &requests): (usize, &u64)| {
            let requests = requests as f64;
            (!args.picture.log_y || requests > 0.0).then_some(Point {
                x: second as f64,
                mean: requests,
                half: None,
                below: None,
                seeds: 1,
            })
        };
        let points = report.requests_over_time.iter().enumerate().filter_map(point).collect();
        Series { name: report.policy.clone(), points, is_curve: false }
    };
    draw(&args.picture, "time, s", "requests in 1 s", "", reports.iter().map(line).collect())?;
    print_result(args.format, &herd::Comparison::new(&herd, reports), herd::Comparison::table)
}
