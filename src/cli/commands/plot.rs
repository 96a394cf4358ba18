//! `ethbus plot`: figures of a sweep's table.

use super::Outcome;
use crate::cli::args::PlotArgs;
use crate::study::plot::PlotError;
use crate::study::plot::axis::Axis;
use crate::study::plot::data::{Figure, Table, Wanted};
use crate::study::plot::picture::{Kind, write};
use std::process::ExitCode;

/// Draws a figure.
///
/// # Errors
/// Columns or rows that the table does not have, a table that cannot be read, a picture that cannot be written.
pub fn plot(args: &PlotArgs) -> Outcome {
    let kind = Kind::of(&args.out)?;
    let only = args.only.iter().map(|text| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => Err(wrong("--where", format!("`{text}` chooses nothing: write it like `--where stations=10`"))),
    });
    let only = only.collect::<Result<_, _>>()?;
    let wanted = Wanted { x: args.x.clone(), y: args.y.clone(), by: args.by.clone(), only };
    let figure = Table::read(&args.table)?.figure(&wanted)?;
    let x = x_axis(&figure, args.log_x).map_err(|what| wrong(if args.log_x { "--log-x" } else { "--x" }, what))?;
    let y = y_axis(&figure, args.log_y).map_err(|what| wrong(if args.log_y { "--log-y" } else { "--y" }, what))?;
    write(&args.out, kind, &kind.picture(&figure, (&x, &y))?)?;
    Ok(ExitCode::SUCCESS)
}

fn wrong(option: &str, what: String) -> PlotError {
    PlotError::Option { option: option.to_owned(), what }
}

fn x_axis(figure: &Figure, is_log: bool) -> Result<Axis, String> {
    match &figure.names {
        Some(names) if is_log => Err(format!("{} and the others are no numbers", names[0])),
        Some(names) => Ok(Axis::names(names)),
        None => {
            let places: Vec<f64> =
                figure.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
            Axis::along(&places, is_log)
        }
    }
}

/// High enough for every point and, where that can be, its band.
fn y_axis(figure: &Figure, is_log: bool) -> Result<Axis, String> {
    let points = || figure.series.iter().flat_map(|series| series.points.iter().map(|point| (&series.name, point)));
    if let Some((name, point)) = points().find(|(_, point)| is_log && point.mean <= 0.0) {
        return Err(format!("{name}: {} has no place on a logarithmic axis", point.mean));
    }
    let ends = points().flat_map(|(_, point)| {
        let half = point.half.unwrap_or(0.0);
        let low = point.mean - half;
        [if is_log && low <= 0.0 { point.mean } else { low }, point.mean, point.mean + half]
    });
    Axis::up(&ends.collect::<Vec<_>>(), is_log)
}
