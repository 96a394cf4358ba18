//! A table's rows as series of points: means over seeds, each with the half-width of its 95 % interval.

use super::labels::{self, Label, TimeUnit, common, label};
use super::looks::Looks;
use super::{PlotError, unread};
use crate::sweep::manifest::Manifest;
use crate::sweep::output::{Rows, TableError};
use sim::figures::intervals::{BELOW, half_width};
use sim::files::json_lines::WithLines;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What is to be drawn.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Column of the x axis.
    pub x: String,
    /// Columns of the y axis.
    pub y: Vec<String>,
    /// Column that tells lines apart.
    pub by: Option<String>,
    /// The line, by its value of `by`, from which the others' differences are drawn, seed by seed.
    pub versus: Option<String>,
    /// Columns and the value that rows must have there.
    pub only: Vec<(String, String)>,
    /// The unit in which delays are shown.
    pub unit: TimeUnit,
    /// The title above the figure.
    pub title: Option<String>,
    /// Points beyond are left out.
    pub ranges: [Option<Range>; 2],
}

/// From one number to another along an axis.
pub type Range = (f64, f64);

/// Reads a range like `0..0.5`.
///
/// # Errors
/// No two numbers, the first of which is the lower one.
pub fn range(text: &str) -> Result<Range, String> {
    let ends =
        text.split_once("..").and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    let ends = ends.filter(|(low, high): &Range| low < high && low.is_finite() && high.is_finite());
    ends.ok_or_else(|| format!("`{text}` is no range: write the lower and the higher end like `0..0.5`"))
}

/// A figure's content.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// The x axis's label.
    pub x_label: String,
    /// Names along the x axis, if its values are no numbers: then x counts them from 0.
    pub names: Option<Vec<String>>,
    /// The y axis's label.
    pub y_label: String,
    /// The title above it.
    pub title: Option<String>,
    /// What the legend is of.
    pub legend: Option<String>,
    /// The lines.
    pub series: Vec<Series>,
    /// Places along the x axis at which something changed.
    pub marks: Vec<f64>,
    /// How points and bands came about, and what changed.
    pub note: Vec<String>,
    /// What tells series apart.
    pub looks: Looks,
    /// Between which values the quantity along y can be, as far as that is known.
    pub possible: Option<Range>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by rising x.
    pub points: Vec<Point>,
    /// It is a curve, whose points are not marked.
    pub is_curve: bool,
}

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The mean over seeds.
    pub mean: f64,
    /// Half of its 95 % interval, if there is one; if the halves differ, the upper one.
    pub half: Option<f64>,
    /// The lower half, if it is another.
    pub below: Option<f64>,
    /// How many seeds the mean is of.
    pub seeds: usize,
}

impl Point {
    /// The ends of its interval, if it has one.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.half.map(|half| (self.mean - self.below.unwrap_or(half), self.mean + half))
    }
}

/// What is along the x axis.
enum Along<'a> {
    /// A key: each of its values has a place.
    Key { column: usize, places: BTreeMap<&'a str, f64> },
    /// A metric: the runs with the same keys are one point, at its mean.
    Metric { column: usize, keys: Vec<usize> },
}

/// Runs that are one point.
struct Sample<'a> {
    /// What they have in common.
    id: Vec<&'a str>,
    x: Vec<f64>,
    y: Vec<f64>,
    own: Option<f64>,
    below: Option<f64>,
}

/// The runs from which others' differences are drawn, by place along x and seed.
struct Base<'a> {
    seed: usize,
    x: usize,
    of: HashMap<(&'a str, &'a str), f64>,
}

impl Base<'_> {
    /// The same run's of this line; none if there is none, or the row is of this line.
    fn of(&self, row: &csv::StringRecord) -> Option<f64> {
        self.of.get(&(&row[self.x], &row[self.seed])).copied()
    }
}

/// A table that was read.
#[derive(Clone, Debug)]
pub struct Table {
    path: PathBuf,
    names: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl Table {
    /// Reads a table of `ethbus sweep`.
    ///
    /// # Errors
    /// The file cannot be read, or is no CSV.
    pub fn read(path: &Path) -> Result<Table, PlotError> {
        #[cfg(feature = "parquet")]
        if path.is_dir() {
            let (names, rows) = crate::sweep::folder::read(path)?;
            return Ok(Table { path: path.to_owned(), names, rows });
        }
        // Another program's CSV has no manifest beside it.
        if let Some(manifest) = Manifest::read(path).map_err(TableError::from)? {
            Rows::read(path, &manifest)?.check(path, &manifest)?;
        }
        let file = File::open(path).map_err(|source| PlotError::Read { path: path.to_owned(), source })?;
        let wrong = |error| unread(path, error);
        let mut reader = csv::Reader::from_reader(WithLines::new(file));
        let names = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
        let rows = reader.into_records().collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Table { path: path.to_owned(), names, rows })
    }

    /// How many rows it has.
    pub fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The seeds of its runs, as text.
    pub fn seeds(&self) -> String {
        let seed = self.names.iter().position(|known| known == "seed");
        seed.map_or(String::new(), |seed| distinct(self.rows.iter().map(|row| &row[seed])).join(", "))
    }

    fn column(&self, option: &str, name: &str) -> Result<usize, PlotError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            if self.names.is_empty() {
                let what = format!("{} is empty: no run of its sweep has ended yet", self.path.display());
                return PlotError::option(option, what);
            }
            let names = self.names.join(", ");
            PlotError::option(option, format!("{} has no column `{name}`: it has {names}", self.path.display()))
        })
    }

    /// The number in a field, times of bits in `unit`; none if it is empty or no finite number.
    fn number(&self, row: &csv::StringRecord, column: usize, unit: TimeUnit) -> Result<Option<f64>, PlotError> {
        let scale = if unit != TimeUnit::BitTimes && label(&self.names[column]).unit == "BT" {
            let rate = self.column("--unit", "rate_bits_per_second")?;
            self.number(row, rate, TimeUnit::BitTimes)?.map_or(f64::NAN, |rate| unit.per_second() / rate)
        } else {
            1.0
        };
        let value = &row[column];
        if value.is_empty() {
            return Ok(None);
        }
        let number: f64 = value.parse().map_err(|_| PlotError::Field {
            path: self.path.clone(),
            line: row.position().map_or(0, csv::Position::line),
            column: self.names[column].clone(),
            value: value.to_owned(),
        })?;
        Ok(Some(number * scale).filter(|number| number.is_finite()))
    }

    /// The rows that are wanted.
    fn only(&mut self, only: &[(String, String)]) -> Result<(), PlotError> {
        for (name, value) in only {
            let column = self.column("--where", name)?;
            let there = distinct(self.rows.iter().map(|row| &row[column])).join(", ");
            self.rows.retain(|row| &row[column] == value.as_str());
            if self.rows.is_empty() {
                return Err(PlotError::option("--where", format!("no row has {name} = {value}: there are {there}")));
            }
        }
        if self.rows.is_empty() {
            return Err(PlotError::option("--x", format!("{} has no rows", self.path.display())));
        }
        Ok(())
    }

    /// Keys other than the lines' that differ between rows, each with its values.
    fn varying(&self, wanted: &Wanted) -> Vec<(usize, Vec<&str>)> {
        let is_other = |name: &String| is_key(name) && *name != wanted.x && wanted.by.as_ref() != Some(name);
        let columns = self.names.iter().enumerate().filter(|(_, name)| is_other(name)).map(|(column, _)| column);
        let values = columns.map(|column| (column, distinct(self.rows.iter().map(|row| &row[column]))));
        values.filter(|(column, values)| values.len() > 1 && !self.follows(*column, wanted)).collect()
    }

    /// Whether the key in `column` has one value at each point: it follows from those along x and in the legend.
    fn follows(&self, column: usize, wanted: &Wanted) -> bool {
        if is_metric(&wanted.x) {
            return false;
        }
        let place = |name: &String| self.names.iter().position(|known| known == name);
        let (x, by) = (place(&wanted.x), wanted.by.as_ref().and_then(place));
        let mut there: HashMap<[Option<&str>; 2], &str> = HashMap::new();
        let mut rows = self.rows.iter();
        rows.all(|row| *there.entry([x, by].map(|at| at.map(|at| &row[at]))).or_insert(&row[column]) == &row[column])
    }

    /// What the line `versus` has at each place along x, with each seed.
    fn base(&self, wanted: &Wanted, by: Option<usize>, x: usize, y: usize) -> Result<Option<Base<'_>>, PlotError> {
        let Some(versus) = &wanted.versus else { return Ok(None) };
        let Some(by) = by.filter(|_| !is_metric(&wanted.x)) else {
            let what = "differences are between lines over a key: give --by, and a key to --x".to_owned();
            return Err(PlotError::option("--versus", what));
        };
        let seed = self.column("--versus", "seed")?;
        let mut base = Base { seed, x, of: HashMap::new() };
        for row in self.rows.iter().filter(|row| row[by] == **versus) {
            if let Some(value) = self.number(row, y, wanted.unit)? {
                base.of.insert((&row[x], &row[seed]), value);
            }
        }
        if base.of.is_empty() {
            let there = distinct(self.rows.iter().map(|row| &row[by])).join(", ");
            let what = format!("no row has {} = {versus}: there are {there}", self.names[by]);
            return Err(PlotError::option("--versus", what));
        }
        Ok(Some(base))
    }

    /// A mean over different media means nothing: every key must be along x, in the legend, or the same in all rows. Where a
    /// metric is along x, one key may differ along a line.
    fn check_keys(&self, wanted: &Wanted) -> Result<(), PlotError> {
        let varying = self.varying(wanted);
        let free = usize::from(is_metric(&wanted.x));
        let Some((column, values)) = varying.get(free) else { return Ok(()) };
        let (name, list, first) = (&self.names[*column], values.join(", "), values[0]);
        let how = if free == 0 { "give it to --x or --by" } else { "give it to --by" };
        let what = format!("rows differ in {name} too ({list}): {how}, or choose with `--where {name}={first}`");
        Err(PlotError::option("--x", what))
    }

    /// The figure that is wanted.
    ///
    /// # Errors
    /// Columns that there are not, units that do not go together, keys that would be mixed, fields that are no numbers.
    pub fn figure(mut self, wanted: &Wanted) -> Result<Figure, PlotError> {
        let x = self.column("--x", &wanted.x)?;
        let by = wanted.by.as_ref().map(|by| self.column("--by", by)).transpose()?;
        let y: Vec<usize> = wanted.y.iter().map(|name| self.column("--y", name)).collect::<Result<_, _>>()?;
        self.only(&wanted.only)?;
        self.check_keys(wanted)?;
        let labels: Vec<Label> = wanted.y.iter().map(|name| label(name)).collect();
        if let Some((index, other)) = labels.iter().enumerate().find(|(_, it)| it.unit != labels[0].unit) {
            let of = |label: &Label| if label.unit.is_empty() { "none" } else { label.unit };
            let (one, another) = (of(&labels[0]), of(other));
            let what =
                format!("{} has unit {one} and {} has {another}: draw a figure of each", wanted.y[0], wanted.y[index]);
            return Err(PlotError::option("--y", what));
        }
        let labels: Vec<Label> = labels.into_iter().map(|label| label.with(wanted.unit)).collect();
        let (along, x_label, names) = self.along(x, wanted);
        let mut groups: Vec<Option<&str>> = match by {
            Some(by) => distinct(self.rows.iter().map(|row| &row[by])).into_iter().map(Some).collect(),
            None => vec![None],
        };
        groups.retain(|group| group.is_none() || group.as_deref() != wanted.versus.as_deref());
        let looks = match &wanted.by {
            Some(by) if y.len() == 1 => Looks::of(by, &mut groups, names.is_none()),
            _ => Looks::Places,
        };
        let mut series = Vec::new();
        for (&column, label) in y.iter().zip(&labels) {
            let own = self.names.iter().position(|name| *name == format!("ci95_{}", self.names[column]));
            let base = self.base(wanted, by, x, column)?;
            for group in &groups {
                let rows =
                    self.rows.iter().filter(|row| group.is_none_or(|group| by.is_some_and(|by| &row[by] == group)));
                let name = match group {
                    Some(group) if y.len() > 1 => format!("{}, {group}", label.words),
                    Some(group) => (*group).to_owned(),
                    None => label.words.clone(),
                };
                let points = self.points(rows, &along, (column, own, base.as_ref()), wanted)?;
                series.push(Series { name, points, is_curve: false });
            }
        }
        let title = wanted.by.as_ref().filter(|_| y.len() == 1).map(|by| title(by, &groups));
        let mut note = note(&series, names.is_some());
        let mut y_label = common(&labels).text();
        let mut possible = None;
        if let Some(versus) = &wanted.versus {
            note.push(DIFFERS.to_owned());
            series.iter_mut().for_each(tested);
            y_label = format!("{y_label}, difference from {versus}");
        } else {
            possible = self::possible(&series, labels[0].unit);
        }
        let (title, legend) = (wanted.title.clone(), title);
        Ok(Figure { x_label, names, y_label, title, legend, marks: Vec::new(), note, series, looks, possible })
    }

    /// What is along the x axis, what it is called, and the names along it, if its values are no numbers.
    fn along(&self, x: usize, wanted: &Wanted) -> (Along<'_>, String, Option<Vec<String>>) {
        if is_metric(&wanted.x) {
            let keys = (0..self.names.len()).filter(|&column| is_key(&self.names[column])).collect();
            return (Along::Metric { column: x, keys }, label(&wanted.x).with(wanted.unit).text(), None);
        }
        let texts = distinct(self.rows.iter().map(|row| &row[x]));
        let (places, x_label, names) = match labels::numbers(&wanted.x, &texts) {
            Some((numbers, words)) => (numbers, words, None),
            None => {
                let names = texts.iter().map(|&text| text.to_owned()).collect();
                ((0..texts.len()).map(|place| place as f64).collect(), label(&wanted.x).words, Some(names))
            }
        };
        (Along::Key { column: x, places: texts.into_iter().zip(places).collect() }, x_label, names)
    }

    /// Means of the column `y` at each x, with the half-width over seeds, or the run's `own` if there is one seed.
    fn points<'a>(
        &'a self,
        rows: impl Iterator<Item = &'a csv::StringRecord>,
        along: &Along<'_>,
        (y, own, base): (usize, Option<usize>, Option<&Base<'_>>),
        wanted: &Wanted,
    ) -> Result<Vec<Point>, PlotError> {
        // The interval of a single run is not that of a difference.
        let own = own.filter(|_| base.is_none());
        let below = own.and_then(|own| {
            let name = format!("{}{BELOW}", self.names[own]);
            self.names.iter().position(|known| *known == name)
        });
        let mut samples: Vec<Sample<'_>> = Vec::new();
        for row in rows {
            let Some(y) = self.number(row, y, wanted.unit)? else { continue };
            let Some(y) = base.map_or(Some(y), |base| Some(y - base.of(row)?)) else { continue };
            let (id, x) = match along {
                Along::Key { column, places } => (vec![&row[*column]], Some(places[&row[*column]])),
                Along::Metric { column, keys } => {
                    (keys.iter().map(|&key| &row[key]).collect(), self.number(row, *column, wanted.unit)?)
                }
            };
            let Some(x) = x else { continue };
            let field = |column: Option<usize>| column.map_or(Ok(None), |column| self.number(row, column, wanted.unit));
            match samples.iter_mut().find(|sample| sample.id == id) {
                Some(sample) => {
                    sample.x.push(x);
                    sample.y.push(y);
                }
                None => samples.push(Sample { id, x: vec![x], y: vec![y], own: field(own)?, below: field(below)? }),
            }
        }
        let mut points: Vec<Point> = samples.iter().map(Sample::point).collect();
        // Along a metric a line follows the key that differs: it may turn back.
        if let Along::Key { .. } = along {
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
        }
        let is_in = |range: Option<Range>, value: f64| range.is_none_or(|(low, high)| (low..=high).contains(&value));
        let [x_range, y_range] = wanted.ranges;
        points.retain(|point| is_in(x_range, point.x) && is_in(y_range, point.mean));
        Ok(points)
    }
}

impl Sample<'_> {
    fn point(&self) -> Point {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let several = self.y.len() > 1;
        Point {
            x: mean(&self.x),
            seeds: self.y.len(),
            mean: mean(&self.y),
            half: if several { half_width(self.y.iter().copied()) } else { self.own },
            below: self.below.filter(|_| !several),
        }
    }
}

/// A key of the scenario, as a table's column.
fn is_key(name: &str) -> bool {
    name.contains('.') || name == "stations"
}

/// What a run gave, not what it was given.
fn is_metric(name: &str) -> bool {
    let given = ["run", "seed", "rate_bits_per_second", "longest_distance_bt", "measured_bit_times"];
    !is_key(name) && !given.contains(&name)
}

/// What a legend of `by` with these values is of.
fn title(by: &str, values: &[Option<&str>]) -> String {
    let values: Vec<&str> = values.iter().flatten().copied().collect();
    let plain = values.iter().all(|value| value.parse::<f64>().is_ok());
    labels::numbers(by, &values).filter(|_| plain).map_or_else(|| label(by).words, |(_, words)| words)
}

/// No metric is negative, and a part is at most 1, unless these runs say otherwise: an offered load can be more.
fn possible(series: &[Series], unit: &str) -> Option<Range> {
    let means = || series.iter().flat_map(|series| &series.points).map(|point| point.mean);
    let least = means().fold(f64::INFINITY, f64::min);
    let most = means().fold(f64::NEG_INFINITY, f64::max);
    let top = if unit.starts_with("part of") && most <= 1.0 { 1.0 } else { f64::INFINITY };
    (least >= 0.0).then_some((0.0, top))
}

/// A 95 % interval without 0 is a difference at the level of 5 %.
const DIFFERS: &str = "differ: paired t test, 5 %";

/// Adds to a line's name at how many of its points it differs.
fn tested(line: &mut Series) {
    let ends: Vec<(f64, f64)> = line.points.iter().filter_map(Point::ends).collect();
    let differ = ends.iter().filter(|(low, high)| *low > 0.0 || *high < 0.0).count();
    line.name += &format!(": {differ} of {} differ", ends.len());
}

/// How points and bands came about.
fn note(series: &[Series], by_name: bool) -> Vec<String> {
    let points = || series.iter().flat_map(|series| &series.points);
    let seeds = || points().map(|point| point.seeds);
    let (least, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let mut lines = vec![match (least, most) {
        (_, 0 | 1) => "one seed".to_owned(),
        (least, most) if least == most => format!("mean of {most} seeds"),
        (least, most) => format!("mean of {least} to {most} seeds"),
    }];
    if points().any(|point| point.half.is_some()) {
        let shape = if by_name || series.iter().all(|series| series.points.len() < 2) { "bar" } else { "band" };
        let method = if most > 1 { " confidence" } else { ", batch means" };
        lines.push(format!("{shape}: 95 %{method}"));
    }
    lines
}

/// Each text once, in the order in which they first come.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    texts.filter(|text| seen.insert(*text)).collect()
}

#[cfg(test)]
mod tests;
