//! `ethbus plot`: figures of a sweep's table.

use super::validate::{plan, watched};
use super::{INTERRUPTED, Outcome};
use crate::cli::args::{PlotArgs, PlotAxis, PlotFigure, PlotUnit};
use clap::ValueEnum;
use say::program::program;
use say::say;
use std::path::Path;
use std::process::ExitCode;
use study::flow;
use study::literature::{self, Beside, FIGURES};
use study::plot::PlotError;
use study::plot::axis::Axis;
use study::plot::data::{Figure, Range, Table, Wanted, range};
use study::plot::labels::TimeUnit;
use study::plot::picture::{Kind, ready, write};
use study::sweep::again::command;
use study::sweep::enough::expected;
use study::sweep::manifest::Manifest;
use study::sweep::output::with_slash;

/// Draws a figure.
///
/// # Errors
/// Columns or rows that the table does not have, a table that cannot be read, a picture that cannot be written.
pub fn plot(args: &PlotArgs) -> Outcome {
    let kind = Kind::of(&args.picture.out)?;
    if let Some(figure) = args.figure {
        return draw_figure(args, figure, kind);
    }
    let (Some(table), Some(x)) = (&args.table, &args.x) else { panic!("clap requires a table and an x axis") };
    let only = args.only.iter().map(|text| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(wrong("--where", format!("`{text}` chooses nothing: write it like `--where stations=10`"))),
    });
    let only = only.collect::<Result<_, _>>()?;
    let ranges = ranges(&args.range).map_err(|what| wrong("--range", what))?;
    let (x, y, by) = (x.clone(), args.y.clone(), args.by.clone());
    let versus = args.versus.clone();
    let wanted = Wanted { x, y, by, versus, only, unit: unit(args.unit), title: args.title.clone(), ranges };
    ready(&args.picture.out, kind)?;
    let read = Table::read(table)?;
    let (rows, seeds) = (read.rows(), read.seeds());
    let figure = read.figure(&wanted)?;
    let [log_x, log_y] = [PlotAxis::X, PlotAxis::Y].map(|axis| args.log.contains(&axis));
    let option = |is_log: bool, plain| if is_log { "--log" } else { plain };
    let x = x_axis(&figure, log_x, ranges[0]).map_err(|what| wrong(option(log_x, "--x"), what))?;
    let y = y_axis(&figure, log_y, ranges[1]).map_err(|what| wrong(option(log_y, "--y"), what))?;
    write(&args.picture.out, kind, &kind.picture(&figure, (&x, &y))?, &seeds)?;
    say_missing(table, rows);
    Ok(ExitCode::SUCCESS)
}

/// The ends of the x and the y axis that options name.
fn ranges(texts: &[String]) -> Result<[Option<(f64, f64)>; 2], String> {
    let mut ranges = [None; 2];
    for text in texts {
        let (axis, ends) = text.split_once('=').unwrap_or_default();
        let number = ["x", "y"].into_iter().position(|name| name == axis);
        let number = number.ok_or_else(|| format!("`{text}` is of no axis: write `x=0..50` or `y=0..50`"))?;
        ranges[number] = Some(range(ends)?);
    }
    Ok(ranges)
}

/// Draws a figure of the literature, and says what its source says of it.
fn draw_figure(args: &PlotArgs, figure: PlotFigure, kind: Kind) -> Outcome {
    ready(&args.picture.out, kind)?;
    if figure == PlotFigure::CsmaCa {
        if kind != Kind::Svg {
            return Err(
                wrong("--figure csma-ca", "a flow chart is SVG: write a name that ends in .svg".to_owned()).into()
            );
        }
        write(&args.picture.out, kind, flow::svg().as_bytes(), "")?;
        return Ok(ExitCode::SUCCESS);
    }
    let value = figure.to_possible_value().expect("no figure is skipped");
    let figure = FIGURES.iter().find(|it| it.name == value.get_name()).expect("a figure for each name");
    let go_on = watched("running")?;
    let options = literature::Options { seed: args.seeded.seed, quick: args.quick.quick, plan: &plan, go_on: &go_on };
    let drawn = literature::figure(&options, figure);
    drop(go_on);
    let Some((chart, Beside { said, here, verdict })) = drawn else {
        say("ethbus: interrupted; no figure was written\n");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    write(&args.picture.out, kind, &chart.picture(kind)?, &args.seeded.seed.to_string())?;
    say(&format!(
        "ethbus: {}\n  the source says  {said}\n  here             {here}\n  verdict          {verdict}\n",
        figure.source
    ));
    Ok(ExitCode::SUCCESS)
}

/// Says which runs are not in the figure, if the sweep that the table is of was interrupted. A table of somebody else's has no
/// manifest beside it.
fn say_missing(table: &Path, rows: u64) {
    let table = &with_slash(table);
    let Ok(Some(manifest)) = Manifest::read(table) else { return };
    let Ok(runs) = expected(table, &manifest) else { return };
    if rows < runs {
        say(&format!(
            "ethbus: warning: {} has {rows} of the {runs} runs of its sweep, and the figure has no more. The rest:\n  {}\n",
            table.display(),
            command(&program(), &manifest, table, manifest.part())
        ));
    }
}

fn unit(unit: PlotUnit) -> TimeUnit {
    match unit {
        PlotUnit::Bt => TimeUnit::BitTimes,
        PlotUnit::Ns => TimeUnit::Nanoseconds,
        PlotUnit::Us => TimeUnit::Microseconds,
        PlotUnit::Ms => TimeUnit::Milliseconds,
        PlotUnit::S => TimeUnit::Seconds,
    }
}

fn wrong(option: &str, what: String) -> PlotError {
    PlotError::Option { option: option.to_owned(), what }
}

fn x_axis(figure: &Figure, is_log: bool, range: Option<Range>) -> Result<Axis, String> {
    match (&figure.names, range) {
        (Some(names), _) if is_log => Err(format!("{} and the others are no numbers", names[0])),
        (Some(names), _) => Ok(Axis::names(names)),
        (None, Some(range)) => Axis::between(range, is_log),
        (None, None) => {
            let places: Vec<f64> =
                figure.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
            Axis::along(&places, is_log)
        }
    }
}

/// High enough for every point and, where that can be, its band.
fn y_axis(figure: &Figure, is_log: bool, range: Option<Range>) -> Result<Axis, String> {
    if let Some(range) = range {
        return Axis::between(range, is_log);
    }
    let points = || figure.series.iter().flat_map(|series| series.points.iter().map(|point| (&series.name, point)));
    if let Some((name, point)) = points().find(|(_, point)| is_log && point.mean <= 0.0) {
        return Err(format!("{name}: {} has no place on a logarithmic axis", point.mean));
    }
    let ends = points().flat_map(|(_, point)| {
        let (low, high) = point.ends().unwrap_or((point.mean, point.mean));
        let (least, most) = figure.possible.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        [if is_log && low <= 0.0 { point.mean } else { low.max(least) }, point.mean, high.min(most)]
    });
    Axis::up(&ends.collect::<Vec<_>>(), is_log)
}
